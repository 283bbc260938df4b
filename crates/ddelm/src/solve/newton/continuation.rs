//! Continuation: a parameter is followed from an easy value to the one that is wanted, each solution being the guess for the next, with
//! steps that double where Newton's method converges and are halved where it does not.

use std::sync::Arc;

use super::{Newton, Reached, Run};
use crate::base::error::{Error, Result};
use crate::local::iterate::InBasis;
use crate::method::report::ContinuationStep;
use crate::problem::model::Problem;

/// A problem for every value of a parameter.
pub type Family = dyn Fn(f64) -> Result<Problem> + Send + Sync;

/// The way from an easy problem to the one that is wanted.
#[derive(Clone)]
pub struct Continuation {
    /// The parameter, for messages.
    pub parameter: String,
    /// Its first value.
    pub from: f64,
    /// Its last value, that of the problem itself.
    pub to: f64,
    /// The problem for a value.
    pub problem: Arc<Family>,
}

/// The first step of a continuation, as a share of the way.
const FIRST_SHARE: f64 = 0.25;

/// The smallest step of a continuation, as a share of the way.
const LEAST_SHARE: f64 = 1e-3;

/// Steps of Newton's method on the way of a continuation, at most: a shorter way is cheaper than more of them.
const STEPS_ON_THE_WAY: usize = 12;

/// The relative change in the last step on the way of a continuation: guesses need not be better.
const ON_THE_WAY: f64 = 1e-4;

impl Newton<'_> {
    /// Follows a parameter to its last value.
    pub(super) fn follow(&mut self, path: &Continuation) -> Result<Reached> {
        let value_at = |share: f64| if share >= 1.0 { path.to } else { path.from + share * (path.to - path.from) };
        let first = (path.problem)(path.from)?;
        let guess = self.initial(&first)?;
        let mut here = self.run(&first, guess, self.nonlinear.max_steps, ON_THE_WAY)?;
        let tried =
            |value: f64, run: &Run| ContinuationStep { value, steps: run.steps.len(), converged: run.converged };
        let mut way = vec![tried(path.from, &here)];
        let (mut share, mut step) = (0.0, FIRST_SHARE);
        // The last step that was made: the way that the solution moves.
        let mut before: Option<(f64, InBasis)> = None;
        while here.converged && share < 1.0 {
            let next = (share + step).min(1.0);
            let value = value_at(next);
            let guess = match &before {
                Some((last, old)) => here.iterate.plus((next - share) / (share - last), &here.iterate.plus(-1.0, old)),
                None => here.iterate.clone(),
            };
            let (max_steps, tolerance) = match next >= 1.0 {
                true => (self.nonlinear.max_steps.min(2 * STEPS_ON_THE_WAY), self.nonlinear.tolerance),
                false => (STEPS_ON_THE_WAY, ON_THE_WAY),
            };
            let run = self.run(&(path.problem)(value)?, guess, max_steps, tolerance);
            match run {
                Ok(run) if run.converged => {
                    way.push(tried(value, &run));
                    before = Some((share, std::mem::replace(&mut here, run).iterate));
                    (share, step) = (next, 2.0 * step);
                }
                Ok(run) => {
                    way.push(tried(value, &run));
                    step = 0.5 * (next - share);
                }
                // The guess was so bad that the coefficients are no numbers there.
                Err(Error::NotFinite { .. } | Error::Input { .. }) if before.is_some() => {
                    before = None;
                    step = 0.5 * (next - share);
                }
                Err(other) => return Err(other),
            }
            if step < LEAST_SHARE && share < 1.0 {
                here.converged = false;
            }
        }
        let lost = (share < 1.0).then(|| value_at(share));
        Ok(Reached { run: here, way, lost })
    }
}
