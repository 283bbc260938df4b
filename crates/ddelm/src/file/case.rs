//! What a problem file asks for, ready to be solved.

use std::sync::Arc;
use std::time::Instant;

use crate::adaptive::solve_to_tolerance;
use crate::collocation::Collocation;
use crate::decomposition::Decomposition;
use crate::error::{Error, Result};
use crate::estimate::estimate;
use crate::exchange::{Exchange, Serial, agreed};
use crate::finite_element::{self, FiniteElementSolution};
use crate::locelm;
use crate::problem::Problem;
use crate::progress::{Progress, Stage};
use crate::report::{Errors, FeaturesReport, InterfaceReport, Report, Seconds, Span, Status, peak_memory_bytes};
use crate::settings::{InterfaceSolver, Method, Settings};
use crate::solution::Solution;
use crate::solver::Solver;
use crate::stages::check_sizes;

/// Subdomains beyond which the interface system takes more than any machine has.
const MOST_SUBDOMAINS: usize = 1 << 18;

/// A problem on a rectangle and how to solve it.
#[derive(Clone)]
pub struct Case {
    /// The boundary value problem.
    pub problem: Problem,
    /// The extent in x.
    pub x: [f64; 2],
    /// The extent in y.
    pub y: [f64; 2],
    /// Subdomains in x and y, where there is no tolerance.
    pub subdomains: [usize; 2],
    /// All other choices.
    pub settings: Settings,
    /// The relative L2 error to reach. Points, neurons and subdomains are then chosen by the solver.
    pub tolerance: Option<f64>,
    /// Whether to estimate the error.
    pub estimate: bool,
    /// Cells of the grid, where the method is finite elements.
    pub cells: [usize; 2],
}

impl Case {
    /// The rectangle, cut into its subdomains.
    pub fn decomposition(&self) -> Result<Arc<Decomposition>> {
        Ok(Arc::new(Decomposition::rectangle(self.x, self.y, self.subdomains)?))
    }

    /// Refuses what cannot be solved, as far as that can be told without computing.
    pub fn validate(&self) -> Result<()> {
        self.settings.validate()?;
        let [nx, ny] = self.subdomains;
        if nx.saturating_mul(ny) > MOST_SUBDOMAINS {
            let problem = format!("there can be at most {MOST_SUBDOMAINS} subdomains");
            return Err(Error::input("discretization.subdomains", format!("[{nx}, {ny}]"), problem, "use more points"));
        }
        // Without building a large decomposition for it.
        let counts = if self.subdomains.contains(&0) { self.subdomains } else { [1, 1] };
        Decomposition::rectangle(self.x, self.y, counts)?;
        self.problem.validate(4)?;
        if self.settings.method == Method::Fem {
            return Ok(());
        }
        let collocation = Collocation::new(self.settings.nodes, self.settings.points);
        check_sizes(&self.settings, &collocation, self.problem.equation.pairs(), self.subdomains.iter().product())
    }

    /// Solves by networks. Measures the errors where the exact solution is known, and estimates them where asked.
    pub fn solve(&self, progress: &dyn Progress) -> Result<Solution> {
        self.solve_on(&(Arc::new(Serial) as Arc<dyn Exchange>), progress)
    }

    /// [`Case::solve`] on a parallel machine: rank 0 has the whole solution. All ranks find the same outcome.
    pub fn solve_on(&self, exchange: &Arc<dyn Exchange>, progress: &dyn Progress) -> Result<Solution> {
        agreed(exchange.as_ref(), self.solve_and_measure(exchange, progress))
    }

    /// Whether so many ranks can share the work: each of them needs a subdomain.
    pub fn occupies(&self, ranks: usize) -> bool {
        let coupled = self.settings.method == Method::Schur;
        coupled && (self.tolerance.is_some() || self.subdomains.iter().product::<usize>() >= ranks)
    }

    /// [`Case::solve_on`] before the ranks agree: errors are measured on rank 0 alone.
    fn solve_and_measure(&self, exchange: &Arc<dyn Exchange>, progress: &dyn Progress) -> Result<Solution> {
        let mut solution = match self.tolerance {
            Some(tolerance) => {
                let clock = Instant::now();
                let (problem, settings) = (&self.problem, &self.settings);
                let mut solution =
                    solve_to_tolerance(exchange, problem, self.x, self.y, settings, tolerance, progress)?;
                // All that was tried on the way, beside the solve that was kept.
                solution.report.seconds.estimate = clock.elapsed().as_secs_f64() - solution.report.seconds.total;
                solution
            }
            None => self.solve_as_given(exchange, progress)?,
        };
        if let Some(exact) = self.problem.exact.as_ref().filter(|_| exchange.rank() == 0) {
            // A finer grid than the nodes, as in the paper.
            let resolution = 2 * solution.report.points;
            solution.report.errors = Some(solution.errors(exact.as_ref(), resolution)?);
        }
        Ok(solution)
    }

    fn solve_as_given(&self, exchange: &Arc<dyn Exchange>, progress: &dyn Progress) -> Result<Solution> {
        let (problem, settings, decomposition) = (&self.problem, &self.settings, self.decomposition()?);
        let mut solution = if settings.method == Method::Locelm {
            locelm::solve(problem, decomposition, settings, progress)?
        } else {
            // The solver is dropped at once: the second solution of the estimate takes its place in memory.
            let solver = Solver::on(exchange.clone(), problem, decomposition, settings, progress)?;
            solver.solve_many(&[problem.data()], progress)?.swap_remove(0)
        };
        if self.estimate {
            let clock = Instant::now();
            progress.begin(Stage::Estimate, 1);
            solution.report.estimate = estimate(exchange, problem, settings, &solution, progress)?;
            solution.report.seconds.estimate = clock.elapsed().as_secs_f64();
        }
        Ok(solution)
    }

    /// Solves by finite elements.
    pub fn solve_by_finite_elements(&self) -> Result<(FiniteElementSolution, Report)> {
        let settings = finite_element::Settings {
            tolerance: self.settings.tolerance,
            ..finite_element::Settings::new(self.cells)
        };
        let clock = Instant::now();
        let solution = finite_element::solve(&self.problem, self.x, self.y, &settings)?;
        let seconds = clock.elapsed().as_secs_f64();
        let exact = self.problem.exact.as_ref();
        let errors = exact.map(|exact| finite_element_errors(&solution, exact.as_ref())).transpose()?;
        let report = Report {
            status: if solution.converged { Status::Solved } else { Status::MaxIterations },
            method: Method::Fem,
            subdomains: 1,
            points: self.cells[0].max(self.cells[1]),
            errors,
            estimate: None,
            attempts: Vec::new(),
            residual: solution.relative_residual,
            interface: InterfaceReport {
                unknowns: solution.nodal().len(),
                solver: InterfaceSolver::Cg,
                iterations: solution.iterations,
                refinements: 0,
                last_correction: None,
                relative_residual: Some(solution.relative_residual),
                factor_nonzeros: None,
                bytes_sent: 0,
            },
            features: FeaturesReport {
                neurons: 0,
                scale: 0.0,
                rows: 0,
                rank: Span { min: 0, max: 0 },
                factorizations: 0,
            },
            seconds: Seconds { interface: seconds, total: seconds, ..Seconds::default() },
            peak_memory_bytes: peak_memory_bytes(),
            warnings: Vec::new(),
        };
        Ok((solution, report))
    }
}

/// L2 and H1 norms by quadrature, the maximum over the nodes.
fn finite_element_errors(solution: &FiniteElementSolution, exact: &dyn crate::field::Field) -> Result<Errors> {
    let norms = solution.errors(exact)?;
    let (x, y) = (solution.node_x(), solution.node_y());
    let mut max = 0.0_f64;
    for (row, &y) in solution.nodal().chunks(x.len()).zip(&y) {
        let values = crate::operator::Sample { x: x.clone(), y: vec![y; x.len()] }.values(exact, "exact.u", 0)?;
        max = row.iter().zip(values).fold(max, |max, (u, v)| max.max((u - v).abs()));
    }
    Ok(Errors { l2: norms.l2, h1: norms.h1, max, interface_rms: None, trace_rms: None })
}
