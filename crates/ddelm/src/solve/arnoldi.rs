//! Block Arnoldi iteration: the eigenvalues of largest magnitude of an operator that is known by what it does to vectors.
//!
//! An orthonormal basis V grows by blocks, `A V_e = V H`, where V_e are the columns that A was applied to and V has those
//! that came out of it as well. An eigenpair `H_e s = theta s` of the square part gives `A (V_e s) = theta (V_e s)` up to the
//! rows of H below it: their product with s is the residual, and is known without another product.
//!
//! The discrete operator is not self-adjoint, so that nothing shorter than the full orthogonalisation holds. Eigenvalues of
//! higher multiplicity than a block has columns are found by new random columns, which join the block once all that is
//! wanted has converged: what the basis lacks, they have.
//!
//! Where eigenvectors of another discretization are at hand, the iteration starts from them. What they lack is rough, and every
//! product with the operator all but wipes it out, so that one or two products of the whole block are enough.
//!
//! # References
//!
//! Y. Saad, *Numerical Methods for Large Eigenvalue Problems*, 2nd edition, chapter 6.

use faer::Mat;
use rayon::prelude::*;

use crate::algebra::factor::{eigenpairs, multiply_add, solve_upper};
use crate::base::error::Result;
use crate::local::local_factor::product;

/// Columns that the iteration starts with.
const BLOCK: usize = 3;

/// New random columns that look for what was missed, and steps that they are given.
const FRESH: usize = 2;
const FRESH_STEPS: usize = 3;

/// A column that orthogonalisation leaves less than this of, relative to what it was, is dependent on the others.
const DEPENDENT: f64 = 1e-13;

/// Columns that have less than this of their own, beside the others of a block, are made orthogonal one by one.
const INDEPENDENT: f64 = 1e-2;

/// An imaginary part below this, relative to the real one, is rounding.
const ROUNDED: f64 = 1e-9;

/// Vectors in pieces, one matrix for each, with a column for each vector.
pub(crate) type Pieces = Vec<Mat<f64>>;

/// An eigenpair.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    /// Real and imaginary part of the eigenvalue. Of a pair of complex ones the one with the positive imaginary part comes
    /// first.
    pub value: [f64; 2],
    /// The norm of `A x - theta x` for x of norm one.
    pub residual: f64,
}

/// What the iteration found.
pub(crate) struct Spectrum {
    /// The pairs, by descending magnitude of their eigenvalues.
    pub pairs: Vec<Pair>,
    /// The eigenvectors as columns; of a complex pair the real part and the imaginary part.
    pub vectors: Pieces,
    /// Whether all of them reached the tolerance.
    pub converged: bool,
    /// Vectors that the operator was applied to.
    pub products: usize,
}

impl Spectrum {
    /// The number of a pair, and of the other one where it is complex, in order.
    pub fn with_partner(&self, k: usize) -> Vec<usize> {
        match self.pairs[k].value[1] {
            0.0 => vec![k],
            im if im > 0.0 => vec![k, k + 1],
            _ => vec![k - 1, k],
        }
    }

    /// Some of the pairs.
    pub fn part(&self, numbers: &[usize]) -> Spectrum {
        let columns = |v: &Mat<f64>| {
            let mut some = Mat::zeros(v.nrows(), numbers.len());
            numbers.iter().enumerate().for_each(|(j, &k)| some.col_as_slice_mut(j).copy_from_slice(v.col_as_slice(k)));
            some
        };
        Spectrum {
            pairs: numbers.iter().map(|&k| self.pairs[k].clone()).collect(),
            vectors: self.vectors.iter().map(columns).collect(),
            ..*self
        }
    }
}

/// What to find.
pub(crate) struct Wanted {
    /// How many eigenvalues.
    pub count: usize,
    /// So many more come along as they are, once those have converged.
    pub beyond: usize,
    /// The residual to reach, relative to the eigenvalue.
    pub tolerance: f64,
    /// Vectors of the basis, at most.
    pub most: usize,
}

/// Finds the eigenvalues of largest magnitude of `apply`, from vectors near all eigenvectors that are wanted, or from nothing.
/// `random` gives so many random vectors, others with every call.
pub(crate) fn arnoldi(
    wanted: &Wanted,
    near: Option<Pieces>,
    apply: impl Fn(&Pieces) -> Result<Pieces>,
    mut random: impl FnMut(usize) -> Pieces,
) -> Result<Spectrum> {
    // Who found the vectors has looked for what was missed.
    let mut checks = near.is_some().then_some(0);
    let start = match near {
        Some(near) => near,
        // One product makes smooth vectors of random ones.
        None => apply(&random(BLOCK))?,
    };
    let mut space = Space::new(start, wanted.most);
    loop {
        space.expand(&apply)?;
        let complete = space.is_complete();
        if space.expanded < wanted.count.min(space.used) && !complete {
            continue;
        }
        let ritz = space.ritz()?;
        let chosen = ritz.largest(wanted.count + wanted.beyond);
        let reached = |&k: &usize| ritz.residuals[k] <= wanted.tolerance * magnitude(ritz.values[k]);
        let converged = chosen.len() >= wanted.count && chosen.iter().take(wanted.count).all(reached);
        let full = space.used + BLOCK + FRESH > wanted.most;
        checks = match (converged, checks) {
            // Columns of their own until those have converged as well.
            (true, Some(0)) => return Ok(space.spectrum(&ritz, &chosen, true)),
            _ if complete || full => return Ok(space.spectrum(&ritz, &chosen, converged)),
            (true, None) => {
                space.add(apply(&random(FRESH))?);
                Some(FRESH_STEPS)
            }
            (true, Some(left)) => Some(left - 1),
            (false, checks) => checks,
        };
    }
}

fn magnitude(value: [f64; 2]) -> f64 {
    value[0].hypot(value[1])
}

/// The basis and the projected operator.
struct Space {
    /// V, in pieces.
    basis: Pieces,
    /// Columns of V.
    used: usize,
    /// Those that the operator was applied to.
    expanded: usize,
    /// The columns of H; shorter ones have zeros below.
    h: Vec<Vec<f64>>,
}

impl Space {
    /// With room for so many columns: a basis that grows in place is not copied with every block.
    fn new(start: Pieces, most: usize) -> Self {
        let basis = start.iter().map(|piece| {
            let mut basis = Mat::zeros(piece.nrows(), 0);
            basis.reserve(piece.nrows(), most);
            basis
        });
        let basis = basis.collect();
        let mut space = Space { basis, used: 0, expanded: 0, h: Vec::new() };
        space.add(start);
        space
    }

    /// Whether the basis spans all that can be reached.
    fn is_complete(&self) -> bool {
        self.expanded == self.used
    }

    /// Applies the operator to the columns it was not applied to.
    fn expand(&mut self, apply: impl Fn(&Pieces) -> Result<Pieces>) -> Result<()> {
        let (first, count) = (self.expanded, self.used - self.expanded);
        let block: Pieces = self.basis.iter().map(|v| v.subcols(first, count).to_owned()).collect();
        let images = apply(&block)?;
        let columns = self.add(images);
        self.h.extend(columns);
        self.expanded += count;
        Ok(())
    }

    /// Adds the part of some vectors that is orthogonal to the basis, and returns the vectors in terms of the basis.
    fn add(&mut self, mut block: Pieces) -> Vec<Vec<f64>> {
        let count = block[0].ncols();
        let sizes: Vec<f64> = (0..count).map(|k| dot(&block, k, &block, k).sqrt()).collect();
        let mut columns: Vec<Vec<f64>> = vec![vec![0.0; self.used]; count];
        // Twice is enough.
        for _ in 0..2 {
            let parts: Vec<Mat<f64>> =
                self.basis.par_iter().zip(&block).map(|(v, w)| product(v.transpose(), w.as_ref())).collect();
            let mut sum: Mat<f64> = Mat::zeros(self.used, count);
            parts.iter().for_each(|part| sum += part);
            block
                .par_iter_mut()
                .zip(&self.basis)
                .for_each(|(w, v)| multiply_add(w.as_mut(), -1.0, v.as_ref(), sum.as_ref()));
            for (k, column) in columns.iter_mut().enumerate() {
                column.iter_mut().zip(sum.col_as_slice(k)).for_each(|(h, s)| *h += s);
            }
        }
        let kept = match orthonormalize_together(&mut block, &sizes) {
            Some(r) => {
                columns.iter_mut().enumerate().for_each(|(k, column)| column.extend(&r.col_as_slice(k)[..=k]));
                (0..count).collect()
            }
            None => orthonormalize_one_by_one(&mut block, &sizes, &mut columns),
        };
        for (v, w) in self.basis.iter_mut().zip(&block) {
            let used = self.used;
            v.resize_with(v.nrows(), used + kept.len(), |_, _| 0.0);
            kept.iter().enumerate().for_each(|(j, &k)| v.col_as_slice_mut(used + j).copy_from_slice(w.col_as_slice(k)));
        }
        self.used += kept.len();
        columns
    }

    /// The eigenpairs of the square part of H.
    fn ritz(&self) -> Result<Ritz> {
        let e = self.expanded;
        let entry = |i: usize, j: usize| self.h[j].get(i).copied().unwrap_or_default();
        let (mut values, vectors) = eigenpairs(Mat::from_fn(e, e, entry).as_ref())?;
        // Rounding makes complex pairs of multiple eigenvalues; both parts of the vector are eigenvectors then.
        values.iter_mut().filter(|[re, im]| im.abs() <= ROUNDED * re.abs()).for_each(|value| value[1] = 0.0);
        let below = product(Mat::from_fn(self.used - e, e, |i, j| entry(e + i, j)).as_ref(), vectors.as_ref());
        let squares = |m: &Mat<f64>, j: usize| m.col(j).squared_norm_l2();
        let residual = |j: usize| {
            // The real and the imaginary part stand beside each other.
            let columns = match values[j][1] {
                0.0 => j..j + 1,
                im if im > 0.0 => j..j + 2,
                _ => j - 1..j + 1,
            };
            let sum = |m: &Mat<f64>| columns.clone().map(|j| squares(m, j)).sum::<f64>();
            (sum(&below) / sum(&vectors)).sqrt()
        };
        let residuals = (0..e).map(residual).collect();
        Ok(Ritz { values, vectors, residuals })
    }

    fn spectrum(&self, ritz: &Ritz, chosen: &[usize], converged: bool) -> Spectrum {
        let vectors = Mat::from_fn(self.expanded, chosen.len(), |i, k| ritz.vectors[(i, chosen[k])]);
        let pair = |&k: &usize| Pair { value: ritz.values[k], residual: ritz.residuals[k] };
        let combine = |v: &Mat<f64>| product(v.subcols(0, self.expanded), vectors.as_ref());
        Spectrum {
            pairs: chosen.iter().map(pair).collect(),
            vectors: self.basis.par_iter().map(combine).collect(),
            converged,
            products: self.expanded,
        }
    }
}

/// The eigenpairs of the projected operator.
struct Ritz {
    values: Vec<[f64; 2]>,
    vectors: Mat<f64>,
    residuals: Vec<f64>,
}

impl Ritz {
    /// The numbers of the pairs of largest magnitude; a complex pair is not torn apart.
    fn largest(&self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.values.len()).collect();
        let size = |k: usize| magnitude(self.values[k]);
        order.sort_by(|&a, &b| size(b).total_cmp(&size(a)).then(a.cmp(&b)));
        let torn = |order: &[usize]| count > 0 && count < order.len() && self.values[order[count - 1]][1] > 0.0;
        let kept = if torn(&order) { count + 1 } else { count };
        order.truncate(kept);
        order
    }
}

/// Makes the columns of a block orthonormal, `W = Q R`, from the Cholesky factor of their inner products, twice: some products of
/// matrices. Returns R; nothing, and does nothing, where a column is so nearly dependent on the others that this would lose digits.
fn orthonormalize_together(block: &mut Pieces, sizes: &[f64]) -> Option<Mat<f64>> {
    let mut total: Mat<f64> = Mat::identity(sizes.len(), sizes.len());
    for pass in 0..2 {
        let parts: Vec<Mat<f64>> = block.par_iter().map(|w| product(w.transpose(), w.as_ref())).collect();
        let mut inner: Mat<f64> = Mat::zeros(sizes.len(), sizes.len());
        parts.iter().for_each(|part| inner += part);
        let small = |k: usize| inner[(k, k)].sqrt() <= INDEPENDENT.recip() * DEPENDENT * sizes[k];
        if pass == 0 && (0..sizes.len()).any(small) {
            return None;
        }
        let (r, inverse) = cholesky(&inner)?;
        block.par_iter_mut().for_each(|w| *w = product(w.as_ref(), inverse.as_ref()));
        total = product(r.as_ref(), total.as_ref());
    }
    Some(total)
}

/// The upper triangle R of `R' R`, and its inverse; nothing where a column has less than [`INDEPENDENT`] of its own.
fn cholesky(m: &Mat<f64>) -> Option<(Mat<f64>, Mat<f64>)> {
    let n = m.nrows();
    let (mut r, mut inverse): (Mat<f64>, Mat<f64>) = (Mat::zeros(n, n), Mat::identity(n, n));
    for j in 0..n {
        for i in 0..j {
            let known: f64 = (0..i).map(|k| r[(k, i)] * r[(k, j)]).sum();
            r[(i, j)] = (m[(i, j)] - known) / r[(i, i)];
        }
        let rest = m[(j, j)] - (0..j).map(|k| r[(k, j)] * r[(k, j)]).sum::<f64>();
        if rest.is_nan() || rest <= INDEPENDENT * INDEPENDENT * m[(j, j)] {
            return None;
        }
        r[(j, j)] = rest.sqrt();
    }
    solve_upper(r.as_ref(), inverse.as_mut());
    Some((r, inverse))
}

/// Makes the columns of a block orthonormal one after the other, and appends what they were in terms of those before. Returns the
/// numbers of those that are not dependent on others.
fn orthonormalize_one_by_one(block: &mut Pieces, sizes: &[f64], columns: &mut [Vec<f64>]) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::new();
    for (k, (column, size)) in columns.iter_mut().zip(sizes).enumerate() {
        let mut among = vec![0.0; kept.len()];
        for _ in 0..2 {
            for (c, &j) in among.iter_mut().zip(&kept) {
                let part = dot(block, j, block, k);
                *c += part;
                add_column(block, k, -part, j);
            }
        }
        column.extend(among);
        let rest = dot(block, k, block, k).sqrt();
        if rest > DEPENDENT * size {
            for piece in &mut *block {
                piece.col_as_slice_mut(k).iter_mut().for_each(|w| *w /= rest);
            }
            column.push(rest);
            kept.push(k);
        }
    }
    kept
}

/// The inner product of two columns.
fn dot(a: &Pieces, i: usize, b: &Pieces, j: usize) -> f64 {
    let piece = |(a, b): (&Mat<f64>, &Mat<f64>)| {
        a.col_as_slice(i).iter().zip(b.col_as_slice(j)).map(|(a, b)| a * b).sum::<f64>()
    };
    a.iter().zip(b).map(piece).sum()
}

/// Adds a multiple of column `from` to column `to`.
fn add_column(block: &mut Pieces, to: usize, factor: f64, from: usize) {
    for piece in block {
        let added = piece.col_as_slice(from).to_vec();
        piece.col_as_slice_mut(to).iter_mut().zip(added).for_each(|(w, v)| *w += factor * v);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(rows: usize) -> impl FnMut(usize) -> Pieces {
        let mut state = 1u64;
        move |columns| {
            let mut draw = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
            };
            let whole = Mat::from_fn(rows, columns, |_, _| draw());
            vec![whole.subrows(0, rows / 3).to_owned(), whole.subrows(rows / 3, rows - rows / 3).to_owned()]
        }
    }

    fn applied(diagonal: &[f64], coupling: f64, x: &Pieces) -> Pieces {
        let rows = x[0].nrows();
        let entry = |i: usize, k: usize| if i < rows { x[0][(i, k)] } else { x[1][(i - rows, k)] };
        // Upper triangular, so that the eigenvalues are the diagonal and the matrix is not normal.
        let image = |i: usize, k: usize| {
            let next = if i + 1 < diagonal.len() { coupling * diagonal[i + 1] * entry(i + 1, k) } else { 0.0 };
            diagonal[i] * entry(i, k) + next
        };
        let whole = Mat::from_fn(diagonal.len(), x[0].ncols(), image);
        vec![whole.subrows(0, rows).to_owned(), whole.subrows(rows, diagonal.len() - rows).to_owned()]
    }

    #[test]
    fn multiple_eigenvalues_are_found_as_often_as_they_are() {
        // Five times the same one, more than a block has columns.
        let mut diagonal = vec![1.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.3];
        diagonal.extend((8..300).map(|k| 1.0 / f64::from(k)));
        let wanted = Wanted { count: 7, beyond: 0, tolerance: 1e-12, most: 150 };
        let found = arnoldi(&wanted, None, |x| Ok(applied(&diagonal, 0.0, x)), random(299)).unwrap();
        assert!(found.converged);
        for (pair, expected) in found.pairs.iter().zip(&diagonal) {
            assert!((pair.value[0] - expected).abs() < 1e-13 && pair.value[1] == 0.0, "{:?}", found.pairs);
        }
    }

    #[test]
    fn a_matrix_that_is_not_normal_has_small_residuals() {
        let diagonal: Vec<f64> = (1..200).map(|k| 1.0 / f64::from(k)).collect();
        let wanted = Wanted { count: 4, beyond: 0, tolerance: 1e-12, most: 150 };
        let apply = |x: &Pieces| Ok(applied(&diagonal, 0.7, x));
        let found = arnoldi(&wanted, None, apply, random(199)).unwrap();
        let image = applied(&diagonal, 0.7, &found.vectors);
        for (k, pair) in found.pairs.iter().enumerate() {
            assert!((pair.value[0] - diagonal[k]).abs() < 1e-11, "{pair:?}");
            let entries = image.iter().zip(&found.vectors).flat_map(|(a, x)| {
                a.col_as_slice(k).iter().zip(x.col_as_slice(k)).map(|(a, x)| (a - pair.value[0] * x).abs())
            });
            assert!(entries.fold(0.0, f64::max) < 1e-11);
        }
    }
}
