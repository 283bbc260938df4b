//! What is to be solved: the equation, its conditions, and the functions that they are made of.

pub(crate) mod at_state;
pub mod ellipticity;
pub mod expression;
pub mod field;
pub mod frozen;
pub mod functional;
pub mod gallery;
pub mod grid;
pub mod jets;
pub mod linearize;
pub mod materials;
pub mod model;
pub mod operators;
pub mod parameter;
pub mod random_field;
pub mod regional;
pub mod samples;
pub mod shifted;
pub mod terms;
pub mod typeset;

pub use model::{Condition, ConditionKind, Data, Diffusion, Equation, Problem, SIDES};
