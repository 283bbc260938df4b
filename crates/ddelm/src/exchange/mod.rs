//! What the method needs from a parallel machine.
//!
//! A machine has ranks. Each of them holds the subdomains that a [`Partition`] gives it, with their matrices, and the
//! part of the interface that they touch. [`Serial`] is the machine with one rank; `Mpi` (feature `mpi`) is as many
//! processes as `mpirun` started. Nothing else in the library knows which of them it runs on.
//!
//! Every method but [`rank`](Exchange::rank), [`size`](Exchange::size), [`threads`](Exchange::threads) and
//! [`sent`](Exchange::sent) is collective: all ranks call it, in the same order. A rank that returns early leaves the
//! others waiting. So a stage that can fail on one rank ends with [`agree`](Exchange::agree) before the next collective
//! call.

#[cfg(feature = "mpi")]
mod distributed;
#[cfg(feature = "mpi")]
mod mpi;
#[cfg(feature = "mpi")]
mod mumps;
mod partition;
mod serial;

use crate::error::Result;
use crate::interface::{DirectFactor, System};

#[cfg(feature = "mpi")]
pub use self::mpi::Mpi;
pub use partition::Partition;
pub use serial::Serial;

/// A parallel machine.
pub trait Exchange: Send + Sync {
    /// The number of this rank.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn size(&self) -> usize;

    /// The threads that this rank can use without taking them from another.
    fn threads(&self) -> usize;

    /// Bytes that this rank has handed to the network so far: those of its messages, and its own numbers in sums, maxima
    /// and gathers. What a library for the interface system sends is not in it.
    fn sent(&self) -> u64;

    /// Adds up numbers over all ranks, entry by entry; all find the same bits.
    fn sum(&self, values: &mut [f64]);

    /// The largest numbers over all ranks, entry by entry.
    fn max(&self, values: &mut [f64]);

    /// Sends the messages, works while they travel, and returns what came back: one answer for each message, from the
    /// same rank.
    fn swap(&self, messages: &[Message], work: &mut dyn FnMut()) -> Vec<Vec<f64>>;

    /// The numbers of every rank on rank 0, where they come in the order of the ranks; nothing elsewhere.
    fn gather(&self, part: &[f64]) -> Vec<Vec<f64>>;

    /// The same outcome on all ranks. Where some failed, the first of them keeps its error, and the others learn that
    /// it [failed](crate::Error::Elsewhere). A request to stop is the same error everywhere.
    fn agree(&self, outcome: Result<()>) -> Result<()>;

    /// Factors the interface system.
    fn factor(&self, system: &System<'_>) -> Result<Box<dyn DirectFactor>>;

    /// Whether a condition holds on some rank.
    fn any(&self, condition: bool) -> bool {
        let mut flag = [f64::from(u8::from(condition))];
        self.max(&mut flag);
        flag[0] > 0.0
    }

    /// The text of one rank on all ranks; what the others bring does not matter.
    fn broadcast(&self, from: usize, text: &str) -> String {
        let mine = if self.rank() == from { text.as_bytes() } else { &[] };
        let mut length = [mine.len() as f64];
        self.sum(&mut length);
        let mut bytes: Vec<f64> = mine.iter().map(|&byte| f64::from(byte)).collect();
        bytes.resize(length[0] as usize, 0.0);
        self.sum(&mut bytes);
        String::from_utf8_lossy(&bytes.iter().map(|&byte| byte as u8).collect::<Vec<u8>>()).into_owned()
    }
}

/// Numbers for another rank.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Message {
    /// Where they go.
    pub rank: usize,
    /// The numbers.
    pub values: Vec<f64>,
    /// How many come back.
    pub answer: usize,
}

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

/// Shares the outcome of a stage that had something to return: see [`Exchange::agree`].
pub fn agreed<T>(exchange: &dyn Exchange, outcome: Result<T>) -> Result<T> {
    match outcome {
        Ok(value) => exchange.agree(Ok(())).map(|()| value),
        Err(error) => Err(exchange.agree(Err(error)).err().unwrap_or(crate::Error::Interrupted)),
    }
}
