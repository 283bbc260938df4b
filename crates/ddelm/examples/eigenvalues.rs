//! The tones of a square drum: -Laplacian u = lambda u, u = 0 on the boundary.

use std::f64::consts::PI;

use ddelm::domain::area::Cut;
use ddelm::solve::eigenvalues::Eigenvalues;
use ddelm::{Case, Condition, Domain, Equation, Problem, Result, Silent, constant};

/// Finds the lowest four, two of which are the same.
pub fn main() -> Result<()> {
    let problem = Problem::new(Equation::poisson(), constant(0.0), vec![Condition::dirichlet(constant(0.0)); 4]);
    let square = Domain::rectangle([0.0, 1.0], [0.0, 1.0])?;
    let wanted = Eigenvalues { count: 4, near: 0.0 };
    let case = Case { cut: Cut::Size(0.5), eigenvalues: Some(wanted), estimate: false, ..Case::new(problem, square) };

    for (pair, exact) in case.eigenpairs(&Silent)?.iter().zip([2.0, 5.0, 5.0, 8.0]) {
        let (found, exact) = (pair.eigenvalue.value, exact * PI * PI);
        println!("{found:.10}, relative error {:.1e}", (found / exact - 1.0).abs());
        assert!((found / exact - 1.0).abs() < 1e-10);
    }
    Ok(())
}
