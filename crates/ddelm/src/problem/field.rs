//! Scalar functions of (x, y), and of time and the solution where there are such: coefficients, sources, boundary values,
//! exact solutions.
//!
//! A field works on blocks of points, never point by point, so that formulas run on a tape, and functions given
//! from Python are called once per block. The points come as [`Samples`], which say more than where they are: what is made of
//! patches, as materials and solutions are, need not look for the patch that a point was mapped from.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::error::Error;
pub use crate::problem::jets::Jets;
use crate::problem::jets::VARIABLES;
pub use crate::problem::samples::{Patch, Samples, State};

pub use crate::base::error::Failure;

/// A scalar function of (x, y), and possibly of the time and the solution.
pub trait Field: Send + Sync {
    /// Writes the values at the points to `out`, one for each.
    ///
    /// A function that cannot be evaluated returns its error. Values that are not finite are allowed here; whoever
    /// needs finite ones checks.
    fn values(&self, at: &Samples<'_>, out: &mut [f64]) -> Result<(), Failure>;

    /// Writes the partial derivatives in x and y at the points, with the time and the solution held, and returns whether the field
    /// knows them.
    fn gradients(&self, at: &Samples<'_>, dx: &mut [f64], dy: &mut [f64]) -> Result<bool, Failure>;

    /// The value, if it is the same everywhere.
    fn constant(&self) -> Option<f64> {
        None
    }

    /// Functions such as a sine that a value takes, roughly: whoever samples a field may do with fewer points.
    fn work(&self) -> usize {
        1
    }

    /// How to show the field to a person: the formula, or what kind of function it is.
    fn describe(&self) -> String;

    /// What it depends on beside x and y.
    fn depends_on(&self) -> Dependence {
        Dependence::default()
    }

    /// The lines `a x + b y + c = 0` along which it may jump or have a kink, each as `[a, b, c]`, as far as the field knows them.
    fn lines(&self) -> Vec<[f64; 3]> {
        Vec::new()
    }

    /// The field as it is on the side of all of its [lines](Field::lines) that a point lies on, beyond them as well.
    fn beside(&self, point: [f64; 2]) -> Option<FieldRef> {
        let _ = point;
        None
    }

    /// Writes the values and all first and second partial derivatives in (x, y, u, ux, uy), and returns whether the field
    /// knows them. Newton's method is made of them.
    fn jets(&self, at: &Samples<'_>, out: &mut Jets) -> Result<bool, Failure> {
        let _ = (at, out);
        Ok(false)
    }

    /// Writes the derivatives with respect to a parameter of the problem, by its name, and returns whether the field knows them.
    /// Fields without parameters do not change with them.
    fn parameter_derivatives(&self, parameter: &str, at: &Samples<'_>, out: &mut [f64]) -> Result<bool, Failure> {
        let _ = (parameter, at);
        out.fill(0.0);
        Ok(true)
    }

    /// The parameters of the problem that it depends on.
    fn parameter_names(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    /// The value of a parameter of the problem that it depends on.
    fn parameter_value(&self, parameter: &str) -> Option<f64> {
        let _ = parameter;
        None
    }

    /// The field with another value of a parameter that it depends on.
    fn with_parameter(&self, parameter: &str, value: f64) -> Option<FieldRef> {
        let _ = (parameter, value);
        None
    }

    /// Writes the derivatives in x, y, u, ux and uy of [`Field::parameter_derivatives`], and returns whether the field knows them. The
    /// arrays are as long as there are points.
    fn parameter_slopes(&self, parameter: &str, at: &Samples<'_>, out: &mut FirstDerivatives) -> Result<bool, Failure> {
        let _ = (parameter, at);
        out.iter_mut().for_each(|out| out.fill(0.0));
        Ok(true)
    }

    /// Writes the derivatives in x, y, u, ux and uy, and returns whether the field knows them.
    fn slopes(&self, at: &Samples<'_>, out: &mut FirstDerivatives) -> Result<bool, Failure> {
        let mut jets = Jets::new(at.len());
        let known = self.jets(at, &mut jets)?;
        *out = jets.first;
        Ok(known)
    }
}

/// The derivatives of a field in x, y, u, ux and uy, one array for each.
pub type FirstDerivatives = [Vec<f64>; VARIABLES];

/// What a field depends on beside x and y.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dependence {
    /// The time t.
    pub time: bool,
    /// The solution u or its gradient.
    pub state: bool,
    /// Its gradient, which may be infinite at corners.
    pub slopes: bool,
    /// A solution that is known, as well as it was resolved: its values differ a little from one subdomain to the next.
    pub solved: bool,
}

impl Dependence {
    /// What either of two depends on.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Dependence {
            time: self.time || other.time,
            state: self.state || other.state,
            slopes: self.slopes || other.slopes,
            solved: self.solved || other.solved,
        }
    }
}

/// A shared field.
pub type FieldRef = Arc<dyn Field>;

/// A field with the same value everywhere.
#[derive(Debug, Clone, Copy)]
pub struct Constant(pub f64);

impl Field for Constant {
    fn values(&self, _: &Samples<'_>, out: &mut [f64]) -> Result<(), Failure> {
        out.fill(self.0);
        Ok(())
    }

    fn gradients(&self, _: &Samples<'_>, dx: &mut [f64], dy: &mut [f64]) -> Result<bool, Failure> {
        dx.fill(0.0);
        dy.fill(0.0);
        Ok(true)
    }

    fn constant(&self) -> Option<f64> {
        Some(self.0)
    }

    fn describe(&self) -> String {
        self.0.to_string()
    }

    fn jets(&self, at: &Samples<'_>, out: &mut Jets) -> Result<bool, Failure> {
        out.reset(at.len());
        out.value.fill(self.0);
        Ok(true)
    }
}

/// A field given by a Rust function; see [`function`] and [`function_with_gradient`].
struct Function<F, G> {
    value: F,
    gradient: Option<G>,
}

impl<F, G> Field for Function<F, G>
where
    F: Fn(f64, f64) -> f64 + Send + Sync,
    G: Fn(f64, f64) -> [f64; 2] + Send + Sync,
{
    fn values(&self, at: &Samples<'_>, out: &mut [f64]) -> Result<(), Failure> {
        same_lengths(&[at.x, at.y, out])?;
        for ((u, &x), &y) in out.iter_mut().zip(at.x).zip(at.y) {
            *u = (self.value)(x, y);
        }
        Ok(())
    }

    fn gradients(&self, at: &Samples<'_>, dx: &mut [f64], dy: &mut [f64]) -> Result<bool, Failure> {
        let Some(gradient) = &self.gradient else {
            return Ok(false);
        };
        same_lengths(&[at.x, at.y, dx, dy])?;
        for ((dx, dy), (&x, &y)) in dx.iter_mut().zip(dy).zip(at.x.iter().zip(at.y)) {
            [*dx, *dy] = gradient(x, y);
        }
        Ok(true)
    }

    fn describe(&self) -> String {
        "a function".into()
    }
}

/// Refuses points without an x or a y, and results that are not as many as the points.
pub fn same_lengths(slices: &[&[f64]]) -> Result<(), Error> {
    let lengths: Vec<usize> = slices.iter().map(|slice| slice.len()).collect();
    if lengths.iter().all(|&length| length == lengths[0]) {
        return Ok(());
    }
    let problem = "every point has one x, one y and one value";
    Err(Error::input("points", format!("arrays of lengths {lengths:?}"), problem, "give arrays of the same length"))
}

/// A constant field.
pub fn constant(value: f64) -> FieldRef {
    Arc::new(Constant(value))
}

/// A field from a function of (x, y) whose gradient is not known in closed form.
pub fn function(value: impl Fn(f64, f64) -> f64 + Send + Sync + 'static) -> FieldRef {
    Arc::new(Function::<_, fn(f64, f64) -> [f64; 2]> { value, gradient: None })
}

/// A field from a function of (x, y) and its gradient.
pub fn function_with_gradient(
    value: impl Fn(f64, f64) -> f64 + Send + Sync + 'static,
    gradient: impl Fn(f64, f64) -> [f64; 2] + Send + Sync + 'static,
) -> FieldRef {
    Arc::new(Function { value, gradient: Some(gradient) })
}
