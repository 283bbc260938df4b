//! The subcommands, one file each.

pub mod check;
mod compare;
mod completions;
mod convergence;
mod eval;
mod info;
mod new;
mod plot;
mod reference;
mod reproduce;
mod solve;
mod sweep;
mod tune;

use crate::Common;
use crate::diagnostic::Terminal;
use crate::failure::Failure;
use reproduce::Reproduce;

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
    /// Write a commented problem file to start from
    New(new::New),
    /// Show what a problem file asks for and what it will cost, without solving it
    Check(check::Check),
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
    /// Look for a better scale of the random weights, on one subdomain
    Tune(tune::Tune),
    /// Solve for many values of a key on all cores, into one table and one file
    Sweep(sweep::Sweep),
    /// Tabulate errors and times over points and subdomains
    Convergence(convergence::Convergence),
    /// Reproduce the tables and figures of the paper
    Reproduce(Reproduce),
    /// Print a completion script for a shell
    Completions(completions::Completions),
    /// Print the manual page
    Man(completions::Man),
    /// Print every key of problem files and every name of formulas, as Markdown
    Reference(reference::Reference),
}

impl Command {
    /// Whether all ranks take part. Others run on the first rank alone.
    pub fn is_parallel(&self) -> bool {
        matches!(self, Command::Solve(_) | Command::Tune(_) | Command::Convergence(_) | Command::Reproduce(_))
    }

    /// Carries it out.
    pub fn run(&self, common: &Common, terminal: &Terminal) -> Result<Outcome, Failure> {
        match self {
            Command::New(new) => new.run(common),
            Command::Check(check) => check.run(),
            Command::Solve(solve) => solve.run(common, terminal),
            Command::Eval(eval) => eval.run(),
            Command::Plot(plot) => plot.run(common),
            Command::Info(info) => info.run(),
            Command::Compare(compare) => compare.run(common, terminal),
            Command::Tune(tune) => tune.run(common, terminal),
            Command::Sweep(sweep) => sweep.run(common, terminal),
            Command::Convergence(convergence) => convergence.run(common, terminal),
            Command::Reproduce(reproduce) => reproduce.run(common, terminal),
            Command::Completions(completions) => completions.run(),
            Command::Man(man) => man.run(),
            Command::Reference(reference) => reference.run(),
        }
    }
}
