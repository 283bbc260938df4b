//! Options of Python: values by the key that they have in a problem file. The reader of these takes them as they are, so that they mean
//! the same and are refused with the same words.

use ddelm::file::{Given, ProblemFile};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyMapping, PySequence, PyString};

use crate::error::exception;

/// Values by key.
#[derive(Default)]
pub struct Options(Vec<(String, Given)>);

impl Options {
    /// A file with these values on top.
    pub fn on(&self, file: ProblemFile) -> ProblemFile {
        self.0.iter().fold(file, |file, (key, value)| file.with(key, value.clone()))
    }
}

/// Keys of a problem file as the text of one.
#[pyfunction]
pub fn problem_text(keys: Options) -> PyResult<String> {
    keys.on(ProblemFile::new("")).resolved().map_err(exception)
}

impl<'py> FromPyObject<'_, 'py> for Options {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match given("options", &value)? {
            Given::Table(entries) => Ok(Options(entries)),
            _ => Err(PyValueError::new_err("options are a mapping of keys and values")),
        }
    }
}

/// A value of Python as one of a key. Whatever is no number, word or collection is taken by its text, as paths are.
fn given(key: &str, value: &Bound<'_, PyAny>) -> PyResult<Given> {
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(Given::Flag(flag.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        let whole = value.extract::<i64>();
        return whole.map(Given::Whole).map_err(|_| PyValueError::new_err(format!("{key}: {value} is too large")));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Given::Number(value.extract()?));
    }
    if value.is_instance_of::<PyString>() {
        return Ok(Given::Text(value.extract()?));
    }
    // Numbers and arrays of NumPy, and of whatever else has them.
    if value.hasattr("tolist")? {
        return given(key, &value.call_method0("tolist")?);
    }
    if let Ok(mapping) = value.cast::<PyMapping>() {
        let entry = |entry: Bound<'_, PyAny>| {
            let (name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = entry.extract()?;
            let name = name.str()?.to_string();
            Ok((name.clone(), given(&name, &value)?))
        };
        return mapping.items()?.iter().map(entry).collect::<PyResult<_>>().map(Given::Table);
    }
    if let Ok(sequence) = value.cast::<PySequence>() {
        let items = sequence.try_iter()?.map(|item| given(key, &item?));
        return items.collect::<PyResult<_>>().map(Given::List);
    }
    Ok(Given::Text(value.str()?.to_string()))
}
