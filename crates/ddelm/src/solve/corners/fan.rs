//! What lies about a vertex: elements, counter-clockwise, between two sides of the boundary or all around.

use std::f64::consts::TAU;

use super::CLOSE;
use crate::domain::decomposition::{Behind, Decomposition};
use crate::domain::map::{MapRef, Point, unit_normal};
use crate::domain::plane::{cross, distance, dot, norm, subtract};

/// The elements about a vertex, counter-clockwise.
pub(super) struct Fan {
    /// Elements, and their corners at the vertex.
    pub elements: Vec<(usize, usize)>,
    /// The parts of the boundary before the first and after the last of them; `None` for a full turn.
    pub parts: Option<[usize; 2]>,
    /// The angles of the sides between them, one more than elements.
    pub angles: Vec<f64>,
    /// Where the vertex is.
    pub point: Point,
}

/// For every vertex the elements about it, and their corners there.
pub(super) fn around(decomposition: &Decomposition) -> Vec<Vec<(usize, usize)>> {
    let mut around: Vec<Vec<(usize, usize)>> = vec![Vec::new(); decomposition.vertices.len()];
    for (s, subdomain) in decomposition.subdomains.iter().enumerate() {
        subdomain.vertices.iter().enumerate().for_each(|(k, &v)| around[v].push((s, k)));
    }
    around
}

/// The fan of a vertex with such corners about it; `None` where an element has it in the middle of a side, or elsewhere.
pub(super) fn fan(decomposition: &Decomposition, corners: &[(usize, usize)]) -> Option<Fan> {
    let place = |s: usize| &decomposition.subdomains[s];
    // What lies behind the end at the vertex of one of the two sides that end there.
    let behind = |s: usize, side: usize, begins: bool| {
        let mut pieces = place(s).pieces.iter().filter(|piece| piece.side == side);
        if begins { pieces.next() } else { pieces.next_back() }.expect("every side has a piece").behind
    };
    let boundary = |behind: Behind| if let Behind::Boundary(part) = behind { Some(part) } else { None };
    let begins = |&(s, k): &(usize, usize)| boundary(behind(s, k, true));
    let start = *corners.iter().find(|at| begins(at).is_some()).unwrap_or(&corners[0]);
    let first = begins(&start);
    let (mut elements, mut last) = (vec![start], None);
    loop {
        let (s, k) = elements[elements.len() - 1];
        let count = place(s).vertices.len();
        match behind(s, (k + count - 1) % count, false) {
            Behind::Boundary(part) => {
                last = Some(part);
                break;
            }
            Behind::Edge { edge, reversed } => {
                let next = &decomposition.edges[edge].sides[usize::from(!reversed)];
                let at = (next.subdomain, next.side);
                if at == start {
                    break;
                }
                if !next.span.begins() || elements.len() > corners.len() {
                    return None;
                }
                elements.push(at);
            }
            Behind::Core => return None,
        }
    }
    let point = corner_point(&place(start.0).map, start.1);
    let size = |s: usize, k: usize| distance(corner_point(&place(s).map, k), corner_point(&place(s).map, k + 1));
    let here = |&(s, k): &(usize, usize)| distance(corner_point(&place(s).map, k), point) <= CLOSE * size(s, k);
    if elements.len() != corners.len() || first.is_some() != last.is_some() || !elements.iter().all(here) {
        return None;
    }
    let [from, _] = directions(&place(start.0).map, start.1);
    let mut angles = vec![from[1].atan2(from[0])];
    for &(s, k) in &elements {
        let [from, to] = directions(&place(s).map, k);
        angles.push(angles[angles.len() - 1] + cross(from, to).atan2(dot(from, to)));
    }
    if first.is_none() {
        let end = angles.len() - 1;
        angles[end] = angles[0] + TAU;
    }
    Some(Fan { elements, parts: first.zip(last).map(|(a, b)| [a, b]), angles, point })
}

/// A corner of an element.
fn corner_point(map: &MapRef, corner: usize) -> Point {
    let corners = map.shape().corners();
    map.point(corners[corner % corners.len()])
}

/// The directions of the sides of an element that begin and end in one of its corners, away from it.
pub(super) fn directions(map: &MapRef, corner: usize) -> [Point; 2] {
    let corners = map.shape().corners();
    let (count, slope) = (corners.len(), map.jacobian(corners[corner]));
    [corner + 1, corner + count - 1].map(|k| {
        let ray = subtract(corners[k % count], corners[corner]);
        slope.map(|row| dot(row, ray))
    })
}

/// For a distance from the vertex the point of a side at that distance, relative to the vertex, and the outward normal there. The
/// side begins at the vertex, or `ends` there.
pub(super) fn boundary_curve(map: MapRef, side: usize, ends: bool) -> impl Fn(f64) -> (Point, Point) {
    let shape = map.shape();
    let at = move |t: f64| shape.side_point(side, if ends { 1.0 - t } else { t });
    let origin = map.point(at(0.0));
    let straight = map.affine().map(|_| norm(subtract(map.point(at(1.0)), origin)));
    move |r| {
        let offset = |t: f64| subtract(map.point(at(t)), origin);
        let (mut low, mut high) = straight.map_or((0.0, 1.0), |length| (r / length, r / length));
        while high - low > f64::EPSILON * high {
            let middle = 0.5 * (low + high);
            if norm(offset(middle)) < r { low = middle } else { high = middle }
        }
        let t = 0.5 * (low + high);
        (offset(t), unit_normal(map.as_ref(), side, map.jacobian(at(t))))
    }
}
