//! The units of edges: what a jump of the flux is measured in.

use crate::base::error::Result;
use crate::domain::collocation::{Collocation, Nodes};
use crate::domain::decomposition::Edge;
use crate::domain::map::{Point, side_speed};
use crate::local::carried::{along_edge, carries, from_both_sides};
use crate::local::operator::{EdgeUnits, Weighting};
use crate::local::places::Scene;
use crate::local::tested::hold;

/// The units of an edge. The flux is measured in units of the larger coefficient of its two sides, and by the length that a
/// node stands for: a jump that is small is small as a force.
///
/// Where rows are tested, the system of the interface times these lengths is symmetric but for advection, and its diagonal is about what values
/// are held by. A jump is then measured in roots of it: no pivot is larger than the one on the diagonal, whatever
/// diffusion and the shapes of subdomains are.
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
    let first = &edge.sides[0];
    let map = decomposition.subdomains[first.subdomain].map.as_ref();
    let speed = |xi: Point| first.span.length() * side_speed(map, first.side, map.jacobian(xi));
    let speeds: Vec<f64> = along(0).into_iter().map(speed).collect();
    let roots = || collocation.perimeter.iter().map(|node| node.root).zip(&speeds);
    let lengths: Vec<f64> = roots().map(|(root, speed)| root * root * speed / speeds.len() as f64).collect();
    if collocation.nodes == Nodes::Gauss {
        let [one, other] = from_both_sides(scene, edge, |side| hold(scene, collocation, side))?;
        let held = one.iter().zip(&other).map(|(a, b)| a + b);
        let stretch = lengths.iter().zip(held).map(|(length, held)| (length / held).sqrt()).collect();
        return Ok(EdgeUnits { stretch, lengths, ..EdgeUnits::UNIT });
    }
    let mut largest = 0.0f64;
    for (k, side) in edge.sides.iter().enumerate() {
        let xi = along(k);
        largest = largest.max(problem.coefficient(&scene.places(side.subdomain, &xi))?);
    }
    let carried = carries(scene, collocation, edge)?;
    let fastest = carried.iter().flatten().fold(0.0, |fastest: f64, v| fastest.max(v.abs()));
    let units = [0, 1].map(|pair| problem.equation.units(pair, h, largest + h * fastest));
    let [trace, flux] = [0, 1].map(|which| units.map(|unit| unit[which]));
    let (stretch, lengths) = match collocation.nodes {
        Nodes::Uniform => (Vec::new(), Vec::new()),
        Nodes::Chebyshev | Nodes::Gauss => (roots().map(|(root, speed)| root * speed / h).collect(), lengths),
    };
    Ok(EdgeUnits { trace, flux, stretch, lengths, carries: carried.is_some() })
}
