//! Gradients of the solutions of nonlinear problems.
//!
//! At the solution `N(y; c) = 0` holds, the rows of all subdomains and the balance of their fluxes, and its derivative in y is what
//! Newton's method solves with. So a number has the multipliers of the problem linearised at the solution, found by one more
//! factorization and one transposed solve, and a change of a field counts as in the linear problem whose fields have the values that
//! they take at the solution ([`Problem::at_state`]).
//!
//! Where the rows of a subdomain cannot all hold, the curvature of N times what they leave belongs to it
//! (`solve/solver/adjoint/curvature.rs`).

use std::sync::Arc;

use faer::Mat;

use super::Adjoint;
use super::curvature::Curvature;
use crate::base::error::{Error, Result};
use crate::base::progress::Progress;
use crate::domain::shape::PerShape;
use crate::local::basis::ReferenceBasis;
use crate::local::iterate::{TableCache, Tabulated};
use crate::local::places::Scene;
use crate::method::settings::Settings;
use crate::problem::at_state::at_state;
use crate::problem::field::FieldRef;
use crate::problem::model::Problem;
use crate::solution::evaluate::Solution;
use crate::solve::plan::Plan;
use crate::solve::solver::Solver;

impl Adjoint {
    /// Of a solution that Newton's method has found with these settings, for a problem that depends on it.
    pub fn of_nonlinear(
        problem: &Problem,
        solution: &Solution,
        settings: &Settings,
        progress: &dyn Progress,
    ) -> Result<Adjoint> {
        let refuse = |problem: &str, hint: &str| Err(Error::input("gradient", "a nonlinear problem", problem, hint));
        if problem.mean.is_some() {
            return refuse("gradients with a given mean are those of linear problems", "fix u somewhere instead");
        }
        let Some(known) = &solution.in_basis else {
            return refuse("the solution is not known in the basis that it was found in", "solve again, do not load");
        };
        let plan = Plan::new(problem, solution.decomposition.clone(), settings)?;
        let tables = TableCache::default();
        let iterate = Tabulated { decomposition: &solution.decomposition, known, tables: &tables };
        let solver = Solver::linearized(&plan, problem, &iterate, progress)?;
        solver.check_adjoint()?;
        let ranks = |of: &PerShape<Arc<ReferenceBasis>>| of.iter().map(|(_, basis)| basis.rank).collect::<Vec<_>>();
        if solver.bases.as_ref().map(ranks) != Some(ranks(&known.bases)) {
            return refuse("the solution was found with other settings", "give those that it was found with");
        }
        let column = |s: usize| {
            let y = &known.coefficients[s];
            Mat::from_fn(y.len(), 1, |i, _| y[i])
        };
        let ys = solver.locals.iter().map(|local| column(local.subdomain)).collect();
        let solver = Arc::new(solver);
        let (curvature, rests) = Curvature::new(&solver, known.clone(), solver.part_tables())?;
        let zeros = solver.locals.iter().map(|local| Mat::zeros(local.factor.rows, 1)).collect();
        let curvature = Arc::new(curvature);
        let state: FieldRef = curvature.clone();
        Ok(Adjoint {
            tables: solver.part_tables(),
            solver,
            problem: problem.clone(),
            linear: problem.at_state(&state),
            state: Some(state),
            solution: solution.clone(),
            ys,
            rests,
            rhs: zeros,
            curvature: Some(curvature),
        })
    }

    /// The problem, about the solution where it depends on it.
    pub(super) fn scene(&self) -> Scene<'_> {
        let linear = Scene::linear(&self.problem, &self.solver.plan.decomposition);
        match &self.curvature {
            Some(curvature) => Scene { about: Some(curvature.as_ref()), ..linear },
            None => linear,
        }
    }
}

/// A field at the solution, where it depends on that.
pub(super) fn at_solution(field: &FieldRef, state: Option<&FieldRef>) -> FieldRef {
    match state {
        Some(state) => at_state(field, state),
        None => field.clone(),
    }
}
