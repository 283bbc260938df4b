//! The interface system as a sum of dense elements, one for each subdomain.
//!
//! The default method balances the fluxes: `D u = d` has as many jumps as interface values, and its elements are the
//! Dirichlet-to-Neumann maps D_s. It is square and not symmetric.
//!
//! Least squares, `(T + D' D) u = r` (the paper), would couple an edge with all edges of its neighbours. With the jumps
//! `lambda = D u` as unknowns of their own it is
//!
//! ```text
//! [T   D'] [  u   ]   [r]
//! [D   -I] [lambda] = [0],
//! ```
//!
//! a sum of elements `[T_s D_s'; D_s -I/2]`, for every edge has two sides: no squares, and an edge is coupled with the other
//! edges of its two subdomains only, as in the flux balance.

use std::collections::HashMap;
use std::sync::Arc;

use faer::{Mat, MatMut};

use super::front::{Block, Element};
use super::lu::Lu;
use super::portion::Portion;
use crate::base::error::{Error, Result};
use crate::base::progress::Progress;
use crate::local::local_factor::Local;
use crate::method::settings::Coupling;

/// A factored interface system.
pub trait DirectFactor: Send + Sync {
    /// Replaces every column by the solution for it as the right-hand side. On a parallel machine the entries of the rank's own
    /// unknowns are valid, before and after.
    fn solve(&self, rhs: MatMut<'_, f64>) -> Result<()>;

    /// [`DirectFactor::solve`] with the transpose of the system. Several ranks have none.
    fn solve_transposed(&self, rhs: MatMut<'_, f64>) -> Result<()> {
        let columns = format!("{} columns over several ranks", rhs.ncols());
        Err(Error::input("gradient", columns, "gradients are found by one process", "run it without mpirun"))
    }

    /// Numbers stored in the factor.
    fn nonzeros(&self) -> usize;
}

/// The interface system. On a parallel machine it has the elements of the subdomains of this rank; the system is the sum over
/// the ranks.
pub struct System<'a> {
    /// What this rank holds of the interface.
    pub portion: &'a Portion,
    /// The subdomains of this rank.
    pub locals: &'a [Local],
    /// What determines the interface values.
    pub coupling: Coupling,
    /// The subdomain that the first interface value is fixed in, where a constant is open.
    pub pinned: Option<usize>,
    /// Who may stop its factorization.
    pub progress: &'a dyn Progress,
}

impl System<'_> {
    /// The blocks of the whole interface: edges, and cross points where these have values.
    pub fn blocks(&self) -> Vec<Block> {
        let points = &self.portion.whole.block_points;
        points.iter().enumerate().map(|(b, &point)| Block { point, size: self.sizes(b).iter().sum() }).collect()
    }

    /// Numbers of jumps that are unknowns and of values in a block.
    fn sizes(&self, b: usize) -> [usize; 2] {
        let numbering = &self.portion.whole;
        let jumps = match self.coupling {
            Coupling::FluxBalance => 0,
            Coupling::LeastSquares => numbering.jumps.get(b + 1).map_or(0, |end| end - numbering.jumps[b]),
        };
        [jumps, numbering.block_size(b)]
    }

    /// The element of every subdomain.
    pub fn elements(&self) -> Vec<Element> {
        let mut kinds: HashMap<Vec<u64>, usize> = HashMap::new();
        let element = |local: &Local| {
            let next = kinds.len();
            Element { blocks: local.blocks.clone(), kind: *kinds.entry(self.description(local)).or_insert(next) }
        };
        self.locals.iter().map(element).collect()
    }

    /// All that an element depends on.
    fn description(&self, local: &Local) -> Vec<u64> {
        let Rows { values, jumps } = self.rows(local);
        let factor = [Arc::as_ptr(&local.factor).addr()];
        let numbers = factor.iter().chain(&local.columns).chain(&local.fluxes).chain(&values).chain(&jumps);
        let pinned = u64::from(self.pinned == Some(local.subdomain));
        numbers.map(|&n| n as u64).chain(local.units.iter().map(|unit| unit.to_bits())).chain([pinned]).collect()
    }

    fn rows(&self, local: &Local) -> Rows {
        let mut next = 0;
        let mut rows = Rows { values: Vec::with_capacity(local.columns.len()), jumps: Vec::new() };
        for &b in &local.blocks {
            let [jumps, values] = self.sizes(b);
            rows.jumps.extend(next..next + jumps);
            rows.values.extend(next + jumps..next + jumps + values);
            next += jumps + values;
        }
        if self.coupling == Coupling::FluxBalance {
            rows.jumps.clone_from(&rows.values);
        }
        rows
    }

    /// Writes element k into a matrix of zeros.
    pub fn element(&self, k: usize, mut out: MatMut<'_, f64>) {
        let local = &self.locals[k];
        let Rows { values, jumps } = self.rows(local);
        for (&b, &column) in local.columns.iter().zip(&values) {
            let d = local.factor.d.col_as_slice(b);
            for ((&flux, &unit), &row) in local.fluxes.iter().zip(&local.units).zip(&jumps) {
                out[(row, column)] = unit * d[flux];
            }
        }
        if self.pinned == Some(local.subdomain) {
            let first = local.unknowns.iter().position(|&unknown| unknown == 0);
            let row = values[first.expect("the pinned subdomain has the first interface value")];
            out[(row, row)] += local.factor.d.norm_max() * local.units.iter().fold(0.0, |a: f64, u| a.max(*u));
        }
        if self.coupling == Coupling::LeastSquares {
            for (&b, &column) in local.columns.iter().zip(&values) {
                let t = local.factor.t.col_as_slice(b);
                local.columns.iter().zip(&values).for_each(|(&a, &row)| out[(row, column)] = t[a]);
                jumps.iter().for_each(|&row| out[(column, row)] = out[(row, column)]);
            }
            // Each side of an edge has half of the unit matrix.
            jumps.iter().for_each(|&row| out[(row, row)] = -0.5);
        }
    }

    /// The number in the system of every interface value of the whole interface.
    pub fn places(&self) -> Vec<usize> {
        let mut places = Vec::with_capacity(self.portion.whole.unknowns());
        let mut next = 0;
        for b in 0..self.portion.whole.block_points.len() {
            let [jumps, values] = self.sizes(b);
            places.extend(next + jumps..next + jumps + values);
            next += jumps + values;
        }
        places
    }

    /// Factors the system, which must be whole on this rank.
    pub fn factor(&self) -> Result<Box<dyn DirectFactor>> {
        let symbolic = self.portion.symbolic(self.blocks(), self.elements());
        let factor = Lu::factor(&symbolic, |k, m| self.element(k, m), self.progress)?;
        Ok(Box::new(SystemFactor { factor, places: self.places() }))
    }
}

/// The rows of an element: jumps over values in each of its blocks, one block after the other. A flux balance has its jumps in
/// the rows of the values.
struct Rows {
    /// The row of every interface value of the subdomain.
    values: Vec<usize>,
    /// The row of every flux of the subdomain.
    jumps: Vec<usize>,
}

/// The system, factored by one process.
struct SystemFactor {
    factor: Lu,
    /// The number of every interface value.
    places: Vec<usize>,
}

impl SystemFactor {
    /// Solves with the unknowns at their places in the system.
    fn in_places(&self, mut rhs: MatMut<'_, f64>, solve: impl Fn(MatMut<'_, f64>)) {
        let mut x = Mat::zeros(self.factor.symbolic().unknowns(), rhs.ncols());
        for j in 0..rhs.ncols() {
            let (from, to) = (rhs.as_ref().col(j), x.col_as_slice_mut(j));
            self.places.iter().enumerate().for_each(|(i, &place)| to[place] = from[i]);
        }
        solve(x.as_mut());
        for j in 0..rhs.ncols() {
            let (from, mut to) = (x.col_as_slice(j), rhs.as_mut().col_mut(j));
            self.places.iter().enumerate().for_each(|(i, &place)| to[i] = from[place]);
        }
    }
}

impl DirectFactor for SystemFactor {
    fn solve(&self, rhs: MatMut<'_, f64>) -> Result<()> {
        self.in_places(rhs, |x| self.factor.solve(x));
        Ok(())
    }

    fn solve_transposed(&self, rhs: MatMut<'_, f64>) -> Result<()> {
        self.in_places(rhs, |x| self.factor.solve_transposed(x));
        Ok(())
    }

    fn nonzeros(&self) -> usize {
        self.factor.symbolic().nonzeros()
    }
}
