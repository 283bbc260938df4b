//! Iterates of Newton's method in the reference basis.
//!
//! The coefficients of the linearised problem are functions of it, at the very points where rows are made: nodes and points of
//! integration, the same in every subdomain. In coefficients y of the reference basis its derivatives there are a table
//! times y, and no network is evaluated.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use faer::Mat;

use crate::domain::decomposition::Decomposition;
use crate::domain::map::Point;
use crate::domain::shape::PerShape;
use crate::local::about::Iterate;
use crate::local::basis::ReferenceBasis;
use crate::local::local_factor::product;

/// Coefficients in the reference basis: where many subdomains are evaluated at the same reference points, tables of the basis
/// are far cheaper than networks.
#[derive(Clone)]
pub(crate) struct InBasis {
    /// Those of the solver whose rows it is put into: bases of the same functions whose tables have other sums of derivatives differ by
    /// rounding over the cut, and residuals by the tables of one are not what rows by those of another reduce.
    pub bases: PerShape<Arc<ReferenceBasis>>,
    /// Those of each subdomain.
    pub coefficients: Vec<Vec<f64>>,
}

impl InBasis {
    /// `self + factor other`.
    pub fn plus(&self, factor: f64, other: &InBasis) -> Self {
        let sum = |(a, b): (&Vec<f64>, &Vec<f64>)| a.iter().zip(b).map(|(a, b)| a + factor * b).collect();
        InBasis {
            bases: self.bases.clone(),
            coefficients: self.coefficients.iter().zip(&other.coefficients).map(sum).collect(),
        }
    }
}

/// Which derivatives of which basis at which points: the basis by its address, the points by their bits.
type Place = (usize, Vec<usize>, Vec<[u64; 2]>);

/// Tables of reference bases at the points where they were asked before. All iterates of one basis share them. The bases are kept, so that
/// no other takes the address of one.
#[derive(Default)]
pub(crate) struct TableCache(Mutex<HashMap<Place, Kept>>);

/// A basis and a table of it.
type Kept = (Arc<ReferenceBasis>, Arc<Mat<f64>>);

impl TableCache {
    fn table(&self, basis: &Arc<ReferenceBasis>, xi: &[Point], derivatives: &[usize]) -> Arc<Mat<f64>> {
        let address = Arc::as_ptr(basis) as usize;
        let place = (address, derivatives.to_vec(), xi.iter().map(|p| p.map(f64::to_bits)).collect());
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, table)) = known().get(&place) {
            return table.clone();
        }
        // Not under the lock: two threads may make the same table, with the same bits.
        let table = Arc::new(basis.derivatives_as_in_rows(xi, derivatives));
        known().entry(place).or_insert((basis.clone(), table)).1.clone()
    }
}

/// An iterate in the reference basis, with the tables to evaluate it.
pub(crate) struct Tabulated<'a> {
    pub decomposition: &'a Decomposition,
    pub known: &'a InBasis,
    pub tables: &'a TableCache,
}

impl Iterate for Tabulated<'_> {
    fn reference_derivatives(&self, s: usize, xi: &[Point], derivatives: &[usize]) -> Vec<Vec<f64>> {
        let shape = self.decomposition.subdomains[s].map.shape();
        let table = self.tables.table(self.known.bases.of(shape), xi, derivatives);
        let y = &self.known.coefficients[s];
        let column = Mat::from_fn(y.len(), 1, |i, _| y[i]);
        let found = product(table.as_ref().as_ref(), column.as_ref());
        found.col_as_slice(0).chunks_exact(xi.len().max(1)).map(<[f64]>::to_vec).collect()
    }
}
