//! Conjugate gradients on the Schur complement system, as in the paper: start at 0, stop when the residual is below
//! the tolerance relative to the first one, count every interface unknown once in inner products.
//!
//! The residual jumps up and down by a factor of several from one iteration to the next. It is below the tolerance when
//! it stays there for some iterations: that costs some percent more of them, and the error no longer depends on where the
//! residual happened to dip.

use faer::Mat;

use super::portion::Over;
use super::schur::{Interface, Outcome};
use crate::base::error::{Error, Result};
use crate::base::progress::Progress;
use crate::local::local_factor::LocalData;

/// Iterations that the residual must stay below the tolerance.
const STEADY: usize = 10;

/// Iterations between looks at the listener.
const PAUSE: usize = 16;

/// Solves `S u = r`. Running out of iterations is an outcome, not an error.
pub fn conjugate_gradients(
    interface: &Interface<'_>,
    data: &[LocalData],
    columns: usize,
    tolerance: f64,
    max_iterations: usize,
    progress: &dyn Progress,
) -> Result<(Mat<f64>, Outcome)> {
    let unknowns = interface.portion.len(Over::Unknowns);
    let mut u = Mat::zeros(unknowns, columns);
    let mut residual = interface.residual(data, u.as_ref());
    let mut outcome = Outcome { converged: true, ..Outcome::default() };
    let first = interface.dot(residual.as_ref(), residual.as_ref());
    let mut rho = first.clone();
    let mut p = residual.clone();
    let goal: Vec<f64> = first.iter().map(|f| f * tolerance * tolerance).collect();
    // For how many iterations each column has been below its goal. Columns run side by side; one that is done no longer
    // moves.
    let mut steady = vec![0; columns];
    let done = |rho: f64, steady: usize| rho == 0.0 || steady >= STEADY;
    while (0..columns).any(|k| !done(rho[k], steady[k])) {
        if outcome.iterations >= max_iterations {
            outcome.converged = false;
            break;
        }
        // All ranks stop in the same iteration; asking them every time would cost a message.
        if outcome.iterations.is_multiple_of(PAUSE) && interface.exchange.any(progress.interrupted()) {
            return Err(Error::Interrupted);
        }
        let sp = interface.apply(p.as_ref());
        let curvature = interface.dot(p.as_ref(), sp.as_ref());
        for k in (0..columns).filter(|&k| !done(rho[k], steady[k]) && curvature[k] > 0.0) {
            let alpha = rho[k] / curvature[k];
            for i in 0..unknowns {
                u[(i, k)] += alpha * p[(i, k)];
                residual[(i, k)] -= alpha * sp[(i, k)];
            }
        }
        let next = interface.dot(residual.as_ref(), residual.as_ref());
        for k in 0..columns {
            if done(rho[k], steady[k]) {
                continue;
            }
            let beta = next[k] / rho[k];
            for i in 0..unknowns {
                p[(i, k)] = residual[(i, k)] + beta * p[(i, k)];
            }
            rho[k] = next[k];
            steady[k] = if rho[k] <= goal[k] { steady[k] + 1 } else { 0 };
        }
        outcome.iterations += 1;
        if outcome.iterations.is_multiple_of(PAUSE) {
            let worst = (0..columns).map(|k| rho[k] / first[k].max(f64::MIN_POSITIVE)).fold(0.0, f64::max).sqrt();
            progress.residual(outcome.iterations, worst, tolerance);
        }
    }
    outcome.relative_residual =
        (0..columns).map(|k| if first[k] > 0.0 { (rho[k] / first[k]).sqrt() } else { 0.0 }).fold(0.0, f64::max);
    Ok((u, outcome))
}
