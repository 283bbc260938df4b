//! A thin plate under a load, D Laplacian^2 u = q: two sides are clamped, two simply supported.

use std::f64::consts::PI;

use ddelm::{Condition, Decomposition, Equation, Problem, Result, Settings, Solver, constant, function};

/// Solves it with u = sin(pi x) sin(pi y).
pub fn main() -> Result<()> {
    let exact = function(|x, y| (PI * x).sin() * (PI * y).sin());
    let zero = constant(0.0);
    // On the left and on the right: du/dn = -pi sin(pi y), outwards.
    let clamped = Condition::clamped(zero.clone(), function(|_, y| -PI * (PI * y).sin()));
    let supported = Condition::simply_supported(zero.clone(), zero);
    let problem = Problem::new(
        Equation::Plate { rigidity: constant(2.0) },
        function(|x, y| 8.0 * PI.powi(4) * (PI * x).sin() * (PI * y).sin()),
        vec![clamped.clone(), clamped, supported.clone(), supported],
    )
    .with_exact(exact.clone());
    let squares = Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [4, 4])?;
    let solution = Solver::new(&problem, squares, &Settings::fast())?.solve()?;

    let error = solution.errors(exact.as_ref(), 32)?.l2;
    println!("relative error: {error:.1e}");
    assert!(error < 1e-12);
    Ok(())
}
