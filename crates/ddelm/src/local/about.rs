//! What a problem is linearised about: an iterate of Newton's method, a function on every subdomain that is asked for derivatives at
//! reference points.

use crate::domain::map::Point;

/// A function on every subdomain.
pub trait Iterate: Sync {
    /// Derivatives in reference coordinates at reference points of subdomain s: one array per entry of `derivatives`, which are
    /// indices into [`ORDERS`](crate::network::symbol::ORDERS).
    fn reference_derivatives(&self, s: usize, xi: &[Point], derivatives: &[usize]) -> Vec<Vec<f64>>;
}
