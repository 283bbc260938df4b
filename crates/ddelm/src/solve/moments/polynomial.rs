//! Polynomials on the shapes of subdomains, and the lines across them along which a source is singular at an end.

use std::sync::Arc;

use faer::Mat;
use faer::linalg::solvers::DenseSolveCore;

use crate::algebra::quadrature::gauss;
use crate::domain::map::Point;
use crate::domain::shape::Shape;
use crate::solution::tails::{Lines as Nodes, Tail};

use super::end::End;

/// Lines from one side to another, or to the corner that faces it, along which sources are taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Lines {
    /// In the direction of a coordinate of the square.
    Along(usize),
    /// From a side of the triangle to the corner that faces it.
    From(usize),
}

impl Lines {
    pub(super) fn all(shape: Shape) -> &'static [Lines] {
        match shape {
            Shape::Quadrilateral => &[Lines::Along(0), Lines::Along(1)],
            Shape::Triangle => &[Lines::From(0), Lines::From(1), Lines::From(2)],
        }
    }

    /// The side that lines begin at.
    pub(super) fn side(self) -> usize {
        match self {
            Lines::Along(across) => 3 * (1 - across),
            Lines::From(side) => side,
        }
    }

    /// A point so far along the line that begins there on its side; and the area that belongs to it.
    pub(super) fn point(self, t: f64, beginning: f64) -> (Point, f64) {
        match self {
            Lines::Along(0) => ([t, beginning], 1.0),
            Lines::Along(_) => ([beginning, t], 1.0),
            Lines::From(side) => {
                let corner = Shape::Triangle.corners()[(side + 2) % 3];
                let foot = Shape::Triangle.side_point(side, beginning);
                ([0, 1].map(|a| (1.0 - t) * foot[a] + t * corner[a]), 1.0 - t)
            }
        }
    }
}

/// Polynomials, and the inverse of their inner products.
pub(super) struct Basis {
    /// The degrees of Legendre polynomials in the two coordinates.
    pub(super) degrees: Vec<[usize; 2]>,
    pub(super) inverse: Mat<f64>,
}

impl Basis {
    /// For n points per side. Those that follow a singular source cannot follow much else: so many degrees across as leave its
    /// coefficients to the equation, and as many along it as u has.
    pub(super) fn new(points: usize, lines: Lines) -> Self {
        let fits = |&[i, j]: &[usize; 2]| match lines {
            Lines::Along(0) => i <= points / 2 && j + 2 <= points,
            Lines::Along(_) => j <= points / 2 && i + 2 <= points,
            Lines::From(_) => i + j <= 3 * points / 4,
        };
        let degrees: Vec<[usize; 2]> =
            (0..points).flat_map(|i| (0..points).map(move |j| [i, j])).filter(fits).collect();
        let (nodes, weights) = gauss(points + 1);
        let mut inner = Mat::<f64>::zeros(degrees.len(), degrees.len());
        for (&s, ws) in nodes.iter().zip(&weights) {
            for (&t, wt) in nodes.iter().zip(&weights) {
                let (xi, area) = lines.point(t, s);
                let values = values_of(&degrees, xi);
                for (k, v) in values.iter().enumerate() {
                    let v = v * ws * wt * area;
                    inner.col_as_slice_mut(k).iter_mut().zip(&values).for_each(|(m, u)| *m += u * v);
                }
            }
        }
        Basis { inverse: inner.partial_piv_lu().inverse(), degrees }
    }
}

/// Products of Legendre polynomials at a point.
pub(super) fn values_of(degrees: &[[usize; 2]], xi: Point) -> Vec<f64> {
    let most = degrees.iter().flatten().max().map_or(0, |most| most + 1);
    let [p, q] = xi.map(|t| legendre(most, 2.0 * t - 1.0).collect::<Vec<f64>>());
    degrees.iter().map(|&[i, j]| p[i] * q[j]).collect()
}

/// The Legendre polynomials below a degree at z.
fn legendre(count: usize, z: f64) -> impl Iterator<Item = f64> {
    let next = move |&(k, before, value): &(f64, f64, f64)| {
        Some((k + 1.0, value, ((2.0 * k + 1.0) * z * value - k * before) / (k + 1.0)))
    };
    std::iter::successors(Some((0.0, 0.0, 1.0)), next).map(|(_, _, value)| value).take(count)
}

/// A polynomial that has the moments of a source.
pub(super) struct Polynomial {
    /// The lines that the source is singular at the ends of, and the width of the subdomain along them.
    pub(super) lines: Lines,
    pub(super) width: f64,
    pub(super) diffusion: f64,
    /// How it ends at both ends, on the lines where it does so most.
    pub(super) ends: [Option<End>; 2],
    /// The mean of its size.
    pub(super) mean: f64,
    pub(super) basis: Arc<Basis>,
    pub(super) coefficients: Vec<f64>,
}

impl Polynomial {
    pub(super) fn value(&self, xi: Point) -> f64 {
        values_of(&self.basis.degrees, xi).iter().zip(&self.coefficients).map(|(p, c)| p * c).sum()
    }

    /// What `d^(power + 2)` leaves in each direction.
    pub(super) fn tails(&self, points: usize) -> [Tail; 2] {
        // As many nodes as the polynomial has degrees across.
        let nodes = Nodes::new(points / 2 + 2);
        let along = |t: f64| -> f64 {
            let ends = self.ends.iter().zip([t, 1.0 - t]);
            ends.map(|(end, d)| end.map_or(0.0, |end| end.twice_integrated(d))).sum()
        };
        let scale = self.width * self.width / self.diffusion;
        let values: Vec<f64> = nodes.nodes().into_iter().map(|t| scale * along(t)).collect();
        let tail = nodes.line(&values, false);
        match self.lines {
            Lines::Along(0) => [tail, Tail::NOTHING],
            Lines::Along(_) => [Tail::NOTHING, tail],
            Lines::From(_) => [tail; 2],
        }
    }
}
