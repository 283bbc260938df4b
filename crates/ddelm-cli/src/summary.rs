//! A report for people.

use ddelm::Report;
use ddelm::domain::division::Count;
use ddelm::method::report::Status;
use ddelm::method::report::{Attempt, Eigenvalue, Means, NonlinearReport, TimeReport};
use ddelm::method::settings::InterfaceSolver;

use ddelm::base::amount::bytes;
use ddelm::base::number::{digits, error, seconds};

/// The report in a few lines; `count` is the number of subdomains, or of the cells of finite elements.
pub fn summary(report: &Report, count: Count) -> String {
    let mut lines = vec![("status", status(report.status).into())];
    if report.method == Means::Fem {
        lines.push(("sizes", format!("{count} cells, {} nodes", report.interface.unknowns)));
        lines.push(("solver", format!("conjugate gradients, {} iterations", report.interface.iterations)));
    } else {
        lines.push(("sizes", sizes(report, count)));
        lines.extend(interface(report).map(|text| ("interface", text)));
    }
    lines.extend(report.eigenvalues.iter().enumerate().map(|(k, e)| ("eigenvalue", eigenvalue(k + 1, e))));
    lines.extend(report.time.iter().map(|time| ("steps", steps(time))));
    lines.extend(report.nonlinear.iter().map(|nonlinear| ("newton", newton(nonlinear))));
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
    let integrals: Vec<(String, String)> =
        report.integrals.iter().map(|(name, value)| (name.clone(), format!("{value:.15e}"))).collect();
    lines.extend(integrals.iter().map(|(name, value)| (name.as_str(), value.clone())));
    lines.push(("time", times(report)));
    if let Some(memory) = report.peak_memory_bytes {
        lines.push(("memory", format!("{} at most", bytes(memory))));
    }
    lines.iter().map(|(name, text)| format!("{name:<10} {text}\n")).collect()
}

fn eigenvalue(number: usize, eigenvalue: &Eigenvalue) -> String {
    let imaginary = match eigenvalue.imaginary {
        0.0 => String::new(),
        value => format!(" {} {} i", if value < 0.0 { '-' } else { '+' }, digits(value.abs())),
    };
    let estimate = eigenvalue.estimate.map_or(String::new(), |e| format!("   estimated error {}", error(e)));
    format!("{number:<4}{}{imaginary}{estimate}", digits(eigenvalue.value))
}

fn steps(time: &TimeReport) -> String {
    let plural = if time.factorizations == 1 { "factorization" } else { "factorizations" };
    let estimate = time.estimate.map_or(String::new(), |e| format!(", estimated error of the steps {}", error(e)));
    format!(
        "{} of order {}, {} {plural}, {} solves{estimate}",
        time.steps, time.order, time.factorizations, time.solves
    )
}

fn newton(report: &NonlinearReport) -> String {
    let count = |number: usize, one: &str, many: &str| format!("{number} {}", if number == 1 { one } else { many });
    let way = match report.continuation.len() {
        0 => String::new(),
        values => format!("continuation over {}, ", count(values, "value", "values")),
    };
    let steps = count(report.steps.len(), "step", "steps");
    let factored = count(report.factorizations, "factorization", "factorizations");
    let last = report.steps.last().map_or(String::new(), |step| format!(", last change {}", error(step.change)));
    let begun = report.start.map_or(String::new(), |start| {
        format!(
            ", after {} with {} points",
            count(start.factorizations, "factorization", "factorizations"),
            start.points
        )
    });
    format!("{way}{steps}, {factored}{begun}{last}")
}

fn tried(attempt: &Attempt) -> String {
    let Attempt { subdomains, points, estimate } = attempt;
    let found = if estimate.is_nan() { "not resolved".into() } else { format!("estimated L2 {}", error(*estimate)) };
    format!("{subdomains} subdomains, {points} points: {found}")
}

/// The status in words.
pub fn status(status: Status) -> &'static str {
    match status {
        Status::Solved => "solved",
        Status::MaxIterations => "not converged: the iterations ran out",
        Status::NotConverged => "not converged: Newton's method found no solution, this is its best iterate",
        Status::ToleranceNotReached => "tolerance not reached; this is the best that was found",
        Status::Unresolved => "not resolved: the error is above 1 %",
    }
}

fn sizes(report: &Report, subdomains: Count) -> String {
    let rings = rings(report.rings);
    let features = &report.features;
    let rank = match (features.rank.min, features.rank.max) {
        (min, max) if min == max => max.to_string(),
        (min, max) => format!("{min} to {max}"),
    };
    format!(
        "{subdomains} subdomains{rings}, {} points per side, {} neurons (rank {rank} of {} rows)",
        report.points, features.neurons, features.rows
    )
}

/// What is said of so many vertices with rings, after the subdomains.
pub fn rings(vertices: usize) -> String {
    match vertices {
        0 => String::new(),
        1 => " (rings about 1 vertex)".into(),
        more => format!(" (rings about {more} vertices)"),
    }
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
    let estimated = report.estimate.is_some() || !report.eigenvalues.is_empty();
    let estimate = if estimated && s.estimate > 0.0 {
        format!(", and {} to estimate the error", seconds(s.estimate))
    } else {
        String::new()
    };
    match report.method {
        Means::Fem => seconds(s.total),
        _ => format!("{} ({}){estimate}", seconds(s.total), stages.join(", ")),
    }
}
