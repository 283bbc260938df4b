//! Points and subdomains for a tolerance.
//!
//! On a decomposition the points are raised step by step. Two solutions in a row give the estimated error of the first.
//! While more points pay, there are more points; when they no longer do, there are more subdomains.

use std::sync::Arc;

use crate::decomposition::Decomposition;
use crate::error::Result;
use crate::estimate::difference;
use crate::exchange::{Exchange, agreed};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::report::{Attempt, Status};
use crate::settings::Settings;
use crate::solution::Solution;
use crate::solver::Solver;

/// Points per side that are tried on a decomposition, in order.
const POINTS: [usize; 6] = [8, 11, 14, 17, 20, 24];

/// More points pay while they divide the error by this.
const WORTHWHILE: f64 = 5.0;

/// Largest size of a problem that is tried: subdomains times points squared.
const LARGEST: usize = 500_000;

/// Raises points and subdomains until the estimated relative L2 error is below the tolerance. If that cannot be reached
/// the best solution comes back, with a status that says so.
pub fn solve_to_tolerance(
    exchange: &Arc<dyn Exchange>,
    problem: &Problem,
    x: [f64; 2],
    y: [f64; 2],
    settings: &Settings,
    tolerance: f64,
    progress: &dyn Progress,
) -> Result<Solution> {
    let mut attempts: Vec<Attempt> = Vec::new();
    let mut best: Option<(Solution, f64)> = None;
    let mut counts = first_counts(x, y, exchange.size());
    loop {
        let decomposition = Arc::new(Decomposition::rectangle(x, y, counts)?);
        let mut before: Option<(Solution, usize)> = None;
        let mut last = f64::INFINITY;
        for (k, &points) in POINTS.iter().enumerate() {
            if counts[0] * counts[1] * points * points > LARGEST {
                break;
            }
            let seed = settings.seed.wrapping_add(k as u64);
            let settings = Settings { points, neurons: None, seed, ..settings.clone() };
            let solver = Solver::on(exchange.clone(), problem, decomposition.clone(), &settings, progress)?;
            let solution = solver.solve_many(&[problem.data()], progress)?.swap_remove(0);
            if let Some((mut coarser, coarse_points)) = before.take() {
                // Rank 0 has the whole solutions; all ranks must decide alike.
                let compare = || difference(&coarser, &solution, points);
                let estimate = agreed(exchange.as_ref(), (exchange.rank() == 0).then(compare).transpose())?;
                let mut error = [estimate.as_ref().map_or(0.0, |e| e.l2)];
                exchange.max(&mut error);
                let [error] = error;
                attempts.push(Attempt { subdomains: counts, points: coarse_points, estimate: error });
                coarser.report.estimate = estimate;
                if best.as_ref().is_none_or(|b| error < b.1) {
                    best = Some((coarser, error));
                }
                if error <= tolerance || error > last / WORTHWHILE {
                    break;
                }
                last = error;
            }
            before = Some((solution, points));
        }
        let reached = best.as_ref().is_some_and(|b| b.1 <= tolerance);
        let next = counts.map(|c| 2 * c);
        let too_large = next[0] * next[1] * POINTS[1] * POINTS[1] > LARGEST;
        // The errors of two decompositions in a row that do not differ are at the level of rounding.
        let stuck = attempts.len() > 2 && stagnated(&attempts, counts);
        if reached || too_large || stuck {
            let mut solution = match best {
                Some((best, _)) => best,
                None => Solver::on(exchange.clone(), problem, decomposition, settings, progress)?.solve()?,
            };
            solution.report.attempts = attempts;
            if !reached {
                solution.report.status = Status::ToleranceNotReached;
            }
            return Ok(solution);
        }
        counts = next;
    }
}

/// Two subdomains across the shorter side, and nearly square ones; twice as many until every rank has one.
fn first_counts(x: [f64; 2], y: [f64; 2], ranks: usize) -> [usize; 2] {
    let ratio = (x[1] - x[0]) / (y[1] - y[0]);
    let along = |r: f64| ((2.0 * r).round() as usize).clamp(2, 32);
    let mut counts = if ratio >= 1.0 { [along(ratio), 2] } else { [2, along(1.0 / ratio)] };
    while counts[0] * counts[1] < ranks {
        counts = counts.map(|c| 2 * c);
    }
    counts
}

/// Whether the best error on the last decomposition is no better than on the one before it, although both are small.
fn stagnated(attempts: &[Attempt], counts: [usize; 2]) -> bool {
    let best = |wanted: [usize; 2]| {
        attempts.iter().filter(|a| a.subdomains == wanted).map(|a| a.estimate).fold(f64::INFINITY, f64::min)
    };
    let (now, before) = (best(counts), best(counts.map(|c| c / 2)));
    before < 1e-9 && now > 0.5 * before
}
