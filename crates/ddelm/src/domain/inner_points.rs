//! Where inner vertices begin: in layers along curves, and at the corners of the cells of a tree elsewhere.
//!
//! A layer follows a curve at the distance of about one side, so that the elements at the curve are quadrilaterals of good
//! shape. Along straight sides that follow the tree's grid the grid is such a layer already; and inside of a convex curve,
//! where a layer would be crowded, the grid does better. Where triangles are still too large, their circumcentres are
//! added, as in Delaunay refinement.

use std::collections::HashMap;

use crate::domain::map::Point;

use super::arrangement::Arrangement;
use super::boxes::BoxTree;
use super::chords::Chords;
use super::plane::{Rectangle, cross, distance, dot, norm, segment_distance, subtract};
use super::quadtree::Quadtree;
use super::triangulate::Triangle;

/// A vertex keeps this distance from chords, in units of the size there.
const CLEARANCE: f64 = 0.55;

/// Vertices keep this distance from each other, in units of the size there.
const SPACING: f64 = 0.65;

/// A layer is this far from its curve, in units of the sides there.
const LAYER: f64 = 0.85;

/// A triangle with a circumradius larger than this, in units of the size there, wants a vertex inside. A right triangle that
/// is half of a cell has 0.71.
const LARGE: f64 = 0.9;

/// Inner vertices, and what they keep away from.
pub struct InnerPoints<'a> {
    chords: &'a Chords,
    field: &'a Quadtree,
    tree: BoxTree,
    taken: Taken,
}

impl<'a> InnerPoints<'a> {
    /// The layers and the grid for the given chords.
    pub fn new(arrangement: &Arrangement, chords: &'a Chords, field: &'a Quadtree) -> Self {
        let boxes = chords.chords.iter().map(|c| Rectangle::around(c.ends.map(|v| chords.vertices[v])));
        let tree = BoxTree::new(&boxes.collect::<Vec<_>>());
        let mut this = InnerPoints { chords, field, tree, taken: Taken::default() };
        for (p, size) in layers(arrangement, chords, field) {
            this.add(p, size, CLEARANCE / LAYER);
        }
        for (p, size) in field.corners() {
            this.add(p, size, CLEARANCE);
        }
        this
    }

    /// The vertices.
    pub fn points(&self) -> &[Point] {
        &self.taken.points
    }

    /// Adds circumcentres of large triangles, and returns whether there were any.
    pub fn fill(&mut self, points: &[Point], triangles: &[Triangle]) -> bool {
        let before = self.taken.points.len();
        for triangle in triangles {
            let [a, b, c] = triangle.corners.map(|v| points[v]);
            let (u, v) = (subtract(b, a), subtract(c, a));
            let double = 2.0 * cross(u, v);
            let d = [(v[1] * dot(u, u) - u[1] * dot(v, v)) / double, (u[0] * dot(v, v) - v[0] * dot(u, u)) / double];
            let center = [a[0] + d[0], a[1] + d[1]];
            let size = self.field.size(center);
            if norm(d) > LARGE * size && norm(d) < 4.0 * size {
                self.add(center, size, CLEARANCE);
            }
        }
        self.taken.points.len() > before
    }

    /// Adds a vertex if there is room for it.
    fn add(&mut self, p: Point, size: f64, clearance: f64) {
        let clearance = clearance * size;
        let near = |k: usize| {
            let [a, b] = self.chords.chords[k].ends.map(|v| self.chords.vertices[v]);
            (segment_distance(p, a, b) < clearance).then_some(())
        };
        let clear = self.tree.search(&Rectangle { low: p, high: p }.grown(clearance), near).is_none();
        if clear && self.taken.is_free(p, SPACING * size) {
            self.taken.add(p, size);
        }
    }
}

/// The ends of two chords that meet in a vertex, seen from the domain: along u to the vertex, along v from it, with the
/// domain on the left.
struct Joint {
    vertex: usize,
    before: Point,
    after: Point,
}

/// Points of the layers, with their distance from the curve.
fn layers(arrangement: &Arrangement, chords: &Chords, field: &Quadtree) -> Vec<(Point, f64)> {
    let mut out = Vec::new();
    for joint in joints(arrangement, chords) {
        let (u, v) = (joint.before, joint.after);
        let length = 0.5 * (norm(u) + norm(v));
        let turn = cross(u, v).atan2(dot(u, v));
        let height = LAYER * length;
        let (convex, corner, along_grid) = (turn > 1e-3, turn < -1.0, turn.abs() < 1e-6 && field.is_along_grid(v));
        if convex || corner || along_grid {
            continue;
        }
        let mean = [0, 1].map(|a| u[a] / norm(u) + v[a] / norm(v));
        let normal = [-mean[1] / norm(mean), mean[0] / norm(mean)];
        let p = chords.vertices[joint.vertex];
        out.push(([0, 1].map(|a| p[a] + height * normal[a]), height));
    }
    out
}

/// Pairs of chords that follow each other along the boundary of the domain or of a region.
fn joints(arrangement: &Arrangement, chords: &Chords) -> Vec<Joint> {
    // Chords from and to each vertex, directed so that the inside is on the left.
    let mut from: Vec<Vec<Point>> = vec![Vec::new(); chords.vertices.len()];
    let mut to = from.clone();
    for chord in &chords.chords {
        let [a, b] = chord.ends;
        let d = subtract(chords.vertices[b], chords.vertices[a]);
        let [left, right] = arrangement.strands[chord.strand].domain();
        if left {
            from[a].push(d);
            to[b].push(d);
        }
        if right {
            from[b].push(d.map(|v| -v));
            to[a].push(d.map(|v| -v));
        }
    }
    let mut out = Vec::new();
    for vertex in 0..chords.vertices.len() {
        for &before in &to[vertex] {
            // The one that follows is the first to the left of the way back.
            let angle = |v: &Point| {
                let back = before.map(|x| -x);
                // From v counter-clockwise to the way back: the sector of the domain between them.
                cross(*v, back).atan2(dot(*v, back)).rem_euclid(std::f64::consts::TAU)
            };
            let sector = |v: &&Point| if angle(v) < 1e-9 { std::f64::consts::TAU } else { angle(v) };
            let Some(&after) = from[vertex].iter().min_by(|a, b| sector(a).total_cmp(&sector(b))) else { continue };
            out.push(Joint { vertex, before, after });
        }
    }
    out
}

/// Points by place, on grids of several sizes.
#[derive(Default)]
struct Taken {
    points: Vec<Point>,
    cells: HashMap<(i32, i64, i64), Vec<usize>>,
    levels: Vec<i32>,
}

impl Taken {
    fn add(&mut self, p: Point, size: f64) {
        let level = size.log2().ceil() as i32;
        if !self.levels.contains(&level) {
            self.levels.push(level);
        }
        let cell = 2f64.powi(level);
        let key = (level, (p[0] / cell).floor() as i64, (p[1] / cell).floor() as i64);
        self.cells.entry(key).or_default().push(self.points.len());
        self.points.push(p);
    }

    /// Whether no point is closer than `gap`.
    fn is_free(&self, p: Point, gap: f64) -> bool {
        self.levels.iter().all(|&level| {
            let cell = 2f64.powi(level);
            // Points of much smaller layers would need many cells; they are far away, for sizes grow slowly.
            let range = |a: usize| {
                let span = |v: f64| (v / cell).floor() as i64;
                let (low, high) = (span(p[a] - gap), span(p[a] + gap));
                if high.saturating_sub(low) > 16 {
                    (span(p[a]).saturating_sub(8), span(p[a]).saturating_add(8))
                } else {
                    (low, high)
                }
            };
            let ((i0, i1), (j0, j1)) = (range(0), range(1));
            (i0..=i1).all(|i| {
                (j0..=j1).all(|j| {
                    let near = self.cells.get(&(level, i, j)).into_iter().flatten();
                    near.into_iter().all(|&k| distance(self.points[k], p) >= gap)
                })
            })
        })
    }
}
