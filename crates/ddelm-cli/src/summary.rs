//! A report for people.

use ddelm::report::{Attempt, Report, Status};
use ddelm::settings::{InterfaceSolver, Method};

use crate::number::{bytes, error, seconds};

/// The report in a few lines; `counts` are the subdomains in x and y, or the cells of finite elements.
pub fn summary(report: &Report, counts: [usize; 2]) -> String {
    let mut lines = vec![("status", status(report.status).into())];
    if report.method == Method::Fem {
        lines.push(("sizes", format!("{} x {} cells, {} nodes", counts[0], counts[1], report.interface.unknowns)));
        lines.push(("solver", format!("conjugate gradients, {} iterations", report.interface.iterations)));
    } else {
        lines.push(("sizes", sizes(report, counts)));
        lines.extend(interface(report).map(|text| ("interface", text)));
    }
    lines.extend(report.attempts.iter().map(|attempt| ("tried", tried(attempt))));
    if let Some(e) = &report.errors {
        let optional =
            |name: &str, value: Option<f64>| value.map_or(String::new(), |v| format!(", {name} {}", error(v)));
        let (h1, rms) = (optional("H1", e.h1), optional("interface", e.interface_rms));
        lines.push(("error", format!("L2 {}{h1}, maximum {}{rms}", error(e.l2), error(e.max))));
    }
    if let Some(e) = &report.estimate {
        lines.push(("estimate", format!("L2 {}, H1 {}, maximum {}", error(e.l2), error(e.h1), error(e.max))));
    }
    lines.push(("time", times(report)));
    if let Some(memory) = report.peak_memory_bytes {
        lines.push(("memory", format!("{} at most", bytes(memory))));
    }
    lines.iter().map(|(name, text)| format!("{name:<10} {text}\n")).collect()
}

fn tried(attempt: &Attempt) -> String {
    let [nx, ny] = attempt.subdomains;
    format!("{nx} x {ny} subdomains, {} points: estimated L2 {}", attempt.points, error(attempt.estimate))
}

/// The status in words.
pub fn status(status: Status) -> &'static str {
    match status {
        Status::Solved => "solved",
        Status::MaxIterations => "not converged: the iterations ran out",
        Status::ToleranceNotReached => "tolerance not reached; this is the best that was found",
    }
}

fn sizes(report: &Report, [nx, ny]: [usize; 2]) -> String {
    let features = &report.features;
    let rank = match (features.rank.min, features.rank.max) {
        (min, max) if min == max => max.to_string(),
        (min, max) => format!("{min} to {max}"),
    };
    format!(
        "{nx} x {ny} subdomains, {} points per side, {} neurons (rank {rank} of {} rows)",
        report.points, features.neurons, features.rows
    )
}

fn interface(report: &Report) -> Option<String> {
    let interface = &report.interface;
    let how = match interface.solver {
        InterfaceSolver::Direct if interface.refinements == 1 => "direct, 1 refinement step".into(),
        InterfaceSolver::Direct => format!("direct, {} refinement steps", interface.refinements),
        InterfaceSolver::Cg => format!("conjugate gradients, {} iterations", interface.iterations),
    };
    (interface.unknowns > 0).then(|| format!("{} unknowns, {how}", interface.unknowns))
}

fn times(report: &Report) -> String {
    let s = &report.seconds;
    let stages = [("assemble", s.assemble), ("factor", s.factor), ("interface", s.interface), ("recover", s.recover)];
    let stages = stages.map(|(name, time)| format!("{name} {time:.3}"));
    let estimate = if report.estimate.is_some() && s.estimate > 0.0 {
        format!(", and {} to estimate the error", seconds(s.estimate))
    } else {
        String::new()
    };
    match report.method {
        Method::Fem => seconds(s.total),
        _ => format!("{} ({}){estimate}", seconds(s.total), stages.join(", ")),
    }
}
