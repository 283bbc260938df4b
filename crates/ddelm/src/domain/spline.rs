//! Cubic splines through points of the plane: C2, parametrised by chord length.
//!
//! On `[t_k, t_(k+1)]`, with `h = t_(k+1) - t_k` and the second derivatives `m` at the knots,
//!
//! ```text
//! p(t) = (1-u) p_k + u p_(k+1) - h^2/6 [ (1-u)(1-(1-u)^2) m_k + u (1-u^2) m_(k+1) ],    u = (t - t_k) / h.
//! ```
//!
//! Equal first derivatives at the inner knots give a tridiagonal system for m. At the ends either `m = 0` (natural), or
//! the third derivative does not jump at the first and at the last inner knot (not-a-knot), which keeps the order of a
//! cubic up to the ends.

use crate::domain::plane::Point;

/// What a spline does at its two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SplineEnds {
    /// No jump of the third derivative at the first and the last inner knot.
    #[default]
    NotAKnot,
    /// Second derivative zero.
    Natural,
}

/// A cubic spline.
#[derive(Debug, Clone, PartialEq)]
pub struct Spline {
    knots: Vec<f64>,
    points: Vec<Point>,
    /// Second derivatives at the knots.
    moments: Vec<Point>,
}

impl Spline {
    /// The spline through two or more points, of which no two neighbours are equal. With two points it is a line, with
    /// three and [`SplineEnds::NotAKnot`] a parabola.
    pub fn through(points: &[Point], ends: SplineEnds) -> Self {
        let n = points.len();
        let mut knots = vec![0.0; n];
        for k in 1..n {
            knots[k] = knots[k - 1] + (points[k][0] - points[k - 1][0]).hypot(points[k][1] - points[k - 1][1]);
        }
        let moments = if n < 3 { vec![[0.0; 2]; n] } else { moments(&knots, points, ends) };
        Spline { knots, points: points.to_vec(), moments }
    }

    /// The parameters of the points.
    pub fn knots(&self) -> &[f64] {
        &self.knots
    }

    /// The points.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Point, first and second derivative. Beyond the ends the outer cubics go on.
    pub fn at(&self, t: f64) -> [Point; 3] {
        let last = self.knots.len() - 2;
        let k = self.knots[1..=last].partition_point(|&knot| knot <= t);
        let h = self.knots[k + 1] - self.knots[k];
        let u = (t - self.knots[k]) / h;
        let v = 1.0 - u;
        let [p, q] = [self.points[k], self.points[k + 1]];
        let [m, n] = [self.moments[k], self.moments[k + 1]];
        let six = h * h / 6.0;
        [
            [0, 1].map(|a| v * p[a] + u * q[a] - six * (v * (1.0 - v * v) * m[a] + u * (1.0 - u * u) * n[a])),
            [0, 1].map(|a| (q[a] - p[a]) / h + six / h * ((1.0 - 3.0 * v * v) * m[a] - (1.0 - 3.0 * u * u) * n[a])),
            [0, 1].map(|a| v * m[a] + u * n[a]),
        ]
    }
}

/// The second derivatives at the knots.
fn moments(t: &[f64], p: &[Point], ends: SplineEnds) -> Vec<Point> {
    let n = t.len();
    let h: Vec<f64> = t.windows(2).map(|w| w[1] - w[0]).collect();
    if n == 3 && ends == SplineEnds::NotAKnot {
        let m = [0, 1].map(|a| 2.0 * ((p[2][a] - p[1][a]) / h[1] - (p[1][a] - p[0][a]) / h[0]) / (h[0] + h[1]));
        return vec![m; 3];
    }
    // Rows k = 1..n-1: h_(k-1) m_(k-1) + 2 (h_(k-1) + h_k) m_k + h_k m_(k+1) = 6 (slope_k - slope_(k-1)).
    // m_0 and m_(n-1) are eliminated: natural, zero; not-a-knot, extrapolated linearly from the two knots next to it.
    let mut lower: Vec<f64> = (1..n - 1).map(|k| h[k - 1]).collect();
    let mut diagonal: Vec<f64> = (1..n - 1).map(|k| 2.0 * (h[k - 1] + h[k])).collect();
    let mut upper: Vec<f64> = (1..n - 1).map(|k| h[k]).collect();
    let mut m: Vec<Point> = (1..n - 1)
        .map(|k| [0, 1].map(|a| 6.0 * ((p[k + 1][a] - p[k][a]) / h[k] - (p[k][a] - p[k - 1][a]) / h[k - 1])))
        .collect();
    let last = n - 3;
    let (first_ratio, last_ratio) = (h[0] / h[1], h[n - 2] / h[n - 3]);
    if ends == SplineEnds::NotAKnot {
        diagonal[0] += h[0] * (1.0 + first_ratio);
        upper[0] -= h[0] * first_ratio;
        diagonal[last] += h[n - 2] * (1.0 + last_ratio);
        lower[last] -= h[n - 2] * last_ratio;
    }
    for k in 1..=last {
        let factor = lower[k] / diagonal[k - 1];
        diagonal[k] -= factor * upper[k - 1];
        m[k] = [0, 1].map(|a| m[k][a] - factor * m[k - 1][a]);
    }
    for k in (0..=last).rev() {
        let next = if k < last { m[k + 1] } else { [0.0; 2] };
        m[k] = [0, 1].map(|a| (m[k][a] - upper[k] * next[a]) / diagonal[k]);
    }
    let (before, after) = match ends {
        SplineEnds::Natural => ([0.0; 2], [0.0; 2]),
        SplineEnds::NotAKnot => (
            [0, 1].map(|a| m[0][a] + first_ratio * (m[0][a] - m[1][a])),
            [0, 1].map(|a| m[last][a] + last_ratio * (m[last][a] - m[last - 1][a])),
        ),
    };
    m.insert(0, before);
    m.push(after);
    m
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_cubic_over_its_chord_length_is_reproduced() {
        // x = t on the unit grid and y small: chord lengths differ from t, so test the scalar identity on a line in x.
        let points: Vec<Point> = [0.0f64, 1.0, 1.7, 3.0, 4.1].iter().map(|&t| [t, 0.0]).collect();
        let spline = Spline::through(&points, SplineEnds::NotAKnot);
        for t in [0.0, 0.3, 1.0, 2.2, 4.1] {
            let [p, d, s] = spline.at(t);
            assert!((p[0] - t).abs() < 1e-14 && (d[0] - 1.0).abs() < 1e-13 && s[0].abs() < 1e-12);
        }
    }

    #[test]
    fn not_a_knot_is_of_fourth_order_on_a_circle() {
        let error = |n: usize| {
            let points: Vec<Point> = (0..=n).map(|k| (k as f64 / n as f64).sin_cos().into()).collect();
            let spline = Spline::through(&points, SplineEnds::NotAKnot);
            let end = spline.knots[n];
            (0..100)
                .map(|k| spline.at(end * f64::from(k) / 99.0)[0])
                .map(|p| (p[0].hypot(p[1]) - 1.0).abs())
                .fold(0.0, f64::max)
        };
        assert!(error(8) < 1e-4);
        assert!(error(8) / error(16) > 12.0, "{} {}", error(8), error(16));
    }

    proptest! {
        #[test]
        fn splines_pass_through_their_points_with_two_continuous_derivatives(
            steps in prop::collection::vec((0.2..1.0f64, -1.0..1.0f64), 2..8), natural in any::<bool>(),
        ) {
            let mut points = vec![[0.0, 0.0]];
            for (dx, dy) in steps {
                let last = points[points.len() - 1];
                points.push([last[0] + dx, last[1] + dy]);
            }
            let ends = if natural { SplineEnds::Natural } else { SplineEnds::NotAKnot };
            let spline = Spline::through(&points, ends);
            let scale: f64 = spline.moments.iter().map(|m| m[0].abs() + m[1].abs()).fold(1.0, f64::max);
            for (k, &t) in spline.knots.iter().enumerate() {
                let before = spline.at(t - 1e-9);
                let after = spline.at(t + 1e-9);
                for a in 0..2 {
                    prop_assert!((spline.at(t)[0][a] - points[k][a]).abs() < 1e-13);
                    prop_assert!((before[1][a] - after[1][a]).abs() < 1e-7 * scale);
                    prop_assert!((before[2][a] - after[2][a]).abs() < 1e-5 * scale);
                }
            }
        }
    }
}
