//! The command line inside the extension module, so that one file holds everything that a wheel needs.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the program `ddelm` with these arguments, its own name before them, and returns its exit code. It takes the process
/// over: signals are its own from here on.
#[pyfunction]
pub fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| ddelm_cli::run(arguments))
}
