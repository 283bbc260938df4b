//! A vertex of a decomposition with all that lies about it: sectors with their equations, and sides of the boundary.

use std::sync::Arc;

use crate::base::error::{Error, Result};
use crate::domain::exponents::Sector;
use crate::domain::map::Point;
use crate::domain::sample::Sample;
use crate::problem::field::{Field, FieldRef};
use crate::problem::model::{Condition, Diffusion, Equation};

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
    /// The direction of the first ray, of length one.
    pub direction: Point,
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

/// The points of a straight side at an angle: the first side of a vertex has the sectors on its left, the second on its right.
pub fn straight_side(angle: f64, first: bool) -> impl Fn(f64) -> (Point, Point) {
    let (s, c) = angle.sin_cos();
    let normal = if first { [s, -c] } else { [-s, c] };
    move |r| ([r * c, r * s], normal)
}

/// The tensor of a sector at the vertex: the limit from inside, along the bisector.
pub(super) fn sector(vertex: &Vertex, material: &Material) -> Result<Sector> {
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
pub(super) fn diffusion(equation: &Equation) -> Result<[[Option<&FieldRef>; 2]; 2]> {
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
pub(super) fn tensor(equation: &Equation, points: &Sample) -> Result<[Vec<f64>; 4]> {
    let [[a, b], [c, d]] = diffusion(equation)?;
    let value = |field: Option<&FieldRef>| match field {
        None => Ok(vec![0.0; points.x.len()]),
        Some(field) => points.values(field.as_ref(), "equation.diffusion", 0),
    };
    let first = value(a)?;
    // One number in all directions is asked for once.
    let last = if d.zip(a).is_some_and(|(d, a)| Arc::ptr_eq(d, a)) { first.clone() } else { value(d)? };
    Ok([first, value(b)?, value(c)?, last])
}

/// `a' n`: the flux is its product with the gradient.
pub(super) fn conormal([a, b, c, d]: [f64; 4], n: Point) -> Point {
    [a * n[0] + c * n[1], b * n[0] + d * n[1]]
}

/// Points relative to a vertex.
pub(super) fn sample(vertex: &Vertex, offsets: &[Point]) -> Sample {
    let (x, y) = offsets.iter().map(|o| (vertex.point[0] + o[0], vertex.point[1] + o[1])).unzip();
    Sample::at(x, y)
}
