//! The dense kernels of the interface factorization, in tiles.
//!
//! Large matrices are halved until the pieces are tiles, which run in parallel. Where they are cut depends on the sizes
//! alone, so that the bits do not depend on the number of threads.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::lu::partial_pivoting::factor::{lu_in_place, lu_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_unit_lower_triangular_in_place};
use faer::prelude::ReborrowMut;
use faer::{Accum, MatMut, MatRef, Par, Spec};

/// Products larger than this in either direction are computed in tiles.
pub const TILE: usize = 384;

/// A square matrix that was factored.
pub struct Pivots {
    /// The row that each row comes from.
    pub rows: Vec<usize>,
    /// The number of the smallest pivot,
    pub smallest: usize,
    /// ... and its size, relative to the largest, both in units of their rows: zero for a matrix of zeros, or of numbers that are not finite.
    pub ratio: f64,
}

/// The largest entry of every row of a matrix.
pub fn row_sizes(matrix: MatRef<'_, f64>) -> Vec<f64> {
    let mut sizes = vec![0.0f64; matrix.nrows()];
    for column in matrix.col_iter() {
        sizes.iter_mut().zip(column.iter()).for_each(|(size, value)| *size = size.max(value.abs()));
    }
    sizes
}

/// Replaces a square matrix by its factors, with pivots chosen among its rows.
pub fn factor_square(mut square: MatMut<'_, f64>) -> Pivots {
    let sizes = row_sizes(square.as_ref());
    let n = square.nrows();
    let (mut rows, mut inverse) = (vec![0; n], vec![0; n]);
    let mut memory = MemBuffer::new(lu_in_place_scratch::<usize, f64>(n, n, Par::Seq, Spec::default()));
    let stack = MemStack::new(&mut memory);
    lu_in_place(square.rb_mut(), &mut rows, &mut inverse, Par::Seq, stack, Spec::default());
    // A side of a thin strip has small fluxes: what is small beside those of others need not be singular.
    let pivots: Vec<f64> = (0..n).map(|i| square[(i, i)].abs() / sizes[rows[i]]).collect();
    let largest = pivots.iter().copied().fold(0.0, f64::max);
    if let Some(bad) = pivots.iter().position(|pivot| !pivot.is_finite() || largest == 0.0) {
        return Pivots { rows, smallest: bad, ratio: 0.0 };
    }
    let smallest = (0..n).min_by(|&a, &b| pivots[a].total_cmp(&pivots[b])).unwrap_or(0);
    Pivots { rows, smallest, ratio: if n > 0 { pivots[smallest] / largest } else { 1.0 } }
}

/// X <- X U^-1 with the upper triangle of the factors, in tiles of rows.
pub fn solve_rows(factors: MatRef<'_, f64>, x: MatMut<'_, f64>) {
    if x.nrows() <= TILE {
        return solve_lower_triangular_in_place(factors.transpose(), x.transpose_mut(), Par::Seq);
    }
    let half = x.nrows() / 2;
    let (top, bottom) = x.split_at_row_mut(half);
    rayon::join(|| solve_rows(factors, top), || solve_rows(factors, bottom));
}

/// X <- L^-1 P X with the unit lower triangle of the factors and the order of their rows, in tiles of columns.
pub fn solve_columns(factors: MatRef<'_, f64>, rows: &[usize], mut x: MatMut<'_, f64>) {
    if x.ncols() <= TILE {
        permute(rows, x.rb_mut());
        return solve_unit_lower_triangular_in_place(factors, x, Par::Seq);
    }
    let half = x.ncols() / 2;
    let (left, right) = x.split_at_col_mut(half);
    rayon::join(|| solve_columns(factors, rows, left), || solve_columns(factors, rows, right));
}

/// Puts row `rows[i]` at place i.
pub fn permute(rows: &[usize], x: MatMut<'_, f64>) {
    let mut column = vec![0.0; rows.len()];
    for x in x.col_iter_mut() {
        column.iter_mut().zip(rows).for_each(|(to, &from)| *to = x[from]);
        x.iter_mut().zip(&column).for_each(|(to, from)| *to = *from);
    }
}

/// x <- P' x: undoes [`permute`].
pub fn permute_back(rows: &[usize], x: MatMut<'_, f64>) {
    let mut column = vec![0.0; rows.len()];
    for x in x.col_iter_mut() {
        rows.iter().enumerate().for_each(|(from, &to)| column[to] = x[from]);
        x.iter_mut().zip(&column).for_each(|(to, from)| *to = *from);
    }
}

/// C <- C + alpha A B, in tiles.
pub fn add_product(c: MatMut<'_, f64>, alpha: f64, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    if c.nrows().max(c.ncols()) <= TILE {
        return matmul(c, Accum::Add, a, b, alpha, Par::Seq);
    }
    if c.nrows() >= c.ncols() {
        let half = c.nrows() / 2;
        let (top, bottom) = c.split_at_row_mut(half);
        let (a1, a2) = a.split_at_row(half);
        rayon::join(|| add_product(top, alpha, a1, b), || add_product(bottom, alpha, a2, b));
    } else {
        let half = c.ncols() / 2;
        let (left, right) = c.split_at_col_mut(half);
        let (b1, b2) = b.split_at_col(half);
        rayon::join(|| add_product(left, alpha, a, b1), || add_product(right, alpha, a, b2));
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;

    use super::*;

    fn square(n: usize) -> Mat<f64> {
        Mat::from_fn(n, n, |i, j| {
            let hash = (1000 * i + j + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            ((hash ^ (hash >> 31)) % 1009) as f64 / 1009.0 - 0.5
        })
    }

    fn unit_lower(f: &Mat<f64>) -> Mat<f64> {
        Mat::from_fn(f.nrows(), f.nrows(), |i, j| {
            if i == j {
                1.0
            } else if i > j {
                f[(i, j)]
            } else {
                0.0
            }
        })
    }

    fn upper(f: &Mat<f64>) -> Mat<f64> {
        Mat::from_fn(f.nrows(), f.nrows(), |i, j| if i <= j { f[(i, j)] } else { 0.0 })
    }

    #[test]
    fn factors_multiply_back() {
        for n in [1, 3, 70, 200, 500] {
            let f = square(n);
            let mut factors = f.clone();
            let rows = factor_square(factors.as_mut()).rows;
            let product = unit_lower(&factors) * upper(&factors);
            let error =
                (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| product[(i, j)] - f[(rows[i], j)]);
            let error = error.fold(0.0, |a: f64, e| a.max(e.abs()));
            assert!(error < 1e-14 * n as f64, "{n}: {error:e}");
        }
    }

    #[test]
    fn solves_multiply_back_across_tiles() {
        let (n, wide) = (60, 2 * TILE + 30);
        let mut factors = square(n);
        let rows = factor_square(factors.as_mut()).rows;
        let x = Mat::from_fn(n, wide, |i, j| ((i * 5 + j * 3) % 11) as f64);
        let mut columns = x.clone();
        solve_columns(factors.as_ref(), &rows, columns.as_mut());
        let back = unit_lower(&factors) * columns;
        assert!((0..n).all(|i| (0..wide).all(|j| (back[(i, j)] - x[(rows[i], j)]).abs() < 1e-10)));
        let mut across = x.transpose().to_owned();
        solve_rows(factors.as_ref(), across.as_mut());
        assert!((across * upper(&factors) - x.transpose()).norm_max() < 1e-9);
    }

    #[test]
    fn products_are_added_in_tiles() {
        let n = 2 * TILE + 30;
        let (a, b) =
            (Mat::from_fn(n, 7, |i, j| ((i * 5 + j * 3) % 11) as f64), Mat::from_fn(7, n, |i, j| (i + j) as f64));
        let mut c = Mat::from_fn(n, n, |i, j| (i + 2 * j) as f64);
        let exact = &c - &a * &b;
        add_product(c.as_mut(), -1.0, a.as_ref(), b.as_ref());
        assert!((c - exact).norm_max() < 1e-9);
    }

    #[test]
    fn a_singular_matrix_is_told() {
        let mut ones = Mat::from_fn(5, 5, |_, _| 4.0);
        assert_eq!(factor_square(ones.as_mut()).ratio, 0.0);
        assert_eq!(factor_square(Mat::zeros(3, 3).as_mut()).ratio, 0.0);
        let mut bad = square(20);
        bad[(3, 3)] = f64::NAN;
        assert_eq!(factor_square(bad.as_mut()).ratio, 0.0);
    }
}
