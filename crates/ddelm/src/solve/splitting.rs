//! A tolerance by splitting: subdomains are cut where, and in the directions in which, the solution is not resolved, until it is.
//!
//! ```text
//! solve -> tails of u in every subdomain -> split where they are above their share -> ... -> estimate by another decomposition
//! ```
//!
//! The [tails](Solution::tails) of a subdomain are what is left of u there, in each of its two directions. They are not weighted
//! with the area of the subdomain: an error made at a corner pollutes the whole solution, however small the subdomain is. A layer
//! leaves a tail across itself only, and is cut into strips along itself. Where the solution does something at one end of a
//! subdomain, the way its coefficients fall tells how many cuts toward that end are needed, and they are made at once. What
//! is not resolved in one place is seen as noise in others; so the largest tails are dealt with first.
//! Data that jump or peak between the nodes are followed before the first solve.
//!
//! The estimate that ends the loop is the difference to a solution with other features on all subdomains cut into four. If it
//! is above the tolerance although no tail is, tails are asked for less; and where splitting does not help, more points are taken.

use std::sync::Arc;

use crate::base::clock::Instant;
use crate::base::error::{Error, Result};
use crate::base::progress::Progress;
use crate::domain::decomposition::Decomposition;
use crate::domain::division::Count;
use crate::domain::forest::{Toward, Wish};
use crate::domain::shape::Shape;
use crate::interface::{Exchange, agreed};
use crate::method::report::{Attempt, Estimate, Status};
use crate::method::settings::Settings;
use crate::problem::model::Problem;
use crate::solution::evaluate::Solution;
use crate::solution::tails::{Tail, Tails};
use crate::solve::estimate::{at_solution, difference, from_solution, second_settings};
use crate::solve::newton::{Nonlinear, solve_once};
use crate::solve::resolution::{Resolution, Unresolved};

/// Rounds, at most.
const ROUNDS: usize = 40;

/// Rounds of splitting by the data alone, at most.
const DATA_ROUNDS: usize = 12;

/// The tail of a subdomain, relative to the tolerance and the size of u, that is not split.
const SHARE: f64 = 3.0;

/// Tails below this, relative to the largest value of u, are rounding.
const ROUNDING: f64 = 2e-14;

/// Cuts toward an end of a subdomain in one round, at most.
const MOST_LEVELS: u32 = 6;

/// A corner of the domain gains so many bits with every level.
const BITS_AT_CORNERS: f64 = 1.5;

/// Tails this much smaller than the largest of all wait for the next round.
const FRONT: f64 = 1e-2;

/// A direction whose tail is this much smaller than that of the other waits for the next round.
const RIVAL: f64 = 0.1;

/// Data that move the solution by less than this part of the tolerance are not followed.
const DATA_SHARE: f64 = 0.1;

/// Lengths below this, relative to the coordinates, are not cut: they would be lost in rounding.
const SHORTEST: f64 = 2e-8;

/// Points that are added where splitting does not help, and the most that there can be.
const MORE_POINTS: usize = 3;
const MOST_POINTS: usize = 24;

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
        let mut before: Option<Solution> = None;
        for _ in 0..ROUNDS {
            let mut solution = match self.solve(&decomposition) {
                // What there is no memory for, or no pivot, was not needed for the last solution.
                Err(Error::Memory { .. } | Error::Compute { .. }) if best.is_some() || before.is_some() => break,
                solved => solved?,
            };
            let mut marked = self.marked(&solution, share)?;
            let limit = self.limit(decomposition.len() + added(&marked));
            let mut error = f64::NAN;
            if marked.is_empty() || limit.is_some() {
                let estimate = match (limit, &before) {
                    (Some(Limit::Time), Some(before)) => self.estimate_by(&solution, before)?,
                    _ => self.estimate(&solution)?,
                };
                error = self.agreed_error(&estimate);
                solution.report.estimate = estimate;
            }
            let (subdomains, points) = (Count::Total(decomposition.len()), self.settings.points);
            self.attempts.push(Attempt { subdomains, points, estimate: error });
            if error <= self.tolerance {
                return Ok(self.end(solution, true));
            }
            if error.is_nan() {
                before = Some(solution);
            } else {
                let stuck = best.as_ref().is_some_and(|(_, least)| error > 0.5 * least);
                // Tails that do not tell the error are asked for less.
                share *= (0.3 * self.tolerance / error).clamp(1e-3, 0.3);
                marked = self.marked(&solution, share)?;
                if best.as_ref().is_none_or(|(_, least)| error < *least) {
                    best = Some((solution, error));
                }
                if limit.is_some() {
                    break;
                }
                if stuck || marked.is_empty() {
                    // Rounding, or something that splitting does not see.
                    if self.settings.points + MORE_POINTS > MOST_POINTS {
                        break;
                    }
                    self.settings.points += MORE_POINTS;
                    continue;
                }
            }
            decomposition = decomposition.split_as(&marked)?;
        }
        self.give_up(best, before)
    }

    /// The best solution there is: by its estimate, or the last one, which has none.
    fn give_up(self, best: Option<(Solution, f64)>, last: Option<Solution>) -> Result<Solution> {
        let solution = best.map(|(solution, _)| solution).or(last).expect("there was a round");
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
            let mut unresolved = agreed(self.exchange.as_ref(), seen)?.unresolved;
            unresolved.retain(|u| u.weight > DATA_SHARE * self.tolerance);
            let wishes: Vec<(usize, Wish)> = data_wishes(&decomposition, &unresolved);
            if wishes.is_empty() || self.limit(decomposition.len() + added(&wishes)).is_some() {
                break;
            }
            decomposition = decomposition.split_as(&wishes)?;
        }
        Ok(decomposition)
    }

    /// What so many subdomains, or the time that has passed, would be too much for.
    fn limit(&self, subdomains: usize) -> Option<Limit> {
        let Settings { points, max_subdomains, max_seconds, .. } = self.settings;
        let many = max_subdomains.map_or_else(|| subdomains * points * points > LARGEST, |most| subdomains > most);
        // Ranks have different clocks.
        let late = max_seconds.is_some_and(|most| self.start.elapsed().as_secs_f64() > most);
        match (self.exchange.any(late), many) {
            (true, _) => Some(Limit::Time),
            (_, true) => Some(Limit::Size),
            (false, false) => None,
        }
    }

    /// The subdomains with tails above their share of the size of u, and how each is to be split.
    fn marked(&self, solution: &Solution, share: f64) -> Result<Vec<(usize, Wish)>> {
        let found = if self.exchange.rank() == 0 { solution.tails(self.settings.points) } else { Vec::new() };
        let size = found.iter().map(|t| t.size).fold(0.0, f64::max);
        let largest = found.iter().flat_map(|t| &t.directions).map(|tail| tail.last).fold(0.0, f64::max);
        let limit = (share * size).max(ROUNDING * size).max(FRONT * largest.min(size));
        let wish = |(s, tails): (usize, &Tails)| {
            Some((s, wish(&solution.decomposition, s, &tails.directions, share * size, limit)?))
        };
        let marked: Vec<(usize, Wish)> = found.iter().enumerate().filter_map(wish).collect();
        // Only rank 0 has the whole solution.
        let text: Vec<String> = marked.iter().map(written).collect();
        let text = self.exchange.broadcast(0, &text.join(","));
        Ok(text.split(',').filter(|word| !word.is_empty()).map(read).collect())
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

    /// The difference to the coarser solution of the round before: more than the error, and found at once.
    fn estimate_by(&self, solution: &Solution, before: &Solution) -> Result<Option<Estimate>> {
        let missed =
            Resolution::usual(&at_solution(self.problem, solution), &solution.decomposition, self.settings.points);
        let missed = agreed(self.exchange.as_ref(), missed)?.missed();
        let compare = || difference(solution, before, self.settings.points, missed);
        agreed(self.exchange.as_ref(), (self.exchange.rank() == 0).then(compare).transpose())
    }

    /// The estimated error on all ranks. One that is not a number is as bad as can be.
    fn agreed_error(&self, estimate: &Option<Estimate>) -> f64 {
        let mut error = [estimate.as_ref().map_or(0.0, |e| if e.l2.is_nan() { f64::INFINITY } else { e.l2 })];
        self.exchange.max(&mut error);
        error[0]
    }
}

/// What keeps a search from going on.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Limit {
    Time,
    Size,
}

/// Subdomains that wishes add, about.
fn added(wishes: &[(usize, Wish)]) -> usize {
    let of = |wish: &Wish| match wish.levels {
        [i, j] if i > 0 && j > 0 => 3 * i.max(j),
        [i, j] => i.max(j),
    };
    wishes.iter().map(|(_, wish)| of(wish) as usize).sum()
}

/// How subdomains are split in which data are not resolved.
fn data_wishes(decomposition: &Decomposition, unresolved: &[Unresolved]) -> Vec<(usize, Wish)> {
    let mut wishes: Vec<(usize, Wish)> = Vec::new();
    for Unresolved { subdomain: s, tails, .. } in unresolved {
        let largest = tails.iter().map(|tail| tail.last).fold(0.0, f64::max);
        // Where nodes tell nothing, something lies between them.
        let told = largest > 1e-12;
        let wanted =
            if told { wish(decomposition, *s, tails, 1e-3 * largest, 1e-2 * largest) } else { Some(Wish::FOUR) };
        wishes.extend(wanted.map(|wish| (*s, wish)));
    }
    // Several fields in one subdomain: as much as the one or the other asks for, toward an end only if both do.
    wishes.sort_by_key(|(s, _)| *s);
    wishes.dedup_by(|(next, other), (kept, wish)| {
        let same = next == kept;
        if same && wish != other {
            let toward = if wish.toward == other.toward { wish.toward } else { Toward::Nowhere };
            let most = if toward == Toward::Nowhere { 1 } else { MOST_LEVELS };
            *wish = Wish { levels: [0, 1].map(|a| wish.levels[a].max(other.levels[a]).min(most)), toward };
        }
        same
    });
    wishes
}

/// How a subdomain is to be split whose tails are above a limit, to be below another one; `None` if they are not, or if it
/// cannot be smaller.
fn wish(decomposition: &Decomposition, s: usize, tails: &[Tail; 2], wanted: f64, limit: f64) -> Option<Wish> {
    let subdomain = &decomposition.subdomains[s];
    let map = subdomain.map.as_ref();
    let largest = tails.iter().map(|tail| tail.last).fold(0.0, f64::max);
    let common = tails.iter().map(|tail| tail.common).fold(0.0, f64::max);
    let (jacobian, centre) = (map.jacobian(map.shape().center()), map.point(map.shape().center()));
    let shortest = SHORTEST * centre[0].abs().max(centre[1].abs());
    let is_short = |a: usize| jacobian[0][a].hypot(jacobian[1][a]) < shortest;
    if largest <= limit || (is_short(0) && is_short(1)) {
        return None;
    }
    if subdomain.map.shape() == Shape::Triangle {
        let corner = subdomain.vertices.iter().position(|&v| decomposition.vertices[v].parts.len() > 1);
        let bits = (largest / wanted).log2() / BITS_AT_CORNERS;
        let levels = if corner.is_some() { bits.clamp(1.0, f64::from(MOST_LEVELS)) as u32 } else { 1 };
        return Some(Wish { levels: [levels; 2], toward: corner.map_or(Toward::Nowhere, Toward::Corner) });
    }
    let counts = |a: usize| tails[a].last > limit && tails[a].common >= RIVAL * common && !is_short(a);
    let levels = [0, 1].map(|a| match tails[a].end {
        _ if !counts(a) => 0,
        Some(_) => tails[a].cuts(wanted).clamp(1, MOST_LEVELS),
        None => 1,
    });
    let ends = [0, 1].map(|a| tails[a].end.filter(|_| counts(a)));
    (levels != [0, 0]).then_some(Wish { levels, toward: Toward::Ends(ends) })
}

/// A wish as numbers, for the other ranks: subdomain, levels, and one number for each end, or 3 and the corner.
fn written((s, Wish { levels: [i, j], toward }): &(usize, Wish)) -> String {
    let end = |end: Option<bool>| end.map_or(2, u8::from);
    let [a, b] = match toward {
        Toward::Nowhere => [2, 2],
        Toward::Ends([a, b]) => [end(*a), end(*b)],
        Toward::Corner(corner) => [3, *corner as u8],
    };
    format!("{s} {i} {j} {a} {b}")
}

/// The opposite of [`written`].
fn read(text: &str) -> (usize, Wish) {
    let words: Vec<usize> = text.split(' ').map(|word| word.parse().expect("numbers were sent")).collect();
    let end = |word: usize| (word < 2).then_some(word == 1);
    let toward = match words[3] {
        3 => Toward::Corner(words[4]),
        _ => Toward::Ends([end(words[3]), end(words[4])]),
    };
    (words[0], Wish { levels: [words[1] as u32, words[2] as u32], toward })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_the_same_on_all_ranks() {
        let wishes = [Toward::Corner(2), Toward::Ends([None, Some(true)]), Toward::Ends([Some(false), None])];
        for (s, toward) in wishes.into_iter().enumerate() {
            let wish = (s, Wish { levels: [3, s as u32], toward });
            assert_eq!(read(&written(&wish)), wish);
        }
    }
}
