//! The boundary value problem, from the arguments of `ddelm.Problem` and `ddelm.Plate`.

use ddelm::problem::{Condition, ConditionKind, Data, Diffusion, Equation, Problem as Core};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::field::{field, pair, values, vector, with_gradient};

/// The sides of a rectangle, in the order of the library.
const SIDES: [&str; 4] = ["left", "right", "bottom", "top"];

/// A condition as Python passes it: the kind and its fields.
type ConditionParts<'py> = (String, Vec<Bound<'py, PyAny>>);

/// A problem on a rectangle.
#[pyclass(frozen, module = "ddelm._native")]
pub struct Problem {
    pub core: Core,
    pub x: [f64; 2],
    pub y: [f64; 2],
}

#[pymethods]
impl Problem {
    /// `-div(a grad u) + b . grad u + c u = f`.
    #[staticmethod]
    #[allow(clippy::too_many_arguments, reason = "called by the Python package alone, with keywords")]
    fn second_order(
        domain: [[f64; 2]; 2],
        diffusion: &Bound<'_, PyAny>,
        diffusion_gradient: Option<&Bound<'_, PyAny>>,
        advection: Option<&Bound<'_, PyAny>>,
        reaction: Option<&Bound<'_, PyAny>>,
        source: &Bound<'_, PyAny>,
        conditions: [ConditionParts<'_>; 4],
        exact: Option<&Bound<'_, PyAny>>,
        exact_gradient: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let equation = Equation::SecondOrder {
            diffusion: tensor(diffusion, diffusion_gradient)?,
            advection: advection.map(|b| vector(b, "equation.advection")).transpose()?,
            reaction: reaction.map(|c| field(c, "equation.reaction")).transpose()?,
        };
        let source = field(source, "equation.source")?;
        Self::new(domain, equation, source, conditions, exact, exact_gradient)
    }

    /// `Laplacian^2 u = q / D`.
    #[staticmethod]
    fn plate(
        domain: [[f64; 2]; 2],
        load: &Bound<'_, PyAny>,
        rigidity: &Bound<'_, PyAny>,
        conditions: [ConditionParts<'_>; 4],
        exact: Option<&Bound<'_, PyAny>>,
        exact_gradient: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let equation = Equation::Plate { rigidity: field(rigidity, "equation.plate.rigidity")? };
        let load = field(load, "equation.plate.load")?;
        Self::new(domain, equation, load, conditions, exact, exact_gradient)
    }

    /// The ends of the domain in x and y.
    #[getter]
    fn domain(&self) -> [[f64; 2]; 2] {
        [self.x, self.y]
    }

    /// The kind of the condition on each side, as `condition` reads it.
    #[getter]
    fn conditions(&self) -> Vec<&'static str> {
        let kind = |condition: &Condition| match condition.kind {
            ConditionKind::Dirichlet => "dirichlet",
            ConditionKind::Neumann => "neumann",
            ConditionKind::Robin { .. } => "robin",
            ConditionKind::SimplySupported => "simply_supported",
            ConditionKind::Clamped => "clamped",
        };
        self.core.conditions.iter().map(kind).collect()
    }

    /// The exact solution at points; it must be known.
    fn exact_values<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray1<'py, f64>,
        y: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let exact = self.core.exact.clone().ok_or_else(|| PyValueError::new_err("there is no exact solution"))?;
        values(py, &exact, x, y)
    }

    /// Whether an exact solution is known.
    #[getter]
    fn has_exact(&self) -> bool {
        self.core.exact.is_some()
    }
}

impl Problem {
    fn new(
        domain: [[f64; 2]; 2],
        equation: Equation,
        source: ddelm::field::FieldRef,
        conditions: [ConditionParts<'_>; 4],
        exact: Option<&Bound<'_, PyAny>>,
        exact_gradient: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let conditions = conditions.iter().zip(SIDES).map(|(c, side)| condition(c, side)).collect::<PyResult<_>>()?;
        let exact = exact.map(|u| with_gradient(u, exact_gradient, "exact.u")).transpose()?;
        let [x, y] = domain;
        Ok(Problem { core: Core { equation, source, conditions, exact }, x, y })
    }

    /// The problem's data, with the source and the values of the conditions replaced where they are given.
    pub fn data(
        &self,
        source: Option<&Bound<'_, PyAny>>,
        conditions: &[Option<ConditionParts<'_>>; 4],
    ) -> PyResult<Data> {
        let mut data = self.core.data();
        if let Some(source) = source {
            data.source = field(source, "equation.source")?;
        }
        for (values, (given, side)) in data.boundary.iter_mut().zip(conditions.iter().zip(SIDES)) {
            if let Some(given) = given {
                *values = condition(given, side)?.values;
            }
        }
        Ok(data)
    }
}

/// The diffusion: one field, or a 2 x 2 nest of them.
fn tensor(value: &Bound<'_, PyAny>, gradient: Option<&Bound<'_, PyAny>>) -> PyResult<Diffusion> {
    const KEY: &str = "equation.diffusion";
    if pair(value).is_none() {
        return Ok(Diffusion::Scalar(with_gradient(value, gradient, KEY)?));
    }
    let wrong = |what: &str| PyTypeError::new_err(format!("{KEY}: {what} of a tensor is a 2 x 2 nested list"));
    let [[a, b], [c, d]] = nest(value).ok_or_else(|| wrong("the value"))?;
    let Some(gradient) = gradient else {
        return Ok(Diffusion::Tensor([[field(&a, KEY)?, field(&b, KEY)?], [field(&c, KEY)?, field(&d, KEY)?]]));
    };
    let gradients = nest(gradient).ok_or_else(|| wrong("the gradient"))?;
    let entry = |value: &Bound<'_, PyAny>, gradient: &Bound<'_, PyAny>| {
        with_gradient(value, Some(gradient).filter(|g| !g.is_none()), KEY)
    };
    let [[ga, gb], [gc, gd]] = &gradients;
    Ok(Diffusion::Tensor([[entry(&a, ga)?, entry(&b, gb)?], [entry(&c, gc)?, entry(&d, gd)?]]))
}

/// The entries of a 2 x 2 nest.
fn nest<'py>(value: &Bound<'py, PyAny>) -> Option<[[Bound<'py, PyAny>; 2]; 2]> {
    let [first, second] = pair(value)?;
    Some([pair(&first)?, pair(&second)?])
}

fn condition((kind, values): &ConditionParts<'_>, side: &str) -> PyResult<Condition> {
    let key = |name: &str| format!("boundary.{side}.{name}");
    match (kind.as_str(), values.as_slice()) {
        ("dirichlet", [g]) => Ok(Condition::dirichlet(field(g, &key("dirichlet"))?)),
        ("neumann", [g]) => Ok(Condition::neumann(field(g, &key("neumann"))?)),
        ("robin", [k, g]) => Ok(Condition::robin(field(k, &key("robin.coefficient"))?, field(g, &key("robin.value"))?)),
        ("simply_supported", [g, m]) => {
            Ok(Condition::simply_supported(field(g, &key("dirichlet"))?, field(m, &key("laplacian"))?))
        }
        ("clamped", [g, s]) => Ok(Condition::clamped(field(g, &key("dirichlet"))?, field(s, &key("normal"))?)),
        _ => Err(PyTypeError::new_err(format!("boundary.{side}: `{kind}` is not a condition"))),
    }
}
