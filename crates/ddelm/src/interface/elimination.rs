//! The elimination: the fronts of the interface system, assembled and factored from the leaves of their tree to its roots.

use std::ops::Range;

use faer::prelude::{Reborrow, ReborrowMut};
use faer::{MatMut, MatRef};
use rayon::prelude::*;

use super::congruence::Class;
use super::front::Front;
use super::fronts::Symbolic;
use super::memory::Memory;
use super::tiles::{Pivots, add_product, factor_square, row_sizes, solve_columns, solve_rows};
use crate::base::error::{Error, Result};
use crate::base::progress::{Progress, stop_if_asked};

/// A pivot that is zero: the system is singular, by nature or by rounding. The unknown is in the numbering of the caller.
fn singular(unknown: usize) -> Error {
    Error::Compute {
        stage: "interface factorization",
        problem: format!("the interface system is singular to working precision (unknown {unknown} has no pivot)"),
        hint: "check that the boundary conditions fix the solution; where the reaction is negative, another number of \
               subdomains has other resonances"
            .into(),
    }
}

/// A pivot smaller than this times the largest of its front, in units of their rows, is zero to rounding.
const SMALLEST: f64 = 1e-15;

/// Pivots of such a ratio belong to a resonance: solving with them would lose more digits than refinement can find again.
const RESONANCE: f64 = 1e-9;

/// The shift of the diagonal at a resonance, relative to the largest entry of its row.
const SHIFT: f64 = 1e-8;

/// A factorization under way.
pub(super) struct Elimination<'a, E> {
    pub symbolic: &'a Symbolic,
    /// Writes an element.
    pub element: E,
    /// Who may stop it, between two fronts.
    pub progress: &'a dyn Progress,
}

/// The numbers of a factorization.
#[derive(Debug)]
pub(super) struct Numbers {
    /// For every class `[L11 \ U11; L21]` and U12, one class after the other.
    pub entries: Memory,
    /// For every class the row of F11 that each row of L11 and U11 comes from.
    pub rows: Vec<Vec<usize>>,
}

impl<E: Fn(usize, MatMut<'_, f64>) + Sync> Elimination<'_, E> {
    /// Factors all classes.
    ///
    /// Level by level, because a level needs the updates U of the one below and no others: two arrays hold them in turn.
    pub fn run(&self) -> Result<Numbers> {
        let Symbolic { classes, levels, .. } = self.symbolic;
        let stored = |level: &Range<usize>| classes[level.clone()].last().map_or(0, |class| class.update.end);
        let most = |parity: usize| levels.iter().map(stored).skip(parity).step_by(2).max().unwrap_or(0);
        let (mut here, mut below) = (Memory::zeros(most(0)), Memory::zeros(most(1)));
        let mut entries = self.symbolic.spare.take(self.symbolic.entries());
        let mut rows = Vec::with_capacity(classes.len());
        let mut rest = &mut entries[..];
        for level in levels {
            let mut jobs = Vec::with_capacity(level.len());
            let mut free = &mut here[..];
            for class in &classes[level.clone()] {
                let (factor, factors_after) = rest.split_at_mut(class.factor.len());
                let (update, updates_after) = free.split_at_mut(class.update.len());
                (rest, free) = (factors_after, updates_after);
                jobs.push((class, factor, update));
            }
            let eliminate = |scratch: &mut Vec<f64>, (class, factor, update)| {
                self.eliminate(class, factor, update, &below, scratch)
            };
            let outcomes: Vec<_> = jobs.into_par_iter().map_init(Vec::new, eliminate).collect();
            rows.extend(outcomes.into_iter().collect::<Result<Vec<Vec<usize>>>>()?);
            std::mem::swap(&mut here, &mut below);
        }
        Ok(Numbers { entries, rows })
    }

    /// Assembles and factors the matrix of a class: `factor` gets L and U, `update` gets what is left of the boundary. `below`
    /// has the updates of the level below. Returns the order of the pivot rows.
    fn eliminate(
        &self,
        class: &Class,
        factor: &mut [f64],
        update: &mut [f64],
        below: &[f64],
        scratch: &mut Vec<f64>,
    ) -> Result<Vec<usize>> {
        stop_if_asked(self.progress)?;
        let front = &self.symbolic.fronts[class.members[0]];
        let Front { pivots, boundary, .. } = *front;
        // A page of fresh memory that is read first costs twice.
        factor.fill(0.0);
        update.fill(0.0);
        let mut matrix = FrontMatrix::new(factor, update, pivots, boundary);
        for &k in &front.elements {
            self.add_element(k, front, &mut matrix, scratch);
        }
        for &child in &front.children {
            let child = &self.symbolic.fronts[child];
            matrix.add_update(child, &below[self.symbolic.classes[child.member.0].update.clone()]);
        }
        let FrontMatrix { panel, mut right, update } = matrix;
        let (square, mut lower) = panel.split_at_row_mut(pivots);
        let (square, rows) = self.factor_pivots(front, square, scratch)?;
        rayon::join(|| solve_rows(square.rb(), lower.rb_mut()), || solve_columns(square.rb(), &rows, right.rb_mut()));
        add_product(update, -1.0, lower.rb(), right.rb());
        Ok(rows)
    }

    /// Factors the pivots of a front.
    ///
    /// Where they are singular to rounding, the problem of the boxes that meet here has a resonance. Their diagonal is
    /// shifted, by so little that refinement undoes it; at a root there is nothing left that could make up for it.
    fn factor_pivots<'a>(
        &self,
        front: &Front,
        mut square: MatMut<'a, f64>,
        scratch: &mut Vec<f64>,
    ) -> Result<(MatMut<'a, f64>, Vec<usize>)> {
        scratch.clear();
        scratch.extend(square.rb().col_iter().flat_map(|column| column.iter().copied()));
        let mut factored = factor_square(square.rb_mut());
        if factored.ratio < RESONANCE && front.boundary > 0 {
            let before = MatRef::from_column_major_slice(scratch, front.pivots, front.pivots);
            square.copy_from(before);
            let sizes = row_sizes(before);
            (0..front.pivots).for_each(|i| square[(i, i)] += SHIFT * sizes[i]);
            factored = factor_square(square.rb_mut());
        }
        let Pivots { rows, smallest, ratio } = factored;
        if ratio < SMALLEST {
            return Err(singular(self.symbolic.order[front.unknowns.start + smallest]));
        }
        Ok((square, rows))
    }

    fn add_element(&self, k: usize, front: &Front, matrix: &mut FrontMatrix<'_>, scratch: &mut Vec<f64>) {
        let size = self.symbolic.element_size(k);
        scratch.clear();
        scratch.resize(size * size, 0.0);
        let mut m = MatMut::from_column_major_slice_mut(scratch, size, size);
        (self.element)(k, m.rb_mut());
        // For every block: its size, where it begins in the element, and where in the front.
        let mut start = 0;
        let mut places = Vec::with_capacity(8);
        for &block in &self.symbolic.elements[k].blocks {
            let size = self.symbolic.blocks[block].size;
            places.push((size, start, front.row(block)));
            start += size;
        }
        for &(width, j, column) in &places {
            for &(height, i, row) in &places {
                matrix.add(row, column, m.rb().submatrix(i, j, height, width));
            }
        }
    }
}

/// A front: its pivot columns [F11; F21], and F12 and F22 to the right of them.
struct FrontMatrix<'a> {
    panel: MatMut<'a, f64>,
    right: MatMut<'a, f64>,
    update: MatMut<'a, f64>,
}

impl<'a> FrontMatrix<'a> {
    fn new(factor: &'a mut [f64], update: &'a mut [f64], pivots: usize, boundary: usize) -> Self {
        let (panel, right) = factor.split_at_mut((pivots + boundary) * pivots);
        FrontMatrix {
            panel: MatMut::from_column_major_slice_mut(panel, pivots + boundary, pivots),
            right: MatMut::from_column_major_slice_mut(right, pivots, boundary),
            update: MatMut::from_column_major_slice_mut(update, boundary, boundary),
        }
    }

    /// Adds a part that lies in the pivots or in the boundary, with its rows and with its columns.
    fn add(&mut self, row: usize, column: usize, part: MatRef<'_, f64>) {
        let pivots = self.panel.ncols();
        let target = match (row.checked_sub(pivots), column.checked_sub(pivots)) {
            (_, None) => self.panel.rb_mut().submatrix_mut(row, column, part.nrows(), part.ncols()),
            (None, Some(column)) => self.right.rb_mut().submatrix_mut(row, column, part.nrows(), part.ncols()),
            (Some(row), Some(column)) => self.update.rb_mut().submatrix_mut(row, column, part.nrows(), part.ncols()),
        };
        for (target, part) in target.col_iter_mut().zip(part.col_iter()) {
            target.iter_mut().zip(part.iter()).for_each(|(target, value)| *target += value);
        }
    }

    /// Adds the U of a child.
    fn add_update(&mut self, child: &Front, update: &[f64]) {
        let update = MatRef::from_column_major_slice(update, child.boundary, child.boundary);
        for columns in &child.runs {
            for rows in &child.runs {
                self.add(rows.to, columns.to, update.submatrix(rows.from, columns.from, rows.len, columns.len));
            }
        }
    }
}
