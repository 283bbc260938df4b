//! The reference solver: conforming P1 finite elements on a uniform triangulation of a rectangle.
//!
//! Find u in the span of the hat functions, equal to the Dirichlet data at the nodes of Dirichlet sides, such that
//!
//! `integral (a grad u) . grad v + c u v  +  boundary integral k u v  =  integral f v  +  boundary integral g v`
//!
//! for every hat function v that vanishes on the Dirichlet sides. Each cell of a cx x cy grid is cut by the diagonal
//! from its lower left to its upper right corner. The error is of second order in L2 and of first order in H1.
//!
//! The discrete problem is solved by conjugate gradients, preconditioned by one multigrid cycle; no matrix is stored,
//! only two to four numbers per node. The number of iterations does not grow with the grid.
//!
//! # References
//!
//! The paper compares with this method on 4096 x 4096 cells where no exact solution is known (section 4).

mod assembly;
pub mod case;
mod coarsening;
mod coefficients;
mod conjugate_gradients;
mod grid;
mod multigrid;
mod operator;
mod solution;
#[cfg(test)]
mod tests;
pub mod vtk;

use rayon::prelude::*;

pub use self::solution::{Errors, FiniteElementSolution};

use self::assembly::{System, assemble};
use self::coefficients::Rectangle;
use self::multigrid::Multigrid;
use ddelm::base::error::{Error, Result};
use ddelm::base::memory;
use ddelm::problem::model::Problem;

/// Largest number of cells.
const MAX_CELLS: usize = 1 << 30;

/// Vectors and coefficients, on all grids.
const BYTES_PER_CELL: f64 = 80.0;

/// How fine the grid is and how accurately the discrete problem is solved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Cells in x and y.
    pub cells: [usize; 2],
    /// Residual at the end, relative to the load, in the Euclidean norm.
    pub tolerance: f64,
    /// Most steps of conjugate gradients.
    pub max_iterations: usize,
    /// Bytes of memory that it may take; `None` is what the machine [has](ddelm::base::memory::available).
    pub max_memory: Option<u64>,
}

impl Settings {
    /// The paper's tolerance, 1e-9, on a grid of these cells.
    pub fn new(cells: [usize; 2]) -> Self {
        Settings { cells, tolerance: 1e-9, max_iterations: 200, max_memory: None }
    }

    fn check(&self) -> Result<()> {
        let [cx, cy] = self.cells;
        if cx == 0 || cy == 0 || cx.checked_mul(cy).is_none_or(|cells| cells > MAX_CELLS) {
            return Err(Error::input(
                "finite_element.cells",
                format!("[{cx}, {cy}]"),
                format!("the grid must have between 1 and {MAX_CELLS} cells"),
                "use 4096 cells in each direction for a reference solution",
            ));
        }
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            return Err(Error::input(
                "finite_element.tolerance",
                self.tolerance,
                "the tolerance must lie between 0 and 1",
                "use 1e-9",
            ));
        }
        memory::check("discretization.cells", BYTES_PER_CELL * cx as f64 * cy as f64, self.max_memory)
    }
}

/// Solves a symmetric problem of second order on the rectangle `x[0]..x[1]` by `y[0]..y[1]`.
///
/// The conditions are those of the left, right, bottom and top side. Where two Dirichlet sides meet, the later one in
/// this order gives the value of the corner. Too few iterations are not an error: see
/// [`converged`](FiniteElementSolution::converged). The result does not depend on the number of threads.
pub fn solve(problem: &Problem, x: [f64; 2], y: [f64; 2], settings: &Settings) -> Result<FiniteElementSolution> {
    settings.check()?;
    for (key, side) in [("domain.x", x), ("domain.y", y)] {
        if !(side[0] < side[1] && (side[1] - side[0]).is_finite()) {
            return Err(Error::input(key, format!("{side:?}"), "the domain is empty", "give the smaller end first"));
        }
    }
    let rectangle = Rectangle { x, y, cells: settings.cells };
    // Inside the pool, the many short loops on coarse grids start without waking it.
    let mut result = Err(Error::Interrupted);
    rayon::scope(|_| result = solve_on(problem, rectangle, settings));
    result
}

fn solve_on(problem: &Problem, rectangle: Rectangle, settings: &Settings) -> Result<FiniteElementSolution> {
    let System { operator, load, wall_values } = assemble(problem, &rectangle)?;
    let grid = operator.grid.clone();
    let mut multigrid = Multigrid::new(operator);
    let outcome = conjugate_gradients::solve(&mut multigrid, load, settings.tolerance, settings.max_iterations);
    drop(multigrid);

    let [cx, cy] = rectangle.cells;
    let mut nodal = vec![0.0; (cx + 1) * (cy + 1)];
    nodal.par_chunks_mut(cx + 1).enumerate().for_each(|(j, nodal)| {
        let first = (j + 1) * grid.stride() + 1;
        for (i, value) in nodal.iter_mut().enumerate() {
            *value = outcome.u[first + i] + wall_values[first + i];
        }
    });
    Ok(FiniteElementSolution {
        rectangle,
        nodal,
        iterations: outcome.iterations,
        relative_residual: outcome.relative_residual,
        converged: outcome.converged,
    })
}
