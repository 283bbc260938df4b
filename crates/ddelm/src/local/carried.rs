//! What advection carries from one subdomain to the next.
//!
//! Traces are rows among others, and the two of an edge differ a little. What advection carries through the difference is the more,
//! beside what diffuses, the faster it is, and where only diffusion balances it is lost: errors then grow from one subdomain to the
//! next. So the fluxes that balance are those of `a grad u - b u`.

use crate::base::error::Result;
use crate::domain::collocation::{Collocation, Nodes};
use crate::domain::decomposition::{Decomposition, Edge, EdgeSide};
use crate::domain::map::Point;
use crate::local::places::{Places, Scene};
use crate::problem::operators::Coefficients;

/// Advection that differs by more than this, relative to it, from one side of an edge to the other jumps.
const SAME_DRIFT: f64 = 1e-9;

/// The nodes along an edge, as reference points of one of its two subdomains, in the order of that one's side.
pub(super) fn along_edge(decomposition: &Decomposition, collocation: &Collocation, side: &EdgeSide) -> Vec<Point> {
    let shape = decomposition.subdomains[side.subdomain].map.shape();
    collocation.side.iter().map(|&t| shape.side_point(side.side, side.span.along(t))).collect()
}

/// What its two subdomains see at the nodes along an edge, in the order of the first.
pub(super) fn from_both_sides(
    scene: &Scene<'_>,
    edge: &Edge,
    seen_from: impl Fn(&EdgeSide) -> Result<Vec<f64>>,
) -> Result<[Vec<f64>; 2]> {
    let (first, mut second) = (seen_from(&edge.sides[0])?, seen_from(&edge.sides[1])?);
    // The side of the neighbour runs the other way unless one of them is mirrored.
    let [a, b] = edge.sides.each_ref().map(|side| scene.subdomain(side.subdomain).map.is_mirrored());
    if a == b {
        second.reverse();
    }
    Ok([first, second])
}

/// What advection carries through an edge, `b . n` at its nodes, where that is part of the fluxes that balance there.
/// Where b itself jumps, `b u` does as well, and fluxes are those of diffusion alone; so they are in nonlinear problems,
/// whose advection is that of the iterate.
pub(crate) fn carries(scene: &Scene<'_>, collocation: &Collocation, edge: &Edge) -> Result<Option<Vec<f64>>> {
    let Scene { problem, decomposition, about } = *scene;
    if problem.equation.advection().is_none() || about.is_some() || collocation.nodes == Nodes::Uniform {
        return Ok(None);
    }
    let seen_from = |side: &EdgeSide| {
        let xi = along_edge(decomposition, collocation, side);
        let places = scene.places(side.subdomain, &xi);
        Ok(drift(scene, &places, &places.normals(side.side))?.unwrap_or_else(|| vec![0.0; xi.len()]))
    };
    let [first, second] = from_both_sides(scene, edge, seen_from)?;
    // The normal of the neighbour points the other way.
    let fastest = first.iter().chain(&second).fold(0.0, |fastest: f64, v| fastest.max(v.abs()));
    let same = first.iter().zip(&second).all(|(a, b)| (a + b).abs() <= SAME_DRIFT * fastest);
    Ok(same.then_some(first))
}

/// `b . n` at points with these outward unit normals, if there is advection.
pub(crate) fn drift(scene: &Scene<'_>, places: &Places<'_>, normals: &[Point]) -> Result<Option<Vec<f64>>> {
    let Some([bx, by]) = scene.problem.equation.advection() else { return Ok(None) };
    let (bx, by) = (places.values(bx, "equation.advection")?, places.values(by, "equation.advection")?);
    Ok(Some(normals.iter().zip(bx.iter().zip(&by)).map(|(n, (x, y))| n[0] * x + n[1] * y).collect()))
}
