//! Vertices that get rings, and others.

use super::*;
use crate::domain::map::{Affine, MapRef};
use crate::problem::field::{constant, function};
use crate::problem::gallery;

fn square(counts: [usize; 2]) -> Decomposition {
    Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], counts).unwrap()
}

fn dirichlet(source: FieldRef, values: FieldRef, parts: usize) -> Problem {
    Problem {
        equation: Equation::poisson(),
        source,
        conditions: vec![Condition::dirichlet(values); parts],
        mean: None,
        exact: None,
    }
}

fn found(problem: &Problem, decomposition: &Decomposition) -> Vec<(Point, f64)> {
    let all = singular_vertices(problem, decomposition, &Settings::default(), &mut Vec::new()).unwrap();
    all.into_iter().map(|ringed| (decomposition.vertices[ringed.vertex].point, ringed.exponent)).collect()
}

#[test]
fn smooth_problems_get_none() {
    for problem in [gallery::poisson(), gallery::sines(3.0, 2.0), gallery::helmholtz(10.0)] {
        assert_eq!(found(&problem, &square([4, 4])), []);
    }
    let polynomial = function(|x: f64, y: f64| x * x - y * y + x);
    assert_eq!(found(&dirichlet(constant(0.0), polynomial, 4), &square([2, 3])), []);
}

#[test]
fn a_constant_source_needs_all_corners_of_a_square() {
    let problem = dirichlet(constant(1.0), constant(0.0), 4);
    for counts in [[1, 1], [4, 4]] {
        let found = found(&problem, &square(counts));
        assert_eq!(found.len(), 4);
        assert!(found.iter().all(|(p, exponent)| p.iter().all(|v| v % 1.0 == 0.0) && (exponent - 2.0).abs() < 1e-9));
    }
}

#[test]
fn a_re_entrant_corner_has_its_exponent() {
    let cells = [[-1.0, -1.0], [-1.0, 0.0], [0.0, 0.0]];
    let maps = cells.map(|cell| Arc::new(Affine::rectangle(cell, 1.0, 1.0)) as MapRef).to_vec();
    let shape = Decomposition::from_maps(maps, 1, |_| 0).unwrap();
    let smooth = function(|x: f64, y: f64| x * y);
    let found = found(&dirichlet(constant(0.0), smooth, 1), &shape);
    assert_eq!(found.len(), 1);
    assert!(found[0].0 == [0.0, 0.0] && (found[0].1 - 2.0 / 3.0).abs() < 1e-9, "{found:?}");
}

#[test]
fn a_change_of_the_condition_is_found_in_a_side() {
    let maps = [-1.0, 0.0].map(|x| Arc::new(Affine::rectangle([x, 0.0], 1.0, 1.0)) as MapRef).to_vec();
    let half = Decomposition::from_maps(maps, 2, |p| usize::from(p[1] == 0.0 && p[0] < 0.0)).unwrap();
    let mut problem = dirichlet(constant(0.0), constant(1.0), 2);
    problem.conditions[1] = Condition::neumann(constant(1.0));
    let found = found(&problem, &half);
    let at_origin = found.iter().find(|(p, _)| *p == [0.0, 0.0]).unwrap();
    assert!((at_origin.1 - 0.5).abs() < 1e-9);
    let points = Settings { corners: Corners::Points(vec![[0.0, 0.0]]), ..Settings::default() };
    assert_eq!(singular_vertices(&problem, &half, &points, &mut Vec::new()).unwrap().len(), 1);
    let nowhere = Settings { corners: Corners::Points(vec![[0.3, 0.0]]), ..Settings::default() };
    assert!(singular_vertices(&problem, &half, &nowhere, &mut Vec::new()).is_err());
}

#[test]
fn materials_meet_in_a_point() {
    let quarters = function(|x: f64, y: f64| if (x - 0.5) * (y - 0.5) > 0.0 { 10.0 } else { 1.0 });
    let halves = function(|x: f64, _| if x > 0.5 { 10.0 } else { 1.0 });
    let inside = |diffusion: FieldRef| {
        let problem =
            Problem { equation: Equation::diffusion(diffusion), ..dirichlet(constant(1.0), constant(0.0), 4) };
        let mut all = found(&problem, &square([4, 4]));
        all.retain(|(p, _)| p.iter().all(|v| *v > 0.0 && *v < 1.0));
        all
    };
    let found = inside(quarters);
    assert!(found.len() == 1 && found[0].0 == [0.5, 0.5] && found[0].1 < 0.5, "{found:?}");
    assert_eq!(inside(halves), []);
}
