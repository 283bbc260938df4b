//! Rows that are tested with every function of the basis, for advection so fast that no subdomain resolves its layers, and for diffusion that prefers a direction.
//!
//! Collocated rows have traces that are alike at both ends of a stream, so that a layer that no subdomain resolves is handed on upstream, and a
//! least-squares problem has no energy that falls along the stream: errors grow from one subdomain to the next. Galerkin's method has one. With
//! the interface values U, the outward normal n, `b+ = max(b . n, 0)`, `b- = max(-b . n, 0)` and a penalty s, the solution u of a subdomain has, for every
//! function v of its basis,
//!
//! ```text
//! int (L u - f) v + oint ((s + b-) v - n . a grad v) (u - U) = 0,
//! ```
//!
//! with the given values for U where u is given, and with `oint (n . a grad u - g) v` where the flux is. What balances between two subdomains is
//!
//! ```text
//! n . a grad u - (s + b+) (u - U).
//! ```
//!
//! Least squares weigh the equation, however weak it is in a direction, and follow noise where it hardly tells; this is an energy, and does not.
//! Where advection wins, U is the value that comes from upstream, and downstream it is held; where it does not, this is a penalty method as good as any. Every
//! integral is a sum over nodes, so that all this is the rows of K as they are, times a matrix of tests P: `P K c = P (F + E u)`. Values at the nodes of a side are enough for
//! it only if they tell the traces of all functions apart: hence n nodes on a side, and no more functions than polynomials of degree n + 1.
//!
//! # References
//!
//! Cockburn, Dong, Guzman, Restelli, Sacco, SIAM J. Sci. Comput. 31 (2009), on hybridizable discontinuous Galerkin methods for convection and diffusion.

use std::sync::Arc;

use crate::base::error::Result;
use crate::domain::collocation::{Collocation, Layout};
use crate::domain::decomposition::{Behind, EdgeSide, Piece};
use crate::domain::map::{Point, magnification, magnifications, side_speed};
use crate::domain::shape::Shape;
use crate::local::carried::{along_edge, drift};
use crate::local::operator::EdgeUnits;
use crate::local::places::Scene;
use crate::network::symbol::{Frame, Symbol, Symbols};
use crate::problem::operators::{BoundaryRow, Coefficients};

/// The penalty is this times `n^2 a / h`. From 2 to 100 little changes.
const PENALTY: f64 = 4.0;

/// Least squares do where advection, in reference coordinates, is at most this times the square of the points beside diffusion.
const SLOW: f64 = 0.25;

/// Diffusion in the strong direction over that in the weak one, from which on it matters how subdomains lie in it.
const STRETCHED: f64 = 16.0;

/// The derivative along both reference coordinates, beside those along each, that least squares do with.
const SKEW: f64 = 0.8;

/// Where a subdomain is asked; a quadrilateral beyond its diagonal as well.
const ASKED: [Point; 5] = [[0.3, 0.3], [0.02, 0.05], [0.9, 0.05], [0.05, 0.9], [0.45, 0.45]];

/// The tests of the rows of a subdomain.
#[derive(Debug, Clone, PartialEq)]
pub struct Tests {
    /// What the functions of the basis are tested by at the interior nodes.
    pub interior: Symbols,
    /// ... and at the perimeter nodes.
    pub perimeter: Symbols,
    /// `s + b+` at the perimeter nodes: what of the trace is taken from the fluxes,
    pub leaving: Vec<f64>,
    /// ... and what of the interface value is added instead, for fluxes as they stand; zero where the flux is given.
    pub entering: Vec<f64>,
    /// The area that every interior node stands for.
    pub areas: Vec<f64>,
    /// What the square of a perimeter row counts in the square of the layer that it stands for; zero where the flux is given.
    ///
    /// Where a stream leaves, a value is hardly held: what u misses of it is a layer, which falls like `exp(-(b . n) r / a)` at the distance r
    /// and is in no difference of two solutions that both have none.
    pub layers: Vec<f64>,
}

/// What a side does at one of its nodes.
struct Node {
    /// n . a grad, in reference coordinates.
    flux: Symbol,
    /// The length that the node stands for.
    length: f64,
    /// s
    penalty: f64,
    /// n . a n
    across: f64,
    /// b . n
    drift: f64,
    /// How thick a layer along the side is, by the integral of its square.
    thickness: f64,
}

/// Makes the tests of subdomain s.
pub(super) struct Maker<'a> {
    pub scene: &'a Scene<'a>,
    pub collocation: &'a Collocation,
    pub units: &'a [EdgeUnits],
    pub s: usize,
}

impl Maker<'_> {
    /// The tests of rows with these multipliers.
    pub fn tests(&self, layout: &Layout, interior: &Arc<[f64]>, perimeter: &[f64]) -> Result<Tests> {
        let (subdomain, collocation) = (self.scene.subdomain(self.s), self.collocation);
        let areas =
            collocation.interior_weights.iter().zip(magnifications(subdomain.map.as_ref(), &collocation.interior));
        let areas: Vec<f64> = areas.map(|(w, area)| w * area).collect();
        let inside = areas.iter().zip(&**interior).map(|(area, multiplier)| Symbol::TRACE.scaled(area / multiplier));
        let (mut around, mut leaving) = (Vec::new(), Vec::new());
        let (mut entering, mut layers) = (Vec::new(), Vec::new());
        for (piece, &start) in subdomain.pieces.iter().zip(&layout.pieces) {
            let places = start..start + collocation.side.len();
            let nodes = &layout.nodes[places.clone()];
            for ((node, place), &number) in self.nodes(piece, nodes)?.iter().zip(places).zip(nodes) {
                let length = node.length / perimeter[place];
                let held = Symbol::TRACE.scaled(node.penalty + (-node.drift).max(0.0)).plus(node.flux.scaled(-1.0));
                let out = node.penalty + node.drift.max(0.0);
                let layer = node.thickness * length / perimeter[place];
                let (test, enters, layer) = match piece.behind {
                    Behind::Edge { edge, .. } => {
                        let unit = self.units[edge].trace[0];
                        (held.scaled(length / unit), out / unit, layer / (unit * unit))
                    }
                    Behind::Boundary(part) => match self.scene.problem.conditions[part].row(0) {
                        // Nobody reads its flux, and so its subdomain may share the factor of those inside.
                        BoundaryRow::Trace(_) => (held.scaled(length), out, layer),
                        BoundaryRow::Flux(_) => (Symbol::TRACE.scaled(length), 0.0, 0.0),
                    },
                    Behind::Core => {
                        let (_, from_corner) = subdomain.map.offset(collocation.perimeter[number].xi);
                        let distance = from_corner[0].hypot(from_corner[1]);
                        (Symbol::TRACE.scaled(-node.across * length / distance), 0.0, 0.0)
                    }
                };
                around.push(test);
                leaving.push(out);
                entering.push(enters);
                layers.push(layer);
            }
        }
        let (interior, perimeter) = (inside.collect(), Symbols::from(around.as_slice()));
        Ok(Tests { interior, perimeter, leaving, entering, areas, layers })
    }

    /// What a piece of a side does at its nodes.
    fn nodes(&self, piece: &Piece, nodes: &[usize]) -> Result<Vec<Node>> {
        let Maker { scene, collocation, s, .. } = *self;
        let xi: Vec<Point> = nodes.iter().map(|&node| collocation.perimeter[node].xi).collect();
        let mut found = side_nodes(scene, collocation.points, s, piece.side, &xi)?;
        for (node, &number) in found.iter_mut().zip(nodes) {
            node.length *= collocation.perimeter[number].root.powi(2) * piece.span.length() / nodes.len() as f64;
        }
        Ok(found)
    }
}

/// How strongly values are held on one side of an edge: `s + |b . n|` at its nodes, in the order of that side.
pub(super) fn hold(scene: &Scene<'_>, collocation: &Collocation, side: &EdgeSide) -> Result<Vec<f64>> {
    let xi = along_edge(scene.decomposition, collocation, side);
    let nodes = side_nodes(scene, collocation.points, side.subdomain, side.side, &xi)?;
    Ok(nodes.iter().map(|node| node.penalty + node.drift.abs()).collect())
}

/// What a side of subdomain s does at nodes that each stand for the length of all of it.
fn side_nodes(scene: &Scene<'_>, points: usize, s: usize, side: usize, xi: &[Point]) -> Result<Vec<Node>> {
    let map = scene.subdomain(s).map.as_ref();
    let places = scene.places(s, xi);
    let normals = places.normals(side);
    let fluxes = scene.problem.flux(0, &places, &normals)?;
    let drift = drift(scene, &places, &normals)?.unwrap_or_else(|| vec![0.0; xi.len()]);
    let node = |(k, flux): (usize, Symbol)| {
        let jacobian = map.jacobian(xi[k]);
        let length = side_speed(map, side, jacobian);
        let across = fluxes[k].0[1] * normals[k][0] + fluxes[k].0[2] * normals[k][1];
        let width = magnification(jacobian) / length;
        // Where the stream runs along a side, a layer spreads like the square root of the way.
        let spread = (across * length / (drift[k].abs() + across / width)).sqrt();
        Node {
            flux,
            length,
            penalty: PENALTY * (points * points) as f64 * across / width,
            across,
            drift: drift[k],
            thickness: (across / (2.0 * drift[k].abs())).min(spread).min(width),
        }
    };
    Ok(places.pull_back(&fluxes).enumerate().map(node).collect())
}

/// Whether collocated rows are too weak on subdomain s: where advection is too fast for them, in reference coordinates and beside
/// diffusion; and where diffusion prefers a direction which is not one of the subdomain's, or there are corners with rings.
pub(crate) fn asks_for_tests(scene: &Scene<'_>, points: usize, s: usize) -> Result<bool> {
    let map = scene.subdomain(s).map.as_ref();
    let beyond = ASKED.iter().filter(|_| map.shape() == Shape::Quadrilateral).map(|xi| xi.map(|t| 1.0 - t));
    let asked: Vec<Point> = ASKED.into_iter().chain(beyond).collect();
    let places = scene.places(s, &asked);
    let symbols = scene.problem.interior(&places)?;
    let streams = match scene.problem.equation.advection() {
        Some([bx, by]) => {
            let (bx, by) = (places.values(bx, "equation.advection")?, places.values(by, "equation.advection")?);
            bx.into_iter().zip(by).map(|(x, y)| [x, y]).collect()
        }
        None => vec![[0.0; 2]; asked.len()],
    };
    let has_rings = scene.decomposition.has_rings();
    let limit = SLOW * (points * points) as f64;
    let asks = |(k, frame): (usize, Frame)| {
        let stream = frame.gradient(streams[k]).0;
        let [_, _, _, xx, xy, yy, ..] = frame.pull_back(&symbols[k]).0;
        let fast = stream[1].hypot(stream[2]) > limit * xx.abs().max(yy.abs());
        fast || is_stretched(&symbols[k]) && (has_rings || xy * xy > 4.0 * SKEW * SKEW * xx * yy)
    };
    Ok(Frame::at(map, &asked).enumerate().any(asks))
}

/// Whether diffusion is much stronger in one direction than in the other.
fn is_stretched(operator: &Symbol) -> bool {
    let [_, _, _, xx, xy, yy, ..] = operator.0;
    let (mean, spread) = (0.5 * (xx + yy).abs(), (0.5 * (xx - yy)).hypot(0.5 * xy));
    mean + spread > STRETCHED * (mean - spread)
}
