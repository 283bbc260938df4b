//! A decomposition with rings about some of its vertices.
//!
//! Every element that has such a vertex as a corner gives way to [stacks of rings](crate::domain::corner) about it, and everything
//! else stays as it is. Who meets whom follows from who met whom before, never from coordinates, which are `1e-12` apart:
//!
//! ```text
//!  d-----------b      a quadrilateral with its corner c at the vertex: a stack on either side of the diagonal.
//!  |\       \ /|      Rings of a stack meet each other, rings of neighbouring stacks meet one by one along a ray,
//!  | \ ...   /\|      inside of the element and beyond it; the outermost ones have the sides a b and b d of the element;
//!  |  \    /...|      behind the innermost ones is nothing but the core.
//!  c-----------a
//! ```
//!
//! For that an element has one such corner at most, and meets its neighbours about the vertex in whole sides: the forest
//! is split until it is so. An element that opens wide has several stacks side by side; then a neighbour outside has a side of
//! two pieces.

use crate::base::error::{Error, Result};

use super::corner::{SMALLEST_EXPONENT, corner_triangles, ring_intervals, ring_stack, stacks};
use super::decomposition::{Behind, Decomposition, EdgeSide, Piece, Rings, Subdomain};
use super::forest::{LeafBehind, LeafPiece, Span, Toward, Wish};
use super::map::{MapRef, Point};
use super::plane::{cross, dot, subtract};
use super::shape::Shape;

use std::sync::Arc;

/// Exponents below this are treated as this: squares of lengths are numbers down to the end of the rings.
const DEEPEST: f64 = 0.1;

/// Elements that became longer than this times their width by splitting have no rings before they are split across.
const THIN: f64 = 3.0;

/// How often an element with rings is split at once, at most.
const MOST_LEVELS: u32 = 3;

/// How often elements are split until they can have rings.
const MOST_ROUNDS: usize = 64;

/// The sides of a ring away from the vertex and toward it. The others lie along its two rays.
const OUTER: usize = 1;
const INNER: usize = 3;

/// Whether the rings of a stack are mirrored: every second one, so that the two halves of a square, or of an isosceles triangle, have the
/// same rings up to a reflection, which are factored once.
fn is_mirrored(stack: usize) -> bool {
    stack % 2 == 1
}

/// The side of the rings of a stack that lies along its first ray, counter-clockwise.
fn first_ray(stack: usize) -> usize {
    if is_mirrored(stack) { 2 } else { 0 }
}

/// ... and along its last one.
fn last_ray(stack: usize) -> usize {
    2 - first_ray(stack)
}

/// A corner of a root, or of one of its parts: what stays the same when leaves are split.
type Place = (usize, [u64; 2]);

impl Rings {
    /// [`Decomposition::split_as`].
    pub fn split(&self, which: &[(usize, Wish)]) -> Result<Decomposition> {
        let of = |&(s, wish): &(usize, Wish)| (self.elements[s], self.toward_rings(self.elements[s], wish));
        let mut elements: Vec<(usize, Wish)> = which.iter().map(of).collect();
        // Of several wishes for one element the one with most levels.
        elements.sort_by_key(|(s, wish)| (*s, std::cmp::Reverse(wish.levels)));
        elements.dedup_by_key(|(s, _)| *s);
        let places = places(&self.base, &self.vertices);
        let ringed = |base: Decomposition| base.with_rings(&vertices_at(&base, &places));
        // Strips may come so close to a vertex that its elements cannot follow; squares can.
        let squares = || self.base.split(&elements.iter().map(|(s, _)| *s).collect::<Vec<_>>());
        ringed(self.base.split_as(&elements)?).or_else(|_| ringed(squares()?))
    }

    /// An element with rings is cut in both directions, and toward its vertex: stacks of rings want corners that are no splinters.
    fn toward_rings(&self, element: usize, wish: Wish) -> Wish {
        let subdomain = &self.base.subdomains[element];
        let ringed = |v: &usize| self.vertices.iter().any(|(vertex, _)| vertex == v);
        let Some(corner) = subdomain.vertices.iter().position(ringed) else { return wish };
        let levels = wish.levels[0].max(wish.levels[1]).min(MOST_LEVELS);
        let toward = match subdomain.map.shape() {
            Shape::Triangle => Toward::Corner(corner),
            Shape::Quadrilateral => Toward::Ends(Shape::Quadrilateral.corners()[corner].map(|v| Some(v > 0.5))),
        };
        Wish { levels: [levels; 2], toward }
    }

    /// [`Decomposition::periodic`].
    pub fn periodic(&self, pairs: &[(usize, usize)]) -> Result<Decomposition> {
        let base = self.base.clone().periodic(pairs)?;
        base.with_rings(&vertices_at(&base, &places(&self.base, &self.vertices)))
    }

    /// The corners of subdomains of `base` with rings about them.
    pub fn corners(&self) -> Vec<(usize, usize, f64)> {
        let exponent = |v: usize| self.vertices.iter().find(|(vertex, _)| *vertex == v).map(|(_, exponent)| *exponent);
        let of = |(s, subdomain): (usize, &Subdomain)| {
            let corner = move |(k, &v): (usize, &usize)| Some((s, k, exponent(v)?));
            subdomain.vertices.iter().enumerate().filter_map(corner).collect::<Vec<_>>()
        };
        self.base.subdomains.iter().enumerate().flat_map(of).collect()
    }
}

impl Decomposition {
    /// The decomposition with rings about some of its vertices, given with the smallest exponent of the solution there
    /// (see [`exponents`](crate::domain::exponents)), which says how deep the rings go. Where elements have two such corners, or neighbours about a
    /// vertex are of different size, they are split before.
    pub fn with_rings(&self, vertices: &[(usize, f64)]) -> Result<Self> {
        let refuse = |value: String, problem: &str| {
            Err(Error::input("discretization.corners", value, problem, "choose vertices of the decomposition"))
        };
        if let Some((v, exponent)) = vertices.iter().find(|(v, e)| *v >= self.vertices.len() || e.is_nan() || *e <= 0.0)
        {
            return refuse(format!("vertex {v}, exponent {exponent}"), "there is no such vertex, or no such exponent");
        }
        if self.rings.is_some() {
            return refuse(format!("{} vertices", vertices.len()), "the decomposition has rings already");
        }
        if vertices.is_empty() {
            return Ok(self.clone());
        }
        let places = places(self, vertices);
        let mut base = self.clone();
        for _ in 0..MOST_ROUNDS {
            let builder = Builder::new(&base, vertices_at(&base, &places));
            match builder.elements_to_split() {
                which if which.is_empty() => return Ok(builder.build()),
                which => base = base.split_as(&which)?,
            }
        }
        refuse(format!("{} vertices", vertices.len()), "they are too close to each other")
    }

    /// The decomposition without its rings, if it has any.
    pub fn without_rings(&self) -> Option<&Decomposition> {
        self.rings.as_ref().map(|rings| &rings.base)
    }

    /// If a subdomain is a ring: the vertex of [the decomposition without rings](Decomposition::without_rings) that it is about, and
    /// how many rings are around it.
    pub fn ring(&self, s: usize) -> Option<(usize, usize)> {
        self.rings.as_ref()?.places[s]
    }

    /// The decomposition without the rings about some [vertices](Decomposition::ring_vertices).
    pub fn without_rings_about(&self, vertices: &[usize]) -> Result<Self> {
        let Some(rings) = &self.rings else { return Ok(self.clone()) };
        let kept: Vec<(usize, f64)> = rings.vertices.iter().copied().filter(|(v, _)| !vertices.contains(v)).collect();
        rings.base.with_rings(&kept)
    }

    /// The vertices of [the decomposition without rings](Decomposition::without_rings) that have rings, with their exponents.
    pub fn ring_vertices(&self) -> &[(usize, f64)] {
        self.rings.as_ref().map_or(&[], |rings| &rings.vertices)
    }
}

/// A corner for each of some vertices.
fn places(decomposition: &Decomposition, vertices: &[(usize, f64)]) -> Vec<(Place, f64)> {
    let mut found: Vec<Option<Place>> = vec![None; decomposition.vertices.len()];
    for (leaf, subdomain) in decomposition.forest().leaves().iter().zip(&decomposition.subdomains) {
        for (k, &v) in subdomain.vertices.iter().enumerate() {
            found[v].get_or_insert((leaf.root, leaf.corner(k)));
        }
    }
    vertices.iter().map(|&(v, exponent)| (found[v].expect("a vertex is a corner"), exponent)).collect()
}

/// The vertices at corners, in ascending order, each once with the smallest of its exponents.
fn vertices_at(decomposition: &Decomposition, places: &[(Place, f64)]) -> Vec<(usize, f64)> {
    let mut found: Vec<(usize, f64)> = Vec::new();
    for (leaf, subdomain) in decomposition.forest().leaves().iter().zip(&decomposition.subdomains) {
        for (k, &v) in subdomain.vertices.iter().enumerate() {
            let here = places.iter().filter(|(place, _)| *place == (leaf.root, leaf.corner(k)));
            found.extend(here.map(|&(_, exponent)| (v, exponent)));
        }
    }
    found.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    found.dedup_by_key(|(v, _)| *v);
    found
}

/// The stacks of an element.
#[derive(Clone)]
struct Stacks {
    /// The corner at the vertex.
    corner: usize,
    /// Into how many pieces each side that does not end there is cut, counter-clockwise.
    pieces: Vec<usize>,
    /// The intervals of the rings of every stack.
    intervals: Vec<[f64; 2]>,
}

impl Stacks {
    fn count(&self) -> usize {
        self.pieces.iter().sum()
    }
}

/// Puts rings into a decomposition.
struct Builder<'a> {
    base: &'a Decomposition,
    vertices: Vec<(usize, f64)>,
    /// For every element its corners at the vertices.
    corners: Vec<Vec<usize>>,
    /// The stacks of every element that has one such corner.
    stacks: Vec<Option<Stacks>>,
    /// The number of the first of the new subdomains of every element.
    starts: Vec<usize>,
}

impl<'a> Builder<'a> {
    fn new(base: &'a Decomposition, vertices: Vec<(usize, f64)>) -> Self {
        let mut exponents = vec![None; base.vertices.len()];
        vertices.iter().for_each(|&(v, exponent)| exponents[v] = Some(exponent));
        let at_vertices =
            |s: &Subdomain| (0..s.vertices.len()).filter(|&k| exponents[s.vertices[k]].is_some()).collect();
        let corners: Vec<Vec<usize>> = base.subdomains.iter().map(at_vertices).collect();
        let stacks_of = |(s, corners): (&Subdomain, &Vec<usize>)| {
            let [corner] = corners[..] else { return None };
            let exponent: f64 = exponents[s.vertices[corner]]?;
            let pieces = cuts(&s.map, corner);
            Some(Stacks { corner, pieces, intervals: ring_intervals(exponent.max(DEEPEST.max(SMALLEST_EXPONENT))) })
        };
        let stacks: Vec<Option<Stacks>> = base.subdomains.iter().zip(&corners).map(stacks_of).collect();
        let size = |s: &Option<Stacks>| s.as_ref().map_or(1, |stacks| stacks.count() * stacks.intervals.len());
        let starts = stacks.iter().scan(0, |at, s| Some(std::mem::replace(at, *at + size(s)))).collect();
        Builder { base, vertices, corners, stacks, starts }
    }

    /// Elements that must be split before there can be rings.
    fn elements_to_split(&self) -> Vec<(usize, Wish)> {
        let mut which: Vec<usize> = (0..self.corners.len()).filter(|&s| self.corners[s].len() > 1).collect();
        let at_vertex = |side: &EdgeSide| {
            let corners = &self.corners[side.subdomain];
            let count = self.base.subdomains[side.subdomain].vertices.len();
            corners.iter().any(|&k| k == side.side || k == (side.side + 1) % count)
        };
        for edge in &self.base.edges {
            for (own, other) in [(0, 1), (1, 0)].map(|(a, b)| (&edge.sides[a], &edge.sides[b])) {
                // A larger neighbour has no corner where the side of the smaller one ends.
                if own.span != Span::Whole && at_vertex(other) {
                    which.push(own.subdomain);
                }
            }
        }
        if which.is_empty() {
            for edge in self.base.edges.iter().filter(|edge| !at_vertex(&edge.sides[0])) {
                let [a, b] = edge.sides.each_ref().map(|side| self.segments_along(side));
                if a > 2.0 * b {
                    which.push(edge.sides[1].subdomain);
                } else if b > 2.0 * a {
                    which.push(edge.sides[0].subdomain);
                }
            }
        }
        which.sort_unstable();
        which.dedup();
        let thin =
            || (0..self.stacks.len()).filter(|&s| self.stacks[s].is_some()).filter_map(|s| Some((s, self.thin(s)?)));
        if which.is_empty() { thin().collect() } else { which.into_iter().map(|s| (s, Wish::FOUR)).collect() }
    }

    /// How an element that was cut in one direction more often than in the other is made less thin.
    fn thin(&self, element: usize) -> Option<Wish> {
        let map = self.base.subdomains[element].map.as_ref();
        let leaf = self.base.forest().leaves()[element];
        let [x, y] = map.jacobian(map.shape().center());
        let lengths = [0, 1].map(|a| x[a].hypot(y[a]));
        let longer = usize::from(lengths[1] > lengths[0]);
        let cut = lengths[longer] > THIN * lengths[1 - longer] && leaf.levels[longer] < leaf.levels[1 - longer];
        let levels = [0, 1].map(|a| u32::from(a == longer));
        cut.then_some(Wish { levels, toward: Toward::Nowhere })
    }

    /// Into how many sides of new subdomains a side is cut that has no end at a vertex with rings.
    fn segments(&self, element: usize, side: usize) -> usize {
        self.outer_side(element, side).map_or(1, |(stacks, k)| stacks.pieces[k])
    }

    /// ... and how many of them a piece has: half of one at a hanging side.
    fn segments_along(&self, side: &EdgeSide) -> f64 {
        self.segments(side.subdomain, side.side) as f64 * side.span.length()
    }

    /// The stacks of an element and the number of a side among those that do not end at the vertex.
    fn outer_side(&self, element: usize, side: usize) -> Option<(&Stacks, usize)> {
        let stacks = self.stacks[element].as_ref()?;
        let count = self.base.subdomains[element].vertices.len();
        let k = (side + 2 * count - stacks.corner - 1) % count;
        (k < stacks.pieces.len()).then_some((stacks, k))
    }

    /// The new subdomain, and its side, that has a segment of a side of an element.
    fn at_segment(&self, element: usize, side: usize, segment: usize) -> (usize, usize) {
        match self.stack_at(element, side, segment) {
            None => (self.starts[element], side),
            Some(stack) => (self.ring(element, stack, 0), OUTER),
        }
    }

    /// The number of a ring, counted from the outside.
    fn ring(&self, element: usize, stack: usize, ring: usize) -> usize {
        let stacks = self.stacks[element].as_ref().expect("elements at the vertex have stacks");
        self.starts[element] + stack * stacks.intervals.len() + ring
    }

    /// The pieces of a side of an element that has no end at a vertex with rings, one row for each of its segments.
    fn side_pieces(&self, element: usize, side: usize) -> Vec<Vec<LeafPiece>> {
        let segments = self.segments(element, side);
        let mut rows = vec![Vec::new(); segments];
        for piece in self.base.subdomains[element].pieces.iter().filter(|piece| piece.side == side) {
            let edge = match piece.behind {
                Behind::Boundary(part) => {
                    let whole = LeafPiece { span: Span::Whole, behind: LeafBehind::Boundary(part) };
                    rows.iter_mut().for_each(|row| row.push(whole));
                    continue;
                }
                Behind::Edge { edge, reversed } => self.base.edges[edge].sides[usize::from(!reversed)],
                Behind::Core => unreachable!("a decomposition without rings has no core"),
            };
            let own = EdgeSide { subdomain: element, side, span: piece.span };
            let [a, b] = [&own, &edge].map(|side| self.segments_along(side));
            let count = a.max(b).max(1.0) as usize;
            for k in 0..count {
                let (segment, span) = self.segment_at(&own, k, count);
                let (other, there) = self.segment_at(&edge, count - 1 - k, count);
                let (neighbour, its_side) = self.at_segment(edge.subdomain, edge.side, other);
                let span = self.seen_from_ring(element, side, segment, span);
                let there = self.seen_from_ring(edge.subdomain, edge.side, other, there);
                rows[segment].push(LeafPiece { span, behind: LeafBehind::Leaf(neighbour, its_side, there) });
            }
        }
        for (segment, row) in rows.iter_mut().enumerate() {
            if self.stack_at(element, side, segment).is_some_and(is_mirrored) {
                row.reverse();
            }
        }
        rows
    }

    /// The stack that has a segment of a side of an element, if it has any.
    fn stack_at(&self, element: usize, side: usize, segment: usize) -> Option<usize> {
        let (stacks, k) = self.outer_side(element, side)?;
        Some(stacks.pieces[..k].iter().sum::<usize>() + segment)
    }

    /// A part of a segment of a side of an element, counter-clockwise, as a part of the side of its subdomain.
    fn seen_from_ring(&self, element: usize, side: usize, segment: usize, span: Span) -> Span {
        match (self.stack_at(element, side, segment).is_some_and(is_mirrored), span) {
            (true, Span::First) => Span::Second,
            (true, Span::Second) => Span::First,
            _ => span,
        }
    }

    /// The segment of a side, and which part of it, that is piece k of `count` equal ones of an edge.
    fn segment_at(&self, side: &EdgeSide, k: usize, count: usize) -> (usize, Span) {
        let segments = self.segments(side.subdomain, side.side) as f64;
        let middle = segments * side.span.along((k as f64 + 0.5) / count as f64);
        let span = match () {
            () if self.segments_along(side) / count as f64 >= 1.0 => Span::Whole,
            () if middle.fract() < 0.5 => Span::First,
            () => Span::Second,
        };
        (middle as usize, span)
    }

    /// What lies behind the side of a ring on a ray of its element: the ring of the neighbour, or the boundary.
    fn behind_ray(&self, element: usize, side: usize, ring: usize) -> LeafBehind {
        let on_side = |piece: &&Piece| piece.side == side;
        let piece = self.base.subdomains[element].pieces.iter().find(on_side).expect("every side has a piece");
        match piece.behind {
            Behind::Boundary(part) => LeafBehind::Boundary(part),
            Behind::Edge { edge, reversed } => {
                let there = &self.base.edges[edge].sides[usize::from(!reversed)];
                let stacks = self.stacks[there.subdomain].as_ref().expect("both elements of a ray have stacks");
                // A side that begins at the vertex is the first ray of its element, one that ends there the last one.
                let last = stacks.count() - 1;
                let (stack, side) =
                    if there.side == stacks.corner { (0, first_ray(0)) } else { (last, last_ray(last)) };
                LeafBehind::Leaf(self.ring(there.subdomain, stack, ring), side, Span::Whole)
            }
            Behind::Core => unreachable!("a decomposition without rings has no core"),
        }
    }

    /// The pieces of all rings of an element.
    fn ring_pieces(&self, element: usize, stacks: &Stacks) -> Vec<Vec<Vec<LeafPiece>>> {
        let sides = self.base.subdomains[element].vertices.len();
        let (count, depth) = (stacks.count(), stacks.intervals.len());
        let outer: Vec<Vec<LeafPiece>> =
            (0..sides - 2).flat_map(|k| self.side_pieces(element, (stacks.corner + 1 + k) % sides)).collect();
        let whole = |behind: LeafBehind| vec![LeafPiece { span: Span::Whole, behind }];
        let meets = |stack: usize, ring: usize, side: usize| {
            whole(LeafBehind::Leaf(self.ring(element, stack, ring), side, Span::Whole))
        };
        let one = |stack: usize, ring: usize| {
            let first = match stack {
                0 => whole(self.behind_ray(element, stacks.corner, ring)),
                _ => meets(stack - 1, ring, last_ray(stack - 1)),
            };
            let last = match stack + 1 == count {
                true => whole(self.behind_ray(element, (stacks.corner + sides - 1) % sides, ring)),
                false => meets(stack + 1, ring, first_ray(stack + 1)),
            };
            let outer = if ring == 0 { outer[stack].clone() } else { meets(stack, ring - 1, INNER) };
            let inner = if ring + 1 == depth { whole(LeafBehind::Core) } else { meets(stack, ring + 1, OUTER) };
            if is_mirrored(stack) { vec![last, outer, first, inner] } else { vec![first, outer, last, inner] }
        };
        (0..count).flat_map(|stack| (0..depth).map(move |ring| (stack, ring))).map(|(s, r)| one(s, r)).collect()
    }

    /// The decomposition with rings.
    fn build(self) -> Decomposition {
        let (mut subdomains, mut pieces) = (Vec::new(), Vec::new());
        let (mut elements, mut places) = (Vec::new(), Vec::new());
        for (s, element) in self.base.subdomains.iter().enumerate() {
            let sides = element.vertices.len();
            let mut add = |map: MapRef, sides: usize, place: Option<(usize, usize)>| {
                let Subdomain { region, .. } = *element;
                subdomains.push(Subdomain { map, pieces: Vec::new(), vertices: vec![0; sides], region });
                elements.push(s);
                places.push(place);
            };
            match &self.stacks[s] {
                None => {
                    add(element.map.clone(), sides, None);
                    pieces.push((0..sides).map(|side| self.side_pieces(s, side).swap_remove(0)).collect());
                }
                Some(stacks) => {
                    let corner = self.corner_point(element, stacks.corner);
                    let triangles = corner_triangles(element.map.shape(), stacks.corner, &stacks.pieces);
                    for (stack, [c, first, last]) in triangles.into_iter().enumerate() {
                        let triangle = if is_mirrored(stack) { [c, last, first] } else { [c, first, last] };
                        let rings = ring_stack(&element.map, corner, triangle, &stacks.intervals);
                        for (k, ring) in rings.into_iter().enumerate() {
                            let place = (element.vertices[stacks.corner], k);
                            add(Arc::new(ring), Shape::Quadrilateral.sides(), Some(place));
                        }
                    }
                    pieces.extend(self.ring_pieces(s, stacks));
                }
            }
        }
        let Builder { base, vertices, .. } = self;
        let rings = Some(Arc::new(Rings { base: base.clone(), vertices, elements, places }));
        let mut ringed = base.clone();
        (ringed.subdomains, ringed.rings) = (subdomains, rings);
        ringed.joined(&pieces)
    }

    /// Where a corner is: the same numbers for all elements about it, unless it is identified with a point elsewhere.
    fn corner_point(&self, element: &Subdomain, corner: usize) -> Point {
        let (common, own) = (self.base.vertices[element.vertices[corner]].point, corner_of(&element.map, corner));
        let away = subtract(common, own).map(f64::abs);
        let size = subtract(corner_of(&element.map, corner + 1), own).map(f64::abs);
        if away[0].max(away[1]) < 1e-6 * size[0].max(size[1]) { common } else { own }
    }
}

/// A corner of an element.
fn corner_of(map: &MapRef, corner: usize) -> Point {
    let corners = map.shape().corners();
    map.point(corners[corner % corners.len()])
}

/// Into how many pieces the sides of an element that do not end in one of its corners are cut: see [`stacks`].
fn cuts(map: &MapRef, corner: usize) -> Vec<usize> {
    let corners = map.shape().corners();
    let count = corners.len();
    let slope = map.jacobian(corners[corner]);
    let direction = |k: usize| {
        let ray = subtract(corners[(corner + k) % count], corners[corner]);
        slope.map(|row| dot(row, ray))
    };
    let opening = |k: usize| {
        let (first, last) = (direction(k), direction(k + 1));
        cross(first, last).atan2(dot(first, last))
    };
    (1..count - 1).map(|k| stacks(opening(k))).collect()
}

#[cfg(test)]
#[path = "ringed_tests.rs"]
mod tests;
