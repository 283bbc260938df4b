//! A coefficient that varies, -div(a grad u) = f, with the flux given on one side and a law of exchange on another.

use std::f64::consts::PI;

use ddelm::problem::field::function_with_gradient;
use ddelm::{Condition, Decomposition, Equation, Problem, Result, Settings, Solver, function};

/// Solves it with a = 1 + x^2, and measures values and gradients.
pub fn main() -> Result<()> {
    let a = |x: f64| 1.0 + x * x;
    let u = |x: f64, y: f64| (PI * x).sin() * y.cos();
    let ux = |x: f64, y: f64| PI * (PI * x).cos() * y.cos();
    let uy = |x: f64, y: f64| -(PI * x).sin() * y.sin();
    let exact = function_with_gradient(u, move |x, y| [ux(x, y), uy(x, y)]);
    let problem = Problem {
        equation: Equation::diffusion(function(move |x, _| a(x))),
        source: function(move |x, y| a(x) * (PI * PI + 1.0) * u(x, y) - 2.0 * x * ux(x, y)),
        conditions: vec![
            Condition::dirichlet(exact.clone()),                       // left: u
            Condition::neumann(function(move |x, y| a(x) * ux(x, y))), // right: a du/dn
            Condition::dirichlet(exact.clone()),                       // bottom: u
            Condition::robin(function(|x, _| 1.0 + x), function(move |x, y| a(x) * uy(x, y) + (1.0 + x) * u(x, y))), // top
        ],
        mean: None,
        exact: Some(exact.clone()),
    };
    let rectangles = Decomposition::rectangle([0.0, 1.0], [0.0, 2.0], [4, 6])?;
    let solution = Solver::new(&problem, rectangles, &Settings::fast())?.solve()?;

    let errors = solution.errors(exact.as_ref(), 32)?;
    println!("relative errors: {:.1e} in L2, {:.1e} in H1", errors.l2, errors.h1.unwrap());
    assert!(errors.l2 < 1e-13 && errors.h1.unwrap() < 1e-12);
    Ok(())
}
