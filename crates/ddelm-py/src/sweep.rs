//! Many problems on all cores.

use std::sync::Arc;

use ddelm::Error;
use ddelm::solve::case::Case as Core;
use ddelm::solve::sweep::{Input, Sampling, Stopped, sweep as solve_all};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::case::Case;
use crate::error::exception;
use crate::watch::run;

/// u of all solves, one after the other; the inputs alike; and the reports, as JSON.
type Rows<'py> = (Bound<'py, PyArray1<f64>>, Vec<Bound<'py, PyArray1<f64>>>, Vec<String>);

/// Solves cases, and returns what came of them, or else the number of the one that failed with its exception.
#[pyfunction]
#[allow(clippy::type_complexity, reason = "either of two, as Python sees it")]
#[pyo3(signature = (cases, x, y, inputs, progress=None))]
pub fn sweep<'py>(
    py: Python<'py>,
    cases: Vec<PyRef<'py, Case>>,
    x: PyReadonlyArray1<'py, f64>,
    y: PyReadonlyArray1<'py, f64>,
    inputs: Vec<String>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Option<Rows<'py>>, Option<(usize, Py<PyAny>)>)> {
    let cases: Vec<Arc<Core>> = cases.iter().map(|case| case.core.clone()).collect();
    let known = |name: &String| Input::ALL.into_iter().find(|input| input.name() == name);
    let unknown =
        |name: &String| PyValueError::new_err(format!("inputs: {name:?} is not diffusion, reaction or source"));
    let inputs: Vec<Input> =
        inputs.iter().map(|name| known(name).ok_or_else(|| unknown(name))).collect::<PyResult<_>>()?;
    let kinds = inputs.len();
    let sampling = Sampling { x: x.to_vec()?, y: y.to_vec()?, inputs };
    let outcome = run(py, progress, move |progress| {
        let found = solve_all(cases.len(), |index| Ok(Core::clone(&cases[index])), &sampling, progress);
        match found {
            // Nobody asks which solve was under way.
            Err(Stopped { error: Error::Interrupted, .. }) => Err(Error::Interrupted),
            found => Ok(found),
        }
    })?;
    let rows = match outcome {
        Ok(rows) => rows,
        Err(Stopped { index, error }) => return Ok((None, Some((index, exception(error).into_value(py).into_any())))),
    };
    let reports = rows.iter().map(|row| serde_json::to_string(&row.report));
    let reports = reports.collect::<Result<_, _>>().map_err(|error| PyValueError::new_err(error.to_string()))?;
    let joined = |of: &dyn Fn(&ddelm::solve::sweep::Row) -> &[f64]| {
        PyArray1::from_vec(py, rows.iter().flat_map(|row| of(row).iter().copied()).collect())
    };
    let sampled = (0..kinds).map(|k| joined(&|row| &row.inputs[k])).collect();
    Ok((Some((joined(&|row| &row.u), sampled, reports)), None))
}
