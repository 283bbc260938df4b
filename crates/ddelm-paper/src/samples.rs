//! Values and slopes on one fixed grid, on which solutions and references of all kinds are compared.
//!
//! The points are `(k + 1/2) / 512`. They are nodes of the finite element grid (4096 is a multiple of 1024), where its
//! values are best, and neither collocation nodes nor points of an interface. Slopes of finite elements are central
//! differences of nodal values, which are of second order; those inside a triangle are only of first order, far
//! less accurate than what is measured. The paper's H1 errors of some 1e-5 cannot have come from them either.

use ddelm::Solution;
use ddelm::solution::Gradients;
use ddelm_fem::FiniteElementSolution;

/// Points in each direction.
const POINTS: usize = 512;

/// Cells of a finite element grid whose nodes the points are: multiples of this.
pub const CELLS_UNIT: usize = 2 * POINTS;

/// Values and slopes at the points.
pub struct Samples(Gradients);

/// Relative errors.
#[derive(Debug, Clone, Copy)]
pub struct Errors {
    /// In the L2 norm.
    pub l2: f64,
    /// In the H1 norm.
    pub h1: f64,
}

impl Samples {
    /// Those of a solution.
    pub fn of(solution: &Solution) -> Self {
        let at = |i: usize| (i as f64 + 0.5) / POINTS as f64;
        let (x, y): (Vec<f64>, Vec<f64>) = (0..POINTS * POINTS).map(|k| (at(k / POINTS), at(k % POINTS))).unzip();
        Samples(solution.gradients(&x, &y))
    }

    /// Those of a finite element solution on the unit square. The cells in each direction are a multiple of
    /// [`CELLS_UNIT`].
    pub fn of_finite_elements(solution: &FiniteElementSolution) -> Self {
        let [cells, _] = solution.cells();
        let (nodal, stride) = (solution.nodal(), cells + 1);
        let place = |k: usize| (2 * k + 1) * (cells / CELLS_UNIT);
        let slope = |low: f64, high: f64| 0.5 * cells as f64 * (high - low);
        let mut g = Gradients::default();
        for k in 0..POINTS * POINTS {
            let at = place(k % POINTS) * stride + place(k / POINTS);
            g.u.push(nodal[at]);
            g.ux.push(slope(nodal[at - 1], nodal[at + 1]));
            g.uy.push(slope(nodal[at - stride], nodal[at + stride]));
        }
        Samples(g)
    }

    /// The errors against a reference.
    pub fn errors(&self, reference: &Samples) -> Errors {
        let (mine, theirs) = (&self.0, &reference.0);
        let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        let size = |a: &[f64]| a.iter().map(|a| a * a).sum::<f64>();
        let (error, norm) = (difference(&mine.u, &theirs.u), size(&theirs.u));
        let slope_error = difference(&mine.ux, &theirs.ux) + difference(&mine.uy, &theirs.uy);
        let slope_norm = size(&theirs.ux) + size(&theirs.uy);
        Errors { l2: (error / norm).sqrt(), h1: ((error + slope_error) / (norm + slope_norm)).sqrt() }
    }
}
