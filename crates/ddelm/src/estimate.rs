//! An error estimate without an exact solution: the difference to a second, better and independent solution.
//!
//! The second solution has more points and other features on the same decomposition. Where the first one is not yet
//! resolved the second is much closer to the truth, so that the difference is the error; at the level of rounding both
//! are wrong by as much, independently, and the difference is the error again, give or take a factor of two.

use std::sync::Arc;

use crate::error::Result;
use crate::exchange::{Exchange, agreed};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::report::Estimate;
use crate::settings::{Method, Settings, Truncation};
use crate::solution::{Solution, Sums};
use crate::solver::Solver;

/// Sample points over the whole domain, at most about so many: the estimate must not cost more than the solve.
const SAMPLES: usize = 40_000;

/// Points beyond which the default method is at rounding level anyway.
const ENOUGH_POINTS: usize = 18;

/// The settings of the second solution: the default method with more points and another seed.
pub fn second_settings(settings: &Settings) -> Settings {
    let paper = !settings.scaled_rows;
    let points = if paper { settings.points.min(ENOUGH_POINTS) } else { settings.points };
    let keep = settings.weights.is_none() && !paper;
    Settings {
        method: Method::Schur,
        points: points + (points / 8).max(2),
        scale: if keep { settings.scale } else { None },
        c: if keep { settings.c } else { None },
        activation: settings.activation,
        sharing: Settings::fast().sharing,
        truncation: Truncation::Qr,
        seed: settings.seed.wrapping_add(0x9e37_79b9_7f4a_7c15),
        ..Settings::fast()
    }
}

/// Estimates the error of a solution of `problem`. On a parallel machine all ranks take part, and rank 0, which has the
/// whole solution, learns the estimate.
pub fn estimate(
    exchange: &Arc<dyn Exchange>,
    problem: &Problem,
    settings: &Settings,
    solution: &Solution,
    progress: &dyn Progress,
) -> Result<Option<Estimate>> {
    let second = second_settings(settings);
    let solver = Solver::on(exchange.clone(), problem, solution.decomposition.clone(), &second, progress)?;
    let better = solver.solve_many(&[problem.data()], progress)?.swap_remove(0);
    let compare = || difference(solution, &better, second.points);
    agreed(exchange.as_ref(), (exchange.rank() == 0).then(compare).transpose())
}

/// The size of the difference between a solution and a better one with so many points.
pub fn difference(solution: &Solution, better: &Solution, points: usize) -> Result<Estimate> {
    let per_subdomain = SAMPLES as f64 / solution.decomposition.len() as f64;
    let resolution = (per_subdomain.sqrt() as usize).clamp(6, 2 * points);
    let sums = solution.difference(better, resolution)?;
    let total = Sums::total(&sums);
    Ok(Estimate {
        l2: total.l2(),
        h1: total.h1(),
        max: total.max,
        subdomains: sums.iter().map(|s| (s.error / s.area).sqrt()).collect(),
        points,
    })
}
