//! What a search for a tolerance works with, whatever it cuts.

use std::sync::Arc;

use crate::base::clock::Instant;
use crate::base::progress::Progress;
use crate::domain::division::Count;
use crate::interface::Exchange;
use crate::method::report::{Attempt, Estimate, Status};
use crate::method::settings::Settings;
use crate::problem::model::Problem;
use crate::solution::evaluate::Solution;
use crate::solve::newton::Nonlinear;

/// A search for a tolerance: what is to be solved, how well, and what was tried.
#[derive(Clone)]
pub struct Search<'a> {
    pub(crate) exchange: &'a Arc<dyn Exchange>,
    pub(crate) problem: &'a Problem,
    pub(crate) settings: Settings,
    /// How a nonlinear problem is solved.
    pub(crate) nonlinear: Nonlinear,
    /// What the estimated relative L2 error shall be below.
    pub(crate) tolerance: f64,
    pub(crate) progress: &'a dyn Progress,
    /// What was tried.
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) start: Instant,
}

impl<'a> Search<'a> {
    /// A search that begins now.
    pub fn new(
        exchange: &'a Arc<dyn Exchange>,
        problem: &'a Problem,
        settings: &Settings,
        tolerance: f64,
        progress: &'a dyn Progress,
    ) -> Self {
        let (settings, nonlinear) = (settings.clone(), Nonlinear::default());
        let (attempts, start) = (Vec::new(), Instant::now());
        Search { exchange, problem, settings, nonlinear, tolerance, progress, attempts, start }
    }

    /// With other ways to solve a nonlinear problem.
    #[must_use]
    pub fn with_nonlinear(mut self, nonlinear: &Nonlinear) -> Self {
        self.nonlinear = nonlinear.clone();
        self
    }

    /// Notes an attempt. Without an estimate it is not a number.
    pub(crate) fn attempted(&mut self, subdomains: Count, estimate: f64) {
        self.attempts.push(Attempt { subdomains, points: self.settings.points, estimate });
    }

    /// Whether there is no time left for what takes so many seconds. Ranks have different clocks.
    pub(crate) fn is_late(&self, seconds: f64) -> bool {
        let end = self.start.elapsed().as_secs_f64() + seconds;
        self.exchange.any(self.settings.max_seconds.is_some_and(|most| end > most))
    }

    /// The estimated error on all ranks. One that is not a number is as bad as can be.
    pub(crate) fn agreed_error(&self, estimate: &Option<Estimate>) -> f64 {
        let mut error = [estimate.as_ref().map_or(0.0, |e| if e.l2.is_nan() { f64::INFINITY } else { e.l2 })];
        self.exchange.max(&mut error);
        error[0]
    }

    /// The end of the search, with its best solution.
    pub(crate) fn end(self, mut solution: Solution, reached: bool) -> Solution {
        solution.report.attempts = self.attempts;
        if !reached {
            solution.report.status = Status::ToleranceNotReached;
        }
        solution
    }
}
