//! The finite element reference.

use std::sync::Arc;

use ddelm_fem::{FiniteElementSolution as Core, Settings, solve};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::error::exception;
use crate::problem::Problem;
use crate::watch::run;

type Array<'py> = Bound<'py, PyArray1<f64>>;
type Points<'py> = PyReadonlyArray1<'py, f64>;

/// A continuous function, linear in each triangle.
#[pyclass(frozen, module = "ddelm._native")]
pub struct FiniteElement {
    core: Arc<Core>,
}

#[pymethods]
impl FiniteElement {
    /// Solves a symmetric problem of second order.
    #[new]
    fn new(
        py: Python<'_>,
        problem: &Problem,
        cells: [usize; 2],
        tolerance: f64,
        max_iterations: usize,
    ) -> PyResult<Self> {
        let (x, y) = problem.domain.plain_rectangle("finite elements").map_err(exception)?;
        problem.core.check_steady().map_err(exception)?;
        let problem = problem.core.clone();
        let settings = Settings { cells, tolerance, max_iterations, max_memory: None };
        let core = run(py, None, move |_| solve(&problem, x, y, &settings))?;
        Ok(FiniteElement { core: Arc::new(core) })
    }

    /// u at points.
    fn values<'py>(&self, py: Python<'py>, x: Points<'py>, y: Points<'py>) -> PyResult<Array<'py>> {
        let (core, x, y) = (self.core.clone(), x.to_vec()?, y.to_vec()?);
        let u = run(py, None, move |_| {
            let mut u = vec![0.0; x.len()];
            core.values(&x, &y, &mut u);
            Ok(u)
        })?;
        Ok(PyArray1::from_vec(py, u))
    }

    /// (du/dx, du/dy) at points.
    fn gradients<'py>(&self, py: Python<'py>, x: Points<'py>, y: Points<'py>) -> PyResult<[Array<'py>; 2]> {
        let (core, x, y) = (self.core.clone(), x.to_vec()?, y.to_vec()?);
        let found = run(py, None, move |_| {
            let (mut dx, mut dy) = (vec![0.0; x.len()], vec![0.0; x.len()]);
            core.gradients(&x, &y, &mut dx, &mut dy);
            Ok([dx, dy])
        })?;
        Ok(found.map(|values| PyArray1::from_vec(py, values)))
    }

    /// Relative errors against the problem's exact solution in L2 and H1, if it has one.
    fn errors(&self, py: Python<'_>, problem: &Problem) -> PyResult<Option<(f64, Option<f64>)>> {
        let Some(exact) = problem.core.exact.clone() else {
            return Ok(None);
        };
        let core = self.core.clone();
        let errors = run(py, None, move |_| core.errors(exact.as_ref()))?;
        Ok(Some((errors.l2, errors.h1)))
    }

    /// The values at the nodes, of shape (cy + 1, cx + 1).
    fn nodal<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let [cx, cy] = self.core.cells();
        PyArray1::from_slice(py, self.core.nodal()).reshape([cy + 1, cx + 1])
    }

    /// The x of the columns and the y of the rows of nodes.
    fn nodes<'py>(&self, py: Python<'py>) -> [Array<'py>; 2] {
        [PyArray1::from_vec(py, self.core.node_x()), PyArray1::from_vec(py, self.core.node_y())]
    }

    /// Iterations, relative residual, and whether the tolerance was reached.
    #[getter]
    fn outcome(&self) -> (usize, f64, bool) {
        (self.core.iterations, self.core.relative_residual, self.core.converged)
    }
}
