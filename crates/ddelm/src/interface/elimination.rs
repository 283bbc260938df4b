//! The elimination: the fronts of the interface system, assembled and factored from the leaves of their tree to its roots.

use faer::prelude::{Reborrow, ReborrowMut};
use faer::{MatMut, MatRef};

use super::cholesky::NotPositive;
use super::fronts::{Front, Symbolic};
use super::tiles::{factor_panel, subtract_square};

/// Subtrees with fewer operations than this stay on one thread.
pub(super) const SPAWN: f64 = 1e6;

/// A factorization is cut into at least so many pieces for every thread.
const PIECES: f64 = 16.0;

/// Siblings in two halves that can be worked on at the same time.
pub(super) struct Halves<'a> {
    pub left: &'a [usize],
    pub right: &'a [usize],
    /// Number of entries of the panels in the subtrees of the left half.
    pub entries: usize,
    /// Number of unknowns in the subtrees of the left half.
    pub unknowns: usize,
    /// Whether the smaller half is worth a thread.
    pub parallel: bool,
}

impl<'a> Halves<'a> {
    pub fn new(symbolic: &Symbolic, siblings: &'a [usize], spawn: f64) -> Self {
        let (left, right) = siblings.split_at(siblings.len() / 2);
        let work = |half: &[usize]| half.iter().map(|&f| symbolic.fronts[f].work).sum::<f64>();
        Self {
            left,
            right,
            entries: left.iter().map(|&f| symbolic.subtree_entries(f)).sum(),
            unknowns: left.iter().map(|&f| symbolic.fronts[f].unknowns.len()).sum(),
            parallel: work(left).min(work(right)) > spawn,
        }
    }

    pub fn join<A: Send, B: Send>(&self, left: impl FnOnce() -> A + Send, right: impl FnOnce() -> B + Send) -> (A, B) {
        if self.parallel { rayon::join(left, right) } else { (left(), right()) }
    }
}

/// A factorization under way.
///
/// The updates U live on a stack, because fresh memory costs as much as the arithmetic on it. The subtree of a front gets
/// a piece of the stack, and leaves U at its start: while the children work behind it, one after the other, each leaves
/// its own U behind that of the one before. Subtrees that run in parallel have pieces of their own.
pub(super) struct Elimination<'a, E> {
    symbolic: &'a Symbolic,
    shift: f64,
    element: E,
    /// Work that is worth a thread.
    spawn: f64,
    /// Length of the stack for the subtree of every front.
    needs: Vec<usize>,
}

impl<'a, E: Fn(usize, MatMut<'_, f64>) + Sync> Elimination<'a, E> {
    /// A factorization of S + shift diag(S) on the threads that there are.
    pub fn new(symbolic: &'a Symbolic, shift: f64, element: E) -> Self {
        let spawn = match rayon::current_num_threads() {
            1 => f64::INFINITY,
            threads => SPAWN.max(symbolic.operations() / (PIECES * threads as f64)),
        };
        let mut elimination = Elimination { symbolic, shift, element, spawn, needs: Vec::new() };
        for front in &symbolic.fronts {
            let element = front.elements.iter().map(|&k| symbolic.element_size(k).pow(2)).max().unwrap_or(0);
            let below = elimination.needs(&front.children).max(elimination.end(&front.children) + element);
            elimination.needs.push(front.boundary * front.boundary + below);
        }
        elimination
    }

    /// Length of the stack for the subtrees of siblings.
    pub fn needs(&self, siblings: &[usize]) -> usize {
        match siblings {
            [] => 0,
            &[only] => self.needs[only],
            _ => {
                let halves = Halves::new(self.symbolic, siblings, self.spawn);
                self.needs(halves.left).max(self.split(&halves) + self.needs(halves.right))
            }
        }
    }

    /// Where the right one of two halves begins on the stack.
    fn split(&self, halves: &Halves<'_>) -> usize {
        if halves.parallel { self.needs(halves.left) } else { self.end(halves.left) }
    }

    /// Where the last U of siblings ends on the stack.
    fn end(&self, siblings: &[usize]) -> usize {
        let last = siblings.last().map_or(0, |&f| self.symbolic.fronts[f].boundary.pow(2));
        self.places(siblings).last().map_or(0, |place| place + last)
    }

    /// Where the U of siblings lie on the stack.
    fn places(&self, siblings: &[usize]) -> Vec<usize> {
        match siblings {
            [] => Vec::new(),
            [_] => vec![0],
            _ => {
                let halves = Halves::new(self.symbolic, siblings, self.spawn);
                let split = self.split(&halves);
                let mut places = self.places(halves.left);
                places.extend(self.places(halves.right).into_iter().map(|place| split + place));
                places
            }
        }
    }

    /// Factors the subtrees of siblings, whose fronts make up `panels`, and leaves the U of each on the stack.
    pub fn siblings(&self, siblings: &[usize], panels: &mut [f64], stack: &mut [f64]) -> Result<(), NotPositive> {
        match siblings {
            [] => Ok(()),
            &[only] => self.eliminate(only, panels, stack),
            _ => {
                let halves = Halves::new(self.symbolic, siblings, self.spawn);
                let (panels_left, panels_right) = panels.split_at_mut(halves.entries);
                let split = self.split(&halves);
                if !halves.parallel {
                    self.siblings(halves.left, panels_left, stack)?;
                    return self.siblings(halves.right, panels_right, &mut stack[split..]);
                }
                let (stack_left, stack_right) = stack.split_at_mut(split);
                let (left, right) = rayon::join(
                    || self.siblings(halves.left, panels_left, stack_left),
                    || self.siblings(halves.right, panels_right, stack_right),
                );
                left.and(right)
            }
        }
    }

    /// Factors a subtree and leaves the U of its last front at the start of the stack.
    fn eliminate(&self, f: usize, panels: &mut [f64], stack: &mut [f64]) -> Result<(), NotPositive> {
        let front = &self.symbolic.fronts[f];
        let Front { pivots, boundary, .. } = *front;
        let (panels_below, panel) = panels.split_at_mut(panels.len() - front.panel.len());
        let (update, stack) = stack.split_at_mut(boundary * boundary);
        self.siblings(&front.children, panels_below, stack)?;
        let mut matrix = FrontMatrix { panel, update, pivots, boundary };
        matrix.clear();
        let (updates, scratch) = stack.split_at_mut(self.end(&front.children));
        for &k in &front.elements {
            self.add_element(k, front, &mut matrix, scratch);
        }
        for (&child, place) in front.children.iter().zip(self.places(&front.children)) {
            matrix.add_update(&self.symbolic.fronts[child], &updates[place..]);
        }
        let mut panel = MatMut::from_column_major_slice_mut(panel, pivots + boundary, pivots);
        factor_panel(panel.rb_mut()).map_err(|pivot| self.not_positive(front, pivot))?;
        let update = MatMut::from_column_major_slice_mut(update, boundary, boundary);
        subtract_square(update, panel.rb().subrows(pivots, boundary));
        Ok(())
    }

    fn not_positive(&self, front: &Front, pivot: usize) -> NotPositive {
        let position = front.unknowns.end - front.pivots + pivot;
        NotPositive { unknown: self.symbolic.order[position], position }
    }

    fn add_element(&self, k: usize, front: &Front, matrix: &mut FrontMatrix<'_>, scratch: &mut [f64]) {
        let blocks = &self.symbolic.elements[k];
        let size = |block: usize| self.symbolic.block_size(block);
        let dimension = self.symbolic.element_size(k);
        let entries = &mut scratch[..dimension * dimension];
        entries.fill(0.0);
        let mut m = MatMut::from_column_major_slice_mut(entries, dimension, dimension);
        (self.element)(k, m.rb_mut());
        for i in 0..dimension {
            m[(i, i)] *= 1.0 + self.shift;
        }
        let row = |block: usize| front.blocks.iter().position(|&b| b == block).map_or(0, |place| front.rows[place]);
        let rows: Vec<usize> = blocks.iter().map(|&block| row(block)).collect();
        let mut j = 0;
        for (b, &column_block) in blocks.iter().enumerate() {
            let mut i = j;
            for (a, &row_block) in blocks.iter().enumerate().skip(b) {
                let part = m.rb().submatrix(i, j, size(row_block), size(column_block));
                if a == b {
                    matrix.add_triangle(rows[a], part);
                } else if rows[a] > rows[b] {
                    matrix.add(rows[a], rows[b], part);
                } else {
                    matrix.add(rows[b], rows[a], part.transpose());
                }
                i += size(row_block);
            }
            j += size(column_block);
        }
    }
}

/// The lower triangle of a front: its pivot columns, and the square of its boundary.
struct FrontMatrix<'a> {
    panel: &'a mut [f64],
    update: &'a mut [f64],
    pivots: usize,
    boundary: usize,
}

impl FrontMatrix<'_> {
    /// Sets the lower triangle to zero. A page of fresh memory that is read first costs twice.
    fn clear(&mut self) {
        self.panel.fill(0.0);
        for (j, column) in self.update.chunks_exact_mut(self.boundary.max(1)).enumerate() {
            column[j..].fill(0.0);
        }
    }

    /// The entries of one column from a row on, as far down as the front goes.
    fn column(&mut self, row: usize, column: usize) -> &mut [f64] {
        let Self { pivots, boundary, .. } = *self;
        match column.checked_sub(pivots) {
            Some(column) => &mut self.update[boundary * column..boundary * (column + 1)][row - pivots..],
            None => &mut self.panel[(pivots + boundary) * column..(pivots + boundary) * (column + 1)][row..],
        }
    }

    fn add(&mut self, row: usize, column: usize, part: MatRef<'_, f64>) {
        for j in 0..part.ncols() {
            for (target, value) in self.column(row, column + j).iter_mut().zip(part.col(j).iter()) {
                *target += value;
            }
        }
    }

    fn add_triangle(&mut self, row: usize, part: MatRef<'_, f64>) {
        for j in 0..part.ncols() {
            for (target, value) in self.column(row + j, row + j).iter_mut().zip(part.col(j).iter().skip(j)) {
                *target += value;
            }
        }
    }

    /// Adds the U of a child.
    fn add_update(&mut self, child: &Front, update: &[f64]) {
        for (k, columns) in child.runs.iter().enumerate() {
            for j in 0..columns.len {
                let source = &update[child.boundary * (columns.from + j)..child.boundary * (columns.from + j + 1)];
                for (rows, skip) in child.runs[k..].iter().zip(std::iter::once(j).chain(std::iter::repeat(0))) {
                    let source = &source[rows.from + skip..rows.from + rows.len];
                    for (target, value) in self.column(rows.to + skip, columns.to + j).iter_mut().zip(source) {
                        *target += value;
                    }
                }
            }
        }
    }
}
