//! An error estimate without an exact solution: the difference to a second, better and independent solution.
//!
//! The second solution has other features on another decomposition, with a quarter more subdomains in each direction. Where
//! the first one is not yet resolved the second is closer to the truth, and wrong in other places, so that the difference
//! is the error; at the level of rounding both are wrong by as much, independently, and the difference is the error
//! again, give or take a factor of two. Where the first one has rings about vertices, the second one has them, too.
//!
//! Data that jump along lines of the first decomposition would jump inside the subdomains of the second. Where the
//! other decomposition resolves the data worse ([`resolution`](crate::solve::resolution)), it is the first with every
//! subdomain cut into four, which keeps the lines. What the second solution has not seen of the data, either, is in no
//! difference: it is added to the estimate.

use std::borrow::Cow;
use std::sync::Arc;

use crate::base::error::Result;
use crate::base::progress::Progress;
use crate::domain::collocation::Nodes;
use crate::domain::decomposition::Decomposition;
use crate::interface::{Exchange, agreed};
use crate::method::report::{Estimate, Status};
use crate::method::settings::{Corners, Method, Settings, Truncation};
use crate::problem::field::FieldRef;
use crate::problem::model::Problem;
use crate::solution::evaluate::Solution;
use crate::solution::norms::Sums;
use crate::solve::corners::with_corners;
use crate::solve::newton::{Nonlinear, solve_once};
use crate::solve::resolution::Resolution;

/// Sample points over the whole domain, at most about so many: the estimate must not cost more than the solve.
const SAMPLES: usize = 40_000;

/// Points beyond which the default method is at rounding level anyway.
const ENOUGH_POINTS: usize = 18;

/// Points that are not made fewer where subdomains are cut into four.
const FEW_POINTS: usize = 8;

/// Mismatches of the data below this are rounding.
const ROUNDING: f64 = 1e-12;

/// The error estimate, and what the data say about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    /// The estimate, on the rank that has the whole solution.
    pub estimate: Option<Estimate>,
    /// Data that the solution has not resolved.
    pub warnings: Vec<String>,
    /// What neither of the two solutions has seen of the data; see [`Resolution::missed`].
    pub missed: f64,
}

/// Where the second solution is sought.
pub(crate) struct Second {
    pub decomposition: Arc<Decomposition>,
    pub settings: Settings,
    /// What it sees of the data.
    pub resolution: Resolution,
}

impl Second {
    /// Chooses a decomposition beside the first, on which the solution has the given settings.
    pub fn beside(problem: &Problem, first: &Decomposition, seen: &Resolution, settings: &Settings) -> Result<Self> {
        let on = |decomposition: Decomposition, points: usize| -> Result<Self> {
            let settings = second_settings(settings, points);
            let resolution = Resolution::new(problem, &decomposition, points)?;
            Ok(Second { decomposition: Arc::new(decomposition), settings, resolution })
        };
        let points = if settings.scaled_rows { settings.points } else { settings.points.min(ENOUGH_POINTS) };
        let fewer = (points - points / 8).max(points.min(FEW_POINTS));
        let rings = !first.ring_vertices().is_empty();
        // Points need not be vertices of another decomposition.
        let fixed = rings && matches!(settings.corners, Corners::Points(_));
        let other = match first.beside().filter(|_| !fixed).transpose()? {
            Some(plain) if rings => Some(on(with_corners(problem, plain, settings)?, points)?),
            Some(plain) => Some(on(plain, points)?),
            None => None,
        };
        match other {
            Some(other) if other.resolution.worst() <= 4.0 * seen.worst().max(ROUNDING) => Ok(other),
            Some(other) => {
                let cut = on(first.refined()?, fewer)?;
                Ok(if cut.resolution.worst() < other.resolution.worst() { cut } else { other })
            }
            None => on(first.refined()?, fewer),
        }
    }

    /// Solves there; a nonlinear problem from the first solution, which is near the same one of its solutions.
    fn solve(
        &self,
        exchange: &Arc<dyn Exchange>,
        problem: &Problem,
        first: &Solution,
        progress: &dyn Progress,
    ) -> Result<Solution> {
        let nonlinear = from_solution(problem, first);
        solve_once(exchange, problem, self.decomposition.clone(), &self.settings, &nonlinear, progress)
    }
}

/// The settings of the second solution: the default method with so many points and another seed.
pub(crate) fn second_settings(settings: &Settings, points: usize) -> Settings {
    let keep = settings.weights.is_none() && settings.scaled_rows;
    Settings {
        method: Method::Schur,
        points,
        corners: settings.corners.clone(),
        scale: if keep { settings.scale } else { None },
        c: if keep { settings.c } else { None },
        activation: settings.activation,
        nodes: settings.nodes.filter(|&nodes| nodes == Nodes::Gauss),
        sharing: Settings::fast().sharing,
        truncation: Truncation::Qr,
        seed: settings.seed.wrapping_add(0x9e37_79b9_7f4a_7c15),
        max_memory: settings.max_memory,
        ..Settings::fast()
    }
}

/// Estimates the error of a solution of `problem`, and says which data it does not resolve. On a parallel machine all ranks
/// take part, and rank 0, which has the whole solution, learns the estimate.
pub fn assess(
    exchange: &Arc<dyn Exchange>,
    problem: &Problem,
    settings: &Settings,
    solution: &Solution,
    progress: &dyn Progress,
) -> Result<Assessment> {
    let first = solution.decomposition.as_ref();
    let data = at_solution(problem, solution);
    let prepare = || {
        let quick = Resolution::quick(&data, first, settings.points)?;
        let second = Second::beside(&data, first, &quick, settings)?;
        // What the other decomposition has seen well, the first has seen well enough to say nothing.
        let suspicious = second.resolution.missed() > 0.0 || quick.missed() > 0.0;
        let seen = if suspicious { Resolution::new(&data, first, settings.points)? } else { quick };
        Ok((seen, second))
    };
    let (seen, second) = agreed(exchange.as_ref(), prepare())?;
    let better = second.solve(exchange, problem, solution, progress)?;
    let missed = second.resolution.missed();
    if better.report.status == Status::NotConverged {
        let mut warnings = seen.warnings(first);
        warnings.push("the error is not estimated: Newton's method did not converge on a second decomposition".into());
        return Ok(Assessment { estimate: None, warnings, missed });
    }
    let compare = || difference(solution, &better, second.settings.points, missed);
    let estimate = agreed(exchange.as_ref(), (exchange.rank() == 0).then(compare).transpose())?;
    Ok(Assessment { estimate, warnings: seen.warnings(first), missed })
}

/// A problem whose data can be looked at without solving it: a nonlinear one has those of its solution.
pub(crate) fn at_solution<'a>(problem: &'a Problem, solution: &Solution) -> Cow<'a, Problem> {
    match problem.is_nonlinear() {
        true => Cow::Owned(problem.at_state(&(Arc::new(solution.clone()) as FieldRef))),
        false => Cow::Borrowed(problem),
    }
}

/// How a nonlinear problem is solved from a solution of it on another decomposition.
pub(crate) fn from_solution(problem: &Problem, solution: &Solution) -> Nonlinear {
    let initial = problem.is_nonlinear().then(|| Arc::new(solution.clone()) as FieldRef);
    // The guess is as good as a solution with fewer points would be.
    Nonlinear { initial, nested: false, ..Nonlinear::default() }
}

/// The size of the difference between a solution and a better one with so many points, which has `missed` so much of the
/// data.
pub fn difference(solution: &Solution, better: &Solution, points: usize, missed: f64) -> Result<Estimate> {
    let per_subdomain = SAMPLES as f64 / solution.decomposition.len() as f64;
    // As many as there are nodes are enough for a sum of squares.
    let resolution = (per_subdomain.sqrt() as usize).clamp(6, (2 * points).div_ceil(3).max(6));
    let sums = solution.difference(better, resolution)?;
    let total = Sums::total(&sums);
    let mean_square = total.norm / total.area;
    // Neither solution need have them.
    let layers = solution.report.layers.unwrap_or(0.0);
    Ok(Estimate {
        l2: total.l2() + missed + layers,
        h1: total.h1() + missed + layers,
        max: total.max + (missed + layers) * mean_square.sqrt(),
        subdomains: sums.iter().map(|s| (s.error / s.area).sqrt()).collect(),
        points,
        missed,
    })
}
