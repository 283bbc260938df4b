//! The reference of formulas: every name that they know, and what it means.
//!
//! The names are those of the parser; the texts stand here. A name without a text fails a test.

use serde::Serialize;

use super::function::{FUNCTIONS, Function};
use super::parse::VALUES;

/// A name that formulas know.
#[derive(Debug, Clone, Serialize)]
pub struct Name {
    /// How it is written: `atan2(a, b)`.
    pub call: String,
    /// Other spellings.
    pub also: Vec<&'static str>,
    /// What it means.
    pub about: &'static str,
}

const TEXTS: &[(&str, &str)] = &[
    ("x", "the first coordinate"),
    ("y", "the second coordinate"),
    ("pi", "3.14159..."),
    ("e", "2.71828..."),
    ("sin", "sine"),
    ("cos", "cosine"),
    ("tan", "tangent"),
    ("asin", "inverse sine"),
    ("acos", "inverse cosine"),
    ("atan", "inverse tangent"),
    ("sinh", "hyperbolic sine"),
    ("cosh", "hyperbolic cosine"),
    ("tanh", "hyperbolic tangent"),
    ("asinh", "inverse hyperbolic sine"),
    ("acosh", "inverse hyperbolic cosine"),
    ("atanh", "inverse hyperbolic tangent"),
    ("exp", "e to the power a"),
    ("exp2", "2 to the power a"),
    ("expm1", "exp(a) - 1, accurate for small a"),
    ("log", "natural logarithm"),
    ("log2", "logarithm to base 2"),
    ("log10", "logarithm to base 10"),
    ("log1p", "log(1 + a), accurate for small a"),
    ("sqrt", "square root"),
    ("cbrt", "cube root"),
    ("abs", "size of a"),
    ("sign", "-1, 0 or 1"),
    ("step", "0 below 0, and 1 otherwise"),
    ("floor", "the whole number below"),
    ("ceil", "the whole number above"),
    ("round", "the nearest whole number; of two the even one"),
    ("erf", "error function"),
    ("erfc", "1 - erf(a)"),
    ("pow", "a to the power b, as a^b"),
    ("atan2", "angle of the point (b, a)"),
    ("hypot", "sqrt(a^2 + b^2)"),
    ("min", "the smaller one"),
    ("max", "the larger one"),
    ("clamp", "a, but not below low or above high"),
    ("if", "a where the condition holds (`<`, `>=`, `==`, `&&`, `||`, `!`), else b"),
    ("t", "time, or the parameter of a curve"),
    ("u", "the solution, in nonlinear equations"),
    ("ux", "its derivative in x, in nonlinear equations"),
    ("uy", "its derivative in y, in nonlinear equations"),
    ("mod", "remainder of a / b, with the sign of b"),
];

/// Every name that formulas know, in the order of the parser. Fields of `[fields]` come on top.
pub fn names() -> Vec<Name> {
    let values = VALUES.iter().map(|&name| (name, None));
    let functions = FUNCTIONS.iter().map(|&(name, function)| (name, Some(function)));
    let mut found: Vec<(Option<Function>, Name)> = Vec::new();
    for (name, function) in values.chain(functions) {
        // The same function under another name.
        let same = function.and_then(|_| found.iter_mut().find(|(known, _)| *known == function));
        match same {
            Some((_, first)) => first.also.push(name),
            None => found.push((function, Name { call: call(name, function), also: Vec::new(), about: about(name) })),
        }
    }
    found.into_iter().map(|(_, name)| name).collect()
}

fn call(name: &str, function: Option<Function>) -> String {
    match function {
        None => name.into(),
        Some(Function::Unary(_)) => format!("{name}(a)"),
        Some(Function::Binary(_)) => format!("{name}(a, b)"),
        Some(Function::Clamp) => format!("{name}(a, low, high)"),
        Some(Function::If) => format!("{name}(condition, a, b)"),
    }
}

fn about(name: &str) -> &'static str {
    TEXTS.iter().find(|(known, _)| *known == name).map_or("", |&(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_text_and_is_read_by_the_parser() {
        for name in names() {
            assert!(!name.about.is_empty(), "{}: add a text to expression/reference.rs", name.call);
            let written = match name.call.split_once('(') {
                Some((function, "a)")) => format!("{function}(0.5)"),
                Some((function, "a, b)")) => format!("{function}(0.5, 0.5)"),
                Some((function, _)) => format!("{function}(x, 0.5, 0.5)"),
                // Not every quantity has values everywhere.
                None => continue,
            };
            assert!(super::super::Formula::parse(&written).is_ok(), "{written}");
        }
    }
}
