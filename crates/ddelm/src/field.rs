//! Scalar functions of (x, y): coefficients, sources, boundary values, exact solutions.
//!
//! A field works on blocks of points, never point by point, so that formulas run on a tape, and functions given
//! from Python are called once per block.

use std::sync::Arc;

/// Why a field could not be evaluated: the error of the function behind it, as it was.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A scalar function of (x, y).
pub trait Field: Send + Sync {
    /// Writes the values at the points (x\[i\], y\[i\]) to `out`.
    ///
    /// A function that cannot be evaluated returns its error. Values that are not finite are allowed here; whoever
    /// needs finite ones checks.
    fn values(&self, x: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), Failure>;

    /// Writes the gradients at the points, and returns whether the field knows them.
    fn gradients(&self, x: &[f64], y: &[f64], dx: &mut [f64], dy: &mut [f64]) -> Result<bool, Failure>;

    /// The value, if it is the same everywhere.
    fn constant(&self) -> Option<f64> {
        None
    }

    /// How to show the field to a person: the formula, or what kind of function it is.
    fn describe(&self) -> String;
}

/// A shared field.
pub type FieldRef = Arc<dyn Field>;

/// A field with the same value everywhere.
#[derive(Debug, Clone, Copy)]
pub struct Constant(pub f64);

impl Field for Constant {
    fn values(&self, _: &[f64], _: &[f64], out: &mut [f64]) -> Result<(), Failure> {
        out.fill(self.0);
        Ok(())
    }

    fn gradients(&self, _: &[f64], _: &[f64], dx: &mut [f64], dy: &mut [f64]) -> Result<bool, Failure> {
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
    fn values(&self, x: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), Failure> {
        for ((u, &x), &y) in out.iter_mut().zip(x).zip(y) {
            *u = (self.value)(x, y);
        }
        Ok(())
    }

    fn gradients(&self, x: &[f64], y: &[f64], dx: &mut [f64], dy: &mut [f64]) -> Result<bool, Failure> {
        let Some(gradient) = &self.gradient else {
            return Ok(false);
        };
        for (i, (&x, &y)) in x.iter().zip(y).enumerate() {
            [dx[i], dy[i]] = gradient(x, y);
        }
        Ok(true)
    }

    fn describe(&self) -> String {
        "a function".into()
    }
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
