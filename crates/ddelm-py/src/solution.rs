//! The solution: values, gradients, what is in it, and files.

use std::path::PathBuf;
use std::sync::Arc;

use ddelm::estimate::estimate;
use ddelm::exchange::{Exchange, Serial};
use ddelm::settings::Settings;
use ddelm::solution::Solution as Core;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;

use crate::case::Case;
use crate::error::exception;
use crate::problem::Problem;
use crate::watch::run;

type Array<'py> = Bound<'py, PyArray1<f64>>;
type Points<'py> = PyReadonlyArray1<'py, f64>;

/// A piecewise neural network.
#[pyclass(frozen, module = "ddelm._native")]
pub struct Solution {
    core: Arc<Core>,
}

impl Solution {
    pub fn new(core: Core) -> Self {
        Solution { core: Arc::new(core) }
    }

    /// Evaluates off the interpreter. Points outside the domain give NaN, or an error that names the first.
    fn evaluate<'py, const N: usize>(
        &self,
        py: Python<'py>,
        (x, y): (Points<'py>, Points<'py>),
        nan_outside: bool,
        f: impl FnOnce(&Core, &[f64], &[f64]) -> ddelm::Result<[Vec<f64>; N]> + Send + 'static,
    ) -> PyResult<[Array<'py>; N]> {
        let (core, x, y) = (self.core.clone(), x.to_vec()?, y.to_vec()?);
        let found = run(py, None, move |_| {
            if !nan_outside {
                core.locate(&x, &y)?;
            }
            f(&core, &x, &y)
        })?;
        Ok(found.map(|values| PyArray1::from_vec(py, values)))
    }
}

#[pymethods]
impl Solution {
    /// u at points.
    fn values<'py>(&self, py: Python<'py>, x: Points<'py>, y: Points<'py>, nan_outside: bool) -> PyResult<Array<'py>> {
        let [u] = self.evaluate(py, (x, y), nan_outside, |core, x, y| Ok([core.values(x, y)]))?;
        Ok(u)
    }

    /// (du/dx, du/dy) at points.
    fn gradients<'py>(
        &self,
        py: Python<'py>,
        x: Points<'py>,
        y: Points<'py>,
        nan_outside: bool,
    ) -> PyResult<[Array<'py>; 2]> {
        self.evaluate(py, (x, y), nan_outside, |core, x, y| {
            let found = core.gradients(x, y);
            Ok([found.ux, found.uy])
        })
    }

    /// `L u - f` at points.
    fn residuals<'py>(
        &self,
        py: Python<'py>,
        problem: &Problem,
        x: Points<'py>,
        y: Points<'py>,
        nan_outside: bool,
    ) -> PyResult<Array<'py>> {
        let problem = problem.core.clone();
        let [r] = self.evaluate(py, (x, y), nan_outside, move |core, x, y| Ok([core.residuals(&problem, x, y)?]))?;
        Ok(r)
    }

    /// The report as JSON.
    fn report(&self) -> PyResult<String> {
        serde_json::to_string(&self.core.report).map_err(|e| PyRuntimeError::new_err(e.to_string()))
    }

    /// Estimates the errors; as JSON.
    fn estimate(&self, py: Python<'_>, case: &Case) -> PyResult<String> {
        let exchange: Arc<dyn Exchange> = Arc::new(Serial);
        let (core, case) = (self.core.clone(), case.core.clone());
        let found = run(py, None, move |progress| {
            let settings = Settings { points: core.report.points, ..case.settings.clone() };
            estimate(&exchange, &case.problem, &settings, &core, progress)
        })?;
        serde_json::to_string(&found).map_err(|e| PyRuntimeError::new_err(e.to_string()))
    }

    /// The rectangle and its grid: ends in x, ends in y, subdomains in x and y.
    #[getter]
    fn grid(&self) -> Option<([f64; 2], [f64; 2], [usize; 2])> {
        self.core.decomposition.grid()
    }

    /// The smallest box that holds the domain: x0, x1, y0, y1.
    #[getter]
    fn bounding_box(&self) -> [f64; 4] {
        self.core.decomposition.bounding_box()
    }

    /// sigma
    #[getter]
    fn activation(&self) -> PyResult<String> {
        let name = serde_json::to_value(self.core.network(0).activation);
        let name = name.map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
        Ok(name.as_str().unwrap_or_default().to_owned())
    }

    /// Weights of shape (2, M), biases and output coefficients of subdomain s, in its reference coordinates.
    #[allow(clippy::type_complexity, reason = "a tuple of arrays, as Python sees it")]
    fn network<'py>(&self, py: Python<'py>, s: usize) -> PyResult<(Bound<'py, PyArray2<f64>>, Array<'py>, Array<'py>)> {
        if s >= self.core.decomposition.len() {
            return Err(PyIndexError::new_err(format!("there is no subdomain {s}")));
        }
        let network = self.core.network(s);
        let weights = PyArray2::from_vec2(py, &network.weights)?;
        let coefficients = PyArray1::from_slice(py, &self.core.coefficients[s]);
        Ok((weights, PyArray1::from_slice(py, &network.biases), coefficients))
    }

    /// The interface nodes, of shape (nodes, 2), and u there.
    fn interface<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyArray2<f64>>, Array<'py>)> {
        let points = self.core.interface.iter().flat_map(|(p, _)| *p).collect();
        let values = self.core.interface.iter().map(|(_, u)| *u).collect();
        let points = PyArray1::from_vec(py, points).reshape([self.core.interface.len(), 2])?;
        Ok((points, PyArray1::from_vec(py, values)))
    }

    /// Writes a safetensors file, with the text of the problem file if there is one.
    #[pyo3(signature = (path, problem=None))]
    fn save(&self, py: Python<'_>, path: PathBuf, problem: Option<String>) -> PyResult<()> {
        py.detach(|| ddelm::save::write(&path, &self.core, problem.as_deref())).map_err(exception)
    }

    /// Writes a file for ParaView, with so many cells per side of a subdomain.
    #[pyo3(signature = (path, problem, resolution))]
    fn vtk(&self, py: Python<'_>, path: PathBuf, problem: Option<&Problem>, resolution: usize) -> PyResult<()> {
        let (core, problem) = (self.core.clone(), problem.map(|problem| problem.core.clone()));
        run(py, None, move |_| ddelm::vtk::write(&path, &core, problem.as_ref(), resolution))
    }

    /// Reads a safetensors file: the solution, and the text of its problem file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<(Self, Option<String>)> {
        let saved = py.detach(|| ddelm::save::read(&path)).map_err(exception)?;
        Ok((Self::new(saved.solution), saved.problem))
    }
}
