//! The initial guess of Newton's method, from a linear problem on the same decomposition in the same basis.
//!
//! By default it is the harmonic function with the boundary values of u, which solves the problem where it is most linear: at the
//! boundary. A guess g that is given is the solution of `-Laplacian v + v = -Laplacian g + g`, `v = g` on the boundary.

use std::sync::Arc;

use crate::base::error::Error;
use crate::problem::field::{Failure, Field, FieldRef, Jets, Samples, constant};
use crate::problem::jets::{X, Y};
use crate::problem::model::{Condition, Diffusion, Equation, Problem};

/// `-Laplacian g + g`.
struct Shifted(FieldRef);

impl Field for Shifted {
    fn values(&self, at: &Samples<'_>, out: &mut [f64]) -> std::result::Result<(), Failure> {
        let mut jets = Jets::new(at.len());
        if !self.0.jets(at, &mut jets)? {
            return Err(Failure::from(unknown_derivatives(&self.0)));
        }
        let terms = jets.value.iter().zip(jets.second(X, X)).zip(jets.second(Y, Y));
        out.iter_mut().zip(terms).for_each(|(out, ((g, gxx), gyy))| *out = g - gxx - gyy);
        Ok(())
    }

    fn gradients(&self, _: &Samples<'_>, _: &mut [f64], _: &mut [f64]) -> std::result::Result<bool, Failure> {
        Ok(false)
    }

    fn describe(&self) -> String {
        self.0.describe()
    }
}

fn unknown_derivatives(field: &FieldRef) -> Error {
    let problem = "second derivatives of the initial guess are needed, and not known";
    Error::input("nonlinear.initial", field.describe(), problem, "give a formula")
}

/// The linear problem whose solution is the initial guess: the one that is given, or the default.
pub(super) fn guess(problem: &Problem, given: Option<&FieldRef>) -> Problem {
    let linear = |reaction: Option<FieldRef>, source: FieldRef, conditions: Vec<Condition>| {
        Problem::new(Equation::second_order(Diffusion::Scalar(constant(1.0)), None, reaction), source, conditions)
    };
    let essential = |condition: &Condition| condition.is_essential();
    if given.is_none() && problem.conditions.iter().any(essential) {
        let condition = |condition: &Condition| match essential(condition) {
            true => condition.clone(),
            false => Condition::neumann(constant(0.0)),
        };
        return linear(None, constant(0.0), problem.conditions.iter().map(condition).collect());
    }
    // Without boundary values of u the default is zero.
    let guess = given.cloned().unwrap_or_else(|| constant(0.0));
    let conditions = problem.conditions.iter().map(|_| Condition::dirichlet(guess.clone())).collect();
    linear(Some(constant(1.0)), Arc::new(Shifted(guess)), conditions)
}
