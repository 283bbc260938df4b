//! One front: a dense matrix of the factorization, the blocks it eliminates and couples, and the elements it is made of.

use std::ops::Range;

/// A block of unknowns that are eliminated together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Block {
    /// Where it lies.
    pub point: [f64; 2],
    /// Number of unknowns.
    pub size: usize,
}

/// A dense matrix that couples some blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    /// Its blocks, each named once, in the order of its rows.
    pub blocks: Vec<usize>,
    /// Elements of the same kind have the same entries.
    pub kind: usize,
}

/// One dense matrix of the factorization.
#[derive(Debug, Clone)]
pub(super) struct Front {
    /// Its blocks: the pivots, then the boundary.
    pub blocks: Vec<usize>,
    /// First row of every block.
    pub rows: Vec<usize>,
    /// Number of unknowns that it eliminates.
    pub pivots: usize,
    /// Number of unknowns that it couples.
    pub boundary: usize,
    /// Elements that belong to it: those whose first block to be eliminated is a pivot here.
    pub elements: Vec<usize>,
    /// Fronts whose boundary begins with a pivot of this one.
    pub children: Vec<usize>,
    /// The front of which this is a child.
    pub parent: Option<usize>,
    /// Its pivots in the order of elimination.
    pub unknowns: Range<usize>,
    /// Where its boundary lies in the parent's front.
    pub runs: Vec<Run>,
    /// Its class, and its number there.
    pub member: (usize, usize),
}

impl Front {
    /// The first row of a block.
    pub fn row(&self, block: usize) -> usize {
        self.rows[self.blocks.iter().position(|&b| b == block).expect("a front has the blocks of its elements")]
    }
}

/// Consecutive boundary rows that are consecutive in the parent's front as well.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Run {
    /// First row in the boundary.
    pub from: usize,
    /// First row in the parent's front.
    pub to: usize,
    /// Number of rows.
    pub len: usize,
}
