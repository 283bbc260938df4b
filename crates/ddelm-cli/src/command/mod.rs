//! The subcommands, one file each.

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
}

impl Command {
    /// Carries it out.
    pub fn run(&self, common: &Common, terminal: &Terminal) -> Result<Outcome, Failure> {
        match self {
            Command::Solve(solve) => solve.run(common, terminal),
        }
    }
}
