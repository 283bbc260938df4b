use super::super::ProblemFile;
use super::super::tests::mistake;
use super::*;
use crate::problem::field::{Patch, Samples};
use crate::problem::model::{Diffusion, Problem};

const TEXT: &str = "[domain]\nx = [0, 2]\ny = [0, 1]\n\
    [[domain.region]]\nname = 'steel'\nx = [0, 1]\ny = [0, 1]\n\
    [[domain.region]]\nname = 'air'\nx = [1, 1.5]\ny = [0, 1]\n\
    [equation]\ndiffusion = '1 + x'\nsource = 1\n[equation.regions.steel]\ndiffusion = 100\nsource = 'x'\n\
    [boundary]\ndirichlet = 0\n[discretization]\npoints = 8\n";

fn problem(file: &ProblemFile) -> Problem {
    file.case().unwrap().problem
}

/// The value of a field at (1, 0.5), seen from a region.
fn seen(field: &FieldRef, region: Option<usize>) -> f64 {
    let patch = Patch { subdomain: 0, region, xi: &[[0.5, 0.5]] };
    let mut out = [f64::NAN];
    field.values(&Samples { patch: Some(patch), ..Samples::at(&[1.0], &[0.5]) }, &mut out).unwrap();
    out[0]
}

#[test]
fn a_region_overrides_what_it_names() {
    let problem = problem(&ProblemFile::new(TEXT));
    let Equation::SecondOrder { diffusion: Diffusion::Scalar(a), advection, reaction } = &problem.equation else {
        panic!("a scalar")
    };
    assert_eq!([None, Some(0), Some(1)].map(|region| seen(a, region)), [2.0, 100.0, 2.0]);
    assert_eq!(a.describe(), "1 + x, 100 in steel");
    assert_eq!(problem.source.describe(), "1, x in steel");
    assert!(advection.is_none() && reaction.is_none());
}

#[test]
fn numbers_and_tensors_may_be_mixed() {
    let file = ProblemFile::new(TEXT).set("equation.regions.air.diffusion=[[3, 1], [1, 4]]");
    let Equation::SecondOrder { diffusion: Diffusion::Tensor(a), .. } = problem(&file).equation else {
        panic!("a tensor")
    };
    let at = |region| a.each_ref().map(|row| row.each_ref().map(|entry| seen(entry, region)));
    assert_eq!(at(None), [[2.0, 0.0], [0.0, 2.0]]);
    assert_eq!(at(Some(0)), [[100.0, 0.0], [0.0, 100.0]]);
    assert_eq!(at(Some(1)), [[3.0, 1.0], [1.0, 4.0]]);
}

#[test]
fn terms_that_a_region_alone_has_vanish_elsewhere() {
    let file =
        ProblemFile::new(TEXT).set("equation.regions.air.advection=[1, 'y']").set("equation.regions.steel.reaction=5");
    let Equation::SecondOrder { advection: Some(b), reaction: Some(c), .. } = problem(&file).equation else {
        panic!("advection and reaction")
    };
    assert_eq!([None, Some(0), Some(1)].map(|region| seen(&b[1], region)), [0.0, 0.0, 0.5]);
    assert_eq!([None, Some(0), Some(1)].map(|region| seen(&c, region)), [0.0, 5.0, 0.0]);
}

#[test]
fn mistakes_are_named_at_their_place() {
    for (change, message, place) in [
        (("regions.steel", "regions.stel"), "unknown key equation.regions.stel", "stel"),
        (("source = 'x'", "sorce = 'x'"), "unknown key equation.regions.steel.sorce", "sorce"),
        (("source = 'x'", "source = 'q'"), "unknown name `q`", "q"),
        (("diffusion = 100", "diffusion = [1]"), "expected an array of two", "[1]"),
        (("diffusion = 100", "plate = 1"), "unknown key equation.regions.steel.plate", "plate"),
    ] {
        let (found, at) = mistake(&ProblemFile::new(TEXT.replace(change.0, change.1)));
        assert!(found.contains(message), "{change:?}: {found}");
        assert_eq!(at, place, "{change:?}: {found}");
    }
    let near = ProblemFile::new(TEXT.replace("regions.steel", "regions.stel")).case().err().unwrap();
    assert_eq!(near.hint(), Some("did you mean `steel`?"));
    let bare =
        "[domain]\nx = [0, 1]\ny = [0, 1]\n[equation]\nsource = 1\nregions.a.source = 2\n[boundary]\ndirichlet = 0\n";
    let error = ProblemFile::new(bare).case().err().unwrap();
    assert!(error.hint().unwrap().contains("the domain has no regions"), "{error}");
    let none = TEXT.replace("[[domain.region]]\nname = 'steel'\nx = [0, 1]\ny = [0, 1]\n", "");
    assert!(mistake(&ProblemFile::new(none)).0.contains("unknown key equation.regions.steel"));
}
