//! The solution: evaluated, saved, and written for pictures.

pub mod drawing;
pub mod evaluate;
pub mod functionals;
pub(crate) mod norms;
pub mod save;
pub mod tails;
pub mod vtk;

pub use evaluate::{Gradients, Solution};
