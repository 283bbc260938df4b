//! Tiles: the dense kernels of the interface factorization, cut into pieces that run in parallel.
//!
//! The pieces depend on the sizes of the matrices alone, and each is computed by one thread: the bits of the result do
//! not depend on the number of threads. (A kernel that is told the number of threads cuts accordingly, and rounds
//! accordingly.)

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltError, LltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::{matmul, triangular};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, MatMut, MatRef, Par, Spec};

/// Panels up to this width are factored by one call of the dense kernel. From 16 to 128 the speed falls by a tenth.
const PANEL: usize = 16;

/// Products larger than this in either direction are computed in tiles.
pub const TILE: usize = 384;

/// Replaces the pivot columns [F11; F21] of a front by [L11; L21]. An error is the number of a pivot that is not
/// positive.
pub fn factor_panel(panel: MatMut<'_, f64>) -> Result<(), usize> {
    let width = panel.ncols();
    if width <= PANEL {
        let (mut square, below) = panel.split_at_row_mut(width);
        factor_square(square.rb_mut())?;
        solve_rows(square.rb(), below);
        return Ok(());
    }
    let half = (width / 2).next_multiple_of(PANEL / 2);
    let (mut left, right) = panel.split_at_col_mut(half);
    factor_panel(left.rb_mut())?;
    let mut right = right.subrows_mut(half, left.nrows() - half);
    let (top, bottom) = left.rb().subrows(half, left.nrows() - half).split_at_row(width - half);
    let (right_top, right_bottom) = right.rb_mut().split_at_row_mut(width - half);
    rayon::join(|| add_square(right_top, -1.0, top), || add_product(right_bottom, -1.0, bottom, top));
    factor_panel(right).map_err(|pivot| pivot + half)
}

fn factor_square(square: MatMut<'_, f64>) -> Result<(), usize> {
    let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(square.nrows(), Par::Seq, Spec::default()));
    let stack = MemStack::new(&mut memory);
    cholesky_in_place(square, LltRegularization::default(), Par::Seq, stack, Spec::default())
        .map(|_| ())
        .map_err(|LltError::NonPositivePivot { index }| index)
}

/// X <- X L^-T, in tiles of rows.
fn solve_rows(l: MatRef<'_, f64>, x: MatMut<'_, f64>) {
    if x.nrows() <= TILE {
        return solve_lower_triangular_in_place(l, x.transpose_mut(), Par::Seq);
    }
    let half = x.nrows() / 2;
    let (top, bottom) = x.split_at_row_mut(half);
    rayon::join(|| solve_rows(l, top), || solve_rows(l, bottom));
}

/// The lower triangle of C <- C + alpha A A', in tiles.
pub fn add_square(c: MatMut<'_, f64>, alpha: f64, a: MatRef<'_, f64>) {
    if c.nrows() <= TILE {
        use triangular::BlockStructure::{Rectangular, TriangularLower};
        let b = a.transpose();
        return triangular::matmul(c, TriangularLower, Accum::Add, a, Rectangular, b, Rectangular, alpha, Par::Seq);
    }
    let half = c.nrows() / 2;
    let (c11, _, c21, c22) = c.split_at_mut(half, half);
    let (a1, a2) = a.split_at_row(half);
    rayon::join(
        || add_product(c21, alpha, a2, a1),
        || rayon::join(|| add_square(c11, alpha, a1), || add_square(c22, alpha, a2)),
    );
}

/// C <- C + alpha A B', in tiles.
pub fn add_product(c: MatMut<'_, f64>, alpha: f64, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    if c.nrows().max(c.ncols()) <= TILE {
        return matmul(c, Accum::Add, a, b.transpose(), alpha, Par::Seq);
    }
    if c.nrows() >= c.ncols() {
        let half = c.nrows() / 2;
        let (top, bottom) = c.split_at_row_mut(half);
        let (a1, a2) = a.split_at_row(half);
        rayon::join(|| add_product(top, alpha, a1, b), || add_product(bottom, alpha, a2, b));
    } else {
        let half = c.ncols() / 2;
        let (left, right) = c.split_at_col_mut(half);
        let (b1, b2) = b.split_at_row(half);
        rayon::join(|| add_product(left, alpha, a, b1), || add_product(right, alpha, a, b2));
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;

    use super::*;

    fn spd(n: usize) -> Mat<f64> {
        Mat::from_fn(n, n, |i, j| if i == j { n as f64 } else { (((i + j) * (i * j + 3)) % 17) as f64 / 17.0 })
    }

    #[test]
    fn panels_multiply_back() {
        for (rows, columns) in [(3, 3), (70, 20), (200, 131), (2 * TILE + 9, TILE + 5)] {
            let f = spd(rows);
            let mut panel = f.get(.., ..columns).to_owned();
            factor_panel(panel.as_mut()).unwrap();
            for j in 0..columns {
                panel.get_mut(..j, j).fill(0.0);
            }
            let product = &panel * panel.get(..columns, ..).transpose();
            let error = (product - f.get(.., ..columns)).norm_max();
            assert!(error < 1e-15 * (rows * rows) as f64, "{rows} x {columns}: {error:e}");
        }
    }

    #[test]
    fn squares_change_the_lower_triangle() {
        let n = 2 * TILE + 30;
        let a = Mat::from_fn(n, 7, |i, j| ((i * 5 + j * 3) % 11) as f64);
        let mut c = spd(n);
        add_square(c.as_mut(), -1.0, a.as_ref());
        let exact = spd(n) - &a * a.transpose();
        for j in 0..n {
            for i in j..n {
                assert!((c[(i, j)] - exact[(i, j)]).abs() < 1e-11, "({i}, {j})");
            }
        }
    }

    #[test]
    fn the_first_bad_pivot_is_found() {
        let mut panel = spd(300).get(.., ..250).to_owned();
        for bad in [240, 130, 64, 0] {
            panel.copy_from(spd(300).get(.., ..250));
            panel[(bad, bad)] = -1.0;
            assert_eq!(factor_panel(panel.as_mut()), Err(bad));
        }
    }
}
