//! Vertices whose solutions are known to be smooth, and others.

use std::f64::consts::{FRAC_PI_2, PI, TAU};
use std::sync::Arc;

use super::*;
use crate::domain::vertex::{Material, straight_side};
use crate::problem::expression::Formula;
use crate::problem::field::{FieldRef, constant, function};
use crate::problem::model::{Condition, Diffusion, Equation};

fn formula(text: &str) -> FieldRef {
    Arc::new(Formula::parse(text).unwrap())
}

/// A vertex at the origin of sectors with one equation each, cut into parts below a half turn, between two straight sides.
fn ask(angles: &[f64], equations: &[(Equation, FieldRef)], sides: Option<[Condition; 2]>, scale: f64) -> Regularity {
    ask_with(&mut Detector::new(16), angles, equations, sides, scale)
}

fn ask_with(
    detector: &mut Detector,
    angles: &[f64],
    equations: &[(Equation, FieldRef)],
    sides: Option<[Condition; 2]>,
    scale: f64,
) -> Regularity {
    let mut materials = Vec::new();
    for (region, (pair, (equation, source))) in angles.windows(2).zip(equations).enumerate() {
        let count = ((pair[1] - pair[0]) / 1.6).ceil();
        for k in 0..count as usize {
            let at = |k: usize| pair[0] + (pair[1] - pair[0]) * k as f64 / count;
            materials.push(Material { angles: [at(k), at(k + 1)], region, equation, source: source.as_ref() });
        }
    }
    let curves = [straight_side(angles[0], true), straight_side(*angles.last().unwrap(), false)];
    let sides = sides.as_ref().map(|conditions| {
        [0, 1].map(|k| BoundarySide { condition: &conditions[k], curve: if k == 0 { &curves[0] } else { &curves[1] } })
    });
    let direction = [angles[0].cos(), angles[0].sin()];
    let vertex = Vertex { point: [0.0; 2], direction, radius: 0.5, materials: &materials, sides, scale };
    detector.regularity(&vertex).unwrap()
}

fn zero() -> Condition {
    Condition::dirichlet(constant(0.0))
}

/// The corner of a square with `-Lap u = f`, u = 0.
fn right_angle(f: &str) -> Regularity {
    ask(&[0.0, FRAC_PI_2], &[(Equation::poisson(), formula(f))], Some([zero(), zero()]), 1.0)
}

fn rings(found: Regularity, exponent: f64) {
    match found {
        Regularity::Rings { exponent: found } => assert!((found - exponent).abs() < 1e-6, "{found} {exponent}"),
        Regularity::Smooth => panic!("rings for {exponent}"),
    }
}

#[test]
fn right_angles_are_smooth_where_the_data_fit() {
    for f in ["0", "x", "x*y", "x^2 + y^2", "sin(pi*x)*sin(pi*y)", "x*y*exp(x*y)", "x^3*y"] {
        assert_eq!(right_angle(f), Regularity::Smooth, "{f}");
    }
    for f in ["1", "x^2", "1 + x*y", "x^2 - y^2", "exp(x)"] {
        rings(right_angle(f), 2.0);
    }
}

/// Waves that polynomials of a low degree do not follow are smooth all the same; together with f = 1 they are not.
#[test]
fn waves_are_no_singularities() {
    let wave = |f: &str| {
        let g = || Condition::dirichlet(formula("sin(12*x + 16*y)"));
        let helmholtz = Equation::poisson().plus_reaction(-400.0).unwrap();
        ask(&[0.0, FRAC_PI_2], &[(helmholtz, formula(f))], Some([g(), g()]), 400.0)
    };
    assert_eq!(wave("0"), Regularity::Smooth);
    rings(wave("1"), 2.0);
}

/// A singularity that is smaller than what rings resolve with so many points is not worth them.
#[test]
fn few_points_need_fewer_rings() {
    let found = |points: usize, f: &str| {
        let problem = [(Equation::poisson(), formula(f))];
        ask_with(&mut Detector::new(points), &[0.0, FRAC_PI_2], &problem, Some([zero(), zero()]), 1.0)
    };
    for points in [2, 4, 6, 8, 12, 16, 24, 40] {
        rings(found(points, "1"), 2.0);
        assert_eq!(found(points, "sin(3*x)*sin(2*y)"), Regularity::Smooth, "{points}");
    }
    for (f, enough) in [("1e-2", 10), ("1e-3", 12), ("x*y + 1e-5", 16)] {
        rings(found(enough, f), 2.0);
        assert_eq!(found(enough - 4, f), Regularity::Smooth, "{f}");
    }
}

/// The corners of a square, however they are turned, have one matrix on all neighbourhoods.
#[test]
fn right_angles_share_a_factorization() {
    let mut detector = Detector::new(16);
    let one = [(Equation::poisson(), constant(1.0))];
    for k in 0..4 {
        let from = FRAC_PI_2 * f64::from(k);
        rings(ask_with(&mut detector, &[from, from + FRAC_PI_2], &one, Some([zero(), zero()]), 1.0), 2.0);
    }
    assert_eq!(detector.series.factorizations(), 1);
    let flux = Condition::neumann(constant(0.0));
    ask_with(&mut detector, &[0.0, FRAC_PI_2], &[(Equation::poisson(), constant(1.0))], Some([zero(), flux]), 1.0);
    assert_eq!(detector.series.factorizations(), 2);
    let varying = [(Equation::diffusion(formula("1 + x")), constant(1.0))];
    ask_with(&mut detector, &[0.0, FRAC_PI_2], &varying, Some([zero(), zero()]), 1.0);
    assert_eq!(detector.series.factorizations(), 4);
}

#[test]
fn exact_solutions_are_smooth_whatever_the_equation() {
    // u = exp(x) cos(2 y) + x, a = 2 + x, b = (1, y), c = 3.
    let u = "(exp(x)*cos(2*y) + x)";
    let f = "-(2+x)*(-3*exp(x)*cos(2*y)) - (exp(x)*cos(2*y) + 1) + exp(x)*cos(2*y) + 1 - 2*y*exp(x)*sin(2*y) + 3*(exp(x)*cos(2*y) + x)";
    let second_order = |diffusion: FieldRef| Equation::SecondOrder {
        diffusion: Diffusion::Scalar(diffusion),
        advection: Some([constant(1.0), formula("y")]),
        reaction: Some(constant(3.0)),
    };
    let value = || Condition::dirichlet(formula(u));
    // On x = 0 the outward flux is -(2 + x) u_x.
    let flux = || Condition::neumann(formula("-(2+x)*(exp(x)*cos(2*y) + 1)"));
    let robin = || Condition::robin(constant(5.0), formula("-(2+x)*(exp(x)*cos(2*y) + 1) + 5*(exp(x)*cos(2*y) + x)"));
    for diffusion in [formula("2 + x"), function(|x, _| 2.0 + x)] {
        for second in [value(), flux(), robin()] {
            let problem = [(second_order(diffusion.clone()), formula(f))];
            assert_eq!(ask(&[0.0, FRAC_PI_2], &problem, Some([value(), second]), 3.0), Regularity::Smooth);
        }
        // A wrong flux: the conditions do not fit, and the exponent is that of mixed conditions.
        let problem = [(second_order(diffusion), formula(f))];
        let wrong = Condition::neumann(formula("1 - (2+x)*(exp(x)*cos(2*y) + 1)"));
        rings(ask(&[0.0, FRAC_PI_2], &problem, Some([value(), wrong]), 3.0), 1.0);
    }
}

#[test]
fn other_angles_need_rings_whatever_the_data() {
    let problem = || [(Equation::poisson(), constant(0.0))];
    rings(ask(&[0.0, 1.5 * PI], &problem(), Some([zero(), zero()]), 1.0), 2.0 / 3.0);
    rings(ask(&[0.0, 2.0], &problem(), Some([zero(), zero()]), 1.0), PI / 2.0);
    let flux = Condition::neumann(constant(0.0));
    rings(ask(&[0.0, PI], &problem(), Some([zero(), flux]), 1.0), 0.5);
}

#[test]
fn boundary_values_that_jump_need_rings() {
    let one = Condition::dirichlet(constant(1.0));
    rings(ask(&[0.0, FRAC_PI_2], &[(Equation::poisson(), constant(0.0))], Some([zero(), one]), 1.0), 2.0);
}

#[test]
fn the_middle_of_a_side_and_of_an_interface_are_smooth() {
    let plain = || (Equation::poisson(), formula("exp(x)"));
    assert_eq!(ask(&[0.0, PI], &[plain()], Some([zero(), zero()]), 3.0), Regularity::Smooth);
    assert_eq!(ask(&[-1.0, TAU - 1.0], &[plain()], None, 3.0), Regularity::Smooth);
    let hard = || (Equation::diffusion(constant(100.0)), formula("exp(x)"));
    assert_eq!(ask(&[0.0, PI, TAU], &[plain(), hard()], None, 3.0), Regularity::Smooth);
}

#[test]
fn materials_that_meet_need_rings() {
    let board = |r: f64| {
        let quadrant = |a: f64| (Equation::diffusion(constant(a)), constant(0.0));
        let all = [quadrant(r), quadrant(1.0), quadrant(r), quadrant(1.0)];
        ask(&[0.0, FRAC_PI_2, PI, 1.5 * PI, TAU], &all, None, 1.0)
    };
    rings(board(161.4476387975881), 0.1);
    assert_eq!(board(1.0), Regularity::Smooth);
}

#[test]
fn an_interface_that_ends_on_the_boundary_at_right_angles_follows_its_data() {
    let half = |a: f64, f: f64| (Equation::diffusion(constant(a)), constant(f));
    let angles = [0.0, FRAC_PI_2, PI];
    // u = y (1 - y) on both sides.
    let fits = [half(1.0, 2.0), half(10.0, 20.0)];
    assert_eq!(ask(&angles, &fits, Some([zero(), zero()]), 20.0), Regularity::Smooth);
    let not = [half(1.0, 2.0), half(10.0, 2.0)];
    rings(ask(&angles, &not, Some([zero(), zero()]), 2.0), 1.0);
}

#[test]
fn curved_sides_at_right_angles_are_followed() {
    // A quarter of a disk at (1, 0): u = (1 - x^2 - y^2) y, which vanishes on the axis and on the circle; -Lap u = 8 y.
    let axis = straight_side(PI, false);
    let circle = |r: f64| {
        // The point of the unit circle at distance r from (1, 0).
        let angle = 2.0 * (0.5 * r).asin();
        ([angle.cos() - 1.0, angle.sin()], [angle.cos(), angle.sin()])
    };
    let (equation, condition) = (Equation::poisson(), zero());
    for (f, smooth) in [("8*y", true), ("8*y + 1", false)] {
        let source = formula(f);
        let materials = [Material { angles: [FRAC_PI_2, PI], region: 0, equation: &equation, source: source.as_ref() }];
        let sides = [
            BoundarySide { condition: &condition, curve: &circle },
            BoundarySide { condition: &condition, curve: &axis },
        ];
        let vertex = Vertex {
            point: [1.0, 0.0],
            direction: [0.0, 1.0],
            radius: 0.5,
            materials: &materials,
            sides: Some(sides),
            scale: 8.0,
        };
        assert_eq!(Detector::new(16).regularity(&vertex).unwrap() == Regularity::Smooth, smooth, "{f}");
    }
}

#[test]
fn infinite_data_need_rings_and_plates_are_refused() {
    rings(right_angle("1/hypot(x,y)"), 2.0);
    let plate = Equation::Plate { rigidity: constant(1.0) };
    let source = constant(1.0);
    let materials = [Material { angles: [0.0, 1.0], region: 0, equation: &plate, source: source.as_ref() }];
    let vertex =
        Vertex { point: [0.0; 2], direction: [1.0, 0.0], radius: 1.0, materials: &materials, sides: None, scale: 1.0 };
    assert!(Detector::new(16).regularity(&vertex).unwrap_err().to_string().contains("second order"));
}
