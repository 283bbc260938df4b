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
use crate::domain::decomposition::Decomposition;
use crate::domain::division::Count;
use crate::interface::agreed;
use crate::method::report::Estimate;
use crate::method::settings::{Corners, Settings};
use crate::problem::model::Problem;
use crate::solution::evaluate::Solution;
use crate::solution::tails::Tail;
use crate::solve::corners::with_corners;
use crate::solve::estimate::{at_solution, difference, from_solution, second_settings};
use crate::solve::kept::Kept;
use crate::solve::layers::{added_diffusions, boundary_layers};
use crate::solve::marking::{Marks, is_inner, rings_on_lines};
use crate::solve::moments::{Moments, with_moments};
use crate::solve::newton::solve_once;
use crate::solve::resolution::{Resolution, Unresolved};
use crate::solve::search::Search;
use crate::solve::solver::Solver;

/// Rounds, at most.
const ROUNDS: usize = 40;

/// Rounds of splitting by the data alone, at most.
const DATA_ROUNDS: usize = 12;

/// Rounds of splitting with the same diffusion on the way to thin layers, at most.
const LAYER_ROUNDS: usize = 3;

/// What is asked of tails on that way, relative to the size of u.
const ROUGH: f64 = 1e-3;

/// The part of the tolerance that an estimate must be below: where u is singular, the solution on subdomains cut into four is
/// little better than the one that is judged, and the difference between them little more than half of the error.
const AIM: f64 = 0.5;

/// The tail of a subdomain, relative to the tolerance and the size of u, that is not split.
const SHARE: f64 = 3.0;

/// Tails below this, relative to the largest value of u, are rounding, and parts of data.
const ROUNDING: f64 = 2e-14;

/// Tails this much smaller than the largest of all wait for the next round.
const FRONT: f64 = 1e-2;

/// Data that move the solution by less than this part of the tolerance are not followed.
const DATA_SHARE: f64 = 0.1;

/// The same for data that are singular at an end of a subdomain: to cut toward it costs little.
const SINGULAR_SHARE: f64 = 1e-3;

/// Triangles that are split, at least, their growth from one round to the next, and for how many rounds, if they lie along a line.
const LINE: (usize, f64, usize) = (4, 1.4, 3);

/// Tails of rings above this, relative to the size of u, are no sign that smaller ones have the same.
const SIMILAR: f64 = 1e-4;

/// Points that are added where splitting does not help, and the most that there can be.
const MORE_POINTS: usize = 3;
const MOST_POINTS: usize = 24;

/// Subdomains of a second solution, for each of the first.
const REFINED: usize = 4;

/// Points times points times subdomains of the largest solve that is tried, where nothing else is asked for.
const LARGEST: usize = 4_000_000;

/// A search that splits subdomains.
pub(crate) struct Splitting<'a> {
    pub search: Search<'a>,
    pub way: Way,
}

/// What is remembered from one round to the next.
#[derive(Debug, Default)]
pub(crate) struct Way {
    /// The factors of subdomains that may not be split.
    kept: Kept,
    /// Seconds that a subdomain took in the last solve.
    pace: f64,
    /// How many triangles were split in the last round, and for how many rounds they have become more.
    triangles: (usize, usize),
    /// The largest tail of an inner ring in the last solution, if there was one, and whether it was as large in the one before.
    inner: (Option<f64>, bool),
}

impl Way {
    /// At the beginning of a search, where a subdomain takes so many seconds.
    pub fn at_pace(pace: f64) -> Self {
        Way { pace, ..Way::default() }
    }
}

impl Splitting<'_> {
    /// Splits subdomains, beginning with these, until the estimated relative L2 error is below the tolerance. If that cannot be
    /// reached the best solution comes back, with a status that says so.
    pub fn run(mut self, first: Decomposition) -> Result<Solution> {
        let (first, steep) = self.follow_data(self.without_rings_on_lines(first)?)?;
        let first = self.expect_layers(first)?;
        // A source with layers of its own is not that of a problem with thicker ones.
        let mut decomposition = if steep { first } else { self.follow_layers(first)? };
        let mut share = SHARE * self.search.tolerance;
        let mut best: Option<(Solution, f64)> = None;
        // The last solution without an estimate, and one on about half as many subdomains.
        let (mut last, mut coarse): (Option<Solution>, Option<Solution>) = (None, None);
        // Whether all that is left is to try once more, with more points.
        let mut once_more = false;
        for _ in 0..ROUNDS {
            let mut solution = match self.solve(self.search.problem, &decomposition) {
                // What there is no memory for, or no pivot, was not needed for the last solution.
                Err(Error::Memory { .. } | Error::Compute { .. }) if best.is_some() || last.is_some() => break,
                solved => solved?,
            };
            if self.search.nonlinear.rings {
                // The first solution tells where a nonlinear problem wants rings. What splitting makes of them stays.
                self.search.nonlinear.rings = false;
                decomposition = solution.decomposition.as_ref().clone();
            }
            self.compare_rings(&solution);
            let mut marks = if once_more { Marks::default() } else { self.marks(&solution, share)? };
            let limit = self.limit(decomposition.len() + marks.added());
            if marks.is_empty() && marks.points && limit.is_none() && self.takes_points() {
                self.search.attempted(Count::Total(decomposition.len()), f64::NAN);
                (last, self.search.settings.points) = (Some(solution), self.search.settings.points + MORE_POINTS);
                continue;
            }
            if !marks.is_empty() && limit.is_none() {
                self.search.attempted(Count::Total(decomposition.len()), f64::NAN);
                if last.is_some() && coarse.as_ref().is_none_or(|c| decomposition.len() >= 2 * c.decomposition.len()) {
                    coarse = last;
                }
                last = Some(solution);
                decomposition = self.next(&decomposition, &marks)?;
                if !marks.rings.is_empty() {
                    // Larger subdomains, and something other than a corner is there.
                    let (followed, _) = self.follow_data(decomposition)?;
                    decomposition = self.expect_layers(followed)?;
                }
                continue;
            }
            let Some(estimate) = self.estimate_in_time(&solution, limit, best.is_some() || last.is_some())? else {
                if best.is_none() {
                    return self.end_without_estimate(solution, coarse.or(last));
                }
                self.search.attempted(Count::Total(decomposition.len()), f64::NAN);
                break;
            };
            let error = self.search.agreed_error(&estimate);
            solution.report.estimate = estimate;
            self.search.attempted(Count::Total(decomposition.len()), error);
            if error <= AIM * self.search.tolerance {
                return Ok(self.search.end(solution, true));
            }
            let stuck = best.as_ref().is_some_and(|(_, least)| error > 0.5 * least);
            // Tails that do not tell the error are asked for less.
            share *= (0.3 * self.search.tolerance / error).clamp(0.03, 0.3);
            marks = self.marks(&solution, share)?;
            if best.as_ref().is_none_or(|(_, least)| error < *least) {
                best = Some((solution, error));
            }
            if limit.is_some() {
                break;
            }
            if once_more || stuck || marks.is_empty() {
                // Rounding, or something that splitting does not see. What is nearly good enough is not split any further.
                if once_more || !self.takes_points() {
                    break;
                }
                once_more = best.as_ref().is_some_and(|(_, least)| *least <= self.search.tolerance);
                self.search.settings.points += MORE_POINTS;
                continue;
            }
            decomposition = self.next(&decomposition, &marks)?;
        }
        self.give_up(best, last)
    }

    /// Whether there can be more points.
    fn takes_points(&self) -> bool {
        self.search.settings.points + MORE_POINTS <= MOST_POINTS
    }

    /// The estimate, if there is memory and time for it. Time is taken where there is nothing else to compare with.
    fn estimate_in_time(
        &self,
        solution: &Solution,
        limit: Option<Limit>,
        comparable: bool,
    ) -> Result<Option<Option<Estimate>>> {
        let refined = REFINED * solution.decomposition.len();
        if limit == Some(Limit::Time) && comparable && self.is_late(refined) {
            return Ok(None);
        }
        match self.estimate(solution) {
            Err(Error::Memory { .. } | Error::Compute { .. }) => Ok(None),
            found => Ok(Some(found?)),
        }
    }

    /// What a coarser solution tells of one is no reason to call it solved: both may miss the same.
    fn end_without_estimate(mut self, mut solution: Solution, coarse: Option<Solution>) -> Result<Solution> {
        if let Some(coarse) = coarse {
            solution.report.estimate = self.estimate_by(&solution, &coarse)?;
        }
        let error = self.search.agreed_error(&solution.report.estimate);
        self.search.attempted(Count::Total(solution.decomposition.len()), error);
        Ok(self.search.end(solution, false))
    }

    /// The best solution there is: by its estimate, or the last one, which has none.
    fn give_up(self, best: Option<(Solution, f64)>, last: Option<Solution>) -> Result<Solution> {
        let reached = best.as_ref().is_some_and(|(_, error)| *error <= self.search.tolerance);
        let solution = best.map(|(solution, _)| solution).or(last).expect("there was a round");
        Ok(self.search.end(solution, reached))
    }

    fn solve(&mut self, problem: &Problem, decomposition: &Decomposition) -> Result<Solution> {
        let clock = Instant::now();
        let problem =
            agreed(self.search.exchange.as_ref(), with_moments(problem, decomposition, self.search.settings.points))?;
        let decomposition = Arc::new(decomposition.clone());
        let subdomains = decomposition.len();
        let (settings, nonlinear) = (&self.search.settings, &self.search.nonlinear);
        let solved = if problem.is_nonlinear() {
            solve_once(self.search.exchange, &problem, decomposition, settings, nonlinear, self.search.progress)
        } else {
            let (kept, exchange) = (&self.way.kept, self.search.exchange.clone());
            Solver::once_with(kept, exchange, &problem, decomposition, settings, self.search.progress)
        };
        self.way.pace = clock.elapsed().as_secs_f64() / subdomains as f64;
        solved
    }

    /// Without the rings that the source has no use for: see [`rings_on_lines`].
    fn without_rings_on_lines(&self, decomposition: Decomposition) -> Result<Decomposition> {
        let found = rings_on_lines(self.search.problem.source.as_ref(), &decomposition, self.search.settings.points);
        let rings = agreed(self.search.exchange.as_ref(), found)?;
        let marks = self.allowed(Marks { rings, ..Marks::default() });
        if marks.is_empty() { Ok(decomposition) } else { marks.applied(&decomposition) }
    }

    /// Splits where data jump, peak or are steep between the nodes; and whether the source does so.
    fn follow_data(&mut self, mut decomposition: Decomposition) -> Result<(Decomposition, bool)> {
        let mut steep = false;
        // Data of a nonlinear problem are not known before its solution.
        let rounds = if self.search.problem.is_nonlinear() { 0 } else { DATA_ROUNDS };
        for _ in 0..rounds {
            let share = (SINGULAR_SHARE * self.search.tolerance).max(ROUNDING);
            let points = self.search.settings.points;
            let seen = with_moments(self.search.problem, &decomposition, points)
                .and_then(|problem| Resolution::with_means(&problem, &decomposition, points, share));
            let Resolution { fields, mut unresolved } = agreed(self.search.exchange.as_ref(), seen)?;
            steep |= fields.iter().any(|field| field.serious && field.key == "equation.source");
            // What is smooth is resolved where u is. Of what is singular at an end u, which is smoother, does not tell.
            let is_singular = |u: &Unresolved| u.weight > share && u.tails.iter().any(Tail::is_singular);
            let is_wrong = |u: &Unresolved| u.weight > DATA_SHARE * self.search.tolerance && u.serious;
            unresolved.retain(|u| is_singular(u) || is_wrong(u));
            let marks = self.allowed(Marks::of_data(&decomposition, &unresolved));
            if marks.is_empty() || self.limit(decomposition.len() + marks.added()).is_some() {
                break;
            }
            decomposition = self.next(&decomposition, &marks)?;
        }
        Ok((decomposition, steep))
    }

    /// Splits toward the sides that the equation may have layers at, see [`boundary_layers`], and those that the source is singular at.
    fn expect_layers(&mut self, mut decomposition: Decomposition) -> Result<Decomposition> {
        let rounds = if self.search.problem.is_nonlinear() { 0 } else { DATA_ROUNDS };
        let share = (SHARE * self.search.tolerance).max(ROUNDING);
        let [x0, x1, y0, y1] = decomposition.bounding_box();
        let mut size = None;
        for _ in 0..rounds {
            let points = self.search.settings.points;
            let found = boundary_layers(self.search.problem, &decomposition, points)
                .and_then(|layers| Ok((layers, Moments::new(self.search.problem, &decomposition, points)?)));
            let (mut tails, moments) = agreed(self.search.exchange.as_ref(), found)?;
            // Layers are as high as u, whatever that is.
            let size = *size.get_or_insert_with(|| moments.size((x1 - x0).min(y1 - y0)));
            let height = if size > 0.0 { size } else { 1.0 };
            tails.iter_mut().flat_map(|t| &mut t.directions).for_each(|tail| tail.last *= height);
            moments.add_tails(&mut tails, points);
            let marks = self.allowed(Marks::of_tails(&decomposition, &tails, share * height, share * height));
            if marks.is_empty() || self.limit(decomposition.len() + marks.added()).is_some() {
                break;
            }
            decomposition = self.next(&decomposition, &marks)?;
        }
        Ok(decomposition)
    }

    /// Splits toward layers that are thinner than subdomains: see [`added_diffusions`].
    fn follow_layers(&mut self, mut decomposition: Decomposition) -> Result<Decomposition> {
        let share = ROUGH.max(SHARE * self.search.tolerance);
        let stages = agreed(self.search.exchange.as_ref(), added_diffusions(self.search.problem, &decomposition))?;
        for added in stages {
            let equation = self.search.problem.equation.plus_diffusion(added).expect("what has layers has diffusion");
            let thicker = Problem { equation, ..self.search.problem.clone() };
            for _ in 0..LAYER_ROUNDS {
                let solution = match self.solve(&thicker, &decomposition) {
                    Err(Error::Memory { .. } | Error::Compute { .. }) => return Ok(decomposition),
                    solved => solved?,
                };
                self.search.attempted(Count::Total(decomposition.len()), f64::NAN);
                let marks = self.marks(&solution, share)?;
                if self.limit(decomposition.len() + marks.added()).is_some() {
                    return Ok(decomposition);
                }
                if marks.is_empty() {
                    break;
                }
                decomposition = self.next(&decomposition, &marks)?;
            }
        }
        Ok(decomposition)
    }

    /// The next decomposition. Triangles are cut into four, never into strips: where more and more of them lie along a line, quadrilaterals
    /// begin anew.
    fn next(&mut self, decomposition: &Decomposition, marks: &Marks) -> Result<Decomposition> {
        let (least, growth, rounds) = LINE;
        let count = marks.triangles(decomposition);
        let grows = count >= least && count as f64 >= growth * self.way.triangles.0 as f64;
        self.way.triangles = (count, if grows { self.way.triangles.1 + 1 } else { 0 });
        if self.way.triangles.1 >= rounds
            && let Some(quadrilaterals) = decomposition.in_quadrilaterals()?
        {
            self.way.triangles = (0, 0);
            return with_corners(self.search.problem, quadrilaterals, &self.search.settings);
        }
        marks.applied(decomposition)
    }

    /// Whether a solve on so many subdomains would take longer than there is time.
    fn is_late(&self, subdomains: usize) -> bool {
        self.search.is_late(self.way.pace * subdomains as f64)
    }

    /// What a solve on so many subdomains, and its estimate, would be too much for.
    fn limit(&self, subdomains: usize) -> Option<Limit> {
        let Settings { points, max_subdomains, .. } = self.search.settings;
        let many = max_subdomains.map_or_else(|| subdomains * points * points > LARGEST, |most| subdomains > most);
        match (self.is_late((1 + REFINED) * subdomains), many) {
            (true, _) => Some(Limit::Time),
            (_, true) => Some(Limit::Size),
            (false, false) => None,
        }
    }

    /// The subdomains with tails above their share of the size of u, and how each is to be split.
    fn marks(&self, solution: &Solution, share: f64) -> Result<Marks> {
        // Only rank 0 has the whole solution.
        let points = self.search.settings.points;
        let moments =
            agreed(self.search.exchange.as_ref(), Moments::new(self.search.problem, &solution.decomposition, points))?;
        let mut found = Vec::new();
        if self.search.exchange.rank() == 0 {
            found = solution.tails(points);
            moments.add_tails(&mut found, points);
        }
        let size = found.iter().map(|t| t.size).fold(0.0, f64::max);
        let largest = found.iter().flat_map(|t| &t.directions).map(|tail| tail.last).fold(0.0, f64::max);
        let limit = (share * size).max(ROUNDING * size).max(FRONT * largest.min(size));
        let mut marks = self.allowed(Marks::of_tails(&solution.decomposition, &found, share * size, limit));
        if self.way.inner.1 {
            marks = marks.with_points(&solution.decomposition);
        }
        Ok(Marks::read(&self.search.exchange.broadcast(0, &marks.written())))
    }

    /// Compares the tails of inner rings with those of the solution before. Where u has no length of its own the rings of smaller elements are
    /// the same, and have the same tails: they want more points. Only rank 0 has the whole solution, and marks.
    fn compare_rings(&mut self, solution: &Solution) {
        let asked = self.search.exchange.rank() == 0 && !solution.decomposition.ring_vertices().is_empty();
        let tails = if asked { solution.tails(self.search.settings.points) } else { Vec::new() };
        let size = tails.iter().map(|t| t.size).fold(0.0, f64::max);
        let inner = tails.iter().enumerate().filter(|(s, _)| is_inner(&solution.decomposition, *s));
        let tail = inner.flat_map(|(_, t)| &t.directions).map(|tail| tail.last).fold(0.0, f64::max);
        let same = self.way.inner.0.is_some_and(|last| tail > 0.5 * last && tail < SIMILAR * size);
        self.way.inner = (Some(tail), same);
    }

    /// Rings that were asked for stay.
    fn allowed(&self, marks: Marks) -> Marks {
        let rings = if self.search.settings.corners == Corners::Auto { marks.rings } else { Vec::new() };
        Marks { rings, ..marks }
    }

    /// The difference to a solution with other features, and fewer points, on all subdomains cut into four; and what both
    /// miss of the data.
    fn estimate(&self, solution: &Solution) -> Result<Option<Estimate>> {
        // The second solution takes the most memory of all.
        self.way.kept.clear();
        let points = self.search.settings.points;
        let settings = second_settings(&self.search.settings, points - points / 8);
        let finer = Arc::new(solution.decomposition.refined()?);
        let problem =
            agreed(self.search.exchange.as_ref(), with_moments(self.search.problem, &finer, settings.points))?;
        let missed = Resolution::usual(&at_solution(&problem, solution), &finer, settings.points);
        let missed = agreed(self.search.exchange.as_ref(), missed)?.missed();
        let nonlinear = from_solution(&problem, solution);
        let better = solve_once(self.search.exchange, &problem, finer, &settings, &nonlinear, self.search.progress)?;
        let compare = || difference(solution, &better, points, missed);
        agreed(self.search.exchange.as_ref(), (self.search.exchange.rank() == 0).then(compare).transpose())
    }

    /// The difference to a coarser solution, and what is missed of the data: found at once, and no proof.
    fn estimate_by(&self, solution: &Solution, coarse: &Solution) -> Result<Option<Estimate>> {
        let (decomposition, points) = (&solution.decomposition, self.search.settings.points);
        let problem = agreed(self.search.exchange.as_ref(), with_moments(self.search.problem, decomposition, points))?;
        let missed = Resolution::usual(&at_solution(&problem, solution), decomposition, points);
        let missed = agreed(self.search.exchange.as_ref(), missed)?.missed();
        let compare = || difference(solution, coarse, self.search.settings.points, missed);
        agreed(self.search.exchange.as_ref(), (self.search.exchange.rank() == 0).then(compare).transpose())
    }
}

/// What keeps a search from going on.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Limit {
    Time,
    Size,
}
