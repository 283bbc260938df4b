//! The finite element function: its values, gradients and errors.

use rayon::prelude::*;

use super::coefficients::Rectangle;
use ddelm::base::error::{Error, Result};
use ddelm::problem::field::{Failure, Field, Samples, same_lengths};

/// A continuous function, linear in each triangle, that solves the discrete problem.
#[derive(Debug, Clone)]
pub struct FiniteElementSolution {
    pub(super) rectangle: Rectangle,
    /// By rows from the bottom.
    pub(super) nodal: Vec<f64>,
    /// Steps of conjugate gradients.
    pub iterations: usize,
    /// Euclidean norm of the residual relative to the load, as updated by the iteration.
    pub relative_residual: f64,
    /// Whether the tolerance was reached.
    pub converged: bool,
}

/// Errors of a finite element function, relative to the norm of the exact solution (absolute if that is zero).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Errors {
    /// In the L2 norm.
    pub l2: f64,
    /// In the H1 norm, values and gradients; `None` if the gradient of the exact solution is not known.
    pub h1: Option<f64>,
}

/// A quadrature rule of degree 4 on a triangle: barycentric coordinates and weight (six points, by rotation).
const RULE: [([f64; 3], f64); 2] = [
    ([0.445_948_490_915_965, 0.445_948_490_915_965, 0.108_103_018_168_07], 0.223_381_589_678_011),
    ([0.091_576_213_509_771, 0.091_576_213_509_771, 0.816_847_572_980_458], 0.109_951_743_655_322),
];

/// Points per task when many are evaluated.
const BLOCK: usize = 4096;

impl FiniteElementSolution {
    /// Numbers of cells in x and y.
    pub fn cells(&self) -> [usize; 2] {
        self.rectangle.cells
    }

    /// The rectangle: `[x0, x1, y0, y1]`.
    pub fn bounding_box(&self) -> [f64; 4] {
        let Rectangle { x, y, .. } = self.rectangle;
        [x[0], x[1], y[0], y[1]]
    }

    /// The values at the nodes, row by row from the bottom, (cx + 1) in each row.
    pub fn nodal(&self) -> &[f64] {
        &self.nodal
    }

    /// The x of the columns of nodes.
    pub fn node_x(&self) -> Vec<f64> {
        (0..=self.rectangle.cells[0]).map(|i| self.rectangle.x_at(i as f64)).collect()
    }

    /// The y of the rows of nodes.
    pub fn node_y(&self) -> Vec<f64> {
        (0..=self.rectangle.cells[1]).map(|j| self.rectangle.y_at(j as f64)).collect()
    }

    /// Writes the values at the points; outside the rectangle, the nearest triangle is continued.
    pub fn values(&self, x: &[f64], y: &[f64], out: &mut [f64]) {
        out.par_chunks_mut(BLOCK).zip(x.par_chunks(BLOCK).zip(y.par_chunks(BLOCK))).for_each(|(out, (x, y))| {
            for (out, (&x, &y)) in out.iter_mut().zip(x.iter().zip(y)) {
                let (triangle, s, t) = self.locate(x, y);
                *out = triangle.value(s, t);
            }
        });
    }

    /// Writes the gradients at the points, those of the triangles they lie in.
    pub fn gradients(&self, x: &[f64], y: &[f64], dx: &mut [f64], dy: &mut [f64]) {
        let [h, k] = self.rectangle.spacing();
        (dx.par_chunks_mut(BLOCK), dy.par_chunks_mut(BLOCK))
            .into_par_iter()
            .zip(x.par_chunks(BLOCK).zip(y.par_chunks(BLOCK)))
            .for_each(|((dx, dy), (x, y))| {
                for ((dx, dy), (&x, &y)) in dx.iter_mut().zip(dy).zip(x.iter().zip(y)) {
                    let (triangle, ..) = self.locate(x, y);
                    [*dx, *dy] = [triangle.slope[0] / h, triangle.slope[1] / k];
                }
            });
    }

    /// Integrates the errors against an exact solution.
    pub fn errors(&self, exact: &dyn Field) -> Result<Errors> {
        let rows: Vec<Result<Integrals>> =
            (0..self.rectangle.cells[1]).into_par_iter().map(|j| self.integrate(j, exact)).collect();
        let mut sum = Integrals { has_gradient: true, ..Integrals::default() };
        for row in rows {
            sum.add(&row?);
        }
        let relative = |error: f64, norm: f64| if norm > 0.0 { (error / norm).sqrt() } else { error.sqrt() };
        Ok(Errors {
            l2: relative(sum.error, sum.norm),
            h1: sum.has_gradient.then(|| relative(sum.error + sum.gradient_error, sum.norm + sum.gradient_norm)),
        })
    }

    /// The integrals over a row of cells.
    fn integrate(&self, j: usize, exact: &dyn Field) -> Result<Integrals> {
        let cells = self.rectangle.cells[0];
        let [h, k] = self.rectangle.spacing();
        let points = quadrature();
        let callback = Error::callback("exact");
        let places = || (0..cells).flat_map(|i| points.iter().map(move |&(s, t, w)| (i, s, t, w)));
        let x: Vec<f64> = places().map(|(i, s, ..)| self.rectangle.x_at(i as f64 + s)).collect();
        let y: Vec<f64> = places().map(|(_, _, t, _)| self.rectangle.y_at(j as f64 + t)).collect();
        let [mut u, mut dx, mut dy] = [(); 3].map(|()| vec![0.0; x.len()]);
        exact.values(&Samples::at(&x, &y), &mut u).map_err(&callback)?;
        let has_gradient = exact.gradients(&Samples::at(&x, &y), &mut dx, &mut dy).map_err(&callback)?;
        let mut sum = Integrals { has_gradient, ..Integrals::default() };
        for (at, (i, s, t, weight)) in places().enumerate() {
            let triangle = self.triangle(i, j, s >= t);
            let weight = weight * h * k;
            sum.error += weight * (triangle.value(s, t) - u[at]).powi(2);
            sum.norm += weight * u[at].powi(2);
            let [ex, ey] = [triangle.slope[0] / h - dx[at], triangle.slope[1] / k - dy[at]];
            sum.gradient_error += weight * (ex * ex + ey * ey);
            sum.gradient_norm += weight * (dx[at] * dx[at] + dy[at] * dy[at]);
        }
        match u.iter().position(|u| !u.is_finite()) {
            None => Ok(sum),
            Some(at) => {
                Err(Error::NotFinite { quantity: "exact".into(), value: u[at], x: x[at], y: y[at], subdomain: None })
            }
        }
    }

    /// The triangle of a point, and the place of the point in its cell.
    fn locate(&self, x: f64, y: f64) -> (Triangle, f64, f64) {
        let [h, k] = self.rectangle.spacing();
        let [cx, cy] = self.rectangle.cells;
        let s = (x - self.rectangle.x[0]) / h;
        let t = (y - self.rectangle.y[0]) / k;
        let (i, j) = ((s as usize).min(cx - 1), (t as usize).min(cy - 1));
        let (s, t) = (s - i as f64, t - j as f64);
        (self.triangle(i, j, s >= t), s, t)
    }

    fn triangle(&self, i: usize, j: usize, lower: bool) -> Triangle {
        let stride = self.rectangle.cells[0] + 1;
        let corner = j * stride + i;
        let [u00, u10, u01, u11] = [corner, corner + 1, corner + stride, corner + stride + 1].map(|k| self.nodal[k]);
        let slope = if lower { [u10 - u00, u11 - u10] } else { [u11 - u01, u01 - u00] };
        Triangle { origin: u00, slope }
    }
}

impl Field for FiniteElementSolution {
    fn values(&self, at: &Samples<'_>, out: &mut [f64]) -> std::result::Result<(), Failure> {
        same_lengths(&[at.x, at.y, out])?;
        FiniteElementSolution::values(self, at.x, at.y, out);
        Ok(())
    }

    fn gradients(&self, at: &Samples<'_>, dx: &mut [f64], dy: &mut [f64]) -> std::result::Result<bool, Failure> {
        same_lengths(&[at.x, at.y, dx, dy])?;
        FiniteElementSolution::gradients(self, at.x, at.y, dx, dy);
        Ok(true)
    }

    fn describe(&self) -> String {
        let [cx, cy] = self.cells();
        format!("a finite element solution on {cx} x {cy} cells")
    }
}

/// A linear function in a triangle, in coordinates (s, t) of the unit cell.
struct Triangle {
    origin: f64,
    slope: [f64; 2],
}

impl Triangle {
    fn value(&self, s: f64, t: f64) -> f64 {
        self.origin + s * self.slope[0] + t * self.slope[1]
    }
}

/// The rule on both triangles of the unit cell: (s, t, weight), with weights of sum 1.
fn quadrature() -> Vec<(f64, f64, f64)> {
    let mut points = Vec::new();
    for (barycentric, weight) in RULE {
        for turn in 0..3 {
            let b = |k: usize| barycentric[(k + turn) % 3];
            // Corners (0, 0), (1, 0), (1, 1), and the mirror image.
            let (s, t) = (b(1) + b(2), b(2));
            points.extend([(s, t, 0.5 * weight), (t, s, 0.5 * weight)]);
        }
    }
    points
}

/// Squares of norms.
#[derive(Default)]
struct Integrals {
    error: f64,
    norm: f64,
    gradient_error: f64,
    gradient_norm: f64,
    has_gradient: bool,
}

impl Integrals {
    fn add(&mut self, other: &Integrals) {
        self.error += other.error;
        self.norm += other.norm;
        self.gradient_error += other.gradient_error;
        self.gradient_norm += other.gradient_norm;
        self.has_gradient &= other.has_gradient;
    }
}
