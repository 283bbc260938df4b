//! A nonlinear problem with its coefficients at a given state: a linear problem that this state solves, if it solves the nonlinear
//! one.
//!
//! What looks at the data of a problem alone, how well nodes resolve them or whether an exact solution solves it, looks at
//! `a(x, y) = a(x, y, v, grad v)` instead.

use std::sync::Arc;

use crate::problem::field::{Dependence, Failure, Field, FieldRef, FirstDerivatives, Samples, State};
use crate::problem::jets::{Jets, U, UX, UY, X, Y, pair};
use crate::problem::model::Problem;

/// A field that depends on the solution, at a given one.
struct AtState {
    field: FieldRef,
    at: FieldRef,
}

impl Field for AtState {
    fn values(&self, at: &Samples<'_>, out: &mut [f64]) -> Result<(), Failure> {
        let [mut u, mut ux, mut uy] = [(); 3].map(|()| vec![0.0; at.len()]);
        self.at.values(at, &mut u)?;
        if !self.at.gradients(at, &mut ux, &mut uy)? {
            return Err("the gradient of the state is not known".into());
        }
        let state = Some(State { u: &u, ux: &ux, uy: &uy });
        self.field.values(&Samples { state, ..*at }, out)
    }

    /// By the chain rule, where field and state know their derivatives.
    fn gradients(&self, at: &Samples<'_>, dx: &mut [f64], dy: &mut [f64]) -> Result<bool, Failure> {
        let (mut v, mut f): (Jets, FirstDerivatives) = (Jets::new(at.len()), Default::default());
        if !self.at.jets(at, &mut v)? {
            return Ok(false);
        }
        let state = Some(State { u: &v.value, ux: &v.first[X], uy: &v.first[Y] });
        if !self.field.slopes(&Samples { state, ..*at }, &mut f)? {
            return Ok(false);
        }
        for (out, k) in [(dx, X), (dy, Y)] {
            for (i, out) in out.iter_mut().enumerate() {
                *out = f[k][i]
                    + f[U][i] * v.first[k][i]
                    + f[UX][i] * v.second[pair(X, k)][i]
                    + f[UY][i] * v.second[pair(Y, k)][i];
            }
        }
        Ok(true)
    }

    fn work(&self) -> usize {
        self.field.work() + self.at.work()
    }

    fn describe(&self) -> String {
        self.field.describe()
    }

    fn depends_on(&self) -> Dependence {
        Dependence { state: false, slopes: false, solved: true, ..self.field.depends_on() }
    }
}

/// A field at a state, if it depends on one.
pub fn at_state(field: &FieldRef, state: &FieldRef) -> FieldRef {
    match field.depends_on().state {
        true => Arc::new(AtState { field: field.clone(), at: state.clone() }),
        false => field.clone(),
    }
}

impl Problem {
    /// The problem with whatever depends on the solution taken at `state`. A linear problem stays as it is.
    #[must_use]
    pub fn at_state(&self, state: &FieldRef) -> Problem {
        self.map_fields(|field| at_state(field, state))
    }
}
