//! Sources, boundary values and what depends on u as [loads](Loads) and right-hand sides, for steps in time.

use faer::Mat;
use rayon::prelude::*;

use crate::base::error::{Error, Result};
use crate::domain::map::Point;
use crate::domain::sample::Sample;
use crate::problem::field::{FieldRef, Samples, State};
use crate::problem::model::Data;
use crate::solve::nodal::{Loads, Nodal};

/// A solution that is as large as this has blown up, or its steps have.
const GROWN: f64 = 1e30;

impl Nodal {
    /// No source.
    pub fn zeros(&self) -> Loads {
        self.solver.data_rows.iter().map(|rows| Mat::zeros(rows.interior() + 1, 1)).collect()
    }

    /// The loads of a field.
    pub fn field(&self, field: &FieldRef, key: &str) -> Result<Loads> {
        let maker = self.solver.right_hand_side();
        let of = |k: usize| {
            let load = maker.load(self.solver.locals[k].subdomain, field.as_ref(), key)?;
            Ok(Mat::from_fn(load.len(), 1, |i, _| load[i]))
        };
        let loads: Vec<Result<Mat<f64>>> = (0..self.solver.locals.len()).into_par_iter().map(of).collect();
        loads.into_iter().collect()
    }

    /// Writes boundary values into right-hand sides.
    pub fn set_boundary_values(&self, data: &Data, rhs: &mut [Mat<f64>]) -> Result<()> {
        let maker = self.solver.right_hand_side();
        let set = |(k, f): (usize, &mut Mat<f64>)| {
            let s = self.solver.locals[k].subdomain;
            maker.set_boundary_values(s, &self.solver.data_rows[k], data, f.col_as_slice_mut(0))
        };
        rhs.par_iter_mut().enumerate().map(set).collect::<Vec<Result<()>>>().into_iter().collect()
    }

    /// The loads of a source that depends on u, for u by its loads and at the points of integration.
    pub fn forcing(&self, source: &FieldRef, u: &Loads, inside: &[Mat<f64>]) -> Result<Loads> {
        let of = |k: usize| {
            let u = u[k].col_as_slice(0);
            self.forced(k, source, &u[..u.len() - 1], inside[k].col_as_slice(0))
        };
        let loads: Vec<Result<Mat<f64>>> = (0..u.len()).into_par_iter().map(of).collect();
        loads.into_iter().collect()
    }

    /// The same for u by a field.
    pub fn forcing_of_field(&self, source: &FieldRef, u: &FieldRef) -> Result<Loads> {
        let of = |k: usize| {
            let [interior, inside] = self.places(k);
            let s = self.solver.locals[k].subdomain;
            let values = |sample: &Sample| sample.values(u.as_ref(), "time.initial", s);
            self.forced(k, source, &values(&interior)?, &values(&inside)?)
        };
        let loads: Vec<Result<Mat<f64>>> = (0..self.solver.locals.len()).into_par_iter().map(of).collect();
        loads.into_iter().collect()
    }

    /// Interior nodes and points of integration of a local problem.
    fn places(&self, k: usize) -> [Sample; 2] {
        let place = &self.solver.decomposition().subdomains[self.solver.locals[k].subdomain];
        let collocation = self.solver.plan.collocations.of(place.map.shape());
        let sample = |xi: &[Point]| Sample::new(place, xi.iter().copied());
        [sample(&collocation.interior), sample(&collocation.integration.inside)]
    }

    fn forced(&self, k: usize, source: &FieldRef, interior: &[f64], inside: &[f64]) -> Result<Mat<f64>> {
        let s = self.solver.locals[k].subdomain;
        let [nodes, points] = self.places(k);
        let values = |sample: &Sample, u: &[f64]| -> Result<Vec<f64>> {
            // The gradient is not there to be used.
            let unknown = vec![f64::NAN; u.len()];
            let samples = Samples { state: Some(State { u, ux: &unknown, uy: &unknown }), ..sample.samples(s) };
            let mut out = vec![0.0; u.len()];
            source.values(&samples, &mut out).map_err(Error::callback("equation.source"))?;
            if out.iter().any(|value| !value.is_finite()) {
                let problem = match u.iter().all(|u| u.abs() < GROWN) {
                    true => "it is not finite, or depends on the gradient of u, which is not extrapolated in time",
                    false => {
                        "u grows beyond all bounds: the solution does, or steps are too long for a source that is extrapolated"
                    }
                };
                let hint = "write nonlinear = \"implicit\" under [time], or take smaller steps";
                return Err(Error::input("equation.source", source.describe(), problem, hint));
            }
            Ok(out)
        };
        let mut load = values(&nodes, interior)?;
        let integral = values(&points, inside)?.iter().zip(&self.weights()[k]).map(|(f, w)| f * w).sum();
        load.push(integral);
        Ok(Mat::from_fn(load.len(), 1, |i, _| load[i]))
    }
}
