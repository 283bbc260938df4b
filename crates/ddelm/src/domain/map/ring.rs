//! Rings about a corner: maps under which whatever a solution does there is smooth.
//!
//! Next to a corner c of the domain a solution is a sum of `r^lambda (log r)^k phi(angle)`. A triangle with its corner at c becomes a
//! stack of quadrilaterals whose radius is doubly exponential,
//!
//! ```text
//! rho(sigma) = exp(-psi(sigma)),   psi(sigma) = (e^sigma - 1) / 2,   sigma in [sigma_0, sigma_1],
//! xi_root = c_ref + rho (p + t q),   p = p0_ref - c_ref,   q = p1_ref - p0_ref,   x = F(xi_root),
//! ```
//!
//! and in (sigma, t) powers, logarithms and angles are all smooth, so that no exponent enters the basis. F is the map of the
//! element, straight or curved, and (c_ref, p0_ref, p1_ref) a triangle of its reference shape: neighbours
//! that share a side with its end at c meet on it, whatever their maps, because both have the side's own point at parameter rho.
//!
//! The reference square of a ring is (s, t) with `sigma = sigma_1 - s (sigma_1 - sigma_0)`:
//!
//! ```text
//!          t = 1: along the ray to p1
//!        +---------------------------+
//! s = 0  |                           |  s = 1: away from the corner       sides in order: t = 0, s = 1, t = 1, s = 0
//! inner  |                           |  (the side p0 p1 for sigma_0 = 0)
//!        +---------------------------+
//!          t = 0: along the ray to p0
//! ```
//!
//! A triangle that runs clockwise makes a mirrored ring, whose sides do so as well, with `det J < 0`: the two halves of a square
//! have rings that are reflections of each other, and the same in (s, t).
//!
//! # Units
//!
//! A stack ends at `rho = 1e-12` for smooth exponents and at `1e-120` for `r^0.1`. With `w = sigma_1 - sigma_0` and
//! `delta = w e^sigma / 2 = d(log rho)/ds`,
//!
//! ```text
//! J / rho = DF [delta d, q],      d = p + t q,
//! H_ss / rho = (delta^2 - delta w) DF d + rho delta^2 D2F(d, d)
//! H_st / rho = delta DF q + rho delta D2F(d, q),      H_tt / rho = rho D2F(q, q)
//! ```
//!
//! are of the size of the element everywhere; rho is the [`unit`](Map::unit). With the hatted gradient `unit grad_x`, which has
//! `J / unit` and `H / unit` in place of J and H, nothing overflows:
//!
//! ```text
//! equation times unit^2:   -a : hat-hessian - unit (div a - b) . hat-gradient + unit^2 c   =   unit^2 f
//! flux times |dx/dt|:      n . a hat-gradient |dx/dt / unit|                               =   unit |dx/dt / unit| g
//! area:                    dx = unit^2 det(J / unit) ds dt
//! ```
//!
//! The innermost ring ends with `r du/dr = 0`, the row `(d/ds) / delta = 0` on the side s = 0 ([`Ring::inner_speed`]): u is
//! constant there to `rho^lambda`, and inside of it u is what it is on that side.
//!
//! # References
//!
//! H. Takahasi, M. Mori, *Double exponential formulas for numerical integration*, Publ. RIMS 9 (1974): the same change of variables.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::{Affine, Form, Map, MapDescription, MapRef, Point};
use crate::algebra::quadrature::gauss;
use crate::domain::plane::twice_area;

/// Up to this radius `F - c` is integrated along the ray; above, the difference has lost three bits at most.
const NEAR: f64 = 0.125;

/// Points of integration along a ray, on `[0, 1]`: rounding level on an eighth of a side that a polynomial can follow at all.
static ALONG: LazyLock<(Vec<f64>, Vec<f64>)> = LazyLock::new(|| gauss(10));

/// How far outside of its triangle a point may lie, relative to its distance from the corner: an angle.
const SLACK: f64 = 1e-11;

/// A ray that leaves an axis by a smaller angle does so by rounding.
const STRAIGHT: f64 = 16.0 * f64::EPSILON;

/// `-log` of what is left of a solution like `r` at the end of the rings.
pub const DEPTH: f64 = 27.6;

/// The distance from the corner, relative to the element, at which continuous gradients are known best.
const NEAREST_SLOPE: f64 = 1e-6;

/// Newton's steps to a place in a curved element, which end at rounding level of the distance from the corner.
const STEPS: usize = 4;

/// `psi(sigma) = (e^sigma - 1) / 2`, minus the logarithm of the radius.
pub fn psi(sigma: f64) -> f64 {
    0.5 * sigma.exp_m1()
}

/// The inverse of [`psi`].
pub fn sigma_at(psi: f64) -> f64 {
    (2.0 * psi).ln_1p()
}

/// One ring of a stack.
#[derive(Clone)]
pub struct Ring {
    root: MapRef,
    affine: Option<Affine>,
    corner: Point,
    triangle: [Point; 3],
    sigma: [f64; 2],
    innermost: bool,
}

/// A ring as numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RingDescription {
    /// F
    pub root: Box<MapDescription>,
    /// c
    pub corner: Point,
    /// `c_ref, p0_ref, p1_ref`
    pub triangle: [Point; 3],
    /// `sigma_0, sigma_1`
    pub sigma: [f64; 2],
    /// Whether the ring has all that is left toward the corner.
    pub innermost: bool,
}

impl RingDescription {
    /// The ring that is described.
    pub fn ring(self) -> Ring {
        Ring::new(self.root.map(), self.corner, self.triangle, self.sigma, self.innermost)
    }
}

/// A ring at one reference point.
struct Place {
    /// rho
    unit: f64,
    /// delta
    speed: f64,
    /// `w = sigma_1 - sigma_0`
    width: f64,
    /// d
    ray: Point,
    /// q
    across: Point,
    /// `c_ref + rho d`
    within: Point,
}

impl Ring {
    /// The ring between `sigma[0]` (outside) and `sigma[1]` of a triangle of the reference shape of `root`, whose first vertex
    /// `root` maps to `corner`. The innermost ring also has what lies inside of it.
    pub fn new(root: MapRef, corner: Point, triangle: [Point; 3], sigma: [f64; 2], innermost: bool) -> Self {
        let affine = root.affine();
        Ring { root, affine, corner, triangle, sigma, innermost }
    }

    /// c
    pub fn corner(&self) -> Point {
        self.corner
    }

    /// `delta = d(log rho)/ds` on the inner side, s = 0.
    pub fn inner_speed(&self) -> f64 {
        self.unit_and_speed(0.0)[1]
    }

    fn width(&self) -> f64 {
        self.sigma[1] - self.sigma[0]
    }

    fn sigma_of(&self, s: f64) -> f64 {
        // Both ends are met exactly, so that two rings of a stack share their side to the last bit.
        (1.0 - s) * self.sigma[1] + s * self.sigma[0]
    }

    /// rho and delta, by two exponentials: maps are asked at thousands of points.
    fn unit_and_speed(&self, s: f64) -> [f64; 2] {
        let psi = psi(self.sigma_of(s));
        [(-psi).exp(), (psi + 0.5) * self.width()]
    }

    fn place(&self, [s, t]: Point) -> Place {
        let [c, p0, p1] = self.triangle;
        let [unit, speed] = self.unit_and_speed(s);
        let ray = [0, 1].map(|a| (1.0 - t) * (p0[a] - c[a]) + t * (p1[a] - c[a]));
        Place {
            unit,
            speed,
            width: self.width(),
            ray,
            across: [0, 1].map(|a| p1[a] - p0[a]),
            within: [0, 1].map(|a| c[a] + unit * ray[a]),
        }
    }

    /// `(F(c_ref + rho d) - c) / rho`, without the cancellation.
    fn chord(&self, unit: f64, ray: Point) -> Point {
        if let Some(affine) = &self.affine {
            return apply(affine.jacobian, ray);
        }
        let along = |r: f64| [0, 1].map(|a| self.triangle[0][a] + r * ray[a]);
        if unit > NEAR {
            let x = self.root.point(along(unit));
            return [0, 1].map(|a| (x[a] - self.corner[a]) / unit);
        }
        let (nodes, weights) = &*ALONG;
        let mut sum = [0.0; 2];
        for (tau, w) in nodes.iter().zip(weights) {
            let slope = apply(self.root.jacobian(along(tau * unit)), ray);
            (0..2).for_each(|a| sum[a] += w * slope[a]);
        }
        sum
    }

    /// The place of x in the reference shape of the element, relative to the corner: to rounding of the distance from there, as far
    /// as x has it.
    fn within(&self, x: Point) -> Option<Point> {
        let offset = [x[0] - self.corner[0], x[1] - self.corner[1]];
        if let Some(affine) = &self.affine {
            return Some(super::solve2(affine.jacobian, offset));
        }
        let c = self.triangle[0];
        let found = self.root.inverse(x)?;
        let mut d = [found[0] - c[0], found[1] - c[1]];
        if d[0].abs().max(d[1].abs()) > NEAR {
            return Some(d);
        }
        d = super::solve2(self.root.jacobian(c), offset);
        for _ in 0..STEPS {
            let size = d[0].abs().max(d[1].abs());
            if size == 0.0 {
                break;
            }
            let reached = self.chord(size, d.map(|v| v / size));
            let left = [0, 1].map(|a| offset[a] - size * reached[a]);
            let step = super::solve2(self.root.jacobian([c[0] + d[0], c[1] + d[1]]), left);
            d = [d[0] + step[0], d[1] + step[1]];
        }
        Some(d)
    }
}

impl Ring {
    /// J over rho.
    fn jacobian_at(&self, place: &Place) -> [[f64; 2]; 2] {
        let slope = self.root_slope(place);
        let (along, across) = (apply(slope, place.ray), apply(slope, place.across));
        [0, 1].map(|a| [place.speed * along[a], across[a]])
    }

    /// H over rho.
    fn hessian_at(&self, place: &Place) -> [[[f64; 2]; 2]; 2] {
        let slope = self.root_slope(place);
        let (along, across) = (apply(slope, place.ray), apply(slope, place.across));
        let Place { speed, width, .. } = *place;
        let (mut ss, mut st, mut tt) = ([0.0; 2], [0.0; 2], [0.0; 2]);
        if self.affine.is_none() {
            let bend = self.root.hessian(place.within);
            let twice = |v, w| apply_twice(bend, v, w).map(|value| place.unit * value);
            (ss, st, tt) =
                (twice(place.ray, place.ray), twice(place.ray, place.across), twice(place.across, place.across));
        }
        [0, 1].map(|a| {
            let mixed = speed * (across[a] + st[a]);
            [[speed * (speed - width) * along[a] + speed * speed * ss[a], mixed], [mixed, tt[a]]]
        })
    }

    /// DF
    fn root_slope(&self, place: &Place) -> [[f64; 2]; 2] {
        self.affine.as_ref().map_or_else(|| self.root.jacobian(place.within), |affine| affine.jacobian)
    }
}

/// J v
fn apply(j: [[f64; 2]; 2], v: Point) -> Point {
    j.map(|row| row[0] * v[0] + row[1] * v[1])
}

/// `H(v, w)`
fn apply_twice(h: [[[f64; 2]; 2]; 2], v: Point, w: Point) -> Point {
    h.map(|rows| rows.iter().zip(v).map(|(row, v)| v * (row[0] * w[0] + row[1] * w[1])).sum())
}

impl Map for Ring {
    fn point(&self, xi: Point) -> Point {
        let (c, offset) = self.offset(xi);
        [c[0] + offset[0], c[1] + offset[1]]
    }

    fn offset(&self, xi: Point) -> (Point, Point) {
        let place = self.place(xi);
        let mut chord = self.chord(place.unit, place.ray);
        if xi[1] == 0.0 || xi[1] == 1.0 {
            // A ray along an axis has no point beside it: many an angle jumps there.
            let least = STRAIGHT * chord[0].abs().max(chord[1].abs());
            chord = chord.map(|v| if v.abs() <= least { 0.0 } else { v });
        }
        (self.corner, chord.map(|v| place.unit * v))
    }

    fn unit(&self, xi: Point) -> f64 {
        self.unit_and_speed(xi[0])[0]
    }

    fn scaled_jacobian(&self, xi: Point) -> [[f64; 2]; 2] {
        self.jacobian_at(&self.place(xi))
    }

    fn scaled_hessian(&self, xi: Point) -> [[[f64; 2]; 2]; 2] {
        self.hessian_at(&self.place(xi))
    }

    fn jacobian(&self, xi: Point) -> [[f64; 2]; 2] {
        let place = self.place(xi);
        self.jacobian_at(&place).map(|row| row.map(|v| place.unit * v))
    }

    fn hessian(&self, xi: Point) -> [[[f64; 2]; 2]; 2] {
        let place = self.place(xi);
        self.hessian_at(&place).map(|rows| rows.map(|row| row.map(|v| place.unit * v)))
    }

    fn slopes(&self, xi: Point) -> ([[f64; 2]; 2], [[[f64; 2]; 2]; 2]) {
        let place = self.place(xi);
        let scaled = |row: [f64; 2]| row.map(|v| place.unit * v);
        (self.jacobian_at(&place).map(scaled), self.hessian_at(&place).map(|rows| rows.map(scaled)))
    }

    /// The slope of u is known to its rounding over the distance r from the corner. Where rings go no deeper than smooth exponents
    /// ask for, gradients are continuous, and those at `r < 1e-6` are taken there; otherwise that of the core is infinite.
    fn slope_place(&self, [s, t]: Point) -> Option<Point> {
        if !self.innermost {
            return Some([s, t]);
        }
        if psi(self.sigma[1]) > (1.0 + 1e-9) * DEPTH {
            return (s > 0.0).then_some([s, t]);
        }
        let nearest = (self.sigma[1] - sigma_at(-NEAREST_SLOPE.ln())) / self.width();
        Some([s.max(nearest.clamp(0.0, 1.0)), t])
    }

    fn is_mirrored(&self) -> bool {
        let [c, p0, p1] = self.triangle;
        twice_area(c, p0, p1) < 0.0
    }

    fn form(&self) -> Option<Form> {
        let Affine { jacobian, .. } = self.affine?;
        let [c, p0, p1] = self.triangle;
        let vectors = [p0, p1].map(|p| apply(jacobian, [p[0] - c[0], p[1] - c[1]]));
        Some(Form { vectors, shape: self.shape(), rings: Some((self.sigma, self.innermost)) })
    }

    fn description(&self) -> Option<MapDescription> {
        Some(MapDescription::Ring(RingDescription {
            root: Box::new(self.root.description()?),
            corner: self.corner,
            triangle: self.triangle,
            sigma: self.sigma,
            innermost: self.innermost,
        }))
    }

    /// The reference point of x in the element, in coordinates along the two rays: `xi_root - c_ref = alpha (p0_ref - c_ref) + beta (p1_ref - c_ref)`,
    /// `rho = alpha + beta`, `t = beta / rho`. In the innermost ring all points inside of it are on its inner side, and c is the
    /// middle of that.
    fn inverse(&self, x: Point) -> Option<Point> {
        let [c, p0, p1] = self.triangle;
        let [p, r] = [p0, p1].map(|v| [v[0] - c[0], v[1] - c[1]]);
        let det = p[0] * r[1] - p[1] * r[0];
        // Next to a corner at the origin x has more digits than its place in the element.
        let d = self.within(x)?;
        let (alpha, beta) = ((d[0] * r[1] - d[1] * r[0]) / det, (p[0] * d[1] - p[1] * d[0]) / det);
        let rho = alpha + beta;
        let slack = super::rounding(x, self.root.jacobian(c)) + SLACK * rho.abs();
        if !(alpha >= -slack && beta >= -slack) {
            return None;
        }
        let [outer, inner] = self.sigma.map(|sigma| (-psi(sigma)).exp());
        // Neighbouring rings both take a point on the side between them: rounding of x is all that tells them apart.
        let margin = 8.0 * f64::EPSILON * rho;
        let reaches_out = rho <= outer + if self.sigma[0] == 0.0 { slack.max(SLACK) } else { margin };
        if !reaches_out || (rho < inner - margin && !self.innermost) {
            return None;
        }
        let t = if rho > 0.0 { (beta / rho).clamp(0.0, 1.0) } else { 0.5 };
        if rho <= inner {
            return Some([0.0, t]);
        }
        let s = (self.sigma[1] - sigma_at(-rho.ln())) / self.width();
        Some([s.clamp(0.0, 1.0), t])
    }
}

#[cfg(test)]
#[path = "ring_tests.rs"]
mod tests;
