//! How well a solution is resolved in every subdomain and direction: the last Chebyshev coefficients of u there.
//!
//! With n points per side the method follows a smooth solution about as far as a polynomial of degree n does: one wave across a
//! subdomain has the coefficients `2 J_k(pi)`, 9e-7 for k = 12 and 1e-10 for k = 16, and these are the errors that were measured. So
//! the largest coefficient of degree n - 1 or n along the lines of one direction is the error that is left there, and what falls when the
//! subdomain is cut across these lines. In a triangle the coordinates are those of the square that is collapsed in a corner:
//! polynomials stay polynomials of the same degree.
//!
//! How fast coefficients fall, and where their upper half is large, tells how often to cut, and which part of it again: if
//!
//! ```text
//! |c_k| ~ C rho^-k,   (rho + 1 / rho) / 2 = 1 + 2 d / h,
//! ```
//!
//! then something singular lies at the distance d beyond an interval of length h (Bernstein's ellipse), and every cut doubles d / h.
//!
//! What a subdomain cannot resolve in one direction leaves noise in the other. Noise differs from line to line; so directions are
//! compared by the coefficients in both coordinates, in which it is spread over all.

use std::convert::Infallible;

use faer::Mat;
use rayon::prelude::*;

use crate::domain::map::Point;
use crate::domain::shape::{PerShape, Shape};
use crate::local::local_factor::product;
use crate::solution::evaluate::Solution;

/// The upper half of the coefficients belongs to one end of a line if it is so many times larger there than elsewhere.
const AT_AN_END: f64 = 1.5;

/// Coefficients that fall by less from one degree to the next, in the upper half of them, fall by a power of the degree.
const SINGULAR: f64 = 1.5;

/// What is left of u along the lines of one direction of a subdomain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tail {
    /// The largest of the last two coefficients.
    pub last: f64,
    /// The same of the coefficients in both coordinates.
    pub common: f64,
    /// The ratio rho by which coefficients fall from one degree to the next.
    pub decay: f64,
    /// The end that the upper half of the coefficients belongs to: `false` where the coordinate is 0.
    pub end: Option<bool>,
    /// The number of coefficients.
    count: usize,
}

impl Tail {
    /// What a constant has.
    pub(crate) const NOTHING: Tail = Tail { last: 0.0, common: 0.0, decay: 2.0, end: None, count: 2 };

    /// Whether it is that of something singular at an end: coefficients fall by a power of their degree.
    pub fn is_singular(&self) -> bool {
        self.end.is_some() && self.decay < SINGULAR
    }

    /// How often lines must be cut until the last coefficient is below a limit, if all that is left is beyond an end.
    pub fn cuts(&self, limit: f64) -> u32 {
        let beyond = 0.5 * (self.decay + 1.0 / self.decay) - 1.0;
        let left = |cuts: u32| {
            let z = 1.0 + beyond * f64::from(1u32 << cuts);
            let decay = z + (z * z - 1.0).max(0.0).sqrt();
            self.last * (self.decay / decay).powi(self.count as i32)
        };
        (1..20).find(|&cuts| left(cuts) <= limit).unwrap_or(20)
    }
}

/// The tails of a subdomain.
#[derive(Debug, Clone, PartialEq)]
pub struct Tails {
    /// Along the lines of the first and of the second coordinate.
    pub directions: [Tail; 2],
    /// The largest value of u.
    pub size: f64,
}

/// The Chebyshev points of the first kind in `(0, 1)`, and the cosine sums of their values.
pub(crate) struct Lines {
    count: usize,
    /// The coefficient of degree k of values v is `sum_i matrix[k * count + i] v_i`.
    matrix: Vec<f64>,
}

impl Lines {
    /// For so many nodes.
    pub fn new(count: usize) -> Self {
        let angle = |i: usize| std::f64::consts::PI * (i as f64 + 0.5) / count as f64;
        let scale = |k: usize| if k == 0 { 1.0 } else { 2.0 } / count as f64;
        let entry = |k: usize, i: usize| scale(k) * (k as f64 * angle(i)).cos();
        Lines { count, matrix: (0..count).flat_map(|k| (0..count).map(move |i| entry(k, i))).collect() }
    }

    /// The nodes, in ascending order.
    pub fn nodes(&self) -> Vec<f64> {
        let node = |k: usize| (std::f64::consts::FRAC_PI_2 * (k as f64 + 0.5) / self.count as f64).sin().powi(2);
        (0..self.count).map(node).collect()
    }

    /// The tail of values on a single line of nodes, which runs against its coordinate if `reversed`.
    pub fn line(&self, values: &[f64], reversed: bool) -> Tail {
        let mut line = values.to_vec();
        if reversed {
            line.reverse();
        }
        // A strip of equal lines.
        let strip: Vec<f64> = line.iter().flat_map(|&v| std::iter::repeat_n(v, self.count)).collect();
        self.tail(&strip, self.count, 1)
    }

    /// The tails of values on the square of nodes, by the first coordinate first.
    pub fn tails(&self, values: &[f64]) -> Tails {
        let directions = [(self.count, 1), (1, self.count)].map(|(step, across)| self.tail(values, step, across));
        Tails { directions, size: values.iter().fold(0.0, |a: f64, v| a.max(v.abs())) }
    }

    /// The tail of lines whose nodes are `step` apart, and which begin `across` from each other.
    fn tail(&self, values: &[f64], step: usize, across: usize) -> Tail {
        let n = self.count;
        // By line and degree, and then in both coordinates: by degree across the lines and along them.
        let along = |line: usize, row: &[f64]| -> f64 {
            row.iter().enumerate().map(|(i, w)| w * values[line * across + i * step]).sum()
        };
        let lines: Vec<Vec<f64>> =
            (0..n).map(|line| self.matrix.chunks(n).map(|row| along(line, row)).collect()).collect();
        let both: Vec<Vec<f64>> = (self.matrix.chunks(n))
            .map(|row| (0..n).map(|k| row.iter().zip(&lines).map(|(w, line)| w * line[k]).sum()).collect())
            .collect();
        let largest = |of: &[Vec<f64>], degrees: [usize; 2]| {
            let in_one = |c: &Vec<f64>| c[degrees[0]].abs().max(c[degrees[1]].abs());
            of.iter().map(in_one).fold(0.0, f64::max)
        };
        let (ends, middle) = ([n - 2, n - 1], [n / 2 - 1, n / 2]);
        let last = largest(&lines, ends);
        let decay = (largest(&lines, middle) / last).powf(1.0 / (n - 1 - n / 2) as f64);
        let upper = |c: &&Vec<f64>| c[n / 2..].iter().map(|v| v.abs()).sum::<f64>();
        let worst = both.iter().max_by(|a, b| upper(a).total_cmp(&upper(b)));
        Tail {
            // A value that is not a number is lost in maxima.
            last: if values.iter().all(|v| v.is_finite()) { last } else { f64::INFINITY },
            common: largest(&both, ends),
            decay: if decay.is_finite() { decay.max(1.0 + 1e-6) } else { 2.0 },
            end: worst.and_then(|worst| self.end(worst)),
            count: n,
        }
    }

    /// The end of a line that the upper half of its coefficients belongs to, by their sum in the third of the nodes at either end.
    fn end(&self, coefficients: &[f64]) -> Option<bool> {
        let (n, half) = (self.count, self.count / 2);
        let upper =
            |i: usize| -> f64 { (half..n).map(|k| coefficients[k] * self.matrix[k * n + i]).sum::<f64>().abs() };
        let largest = |nodes: std::ops::Range<usize>| nodes.map(upper).fold(0.0, f64::max);
        let [first, last] = [largest(0..n / 3), largest(n - n / 3..n)];
        let inside = largest(n / 3..n - n / 3);
        match () {
            () if first > AT_AN_END * last.max(inside) => Some(false),
            () if last > AT_AN_END * first.max(inside) => Some(true),
            () => None,
        }
    }
}

impl Solution {
    /// For every subdomain what is left of u in either direction, with n points per side.
    pub fn tails(&self, points: usize) -> Vec<Tails> {
        let lines = Lines::new(points + 1);
        let t = lines.nodes();
        let place = |shape: Shape, s: f64, t: f64| match shape {
            Shape::Quadrilateral => [s, t],
            Shape::Triangle => [s, (1.0 - s) * t],
        };
        let grid = |shape: Shape| -> Vec<Point> {
            t.iter().flat_map(|&s| t.iter().map(move |&t| place(shape, s, t))).collect()
        };
        let shapes = self.decomposition.shapes();
        let Ok(grids) = PerShape::new(&shapes, |shape| Ok::<_, Infallible>(grid(shape)));
        let tables = self.in_basis.as_ref().map(|known| {
            let table = |shape| Ok::<_, Infallible>(known.bases.of(shape).derivatives(grids.of(shape), &[0]));
            let Ok(tables) = PerShape::new(&shapes, table);
            tables
        });
        let values = |s: usize| -> Vec<f64> {
            let shape = self.decomposition.subdomains[s].map.shape();
            match (&self.in_basis, &tables) {
                (Some(known), Some(tables)) => {
                    let y = &known.coefficients[s];
                    let y = Mat::from_fn(y.len(), 1, |i, _| y[i]);
                    product(tables.of(shape).as_ref(), y.as_ref()).col_as_slice(0).to_vec()
                }
                _ => self.reference_derivatives(s, grids.of(shape), &[0]).swap_remove(0),
            }
        };
        (0..self.decomposition.len()).into_par_iter().map(|s| lines.tails(&values(s))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tails(count: usize, f: impl Fn(f64, f64) -> f64) -> [Tail; 2] {
        let lines = Lines::new(count);
        let t = lines.nodes();
        let values: Vec<f64> = t.iter().flat_map(|&s| t.iter().map(|&t| f(s, t)).collect::<Vec<_>>()).collect();
        lines.tails(&values).directions
    }

    #[test]
    fn a_polynomial_has_no_tail_and_the_last_coefficient_is_one() {
        let [x, y] = tails(12, |x, y| x.powi(9) + (11.0 * (2.0 * y - 1.0).acos()).cos());
        assert!(x.last < 1e-14 && (y.last - 1.0).abs() < 1e-13, "{x:?} {y:?}");
    }

    #[test]
    fn what_is_singular_beyond_an_end_is_found_there() {
        // A pole at the distance 0.05: (rho + 1 / rho) / 2 = 1.1, and 1.4 after two cuts.
        for (at, end) in [(-0.05, false), (1.05, true)] {
            let [x, y] = tails(20, |x, y| 1.0 / (x - at) + y.sin());
            assert_eq!((x.end, y.end.is_some() && y.last > 1e-13), (Some(end), false));
            let rho: f64 = 1.1 + 0.21f64.sqrt();
            assert!((x.decay / rho - 1.0).abs() < 0.03 && y.last < 1e-13, "{x:?} {y:?}");
            let limit = x.last * ((1.4 + 0.96f64.sqrt()) / rho).powi(-20);
            assert_eq!(x.cuts(2.0 * limit), 2);
        }
        assert_eq!(tails(16, |x, y| (20.0 * x).sin() + y)[0].end, None);
    }
}
