//! What a problem file asks for, ready to be solved.

use std::sync::Arc;

use crate::collocation::Collocation;
use crate::decomposition::Decomposition;
use crate::error::Result;
use crate::exchange::Serial;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::settings::Settings;
use crate::solution::Solution;
use crate::solver::Solver;
use crate::stages::check_sizes;

/// A problem on a rectangle and how to solve it.
#[derive(Clone)]
pub struct Case {
    /// The boundary value problem.
    pub problem: Problem,
    /// The extent in x.
    pub x: [f64; 2],
    /// The extent in y.
    pub y: [f64; 2],
    /// Subdomains in x and y; to start with, where there is a tolerance.
    pub subdomains: [usize; 2],
    /// All other choices.
    pub settings: Settings,
    /// The relative L2 error to reach by raising points and subdomains.
    pub tolerance: Option<f64>,
    /// Whether to estimate the error.
    pub estimate: bool,
    /// Cells of the grid, where the method is finite elements.
    pub cells: Option<[usize; 2]>,
}

impl Case {
    /// The rectangle, cut into its subdomains.
    pub fn decomposition(&self) -> Result<Arc<Decomposition>> {
        Ok(Arc::new(Decomposition::rectangle(self.x, self.y, self.subdomains)?))
    }

    /// Refuses what cannot be solved, as far as that can be told without computing.
    pub fn validate(&self) -> Result<()> {
        self.settings.validate()?;
        // Without building a large decomposition for it.
        let counts = if self.subdomains.contains(&0) { self.subdomains } else { [1, 1] };
        Decomposition::rectangle(self.x, self.y, counts)?;
        self.problem.validate(4)?;
        if self.cells.is_some() {
            return Ok(());
        }
        let collocation = Collocation::new(self.settings.nodes, self.settings.points);
        check_sizes(&self.settings, &collocation, self.problem.equation.pairs(), self.subdomains.iter().product())
    }

    /// Solves, and measures the errors where the exact solution is known.
    pub fn solve(&self, progress: &dyn Progress) -> Result<Solution> {
        let solver = Solver::on(Arc::new(Serial), &self.problem, self.decomposition()?, &self.settings, progress)?;
        let mut solution = solver.solve_many(&[self.problem.data()], progress)?.swap_remove(0);
        if let Some(exact) = &self.problem.exact {
            // A finer grid than the nodes, as in the paper.
            solution.report.errors = Some(solution.errors(exact.as_ref(), 2 * self.settings.points)?);
        }
        Ok(solution)
    }
}
