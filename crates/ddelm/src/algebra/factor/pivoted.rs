//! QR with column pivoting, stopped at the numerical rank.
//!
//! Step i takes the remaining column with the largest norm |R_ii| outside the span of the columns taken before. The
//! factorization stops where that norm is rounding noise, which leaves K P = Q_r [R, *] + dropped: of n features, the r
//! that are not redundant.
//!
//! Within a block of columns the rest of the matrix is not updated at once. A step needs only its pivot column and its
//! pivot row in their current state, which A - V F' gives with F = A'V T gathered column by column; the product V F' is
//! subtracted once per block. Norms are not recomputed at each step but reduced by the entry that moves into R, until
//! cancellation has eaten half the digits of one; then the block ends and they are computed afresh.
//!
//! Half the work is then A'v, one product with a vector per step, at the speed of the memory. A large matrix has its
//! first blocks of columns chosen from a [`Sketch`] instead, which costs some percent, and the columns of a block are
//! pivoted among themselves. Pivots are then decreasing only up to a small factor; near the cut every step counts, and
//! pivots on the matrix itself.
//!
//! # References
//!
//! Quintana-Orti, Sun and Bischof, A BLAS-3 version of the QR factorization with column pivoting, SIAM J. Sci. Comput.
//! 19 (1998); Drmac and Bujanovic, On the failure of rank-revealing QR factorization software, ACM Trans. Math. Softw.
//! 35 (2008), for the reduction of the norms.

use faer::{Mat, Scale};
use pulp::Arch;

use super::householder::block_size;
use super::panel::{Reflection, as_slice};
use super::sketch::Sketch;
use super::{
    Householder, failure, largest_entry, multiply_add, multiply_add_vector, multiply_vector, reciprocal_scale,
};
use crate::base::error::Result;

/// The number of steps between two updates of the rest of the matrix.
const BLOCK: usize = 32;

/// The least number of columns that are left for a block chosen from a sketch to be worth it.
const SKETCHED: usize = 300;

/// Pivots this close to the cut are found on the matrix itself.
const CLOSE: f64 = 4.0;

/// How far beyond the cut a matrix of low rank is factored.
const BEYOND: f64 = 1.0 / 16.0;

/// A QR factorization with column pivoting of rank r: `K[:, columns] = Q_r R`.
#[derive(Clone, Debug)]
pub struct PivotedQr {
    /// Q = [Q_r, Q_perp].
    pub q: Householder,
    /// R: r x r, upper triangular, zeros written out.
    pub r: Mat<f64>,
    /// The columns of K that were taken, in the order in which they were taken.
    pub columns: Vec<usize>,
    /// The columns of K that were dropped.
    pub dropped: Vec<usize>,
    /// What the span of Q_r holds of the dropped columns: r x (n - r), `K[:, dropped] = Q_r rest` up to the cut.
    pub rest: Mat<f64>,
    /// |R_ii|, decreasing: up to rounding, or up to a small factor where there are hundreds of columns.
    pub pivots: Vec<f64>,
    /// The pivot that the next step would have had: the largest norm of what was dropped of a column, or zero.
    pub next: f64,
}

impl PivotedQr {
    /// The numerical rank, r.
    pub fn rank(&self) -> usize {
        self.columns.len()
    }

    /// What was not dropped of all columns, those taken first: `[R, rest]`.
    pub fn kept(&self) -> Mat<f64> {
        let rank = self.rank();
        Mat::from_fn(rank, rank + self.dropped.len(), |i, j| match j.checked_sub(rank) {
            None => self.r[(i, j)],
            Some(j) => self.rest[(i, j)],
        })
    }
}

/// The pivoted QR factorization of any matrix: stops before the first pivot that is at most `cut` times the largest,
/// and after `max_rank` columns.
///
/// A cut of zero (or less) stops only where nothing at all is left. A zero matrix has rank zero. Extreme entries
/// (1e300, 1e-300) are handled; entries that are not finite, or an R that overflows, are an error.
pub fn pivoted_qr(k: Mat<f64>, cut: f64, max_rank: usize) -> Result<PivotedQr> {
    pivoted_qr_beyond(k, cut, 0, max_rank)
}

/// As [`pivoted_qr`], but a matrix with fewer than `few` pivots above the cut is factored beyond it, to at most `few`
/// columns: far enough to find its singular vectors down to the cut, see
/// [`truncated_svd_of_factors`](super::truncated_svd_of_factors).
pub fn pivoted_qr_beyond(mut k: Mat<f64>, cut: f64, few: usize, max_rank: usize) -> Result<PivotedQr> {
    let limit = k.nrows().min(k.ncols()).min(max_rank);
    let scale = reciprocal_scale(largest_entry(k.as_ref())?);
    if scale != 1.0 {
        k.col_iter_mut().for_each(|column| column.iter_mut().for_each(|x| *x *= scale));
    }
    let mut elimination = Elimination::new(k);
    elimination.sketched_blocks(cut, limit);
    elimination.blocks(|rank| if rank < few { BEYOND * cut } else { cut }, limit);
    let factors = elimination.finish(scale.recip());
    // The first pivot is the largest of all entries of R.
    if factors.pivots.first().is_some_and(|pivot| pivot.is_infinite()) {
        return Err(failure("the matrix has entries that are too large"));
    }
    Ok(factors)
}

/// The matrix on its way to the factors.
///
/// With i steps done and the current block begun at step s, the true state of the columns from i on is A - V F' below
/// row i, where V is the columns s..i of `a`. The rows above hold R.
struct Elimination {
    /// V, with its ones written out, in the columns done; R above it; the rest of the matrix.
    a: Mat<f64>,
    /// F of the current block, by column of `a`: n x BLOCK.
    f: Mat<f64>,
    /// Which column of K each column of `a` is.
    order: Vec<usize>,
    /// The norm of each column below the rows done.
    norms: Vec<f64>,
    /// The norm of each column when it was last computed from its entries.
    computed: Vec<f64>,
    /// The factors of the reflections.
    tau: Vec<f64>,
    /// The diagonal of R.
    diagonal: Vec<f64>,
    /// The last row of R.
    row: Vec<f64>,
}

impl Elimination {
    fn new(a: Mat<f64>) -> Self {
        let n = a.ncols();
        let mut elimination = Elimination {
            f: Mat::zeros(n, BLOCK),
            order: (0..n).collect(),
            norms: vec![0.0; n],
            computed: vec![0.0; n],
            tau: Vec::new(),
            diagonal: Vec::new(),
            row: vec![0.0; n],
            a,
        };
        elimination.compute_norms();
        elimination
    }

    /// The number of steps done.
    fn rank(&self) -> usize {
        self.tau.len()
    }

    /// All steps up to the numerical rank or to the limit; the cut may depend on the number of steps done.
    fn blocks(&mut self, cut: impl Fn(usize) -> f64, limit: usize) {
        while self.rank() < limit && self.block(&cut, limit) {}
    }

    /// Blocks of steps whose pivots a sketch chooses, while they are well above the cut.
    fn sketched_blocks(&mut self, cut: f64, limit: usize) {
        let enough = |rank: usize, n: usize| rank + BLOCK <= limit && n - rank >= SKETCHED;
        if !enough(0, self.a.ncols()) {
            return;
        }
        let least = CLOSE * cut * self.largest().1;
        let mut sketch = Sketch::new(self.a.as_ref(), BLOCK);
        while enough(self.rank(), self.a.ncols()) && self.sketched_block(&mut sketch, least) {}
        self.compute_norms();
    }

    /// One block of steps whose pivots a sketch chooses; false, and nothing done, if one of them is not above `least`.
    fn sketched_block(&mut self, sketch: &mut Sketch, least: f64) -> bool {
        let ((m, n), start) = (self.a.shape(), self.rank());
        let mut choice = Elimination::new(sketch.columns(start));
        choice.blocks(|_| 0.0, BLOCK);
        let chosen = &choice.order[..choice.rank()];
        let mut panel =
            Elimination::new(Mat::from_fn(m - start, chosen.len(), |i, j| self.a[(start + i, start + chosen[j])]));
        panel.blocks(|_| 0.0, BLOCK);
        if panel.rank() < BLOCK || panel.diagonal.iter().any(|beta| beta.abs() <= least) {
            return false;
        }
        let mut places: Vec<usize> = panel.order.iter().map(|&k| start + chosen[k]).collect();
        for k in 0..BLOCK {
            let (next, pivot) = (start + k, places[k]);
            self.swap(pivot, next);
            sketch.swap(pivot, next);
            places[k..].iter_mut().filter(|place| **place == next).for_each(|place| *place = pivot);
        }

        let mut r = Mat::zeros(BLOCK, BLOCK);
        let mut v = panel.a;
        self.a.as_mut().submatrix_mut(start, start, m - start, BLOCK).copy_from(&v);
        for j in 0..BLOCK {
            for i in 0..j {
                r[(i, j)] = v[(i, j)];
                v[(i, j)] = 0.0;
            }
            r[(j, j)] = panel.diagonal[j];
        }
        let done = start + BLOCK;
        let rest = self.a.as_mut().submatrix_mut(start, done, m - start, n - done);
        Householder::from_reflections(v, &panel.tau, BLOCK).apply_transpose(rest);
        let [first, last] = [0, BLOCK - 1].map(|k| panel.diagonal[k].abs());
        self.tau.append(&mut panel.tau);
        self.diagonal.append(&mut panel.diagonal);
        sketch.update(self.a.as_ref(), r.as_ref(), done, first, last);
        true
    }

    /// One block of steps and the update of the rest; false if the numerical rank was reached.
    fn block(&mut self, cut: impl Fn(usize) -> f64, limit: usize) -> bool {
        let start = self.rank();
        let mut stale = false;
        while self.rank() < limit.min(start + BLOCK) && !stale {
            let (pivot, norm) = self.largest();
            let first = self.diagonal.first().map_or(0.0, |beta| beta.abs());
            if norm == 0.0 || norm <= cut(self.rank()) * first {
                return false;
            }
            let next = self.rank();
            for k in 0..next - start {
                let kept = self.f[(pivot, k)];
                self.f[(pivot, k)] = self.f[(next, k)];
                self.f[(next, k)] = kept;
            }
            self.swap(pivot, next);
            self.reflect(start);
            self.complete_row(start);
            stale = self.reduce_norms();
        }
        self.update(start);
        if stale {
            self.compute_norms();
        }
        true
    }

    /// The largest norm among the columns that remain, and whose it is; the first of equals.
    fn largest(&self) -> (usize, f64) {
        let rank = self.rank();
        let mut best = (rank, 0.0);
        for (j, &norm) in self.norms.iter().enumerate().skip(rank) {
            if norm > best.1 {
                best = (j, norm);
            }
        }
        best
    }

    /// Exchanges two columns and what is known of them.
    fn swap(&mut self, i: usize, j: usize) {
        if i == j {
            return;
        }
        let (a, b) = self.a.as_mut().two_cols_mut(i, j);
        as_slice(a).swap_with_slice(as_slice(b));
        self.order.swap(i, j);
        self.norms.swap(i, j);
        self.computed.swap(i, j);
    }

    /// Reflects the next column and gathers its column of F = (A'v - F V'v) tau.
    fn reflect(&mut self, start: usize) {
        let (m, i) = (self.a.nrows(), self.rank());
        let width = i - start;
        let (left, right) = self.a.as_mut().subrows_mut(i, m - i).split_at_col_mut(i);
        let vectors = left.as_ref().subcols(start, width);
        let (mut pivot, rest) = right.split_at_col_mut(1);
        let (done, mut open) = self.f.as_mut().split_at_col_mut(width);

        let factors: [f64; BLOCK] = std::array::from_fn(|k| if k < width { done[(i, k)] } else { 0.0 });
        multiply_add_vector(as_slice(pivot.as_mut().col_mut(0)), -1.0, vectors, &factors[..width]);

        let norm = pivot.as_ref().col(0).subrows(1, m - i - 1).norm_l2();
        let column = as_slice(pivot.col_mut(0));
        let Reflection { beta, tau, inverse } = Reflection::new(column[0], norm);
        column[1..].iter_mut().for_each(|x| *x *= inverse);
        column[0] = 1.0;

        let f = &mut as_slice(open.as_mut().col_mut(0))[i + 1..];
        let mut products = [0.0; BLOCK];
        multiply_vector(&mut products[..width], vectors.transpose(), column);
        multiply_vector(f, rest.transpose(), column);
        multiply_add_vector(f, -1.0, done.as_ref().subrows(i + 1, f.len()), &products[..width]);
        f.iter_mut().for_each(|x| *x *= tau);

        self.tau.push(tau);
        self.diagonal.push(beta);
    }

    /// Brings the row of R that belongs to the last step up to date, in place and in `row`.
    fn complete_row(&mut self, start: usize) {
        let (n, rank) = (self.a.ncols(), self.rank());
        let (last, width) = (rank - 1, rank - start);
        let factors: [f64; BLOCK] = std::array::from_fn(|k| if k < width { self.a[(last, start + k)] } else { 0.0 });
        let f = self.f.as_ref().submatrix(rank, 0, n - rank, width);
        multiply_vector(&mut self.row[rank..], f, &factors[..width]);
        for j in rank..n {
            self.row[j] = self.a[(last, j)] - self.row[j];
            self.a[(last, j)] = self.row[j];
        }
    }

    /// Takes the last row of R out of the norms; true if one of them has lost half its digits.
    fn reduce_norms(&mut self) -> bool {
        let limit = f64::EPSILON.sqrt();
        let rank = self.rank();
        let (row, computed, norms) = (&self.row[rank..], &self.computed[rank..], &mut self.norms[rank..]);
        Arch::new().dispatch(|| {
            let mut stale = false;
            for ((entry, computed), norm) in row.iter().zip(computed).zip(norms) {
                // A norm that was computed as zero gives 0 / 0 twice: it stays zero and does not count as stale.
                let part = entry.abs() / *norm;
                let left = (1.0 + part) * (1.0 - part);
                let left = if left > 0.0 { left } else { 0.0 };
                let ratio = *norm / computed;
                stale |= left * (ratio * ratio) <= limit;
                *norm *= left.sqrt();
            }
            stale
        })
    }

    /// Computes the norms of the remaining columns from their entries.
    ///
    /// All of them, even if only one is stale: they tend to go stale one after the other, each would end its block, and
    /// a block of one step costs more than all the norms.
    fn compute_norms(&mut self) {
        let (m, rank) = (self.a.nrows(), self.rank());
        for j in rank..self.a.ncols() {
            self.norms[j] = self.a.as_ref().col(j).subrows(rank, m - rank).norm_l2();
        }
        self.computed.copy_from_slice(&self.norms);
    }

    /// Subtracts V F' of the block from the rest of the matrix.
    fn update(&mut self, start: usize) {
        let ((m, n), rank) = (self.a.shape(), self.rank());
        let width = rank - start;
        let (left, right) = self.a.as_mut().subrows_mut(rank, m - rank).split_at_col_mut(rank);
        let f = self.f.as_ref().submatrix(rank, 0, n - rank, width);
        multiply_add(right, -1.0, left.as_ref().subcols(start, width), f.transpose());
    }

    /// The factors, with R multiplied by `scale`.
    fn finish(mut self, scale: f64) -> PivotedQr {
        let rank = self.rank();
        let next = if rank < self.a.nrows() { self.largest().1 * scale } else { 0.0 };
        let mut r = Mat::zeros(rank, rank);
        let rest = self.a.as_ref().submatrix(0, rank, rank, self.a.ncols() - rank) * Scale(scale);
        let mut v = leading_columns(self.a, rank);
        for j in 0..rank {
            for i in 0..j {
                r[(i, j)] = v[(i, j)] * scale;
                v[(i, j)] = 0.0;
            }
            r[(j, j)] = self.diagonal[j] * scale;
        }
        let dropped = self.order.split_off(rank);
        let pivots = self.diagonal.iter().map(|beta| beta.abs() * scale).collect();
        let q = Householder::from_reflections(v, &self.tau, block_size(rank));
        PivotedQr { q, r, columns: self.order, dropped, rest, pivots, next }
    }
}

/// The first columns of `a`: in place, or in less memory where that frees a quarter or more of it.
fn leading_columns(mut a: Mat<f64>, columns: usize) -> Mat<f64> {
    if 4 * columns < 3 * a.ncols() {
        return a.as_ref().subcols(0, columns).to_owned();
    }
    a.truncate(a.nrows(), columns);
    a
}

#[cfg(test)]
#[path = "pivoted_tests.rs"]
mod tests;
