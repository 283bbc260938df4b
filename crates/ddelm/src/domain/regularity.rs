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
//! The second is asked of [polynomials](crate::domain::series) on three neighbourhoods of the vertex. What they leave, in units of the source,
//! is compared with the data of the whole problem, and with what the points of an element resolve: about a quarter of a unit square f = 1 leaves
//! `2e-5`, and `f = x^2` leaves `1e-9`; `r^6 log r` is too smooth to be found, and to do harm. Rings resolve a solution to `5^-n` or better with n points
//! per side (f = 1 to 1e-5, 3e-7, 5e-9, 1e-10, 9e-12, 4e-13 with 6, 8, ..., 16), and without them an error is left that falls like `n^-4`: where the
//! second is the smaller one, rings cost more than they bring.
//!
//! Who asks has chosen candidates: corners of the outline, ends of a condition, points where materials meet. A point in the middle of a
//! smooth curved side, or of a smooth curved interface, is none.
//!
//! # References
//!
//! P. Grisvard, *Elliptic problems in nonsmooth domains* (1985), chapters 4 and 5.

use crate::base::error::{Error, Result};
use crate::domain::exponents::{Ends, Exponent, LARGEST, Ray, exponents, is_elliptic};
use crate::domain::series::Series;
use crate::domain::vertex::{BoundarySide, Vertex, sector};

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

/// Neighbourhoods on which a series is looked for, relative to the radius. What a singularity leaves is the same on all of them, or falls
/// slowly; what the polynomials do not follow of smooth data, a wave say, falls by orders of magnitude from one to the next. On the last one
/// even `r^4 log r` leaves next to nothing, 16 times less than before: there, less counts only if it fell faster, by the second number.
const NEIGHBOURHOODS: [(f64, f64); 3] = [(0.25, 1.0), (1.0 / 16.0, 1.0), (1.0 / 64.0, 1.0 / 64.0)];

/// A residual below this, relative to the data, is none.
const NEGLIGIBLE: f64 = 1e-11;

/// Exponents this close to a whole number are one: of two equal ones rounding takes half the digits.
const WHOLE: f64 = 1e-6;

/// Asks vertices of one problem whether its solution is smooth there.
pub struct Detector {
    series: Series,
    /// A residual, relative to the data, that is not worth rings.
    negligible: f64,
}

impl Detector {
    /// For elements with so many points per side.
    pub fn new(points: usize) -> Self {
        let n = points as f64;
        // What rings resolve over what is lost without them: f = 1 leaves the same with both at n = 5.
        let worth = 5f64.powf(1.0 - n) * (n / 16.0).powi(4);
        Detector { series: Series::new(points), negligible: worth.max(NEGLIGIBLE) }
    }

    /// Whether the solution is smooth at a vertex; see the [module](self).
    pub fn regularity(&mut self, vertex: &Vertex) -> Result<Regularity> {
        let sectors = vertex.materials.iter().map(|material| sector(vertex, material)).collect::<Result<Vec<_>>>()?;
        // Whoever solves the equation will refuse it, and say where.
        if !sectors.iter().all(|sector| is_elliptic(sector.tensor)) {
            return Ok(Regularity::Smooth);
        }
        let ray = |side: &BoundarySide| Ray::of(side.condition);
        let ends = vertex.sides.as_ref().map_or(Ends::Closed, |sides| Ends::Rays(sides.each_ref().map(ray)));
        let found = exponents(&sectors, ends)?;
        let rings = Regularity::Rings { exponent: found.first().map_or(LARGEST, |exponent| exponent.re) };
        let whole = |exponent: &Exponent| exponent.im == 0.0 && (exponent.re - exponent.re.round()).abs() < WHOLE;
        if !found.iter().all(whole) {
            return Ok(rings);
        }
        let mut before = f64::INFINITY;
        for (part, fall) in NEIGHBOURHOODS {
            match self.series.residual(vertex, part * vertex.radius) {
                Ok(residual) if residual <= (self.negligible * vertex.scale).min(fall * before) => {
                    return Ok(Regularity::Smooth);
                }
                Ok(residual) => before = residual,
                // Data that are not finite next to a vertex are no series.
                Err(Error::NotFinite { .. }) => before = f64::INFINITY,
                Err(error) => return Err(error),
            }
        }
        Ok(rings)
    }
}

#[cfg(test)]
#[path = "regularity_tests.rs"]
mod tests;
