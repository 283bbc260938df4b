//! Domains: what Python says goes through the reader of problem files, so that the same words mean the same and are refused
//! alike.

use std::path::PathBuf;

use ddelm::domain::area::Cut;
use ddelm::domain::borders::{Borders, perimeter};
use ddelm::domain::map::Point;
use ddelm::{Domain as Core, Error, ProblemFile};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use crate::error::exception;
use crate::options::Options;

type Lines<'py> = Vec<Bound<'py, PyArray2<f64>>>;
/// Borders between subdomains; the boundary, with the number of its part where it is not periodic; subdomains as polygons, with
/// the number of the region where they have one.
type Plan<'py> =
    (Lines<'py>, Vec<(Option<usize>, Bound<'py, PyArray2<f64>>)>, Vec<(Option<usize>, Bound<'py, PyArray2<f64>>)>);

/// A domain.
#[pyclass(frozen, module = "ddelm._native")]
pub struct Domain {
    pub core: Core,
}

#[pymethods]
impl Domain {
    /// The domain of the keys of a problem file: its `domain`, and `boundary.periodic`. Files are relative to a directory.
    #[new]
    fn new(keys: Options, directory: PathBuf) -> PyResult<Self> {
        let core = keys.on(ProblemFile::new("")).within(directory).domain().map_err(exception)?;
        Ok(Domain { core })
    }

    /// The parts of the boundary that have conditions.
    #[getter]
    fn parts(&self) -> Vec<String> {
        self.core.parts().to_vec()
    }

    /// The regions.
    #[getter]
    fn regions(&self) -> Vec<String> {
        self.core.regions().to_vec()
    }

    /// The pairs of periodic sides.
    #[getter]
    fn periodic(&self) -> Vec<[&str; 2]> {
        self.core.periodic_sides()
    }

    /// The smallest box that holds the domain: x0, x1, y0, y1.
    #[getter]
    fn bounding_box(&self) -> [f64; 4] {
        self.core.bounding_box()
    }

    /// Whether it suggests how large its subdomains are.
    #[getter]
    fn suggests_sizes(&self) -> bool {
        self.core.suggests_sizes()
    }

    /// The domain in a few words.
    fn describe(&self) -> String {
        self.core.to_string()
    }

    /// The lines of its decomposition, to be drawn.
    #[pyo3(signature = (size=None))]
    fn plan<'py>(&self, py: Python<'py>, size: Option<f64>) -> PyResult<Plan<'py>> {
        let decomposition = py
            .detach(|| self.core.decompose(&size.map_or(Cut::Default, Cut::Size)))
            .map_err(|error: Error| exception(error))?;
        let Borders { inside, boundary, .. } = Borders::new(&decomposition);
        let tile = |s: usize| Ok((decomposition.subdomains[s].region, line(py, &perimeter(&decomposition, s))?));
        let on_boundary = |(part, points): &(Option<usize>, Vec<Point>)| Ok((*part, line(py, points)?));
        Ok((
            inside.iter().map(|points| line(py, points)).collect::<PyResult<_>>()?,
            boundary.iter().map(on_boundary).collect::<PyResult<_>>()?,
            (0..decomposition.len()).map(tile).collect::<PyResult<_>>()?,
        ))
    }
}

/// Points as an array of shape (points, 2).
pub fn line<'py>(py: Python<'py>, points: &[Point]) -> PyResult<Bound<'py, PyArray2<f64>>> {
    PyArray1::from_slice(py, points.as_flattened()).reshape([points.len(), 2])
}
