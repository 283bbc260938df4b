//! `ddelm`: elliptic boundary value problems from the command line.
//!
//! Data go to standard output, everything else to standard error. Exit codes are decided here and nowhere else:
//! 0 solved, 1 solved but the tolerance was not reached, 2 bad input, 3 could not compute or write.

mod command;
mod diagnostic;
mod failure;
mod listener;
mod machine;
mod memory;
mod number;
mod output;
mod picture;
mod points;
mod problem;
mod reproduce;
mod saved;
mod stdout;
mod summary;
mod table;
mod version;
mod view;

use std::process::ExitCode;

use clap::Parser;

use crate::command::{Command, Outcome};
use crate::diagnostic::Terminal;
use crate::failure::Failure;
use crate::machine::Machine;

/// Large matrices come and go. This allocator keeps their memory for the next one, where that of the system gives it back
/// and pays for it again: up to a tenth of the time of a solve.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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
    /// Number of threads [default: all cores; under mpirun, this rank's share of them]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Where the command runs.
    #[arg(skip)]
    machine: Machine,
}

/// The exit code of a computation that could not be carried out.
const CANNOT_COMPUTE: u8 = 3;

fn main() -> ExitCode {
    memory::watch(CANNOT_COMPUTE.into());
    let terminal = Terminal::detect();
    let machine = match Machine::start() {
        Ok(machine) => machine,
        Err(error) => return failed(&error.into(), &terminal, true),
    };
    let mut arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(answer) => {
            // Ranks all have the same arguments; one of them answers.
            if machine.leads() {
                let _ = answer.print();
            }
            return ExitCode::from(answer.exit_code() as u8);
        }
    };
    arguments.common.quiet |= !machine.leads();
    arguments.common.machine = machine.clone();
    prepare(&arguments.common, &terminal);
    let outcome = match machine.leads() || arguments.command.is_parallel() {
        true => arguments.command.run(&arguments.common, &terminal),
        false => Ok(Outcome::Done),
    };
    match machine.agree(outcome) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::NotReached) => ExitCode::from(1),
        Err(failure) => failed(&failure, &terminal, machine.leads()),
    }
}

/// Says what went wrong, unless another rank does.
fn failed(failure: &Failure, terminal: &Terminal, leads: bool) -> ExitCode {
    let elsewhere = match failure.error {
        ddelm::Error::Elsewhere { .. } => true,
        // All ranks have it.
        ddelm::Error::Interrupted => !leads,
        _ => false,
    };
    if !elsewhere {
        eprintln!("{}", terminal.render(failure));
    }
    ExitCode::from(if failure.is_input() { 2 } else { CANNOT_COMPUTE })
}

/// Sets up logging and threads. Both can only fail where they were set up before, and then there is nothing to do.
fn prepare(common: &Common, terminal: &Terminal) {
    if common.verbose {
        let logs =
            tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(terminal.colours).with_target(false);
        logs.with_max_level(tracing::Level::DEBUG).without_time().init();
    }
    // Ranks on one machine share its cores; alone, a process has them all.
    let share = || (common.machine.0.size() > 1).then(|| common.machine.0.threads());
    // 0 is the number of cores.
    let threads = common.threads.map(usize::from).or_else(share).unwrap_or(0);
    // This thread is one of them: handing every loop over to another costs more than a small one takes.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).use_current_thread().build_global();
}
