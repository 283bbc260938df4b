//! One solve, and what was measured in it.

use ddelm::method::report::Status;
use ddelm::method::settings::{InterfaceSolver, Preset};
use ddelm::network::features::Initialization;
use ddelm::{Error, Problem, Result, Settings, Solution};
use serde::{Deserialize, Serialize};

use super::Laboratory;
use super::crew::{Job, Task};
use super::samples::Errors;
use super::study::Study;

/// What is solved with.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Run {
    /// The method.
    pub preset: Preset,
    /// Subdomains in each direction.
    pub side: usize,
    /// Points per side of a subdomain; the neurons are their square.
    pub points: usize,
    /// The points that the paper has, if there was no room for as many.
    pub instead_of: Option<usize>,
    /// How weights are drawn, if not as the preset does.
    pub initialization: Option<Initialization>,
    /// How the interface system is solved, if not as the preset does.
    pub interface: Option<InterfaceSolver>,
    /// Where conjugate gradients stop, if not where the preset does.
    pub tolerance: Option<f64>,
    /// The seed of the weights.
    pub seed: u64,
}

/// What came out.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Errors against the exact solution or the better reference.
    pub errors: Option<Errors>,
    /// Errors against finite elements.
    pub against_elements: Option<Errors>,
    /// Root mean square error of the interface values, and of the networks on both sides of the interface.
    pub interface_rms: Option<[f64; 2]>,
    /// Time of the solve.
    pub seconds: f64,
    /// Iterations of conjugate gradients; `None` for a direct solve.
    pub iterations: Option<usize>,
    /// Interface unknowns.
    pub unknowns: usize,
    /// Whether conjugate gradients reached their tolerance.
    pub converged: bool,
}

/// How a run ended.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// With a solution.
    Done(Measured),
    /// Without one, because of this.
    Failed(String),
}

impl Run {
    /// A run of a preset as it is.
    pub fn new(preset: Preset, side: usize, points: usize, seed: u64) -> Self {
        Run { preset, side, points, instead_of: None, initialization: None, interface: None, tolerance: None, seed }
    }

    /// The settings.
    pub fn settings(&self) -> Settings {
        let mut settings = Settings { points: self.points, seed: self.seed, ..Settings::preset(self.preset) };
        if let Some(initialization) = self.initialization {
            settings.initialization = initialization;
        }
        if let Some(interface) = self.interface {
            settings.interface = interface;
        }
        if let Some(tolerance) = self.tolerance {
            settings.interface_tolerance = tolerance;
        }
        settings
    }

    /// Solves. Only Ctrl-C is an error: whatever else goes wrong belongs in the table.
    pub fn solve(
        &self,
        laboratory: &Laboratory,
        study: Study,
        problem: &Problem,
        measure: impl FnOnce(&Solution) -> Result<Measured>,
    ) -> Result<Outcome> {
        match self.solution(laboratory, study, problem).and_then(|solution| measure(&solution)) {
            Ok(measured) => Ok(Outcome::Done(measured)),
            Err(Error::Interrupted) if laboratory.tracker.stopped() => Err(Error::Interrupted),
            Err(Error::Interrupted) => Ok(Outcome::Failed("stopped: it took longer than allowed".into())),
            Err(error) => Ok(Outcome::Failed(error.to_string())),
        }
    }

    /// The solution.
    pub fn solution(&self, laboratory: &Laboratory, study: Study, problem: &Problem) -> Result<Solution> {
        laboratory.crew.solve(Job { study, task: Task::Run(*self) }, problem, laboratory.tracker)
    }
}

impl Measured {
    /// The counters of a solution, without errors.
    pub fn counters(solution: &Solution) -> Self {
        let report = &solution.report;
        let iterative = report.interface.solver == InterfaceSolver::Cg && report.interface.unknowns > 0;
        Measured {
            errors: None,
            against_elements: None,
            interface_rms: None,
            seconds: report.seconds.total,
            iterations: iterative.then_some(report.interface.iterations),
            unknowns: report.interface.unknowns,
            converged: report.status == Status::Solved,
        }
    }

    /// The counters, and the errors against the exact solution on a grid twice as fine as the nodes, as in the paper.
    pub fn against_exact(problem: &Problem, solution: &Solution, points: usize) -> Result<Self> {
        let mut measured = Self::counters(solution);
        if let Some(exact) = &problem.exact {
            let errors = solution.errors(exact.as_ref(), 2 * points)?;
            measured.errors = Some(Errors { l2: errors.l2, h1: errors.h1.unwrap_or(f64::NAN) });
            measured.interface_rms = errors.interface_rms.zip(errors.trace_rms).map(<[f64; 2]>::from);
        }
        Ok(measured)
    }
}
