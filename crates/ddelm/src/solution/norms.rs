//! Norms of errors, and of the difference of two solutions.

use rayon::prelude::*;

use crate::base::error::{Error, Result};
use crate::base::parallel::in_order;
use crate::base::progress::{Progress, Silent, stop_if_asked};
use crate::domain::decomposition::EdgeSide;
use crate::domain::map::{Point, magnification};
use crate::domain::sample::Sample;
use crate::method::report::Errors;
use crate::problem::field::Field;
use crate::solution::evaluate::{Gradients, Solution};

/// Subdomains that are evaluated together with the tables of their basis.
const TOGETHER: usize = 16;

/// Points of a subdomain that these tables are made for at once: for all of them they would be larger than the solver.
const AT_ONCE: usize = 256;

/// Cells per side of the finest grid in a subdomain on which solutions are compared.
const FINEST: usize = 4096;

impl Solution {
    /// Errors against a known solution on a grid of `resolution x resolution` cell centres in every subdomain.
    pub fn errors(&self, exact: &dyn Field, resolution: usize) -> Result<Errors> {
        self.errors_with_progress(exact, resolution, &Silent)
    }

    /// [`Solution::errors`] with a listener, who may stop it.
    pub fn errors_with_progress(
        &self,
        exact: &dyn Field,
        resolution: usize,
        progress: &dyn Progress,
    ) -> Result<Errors> {
        let sums = self.compare(resolution, |s, sample| {
            stop_if_asked(progress)?;
            let u = sample.values(exact, "exact.u", s)?;
            let (mut ux, mut uy) = (vec![0.0; u.len()], vec![0.0; u.len()]);
            let known = exact.gradients(&sample.samples(s), &mut ux, &mut uy).map_err(Error::callback("exact.u"))?;
            if !known {
                ux.fill(f64::NAN);
                uy.fill(f64::NAN);
            }
            Ok(Gradients { u, ux, uy })
        })?;
        let total = Sums::total(&sums);
        Ok(Errors {
            l2: total.l2(),
            h1: Some(total.h1()).filter(|h| !h.is_nan()),
            max: total.max,
            interface_rms: self.interface_rms(exact)?,
            trace_rms: self.trace_rms(exact, resolution)?,
        })
    }

    /// The difference to another solution on the same domain, as the error against it, on a grid of
    /// `resolution x resolution` cell centres in every subdomain of this one.
    pub fn distance(&self, other: &Solution, resolution: usize) -> Result<Errors> {
        let total = Sums::total(&self.difference(other, resolution)?);
        if total.error.is_nan() {
            return Err(Error::input(
                "domain",
                format!("{:?} and {:?}", self.decomposition.bounding_box(), other.decomposition.bounding_box()),
                "the second solution is not defined on the whole domain of the first",
                "compare solutions of the same problem",
            ));
        }
        Ok(Errors { l2: total.l2(), h1: Some(total.h1()), max: total.max, interface_rms: None, trace_rms: None })
    }

    /// Sums of squared differences to another solution in every subdomain of this one.
    pub(crate) fn difference(&self, other: &Solution, resolution: usize) -> Result<Vec<Sums>> {
        self.compare(resolution, |_, sample| Ok(other.gradients(&sample.x, &sample.y)))
    }

    fn compare(
        &self,
        resolution: usize,
        other: impl Fn(usize, &Sample) -> Result<Gradients> + Sync,
    ) -> Result<Vec<Sums>> {
        if !(1..=FINEST).contains(&resolution) {
            let problem = format!("a grid in a subdomain has between 1 and {FINEST} cells per side");
            return Err(Error::input("resolution", resolution, problem, "twice the points per side is usual"));
        }
        let mut found = vec![Sums::default(); self.decomposition.len()];
        for shape in self.decomposition.shapes() {
            let centres = shape.middles(resolution);
            let subdomains: Vec<usize> = (0..found.len()).filter(|&s| self.shape(s) == shape).collect();
            for points in centres.chunks(AT_ONCE) {
                let table = self.in_basis.as_ref().map(|known| known.bases.of(shape).derivatives(points, &[0, 1, 2]));
                let share = shape.area() / centres.len() as f64;
                let batches: Vec<Result<Vec<Sums>>> = subdomains
                    .par_chunks(TOGETHER)
                    .map(|batch| {
                        let mine = self.gradients_at(batch, points, table.as_ref());
                        batch.iter().zip(mine).map(|(&s, mine)| self.squares(s, points, share, &mine, &other)).collect()
                    })
                    .collect();
                for (batch, sums) in subdomains.chunks(TOGETHER).zip(batches) {
                    batch.iter().zip(sums?).for_each(|(&s, sums)| found[s] = found[s].plus(&sums));
                }
            }
        }
        Ok(found)
    }

    /// Sums of squares of u, given at reference points of a subdomain, each with a share of the reference area, and of its
    /// difference to something else.
    fn squares(
        &self,
        s: usize,
        points: &[Point],
        share: f64,
        mine: &Gradients,
        other: &(impl Fn(usize, &Sample) -> Result<Gradients> + Sync),
    ) -> Result<Sums> {
        let place = &self.decomposition.subdomains[s];
        let map = place.map.as_ref();
        let sample = Sample::new(place, points.iter().copied());
        let theirs = other(s, &sample)?;
        let mut sums = Sums::default();
        for (i, &xi) in points.iter().enumerate() {
            let weight = magnification(map.jacobian(xi)) * share;
            let (e, ex, ey) = (mine.u[i] - theirs.u[i], mine.ux[i] - theirs.ux[i], mine.uy[i] - theirs.uy[i]);
            let slope = theirs.ux[i] * theirs.ux[i] + theirs.uy[i] * theirs.uy[i];
            sums.area += weight;
            sums.error += weight * e * e;
            sums.norm += weight * theirs.u[i] * theirs.u[i];
            // Points of the last rings round to their vertex, which has no area and may have an infinite slope.
            if !(theirs.ux[i].is_infinite() || theirs.uy[i].is_infinite()) {
                sums.slope_error += weight * (ex * ex + ey * ey);
                sums.slope_norm += weight * slope;
            }
            sums.max = sums.max.max(e.abs());
        }
        Ok(sums)
    }

    fn interface_rms(&self, exact: &dyn Field) -> Result<Option<f64>> {
        if self.interface.is_empty() {
            return Ok(None);
        }
        let (x, y) = self.interface.iter().map(|(p, _)| (p[0], p[1])).unzip();
        let u = Sample::at(x, y).values(exact, "exact.u", 0)?;
        let sum: f64 = self.interface.iter().zip(&u).map(|((_, v), u)| (v - u) * (v - u)).sum();
        Ok(Some((sum / u.len() as f64).sqrt()))
    }

    /// The error of the networks at the middles of `resolution` intervals of both sides of every edge.
    fn trace_rms(&self, exact: &dyn Field, resolution: usize) -> Result<Option<f64>> {
        let sides: Vec<EdgeSide> = self.decomposition.edges.iter().flat_map(|edge| edge.sides).collect();
        if sides.is_empty() {
            return Ok(None);
        }
        let middles: Vec<f64> = (0..resolution).map(|i| (i as f64 + 0.5) / resolution as f64).collect();
        let square = |&EdgeSide { subdomain: s, side, span }: &EdgeSide| -> Result<f64> {
            let place = &self.decomposition.subdomains[s];
            let point = |&t: &f64| place.map.shape().side_point(side, span.along(t));
            let xi: Vec<Point> = middles.iter().map(point).collect();
            let u = Sample::new(place, xi.iter().copied()).values(exact, "exact.u", s)?;
            let traces = self.reference_derivatives(s, &xi, &[0]).swap_remove(0);
            Ok(traces.iter().zip(u).map(|(v, u)| (v - u) * (v - u)).sum())
        };
        let squares = in_order(sides.par_iter().map(square))?;
        Ok(Some((squares.iter().sum::<f64>() / (squares.len() * resolution) as f64).sqrt()))
    }
}

/// Weighted sums of squares over the points of a subdomain.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sums {
    pub area: f64,
    pub error: f64,
    pub norm: f64,
    pub slope_error: f64,
    pub slope_norm: f64,
    pub max: f64,
}

impl Sums {
    pub fn total(sums: &[Sums]) -> Sums {
        sums.iter().fold(Sums::default(), |a, b| a.plus(b))
    }

    fn plus(&self, b: &Sums) -> Sums {
        Sums {
            area: self.area + b.area,
            error: self.error + b.error,
            norm: self.norm + b.norm,
            slope_error: self.slope_error + b.slope_error,
            slope_norm: self.slope_norm + b.slope_norm,
            max: self.max.max(b.max),
        }
    }

    /// Relative L2 norm; absolute where the reference vanishes.
    pub fn l2(&self) -> f64 {
        (self.error / if self.norm > 0.0 { self.norm } else { 1.0 }).sqrt()
    }

    /// Relative H1 norm; absolute where the reference vanishes.
    pub fn h1(&self) -> f64 {
        let norm = self.norm + self.slope_norm;
        ((self.error + self.slope_error) / if norm > 0.0 { norm } else { 1.0 }).sqrt()
    }
}
