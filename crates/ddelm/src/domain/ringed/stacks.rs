//! The stacks of an element: into which pieces its sides across from a vertex are cut, and how those of two elements meet.

use std::f64::consts::TAU;

use crate::domain::corner::{Limits, RingVertex, SMALLEST_EXPONENT, ring_intervals, stack_ends};
use crate::domain::exponents::straightened;
use crate::domain::forest::Span;
use crate::domain::map::{MapRef, Point};
use crate::domain::plane::{dot, norm, subtract};

/// Exponents below this are treated as this: squares of lengths are numbers down to the end of the rings.
const DEEPEST: f64 = 0.1;

/// The stacks of an element.
#[derive(Clone)]
pub(super) struct Stacks {
    /// The corner at the vertex.
    pub corner: usize,
    /// The ends of the pieces of each side that does not end there, from 0 to 1, counter-clockwise.
    pub ends: Vec<Vec<f64>>,
    /// The intervals of the rings of every stack.
    pub intervals: Vec<[f64; 2]>,
}

impl Stacks {
    /// The stacks of an element with a corner at a vertex, as its material sees it: see [`stack_ends`].
    pub fn new(map: &MapRef, corner: usize, vertex: &RingVertex) -> Self {
        let corners = map.shape().corners();
        let count = corners.len();
        let slope = map.jacobian(corners[corner]);
        let direction = |k: usize| {
            let ray = subtract(corners[(corner + k) % count], corners[corner]);
            slope.map(|row| dot(row, ray))
        };
        let unit = |p: Point| p.map(|v| v / norm(p));
        let (first, last) = (unit(direction(1)), unit(direction(count - 1)));
        let angle = (first[1] + last[1]).atan2(first[0] + last[0]);
        // Sectors begin anywhere.
        let is_in = |[from, to]: [f64; 2]| (angle - from).rem_euclid(TAU) <= to - from;
        let tensor = vertex.sectors.iter().find(|sector| is_in(sector.angles)).map(|sector| sector.tensor);
        let seen = |p: Point| tensor.and_then(|tensor| straightened(tensor, p)).unwrap_or(p);
        let limits = if tensor.is_some() { Limits::NARROW } else { Limits::USUAL };
        let ends = (1..count - 1).map(|k| stack_ends(seen(direction(k)), seen(direction(k + 1)), limits)).collect();
        Stacks { corner, ends, intervals: ring_intervals(vertex.exponent.max(DEEPEST.max(SMALLEST_EXPONENT))) }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.ends.iter().map(|ends| ends.len() - 1).sum()
    }

    /// The number of the stack that has a segment of one of the sides.
    pub fn number(&self, side: usize, segment: usize) -> usize {
        self.ends[..side].iter().map(|ends| ends.len() - 1).sum::<usize>() + segment
    }

    /// Halves a segment of one of the sides.
    pub fn halve(&mut self, side: usize, segment: usize) {
        let ends = &mut self.ends[side];
        ends.insert(segment + 1, 0.5 * (ends[segment] + ends[segment + 1]));
    }
}

/// A segment of a side along an edge, in the coordinate of the edge from 0 to 1; it may be longer than that.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Segment {
    number: usize,
    low: f64,
    high: f64,
    /// Whether the side runs against the edge.
    against: bool,
}

impl Segment {
    /// Which part of it lies between two points of the edge; nothing if it is neither all of it nor a half.
    fn span(&self, [low, high]: [f64; 2]) -> Option<Span> {
        let part = (high - low) / (self.high - self.low);
        let begins = (low == self.low) != self.against;
        match part {
            _ if part >= 1.0 => Some(Span::Whole),
            _ if part < 0.5 => None,
            _ if begins => Some(Span::First),
            _ => Some(Span::Second),
        }
    }
}

/// The segments of a side with such ends along an edge that is a part of it.
fn segments(ends: &[f64], span: Span, against: bool) -> Vec<Segment> {
    let along = |t: f64| {
        let t = (t - span.along(0.0)) / span.length();
        if against { 1.0 - t } else { t }
    };
    let segment = |(number, pair): (usize, &[f64])| {
        let (a, b) = (along(pair[0]), along(pair[1]));
        Segment { number, low: a.min(b), high: a.max(b), against }
    };
    ends.windows(2).enumerate().map(segment).filter(|s| s.low < 1.0 && s.high > 0.0).collect()
}

/// A piece of an edge: of its first and of its second side the segment that it belongs to, and which part of that it is; nothing if that
/// is neither all of it nor a half.
pub(super) type Meeting = [(usize, Option<Span>); 2];

/// How the segments of two sides meet along an edge, in the direction of the first. Sides are given by their ends, and by the part of them
/// that is the edge; the second runs against it. All ends are halves of halves, and so the same numbers on both sides.
pub(super) fn meetings(first: (&[f64], Span), second: (&[f64], Span)) -> Vec<Meeting> {
    let sides = [segments(first.0, first.1, false), segments(second.0, second.1, true)];
    let mut ends: Vec<f64> = sides.iter().flatten().flat_map(|s| [s.low.max(0.0), s.high.min(1.0)]).collect();
    ends.sort_by(f64::total_cmp);
    ends.dedup();
    let one = |pair: &[f64]| {
        let middle = 0.5 * (pair[0] + pair[1]);
        sides.each_ref().map(|side| {
            let segment = side.iter().find(|s| s.low < middle && middle < s.high).expect("segments fill their side");
            (segment.number, segment.span([pair[0], pair[1]]))
        })
    };
    ends.windows(2).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_meet_in_wholes_and_halves() {
        let [whole, first, second] = [Span::Whole, Span::First, Span::Second].map(Some);
        let graded = [0.0, 0.25, 0.5, 1.0];
        // The second side runs the other way.
        assert_eq!(
            meetings((&graded, Span::Whole), (&[0.0, 0.5, 1.0], Span::Whole)),
            [[(0, whole), (1, second)], [(1, whole), (1, first)], [(2, whole), (0, whole)]]
        );
        // A half of a side of the neighbour: a quarter of it would be too little.
        assert_eq!(
            meetings((&[0.0, 0.5, 1.0], Span::Whole), (&[0.0, 1.0], Span::First)),
            [[(0, whole), (0, None)], [(1, whole), (0, None)]]
        );
        assert_eq!(meetings((&[0.0, 1.0], Span::Second), (&[0.0, 1.0], Span::Whole)), [[(0, second), (0, whole)]]);
    }
}
