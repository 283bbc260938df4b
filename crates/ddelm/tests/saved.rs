//! Files of earlier versions are read: a solution that somebody keeps must not be lost to a new field of the report.

use ddelm::domain::division::Count;
use ddelm::method::report::{Attempt, Estimate};
use ddelm::solution::save;
use ddelm::{ProblemFile, Silent};

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

/// Next to a jump of boundary values H1 is infinite, and JSON has one word for all that is no number.
#[test]
fn a_report_with_numbers_that_are_none_is_read() {
    let text = "[domain]\nx = [0, 1]\ny = [0, 1]\n[equation]\nsource = 1\n[boundary]\ndirichlet = 0\n\
                [discretization]\nsubdomains = [2, 2]\npoints = 6\nestimate = false\ncorners = 'none'\n";
    let mut solution = ProblemFile::new(text).case().unwrap().solve(&Silent).unwrap();
    let nan = f64::NAN;
    let report = &mut solution.report;
    let errors = vec![nan, 1.0, f64::INFINITY, 0.5];
    report.estimate =
        Some(Estimate { l2: nan, h1: f64::INFINITY, max: nan, subdomains: errors, points: 6, missed: nan });
    report.attempts.push(Attempt { subdomains: Count::Grid([2, 2]), points: 6, estimate: nan });
    report.integrals.insert("flow".into(), nan);
    report.residual = nan;
    let file = tempfile::NamedTempFile::new().unwrap();
    save::write(file.path(), &solution, Some(text)).unwrap();
    let saved = save::read(file.path()).unwrap();
    let found = saved.solution.report;
    let estimate = found.estimate.unwrap();
    assert!(estimate.l2.is_nan() && estimate.h1.is_nan() && estimate.max.is_nan() && estimate.missed.is_nan());
    assert!(estimate.subdomains[0].is_nan() && estimate.subdomains[2].is_nan());
    assert_eq!((estimate.subdomains[1], estimate.subdomains[3]), (1.0, 0.5));
    assert!(found.attempts[0].estimate.is_nan() && found.integrals["flow"].is_nan() && found.residual.is_nan());
    assert_eq!(found.attempts[0].subdomains, Count::Grid([2, 2]));
    assert_eq!(saved.problem.as_deref(), Some(text));
}
