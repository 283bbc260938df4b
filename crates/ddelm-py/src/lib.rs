//! The extension module behind the Python package `ddelm`.
//!
//! Names, defaults and documentation for people live in `python/ddelm`; here arrays, functions and errors cross over.

mod case;
mod domain;
mod error;
mod field;
mod finite_element;
mod gradient;
mod memory;
mod networks;
mod options;
mod problem;
mod program;
mod series;
mod solution;
mod solver;
mod sweep;
mod watch;

use pyo3::prelude::pymodule;

/// The method, in Rust.
#[pymodule(gil_used = true)]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::case::{Case, File};
    #[pymodule_export]
    use crate::domain::Domain;
    #[pymodule_export]
    use crate::field::Field;
    #[pymodule_export]
    use crate::finite_element::FiniteElement;
    #[pymodule_export]
    use crate::gradient::{Adjoint, Functional, Gradient};
    #[pymodule_export]
    use crate::networks::network_values;
    #[pymodule_export]
    use crate::options::problem_text;
    #[pymodule_export]
    use crate::problem::Problem;
    #[pymodule_export]
    use crate::program::main;
    #[pymodule_export]
    use crate::series::{animation, eigenpairs, evolve, write_pvd};
    #[pymodule_export]
    use crate::solution::Solution;
    #[pymodule_export]
    use crate::solver::{Solver, solve};
    #[pymodule_export]
    use crate::sweep::sweep;
    #[pymodule_export]
    use crate::watch::{set_threads, threads};

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "the name that Python expects")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        ddelm_cli::memory::keep();
        Ok(())
    }
}
