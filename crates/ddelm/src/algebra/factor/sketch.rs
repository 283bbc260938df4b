//! A sketch of a matrix, to choose many pivot columns at once.
//!
//! B = G A with a random G of few rows has columns nearly as long as those of A, up to a common factor, and so have the
//! parts of them outside a span. Pivoted QR of the small B chooses a whole block of columns of A; what is left of A is
//! then updated by products of matrices alone, where pivoting on A itself reads all of A for every column.
//!
//! With A P = Q [R_1 R_2; 0 A_2] and [B_1 B_2] = B P the sketch of A_2 is B_2 - B_1 R_1^-1 R_2. That is exact up to
//! rounding relative to B, so the sketch is made afresh when A_2 has become much smaller.
//!
//! G comes from a fixed seed: the factors of a matrix are always the same.
//!
//! # References
//!
//! Duersch and Gu, Randomized QR with column pivoting, SIAM J. Sci. Comput. 39 (2017).

use faer::{Mat, MatRef};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::panel::as_slice;
use super::{multiply, multiply_add, solve_upper_right};

/// Rows of the sketch beyond the columns chosen at once.
const SPARE: usize = 8;

/// How far the pivots may fall before rounding in the sketch counts.
const FADING: f64 = 1e-4;

/// The sketch of what is left of a matrix.
pub(super) struct Sketch {
    g: Mat<f64>,
    b: Mat<f64>,
    /// The first pivot after the sketch was made.
    fresh: f64,
}

impl Sketch {
    /// A sketch of `a` that serves for blocks of `block` columns.
    pub(super) fn new(a: MatRef<'_, f64>, block: usize) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(0);
        let mut uniform = || (generator.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        let g = Mat::from_fn(block + SPARE, a.nrows(), |_, _| uniform());
        let mut sketch = Sketch { b: Mat::zeros(g.nrows(), a.ncols()), g, fresh: 0.0 };
        sketch.renew(a, 0);
        sketch
    }

    /// The sketch of the columns that are left after `done` steps.
    pub(super) fn columns(&self, done: usize) -> Mat<f64> {
        self.b.as_ref().subcols(done, self.b.ncols() - done).to_owned()
    }

    /// Follows an exchange of two columns.
    pub(super) fn swap(&mut self, i: usize, j: usize) {
        if i != j {
            let (a, b) = self.b.as_mut().two_cols_mut(i, j);
            as_slice(a).swap_with_slice(as_slice(b));
        }
    }

    /// Follows a block of steps: `r` is R_1, and the rows above `done` of `a` hold R_2. `last` is the last pivot.
    pub(super) fn update(&mut self, a: MatRef<'_, f64>, r: MatRef<'_, f64>, done: usize, first: f64, last: f64) {
        if self.fresh == 0.0 {
            self.fresh = first;
        }
        if last < FADING * self.fresh {
            return self.renew(a, done);
        }
        let (block, left) = (r.ncols(), a.ncols() - done);
        let (head, tail) = self.b.as_mut().split_at_col_mut(done);
        let mut weights = head.subcols_mut(done - block, block);
        solve_upper_right(r, weights.as_mut());
        multiply_add(tail, -1.0, weights.as_ref(), a.submatrix(done - block, done, block, left));
    }

    /// Sketches what is left of `a` after `done` steps.
    fn renew(&mut self, a: MatRef<'_, f64>, done: usize) {
        let (m, n) = a.shape();
        let g = self.g.as_ref().subcols(done, m - done);
        multiply(self.b.as_mut().subcols_mut(done, n - done), g, a.submatrix(done, done, m - done, n - done));
        self.fresh = 0.0;
    }
}
