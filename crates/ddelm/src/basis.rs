//! The reference basis: a well-conditioned basis of the features' span, with tables of its derivatives at the nodes.
//!
//! With `K0 = [-w_i Lap phi; w phi]` on the reference nodes and a pivoted QR factorization `K0 P = Q R`, cut at the numerical
//! rank r, the functions `psi = phi_P R^-1` have `K0 psi = Q`, orthonormal. Any operator on any subdomain is then
//! "coefficients times tables", and its matrix needs neither activations nor pivoting.
//!
//! The rank is kept well below the number of rows. A rank close to it leaves no equations to spare, and the
//! least-squares solution loses all accuracy without a sign.

use faer::Mat;

use crate::assembly::{Points, assembled};
use crate::collocation::Collocation;
use crate::error::Result;
use crate::factor::{pivoted_qr, solve_upper_right, truncated_svd};
use crate::features::FeatureNetwork;
use crate::lift::Lift;
use crate::operator::Weights;
use crate::settings::Truncation;
use crate::symbol::{DERIVATIVES, Symbol, Symbols};

/// Largest rank as a fraction of the number of rows. From 0.75 to 0.85 the accuracy is the same; near 1 it is lost.
pub const SAFE_RANK: f64 = 0.8;

/// The largest rank that leaves enough equations to spare.
pub fn safe_rank(rows: usize) -> usize {
    ((SAFE_RANK * rows as f64) as usize).max(1)
}

/// The nodes at which tables are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Interior nodes.
    Interior,
    /// Perimeter nodes.
    Perimeter,
}

/// Tables of `d^alpha psi` at the nodes of a part, for the derivatives that are needed, one below the other. Derivatives
/// that always come together, as those of the Laplacian do, have one table for their sum.
#[derive(Debug, Clone)]
struct Tables {
    /// The first row of every derivative; for a sum, with the first of its derivatives.
    starts: [Option<usize>; DERIVATIVES],
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
    interior: Tables,
    perimeter: Tables,
}

impl ReferenceBasis {
    /// The basis of a network. `needed` says which sums of derivatives will be needed inside and on the perimeter.
    pub fn new(
        network: &FeatureNetwork,
        collocation: &Collocation,
        pairs: usize,
        weights: Weights,
        truncation: Truncation,
        cut: f64,
        needed: &[Vec<Vec<usize>>; 2],
    ) -> Result<Self> {
        let interior: Points = collocation.interior.iter().copied().collect();
        let perimeter: Points = collocation.perimeter.iter().map(|node| node.xi).collect();
        let (trace, laplacian) = match weights {
            Weights::Unit => (1.0, 1.0),
            Weights::Scaled { trace, laplacian, .. } => (trace, laplacian),
        };
        let lap = Symbol::hessian([[1.0, 0.0], [0.0, 1.0]]);
        let equation = if pairs == 1 { lap.scaled(-1.0) } else { lap.times(lap) };
        let repeat = |symbol: Symbol| -> Symbols { std::iter::repeat_n(symbol, perimeter.x.len()).collect() };
        let inside: Symbols = collocation.interior.iter().map(|&xi| equation.scaled(weights.interior(xi))).collect();
        let (around, bending) = (repeat(Symbol::TRACE.scaled(trace)), repeat(lap.scaled(laplacian)));
        let mut parts = vec![(&interior, &inside), (&perimeter, &around)];
        if pairs == 2 {
            parts.push((&perimeter, &bending));
        }
        let k0 = assembled(network, &parts);
        let limit = safe_rank(k0.nrows());
        let (network, lift, rank, full_rank) = match truncation {
            Truncation::Qr => {
                let factor = pivoted_qr(k0, cut, limit)?;
                let rank = factor.columns.len();
                let first = factor.pivots.first().copied().unwrap_or_default();
                let full = if factor.next > cut * first { rank + 1 } else { rank };
                (network.select(&factor.columns), Lift::Triangular(factor.r), rank, full)
            }
            Truncation::Svd => {
                let factor = truncated_svd(k0.as_ref(), cut, limit)?;
                let rank = factor.lift.ncols();
                let first = factor.singular_values.first().copied().unwrap_or_default();
                let full = factor.singular_values.iter().filter(|s| **s > cut * first).count();
                (network.clone(), Lift::Dense(factor.lift), rank, full)
            }
        };
        let interior = Tables::new(&network, &lift, &interior, &needed[0]);
        let perimeter = Tables::new(&network, &lift, &perimeter, &needed[1]);
        Ok(ReferenceBasis { network, rank, full_rank, lift, interior, perimeter })
    }

    /// `out[(i, j)] = (L_i psi_j)(xi_i)`, where row i stands at node `nodes(i)` of a part.
    pub fn assemble(&self, part: Part, rows: &Symbols, nodes: impl Fn(usize) -> usize, mut out: faer::MatMut<'_, f64>) {
        let tables = match part {
            Part::Interior => &self.interior,
            Part::Perimeter => &self.perimeter,
        };
        let index: Vec<usize> = (0..rows.len()).map(nodes).collect();
        let consecutive = index.windows(2).all(|w| w[1] == w[0] + 1);
        for j in 0..self.rank {
            let column = out.as_mut().col_mut(j).try_as_col_major_mut().expect("columns are contiguous").as_slice_mut();
            column.fill(0.0);
            for (c, start) in rows.coefficients().iter().zip(tables.starts) {
                let (Some(c), Some(start)) = (c, start) else { continue };
                let values = &tables.values.col_as_slice(j)[start..];
                if consecutive && !index.is_empty() {
                    let values = &values[index[0]..index[0] + index.len()];
                    column.iter_mut().zip(*c).zip(values).for_each(|((k, c), v)| *k += c * v);
                } else {
                    column.iter_mut().zip(*c).zip(&index).for_each(|((k, c), &i)| *k += c * values[i]);
                }
            }
        }
    }
}

impl Tables {
    fn new(network: &FeatureNetwork, lift: &Lift, points: &Points, needed: &[Vec<usize>]) -> Self {
        let count = points.x.len();
        let mut starts = [None; DERIVATIVES];
        needed.iter().enumerate().for_each(|(k, sum)| starts[sum[0]] = Some(k * count));
        let mut features = Mat::zeros(needed.len() * count, network.len());
        for (j, &b) in network.biases.iter().enumerate() {
            let w = [network.weights[0][j], network.weights[1][j]];
            let column = features.col_as_slice_mut(j);
            network.activation.derivative_columns(w, b, &points.x, &points.y, needed, column);
        }
        let values = match lift {
            Lift::Triangular(r) => {
                solve_upper_right(r.as_ref(), features.as_mut());
                features
            }
            Lift::Dense(lift) => features * lift,
        };
        Tables { starts, values }
    }
}
