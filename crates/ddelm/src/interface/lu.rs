//! The direct solver of the interface system: a multifrontal LU factorization.
//!
//! The matrix is a sum of dense elements (see [`System`](super::System)). It is factored front by front (see [`Symbolic`]), with
//! pivots that are chosen inside the front. A front
//!
//! ```text
//! F = [F11 F12]     P F11 = L11 U11,   L21 = F21 U11^-1,   U12 = L11^-1 P F12,   U = F22 - L21 U12
//!     [F21 F22]
//! ```
//!
//! keeps its L and U and hands the update U on to its parent. Elements are asked for when their front is assembled, so the
//! matrix never exists as a whole. The pivots of a front belong to the problem of the boxes that meet at a separator, with
//! the outer values given: they are small only where that problem has a resonance.
//!
//! Fronts of one level run in parallel, and so do the tiles of large fronts. The tiles depend on the sizes alone and
//! children are added in a fixed order: the bits of the result do not depend on the number of threads.

use std::ops::Range;
use std::sync::Arc;

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_unit_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::congruence::Class;
use super::elimination::{Elimination, Numbers};
use super::front::Front;
use super::fronts::Symbolic;
use super::memory::Memory;
use super::tiles::permute;
use crate::base::error::Result;
use crate::base::progress::Progress;

mod transposed;

/// The factors L and U of an interface system.
#[derive(Debug)]
pub struct Lu {
    symbolic: Arc<Symbolic>,
    numbers: Numbers,
}

impl Drop for Lu {
    fn drop(&mut self) {
        let none = Memory::zeros(0);
        self.symbolic.spare.give(std::mem::replace(&mut self.numbers.entries, none));
    }
}

/// The factors of a class of fronts.
struct Factors<'a> {
    /// L11, with units on its diagonal, and U11.
    square: MatRef<'a, f64>,
    /// L21
    lower: MatRef<'a, f64>,
    /// U12
    right: MatRef<'a, f64>,
    /// The order of the pivot rows.
    rows: &'a [usize],
}

impl Lu {
    /// Factors a system.
    ///
    /// `element(k, m)` writes element k into `m`: zero on entry, as large as the blocks of the element together, in the order
    /// in which they were listed. It is called at most once for every element, from any thread. Every front asks whether
    /// to stop.
    pub fn factor(
        symbolic: &Arc<Symbolic>,
        element: impl Fn(usize, MatMut<'_, f64>) + Sync,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let numbers = Elimination { symbolic, element, progress }.run()?;
        Ok(Self { symbolic: symbolic.clone(), numbers })
    }

    /// The elimination that was followed.
    pub fn symbolic(&self) -> &Symbolic {
        &self.symbolic
    }

    /// Replaces every column of `rhs` by the solution for it.
    ///
    /// # Panics
    /// If `rhs` has not as many rows as there are unknowns.
    pub fn solve(&self, rhs: MatMut<'_, f64>) {
        self.sweeps(
            rhs,
            |class, x, below| self.forward(class, x, below),
            |class, x, above| self.backward(class, x, above),
        );
    }

    /// Goes up and down the levels with the right-hand sides in the order of the pivots.
    fn sweeps(
        &self,
        mut rhs: MatMut<'_, f64>,
        up: impl Fn(&Class, MatRef<'_, f64>, &Vectors) -> Mat<f64> + Sync,
        down: impl Fn(&Class, MatRef<'_, f64>, &Vectors) -> Mat<f64> + Sync,
    ) {
        let order = &self.symbolic.order;
        assert_eq!(rhs.nrows(), order.len(), "one row for every interface unknown");
        let mut x = Mat::zeros(order.len(), rhs.ncols());
        for j in 0..rhs.ncols() {
            let from = rhs.rb().col(j);
            x.col_as_slice_mut(j).iter_mut().zip(order).for_each(|(x, &unknown)| *x = from[unknown]);
        }
        let levels = self.symbolic.levels.iter();
        self.sweep(levels.clone(), &mut x, up);
        self.sweep(levels.rev(), &mut x, down);
        for j in 0..rhs.ncols() {
            let mut to = rhs.rb_mut().col_mut(j);
            x.col_as_slice(j).iter().zip(order).for_each(|(&x, &unknown)| to[unknown] = x);
        }
    }

    fn front(&self, f: usize) -> &Front {
        &self.symbolic.fronts[f]
    }

    fn factors(&self, class: &Class) -> Factors<'_> {
        let front = self.front(class.members[0]);
        let Front { pivots, boundary, .. } = *front;
        let (panel, right) = self.numbers.entries[class.factor.clone()].split_at((pivots + boundary) * pivots);
        let (square, lower) = MatRef::from_column_major_slice(panel, pivots + boundary, pivots).split_at_row(pivots);
        let right = MatRef::from_column_major_slice(right, pivots, boundary);
        Factors { square, lower, right, rows: &self.numbers.rows[front.member.0] }
    }

    /// Goes through the levels. `step` finds the rows of a class, pivots over boundary, one member beside the other: from x,
    /// to which the pivots go back, and from the rows of the level before.
    fn sweep<'a>(
        &self,
        levels: impl Iterator<Item = &'a Range<usize>>,
        x: &mut Mat<f64>,
        step: impl Fn(&Class, MatRef<'_, f64>, &Vectors) -> Mat<f64> + Sync,
    ) {
        let mut before = Vectors::default();
        for level in levels {
            let classes = &self.symbolic.classes[level.clone()];
            let rows: Vec<Mat<f64>> = classes.par_iter().map(|class| step(class, x.as_ref(), &before)).collect();
            for (class, rows) in classes.iter().zip(&rows) {
                self.scatter(class, rows, x.as_mut());
            }
            before = Vectors { first: level.start, classes: rows };
        }
    }

    /// A step of x <- L^-1 P x: eliminates the pivots of a class in its right-hand sides.
    fn forward(&self, class: &Class, x: MatRef<'_, f64>, below: &Vectors) -> Mat<f64> {
        let mut v = self.with_children(class, x, below);
        let Factors { square, lower, rows, .. } = self.factors(class);
        let (mut inner, outer) = v.as_mut().split_at_row_mut(rows.len());
        permute(rows, inner.rb_mut());
        solve_unit_lower_triangular_in_place(square, inner.rb_mut(), Par::Seq);
        matmul(outer, Accum::Add, lower, inner.rb(), -1.0, Par::Seq);
        v
    }

    /// The pivots of the members of a class over their boundaries, with what the children handed on to both.
    fn with_children(&self, class: &Class, x: MatRef<'_, f64>, below: &Vectors) -> Mat<f64> {
        let mut v = self.gather(class, x);
        for (k, &f) in class.members.iter().enumerate() {
            for &child in &self.front(f).children {
                let child = self.front(child);
                let added = below.member(child.member, x.ncols()).split_at_row(child.pivots).1;
                let mut v = v.as_mut().subcols_mut(k * x.ncols(), x.ncols());
                for run in &child.runs {
                    let mut target = v.rb_mut().subrows_mut(run.to, run.len);
                    target += added.subrows(run.from, run.len);
                }
            }
        }
        v
    }

    /// A step of x <- U^-1 x: finds the pivots of a class from the values on its boundary.
    fn backward(&self, class: &Class, x: MatRef<'_, f64>, above: &Vectors) -> Mat<f64> {
        let mut v = self.with_parents(class, x, above);
        let Factors { square, right, .. } = self.factors(class);
        let (mut inner, outer) = v.as_mut().split_at_row_mut(square.nrows());
        matmul(inner.rb_mut(), Accum::Add, right, outer.rb(), -1.0, Par::Seq);
        solve_upper_triangular_in_place(square, inner, Par::Seq);
        v
    }

    /// The pivots of the members of a class over the values on their boundaries, which the parents know.
    fn with_parents(&self, class: &Class, x: MatRef<'_, f64>, above: &Vectors) -> Mat<f64> {
        let mut v = self.gather(class, x);
        let pivots = self.front(class.members[0]).pivots;
        for (k, &f) in class.members.iter().enumerate() {
            let front = self.front(f);
            let Some(parent) = front.parent else { continue };
            let known = above.member(self.front(parent).member, x.ncols());
            let mut v = v.as_mut().subcols_mut(k * x.ncols(), x.ncols());
            for run in &front.runs {
                v.rb_mut().subrows_mut(pivots + run.from, run.len).copy_from(known.subrows(run.to, run.len));
            }
        }
        v
    }

    /// The pivots of the members of a class, over a boundary of zeros.
    fn gather(&self, class: &Class, x: MatRef<'_, f64>) -> Mat<f64> {
        let Front { pivots, boundary, .. } = *self.front(class.members[0]);
        let mut v = Mat::zeros(pivots + boundary, class.members.len() * x.ncols());
        for (k, &f) in class.members.iter().enumerate() {
            let pivots = self.front(f).unknowns.clone();
            let mut v = v.as_mut().subcols_mut(k * x.ncols(), x.ncols()).subrows_mut(0, pivots.len());
            v.copy_from(x.subrows(pivots.start, pivots.len()));
        }
        v
    }

    /// Writes the pivots of the members of a class back.
    fn scatter(&self, class: &Class, v: &Mat<f64>, mut x: MatMut<'_, f64>) {
        let columns = x.ncols();
        for (k, &f) in class.members.iter().enumerate() {
            let Range { start, end } = self.front(f).unknowns;
            let v = v.as_ref().subcols(k * columns, columns).subrows(0, end - start);
            x.rb_mut().subrows_mut(start, end - start).copy_from(v);
        }
    }
}

/// The rows of all fronts of a level, class by class.
#[derive(Default)]
struct Vectors {
    /// The first class.
    first: usize,
    classes: Vec<Mat<f64>>,
}

impl Vectors {
    /// The rows of one front.
    fn member(&self, (class, k): (usize, usize), columns: usize) -> MatRef<'_, f64> {
        self.classes[class - self.first].as_ref().subcols(k * columns, columns)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use faer::linalg::solvers::Solve;
    use proptest::prelude::*;

    use super::*;
    use crate::base::error::Error;
    use crate::base::progress::Silent;
    use crate::interface::dissection::tests::grid;
    use crate::interface::front::{Block, Element};
    use crate::interface::fronts::tests::distinct;
    use crate::interface::tiles::TILE;

    /// A number in [-1, 1) that depends on its arguments only.
    fn noise(a: usize, b: usize, c: usize) -> f64 {
        let mixed = [a, b, c].iter().fold(0x9e37_79b9_7f4a_7c15u64, |hash, &x| {
            let hash = (hash ^ x as u64).wrapping_mul(0xff51_afd7_ed55_8ccd);
            hash ^ (hash >> 29)
        });
        mixed as f64 / 2f64.powi(63) - 1.0
    }

    struct System {
        symbolic: Arc<Symbolic>,
    }

    impl System {
        fn new(sizes: Vec<usize>, points: &[[f64; 2]], elements: Vec<Element>) -> Self {
            let blocks: Vec<Block> =
                sizes.into_iter().zip(points).map(|(size, &point)| Block { point, size }).collect();
            Self { symbolic: Arc::new(Symbolic::new(&blocks, &elements)) }
        }

        fn grid(columns: usize, rows: usize, size: impl Fn(usize) -> usize) -> Self {
            let (points, elements) = grid(columns, rows);
            Self::new((0..points.len()).map(size).collect(), &points, distinct(elements))
        }

        /// A random element that is not symmetric, with a large diagonal.
        fn element(&self, k: usize, mut m: MatMut<'_, f64>) {
            let kind = self.symbolic.elements[k].kind;
            for j in 0..m.ncols() {
                for i in 0..m.nrows() {
                    m[(i, j)] = if i == j { m.nrows() as f64 } else { noise(kind, i, j) };
                }
            }
        }

        fn factor(&self) -> Result<Lu> {
            self.factor_unless(&Silent)
        }

        fn factor_unless(&self, progress: &dyn Progress) -> Result<Lu> {
            Lu::factor(&self.symbolic, |k, m| self.element(k, m), progress)
        }

        /// The sum of the elements as a dense matrix.
        fn dense(&self) -> Mat<f64> {
            let mut s = Mat::zeros(self.symbolic.unknowns(), self.symbolic.unknowns());
            let blocks = &self.symbolic.blocks;
            let first = |block: usize| blocks[..block].iter().map(|block| block.size).sum::<usize>();
            for (k, element) in self.symbolic.elements.iter().enumerate() {
                let unknowns: Vec<usize> =
                    element.blocks.iter().flat_map(|&b| first(b)..first(b) + blocks[b].size).collect();
                let mut m = Mat::zeros(unknowns.len(), unknowns.len());
                self.element(k, m.as_mut());
                for (j, &column) in unknowns.iter().enumerate() {
                    for (i, &row) in unknowns.iter().enumerate() {
                        s[(row, column)] += m[(i, j)];
                    }
                }
            }
            s
        }

        fn right_hand_sides(&self, columns: usize) -> Mat<f64> {
            Mat::from_fn(self.symbolic.unknowns(), columns, |i, j| noise(i, j, 7))
        }

        /// The largest difference to the solution by a dense factorization, of the system and of its transpose.
        fn error(&self, columns: usize) -> f64 {
            let b = self.right_hand_sides(columns);
            let (mut x, mut z) = (b.clone(), b.clone());
            let (factor, dense) = (self.factor().unwrap(), self.dense());
            factor.solve(x.as_mut());
            factor.solve_transposed(z.as_mut());
            let exact = dense.partial_piv_lu().solve(&b);
            let transposed = dense.transpose().to_owned().partial_piv_lu().solve(&b);
            (x - exact).norm_max().max((z - transposed).norm_max())
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

    #[test]
    fn congruent_fronts_are_solved_like_dense_systems() {
        let (points, elements) = grid(16, 16);
        let alike = elements.into_iter().map(|blocks| Element { kind: blocks.len(), blocks }).collect();
        let system = System::new(vec![4; points.len()], &points, alike);
        assert!(2 * system.symbolic.classes.len() < system.symbolic.fronts.len());
        let error = system.error(3);
        assert!(error < 1e-13, "{error:e}");
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
            // An element of its own for every block, so that no block is without a matrix.
            let mut elements: Vec<Vec<usize>> = (0..points.len()).map(|block| vec![block]).collect();
            for mut pick in picks {
                pick.iter_mut().for_each(|block| *block %= points.len());
                // Elements need not list their blocks in ascending order.
                let distinct = pick.iter().enumerate().filter(|(i, block)| !pick[..*i].contains(block));
                elements.push(distinct.map(|(_, &block)| block).collect());
            }
            let error = System::new(sizes, &points, self::distinct(elements)).error(columns);
            prop_assert!(error < 1e-13, "{error:e}");
        }
    }

    #[test]
    fn bits_do_not_depend_on_threads() {
        let system = System::grid(12, 12, |_| 40);
        let widest = system.symbolic.fronts.iter().map(|front| front.boundary).max().unwrap();
        assert!(widest > TILE, "the test must reach the tiled kernels: {widest}");
        let solve = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut x = system.right_hand_sides(2);
                system.factor().unwrap().solve(x.as_mut());
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
        let nothing = System::new(vec![0], &[[0.0, 0.0]], distinct(vec![vec![0]]));
        for system in [System::new(Vec::new(), &[], Vec::new()), nothing] {
            let factor = system.factor().unwrap();
            factor.solve(Mat::zeros(0, 2).as_mut());
            assert_eq!(factor.symbolic().nonzeros(), 0);
        }
    }

    #[test]
    fn one_block_is_a_dense_system() {
        for size in [1, 5, 300] {
            let error = System::new(vec![size], &[[0.0, 0.0]], distinct(vec![vec![0]])).error(1);
            assert!(error < 1e-13, "{size}: {error:e}");
        }
    }

    #[test]
    fn numbers_that_are_not_finite_are_told() {
        let system = System::grid(5, 5, |_| 30);
        let spoilt = |k: usize, mut m: MatMut<'_, f64>| {
            system.element(k, m.rb_mut());
            m[(7, 7)] = f64::NAN;
        };
        assert!(matches!(Lu::factor(&system.symbolic, spoilt, &Silent), Err(Error::Compute { .. })));
    }

    #[test]
    fn a_block_without_elements_is_singular() {
        let system = System::new(vec![2, 2], &[[0.0, 0.0], [1.0, 0.0]], distinct(vec![vec![1]]));
        let error = system.factor().unwrap_err();
        assert!(matches!(error, Error::Compute { problem, .. } if problem.contains("unknown 0")));
    }

    /// Asks to stop once it was asked so often.
    struct Impatient {
        patience: usize,
        asked: AtomicUsize,
    }

    impl Progress for Impatient {
        fn interrupted(&self) -> bool {
            self.asked.fetch_add(1, Ordering::Relaxed) >= self.patience
        }
    }

    #[test]
    fn a_request_to_stop_is_noticed_between_fronts_on_all_threads() {
        let system = System::grid(12, 12, |_| 5);
        let fronts = system.symbolic.classes.len();
        let deepest = system.symbolic.levels[0].len();
        assert!(fronts > deepest + 10, "the tree must have more than one level: {fronts}, {deepest}");
        for (threads, patience) in [(1, 0), (1, 3), (2, 3), (3, deepest + 2), (2, fronts - 1)] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let progress = Impatient { patience, asked: AtomicUsize::new(0) };
            let assembled = AtomicUsize::new(0);
            let element = |k: usize, m: MatMut<'_, f64>| {
                assembled.fetch_add(1, Ordering::Relaxed);
                system.element(k, m);
            };
            let outcome = pool.install(|| Lu::factor(&system.symbolic, element, &progress));
            assert!(matches!(outcome, Err(Error::Interrupted)), "{threads} threads, {patience} fronts");
            // A front has an element of its own, or children: those that were begun before are all that were assembled.
            let most = system.symbolic.fronts.iter().map(|front| front.elements.len()).max().unwrap();
            let assembled = assembled.into_inner();
            assert!(assembled <= patience * most, "{threads} threads, {patience} fronts: {assembled} elements");
        }
        let patient = Impatient { patience: fronts, asked: AtomicUsize::new(0) };
        assert!(system.factor_unless(&patient).is_ok(), "every front asks once");
    }
}
