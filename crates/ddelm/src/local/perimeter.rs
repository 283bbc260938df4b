//! The rows on the perimeter of one subdomain: traces, conditions, and where rings end.

use std::iter::repeat_n;

use crate::base::error::Result;
use crate::domain::collocation::{Collocation, Layout};
use crate::domain::decomposition::{Behind, Subdomain, part_name, width_across};
use crate::domain::map::Point;
use crate::local::operator::{EdgeUnits, Weighting, flux_symbols};
use crate::local::places::{Places, Scene};
use crate::network::symbol::{Frame, Symbol};
use crate::problem::model::{Condition, Problem};
use crate::problem::operators::BoundaryRow;

/// The weight of the rows where rings end. From 1 to 100 nothing changes.
const CORE: f64 = 1.0;

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

/// Makes the rows on the perimeter of subdomain s.
pub(super) struct PerimeterRows<'a> {
    pub scene: &'a Scene<'a>,
    pub collocation: &'a Collocation,
    pub weighting: Weighting,
    pub units: &'a [EdgeUnits],
    pub s: usize,
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
    pub fn add_pieces(
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
    pub fn add_corners(&self, pair: usize, (rows, multipliers): &mut (Vec<Symbol>, Vec<f64>)) -> Result<()> {
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
