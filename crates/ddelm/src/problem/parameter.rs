//! The derivative of a field with respect to a parameter of the problem, as a field: `d a / d kappa`.

use crate::problem::field::{Dependence, Failure, Field, FieldRef, Samples};

/// How a field changes with a parameter.
#[derive(Clone)]
pub struct ParameterDerivative {
    /// The field.
    pub field: FieldRef,
    /// The name of the parameter.
    pub parameter: String,
}

impl Field for ParameterDerivative {
    fn values(&self, at: &Samples<'_>, out: &mut [f64]) -> Result<(), Failure> {
        match self.field.parameter_derivatives(&self.parameter, at, out)? {
            true => Ok(()),
            false => Err(format!(
                "{} does not know its derivative with respect to {}",
                self.field.describe(),
                self.parameter
            )
            .into()),
        }
    }

    fn gradients(&self, at: &Samples<'_>, dx: &mut [f64], dy: &mut [f64]) -> Result<bool, Failure> {
        self.field.parameter_slopes(&self.parameter, at, dx, dy)
    }

    fn describe(&self) -> String {
        format!("the derivative of {} with respect to {}", self.field.describe(), self.parameter)
    }

    fn depends_on(&self) -> Dependence {
        self.field.depends_on()
    }
}
