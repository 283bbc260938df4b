//! A TOML document that remembers where everything stands, in the file or in a `key=value` given on top of it.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::de::{DeArray, DeTable, DeValue};

use crate::base::error::{Error, Result};

/// Parts of the key of an override, at most: whatever walks through a document calls itself. Known keys have four; TOML's
/// own parser has such a limit, too.
const DEEPEST: usize = 32;

/// Which text a place is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The problem file.
    File,
    /// The override with this index.
    Override(usize),
}

/// A place in a text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Which text.
    pub origin: Origin,
    /// Where in it.
    pub span: Range<usize>,
}

/// A value and its place.
#[derive(Debug, Clone)]
pub(super) struct Value {
    pub kind: Kind,
    pub place: Place,
}

/// What a value is.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    String(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Date,
    Array(Vec<Value>),
    Table(Table),
}

/// A value of a key that is given by a program and written nowhere.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// A word, a formula or a name.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// A number.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// Several values.
    List(Vec<Given>),
    /// Values with names.
    Table(Vec<(String, Given)>),
}

impl Given {
    fn value(&self, place: &Place) -> Value {
        let kind = match self {
            Given::Text(text) => Kind::String(text.clone()),
            Given::Whole(v) => Kind::Integer(*v),
            Given::Number(v) => Kind::Float(*v),
            Given::Flag(v) => Kind::Boolean(*v),
            Given::List(items) => Kind::Array(items.iter().map(|item| item.value(place)).collect()),
            Given::Table(entries) => {
                let entry = |(name, given): &(String, Given)| (name.clone(), (place.clone(), given.value(place)));
                Kind::Table(entries.iter().map(entry).collect())
            }
        };
        Value { kind, place: place.clone() }
    }
}

/// The entries of a table by name, each with the place of its key.
pub(super) type Table = BTreeMap<String, (Place, Value)>;

impl Kind {
    /// The kind in words, to say what was found.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::String(_) => "a string",
            Kind::Integer(_) => "a whole number",
            Kind::Float(_) => "a number",
            Kind::Boolean(_) => "true or false",
            Kind::Date => "a date",
            Kind::Array(_) => "an array",
            Kind::Table(_) => "a table",
        }
    }
}

impl Value {
    /// The value without its places.
    pub fn plain(&self) -> toml::Value {
        match &self.kind {
            Kind::String(text) => toml::Value::String(text.clone()),
            Kind::Integer(v) => toml::Value::Integer(*v),
            Kind::Float(v) => toml::Value::Float(*v),
            Kind::Boolean(v) => toml::Value::Boolean(*v),
            Kind::Date => toml::Value::String("a date".into()),
            Kind::Array(items) => toml::Value::Array(items.iter().map(Value::plain).collect()),
            Kind::Table(table) => {
                toml::Value::Table(table.iter().map(|(name, (_, value))| (name.clone(), value.plain())).collect())
            }
        }
    }
}

/// Reads a document.
pub(super) fn parse(text: &str) -> Result<Value> {
    let table = DeTable::parse(text).map_err(|error| Error::Syntax {
        problem: error.message().trim().replace('\n', ", "),
        span: error.span().unwrap_or(0..0),
    })?;
    let span = table.span();
    convert_table(table.get_ref(), Place { origin: Origin::File, span })
}

/// Puts the value of `text`, a `key=value`, into the document. A value that is not TOML is taken as a string, so that
/// formulas need no second pair of quotes on a command line.
pub(super) fn set(root: &mut Value, text: &str, index: usize) -> Result<()> {
    let refuse = |problem: &str| Error::Override {
        text: text.into(),
        problem: problem.into(),
        hint: "for example discretization.points=20".into(),
    };
    let at = text.find('=').ok_or_else(|| refuse("an override has the form key=value"))?;
    let origin = Origin::Override(index);
    let key_place = Place { origin, span: 0..text[..at].trim_end().len() };
    let raw = text[at + 1..].trim();
    let start = text.len() - text[at + 1..].trim_start().len();
    let value = match DeValue::parse(raw) {
        Ok(value) => match convert(value.get_ref(), Place { origin, span: value.span() }) {
            Ok(value) => shifted(value, start),
            // Its place is in this text, not in the file.
            Err(error) => return Err(refuse(&error.to_string())),
        },
        Err(_) => Value { kind: Kind::String(raw.into()), place: Place { origin, span: start..start + raw.len() } },
    };
    put(root, &text[..at], (key_place, value), refuse)
}

/// Puts a value that is given, not written, into the document.
pub(super) fn set_given(root: &mut Value, key: &str, given: &Given, index: usize) -> Result<()> {
    let place = Place { origin: Origin::Override(index), span: 0..0 };
    let refuse = |problem: &str| Error::Override {
        text: key.into(),
        problem: problem.into(),
        hint: "for example discretization.points".into(),
    };
    put(root, key, (place.clone(), given.value(&place)), refuse)
}

/// Puts a value where a key with dots says.
fn put(root: &mut Value, key: &str, (key_place, value): (Place, Value), refuse: impl Fn(&str) -> Error) -> Result<()> {
    let names: Vec<&str> = key.split('.').map(str::trim).collect();
    let Some((last, tables)) = names.split_last().filter(|_| names.iter().all(|name| !name.is_empty())) else {
        return Err(refuse("the key is empty"));
    };
    if names.len() > DEEPEST {
        return Err(refuse(&format!("the key has {} parts, and no key has more than {DEEPEST}", names.len())));
    }
    let mut here = root;
    for name in tables {
        let table = match &mut here.kind {
            Kind::Table(table) => table,
            other => return Err(refuse(&format!("`{name}` would stand inside {}", other.name()))),
        };
        let fresh = || (key_place.clone(), Value { kind: Kind::Table(Table::new()), place: key_place.clone() });
        here = &mut table.entry((*name).into()).or_insert_with(fresh).1;
    }
    match &mut here.kind {
        Kind::Table(table) => table.insert((*last).into(), (key_place, value)),
        other => return Err(refuse(&format!("`{last}` would stand inside {}", other.name()))),
    };
    Ok(())
}

/// The deepest value on the way to `key`, for example `equation.diffusion[0][1]` or `domain.outline[2].arc.radius`, and
/// whether it is the whole way. `None` where not even the first step is there. Names of a user may hold dots and
/// brackets: of the names in a table the longest that fits is taken.
pub(super) fn find<'d>(root: &'d Value, key: &str) -> Option<(Found<'d>, bool)> {
    let (mut here, mut rest, mut found): (&Value, &str, Option<Found>) = (root, key, None);
    while !rest.is_empty() {
        let step = match &here.kind {
            Kind::Table(table) => {
                let after = |name: &str| rest.strip_prefix(name).filter(|r| r.is_empty() || r.starts_with(['.', '[']));
                let fitting = table.iter().filter_map(|(name, (key, value))| {
                    after(name).map(|left| (name.len(), Found { key, value }, left))
                });
                fitting.max_by_key(|(length, ..)| *length).map(|(_, found, left)| (found, left))
            }
            Kind::Array(items) => rest.strip_prefix('[').and_then(|r| r.split_once(']')).and_then(|(index, left)| {
                let value = items.get(index.parse::<usize>().ok()?)?;
                Some((Found { key: &value.place, value }, left))
            }),
            _ => None,
        };
        let Some((next, left)) = step else { return found.map(|found| (found, false)) };
        (here, rest, found) = (next.value, left.strip_prefix('.').unwrap_or(left), Some(next));
    }
    found.map(|found| (found, true))
}

/// A value of the document and the place of its key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found<'d> {
    pub key: &'d Place,
    pub value: &'d Value,
}

fn convert_table(table: &DeTable, place: Place) -> Result<Value> {
    let mut entries = Table::new();
    for (key, value) in table {
        let at = |span: Range<usize>| Place { origin: place.origin, span };
        entries.insert(key.get_ref().to_string(), (at(key.span()), convert(value.get_ref(), at(value.span()))?));
    }
    Ok(Value { kind: Kind::Table(entries), place })
}

fn convert_array(array: &DeArray, place: Place) -> Result<Value> {
    let item =
        |value: &toml::Spanned<DeValue>| convert(value.get_ref(), Place { origin: place.origin, span: value.span() });
    let items = array.iter().map(item).collect::<Result<_>>()?;
    Ok(Value { kind: Kind::Array(items), place })
}

fn convert(value: &DeValue, place: Place) -> Result<Value> {
    let too_large = |text: &str| Error::Syntax { problem: format!("{text} is too large"), span: place.span.clone() };
    let kind = match value {
        DeValue::String(text) => Kind::String(text.to_string()),
        DeValue::Integer(i) => {
            Kind::Integer(i64::from_str_radix(i.as_str(), i.radix()).map_err(|_| too_large(i.as_str()))?)
        }
        DeValue::Float(f) => Kind::Float(f.as_str().parse().map_err(|_| too_large(f.as_str()))?),
        DeValue::Boolean(b) => Kind::Boolean(*b),
        DeValue::Datetime(_) => Kind::Date,
        DeValue::Array(array) => return convert_array(array, place),
        DeValue::Table(table) => return convert_table(table, place),
    };
    Ok(Value { kind, place })
}

/// The value with all its places moved by `start` bytes.
fn shifted(mut value: Value, start: usize) -> Value {
    let shift = |place: &mut Place| place.span = place.span.start + start..place.span.end + start;
    shift(&mut value.place);
    value.kind = match value.kind {
        Kind::Array(items) => Kind::Array(items.into_iter().map(|item| shifted(item, start)).collect()),
        Kind::Table(table) => {
            let entries = table.into_iter().map(|(name, (mut key, value))| {
                shift(&mut key);
                (name, (key, shifted(value, start)))
            });
            Kind::Table(entries.collect())
        }
        kind => kind,
    };
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place<'t>(text: &'t str, root: &Value, key: &str) -> Option<&'t str> {
        find(root, key).map(|(found, _)| &text[found.value.place.span.clone()])
    }

    #[test]
    fn values_are_found_by_their_path() {
        let text = "a = 1\n[b]\nc = [[1, 'x'], [3.5, true]]\n";
        let root = parse(text).unwrap();
        assert_eq!(place(text, &root, "a"), Some("1"));
        assert_eq!(place(text, &root, "b.c[0][1]"), Some("'x'"));
        assert_eq!(place(text, &root, "b.c[1][5]"), Some("[3.5, true]"));
        assert_eq!(place(text, &root, "b.d"), Some("[b]"));
        assert_eq!(place(text, &root, "q.d"), None);
        assert!(!find(&root, "b.d").unwrap().1);
    }

    #[test]
    fn tables_in_arrays_are_found_and_names_with_dots() {
        let text =
            "outline = [{ line = 1 }, { arc = { radius = -1 } }]\n[[hole]]\na = 2\n[[hole]]\na = 3\n['b.c']\nd = 4\n";
        let root = parse(text).unwrap();
        assert_eq!(place(text, &root, "outline[1].arc.radius"), Some("-1"));
        assert_eq!(place(text, &root, "outline[1].arc.center"), Some("{ radius = -1 }"));
        assert_eq!(place(text, &root, "hole[1].a"), Some("3"));
        assert_eq!(place(text, &root, "hole[1].b"), Some("[[hole]]"));
        assert_eq!(place(text, &root, "b.c.d"), Some("4"));
        assert!(find(&root, "b.c.d").unwrap().1 && find(&root, "b").is_none());
    }

    #[test]
    fn overrides_replace_and_add() {
        let mut root = parse("[b]\nc = 1").unwrap();
        let texts = ["b.c=[2, 'z']", "e.f = sin(x)", "b.d=1e-3"];
        for (i, text) in texts.iter().enumerate() {
            set(&mut root, text, i).unwrap();
        }
        assert_eq!(place(texts[0], &root, "b.c[1]"), Some("'z'"));
        assert_eq!(place(texts[1], &root, "e.f"), Some("sin(x)"));
        let number = find(&root, "b.d").unwrap().0.value;
        assert!(matches!(number.kind, Kind::Float(v) if v == 1e-3));
        assert_eq!(number.place.origin, Origin::Override(2));
    }

    #[test]
    fn what_is_given_is_what_is_written() {
        let number = |v: f64| Given::Number(v);
        for (given, written) in [
            (Given::Text("sin(x)".into()), "'sin(x)'"),
            (Given::Whole(-3), "-3"),
            (number(1e-9), "1e-9"),
            (Given::Flag(true), "true"),
            (Given::List(vec![Given::Whole(1), number(0.5)]), "[1, 0.5]"),
            (
                Given::Table(vec![("a.b".into(), Given::List(vec![])), ("c".into(), number(1.0))]),
                "{'a.b' = [], c = 1.0}",
            ),
        ] {
            let [mut first, mut second] = [(); 2].map(|()| parse("[b]\nc = 1\n").unwrap());
            set_given(&mut first, "b.d", &given, 0).unwrap();
            set(&mut second, &format!("b.d={written}"), 0).unwrap();
            assert_eq!(first.plain(), second.plain());
        }
        let mut root = parse("[b]\nc = 1\n").unwrap();
        assert!(matches!(set_given(&mut root, "b.c.d", &Given::Whole(1), 0), Err(Error::Override { .. })));
        assert!(matches!(set_given(&mut root, "", &Given::Whole(1), 0), Err(Error::Override { .. })));
    }

    #[test]
    fn overrides_that_make_no_sense_are_refused() {
        let mut root = parse("a = 1").unwrap();
        let large = "b=999999999999999999999999999";
        let dots = format!("a{}=1", ".a".repeat(60_000));
        for text in ["a", "=1", "a.=1", "a.b=1", large, &dots] {
            let error = set(&mut root, text, 0).unwrap_err();
            assert!(matches!(error, Error::Override { .. }), "{text}: {error}");
        }
    }

    #[test]
    fn syntax_errors_have_a_place() {
        let Err(Error::Syntax { span, .. }) = parse("a = 1\nb = = 2\n") else { panic!("accepted") };
        assert!((10..12).contains(&span.start), "{span:?}");
    }
}
