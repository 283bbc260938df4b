//! Tables 2 to 7: errors, time and work for every number of subdomains.

use std::rc::Rc;

use ddelm::method::settings::Preset;
use ddelm::network::features::Initialization;
use ddelm::{Problem, Result};

use super::Laboratory;
use super::budget::Cost;
use super::item::Item;
use super::markdown::{MarkdownTable, number, time};
use super::published::{INTERVALS, Published, rows};
use super::reference::Reference;
use super::run::{Measured, Outcome, Run};
use super::samples::Samples;
use super::study::Study;
use ddelm::base::number::error;

/// Seconds to compare a solution with the references.
const COMPARISON: f64 = 3.0;

/// The runs of a table, in order: the paper's preset and the default one for every row of the paper.
pub fn plan(laboratory: &Laboratory, number: u8) -> Result<Vec<(Published, Run, Cost)>> {
    let study = Study::of_table(number);
    let equation = study.problem(&laboratory.realizations)?.equation;
    let mut runs = Vec::new();
    for published in rows(number) {
        let (side, full) = (published.side, INTERVALS / published.side);
        let points = laboratory.budget.fit(&equation, side, full, Initialization::Suggested);
        let paper = Run {
            instead_of: (points < full).then_some(full),
            ..Run::new(Preset::Paper, side, points, laboratory.seed)
        };
        let cost = laboratory.budget.cost(&equation, side, points, Initialization::Suggested);
        runs.push((published, paper, cost));
        let fast = Run::new(Preset::Fast, side, study.default_points(side), laboratory.seed);
        runs.push((published, fast, Cost { bytes: 0.0, seconds: COMPARISON }));
    }
    runs.retain(|(_, run, _)| laboratory.wants(run.preset));
    Ok(runs)
}

/// Runs a table and writes it to disk after every row.
pub fn reproduce(laboratory: &Laboratory, number: u8) -> Result<()> {
    let study = Study::of_table(number);
    let problem = study.problem(&laboratory.realizations)?;
    let reference = match &problem.exact {
        Some(_) => None,
        None => Some(laboratory.reference(study)?),
    };
    let mut grid = MarkdownTable::new(headings(reference.is_some()));
    let mut side = 0;
    for (published, run, cost) in plan(laboratory, number)? {
        if published.side != side {
            side = published.side;
            grid.row(published_row(&published, reference.is_some()));
        }
        let name = format!("table-{number} {0} x {0} {1}", run.side, preset_name(run.preset));
        laboratory.tracker.run_begins(&name, cost.seconds, Some(laboratory.budget.seconds));
        let outcome = run.solve(laboratory, study, &problem, |solution| {
            measure(&problem, solution, run.points, reference.as_deref())
        })?;
        laboratory.tracker.run_ends(&format!("{name}: {}", summary(&outcome)));
        grid.row(measured_row(&run, &outcome, reference.is_some()));
        laboratory.write(Item::Table(number), &text(laboratory, &grid, study, reference.as_ref()))?;
    }
    Ok(())
}

fn measure(
    problem: &Problem,
    solution: &ddelm::Solution,
    points: usize,
    reference: Option<&Reference>,
) -> Result<Measured> {
    let Some(reference) = reference else {
        return Measured::against_exact(problem, solution, points);
    };
    let samples = Samples::of(solution);
    Ok(Measured {
        errors: Some(samples.errors(&reference.samples)),
        against_elements: Some(samples.errors(&reference.elements)),
        ..Measured::counters(solution)
    })
}

/// The name of a preset in tables.
pub fn preset_name(preset: Preset) -> &'static str {
    match preset {
        Preset::Paper => "paper",
        Preset::Fast => "default",
    }
}

fn summary(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done(m) => format!("L2 {}", m.errors.map_or("-".into(), |e| error(e.l2))),
        Outcome::Failed(reason) => reason.clone(),
    }
}

fn headings(referenced: bool) -> Vec<&'static str> {
    let mut headings = vec!["N", "", "neurons", "L2", "H1"];
    if referenced {
        headings.extend(["L2 to FEM", "H1 to FEM"]);
    }
    headings.extend(["time", "CG iterations", "interface unknowns"]);
    headings
}

fn published_row(row: &Published, referenced: bool) -> Vec<String> {
    let mut cells = vec![square(row.side), "published".into(), number(INTERVALS * INTERVALS)];
    if referenced {
        // The paper measures against finite elements.
        cells.extend([String::new(), String::new()]);
    }
    cells.extend([error(row.l2), error(row.h1), time(row.seconds), String::new(), String::new()]);
    cells
}

fn measured_row(run: &Run, outcome: &Outcome, referenced: bool) -> Vec<String> {
    let neurons = number((run.side * run.points).pow(2));
    let neurons = if run.instead_of.is_some() { format!("{neurons} (reduced)") } else { neurons };
    let mut cells = vec![String::new(), preset_name(run.preset).into(), neurons];
    let m = match outcome {
        Outcome::Done(measured) => measured,
        Outcome::Failed(reason) => {
            cells.push(reason.clone());
            return cells;
        }
    };
    for errors in [Some(m.errors), referenced.then_some(m.against_elements)].into_iter().flatten() {
        cells.extend([errors.map(|e| error(e.l2)), errors.map(|e| error(e.h1))].map(Option::unwrap_or_default));
    }
    let iterations = match m.iterations {
        Some(count) if m.converged => number(count),
        Some(count) => format!("{} (not converged)", number(count)),
        None if m.unknowns > 0 => "direct".into(),
        None => String::new(),
    };
    cells.extend([time(m.seconds), iterations, number(m.unknowns)]);
    cells
}

fn text(laboratory: &Laboratory, grid: &MarkdownTable, study: Study, reference: Option<&Rc<Reference>>) -> String {
    let mut text = grid.to_string();
    if let Some(reference) = reference {
        text.push_str(&format!("\n{}\n", reference_note(laboratory, study, reference)));
    }
    text
}

/// What the errors of a table are measured against.
fn reference_note(laboratory: &Laboratory, study: Study, reference: &Reference) -> String {
    let field = match (&laboratory.realizations.folder, study) {
        (Some(_), _) => "The random field was read from a file.".into(),
        (None, Study::Coefficient(_)) => format!("Random field: seed {}.", laboratory.realizations.seed + 1),
        (None, _) => format!("Random field: seed {}.", laboratory.realizations.seed),
    };
    let mut note = format!(
        "{field} L2 and H1 are errors against {}; a coarser one with other features differs from it by {} in L2 and {} \
         in H1. \"To FEM\" are errors against linear finite elements on {cells} x {cells} cells, as in the paper. These \
         are themselves wrong by {} in L2 and {} in H1, so that no method can look better than that against them.",
        reference.description,
        error(reference.agreement.l2),
        error(reference.agreement.h1),
        error(reference.elements_errors.l2),
        error(reference.elements_errors.h1),
        cells = reference.cells,
    );
    if let Study::Coefficient(alpha) = study {
        note.push_str(&format!(
            " Finite elements on 256 x 256 cells are wrong by {} at their nodes; the paper has {}.",
            error(reference.coarse),
            error(super::published::coarse_finite_elements(alpha)),
        ));
    }
    note
}

fn square(side: usize) -> String {
    format!("{side} x {side}")
}
