//! `[boundary]`: conditions on the parts of the boundary, periodic sides, and the mean.

use super::document::{Kind, Value};
use super::section::{Fields, Section, list, pair, shown, text, unexpected, with_solution};
use crate::base::error::{Error, Result};
use crate::domain::area::Domain;
use crate::problem::expression::nearest;
use crate::problem::field::{FieldRef, constant};
use crate::problem::model::{Condition, SIDES};

/// The keys of a condition.
pub(super) const CONDITION: &[&str] = &["dirichlet", "neumann", "robin", "laplacian", "normal"];
pub(super) const ROBIN: &[&str] = &["coefficient", "value"];
/// The keys of `[boundary]` beside those of a condition and the names of parts.
pub(super) const WHOLE: &[&str] = &["periodic", "mean"];
/// The keys of `[[boundary.left.part]]` beside those of a condition.
pub(super) const PART: &[&str] = &["from", "to", "name"];

/// The name of a part of the boundary, which becomes a key below `[boundary]` and must not be another one.
pub(super) fn part_name(key: &str, name: &str) -> Result<String> {
    if name.is_empty() || CONDITION.iter().chain(WHOLE).any(|word| *word == name) {
        let problem = "[boundary] needs this word for something else";
        let problem = if name.is_empty() { "the name is empty" } else { problem };
        return Err(Error::input(key, format!("\"{name}\""), problem, "choose another name, for example \"wall\""));
    }
    Ok(name.into())
}

/// A part of a side of a rectangle that has its own condition.
pub(super) struct SidePart<'d> {
    /// The side.
    pub side: usize,
    /// Its name: its own, or that of the side with a number.
    pub name: String,
    /// From where to where, along the side.
    pub interval: [f64; 2],
    /// Its table.
    pub section: Section<'d>,
}

/// The parts of the sides of a rectangle, `[[boundary.left.part]]`, before anybody knows whether the domain is one.
pub(super) fn side_parts<'d>(root: &Section<'d>) -> Result<Vec<SidePart<'d>>> {
    let boundary = root.open("boundary")?;
    let keys: Vec<&str> = [CONDITION, PART].concat();
    let mut parts = Vec::new();
    for (side, side_name) in SIDES.iter().enumerate() {
        for (k, section) in boundary.open(side_name)?.sections("part", &keys)?.into_iter().enumerate() {
            let end = |name: &str| -> Result<f64> {
                let hint = "from and to along the side, for example from = 0.2, to = 0.5";
                section.number(name)?.ok_or_else(|| section.missing(name, hint))
            };
            let interval = [end("from")?, end("to")?];
            let default = || format!("{side_name}-{}", k + 1);
            let name = section.text("name")?;
            let name = name.map_or_else(|| Ok(default()), |name| part_name(&section.key("name"), name))?;
            parts.push(SidePart { side, name, interval, section });
        }
    }
    Ok(parts)
}

/// The domain with its periodic sides.
pub(super) fn with_periodic_sides(root: &Section, domain: Domain) -> Result<Domain> {
    let boundary = root.open("boundary")?;
    let Some(value) = boundary.get("periodic") else { return Ok(domain) };
    let key = boundary.key("periodic");
    let side = |key: &str, value: &Value| -> Result<usize> {
        let name = text(key, value)?;
        domain.side(name).ok_or_else(|| {
            let hint = match nearest(name, domain.sides().iter().map(String::as_str)) {
                Some(known) => format!("did you mean \"{known}\"?"),
                None => format!("one of {}", domain.sides().join(", ")),
            };
            Error::input(key, shown(&value.kind), "there is no such side", hint)
        })
    };
    let direction = |key: &str, value: &Value, names: [&str; 2]| -> Result<(usize, usize)> {
        match names.map(|name| domain.side(name)) {
            [Some(a), Some(b)] => Ok((a, b)),
            _ => {
                let hint = "name a pair of sides: [[\"inlet\", \"outlet\"]]";
                let problem = format!("the domain has no sides {} and {}", names[0], names[1]);
                Err(Error::input(key, shown(&value.kind), problem, hint))
            }
        }
    };
    let example = "[\"x\"], [\"x\", \"y\"] or [[\"left\", \"right\"]]";
    let [left, right, bottom, top] = SIDES;
    let one = |key: &str, value: &Value| match &value.kind {
        Kind::String(name) if name == "x" => direction(key, value, [left, right]),
        Kind::String(name) if name == "y" => direction(key, value, [bottom, top]),
        Kind::Array(_) => pair(key, value, "[\"left\", \"right\"]", side).map(|[a, b]| (a, b)),
        other => Err(unexpected(key, other, "\"x\", \"y\" or a pair of sides", &format!("for example {example}"))),
    };
    let pairs = list(&key, value, example, one)?;
    domain.clone().periodic(&pairs)
}

/// The condition on every part of the boundary: its own, that of the side that it is a part of, or that of the whole
/// boundary, with as many values as the equation has transmission pairs. And the mean.
pub(super) fn conditions(
    root: &Section,
    fields: &Fields,
    domain: &Domain,
    side_parts: &[SidePart],
    pairs: usize,
) -> Result<(Vec<Condition>, Option<f64>)> {
    if let Some(name) =
        domain.sides().iter().find(|name| CONDITION.contains(&name.as_str()) || WHOLE.contains(&name.as_str()))
    {
        let hint = "give the side another name";
        return Err(Error::input(
            "domain",
            format!("\"{name}\""),
            "[boundary] has another meaning for this name",
            hint,
        ));
    }
    let names = domain.sides().iter().map(String::as_str);
    // A side that has parts is a table even if nothing is left of it.
    let divided = side_parts.iter().map(|part| SIDES[part.side]);
    let keys: Vec<&str> = CONDITION.iter().chain(WHOLE).copied().chain(names).chain(divided).collect();
    let boundary = root.section("boundary", &keys)?;
    check_periodic(&boundary, domain)?;
    let whole = condition(&boundary, fields, pairs)?;
    let on_side = |name: &str| -> Result<Option<Condition>> {
        let divided = side_parts.iter().any(|part| SIDES[part.side] == name);
        let keys: Vec<&str> = CONDITION.iter().copied().chain(divided.then_some("part")).collect();
        condition(&boundary.section(name, &keys)?, fields, pairs)
    };
    let on_part = |name: &String| -> Result<Condition> {
        let own = match side_parts.iter().find(|part| part.name == *name) {
            Some(part) => match condition(&part.section, fields, pairs)? {
                Some(own) => Some(own),
                None => on_side(SIDES[part.side])?,
            },
            None => on_side(name)?,
        };
        own.or_else(|| whole.clone()).ok_or_else(|| match boundary.is_given() {
            true => boundary.missing(name, "every side needs a condition; give one in [boundary] for all sides"),
            false => root.missing("boundary", "add [boundary] with dirichlet, neumann or robin"),
        })
    };
    let conditions = domain.parts().iter().map(on_part).collect::<Result<_>>()?;
    Ok((conditions, boundary.number("mean")?))
}

/// Refuses a condition on a periodic side.
fn check_periodic(boundary: &Section, domain: &Domain) -> Result<()> {
    let pairs = domain.periodic_sides();
    match pairs.iter().flatten().find(|name| boundary.has(name)) {
        None => Ok(()),
        Some(name) => {
            let hint = "leave its condition out, or the side out of periodic";
            Err(Error::input(boundary.key(name), "...", "a periodic side has no condition", hint))
        }
    }
}

/// The condition in a table, if there is one.
fn condition(section: &Section, fields: &Fields, pairs: usize) -> Result<Option<Condition>> {
    let given: Vec<&str> = CONDITION.iter().copied().filter(|name| section.has(name)).collect();
    let value = |name: &str| -> Result<FieldRef> { Ok(section.field(name, fields)?.unwrap_or_else(|| constant(0.0))) };
    let found = match (&given[..], pairs) {
        ([], _) => None,
        (["dirichlet"], 1) => Some(Condition::dirichlet(value("dirichlet")?)),
        (["neumann"], 1) => {
            let flux = section.field("neumann", &with_solution(fields))?;
            flux.map(Condition::neumann)
        }
        (["robin"], 1) => {
            let with_u = with_solution(fields);
            let robin = section.section("robin", ROBIN)?;
            let part = |name: &str| -> Result<FieldRef> {
                robin
                    .field(name, &with_u)?
                    .ok_or_else(|| robin.missing(name, "robin = { coefficient = \"1\", value = \"0\" }"))
            };
            Some(Condition::robin(part("coefficient")?, part("value")?))
        }
        (["dirichlet", "laplacian"], 2) => Some(Condition::simply_supported(value("dirichlet")?, value("laplacian")?)),
        (["dirichlet", "normal"], 2) => Some(Condition::clamped(value("dirichlet")?, value("normal")?)),
        ([.., last], _) => {
            let (problem, hint) = if pairs == 2 {
                (
                    "a plate needs two conditions",
                    "give dirichlet and laplacian (supported), or dirichlet and normal (clamped)",
                )
            } else {
                ("an equation of second order needs one condition", "give one of dirichlet, neumann and robin")
            };
            return Err(Error::input(section.key(last), format!("({})", given.join(" and ")), problem, hint));
        }
    };
    Ok(found)
}

#[cfg(test)]
#[path = "boundary_tests.rs"]
mod tests;
