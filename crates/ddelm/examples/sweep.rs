//! A sweep over a coefficient: the plan of the first solver and its memory serve all others.

use ddelm::{Condition, Decomposition, Equation, Problem, Result, Settings, Solver, constant, function};

/// Solves -div((1 + k x) grad u) = f for several k, with u = x (1 - x) known beforehand.
pub fn main() -> Result<()> {
    let exact = function(|x, _| x * (1.0 - x));
    let problem = |k: f64| Problem {
        equation: Equation::diffusion(function(move |x, _| 1.0 + k * x)),
        // -((1 + k x) (1 - 2 x))'
        source: function(move |x, _| 2.0 * (1.0 + k * x) - k * (1.0 - 2.0 * x)),
        conditions: vec![
            Condition::dirichlet(constant(0.0)),
            Condition::dirichlet(constant(0.0)),
            Condition::neumann(constant(0.0)),
            Condition::neumann(constant(0.0)),
        ],
        mean: None,
        exact: None,
    };
    let squares = Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [2, 2])?;
    let mut solver = Solver::new(&problem(0.0), squares, &Settings::fast())?;
    for k in [0.5, 1.0, 2.0] {
        solver = solver.update(&problem(k))?;
        let error = solver.solve()?.errors(exact.as_ref(), 32)?.l2;
        println!("k = {k}: relative error {error:.1e}");
        assert!(error < 1e-11);
    }
    Ok(())
}
