//! A domain with an outline: a ring between two circles, u = log r on both of them.

use ddelm::domain::loops::Loop;
use ddelm::domain::outline::{NamedLoop, Outline};
use ddelm::{Case, Condition, Domain, Equation, Problem, Result, Silent, constant, function};

/// Solves it on as many subdomains as the outline asks for.
pub fn main() -> Result<()> {
    let hole = NamedLoop { name: "hole".into(), outline: Loop::circle("hole", [0.0, 0.0], 0.4)? };
    let domain = Domain::outline(Outline::new(Loop::circle("outer", [0.0, 0.0], 1.0)?, vec![hole], Vec::new())?);
    println!("parts of the boundary: {}", domain.parts().join(", "));

    let exact = function(|x, y| x.hypot(y).ln());
    let problem = Problem::new(
        Equation::poisson(),
        constant(0.0),
        vec![Condition::dirichlet(exact.clone()); domain.parts().len()],
    )
    .with_exact(exact);
    let solution = Case::new(problem, domain).solve(&Silent)?;

    let error = solution.report.errors.expect("the exact solution is known").l2;
    println!("{} subdomains, relative error: {error:.1e}", solution.report.subdomains);
    assert!(error < 1e-9);
    Ok(())
}
