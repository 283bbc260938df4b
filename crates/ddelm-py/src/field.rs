//! Coefficients, sources and boundary values from Python: numbers, formulas, and functions of whole arrays.

use std::collections::BTreeMap;
use std::sync::Arc;

use ddelm::problem::expression::{Formula, Names, Variables};
use ddelm::problem::field::{Dependence, Failure, FieldRef, Jets, Samples};
use ddelm::problem::grid::Grid;
use ddelm::problem::random_field::RandomField;
use ddelm::{Error, constant};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::error::exception;

/// A field that lives in Rust: a formula, possibly with other fields in it, or a random field.
#[pyclass(frozen, module = "ddelm._native")]
pub struct Field(FieldRef);

#[pymethods]
impl Field {
    /// A formula that may call fields by name.
    #[staticmethod]
    fn formula(text: &str, fields: BTreeMap<String, Bound<'_, PyAny>>) -> PyResult<Self> {
        let named = |(name, value): (String, Bound<'_, PyAny>)| field(&value, &name).map(|f| (name, f));
        let fields = fields.into_iter().map(named).collect::<PyResult<_>>()?;
        let formula = Formula::parse_with(text, &fields)
            .map_err(|error| exception(Error::Formula { key: "formula".into(), error }))?;
        Ok(Field(Arc::new(formula)))
    }

    /// A formula with parameters, in the place of a key.
    #[staticmethod]
    fn with_parameters(text: &str, key: &str, parameters: Vec<(String, f64)>) -> PyResult<Self> {
        let mut names = names_at(key);
        for (name, value) in parameters {
            names.add_parameter(&name, value).map_err(exception)?;
        }
        let formula = Formula::parse_in(text, &names);
        Ok(Field(Arc::new(formula.map_err(|error| exception(Error::Formula { key: key.into(), error }))?)))
    }

    /// A random field with so many modes.
    #[staticmethod]
    fn random(alpha: f64, modes: usize, seed: u64) -> PyResult<Self> {
        Ok(Field(Arc::new(RandomField::new(alpha, modes, seed).map_err(exception)?)))
    }

    /// The sum of plane waves with amplitudes a, wave vectors w of shape (modes, 2), and phases b.
    #[staticmethod]
    fn waves(a: Vec<f64>, w: PyReadonlyArray2<'_, f64>, b: Vec<f64>) -> PyResult<Self> {
        let w = w.as_array().rows().into_iter().map(|row| [row[0], row[1]]).collect();
        Ok(Field(Arc::new(RandomField::from_arrays(a, w, b).map_err(exception)?)))
    }

    /// The spline through `values[i, j]` at `(x[i], y[j])`.
    #[staticmethod]
    fn grid(x: Vec<f64>, y: Vec<f64>, values: PyReadonlyArray2<'_, f64>) -> PyResult<Self> {
        let values = values.as_array();
        if values.dim() != (x.len(), y.len()) {
            let (found, hint) =
                (format!("an array of shape {:?}", values.shape()), "values[i, j] belongs to x[i] and y[j]");
            let problem = format!("its shape must be ({}, {}), that of x and y", x.len(), y.len());
            return Err(exception(Error::input("values", found, problem, hint)));
        }
        let values = values.iter().copied().collect();
        Ok(Field(Arc::new(Grid::new(x, y, values).map_err(exception)?)))
    }

    /// Values at points.
    fn values<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray1<'py, f64>,
        y: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        values(py, &self.0, x, y)
    }

    /// Gradients at points, or `None` if they are not known.
    #[allow(clippy::type_complexity, reason = "a pair of arrays, as Python sees it")]
    fn gradients<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray1<'py, f64>,
        y: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Option<[Bound<'py, PyArray1<f64>>; 2]>> {
        let (x, y) = (x.to_vec()?, y.to_vec()?);
        let (mut dx, mut dy) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        let known =
            py.detach(|| self.0.gradients(&Samples::at(&x, &y), &mut dx, &mut dy)).map_err(|f| failed(f, &self.0))?;
        Ok(known.then(|| [PyArray1::from_vec(py, dx), PyArray1::from_vec(py, dy)]))
    }

    /// The formula, or what kind of field it is.
    fn describe(&self) -> String {
        self.0.describe()
    }
}

/// The values of a field at points.
pub fn values<'py>(
    py: Python<'py>,
    field: &FieldRef,
    x: PyReadonlyArray1<'py, f64>,
    y: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (x, y) = (x.to_vec()?, y.to_vec()?);
    let mut out = vec![0.0; x.len()];
    py.detach(|| field.values(&Samples::at(&x, &y), &mut out)).map_err(|failure| failed(failure, field))?;
    Ok(PyArray1::from_vec(py, out))
}

fn failed(failure: Failure, field: &FieldRef) -> PyErr {
    exception(Error::Callback { quantity: field.describe(), failure })
}

/// A field from a number, a formula, a [`Field`] or a function. `key` is its path in a problem file.
pub fn field(value: &Bound<'_, PyAny>, key: &str) -> PyResult<FieldRef> {
    with_gradient(value, None, key)
}

/// [`field`] with the gradient of a function, if the user knows it.
pub fn with_gradient(value: &Bound<'_, PyAny>, gradient: Option<&Bound<'_, PyAny>>, key: &str) -> PyResult<FieldRef> {
    if is_data_array(value) {
        let grid = value.py().import("ddelm.fields")?.getattr("Grid")?;
        return field(&grid.call_method1("from_xarray", (value,))?, key);
    }
    if let Some(gradient) = gradient.filter(|g| !g.is_callable() || !value.is_callable()) {
        return Err(PyTypeError::new_err(format!(
            "{key}: a gradient is a function that goes with a function, not {} with {}",
            kind(gradient),
            kind(value)
        )));
    }
    if let Ok(text) = value.cast::<PyString>() {
        let formula = Formula::parse_in(text.to_str()?, &names_at(key));
        let formula = formula.map_err(|error| exception(Error::Formula { key: key.into(), error }))?;
        Ok(Arc::new(formula))
    } else if let Ok(native) = value.getattr("_core").and_then(|core| Ok(core.cast_into::<Field>()?)) {
        Ok(native.get().0.clone())
    } else if value.is_callable() {
        Ok(Arc::new(Function::new(value, None, gradient, key)?))
    } else if let Ok(number) = value.extract::<f64>() {
        Ok(constant(number))
    } else {
        Err(PyTypeError::new_err(format!(
            "{key}: expected a number, a formula or a function of (x, y), not {}",
            kind(value)
        )))
    }
}

/// What the formula or the function of a key may use: the solution in an equation of second order and in conditions on its flux;
/// the time in every problem, which only [`evolve`](crate::series::evolve) solves then.
fn names_at(key: &str) -> Names {
    let in_equation = key.starts_with("equation.") && !key.starts_with("equation.plate.");
    let in_flux = key.starts_with("boundary.") && (key.ends_with(".neumann") || key.contains(".robin."));
    let in_problem = ["equation.", "boundary.", "exact."].iter().any(|table| key.starts_with(table));
    let state = in_equation || in_flux || key.starts_with(INTEGRATED);
    Names::default().with_variables(Variables { state, time: in_problem })
}

/// A field that is integrated: it may use the solution. `argument` is its name in Python.
pub fn integrand(value: &Bound<'_, PyAny>, argument: &str) -> PyResult<FieldRef> {
    field(value, &format!("{INTEGRATED}{argument}"))
}

/// What the keys of fields that are integrated begin with.
const INTEGRATED: &str = "integrate.";

/// The product of two fields.
pub struct Product(pub [FieldRef; 2]);

impl ddelm::problem::field::Field for Product {
    fn values(&self, at: &Samples<'_>, out: &mut [f64]) -> Result<(), Failure> {
        let mut second = vec![0.0; out.len()];
        self.0[0].values(at, out)?;
        self.0[1].values(at, &mut second)?;
        out.iter_mut().zip(second).for_each(|(out, factor)| *out *= factor);
        Ok(())
    }

    fn gradients(&self, _: &Samples<'_>, _: &mut [f64], _: &mut [f64]) -> Result<bool, Failure> {
        Ok(false)
    }

    fn describe(&self) -> String {
        format!("({}) times ({})", self.0[0].describe(), self.0[1].describe())
    }
}

/// The components of a vector field: two fields, or one function that returns both.
pub fn vector(value: &Bound<'_, PyAny>, key: &str) -> PyResult<[FieldRef; 2]> {
    if value.is_callable() {
        let component = |k| Function::new(value, Some(k), None, key).map(|function| Arc::new(function) as FieldRef);
        return Ok([component(0)?, component(1)?]);
    }
    let parts = pair(value)
        .ok_or_else(|| PyTypeError::new_err(format!("{key}: expected two components, not {}", kind(value))))?;
    Ok([field(&parts[0], key)?, field(&parts[1], key)?])
}

/// The two entries of a sequence; text is not one.
pub fn pair<'py>(value: &Bound<'py, PyAny>) -> Option<[Bound<'py, PyAny>; 2]> {
    if value.is_instance_of::<PyString>() { None } else { value.extract().ok() }
}

/// Whether a value is data on a grid of xarray, which need not be installed.
fn is_data_array(value: &Bound<'_, PyAny>) -> bool {
    let class = value.get_type();
    let module = class.module().is_ok_and(|module| module.to_string().starts_with("xarray"));
    module && class.name().is_ok_and(|name| name == "DataArray")
}

fn kind(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "this object".into(), |name| format!("`{name}`"))
}

/// A Python function of (x, y), and by their names of t, u, ux and uy, called with whole arrays.
struct Function {
    function: Py<PyAny>,
    /// What it takes beside x and y.
    takes: Vec<String>,
    /// Which of the values it returns, for a function that returns a vector.
    component: Option<usize>,
    gradient: Option<Py<PyAny>>,
    /// Whether its second derivatives are asked for: a diffusion is differentiated twice.
    twice: bool,
    name: String,
}

impl Function {
    /// Refuses a function that takes what is not known under the key.
    fn new(
        function: &Bound<'_, PyAny>,
        component: Option<usize>,
        gradient: Option<&Bound<'_, PyAny>>,
        key: &str,
    ) -> PyResult<Self> {
        let name = function.getattr("__name__").and_then(|name| name.extract::<String>());
        let name = name.unwrap_or_else(|_| kind(function));
        let found = function.py().import("ddelm.functions")?.getattr("arguments")?.call1((function, &name));
        let takes: Vec<String> =
            found.and_then(|found| found.extract()).map_err(|raised| of_key(function.py(), key, &raised))?;
        let allowed = names_at(key).variables();
        let known = |name: &str| if name == "t" { allowed.time } else { allowed.state };
        if let Some(unknown) = takes.iter().find(|name| !known(name)) {
            let problem = format!("it takes `{unknown}`, which is not known here");
            let hint = "write a function of what is known: x and y, and in an equation t, u, ux and uy";
            return Err(exception(Error::input(key, format!("the function {name}"), problem, hint)));
        }
        Ok(Function {
            function: function.clone().unbind(),
            takes,
            component,
            gradient: gradient.map(|g| g.clone().unbind()),
            twice: key.contains("diffusion"),
            name,
        })
    }

    /// The arguments beside x and y.
    fn beside<'py>(&self, py: Python<'py>, at: &Samples<'_>) -> Result<Bound<'py, PyDict>, Failure> {
        let arguments = PyDict::new(py);
        for name in &self.takes {
            let state = || at.state.ok_or_else(|| Failure::from(format!("{name} is not known where it is evaluated")));
            let values = match name.as_str() {
                "t" => {
                    arguments.set_item(name, at.t)?;
                    continue;
                }
                "u" => state()?.u,
                "ux" => state()?.ux,
                _ => state()?.uy,
            };
            arguments.set_item(name, PyArray1::from_slice(py, values))?;
        }
        Ok(arguments)
    }
}

impl ddelm::problem::field::Field for Function {
    fn values(&self, at: &Samples<'_>, out: &mut [f64]) -> Result<(), Failure> {
        attached(|py| {
            let returned = call(self.function.bind(py), at, Some(&self.beside(py, at)?))?;
            match self.component {
                None => copy(&returned, out),
                Some(k) => copy(&two(&returned)?[k], out),
            }
        })
    }

    fn gradients(&self, at: &Samples<'_>, dx: &mut [f64], dy: &mut [f64]) -> Result<bool, Failure> {
        let Some(gradient) = &self.gradient else {
            return Ok(false);
        };
        attached(|py| {
            let [gx, gy] = two(&call(gradient.bind(py), at, Some(&self.beside(py, at)?))?)?;
            copy(&gx, dx)?;
            copy(&gy, dy)
        })?;
        Ok(true)
    }

    fn describe(&self) -> String {
        format!("the function {}", self.name)
    }

    fn depends_on(&self) -> Dependence {
        let takes = |wanted: &[&str]| self.takes.iter().any(|name| wanted.contains(&name.as_str()));
        let slopes = takes(&["ux", "uy"]);
        Dependence { time: takes(&["t"]), state: slopes || takes(&["u"]), slopes, solved: false }
    }

    /// By the functions that the user gives, by complex steps or by differences: `ddelm/functions.py`.
    fn jets(&self, at: &Samples<'_>, out: &mut Jets) -> Result<bool, Failure> {
        out.reset(at.len());
        attached(|py| {
            let jets = py.import("ddelm.functions")?.getattr("jets")?;
            let [x, y] = [at.x, at.y].map(|values| PyArray1::from_slice(py, values));
            let function = self.function.bind(py);
            let returned = jets.call1((function, self.component, self.twice, x, y, self.beside(py, at)?))?;
            let arrays: Vec<Option<Bound<'_, PyAny>>> = returned.extract()?;
            let places = std::iter::once(&mut out.value).chain(&mut out.first).chain(&mut out.second);
            for (array, place) in arrays.iter().zip(places) {
                if let Some(array) = array {
                    copy(array, place)?;
                }
            }
            Ok(())
        })?;
        Ok(true)
    }
}

/// An exception with the key in front of what it says.
fn of_key(py: Python<'_>, key: &str, raised: &PyErr) -> PyErr {
    PyTypeError::new_err(format!("{key}: {}", raised.value(py)))
}

/// Takes the interpreter; fails if it is shutting down.
fn attached<T>(f: impl FnOnce(Python<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
    Python::try_attach(f).unwrap_or_else(|| Err("Python is shutting down".into()))
}

fn call<'py>(
    function: &Bound<'py, PyAny>,
    at: &Samples<'_>,
    beside: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    let arrays = (PyArray1::from_slice(py, at.x), PyArray1::from_slice(py, at.y));
    function.call(arrays, beside).inspect_err(|raised| {
        if raised.is_instance_of::<PyTypeError>(py) || raised.is_instance_of::<PyValueError>(py) {
            // Python 3.10 has no notes: there the exception is as it was.
            let _ = raised.value(py).call_method1("add_note", (WHOLE_ARRAYS,));
        }
    })
}

/// What a function that was written for single numbers needs to know.
const WHOLE_ARRAYS: &str = "ddelm calls functions with whole arrays of x and y: use NumPy's functions (np.sin, not math.sin) \
     and np.where(x < 0.5, a, b) in the place of if";

fn two<'py>(returned: &Bound<'py, PyAny>) -> Result<[Bound<'py, PyAny>; 2], Failure> {
    pair(returned).ok_or_else(|| format!("the function returned {} instead of two arrays", kind(returned)).into())
}

/// Copies what a function returned: an array with one real number for each point, or one number for all of them.
fn copy(returned: &Bound<'_, PyAny>, out: &mut [f64]) -> Result<(), Failure> {
    let py = returned.py();
    let plain = returned.extract::<PyReadonlyArray1<'_, f64>>();
    let values = match plain {
        Ok(values) => values,
        Err(_) => {
            let numpy = py.import("numpy")?;
            let array = numpy.call_method1("asarray", (returned,))?;
            let (shape, dtype) = (array.getattr("shape")?, array.getattr("dtype")?);
            if !"biuf".contains(&dtype.getattr("kind")?.extract::<String>()?) {
                return Err(format!("the function returned values of type {dtype}, not real numbers").into());
            }
            let points = out.len();
            let real = array.call_method1("astype", ("float64",))?;
            match real.getattr("ndim")?.extract::<usize>()? {
                0 => numpy.call_method1("broadcast_to", (real, points))?.extract()?,
                1 => real.extract()?,
                _ => return Err(format!("the function returned an array of shape {shape} for {points} points").into()),
            }
        }
    };
    let values = values.as_array();
    if values.len() != out.len() {
        return Err(format!("the function returned {} values for {} points", values.len(), out.len()).into());
    }
    out.iter_mut().zip(values).for_each(|(out, value)| *out = *value);
    Ok(())
}
