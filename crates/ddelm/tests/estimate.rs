//! The error estimate against the true error, where the solution is known: within a factor of ten, and never a hundred
//! times too small.

use std::sync::Arc;

use ddelm::exchange::{Exchange, Serial};
use ddelm::method::report::Status;
use ddelm::problem::gallery;
use ddelm::solve::adaptive::solve_to_tolerance;
use ddelm::solve::estimate::assess;
use ddelm::solve::search::Search;
use ddelm::{Decomposition, Domain, Problem, Settings, Silent, Solver};

fn serial() -> Arc<dyn Exchange> {
    Arc::new(Serial)
}

/// True and estimated relative L2 error.
fn pair(problem: &Problem, counts: [usize; 2], settings: &Settings) -> (f64, f64) {
    let decomposition = Arc::new(Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], counts).unwrap());
    let solution = Solver::new(problem, decomposition, settings).unwrap().solve().unwrap();
    let truth = solution.errors(problem.exact.as_ref().unwrap().as_ref(), 2 * settings.points).unwrap().l2;
    let found = assess(&serial(), problem, settings, &solution, &Silent).unwrap().estimate.unwrap();
    assert_eq!(found.subdomains.len(), counts[0] * counts[1]);
    (truth, found.l2)
}

#[test]
fn estimates_are_within_a_factor_of_ten() {
    let problems: Vec<(&str, Problem, [usize; 2])> = vec![
        ("poisson", gallery::poisson(), [2, 2]),
        ("poisson", gallery::poisson(), [4, 3]),
        ("sines 6 5", gallery::sines(6.0, 5.0), [4, 4]),
        ("plate", gallery::plate(gallery::Material::PAPER), [2, 2]),
        ("clamped", gallery::clamped_plate(), [2, 2]),
        ("helmholtz", gallery::helmholtz(12.0), [3, 3]),
        ("advection", gallery::advection_diffusion(0.01), [3, 3]),
        ("mixed", gallery::mixed_conditions(), [2, 2]),
    ];
    let (mut cases, mut outside) = (0, Vec::new());
    for (name, problem, counts) in &problems {
        for points in [5, 6, 7, 8, 9, 10, 12, 14, 16] {
            for seed in 0..2 {
                let (truth, found) = pair(problem, *counts, &Settings { points, seed, ..Settings::fast() });
                let ratio = found / truth;
                println!(
                    "{name:10} {counts:?} points {points:2} seed {seed}: true {truth:.1e} estimated {found:.1e} ratio {ratio:.2}"
                );
                if (1e-11..1e-3).contains(&truth) {
                    cases += 1;
                    assert!(ratio > 0.01, "{name} {counts:?} points {points} seed {seed}: {truth:e} {found:e}");
                    if !(0.1..=10.0).contains(&ratio) {
                        outside.push((name, points, seed, truth, found));
                    }
                }
            }
        }
    }
    assert!(cases > 60, "{cases} cases");
    assert!(outside.is_empty(), "{outside:?}");
}

#[test]
fn the_paper_preset_is_estimated_too() {
    let settings = Settings { points: 10, ..Settings::paper() };
    let (truth, found) = pair(&gallery::poisson(), [3, 3], &settings);
    assert!((0.1..=10.0).contains(&(found / truth)), "{truth:e} {found:e}");
}

#[test]
fn a_tolerance_is_reached_or_said_not_to_be() {
    let solve = |problem: &Problem, tolerance: f64| {
        let (exchange, settings, unit) = (serial(), Settings::fast(), [0.0, 1.0]);
        let search = Search::new(&exchange, problem, &settings, tolerance, &Silent);
        solve_to_tolerance(search, &Domain::rectangle(unit, unit).unwrap()).unwrap()
    };
    for (problem, tolerance) in [
        (gallery::poisson(), 1e-4),
        (gallery::poisson(), 1e-10),
        (gallery::sines(8.0, 8.0), 1e-8),
        (gallery::mixed_conditions(), 1e-9),
        (gallery::clamped_plate(), 1e-8),
    ] {
        let solution = solve(&problem, tolerance);
        assert_eq!(solution.report.status, Status::Solved);
        let truth = solution.errors(problem.exact.as_ref().unwrap().as_ref(), 30).unwrap().l2;
        assert!(truth <= 3.0 * tolerance, "{truth:e} for {tolerance:e}");
        assert!(!solution.report.attempts.is_empty());
    }
    let impossible = solve(&gallery::poisson(), 1e-18);
    assert_eq!(impossible.report.status, Status::ToleranceNotReached);
    assert!(impossible.report.estimate.unwrap().l2 < 1e-12);
}
