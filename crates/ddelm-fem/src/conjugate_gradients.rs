//! Conjugate gradients for `A u = b`, preconditioned by a multigrid cycle.

use rayon::prelude::*;

use super::grid::{Grid, dot};
use super::multigrid::Multigrid;

/// The end of an iteration.
pub(super) struct Outcome {
    pub u: Vec<f64>,
    pub iterations: usize,
    pub relative_residual: f64,
    pub converged: bool,
}

/// Iterates from zero until the residual is `tolerance` times `b`, in the Euclidean norm. Overwrites `b`.
///
/// Every sum is taken by rows and the rows are added in order, so the result does not depend on the threads.
pub(super) fn solve(multigrid: &mut Multigrid, b: Vec<f64>, tolerance: f64, max_iterations: usize) -> Outcome {
    let grid = multigrid.operator().grid.clone();
    let mut residual = b;
    let mut u = grid.zeros();
    let start = inner(&grid, &residual, &residual).sqrt();
    if start == 0.0 {
        return Outcome { u, iterations: 0, relative_residual: 0.0, converged: true };
    }
    let [mut direction, mut image, mut z] = [(); 3].map(|()| grid.zeros());
    let mut outcome = Outcome { u: Vec::new(), iterations: 0, relative_residual: 1.0, converged: false };
    let mut rho = 0.0;
    while outcome.iterations < max_iterations {
        // The image of the last direction is no longer needed: it serves as scratch.
        multigrid.precondition(&residual, &mut z, &mut image);
        let previous = std::mem::replace(&mut rho, inner(&grid, &residual, &z));
        let beta = if outcome.iterations == 0 { 0.0 } else { rho / previous };
        turn(&grid, &z, beta, &mut direction);
        let energy = multigrid.operator().apply(&direction, &mut image);
        let step = rho / energy;
        if !(energy > 0.0 && step.is_finite()) {
            break;
        }
        let norm = advance(&grid, step, &direction, &image, &mut u, &mut residual).sqrt();
        outcome.iterations += 1;
        outcome.relative_residual = norm / start;
        if outcome.relative_residual <= tolerance {
            outcome.converged = true;
            break;
        }
    }
    Outcome { u, ..outcome }
}

/// `a . b`.
fn inner(grid: &Grid, a: &[f64], b: &[f64]) -> f64 {
    let stride = grid.stride();
    let rows: Vec<f64> = a
        .par_chunks(stride)
        .zip(b.par_chunks(stride))
        .with_min_len(grid.rows_per_task())
        .map(|(a, b)| dot(a, b))
        .collect();
    rows.iter().sum()
}

/// `direction = z + beta direction`.
fn turn(grid: &Grid, z: &[f64], beta: f64, direction: &mut [f64]) {
    let stride = grid.stride();
    direction
        .par_chunks_mut(stride)
        .zip(z.par_chunks(stride))
        .with_min_len(grid.rows_per_task())
        .for_each(|(direction, z)| direction.iter_mut().zip(z).for_each(|(p, z)| *p = z + beta * *p));
}

/// `u += step direction`, `residual -= step image`; returns the square of the residual.
fn advance(grid: &Grid, step: f64, direction: &[f64], image: &[f64], u: &mut [f64], residual: &mut [f64]) -> f64 {
    let stride = grid.stride();
    let rows: Vec<f64> = (u.par_chunks_mut(stride), direction.par_chunks(stride))
        .into_par_iter()
        .zip((residual.par_chunks_mut(stride), image.par_chunks(stride)).into_par_iter())
        .with_min_len(grid.rows_per_task())
        .map(|((u, direction), (residual, image))| {
            u.iter_mut().zip(direction).for_each(|(u, p)| *u += step * p);
            residual.iter_mut().zip(image).for_each(|(r, q)| *r -= step * q);
            dot(residual, residual)
        })
        .collect();
    rows.iter().sum()
}
