//! Time: `u_t = -L u + f` by backward differentiation formulas, one factorization for all steps.
//!
//! A step of order p solves an elliptic problem with the mass term as a reaction,
//!
//! ```text
//! (gamma / dt) u_n + L u_n = f(t_n) + (1 / dt) sum_j a_j u_(n-j),     u_n = g(t_n) on the boundary,
//! ```
//!
//! whose matrix is the same for every step unless a coefficient depends on t. What the rows see of the last solutions is
//! carried along (loads, `solve/nodal.rs`). A source that depends on u is extrapolated to the new time (IMEX).
//!
//! The first values are found with the same factorization. Implicit Euler with the step `delta = dt / gamma` has the matrix of
//! the formula; on blocks of four such steps it is corrected until it is the collocation of order four (spectral deferred
//! correction), which takes a fourth of the error with every sweep however stiff the problem is, and the values at
//! `dt, 2 dt, ...` are interpolated.
//!
//! The wave equation is not offered: the discrete operator is not self-adjoint, and methods that keep the energy amplify the
//! difference.
//!
//! # References
//!
//! E. Hairer, G. Wanner, *Solving Ordinary Differential Equations II*, V.1. A. Dutt, L. Greengard, V. Rokhlin, *Spectral deferred
//! correction methods for ordinary differential equations*, BIT 40 (2000).

use std::collections::VecDeque;
use std::sync::Arc;

use faer::Mat;
use rayon::prelude::*;

use crate::algebra::quadrature::gauss;
use crate::base::clock::Instant;
use crate::base::error::{Error, Result};
use crate::base::progress::{Progress, Stage};
use crate::domain::decomposition::Decomposition;
use crate::method::report::{Status, TimeReport};
use crate::method::settings::Settings;
use crate::problem::field::{FieldRef, constant};
use crate::problem::frozen::frozen;
use crate::problem::model::Problem;
use crate::solution::evaluate::Solution;
use crate::solve::nodal::{Loads, Nodal};
use crate::solve::solver::Solver;

/// Steps of a run, at most.
const MOST_STEPS: usize = 1_000_000;

/// Implicit Euler steps that are corrected together.
const BLOCK: usize = 4;

/// Sweeps over a block, at most, and the change at which they end, relative to u.
const SWEEPS: usize = 25;
const CORRECTED: f64 = 1e-13;

/// Values that an interpolation in time goes through.
const THROUGH: usize = 5;

/// Runs that a tolerance may take, the steps of the first, and the growth of their number from one to the next.
const RUNS: usize = 7;
const FIRST_STEPS: usize = 20;
const GROWTH: f64 = 16.0;

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

/// A backward differentiation formula, `gamma u_n = sum_j a_j u_(n-j) + dt u'`.
struct Formula {
    gamma: f64,
    a: &'static [f64],
    /// `u_n = sum_j e_j u_(n-j)` up to the same order.
    extrapolation: &'static [f64],
}

const FORMULAS: [Formula; 4] = [
    Formula { gamma: 1.0, a: &[1.0], extrapolation: &[1.0] },
    Formula { gamma: 1.5, a: &[2.0, -0.5], extrapolation: &[2.0, -1.0] },
    Formula { gamma: 11.0 / 6.0, a: &[3.0, -1.5, 1.0 / 3.0], extrapolation: &[3.0, -3.0, 1.0] },
    Formula { gamma: 25.0 / 12.0, a: &[4.0, -3.0, 4.0 / 3.0, -0.25], extrapolation: &[4.0, -6.0, 4.0, -1.0] },
];

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

    fn formula(&self) -> &'static Formula {
        &FORMULAS[self.order - 1]
    }

    /// The elliptic problem of a step of length dt to time t.
    pub fn posed(&self, problem: &Problem, dt: f64, t: f64) -> Problem {
        let mut posed = Problem { mean: None, exact: None, ..problem.at_time(t) };
        // A source that depends on u is no part of the operator: its loads are extrapolated.
        if posed.source.depends_on().state {
            posed.source = constant(0.0);
        }
        let mass = self.formula().gamma / dt;
        posed.equation = posed.equation.plus_reaction(mass).expect("equations without a reaction are refused");
        posed
    }

    /// Goes to the end, and returns the solutions at the times that were asked for, and at the end.
    pub fn solve(
        &self,
        problem: &Problem,
        decomposition: &Arc<Decomposition>,
        settings: &Settings,
        progress: &dyn Progress,
    ) -> Result<Vec<Moment>> {
        self.check(problem)?;
        let run = |steps: usize| {
            let clock = Instant::now();
            let run = Run {
                time: self,
                problem,
                decomposition,
                settings,
                progress,
                steps,
                dt: (self.end - self.start) / steps as f64,
            };
            let mut moments = run.carry_out()?;
            let seconds = clock.elapsed().as_secs_f64();
            moments.iter_mut().for_each(|moment| moment.solution.report.seconds.total = seconds);
            Ok::<_, Error>(moments)
        };
        match self.steps {
            Steps::Count(steps) => run(steps),
            Steps::Tolerance(tolerance) => self.to_tolerance(tolerance, run),
        }
    }

    /// Takes more and more steps until two runs tell that the error of the last is below the tolerance.
    fn to_tolerance(&self, tolerance: f64, run: impl Fn(usize) -> Result<Vec<Moment>>) -> Result<Vec<Moment>> {
        let order = self.order as i32;
        let last = |moments: &[Moment]| moments.last().expect("there is one at the end").solution.clone();
        let mut steps = FIRST_STEPS;
        let mut before = run(steps)?;
        let mut next = 2 * steps;
        for _ in 1..RUNS {
            let mut moments = run(next)?;
            let (coarse, fine) = (last(&before), last(&moments));
            let distance = coarse.distance(&fine, fine.report.points)?.l2;
            let ratio = (next as f64 / steps as f64).powi(order);
            let estimate = distance / (ratio - 1.0);
            let reached = estimate <= tolerance;
            let growth = (estimate / (0.3 * tolerance)).powf(1.0 / f64::from(order)).clamp(1.5, GROWTH);
            let wanted = (next as f64 * growth).ceil();
            for report in moments.iter_mut().map(|moment| &mut moment.solution.report) {
                if let Some(time) = &mut report.time {
                    time.estimate = Some(estimate);
                }
                if !reached {
                    report.status = Status::ToleranceNotReached;
                }
            }
            if reached || wanted > MOST_STEPS as f64 {
                return Ok(moments);
            }
            (steps, next, before) = (next, wanted as usize, moments);
        }
        Ok(before)
    }
}

/// A solution on the way: what the next steps and the output need of it.
#[derive(Clone)]
struct Known {
    t: f64,
    /// u by what the rows see of it.
    u: Loads,
    /// The part of the source that depends on u, at u; nothing where there is none.
    forcing: Option<Loads>,
    /// The right-hand side that it is the solution for, and the solver; nothing for the initial values.
    origin: Option<(Arc<Nodal>, Vec<Mat<f64>>)>,
}

/// One run with steps of one size.
struct Run<'a> {
    time: &'a Time,
    problem: &'a Problem,
    decomposition: &'a Arc<Decomposition>,
    settings: &'a Settings,
    progress: &'a dyn Progress,
    steps: usize,
    dt: f64,
}

impl Run<'_> {
    fn carry_out(&self) -> Result<Vec<Moment>> {
        let formula = self.time.formula();
        let varies = self.problem.operator_varies();
        let mut counts =
            TimeReport { steps: self.steps, order: self.time.order, factorizations: 0, solves: 0, estimate: None };
        let first = self.nodal(self.time.start, &mut counts)?;
        // A source that knows neither t nor u is the same in every step.
        let depends = self.problem.source.depends_on();
        let fixed = if depends.time || depends.state { None } else { Some(self.source(&first, self.time.start)?) };
        let mut engine = Engine { run: self, shared: (!varies).then(|| first.clone()), fixed, counts };
        let mut known = engine.start(&first)?;
        let mut moments = Vec::new();
        let mut wanted: VecDeque<f64> = self.time.times.iter().copied().filter(|t| *t < self.time.end).collect();
        self.progress.begin(Stage::Time, self.steps);
        for n in self.time.order..=self.steps {
            let t = if n == self.steps { self.time.end } else { self.at(n as f64) };
            let nodal = engine.nodal(t)?;
            let mut load = engine.source(&nodal, t)?;
            for (j, a) in formula.a.iter().enumerate() {
                add(&mut load, a / self.dt, &known.grid[known.grid.len() - 1 - j].u);
            }
            for (j, e) in formula.extrapolation.iter().enumerate() {
                if let Some(forcing) = &known.grid[known.grid.len() - 1 - j].forcing {
                    add(&mut load, *e, forcing);
                }
            }
            let next = engine.step(&nodal, t, &load)?;
            known.push(next);
            self.progress.step();
            while let Some(tau) = wanted.front().copied().filter(|tau| *tau <= t) {
                moments.push(self.moment(&known, tau)?);
                wanted.pop_front();
            }
        }
        moments.push(self.moment(&known, self.time.end)?);
        for moment in &mut moments {
            moment.solution.report.time = Some(engine.counts);
        }
        Ok(moments)
    }

    /// The time after so many steps.
    fn at(&self, steps: f64) -> f64 {
        self.time.start + steps * self.dt
    }

    /// The factored problem of a step to time t.
    fn nodal(&self, t: f64, counts: &mut TimeReport) -> Result<Arc<Nodal>> {
        counts.factorizations += 1;
        let posed = self.time.posed(self.problem, self.dt, t);
        let solver = Solver::with_progress(&posed, self.decomposition.clone(), self.settings, self.progress)?;
        Ok(Arc::new(Nodal::new(Arc::new(solver), "time")?))
    }

    /// The part of the source that does not depend on u, at time t; nothing where it does.
    fn source(&self, nodal: &Nodal, t: f64) -> Result<Loads> {
        if self.problem.source.depends_on().state {
            return Ok(nodal.zeros());
        }
        nodal.field(&frozen(&self.problem.source, t), "equation.source")
    }

    /// The solution at a time that lies among the known ones.
    fn moment(&self, known: &Trail, t: f64) -> Result<Moment> {
        let exact = known.recent.iter().find(|k| (k.t - t).abs() <= 1e-12 * (self.time.end - self.time.start));
        let (nodal, rhs) = match exact.and_then(|k| k.origin.as_ref()) {
            Some((nodal, rhs)) => (nodal, rhs.clone()),
            None => {
                if self.problem.operator_varies() {
                    let problem = "with coefficients that depend on t the solution is known at the steps only";
                    return Err(Error::input("time.times", t, problem, "choose times that are whole steps"));
                }
                // Solutions are linear in their right-hand sides.
                let solved: Vec<&Known> = known.recent.iter().filter(|k| k.origin.is_some()).collect();
                let nearest = nearest(&solved.iter().map(|k| k.t).collect::<Vec<_>>(), t);
                let weights = lagrange(&nearest.clone().map(|k| solved[k].t).collect::<Vec<_>>(), t);
                let of = |k: usize| solved[k].origin.as_ref().expect("it was solved for");
                let mut rhs: Vec<Mat<f64>> = of(nearest.start).1.iter().map(|f| Mat::zeros(f.nrows(), 1)).collect();
                nearest.clone().zip(&weights).for_each(|(k, w)| add(&mut rhs, *w, &of(k).1));
                (&of(nearest.start).0, rhs)
            }
        };
        let solution = nodal.solver.solutions_of(&rhs, self.progress)?.swap_remove(0);
        Ok(Moment { t, solution })
    }
}

/// The solutions that are still needed.
struct Trail {
    /// On the grid of the steps, the last ones.
    grid: VecDeque<Known>,
    /// Of all that was solved for, the last ones: output is interpolated between them.
    recent: VecDeque<Known>,
}

impl Trail {
    fn push(&mut self, known: Known) {
        self.grid.push_back(known.clone());
        self.recent.push_back(known);
        while self.grid.len() > FORMULAS.len() {
            self.grid.pop_front();
        }
        while self.recent.len() > 2 * BLOCK + 2 {
            self.recent.pop_front();
        }
    }
}

/// Solves for steps.
struct Engine<'a> {
    run: &'a Run<'a>,
    /// The factored problem, where it is the same for all steps.
    shared: Option<Arc<Nodal>>,
    /// The source, where it is the same for all steps.
    fixed: Option<Loads>,
    counts: TimeReport,
}

impl Engine<'_> {
    fn nodal(&mut self, t: f64) -> Result<Arc<Nodal>> {
        match &self.shared {
            Some(nodal) => Ok(nodal.clone()),
            None => self.run.nodal(t, &mut self.counts),
        }
    }

    fn source(&self, nodal: &Nodal, t: f64) -> Result<Loads> {
        match &self.fixed {
            Some(source) => Ok(source.clone()),
            None => self.run.source(nodal, t),
        }
    }

    /// The solution at time t for a load, with the boundary values of that time.
    fn step(&mut self, nodal: &Arc<Nodal>, t: f64, load: &Loads) -> Result<Known> {
        let mut rhs = nodal.right_hand_sides(load)?;
        nodal.set_boundary_values(&self.run.problem.data().at_time(t), &mut rhs)?;
        let y = nodal.solver.coefficients_of(&rhs, self.run.progress)?;
        self.counts.solves += 1;
        let u = nodal.loads(&y);
        let finite = u.iter().all(|u| u.norm_max().is_finite());
        if !finite {
            return Err(Error::Compute {
                stage: "time",
                problem: format!("the solution is not finite at t = {t}"),
                hint: "take smaller steps".into(),
            });
        }
        let source = &self.run.problem.source;
        let state = source.depends_on().state;
        let forcing = if state { Some(nodal.forcing(&frozen(source, t), &u, &nodal.inside(&y))?) } else { None };
        Ok(Known { t, u, forcing, origin: Some((nodal.clone(), rhs)) })
    }

    /// The values at the first steps of the grid.
    fn start(&mut self, first: &Arc<Nodal>) -> Result<Trail> {
        let (time, order) = (self.run.time, self.run.time.order);
        let initial = frozen(&time.initial, time.start);
        let u = first.field(&initial, "time.initial")?;
        let mut trail = Trail { grid: VecDeque::new(), recent: VecDeque::new() };
        let forcing = match self.run.problem.source.depends_on().state {
            true => Some(first.forcing_of_field(&frozen(&self.run.problem.source, time.start), &initial)?),
            false => None,
        };
        let begin = Known { t: time.start, u, forcing, origin: None };
        let mut nodes = vec![begin];
        let delta = self.run.dt / time.formula().gamma;
        while order > 1 && nodes[nodes.len() - 1].t < self.run.at((order - 1) as f64) {
            let block = self.block(&nodes[nodes.len() - 1], delta)?;
            nodes.extend(block);
        }
        trail.recent.extend(nodes[1..].iter().cloned());
        let times: Vec<f64> = nodes.iter().map(|node| node.t).collect();
        trail.grid.push_back(nodes[0].clone());
        for n in 1..order {
            let t = self.run.at(n as f64);
            let near = nearest(&times, t);
            let weights = lagrange(&times[near.clone()], t);
            let combined = |of: &dyn Fn(&Known) -> Option<&Loads>| -> Option<Loads> {
                let mut sum = first.zeros();
                for (node, w) in nodes[near.clone()].iter().zip(&weights) {
                    add(&mut sum, *w, of(node)?);
                }
                Some(sum)
            };
            let u = combined(&|node| Some(&node.u)).expect("every node has u");
            trail.grid.push_back(Known { t, u, forcing: combined(&|node| node.forcing.as_ref()), origin: None });
        }
        Ok(trail)
    }

    /// Implicit Euler steps from a known solution, corrected until they are collocation through all of them.
    fn block(&mut self, from: &Known, delta: f64) -> Result<Vec<Known>> {
        let times: Vec<f64> = (1..=BLOCK).map(|i| from.t + i as f64 * delta).collect();
        let nodals: Vec<Arc<Nodal>> = times.iter().map(|&t| self.nodal(t)).collect::<Result<_>>()?;
        let sources: Vec<Loads> =
            nodals.iter().zip(&times).map(|(nodal, &t)| self.source(nodal, t)).collect::<Result<_>>()?;
        let integrals = integrals();
        let mut known: Vec<Known> = Vec::new();
        // delta u' at the nodes.
        let mut slopes: Vec<Loads> = Vec::new();
        for _ in 0..SWEEPS {
            let (mut next, mut next_slopes): (Vec<Known>, Vec<Loads>) = (Vec::new(), Vec::new());
            for (i, ((nodal, &t), source)) in nodals.iter().zip(&times).zip(&sources).enumerate() {
                let mut base = if i == 0 { from.u.clone() } else { next[i - 1].u.clone() };
                if !slopes.is_empty() {
                    add(&mut base, -1.0, &slopes[i]);
                    slopes.iter().zip(integrals[i]).for_each(|(slope, weight)| add(&mut base, weight, slope));
                }
                let mut load = source.clone();
                add(&mut load, 1.0 / delta, &base);
                let lagged = known.get(i).and_then(|k| k.forcing.as_ref());
                let before = if i == 0 { from.forcing.as_ref() } else { next[i - 1].forcing.as_ref() };
                if let Some(forcing) = lagged.or(before) {
                    add(&mut load, 1.0, forcing);
                }
                let solved = self.step(nodal, t, &load)?;
                let mut slope = solved.u.clone();
                add(&mut slope, -1.0, &base);
                next.push(solved);
                next_slopes.push(slope);
            }
            let change = known.last().map(|before| distance(&before.u, &next[BLOCK - 1].u));
            (known, slopes) = (next, next_slopes);
            if change.is_some_and(|change| change <= CORRECTED) {
                break;
            }
        }
        Ok(known)
    }
}

/// The integrals from every node 0, ..., 3 to the next of the polynomials that are one at one of the nodes 1, ..., 4.
fn integrals() -> [[f64; BLOCK]; BLOCK] {
    let nodes: Vec<f64> = (1..=BLOCK).map(|k| k as f64).collect();
    let (points, weights) = gauss(BLOCK);
    std::array::from_fn(|i| {
        let mut sums = [0.0; BLOCK];
        for (t, w) in points.iter().zip(&weights) {
            sums.iter_mut().zip(lagrange(&nodes, i as f64 + t)).for_each(|(sum, l)| *sum += w * l);
        }
        sums
    })
}

/// The values at t of the polynomials that are one at one of the nodes and zero at the others.
fn lagrange(nodes: &[f64], t: f64) -> Vec<f64> {
    let factor = |i: usize, j: usize| if i == j { 1.0 } else { (t - nodes[j]) / (nodes[i] - nodes[j]) };
    (0..nodes.len()).map(|i| (0..nodes.len()).map(|j| factor(i, j)).product()).collect()
}

/// The ascending times that are nearest to t, a few in a row.
fn nearest(times: &[f64], t: f64) -> std::ops::Range<usize> {
    let count = THROUGH.min(times.len());
    let after = times.partition_point(|&other| other < t);
    let start = after.saturating_sub(count.div_ceil(2)).min(times.len() - count);
    start..start + count
}

/// Adds a multiple of loads to others.
fn add(to: &mut [Mat<f64>], factor: f64, from: &[Mat<f64>]) {
    to.par_iter_mut().zip(from).for_each(|(to, from)| {
        for k in 0..to.ncols() {
            to.col_as_slice_mut(k).iter_mut().zip(from.col_as_slice(k)).for_each(|(to, from)| *to += factor * from);
        }
    });
}

/// The largest difference of loads, relative to the largest of them.
fn distance(a: &Loads, b: &Loads) -> f64 {
    let (mut difference, mut size) = (0.0f64, f64::MIN_POSITIVE);
    for (a, b) in a.iter().zip(b).flat_map(|(a, b)| a.col_as_slice(0).iter().zip(b.col_as_slice(0))) {
        (difference, size) = (difference.max((a - b).abs()), size.max(b.abs()));
    }
    difference / size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_exact_for_polynomials_of_their_order() {
        for (k, formula) in FORMULAS.iter().enumerate() {
            for degree in 0..=(k as i32 + 1) {
                // t^degree at t = 0, -1, -2, ...; its derivative at 0 is 1 for degree 1.
                let power = |t: f64| if degree == 0 { 1.0 } else { t.powi(degree) };
                let past: f64 = formula.a.iter().enumerate().map(|(j, a)| a * power(-(j as f64) - 1.0)).sum();
                let slope = formula.gamma * power(0.0) - past;
                assert!((slope - f64::from(u8::from(degree == 1))).abs() < 1e-13, "order {}", k + 1);
                if degree <= k as i32 {
                    let e = formula.extrapolation.iter().enumerate();
                    let ahead: f64 = e.map(|(j, e)| e * power(-(j as f64) - 1.0)).sum();
                    assert!((ahead - power(0.0)).abs() < 1e-13);
                }
            }
        }
    }

    #[test]
    fn integrals_and_interpolation_are_exact_for_cubics() {
        let cubic = |t: f64| 1.0 + t - 2.0 * t * t + 0.5 * t * t * t;
        let primitive = |t: f64| t + t * t / 2.0 - 2.0 / 3.0 * t.powi(3) + t.powi(4) / 8.0;
        for (i, weights) in integrals().iter().enumerate() {
            let found: f64 = weights.iter().enumerate().map(|(j, w)| w * cubic(j as f64 + 1.0)).sum();
            assert!((found - (primitive(i as f64 + 1.0) - primitive(i as f64))).abs() < 1e-12);
        }
        let times = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0];
        for t in [0.1, 1.2, 2.9] {
            let near = nearest(&times, t);
            let values = lagrange(&times[near.clone()], t);
            let found: f64 = near.map(|k| cubic(times[k])).zip(values).map(|(u, w)| u * w).sum();
            assert!((found - cubic(t)).abs() < 1e-12);
        }
    }
}
