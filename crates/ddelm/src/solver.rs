//! The solver: the stages of Algorithm 1, in order, one call each.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;
use std::time::Instant;

use faer::Mat;
use rayon::prelude::*;

use crate::basis::ReferenceBasis;
use crate::collocation::{Collocation, Gather, Numbering};
use crate::decomposition::Decomposition;
use crate::error::{Error, Result};
use crate::exchange::{Exchange, Serial};
use crate::features::{Distribution, FeatureNetwork};
use crate::interface::{DirectFactor, Interface, Outcome, conjugate_gradients, refine};
use crate::local::{Columns, Local, LocalData, LocalFactor, affine};
use crate::map::Point;
use crate::operator::{EdgeScale, LocalRows, PerimeterRow, Sample, Weights, edge_scale, local_rows, part_name};
use crate::problem::{Data, Equation, Problem};
use crate::progress::{Progress, Silent, Stage};
use crate::report::{FeaturesReport, InterfaceReport, Report, Seconds, Span, Status, peak_memory_bytes};
use crate::settings::{InterfaceSolver, Method, Settings, Sharing};
use crate::solution::Solution;

/// Smallest singular direction of the reference basis that is kept, relative to the largest.
const BASIS_CUT: f64 = 1e-15;

/// A factored problem: from here on, sources and boundary values are cheap.
pub struct Solver {
    problem: Problem,
    decomposition: Arc<Decomposition>,
    settings: Settings,
    collocation: Collocation,
    numbering: Numbering,
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

/// What turns data into a right-hand side: the scales of the rows and what they say.
struct DataRows {
    interior_scale: Vec<f64>,
    perimeter_scale: Vec<f64>,
    perimeter_kind: Vec<PerimeterRow>,
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
        settings.validate()?;
        problem.validate(decomposition.parts)?;
        let pairs = problem.equation.pairs();
        let collocation = Collocation::new(settings.nodes, settings.points);
        check_sizes(settings, &collocation, pairs, decomposition.len())?;
        let numbering = Numbering::new(&decomposition, &collocation, pairs);
        let weights = if settings.scaled_rows { Weights::default_for(&problem.equation) } else { Weights::Unit };
        let mine: Vec<usize> = exchange.subdomains(decomposition.len()).collect();

        let clock = Instant::now();
        progress.begin(Stage::Assemble, mine.len());
        let networks = networks(settings, &problem.equation, &decomposition, &mine)?;
        let scales: Vec<EdgeScale> = decomposition
            .edges
            .par_iter()
            .map(|edge| edge_scale(problem, &decomposition, &collocation, weights, edge))
            .collect::<Result<_>>()?;
        let rows: Vec<LocalRows> = mine
            .par_iter()
            .map(|&s| {
                stop_if_asked(progress)?;
                let rows = local_rows(problem, &decomposition, &collocation, weights, &scales, s);
                progress.step();
                rows
            })
            .collect::<Result<_>>()?;
        let basis = (settings.sharing == Sharing::Shared)
            .then(|| {
                let needed = needed_derivatives(&rows);
                let cut = settings.cut.unwrap_or(BASIS_CUT);
                let needed = [&needed[0][..], &needed[1][..]];
                ReferenceBasis::new(&networks[0], &collocation, pairs, weights, settings.truncation, cut, needed)
            })
            .transpose()?;
        let mut seconds = Seconds { assemble: clock.elapsed().as_secs_f64(), ..Seconds::default() };

        let clock = Instant::now();
        let places: Vec<Gather> = mine.iter().map(|&s| numbering.gather(&decomposition, &collocation, s)).collect();
        let classes = classes(&rows, basis.is_some());
        progress.begin(Stage::Factor, classes.len());
        let factors: Vec<(Arc<LocalFactor>, Vec<usize>, Vec<usize>)> = classes
            .par_iter()
            .map(|members| {
                stop_if_asked(progress)?;
                let union = |pick: fn(&Gather) -> &[(usize, usize)]| -> Vec<usize> {
                    let rows: BTreeSet<usize> = members.iter().flat_map(|&k| pick(&places[k])).map(|p| p.0).collect();
                    rows.into_iter().collect()
                };
                let (trace_rows, flux_rows) = (union(|g| &g.unknowns), union(|g| &g.fluxes));
                let columns = match &basis {
                    Some(basis) => Columns::Basis(basis),
                    None => Columns::Features {
                        network: &networks[if networks.len() == 1 { 0 } else { members[0] }],
                        truncation: settings.truncation,
                        cut: settings.cut,
                        guarded: settings.scaled_rows,
                    },
                };
                let factor = LocalFactor::new(columns, &collocation, &rows[members[0]], weights, &trace_rows, &flux_rows);
                progress.step();
                Ok((Arc::new(factor.map_err(|e| at_subdomain(e, mine[members[0]]))?), trace_rows, flux_rows))
            })
            .collect::<Result<_>>()?;
        let locals = place_locals(&mine, &places, &classes, &factors, &scales, &numbering);
        let data_rows = rows
            .into_iter()
            .map(|r| DataRows {
                interior_scale: r.interior_scale,
                perimeter_scale: r.perimeter_scale,
                perimeter_kind: r.perimeter_kind,
            })
            .collect();
        seconds.factor = clock.elapsed().as_secs_f64();

        let clock = Instant::now();
        progress.begin(Stage::Interface, 1);
        let direct = (settings.interface == InterfaceSolver::Direct && numbering.unknowns() > 0)
            .then(|| Interface { numbering: &numbering, locals: &locals, exchange: exchange.as_ref() }.factor())
            .transpose()?;
        seconds.interface = clock.elapsed().as_secs_f64();

        let rank = |f: fn(usize, usize) -> usize, start: usize| factors.iter().map(|x| x.0.rank()).fold(start, f);
        let features = FeaturesReport {
            neurons: settings.neurons(),
            scale: settings.scale_for(&problem.equation),
            rows: collocation.rows(pairs),
            rank: Span { min: rank(usize::min, usize::MAX), max: rank(usize::max, 0) },
            factorizations: factors.len(),
        };
        let networks = match &basis {
            Some(basis) => vec![Arc::new(basis.network.clone())],
            None => networks.into_iter().map(Arc::new).collect(),
        };
        let mut solver = Solver {
            problem: problem.clone(),
            decomposition,
            settings: settings.clone(),
            collocation,
            numbering,
            networks,
            basis,
            locals,
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
        let columns = data.len();
        let mut seconds = self.seconds;
        let clock = Instant::now();
        progress.begin(Stage::Interface, 1);
        let rhs: Vec<Mat<f64>> = (0..self.locals.len())
            .into_par_iter()
            .map(|k| self.right_hand_side(k, data))
            .collect::<Result<_>>()?;
        let size: f64 = rhs.iter().map(|f| f.squared_norm_l2()).sum::<f64>();
        let local_data: Vec<LocalData> =
            self.locals.par_iter().zip(rhs).map(|(local, f)| local.factor.data(f)).collect();
        let interface =
            Interface { numbering: &self.numbering, locals: &self.locals, exchange: self.exchange.as_ref() };
        let (u, outcome) = match (&self.direct, self.numbering.unknowns()) {
            (_, 0) => (Mat::zeros(0, columns), Outcome { converged: true, ..Outcome::default() }),
            (Some(factor), _) => {
                refine(&interface, factor.as_ref(), &local_data, columns, self.settings.refinements, progress)?
            }
            (None, _) => conjugate_gradients(
                &interface,
                &local_data,
                columns,
                self.settings.tolerance,
                self.settings.max_iterations,
                progress,
            )?,
        };
        seconds.interface += clock.elapsed().as_secs_f64();

        let clock = Instant::now();
        progress.begin(Stage::Recover, self.locals.len());
        let recovered: Vec<(Mat<f64>, f64)> = self
            .locals
            .par_iter()
            .zip(&local_data)
            .map(|(local, data)| {
                let (factor, values) = (&local.factor, local.pick(u.as_ref()));
                let y = affine(&data.y, factor.y.as_ref(), values.as_ref());
                let n = affine(&data.n, factor.n.as_ref(), values.as_ref());
                progress.step();
                (factor.recover(y, self.basis.as_ref()), n.squared_norm_l2())
            })
            .collect();
        seconds.recover = clock.elapsed().as_secs_f64();
        seconds.total = seconds.assemble + seconds.factor + seconds.interface + seconds.recover;
        if recovered.iter().any(|(c, _)| !c.norm_max().is_finite()) || !u.norm_max().is_finite() {
            return Err(Error::Compute {
                stage: "recover",
                problem: "the output coefficients are not finite".into(),
                hint: "try another seed, or fewer neurons".into(),
            });
        }
        let residual = (recovered.iter().map(|r| r.1).sum::<f64>() / size.max(f64::MIN_POSITIVE)).sqrt();
        let report = self.report(&outcome, residual, seconds);
        let nodes = self.interface_nodes();
        Ok((0..columns)
            .map(|k| Solution {
                decomposition: self.decomposition.clone(),
                networks: self.networks.clone(),
                coefficients: recovered.iter().map(|(c, _)| c.col_as_slice(k).to_vec()).collect(),
                interface: nodes.iter().map(|&(unknown, point)| (point, u[(unknown, k)])).collect(),
                report: report.clone(),
            })
            .collect())
    }

    fn report(&self, outcome: &Outcome, residual: f64, seconds: Seconds) -> Report {
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
                unknowns: self.numbering.unknowns(),
                solver: self.settings.interface,
                iterations: outcome.iterations,
                refinements: outcome.refinements,
                last_correction: direct.then_some(outcome.last_correction),
                relative_residual: (!direct && self.numbering.unknowns() > 0).then_some(outcome.relative_residual),
                factor_nonzeros: self.direct.as_ref().map(|f| f.nonzeros()),
            },
            features: self.features.clone(),
            seconds,
            peak_memory_bytes: peak_memory_bytes(),
            warnings,
        }
    }

    /// F of local problem k, one column for each set of data.
    fn right_hand_side(&self, k: usize, data: &[Data]) -> Result<Mat<f64>> {
        let (s, rows) = (self.locals[k].subdomain, &self.data_rows[k]);
        let map = self.decomposition.subdomains[s].map.as_ref();
        let inside = self.collocation.interior.len();
        let interior = Sample::new(map, self.collocation.interior.iter().copied());
        let rigidity = match &self.problem.equation {
            Equation::Plate { rigidity } => Some(interior.values(rigidity.as_ref(), "equation.plate.rigidity", s)?),
            Equation::SecondOrder { .. } => None,
        };
        let mut f = Mat::zeros(inside + rows.perimeter_scale.len(), data.len());
        for (column, data) in data.iter().enumerate() {
            let out = f.col_as_slice_mut(column);
            let mut source = interior.values(data.source.as_ref(), "equation.source", s)?;
            if let Some(rigidity) = &rigidity {
                source.iter_mut().zip(rigidity).for_each(|(q, d)| *q /= d);
            }
            out.iter_mut().zip(source).zip(&rows.interior_scale).for_each(|((o, f), scale)| *o = scale * f);
            self.boundary_values(rows, data, s, &mut out[inside..])?;
        }
        Ok(f)
    }

    /// The boundary values in the perimeter rows of subdomain s.
    fn boundary_values(&self, rows: &DataRows, data: &Data, s: usize, out: &mut [f64]) -> Result<()> {
        let map = self.decomposition.subdomains[s].map.as_ref();
        let per = self.collocation.perimeter.len();
        let mut wanted: HashMap<(usize, usize), Vec<usize>> = HashMap::new();
        for (row, kind) in rows.perimeter_kind.iter().enumerate() {
            if let PerimeterRow::Condition { part, index } = *kind {
                wanted.entry((part, index)).or_default().push(row);
            }
        }
        for ((part, index), at) in wanted {
            let sample = Sample::new(map, at.iter().map(|&row| self.collocation.perimeter[row % per].xi));
            let values = sample.values(data.boundary[part][index].as_ref(), &part_name(&self.decomposition, part), s)?;
            for (&row, value) in at.iter().zip(values) {
                out[row] = rows.perimeter_scale[row] * value;
            }
        }
        Ok(())
    }

    /// The unknowns that are values of u, and where they are.
    fn interface_nodes(&self) -> Vec<(usize, Point)> {
        let per = self.collocation.perimeter.len();
        let mut nodes: HashMap<usize, Point> = HashMap::new();
        for &s in self.locals.iter().map(|l| &l.subdomain) {
            let map = self.decomposition.subdomains[s].map.as_ref();
            let gather = self.numbering.gather(&self.decomposition, &self.collocation, s);
            for (row, unknown) in gather.unknowns.into_iter().filter(|(row, _)| *row < per) {
                nodes.entry(unknown).or_insert_with(|| map.point(self.collocation.perimeter[row].xi));
            }
        }
        let mut nodes: Vec<(usize, Point)> = nodes.into_iter().collect();
        nodes.sort_by_key(|n| n.0);
        nodes
    }
}

fn stop_if_asked(progress: &dyn Progress) -> Result<()> {
    if progress.interrupted() { Err(Error::Interrupted) } else { Ok(()) }
}

fn at_subdomain(error: Error, s: usize) -> Error {
    match error {
        Error::Compute { stage, problem, hint } => {
            Error::Compute { stage, problem: format!("subdomain {s}: {problem}"), hint }
        }
        other => other,
    }
}

/// Refuses networks with more neurons than rows, and more than one subdomain for the classical method.
pub(crate) fn check_sizes(settings: &Settings, collocation: &Collocation, pairs: usize, subdomains: usize) -> Result<()> {
    let (rows, neurons) = (collocation.rows(pairs), settings.neurons());
    if neurons > rows {
        return Err(Error::input(
            "discretization.neurons",
            neurons,
            format!("{} points give only {rows} rows per subdomain, fewer than the neurons", settings.points),
            format!("use at most {} neurons, or more points", settings.points * settings.points),
        ));
    }
    if settings.method == Method::Elm && subdomains != 1 {
        return Err(Error::input(
            "discretization.subdomains",
            format!("{subdomains} subdomains"),
            "method = \"elm\" has one network for the whole domain",
            "use subdomains = [1, 1], or method = \"schur\"",
        ));
    }
    Ok(())
}

/// The hidden layers of the subdomains: one, or one each.
fn networks(
    settings: &Settings,
    equation: &Equation,
    decomposition: &Decomposition,
    mine: &[usize],
) -> Result<Vec<FeatureNetwork>> {
    let map = |s: usize| decomposition.subdomains[s].map.affine();
    if let Some(given) = &settings.weights {
        let (m, count) = (given.neurons, decomposition.len());
        if given.w.len() != count * 2 * m || given.b.len() != count * m {
            return Err(Error::input(
                "network.weights",
                format!("w with {} numbers, b with {}", given.w.len(), given.b.len()),
                format!("{count} subdomains with {m} neurons need {} and {}", count * 2 * m, count * m),
                "w has the shape (subdomains, 2, neurons) and b (subdomains, neurons)",
            ));
        }
        return mine
            .iter()
            .map(|&s| {
                let (w, b) = (&given.w[2 * m * s..2 * m * (s + 1)], &given.b[m * s..m * (s + 1)]);
                FeatureNetwork::from_physical(settings.activation, [&w[..m], &w[m..]], b, map(s))
            })
            .collect();
    }
    let distribution = Distribution {
        activation: settings.activation,
        initialization: settings.initialization,
        scale: settings.scale_for(equation),
        radius: settings.radius,
    };
    let sample = |s: usize| FeatureNetwork::sample(&distribution, settings.neurons(), settings.seed, s, map(s));
    match settings.sharing {
        Sharing::Shared => Ok(vec![sample(0)?]),
        Sharing::Independent => mine.par_iter().map(|&s| sample(s)).collect(),
    }
}

/// The derivatives that some row needs at interior and at perimeter nodes.
fn needed_derivatives(rows: &[LocalRows]) -> [Vec<usize>; 2] {
    let union = |sets: &mut dyn Iterator<Item = usize>| -> Vec<usize> {
        sets.collect::<BTreeSet<usize>>().into_iter().collect()
    };
    [
        union(&mut rows.iter().flat_map(|r| r.interior.active())),
        union(&mut rows.iter().flat_map(|r| r.perimeter.active().chain(r.flux.active()))),
    ]
}

/// Groups of local problems with the same rows, bit for bit. Without shared features every one stands alone.
fn classes(rows: &[LocalRows], shared: bool) -> Vec<Vec<usize>> {
    if !shared {
        return (0..rows.len()).map(|k| vec![k]).collect();
    }
    let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut classes: Vec<Vec<usize>> = Vec::new();
    for (k, row) in rows.iter().enumerate() {
        let mut hasher = DefaultHasher::new();
        for symbols in [&row.interior, &row.perimeter, &row.flux] {
            symbols.hash_bits(&mut hasher);
        }
        let candidates = by_hash.entry(hasher.finish()).or_default();
        let same = |&class: &usize| {
            let first = &rows[classes[class][0]];
            first.interior == row.interior && first.perimeter == row.perimeter && first.flux == row.flux
        };
        match candidates.iter().copied().find(|c| same(c)) {
            Some(class) => classes[class].push(k),
            None => {
                candidates.push(classes.len());
                classes.push(vec![k]);
            }
        }
    }
    classes
}

/// Puts every subdomain at its place in the interface.
fn place_locals(
    mine: &[usize],
    places: &[Gather],
    classes: &[Vec<usize>],
    factors: &[(Arc<LocalFactor>, Vec<usize>, Vec<usize>)],
    scales: &[EdgeScale],
    numbering: &Numbering,
) -> Vec<Local> {
    let mut class_of = vec![0; mine.len()];
    for (class, members) in classes.iter().enumerate() {
        members.iter().for_each(|&k| class_of[k] = class);
    }
    let index = |rows: &[usize], row: usize| rows.binary_search(&row).unwrap_or_default();
    (0..mine.len())
        .map(|k| {
            let (factor, trace_rows, flux_rows) = &factors[class_of[k]];
            let place = &places[k];
            let unit = |jump: usize| {
                let edge = numbering.jumps.partition_point(|&start| start <= jump) - 1;
                let per_pair = (numbering.jumps[edge + 1] - numbering.jumps[edge]) / numbering.pairs;
                scales[edge].flux[(jump - numbering.jumps[edge]) / per_pair]
            };
            Local {
                subdomain: mine[k],
                factor: factor.clone(),
                columns: place.unknowns.iter().map(|u| index(trace_rows, u.0)).collect(),
                unknowns: place.unknowns.iter().map(|u| u.1).collect(),
                blocks: place.blocks.clone(),
                fluxes: place.fluxes.iter().map(|f| index(flux_rows, f.0)).collect(),
                jumps: place.fluxes.iter().map(|f| f.1).collect(),
                units: place.fluxes.iter().map(|f| unit(f.1)).collect(),
                edges: place.edges.clone(),
            }
        })
        .collect()
}
