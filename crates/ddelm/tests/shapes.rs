//! The patch test of the default path and of the others, on every kind of decomposition: harmonic polynomials of degree four
//! at most. Where subdomains are affine, the default method has them in its basis and reproduces them to rounding; elsewhere
//! a wrong sign, index, normal or corner shows as an error far above the bar.

use std::f64::consts::PI;
use std::sync::Arc;

use ddelm::domain::collocation::Nodes;
use ddelm::domain::map::{Affine, MapRef, Point, Polar, Quadrilateral};
use ddelm::method::settings::InterfaceSolver;
use ddelm::problem::field::FieldRef;
use ddelm::problem::field::function_with_gradient;
use ddelm::{Condition, Decomposition, Equation, Problem, Settings, Solver, constant};

/// Re z^k + Im z^(k - 1) with z = x + i y.
fn harmonic(k: i32) -> FieldRef {
    let power = |x: f64, y: f64, k: i32| {
        let (r, angle) = (x.hypot(y), y.atan2(x));
        (r.powi(k) * (k as f64 * angle).cos(), r.powi(k) * (k as f64 * angle).sin())
    };
    let value = move |x, y| power(x, y, k).0 + power(x, y, k - 1).1;
    let gradient = move |x, y| {
        // d/dx z^k = k z^(k-1), d/dy z^k = i k z^(k-1).
        let ((a, b), (c, d)) = (power(x, y, k - 1), power(x, y, k - 2));
        let (m, n) = (k as f64, (k - 1) as f64);
        [m * a + n * d, -m * b + n * c]
    };
    function_with_gradient(value, gradient)
}

fn squares(origins: &[Point], size: Point) -> Vec<MapRef> {
    origins.iter().map(|&o| Arc::new(Affine::rectangle(o, size[0], size[1])) as MapRef).collect()
}

fn glued(maps: Vec<MapRef>) -> Decomposition {
    Decomposition::from_maps(maps, 1, |_| 0).unwrap()
}

fn rectangle() -> Decomposition {
    let maps = (0..6).map(|k| [0.5 + 0.4 * (k / 2) as f64, 0.2 + 0.5 * (k % 2) as f64]).collect::<Vec<_>>();
    glued(squares(&maps, [0.4, 0.5]))
}

/// Twelve squares around a re-entrant corner, which the subdomain inside touches with interfaces on both sides.
fn l_shape() -> Decomposition {
    let cells = (0..16).map(|k| [k / 4, k % 4]).filter(|[i, j]| *i < 2 || *j < 2);
    let origins: Vec<Point> = cells.map(|[i, j]| [0.5 + 0.3 * i as f64, 0.3 * j as f64]).collect();
    glued(squares(&origins, [0.3, 0.3]))
}

fn turned() -> Decomposition {
    let (c, s) = (0.5f64.cos(), 0.5f64.sin());
    let maps = (0..6).map(|k| {
        let (i, j) = ((k / 2) as f64, (k % 2) as f64);
        let origin = [0.7 + 0.4 * (c * i - s * j), 0.1 + 0.4 * (s * i + c * j)];
        Arc::new(Affine { origin, jacobian: [[0.4 * c, -0.4 * s], [0.4 * s, 0.4 * c]] }) as MapRef
    });
    glued(maps.collect())
}

/// Columns and rows of different widths.
fn uneven() -> Decomposition {
    let (x, y) = ([0.3, 0.4, 0.9, 1.1], [0.2, 0.7, 0.8]);
    let cells = (0..6).map(|k| (k / 2, k % 2));
    let maps =
        cells.map(|(i, j)| Arc::new(Affine::rectangle([x[i], y[j]], x[i + 1] - x[i], y[j + 1] - y[j])) as MapRef);
    glued(maps.collect())
}

/// Three parallelograms at a point: a hexagon.
fn three_valent() -> Decomposition {
    let centre = [0.9, 0.6];
    let at = |k: f64, r: f64| [r * (PI * k / 3.0).cos(), r * (PI * k / 3.0).sin()];
    let maps = (0..3).map(|k| {
        let (p, q) = (at(2.0 * k as f64, 0.5), at(2.0 * k as f64 + 2.0, 0.5));
        Arc::new(Affine { origin: centre, jacobian: [[p[0], q[0]], [p[1], q[1]]] }) as MapRef
    });
    glued(maps.collect())
}

fn annulus() -> Decomposition {
    let angle = |k: usize| 2.0 * PI * k as f64 / 6.0;
    let maps = (0..12).map(|k| {
        let (i, j) = (k / 6, k % 6);
        let radius = [0.6 + 0.25 * i as f64, 0.85 + 0.25 * i as f64];
        Arc::new(Polar { centre: [0.2, 0.1], radius, angle: [angle(j), angle(j + 1)] }) as MapRef
    });
    glued(maps.collect())
}

/// Trapezoids, whose maps are not affine.
fn kites() -> Decomposition {
    let (a, b) = ([0.5, 0.0], [0.4, 0.6]);
    let maps = [[[0.0, 0.0], a, [0.0, 0.6], b], [a, [1.0, 0.1], b, [1.0, 0.7]]];
    glued(maps.map(|corners| Arc::new(Quadrilateral { corners }) as MapRef).to_vec())
}

fn laplace(k: i32) -> Problem {
    Problem::new(Equation::poisson(), constant(0.0), vec![Condition::dirichlet(harmonic(k))]).with_exact(harmonic(k))
}

fn plate(k: i32) -> Problem {
    Problem {
        equation: Equation::Plate { rigidity: constant(2.0) },
        conditions: vec![Condition::simply_supported(harmonic(k), constant(0.0))],
        ..laplace(k)
    }
}

fn error(problem: &Problem, decomposition: Decomposition, settings: &Settings) -> f64 {
    let solution = Solver::new(problem, Arc::new(decomposition), settings).unwrap().solve().unwrap();
    solution.errors(problem.exact.as_ref().unwrap().as_ref(), 20).unwrap().h1.unwrap()
}

/// Settings of the three ways.
fn ways() -> [Settings; 3] {
    let paper = Settings { points: 16, interface: InterfaceSolver::Direct, ..Settings::paper() };
    [
        Settings { points: 10, ..Settings::fast() },
        Settings { points: 14, nodes: Some(Nodes::Uniform), ..Settings::fast() },
        paper,
    ]
}

#[track_caller]
fn check(shape: fn() -> Decomposition, problem: fn(i32) -> Problem, bars: [f64; 3]) {
    for (settings, bar) in ways().into_iter().zip(bars) {
        for k in 2..=4 {
            let found = error(&problem(k), shape(), &settings);
            assert!(found < bar, "degree {k}, {:?}, scaled {}: {found:.1e}", settings.nodes, settings.scaled_rows);
        }
    }
}

#[test]
fn rectangle_is_exact() {
    check(rectangle, laplace, [1e-12, 1e-7, 1e-6]);
}

#[test]
fn l_shape_is_exact() {
    check(l_shape, laplace, [1e-12, 1e-7, 1e-6]);
}

#[test]
fn turned_squares_are_exact() {
    check(turned, laplace, [1e-12, 1e-7, 1e-6]);
}

#[test]
fn uneven_rectangles_are_exact() {
    check(uneven, laplace, [1e-12, 1e-7, 1e-6]);
}

#[test]
fn three_subdomains_at_a_point_are_exact() {
    check(three_valent, laplace, [1e-12, 1e-7, 1e-6]);
}

#[test]
fn annulus_is_as_good_as_its_features() {
    check(annulus, laplace, [1e-5, 1e-4, 1e-3]);
}

#[test]
fn trapezoids_are_as_good_as_their_features() {
    check(kites, laplace, [1e-6, 1e-5, 1e-4]);
}

#[test]
fn the_plate_is_exact_where_subdomains_are_affine() {
    for shape in [rectangle, l_shape, turned, uneven, three_valent] {
        check(shape, plate, [1e-9, 1e-4, 1e-3]);
    }
}
