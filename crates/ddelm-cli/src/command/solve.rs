//! `ddelm solve`: solves a problem and reports how well.

use ddelm::report::{Report, Status};
use ddelm::settings::Method;

use super::Outcome;
use crate::Common;
use crate::diagnostic::Terminal;
use crate::failure::Failure;
use crate::listener::Listener;
use crate::machine::Machine;
use crate::output::{Found, OutputArguments};
use crate::problem::{Input, ProblemArguments};
use crate::saved::SOLUTION;
use crate::stdout;
use crate::summary::summary;

/// Arguments of `ddelm solve`.
#[derive(Debug, clap::Args)]
pub struct Solve {
    #[command(flatten)]
    problem: ProblemArguments,
    /// Print the report as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    output: OutputArguments,
}

impl Solve {
    /// Carries it out.
    pub fn run(&self, common: &Common, terminal: &Terminal) -> Result<Outcome, Failure> {
        let input = self.problem.read()?;
        self.output.check()?;
        if input.case.settings.method == Method::Fem {
            return self.by_finite_elements(&input, common);
        }
        let listener = Listener::new(common, terminal);
        let solution = input.case.solve_on(&common.machine.0, &listener).map_err(|error| input.failure(error))?;
        listener.finish();
        if !common.quiet {
            warn(&solution.report, terminal);
        }
        let counts = solution.decomposition.grid().map_or(input.case.subdomains, |(_, _, counts)| counts);
        common.machine.alone(|| self.print(&solution.report, counts))?;
        self.write(&common.machine, &Found::Networks(&solution), &input, common)?;
        Ok(outcome(&solution.report))
    }

    /// On the first rank: finite elements are here to compare with.
    fn by_finite_elements(&self, input: &Input, common: &Common) -> Result<Outcome, Failure> {
        self.output.check_without_networks()?;
        let outcome = common.machine.alone(|| {
            let (solution, report) = input.case.solve_by_finite_elements().map_err(|error| input.failure(error))?;
            let outcome = self.print(&report, input.case.cells)?;
            self.write(&Machine::default(), &Found::FiniteElements(&solution, &report), input, common)?;
            if self.output.writes_everything() && !common.quiet {
                eprintln!("no {SOLUTION}: finite elements have no networks to save");
            }
            Ok(outcome)
        });
        Ok(outcome?.unwrap_or(Outcome::Done))
    }

    /// Writes the files that were asked for, and says which.
    fn write(&self, machine: &Machine, found: &Found, input: &Input, common: &Common) -> Result<(), Failure> {
        let written = self.output.write(machine, found, &input.case.problem, &input.file.resolved()?)?;
        if !common.quiet {
            written.iter().for_each(|path| eprintln!("wrote {}", path.display()));
        }
        Ok(())
    }

    fn print(&self, report: &Report, counts: [usize; 2]) -> Result<Outcome, Failure> {
        stdout::print(&if self.json { json(report) } else { summary(report, counts) })?;
        Ok(outcome(report))
    }
}

/// Shows the report's warnings.
fn warn(report: &Report, terminal: &Terminal) {
    for warning in &report.warnings {
        eprintln!("{}", terminal.warning(warning));
    }
}

/// The report as one JSON object. It holds nothing that JSON cannot: numbers that are not finite become null.
fn json(report: &Report) -> String {
    serde_json::to_string_pretty(report).unwrap_or_default() + "\n"
}

/// What the status means for the exit code.
fn outcome(report: &Report) -> Outcome {
    match report.status {
        Status::Solved => Outcome::Done,
        Status::MaxIterations | Status::ToleranceNotReached => Outcome::NotReached,
    }
}
