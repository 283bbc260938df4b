//! The direct solver of the interface system: a multifrontal Cholesky factorization S = L L'.
//!
//! S is a sum of dense element matrices, S = sum_k P_k' M_k P_k: the least-squares residual T of every subdomain over
//! its own edges, and the squared flux jump D_e' D_e of every edge over the edges of both its subdomains. It is
//! factored front by front (see [`Symbolic`]). A front with the lower triangle
//!
//! ```text
//! F = [F11    ]     F11 = L11 L11',   L21 = F21 L11^-T,   U = F22 - L21 L21'
//!     [F21 F22]
//! ```
//!
//! keeps the panel [L11; L21] as its columns of L and hands U on to its parent. Elements are asked for when their
//! front is assembled, so S never exists as a whole.
//!
//! Subtrees run in parallel, and so do the tiles of large fronts. The tiles depend on the sizes alone and children are
//! added in a fixed order: the bits of the result do not depend on the number of threads.

use std::sync::Arc;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltError, LltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::{matmul, triangular};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, Mat, MatMut, MatRef, Par, Spec};

use super::fronts::{Front, Symbolic};
use crate::error::Error;

/// Panels up to this width are factored by one call of the dense kernel.
const PANEL: usize = 64;

/// Products larger than this in either direction are computed in tiles.
const TILE: usize = 384;

/// Subtrees with fewer operations than this stay on one thread.
const SPAWN: f64 = 1e6;

/// A pivot that is not positive: S is singular or indefinite, by nature or by rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the pivot of interface unknown {unknown} is not positive")]
pub struct NotPositive {
    /// The unknown, in the numbering of the caller.
    pub unknown: usize,
    /// Number of unknowns that were eliminated before it, at most.
    pub position: usize,
}

impl From<NotPositive> for Error {
    fn from(error: NotPositive) -> Self {
        Error::Compute {
            stage: "interface factorization",
            problem: error.to_string(),
            hint: "the interface system is singular to working precision: check that the boundary conditions fix the \
                   solution, and use fewer neurons than collocation points"
                .into(),
        }
    }
}

/// The factor L of an interface system.
#[derive(Debug, Clone)]
pub struct SparseCholesky {
    symbolic: Arc<Symbolic>,
    /// [L11; L21] of every front.
    panels: Vec<Mat<f64>>,
    shift: f64,
}

impl SparseCholesky {
    /// Factors S + shift diag(S).
    ///
    /// `element(k, m)` writes the lower triangle of element k into `m`: zero on entry, as large as the blocks of the
    /// element together, in the order in which they were listed. It is called once for every element, from any
    /// thread. A `shift` of 0 factors S itself; after [`NotPositive`], a tiny one such as 1e-14 makes up for rounding.
    pub fn factor(
        symbolic: &Arc<Symbolic>,
        shift: f64,
        element: impl Fn(usize, MatMut<'_, f64>) + Sync,
    ) -> Result<Self, NotPositive> {
        let mut panels = vec![Mat::new(); symbolic.fronts.len()];
        Elimination { symbolic, shift, element }.siblings(&symbolic.roots, &mut panels)?;
        Ok(Self { symbolic: symbolic.clone(), panels, shift })
    }

    /// The plan that was followed.
    pub fn symbolic(&self) -> &Symbolic {
        &self.symbolic
    }

    /// What was added to the diagonal, relative to it: 0 unless the caller asked for it.
    pub fn shift(&self) -> f64 {
        self.shift
    }

    /// Replaces every column of `rhs` by the solution of (S + shift diag(S)) x = rhs.
    ///
    /// # Panics
    /// If `rhs` has not as many rows as there are unknowns.
    pub fn solve(&self, mut rhs: MatMut<'_, f64>) {
        let order = &self.symbolic.order;
        assert_eq!(rhs.nrows(), order.len(), "one row for every interface unknown");
        let mut x = Mat::from_fn(order.len(), rhs.ncols(), |i, j| rhs[(order[i], j)]);
        self.forward_siblings(&self.symbolic.roots, x.as_mut());
        self.backward_siblings(&self.symbolic.roots, x.as_mut(), &|_| Mat::zeros(0, rhs.ncols()));
        for j in 0..rhs.ncols() {
            for (i, &unknown) in order.iter().enumerate() {
                rhs[(unknown, j)] = x[(i, j)];
            }
        }
    }

    fn front(&self, f: usize) -> &Front {
        &self.symbolic.fronts[f]
    }

    /// Solves L y = x in the subtrees of siblings, whose unknowns make up `x`; returns what each of them adds to the
    /// right-hand side of its boundary.
    fn forward_siblings(&self, siblings: &[usize], x: MatMut<'_, f64>) -> Vec<Mat<f64>> {
        match siblings {
            [] => Vec::new(),
            &[only] => vec![self.forward(only, x)],
            _ => {
                let halves = Halves::new(&self.symbolic, siblings);
                let (x_left, x_right) = x.split_at_row_mut(halves.unknowns);
                let (mut left, right) = halves.join(
                    || self.forward_siblings(halves.left, x_left),
                    || self.forward_siblings(halves.right, x_right),
                );
                left.extend(right);
                left
            }
        }
    }

    fn forward(&self, f: usize, x: MatMut<'_, f64>) -> Mat<f64> {
        let front = self.front(f);
        let below = x.nrows() - front.pivots;
        let (x_below, mut x) = x.split_at_row_mut(below);
        let contributions = self.forward_siblings(&front.children, x_below);
        let mut boundary = Mat::zeros(front.boundary, x.ncols());
        for (&child, contribution) in front.children.iter().zip(&contributions) {
            for run in &self.front(child).runs {
                for j in 0..x.ncols() {
                    for i in 0..run.len {
                        let target = match (run.to + i).checked_sub(front.pivots) {
                            Some(row) => &mut boundary[(row, j)],
                            None => &mut x[(run.to + i, j)],
                        };
                        *target += contribution[(run.from + i, j)];
                    }
                }
            }
        }
        let (l11, l21) = self.panels[f].split_at_row(front.pivots);
        solve_lower_triangular_in_place(l11, x.rb_mut(), Par::Seq);
        matmul(boundary.as_mut(), Accum::Add, l21, x.rb(), -1.0, Par::Seq);
        boundary
    }

    /// Solves L' x = y in the subtrees of siblings; `boundary` gives the values on the boundary of each of them.
    fn backward_siblings(&self, siblings: &[usize], x: MatMut<'_, f64>, boundary: &(impl Fn(usize) -> Mat<f64> + Sync)) {
        match siblings {
            [] => (),
            &[only] => self.backward(only, x, boundary(only).as_ref()),
            _ => {
                let halves = Halves::new(&self.symbolic, siblings);
                let (x_left, x_right) = x.split_at_row_mut(halves.unknowns);
                halves.join(
                    || self.backward_siblings(halves.left, x_left, boundary),
                    || self.backward_siblings(halves.right, x_right, boundary),
                );
            }
        }
    }

    fn backward(&self, f: usize, x: MatMut<'_, f64>, boundary: MatRef<'_, f64>) {
        let front = self.front(f);
        let below = x.nrows() - front.pivots;
        let (x_below, mut x) = x.split_at_row_mut(below);
        let (l11, l21) = self.panels[f].split_at_row(front.pivots);
        matmul(x.rb_mut(), Accum::Add, l21.transpose(), boundary, -1.0, Par::Seq);
        solve_upper_triangular_in_place(l11.transpose(), x.rb_mut(), Par::Seq);
        let x = x.rb();
        self.backward_siblings(&front.children, x_below, &|child| {
            let child = self.front(child);
            let mut values = Mat::zeros(child.boundary, x.ncols());
            for run in &child.runs {
                for j in 0..x.ncols() {
                    for i in 0..run.len {
                        values[(run.from + i, j)] = match (run.to + i).checked_sub(front.pivots) {
                            Some(row) => boundary[(row, j)],
                            None => x[(run.to + i, j)],
                        };
                    }
                }
            }
            values
        });
    }
}

/// Siblings in two halves that can be worked on at the same time.
struct Halves<'a> {
    left: &'a [usize],
    right: &'a [usize],
    /// Number of fronts in the subtrees of the left half.
    fronts: usize,
    /// Number of unknowns in the subtrees of the left half.
    unknowns: usize,
    /// Whether the smaller half is worth a thread.
    parallel: bool,
}

impl<'a> Halves<'a> {
    fn new(symbolic: &Symbolic, siblings: &'a [usize]) -> Self {
        let (left, right) = siblings.split_at(siblings.len() / 2);
        let work = |half: &[usize]| half.iter().map(|&f| symbolic.fronts[f].work).sum::<f64>();
        Self {
            left,
            right,
            fronts: left.iter().map(|&f| symbolic.fronts[f].subtree.len()).sum(),
            unknowns: left.iter().map(|&f| symbolic.fronts[f].unknowns.len()).sum(),
            parallel: work(left).min(work(right)) > SPAWN,
        }
    }

    fn join<A: Send, B: Send>(&self, left: impl FnOnce() -> A + Send, right: impl FnOnce() -> B + Send) -> (A, B) {
        if self.parallel { rayon::join(left, right) } else { (left(), right()) }
    }
}

/// A factorization under way.
struct Elimination<'a, E> {
    symbolic: &'a Symbolic,
    shift: f64,
    element: E,
}

impl<E: Fn(usize, MatMut<'_, f64>) + Sync> Elimination<'_, E> {
    /// Factors the subtrees of siblings, whose fronts make up `panels`; returns the U of each.
    fn siblings(&self, siblings: &[usize], panels: &mut [Mat<f64>]) -> Result<Vec<Mat<f64>>, NotPositive> {
        match siblings {
            [] => Ok(Vec::new()),
            &[only] => Ok(vec![self.eliminate(only, panels)?]),
            _ => {
                let halves = Halves::new(self.symbolic, siblings);
                let (panels_left, panels_right) = panels.split_at_mut(halves.fronts);
                let (left, right) = halves.join(
                    || self.siblings(halves.left, panels_left),
                    || self.siblings(halves.right, panels_right),
                );
                let mut left = left?;
                left.extend(right?);
                Ok(left)
            }
        }
    }

    /// Factors a subtree and returns the U of its last front.
    fn eliminate(&self, f: usize, panels: &mut [Mat<f64>]) -> Result<Mat<f64>, NotPositive> {
        let front = &self.symbolic.fronts[f];
        let (panels_below, panel) = panels.split_at_mut(front.subtree.len() - 1);
        let updates = self.siblings(&front.children, panels_below)?;
        let mut matrix = FrontMatrix::zeros(front);
        for &k in &front.elements {
            self.add_element(k, front, &mut matrix);
        }
        for (&child, update) in front.children.iter().zip(updates) {
            matrix.add_update(&self.symbolic.fronts[child], &update);
        }
        let FrontMatrix { panel: mut columns, mut update, .. } = matrix;
        factor_panel(columns.as_mut()).map_err(|pivot| self.not_positive(front, pivot))?;
        subtract_square(update.as_mut(), columns.get(front.pivots.., ..));
        panel[0] = columns;
        Ok(update)
    }

    fn not_positive(&self, front: &Front, pivot: usize) -> NotPositive {
        let position = front.unknowns.end - front.pivots + pivot;
        NotPositive { unknown: self.symbolic.order[position], position }
    }

    fn add_element(&self, k: usize, front: &Front, matrix: &mut FrontMatrix) {
        let blocks = &self.symbolic.elements[k];
        let size = |block: usize| self.symbolic.offsets[block + 1] - self.symbolic.offsets[block];
        let dimension = blocks.iter().map(|&block| size(block)).sum();
        let mut m = Mat::zeros(dimension, dimension);
        (self.element)(k, m.as_mut());
        for i in 0..dimension {
            m[(i, i)] *= 1.0 + self.shift;
        }
        let row = |block: usize| front.blocks.iter().position(|&b| b == block).map_or(0, |place| front.rows[place]);
        let rows: Vec<usize> = blocks.iter().map(|&block| row(block)).collect();
        let mut j = 0;
        for (b, &column_block) in blocks.iter().enumerate() {
            let mut i = j;
            for (a, &row_block) in blocks.iter().enumerate().skip(b) {
                let part = m.as_ref().submatrix(i, j, size(row_block), size(column_block));
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
struct FrontMatrix {
    panel: Mat<f64>,
    update: Mat<f64>,
    pivots: usize,
}

impl FrontMatrix {
    fn zeros(front: &Front) -> Self {
        let Front { pivots, boundary, .. } = *front;
        Self { panel: Mat::zeros(pivots + boundary, pivots), update: Mat::zeros(boundary, boundary), pivots }
    }

    /// The entries of one column from a row on, as far down as the front goes.
    fn column(&mut self, row: usize, column: usize) -> &mut [f64] {
        match column.checked_sub(self.pivots) {
            Some(column) => &mut self.update.col_as_slice_mut(column)[row - self.pivots..],
            None => &mut self.panel.col_as_slice_mut(column)[row..],
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
    fn add_update(&mut self, child: &Front, update: &Mat<f64>) {
        for (k, columns) in child.runs.iter().enumerate() {
            for j in 0..columns.len {
                let source = update.col_as_slice(columns.from + j);
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

/// Replaces the pivot columns [F11; F21] of a front by [L11; L21]. An error is the number of a pivot that is not
/// positive.
fn factor_panel(panel: MatMut<'_, f64>) -> Result<(), usize> {
    let width = panel.ncols();
    if width <= PANEL {
        let (mut square, below) = panel.split_at_row_mut(width);
        factor_square(square.rb_mut())?;
        return Ok(solve_rows(square.rb(), below));
    }
    let half = (width / 2).next_multiple_of(PANEL / 4);
    let (mut left, right) = panel.split_at_col_mut(half);
    factor_panel(left.rb_mut())?;
    let mut right = right.subrows_mut(half, left.nrows() - half);
    let (top, bottom) = left.rb().subrows(half, left.nrows() - half).split_at_row(width - half);
    let (right_top, right_bottom) = right.rb_mut().split_at_row_mut(width - half);
    rayon::join(|| subtract_square(right_top, top), || subtract_product(right_bottom, bottom, top));
    factor_panel(right).map_err(|pivot| pivot + half)
}

fn factor_square(square: MatMut<'_, f64>) -> Result<(), usize> {
    let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(square.nrows(), Par::Seq, Spec::default()));
    let stack = MemStack::new(&mut memory);
    cholesky_in_place(square, LltRegularization::default(), Par::Seq, stack, Spec::default())
        .map(|_| ())
        .map_err(|LltError::NonPositivePivot { index }| index)
}

/// X <- X L^-T, in tiles of rows.
fn solve_rows(l: MatRef<'_, f64>, x: MatMut<'_, f64>) {
    if x.nrows() <= TILE {
        return solve_lower_triangular_in_place(l, x.transpose_mut(), Par::Seq);
    }
    let half = x.nrows() / 2;
    let (top, bottom) = x.split_at_row_mut(half);
    rayon::join(|| solve_rows(l, top), || solve_rows(l, bottom));
}

/// The lower triangle of C <- C - A A', in tiles.
fn subtract_square(c: MatMut<'_, f64>, a: MatRef<'_, f64>) {
    if c.nrows() <= TILE {
        use triangular::BlockStructure::{Rectangular, TriangularLower};
        let b = a.transpose();
        return triangular::matmul(c, TriangularLower, Accum::Add, a, Rectangular, b, Rectangular, -1.0, Par::Seq);
    }
    let half = c.nrows() / 2;
    let (c11, _, c21, c22) = c.split_at_mut(half, half);
    let (a1, a2) = a.split_at_row(half);
    rayon::join(
        || subtract_product(c21, a2, a1),
        || rayon::join(|| subtract_square(c11, a1), || subtract_square(c22, a2)),
    );
}

/// C <- C - A B', in tiles.
fn subtract_product(c: MatMut<'_, f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    if c.nrows().max(c.ncols()) <= TILE {
        return matmul(c, Accum::Add, a, b.transpose(), -1.0, Par::Seq);
    }
    if c.nrows() >= c.ncols() {
        let half = c.nrows() / 2;
        let (top, bottom) = c.split_at_row_mut(half);
        let (a1, a2) = a.split_at_row(half);
        rayon::join(|| subtract_product(top, a1, b), || subtract_product(bottom, a2, b));
    } else {
        let half = c.ncols() / 2;
        let (left, right) = c.split_at_col_mut(half);
        let (b1, b2) = b.split_at_row(half);
        rayon::join(|| subtract_product(left, a, b1), || subtract_product(right, a, b2));
    }
}
