//! The functions that a solution is made of: features of one hidden layer, polynomials, and operators that act on them.

pub mod activation;
pub mod assembly;
pub mod features;
pub mod polynomial;
pub mod symbol;
