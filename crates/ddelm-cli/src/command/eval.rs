//! `ddelm eval`: a solution and its gradient at points.

use std::path::PathBuf;

use super::Outcome;
use crate::failure::Failure;
use crate::points::{self, Points};
use crate::saved::SavedSolution;

/// Arguments of `ddelm eval`.
#[derive(Debug, clap::Args)]
pub struct Eval {
    /// Solution: a .safetensors file, or the directory of `ddelm solve --out`
    #[arg(value_name = "SOLUTION")]
    solution: PathBuf,
    /// Points: CSV with the columns x and y, an .npy array of shape (n, 2), or - for CSV from standard input
    #[arg(value_name = "POINTS")]
    points: PathBuf,
    /// Write to this file (CSV, or .npy) instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// What to do with points outside the domain
    #[arg(long, value_enum, default_value_t = Outside::Error)]
    outside: Outside,
}

/// What to do with points outside the domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Outside {
    /// Stop, and name the first
    Error,
    /// Give NaN there
    Nan,
}

impl Eval {
    /// Carries it out.
    pub fn run(&self) -> Result<Outcome, Failure> {
        let solution = SavedSolution::read(&self.solution)?.solution;
        let points = Points::read(&self.points)?;
        let found = solution.gradients(&points.x, &points.y);
        let first_outside = found.u.iter().position(|u| u.is_nan());
        if let Some(first) = first_outside.filter(|_| self.outside == Outside::Error) {
            return Err(points.outside(first).into());
        }
        points::write(self.out.as_deref(), &points, &found)?;
        Ok(Outcome::Done)
    }
}
