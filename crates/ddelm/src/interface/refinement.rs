//! The direct solve with refinement.
//!
//! Every step evaluates the jumps (and residuals, not their squares) and corrects with the factor. One step undoes the rounding
//! of the factorization and pivots that were small because a box of subdomains has a resonance.

use faer::{Mat, MatMut};

use super::portion::Over;
use super::schur::{Interface, Outcome};
use super::system::DirectFactor;
use crate::base::error::{Error, Result};
use crate::base::progress::Progress;
use crate::local::local_factor::LocalData;

/// A correction of this size, relative to the solution, is rounding: it is not made.
const ROUNDING: f64 = 1e-15;

/// The pace of the first step is that of the largest errors only: it is trusted with this margin.
const MARGIN: f64 = 1e-5;

/// A step that does not shrink the correction by at least this factor is the last.
const PROGRESS: f64 = 0.25;

/// Solves the interface system with at most `refinements` steps after the first solve.
pub fn refine(
    interface: &Interface<'_>,
    factor: &dyn DirectFactor,
    data: &[LocalData],
    columns: usize,
    refinements: usize,
    progress: &dyn Progress,
) -> Result<(Mat<f64>, Outcome)> {
    let residual = |u: &Mat<f64>| interface.residual(data, u.as_ref());
    refined(interface, columns, refinements, progress, residual, |x| factor.solve(x))
}

/// Solves the transpose of a flux balance, `D' m = g` with m over the jumps and g over the interface values, in the same steps.
pub fn refine_transposed(
    interface: &Interface<'_>,
    factor: &dyn DirectFactor,
    g: &Mat<f64>,
    refinements: usize,
    progress: &dyn Progress,
) -> Result<(Mat<f64>, Outcome)> {
    let residual = |m: &Mat<f64>| g - interface.apply_transposed(m.as_ref());
    refined(interface, g.ncols(), refinements, progress, residual, |x| factor.solve_transposed(x))
}

/// Solves a system by its residual and a factor.
fn refined(
    interface: &Interface<'_>,
    columns: usize,
    refinements: usize,
    progress: &dyn Progress,
    residual: impl Fn(&Mat<f64>) -> Mat<f64>,
    solve: impl Fn(MatMut<'_, f64>) -> Result<()>,
) -> Result<(Mat<f64>, Outcome)> {
    let mut u = Mat::zeros(interface.portion.len(Over::Unknowns), columns);
    let mut outcome = Outcome { converged: true, ..Outcome::default() };
    // The first solve corrects the solution 0.
    let mut last = 1.0;
    for step in 0..=refinements {
        if interface.exchange.any(progress.interrupted()) {
            return Err(Error::Interrupted);
        }
        let mut correction = residual(&u);
        solve(correction.as_mut())?;
        let size = relative_size(interface, &correction, &u);
        // A correction that grows is noise: the solution before it is the better one.
        if step > 1 && size > last {
            break;
        }
        u += &correction;
        outcome.refinements = step;
        if step > 0 {
            outcome.last_correction = size;
            // At the pace of this step, the next correction is so large.
            let next = size * (size / last);
            let margin = if step == 1 { MARGIN } else { 1.0 };
            if next <= margin * ROUNDING || (step > 1 && size > PROGRESS * last) {
                break;
            }
            last = size;
        }
    }
    Ok((u, outcome))
}

/// The largest ratio of a column of `correction` to that column of `u + correction`.
fn relative_size(interface: &Interface<'_>, correction: &Mat<f64>, u: &Mat<f64>) -> f64 {
    let total = u + correction;
    let part = interface.dot(correction.as_ref(), correction.as_ref());
    let whole = interface.dot(total.as_ref(), total.as_ref());
    part.iter().zip(&whole).map(|(p, w)| if *w > 0.0 { (p / w).sqrt() } else { 0.0 }).fold(0.0, f64::max)
}
