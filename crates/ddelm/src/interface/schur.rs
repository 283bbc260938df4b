//! The interface as an operator: jumps of the fluxes, residuals and products, added up over subdomains and ranks.

use std::ops::Range;

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::exchange::Exchange;
use super::portion::{Over, Portion};
use super::system::{DirectFactor, System};
use crate::algebra::factor::multiply_add;
use crate::base::error::Result;
use crate::base::progress::Progress;
use crate::local::local_factor::{Local, LocalData, affine, product};
use crate::method::settings::Coupling;

/// How the interface system was solved.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// Iterations of conjugate gradients, the largest over the right-hand sides; 0 for a direct solve.
    pub iterations: usize,
    /// Refinement steps after the first direct solve.
    pub refinements: usize,
    /// Size of the last correction relative to the solution, the largest over the right-hand sides.
    pub last_correction: f64,
    /// What one direct solve leaves of an error, as far as the first refinement tells; 0 where there was none.
    pub contraction: f64,
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
    /// What determines the interface values.
    pub coupling: Coupling,
    /// The subdomain that the first interface value is fixed in, where a constant is open.
    pub pinned: Option<usize>,
}

impl Interface<'_> {
    /// What is left of the right-hand side at u, `d - D u` or `r - S u`, from jumps and residuals that are not squared. `data`
    /// are those of every local problem.
    pub fn residual(&self, data: &[LocalData], u: MatRef<'_, f64>) -> Mat<f64> {
        let jumps = self.total(Over::Jumps, u.ncols(), |k, local| {
            affine(&data[k].flux, local.factor.d.as_ref(), local.pick(u).as_ref())
        });
        let mut out = match self.coupling {
            Coupling::FluxBalance => jumps,
            Coupling::LeastSquares => self.total(Over::Unknowns, u.ncols(), |k, local| {
                let n = affine(&data[k].n, local.factor.n.as_ref(), local.pick(u).as_ref());
                let gradient = product(local.factor.n.transpose(), n.as_ref());
                add_flux_gradient(local, gradient, jumps.as_ref())
            }),
        };
        out *= faer::Scale(-1.0);
        out
    }

    /// The same at zero.
    pub fn residual_at_zero(&self, data: &[LocalData], columns: usize) -> Mat<f64> {
        match self.coupling {
            Coupling::FluxBalance => {
                let mut out = self.total(Over::Jumps, columns, |k, _| data[k].flux.clone());
                out *= faer::Scale(-1.0);
                out
            }
            Coupling::LeastSquares => {
                self.residual(data, Mat::zeros(self.portion.len(Over::Unknowns), columns).as_ref())
            }
        }
    }

    /// `D u`: the jumps of the fluxes that interface values cause.
    pub fn jumps(&self, u: MatRef<'_, f64>) -> Mat<f64> {
        self.total(Over::Jumps, u.ncols(), |_, local| product(local.factor.d.as_ref(), local.pick(u).as_ref()))
    }

    /// `S p`.
    pub fn apply(&self, p: MatRef<'_, f64>) -> Mat<f64> {
        let jumps = self.jumps(p);
        self.total(Over::Unknowns, p.ncols(), |_, local| {
            let gradient = product(local.factor.t.as_ref(), local.pick(p).as_ref());
            add_flux_gradient(local, gradient, jumps.as_ref())
        })
    }

    /// `D' m` of jumps m, a vector over the interface values.
    pub fn apply_transposed(&self, m: MatRef<'_, f64>) -> Mat<f64> {
        self.total(Over::Unknowns, m.ncols(), |_, local| {
            product(local.factor.d.transpose(), local.pick_jumps(m).as_ref())
        })
    }

    /// `sum_s Y_s' g_s`: what the coefficients g_s of the subdomains give for the interface values.
    pub fn pull_back(&self, g: &[Mat<f64>]) -> Mat<f64> {
        self.total(Over::Unknowns, g.first().map_or(1, |g| g.ncols()), |k, local| {
            product(local.factor.y.transpose(), g[k].as_ref())
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
                let (a, b) = (a.col(k), b.col(k));
                let range = |r: &Range<usize>| r.clone().map(|i| a[i] * b[i]).sum::<f64>();
                self.portion.owned().iter().map(range).sum()
            })
            .collect();
        self.exchange.sum(&mut sums);
        sums
    }

    /// Factors the system, unless it is told to stop.
    pub fn factor(&self, progress: &dyn Progress) -> Result<Box<dyn DirectFactor>> {
        let Interface { portion, locals, coupling, pinned, .. } = *self;
        self.exchange.factor(&System { portion, locals, coupling, pinned, progress })
    }
}

/// Adds `D'` of the jumps to the contribution of a subdomain.
fn add_flux_gradient(local: &Local, mut gradient: Mat<f64>, jumps: MatRef<'_, f64>) -> Mat<f64> {
    let jumps = local.pick_jumps(jumps);
    multiply_add(gradient.as_mut(), 1.0, local.factor.d.transpose(), jumps.as_ref());
    gradient
}
