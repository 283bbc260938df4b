//! `ddelm convergence`: errors and times over points and subdomains.

use std::path::PathBuf;

use ddelm::Settings;
use ddelm::domain::area::Cut;
use ddelm::domain::division::Count;
use ddelm::solve::case::Case;

use super::Outcome;
use crate::Common;
use crate::diagnostic::Terminal;
use crate::failure::Failure;
use crate::listener::Listener;
use crate::machine::Machine;
use crate::problem::{Input, ProblemArguments};
use crate::stderr::say;
use crate::stdout;
use crate::table::Table;
use ddelm::base::number::error;
use ddelm_picture::{self as picture, Axis, LinePlot, Scene, Series, Style};

/// Arguments of `ddelm convergence`.
#[derive(Debug, clap::Args)]
pub struct Convergence {
    #[command(flatten)]
    problem: ProblemArguments,
    /// Points per side of a subdomain
    #[arg(long, value_delimiter = ',', value_name = "N,N,...", default_value = "8,12,16,20")]
    points: Vec<usize>,
    /// Subdomains of a rectangle in each direction: 4 is 4x4 [default: 2,4,8; of other domains as in the file]
    #[arg(long, value_delimiter = ',', value_name = "N,NxM,...", value_parser = counts)]
    subdomains: Vec<[usize; 2]>,
    /// Largest sides of subdomains, for any domain that is not a mesh
    #[arg(long, value_delimiter = ',', value_name = "SIZE,...", conflicts_with = "subdomains")]
    sizes: Vec<f64>,
    /// Draw the errors over points and over time, as .png or .svg
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

/// One solve.
struct Run {
    cut: Cut,
    /// How many there are, by rows and columns where they have them.
    subdomains: String,
    points: usize,
    l2: f64,
    h1: Option<f64>,
    seconds: f64,
}

impl Convergence {
    /// Carries it out.
    pub fn run(&self, common: &Common, terminal: &Terminal) -> Result<Outcome, Failure> {
        let input = self.problem.read()?;
        // Before the work, not after it.
        self.plot.as_deref().filter(|_| common.machine.leads()).map(picture::check).transpose()?;
        let listener = Listener::new(common, terminal);
        let mut runs = Vec::new();
        for cut in self.cuts(&input.case) {
            for &points in &self.points {
                runs.extend(one_run(&common.machine, &input, cut, points, &listener)?);
            }
        }
        listener.finish();
        if !common.machine.leads() {
            return Ok(Outcome::Done);
        }
        let kind = if input.case.problem.exact.is_some() { "error" } else { "estimate" };
        // Files first: they are there even if nobody reads the table.
        if let Some(path) = &self.plot {
            picture::write(path, &plot(&runs, kind))?;
        }
        stdout::print(&table(&runs, kind).to_string())?;
        if let Some(path) = self.plot.as_ref().filter(|_| !common.quiet) {
            say(format!("wrote {}", path.display()));
        }
        Ok(Outcome::Done)
    }

    /// How the domain is cut, one after the other.
    fn cuts(&self, case: &Case) -> Vec<Cut> {
        let counts = |counts: &[[usize; 2]]| counts.iter().map(|&counts| Cut::Counts(counts)).collect();
        match (&self.sizes[..], &self.subdomains[..]) {
            ([], []) if !case.domain.suggests_sizes() => counts(&[2, 4, 8].map(|count| [count; 2])),
            ([], []) => vec![case.cut],
            ([], given) => counts(given),
            (sizes, _) => sizes.iter().map(|&size| Cut::Size(size)).collect(),
        }
    }
}

/// One solve, on all ranks where each has a subdomain; the first rank learns how it went.
fn one_run(
    machine: &Machine,
    input: &Input,
    cut: Cut,
    points: usize,
    listener: &Listener,
) -> Result<Option<Run>, Failure> {
    let settings = Settings { points, neurons: None, ..input.case.settings.clone() };
    let estimate = input.case.problem.exact.is_none();
    let case = Case { cut, settings, tolerance: None, estimate, ..input.case.clone() };
    let failure = |error| input.failure(error);
    case.validate().map_err(failure)?;
    let solution = match case.occupies(machine.0.size()) {
        true => case.solve_on(&machine.0, listener).map(Some).map_err(failure)?,
        false => machine.alone(|| case.solve(listener).map_err(failure))?,
    };
    let Some(solution) = solution.filter(|_| machine.leads()) else { return Ok(None) };
    let found = solution.decomposition.as_ref();
    let subdomains = match found.without_rings().unwrap_or(found).count() {
        // Rings are not counted where columns and rows say more.
        count @ Count::Grid(_) => count.to_string().replace(' ', ""),
        Count::Total(_) => found.len().to_string(),
    };
    let report = solution.report;
    let (l2, h1) = match (&report.errors, &report.estimate) {
        (Some(e), _) => (e.l2, e.h1),
        (None, Some(e)) => (e.l2, Some(e.h1)),
        (None, None) => (f64::NAN, None),
    };
    Ok(Some(Run { cut, subdomains, points, l2, h1, seconds: report.seconds.total }))
}

fn table(runs: &[Run], kind: &str) -> Table {
    let (l2, h1) = (format!("L2 {kind}"), format!("H1 {kind}"));
    let mut table = Table::new(&["subdomains", "points", &l2, &h1, "order", "seconds"]);
    for (k, run) in runs.iter().enumerate() {
        let before = k.checked_sub(1).map(|k| &runs[k]).filter(|before| before.cut == run.cut);
        table.push(vec![
            run.subdomains.clone(),
            run.points.to_string(),
            error(run.l2),
            run.h1.map_or("-".into(), error),
            before.map_or("-".into(), |before| format!("{:.1}", order(before, run))),
            format!("{:.3}", run.seconds),
        ]);
    }
    table
}

/// The errors over points per side, and beside it over time; one curve for each number of subdomains.
fn plot(runs: &[Run], kind: &str) -> Scene {
    let panel = |title: &str, label: &str, values: Vec<f64>, x: fn(&Run) -> f64| {
        let curve = |runs: &[Run]| Series {
            name: runs[0].subdomains.replace('x', " \u{d7} "),
            points: runs.iter().map(|run| [x(run), run.l2]).collect(),
            style: Style::Marked,
        };
        let plot = LinePlot {
            title: title.into(),
            x: Axis { values, ..Axis::over(label, true, runs.iter().map(x)) },
            y: Axis::over(format!("relative L2 {kind}"), true, runs.iter().map(|run| run.l2)),
            series: runs.chunk_by(|a, b| a.cut == b.cut).map(curve).collect(),
            marks: Vec::new(),
        };
        plot.scene()
    };
    let mut points: Vec<f64> = runs.iter().map(|run| run.points as f64).collect();
    points.sort_by(f64::total_cmp);
    points.dedup();
    let over_points = panel("Convergence", "points per side of a subdomain", points, |run| run.points as f64);
    over_points.beside(panel("Cost", "seconds", Vec::new(), |run| run.seconds))
}

/// The power of the points with which the L2 error falls from one run to the next.
fn order(before: &Run, run: &Run) -> f64 {
    (before.l2 / run.l2).ln() / (run.points as f64 / before.points as f64).ln()
}

/// Reads `4` or `4x2`.
fn counts(text: &str) -> Result<[usize; 2], String> {
    let (nx, ny) = text.split_once('x').unwrap_or((text, text));
    let count = |part: &str| part.trim().parse::<usize>().ok().filter(|n| *n > 0);
    match (count(nx), count(ny)) {
        (Some(nx), Some(ny)) => Ok([nx, ny]),
        _ => Err("expected a positive whole number, or two as in 4x2".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_one_number_or_two() {
        assert_eq!(counts("4"), Ok([4, 4]));
        assert_eq!(counts("4x2"), Ok([4, 2]));
        for bad in ["", "0", "4x", "x", "a", "-1"] {
            assert!(counts(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_order_of_a_power_is_its_exponent() {
        let run = |points: usize| Run {
            cut: Cut::Default,
            subdomains: "1".into(),
            points,
            l2: (points as f64).powi(-3),
            h1: None,
            seconds: 0.0,
        };
        assert!((order(&run(8), &run(12)) - 3.0).abs() < 1e-12);
    }
}
