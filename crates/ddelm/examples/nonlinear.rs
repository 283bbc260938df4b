//! A nonlinear problem by Newton's method: -Laplacian u + u^3 = f. What depends on u is a formula, which knows its derivatives.

use std::f64::consts::PI;

use ddelm::domain::area::Cut;
use ddelm::problem::Diffusion;
use ddelm::{Case, Condition, Domain, Equation, Problem, Result, Silent, constant, formula, function};

/// Solves it from the default guess.
pub fn main() -> Result<()> {
    let exact = function(|x, y| (PI * x).sin() * (PI * y).sin());
    let problem = Problem {
        // c(u) u with c = u^2
        equation: Equation::second_order(Diffusion::Scalar(constant(1.0)), None, Some(formula("u^2")?)),
        source: formula("2*pi^2*sin(pi*x)*sin(pi*y) + (sin(pi*x)*sin(pi*y))^3")?,
        conditions: vec![Condition::dirichlet(constant(0.0)); 4],
        mean: None,
        exact: Some(exact),
    };
    let square = Domain::rectangle([0.0, 1.0], [0.0, 1.0])?;
    let solution = Case { cut: Cut::Size(0.5), ..Case::new(problem, square) }.solve(&Silent)?;

    let error = solution.report.errors.expect("the exact solution is known").l2;
    let newton = solution.report.nonlinear.expect("the problem is nonlinear");
    println!("{} steps, {} factorizations, relative error: {error:.1e}", newton.steps.len(), newton.factorizations);
    assert!(error < 1e-11);
    Ok(())
}
