//! Fields at one time: what depends on t is asked at that t, whatever the samples say. Everything that knows nothing of
//! time then works on problems that do.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::error::Error;
use crate::problem::field::{Dependence, Failure, Field, FieldRef, FirstDerivatives, Jets, Samples};
use crate::problem::model::{Condition, Data, Equation, Problem};

struct Frozen {
    field: FieldRef,
    t: f64,
}

/// A field at time t.
pub fn frozen(field: &FieldRef, t: f64) -> FieldRef {
    if field.depends_on().time { Arc::new(Frozen { field: field.clone(), t }) } else { field.clone() }
}

impl Field for Frozen {
    fn values(&self, at: &Samples<'_>, out: &mut [f64]) -> Result<(), Failure> {
        self.field.values(&Samples { t: self.t, ..*at }, out)
    }

    fn gradients(&self, at: &Samples<'_>, dx: &mut [f64], dy: &mut [f64]) -> Result<bool, Failure> {
        self.field.gradients(&Samples { t: self.t, ..*at }, dx, dy)
    }

    fn work(&self) -> usize {
        self.field.work()
    }

    fn describe(&self) -> String {
        format!("{} at t = {}", self.field.describe(), self.t)
    }

    fn depends_on(&self) -> Dependence {
        Dependence { time: false, ..self.field.depends_on() }
    }

    fn jets(&self, at: &Samples<'_>, out: &mut Jets) -> Result<bool, Failure> {
        self.field.jets(&Samples { t: self.t, ..*at }, out)
    }

    fn parameter_names(&self) -> BTreeSet<String> {
        self.field.parameter_names()
    }

    fn parameter_value(&self, parameter: &str) -> Option<f64> {
        self.field.parameter_value(parameter)
    }

    fn with_parameter(&self, parameter: &str, value: f64) -> Option<FieldRef> {
        Some(Arc::new(Frozen { field: self.field.with_parameter(parameter, value)?, t: self.t }))
    }

    fn parameter_derivatives(&self, parameter: &str, at: &Samples<'_>, out: &mut [f64]) -> Result<bool, Failure> {
        self.field.parameter_derivatives(parameter, &Samples { t: self.t, ..*at }, out)
    }

    fn parameter_slopes(&self, parameter: &str, at: &Samples<'_>, out: &mut FirstDerivatives) -> Result<bool, Failure> {
        self.field.parameter_slopes(parameter, &Samples { t: self.t, ..*at }, out)
    }
}

impl Data {
    /// The data at time t.
    #[must_use]
    pub fn at_time(&self, t: f64) -> Data {
        let values = |values: &Vec<FieldRef>| values.iter().map(|value| frozen(value, t)).collect();
        Data { source: frozen(&self.source, t), boundary: self.boundary.iter().map(values).collect() }
    }
}

impl Equation {
    /// The equation with its coefficients at time t.
    #[must_use]
    pub fn at_time(&self, t: f64) -> Equation {
        self.map_fields(|field| frozen(field, t))
    }
}

impl Problem {
    /// The problem at time t.
    #[must_use]
    pub fn at_time(&self, t: f64) -> Problem {
        let exact = self.exact.as_ref().map(|exact| frozen(exact, t));
        Problem { exact, ..self.map_fields(|field| frozen(field, t)) }
    }

    /// Refuses a problem with anything that depends on the time: without steps in time it would be solved at one of them unasked.
    pub fn check_steady(&self) -> Result<(), Error> {
        let data = self.data();
        let named = self.equation.fields().into_iter().map(|(key, field)| (key.to_string(), field.clone()));
        let multiples = self.conditions.iter().filter_map(Condition::multiple).cloned();
        let boundary = data.boundary.into_iter().flatten().chain(multiples);
        let all = named
            .chain([("equation.source".to_string(), data.source)])
            .chain(boundary.map(|field| ("boundary".to_string(), field)))
            .chain(self.exact.clone().map(|exact| ("exact.u".to_string(), exact)));
        match all.into_iter().find(|(_, field)| field.depends_on().time) {
            None => Ok(()),
            Some((key, field)) => {
                let problem = "it depends on the time t, and there are no steps in time";
                let hint = "give [time] with end, initial and steps (in Python use ddelm.evolve), or leave t out";
                Err(Error::input(key, field.describe(), problem, hint))
            }
        }
    }

    /// Whether a coefficient of the equation or of a condition depends on the time, so that every step has its own operator.
    pub fn operator_varies(&self) -> bool {
        let equation = self.equation.fields().into_iter().map(|(_, field)| field);
        equation.chain(self.conditions.iter().filter_map(Condition::multiple)).any(|field| field.depends_on().time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::expression::{Formula, Names, Variables};
    use crate::problem::field::constant;

    #[test]
    fn a_problem_at_a_time_knows_no_other() {
        let names = Names::default().with_variables(Variables { time: true, state: false });
        let formula = |text: &str| -> FieldRef { Arc::new(Formula::parse_in(text, &names).unwrap()) };
        let problem = Problem::new(
            Equation::diffusion(formula("1 + t*x")),
            formula("x*t"),
            vec![Condition::dirichlet(formula("t")), Condition::neumann(constant(1.0))],
        );
        assert!(problem.operator_varies());
        let late = problem.at_time(3.0);
        assert!(!late.operator_varies() && !late.source.depends_on().time);
        let mut out = [0.0];
        late.source.values(&Samples::at(&[2.0], &[0.0]), &mut out).unwrap();
        assert_eq!(out, [6.0]);
        late.conditions[0].values[0].values(&Samples::at(&[2.0], &[0.0]), &mut out).unwrap();
        assert_eq!(out, [3.0]);
        assert_eq!(late.conditions[1].values[0].constant(), Some(1.0));
    }
}
