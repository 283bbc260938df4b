//! Whether there is a formal power series at a vertex that satisfies equation, conditions and continuity.
//!
//! It is asked of polynomials, one for each material, on a neighbourhood of the vertex: the least-squares residual falls like a high power of
//! the radius for smooth data, and like `radius^(lambda - 2)` where `r^lambda log r` is missing.
//!
//! Rows are in coordinates along the first ray, over the radius. There the corners of a rectangle with a constant diffusion have the same
//! rows, on small neighbourhoods as on large ones, and share a factorization: looking at them costs next to nothing. The process keeps
//! the last ones for the next problem: those with the same bits, so that no answer depends on what was asked before.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::algebra::factor::{Mat, PivotedQr, pivoted_qr};
use crate::algebra::quadrature::gauss;
use crate::base::error::{Error, Result};
use crate::domain::map::Point;
use crate::domain::plane::dot;
use crate::domain::sample::Sample;
use crate::domain::vertex::{
    BoundarySide, Material, Vertex, conormal, diffusion, sample, sector, straight_side, tensor,
};
use crate::problem::field::{Field, FieldRef};

/// A residual of so many roundings of the data is none.
const ROUNDINGS: f64 = 32.0;

/// The highest degree of the polynomials.
const HIGHEST: usize = 10;

/// ... and the lowest that tells corners from others.
const LOWEST: usize = 6;

/// Rows that differ by less, relative to them, are the same: angles are known to rounding.
const SAME: f64 = 1e-13;

/// How many factorizations are kept.
const KEPT: usize = 4;

/// The last ones that were computed, by any.
static LAST: Mutex<VecDeque<Arc<Factored>>> = Mutex::new(VecDeque::new());

/// A part of a linear condition on the polynomials: value, first and second derivatives of that of a material at a point, in local
/// coordinates.
#[derive(PartialEq)]
struct Term {
    group: usize,
    at: Point,
    weights: [f64; 6],
}

/// A linear condition on the polynomials: what its one or two terms add up to. There are thousands, so they are no lists.
struct Row {
    term: Term,
    other: Option<Term>,
    value: f64,
}

impl Row {
    fn terms(&self) -> impl Iterator<Item = &Term> {
        std::iter::once(&self.term).chain(&self.other)
    }
}

/// Polynomials of some degree, and the factorizations of the rows that they had to satisfy.
pub struct Series {
    degree: usize,
    /// Points of a sector in each direction, and of a side.
    nodes: Vec<f64>,
    factors: VecDeque<Arc<Factored>>,
}

/// Rows with polynomials of some degree, and their factorization.
struct Factored {
    degree: usize,
    rows: Vec<Row>,
    factor: PivotedQr,
}

/// The rows of a vertex on the way.
struct Rows<'a> {
    vertex: &'a Vertex<'a>,
    radius: f64,
    nodes: &'a [f64],
    rows: Vec<Row>,
}

impl Series {
    /// Polynomials that follow smooth data as far as so many points per side of an element do.
    pub fn new(points: usize) -> Self {
        let degree = (points / 2 + 2).clamp(LOWEST, HIGHEST);
        Series { degree, nodes: gauss(degree + 1).0, factors: VecDeque::new() }
    }

    /// How far polynomials are from satisfying everything on a neighbourhood, beyond rounding, in units of the source.
    pub fn residual(&mut self, vertex: &Vertex, radius: f64) -> Result<f64> {
        let mut maker = Rows { vertex, radius, nodes: &self.nodes, rows: Vec::new() };
        maker.add_all()?;
        let rows = maker.rows;
        let largest = rows.iter().fold(0.0f64, |largest, row| largest.max(row.value.abs()));
        if largest == 0.0 {
            return Ok(0.0);
        }
        let mut right = Mat::from_fn(rows.len(), 1, |i, _| rows[i].value);
        let count = rows.len();
        let factor = self.factor(rows)?;
        factor.q.apply_transpose(right.as_mut());
        let left = (factor.rank()..count).map(|i| right[(i, 0)].powi(2)).sum::<f64>();
        let rounding = ROUNDINGS * f64::EPSILON * largest;
        // Rows are in units of the source times the square of the radius.
        Ok(((left / count as f64).sqrt() - rounding).max(0.0) / (radius * radius))
    }

    /// How many factorizations are kept.
    #[cfg(test)]
    pub fn factorizations(&self) -> usize {
        self.factors.len()
    }

    /// The factorization of rows, or that of the same ones.
    fn factor(&mut self, rows: Vec<Row>) -> Result<&PivotedQr> {
        let at = match self.factors.iter().position(|known| are_same(&known.rows, &rows)) {
            Some(at) => at,
            None => {
                let factored = self.factored(rows)?;
                keep(&mut self.factors, factored);
                self.factors.len() - 1
            }
        };
        Ok(&self.factors[at].factor)
    }

    /// Rows with their factorization: the one that is there for these bits, or a new one.
    fn factored(&self, rows: Vec<Row>) -> Result<Arc<Factored>> {
        let last = || LAST.lock().unwrap_or_else(PoisonError::into_inner);
        let identical = |known: &&Arc<Factored>| {
            let same = |(a, b): (&Row, &Row)| a.term == b.term && a.other == b.other;
            known.degree == self.degree && known.rows.len() == rows.len() && known.rows.iter().zip(&rows).all(same)
        };
        if let Some(known) = last().iter().find(identical) {
            return Ok(known.clone());
        }
        let factor = pivoted_qr(self.matrix(&rows), 1e-13, usize::MAX)?;
        let factored = Arc::new(Factored { degree: self.degree, rows, factor });
        keep(&mut last(), factored.clone());
        Ok(factored)
    }

    fn matrix(&self, rows: &[Row]) -> Mat<f64> {
        let each = (self.degree + 1) * (self.degree + 2) / 2;
        let groups = rows.iter().flat_map(Row::terms).map(|term| term.group + 1).max().unwrap_or(0);
        let mut matrix = Mat::zeros(rows.len(), groups * each);
        for (i, row) in rows.iter().enumerate() {
            for term in row.terms() {
                add_polynomials(self.degree, term, |k, value| matrix[(i, term.group * each + k)] += value);
            }
        }
        matrix
    }
}

/// Adds a factorization, and forgets the oldest one if there are too many.
fn keep(factors: &mut VecDeque<Arc<Factored>>, factored: Arc<Factored>) {
    if factors.len() == KEPT {
        factors.pop_front();
    }
    factors.push_back(factored);
}

/// Whether rows are the same, up to rounding and to what they add up to.
fn are_same(a: &[Row], b: &[Row]) -> bool {
    let same_term = |(a, b): (&Term, &Term)| {
        let size = a.weights.iter().fold(0.0f64, |size, w| size.max(w.abs()));
        let near = |(a, b): (&f64, &f64), size: f64| (a - b).abs() <= SAME * size;
        a.group == b.group
            && a.at.iter().zip(&b.at).all(|pair| near(pair, 1.0))
            && a.weights.iter().zip(&b.weights).all(|pair| near(pair, size))
    };
    let same = |(a, b): (&Row, &Row)| a.other.is_some() == b.other.is_some() && a.terms().zip(b.terms()).all(same_term);
    a.len() == b.len() && a.iter().zip(b).all(same)
}

/// The gradient of a field at points: its own, or by differences of fourth order with a small part of the radius as step.
fn gradient(field: &dyn Field, points: &Sample, radius: f64) -> Result<[Vec<f64>; 2]> {
    let n = points.x.len();
    let (mut dx, mut dy) = (vec![0.0; n], vec![0.0; n]);
    let key = "equation.diffusion";
    let known = field.gradients(&points.samples(0), &mut dx, &mut dy).map_err(Error::callback(key))?;
    if known {
        return Ok([dx, dy]);
    }
    let h = 1e-3 * radius;
    let along = |direction: [f64; 2]| -> Result<Vec<f64>> {
        let at = |s: f64| {
            let moved = |v: &[f64], d: f64| v.iter().map(|v| v + s * h * d).collect();
            Sample::at(moved(&points.x, direction[0]), moved(&points.y, direction[1])).values(field, key, 0)
        };
        let [a, b, c, d] = [at(-2.0)?, at(-1.0)?, at(1.0)?, at(2.0)?];
        Ok((0..n).map(|i| (a[i] - d[i] + 8.0 * (c[i] - b[i])) / (12.0 * h)).collect())
    };
    Ok([along([1.0, 0.0])?, along([0.0, 1.0])?])
}

/// Which polynomial a sector has: neighbours of the same region share theirs.
fn groups(vertex: &Vertex) -> Vec<usize> {
    let same = |a: usize, b: usize| vertex.materials[a].region == vertex.materials[b].region;
    let mut groups = vec![0; vertex.materials.len()];
    for k in 1..groups.len() {
        groups[k] = groups[k - 1] + usize::from(!same(k - 1, k));
    }
    let last = groups.len() - 1;
    if vertex.sides.is_none() && same(0, last) {
        let closing = groups[last];
        groups.iter_mut().filter(|group| **group == closing).for_each(|group| *group = 0);
    }
    groups
}

impl Rows<'_> {
    fn add_all(&mut self) -> Result<()> {
        let vertex = self.vertex;
        let groups = groups(vertex);
        for (material, &group) in vertex.materials.iter().zip(&groups) {
            self.add_equation(material, group)?;
        }
        if let Some([first, last]) = &vertex.sides {
            for (side, k) in [(first, 0), (last, vertex.materials.len() - 1)] {
                self.add_side(side, &vertex.materials[k], groups[k])?;
            }
        }
        for k in 0..vertex.materials.len() {
            let next = (k + 1) % vertex.materials.len();
            if groups[k] != groups[next] && (next > 0 || vertex.sides.is_none()) {
                let sides = [k, next].map(|m| (&vertex.materials[m], groups[m]));
                self.add_interface(sides, vertex.materials[k].angles[1])?;
            }
        }
        Ok(())
    }

    /// An operator (1, x, y, xx, xy, yy) at a point relative to the vertex, in local coordinates.
    fn term(&self, group: usize, at: Point, [v, x, y, xx, xy, yy]: [f64; 6]) -> Term {
        let along = self.vertex.direction;
        let across = [-along[1], along[0]];
        let turned = |d: Point| [dot(d, along), dot(d, across)];
        let second = [turned([xx, 0.5 * xy]), turned([0.5 * xy, yy])];
        let [s, m] = turned([second[0][0], second[1][0]]);
        let [_, t] = turned([second[0][1], second[1][1]]);
        let (one, two) = (1.0 / self.radius, 1.0 / (self.radius * self.radius));
        let [x, y] = turned([x, y]);
        Term { group, at: turned(at).map(|v| one * v), weights: [v, one * x, one * y, two * s, two * 2.0 * m, two * t] }
    }

    /// `-div(a grad u) + b . grad u + c u = f` in a sector, times the square of the radius.
    fn add_equation(&mut self, material: &Material, group: usize) -> Result<()> {
        let (radius, nodes) = (self.radius, self.nodes);
        let [from, to] = material.angles;
        let rays: Vec<(f64, f64)> = nodes.iter().map(|t| (from + t * (to - from)).sin_cos()).collect();
        let offsets: Vec<Point> =
            nodes.iter().flat_map(|r| rays.iter().map(move |(s, c)| [radius * r * c, radius * r * s])).collect();
        let points = sample(self.vertex, &offsets);
        let a = tensor(material.equation, &points)?;
        let mut first = [vec![0.0; offsets.len()], vec![0.0; offsets.len()]];
        // -(div a) . grad u, div a = (d_x a11 + d_y a21, d_x a12 + d_y a22)
        let mut last: Option<(&FieldRef, [Vec<f64>; 2])> = None;
        for (d, row) in diffusion(material.equation)?.into_iter().enumerate() {
            for (k, field) in row.into_iter().enumerate() {
                let Some(field) = field.filter(|field| field.constant().is_none()) else { continue };
                // One number in all directions is asked for once.
                let (_, slopes) = match last.take().filter(|(known, _)| Arc::ptr_eq(known, field)) {
                    Some(known) => last.insert(known),
                    None => last.insert((field, gradient(field.as_ref(), &points, radius)?)),
                };
                first[k].iter_mut().zip(&slopes[d]).for_each(|(v, slope)| *v -= slope);
            }
        }
        let mut zeroth = vec![0.0; offsets.len()];
        for (k, b) in material.equation.advection().into_iter().flatten().enumerate() {
            let values = points.values(b.as_ref(), "equation.advection", 0)?;
            first[k].iter_mut().zip(values).for_each(|(v, b)| *v += b);
        }
        if let Some(c) = material.equation.reaction() {
            zeroth = points.values(c.as_ref(), "equation.reaction", 0)?;
        }
        let f = points.values(material.source, "equation.source", 0)?;
        let square = radius * radius;
        for (i, &at) in offsets.iter().enumerate() {
            let weights = [zeroth[i], first[0][i], first[1][i], -a[0][i], -a[1][i] - a[2][i], -a[3][i]];
            let term = self.term(group, at, weights.map(|v| square * v));
            self.rows.push(Row { term, other: None, value: square * f[i] });
        }
        Ok(())
    }

    /// A condition on a side: values times the diffusion, fluxes times the radius.
    fn add_side(&mut self, side: &BoundarySide, material: &Material, group: usize) -> Result<()> {
        let radius = self.radius;
        let (offsets, normals): (Vec<Point>, Vec<Point>) = self.nodes.iter().map(|r| (side.curve)(radius * r)).unzip();
        let points = sample(self.vertex, &offsets);
        let a = tensor(material.equation, &points)?;
        let g = points.values(side.condition.values[0].as_ref(), "boundary", 0)?;
        let k = match side.condition.multiple() {
            Some(k) => points.values(k.as_ref(), "boundary", 0)?,
            None => vec![0.0; g.len()],
        };
        let of_flux = !side.condition.is_essential();
        for (i, &at) in offsets.iter().enumerate() {
            let at_point = a.each_ref().map(|v| v[i]);
            let (weights, scale) = if of_flux {
                let [x, y] = conormal(at_point, normals[i]);
                ([k[i], x, y, 0.0, 0.0, 0.0], radius)
            } else {
                ([1.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0.5 * (at_point[0] + at_point[3]))
            };
            let term = self.term(group, at, weights.map(|v| scale * v));
            self.rows.push(Row { term, other: None, value: scale * g[i] });
        }
        Ok(())
    }

    /// Continuity of u and of its flux across the ray between two materials.
    fn add_interface(&mut self, sides: [(&Material, usize); 2], angle: f64) -> Result<()> {
        let (vertex, radius) = (self.vertex, self.radius);
        let ray = straight_side(angle, false);
        for r in self.nodes {
            let (at, normal) = ray(radius * r);
            let mut tensors = Vec::new();
            for (material, _) in sides {
                // From inside of the material, where its coefficients are its own.
                let place = Vertex { point: [0, 1].map(|k| vertex.point[k] + at[k]), ..*vertex };
                let inside = sector(&place, material)?.tensor;
                tensors.push([inside[0][0], inside[0][1], inside[1][0], inside[1][1]]);
            }
            // u itself is continuous, not u times the diffusion.
            let mean = tensors.iter().map(|a| 0.25 * (a[0] + a[3])).sum::<f64>();
            let on = |k: usize, sign: f64| {
                let ((_, group), [x, y]) = (sides[k], conormal(tensors[k], normal));
                let value = self.term(group, at, [sign * mean, 0.0, 0.0, 0.0, 0.0, 0.0]);
                let flux = self.term(group, at, [0.0, x, y, 0.0, 0.0, 0.0].map(|v| sign * radius * v));
                [value, flux]
            };
            let ([value, flux], [other_value, other_flux]) = (on(0, 1.0), on(1, -1.0));
            for (term, other) in [(value, other_value), (flux, other_flux)] {
                self.rows.push(Row { term, other: Some(other), value: 0.0 });
            }
        }
        Ok(())
    }
}

/// A term of the products of Legendre polynomials up to a degree, one after the other.
fn add_polynomials(degree: usize, Term { at, weights, .. }: &Term, mut add: impl FnMut(usize, f64)) {
    let [p, q] = at.map(|z| legendre(z, degree));
    let [v, dx, dy, dxx, dxy, dyy] = *weights;
    let mut number = 0;
    for total in 0..=degree {
        for j in 0..=total {
            let (p, q) = (p[total - j], q[j]);
            let value = v * p[0] * q[0]
                + (dx * p[1] * q[0] + dy * p[0] * q[1])
                + (dxx * p[2] * q[0] + dxy * p[1] * q[1] + dyy * p[0] * q[2]);
            add(number, value);
            number += 1;
        }
    }
}

/// Legendre polynomials up to a degree, with their first and second derivatives.
fn legendre(z: f64, degree: usize) -> [[f64; 3]; HIGHEST + 1] {
    let mut out = [[1.0, 0.0, 0.0]; HIGHEST + 1];
    out[1] = [z, 1.0, 0.0];
    for k in 2..=degree {
        let m = k as f64;
        let [a, b] = [out[k - 1], out[k - 2]];
        let (up, down) = ((2.0 * m - 1.0) / m, (m - 1.0) / m);
        out[k] = [
            up * z * a[0] - down * b[0],
            up * (a[0] + z * a[1]) - down * b[1],
            up * (2.0 * a[1] + z * a[2]) - down * b[2],
        ];
    }
    out
}
