//! Several solutions of one problem: at times, and eigenfunctions.

use std::path::PathBuf;

use ddelm_cli::notebook;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::case::Case;
use crate::error::exception;
use crate::problem::Problem;
use crate::solution::Solution;
use crate::watch::run;

/// The solutions at the times that were asked for and, last, at the end, with those times and the problem as it is then.
#[pyfunction]
#[pyo3(signature = (case, progress=None))]
pub fn evolve(
    py: Python<'_>,
    case: &Case,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<(f64, Solution, Problem)>> {
    let core = case.core.clone();
    let moments = run(py, progress, move |progress| core.evolve(progress))?;
    let at = |t: f64| Problem { core: case.core.problem.at_time(t), domain: case.core.domain.clone() };
    Ok(moments.into_iter().map(|moment| (moment.t, Solution::new(moment.solution), at(moment.t))).collect())
}

/// An eigenvalue, its imaginary part, its estimated error and its eigenfunction.
type Pair = (f64, f64, Option<f64>, Solution);

/// Eigenvalues in ascending order.
#[pyfunction]
#[pyo3(signature = (case, progress=None))]
pub fn eigenpairs(py: Python<'_>, case: &Case, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Pair>> {
    let core = case.core.clone();
    let pairs = run(py, progress, move |progress| core.eigenpairs(progress))?;
    let entry = |pair: ddelm::solve::eigenvalues::Eigenpair| {
        let found = pair.eigenvalue;
        (found.value, found.imaginary, found.estimate, Solution::new(pair.function))
    };
    Ok(pairs.into_iter().map(entry).collect())
}

/// Writes a file for ParaView that names the files of a series by their times.
#[pyfunction]
pub fn write_pvd(path: PathBuf, series: Vec<(f64, String)>) -> PyResult<()> {
    ddelm::solution::vtk::write_series(path, &series).map_err(exception)
}

/// Solutions that follow each other as an animated PNG file.
#[pyfunction]
pub fn animation<'py>(py: Python<'py>, solutions: Vec<Bound<'py, Solution>>) -> PyResult<Bound<'py, PyBytes>> {
    let solutions: Vec<ddelm::Solution> = solutions.iter().map(|u| u.get().core.as_ref().clone()).collect();
    Ok(PyBytes::new(py, &run(py, None, move |_| notebook::animation(&solutions))?))
}
