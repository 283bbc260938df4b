//! A plane wave: the Helmholtz equation -Laplacian u - k^2 u = 0 with k = 20.

use ddelm::problem::Diffusion;
use ddelm::{Condition, Decomposition, Equation, Problem, Result, Settings, Solver, constant, function};

/// Solves it on 8 x 8 subdomains, and looks at the residual, which needs no exact solution.
pub fn main() -> Result<()> {
    let exact = function(|x, y| (12.0 * x + 16.0 * y).sin());
    let problem = Problem::new(
        Equation::SecondOrder {
            diffusion: Diffusion::Scalar(constant(1.0)),
            advection: None,
            reaction: Some(constant(-400.0)),
        },
        constant(0.0),
        vec![Condition::dirichlet(exact.clone()); 4],
    )
    .with_exact(exact.clone());
    let squares = Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [8, 8])?;
    let solution = Solver::new(&problem, squares, &Settings { points: 20, ..Settings::fast() })?.solve()?;

    let error = solution.errors(exact.as_ref(), 40)?.l2;
    let residual = solution.residuals(&problem, &[0.3], &[0.7])?[0];
    println!("relative error: {error:.1e}, residual at (0.3, 0.7): {residual:.1e}");
    assert!(error < 1e-12 && residual.abs() < 1e-9);
    Ok(())
}
