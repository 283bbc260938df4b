//! What a solve did: status, errors, counters, seconds by stage, and whether to trust it.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use crate::domain::division::Count;
use crate::method::settings::{InterfaceSolver, Method};

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
    /// Newton's method did not converge; the solution is the best iterate.
    NotConverged,
    /// The error, measured or estimated, is above [`UNRESOLVED`]: the discretization does not resolve the problem.
    Unresolved,
}

/// What a solution was made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Means {
    /// Networks, by [`Method::Schur`].
    Schur,
    /// Networks, by [`Method::Elm`].
    Elm,
    /// Networks, by [`Method::Locelm`].
    Locelm,
    /// P1 finite elements, the reference, which the crate `ddelm-fem` has.
    Fem,
}

impl From<Method> for Means {
    fn from(method: Method) -> Self {
        match method {
            Method::Schur => Means::Schur,
            Method::Elm => Means::Elm,
            Method::Locelm => Means::Locelm,
        }
    }
}

/// Relative L2 error beyond which a solution is not called solved.
pub const UNRESOLVED: f64 = 1e-2;

/// An error against the exact solution that is so many times its estimate casts doubt on one of the two.
const DOUBTFUL: f64 = 10.0;

/// What rounding may add to an error, relative to the solution: an estimate below it is not held against anybody.
const ROUNDING: f64 = 1e-12;

/// Errors against the exact solution at points that are not nodes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Errors {
    /// Relative L2 norm.
    #[serde(deserialize_with = "number")]
    pub l2: f64,
    /// Relative H1 norm (values and gradients); `None` where the gradient of the exact solution is not known.
    pub h1: Option<f64>,
    /// Largest absolute error.
    #[serde(deserialize_with = "number")]
    pub max: f64,
    /// Root mean square of the interface values' error (paper, Table 1); `None` without an interface.
    pub interface_rms: Option<f64>,
    /// The same of the networks on both sides of the interface; `None` without an interface.
    pub trace_rms: Option<f64>,
}

/// Estimated errors, from a second solution on another decomposition with other features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Relative L2 norm.
    #[serde(deserialize_with = "number")]
    pub l2: f64,
    /// Relative H1 norm.
    #[serde(deserialize_with = "number")]
    pub h1: f64,
    /// Largest absolute error.
    #[serde(deserialize_with = "number")]
    pub max: f64,
    /// Root mean square of the error in every subdomain.
    #[serde(deserialize_with = "numbers")]
    pub subdomains: Vec<f64>,
    /// Points per side of the second solution.
    pub points: usize,
    /// What is in the estimate for data that neither of the two solutions has seen, relative to the solution.
    #[serde(default, deserialize_with = "number")]
    pub missed: f64,
}

/// One step on the way to a tolerance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Subdomains.
    pub subdomains: Count,
    /// Points per side of a subdomain.
    pub points: usize,
    /// Estimated relative L2 error; not a number where it was not estimated, because the solution was not resolved.
    #[serde(deserialize_with = "number")]
    pub estimate: f64,
}

/// An eigenvalue of the operator.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Eigenvalue {
    /// Its real part.
    #[serde(deserialize_with = "number")]
    pub value: f64,
    /// Its imaginary part, where it has one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub imaginary: f64,
    /// Its estimated error, absolute; `None` where it was not asked for.
    pub estimate: Option<f64>,
}

/// Steps in time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TimeReport {
    /// The time of this solution.
    #[serde(default)]
    pub t: f64,
    /// Steps from the start to the end.
    pub steps: usize,
    /// The order of the formula.
    pub order: usize,
    /// Factored problems: one, unless a coefficient depends on the time.
    pub factorizations: usize,
    /// Solves, with those that found the first values.
    pub solves: usize,
    /// The estimated relative L2 error at the end that comes from the steps, where a tolerance was given or an estimate asked for.
    pub estimate: Option<f64>,
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// One step of Newton's method.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NewtonStep {
    /// The residual before the step, relative to the terms that should cancel in it.
    #[serde(deserialize_with = "number")]
    pub residual: f64,
    /// The size of the step, relative to the solution after it.
    #[serde(deserialize_with = "number")]
    pub change: f64,
    /// The share of the correction that was taken: one, or less where the whole of it made the residual larger.
    pub damping: f64,
    /// Whether the problem was linearised and factored anew for it.
    pub factored: bool,
}

/// A value of the parameter on the way of a continuation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ContinuationStep {
    /// The value.
    pub value: f64,
    /// Steps of Newton's method.
    pub steps: usize,
    /// Whether they converged. If not, the next value is nearer.
    pub converged: bool,
}

/// A solution with fewer points, from which Newton's method began. A factorization takes a sixth of the time there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewtonStart {
    /// Points per side.
    pub points: usize,
    /// Steps of Newton's method, those at the last value of a continuation.
    pub steps: usize,
    /// Factorizations, all together.
    pub factorizations: usize,
}

/// How a nonlinear problem was solved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NonlinearReport {
    /// The steps, those at the last value of a continuation.
    pub steps: Vec<NewtonStep>,
    /// Factorizations of a linear problem with all points, all together: that of the initial guess, those of the steps, and those on
    /// the way of a continuation.
    pub factorizations: usize,
    /// What was done with fewer points to begin with, where that helped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<NewtonStart>,
    /// The residual of the solution, relative to the terms that should cancel in it.
    #[serde(deserialize_with = "number")]
    pub residual: f64,
    /// The values of the parameter that were tried, in order; none without a continuation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub continuation: Vec<ContinuationStep>,
}

/// A number that may be none: JSON has no other word for it than null.
fn number<'d, D: Deserializer<'d>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// [`number`], several of them.
fn numbers<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let read = Vec::<Option<f64>>::deserialize(deserializer)?;
    Ok(read.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect())
}

/// [`number`], several of them with names.
fn named_numbers<'d, D: Deserializer<'d>>(deserializer: D) -> Result<BTreeMap<String, f64>, D::Error> {
    let read = BTreeMap::<String, Option<f64>>::deserialize(deserializer)?;
    Ok(read.into_iter().map(|(name, value)| (name, value.unwrap_or(f64::NAN))).collect())
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

impl InterfaceReport {
    /// The report of a system that is solved like that, before anything is known of how it went.
    pub fn new(solver: InterfaceSolver, unknowns: usize) -> Self {
        InterfaceReport {
            unknowns,
            solver,
            iterations: 0,
            refinements: 0,
            last_correction: None,
            relative_residual: None,
            factor_nonzeros: None,
            bytes_sent: 0,
        }
    }
}

/// The smallest and the largest rank over the subdomains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankSpan {
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
    pub rank: RankSpan,
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
    /// What the solution was made of.
    pub method: Means,
    /// Number of subdomains.
    pub subdomains: usize,
    /// Number of vertices with rings.
    #[serde(default)]
    pub rings: usize,
    /// Intervals per side of a subdomain.
    pub points: usize,
    /// Errors against the exact solution, if one was given.
    pub errors: Option<Errors>,
    /// Estimated errors, if asked for.
    pub estimate: Option<Estimate>,
    /// What was tried to reach a tolerance, in order.
    pub attempts: Vec<Attempt>,
    /// Numbers that were asked of the solution, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "named_numbers")]
    pub integrals: BTreeMap<String, f64>,
    /// The eigenvalues that were asked for, in ascending order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub eigenvalues: Vec<Eigenvalue>,
    /// Steps in time, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeReport>,
    /// The steps of Newton's method; `None` for linear problems.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonlinear: Option<NonlinearReport>,
    /// Relative residual of the local least-squares problems.
    #[serde(deserialize_with = "number")]
    pub residual: f64,
    /// The largest imbalance of a subdomain, relative to the largest flow through one: what flows out through its sides and is
    /// used up inside, less its source. `None` for methods that do not balance fluxes.
    #[serde(default)]
    pub conservation: Option<f64>,
    /// The size of the layers that the solution should have and has not, relative to it; `None` unless advection is so fast that rows are
    /// [tested](crate::local::tested). It is part of the estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers: Option<f64>,
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

impl Report {
    /// The report of a solve that went as asked. What is found out later (errors, an estimate, the loop around the solve) is not
    /// in it yet; nor are the residual, which is zero, and rings.
    pub fn new(
        method: impl Into<Means>,
        [subdomains, points]: [usize; 2],
        interface: InterfaceReport,
        features: FeaturesReport,
        seconds: Seconds,
    ) -> Self {
        Report {
            status: Status::Solved,
            method: method.into(),
            subdomains,
            rings: 0,
            points,
            errors: None,
            estimate: None,
            attempts: Vec::new(),
            integrals: BTreeMap::new(),
            eigenvalues: Vec::new(),
            time: None,
            nonlinear: None,
            residual: 0.0,
            conservation: None,
            layers: None,
            interface,
            features,
            seconds,
            peak_memory_bytes: peak_memory_bytes(),
            warnings: Vec::new(),
        }
    }

    /// Warns of a large error, of one that its estimate does not promise and of layers that it does not see, and says whether it is large. An error that a tolerance
    /// allows is not, and one against an exact solution that is not `consistent` says nothing.
    pub fn judge(&mut self, tolerance: Option<f64>, consistent: bool) -> bool {
        let measured = self.errors.as_ref().filter(|_| consistent);
        if let (Some(Errors { l2: error, .. }), Some(Estimate { l2: estimate, .. })) = (measured, &self.estimate)
            && *error > DOUBTFUL * estimate.max(ROUNDING)
        {
            self.warnings.push(format!(
                "the error against exact.u is {error:.1e}, and {estimate:.1e} is estimated: either the estimate or the exact \
                 solution is wrong"
            ));
        }
        let missing = self.layers.unwrap_or(0.0);
        let (error, how) = match (measured, &self.estimate) {
            (Some(errors), _) => (errors.l2.max(missing), "error"),
            (None, Some(estimate)) => (estimate.l2, "estimated error"),
            (None, None) => (missing, "size of layers that are missing"),
        };
        if measured.is_some_and(|errors| missing > DOUBTFUL * errors.l2.max(ROUNDING)) {
            self.warnings.push(format!(
                "the error against exact.u is measured at points of a grid: layers where advection leaves the domain lie between them, \
                 and would be about {missing:.1e} of the solution (a tolerance finds them)"
            ));
        }
        // One that is not a number is not small.
        let small = error <= UNRESOLVED.max(tolerance.unwrap_or(0.0));
        if small {
            return false;
        }
        self.warnings.push(format!(
            "the {how} is {error:.1e} of the solution: it is not resolved, do not use it (more subdomains or points, or \
             a tolerance, may help)"
        ));
        true
    }
}

/// Peak memory of this process, where the system tells.
pub fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}
