//! Numbers without a meaning yet: dense factorizations, sums in twice the precision, elementary functions, quadrature, differential operators.

pub mod elementary;
pub mod factor;
pub mod fused;
pub mod quadrature;
pub mod symbol;
pub mod twofold;
