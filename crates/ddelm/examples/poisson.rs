//! Poisson's equation on the unit square: -Laplacian u = f, with u given on the boundary.

use std::f64::consts::TAU;

use ddelm::{Condition, Decomposition, Equation, Problem, Result, Settings, Solver, function};

/// Solves it on 4 x 4 subdomains.
pub fn main() -> Result<()> {
    let exact = function(|x, y| (TAU * x).sin() * y.exp());
    let problem = Problem {
        equation: Equation::poisson(),
        source: function(|x, y| (TAU * TAU - 1.0) * (TAU * x).sin() * y.exp()),
        conditions: vec![Condition::dirichlet(exact.clone()); 4], // left, right, bottom, top
        mean: None,
        exact: Some(exact.clone()),
    };
    let squares = Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [4, 4])?;
    let solution = Solver::new(&problem, squares, &Settings::fast())?.solve()?;

    println!("u(0.25, 0.5) = {:.12}", solution.values(&[0.25], &[0.5])[0]);
    let error = solution.errors(exact.as_ref(), 32)?.l2;
    println!("relative error: {error:.1e}");
    assert!(error < 1e-12);
    Ok(())
}
