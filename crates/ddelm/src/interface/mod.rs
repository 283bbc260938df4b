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

mod cholesky;
mod conjugate_gradients;
mod dissection;
mod edge;
mod elimination;
mod fronts;
mod memory;
mod portion;
mod refinement;
mod tiles;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use crate::error::Result;
use crate::exchange::Exchange;
use crate::factor::multiply_add;
use crate::local::{Local, LocalData, affine, product};
use edge::edge_blocks;

pub use cholesky::{NotPositive, SparseCholesky};
pub use conjugate_gradients::conjugate_gradients;
pub use dissection::nested_dissection;
pub use edge::EdgeSide;
pub use fronts::Symbolic;
pub use portion::{Over, Portion};
pub use refinement::refine;

/// A factored interface system.
pub trait DirectFactor: Send + Sync {
    /// Replaces every column by the solution of `S x = column`. On a parallel machine the entries of the rank's own
    /// unknowns are valid, before and after.
    fn solve(&self, rhs: MatMut<'_, f64>) -> Result<()>;

    /// Nonzeros of the factor.
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
        let jumps = &self.portion.numbering.jumps;
        let mut edges: BTreeMap<usize, Vec<EdgeSide<'_>>> = BTreeMap::new();
        for local in self.locals {
            for &edge in &local.edges {
                let side = EdgeSide::Here { local, jumps: jumps[edge]..jumps[edge + 1] };
                edges.entry(edge).or_default().push(side);
            }
        }
        let rows = |edge: usize| match edges.get(&edge)?.first()? {
            EdgeSide::Here { local, jumps } => Some(local.edge_rows(jumps.clone())),
            EdgeSide::There { .. } => None,
        };
        let answers = self.exchange.swap(&self.portion.edge_messages(rows), &mut || ());
        for (edge, side) in self.portion.edge_sides(&answers) {
            edges.entry(edge).or_default().push(side);
        }
        // An edge with one side here belongs to another rank.
        let edges = edges.into_values().filter(|sides| sides.len() == 2).collect();
        self.exchange.factor(&System { portion: self.portion, locals: self.locals, edges })
    }
}

/// Adds `D'` of the jumps to the contribution of a subdomain.
fn add_flux_gradient(local: &Local, mut gradient: Mat<f64>, jumps: MatRef<'_, f64>) -> Mat<f64> {
    let jumps = local.pick_jumps(jumps);
    multiply_add(gradient.as_mut(), 1.0, local.factor.d.transpose(), jumps.as_ref());
    gradient
}

/// The interface system as a sum of dense elements: T of every subdomain, and `D_e' D_e` of every edge.
///
/// On a parallel machine it has the elements of this rank: T of its subdomains, and `D_e' D_e` of the edges whose
/// first side is here. The system is the sum over the ranks.
pub struct System<'a> {
    /// What this rank holds of the interface.
    pub portion: &'a Portion,
    locals: &'a [Local],
    edges: Vec<Vec<EdgeSide<'a>>>,
}

impl System<'_> {
    /// The blocks of every element.
    pub fn elements(&self) -> Vec<Vec<usize>> {
        let locals = self.locals.iter().map(|local| local.blocks.clone());
        locals.chain(self.edges.iter().map(|sides| edge_blocks(sides))).collect()
    }

    /// Writes the lower triangle of element k into a matrix of zeros.
    pub fn element(&self, k: usize, mut out: MatMut<'_, f64>) {
        if let Some(local) = self.locals.get(k) {
            for (j, &b) in local.columns.iter().enumerate() {
                let t = local.factor.t.col_as_slice(b);
                for (i, &a) in local.columns.iter().enumerate().skip(j) {
                    out[(i, j)] = t[a];
                }
            }
            return;
        }
        let sides = &self.edges[k - self.locals.len()];
        let (mut starts, mut start) = (BTreeMap::new(), 0);
        for block in edge_blocks(sides) {
            starts.insert(block, start);
            start += self.portion.whole.block_size(block);
        }
        let mut d = Mat::zeros(sides.first().map_or(0, EdgeSide::jumps), out.ncols());
        for side in sides {
            let place = |block: &usize| {
                let start = starts.get(block).copied().unwrap_or_default();
                start..start + self.portion.whole.block_size(*block)
            };
            side.add_to(side.blocks().iter().flat_map(place), d.as_mut());
        }
        crate::factor::multiply(out, d.transpose(), d.as_ref());
    }

    /// Factors the system, which must be whole on this rank.
    pub fn cholesky(&self) -> Result<Box<dyn DirectFactor>> {
        let numbering = &self.portion.whole;
        let sizes: Vec<usize> = (0..numbering.block_points.len()).map(|b| numbering.block_size(b)).collect();
        let symbolic = Arc::new(Symbolic::new(&sizes, &numbering.block_points, &self.elements()));
        let attempt = |shift| SparseCholesky::factor(&symbolic, shift, |k, m| self.element(k, m));
        // Rounding can make a tiny pivot negative where S is nearly singular; refinement undoes the shift.
        let factor = attempt(0.0).or_else(|_| attempt(1e-14)).or_else(|_| attempt(1e-12))?;
        Ok(Box::new(factor))
    }
}

impl DirectFactor for SparseCholesky {
    fn solve(&self, rhs: MatMut<'_, f64>) -> Result<()> {
        SparseCholesky::solve(self, rhs);
        Ok(())
    }

    fn nonzeros(&self) -> usize {
        self.symbolic().nonzeros()
    }
}
