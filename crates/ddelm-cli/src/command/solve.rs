//! `ddelm solve`: solves a problem and reports how well.

use ddelm::report::{Report, Status};
use ddelm::settings::Method;

use super::Outcome;
use crate::Common;
use crate::diagnostic::Terminal;
use crate::failure::Failure;
use crate::listener::Listener;
use crate::output::OutputArguments;
use crate::problem::ProblemArguments;
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
            self.output.refuse("finite element solutions are not saved")?;
            let outcome = common.machine.alone(|| {
                let (_, report) = input.case.solve_by_finite_elements().map_err(|error| input.failure(error))?;
                self.print(&report, input.case.cells)
            });
            return Ok(outcome?.unwrap_or(Outcome::Done));
        }
        let listener = Listener::new(common, terminal);
        let solution = input.case.solve_on(&common.machine.0, &listener).map_err(|error| input.failure(error))?;
        listener.finish();
        if !common.quiet {
            warn(&solution.report, terminal);
        }
        let counts = solution.decomposition.grid().map_or(input.case.subdomains, |(_, _, counts)| counts);
        let text = input.file.resolved();
        common.machine.alone(|| self.print(&solution.report, counts))?;
        let written = self.output.write(&common.machine, &solution, &input.case.problem, &text?)?;
        if !common.quiet {
            written.iter().for_each(|path| eprintln!("wrote {}", path.display()));
        }
        Ok(outcome(&solution.report))
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
