//! The interface: the Schur complement system for the values `u_Gamma`.
//!
//! With the local problems eliminated, the stacked least-squares problem is
//!
//! ```text
//! min_u  sum_s |n_s + N_s u|^2  +  |sum_s (g_s + D_s u)|^2,
//! ```
//!
//! residuals of the subdomains and jumps of the fluxes across the edges. Its normal matrix
//! `S = sum_s N_s' N_s + D' D` is the paper's `B'(I - K K^+ + K^+' A' A K^+) B`.
//!
//! # References
//! Paper, section 3, eq. (3.5).

mod augmented;
mod cholesky;
mod congruence;
mod conjugate_gradients;
mod dissection;
mod elimination;
mod fronts;
mod memory;
mod portion;
mod refinement;
mod tiles;

use std::ops::Range;

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use crate::error::Result;
use crate::exchange::Exchange;
use crate::factor::multiply_add;
use crate::local::{Local, LocalData, affine, product};

pub use augmented::System;
pub use cholesky::{NotPositive, SignedCholesky};
pub use conjugate_gradients::conjugate_gradients;
pub use fronts::{Block, Element, Symbolic, elimination_order};
pub use portion::{Over, Portion};
pub use refinement::refine;

/// A factored interface system.
pub trait DirectFactor: Send + Sync {
    /// Replaces every column by the solution of `S x = column`. On a parallel machine the entries of the rank's own
    /// unknowns are valid, before and after.
    fn solve(&self, rhs: MatMut<'_, f64>) -> Result<()>;

    /// Numbers stored in the factor.
    fn nonzeros(&self) -> usize;
}

/// How the interface system was solved.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// Iterations of conjugate gradients, the largest over the right-hand sides; 0 for a direct solve.
    pub iterations: usize,
    /// Refinement steps after the first direct solve.
    pub refinements: usize,
    /// Size of the last correction relative to the solution, the largest over the right-hand sides.
    pub last_correction: f64,
    /// Relative residual of the Schur complement system at the end (conjugate gradients).
    pub relative_residual: f64,
    /// Whether the tolerance was reached.
    pub converged: bool,
}

/// The interface of a decomposition on this rank.
///
/// Vectors have the entries of the rank's [`Portion`]; where ranks share an entry, they have the same bits.
pub struct Interface<'a> {
    /// What this rank holds.
    pub portion: &'a Portion,
    /// The subdomains of this rank, in the order of the portion.
    pub locals: &'a [Local],
    /// The machine.
    pub exchange: &'a dyn Exchange,
}

impl Interface<'_> {
    /// The negative gradient of half the sum of squares at u, with residuals that are not squared: the right-hand
    /// side `r - S u` of the Schur complement system. `data` has y_F and n_F of every local problem.
    pub fn residual(&self, data: &[LocalData], u: MatRef<'_, f64>) -> Mat<f64> {
        let jumps = self.total(Over::Jumps, u.ncols(), |k, local| {
            let y = affine(&data[k].y, local.factor.y.as_ref(), local.pick(u).as_ref());
            product(local.factor.g.as_ref(), y.as_ref())
        });
        let mut out = self.total(Over::Unknowns, u.ncols(), |k, local| {
            let n = affine(&data[k].n, local.factor.n.as_ref(), local.pick(u).as_ref());
            let gradient = product(local.factor.n.transpose(), n.as_ref());
            add_flux_gradient(local, gradient, jumps.as_ref())
        });
        out *= faer::Scale(-1.0);
        out
    }

    /// `S p`.
    pub fn apply(&self, p: MatRef<'_, f64>) -> Mat<f64> {
        let jumps =
            self.total(Over::Jumps, p.ncols(), |_, local| product(local.factor.d.as_ref(), local.pick(p).as_ref()));
        self.total(Over::Unknowns, p.ncols(), |_, local| {
            let gradient = product(local.factor.t.as_ref(), local.pick(p).as_ref());
            add_flux_gradient(local, gradient, jumps.as_ref())
        })
    }

    /// Adds up what the subdomains contribute to a vector over the interface. Those at the border to other ranks come
    /// first: the others work while the messages travel.
    fn total(&self, over: Over, columns: usize, part: impl Fn(usize, &Local) -> Mat<f64> + Sync) -> Mat<f64> {
        let mut out = Mat::zeros(self.portion.len(over), columns);
        let add = |range: Range<usize>, out: &mut Mat<f64>| {
            let parts: Vec<Mat<f64>> = range.clone().into_par_iter().map(|k| part(k, &self.locals[k])).collect();
            for (local, part) in self.locals[range].iter().zip(&parts) {
                match over {
                    Over::Unknowns => local.add_unknowns(part.as_ref(), out.as_mut()),
                    Over::Jumps => local.add_jumps(part.as_ref(), out.as_mut()),
                }
            }
        };
        add(0..self.portion.border, &mut out);
        let messages = self.portion.messages(over, out.as_ref());
        let answers = self.exchange.swap(&messages, &mut || add(self.portion.border..self.locals.len(), &mut out));
        self.portion.combine(over, &answers, out.as_mut());
        out
    }

    /// Inner products of the columns, every unknown counted once.
    pub fn dot(&self, a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Vec<f64> {
        let mut sums: Vec<f64> = (0..a.ncols())
            .map(|k| {
                let range = |r: &Range<usize>| r.clone().map(|i| a[(i, k)] * b[(i, k)]).sum::<f64>();
                self.portion.owned().iter().map(range).sum()
            })
            .collect();
        self.exchange.sum(&mut sums);
        sums
    }

    /// Factors S.
    pub fn factor(&self) -> Result<Box<dyn DirectFactor>> {
        self.exchange.factor(&System { portion: self.portion, locals: self.locals })
    }
}

/// Adds `D'` of the jumps to the contribution of a subdomain.
fn add_flux_gradient(local: &Local, mut gradient: Mat<f64>, jumps: MatRef<'_, f64>) -> Mat<f64> {
    let jumps = local.pick_jumps(jumps);
    multiply_add(gradient.as_mut(), 1.0, local.factor.d.transpose(), jumps.as_ref());
    gradient
}
