//! All rows of one subdomain: the equation at interior nodes, conditions and traces on the perimeter, fluxes, and their balance.

use std::iter::repeat_n;
use std::sync::Arc;

use crate::base::error::Result;
use crate::domain::collocation::{Collocation, Layout, Nodes};
use crate::domain::decomposition::{Behind, Piece};
use crate::domain::map::{Map, Point, magnification, magnifications, side_speed};
use crate::local::carried::drift;
use crate::local::floor::Floor;
use crate::local::operator::{EdgeUnits, Weighting, flux_symbols, interior_symbols};
use crate::local::perimeter::PerimeterRows;
use crate::local::places::Scene;
use crate::local::tested::{Maker, Tests};
use crate::network::symbol::{Symbol, Symbols};
use crate::problem::operators::vanishing;

/// The weight of the flux balance against the equation.
const BALANCE: f64 = 100.0;

/// The rows of one subdomain. K is `interior` over `perimeter`, A is `flux`.
#[derive(Debug, Clone)]
pub struct LocalRows {
    /// The equation at the interior nodes, scaled.
    pub interior: Symbols,
    /// The multipliers of the interior rows.
    pub interior_multiplier: Arc<[f64]>,
    /// The perimeter nodes.
    pub layout: Layout,
    /// Traces and conditions at the perimeter nodes, scaled: all nodes for the first pair, then for the second.
    pub perimeter: Symbols,
    /// The multipliers of the perimeter rows: what boundary values are multiplied with.
    pub perimeter_multiplier: Arc<[f64]>,
    /// The outward fluxes at the flux nodes of all pieces, times `flux_multiplier`.
    pub flux: Symbols,
    /// Powers of two, one for each pair, that make the fluxes of scaled copies of a subdomain the same numbers.
    pub flux_multiplier: [f64; 2],
    /// |det J| at the points of integration, where it takes time to find and is the same for many.
    pub areas: Option<Arc<[f64]>>,
    /// The flux balance of the subdomain, if it is a row of K.
    pub balance: Option<Balance>,
    /// What the rows are tested with, if they are not collocated.
    pub tests: Option<Tests>,
}

impl LocalRows {
    /// Whether K and A, and what K is tested with, have the same bits.
    pub fn is_same(&self, other: &Self) -> bool {
        self.interior == other.interior
            && self.layout == other.layout
            && self.perimeter == other.perimeter
            && self.flux == other.flux
            && self.balance == other.balance
            && self.tests == other.tests
    }

    /// A hash of them. Quick rather than good: whoever uses it compares as well.
    pub fn hash(&self) -> u64 {
        let balance = self.balance.iter().flat_map(|b| [&b.around, &b.inside]);
        let parts = [&self.interior, &self.perimeter, &self.flux].into_iter().chain(balance);
        parts.fold(0, |hash, symbols| symbols.hash(hash))
    }
}

/// The flux balance of a subdomain, the last row of K: what flows out through its sides and is used up inside is the
/// integral of the source,
///
/// ```text
/// kappa (-int flux + int (b . grad u + c u)) = kappa int f.
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Balance {
    /// At the points of integration on the sides: weights of the sum times the flux.
    pub around: Symbols,
    /// At the points of integration inside: weights of the sum times the terms of lower order; no rows without such terms.
    pub inside: Symbols,
    /// kappa
    pub multiplier: f64,
}

/// All rows of subdomain s.
pub fn local_rows(
    scene: &Scene<'_>,
    collocation: &Collocation,
    weighting: Weighting,
    units: &[EdgeUnits],
    s: usize,
) -> Result<LocalRows> {
    let subdomain = scene.subdomain(s);
    let map = subdomain.map.as_ref();
    let Interior { rows: interior, multiplier: interior_multiplier, size } =
        interior_rows(scene, collocation, weighting, s)?;
    let layout = collocation.layout(subdomain);
    let maker = PerimeterRows { scene, collocation, weighting, units, s };
    let mut found = (Vec::new(), Vec::new());
    for pair in 0..scene.problem.equation.pairs() {
        maker.add_pieces(&layout, pair, &mut found)?;
        maker.add_corners(pair, &mut found)?;
    }
    let flux_multiplier = flux_multiplier(weighting, magnification(map.jacobian(map.shape().center())));
    let mut tests = match collocation.nodes {
        Nodes::Gauss => Some(Maker { scene, collocation, units, s }.tests(&layout, &interior_multiplier, &found.1)?),
        Nodes::Chebyshev | Nodes::Uniform => None,
    };
    let leaving = tests.as_ref().map(|tests| tests.leaving.as_slice());
    let flux = FluxRows { scene, collocation, layout: &layout, units, s }.rows(flux_multiplier, leaving)?;
    if let Some(tests) = &mut tests {
        tests.entering.iter_mut().for_each(|enters| *enters *= flux_multiplier[0]);
    }
    let balance = match collocation.conserves() {
        true => Some(balance(scene, s, collocation, weighting, size)?),
        false => None,
    };
    let dear = balance.is_some() && map.affine().is_none() && map.form().is_some();
    let areas = dear.then(|| magnifications(map, &collocation.integration.inside).collect());
    let (perimeter, perimeter_multiplier) = (Symbols::from(found.0.as_slice()), found.1.into());
    Ok(LocalRows {
        interior,
        interior_multiplier,
        layout,
        perimeter,
        perimeter_multiplier,
        flux,
        flux_multiplier,
        areas,
        balance,
        tests,
    })
}

/// The units of area at the interior nodes, in which rings are as large everywhere.
pub(crate) fn unit_areas(map: &dyn Map, collocation: &Collocation) -> Vec<f64> {
    collocation.interior.iter().map(|&xi| map.unit(xi).powi(2)).collect()
}

/// The interior rows.
struct Interior {
    rows: Symbols,
    multiplier: Arc<[f64]>,
    /// The size of the equation, integrated over the subdomain.
    size: f64,
}

fn interior_rows(scene: &Scene<'_>, collocation: &Collocation, weighting: Weighting, s: usize) -> Result<Interior> {
    let (map, equation) = (scene.subdomain(s).map.as_ref(), &scene.problem.equation);
    let symbols = interior_symbols(scene, s, &collocation.interior)?;
    let mut sizes: Vec<f64> = symbols.iter().map(|symbol| equation.size(symbol)).collect();
    if scene.about.is_some() {
        let areas = unit_areas(map, collocation);
        sizes = Floor::under(&sizes, &areas).sizes(&areas);
    }
    let multiplier = |(&size, &xi): (&f64, &Point)| match weighting {
        Weighting::Unit => Ok(1.0),
        Weighting::Scaled { .. } if size > 0.0 => Ok(weighting.interior(collocation.shape, xi) / size),
        Weighting::Scaled { .. } => Err(vanishing(map.point(xi), s)),
    };
    let multiplier: Arc<[f64]> = sizes.iter().zip(&collocation.interior).map(multiplier).collect::<Result<_>>()?;
    let rows = symbols.iter().zip(&*multiplier).map(|(symbol, &multiplier)| symbol.scaled(multiplier)).collect();
    // Of the product, since in a ring both factors go through many orders of magnitude.
    let areas = magnifications(map, &collocation.interior);
    sizes.iter_mut().zip(areas).for_each(|(size, area)| *size *= area);
    let size = collocation.shape.area() * sizes.iter().sum::<f64>() / sizes.len() as f64;
    Ok(Interior { rows, multiplier, size })
}

/// Makes the outward fluxes of subdomain s at the flux nodes of all pieces. All sides at once: coefficients are asked for many
/// points in one go.
struct FluxRows<'a> {
    scene: &'a Scene<'a>,
    collocation: &'a Collocation,
    layout: &'a Layout,
    units: &'a [EdgeUnits],
    s: usize,
}

impl FluxRows<'_> {
    /// The fluxes times a number for each pair, less what of the trace is `leaving`, if that is known.
    fn rows(&self, multiplier: [f64; 2], leaving: Option<&[f64]>) -> Result<Symbols> {
        let FluxRows { scene, collocation, layout, units, s } = *self;
        let (subdomain, equation) = (scene.subdomain(s), &scene.problem.equation);
        let ends = layout.flux_starts.iter().copied().skip(1).chain([layout.fluxes.len()]);
        let counts = layout.flux_starts.iter().zip(ends).map(|(start, end)| end - start);
        let pieces: Vec<&Piece> =
            subdomain.pieces.iter().zip(counts).flat_map(|(piece, count)| repeat_n(piece, count)).collect();
        let node = |&place: &usize| collocation.perimeter[layout.nodes[place]].xi;
        let xi: Vec<Point> = layout.fluxes.iter().map(node).collect();
        let places = scene.places(s, &xi);
        let normals = places.normals_on(pieces.iter().map(|piece| piece.side));
        let across = |piece: &Piece| matches!(piece.behind, Behind::Edge { edge, .. } if units[edge].carries);
        // Nobody reads the fluxes through the boundary. They are like the others, so that subdomains there share the factors of those inside.
        let somewhere = subdomain.pieces.iter().any(across);
        let carries = |piece: &Piece| across(piece) || (somewhere && matches!(piece.behind, Behind::Boundary(_)));
        let drift = if somewhere { drift(scene, &places, &normals)? } else { None };
        let mut all = Vec::with_capacity(equation.pairs() * xi.len());
        for (pair, multiplier) in multiplier.into_iter().enumerate().take(equation.pairs()) {
            let mut fluxes = flux_symbols(scene.problem, &places, &normals, pair)?;
            for ((flux, drift), piece) in fluxes.iter_mut().zip(drift.iter().flatten()).zip(&pieces) {
                flux.0[0] -= if carries(piece) { *drift } else { 0.0 };
            }
            fluxes.iter_mut().zip(leaving.into_iter().flatten()).for_each(|(flux, leaving)| flux.0[0] -= leaving);
            all.extend(fluxes.iter().map(|symbol| symbol.scaled(multiplier)));
        }
        Ok(Symbols::from(all.as_slice()))
    }
}

/// Powers of two near the extent of a subdomain with the given magnification, and near its cube.
fn flux_multiplier(weighting: Weighting, magnification: f64) -> [f64; 2] {
    if weighting == Weighting::Unit {
        return [1.0; 2];
    }
    let extent = 2f64.powi((0.5 * magnification.log2()).round() as i32);
    [extent, extent.powi(3)]
}

/// The flux balance of a subdomain whose equation, integrated over it, has the given size.
fn balance(scene: &Scene<'_>, s: usize, collocation: &Collocation, weighting: Weighting, size: f64) -> Result<Balance> {
    let (problem, rule) = (scene.problem, &collocation.integration);
    let (equation, map) = (&problem.equation, scene.subdomain(s).map.as_ref());
    let multiplier = match weighting {
        Weighting::Unit => 1.0,
        Weighting::Scaled { .. } => BALANCE / size,
    };
    let per_side = rule.around.len() / collocation.shape.sides();
    let side = |i: usize| i / per_side;
    let places = scene.places(s, &rule.around);
    let normals = places.normals_on((0..rule.around.len()).map(side));
    // The flux of the last pair is the one that the source feeds.
    let fluxes = flux_symbols(problem, &places, &normals, equation.pairs() - 1)?;
    let through = |(i, (flux, w)): (usize, (&Symbol, &f64))| {
        let length = side_speed(map, side(i), map.jacobian(rule.around[i]));
        flux.scaled(equation.flux_sign() * multiplier * w * length)
    };
    let around = fluxes.iter().zip(&rule.around_weights).enumerate().map(through).collect();
    let places = scene.places(s, &rule.inside);
    let inside = match problem.lower_order(&places)? {
        Some(terms) => {
            let areas = rule.inside_weights.iter().zip(magnifications(map, &rule.inside));
            let over = |(term, (w, area)): (Symbol, (&f64, f64))| term.scaled(multiplier * w * area);
            places.pull_back(&terms).zip(areas).map(over).collect()
        }
        None => Symbols::new(),
    };
    Ok(Balance { around, inside, multiplier })
}
