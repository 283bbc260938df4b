//! Tests of the pivoted factorization.

use super::super::samples::{distance, identity, product, random, selected, tanh_features};
use super::super::{solve_upper, truncated_svd};
use super::*;
use proptest::prelude::*;

/// K+ restricted to the columns taken: R^-1 Q_r'.
fn inverse(f: &PivotedQr) -> Mat<f64> {
    let mut x = identity(f.q.rows());
    f.q.apply_transpose(x.as_mut());
    x.truncate(f.rank(), f.q.rows());
    solve_upper(f.r.as_ref(), x.as_mut());
    x
}

/// The largest norm of a part of a column of `k` outside the span of Q_r.
fn largest_remainder(k: &Mat<f64>, f: &PivotedQr) -> f64 {
    let mut x = k.clone();
    f.q.apply_transpose(x.as_mut());
    let rest = x.as_ref().subrows(f.rank(), k.nrows() - f.rank());
    rest.col_iter().map(|column| column.norm_l2()).fold(0.0, f64::max)
}

/// `K[:, columns] = Q_r R`, and every pivot was the largest norm at its step.
fn check(k: &Mat<f64>, f: &PivotedQr) {
    check_pivots(k, f, 1.0 + 1e-6);
}

/// The same, with pivots that may miss the largest one by a factor.
fn check_pivots(k: &Mat<f64>, f: &PivotedQr, factor: f64) {
    let (m, rank) = (k.nrows(), f.rank());
    let size = f.pivots.first().copied().unwrap_or(0.0);
    let tolerance = 20.0 * f64::EPSILON * (m + rank) as f64 * size;
    let mut rebuilt = Mat::zeros(m, rank);
    rebuilt.as_mut().subrows_mut(0, rank).copy_from(&f.r);
    f.q.apply(rebuilt.as_mut());
    assert!(distance(&rebuilt, &selected(k, &f.columns)) <= tolerance);
    for i in 0..rank {
        assert_eq!(f.pivots[i], f.r[(i, i)].abs());
        for j in i..rank {
            let norm = f.r.as_ref().col(j).subrows(i, j + 1 - i).norm_l2();
            assert!(norm <= f.pivots[i] * factor + tolerance, "step {i} should have taken column {j}");
        }
    }
    assert!((largest_remainder(k, f) - f.next).abs() <= 1e-6 * f.next + tolerance);
    let mut x = selected(k, &f.dropped);
    f.q.apply_transpose(x.as_mut());
    assert!(distance(&x.get(..rank, ..).to_owned(), &f.rest) <= tolerance);
    let mut all: Vec<usize> = f.columns.iter().chain(&f.dropped).copied().collect();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..k.ncols()));
}

/// Matrices large enough for a sketch are cut at the same place as without one.
#[test]
fn many_independent_columns_are_cut_as_usual() {
    let (k, cut) = (tanh_features(17, 400, 3.0, 1), 1e-10);
    let [usual, beyond] = [0, 20].map(|few| pivoted_qr_beyond(k.clone(), cut, few, usize::MAX).unwrap());
    assert!(usual.rank() > 20);
    assert_eq!(usual.columns, beyond.columns);
}

#[test]
fn a_sketch_finds_the_numerical_rank() {
    let k = tanh_features(26, 640, 3.0, 1);
    for (cut, limit) in [(1e-14, usize::MAX), (1e-10, usize::MAX), (1e-14, 70)] {
        let f = pivoted_qr(k.clone(), cut, limit).unwrap();
        check_pivots(&k, &f, 3.0);
        let mut plain = Elimination::new(k.clone());
        plain.blocks(|_| cut, limit.min(640));
        assert!(f.rank().abs_diff(plain.rank()) <= plain.rank() / 50, "{} and {}", f.rank(), plain.rank());
        assert!(f.rank() == limit || f.next <= cut * f.pivots[0]);
    }
}

#[test]
fn a_sketch_takes_every_column_of_full_rank() {
    let k = random(500, 400, 7);
    let f = pivoted_qr(k.clone(), 1e-14, usize::MAX).unwrap();
    assert_eq!(f.rank(), 400);
    check_pivots(&k, &f, 3.0);
}

/// Fewer independent columns than a block, and a rank that ends within one.
#[test]
fn a_sketch_stops_at_exact_ranks() {
    for rank in [5, 32, 50] {
        let k = product(&random(450, rank, 8), &random(rank, 400, 9));
        let f = pivoted_qr(k.clone(), 1e-12, usize::MAX).unwrap();
        assert_eq!(f.rank(), rank);
        check_pivots(&k, &f, 3.0);
    }
    assert_eq!(pivoted_qr(Mat::zeros(450, 400), 1e-12, usize::MAX).unwrap().rank(), 0);
}

#[test]
fn tanh_features_are_cut_at_their_numerical_rank() {
    let k = tanh_features(17, 256, 1.0, 1);
    let f = pivoted_qr(k.clone(), 1e-12, usize::MAX).unwrap();
    check(&k, &f);
    assert!((80..200).contains(&f.rank()), "rank {}", f.rank());
    assert!(f.pivots.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-6)));
    assert!(f.pivots[f.rank() - 1] > 1e-12 * f.pivots[0]);
    assert!(f.next <= 1e-12 * f.pivots[0] && f.next > 0.0);
}

#[test]
fn truncated_inverse_satisfies_the_penrose_identities() {
    let cut = 1e-8;
    let k = tanh_features(17, 256, 1.0, 2);
    let f = pivoted_qr(k.clone(), cut, usize::MAX).unwrap();
    let (k, x) = (selected(&k, &f.columns), inverse(&f));
    // Rounding in X is magnified by the condition number, which is about 1 / cut.
    let tolerance = 1e3 * f64::EPSILON / cut;
    let (kx, xk) = (product(&k, &x), product(&x, &k));
    assert!(distance(&product(&kx, &k), &k) < tolerance);
    assert!(distance(&product(&xk, &x), &x) < tolerance * x.norm_max());
    assert!(distance(&kx, &kx.transpose().to_owned()) < tolerance);
    assert!(distance(&xk, &identity(f.rank())) < tolerance);
}

#[test]
fn residual_is_close_to_that_of_the_singular_value_decomposition() {
    let k = tanh_features(17, 256, 1.0, 3);
    let b = Mat::from_fn(289, 1, |i, _| (0.37 * (i % 17) as f64).sin() * (0.11 * (i / 17) as f64).exp());
    for cut in [1e-4, 1e-8, 1e-12] {
        let f = pivoted_qr(k.clone(), cut, usize::MAX).unwrap();
        let mut x = b.clone();
        f.q.apply_transpose(x.as_mut());
        let residual = x.as_ref().subrows(f.rank(), 289 - f.rank()).norm_l2();
        let svd = truncated_svd(k.as_ref(), cut, usize::MAX).unwrap();
        let projected = product(&svd.u, &product(&svd.u.transpose().to_owned(), &b));
        let best = (&b - &projected).norm_l2();
        assert!(residual < 20.0 * best && best < 20.0 * residual, "cut {cut}: {residual:e} and {best:e}");
    }
}

#[test]
fn product_of_thin_matrices_has_their_rank() {
    let k = product(&random(60, 7, 1), &random(7, 50, 2));
    let f = pivoted_qr(k.clone(), 1e-13, usize::MAX).unwrap();
    assert_eq!(f.rank(), 7);
    check(&k, &f);
}

#[test]
fn zero_matrix_has_rank_zero() {
    for cut in [0.0, 1e-14] {
        let f = pivoted_qr(Mat::zeros(5, 3), cut, usize::MAX).unwrap();
        assert_eq!((f.rank(), f.r.shape(), f.next), (0, (0, 0), 0.0));
        let mut x = random(5, 2, 3);
        f.q.apply(x.as_mut());
        assert_eq!(x, random(5, 2, 3));
    }
}

#[test]
fn zero_columns_are_never_taken() {
    let mut k = random(40, 30, 4);
    for j in [0, 7, 29] {
        k.col_mut(j).fill(0.0);
    }
    let f = pivoted_qr(k.clone(), 0.0, usize::MAX).unwrap();
    assert_eq!((f.rank(), f.next), (27, 0.0));
    assert!(f.columns.iter().all(|j| ![0, 7, 29].contains(j)));
    check(&k, &f);
}

#[test]
fn one_entry() {
    let f = pivoted_qr(Mat::from_fn(1, 1, |_, _| -3.0), 0.0, usize::MAX).unwrap();
    assert_eq!((f.r[(0, 0)], f.pivots[0], f.columns[0], f.next), (-3.0, 3.0, 0, 0.0));
}

#[test]
fn scale_does_not_matter() {
    let k = random(30, 20, 5);
    let f = pivoted_qr(k.clone(), 1e-14, usize::MAX).unwrap();
    for scale in [1e300, 1e-300] {
        let scaled = pivoted_qr(Mat::from_fn(30, 20, |i, j| k[(i, j)] * scale), 1e-14, usize::MAX).unwrap();
        assert_eq!(scaled.columns, f.columns);
        for (a, b) in scaled.pivots.iter().zip(&f.pivots) {
            assert!((a / scale - b).abs() < 1e-12);
        }
    }
}

#[test]
fn what_is_not_finite_is_an_error() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut k = random(6, 4, 6);
        k[(3, 2)] = value;
        assert!(pivoted_qr(k, 1e-14, usize::MAX).is_err());
    }
    assert!(pivoted_qr(Mat::from_fn(9, 2, |_, _| f64::MAX), 1e-14, usize::MAX).is_err());
}

proptest! {
    #[test]
    fn any_shape_and_rank(
        m in 1_usize..90, n in 1_usize..90, max_rank in 0_usize..100, decay in 0.0..1.0_f64, seed in 0_u64..1000
    ) {
        let mut k = random(m, n, seed);
        k.col_iter_mut().enumerate().for_each(|(j, column)| {
            let size = (-decay * j as f64).exp();
            column.iter_mut().for_each(|x| *x *= size);
        });
        let f = pivoted_qr(k.clone(), 1e-10, max_rank).unwrap();
        prop_assert!(f.rank() <= m.min(n).min(max_rank));
        check(&k, &f);
    }
}
