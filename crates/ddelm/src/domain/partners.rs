//! Periodic sides are cut alike: which strand of one side is which strand of the other, moved.
//!
//! Two sides are glued where their chords are translates of each other. What lies near one of them, a hole say, asks for
//! smaller elements there and not at the other; so strands that are translates are cut in pairs.

use crate::domain::plane::Point;

use super::arrangement::Arrangement;
use super::meeting::Polyline;
use super::plane::{Rectangle, distance, subtract};

/// Points of partners are this close after the shift, as a part of the size of the sides.
const SAME: f64 = 1e-7;

/// The strand that a strand becomes when it is moved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Partner {
    /// The other strand.
    pub strand: usize,
    /// The way there.
    pub shift: Point,
    /// Whether the other strand runs the other way.
    pub reversed: bool,
}

impl Partner {
    /// A point, moved.
    pub fn moved(&self, p: Point) -> Point {
        [p[0] + self.shift[0], p[1] + self.shift[1]]
    }

    /// The parameter of the partner at a point of the strand.
    pub fn parameter(&self, arrangement: &Arrangement, p: Point) -> f64 {
        let curve = &arrangement.strands[self.strand].curve;
        let p = self.moved(p);
        curve.project(p, Polyline::new(curve).nearest(p))
    }
}

/// For every strand on the first side of a pair of names its partner on the second. A strand without one stays alone: where a
/// region ends on one of the sides only they cannot be cut alike, and gluing says so.
pub fn partners(arrangement: &Arrangement, pairs: &[(usize, usize)]) -> Vec<Option<Partner>> {
    let strands = &arrangement.strands;
    let mut found = vec![None; strands.len()];
    let on = |name: usize| -> Vec<usize> {
        (0..strands.len()).filter(|&k| strands[k].boundary().contains(&Some(name))).collect()
    };
    for &(a, b) in pairs {
        let sides = [on(a), on(b)];
        let boxes = sides.each_ref().map(|side| Rectangle::around(side.iter().flat_map(|&k| strands[k].curve.ends())));
        let shift = subtract(boxes[1].center(), boxes[0].center());
        let same = SAME * distance(boxes[0].low, boxes[0].high);
        for &k in &sides[0] {
            let [start, end] = strands[k].curve.ends();
            found[k] = sides[1].iter().find_map(|&strand| {
                [false, true].into_iter().find_map(|reversed| {
                    let partner = Partner { strand, shift, reversed };
                    let [mut from, mut to] = strands[strand].curve.ends();
                    if reversed {
                        std::mem::swap(&mut from, &mut to);
                    }
                    let middle = strands[k].curve.point(0.5);
                    let opposite = strands[strand].curve.point(partner.parameter(arrangement, middle));
                    let meets = |p: Point, q: Point| distance(partner.moved(p), q) <= same;
                    (meets(start, from) && meets(end, to) && meets(middle, opposite)).then_some(partner)
                })
            });
        }
    }
    found
}
