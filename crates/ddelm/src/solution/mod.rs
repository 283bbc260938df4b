//! The solution: evaluated, saved, and written for pictures.

pub mod drawing;
pub mod evaluate;
pub mod functionals;
#[cfg(feature = "save")]
pub mod save;
pub mod tails;
#[cfg(feature = "vtk")]
pub mod vtk;

pub use evaluate::{Gradients, Solution};
