//! The elimination: the fronts of the interface system, assembled and factored from the leaves of their tree to its roots.

use std::ops::Range;

use faer::prelude::{Reborrow, ReborrowMut};
use faer::{MatMut, MatRef};
use rayon::prelude::*;

use super::cholesky::NotPositive;
use super::congruence::Class;
use super::fronts::{Front, Symbolic};
use super::memory::Memory;
use super::tiles::{add_product, add_square, factor_panel};

/// A factorization under way.
pub(super) struct Elimination<'a, E> {
    pub symbolic: &'a Symbolic,
    /// What is added to the diagonal, relative to it.
    pub shift: f64,
    /// Writes the lower triangle of an element.
    pub element: E,
}

impl<E: Fn(usize, MatMut<'_, f64>) + Sync> Elimination<'_, E> {
    /// The panels of all classes, one after the other.
    ///
    /// Level by level, because a level needs the updates U of the one below and no others: two arrays hold them in turn.
    pub fn panels(&self) -> Result<Memory, NotPositive> {
        let Symbolic { classes, levels, .. } = self.symbolic;
        let stored = |level: &Range<usize>| classes[level.clone()].last().map_or(0, |class| class.update.end);
        let most = |parity: usize| levels.iter().map(stored).skip(parity).step_by(2).max().unwrap_or(0);
        let (mut here, mut below) = (Memory::zeros(most(0)), Memory::zeros(most(1)));
        let mut panels = Memory::zeros(self.symbolic.panel_entries());
        let mut rest = &mut panels[..];
        for level in levels {
            let mut jobs = Vec::with_capacity(level.len());
            let mut free = &mut here[..];
            for class in &classes[level.clone()] {
                let (panel, panels_after) = rest.split_at_mut(class.panel.len());
                let (update, updates_after) = free.split_at_mut(class.update.len());
                (rest, free) = (panels_after, updates_after);
                jobs.push((class, panel, update));
            }
            let eliminate =
                |scratch: &mut Vec<f64>, (class, panel, update)| self.eliminate(class, panel, update, &below, scratch);
            let outcomes: Vec<_> = jobs.into_par_iter().map_init(Vec::new, eliminate).collect();
            outcomes.into_iter().collect::<Result<(), NotPositive>>()?;
            std::mem::swap(&mut here, &mut below);
        }
        Ok(panels)
    }

    /// Assembles and factors the matrix of a class: `panel` gets [L11; L21] and `update` gets U. `below` has the updates
    /// of the level below.
    fn eliminate(
        &self,
        class: &Class,
        panel: &mut [f64],
        update: &mut [f64],
        below: &[f64],
        scratch: &mut Vec<f64>,
    ) -> Result<(), NotPositive> {
        let front = &self.symbolic.fronts[class.members[0]];
        let Front { multipliers, pivots, boundary, .. } = *front;
        let mut matrix = FrontMatrix { panel, update, pivots, boundary };
        matrix.clear();
        for &k in &front.elements {
            self.add_element(k, front, &mut matrix, scratch);
        }
        for &child in &front.children {
            let child = &self.symbolic.fronts[child];
            matrix.add_update(child, &below[self.symbolic.classes[child.member.0].update.clone()]);
        }
        let not_positive = |pivot: usize| {
            let position = front.unknowns.start + pivot;
            NotPositive { unknown: self.symbolic.order[position], position }
        };
        let panel = MatMut::from_column_major_slice_mut(panel, pivots + boundary, pivots);
        let mut update = MatMut::from_column_major_slice_mut(update, boundary, boundary);
        let (mut first, second) = panel.split_at_col_mut(multipliers);
        let mut second = second.subrows_mut(multipliers, pivots + boundary - multipliers);
        if multipliers > 0 {
            // [-P  .; W F] with positive P: its Schur complement is F + W P^-1 W'.
            first *= faer::Scale(-1.0);
            factor_panel(first.rb_mut()).map_err(not_positive)?;
            let (values, outer) = first.rb().split_at_row(multipliers).1.split_at_row(pivots - multipliers);
            let (top, bottom) = second.rb_mut().split_at_row_mut(pivots - multipliers);
            rayon::join(
                || rayon::join(|| add_square(top, 1.0, values), || add_product(bottom, 1.0, outer, values)),
                || add_square(update.rb_mut(), 1.0, outer),
            );
        }
        factor_panel(second.rb_mut()).map_err(|pivot| not_positive(multipliers + pivot))?;
        add_square(update, -1.0, second.rb().subrows(pivots - multipliers, boundary));
        Ok(())
    }

    fn add_element(&self, k: usize, front: &Front, matrix: &mut FrontMatrix<'_>, scratch: &mut Vec<f64>) {
        let size = self.symbolic.element_size(k);
        scratch.clear();
        scratch.resize(size * size, 0.0);
        let mut m = MatMut::from_column_major_slice_mut(scratch, size, size);
        (self.element)(k, m.rb_mut());
        for i in 0..size {
            m[(i, i)] *= 1.0 + self.shift;
        }
        // For every part: its size, where it begins in the element, and where in the front.
        let mut start = 0;
        let mut parts = Vec::with_capacity(8);
        for part in self.symbolic.elements[k].blocks.iter().flat_map(|&block| [2 * block, 2 * block + 1]) {
            let size = self.symbolic.part_size(part);
            parts.push((size, start, front.row(part)));
            start += size;
        }
        for (b, &(width, j, column)) in parts.iter().enumerate() {
            matrix.add_triangle(column, m.rb().submatrix(j, j, width, width));
            for &(height, i, row) in &parts[b + 1..] {
                matrix.add_off_diagonal(row, column, m.rb().submatrix(i, j, height, width));
            }
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

    /// Adds a part that does not meet the diagonal, in the lower triangle.
    fn add_off_diagonal(&mut self, row: usize, column: usize, part: MatRef<'_, f64>) {
        let (row, column, part) = if row > column { (row, column, part) } else { (column, row, part.transpose()) };
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
        let update = MatRef::from_column_major_slice(update, child.boundary, child.boundary);
        for (k, columns) in child.runs.iter().enumerate() {
            self.add_triangle(columns.to, update.submatrix(columns.from, columns.from, columns.len, columns.len));
            for rows in &child.runs[k + 1..] {
                self.add_off_diagonal(
                    rows.to,
                    columns.to,
                    update.submatrix(rows.from, columns.from, rows.len, columns.len),
                );
            }
        }
    }
}
