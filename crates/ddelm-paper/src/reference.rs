//! What the solutions of Tables 3 to 6 are measured against, since nobody knows the exact ones.
//!
//! Two references. The paper's: linear finite elements on 4096 x 4096 cells. A better one: the default preset on a
//! decomposition that is graded towards the corners, where the solutions are singular, refined until two
//! solutions with different features, nodes and subdomains agree. Their difference is the error of the reference.

use ddelm::{Decomposition, Error, Problem, Result, Settings, Solution};
use ddelm_fem::FiniteElementSolution;

use super::Laboratory;
use super::Tracker;
use super::crew::{Job, Task};
use super::samples::{CELLS_UNIT, Errors, Samples};
use super::study::Study;

/// Difference at which two solutions agree, in the relative L2 norm.
const AGREEMENT: f64 = 1e-9;

/// Refinements: subdomains in each direction, levels at the corners, points per side. Each has its own features.
const LADDER: [[usize; 3]; 4] = [[24, 8, 20], [28, 9, 22], [32, 9, 24], [40, 10, 24]];

/// Cells in each direction of the paper's remark on coarse finite elements.
const COARSE: usize = 256;

/// Bytes per cell that the finite element solver needs.
const BYTES_PER_CELL: f64 = 200.0;

/// Seconds that a reference takes on two cores, roughly: for progress bars.
pub const ESTIMATE: f64 = 150.0;

/// The references of a problem.
pub struct Reference {
    /// The better one.
    pub solution: Solution,
    /// Its samples.
    pub samples: Samples,
    /// How it was computed.
    pub description: String,
    /// Its difference to the one before it.
    pub agreement: Errors,
    /// The paper's.
    pub elements: Samples,
    /// Its cells in each direction.
    pub cells: usize,
    /// Its errors against the better one.
    pub elements_errors: Errors,
    /// Relative L2 error of finite elements on 256 x 256 cells at their nodes.
    pub coarse: f64,
}

impl Reference {
    /// Computes the references, with no more memory than a run may take.
    pub fn compute(laboratory: &Laboratory, study: Study) -> Result<Self> {
        let (problem, tracker) = (&study.problem(&laboratory.realizations)?, laboratory.tracker);
        let rung = |step| laboratory.crew.solve(Job { study, task: Task::Reference(step) }, problem, tracker);
        let (step, solution, samples, agreement) = refined(rung)?;
        let mut cells = 4096;
        while cells > CELLS_UNIT && BYTES_PER_CELL * (cells * cells) as f64 > laboratory.budget.bytes {
            cells /= 2;
        }
        stop_if_asked(tracker)?;
        let elements = Samples::of_finite_elements(&finite_elements(problem, cells)?);
        stop_if_asked(tracker)?;
        let coarse = nodal_error(&finite_elements(problem, COARSE)?, &solution);
        let elements_errors = elements.errors(&samples);
        let [side, levels, points] = LADDER[step];
        let description = format!(
            "the default preset on {side} x {side} subdomains with {levels} levels of grading at every corner and \
             {points} points per side"
        );
        Ok(Reference { solution, samples, description, agreement, elements, cells, elements_errors, coarse })
    }
}

/// Climbs the ladder until two solutions agree; returns the last one, its samples and its distance to the one before.
fn refined(rung: impl Fn(usize) -> Result<Solution>) -> Result<(usize, Solution, Samples, Errors)> {
    let mut coarse = Samples::of(&rung(0)?);
    let mut step = 1;
    loop {
        let solution = rung(step)?;
        let samples = Samples::of(&solution);
        let agreement = samples.errors(&coarse);
        if agreement.l2 < AGREEMENT || step + 1 == LADDER.len() {
            return Ok((step, solution, samples, agreement));
        }
        coarse = samples;
        step += 1;
    }
}

/// The decomposition of a refinement.
pub fn decomposition(step: usize) -> Result<Decomposition> {
    let [side, levels, _] = LADDER[step];
    Decomposition::graded_rectangle([0.0, 1.0], [0.0, 1.0], [side; 2], levels)
}

/// The settings of a refinement, with features of its own.
pub fn settings(step: usize) -> Settings {
    Settings { points: LADDER[step][2], seed: 1 + step as u64, ..Settings::fast() }
}

fn finite_elements(problem: &Problem, cells: usize) -> Result<FiniteElementSolution> {
    ddelm_fem::solve(problem, [0.0, 1.0], [0.0, 1.0], &ddelm_fem::Settings::new([cells; 2]))
}

/// Relative l2 error at the nodes.
fn nodal_error(elements: &FiniteElementSolution, reference: &Solution) -> f64 {
    let (node_x, node_y) = (elements.node_x(), elements.node_y());
    let (x, y): (Vec<f64>, Vec<f64>) = node_y.iter().flat_map(|&y| node_x.iter().map(move |&x| (x, y))).unzip();
    let exact = reference.values(&x, &y);
    let (mut error, mut norm) = (0.0, 0.0);
    for (u, exact) in elements.nodal().iter().zip(exact) {
        error += (u - exact) * (u - exact);
        norm += exact * exact;
    }
    (error / norm).sqrt()
}

fn stop_if_asked(tracker: &dyn Tracker) -> Result<()> {
    if tracker.stopped() { Err(Error::Interrupted) } else { Ok(()) }
}
