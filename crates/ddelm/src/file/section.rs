//! A table of a problem file with the keys it may have: typed values, or an error that says what was expected.

use std::sync::Arc;

use super::document::{Found, Kind, Table, Value};
use crate::base::error::{Error, Result};
use crate::problem::expression::{Formula, Names, Variables, nearest};
use crate::problem::field::{FieldRef, constant};
use crate::problem::model::Diffusion;

/// What formulas may use by name.
pub(super) type Fields = Names;

/// The same names where formulas may also use the solution and its gradient.
pub(super) fn with_solution(fields: &Fields) -> Fields {
    fields.with_variables(Variables { state: true, ..fields.variables() })
}

/// A table of the file. A table that is not there is empty.
pub(super) struct Section<'d> {
    path: String,
    table: Option<&'d Table>,
}

impl<'d> Section<'d> {
    /// The document itself.
    pub fn root(document: &'d Value, keys: &[&str]) -> Result<Self> {
        Section::new(String::new(), document, keys)
    }

    fn new(path: String, value: &'d Value, keys: &[&str]) -> Result<Self> {
        let Kind::Table(table) = &value.kind else {
            // Where any name will do there is none to show.
            let example = keys.first().unwrap_or(&"name");
            return Err(unexpected(&path, &value.kind, "a table", &format!("for example {{ {example} = ... }}")));
        };
        let section = Section { path, table: Some(table) };
        match table.keys().find(|key| !keys.contains(&key.as_str())) {
            None => Ok(section),
            Some(key) => Err(section.unknown(key, keys)),
        }
    }

    fn unknown(&self, key: &str, keys: &[&str]) -> Error {
        let hint = match nearest(key, keys.iter().copied()) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("known here: {}", keys.join(", ")),
        };
        Error::UnknownKey { key: self.key(key), hint }
    }

    /// The path of a key of this table.
    pub fn key(&self, name: &str) -> String {
        if self.path.is_empty() { name.into() } else { format!("{}.{name}", self.path) }
    }

    /// A table inside this one, with the keys it may have.
    pub fn section(&self, name: &str, keys: &[&str]) -> Result<Section<'d>> {
        match self.get(name) {
            Some(value) => Section::new(self.key(name), value, keys),
            None => Ok(Section { path: self.key(name), table: None }),
        }
    }

    /// A table inside this one whose keys are checked elsewhere.
    pub fn open(&self, name: &str) -> Result<Section<'d>> {
        match self.get(name) {
            Some(Value { kind: Kind::Table(table), .. }) => Ok(Section { path: self.key(name), table: Some(table) }),
            Some(value) => Err(unexpected(&self.key(name), &value.kind, "a table", &format!("write [{name}]"))),
            None => Ok(Section { path: self.key(name), table: None }),
        }
    }

    /// The tables of an array, `[[name]]`, with the keys that they may have; none where it is not there.
    pub fn sections(&self, name: &str, keys: &[&str]) -> Result<Vec<Section<'d>>> {
        let Some(value) = self.get(name) else { return Ok(Vec::new()) };
        let path = self.key(name);
        let Kind::Array(items) = &value.kind else {
            return Err(unexpected(&path, &value.kind, "an array of tables", &format!("write [[{path}]]")));
        };
        let read = |(k, item)| Section::new(format!("{path}[{k}]"), item, keys);
        items.iter().enumerate().map(read).collect()
    }

    /// The path of the table.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The value of a key.
    pub fn get(&self, name: &str) -> Option<&'d Value> {
        self.table?.get(name).map(|(_, value)| value)
    }

    /// Whether the key is there.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Whether the table is there.
    pub fn is_given(&self) -> bool {
        self.table.is_some()
    }

    /// The names in the table.
    pub fn names(&self) -> impl Iterator<Item = &'d str> {
        self.table.into_iter().flat_map(|table| table.keys().map(String::as_str))
    }

    /// An error for a key that must be there.
    pub fn missing(&self, name: &str, hint: &str) -> Error {
        Error::MissingKey { key: self.key(name), hint: hint.into() }
    }

    /// A number.
    pub fn number(&self, name: &str) -> Result<Option<f64>> {
        self.get(name).map(|value| number(&self.key(name), value)).transpose()
    }

    /// A whole number that is not negative.
    pub fn whole(&self, name: &str) -> Result<Option<usize>> {
        self.get(name).map(|value| whole(&self.key(name), value)).transpose()
    }

    /// A string.
    pub fn text(&self, name: &str) -> Result<Option<&'d str>> {
        self.get(name).map(|value| text(&self.key(name), value)).transpose()
    }

    /// true or false.
    pub fn flag(&self, name: &str) -> Result<Option<bool>> {
        match self.get(name).map(|value| &value.kind) {
            None => Ok(None),
            Some(Kind::Boolean(b)) => Ok(Some(*b)),
            Some(other) => Err(unexpected(&self.key(name), other, "true or false", "write it without quotes")),
        }
    }

    /// One of several words.
    pub fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Result<Option<T>> {
        let Some(word) = self.text(name)? else { return Ok(None) };
        if let Some((_, choice)) = choices.iter().find(|(known, _)| *known == word) {
            return Ok(Some(*choice));
        }
        let names: Vec<&str> = choices.iter().map(|(known, _)| *known).collect();
        let hint = match nearest(word, names.iter().copied()) {
            Some(known) => format!("did you mean \"{known}\"?"),
            None => format!("one of {}", names.join(", ")),
        };
        Err(Error::input(self.key(name), format!("\"{word}\""), "there is no such choice", hint))
    }

    /// Two values of the same kind.
    pub fn pair<T>(
        &self,
        name: &str,
        example: &str,
        read: impl Fn(&str, &Value) -> Result<T>,
    ) -> Result<Option<[T; 2]>> {
        self.get(name).map(|value| pair(&self.key(name), value, example, read)).transpose()
    }

    /// A number or a formula.
    pub fn field(&self, name: &str, fields: &Fields) -> Result<Option<FieldRef>> {
        self.get(name).map(|value| field(&self.key(name), value, fields)).transpose()
    }
}

/// A number.
pub(super) fn number(key: &str, value: &Value) -> Result<f64> {
    match value.kind {
        Kind::Float(v) => Ok(v),
        Kind::Integer(v) => Ok(v as f64),
        ref other => Err(unexpected(key, other, "a number", "write it without quotes")),
    }
}

/// A whole number that is not negative.
pub(super) fn whole(key: &str, value: &Value) -> Result<usize> {
    match value.kind {
        Kind::Integer(v) => usize::try_from(v)
            .map_err(|_| Error::input(key, v, "it must not be negative", "give a positive whole number")),
        ref other => Err(unexpected(key, other, "a whole number", "write it without quotes, point or exponent")),
    }
}

/// An array of values of the same kind.
pub(super) fn list<T>(
    key: &str,
    value: &Value,
    example: &str,
    read: impl Fn(&str, &Value) -> Result<T>,
) -> Result<Vec<T>> {
    match &value.kind {
        Kind::Array(items) => items.iter().enumerate().map(|(k, item)| read(&format!("{key}[{k}]"), item)).collect(),
        other => Err(unexpected(key, other, "an array", &format!("for example {example}"))),
    }
}

/// A string.
pub(super) fn text<'d>(key: &str, value: &'d Value) -> Result<&'d str> {
    match &value.kind {
        Kind::String(text) => Ok(text),
        other => Err(unexpected(key, other, "a string", "put it in quotes")),
    }
}

/// Two values of the same kind.
pub(super) fn pair<T>(
    key: &str,
    value: &Value,
    example: &str,
    read: impl Fn(&str, &Value) -> Result<T>,
) -> Result<[T; 2]> {
    match &value.kind {
        Kind::Array(items) => match &items[..] {
            [a, b] => Ok([read(&format!("{key}[0]"), a)?, read(&format!("{key}[1]"), b)?]),
            _ => Err(Error::input(
                key,
                format!("an array of {}", items.len()),
                "expected an array of two",
                format!("for example {example}"),
            )),
        },
        other => Err(unexpected(key, other, "an array of two", &format!("for example {example}"))),
    }
}

/// A number or a formula.
pub(super) fn field(key: &str, value: &Value, fields: &Fields) -> Result<FieldRef> {
    match &value.kind {
        Kind::Float(v) => Ok(constant(*v)),
        Kind::Integer(v) => Ok(constant(*v as f64)),
        Kind::String(text) => match Formula::parse_in(text, fields) {
            Ok(formula) => Ok(Arc::new(formula)),
            Err(error) => Err(Error::Formula { key: key.into(), error }),
        },
        other => Err(unexpected(key, other, "a number or a formula", "for example \"sin(pi*x)\"")),
    }
}

/// A number or a formula, or a 2x2 array of them.
pub(super) fn diffusion(key: &str, value: &Value, fields: &Fields) -> Result<Diffusion> {
    match &value.kind {
        Kind::Array(_) => {
            let example = "[[\"2\", \"0\"], [\"0\", \"1\"]]";
            let entry = |key: &str, value: &Value| field(key, value, fields);
            let row = |key: &str, value: &Value| pair(key, value, "[\"2\", \"0\"]", entry);
            Ok(Diffusion::Tensor(pair(key, value, example, row)?))
        }
        Kind::String(_) | Kind::Float(_) | Kind::Integer(_) => Ok(Diffusion::Scalar(field(key, value, fields)?)),
        other => Err(unexpected(key, other, "a number, a formula, or a 2x2 array of them", "for example \"1 + x^2\"")),
    }
}

/// An error for a value of the wrong kind.
pub(super) fn unexpected(key: &str, found: &Kind, expected: &str, hint: &str) -> Error {
    let problem = format!("expected {expected}, found {}", found.name());
    Error::input(key, shown(found), problem, hint)
}

/// A value as it may stand in a message.
pub(super) fn shown(kind: &Kind) -> String {
    match kind {
        Kind::String(text) => format!("{text:?}"),
        Kind::Integer(v) => v.to_string(),
        Kind::Float(v) => v.to_string(),
        Kind::Boolean(v) => v.to_string(),
        Kind::Date => "a date".into(),
        Kind::Array(items) => {
            format!("[{}]", items.iter().map(|item| shown(&item.kind)).collect::<Vec<_>>().join(", "))
        }
        Kind::Table(table) => format!("{{ {} }}", table.keys().cloned().collect::<Vec<_>>().join(", ")),
    }
}

impl Found<'_> {
    /// Whether the value is a table.
    pub fn is_table(&self) -> bool {
        matches!(self.value.kind, Kind::Table(_))
    }
}
