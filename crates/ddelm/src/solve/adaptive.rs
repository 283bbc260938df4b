//! Subdomains for a tolerance.
//!
//! The tolerance sets the points per side, and with them the reference basis, once. What is searched for is the number of
//! subdomains: two cheap solutions tell how large the error is, and the order of convergence in their size, about the number
//! of points, tells how many subdomains are needed. There the solution is compared with one on a slightly finer
//! decomposition. An estimate below the tolerance is not believed alone: near a resonance the errors of two solutions are two
//! numbers times the same function, and may agree by chance; and data that no node sees are in none of them. So where a
//! resonance is possible the estimate must fit to what the coarser solutions promised, or a third decomposition is asked; and
//! what samples between the nodes tell of the data is added ([`Resolution`]).

use std::borrow::Cow;
use std::sync::Arc;

use crate::base::clock::Instant;
use crate::base::error::{Error, Result};
use crate::domain::area::{Cut, Domain};
use crate::domain::decomposition::Decomposition;
use crate::domain::division::Division;
use crate::domain::map::Point;
use crate::interface::{Exchange, agreed};
use crate::method::report::{Estimate, Status};
use crate::method::settings::Settings;
use crate::problem::model::Problem;
use crate::solution::evaluate::Solution;
use crate::solve::corners::{with_corners, with_corners_beyond};
use crate::solve::estimate::{at_solution, difference};
use crate::solve::newton::solve_once;
use crate::solve::resolution::Resolution;
use crate::solve::search::Search;
use crate::solve::splitting::{Splitting, Way};

/// Points per side beyond the digits of the tolerance.
const EXTRA_POINTS: f64 = 3.0;

/// Points per side, at least and at most.
const POINTS: [usize; 2] = [8, 20];

/// ... and beyond those where subdomains are split: these are small only where they must be.
const SPLITTING_POINTS: usize = 2;

/// Largest size of a problem that is tried: subdomains times points squared.
const LARGEST: usize = 1_000_000;

/// Subdomains beyond which data that are not resolved are not followed any further, if that looks hopeless.
const ENOUGH_SUBDOMAINS: usize = 64;

/// How many times as many subdomains in a direction a step may take.
const LONGEST_STEP: f64 = 2.5;

/// The part of the tolerance that is aimed at.
const AIM: f64 = 0.5;

/// The part of the tolerance that an estimate should be below: of smooth solutions it is at least 0.6 of the error.
const KEPT: f64 = 0.6;

/// An estimate this much smaller than the one that was promised asks for another opinion.
const SURPRISE: f64 = 1e-3;

/// The order of convergence, relative to the points, below which a solution is not smooth.
const SMOOTH: f64 = 0.5;

/// Subdomains of which it can be said that errors are in few of them, and the part of them that is few.
const MANY: usize = 16;
const FEW_PLACES: f64 = 0.5;

/// Data that are off by more between few nodes may jump there.
const JUMP: f64 = 0.05;

/// Nodes in each direction of a subdomain that are enough to see a jump.
const FEW: usize = 6;

/// A search that divides a rectangle evenly.
struct Even<'a> {
    search: Search<'a>,
    domain: &'a Domain,
    /// The problem as its data can be looked at; see [`at_solution`].
    data: Cow<'a, Problem>,
    /// Seconds that a subdomain took in the last solve.
    pace: f64,
    /// Corners where the solution was found to be smooth.
    smooth: Vec<Point>,
}

/// A solution on the way.
struct Found {
    division: Division,
    solution: Solution,
}

/// Adds subdomains until the estimated relative L2 error is below the tolerance. If that cannot be reached the best solution
/// comes back, with a status that says so.
pub fn solve_to_tolerance(mut search: Search<'_>, domain: &Domain) -> Result<Solution> {
    let digits = -search.tolerance.log10();
    search.settings.points = ((digits + EXTRA_POINTS).round() as usize).clamp(POINTS[0], POINTS[1]);
    search.settings.neurons = None;
    let given = search.problem;
    let fitted = domain.fitted_to(&given.lines()).map(|(domain, points)| (domain, given.on_cells(&points)));
    let (domain, problem) = fitted.as_ref().map_or((domain, given), |(domain, problem)| (domain, problem));
    let search = Search { problem, ..search };
    let Some(division) = Division::first(domain, search.exchange.size()).filter(|_| problem.mean.is_none()) else {
        let plain = domain.decompose_for(&Cut::Default, problem.equation.needs_affine_maps())?;
        return by_splitting(search, plain, Way::default());
    };
    Even { search, domain, data: Cow::Borrowed(problem), pace: 0.0, smooth: Vec::new() }.run(division)
}

/// Goes on with subdomains that are split where the solution needs it. They have more points, for they are small only where they must be.
fn by_splitting(mut search: Search<'_>, plain: Decomposition, way: Way) -> Result<Solution> {
    let first = with_corners(search.problem, plain, &search.settings)?;
    search.settings.points += SPLITTING_POINTS;
    Splitting { search, way }.run(first)
}

impl Even<'_> {
    fn run(mut self, first: Division) -> Result<Solution> {
        let mut coarse = self.solve(first)?;
        // The last error that is known, of which decomposition, and what it promised for the present one.
        let mut before: Option<(f64, Division)> = None;
        let mut promised: Option<f64> = None;
        let mut best: Option<(Solution, f64)> = None;
        loop {
            let companion = self.companion(coarse.division)?;
            let fine = self.solve(companion)?;
            let (mut estimate, missed) = self.estimate(&coarse, &fine, promised)?;
            let error = self.search.agreed_error(&estimate);
            self.search.attempted(coarse.division.count(), error);
            let order = self.order(before, error, coarse.division);
            let concentrated = self.search.exchange.any(estimate.as_ref().is_some_and(is_concentrated));
            // Where the order is low the finer solution is little better than the coarse one, and the difference much less than the error.
            let left = before.map_or(0.0, |_| coarse.division.growth(fine.division).powf(-order));
            let reached = error <= KEPT.min(1.0 - left) * self.search.tolerance;
            if best.as_ref().is_none_or(|b| error < b.1) {
                let mut solution = coarse.solution;
                solution.report.estimate = estimate.take();
                best = Some((solution, error));
            }
            let next = self.next(coarse.division, fine.division, error, order);
            let too_large = self.is_too_much(next.subdomains());
            let stuck = before.is_some_and(|(last, _)| last < self.rounding() && error > 0.5 * last);
            let hopeless = self.is_hopeless(coarse.division, missed);
            if reached || too_large || stuck || hopeless {
                let (solution, least) = best.expect("an error was found");
                let reached = least <= self.search.tolerance;
                return Ok(self.search.end(solution, reached));
            }
            // Where more subdomains everywhere are slow, or errors are in few places, more are needed somewhere.
            if let Some((_, division)) =
                before.filter(|_| concentrated || order < SMOOTH * self.search.settings.points as f64)
            {
                let plain = self.domain.decompose(&division.cut())?;
                let (best, least) = best.expect("an error was found");
                let Even { search, pace, .. } = self;
                return match by_splitting(search.clone(), plain, Way::at_pace(pace)) {
                    Ok(found) if !is_worse(search.exchange, &found, least) => Ok(found),
                    // What there is no memory for, or no pivot, was not needed for the best one so far.
                    Ok(_) | Err(Error::Memory { .. } | Error::Compute { .. }) => Ok(search.end(best, false)),
                    Err(error) => Err(error),
                };
            }
            before = Some((error, coarse.division));
            promised = Some(error * coarse.division.growth(next).powf(-order));
            coarse = if next == fine.division { fine } else { self.solve(next)? };
        }
    }

    /// Errors below this that do not fall any further are rounding.
    fn rounding(&self) -> f64 {
        if self.search.problem.equation.order() > 2 { 1e-9 } else { 1e-11 }
    }

    /// Whether so many subdomains are more than is asked for, or there is no time left.
    fn is_too_much(&self, subdomains: usize) -> bool {
        let Settings { points, max_subdomains, .. } = self.search.settings;
        let many = max_subdomains.map_or_else(|| subdomains * points * points > LARGEST, |most| subdomains > most);
        many || self.search.is_late(0.0)
    }

    fn solve(&mut self, division: Division) -> Result<Found> {
        let plain = self.domain.decompose(&division.cut())?;
        let decomposition =
            Arc::new(with_corners_beyond(self.search.problem, plain, &self.search.settings, &mut self.smooth)?);
        let (exchange, settings, nonlinear) = (self.search.exchange, &self.search.settings, &self.search.nonlinear);
        let (clock, subdomains) = (Instant::now(), decomposition.len());
        let solution =
            solve_once(exchange, self.search.problem, decomposition, settings, nonlinear, self.search.progress)?;
        self.pace = clock.elapsed().as_secs_f64() / subdomains as f64;
        if self.search.problem.is_nonlinear() {
            self.data = at_solution(self.search.problem, &solution);
            self.search.nonlinear.initial = Some(Arc::new(solution.clone()));
            self.search.nonlinear.continuation = None;
        }
        Ok(Found { division, solution })
    }

    /// How far data are off between few nodes.
    fn mismatch(&self, decomposition: &Decomposition) -> Result<f64> {
        let seen = Resolution::quick(&self.data, decomposition, FEW);
        Ok(agreed(self.search.exchange.as_ref(), seen)?.worst())
    }

    /// A slightly finer decomposition: a quarter more subdomains in each direction, at least one; or twice as many, where data
    /// jump along lines of the first.
    fn companion(&self, division: Division) -> Result<Division> {
        self.aligned(division.finer(), division)
    }

    /// This division, or the next one that keeps the lines of another, if data jump along them.
    fn aligned(&self, wanted: Division, lines: Division) -> Result<Division> {
        let keeping = wanted.keeping(lines);
        if keeping == wanted {
            return Ok(wanted);
        }
        let mismatch = |division: Division| self.mismatch(&self.domain.decompose(&division.cut())?);
        let free = mismatch(wanted)?;
        let keep = free > JUMP && 4.0 * mismatch(keeping)? < free;
        Ok(if keep { keeping } else { wanted })
    }

    /// The estimate of the first solution from a second one, on the rank that has them, and what both missed of the data.
    fn estimate(&mut self, first: &Found, second: &Found, promised: Option<f64>) -> Result<(Option<Estimate>, f64)> {
        let (exchange, points) = (self.search.exchange.as_ref(), self.search.settings.points);
        let compare = |other: &Found| {
            let compare = || difference(&first.solution, &other.solution, points, 0.0);
            agreed(exchange, (exchange.rank() == 0).then(compare).transpose())
        };
        let mut estimate = compare(second)?;
        let error = self.search.agreed_error(&estimate);
        if error > self.search.tolerance {
            return Ok((estimate, 0.0));
        }
        // Where a resonance is possible good news needs a second source: what coarser solutions promised, or another
        // decomposition.
        let expected = promised.is_some_and(|promised| error >= SURPRISE * promised);
        if !expected && self.search.problem.may_resonate() {
            let other = self.aligned(first.division.one_more(), first.division)?;
            let third = self.solve(other)?;
            let other = compare(&third)?;
            if self.search.agreed_error(&other) > error {
                estimate = other;
            }
        }
        let thorough = Resolution::usual(&self.data, &second.solution.decomposition, self.search.settings.points);
        let missed = agreed(self.search.exchange.as_ref(), thorough)?.missed();
        if let Some(estimate) = &mut estimate {
            estimate.l2 += missed;
            estimate.h1 += missed;
            estimate.missed = missed;
        }
        Ok((estimate, missed))
    }

    /// The order of convergence in the size of the subdomains: as found in the last step, or about the points.
    fn order(&self, before: Option<(f64, Division)>, error: f64, division: Division) -> f64 {
        let points = self.search.settings.points as f64;
        match before {
            // An error of one and more says nothing, unless it stays.
            Some((last, coarser)) if (last < 1.0 || error > 0.1) && error > 0.0 => {
                ((last / error).ln() / coarser.growth(division).ln()).clamp(1.0, points + 2.0)
            }
            _ => points - 1.0,
        }
    }

    /// The division that the error asks for.
    fn next(&self, division: Division, finer: Division, error: f64, order: f64) -> Division {
        let wanted = (error / (AIM * self.search.tolerance)).powf(1.0 / order);
        let step = if wanted.is_finite() { wanted.clamp(1.0, LONGEST_STEP) } else { LONGEST_STEP };
        let next = division.grown(step, finer);
        self.aligned(next, division).unwrap_or(next)
    }

    /// Whether data are not resolved that the largest decomposition would not resolve, either: what is missed of a jump is
    /// halved with the subdomains at best.
    fn is_hopeless(&self, division: Division, missed: f64) -> bool {
        let subdomains = division.subdomains();
        let left = (LARGEST / (self.search.settings.points.pow(2) * subdomains)).max(1) as f64;
        subdomains >= ENOUGH_SUBDOMAINS && missed / left.sqrt() > self.search.tolerance
    }
}

/// Whether a solution that is not good enough is not even as good as one with this error, or nobody knows. Only rank 0 knows estimates.
fn is_worse(exchange: &Arc<dyn Exchange>, solution: &Solution, error: f64) -> bool {
    let known = solution.report.estimate.as_ref().is_some_and(|estimate| estimate.l2 <= error);
    solution.report.status == Status::ToleranceNotReached && exchange.any(exchange.rank() == 0 && !known)
}

/// Whether the error is in few of many subdomains.
fn is_concentrated(estimate: &Estimate) -> bool {
    let errors = &estimate.subdomains;
    let largest = errors.iter().copied().fold(0.0, f64::max);
    let large = errors.iter().filter(|e| **e > 0.05 * largest).count();
    errors.len() >= MANY && (large as f64) < FEW_PLACES * errors.len() as f64
}
