//! How a curved side departs from its chord, as a polynomial: `c(s) = (1 - s) c(0) + s c(1) + s (1 - s) N(s)`.
//!
//! N is smooth up to the ends of the side, which makes the maps of curved triangles smooth up to their corners (see
//! [`shape_map`](super::shape_map)). It is kept as a Chebyshev series on `[0, 1]`, long enough for rounding level, so that
//! a mesh is plain numbers, whatever its curves were made of.
//!
//! With `z = 2 s - 1`, `dc/dz = sum b_k T_k`, so that `c - chord = sum a_m T_m` with `a_m = (b_(m-1) - b_(m+1)) / 2m`, and
//! division by `s (1 - s) = (1 - z^2) / 4` is a recurrence from the top: `n_(m-2) = 2 n_m - n_(m+2) - 16 a_m`. Starting
//! from the derivative and not from points loses no digits at the ends, where `s (1 - s)` is small.

use serde::{Deserialize, Serialize};

use crate::domain::plane::Point;

use super::curve::Curve;

/// N as a Chebyshev series: `N(s) = sum_k n_k T_k(2 s - 1)`.
/// Without coefficients the side is straight.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bulge {
    coefficients: Vec<Point>,
}

/// Numbers of points to sample a curve at.
const SAMPLES: [usize; 5] = [10, 16, 24, 34, 48];

/// Coefficients of `c'` below this part of the largest one are rounding.
const ROUNDING: f64 = 4e-16;

impl Bulge {
    /// The bulge of a curve, and the size of what a polynomial of degree 47 leaves out, relative to `c'`: about `1e-15` or
    /// less for a curve that is smooth enough to be the side of an element.
    pub fn of(curve: &Curve) -> (Self, f64) {
        if curve.is_straight() {
            return (Bulge::default(), 0.0);
        }
        let (mut slopes, mut rest) = (Vec::new(), f64::INFINITY);
        for count in SAMPLES {
            slopes = slope_series(curve, count);
            let size = largest(&slopes);
            rest = largest(&slopes[count - 3..]) / size;
            if rest < 2.0 * ROUNDING {
                break;
            }
            if count == SAMPLES[SAMPLES.len() - 1] && rest < 1e-13 {
                // The curve's own rounding, which does not fall with the degree.
                rest = ROUNDING;
            }
        }
        let size = largest(&slopes);
        while slopes.last().is_some_and(|b| largest(&[*b]) < ROUNDING * size) {
            slopes.pop();
        }
        (Bulge { coefficients: divided(&integrated(&slopes)) }, rest)
    }

    /// The polynomial with given values at the points `s = 1/p, ..., (p-1)/p`: the side of a Lagrange element of order p
    /// whose inner points lie `offsets` away from its chord.
    pub fn through(offsets: &[Point]) -> Self {
        let p = offsets.len() + 1;
        let s: Vec<f64> = (1..p).map(|k| k as f64 / p as f64).collect();
        let values = s.iter().zip(offsets).map(|(s, d)| d.map(|v| v / (s * (1.0 - s)))).collect::<Vec<Point>>();
        // Newton's divided differences, then values at Chebyshev points, then the series: short enough to be stable.
        let mut differences = values;
        for level in 1..s.len() {
            for k in (level..s.len()).rev() {
                let h = s[k] - s[k - level];
                differences[k] = [0, 1].map(|a| (differences[k][a] - differences[k - 1][a]) / h);
            }
        }
        let newton = |at: f64| {
            (0..s.len()).rev().fold([0.0; 2], |sum, k| [0, 1].map(|a| sum[a] * (at - s[k]) + differences[k][a]))
        };
        let mut bulge = Bulge { coefficients: series(p - 1, |z| newton(0.5 * (z + 1.0))) };
        // A series that is only rounding is a straight side of a curved mesh.
        let size = largest(offsets);
        while bulge.coefficients.last().is_some_and(|c| largest(&[*c]) < 1e-15 * size) {
            bulge.coefficients.pop();
        }
        bulge
    }

    /// The same side from its other end.
    pub fn reversed(&self) -> Self {
        let sign = |k: usize| if k.is_multiple_of(2) { 1.0 } else { -1.0 };
        Bulge { coefficients: self.coefficients.iter().enumerate().map(|(k, c)| c.map(|v| sign(k) * v)).collect() }
    }

    /// Whether the side is its chord.
    pub fn is_straight(&self) -> bool {
        self.coefficients.is_empty()
    }

    /// Degree of the polynomial N.
    pub fn degree(&self) -> usize {
        self.coefficients.len().saturating_sub(1)
    }

    /// How far the side can be from its chord: `max |s (1-s) N(s)| <= sum |n_k| / 4`.
    pub fn height(&self) -> f64 {
        self.coefficients.iter().map(|c| c[0].hypot(c[1])).sum::<f64>() / 4.0
    }

    /// Whether all coefficients are finite numbers.
    pub fn is_finite(&self) -> bool {
        self.coefficients.iter().flatten().all(|c| c.is_finite())
    }

    /// N and its derivatives at s, D in all; N' and N'' cost as much as N each.
    #[inline]
    pub fn at<const D: usize>(&self, s: f64) -> [Point; D] {
        let z = 2.0 * s - 1.0;
        let mut sum = [[0.0; 2]; D];
        // T_k and its derivatives, and those of k + 1.
        let (mut now, mut next) = ([0.0; D], [0.0; D]);
        (now[0], next[0]) = (1.0, z);
        if D > 1 {
            next[1] = 1.0;
        }
        for c in &self.coefficients {
            for (row, t) in sum.iter_mut().zip(now) {
                row[0] += c[0] * t;
                row[1] += c[1] * t;
            }
            let carried = |d: usize| if d > 0 { (2 * d) as f64 * next[d - 1] } else { 0.0 };
            let after = std::array::from_fn(|d| carried(d) + 2.0 * z * next[d] - now[d]);
            (now, next) = (next, after);
        }
        // d/ds is twice d/dz.
        let mut unit = 1.0;
        for row in &mut sum {
            row[0] *= unit;
            row[1] *= unit;
            unit *= 2.0;
        }
        sum
    }

    /// `s (1 - s) N(s)`: how far the side is from its chord at s.
    pub fn offset(&self, s: f64) -> Point {
        self.at::<1>(s)[0].map(|v| s * (1.0 - s) * v)
    }
}

fn largest(values: &[Point]) -> f64 {
    values.iter().fold(0.0, |m, v| m.max(v[0].abs()).max(v[1].abs()))
}

/// The Chebyshev series of dc/dz from `count` points.
fn slope_series(curve: &Curve, count: usize) -> Vec<Point> {
    series(count, |z| curve.derivative(0.5 * (z + 1.0)).map(|v| 0.5 * v))
}

/// The Chebyshev series of the polynomial that agrees with f at the `count` zeros of `T_count`.
fn series(count: usize, f: impl Fn(f64) -> Point) -> Vec<Point> {
    let angle = |j: usize| std::f64::consts::PI * (j as f64 + 0.5) / count as f64;
    let values: Vec<Point> = (0..count).map(|j| f(angle(j).cos())).collect();
    (0..count)
        .map(|k| {
            let scale = if k == 0 { 1.0 } else { 2.0 } / count as f64;
            let mut sum = [0.0; 2];
            for (j, v) in values.iter().enumerate() {
                // k (2j + 1) mod 4 count keeps the argument small, and so exact.
                let t = (std::f64::consts::PI * (k * (2 * j + 1) % (4 * count)) as f64 / (2 * count) as f64).cos();
                sum[0] += v[0] * t;
                sum[1] += v[1] * t;
            }
            sum.map(|v| scale * v)
        })
        .collect()
}

/// The coefficients `a_m`, m >= 2, of the integral; `a_0` and `a_1` belong to the chord.
fn integrated(slopes: &[Point]) -> Vec<Point> {
    let b = |k: usize| slopes.get(k).copied().unwrap_or([0.0; 2]);
    (0..=slopes.len())
        .map(|m| if m < 2 { [0.0; 2] } else { [0, 1].map(|i| (b(m - 1)[i] - b(m + 1)[i]) / (2.0 * m as f64)) })
        .collect()
}

/// N from `c - chord = (1 - z^2)/4 N`.
fn divided(a: &[Point]) -> Vec<Point> {
    let mut n = vec![[0.0; 2]; a.len() + 2];
    for m in (2..a.len()).rev() {
        n[m - 2] = [0, 1].map(|i| {
            if m == 2 { n[2][i] - 0.5 * n[4][i] - 8.0 * a[2][i] } else { 2.0 * n[m][i] - n[m + 2][i] - 16.0 * a[m][i] }
        });
    }
    n.truncate(a.len().saturating_sub(2));
    n
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::plane::{between, distance};
    use proptest::prelude::*;

    #[test]
    fn chord_and_bulge_make_the_curve_to_rounding() {
        let curves = [
            Curve::arc([1.0, 2.0], 0.7, -90.0, -45.0),
            Curve::elliptic_arc([0.0, 1.0], [2.0, 0.5], 30.0, 10.0, 60.0),
            Curve::formula("k", ["t", "2 - 0.1*sin(pi*t)"], [0.0, 1.0]).unwrap(),
            Curve::formula("k", ["(1+0.15*cos(7*t))*cos(t)", "(1+0.15*cos(7*t))*sin(t)"], [0.1, 0.2]).unwrap(),
        ];
        for curve in curves {
            let (bulge, rest) = Bulge::of(&curve);
            assert!(rest < 1e-15, "{rest}");
            let [a, b] = curve.ends();
            for k in 0..=100 {
                let s = f64::from(k) / 100.0;
                let (chord, offset) = (between(a, b, s), bulge.offset(s));
                let p = [chord[0] + offset[0], chord[1] + offset[1]];
                assert!(distance(p, curve.point(s)) < 2e-15, "{:e}", distance(p, curve.point(s)));
            }
        }
    }

    #[test]
    fn the_first_and_second_derivatives_are_those_of_the_curve() {
        let curve = Curve::arc([0.0, 0.0], 1.0, 0.0, 40.0);
        let (bulge, _) = Bulge::of(&curve);
        let [a, b] = curve.ends();
        for k in 0..=20 {
            let s = f64::from(k) / 20.0;
            let [n, d, dd] = bulge.at(s);
            for i in 0..2 {
                let first = b[i] - a[i] + (1.0 - 2.0 * s) * n[i] + s * (1.0 - s) * d[i];
                let second = -2.0 * n[i] + 2.0 * (1.0 - 2.0 * s) * d[i] + s * (1.0 - s) * dd[i];
                assert!((first - curve.derivative(s)[i]).abs() < 1e-14);
                assert!((second - curve.second_derivative(s)[i]).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn curves_that_are_not_smooth_say_so() {
        let kink = Curve::formula("k", ["t", "abs(t - 0.3)"], [0.0, 1.0]).unwrap();
        assert!(Bulge::of(&kink).1 > 1e-4);
    }

    proptest! {
        #[test]
        fn a_polynomial_side_goes_through_its_points(
            offsets in prop::collection::vec((-1.0..1.0f64, -1.0..1.0f64), 1..10), s in 0.0..1.0f64,
        ) {
            let offsets: Vec<Point> = offsets.into_iter().map(Into::into).collect();
            let bulge = Bulge::through(&offsets);
            let p = offsets.len() + 1;
            for (k, d) in offsets.iter().enumerate() {
                let back = bulge.offset((k + 1) as f64 / p as f64);
                prop_assert!(distance(back, *d) < 1e-11, "{:?} {:?}", back, d);
            }
            prop_assert!(distance(bulge.reversed().offset(s), bulge.offset(1.0 - s)) < 1e-10);
            prop_assert!(bulge.degree() + 2 <= p);
        }
    }
}
