//! The P1 stiffness and mass matrix in conductance form.
//!
//! A symmetric form on the nodes of a triangulation is a sum over its edges and nodes,
//!
//! `a(u, u) = sum_edges w_kl (u_k - u_l)^2 + sum_nodes m_k u_k^2`,
//!
//! and an edge of the uniform triangulation goes to the east, to the north or along the diagonal to the northeast. So
//! an operator is four numbers per node, whatever the tensor, the reaction and the conditions are; for a scalar
//! diffusion without reaction the diagonal and the mass vanish, and [`Rows`] does not store them. Differences of
//! neighbours lose fewer digits than the sum of a row of the matrix.
//!
//! Edges to a wall are part of the mass of their free end: no weight touches a wall.

use rayon::prelude::*;

use super::grid::{Grid, Rows, dot};

/// The couplings of an operator while it is assembled: one number per node in each.
pub(super) struct Couplings {
    /// Edge from (i, j) to (i + 1, j).
    pub east: Vec<f64>,
    /// Edge from (i, j) to (i, j + 1).
    pub north: Vec<f64>,
    /// Edge from (i, j) to (i + 1, j + 1).
    pub diagonal: Vec<f64>,
    pub mass: Vec<f64>,
}

impl Couplings {
    pub fn zeros(grid: &Grid) -> Self {
        Couplings { east: grid.zeros(), north: grid.zeros(), diagonal: grid.zeros(), mass: grid.zeros() }
    }

    /// Moves the edges between a wall and a free node to the mass of the free node, and clears the walls.
    ///
    /// Each such edge is reported as (node on the wall, other node, coupling).
    pub fn eliminate_walls(&mut self, grid: &Grid, mut report: impl FnMut(usize, usize, f64)) {
        let stride = grid.stride();
        let nodes = grid.wall_nodes();
        let Couplings { east, north, diagonal, mass } = self;
        for &node in &nodes {
            for (couplings, offset) in [(&mut *east, 1), (&mut *north, stride), (&mut *diagonal, stride + 1)] {
                for (edge, other) in [(node, node + offset), (node - offset, node - offset)] {
                    let coupling = std::mem::take(&mut couplings[edge]);
                    mass[other] += coupling;
                    report(node, other, coupling);
                }
            }
        }
        for &node in &nodes {
            mass[node] = 0.0;
        }
    }
}

/// A symmetric positive definite operator on the free nodes of a grid.
pub(super) struct Operator {
    pub grid: Grid,
    pub east: Rows,
    pub north: Rows,
    pub diagonal: Rows,
    pub mass: Rows,
}

/// Factors of a step of relaxation; see [`Operator::relax`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub momentum: f64,
    /// The momentum, or 0 if the iterate before was zero.
    pub previous: f64,
    pub weight: f64,
}

/// The couplings of one row of free nodes: its six edges and the mass, as slices of equal length.
struct Stencil<'a> {
    edges: [&'a [f64]; 6],
    mass: &'a [f64],
}

impl Stencil<'_> {
    /// The entry on the diagonal of the matrix.
    #[inline(always)]
    fn diagonal(&self, k: usize) -> f64 {
        let [e, w, n, s, ne, sw] = self.edges;
        ((e[k] + w[k]) + (n[k] + s[k])) + ((ne[k] + sw[k]) + self.mass[k])
    }

    /// (A u)_k, for the values of the row and of its neighbours in the order of the edges.
    #[inline(always)]
    fn apply(&self, k: usize, centre: &[f64], neighbours: &[&[f64]; 6]) -> f64 {
        let u = centre[k];
        let flow = |edge: usize| self.edges[edge][k] * (u - neighbours[edge][k]);
        ((flow(0) + flow(1)) + (flow(2) + flow(3))) + ((flow(4) + flow(5)) + self.mass[k] * u)
    }
}

impl Operator {
    pub fn new(grid: Grid, couplings: Couplings) -> Self {
        let stride = grid.stride();
        Operator {
            east: Rows::new(couplings.east, stride),
            north: Rows::new(couplings.north, stride),
            diagonal: Rows::new(couplings.diagonal, stride),
            mass: Rows::new(couplings.mass, stride),
            grid,
        }
    }

    /// The part of a row of storage that holds unknowns, moved by -1, 0 or 1 columns.
    #[inline(always)]
    fn window<'a>(&self, row: &'a [f64], shift: isize) -> &'a [f64] {
        let free = self.grid.free_columns();
        &row[free.start.wrapping_add_signed(shift)..][..free.len()]
    }

    #[inline(always)]
    fn stencil(&self, row: usize) -> Stencil<'_> {
        Stencil {
            edges: [
                self.window(self.east.row(row), 0),
                self.window(self.east.row(row), -1),
                self.window(self.north.row(row), 0),
                self.window(self.north.row(row - 1), 0),
                self.window(self.diagonal.row(row), 0),
                self.window(self.diagonal.row(row - 1), -1),
            ],
            mass: self.window(self.mass.row(row), 0),
        }
    }

    /// Calls `visit(k, u_k, (A u)_k, A_kk)` for the unknowns of a row, numbered from 0.
    #[inline(always)]
    fn sweep(&self, row: usize, u: &[f64], mut visit: impl FnMut(usize, f64, f64, f64)) {
        let stride = self.grid.stride();
        let [below, here, above] = [row - 1, row, row + 1].map(|r| &u[r * stride..][..stride]);
        let stencil = self.stencil(row);
        let centre = self.window(here, 0);
        let neighbours = [
            self.window(here, 1),
            self.window(here, -1),
            self.window(above, 0),
            self.window(below, 0),
            self.window(above, 1),
            self.window(below, -1),
        ];
        for k in 0..centre.len() {
            visit(k, centre[k], stencil.apply(k, centre, &neighbours), stencil.diagonal(k));
        }
    }

    /// `out = A u`; returns `u . A u`.
    pub fn apply(&self, u: &[f64], out: &mut [f64]) -> f64 {
        let free = self.grid.free_columns();
        let partial: Vec<f64> = self
            .free_rows_mut(out)
            .map(|(row, out)| {
                let out = &mut out[free.clone()];
                self.sweep(row, u, |k, _, au, _| out[k] = au);
                dot(self.window(&u[row * self.grid.stride()..], 0), out)
            })
            .collect();
        partial.iter().sum()
    }

    /// One row of `out = b - A u`.
    pub fn residual_row(&self, row: usize, b: &[f64], u: &[f64], out: &mut [f64]) {
        let b = self.window(&b[row * self.grid.stride()..], 0);
        let out = &mut out[self.grid.free_columns()];
        self.sweep(row, u, |k, _, au, _| out[k] = b[k] - au);
    }

    /// `next = (1 + momentum) u - previous next + weight D^-1 (b - A u)`, with the diagonal D of A.
    pub fn relax(&self, b: &[f64], u: &[f64], next: &mut [f64], step: Step) {
        let Step { momentum, previous, weight } = step;
        let free = self.grid.free_columns();
        self.free_rows_mut(next).for_each(|(row, next)| {
            let b = self.window(&b[row * self.grid.stride()..], 0);
            let next = &mut next[free.clone()];
            self.sweep(row, u, |k, u, au, diagonal| {
                next[k] = (1.0 + momentum) * u - previous * next[k] + weight * (b[k] - au) / diagonal;
            });
        });
    }

    /// `out = weight D^-1 b`: [`relax`](Self::relax) from zero.
    pub fn relax_from_zero(&self, b: &[f64], out: &mut [f64], weight: f64) {
        let free = self.grid.free_columns();
        self.free_rows_mut(out).for_each(|(row, out)| {
            let b = self.window(&b[row * self.grid.stride()..], 0);
            let out = &mut out[free.clone()];
            let stencil = self.stencil(row);
            for k in 0..b.len() {
                out[k] = weight * b[k] / stencil.diagonal(k);
            }
        });
    }

    /// A bound of the eigenvalues of D^-1 A, by Gershgorin's discs.
    pub fn spectral_bound(&self) -> f64 {
        let radius = |row| {
            let stencil = self.stencil(row);
            (0..stencil.mass.len())
                .map(|k| stencil.edges.iter().map(|edge| edge[k].abs()).sum::<f64>() / stencil.diagonal(k))
                .fold(0.0, f64::max)
        };
        1.0 + self.grid.free_rows().into_par_iter().map(radius).reduce(|| 0.0, f64::max)
    }

    /// How strongly the operator couples in x and in y: the sums of the second differences' couplings.
    pub fn coupling(&self) -> [f64; 2] {
        let sum = |row| {
            let [east, _, north, _, diagonal, _] = self.stencil(row).edges.map(|edge| edge.iter().sum::<f64>());
            [east + diagonal, north + diagonal]
        };
        let rows: Vec<[f64; 2]> = self.grid.free_rows().into_par_iter().map(sum).collect();
        rows.iter().fold([0.0, 0.0], |total, row| [total[0] + row[0], total[1] + row[1]])
    }

    /// The rows of a vector that hold unknowns, with their numbers.
    fn free_rows_mut<'a>(
        &self,
        u: &'a mut [f64],
    ) -> impl IndexedParallelIterator<Item = (usize, &'a mut [f64])> + use<'a> {
        let rows = self.grid.free_rows();
        u.par_chunks_mut(self.grid.stride())
            .enumerate()
            .skip(rows.start)
            .take(rows.len())
            .with_min_len(self.grid.rows_per_task())
    }
}
