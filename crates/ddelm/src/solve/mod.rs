//! The algorithm and the loops around it: one solve, its estimate, a tolerance, eigenvalues, time, a scale for the
//! weights.

pub mod adaptive;
mod arnoldi;
pub mod case;
pub mod consistency;
pub mod corners;
pub mod eigenvalues;
pub mod estimate;
mod floating;
mod forcing;
mod initial;
mod kept;
mod layers;
pub mod locelm;
mod marking;
mod moments;
pub mod newton;
mod nodal;
mod orthonormal;
pub mod plan;
mod probe;
pub mod resolution;
mod response;
pub mod search;
pub mod solver;
mod splitting;
mod stacked;
mod stages;
pub mod sweep;
pub mod time;
pub mod tuning;
