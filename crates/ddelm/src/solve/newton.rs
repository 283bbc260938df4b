//! Newton's method: a nonlinear problem is solved as a sequence of linear ones.
//!
//! At an iterate u the correction delta solves the problem [linearised](crate::problem::linearize) there, with what u
//! leaves on the right; the interface values are those of u + delta. Then
//!
//! - the step is halved until the residual falls, or, where rows that cannot all hold hide that, until the next
//!   correction by the same factorization is smaller;
//! - the factorization is kept while every step is ten times smaller than the one before;
//! - the last step is one that is rounding, or after which the next would be, by a factorization so near that another one would change
//!   nothing: where rows cannot all hold, the way there would be seen in the solution, and gradients are those of no way.
//!
//! All that is far from the solution is done with fewer points (nested iteration): their solution is so near to the one that is
//! wanted that one or two factorizations with all points are enough. Where fewer points do not converge, all points start from the
//! beginning. Where their solution shows that corners want rings, all points have them.
//!
//! A parameter may be followed from an easy value to the one that is wanted (`solve/newton/continuation.rs`).
//!
//! # References
//!
//! P. Deuflhard, *Newton Methods for Nonlinear Problems*, Springer (2011), section 3.3.

mod continuation;

use std::sync::Arc;

use crate::base::clock::Instant;
use crate::base::error::{Error, Result};
use crate::base::progress::{Progress, stop_if_asked};
use crate::domain::collocation::Nodes;
use crate::domain::decomposition::Decomposition;
use crate::interface::Exchange;
use crate::local::iterate::{InBasis, TableCache, Tabulated};
use crate::method::report::{ContinuationStep, NewtonStart, NewtonStep, NonlinearReport, Seconds, Status};
use crate::method::settings::{InterfaceSolver, Settings, Sharing};
use crate::problem::field::FieldRef;
use crate::problem::model::Problem;
use crate::solution::evaluate::Solution;
use crate::solve::corners::with_corners_at;
use crate::solve::initial;
use crate::solve::plan::Plan;
use crate::solve::solver::Solver;
use crate::solve::solver::correction::{Correction, Remainder};

pub use continuation::{Continuation, Family};

/// How a nonlinear problem is solved.
#[derive(Clone)]
pub struct Nonlinear {
    /// The initial guess; by default the harmonic function with the boundary values of u.
    pub initial: Option<FieldRef>,
    /// Steps of Newton's method, at most.
    pub max_steps: usize,
    /// The relative change of the solution in a step that is the last.
    pub tolerance: f64,
    /// A factorization is kept while a step is smaller than this times the one before; with 0 every step has its own.
    pub reuse: f64,
    /// How the problem is reached from an easier one.
    pub continuation: Option<Continuation>,
    /// Whether to begin with fewer points.
    pub nested: bool,
    /// Whether the decomposition gets rings where the solution with fewer points shows that corners want them, and the settings allow it.
    pub rings: bool,
}

impl Default for Nonlinear {
    fn default() -> Self {
        Nonlinear {
            initial: None,
            max_steps: 50,
            tolerance: 1e-13,
            reuse: 0.1,
            continuation: None,
            nested: true,
            rings: true,
        }
    }
}

impl Nonlinear {
    /// Refuses numbers that make no sense.
    pub fn validate(&self) -> Result<()> {
        if self.max_steps == 0 {
            let problem = "there must be at least one step";
            return Err(Error::input("nonlinear.max_steps", 0, problem, "50 is the default"));
        }
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            let problem = "a relative change lies between 0 and 1";
            return Err(Error::input("nonlinear.tolerance", self.tolerance, problem, "1e-13 is the default"));
        }
        match &self.continuation {
            Some(Continuation { from, to, .. }) if !(from.is_finite() && to.is_finite() && from != to) => {
                let (value, problem) = (format!("{from} to {to}"), "it goes from one number to another");
                Err(Error::input("nonlinear.continuation", value, problem, "for example from = 0, to = 5"))
            }
            _ => Ok(()),
        }
    }
}

/// The points to begin with, as a share of all, the fewest that are worth it, and the relative change in the last step there.
const FEWER: f64 = 0.6;
const FEWEST: usize = 6;
const ROUGH: f64 = 1e-7;

/// The smallest share of a correction that is taken, and of the first one: where u^3 is small beside the source at the initial guess,
/// the first correction may be too long by many orders of magnitude.
const LEAST_DAMPING: f64 = 1.0 / 1024.0;
const LEAST_AT_FIRST: f64 = 1.0 / (1u64 << 40) as f64;

/// A relative change below this is not judged by residuals, which are rounding.
const SMALL: f64 = 1e-10;

/// A relative change below this that the residual does not follow may be rounding: where materials meet in rings corrections have some of it.
const NOISE: f64 = 1e-9;

/// The residual after a step over that before from which on it does not fall.
const STALLED: f64 = 0.9;

/// The way from where a factorization was made times the relative residual, as a share of the tolerance, that needs no other one.
const OF_THE_WAY: f64 = 1e-3;

/// A step that is expected to be followed by one of this size is the last.
const ROUNDING: f64 = 1e-15;

/// Solves a problem once: a linear one directly, others by Newton's method, on a decomposition with more rings where
/// [`Nonlinear::rings`] says so. The solution has it.
pub fn solve_once(
    exchange: &Arc<dyn Exchange>,
    problem: &Problem,
    decomposition: Arc<Decomposition>,
    settings: &Settings,
    nonlinear: &Nonlinear,
    progress: &dyn Progress,
) -> Result<Solution> {
    if !problem.is_nonlinear() {
        return Solver::once(exchange.clone(), problem, decomposition, settings, progress);
    }
    Newton::on(exchange, problem, decomposition, settings, nonlinear, progress)?.solve(problem)
}

impl Nonlinear {
    /// The problem at the last value of the continuation.
    fn target(&self, problem: &Problem) -> Result<Problem> {
        match &self.continuation {
            Some(path) => (path.problem)(path.to),
            None => Ok(problem.clone()),
        }
    }
}

/// Refuses settings with which there are no iterates in a shared basis.
pub(crate) fn check(exchange: &dyn Exchange, settings: &Settings) -> Result<()> {
    if settings.sharing != Sharing::Shared || settings.weights.is_some() || settings.nodes() != Nodes::Chebyshev {
        return Err(Error::input(
            "equation",
            "a nonlinear problem",
            "Newton's method needs features that all subdomains share, and Chebyshev nodes",
            "use preset = \"fast\", without sharing, nodes or weights of your own",
        ));
    }
    if settings.interface != InterfaceSolver::Direct {
        let problem = "Newton's method solves the interface system directly";
        return Err(Error::input("interface.solver", "\"cg\"", problem, "leave it out"));
    }
    if exchange.size() > 1 {
        let problem = "nonlinear problems are solved by one process";
        return Err(Error::input("equation", format!("{} ranks", exchange.size()), problem, "run it without mpirun"));
    }
    Ok(())
}

/// Newton's method on one decomposition.
struct Newton<'a> {
    plan: Arc<Plan>,
    nonlinear: &'a Nonlinear,
    progress: &'a dyn Progress,
    tables: TableCache,
    factorizations: usize,
    seconds: Seconds,
}

/// The last iterate, and how it was reached.
struct Run {
    solver: Solver,
    iterate: InBasis,
    /// The last correction.
    last: Correction,
    steps: Vec<NewtonStep>,
    residual: f64,
    converged: bool,
}

/// A step that was found to help.
struct Step {
    damping: f64,
    iterate: InBasis,
    change: f64,
    rest: Remainder,
}

/// Where Newton's method arrived.
struct Reached {
    run: Run,
    /// The values of a continuation.
    way: Vec<ContinuationStep>,
    /// The value at which a continuation stopped on its way.
    lost: Option<f64>,
}

impl<'a> Newton<'a> {
    fn on(
        exchange: &Arc<dyn Exchange>,
        problem: &Problem,
        decomposition: Arc<Decomposition>,
        settings: &Settings,
        nonlinear: &'a Nonlinear,
        progress: &'a dyn Progress,
    ) -> Result<Self> {
        check(exchange.as_ref(), settings)?;
        nonlinear.validate()?;
        let plan = Plan::on(exchange.clone(), problem, decomposition, settings)?;
        let seconds = Seconds { assemble: plan.seconds, ..Seconds::default() };
        Ok(Newton { plan, nonlinear, progress, tables: TableCache::default(), factorizations: 0, seconds })
    }

    /// Solves, with fewer points first; on more rings where their solution asks for them.
    fn solve(mut self, problem: &Problem) -> Result<Solution> {
        let plain = self.plan.clone();
        match self.by_fewer_points(problem, self.nonlinear.rings) {
            Ok(Some(solution)) => return Ok(solution),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            // Fewer points were too few: all over again.
            Ok(None) | Err(_) => {}
        }
        if !Arc::ptr_eq(&plain, &self.plan) {
            // Or where rings end is too much for a formula.
            (self.plan, self.tables) = (plain, TableCache::default());
            if let Ok(Some(solution)) = self.by_fewer_points(problem, false) {
                return Ok(solution);
            }
        }
        let reached = self.reach(problem)?;
        self.finish(reached, None)
    }

    /// The solution, if it is found from that with fewer points.
    fn by_fewer_points(&mut self, problem: &Problem, rings: bool) -> Result<Option<Solution>> {
        let Some((guess, way, start)) = self.begin(problem, rings)? else { return Ok(None) };
        let target = self.nonlinear.target(problem)?;
        let run = self.run(&target, guess, self.nonlinear.max_steps, self.nonlinear.tolerance)?;
        let reached = Reached { run, way, lost: None };
        if reached.run.converged { self.finish(reached, Some(start)).map(Some) } else { Ok(None) }
    }

    /// A solution with fewer points in the basis of all, the values of a continuation on the way there, and what it took. None
    /// where it is not worth it, or does not converge.
    fn begin(
        &mut self,
        problem: &Problem,
        rings: bool,
    ) -> Result<Option<(InBasis, Vec<ContinuationStep>, NewtonStart)>> {
        let plan = self.plan.clone();
        let Plan { exchange, decomposition, settings, .. } = plan.as_ref();
        let points = (FEWER * settings.points as f64).round() as usize;
        if !self.nonlinear.nested || points < FEWEST {
            return Ok(None);
        }
        let fewer = Settings { points, neurons: None, ..settings.clone() };
        let rough = Nonlinear { tolerance: self.nonlinear.tolerance.max(ROUGH), ..self.nonlinear.clone() };
        let mut few = Newton::on(exchange, problem, decomposition.clone(), &fewer, &rough, self.progress)?;
        let reached = match few.reach(problem) {
            Ok(reached) if reached.run.converged && reached.lost.is_none() => reached,
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Ok(_) | Err(_) => return Ok(None),
        };
        let (way, clock) = (reached.way.clone(), Instant::now());
        let start = NewtonStart { points, steps: reached.run.steps.len(), factorizations: few.factorizations };
        let iterate = reached.run.iterate.clone();
        let guess = match if rings { few.rings(problem, reached)? } else { None } {
            None => {
                let guess = self.plan.fit(&problem.equation)?.carried_over(decomposition, &iterate)?;
                self.seconds.assemble += clock.elapsed().as_secs_f64();
                guess
            }
            Some((ringed, data)) => {
                self.plan = Plan::on(exchange.clone(), problem, Arc::new(ringed), settings)?;
                // The solution itself knows nothing of what is in the rings.
                self.linear(&data)?
            }
        };
        self.spend(few.seconds, Seconds::default());
        Ok(Some((guess, way, start)))
    }

    /// The decomposition with the rings that are asked for where Newton's method has arrived, if there are any more, and the linear problem
    /// with the coefficients there.
    fn rings(&mut self, problem: &Problem, reached: Reached) -> Result<Option<(Decomposition, Problem)>> {
        let target = self.nonlinear.target(problem)?;
        let data = target.at_state(&(Arc::new(self.finish(reached, None)?) as FieldRef));
        let Plan { decomposition, settings, .. } = self.plan.as_ref();
        let ringed = with_corners_at(&target, &data, decomposition, settings)?;
        Ok(ringed.map(|ringed| (ringed, data)))
    }

    /// Solves from the initial guess, by way of a continuation where there is one.
    fn reach(&mut self, problem: &Problem) -> Result<Reached> {
        match &self.nonlinear.continuation {
            None => {
                let guess = self.initial(problem)?;
                let run = self.run(problem, guess, self.nonlinear.max_steps, self.nonlinear.tolerance)?;
                Ok(Reached { run, way: Vec::new(), lost: None })
            }
            Some(continuation) => self.follow(continuation),
        }
    }

    fn tabulated<'t>(&'t self, known: &'t InBasis) -> Tabulated<'t> {
        Tabulated { decomposition: &self.plan.decomposition, known, tables: &self.tables }
    }

    /// The initial guess.
    fn initial(&mut self, problem: &Problem) -> Result<InBasis> {
        self.linear(&initial::guess(problem, self.nonlinear.initial.as_ref()))
    }

    /// The solution of a linear problem.
    fn linear(&mut self, problem: &Problem) -> Result<InBasis> {
        let solution = Solver::once_planned(self.plan.with(problem)?, problem, 0.0, self.progress)?;
        self.factorizations += 1;
        self.spend(solution.report.seconds, Seconds::default());
        Ok(solution.in_basis.expect("the basis is shared and there is one rank"))
    }

    /// Adds seconds by stage, without those that were counted before.
    fn spend(&mut self, all: Seconds, before: Seconds) {
        self.seconds.assemble += all.assemble - before.assemble;
        self.seconds.factor += all.factor - before.factor;
        self.seconds.interface += all.interface - before.interface;
        self.seconds.recover += all.recover - before.recover;
    }

    /// Linearises and factors the problem at an iterate, which goes on in the bases of the solver.
    fn factor(&mut self, problem: &Problem, iterate: &mut InBasis) -> Result<Solver> {
        let solver = Solver::linearized(&self.plan, problem, &self.tabulated(iterate), self.progress)?;
        solver.adopt(iterate);
        self.factorizations += 1;
        self.spend(solver.seconds(), Seconds::default());
        Ok(solver)
    }

    /// The remainder at an iterate.
    fn remainder(&mut self, solver: &Solver, iterate: &InBasis) -> Result<Remainder> {
        let clock = Instant::now();
        let rest = solver.remainder(&self.tabulated(iterate));
        self.seconds.assemble += clock.elapsed().as_secs_f64();
        rest
    }

    fn correct(&mut self, solver: &Solver, rest: &Remainder) -> Result<Correction> {
        let correction = solver.correct(rest, self.progress)?;
        self.spend(correction.seconds(), solver.seconds());
        Ok(correction)
    }

    /// Another factorization, at the iterate, and the remainder in its units.
    fn renew(&mut self, problem: &Problem, old: Solver, iterate: &mut InBasis) -> Result<(Solver, Remainder)> {
        // Two at once would take twice the memory.
        drop(old);
        let solver = self.factor(problem, iterate)?;
        let rest = self.remainder(&solver, iterate)?;
        Ok((solver, rest))
    }

    /// Newton's method from an iterate.
    fn run(&mut self, problem: &Problem, mut iterate: InBasis, max_steps: usize, tolerance: f64) -> Result<Run> {
        let mut solver = self.factor(problem, &mut iterate)?;
        let mut rest = self.remainder(&solver, &iterate)?;
        let (mut steps, mut fresh): (Vec<NewtonStep>, bool) = (Vec::new(), true);
        // How far the iterate has gone from where it was factored, and whether that was where it had converged.
        let (mut way, mut settled) = (0.0, false);
        loop {
            stop_if_asked(self.progress)?;
            let last = self.correct(&solver, &rest)?;
            // By a factorization that is not new it is the whole or nothing.
            let least = if !fresh { 1.0 } else { [LEAST_DAMPING, LEAST_AT_FIRST][usize::from(steps.is_empty())] };
            let Some(step) = self.search(&solver, &iterate, &rest, &last, least)? else {
                if fresh {
                    let residual = relative(&rest);
                    return Ok(Run { solver, iterate, last, steps, residual, converged: false });
                }
                (solver, rest) = self.renew(problem, solver, &mut iterate)?;
                (fresh, way) = (true, 0.0);
                continue;
            };
            let before = steps.last().copied();
            let Step { damping, change, .. } = step;
            steps.push(NewtonStep { residual: relative(&rest), change, damping, factored: fresh });
            let stalls = relative(&step.rest) > STALLED * relative(&rest);
            (iterate, rest) = (step.iterate, step.rest);
            way += change;
            let rate = before.filter(|b| b.damping == 1.0 && damping == 1.0).map(|b| change / b.change);
            let converged = damping == 1.0 && is_last(change, rate, tolerance, stalls);
            // Rows that cannot all hold are left as a factorization weighs them: the solution is that by its own.
            let its_own = settled || way * relative(&rest) <= OF_THE_WAY * tolerance;
            if converged && its_own || steps.len() >= max_steps {
                return Ok(Run { solver, iterate, last, steps, residual: relative(&rest), converged });
            }
            fresh = false;
            let contracts = match rate {
                _ if converged => false,
                Some(rate) => rate <= self.nonlinear.reuse,
                // Nobody knows yet.
                None => damping == 1.0 && self.nonlinear.reuse > 0.0,
            };
            if !contracts {
                (solver, rest) = self.renew(problem, solver, &mut iterate)?;
                (fresh, way, settled) = (true, 0.0, converged);
            }
        }
    }

    /// The largest share of a correction that helps, no less than `least`.
    fn search(
        &mut self,
        solver: &Solver,
        iterate: &InBasis,
        rest: &Remainder,
        correction: &Correction,
        least: f64,
    ) -> Result<Option<Step>> {
        let delta = &correction.delta;
        let size = solver.norm_of(&self.tabulated(delta));
        let mut damping = 1.0;
        while damping >= least {
            let next = iterate.plus(damping, delta);
            let whole = solver.norm_of(&self.tabulated(&next));
            let change = if whole > 0.0 { damping * size / whole } else { 0.0 };
            match self.remainder(solver, &next) {
                Ok(found) if self.helps(solver, rest, &found, damping, change, size)? => {
                    return Ok(Some(Step { damping, iterate: next, change, rest: found }));
                }
                // Where coefficients are not numbers, or no diffusion is left, the step was too long.
                Ok(_) | Err(Error::NotFinite { .. } | Error::Input { .. }) => {}
                Err(other) => return Err(other),
            }
            damping *= 0.5;
        }
        Ok(None)
    }

    /// Whether a step helps: the residual falls, or the next correction is smaller than this one, of the given size.
    fn helps(
        &mut self,
        solver: &Solver,
        before: &Remainder,
        after: &Remainder,
        damping: f64,
        change: f64,
        size: f64,
    ) -> Result<bool> {
        if change < SMALL || after.norm < (1.0 - 1e-4 * damping) * before.norm {
            return Ok(after.norm.is_finite());
        }
        if !after.norm.is_finite() {
            return Ok(false);
        }
        let next = self.correct(solver, after)?;
        Ok(solver.norm_of(&self.tabulated(&next.delta)) <= (1.0 - 0.25 * damping) * size)
    }

    /// The solution with its report.
    fn finish(&mut self, reached: Reached, start: Option<NewtonStart>) -> Result<Solution> {
        let Reached { run: Run { solver, iterate, last, steps, residual, converged }, way: continuation, lost } =
            reached;
        let spent = last.seconds();
        let mut solution = solver.solution_of(&iterate, last)?;
        let report = &mut solution.report;
        self.spend(report.seconds, spent);
        let Seconds { assemble, factor, interface, recover, .. } = self.seconds;
        report.seconds = Seconds { total: assemble + factor + interface + recover, ..self.seconds };
        if !converged {
            report.status = Status::NotConverged;
        }
        let factorizations = self.factorizations;
        report.nonlinear = Some(NonlinearReport { steps, factorizations, start, residual, continuation });
        if let (Some(path), Some(value)) = (&self.nonlinear.continuation, lost) {
            report.warnings.push(format!(
                "the continuation stopped at {} = {value}, on the way from {} to {}: there may be no solution beyond",
                path.parameter, path.from, path.to
            ));
        }
        Ok(solution)
    }
}

/// Whether a whole step of this size, and of this size relative to the one before, is the last. The residual may stall.
fn is_last(change: f64, rate: Option<f64>, tolerance: f64, stalls: bool) -> bool {
    let next = rate.map_or(f64::INFINITY, |rate| change * rate);
    let small = change < SMALL || stalls && change < NOISE;
    let stagnates = small && rate.is_some_and(|rate| rate > 0.5);
    change <= tolerance || next <= ROUNDING || stagnates
}

/// The size of a remainder relative to the terms that should cancel in it.
fn relative(rest: &Remainder) -> f64 {
    if rest.size > 0.0 { rest.norm / rest.size } else { rest.norm }
}
