//! The solution: values, gradients, what is in it, and files.

use std::path::PathBuf;
use std::sync::Arc;

use ddelm::Solution as Core;
use ddelm::domain::borders::Borders;
use ddelm::exchange::{Exchange, Serial};
use ddelm::network::symbol::Frame;
use ddelm::problem::field::Field;
use ddelm::solve::estimate::assess;
use ddelm::{Error, Report, Settings};
use ddelm_cli::notebook::thumbnail;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::prelude::*;

use crate::case::Case;
use crate::domain::line;
use crate::error::exception;
use crate::field::{Product, integrand};
use crate::problem::Problem;
use crate::watch::run;

type Array<'py> = Bound<'py, PyArray1<f64>>;
type Points<'py> = PyReadonlyArray1<'py, f64>;
/// Weights, biases, coefficients, remainders.
type Network<'py> = (Bound<'py, PyArray2<f64>>, Array<'py>, Array<'py>, Array<'py>, Array<'py>, Array<'py>);

/// Numbers of subdomains, reference coordinates, and their derivatives of first and second order.
type Frames<'py> = (Bound<'py, PyArray1<i64>>, Table<'py>, Table<'py>, Table<'py>);
type Table<'py> = Bound<'py, PyArray2<f64>>;
/// A piecewise neural network.
#[pyclass(frozen, module = "ddelm._native")]
pub struct Solution {
    pub core: Arc<Core>,
}

impl Solution {
    pub fn new(core: Core) -> Self {
        Solution { core: Arc::new(core) }
    }

    /// The solution of the library.
    pub fn core(&self) -> Arc<Core> {
        self.core.clone()
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
                core.locate(&x, &y).map_err(|error| match error {
                    Error::Input { key, value, problem, .. } => {
                        Error::input(key, value, problem, "leave it out, or give outside=\"nan\"")
                    }
                    other => other,
                })?;
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

    /// Where points lie: the number of the subdomain, -1 outside of all; the reference coordinates of shape (points, 2); and, at
    /// each point by rows, their first derivatives by x and y, of shape (points, 4), and second ones, of shape (points, 8).
    fn frames<'py>(&self, py: Python<'py>, x: Points<'py>, y: Points<'py>) -> PyResult<Frames<'py>> {
        let (x, y, core) = (x.to_vec()?, y.to_vec()?, self.core.clone());
        let places = run(py, None, move |_| {
            let place = |(&x, &y): (&f64, &f64)| {
                let (s, xi) = core.decomposition.locate([x, y])?;
                Some((s, xi, Frame::new(core.decomposition.subdomains[s].map.as_ref(), xi)))
            };
            Ok(x.par_iter().zip(&y).map(place).collect::<Vec<_>>())
        })?;
        let number = places.iter().map(|place| place.as_ref().map_or(-1, |(s, ..)| *s as i64)).collect();
        let table = |columns: usize, row: &dyn Fn(&Frame, [f64; 2]) -> Vec<f64>| {
            let outside = || vec![0.0; columns];
            let rows = places.iter().flat_map(|place| place.as_ref().map_or_else(outside, |(_, xi, f)| row(f, *xi)));
            PyArray1::from_vec(py, rows.collect()).reshape([places.len(), columns])
        };
        Ok((
            PyArray1::from_vec(py, number),
            table(2, &|_, xi| xi.to_vec())?,
            table(4, &|frame, _| frame.inverse.as_flattened().to_vec())?,
            table(8, &|frame, _| frame.second.as_flattened().as_flattened().to_vec())?,
        ))
    }

    /// How many subdomains there are.
    fn __len__(&self) -> usize {
        self.core.decomposition.len()
    }

    /// The flux at points: a grad u, or grad Laplacian u for a plate.
    fn fluxes<'py>(
        &self,
        py: Python<'py>,
        problem: &Problem,
        x: Points<'py>,
        y: Points<'py>,
        nan_outside: bool,
    ) -> PyResult<[Array<'py>; 2]> {
        let problem = problem.core.clone();
        self.evaluate(py, (x, y), nan_outside, move |core, x, y| core.fluxes(&problem, x, y))
    }

    /// u_xx, u_xy and u_yy at points.
    fn hessians<'py>(
        &self,
        py: Python<'py>,
        x: Points<'py>,
        y: Points<'py>,
        nan_outside: bool,
    ) -> PyResult<[Array<'py>; 3]> {
        self.evaluate(py, (x, y), nan_outside, |core, x, y| {
            let found = core.hessians(x, y);
            Ok([found.xx, found.xy, found.yy])
        })
    }

    /// The integral of a field that may use u and its gradient, over the domain or a region by its number, and what makes it doubtful.
    #[pyo3(signature = (of, weight=None, region=None))]
    fn integrate(
        &self,
        py: Python<'_>,
        of: &Bound<'_, PyAny>,
        weight: Option<&Bound<'_, PyAny>>,
        region: Option<usize>,
    ) -> PyResult<(f64, Option<String>)> {
        let read = |value: &Bound<'_, PyAny>, key: &str| integrand(value, key);
        let (of, weight) = (read(of, "of")?, weight.map(|weight| read(weight, "weight")).transpose()?);
        let core = self.core.clone();
        let found =
            move |field: &dyn Field| Ok((core.integrate(field, region)?, core.doubt_of_integral(field, region)?));
        run(py, None, move |_| match weight {
            None => found(of.as_ref()),
            Some(weight) => found(&Product([of, weight])),
        })
    }

    /// What flows out through a part of the boundary, by its number.
    fn outflow(&self, py: Python<'_>, problem: &Problem, part: usize) -> PyResult<f64> {
        let (core, problem) = (self.core.clone(), problem.core.clone());
        run(py, None, move |_| core.flux(&problem, part))
    }

    /// The largest value of u, or the smallest, and where it is.
    fn extreme(&self, py: Python<'_>, largest: bool) -> PyResult<(f64, [f64; 2])> {
        let core = self.core.clone();
        let found = run(py, None, move |_| Ok(if largest { core.max() } else { core.min() }))?;
        Ok((found.value, found.point))
    }

    /// Where points lie: the number of the subdomain, -1 outside of all, and the reference coordinates, of shape (points, 2).
    fn places<'py>(
        &self,
        py: Python<'py>,
        x: Points<'py>,
        y: Points<'py>,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, Table<'py>)> {
        let (x, y, core) = (x.to_vec()?, y.to_vec()?, self.core.clone());
        let places = run(py, None, move |_| {
            let places = x.par_iter().zip(&y).map(|(&x, &y)| core.decomposition.locate([x, y]));
            Ok(places.collect::<Vec<_>>())
        })?;
        let number = places.iter().map(|place| place.map_or(-1, |(s, _)| s as i64)).collect();
        let xi: Vec<f64> = places.iter().flat_map(|place| place.map_or([0.0; 2], |(_, xi)| xi)).collect();
        Ok((PyArray1::from_vec(py, number), PyArray1::from_vec(py, xi).reshape([places.len(), 2])?))
    }

    /// Lines between subdomains, and those on the boundary where the domain is not a rectangle.
    fn borders<'py>(&self, py: Python<'py>) -> PyResult<[Vec<Bound<'py, PyArray2<f64>>>; 2]> {
        let Borders { inside, boundary, .. } = Borders::new(&self.core.decomposition);
        let drawn = if self.core.decomposition.fills_a_frame() { 0 } else { boundary.len() };
        let inside = inside.iter().map(|points| line(py, points)).collect::<PyResult<_>>()?;
        let outline = boundary.iter().take(drawn).map(|(_, points)| line(py, points)).collect::<PyResult<_>>()?;
        Ok([inside, outline])
    }

    /// u as a PNG file.
    fn thumbnail<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let core = self.core.clone();
        Ok(PyBytes::new(py, &run(py, None, move |_| thumbnail(&core))?))
    }

    /// The report as JSON.
    fn report(&self) -> PyResult<String> {
        serde_json::to_string(&self.core.report).map_err(|e| PyRuntimeError::new_err(e.to_string()))
    }

    /// Estimates the errors, and says which data are not resolved; as JSON.
    fn estimate(&self, py: Python<'_>, case: &Case) -> PyResult<(String, Vec<String>)> {
        let exchange: Arc<dyn Exchange> = Arc::new(Serial);
        let (core, case) = (self.core.clone(), case.core.clone());
        let found = run(py, None, move |progress| {
            let settings = Settings { points: core.report.points, ..case.settings.clone() };
            let found = assess(&exchange, &case.problem, &settings, &core, progress)?;
            let mut report = Report { estimate: found.estimate, warnings: found.warnings, ..core.report.clone() };
            report.judge(case.tolerance, false);
            Ok(report)
        })?;
        let estimate = serde_json::to_string(&found.estimate).map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
        Ok((estimate, found.warnings))
    }

    /// The rectangle and its grid: ends in x, ends in y, subdomains in x and y.
    #[getter]
    fn grid(&self) -> Option<([f64; 2], [f64; 2], [usize; 2])> {
        let [x0, x1, y0, y1] = self.core.decomposition.bounding_box();
        self.core.decomposition.count().columns_and_rows().map(|counts| ([x0, x1], [y0, y1], counts))
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
        Ok(name.as_str().expect("an activation is a word").to_owned())
    }

    /// Weights of shape (2, M), biases, output coefficients and their remainders of subdomain s, in its reference coordinates;
    /// then the coefficients of its polynomials and their remainders.
    fn network<'py>(&self, py: Python<'py>, s: usize) -> PyResult<Network<'py>> {
        if s >= self.core.decomposition.len() {
            return Err(PyIndexError::new_err(format!("there is no subdomain {s}")));
        }
        let network = self.core.network(s);
        let weights = PyArray2::from_vec2(py, &network.weights)?;
        let coefficients = &self.core.coefficients[s];
        // Where they are not known they are zero.
        let mut remainders = self.core.remainders[s].clone();
        remainders.resize(coefficients.len(), 0.0);
        let (low, high) = coefficients.split_at(network.polynomials);
        let (low_rest, high_rest) = remainders.split_at(network.polynomials);
        let array = |values: &[f64]| PyArray1::from_slice(py, values);
        Ok((weights, array(&network.biases), array(high), array(high_rest), array(low), array(low_rest)))
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
        py.detach(|| ddelm::solution::save::write(&path, &self.core, problem.as_deref())).map_err(exception)
    }

    /// Writes a file for ParaView, with so many cells per side of a subdomain.
    #[pyo3(signature = (path, problem, resolution))]
    fn vtk(&self, py: Python<'_>, path: PathBuf, problem: Option<&Problem>, resolution: usize) -> PyResult<()> {
        let (core, problem) = (self.core.clone(), problem.map(|problem| problem.core.clone()));
        run(py, None, move |_| ddelm::solution::vtk::write(&path, &core, problem.as_ref(), resolution))
    }

    /// Reads a safetensors file: the solution, and the text of its problem file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<(Self, Option<String>)> {
        let saved = py.detach(|| ddelm::solution::save::read(&path)).map_err(exception)?;
        Ok((Self::new(saved.solution), saved.problem))
    }
}
