//! A problem together with how to solve it.

use std::path::PathBuf;
use std::sync::Arc;

use ddelm::Error;
use ddelm::file::{Origin, ProblemFile};
use ddelm::method::settings::{GivenWeights, Sharing};
use ddelm::solve::case::Case as Core;
use ddelm_cli::notebook::entries;
use numpy::{PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::exception;
use crate::field::field;
use crate::options::Options;
use crate::problem::Problem;
use crate::watch::run;

/// A problem file.
#[pyclass(frozen, module = "ddelm._native")]
pub struct File {
    path: PathBuf,
    file: ProblemFile,
}

#[pymethods]
impl File {
    /// Reads a problem file and refuses it if it cannot be solved.
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        let file = ProblemFile::read(&path).map_err(exception)?;
        let found = File { path, file };
        found.case(&Options::default())?;
        Ok(found)
    }

    /// A problem file by its text, which a saved solution has; `name` is what errors call it. One that takes data from files
    /// is refused: a solution may come from anywhere, and name any file.
    #[staticmethod]
    fn of_text(name: PathBuf, text: String) -> PyResult<Self> {
        let file = ProblemFile::new(text);
        if let Some(named) = file.data_files().map_err(exception)?.first() {
            let problem = "the saved problem takes data from this file, which is not opened unasked";
            let hint = "set u.problem yourself if you trust it";
            return Err(exception(Error::input(name.display().to_string(), named, problem, hint)));
        }
        let found = File { path: name, file };
        found.case(&Options::default())?;
        Ok(found)
    }

    /// The problem in it.
    fn problem(&self) -> PyResult<Problem> {
        let case = self.case(&Options::default())?;
        Ok(Problem { core: case.problem, domain: case.domain })
    }

    /// Its text.
    #[getter]
    fn text(&self) -> &str {
        self.file.text(Origin::File)
    }
}

impl File {
    fn case(&self, options: &Options) -> PyResult<Core> {
        let file = options.on(self.file.clone());
        file.case().map_err(|error| self.place(&file, error))
    }

    /// The exception for an error in the file, with its line.
    fn place(&self, file: &ProblemFile, error: Error) -> PyErr {
        let line = file.place(&error).filter(|place| place.origin == Origin::File).map(|place| {
            let before = file.text(Origin::File).get(..place.span.start).unwrap_or_default();
            1 + before.matches('\n').count()
        });
        let raised = exception(error);
        match line {
            None => raised,
            Some(line) => {
                let text = Python::attach(|py| raised.value(py).to_string());
                PyValueError::new_err(format!("{}, line {line}: {text}", self.path.display()))
            }
        }
    }
}

/// A problem and how to solve it.
#[pyclass(frozen, module = "ddelm._native")]
pub struct Case {
    pub core: Arc<Core>,
}

/// Hidden layers: w of shape (subdomains, 2, neurons) and b of shape (subdomains, neurons).
type Weights<'py> = (PyReadonlyArray3<'py, f64>, PyReadonlyArray2<'py, f64>);

#[pymethods]
impl Case {
    /// A problem of Python with options, by their keys in a problem file.
    #[new]
    #[pyo3(signature = (problem, options, weights=None))]
    fn new(problem: &Problem, options: Options, weights: Option<Weights<'_>>) -> PyResult<Self> {
        let case = options
            .on(ProblemFile::new(""))
            .case_for(problem.core.clone(), problem.domain.clone())
            .map_err(exception)?;
        Self::with_weights(case, weights)
    }

    /// The same case with other initial values, where it has steps in time.
    fn starting_at(&self, initial: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut case = Core::clone(&self.core);
        if let Some(time) = &mut case.time {
            time.initial = field(initial, "time.initial")?;
        }
        Ok(Case { core: Arc::new(case) })
    }

    /// What it asks for and will cost: lines of text, with a name in front of the first of each kind. Functions that are not
    /// finite at the nodes are refused.
    fn check(&self, py: Python<'_>) -> PyResult<Vec<(&'static str, String)>> {
        let core = self.core.clone();
        run(py, None, move |_| {
            core.probe()?;
            entries(&core)
        })
    }

    /// The problem of a file with options that override it.
    #[staticmethod]
    #[pyo3(signature = (file, options, weights=None))]
    fn of_file(file: &File, options: Options, weights: Option<Weights<'_>>) -> PyResult<Self> {
        Self::with_weights(file.case(&options)?, weights)
    }
}

impl Case {
    fn with_weights(mut case: Core, weights: Option<Weights<'_>>) -> PyResult<Self> {
        if let Some((w, b)) = weights {
            case.settings.weights = Some(Arc::new(given(&w, &b)?));
            case.settings.sharing = Sharing::Independent;
        }
        if case.finite_elements.is_some() {
            return Err(exception(Error::input(
                "method",
                "\"fem\"",
                "finite elements have no networks",
                "use ddelm.finite_element",
            )));
        }
        case.validate().map_err(exception)?;
        Ok(Case { core: Arc::new(case) })
    }
}

fn given(w: &PyReadonlyArray3<'_, f64>, b: &PyReadonlyArray2<'_, f64>) -> PyResult<GivenWeights> {
    match (w.shape(), b.shape()) {
        (&[s, 2, m], &[t, n]) if s == t && m == n => Ok(GivenWeights {
            neurons: m,
            w: w.as_array().iter().copied().collect(),
            b: b.as_array().iter().copied().collect(),
        }),
        (w, b) => Err(exception(Error::input(
            "network.weights",
            format!("w of shape {w:?}, b of shape {b:?}"),
            "the shapes do not fit",
            "weights are w of shape (subdomains, 2, neurons) and b of shape (subdomains, neurons)",
        ))),
    }
}
