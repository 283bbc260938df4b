//! Solves with the transpose of a factored interface system, for gradients.
//!
//! A front `F = [P' L11 0; L21 I] [U11 U12; 0 U]` has the transpose
//!
//! ```text
//! F' = [U11' 0] [L11' P  L21']
//!      [U12' I] [  0      U' ]
//! ```
//!
//! so that the sweep up solves with `U11'` and hands `U12'` times that on, and the sweep down takes `L21'` times the values above
//! away and solves with `L11'`.

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_unit_upper_triangular_in_place};
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, Mat, MatMut, MatRef, Par};

use super::{Class, Factors, Lu, Vectors};
use crate::interface::tiles::permute_back;

impl Lu {
    /// Replaces every column of `rhs` by the solution of the transposed system for it.
    ///
    /// # Panics
    /// If `rhs` has not as many rows as there are unknowns.
    pub fn solve_transposed(&self, rhs: MatMut<'_, f64>) {
        self.sweeps(
            rhs,
            |class, x, below| self.forward_transposed(class, x, below),
            |class, x, above| self.backward_transposed(class, x, above),
        );
    }

    /// A step of x <- U^-T x.
    fn forward_transposed(&self, class: &Class, x: MatRef<'_, f64>, below: &Vectors) -> Mat<f64> {
        let mut v = self.with_children(class, x, below);
        let Factors { square, right, .. } = self.factors(class);
        let (mut inner, outer) = v.as_mut().split_at_row_mut(square.nrows());
        solve_lower_triangular_in_place(square.transpose(), inner.rb_mut(), Par::Seq);
        matmul(outer, Accum::Add, right.transpose(), inner.rb(), -1.0, Par::Seq);
        v
    }

    /// A step of x <- P' L^-T x.
    fn backward_transposed(&self, class: &Class, x: MatRef<'_, f64>, above: &Vectors) -> Mat<f64> {
        let mut v = self.with_parents(class, x, above);
        let Factors { square, lower, rows, .. } = self.factors(class);
        let (mut inner, outer) = v.as_mut().split_at_row_mut(rows.len());
        matmul(inner.rb_mut(), Accum::Add, lower.transpose(), outer.rb(), -1.0, Par::Seq);
        solve_unit_upper_triangular_in_place(square.transpose(), inner.rb_mut(), Par::Seq);
        permute_back(rows, inner);
        v
    }
}
