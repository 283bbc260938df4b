//! Blocks of vectors made orthonormal, `W = Q R`: all columns together by products of matrices, or one after the other where some of
//! them nearly depend on the others.

use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::algebra::factor::solve_upper;
use crate::local::local_factor::product;

/// A column that orthogonalisation leaves less than this of, relative to what it was, is dependent on the others.
const DEPENDENT: f64 = 1e-13;

/// Columns that have less than this left, or less of their own beside the others of a block, are made orthogonal one by one.
const LITTLE: f64 = 1e-11;
const INDEPENDENT: f64 = 1e-5;

/// Sums that are made side by side.
const LANES: usize = 8;

/// Vectors in pieces, one matrix for each, with a column for each vector.
pub(crate) type Pieces = Vec<Mat<f64>>;

/// The same, of somebody else.
pub(crate) type Views<'a> = [MatRef<'a, f64>];

/// Vectors as they are.
pub(crate) fn views(pieces: &Pieces) -> Vec<MatRef<'_, f64>> {
    pieces.iter().map(Mat::as_ref).collect()
}

/// Makes the columns of a block orthonormal, `W = Q R`, from the Cholesky factor of their inner products: some products of
/// matrices. Returns R; nothing, and does nothing, where little is left of a column that had this size, or it is nearly dependent on
/// the others.
pub(crate) fn orthonormalize_together(block: &mut Pieces, sizes: &[f64]) -> Option<Mat<f64>> {
    let parts: Vec<Mat<f64>> = block.par_iter().map(|w| product(w.transpose(), w.as_ref())).collect();
    let mut inner: Mat<f64> = Mat::zeros(sizes.len(), sizes.len());
    parts.iter().for_each(|part| inner += part);
    if (0..sizes.len()).any(|k| inner[(k, k)].sqrt() <= LITTLE * sizes[k]) {
        return None;
    }
    let (r, inverse) = cholesky(&inner)?;
    block.par_iter_mut().for_each(|w| *w = product(w.as_ref(), inverse.as_ref()));
    Some(r)
}

/// The upper triangle R of `R' R`, and its inverse; nothing where a column has less than [`INDEPENDENT`] of its own.
fn cholesky(m: &Mat<f64>) -> Option<(Mat<f64>, Mat<f64>)> {
    let n = m.nrows();
    let (mut r, mut inverse): (Mat<f64>, Mat<f64>) = (Mat::zeros(n, n), Mat::identity(n, n));
    for j in 0..n {
        for i in 0..j {
            let known: f64 = (0..i).map(|k| r[(k, i)] * r[(k, j)]).sum();
            r[(i, j)] = (m[(i, j)] - known) / r[(i, i)];
        }
        let rest = m[(j, j)] - (0..j).map(|k| r[(k, j)] * r[(k, j)]).sum::<f64>();
        if rest.is_nan() || rest <= INDEPENDENT * INDEPENDENT * m[(j, j)] {
            return None;
        }
        r[(j, j)] = rest.sqrt();
    }
    solve_upper(r.as_ref(), inverse.as_mut());
    Some((r, inverse))
}

/// Makes the columns of a block orthonormal one after the other. Returns the columns in terms of those that are kept, and the
/// numbers of these: those that are not dependent on others.
pub(crate) fn orthonormalize_one_by_one(block: &mut Pieces, sizes: &[f64]) -> (Mat<f64>, Vec<usize>) {
    let mut kept: Vec<usize> = Vec::new();
    let mut r: Mat<f64> = Mat::zeros(sizes.len(), sizes.len());
    for (k, size) in sizes.iter().enumerate() {
        for _ in 0..2 {
            for (row, &j) in kept.iter().enumerate() {
                let part = dot(block, j, block, k);
                r[(row, k)] += part;
                add_column(block, k, -part, j);
            }
        }
        let rest = dot(block, k, block, k).sqrt();
        if rest > DEPENDENT * size {
            for piece in &mut *block {
                piece.col_as_slice_mut(k).iter_mut().for_each(|w| *w /= rest);
            }
            r[(kept.len(), k)] = rest;
            kept.push(k);
        }
    }
    (r.subrows(0, kept.len()).to_owned(), kept)
}

/// The inner product of two columns.
pub(crate) fn dot(a: &Pieces, i: usize, b: &Pieces, j: usize) -> f64 {
    a.iter().zip(b).map(|(a, b)| inner_product(a.col_as_slice(i), b.col_as_slice(j))).sum()
}

/// The sum of products, in as many sums side by side as vectors of the machine hold.
fn inner_product(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (a, b) in a.0.iter().zip(b.0) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    sums.iter().sum::<f64>() + a.1.iter().zip(b.1).map(|(a, b)| a * b).sum::<f64>()
}

/// Adds a multiple of column `from` to column `to`, which comes after it.
fn add_column(block: &mut Pieces, to: usize, factor: f64, from: usize) {
    for piece in block {
        let (before, mut after) = piece.as_mut().split_at_col_mut(to);
        faer::zip!(after.as_mut().col_mut(0), before.as_ref().col(from))
            .for_each(|faer::unzip!(w, v)| *w += factor * *v);
    }
}
