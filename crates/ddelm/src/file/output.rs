//! `[output]`: numbers that are asked of the solution.

use super::document::Kind;
use super::section::{Fields, Section, unexpected};
use crate::base::error::Result;
use crate::domain::area::Domain;
use crate::problem::functional::Functional;

pub(super) const OUTPUT: &[&str] = &["integrals"];

/// The numbers of `[output] integrals = { name = "flux(wall)" }`, by name.
pub(super) fn functionals(root: &Section, names: &Fields, domain: &Domain) -> Result<Vec<(String, Functional)>> {
    let integrals = root.section("output", OUTPUT)?.open("integrals")?;
    let read = |name: &str| {
        let (key, value) = (integrals.key(name), integrals.get(name).expect("the name comes from the table"));
        let Kind::String(text) = &value.kind else {
            return Err(unexpected(&key, &value.kind, "a text", "for example \"flux(left)\" or \"integral(u)\""));
        };
        Ok((name.to_string(), Functional::parse(&key, text, names, domain.parts(), domain.regions())?))
    };
    integrals.names().map(read).collect()
}
