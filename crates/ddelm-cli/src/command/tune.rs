//! `ddelm tune`: a good scale for the weights, found on one subdomain.

use std::path::PathBuf;

use ddelm::solve::tuning::{Trial, Tuning, tune_on};

use super::Outcome;
use crate::Common;
use crate::diagnostic::Terminal;
use crate::failure::Failure;
use crate::listener::Listener;
use crate::problem::ProblemArguments;
use crate::stderr::say;
use crate::stdout;
use crate::table::Table;
use ddelm::base::number::error;
use ddelm_picture::{self as picture, Axis, LinePlot, Scene, Series, Style};

/// A scale that is better by less than this is not worth a line in the file.
const WORTHWHILE: f64 = 2.0;

/// Characters of the bar for every digit.
const BAR_PER_DIGIT: f64 = 2.0;

/// Room for a remark behind a bar.
const MARK: usize = 8;

/// Arguments of `ddelm tune`.
#[derive(Debug, clap::Args)]
pub struct Tune {
    #[command(flatten)]
    problem: ProblemArguments,
    /// Seeds for every scale
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    seeds: u8,
    /// Draw the errors over the scale, as .png or .svg
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

impl Tune {
    /// Carries it out.
    pub fn run(&self, common: &Common, terminal: &Terminal) -> Result<Outcome, Failure> {
        let input = self.problem.read()?;
        // Before the work, not after it.
        self.plot.as_deref().filter(|_| common.machine.leads()).map(picture::check).transpose()?;
        let listener = Listener::new(common, terminal);
        let tuning = tune_on(&common.machine.0, &input.case, self.seeds.into(), &listener)
            .map_err(|error| input.failure(error))?;
        listener.finish();
        let Some(tuning) = tuning else { return Ok(Outcome::Done) };
        let kind = if input.case.problem.exact.is_some() { "error" } else { "estimate" };
        // Files first: they are there even if nobody reads the table.
        if let Some(path) = &self.plot {
            picture::write(path, &plot(&tuning, kind))?;
        }
        stdout::print(&format!("{}\n{}", table(&tuning, kind), advice(&tuning)))?;
        if let Some(path) = self.plot.as_ref().filter(|_| !common.quiet) {
            say(format!("wrote {}", path.display()));
        }
        Ok(Outcome::Done)
    }
}

/// The trials, with a bar that is longer the more digits are right.
fn table(tuning: &Tuning, kind: &str) -> Table {
    let bar = |trial: &Trial| "#".repeat((-trial.error.log10() * BAR_PER_DIGIT).clamp(0.0, 40.0) as usize);
    let width = tuning.trials.iter().map(|trial| bar(trial).len()).max().unwrap_or(0);
    let mut table = Table::new(&["scale", kind, &format!("{:<1$}", "digits", width + MARK)]);
    for trial in &tuning.trials {
        let mark = match trial {
            t if t.scale == tuning.best.scale => " best",
            t if t.scale == tuning.default.scale => " default",
            _ => "",
        };
        let bar = format!("{:<width$}{mark:<MARK$}", bar(trial));
        table.push(vec![format!("{:.3}", trial.scale), error(trial.error), bar]);
    }
    table
}

/// The errors over the scale, with a line at the default.
fn plot(tuning: &Tuning, kind: &str) -> Scene {
    let mut points: Vec<[f64; 2]> = tuning.trials.iter().map(|trial| [trial.scale, trial.error]).collect();
    points.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let plot = LinePlot {
        title: format!("Best scale {:.3}, default {:.3}", tuning.best.scale, tuning.default.scale),
        x: Axis::over("scale of the weights", true, points.iter().map(|p| p[0])),
        y: Axis::over(format!("relative L2 {kind}"), true, points.iter().map(|p| p[1])),
        series: vec![Series { name: String::new(), points, style: Style::Marked }],
        marks: vec![tuning.default.scale],
    };
    plot.scene()
}

/// The line to put into the file, if there is something to gain.
fn advice(tuning: &Tuning) -> String {
    let (best, default) = (tuning.best, tuning.default);
    if default.error <= WORTHWHILE * best.error {
        return "The default is as good as any.\n".into();
    }
    format!("[network]\nscale = {:.3}   # {} in place of {}\n", best.scale, error(best.error), error(default.error))
}
