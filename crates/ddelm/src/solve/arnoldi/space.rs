//! The basis of an Arnoldi iteration, the operator projected on it, and the eigenpairs of that.

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::{BLOCK, FRESH, NOISE, Pair, Spectrum, WILD, Wanted};
use crate::algebra::factor::{eigenpairs, multiply_add, qr};
use crate::base::error::Result;
use crate::local::local_factor::product;
use crate::solve::orthonormal::{Pieces, Views, dot, orthonormalize_one_by_one, orthonormalize_together};

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

/// The basis and the projected operator.
pub(super) struct Space {
    /// V, in pieces.
    basis: Pieces,
    /// Columns of V.
    pub used: usize,
    /// Those that the operator was applied to.
    pub expanded: usize,
    /// The columns of H; shorter ones have zeros below.
    h: Vec<Vec<f64>>,
}

/// Vectors as their part in the span of a basis and the rest, with the sizes that they had.
pub(super) struct Image {
    known: Mat<f64>,
    rest: Pieces,
    sizes: Vec<f64>,
}

impl Space {
    /// With room for so many columns: a basis that grows in place is not copied with every block.
    pub fn new(start: Pieces, most: usize) -> Self {
        let basis = start.iter().map(|piece| {
            let mut basis = Mat::zeros(piece.nrows(), 0);
            basis.reserve(piece.nrows(), most);
            basis
        });
        let basis = basis.collect();
        let mut space = Space { basis, used: 0, expanded: 0, h: Vec::new() };
        let start = space.divided(start);
        space.add(start);
        space
    }

    /// Whether the basis spans all that can be reached.
    pub fn is_complete(&self) -> bool {
        self.expanded == self.used
    }

    /// Whether there is no room for more blocks.
    pub fn is_full(&self, most: usize) -> bool {
        self.used + BLOCK + FRESH > most
    }

    /// The image of the first of the columns that the operator was not applied to.
    pub fn image(&self, count: usize, apply: impl Fn(&Views<'_>) -> Result<Pieces>) -> Result<Image> {
        let block: Vec<MatRef<'_, f64>> = self.basis.iter().map(|v| v.subcols(self.expanded, count)).collect();
        Ok(self.divided(apply(&block)?))
    }

    /// Vectors as their part in the span of the basis, and the rest.
    pub fn divided(&self, mut block: Pieces) -> Image {
        let sizes = (0..block[0].ncols()).map(|k| dot(&block, k, &block, k).sqrt()).collect();
        let known = self.take_out(&mut block);
        Image { known, rest: block, sizes }
    }

    /// What was found at once, if the image of the whole basis lies so well in its span that all that is wanted has converged. What is left need
    /// not be made orthonormal to tell.
    pub fn settled(&mut self, image: &Image, wanted: &Wanted) -> Result<Option<Spectrum>> {
        let parts: Vec<Mat<f64>> = image.rest.par_iter().map(|w| product(w.transpose(), w.as_ref())).collect();
        let mut inner: Mat<f64> = Mat::zeros(image.sizes.len(), image.sizes.len());
        parts.iter().for_each(|part| inner += part);
        self.h.extend(image.known.col_iter().map(|column| column.iter().copied().collect()));
        self.expanded = self.used;
        let mut ritz = self.ritz(wanted.self_adjoint)?;
        let squares = |ritz: &Ritz, k: usize| -> [f64; 2] {
            let of = |j: usize| {
                let s = ritz.vectors.col(j);
                [s.transpose() * (&inner * s), s.squared_norm_l2()]
            };
            ritz.columns(k).map(of).fold([0.0; 2], |sum, of| [sum[0] + of[0], sum[1] + of[1]])
        };
        for k in 0..self.expanded {
            let [rest, whole] = squares(&ritz, k);
            ritz.residuals[k] = (rest.max(0.0) / whole).sqrt();
        }
        let chosen = ritz.largest(wanted.count + wanted.beyond);
        let converged = chosen.len() >= wanted.count
            && chosen.iter().take(wanted.count).all(|&k| ritz.excess(k, wanted.tolerance) <= 1.0);
        if converged {
            return Ok(Some(self.spectrum(&ritz, &chosen, true)));
        }
        self.expanded = 0;
        self.h.clear();
        Ok(None)
    }

    /// Adds the image of columns of the basis. Returns how many columns the basis has gained.
    pub fn join(&mut self, image: Image) -> usize {
        let count = image.sizes.len();
        let (columns, gained) = self.add(image);
        self.h.extend(columns);
        self.expanded += count;
        gained
    }

    /// Adds the part of some vectors that is orthogonal to the basis. Returns the vectors in terms of the basis, and how many
    /// columns it has gained.
    pub fn add(&mut self, image: Image) -> (Vec<Vec<f64>>, usize) {
        let Image { mut known, rest: mut block, mut sizes } = image;
        let count = sizes.len();
        let mut r: Mat<f64> = Mat::identity(count, count);
        let mut pass = 0;
        let kept: Vec<usize> = loop {
            if pass > 0 {
                let part = self.take_out(&mut block);
                multiply_add(known.as_mut(), 1.0, part.as_ref(), r.as_ref());
            }
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
    pub fn choose(&mut self, ritz: &Ritz, open: &[usize], last: usize) -> usize {
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
    pub fn ritz(&self, self_adjoint: bool) -> Result<Ritz> {
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

    /// What was found. The basis goes with it.
    pub fn spectrum(&mut self, ritz: &Ritz, chosen: &[usize], converged: bool) -> Spectrum {
        let combinations = Mat::from_fn(self.expanded, chosen.len(), |i, k| ritz.vectors[(i, chosen[k])]);
        let pair =
            |&k: &usize| Pair { value: ritz.values[k], residual: ritz.residuals[k], condition: ritz.conditions[k] };
        Spectrum {
            pairs: chosen.iter().map(pair).collect(),
            basis: std::mem::take(&mut self.basis),
            combinations,
            converged,
            products: self.expanded,
        }
    }
}

/// The eigenpairs of the projected operator.
pub(super) struct Ritz {
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
    pub fn excess(&self, k: usize, tolerance: f64) -> f64 {
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
    pub fn largest(&self, count: usize) -> Vec<usize> {
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

fn magnitude(value: [f64; 2]) -> f64 {
    value[0].hypot(value[1])
}
