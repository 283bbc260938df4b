//! The reference basis: a well-conditioned basis of the features' span, with tables of its derivatives at the nodes.
//!
//! With `K0 = [-w_i Lap phi; w phi]` on the reference nodes and a pivoted QR factorization `K0 P = Q R`, cut at the numerical
//! rank r, the functions `psi = phi_P R^-1` have `K0 psi = Q`, orthonormal. The polynomials come first, and the features are
//! pivoted by what they add to them; there are twice as many candidates as are kept, which takes the luck out of the seed. Any operator on any subdomain is then
//! "coefficients times tables", and its matrix needs neither activations nor pivoting.
//!
//! The rank is kept well below the number of rows. A rank close to it leaves no equations to spare, and the
//! least-squares solution loses all accuracy without a sign.

use std::sync::{Arc, Mutex, PoisonError};

use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Mat, MatRef};
use pulp::Arch;

use crate::algebra::factor::{
    PivotedQr, TruncatedSvd, multiply, multiply_add, multiply_add_vector, pivoted_qr, qr, solve_upper,
    solve_upper_right, truncated_svd,
};
use crate::base::error::Result;
use crate::domain::collocation::Collocation;
use crate::domain::map::Point;
use crate::domain::shape::Shape;
use crate::local::lift::Lift;
use crate::local::operator::Weighting;
use crate::method::settings::Truncation;
use crate::network::assembly::{Points, assembled, derivative_tables};
use crate::network::features::{EQUILATERAL, FeatureNetwork};
use crate::network::symbol::{DERIVATIVES, Frame, Symbol, Symbols};

/// The points at which tables are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zone {
    /// Interior nodes.
    Interior,
    /// Perimeter nodes.
    Perimeter,
    /// Points of integration on the sides.
    Around,
    /// Points of integration inside.
    Inside,
}

/// The sums of derivatives that rows need at the points of every zone, in the order of [`Zone`].
pub type Needed = [Vec<Vec<usize>>; 4];

/// Tables of `d^alpha psi` at the nodes of a zone, for the derivatives that are needed, one below the other. Derivatives
/// that always come together, as those of the Laplacian do, have one table for their sum.
#[derive(Debug, Clone)]
struct Tables {
    /// The first row of every derivative; for a sum, with the first of its derivatives.
    starts: [Option<usize>; DERIVATIVES],
    /// The derivatives of every sum.
    needed: Vec<Vec<usize>>,
    values: Mat<f64>,
}

/// The basis psi.
#[derive(Debug, Clone)]
pub struct ReferenceBasis {
    /// The neurons that span it.
    pub network: FeatureNetwork,
    /// Dimension, r.
    pub rank: usize,
    /// Numerical rank of the features before the guard limited it.
    pub full_rank: usize,
    /// From coefficients in the basis to those of the neurons.
    pub lift: Lift,
    tables: [Tables; 4],
    /// The points of the tables.
    points: [Vec<Point>; 4],
}

/// All that a basis is made from, next to the nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    /// The candidates, and the polynomials beside them.
    pub network: FeatureNetwork,
    /// The weighting of the reference rows.
    pub weighting: Weighting,
    /// How the numerical rank is found.
    pub truncation: Truncation,
    /// Directions smaller than this times the largest are dropped.
    pub cut: f64,
    /// Neurons that are kept at most.
    pub limit: usize,
    /// The sums of derivatives that will be needed.
    pub needed: Needed,
}

/// Bases that were made lately, the last one first. A sweep over parameters, a step to a tolerance or a drag in a browser
/// needs the same one again.
static MADE: Mutex<Vec<Made>> = Mutex::new(Vec::new());

/// A recipe, the shape, rule, points, pairs and halves of its nodes, and what came of them.
type Made = (Recipe, [usize; 5], Arc<ReferenceBasis>);

/// How many are kept. One with 16 points takes about a megabyte.
const KEPT: usize = 8;

/// Larger ones are not kept: so many points per side.
const LARGE: usize = 32;

impl ReferenceBasis {
    /// The basis of a recipe: one that was made before, or a new one. Both have the same bits.
    pub fn of(recipe: Recipe, collocation: &Collocation) -> Result<Arc<Self>> {
        let Collocation { shape, nodes, points, pairs, halves, .. } = *collocation;
        let nodes = [shape as usize, nodes as usize, points, pairs, usize::from(halves)];
        let made = || MADE.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut made = made();
            if let Some(place) = made.iter().position(|(other, at, _)| *at == nodes && *other == recipe) {
                made[..=place].rotate_right(1);
                return Ok(made[0].2.clone());
            }
        }
        let basis = Arc::new(Self::new(&recipe, collocation)?);
        if collocation.points <= LARGE {
            let mut made = made();
            made.insert(0, (recipe, nodes, basis.clone()));
            made.truncate(KEPT);
        }
        Ok(basis)
    }

    /// The basis of polynomials and of the neurons that add most to them.
    fn new(recipe: &Recipe, collocation: &Collocation) -> Result<Self> {
        let Recipe { network, weighting, truncation, cut, limit, needed } = recipe;
        let polynomials = network.polynomials;
        let k0 = reference_rows(network, collocation, *weighting);
        let Deflated { factor, projections, rest, size } = Deflated::new(k0, polynomials)?;
        // The cut is relative to the features, not to what the polynomials leave of them.
        let largest = rest.col_iter().map(|c| c.norm_l2()).fold(f64::MIN_POSITIVE, f64::max);
        let cut = (cut * size / largest).min(1.0);
        let (network, lift, kept, all) = match truncation {
            Truncation::Qr => {
                let PivotedQr { columns, r, pivots, next, .. } = pivoted_qr(rest, cut, *limit)?;
                let first = pivots.first().copied().unwrap_or_default();
                let kept = columns.len();
                let all = if next > cut * first { kept + 1 } else { kept };
                let lift = triangular(&factor, &projections, &columns, &r);
                (network.select(&columns), Lift::Triangular(lift), kept, all)
            }
            Truncation::Svd => {
                let TruncatedSvd { lift, singular_values, .. } = truncated_svd(rest.as_ref(), cut, *limit)?;
                let first = singular_values.first().copied().unwrap_or_default();
                let all = singular_values.iter().filter(|s| **s > cut * first).count();
                (network.clone(), Lift::Dense(dense(&factor, &projections, &lift)), lift.ncols(), all)
            }
        };
        let integration = &collocation.integration;
        let points = [
            collocation.interior.clone(),
            collocation.perimeter.iter().map(|node| node.xi).collect(),
            integration.around.clone(),
            integration.inside.clone(),
        ];
        let table = |zone: usize| Tables::new(&network, &lift, &points[zone].iter().copied().collect(), &needed[zone]);
        let tables = std::array::from_fn(table);
        let (rank, full_rank) = (polynomials + kept, polynomials + all);
        Ok(ReferenceBasis { network, rank, full_rank, lift, tables, points })
    }

    /// `out[(i, j)] = (L_i psi_j)(xi_i)`, where row i stands at node `nodes(i)` of a zone.
    pub fn assemble(&self, zone: Zone, rows: &Symbols, nodes: impl Fn(usize) -> usize, mut out: faer::MatMut<'_, f64>) {
        let tables = &self.tables[zone as usize];
        let index: Vec<usize> = (0..rows.len()).map(nodes).collect();
        let consecutive = index.windows(2).all(|w| w[1] == w[0] + 1);
        let first = index.first().copied().unwrap_or(0);
        let terms: Vec<(&[f64], usize)> = self.terms(zone, rows).collect();
        Arch::new().dispatch(|| {
            for j in 0..self.rank {
                let column =
                    out.as_mut().col_mut(j).try_as_col_major_mut().expect("columns are contiguous").as_slice_mut();
                let table = tables.values.col_as_slice(j);
                let height = column.len();
                let values = |start: usize| &table[start + first..][..height];
                match terms[..] {
                    // The Laplacian alone, a trace, a flux, and a coefficient that varies: most rows.
                    [(a, i)] if consecutive => {
                        column.iter_mut().zip(a.iter().zip(values(i))).for_each(|(k, (a, u))| *k = a * u);
                    }
                    [(a, i), (b, j)] if consecutive => {
                        let terms = a.iter().zip(values(i)).zip(b.iter().zip(values(j)));
                        column.iter_mut().zip(terms).for_each(|(k, ((a, u), (b, v)))| *k = a * u + b * v);
                    }
                    [(a, i), (b, j), (c, l)] if consecutive => {
                        let terms = a.iter().zip(values(i)).zip(b.iter().zip(values(j))).zip(c.iter().zip(values(l)));
                        for (k, (((a, u), (b, v)), (c, w))) in column.iter_mut().zip(terms) {
                            *k = a * u + b * v + c * w;
                        }
                    }
                    _ => {
                        column.fill(0.0);
                        for &(c, start) in &terms {
                            if consecutive {
                                column.iter_mut().zip(c).zip(values(start)).for_each(|((k, c), v)| *k += c * v);
                            } else {
                                let values = &table[start..];
                                column.iter_mut().zip(c).zip(&index).for_each(|((k, c), &i)| *k += c * values[i]);
                            }
                        }
                    }
                }
            }
        });
    }

    /// The coefficients of rows, each with the first row of the table of its derivative.
    fn terms<'a>(&self, zone: Zone, rows: &'a Symbols) -> impl Iterator<Item = (&'a [f64], usize)> {
        rows.coefficients()
            .into_iter()
            .zip(self.tables[zone as usize].starts)
            .filter_map(|(c, start)| Some((c?, start?)))
    }

    /// The tables of a zone times coefficients, one column for each: what [`ReferenceBasis::subtract`] combines.
    pub fn images(&self, zone: Zone, coefficients: &Mat<f64>) -> Mat<f64> {
        let values = &self.tables[zone as usize].values;
        let mut out = Mat::zeros(values.nrows(), coefficients.ncols());
        multiply(out.as_mut(), values.as_ref(), coefficients.as_ref());
        out
    }

    /// `out[i] -= (L_i u)(xi_i)` for the u that has this column of [`ReferenceBasis::images`]; row i stands at node `nodes(i)`.
    pub fn subtract(&self, zone: Zone, rows: &Symbols, nodes: impl Fn(usize) -> usize, image: &[f64], out: &mut [f64]) {
        for (c, start) in self.terms(zone, rows) {
            out.iter_mut().zip(c).enumerate().for_each(|(i, (out, c))| *out -= c * image[start + nodes(i)]);
        }
    }

    /// Derivatives of every basis function at reference points, the table of one derivative below that of the other.
    pub fn derivatives(&self, xi: &[Point], derivatives: &[usize]) -> Mat<f64> {
        let needed: Vec<Vec<usize>> = derivatives.iter().map(|&a| vec![a]).collect();
        Tables::new(&self.network, &self.lift, &xi.iter().copied().collect(), &needed).values
    }

    /// Derivatives of every basis function at all points `xi` of a zone, the table of one below that of the other, with the bits that
    /// rows are made of. Of a sum that rows need as a whole, the parts add up to it.
    pub fn derivatives_in(&self, zone: Zone, xi: &[Point], derivatives: &[usize]) -> Mat<f64> {
        let (tables, count) = (&self.tables[zone as usize], xi.len());
        let mut out = self.derivatives(xi, derivatives);
        let place = |a: usize| derivatives.iter().position(|&d| d == a);
        for sum in &tables.needed {
            let start = tables.starts[sum[0]].expect("a sum starts with its first derivative");
            let Some(last) = sum.iter().rev().find_map(|&a| place(a)) else { continue };
            let others: Vec<usize> = sum.iter().filter_map(|&a| place(a)).filter(|&k| k != last).collect();
            if others.len() + 1 < sum.len() {
                continue;
            }
            for j in 0..self.rank {
                let column = out.col_as_slice_mut(j);
                for i in 0..count {
                    let rest: f64 = others.iter().map(|k| column[k * count + i]).sum();
                    column[last * count + i] = tables.values[(start + i, j)] - rest;
                }
            }
        }
        out
    }

    /// The same at some points that need not be those of a zone, but have the bits that rows are made of where they are.
    ///
    /// The last functions of the basis are known to rounding over the cut only: an iterate that other tables have evaluated leaves other
    /// residuals than those that rows of these tables reduce.
    pub fn derivatives_as_in_rows(&self, xi: &[Point], derivatives: &[usize]) -> Mat<f64> {
        for zone in [Zone::Interior, Zone::Perimeter, Zone::Around, Zone::Inside] {
            let all = &self.points[zone as usize];
            let place = |xi: &Point| all.iter().position(|p| p.map(f64::to_bits) == xi.map(f64::to_bits));
            let Some(places) = xi.iter().map(place).collect::<Option<Vec<usize>>>() else { continue };
            let whole = self.derivatives_in(zone, all, derivatives);
            let row = |i: usize| (i / xi.len()) * all.len() + places[i % xi.len()];
            return Mat::from_fn(derivatives.len() * xi.len(), self.rank, |i, j| whole[(row(i), j)]);
        }
        self.derivatives(xi, derivatives)
    }

    /// Adds `sum_i (L_i psi_j)(xi_i)` over the points of a zone to every `out[j]`: row i stands at point i.
    pub fn add_sums(&self, zone: Zone, rows: &Symbols, out: &mut [f64]) {
        for (c, start) in self.terms(zone, rows) {
            let values = self.tables[zone as usize].values.as_ref().subrows(start, c.len());
            multiply_add_vector(out, 1.0, values.transpose(), c);
        }
    }
}

/// K0: the reference equation at the interior nodes over traces on the perimeter, for every column of the network.
fn reference_rows(network: &FeatureNetwork, collocation: &Collocation, weighting: Weighting) -> Mat<f64> {
    let interior: Points = collocation.interior.iter().copied().collect();
    // Halves of sides are nodes of some subdomains only.
    let whole = &collocation.perimeter[..collocation.whole_perimeter()];
    let perimeter: Points = whole.iter().map(|node| node.xi).collect();
    let (trace, laplacian) = match weighting {
        Weighting::Unit => (1.0, 1.0),
        Weighting::Scaled { trace, laplacian, .. } => (trace, laplacian),
    };
    let lap = reference_laplacian(collocation.shape);
    let equation = if collocation.pairs == 1 { lap.scaled(-1.0) } else { lap.times(lap) };
    let repeat = |symbol: Symbol| -> Symbols { whole.iter().map(|node| symbol.scaled(node.root)).collect() };
    let weight = |xi: Point| weighting.interior(collocation.shape, xi);
    let inside: Symbols = collocation.interior.iter().map(|&xi| equation.scaled(weight(xi))).collect();
    let (around, bending) = (repeat(Symbol::TRACE.scaled(trace)), repeat(lap.scaled(laplacian)));
    let mut parts = vec![(&interior, &inside), (&perimeter, &around)];
    if collocation.pairs == 2 {
        parts.push((&perimeter, &bending));
    }
    assembled(network, &parts)
}

/// The Laplacian of the square, or of the equilateral triangle with sides of length one, in reference coordinates.
fn reference_laplacian(shape: Shape) -> Symbol {
    match shape {
        Shape::Quadrilateral => Symbol::LAPLACIAN,
        Shape::Triangle => Frame::new(&EQUILATERAL, [0.0; 2]).laplacian(),
    }
}

/// The columns of the features with those of the polynomials projected out.
struct Deflated {
    /// The factor of the polynomials, `P = Q R`.
    factor: Mat<f64>,
    /// Q' F
    projections: Mat<f64>,
    /// What the polynomials leave of F: `Q_perp' F`, which has the norms of `F - Q Q' F`.
    rest: Mat<f64>,
    /// The largest column of F.
    size: f64,
}

impl Deflated {
    /// The first columns of `k0` are those of the polynomials.
    fn new(mut k0: Mat<f64>, polynomials: usize) -> Result<Self> {
        let count = k0.ncols() - polynomials;
        let largest = |m: MatRef<'_, f64>| m.col_iter().map(|c| c.norm_l2()).fold(f64::MIN_POSITIVE, f64::max);
        let size = largest(k0.subcols(polynomials, count));
        if polynomials == 0 {
            return Ok(Deflated { factor: Mat::zeros(0, 0), projections: Mat::zeros(0, count), rest: k0, size });
        }
        let factored = qr(k0.subcols(0, polynomials).to_owned())?;
        // With Q in factored form both come apart without cancellation.
        let mut features = k0.subcols_mut(polynomials, count);
        factored.q.apply_transpose(features.rb_mut());
        let (top, bottom) = features.rb().split_at_row(polynomials);
        Ok(Deflated { factor: factored.r(), projections: top.to_owned(), rest: bottom.to_owned(), size })
    }
}

/// `[R C; 0 R_F]` of polynomials with factor R and chosen features with factor R_F and projections C.
fn triangular(factor: &Mat<f64>, projections: &Mat<f64>, columns: &[usize], r: &Mat<f64>) -> Mat<f64> {
    let p = factor.nrows();
    Mat::from_fn(p + columns.len(), p + columns.len(), |i, j| match (i < p, j.checked_sub(p)) {
        (true, None) => factor[(i, j)],
        (true, Some(k)) => projections[(i, columns[k])],
        (false, None) => 0.0,
        (false, Some(k)) => r[(i - p, k)],
    })
}

/// The inverse of [`triangular`] where the features are combined by V: `[R^-1, -R^-1 C V; 0, V]`.
fn dense(factor: &Mat<f64>, projections: &Mat<f64>, v: &Mat<f64>) -> Mat<f64> {
    let (p, features, kept) = (factor.nrows(), v.nrows(), v.ncols());
    let mut top = Mat::zeros(p, p + kept);
    top.as_mut().subcols_mut(0, p).copy_from(Mat::<f64>::identity(p, p));
    multiply_add(top.as_mut().subcols_mut(p, kept), -1.0, projections.as_ref(), v.as_ref());
    solve_upper(factor.as_ref(), top.as_mut());
    let mut lift = Mat::zeros(p + features, p + kept);
    lift.as_mut().subrows_mut(0, p).copy_from(top);
    lift.as_mut().submatrix_mut(p, p, features, kept).copy_from(v);
    lift
}

impl Tables {
    fn new(network: &FeatureNetwork, lift: &Lift, points: &Points, needed: &[Vec<usize>]) -> Self {
        let count = points.x.len();
        let mut starts = [None; DERIVATIVES];
        needed.iter().enumerate().for_each(|(k, sum)| starts[sum[0]] = Some(k * count));
        let mut features = derivative_tables(network, points, needed);
        let values = match lift {
            Lift::Triangular(r) => {
                solve_upper_right(r.as_ref(), features.as_mut());
                features
            }
            Lift::Dense(lift) => features * lift,
        };
        Tables { starts, needed: needed.to_vec(), values }
    }
}
