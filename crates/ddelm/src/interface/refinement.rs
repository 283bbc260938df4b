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

/// The same margin where the pace is known from another solve, and the guess is close.
const GUESS_MARGIN: f64 = 0.1;

/// Interface values that are nearly right, as those of the last time steps tell.
pub struct Guess {
    /// The values, for all right-hand sides; zero without.
    pub u: Option<Mat<f64>>,
    /// What one direct solve leaves of an error, from the [`Outcome`] of another solve.
    pub contraction: f64,
    /// The error that may be left, relative to the values.
    pub enough: f64,
}

impl Guess {
    /// One that is corrected to rounding.
    pub fn new(u: Mat<f64>, contraction: f64) -> Self {
        Guess { u: Some(u), contraction, enough: GUESS_MARGIN * ROUNDING }
    }
}

/// Interface values this much smaller than the solutions inside are rounding.
const NEGLIGIBLE: f64 = 1e-10;

/// A factor with steps of refinement.
#[derive(Clone, Copy)]
pub struct Refinement<'a> {
    /// The interface.
    pub interface: &'a Interface<'a>,
    /// Its factored system.
    pub factor: &'a dyn DirectFactor,
    /// The most steps after the first solve.
    pub steps: usize,
    /// Who may stop it.
    pub progress: &'a dyn Progress,
}

impl Refinement<'_> {
    /// Solves the interface system.
    pub fn solve(&self, data: &[LocalData], columns: usize, guess: Option<Guess>) -> Result<(Mat<f64>, Outcome)> {
        let system = Refined {
            residual: |u: Option<&Mat<f64>>| match u {
                Some(u) => self.interface.residual(data, u.as_ref()),
                None => self.interface.residual_at_zero(data, columns),
            },
            solve: |x: MatMut<'_, f64>| self.factor.solve(x),
            floors: floors(self.interface, data, columns),
        };
        system.run(self, guess)
    }

    /// Solves a flux balance for given jumps, `D u = -jumps`. `squares` are those of the sizes of the solutions inside.
    pub fn solve_jumps(&self, jumps: &Mat<f64>, squares: &[f64], guess: Option<Guess>) -> Result<(Mat<f64>, Outcome)> {
        let system = Refined {
            residual: |u: Option<&Mat<f64>>| {
                let mut rest = jumps.clone();
                if let Some(u) = u {
                    rest += self.interface.jumps(u.as_ref());
                }
                rest *= faer::Scale(-1.0);
                rest
            },
            solve: |x: MatMut<'_, f64>| self.factor.solve(x),
            floors: squares.iter().map(|square| NEGLIGIBLE * NEGLIGIBLE * square).collect(),
        };
        system.run(self, guess)
    }

    /// Solves the transpose of a flux balance, `D' m = g` with m over the jumps and g over the interface values.
    pub fn solve_transposed(&self, g: &Mat<f64>) -> Result<(Mat<f64>, Outcome)> {
        let system = Refined {
            residual: |m: Option<&Mat<f64>>| {
                m.map_or_else(|| g.clone(), |m| g - self.interface.apply_transposed(m.as_ref()))
            },
            solve: |x: MatMut<'_, f64>| self.factor.solve_transposed(x),
            floors: vec![0.0; g.ncols()],
        };
        system.run(self, None)
    }
}

/// A system by its residual and a factor.
struct Refined<R, S> {
    /// What is left at some values, or at zero, where there is nothing to multiply.
    residual: R,
    solve: S,
    /// Squares of sizes below which a column is rounding.
    floors: Vec<f64>,
}

impl<R: Fn(Option<&Mat<f64>>) -> Mat<f64>, S: Fn(MatMut<'_, f64>) -> Result<()>> Refined<R, S> {
    fn run(&self, refinement: &Refinement<'_>, guess: Option<Guess>) -> Result<(Mat<f64>, Outcome)> {
        let Refinement { interface, steps, progress, .. } = *refinement;
        let mut outcome = Outcome { converged: true, ..Outcome::default() };
        let (near, contraction, enough) = match guess {
            Some(Guess { u, contraction, enough }) => {
                (u, Some(contraction).filter(|contraction| *contraction > 0.0), enough)
            }
            None => (None, None, 0.0),
        };
        let mut at_zero = near.is_none();
        let mut u = near.unwrap_or_else(|| Mat::zeros(interface.portion.len(Over::Unknowns), self.floors.len()));
        // The first solve corrects the solution 0, or the guess.
        let mut last = 1.0;
        for step in 0..=steps {
            if interface.exchange.any(progress.interrupted()) {
                return Err(Error::Interrupted);
            }
            let mut correction = (self.residual)((!at_zero).then_some(&u));
            at_zero = false;
            (self.solve)(correction.as_mut())?;
            let size = relative_size(interface, &correction, &u, &self.floors);
            // A correction that grows is noise: the solution before it is the better one.
            if step > 1 && size > last {
                break;
            }
            u += &correction;
            outcome.refinements = step;
            if let Some(contraction) = contraction.filter(|_| step == 0) {
                (outcome.last_correction, outcome.contraction) = (size * contraction, contraction);
                if size * contraction <= enough {
                    break;
                }
                // One more solve: what it leaves is beyond rounding.
                last = size;
                continue;
            }
            if step > 0 {
                if step == 1 && contraction.is_none() {
                    outcome.contraction = size;
                }
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
}

/// Squares of sizes below which interface values are rounding beside the solutions inside, one for each column: a function that
/// vanishes on the whole interface, as an eigenfunction may, has no other size there.
fn floors(interface: &Interface<'_>, data: &[LocalData], columns: usize) -> Vec<f64> {
    let square = |data: &LocalData, k: usize| data.y.col(k).squared_norm_l2();
    let mut sums: Vec<f64> = (0..columns).map(|k| data.iter().map(|data| square(data, k)).sum()).collect();
    interface.exchange.sum(&mut sums);
    sums.iter().map(|sum| NEGLIGIBLE * NEGLIGIBLE * sum).collect()
}

/// The largest ratio of a column of `correction` to that column of `u + correction`.
fn relative_size(interface: &Interface<'_>, correction: &Mat<f64>, u: &Mat<f64>, floors: &[f64]) -> f64 {
    let total = u + correction;
    let part = interface.dot(correction.as_ref(), correction.as_ref());
    let whole = interface.dot(total.as_ref(), total.as_ref());
    let sizes = whole.iter().zip(floors).map(|(w, floor)| w.max(*floor));
    part.iter().zip(sizes).map(|(p, w)| if w > 0.0 { (p / w).sqrt() } else { 0.0 }).fold(0.0, f64::max)
}
