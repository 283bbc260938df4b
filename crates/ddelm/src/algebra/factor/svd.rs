//! The singular value decomposition, cut off at the numerical rank.
//!
//! K = U S V'. With the r singular values above the cut, the columns of `lift` = V_r S_r^-1 turn the features into an
//! orthonormal basis on the collocation nodes, K lift = U_r, and the truncated pseudo-inverse is K+ = lift U_r'.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{ComputeSvdVectors, SvdError, svd, svd_scratch};
use faer::{Mat, MatRef, Par, Spec};

use super::{PivotedQr, failure, largest_entry, reciprocal_scale};
use crate::base::error::Result;

/// A singular value decomposition of rank r.
#[derive(Clone, Debug)]
pub struct TruncatedSvd {
    /// U_r: m x r, orthonormal columns.
    pub u: Mat<f64>,
    /// V_r S_r^-1: n x r, so that K lift = U_r.
    pub lift: Mat<f64>,
    /// All min(m, n) singular values, decreasing; the first r of them were kept.
    pub singular_values: Vec<f64>,
}

impl TruncatedSvd {
    /// The numerical rank, r.
    pub fn rank(&self) -> usize {
        self.lift.ncols()
    }
}

/// The singular value decomposition of any matrix, with the singular values above `cut` times the largest, at most
/// `max_rank` of them.
///
/// A zero matrix has rank zero. Extreme entries (1e300, 1e-300) are handled as long as the results can be represented.
/// Entries that are not finite are an error, and so is an iteration that does not converge.
pub fn truncated_svd(k: MatRef<f64>, cut: f64, max_rank: usize) -> Result<TruncatedSvd> {
    // The iteration compares squares with fixed tiny numbers: it needs entries of size one.
    let scale = reciprocal_scale(largest_entry(k)?);
    let (mut u, s, v) = thin_svd(&Mat::from_fn(k.nrows(), k.ncols(), |i, j| k[(i, j)] * scale))?;
    let threshold = (cut * s.first().copied().unwrap_or(0.0)).max(0.0);
    let rank = s.iter().take(max_rank).take_while(|&&value| value > threshold).count();
    u.truncate(k.nrows(), rank);
    let lift = Mat::from_fn(k.ncols(), rank, |i, j| v[(i, j)] / s[j] * scale);
    let singular_values: Vec<f64> = s.iter().map(|value| value / scale).collect();
    if largest_entry(lift.as_ref()).is_err() || singular_values.iter().any(|value| !value.is_finite()) {
        return Err(failure("the matrix has entries that are too large or too small"));
    }
    Ok(TruncatedSvd { u, lift, singular_values })
}

/// The singular value decomposition of what a pivoted QR factorization has not dropped, `Q_r [R, rest]`: of a matrix of
/// low rank that was factored beyond the cut, at next to no price.
pub fn truncated_svd_of_factors(factor: &PivotedQr, cut: f64) -> Result<TruncatedSvd> {
    let kept = factor.kept();
    let inner = truncated_svd(kept.as_ref(), cut, kept.nrows())?;
    let mut u = Mat::zeros(factor.q.rows(), inner.rank());
    u.as_mut().subrows_mut(0, kept.nrows()).copy_from(&inner.u);
    factor.q.apply(u.as_mut());
    let mut lift = Mat::zeros(kept.ncols(), inner.rank());
    for (i, &j) in factor.columns.iter().chain(&factor.dropped).enumerate() {
        lift.row_mut(j).copy_from(inner.lift.row(i));
    }
    Ok(TruncatedSvd { u, lift, singular_values: inner.singular_values })
}

/// U, the diagonal of S and V, with min(m, n) columns each.
fn thin_svd(k: &Mat<f64>) -> Result<(Mat<f64>, Vec<f64>, Mat<f64>)> {
    let (m, n) = k.shape();
    let size = m.min(n);
    let (mut u, mut s, mut v) = (Mat::zeros(m, size), Diag::zeros(size), Mat::zeros(n, size));
    let thin = ComputeSvdVectors::Thin;
    let mut buffer = MemBuffer::new(svd_scratch::<f64>(m, n, thin, thin, Par::Seq, Spec::default()));
    let stack = MemStack::new(&mut buffer);
    svd(k.as_ref(), s.as_mut(), Some(u.as_mut()), Some(v.as_mut()), Par::Seq, stack, Spec::default())
        .map_err(|SvdError::NoConvergence| failure("the singular value decomposition did not converge"))?;
    Ok((u, s.column_vector().iter().copied().collect(), v))
}

#[cfg(test)]
mod tests {
    use super::super::pivoted_qr_beyond;
    use super::super::samples::{distance, identity, product, random, tanh_features};
    use super::*;
    use proptest::prelude::*;

    fn transpose(a: &Mat<f64>) -> Mat<f64> {
        a.transpose().to_owned()
    }

    #[test]
    fn tanh_features_become_an_orthonormal_basis() {
        let k = tanh_features(17, 256, 1.0, 1);
        let cut = 1e-10;
        let f = truncated_svd(k.as_ref(), cut, usize::MAX).unwrap();
        assert!((60..200).contains(&f.rank()), "rank {}", f.rank());
        assert!(distance(&product(&transpose(&f.u), &f.u), &identity(f.rank())) < 1e-12);
        assert!(distance(&product(&k, &f.lift), &f.u) < 1e3 * f64::EPSILON / cut);
        assert!(f.singular_values.windows(2).all(|pair| pair[1] <= pair[0]));
        assert!(f.singular_values[f.rank() - 1] > cut * f.singular_values[0]);
        assert!(f.singular_values[f.rank()] <= cut * f.singular_values[0]);
    }

    #[test]
    fn few_independent_columns_have_the_singular_vectors_of_all() {
        let (k, cut) = (tanh_features(17, 400, 0.3, 1), 1e-13);
        let all = truncated_svd(k.as_ref(), cut, usize::MAX).unwrap();
        let factor = pivoted_qr_beyond(k.clone(), cut, 100, usize::MAX).unwrap();
        assert!(factor.rank() > all.rank() && factor.rank() < 100, "{} and {}", factor.rank(), all.rank());
        let found = truncated_svd_of_factors(&factor, cut).unwrap();
        assert_eq!(found.rank(), all.rank());
        for (a, b) in found.singular_values.iter().zip(&all.singular_values).take(all.rank()) {
            assert!((a - b).abs() <= 1e-3 * cut * all.singular_values[0] + 1e-12 * b, "{a} and {b}");
        }
        assert!(distance(&product(&k, &found.lift), &found.u) < 1e3 * f64::EPSILON / cut);
        let turned = product(&transpose(&all.u), &found.u);
        assert!(distance(&product(&transpose(&turned), &turned), &identity(all.rank())) < 1e-2);
    }

    #[test]
    fn diagonal_matrix_has_its_entries_as_singular_values() {
        let k = Mat::from_fn(5, 3, |i, j| if i == j { [2.0, -7.0, 0.5][j] } else { 0.0 });
        let f = truncated_svd(k.as_ref(), 0.1, usize::MAX).unwrap();
        for (value, expected) in f.singular_values.iter().zip([7.0, 2.0, 0.5]) {
            assert!((value - expected).abs() < 1e-14);
        }
        assert_eq!(f.rank(), 2);
    }

    #[test]
    fn scale_does_not_matter() {
        let k = random(30, 20, 2);
        let f = truncated_svd(k.as_ref(), 1e-14, usize::MAX).unwrap();
        for scale in [1e300, 1e-300] {
            let scaled = Mat::from_fn(30, 20, |i, j| k[(i, j)] * scale);
            let g = truncated_svd(scaled.as_ref(), 1e-14, usize::MAX).unwrap();
            for (a, b) in g.singular_values.iter().zip(&f.singular_values) {
                assert!((a / scale - b).abs() < 1e-12);
            }
            assert!(distance(&product(&scaled, &g.lift), &g.u) < 1e-11);
        }
    }

    #[test]
    fn rank_is_zero_for_zero_and_limited_on_demand() {
        assert_eq!(truncated_svd(Mat::zeros(4, 3).as_ref(), 0.0, usize::MAX).unwrap().rank(), 0);
        assert_eq!(truncated_svd(random(9, 6, 3).as_ref(), 0.0, 4).unwrap().rank(), 4);
        assert_eq!(truncated_svd(Mat::zeros(3, 0).as_ref(), 0.0, 4).unwrap().rank(), 0);
    }

    #[test]
    fn what_is_not_finite_is_an_error() {
        for value in [f64::NAN, f64::INFINITY] {
            let mut k = random(6, 4, 4);
            k[(5, 1)] = value;
            assert!(truncated_svd(k.as_ref(), 1e-14, usize::MAX).is_err());
        }
        assert!(truncated_svd(Mat::from_fn(1, 1, |_, _| 1e-320).as_ref(), 0.0, 1).is_err());
    }

    proptest! {
        #[test]
        fn any_shape_satisfies_the_penrose_identities(
            m in 1_usize..50, n in 1_usize..50, rank in 1_usize..50, seed in 0_u64..1000
        ) {
            let k = product(&random(m, rank, seed), &random(rank, n, seed + 1));
            let f = truncated_svd(k.as_ref(), 1e-11, usize::MAX).unwrap();
            let x = product(&f.lift, &transpose(&f.u));
            let (kx, xk) = (product(&k, &x), product(&x, &k));
            let condition = f.singular_values[0] / f.singular_values[f.rank() - 1];
            let tolerance = 1e3 * f64::EPSILON * condition;
            prop_assert!(distance(&product(&kx, &k), &k) <= tolerance * k.norm_max());
            prop_assert!(distance(&product(&xk, &x), &x) <= tolerance * x.norm_max());
            prop_assert!(distance(&kx, &transpose(&kx)) <= tolerance);
            prop_assert!(distance(&xk, &transpose(&xk)) <= tolerance);
        }
    }
}
