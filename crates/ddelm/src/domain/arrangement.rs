//! The curves of all loops, cut where they meet: vertices, and strands between them.
//!
//! A strand is a smooth curve between two vertices that meets other strands at its ends only. Where a region shares a
//! part of the boundary or of another region, there is one strand with several owners. Everything that can be wrong
//! with a set of loops is found here, and told with the piece it is about.

use std::collections::HashMap;

use crate::base::error::{Error, Result};
use crate::domain::plane::Point;

use super::boxes::BoxTree;
use super::curve::Curve;
use super::loops::{Loop, SAME_POINT, show};
use super::meeting::{Polyline, nearest};
use super::plane::{Rectangle, distance};

/// How many times its own size a domain may be away from the origin: beyond, its points are not told from each other.
const FARTHEST: f64 = 1e7;

/// A closed piece reaches this much farther than points that are one.
const SHORTEST: f64 = 100.0;

/// Where two pieces that begin in the same point are compared, as a part of one of them.
const NEARBY: f64 = 0.1;

/// Which loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LoopId {
    /// The outer boundary.
    Outer,
    /// A hole, by its number.
    Hole(usize),
    /// A region, by its number.
    Region(usize),
}

impl LoopId {
    /// Whether the domain ends there.
    pub(super) fn is_boundary(self) -> bool {
        !matches!(self, LoopId::Region(_))
    }
}

/// A loop that a strand belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Owner {
    /// The loop.
    pub id: LoopId,
    /// The name of the piece, as a number; of no meaning for regions.
    pub name: Option<usize>,
    /// Whether the strand runs against its loop, which is counter-clockwise.
    pub reversed: bool,
    /// The setting that the piece came from.
    pub key: String,
}

/// A smooth curve between two vertices.
#[derive(Debug, Clone)]
pub struct Strand {
    /// Its points, from the first end to the second.
    pub curve: Curve,
    /// Vertices at its ends.
    pub ends: [usize; 2],
    /// Its loops.
    pub owners: Vec<Owner>,
}

impl Strand {
    /// The parts of the boundary that it is for a domain on its left and on its right, as numbers of names: both for a slit, through
    /// which a loop runs there and back, and none between regions.
    pub fn boundary(&self) -> [Option<usize>; 2] {
        let mut parts = [None; 2];
        for owner in self.owners.iter().filter(|owner| owner.id.is_boundary()) {
            let right = (owner.id == LoopId::Outer) == owner.reversed;
            parts[usize::from(right)] = owner.name;
        }
        parts
    }

    /// Whether the domain is on its left and on its right.
    pub fn domain(&self) -> [bool; 2] {
        let parts = self.boundary();
        if parts == [None; 2] { [true; 2] } else { parts.map(|part| part.is_some()) }
    }

    /// Whether the boundary is on both of its sides.
    pub fn is_slit(&self) -> bool {
        self.boundary().iter().all(Option::is_some)
    }

    fn has(&self, id: LoopId) -> bool {
        self.owners.iter().any(|owner| owner.id == id)
    }

    pub(super) fn key(&self) -> &str {
        &self.owners[0].key
    }
}

/// Strands and vertices.
#[derive(Debug, Clone)]
pub struct Arrangement {
    /// Ends of strands.
    pub vertices: Vec<Point>,
    /// Strands.
    pub strands: Vec<Strand>,
    /// Strands of regions that lie in holes: no sides of elements, but what tells inside from outside.
    pub hidden: Vec<Strand>,
    /// Points that are closer than this are one.
    pub(super) closeness: f64,
}

impl Arrangement {
    /// Cuts and checks the loops. Names are numbered as in `names`.
    pub fn new(outer: &Loop, holes: &[Loop], regions: &[Loop], names: &[String]) -> Result<Self> {
        let loops = std::iter::once((LoopId::Outer, outer))
            .chain(holes.iter().enumerate().map(|(k, l)| (LoopId::Hole(k), l)))
            .chain(regions.iter().enumerate().map(|(k, l)| (LoopId::Region(k), l)));
        let bounds = outer.pieces.iter().flat_map(|p| p.curve.samples(0.1, 1).into_iter().map(|s| p.curve.point(s)));
        let around = Rectangle::around(bounds);
        let [w, h] = around.extent();
        if around.farthest() > FARTHEST * w.hypot(h) {
            let far = around.farthest();
            let problem =
                format!("it is {:.1e} large, and {far:.1e} away from the origin: points are too close", w.hypot(h));
            return Err(Error::input(&outer.key, "the outline", problem, "move the domain to the origin"));
        }
        let mut this = Arrangement {
            vertices: Vec::new(),
            strands: Vec::new(),
            hidden: Vec::new(),
            closeness: SAME_POINT * w.hypot(h),
        };
        let mut known = VertexFinder::new(this.closeness);
        for (id, one) in loops.clone() {
            this.add_loop(id, one, names, &mut known)?;
        }
        // Ends of one loop that lie on another cut it there; a hole across a region cuts both.
        this.cut_at_vertices()?;
        this.merge()?;
        let crossings = this.crossings()?;
        if !crossings.is_empty() {
            for point in crossings {
                known.find_or_add(point, &mut this.vertices);
            }
            this.cut_at_vertices()?;
            this.merge()?;
        }
        this.check_places(loops)?;
        this.check_vertices()?;
        Ok(this)
    }

    /// The smallest box around samples of the strands.
    pub fn bounding_box(&self) -> Rectangle {
        Rectangle::around(self.strands.iter().flat_map(|strand| {
            let samples = strand.curve.samples(0.1, 1);
            samples.into_iter().map(|s| strand.curve.point(s)).collect::<Vec<_>>()
        }))
    }

    fn add_loop(&mut self, id: LoopId, one: &Loop, names: &[String], known: &mut VertexFinder) -> Result<()> {
        for piece in &one.pieces {
            let name = names.iter().position(|name| Some(name) == piece.name.as_ref());
            let mut cuts = vec![0.0];
            cuts.extend(piece.curve.breaks());
            cuts.push(1.0);
            for w in cuts.windows(2) {
                let curve = piece.curve.between(w[0], w[1]);
                let ends = curve.ends().map(|p| known.find_or_add(p, &mut self.vertices));
                let [start, middle] = [0.0, 0.5].map(|s| curve.point(s));
                if ends[0] == ends[1] && distance(start, middle) < SHORTEST * self.closeness {
                    let problem = format!("the piece at {} is too short beside the domain", show(start));
                    let hint = format!("pieces are longer than {:.0e}", SHORTEST * self.closeness);
                    return Err(Error::input(&piece.key, "the piece", problem, hint));
                }
                let owner = Owner { id, name, reversed: false, key: piece.key.clone() };
                self.strands.push(Strand { curve, ends, owners: vec![owner] });
            }
        }
        Ok(())
    }

    /// Cuts strands at vertices that lie on them. A loop that touches itself is an error.
    fn cut_at_vertices(&mut self) -> Result<()> {
        let lines: Vec<Polyline> = self.strands.iter().map(|s| Polyline::new(&s.curve)).collect();
        let (segments, tree) = tree_of(&lines, self.closeness);
        let mut cuts: Vec<Vec<(f64, usize)>> = vec![Vec::new(); self.strands.len()];
        let strands_at = self.strands_at_vertices();
        for (v, &p) in self.vertices.iter().enumerate() {
            let mut near: Vec<usize> = Vec::new();
            for segment in tree.meeting(&Rectangle { low: p, high: p }) {
                near.push(segments[segment].0);
            }
            near.sort_unstable();
            near.dedup();
            for s in near {
                let strand = &self.strands[s];
                if strand.ends.contains(&v) {
                    continue;
                }
                let t = strand.curve.project(p, lines[s].nearest(p));
                if distance(strand.curve.point(t), p) > self.closeness {
                    continue;
                }
                let meets_itself =
                    strand.owners.iter().find(|o| strands_at[v].iter().any(|&k| self.strands[k].has(o.id)));
                if let Some(owner) = meets_itself.filter(|_| !self.comes_back(s, v, &strands_at[v], &lines[s])) {
                    let problem = format!("the outline touches itself at {}", show(p));
                    let hint = "an outline meets itself nowhere, but may run there and back: a slit";
                    return Err(Error::input(&owner.key, "the piece", problem, hint));
                }
                cuts[s].push((t, v));
            }
        }
        let strands = std::mem::take(&mut self.strands);
        for (strand, mut cuts) in strands.into_iter().zip(cuts) {
            cuts.sort_by(|a, b| a.0.total_cmp(&b.0));
            cuts.push((1.0, strand.ends[1]));
            let mut from = (0.0, strand.ends[0]);
            for to in cuts {
                let curve = strand.curve.between(from.0, to.0);
                self.strands.push(Strand { curve, ends: [from.1, to.1], owners: strand.owners.clone() });
                from = to;
            }
        }
        Ok(())
    }

    /// The strands that end in each vertex.
    pub(super) fn strands_at_vertices(&self) -> Vec<Vec<usize>> {
        let mut at = vec![Vec::new(); self.vertices.len()];
        for (k, strand) in self.strands.iter().enumerate() {
            strand.ends.iter().for_each(|&v| at[v].push(k));
        }
        at
    }

    /// Whether one of the strands in a vertex on strand `s` runs along that strand: the way back through a slit, in other pieces.
    fn comes_back(&self, s: usize, v: usize, strands: &[usize], line: &Polyline) -> bool {
        let curve = &self.strands[s].curve;
        strands.iter().any(|&k| {
            let t = if self.strands[k].ends[0] == v { NEARBY } else { 1.0 - NEARBY };
            let p = self.strands[k].curve.point(t);
            distance(curve.point(curve.project(p, line.nearest(p))), p) <= self.closeness
        })
    }

    /// Makes one strand of those that have the same points.
    fn merge(&mut self) -> Result<()> {
        let mut by_ends: HashMap<[usize; 2], Vec<usize>> = HashMap::new();
        let mut merged: Vec<Strand> = Vec::with_capacity(self.strands.len());
        for strand in std::mem::take(&mut self.strands) {
            let mut key = strand.ends;
            key.sort_unstable();
            let known = by_ends.entry(key).or_default();
            let same = known.iter().copied().find(|&k| same_points(&merged[k].curve, &strand.curve, self.closeness));
            let Some(k) = same else {
                known.push(merged.len());
                merged.push(strand);
                continue;
            };
            let reversed = merged[k].ends != strand.ends;
            for owner in strand.owners {
                let owner = Owner { reversed: owner.reversed != reversed, ..owner };
                // A slit is where a loop comes back.
                let again = |o: &Owner| o.id == owner.id && (o.reversed == owner.reversed || !owner.id.is_boundary());
                if merged[k].owners.iter().any(again) {
                    let problem = format!("the outline runs twice through {}", show(strand.curve.point(0.5)));
                    let hint = "an outline meets itself nowhere, but may run there and back: a slit";
                    return Err(Error::input(owner.key, "the piece", problem, hint));
                }
                let other = |o: &&Owner| o.id != owner.id && o.id.is_boundary() && owner.id.is_boundary();
                if let Some(other) = merged[k].owners.iter().find(other) {
                    let problem = format!("it lies on {} at {}", other.key, show(strand.curve.point(0.5)));
                    return Err(Error::input(
                        owner.key,
                        "the piece",
                        problem,
                        "a hole lies inside and touches no other boundary",
                    ));
                }
                merged[k].owners.push(owner);
            }
        }
        self.strands = merged;
        Ok(())
    }

    /// Points where a region and a hole cross; any other crossing is an error.
    fn crossings(&self) -> Result<Vec<Point>> {
        let lines: Vec<Polyline> = self.strands.iter().map(|s| Polyline::new(&s.curve)).collect();
        let (segments, tree) = tree_of(&lines, self.closeness);
        let mut found: Vec<Point> = Vec::new();
        for (a, &(s, k)) in segments.iter().enumerate() {
            for b in tree.meeting(&lines[s].segment_box(k).grown(self.closeness)) {
                let (t, l) = segments[b];
                if b <= a || (s == t && l <= k + 1) {
                    continue;
                }
                let Some((at, p)) = nearest(
                    [&self.strands[s].curve, &self.strands[t].curve],
                    [&lines[s], &lines[t]],
                    [k, l],
                    self.closeness,
                ) else {
                    continue;
                };
                let step = lines[s].parameters[k + 1] - lines[s].parameters[k];
                if s == t && (at[0] - at[1]).abs() < 0.5 * step {
                    continue;
                }
                // Strands meet at common ends; with a smooth joint a little beside them, too, within the closeness.
                let common = self.strands[s].ends.iter().filter(|v| self.strands[t].ends.contains(v));
                if common.into_iter().any(|&v| distance(self.vertices[v], p) < 30.0 * self.closeness) {
                    continue;
                }
                let pairs =
                    self.strands[s].owners.iter().flat_map(|x| self.strands[t].owners.iter().map(move |y| (x, y)));
                let mut allowed = true;
                for (x, y) in pairs {
                    use LoopId::{Hole, Outer, Region};
                    let (problem, hint) = match (x.id, y.id) {
                        (Region(_), Hole(_)) | (Hole(_), Region(_)) => continue,
                        (i, j) if i == j => ("the outline crosses itself", "an outline meets itself nowhere"),
                        (Outer, Hole(_)) => ("the hole touches or crosses the outer boundary", "a hole lies inside"),
                        (Hole(_), Hole(_)) => ("the hole touches or crosses another hole", "make one hole of them"),
                        (Outer, Region(_)) => (
                            "the region leaves the domain, or touches its boundary in a point",
                            "a region may share pieces of the boundary, or end on it",
                        ),
                        _ => (
                            "the region crosses another one, or touches it in a point",
                            "regions may share pieces, or lie in each other",
                        ),
                    };
                    allowed = false;
                    let problem = format!("{problem} at {} ({})", show(p), x.key);
                    if !found.iter().any(|q| distance(*q, p) < self.closeness) {
                        return Err(Error::input(&y.key, "the piece", problem, hint));
                    }
                }
                if allowed {
                    found.push(p);
                }
            }
        }
        Ok(found)
    }
}

/// Whether two curves between the same ends have the same points.
fn same_points(a: &Curve, b: &Curve, closeness: f64) -> bool {
    if a.is_straight() && b.is_straight() {
        return true;
    }
    let line = Polyline::new(a);
    [0.27, 0.5, 0.81].iter().all(|&t| {
        let p = b.point(t);
        distance(a.point(a.project(p, line.nearest(p))), p) <= closeness
    })
}

/// All segments of polylines as (line, segment), and the tree of their boxes.
fn tree_of(lines: &[Polyline], closeness: f64) -> (Vec<(usize, usize)>, BoxTree) {
    let segments: Vec<(usize, usize)> =
        lines.iter().enumerate().flat_map(|(s, line)| (0..line.segments()).map(move |k| (s, k))).collect();
    let boxes: Vec<Rectangle> = segments.iter().map(|&(s, k)| lines[s].segment_box(k).grown(closeness)).collect();
    let tree = BoxTree::new(&boxes);
    (segments, tree)
}

/// Vertices by position.
struct VertexFinder {
    closeness: f64,
    cells: HashMap<[i64; 2], Vec<usize>>,
}

impl VertexFinder {
    fn new(closeness: f64) -> Self {
        VertexFinder { closeness, cells: HashMap::new() }
    }

    fn find_or_add(&mut self, p: Point, vertices: &mut Vec<Point>) -> usize {
        // A loop that is far too large has its ends in the last cell, and is refused later.
        let cell = p.map(|v| (v / (2.0 * self.closeness)).floor() as i64);
        for (i, j) in (-1..=1).flat_map(|i| (-1..=1).map(move |j| (i, j))) {
            let near = [cell[0].saturating_add(i), cell[1].saturating_add(j)];
            for &v in self.cells.get(&near).into_iter().flatten() {
                if distance(vertices[v], p) <= self.closeness {
                    return v;
                }
            }
        }
        vertices.push(p);
        self.cells.entry(cell).or_default().push(vertices.len() - 1);
        vertices.len() - 1
    }
}
