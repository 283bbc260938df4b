//! The subcommands, one file each.

mod compare;
mod eval;
mod info;
mod plot;
mod solve;

use crate::Common;
use crate::diagnostic::Terminal;
use crate::failure::Failure;

/// How a command that did not fail ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// As asked.
    Done,
    /// Solved, but the tolerance was not reached.
    NotReached,
}

/// A subcommand.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Solve a problem
    Solve(solve::Solve),
    /// Evaluate a solution and its gradient at points
    Eval(eval::Eval),
    /// Make a picture of a solution
    Plot(plot::Plot),
    /// Show what a saved solution is
    Info(info::Info),
    /// Compare two solutions
    Compare(compare::Compare),
}

impl Command {
    /// Whether all ranks take part. Others run on the first rank alone.
    pub fn is_parallel(&self) -> bool {
        matches!(self, Command::Solve(_))
    }

    /// Carries it out.
    pub fn run(&self, common: &Common, terminal: &Terminal) -> Result<Outcome, Failure> {
        match self {
            Command::Solve(solve) => solve.run(common, terminal),
            Command::Eval(eval) => eval.run(),
            Command::Plot(plot) => plot.run(common),
            Command::Info(info) => info.run(),
            Command::Compare(compare) => compare.run(common),
        }
    }
}
