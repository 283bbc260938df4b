//! The orthogonal factor as a product of block reflections, and the QR factorization that makes it.
//!
//! Q = Q_1 Q_2 .. with Q_b = I - V_b T_b V_b' for a block of columns b. A block is factored by halves (the left one,
//! its reflections applied to the right one, then that) down to a panel of at most eight columns; the two factors
//! join as T_12 = -T_1 (V_1'V_2) T_2. Nearly all the work is products of matrices.
//!
//! No column is skipped, however close it is to the span of the others: R has a zero on its diagonal only where nothing
//! at all is left of a column.
//!
//! # References
//!
//! Golub and Van Loan, Matrix Computations, 5.2.3; Elmroth and Gustavson, IBM J. Res. Dev. 44 (2000), for the halving.

use faer::{Mat, MatMut, MatRef};

use super::{failure, multiply, multiply_add, panel};
use crate::Result;

/// The m x m orthogonal matrix Q = [Q_r, Q_perp] of a QR factorization of rank r, as a product of reflections.
///
/// The columns of Q_r span the columns of the factored matrix; those of Q_perp span the rest of the space.
#[derive(Clone, Debug)]
pub struct Householder {
    /// The vectors of the reflections: m x r, unit lower trapezoidal, zeros and ones written out.
    v: Mat<f64>,
    /// The upper triangular factors T of the blocks, side by side: block x r.
    t: Mat<f64>,
}

impl Householder {
    /// The number of rows, m.
    pub fn rows(&self) -> usize {
        self.v.nrows()
    }

    /// The rank, r: the number of columns of Q_r.
    pub fn rank(&self) -> usize {
        self.v.ncols()
    }

    /// `x <- Q'x` for m x k `x`: the first r rows become Q_r'x, the others Q_perp'x.
    ///
    /// # Panics
    ///
    /// If `x` does not have m rows.
    pub fn apply_transpose(&self, mut x: MatMut<f64>) {
        assert_eq!(x.nrows(), self.rows(), "Q'x needs an x of as many rows as Q");
        let mut scratch = Mat::zeros(2 * self.t.nrows(), x.ncols());
        for start in self.blocks() {
            let (v, t) = self.block(start);
            reflect(v, t.transpose(), x.as_mut().subrows_mut(start, v.nrows()), scratch.as_mut());
        }
    }

    /// `x <- Q x` for m x k `x`.
    ///
    /// # Panics
    ///
    /// If `x` does not have m rows.
    pub fn apply(&self, mut x: MatMut<f64>) {
        assert_eq!(x.nrows(), self.rows(), "Q x needs an x of as many rows as Q");
        let mut scratch = Mat::zeros(2 * self.t.nrows(), x.ncols());
        for start in self.blocks().rev() {
            let (v, t) = self.block(start);
            reflect(v, t, x.as_mut().subrows_mut(start, v.nrows()), scratch.as_mut());
        }
    }

    /// From reflections made one by one: `v` as in the struct, `tau` their factors.
    pub(super) fn from_reflections(v: Mat<f64>, tau: &[f64]) -> Self {
        let block = block_size(v.ncols());
        let mut q = Householder { t: Mat::zeros(block, v.ncols()), v };
        let mut scratch = Mat::zeros(block, block);
        for start in q.blocks() {
            let width = block.min(q.rank() - start);
            let v = q.v.as_ref().submatrix(start, start, q.v.nrows() - start, width);
            let mut t = q.t.as_mut().submatrix_mut(0, start, width, width);
            for i in 0..width {
                t[(i, i)] = tau[start + i];
            }
            couple_all(v, t, scratch.as_mut());
        }
        q
    }

    /// Where the blocks start.
    fn blocks(&self) -> impl DoubleEndedIterator<Item = usize> + use<> {
        (0..self.rank()).step_by(self.t.nrows().max(1))
    }

    /// V and T of the block that starts at a column.
    fn block(&self, start: usize) -> (MatRef<'_, f64>, MatRef<'_, f64>) {
        let width = self.t.nrows().min(self.rank() - start);
        let v = self.v.as_ref().submatrix(start, start, self.rows() - start, width);
        (v, self.t.as_ref().submatrix(0, start, width, width))
    }
}

/// A QR factorization without pivoting, K = Q_r R.
#[derive(Clone, Debug)]
pub struct Qr {
    /// Q = [Q_r, Q_perp].
    pub q: Householder,
    /// R: r x r, upper triangular, zeros written out.
    pub r: Mat<f64>,
}

/// The QR factorization of a matrix of full rank with at least as many rows as columns.
///
/// Extreme entries (1e300, 1e-300) are handled. Entries that are not finite, or an R that overflows, are an error, and
/// so is a matrix with fewer rows than columns.
pub fn qr(mut k: Mat<f64>) -> Result<Qr> {
    let (m, n) = k.shape();
    if m < n {
        return Err(failure(format!("a QR factorization needs at least as many rows as columns, not {m} x {n}")));
    }
    let block = block_size(n);
    let mut r = Mat::zeros(n, n);
    let mut t = Mat::zeros(block, n);
    let mut scratch = Mat::zeros(2 * block, n);
    for start in (0..n).step_by(block) {
        let width = block.min(n - start);
        let rest = n - start - width;
        let (mut v, mut right) = k.as_mut().subrows_mut(start, m - start).split_at_col_mut(start + width);
        let mut v = v.as_mut().subcols_mut(start, width);
        let mut t = t.as_mut().submatrix_mut(0, start, width, width);
        factor(v.as_mut(), r.as_mut().submatrix_mut(start, start, width, width), t.as_mut(), scratch.as_mut());
        reflect(v.as_ref(), t.transpose(), right.as_mut(), scratch.as_mut());
        move_rows(right.subrows_mut(0, width), r.as_mut().submatrix_mut(start, start + width, width, rest));
    }
    // Whatever is not finite in a column of K reaches the diagonal of R.
    if (0..n).any(|i| !r[(i, i)].is_finite()) {
        return Err(failure("the matrix has an entry that is not finite or too large"));
    }
    Ok(Qr { q: Householder { v: k, t }, r })
}

/// The number of columns factored as one block: wide enough for fast products, narrow enough that T costs little.
fn block_size(columns: usize) -> usize {
    (if columns < 400 { 16 } else { 24 }).min(columns.max(1))
}

/// Factors the columns of `v` as one block: `v` becomes V, `r` and `t` the upper triangular R and T.
fn factor(mut v: MatMut<f64>, mut r: MatMut<f64>, mut t: MatMut<f64>, mut scratch: MatMut<f64>) {
    match v.ncols() {
        0 => return,
        1 => return panel::factor::<1>(v, r, t),
        2 => return panel::factor::<2>(v, r, t),
        4 => return panel::factor::<4>(v, r, t),
        8 => return panel::factor::<8>(v, r, t),
        _ => {}
    }
    let half = left_half(v.ncols());
    let rows = v.nrows();
    let (mut left, mut right) = v.as_mut().split_at_col_mut(half);
    let (r11, r12, _, r22) = r.as_mut().split_at_mut(half, half);
    let (mut t11, _, _, t22) = t.as_mut().split_at_mut(half, half);
    factor(left.as_mut(), r11, t11.as_mut(), scratch.as_mut());
    reflect(left.as_ref(), t11.transpose(), right.as_mut(), scratch.as_mut());
    move_rows(right.as_mut().subrows_mut(0, half), r12);
    factor(right.subrows_mut(half, rows - half), r22, t22, scratch.as_mut());
    couple(v.as_ref(), t, half, scratch);
}

/// Where a block is halved, such that panels of 1, 2, 4 and 8 columns remain in the end.
fn left_half(columns: usize) -> usize {
    columns.next_power_of_two() / 2
}

/// `x <- (I - V T V') x`; with the transpose of T for the inverse. Scratch: twice the columns of V, those of `x`.
fn reflect(v: MatRef<f64>, t: MatRef<f64>, x: MatMut<f64>, scratch: MatMut<f64>) {
    let (products, rest) = scratch.subcols_mut(0, x.ncols()).split_at_row_mut(v.ncols());
    let (mut products, mut weights) = (products, rest.subrows_mut(0, v.ncols()));
    multiply(products.as_mut(), v.transpose(), x.as_ref());
    multiply(weights.as_mut(), t, products.as_ref());
    multiply_add(x, -1.0, v, weights.as_ref());
}

/// Fills in T_12 = -T_1 (V_1'V_2) T_2 of a block whose two parts meet at column `half`.
fn couple(v: MatRef<f64>, t: MatMut<f64>, half: usize, scratch: MatMut<f64>) {
    let (t1, mut t12, _, t2) = t.split_at_mut(half, half);
    let (v1, v2) = v.subrows(half, v.nrows() - half).split_at_col(half);
    let mut product = scratch.submatrix_mut(0, 0, half, v2.ncols());
    multiply(t12.as_mut(), v1.transpose(), v2);
    multiply(product.as_mut(), t1.as_ref(), t12.as_ref());
    multiply(t12.as_mut(), product.as_ref(), t2.as_ref());
    t12.as_mut().col_iter_mut().for_each(|column| column.iter_mut().for_each(|x| *x = -*x));
}

/// Fills in all of T above its diagonal, by halves.
fn couple_all(v: MatRef<f64>, mut t: MatMut<f64>, mut scratch: MatMut<f64>) {
    if v.ncols() <= 1 {
        return;
    }
    let half = left_half(v.ncols());
    let (t11, _, _, t22) = t.as_mut().split_at_mut(half, half);
    let (left, right) = v.split_at_col(half);
    couple_all(left, t11, scratch.as_mut());
    couple_all(right.subrows(half, v.nrows() - half), t22, scratch.as_mut());
    couple(v, t, half, scratch);
}

/// Moves rows that are finished from V to R and leaves zeros.
fn move_rows(mut from: MatMut<f64>, mut to: MatMut<f64>) {
    to.copy_from(from.as_ref());
    from.fill(0.0);
}
