//! The rank guard: the defaults are safe for every number of points and every seed.
//!
//! A rank close to the number of rows loses all accuracy without a sign, so what is tested is the error itself, on
//! smooth problems, against a bound that falls with the points.

use std::sync::Arc;

use ddelm::problem::gallery;
use ddelm::{Decomposition, Problem, Settings, Solver};
use rayon::prelude::*;

fn problems() -> Vec<(&'static str, Problem)> {
    vec![
        ("poisson", gallery::growing_wave(3.0, 4)),
        ("helmholtz", gallery::helmholtz(3.0)),
        ("advection", gallery::advection_diffusion(0.1)),
        ("mixed", gallery::mixed_conditions()),
        ("plate", gallery::plate(gallery::Material::PAPER)),
        ("clamped", gallery::clamped_plate()),
    ]
}

/// What a smooth problem must reach with so many points on 2 x 2 subdomains.
fn bound(points: usize) -> f64 {
    10f64.powf(3.5 - points as f64).max(1e-10)
}

fn check(points: usize, seed: u64, name: &str, problem: &Problem) -> Option<String> {
    let settings = Settings { points, seed, ..Settings::fast() };
    let decomposition = Arc::new(Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [2, 2]).unwrap());
    let solution = Solver::new(problem, decomposition, &settings).unwrap().solve().unwrap();
    let found = solution.errors(problem.exact.as_ref().unwrap().as_ref(), points + 3).unwrap().l2;
    let features = &solution.report.features;
    let safe = features.rank.max as f64 <= 0.8 * features.rows as f64;
    (found > bound(points) || !safe).then(|| {
        format!("{name}, {points} points, seed {seed}: {found:.1e} at rank {}/{}", features.rank.max, features.rows)
    })
}

/// Checks the cases (points, seed, problem).
fn check_all(cases: Vec<(usize, u64, usize)>) {
    let problems = problems();
    let failures: Vec<String> = cases
        .into_par_iter()
        .filter_map(|(points, seed, k)| {
            let (name, problem) = &problems[k % problems.len()];
            check(points, seed, name, problem)
        })
        .collect();
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn every_problem_with_ten_seeds_up_to_twenty_points() {
    // Never the same ones.
    let seeds = |points| {
        let first = 10 * points as u64;
        (first..first + 10).flat_map(move |seed| (0..6).map(move |k| (points, seed, k)))
    };
    check_all((6..=20).flat_map(seeds).collect());
}

/// Large numbers of points cost half a second each: two seeds for each of them, never the same, and the problems in turn.
#[test]
fn forty_seeds_up_to_forty_points() {
    check_all((0..40).map(|seed| (21 + seed as usize / 2, seed, seed as usize)).collect());
}

#[test]
fn too_many_wide_features_are_guarded_and_reported() {
    // Without the guard this choice has as many independent features as rows, and no correct digit.
    let problem = gallery::growing_wave(3.0, 4);
    let settings = Settings { neurons: Some(270), scale: Some(4.0), ..Settings::fast() };
    let decomposition = Arc::new(Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [6, 6]).unwrap());
    let solution = Solver::new(&problem, decomposition, &settings).unwrap().solve().unwrap();
    let found = solution.errors(problem.exact.as_ref().unwrap().as_ref(), 20).unwrap().l2;
    assert!(found < 1e-5, "{found:e}");
    assert!(solution.report.warnings.iter().any(|w| w.contains("rank was limited")), "{:?}", solution.report.warnings);
}
