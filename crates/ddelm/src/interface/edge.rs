//! The rows of D at an edge, where two subdomains meet.

use std::ops::Range;

use faer::{Mat, MatMut};

use crate::local::Local;

/// The rows of D at an edge, as one of its two subdomains has them.
#[derive(Debug, Clone)]
pub enum EdgeSide<'a> {
    /// A subdomain of this rank.
    Here {
        /// The subdomain.
        local: &'a Local,
        /// The jumps of the edge, in the numbering of the rank.
        jumps: Range<usize>,
    },
    /// A subdomain of another rank.
    There {
        /// The blocks of unknowns, in the order of the columns.
        blocks: Vec<usize>,
        /// Jumps of the edge x unknowns of those blocks.
        matrix: Mat<f64>,
    },
}

impl EdgeSide<'_> {
    /// The blocks of unknowns of the subdomain, in the order of the columns.
    pub fn blocks(&self) -> &[usize] {
        match self {
            EdgeSide::Here { local, .. } => &local.blocks,
            EdgeSide::There { blocks, .. } => blocks,
        }
    }

    /// The number of rows.
    pub fn jumps(&self) -> usize {
        match self {
            EdgeSide::Here { jumps, .. } => jumps.len(),
            EdgeSide::There { matrix, .. } => matrix.nrows(),
        }
    }

    /// Adds the rows to a wider matrix; `places` are the columns in it.
    pub fn add_to(&self, places: impl Iterator<Item = usize>, mut out: MatMut<'_, f64>) {
        match self {
            EdgeSide::Here { local, jumps } => local.add_edge_rows(jumps.clone(), places, out),
            EdgeSide::There { matrix, .. } => {
                for (j, place) in places.enumerate() {
                    let mut column = out.as_mut().col_mut(place);
                    column += matrix.col(j);
                }
            }
        }
    }
}

/// The blocks of unknowns that an edge couples: those of both its sides, each once.
pub(super) fn edge_blocks(sides: &[EdgeSide<'_>]) -> Vec<usize> {
    let mut blocks: Vec<usize> = Vec::new();
    for block in sides.iter().flat_map(EdgeSide::blocks) {
        if !blocks.contains(block) {
            blocks.push(*block);
        }
    }
    blocks
}
