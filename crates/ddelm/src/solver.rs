//! The solver: the stages of Algorithm 1, in order, one call each.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::basis::ReferenceBasis;
use crate::collocation::Collocation;
use crate::decomposition::Decomposition;
use crate::error::{Error, Result};
use crate::exchange::{Exchange, Partition, Serial, agreed};
use crate::features::FeatureNetwork;
use crate::interface::{DirectFactor, Interface, Outcome, Portion, conjugate_gradients, refine};
use crate::lift::Lifted;
use crate::local::{Local, LocalData, LocalFactor, affine};
use crate::map::Point;
use crate::problem::{Data, Problem};
use crate::progress::{Progress, Silent, Stage};
use crate::report::{FeaturesReport, InterfaceReport, Report, Seconds, Status, peak_memory_bytes};
use crate::right_hand_side::{DataRows, RightHandSide};
use crate::settings::{InterfaceSolver, Settings};
use crate::solution::Solution;
use crate::stages::{Assembled, Stages};

/// A factored problem: from here on, sources and boundary values are cheap.
pub struct Solver {
    problem: Problem,
    decomposition: Arc<Decomposition>,
    settings: Settings,
    collocation: Collocation,
    partition: Partition,
    portion: Portion,
    networks: Vec<Arc<FeatureNetwork>>,
    basis: Option<ReferenceBasis>,
    locals: Vec<Local>,
    data_rows: Vec<DataRows>,
    direct: Option<Box<dyn DirectFactor>>,
    exchange: Arc<dyn Exchange>,
    features: FeaturesReport,
    seconds: Seconds,
    warnings: Vec<String>,
}

impl Solver {
    /// Builds and factors the local problems and the interface system.
    pub fn new(problem: &Problem, decomposition: Arc<Decomposition>, settings: &Settings) -> Result<Self> {
        Self::with_progress(problem, decomposition, settings, &Silent)
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
        let stages =
            agreed(exchange.as_ref(), Stages::new(exchange.as_ref(), problem, &decomposition, settings, progress))?;
        let clock = Instant::now();
        let assembled = agreed(exchange.as_ref(), stages.assemble())?;
        let mut seconds = Seconds { assemble: clock.elapsed().as_secs_f64(), ..Seconds::default() };

        let clock = Instant::now();
        let factored = agreed(exchange.as_ref(), stages.factor(&assembled))?;
        let Assembled { networks, rows, basis, .. } = assembled;
        let data_rows = rows.into_iter().map(DataRows::from).collect();
        seconds.factor = clock.elapsed().as_secs_f64();

        let clock = Instant::now();
        progress.begin(Stage::Interface, 1);
        let interface = Interface { portion: &stages.portion, locals: &factored.locals, exchange: exchange.as_ref() };
        let direct = (settings.interface == InterfaceSolver::Direct && decomposition.len() > 1)
            .then(|| interface.factor())
            .transpose()?;
        seconds.interface = clock.elapsed().as_secs_f64();

        let features = stages.features(&factored, exchange.as_ref());
        let networks = match &basis {
            Some(basis) => vec![Arc::new(basis.network.clone())],
            None => stages.all_networks(networks)?,
        };
        let Stages { collocation, partition, portion, .. } = stages;
        let mut solver = Solver {
            problem: problem.clone(),
            decomposition,
            settings: settings.clone(),
            collocation,
            partition,
            portion,
            networks,
            basis,
            locals: factored.locals,
            data_rows,
            direct,
            exchange,
            features,
            seconds,
            warnings: Vec::new(),
        };
        solver.warn_of_rank();
        Ok(solver)
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
        if self.basis.as_ref().is_some_and(|b| b.full_rank > b.rank) && chosen {
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
        let mut seconds = self.seconds;
        let clock = Instant::now();
        progress.begin(Stage::Interface, 1);
        let right_hand_side = RightHandSide {
            equation: &self.problem.equation,
            decomposition: &self.decomposition,
            collocation: &self.collocation,
        };
        let rhs: Vec<Result<Mat<f64>>> = (self.locals.par_iter().zip(&self.data_rows))
            .map(|(l, rows)| right_hand_side.of(l.subdomain, rows, data))
            .collect();
        // The error of the first subdomain that has one, whichever thread was first.
        let rhs: Vec<Mat<f64>> = agreed(exchange, rhs.into_iter().collect::<Result<_>>())?;
        let size: f64 = rhs.iter().map(|f| f.squared_norm_l2()).sum::<f64>();
        let local_data: Vec<LocalData> = by_factor(&self.locals, &rhs, |factor, f| {
            let LocalData { y, n } = factor.data(f);
            [y, n]
        })
        .into_iter()
        .map(|[y, n]| LocalData { y, n })
        .collect();
        let interface = Interface { portion: &self.portion, locals: &self.locals, exchange };
        let sent = exchange.sent();
        let (u, outcome) = match &self.direct {
            _ if self.decomposition.len() == 1 => {
                (Mat::zeros(0, columns), Outcome { converged: true, ..Outcome::default() })
            }
            Some(factor) => {
                refine(&interface, factor.as_ref(), &local_data, columns, self.settings.refinements, progress)?
            }
            None => conjugate_gradients(
                &interface,
                &local_data,
                columns,
                self.settings.tolerance,
                self.settings.max_iterations,
                progress,
            )?,
        };
        seconds.interface += clock.elapsed().as_secs_f64();
        let sent = (exchange.sent() - sent) as f64;

        let clock = Instant::now();
        progress.begin(Stage::Recover, self.locals.len());
        let (ys, residuals): (Vec<Mat<f64>>, Vec<f64>) = (self.locals.par_iter().zip(&local_data))
            .map(|(local, data)| {
                let (factor, values) = (&local.factor, local.pick(u.as_ref()));
                let n = affine(&data.n, factor.n.as_ref(), values.as_ref());
                progress.step();
                (affine(&data.y, factor.y.as_ref(), values.as_ref()), n.squared_norm_l2())
            })
            .unzip();
        let recovered: Vec<Lifted> = by_factor(&self.locals, &ys, |factor, y| {
            let Lifted { coefficients, remainders } = factor.recover(y, self.basis.as_ref());
            [coefficients, remainders]
        })
        .into_iter()
        .map(|[coefficients, remainders]| Lifted { coefficients, remainders })
        .collect();
        seconds.recover = clock.elapsed().as_secs_f64();
        let finite = recovered.iter().all(|c| c.coefficients.norm_max().is_finite()) && u.norm_max().is_finite();
        exchange.agree(if finite { Ok(()) } else { Err(not_finite()) })?;
        let mut sums = [residuals.iter().sum::<f64>(), size, sent];
        exchange.sum(&mut sums);
        let residual = (sums[0] / sums[1].max(f64::MIN_POSITIVE)).sqrt();
        let report = self.report(&outcome, residual, sums[2] as u64, seconds);
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
            })
            .collect())
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
            let subdomains = self.partition.subdomains(rank);
            // All networks have the same number of neurons.
            let pieces = flat.chunks((flat.len() / (subdomains.len() * columns).max(1)).max(1));
            let owners = subdomains.into_iter().flat_map(|s| (0..columns).map(move |k| (s, k)));
            for ((s, k), piece) in owners.zip(pieces) {
                let (coefficients, remainders) = piece.split_at(piece.len() / 2);
                (out[k][0][s], out[k][1][s]) = (coefficients.to_vec(), remainders.to_vec());
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
            self.portion.whole.nodes(&self.decomposition, &self.collocation)
        };
        (0..u.ncols()).map(|k| nodes.iter().map(|&(unknown, point)| (point, whole[(unknown, k)])).collect()).collect()
    }

    /// The report, with the largest seconds and memory over the ranks.
    fn report(&self, outcome: &Outcome, residual: f64, bytes_sent: u64, seconds: Seconds) -> Report {
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
            points: self.settings.points,
            errors: None,
            estimate: None,
            attempts: Vec::new(),
            residual,
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

/// Local problems that are worked on together, if they share a factor. A fixed number, so that the bits do not depend on the
/// number of threads.
const BATCH: usize = 32;

/// Applies a map that its factor gives to the columns of every local problem: one product with many columns costs far less
/// than many with one.
fn by_factor(
    locals: &[Local],
    inputs: &[Mat<f64>],
    map: impl Fn(&LocalFactor, Mat<f64>) -> [Mat<f64>; 2] + Sync,
) -> Vec<[Mat<f64>; 2]> {
    let mut sharing: BTreeMap<*const LocalFactor, Vec<usize>> = BTreeMap::new();
    for (k, local) in locals.iter().enumerate() {
        sharing.entry(Arc::as_ptr(&local.factor)).or_default().push(k);
    }
    let batches: Vec<&[usize]> = sharing.values().flat_map(|members| members.chunks(BATCH)).collect();
    let mut found: Vec<(usize, [Mat<f64>; 2])> = batches
        .par_iter()
        .flat_map_iter(|batch| {
            let first = &inputs[batch[0]];
            let columns = first.ncols();
            let side_by_side =
                Mat::from_fn(first.nrows(), batch.len() * columns, |i, j| inputs[batch[j / columns]][(i, j % columns)]);
            let all = map(&locals[batch[0]].factor, side_by_side);
            let part = move |k: usize| all.each_ref().map(|m| m.subcols(k * columns, columns).to_owned());
            batch.iter().enumerate().map(move |(k, &local)| (local, part(k)))
        })
        .collect();
    found.sort_unstable_by_key(|(local, _)| *local);
    found.into_iter().map(|(_, out)| out).collect()
}

fn not_finite() -> Error {
    Error::Compute {
        stage: "recover",
        problem: "the output coefficients are not finite".into(),
        hint: "try another seed, or fewer neurons".into(),
    }
}
