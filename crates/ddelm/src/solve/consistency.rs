//! Whether the exact solution of a problem solves it.
//!
//! Errors against a formula that does not satisfy the equation measure the formula. Its residuals in the equation and in
//! the conditions are found by differences of values alone, of eighth order, so that every field will do. A residual is
//! believed where it is far above the rounding of its terms and two step sizes agree: a formula that is too rough for the
//! steps gives no false alarm.

use crate::algebra::symbol::Symbol;
use crate::base::error::Result;
use crate::base::number::brief;
use crate::domain::decomposition::{Decomposition, Subdomain, part_name};
use crate::domain::map::{Point, unit_normal};
use crate::domain::sample::Sample;
use crate::domain::shape::Shape;
use crate::problem::field::{Field, FieldRef};
use crate::problem::model::{Condition, Problem};
use crate::problem::operators::BoundaryRow;
use crate::problem::terms::Term;

/// Points inside the domain, and on its boundary.
const POINTS: usize = 40;

/// Points of a stencil in each direction.
const WIDTH: usize = 9;

/// The larger of the two steps, relative to the subdomain.
const STEP: f64 = 0.06;

/// Residuals are reported from this on, relative to the terms of the equation.
const TOLERANCE: f64 = 1e-6;

/// Residuals are reported from so many roundings of their terms on.
const ROUNDINGS: f64 = 1e2;

/// Steps that are shorter than so many roundings of the coordinates tell nothing: rings about a corner that is not the origin have
/// such steps.
const SHORTEST: f64 = 1e3;

/// An exact solution.
#[derive(Clone, Copy)]
struct Exact<'a> {
    field: &'a dyn Field,
    /// How large it is. Where it is small it may be the rounding of something larger: `sin(20 pi)`.
    size: f64,
}

impl<'a> Exact<'a> {
    fn new(field: &'a dyn Field, decomposition: &Decomposition) -> Self {
        let in_one = |k: usize| {
            let s = k * decomposition.len() / POINTS;
            let subdomain = &decomposition.subdomains[s];
            let middle = Sample::inside(subdomain, vec![subdomain.map.shape().center()]);
            middle.values(field, "exact.u", s).map_or(0.0, |u| u[0].abs())
        };
        Exact { field, size: (0..POINTS).map(in_one).fold(0.0, f64::max) }
    }
}

/// A number found by differences, and the rounding in it.
#[derive(Debug, Clone, Copy, Default)]
struct Found {
    value: f64,
    rounding: f64,
    /// Sum of the sizes of its terms.
    size: f64,
}

impl Found {
    fn plus(self, factor: f64, other: Found) -> Self {
        Found {
            value: self.value + factor * other.value,
            rounding: self.rounding + factor.abs() * other.rounding,
            size: self.size + factor.abs() * other.size,
        }
    }

    fn times(self, other: Found) -> Self {
        let value = self.value * other.value;
        Found {
            value,
            rounding: self.rounding * other.value.abs() + other.rounding * self.value.abs(),
            size: value.abs(),
        }
    }
}

/// Coefficients of differences on nine points with distance one: `coefficients[d][i]` for derivative d at the origin.
///
/// # References
///
/// B. Fornberg, *Generation of finite difference formulas on arbitrarily spaced grids*, Math. Comp. 51 (1988).
fn coefficients(first: f64) -> [[f64; WIDTH]; 5] {
    let at = |i: usize| first + i as f64;
    let mut w = [[0.0; WIDTH]; 5];
    w[0][0] = 1.0;
    let (mut c1, mut c4) = (1.0, at(0));
    for i in 1..WIDTH {
        let (mut c2, c5) = (1.0, c4);
        c4 = at(i);
        for j in 0..i {
            let c3 = at(i) - at(j);
            c2 *= c3;
            if j == i - 1 {
                for d in (1..5).rev() {
                    w[d][i] = c1 * (d as f64 * w[d - 1][i - 1] - c5 * w[d][i - 1]) / c2;
                }
                w[0][i] = -c1 * c5 * w[0][i - 1] / c2;
            }
            for d in (1..5).rev() {
                w[d][j] = (c4 * w[d][j] - d as f64 * w[d - 1][j]) / c3;
            }
            w[0][j] *= c4 / c3;
        }
        c1 = c2;
    }
    w
}

/// Nine by nine points along two directions at right angles.
struct Stencil {
    step: f64,
    coefficients: [[[f64; WIDTH]; 5]; 2],
    sample: Sample,
    subdomain: usize,
    /// Rounding of the coordinates, in steps.
    shift: f64,
}

impl Stencil {
    /// In a subdomain and its number. `first` is the first multiple of the step in each direction: -4 in the middle, 0 on one side.
    /// None where rounding of the coordinates moves the points.
    fn new(
        (subdomain, number): (&Subdomain, usize),
        origin: Point,
        directions: [Point; 2],
        first: [f64; 2],
        step: f64,
    ) -> Option<Self> {
        let shift = f64::EPSILON * origin[0].abs().max(origin[1].abs()) / step;
        let [p, q] = directions;
        let point = |k: usize| {
            let (s, t) = (step * (first[0] + (k / WIDTH) as f64), step * (first[1] + (k % WIDTH) as f64));
            [0, 1].map(|a| origin[a] + s * p[a] + t * q[a])
        };
        let (x, y) = (0..WIDTH * WIDTH).map(point).map(|p| (p[0], p[1])).unzip();
        (SHORTEST * shift < 1.0).then(|| Stencil {
            step,
            coefficients: first.map(coefficients),
            sample: Sample::within(subdomain, x, y),
            subdomain: number,
            shift,
        })
    }

    fn values(&self, field: &dyn Field, key: &str) -> Result<Vec<f64>> {
        self.sample.values(field, key, self.subdomain)
    }

    /// The derivative of order p in the first and q in the second direction, of values that are rounded as numbers of this size, if not
    /// as their own.
    fn derivative(&self, values: &[f64], size: f64, [p, q]: [usize; 2]) -> Found {
        let mut found = Found::default();
        // By how much rounding of the coordinates moves a value.
        let (least, most) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
        let moved = self.shift * (most - least);
        for (row, a) in values.chunks(WIDTH).zip(&self.coefficients[0][p]) {
            for (value, b) in row.iter().zip(&self.coefficients[1][q]) {
                found.value += a * b * value;
                found.rounding += (a * b).abs() * (f64::EPSILON * value.abs().max(size) + moved);
            }
        }
        let unit = self.step.powi((p + q) as i32);
        let value = found.value / unit;
        Found { value, rounding: found.rounding / unit, size: value.abs() }
    }
}

/// A residual that is believed.
struct Residual {
    relative: f64,
    value: f64,
    point: Point,
}

/// The largest believed residual; `sizes` are those of all points, also where the residual vanishes.
#[derive(Default)]
struct Search {
    found: Vec<(Found, Found, Point)>,
}

impl Search {
    fn worst(&self) -> Option<Residual> {
        let size = self.found.iter().map(|(coarse, ..)| coarse.size).fold(0.0, f64::max);
        let believed = |(coarse, fine, _): &&(Found, Found, Point)| {
            let enough = (TOLERANCE * size).max(ROUNDINGS * fine.rounding);
            fine.value.abs() > enough && (coarse.value - fine.value).abs() <= 0.2 * fine.value.abs()
        };
        let worst = self.found.iter().filter(believed).max_by(|a, b| a.1.value.abs().total_cmp(&b.1.value.abs()));
        worst.map(|(_, fine, point)| Residual { relative: fine.value.abs() / size, value: fine.value, point: *point })
    }
}

/// Warnings about an exact solution that does not satisfy the equation or a condition; none where there is no exact
/// solution.
pub fn check(problem: &Problem, decomposition: &Decomposition) -> Vec<String> {
    let Some(exact) = &problem.exact else { return Vec::new() };
    let exact = Exact::new(exact.as_ref(), decomposition);
    let mut warnings = Vec::new();
    if let Some(Residual { relative, value, point: [x, y] }) = interior(problem, exact, decomposition).worst() {
        warnings.push(format!(
            "exact.u does not satisfy the equation: at x = {x:.6}, y = {y:.6} the residual is {}, {relative:.1e} of its terms; \
             errors against it say nothing",
            brief(value, 4)
        ));
    }
    for part in 0..decomposition.parts.len() {
        for index in 0..problem.equation.pairs() {
            let search = boundary(problem, exact, decomposition, part, index);
            if let Some(Residual { relative, value, point: [x, y] }) = search.worst() {
                let key = part_name(decomposition, part);
                warnings.push(format!(
                    "exact.u does not satisfy the condition {key}: at x = {x:.6}, y = {y:.6} it is off by {}, \
                     {relative:.1e} of its terms; errors against it say nothing",
                    brief(value, 4)
                ));
            }
        }
    }
    warnings
}

/// Spreads points evenly over places: the golden ratio, so that they have no period.
fn spread(k: usize) -> f64 {
    (0.5 * (5f64.sqrt() - 1.0) * (k + 1) as f64).fract()
}

/// A point of the unit square as a point of a shape, halfway to the centre, so that a stencil about it stays inside.
fn halfway(shape: Shape, [s, t]: Point) -> Point {
    let p = match shape {
        Shape::Quadrilateral => [s, t],
        Shape::Triangle => [s, (1.0 - s) * t],
    };
    let center = shape.center();
    [0, 1].map(|k| 0.5 * (center[k] + p[k]))
}

/// A length in the subdomain at a reference point: the shorter of its sides, roughly.
fn extent(jacobian: [[f64; 2]; 2]) -> f64 {
    [0, 1].map(|b| jacobian[0][b].hypot(jacobian[1][b])).into_iter().fold(f64::INFINITY, f64::min)
}

fn interior(problem: &Problem, exact: Exact<'_>, decomposition: &Decomposition) -> Search {
    let mut search = Search::default();
    for k in 0..POINTS {
        let s = k * decomposition.len() / POINTS;
        let map = decomposition.subdomains[s].map.as_ref();
        let xi = halfway(map.shape(), [spread(k), spread(3 * k + 7)]);
        // Half as large in a triangle, whose sides are closer.
        let (origin, size) = (map.point(xi), map.shape().area() * extent(map.jacobian(xi)));
        let residual = |step: f64| {
            let place = (&decomposition.subdomains[s], s);
            let stencil = Stencil::new(place, origin, [[1.0, 0.0], [0.0, 1.0]], [-4.0; 2], step * size)?;
            equation(problem, exact, &stencil).ok()
        };
        // A field that fails here fails in the solve as well, if it matters there.
        if let (Some(coarse), Some(fine)) = (residual(STEP), residual(0.5 * STEP)) {
            search.found.push((coarse, fine, origin));
        }
    }
    search
}

/// `L u - f` in the middle of a stencil.
fn equation(problem: &Problem, exact: Exact<'_>, stencil: &Stencil) -> Result<Found> {
    let u = stencil.values(exact.field, "exact.u")?;
    let of = |p: usize, q: usize| stencil.derivative(&u, exact.size, [p, q]);
    let f = stencil.derivative(&stencil.values(problem.source.as_ref(), "equation.source")?, 0.0, [0, 0]);
    let mut sum = Found::default().plus(-1.0, f);
    for Term { factor, field, key, slope, of: order } in problem.equation.terms() {
        let coefficient = stencil.derivative(&stencil.values(field.as_ref(), key)?, 0.0, [slope[0], slope[1]]);
        sum = sum.plus(factor, coefficient.times(of(order[0], order[1])));
    }
    Ok(sum)
}

/// The residual of value `index` of the condition on a part of the boundary.
fn boundary(problem: &Problem, exact: Exact<'_>, decomposition: &Decomposition, part: usize, index: usize) -> Search {
    let on_part = |s: usize| {
        let boundaries = decomposition.subdomains[s].boundaries();
        boundaries.filter(move |(_, p)| *p == part).map(move |(side, _)| (s, side))
    };
    let sides: Vec<(usize, usize)> = (0..decomposition.len()).flat_map(on_part).collect();
    let mut search = Search::default();
    for k in 0..if sides.is_empty() { 0 } else { POINTS } {
        let (s, side) = sides[k * sides.len() / POINTS];
        let map = decomposition.subdomains[s].map.as_ref();
        let xi = map.shape().side_point(side, 0.25 + 0.5 * spread(k));
        let (origin, jacobian) = (map.point(xi), map.jacobian(xi));
        let normal = unit_normal(map, side, jacobian);
        let directions = [normal.map(|v| -v), [-normal[1], normal[0]]];
        let residual = |step: f64| {
            let place = (&decomposition.subdomains[s], s);
            let stencil = Stencil::new(place, origin, directions, [0.0, -4.0], step * extent(jacobian))?;
            condition(problem, &problem.conditions[part], index, exact, &stencil, normal).ok()
        };
        if let (Some(coarse), Some(fine)) = (residual(STEP), residual(0.5 * STEP)) {
            search.found.push((coarse, fine, origin));
        }
    }
    search
}

/// `B u - g` at the origin of a stencil whose first direction is the inward normal.
fn condition(
    problem: &Problem,
    condition: &Condition,
    index: usize,
    exact: Exact<'_>,
    stencil: &Stencil,
    [nx, ny]: Point,
) -> Result<Found> {
    let u = stencil.values(exact.field, "exact.u")?;
    let of = |p: usize, q: usize| stencil.derivative(&u, exact.size, [p, q]);
    let here = |field: &FieldRef| -> Result<Found> {
        Ok(stencil.derivative(&stencil.values(field.as_ref(), "boundary")?, 0.0, [0, 0]))
    };
    let flux = || -> Result<Found> {
        let Some(diffusion) = problem.equation.leading() else {
            return Ok(Found::default().plus(-1.0, of(1, 0)));
        };
        let value = |i: usize, j: usize| -> Result<f64> {
            let Some(a) = diffusion.by_rows()[i][j] else { return Ok(0.0) };
            if let Some(value) = a.constant() {
                return Ok(value);
            }
            Ok(stencil.derivative(&stencil.values(a.as_ref(), "equation.diffusion")?, 0.0, [0, 0]).value)
        };
        // (a' n) . grad u, with the gradient along the normal and along the side.
        let v = [value(0, 0)? * nx + value(1, 0)? * ny, value(0, 1)? * nx + value(1, 1)? * ny];
        let (across, along) = (v[0] * nx + v[1] * ny, -v[0] * ny + v[1] * nx);
        Ok(Found::default().plus(-across, of(1, 0)).plus(along, of(0, 1)))
    };
    let left = match condition.row(index) {
        BoundaryRow::Trace(0) => {
            // Measured by u nearby: on the side it may be the rounding of zero.
            let size = u.iter().fold(0.0_f64, |size, u| size.max(u.abs()));
            Found { value: u[WIDTH / 2], rounding: f64::EPSILON * size, size }
        }
        BoundaryRow::Trace(pair) => {
            // The Laplacian is the same along any two directions at right angles.
            assert_eq!(problem.equation.trace(pair), Symbol::LAPLACIAN, "a trace that depends on directions");
            of(2, 0).plus(1.0, of(0, 2))
        }
        BoundaryRow::Flux(None) => flux()?,
        BoundaryRow::Flux(Some(multiple)) => flux()?.plus(1.0, here(multiple)?.times(of(0, 0))),
    };
    Ok(left.plus(-1.0, here(&condition.values[index])?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::field::Samples;
    use crate::problem::gallery;

    #[test]
    fn difference_coefficients_are_those_of_the_tables() {
        let middle = coefficients(-4.0);
        let second = [-1.0 / 560.0, 8.0 / 315.0, -0.2, 1.6, -205.0 / 72.0];
        second.iter().zip(middle[2]).for_each(|(a, b)| assert!((a - b).abs() < 1e-13));
        let fourth = [7.0 / 240.0, -2.0 / 5.0, 169.0 / 60.0, -122.0 / 15.0, 91.0 / 8.0];
        fourth.iter().zip(middle[4]).for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{a} {b}"));
        assert!((coefficients(0.0)[1][0] + 761.0 / 280.0).abs() < 1e-12);
    }

    #[test]
    fn the_gallery_is_consistent_and_a_wrong_sign_is_found() {
        let unit = |counts| Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], counts).unwrap();
        let problems = [
            gallery::poisson(),
            gallery::sines(8.0, 8.0),
            gallery::plate(gallery::Material::PAPER),
            gallery::clamped_plate(),
            gallery::helmholtz(12.0),
            gallery::advection_diffusion(0.01),
            gallery::mixed_conditions(),
        ];
        for mut problem in problems {
            for counts in [[1, 1], [2, 2], [8, 8], [5, 32]] {
                assert_eq!(check(&problem, &unit(counts)), Vec::<String>::new());
            }
            let source = problem.source.clone();
            problem.source = crate::problem::field::function(move |x, y| {
                let mut out = [0.0];
                source.values(&Samples::at(&[x], &[y]), &mut out).unwrap();
                1.001 * out[0] + 1e-3
            });
            let warnings = check(&problem, &unit([4, 4]));
            assert!(warnings.len() == 1 && warnings[0].contains("the equation"), "{warnings:?}");
        }
    }
}
