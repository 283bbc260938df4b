//! The interface: the Schur complement system for the values `u_Gamma`.
//!
//! With the local problems eliminated, the jumps of the fluxes across the edges are `sum_s (g_s + D_s u)`. The default method
//! has as many of them as there are interface values, and solves
//!
//! ```text
//! D u = d,     D = sum_s D_s,   d = -sum_s g_s:
//! ```
//!
//! the fluxes balance at every node. The paper weighs them against the residuals of the subdomains in a stacked least-squares
//! problem,
//!
//! ```text
//! min_u  sum_s |n_s + N_s u|^2  +  |sum_s (g_s + D_s u)|^2,
//! ```
//!
//! whose normal matrix `S = sum_s N_s' N_s + D' D` is its `B'(I - K K^+ + K^+' A' A K^+) B`.
//!
//! # References
//! Paper, section 3, eq. (3.5).

mod congruence;
mod conjugate_gradients;
mod cover;
mod dissection;
mod elimination;
mod exchange;
mod front;
mod fronts;
mod lu;
mod memory;
mod message;
mod numbering;
mod partition;
mod portion;
mod refinement;
mod schur;
mod system;
mod tiles;

pub use conjugate_gradients::conjugate_gradients;
pub use exchange::{Exchange, agreed};
pub use front::{Block, Element};
pub use fronts::{Symbolic, elimination_order};
pub use lu::Lu;
pub use message::Message;
pub use numbering::{Gather, Numbering};
pub use partition::Partition;
pub use portion::{Over, Portion};
pub use refinement::{Guess, Refinement};
pub use schur::{Interface, Outcome};
pub use system::{DirectFactor, System};
