//! The rows of one subdomain: the equation at interior nodes, conditions and traces on the perimeter, fluxes.
//!
//! Every row is an operator of the [equation](crate::problem::operators) in reference coordinates times a multiplier. In the paper all
//! multipliers are one. In the default
//! method the equation is divided by the size of its leading part (so that it is the reference Laplacian, give or
//! take the coefficient), traces and conditions have a weight against it, and fluxes are measured in units of the
//! edge: that makes the least-squares problem independent of the size of the subdomains and of the units of the
//! coefficients.

use std::iter::repeat_n;
use std::sync::Arc;

use crate::base::error::{Error, Result};
use crate::domain::collocation::{Collocation, Layout, Nodes};
use crate::domain::decomposition::{Behind, Edge, Piece, Subdomain, part_name, width_across};
use crate::domain::map::{Point, magnification, magnifications, side_speed};
use crate::domain::shape::Shape;
use crate::local::carried::{along_edge, carries, drift};
use crate::local::places::{Places, Scene};
use crate::network::symbol::{Frame, Symbol, Symbols};
use crate::problem::model::{Condition, Equation, Problem};
use crate::problem::operators::{BoundaryRow, vanishing};

/// The weighting of the rows against each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Weighting {
    /// All rows as they stand (the paper).
    Unit,
    /// The equation divided by the size of its leading part; the rest weighted against it.
    Scaled {
        /// Traces, and conditions on u.
        trace: f64,
        /// Traces of the Laplacian, and conditions on it (plate).
        laplacian: f64,
        /// Conditions on the flux or the normal derivative.
        flux: f64,
    },
}

impl Weighting {
    /// The weight of the equation at a reference point, next to the scaling by its size.
    ///
    /// A residual close to the perimeter moves the solution little, because Green's function vanishes there; nodes are
    /// dense there, and residuals large where the solution is not smooth at a corner. So the weight goes to zero.
    pub fn interior(self, shape: Shape, xi: Point) -> f64 {
        match (self, shape) {
            (Weighting::Unit, _) => 1.0,
            (Weighting::Scaled { .. }, Shape::Quadrilateral) => {
                xi.iter().map(|t| 2.0 * (t * (1.0 - t)).sqrt()).product()
            }
            (Weighting::Scaled { .. }, Shape::Triangle) => (27.0 * xi[0] * xi[1] * (1.0 - xi[0] - xi[1])).sqrt(),
        }
    }

    /// What an interface value is multiplied with in the trace rows of a transmission pair.
    pub fn interface(self, pair: usize) -> f64 {
        match self {
            Weighting::Unit => 1.0,
            Weighting::Scaled { trace, laplacian, .. } => [trace, laplacian][pair],
        }
    }

    /// That of the default method.
    pub fn default_for(equation: &Equation) -> Self {
        match equation.pairs() {
            1 => Weighting::Scaled { trace: 100.0, laplacian: 0.0, flux: 100.0 },
            _ => Weighting::Scaled { trace: 1000.0, laplacian: 100.0, flux: 1000.0 },
        }
    }
}

/// Units of the traces and fluxes on an edge, one per transmission pair. Both sides use the same.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeUnits {
    /// An interface value is this times the trace.
    pub trace: [f64; 2],
    /// A jump is this times the sum of the two outward fluxes,
    pub flux: [f64; 2],
    /// ... times this, for every node along the edge; one where there is none.
    pub stretch: Vec<f64>,
    /// The length of the edge that every node along it stands for; nothing where nodes are uniform.
    pub lengths: Vec<f64>,
    /// Whether fluxes are those of `a grad u - b u`, with what advection carries.
    pub carries: bool,
}

impl EdgeUnits {
    /// Traces and fluxes as they stand.
    pub const UNIT: Self =
        EdgeUnits { trace: [1.0; 2], flux: [1.0; 2], stretch: Vec::new(), lengths: Vec::new(), carries: false };

    /// The unit of a jump at the k-th node along the edge.
    pub fn flux_unit(&self, pair: usize, k: usize) -> f64 {
        self.flux[pair] * self.stretch.get(k).copied().unwrap_or(1.0)
    }
}

/// What a row on the perimeter says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PerimeterRow {
    /// The trace equals an interface value.
    Interface,
    /// The condition `values[index]` of a part of the boundary holds.
    Condition {
        /// The part.
        part: usize,
        /// Which of its values.
        index: usize,
    },
    /// The solution does not change any more toward the point that rings end at.
    Core,
}

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

/// The operator L at reference points of a subdomain, in reference coordinates, not scaled.
pub fn interior_symbols(scene: &Scene<'_>, s: usize, xi: &[Point]) -> Result<Vec<Symbol>> {
    if scene.problem.equation.order() > 2 && scene.subdomain(s).map.affine().is_none() {
        return Err(Error::input(
            "equation.plate",
            "curved subdomains",
            format!("the plate is solved on affine subdomains only, and subdomain {s} is curved"),
            "use a domain with straight sides, cut into triangles and parallelograms",
        ));
    }
    let places = scene.places(s, xi);
    let symbols = scene.problem.interior(&places)?;
    Ok(places.pull_back(&symbols).collect())
}

/// The flux of a transmission pair at points with these outward unit normals, in reference coordinates.
pub(crate) fn flux_symbols(
    problem: &Problem,
    places: &Places<'_>,
    normals: &[Point],
    pair: usize,
) -> Result<Vec<Symbol>> {
    let symbols = problem.flux(pair, places, normals)?;
    Ok(places.pull_back(&symbols).collect())
}

/// The units of an edge. The flux is measured in units of the larger coefficient of its two sides, and by the length that a
/// node stands for: a jump that is small is small as a force.
pub fn edge_units(
    scene: &Scene<'_>,
    collocation: &Collocation,
    weighting: Weighting,
    edge: &Edge,
) -> Result<EdgeUnits> {
    let Scene { problem, decomposition, .. } = *scene;
    if weighting == Weighting::Unit {
        return Ok(EdgeUnits::UNIT);
    }
    let h = edge.width;
    let along = |side: usize| along_edge(decomposition, collocation, &edge.sides[side]);
    let (stretch, lengths) = match collocation.nodes {
        Nodes::Uniform => (Vec::new(), Vec::new()),
        Nodes::Chebyshev => {
            let first = &edge.sides[0];
            let map = decomposition.subdomains[first.subdomain].map.as_ref();
            let speed = |xi: Point| first.span.length() * side_speed(map, first.side, map.jacobian(xi));
            let speeds: Vec<f64> = along(0).into_iter().map(speed).collect();
            let per_side = speeds.len() as f64;
            let roots = || collocation.perimeter.iter().map(|node| node.root).zip(&speeds);
            (
                roots().map(|(root, speed)| root * speed / h).collect(),
                roots().map(|(root, speed)| root * root * speed / per_side).collect(),
            )
        }
    };
    let mut largest = 0.0f64;
    for (k, side) in edge.sides.iter().enumerate() {
        let xi = along(k);
        largest = largest.max(problem.coefficient(&scene.places(side.subdomain, &xi))?);
    }
    let carried = carries(scene, collocation, edge)?;
    let fastest = carried.iter().flatten().fold(0.0, |fastest: f64, v| fastest.max(v.abs()));
    let units = [0, 1].map(|pair| problem.equation.units(pair, h, largest + h * fastest));
    let carries = carried.is_some();
    Ok(EdgeUnits { trace: units.map(|u| u[0]), flux: units.map(|u| u[1]), stretch, lengths, carries })
}

/// Makes the rows of conditions on a side of a subdomain.
struct ConditionRows<'a> {
    problem: &'a Problem,
    weighting: Weighting,
    places: &'a Places<'a>,
    side: usize,
}

impl ConditionRows<'_> {
    /// Rows (symbol, multiplier) for value `index` of a condition.
    fn rows(&self, condition: &Condition, key: &str, index: usize) -> Result<Vec<(Symbol, f64)>> {
        let weighted = |symbol: Symbol, unit: f64, weight: f64| match self.weighting {
            Weighting::Unit => (symbol, 1.0),
            Weighting::Scaled { .. } => (symbol.scaled(weight * unit), weight * unit),
        };
        let flux_weight = match self.weighting {
            Weighting::Unit => 1.0,
            Weighting::Scaled { flux, .. } => flux,
        };
        match condition.row(index) {
            BoundaryRow::Trace(pair) => {
                let traces = vec![self.problem.equation.trace(pair); self.places.xi.len()];
                let h = width_across(self.places.place.map.as_ref(), self.side);
                let [unit, _] = self.problem.equation.units(pair, h, 1.0);
                let row = |symbol: Symbol| weighted(symbol, unit, self.weighting.interface(pair));
                Ok(self.places.pull_back(&traces).map(row).collect())
            }
            BoundaryRow::Flux(_) => {
                let fluxes = flux_symbols(self.problem, self.places, &self.places.normals(self.side), 0)?;
                let terms = self.problem.condition_terms(condition, key, self.places)?;
                let row = |(flux, terms): (Symbol, Symbol)| {
                    let whole = flux.plus(terms);
                    let unit = reference_unit(&flux);
                    weighted(whole, unit / (1.0 + (whole.0[0] * unit).abs()), flux_weight)
                };
                let terms: Vec<Symbol> = self.places.pull_back(&terms).collect();
                Ok(fluxes.into_iter().zip(terms).map(row).collect())
            }
        }
    }
}

/// What turns a flux into a derivative of size one in reference coordinates.
fn reference_unit(flux: &Symbol) -> f64 {
    let length = flux.0[1].hypot(flux.0[2]);
    if length > 0.0 { 1.0 / length } else { 1.0 }
}

/// Where a linearised equation degenerates, its rows count as if it had at least this share of its largest size in the subdomain:
/// the p-Laplacian has no leading part where the gradient vanishes, and rows that are all noise would be blown up there.
const LEAST_SIZE: f64 = 0.3;

/// All rows of subdomain s.
pub fn local_rows(
    scene: &Scene<'_>,
    collocation: &Collocation,
    weighting: Weighting,
    units: &[EdgeUnits],
    s: usize,
) -> Result<LocalRows> {
    let subdomain = scene.subdomain(s);
    let (map, equation) = (subdomain.map.as_ref(), &scene.problem.equation);

    let symbols = interior_symbols(scene, s, &collocation.interior)?;
    let mut sizes: Vec<f64> = symbols.iter().map(|symbol| equation.size(symbol)).collect();
    if scene.about.is_some() {
        let least = LEAST_SIZE * sizes.iter().copied().fold(0.0, f64::max);
        sizes.iter_mut().for_each(|size| *size = size.max(least));
    }
    let multiplier = |(&size, &xi): (&f64, &Point)| match weighting {
        Weighting::Unit => Ok(1.0),
        Weighting::Scaled { .. } if size > 0.0 => Ok(weighting.interior(collocation.shape, xi) / size),
        Weighting::Scaled { .. } => Err(vanishing(map.point(xi), s)),
    };
    let interior_multiplier: Arc<[f64]> =
        sizes.iter().zip(&collocation.interior).map(multiplier).collect::<Result<_>>()?;
    let interior: Symbols =
        symbols.iter().zip(&*interior_multiplier).map(|(symbol, &multiplier)| symbol.scaled(multiplier)).collect();
    // Of the product, since in a ring both factors go through many orders of magnitude.
    let areas = magnifications(map, &collocation.interior);
    sizes.iter_mut().zip(areas).for_each(|(size, area)| *size *= area);

    let mut rows = LocalRows {
        interior,
        interior_multiplier,
        layout: collocation.layout(subdomain),
        perimeter: Symbols::new(),
        perimeter_multiplier: Arc::new([]),
        flux: Symbols::new(),
        flux_multiplier: flux_multiplier(weighting, magnification(map.jacobian(map.shape().center()))),
        areas: None,
        balance: None,
    };
    let maker = PerimeterRows { scene, collocation, weighting, units, s };
    let mut found = (Vec::new(), Vec::new());
    for pair in 0..equation.pairs() {
        maker.add_pieces(&rows.layout, pair, &mut found)?;
        maker.add_corners(pair, &mut found)?;
    }
    (rows.perimeter, rows.perimeter_multiplier) = (Symbols::from(found.0.as_slice()), found.1.into());
    // Nobody reads the fluxes through the boundary. They are like the others, so that subdomains there share the factors of those inside.
    let carries_somewhere =
        subdomain.pieces.iter().any(|piece| matches!(piece.behind, Behind::Edge { edge, .. } if units[edge].carries));
    // All sides at once: coefficients are asked for many points in one go.
    let ends = rows.layout.flux_starts.iter().copied().skip(1).chain([rows.layout.fluxes.len()]);
    let counts = rows.layout.flux_starts.iter().zip(ends).map(|(start, end)| end - start);
    let pieces: Vec<&Piece> =
        subdomain.pieces.iter().zip(counts).flat_map(|(piece, count)| repeat_n(piece, count)).collect();
    let node = |&place: &usize| collocation.perimeter[rows.layout.nodes[place]].xi;
    let xi: Vec<Point> = rows.layout.fluxes.iter().map(node).collect();
    let places = scene.places(s, &xi);
    let normals = places.normals_on(pieces.iter().map(|piece| piece.side));
    let carries = |piece: &Piece| match piece.behind {
        Behind::Edge { edge, .. } => units[edge].carries,
        Behind::Boundary(_) => carries_somewhere,
        Behind::Core => false,
    };
    let drift = if carries_somewhere { drift(scene, &places, &normals)? } else { None };
    let mut all = Vec::with_capacity(equation.pairs() * xi.len());
    for pair in 0..equation.pairs() {
        let mut fluxes = flux_symbols(scene.problem, &places, &normals, pair)?;
        for ((flux, drift), piece) in fluxes.iter_mut().zip(drift.iter().flatten()).zip(&pieces) {
            flux.0[0] -= if carries(piece) { *drift } else { 0.0 };
        }
        all.extend(fluxes.iter().map(|symbol| symbol.scaled(rows.flux_multiplier[pair])));
    }
    rows.flux = Symbols::from(all.as_slice());
    if collocation.conserves() {
        let size = collocation.shape.area() * sizes.iter().sum::<f64>() / sizes.len() as f64;
        rows.balance = Some(balance(scene, s, collocation, weighting, size)?);
        let dear = map.affine().is_none() && map.form().is_some();
        rows.areas = dear.then(|| magnifications(map, &collocation.integration.inside).collect());
    }
    Ok(rows)
}

/// Powers of two near the extent of a subdomain with the given magnification, and near its cube.
fn flux_multiplier(weighting: Weighting, magnification: f64) -> [f64; 2] {
    if weighting == Weighting::Unit {
        return [1.0; 2];
    }
    let extent = 2f64.powi((0.5 * magnification.log2()).round() as i32);
    [extent, extent.powi(3)]
}

/// The weight of the flux balance against the equation.
const BALANCE: f64 = 100.0;

/// The weight of the rows where rings end. From 1 to 100 nothing changes.
const CORE: f64 = 1.0;

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

/// Makes the rows on the perimeter of subdomain s.
struct PerimeterRows<'a> {
    scene: &'a Scene<'a>,
    collocation: &'a Collocation,
    weighting: Weighting,
    units: &'a [EdgeUnits],
    s: usize,
}

impl PerimeterRows<'_> {
    fn subdomain(&self) -> &Subdomain {
        self.scene.subdomain(self.s)
    }

    /// The rows of a condition on a part of the boundary, at points of a side.
    fn conditions(&self, part: usize, side: usize, pair: usize, xi: &[Point]) -> Result<Vec<(Symbol, f64)>> {
        let Scene { problem, decomposition, .. } = *self.scene;
        let places = self.scene.places(self.s, xi);
        let maker = ConditionRows { problem, weighting: self.weighting, places: &places, side };
        maker.rows(&problem.conditions[part], &part_name(decomposition, part), pair)
    }

    /// The rows of a transmission pair at the nodes of all pieces, with their multipliers.
    fn add_pieces(
        &self,
        layout: &Layout,
        pair: usize,
        (rows, multipliers): &mut (Vec<Symbol>, Vec<f64>),
    ) -> Result<()> {
        let per_piece = self.collocation.side.len();
        for (piece, &start) in self.subdomain().pieces.iter().zip(&layout.pieces) {
            let nodes: Vec<_> =
                layout.nodes[start..start + per_piece].iter().map(|&node| &self.collocation.perimeter[node]).collect();
            let xi: Vec<Point> = nodes.iter().map(|node| node.xi).collect();
            let found = match piece.behind {
                Behind::Boundary(part) => self.conditions(part, piece.side, pair, &xi)?,
                Behind::Edge { edge, .. } => {
                    let weight = self.weighting.interface(pair);
                    let unit = self.units[edge].trace[pair];
                    let traces = vec![self.scene.problem.equation.trace(pair); xi.len()];
                    let places = Places::new(self.scene.decomposition, self.s, &xi);
                    let row = |symbol: Symbol| (symbol.scaled(weight * unit), weight);
                    places.pull_back(&traces).map(row).collect()
                }
                Behind::Core => self.core(&xi),
            };
            for ((symbol, multiplier), node) in found.into_iter().zip(nodes) {
                rows.push(symbol.scaled(node.root));
                multipliers.push(multiplier * node.root);
            }
        }
        Ok(())
    }

    /// Where rings end, `r du/dr = (x - c) . grad u = 0`, at points of the innermost side.
    fn core(&self, xi: &[Point]) -> Vec<(Symbol, f64)> {
        let map = self.subdomain().map.as_ref();
        let weight = match self.weighting {
            Weighting::Unit => 1.0,
            Weighting::Scaled { .. } => CORE,
        };
        let row = |&xi: &Point| {
            let (_, from_corner) = map.offset(xi);
            (Frame::new(map, xi).gradient(from_corner).scaled(weight), weight)
        };
        xi.iter().map(row).collect()
    }

    /// The rows of a transmission pair at the corners, if they are nodes, with their multipliers.
    fn add_corners(&self, pair: usize, (rows, multipliers): &mut (Vec<Symbol>, Vec<f64>)) -> Result<()> {
        let map = self.subdomain().map.as_ref();
        for node in self.collocation.perimeter.iter().filter(|node| node.corner.is_some()) {
            let corner = node.corner.expect("it is a corner");
            let (symbol, multiplier) = match holds_at(self.scene, self.s, corner) {
                Holds::Interface => {
                    let vertex = &self.scene.decomposition.vertices[self.subdomain().vertices[corner]];
                    let [unit, _] = match self.weighting {
                        Weighting::Unit => [1.0; 2],
                        Weighting::Scaled { .. } => self.scene.problem.equation.units(pair, vertex.width, 1.0),
                    };
                    let weight = self.weighting.interface(pair);
                    let symbol = Frame::new(map, node.xi).pull_back(&self.scene.problem.equation.trace(pair));
                    (symbol.scaled(weight * unit), weight)
                }
                Holds::OnSide(side, part) => self.conditions(part, side, pair, &[node.xi])?[0],
                // The normal of a part that is not a side of the subdomain is not known here.
                Holds::OnPart(part) => match self.scene.problem.conditions[part].row(pair) {
                    BoundaryRow::Trace(_) => self.conditions(part, node.side, pair, &[node.xi])?[0],
                    BoundaryRow::Flux(_) => (Symbol::ZERO, 0.0),
                },
                Holds::Nothing => (Symbol::ZERO, 0.0),
            };
            rows.push(symbol);
            multipliers.push(multiplier);
        }
        Ok(())
    }
}

/// What the perimeter rows of subdomain s say, in their order.
pub fn perimeter_kinds(scene: &Scene<'_>, collocation: &Collocation, s: usize) -> Vec<PerimeterRow> {
    let corners = || collocation.perimeter.iter().filter_map(|node| node.corner);
    let mut kinds = Vec::new();
    for index in 0..scene.problem.equation.pairs() {
        for piece in &scene.subdomain(s).pieces {
            let kind = match piece.behind {
                Behind::Boundary(part) => PerimeterRow::Condition { part, index },
                Behind::Edge { .. } => PerimeterRow::Interface,
                Behind::Core => PerimeterRow::Core,
            };
            kinds.extend(repeat_n(kind, collocation.side.len()));
        }
        kinds.extend(corners().map(|corner| match holds_at(scene, s, corner) {
            Holds::OnSide(_, part) | Holds::OnPart(part) => PerimeterRow::Condition { part, index },
            Holds::Interface | Holds::Nothing => PerimeterRow::Interface,
        }));
    }
    kinds
}

/// What holds at a corner that is a node. On the boundary a condition on u goes before the others.
fn holds_at(scene: &Scene<'_>, s: usize, corner: usize) -> Holds {
    let subdomain = scene.subdomain(s);
    let vertex = &scene.decomposition.vertices[subdomain.vertices[corner]];
    if vertex.parts.is_empty() {
        return Holds::Interface;
    }
    let essential = |part: usize| scene.problem.conditions[part].is_essential();
    // The side to the left or right, then the one above or below.
    let beside = [(corner + 3) % 4, corner];
    let ordered = if corner.is_multiple_of(2) { beside } else { [beside[1], beside[0]] };
    let on: Vec<(usize, usize)> =
        ordered.into_iter().filter_map(|side| Some((side, subdomain.boundary(side)?))).collect();
    let found = on.iter().find(|(_, part)| essential(*part)).or(on.first());
    match (found, vertex.parts.iter().copied().find(|&part| essential(part))) {
        (Some(&(side, part)), _) => Holds::OnSide(side, part),
        (None, Some(part)) => Holds::OnPart(part),
        (None, None) => Holds::Nothing,
    }
}

/// What holds at a corner.
enum Holds {
    /// It is an interface node.
    Interface,
    /// The condition on a side of the subdomain, which is on this part of the boundary.
    OnSide(usize, usize),
    /// The condition on a part of the boundary that meets the subdomain in this corner only.
    OnPart(usize),
    /// Nothing that the subdomain could tell: the parts that meet it in this corner have a condition on the flux.
    Nothing,
}
