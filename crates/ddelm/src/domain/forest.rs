//! A forest: roots split into parts, and so do these. Roots are the elements of a mesh, or the cells of a grid.
//!
//! A quadrilateral splits into two halves, in either of its directions, or into its quadrants; a triangle into four congruent
//! triangles, in reference coordinates. A leaf is its root's map on a part of the reference shape,
//!
//! ```text
//! xi_root = origin + size xi,   size = (2^-i, 2^-j) in a quadrilateral, +-(2^-i, 2^-i) in a triangle,
//! ```
//!
//! where the middle one of four triangles is turned by 180 degrees (`size < 0`). Two sides that meet differ by at most a factor of
//! two in length, whatever the leaves are across: a layer is followed by leaves that are long along it. A side
//! with two smaller neighbours is two pieces; there are no constraints at such hanging sides, only pieces. The sides of a leaf that
//! will be cut into rings may meet more of them.
//!
//! Sides are found by the line they lie on: a line inside of a root, or a side of roots, with the interval as whole numbers.

use std::collections::{BTreeSet, HashMap};

use crate::base::error::{Error, Result};

use super::map::Point;
use super::shape::Shape;

mod span;

pub use span::Span;

/// Where a root meets others: its shape and what lies behind its sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// The shape.
    pub shape: Shape,
    /// What lies behind each side.
    pub sides: Vec<RootSide>,
}

/// What lies behind a side of a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootSide {
    /// A part of the boundary.
    Boundary(usize),
    /// A side of a root, which runs the other way.
    Root(usize, usize),
}

/// How often a root can be split.
pub const DEEPEST: u32 = 40;

/// The whole number that stands for 1 along a side of a root.
const ONE: u64 = 1 << DEEPEST;

/// A part of a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Leaf {
    /// The root.
    pub root: usize,
    /// The shape of the root and of its parts.
    pub shape: Shape,
    /// How often it was split in each direction; a triangle as often in both.
    pub levels: [u32; 2],
    /// Column and row of the part among those of its levels.
    place: [u64; 2],
    /// A triangle that is turned by 180 degrees.
    turned: bool,
}

impl Leaf {
    /// `xi_root = origin + size xi`.
    pub fn place(&self) -> (Point, Point) {
        let size = self.levels.map(|level| 1.0 / (1u64 << level) as f64);
        let corner = |a: usize| (self.place[a] + u64::from(self.turned)) as f64 * size[a];
        ([0, 1].map(corner), if self.turned { size.map(|s| -s) } else { size })
    }

    /// The point of the root at a reference point of the leaf.
    pub fn in_root(&self, xi: Point) -> Point {
        let (origin, size) = self.place();
        [0, 1].map(|a| origin[a] + size[a] * xi[a])
    }

    /// The parts that it has if it is cut in some directions, a triangle in both. Part k < 3 of a triangle, and
    /// any quadrant, has corner k of its parent.
    fn children(&self, cuts: [bool; 2]) -> Vec<Leaf> {
        let cut = |place: [u64; 2], di: u64, dj: u64, turned: bool| {
            let half = [di, dj];
            let levels = [0, 1].map(|a| self.levels[a] + u32::from(cuts[a]));
            Leaf { levels, place: [0, 1].map(|a| (place[a] << u32::from(cuts[a])) + half[a]), turned, ..*self }
        };
        let child = |di: u64, dj: u64, turned: bool| cut(self.place, di, dj, turned);
        match (self.shape, cuts, self.turned) {
            (Shape::Triangle, _, false) => {
                vec![child(0, 0, false), child(1, 0, false), child(0, 1, false), child(0, 0, true)]
            }
            (Shape::Triangle, _, true) => {
                vec![child(1, 1, true), child(0, 1, true), child(1, 0, true), child(1, 1, false)]
            }
            (_, [true, true], _) => {
                vec![child(0, 0, false), child(1, 0, false), child(1, 1, false), child(0, 1, false)]
            }
            (_, [true, false], _) => vec![child(0, 0, false), child(1, 0, false)],
            (_, [false, true], _) => vec![child(0, 0, false), child(0, 1, false)],
            (_, [false, false], _) => vec![*self],
        }
    }

    /// The parts that a wish makes of it.
    fn grown(&self, wish: &Wish, leaves: &mut Vec<Leaf>) {
        let mut cuts = wish.levels.map(|level| level > 0);
        if self.shape == Shape::Triangle {
            cuts = [cuts[0] || cuts[1]; 2];
        }
        if cuts == [false; 2] {
            leaves.push(*self);
            return;
        }
        let left = Wish { levels: wish.levels.map(|level| level.saturating_sub(1)), ..*wish };
        for (k, child) in self.children(cuts).into_iter().enumerate() {
            let follows = match wish.toward {
                Toward::Nowhere => true,
                Toward::Corner(corner) => k == corner,
                Toward::Ends(ends) => {
                    (0..2).all(|a| !cuts[a] || ends[a].is_none_or(|end| child.place[a] % 2 == u64::from(end)))
                }
            };
            if follows { child.grown(&left, leaves) } else { leaves.push(child) }
        }
    }

    /// The leaf as a file holds it.
    pub fn numbers(&self) -> LeafNumbers {
        (self.root, self.levels, self.place, self.turned)
    }

    /// A corner in the root, in whole numbers: the same for whoever has it.
    pub(super) fn corner(&self, k: usize) -> [u64; 2] {
        let c = self.shape.corners()[k % self.shape.sides()].map(|v| v as u64);
        let end = |a: usize| if self.turned { self.place[a] + 1 - c[a] } else { self.place[a] + c[a] };
        [0, 1].map(|a| end(a) * (ONE >> self.levels[a]))
    }
}

/// How often a leaf is to be split in each direction, and toward what. Parts that are not there are split once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wish {
    /// How often, in each direction of the reference shape; a triangle as often as the larger number says.
    pub levels: [u32; 2],
    /// Which parts are split more than once.
    pub toward: Toward,
}

impl Wish {
    /// Once, in both directions.
    pub const FOUR: Wish = Wish { levels: [1, 1], toward: Toward::Nowhere };
}

/// Where the parts of a leaf get smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toward {
    /// Everywhere alike.
    Nowhere,
    /// At a corner of a triangle.
    Corner(usize),
    /// At an end (`false`: where the coordinate is 0) of each direction of a quadrilateral, if it has one.
    Ends([Option<bool>; 2]),
}

/// A leaf as a file holds it: its root, its levels, its place, and whether it is turned.
pub type LeafNumbers = (usize, [u32; 2], [u64; 2], bool);

/// The line that a side lies on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Line {
    /// A side of roots, by its number.
    Edge(usize),
    /// A line inside of a root: which coordinate is constant (2 for their sum), and its value.
    Inside(usize, u8, u64),
}

/// A side of a leaf: its line, its interval, and whether it runs against the line.
#[derive(Debug, Clone, Copy)]
struct Segment {
    line: Line,
    low: u64,
    high: u64,
    reversed: bool,
}

/// A piece of a side of a leaf, or of a ring that stands for a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeafPiece {
    /// Which part of the side.
    pub span: Span,
    /// What lies behind it.
    pub behind: LeafBehind,
}

/// What lies behind a piece of a side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafBehind {
    /// A part of the boundary.
    Boundary(usize),
    /// A leaf, its side, and the part of that side; it runs the other way.
    Leaf(usize, usize, Span),
    /// The point that rings end at.
    Core,
}

/// Roots and their leaves.
#[derive(Debug, Clone)]
pub struct Forest {
    leaves: Vec<Leaf>,
    /// For each side of a root its number, and whether the root runs against it.
    edges: Vec<Vec<(usize, bool)>>,
    boundary: Vec<Vec<Option<usize>>>,
    /// Corners of leaves across from which sides are open.
    open: BTreeSet<Corner>,
}

/// A corner of a leaf: its root, and where it is in that.
pub type Corner = (usize, [u64; 2]);

impl Forest {
    /// A forest in which every root is a leaf.
    pub fn new(roots: &[Root]) -> Self {
        let mut edges: Vec<Vec<(usize, bool)>> =
            roots.iter().map(|root| vec![(usize::MAX, false); root.sides.len()]).collect();
        let mut count = 0;
        for (s, root) in roots.iter().enumerate() {
            for (k, side) in root.sides.iter().enumerate() {
                if edges[s][k].0 == usize::MAX {
                    edges[s][k] = (count, false);
                    if let RootSide::Root(t, l) = *side {
                        edges[t][l] = (count, true);
                    }
                    count += 1;
                }
            }
        }
        let leaf =
            |(root, r): (usize, &Root)| Leaf { root, shape: r.shape, levels: [0, 0], place: [0, 0], turned: false };
        let part = |side: &RootSide| match *side {
            RootSide::Boundary(part) => Some(part),
            RootSide::Root(..) => None,
        };
        Forest {
            leaves: roots.iter().enumerate().map(leaf).collect(),
            edges,
            boundary: roots.iter().map(|root| root.sides.iter().map(part).collect()).collect(),
            open: BTreeSet::new(),
        }
    }

    /// The forest whose leaves with one of these corners are open on their other side: the sides that do not end there may meet any
    /// number of smaller ones.
    pub(super) fn opened(&self, corners: BTreeSet<Corner>) -> Self {
        let mut forest = Forest { open: corners, ..self.clone() };
        forest.balance();
        forest
    }

    /// The corners across from which sides are open.
    pub(super) fn open_corners(&self) -> &BTreeSet<Corner> {
        &self.open
    }

    /// Whether a side of a leaf may meet any number of smaller ones.
    fn is_open(&self, leaf: &Leaf, side: usize) -> bool {
        let count = leaf.shape.sides();
        let across = |k: usize| k != side && k != (side + 1) % count;
        !self.open.is_empty() && (0..count).any(|k| across(k) && self.open.contains(&(leaf.root, leaf.corner(k))))
    }

    /// The same leaves on roots that meet in another way.
    pub(super) fn on(&self, roots: &[Root]) -> Self {
        let mut forest = Forest { leaves: self.leaves.clone(), open: self.open.clone(), ..Forest::new(roots) };
        forest.balance();
        forest
    }

    /// Other leaves on the same roots, which they must fill, and [open](Forest::opened) corners.
    pub(super) fn with_leaves(&self, leaves: &[LeafNumbers], open: &[Corner]) -> Result<Self> {
        let refuse = |problem: &str| Error::input("geometry.leaves", leaves.len(), problem, "the file is damaged");
        let shapes: Vec<Shape> = self
            .boundary
            .iter()
            .map(|sides| if sides.len() == 3 { Shape::Triangle } else { Shape::Quadrilateral })
            .collect();
        let mut filled = vec![0.0; shapes.len()];
        let mut found = Vec::with_capacity(leaves.len());
        for &(root, levels, place, turned) in leaves {
            let shape = *shapes.get(root).ok_or_else(|| refuse("a leaf has no root"))?;
            let inside = (0..2).all(|a| levels[a] < DEEPEST && place[a] < 1 << levels[a]);
            let fits = match shape {
                Shape::Quadrilateral => !turned,
                Shape::Triangle => levels[0] == levels[1],
            };
            if !(inside && fits) {
                return Err(refuse("a leaf lies outside of its root"));
            }
            filled[root] += 0.5f64.powi((levels[0] + levels[1]) as i32);
            found.push(Leaf { root, shape, levels, place, turned });
        }
        // Leaves of many sizes: their areas add up to 1 but for rounding.
        if filled.iter().any(|&area: &f64| (area - 1.0).abs() > 1e-9) {
            return Err(refuse("the leaves do not fill their roots"));
        }
        let mut forest = Forest { leaves: found, open: open.iter().copied().collect(), ..self.clone() };
        let given = forest.leaves.len();
        forest.balance();
        if forest.leaves.len() != given {
            Err(refuse("neighbours differ by more than a factor of two"))
        } else {
            Ok(forest)
        }
    }

    /// Splits leaves until two sides that meet differ by at most a factor of two.
    fn balance(&mut self) {
        self.split(&[]);
    }

    /// The leaves; the parts of a root follow each other.
    pub fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    /// Splits leaves by their numbers, as often as is wished, and then others until two sides that meet differ by at most a factor
    /// of two. A leaf that is as small as leaves can be ([`DEEPEST`]) stays as it is.
    pub fn split(&mut self, which: &[(usize, Wish)]) {
        let mut wishes = vec![Wish { levels: [0, 0], toward: Toward::Nowhere }; self.leaves.len()];
        which.iter().for_each(|&(k, wish)| wishes[k] = wish);
        loop {
            let old = std::mem::take(&mut self.leaves);
            for (leaf, mut wish) in old.into_iter().zip(wishes) {
                wish.levels = [0, 1].map(|a| wish.levels[a].min(DEEPEST - 1 - leaf.levels[a]));
                leaf.grown(&wish, &mut self.leaves);
            }
            let cut = |cuts: [bool; 2]| Wish { levels: cuts.map(u32::from), toward: Toward::Nowhere };
            wishes = self.unbalanced().into_iter().map(cut).collect();
            if wishes.iter().all(|wish| wish.levels == [0, 0]) {
                return;
            }
        }
    }

    /// For every leaf and side the pieces, in the direction of the side.
    pub fn pieces(&self) -> Vec<Vec<Vec<LeafPiece>>> {
        let sides = self.sides();
        let other = |key: (Line, u64, u64), own: (usize, usize)| {
            sides.get(&key).and_then(|at| at.iter().copied().find(|&place| place != own))
        };
        // Sides that meet differ by a factor of two, unless one of them is open.
        let most = if self.open.is_empty() { 1 } else { DEEPEST - 1 };
        let one_leaf = |n: usize, leaf: &Leaf| {
            let one_side = |k: usize| {
                let Segment { line, low, high, reversed } = self.segment(leaf, k);
                let length = high - low;
                let whole = |behind: LeafBehind| vec![LeafPiece { span: Span::Whole, behind }];
                if let (Line::Edge(_), Some(part)) = (line, self.boundary[leaf.root][k]) {
                    return whole(LeafBehind::Boundary(part));
                }
                if let Some((m, l)) = other((line, low, high), (n, k)) {
                    return whole(LeafBehind::Leaf(m, l, Span::Whole));
                }
                // A longer neighbour, which runs the other way: this side is a part of its side.
                for level in (1..=most).take_while(|level| length << level <= ONE) {
                    let first = low - low % (length << level);
                    if let Some((m, l)) = other((line, first, first + (length << level)), (n, k)) {
                        let (before, last) = ((low - first) / length, (1 << level) - 1);
                        let part = Span::part(level, if reversed { before } else { last - before });
                        return whole(LeafBehind::Leaf(m, l, part));
                    }
                }
                let mut parts = Vec::new();
                // Shorter ones: halves, and halves of halves.
                let mut left = vec![(1, 1, low + length / 2, high), (1, 0, low, low + length / 2)];
                while let Some((level, index, low, high)) = left.pop() {
                    match other((line, low, high), (n, k)) {
                        Some((m, l)) => {
                            let index = if reversed { (1 << level) - 1 - index } else { index };
                            let behind = LeafBehind::Leaf(m, l, Span::Whole);
                            parts.push(LeafPiece { span: Span::part(level, index), behind });
                        }
                        None => {
                            assert!(level < most, "neighbours of a balanced forest differ by a factor of two");
                            let half = low + (high - low) / 2;
                            left.extend([(level + 1, 2 * index + 1, half, high), (level + 1, 2 * index, low, half)]);
                        }
                    }
                }
                if reversed {
                    parts.reverse();
                }
                parts
            };
            (0..leaf.shape.sides()).map(one_side).collect()
        };
        self.leaves.iter().enumerate().map(|(n, leaf)| one_leaf(n, leaf)).collect()
    }

    /// All sides by line and interval.
    fn sides(&self) -> HashMap<(Line, u64, u64), Vec<(usize, usize)>> {
        let mut sides: HashMap<_, Vec<_>> = HashMap::new();
        for (n, leaf) in self.leaves.iter().enumerate() {
            for k in 0..leaf.shape.sides() {
                let s = self.segment(leaf, k);
                sides.entry((s.line, s.low, s.high)).or_default().push((n, k));
            }
        }
        sides
    }

    /// For every leaf the directions in which it has a side with a neighbour that is less than half as long.
    fn unbalanced(&self) -> Vec<[bool; 2]> {
        let sides = self.sides();
        let mut marked = vec![[false; 2]; self.leaves.len()];
        for leaf in &self.leaves {
            for k in 0..leaf.shape.sides() {
                let s = self.segment(leaf, k);
                let mut length = 4 * (s.high - s.low);
                while length <= ONE {
                    let first = s.low - s.low % length;
                    let longer = sides.get(&(s.line, first, first + length)).into_iter().flatten();
                    for &(n, side) in longer.filter(|(n, side)| !self.is_open(&self.leaves[*n], *side)) {
                        // The sides of a quadrilateral are in turns along its first and its second coordinate.
                        marked[n][side % 2] = true;
                    }
                    length *= 2;
                }
            }
        }
        marked
    }

    fn segment(&self, leaf: &Leaf, k: usize) -> Segment {
        let (a, b) = (leaf.corner(k), leaf.corner(k + 1));
        let (kind, value) = match () {
            () if a[0] == b[0] => (0, a[0]),
            () if a[1] == b[1] => (1, a[1]),
            () => (2, a[0] + a[1]),
        };
        let along = if kind == 0 { 1 } else { 0 };
        // Where the reference shape ends, and in which direction its side there runs along the coordinate.
        let last = match leaf.shape {
            Shape::Quadrilateral => value == ONE,
            Shape::Triangle => kind == 2 && value == ONE,
        };
        let on_root = last || (kind != 2 && value == 0);
        let (from, to) = (a[along], b[along]);
        let (low, high) = (from.min(to), from.max(to));
        if !on_root {
            return Segment { line: Line::Inside(leaf.root, kind, value), low, high, reversed: from > to };
        }
        let (edge, against) = self.edges[leaf.root][k];
        // The parameter of the side of the root: counter-clockwise, from its corner k.
        let (start, end) = if from < to { (from, to) } else { (ONE - from, ONE - to) };
        let (low, high) = if against { (ONE - end, ONE - start) } else { (start, end) };
        Segment { line: Line::Edge(edge), low, high, reversed: against }
    }
}

#[cfg(test)]
#[path = "forest_tests.rs"]
mod tests;
