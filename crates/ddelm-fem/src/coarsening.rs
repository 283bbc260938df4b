//! From a grid to the one of twice the spacing: interpolation, its transpose, and the operator between them.
//!
//! The coarse nodes are the fine ones with even numbers. A fine node between two coarse ones, on a coarse edge, takes
//! the mean of the two: interpolation P of P1 functions. The coarse operator is the Galerkin product `P' A P`, which
//! in conductance form needs no matrix product. Along a coarse edge with end values a, b
//!
//! - a parallel fine edge, on it or inside an adjacent coarse triangle, has the difference (b - a) / 2;
//! - the node in its middle has `((a + b) / 2)^2 = a^2 / 2 + b^2 / 2 - (b - a)^2 / 4`,
//!
//! so couplings and masses of the fine grid go to couplings and masses of the coarse one. When the grid is halved in one
//! direction only (stretched cells, anisotropic diffusion), the same holds but for the edges across that direction in
//! the middle of a coarse cell: there the square of a mean is replaced by the mean of the squares.
//!
//! Odd numbers of cells need no special care: behind a free side the coarse grid reaches one fine cell beyond the
//! domain; before a wall its last node is one fine cell away from it, and the mass of that node holds the wall.

use rayon::prelude::*;

use super::grid::Grid;
use super::operator::{Couplings, Operator};

/// Which directions are halved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Halving {
    pub x: bool,
    pub y: bool,
}

/// Fine rows or columns at and around a coarse one, in storage.
fn fine(coarse: usize, halved: bool) -> usize {
    if halved { 2 * coarse - 1 } else { coarse }
}

impl Halving {
    /// The directions to halve: the stronger one if it is more than twice as strong, else both. `None` at the end.
    ///
    /// Relaxation smooths an error along strong couplings only, and only a smooth error can be seen on a coarse grid.
    pub fn choose(operator: &Operator) -> Option<Self> {
        match operator.grid.cells.map(|cells| cells > 2) {
            [false, false] => None,
            [true, true] => {
                let [x, y] = operator.coupling();
                Some(Halving { x: y <= 2.0 * x || x > y, y: x <= 2.0 * y || y >= x })
            }
            [x, y] => Some(Halving { x, y }),
        }
    }

    fn coarse_grid(self, fine: &Grid) -> Grid {
        let halve = |cells: usize, halved: bool| if halved { cells.div_ceil(2) } else { cells };
        Grid { cells: [halve(fine.cells[0], self.x), halve(fine.cells[1], self.y)], walls: fine.walls }
    }

    /// The coarse operator.
    pub fn coarsen(self, operator: &Operator) -> Operator {
        let grid = self.coarse_grid(&operator.grid);
        let stride = grid.stride();
        let mut couplings = Couplings::zeros(&grid);
        let Couplings { east, north, diagonal, mass } = &mut couplings;
        (east.par_chunks_mut(stride), north.par_chunks_mut(stride))
            .into_par_iter()
            .zip((diagonal.par_chunks_mut(stride), mass.par_chunks_mut(stride)).into_par_iter())
            .enumerate()
            .skip(1)
            .take(grid.cells[1] + 1)
            .for_each(|(row, ((east, north), (diagonal, mass)))| {
                let row = fine(row, self.y);
                let sources = [&operator.east, &operator.north, &operator.diagonal, &operator.mass]
                    .map(|rows| [row - 1, row, row + 1].map(|row| rows.row(row)));
                self.restrict_row(&sources[3], mass);
                for c in 1..grid.cells[0] + 2 {
                    let column = fine(c, self.x);
                    [east[c], north[c], diagonal[c]] = self.edges(sources.map(|rows| Around { rows, column }));
                }
            });
        couplings.eliminate_walls(&grid, |_, _, _| {});
        Operator::new(grid, couplings)
    }

    /// The couplings of the coarse edges to the east, north and northeast from the fine couplings
    /// (east, north, diagonal, mass) around their origin.
    #[inline(always)]
    fn edges(self, [e, n, d, m]: [Around<'_>; 4]) -> [f64; 3] {
        match (self.x, self.y) {
            (true, true) => [
                0.25 * (e.get(0, 0) + e.get(1, 0) + e.get(1, 1) + e.get(0, -1) - m.get(1, 0)),
                0.25 * (n.get(0, 0) + n.get(0, 1) + n.get(1, 1) + n.get(-1, 0) - m.get(0, 1)),
                0.25 * (d.get(0, 0) + d.get(1, 1) + d.get(1, 0) + d.get(0, 1) - m.get(1, 1)),
            ],
            (true, false) => [
                0.25 * (e.get(0, 0) + e.get(1, 0) - d.get(0, -1) - d.get(1, 0) - m.get(1, 0)),
                n.get(0, 0) + 0.5 * (n.get(-1, 0) + n.get(1, 0) + d.get(0, 0) + d.get(-1, 0)),
                0.5 * (d.get(0, 0) + d.get(1, 0)),
            ],
            (false, true) => [
                e.get(0, 0) + 0.5 * (e.get(0, -1) + e.get(0, 1) + d.get(0, 0) + d.get(0, -1)),
                0.25 * (n.get(0, 0) + n.get(0, 1) - d.get(-1, 0) - d.get(0, 1) - m.get(0, 1)),
                0.5 * (d.get(0, 0) + d.get(0, 1)),
            ],
            (false, false) => [e.get(0, 0), n.get(0, 0), d.get(0, 0)],
        }
    }

    /// One coarse row of `P' r` from the fine rows below, at and above it.
    fn restrict_row(self, [below, here, above]: &[&[f64]; 3], coarse: &mut [f64]) {
        let interior = 1..coarse.len() - 2;
        for (c, out) in interior.clone().zip(&mut coarse[interior]) {
            let k = fine(c, self.x);
            *out = match (self.x, self.y) {
                (true, true) => {
                    here[k] + 0.5 * (here[k - 1] + here[k + 1] + below[k] + above[k] + below[k - 1] + above[k + 1])
                }
                (true, false) => here[k] + 0.5 * (here[k - 1] + here[k + 1]),
                (false, true) => here[k] + 0.5 * (below[k] + above[k]),
                (false, false) => here[k],
            };
        }
    }

    /// `coarse = P' (b - A u)`; the fine residual is never stored as a whole.
    pub fn restrict_residual(self, operator: &Operator, b: &[f64], u: &[f64], grid: &Grid, coarse: &mut [f64]) {
        /// Coarse rows per task. Neighbouring bands both compute the fine row between them.
        const BAND: usize = 16;
        let fine_rows = operator.grid.free_rows();
        let free = grid.free_columns();
        coarse.par_chunks_mut(BAND * grid.stride()).enumerate().for_each(|(band, coarse)| {
            let [mut below, mut here, mut above] = [(); 3].map(|()| vec![0.0; operator.grid.stride()]);
            let mut restricted = vec![0.0; grid.stride()];
            let fill = |row: usize, out: &mut [f64]| {
                if fine_rows.contains(&row) {
                    operator.residual_row(row, b, u, out);
                } else {
                    out.fill(0.0);
                }
            };
            let mut known = 0;
            for (k, coarse) in coarse.chunks_exact_mut(grid.stride()).enumerate() {
                let coarse_row = BAND * band + k;
                if !grid.free_rows().contains(&coarse_row) {
                    continue;
                }
                let row = fine(coarse_row, self.y);
                if self.y {
                    if known == row - 1 {
                        std::mem::swap(&mut below, &mut above);
                    } else {
                        fill(row - 1, &mut below);
                    }
                    fill(row + 1, &mut above);
                    known = row + 1;
                }
                fill(row, &mut here);
                self.restrict_row(&[&below, &here, &above], &mut restricted);
                coarse[free.clone()].copy_from_slice(&restricted[free.clone()]);
            }
        });
    }

    /// `u += P coarse`.
    pub fn prolong(self, coarse: &[f64], coarse_grid: &Grid, grid: &Grid, u: &mut [f64]) {
        let stride = coarse_grid.stride();
        let rows = grid.free_rows();
        let columns = grid.free_columns();
        u.par_chunks_mut(grid.stride())
            .enumerate()
            .skip(rows.start)
            .take(rows.len())
            .with_min_len(grid.rows_per_task())
            .for_each(|(row, u)| {
                // A fine row between two coarse ones lies on their diagonals; one on a coarse row sees it twice.
                let lower = if self.y { row.div_ceil(2) } else { row };
                let upper = if self.y { row / 2 + 1 } else { row };
                let [lower, upper] = [lower, upper].map(|row| &coarse[row * stride..][..stride]);
                for (c, u) in columns.clone().zip(&mut u[columns.clone()]) {
                    let [left, right] = if self.x { [c.div_ceil(2), c / 2 + 1] } else { [c, c] };
                    *u += 0.5 * (lower[left] + upper[right]);
                }
            });
    }
}

/// Numbers around a place in storage.
#[derive(Clone, Copy)]
struct Around<'a> {
    /// The rows below, at and above the place.
    rows: [&'a [f64]; 3],
    column: usize,
}

impl Around<'_> {
    #[inline(always)]
    fn get(self, dx: isize, dy: isize) -> f64 {
        self.rows[1usize.wrapping_add_signed(dy)][self.column.wrapping_add_signed(dx)]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::grid::Rows;

    /// Numbers between 0.1 and 1.1 without a pattern.
    fn scatter(seed: usize, k: usize) -> f64 {
        let t = ((seed + 1) as f64 * 12.9898 + k as f64 * 78.233).sin() * 43_758.545_3;
        0.1 + t - t.floor()
    }

    fn random_operator(grid: &Grid, seed: usize, with_north: bool) -> Operator {
        let mut couplings = Couplings::zeros(grid);
        let [cx, cy] = grid.cells;
        for row in 1..cy + 2 {
            for column in 1..cx + 2 {
                let node = row * grid.stride() + column;
                let value = |k| scatter(seed + k, node);
                if column <= cx {
                    couplings.east[node] = value(1);
                }
                if row <= cy && with_north {
                    couplings.north[node] = value(2);
                }
                if column <= cx && row <= cy {
                    couplings.diagonal[node] = value(3);
                }
                couplings.mass[node] = value(4);
            }
        }
        couplings.eliminate_walls(grid, |_, _, _| {});
        Operator::new(grid.clone(), couplings)
    }

    fn random_vector(grid: &Grid, seed: usize) -> Vec<f64> {
        let mut vector = grid.zeros();
        for row in grid.free_rows() {
            for column in grid.free_columns() {
                let node = row * grid.stride() + column;
                vector[node] = scatter(seed, node) - 0.6;
            }
        }
        vector
    }

    fn energy(operator: &Operator, u: &[f64]) -> f64 {
        operator.apply(u, &mut operator.grid.zeros())
    }

    fn cases() -> impl Strategy<Value = (Grid, Halving, usize)> {
        let halving = prop_oneof![Just((true, true)), Just((true, false)), Just((false, true))];
        (3..12usize, 3..12usize, any::<[bool; 4]>(), halving, 0..1000usize)
            .prop_map(|(cx, cy, walls, (x, y), seed)| (Grid { cells: [cx, cy], walls }, Halving { x, y }, seed))
    }

    proptest! {
        /// v . A_c v = P v . A P v, for odd and even grids and all walls. When only one direction is halved, this
        /// holds up to the edges across it; those to the north are left out, and only x is tried.
        #[test]
        fn coarse_operator_is_the_galerkin_product((grid, halving, seed) in cases()) {
            prop_assume!(halving.x);
            let operator = random_operator(&grid, seed, halving.y);
            let coarse = halving.coarsen(&operator);
            let v = random_vector(&coarse.grid, seed + 7);
            let mut fine = grid.zeros();
            halving.prolong(&v, &coarse.grid, &grid, &mut fine);
            let expected = energy(&operator, &fine);
            prop_assert!((energy(&coarse, &v) - expected).abs() <= 1e-12 * expected);
        }

        /// Halving in y is halving in x with the axes swapped.
        #[test]
        fn directions_are_alike((grid, _, seed) in cases()) {
            let [cx, cy] = grid.cells;
            let [left, right, bottom, top] = grid.walls;
            let swapped = Grid { cells: [cy, cx], walls: [bottom, top, left, right] };
            let operator = random_operator(&grid, seed, true);
            let swap = |rows: &Rows| {
                let mut out = swapped.zeros();
                for row in 1..cy + 2 {
                    for column in 1..cx + 2 {
                        out[column * swapped.stride() + row] = rows.row(row)[column];
                    }
                }
                out
            };
            let couplings = Couplings {
                east: swap(&operator.north),
                north: swap(&operator.east),
                diagonal: swap(&operator.diagonal),
                mass: swap(&operator.mass),
            };
            let x = Halving { x: true, y: false }.coarsen(&operator);
            let y = Halving { x: false, y: true }.coarsen(&Operator::new(swapped, couplings));
            for row in x.grid.free_rows() {
                for column in x.grid.free_columns() {
                    for (a, b) in
                        [(&x.east, &y.north), (&x.north, &y.east), (&x.diagonal, &y.diagonal), (&x.mass, &y.mass)]
                    {
                        prop_assert!((a.row(row)[column] - b.row(column)[row]).abs() < 1e-14);
                    }
                }
            }
        }

        /// r . P v = P' r . v
        #[test]
        fn restriction_is_the_transpose_of_prolongation((grid, halving, seed) in cases()) {
            let operator = random_operator(&grid, seed, true);
            let coarse_grid = halving.coarse_grid(&grid);
            let (r, v) = (random_vector(&grid, seed), random_vector(&coarse_grid, seed + 1));
            let [mut fine, mut coarse] = [grid.zeros(), coarse_grid.zeros()];
            halving.prolong(&v, &coarse_grid, &grid, &mut fine);
            halving.restrict_residual(&operator, &r, &grid.zeros(), &coarse_grid, &mut coarse);
            let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            prop_assert!((product(&r, &fine) - product(&coarse, &v)).abs() < 1e-12);
        }
    }
}
