//! The boundary value problem of a file: `[equation]` and `[exact]`, with the conditions of `[boundary]`.

use super::boundary::{self, SidePart};
use super::document::Value;
use super::regions::with_regions;
use super::section::{Fields, Section, diffusion, field, with_solution};
use crate::base::error::{Error, Result};
use crate::domain::area::Domain;
use crate::problem::field::{FieldRef, constant};
use crate::problem::model::{Diffusion, Equation, Problem};

pub(super) const EQUATION: &[&str] = &["diffusion", "advection", "reaction", "source", "plate", "regions"];
pub(super) const PLATE: &[&str] = &["load", "rigidity"];
pub(super) const EXACT: &[&str] = &["u"];

/// Reads the problem on a domain.
pub(super) fn problem(root: &Section, fields: &Fields, domain: &Domain, side_parts: &[SidePart]) -> Result<Problem> {
    let section = root.section("equation", EQUATION)?;
    // Eigenvalues have no source, and heat may spread without one.
    let default = (root.has("eigenvalues") || root.has("time")).then(|| constant(0.0));
    let with_u = with_solution(fields);
    let (equation, source) = if section.has("plate") {
        plate(&section, fields, default)?
    } else {
        second_order(&section, &with_u, default)?
    };
    let (equation, source) = with_regions(&section, &with_u, domain.regions(), equation, source)?;
    let (conditions, mean) = boundary::conditions(root, fields, domain, side_parts, equation.pairs())?;
    let exact = root.section("exact", EXACT)?.field("u", fields)?;
    Ok(Problem { equation, source, conditions, mean, exact })
}

fn plate(section: &Section, fields: &Fields, default: Option<FieldRef>) -> Result<(Equation, FieldRef)> {
    if let Some(other) = section.names().find(|name| *name != "plate") {
        return Err(Error::input(
            section.key(other),
            "...",
            "it does not belong to a plate",
            "give either plate, or diffusion, advection, reaction and source",
        ));
    }
    let plate = section.section("plate", PLATE)?;
    let load =
        plate.field("load", fields)?.or(default).ok_or_else(|| plate.missing("load", "the right-hand side q"))?;
    let rigidity = plate.field("rigidity", fields)?.unwrap_or_else(|| constant(1.0));
    Ok((Equation::plate(rigidity), load))
}

fn second_order(section: &Section, fields: &Fields, default: Option<FieldRef>) -> Result<(Equation, FieldRef)> {
    let source = section.field("source", fields)?.or(default).ok_or_else(|| {
        section.missing("source", "give the right-hand side, for example source = \"1\", or plate = { load = \"1\" }")
    })?;
    let scalar_or_tensor = |value: &Value| diffusion(&section.key("diffusion"), value, fields);
    let diffusion = section.get("diffusion").map(scalar_or_tensor).transpose()?;
    let is_zero = |field: &FieldRef| field.constant() == Some(0.0);
    let advection = section.pair("advection", "[\"1\", \"0\"]", |key, value| field(key, value, fields))?;
    let diffusion = diffusion.unwrap_or_else(|| Diffusion::Scalar(constant(1.0)));
    let advection = advection.filter(|b| !b.iter().all(is_zero));
    let reaction = section.field("reaction", fields)?.filter(|c| !is_zero(c));
    Ok((Equation::second_order(diffusion, advection, reaction), source))
}
