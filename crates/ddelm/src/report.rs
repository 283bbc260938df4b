//! What a solve did: status, errors, counters, seconds by stage, and whether to trust it.

use serde::{Deserialize, Serialize};

use crate::settings::{InterfaceSolver, Method};

/// How a solve ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// As asked.
    Solved,
    /// Conjugate gradients ran out of iterations.
    MaxIterations,
    /// The tolerance on the error was not reached; the solution is the best that was found.
    ToleranceNotReached,
}

/// Errors against the exact solution at points that are not nodes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Errors {
    /// Relative L2 norm.
    pub l2: f64,
    /// Relative H1 norm (values and gradients); `None` where the gradient of the exact solution is not known.
    pub h1: Option<f64>,
    /// Largest absolute error.
    pub max: f64,
    /// Root mean square of the interface values' error (paper, Table 1); `None` without an interface.
    pub interface_rms: Option<f64>,
    /// The same of the networks on both sides of the interface; `None` without an interface.
    pub trace_rms: Option<f64>,
}

/// Estimated errors, from a second solution with more points and other features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Relative L2 norm.
    pub l2: f64,
    /// Relative H1 norm.
    pub h1: f64,
    /// Largest absolute error.
    pub max: f64,
    /// Root mean square of the error in every subdomain.
    pub subdomains: Vec<f64>,
    /// Points per side of the second solution.
    pub points: usize,
}

/// One step on the way to a tolerance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Subdomains in x and y.
    pub subdomains: [usize; 2],
    /// Points per side of a subdomain.
    pub points: usize,
    /// Estimated relative L2 error.
    pub estimate: f64,
}

/// The interface system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InterfaceReport {
    /// Interface values.
    pub unknowns: usize,
    /// How it was solved.
    pub solver: InterfaceSolver,
    /// Iterations of conjugate gradients.
    pub iterations: usize,
    /// Refinement steps after a direct solve.
    pub refinements: usize,
    /// Size of the last correction, relative to the solution (direct).
    pub last_correction: Option<f64>,
    /// Relative residual of the Schur complement system (conjugate gradients).
    pub relative_residual: Option<f64>,
    /// Numbers stored in the factor (direct).
    pub factor_nonzeros: Option<usize>,
    /// Bytes that the ranks of a parallel machine sent each other while it was solved, all together. What the library
    /// that factors it sends is not in it.
    #[serde(default)]
    pub bytes_sent: u64,
}

/// A smallest and a largest value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The smallest.
    pub min: usize,
    /// The largest.
    pub max: usize,
}

/// The features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeaturesReport {
    /// Neurons per subdomain.
    pub neurons: usize,
    /// Half the range of the weights.
    pub scale: f64,
    /// Rows of a local matrix.
    pub rows: usize,
    /// Numerical rank over the subdomains.
    pub rank: Span,
    /// Different local factorizations; less than the subdomains where congruent ones share.
    pub factorizations: usize,
}

/// Seconds by stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    /// Rows, features, reference basis.
    pub assemble: f64,
    /// Local factorizations.
    pub factor: f64,
    /// Assembly, factorization and solution of the interface system.
    pub interface: f64,
    /// Output coefficients.
    pub recover: f64,
    /// The sum of the above: the time of the solve.
    pub total: f64,
    /// The error estimate, on top of the solve.
    pub estimate: f64,
}

/// What a solve did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// How it ended.
    pub status: Status,
    /// How the local problems were put together.
    pub method: Method,
    /// Number of subdomains.
    pub subdomains: usize,
    /// Intervals per side of a subdomain.
    pub points: usize,
    /// Errors against the exact solution, if one was given.
    pub errors: Option<Errors>,
    /// Estimated errors, if asked for.
    pub estimate: Option<Estimate>,
    /// What was tried to reach a tolerance, in order.
    pub attempts: Vec<Attempt>,
    /// Relative residual of the local least-squares problems.
    pub residual: f64,
    /// The interface system.
    pub interface: InterfaceReport,
    /// The features.
    pub features: FeaturesReport,
    /// Seconds by stage.
    pub seconds: Seconds,
    /// Peak memory of the process, where the system tells.
    pub peak_memory_bytes: Option<u64>,
    /// Reasons not to trust the solution, and choices that were made for the user.
    pub warnings: Vec<String>,
}

/// Peak memory of this process, where the system tells.
pub fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}
