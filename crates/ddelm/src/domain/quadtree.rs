//! Sizes in space: a tree of squares that are small where elements must be small.
//!
//! The domain's box is covered by a grid of equal cells, turned so that it follows the long straight sides. A cell is cut
//! into four until it is about as large as the size wanted in it, and neighbours, across corners too, differ by at most a
//! factor of two. Corners of cells are where the inner vertices of a mesh begin: on a rectangle, and wherever a domain
//! looks like one, they make rectangles that all have the same shape.

use crate::domain::map::Point;

/// A cell may be larger than the size wanted in it by this factor: the middle of what halving gives.
const SLACK: f64 = 1.42;

/// How often a cell may be cut.
const DEEPEST: u32 = 24;

/// A rotation about the origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    cos: f64,
    sin: f64,
}

impl Frame {
    /// The frame that most of the given chords (as vectors) are along or across: `sum |v| e^(4 i angle)` has four times its
    /// angle. The plain frame if they have no common direction.
    pub fn along(chords: impl Iterator<Item = Point>) -> Self {
        let (mut sum, mut total) = ([0.0, 0.0], 0.0);
        for v in chords {
            let (length, angle) = (v[0].hypot(v[1]), 4.0 * v[1].atan2(v[0]));
            total += length;
            sum[0] += length * angle.cos();
            sum[1] += length * angle.sin();
        }
        let angle = sum[1].atan2(sum[0]) / 4.0;
        if sum[0].hypot(sum[1]) < 0.1 * total || angle.abs() < 1e-9 {
            return Frame { cos: 1.0, sin: 0.0 };
        }
        Frame { cos: angle.cos(), sin: angle.sin() }
    }

    /// Coordinates in the frame.
    pub fn enter(&self, p: Point) -> Point {
        [self.cos * p[0] + self.sin * p[1], self.cos * p[1] - self.sin * p[0]]
    }

    /// The point with the given coordinates in the frame.
    pub fn leave(&self, p: Point) -> Point {
        [self.cos * p[0] - self.sin * p[1], self.sin * p[0] + self.cos * p[1]]
    }
}

/// A cell: its place among the cells of its level, and the level.
#[derive(Debug, Clone, Copy)]
struct Cell {
    i: u64,
    j: u64,
    level: u32,
    node: usize,
}

/// Sizes in space.
#[derive(Debug, Clone)]
pub struct Quadtree {
    frame: Frame,
    origin: Point,
    cell: Point,
    counts: [usize; 2],
    /// For each node the first of its four children, 0 for a leaf. The first nodes are the grid.
    children: Vec<usize>,
}

impl Quadtree {
    /// A grid over the box of the points, with cells no larger than `size`.
    pub fn new(frame: Frame, points: impl Iterator<Item = Point>, size: f64) -> Self {
        let b = super::plane::Rectangle::around(points.map(|p| frame.enter(p)));
        let counts = b.extent().map(|w| ((w / size - 0.05).ceil() as usize).max(1));
        let cell = [0, 1].map(|a| b.extent()[a] / counts[a] as f64);
        Quadtree { frame, origin: b.low, cell, counts, children: vec![0; counts[0] * counts[1]] }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.children.len()
    }

    /// Cuts cells until the one at `p` is about as small as `size`.
    pub fn refine(&mut self, p: Point, size: f64) {
        let q = self.frame.enter(p);
        let mut cell = self.leaf(q);
        while self.width(cell.level) > SLACK * size && cell.level < DEEPEST {
            self.split(cell.node);
            cell = self.leaf(q);
        }
    }

    /// Cuts cells until neighbours differ by at most a factor of two.
    pub fn balance(&mut self) {
        let mut waiting = self.leaves();
        while let Some(cell) = waiting.pop() {
            if self.children[cell.node] != 0 || cell.level < 2 {
                continue;
            }
            for (di, dj) in (-1..=1).flat_map(|a| (-1..=1).map(move |b| (a, b))) {
                let Some(q) = self.neighbour(cell, di, dj) else { continue };
                loop {
                    let other = self.leaf(q);
                    if other.level + 1 >= cell.level {
                        break;
                    }
                    self.split(other.node);
                    let first = self.children[other.node];
                    for k in 0..4 {
                        let (i, j) = (2 * other.i + (k & 1), 2 * other.j + (k >> 1));
                        waiting.push(Cell { i, j, level: other.level + 1, node: first + k as usize });
                    }
                }
            }
        }
    }

    /// Whether a vector is along one of the two directions of the grid.
    pub fn is_along_grid(&self, v: Point) -> bool {
        let [x, y] = self.frame.enter(v);
        x.abs().min(y.abs()) < 1e-6 * x.hypot(y)
    }

    /// The larger side of the cell at `p`.
    pub fn size(&self, p: Point) -> f64 {
        self.width(self.leaf(self.frame.enter(p)).level)
    }

    /// The corners of all cells with the smallest size of the cells around each, in an order that depends on the tree alone.
    pub fn corners(&self) -> Vec<(Point, f64)> {
        let mut found: Vec<([u64; 2], u32)> = Vec::new();
        for cell in self.leaves() {
            let shift = DEEPEST - cell.level;
            for (a, b) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                found.push(([(cell.j + b) << shift, (cell.i + a) << shift], cell.level));
            }
        }
        found.sort_by(|x, y| x.0.cmp(&y.0).then(y.1.cmp(&x.1)));
        found.dedup_by_key(|corner| corner.0);
        let unit = (1u64 << DEEPEST) as f64;
        found
            .into_iter()
            .map(|([j, i], level)| {
                let q = [
                    self.origin[0] + self.cell[0] * (i as f64 / unit),
                    self.origin[1] + self.cell[1] * (j as f64 / unit),
                ];
                (self.frame.leave(q), self.width(level))
            })
            .collect()
    }

    fn width(&self, level: u32) -> f64 {
        self.cell[0].max(self.cell[1]) / (1u64 << level) as f64
    }

    fn split(&mut self, node: usize) {
        self.children[node] = self.children.len();
        self.children.extend([0; 4]);
    }

    /// The leaf at a point in the frame; points outside belong to the nearest cell of the grid.
    fn leaf(&self, q: Point) -> Cell {
        let t = [0, 1].map(|a| ((q[a] - self.origin[a]) / self.cell[a]).clamp(0.0, self.counts[a] as f64));
        let at = [0, 1].map(|a: usize| (t[a] as usize).min(self.counts[a] - 1));
        let mut rest = [0, 1].map(|a| t[a] - at[a] as f64);
        let mut cell = Cell { i: at[0] as u64, j: at[1] as u64, level: 0, node: at[1] * self.counts[0] + at[0] };
        while self.children[cell.node] != 0 {
            let k = rest.map(|r| usize::from(r >= 0.5));
            rest = [0, 1].map(|a| 2.0 * rest[a] - k[a] as f64);
            cell = Cell {
                i: 2 * cell.i + k[0] as u64,
                j: 2 * cell.j + k[1] as u64,
                level: cell.level + 1,
                node: self.children[cell.node] + k[0] + 2 * k[1],
            };
        }
        cell
    }

    /// The middle of the neighbour of the same size, if it lies in the grid.
    fn neighbour(&self, cell: Cell, di: i64, dj: i64) -> Option<Point> {
        let place = [cell.i as i64 + di, cell.j as i64 + dj];
        let inside = |a: usize| place[a] >= 0 && place[a] < (self.counts[a] as i64) << cell.level;
        let parts = (1u64 << cell.level) as f64;
        (inside(0) && inside(1))
            .then(|| [0, 1].map(|a| self.origin[a] + self.cell[a] * (place[a] as f64 + 0.5) / parts))
    }

    fn leaves(&self) -> Vec<Cell> {
        let mut out = Vec::new();
        let mut waiting: Vec<Cell> = (0..self.counts[0] * self.counts[1])
            .rev()
            .map(|node| Cell { i: (node % self.counts[0]) as u64, j: (node / self.counts[0]) as u64, level: 0, node })
            .collect();
        while let Some(cell) = waiting.pop() {
            let first = self.children[cell.node];
            if first == 0 {
                out.push(cell);
                continue;
            }
            for k in (0..4u64).rev() {
                let (i, j) = (2 * cell.i + (k & 1), 2 * cell.j + (k >> 1));
                waiting.push(Cell { i, j, level: cell.level + 1, node: first + k as usize });
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLAIN: Frame = Frame { cos: 1.0, sin: 0.0 };

    #[test]
    fn the_frame_follows_long_sides() {
        let turned = |angle: f64| {
            [[3.0, 0.0], [0.0, 1.0], [-3.0, 0.0], [0.0, -1.0]].map(|v: Point| {
                let (s, c) = angle.sin_cos();
                [c * v[0] - s * v[1], s * v[0] + c * v[1]]
            })
        };
        let frame = Frame::along(turned(0.3).into_iter());
        assert!((frame.cos - 0.3f64.cos()).abs() < 1e-12 && (frame.sin - 0.3f64.sin()).abs() < 1e-12);
        let around = (0..100).map(|k| (f64::from(k) * std::f64::consts::TAU / 100.0).sin_cos().into());
        assert_eq!(Frame::along(around), PLAIN);
        let p = frame.leave(frame.enter([0.3, 0.8]));
        assert!((p[0] - 0.3).abs() < 1e-15 && (p[1] - 0.8).abs() < 1e-15);
    }

    #[test]
    fn a_grid_has_the_corners_of_a_grid() {
        let tree = Quadtree::new(PLAIN, [[0.0, 0.0], [2.0, 1.0]].into_iter(), 0.5);
        let corners = tree.corners();
        assert_eq!(corners.len(), 5 * 3);
        assert!(corners.iter().all(|&(_, h)| h == 0.5));
        assert_eq!(corners[1].0, [0.5, 0.0]);
    }

    proptest! {
        #[test]
        fn sizes_are_as_asked_and_grow_by_two(points in prop::collection::vec((0.0..1.0f64, 0.0..1.0f64, 1e-3..0.5f64), 1..20)) {
            let mut tree = Quadtree::new(PLAIN, [[0.0, 0.0], [1.0, 1.0]].into_iter(), 0.5);
            for &(x, y, h) in &points { tree.refine([x, y], h); }
            tree.balance();
            for &(x, y, h) in &points { prop_assert!(tree.size([x, y]) <= SLACK * h); }
            for cell in tree.leaves() {
                for (di, dj) in [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1)] {
                    if let Some(q) = tree.neighbour(cell, di, dj) {
                        prop_assert!(tree.leaf(q).level + 1 >= cell.level);
                    }
                }
            }
        }
    }
}
