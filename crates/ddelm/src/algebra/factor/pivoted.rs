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
mod tests {
    use super::super::samples::{distance, identity, product, random, selected, tanh_features};
    use super::super::{solve_upper, truncated_svd};
    use super::*;
    use proptest::prelude::*;

    /// K+ restricted to the columns taken: R^-1 Q_r'.
    fn inverse(f: &PivotedQr) -> Mat<f64> {
        let mut x = identity(f.q.rows());
        f.q.apply_transpose(x.as_mut());
        x.truncate(f.rank(), f.q.rows());
        solve_upper(f.r.as_ref(), x.as_mut());
        x
    }

    /// The largest norm of a part of a column of `k` outside the span of Q_r.
    fn largest_remainder(k: &Mat<f64>, f: &PivotedQr) -> f64 {
        let mut x = k.clone();
        f.q.apply_transpose(x.as_mut());
        let rest = x.as_ref().subrows(f.rank(), k.nrows() - f.rank());
        rest.col_iter().map(|column| column.norm_l2()).fold(0.0, f64::max)
    }

    /// `K[:, columns] = Q_r R`, and every pivot was the largest norm at its step.
    fn check(k: &Mat<f64>, f: &PivotedQr) {
        check_pivots(k, f, 1.0 + 1e-6);
    }

    /// The same, with pivots that may miss the largest one by a factor.
    fn check_pivots(k: &Mat<f64>, f: &PivotedQr, factor: f64) {
        let (m, rank) = (k.nrows(), f.rank());
        let size = f.pivots.first().copied().unwrap_or(0.0);
        let tolerance = 20.0 * f64::EPSILON * (m + rank) as f64 * size;
        let mut rebuilt = Mat::zeros(m, rank);
        rebuilt.as_mut().subrows_mut(0, rank).copy_from(&f.r);
        f.q.apply(rebuilt.as_mut());
        assert!(distance(&rebuilt, &selected(k, &f.columns)) <= tolerance);
        for i in 0..rank {
            assert_eq!(f.pivots[i], f.r[(i, i)].abs());
            for j in i..rank {
                let norm = f.r.as_ref().col(j).subrows(i, j + 1 - i).norm_l2();
                assert!(norm <= f.pivots[i] * factor + tolerance, "step {i} should have taken column {j}");
            }
        }
        assert!((largest_remainder(k, f) - f.next).abs() <= 1e-6 * f.next + tolerance);
        let mut x = selected(k, &f.dropped);
        f.q.apply_transpose(x.as_mut());
        assert!(distance(&x.get(..rank, ..).to_owned(), &f.rest) <= tolerance);
        let mut all: Vec<usize> = f.columns.iter().chain(&f.dropped).copied().collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..k.ncols()));
    }

    /// Matrices large enough for a sketch are cut at the same place as without one.
    #[test]
    fn many_independent_columns_are_cut_as_usual() {
        let (k, cut) = (tanh_features(17, 400, 3.0, 1), 1e-10);
        let [usual, beyond] = [0, 20].map(|few| pivoted_qr_beyond(k.clone(), cut, few, usize::MAX).unwrap());
        assert!(usual.rank() > 20);
        assert_eq!(usual.columns, beyond.columns);
    }

    #[test]
    fn a_sketch_finds_the_numerical_rank() {
        let k = tanh_features(26, 640, 3.0, 1);
        for (cut, limit) in [(1e-14, usize::MAX), (1e-10, usize::MAX), (1e-14, 70)] {
            let f = pivoted_qr(k.clone(), cut, limit).unwrap();
            check_pivots(&k, &f, 3.0);
            let mut plain = Elimination::new(k.clone());
            plain.blocks(|_| cut, limit.min(640));
            assert!(f.rank().abs_diff(plain.rank()) <= plain.rank() / 50, "{} and {}", f.rank(), plain.rank());
            assert!(f.rank() == limit || f.next <= cut * f.pivots[0]);
        }
    }

    #[test]
    fn a_sketch_takes_every_column_of_full_rank() {
        let k = random(500, 400, 7);
        let f = pivoted_qr(k.clone(), 1e-14, usize::MAX).unwrap();
        assert_eq!(f.rank(), 400);
        check_pivots(&k, &f, 3.0);
    }

    /// Fewer independent columns than a block, and a rank that ends within one.
    #[test]
    fn a_sketch_stops_at_exact_ranks() {
        for rank in [5, 32, 50] {
            let k = product(&random(450, rank, 8), &random(rank, 400, 9));
            let f = pivoted_qr(k.clone(), 1e-12, usize::MAX).unwrap();
            assert_eq!(f.rank(), rank);
            check_pivots(&k, &f, 3.0);
        }
        assert_eq!(pivoted_qr(Mat::zeros(450, 400), 1e-12, usize::MAX).unwrap().rank(), 0);
    }

    #[test]
    fn tanh_features_are_cut_at_their_numerical_rank() {
        let k = tanh_features(17, 256, 1.0, 1);
        let f = pivoted_qr(k.clone(), 1e-12, usize::MAX).unwrap();
        check(&k, &f);
        assert!((80..200).contains(&f.rank()), "rank {}", f.rank());
        assert!(f.pivots.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-6)));
        assert!(f.pivots[f.rank() - 1] > 1e-12 * f.pivots[0]);
        assert!(f.next <= 1e-12 * f.pivots[0] && f.next > 0.0);
    }

    #[test]
    fn truncated_inverse_satisfies_the_penrose_identities() {
        let cut = 1e-8;
        let k = tanh_features(17, 256, 1.0, 2);
        let f = pivoted_qr(k.clone(), cut, usize::MAX).unwrap();
        let (k, x) = (selected(&k, &f.columns), inverse(&f));
        // Rounding in X is magnified by the condition number, which is about 1 / cut.
        let tolerance = 1e3 * f64::EPSILON / cut;
        let (kx, xk) = (product(&k, &x), product(&x, &k));
        assert!(distance(&product(&kx, &k), &k) < tolerance);
        assert!(distance(&product(&xk, &x), &x) < tolerance * x.norm_max());
        assert!(distance(&kx, &kx.transpose().to_owned()) < tolerance);
        assert!(distance(&xk, &identity(f.rank())) < tolerance);
    }

    #[test]
    fn residual_is_close_to_that_of_the_singular_value_decomposition() {
        let k = tanh_features(17, 256, 1.0, 3);
        let b = Mat::from_fn(289, 1, |i, _| (0.37 * (i % 17) as f64).sin() * (0.11 * (i / 17) as f64).exp());
        for cut in [1e-4, 1e-8, 1e-12] {
            let f = pivoted_qr(k.clone(), cut, usize::MAX).unwrap();
            let mut x = b.clone();
            f.q.apply_transpose(x.as_mut());
            let residual = x.as_ref().subrows(f.rank(), 289 - f.rank()).norm_l2();
            let svd = truncated_svd(k.as_ref(), cut, usize::MAX).unwrap();
            let projected = product(&svd.u, &product(&svd.u.transpose().to_owned(), &b));
            let best = (&b - &projected).norm_l2();
            assert!(residual < 20.0 * best && best < 20.0 * residual, "cut {cut}: {residual:e} and {best:e}");
        }
    }

    #[test]
    fn product_of_thin_matrices_has_their_rank() {
        let k = product(&random(60, 7, 1), &random(7, 50, 2));
        let f = pivoted_qr(k.clone(), 1e-13, usize::MAX).unwrap();
        assert_eq!(f.rank(), 7);
        check(&k, &f);
    }

    #[test]
    fn zero_matrix_has_rank_zero() {
        for cut in [0.0, 1e-14] {
            let f = pivoted_qr(Mat::zeros(5, 3), cut, usize::MAX).unwrap();
            assert_eq!((f.rank(), f.r.shape(), f.next), (0, (0, 0), 0.0));
            let mut x = random(5, 2, 3);
            f.q.apply(x.as_mut());
            assert_eq!(x, random(5, 2, 3));
        }
    }

    #[test]
    fn zero_columns_are_never_taken() {
        let mut k = random(40, 30, 4);
        for j in [0, 7, 29] {
            k.col_mut(j).fill(0.0);
        }
        let f = pivoted_qr(k.clone(), 0.0, usize::MAX).unwrap();
        assert_eq!((f.rank(), f.next), (27, 0.0));
        assert!(f.columns.iter().all(|j| ![0, 7, 29].contains(j)));
        check(&k, &f);
    }

    #[test]
    fn one_entry() {
        let f = pivoted_qr(Mat::from_fn(1, 1, |_, _| -3.0), 0.0, usize::MAX).unwrap();
        assert_eq!((f.r[(0, 0)], f.pivots[0], f.columns[0], f.next), (-3.0, 3.0, 0, 0.0));
    }

    #[test]
    fn scale_does_not_matter() {
        let k = random(30, 20, 5);
        let f = pivoted_qr(k.clone(), 1e-14, usize::MAX).unwrap();
        for scale in [1e300, 1e-300] {
            let scaled = pivoted_qr(Mat::from_fn(30, 20, |i, j| k[(i, j)] * scale), 1e-14, usize::MAX).unwrap();
            assert_eq!(scaled.columns, f.columns);
            for (a, b) in scaled.pivots.iter().zip(&f.pivots) {
                assert!((a / scale - b).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn what_is_not_finite_is_an_error() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut k = random(6, 4, 6);
            k[(3, 2)] = value;
            assert!(pivoted_qr(k, 1e-14, usize::MAX).is_err());
        }
        assert!(pivoted_qr(Mat::from_fn(9, 2, |_, _| f64::MAX), 1e-14, usize::MAX).is_err());
    }

    proptest! {
        #[test]
        fn any_shape_and_rank(
            m in 1_usize..90, n in 1_usize..90, max_rank in 0_usize..100, decay in 0.0..1.0_f64, seed in 0_u64..1000
        ) {
            let mut k = random(m, n, seed);
            k.col_iter_mut().enumerate().for_each(|(j, column)| {
                let size = (-decay * j as f64).exp();
                column.iter_mut().for_each(|x| *x *= size);
            });
            let f = pivoted_qr(k.clone(), 1e-10, max_rank).unwrap();
            prop_assert!(f.rank() <= m.min(n).min(max_rank));
            check(&k, &f);
        }
    }
}
