//! The boundary value problem of a file: `[equation]`, `[boundary]`, `[exact]`.

use super::document::{Kind, Value};
use super::section::{Fields, Section, field, pair, unexpected};
use crate::error::{Error, Result};
use crate::field::{FieldRef, constant};
use crate::problem::{Condition, Diffusion, Equation, Problem};

const EQUATION: &[&str] = &["diffusion", "advection", "reaction", "source", "plate"];
const PLATE: &[&str] = &["load", "rigidity"];
const CONDITION: &[&str] = &["dirichlet", "neumann", "robin", "laplacian", "normal"];
const BOUNDARY: &[&str] = &["dirichlet", "neumann", "robin", "laplacian", "normal", "left", "right", "bottom", "top"];
const ROBIN: &[&str] = &["coefficient", "value"];

/// The sides of the rectangle, in the order of the parts of its boundary.
pub(super) const SIDES: [&str; 4] = ["left", "right", "bottom", "top"];

/// Reads the problem.
pub(super) fn problem(root: &Section, fields: &Fields) -> Result<Problem> {
    let section = root.section("equation", EQUATION)?;
    let (equation, source) =
        if section.has("plate") { plate(&section, fields)? } else { second_order(&section, fields)? };
    let conditions = conditions(root, fields, matches!(equation, Equation::Plate { .. }))?;
    let exact = root.section("exact", &["u"])?.field("u", fields)?;
    Ok(Problem { equation, source, conditions, exact })
}

fn plate(section: &Section, fields: &Fields) -> Result<(Equation, FieldRef)> {
    if let Some(other) = section.names().find(|name| *name != "plate") {
        return Err(Error::input(
            section.key(other),
            "...",
            "it does not belong to a plate",
            "give either plate, or diffusion, advection, reaction and source",
        ));
    }
    let plate = section.section("plate", PLATE)?;
    let load = plate.field("load", fields)?.ok_or_else(|| plate.missing("load", "the right-hand side q"))?;
    let rigidity = plate.field("rigidity", fields)?.unwrap_or_else(|| constant(1.0));
    Ok((Equation::Plate { rigidity }, load))
}

fn second_order(section: &Section, fields: &Fields) -> Result<(Equation, FieldRef)> {
    let source = section.field("source", fields)?.ok_or_else(|| {
        section.missing("source", "give the right-hand side, for example source = \"1\", or plate = { load = \"1\" }")
    })?;
    let scalar_or_tensor = |value: &Value| diffusion(&section.key("diffusion"), value, fields);
    let diffusion = section.get("diffusion").map(scalar_or_tensor).transpose()?;
    let is_zero = |field: &FieldRef| field.constant() == Some(0.0);
    let advection = section.pair("advection", "[\"1\", \"0\"]", |key, value| field(key, value, fields))?;
    let equation = Equation::SecondOrder {
        diffusion: diffusion.unwrap_or_else(|| Diffusion::Scalar(constant(1.0))),
        advection: advection.filter(|b| !b.iter().all(is_zero)),
        reaction: section.field("reaction", fields)?.filter(|c| !is_zero(c)),
    };
    Ok((equation, source))
}

fn diffusion(key: &str, value: &Value, fields: &Fields) -> Result<Diffusion> {
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

/// The condition on every side: its own, or that of the whole boundary.
fn conditions(root: &Section, fields: &Fields, plate: bool) -> Result<Vec<Condition>> {
    let boundary = root.section("boundary", BOUNDARY)?;
    let whole = condition(&boundary, fields, plate)?;
    let on_side = |side: &&str| -> Result<Condition> {
        let section = boundary.section(side, CONDITION)?;
        let own = condition(&section, fields, plate)?;
        own.or_else(|| whole.clone()).ok_or_else(|| match boundary.is_given() {
            true => boundary.missing(side, "every side needs a condition; give one in [boundary] for all sides"),
            false => root.missing("boundary", "add [boundary] with dirichlet, neumann or robin"),
        })
    };
    SIDES.iter().map(on_side).collect()
}

/// The condition in a table, if there is one.
fn condition(section: &Section, fields: &Fields, plate: bool) -> Result<Option<Condition>> {
    let given: Vec<&str> = CONDITION.iter().copied().filter(|name| section.has(name)).collect();
    let value = |name: &str| -> Result<FieldRef> { Ok(section.field(name, fields)?.unwrap_or_else(|| constant(0.0))) };
    let found = match (&given[..], plate) {
        ([], _) => None,
        (["dirichlet"], false) => Some(Condition::dirichlet(value("dirichlet")?)),
        (["neumann"], false) => Some(Condition::neumann(value("neumann")?)),
        (["robin"], false) => {
            let robin = section.section("robin", ROBIN)?;
            let part = |name: &str| -> Result<FieldRef> {
                robin
                    .field(name, fields)?
                    .ok_or_else(|| robin.missing(name, "robin = { coefficient = \"1\", value = \"0\" }"))
            };
            Some(Condition::robin(part("coefficient")?, part("value")?))
        }
        (["dirichlet", "laplacian"], true) => {
            Some(Condition::simply_supported(value("dirichlet")?, value("laplacian")?))
        }
        (["dirichlet", "normal"], true) => Some(Condition::clamped(value("dirichlet")?, value("normal")?)),
        ([.., last], _) => {
            let (problem, hint) = if plate {
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
