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
mod fronts;
mod refinement;
mod tiles;

use std::collections::BTreeMap;
use std::sync::Arc;

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use crate::collocation::Numbering;
use crate::error::Result;
use crate::exchange::Exchange;
use crate::factor::multiply_add;
use crate::local::{Local, LocalData, affine, product};

pub use cholesky::SparseCholesky;
pub use conjugate_gradients::conjugate_gradients;
pub use dissection::nested_dissection;
pub use fronts::Symbolic;
pub use refinement::refine;

/// The rows of D at one edge, as one of its two subdomains has them.
#[derive(Debug, Clone)]
pub struct EdgeRows {
    /// The edge.
    pub edge: usize,
    /// The blocks of unknowns, in the order of the columns.
    pub blocks: Vec<usize>,
    /// Jumps of the edge x unknowns of those blocks.
    pub matrix: Mat<f64>,
}

/// A factored interface system.
pub trait DirectFactor: Send + Sync {
    /// Replaces every column by the solution of `S x = column`. On a parallel machine the entries of the rank's own
    /// unknowns are valid, before and after.
    fn solve(&self, rhs: MatMut<'_, f64>);

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
pub struct Interface<'a> {
    /// The numbers of unknowns and jumps.
    pub numbering: &'a Numbering,
    /// The subdomains of this rank.
    pub locals: &'a [Local],
    /// The machine.
    pub exchange: &'a dyn Exchange,
}

impl Interface<'_> {
    /// The negative gradient of half the sum of squares at u, with residuals that are not squared: the right-hand
    /// side `r - S u` of the Schur complement system. `data` has y_F and n_F of every local problem.
    pub fn residual(&self, data: &[LocalData], u: MatRef<'_, f64>) -> Mat<f64> {
        let columns = u.ncols();
        let parts: Vec<(Mat<f64>, Mat<f64>)> = self
            .locals
            .par_iter()
            .zip(data)
            .map(|(local, data)| {
                let (factor, values) = (&local.factor, local.pick(u));
                let y = affine(&data.y, factor.y.as_ref(), values.as_ref());
                let n = affine(&data.n, factor.n.as_ref(), values.as_ref());
                (product(factor.g.as_ref(), y.as_ref()), product(factor.n.transpose(), n.as_ref()))
            })
            .collect();
        let mut jumps = Mat::zeros(self.numbering.jump_count(), columns);
        for (local, (flux, _)) in self.locals.iter().zip(&parts) {
            local.add_jumps(flux.as_ref(), jumps.as_mut());
        }
        self.exchange.add_jumps(jumps.as_mut());
        let gradients = self.locals.par_iter().zip(parts).map(|(local, (_, mut gradient))| {
            let jumps = local.pick_jumps(jumps.as_ref());
            multiply_add(gradient.as_mut(), 1.0, local.factor.d.transpose(), jumps.as_ref());
            gradient
        });
        let mut out = self.sum(gradients.collect());
        out *= faer::Scale(-1.0);
        out
    }

    /// `S p`.
    pub fn apply(&self, p: MatRef<'_, f64>) -> Mat<f64> {
        let parts: Vec<(Mat<f64>, Mat<f64>)> = self
            .locals
            .par_iter()
            .map(|local| {
                let p = local.pick(p);
                (product(local.factor.d.as_ref(), p.as_ref()), product(local.factor.t.as_ref(), p.as_ref()))
            })
            .collect();
        let mut jumps = Mat::zeros(self.numbering.jump_count(), p.ncols());
        for (local, (flux, _)) in self.locals.iter().zip(&parts) {
            local.add_jumps(flux.as_ref(), jumps.as_mut());
        }
        self.exchange.add_jumps(jumps.as_mut());
        let products = self.locals.par_iter().zip(parts).map(|(local, (_, mut out))| {
            let jumps = local.pick_jumps(jumps.as_ref());
            multiply_add(out.as_mut(), 1.0, local.factor.d.transpose(), jumps.as_ref());
            out
        });
        self.sum(products.collect())
    }

    /// Adds up what the subdomains have for the interface.
    fn sum(&self, parts: Vec<Mat<f64>>) -> Mat<f64> {
        let columns = parts.first().map_or(0, Mat::ncols);
        let mut out = Mat::zeros(self.numbering.unknowns(), columns);
        for (local, part) in self.locals.iter().zip(&parts) {
            local.add_unknowns(part.as_ref(), out.as_mut());
        }
        self.exchange.add_unknowns(out.as_mut());
        out
    }

    /// Inner products of the columns, every unknown counted once.
    pub fn dot(&self, a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Vec<f64> {
        let mut sums: Vec<f64> = (0..a.ncols())
            .map(|k| {
                (0..a.nrows()).filter(|&i| self.exchange.owns_unknown(i)).map(|i| a[(i, k)] * b[(i, k)]).sum()
            })
            .collect();
        self.exchange.sum(&mut sums);
        sums
    }

    /// Factors S.
    pub fn factor(&self) -> Result<Box<dyn DirectFactor>> {
        let edge_rows = |local: &Local| {
            let rows = |&edge: &usize| EdgeRows {
                edge,
                blocks: local.blocks.clone(),
                matrix: local.edge_rows(self.numbering.jumps[edge]..self.numbering.jumps[edge + 1]),
            };
            local.edges.iter().map(rows).collect::<Vec<_>>()
        };
        let mut rows: Vec<EdgeRows> = self.locals.par_iter().flat_map_iter(edge_rows).collect();
        let received = self.exchange.edge_rows(rows.clone());
        rows.extend(received);
        let mut edges: BTreeMap<usize, Vec<EdgeRows>> = BTreeMap::new();
        rows.into_iter().for_each(|r| edges.entry(r.edge).or_default().push(r));
        // An edge with one side here belongs to another rank.
        let edges = edges.into_values().filter(|sides| sides.len() == 2).collect();
        self.exchange.factor(&System { numbering: self.numbering, locals: self.locals, edges })
    }
}

/// The interface system as a sum of dense elements: T of every subdomain, and `D_e' D_e` of every edge.
pub struct System<'a> {
    /// The numbers of unknowns and jumps.
    pub numbering: &'a Numbering,
    locals: &'a [Local],
    edges: Vec<Vec<EdgeRows>>,
}

impl System<'_> {
    /// The blocks of every element.
    pub fn elements(&self) -> Vec<Vec<usize>> {
        let locals = self.locals.iter().map(|local| local.blocks.clone());
        let edges = self.edges.iter().map(|sides| {
            let mut blocks = sides[0].blocks.clone();
            blocks.extend(sides[1].blocks.iter().filter(|b| !sides[0].blocks.contains(b)));
            blocks
        });
        locals.chain(edges).collect()
    }

    /// Writes the lower triangle of element k into a matrix of zeros.
    pub fn element(&self, k: usize, mut out: MatMut<'_, f64>) {
        if let Some(local) = self.locals.get(k) {
            for (j, &b) in local.columns.iter().enumerate() {
                for (i, &a) in local.columns.iter().enumerate().skip(j) {
                    out[(i, j)] = local.factor.t[(a, b)];
                }
            }
            return;
        }
        let [first, second] = &self.edges[k - self.locals.len()][..] else { return };
        let mut d = Mat::zeros(first.matrix.nrows(), out.ncols());
        d.as_mut().subcols_mut(0, first.matrix.ncols()).copy_from(&first.matrix);
        let (mut fresh, mut column) = (first.matrix.ncols(), 0);
        for &block in &second.blocks {
            let size = self.numbering.block_size(block);
            let place = match first.blocks.iter().position(|&b| b == block) {
                Some(k) => first.blocks[..k].iter().map(|&b| self.numbering.block_size(b)).sum(),
                None => {
                    fresh += size;
                    fresh - size
                }
            };
            let mut target = d.as_mut().subcols_mut(place, size);
            target += second.matrix.as_ref().subcols(column, size);
            column += size;
        }
        crate::factor::multiply(out, d.transpose(), d.as_ref());
    }

    /// Factors the system on this machine.
    pub fn cholesky(&self) -> Result<Box<dyn DirectFactor>> {
        let sizes: Vec<usize> = (0..self.numbering.block_points.len()).map(|b| self.numbering.block_size(b)).collect();
        let symbolic = Arc::new(Symbolic::new(&sizes, &self.numbering.block_points, &self.elements()));
        let attempt = |shift| SparseCholesky::factor(&symbolic, shift, |k, m| self.element(k, m));
        // Rounding can make a tiny pivot negative where S is nearly singular; refinement undoes the shift.
        let factor = attempt(0.0).or_else(|_| attempt(1e-14)).or_else(|_| attempt(1e-12))?;
        Ok(Box::new(factor))
    }
}

impl DirectFactor for SparseCholesky {
    fn solve(&self, rhs: MatMut<'_, f64>) {
        SparseCholesky::solve(self, rhs);
    }

    fn nonzeros(&self) -> usize {
        self.symbolic().nonzeros()
    }
}
