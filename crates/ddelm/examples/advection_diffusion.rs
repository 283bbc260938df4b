//! Transport by a wind b with little diffusion: -0.01 Laplacian u + b . grad u = f.

use std::f64::consts::PI;

use ddelm::problem::Diffusion;
use ddelm::{Condition, Decomposition, Equation, Problem, Result, Settings, Solver, constant, function};

/// Solves it with a wind that turns around the middle of the square.
pub fn main() -> Result<()> {
    let exact = function(|x, y| (PI * x).sin() * (PI * y).sin());
    let wind = [function(|_, y| 0.5 - y), function(|x, _| x - 0.5)];
    let problem = Problem::new(
        Equation::SecondOrder { diffusion: Diffusion::Scalar(constant(0.01)), advection: Some(wind), reaction: None },
        function(|x, y| {
            let ((sx, cx), (sy, cy)) = ((PI * x).sin_cos(), (PI * y).sin_cos());
            0.02 * PI * PI * sx * sy + PI * ((0.5 - y) * cx * sy + (x - 0.5) * sx * cy)
        }),
        vec![Condition::dirichlet(constant(0.0)); 4],
    )
    .with_exact(exact.clone());
    let squares = Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [6, 6])?;
    let solution = Solver::new(&problem, squares, &Settings::fast())?.solve()?;

    let error = solution.errors(exact.as_ref(), 32)?.l2;
    println!("relative error: {error:.1e}");
    assert!(error < 1e-13);
    Ok(())
}
