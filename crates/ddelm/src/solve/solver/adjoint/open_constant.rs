//! Gradients where a constant is open: the solution is shifted to its mean, and the source is lowered until the data balance.
//!
//! With `1` for interface values of one, `y = y_0 + kappa Y 1` and `kappa = mean - (w . y_0) / area` with the integrals w of the basis.
//! A number with the gradients g in y has in y_0 those of
//!
//! ```text
//! g - (g . Y 1 / area) w,
//! ```
//!
//! which are orthogonal to Y 1, so that the transposed interface system has a solution. The derivative in the mean is `g . Y 1`.
//! A change of the source, or of a flux on the boundary, lowers the source by its integral over the area.

use std::convert::Infallible;

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::Adjoint;
use crate::domain::map::{Point, magnification, side_speed};
use crate::domain::shape::PerShape;
use crate::local::local_factor::{Local, product};
use crate::local::sensitivity::Sensitivities;

impl Adjoint {
    /// Takes what the shift to the mean does from the gradients in the coefficients, and returns the derivative in the mean.
    pub(super) fn before_the_shift(&self, g: &mut [Mat<f64>]) -> Option<f64> {
        self.problem.mean?;
        let solver = self.solver.as_ref();
        let bases = solver.bases.as_ref().expect("checked beforehand");
        let table = |shape| {
            let rule = &solver.plan.collocations.of(shape).integration;
            Ok::<_, Infallible>(bases.of(shape).derivatives(&rule.inside, &[0]))
        };
        let Ok(tables) = PerShape::new(&solver.plan.decomposition.shapes(), table);
        let integrals: Vec<Vec<f64>> = (solver.locals.par_iter())
            .map(|local| {
                let areas = self.areas(local.subdomain);
                let table = tables.of(solver.plan.shape(local.subdomain));
                let row = MatRef::from_row_major_slice(&areas, 1, areas.len());
                product(row, table.as_ref()).row(0).iter().copied().collect()
            })
            .collect();
        let constant = |(local, g): (&Local, &Mat<f64>)| {
            let y = &local.factor.y;
            let of =
                |&column: &usize| y.col_as_slice(column).iter().zip(g.col_as_slice(0)).map(|(y, g)| y * g).sum::<f64>();
            local.columns.iter().map(of).sum::<f64>()
        };
        let mean = solver.locals.iter().zip(g.iter()).map(constant).sum::<f64>();
        let share = mean / self.area();
        for (g, w) in g.iter_mut().zip(&integrals) {
            g.col_as_slice_mut(0).iter_mut().zip(w).for_each(|(g, w)| *g -= share * w);
        }
        Some(mean)
    }

    /// Adds what changes of the source and of the fluxes on the boundary do to the number by which the source is lowered.
    pub(super) fn with_balance(&self, fields: &mut Sensitivities) {
        if self.problem.mean.is_none() || !self.problem.equation.conserves() {
            return;
        }
        let of_one: f64 = fields.source.sites.iter().flat_map(|site| &site.value).sum();
        let share = of_one / self.area();
        let plan = &self.solver.plan;
        for (s, place) in plan.decomposition.subdomains.iter().enumerate() {
            let (map, rule) = (place.map.as_ref(), &plan.collocations.of(place.map.shape()).integration);
            let lowered = |cotangents: Vec<f64>| cotangents.into_iter().map(|w| -share * w).collect();
            fields.source.push((s, &rule.inside), lowered(self.areas(s)), None);
            let per_side = rule.around.len() / map.shape().sides();
            for (side, part) in place.boundaries() {
                let points = &rule.around[side * per_side..(side + 1) * per_side];
                let length = |(&xi, w): (&Point, &f64)| w * side_speed(map, side, map.jacobian(xi));
                let lengths = points.iter().zip(&rule.around_weights).map(length).collect();
                fields.boundary[part][0].push((s, points), lowered(lengths), None);
            }
        }
    }

    /// The weights of the points of integration of subdomain s.
    fn areas(&self, s: usize) -> Vec<f64> {
        let map = self.solver.plan.decomposition.subdomains[s].map.as_ref();
        let rule = &self.solver.plan.collocations.of(map.shape()).integration;
        rule.inside.iter().zip(&rule.inside_weights).map(|(&xi, w)| w * magnification(map.jacobian(xi))).collect()
    }

    fn area(&self) -> f64 {
        (0..self.solver.plan.decomposition.len()).map(|s| self.areas(s).iter().sum::<f64>()).sum()
    }
}
