//! Puts rings into a decomposition: which elements must be split before, and who meets whom afterwards.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::domain::corner::{RingVertex, corner_triangles, ring_stack};
use crate::domain::decomposition::{Behind, Decomposition, EdgeSide, Piece, Rings, Subdomain};
use crate::domain::forest::{LeafBehind, LeafPiece, Span, Toward, Wish};
use crate::domain::map::{MapRef, Point};
use crate::domain::plane::subtract;
use crate::domain::shape::Shape;

use super::stacks::{Meeting, Stacks, meetings};

/// Elements that became longer than this times their width by splitting have no rings before they are split across.
const THIN: f64 = 3.0;

/// The ends of a side that is not cut.
const WHOLE: [f64; 2] = [0.0, 1.0];

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

/// Puts rings into a decomposition.
pub(super) struct Builder<'a> {
    base: &'a Decomposition,
    vertices: Vec<RingVertex>,
    /// For every element its corners at the vertices.
    corners: Vec<Vec<usize>>,
    /// The stacks of every element that has one such corner.
    stacks: Vec<Option<Stacks>>,
    /// The number of the first of the new subdomains of every element.
    starts: Vec<usize>,
}

impl<'a> Builder<'a> {
    pub fn new(base: &'a Decomposition, vertices: Vec<RingVertex>) -> Self {
        let mut at: Vec<Option<&RingVertex>> = vec![None; base.vertices.len()];
        vertices.iter().for_each(|ringed| at[ringed.vertex] = Some(ringed));
        let at_vertices = |s: &Subdomain| (0..s.vertices.len()).filter(|&k| at[s.vertices[k]].is_some()).collect();
        let corners: Vec<Vec<usize>> = base.subdomains.iter().map(at_vertices).collect();
        let stacks_of = |(s, corners): (&Subdomain, &Vec<usize>)| {
            let [corner] = corners[..] else { return None };
            Some(Stacks::new(&s.map, corner, at[s.vertices[corner]]?))
        };
        let stacks = base.subdomains.iter().zip(&corners).map(stacks_of).collect();
        let mut builder = Builder { base, vertices, corners, stacks, starts: Vec::new() };
        builder.follow_neighbours();
        let size = |s: &Option<Stacks>| s.as_ref().map_or(1, |stacks| stacks.count() * stacks.intervals.len());
        builder.starts = builder.stacks.iter().scan(0, |at, s| Some(std::mem::replace(at, *at + size(s)))).collect();
        builder
    }

    /// Elements that must be split before there can be rings.
    pub fn elements_to_split(&self) -> Vec<(usize, Wish)> {
        let mut which: BTreeMap<usize, Wish> =
            (0..self.corners.len()).filter(|&s| self.corners[s].len() > 1).map(|s| (s, Wish::FOUR)).collect();
        for edge in &self.base.edges {
            for (own, other) in [(0, 1), (1, 0)].map(|(a, b)| (&edge.sides[a], &edge.sides[b])) {
                // A larger neighbour has no corner where the side of the smaller one ends.
                if own.span != Span::Whole && self.at_vertex(other) {
                    let wish = which.entry(own.subdomain).or_insert(Wish { levels: [0, 0], toward: Toward::Nowhere });
                    let more = self.shorter(own);
                    (0..2).for_each(|a| wish.levels[a] |= more[a]);
                }
            }
        }
        if !which.is_empty() {
            return which.into_iter().collect();
        }
        let thin: Vec<(usize, Wish)> = (0..self.stacks.len())
            .filter(|&s| self.stacks[s].is_some())
            .filter_map(|s| Some((s, self.thin(s)?)))
            .collect();
        if thin.is_empty() { self.across_from_stacks() } else { thin }
    }

    /// How an element whose side is too long is cut: into four, unless it was cut more often in the other direction already. Otherwise
    /// elements about a vertex would get smaller in turn, for ever.
    fn shorter(&self, side: &EdgeSide) -> [u32; 2] {
        let levels = self.base.forest().leaves()[side.subdomain].levels;
        // The sides of a quadrilateral are in turns along its first and its second coordinate.
        let along = side.side % 2;
        [0, 1].map(|a| u32::from(a == along || levels[a] <= levels[along]))
    }

    /// Elements that meet stacks less than half as long as their sides are halved along these.
    fn across_from_stacks(&self) -> Vec<(usize, Wish)> {
        halved(self.coarse().into_iter().map(|(element, side, _)| (element, side)))
    }

    /// Elements beyond a side that had to be cut into several stacks, which opens too wide for one, are halved along it: the vertex is as
    /// close to them as to the stacks. Where some stacks are narrow neighbours are cut as these ask for.
    pub fn beyond_wide_stacks(&self) -> Vec<(usize, Wish)> {
        if self.vertices.iter().any(|ringed| !ringed.sectors.is_empty()) {
            return Vec::new();
        }
        let mut wide = Vec::new();
        for sides in self.base.edges.iter().map(|edge| &edge.sides) {
            let plain = match sides.each_ref().map(|side| self.stacks[side.subdomain].is_some()) {
                [true, false] => 1,
                [false, true] => 0,
                _ => continue,
            };
            let is_half = |meeting: &Meeting| matches!(meeting[plain].1, Some(Span::First | Span::Second));
            if self.ends(sides[1 - plain].subdomain, sides[1 - plain].side) != WHOLE
                && self.meetings(&sides[0], &sides[1]).iter().any(is_half)
            {
                wide.push((sides[plain].subdomain, sides[plain].side));
            }
        }
        wide.sort_unstable();
        halved(wide.into_iter())
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

    /// Where a side that has no end at a vertex with rings is cut into sides of new subdomains.
    fn ends(&self, element: usize, side: usize) -> &[f64] {
        self.outer_side(element, side).map_or(&WHOLE, |(stacks, k)| &stacks.ends[k])
    }

    /// How the sides of new subdomains meet along an edge.
    fn meetings(&self, own: &EdgeSide, other: &EdgeSide) -> Vec<Meeting> {
        let [own, other] = [own, other].map(|at| (self.ends(at.subdomain, at.side), at.span));
        meetings(own, other)
    }

    /// Whether a side ends at a vertex with rings.
    fn at_vertex(&self, side: &EdgeSide) -> bool {
        let corners = &self.corners[side.subdomain];
        let count = self.base.subdomains[side.subdomain].vertices.len();
        corners.iter().any(|&k| k == side.side || k == (side.side + 1) % count)
    }

    /// Sides, and segments of them, that meet something less than half as long.
    fn coarse(&self) -> Vec<(usize, usize, usize)> {
        let mut found = Vec::new();
        let has_stacks = |side: &EdgeSide| self.stacks[side.subdomain].is_some();
        let edges = self.base.edges.iter().map(|edge| &edge.sides);
        for sides in edges.filter(|sides| sides.iter().any(has_stacks) && !sides.iter().any(|s| self.at_vertex(s))) {
            for meeting in self.meetings(&sides[0], &sides[1]) {
                let short = sides.iter().zip(meeting).filter(|(_, (_, span))| span.is_none());
                found.extend(short.map(|(side, (segment, _))| (side.subdomain, side.side, segment)));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Cuts stacks lengthwise until they meet nothing that is less than half as long.
    fn follow_neighbours(&mut self) {
        loop {
            // From the last segment of a side to its first: numbers stay what they are.
            let coarse: Vec<_> = self.coarse().into_iter().rev().filter(|c| self.stacks[c.0].is_some()).collect();
            if coarse.is_empty() {
                return;
            }
            for (element, side, segment) in coarse {
                let k = self.outer_side(element, side).expect("a side across from the vertex").1;
                self.stacks[element].as_mut().expect("it has stacks").halve(k, segment);
            }
        }
    }

    /// The stacks of an element and the number of a side among those that do not end at the vertex.
    fn outer_side(&self, element: usize, side: usize) -> Option<(&Stacks, usize)> {
        let stacks = self.stacks[element].as_ref()?;
        let count = self.base.subdomains[element].vertices.len();
        let k = (side + 2 * count - stacks.corner - 1) % count;
        (k < stacks.ends.len()).then_some((stacks, k))
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
        let mut rows = vec![Vec::new(); self.ends(element, side).len() - 1];
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
            for [(segment, span), (other, there)] in self.meetings(&own, &edge) {
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
        Some(stacks.number(k, segment))
    }

    /// A part of a segment of a side of an element, counter-clockwise, as a part of the side of its subdomain.
    fn seen_from_ring(&self, element: usize, side: usize, segment: usize, span: Option<Span>) -> Span {
        let span = span.expect("what meets is the same, or half as long");
        match (self.stack_at(element, side, segment).is_some_and(is_mirrored), span) {
            (true, Span::First) => Span::Second,
            (true, Span::Second) => Span::First,
            _ => span,
        }
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
    pub fn build(self) -> Decomposition {
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
                    let triangles = corner_triangles(element.map.shape(), stacks.corner, &stacks.ends);
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

/// Elements and their sides, in this order, as wishes to be halved along these sides.
fn halved(sides: impl Iterator<Item = (usize, usize)>) -> Vec<(usize, Wish)> {
    let mut found: Vec<(usize, Wish)> = Vec::new();
    for (element, side) in sides {
        let levels = [0, 1].map(|a| u32::from(a == side % 2));
        match found.last_mut().filter(|(last, _)| *last == element) {
            Some((_, wish)) => (0..2).for_each(|a| wish.levels[a] |= levels[a]),
            None => found.push((element, Wish { levels, toward: Toward::Nowhere })),
        }
    }
    found
}

/// A corner of an element.
fn corner_of(map: &MapRef, corner: usize) -> Point {
    let corners = map.shape().corners();
    map.point(corners[corner % corners.len()])
}
