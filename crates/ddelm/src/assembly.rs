//! The one assembly loop: operators at points, applied to features.

use faer::{Mat, MatMut};

use crate::features::FeatureNetwork;
use crate::map::Point;
use crate::symbol::Symbols;

/// Reference points by coordinate.
#[derive(Debug, Clone, Default)]
pub struct Points {
    /// First coordinates.
    pub x: Vec<f64>,
    /// Second coordinates.
    pub y: Vec<f64>,
}

impl FromIterator<Point> for Points {
    fn from_iter<I: IntoIterator<Item = Point>>(points: I) -> Self {
        let (x, y) = points.into_iter().map(|p| (p[0], p[1])).unzip();
        Points { x, y }
    }
}

/// `out[(i, j)] = (L_i phi_j)(xi_i)`: row i applies operator i at point i to every feature.
pub fn assemble(network: &FeatureNetwork, points: &Points, rows: &Symbols, mut out: MatMut<'_, f64>) {
    let coefficients = rows.coefficients();
    for (j, &b) in network.biases.iter().enumerate() {
        let w = [network.weights[0][j], network.weights[1][j]];
        let column = out.as_mut().col_mut(j).try_as_col_major_mut().expect("columns are contiguous");
        network.activation.column(w, b, &points.x, &points.y, &coefficients, column.as_slice_mut());
    }
}

/// [`assemble`] into a new matrix, the rows of `parts` one below the other.
pub fn assembled(network: &FeatureNetwork, parts: &[(&Points, &Symbols)]) -> Mat<f64> {
    let rows = parts.iter().map(|(_, symbols)| symbols.len()).sum();
    let mut out = Mat::zeros(rows, network.len());
    let mut start = 0;
    for (points, symbols) in parts {
        assemble(network, points, symbols, out.as_mut().subrows_mut(start, symbols.len()));
        start += symbols.len();
    }
    out
}
