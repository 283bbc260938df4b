//! The programs in `examples/` run, and each asserts its error.

#[path = "../examples/advection_diffusion.rs"]
mod advection_diffusion;
#[path = "../examples/domain.rs"]
mod domain;
#[path = "../examples/eigenvalues.rs"]
mod eigenvalues;
#[path = "../examples/gradient.rs"]
mod gradient;
#[path = "../examples/helmholtz.rs"]
mod helmholtz;
#[path = "../examples/many_sources.rs"]
mod many_sources;
#[path = "../examples/nonlinear.rs"]
mod nonlinear;
#[path = "../examples/plate.rs"]
mod plate;
#[path = "../examples/poisson.rs"]
mod poisson;
#[path = "../examples/rings.rs"]
mod rings;
#[path = "../examples/sweep.rs"]
mod sweep;
#[path = "../examples/time.rs"]
mod time;
#[path = "../examples/tolerance.rs"]
mod tolerance;
#[path = "../examples/variable_diffusion.rs"]
mod variable_diffusion;

use std::collections::BTreeSet;
use std::path::Path;

type Program = fn() -> ddelm::Result<()>;

const PROGRAMS: [(&str, Program); 14] = [
    ("advection_diffusion", advection_diffusion::main),
    ("domain", domain::main),
    ("eigenvalues", eigenvalues::main),
    ("gradient", gradient::main),
    ("helmholtz", helmholtz::main),
    ("many_sources", many_sources::main),
    ("nonlinear", nonlinear::main),
    ("plate", plate::main),
    ("poisson", poisson::main),
    ("rings", rings::main),
    ("sweep", sweep::main),
    ("time", time::main),
    ("tolerance", tolerance::main),
    ("variable_diffusion", variable_diffusion::main),
];

#[test]
fn examples_reach_their_figures() {
    for (name, main) in PROGRAMS {
        println!("{name}");
        main().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn every_example_is_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().path().file_stem().unwrap().to_owned();
    let found: BTreeSet<_> = std::fs::read_dir(folder).unwrap().map(name).collect();
    assert_eq!(found, PROGRAMS.iter().map(|(name, _)| (*name).into()).collect());
}
