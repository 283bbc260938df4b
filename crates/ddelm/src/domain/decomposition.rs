//! The decomposition of the domain: subdomains, edges, and who touches whom.
//!
//! A decomposition is a forest: roots are the cells of a grid, maps that are glued where their sides meet, or the elements of
//! a mesh, and subdomains are its leaves. A side of a subdomain is one piece, or two where it meets two smaller neighbours;
//! a piece lies on a part of the boundary or is one of the two sides of an edge. Sides run counter-clockwise in the reference shape, so
//! that the two sides of an edge run in opposite directions, unless one of them belongs to a mirrored subdomain.
//!
//! No other file knows that the subdomains of a rectangle form a grid.

use std::sync::{Arc, OnceLock};

use crate::base::error::{Error, Result};
use crate::problem::model::SIDES;

use super::boxes::BoxTree;
use super::forest::{Forest, LeafBehind, LeafPiece, Root, RootSide, Span, Wish};
use super::map::{Affine, Map, MapRef, Point, SubMap, magnification, side_speed};
use super::mesh::Mesh;
use super::plane::Rectangle;
use super::shape::Shape;

/// What lies behind a piece of a side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behind {
    /// A part of the outer boundary, numbered as the conditions of the problem.
    Boundary(usize),
    /// An edge shared with a neighbour.
    Edge {
        /// Index into [`Decomposition::edges`].
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
    /// The material it consists of, as a number of [`Decomposition::regions`]; `None` outside of all regions.
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

/// A domain cut into subdomains.
#[derive(Clone)]
pub struct Decomposition {
    /// The subdomains; on a rectangle s = i * Ny + j, i along x.
    pub subdomains: Vec<Subdomain>,
    /// The interfaces.
    pub edges: Vec<Edge>,
    /// The corners of the subdomains.
    pub vertices: Vec<Vertex>,
    /// The names of the parts of the boundary.
    pub parts: Vec<String>,
    /// The names of the regions.
    pub regions: Vec<String>,
    pub(super) trunk: Arc<Trunk>,
    forest: Forest,
    /// The rings about vertices, if there are any: then the leaves are the elements that they are made of.
    pub(super) rings: Option<Arc<Rings>>,
    locator: Locator,
}

/// The roots, and where they come from.
pub(super) struct Trunk {
    pub origin: Origin,
    pub roots: Vec<Root>,
    pub maps: Vec<MapRef>,
    pub regions: Vec<Option<usize>>,
    /// Whether sides are identified that lie elsewhere.
    pub periodic: bool,
}

/// What roots were made from.
#[derive(Clone)]
pub(super) enum Origin {
    Grid { x: [f64; 2], y: [f64; 2], counts: [usize; 2] },
    Maps,
    Mesh(Arc<Mesh>),
}

/// Where the rings of a decomposition come from; see [`ringed`](super::ringed).
pub(super) struct Rings {
    /// The decomposition without them.
    pub base: Decomposition,
    /// Its vertices that have rings, with their exponents.
    pub vertices: Vec<(usize, f64)>,
    /// The subdomain of `base` that every subdomain is, or is a ring of.
    pub elements: Vec<usize>,
    /// Of every subdomain that is a ring the vertex of `base` that it is about, and how many rings are around it.
    pub places: Vec<Option<(usize, usize)>>,
}

/// How a point finds its subdomain.
#[derive(Clone)]
enum Locator {
    Grid,
    /// By boxes, once somebody looks for a point: those of rings take time to find.
    Boxes(Arc<OnceLock<BoxTree>>),
}

/// Subdomains beyond which the interface system takes more than any machine has.
pub(crate) const MOST_SUBDOMAINS: usize = 1 << 18;

/// Coordinates beyond which, and lengths below whose inverse, nothing is computed.
const LARGEST: f64 = 1e30;

/// Numbers that there must be along the side of a subdomain. Points are the same if they are closer than a millionth of
/// it.
const FEWEST_STEPS: f64 = 1e8;

/// The sides of the reference square that lie on the left, right, bottom and top of a rectangle.
const RECTANGLE_SIDES: [usize; 4] = [3, 1, 0, 2];

impl Decomposition {
    /// The rectangle `x[0] < x < x[1]`, `y[0] < y < y[1]` cut into `counts[0] x counts[1]` equal rectangles. The
    /// parts of the boundary are left, right, bottom, top.
    pub fn rectangle(x: [f64; 2], y: [f64; 2], counts: [usize; 2]) -> Result<Self> {
        check_rectangle(x, y, counts)?;
        let [nx, ny] = counts;
        // One width for all, so that congruent subdomains have the same bits and share one factorization.
        let (hx, hy) = ((x[1] - x[0]) / nx as f64, (y[1] - y[0]) / ny as f64);
        let (mut maps, mut roots): (Vec<MapRef>, Vec<Root>) = (Vec::new(), Vec::new());
        for (i, j) in (0..nx).flat_map(|i| (0..ny).map(move |j| (i, j))) {
            maps.push(Arc::new(Affine::rectangle([x[0] + i as f64 * hx, y[0] + j as f64 * hy], hx, hy)));
            // In the order of the sides of the square: bottom, right, top, left.
            let sides = [
                if j > 0 { RootSide::Root(i * ny + j - 1, 2) } else { RootSide::Boundary(2) },
                if i + 1 < nx { RootSide::Root((i + 1) * ny + j, 3) } else { RootSide::Boundary(1) },
                if j + 1 < ny { RootSide::Root(i * ny + j + 1, 0) } else { RootSide::Boundary(3) },
                if i > 0 { RootSide::Root((i - 1) * ny + j, 1) } else { RootSide::Boundary(0) },
            ];
            roots.push(Root { shape: Shape::Quadrilateral, sides: sides.to_vec() });
        }
        let regions = vec![None; maps.len()];
        let trunk = Trunk { origin: Origin::Grid { x, y, counts }, roots, maps, regions, periodic: false };
        Ok(Self::grown(Arc::new(trunk), None, SIDES.map(String::from).to_vec(), Vec::new()))
    }

    /// The elements of a mesh as subdomains.
    pub fn of_mesh(mesh: impl Into<Arc<Mesh>>) -> Result<Self> {
        let mesh = mesh.into();
        if mesh.elements.len() > MOST_SUBDOMAINS {
            return Err(Error::input(
                "domain.mesh",
                format!("{} elements", mesh.elements.len()),
                format!("there can be at most {MOST_SUBDOMAINS} subdomains"),
                "use a coarser mesh and more points",
            ));
        }
        let map = |element: usize| -> MapRef {
            let map = mesh.map(element);
            match map.affine() {
                Some(affine) if map.shape() == Shape::Quadrilateral => Arc::new(affine),
                _ => Arc::new(map),
            }
        };
        let trunk = Trunk {
            origin: Origin::Mesh(mesh.clone()),
            roots: mesh.roots(),
            maps: (0..mesh.elements.len()).map(map).collect(),
            regions: mesh.elements.iter().map(|e| e.region).collect(),
            periodic: false,
        };
        Ok(Self::grown(Arc::new(trunk), None, mesh.names.clone(), mesh.regions.clone()))
    }

    /// The leaves of a forest on the roots; without one every root is a leaf.
    pub(super) fn grown(trunk: Arc<Trunk>, forest: Option<Forest>, parts: Vec<String>, regions: Vec<String>) -> Self {
        let forest = forest.unwrap_or_else(|| Forest::new(&trunk.roots));
        let map = |leaf: &super::forest::Leaf| -> MapRef {
            let root = &trunk.maps[leaf.root];
            if leaf.levels == [0, 0] {
                return root.clone();
            }
            let (origin, size) = leaf.place();
            let map = SubMap { map: root.clone(), origin, size };
            match map.affine() {
                Some(affine) if leaf.shape == Shape::Quadrilateral => Arc::new(affine),
                _ => Arc::new(map),
            }
        };
        let subdomains: Vec<Subdomain> = (forest.leaves().iter())
            .map(|leaf| Subdomain {
                map: map(leaf),
                pieces: Vec::new(),
                vertices: vec![0; leaf.shape.sides()],
                region: trunk.regions[leaf.root],
            })
            .collect();
        let pieces = forest.pieces();
        let (edges, vertices, rings, locator) = (Vec::new(), Vec::new(), None, Locator::Grid);
        let grown = Decomposition { subdomains, edges, vertices, parts, regions, trunk, forest, rings, locator };
        grown.joined(&pieces)
    }

    /// Joins subdomains that have neither pieces nor vertices yet: for every one and each of its sides the pieces.
    pub(super) fn joined(mut self, pieces: &[Vec<Vec<LeafPiece>>]) -> Self {
        self.edges = join(&mut self.subdomains, pieces);
        self.vertices = number_vertices(&mut self.subdomains, &self.edges);
        self.locator = match &self.trunk.origin {
            Origin::Grid { .. } if self.subdomains.len() == self.trunk.roots.len() => Locator::Grid,
            _ => Locator::Boxes(Arc::default()),
        };
        self
    }

    /// Every subdomain cut into four. All lines stay lines, so that what jumps along them still does.
    pub fn refined(&self) -> Result<Self> {
        if let Some((x, y, counts)) = self.grid().filter(|_| !self.is_periodic()) {
            return Self::rectangle(x, y, counts.map(|count| 2 * count));
        }
        self.split(&(0..self.len()).collect::<Vec<_>>())
    }

    /// Some subdomains cut into four, and others until sides that meet differ by at most a factor of two in length.
    pub fn split(&self, which: &[usize]) -> Result<Self> {
        self.split_as(&which.iter().map(|&s| (s, Wish::FOUR)).collect::<Vec<_>>())
    }

    /// Some subdomains cut as is wished, and others until sides that meet differ by at most a factor of two in length. Of a ring
    /// the element that it belongs to is cut into four, and vertices with rings keep them.
    pub fn split_as(&self, which: &[(usize, Wish)]) -> Result<Self> {
        if let Some(rings) = &self.rings {
            return rings.split(which);
        }
        let mut forest = self.forest.clone();
        forest.split(which);
        if forest.leaves().len() > MOST_SUBDOMAINS {
            let problem = format!("there can be at most {MOST_SUBDOMAINS} subdomains");
            return Err(Error::input("discretization", forest.leaves().len(), problem, "use more points"));
        }
        Ok(Self::grown(self.trunk.clone(), Some(forest), self.parts.clone(), self.regions.clone()))
    }

    /// The mesh that it was made of, [cut into quadrilaterals](Mesh::in_quadrilaterals), before anything was split; nothing if it
    /// was made of something else, or has periodic sides.
    pub fn in_quadrilaterals(&self) -> Result<Option<Self>> {
        match &self.trunk.origin {
            Origin::Mesh(mesh) if !self.is_periodic() => mesh.in_quadrilaterals().map(Self::of_mesh).transpose(),
            _ => Ok(None),
        }
    }

    /// Whether sides are identified that lie elsewhere.
    pub fn is_periodic(&self) -> bool {
        self.trunk.periodic
    }

    /// Number of subdomains.
    pub fn len(&self) -> usize {
        self.subdomains.len()
    }

    /// Whether there is no subdomain; never true for a decomposition that was built.
    pub fn is_empty(&self) -> bool {
        self.subdomains.is_empty()
    }

    /// The leaves that the subdomains are, or are rings of.
    pub fn forest(&self) -> &Forest {
        &self.forest
    }

    /// The shapes that subdomains have.
    pub fn shapes(&self) -> Vec<Shape> {
        let has = |shape: &Shape| self.subdomains.iter().any(|s| s.map.shape() == *shape);
        [Shape::Quadrilateral, Shape::Triangle].into_iter().filter(has).collect()
    }

    /// Whether a side meets two smaller neighbours somewhere.
    pub fn has_hanging_sides(&self) -> bool {
        self.subdomains.iter().any(|s| s.pieces.iter().any(|piece| piece.span != Span::Whole))
    }

    /// The subdomain that holds a point, and the point in its reference coordinates. On an interface the subdomain
    /// with the larger index, on a grid, or the one with the smallest.
    pub fn locate(&self, p: Point) -> Option<(usize, Point)> {
        match (&self.locator, &self.trunk.origin) {
            (Locator::Grid, Origin::Grid { x, y, counts }) => {
                let cell = |p: f64, side: [f64; 2], count: usize| {
                    let t = (p - side[0]) / (side[1] - side[0]);
                    (-1e-12..=1.0 + 1e-12).contains(&t).then(|| ((t * count as f64).max(0.0) as usize).min(count - 1))
                };
                let (i, j) = (cell(p[0], *x, counts[0])?, cell(p[1], *y, counts[1])?);
                let s = i * counts[1] + j;
                let affine = self.subdomains[s].map.affine()?;
                // On a grid line the reference point may leave the square by rounding, never by more.
                let xi = [0, 1].map(|a| ((p[a] - affine.origin[a]) / affine.jacobian[a][a]).clamp(0.0, 1.0));
                Some((s, xi))
            }
            (Locator::Boxes(tree), _) => {
                let boxes = || self.subdomains.iter().map(|s| bounding_box(s.map.as_ref())).collect::<Vec<Rectangle>>();
                let mut best: Option<(usize, Point)> = None;
                tree.get_or_init(|| BoxTree::new(&boxes())).at(p, |s| {
                    if best.is_some_and(|(smallest, _)| smallest < s) {
                        return None;
                    }
                    let map = self.subdomains[s].map.as_ref();
                    let xi = map.inverse(p)?;
                    best = Some((s, xi));
                    // Well inside a subdomain there is no other one.
                    (map.shape().outside(xi) < -1e-9).then_some(())
                });
                best
            }
            (Locator::Grid, _) => unreachable!("only a grid is located by its counts"),
        }
    }

    /// The rectangle and its grid, if the decomposition is one.
    pub(super) fn grid(&self) -> Option<([f64; 2], [f64; 2], [usize; 2])> {
        match (&self.locator, &self.trunk.origin) {
            (Locator::Grid, Origin::Grid { x, y, counts }) => Some((*x, *y, *counts)),
            _ => None,
        }
    }

    /// The smallest box that holds the domain: `[x0, x1, y0, y1]`.
    pub fn bounding_box(&self) -> [f64; 4] {
        if let Origin::Grid { x, y, .. } = &self.trunk.origin {
            return [x[0], x[1], y[0], y[1]];
        }
        let around = |s: &Subdomain| outline_points(s.map.as_ref()).collect::<Vec<_>>();
        let Rectangle { low, high } = Rectangle::around(self.subdomains.iter().flat_map(around));
        [low[0], high[0], low[1], high[1]]
    }
}

/// Refuses rectangles and counts that are none.
fn check_rectangle(x: [f64; 2], y: [f64; 2], counts: [usize; 2]) -> Result<()> {
    for (key, side) in [("domain.x", x), ("domain.y", y)] {
        if !(side[0].is_finite() && side[1].is_finite() && side[0] < side[1]) {
            return Err(Error::input(
                key,
                format!("[{}, {}]", side[0], side[1]),
                "an interval needs two finite ends, the smaller one first",
                "for example [0.0, 1.0]",
            ));
        }
    }
    if counts.contains(&0) {
        return Err(Error::input(
            "discretization.subdomains",
            format!("[{}, {}]", counts[0], counts[1]),
            "there must be at least one subdomain in each direction",
            "for example [4, 4]",
        ));
    }
    if counts[0].checked_mul(counts[1]).is_none_or(|count| count > MOST_SUBDOMAINS) {
        return Err(Error::input(
            "discretization.subdomains",
            format!("[{}, {}]", counts[0], counts[1]),
            format!("there can be at most {MOST_SUBDOMAINS} subdomains"),
            "use more points",
        ));
    }
    for (key, side, count) in [("domain.x", x, counts[0]), ("domain.y", y, counts[1])] {
        let (width, size) = ((side[1] - side[0]) / count as f64, side[0].abs().max(side[1].abs()));
        // Powers of the width up to the fourth, and products of two of them, must be numbers.
        let usable = size <= LARGEST && width >= 1.0 / LARGEST;
        if !usable || width < FEWEST_STEPS * f64::EPSILON * size {
            let (problem, hint) = match usable {
                false => ("lengths like this leave the range of numbers", "measure in other units"),
                true => {
                    ("subdomains this small are lost in the rounding of coordinates", "move the domain to the origin")
                }
            };
            return Err(Error::input(key, format!("[{}, {}]", side[0], side[1]), problem, hint));
        }
    }
    Ok(())
}

/// Gives every subdomain its pieces, and returns the edges.
fn join(subdomains: &mut [Subdomain], pieces: &[Vec<Vec<LeafPiece>>]) -> Vec<Edge> {
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
fn number_vertices(subdomains: &mut [Subdomain], edges: &[Edge]) -> Vec<Vertex> {
    let starts: Vec<usize> =
        subdomains.iter().scan(0, |at, s| Some(std::mem::replace(at, *at + s.vertices.len()))).collect();
    let total = starts.last().map_or(0, |last| last + subdomains[subdomains.len() - 1].vertices.len());
    let mut parent: Vec<usize> = (0..total).collect();
    fn find(parent: &mut [usize], mut k: usize) -> usize {
        while parent[k] != k {
            parent[k] = parent[parent[k]];
            k = parent[k];
        }
        k
    }
    // The corners at the ends of a piece; a hanging end is no corner.
    let corners = |side: &EdgeSide| {
        let count = subdomains[side.subdomain].vertices.len();
        let at = |k: usize| starts[side.subdomain] + (side.side + k) % count;
        [(side.span != Span::Second).then(|| at(0)), (side.span != Span::First).then(|| at(1))]
    };
    for edge in edges {
        let [[a0, a1], mut b] = edge.sides.each_ref().map(corners);
        let [first, second] = edge.sides.each_ref().map(|side| subdomains[side.subdomain].map.is_mirrored());
        if first == second {
            b.reverse();
        }
        for (a, b) in [(a0, b[0]), (a1, b[1])] {
            if let (Some(a), Some(b)) = (a, b) {
                let (a, b) = (find(&mut parent, a), find(&mut parent, b));
                parent[a.max(b)] = a.min(b);
            }
        }
    }
    let mut number = vec![usize::MAX; total];
    let mut vertices: Vec<Vertex> = Vec::new();
    for s in 0..subdomains.len() {
        for corner in 0..subdomains[s].vertices.len() {
            let root = find(&mut parent, starts[s] + corner);
            if number[root] == usize::MAX {
                number[root] = vertices.len();
                let map = subdomains[s].map.as_ref();
                let point = map.point(map.shape().corners()[corner]);
                vertices.push(Vertex { point, parts: Vec::new(), width: 1.0 });
            }
            subdomains[s].vertices[corner] = number[root];
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

/// Area over length: the extent of a subdomain across one of its sides. From the Jacobian alone, so that congruent
/// subdomains find the same bits wherever they lie.
pub fn width_across(map: &dyn Map, side: usize) -> f64 {
    let shape = map.shape();
    let middle = shape.side_point(side, 0.5);
    magnification(map.jacobian(shape.center())) / side_speed(map, side, map.jacobian(middle))
}

/// Points on the sides of a subdomain: its corners, and more where they are curved.
fn outline_points(map: &dyn Map) -> impl Iterator<Item = Point> + '_ {
    const STEPS: usize = 8;
    let (shape, steps) = (map.shape(), if map.affine().is_some() { 1 } else { STEPS });
    let side = move |side| (0..steps).map(move |k| map.point(shape.side_point(side, k as f64 / steps as f64)));
    (0..shape.sides()).flat_map(side)
}

/// A box around a subdomain, a little larger than that of points on its sides.
fn bounding_box(map: &dyn Map) -> Rectangle {
    let around = Rectangle::around(outline_points(map));
    let [w, h] = around.extent();
    // A curved side bulges beyond its samples by O(STEPS^-2) of its size.
    let slack = if map.affine().is_some() { 1e-12 } else { 0.03 };
    around.grown(slack * (w + h))
}

/// The name of a part of the boundary, as a path in a problem file.
pub fn part_name(decomposition: &Decomposition, part: usize) -> String {
    format!("boundary.{}", decomposition.parts[part])
}

/// The part of a rectangle's boundary that a side of the reference square lies on.
pub fn rectangle_part(side: usize) -> usize {
    RECTANGLE_SIDES.iter().position(|&s| s == side).expect("a square has four sides")
}

#[cfg(test)]
#[path = "decomposition_tests.rs"]
mod tests;
