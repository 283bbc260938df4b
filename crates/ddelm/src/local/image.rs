//! What a solution leaves in the rows of a local problem, `F + E u - K c`, where neither K nor its orthogonal factor is kept.
//!
//! K c is evaluated as it was assembled: coefficients of the rows times derivatives of the solution, `K c = sum_alpha
//! diag(c_alpha) (T_alpha c)` with the tables `T_alpha` of the shared basis. Many subdomains at once are one product of
//! matrices.

use faer::Mat;

use crate::local::basis::{ReferenceBasis, Zone};
use crate::local::local_factor::{LocalData, LocalFactor, side_by_side};
use crate::local::rows::LocalRows;
use crate::network::symbol::{Symbol, Symbols};

/// The rows of K as operators, but for the flux balance, which is the last flux.
pub(crate) struct Image {
    interior: Symbols,
    perimeter: Symbols,
    /// The perimeter nodes.
    nodes: Vec<usize>,
    /// The areas of the interior nodes and the layers of the perimeter rows, where rows are tested.
    tested: Option<[Vec<f64>; 2]>,
}

/// Squares of what a solution of a local problem leaves.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Squares {
    /// In the rows, the flux balance not counted.
    pub residual: f64,
    /// The layers that it does not have, integrated,
    pub layers: f64,
    /// ... and the solution itself, integrated; both where rows are tested.
    pub size: f64,
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
        let tested = rows.tests.map(|tests| [tests.areas, tests.layers]);
        Image { interior: rows.interior, perimeter: rows.perimeter, nodes: rows.layout.nodes, tested }
    }
}

/// The squares of what solutions on subdomains of one shape leave.
pub(crate) fn squared_residuals(basis: &ReferenceBasis, found: &[Found<'_>]) -> Vec<Squares> {
    let y = side_by_side(&found.iter().map(|f| f.y).collect::<Vec<_>>());
    let [inside, around] = [Zone::Interior, Zone::Perimeter].map(|zone| basis.images(zone, &y));
    let squares = |(which, found): (usize, &Found<'_>)| -> Squares {
        let Found { image, factor, data, values, .. } = found;
        let (columns, interior) = (data.f.ncols(), image.interior.len());
        let mut squares = Squares::default();
        for k in 0..columns {
            let mut rest = data.f.col_as_slice(k)[..interior + image.perimeter.len()].to_vec();
            for (j, &(row, entry)) in factor.traces.iter().enumerate() {
                rest[row] += entry * values[(j, k)];
            }
            let (top, bottom) = rest.split_at_mut(interior);
            let column = which * columns + k;
            basis.subtract(Zone::Interior, &image.interior, |i| i, inside.col_as_slice(column), top);
            let node = |i: usize| image.nodes[i % image.nodes.len()];
            basis.subtract(Zone::Perimeter, &image.perimeter, node, around.col_as_slice(column), bottom);
            if let Some([areas, layers]) = &image.tested {
                let values: Symbols = areas.iter().map(|_| Symbol::TRACE).collect();
                let mut u = vec![0.0; interior];
                basis.subtract(Zone::Interior, &values, |i| i, inside.col_as_slice(column), &mut u);
                squares.size += u.iter().zip(areas).map(|(u, area)| u * u * area).sum::<f64>();
                squares.layers += bottom.iter().zip(layers).map(|(rest, layer)| rest * rest * layer).sum::<f64>();
            }
            squares.residual += rest.iter().map(|r| r * r).sum::<f64>();
        }
        squares
    };
    found.iter().enumerate().map(squares).collect()
}
