//! Polynomial interpolation on Chebyshev-Lobatto grids of the reference shapes. A triangle is the square collapsed in a
//! corner, `(s, (1 - s) t)`.
//!
//! The gradient of a coefficient that is given as a function only is the gradient of its interpolant, of as high a
//! degree as the function needs.

use faer::Mat;

use crate::domain::map::Point;
use crate::domain::shape::Shape;

/// A function on a reference shape, by its values on a `(p+1) x (p+1)` grid of Chebyshev-Lobatto points.
#[derive(Debug, Clone)]
pub struct Interpolant {
    shape: Shape,
    grid: Vec<f64>,
    barycentric: Vec<f64>,
    /// values\[(i, j)\] at (grid\[i\], grid\[j\])
    values: Mat<f64>,
}

/// Degrees to try.
const DEGREES: [usize; 7] = [16, 24, 36, 54, 80, 120, 180];

impl Interpolant {
    /// Interpolates `f`, which takes reference points and returns values. The degree grows until the last Chebyshev
    /// coefficients are at rounding level, or the largest degree is reached.
    ///
    /// # Panics
    /// If `f` does not return as many values as it was given points.
    pub fn adaptive<E>(shape: Shape, mut f: impl FnMut(&[Point]) -> Result<Vec<f64>, E>) -> Result<Self, E> {
        let mut result = Self::sample(shape, DEGREES[0], &mut f)?;
        for &degree in &DEGREES[1..] {
            if result.resolved() {
                break;
            }
            result = Self::sample(shape, degree, &mut f)?;
        }
        Ok(result)
    }

    fn sample<E>(shape: Shape, degree: usize, f: &mut impl FnMut(&[Point]) -> Result<Vec<f64>, E>) -> Result<Self, E> {
        let half = std::f64::consts::FRAC_PI_2 / degree as f64;
        let grid: Vec<f64> = (0..=degree).map(|k| (half * k as f64).sin().powi(2)).collect();
        let barycentric = (0..=degree)
            .map(|k| (if k % 2 == 0 { 1.0 } else { -1.0 }) * if k == 0 || k == degree { 0.5 } else { 1.0 })
            .collect();
        let place = |s: f64, t: f64| match shape {
            Shape::Quadrilateral => [s, t],
            Shape::Triangle => [s, (1.0 - s) * t],
        };
        let points: Vec<Point> = grid.iter().flat_map(|&s| grid.iter().map(move |&t| place(s, t))).collect();
        let found = f(&points)?;
        assert_eq!(found.len(), points.len(), "one value for every point");
        let values = Mat::from_fn(degree + 1, degree + 1, |i, j| found[i * (degree + 1) + j]);
        Ok(Interpolant { shape, grid, barycentric, values })
    }

    /// Whether the highest Chebyshev coefficients in both directions are at rounding level.
    fn resolved(&self) -> bool {
        let p = self.grid.len() - 1;
        let size = self.values.norm_max();
        let tail = (p - 2..=p).flat_map(|k| {
            let cosine: Vec<f64> = (0..=p)
                .map(|i| {
                    let half = if i == 0 || i == p { 0.5 } else { 1.0 };
                    half * (std::f64::consts::PI * (k * i % (2 * p)) as f64 / p as f64).cos() * 2.0 / p as f64
                })
                .collect();
            (0..=p).flat_map(move |l| {
                let along = |value: &dyn Fn(usize) -> f64| (0..=p).map(|i| cosine[i] * value(i)).sum::<f64>().abs();
                [along(&|i| self.values[(i, l)]), along(&|i| self.values[(l, i)])]
            })
        });
        tail.fold(0.0, f64::max) <= 1e-13 * size
    }

    /// The gradient in reference coordinates at a reference point.
    pub fn gradient(&self, xi: Point) -> Point {
        match self.shape {
            Shape::Quadrilateral => self.square_gradient(xi),
            Shape::Triangle => {
                let rest = (1.0 - xi[0]).max(f64::EPSILON);
                let t = (xi[1] / rest).min(1.0);
                let [ds, dt] = self.square_gradient([xi[0], t]);
                let dy = dt / rest;
                [ds + t * dy, dy]
            }
        }
    }

    fn square_gradient(&self, xi: Point) -> Point {
        let (x, dx) = self.lagrange(xi[0]);
        let (y, dy) = self.lagrange(xi[1]);
        let contract = |a: &[f64], b: &[f64]| {
            (0..b.len()).map(|j| b[j] * (0..a.len()).map(|i| a[i] * self.values[(i, j)]).sum::<f64>()).sum::<f64>()
        };
        [contract(&dx, &y), contract(&x, &dy)]
    }

    /// The Lagrange polynomials of the grid at t, and their derivatives.
    fn lagrange(&self, t: f64) -> (Vec<f64>, Vec<f64>) {
        let n = self.grid.len();
        let (mut value, mut slope) = (vec![0.0; n], vec![0.0; n]);
        if let Some(k) = (0..n).find(|&k| (t - self.grid[k]).abs() < 1e-14) {
            value[k] = 1.0;
            for j in (0..n).filter(|&j| j != k) {
                slope[j] = self.barycentric[j] / self.barycentric[k] / (self.grid[k] - self.grid[j]);
                slope[k] -= slope[j];
            }
            return (value, slope);
        }
        // Barycentric form: l_j = (w_j / (t - t_j)) / s with s = sum_i w_i / (t - t_i).
        let terms: Vec<f64> = (0..n).map(|j| self.barycentric[j] / (t - self.grid[j])).collect();
        let s: f64 = terms.iter().sum();
        let ds: f64 = (0..n).map(|j| -terms[j] / (t - self.grid[j])).sum();
        for j in 0..n {
            value[j] = terms[j] / s;
            slope[j] = value[j] * (-1.0 / (t - self.grid[j]) - ds / s);
        }
        (value, slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_of_smooth_functions_are_good_to_ten_digits() {
        let f = |p: &Point| 1.1 + (3.0 * (5.0 * p[0] + 2.0 * p[1]).sin()).tanh();
        let cases: [(Shape, [Point; 4]); 2] = [
            (Shape::Quadrilateral, [[0.0, 0.0], [0.31, 0.77], [1.0, 0.5], [0.5, 0.2]]),
            (Shape::Triangle, [[0.0, 0.0], [0.31, 0.6], [0.95, 0.04], [0.5, 0.2]]),
        ];
        for (shape, points) in cases {
            let fit = Interpolant::adaptive(shape, |q| Ok::<_, ()>(q.iter().map(f).collect())).unwrap();
            for xi in points {
                let a = 5.0 * xi[0] + 2.0 * xi[1];
                let slope = 3.0 * a.cos() / (3.0 * a.sin()).cosh().powi(2);
                let g = fit.gradient(xi);
                assert!((g[0] - 5.0 * slope).abs() < 1e-8 && (g[1] - 2.0 * slope).abs() < 1e-8, "{xi:?} {g:?}");
            }
        }
    }
}
