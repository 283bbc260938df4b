//! One process: nobody to talk to.

use crate::base::error::Result;
use crate::interface::{DirectFactor, Exchange, Message, System};

/// The machine with one rank. The interface system is factored here, by [`Lu`](crate::interface::Lu).
#[derive(Debug, Clone, Copy, Default)]
pub struct Serial;

impl Exchange for Serial {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn threads(&self) -> usize {
        std::thread::available_parallelism().map_or(1, usize::from)
    }

    fn sent(&self) -> u64 {
        0
    }

    fn sum(&self, _: &mut [f64]) {}

    fn max(&self, _: &mut [f64]) {}

    fn swap(&self, _: &[Message], work: &mut dyn FnMut()) -> Vec<Vec<f64>> {
        work();
        Vec::new()
    }

    fn gather(&self, mine: &[f64]) -> Vec<Vec<f64>> {
        vec![mine.to_vec()]
    }

    fn agree(&self, outcome: Result<()>) -> Result<()> {
        outcome
    }

    fn factor(&self, system: &System<'_>) -> Result<Box<dyn DirectFactor>> {
        system.factor()
    }
}
