//! Steps with all terms at the new time: Newton's method with a factorization that is kept while it contracts.
//!
//! A step solves
//!
//! ```text
//! (gamma / dt) u + L(t_n, u) u = f(t_n, u) + load,     the conditions at t_n and u,
//! ```
//!
//! for what the formula knows of the last steps as a load. The guess is extrapolated from them, so that a correction or two by a
//! factorization of some steps ago are enough.

use std::sync::Arc;

use faer::Mat;

use super::bdf::{Known, Run, Trail};
use super::deferred::{lagrange, nearest};
use super::{Moment, Time};
use crate::base::error::{Error, Result};
use crate::base::progress::stop_if_asked;
use crate::domain::sample::Sample;
use crate::local::iterate::{InBasis, TableCache, Tabulated};
use crate::method::report::TimeReport;
use crate::problem::frozen::frozen;
use crate::problem::model::Problem;
use crate::solve::nodal::{Loads, Nodal};
use crate::solve::plan::Plan;
use crate::solve::solver::Solver;
use crate::solve::solver::correction::Correction;

/// Corrections of a step, at most.
const CORRECTIONS: usize = 30;

/// A factorization is kept while a correction is smaller than this times the one before.
const CONTRACTS: f64 = 0.2;

/// The relative size of a correction that is rounding, and one that is not judged any more.
const ROUNDING: f64 = 1e-14;
const SMALL: f64 = 1e-11;

/// Newton's method for steps in time.
pub(super) struct Implicit {
    /// The last factorization.
    pub nodal: Arc<Nodal>,
    tables: TableCache,
    initial: InBasis,
    /// The last correction, for its report.
    last: Option<Correction>,
}

impl Implicit {
    /// Brings the initial values into the basis, and factors the first step about them.
    pub fn new(run: &Run<'_>, plan: &Arc<Plan>, counts: &mut TimeReport) -> Result<Self> {
        let Time { initial, start, .. } = run.time;
        let field = frozen(initial, *start);
        let values = |s: usize, xi: &[[f64; 2]]| {
            let sample = Sample::new(&run.decomposition.subdomains[s], xi.iter().copied());
            sample.values(field.as_ref(), "time.initial", s)
        };
        let initial = plan.fit(&run.problem.equation)?.function(run.decomposition, values)?;
        let tables = TableCache::default();
        let posed = run.time.posed(run.problem, run.dt, *start);
        let nodal = factored(run, plan, &posed, &initial, &tables, counts)?;
        Ok(Implicit { nodal, tables, initial, last: None })
    }

    /// The initial values.
    pub fn initial(&self) -> &InBasis {
        &self.initial
    }

    /// The solution at time t for a load, from a guess.
    pub fn step(
        &mut self,
        run: &Run<'_>,
        plan: &Arc<Plan>,
        t: f64,
        load: &Loads,
        guess: Option<InBasis>,
        counts: &mut TimeReport,
    ) -> Result<Known> {
        let posed = run.time.posed(run.problem, run.dt, t);
        let mut iterate = guess.unwrap_or_else(|| self.initial.clone());
        let (mut before, mut fresh): (Option<f64>, bool) = (None, false);
        for _ in 0..CORRECTIONS {
            stop_if_asked(run.progress)?;
            let solver = &self.nodal.solver;
            solver.adopt(&mut iterate);
            let on = |known| Tabulated { decomposition: run.decomposition, known, tables: &self.tables };
            let rest = solver.remainder_of(&posed, Some(load), &on(&iterate))?;
            let correction = solver.correct(&rest, run.progress)?;
            counts.solves += 1;
            let next = iterate.plus(1.0, &correction.delta);
            let (size, whole) = (solver.norm_of(&on(&correction.delta)), solver.norm_of(&on(&next)));
            let change = if whole > 0.0 { size / whole } else { size };
            if !change.is_finite() {
                return Err(failed(t, "the solution is not finite"));
            }
            let rate = before.map(|before| change / before);
            let grows = rate.is_some_and(|rate| rate >= 1.0) && change > SMALL;
            if rate.is_some_and(|rate| rate > CONTRACTS) && change > SMALL && !fresh {
                // Another factorization, about the better of the two.
                let about = if grows { &iterate } else { &next };
                self.nodal = factored(run, plan, &posed, about, &self.tables, counts)?;
                iterate = about.clone();
                (before, fresh) = (None, true);
                continue;
            }
            let settled = change < SMALL && rate.is_some_and(|rate| rate > 0.5);
            iterate = next;
            if change <= ROUNDING || change * rate.unwrap_or(1.0) <= ROUNDING || settled {
                return Ok(self.known(t, iterate, correction));
            }
            // A factorization of this very step that does not contract well is soon too old as well.
            fresh &= rate.is_none_or(|rate| rate <= CONTRACTS);
            before = Some(change);
        }
        Err(failed(t, "Newton's method did not converge"))
    }

    fn known(&mut self, t: f64, iterate: InBasis, correction: Correction) -> Known {
        let column = |y: &Vec<f64>| Mat::from_fn(y.len(), 1, |i, _| y[i]);
        let locals = self.nodal.solver.locals.iter();
        let y: Vec<Mat<f64>> = locals.map(|local| column(&iterate.coefficients[local.subdomain])).collect();
        let u = self.nodal.loads(&y);
        let interface = Some(Solver::interface_of(&correction).clone());
        self.last = Some(correction);
        Known { t, u, forcing: None, interface, origin: None, iterate: Some(iterate) }
    }

    /// The solution at a time that lies among the known ones, interpolated between them where it is none of them.
    pub fn moment(&self, known: &Trail, t: f64) -> Result<Moment> {
        let solved: Vec<&Arc<Known>> = known.recent.iter().filter(|known| known.interface.is_some()).collect();
        let times: Vec<f64> = solved.iter().map(|known| known.t).collect();
        let near = nearest(&times, t);
        let weights = lagrange(&times[near.clone()], t);
        let of = |k: usize| -> (&InBasis, &Mat<f64>) {
            let found = solved[k].iterate.as_ref().zip(solved[k].interface.as_ref());
            found.expect("what was solved for has both")
        };
        let (first, values) = of(near.start);
        let (mut iterate, mut u) = (first.plus(-1.0, first), faer::Scale(0.0) * values);
        for (k, w) in near.zip(&weights) {
            let (y, values) = of(k);
            iterate = iterate.plus(*w, y);
            u += faer::Scale(*w) * values;
        }
        let last = self.last.as_ref().expect("a step was solved before anything is known");
        let solution = self.nodal.solver.solution_with(&iterate, last, u)?;
        Ok(Moment { t, solution })
    }
}

/// The problem of a step, linearised about an iterate.
fn factored(
    run: &Run<'_>,
    plan: &Arc<Plan>,
    posed: &Problem,
    about: &InBasis,
    tables: &TableCache,
    counts: &mut TimeReport,
) -> Result<Arc<Nodal>> {
    counts.factorizations += 1;
    let about = Tabulated { decomposition: run.decomposition, known: about, tables };
    let solver = Solver::linearized(plan, posed, &about, run.progress)?;
    Ok(Arc::new(Nodal::new(Arc::new(solver), "time")?))
}

fn failed(t: f64, problem: &str) -> Error {
    Error::Compute { stage: "time", problem: format!("{problem} at t = {t}"), hint: "take smaller steps".into() }
}
