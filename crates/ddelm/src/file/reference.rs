//! The reference of problem files: every key, what it takes, what it is unless given, and what it means.
//!
//! The names are those that the reader knows, from its own lists; the texts stand in `reference.txt`. A key without a text fails a test, so
//! that the reference cannot fall behind the reader.

use serde::Serialize;

use super::{ROOT, boundary, choices, domain, eigenvalues, equation, names, nonlinear, output, regions, time};

/// A table of a problem file.
#[derive(Debug, Clone, Serialize)]
pub struct Table {
    /// Its path: `discretization`; empty for the top of the file. `NAME` stands for a name of the user's.
    pub path: &'static str,
    /// Whether there may be several of them, in double brackets: `[[domain.hole]]`.
    pub several: bool,
    /// How its keys go together; empty where each stands for itself.
    pub about: &'static str,
    /// Its keys. Tables inside of it are tables of their own.
    pub keys: Vec<Key>,
}

/// A key of a problem file.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub value: &'static str,
    /// What it is unless given; empty where it must be, or means nothing.
    pub default: &'static str,
    /// What it means.
    pub about: &'static str,
}

/// The lists of the reader, by the path of their table. A list that is missing here is missing in the reference.
const LISTS: &[(&str, &[&str])] = &[
    ("", ROOT),
    ("domain", domain::DOMAIN),
    ("domain.circle", domain::CIRCLE),
    ("domain.ellipse", domain::ELLIPSE),
    ("domain.outline", domain::PIECE),
    ("domain.outline.arc", domain::ARC),
    ("domain.hole", domain::INNER),
    ("domain.region", domain::INNER),
    ("equation", equation::EQUATION),
    ("equation.plate", equation::PLATE),
    ("equation.regions.NAME", regions::REGION),
    ("boundary", boundary::WHOLE),
    ("boundary.NAME", boundary::CONDITION),
    ("boundary.NAME.robin", boundary::ROBIN),
    ("boundary.SIDE.part", boundary::PART),
    ("exact", equation::EXACT),
    ("discretization", choices::DISCRETIZATION),
    ("network", choices::NETWORK),
    ("interface", choices::INTERFACE),
    ("nonlinear", nonlinear::NONLINEAR),
    ("nonlinear.continuation", nonlinear::CONTINUATION),
    ("parameters", &["NAME"]),
    ("functions", &["NAME"]),
    ("fields.NAME", names::FIELD),
    ("output", output::OUTPUT),
    ("eigenvalues", eigenvalues::EIGENVALUES),
    ("time", time::TIME),
];

/// The texts: each table with how its keys go together, and below it those that are no tables of their own.
const TEXTS: &str = include_str!("reference.txt");

/// Every table of a problem file with its keys, in the order of the reader's lists.
pub fn reference() -> Vec<Table> {
    let ordered = |&(path, names): &(&'static str, &[&str])| {
        let mut table = texts().find(|table| table.path == path).expect("every list has its table");
        table.keys.sort_by_key(|key| names.iter().position(|name| *name == key.name));
        table
    };
    LISTS.iter().map(ordered).collect()
}

/// The tables as their texts are written.
fn texts() -> impl Iterator<Item = Table> {
    TEXTS.split("\n\n").map(|text| {
        let (head, keys) = text.split_once('\n').expect("keys below their table");
        let (path, about) = head.trim_start_matches('[').split_once(']').expect("a table in brackets");
        let key = |line: &'static str| {
            let mut cells = line.split('|').map(str::trim);
            let [name, value, default, about] = [(); 4].map(|()| cells.next().expect("four cells"));
            Key { name, value, default, about }
        };
        Table {
            path,
            several: head.starts_with("[["),
            about: about.trim_start_matches(']').trim(),
            keys: keys.lines().map(key).collect(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a key of a table is a table of its own.
    fn is_table(path: &str, name: &str) -> bool {
        let inside = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        LISTS.iter().any(|(other, _)| *other == inside || other.strip_suffix(".NAME") == Some(&inside))
    }

    #[test]
    fn every_key_that_the_reader_knows_has_a_text_and_no_other() {
        assert_eq!(texts().count(), LISTS.len());
        for (table, (path, names)) in reference().iter().zip(LISTS) {
            let known: Vec<&str> = names.iter().filter(|name| !is_table(path, name)).copied().collect();
            let texts: Vec<&str> = table.keys.iter().map(|key| key.name).collect();
            assert_eq!(texts, known, "[{path}]: the keys of file/reference.txt are others");
        }
    }
}
