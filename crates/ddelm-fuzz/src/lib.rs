//! What reads bytes from outside, as functions that take any bytes: the targets of the fuzzers.
//!
//! A target returns, whatever it is given; a panic, an abort or a check that fails is a finding. `cargo test` runs each of
//! them on the corpus in `fuzz/corpus` and on a few thousand [mutations](mutate) of it; `fuzz/` makes the same functions
//! entry points of libFuzzer.

pub mod mutate;

use std::collections::BTreeMap;
use std::path::Path;

use ddelm::base::{csv, npz};
use ddelm::domain::area::Cut;
use ddelm::domain::gmsh;
use ddelm::problem::expression::Formula;
use ddelm::problem::field::{Field, Jets, Samples};
use ddelm::solution::save;
use ddelm::{Decomposition, ProblemFile};

/// A target: it takes any bytes.
pub type Target = fn(&[u8]);

/// The targets by name. The corpus of each is the folder of that name.
pub const TARGETS: [(&str, Target); 8] = [
    ("formula", formula),
    ("problem", problem),
    ("overrides", overrides),
    ("safetensors", safetensors),
    ("numpy", numpy),
    ("points", points),
    ("mesh", mesh),
    ("domain", domain),
];

/// A problem that overrides can be put on.
const GOOD: &str = "[domain]\nx = [0, 1]\ny = [0, 1]\n[equation]\nsource = \"x*y\"\n[boundary]\ndirichlet = 0\n\
                    [discretization]\nsubdomains = [2, 2]\npoints = 6\n";

/// Formulas: those that are read have values and gradients, and say themselves again.
pub fn formula(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    match Formula::parse(text) {
        Err(error) => assert!(text.get(error.span.clone()).is_some(), "{:?} is no place in {text:?}", error.span),
        Ok(formula) => {
            let (x, y) = ([0.0, 0.3, -2.0, 1e300], [0.0, 0.7, 1e-300, -1.0]);
            let at = Samples::at(&x, &y);
            let [mut u, mut dx, mut dy] = [[0.0; 4]; 3];
            assert!(formula.values(&at, &mut u).is_ok());
            assert_eq!(formula.gradients(&at, &mut dx, &mut dy).ok(), Some(true));
            assert_eq!(formula.jets(&at, &mut Jets::default()).ok(), Some(true));
            if let Some(value) = formula.constant() {
                assert!(u.iter().all(|u| u.to_bits() == value.to_bits() || (u.is_nan() && value.is_nan())), "{text}");
            }
            let again = Formula::parse(formula.text()).expect("the text of a formula is a formula");
            let mut v = [0.0; 4];
            assert!(again.values(&at, &mut v).is_ok());
            assert_eq!(u.map(f64::to_bits), v.map(f64::to_bits), "{text}");
        }
    }
}

/// Problem files: what is wrong has a place in the text. Those that name files are left alone.
pub fn problem(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    examine(&ProblemFile::new(text));
}

/// `--set`: the lines of the text, one by one on top of a good file.
pub fn overrides(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    examine(&text.lines().fold(ProblemFile::new(GOOD), ProblemFile::set));
}

fn examine(file: &ProblemFile) {
    let names_files = file.data_files().is_ok_and(|files| !files.is_empty())
        || file.resolved().is_ok_and(|text| text.contains("weights"));
    if names_files {
        return;
    }
    match file.case() {
        Err(error) => {
            if let Some(place) = file.place(&error) {
                let text = file.text(place.origin);
                assert!(text.get(place.span.clone()).is_some(), "{place:?} is no place in {text:?}");
            }
            let _ = (error.to_string(), error.hint());
        }
        Ok(case) => {
            case.problem.typeset_equation();
            case.problem.typeset_boundary(case.domain.parts());
            let again = ProblemFile::new(file.resolved().expect("a file that is read can be written"));
            assert_eq!(again.case().expect("what was written is read").cut, case.cut);
        }
    }
}

/// Saved solutions: those that are read can be evaluated.
pub fn safetensors(data: &[u8]) {
    if let Ok(saved) = save::decode(data) {
        let u = saved.solution;
        let [x0, x1, y0, y1] = u.decomposition.bounding_box();
        let g = u.gradients(&[0.5 * (x0 + x1), x0, x1 + 1.0], &[0.5 * (y0 + y1), y1, y0]);
        assert_eq!([g.u.len(), g.ux.len(), g.uy.len()], [3; 3]);
    }
}

/// NumPy's arrays, alone and in archives: as many numbers as their shapes say.
pub fn numpy(data: &[u8]) {
    let arrays: BTreeMap<String, npz::Array> = npz::decode(data).unwrap_or_default();
    for array in arrays.into_values().chain(npz::decode_npy(data).ok()) {
        assert_eq!(array.shape.iter().product::<usize>(), array.data.len());
    }
}

/// Points in CSV files: as many x as y, and each on a line.
pub fn points(data: &[u8]) {
    if let Ok((x, y)) = csv::decode(data) {
        assert_eq!(x.len(), y.len());
        if !x.is_empty() {
            assert!(csv::line_of(data, x.len() - 1) > 1);
        }
    }
}

/// Meshes of gmsh: no element of those that are read is folded, and every element holds its own middle.
pub fn mesh(data: &[u8]) {
    if let Ok(mesh) = gmsh::parse(Path::new("a.msh"), data) {
        mesh.check("mesh").expect("what was read was checked");
        assert_eq!(mesh.roots().len(), mesh.elements.len());
        if let Ok(whole) = Decomposition::of_mesh(mesh) {
            check_middles(&whole);
        }
    }
}

/// Domains of problem files: those that are read are cut into subdomains, or refused with a reason.
pub fn domain(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let file = ProblemFile::new(text);
    examine(&file);
    let Ok(case) = file.case() else { return };
    let [x0, x1, y0, y1] = case.domain.bounding_box();
    // As few as the outline allows: the outlines are tried here, not the patience.
    if let Ok(cut) = case.domain.decompose(&Cut::Size(0.5 * (x1 - x0).max(y1 - y0))) {
        check_middles(&cut);
    }
}

/// Every subdomain holds its own middle.
fn check_middles(whole: &Decomposition) {
    for (k, subdomain) in whole.subdomains.iter().enumerate() {
        let middle = subdomain.map.point(subdomain.map.shape().center());
        assert!(whole.locate(middle).is_some(), "no subdomain holds {middle:?}, the middle of subdomain {k}");
    }
}
