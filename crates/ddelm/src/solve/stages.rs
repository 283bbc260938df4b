//! The stages of a solve that a rank carries out alone: rows and features of its subdomains, and their factors.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use faer::Mat;
use rayon::prelude::*;

use crate::base::error::{Error, Result};
use crate::base::parallel::in_order;
use crate::base::progress::{Progress, Stage, stop_if_asked};
use crate::domain::collocation::Nodes;
use crate::domain::shape::{PerShape, Shape};
use crate::interface::{Gather, Numbering};
use crate::local::alike::alike;
use crate::local::basis::{Needed, ReferenceBasis};
use crate::local::local_factor::{BATCH, Local, LocalData, LocalFactor};
use crate::local::matrices::{Columns, LocalProblem};
use crate::local::operator::EdgeUnits;
use crate::local::perimeter::perimeter_kinds;
use crate::local::places::Scene;
use crate::local::right_hand_side::DataRows;
use crate::local::rows::{LocalRows, local_rows};
use crate::local::units::edge_units;
use crate::method::report::{FeaturesReport, RankSpan};
use crate::method::settings::{Coupling, InterfaceSolver};
use crate::network::features::Networks;
use crate::network::symbol::{ORDERS, Symbols};
use crate::solve::kept::{Kept, Origin, found_or};
use crate::solve::plan::Plan;

/// The local stages of a solve on one rank, which need no other rank.
pub(crate) struct Stages<'a> {
    pub plan: &'a Plan,
    pub scene: Scene<'a>,
    pub progress: &'a dyn Progress,
    /// Factors of the last solve of a loop.
    pub kept: Option<&'a Kept>,
}

/// The rows of the local problems, and what they act on.
pub(crate) struct Assembled {
    pub units: Vec<EdgeUnits>,
    /// One for each subdomain; those that are known to be alike share theirs.
    pub rows: Vec<Arc<LocalRows>>,
    pub bases: Option<PerShape<Arc<ReferenceBasis>>>,
}

/// The factored local problems.
pub(crate) struct Factored {
    pub locals: Vec<Local>,
    /// The data of the local problems, if they were known beforehand.
    pub data: Vec<LocalData>,
    pub factorizations: usize,
}

/// Subdomains that share a factor and are few: what normal equations save is more than what residuals by tables cost.
const FEW: usize = 8;

/// Right-hand sides F of local problems: by their number among those of this rank.
pub(crate) type RightHandSides<'a> = dyn Fn(usize) -> Result<Mat<f64>> + Sync + 'a;

/// A factor that congruent subdomains share.
struct SharedFactor {
    factor: Arc<LocalFactor>,
    /// The perimeter rows that hold interface values in one of them.
    trace_rows: Vec<usize>,
    /// The flux rows that one of them needs.
    flux_rows: Vec<usize>,
    /// The data of each of them, if they were known beforehand: then the factor is good for them only.
    data: Vec<LocalData>,
    /// Whether it is one of the last solve.
    kept: bool,
}

impl<'a> Stages<'a> {
    pub fn assemble(&self) -> Result<Assembled> {
        let Stages { plan, scene, progress, .. } = self;
        let Plan { collocations, weighting, networks, portion, .. } = plan;
        let Scene { problem, decomposition, .. } = *scene;
        let (weighting, mine) = (*weighting, &portion.subdomains);
        progress.begin(Stage::Assemble, mine.len());
        let here = |edge: usize| portion.numbering.block_size(edge) > 0;
        let units = in_order(decomposition.edges.par_iter().enumerate().map(|(e, edge)| match here(e) {
            true => edge_units(scene, collocations.any(), weighting, edge),
            // Edges of other ranks are never asked for.
            false => Ok(EdgeUnits::UNIT),
        }))?;
        let alike = match collocations.any().nodes {
            Nodes::Chebyshev | Nodes::Gauss => alike(scene, &units, mine),
            Nodes::Uniform => (0..mine.len()).collect(),
        };
        let own = in_order(mine.par_iter().zip(&alike).enumerate().map(|(k, (&s, &first))| {
            stop_if_asked(*progress)?;
            let collocation = collocations.of(plan.shape(s));
            let rows = (first == k).then(|| local_rows(scene, collocation, weighting, &units, s)).transpose()?;
            progress.step();
            Ok::<_, Error>(rows.map(Arc::new))
        }))?;
        let of_first = |&first: &usize| own[first].clone().expect("the first of its kind has rows of its own");
        let rows: Vec<Arc<LocalRows>> = alike.iter().map(of_first).collect();
        let bases = match networks {
            Networks::Each(_) => None,
            Networks::Shared(networks) => {
                let shapes: Vec<Shape> = networks.iter().map(|(shape, _)| shape).collect();
                Some(PerShape::new(&shapes, |shape| {
                    let of_shape = |(s, _): &(&usize, &Option<_>)| plan.shape(**s) == shape;
                    let of: Vec<&LocalRows> =
                        mine.iter().zip(&own).filter(of_shape).filter_map(|(_, rows)| rows.as_deref()).collect();
                    plan.basis(networks, shape, &problem.equation, needed_derivatives(&of))
                })?)
            }
        };
        Ok(Assembled { units, rows, bases })
    }

    /// What turns data into the right-hand sides of the local problems.
    pub fn data_rows(&self, assembled: &Assembled) -> Vec<DataRows> {
        let of = |(&s, rows): (&usize, &Arc<LocalRows>)| {
            let collocation = self.plan.collocations.of(self.plan.shape(s));
            DataRows::new(rows, perimeter_kinds(&self.scene, collocation, s))
        };
        self.plan.portion.subdomains.iter().zip(&assembled.rows).map(of).collect()
    }

    /// Factors the local problems. Where their right-hand sides are given, the factors are good for these only, and take far
    /// less memory.
    pub fn factor(&self, assembled: &Assembled, known: Option<&RightHandSides<'_>>) -> Result<Factored> {
        let mine = &self.plan.portion.subdomains;
        let place = |(&s, rows): (&usize, &Arc<LocalRows>)| {
            self.plan.portion.numbering.gather(&self.scene.decomposition.subdomains[s], &rows.layout)
        };
        let places: Vec<Gather> = mine.iter().zip(&assembled.rows).map(place).collect();
        let shapes: Vec<Shape> = mine.iter().map(|&s| self.plan.shape(s)).collect();
        let classes = classes(&assembled.rows, &shapes, assembled.bases.is_some());
        self.progress.begin(Stage::Factor, classes.len());
        self.kept.inspect(|kept| kept.turn());
        let found: Vec<OrFailed<SharedFactor>> = classes
            .par_iter()
            .map(|members| {
                stop_if_asked(self.progress).map_err(|error| Failed { place: members[0], error })?;
                let factor = self.factor_class(assembled, &places, members, known);
                self.progress.step();
                factor
            })
            .collect();
        let mut factors = unless_failed(found)?;
        let locals = self.place_locals(assembled, &places, &classes, &factors);
        let found = classes.iter().zip(&mut factors).flat_map(|(members, f)| members.iter().zip(f.data.drain(..)));
        let mut data: Vec<(&usize, LocalData)> = found.collect();
        data.sort_by_key(|(k, _)| **k);
        let data = data.into_iter().map(|(_, data)| data).collect();
        let factorizations = factors.iter().filter(|factor| !factor.kept).count();
        Ok(Factored { locals, data, factorizations })
    }

    /// Factors local problems with the same rows.
    fn factor_class(
        &self,
        assembled: &Assembled,
        places: &[Gather],
        members: &[usize],
        known: Option<&RightHandSides<'_>>,
    ) -> OrFailed<SharedFactor> {
        let first = self.plan.portion.subdomains[members[0]];
        let factor_failed = |error: Error| Failed { place: members[0], error: at_subdomain(error, first) };
        let union = |pick: fn(&Gather) -> &[(usize, usize)]| -> Vec<usize> {
            let rows: BTreeSet<usize> = members.iter().flat_map(|&k| pick(&places[k])).map(|p| p.0).collect();
            rows.into_iter().collect()
        };
        let (trace_rows, flux_rows) = (union(|g| &g.unknowns), union(|g| &g.fluxes));
        let shape = self.plan.shape(first);
        let collocation = self.plan.collocations.of(shape);
        let columns = match &assembled.bases {
            Some(bases) => Columns::Basis(bases.of(shape)),
            None => Columns::Features {
                network: self.plan.networks.of(shape, members[0]),
                truncation: self.plan.settings.truncation,
                cut: self.plan.settings.feature_cut(collocation.rows()),
                guarded: self.plan.settings.scaled_rows,
                shortest: self.plan.settings.interface == InterfaceSolver::Cg,
            },
        };
        let (rows, weighting) = (&*assembled.rows[members[0]], self.plan.weighting);
        let problem =
            LocalProblem { columns, collocation, rows, weighting, trace_rows: &trace_rows, flux_rows: &flux_rows };
        let coupling = self.plan.settings.coupling();
        let all = |known: &RightHandSides<'_>, members: &[usize]| -> OrFailed<Vec<Mat<f64>>> {
            members.iter().map(|&place| known(place).map_err(|error| Failed { place, error })).collect()
        };
        if let (Some(known), Some(bases), Coupling::FluxBalance, ..=FEW) =
            (known, &assembled.bases, coupling, members.len())
        {
            let f = all(known, members)?;
            let (basis, rows) = (bases.of(shape).clone(), assembled.rows[members[0]].clone());
            let chosen = [trace_rows.clone(), flux_rows.clone()];
            let origin = self.kept.map(|kept| (kept, Origin { basis, rows, f: f.clone(), chosen }));
            let make = || LocalFactor::for_data(&problem, &f.iter().collect::<Vec<_>>());
            let (factor, data, kept) = found_or(origin, make).map_err(factor_failed)?;
            return Ok(SharedFactor { factor, trace_rows, flux_rows, data, kept });
        }
        let mut factor = LocalFactor::new(&problem, coupling).map_err(factor_failed)?;
        let mut data = Vec::new();
        if let Some(known) = known {
            let batch = |members: &[usize]| -> OrFailed<Vec<LocalData>> {
                Ok(factor.data_of(&all(known, members)?.iter().collect::<Vec<_>>()))
            };
            data = in_order(members.par_chunks(BATCH).map(batch))?.into_iter().flatten().collect();
            factor.forget();
        }
        Ok(SharedFactor { factor: Arc::new(factor), trace_rows, flux_rows, data, kept: false })
    }

    /// The features, over all ranks.
    pub fn features(&self, locals: &[Local], factorizations: usize) -> FeaturesReport {
        let exchange = self.plan.exchange.as_ref();
        let ranks = || locals.iter().map(|local| local.factor.rank as f64);
        let mut span = [ranks().fold(0.0, f64::max), -ranks().fold(f64::INFINITY, f64::min)];
        exchange.max(&mut span);
        let mut factorizations = [factorizations as f64];
        exchange.sum(&mut factorizations);
        FeaturesReport {
            neurons: self.plan.settings.neurons(),
            scale: self.plan.settings.scale_for(&self.scene.problem.equation, self.plan.collocations.any().shape),
            rows: self.plan.collocations.any().rows(),
            rank: RankSpan { min: -span[1] as usize, max: span[0] as usize },
            factorizations: factorizations[0] as usize,
        }
    }

    /// Puts every subdomain at its place in the interface.
    fn place_locals(
        &self,
        assembled: &Assembled,
        places: &[Gather],
        classes: &[Vec<usize>],
        factors: &[SharedFactor],
    ) -> Vec<Local> {
        let (mine, numbering, edge_units) =
            (&self.plan.portion.subdomains, &self.plan.portion.numbering, &assembled.units);
        let mut class_of = vec![0; mine.len()];
        for (class, members) in classes.iter().enumerate() {
            members.iter().for_each(|&k| class_of[k] = class);
        }
        let index =
            |rows: &[usize], row: usize| rows.binary_search(&row).expect("the factor has the rows of its members");
        let local = |k: usize| {
            let SharedFactor { factor, trace_rows, flux_rows, .. } = &factors[class_of[k]];
            let (place, multiplier) = (&places[k], assembled.rows[k].flux_multiplier);
            let pair = |jump: usize| numbering.jump_place(jump).1;
            let unscaled = |value: f64, jump: usize| value / multiplier[pair(jump)];
            Local {
                subdomain: mine[k],
                factor: factor.clone(),
                columns: place.unknowns.iter().map(|u| index(trace_rows, u.0)).collect(),
                unknowns: place.unknowns.iter().map(|u| u.1).collect(),
                blocks: place.blocks.clone(),
                fluxes: place.fluxes.iter().map(|f| index(flux_rows, f.0)).collect(),
                jumps: place.fluxes.iter().map(|f| f.1).collect(),
                lengths: place.fluxes.iter().map(|f| unscaled(flux_length(numbering, edge_units, f.1), f.1)).collect(),
                units: place.fluxes.iter().map(|f| unscaled(flux_unit(numbering, edge_units, f.1), f.1)).collect(),
            }
        };
        (0..mine.len()).map(local).collect()
    }
}

/// The error of a subdomain, by its number among those of this rank.
struct Failed {
    place: usize,
    error: Error,
}

type OrFailed<T> = std::result::Result<T, Failed>;

/// All factors, or the error of the first subdomain that has one, whichever thread or class was first.
fn unless_failed(found: Vec<OrFailed<SharedFactor>>) -> Result<Vec<SharedFactor>> {
    let mut factors = Vec::with_capacity(found.len());
    let mut failed: Option<Failed> = None;
    for factor in found {
        match factor {
            Ok(factor) => factors.push(factor),
            Err(e) if failed.as_ref().is_none_or(|first| e.place < first.place) => failed = Some(e),
            Err(_) => {}
        }
    }
    failed.map_or(Ok(factors), |failed| Err(failed.error))
}

fn at_subdomain(error: Error, s: usize) -> Error {
    match error {
        Error::Compute { stage, problem, hint } => {
            Error::Compute { stage, problem: format!("subdomain {s}: {problem}"), hint }
        }
        other => other,
    }
}

/// The derivatives that some row needs at the points of every part. Those that all rows have with the same coefficient are
/// needed as their sum.
fn needed_derivatives(rows: &[&LocalRows]) -> Needed {
    let tests = || rows.iter().filter_map(|r| r.tests.as_ref());
    let inside: Vec<&Symbols> = rows.iter().map(|r| &r.interior).chain(tests().map(|t| &t.interior)).collect();
    let around = rows.iter().flat_map(|r| [&r.perimeter, &r.flux]).chain(tests().map(|t| &t.perimeter)).collect();
    let balances = || rows.iter().filter_map(|r| r.balance.as_ref());
    let sums = [balances().map(|b| &b.around).collect(), balances().map(|b| &b.inside).collect()];
    let [side_sums, inner_sums] = sums;
    let order = |a: usize| ORDERS[a][0] + ORDERS[a][1];
    [inside, around, side_sums, inner_sums].map(|parts: Vec<&Symbols>| {
        let active: BTreeSet<usize> = parts.iter().flat_map(|symbols| symbols.active()).collect();
        let together = |a: usize, b: usize| {
            order(a) == order(b) && parts.iter().all(|s| s.coefficients()[a] == s.coefficients()[b])
        };
        let mut sums: Vec<Vec<usize>> = Vec::new();
        for a in active {
            match sums.iter_mut().find(|sum| together(sum[0], a)) {
                Some(sum) => sum.push(a),
                None => sums.push(vec![a]),
            }
        }
        sums
    })
}

/// Groups of local problems with the same shape and rows, bit for bit. Without shared features every one stands alone.
fn classes(rows: &[Arc<LocalRows>], shapes: &[Shape], shared: bool) -> Vec<Vec<usize>> {
    if !shared {
        return (0..rows.len()).map(|k| vec![k]).collect();
    }
    let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut known: HashMap<*const LocalRows, usize> = HashMap::new();
    let mut classes: Vec<Vec<usize>> = Vec::new();
    for (k, row) in rows.iter().enumerate() {
        if let Some(&class) = known.get(&Arc::as_ptr(row)) {
            classes[class].push(k);
            continue;
        }
        let candidates = by_hash.entry(row.hash()).or_default();
        let same = |&class: &usize| {
            let first = classes[class][0];
            shapes[first] == shapes[k] && rows[first].is_same(row)
        };
        let class = candidates.iter().copied().find(|c| same(c)).unwrap_or(classes.len());
        if class == classes.len() {
            candidates.push(class);
            classes.push(Vec::new());
        }
        classes[class].push(k);
        known.insert(Arc::as_ptr(row), class);
    }
    classes
}

/// The unit of a jump.
pub(crate) fn flux_unit(numbering: &Numbering, units: &[EdgeUnits], jump: usize) -> f64 {
    let (edge, pair, k) = numbering.jump_place(jump);
    units[edge].flux_unit(pair, k)
}

/// The length that a jump stands for, relative to that of its edge.
fn flux_length(numbering: &Numbering, units: &[EdgeUnits], jump: usize) -> f64 {
    let (edge, pair, k) = numbering.jump_place(jump);
    // Only the flux of the last pair is fed by the source.
    if pair + 1 == numbering.pairs { units[edge].lengths.get(k).copied().unwrap_or_default() } else { 0.0 }
}
