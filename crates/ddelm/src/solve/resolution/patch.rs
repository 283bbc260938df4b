//! A subdomain at its nodes and between them: what a field does there, and what the interpolant through the nodes says.

use std::convert::Infallible;

use crate::base::error::Result;
use crate::domain::decomposition::Decomposition;
use crate::domain::map::{Point, magnification, magnifications};
use crate::domain::sample::Sample;
use crate::domain::shape::{PerShape, Shape};
use crate::problem::ellipticity;
use crate::problem::field::FieldRef;
use crate::problem::model::Diffusion;
use crate::solution::tails::{Lines, Tail};

use super::group::{Kind, Piece};

/// Nodes in `(0, 1)`, finer points, and the matrix that takes values at the nodes to the interpolant at the points.
pub(super) struct Sampler {
    pub(super) lines: Lines,
    pub(super) nodes: Vec<f64>,
    pub(super) fine: Vec<f64>,
    /// The cell of every fine point; points that are close to the ends have none.
    pub(super) widths: Vec<f64>,
    /// By nodes: `lagrange[i * fine.len() + k]` is the i-th Lagrange polynomial at fine point k.
    lagrange: Vec<f64>,
}

impl Sampler {
    /// n Chebyshev nodes of the first kind, and a point in each of so many cells. Points in the middle of the cells would be
    /// blind to a field with their period, so they are spread by the golden ratio.
    pub(super) fn new(nodes: usize, cells: usize, close: &[f64]) -> Self {
        let angle = |i: usize| std::f64::consts::FRAC_PI_2 * (2 * i + 1) as f64 / (2 * nodes) as f64;
        let sign = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        let weights: Vec<f64> = (0..nodes).map(|i| sign(i) * (2.0 * angle(i)).sin()).collect();
        let places: Vec<f64> = (0..nodes).map(|i| angle(i).sin().powi(2)).collect();
        let golden = 0.5 * (5f64.sqrt() - 1.0);
        let mut fine: Vec<f64> =
            (0..cells).map(|k| (k as f64 + 0.1 + 0.8 * (golden * (k + 1) as f64).fract()) / cells as f64).collect();
        fine.extend(close.iter().flat_map(|&t| [t, 1.0 - t]));
        let mut widths = vec![1.0 / cells as f64; cells];
        widths.resize(fine.len(), 0.0);
        let cells = fine.len();
        let mut lagrange = vec![0.0; nodes * cells];
        for (k, &t) in fine.iter().enumerate() {
            if let Some(i) = places.iter().position(|&node| node == t) {
                lagrange[i * cells + k] = 1.0;
                continue;
            }
            let sum: f64 = places.iter().zip(&weights).map(|(node, w)| w / (t - node)).sum();
            for i in 0..nodes {
                lagrange[i * cells + k] = weights[i] / (t - places[i]) / sum;
            }
        }
        Sampler { lines: Lines::new(nodes), nodes: places, fine, widths, lagrange }
    }

    /// The interpolant at all fine points of the square, from values at all nodes of it.
    pub(super) fn square(&self, values: &[f64]) -> Vec<f64> {
        let (n, k) = (self.nodes.len(), self.fine.len());
        let mut half = vec![0.0; k * n];
        for (i, row) in values.chunks(n).enumerate() {
            for (weight, out) in self.lagrange[i * k..(i + 1) * k].iter().zip(half.chunks_mut(n)) {
                out.iter_mut().zip(row).for_each(|(o, v)| *o += weight * v);
            }
        }
        let mut found = vec![0.0; k * k];
        for (row, out) in half.chunks(n).zip(found.chunks_mut(k)) {
            self.line(row, out);
        }
        found
    }

    /// The interpolant at the fine points of a line, added to `out`.
    pub(super) fn line(&self, values: &[f64], out: &mut [f64]) {
        for (value, lagrange) in values.iter().zip(self.lagrange.chunks(self.fine.len())) {
            out.iter_mut().zip(lagrange).for_each(|(o, l)| *o += value * l);
        }
    }
}

/// Values and interpolant of a field in one place, and how differences are measured there.
pub(super) struct Compared<'a> {
    pub(super) key: &'a str,
    pub(super) subdomain: usize,
    pub(super) points: &'a Sample,
    pub(super) values: &'a [f64],
    pub(super) expected: &'a [f64],
}

impl Compared<'_> {
    /// `area` of the cell of a point, and the `unit` of a difference there.
    pub(super) fn piece(&self, area: impl Fn(usize) -> f64, unit: impl Fn(usize) -> f64) -> Piece {
        let mut piece = Piece {
            key: self.key.into(),
            subdomain: self.subdomain,
            tails: [Tail::NOTHING; 2],
            measure: 0.0,
            size: 0.0,
            integral: 0.0,
            missing: 0.0,
            worst: -1.0,
            point: [0.0; 2],
            value: 0.0,
            expected: 0.0,
        };
        for (k, (&value, &expected)) in self.values.iter().zip(self.expected).enumerate() {
            let (area, difference) = (area(k), value - expected);
            piece.measure += area;
            // A value next to a side, where a field may have a pole, says nothing about its size.
            if area > 0.0 {
                piece.size = piece.size.max(value.abs());
            }
            piece.integral += area * value.abs();
            piece.missing += area * difference;
            let relative = difference.abs() / unit(k);
            if relative > piece.worst {
                piece.worst = relative;
                piece.point = [self.points.x[k], self.points.y[k]];
                (piece.value, piece.expected) = (value, expected);
            }
        }
        piece
    }
}

/// The points of a [`Sampler`] in all of a shape.
struct Places {
    nodes: Vec<Point>,
    fine: Vec<Point>,
    /// The area of the cell of every fine point.
    areas: Vec<f64>,
}

impl Places {
    fn new(sampler: &Sampler, shape: Shape) -> Self {
        let points = |t: &[f64]| {
            t.iter().flat_map(|&a| t.iter().map(move |&b| collapsed(shape, [a, b]))).collect::<Vec<Point>>()
        };
        let rows = sampler.fine.iter().zip(&sampler.widths);
        let area = |(s, width): (&f64, &f64)| width * if shape == Shape::Triangle { 1.0 - s } else { 1.0 };
        let areas = rows.map(area).flat_map(|row| sampler.widths.iter().map(move |width| row * width)).collect();
        Places { nodes: points(&sampler.nodes), fine: points(&sampler.fine), areas }
    }
}

/// A sampler in all directions, for the shapes that there are.
pub(super) struct Grid {
    sampler: Sampler,
    places: PerShape<Places>,
}

impl Grid {
    pub(super) fn new(sampler: Sampler, shapes: &[Shape]) -> Self {
        let Ok(places) = PerShape::new(shapes, |shape| Ok::<_, Infallible>(Places::new(&sampler, shape)));
        Grid { sampler, places }
    }
}

/// A subdomain at its nodes and at finer points.
pub(super) struct Patch<'a> {
    pub(super) subdomain: usize,
    sampler: &'a Sampler,
    nodes: Sample,
    fine: Sample,
    /// The area of the cell of every fine point in the shape, and how many times as large it is in the subdomain.
    areas: &'a [f64],
    magnifications: Magnifications,
}

/// How many times as large a subdomain is as its shape.
enum Magnifications {
    Same(f64),
    Each(Vec<f64>),
}

impl<'a> Patch<'a> {
    pub(super) fn new(decomposition: &'a Decomposition, subdomain: usize, grid: &'a Grid) -> Self {
        let place = &decomposition.subdomains[subdomain];
        let map = place.map.as_ref();
        let Places { nodes, fine, areas } = grid.places.of(map.shape());
        let magnifications = match map.affine() {
            Some(map) => Magnifications::Same(magnification(map.jacobian)),
            None => Magnifications::Each(magnifications(map, fine).collect()),
        };
        let [nodes, fine] = [nodes, fine].map(|points| Sample::inside(place, points.clone()));
        Patch { subdomain, sampler: &grid.sampler, nodes, fine, areas, magnifications }
    }

    /// The area of the cell of a fine point.
    fn area(&self, k: usize) -> f64 {
        let magnification = match &self.magnifications {
            Magnifications::Same(all) => *all,
            Magnifications::Each(each) => each[k],
        };
        magnification * self.areas[k]
    }

    /// The tails of a field, where it may be found to be unresolved.
    fn with_tails(&self, piece: Piece, at_nodes: &[f64], kind: Kind, share: f64) -> Piece {
        match kind.may_be_unresolved(&piece, share) {
            true => Piece { tails: self.sampler.lines.tails(at_nodes).directions, ..piece },
            false => piece,
        }
    }

    pub(super) fn piece(&self, field: &FieldRef, key: &str, share: f64) -> Result<Piece> {
        let mut values = self.fine.raw_values(field.as_ref(), key, self.subdomain)?;
        let at_nodes = self.nodes.values(field.as_ref(), key, self.subdomain)?;
        let expected = self.sampler.square(&at_nodes);
        // Where a field has a pole along the side x = 1, points next to it are rounded onto it.
        for (k, value) in values.iter_mut().enumerate().filter(|(_, value)| !value.is_finite()) {
            if self.areas[k] == 0.0 {
                *value = expected[k];
            }
        }
        self.fine.finite(&values, key, self.subdomain)?;
        let (points, subdomain) = (&self.fine, self.subdomain);
        let compared = Compared { key, subdomain, points, values: &values, expected: &expected };
        Ok(self.with_tails(compared.piece(|k| self.area(k), |_| 1.0), &at_nodes, Kind::Source, share))
    }

    /// The entries of the diffusion that vary, each relative to the diffusion in its directions.
    pub(super) fn diffusion(&self, diffusion: &Diffusion) -> Result<Vec<Piece>> {
        const KEY: &str = "equation.diffusion";
        let entries: [[&FieldRef; 2]; 2] = match diffusion {
            Diffusion::Scalar(a) => [[a; 2]; 2],
            Diffusion::Tensor(a) => a.each_ref().map(|row| row.each_ref()),
        };
        let sample = |points: &Sample, a: &FieldRef| points.values(a.as_ref(), KEY, self.subdomain);
        let first = sample(&self.fine, entries[0][0])?;
        let (last, mixed) = match diffusion {
            Diffusion::Scalar(_) => (first.clone(), None),
            Diffusion::Tensor(_) => {
                let [last, b, c] = [[1, 1], [0, 1], [1, 0]].map(|[i, j]| sample(&self.fine, entries[i][j]));
                (last?, Some([b?, c?]))
            }
        };
        let tensor = |k: usize| {
            let [b, c] = mixed.as_ref().map_or([0.0; 2], |[b, c]| [b[k], c[k]]);
            [first[k], b, c, last[k]]
        };
        if !(mixed.is_none() && first.iter().chain(&last).all(|a| *a > 0.0)) {
            let fault =
                |k| ellipticity::fault(diffusion, tensor(k), [self.fine.x[k], self.fine.y[k]], Some(self.subdomain));
            if let Some(error) = (0..first.len()).find_map(fault) {
                return Err(error);
            }
        }
        let wanted: &[[usize; 2]] = match diffusion {
            Diffusion::Scalar(_) => &[[0, 0]],
            Diffusion::Tensor(_) => &[[0, 0], [0, 1], [1, 0], [1, 1]],
        };
        let varies = |&&[i, j]: &&[usize; 2]| entries[i][j].constant().is_none();
        let piece = |&[i, j]: &[usize; 2]| {
            let at_nodes = sample(&self.nodes, entries[i][j])?;
            let expected = self.sampler.square(&at_nodes);
            let values = match (i, j, &mixed) {
                (0, 1, Some([b, _])) => b,
                (1, 0, Some([_, c])) => c,
                (1, 1, _) => &last,
                _ => &first,
            };
            let (points, subdomain) = (&self.fine, self.subdomain);
            let compared = Compared { key: KEY, subdomain, points, values, expected: &expected };
            let diagonal = |i: usize, k: usize| if i == 0 { first[k] } else { last[k] };
            let piece = compared.piece(|k| self.area(k), |k| (diagonal(i, k) * diagonal(j, k)).sqrt());
            Ok(self.with_tails(piece, &at_nodes, Kind::Diffusion, f64::INFINITY))
        };
        wanted.iter().filter(varies).map(piece).collect()
    }
}

/// A point of the square as a point of the shape: a triangle is the square collapsed in a corner.
pub(super) fn collapsed(shape: Shape, [s, t]: Point) -> Point {
    match shape {
        Shape::Quadrilateral => [s, t],
        Shape::Triangle => [s, (1.0 - s) * t],
    }
}
