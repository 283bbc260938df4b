//! What formulas may use by name beside what the language has: parameters, functions, fields, the time and the solution.

use std::collections::BTreeMap;

use crate::base::error::{Error, FormulaError, Result};
use crate::problem::field::FieldRef;

use super::{Formula, is_reserved, token};

/// Functions that may be defined at a time, at most.
const MOST_FUNCTIONS: usize = 200;

/// What a formula may depend on beside x and y.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Variables {
    /// The time, `t`.
    pub time: bool,
    /// The solution and its gradient, `u`, `ux` and `uy`.
    pub state: bool,
}

impl Variables {
    /// The names of the variables, with x and y.
    pub fn names(self) -> Vec<&'static str> {
        let mut names = vec!["x", "y"];
        if self.time {
            names.push("t");
        }
        if self.state {
            names.extend(["u", "ux", "uy"]);
        }
        names
    }
}

/// The names that formulas may use. No two things have the same one, and none has one of the language.
#[derive(Clone, Default)]
pub struct Names {
    pub(super) fields: BTreeMap<String, FieldRef>,
    pub(super) parameters: BTreeMap<String, f64>,
    pub(super) functions: BTreeMap<String, Formula>,
    pub(super) variables: Variables,
}

impl Names {
    /// The same names where formulas may also use these variables.
    #[must_use]
    pub fn with_variables(&self, variables: Variables) -> Self {
        Names { variables, ..self.clone() }
    }

    /// The variables that formulas may use.
    pub fn variables(&self) -> Variables {
        self.variables
    }

    /// The names of parameters, functions and fields.
    pub fn given(&self) -> impl Iterator<Item = &str> {
        self.parameters.keys().chain(self.functions.keys()).chain(self.fields.keys()).map(String::as_str)
    }

    /// The parameters and their values.
    pub fn parameters(&self) -> &BTreeMap<String, f64> {
        &self.parameters
    }

    /// A field that formulas call as `name(x, y)`, at any point, or use as `name` where they are.
    pub fn add_field(&mut self, name: &str, field: FieldRef) -> Result<()> {
        self.check("fields", name)?;
        self.fields.insert(name.into(), field);
        Ok(())
    }

    /// A number that formulas use by name.
    pub fn add_parameter(&mut self, name: &str, value: f64) -> Result<()> {
        self.check("parameters", name)?;
        if !value.is_finite() {
            return Err(Error::input(format!("parameters.{name}"), value, "a parameter must be finite", ""));
        }
        self.parameters.insert(name.into(), value);
        Ok(())
    }

    /// Formulas that others call as `name(x, y)`, at any point, or use as `name` where they are. They may use parameters, fields,
    /// the time where there is one, and each other in any order, but not in a circle.
    pub fn add_functions(&mut self, texts: &BTreeMap<String, String>) -> Result<()> {
        if texts.len() > MOST_FUNCTIONS {
            let problem = format!("there can be at most {MOST_FUNCTIONS} functions");
            return Err(Error::input("functions", texts.len(), problem, "write short ones out"));
        }
        let in_function = |name: &str| {
            let key = format!("functions.{name}");
            move |error: FormulaError| Error::Formula { key, error }
        };
        let mut waiting = BTreeMap::new();
        for (name, text) in texts {
            self.check("functions", name)?;
            let mut calls = token::names_in(text).map_err(in_function(name))?;
            calls.retain(|(called, _)| texts.contains_key(*called));
            waiting.insert(name.as_str(), calls);
        }
        let mut names = self.with_variables(Variables { state: false, ..self.variables });
        while !waiting.is_empty() {
            let is_ready = |calls: &Calls<'_>| !calls.iter().any(|(called, _)| waiting.contains_key(called));
            let ready: Vec<&str> = waiting.iter().filter(|(_, calls)| is_ready(calls)).map(|(name, _)| *name).collect();
            if ready.is_empty() {
                return Err(circle(texts, &waiting));
            }
            for name in ready {
                let formula = Formula::parse_in(&texts[name], &names).map_err(in_function(name))?;
                names.functions.insert(name.into(), formula);
                waiting.remove(name);
            }
        }
        self.functions = names.functions;
        Ok(())
    }

    /// Refuses names that formulas could not use, or that mean something else.
    fn check(&self, table: &str, name: &str) -> Result<()> {
        let taken = |table: &str| format!("there is also {table}.{name}, and formulas could not tell them apart");
        let problem = if is_reserved(name) {
            "formulas have another meaning for this name".into()
        } else if !token::is_name(name) {
            "formulas cannot use this name".into()
        } else if self.parameters.contains_key(name) {
            taken("parameters")
        } else if self.functions.contains_key(name) {
            taken("functions")
        } else if self.fields.contains_key(name) {
            taken("fields")
        } else {
            return Ok(());
        };
        let hint = "choose another name: letters, digits and _, for example kappa_1";
        Err(Error::input(format!("{table}.{name}"), "...", problem, hint))
    }
}

/// The functions that a function calls, with their places in it.
type Calls<'a> = Vec<(&'a str, std::ops::Range<usize>)>;

/// The error of functions of which each waits for another.
fn circle(texts: &BTreeMap<String, String>, waiting: &BTreeMap<&str, Calls<'_>>) -> Error {
    let next = |name: &str| waiting[name].iter().find(|(called, _)| waiting.contains_key(called));
    let step = |name: &str| next(name).expect("a function that is not ready calls one that is not ready");
    // Whoever follows the calls of `waiting.len()` functions is inside of a circle.
    let mut name = *waiting.keys().next().expect("somebody waits");
    for _ in 0..waiting.len() {
        name = step(name).0;
    }
    let (called, span) = step(name);
    let message = if *called == name {
        format!("`{name}` calls itself")
    } else {
        format!("`{name}` calls itself by way of `{called}`")
    };
    let error = FormulaError::new(&texts[name], span.clone(), message);
    Error::Formula {
        key: format!("functions.{name}"),
        error: error.hint("a function can be made of others, but not of itself"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::field::{Field, Samples, function};

    fn names() -> Names {
        let mut names = Names::default();
        names.add_parameter("kappa", 3.0).unwrap();
        names.add_field("grf", function(|x, y| 10.0 * x + y)).unwrap();
        names
    }

    fn texts(functions: &[(&str, &str)]) -> BTreeMap<String, String> {
        functions.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect()
    }

    fn value(text: &str, names: &Names, x: f64, y: f64) -> f64 {
        let mut out = [f64::NAN];
        let formula = Formula::parse_in(text, names).unwrap_or_else(|e| panic!("{text}: {e}"));
        formula.values(&Samples::at(&[x], &[y]), &mut out).unwrap();
        out[0]
    }

    #[test]
    fn functions_are_written_out() {
        let mut names = names();
        let functions = [("a", "b(y, x) + 1"), ("b", "kappa*x - y"), ("c", "grf + a(2*x, x*y)"), ("one", "kappa/3")];
        names.add_functions(&texts(&functions)).unwrap();
        let (x, y) = (0.75, -2.0);
        assert_eq!(value("b", &names, x, y), 3.0 * x - y);
        assert_eq!(value("a", &names, x, y), 3.0 * y - x + 1.0);
        assert_eq!(value("c(y, x)", &names, x, y), 10.0 * y + x + 3.0 * (y * x) - 2.0 * y + 1.0);
        assert_eq!(value("2*grf", &names, x, y), 20.0 * x + 2.0 * y);
        assert_eq!(Formula::parse_in("one(x, y)", &names).unwrap().constant(), Some(1.0));
    }

    #[test]
    fn circles_are_refused() {
        let cases = [
            (vec![("f", "1 + f(x, y)")], "`f` calls itself", "f"),
            (vec![("f", "g"), ("g", "x*h"), ("h", "2 + g"), ("z", "f")], "`h` calls itself by way of `g`", "g"),
        ];
        for (functions, message, place) in cases {
            let error = names().add_functions(&texts(&functions)).unwrap_err();
            let Error::Formula { error, .. } = error else { panic!("{error}") };
            assert_eq!((error.message.as_str(), &error.formula[error.span.clone()]), (message, place));
        }
    }

    #[test]
    fn functions_that_double_and_double_are_refused() {
        let functions: Vec<(String, String)> =
            (1..40).map(|k| (format!("f{k}"), format!("f{}(f{0}(x, y) + 1, y*{k})", k - 1))).collect();
        let mut texts: BTreeMap<String, String> = functions.into_iter().collect();
        texts.insert("f0".into(), "sin(x) + y".into());
        let error = names().add_functions(&texts).unwrap_err();
        assert!(error.to_string().contains("more than 20000 operations"), "{error}");
    }

    #[test]
    fn names_mean_one_thing() {
        let refused = |result: Result<()>, part: &str| {
            let error = result.unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        };
        for name in ["x", "t", "ux", "pi", "sin", "if"] {
            refused(names().add_parameter(name, 1.0), "another meaning");
        }
        for name in ["", "2k", "a b", "k-1"] {
            refused(names().add_parameter(name, 1.0), "cannot use this name");
        }
        refused(names().add_parameter("grf", 1.0), "there is also fields.grf");
        refused(names().add_functions(&texts(&[("kappa", "1")])), "there is also parameters.kappa");
        refused(names().add_parameter("k", f64::NAN), "must be finite");
    }

    #[test]
    fn variables_are_allowed_one_by_one() {
        let time = names().with_variables(Variables { time: true, state: false });
        assert!(Formula::parse_in("sin(t)", &time).is_ok() && Formula::parse_in("u", &time).is_err());
        let both = time.with_variables(Variables { time: true, state: true });
        let formula = Formula::parse_in("t*u + ux*uy", &both).unwrap();
        assert!(formula.depends_on().time && formula.depends_on().state);
        assert!(formula.values(&Samples::at(&[0.0], &[0.0]), &mut [0.0]).is_err());
        // A function is one of x, y and t wherever it is used.
        assert!(both.clone().add_functions(&texts(&[("f", "u")])).is_err());
        assert!(both.clone().add_functions(&texts(&[("f", "t")])).is_ok());
    }
}
