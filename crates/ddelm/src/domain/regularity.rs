//! Whether a solution is smooth at a vertex, or the vertex needs rings.
//!
//! Next to a vertex a solution is a formal power series, if there is one that satisfies the equation and the conditions there, plus
//! the functions `r^lambda phi(angle)` of the [`exponents`](crate::domain::exponents), whose coefficients depend on all of the problem. So it is
//! smooth, whatever the problem is elsewhere, exactly if
//!
//! 1. all exponents are whole numbers: then `r^lambda phi` are polynomials, one for each material (right angles, the middle of a side,
//!    a point of a straight interface), and
//! 2. there is a series: otherwise whole exponents come with logarithms. For `-Lap u = f`, u = 0 on both sides of a right angle, f = 1 has none
//!    (`r^2 log r`), nor has `f = x^2` (`r^4 log r`), but `f = x y` has.
//!
//! The second is asked of polynomials of degree ten, one for each material, on two neighbourhoods of the vertex: the least-squares
//! residual of equation, conditions and continuity falls like the tenth power of the radius for smooth data, and like `radius^(lambda - 2)`
//! where `r^lambda log r` is missing. In units of the source it is compared with the data of the whole problem. On a quarter of a unit square
//! f = 1 leaves `2e-5`, and `f = x^2` leaves `1e-9`; `r^6 log r` is too smooth to be found, and to do harm.
//!
//! Who asks has chosen candidates: corners of the outline, ends of a condition, points where materials meet. A point in the middle of a
//! smooth curved side, or of a smooth curved interface, is none.
//!
//! # References
//!
//! P. Grisvard, *Elliptic problems in nonsmooth domains* (1985), chapters 4 and 5.

use crate::algebra::factor::{Mat, pivoted_qr};
use crate::algebra::quadrature::gauss;
use crate::base::error::{Error, Result};
use crate::domain::exponents::{Ends, Exponent, LARGEST, Ray, Sector, exponents, is_elliptic};
use crate::domain::map::Point;
use crate::domain::sample::Sample;
use crate::problem::field::{Field, FieldRef};
use crate::problem::model::{Condition, ConditionKind, Diffusion, Equation};

/// A sector about a vertex, with what holds in it.
#[derive(Clone, Copy)]
pub struct Material<'a> {
    /// First and last angle, counter-clockwise; less than a half turn.
    pub angles: [f64; 2],
    /// Neighbouring sectors with the same number have the same smooth coefficients and source.
    pub region: usize,
    /// L
    pub equation: &'a Equation,
    /// f
    pub source: &'a dyn Field,
}

/// A side of the boundary that ends in the vertex.
#[derive(Clone, Copy)]
pub struct BoundarySide<'a> {
    /// What holds on it.
    pub condition: &'a Condition,
    /// For a distance r from the vertex a point of the side, relative to the vertex, and the outward unit normal there.
    pub curve: &'a dyn Fn(f64) -> (Point, Point),
}

/// A vertex with all that lies about it.
pub struct Vertex<'a> {
    /// Where it is.
    pub point: Point,
    /// The distance up to which the sectors are what they say: the size of the smallest element about it.
    pub radius: f64,
    /// Sectors, counter-clockwise.
    pub materials: &'a [Material<'a>],
    /// The sides before the first and after the last sector; `None` for a full turn.
    pub sides: Option<[BoundarySide<'a>; 2]>,
    /// The size of the data of the whole problem, in units of the source: the largest `|f|`, `a |u| / d^2` and `|flux| / d` with
    /// boundary values and the diameter d of the domain.
    pub scale: f64,
}

/// What a vertex needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Regularity {
    /// Nothing: the solution is smooth in every material about it.
    Smooth,
    /// Rings as deep as this exponent says, the smallest of the vertex.
    Rings {
        /// lambda
        exponent: f64,
    },
}

/// The points of a straight side at an angle: the first side of a vertex has the sectors on its left, the second on its right.
pub fn straight_side(angle: f64, first: bool) -> impl Fn(f64) -> (Point, Point) {
    let (s, c) = angle.sin_cos();
    let normal = if first { [s, -c] } else { [-s, c] };
    move |r| ([r * c, r * s], normal)
}

/// Neighbourhoods on which a series is looked for, relative to the radius.
const NEIGHBOURHOODS: [f64; 2] = [0.25, 1.0 / 16.0];

/// A residual below this, relative to the data, is none.
const NEGLIGIBLE: f64 = 1e-11;

/// Nor is one of so many roundings of the data.
const ROUNDINGS: f64 = 32.0;

/// Exponents this close to a whole number are one: of two equal ones rounding takes half the digits.
const WHOLE: f64 = 1e-6;

/// Degree of the polynomials.
const DEGREE: usize = 10;

/// Number of polynomials of one material.
const POLYNOMIALS: usize = (DEGREE + 1) * (DEGREE + 2) / 2;

/// Points of a sector in each direction, and of a side.
const POINTS: usize = 12;

/// Whether the solution is smooth at a vertex; see the [module](self).
pub fn regularity(vertex: &Vertex) -> Result<Regularity> {
    let sectors = vertex.materials.iter().map(|material| sector(vertex, material)).collect::<Result<Vec<_>>>()?;
    // Whoever solves the equation will refuse it, and say where.
    if !sectors.iter().all(|sector| is_elliptic(sector.tensor)) {
        return Ok(Regularity::Smooth);
    }
    let ray = |side: &BoundarySide| match side.condition.kind {
        ConditionKind::Neumann | ConditionKind::Robin { .. } => Ray::Flux,
        _ => Ray::Value,
    };
    let ends = vertex.sides.as_ref().map_or(Ends::Closed, |sides| Ends::Rays(sides.each_ref().map(ray)));
    let found = exponents(&sectors, ends)?;
    let rings = Regularity::Rings { exponent: found.first().map_or(LARGEST, |exponent| exponent.re) };
    let whole = |exponent: &Exponent| exponent.im == 0.0 && (exponent.re - exponent.re.round()).abs() < WHOLE;
    if !found.iter().all(whole) {
        return Ok(rings);
    }
    for part in NEIGHBOURHOODS {
        match residual(vertex, part * vertex.radius) {
            Ok(residual) if residual <= NEGLIGIBLE * vertex.scale => return Ok(Regularity::Smooth),
            // Data that are not finite next to a vertex are no series.
            Ok(_) | Err(Error::NotFinite { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(rings)
}

/// The tensor of a sector at the vertex: the limit from inside, along the bisector.
fn sector(vertex: &Vertex, material: &Material) -> Result<Sector> {
    let (s, c) = (0.5 * (material.angles[0] + material.angles[1])).sin_cos();
    let (x, y) = [1e-6, 2e-6]
        .map(|d| d * vertex.radius)
        .map(|d| (vertex.point[0] + d * c, vertex.point[1] + d * s))
        .into_iter()
        .unzip();
    let [a, b, c, d] = tensor(material.equation, &Sample::at(x, y))?.map(|v| 2.0 * v[0] - v[1]);
    Ok(Sector { angles: material.angles, tensor: [[a, b], [c, d]] })
}

/// The diffusion of an equation.
fn diffusion(equation: &Equation) -> Result<[[Option<&FieldRef>; 2]; 2]> {
    equation.leading().map(Diffusion::by_rows).ok_or_else(|| {
        Error::input(
            "equation.plate",
            "a plate",
            "exponents are known for equations of second order",
            "solve a plate without rings (discretization.corners = \"none\")",
        )
    })
}

/// a11, a12, a21, a22 at points.
fn tensor(equation: &Equation, points: &Sample) -> Result<[Vec<f64>; 4]> {
    let [[a, b], [c, d]] = diffusion(equation)?;
    let value = |field: Option<&FieldRef>| match field {
        None => Ok(vec![0.0; points.x.len()]),
        Some(field) => points.values(field.as_ref(), "equation.diffusion", 0),
    };
    Ok([value(a)?, value(b)?, value(c)?, value(d)?])
}

/// The gradient of a field at points: its own, or by differences of fourth order with a small part of the radius as step.
fn gradient(field: &dyn Field, points: &Sample, radius: f64) -> Result<[Vec<f64>; 2]> {
    let n = points.x.len();
    let (mut dx, mut dy) = (vec![0.0; n], vec![0.0; n]);
    let key = "equation.diffusion";
    let known = field
        .gradients(&points.samples(0), &mut dx, &mut dy)
        .map_err(|failure| Error::Callback { quantity: key.into(), failure })?;
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

/// A linear condition on the polynomials: for some materials value, first and second derivatives at a point, and what they add up to.
struct Row {
    terms: Vec<(usize, Point, [f64; 6])>,
    value: f64,
}

/// How far polynomials are from satisfying everything on a neighbourhood, beyond rounding, in units of the source.
fn residual(vertex: &Vertex, radius: f64) -> Result<f64> {
    let groups = groups(vertex);
    let count = groups.iter().max().map_or(0, |last| last + 1);
    let mut rows = Vec::new();
    for (material, &group) in vertex.materials.iter().zip(&groups) {
        equation_rows(vertex, material, group, radius, &mut rows)?;
    }
    if let Some([first, last]) = &vertex.sides {
        let ends = [(first, 0), (last, vertex.materials.len() - 1)];
        for (side, k) in ends {
            side_rows(vertex, side, &vertex.materials[k], groups[k], radius, &mut rows)?;
        }
    }
    for k in 0..vertex.materials.len() {
        let next = (k + 1) % vertex.materials.len();
        if groups[k] != groups[next] && (next > 0 || vertex.sides.is_none()) {
            let sides = [k, next].map(|m| (&vertex.materials[m], groups[m]));
            interface_rows(vertex, sides, vertex.materials[k].angles[1], radius, &mut rows)?;
        }
    }
    if rows.iter().all(|row| row.value == 0.0) {
        return Ok(0.0);
    }
    let mut matrix = Mat::zeros(rows.len(), count * POLYNOMIALS);
    let mut right = Mat::zeros(rows.len(), 1);
    for (i, row) in rows.iter().enumerate() {
        right[(i, 0)] = row.value;
        for (group, at, weights) in &row.terms {
            for (k, value) in polynomials(at.map(|v| v / radius), weights, radius).into_iter().enumerate() {
                matrix[(i, group * POLYNOMIALS + k)] += value;
            }
        }
    }
    let factor = pivoted_qr(matrix, 1e-13, usize::MAX)?;
    factor.q.apply_transpose(right.as_mut());
    let left = (factor.rank()..rows.len()).map(|i| right[(i, 0)].powi(2)).sum::<f64>();
    let rounding = ROUNDINGS * f64::EPSILON * rows.iter().fold(0.0f64, |largest, row| largest.max(row.value.abs()));
    // Rows are in units of the source times the square of the radius.
    Ok(((left / rows.len() as f64).sqrt() - rounding).max(0.0) / (radius * radius))
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

/// `-div(a grad u) + b . grad u + c u = f` in a sector, times the square of the radius.
fn equation_rows(vertex: &Vertex, material: &Material, group: usize, radius: f64, rows: &mut Vec<Row>) -> Result<()> {
    let nodes = gauss(POINTS).0;
    let [from, to] = material.angles;
    let offsets: Vec<Point> = nodes
        .iter()
        .flat_map(|r| nodes.iter().map(move |t| (radius * r, from + t * (to - from))))
        .map(|(r, angle)| [r * angle.cos(), r * angle.sin()])
        .collect();
    let points = sample(vertex, &offsets);
    let a = tensor(material.equation, &points)?;
    let mut first = [vec![0.0; offsets.len()], vec![0.0; offsets.len()]];
    // -(div a) . grad u, div a = (d_x a11 + d_y a21, d_x a12 + d_y a22)
    for (d, row) in diffusion(material.equation)?.into_iter().enumerate() {
        for (k, field) in row.into_iter().enumerate() {
            if let Some(field) = field {
                let slopes = gradient(field.as_ref(), &points, radius)?;
                first[k].iter_mut().zip(&slopes[d]).for_each(|(v, slope)| *v -= slope);
            }
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
        let weights = [zeroth[i], first[0][i], first[1][i], -a[0][i], -a[1][i] - a[2][i], -a[3][i]].map(|v| square * v);
        rows.push(Row { terms: vec![(group, at, weights)], value: square * f[i] });
    }
    Ok(())
}

/// A condition on a side: values times the diffusion, fluxes times the radius.
fn side_rows(
    vertex: &Vertex,
    side: &BoundarySide,
    material: &Material,
    group: usize,
    radius: f64,
    rows: &mut Vec<Row>,
) -> Result<()> {
    let (offsets, normals): (Vec<Point>, Vec<Point>) = gauss(POINTS).0.iter().map(|r| (side.curve)(radius * r)).unzip();
    let points = sample(vertex, &offsets);
    let a = tensor(material.equation, &points)?;
    let g = points.values(side.condition.values[0].as_ref(), "boundary", 0)?;
    let k = match &side.condition.kind {
        ConditionKind::Robin { coefficient } => points.values(coefficient.as_ref(), "boundary", 0)?,
        _ => vec![0.0; g.len()],
    };
    let of_flux = matches!(side.condition.kind, ConditionKind::Neumann | ConditionKind::Robin { .. });
    for (i, &at) in offsets.iter().enumerate() {
        let at_point = a.each_ref().map(|v| v[i]);
        let (weights, scale) = if of_flux {
            let [x, y] = conormal(at_point, normals[i]);
            ([k[i], x, y, 0.0, 0.0, 0.0], radius)
        } else {
            ([1.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0.5 * (at_point[0] + at_point[3]))
        };
        rows.push(Row { terms: vec![(group, at, weights.map(|v| scale * v))], value: scale * g[i] });
    }
    Ok(())
}

/// Continuity of u and of its flux across the ray between two materials.
fn interface_rows(
    vertex: &Vertex,
    sides: [(&Material, usize); 2],
    angle: f64,
    radius: f64,
    rows: &mut Vec<Row>,
) -> Result<()> {
    let ray = straight_side(angle, false);
    for r in gauss(POINTS).0 {
        let (at, normal) = ray(radius * r);
        let mut value = Vec::new();
        let mut flux = Vec::new();
        for ((material, group), sign) in sides.into_iter().zip([1.0, -1.0]) {
            // From inside of the material, where its coefficients are its own.
            let inside =
                sector(&Vertex { point: [0, 1].map(|k| vertex.point[k] + at[k]), ..*vertex }, material)?.tensor;
            let a = [inside[0][0], inside[0][1], inside[1][0], inside[1][1]];
            let [x, y] = conormal(a, normal);
            value.push((group, at, [sign * 0.5 * (a[0] + a[3]), 0.0, 0.0, 0.0, 0.0, 0.0]));
            flux.push((group, at, [0.0, x, y, 0.0, 0.0, 0.0].map(|v| sign * radius * v)));
        }
        // u itself is continuous, not u times the diffusion.
        let mean = 0.5 * (value[0].2[0] - value[1].2[0]);
        (value[0].2[0], value[1].2[0]) = (mean, -mean);
        rows.extend([value, flux].map(|terms| Row { terms, value: 0.0 }));
    }
    Ok(())
}

/// `a' n`: the flux is its product with the gradient.
fn conormal([a, b, c, d]: [f64; 4], n: Point) -> Point {
    [a * n[0] + c * n[1], b * n[0] + d * n[1]]
}

fn sample(vertex: &Vertex, offsets: &[Point]) -> Sample {
    let (x, y) = offsets.iter().map(|o| (vertex.point[0] + o[0], vertex.point[1] + o[1])).unzip();
    Sample::at(x, y)
}

/// A differential operator (1, x, y, xx, xy, yy) applied to the products of Legendre polynomials of x and y over the radius.
fn polynomials([x, y]: Point, weights: &[f64; 6], radius: f64) -> Vec<f64> {
    let (p, q) = (legendre(x), legendre(y));
    let mut out = Vec::with_capacity(POLYNOMIALS);
    let [v, dx, dy, dxx, dxy, dyy] = *weights;
    let (one, two) = (1.0 / radius, 1.0 / (radius * radius));
    for degree in 0..=DEGREE {
        for j in 0..=degree {
            let (p, q) = (p[degree - j], q[j]);
            out.push(
                v * p[0] * q[0]
                    + one * (dx * p[1] * q[0] + dy * p[0] * q[1])
                    + two * (dxx * p[2] * q[0] + dxy * p[1] * q[1] + dyy * p[0] * q[2]),
            );
        }
    }
    out
}

/// Legendre polynomials with their first and second derivatives.
fn legendre(z: f64) -> [[f64; 3]; DEGREE + 1] {
    let mut out = [[1.0, 0.0, 0.0]; DEGREE + 1];
    out[1] = [z, 1.0, 0.0];
    for k in 2..=DEGREE {
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

#[cfg(test)]
#[path = "regularity_tests.rs"]
mod tests;
