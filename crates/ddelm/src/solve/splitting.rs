//! A tolerance by splitting: subdomains are cut into four where the solution is not resolved, until it is.
//!
//! ```text
//! solve -> tail of u in every subdomain -> split where it is above its share -> ... -> estimate by another decomposition
//! ```
//!
//! The [tail](Solution::tails) of a subdomain is what is left of u there. It is not weighted with the area of the subdomain: an error
//! made at a corner pollutes the whole solution, however small the subdomain is. Where a tail would need several
//! levels, several are taken at once: toward a corner of the domain all of them, for there the solution is singular
//! and the other three parts are done with the first. Data that jump or peak between the nodes are followed before the first solve.
//!
//! The estimate that ends the loop is the difference to a solution with other features on all subdomains cut into four. If it
//! is above the tolerance although no tail is, tails are asked for less.

use std::sync::Arc;

use crate::base::clock::Instant;
use crate::base::error::Result;
use crate::base::progress::Progress;
use crate::domain::decomposition::Decomposition;
use crate::interface::{Exchange, agreed};
use crate::method::report::{Attempt, Estimate, Pieces, Status};
use crate::method::settings::Settings;
use crate::problem::model::Problem;
use crate::solution::evaluate::Solution;
use crate::solve::estimate::{at_solution, difference, from_solution, second_settings};
use crate::solve::newton::{Nonlinear, solve_once};
use crate::solve::resolution::Resolution;

/// Rounds, at most.
const ROUNDS: usize = 40;

/// Rounds of splitting by the data alone, at most.
const DATA_ROUNDS: usize = 12;

/// The tail of a subdomain, relative to the tolerance and the size of u, that is not split.
const SHARE: f64 = 3.0;

/// Tails below this, relative to the largest value of u, are rounding.
const ROUNDING: f64 = 2e-14;

/// Levels toward a corner of the domain in one round, at most.
const MOST_LEVELS: usize = 6;

/// Points times points times subdomains of the largest solve that is tried, where nothing else is asked for.
const LARGEST: usize = 4_000_000;

/// The search for a tolerance.
pub(crate) struct Splitting<'a> {
    pub exchange: &'a Arc<dyn Exchange>,
    pub problem: &'a Problem,
    pub settings: Settings,
    pub nonlinear: Nonlinear,
    pub tolerance: f64,
    pub progress: &'a dyn Progress,
    pub attempts: Vec<Attempt>,
    pub start: Instant,
}

impl Splitting<'_> {
    /// Splits subdomains, beginning with these, until the estimated relative L2 error is below the tolerance. If that cannot be
    /// reached the best solution comes back, with a status that says so.
    pub fn run(mut self, first: Decomposition) -> Result<Solution> {
        let mut decomposition = self.follow_data(first)?;
        let mut share = SHARE * self.tolerance;
        let mut best: Option<(Solution, f64)> = None;
        let mut stuck = false;
        for _ in 0..ROUNDS {
            let mut solution = self.solve(&decomposition)?;
            let marked = self.marked(&solution, share)?;
            let limit = self.is_limit(decomposition.len() + 3 * marked.len());
            let mut error = f64::NAN;
            if marked.is_empty() || limit || stuck {
                let estimate = self.estimate(&solution)?;
                error = self.agreed_error(&estimate);
                solution.report.estimate = estimate;
                // Tails that do not tell the error are asked for less.
                share *= (0.3 * self.tolerance / error).clamp(1e-3, 0.3);
            }
            self.attempts.push(Attempt {
                subdomains: Pieces::Total(decomposition.len()),
                points: self.settings.points,
                estimate: error,
            });
            let reached = error <= self.tolerance;
            if !error.is_nan() && best.as_ref().is_none_or(|b| error < b.1) {
                best = Some((solution.clone(), error));
            } else if !error.is_nan() {
                // Less than before was not reached with more: rounding, or something that splitting does not see.
                stuck = true;
            }
            if reached || limit || (stuck && !error.is_nan()) {
                return Ok(self.end(best.map_or(solution, |best| best.0), reached));
            }
            let marked = if marked.is_empty() { self.marked(&solution, share)? } else { marked };
            if marked.is_empty() {
                return Ok(self.end(best.map_or(solution, |best| best.0), reached));
            }
            decomposition = self.split(&decomposition, &marked)?;
        }
        let (solution, _) = match best {
            Some(best) => best,
            None => (self.solve(&decomposition)?, f64::NAN),
        };
        Ok(self.end(solution, false))
    }

    fn end(self, mut solution: Solution, reached: bool) -> Solution {
        solution.report.attempts = self.attempts;
        if !reached {
            solution.report.status = Status::ToleranceNotReached;
        }
        solution
    }

    fn solve(&self, decomposition: &Decomposition) -> Result<Solution> {
        let decomposition = Arc::new(decomposition.clone());
        let nonlinear = &self.nonlinear;
        solve_once(self.exchange, self.problem, decomposition, &self.settings, nonlinear, self.progress)
    }

    /// Splits where data jump, peak or are steep between the nodes.
    fn follow_data(&self, mut decomposition: Decomposition) -> Result<Decomposition> {
        // Data of a nonlinear problem are not known before its solution.
        let rounds = if self.problem.is_nonlinear() { 0 } else { DATA_ROUNDS };
        for _ in 0..rounds {
            let seen = Resolution::usual(self.problem, &decomposition, self.settings.points);
            let unresolved = agreed(self.exchange.as_ref(), seen)?.unresolved;
            if unresolved.is_empty() || self.is_limit(decomposition.len() + 3 * unresolved.len()) {
                break;
            }
            decomposition = decomposition.split(&unresolved)?;
        }
        Ok(decomposition)
    }

    /// Whether so many subdomains, or the time that has passed, are too much.
    fn is_limit(&self, subdomains: usize) -> bool {
        let Settings { points, max_subdomains, max_seconds, .. } = self.settings;
        let many = max_subdomains.map_or_else(|| subdomains * points * points > LARGEST, |most| subdomains > most);
        // Ranks have different clocks.
        let late = max_seconds.is_some_and(|most| self.start.elapsed().as_secs_f64() > most);
        many || self.exchange.any(late)
    }

    /// The subdomains whose tails are above their share of the root mean square of u, and how often each is to be split.
    fn marked(&self, solution: &Solution, share: f64) -> Result<Vec<(usize, usize)>> {
        let found = if self.exchange.rank() == 0 { solution.tails(self.settings.points) } else { Vec::new() };
        let size = found.iter().map(|t| t.1).fold(0.0, f64::max);
        let limit = (share * size).max(ROUNDING * size);
        let order = self.settings.points as f64;
        let levels = |tail: f64, corner: bool| {
            let missing = (tail / limit).log2();
            // A smooth solution gains as many bits as there are points with every level, a singular one few.
            let gain = if corner { 1.5 } else { order };
            if missing.is_finite() {
                ((missing / gain).ceil() as usize).clamp(1, if corner { MOST_LEVELS } else { 2 })
            } else {
                1
            }
        };
        let marked = found.iter().enumerate().filter(|(_, t)| t.0 > limit || t.0.is_nan());
        let marked: Vec<(usize, usize)> =
            marked.map(|(s, t)| (s, levels(t.0, corner_of(&solution.decomposition, s).is_some()))).collect();
        // Only rank 0 has the whole solution.
        let text: Vec<String> = marked.iter().map(|(s, levels)| format!("{s} {levels}")).collect();
        let text = self.exchange.broadcast(0, &text.join(","));
        let number = |text: &str| text.parse().expect("numbers were sent");
        let pair = |pair: &str| pair.split_once(' ').map(|(s, levels)| (number(s), number(levels)));
        Ok(text.split(',').filter_map(pair).collect())
    }

    /// Splits marked subdomains, those at a corner of the domain several times toward it.
    fn split(&self, decomposition: &Decomposition, marked: &[(usize, usize)]) -> Result<Decomposition> {
        let mut toward: Vec<([f64; 2], usize)> = Vec::new();
        for &(s, levels) in marked {
            toward.extend(corner_of(decomposition, s).map(|point| (point, levels - 1)));
        }
        let mut next = decomposition.split(&marked.iter().map(|m| m.0).collect::<Vec<_>>())?;
        while toward.iter().any(|(_, levels)| *levels > 0) {
            let wanted = |s: &usize| {
                let corner = corner_of(&next, *s);
                corner.is_some_and(|point| toward.iter().any(|(p, levels)| *p == point && *levels > 0))
            };
            let which: Vec<usize> = (0..next.len()).filter(wanted).collect();
            next = next.split(&which)?;
            toward.iter_mut().for_each(|(_, levels)| *levels = levels.saturating_sub(1));
        }
        Ok(next)
    }

    /// The difference to a solution with other features, and fewer points, on all subdomains cut into four; and what both
    /// miss of the data.
    fn estimate(&self, solution: &Solution) -> Result<Option<Estimate>> {
        let points = self.settings.points;
        let settings = second_settings(&self.settings, points - points / 8);
        let finer = Arc::new(solution.decomposition.refined()?);
        let missed = Resolution::usual(&at_solution(self.problem, solution), &finer, settings.points);
        let missed = agreed(self.exchange.as_ref(), missed)?.missed();
        let nonlinear = from_solution(self.problem, solution);
        let better = solve_once(self.exchange, self.problem, finer, &settings, &nonlinear, self.progress)?;
        let compare = || difference(solution, &better, points, missed);
        agreed(self.exchange.as_ref(), (self.exchange.rank() == 0).then(compare).transpose())
    }

    /// The estimated error on all ranks. One that is not a number is as bad as can be.
    fn agreed_error(&self, estimate: &Option<Estimate>) -> f64 {
        let mut error = [estimate.as_ref().map_or(0.0, |e| if e.l2.is_nan() { f64::INFINITY } else { e.l2 })];
        self.exchange.max(&mut error);
        error[0]
    }
}

/// The corner of the domain, or the end of a part of its boundary, at which a subdomain lies.
fn corner_of(decomposition: &Decomposition, s: usize) -> Option<[f64; 2]> {
    let vertices = decomposition.subdomains[s].vertices.iter().map(|&v| &decomposition.vertices[v]);
    vertices.into_iter().find(|v| v.parts.len() > 1).map(|v| v.point)
}
