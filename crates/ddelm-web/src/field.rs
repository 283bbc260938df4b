//! The fields that can be shown: those of `ddelm plot`, and the estimated error of every subdomain.

use ddelm::problem::samples::Samples;
use ddelm::solution::Gradients;
use ddelm::solution::drawing::Drawing;
use ddelm::{Error, Problem, Result, Solution};

/// What a solution solves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The equation as it is written.
    Steady,
    /// The equation with an eigenvalue.
    Eigenfunction,
    /// The equation in time, at a moment.
    Moment,
}

/// What to show of a solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The solution.
    U,
    /// Its derivative in x.
    Ux,
    /// Its derivative in y.
    Uy,
    /// The size of the flux.
    Flux,
    /// The residual of the equation.
    Residual,
    /// The difference to the exact solution.
    Error,
    /// The estimated error of every subdomain.
    Estimate,
}

impl Field {
    /// All of them.
    pub const ALL: [Field; 7] =
        [Field::U, Field::Ux, Field::Uy, Field::Flux, Field::Residual, Field::Error, Field::Estimate];

    /// The name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Field::U => "u",
            Field::Ux => "ux",
            Field::Uy => "uy",
            Field::Flux => "flux",
            Field::Residual => "residual",
            Field::Error => "error",
            Field::Estimate => "estimate",
        }
    }

    /// The field with a name.
    pub fn named(name: &str) -> std::result::Result<Self, String> {
        Field::ALL.into_iter().find(|field| field.name() == name).ok_or_else(|| format!("there is no field {name}"))
    }

    /// Whether a solution has it.
    pub fn known(self, kind: Kind, problem: &Problem, solution: &Solution) -> bool {
        match self {
            // What is left of an equation without its eigenvalue or its time says nothing.
            Field::Residual => kind == Kind::Steady,
            Field::Error => problem.exact.is_some() && kind != Kind::Eigenfunction,
            Field::Estimate => solution.report.estimate.is_some(),
            _ => true,
        }
    }

    /// The values at the points of a drawing, where u and its gradient are known.
    pub fn drawn(
        self,
        problem: &Problem,
        solution: &Solution,
        drawing: &Drawing,
        known: &Gradients,
    ) -> Result<Vec<f64>> {
        match self {
            Field::U => Ok(known.u.clone()),
            Field::Ux => Ok(known.ux.clone()),
            Field::Uy => Ok(known.uy.clone()),
            Field::Flux => drawing.values(|s, xi| {
                let [x, y] = solution.fluxes_in(problem, s, xi)?;
                Ok(sizes(&x, &y))
            }),
            Field::Residual => drawing.values(|s, xi| solution.local_residuals(problem, s, xi)),
            Field::Error => {
                let (x, y): (Vec<f64>, Vec<f64>) = drawing.points.iter().map(|p| (p[0], p[1])).unzip();
                Ok(known.u.iter().zip(exact(problem, &x, &y)?).map(|(u, exact)| u - exact).collect())
            }
            Field::Estimate => drawing.values(|s, xi| Ok(vec![estimated(solution, s); xi.len()])),
        }
    }

    /// The values at any points; not a number outside the domain.
    pub fn values(self, problem: &Problem, solution: &Solution, x: &[f64], y: &[f64]) -> Result<Vec<f64>> {
        match self {
            Field::U => Ok(solution.values(x, y)),
            Field::Ux => Ok(solution.gradients(x, y).ux),
            Field::Uy => Ok(solution.gradients(x, y).uy),
            Field::Flux => solution.fluxes(problem, x, y).map(|[x, y]| sizes(&x, &y)),
            Field::Residual => solution.residuals(problem, x, y),
            Field::Error => {
                let u = solution.values(x, y);
                Ok(u.iter().zip(exact(problem, x, y)?).map(|(u, exact)| u - exact).collect())
            }
            Field::Estimate => {
                let at = |(&x, &y): (&f64, &f64)| solution.decomposition.locate([x, y]);
                Ok(x.iter().zip(y).map(at).map(|at| at.map_or(f64::NAN, |(s, _)| estimated(solution, s))).collect())
            }
        }
    }
}

fn sizes(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| x.hypot(*y)).collect()
}

fn estimated(solution: &Solution, s: usize) -> f64 {
    solution.report.estimate.as_ref().and_then(|estimate| estimate.subdomains.get(s)).copied().unwrap_or(f64::NAN)
}

fn exact(problem: &Problem, x: &[f64], y: &[f64]) -> Result<Vec<f64>> {
    let mut values = vec![f64::NAN; x.len()];
    if let Some(exact) = &problem.exact {
        let failed = Error::callback("exact.u");
        exact.values(&Samples::at(x, y), &mut values).map_err(failed)?;
    }
    Ok(values)
}
