//! The NIST collection: its files can be read, and its formulas fit each other.

#[path = "nist/collection.rs"]
mod collection;

use collection::{NistProblem, collection};
use ddelm::ProblemFile;
use ddelm::problem::expression::Formula;
use ddelm::problem::field::{Field, Samples};
use ddelm::solve::consistency;

/// Weights of the second derivative, of order eight, from the middle.
const SECOND: [f64; 5] = [-205.0 / 72.0, 8.0 / 5.0, -1.0 / 5.0, 8.0 / 315.0, -1.0 / 560.0];

/// Weights of the first derivative, of order eight, from the middle.
const FIRST: [f64; 5] = [0.0, 4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0];

type Function = Box<dyn Fn(f64, f64) -> f64>;

/// The equation of a file where the diffusion has no slope: a, b, c, f by formulas, those of a region where it has its own.
struct Equation {
    diffusion: Function,
    advection: [Function; 2],
    reaction: Function,
    source: Function,
    exact: Function,
}

fn function(value: Option<&toml::Value>, default: f64) -> Function {
    let text = match value {
        None => default.to_string(),
        Some(toml::Value::String(text)) => text.clone(),
        Some(number) => number.to_string(),
    };
    let formula = Formula::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    Box::new(move |x, y| {
        let mut out = [0.0];
        formula.values(&Samples::at(&[x], &[y]), &mut out).unwrap();
        out[0]
    })
}

fn equation(text: &str) -> Equation {
    let file: toml::Table = text.parse().unwrap();
    let table = &file["equation"];
    let b = |k: usize| function(table.get("advection").map(|b| &b[k]), 0.0);
    let whole = function(table.get("source"), 0.0);
    let source: Function = match table.get("regions").and_then(|regions| regions.get("right")) {
        None => whole,
        // The region of the line: where the exact solution is not the smooth one.
        Some(region) => {
            let (own, exact) = (function(region.get("source"), 0.0), function(file["exact"].get("u"), 0.0));
            Box::new(move |x, y| {
                let inside = exact(x, y) != (std::f64::consts::FRAC_PI_2 * y).cos();
                if inside { own(x, y) } else { whole(x, y) }
            })
        }
    };
    Equation {
        diffusion: function(table.get("diffusion"), 1.0),
        advection: [b(0), b(1)],
        reaction: function(table.get("reaction"), 0.0),
        source,
        exact: function(file["exact"].get("u"), 0.0),
    }
}

/// The largest residual of the exact solution about a feature, over the largest sum of the sizes of its terms, with the source
/// multiplied by `factor`.
fn residual(equation: &Equation, centre: [f64; 2], length: f64, factor: f64) -> f64 {
    let h = 0.04 * length;
    let u = &equation.exact;
    let (mut worst, mut size) = (0.0f64, 0.0f64);
    for k in 0..49 {
        let at = |i: i32| f64::from(i) / 3.0 - 1.0 + 0.0137;
        let [x, y] = [centre[0] + 0.8 * length * at(k % 7), centre[1] + 0.8 * length * at(k / 7)];
        let along = |dx: f64, dy: f64, weights: &[f64; 5], sign: f64| -> f64 {
            let pair = |m: usize| {
                let s = h * m as f64;
                u(x + s * dx, y + s * dy) + sign * u(x - s * dx, y - s * dy)
            };
            weights[0] * u(x, y) + (1..5).map(|m| weights[m] * pair(m)).sum::<f64>()
        };
        let a = (equation.diffusion)(x, y);
        let terms = [
            -a * along(1.0, 0.0, &SECOND, 1.0) / (h * h),
            -a * along(0.0, 1.0, &SECOND, 1.0) / (h * h),
            (equation.advection[0])(x, y) * along(1.0, 0.0, &FIRST, -1.0) / h,
            (equation.advection[1])(x, y) * along(0.0, 1.0, &FIRST, -1.0) / h,
            (equation.reaction)(x, y) * u(x, y),
            -factor * (equation.source)(x, y),
        ];
        worst = worst.max(terms.iter().sum::<f64>().abs());
        size = size.max(terms.iter().map(|t| t.abs()).sum());
    }
    worst / size
}

fn problems() -> Vec<NistProblem> {
    let all = collection();
    assert_eq!(all.len(), 30);
    all
}

#[test]
fn the_exact_solutions_satisfy_their_equations() {
    for problem in problems().iter().filter(|problem| !problem.features.is_empty()) {
        let equation = equation(&problem.text);
        let mut wrong = 0.0f64;
        for &(centre, length) in &problem.features {
            let found = residual(&equation, centre, length, 1.0);
            assert!(found < 3e-6, "{} at {centre:?}: {found:.1e}", problem.name);
            wrong = wrong.max(residual(&equation, centre, length, 1.001));
        }
        // A source that is off by a thousandth is found out, where there is one.
        let harmonic = ["2", "11"].contains(&problem.name.split(' ').next().unwrap());
        assert!(harmonic || wrong > 3e-5, "{}: {wrong:.1e} of a wrong source", problem.name);
    }
}

#[test]
fn kelloggs_solution_and_its_flux_are_continuous() {
    for problem in problems().iter().filter(|problem| problem.name.starts_with("11")) {
        let Equation { diffusion: a, exact: u, .. } = equation(&problem.text);
        let h = 1e-5;
        for (x, y) in [(0.3, 0.0), (0.0, 0.6), (-0.4, 0.0), (0.0, -0.2)] {
            // Across the axis: values, and the one-sided slopes of second order.
            let (nx, ny) = if x == 0.0 { (1.0, 0.0) } else { (0.0, 1.0) };
            let at = |s: f64| u(x + s * nx, y + s * ny);
            let side = |s: f64| {
                let slope = (-3.0 * at(s * 1e-12) + 4.0 * at(s * h) - at(2.0 * s * h)) / (2.0 * s * h);
                a(x + s * h * nx, y + s * h * ny) * slope
            };
            assert!((at(1e-12) - at(-1e-12)).abs() < 1e-10, "{} at {x}, {y}", problem.name);
            let (up, down) = (side(1.0), side(-1.0));
            assert!(
                (up - down).abs() < 1e-6 * (up.abs() + down.abs() + 1.0),
                "{} at {x}, {y}: {up} {down}",
                problem.name
            );
        }
    }
}

#[test]
fn rectangles_are_problem_files() {
    let rectangles = problems().into_iter().filter(|problem| problem.text.starts_with("[domain]\nx ="));
    let mut count = 0;
    for problem in rectangles {
        let file = ProblemFile::new(problem.text.clone())
            .set("discretization.subdomains=[4, 4]")
            .set("discretization.points=12");
        let case = file.case().unwrap_or_else(|error| panic!("{}: {error}\n{}", problem.name, problem.text));
        let warnings = consistency::check(&case.problem, &case.decomposition().unwrap());
        assert!(warnings.is_empty(), "{}: {warnings:?}", problem.name);
        count += 1;
    }
    assert_eq!(count, 20);
}
