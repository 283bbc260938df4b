//! `ddelm`: elliptic boundary value problems from the command line.
//!
//! [`run`] is the whole program. The binary and the command of the Python package are thin shells around it.
//!
//! Data go to standard output, everything else to standard error. Exit codes are decided here and nowhere else:
//! 0 solved, 1 not solved as asked (the tolerance was not reached, the error is above 1 %, the iterations ran out), 2 bad
//! input, 3 could not compute or write.

// They panic where nobody can read: `stdout` and `stderr` do not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod command;
mod diagnostic;
mod failure;
mod interrupt;
mod listener;
mod machine;
pub mod memory;
pub mod notebook;
mod output;
mod points;
mod printable;
mod problem;
mod report_page;
mod saved;
mod series;
mod stderr;
mod stdout;
mod summary;
mod table;
mod tracker;
mod version;
mod view;

use std::ffi::OsString;

use clap::Parser;

use crate::command::{Command, Outcome};
use crate::diagnostic::Terminal;
use crate::failure::Failure;
use crate::machine::Machine;
use crate::stderr::say_styled;

/// Solves elliptic boundary value problems by domain-decomposed extreme learning machines.
#[derive(Debug, Parser)]
#[command(name = "ddelm", version = version::short(), long_version = version::long(), max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 solved, 1 tolerance not reached or error above 1 %, 2 bad input, 3 could not compute or write."
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
    /// Number of threads [default: all cores; under mpirun, this rank's share of them]
    #[arg(long, global = true, value_name = "N", value_parser = threads)]
    threads: Option<usize>,
    /// Where the command runs.
    #[arg(skip)]
    machine: Machine,
    /// How the program was called.
    #[arg(skip)]
    command: String,
}

/// The exit code of a computation that could not be carried out.
const CANNOT_COMPUTE: u8 = 3;

/// Runs the program with these arguments, the name of the program before them, and returns its exit code.
///
/// It takes the process over, with its signals and its threads: there is one run in a process.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    memory::watch();
    interrupt::watch();
    let terminal = Terminal::detect();
    let machine = match Machine::start() {
        Ok(machine) => machine,
        Err(error) => return failed(&error.into(), &terminal, true),
    };
    let words: Vec<OsString> = arguments.into_iter().collect();
    let mut arguments = match Arguments::try_parse_from(&words) {
        Ok(arguments) => arguments,
        Err(answer) => {
            // Ranks all have the same arguments; one of them answers.
            if machine.leads() {
                let _ = answer.print();
            }
            return answer.exit_code() as u8;
        }
    };
    arguments.common.quiet |= !machine.leads();
    arguments.common.machine = machine.clone();
    arguments.common.command = report_page::command(&words);
    let run = || match machine.leads() || arguments.command.is_parallel() {
        true => arguments.command.run(&arguments.common, &terminal),
        false => Ok(Outcome::Done),
    };
    let outcome = prepare(&arguments.common, &terminal).map_err(Failure::from).and_then(|()| run());
    match machine.agree(outcome) {
        Ok(Outcome::Done) => 0,
        Ok(Outcome::NotReached) => 1,
        Err(failure) => failed(&failure, &terminal, machine.leads()),
    }
}

/// Says what went wrong, unless another rank does.
fn failed(failure: &Failure, terminal: &Terminal, leads: bool) -> u8 {
    let elsewhere = match failure.error {
        ddelm::Error::Elsewhere { .. } => true,
        // All ranks have it.
        ddelm::Error::Interrupted => !leads,
        _ => false,
    };
    if !elsewhere {
        say_styled(terminal.render(failure));
    }
    if failure.is_input() { 2 } else { CANNOT_COMPUTE }
}

/// Threads beyond which none can do anything but wait for the others: four for each core, or this many where there are few
/// cores, so that a script runs everywhere.
const MOST_THREADS: usize = 256;

/// Reads a number of threads.
fn threads(text: &str) -> Result<usize, String> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let most = MOST_THREADS.max(4 * cores);
    match text.trim().parse::<usize>() {
        Ok(count) if (1..=most).contains(&count) => Ok(count),
        Ok(count) if count > most => Err(format!("at most {most} threads are of use with {cores} cores")),
        _ => Err("expected a positive whole number".into()),
    }
}

/// Sets up logging and threads.
fn prepare(common: &Common, terminal: &Terminal) -> Result<(), ddelm::Error> {
    if common.verbose {
        let logs =
            tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(terminal.colours).with_target(false);
        // A full disk behind standard error is no reason to stop.
        logs.with_max_level(tracing::Level::DEBUG).without_time().log_internal_errors(false).init();
    }
    // Ranks on one machine share its cores; alone, a process has them all.
    let share = || (common.machine.0.size() > 1).then(|| common.machine.0.threads());
    // The thread pool would take the variable by itself, however large.
    let variable = || {
        let text = std::env::var("RAYON_NUM_THREADS").ok().filter(|text| text != "0")?;
        let hint = "unset it, or use --threads";
        Some(threads(&text).map_err(|problem| ddelm::Error::input("RAYON_NUM_THREADS", text, problem, hint)))
    };
    // 0 is the number of cores.
    let count = match common.threads.or_else(share) {
        Some(count) => count,
        None => variable().transpose()?.unwrap_or(0),
    };
    // This thread is one of them: handing every loop over to another costs more than a small one takes.
    let built = rayon::ThreadPoolBuilder::new().num_threads(count).use_current_thread().build_global();
    built.map_err(|error| ddelm::Error::Compute {
        stage: "start",
        problem: format!("cannot make {count} threads: {error}"),
        hint: "use fewer, for example --threads 1".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_as_many_as_are_of_use() {
        assert_eq!((threads("1"), threads("256")), (Ok(1), Ok(256)));
        for text in ["0", "-1", "two", "", "65535", "99999999999999999999"] {
            assert!(threads(text).is_err(), "{text}");
        }
    }
}
