//! Gradients of nonlinear problems where rows cannot all hold: the curvature of the rows times what they leave
//! (`local/curved_rows.rs`).
//!
//! The multipliers and the adjoints of the subdomains depend on it and it on them; it is small, so that they are found in turns, each time
//! by one transposed solve.

use std::cell::Cell;
use std::sync::Arc;

use faer::Mat;
use rayon::prelude::*;

use super::{Adjoint, Transposed};
use crate::base::error::Result;
use crate::base::parallel::in_order;
use crate::base::progress::{Progress, stop_if_asked};
use crate::domain::map::Point;
use crate::domain::shape::PerShape;
use crate::local::about::Iterate;
use crate::local::curved_rows::{CurvedRows, Workshop};
use crate::local::iterate::{InBasis, TableCache, Tabulated};
use crate::local::operator::EdgeUnits;
use crate::local::places::{Places, Scene};
use crate::local::residual::LocalResidual;
use crate::local::right_hand_side::DataRows;
use crate::local::transposed_rows::PartTables;
use crate::local::units::edge_units;
use crate::problem::field::{Failure, Field, FieldRef, Jets, Samples, State};
use crate::problem::jets::{X, Y, pair};
use crate::problem::model::Problem;
use crate::problem::operators::Coefficients;
use crate::solve::solver::Solver;

/// Turns, at most, and the relative change that ends them.
const TURNS: usize = 12;
const ENOUGH: f64 = 1e-13;

/// A change that is not this much smaller than the one before means that nothing is known.
const CONTRACTS: f64 = 0.5;

/// The change of a parameter, relative to it.
const STEP: f64 = 3e-4;

/// The curved rows of all local problems.
pub(super) struct Curvature {
    solver: Arc<Solver>,
    known: InBasis,
    tables: TableCache,
    parts: PerShape<PartTables>,
    units: Vec<EdgeUnits>,
    rows: Vec<CurvedRows>,
}

impl Curvature {
    /// At the solution that the solver was linearised about.
    pub fn new(solver: &Arc<Solver>, mut known: InBasis, parts: PerShape<PartTables>) -> Result<(Self, Vec<Mat<f64>>)> {
        solver.adopt(&mut known);
        let plan = &solver.plan;
        let mut curvature = Curvature {
            solver: solver.clone(),
            known,
            tables: TableCache::default(),
            parts,
            units: Vec::new(),
            rows: Vec::new(),
        };
        let iterate = curvature.state();
        let scene = Scene { about: Some(&iterate), ..Scene::linear(&solver.problem, &plan.decomposition) };
        let of_edge = |edge| edge_units(&scene, plan.collocations.any(), plan.weighting, edge);
        let units = in_order(plan.decomposition.edges.par_iter().map(of_edge))?;
        let of_local = |k: usize| -> Result<(CurvedRows, Mat<f64>)> {
            let (s, data) = (solver.locals[k].subdomain, &solver.data_rows[k]);
            let collocation = plan.collocations.of(plan.shape(s));
            let mut rest = LocalResidual::new(&scene, collocation, s, data, None)?.f;
            forget_traces(data, &mut rest);
            let at = Workshop { scene, collocation, weighting: plan.weighting, units: &units, s };
            Ok((CurvedRows::new(at, rest.col_as_slice(0).to_vec())?, rest))
        };
        let (rows, rests) = in_order((0..solver.locals.len()).into_par_iter().map(of_local))?.into_iter().unzip();
        (curvature.units, curvature.rows) = (units, rows);
        Ok((curvature, rests))
    }

    fn state(&self) -> Tabulated<'_> {
        Tabulated { decomposition: &self.solver.plan.decomposition, known: &self.known, tables: &self.tables }
    }

    /// Points of a subdomain with the solution there.
    fn places<'a>(&'a self, at: &Samples<'a>) -> std::result::Result<Places<'a>, Failure> {
        let patch = at.patch.ok_or("the solution is asked in subdomains")?;
        Ok(Places::new(&self.solver.plan.decomposition, patch.subdomain, patch.xi).about(self))
    }

    fn parts(&self, k: usize) -> &PartTables {
        self.parts.of(self.solver.plan.shape(self.solver.locals[k].subdomain))
    }

    /// How T changes with a parameter of the fields that depend on the solution.
    pub fn parameter(&self, name: &str, w: &[Mat<f64>]) -> Result<f64> {
        let problem = &self.solver.problem;
        let found = Cell::new(None);
        let _ = problem.map_fields(|field| {
            found.set(found.get().or(field.parameter_value(name).filter(|_| is_curved(field))));
            field.clone()
        });
        let Some(value) = found.get() else { return Ok(0.0) };
        let step = STEP * if value == 0.0 { 1.0 } else { value.abs() };
        let total = |value: f64| -> Result<f64> {
            let moved = problem.map_fields(|field| match is_curved(field) {
                true => field.with_parameter(name, value).unwrap_or_else(|| field.clone()),
                false => field.clone(),
            });
            self.total(&moved, w)
        };
        Ok((total(value + step)? - total(value - step)?) / (2.0 * step))
    }

    /// T for another problem.
    fn total(&self, problem: &Problem, w: &[Mat<f64>]) -> Result<f64> {
        let (plan, iterate) = (&self.solver.plan, self.state());
        let scene = Scene { about: Some(&iterate), ..Scene::linear(problem, &plan.decomposition) };
        let of_local = |k: usize| {
            let s = self.solver.locals[k].subdomain;
            let collocation = plan.collocations.of(plan.shape(s));
            let at = Workshop { scene, collocation, weighting: plan.weighting, units: &self.units, s };
            self.rows[k].total(at, self.parts(k), &w[k])
        };
        Ok(in_order((0..self.rows.len()).into_par_iter().map(of_local))?.iter().sum())
    }
}

impl Iterate for Curvature {
    fn reference_derivatives(&self, s: usize, xi: &[Point], derivatives: &[usize]) -> Vec<Vec<f64>> {
        self.state().reference_derivatives(s, xi, derivatives)
    }
}

/// The solution as the rows see it: its network has other last digits than their tables.
impl Field for Curvature {
    fn values(&self, at: &Samples<'_>, out: &mut [f64]) -> std::result::Result<(), Failure> {
        out.copy_from_slice(seen(&self.places(at)?).u);
        Ok(())
    }

    fn gradients(&self, at: &Samples<'_>, dx: &mut [f64], dy: &mut [f64]) -> std::result::Result<bool, Failure> {
        let places = self.places(at)?;
        let State { ux, uy, .. } = seen(&places);
        dx.copy_from_slice(ux);
        dy.copy_from_slice(uy);
        Ok(true)
    }

    fn jets(&self, at: &Samples<'_>, out: &mut Jets) -> std::result::Result<bool, Failure> {
        out.reset(at.len());
        let places = self.places(at)?;
        let State { u, ux, uy } = seen(&places);
        let [xx, xy, yy] = places.second_derivatives().expect("the points have an iterate");
        out.value.copy_from_slice(u);
        (out.first[X], out.first[Y]) = (ux.to_vec(), uy.to_vec());
        (out.second[pair(X, X)], out.second[pair(X, Y)], out.second[pair(Y, Y)]) = (xx, xy, yy);
        Ok(true)
    }

    fn describe(&self) -> String {
        "the solution".into()
    }
}

fn seen<'a>(places: &'a Places<'_>) -> State<'a> {
    places.state().expect("the points have an iterate")
}

/// Rows of interface values are linear, and what they leave is not known here.
fn forget_traces(data: &DataRows, rest: &mut Mat<f64>) {
    let linear = data.linear_rows();
    linear.into_iter().for_each(|row| rest[(row, 0)] = 0.0);
}

impl Adjoint {
    /// The transposed solve for the gradients g in the coefficients, with the curvature of the rows.
    pub(super) fn transposed_with_curvature(&self, g: &[Mat<f64>], progress: &dyn Progress) -> Result<Transposed> {
        let mut found = self.transposed(g, progress)?;
        let Some(curvature) = &self.curvature else { return Ok(found) };
        let mut before = f64::INFINITY;
        for _ in 0..TURNS {
            stop_if_asked(progress)?;
            let more = |k: usize| &g[k] + curvature.rows[k].gradient(curvature.parts(k), &found.adjoints[k][1]);
            let changed: Vec<Mat<f64>> = (0..g.len()).into_par_iter().map(more).collect();
            let next = self.transposed(&changed, progress)?;
            let norm = |of: &dyn Fn(usize) -> f64| (0..g.len()).map(of).sum::<f64>().sqrt();
            let change = norm(&|k| (&next.adjoints[k][1] - &found.adjoints[k][1]).squared_norm_l2())
                / norm(&|k| next.adjoints[k][1].squared_norm_l2()).max(f64::MIN_POSITIVE);
            found = next;
            if change <= ENOUGH {
                break;
            }
            if change.is_nan() || change > CONTRACTS * before {
                if change > super::DOUBTFUL || change.is_nan() {
                    let problem = "the solution is so far from being resolved that its gradient is good to";
                    found.warnings.push(format!("{problem} {change:.1e} only"));
                }
                break;
            }
            before = change;
        }
        Ok(found)
    }
}

/// Whether a field of a nonlinear problem depends on its solution.
pub(super) fn is_curved(field: &FieldRef) -> bool {
    field.depends_on().state
}
