//! Formulas in x and y, with values and gradients: how problems are written in files.
//!
//! A formula such as `(4*pi^2 - 1)*sin(2*pi*x)*exp(y)` is read once into a tape of operations, which then runs on
//! blocks of points. The language is that of mathematics and NumPy:
//!
//! - numbers (`1`, `.5`, `1e-3`), the variables `x` and `y`, the constants `pi` and `e`;
//! - `+ - * /`, powers `^` or `**`, parentheses. -x^2 is -(x^2), 2^3^2 is 2^(3^2), and 2^-1 is 1/2. A product needs
//!   its `*`;
//! - `sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh` (also as `arcsin` and so on), `exp exp2 expm1`,
//!   `log` (natural, also `ln`) `log2 log10 log1p`, `sqrt cbrt abs sign floor ceil round erf erfc`, and `step`, which
//!   is 0 below 0 and 1 otherwise;
//! - `atan2(y, x)`, `hypot(a, b)`, `min(a, b)`, `max(a, b)`, `mod(a, b)` with the sign of b, `pow(a, b)`;
//! - fields given by name, such as a random field `grf(x, y)`, at any point: `grf(2*x, 1 - y)`.
//!
//! ```
//! # use ddelm::expression::Formula;
//! # use ddelm::field::Field;
//! let formula = Formula::parse("x^2 * sin(pi*y)")?;
//! let (x, y) = ([1.0, 3.0], [0.5, 1.5]);
//! let mut values = [0.0; 2];
//! formula.values(&x, &y, &mut values).unwrap();
//! assert_eq!(values, [1.0, -9.0]);
//!
//! let error = Formula::parse("2*sine(x)").unwrap_err();
//! assert_eq!(error.to_string(), "unknown name `sine` (column 3)");
//! assert_eq!(error.hint.as_deref(), Some("did you mean `sin`?"));
//! # Ok::<(), ddelm::expression::FormulaError>(())
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::field::{Failure, Field, FieldRef};

mod function;
mod parse;
mod spelling;
mod tape;

pub use spelling::nearest;

/// A formula in x and y.
#[derive(Clone)]
pub struct Formula {
    text: String,
    tape: tape::Tape,
}

impl Formula {
    /// Reads a formula.
    pub fn parse(text: &str) -> Result<Self, FormulaError> {
        Self::parse_with(text, &BTreeMap::new())
    }

    /// Reads a formula that may call `fields` by name. A field cannot replace what the language has by that name;
    /// see [`is_reserved`].
    pub fn parse_with(text: &str, fields: &BTreeMap<String, FieldRef>) -> Result<Self, FormulaError> {
        Ok(Self { text: text.trim().into(), tape: parse::parse(text, fields)? })
    }

    /// The formula as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl FromStr for Formula {
    type Err = FormulaError;

    fn from_str(text: &str) -> Result<Self, FormulaError> {
        Self::parse(text)
    }
}

impl fmt::Debug for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Formula").field(&self.text).finish()
    }
}

impl Field for Formula {
    fn values(&self, x: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), Failure> {
        self.tape.values(x, y, out)
    }

    fn gradients(&self, x: &[f64], y: &[f64], dx: &mut [f64], dy: &mut [f64]) -> Result<bool, Failure> {
        self.tape.gradients(x, y, dx, dy)
    }

    fn constant(&self) -> Option<f64> {
        self.tape.constant()
    }

    fn describe(&self) -> String {
        self.text.clone()
    }
}

/// Whether the language has a meaning for this name, so that no field can have it.
pub fn is_reserved(name: &str) -> bool {
    parse::VALUES.contains(&name) || function::Function::named(name).is_some()
}

/// What is wrong with a formula, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormulaError {
    /// The formula.
    pub formula: String,
    /// The place in it, in bytes; empty at the end of the formula.
    pub span: Range<usize>,
    /// What was found, and what was expected.
    pub message: String,
    /// What to write instead.
    pub hint: Option<String>,
}

impl FormulaError {
    fn new(formula: &str, span: Range<usize>, message: impl Into<String>) -> Self {
        Self { formula: formula.into(), span, message: message.into(), hint: None }
    }

    fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The column of the place, in characters from 1.
    pub fn column(&self) -> usize {
        self.formula.char_indices().take_while(|&(byte, _)| byte < self.span.start).count() + 1
    }
}

impl fmt::Display for FormulaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (column {})", self.message, self.column())
    }
}

impl std::error::Error for FormulaError {}

#[cfg(test)]
mod tests;
