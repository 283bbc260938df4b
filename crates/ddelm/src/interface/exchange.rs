//! What the interface needs from a parallel machine. The [machines](crate::exchange) are elsewhere.
//!
//! Every method but [`rank`](Exchange::rank), [`size`](Exchange::size), [`threads`](Exchange::threads) and
//! [`sent`](Exchange::sent) is collective: all ranks call it, in the same order. A rank that returns early leaves the
//! others waiting. So a stage that can fail on one rank ends with [`agree`](Exchange::agree) before the next collective
//! call.

use super::message::Message;
use super::system::{DirectFactor, System};
use crate::base::error::{Error, Result};

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
    fn gather(&self, mine: &[f64]) -> Vec<Vec<f64>>;

    /// The same outcome on all ranks. Where some failed, the first of them keeps its error, and the others learn that
    /// it [failed](crate::base::error::Error::Elsewhere). A request to stop is the same error everywhere.
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

/// Shares the outcome of a stage that had something to return: see [`Exchange::agree`].
pub fn agreed<T>(exchange: &dyn Exchange, outcome: Result<T>) -> Result<T> {
    match outcome {
        Ok(value) => exchange.agree(Ok(())).map(|()| value),
        Err(error) => Err(exchange.agree(Err(error)).err().unwrap_or(Error::Interrupted)),
    }
}
