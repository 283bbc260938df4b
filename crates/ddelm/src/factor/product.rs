//! Products and triangular solves, on one thread, in place.
//!
//! Transposed operands are transposed views: `multiply(out, a.transpose(), b)` is A'B, at the same speed. All functions
//! panic if the shapes do not fit: that is a mistake in the program, never in its input.

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, ColMut, ColRef, MatMut, MatRef, Par};
use pulp::{Arch, Simd, WithSimd};

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
    // The transpose of a column-major matrix: products of `x` with columns, several in one pass over `x`.
    if a.row_stride() != 1 && a.col_stride() == 1 && std::env::var_os("FAER").is_none() {
        return multiply_transpose_vector(out, a.transpose(), x);
    }
    multiply(ColMut::from_slice_mut(out).as_mat_mut(), a, ColRef::from_slice(x).as_mat());
}

fn multiply_transpose_vector(out: &mut [f64], a: MatRef<f64>, x: &[f64]) {
    const W: usize = 8;
    assert!(out.len() == a.ncols() && x.len() == a.nrows());
    let column = |j| a.col(j).try_as_col_major().expect("column-major").as_slice();
    let mut start = 0;
    while start + W <= out.len() {
        let p = inner_products::<W>(x, std::array::from_fn(|k| column(start + k)));
        out[start..start + W].copy_from_slice(&p);
        start += W;
    }
    for j in start..out.len() {
        out[j] = inner_products::<1>(x, [column(j)])[0];
    }
}

/// The inner products of `x` with N vectors of the same length, in one pass.
pub(super) fn inner_products<const N: usize>(x: &[f64], columns: [&[f64]; N]) -> [f64; N] {
    struct Products<'a, const N: usize> {
        x: &'a [f64],
        columns: [&'a [f64]; N],
    }
    impl<const N: usize> WithSimd for Products<'_, N> {
        type Output = [f64; N];

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> [f64; N] {
            let (x, x_rest) = S::as_simd_f64s(self.x);
            let columns = self.columns.map(|column| S::as_simd_f64s(column));
            let bodies = columns.map(|(body, _)| &body[..x.len()]);
            let mut sums = [simd.splat_f64s(0.0); N];
            for i in 0..x.len() {
                for k in 0..N {
                    sums[k] = simd.mul_add_f64s(x[i], bodies[k][i], sums[k]);
                }
            }
            std::array::from_fn(|k| {
                let rest = x_rest.iter().zip(columns[k].1).map(|(x, c)| x * c);
                simd.reduce_sum_f64s(sums[k]) + rest.sum::<f64>()
            })
        }
    }
    Arch::new().dispatch(Products { x, columns })
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
