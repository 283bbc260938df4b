//! The solver: the stages of Algorithm 1, in order, one call each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use faer::Mat;
use rayon::prelude::*;

use crate::base::clock::Instant;
use crate::base::error::{Error, Result};
use crate::base::parallel::in_order;
use crate::base::progress::{Progress, Silent, Stage};
use crate::domain::decomposition::Decomposition;
use crate::domain::shape::PerShape;
use crate::exchange::Serial;
use crate::interface::{
    DirectFactor, Exchange, Guess, Interface, Outcome, Over, Refinement, agreed, conjugate_gradients,
};
use crate::local::about::Iterate;
use crate::local::basis::ReferenceBasis;
use crate::local::image::Image;
use crate::local::local_factor::{BATCH, Local, LocalData, LocalFactor, affine};
use crate::local::places::Scene;
use crate::local::right_hand_side::{DataRows, RightHandSide};
use crate::local::rows::LocalRows;
use crate::method::report::{FeaturesReport, Seconds};
use crate::method::settings::{Coupling, InterfaceSolver, Settings};
use crate::network::features::{FeatureNetwork, Networks};
use crate::problem::model::{Data, Problem};
use crate::solution::evaluate::Solution;
use crate::solve::floating;
use crate::solve::kept::Kept;
use crate::solve::plan::Plan;
use crate::solve::stages::{Assembled, Factored, RightHandSides, Stages};

pub mod adjoint;
pub(crate) mod correction;
mod recovery;

use recovery::Rest;

/// A factored problem: from here on, sources and boundary values are cheap.
pub struct Solver {
    pub(crate) plan: Arc<Plan>,
    problem: Problem,
    networks: Networks<Arc<FeatureNetwork>>,
    pub(crate) bases: Option<PerShape<Arc<ReferenceBasis>>>,
    pub(crate) locals: Vec<Local>,
    pub(crate) data_rows: Vec<DataRows>,
    /// The rows of local problems whose factors cannot tell residuals; nothing where all can.
    images: Vec<Image>,
    direct: Option<Box<dyn DirectFactor>>,
    features: FeaturesReport,
    seconds: Seconds,
    warnings: Vec<String>,
}

impl Solver {
    /// Builds and factors the local problems and the interface system. The decomposition may be shared with others, in an
    /// [`Arc`].
    pub fn new(problem: &Problem, decomposition: impl Into<Arc<Decomposition>>, settings: &Settings) -> Result<Self> {
        Self::with_progress(problem, decomposition.into(), settings, &Silent)
    }

    /// [`Solver::new`] with a listener.
    pub fn with_progress(
        problem: &Problem,
        decomposition: Arc<Decomposition>,
        settings: &Settings,
        progress: &dyn Progress,
    ) -> Result<Self> {
        Self::on(Arc::new(Serial), problem, decomposition, settings, progress)
    }

    /// [`Solver::new`] on a parallel machine, with a listener.
    pub fn on(
        exchange: Arc<dyn Exchange>,
        problem: &Problem,
        decomposition: Arc<Decomposition>,
        settings: &Settings,
        progress: &dyn Progress,
    ) -> Result<Self> {
        refuse_nonlinear(exchange.as_ref(), problem)?;
        let plan = Plan::on(exchange, problem, decomposition, settings)?;
        let spent = plan.seconds;
        Ok(Self::build(plan, problem, Purpose::Any, spent, progress)?.0)
    }

    /// A solver on a plan that was made before, for this problem or another on the same subdomains. It has the same bits as a
    /// new one.
    pub fn planned(plan: &Arc<Plan>, problem: &Problem, progress: &dyn Progress) -> Result<Self> {
        refuse_nonlinear(plan.exchange.as_ref(), problem)?;
        Ok(Self::build(plan.with(problem)?, problem, Purpose::Any, 0.0, progress)?.0)
    }

    /// The solver of another problem on the same subdomains: its numbers take the place of those of this one, in the same
    /// memory. It has the same bits as a new one. Data that differ need no other solver, see [`Solver::solve_many`].
    pub fn update(self, problem: &Problem) -> Result<Self> {
        self.update_with_progress(problem, &Silent)
    }

    /// [`Solver::update`] with a listener.
    pub fn update_with_progress(self, problem: &Problem, progress: &dyn Progress) -> Result<Self> {
        let plan = self.plan.clone();
        // Two at once would take twice the memory.
        drop(self);
        Self::planned(&plan, problem, progress)
    }

    /// A nonlinear problem, linearised about an iterate: what corrections are solved with.
    pub(crate) fn linearized(
        plan: &Arc<Plan>,
        problem: &Problem,
        iterate: &dyn Iterate,
        progress: &dyn Progress,
    ) -> Result<Self> {
        Ok(Self::build(plan.with(problem)?, problem, Purpose::Correction(iterate), 0.0, progress)?.0)
    }

    /// Solves a problem once. Its factors are forgotten on the way, so that it takes far less memory than a solver that can be
    /// used again.
    pub fn once(
        exchange: Arc<dyn Exchange>,
        problem: &Problem,
        decomposition: Arc<Decomposition>,
        settings: &Settings,
        progress: &dyn Progress,
    ) -> Result<Solution> {
        refuse_nonlinear(exchange.as_ref(), problem)?;
        let plan = Plan::on(exchange, problem, decomposition, settings)?;
        let spent = plan.seconds;
        Self::once_planned(plan, problem, spent, progress)
    }

    /// [`Solver::once`] in a loop whose last solve may have left factors.
    pub(crate) fn once_with(
        kept: &Kept,
        exchange: Arc<dyn Exchange>,
        problem: &Problem,
        decomposition: Arc<Decomposition>,
        settings: &Settings,
        progress: &dyn Progress,
    ) -> Result<Solution> {
        let plan = Plan::on(exchange, problem, decomposition, settings)?;
        let spent = plan.seconds;
        Self::for_data(plan, problem, Some(kept), spent, progress)
    }

    /// [`Solver::once`] on a plan, which took so many seconds.
    pub(crate) fn once_planned(
        plan: Arc<Plan>,
        problem: &Problem,
        spent: f64,
        progress: &dyn Progress,
    ) -> Result<Solution> {
        Self::for_data(plan, problem, None, spent, progress)
    }

    /// Solves for the data of the problem.
    fn for_data(
        plan: Arc<Plan>,
        problem: &Problem,
        kept: Option<&Kept>,
        spent: f64,
        progress: &dyn Progress,
    ) -> Result<Solution> {
        let data = [problem.data()];
        let (solver, known) = Self::build(plan, problem, Purpose::Known(&data, kept), spent, progress)?;
        Ok(solver.finish(&known, 1, 0.0, progress)?.swap_remove(0))
    }

    /// Builds and factors the local problems and the interface system on a plan, which took so many seconds. Where the data
    /// are known, the data of the local problems are returned.
    fn build(
        plan: Arc<Plan>,
        problem: &Problem,
        purpose: Purpose<'_>,
        spent: f64,
        progress: &dyn Progress,
    ) -> Result<(Self, KnownData)> {
        let (data, about, kept) = match purpose {
            Purpose::Any => (None, None, None),
            Purpose::Known(data, kept) => (Some(data), None, kept),
            Purpose::Correction(iterate) => (None, Some(iterate), None),
        };
        let Plan { exchange, decomposition, collocations, portion, .. } = plan.as_ref();
        let exchange = exchange.as_ref();
        let clock = Instant::now();
        let stages = Stages { plan: &plan, scene: Scene { problem, decomposition, about }, progress, kept };
        let assembled = agreed(exchange, stages.assemble())?;
        let mut seconds = Seconds { assemble: spent + clock.elapsed().as_secs_f64(), ..Seconds::default() };

        let clock = Instant::now();
        let data_rows = stages.data_rows(&assembled);
        let right_hand_side = RightHandSide { equation: &problem.equation, decomposition, collocations };
        let size = Mutex::new(vec![0.0; data_rows.len()]);
        let columns: Vec<Data> =
            data.unwrap_or_default().iter().map(|data| balanced(&plan, problem, data)).collect::<Result<_>>()?;
        let known = |k: usize| {
            let f = right_hand_side.of(portion.subdomains[k], &data_rows[k], &columns)?;
            size.lock().unwrap_or_else(PoisonError::into_inner)[k] = f.squared_norm_l2();
            Ok(f)
        };
        let known: Option<&RightHandSides<'_>> = if data.is_some() { Some(&known) } else { None };
        let Factored { locals, data: local_data, factorizations } = agreed(exchange, stages.factor(&assembled, known))?;
        let Assembled { bases, rows, .. } = assembled;
        let evaluated =
            local_data.iter().any(|data| data.f.ncols() > 0) || rows.iter().any(|rows| rows.tests.is_some());
        let image = |rows: Arc<LocalRows>| Image::taken_from(Arc::unwrap_or_clone(rows));
        let images = if evaluated { rows.into_iter().map(image).collect() } else { Vec::new() };
        let size = size.into_inner().unwrap_or_else(PoisonError::into_inner).iter().sum();
        seconds.factor = clock.elapsed().as_secs_f64();

        let features = stages.features(&locals, factorizations);
        let networks = match &bases {
            Some(bases) => Networks::Shared(bases.clone().map(|basis| Arc::new(basis.network.clone()))),
            None => plan.all_networks(&problem.equation)?,
        };
        let problem = problem.clone();
        let (direct, warnings) = (None, Vec::new());
        let mut solver =
            Solver { plan, problem, networks, bases, locals, data_rows, images, direct, features, seconds, warnings };
        solver.factor_interface(progress)?;
        solver.warn_of_rank();
        Ok((solver, KnownData { local: local_data, size }))
    }

    /// Factors the interface system, where it is solved directly.
    fn factor_interface(&mut self, progress: &dyn Progress) -> Result<()> {
        let clock = Instant::now();
        progress.begin(Stage::Interface, 1);
        if self.plan.settings.interface == InterfaceSolver::Direct && self.plan.decomposition.len() > 1 {
            self.direct = Some(self.interface().factor(progress)?);
        }
        self.seconds.interface = clock.elapsed().as_secs_f64();
        Ok(())
    }

    /// What depends on no coefficient.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The problem as it was given.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The settings as they were given.
    pub fn settings(&self) -> &Settings {
        &self.plan.settings
    }

    /// The decomposition.
    pub fn decomposition(&self) -> &Arc<Decomposition> {
        &self.plan.decomposition
    }

    /// Says when the rank guard had to act on what the user chose, and when there is no guard but should be.
    fn warn_of_rank(&mut self) {
        let (rank, rows) = (self.features.rank.max, self.features.rows);
        let chosen = self.plan.settings.neurons.is_some()
            || self.plan.settings.scale.is_some()
            || self.plan.settings.c.is_some();
        let limited = |bases: &PerShape<Arc<ReferenceBasis>>| bases.iter().any(|(_, b)| b.full_rank > b.rank);
        if self.bases.as_ref().is_some_and(limited) && chosen {
            self.warnings.push(format!(
                "more than {rank} of the features are independent on {rows} rows: the rank was limited to {rank}, \
                 because a rank close to the rows loses all accuracy (fewer neurons or a smaller scale avoid this)"
            ));
        } else if rank as f64 > 0.95 * rows as f64 {
            self.warnings.push(format!(
                "rank {rank} leaves too few of the {rows} rows to spare: the solution may be wrong without a sign \
                 (use fewer neurons, or more points)"
            ));
        }
    }

    /// Solves for the source and boundary values of the problem.
    pub fn solve(&self) -> Result<Solution> {
        let mut solutions = self.solve_many(&[self.problem.data()], &Silent)?;
        Ok(solutions.swap_remove(0))
    }

    /// Solves for several sources and boundary values at once.
    pub fn solve_many(&self, data: &[Data], progress: &dyn Progress) -> Result<Vec<Solution>> {
        let (columns, exchange) = (data.len(), self.plan.exchange.as_ref());
        if columns == 0 {
            return Ok(Vec::new());
        }
        let clock = Instant::now();
        let data: Vec<Data> =
            data.iter().map(|data| balanced(&self.plan, &self.problem, data)).collect::<Result<_>>()?;
        let right_hand_side = self.right_hand_side();
        let rhs =
            (self.locals.par_iter().zip(&self.data_rows)).map(|(l, rows)| right_hand_side.of(l.subdomain, rows, &data));
        let rhs = agreed(exchange, in_order(rhs))?;
        let known = self.known(&rhs);
        self.finish(&known, columns, clock.elapsed().as_secs_f64(), progress)
    }

    /// What turns data into right-hand sides.
    pub(crate) fn right_hand_side(&self) -> RightHandSide<'_> {
        RightHandSide {
            equation: &self.problem.equation,
            decomposition: &self.plan.decomposition,
            collocations: &self.plan.collocations,
        }
    }

    /// The solutions for right-hand sides F of the local problems, one for each column.
    pub(crate) fn solutions_of(&self, rhs: &[Mat<f64>], progress: &dyn Progress) -> Result<Vec<Solution>> {
        let clock = Instant::now();
        let known = self.known(rhs);
        self.finish(&known, rhs[0].ncols(), clock.elapsed().as_secs_f64(), progress)
    }

    /// The coefficients y of the local problems in their bases for right-hand sides F, without going on to the neurons:
    /// what a loop over solves needs. The interface values come along, and how they were found.
    pub(crate) fn coefficients_of(
        &self,
        rhs: &[Mat<f64>],
        guess: Option<Guess>,
        progress: &dyn Progress,
    ) -> Result<(Vec<Mat<f64>>, Mat<f64>, Outcome)> {
        let known = self.known(rhs);
        let (u, outcome) = self.interface_values(&known.local, rhs[0].ncols(), guess, progress)?;
        let recovered = (self.locals.par_iter().zip(&known.local))
            .map(|(local, data)| affine(&data.y, local.factor.y.as_ref(), local.pick(u.as_ref()).as_ref()));
        Ok((recovered.collect(), u, outcome))
    }

    /// Whether the interface values are those that balance the fluxes, found directly by one process.
    pub(crate) fn balances_directly(&self) -> bool {
        let Plan { decomposition, exchange, settings, .. } = self.plan.as_ref();
        let direct = self.direct.is_some() || decomposition.len() == 1;
        direct && exchange.size() == 1 && settings.coupling() == Coupling::FluxBalance && self.problem.mean.is_none()
    }

    /// The number of jumps of fluxes.
    pub(crate) fn jumps(&self) -> usize {
        self.plan.portion.len(Over::Jumps)
    }

    /// The interface values that balance given jumps of the fluxes; see [`Solver::balances_directly`]. `squares` are those of the
    /// sizes of the solutions inside, one for each column.
    pub(crate) fn balance(
        &self,
        jumps: Mat<f64>,
        squares: &[f64],
        guess: Option<Guess>,
        progress: &dyn Progress,
    ) -> Result<(Mat<f64>, Outcome)> {
        match &self.direct {
            Some(factor) => {
                let (interface, steps) = (&self.interface(), self.plan.settings.refinements);
                Refinement { interface, factor: factor.as_ref(), steps, progress }.solve_jumps(&jumps, squares, guess)
            }
            None => Ok((Mat::zeros(0, jumps.ncols()), Outcome { converged: true, ..Outcome::default() })),
        }
    }

    /// The entries of the right-hand sides of some local problems that data enter, with boundary values or without, in order.
    pub(crate) fn data_entries(&self, locals: &[usize], conditions: bool) -> Vec<usize> {
        let rows: BTreeSet<usize> = locals.iter().flat_map(|&k| self.data_rows[k].entries(conditions)).collect();
        rows.into_iter().collect()
    }

    /// The data of the local problems for right-hand sides F.
    fn known(&self, rhs: &[Mat<f64>]) -> KnownData {
        let local = by_factor(&self.locals, |factor, batch| {
            factor.data_of(&batch.iter().map(|&k| &rhs[k]).collect::<Vec<_>>())
        });
        KnownData { local, size: rhs.iter().map(|f| f.squared_norm_l2()).sum() }
    }

    /// Solves for the interface values.
    fn interface_values(
        &self,
        data: &[LocalData],
        columns: usize,
        guess: Option<Guess>,
        progress: &dyn Progress,
    ) -> Result<(Mat<f64>, Outcome)> {
        let (interface, settings) = (self.interface(), &self.plan.settings);
        match &self.direct {
            _ if self.plan.decomposition.len() == 1 => {
                Ok((Mat::zeros(0, columns), Outcome { converged: true, ..Outcome::default() }))
            }
            Some(factor) => {
                let (factor, steps) = (factor.as_ref(), settings.refinements);
                Refinement { interface: &interface, factor, steps, progress }.solve(data, columns, guess)
            }
            None => conjugate_gradients(
                &interface,
                data,
                columns,
                settings.interface_tolerance,
                settings.max_iterations,
                progress,
            ),
        }
    }

    /// Solves for the interface values and recovers the subdomains, from the data of the local problems, which took so many
    /// seconds.
    fn finish(&self, known: &KnownData, columns: usize, spent: f64, progress: &dyn Progress) -> Result<Vec<Solution>> {
        let found = self.couple(known, columns, spent, progress)?;
        self.recover(&found, columns)
    }

    /// Solves for the interface values, and for the subdomains in the coordinates of their factors.
    fn couple(&self, known: &KnownData, columns: usize, spent: f64, progress: &dyn Progress) -> Result<Coupled> {
        let (exchange, local_data) = (self.plan.exchange.as_ref(), &known.local);
        let mut seconds = self.seconds;
        let clock = Instant::now();
        progress.begin(Stage::Interface, 1);
        let sent = exchange.sent();
        let (mut u, outcome) = self.interface_values(local_data, columns, None, progress)?;
        seconds.interface += spent + clock.elapsed().as_secs_f64();
        let sent = (exchange.sent() - sent) as f64;

        let clock = Instant::now();
        progress.begin(Stage::Recover, self.locals.len());
        if let Some(mean) = self.problem.mean {
            self.shift_to_mean(&mut u, local_data, mean);
        }
        let (ys, mut rests): (Vec<Mat<f64>>, Vec<Rest>) = (self.locals.par_iter().zip(local_data))
            .map(|(local, data)| {
                let (factor, values) = (&local.factor, local.pick(u.as_ref()));
                progress.step();
                (affine(&data.y, factor.y.as_ref(), values.as_ref()), Rest::new(local, data, &values))
            })
            .unzip();
        self.add_evaluated(&u, &ys, local_data, &mut rests);
        seconds.recover = clock.elapsed().as_secs_f64();
        Ok(Coupled { u, ys, rests, outcome, size: known.size, sent, seconds })
    }

    /// The interface as an operator.
    fn interface(&self) -> Interface<'_> {
        let (exchange, coupling) = (self.plan.exchange.as_ref(), self.plan.settings.coupling());
        let pinned = pinned(&self.problem, &self.plan.decomposition);
        Interface { portion: &self.plan.portion, locals: &self.locals, exchange, coupling, pinned }
    }
}

/// What a factor gives for the local problems that share it, in the order of the local problems: `of` takes the numbers of some
/// of them.
fn by_factor<T: Send>(locals: &[Local], of: impl Fn(&LocalFactor, &[usize]) -> Vec<T> + Sync) -> Vec<T> {
    let mut sharing: BTreeMap<*const LocalFactor, Vec<usize>> = BTreeMap::new();
    for (k, local) in locals.iter().enumerate() {
        sharing.entry(Arc::as_ptr(&local.factor)).or_default().push(k);
    }
    let batches: Vec<&[usize]> = sharing.values().flat_map(|members| members.chunks(BATCH)).collect();
    let mut found: Vec<(usize, T)> = batches
        .par_iter()
        .flat_map_iter(|batch| batch.iter().copied().zip(of(&locals[batch[0]].factor, batch)))
        .collect();
    found.sort_unstable_by_key(|(local, _)| *local);
    found.into_iter().map(|(_, out)| out).collect()
}

/// What a solver is built for.
enum Purpose<'a> {
    /// Any data.
    Any,
    /// These data: the local factors are good for them only, and take far less memory. Some may be there from the last solve.
    Known(&'a [Data], Option<&'a Kept>),
    /// Corrections of an iterate of a nonlinear problem.
    Correction(&'a dyn Iterate),
}

/// The interface values, and the subdomains in the coordinates of their factors: one column per right-hand side.
#[derive(Clone)]
struct Coupled {
    u: Mat<f64>,
    ys: Vec<Mat<f64>>,
    rests: Vec<Rest>,
    outcome: Outcome,
    /// The sum of the squares of the right-hand sides of the local problems.
    size: f64,
    /// Bytes that were sent on the way.
    sent: f64,
    seconds: Seconds,
}

/// The data of the local problems.
struct KnownData {
    local: Vec<LocalData>,
    /// The sum of the squares of their right-hand sides.
    size: f64,
}

/// The subdomain in which the first interface value is fixed, where a constant is open.
fn pinned(problem: &Problem, decomposition: &Decomposition) -> Option<usize> {
    problem.mean.and(decomposition.edges.first()).map(|edge| edge.sides[0].subdomain)
}

/// Data with a source that balances the fluxes on the boundary, where a constant is open.
fn balanced(plan: &Plan, problem: &Problem, data: &Data) -> Result<Data> {
    let Plan { exchange, decomposition, collocations, portion, .. } = plan;
    match problem.mean {
        None => Ok(data.clone()),
        Some(_) => {
            floating::balanced(exchange.as_ref(), problem, decomposition, collocations, &portion.subdomains, data)
        }
    }
}

/// Refuses a problem that one factorization cannot solve.
fn refuse_nonlinear(exchange: &dyn Exchange, problem: &Problem) -> Result<()> {
    let refused = || {
        let problem = "it depends on u, and a solver has the factors of a linear problem";
        Error::input("equation", "a nonlinear problem", problem, "use Case::solve, or newton::solve_once")
    };
    agreed(exchange, if problem.is_nonlinear() { Err(refused()) } else { Ok(()) })
}
