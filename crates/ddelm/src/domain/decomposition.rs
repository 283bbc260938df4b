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
use super::corner::RingVertex;
use super::forest::{Forest, LeafPiece, Root, RootSide, Span, Wish};
use super::map::{Affine, Map, MapRef, Point, SubMap};
use super::mesh::Mesh;
use super::plane::Rectangle;
use super::shape::Shape;
use super::subdomain::{join, number_vertices};

pub use super::subdomain::{Behind, Edge, EdgeSide, Piece, Subdomain, Vertex, width_across};

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
    /// Its vertices that have rings.
    pub vertices: Vec<RingVertex>,
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
        Ok(self.with_forest(forest))
    }

    /// Another forest on the same roots.
    pub(super) fn with_forest(&self, forest: Forest) -> Self {
        Self::grown(self.trunk.clone(), Some(forest), self.parts.clone(), self.regions.clone())
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

    /// Whether there are rings about vertices.
    pub fn has_rings(&self) -> bool {
        self.rings.is_some()
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

#[cfg(test)]
#[path = "decomposition_tests.rs"]
mod tests;
