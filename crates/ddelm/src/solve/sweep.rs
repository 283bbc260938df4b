//! Many problems that differ in numbers, solved on all cores: a table, or data to learn from.
//!
//! As many problems as there are threads are solved at a time, so that memory does not grow with their number and no thread waits
//! for long. Problems with the same discretization share the basis of their features.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::base::error::{Error, Result};
use crate::base::parallel::in_order;
use crate::base::progress::{Progress, Stage};
use crate::domain::map::Point;
use crate::domain::sample::Sample;
use crate::method::report::Report;
use crate::problem::field::FieldRef;
use crate::problem::model::{Diffusion, Problem};
use crate::solution::evaluate::Solution;
use crate::solve::case::Case;

/// A field of the problem that is sampled beside its solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// The diffusion, where it is a scalar.
    Diffusion,
    /// The reaction.
    Reaction,
    /// The source.
    Source,
}

impl Input {
    /// All of them.
    pub const ALL: [Input; 3] = [Input::Diffusion, Input::Reaction, Input::Source];

    /// The input as a word.
    pub fn name(self) -> &'static str {
        match self {
            Input::Diffusion => "diffusion",
            Input::Reaction => "reaction",
            Input::Source => "source",
        }
    }

    fn field(self, problem: &Problem) -> Result<&FieldRef> {
        let none =
            |what: &str| Error::input("inputs", self.name(), format!("the problem has no {what}"), "leave it out");
        match (self, problem.equation.leading()) {
            (Input::Source, _) => Ok(&problem.source),
            (Input::Diffusion, Some(Diffusion::Scalar(a))) => Ok(a),
            (Input::Diffusion, _) => Err(none("scalar diffusion")),
            (Input::Reaction, _) => problem.equation.reaction().ok_or_else(|| none("reaction")),
        }
    }
}

/// What is taken from every solution.
#[derive(Debug, Clone, Default)]
pub struct Sampling {
    /// Where u is taken; NaN outside the domain.
    pub x: Vec<f64>,
    /// Where u is taken.
    pub y: Vec<f64>,
    /// What is taken there beside u.
    pub inputs: Vec<Input>,
}

/// What came of one problem.
#[derive(Debug, Clone)]
pub struct Row {
    /// u at the points.
    pub u: Vec<f64>,
    /// The inputs at the points, one after the other.
    pub inputs: Vec<Vec<f64>>,
    /// The report of the solve: status, errors or estimate, integrals.
    pub report: Report,
}

/// The number of the problem that went wrong, and how.
#[derive(Debug)]
pub struct Stopped {
    /// Its number, from 0.
    pub index: usize,
    /// What went wrong.
    pub error: Error,
}

/// Solves so many problems. `case` makes one by its number, on any thread. The first one that cannot be solved, by its number,
/// stops the sweep.
pub fn sweep(
    count: usize,
    case: impl Fn(usize) -> Result<Case> + Sync,
    sampling: &Sampling,
    progress: &dyn Progress,
) -> std::result::Result<Vec<Row>, Stopped> {
    progress.begin(Stage::Sweep, count);
    let one = |index: usize| {
        let row = case(index).and_then(|case| solve(&case, sampling, progress));
        progress.step();
        row.map_err(|error| Stopped { index, error })
    };
    let mut rows = Vec::with_capacity(count);
    let numbers: Vec<usize> = (0..count).collect();
    for few in numbers.chunks(rayon::current_num_threads().max(1)) {
        rows.extend(in_order(few.par_iter().map(|&index| one(index)))?);
    }
    Ok(rows)
}

fn solve(case: &Case, sampling: &Sampling, progress: &dyn Progress) -> Result<Row> {
    let fields: Vec<&FieldRef> =
        sampling.inputs.iter().map(|input| input.field(&case.problem)).collect::<Result<_>>()?;
    let solution = case.solve(&OnlyStop(progress))?;
    let inputs = fields.iter().map(|field| sample(field, &solution, sampling)).collect::<Result<_>>()?;
    let u = solution.values(&sampling.x, &sampling.y);
    Ok(Row { u, inputs, report: solution.report })
}

/// A field at the points, as the subdomains see it; NaN outside the domain.
fn sample(field: &FieldRef, solution: &Solution, sampling: &Sampling) -> Result<Vec<f64>> {
    let mut out = vec![f64::NAN; sampling.x.len()];
    let mut by_subdomain: BTreeMap<usize, (Vec<usize>, Vec<Point>)> = BTreeMap::new();
    for (i, (&x, &y)) in sampling.x.iter().zip(&sampling.y).enumerate() {
        if let Some((s, xi)) = solution.decomposition.locate([x, y]) {
            let (places, points) = by_subdomain.entry(s).or_default();
            places.push(i);
            points.push(xi);
        }
    }
    for (s, (places, xi)) in by_subdomain {
        let values = Sample::new(&solution.decomposition.subdomains[s], xi).values(field.as_ref(), "inputs", s)?;
        places.iter().zip(values).for_each(|(&i, value)| out[i] = value);
    }
    Ok(out)
}

/// Tells a solve to stop, and keeps its stages to itself.
struct OnlyStop<'a>(&'a dyn Progress);

impl Progress for OnlyStop<'_> {
    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}
