//! Data on a grid as a field: the tensor product of cubic splines through `values[i, j]` at `(x[i], y[j])`.
//!
//! A cubic spline has two continuous derivatives. At its ends it is "not a knot": the first two pieces are one cubic, and so are the
//! last two, so that cubics are reproduced. It is found by its slopes s at the knots: with `h_i = x_(i+1) - x_i` and the slopes
//! `m_i` of the data between them,
//! `h_i s_(i-1) + 2 (h_(i-1) + h_i) s_i + h_(i-1) s_(i+1) = 3 (h_i m_(i-1) + h_(i-1) m_i)`.
//! Splines along x of the data and along y of those slopes give f, f_x, f_y and f_xy at the knots, and each cell a bicubic polynomial.
//!
//! # References
//!
//! C. de Boor, *A practical guide to splines*, chapters IV and XVII.

use std::path::Path;

use crate::base::error::{Error, Result};
use crate::base::npz::{self, Array};
use crate::problem::field::{Failure, Field, Jets, Samples, same_lengths};
use crate::problem::jets::{X, Y, pair};

/// Knots that an axis has at least: those of one cubic.
const FEWEST: usize = 4;

/// How far a point may lie outside of the grid, relative to its size: what rounding makes of a point on its side.
const ROUNDING: f64 = 1e-12;

/// Data on a grid, as a function that is smooth between its points and has two continuous derivatives.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    x: Vec<f64>,
    y: Vec<f64>,
    /// f, f_x, f_y and f_xy at the knots, with y running fastest.
    knots: Vec<[f64; 4]>,
}

impl Grid {
    /// The spline through `values[i * y.len() + j]` at `(x[i], y[j])`. Both x and y increase, and have at least four numbers.
    pub fn new(x: Vec<f64>, y: Vec<f64>, values: Vec<f64>) -> Result<Self> {
        for (key, knots) in [("x", &x), ("y", &y)] {
            if knots.len() < FEWEST {
                let problem = format!("a cubic spline needs at least {FEWEST} points in each direction");
                return Err(Error::input(key, format!("an array of {}", knots.len()), problem, "give a finer grid"));
            }
            let increases = |k: &usize| knots[*k] < knots[k + 1] && knots[*k].is_finite() && knots[k + 1].is_finite();
            if let Some(k) = (0..knots.len() - 1).find(|k| !increases(k)) {
                let problem = "the numbers must be finite and increase";
                let found = format!("{}, {} ({key}[{k}], {key}[{}])", knots[k], knots[k + 1], k + 1);
                return Err(Error::input(key, found, problem, "sort the grid, and the values with it"));
            }
        }
        let (nx, ny) = (x.len(), y.len());
        if values.len() != nx * ny {
            let problem = format!("there must be {nx} x {ny}, one for each x[i] and y[j]");
            return Err(Error::input("values", format!("{} numbers", values.len()), problem, ""));
        }
        if let Some(k) = values.iter().position(|value| !value.is_finite()) {
            let (i, j) = (k / ny, k % ny);
            let found = format!("{} at x = {}, y = {}", values[k], x[i], y[j]);
            let hint = "fill the gaps before: a spline through a gap would be a guess";
            return Err(Error::input(format!("values[{i}, {j}]"), found, "the values must be finite", hint));
        }
        let (along_x, along_y) = (Spline::new(&x), Spline::new(&y));
        let fx = along_x.slopes(&values, ny);
        let [fy, fxy] = [&values, &fx].map(|f| transposed(&along_y.slopes(&transposed(f, ny), nx), nx));
        let knots = (0..values.len()).map(|k| [values[k], fx[k], fy[k], fxy[k]]).collect();
        Ok(Grid { x, y, knots })
    }

    /// Reads a grid from the arrays `x`, `y` and `values` in an `.npz` file; `values[i, j]` is the value at `(x[i], y[j])`.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let mut arrays = npz::read(path)?;
        let refuse = |problem: String, hint: &str| Error::File { path: path.into(), problem, hint: hint.into() };
        let hint =
            "a grid has x of shape (n,), y of shape (m,), and values of shape (n, m): values[i, j] at x[i], y[j]";
        let mut take = |name: &str| -> Result<Array> {
            arrays.remove(name).ok_or_else(|| refuse(format!("there is no array `{name}`"), hint))
        };
        let (x, y, values) = (take("x")?, take("y")?, take("values")?);
        let shapes = [&x.shape[..], &y.shape, &values.shape];
        if shapes != [&[x.data.len()][..], &[y.data.len()], &[x.data.len(), y.data.len()]] {
            let problem =
                format!("`x`, `y` and `values` have the shapes {:?}, {:?} and {:?}", x.shape, y.shape, values.shape);
            let turned = values.shape == [y.data.len(), x.data.len()];
            let transposed =
                "values[i, j] belongs to x[i] and y[j]: save values.T, or use indexing=\"ij\" in np.meshgrid";
            return Err(refuse(problem, if turned { transposed } else { hint }));
        }
        Grid::new(x.data, y.data, values.data)
            .map_err(|error| refuse(error.to_string(), error.hint().unwrap_or_default()))
    }

    /// The smallest and the largest x and y of the grid.
    pub fn extent(&self) -> [f64; 4] {
        [self.x[0], self.x[self.x.len() - 1], self.y[0], self.y[self.y.len() - 1]]
    }

    /// Passes the derivatives of order `x_orders[k]` in x and `y_orders[k]` in y at every point to `take`.
    fn evaluate<const N: usize>(
        &self,
        at: &Samples<'_>,
        orders: [[usize; 2]; N],
        mut take: impl FnMut(usize, [f64; N]),
    ) -> std::result::Result<(), Failure> {
        let ny = self.y.len();
        for (p, (&x, &y)) in at.x.iter().zip(at.y).enumerate() {
            let (Some((i, wx)), Some((j, wy))) = (basis_at(&self.x, x), basis_at(&self.y, y)) else {
                return Err(self.outside(x, y).into());
            };
            let corners = [i * ny + j, i * ny + j + 1, (i + 1) * ny + j, (i + 1) * ny + j + 1].map(|k| self.knots[k]);
            take(
                p,
                orders.map(|[m, n]| {
                    let [left, right] = [0, 1].map(|a| {
                        // The values and the x slopes on the side x[i + a] of the cell, as cubics in y.
                        [0, 1].map(|slope| {
                            let [below, above] = [corners[2 * a], corners[2 * a + 1]];
                            wy[n][0] * below[slope]
                                + wy[n][1] * above[slope]
                                + wy[n][2] * below[2 + slope]
                                + wy[n][3] * above[2 + slope]
                        })
                    });
                    wx[m][0] * left[0] + wx[m][1] * right[0] + wx[m][2] * left[1] + wx[m][3] * right[1]
                }),
            );
        }
        Ok(())
    }

    /// What every value on the grid counts in `sum_p value[p] f(x_p, y_p) + dx[p] f_x(x_p, y_p) + dy[p] f_y(x_p, y_p)`: the transpose of
    /// the spline.
    pub fn transposed(&self, at: [&[f64]; 2], [value, dx, dy]: [&[f64]; 3]) -> Result<Vec<f64>> {
        same_lengths(&[at[0], at[1], value, dx, dy])?;
        let (nx, ny) = (self.x.len(), self.y.len());
        // Of f, f_x, f_y and f_xy at the knots.
        let mut knots = [(); 4].map(|()| vec![0.0; nx * ny]);
        for (p, (&x, &y)) in at[0].iter().zip(at[1]).enumerate() {
            let (Some((i, wx)), Some((j, wy))) = (basis_at(&self.x, x), basis_at(&self.y, y)) else {
                let hint = "give a grid that covers the domain";
                return Err(Error::input("points", format!("({x}, {y})"), self.outside(x, y), hint));
            };
            for ([m, n], c) in [([0, 0], value[p]), ([1, 0], dx[p]), ([0, 1], dy[p])] {
                for (a, slope) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    let along = c * wx[m][a + 2 * slope];
                    let below = (i + a) * ny + j;
                    knots[slope][below] += along * wy[n][0];
                    knots[slope][below + 1] += along * wy[n][1];
                    knots[2 + slope][below] += along * wy[n][2];
                    knots[2 + slope][below + 1] += along * wy[n][3];
                }
            }
        }
        let [mut f, mut fx, fy, fxy] = knots;
        let (along_x, along_y) = (Spline::new(&self.x), Spline::new(&self.y));
        let add = |sum: &mut [f64], part: &[f64]| sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        let across = |w: &[f64]| transposed(&along_y.slopes_transposed(&transposed(w, ny), nx), nx);
        add(&mut fx, &across(&fxy));
        add(&mut f, &across(&fy));
        add(&mut f, &along_x.slopes_transposed(&fx, ny));
        Ok(f)
    }

    fn outside(&self, x: f64, y: f64) -> String {
        let [x0, x1, y0, y1] = self.extent();
        format!("x = {x}, y = {y} lies outside of the grid, which has x from {x0} to {x1} and y from {y0} to {y1}")
    }
}

impl Field for Grid {
    fn values(&self, at: &Samples<'_>, out: &mut [f64]) -> std::result::Result<(), Failure> {
        same_lengths(&[at.x, at.y, out])?;
        self.evaluate(at, [[0, 0]], |p, [f]| out[p] = f)
    }

    fn gradients(&self, at: &Samples<'_>, dx: &mut [f64], dy: &mut [f64]) -> std::result::Result<bool, Failure> {
        same_lengths(&[at.x, at.y, dx, dy])?;
        self.evaluate(at, [[1, 0], [0, 1]], |p, slopes| [dx[p], dy[p]] = slopes)?;
        Ok(true)
    }

    fn work(&self) -> usize {
        4
    }

    fn describe(&self) -> String {
        format!("data on a grid of {} x {} points", self.x.len(), self.y.len())
    }

    fn jets(&self, at: &Samples<'_>, out: &mut Jets) -> std::result::Result<bool, Failure> {
        same_lengths(&[at.x, at.y])?;
        out.reset(at.len());
        self.evaluate(at, [[0, 0], [1, 0], [0, 1], [2, 0], [1, 1], [0, 2]], |p, [f, fx, fy, fxx, fxy, fyy]| {
            out.value[p] = f;
            [out.first[X][p], out.first[Y][p]] = [fx, fy];
            [out.second[pair(X, X)][p], out.second[pair(X, Y)][p], out.second[pair(Y, Y)][p]] = [fxx, fxy, fyy];
        })?;
        Ok(true)
    }
}

/// The interval of a point, and what the values and the slopes at its ends count there: value left, value right, slope left, slope
/// right, for the derivatives of order 0, 1 and 2. `None` outside of the knots.
fn basis_at(knots: &[f64], t: f64) -> Option<(usize, [[f64; 4]; 3])> {
    let (first, last) = (knots[0], knots[knots.len() - 1]);
    let margin = ROUNDING * (last - first).max(first.abs()).max(last.abs());
    if !(first - margin..=last + margin).contains(&t) {
        return None;
    }
    let i = knots.partition_point(|&knot| knot <= t).clamp(1, knots.len() - 1) - 1;
    let h = knots[i + 1] - knots[i];
    let s = (t - knots[i]) / h;
    let r = 1.0 - s;
    let values = [r * r * (1.0 + 2.0 * s), s * s * (1.0 + 2.0 * r), h * s * r * r, -h * r * s * s];
    let slopes = [-6.0 * r * s / h, 6.0 * r * s / h, r * (r - 2.0 * s), s * (s - 2.0 * r)];
    let curvatures =
        [6.0 * (s - r) / (h * h), 6.0 * (r - s) / (h * h), 2.0 * (s - 2.0 * r) / h, 2.0 * (2.0 * s - r) / h];
    Some((i, [values, slopes, curvatures]))
}

/// The rows of a matrix with so many columns as its columns.
fn transposed(matrix: &[f64], columns: usize) -> Vec<f64> {
    let rows = matrix.len() / columns;
    (0..matrix.len()).map(|k| matrix[k % rows * columns + k / rows]).collect()
}

/// The tridiagonal system for the slopes at knots, eliminated from above.
struct Spline {
    /// Lengths of the intervals.
    h: Vec<f64>,
    /// What is subtracted of the row above.
    factor: Vec<f64>,
    /// The diagonal after that.
    diagonal: Vec<f64>,
    /// Above the diagonal.
    upper: Vec<f64>,
}

impl Spline {
    /// For at least four knots that increase; then the diagonal is positive.
    fn new(knots: &[f64]) -> Self {
        let n = knots.len();
        let h: Vec<f64> = knots.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let (mut factor, mut diagonal, mut upper) = (vec![0.0; n], vec![h[1]], vec![h[0] + h[1]]);
        for i in 1..n {
            let last = i + 1 == n;
            let (lower, here) = if last { (h[n - 2] + h[n - 3], h[n - 3]) } else { (h[i], 2.0 * (h[i - 1] + h[i])) };
            factor[i] = lower / diagonal[i - 1];
            diagonal.push(here - factor[i] * upper[i - 1]);
            upper.push(if last { 0.0 } else { h[i - 1] });
        }
        Spline { h, factor, diagonal, upper }
    }

    /// The slopes of the splines through the columns of a matrix with so many columns.
    fn slopes(&self, values: &[f64], columns: usize) -> Vec<f64> {
        let (n, h) = (self.diagonal.len(), &self.h);
        let mut slopes = vec![0.0; values.len()];
        for c in 0..columns {
            let m = |i: usize| (values[(i + 1) * columns + c] - values[i * columns + c]) / h[i];
            // Not a knot: the third derivatives on both sides of the second knot are equal, with the row of that knot.
            let end = |h0: f64, h1: f64, m0: f64, m1: f64| ((3.0 * h0 + 2.0 * h1) * h1 * m0 + h0 * h0 * m1) / (h0 + h1);
            slopes[c] = end(h[0], h[1], m(0), m(1));
            for i in 1..n {
                let right = if i + 1 == n {
                    end(h[n - 2], h[n - 3], m(n - 2), m(n - 3))
                } else {
                    3.0 * (h[i] * m(i - 1) + h[i - 1] * m(i))
                };
                slopes[i * columns + c] = right - self.factor[i] * slopes[(i - 1) * columns + c];
            }
            let mut above = 0.0;
            for i in (0..n).rev() {
                above = (slopes[i * columns + c] - self.upper[i] * above) / self.diagonal[i];
                slopes[i * columns + c] = above;
            }
        }
        slopes
    }

    /// The transpose of [`Spline::slopes`].
    fn slopes_transposed(&self, cotangents: &[f64], columns: usize) -> Vec<f64> {
        let (n, h) = (self.diagonal.len(), &self.h);
        let mut out = vec![0.0; cotangents.len()];
        let mut z = vec![0.0; n];
        for c in 0..columns {
            for i in 0..n {
                let before = if i == 0 { 0.0 } else { self.upper[i - 1] * z[i - 1] };
                z[i] = (cotangents[i * columns + c] - before) / self.diagonal[i];
            }
            for i in (0..n - 1).rev() {
                z[i] -= self.factor[i + 1] * z[i + 1];
            }
            let mut slope = |i: usize, cotangent: f64| {
                out[(i + 1) * columns + c] += cotangent / h[i];
                out[i * columns + c] -= cotangent / h[i];
            };
            let ends = [(0, [0, 1]), (n - 1, [n - 2, n - 3])];
            for (i, [first, second]) in ends {
                let (h0, h1) = (h[first], h[second]);
                slope(first, z[i] * (3.0 * h0 + 2.0 * h1) * h1 / (h0 + h1));
                slope(second, z[i] * h0 * h0 / (h0 + h1));
            }
            for i in 1..n - 1 {
                slope(i - 1, 3.0 * z[i] * h[i]);
                slope(i, 3.0 * z[i] * h[i - 1]);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Knots from 0 to 2, not evenly spaced.
    fn knots(n: usize) -> Vec<f64> {
        let t = |i: usize| 2.0 * i as f64 / (n - 1) as f64;
        (0..n)
            .map(|i| t(i) + 0.4 / (n - 1) as f64 * (3.0 * i as f64).sin() * f64::from(u8::from(i % (n - 1) > 0)))
            .collect()
    }

    fn grid(nx: usize, ny: usize, f: impl Fn(f64, f64) -> f64) -> Grid {
        let (x, y) = (knots(nx), knots(ny));
        let values = x.iter().flat_map(|&x| y.iter().map(move |&y| (x, y))).map(|(x, y)| f(x, y)).collect();
        Grid::new(x, y, values).unwrap()
    }

    /// Points that are no knots, and the corners.
    fn points() -> (Vec<f64>, Vec<f64>) {
        let x: Vec<f64> = (0..50).map(|i| 1.0 + (1.7 * f64::from(i)).sin()).chain([0.0, 0.0, 2.0, 2.0]).collect();
        let y = (0..50).map(|i| 1.0 + (2.3 * f64::from(i)).cos()).chain([0.0, 2.0, 0.0, 2.0]).collect();
        (x, y)
    }

    #[test]
    fn the_transpose_is_that_of_the_spline() {
        let (x, y) = (vec![0.0, 0.3, 0.5, 0.9, 1.0], vec![-1.0, 0.0, 0.2, 1.0]);
        let number = |k: usize| ((k * k + 3 * k) as f64).sin();
        let values: Vec<f64> = (0..20).map(number).collect();
        let grid = Grid::new(x, y, values.clone()).unwrap();
        let (px, py) = ([0.1, 0.4, 0.95, 1.0], [-0.7, 0.1, 0.6, 1.0]);
        let cotangents = [1, 2, 3].map(|k| (0..4).map(|i| number(7 * k + i)).collect::<Vec<f64>>());
        let at = Samples::at(&px, &py);
        let (mut f, mut fx, mut fy) = ([0.0; 4], [0.0; 4], [0.0; 4]);
        grid.values(&at, &mut f).unwrap();
        grid.gradients(&at, &mut fx, &mut fy).unwrap();
        let expected: f64 =
            (0..4).map(|p| cotangents[0][p] * f[p] + cotangents[1][p] * fx[p] + cotangents[2][p] * fy[p]).sum();
        let found = grid.transposed([&px, &py], cotangents.each_ref().map(Vec::as_slice)).unwrap();
        let found: f64 = found.iter().zip(&values).map(|(a, b)| a * b).sum();
        assert!((found - expected).abs() < 1e-12 * expected.abs(), "{found} {expected}");
        let outside = grid.transposed([&[2.0], &[0.0]], [&[1.0], &[0.0], &[0.0]]).unwrap_err().to_string();
        assert!(outside.contains("outside of the grid"), "{outside}");
    }

    #[test]
    fn cubics_are_reproduced_with_all_derivatives() {
        let f = |x: f64, y: f64| (1.0 - 2.0 * x + x * x * x) * (0.5 + y - 3.0 * y * y + 2.0 * y * y * y);
        let (p, q) = (
            |x: f64| [1.0 - 2.0 * x + x * x * x, -2.0 + 3.0 * x * x, 6.0 * x],
            |y: f64| [0.5 + y - 3.0 * y * y + 2.0 * y * y * y, 1.0 - 6.0 * y + 6.0 * y * y, -6.0 + 12.0 * y],
        );
        let (x, y) = points();
        for (nx, ny) in [(4, 4), (4, 7), (12, 5)] {
            let grid = grid(nx, ny, f);
            let mut jets = Jets::default();
            assert!(grid.jets(&Samples::at(&x, &y), &mut jets).unwrap());
            for i in 0..x.len() {
                let (p, q) = (p(x[i]), q(y[i]));
                let expected = [p[0] * q[0], p[1] * q[0], p[0] * q[1], p[2] * q[0], p[1] * q[1], p[0] * q[2]];
                let found = [
                    jets.value[i],
                    jets.first[X][i],
                    jets.first[Y][i],
                    jets.second(X, X)[i],
                    jets.second(X, Y)[i],
                    jets.second(Y, Y)[i],
                ];
                for (k, (found, expected)) in found.into_iter().zip(expected).enumerate() {
                    assert!((found - expected).abs() < 1e-11, "{k} at {}, {}: {found}, not {expected}", x[i], y[i]);
                }
            }
        }
    }

    #[test]
    fn errors_fall_with_the_fourth_power() {
        let f = |x: f64, y: f64| (2.0 * x + y).sin() * (x * y).exp();
        let (x, y) = points();
        let error = |n: usize| {
            let mut out = vec![0.0; x.len()];
            grid(n, n, f).values(&Samples::at(&x, &y), &mut out).unwrap();
            out.iter().zip(x.iter().zip(&y)).map(|(u, (&x, &y))| (u - f(x, y)).abs()).fold(0.0, f64::max)
        };
        let (coarse, fine) = (error(21), error(41));
        assert!(fine < coarse / 8.0 && fine < 1e-3, "{coarse:e}, {fine:e}");
    }

    #[test]
    fn the_spline_has_two_continuous_derivatives() {
        let grid = grid(6, 7, |x, y| (3.0 * x).sin() + (x - y).abs());
        let mut jets = Jets::default();
        for &knot in &grid.x[1..5] {
            let x = [knot - 1e-9, knot + 1e-9];
            assert!(grid.jets(&Samples::at(&x, &[0.77; 2]), &mut jets).unwrap());
            for row in [&jets.value, &jets.first[X], &jets.first[Y], &jets.second[pair(X, X)], &jets.second[pair(X, Y)]]
            {
                assert!((row[0] - row[1]).abs() < 1e-6, "{row:?} at {knot}");
            }
        }
    }

    #[test]
    fn fast_paths_agree_with_the_jets() {
        let grid = grid(9, 8, |x, y| (x * y).cos());
        let (x, y) = points();
        let (at, mut jets) = (Samples::at(&x, &y), Jets::default());
        let [mut u, mut dx, mut dy] = [(); 3].map(|()| vec![0.0; x.len()]);
        grid.values(&at, &mut u).unwrap();
        assert!(grid.gradients(&at, &mut dx, &mut dy).unwrap() && grid.jets(&at, &mut jets).unwrap());
        assert_eq!((&u, &dx, &dy), (&jets.value, &jets.first[X], &jets.first[Y]));
    }

    #[test]
    fn points_outside_are_errors_that_name_them() {
        let grid = grid(5, 5, |x, _| x);
        let value = |x: f64, y: f64| {
            let mut out = [f64::NAN];
            grid.values(&Samples::at(&[x], &[y]), &mut out).map(|()| out[0]).map_err(|failure| failure.to_string())
        };
        assert!((value(2.0 + 1e-13, -1e-13).unwrap() - 2.0).abs() < 1e-12);
        let outside = "x = 2.5, y = 1 lies outside of the grid, which has x from 0 to 2 and y from 0 to 2";
        assert_eq!(value(2.5, 1.0), Err(outside.into()));
        assert!(value(1.0, -1e-9).is_err() && value(f64::NAN, 1.0).is_err());
    }

    #[test]
    fn data_that_make_no_spline_are_refused() {
        let four = vec![0.0, 1.0, 2.0, 3.0];
        let refused = |x: &[f64], values: Vec<f64>, part: &str| {
            let error = Grid::new(x.to_vec(), four.clone(), values).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        };
        refused(&[0.0, 1.0, 2.0], vec![0.0; 12], "at least 4 points");
        refused(&[0.0, 2.0, 1.0, 3.0], vec![0.0; 16], "increase");
        refused(&[0.0, 1.0, f64::NAN, 3.0], vec![0.0; 16], "finite");
        refused(&four, vec![0.0; 15], "4 x 4");
        let mut hole = vec![0.0; 16];
        hole[6] = f64::NAN;
        refused(&four, hole, "values[1, 2] = NaN at x = 1, y = 2");
    }

    #[test]
    fn grids_are_read_from_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k.npz");
        let (x, y) = (knots(5), knots(4));
        let write = |shape: [usize; 2]| {
            let values = Array { shape: shape.to_vec(), data: (0..20).map(f64::from).collect() };
            npz::write(&path, &[("x", Array::vector(x.clone())), ("y", Array::vector(y.clone())), ("values", values)])
                .unwrap();
        };
        write([5, 4]);
        let mut out = [0.0];
        Grid::load(&path).unwrap().values(&Samples::at(&[x[2]], &[y[3]]), &mut out).unwrap();
        assert!((out[0] - 11.0).abs() < 1e-13);
        write([4, 5]);
        let error = Grid::load(&path).unwrap_err();
        assert!(error.to_string().contains("the shapes [5], [4] and [4, 5]"), "{error}");
        assert!(error.hint().unwrap().contains("save values.T"));
    }
}
