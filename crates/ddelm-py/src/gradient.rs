//! Gradients of numbers that depend on a solution, with respect to what its problem is made of.

use std::sync::Arc;

use ddelm::Error;
use ddelm::local::sensitivity::Sensitivity;
use ddelm::problem::expression::Names;
use ddelm::problem::functional::Functional as Core;
use ddelm::problem::grid::Grid;
use ddelm::solution::evaluate::Gradients;
use ddelm::solve::solver::adjoint::{Adjoint as Ready, Gradient as Found};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::case::Case;
use crate::error::exception;
use crate::field::field;
use crate::problem::Problem;
use crate::solution::Solution;
use crate::solver::Solver;
use crate::watch::run;

type Array<'py> = Bound<'py, PyArray1<f64>>;
type Points<'py> = PyReadonlyArray1<'py, f64>;

/// A number that is asked of a solution.
#[pyclass(frozen, module = "ddelm._native")]
pub struct Functional {
    core: Core,
}

#[pymethods]
impl Functional {
    /// Reads a functional of solutions of a problem; parameters have these values.
    #[new]
    fn new(text: &str, problem: &Problem, parameters: Vec<(String, f64)>) -> PyResult<Self> {
        let mut names = Names::default();
        for (name, value) in parameters {
            names.add_parameter(&name, value).map_err(exception)?;
        }
        let domain = &problem.domain;
        let core = Core::parse("functional", text, &names, domain.parts(), domain.regions()).map_err(exception)?;
        Ok(Functional { core })
    }

    /// Its value at a solution.
    fn value(&self, py: Python<'_>, solution: &Solution, problem: &Problem) -> PyResult<f64> {
        let (core, solution, problem) = (self.core.clone(), solution.core(), problem.core.clone());
        run(py, None, move |_| solution.functional(&problem, &core))
    }
}

/// A solution of a factored problem, ready to be differentiated.
#[pyclass(frozen, module = "ddelm._native")]
pub struct Adjoint {
    core: Arc<Ready>,
}

#[pymethods]
impl Adjoint {
    /// Of the solution of a case, with the factors of a solver.
    #[new]
    #[pyo3(signature = (solver, case, progress=None))]
    fn new(py: Python<'_>, solver: &Solver, case: &Case, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let (solver, data) = (solver.factored(), case.core.problem.data());
        let core = run(py, progress, move |progress| solver.adjoint(&data, progress))?;
        Ok(Adjoint { core: Arc::new(core) })
    }

    /// Of the solution of a nonlinear case.
    #[staticmethod]
    #[pyo3(signature = (case, solution, progress=None))]
    fn of_nonlinear(
        py: Python<'_>,
        case: &Case,
        solution: &Solution,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (solution, problem, settings) = (solution.core(), case.core.problem.clone(), case.core.settings.clone());
        let core = run(py, progress, move |progress| Ready::of_nonlinear(&problem, &solution, &settings, progress))?;
        Ok(Adjoint { core: Arc::new(core) })
    }

    /// The gradient of a functional.
    #[pyo3(signature = (functional, progress=None))]
    fn gradient(
        &self,
        py: Python<'_>,
        functional: &Functional,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Gradient> {
        let (core, functional) = (self.core.clone(), functional.core.clone());
        let found = run(py, progress, move |progress| core.gradient(&functional, progress))?;
        Ok(Gradient { core: Arc::new(found) })
    }

    /// The gradient of `sum_i c_i u(x_i)`, and of derivatives of u where `cx` and `cy` are not empty.
    #[pyo3(signature = (x, y, c, cx, cy, progress=None))]
    #[allow(clippy::too_many_arguments, reason = "called by the Python package alone")]
    fn vjp<'py>(
        &self,
        py: Python<'py>,
        x: Points<'py>,
        y: Points<'py>,
        c: Points<'py>,
        cx: Points<'py>,
        cy: Points<'py>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Gradient> {
        let (core, x, y) = (self.core.clone(), x.to_vec()?, y.to_vec()?);
        let cotangent = Gradients { u: c.to_vec()?, ux: cx.to_vec()?, uy: cy.to_vec()? };
        let found = run(py, progress, move |progress| core.vjp(&x, &y, &cotangent, progress))?;
        Ok(Gradient { core: Arc::new(found) })
    }
}

/// How a number changes with all that a problem is made of.
#[pyclass(frozen, module = "ddelm._native")]
pub struct Gradient {
    core: Arc<Found>,
}

#[pymethods]
impl Gradient {
    /// What makes it doubtful.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.core.warnings.clone()
    }

    /// The parameters of the formulas.
    fn parameters(&self) -> Vec<String> {
        self.core.parameters().into_iter().collect()
    }

    /// The derivative with respect to a parameter.
    fn parameter(&self, py: Python<'_>, name: String) -> PyResult<f64> {
        let core = self.core.clone();
        run(py, None, move |_| core.parameter(&name))
    }

    /// How many components a field has: 0 where the problem has no such field.
    fn components(&self, name: &str) -> usize {
        self.fields(name).len()
    }

    /// Points, and what the field and its derivatives in x and y count there.
    fn weights<'py>(&self, py: Python<'py>, name: &str, component: usize) -> PyResult<[Array<'py>; 5]> {
        let found = self.field(name, component)?.at_points(self.core.decomposition());
        Ok([found.x, found.y, found.value, found.dx, found.dy].map(|values| PyArray1::from_vec(py, values)))
    }

    /// The derivative in the direction of a change of a field.
    fn along(&self, py: Python<'_>, name: &str, component: usize, direction: &Bound<'_, PyAny>) -> PyResult<f64> {
        let (core, direction) = (self.core.clone(), field(direction, "direction")?);
        let sensitivity = self.field(name, component)?.clone();
        run(py, None, move |_| core.along(&sensitivity, &direction))
    }

    /// The derivatives with respect to the values of a field on a grid, with y running fastest.
    fn on_grid<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        component: usize,
        x: Vec<f64>,
        y: Vec<f64>,
    ) -> PyResult<Array<'py>> {
        let zeros = vec![0.0; x.len() * y.len()];
        let grid = Grid::new(x, y, zeros).map_err(exception)?;
        let found = self.field(name, component)?.at_points(self.core.decomposition());
        let found = grid.transposed([&found.x, &found.y], [&found.value, &found.dx, &found.dy]);
        Ok(PyArray1::from_vec(py, found.map_err(exception)?))
    }
}

impl Gradient {
    /// The components of a field: `"boundary.2"` has the values of the condition on part 2.
    fn fields(&self, name: &str) -> &[Sensitivity] {
        let fields = &self.core.fields;
        let part = |prefix: &str| name.strip_prefix(prefix)?.parse::<usize>().ok();
        match name {
            "source" => std::slice::from_ref(&fields.source),
            "diffusion" => &fields.diffusion,
            "advection" => &fields.advection,
            "reaction" => &fields.reaction,
            "rigidity" => &fields.rigidity,
            _ => match (part("boundary."), part("robin.")) {
                (Some(k), _) => fields.boundary.get(k).map_or(&[], Vec::as_slice),
                (_, Some(k)) => fields.robin.get(k).map_or(&[], std::slice::from_ref),
                _ => &[],
            },
        }
    }

    fn field(&self, name: &str, component: usize) -> PyResult<&Sensitivity> {
        self.fields(name).get(component).ok_or_else(|| {
            let problem = format!("the problem has no component {component} of it");
            exception(Error::input("gradient", name, problem, "see what the problem is made of"))
        })
    }
}
