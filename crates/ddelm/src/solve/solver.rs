//! The solver: the stages of Algorithm 1, in order, one call each.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::base::clock::Instant;
use crate::base::error::{Error, Result};
use crate::base::progress::{Progress, Silent, Stage};
use crate::domain::collocation::Collocations;
use crate::domain::decomposition::Decomposition;
use crate::domain::gluing::fold_at;
use crate::domain::map::{Point, determinant};
use crate::domain::shape::PerShape;
use crate::exchange::Serial;
use crate::interface::{
    DirectFactor, Exchange, Interface, Outcome, Partition, Portion, agreed, conjugate_gradients, refine,
};
use crate::local::about::Iterate;
use crate::local::basis::ReferenceBasis;
use crate::local::iterate::InBasis;
use crate::local::lift::Lifted;
use crate::local::local_factor::{BATCH, Local, LocalData, LocalFactor, affine, part_of, product, side_by_side};
use crate::local::operator::Scene;
use crate::local::right_hand_side::{DataRows, RightHandSide};
use crate::method::report::{FeaturesReport, InterfaceReport, Report, Seconds, Status, peak_memory_bytes};
use crate::method::settings::{InterfaceSolver, Settings};
use crate::network::features::{FeatureNetwork, Networks};
use crate::problem::model::{Data, Problem};
use crate::solution::evaluate::Solution;
use crate::solve::floating;
use crate::solve::stages::{Assembled, Factored, RightHandSides, Stages};

pub(crate) mod correction;

/// A factored problem: from here on, sources and boundary values are cheap.
pub struct Solver {
    problem: Problem,
    decomposition: Arc<Decomposition>,
    settings: Settings,
    pub(crate) collocations: Collocations,
    partition: Partition,
    portion: Portion,
    networks: Networks<Arc<FeatureNetwork>>,
    pub(crate) bases: Option<PerShape<Arc<ReferenceBasis>>>,
    pub(crate) locals: Vec<Local>,
    pub(crate) data_rows: Vec<DataRows>,
    direct: Option<Box<dyn DirectFactor>>,
    exchange: Arc<dyn Exchange>,
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
        Self::build(exchange, problem, decomposition, settings, Purpose::Any, progress).map(|(solver, _)| solver)
    }

    /// A nonlinear problem, linearised about an iterate: what corrections are solved with.
    pub(crate) fn linearized(
        exchange: Arc<dyn Exchange>,
        problem: &Problem,
        decomposition: Arc<Decomposition>,
        settings: &Settings,
        iterate: &dyn Iterate,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let purpose = Purpose::Correction(iterate);
        Self::build(exchange, problem, decomposition, settings, purpose, progress).map(|(solver, _)| solver)
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
        let data = [problem.data()];
        let purpose = Purpose::Known(&data);
        let (solver, known) = Self::build(exchange, problem, decomposition, settings, purpose, progress)?;
        Ok(solver.finish(&known, 1, 0.0, progress)?.swap_remove(0))
    }

    /// Builds and factors the local problems and the interface system. Where the data are known, the data of the local problems
    /// are returned.
    fn build(
        exchange: Arc<dyn Exchange>,
        problem: &Problem,
        decomposition: Arc<Decomposition>,
        settings: &Settings,
        purpose: Purpose<'_>,
        progress: &dyn Progress,
    ) -> Result<(Self, KnownData)> {
        let (data, about) = match purpose {
            Purpose::Any => (None, None),
            Purpose::Known(data) => (Some(data), None),
            Purpose::Correction(iterate) => (None, Some(iterate)),
        };
        let scene = Scene { problem, decomposition: &decomposition, about };
        let stages = agreed(exchange.as_ref(), Stages::new(exchange.as_ref(), scene, settings, progress))?;
        agreed(exchange.as_ref(), check_maps(&decomposition, &stages.collocations))?;
        let clock = Instant::now();
        let mut assembled = agreed(exchange.as_ref(), stages.assemble())?;
        let mut seconds = Seconds { assemble: clock.elapsed().as_secs_f64(), ..Seconds::default() };

        let clock = Instant::now();
        let data_rows: Vec<DataRows> = assembled.rows.iter_mut().map(DataRows::taken_from).collect();
        let right_hand_side = RightHandSide {
            equation: &problem.equation,
            decomposition: &decomposition,
            collocations: &stages.collocations,
        };
        let size = Mutex::new(vec![0.0; data_rows.len()]);
        let mine = &stages.portion.subdomains;
        let columns: Vec<Data> = data
            .unwrap_or_default()
            .iter()
            .map(|data| stages.balanced(exchange.as_ref(), data))
            .collect::<Result<_>>()?;
        let columns = &columns;
        let known = |k: usize| {
            let f = right_hand_side.of(mine[k], &data_rows[k], columns)?;
            size.lock().unwrap_or_else(PoisonError::into_inner)[k] = f.squared_norm_l2();
            Ok(f)
        };
        let known: Option<&RightHandSides<'_>> = if data.is_some() { Some(&known) } else { None };
        let Factored { locals, data: local_data, factorizations } =
            agreed(exchange.as_ref(), stages.factor(&assembled, known))?;
        let Assembled { networks, bases, rows, .. } = assembled;
        drop(rows);
        let size = size.into_inner().unwrap_or_else(PoisonError::into_inner).iter().sum();
        seconds.factor = clock.elapsed().as_secs_f64();

        let clock = Instant::now();
        progress.begin(Stage::Interface, 1);
        let coupling = settings.coupling();
        let pinned = pinned(problem, &decomposition);
        let interface =
            Interface { portion: &stages.portion, locals: &locals, exchange: exchange.as_ref(), coupling, pinned };
        let direct = (settings.interface == InterfaceSolver::Direct && decomposition.len() > 1)
            .then(|| interface.factor())
            .transpose()?;
        seconds.interface = clock.elapsed().as_secs_f64();

        let features = stages.features(&locals, factorizations, exchange.as_ref());
        let networks = match &bases {
            Some(bases) => Networks::Shared(bases.clone().map(|basis| Arc::new(basis.network.clone()))),
            None => stages.all_networks(networks)?,
        };
        let Stages { collocations, partition, portion, .. } = stages;
        let mut solver = Solver {
            problem: problem.clone(),
            decomposition,
            settings: settings.clone(),
            collocations,
            partition,
            portion,
            networks,
            bases,
            locals,
            data_rows,
            direct,
            exchange,
            features,
            seconds,
            warnings: Vec::new(),
        };
        solver.warn_of_rank();
        Ok((solver, KnownData { local: local_data, size }))
    }

    /// The problem as it was given.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The settings as they were given.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The decomposition.
    pub fn decomposition(&self) -> &Arc<Decomposition> {
        &self.decomposition
    }

    /// Says when the rank guard had to act on what the user chose, and when there is no guard but should be.
    fn warn_of_rank(&mut self) {
        let (rank, rows) = (self.features.rank.max, self.features.rows);
        let chosen = self.settings.neurons.is_some() || self.settings.scale.is_some() || self.settings.c.is_some();
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
        let (columns, exchange) = (data.len(), self.exchange.as_ref());
        if columns == 0 {
            return Ok(Vec::new());
        }
        let clock = Instant::now();
        let balanced = |data: &Data| match self.problem.mean {
            None => Ok(data.clone()),
            Some(_) => floating::balanced(
                exchange,
                &self.problem,
                &self.decomposition,
                &self.collocations,
                &self.portion.subdomains,
                data,
            ),
        };
        let data: Vec<Data> = data.iter().map(balanced).collect::<Result<_>>()?;
        let right_hand_side = self.right_hand_side();
        let rhs: Vec<Result<Mat<f64>>> = (self.locals.par_iter().zip(&self.data_rows))
            .map(|(l, rows)| right_hand_side.of(l.subdomain, rows, &data))
            .collect();
        // The error of the first subdomain that has one, whichever thread was first.
        let rhs: Vec<Mat<f64>> = agreed(exchange, rhs.into_iter().collect::<Result<_>>())?;
        let known = self.known(&rhs);
        self.finish(&known, columns, clock.elapsed().as_secs_f64(), progress)
    }

    /// What turns data into right-hand sides.
    pub(crate) fn right_hand_side(&self) -> RightHandSide<'_> {
        RightHandSide {
            equation: &self.problem.equation,
            decomposition: &self.decomposition,
            collocations: &self.collocations,
        }
    }

    /// The solutions for right-hand sides F of the local problems, one for each column.
    pub(crate) fn solutions_of(&self, rhs: &[Mat<f64>], progress: &dyn Progress) -> Result<Vec<Solution>> {
        let clock = Instant::now();
        let known = self.known(rhs);
        self.finish(&known, rhs[0].ncols(), clock.elapsed().as_secs_f64(), progress)
    }

    /// The coefficients y of the local problems in their bases for right-hand sides F, without going on to the neurons:
    /// what a loop over solves needs.
    pub(crate) fn coefficients_of(&self, rhs: &[Mat<f64>], progress: &dyn Progress) -> Result<Vec<Mat<f64>>> {
        let known = self.known(rhs);
        let (u, _) = self.interface_values(&known.local, rhs[0].ncols(), progress)?;
        let recovered = (self.locals.par_iter().zip(&known.local))
            .map(|(local, data)| affine(&data.y, local.factor.y.as_ref(), local.pick(u.as_ref()).as_ref()));
        Ok(recovered.collect())
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
        progress: &dyn Progress,
    ) -> Result<(Mat<f64>, Outcome)> {
        let exchange = self.exchange.as_ref();
        let (coupling, pinned) = (self.settings.coupling(), pinned(&self.problem, &self.decomposition));
        let interface = Interface { portion: &self.portion, locals: &self.locals, exchange, coupling, pinned };
        match &self.direct {
            _ if self.decomposition.len() == 1 => {
                Ok((Mat::zeros(0, columns), Outcome { converged: true, ..Outcome::default() }))
            }
            Some(factor) => refine(&interface, factor.as_ref(), data, columns, self.settings.refinements, progress),
            None => conjugate_gradients(
                &interface,
                data,
                columns,
                self.settings.tolerance,
                self.settings.max_iterations,
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
        let (exchange, local_data) = (self.exchange.as_ref(), &known.local);
        let mut seconds = self.seconds;
        let clock = Instant::now();
        progress.begin(Stage::Interface, 1);
        let sent = exchange.sent();
        let (mut u, outcome) = self.interface_values(local_data, columns, progress)?;
        seconds.interface += spent + clock.elapsed().as_secs_f64();
        let sent = (exchange.sent() - sent) as f64;

        let clock = Instant::now();
        progress.begin(Stage::Recover, self.locals.len());
        if let Some(mean) = self.problem.mean {
            self.shift_to_mean(&mut u, local_data, mean);
        }
        let (ys, rests): (Vec<Mat<f64>>, Vec<Rest>) = (self.locals.par_iter().zip(local_data))
            .map(|(local, data)| {
                let (factor, values) = (&local.factor, local.pick(u.as_ref()));
                progress.step();
                (affine(&data.y, factor.y.as_ref(), values.as_ref()), Rest::new(local, data, &values))
            })
            .unzip();
        seconds.recover = clock.elapsed().as_secs_f64();
        Ok(Coupled { u, ys, rests, outcome, size: known.size, sent, seconds })
    }

    /// The interface as an operator.
    fn interface(&self) -> Interface<'_> {
        let (exchange, coupling) = (self.exchange.as_ref(), self.settings.coupling());
        let pinned = pinned(&self.problem, &self.decomposition);
        Interface { portion: &self.portion, locals: &self.locals, exchange, coupling, pinned }
    }

    /// Recovers the networks of the subdomains, and reports.
    fn recover(&self, found: &Coupled, columns: usize) -> Result<Vec<Solution>> {
        let Coupled { u, ys, rests, outcome, size, sent, seconds } = found;
        let (exchange, clock, mut seconds) = (self.exchange.as_ref(), Instant::now(), *seconds);
        let recovered: Vec<Lifted> = by_factor(&self.locals, |factor, batch| {
            let all = side_by_side(&batch.iter().map(|&k| &ys[k]).collect::<Vec<_>>());
            let shape = self.decomposition.subdomains[self.locals[batch[0]].subdomain].map.shape();
            let basis = self.bases.as_ref().map(|bases| bases.of(shape).as_ref());
            let Lifted { coefficients, remainders } = factor.recover(all, basis);
            (0..batch.len())
                .map(|k| Lifted {
                    coefficients: part_of(&coefficients, k, columns),
                    remainders: part_of(&remainders, k, columns),
                })
                .collect()
        });
        seconds.recover += clock.elapsed().as_secs_f64();
        let finite = recovered.iter().all(|c| c.coefficients.norm_max().is_finite()) && u.norm_max().is_finite();
        exchange.agree(if finite { Ok(()) } else { Err(not_finite()) })?;
        let mut sums = [rests.iter().map(|rest| rest.residual).sum::<f64>(), *size, *sent];
        exchange.sum(&mut sums);
        let largest = |value: fn(&Rest) -> f64| rests.iter().map(value).fold(0.0, f64::max);
        let mut flows = [largest(|rest| rest.imbalance), largest(|rest| rest.flow)];
        exchange.max(&mut flows);
        let residual = (sums[0] / sums[1].max(f64::MIN_POSITIVE)).sqrt();
        let conserves = self.collocations.any().conserves();
        let conservation = conserves.then_some(if flows[1] > 0.0 { flows[0] / flows[1] } else { 0.0 });
        let report = self.report(outcome, residual, conservation, sums[2] as u64, seconds);
        let mut in_basis = self.in_basis(ys, columns).into_iter();
        let coefficients = self.gather_coefficients(&recovered, columns);
        let values = self.gather_interface(u.as_ref());
        Ok(coefficients
            .into_iter()
            .zip(values)
            .map(|([coefficients, remainders], interface)| Solution {
                decomposition: self.decomposition.clone(),
                networks: self.networks.clone(),
                coefficients,
                remainders,
                interface,
                report: report.clone(),
                in_basis: in_basis.next(),
            })
            .collect())
    }

    /// Adds a constant to the interface values of every right-hand side so that the solution has this mean.
    fn shift_to_mean(&self, u: &mut Mat<f64>, data: &[LocalData], mean: f64) {
        let bases = self.bases.as_ref().expect("a mean is fixed with shared features");
        let shapes = self.decomposition.shapes();
        let table = |shape| {
            Ok::<_, Infallible>(bases.of(shape).derivatives(&self.collocations.of(shape).integration.inside, &[0]))
        };
        let Ok(tables) = PerShape::new(&shapes, table);
        let integral = |(local, data): (&Local, &LocalData)| -> Vec<f64> {
            let map = self.decomposition.subdomains[local.subdomain].map.as_ref();
            let (rule, table) = (&self.collocations.of(map.shape()).integration, tables.of(map.shape()));
            let y = affine(&data.y, local.factor.y.as_ref(), local.pick(u.as_ref()).as_ref());
            let values = product(table.as_ref(), y.as_ref());
            let area = |(&xi, w): (&Point, &f64)| w * determinant(map.jacobian(xi));
            let areas: Vec<f64> = rule.inside.iter().zip(&rule.inside_weights).map(area).collect();
            let sum = |k: usize| values.col_as_slice(k).iter().zip(&areas).map(|(u, a)| u * a).sum();
            (0..values.ncols()).map(sum).chain([areas.iter().sum()]).collect()
        };
        let parts: Vec<Vec<f64>> = self.locals.par_iter().zip(data).map(integral).collect();
        let mut sums = vec![0.0; u.ncols() + 1];
        parts.iter().for_each(|part| sums.iter_mut().zip(part).for_each(|(sum, value)| *sum += value));
        self.exchange.sum(&mut sums);
        for k in 0..u.ncols() {
            let shift = mean - sums[k] / sums[u.ncols()];
            u.col_mut(k).iter_mut().for_each(|value| *value += shift);
        }
    }

    /// The coefficients in the basis for every right-hand side, where one process has them all; nothing elsewhere.
    fn in_basis(&self, ys: &[Mat<f64>], columns: usize) -> Vec<InBasis> {
        let Some(bases) = self.bases.as_ref().filter(|_| self.exchange.size() == 1) else { return Vec::new() };
        let column = |k: usize| {
            let mut coefficients = vec![Vec::new(); ys.len()];
            for (local, y) in self.locals.iter().zip(ys) {
                coefficients[local.subdomain] = y.col_as_slice(k).to_vec();
            }
            InBasis { bases: bases.clone(), coefficients }
        };
        (0..columns).map(column).collect()
    }

    /// The output coefficients and their remainders for every right-hand side: of all subdomains on rank 0, of its own
    /// on another.
    fn gather_coefficients<'a>(&self, mine: &'a [Lifted], columns: usize) -> Vec<[Vec<Vec<f64>>; 2]> {
        let mut mine: Vec<(usize, &Lifted)> = self.portion.subdomains.iter().copied().zip(mine).collect();
        mine.sort_by_key(|c| c.0);
        let column = |c: &'a Lifted, k| [c.coefficients.col_as_slice(k), c.remainders.col_as_slice(k)];
        let flat: Vec<f64> =
            (mine.iter()).flat_map(|&(_, c)| (0..columns).flat_map(move |k| column(c, k))).flatten().copied().collect();
        let mut out = vec![[(); 2].map(|()| vec![Vec::new(); self.decomposition.len()]); columns];
        let mut place = |rank: usize, flat: &[f64]| {
            let mut rest = flat;
            for s in self.partition.subdomains(rank) {
                let count = self.networks.of(self.decomposition.subdomains[s].map.shape(), s).columns();
                for out in out.iter_mut() {
                    let (piece, others) = rest.split_at(2 * count);
                    let (coefficients, remainders) = piece.split_at(count);
                    (out[0][s], out[1][s]) = (coefficients.to_vec(), remainders.to_vec());
                    rest = others;
                }
            }
        };
        let parts = self.exchange.gather(&flat);
        match parts.is_empty() {
            true => place(self.exchange.rank(), &flat),
            false => parts.iter().enumerate().for_each(|(rank, part)| place(rank, part)),
        }
        out
    }

    /// The values of u at the interface nodes for every right-hand side, on rank 0.
    fn gather_interface(&self, u: MatRef<'_, f64>) -> Vec<Vec<(Point, f64)>> {
        let owned = || self.portion.owned().iter().cloned().flatten();
        // The numbers of the unknowns go along as the first column.
        let mut flat: Vec<f64> = self.portion.owned_in_whole().map(|unknown| unknown as f64).collect();
        (0..u.ncols()).for_each(|k| flat.extend(owned().map(|i| u[(i, k)])));
        let mut whole = Mat::zeros(self.portion.whole.unknowns(), u.ncols());
        let parts = self.exchange.gather(&flat);
        for part in parts.iter().filter(|part| !part.is_empty()) {
            let columns: Vec<&[f64]> = part.chunks(part.len() / (u.ncols() + 1)).collect();
            for (k, values) in columns[1..].iter().enumerate() {
                columns[0].iter().zip(*values).for_each(|(&i, &value)| whole[(i as usize, k)] = value);
            }
        }
        let nodes = if parts.is_empty() {
            Vec::new()
        } else {
            self.portion.whole.nodes(&self.decomposition, &self.collocations.any().side)
        };
        (0..u.ncols()).map(|k| nodes.iter().map(|&(unknown, point)| (point, whole[(unknown, k)])).collect()).collect()
    }

    /// The report, with the largest seconds and memory over the ranks.
    fn report(
        &self,
        outcome: &Outcome,
        residual: f64,
        conservation: Option<f64>,
        bytes_sent: u64,
        seconds: Seconds,
    ) -> Report {
        let memory = peak_memory_bytes();
        let Seconds { assemble, factor, interface, recover, .. } = seconds;
        let mut largest = [assemble, factor, interface, recover, memory.unwrap_or(0) as f64];
        self.exchange.max(&mut largest);
        let [assemble, factor, interface, recover, peak] = largest;
        let total = assemble + factor + interface + recover;
        let seconds = Seconds { assemble, factor, interface, recover, total, ..seconds };
        let direct = self.direct.is_some();
        let mut warnings = self.warnings.clone();
        if direct && outcome.last_correction > 1e-6 {
            warnings.push(format!(
                "the last refinement step changed the interface values by {:.1e}: the interface system is nearly singular",
                outcome.last_correction
            ));
        }
        Report {
            status: if outcome.converged { Status::Solved } else { Status::MaxIterations },
            method: self.settings.method,
            subdomains: self.decomposition.len(),
            rings: self.decomposition.ring_vertices().len(),
            points: self.settings.points,
            errors: None,
            estimate: None,
            attempts: Vec::new(),
            integrals: Default::default(),
            eigenvalues: Vec::new(),
            time: None,
            nonlinear: None,
            residual,
            conservation,
            interface: InterfaceReport {
                unknowns: self.portion.whole.unknowns(),
                solver: self.settings.interface,
                iterations: outcome.iterations,
                refinements: outcome.refinements,
                last_correction: direct.then_some(outcome.last_correction),
                relative_residual: (!direct && self.decomposition.len() > 1).then_some(outcome.relative_residual),
                factor_nonzeros: self.direct.as_ref().map(|f| f.nonzeros()),
                bytes_sent,
            },
            features: self.features.clone(),
            seconds,
            peak_memory_bytes: memory.map(|_| peak as u64),
            warnings,
        }
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
    /// These data: the local factors are good for them only, and take far less memory.
    Known(&'a [Data]),
    /// Corrections of an iterate of a nonlinear problem.
    Correction(&'a dyn Iterate),
}

/// The interface values, and the subdomains in the coordinates of their factors: one column per right-hand side.
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

/// What the solution of a local problem leaves.
struct Rest {
    /// The square of its residual.
    residual: f64,
    /// The imbalance of its fluxes, the largest over the right-hand sides.
    imbalance: f64,
    /// What flows through its interfaces, or is fed by its source: the largest over the right-hand sides.
    flow: f64,
}

impl Rest {
    fn new(local: &Local, data: &LocalData, values: &Mat<f64>) -> Self {
        let factor = &local.factor;
        let residual = affine(&data.n, factor.n.as_ref(), values.as_ref()).squared_norm_l2();
        let Some(scale) = factor.balance else {
            return Rest { residual, imbalance: 0.0, flow: 0.0 };
        };
        let flux = affine(&data.flux, factor.d.as_ref(), values.as_ref());
        let last = flux.nrows() - 1;
        let largest = |of: &dyn Fn(usize) -> f64| (0..flux.ncols()).map(of).fold(0.0, f64::max);
        // Fluxes at Gauss nodes times root weight times length are not the flow, but of its size.
        let through = |k: usize| {
            let flows = local.fluxes.iter().zip(&local.lengths).map(|(&row, length)| (flux[(row, k)] * length).abs());
            flows.sum::<f64>().max((data.load[k] / scale).abs())
        };
        Rest {
            residual,
            imbalance: largest(&|k| ((flux[(last, k)] - data.load[k]) / scale).abs()),
            flow: largest(&through),
        }
    }
}

/// The subdomain in which the first interface value is fixed, where a constant is open.
fn pinned(problem: &Problem, decomposition: &Decomposition) -> Option<usize> {
    problem.mean.and(decomposition.edges.first()).map(|edge| edge.sides[0].subdomain)
}

/// Refuses a map that folds at a node.
fn check_maps(decomposition: &Decomposition, collocations: &Collocations) -> Result<()> {
    let folded = |s: usize| {
        let map = decomposition.subdomains[s].map.as_ref();
        let collocation = collocations.of(map.shape());
        let nodes = collocation.interior.iter().copied().chain(collocation.perimeter.iter().map(|node| node.xi));
        fold_at(map, nodes).map(|(xi, det)| (s, map.point(xi), det))
    };
    let curved = |s: &usize| decomposition.subdomains[*s].map.affine().is_none();
    let subdomains: Vec<usize> = (0..decomposition.len()).filter(curved).collect();
    match subdomains.par_iter().filter_map(|&s| folded(s)).min_by_key(|found| found.0) {
        None => Ok(()),
        Some((s, [x, y], det)) => Err(Error::input(
            "decomposition",
            format!("{} subdomains", decomposition.len()),
            format!("the Jacobian of subdomain {s} is {det:.3e} at its node x = {x}, y = {y}: the map folds"),
            "every map has a positive Jacobian",
        )),
    }
}

fn not_finite() -> Error {
    Error::Compute {
        stage: "recover",
        problem: "the output coefficients are not finite".into(),
        hint: "try another seed, or fewer neurons".into(),
    }
}
