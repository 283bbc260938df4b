//! Factoring once, solving many times.

use std::sync::Arc;

use ddelm::Error;
use ddelm::Solver as Factored;
use ddelm::method::settings::Method;
use ddelm::problem::Data;
use ddelm::solve::case::Case as Core;
use pyo3::prelude::*;

use crate::case::Case;
use crate::error::exception;
use crate::problem::Problem;
use crate::solution::Solution;
use crate::watch::run;

/// A factored problem.
#[pyclass(frozen, module = "ddelm._native")]
pub struct Solver {
    case: Arc<Core>,
    factored: Arc<Factored>,
}

/// New data for a factored problem: a source, and a condition for each part; `None` keeps the problem's.
type NewData<'py> = (Option<Bound<'py, PyAny>>, Vec<Option<(String, Vec<Bound<'py, PyAny>>)>>);

#[pymethods]
impl Solver {
    /// Builds and factors the local problems and the interface system.
    #[new]
    #[pyo3(signature = (case, progress=None))]
    fn new(py: Python<'_>, case: &Case, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let case = case.core.clone();
        if let Some(tolerance) = case.tolerance {
            return Err(exception(Error::input(
                "discretization.tolerance",
                tolerance,
                "a factored problem has a fixed discretization",
                "give subdomains and points instead, or use ddelm.solve",
            )));
        }
        if case.settings.method == Method::Locelm {
            return Err(exception(Error::input(
                "method",
                "\"locelm\"",
                "its global least-squares problem is not kept for other data",
                "use ddelm.solve, or method = \"schur\"",
            )));
        }
        let shared = case.clone();
        let factored = run(py, progress, move |progress| {
            Factored::with_progress(&shared.problem, shared.decomposition()?, &shared.settings, progress)
        })?;
        Ok(Solver { case, factored: Arc::new(factored) })
    }

    /// Solves for several sets of data at once. Each solution comes with its case, which estimates need.
    #[pyo3(signature = (problem, data, progress=None))]
    fn solve(
        &self,
        py: Python<'_>,
        problem: &Problem,
        data: Vec<NewData<'_>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<(Solution, Case)>> {
        let is_own = |data: &NewData<'_>| data.0.is_none() && data.1.iter().all(Option::is_none);
        let own: Vec<bool> = data.iter().map(is_own).collect();
        let data: Vec<Data> =
            data.iter().map(|(source, sides)| problem.data(source.as_ref(), sides)).collect::<PyResult<_>>()?;
        let cases: Vec<Case> = data.iter().zip(&own).map(|(data, &own)| self.case_for(data, own)).collect();
        let (case, factored) = (self.case.clone(), self.factored.clone());
        let solutions = run(py, progress, move |progress| {
            let mut solutions = factored.solve_many(&data, progress)?;
            // The exact solution belongs to the data of the problem.
            for (solution, _) in solutions.iter_mut().zip(own).filter(|(_, own)| *own) {
                if let Some(exact) = &case.problem.exact {
                    solution.report.errors = Some(solution.errors(exact.as_ref(), 2 * solution.report.points)?);
                }
            }
            Ok(solutions)
        })?;
        Ok(solutions.into_iter().map(Solution::new).zip(cases).collect())
    }
}

impl Solver {
    /// The factors.
    pub fn factored(&self) -> Arc<Factored> {
        self.factored.clone()
    }

    /// The case of a solution with these data. The exact solution belongs to the problem's `own`.
    fn case_for(&self, data: &Data, own: bool) -> Case {
        if own {
            return Case { core: self.case.clone() };
        }
        let mut case = Core::clone(&self.case);
        case.problem.source = data.source.clone();
        for (condition, values) in case.problem.conditions.iter_mut().zip(&data.boundary) {
            condition.values.clone_from(values);
        }
        case.problem.exact = None;
        Case { core: Arc::new(case) }
    }
}

/// Solves a problem once; with a tolerance, on as fine a discretization as it takes.
#[pyfunction]
#[pyo3(signature = (case, progress=None))]
pub fn solve(py: Python<'_>, case: &Case, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Solution> {
    let case = case.core.clone();
    run(py, progress, move |progress| case.solve(progress)).map(Solution::new)
}
