//! `ddelm solve`: solves a problem and reports how well.

use std::path::PathBuf;
use std::time::Duration;

use ddelm::domain::division::Count;
use ddelm::method::report::Status;
use ddelm::{Error, Report, Solution};
use ddelm_fem::case::solve_case;

use super::Outcome;
use crate::Common;
use crate::diagnostic::Terminal;
use crate::failure::Failure;
use crate::listener::Listener;
use crate::machine::Machine;
use crate::output::{Found, Member, OutputArguments, Task};
use crate::problem::{Input, ProblemArguments};
use crate::saved::SOLUTION;
use crate::stderr::{say, say_styled};
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
    /// Solve again whenever the file changes, until Ctrl-C
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    output: OutputArguments,
}

/// How often a file that is watched is looked at.
const PULSE: Duration = Duration::from_millis(200);

impl Solve {
    /// Carries it out.
    pub fn run(&self, common: &Common, terminal: &Terminal) -> Result<Outcome, Failure> {
        if self.watch {
            return self.watch(common, terminal);
        }
        let input = self.problem.read()?;
        common.machine.alone(|| Ok(self.output.check()?))?;
        self.solve(&input, common, terminal)
    }

    /// Solves whenever the file is another. A mistake in it is told, and no reason to end.
    fn watch(&self, common: &Common, terminal: &Terminal) -> Result<Outcome, Failure> {
        if common.machine.0.size() > 1 {
            let ranks = format!("{} ranks", common.machine.0.size());
            return Err(Error::input("--watch", ranks, "one process watches a file", "run it without mpirun").into());
        }
        self.output.check()?;
        let mut seen = None;
        loop {
            // Its content, not its time: editors write files anew, and clocks are coarse.
            let found = std::fs::read(&self.problem.file).ok();
            if seen.as_ref() != Some(&found) {
                if seen.is_some() && !common.quiet {
                    say(format!("{} has changed", self.problem.file.display()));
                }
                seen = Some(found);
                match self.problem.read().and_then(|input| self.solve(&input, common, terminal)) {
                    Err(failure) if matches!(failure.error, Error::Interrupted) => return Err(failure),
                    Err(failure) => say_styled(terminal.render(&failure)),
                    Ok(_) => {}
                }
            }
            std::thread::sleep(PULSE);
        }
    }

    fn solve(&self, input: &Input, common: &Common, terminal: &Terminal) -> Result<Outcome, Failure> {
        if let Some(cells) = input.case.finite_elements {
            return self.by_finite_elements(input, cells, common, terminal);
        }
        if input.case.eigenvalues.is_some() || input.case.time.is_some() {
            return self.several(input, common, terminal);
        }
        let listener = Listener::new(common, terminal);
        let solution = input.case.solve_on(&common.machine.0, &listener).map_err(|error| input.failure(error))?;
        listener.finish();
        if !common.quiet {
            warn(&solution.report, terminal);
        }
        let count = solution.decomposition.count();
        // Files first: they are there even if nobody reads the report.
        let written = self.write(common, &common.machine, &Found::Networks(&solution), (input, count))?;
        common.machine.alone(|| self.print(&solution.report, count))?;
        list(&written, common);
        Ok(outcome(&solution.report))
    }

    /// Eigenfunctions, or solutions at several times.
    fn several(&self, input: &Input, common: &Common, terminal: &Terminal) -> Result<Outcome, Failure> {
        let listener = Listener::new(common, terminal);
        let case = &input.case;
        let ranks = common.machine.0.size();
        if ranks > 1 {
            let key = if case.time.is_some() { "time" } else { "eigenvalues" };
            let (problem, hint) = ("it runs in one process", "run it without mpirun");
            return Err(input.failure(Error::input(key, format!("{ranks} ranks"), problem, hint)));
        }
        let solutions: Vec<(Option<f64>, Solution)> = match case.time {
            Some(_) => case.evolve(&listener).map(|all| all.into_iter().map(|m| (Some(m.t), m.solution)).collect()),
            // Nobody sees the eigenfunctions.
            None if self.output.writes_nothing() && case.functionals.is_empty() => {
                case.solve(&listener).map(|first| vec![(None, first)])
            }
            None => case.eigenpairs(&listener).map(|all| all.into_iter().map(|pair| (None, pair.function)).collect()),
        }
        .map_err(|error| input.failure(error))?;
        listener.finish();
        let (_, last) = solutions.last().expect("there is at least one");
        if !common.quiet {
            warn(&last.report, terminal);
        }
        let member = |(time, solution)| {
            let known = |t: f64| Some(case.problem.at_time(t)).filter(|problem| problem.exact.is_some());
            Member { solution, time, problem: time.and_then(known) }
        };
        let members: Vec<Member> = solutions.iter().map(|(time, solution)| member((*time, solution))).collect();
        let written = self.output.write_all(&members)?;
        self.print(&last.report, last.decomposition.count())?;
        list(&written, common);
        Ok(outcome(&last.report))
    }

    /// On the first rank: finite elements are here to compare with.
    fn by_finite_elements(
        &self,
        input: &Input,
        cells: [usize; 2],
        common: &Common,
        terminal: &Terminal,
    ) -> Result<Outcome, Failure> {
        self.output.check_without_networks()?;
        let outcome = common.machine.alone(|| {
            let (solution, report) = solve_case(&input.case).map_err(|error| input.failure(error))?;
            if !common.quiet {
                warn(&report, terminal);
            }
            let (found, count) = (Found::FiniteElements(&solution, &report), Count::Grid(cells));
            let written = self.write(common, &Machine::default(), &found, (input, count))?;
            let outcome = self.print(&report, count)?;
            list(&written, common);
            if self.output.writes_everything() && !common.quiet {
                say(format!("no {SOLUTION}: finite elements have no networks to save"));
            }
            Ok(outcome)
        });
        Ok(outcome?.unwrap_or(Outcome::Done))
    }

    /// Writes the files that were asked for.
    fn write(
        &self,
        common: &Common,
        machine: &Machine,
        found: &Found,
        (input, count): (&Input, Count),
    ) -> Result<Vec<PathBuf>, Failure> {
        let (problem, text) = (&input.case.problem, &input.file.resolved()?);
        let parts = input.case.domain.parts();
        self.output.write(machine, found, &Task { problem, parts, text, command: &common.command, count })
    }

    fn print(&self, report: &Report, count: Count) -> Result<Outcome, Failure> {
        stdout::print(&if self.json { json(report) } else { summary(report, count) })?;
        Ok(outcome(report))
    }
}

/// Says which files were written.
fn list(written: &[PathBuf], common: &Common) {
    if !common.quiet {
        written.iter().for_each(|path| say(format!("wrote {}", path.display())));
    }
}

/// Shows the report's warnings.
fn warn(report: &Report, terminal: &Terminal) {
    for warning in &report.warnings {
        say_styled(terminal.warning(warning));
    }
}

/// The report as one JSON object. It holds nothing that JSON cannot: numbers that are not finite become null.
fn json(report: &Report) -> String {
    serde_json::to_string_pretty(report).expect("it is made of words and numbers") + "\n"
}

/// What the status means for the exit code.
fn outcome(report: &Report) -> Outcome {
    match report.status {
        Status::Solved => Outcome::Done,
        Status::MaxIterations | Status::NotConverged | Status::ToleranceNotReached | Status::Unresolved => {
            Outcome::NotReached
        }
    }
}
