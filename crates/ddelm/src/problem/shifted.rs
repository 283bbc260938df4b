//! A field with a number added: the reaction of a shifted operator, `L - sigma`, or of a step in time, `gamma / dt + L`.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::problem::field::{Dependence, Failure, Field, FieldRef, FirstDerivatives, Jets, Samples, constant};

struct Shifted {
    field: FieldRef,
    by: f64,
}

/// A field plus a number; the number itself where there is no field.
pub fn shifted(field: Option<&FieldRef>, by: f64) -> FieldRef {
    match field.map(|field| (field, field.constant())) {
        None => constant(by),
        Some((_, Some(value))) => constant(value + by),
        Some((field, None)) => Arc::new(Shifted { field: field.clone(), by }),
    }
}

impl Field for Shifted {
    fn values(&self, at: &Samples<'_>, out: &mut [f64]) -> Result<(), Failure> {
        self.field.values(at, out)?;
        out.iter_mut().for_each(|value| *value += self.by);
        Ok(())
    }

    fn gradients(&self, at: &Samples<'_>, dx: &mut [f64], dy: &mut [f64]) -> Result<bool, Failure> {
        self.field.gradients(at, dx, dy)
    }

    fn work(&self) -> usize {
        self.field.work()
    }

    fn describe(&self) -> String {
        format!("{} + {}", self.field.describe(), self.by)
    }

    fn depends_on(&self) -> Dependence {
        self.field.depends_on()
    }

    fn jets(&self, at: &Samples<'_>, out: &mut Jets) -> Result<bool, Failure> {
        let known = self.field.jets(at, out)?;
        out.value.iter_mut().for_each(|value| *value += self.by);
        Ok(known)
    }

    fn parameter_names(&self) -> BTreeSet<String> {
        self.field.parameter_names()
    }

    fn parameter_value(&self, parameter: &str) -> Option<f64> {
        self.field.parameter_value(parameter)
    }

    fn with_parameter(&self, parameter: &str, value: f64) -> Option<FieldRef> {
        Some(Arc::new(Shifted { field: self.field.with_parameter(parameter, value)?, by: self.by }))
    }

    fn parameter_derivatives(&self, parameter: &str, at: &Samples<'_>, out: &mut [f64]) -> Result<bool, Failure> {
        self.field.parameter_derivatives(parameter, at, out)
    }

    fn parameter_slopes(&self, parameter: &str, at: &Samples<'_>, out: &mut FirstDerivatives) -> Result<bool, Failure> {
        self.field.parameter_slopes(parameter, at, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::field::function;

    #[test]
    fn a_number_is_added_to_values_and_not_to_gradients() {
        assert_eq!(shifted(None, 3.0).constant(), Some(3.0));
        assert_eq!(shifted(Some(&constant(2.0)), 3.0).constant(), Some(5.0));
        let field = shifted(Some(&function(|x, y| x * y)), -1.0);
        let (at, mut out) = (Samples::at(&[2.0, 3.0], &[5.0, 7.0]), [0.0; 2]);
        field.values(&at, &mut out).unwrap();
        assert_eq!(out, [9.0, 20.0]);
        assert!(!field.gradients(&at, &mut [0.0; 2], &mut [0.0; 2]).unwrap());
    }
}
