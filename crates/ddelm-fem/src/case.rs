//! Cases of problem files that ask for finite elements, with the report of a solve.

use std::time::Instant;

use ddelm::domain::sample::Sample;
use ddelm::method::report::Status;
use ddelm::method::report::{Errors, FeaturesReport, InterfaceReport, Means, RankSpan, Seconds};
use ddelm::method::settings::InterfaceSolver;
use ddelm::problem::field::Field;
use ddelm::solve::case::Case;
use ddelm::solve::consistency;
use ddelm::{Error, Report, Result};

use crate::{FiniteElementSolution, Settings, solve};

/// Solves by finite elements on the cells of the case, and measures the errors where the exact solution is known.
pub fn solve_case(case: &Case) -> Result<(FiniteElementSolution, Report)> {
    let cells = case.finite_elements.ok_or_else(|| {
        let hint = "write method = \"fem\"";
        Error::MissingKey { key: "method".into(), hint: hint.into() }
    })?;
    let settings = Settings {
        tolerance: case.settings.interface_tolerance,
        max_memory: case.settings.max_memory,
        ..Settings::new(cells)
    };
    let clock = Instant::now();
    let (x, y) = case.domain.plain_rectangle("finite elements")?;
    let solution = solve(&case.problem, x, y, &settings)?;
    let seconds = clock.elapsed().as_secs_f64();
    let exact = case.problem.exact.as_ref();
    let errors = exact.map(|exact| measured(&solution, exact.as_ref())).transpose()?;
    let interface = InterfaceReport {
        iterations: solution.iterations,
        relative_residual: Some(solution.relative_residual),
        ..InterfaceReport::new(InterfaceSolver::Cg, solution.nodal().len())
    };
    let features =
        FeaturesReport { neurons: 0, scale: 0.0, rows: 0, rank: RankSpan { min: 0, max: 0 }, factorizations: 0 };
    let seconds = Seconds { interface: seconds, total: seconds, ..Seconds::default() };
    let mut report = Report {
        status: if solution.converged { Status::Solved } else { Status::MaxIterations },
        errors,
        residual: solution.relative_residual,
        warnings: consistency::check(&case.problem, case.decomposition()?.as_ref()),
        ..Report::new(Means::Fem, [1, cells[0].max(cells[1])], interface, features, seconds)
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
