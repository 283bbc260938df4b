//! Numbers without a meaning yet: dense factorizations, sums in twice the precision, quadrature, differential operators.

pub mod factor;
pub mod fused;
pub mod quadrature;
pub mod symbol;
pub mod twofold;
