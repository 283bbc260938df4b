//! Time: `u_t = -L u + f` by backward differentiation formulas, one factorization for all steps.
//!
//! A step of order p solves an elliptic problem with the mass term as a reaction,
//!
//! ```text
//! (gamma / dt) u_n + L u_n = f(t_n) + (1 / dt) sum_j a_j u_(n-j),     u_n = g(t_n) on the boundary,
//! ```
//!
//! whose matrix is the same for every step unless a coefficient depends on t (`solve/time/bdf.rs`; the first values in
//! `solve/time/deferred.rs`).
//!
//! A source that depends on u is extrapolated to the new time (IMEX). Where coefficients or conditions depend on u, or where it is
//! asked for, all terms are taken at the new time, and every step is solved by Newton's method (`solve/time/implicit.rs`), with a
//! factorization that is kept from step to step while it contracts.
//!
//! The error has two parts. That of the steps is estimated by runs with about half and a third of them: their differences tell the
//! order that is really there, for data that do not fit together at the start spoil it, and so do sources that jump, which the steps
//! themselves tell (`solve/time/smoothness.rs`). That of the subdomains is the difference to
//! a run on a second decomposition with other features, as for one [solve](crate::solve::estimate), with half of the steps in both.
//!
//! The wave equation is not offered: the discrete operator is not self-adjoint, and methods that keep the energy amplify the
//! difference.
//!
//! # References
//!
//! E. Hairer, G. Wanner, *Solving Ordinary Differential Equations II*, V.1.

mod bdf;
mod deferred;
mod implicit;
mod smoothness;

use std::sync::Arc;

use crate::base::clock::Instant;
use crate::base::error::{Error, Result};
use crate::base::progress::{Progress, Stage};
use crate::domain::decomposition::Decomposition;
use crate::method::report::{Estimate, Status};
use crate::method::settings::Settings;
use crate::problem::field::{FieldRef, constant};
use crate::problem::model::Problem;
use crate::solution::evaluate::Solution;
use crate::solve::estimate::{Second, at_solution, difference};
use crate::solve::resolution::Resolution;
use bdf::{FORMULAS, Formula, Run};
use smoothness::Smoothness;

/// Steps of a run, at most.
const MOST_STEPS: usize = 1_000_000;

/// Runs that a tolerance may take, the steps of the first two, the growth of their number from one to the next, and the most where
/// the solution is not smooth in time: ten times more digits would take ten times more steps.
const RUNS: usize = 7;
const FIRST_STEPS: usize = 20;
const SECOND_STEPS: usize = 37;
const GROWTH: f64 = 16.0;
const MOST_ROUGH_STEPS: usize = 20_000;

/// How many times more steps a run has than the one that it is compared with. Not twice: an oscillation that is as fast as the steps would
/// look slow to both.
const MORE: f64 = 1.8;

/// Steps of a coarser run.
fn fewer(steps: usize) -> usize {
    (steps as f64 / MORE).round() as usize
}

/// How far in time to go, and how.
#[derive(Clone)]
pub struct Time {
    /// The time of the initial values.
    pub start: f64,
    /// The last time.
    pub end: f64,
    /// u at the start.
    pub initial: FieldRef,
    /// How many steps, or what they are to reach.
    pub steps: Steps,
    /// The order of the formula, 1 to 4.
    pub order: usize,
    /// Other times at which the solution is wanted, ascending.
    pub times: Vec<f64>,
    /// When terms that depend on u are taken.
    pub nonlinear: Terms,
}

/// When the terms of a step that depend on u are taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Terms {
    /// A source at the old times, from which it is extrapolated, unless coefficients or conditions depend on u as well.
    #[default]
    Auto,
    /// All at the new time.
    Implicit,
}

/// How many steps there are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Steps {
    /// So many.
    Count(usize),
    /// As many as the relative error at the end needs, as far as it comes from the steps.
    Tolerance(f64),
}

/// The solution at a time.
#[derive(Clone)]
pub struct Moment {
    /// When.
    pub t: f64,
    /// u
    pub solution: Solution,
}

impl Time {
    /// Refuses what cannot be carried out.
    pub fn check(&self, problem: &Problem) -> Result<()> {
        let refuse = |key: &str, value: String, problem: &str, hint: &str| Err(Error::input(key, value, problem, hint));
        let length = self.end - self.start;
        if !(length > 0.0 && length.is_finite()) {
            return refuse("time.end", self.end.to_string(), "the end must come after the start", "give a later time");
        }
        match self.steps {
            Steps::Count(steps) if !(self.order..=MOST_STEPS).contains(&steps) => {
                let problem = format!("a formula of order {} takes {} to {MOST_STEPS} steps", self.order, self.order);
                return refuse("time.steps", steps.to_string(), &problem, "for example 100");
            }
            Steps::Tolerance(tolerance) if !(tolerance > 0.0 && tolerance < 1.0) => {
                let problem = "a relative error lies between 0 and 1";
                return refuse("time.tolerance", tolerance.to_string(), problem, "for example 1e-6");
            }
            _ => {}
        }
        if let Some(t) = self.times.iter().find(|t| !(**t > self.start && **t <= self.end)) {
            let problem = "it must lie after the start and not after the end";
            return refuse("time.times", t.to_string(), problem, "the initial values are known already");
        }
        if problem.equation.plus_reaction(1.0).is_none() {
            let problem = "only second-order equations have steps in time: plates vibrate, and the discrete operator is not \
                           self-adjoint, so that methods that keep the energy are unstable";
            return refuse("time", "a plate".into(), problem, "leave [time] out, or find [eigenvalues]");
        }
        Ok(())
    }

    /// Whether all terms are taken at the new time.
    pub fn is_implicit(&self, problem: &Problem) -> bool {
        let operator = || (Problem { source: constant(0.0), ..problem.clone() }).is_nonlinear();
        match self.nonlinear {
            Terms::Auto => operator(),
            Terms::Implicit => problem.is_nonlinear(),
        }
    }

    fn formula(&self) -> &'static Formula {
        &FORMULAS[self.order - 1]
    }

    /// The elliptic problem of a step of length dt to time t.
    pub fn posed(&self, problem: &Problem, dt: f64, t: f64) -> Problem {
        let mut posed = Problem { mean: None, exact: None, ..problem.at_time(t) };
        // A source that is extrapolated is no part of the operator.
        if posed.source.depends_on().state && !self.is_implicit(problem) {
            posed.source = constant(0.0);
        }
        let mass = self.formula().gamma / dt;
        posed.equation = posed.equation.plus_reaction(mass).expect("equations without a reaction are refused");
        posed
    }

    /// Goes to the end, and returns the solutions at the times that were asked for, and at the end, whose error is estimated
    /// where that is asked for.
    pub fn solve(
        &self,
        problem: &Problem,
        decomposition: &Arc<Decomposition>,
        settings: &Settings,
        estimate: bool,
        progress: &dyn Progress,
    ) -> Result<Vec<Moment>> {
        self.check(problem)?;
        let runs = Runs { time: self, problem, progress };
        let here = |steps: usize, times: &[f64]| runs.carry_out(decomposition, settings, steps, times);
        let (mut moments, other) = match self.steps {
            Steps::Count(steps) => {
                let (mut moments, smoothness) = here(steps, &self.times)?;
                let clock = Instant::now();
                let other = match estimate {
                    true => Some(self.estimate_steps(steps, &mut moments, smoothness, |n| here(n, &[]))?),
                    false => None,
                };
                spend(&mut moments, clock);
                (moments, other)
            }
            Steps::Tolerance(tolerance) => {
                let (moments, before) = self.to_tolerance(tolerance, |n| here(n, &self.times))?;
                (moments, Some(before))
            }
        };
        if let Some(other) = other.filter(|_| estimate) {
            let clock = Instant::now();
            self.estimate_subdomains(&runs, settings, &mut moments, &other)?;
            spend(&mut moments, clock);
        }
        Ok(moments)
    }

    /// Puts the estimated error of the steps into the reports, from runs with fewer of them, and returns the last solution of the
    /// finest of those with its steps.
    fn estimate_steps(
        &self,
        steps: usize,
        moments: &mut [Moment],
        smoothness: Smoothness,
        run: impl Fn(usize) -> Result<Passed>,
    ) -> Result<(usize, Solution)> {
        let half = fewer(steps);
        if half < self.order {
            // Too few to leave some out: a run with twice as many is the better one, and the difference is the error.
            let fine = last(&run(2 * steps)?.0);
            let error = last(moments).distance(&fine, fine.report.points)?.l2;
            report_steps(moments, error);
            return Ok((2 * steps, fine));
        }
        let (coarse, rougher) = run(half)?;
        let (coarse, finest) = (last(&coarse), last(moments));
        let order = rougher.order(&smoothness, self.order);
        let usual = (steps as f64 / half as f64).powf(order);
        let distance = coarse.distance(&finest, finest.report.points)?.l2;
        let quarter = fewer(half);
        let mut estimate = distance;
        if quarter >= self.order && distance > 0.0 {
            let coarsest = last(&run(quarter)?.0);
            let before = coarsest.distance(&coarse, finest.report.points)?.l2;
            // By how much halving the steps reduces the error, as far as three runs tell.
            let gain = ((before / distance).max(1.0) - 1.0).min(usual - 1.0).max(1.0);
            estimate = distance / gain;
            if order < self.order as f64 {
                // Two runs that agree may do so by chance.
                estimate = estimate.max(before / (gain * usual));
            }
        }
        report_steps(moments, estimate);
        Ok((half, coarse))
    }

    /// Puts the estimated error at the end into its report: that of the steps, and the difference of a run with other steps to
    /// one on a second decomposition.
    fn estimate_subdomains(
        &self,
        runs: &Runs<'_>,
        settings: &Settings,
        moments: &mut [Moment],
        (steps, first): &(usize, Solution),
    ) -> Result<()> {
        runs.progress.begin(Stage::Estimate, 1);
        let place = first.decomposition.as_ref();
        // What the rows see of the data: those at the end, and the initial values as a source.
        let posed = self.posed(runs.problem, (self.end - self.start) / *steps as f64, self.end);
        let posed = at_solution(&posed, first);
        let seen = Resolution::quick(&posed, place, settings.points)?;
        let second = Second::beside(&posed, place, &seen, settings)?;
        let other = last(&runs.carry_out(&second.decomposition, &second.settings, *steps, &[])?.0);
        let space = difference(first, &other, second.settings.points, second.resolution.missed())?;
        let end = &mut moments.last_mut().expect("there is one at the end").solution;
        let by_steps = end.report.time.and_then(|time| time.estimate).unwrap_or(0.0);
        // The shape of the error of the steps is not known: it is taken to be that of the solution.
        let largest = end.max().value.abs().max(end.min().value.abs());
        end.report.estimate = Some(Estimate {
            l2: space.l2 + by_steps,
            h1: space.h1 + by_steps,
            max: space.max + by_steps * largest,
            ..space
        });
        end.report.warnings.extend(seen.warnings(place));
        Ok(())
    }

    /// Takes more and more steps until two runs tell that the error of the last is below the tolerance. Returns the last run, and
    /// the end of the one before with its steps.
    fn to_tolerance(
        &self,
        tolerance: f64,
        run: impl Fn(usize) -> Result<Passed>,
    ) -> Result<(Vec<Moment>, (usize, Solution))> {
        let mut steps = FIRST_STEPS;
        let (first, mut smoothness) = run(steps)?;
        let mut before = last(&first);
        let mut next = SECOND_STEPS;
        // The distance of the two runs before, and the steps of the first of them.
        let mut earlier: Option<(usize, f64)> = None;
        let mut last_estimate = f64::INFINITY;
        for attempt in 1.. {
            let (mut moments, finer) = run(next)?;
            let fine = last(&moments);
            let distance = before.distance(&fine, fine.report.points)?.l2;
            let mut order = smoothness.order(&finer, self.order);
            if let Some((coarsest, before)) = earlier {
                order = order.min(smoothness::observed([coarsest, steps, next], [before, distance], self.order));
            }
            // The error of the finer one of two runs that are so far apart, if it falls with this order.
            let left = |coarse: usize, fine: usize, distance: f64| {
                distance / ((fine as f64 / coarse as f64).powf(order) - 1.0)
            };
            let mut estimate = left(steps, next, distance);
            if let Some((coarsest, before)) = earlier.filter(|_| order < self.order as f64) {
                // Two runs that agree may do so by chance.
                let at_best = (steps as f64 / next as f64).powf(order);
                estimate = estimate.max(left(coarsest, steps, before) * at_best);
            }
            let reached = estimate <= tolerance && (order == self.order as f64 || earlier.is_some());
            let growth = (estimate / (0.3 * tolerance)).powf(1.0 / order).clamp(1.5, GROWTH);
            let most = if order < self.order as f64 { MOST_ROUGH_STEPS } else { MOST_STEPS };
            let wanted = ((next as f64 * growth).ceil() as usize).min(most);
            report_steps(&mut moments, estimate);
            if !reached {
                moments.iter_mut().for_each(|moment| moment.solution.report.status = Status::ToleranceNotReached);
            }
            if reached || attempt + 1 >= RUNS || wanted <= next {
                return Ok((moments, (steps, before)));
            }
            // Rounding, and what subdomains do not resolve, do not fall with more steps.
            if estimate > 0.5 * last_estimate {
                return Ok((moments, (steps, before)));
            }
            last_estimate = estimate;
            earlier = Some((steps, distance));
            (steps, next, before, smoothness) = (next, wanted, fine, finer);
        }
        unreachable!("the last attempt returns")
    }
}

/// The solutions of a run, and how smooth they were.
type Passed = (Vec<Moment>, Smoothness);

/// Runs through time of one problem.
struct Runs<'a> {
    time: &'a Time,
    problem: &'a Problem,
    progress: &'a dyn Progress,
}

impl Runs<'_> {
    /// One of them, with so many steps.
    fn carry_out(
        &self,
        decomposition: &Arc<Decomposition>,
        settings: &Settings,
        steps: usize,
        times: &[f64],
    ) -> Result<Passed> {
        let clock = Instant::now();
        let Runs { time, problem, progress } = *self;
        let dt = (time.end - time.start) / steps as f64;
        let run = Run { time, problem, decomposition, settings, progress, steps, dt, times };
        let (mut moments, smoothness) = run.carry_out()?;
        let seconds = clock.elapsed().as_secs_f64();
        moments.iter_mut().for_each(|moment| moment.solution.report.seconds.total = seconds);
        Ok((moments, smoothness))
    }
}

/// The solution at the end.
fn last(moments: &[Moment]) -> Solution {
    moments.last().expect("there is one at the end").solution.clone()
}

/// Puts the estimated error of the steps into the reports.
fn report_steps(moments: &mut [Moment], estimate: f64) {
    for time in moments.iter_mut().filter_map(|moment| moment.solution.report.time.as_mut()) {
        time.estimate = Some(estimate);
    }
}

/// Adds the seconds of an estimate to the reports.
fn spend(moments: &mut [Moment], clock: Instant) {
    let seconds = clock.elapsed().as_secs_f64();
    moments.iter_mut().for_each(|moment| moment.solution.report.seconds.estimate += seconds);
}
