//! `[parameters]`, `[functions]` and `[fields]`: what formulas may use by name.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::document::Kind;
use super::section::{Fields, Section, unexpected};
use crate::base::error::{Error, Result};
use crate::base::npz;
use crate::problem::expression::{Names, Variables};
use crate::problem::field::FieldRef;
use crate::problem::grid::Grid;
use crate::problem::random_field::RandomField;

pub(super) const FIELD: &[&str] = &["alpha", "modes", "seed", "file"];

/// Modes of the paper's random fields.
const MODES: usize = 256;

/// Reads the names. Files are relative to `directory`. Formulas may use the time where there is `[time]`.
pub(super) fn names(root: &Section, directory: &Path) -> Result<Fields> {
    let mut names = Names::default().with_variables(Variables { time: root.has("time"), state: false });
    let parameters = root.open("parameters")?;
    for name in parameters.names() {
        let value = parameters.number(name)?.expect("the name comes from the table");
        names.add_parameter(name, value)?;
    }
    let fields = root.open("fields")?;
    for name in fields.names() {
        names.add_field(name, field(&fields.section(name, FIELD)?, directory)?)?;
    }
    let functions = root.open("functions")?;
    let texts = functions.names().map(|name| Ok((name.to_string(), formula(&functions, name)?)));
    names.add_functions(&texts.collect::<Result<BTreeMap<_, _>>>()?)?;
    Ok(names)
}

/// The text of a function; a number is a formula, too.
fn formula(functions: &Section, name: &str) -> Result<String> {
    match functions.get(name).map(|value| &value.kind) {
        Some(Kind::String(text)) => Ok(text.clone()),
        Some(Kind::Integer(value)) => Ok(value.to_string()),
        Some(Kind::Float(value)) if value.is_finite() => Ok(format!("{value:?}")),
        Some(other) => Err(unexpected(&functions.key(name), other, "a formula", "for example \"exp(-x^2)*y\"")),
        None => unreachable!("the name comes from the table"),
    }
}

/// A random field that is drawn, or whatever field a file has.
fn field(section: &Section, directory: &Path) -> Result<FieldRef> {
    if let Some(file) = section.text("file")? {
        return stored(&directory.join(file));
    }
    let alpha = section.number("alpha")?;
    let alpha = alpha.ok_or_else(|| section.missing("alpha", "the paper takes 16 and 32; or give file"))?;
    let (modes, seed) = (section.whole("modes")?.unwrap_or(MODES), section.whole("seed")?.unwrap_or(0));
    let drawn = RandomField::new(alpha, modes, seed as u64).map_err(|error| match error {
        Error::Input { key, value, problem, hint } => Error::Input { key: section.key(&key), value, problem, hint },
        other => other,
    })?;
    Ok(Arc::new(drawn))
}

/// The field of an `.npz` file, by the names of its arrays.
fn stored(path: &Path) -> Result<FieldRef> {
    let arrays = npz::read(path)?;
    let has_any = |names: [&str; 3]| names.iter().any(|name| arrays.contains_key(*name));
    if has_any(["x", "y", "values"]) {
        Ok(Arc::new(Grid::load(path)?))
    } else if has_any(["a", "w", "b"]) {
        Ok(Arc::new(RandomField::load(path)?))
    } else {
        let found: Vec<&str> = arrays.keys().map(String::as_str).collect();
        Err(Error::File {
            path: path.into(),
            problem: format!("it has no arrays of a field, but [{}]", found.join(", ")),
            hint: "data on a grid have x, y and values; a random field has a, w and b".into(),
        })
    }
}
