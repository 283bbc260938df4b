//! `[fields]`: random fields that formulas may call by name.

use std::path::Path;
use std::sync::Arc;

use super::section::{Fields, Section};
use crate::error::{Error, Result};
use crate::expression::is_reserved;
use crate::random_field::RandomField;

const FIELD: &[&str] = &["alpha", "modes", "seed", "file"];

/// Modes of the paper's random fields.
const MODES: usize = 256;

/// Reads the fields. Files are relative to `directory`.
pub(super) fn fields(root: &Section, names: &[&str], directory: &Path) -> Result<Fields> {
    let section = root.section("fields", names)?;
    let mut fields = Fields::new();
    for &name in names {
        if is_reserved(name) {
            let problem = "formulas have another meaning for this name";
            return Err(Error::input(section.key(name), "...", problem, "choose another name, for example grf"));
        }
        let field = section.section(name, FIELD)?;
        let at = |error: Error| match error {
            Error::Input { key, value, problem, hint } => Error::Input { key: field.key(&key), value, problem, hint },
            other => other,
        };
        let drawn = match field.text("file")? {
            Some(file) => RandomField::load(directory.join(file))?,
            None => {
                let alpha = field.number("alpha")?;
                let alpha = alpha.ok_or_else(|| field.missing("alpha", "the paper takes 16 and 32; or give file"))?;
                let (modes, seed) = (field.whole("modes")?.unwrap_or(MODES), field.whole("seed")?.unwrap_or(0));
                RandomField::new(alpha, modes, seed as u64).map_err(at)?
            }
        };
        fields.insert(name.into(), Arc::new(drawn));
    }
    Ok(fields)
}
