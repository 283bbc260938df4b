//! What the method needs from a parallel machine.
//!
//! Vectors over the interface have one entry per unknown or jump of the whole interface, on every rank; a rank only
//! uses the entries of its own subdomains, and ranks agree where they share an entry. [`Serial`] is the machine with
//! one rank.

use std::ops::Range;

use faer::{Mat, MatMut};

use crate::error::Result;
use crate::interface::{DirectFactor, EdgeRows, System};

/// A parallel machine.
pub trait Exchange: Send + Sync {
    /// The number of this rank.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn size(&self) -> usize;

    /// The subdomains of this rank, of so many.
    fn subdomains(&self, count: usize) -> Range<usize>;

    /// Adds up the contributions of all ranks to every shared interface value.
    fn add_unknowns(&self, values: MatMut<'_, f64>);

    /// Adds up the contributions of both sides to every shared jump.
    fn add_jumps(&self, values: MatMut<'_, f64>);

    /// Whether this rank counts an interface value in sums.
    fn owns_unknown(&self, unknown: usize) -> bool;

    /// Adds up numbers over all ranks; all find the same bits.
    fn sum(&self, values: &mut [f64]);

    /// Sends the rows of D at edges that other ranks own to them, and returns those that others sent.
    fn edge_rows(&self, rows: Vec<EdgeRows>) -> Vec<EdgeRows>;

    /// Factors the interface system.
    fn factor(&self, system: &System<'_>) -> Result<Box<dyn DirectFactor>>;

    /// The same outcome on all ranks: an error on one of them is an error on all.
    fn agree(&self, outcome: Result<()>) -> Result<()>;

    /// The columns of all ranks, one below the other in the order of the ranks, on rank 0.
    fn gather(&self, part: Mat<f64>) -> Mat<f64>;
}

/// One process.
#[derive(Debug, Clone, Copy, Default)]
pub struct Serial;

impl Exchange for Serial {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn subdomains(&self, count: usize) -> Range<usize> {
        0..count
    }

    fn add_unknowns(&self, _: MatMut<'_, f64>) {}

    fn add_jumps(&self, _: MatMut<'_, f64>) {}

    fn owns_unknown(&self, _: usize) -> bool {
        true
    }

    fn sum(&self, _: &mut [f64]) {}

    fn edge_rows(&self, _: Vec<EdgeRows>) -> Vec<EdgeRows> {
        Vec::new()
    }

    fn factor(&self, system: &System<'_>) -> Result<Box<dyn DirectFactor>> {
        system.cholesky()
    }

    fn agree(&self, outcome: Result<()>) -> Result<()> {
        outcome
    }

    fn gather(&self, part: Mat<f64>) -> Mat<f64> {
        part
    }
}
