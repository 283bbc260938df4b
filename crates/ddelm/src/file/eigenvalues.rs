//! `[eigenvalues]`: how many, and near which number.

use super::section::Section;
use crate::base::error::Result;
use crate::solve::eigenvalues::Eigenvalues;

pub(super) const EIGENVALUES: &[&str] = &["count", "near"];

/// Reads the table, if it is there.
pub(super) fn eigenvalues(root: &Section) -> Result<Option<Eigenvalues>> {
    let section = root.section("eigenvalues", EIGENVALUES)?;
    if !section.is_given() {
        return Ok(None);
    }
    let count = section.whole("count")?.ok_or_else(|| section.missing("count", "for example count = 10"))?;
    Ok(Some(Eigenvalues { count, near: section.number("near")?.unwrap_or(0.0) }))
}
