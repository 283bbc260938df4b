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
//! Only what the residuals of pairs that have not converged lie in is multiplied further: the columns that A was not applied to are
//! turned until the first of them span that.
//!
//! Where eigenvectors of another discretization are at hand, the iteration starts from them. What they lack is rough, and every
//! product with the operator all but wipes it out, so that one product of the whole block and a few columns more are enough.
//!
//! # References
//!
//! Y. Saad, *Numerical Methods for Large Eigenvalue Problems*, 2nd edition, chapter 6.

use faer::Mat;
use rayon::prelude::*;

use crate::algebra::factor::{eigenpairs, multiply_add, qr};
use crate::base::error::Result;
use crate::local::local_factor::product;
use crate::solve::orthonormal::{Pieces, dot, orthonormalize_one_by_one, orthonormalize_together};

/// Columns that the iteration starts with.
const BLOCK: usize = 3;

/// New random columns that look for what was missed, and steps that they are given.
const FRESH: usize = 2;
const FRESH_STEPS: usize = 3;

/// The share of the products that residuals seem to need before they are asked for again: convergence gets faster on its way.
const SHARE_OF_WAY: f64 = 0.75;

/// Times that a block is made orthogonal, at most.
const MOST_PASSES: usize = 4;

/// A block with this much left of every column, relative to what it was, is orthogonal to some twelve digits.
const MUCH: f64 = 1e-2;

/// A direction with less than this of its own is the same as others. One of the units that complete directions to a basis always has
/// more than the other number, in fewer than a hundred dimensions.
const SAME: f64 = 1e-6;
const COMPLETING: f64 = 1e-3;

/// An imaginary part below this, relative to the real one, is rounding.
const ROUNDED: f64 = 1e-9;

/// Eigenvalues this near to each other, relative to them, may be one that rounding has split.
const SPLIT: f64 = 1e-5;

/// The rounding of products with the operator, and the condition from which on no digit of an eigenvalue may be taken for true.
const NOISE: f64 = 3e-14;
pub(crate) const WILD: f64 = 1e8;

/// An eigenpair.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    /// Real and imaginary part of the eigenvalue. Of a pair of complex ones the one with the positive imaginary part comes
    /// first.
    pub value: [f64; 2],
    /// The norm of `A x - theta x` for x of norm one.
    pub residual: f64,
    /// How much errors of the operator are magnified in the eigenvalue: the norm of the projection on its eigenspace, one for a
    /// self-adjoint operator.
    pub condition: f64,
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
    /// Whether the operator is nearly self-adjoint, so that all conditions are one.
    pub self_adjoint: bool,
    /// Vectors of the basis, at most.
    pub most: usize,
}

/// Finds the eigenvalues of largest magnitude of `apply`, from vectors near all eigenvectors that are wanted, or from nothing.
/// `random` gives so many random vectors, others with every call.
pub(crate) fn arnoldi(
    wanted: &Wanted,
    near: Option<Pieces>,
    apply: impl Fn(Pieces) -> Result<Pieces>,
    mut random: impl FnMut(usize) -> Pieces,
) -> Result<Spectrum> {
    // Who found the vectors has looked for what was missed.
    let mut looked = near.is_some();
    let start = match near {
        Some(near) => near,
        // One product makes smooth vectors of random ones.
        None => apply(random(BLOCK))?,
    };
    let mut space = Space::new(start, wanted.most);
    let mut next = space.used;
    let mut due = Due { at: wanted.count, least: wanted.count / 2, last: None };
    loop {
        space.expand(next, &apply)?;
        if space.expanded < due.at && !space.is_complete() && !space.is_full(wanted.most) {
            next = space.used - space.expanded;
            continue;
        }
        let ritz = space.ritz(wanted.self_adjoint)?;
        let chosen = ritz.largest(wanted.count + wanted.beyond);
        let open: Vec<usize> =
            chosen.iter().take(wanted.count).copied().filter(|&k| ritz.excess(k, wanted.tolerance) > 1.0).collect();
        let converged = chosen.len() >= wanted.count && open.is_empty();
        if converged && looked || space.is_complete() || space.is_full(wanted.most) {
            return Ok(space.spectrum(&ritz, &chosen, converged));
        }
        if converged {
            looked = true;
            let mut young = space.add(apply(random(FRESH))?).1;
            // They go alone, and nothing is asked on the way; the last of these steps is the next one of the iteration.
            for step in 1..=FRESH_STEPS {
                next = space.choose(&ritz, &[], young);
                if next == 0 || space.is_full(wanted.most) {
                    // The new columns lead nowhere.
                    return Ok(space.spectrum(&ritz, &chosen, true));
                }
                if step < FRESH_STEPS {
                    young = space.expand(next, &apply)?;
                }
            }
            due.at = 0;
        } else {
            next = space.choose(&ritz, &open, 0);
            let excess = open.iter().map(|&k| ritz.excess(k, wanted.tolerance)).fold(1.0, f64::max);
            due.at = if looked { 0 } else { due.after(space.expanded, excess) };
        }
    }
}

/// When to ask next whether all has converged: an answer costs as much as some products.
struct Due {
    /// After so many products.
    at: usize,
    /// The fewest products from one time to the next.
    least: usize,
    /// The products at the last time, and how much too large the largest residual was.
    last: Option<(usize, f64)>,
}

impl Due {
    /// The next time, where residuals are too large by a factor after so many products: most of the way that their pace tells.
    fn after(&mut self, products: usize, excess: f64) -> usize {
        let pace = self.last.map_or(0.0, |(before, last)| (last / excess).ln() / (products - before) as f64);
        self.last = Some((products, excess));
        let expected = if pace > 0.0 { SHARE_OF_WAY * excess.ln() / pace } else { 0.0 };
        products + (expected as usize).clamp(self.least, 4 * self.least.max(1))
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

    /// Whether there is no room for more blocks.
    fn is_full(&self, most: usize) -> bool {
        self.used + BLOCK + FRESH > most
    }

    /// Applies the operator to the first of the columns it was not applied to. Returns how many columns the basis has gained.
    fn expand(&mut self, count: usize, apply: impl Fn(Pieces) -> Result<Pieces>) -> Result<usize> {
        let block: Pieces = self.basis.iter().map(|v| v.subcols(self.expanded, count).to_owned()).collect();
        let (columns, gained) = self.add(apply(block)?);
        self.h.extend(columns);
        self.expanded += count;
        Ok(gained)
    }

    /// Adds the part of some vectors that is orthogonal to the basis. Returns the vectors in terms of the basis, and how many
    /// columns it has gained.
    fn add(&mut self, mut block: Pieces) -> (Vec<Vec<f64>>, usize) {
        let count = block[0].ncols();
        let mut sizes: Vec<f64> = (0..count).map(|k| dot(&block, k, &block, k).sqrt()).collect();
        let mut known: Mat<f64> = Mat::zeros(self.used, count);
        let mut r: Mat<f64> = Mat::identity(count, count);
        let mut pass = 0;
        let kept: Vec<usize> = loop {
            let part = self.take_out(&mut block);
            multiply_add(known.as_mut(), 1.0, part.as_ref(), r.as_ref());
            match orthonormalize_together(&mut block, &sizes) {
                Some(step) => {
                    r = product(step.as_ref(), r.as_ref());
                    pass += 1;
                    // Once where much is left of all columns. Twice is enough, unless the second time has changed much.
                    let kept = if pass == 1 { MUCH } else { 0.5 };
                    if (0..count).all(|k| step[(k, k)] > kept * sizes[k]) || pass == MOST_PASSES {
                        break (0..count).collect();
                    }
                    sizes = vec![1.0; count];
                }
                None => {
                    let part = self.take_out(&mut block);
                    multiply_add(known.as_mut(), 1.0, part.as_ref(), r.as_ref());
                    let (step, kept) = orthonormalize_one_by_one(&mut block, &sizes);
                    r = product(step.as_ref(), r.as_ref());
                    break kept;
                }
            }
        };
        for (v, w) in self.basis.iter_mut().zip(&block) {
            v.resize_with(v.nrows(), self.used + kept.len(), |_, _| 0.0);
            for (j, &k) in kept.iter().enumerate() {
                v.col_as_slice_mut(self.used + j).copy_from_slice(w.col_as_slice(k));
            }
        }
        self.used += kept.len();
        let column = |k: usize| known.col_as_slice(k).iter().chain(r.col_as_slice(k)).copied().collect();
        ((0..count).map(column).collect(), kept.len())
    }

    /// Takes the part in the span of the basis out of a block, and returns it in terms of the basis.
    fn take_out(&self, block: &mut Pieces) -> Mat<f64> {
        let parts: Vec<Mat<f64>> =
            self.basis.par_iter().zip(&*block).map(|(v, w)| product(v.transpose(), w.as_ref())).collect();
        let mut sum: Mat<f64> = Mat::zeros(self.used, block[0].ncols());
        parts.iter().for_each(|part| sum += part);
        block
            .par_iter_mut()
            .zip(&self.basis)
            .for_each(|(w, v)| multiply_add(w.as_mut(), -1.0, v.as_ref(), sum.as_ref()));
        sum
    }

    /// Turns the columns that the operator was not applied to so that the first of them span the residuals of some pairs, and the
    /// last ones, so many, where these are to be followed. Returns how many those are: nothing else brings the pairs nearer.
    fn choose(&mut self, ritz: &Ritz, open: &[usize], last: usize) -> usize {
        let (e, rest) = (self.expanded, self.used - self.expanded);
        if !open.is_empty() && rest <= BLOCK {
            return rest;
        }
        let residuals = open.iter().flat_map(|&k| ritz.columns(k)).map(|j| ritz.below.col_as_slice(j).to_vec());
        let unit = |i: usize| (0..rest).map(|j| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
        let wanted: Vec<Vec<f64>> = (rest - last..rest).map(unit).chain(residuals).collect();
        let mut turned: Vec<Vec<f64>> = Vec::new();
        let mut chosen = 0;
        for (number, mut direction) in wanted.iter().cloned().chain((0..rest).map(unit)).enumerate() {
            let size = norm(&direction);
            for _ in 0..2 {
                for q in &turned {
                    let part: f64 = q.iter().zip(&direction).map(|(q, d)| q * d).sum();
                    direction.iter_mut().zip(q).for_each(|(d, q)| *d -= part * q);
                }
            }
            let left = norm(&direction);
            // A direction that is all but one of those before adds nothing; the units complete them to a basis.
            if left > if number < wanted.len() { SAME } else { COMPLETING } * size && turned.len() < rest {
                direction.iter_mut().for_each(|d| *d /= left);
                turned.push(direction);
                chosen += usize::from(number < wanted.len());
            }
        }
        if chosen == rest || turned.len() < rest {
            return rest;
        }
        let turn = Mat::from_fn(rest, rest, |i, j| turned[j][i]);
        self.basis.par_iter_mut().for_each(|v| {
            let columns = product(v.subcols(e, rest), turn.as_ref());
            v.subcols_mut(e, rest).copy_from(&columns);
        });
        for column in &mut self.h {
            column.resize(self.used, 0.0);
            let below: Vec<f64> = turned.iter().map(|q| q.iter().zip(&column[e..]).map(|(q, h)| q * h).sum()).collect();
            column[e..].copy_from_slice(&below);
        }
        chosen
    }

    /// The eigenpairs of the square part of H.
    fn ritz(&self, self_adjoint: bool) -> Result<Ritz> {
        let e = self.expanded;
        let entry = |i: usize, j: usize| self.h[j].get(i).copied().unwrap_or_default();
        let (mut values, vectors) = eigenpairs(Mat::from_fn(e, e, entry).as_ref())?;
        // Rounding makes complex pairs of multiple eigenvalues; both parts of the vector are eigenvectors then.
        values.iter_mut().filter(|[re, im]| im.abs() <= ROUNDED * re.abs()).for_each(|value| value[1] = 0.0);
        let below = product(Mat::from_fn(self.used - e, e, |i, j| entry(e + i, j)).as_ref(), vectors.as_ref());
        let mut ritz = Ritz { values, vectors, below, residuals: Vec::new(), conditions: vec![1.0; e] };
        let squares = |m: &Mat<f64>, k: usize| ritz.columns(k).map(|j| m.col(j).squared_norm_l2()).sum::<f64>();
        ritz.residuals = (0..e).map(|k| (squares(&ritz.below, k) / squares(&ritz.vectors, k)).sqrt()).collect();
        if !self_adjoint {
            ritz.conditions = ritz.projections()?;
        }
        Ok(ritz)
    }

    fn spectrum(&self, ritz: &Ritz, chosen: &[usize], converged: bool) -> Spectrum {
        let vectors = Mat::from_fn(self.expanded, chosen.len(), |i, k| ritz.vectors[(i, chosen[k])]);
        let pair =
            |&k: &usize| Pair { value: ritz.values[k], residual: ritz.residuals[k], condition: ritz.conditions[k] };
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
    /// Their residuals in terms of the columns that the operator was not applied to.
    below: Mat<f64>,
    /// The norms of these.
    residuals: Vec<f64>,
    conditions: Vec<f64>,
}

impl Ritz {
    /// The columns of a pair: of a complex one the real and the imaginary part, which stand beside each other.
    fn columns(&self, k: usize) -> std::ops::Range<usize> {
        match self.values[k][1] {
            0.0 => k..k + 1,
            im if im > 0.0 => k..k + 2,
            _ => k - 1..k + 1,
        }
    }

    /// How many times larger the residual of a pair is than it may be, relative to the eigenvalue. Residuals end at the rounding of
    /// the products, magnified.
    fn excess(&self, k: usize, tolerance: f64) -> f64 {
        let end = if self.conditions[k] < WILD { NOISE * self.conditions[k] } else { 0.0 };
        self.residuals[k] / (tolerance.max(end) * magnitude(self.values[k]))
    }

    /// The norms of the projections on the eigenspaces along the others, `S_k (S^-1)_k` with the columns and rows of an eigenvalue and
    /// of those that rounding may have split off.
    fn projections(&self) -> Result<Vec<f64>> {
        let e = self.values.len();
        let factor = qr(self.vectors.clone())?;
        let mut inverse: Mat<f64> = Mat::identity(e, e);
        factor.q.apply_transpose(inverse.as_mut());
        factor.solve(inverse.as_mut());
        let norm = |k: usize| {
            let ([re, im], size) = (self.values[k], magnitude(self.values[k]));
            let near = |j: &usize| {
                let other = self.values[*j];
                (other[0] - re).hypot(other[1].abs() - im.abs()) <= SPLIT * size
            };
            let members: Vec<usize> = (0..e).filter(near).collect();
            let right = Mat::from_fn(e, members.len(), |i, j| self.vectors[(i, members[j])]);
            let left = Mat::from_fn(members.len(), e, |i, j| inverse[(members[i], j)]);
            let norm = product(right.as_ref(), left.as_ref()).norm_l2();
            if norm.is_finite() { norm } else { f64::EPSILON.recip() }
        };
        Ok((0..e).map(norm).collect())
    }

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

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
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
        let wanted = Wanted { count: 7, beyond: 0, tolerance: 1e-12, self_adjoint: true, most: 150 };
        let found = arnoldi(&wanted, None, |x| Ok(applied(&diagonal, 0.0, &x)), random(299)).unwrap();
        assert!(found.converged);
        for (pair, expected) in found.pairs.iter().zip(&diagonal) {
            assert!((pair.value[0] - expected).abs() < 1e-13 && pair.value[1] == 0.0, "{:?}", found.pairs);
        }
    }

    #[test]
    fn a_matrix_that_is_not_normal_has_small_residuals() {
        let diagonal: Vec<f64> = (1..200).map(|k| 1.0 / f64::from(k)).collect();
        let wanted = Wanted { count: 4, beyond: 0, tolerance: 1e-12, self_adjoint: false, most: 150 };
        let apply = |x: Pieces| Ok(applied(&diagonal, 0.7, &x));
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
