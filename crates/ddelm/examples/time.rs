//! Heat that spreads: u_t = Laplacian u from u = sin(pi x) sin(pi y), which keeps its shape and decays.

use std::f64::consts::PI;

use ddelm::domain::area::Cut;
use ddelm::solve::time::{Steps, Time};
use ddelm::{Case, Condition, Domain, Equation, Problem, Result, Silent, constant, formula, function};

/// Goes to t = 0.1 in 40 steps of the fourth order, with one factorization.
pub fn main() -> Result<()> {
    let problem = Problem::new(Equation::poisson(), constant(0.0), vec![Condition::dirichlet(constant(0.0)); 4])
        .with_exact(formula("exp(-2*pi^2*t)*sin(pi*x)*sin(pi*y)")?);
    let time = Time {
        start: 0.0,
        end: 0.1,
        initial: function(|x, y| (PI * x).sin() * (PI * y).sin()),
        steps: Steps::Count(40),
        order: 4,
        times: vec![0.05],
        nonlinear: Default::default(),
    };
    let square = Domain::rectangle([0.0, 1.0], [0.0, 1.0])?;
    let case = Case { cut: Cut::Size(0.5), time: Some(time), ..Case::new(problem, square) };

    for moment in case.evolve(&Silent)? {
        let error = moment.solution.report.errors.expect("the exact solution is known").l2;
        println!("t = {}: relative error {error:.1e}", moment.t);
        assert!(error < 1e-5);
    }
    Ok(())
}
