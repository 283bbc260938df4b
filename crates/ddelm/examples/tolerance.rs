//! A tolerance instead of sizes: points and subdomains are chosen until the estimated error is below it.

use ddelm::method::report::Status;
use ddelm::{Case, Condition, Domain, Equation, Problem, Result, Silent, function};

/// Solves a problem with a steep front to eight digits.
pub fn main() -> Result<()> {
    let u = |x: f64, _: f64| (6.0 * (x - 0.4)).tanh();
    let problem = Problem::new(
        Equation::poisson(),
        function(move |x, y| 72.0 * u(x, y) * (1.0 - u(x, y).powi(2))),
        vec![Condition::dirichlet(function(u)); 4],
    );
    let square = Domain::rectangle([0.0, 1.0], [0.0, 1.0])?;
    let solution = Case { tolerance: Some(1e-8), ..Case::new(problem, square) }.solve(&Silent)?;

    let error = solution.errors(function(u).as_ref(), 32)?.l2;
    let estimate = solution.report.estimate.expect("it is what was reached").l2;
    println!("{} subdomains, estimate {estimate:.1e}, relative error {error:.1e}", solution.report.subdomains);
    assert_eq!(solution.report.status, Status::Solved);
    assert!(estimate <= 1e-8 && error <= 1e-8);
    Ok(())
}
