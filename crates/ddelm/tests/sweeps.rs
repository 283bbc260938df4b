//! Sweeps over parameters: rows are those of single solves, and mistakes have numbers.

use ddelm::solve::case::Case;
use ddelm::solve::sweep::{Input, Sampling, sweep};
use ddelm::{ProblemFile, Result, Silent};

const TEXT: &str = "[parameters]\nk = 1\n[equation]\ndiffusion = \"k\"\nsource = \"k + x\"\n[boundary]\ndirichlet = 0\n\
                    [domain]\nx = [0, 1]\ny = [0, 1]\n[output]\nintegrals = { whole = \"integral(u)\" }\n\
                    [discretization]\nsubdomains = [2, 2]\npoints = 8\n";

fn case(k: f64) -> Result<Case> {
    ProblemFile::new(TEXT).set(format!("parameters.k={k:?}")).case()
}

#[test]
fn rows_are_those_of_single_solves() {
    let sampling = Sampling { x: vec![0.5, 0.3, 2.0], y: vec![0.5, 0.9, 0.0], inputs: Input::ALL[..1].to_vec() };
    let rows = sweep(5, |i| case(1.0 + i as f64), &sampling, &Silent).unwrap();
    for (i, row) in rows.iter().enumerate() {
        let k = 1.0 + i as f64;
        let alone = case(k).unwrap().solve(&Silent).unwrap();
        assert_eq!(row.u[..2], alone.values(&[0.5, 0.3], &[0.5, 0.9])[..]);
        assert_eq!(row.report.integrals, alone.report.integrals);
        assert!(row.u[2].is_nan() && row.inputs[0][2].is_nan());
        assert_eq!(row.inputs[0][..2], [k, k]);
    }
}

#[test]
fn the_first_that_fails_is_named() {
    let failed = |i: usize| case(if i < 3 { 1.0 } else { -1.0 });
    let stopped = sweep(8, failed, &Sampling::default(), &Silent).unwrap_err();
    assert_eq!(stopped.index, 3);
    assert!(stopped.error.is_input(), "{}", stopped.error);
    let inputs = Sampling { inputs: vec![Input::Reaction], ..Sampling::default() };
    let message = sweep(1, |_| case(1.0), &inputs, &Silent).unwrap_err().error.to_string();
    assert!(message.contains("no reaction"), "{message}");
}
