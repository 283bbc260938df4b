//! What a solution leaves in the rows of a local problem, `F + E u - K c`, where neither K nor its orthogonal factor is kept.
//!
//! K c is evaluated as it was assembled: coefficients of the rows times derivatives of the solution, `K c = sum_alpha
//! diag(c_alpha) (T_alpha c)` with the tables `T_alpha` of the shared basis. Many subdomains at once are one product of
//! matrices.

use faer::Mat;

use crate::local::basis::{ReferenceBasis, Zone};
use crate::local::local_factor::{LocalData, LocalFactor, side_by_side};
use crate::local::rows::LocalRows;
use crate::network::symbol::Symbols;

/// The rows of K as operators, but for the flux balance, which is the last flux.
pub(crate) struct Image {
    interior: Symbols,
    perimeter: Symbols,
    /// The perimeter nodes.
    nodes: Vec<usize>,
}

/// A solution of a local problem: coefficients and interface values, one column per right-hand side.
pub(crate) struct Found<'a> {
    pub image: &'a Image,
    pub factor: &'a LocalFactor,
    pub data: &'a LocalData,
    pub y: &'a Mat<f64>,
    pub values: &'a Mat<f64>,
}

impl Image {
    pub fn taken_from(rows: LocalRows) -> Self {
        Image { interior: rows.interior, perimeter: rows.perimeter, nodes: rows.layout.nodes }
    }
}

/// The squares of what solutions on subdomains of one shape leave, the flux balance not counted.
pub(crate) fn squared_residuals(basis: &ReferenceBasis, found: &[Found<'_>]) -> Vec<f64> {
    let y = side_by_side(&found.iter().map(|f| f.y).collect::<Vec<_>>());
    let [inside, around] = [Zone::Interior, Zone::Perimeter].map(|zone| basis.images(zone, &y));
    let square = |(which, found): (usize, &Found<'_>)| -> f64 {
        let Found { image, factor, data, values, .. } = found;
        let (columns, interior) = (data.f.ncols(), image.interior.len());
        let of = |k: usize| -> f64 {
            let mut rest = data.f.col_as_slice(k)[..interior + image.perimeter.len()].to_vec();
            for (j, &(row, entry)) in factor.traces.iter().enumerate() {
                rest[row] += entry * values[(j, k)];
            }
            let (top, bottom) = rest.split_at_mut(interior);
            let column = which * columns + k;
            basis.subtract(Zone::Interior, &image.interior, |i| i, inside.col_as_slice(column), top);
            let node = |i: usize| image.nodes[i % image.nodes.len()];
            basis.subtract(Zone::Perimeter, &image.perimeter, node, around.col_as_slice(column), bottom);
            rest.iter().map(|r| r * r).sum()
        };
        (0..columns).map(of).sum()
    };
    found.iter().enumerate().map(square).collect()
}
