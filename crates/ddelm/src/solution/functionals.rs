//! Integrals over the domain and its boundary, and extreme values of a solution.
//!
//! Integrals are sums over subdomains by Gauss quadrature in reference coordinates, with more points than there are nodes, so
//! that they are as accurate as the solution. A flux through the boundary is the integral of `n . a grad u` along the sides of
//! subdomains.

use rayon::prelude::*;

use crate::base::error::{Error, Result};
use crate::base::parallel::in_order;
use crate::domain::collocation::Integration;
use crate::domain::map::{Point, magnification, side_speed, unit_normal};
use crate::domain::sample::Sample;
use crate::problem::field::{Field, State};
use crate::problem::functional::Functional;
use crate::problem::model::Problem;
use crate::solution::evaluate::Solution;

/// A value and where it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extreme {
    /// u
    pub value: f64,
    /// Where.
    pub point: Point,
}

/// Second derivatives at many points.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hessians {
    /// u_xx
    pub xx: Vec<f64>,
    /// u_xy
    pub xy: Vec<f64>,
    /// u_yy
    pub yy: Vec<f64>,
}

/// Steps of Newton's method toward an extreme value, at most.
const STEPS: usize = 20;

/// An integral that another rule finds to differ by more than this, relative to that of the size of the integrand, is doubtful.
const DOUBTFUL: f64 = 1e-4;

impl Solution {
    fn integration(&self, s: usize) -> Integration {
        Integration::new(self.decomposition.subdomains[s].map.shape(), self.points_of_integrals())
    }

    fn points_of_integrals(&self) -> usize {
        self.report.points.max(8)
    }

    /// The integral over the domain, or over a region by its number, of a field that may depend on u and its gradient.
    pub fn integrate(&self, field: &dyn Field, region: Option<usize>) -> Result<f64> {
        Ok(self.integrate_by(self.points_of_integrals(), field, region)?[0])
    }

    /// What to say of an integral whose integrand is not smooth in the subdomains, as one that jumps there, or has a peak between the
    /// points: a rule with half as many points more finds another number.
    pub fn doubt_of_integral(&self, field: &dyn Field, region: Option<usize>) -> Result<Option<String>> {
        let points = self.points_of_integrals();
        let [value, size] = self.integrate_by(points, field, region)?;
        // The integrand may be infinite at other points.
        let other = self.integrate_by(points + points / 2 + 1, field, region).map_or(f64::INFINITY, |[other, _]| other);
        let difference = (value - other).abs();
        let doubtful = difference > DOUBTFUL * size;
        Ok(doubtful.then(|| {
            let relative = difference / size;
            format!("the integrand is not smooth inside of subdomains: its integral may be wrong by {relative:.1e} of itself")
        }))
    }

    /// The integrals of a field and of its absolute value, by the rule that has so many points for each subdomain.
    fn integrate_by(&self, points: usize, field: &dyn Field, region: Option<usize>) -> Result<[f64; 2]> {
        let one = |s: usize| -> Result<[f64; 2]> {
            let place = &self.decomposition.subdomains[s];
            if region.is_some() && place.region != region {
                return Ok([0.0; 2]);
            }
            let map = place.map.as_ref();
            let rule = Integration::new(map.shape(), points);
            let g = self.local_gradients(s, &rule.inside);
            let sample = Sample::new(place, rule.inside.iter().copied());
            let state = State { u: &g.u, ux: &g.ux, uy: &g.uy };
            let mut values = vec![0.0; rule.inside.len()];
            let at = crate::problem::field::Samples { state: Some(state), ..sample.samples(s) };
            field.values(&at, &mut values).map_err(Error::callback("integral"))?;
            sample.finite(&values, "integral", s)?;
            let terms = rule.inside.iter().zip(&rule.inside_weights).zip(values);
            let terms: Vec<f64> = terms.map(|((&xi, w), value)| w * magnification(map.jacobian(xi)) * value).collect();
            Ok([terms.iter().sum(), terms.iter().map(|term| term.abs()).sum()])
        };
        let parts = in_order((0..self.decomposition.len()).into_par_iter().map(one))?;
        Ok([0, 1].map(|k| parts.iter().map(|part| part[k]).sum()))
    }

    /// What flows out through a part of the boundary, by its number: the integral of `n . a grad u`, or of the normal derivative
    /// of the Laplacian for a plate.
    pub fn flux(&self, problem: &Problem, part: usize) -> Result<f64> {
        let one = |s: usize| -> Result<f64> {
            let place = &self.decomposition.subdomains[s];
            let (map, rule) = (place.map.as_ref(), self.integration(s));
            let per_side = rule.around.len() / map.shape().sides();
            let mut sum = 0.0;
            for (side, _) in place.boundaries().filter(|(_, on)| *on == part) {
                let xi = &rule.around[side * per_side..(side + 1) * per_side];
                let [fx, fy] = self.local_fluxes(problem, s, xi)?;
                for (i, (&p, w)) in xi.iter().zip(&rule.around_weights).enumerate() {
                    let (jacobian, [nx, ny]) = (map.jacobian(p), unit_normal(map, side, map.jacobian(p)));
                    sum += w * side_speed(map, side, jacobian) * (nx * fx[i] + ny * fy[i]);
                }
            }
            Ok(sum)
        };
        Ok(in_order((0..self.decomposition.len()).into_par_iter().map(one))?.iter().sum())
    }

    /// The largest value of u, and where it is.
    pub fn max(&self) -> Extreme {
        self.extreme(1.0)
    }

    /// The smallest value of u, and where it is.
    pub fn min(&self) -> Extreme {
        self.extreme(-1.0)
    }

    /// The largest of points in every subdomain, sides and corners included, and from the best of them uphill by Newton's method.
    fn extreme(&self, sign: f64) -> Extreme {
        let count = 2 * self.report.points.max(4);
        let best = |s: usize| {
            let xi: Vec<Point> = self.decomposition.subdomains[s].map.shape().lattice(count).collect();
            let u = self.reference_derivatives(s, &xi, &[0]).swap_remove(0);
            let at =
                (0..u.len()).max_by(|&a, &b| (sign * u[a]).total_cmp(&(sign * u[b]))).expect("a lattice has points");
            (s, xi[at], u[at])
        };
        let found: Vec<(usize, Point, f64)> = (0..self.decomposition.len()).into_par_iter().map(best).collect();
        let highest = found.iter().max_by(|a, b| (sign * a.2).total_cmp(&(sign * b.2)));
        let &(s, mut xi, mut value) = highest.expect("a decomposition has subdomains");
        let map = self.decomposition.subdomains[s].map.as_ref();
        for _ in 0..STEPS {
            let d = self.reference_derivatives(s, &[xi], &[1, 2, 3, 4, 5]);
            let [a, b, c] = [d[2][0], d[3][0], d[4][0]];
            let det = a * c - b * b;
            // Only where u is curved as it is at an extreme value.
            if !(det > 0.0 && sign * a < 0.0) {
                break;
            }
            let step = [(c * d[0][0] - b * d[1][0]) / det, (a * d[1][0] - b * d[0][0]) / det];
            let next = map.shape().clamp([xi[0] - step[0], xi[1] - step[1]]);
            let there = self.reference_derivatives(s, &[next], &[0])[0][0];
            if sign * there <= sign * value {
                break;
            }
            (xi, value) = (next, there);
        }
        Extreme { value, point: map.point(xi) }
    }

    /// Second derivatives at points; NaN outside the domain.
    ///
    /// # Panics
    /// If there are not as many x as y.
    pub fn hessians(&self, x: &[f64], y: &[f64]) -> Hessians {
        let [xx, xy, yy] =
            self.operators_at(x, y, [[[1.0, 0.0], [0.0, 0.0]], [[0.0, 0.5], [0.5, 0.0]], [[0.0, 0.0], [0.0, 1.0]]]);
        Hessians { xx, xy, yy }
    }

    /// A number that is asked of the solution of a problem.
    pub fn functional(&self, problem: &Problem, functional: &Functional) -> Result<f64> {
        match functional {
            Functional::Integral { field, region } => self.integrate(field.as_ref(), *region),
            Functional::Flux(part) => self.flux(problem, *part),
            Functional::Max => Ok(self.max().value),
            Functional::Min => Ok(self.min().value),
        }
    }
}
