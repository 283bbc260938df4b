//! Errors as Python knows them.
//!
//! Bad input is a `ValueError` with the message of the command line, hint included; what could not be computed is a
//! `RuntimeError`. An exception from a function of the user comes back as it was raised.

use ddelm::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyFileNotFoundError, PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};

/// The exception for an error of the library.
pub fn exception(error: Error) -> PyErr {
    let text = text(&error);
    match error {
        Error::Callback { failure, .. } => match failure.downcast::<PyErr>() {
            Ok(raised) => *raised,
            Err(_) => PyValueError::new_err(text),
        },
        Error::File { path, .. } if !path.exists() => PyFileNotFoundError::new_err(text),
        Error::Write { .. } => PyOSError::new_err(text),
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        error if error.is_input() => PyValueError::new_err(text),
        _ => PyRuntimeError::new_err(text),
    }
}

/// What happened, and the hint on its own line.
fn text(error: &Error) -> String {
    let hint = match error {
        // A function of Python has no formula to look into.
        Error::NotFinite { .. } => Some(
            "check the formula or function there for a division by zero, a root or a logarithm; np.where evaluates both of its \
             branches",
        ),
        error => error.hint(),
    };
    match hint {
        Some(hint) => format!("{error}\nhint: {hint}"),
        None => error.to_string(),
    }
}
