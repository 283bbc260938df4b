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

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, Mat, MatMut, MatRef, Par};

use super::fronts::{Front, Symbolic};
use super::memory::Memory;
use super::tiles::{factor_panel, subtract_square};
use crate::error::Error;

/// Subtrees with fewer operations than this stay on one thread.
const SPAWN: f64 = 1e6;

/// A factorization is cut into at least so many pieces for every thread.
const PIECES: f64 = 16.0;

/// A pivot that is not positive: S is singular or indefinite, by nature or by rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the pivot of interface unknown {unknown} is not positive")]
pub struct NotPositive {
    /// The unknown, in the numbering of the caller.
    pub unknown: usize,
    /// Its place in the order of elimination.
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
#[derive(Debug)]
pub struct SparseCholesky {
    symbolic: Arc<Symbolic>,
    /// [L11; L21] of every front, one after the other.
    panels: Memory,
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
        let mut panels = Memory::zeros(symbolic.panel_entries());
        let elimination = Elimination::new(symbolic, shift, element);
        let mut stack = Memory::zeros(elimination.needs(&symbolic.roots));
        elimination.siblings(&symbolic.roots, &mut panels, &mut stack)?;
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

    /// L11 and L21 of a front.
    fn panel(&self, front: &Front) -> (MatRef<'_, f64>, MatRef<'_, f64>) {
        let entries = &self.panels[front.panel.clone()];
        let panel = MatRef::from_column_major_slice(entries, front.pivots + front.boundary, front.pivots);
        panel.split_at_row(front.pivots)
    }

    /// Solves L y = x in the subtrees of siblings, whose unknowns make up `x`; returns what each of them adds to the
    /// right-hand side of its boundary.
    fn forward_siblings(&self, siblings: &[usize], x: MatMut<'_, f64>) -> Vec<Mat<f64>> {
        match siblings {
            [] => Vec::new(),
            &[only] => vec![self.forward(only, x)],
            _ => {
                let halves = Halves::new(&self.symbolic, siblings, SPAWN);
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
        let (l11, l21) = self.panel(front);
        solve_lower_triangular_in_place(l11, x.rb_mut(), Par::Seq);
        matmul(boundary.as_mut(), Accum::Add, l21, x.rb(), -1.0, Par::Seq);
        boundary
    }

    /// Solves L' x = y in the subtrees of siblings; `boundary` gives the values on the boundary of each of them.
    fn backward_siblings(
        &self,
        siblings: &[usize],
        x: MatMut<'_, f64>,
        boundary: &(impl Fn(usize) -> Mat<f64> + Sync),
    ) {
        match siblings {
            [] => (),
            &[only] => self.backward(only, x, boundary(only).as_ref()),
            _ => {
                let halves = Halves::new(&self.symbolic, siblings, SPAWN);
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
        let (l11, l21) = self.panel(front);
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
    /// Number of entries of the panels in the subtrees of the left half.
    entries: usize,
    /// Number of unknowns in the subtrees of the left half.
    unknowns: usize,
    /// Whether the smaller half is worth a thread.
    parallel: bool,
}

impl<'a> Halves<'a> {
    fn new(symbolic: &Symbolic, siblings: &'a [usize], spawn: f64) -> Self {
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

    fn join<A: Send, B: Send>(&self, left: impl FnOnce() -> A + Send, right: impl FnOnce() -> B + Send) -> (A, B) {
        if self.parallel { rayon::join(left, right) } else { (left(), right()) }
    }
}

/// A factorization under way.
///
/// The updates U live on a stack, because fresh memory costs as much as the arithmetic on it. The subtree of a front gets
/// a piece of the stack, and leaves U at its start: while the children work behind it, one after the other, each leaves
/// its own U behind that of the one before. Subtrees that run in parallel have pieces of their own.
struct Elimination<'a, E> {
    symbolic: &'a Symbolic,
    shift: f64,
    element: E,
    /// Work that is worth a thread.
    spawn: f64,
    /// Length of the stack for the subtree of every front.
    needs: Vec<usize>,
}

impl<'a, E: Fn(usize, MatMut<'_, f64>) + Sync> Elimination<'a, E> {
    fn new(symbolic: &'a Symbolic, shift: f64, element: E) -> Self {
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
    fn needs(&self, siblings: &[usize]) -> usize {
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
    fn siblings(&self, siblings: &[usize], panels: &mut [f64], stack: &mut [f64]) -> Result<(), NotPositive> {
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

#[cfg(test)]
mod tests {
    use faer::Side;
    use faer::linalg::solvers::Solve;
    use proptest::prelude::*;

    use super::*;
    use crate::interface::dissection::tests::grid;
    use crate::interface::tiles::TILE;

    /// A number in [-1, 1) that depends on its arguments only.
    fn noise(a: usize, b: usize, c: usize) -> f64 {
        let mixed = [a, b, c].iter().fold(0x9e37_79b9_7f4a_7c15u64, |hash, &x| {
            let hash = (hash ^ x as u64).wrapping_mul(0xff51_afd7_ed55_8ccd);
            hash ^ (hash >> 29)
        });
        mixed as f64 / 2f64.powi(63) - 1.0
    }

    /// A random positive definite element.
    fn element(k: usize, mut m: MatMut<'_, f64>) {
        for j in 0..m.ncols() {
            for i in j..m.nrows() {
                m[(i, j)] = if i == j { m.nrows() as f64 } else { noise(k, i, j) };
            }
        }
    }

    struct System {
        symbolic: Arc<Symbolic>,
        sizes: Vec<usize>,
    }

    impl System {
        fn new(sizes: Vec<usize>, points: &[[f64; 2]], elements: &[Vec<usize>]) -> Self {
            Self { symbolic: Arc::new(Symbolic::new(&sizes, points, elements)), sizes }
        }

        fn grid(columns: usize, rows: usize, size: impl Fn(usize) -> usize) -> Self {
            let (points, elements) = grid(columns, rows);
            Self::new((0..points.len()).map(size).collect(), &points, &elements)
        }

        /// S as a dense matrix.
        fn dense(&self) -> Mat<f64> {
            let mut s = Mat::zeros(self.symbolic.unknowns(), self.symbolic.unknowns());
            for (k, blocks) in self.symbolic.elements.iter().enumerate() {
                let first = |block: usize| self.sizes[..block].iter().sum::<usize>();
                let unknowns: Vec<usize> =
                    blocks.iter().flat_map(|&block| first(block)..first(block) + self.sizes[block]).collect();
                let mut m = Mat::zeros(unknowns.len(), unknowns.len());
                element(k, m.as_mut());
                for (j, &column) in unknowns.iter().enumerate() {
                    for (i, &row) in unknowns.iter().enumerate() {
                        s[(row, column)] += m[(i.max(j), i.min(j))];
                    }
                }
            }
            s
        }

        fn right_hand_sides(&self, columns: usize) -> Mat<f64> {
            Mat::from_fn(self.symbolic.unknowns(), columns, |i, j| noise(i, j, 7))
        }

        /// The largest difference to the solution by a dense factorization.
        fn error(&self, columns: usize) -> f64 {
            let b = self.right_hand_sides(columns);
            let mut x = b.clone();
            SparseCholesky::factor(&self.symbolic, 0.0, element).unwrap().solve(x.as_mut());
            let exact = self.dense().llt(Side::Lower).unwrap().solve(&b);
            (x - exact).norm_max()
        }
    }

    #[test]
    fn grids_are_solved_like_dense_systems() {
        for (columns, rows) in [(2, 1), (9, 1), (2, 2), (3, 4), (7, 6)] {
            let system = System::grid(columns, rows, |block| 1 + block * 7 % 11);
            let error = system.error(3);
            assert!(error < 1e-13, "{columns} x {rows}: {error:e}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn any_elements_are_solved_like_dense_systems(
            blocks in prop::collection::vec((prop::array::uniform2(-1.0f64..1.0), 0usize..6), 1..40),
            picks in prop::collection::vec(prop::collection::vec(0usize..40, 1..6), 0..40),
            columns in 0usize..4,
        ) {
            let (points, sizes): (Vec<_>, Vec<_>) = blocks.into_iter().unzip();
            // An element of its own for every block, so that S is positive definite.
            let mut elements: Vec<Vec<usize>> = (0..points.len()).map(|block| vec![block]).collect();
            for mut pick in picks {
                pick.iter_mut().for_each(|block| *block %= points.len());
                // Elements need not list their blocks in ascending order.
                let distinct = pick.iter().enumerate().filter(|(i, block)| !pick[..*i].contains(block));
                elements.push(distinct.map(|(_, &block)| block).collect());
            }
            let error = System::new(sizes, &points, &elements).error(columns);
            prop_assert!(error < 1e-13, "{error:e}");
        }
    }

    #[test]
    fn bits_do_not_depend_on_threads() {
        let system = System::grid(12, 12, |_| 14);
        let widest = system.symbolic.fronts.iter().map(|front| front.pivots).max().unwrap();
        assert!(widest > TILE, "the test must reach the tiled kernels: {widest}");
        let solve = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut x = system.right_hand_sides(2);
                SparseCholesky::factor(&system.symbolic, 0.0, element).unwrap().solve(x.as_mut());
                x
            })
        };
        let alone = solve(1);
        for threads in [2, 3] {
            assert!(solve(threads) == alone, "{threads} threads");
        }
    }

    #[test]
    fn empty_systems_have_empty_solutions() {
        for system in [System::new(Vec::new(), &[], &[]), System::new(vec![0], &[[0.0, 0.0]], &[vec![0]])] {
            let factor = SparseCholesky::factor(&system.symbolic, 0.0, element).unwrap();
            factor.solve(Mat::zeros(0, 2).as_mut());
            assert_eq!(factor.symbolic().nonzeros(), 0);
        }
    }

    #[test]
    fn one_block_is_a_dense_system() {
        for size in [1, 5, 300] {
            let error = System::new(vec![size], &[[0.0, 0.0]], &[vec![0]]).error(1);
            assert!(error < 1e-13, "{size}: {error:e}");
        }
    }

    #[test]
    fn a_bad_pivot_is_named() {
        let system = System::grid(5, 5, |_| 90);
        let (block, within) = (17, 71);
        for value in [-1e9, f64::NAN] {
            let error = SparseCholesky::factor(&system.symbolic, 0.0, |k, mut m| {
                element(k, m.rb_mut());
                if let Some(place) = system.symbolic.elements[k].iter().position(|&b| b == block) {
                    m[(place * 90 + within, place * 90 + within)] = value;
                }
            })
            .unwrap_err();
            assert_eq!(error.unknown, block * 90 + within);
            assert_eq!(system.symbolic.order[error.position], error.unknown);
        }
    }

    #[test]
    fn a_block_without_elements_is_singular() {
        let system = System::new(vec![2, 2], &[[0.0, 0.0], [1.0, 0.0]], &[vec![1]]);
        let error = SparseCholesky::factor(&system.symbolic, 0.0, element).unwrap_err();
        assert_eq!(error.unknown, 0);
        assert!(matches!(Error::from(error), Error::Compute { problem, .. } if problem.contains("unknown 0")));
    }

    #[test]
    fn a_shift_makes_up_for_a_singular_system() {
        let system = System::new(vec![1, 1], &[[0.0, 0.0], [1.0, 0.0]], &[vec![0, 1]]);
        let ones = |_: usize, mut m: MatMut<'_, f64>| m.fill(4.0);
        assert!(SparseCholesky::factor(&system.symbolic, 0.0, ones).is_err());
        let shifted = SparseCholesky::factor(&system.symbolic, 0.5, ones).unwrap();
        assert_eq!(shifted.shift(), 0.5);
        // [6 4; 4 6] x = [10; 10]
        let mut x = Mat::from_fn(2, 1, |_, _| 10.0);
        shifted.solve(x.as_mut());
        assert!((x - Mat::from_fn(2, 1, |_, _| 1.0)).norm_max() < 1e-14);
    }
}
