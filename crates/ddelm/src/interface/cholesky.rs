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

use super::elimination::{Elimination, Halves, SPAWN};
use super::fronts::{Front, Symbolic};
use super::memory::Memory;
use crate::error::Error;

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
