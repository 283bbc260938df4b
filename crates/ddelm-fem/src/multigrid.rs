//! One multigrid V-cycle as a preconditioner.
//!
//! Before and after the correction from the next coarser grid, the error is smoothed by the Chebyshev polynomial of
//! the fourth kind in D^-1 A, which needs a bound of the largest eigenvalue only. The polynomial is self-adjoint in
//! the energy inner product and the coarse operators are Galerkin products, so the cycle is a symmetric positive
//! definite operator, as conjugate gradients require.
//!
//! # References
//!
//! J. Lottes, Optimal polynomial smoothers for multigrid V-cycles, Numer. Linear Algebra Appl. 30 (2023).

use super::coarsening::Halving;
use super::operator::{Operator, Step};

/// Degree of the smoothing polynomial.
const DEGREE: usize = 2;

/// Grids with at most this many unknowns are solved directly.
const DIRECT: usize = 64;

/// The operators from the finest to the coarsest grid, with the vectors of the coarser ones.
pub(super) struct Multigrid {
    levels: Vec<Level>,
    vectors: Vec<Vectors>,
    coarsest: Cholesky,
}

struct Level {
    operator: Operator,
    /// Bound of the eigenvalues of D^-1 A.
    bound: f64,
    /// How the next level comes from this one; unused on the last.
    halving: Halving,
}

/// Right-hand side, solution and scratch of a coarse level.
struct Vectors {
    b: Vec<f64>,
    u: Vec<f64>,
    scratch: Vec<f64>,
}

impl Multigrid {
    pub fn new(operator: Operator) -> Self {
        let mut levels = Vec::new();
        let mut vectors = Vec::new();
        let mut operator = operator;
        while operator.grid.unknowns() > DIRECT
            && let Some(halving) = Halving::choose(&operator)
        {
            let coarse = halving.coarsen(&operator);
            let [b, u, scratch] = [(); 3].map(|()| coarse.grid.zeros());
            vectors.push(Vectors { b, u, scratch });
            levels.push(Level { bound: operator.spectral_bound(), operator, halving });
            operator = coarse;
        }
        let coarsest = Cholesky::new(&operator);
        levels.push(Level { operator, bound: 0.0, halving: Halving { x: false, y: false } });
        Multigrid { levels, vectors, coarsest }
    }

    /// The operator on the finest grid.
    pub fn operator(&self) -> &Operator {
        &self.levels[0].operator
    }

    /// `u` = approximate solution of `A u = b`. Overwrites `scratch`.
    pub fn precondition(&mut self, b: &[f64], u: &mut Vec<f64>, scratch: &mut Vec<f64>) {
        cycle(&self.levels, &mut self.vectors, &self.coarsest, b, u, scratch);
    }
}

fn cycle(
    levels: &[Level],
    vectors: &mut [Vectors],
    coarsest: &Cholesky,
    b: &[f64],
    u: &mut Vec<f64>,
    scratch: &mut Vec<f64>,
) {
    let Some((coarse, vectors)) = vectors.split_first_mut() else {
        return coarsest.solve(b, u);
    };
    let (level, levels) = (&levels[0], &levels[1..]);
    let (grid, coarse_grid) = (&level.operator.grid, &levels[0].operator.grid);
    level.smooth_from_zero(b, u, scratch);
    level.halving.restrict_residual(&level.operator, b, u, coarse_grid, &mut coarse.b);
    cycle(levels, vectors, coarsest, &coarse.b, &mut coarse.u, &mut coarse.scratch);
    level.halving.prolong(&coarse.u, coarse_grid, grid, u);
    level.smooth(b, u, scratch);
}

impl Level {
    /// Step of the Chebyshev recurrence.
    fn chebyshev(&self, step: usize) -> Step {
        let k = step as f64;
        let momentum = if step == 0 { 0.0 } else { (2.0 * k - 1.0) / (2.0 * k + 3.0) };
        Step { momentum, previous: momentum, weight: (8.0 * k + 4.0) / (2.0 * k + 3.0) / self.bound }
    }

    /// Smooths the error of `u`; `scratch` holds the iterate before.
    fn smooth(&self, b: &[f64], u: &mut Vec<f64>, scratch: &mut Vec<f64>) {
        for step in 0..DEGREE {
            self.operator.relax(b, u, scratch, self.chebyshev(step));
            std::mem::swap(u, scratch);
        }
    }

    /// Smooths from `u = 0`, whatever `u` and `scratch` hold.
    fn smooth_from_zero(&self, b: &[f64], u: &mut Vec<f64>, scratch: &mut Vec<f64>) {
        self.operator.relax_from_zero(b, u, self.chebyshev(0).weight);
        for step in 1..DEGREE {
            let mut factors = self.chebyshev(step);
            if step == 1 {
                factors.previous = 0.0;
            }
            self.operator.relax(b, u, scratch, factors);
            std::mem::swap(u, scratch);
        }
    }
}

/// The dense factor L of the coarsest operator, `A = L L'`, by rows.
struct Cholesky {
    /// Storage indices of the unknowns.
    nodes: Vec<usize>,
    factor: Vec<Vec<f64>>,
}

impl Cholesky {
    fn new(operator: &Operator) -> Self {
        let grid = &operator.grid;
        let nodes: Vec<usize> = grid
            .free_rows()
            .flat_map(|row| grid.free_columns().map(move |column| (row, column)))
            .map(|(row, column)| row * grid.stride() + column)
            .collect();
        let mut unit = grid.zeros();
        let mut column = grid.zeros();
        let mut factor: Vec<Vec<f64>> = Vec::with_capacity(nodes.len());
        for (i, &node) in nodes.iter().enumerate() {
            unit[node] = 1.0;
            operator.apply(&unit, &mut column);
            unit[node] = 0.0;
            let mut row: Vec<f64> = nodes[..=i].iter().map(|&other| column[other]).collect();
            for j in 0..i {
                let known: f64 = row[..j].iter().zip(&factor[j]).map(|(a, b)| a * b).sum();
                row[j] = (row[j] - known) / factor[j][j];
            }
            let known: f64 = row[..i].iter().map(|a| a * a).sum();
            // Rounding may leave nothing of an operator that is hardly definite: such a node then stays at zero.
            let pivot = row[i] - known;
            row[i] = if pivot > f64::EPSILON * row[i] { pivot.sqrt() } else { f64::INFINITY };
            factor.push(row);
        }
        Cholesky { nodes, factor }
    }

    fn solve(&self, b: &[f64], u: &mut [f64]) {
        let mut y: Vec<f64> = self.nodes.iter().map(|&node| b[node]).collect();
        for (i, row) in self.factor.iter().enumerate() {
            let known: f64 = row[..i].iter().zip(&y).map(|(l, y)| l * y).sum();
            y[i] = (y[i] - known) / row[i];
        }
        for (i, row) in self.factor.iter().enumerate().rev() {
            y[i] /= row[i];
            let value = y[i];
            for (y, l) in y[..i].iter_mut().zip(row) {
                *y -= l * value;
            }
        }
        for (&node, y) in self.nodes.iter().zip(y) {
            u[node] = y;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;
    use crate::operator::Couplings;

    /// Conjugate gradients need (M a) . b = a . (M b) and a . (M a) > 0.
    #[test]
    fn cycle_is_symmetric_and_definite() {
        let grid = Grid { cells: [37, 24], walls: [true, false, false, true] };
        let mut couplings = Couplings::zeros(&grid);
        for row in 1..=24 {
            for column in 1..=37 {
                let node = row * grid.stride() + column;
                couplings.east[node] = 1.5 + (node as f64).sin();
                couplings.north[node] = 1.5 + (3.0 * node as f64).cos();
                couplings.diagonal[node] = -0.1;
            }
        }
        couplings.eliminate_walls(&grid, |_, _, _| {});
        let mut multigrid = Multigrid::new(Operator::new(grid.clone(), couplings));
        assert!(multigrid.levels.len() > 2);
        let [mut a, mut b] = [grid.zeros(), grid.zeros()];
        for row in grid.free_rows() {
            for column in grid.free_columns() {
                let node = row * grid.stride() + column;
                a[node] = (5.0 * node as f64).sin();
                b[node] = (7.0 * node as f64).cos();
            }
        }
        let mut precondition = |v: &[f64]| {
            let mut u = grid.zeros();
            multigrid.precondition(v, &mut u, &mut grid.zeros());
            u
        };
        let (ma, mb) = (precondition(&a), precondition(&b));
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let scale = (product(&ma, &a) * product(&mb, &b)).sqrt();
        assert!(product(&ma, &a) > 0.0);
        assert!((product(&ma, &b) - product(&a, &mb)).abs() < 1e-12 * scale);
    }
}
