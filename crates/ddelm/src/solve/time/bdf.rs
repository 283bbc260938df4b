//! Backward differentiation formulas: one run through time with steps of one size.
//!
//! ```text
//! gamma u_n = sum_j a_j u_(n-j) + dt u',     u' = -L u_n + f(t_n)
//! ```
//!
//! What the rows see of the last solutions is carried along as loads (`solve/nodal.rs`). The first values come from `solve/time/deferred.rs`.

use std::collections::VecDeque;
use std::sync::Arc;

use faer::Mat;
use rayon::prelude::*;

use super::deferred::{lagrange, nearest};
use super::implicit::Implicit;
use super::smoothness::Smoothness;
use super::{Moment, Time};
use crate::base::error::{Error, Result};
use crate::base::progress::{Progress, Stage};
use crate::domain::decomposition::Decomposition;
use crate::exchange::Serial;
use crate::interface::Guess;
use crate::local::iterate::InBasis;
use crate::method::report::TimeReport;
use crate::method::settings::Settings;
use crate::problem::frozen::frozen;
use crate::problem::model::Problem;
use crate::solve::nodal::{Loads, Nodal};
use crate::solve::plan::Plan;
use crate::solve::solver::Solver;

/// Solves for the first values of a run: about so many.
const STARTING: usize = 150;

/// A backward differentiation formula, `gamma u_n = sum_j a_j u_(n-j) + dt u'`.
pub(super) struct Formula {
    pub gamma: f64,
    pub a: &'static [f64],
    /// `u_n = sum_j e_j u_(n-j)` up to the same order.
    pub extrapolation: &'static [f64],
}

pub(super) const FORMULAS: [Formula; 4] = [
    Formula { gamma: 1.0, a: &[1.0], extrapolation: &[1.0] },
    Formula { gamma: 1.5, a: &[2.0, -0.5], extrapolation: &[2.0, -1.0] },
    Formula { gamma: 11.0 / 6.0, a: &[3.0, -1.5, 1.0 / 3.0], extrapolation: &[3.0, -3.0, 1.0] },
    Formula { gamma: 25.0 / 12.0, a: &[4.0, -3.0, 4.0 / 3.0, -0.25], extrapolation: &[4.0, -6.0, 4.0, -1.0] },
];

/// A solution on the way: what the next steps and the output need of it.
#[derive(Clone)]
pub(super) struct Known {
    pub t: f64,
    /// u by what the rows see of it.
    pub u: Loads,
    /// The part of the source that depends on u, at u; nothing where there is none.
    pub forcing: Option<Loads>,
    /// The interface values, from which those of the next step are guessed; nothing for the initial values.
    pub interface: Option<Mat<f64>>,
    /// The right-hand side that it is the solution for, and the solver; nothing for the initial values.
    pub origin: Option<(Arc<Nodal>, Vec<Mat<f64>>)>,
    /// The coefficients in the basis, where steps are solved by Newton's method.
    pub iterate: Option<InBasis>,
}

impl Known {
    /// A guess for a solution nearby.
    pub fn near(&self) -> Near {
        Near { interface: self.interface.clone(), iterate: self.iterate.clone() }
    }
}

/// A guess for the solution of a step.
#[derive(Default)]
pub(super) struct Near {
    pub interface: Option<Mat<f64>>,
    pub iterate: Option<InBasis>,
}

/// One run with steps of one size.
pub(super) struct Run<'a> {
    pub time: &'a Time,
    pub problem: &'a Problem,
    pub decomposition: &'a Arc<Decomposition>,
    pub settings: &'a Settings,
    pub progress: &'a dyn Progress,
    pub steps: usize,
    pub dt: f64,
    /// Times before the end at which the solution is wanted.
    pub times: &'a [f64],
}

impl Run<'_> {
    /// The solutions at the times that are wanted and at the end, and how smooth they were on the way.
    pub fn carry_out(&self) -> Result<(Vec<Moment>, Smoothness)> {
        let formula = self.time.formula();
        let (mut engine, first) = self.engine()?;
        let mut known = engine.start(&first)?;
        let mut moments = Vec::new();
        let mut smoothness = Smoothness::new([self.time.start, self.time.end], self.steps);
        let mut wanted: VecDeque<f64> = self.times.iter().copied().filter(|t| *t < self.time.end).collect();
        self.progress.begin(Stage::Time, self.steps);
        for n in self.time.order..=self.steps {
            let t = if n == self.steps { self.time.end } else { self.at(n as f64) };
            let nodal = engine.nodal(t)?;
            let load = engine.load(&nodal, t, formula, &known)?;
            let next = engine.step(&nodal, t, &load, known.ahead(formula))?;
            smoothness.look(formula, known.grid.iter().rev().map(Arc::as_ref), &next);
            known.push(next);
            self.progress.step();
            while let Some(tau) = wanted.front().copied().filter(|tau| *tau <= t) {
                moments.push(engine.moment(&known, tau)?);
                wanted.pop_front();
            }
        }
        moments.push(engine.moment(&known, self.time.end)?);
        for moment in &mut moments {
            moment.solution.report.time = Some(TimeReport { t: moment.t, ..engine.counts });
        }
        Ok((moments, smoothness))
    }

    /// What solves for the steps, and the factored problem of the first.
    fn engine(&self) -> Result<(Engine<'_>, Arc<Nodal>)> {
        let (steps, order) = (self.steps, self.time.order);
        let mut counts = TimeReport { t: 0.0, steps, order, factorizations: 0, solves: 0, estimate: None };
        let posed = self.time.posed(self.problem, self.dt, self.time.start);
        let plan = Plan::on(Arc::new(Serial), &posed, self.decomposition.clone(), self.settings)?;
        let (first, implicit) = match self.time.is_implicit(self.problem) {
            true => {
                let implicit = Implicit::new(self, &plan, &mut counts)?;
                (implicit.nodal.clone(), Some(implicit))
            }
            false => (self.nodal(&plan, self.time.start, &mut counts)?, None),
        };
        // A source that knows neither t nor u is the same in every step. Newton's method knows it anyway.
        let depends = self.problem.source.depends_on();
        let fixed = if implicit.is_some() {
            Some(first.zeros())
        } else if depends.time || depends.state {
            None
        } else {
            Some(self.source(&first, self.time.start)?)
        };
        let shared = (!self.problem.operator_varies()).then(|| first.clone());
        Ok((Engine { run: self, plan, shared, fixed, contraction: 0.0, counts, implicit }, first))
    }

    /// The time after so many steps.
    pub fn at(&self, steps: f64) -> f64 {
        self.time.start + steps * self.dt
    }

    /// The factored problem of a step to time t.
    fn nodal(&self, plan: &Arc<Plan>, t: f64, counts: &mut TimeReport) -> Result<Arc<Nodal>> {
        counts.factorizations += 1;
        let posed = self.time.posed(self.problem, self.dt, t);
        let solver = Solver::planned(plan, &posed, self.progress)?;
        let nodal = Nodal::new(Arc::new(solver), "time")?;
        // Where the operator varies a factorization is good for one step. A source that depends on u is asked for at other points.
        let once = self.problem.operator_varies() || self.problem.source.depends_on().state;
        Ok(Arc::new(if once { nodal } else { nodal.prepared_for(self.steps + STARTING, true) }))
    }

    /// The part of the source that does not depend on u, at time t; nothing where it does.
    pub fn source(&self, nodal: &Nodal, t: f64) -> Result<Loads> {
        if self.problem.source.depends_on().state {
            return Ok(nodal.zeros());
        }
        nodal.field(&frozen(&self.problem.source, t), "equation.source")
    }

    /// The solution at a time that lies among the known ones, of steps without Newton's method.
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
                let solved: Vec<&Arc<Known>> = known.recent.iter().filter(|k| k.origin.is_some()).collect();
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
pub(super) struct Trail {
    /// On the grid of the steps, the last ones.
    pub grid: VecDeque<Arc<Known>>,
    /// Of all that was solved for, the last ones: output is interpolated between them.
    pub recent: VecDeque<Arc<Known>>,
    /// How many of those. Where every step has a factorization of its own it is one, for they are large.
    pub kept: usize,
}

impl Trail {
    /// The next step, extrapolated: as far as the last ones are known.
    fn ahead(&self, formula: &Formula) -> Near {
        let last = |j: usize| &self.grid[self.grid.len() - 1 - j];
        let interface = || {
            let mut sum: Mat<f64> = Mat::zeros(last(0).interface.as_ref()?.nrows(), 1);
            for (j, e) in formula.extrapolation.iter().enumerate() {
                sum += faer::Scale(*e) * last(j).interface.as_ref()?;
            }
            Some(sum)
        };
        let iterate = || {
            let mut sum = last(0).iterate.clone()?;
            for (j, e) in formula.extrapolation.iter().enumerate() {
                let change = if j == 0 { *e - 1.0 } else { *e };
                sum = sum.plus(change, last(j).iterate.as_ref()?);
            }
            Some(sum)
        };
        Near { interface: interface(), iterate: iterate() }
    }

    fn push(&mut self, known: Known) {
        let known = Arc::new(known);
        self.grid.push_back(known.clone());
        self.recent.push_back(known);
        while self.grid.len() > FORMULAS.len() {
            self.grid.pop_front();
        }
        while self.recent.len() > self.kept {
            self.recent.pop_front();
        }
    }
}

/// Solves for steps.
pub(super) struct Engine<'a> {
    pub run: &'a Run<'a>,
    pub plan: Arc<Plan>,
    /// The factored problem, where it is the same for all steps.
    pub shared: Option<Arc<Nodal>>,
    /// The source, where it is the same for all steps.
    pub fixed: Option<Loads>,
    /// What a solve of the interface leaves of an error, as the first of them told.
    pub contraction: f64,
    pub counts: TimeReport,
    /// Newton's method, where all terms are taken at the new time.
    pub implicit: Option<Implicit>,
}

impl Engine<'_> {
    pub fn nodal(&mut self, t: f64) -> Result<Arc<Nodal>> {
        match (&self.implicit, &self.shared) {
            (Some(implicit), _) => Ok(implicit.nodal.clone()),
            (None, Some(nodal)) => Ok(nodal.clone()),
            (None, None) => self.run.nodal(&self.plan, t, &mut self.counts),
        }
    }

    /// The solution at a time that lies among the known ones.
    fn moment(&self, known: &Trail, t: f64) -> Result<Moment> {
        match &self.implicit {
            Some(implicit) => implicit.moment(known, t),
            None => self.run.moment(known, t),
        }
    }

    pub fn source(&self, nodal: &Nodal, t: f64) -> Result<Loads> {
        match &self.fixed {
            Some(source) => Ok(source.clone()),
            None => self.run.source(nodal, t),
        }
    }

    /// The load of a step to time t: the source, and what the last steps give.
    fn load(&self, nodal: &Nodal, t: f64, formula: &Formula, known: &Trail) -> Result<Loads> {
        let mut load = self.source(nodal, t)?;
        for (a, last) in formula.a.iter().zip(known.grid.iter().rev()) {
            add(&mut load, a / self.run.dt, &last.u);
        }
        for (e, last) in formula.extrapolation.iter().zip(known.grid.iter().rev()) {
            if let Some(forcing) = &last.forcing {
                add(&mut load, *e, forcing);
            }
        }
        Ok(load)
    }

    /// The solution at time t for a load, with the boundary values of that time.
    pub fn step(&mut self, nodal: &Arc<Nodal>, t: f64, load: &Loads, near: Near) -> Result<Known> {
        if let Some(implicit) = &mut self.implicit {
            return implicit.step(self.run, &self.plan, t, load, near.iterate, &mut self.counts);
        }
        // With another factorization in every step nothing is known of its contraction.
        let guess = near.interface.filter(|_| self.shared.is_some());
        let mut rhs = nodal.right_hand_sides(load)?;
        nodal.set_boundary_values(&self.run.problem.data().at_time(t), &mut rhs)?;
        let guess = guess.map(|u| Guess::new(u, self.contraction));
        let source = &self.run.problem.source;
        let state = source.depends_on().state;
        let (u, inside, interface, outcome) = match state {
            false => {
                let (u, interface, outcome) = nodal.solve(&rhs, guess, self.run.progress)?;
                (u, None, interface, outcome)
            }
            true => {
                let (y, interface, outcome) = nodal.solver.coefficients_of(&rhs, guess, self.run.progress)?;
                (nodal.loads(&y), Some(nodal.inside(&y)), interface, outcome)
            }
        };
        self.contraction = self.contraction.max(outcome.contraction);
        self.counts.solves += 1;
        let finite = u.iter().all(|u| u.norm_max().is_finite());
        if !finite {
            return Err(Error::Compute {
                stage: "time",
                problem: format!("the solution is not finite at t = {t}"),
                hint: "take smaller steps".into(),
            });
        }
        let forcing = inside.map(|inside| nodal.forcing(&frozen(source, t), &u, &inside)).transpose()?;
        Ok(Known { t, u, forcing, interface: Some(interface), origin: Some((nodal.clone(), rhs)), iterate: None })
    }
}

/// Adds a multiple of loads to others.
pub(super) fn add(to: &mut [Mat<f64>], factor: f64, from: &[Mat<f64>]) {
    to.par_iter_mut().zip(from).for_each(|(to, from)| {
        for k in 0..to.ncols() {
            to.col_as_slice_mut(k).iter_mut().zip(from.col_as_slice(k)).for_each(|(to, from)| *to += factor * from);
        }
    });
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
}
