//! The parallel machines that the method runs on.
//!
//! A machine has ranks. Each of them holds the subdomains that a [`Partition`](crate::interface::Partition) gives it, with
//! their matrices, and the part of the interface that they touch. [`Serial`] is the machine with one rank; `Mpi` of the crate
//! `ddelm-mpi` is as many processes as `mpirun` started. Nothing else in the library knows which of them it runs on. What they have to do
//! is [`Exchange`].

mod serial;

pub use crate::interface::{Exchange, Message, agreed};
pub use serial::Serial;

/// The place of this process among those that `mpirun` or a batch system started together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch {
    /// Its rank.
    pub rank: usize,
    /// The number of ranks.
    pub size: usize,
}

impl Launch {
    /// What the launcher says, if there is one: Open MPI, or whoever speaks the process management interface.
    pub fn detect() -> Option<Self> {
        let number = |name: String| std::env::var(name).ok()?.parse().ok();
        let launch = |prefix: &str| {
            Some(Launch { rank: number(format!("{prefix}_RANK"))?, size: number(format!("{prefix}_SIZE"))? })
        };
        launch("OMPI_COMM_WORLD").or_else(|| launch("PMI"))
    }
}
