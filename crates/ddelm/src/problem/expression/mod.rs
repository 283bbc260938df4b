//! Formulas in x and y, with values and derivatives: how problems are written in files.
//!
//! A formula such as `(4*pi^2 - 1)*sin(2*pi*x)*exp(y)` is read once into a tape of operations, which then runs on
//! blocks of points. The language is that of mathematics and NumPy:
//!
//! - numbers (`1`, `.5`, `1e-3`), the variables `x` and `y`, the constants `pi` and `e`; where there are such, the time `t`, and
//!   the solution `u` with its derivatives `ux` and `uy`;
//! - `+ - * /`, powers `^` or `**`, parentheses. -x^2 is -(x^2), 2^3^2 is 2^(3^2), and 2^-1 is 1/2. A product needs
//!   its `*`;
//! - comparisons `< <= > >= == !=`, and `&&` (and), `||` (or), `!` (not), as C has them: 1 where true, 0 where not. Whatever is
//!   not 0 counts as true;
//! - `sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh` (also as `arcsin` and so on), `exp exp2 expm1`,
//!   `log` (natural, also `ln`) `log2 log10 log1p`, `sqrt cbrt abs sign floor ceil round erf erfc`, and `step`, which
//!   is 0 below 0 and 1 otherwise;
//! - `atan2(y, x)`, `hypot(a, b)`, `min(a, b)`, `max(a, b)`, `mod(a, b)` with the sign of b, `pow(a, b)`;
//! - `clamp(v, low, high)`, and `if(condition, a, b)`, which is a where the condition is true, with its derivatives, and b elsewhere:
//!   `if(x > 0, log(x), 0)` is a number everywhere;
//! - names that are given ([`Names`]): parameters, which are numbers, and fields and functions, such as a random field `grf(x, y)`,
//!   at any point: `grf(2*x, 1 - y)`. Without arguments they are meant at (x, y): `1 + grf^2`.
//!
//! Where a function has a kink (`abs`, `min`, `max`, `clamp`) its derivative there is the mean of those on both sides; jumps (`step`,
//! `floor`, comparisons, `if`) are passed over.
//!
//! ```
//! # use ddelm::problem::expression::Formula;
//! # use ddelm::problem::field::{Field, Samples};
//! let formula = Formula::parse("x^2 * sin(pi*y)")?;
//! let (x, y) = ([1.0, 3.0], [0.5, 1.5]);
//! let mut values = [0.0; 2];
//! formula.values(&Samples::at(&x, &y), &mut values).unwrap();
//! assert_eq!(values, [1.0, -9.0]);
//!
//! let error = Formula::parse("2*sine(x)").unwrap_err();
//! assert_eq!(error.to_string(), "unknown name `sine` (column 3)");
//! assert_eq!(error.hint.as_deref(), Some("did you mean `sin`?"));
//! # Ok::<(), ddelm::problem::expression::FormulaError>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::base::error::Error;
use crate::problem::field::{Dependence, Failure, Field, FieldRef, FirstDerivatives, Jets, Samples, same_lengths};
use crate::problem::jets::X;

mod builder;
mod curvature;
mod function;
mod kernels;
mod lines;
mod names;
mod parse;
pub mod reference;
mod spelling;
mod tape;
mod token;

pub use crate::base::error::FormulaError;
pub use names::{Names, Variables};
pub use spelling::nearest;
use tape::Variable;

/// A formula in x and y, and in the time and the solution where it may.
#[derive(Clone)]
pub struct Formula {
    text: String,
    tape: tape::Tape,
    /// The tape with parameters as variables, if it has any.
    open: Option<Box<tape::Tape>>,
}

impl Formula {
    /// Reads a formula.
    pub fn parse(text: &str) -> Result<Self, FormulaError> {
        Self::parse_in(text, &Names::default())
    }

    /// Reads a formula that may call `fields` by name. A field cannot replace what the language has by that name;
    /// see [`is_reserved`].
    pub fn parse_with(text: &str, fields: &BTreeMap<String, FieldRef>) -> Result<Self, FormulaError> {
        Self::parse_in(text, &Names { fields: fields.clone(), ..Names::default() })
    }

    /// Reads a formula that may use `names`.
    pub fn parse_in(text: &str, names: &Names) -> Result<Self, FormulaError> {
        let parse::Reading { tape, open } = parse::parse(text, names)?;
        Ok(Self { text: text.trim().into(), tape, open })
    }

    /// The formula as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The parameters that it has, also those of the functions it calls.
    pub fn parameters(&self) -> impl Iterator<Item = &str> {
        self.open.iter().flat_map(|tape| tape.parameters())
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
    fn values(&self, at: &Samples<'_>, out: &mut [f64]) -> Result<(), Failure> {
        same_lengths(&[at.x, at.y, out])?;
        self.tape.values(at, out)
    }

    fn gradients(&self, at: &Samples<'_>, dx: &mut [f64], dy: &mut [f64]) -> Result<bool, Failure> {
        same_lengths(&[at.x, at.y, dx, dy])?;
        self.tape.derivatives([Variable::X, Variable::Y], at, [dx, dy])
    }

    fn constant(&self) -> Option<f64> {
        self.tape.constant()
    }

    fn work(&self) -> usize {
        self.tape.work()
    }

    fn describe(&self) -> String {
        self.text.clone()
    }

    fn depends_on(&self) -> Dependence {
        self.tape.depends_on()
    }

    fn lines(&self) -> Vec<[f64; 3]> {
        self.tape.lines()
    }

    fn beside(&self, point: [f64; 2]) -> Option<FieldRef> {
        let open = self.open.as_ref().map(|tape| Box::new(tape.beside(point)));
        Some(Arc::new(Formula { text: self.text.clone(), tape: self.tape.beside(point), open }))
    }

    fn jets(&self, at: &Samples<'_>, out: &mut Jets) -> Result<bool, Failure> {
        same_lengths(&[at.x, at.y])?;
        curvature::jets(&self.tape, at, out)
    }

    fn parameter_names(&self) -> BTreeSet<String> {
        self.parameters().map(str::to_string).collect()
    }

    fn parameter_derivatives(&self, parameter: &str, at: &Samples<'_>, out: &mut [f64]) -> Result<bool, Failure> {
        same_lengths(&[at.x, at.y, out])?;
        match self.open.as_ref().and_then(|tape| Some((tape, tape.parameter(parameter)?))) {
            Some((tape, parameter)) => tape.derivatives([parameter], at, [out]),
            None => {
                out.fill(0.0);
                Ok(true)
            }
        }
    }

    fn parameter_value(&self, parameter: &str) -> Option<f64> {
        self.open.as_ref()?.parameters.iter().find(|(name, _)| name == parameter).map(|(_, value)| *value)
    }

    fn with_parameter(&self, parameter: &str, value: f64) -> Option<FieldRef> {
        let mut tape = self.open.clone()?;
        tape.parameters.iter_mut().find(|(name, _)| name == parameter)?.1 = value;
        Some(Arc::new(Formula { text: self.text.clone(), tape: tape.as_ref().clone(), open: Some(tape) }))
    }

    fn parameter_slopes(&self, parameter: &str, at: &Samples<'_>, out: &mut FirstDerivatives) -> Result<bool, Failure> {
        same_lengths(&[at.x, at.y, &out[X]])?;
        match self.open.as_ref().and_then(|tape| Some((tape, tape.parameter(parameter)?))) {
            Some((tape, parameter)) => curvature::mixed(tape, parameter, at, out),
            None => {
                out.iter_mut().for_each(|out| out.fill(0.0));
                Ok(true)
            }
        }
    }
}

/// A formula in x, y, the time t, and the solution as u, ux and uy, as a field.
///
/// ```
/// let field = ddelm::formula("2*pi^2*sin(pi*x)*sin(pi*y) + u^3")?;
/// assert!(field.depends_on().state);
/// assert!(ddelm::formula("sin(x").is_err());
/// # Ok::<(), ddelm::Error>(())
/// ```
pub fn formula(text: &str) -> crate::base::error::Result<FieldRef> {
    let names = Names::default().with_variables(Variables { time: true, state: true });
    let read = Formula::parse_in(text, &names).map_err(|error| Error::Formula { key: "formula".into(), error })?;
    Ok(Arc::new(read))
}

/// Whether the language has a meaning for this name, so that no field can have it.
pub fn is_reserved(name: &str) -> bool {
    parse::VALUES.contains(&name) || function::Function::named(name).is_some()
}

#[cfg(test)]
mod tests;
