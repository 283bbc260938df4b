//! Files of earlier versions are read: a solution that somebody keeps must not be lost to a new field of the report.

#![cfg(feature = "save")]

use ddelm::solution::save;

#[test]
fn files_of_the_first_version_are_read() {
    let saved = save::read("tests/data/version_1.safetensors").unwrap();
    assert!(saved.problem.unwrap().starts_with("# A small problem"));
    assert_eq!((saved.solution.report.points, saved.solution.decomposition.len()), (6, 2));
    let found = saved.solution.gradients(&[0.3, 1.7], &[0.4, -0.9]);
    let expected = [
        (found.u, [0.254264972996064, -1.5053974738322842]),
        (found.ux, [0.710529581408982, -0.9559898633188421]),
        (found.uy, [0.22286166314205183, 1.9226943893919284]),
    ];
    for (found, expected) in expected {
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}, not {expected:?}");
    }
}
