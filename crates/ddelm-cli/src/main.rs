//! `ddelm`: elliptic boundary value problems from the command line.
//!
//! Data go to standard output, everything else to standard error. Exit codes are decided here and nowhere else:
//! 0 solved, 1 solved but the tolerance was not reached, 2 bad input, 3 could not compute or write.

mod command;
mod diagnostic;
mod failure;
mod listener;
mod number;
mod output;
mod picture;
mod points;
mod problem;
mod saved;
mod summary;
mod version;
mod view;

use std::process::ExitCode;

use clap::Parser;

use crate::command::{Command, Outcome};
use crate::diagnostic::Terminal;

/// Solves elliptic boundary value problems by domain-decomposed extreme learning machines.
#[derive(Debug, Parser)]
#[command(name = "ddelm", version = version::short(), long_version = version::long(), max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 solved, 1 solved but the tolerance was not reached, 2 bad input, 3 could not compute or write."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: Common,
}

/// What every subcommand understands.
#[derive(Debug, Clone, clap::Args)]
struct Common {
    /// Say nothing but results and errors
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Say what is being done
    #[arg(long, short, global = true)]
    verbose: bool,
    /// Number of threads [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let terminal = Terminal::detect();
    prepare(&arguments.common, &terminal);
    match arguments.command.run(&arguments.common, &terminal) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::NotReached) => ExitCode::from(1),
        Err(failure) => {
            eprintln!("{}", terminal.render(&failure));
            ExitCode::from(if failure.is_input() { 2 } else { 3 })
        }
    }
}

/// Sets up logging and threads. Both can only fail where they were set up before, and then there is nothing to do.
fn prepare(common: &Common, terminal: &Terminal) {
    if common.verbose {
        let logs =
            tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(terminal.colours).with_target(false);
        logs.with_max_level(tracing::Level::DEBUG).without_time().init();
    }
    if let Some(threads) = common.threads {
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global();
    }
}
