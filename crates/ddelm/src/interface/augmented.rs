//! The augmented interface system: the Schur complement system without the square of D.
//!
//! With the jumps `lambda = D u` as unknowns of their own, `(T + D' D) u = r` is
//!
//! ```text
//! [T   D'] [  u   ]   [r]
//! [D   -I] [lambda] = [0].
//! ```
//!
//! This matrix is a sum of elements `[T_s D_s'; D_s -I/2]`, one for each subdomain, for every edge has two sides. In S
//! an edge is coupled with all edges of its neighbours, and a separator takes three rows of edges; here it is coupled with
//! the other edges of its two subdomains, and a separator is one row of edges, each with its values and its jumps.
//! Eliminating these where two boxes meet is what the domain decomposition is made for: it joins their
//! Dirichlet-to-Neumann maps.

use std::collections::HashMap;
use std::sync::Arc;

use faer::{Mat, MatMut};

use super::cholesky::SignedCholesky;
use super::fronts::{Block, Element, Symbolic};
use super::{DirectFactor, Portion};
use crate::error::Result;
use crate::local::Local;

/// The augmented system as a sum of dense elements. On a parallel machine it has those of the subdomains of this rank;
/// the system is the sum over the ranks.
pub struct System<'a> {
    /// What this rank holds of the interface.
    pub portion: &'a Portion,
    /// The subdomains of this rank.
    pub locals: &'a [Local],
}

impl System<'_> {
    /// The blocks of the whole interface: edges with their values and jumps, cross points with their values.
    pub fn blocks(&self) -> Vec<Block> {
        (0..self.portion.whole.block_points.len()).map(|b| self.block(b)).collect()
    }

    fn block(&self, b: usize) -> Block {
        let numbering = &self.portion.whole;
        let multipliers = numbering.jumps.get(b + 1).map_or(0, |end| end - numbering.jumps[b]);
        Block { point: numbering.block_points[b], multipliers, values: numbering.block_size(b) }
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
        numbers.map(|&n| n as u64).chain(local.units.iter().map(|unit| unit.to_bits())).collect()
    }

    fn rows(&self, local: &Local) -> Rows {
        let mut next = 0;
        let mut rows = Rows { values: Vec::with_capacity(local.columns.len()), jumps: Vec::new() };
        for &b in &local.blocks {
            let Block { multipliers, values, .. } = self.block(b);
            rows.jumps.extend(next..next + multipliers);
            rows.values.extend(next + multipliers..next + multipliers + values);
            next += multipliers + values;
        }
        rows
    }

    /// Writes the lower triangle of element k into a matrix of zeros.
    pub fn element(&self, k: usize, mut out: MatMut<'_, f64>) {
        let local = &self.locals[k];
        let Rows { values, jumps } = self.rows(local);
        for (j, (&b, &column)) in local.columns.iter().zip(&values).enumerate() {
            let (t, d) = (local.factor.t.col_as_slice(b), local.factor.d.col_as_slice(b));
            for (&a, &row) in local.columns.iter().zip(&values).skip(j) {
                out[(row, column)] = t[a];
            }
            for ((&flux, &unit), &row) in local.fluxes.iter().zip(&local.units).zip(&jumps) {
                out[(row.max(column), row.min(column))] = unit * d[flux];
            }
        }
        // Each side of an edge has half of the unit matrix.
        jumps.iter().for_each(|&row| out[(row, row)] = -0.5);
    }

    /// The number in the augmented system of every interface value of the whole interface.
    pub fn places(&self) -> Vec<usize> {
        let mut places = Vec::with_capacity(self.portion.whole.unknowns());
        let mut next = 0;
        for block in self.blocks() {
            places.extend(next + block.multipliers..next + block.size());
            next += block.size();
        }
        places
    }

    /// Factors the system, which must be whole on this rank.
    pub fn cholesky(&self) -> Result<Box<dyn DirectFactor>> {
        let symbolic = Arc::new(Symbolic::new(&self.blocks(), &self.elements()));
        let attempt = |shift| SignedCholesky::factor(&symbolic, shift, |k, m| self.element(k, m));
        // Rounding can make a tiny pivot negative where S is nearly singular; refinement undoes the shift.
        let factor = attempt(0.0).or_else(|_| attempt(1e-14)).or_else(|_| attempt(1e-12))?;
        Ok(Box::new(AugmentedFactor { factor, places: self.places() }))
    }
}

/// The rows of an element: jumps over values in each of its blocks, one block after the other.
struct Rows {
    /// The row of every interface value of the subdomain.
    values: Vec<usize>,
    /// The row of every flux of the subdomain.
    jumps: Vec<usize>,
}

/// The augmented system, factored by one process.
struct AugmentedFactor {
    factor: SignedCholesky,
    /// The number of every interface value.
    places: Vec<usize>,
}

impl DirectFactor for AugmentedFactor {
    fn solve(&self, mut rhs: MatMut<'_, f64>) -> Result<()> {
        let mut x = Mat::zeros(self.factor.symbolic().unknowns(), rhs.ncols());
        for (i, &place) in self.places.iter().enumerate() {
            x.row_mut(place).copy_from(rhs.as_ref().row(i));
        }
        self.factor.solve(x.as_mut());
        for (i, &place) in self.places.iter().enumerate() {
            rhs.as_mut().row_mut(i).copy_from(x.row(place));
        }
        Ok(())
    }

    fn nonzeros(&self) -> usize {
        self.factor.symbolic().nonzeros()
    }
}
