//! Products and triangular solves, on one thread, in place.
//!
//! Transposed operands are transposed views: `multiply(out, a.transpose(), b)` is A'B, at the same speed. All functions
//! panic if the shapes do not fit: that is a mistake in the program, never in its input.

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, ColMut, ColRef, MatMut, MatRef, Par};

/// `out = a b`.
pub fn multiply(out: MatMut<f64>, a: MatRef<f64>, b: MatRef<f64>) {
    matmul(out, Accum::Replace, a, b, 1.0, Par::Seq);
}

/// `out += alpha a b`.
pub fn multiply_add(out: MatMut<f64>, alpha: f64, a: MatRef<f64>, b: MatRef<f64>) {
    matmul(out, Accum::Add, a, b, alpha, Par::Seq);
}

/// `out = a x` for one vector.
pub fn multiply_vector(out: &mut [f64], a: MatRef<f64>, x: &[f64]) {
    multiply(ColMut::from_slice_mut(out).as_mat_mut(), a, ColRef::from_slice(x).as_mat());
}

/// `out += alpha a x` for one vector.
pub fn multiply_add_vector(out: &mut [f64], alpha: f64, a: MatRef<f64>, x: &[f64]) {
    multiply_add(ColMut::from_slice_mut(out).as_mat_mut(), alpha, a, ColRef::from_slice(x).as_mat());
}

/// `x <- R^-1 x` for an upper triangular `r`. A zero on its diagonal gives values that are not finite.
pub fn solve_upper(r: MatRef<f64>, x: MatMut<f64>) {
    solve_upper_triangular_in_place(r, x, Par::Seq);
}

/// `x <- R^-T x` for an upper triangular `r`.
pub fn solve_upper_transpose(r: MatRef<f64>, x: MatMut<f64>) {
    solve_lower_triangular_in_place(r.transpose(), x, Par::Seq);
}

/// `x <- x R^-1` for an upper triangular `r`.
pub fn solve_upper_right(r: MatRef<f64>, x: MatMut<f64>) {
    solve_upper_transpose(r, x.transpose_mut());
}

#[cfg(test)]
mod tests {
    use super::super::samples::{distance, product, random};
    use super::*;
    use faer::Mat;

    /// A well-conditioned upper triangular matrix.
    fn upper(n: usize) -> Mat<f64> {
        let k = random(n, n, 1);
        Mat::from_fn(n, n, |i, j| if i < j { k[(i, j)] / n as f64 } else { f64::from(u8::from(i == j)) * 2.0 })
    }

    #[test]
    fn product_is_the_sum_over_the_inner_index() {
        let (a, b, c) = (random(7, 30, 2), random(30, 5, 3), random(7, 5, 4));
        let sum = |i, j| (0..30).map(|k| a[(i, k)] * b[(k, j)]).sum::<f64>();
        assert!(distance(&product(&a, &b), &Mat::from_fn(7, 5, sum)) < 1e-13);
        let mut out = c.clone();
        multiply_add(out.as_mut(), -2.0, a.as_ref(), b.as_ref());
        assert!(distance(&out, &Mat::from_fn(7, 5, |i, j| c[(i, j)] - 2.0 * sum(i, j))) < 1e-13);
    }

    #[test]
    fn vectors_are_matrices_of_one_column() {
        let (a, x) = (random(40, 30, 5), random(40, 1, 6));
        let expected = product(&a.transpose().to_owned(), &x);
        let mut out = vec![0.0; 30];
        multiply_vector(&mut out, a.transpose(), x.col_as_slice(0));
        multiply_add_vector(&mut out, 0.5, a.transpose(), x.col_as_slice(0));
        assert!((0..30).all(|i| (out[i] - 1.5 * expected[(i, 0)]).abs() < 1e-13));
    }

    #[test]
    fn solves_undo_products() {
        let r = upper(40);
        let x = random(40, 6, 7);
        let mut y = product(&r, &x);
        solve_upper(r.as_ref(), y.as_mut());
        assert!(distance(&y, &x) < 1e-12);
        let mut y = product(&r.transpose().to_owned(), &x);
        solve_upper_transpose(r.as_ref(), y.as_mut());
        assert!(distance(&y, &x) < 1e-12);
        let x = random(6, 40, 8);
        let mut y = product(&x, &r);
        solve_upper_right(r.as_ref(), y.as_mut());
        assert!(distance(&y, &x) < 1e-12);
    }
}
