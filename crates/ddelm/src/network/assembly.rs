//! The one assembly loop: operators at points, applied to features.

use faer::{Mat, MatMut};

use crate::domain::map::Point;
use crate::network::features::FeatureNetwork;
use crate::network::polynomial;
use crate::network::symbol::Symbols;

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

/// `out[(i, j)] = (L_i phi_j)(xi_i)`: row i applies operator i at point i to every column of the network.
pub fn assemble(network: &FeatureNetwork, points: &Points, rows: &Symbols, mut out: MatMut<'_, f64>) {
    let coefficients = rows.coefficients();
    let mut values = vec![0.0; points.x.len()];
    for j in 0..network.columns() {
        let column = out.as_mut().col_mut(j).try_as_col_major_mut().expect("columns are contiguous").as_slice_mut();
        match j.checked_sub(network.polynomials) {
            Some(neuron) => {
                let w = [network.weights[0][neuron], network.weights[1][neuron]];
                network.activation.column(w, network.biases[neuron], &points.x, &points.y, &coefficients, column);
            }
            None => {
                column.fill(0.0);
                for (a, c) in coefficients.iter().enumerate().filter_map(|(a, c)| c.map(|c| (a, c))) {
                    polynomial::column(j, a, &points.x, &points.y, &mut values);
                    column.iter_mut().zip(c).zip(&values).for_each(|((k, c), v)| *k += c * v);
                }
            }
        }
    }
}

/// [`assemble`] into a new matrix, the rows of `parts` one below the other.
pub fn assembled(network: &FeatureNetwork, parts: &[(&Points, &Symbols)]) -> Mat<f64> {
    let rows = parts.iter().map(|(_, symbols)| symbols.len()).sum();
    let mut out = Mat::zeros(rows, network.columns());
    let mut start = 0;
    for (points, symbols) in parts {
        assemble(network, points, symbols, out.as_mut().subrows_mut(start, symbols.len()));
        start += symbols.len();
    }
    out
}

/// Sums of derivatives of every column of a network at points, one sum below the other: `needed[m]` lists the derivatives
/// of the m-th sum, all of the same order.
pub fn derivative_tables(network: &FeatureNetwork, points: &Points, needed: &[Vec<usize>]) -> Mat<f64> {
    let count = points.x.len();
    let mut out = Mat::zeros(needed.len() * count, network.columns());
    let mut values = vec![0.0; count];
    for j in 0..network.columns() {
        let column = out.col_as_slice_mut(j);
        match j.checked_sub(network.polynomials) {
            Some(neuron) => {
                let w = [network.weights[0][neuron], network.weights[1][neuron]];
                let b = network.biases[neuron];
                network.activation.derivative_columns(w, b, &points.x, &points.y, needed, column);
            }
            None => {
                for (piece, sum) in column.chunks_exact_mut(count.max(1)).zip(needed) {
                    for &a in sum {
                        polynomial::column(j, a, &points.x, &points.y, &mut values);
                        piece.iter_mut().zip(&values).for_each(|(out, v)| *out += v);
                    }
                }
            }
        }
    }
    out
}
