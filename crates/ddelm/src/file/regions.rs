//! `[equation.regions.NAME]`: coefficients and sources of their own in the regions of the domain.

use super::section::{Fields, Section, diffusion, field};
use crate::base::error::{Error, Result};
use crate::problem::field::FieldRef;
use crate::problem::materials::Materials;
use crate::problem::model::Equation;

pub(super) const REGION: &[&str] = &["diffusion", "advection", "reaction", "source"];

/// The equation and the source with what the regions, of these names, say on top of it.
pub(super) fn with_regions(
    section: &Section,
    fields: &Fields,
    names: &[String],
    equation: Equation,
    source: FieldRef,
) -> Result<(Equation, FieldRef)> {
    if let (Some(name), true) = (section.open("regions")?.names().next(), names.is_empty()) {
        let hint = format!("the domain has no regions; add [[domain.region]] with name = \"{name}\"");
        return Err(Error::UnknownKey { key: format!("{}.{name}", section.key("regions")), hint });
    }
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let regions = section.section("regions", &known)?;
    let mut own = Materials::default();
    for (region, name) in names.iter().enumerate() {
        let section = regions.section(name, REGION)?;
        if let Some(value) = section.get("diffusion") {
            own.diffusion.insert(region, diffusion(&section.key("diffusion"), value, fields)?);
        }
        if let Some(b) = section.pair("advection", "[\"1\", \"0\"]", |key, value| field(key, value, fields))? {
            own.advection.insert(region, b);
        }
        own.reaction.extend(section.field("reaction", fields)?.map(|c| (region, c)));
        own.source.extend(section.field("source", fields)?.map(|f| (region, f)));
    }
    Ok(own.apply(equation, source, names))
}

#[cfg(test)]
#[path = "regions_tests.rs"]
mod tests;
