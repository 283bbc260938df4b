//! Nodes of a uniform grid in storage, and the rows of numbers that belong to them.
//!
//! The values at the (cx + 1) x (cy + 1) nodes are stored row by row inside a halo of zeros: node (i, j) is at column
//! i + 1 of row j + 1. With the halo, every node has eight neighbours in storage, and the sweeps over the nodes need no
//! case for the sides. The halo is two wide at the right and at the top, because a coarse grid may reach one cell
//! beyond the fine one (see [`coarsening`](super::coarsening)).
//!
//! A side with a Dirichlet condition is a *wall*: its nodes are no unknowns, and vectors are zero there. The unknowns
//! thus fill a rectangle of the storage.

use std::ops::Range;

/// A uniform grid of cells and its walls.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    pub cells: [usize; 2],
    /// Whether the side is a wall: left, right, bottom, top.
    pub walls: [bool; 4],
}

impl Grid {
    /// Numbers per row of storage.
    pub fn stride(&self) -> usize {
        self.cells[0] + 4
    }

    /// Rows of storage.
    pub fn rows(&self) -> usize {
        self.cells[1] + 4
    }

    /// A vector of zeros.
    pub fn zeros(&self) -> Vec<f64> {
        vec![0.0; self.stride() * self.rows()]
    }

    /// Columns of storage that hold unknowns.
    pub fn free_columns(&self) -> Range<usize> {
        Self::free(self.cells[0], self.walls[0], self.walls[1])
    }

    /// Rows of storage that hold unknowns.
    pub fn free_rows(&self) -> Range<usize> {
        Self::free(self.cells[1], self.walls[2], self.walls[3])
    }

    fn free(cells: usize, first: bool, last: bool) -> Range<usize> {
        1 + usize::from(first)..cells + 2 - usize::from(last)
    }

    /// Number of unknowns.
    pub fn unknowns(&self) -> usize {
        self.free_columns().len() * self.free_rows().len()
    }

    /// The least number of rows that is worth a task of its own.
    pub fn rows_per_task(&self) -> usize {
        (1 << 14) / self.stride() + 1
    }

    /// Storage indices of the nodes on walls; the corner of two walls comes twice.
    pub fn wall_nodes(&self) -> Vec<usize> {
        let [cx, cy] = self.cells;
        let stride = self.stride();
        let mut nodes = Vec::new();
        for (wall, column) in [(self.walls[0], 1), (self.walls[1], cx + 1)] {
            if wall {
                nodes.extend((1..cy + 2).map(|row| row * stride + column));
            }
        }
        for (wall, row) in [(self.walls[2], 1), (self.walls[3], cy + 1)] {
            if wall {
                nodes.extend((1..cx + 2).map(|column| row * stride + column));
            }
        }
        nodes
    }
}

/// Rows of numbers in the layout of a [`Grid`], where equal consecutive rows are stored once.
///
/// A constant coefficient then takes a few rows that stay in the cache, and a coefficient that is zero costs nothing.
#[derive(Debug)]
pub(super) struct Rows {
    values: Vec<f64>,
    stride: usize,
    start: Vec<usize>,
}

impl Rows {
    /// Takes the rows of a vector.
    pub fn new(mut values: Vec<f64>, stride: usize) -> Self {
        let rows = values.len() / stride;
        let mut start = Vec::with_capacity(rows);
        let mut end = 0;
        for row in 0..rows {
            let from = row * stride..(row + 1) * stride;
            if end == 0 || values[from.clone()] != values[end - stride..end] {
                values.copy_within(from, end);
                end += stride;
            }
            start.push(end - stride);
        }
        values.truncate(end);
        values.shrink_to_fit();
        Rows { values, stride, start }
    }

    /// One value in every cell, zero in the halo.
    pub fn constant(value: f64, grid: &Grid) -> Self {
        let stride = grid.stride();
        let mut values = vec![0.0; 2 * stride];
        values[stride + 1..=stride + grid.cells[0]].fill(value);
        let start = (0..grid.rows()).map(|row| if (1..=grid.cells[1]).contains(&row) { stride } else { 0 }).collect();
        Rows { values, stride, start }
    }

    /// One row of storage.
    #[inline(always)]
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[self.start[row]..][..self.stride]
    }
}

/// The inner product of two rows, in eight interleaved sums so that it vectorises.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    for (a, b) in a.iter().zip(b) {
        for (lane, (a, b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane += a * b;
        }
    }
    lanes.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}
