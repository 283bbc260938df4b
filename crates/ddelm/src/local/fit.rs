//! Functions in the reference basis by their values at the nodes: a least-squares fit, with one factorization for each shape.
//!
//! It carries a function from one basis to another, and brings initial values into a basis. What it leaves of a smooth function is
//! what the basis leaves of it.

use faer::Mat;
use rayon::prelude::*;
use std::sync::Arc;

use crate::algebra::factor::{Qr, qr};
use crate::base::error::Result;
use crate::base::parallel::in_order;
use crate::domain::collocation::Collocations;
use crate::domain::decomposition::Decomposition;
use crate::domain::map::Point;
use crate::domain::shape::{PerShape, Shape};
use crate::local::basis::ReferenceBasis;
use crate::local::iterate::InBasis;
use crate::local::local_factor::product;

/// The nodes of a shape, and the basis there.
struct AtNodes {
    points: Vec<Point>,
    factor: Qr,
}

/// What turns values into coefficients.
pub(crate) struct Fit {
    bases: PerShape<Arc<ReferenceBasis>>,
    shapes: PerShape<AtNodes>,
}

impl Fit {
    /// At interior and perimeter nodes.
    pub fn new(bases: PerShape<Arc<ReferenceBasis>>, collocations: &Collocations) -> Result<Self> {
        let kinds: Vec<Shape> = bases.iter().map(|(shape, _)| shape).collect();
        let shapes = PerShape::new(&kinds, |shape| {
            let collocation = collocations.of(shape);
            let around = collocation.perimeter.iter().map(|node| node.xi);
            let points: Vec<Point> = collocation.interior.iter().copied().chain(around).collect();
            let factor = qr(bases.of(shape).derivatives(&points, &[0]))?;
            Ok::<_, crate::base::error::Error>(AtNodes { points, factor })
        })?;
        Ok(Fit { bases, shapes })
    }

    /// The function whose values at reference points of subdomain s `values` gives.
    pub fn function(
        &self,
        decomposition: &Decomposition,
        values: impl Fn(usize, &[Point]) -> Result<Vec<f64>> + Sync,
    ) -> Result<InBasis> {
        let of = |s: usize| -> Result<Vec<f64>> {
            let AtNodes { points, factor } = self.shapes.of(decomposition.subdomains[s].map.shape());
            let values = values(s, points)?;
            let mut column = Mat::from_fn(values.len(), 1, |i, _| values[i]);
            factor.q.apply_transpose(column.as_mut());
            let mut y = column.subrows(0, factor.q.rank()).to_owned();
            factor.solve(y.as_mut());
            Ok(y.col_as_slice(0).to_vec())
        };
        let coefficients = in_order((0..decomposition.len()).into_par_iter().map(of))?;
        Ok(InBasis { bases: self.bases.clone(), coefficients })
    }

    /// A function that is known in another basis on the same subdomains.
    pub fn carried_over(&self, decomposition: &Decomposition, other: &InBasis) -> Result<InBasis> {
        let kinds: Vec<Shape> = self.bases.iter().map(|(shape, _)| shape).collect();
        let tables = PerShape::new(&kinds, |shape| {
            Ok::<_, crate::base::error::Error>(other.bases.of(shape).derivatives(&self.shapes.of(shape).points, &[0]))
        })?;
        self.function(decomposition, |s, _| {
            let y = &other.coefficients[s];
            let column = Mat::from_fn(y.len(), 1, |i, _| y[i]);
            let table = tables.of(decomposition.subdomains[s].map.shape());
            Ok(product(table.as_ref(), column.as_ref()).col_as_slice(0).to_vec())
        })
    }
}
