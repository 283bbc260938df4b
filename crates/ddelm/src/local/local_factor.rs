//! One subdomain: the factorization of its [matrices](crate::local::matrices) K, A and E, and its Dirichlet-to-Neumann map.
//!
//! With `K = Q_r R` and `Q = [Q_r, Q_perp]`,
//!
//! ```text
//! c = y_F + Y u,   flux = A c,   residual = n_F + N u,
//! Y = R^-1 Q_r' E,  N = Q_perp' E,  y_F = R^-1 Q_r' F,  n_F = Q_perp' F.
//! ```
//!
//! `D = A Y` is the Dirichlet-to-Neumann map and `N' N = E' (I - K K^+) E` the other term of the paper's Schur complement.
//! `N` is found without cancellation, because Q_perp is there in factored form.
//!
//! For other data Q and R are kept, which is most of the memory. A solve for known data forgets them as soon as a
//! subdomain is done.
//!
//! Where data are known and few subdomains have the same rows, Q is not needed at all: Y and y_F come from the
//! normal equations, and residuals are evaluated by the tables of the basis.

use std::sync::Arc;

use faer::{Mat, MatMut, MatRef};

use crate::algebra::factor::{
    Householder, PivotedQr, Qr, TruncatedSvd, multiply, multiply_add, pivoted_qr, pivoted_qr_beyond, qr,
    solve_upper_right, truncated_svd, truncated_svd_of_factors,
};
use crate::base::error::{Error, Result};
use crate::local::basis::ReferenceBasis;
use crate::local::lift::{Lift, Lifted};
use crate::local::matrices::{Columns, LocalProblem};
use crate::method::settings::{Coupling, Truncation, safe_rank};

/// Few neurons are independent if it is one in so many.
const FEW: usize = 8;

/// The neurons that pivoting chose; the others have zero.
#[derive(Debug, Clone)]
pub(super) struct Selection {
    /// The neurons, in the order of the coefficients.
    columns: Vec<usize>,
    /// Neurons of the network.
    neurons: usize,
}

impl Selection {
    /// Coefficients of the chosen neurons among those of all.
    fn spread(&self, chosen: &Mat<f64>) -> Mat<f64> {
        let mut out = Mat::zeros(self.neurons, chosen.ncols());
        for (i, &j) in self.columns.iter().enumerate() {
            out.row_mut(j).copy_from(chosen.row(i));
        }
        out
    }
}

/// Q, and R where it is not part of the lift.
#[derive(Debug, Clone)]
pub(super) enum Orthogonal {
    Qr(Qr),
    Q(Householder),
}

impl Orthogonal {
    fn q(&self) -> &Householder {
        let (Orthogonal::Qr(Qr { q, .. }) | Orthogonal::Q(q)) = self;
        q
    }

    /// y <- R^-1 y, where R is here.
    fn solve(&self, y: MatMut<'_, f64>) {
        if let Orthogonal::Qr(qr) = self {
            qr.solve(y);
        }
    }
}

/// A factored local problem. Subdomains with the same rows share it.
#[derive(Debug, Clone)]
pub struct LocalFactor {
    /// `None` once it is forgotten.
    pub(super) orthogonal: Option<Orthogonal>,
    /// Rows of K.
    pub rows: usize,
    /// Number of independent columns.
    pub rank: usize,
    /// From y to the coefficients of the neurons; `None` where they are coefficients in the shared basis.
    pub(super) lift: Option<Lift>,
    /// The neurons that the coefficients belong to; `None` is all.
    pub(super) selection: Option<Selection>,
    /// P', where rows are tested: K is P K, and data are tested before they are used; nothing once it is forgotten.
    pub(super) tests: Option<Mat<f64>>,
    /// A, for the flux rows asked for, and the row of the flux balance; nothing once it is forgotten.
    pub(super) a: Mat<f64>,
    /// Y, for the trace rows asked for.
    pub y: Mat<f64>,
    /// N, for the trace rows asked for; nothing where the residual is evaluated.
    pub n: Mat<f64>,
    /// E: for every trace row asked for its row in K and the entry there.
    pub traces: Vec<(usize, f64)>,
    /// D = A Y
    pub d: Mat<f64>,
    /// T = N' N; nothing where only the fluxes are balanced.
    pub t: Mat<f64>,
    /// The multiplier of the flux balance, whose row is the last of A and D, if there is one.
    pub balance: Option<f64>,
}

/// A subdomain at its place in the interface.
#[derive(Debug, Clone)]
pub struct Local {
    /// Its number in the decomposition.
    pub subdomain: usize,
    /// Its factor, which congruent subdomains share.
    pub factor: Arc<LocalFactor>,
    /// For every interface value of the subdomain: its column in Y, N, D and T.
    pub columns: Vec<usize>,
    /// ... and its number in the interface.
    pub unknowns: Vec<usize>,
    /// The blocks those unknowns make up, in order.
    pub blocks: Vec<usize>,
    /// For every flux of the subdomain: its row in D.
    pub fluxes: Vec<usize>,
    /// ... the number of its jump.
    pub jumps: Vec<usize>,
    /// ... its unit,
    pub units: Vec<f64>,
    /// ... and the length of the side that it stands for, zero where it does not belong to the flux balance.
    pub lengths: Vec<f64>,
}

impl Local {
    /// The interface values of the subdomain, in the columns of its factor.
    pub fn pick(&self, u: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = Mat::zeros(self.factor.y.ncols(), u.ncols());
        for k in 0..u.ncols() {
            let (from, to) = (u.col(k), out.col_as_slice_mut(k));
            self.columns.iter().zip(&self.unknowns).for_each(|(&column, &unknown)| to[column] = from[unknown]);
        }
        out
    }

    /// One column of [`Local::pick`], into zeros.
    pub fn pick_into(&self, u: &[f64], out: &mut [f64]) {
        self.columns.iter().zip(&self.unknowns).for_each(|(&column, &unknown)| out[column] = u[unknown]);
    }

    /// The jumps of the subdomain's edges in the rows of its factor, in units of the edges.
    pub fn pick_jumps(&self, jumps: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = Mat::zeros(self.factor.d.nrows(), jumps.ncols());
        for k in 0..jumps.ncols() {
            let (from, to) = (jumps.col(k), out.col_as_slice_mut(k));
            for ((&row, &jump), &unit) in self.fluxes.iter().zip(&self.jumps).zip(&self.units) {
                to[row] = unit * from[jump];
            }
        }
        out
    }

    /// Adds values in the columns of the factor to a vector over the interface.
    pub fn add_unknowns(&self, values: MatRef<'_, f64>, mut out: MatMut<'_, f64>) {
        for (&column, &unknown) in self.columns.iter().zip(&self.unknowns) {
            for k in 0..values.ncols() {
                out[(unknown, k)] += values[(column, k)];
            }
        }
    }

    /// Adds fluxes in the rows of the factor to a vector of jumps, in units of the edges.
    pub fn add_jumps(&self, flux: MatRef<'_, f64>, mut out: MatMut<'_, f64>) {
        for k in 0..flux.ncols() {
            let (from, mut to) = (flux.col(k), out.as_mut().col_mut(k));
            for ((&row, &jump), &unit) in self.fluxes.iter().zip(&self.jumps).zip(&self.units) {
                to[jump] += unit * from[row];
            }
        }
    }

    /// One column of [`Local::add_jumps`].
    pub fn add_jumps_of(&self, flux: &[f64], out: &mut [f64]) {
        for ((&row, &jump), &unit) in self.fluxes.iter().zip(&self.jumps).zip(&self.units) {
            out[jump] += unit * flux[row];
        }
    }
}

/// The data of one subdomain in the coordinates of its factor, one column per right-hand side.
#[derive(Debug, Clone)]
pub struct LocalData {
    /// y_F
    pub y: Mat<f64>,
    /// n_F; nothing where the residual is evaluated.
    pub n: Mat<f64>,
    /// F, where the residual is evaluated; nothing elsewhere.
    pub f: Mat<f64>,
    /// A y_F: the fluxes without interface values, and the flux balance.
    pub flux: Mat<f64>,
    /// What the flux balance should be: the last entry of F.
    pub load: Vec<f64>,
}

/// Local problems that are worked on together, if they share a factor. A fixed number, so that the bits do not depend on the
/// number of threads.
pub const BATCH: usize = 32;

/// Matrices with as many columns each, one beside the other: one product with many columns costs far less than many with one.
pub fn side_by_side(parts: &[&Mat<f64>]) -> Mat<f64> {
    let columns = parts[0].ncols();
    let mut all = Mat::zeros(parts[0].nrows(), parts.len() * columns);
    for j in 0..all.ncols() {
        all.col_as_slice_mut(j).copy_from_slice(parts[j / columns].col_as_slice(j % columns));
    }
    all
}

/// The k-th of several matrices with so many columns that stand beside each other.
pub fn part_of(all: &Mat<f64>, k: usize, columns: usize) -> Mat<f64> {
    let mut part = Mat::zeros(all.nrows(), columns);
    (0..columns).for_each(|j| part.col_as_slice_mut(j).copy_from_slice(all.col_as_slice(k * columns + j)));
    part
}

impl LocalData {
    /// The data of each of several subdomains, whose right-hand sides stood side by side.
    pub(super) fn parts(self, f: &[&Mat<f64>]) -> Vec<LocalData> {
        match f {
            [_] => vec![self],
            _ => (0..f.len()).map(|k| self.part(k, f[0].ncols())).collect(),
        }
    }

    /// The data of the k-th of several subdomains, with so many columns each.
    fn part(&self, k: usize, columns: usize) -> LocalData {
        let part = |m: &Mat<f64>| part_of(m, k, columns);
        let load = self.load[k * columns..(k + 1) * columns].to_vec();
        let f = if self.f.ncols() > 0 { part(&self.f) } else { Mat::new() };
        LocalData { y: part(&self.y), n: part(&self.n), f, flux: part(&self.flux), load }
    }
}

/// The truncated inverse of K: an orthogonal factor, R, and the way from `R^-1 y` to the neurons.
struct Inverse {
    orthogonal: Orthogonal,
    lift: Option<Lift>,
    selection: Option<Selection>,
}

/// The truncated inverse by pivoted QR, `K P = Q_r [R_1 R_2]` up to the cut: `c = P R_1^-1 y` with zeros for the columns
/// that were dropped, or the shortest coefficients for a given y, as with the SVD.
///
/// The cut is relative to the largest singular value, as with the SVD. That lies between the largest column, which is
/// the first pivot, and the Frobenius norm, ten times as large for features that are nearly parallel; the geometric mean
/// stands for it.
///
/// Where few neurons are independent, as with small weights, the SVD of what pivoting leaves of K costs little. The
/// directions near the cut are then those of all neurons, with the rounding of all of them averaged out.
fn pivoted_inverse(k: Mat<f64>, cut: f64, limit: usize, shortest: bool) -> Result<Inverse> {
    let largest = k.col_iter().map(|column| column.norm_l2()).fold(f64::MIN_POSITIVE, f64::max);
    let neurons = k.ncols();
    let pivot_cut = cut * (k.norm_l2() / largest).sqrt();
    if shortest {
        return complete_orthogonal(pivoted_qr(k, pivot_cut, limit)?);
    }
    let few = (neurons / FEW).min(limit);
    let factor = pivoted_qr_beyond(k, pivot_cut, few, limit)?;
    if factor.rank() <= few {
        return singular_inverse(truncated_svd_of_factors(&factor, cut)?);
    }
    let selection = Some(Selection { columns: factor.columns, neurons });
    Ok(Inverse { orthogonal: Orthogonal::Q(factor.q), lift: Some(Lift::Triangular(factor.r)), selection })
}

/// The truncated inverse by the SVD.
fn singular_inverse(factor: TruncatedSvd) -> Result<Inverse> {
    let orthogonal = Orthogonal::Qr(qr(factor.u)?);
    Ok(Inverse { orthogonal, lift: Some(Lift::Dense(factor.lift)), selection: None })
}

/// The shortest coefficients: with `[R_1 R_2] = L Z'` and orthonormal Z they are `c = P Z L^-1 y`.
fn complete_orthogonal(factor: PivotedQr) -> Result<Inverse> {
    let rank = factor.rank();
    let neurons = rank + factor.dropped.len();
    let rows = qr(factor.kept().transpose().to_owned())?;
    let mut z = Mat::identity(neurons, rank);
    rows.q.apply(z.as_mut());
    rows.solve(z.as_mut().transpose_mut());
    let mut lift = Mat::zeros(neurons, rank);
    for (i, &j) in factor.columns.iter().chain(&factor.dropped).enumerate() {
        lift.row_mut(j).copy_from(z.row(i));
    }
    Ok(Inverse { orthogonal: Orthogonal::Q(factor.q), lift: Some(Lift::Dense(lift)), selection: None })
}

impl LocalFactor {
    /// Factors the local problem.
    pub fn new(problem: &LocalProblem<'_>, coupling: Coupling) -> Result<Self> {
        let (k, a) = problem.matrices();
        Self::by_inverse(problem, k.into_inner(), a.into_inner(), problem.traces(), coupling)
    }

    /// Y and N by the truncated inverse of K.
    pub(super) fn by_inverse(
        problem: &LocalProblem<'_>,
        k: Mat<f64>,
        mut a: Mat<f64>,
        traces: Vec<(usize, f64)>,
        coupling: Coupling,
    ) -> Result<Self> {
        let tests = problem.tests();
        let height = k.nrows();
        let k = match &tests {
            Some(p) => product(p.transpose(), k.as_ref()),
            None => k,
        };
        let Inverse { orthogonal, lift, selection } = match problem.columns {
            Columns::Basis(_) => Inverse { orthogonal: Orthogonal::Qr(qr(k)?), lift: None, selection: None },
            Columns::Features { truncation, cut, guarded, shortest, .. } => {
                let limit = if guarded { safe_rank(height) } else { height.min(k.ncols()) };
                match truncation {
                    Truncation::Qr => pivoted_inverse(k, cut, limit, shortest)?,
                    Truncation::Svd => singular_inverse(truncated_svd(k.as_ref(), cut, limit)?)?,
                }
            }
        };
        if let Some(Selection { columns, .. }) = &selection {
            a = Mat::from_fn(a.nrows(), columns.len(), |i, j| a[(i, columns[j])]);
        }
        match &lift {
            None => {}
            Some(Lift::Triangular(r)) => solve_upper_right(r.as_ref(), a.as_mut()),
            Some(Lift::Dense(lift)) => a = product(a.as_ref(), lift.as_ref()),
        }
        let mut e = match &tests {
            Some(p) => Mat::from_fn(p.ncols(), traces.len(), |i, j| p[(traces[j].0, i)] * traces[j].1),
            None => {
                let mut e = Mat::zeros(height, traces.len());
                traces.iter().enumerate().for_each(|(j, &(row, entry))| e[(row, j)] = entry);
                e
            }
        };
        orthogonal.q().apply_transpose(e.as_mut());
        let rank = orthogonal.q().rank();
        let (mut y, n) = (e.get(..rank, ..).to_owned(), e.get(rank.., ..).to_owned());
        orthogonal.solve(y.as_mut());
        // Zero times anything else is none.
        let finite = |m: &Mat<f64>| m.col_iter().all(|x| x.iter().map(|x| 0.0 * x).sum::<f64>() == 0.0);
        if !(finite(&a) && finite(&y) && finite(&n)) {
            return Err(Error::Compute {
                stage: "factor",
                problem: "the matrix of a subdomain is numerically singular".into(),
                hint: "try another seed, fewer neurons or a larger network.cut".into(),
            });
        }
        let mut d = product(a.as_ref(), y.as_ref());
        problem.entering().into_iter().for_each(|(row, column, enters)| d[(row, column)] += enters);
        let t = match coupling {
            Coupling::LeastSquares => product(n.transpose(), n.as_ref()),
            Coupling::FluxBalance => Mat::new(),
        };
        let balance = problem.rows.balance.as_ref().map(|balance| balance.multiplier);
        let orthogonal = Some(orthogonal);
        Ok(LocalFactor { orthogonal, rows: height, rank, lift, selection, tests, a, y, n, traces, d, t, balance })
    }

    /// y_F, n_F and the fluxes, one column per right-hand side.
    ///
    /// # Panics
    /// If the factor is [forgotten](LocalFactor::forget).
    pub fn data(&self, mut f: Mat<f64>) -> LocalData {
        let load = loads(self.balance, &f);
        let orthogonal = self.orthogonal.as_ref().expect("data are given before the factor is forgotten");
        let mut given = Mat::new();
        if let Some(p) = &self.tests {
            let tested = product(p.transpose(), f.as_ref());
            given = std::mem::replace(&mut f, tested);
        }
        orthogonal.q().apply_transpose(f.as_mut());
        let (mut y, n) = (f.get(..self.rank, ..).to_owned(), f.get(self.rank.., ..).to_owned());
        orthogonal.solve(y.as_mut());
        LocalData { flux: product(self.a.as_ref(), y.as_ref()), y, n, f: given, load }
    }

    /// [`LocalFactor::data`] of several subdomains that share the factor.
    pub fn data_of(&self, f: &[&Mat<f64>]) -> Vec<LocalData> {
        self.data(side_by_side(f)).parts(f)
    }

    /// The transposes that gradients are made of, for g over the coefficients and m over the rows of A: with `h = g - A' m`
    /// the columns `p = K^+' h`, over the rows of K, and `w = (K' K)^-1 h`, over the coefficients.
    ///
    /// # Panics
    /// If the factor is [forgotten](LocalFactor::forget), or R is in a lift.
    pub fn transposed(&self, g: &Mat<f64>, m: &Mat<f64>) -> [Mat<f64>; 2] {
        let Some(Orthogonal::Qr(qr)) = &self.orthogonal else { panic!("gradients have the factors of a shared basis") };
        let mut h = g.clone();
        multiply_add(h.as_mut(), -1.0, self.a.transpose(), m.as_ref());
        qr.solve_right(h.as_mut().transpose_mut());
        let mut p = Mat::zeros(self.rows, h.ncols());
        p.as_mut().subrows_mut(0, self.rank).copy_from(&h);
        qr.q.apply(p.as_mut());
        qr.solve(h.as_mut());
        [p, h]
    }

    /// What a solution leaves in the rows of K, from its coordinates n in Q_perp.
    ///
    /// # Panics
    /// If the factor is [forgotten](LocalFactor::forget).
    pub fn residual(&self, n: &Mat<f64>) -> Mat<f64> {
        let orthogonal = self.orthogonal.as_ref().expect("residuals are found before the factor is forgotten");
        let mut rest = Mat::zeros(self.rows, n.ncols());
        rest.as_mut().subrows_mut(self.rank, n.nrows()).copy_from(n);
        orthogonal.q().apply(rest.as_mut());
        rest
    }

    /// Gives up what other data would need.
    pub fn forget(&mut self) {
        self.orthogonal = None;
        self.tests = None;
        self.a = Mat::new();
    }

    /// The coefficients of the neurons for `y = y_F + Y u`, one column per right-hand side.
    pub fn recover(&self, y: Mat<f64>, basis: Option<&ReferenceBasis>) -> Lifted {
        let lifted = match self.lift.as_ref().or(basis.map(|basis| &basis.lift)) {
            Some(lift) => lift.apply(&y),
            None => Lifted { remainders: Mat::zeros(y.nrows(), y.ncols()), coefficients: y },
        };
        match &self.selection {
            Some(selection) => Lifted {
                coefficients: selection.spread(&lifted.coefficients),
                remainders: selection.spread(&lifted.remainders),
            },
            None => lifted,
        }
    }
}

/// What flux balances should be: the last entries of F, if these are there.
pub(super) fn loads<T>(balance: Option<T>, f: &Mat<f64>) -> Vec<f64> {
    match balance {
        Some(_) => f.row(f.nrows() - 1).iter().copied().collect(),
        None => vec![0.0; f.ncols()],
    }
}

/// `base + m x`.
pub fn affine(base: &Mat<f64>, m: MatRef<'_, f64>, x: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = base.clone();
    multiply_add(out.as_mut(), 1.0, m, x);
    out
}

/// `a b`.
pub fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    multiply(out.as_mut(), a, b);
    out
}
