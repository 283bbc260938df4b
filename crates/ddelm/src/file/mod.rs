//! Problem files: a boundary value problem and how to solve it, in TOML.
//!
//! ```
//! # use ddelm::file::ProblemFile;
//! # use ddelm::progress::Silent;
//! let file = ProblemFile::new(
//!     r#"
//!     [domain]
//!     x = [0.0, 1.0]
//!     y = [0.0, 1.0]
//!     [equation]                    # -div(diffusion grad u) + advection . grad u + reaction u = source
//!     source = "(4*pi^2 - 1)*sin(2*pi*x)*exp(y)"
//!     [boundary]
//!     dirichlet = "sin(2*pi*x)*exp(y)"
//!     [exact]
//!     u = "sin(2*pi*x)*exp(y)"
//!     [discretization]
//!     subdomains = [2, 2]
//!     points = 12
//!     "#,
//! );
//! let solution = file.set("discretization.points=16").case()?.solve(&Silent)?;
//! assert!(solution.report.errors.unwrap().l2 < 1e-9);
//! # Ok::<(), ddelm::Error>(())
//! ```
//!
//! | table | keys |
//! | --- | --- |
//! | (top) | `preset` = "fast" or "paper"; `method` = "schur", "elm", "locelm" or "fem" |
//! | `[domain]` | `x`, `y`: the ends of the rectangle's sides |
//! | `[equation]` | `diffusion` (a number, a formula, or a 2x2 array of them), `advection` (two of them), `reaction`, `source`; or `plate = { load, rigidity }` |
//! | `[boundary]` | `dirichlet`, `neumann` (conormal flux), `robin = { coefficient, value }`; for a plate `dirichlet` with `laplacian` or `normal`; `[boundary.left]` (`right`, `bottom`, `top`) for one side |
//! | `[exact]` | `u`, if known |
//! | `[discretization]` | `subdomains`, `points`, `neurons`, `nodes`; or `tolerance`; `estimate`; `cells` for finite elements |
//! | `[network]` | `activation`, `initialization`, `scale`, `c`, `r`, `seed`, `weights`, `sharing`, `truncation`, `cut` |
//! | `[interface]` | `solver` = "direct" or "cg", `tolerance`, `max_iterations`, `refinements` |
//! | `[fields]` | `name = { alpha, modes, seed }` or `{ file }`: random fields that formulas call as `name(x, y)` |
//!
//! Formulas are those of [`expression`](crate::expression). Everything that can be refused without computing is
//! refused when the file is read, and [`ProblemFile::place`] says where in the file an error comes from.

mod case;
mod choices;
mod document;
mod equation;
mod probe;
mod random;
mod section;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub use case::Case;
pub use document::{Origin, Place};

use crate::error::{Error, Result};
use crate::problem::Problem;
use document::{Kind, Value, find};
use equation::SIDES;
use section::{Section, number};

const ROOT: &[&str] = &[
    "preset",
    "method",
    "domain",
    "equation",
    "boundary",
    "exact",
    "discretization",
    "network",
    "interface",
    "fields",
];

/// The text of a problem file, with overrides.
#[derive(Debug, Clone)]
pub struct ProblemFile {
    text: String,
    directory: PathBuf,
    overrides: Vec<String>,
}

impl ProblemFile {
    /// A problem file by its text; files that it names are relative to the current directory.
    pub fn new(text: impl Into<String>) -> Self {
        ProblemFile { text: text.into(), directory: PathBuf::new(), overrides: Vec::new() }
    }

    /// Reads the text of a problem file; files that it names are relative to its directory.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| Error::File {
            path: path.into(),
            problem: match error.kind() {
                std::io::ErrorKind::NotFound => "there is no such file".into(),
                std::io::ErrorKind::InvalidData => "it is not a text file".into(),
                _ => error.to_string(),
            },
            hint: "give the path of a problem file (TOML)".into(),
        })?;
        let directory = path.parent().unwrap_or(Path::new("")).into();
        Ok(ProblemFile { text, directory, overrides: Vec::new() })
    }

    /// Overrides a key, for example `discretization.points=20`. A value that is not TOML is taken as a string.
    #[must_use]
    pub fn set(mut self, override_: impl Into<String>) -> Self {
        self.overrides.push(override_.into());
        self
    }

    /// The text that a place is in.
    pub fn text(&self, origin: Origin) -> &str {
        match origin {
            Origin::File => &self.text,
            Origin::Override(index) => self.overrides.get(index).map_or("", String::as_str),
        }
    }

    /// The file with its overrides, as one text that means the same in every directory: data files have their whole paths.
    pub fn resolved(&self) -> Result<String> {
        let mut table = match self.document()?.plain() {
            toml::Value::Table(table) => table,
            other => return Ok(other.to_string()),
        };
        let completed = self.complete_paths(&mut table);
        // The text as it was written has comments.
        Ok(if completed || !self.overrides.is_empty() { table.to_string() } else { self.text.clone() })
    }

    /// Puts whole paths in the place of relative ones, and says whether there were any.
    fn complete_paths(&self, table: &mut toml::Table) -> bool {
        let mut completed = false;
        let mut complete = |value: Option<&mut toml::Value>| {
            let Some(value) = value else { return };
            let path = value.as_str().map(Path::new).filter(|path| path.is_relative());
            if let Some(whole) = path.and_then(|path| std::path::absolute(self.directory.join(path)).ok()) {
                *value = whole.to_string_lossy().into_owned().into();
                completed = true;
            }
        };
        complete(table.get_mut("network").and_then(|network| network.get_mut("weights")));
        if let Some(fields) = table.get_mut("fields").and_then(toml::Value::as_table_mut) {
            fields.iter_mut().for_each(|(_, field)| complete(field.get_mut("file")));
        }
        completed
    }

    fn document(&self) -> Result<Value> {
        let mut document = document::parse(&self.text)?;
        for (index, text) in self.overrides.iter().enumerate() {
            document::set(&mut document, text, index)?;
        }
        Ok(document)
    }

    /// Reads everything, and refuses what cannot be solved.
    pub fn case(&self) -> Result<Case> {
        let document = self.document()?;
        let root = Section::root(&document, ROOT)?;
        let fields = random::fields(&root, &names(&document, "fields"), &self.directory)?;
        let problem = equation::problem(&root, &fields)?;
        let domain = root.section("domain", &["x", "y"])?;
        let side = |name: &str| -> Result<[f64; 2]> {
            let example = "[0.0, 1.0]";
            domain.pair(name, example, number)?.ok_or_else(|| domain.missing(name, &format!("{name} = {example}")))
        };
        self.case_for(problem, side("x")?, side("y")?)
    }

    /// A problem on the rectangle `x[0]..x[1]` by `y[0]..y[1]` that stands elsewhere, solved as this file says.
    pub fn case_for(&self, problem: Problem, x: [f64; 2], y: [f64; 2]) -> Result<Case> {
        let document = self.document()?;
        let choices = choices::choices(&Section::root(&document, ROOT)?, &self.directory)?;
        let has_exact = problem.exact.is_some();
        let case = Case {
            problem,
            x,
            y,
            subdomains: choices.subdomains,
            settings: choices.settings,
            tolerance: choices.tolerance,
            // Without an exact solution the estimate is all there is to tell whether to trust the result.
            estimate: choices.estimate.unwrap_or(!has_exact),
            cells: choices.cells,
        };
        case.validate()?;
        Ok(case)
    }

    /// Where in the file, or in the overrides, an error comes from.
    pub fn place(&self, error: &Error) -> Option<Place> {
        if let Error::Syntax { span, .. } = error {
            return Some(Place { origin: Origin::File, span: span.clone() });
        }
        let key = error.key()?;
        let document = self.document().ok()?;
        // The source of a plate is its load.
        let load = (key == "equation.source").then(|| find(&document, "equation.plate.load")).flatten();
        let (mut found, complete) = load.filter(|(_, complete)| *complete).or_else(|| find(&document, key))?;
        if matches!(error, Error::UnknownKey { .. }) && complete {
            return Some(found.key.clone());
        }
        if found.is_table() && !matches!(error, Error::MissingKey { .. }) {
            found = self.condition(&document, key).unwrap_or(found);
        }
        match error {
            Error::Formula { error, .. } => Some(self.inside(&found.value.place, &error.formula, error.span.clone())),
            _ => Some(found.value.place.clone()),
        }
    }

    /// For an error on a side of the boundary, the first condition that holds there.
    fn condition<'d>(&self, document: &'d Value, key: &str) -> Option<document::Found<'d>> {
        let table = key.split('.').next().filter(|name| *name == "boundary")?;
        let side = find(document, key).filter(|(_, complete)| *complete).map_or(table.to_string(), |_| key.to_string());
        names(document, &side)
            .into_iter()
            .filter(|name| !SIDES.contains(name))
            .find_map(|name| find(document, &format!("{side}.{name}")).map(|(found, _)| found))
    }

    /// The part `span` of a formula that stands, between quotes, at `place`.
    fn inside(&self, place: &Place, formula: &str, span: std::ops::Range<usize>) -> Place {
        let written = &self.text(place.origin)[place.span.clone()];
        // A string with escapes does not hold the formula as it is read: then the whole of it is shown.
        match written.find(formula) {
            Some(at) => {
                let start = place.span.start + at;
                Place { origin: place.origin, span: start + span.start..start + span.end }
            }
            None => place.clone(),
        }
    }
}

/// The names in a table of the document.
fn names<'d>(document: &'d Value, table: &str) -> Vec<&'d str> {
    match find(document, table) {
        Some((found, true)) => match &found.value.kind {
            Kind::Table(table) => table.keys().map(String::as_str).collect(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}
