//! Where two curves come nearest: polylines find the candidates, Newton's method the points.

use crate::domain::plane::Point;

use super::curve::Curve;
use super::plane::{Rectangle, between, cross, distance, dot, segment_distance, subtract};

/// How much a curve may turn between two points of its polyline, in radians.
const TURN: f64 = 0.1;

/// A polygon through points of a curve.
#[derive(Debug, Clone)]
pub struct Polyline {
    /// The parameters of the points.
    pub parameters: Vec<f64>,
    /// The points.
    pub points: Vec<Point>,
    straight: bool,
}

impl Polyline {
    /// The polyline of a curve, one segment for a line.
    pub fn new(curve: &Curve) -> Self {
        let straight = curve.is_straight();
        let parameters = curve.samples(TURN, if straight { 1 } else { 4 });
        let points = parameters.iter().map(|&s| curve.point(s)).collect();
        Polyline { parameters, points, straight }
    }

    /// Number of segments.
    pub fn segments(&self) -> usize {
        self.points.len() - 1
    }

    /// How far the curve can be from a segment: an arc that turns by the angle a is `a/8` of its length high.
    fn slack(&self, k: usize) -> f64 {
        if self.straight { 0.0 } else { 0.03 * distance(self.points[k], self.points[k + 1]) }
    }

    /// A box around the curve between two points.
    pub fn segment_box(&self, k: usize) -> Rectangle {
        Rectangle::around([self.points[k], self.points[k + 1]]).grown(self.slack(k))
    }

    /// The parameter of a point of the polyline near p.
    pub fn nearest(&self, p: Point) -> f64 {
        let mut best = (f64::INFINITY, 0.0);
        for k in 0..self.segments() {
            let (a, b) = (self.points[k], self.points[k + 1]);
            let d = subtract(b, a);
            let t = (dot(subtract(p, a), d) / dot(d, d)).clamp(0.0, 1.0);
            let gap = distance(p, between(a, b, t));
            if gap < best.0 {
                best = (gap, self.parameters[k] + t * (self.parameters[k + 1] - self.parameters[k]));
            }
        }
        best.1
    }

    /// How many segments a ray from p to the right crosses.
    pub fn crossed_by_ray(&self, p: Point) -> usize {
        (0..self.segments()).filter(|&k| ray_crosses(p, self.points[k], self.points[k + 1])).count()
    }
}

/// Whether the ray from p to the right crosses the segment; a segment owns its lower end, so that a chain of segments is
/// counted right.
pub fn ray_crosses(p: Point, a: Point, b: Point) -> bool {
    if (a[1] > p[1]) == (b[1] > p[1]) {
        return false;
    }
    let left = cross(subtract(b, a), subtract(p, a)) > 0.0;
    left == (b[1] > a[1])
}

/// The parameters and the place at which two curves meet to within `closeness`, near segments k and l of their polylines.
///
/// Newton's method with damping for the least `|a(s) - b(t)|^2 / 2`, whose Hessian is
/// `[[a'.a' + r.a'', -a'.b'], [-a'.b', b'.b' - r.b'']]`, r = a - b. It finds crossings and points of touch alike.
pub fn nearest(
    curves: [&Curve; 2],
    lines: [&Polyline; 2],
    [k, l]: [usize; 2],
    closeness: f64,
) -> Option<([f64; 2], Point)> {
    let segment = |c: usize, k: usize| [lines[c].points[k], lines[c].points[k + 1]];
    let (a, b) = (segment(0, k), segment(1, l));
    if segments_apart(a, b) > lines[0].slack(k) + lines[1].slack(l) + closeness {
        return None;
    }
    let range = |c: usize, k: usize| {
        let p = &lines[c].parameters;
        let width = p[k + 1] - p[k];
        [(p[k] - 0.5 * width).max(0.0), (p[k + 1] + 0.5 * width).min(1.0)]
    };
    let ranges = [range(0, k), range(1, l)];
    let mut at = start(a, b, [k, l], lines);
    let gap = |at: [f64; 2]| subtract(curves[0].point(at[0]), curves[1].point(at[1]));
    let mut damping = 0.0;
    for _ in 0..80 {
        let r = gap(at);
        let d = [curves[0].derivative(at[0]), curves[1].derivative(at[1])];
        let dd = [curves[0].second_derivative(at[0]), curves[1].second_derivative(at[1])];
        let gradient = [dot(r, d[0]), -dot(r, d[1])];
        let scale = dot(d[0], d[0]) + dot(d[1], d[1]);
        let h = [
            dot(d[0], d[0]) + dot(r, dd[0]) + damping * scale,
            -dot(d[0], d[1]),
            dot(d[1], d[1]) - dot(r, dd[1]) + damping * scale,
        ];
        let det = h[0] * h[2] - h[1] * h[1];
        let step = [(h[1] * gradient[1] - h[2] * gradient[0]) / det, (h[1] * gradient[0] - h[0] * gradient[1]) / det];
        let next = [0, 1].map(|c: usize| (at[c] + step[c]).clamp(ranges[c][0], ranges[c][1]));
        let moved = (next[0] - at[0]).abs().max((next[1] - at[1]).abs());
        let better = dot(gap(next), gap(next)) <= dot(r, r);
        if better && next.iter().all(|v| v.is_finite()) {
            at = next;
            damping *= 0.25;
            if moved < 1e-15 {
                break;
            }
        } else {
            damping = (4.0 * damping).max(1e-10);
            if damping > 1e3 {
                break;
            }
        }
    }
    let p = curves[0].point(at[0]);
    (distance(p, curves[1].point(at[1])) <= closeness).then_some((at, p))
}

/// Parameters near the closest points of two segments.
fn start(a: [Point; 2], b: [Point; 2], [k, l]: [usize; 2], lines: [&Polyline; 2]) -> [f64; 2] {
    let (u, v, w) = (subtract(a[1], a[0]), subtract(b[1], b[0]), subtract(b[0], a[0]));
    let det = cross(u, v);
    let parallel = det.abs() < 1e-6 * dot(u, u).sqrt() * dot(v, v).sqrt();
    let (s, t) = if parallel { (0.5, 0.5) } else { (cross(w, v) / det, cross(w, u) / det) };
    let at = |c: usize, k: usize, t: f64| {
        let p = &lines[c].parameters;
        p[k] + t.clamp(0.0, 1.0) * (p[k + 1] - p[k])
    };
    [at(0, k, s), at(1, l, t)]
}

/// Distance of two segments.
fn segments_apart(a: [Point; 2], b: [Point; 2]) -> f64 {
    let side = |p: Point, q: [Point; 2]| cross(subtract(q[1], q[0]), subtract(p, q[0]));
    let cross = side(a[0], b) * side(a[1], b) < 0.0 && side(b[0], a) * side(b[1], a) < 0.0;
    if cross {
        return 0.0;
    }
    let ends = [
        segment_distance(a[0], b[0], b[1]),
        segment_distance(a[1], b[0], b[1]),
        segment_distance(b[0], a[0], a[1]),
        segment_distance(b[1], a[0], a[1]),
    ];
    ends.into_iter().fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meetings(a: &Curve, b: &Curve) -> Vec<Point> {
        let lines = [Polyline::new(a), Polyline::new(b)];
        let mut found: Vec<Point> = Vec::new();
        for k in 0..lines[0].segments() {
            for l in 0..lines[1].segments() {
                let meeting = nearest([a, b], [&lines[0], &lines[1]], [k, l], 1e-9);
                let is_new = |p: &Point| !found.iter().any(|q| distance(*q, *p) < 1e-4);
                if let Some(p) = meeting.map(|(_, p)| p).filter(is_new) {
                    found.push(p);
                }
            }
        }
        found
    }

    #[test]
    fn a_line_crosses_touches_or_misses_a_circle() {
        let circle = Curve::arc([0.0, 0.0], 1.0, -10.0, 190.0);
        let line = |y: f64| Curve::line([-2.0, y], [2.0, y]);
        assert_eq!(meetings(&circle, &line(0.5)).len(), 2);
        assert_eq!(meetings(&circle, &line(1.0)).len(), 1);
        assert_eq!(meetings(&circle, &line(1.001)).len(), 0);
        let p = meetings(&circle, &line(0.5))[0];
        assert!((p[0].abs() - 0.75f64.sqrt()).abs() < 1e-12 && (p[1] - 0.5).abs() < 1e-15);
    }

    #[test]
    fn rays_count_right_through_corners() {
        let square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        let inside = |p: Point| (0..4).filter(|&k| ray_crosses(p, square[k], square[(k + 1) % 4])).count() % 2 == 1;
        assert!(inside([0.5, 0.5]) && inside([0.1, 0.0001]));
        assert!(!inside([-0.5, 0.0]) && !inside([-0.5, 1.0]) && !inside([1.5, 0.5]) && !inside([0.5, 2.0]));
    }
}
