//! The plan of a solve: all that depends on the decomposition, the settings and the order of the equation, and on no coefficient.
//!
//! Nodes, the numbers of the interface values, the share of this rank, hidden layers, and the order in which the interface
//! system is eliminated. A [solver](crate::solve::solver::Solver) is a plan with the numbers of one problem; loops over
//! problems that differ in their coefficients (Newton's method, steps in time, sweeps) make one plan and go on with it. A
//! solver on an old plan has the same bits as one on a new plan.

use std::sync::Arc;

use rayon::prelude::*;

use crate::base::clock::Instant;
use crate::base::error::{Error, Result};
use crate::base::number::brief;
use crate::base::parallel::in_order;
use crate::domain::collocation::{Collocations, Nodes, collocations};
use crate::domain::decomposition::Decomposition;
use crate::domain::gluing::fold_at;
use crate::domain::shape::{PerShape, Shape};
use crate::exchange::Serial;
use crate::interface::{Exchange, Numbering, Partition, Portion, agreed};
use crate::local::basis::{Needed, Recipe, ReferenceBasis};
use crate::local::fit::Fit;
use crate::local::operator::Weighting;
use crate::local::places::Scene;
use crate::local::tested::asks_for_tests;
use crate::method::cost::Cost;
use crate::method::settings::{InterfaceSolver, Method, Settings, Sharing};
use crate::network::features::{Distribution, FeatureNetwork, Networks};
use crate::problem::model::{Equation, Problem};
use crate::solve::floating;

/// The plan of a solve.
pub struct Plan {
    pub(crate) exchange: Arc<dyn Exchange>,
    pub(crate) decomposition: Arc<Decomposition>,
    /// The settings, with the nodes that the problem asked for.
    pub(crate) settings: Settings,
    /// Where nodes should lie.
    nodes: Option<Nodes>,
    /// The order of the equations that it is for.
    order: usize,
    pub(crate) collocations: Collocations,
    pub(crate) weighting: Weighting,
    pub(crate) partition: Partition,
    pub(crate) portion: Portion,
    /// The hidden layers of the subdomains of this rank.
    pub(crate) networks: Networks<Arc<FeatureNetwork>>,
    /// The seconds that it took.
    pub(crate) seconds: f64,
}

impl Plan {
    /// Plans for a problem, and others that differ from it in coefficients and data.
    pub fn new(
        problem: &Problem,
        decomposition: impl Into<Arc<Decomposition>>,
        settings: &Settings,
    ) -> Result<Arc<Self>> {
        Self::on(Arc::new(Serial), problem, decomposition.into(), settings)
    }

    /// [`Plan::new`] on a parallel machine.
    pub fn on(
        exchange: Arc<dyn Exchange>,
        problem: &Problem,
        decomposition: Arc<Decomposition>,
        settings: &Settings,
    ) -> Result<Arc<Self>> {
        let plan = Self::alone(exchange.clone(), problem, decomposition, settings);
        agreed(exchange.as_ref(), plan).map(Arc::new)
    }

    /// What a rank does alone.
    fn alone(
        exchange: Arc<dyn Exchange>,
        problem: &Problem,
        decomposition: Arc<Decomposition>,
        settings: &Settings,
    ) -> Result<Self> {
        let clock = Instant::now();
        settings.validate()?;
        problem.validate(decomposition.parts.len())?;
        let equation = &problem.equation;
        let nodes = settings.nodes;
        let settings = &settled(problem, &decomposition, settings)?;
        let collocations = collocations(&decomposition, settings.nodes(), settings.points, equation.pairs())?;
        check_sizes(settings, collocations.any().rows(), decomposition.len())?;
        check_problem(exchange.as_ref(), problem, &decomposition, settings)?;
        check_maps(&decomposition, &collocations)?;
        let partition = Partition::new(&decomposition, exchange.size())?;
        let numbering = Numbering::new(&decomposition, collocations.any());
        let portion = Portion::new(&decomposition, &partition, exchange.rank(), numbering);
        let weighting = if settings.scaled_rows { Weighting::default_for(equation) } else { Weighting::Unit };
        let networks = networks(equation, &decomposition, settings, &collocations, &portion.subdomains)?.shared();
        Ok(Plan {
            exchange,
            decomposition,
            settings: settings.clone(),
            nodes,
            order: equation.order(),
            collocations,
            weighting,
            partition,
            portion,
            networks,
            seconds: clock.elapsed().as_secs_f64(),
        })
    }

    /// The plan for another problem on the same subdomains: this one where it will do.
    pub(crate) fn with(self: &Arc<Self>, problem: &Problem) -> Result<Arc<Self>> {
        let Plan { exchange, decomposition, settings, .. } = self.as_ref();
        let asked = Settings { nodes: self.nodes, ..settings.clone() };
        let checked = problem.validate(decomposition.parts.len()).and_then(|()| {
            check_problem(exchange.as_ref(), problem, decomposition, settings)?;
            Ok(settled(problem, decomposition, &asked)?.nodes)
        });
        let nodes = agreed(exchange.as_ref(), checked)?;
        if problem.equation.order() != self.order || nodes != settings.nodes {
            return Self::on(exchange.clone(), problem, decomposition.clone(), &asked);
        }
        Ok(self.clone())
    }

    /// The basis of a shape, with tables of the sums of derivatives that will be needed.
    pub(crate) fn basis(
        &self,
        networks: &PerShape<Arc<FeatureNetwork>>,
        shape: Shape,
        equation: &Equation,
        needed: Needed,
    ) -> Result<Arc<ReferenceBasis>> {
        let collocation = self.collocations.of(shape);
        let recipe = Recipe {
            network: networks.of(shape).as_ref().clone(),
            weighting: self.weighting,
            truncation: self.settings.truncation,
            cut: self.settings.basis_cut(equation),
            limit: self.settings.kept(collocation.rows()),
            needed,
        };
        ReferenceBasis::of(recipe, collocation)
    }

    /// What brings functions into the bases that the subdomains share.
    pub(crate) fn fit(&self, equation: &Equation) -> Result<Fit> {
        let Networks::Shared(networks) = &self.networks else {
            let problem = "it needs features that the subdomains share";
            return Err(Error::input("network.sharing", "...", problem, "use preset = \"fast\""));
        };
        let shapes: Vec<Shape> = networks.iter().map(|(shape, _)| shape).collect();
        let bases = PerShape::new(&shapes, |shape| self.basis(networks, shape, equation, Needed::default()))?;
        Fit::new(bases, &self.collocations)
    }

    /// The decomposition.
    pub fn decomposition(&self) -> &Arc<Decomposition> {
        &self.decomposition
    }

    /// The settings as they were given.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The shape of a subdomain.
    pub(crate) fn shape(&self, s: usize) -> Shape {
        self.decomposition.subdomains[s].map.shape()
    }

    /// The hidden layers of the subdomains of all ranks.
    pub(crate) fn all_networks(&self, equation: &Equation) -> Result<Networks<Arc<FeatureNetwork>>> {
        let all: Vec<usize> = (0..self.decomposition.len()).collect();
        match self.portion.subdomains == all {
            true => Ok(self.networks.clone()),
            false => {
                networks(equation, &self.decomposition, &self.settings, &self.collocations, &all).map(Networks::shared)
            }
        }
    }
}

/// The settings with nodes as the problem asks for, where they are left open.
pub(crate) fn settled(problem: &Problem, decomposition: &Decomposition, settings: &Settings) -> Result<Settings> {
    let able = settings.method == Method::Schur
        && settings.shares_features()
        && settings.scaled_rows
        && settings.interface == InterfaceSolver::Direct
        && problem.equation.order() == 2
        && !problem.is_nonlinear();
    let nodes = match settings.nodes {
        Some(Nodes::Gauss) if !able => Err(Error::input(
            "discretization.nodes",
            "gauss",
            "rows are tested for linear problems of second order, with shared features and a direct interface solve",
            "leave it out",
        ))?,
        None if able && problem.equation.has_directions() => {
            let scene = Scene::linear(problem, decomposition);
            let asks =
                in_order((0..decomposition.len()).into_par_iter().map(|s| asks_for_tests(&scene, settings.points, s)))?;
            if asks.contains(&true) { Nodes::Gauss } else { Nodes::Chebyshev }
        }
        _ => settings.nodes(),
    };
    Ok(Settings { nodes: Some(nodes), ..settings.clone() })
}

/// Refuses a problem that these settings cannot solve, or not in the memory there is.
fn check_problem(
    exchange: &dyn Exchange,
    problem: &Problem,
    decomposition: &Decomposition,
    settings: &Settings,
) -> Result<()> {
    floating::check(problem, decomposition, settings)?;
    Cost::on(&problem.equation, decomposition, settings, 1).check_memory(settings, exchange.size())
}

/// The hidden layers of some subdomains: one for each shape, or one each.
fn networks(
    equation: &Equation,
    decomposition: &Decomposition,
    settings: &Settings,
    collocations: &Collocations,
    of: &[usize],
) -> Result<Networks<FeatureNetwork>> {
    let map = |s: usize| decomposition.subdomains[s].map.affine();
    if let Some(given) = &settings.weights {
        let (m, count) = (given.neurons, decomposition.len());
        let (all_w, all_b) = (count.checked_mul(2 * m), count.checked_mul(m));
        if Some(given.w.len()) != all_w || Some(given.b.len()) != all_b {
            return Err(Error::input(
                "network.weights",
                format!("w with {} numbers, b with {}", given.w.len(), given.b.len()),
                format!("{count} subdomains with {m} neurons need {count} x 2 x {m} and {count} x {m}"),
                "w has the shape (subdomains, 2, neurons) and b (subdomains, neurons)",
            ));
        }
        let network = |&s: &usize| {
            let (w, b) = (&given.w[2 * m * s..2 * m * (s + 1)], &given.b[m * s..m * (s + 1)]);
            FeatureNetwork::from_physical(settings.activation, [&w[..m], &w[m..]], b, map(s))
        };
        return of.iter().map(network).collect::<Result<_>>().map(Networks::Each);
    }
    let sample = |s: usize, shape: Shape| {
        let distribution = Distribution {
            activation: settings.activation,
            initialization: settings.initialization,
            scale: settings.scale_for(equation, shape),
            radius: settings.radius,
        };
        let count = settings.candidates(collocations.of(shape).rows());
        let network = FeatureNetwork::sample(&distribution, count, settings.seed, s, map(s))?;
        Ok(if shape == Shape::Triangle { network.on_triangle() } else { network })
    };
    match settings.sharing {
        Sharing::Shared => {
            let shared = |shape| {
                let polynomials = settings.polynomials(collocations.of(shape).rows());
                Ok(FeatureNetwork { polynomials, ..sample(0, shape)? })
            };
            PerShape::new(&decomposition.shapes(), shared).map(Networks::Shared)
        }
        Sharing::Independent => {
            let each = of.par_iter().map(|&s| sample(s, decomposition.subdomains[s].map.shape()));
            in_order(each).map(Networks::Each)
        }
    }
}

/// Refuses networks with more neurons than rows, and more than one subdomain for the classical method.
pub(crate) fn check_sizes(settings: &Settings, rows: usize, subdomains: usize) -> Result<()> {
    let neurons = settings.neurons();
    if neurons > rows && (settings.neurons.is_some() || !settings.shares_features()) {
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

/// Refuses a map that folds at a node.
fn check_maps(decomposition: &Decomposition, collocations: &Collocations) -> Result<()> {
    let folded = |s: usize| {
        let map = decomposition.subdomains[s].map.as_ref();
        let collocation = collocations.of(map.shape());
        let nodes = collocation.interior.iter().copied().chain(collocation.perimeter.iter().map(|node| node.xi));
        fold_at(map, nodes).map(|(xi, det)| (s, map.point(xi), det))
    };
    // A map that two vectors describe folds nowhere, or everywhere: whoever made the vectors has looked at that.
    let curved = |s: &usize| decomposition.subdomains[*s].map.form().is_none();
    let subdomains: Vec<usize> = (0..decomposition.len()).filter(curved).collect();
    match subdomains.par_iter().filter_map(|&s| folded(s)).min_by_key(|found| found.0) {
        None => Ok(()),
        Some((s, [x, y], det)) => Err(Error::input(
            "decomposition",
            format!("{} subdomains", decomposition.len()),
            format!("the Jacobian of subdomain {s} is {} at its node x = {x}, y = {y}: the map folds", brief(det, 4)),
            "every map has a positive Jacobian",
        )),
    }
}
