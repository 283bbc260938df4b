//! Numbers that are asked of a solution: integrals, fluxes through the boundary, extreme values.
//!
//! ```text
//! integral(FORMULA)           over the domain; the formula may use u, ux, uy beside x, y and parameters
//! integral(FORMULA, REGION)   over a region
//! flux(PART)                  int n . a grad u over a part of the boundary
//! max(u), min(u)              extreme values
//! ```

use std::sync::Arc;

use crate::base::error::{Error, Result};
use crate::problem::expression::{Formula, Names, Variables, nearest};
use crate::problem::field::FieldRef;

/// A number that is asked of a solution.
#[derive(Clone)]
pub enum Functional {
    /// The integral of a field that may depend on u and its gradient.
    Integral {
        /// The field.
        field: FieldRef,
        /// The region, as a number; `None` is the domain.
        region: Option<usize>,
    },
    /// What flows out through a part of the boundary, as a number: the integral of the conormal flux.
    Flux(usize),
    /// The largest value of u.
    Max,
    /// The smallest value of u.
    Min,
}

impl Functional {
    /// Reads a functional. The parts of the boundary and the regions have these names; `key` is the setting that errors name.
    pub fn parse(key: &str, text: &str, names: &Names, parts: &[String], regions: &[String]) -> Result<Self> {
        let inside = |word: &str| text.trim().strip_prefix(word)?.trim().strip_prefix('(')?.strip_suffix(')');
        let unknown = |name: &str, what: &str, known: &[String]| {
            let hint = match nearest(name, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known: {}", known.join(", ")),
            };
            Error::input(key, text, format!("there is no {what} `{name}`"), hint)
        };
        let number = |name: &str, what: &str, known: &[String]| {
            known.iter().position(|k| k == name).ok_or_else(|| unknown(name, what, known))
        };
        if let Some(part) = inside("flux") {
            return number(part.trim().trim_matches(['"', '\'']), "part of the boundary", parts).map(Functional::Flux);
        }
        if let Some(formula) = inside("integral") {
            let (formula, region) = match split_last(formula) {
                Some((formula, region)) => (formula, Some(number(region, "region", regions)?)),
                None => (formula, None),
            };
            let names = names.with_variables(Variables { state: true, ..names.variables() });
            let parsed = Formula::parse_in(formula.trim(), &names);
            let field = parsed.map_err(|error| Error::Formula { key: key.into(), error })?;
            return Ok(Functional::Integral { field: Arc::new(field), region });
        }
        match text.trim() {
            "max(u)" => Ok(Functional::Max),
            "min(u)" => Ok(Functional::Min),
            _ => Err(Error::input(
                key,
                text,
                "it is no number that can be asked of a solution",
                "write integral(u), integral(u^2, region), flux(part), max(u) or min(u)",
            )),
        }
    }
}

/// What stands before and after the last comma outside of parentheses.
fn split_last(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0i32;
    let mut last = None;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => last = Some(at),
            _ => {}
        }
    }
    last.map(|at| (&text[..at], text[at + 1..].trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Functional> {
        let (parts, regions) = (["wall".to_string(), "hole".into()], ["steel".to_string()]);
        Functional::parse("output.integrals.a", text, &Names::default(), &parts, &regions)
    }

    #[test]
    fn words_are_read_and_mistakes_named() {
        assert!(matches!(parse("flux(hole)"), Ok(Functional::Flux(1))));
        assert!(matches!(parse("max(u)"), Ok(Functional::Max)));
        assert!(matches!(parse("integral(min(u, 1)*x)"), Ok(Functional::Integral { region: None, .. })));
        assert!(matches!(parse(" integral( u , steel )"), Ok(Functional::Integral { region: Some(0), .. })));
        let message = |text: &str| parse(text).err().expect("a mistake").to_string();
        assert!(message("flux(wal)").contains("no part of the boundary `wal`"));
        assert!(message("integral(u, iron)").contains("no region `iron`"));
        assert!(message("integral(v)").contains("unknown name `v`"));
        assert!(message("mean(u)").contains("no number"));
    }
}
