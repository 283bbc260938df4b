//! The Householder QR of a few columns: the innermost step of the blocked factorization.
//!
//! A reflection H = I - tau v v' with v = (1; w) maps a column (alpha; a) to (beta; 0), where
//! beta = -sign(alpha) |(alpha; a)|, tau = (beta - alpha) / beta and w = a / (alpha - beta). The product of N of them
//! is the block reflection I - V T V' with V unit lower trapezoidal (m x N) and T upper triangular (N x N).
//!
//! One pass over the panel per column yields its inner products with all the others: the norm that beta needs, the
//! products with the columns to its right, which H is applied to, and with those to its left, which T is made of. The
//! panel is small enough to stay in the first-level cache.

use std::ops::RangeInclusive;

use faer::{ColMut, MatMut};
use pulp::{Arch, Simd, WithSimd};

use super::reciprocal_scale;

/// Squared norms between which a column is used as it is. Outside, products with other columns might underflow or
/// overflow, and the column is scaled by a power of two first: H does not depend on it.
const SAFE_SQUARES: RangeInclusive<f64> = 1e-60..=1e60;

/// Factors the N columns of `v`, which has at least N rows. On return `v` is V with its ones and zeros written out, `r`
/// holds R and `t` holds T. The lower triangles of `r` and `t` are left alone.
pub(super) fn factor<const N: usize>(mut v: MatMut<f64>, mut r: MatMut<f64>, mut t: MatMut<f64>) {
    let mut columns = v.as_mut().col_iter_mut();
    let mut v: [&mut [f64]; N] = std::array::from_fn(|_| as_slice(columns.next().expect("N columns")));
    for j in 0..N {
        let mut products = tail_products(&v, j);
        let mut scale = 1.0;
        if !SAFE_SQUARES.contains(&products[j]) {
            scale = rescale(&mut v[j][j..]);
            products = tail_products(&v, j);
        }
        let Reflection { beta, tau, inverse } = Reflection::new(v[j][j], products[j].sqrt());
        r[(j, j)] = beta / scale;
        let mut steps = [0.0; N];
        for k in j + 1..N {
            // H x = x - tau v (v'x), where v'x consists of the head of x and the product of the tails.
            let step = tau * (v[k][j] + inverse * products[k]);
            r[(j, k)] = v[k][j] - step;
            steps[k] = -inverse * step;
        }
        finish_column(&mut v, j, inverse, &steps);
        // The new column of T is -tau T (V'v).
        for i in 0..j {
            products[i] = v[i][j] + inverse * products[i];
        }
        for i in 0..j {
            t[(i, j)] = -tau * (i..j).map(|k| t[(i, k)] * products[k]).sum::<f64>();
        }
        t[(j, j)] = tau;
    }
}

/// The numbers of one reflection.
pub(super) struct Reflection {
    /// What the first entry of the column becomes; the others vanish.
    pub beta: f64,
    /// H = I - tau v v'.
    pub tau: f64,
    /// The tail of v is the tail of the column times this.
    pub inverse: f64,
}

impl Reflection {
    /// The reflection for a column with first entry `alpha` and a tail of norm `norm`; H = I if that is zero.
    pub(super) fn new(alpha: f64, norm: f64) -> Self {
        if norm == 0.0 {
            return Reflection { beta: alpha, tau: 0.0, inverse: 0.0 };
        }
        let beta = -alpha.hypot(norm).copysign(alpha);
        Reflection { beta, tau: (beta - alpha) / beta, inverse: (alpha - beta).recip() }
    }
}

/// The column as a slice; a panel is a part of a column-major matrix.
pub(super) fn as_slice(column: ColMut<'_, f64>) -> &mut [f64] {
    column.try_as_col_major_mut().expect("matrices are column-major").as_slice_mut()
}

/// Scales a column to entries of size one and returns the power of two that did it.
fn rescale(column: &mut [f64]) -> f64 {
    let largest = column.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    let scale = reciprocal_scale(largest);
    column.iter_mut().for_each(|x| *x *= scale);
    scale
}

/// The inner products of column `j` with all columns, over the rows below row `j`.
fn tail_products<const N: usize>(columns: &[&mut [f64]; N], j: usize) -> [f64; N] {
    let tails = columns.each_ref().map(|column| &column[j + 1..]);
    inner_products(tails[j], tails)
}

/// The inner products of `x` with N vectors of the same length, in one pass.
fn inner_products<const N: usize>(x: &[f64], columns: [&[f64]; N]) -> [f64; N] {
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
                    sums[k] = simd.mul_add_e_f64s(x[i], bodies[k][i], sums[k]);
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

/// Adds `steps[k]` times the tail of column `j` to every column k on its right, then makes column `j` the vector v.
fn finish_column<const N: usize>(columns: &mut [&mut [f64]; N], j: usize, inverse: f64, steps: &[f64; N]) {
    Arch::new().dispatch(|| {
        let (left, right) = columns.split_at_mut(j + 1);
        let (head, tail) = left[j][j..].split_first_mut().expect("at least as many rows as columns");
        for (column, step) in right.iter_mut().zip(&steps[j + 1..]) {
            column[j] = 0.0;
            for (x, p) in column[j + 1..].iter_mut().zip(tail.iter()) {
                *x += step * p;
            }
        }
        *head = 1.0;
        tail.iter_mut().for_each(|x| *x *= inverse);
    });
}
