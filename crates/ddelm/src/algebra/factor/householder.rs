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

use super::{failure, multiply, multiply_add, panel, solve_upper, solve_upper_right};
use crate::base::error::Result;

/// The m x m orthogonal matrix Q = [Q_r, Q_perp] of a QR factorization of rank r, as a product of reflections.
///
/// The columns of Q_r span the columns of the factored matrix; those of Q_perp span the rest of the space.
#[derive(Clone, Debug)]
pub struct Householder {
    /// The vectors of the reflections: m x r, unit lower trapezoidal, zeros and ones written out inside the blocks. What
    /// lies above a block is never read.
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

    /// From reflections made one by one: `v` as in the struct, `tau` their factors, in blocks of so many columns.
    pub(super) fn from_reflections(v: Mat<f64>, tau: &[f64], block: usize) -> Self {
        let mut q = Householder { t: Mat::zeros(block, v.ncols()), v };
        let mut products = Mat::zeros(block, block);
        for start in q.blocks() {
            let width = block.min(q.rank() - start);
            let v = q.v.as_ref().submatrix(start, start, q.v.nrows() - start, width);
            let mut products = products.as_mut().submatrix_mut(0, 0, width, width);
            multiply(products.as_mut(), v.transpose(), v);
            let t = q.t.as_mut().submatrix_mut(0, start, width, width);
            gather(t, products.as_ref(), &tau[start..start + width]);
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
///
/// R takes no memory of its own, but for its diagonal blocks: the rest stays above the blocks of V, where it was made.
#[derive(Clone, Debug)]
pub struct Qr {
    /// Q = [Q_r, Q_perp].
    pub q: Householder,
    /// The diagonal blocks of R side by side: block x r, upper triangular, zeros written out.
    diagonal: Mat<f64>,
}

impl Qr {
    /// `x <- R^-1 x`. A zero on the diagonal of R gives values that are not finite.
    pub fn solve(&self, mut x: MatMut<f64>) {
        for start in self.q.blocks().rev() {
            let (above, diagonal) = self.columns(start);
            let (mut top, rest) = x.as_mut().split_at_row_mut(start);
            let mut part = rest.subrows_mut(0, diagonal.nrows());
            solve_upper(diagonal, part.as_mut());
            multiply_add(top.as_mut(), -1.0, above, part.as_ref());
        }
    }

    /// `x <- x R^-1`.
    pub fn solve_right(&self, mut x: MatMut<f64>) {
        for start in self.q.blocks() {
            let (above, diagonal) = self.columns(start);
            let (left, rest) = x.as_mut().split_at_col_mut(start);
            let mut part = rest.subcols_mut(0, diagonal.ncols());
            multiply_add(part.as_mut(), -1.0, left.as_ref(), above);
            solve_upper_right(diagonal, part);
        }
    }

    /// R as a matrix, zeros written out.
    pub fn r(&self) -> Mat<f64> {
        let mut r = Mat::zeros(self.q.rank(), self.q.rank());
        for start in self.q.blocks() {
            let (above, diagonal) = self.columns(start);
            r.as_mut().submatrix_mut(0, start, start, above.ncols()).copy_from(above);
            r.as_mut().submatrix_mut(start, start, diagonal.nrows(), diagonal.ncols()).copy_from(diagonal);
        }
        r
    }

    /// The columns of R in the block that starts at one of them: those above the diagonal block, and that.
    fn columns(&self, start: usize) -> (MatRef<'_, f64>, MatRef<'_, f64>) {
        let width = self.diagonal.nrows().min(self.q.rank() - start);
        let above = self.q.v.as_ref().submatrix(0, start, start, width);
        (above, self.diagonal.as_ref().submatrix(0, start, width, width))
    }
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
    let mut diagonal = Mat::zeros(block, n);
    let mut t = Mat::zeros(block, n);
    let mut scratch = Mat::zeros(2 * block, n);
    for start in (0..n).step_by(block) {
        let width = block.min(n - start);
        let (mut v, mut right) = k.as_mut().subrows_mut(start, m - start).split_at_col_mut(start + width);
        let mut v = v.as_mut().subcols_mut(start, width);
        let mut t = t.as_mut().submatrix_mut(0, start, width, width);
        let corner = diagonal.as_mut().submatrix_mut(0, start, width, width);
        factor(v.as_mut(), corner, t.as_mut(), scratch.as_mut());
        reflect(v.as_ref(), t.transpose(), right.as_mut(), scratch.as_mut());
    }
    // Whatever is not finite in a column of K reaches the diagonal of R.
    if (0..n).any(|i| !diagonal[(i % block, i)].is_finite()) {
        return Err(failure("the matrix has an entry that is not finite or too large"));
    }
    Ok(Qr { q: Householder { v: k, t }, diagonal })
}

/// The number of columns factored as one block: wide enough for fast products, narrow enough that T costs little.
pub(super) fn block_size(columns: usize) -> usize {
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

/// Makes T column by column from V'V and the factors of the reflections: T_jj = tau_j and above it -tau_j T (V'v_j).
fn gather(mut t: MatMut<f64>, products: MatRef<f64>, tau: &[f64]) {
    for (j, tau) in tau.iter().enumerate() {
        for i in 0..j {
            t[(i, j)] = -tau * (i..j).map(|k| t[(i, k)] * products[(k, j)]).sum::<f64>();
        }
        t[(j, j)] = *tau;
    }
}

/// Moves rows that are finished from V to R and leaves zeros.
fn move_rows(mut from: MatMut<f64>, mut to: MatMut<f64>) {
    to.copy_from(from.as_ref());
    from.fill(0.0);
}

#[cfg(test)]
mod tests {
    use super::super::samples::{distance, identity, product, random, tanh_features};
    use super::*;
    use proptest::prelude::*;

    /// Q as a matrix.
    fn explicit(q: &Householder) -> Mat<f64> {
        let mut x = identity(q.rows());
        q.apply(x.as_mut());
        x
    }

    /// K = Q \[R; 0\], Q'Q = I and R upper triangular.
    fn check(k: &Mat<f64>, q: &Householder, r: &Mat<f64>) {
        let (m, n) = k.shape();
        let tolerance = 10.0 * f64::EPSILON * m as f64;
        assert_eq!((q.rows(), q.rank()), (m, n));
        let mut rebuilt = Mat::zeros(m, n);
        rebuilt.as_mut().subrows_mut(0, n).copy_from(r);
        q.apply(rebuilt.as_mut());
        assert!(distance(&rebuilt, k) <= tolerance * k.norm_max());
        let q = explicit(q);
        assert!(distance(&product(&q.transpose().to_owned(), &q), &identity(m)) <= tolerance);
        assert!((0..n).all(|j| (j + 1..n).all(|i| r[(i, j)] == 0.0)));
    }

    #[test]
    fn solves_undo_products_with_r() {
        for n in [1, 15, 16, 17, 100, 430] {
            let k = random(n + 9, n, 5);
            let f = qr(k).unwrap();
            let (r, x) = (f.r(), random(n, 3, 6));
            let mut y = product(&r, &x);
            f.solve(y.as_mut());
            assert!(distance(&y, &x) < 1e-9, "{n}");
            let x = random(3, n, 7);
            let mut y = product(&x, &r);
            f.solve_right(y.as_mut());
            assert!(distance(&y, &x) < 1e-9, "{n}");
        }
    }

    #[test]
    fn sizes_of_the_method() {
        for (m, n) in [(285, 217), (289, 256), (437, 420), (64, 64), (33, 1)] {
            let k = random(m, n, 1);
            let f = qr(k.clone()).unwrap();
            check(&k, &f.q, &f.r());
        }
    }

    #[test]
    fn raw_tanh_features_leave_no_zero_on_the_diagonal() {
        let k = tanh_features(17, 256, 1.0, 2);
        let f = qr(k.clone()).unwrap();
        let r = f.r();
        assert!((0..256).all(|i| r[(i, i)] != 0.0 && r[(i, i)].is_finite()));
        check(&k, &f.q, &f.r());
    }

    #[test]
    fn one_column_has_its_norm_in_r() {
        let f = qr(Mat::from_fn(2, 1, |i, _| [3.0, 4.0][i])).unwrap();
        assert!((f.r()[(0, 0)] + 5.0).abs() < 1e-15);
        assert_eq!(qr(Mat::from_fn(1, 1, |_, _| -3.0)).unwrap().r()[(0, 0)], -3.0);
    }

    #[test]
    fn no_column_and_no_row() {
        let f = qr(Mat::zeros(3, 0)).unwrap();
        assert_eq!(explicit(&f.q), identity(3));
        assert_eq!(qr(Mat::zeros(0, 0)).unwrap().q.rows(), 0);
    }

    #[test]
    fn zero_columns_give_zeros_on_the_diagonal_only_there() {
        let mut k = random(40, 30, 3);
        k.col_mut(0).fill(0.0);
        k.col_mut(17).fill(0.0);
        let f = qr(k.clone()).unwrap();
        check(&k, &f.q, &f.r());
        let r = f.r();
        assert!((0..30).all(|j| (r[(j, j)] == 0.0) == [0, 17].contains(&j)));
    }

    #[test]
    fn extreme_and_mixed_scales() {
        let k = random(50, 36, 4);
        let scales: [fn(usize) -> f64; 4] =
            [|_| 1e300, |_| 1e-300, |j| 10.0_f64.powi(20 * (j as i32 % 27) - 260), |j| 10.0_f64.powi(-(j as i32))];
        for scale in scales {
            let scaled = Mat::from_fn(50, 36, |i, j| k[(i, j)] * scale(j));
            let f = qr(scaled).unwrap();
            let r = f.r();
            let unscaled = Mat::from_fn(36, 36, |i, j| r[(i, j)] / scale(j));
            check(&k, &f.q, &unscaled);
        }
    }

    #[test]
    fn what_is_not_finite_is_an_error() {
        for value in [f64::NAN, f64::INFINITY] {
            for (i, j) in (0..20).flat_map(|i| (0..18).map(move |j| (i, j))) {
                let mut k = random(20, 18, 5);
                k[(i, j)] = value;
                assert!(qr(k).is_err(), "{value} at {i}, {j}");
            }
        }
        assert!(qr(Mat::from_fn(9, 2, |_, _| f64::MAX)).is_err());
    }

    #[test]
    fn fewer_rows_than_columns_are_an_error() {
        assert!(qr(random(3, 4, 6)).is_err());
    }

    proptest! {
        #[test]
        fn any_size((m, n) in (1_usize..100).prop_flat_map(|m| (Just(m), 0..=m)), seed in 0_u64..1000) {
            let k = random(m, n, seed);
            let f = qr(k.clone()).unwrap();
            check(&k, &f.q, &f.r());
        }

        #[test]
        fn transpose_is_the_inverse_for_one_column_and_for_many(
            (m, n) in (1_usize..100).prop_flat_map(|m| (Just(m), 0..=m)), columns in 0_usize..20, seed in 0_u64..1000
        ) {
            let q = qr(random(m, n, seed)).unwrap().q;
            let x = random(m, columns, seed + 1);
            let mut y = x.clone();
            q.apply_transpose(y.as_mut());
            for j in 0..columns {
                let mut alone = x.as_ref().subcols(j, 1).to_owned();
                q.apply_transpose(alone.as_mut());
                prop_assert!(distance(&alone, &y.as_ref().subcols(j, 1).to_owned()) < 1e-13);
            }
            q.apply(y.as_mut());
            prop_assert!(distance(&y, &x) < 1e-13);
        }
    }
}
