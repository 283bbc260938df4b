//! One subdomain: its rows, the basis of its unknowns, its factored least-squares problem, and the way back to neurons.

pub mod about;
pub(crate) mod alike;
pub mod basis;
pub(crate) mod carried;
pub mod chebyshev;
pub(crate) mod curved_rows;
pub(crate) mod fit;
pub(crate) mod floor;
pub(crate) mod image;
pub mod iterate;
pub(crate) mod known;
pub mod lift;
pub mod local_factor;
pub mod matrices;
pub mod operator;
pub(crate) mod perimeter;
pub mod places;
pub(crate) mod residual;
pub(crate) mod right_hand_side;
pub mod rows;
pub mod sensitivity;
pub mod tested;
pub(crate) mod transposed_rows;
pub mod units;
