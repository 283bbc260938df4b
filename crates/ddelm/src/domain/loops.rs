//! Closed loops of named pieces, as a user gives them.
//!
//! Every piece knows the setting it came from, `domain.outline[2]`, so that each mistake names its piece. A loop may be given
//! either way round; it is kept counter-clockwise.

use crate::base::error::{Error, Result};
use crate::base::number::brief;
use crate::domain::plane::Point;

use super::curve::Curve;
use super::plane::{Rectangle, cross, distance};
use super::spline::SplineEnds;

/// Ends that are this close, as a part of the size of the loop or of the domain, are one point.
pub const SAME_POINT: f64 = 1e-8;

/// Coordinates beyond which, and sizes below whose inverse, there are no outlines.
const LARGEST: f64 = 1e30;

/// A piece of a loop.
#[derive(Debug, Clone)]
pub struct Piece {
    /// Its points.
    pub curve: Curve,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Whether the name was given: others are numbers, which holes replace by their own name.
    is_given: bool,
    /// The setting it came from.
    pub key: String,
}

impl Piece {
    /// A line.
    pub fn line(key: &str, from: Point, to: Point) -> Result<Self> {
        if !(finite(from) && finite(to) && from != to) {
            let value = format!("[{from:?}, {to:?}]");
            return Err(Error::input(key, value, "a line needs two different points", "give its two ends"));
        }
        Ok(Self::unnamed(key, Curve::line(from, to)))
    }

    /// An arc of a circle, angles in degrees.
    pub fn arc(key: &str, center: Point, radius: f64, from: f64, to: f64) -> Result<Self> {
        radius_is_positive(&format!("{key}.arc"), center, radius)?;
        let turn = (to - from).abs();
        if !(turn > 0.0 && turn <= 360.0) {
            let problem = "an arc turns by more than 0 and at most 360 degrees";
            return Err(Error::input(
                format!("{key}.arc"),
                format!("from {from} to {to}"),
                problem,
                "give from and to in degrees",
            ));
        }
        Ok(Self::unnamed(key, Curve::arc(center, radius, from, to)))
    }

    /// A cubic spline through points.
    pub fn spline(key: &str, points: &[Point]) -> Result<Self> {
        let key_of = |k: usize| format!("{key}.spline[{k}]");
        if points.len() < 2 {
            return Err(Error::input(
                format!("{key}.spline"),
                format!("{points:?}"),
                "a spline needs two or more points",
                "",
            ));
        }
        if let Some(k) = points.iter().position(|&p| !finite(p)) {
            return Err(Error::input(key_of(k), format!("{:?}", points[k]), "the point is not finite", ""));
        }
        if let Some(k) = points.windows(2).position(|w| w[0] == w[1]) {
            let problem = "the point is the same as the one before it";
            return Err(Error::input(key_of(k + 1), format!("{:?}", points[k + 1]), problem, "leave one of them out"));
        }
        Ok(Self::unnamed(key, Curve::spline(points, SplineEnds::NotAKnot)))
    }

    /// Two formulas in t.
    pub fn formula(key: &str, formulas: [&str; 2], interval: [f64; 2]) -> Result<Self> {
        if !(finite(interval) && interval[0] != interval[1]) {
            let value = format!("{interval:?}");
            return Err(Error::input(
                format!("{key}.t"),
                value,
                "the interval of t is empty",
                "t = [0, 1], for example",
            ));
        }
        Ok(Self::unnamed(key, Curve::formula(key, formulas, interval)?))
    }

    /// The piece with a name.
    pub fn named(mut self, name: &str) -> Self {
        (self.name, self.is_given) = (Some(name.into()), true);
        self
    }

    fn unnamed(key: &str, curve: Curve) -> Self {
        Piece { curve, name: None, is_given: false, key: key.into() }
    }
}

/// A closed loop of pieces, counter-clockwise.
#[derive(Debug, Clone)]
pub struct Loop {
    /// The pieces, each beginning where the one before it ends.
    pub pieces: Vec<Piece>,
    /// The setting it came from.
    pub key: String,
}

impl Loop {
    /// The polygon with the given corners; `names` are those of its sides, the first from the first corner to the second.
    pub fn polygon(key: &str, corners: &[Point], names: Option<&[String]>) -> Result<Self> {
        if corners.len() < 2 {
            let value = format!("{} points", corners.len());
            return Err(Error::input(key, value, "a polygon needs three or more corners", "give its corners in order"));
        }
        if let Some(names) = names.filter(|names| names.len() != corners.len()) {
            let problem = format!("{} names for {} sides", names.len(), corners.len());
            return Err(Error::input(key, format!("{names:?}"), problem, "one name for each side, or none at all"));
        }
        if let Some(k) = corners.iter().position(|&p| !finite(p)) {
            return Err(Error::input(
                format!("{key}[{k}]"),
                format!("{:?}", corners[k]),
                "the corner is not finite",
                "",
            ));
        }
        let mut pieces = Vec::with_capacity(corners.len());
        for (k, &from) in corners.iter().enumerate() {
            let key = format!("{key}[{k}]");
            let to = corners[(k + 1) % corners.len()];
            if from == to {
                let hint = if k + 1 == corners.len() {
                    "a polygon is closed by itself: leave the last corner out"
                } else {
                    "leave one of them out"
                };
                return Err(Error::input(key, format!("{from:?}"), "the corner is the same as the next one", hint));
            }
            let piece = Piece::line(&key, from, to)?;
            pieces.push(match names {
                Some(names) => piece.named(&names[k]),
                None => piece,
            });
        }
        Self::closed(key, pieces, None)
    }

    /// A circle: one side, `boundary`.
    pub fn circle(key: &str, center: Point, radius: f64) -> Result<Self> {
        radius_is_positive(key, center, radius)?;
        Self::ellipse(key, center, [radius; 2], 0.0)
    }

    /// An ellipse with half axes, the first of them turned by `angle` degrees: one side, `boundary`.
    pub fn ellipse(key: &str, center: Point, axes: [f64; 2], angle: f64) -> Result<Self> {
        if !(finite(center) && finite(axes) && axes[0] > 0.0 && axes[1] > 0.0 && angle.is_finite()) {
            let value = format!("center {center:?}, axes {axes:?}, angle {angle}");
            let key = if finite(center) && angle.is_finite() { format!("{key}.axes") } else { key.into() };
            return Err(Error::input(key, value, "the half axes of an ellipse are positive numbers", ""));
        }
        let quarter = |k: u32| {
            let from = 90.0 * f64::from(k);
            Piece::unnamed(key, Curve::elliptic_arc(center, axes, angle, from, from + 90.0))
        };
        Self::closed(key, (0..4).map(quarter).collect(), Some("boundary"))
    }

    /// The loop of the given pieces.
    pub fn outline(key: &str, pieces: Vec<Piece>) -> Result<Self> {
        if pieces.is_empty() {
            return Err(Error::input(key, "[]", "an outline needs pieces", "lines, arcs, splines or curves, in order"));
        }
        Self::closed(key, pieces, None)
    }

    /// Checks that the pieces follow each other, names those without a name (by their numbers, where there is no other), and turns the
    /// loop counter-clockwise.
    fn closed(key: &str, pieces: Vec<Piece>, default_name: Option<&'static str>) -> Result<Self> {
        let around = Rectangle::around(pieces.iter().flat_map(|p| flat(&p.curve)));
        let size = norm_of(around);
        let far = around.farthest();
        if !(size > 1.0 / LARGEST && far < LARGEST) {
            let problem =
                format!("it is {size:.1e} large, and {far:.1e} away from the origin: that is beyond all numbers");
            return Err(Error::input(key, "the outline", problem, "choose another unit of length"));
        }
        for (k, piece) in pieces.iter().enumerate() {
            let next = &pieces[(k + 1) % pieces.len()];
            let (end, start) = (piece.curve.point(1.0), next.curve.point(0.0));
            let gap = distance(end, start);
            if gap > SAME_POINT * size {
                let backwards = pieces.len() > 1 && distance(end, next.curve.point(1.0)) <= SAME_POINT * size;
                let hint = match (backwards, k + 1 == pieces.len()) {
                    (true, _) => "the next piece runs the other way: exchange its ends",
                    (_, true) => "the last piece must end where the first one begins",
                    _ => "each piece must begin where the one before it ends",
                };
                let (end, start, gap) = (show(end), show(start), brief(gap, 4));
                let problem = format!("it ends at {end}, and {} begins at {start}: a gap of {gap}", next.key);
                return Err(Error::input(&piece.key, "the outline is not closed", problem, hint));
            }
        }
        let mut this = Loop { pieces, key: key.into() };
        for (k, piece) in this.pieces.iter_mut().enumerate() {
            piece.name.get_or_insert_with(|| default_name.map_or_else(|| format!("side-{}", k + 1), String::from));
        }
        if this.area() < 0.0 {
            this.pieces.reverse();
            for piece in &mut this.pieces {
                piece.curve = piece.curve.reversed();
            }
        }
        Ok(this)
    }

    /// Refuses a loop that encloses nothing: a slit is a hole, but no domain and no region.
    pub(super) fn encloses_area(&self) -> Result<()> {
        let size = norm_of(Rectangle::around(self.pieces.iter().flat_map(|p| flat(&p.curve))));
        if self.area().abs() < 1e-12 * size * size {
            let hint = "its points do not lie on a line, and follow each other around the domain";
            return Err(Error::input(&self.key, "the outline", "it encloses no area", hint));
        }
        Ok(())
    }

    /// The loop as a hole or region: pieces that were not given names take this one.
    pub fn with_name(mut self, name: &str) -> Self {
        self.pieces.iter_mut().filter(|piece| !piece.is_given).for_each(|piece| piece.name = Some(name.into()));
        self
    }

    /// Signed area of the polygon through samples.
    pub(super) fn area(&self) -> f64 {
        let points: Vec<Point> = self.pieces.iter().flat_map(|p| flat(&p.curve)).collect();
        let origin = points[0];
        let twice: f64 = (0..points.len())
            .map(|k| {
                let (a, b) = (points[k], points[(k + 1) % points.len()]);
                cross([a[0] - origin[0], a[1] - origin[1]], [b[0] - origin[0], b[1] - origin[1]])
            })
            .sum();
        0.5 * twice
    }
}

/// A polygon through a curve, without its last point.
fn flat(curve: &Curve) -> Vec<Point> {
    let mut samples = curve.samples(0.1, 1);
    samples.pop();
    samples.into_iter().map(|s| curve.point(s)).collect()
}

fn norm_of(b: Rectangle) -> f64 {
    let [w, h] = b.extent();
    w.hypot(h)
}

fn radius_is_positive(key: &str, center: Point, radius: f64) -> Result<()> {
    if finite(center) && radius.is_finite() && radius > 0.0 {
        return Ok(());
    }
    let value = format!("center {center:?}, radius {radius}");
    let key = if finite(center) { format!("{key}.radius") } else { format!("{key}.center") };
    Err(Error::input(key, value, "the radius of a circle is a positive number", ""))
}

fn finite(p: [f64; 2]) -> bool {
    p[0].is_finite() && p[1].is_finite()
}

/// A point for a message.
pub(super) fn show(p: Point) -> String {
    let short = |v: f64| {
        let rounded = format!("{v:.6}");
        let text = rounded.trim_end_matches('0').trim_end_matches('.');
        if text == "-0" { "0".to_string() } else { text.to_string() }
    };
    format!("({}, {})", short(p[0]), short(p[1]))
}
