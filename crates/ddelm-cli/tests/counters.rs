//! How much work the examples take. A change of cost shows in review, also where the answer stays the same.

use std::path::Path;

use ddelm::method::report::RankSpan;
use ddelm::method::settings::InterfaceSolver;
use ddelm::{ProblemFile, Silent};

/// The counters of a solve, one line. Iterations of conjugate gradients, and the ranks of networks that are not shared,
/// depend on rounding and so on the processor: they are left out.
fn counters(path: &Path) -> String {
    let case = ProblemFile::read(path).unwrap().set("discretization.estimate=false").case().unwrap();
    let report = case.solve(&Silent).unwrap().report;
    let (interface, features) = (&report.interface, &report.features);
    let solve = match interface.solver {
        InterfaceSolver::Direct => {
            format!("{} refinements, {} nonzeros", interface.refinements, interface.factor_nonzeros.unwrap_or(0))
        }
        InterfaceSolver::Cg => "conjugate gradients".into(),
    };
    let rank = match features.rank {
        RankSpan { min, max } if min == max => format!(", rank {max}"),
        _ => String::new(),
    };
    format!(
        "{} unknowns, {solve}; {} neurons on {} rows{rank}, {} factorizations",
        interface.unknowns, features.neurons, features.rows, features.factorizations
    )
}

#[test]
fn examples_take_as_much_work_as_before() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files: Vec<_> = std::fs::read_dir(examples).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    let lines: Vec<String> = files
        .iter()
        .map(|path| format!("{}: {}", path.file_stem().unwrap().to_string_lossy(), counters(path)))
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}
