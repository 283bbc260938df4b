//! Cases of problem files that ask for finite elements, with the report of a solve.

use std::time::Instant;

use ddelm::domain::sample::Sample;
use ddelm::method::report::{Errors, FeaturesReport, InterfaceReport, Seconds, Span, peak_memory_bytes};
use ddelm::method::settings::{InterfaceSolver, Method};
use ddelm::problem::field::Field;
use ddelm::solve::case::Case;
use ddelm::solve::consistency;
use ddelm::{Report, Result, Status};

use crate::{FiniteElementSolution, Settings, solve};

/// Solves by finite elements on the cells of the case, and measures the errors where the exact solution is known.
pub fn solve_case(case: &Case) -> Result<(FiniteElementSolution, Report)> {
    let settings = Settings {
        tolerance: case.settings.tolerance,
        max_memory: case.settings.max_memory,
        ..Settings::new(case.cells)
    };
    let clock = Instant::now();
    let (x, y) = case.domain.plain_rectangle("finite elements")?;
    let solution = solve(&case.problem, x, y, &settings)?;
    let seconds = clock.elapsed().as_secs_f64();
    let exact = case.problem.exact.as_ref();
    let errors = exact.map(|exact| measured(&solution, exact.as_ref())).transpose()?;
    let mut report = Report {
        status: if solution.converged { Status::Solved } else { Status::MaxIterations },
        method: Method::Fem,
        subdomains: 1,
        rings: 0,
        points: case.cells[0].max(case.cells[1]),
        errors,
        estimate: None,
        attempts: Vec::new(),
        integrals: Default::default(),
        eigenvalues: Vec::new(),
        time: None,
        nonlinear: None,
        residual: solution.relative_residual,
        conservation: None,
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
        features: FeaturesReport { neurons: 0, scale: 0.0, rows: 0, rank: Span { min: 0, max: 0 }, factorizations: 0 },
        seconds: Seconds { interface: seconds, total: seconds, ..Seconds::default() },
        peak_memory_bytes: peak_memory_bytes(),
        warnings: consistency::check(&case.problem, case.decomposition()?.as_ref()),
    };
    let consistent = report.warnings.is_empty();
    if report.judge(None, consistent) && report.status == Status::Solved {
        report.status = Status::Unresolved;
    }
    Ok((solution, report))
}

/// L2 and H1 norms by quadrature, the maximum over the nodes.
fn measured(solution: &FiniteElementSolution, exact: &dyn Field) -> Result<Errors> {
    let norms = solution.errors(exact)?;
    let (x, y) = (solution.node_x(), solution.node_y());
    let mut max = 0.0_f64;
    for (row, &y) in solution.nodal().chunks(x.len()).zip(&y) {
        let values = Sample::at(x.clone(), vec![y; x.len()]).values(exact, "exact.u", 0)?;
        max = row.iter().zip(values).fold(max, |max, (u, v)| max.max((u - v).abs()));
    }
    Ok(Errors { l2: norms.l2, h1: norms.h1, max, interface_rms: None, trace_rms: None })
}
