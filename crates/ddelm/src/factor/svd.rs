//! The singular value decomposition, cut off at the numerical rank.
//!
//! K = U S V'. With the r singular values above the cut, the columns of `lift` = V_r S_r^-1 turn the features into an
//! orthonormal basis on the collocation nodes, K lift = U_r, and the truncated pseudo-inverse is K+ = lift U_r'.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{Mat, MatRef, Par, Spec};

use super::{failure, largest_entry, reciprocal_scale};
use crate::Result;

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
/// Entries that are not finite are an error, and so is an iteration that does not converge. Extreme entries (1e300,
/// 1e-300) are handled. A zero matrix has rank zero.
pub fn truncated_svd(k: MatRef<f64>, cut: f64, max_rank: usize) -> Result<TruncatedSvd> {
    let (m, n) = k.shape();
    let size = m.min(n);
    // The iteration compares squares with fixed tiny numbers: it needs entries of size one.
    let scale = reciprocal_scale(largest_entry(k)?);
    let scaled = Mat::from_fn(m, n, |i, j| k[(i, j)] * scale);
    let (mut u, mut v, mut s) = (Mat::zeros(m, size), Mat::zeros(n, size), Diag::zeros(size));
    let params = Spec::default();
    let scratch = svd_scratch::<f64>(m, n, ComputeSvdVectors::Thin, ComputeSvdVectors::Thin, Par::Seq, params);
    let mut buffer = MemBuffer::try_new(scratch).map_err(|_| failure("no memory for the singular value decomposition"))?;
    let stack = MemStack::new(&mut buffer);
    svd(scaled.as_ref(), s.as_mut(), Some(u.as_mut()), Some(v.as_mut()), Par::Seq, stack, params)
        .map_err(|_| failure("the singular value decomposition did not converge"))?;

    let s: Vec<f64> = s.column_vector().iter().copied().collect();
    let threshold = cut * s.first().copied().unwrap_or(0.0);
    let rank = s.iter().take(max_rank).take_while(|&&value| value > threshold.max(0.0)).count();
    u.truncate(m, rank);
    let lift = Mat::from_fn(n, rank, |i, j| v[(i, j)] / s[j] * scale);
    Ok(TruncatedSvd { u, lift, singular_values: s.iter().map(|value| value / scale).collect() })
}
