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

mod space;

use faer::Mat;
use rayon::prelude::*;

use self::space::Space;
use crate::base::error::Result;
use crate::local::local_factor::product;
use crate::solve::orthonormal::{Pieces, Views, views};

/// Columns that the iteration starts with.
const BLOCK: usize = 3;

/// New random columns that look for what was missed, and steps that they are given.
const FRESH: usize = 2;
const FRESH_STEPS: usize = 3;

/// The share of the products that residuals seem to need before they are asked for again: convergence gets faster on its way.
const SHARE_OF_WAY: f64 = 0.75;

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
    /// The basis, and the eigenvectors in terms of it; of a complex pair the real part and the imaginary part.
    basis: Pieces,
    combinations: Mat<f64>,
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

    /// The eigenvectors of some pairs as columns.
    pub fn vectors(&self, numbers: &[usize]) -> Pieces {
        let expanded = self.combinations.nrows();
        let chosen = Mat::from_fn(expanded, numbers.len(), |i, j| self.combinations[(i, numbers[j])]);
        self.basis.par_iter().map(|v| product(v.subcols(0, expanded), chosen.as_ref())).collect()
    }

    /// Gives the memory of all eigenvectors back.
    pub fn forget_vectors(&mut self) {
        self.basis = Pieces::new();
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
    apply: impl Fn(&Views<'_>) -> Result<Pieces>,
    mut random: impl FnMut(usize) -> Pieces,
) -> Result<Spectrum> {
    // Who found the vectors has looked for what was missed.
    let mut looked = near.is_some();
    let start = match near {
        Some(near) => near,
        // One product makes smooth vectors of random ones.
        None => apply(&views(&random(BLOCK)))?,
    };
    let mut space = Space::new(start, wanted.most);
    let mut next = space.used;
    let mut due = Due { at: wanted.count, least: wanted.count / 2, last: None };
    loop {
        let image = space.image(next, &apply)?;
        if looked
            && space.expanded == 0
            && let Some(spectrum) = space.settled(&image, wanted)?
        {
            return Ok(spectrum);
        }
        space.join(image);
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
            let fresh = space.divided(apply(&views(&random(FRESH)))?);
            let mut young = space.add(fresh).1;
            // They go alone, and nothing is asked on the way; the last of these steps is the next one of the iteration.
            for step in 1..=FRESH_STEPS {
                next = space.choose(&ritz, &[], young);
                if next == 0 || space.is_full(wanted.most) {
                    // The new columns lead nowhere.
                    return Ok(space.spectrum(&ritz, &chosen, true));
                }
                if step < FRESH_STEPS {
                    let image = space.image(next, &apply)?;
                    young = space.join(image);
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

    fn applied(diagonal: &[f64], coupling: f64, x: &Views<'_>) -> Pieces {
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
        let found = arnoldi(&wanted, None, |x: &Views<'_>| Ok(applied(&diagonal, 0.0, x)), random(299)).unwrap();
        assert!(found.converged);
        for (pair, expected) in found.pairs.iter().zip(&diagonal) {
            assert!((pair.value[0] - expected).abs() < 1e-13 && pair.value[1] == 0.0, "{:?}", found.pairs);
        }
    }

    #[test]
    fn a_matrix_that_is_not_normal_has_small_residuals() {
        let diagonal: Vec<f64> = (1..200).map(|k| 1.0 / f64::from(k)).collect();
        let wanted = Wanted { count: 4, beyond: 0, tolerance: 1e-12, self_adjoint: false, most: 150 };
        let apply = |x: &Views<'_>| Ok(applied(&diagonal, 0.7, x));
        let found = arnoldi(&wanted, None, apply, random(199)).unwrap();
        let vectors = found.vectors(&[0, 1, 2, 3]);
        let image = applied(&diagonal, 0.7, &views(&vectors));
        for (k, pair) in found.pairs.iter().enumerate() {
            assert!((pair.value[0] - diagonal[k]).abs() < 1e-11, "{pair:?}");
            let entries = image.iter().zip(&vectors).flat_map(|(a, x)| {
                a.col_as_slice(k).iter().zip(x.col_as_slice(k)).map(|(a, x)| (a - pair.value[0] * x).abs())
            });
            assert!(entries.fold(0.0, f64::max) < 1e-11);
        }
    }
}
