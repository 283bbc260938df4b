//! Many right-hand sides: the problem is factored once, and every further source and boundary value is cheap.

use std::f64::consts::PI;

use ddelm::problem::Data;
use ddelm::{Condition, Decomposition, Equation, Problem, Result, Settings, Silent, Solver, constant, function};

/// Solves -Laplacian u = f for eight sources, together.
pub fn main() -> Result<()> {
    let problem = Problem::new(Equation::poisson(), constant(1.0), vec![Condition::dirichlet(constant(0.0)); 4]);
    let squares = Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [4, 4])?;
    let solver = Solver::new(&problem, squares, &Settings::fast())?;

    let mode = |k: f64| move |x: f64, y: f64| (k * PI * x).sin() * (PI * y).sin();
    let data = |k: f64| Data {
        source: function(move |x, y| (k * k + 1.0) * PI * PI * mode(k)(x, y)),
        boundary: vec![vec![constant(0.0)]; 4],
    };
    let waves: Vec<f64> = (1..=8).map(f64::from).collect();
    let solutions = solver.solve_many(&waves.iter().map(|&k| data(k)).collect::<Vec<_>>(), &Silent)?;

    for (&k, solution) in waves.iter().zip(&solutions) {
        let error = solution.errors(function(mode(k)).as_ref(), 32)?.l2;
        println!("sin({k} pi x) sin(pi y): relative error {error:.1e}");
        assert!(error < 1e-10);
    }
    Ok(())
}
