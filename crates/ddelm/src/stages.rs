//! The stages of a solve that a rank carries out alone: rows and features of its subdomains, and their factors.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rayon::prelude::*;

use crate::basis::ReferenceBasis;
use crate::collocation::{Collocation, Gather, Numbering};
use crate::decomposition::Decomposition;
use crate::error::{Error, Result};
use crate::exchange::{Exchange, Partition};
use crate::features::{Distribution, FeatureNetwork};
use crate::interface::Portion;
use crate::local::{Columns, Local, LocalFactor};
use crate::operator::{EdgeScale, LocalRows, Weights, edge_scale, local_rows};
use crate::problem::{Equation, Problem};
use crate::progress::{Progress, Stage};
use crate::report::{FeaturesReport, Span};
use crate::settings::{InterfaceSolver, Method, Settings, Sharing};
use crate::symbol::{ORDERS, Symbols};

/// The local stages of a solve on one rank, which need no other rank.
pub(crate) struct Stages<'a> {
    problem: &'a Problem,
    decomposition: &'a Decomposition,
    settings: &'a Settings,
    progress: &'a dyn Progress,
    pub collocation: Collocation,
    weights: Weights,
    pub partition: Partition,
    pub portion: Portion,
}

/// The rows of the local problems, and what they act on.
pub(crate) struct Assembled {
    pub networks: Vec<FeatureNetwork>,
    pub scales: Vec<EdgeScale>,
    pub rows: Vec<LocalRows>,
    pub basis: Option<ReferenceBasis>,
}

/// The factored local problems.
pub(crate) struct Factored {
    pub locals: Vec<Local>,
    factorizations: usize,
}

/// A factor that congruent subdomains share.
struct SharedFactor {
    factor: Arc<LocalFactor>,
    /// The perimeter rows that hold interface values in one of them.
    trace_rows: Vec<usize>,
    /// The flux rows that one of them needs.
    flux_rows: Vec<usize>,
}

impl<'a> Stages<'a> {
    /// Refuses what cannot be solved, and deals out the subdomains.
    pub fn new(
        exchange: &dyn Exchange,
        problem: &'a Problem,
        decomposition: &'a Decomposition,
        settings: &'a Settings,
        progress: &'a dyn Progress,
    ) -> Result<Self> {
        settings.validate()?;
        problem.validate(decomposition.parts)?;
        let pairs = problem.equation.pairs();
        let collocation = Collocation::new(settings.nodes, settings.points);
        check_sizes(settings, &collocation, pairs, decomposition.len())?;
        let partition = Partition::new(decomposition, exchange.size())?;
        let numbering = Numbering::new(decomposition, &collocation, pairs);
        let portion = Portion::new(decomposition, &partition, exchange.rank(), numbering);
        let weights = if settings.scaled_rows { Weights::default_for(&problem.equation) } else { Weights::Unit };
        Ok(Stages { problem, decomposition, settings, progress, collocation, weights, partition, portion })
    }

    pub fn assemble(&self) -> Result<Assembled> {
        let Stages { problem, decomposition, settings, progress, collocation, .. } = self;
        let (weights, mine) = (self.weights, &self.portion.subdomains);
        progress.begin(Stage::Assemble, mine.len());
        let networks = networks(settings, &problem.equation, decomposition, mine)?;
        let here = |edge: usize| self.portion.numbering.block_size(edge) > 0;
        let scales: Vec<Result<EdgeScale>> = (decomposition.edges.par_iter().enumerate())
            .map(|(e, edge)| match here(e) {
                true => edge_scale(problem, decomposition, collocation, weights, edge),
                // Edges of other ranks are never asked for.
                false => Ok(EdgeScale::UNIT),
            })
            .collect();
        // The first error in order, whichever thread was first.
        let scales: Vec<EdgeScale> = scales.into_iter().collect::<Result<_>>()?;
        let rows: Vec<Result<LocalRows>> = mine
            .par_iter()
            .map(|&s| {
                stop_if_asked(*progress)?;
                let rows = local_rows(problem, decomposition, collocation, weights, &scales, s);
                progress.step();
                rows
            })
            .collect();
        let rows: Vec<LocalRows> = rows.into_iter().collect::<Result<_>>()?;
        let basis = (settings.shares_features())
            .then(|| {
                let needed = needed_derivatives(&rows);
                let cut = settings.basis_cut(&problem.equation);
                let pairs = problem.equation.pairs();
                ReferenceBasis::new(&networks[0], collocation, pairs, weights, settings.truncation, cut, &needed)
            })
            .transpose()?;
        Ok(Assembled { networks, scales, rows, basis })
    }

    pub fn factor(&self, assembled: &Assembled) -> Result<Factored> {
        let mine = &self.portion.subdomains;
        let place = |&s: &usize| self.portion.numbering.gather(self.decomposition, &self.collocation, s);
        let places: Vec<Gather> = mine.iter().map(place).collect();
        let classes = classes(&assembled.rows, assembled.basis.is_some());
        self.progress.begin(Stage::Factor, classes.len());
        let factors: Vec<SharedFactor> = classes
            .par_iter()
            .map(|members| {
                stop_if_asked(self.progress)?;
                let factor = self.factor_class(assembled, &places, members);
                self.progress.step();
                factor.map_err(|e| at_subdomain(e, mine[members[0]]))
            })
            .collect::<Result<_>>()?;
        let locals = place_locals(mine, &places, &classes, &factors, &assembled.scales, &self.portion.numbering);
        Ok(Factored { locals, factorizations: factors.len() })
    }

    /// Factors local problems with the same rows.
    fn factor_class(&self, assembled: &Assembled, places: &[Gather], members: &[usize]) -> Result<SharedFactor> {
        let union = |pick: fn(&Gather) -> &[(usize, usize)]| -> Vec<usize> {
            let rows: BTreeSet<usize> = members.iter().flat_map(|&k| pick(&places[k])).map(|p| p.0).collect();
            rows.into_iter().collect()
        };
        let (trace_rows, flux_rows) = (union(|g| &g.unknowns), union(|g| &g.fluxes));
        let networks = &assembled.networks;
        let columns = match &assembled.basis {
            Some(basis) => Columns::Basis(basis),
            None => Columns::Features {
                network: &networks[if networks.len() == 1 { 0 } else { members[0] }],
                truncation: self.settings.truncation,
                cut: self.settings.feature_cut(self.collocation.rows(self.problem.equation.pairs())),
                guarded: self.settings.scaled_rows,
                shortest: self.settings.interface == InterfaceSolver::Cg,
            },
        };
        let rows = &assembled.rows[members[0]];
        let factor = LocalFactor::new(columns, &self.collocation, rows, self.weights, &trace_rows, &flux_rows)?;
        Ok(SharedFactor { factor: Arc::new(factor), trace_rows, flux_rows })
    }

    /// The features, over all ranks.
    pub fn features(&self, factored: &Factored, exchange: &dyn Exchange) -> FeaturesReport {
        let ranks = || factored.locals.iter().map(|local| local.factor.rank() as f64);
        let mut span = [ranks().fold(0.0, f64::max), -ranks().fold(f64::INFINITY, f64::min)];
        exchange.max(&mut span);
        let mut factorizations = [factored.factorizations as f64];
        exchange.sum(&mut factorizations);
        FeaturesReport {
            neurons: self.settings.neurons(),
            scale: self.settings.scale_for(&self.problem.equation),
            rows: self.collocation.rows(self.problem.equation.pairs()),
            rank: Span { min: -span[1] as usize, max: span[0] as usize },
            factorizations: factorizations[0] as usize,
        }
    }

    /// The hidden layers of all subdomains, in their order, from those of this rank.
    pub fn all_networks(&self, mine: Vec<FeatureNetwork>) -> Result<Vec<Arc<FeatureNetwork>>> {
        let all: Vec<usize> = (0..self.decomposition.len()).collect();
        let networks = match self.portion.subdomains == all {
            true => mine,
            false => networks(self.settings, &self.problem.equation, self.decomposition, &all)?,
        };
        Ok(networks.into_iter().map(Arc::new).collect())
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
pub(crate) fn check_sizes(
    settings: &Settings,
    collocation: &Collocation,
    pairs: usize,
    subdomains: usize,
) -> Result<()> {
    if settings.method == Method::Fem {
        let problem = "finite elements have no networks to solve for";
        return Err(Error::input("method", "fem", problem, "choose schur, elm or locelm"));
    }
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

/// The derivatives that some row needs at interior and at perimeter nodes. Those that all rows have with the same
/// coefficient are needed as their sum.
fn needed_derivatives(rows: &[LocalRows]) -> [Vec<Vec<usize>>; 2] {
    let inside: Vec<&Symbols> = rows.iter().map(|r| &r.interior).collect();
    let around: Vec<&Symbols> = rows.iter().flat_map(|r| [&r.perimeter, &r.flux]).collect();
    let order = |a: usize| ORDERS[a][0] + ORDERS[a][1];
    [inside, around].map(|parts| {
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

/// Groups of local problems with the same rows, bit for bit. Without shared features every one stands alone.
fn classes(rows: &[LocalRows], shared: bool) -> Vec<Vec<usize>> {
    if !shared {
        return (0..rows.len()).map(|k| vec![k]).collect();
    }
    let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut classes: Vec<Vec<usize>> = Vec::new();
    for (k, row) in rows.iter().enumerate() {
        let hash = [&row.interior, &row.perimeter, &row.flux].iter().fold(0, |hash, symbols| symbols.hash(hash));
        let candidates = by_hash.entry(hash).or_default();
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
    factors: &[SharedFactor],
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
            let SharedFactor { factor, trace_rows, flux_rows } = &factors[class_of[k]];
            let place = &places[k];
            Local {
                subdomain: mine[k],
                factor: factor.clone(),
                columns: place.unknowns.iter().map(|u| index(trace_rows, u.0)).collect(),
                unknowns: place.unknowns.iter().map(|u| u.1).collect(),
                blocks: place.blocks.clone(),
                fluxes: place.fluxes.iter().map(|f| index(flux_rows, f.0)).collect(),
                jumps: place.fluxes.iter().map(|f| f.1).collect(),
                units: place.fluxes.iter().map(|f| numbering.flux_unit(scales, f.1)).collect(),
            }
        })
        .collect()
}
