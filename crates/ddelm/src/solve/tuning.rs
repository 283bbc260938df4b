//! A good scale for the weights, found on one subdomain.
//!
//! The paper finds the constants of its initialization on small problems and keeps them for large ones (section 4.1).
//! Here the small problem is the middle subdomain of the large one: the same equation, with the boundary values that
//! the solution has there. One subdomain costs little, so that many scales and seeds can be tried.

use std::sync::Arc;

use crate::base::error::{Error, Result};
use crate::base::progress::{Progress, Silent, stop_if_asked};
use crate::domain::area::{Cut, Domain};
use crate::domain::shape::Shape;
use crate::interface::{Exchange, agreed};
use crate::method::settings::Settings;
use crate::network::features::Initialization;
use crate::problem::field::{Failure, Field, FieldRef, Samples};
use crate::problem::model::{Condition, Problem};
use crate::solution::evaluate::Solution;
use crate::solve::case::Case;

/// The scales that are tried first, relative to the default.
const GRID: [f64; 11] = [0.2, 0.3, 0.4, 0.55, 0.75, 1.0, 1.35, 1.8, 2.5, 3.5, 5.0];

/// Golden-section steps around the best of them.
const STEPS: usize = 4;

/// A scale and the error that it gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    /// Half the range of the weights.
    pub scale: f64,
    /// Relative L2 error, or its estimate: the geometric mean over the seeds.
    pub error: f64,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuning {
    /// All scales that were tried, in order.
    pub trials: Vec<Trial>,
    /// The scale that is used unless one is given.
    pub default: Trial,
    /// The scale with the smallest error.
    pub best: Trial,
}

/// Looks for the best scale of a case, with so many seeds for every scale.
pub fn tune(case: &Case, seeds: usize, progress: &dyn Progress) -> Result<Tuning> {
    case.validate()?;
    check(case)?;
    try_scales(case, whole_solution(case, |case| case.solve(progress))?, seeds, progress)
}

/// [`tune`] on a parallel machine: all ranks solve the whole problem where that is needed, and rank 0, which learns what
/// was found, tries the scales. All ranks find the same outcome.
pub fn tune_on(
    exchange: &Arc<dyn Exchange>,
    case: &Case,
    seeds: usize,
    progress: &dyn Progress,
) -> Result<Option<Tuning>> {
    let (together, leads) = (case.occupies(exchange.size()), exchange.rank() == 0);
    let tune = || {
        case.validate()?;
        check(case)?;
        let solve = |case: &Case| if together { case.solve_on(exchange, progress) } else { case.solve(progress) };
        let u = if together || leads { Some(whole_solution(case, solve)?) } else { None };
        u.filter(|_| leads).map(|u| try_scales(case, u, seeds, progress)).transpose()
    };
    agreed(exchange.as_ref(), tune())
}

/// The exact solution, or that of the whole problem.
fn whole_solution(case: &Case, solve: impl Fn(&Case) -> Result<Solution>) -> Result<FieldRef> {
    match &case.problem.exact {
        Some(exact) => Ok(exact.clone()),
        None => Ok(Arc::new(solve(&Case { estimate: false, ..case.clone() })?)),
    }
}

fn try_scales(case: &Case, u: FieldRef, seeds: usize, progress: &dyn Progress) -> Result<Tuning> {
    let local = one_subdomain(case, &u)?;
    let usual =
        Settings { scale: None, ..case.settings.clone() }.scale_for(&case.problem.equation, Shape::Quadrilateral);
    let mut trials: Vec<Trial> = Vec::new();
    let mut try_scale = |scale: f64| -> Result<f64> {
        stop_if_asked(progress)?;
        let error = mean_error(&local, scale, seeds)?;
        trials.push(Trial { scale, error });
        Ok(error)
    };
    let grid: Vec<f64> = GRID.iter().map(|factor| factor * usual).collect();
    let errors = grid.iter().map(|&scale| try_scale(scale)).collect::<Result<Vec<f64>>>()?;
    let lowest = (0..grid.len()).min_by(|&a, &b| errors[a].total_cmp(&errors[b])).expect("scales were tried");
    let (low, high) = (grid[lowest.saturating_sub(1)], grid[(lowest + 1).min(grid.len() - 1)]);
    golden_section(low.ln(), high.ln(), |t| try_scale(t.exp()))?;
    trials.sort_by(|a, b| a.scale.total_cmp(&b.scale));
    let default =
        Trial { scale: usual, error: errors[GRID.iter().position(|&f| f == 1.0).expect("the default is tried")] };
    let best = trials.iter().copied().min_by(|a, b| a.error.total_cmp(&b.error)).unwrap_or(default);
    Ok(Tuning { trials, default, best })
}

fn check(case: &Case) -> Result<()> {
    let settings = &case.settings;
    middle(case)?;
    let own = matches!(settings.initialization, Initialization::He | Initialization::Glorot);
    if own || settings.weights.is_some() {
        let key = if own { "network.initialization" } else { "network.weights" };
        return Err(Error::input(key, "...", "there is no scale to tune", "use the suggested initialization"));
    }
    Ok(())
}

/// The middle subdomain as a problem of its own, with the values of the solution on its sides.
fn one_subdomain(case: &Case, u: &FieldRef) -> Result<Case> {
    let condition = |side: usize| {
        Condition::fixing(&case.problem.equation, u.clone(), Arc::new(NormalDerivative { u: u.clone(), side }))
    };
    Ok(Case {
        problem: Problem { conditions: (0..4).map(condition).collect(), mean: None, ..case.problem.clone() },
        domain: middle(case)?,
        cut: Cut::WHOLE,
        tolerance: None,
        estimate: case.problem.exact.is_none(),
        ..case.clone()
    })
}

/// The middle subdomain, if it is a rectangle.
fn middle(case: &Case) -> Result<Domain> {
    case.domain.middle_subdomain(&case.cut).unwrap_or_else(|| {
        let hint = "tune a problem on a rectangle, and keep its scale: it belongs to the points";
        Err(Error::input("domain", &case.domain, "the scale is tuned on a rectangular subdomain", hint))
    })
}

/// The geometric mean of the errors over seeds, which one lucky or unlucky seed does not decide.
fn mean_error(case: &Case, scale: f64, seeds: usize) -> Result<f64> {
    let mut sum = 0.0;
    for seed in 0..seeds.max(1) as u64 {
        let settings =
            Settings { scale: Some(scale), seed: case.settings.seed.wrapping_add(seed), ..case.settings.clone() };
        let report = Case { settings, ..case.clone() }.solve(&Silent)?.report;
        let error = report.errors.map(|e| e.l2).or(report.estimate.map(|e| e.l2)).unwrap_or(f64::NAN);
        sum += error.max(f64::MIN_POSITIVE).ln();
    }
    Ok((sum / seeds.max(1) as f64).exp())
}

/// Narrows an interval around a minimum.
fn golden_section(mut low: f64, mut high: f64, mut f: impl FnMut(f64) -> Result<f64>) -> Result<()> {
    let ratio = 0.5 * (5.0_f64.sqrt() - 1.0);
    let mut inner = [high - ratio * (high - low), low + ratio * (high - low)];
    let mut values = [f(inner[0])?, f(inner[1])?];
    for _ in 2..STEPS {
        if values[0] < values[1] {
            high = inner[1];
            inner = [high - ratio * (high - low), inner[0]];
            values = [f(inner[0])?, values[0]];
        } else {
            low = inner[0];
            inner = [inner[1], low + ratio * (high - low)];
            values = [values[1], f(inner[1])?];
        }
    }
    Ok(())
}

/// The outward normal derivative of a field on a side of a rectangle.
struct NormalDerivative {
    u: FieldRef,
    side: usize,
}

impl Field for NormalDerivative {
    fn values(&self, at: &Samples<'_>, out: &mut [f64]) -> std::result::Result<(), Failure> {
        let mut other = vec![0.0; out.len()];
        let known = match self.side {
            0 | 1 => self.u.gradients(at, out, &mut other)?,
            _ => self.u.gradients(at, &mut other, out)?,
        };
        if !known {
            out.fill(f64::NAN);
        }
        if self.side.is_multiple_of(2) {
            out.iter_mut().for_each(|v| *v = -*v);
        }
        Ok(())
    }

    fn gradients(&self, _: &Samples<'_>, _: &mut [f64], _: &mut [f64]) -> std::result::Result<bool, Failure> {
        Ok(false)
    }

    fn describe(&self) -> String {
        "a normal derivative".into()
    }
}
