//! `[nonlinear]`: how Newton's method solves a problem whose formulas use the solution.

use std::sync::Arc;

use super::ProblemFile;
use super::section::{Fields, Section};
use crate::base::error::{Error, Result};
use crate::problem::expression::nearest;
use crate::solve::newton::{Continuation, Nonlinear};

pub(super) const NONLINEAR: &[&str] = &["initial", "max_steps", "tolerance", "continuation"];
pub(super) const CONTINUATION: &[&str] = &["parameter", "from", "to"];

/// The way of a parameter.
pub(super) struct Path {
    pub parameter: String,
    pub from: f64,
    pub to: f64,
}

impl Path {
    /// What sets the parameter to a value.
    pub fn at(&self, value: f64) -> String {
        format!("parameters.{}={value:?}", self.parameter)
    }
}

/// The continuation, if there is one.
pub(super) fn path(root: &Section) -> Result<Option<Path>> {
    let section = root.section("nonlinear", NONLINEAR)?;
    if !section.has("continuation") {
        return Ok(None);
    }
    let section = section.section("continuation", CONTINUATION)?;
    let missing = |name: &str| section.missing(name, "continuation = { parameter = \"lambda\", from = 0, to = 5 }");
    let parameter = section.text("parameter")?.ok_or_else(|| missing("parameter"))?;
    let end = |name: &str| -> Result<f64> {
        let value = section.number(name)?.ok_or_else(|| missing(name))?;
        match value.is_finite() {
            true => Ok(value),
            false => Err(Error::input(section.key(name), value, "it is not a finite number", "for example 5")),
        }
    };
    let known = root.open("parameters")?;
    if !known.has(parameter) {
        let hint = match nearest(parameter, known.names()) {
            Some(name) => format!("did you mean \"{name}\"?"),
            None => format!("add [parameters] with {parameter} = 0, and use it in a formula"),
        };
        let (key, shown) = (section.key("parameter"), format!("\"{parameter}\""));
        return Err(Error::input(key, shown, "there is no such parameter", hint));
    }
    Ok(Some(Path { parameter: parameter.into(), from: end("from")?, to: end("to")? }))
}

/// Reads how a file wants its problem solved if it is nonlinear.
pub(super) fn nonlinear(file: &ProblemFile, root: &Section, fields: &Fields) -> Result<Nonlinear> {
    let section = root.section("nonlinear", NONLINEAR)?;
    let usual = Nonlinear::default();
    let continuation = path(root)?.map(|path| {
        let (file, parameter, from, to) = (file.clone(), path.parameter.clone(), path.from, path.to);
        let problem = Arc::new(move |value: f64| file.clone().set(path.at(value)).problem());
        Continuation { parameter, from, to, problem }
    });
    Ok(Nonlinear {
        initial: section.field("initial", fields)?,
        max_steps: section.whole("max_steps")?.unwrap_or(usual.max_steps),
        tolerance: section.number("tolerance")?.unwrap_or(usual.tolerance),
        continuation,
        ..usual
    })
}
