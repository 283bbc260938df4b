//! Problem files: a boundary value problem and how to solve it, in TOML.
//!
//! ```
//! # use ddelm::ProblemFile;
//! # use ddelm::Silent;
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
//! | `[domain]` | one of: `x` and `y` (the ends of a rectangle), `polygon` (with `names` of its sides), `circle = { center, radius }`, `ellipse = { center, axes, angle }`, `outline` (pieces `{ line }`, `{ arc = { center, radius, from, to } }`, `{ spline }`, `{ curve, t }`, each with a `name` if you like), `mesh` (a file of gmsh) |
//! | `[[domain.hole]]`, `[[domain.region]]` | one of the shapes above but a mesh, and its `name` |
//! | `[equation]` | `diffusion` (a number, a formula, or a 2x2 array of them), `advection` (two of them), `reaction`, `source`; `[equation.regions.NAME]` with those that are others in a region; or `plate = { load, rigidity }` |
//! | `[boundary]` | `dirichlet`, `neumann` (conormal flux), `robin = { coefficient, value }`; for a plate `dirichlet` with `laplacian` or `normal`; `[boundary.NAME]` for one part (`left`, `right`, `bottom`, `top` of a rectangle); `[[boundary.left.part]]` with `from`, `to` and a `name` for a part of a rectangle's side; `periodic` = ["x"], ["x", "y"] or pairs of names; `mean` of u, where nothing else fixes it |
//! | `[exact]` | `u`, if known |
//! | `[eigenvalues]` | `count`, and `near` (0 if left out): the eigenvalues closest to it are found, and source and boundary values do not matter |
//! | `[time]` | `u_t = -L u + f`: `end`, `start` (0 if left out), `initial`; `steps` or `tolerance`; `method` = "bdf1" to "bdf4" (the default); `times` at which the solution is wanted as well. Formulas may use `t`, and the source `u` |
//! | `[discretization]` | `subdomains` (of a rectangle) or `size` (the largest side of a subdomain, about), `points`, `neurons`, `nodes`; or `tolerance`; `estimate`; `cells` for finite elements; `max_memory` (bytes, or "8 GB") |
//! | `[network]` | `activation`, `initialization`, `scale`, `c`, `r`, `seed`, `weights`, `sharing`, `truncation`, `cut` |
//! | `[interface]` | `solver` = "direct" or "cg", `tolerance`, `max_iterations`, `refinements` |
//! | `[nonlinear]` | for formulas with `u`, `ux` or `uy`: `initial` (a formula), `max_steps`, `tolerance`, `continuation = { parameter, from, to }` |
//! | `[parameters]` | `name = number`: numbers that formulas use by name, and `--set parameters.name=3` changes |
//! | `[functions]` | `name = formula` of x, y and parameters, which other formulas use as `name(a, b)`, or `name` for `name(x, y)` |
//! | `[output]` | `integrals = { name = "flux(PART)" }`: numbers for the report; also `integral(FORMULA)` with u, ux, uy, `integral(FORMULA, REGION)`, `max(u)`, `min(u)` |
//! | `[fields]` | used in the same way: `name = { alpha, modes, seed }` is a random field; `{ file = "k.npz" }` is a spline through data on a grid (arrays `x`, `y`, and `values[i, j]` at `x[i]`, `y[j]`), or a random field (arrays `a`, `w`, `b`) |
//!
//! Formulas are those of [`expression`](crate::problem::expression), grids those of [`grid`](crate::problem::grid). Everything that can be refused without computing is
//! refused when the file is read, and [`ProblemFile::place`] says where in the file an error comes from.

mod boundary;
mod choices;
mod document;
mod domain;
mod eigenvalues;
mod equation;
mod names;
mod nonlinear;
mod output;
pub mod reference;
mod regions;
mod section;
mod statement;
#[cfg(test)]
mod tests;
mod time;

use std::io::Read;
use std::path::{Path, PathBuf};

pub use document::{Given, Origin, Place};

use crate::base::error::{Error, Result};
use crate::domain::area::Domain;
use crate::problem::model::Problem;
use crate::solve::case::Case;
use document::{Kind, Value, find};
use section::Section;

const ROOT: &[&str] = &[
    "preset",
    "method",
    "domain",
    "equation",
    "boundary",
    "exact",
    "eigenvalues",
    "time",
    "discretization",
    "network",
    "interface",
    "nonlinear",
    "parameters",
    "functions",
    "fields",
    "output",
];

/// Bytes of the longest problem file.
const LONGEST: u64 = 1 << 24;

/// The text of a problem file, with overrides.
#[derive(Debug, Clone)]
pub struct ProblemFile {
    text: String,
    directory: PathBuf,
    overrides: Vec<Override>,
}

/// A key that is set on top of a file.
#[derive(Debug, Clone)]
enum Override {
    /// `key=value`, as it was written.
    Written(String),
    /// A key and its value.
    Given(String, Given),
}

impl ProblemFile {
    /// A problem file by its text; files that it names are relative to the current directory.
    pub fn new(text: impl Into<String>) -> Self {
        ProblemFile { text: text.into(), directory: PathBuf::new(), overrides: Vec::new() }
    }

    /// The same text, as if it stood in a file of this directory.
    #[must_use]
    pub fn within(self, directory: impl Into<PathBuf>) -> Self {
        ProblemFile { directory: directory.into(), ..self }
    }

    /// Reads the text of a problem file; files that it names are relative to its directory.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let refuse = |problem: String| Error::File {
            path: path.into(),
            problem,
            hint: "give the path of a problem file (TOML)".into(),
        };
        let mut text = String::new();
        // A device may never end.
        let read = std::fs::File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text));
        read.map_err(|error| {
            refuse(match error.kind() {
                std::io::ErrorKind::NotFound => "there is no such file".into(),
                std::io::ErrorKind::InvalidData => "it is not a text file".into(),
                _ => error.to_string(),
            })
        })?;
        if text.len() as u64 > LONGEST {
            return Err(refuse(format!("it has more than {LONGEST} bytes")));
        }
        let directory = path.parent().unwrap_or(Path::new("")).into();
        Ok(ProblemFile { text, directory, overrides: Vec::new() })
    }

    /// Overrides a key, for example `discretization.points=20`. A value that is not TOML is taken as a string.
    #[must_use]
    pub fn set(mut self, override_: impl Into<String>) -> Self {
        self.overrides.push(Override::Written(override_.into()));
        self
    }

    /// Overrides a key with a value of a program: `file.with("discretization.points", Given::Whole(20))`.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: Given) -> Self {
        self.overrides.push(Override::Given(key.into(), value));
        self
    }

    /// The text that a place is in.
    pub fn text(&self, origin: Origin) -> &str {
        match origin {
            Origin::File => &self.text,
            Origin::Override(index) => match self.overrides.get(index) {
                Some(Override::Written(text)) => text,
                // What is written nowhere has no place in a text.
                Some(Override::Given(..)) | None => "",
            },
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
        complete(table.get_mut("domain").and_then(|domain| domain.get_mut("mesh")));
        if let Some(fields) = table.get_mut("fields").and_then(toml::Value::as_table_mut) {
            fields.iter_mut().for_each(|(_, field)| complete(field.get_mut("file")));
        }
        completed
    }

    fn document(&self) -> Result<Value> {
        let mut document = document::parse(&self.text)?;
        for (index, change) in self.overrides.iter().enumerate() {
            match change {
                Override::Written(text) => document::set(&mut document, text, index)?,
                Override::Given(key, value) => document::set_given(&mut document, key, value, index)?,
            }
        }
        Ok(document)
    }

    /// The files that the problem takes data from, as they are named: its mesh, and those of its fields. Weights are no
    /// part of the problem.
    pub fn data_files(&self) -> Result<Vec<String>> {
        let document = self.document()?;
        // Step by step, for the name of a field may hold a dot.
        let inside = |value: &Value, name: &str| match &value.kind {
            Kind::Table(table) => table.get(name).map(|(_, value)| value.clone()),
            _ => None,
        };
        let file = |value: &Value, name: &str| match inside(value, name).map(|file| file.kind) {
            Some(Kind::String(file)) => Some(file),
            _ => None,
        };
        let mut files: Vec<String> = inside(&document, "domain").iter().filter_map(|d| file(d, "mesh")).collect();
        if let Some(Kind::Table(fields)) = inside(&document, "fields").map(|fields| fields.kind) {
            files.extend(fields.values().filter_map(|(_, field)| file(field, "file")));
        }
        Ok(files)
    }

    /// Reads the problem alone, without how to solve it.
    pub fn problem(&self) -> Result<Problem> {
        let document = self.document()?;
        Ok(self.problem_in(&Section::root(&document, ROOT)?)?.0)
    }

    /// Reads the domain alone, with its periodic sides.
    pub fn domain(&self) -> Result<Domain> {
        let document = self.document()?;
        let root = Section::root(&document, ROOT)?;
        self.domain_in(&root, &boundary::side_parts(&root)?)
    }

    fn domain_in(&self, root: &Section, side_parts: &[boundary::SidePart]) -> Result<Domain> {
        boundary::with_periodic_sides(root, domain::domain(root, &self.directory, side_parts)?)
    }

    /// The problem and its domain.
    fn problem_in(&self, root: &Section) -> Result<(Problem, Domain)> {
        let names = names::names(root, &self.directory)?;
        let side_parts = boundary::side_parts(root)?;
        let domain = self.domain_in(root, &side_parts)?;
        let problem = equation::problem(root, &names, &domain, &side_parts)?;
        Ok((problem, domain))
    }

    /// Reads everything, and refuses what cannot be solved.
    pub fn case(&self) -> Result<Case> {
        // The problem is the last one of a continuation.
        let file = self.at_end_of_continuation()?;
        let document = file.document()?;
        let root = Section::root(&document, ROOT)?;
        let (problem, domain) = file.problem_in(&root)?;
        file.case_for(problem, domain)
    }

    /// The file with the parameter of its continuation, if it has one, at the last value.
    fn at_end_of_continuation(&self) -> Result<Self> {
        let document = self.document()?;
        let path = nonlinear::path(&Section::root(&document, ROOT)?)?;
        Ok(path.map_or_else(|| self.clone(), |path| self.clone().set(path.at(path.to))))
    }

    /// A problem on a domain that stand elsewhere, solved as this file says.
    pub fn case_for(&self, problem: Problem, domain: Domain) -> Result<Case> {
        let document = self.document()?;
        let root = Section::root(&document, ROOT)?;
        let choices = choices::choices(&root, &self.directory, &domain)?;
        let eigenvalues = eigenvalues::eigenvalues(&root)?;
        let names = names::names(&root, &self.directory)?;
        let time = time::time(&root, &names)?;
        let functionals = output::functionals(&root, &names, &domain)?;
        // The exact solution says nothing about eigenvalues.
        let has_exact = problem.exact.is_some() && eigenvalues.is_none();
        let case = Case {
            problem,
            domain,
            cut: choices.cut,
            settings: choices.settings,
            tolerance: choices.tolerance,
            // Without an exact solution the estimate is all there is to tell whether to trust the result.
            estimate: choices.estimate.unwrap_or(!has_exact),
            finite_elements: choices.finite_elements,
            functionals,
            eigenvalues,
            time,
            nonlinear: nonlinear::nonlinear(self, &root, &names)?,
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
            .filter(|name| boundary::CONDITION.contains(name))
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
