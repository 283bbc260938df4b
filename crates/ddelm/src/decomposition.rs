//! The decomposition of the domain: subdomains, edges, and who touches whom with which orientation.
//!
//! An interface is an edge with two sides and an orientation, never a grid line: no other file knows that the
//! subdomains of a rectangle form a grid.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::map::{Affine, Map, MapDescription, MapRef, Point, determinant, side_point};

/// What lies behind a side of a subdomain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// A part of the outer boundary, numbered as the conditions of the problem.
    Boundary(usize),
    /// An edge shared with a neighbour.
    Interface {
        /// Index into [`Decomposition::edges`].
        edge: usize,
        /// Whether the side runs against the edge.
        reversed: bool,
    },
}

/// One subdomain: a map, and what lies behind its left, right, bottom and top side.
#[derive(Clone)]
pub struct Subdomain {
    /// The map from the reference square.
    pub map: MapRef,
    /// Left, right, bottom, top.
    pub sides: [Side; 4],
    /// Vertices at the reference corners (0,0), (1,0), (0,1), (1,1).
    pub vertices: [usize; 4],
}

/// An interface between two subdomains. It runs as the side of the first of them does.
#[derive(Debug, Clone)]
pub struct Edge {
    /// The two sides, as (subdomain, side).
    pub sides: [(usize, usize); 2],
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
    /// Whether it lies on the outer boundary.
    pub boundary: bool,
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
    /// Number of parts of the boundary.
    pub parts: usize,
    locator: Locator,
}

/// How a point finds its subdomain.
#[derive(Clone)]
enum Locator {
    Grid { x: [f64; 2], y: [f64; 2], counts: [usize; 2] },
    Boxes(Arc<[[f64; 4]]>),
}

/// A decomposition as numbers: what a file holds of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Geometry {
    /// A rectangle cut into equal rectangles.
    Rectangle {
        /// Left and right end.
        x: [f64; 2],
        /// Lower and upper end.
        y: [f64; 2],
        /// Subdomains in each direction.
        subdomains: [usize; 2],
    },
    /// The union of the images of the reference square.
    Maps {
        /// One map per subdomain.
        maps: Vec<MapDescription>,
        /// For every subdomain, the part of the boundary on its left, right, bottom and top; `None` at an interface.
        boundary: Vec<[Option<usize>; 4]>,
        /// Number of parts of the boundary.
        parts: usize,
    },
}

impl Geometry {
    /// Number of subdomains, if it is a number at all.
    pub fn subdomains(&self) -> Option<usize> {
        match self {
            Geometry::Rectangle { subdomains: [nx, ny], .. } => nx.checked_mul(*ny),
            Geometry::Maps { maps, .. } => Some(maps.len()),
        }
    }

    /// The decomposition that is described.
    pub fn decomposition(&self) -> Result<Decomposition> {
        match self {
            Geometry::Rectangle { x, y, subdomains } => Decomposition::rectangle(*x, *y, *subdomains),
            Geometry::Maps { maps, boundary, parts } => {
                let maps = maps.iter().map(|map| map.map()).collect();
                // A side without a part gets a number that `glue` refuses.
                Decomposition::glue(maps, *parts, |s, side, _| {
                    boundary.get(s).and_then(|sides| sides[side]).unwrap_or(usize::MAX)
                })
            }
        }
    }
}

/// Corners at the ends (t = 0, t = 1) of each side, as indices into `Subdomain::vertices`.
pub const SIDE_CORNERS: [[usize; 2]; 4] = [[0, 2], [1, 3], [0, 1], [2, 3]];

const CORNERS: [Point; 4] = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];

impl Decomposition {
    /// The rectangle `x[0] < x < x[1]`, `y[0] < y < y[1]` cut into `counts[0] x counts[1]` equal rectangles. The
    /// parts of the boundary are left, right, bottom, top.
    pub fn rectangle(x: [f64; 2], y: [f64; 2], counts: [usize; 2]) -> Result<Self> {
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
        // One width for all, so that congruent subdomains have the same bits and share one factorization.
        let (hx, hy) = ((x[1] - x[0]) / counts[0] as f64, (y[1] - y[0]) / counts[1] as f64);
        let mut maps: Vec<MapRef> = Vec::with_capacity(counts[0] * counts[1]);
        for i in 0..counts[0] {
            for j in 0..counts[1] {
                maps.push(Arc::new(Affine::rectangle([x[0] + i as f64 * hx, y[0] + j as f64 * hy], hx, hy)));
            }
        }
        let part = |p: Point| {
            let distances = [p[0] - x[0], x[1] - p[0], p[1] - y[0], y[1] - p[1]];
            let scale = [hx, hx, hy, hy];
            (0..4)
                .min_by(|&a, &b| (distances[a] / scale[a]).abs().total_cmp(&(distances[b] / scale[b]).abs()))
                .unwrap_or(0)
        };
        let mut decomposition = Self::from_maps(maps, 4, part)?;
        decomposition.locator = Locator::Grid { x, y, counts };
        Ok(decomposition)
    }

    /// The union of the images of the reference square under `maps`. Sides with the same ends and middle are glued
    /// to an interface; of the other sides, `part` of the midpoint says which part of the boundary they belong to.
    ///
    /// Neighbours must share whole sides, with the same points at the same parameter, or at the opposite one.
    pub fn from_maps(maps: Vec<MapRef>, parts: usize, part: impl Fn(Point) -> usize) -> Result<Self> {
        Self::glue(maps, parts, |_, _, midpoint| part(midpoint))
    }

    /// [`Decomposition::from_maps`] with a part for each open side: its subdomain, which side, and its midpoint.
    fn glue(maps: Vec<MapRef>, parts: usize, part: impl Fn(usize, usize, Point) -> usize) -> Result<Self> {
        let geometry = |problem: String| Error::Input {
            key: "decomposition".into(),
            value: format!("{} maps", maps.len()),
            problem,
            hint: "neighbouring subdomains share whole sides, and every map has a positive Jacobian".into(),
        };
        let boxes: Vec<[f64; 4]> = maps.iter().map(bounding_box).collect();
        let smallest = boxes.iter().map(|b| (b[1] - b[0]).min(b[3] - b[2])).fold(f64::INFINITY, f64::min);
        if maps.is_empty() || !(smallest > 0.0 && smallest.is_finite()) {
            return Err(geometry("a subdomain has no area".into()));
        }
        let mut glue = Glue { cell: 1e-6 * smallest, seen: HashMap::new() };
        let mut vertices: Vec<Vertex> = Vec::new();
        let mut edges: Vec<Edge> = Vec::new();
        let mut open: HashMap<usize, (usize, usize)> = HashMap::new();
        let mut subdomains: Vec<Subdomain> = Vec::with_capacity(maps.len());
        for (s, map) in maps.iter().enumerate() {
            let det = determinant(map.jacobian([0.5, 0.5]));
            if !(det > 0.0 && det.is_finite()) {
                return Err(geometry(format!("the Jacobian of subdomain {s} is {det} at its centre")));
            }
            let corners = CORNERS.map(|c| {
                let point = map.point(c);
                glue.find(point, 0).unwrap_or_else(|| {
                    vertices.push(Vertex { point, boundary: false });
                    glue.insert(point, 0, vertices.len() - 1)
                })
            });
            let mut sides = [Side::Boundary(0); 4];
            for (side, link) in sides.iter_mut().enumerate() {
                let midpoint = map.point(side_point(side, 0.5));
                let Some(key) = glue.find(midpoint, 1) else {
                    glue.insert(midpoint, 1, 4 * s + side);
                    open.insert(4 * s + side, (s, side));
                    continue;
                };
                let Some((t, other)) = open.remove(&key) else {
                    return Err(geometry(format!("three subdomains share the side at {midpoint:?}")));
                };
                let reversed = same_side(&maps[t], other, map, side, glue.cell).ok_or_else(|| {
                    geometry(format!("subdomains {t} and {s} do not share their side at {midpoint:?}"))
                })?;
                let edge = edges.len();
                if t == s {
                    return Err(geometry(format!("subdomain {s} touches itself")));
                }
                let width = 0.5 * (width_across(maps[t].as_ref(), other) + width_across(map.as_ref(), side));
                edges.push(Edge { sides: [(t, other), (s, side)], midpoint, width });
                subdomains[t].sides[other] = Side::Interface { edge, reversed: false };
                *link = Side::Interface { edge, reversed };
            }
            subdomains.push(Subdomain { map: map.clone(), sides, vertices: corners });
        }
        for (s, side) in open.into_values() {
            let midpoint = maps[s].point(side_point(side, 0.5));
            let index = part(s, side, midpoint);
            if index >= parts {
                return Err(geometry(format!("the side at {midpoint:?} is on part {index}, of {parts}")));
            }
            subdomains[s].sides[side] = Side::Boundary(index);
            for corner in SIDE_CORNERS[side] {
                vertices[subdomains[s].vertices[corner]].boundary = true;
            }
        }
        Ok(Decomposition { subdomains, edges, vertices, parts, locator: Locator::Boxes(boxes.into()) })
    }

    /// Number of subdomains.
    pub fn len(&self) -> usize {
        self.subdomains.len()
    }

    /// Whether there is no subdomain; never true for a decomposition that was built.
    pub fn is_empty(&self) -> bool {
        self.subdomains.is_empty()
    }

    /// The subdomain that holds a point, and the point in its reference coordinates. On an interface the subdomain
    /// with the larger index, on a grid, or the first, on a decomposition by maps.
    pub fn locate(&self, p: Point) -> Option<(usize, Point)> {
        match &self.locator {
            Locator::Grid { x, y, counts } => {
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
            Locator::Boxes(boxes) => boxes.iter().enumerate().find_map(|(s, b)| {
                let inside = p[0] >= b[0] && p[0] <= b[1] && p[1] >= b[2] && p[1] <= b[3];
                if inside { self.subdomains[s].map.inverse(p).map(|xi| (s, xi)) } else { None }
            }),
        }
    }

    /// The rectangle and its grid, if the decomposition is one.
    pub fn grid(&self) -> Option<([f64; 2], [f64; 2], [usize; 2])> {
        match self.locator {
            Locator::Grid { x, y, counts } => Some((x, y, counts)),
            Locator::Boxes(_) => None,
        }
    }

    /// The decomposition as numbers, if all of its maps have them.
    pub fn geometry(&self) -> Option<Geometry> {
        if let Some((x, y, subdomains)) = self.grid() {
            return Some(Geometry::Rectangle { x, y, subdomains });
        }
        let part = |side: Side| match side {
            Side::Boundary(part) => Some(part),
            Side::Interface { .. } => None,
        };
        Some(Geometry::Maps {
            maps: self.subdomains.iter().map(|s| s.map.description()).collect::<Option<_>>()?,
            boundary: self.subdomains.iter().map(|s| s.sides.map(part)).collect(),
            parts: self.parts,
        })
    }

    /// The smallest box that holds the domain: `[x0, x1, y0, y1]`.
    pub fn bounding_box(&self) -> [f64; 4] {
        match &self.locator {
            Locator::Grid { x, y, .. } => [x[0], x[1], y[0], y[1]],
            Locator::Boxes(boxes) => {
                boxes.iter().fold([f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::NEG_INFINITY], |a, b| {
                    [a[0].min(b[0]), a[1].max(b[1]), a[2].min(b[2]), a[3].max(b[3])]
                })
            }
        }
    }
}

/// Points by position, to a tolerance: kind 0 are vertices, kind 1 the middles of sides.
struct Glue {
    cell: f64,
    seen: HashMap<(i64, i64, u8), Vec<(Point, usize)>>,
}

impl Glue {
    fn key(&self, p: Point) -> (i64, i64) {
        let k = |v: f64| (v / (4.0 * self.cell)).floor() as i64;
        (k(p[0]), k(p[1]))
    }

    fn find(&self, p: Point, kind: u8) -> Option<usize> {
        let (i, j) = self.key(p);
        for (di, dj) in (-1..=1).flat_map(|a| (-1..=1).map(move |b| (a, b))) {
            for &(q, id) in self.seen.get(&(i + di, j + dj, kind)).into_iter().flatten() {
                if (p[0] - q[0]).hypot(p[1] - q[1]) < self.cell {
                    return Some(id);
                }
            }
        }
        None
    }

    fn insert(&mut self, p: Point, kind: u8, id: usize) -> usize {
        let (i, j) = self.key(p);
        self.seen.entry((i, j, kind)).or_default().push((p, id));
        id
    }
}

/// Whether two sides have the same points: `Some(false)` at the same parameter, `Some(true)` at the opposite one.
fn same_side(a: &MapRef, side_a: usize, b: &MapRef, side_b: usize, tolerance: f64) -> Option<bool> {
    let agree = |reversed: bool| {
        [0.0, 0.2, 0.5, 0.7, 1.0].iter().all(|&t| {
            let p = a.point(side_point(side_a, t));
            let q = b.point(side_point(side_b, if reversed { 1.0 - t } else { t }));
            (p[0] - q[0]).hypot(p[1] - q[1]) < tolerance
        })
    };
    [false, true].into_iter().find(|&reversed| agree(reversed))
}

/// Area over length: the extent of a subdomain across one of its sides. From the Jacobian alone, so that congruent
/// subdomains find the same bits wherever they lie.
pub fn width_across(map: &dyn Map, side: usize) -> f64 {
    let j = map.jacobian(side_point(side, 0.5));
    let tangent = if side < 2 { [j[0][1], j[1][1]] } else { [j[0][0], j[1][0]] };
    determinant(map.jacobian([0.5, 0.5])) / tangent[0].hypot(tangent[1])
}

/// A box around a subdomain, a little larger than the images of points on its sides and inside.
fn bounding_box(map: &MapRef) -> [f64; 4] {
    const STEPS: usize = 16;
    let mut b = [f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::NEG_INFINITY];
    for i in 0..=STEPS {
        for j in 0..=STEPS {
            let p = map.point([i as f64 / STEPS as f64, j as f64 / STEPS as f64]);
            b = [b[0].min(p[0]), b[1].max(p[0]), b[2].min(p[1]), b[3].max(p[1])];
        }
    }
    // A curved side bulges beyond its samples by O(STEPS^-2) of its size.
    let slack = if map.affine().is_some() { 1e-12 } else { 0.02 };
    let (dx, dy) = (slack * (b[1] - b[0]), slack * (b[3] - b[2]));
    [b[0] - dx, b[1] + dx, b[2] - dy, b[3] + dy]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::Polar;
    use proptest::prelude::*;

    #[test]
    fn a_grid_has_the_edges_and_vertices_of_a_grid() {
        let d = Decomposition::rectangle([-1.0, 2.0], [0.0, 1.0], [5, 3]).unwrap();
        assert_eq!(d.len(), 15);
        assert_eq!(d.edges.len(), 4 * 3 + 5 * 2);
        assert_eq!(d.vertices.len(), 6 * 4);
        assert_eq!(d.vertices.iter().filter(|v| !v.boundary).count(), 4 * 2);
        // s = i * Ny + j
        assert_eq!(d.subdomains[3].map.point([0.0, 0.0]), [-1.0 + 3.0 / 5.0, 0.0]);
        assert_eq!(d.subdomains[0].sides[0], Side::Boundary(0));
        assert_eq!(d.subdomains[0].sides[2], Side::Boundary(2));
        assert_eq!(d.subdomains[14].sides[1], Side::Boundary(1));
        assert_eq!(d.subdomains[14].sides[3], Side::Boundary(3));
    }

    #[test]
    fn both_sides_of_an_edge_name_the_same_points_also_reversed() {
        // The second subdomain is turned by half a turn: it meets the first with its right side, upside down.
        let maps: Vec<MapRef> = vec![
            Arc::new(Affine::rectangle([0.0, 0.0], 1.0, 1.0)),
            Arc::new(Affine { origin: [2.0, 1.0], jacobian: [[-1.0, 0.0], [0.0, -1.0]] }),
        ];
        let d = Decomposition::from_maps(maps, 1, |_| 0).unwrap();
        assert_eq!(d.edges.len(), 1);
        assert_eq!(d.edges[0].sides, [(0, 1), (1, 1)]);
        assert_eq!(d.subdomains[1].sides[1], Side::Interface { edge: 0, reversed: true });
    }

    #[test]
    fn a_whole_annulus_closes_on_itself() {
        let maps: Vec<MapRef> = (0..6)
            .map(|k| {
                let step = std::f64::consts::TAU / 6.0;
                let angle = [k as f64 * step, (k + 1) as f64 * step];
                Arc::new(Polar { centre: [0.0; 2], radius: [1.0, 2.0], angle }) as MapRef
            })
            .collect();
        let d = Decomposition::from_maps(maps, 2, |p| usize::from(p[0].hypot(p[1]) > 1.5)).unwrap();
        assert_eq!(d.edges.len(), 6);
        let (s, xi) = d.locate([-1.3, -0.2]).unwrap();
        let back = d.subdomains[s].map.point(xi);
        assert!((back[0] + 1.3).abs() < 1e-12 && (back[1] + 0.2).abs() < 1e-12);
        assert!(d.locate([0.0, 0.5]).is_none());
    }

    #[test]
    fn geometry_rebuilds_the_decomposition() {
        let rectangle = Decomposition::rectangle([-1.0, 2.0], [0.1, 1.0], [5, 3]).unwrap();
        let sector = |k: usize| {
            let angle = [k as f64 * 0.7, (k + 1) as f64 * 0.7];
            Arc::new(Polar { centre: [0.1; 2], radius: [1.0, 2.0], angle }) as MapRef
        };
        let ring = Decomposition::from_maps(vec![sector(0), sector(1)], 3, |p| {
            if p[0].hypot(p[1]) > 1.8 { 2 } else { usize::from(p[1] > 1.0) }
        });
        let graded = Decomposition::graded_rectangle([0.0, 1.0], [0.0, 2.0], [2, 3], 2).unwrap();
        for d in [rectangle, ring.unwrap(), graded] {
            let back = d.geometry().unwrap().decomposition().unwrap();
            assert_eq!(back.parts, d.parts);
            for (a, b) in back.subdomains.iter().zip(&d.subdomains) {
                assert_eq!((a.sides, a.vertices), (b.sides, b.vertices));
                assert_eq!(a.map.point([0.3, 0.7]), b.map.point([0.3, 0.7]));
            }
        }
    }

    #[test]
    fn sides_that_only_partly_match_are_refused_by_name() {
        let maps: Vec<MapRef> =
            vec![Arc::new(Affine::rectangle([0.0, 0.0], 1.0, 1.0)), Arc::new(Affine::rectangle([1.0, 0.25], 1.0, 0.5))];
        let message = Decomposition::from_maps(maps, 1, |_| 0).err().unwrap().to_string();
        assert!(message.contains("subdomains 0 and 1"), "{message}");
    }

    proptest! {
        #[test]
        fn subdomains_tile_the_rectangle(nx in 1usize..7, ny in 1usize..7, px in 0.0..=1.0f64, py in 0.0..=1.0f64) {
            let d = Decomposition::rectangle([-2.0, 1.0], [3.0, 3.5], [nx, ny]).unwrap();
            let p = [-2.0 + 3.0 * px, 3.0 + 0.5 * py];
            let (s, xi) = d.locate(p).unwrap();
            let q = d.subdomains[s].map.point(xi);
            prop_assert!((p[0] - q[0]).abs() < 1e-14 && (p[1] - q[1]).abs() < 1e-14);
        }

        #[test]
        fn every_edge_links_back(nx in 1usize..6, ny in 1usize..6) {
            let d = Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [nx, ny]).unwrap();
            for (e, edge) in d.edges.iter().enumerate() {
                for (s, side) in edge.sides {
                    let linked = matches!(d.subdomains[s].sides[side], Side::Interface { edge, .. } if edge == e);
                    prop_assert!(linked);
                }
            }
        }
    }
}
