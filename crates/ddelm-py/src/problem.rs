//! The boundary value problem, from the arguments of `ddelm.Problem` and `ddelm.Plate`.

use std::collections::BTreeMap;

use ddelm::problem::field::FieldRef;
use ddelm::problem::materials::Materials;
use ddelm::problem::{Data, Diffusion};
use ddelm::{Condition, Equation, Error, Problem as Core};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::case::Case;
use crate::domain::Domain;
use crate::error::exception;
use crate::field::{field, pair, values, vector, with_gradient};

/// A condition as Python passes it: the kind and its fields.
type ConditionParts<'py> = (String, Vec<Bound<'py, PyAny>>);

/// A problem on its domain.
#[pyclass(frozen, module = "ddelm._native")]
pub struct Problem {
    pub core: Core,
    pub domain: ddelm::Domain,
}

#[pymethods]
impl Problem {
    /// `-div(a grad u) + b . grad u + c u = f`.
    #[staticmethod]
    #[allow(clippy::too_many_arguments, reason = "called by the Python package alone, with keywords")]
    fn second_order(
        domain: &Domain,
        diffusion: &Bound<'_, PyAny>,
        diffusion_gradient: Option<&Bound<'_, PyAny>>,
        advection: Option<&Bound<'_, PyAny>>,
        reaction: Option<&Bound<'_, PyAny>>,
        source: &Bound<'_, PyAny>,
        regions: Vec<(usize, BTreeMap<String, Bound<'_, PyAny>>)>,
        conditions: Vec<ConditionParts<'_>>,
        mean: Option<f64>,
        exact: Option<&Bound<'_, PyAny>>,
        exact_gradient: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let equation = Equation::second_order(
            tensor(diffusion, diffusion_gradient)?,
            advection.map(|b| vector(b, "equation.advection")).transpose()?,
            reaction.map(|c| field(c, "equation.reaction")).transpose()?,
        );
        let source = field(source, "equation.source")?;
        let names = domain.core.regions();
        let (equation, source) = materials(regions, names)?.apply(equation, source, names);
        Self::new(domain, (equation, source), conditions, mean, exact, exact_gradient)
    }

    /// `Laplacian^2 u = q / D`.
    #[staticmethod]
    fn plate(
        domain: &Domain,
        load: &Bound<'_, PyAny>,
        rigidity: &Bound<'_, PyAny>,
        conditions: Vec<ConditionParts<'_>>,
        exact: Option<&Bound<'_, PyAny>>,
        exact_gradient: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let equation = Equation::plate(field(rigidity, "equation.plate.rigidity")?);
        let load = field(load, "equation.plate.load")?;
        Self::new(domain, (equation, load), conditions, None, exact, exact_gradient)
    }

    /// The ends of the domain, or of the box around it, in x and y.
    #[getter]
    fn domain(&self) -> [[f64; 2]; 2] {
        let [x0, x1, y0, y1] = self.domain.bounding_box();
        [[x0, x1], [y0, y1]]
    }

    /// The names of the parts of the boundary, in the order of the conditions.
    #[getter]
    fn parts(&self) -> Vec<String> {
        self.domain.parts().to_vec()
    }

    /// The names of the regions.
    #[getter]
    fn regions(&self) -> Vec<String> {
        self.domain.regions().to_vec()
    }

    /// Whether the domain suggests how large its subdomains are.
    #[getter]
    fn suggests_sizes(&self) -> bool {
        self.domain.suggests_sizes()
    }

    /// The kind of the condition on each part, as `condition` reads it.
    #[getter]
    fn conditions(&self) -> Vec<&'static str> {
        self.core.conditions.iter().map(Condition::name).collect()
    }

    /// The equation as people write it, with its coefficients below it.
    fn equation(&self) -> Vec<String> {
        self.core.typeset_equation()
    }

    /// The domain as people write it.
    fn place(&self) -> String {
        self.domain.to_string()
    }

    /// The conditions as people write them.
    fn boundary(&self) -> Vec<String> {
        self.core.typeset_boundary(self.domain.parts())
    }

    /// The problem of a case, whose data may be others than those that it began with.
    #[staticmethod]
    fn of_case(case: &Case) -> Self {
        Problem { core: case.core.problem.clone(), domain: case.core.domain.clone() }
    }

    /// The exact solution as people write it, if it is known.
    fn exact(&self) -> Option<String> {
        self.core.exact.as_ref().map(|u| u.describe())
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
        domain: &Domain,
        (equation, source): (Equation, FieldRef),
        conditions: Vec<ConditionParts<'_>>,
        mean: Option<f64>,
        exact: Option<&Bound<'_, PyAny>>,
        exact_gradient: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let domain = domain.core.clone();
        let named = conditions.iter().zip(domain.parts());
        let conditions = named.map(|(c, part)| condition(c, part)).collect::<PyResult<_>>()?;
        let exact = exact.map(|u| with_gradient(u, exact_gradient, "exact.u")).transpose()?;
        // What no solve could change is refused here, where the mistake is.
        let core = Core { equation, source, conditions, mean, exact };
        core.validate(domain.parts().len()).map_err(exception)?;
        Ok(Problem { core, domain })
    }

    /// The problem's data, with the source and the values of the conditions replaced where they are given.
    pub fn data(&self, source: Option<&Bound<'_, PyAny>>, conditions: &[Option<ConditionParts<'_>>]) -> PyResult<Data> {
        let mut data = self.core.data();
        if let Some(source) = source {
            data.source = field(source, "equation.source")?;
        }
        for (values, (given, part)) in data.boundary.iter_mut().zip(conditions.iter().zip(self.domain.parts())) {
            if let Some(given) = given {
                *values = condition(given, part)?.values;
            }
        }
        Ok(data)
    }
}

/// What regions have of their own, by their numbers.
fn materials(regions: Vec<(usize, BTreeMap<String, Bound<'_, PyAny>>)>, names: &[String]) -> PyResult<Materials> {
    let mut own = Materials::default();
    for (region, values) in regions {
        for (name, value) in values {
            let key = format!("equation.regions.{}.{name}", names[region]);
            match name.as_str() {
                "diffusion" => drop(own.diffusion.insert(region, tensor(&value, None)?)),
                "advection" => drop(own.advection.insert(region, vector(&value, &key)?)),
                "reaction" => drop(own.reaction.insert(region, field(&value, &key)?)),
                "source" => drop(own.source.insert(region, field(&value, &key)?)),
                _ => {
                    let hint = "a region has diffusion, advection, reaction and source";
                    return Err(exception(Error::UnknownKey { key, hint: hint.into() }));
                }
            }
        }
    }
    Ok(own)
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
