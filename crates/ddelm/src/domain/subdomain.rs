//! One subdomain among others: its pieces and vertices, the edges between two of them, and how they are found.

use super::forest::{LeafBehind, LeafPiece, Span};
use super::map::{Map, MapRef, Point, magnification, side_speed};

/// What lies behind a piece of a side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behind {
    /// A part of the outer boundary, numbered as the conditions of the problem.
    Boundary(usize),
    /// An edge shared with a neighbour.
    Edge {
        /// Index into [`Decomposition::edges`](super::decomposition::Decomposition::edges).
        edge: usize,
        /// Whether the side runs against the edge. It does if it is the second of its sides, unless one of the two maps, and not the
        /// other, [turns its shape over](Map::is_mirrored).
        reversed: bool,
    },
    /// The point that rings end at: what is left inside of the innermost one has no subdomain.
    Core,
}

/// A piece of a side of a subdomain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The side.
    pub side: usize,
    /// Which part of it.
    pub span: Span,
    /// What lies behind it.
    pub behind: Behind,
}

/// One subdomain: a map, and what lies around it.
#[derive(Clone)]
pub struct Subdomain {
    /// The map from the reference shape.
    pub map: MapRef,
    /// The pieces of its sides, counter-clockwise.
    pub pieces: Vec<Piece>,
    /// Vertices at the corners of the reference shape.
    pub vertices: Vec<usize>,
    /// The material it consists of, as a number of [`Decomposition::regions`](super::decomposition::Decomposition::regions); `None` outside of all regions.
    pub region: Option<usize>,
}

impl Subdomain {
    /// The part of the boundary that a whole side lies on, if it does.
    pub fn boundary(&self, side: usize) -> Option<usize> {
        self.pieces.iter().filter(|piece| piece.side == side).find_map(|piece| match piece.behind {
            Behind::Boundary(part) => Some(part),
            Behind::Edge { .. } | Behind::Core => None,
        })
    }

    /// The sides on the boundary with their parts.
    pub fn boundaries(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.vertices.len()).filter_map(|side| Some((side, self.boundary(side)?)))
    }
}

/// One of the two sides of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EdgeSide {
    /// The subdomain.
    pub subdomain: usize,
    /// Its side.
    pub side: usize,
    /// Which part of the side.
    pub span: Span,
}

/// An interface between two subdomains. It runs as the side of the first of them does.
#[derive(Debug, Clone)]
pub struct Edge {
    /// The two sides.
    pub sides: [EdgeSide; 2],
    /// Its middle.
    pub midpoint: Point,
    /// Mean extent of the two subdomains across the edge (area / length): the unit of length of its fluxes.
    pub width: f64,
}

/// A point where subdomains meet.
#[derive(Debug, Clone)]
pub struct Vertex {
    /// Where it is.
    pub point: Point,
    /// The parts of the outer boundary that end here; none inside the domain.
    pub parts: Vec<usize>,
    /// The unit of length at a cross point: the width of the first edge that ends here.
    pub width: f64,
}

/// Gives every subdomain its pieces, and returns the edges.
pub(super) fn join(subdomains: &mut [Subdomain], pieces: &[Vec<Vec<LeafPiece>>]) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::new();
    for (s, sides) in pieces.iter().enumerate() {
        for (side, piece) in sides.iter().enumerate().flat_map(|(side, all)| all.iter().map(move |p| (side, p))) {
            let behind = match piece.behind {
                LeafBehind::Boundary(part) => Behind::Boundary(part),
                LeafBehind::Core => Behind::Core,
                LeafBehind::Leaf(t, other, span) if (t, other) < (s, side) => {
                    // The neighbour came first: the edge is there.
                    let first = EdgeSide { subdomain: t, side: other, span };
                    let met = |p: &&Piece| p.side == other && p.span == span;
                    let known = subdomains[t].pieces.iter().find(met).map(|p| p.behind);
                    let Some(Behind::Edge { edge, .. }) = known else { unreachable!("both sides of an edge name it") };
                    debug_assert_eq!(edges[edge].sides[0], first);
                    let mirrored = [s, t].map(|s| subdomains[s].map.is_mirrored());
                    Behind::Edge { edge, reversed: mirrored[0] == mirrored[1] }
                }
                LeafBehind::Leaf(t, other, span) => {
                    let first = EdgeSide { subdomain: s, side, span: piece.span };
                    let second = EdgeSide { subdomain: t, side: other, span };
                    let map = subdomains[s].map.as_ref();
                    let width = 0.5 * (width_across(map, side) + width_across(subdomains[t].map.as_ref(), other));
                    let midpoint = map.point(map.shape().side_point(side, piece.span.along(0.5)));
                    edges.push(Edge { sides: [first, second], midpoint, width });
                    Behind::Edge { edge: edges.len() - 1, reversed: false }
                }
            };
            subdomains[s].pieces.push(Piece { side, span: piece.span, behind });
        }
    }
    edges
}

/// Gives every corner of every subdomain its vertex, and returns the vertices. Corners are the same where edges that end
/// in them say so, never because they are close: those of small subdomains may be.
pub(super) fn number_vertices(subdomains: &mut [Subdomain], edges: &[Edge]) -> Vec<Vertex> {
    let starts: Vec<usize> =
        subdomains.iter().scan(0, |at, s| Some(std::mem::replace(at, *at + s.vertices.len()))).collect();
    let mut same = Same::new(subdomains.iter().map(|s| s.vertices.len()).sum());
    for edge in edges {
        for [a, b] in meeting_corners(subdomains, &starts, edge) {
            same.join(a, b);
        }
    }
    let mut number = vec![usize::MAX; same.parent.len()];
    let mut vertices: Vec<Vertex> = Vec::new();
    for s in 0..subdomains.len() {
        for corner in 0..subdomains[s].vertices.len() {
            let first = same.first(starts[s] + corner);
            if number[first] == usize::MAX {
                number[first] = vertices.len();
                let map = subdomains[s].map.as_ref();
                let point = map.point(map.shape().corners()[corner]);
                vertices.push(Vertex { point, parts: Vec::new(), width: 1.0 });
            }
            subdomains[s].vertices[corner] = number[first];
        }
    }
    for subdomain in subdomains.iter() {
        for (side, part) in subdomain.boundaries() {
            for end in [side, (side + 1) % subdomain.vertices.len()] {
                vertices[subdomain.vertices[end]].parts.push(part);
            }
        }
    }
    for vertex in &mut vertices {
        vertex.parts.sort_unstable();
        vertex.parts.dedup();
    }
    for edge in edges.iter().rev() {
        let EdgeSide { subdomain, side, .. } = edge.sides[0];
        let corners = &subdomains[subdomain].vertices;
        [side, (side + 1) % corners.len()].iter().for_each(|&c| vertices[corners[c]].width = edge.width);
    }
    vertices
}

/// Pairs of corners, counted over all subdomains, that are the same end of an edge. A hanging end is no corner.
fn meeting_corners(
    subdomains: &[Subdomain],
    starts: &[usize],
    edge: &Edge,
) -> impl Iterator<Item = [usize; 2]> + use<> {
    let corners = |side: &EdgeSide| {
        let count = subdomains[side.subdomain].vertices.len();
        let at = |k: usize| starts[side.subdomain] + (side.side + k) % count;
        [side.span.begins().then(|| at(0)), side.span.ends().then(|| at(1))]
    };
    let [a, mut b] = edge.sides.each_ref().map(corners);
    let [first, second] = edge.sides.each_ref().map(|side| subdomains[side.subdomain].map.is_mirrored());
    if first == second {
        b.reverse();
    }
    a.into_iter().zip(b).filter_map(|(a, b)| Some([a?, b?]))
}

/// Sets of things that are the same.
struct Same {
    /// One that is the same and comes earlier; the first of a set has itself.
    parent: Vec<usize>,
}

impl Same {
    fn new(count: usize) -> Self {
        Same { parent: (0..count).collect() }
    }

    fn first(&mut self, mut k: usize) -> usize {
        while self.parent[k] != k {
            self.parent[k] = self.parent[self.parent[k]];
            k = self.parent[k];
        }
        k
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.first(a), self.first(b));
        self.parent[a.max(b)] = a.min(b);
    }
}

/// Area over length: the extent of a subdomain across one of its sides. From the Jacobian alone, so that congruent
/// subdomains find the same bits wherever they lie.
pub fn width_across(map: &dyn Map, side: usize) -> f64 {
    let shape = map.shape();
    let middle = shape.side_point(side, 0.5);
    magnification(map.jacobian(shape.center())) / side_speed(map, side, map.jacobian(middle))
}
