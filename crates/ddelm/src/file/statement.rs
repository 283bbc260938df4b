//! What a problem file states, key by key, to tell whether two files state the same.

use std::collections::BTreeMap;

use super::ProblemFile;
use super::document::{Kind, Value};
use crate::base::error::Result;

/// The tables that say what is to be solved. All others say how.
const WHAT: &[&str] = &["domain", "equation", "boundary", "parameters", "functions", "fields"];

/// The keys of `[time]` that do so; its others are about steps.
const WHEN: &[&str] = &["start", "end", "initial"];

/// Keys with these values might as well not be there.
const DEFAULTS: &[(&str, &str)] = &[
    ("equation.diffusion", "1"),
    ("equation.advection", "[0, 0]"),
    ("equation.reaction", "0"),
    ("equation.source", "0"),
    ("time.start", "0"),
];

impl ProblemFile {
    /// The keys that say what is to be solved, each with its value. Data files are named, not opened; the exact solution and whatever
    /// says how to solve are left out. `1`, `1.0` and `"1"` are the same.
    pub fn statement(&self) -> Result<BTreeMap<String, String>> {
        let mut found = BTreeMap::new();
        let Kind::Table(root) = self.document()?.kind else { return Ok(found) };
        for (name, (_, value)) in &root {
            match &value.kind {
                Kind::Table(table) if name == "time" => {
                    let those = table.iter().filter(|(key, _)| WHEN.contains(&key.as_str()));
                    those.for_each(|(key, (_, value))| flatten(format!("time.{key}"), value, &mut found));
                }
                _ if WHAT.contains(&name.as_str()) => flatten(name.clone(), value, &mut found),
                _ => {}
            }
        }
        found.retain(|key, value| !DEFAULTS.contains(&(key.as_str(), value.as_str())));
        Ok(found)
    }
}

/// Puts the values of a table one by one under their keys.
fn flatten(key: String, value: &Value, found: &mut BTreeMap<String, String>) {
    match &value.kind {
        Kind::Table(table) => {
            table.iter().for_each(|(name, (_, value))| flatten(format!("{key}.{name}"), value, found))
        }
        _ => {
            found.insert(key, written(value));
        }
    }
}

/// A value in one way, however it was written.
fn written(value: &Value) -> String {
    let number =
        |text: &str| text.trim().parse::<f64>().map_or_else(|_| text.trim().into(), |number| number.to_string());
    match &value.kind {
        Kind::Array(items) => format!("[{}]", items.iter().map(written).collect::<Vec<_>>().join(", ")),
        Kind::String(text) => number(text),
        _ => number(&value.plain().to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_same_however_they_are_written() {
        let text = "preset = \"paper\"\n[equation]\nsource = 1\n[domain]\nx = [0, 1.0]\n[network]\nseed = 3\n\
                    [time]\nend = 2\nsteps = 7\n";
        let one = ProblemFile::new(text).statement().unwrap();
        let other = ProblemFile::new(text).set("equation.source=\"1.0\"").set("domain.x=[0.0, 1]").set("time.steps=9");
        let other = other.set("equation.reaction=0.0").set("equation.diffusion=1").set("time.start=0");
        assert_eq!(one, other.statement().unwrap());
        assert_eq!(one.keys().collect::<Vec<_>>(), ["domain.x", "equation.source", "time.end"]);
        let changed = ProblemFile::new(text).set("parameters.k=2").statement().unwrap();
        assert_eq!(changed["parameters.k"], "2");
    }
}
