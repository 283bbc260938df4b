//! A rectangle whose sides may be divided into parts, each with a condition of its own.
//!
//! A side that is not divided is one part, `left`, `right`, `bottom` or `top`. Where parts are taken out of it, the rest
//! keeps that name, and the grid of subdomains has lines through all of their ends.

use crate::base::error::{Error, Result};
use crate::domain::map::Point;
use crate::problem::model::SIDES;

use super::loops::Loop;

/// Lengths below this part of a side are nothing.
const NOTHING: f64 = 1e-9;

/// The least part of a side: a shorter one would want subdomains that are lost in rounding.
const SHORTEST: f64 = 1e-6;

/// By how much subdomains may be larger than was asked for, so that rounding does not cut one more.
const SLACK: f64 = 0.1;

/// A rectangle and the parts of its sides.
#[derive(Debug, Clone, PartialEq)]
pub struct DividedRectangle {
    /// The ends in x.
    pub x: [f64; 2],
    /// The ends in y.
    pub y: [f64; 2],
    pieces: Vec<SidePiece>,
}

/// A part that was taken out of a side.
#[derive(Debug, Clone, PartialEq)]
struct SidePiece {
    side: usize,
    name: String,
    interval: [f64; 2],
}

/// A stretch of the perimeter that belongs to one part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    /// Left, right, bottom or top.
    pub side: usize,
    /// From where to where, in y on the left and right, in x on the others.
    pub interval: [f64; 2],
    /// The number of its part in [`DividedRectangle::names`].
    pub part: usize,
}

impl DividedRectangle {
    /// A rectangle with whole sides. Its ends are checked where it is cut.
    pub fn new(x: [f64; 2], y: [f64; 2]) -> Self {
        DividedRectangle { x, y, pieces: Vec::new() }
    }

    /// Whether every side is one part.
    pub fn is_whole(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Takes a part out of a side. The `key` is the setting that errors name; it has `from`, `to` and `name`.
    pub fn divide(&mut self, key: &str, side: usize, name: &str, interval: [f64; 2]) -> Result<()> {
        let [from, to] = interval;
        let [low, high] = self.extent(side);
        let (side_name, axis) = (SIDES[side], if side < 2 { "y" } else { "x" });
        let refuse = |end: &str, value: f64, problem: String, hint: &str| {
            Err(Error::input(format!("{key}.{end}"), value, problem, hint))
        };
        for (end, value) in [("from", from), ("to", to)] {
            let slack = NOTHING * (high - low);
            if !(value >= low - slack && value <= high + slack) {
                let problem = format!("the {side_name} side goes from {axis} = {low} to {high}");
                return refuse(end, value, problem, "give a part of it");
            }
        }
        if to - from < SHORTEST * (high - low) {
            let problem = format!("the part goes from {from} to {to}, which is nothing");
            return refuse("to", to, problem, "give the smaller end first");
        }
        let overlap =
            |p: &&SidePiece| p.side == side && from.max(p.interval[0]) < to.min(p.interval[1]) - NOTHING * (high - low);
        if let Some(other) = self.pieces.iter().find(overlap) {
            let problem = format!("it overlaps {}, from {} to {}", other.name, other.interval[0], other.interval[1]);
            return refuse("from", from, problem, "every point of a side has one condition");
        }
        if self.pieces.iter().any(|p| p.name == name) || SIDES.contains(&name) {
            let hint = "give every part of a side a name of its own";
            return Err(Error::input(format!("{key}.name"), name, "another part has this name", hint));
        }
        self.pieces.push(SidePiece { side, name: name.into(), interval });
        Ok(())
    }

    /// The names of the parts: what is left of the four sides, then the parts that were taken out.
    pub fn names(&self) -> Vec<String> {
        let rest = (0..4).filter(|&side| !self.rest(side).is_empty()).map(|side| SIDES[side].to_string());
        rest.chain(self.pieces.iter().map(|p| p.name.clone())).collect()
    }

    /// The perimeter in stretches, side by side, each side from its smaller end.
    pub fn stretches(&self) -> Vec<Stretch> {
        let names = self.names();
        let part = |name: &str| names.iter().position(|n| n == name).expect("a stretch has a name");
        let mut out = Vec::new();
        for (side, name) in SIDES.iter().enumerate() {
            let rest = self.rest(side).into_iter().map(|interval| Stretch { side, interval, part: part(name) });
            let taken = self.pieces.iter().filter(|p| p.side == side);
            let taken = taken.map(|p| Stretch { side, interval: p.interval, part: part(&p.name) });
            let mut along: Vec<Stretch> = rest.chain(taken).collect();
            along.sort_by(|a, b| a.interval[0].total_cmp(&b.interval[0]));
            out.extend(along);
        }
        out
    }

    /// The part of the boundary at a point of it.
    pub fn part_at(&self, p: Point) -> usize {
        let distance = |side: usize| {
            let [low, high] = self.extent(if side < 2 { 2 } else { 0 });
            let (v, end) = (p[side / 2], if side.is_multiple_of(2) { low } else { high });
            (v - end).abs() / (high - low)
        };
        let side = (0..4).min_by(|&a, &b| distance(a).total_cmp(&distance(b))).expect("there are four sides");
        let t = p[1 - side / 2];
        let away = |s: &Stretch| (s.interval[0] - t).max(t - s.interval[1]).max(0.0);
        let on_side = self.stretches().into_iter().filter(|s| s.side == side);
        on_side.min_by(|a, b| away(a).total_cmp(&away(b))).expect("a side has a stretch").part
    }

    /// A point of a side.
    pub fn point(&self, side: usize, along: f64) -> Point {
        match side {
            0 => [self.x[0], along],
            1 => [self.x[1], along],
            2 => [along, self.y[0]],
            _ => [along, self.y[1]],
        }
    }

    /// The outline as a polygon whose sides are the stretches. Its pieces come from the keys `x` and `y` of a table.
    pub fn polygon(&self, key: &str) -> Result<Loop> {
        let names = self.names();
        let stretches = self.stretches();
        // Counter-clockwise: the top and the left side run towards their smaller ends.
        let mut around: Vec<(Point, String)> = Vec::new();
        for (side, backwards) in [(2, false), (1, false), (3, true), (0, true)] {
            let along = stretches.iter().filter(|s| s.side == side);
            let start = |s: &Stretch| (self.point(side, s.interval[usize::from(backwards)]), names[s.part].clone());
            let mut corners: Vec<_> = along.map(start).collect();
            if backwards {
                corners.reverse();
            }
            around.extend(corners);
        }
        let (corners, names): (Vec<Point>, Vec<String>) = around.into_iter().unzip();
        let mut polygon = Loop::polygon(key, &corners, Some(&names))?;
        for piece in &mut polygon.pieces {
            let [a, b] = piece.curve.ends();
            piece.key = format!("{key}.{}", if a[0] == b[0] { "x" } else { "y" });
        }
        Ok(polygon)
    }

    /// The lines of a grid in x and in y: through the ends of all parts, and `counts` nearly equal intervals, or a few more.
    pub fn lines(&self, counts: [usize; 2]) -> [Vec<f64>; 2] {
        [0, 1].map(|axis| {
            let [low, high] = if axis == 0 { self.x } else { self.y };
            let ends = self.pieces.iter().filter(|p| usize::from(p.side < 2) == axis).flat_map(|p| p.interval);
            let mut breaks: Vec<f64> = ends.chain([low, high]).map(|v| v.clamp(low, high)).collect();
            breaks.sort_by(f64::total_cmp);
            breaks.dedup_by(|b, a| *b - *a <= NOTHING * (high - low));
            *breaks.last_mut().expect("a side has two ends") = high;
            let width = (high - low) / counts[axis] as f64;
            let mut lines = vec![low];
            for ends in breaks.windows(2) {
                let count = ((ends[1] - ends[0]) / width - SLACK).ceil().max(1.0) as usize;
                let step = (ends[1] - ends[0]) / count as f64;
                lines.extend((1..count).map(|k| ends[0] + k as f64 * step));
                lines.push(ends[1]);
            }
            lines
        })
    }

    /// What is left of a side.
    fn rest(&self, side: usize) -> Vec<[f64; 2]> {
        let [low, high] = self.extent(side);
        let mut taken: Vec<[f64; 2]> = self.pieces.iter().filter(|p| p.side == side).map(|p| p.interval).collect();
        taken.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let starts = std::iter::once(low).chain(taken.iter().map(|t| t[1]));
        let ends = taken.iter().map(|t| t[0]).chain([high]);
        let gaps = starts.zip(ends).map(|(from, to)| [from, to]);
        gaps.filter(|gap| gap[1] - gap[0] > NOTHING * (high - low)).collect()
    }

    /// The ends of a side.
    fn extent(&self, side: usize) -> [f64; 2] {
        if side < 2 { self.y } else { self.x }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inlet() -> DividedRectangle {
        let mut rectangle = DividedRectangle::new([0.0, 2.0], [0.0, 1.0]);
        rectangle.divide("k", 0, "left-1", [0.25, 0.5]).unwrap();
        rectangle.divide("k", 0, "outlet", [0.5, 1.0]).unwrap();
        rectangle
    }

    #[test]
    fn the_rest_of_a_side_keeps_its_name() {
        let rectangle = inlet();
        assert_eq!(rectangle.names(), ["left", "right", "bottom", "top", "left-1", "outlet"]);
        for (p, part) in [([0.0, 0.1], 0), ([0.0, 0.3], 4), ([0.0, 0.9], 5), ([2.0, 0.3], 1), ([1.9, 0.0], 2)] {
            assert_eq!(rectangle.part_at(p), part, "{p:?}");
        }
        assert!(DividedRectangle::new([0.0, 1.0], [0.0, 1.0]).is_whole() && !rectangle.is_whole());
    }

    #[test]
    fn a_side_that_is_wholly_divided_has_no_rest() {
        let mut rectangle = inlet();
        rectangle.divide("k", 0, "corner", [0.0, 0.25]).unwrap();
        assert_eq!(rectangle.names(), ["right", "bottom", "top", "left-1", "outlet", "corner"]);
        assert_eq!(rectangle.part_at([0.0, 0.1]), 5);
    }

    #[test]
    fn lines_go_through_the_ends_of_parts() {
        let [x, y] = inlet().lines([4, 2]);
        assert_eq!(x, [0.0, 0.5, 1.0, 1.5, 2.0]);
        assert_eq!(y, [0.0, 0.25, 0.5, 1.0]);
        let [_, y] = inlet().lines([1, 8]);
        assert_eq!(y, [0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0]);
    }

    #[test]
    fn the_polygon_has_a_side_for_every_stretch() {
        let polygon = inlet().polygon("domain").unwrap();
        let sides: Vec<(Point, &str)> =
            polygon.pieces.iter().map(|p| (p.curve.point(0.0), p.name.as_deref().unwrap())).collect();
        let expected = [
            ([0.0, 0.0], "bottom"),
            ([2.0, 0.0], "right"),
            ([2.0, 1.0], "top"),
            ([0.0, 1.0], "outlet"),
            ([0.0, 0.5], "left-1"),
            ([0.0, 0.25], "left"),
        ];
        assert_eq!(sides, expected);
        let keys: Vec<&str> = polygon.pieces.iter().map(|p| p.key.as_str()).collect();
        assert_eq!(keys, ["domain.y", "domain.x", "domain.y", "domain.x", "domain.x", "domain.x"]);
    }

    #[test]
    fn parts_lie_on_their_side_and_apart() {
        let refused = |interval: [f64; 2], name: &str| {
            let error = inlet().divide("boundary.left.part[2]", 0, name, interval).unwrap_err();
            (error.key().unwrap().to_string(), error.to_string())
        };
        for (interval, name, key, message) in [
            ([-0.5, 0.1], "a", "from", "goes from y = 0 to 1"),
            ([0.1, 1.5], "a", "to", "goes from y = 0 to 1"),
            ([0.1, f64::NAN], "a", "to", "goes from y = 0 to 1"),
            ([0.2, 0.1], "a", "to", "which is nothing"),
            ([0.1, 0.3], "a", "from", "overlaps left-1, from 0.25 to 0.5"),
            ([0.0, 0.1], "outlet", "name", "another part has this name"),
            ([0.0, 0.1], "top", "name", "another part has this name"),
        ] {
            let (at, text) = refused(interval, name);
            assert_eq!(at, format!("boundary.left.part[2].{key}"));
            assert!(text.contains(message), "{text}");
        }
    }
}
