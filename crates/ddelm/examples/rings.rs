//! A reentrant corner: the solution r^(2/3) sin(2 phi / 3) of the L-shaped domain has no derivatives at it.

use std::f64::consts::{FRAC_PI_2, TAU};

use ddelm::domain::loops::Loop;
use ddelm::domain::outline::Outline;
use ddelm::method::settings::Corners;
use ddelm::{Case, Condition, Domain, Equation, Problem, Result, Settings, Silent, constant, function};

/// Solves it with rings of smaller and smaller subdomains about the corner, which are found by themselves.
pub fn main() -> Result<()> {
    let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [0.0, -1.0]];
    let domain = Domain::outline(Outline::simple(Loop::polygon("L", &corners, None)?)?);
    let exact = function(|x, y| {
        let angle = y.atan2(x);
        // The domain is 0 < phi < 3 pi / 2.
        let angle = if angle < -0.5 * FRAC_PI_2 { angle + TAU } else { angle.max(0.0) };
        x.hypot(y).powf(2.0 / 3.0) * (2.0 / 3.0 * angle).sin()
    });
    let problem = Problem::new(
        Equation::poisson(),
        constant(0.0),
        vec![Condition::dirichlet(exact.clone()); domain.parts().len()],
    )
    .with_exact(exact);
    let settings = Settings { corners: Corners::Auto, ..Settings::fast() };
    let solution = Case { settings, ..Case::new(problem, domain) }.solve(&Silent)?;

    let error = solution.report.errors.expect("the exact solution is known").l2;
    println!("rings about {} vertex, relative error: {error:.1e}", solution.report.rings);
    assert!(error < 1e-7);
    Ok(())
}
