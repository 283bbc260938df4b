//! One subdomain: its matrices K and A, their factorization, and its Dirichlet-to-Neumann map.
//!
//! K has the equation at interior nodes over conditions and traces on the perimeter; A has the outward fluxes; E has
//! the interface values in the trace rows (-B of the paper). With `K = Q_r R` and `Q = [Q_r, Q_perp]`,
//!
//! ```text
//! c = R^-1 Q_r' (F + E u),   flux = G (y_F + Y u),   residual = n_F + N u,
//! G = A R^-1,  Y = Q_r' E,  N = Q_perp' E,  y_F = Q_r' F,  n_F = Q_perp' F.
//! ```
//!
//! `D = G Y` is the Dirichlet-to-Neumann map and `N' N = E' (I - K K^+) E` the other term of the Schur complement. `N`
//! is found without cancellation, because Q_perp is there in factored form.

use std::sync::Arc;

use faer::{Mat, MatMut, MatRef};

use crate::assembly::{Points, assembled};
use crate::basis::{Part, ReferenceBasis, safe_rank};
use crate::collocation::Collocation;
use crate::error::{Error, Result};
use crate::factor::{
    Householder, PivotedQr, Qr, TruncatedSvd, multiply, multiply_add, pivoted_qr, pivoted_qr_beyond, qr,
    solve_upper_right, truncated_svd, truncated_svd_of_factors,
};
use crate::features::FeatureNetwork;
use crate::lift::{Lift, Lifted};
use crate::operator::{LocalRows, Weights};
use crate::settings::Truncation;

/// Few neurons are independent if it is one in so many.
const FEW: usize = 8;

/// What the unknowns of a local problem are.
#[derive(Clone, Copy)]
pub enum Columns<'a> {
    /// Coefficients in the shared reference basis.
    Basis(&'a ReferenceBasis),
    /// Coefficients of the features themselves, of which the inverse keeps what is numerically independent.
    Features {
        /// The hidden layer.
        network: &'a FeatureNetwork,
        /// How the inverse is truncated.
        truncation: Truncation,
        /// Directions smaller than this times the norm of K are dropped.
        cut: f64,
        /// Whether the rank is kept safely below the number of rows.
        guarded: bool,
        /// Whether the coefficients are the shortest there are, which conjugate gradients need.
        shortest: bool,
    },
}

/// The neurons that pivoting chose; the others have zero.
#[derive(Debug, Clone)]
struct Selection {
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
enum Orthogonal {
    Qr(Qr),
    Q(Householder),
}

impl Orthogonal {
    fn q(&self) -> &Householder {
        let (Orthogonal::Qr(Qr { q, .. }) | Orthogonal::Q(q)) = self;
        q
    }

    /// Numbers held.
    fn size(&self) -> usize {
        match self {
            Orthogonal::Qr(qr) => qr.size(),
            Orthogonal::Q(q) => q.size(),
        }
    }
}

/// A factored local problem. Subdomains with the same rows share it.
#[derive(Debug, Clone)]
pub struct LocalFactor {
    orthogonal: Orthogonal,
    /// From `R^-1 y` to the coefficients of the neurons; `None` where they are coefficients in the shared basis.
    lift: Option<Lift>,
    /// The neurons that the coefficients belong to; `None` is all.
    selection: Option<Selection>,
    /// G, for the flux rows asked for.
    pub g: Mat<f64>,
    /// Y, for the trace rows asked for.
    pub y: Mat<f64>,
    /// N, for the trace rows asked for.
    pub n: Mat<f64>,
    /// D = G Y
    pub d: Mat<f64>,
    /// T = N' N
    pub t: Mat<f64>,
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
    /// For every flux of the subdomain: its row in G and D.
    pub fluxes: Vec<usize>,
    /// ... the number of its jump.
    pub jumps: Vec<usize>,
    /// ... and its unit.
    pub units: Vec<f64>,
}

impl Local {
    /// The interface values of the subdomain, in the columns of its factor.
    pub fn pick(&self, u: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = Mat::zeros(self.factor.y.ncols(), u.ncols());
        for (&column, &unknown) in self.columns.iter().zip(&self.unknowns) {
            out.row_mut(column).copy_from(u.row(unknown));
        }
        out
    }

    /// The jumps of the subdomain's edges in the rows of its factor, in units of the edges.
    pub fn pick_jumps(&self, jumps: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = Mat::zeros(self.factor.g.nrows(), jumps.ncols());
        for ((&row, &jump), &unit) in self.fluxes.iter().zip(&self.jumps).zip(&self.units) {
            out.row_mut(row).copy_from(faer::Scale(unit) * jumps.row(jump));
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
        for ((&row, &jump), &unit) in self.fluxes.iter().zip(&self.jumps).zip(&self.units) {
            for k in 0..flux.ncols() {
                out[(jump, k)] += unit * flux[(row, k)];
            }
        }
    }
}

/// The data of one subdomain in the coordinates of its factor, one column per right-hand side.
#[derive(Debug, Clone)]
pub struct LocalData {
    /// y_F
    pub y: Mat<f64>,
    /// n_F
    pub n: Mat<f64>,
}

/// K and A of one subdomain.
pub(crate) fn matrices(
    columns: Columns<'_>,
    collocation: &Collocation,
    rows: &LocalRows,
    flux_rows: &[usize],
) -> (Mat<f64>, Mat<f64>) {
    let per = collocation.perimeter.len();
    let flux_nodes: Vec<usize> = (0..4).flat_map(|side| collocation.flux_nodes(side)).collect();
    let (inside, around) = (rows.interior.len(), rows.perimeter.len());
    let all = match columns {
        Columns::Basis(basis) => {
            let mut k = Mat::zeros(inside + around, basis.rank);
            let mut a = Mat::zeros(rows.flux.len(), basis.rank);
            let (top, bottom) = k.as_mut().split_at_row_mut(inside);
            basis.assemble(Part::Interior, &rows.interior, |i| i, top);
            basis.assemble(Part::Perimeter, &rows.perimeter, |i| i % per, bottom);
            basis.assemble(Part::Perimeter, &rows.flux, |i| flux_nodes[i % flux_nodes.len()], a.as_mut());
            (k, a)
        }
        Columns::Features { network, .. } => {
            let interior: Points = collocation.interior.iter().copied().collect();
            let perimeter: Points = (0..around).map(|i| collocation.perimeter[i % per].xi).collect();
            let flux: Points =
                (0..rows.flux.len()).map(|i| collocation.perimeter[flux_nodes[i % flux_nodes.len()]].xi).collect();
            let k = assembled(network, &[(&interior, &rows.interior), (&perimeter, &rows.perimeter)]);
            (k, assembled(network, &[(&flux, &rows.flux)]))
        }
    };
    let a = Mat::from_fn(flux_rows.len(), all.1.ncols(), |i, j| all.1[(flux_rows[i], j)]);
    (all.0, a)
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
    /// Builds and factors the local problem. `trace_rows` are the perimeter rows that hold interface values, and
    /// `flux_rows` the rows of A that are needed.
    pub fn new(
        columns: Columns<'_>,
        collocation: &Collocation,
        rows: &LocalRows,
        weights: Weights,
        trace_rows: &[usize],
        flux_rows: &[usize],
    ) -> Result<Self> {
        let (k, mut a) = matrices(columns, collocation, rows, flux_rows);
        let (height, inside) = (k.nrows(), rows.interior.len());
        let Inverse { orthogonal, lift, selection } = match columns {
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
        if let Orthogonal::Qr(qr) = &orthogonal {
            qr.solve_right(a.as_mut());
        }

        let mut e = Mat::zeros(height, trace_rows.len());
        for (j, &row) in trace_rows.iter().enumerate() {
            e[(inside + row, j)] = weights.interface(row / collocation.perimeter.len());
        }
        orthogonal.q().apply_transpose(e.as_mut());
        let rank = orthogonal.q().rank();
        let (y, n) = (e.get(..rank, ..).to_owned(), e.get(rank.., ..).to_owned());
        let finite = |m: &Mat<f64>| m.norm_max().is_finite();
        if !(finite(&a) && finite(&y) && finite(&n)) {
            return Err(Error::Compute {
                stage: "factor",
                problem: "the matrix of a subdomain is numerically singular".into(),
                hint: "try another seed, fewer neurons or a larger network.cut".into(),
            });
        }
        let (d, t) = (product(a.as_ref(), y.as_ref()), product(n.transpose(), n.as_ref()));
        Ok(LocalFactor { orthogonal, lift, selection, g: a, y, n, d, t })
    }

    /// Number of independent columns.
    pub fn rank(&self) -> usize {
        self.orthogonal.q().rank()
    }

    /// Number of rows of K.
    pub fn rows(&self) -> usize {
        self.orthogonal.q().rows()
    }

    /// Q' F, one column per right-hand side.
    pub fn data(&self, mut f: Mat<f64>) -> LocalData {
        self.orthogonal.q().apply_transpose(f.as_mut());
        let rank = self.rank();
        LocalData { y: f.get(..rank, ..).to_owned(), n: f.get(rank.., ..).to_owned() }
    }

    /// The coefficients of the neurons for `y = Q_r' (F + E u)`, one column per right-hand side.
    pub fn recover(&self, mut y: Mat<f64>, basis: Option<&ReferenceBasis>) -> Lifted {
        if let Orthogonal::Qr(qr) = &self.orthogonal {
            qr.solve(y.as_mut());
        }
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

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let size = |m: &Mat<f64>| m.nrows() * m.ncols();
        let lift = self.lift.as_ref().map_or(0, Lift::size);
        8 * (self.orthogonal.size()
            + lift
            + size(&self.g)
            + size(&self.y)
            + size(&self.n)
            + size(&self.d)
            + size(&self.t))
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
