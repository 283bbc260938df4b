//! The derivative of a field with respect to a parameter of the problem, as a field: `d a / d kappa`.

use crate::problem::field::{Dependence, Failure, Field, FieldRef, FirstDerivatives, Samples};
use crate::problem::jets::{X, Y};

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
        let mut found: FirstDerivatives = Default::default();
        let known = self.slopes(at, &mut found)?;
        dx.copy_from_slice(&found[X]);
        dy.copy_from_slice(&found[Y]);
        Ok(known)
    }

    fn slopes(&self, at: &Samples<'_>, out: &mut FirstDerivatives) -> Result<bool, Failure> {
        out.iter_mut().for_each(|out| *out = vec![0.0; at.len()]);
        self.field.parameter_slopes(&self.parameter, at, out)
    }

    fn describe(&self) -> String {
        format!("the derivative of {} with respect to {}", self.field.describe(), self.parameter)
    }

    fn depends_on(&self) -> Dependence {
        self.field.depends_on()
    }
}
