//! The exponents of a vertex: for which lambda there is a solution `u = r^lambda phi(angle)` next to it.
//!
//! About a vertex lie sectors with a constant tensor A each, bounded by rays with a condition on u or on its flux, or closed to a
//! full turn. In a sector `x = e^s p(t)`, where p runs through a segment from one ray to the next, `p = p0 + t q`, and
//! `u = e^(lambda s) phi(t)` solves `div(A grad u) = 0` if for all v
//!
//! ```text
//! lambda^2 M phi + lambda (C - C') phi - K phi = 0,   M = int a_ss v w,   C = int a_st v w',   K = int a_tt v' w'
//! ```
//!
//! with v in the rows and w in the columns. After the linear map `L^-1` with `A = L L'`, the tensor is the identity times `det L` and
//!
//! ```text
//! a_ss = det L |q|^2 / det(p, q),    a_st = -det L (p . q) / det(p, q),    a_tt = det L |p|^2 / det(p, q),
//! ```
//!
//! so that the integrals are exact for piecewise polynomials and the shape of a segment, not the direction of the tensor, sets the
//! accuracy: sectors are cut where they are wide in those coordinates. A tensor with a skew part beta adds `beta [v w]` between the
//! ends of the sector to `C - C'`. Values vanish on rays with a condition on u; the flux is a natural condition.
//!
//! The quadratic problem is twice as large a linear one, `[0, 1; M^-1 K, -M^-1 (C - C')]`. Its eigenvalues come in pairs of opposite
//! sign; zero belongs to constants and log r. Where all sectors have one tensor, the answer is in closed form, and nothing is factored.
//!
//! # References
//!
//! D. Leguillon, E. Sanchez-Palencia, *Computation of singular solutions in elliptic problems and elasticity* (1987).

use std::f64::consts::{FRAC_PI_4, PI, TAU};

use serde::{Deserialize, Serialize};

use crate::algebra::factor::{Mat, eigenvalues, qr};
use crate::algebra::quadrature::gauss;
use crate::base::error::{Error, Result};
use crate::domain::map::Point;
use crate::domain::plane::{cross, dot, norm, subtract};
use crate::problem::model::Condition;

/// A sector about a vertex, with a constant tensor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sector {
    /// First and last angle, counter-clockwise.
    pub angles: [f64; 2],
    /// A
    pub tensor: [[f64; 2]; 2],
}

/// What is given on a ray that ends in the vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ray {
    /// u
    Value,
    /// The flux, or the flux and a multiple of u, which is of lower order.
    Flux,
}

impl Ray {
    /// What a condition gives.
    pub fn of(condition: &Condition) -> Self {
        if condition.is_essential() { Ray::Value } else { Ray::Flux }
    }
}

/// What the sectors of a vertex end with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// Nothing: they make a full turn.
    Closed,
    /// Two rays of the boundary.
    Rays([Ray; 2]),
}

/// An exponent; a complex one stands for itself and its conjugate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exponent {
    /// Real part, positive.
    pub re: f64,
    /// Imaginary part, not negative. Only tensors that differ from sector to sector have any.
    pub im: f64,
}

/// Degree of the polynomials in a piece of a sector.
const DEGREE: usize = 14;

/// The widest piece of a sector.
const WIDEST: f64 = FRAC_PI_4;

/// The largest ratio of the two lengths of a piece, as a logarithm.
const STEEPEST: f64 = 0.5;

/// Tensors that differ by less, relative to them, are one: limits from several sides differ by rounding.
const SAME: f64 = 1e-10;

/// Real parts below this are the constants, whose double zero rounding moves by its square root.
const ZERO: f64 = 1e-4;

/// Imaginary parts below this are rounding, which parts two equal exponents.
const REAL: f64 = 1e-7;

/// Exponents above this are not asked for: nobody can tell `r^8` from a smooth function.
pub const LARGEST: f64 = 8.0;

/// The exponents of a vertex with real part up to [`LARGEST`], in ascending order, each as often as it has solutions.
///
/// Sectors follow each other counter-clockwise. Simple exponents are good to about `1e-11`.
pub fn exponents(sectors: &[Sector], ends: Ends) -> Result<Vec<Exponent>> {
    check(sectors, ends)?;
    of_one_tensor(sectors, ends).map_or_else(|| of_sectors(sectors, ends), Ok)
}

/// The exponents where all sectors have the same symmetric tensor: multiples of `pi` over their angle, in coordinates in which the
/// tensor is a multiple of the identity, and odd multiples of half of that between a value and a flux.
fn of_one_tensor(sectors: &[Sector], ends: Ends) -> Option<Vec<Exponent>> {
    let [[a, b], [c, d]] = sectors[0].tensor;
    let like = |tensor: [[f64; 2]; 2]| {
        let [[e, f], [g, h]] = tensor;
        [a - e, b - f, c - g, d - h, b - c].iter().all(|difference| difference.abs() <= SAME * (a + d))
    };
    if !sectors.iter().all(|sector| like(sector.tensor)) {
        return None;
    }
    let step = PI / sectors.iter().map(opening).sum::<f64>();
    let (begin, times) = match ends {
        // Cosines and sines of the angle.
        Ends::Closed => (1.0, 2),
        Ends::Rays([a, b]) => (if a == b { 1.0 } else { 0.5 }, 1),
    };
    let step = if ends == Ends::Closed { 1.0 } else { step };
    let all = (0..).map(|k| step * (begin + f64::from(k))).take_while(|re| *re <= LARGEST);
    Some(all.flat_map(|re| (0..times).map(move |_| Exponent { re, im: 0.0 })).collect())
}

/// The [`exponents`] as eigenvalues, also where they are in closed form.
pub fn of_sectors(sectors: &[Sector], ends: Ends) -> Result<Vec<Exponent>> {
    check(sectors, ends)?;
    let pieces: Vec<Piece> = sectors.iter().flat_map(pieces).collect();
    let (mass, mixed, stiffness) = matrices(&pieces, sectors, ends);
    let n = mass.nrows();
    let mut right = Mat::from_fn(n, 2 * n, |i, j| if j < n { stiffness[(i, j)] } else { -mixed[(i, j - n)] });
    let factor = qr(mass)?;
    factor.q.apply_transpose(right.as_mut());
    factor.solve(right.as_mut());
    let linear = Mat::from_fn(2 * n, 2 * n, |i, j| match i.checked_sub(n) {
        None => f64::from(u8::from(j == i + n)),
        Some(i) => right[(i, j)],
    });
    let found = eigenvalues(linear.as_ref())?.into_iter();
    let mut exponents: Vec<Exponent> = found
        .map(|[re, im]| Exponent { re, im: if im.abs() < REAL { 0.0 } else { im } })
        .filter(|exponent| (ZERO..=LARGEST).contains(&exponent.re) && exponent.im >= 0.0)
        .collect();
    exponents.sort_by(|a, b| a.re.total_cmp(&b.re));
    Ok(exponents)
}

/// Refuses what is no vertex.
fn check(sectors: &[Sector], ends: Ends) -> Result<()> {
    let wrong = |problem: &str| {
        let hint = "sectors follow each other counter-clockwise, with positive definite tensors";
        Err(Error::input("vertex", format!("{} sectors", sectors.len()), problem, hint))
    };
    let Some((first, last)) = sectors.first().zip(sectors.last()) else { return wrong("there is no sector") };
    let turn = last.angles[1] - first.angles[0];
    let wide = sectors.iter().all(|s| s.angles[1] - s.angles[0] > 1e-6);
    // Written so that what is not a number is refused.
    let fits = wide && turn <= TAU + 1e-9;
    if !fits {
        return wrong("a sector has no width, or all together are more than a turn");
    }
    if sectors.windows(2).any(|pair| (pair[0].angles[1] - pair[1].angles[0]).abs() > 1e-9) {
        return wrong("there is a gap between two sectors");
    }
    if ends == Ends::Closed && (turn - TAU).abs() > 1e-9 {
        return wrong("they are closed and do not make a full turn");
    }
    if sectors.iter().any(|s| !is_elliptic(s.tensor)) {
        return wrong("a tensor is not positive definite");
    }
    Ok(())
}

/// Whether a tensor is a multiple of the identity and an antisymmetric one, which no angle depends on.
pub fn prefers_no_direction([[a, b], [c, d]]: [[f64; 2]; 2]) -> bool {
    let size = SAME * (a.abs() + d.abs());
    (a - d).abs() <= size && (b + c).abs() <= size
}

/// Whether a tensor is that of an elliptic equation.
pub fn is_elliptic(tensor: [[f64; 2]; 2]) -> bool {
    lower_factor(tensor).is_some()
}

/// The lower triangular L of the symmetric part of a tensor, `A = L L'`: `l11, l21, l22`.
fn lower_factor(a: [[f64; 2]; 2]) -> Option<[f64; 3]> {
    let l11 = a[0][0].sqrt();
    let l21 = 0.5 * (a[0][1] + a[1][0]) / l11;
    let l22 = (a[1][1] - l21 * l21).sqrt();
    (l11 > 0.0 && l22 > 0.0 && l11.is_finite() && l22.is_finite()).then_some([l11, l21, l22])
}

/// A segment across a piece of a sector, in the coordinates in which the tensor is `factor` times the identity.
struct Piece {
    ends: [Point; 2],
    factor: f64,
}

/// A point in coordinates in which a tensor is a multiple of the identity; `None` if it is not that of an elliptic equation.
pub(super) fn straightened(tensor: [[f64; 2]; 2], p: Point) -> Option<Point> {
    lower_factor(tensor).map(|factor| moved_point(factor, p))
}

fn moved_point([l11, l21, l22]: [f64; 3], p: Point) -> Point {
    let x = p[0] / l11;
    [x, (p[1] - l21 * x) / l22]
}

/// ... of the unit circle.
fn moved(factor: [f64; 3], angle: f64) -> Point {
    moved_point(factor, [angle.cos(), angle.sin()])
}

/// The angle of a sector in those coordinates.
fn opening(sector: &Sector) -> f64 {
    let factor = lower_factor(sector.tensor).expect("tensors have been checked");
    let [from, to] = sector.angles;
    // Half turns stay half turns.
    let halves = ((to - from) / PI).floor();
    let (first, reached) = (moved(factor, from), moved(factor, to - halves * PI));
    halves * PI + cross(first, reached).atan2(dot(first, reached)).max(0.0)
}

/// Cuts a sector into pieces that are neither wide nor steep. Segments of neighbouring sectors meet on the unit circle of x.
fn pieces(sector: &Sector) -> Vec<Piece> {
    let factor = lower_factor(sector.tensor).expect("tensors have been checked");
    let [first, last] = sector.angles.map(|angle| moved(factor, angle));
    let width = opening(sector);
    let (length, growth) = (norm(first), (norm(last) / norm(first)).ln());
    let count = (width / WIDEST).ceil().max((growth.abs() / STEEPEST).ceil()).max(1.0);
    let start = first[1].atan2(first[0]);
    let at = |k: f64| {
        let (s, c) = (start + width * k / count).sin_cos();
        let r = length * (growth * k / count).exp();
        [r * c, r * s]
    };
    (0..count as usize)
        .map(|k| Piece { ends: [at(k as f64), at((k + 1) as f64)], factor: factor[0] * factor[2] })
        .collect()
}

/// Values and slopes on `[0, 1]` of `1 - t`, `t` and the integrated Legendre polynomials that vanish at both ends, of unit size.
fn shape_functions(t: f64) -> ([f64; DEGREE + 1], [f64; DEGREE + 1]) {
    let z = 2.0 * t - 1.0;
    let mut legendre = [1.0; DEGREE + 1];
    legendre[1] = z;
    for k in 2..=DEGREE {
        let m = k as f64;
        legendre[k] = ((2.0 * m - 1.0) * z * legendre[k - 1] - (m - 1.0) * legendre[k - 2]) / m;
    }
    let (mut values, mut slopes) = ([0.0; DEGREE + 1], [0.0; DEGREE + 1]);
    (values[0], values[1], slopes[0], slopes[1]) = (1.0 - t, t, -1.0, 1.0);
    for k in 0..DEGREE - 1 {
        let m = (k + 2) as f64;
        let size = (1.0 / (2.0 * m + 1.0) + 1.0 / (2.0 * m - 3.0)).sqrt();
        values[k + 2] = (legendre[k + 2] - legendre[k]) / size;
        slopes[k + 2] = 2.0 * (2.0 * m - 1.0) * legendre[k + 1] / size;
    }
    (values, slopes)
}

/// M, `C - C'` and K of all pieces, without the functions that do not vanish on rays with a condition on u.
fn matrices(all: &[Piece], sectors: &[Sector], ends: Ends) -> (Mat<f64>, Mat<f64>, Mat<f64>) {
    let count = all.len();
    // The functions of the rays between pieces come first, then those inside.
    let rays = if ends == Ends::Closed { count } else { count + 1 };
    let number = |piece: usize, k: usize| match k {
        0 | 1 => (piece + k) % rays,
        _ => rays + piece * (DEGREE - 1) + k - 2,
    };
    let size = rays + count * (DEGREE - 1);
    let [mut mass, mut mixed, mut stiffness] = [0; 3].map(|_| Mat::<f64>::zeros(size, size));
    let (nodes, weights) = gauss(DEGREE + 2);
    for (e, Piece { ends: [p0, p1], factor }) in all.iter().enumerate() {
        let q = subtract(*p1, *p0);
        let det = cross(*p0, q);
        for (t, w) in nodes.iter().zip(&weights) {
            let p = [p0[0] + t * q[0], p0[1] + t * q[1]];
            let unit = w * factor / det;
            let (ss, st, tt) = (unit * dot(q, q), -unit * dot(p, q), unit * dot(p, p));
            let (values, slopes) = shape_functions(*t);
            for i in 0..=DEGREE {
                for j in 0..=DEGREE {
                    let at = (number(e, i), number(e, j));
                    mass[at] += ss * values[i] * values[j];
                    mixed[at] += st * (values[i] * slopes[j] - slopes[i] * values[j]);
                    stiffness[at] += tt * slopes[i] * slopes[j];
                }
            }
        }
    }
    let mut ray = 0;
    for sector in sectors {
        let skew = 0.5 * (sector.tensor[0][1] - sector.tensor[1][0]);
        let end = (ray + pieces(sector).len()) % rays;
        mixed[(ray, ray)] -= skew;
        mixed[(end, end)] += skew;
        ray = end;
    }
    let given = |k: usize| match ends {
        Ends::Closed => false,
        Ends::Rays([first, last]) => (k == 0 && first == Ray::Value) || (k == count && last == Ray::Value),
    };
    let kept: Vec<usize> = (0..size).filter(|&k| !given(k)).collect();
    let part = |m: Mat<f64>| Mat::from_fn(kept.len(), kept.len(), |i, j| m[(kept[i], kept[j])]);
    (part(mass), part(mixed), part(stiffness))
}
