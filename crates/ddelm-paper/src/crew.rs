//! The ranks of a parallel machine. The first one runs the command as if it were alone; before a solve that has a
//! subdomain for every rank it calls the others, which do nothing else.
//!
//! So all decisions are made in one place: what fits into memory and time, when references agree, what goes into a
//! table. Finite elements, the network for the whole domain, comparisons and pictures are the first rank's alone.

use std::sync::Arc;

use ddelm::base::progress::{Progress, Silent};
use ddelm::exchange::{Exchange, Serial, agreed};
use ddelm::{Decomposition, Error, Problem, Result, Solution, Solver};
use serde::{Deserialize, Serialize};

use super::reference;
use super::run::Run;
use super::study::{Realizations, Study};

/// All ranks, as the first one sees them. They are sent home when it is dropped.
pub struct Crew(Arc<dyn Exchange>);

/// A solve that all ranks take part in.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Job {
    /// The problem.
    pub study: Study,
    /// How it is solved.
    pub task: Task,
}

/// How a problem is solved.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub enum Task {
    /// As a run of a table or figure.
    Run(Run),
    /// As a refinement of the reference.
    Reference(usize),
}

impl Crew {
    /// The first rank takes the lead.
    pub fn lead(exchange: Arc<dyn Exchange>) -> Self {
        Crew(exchange)
    }

    /// The number of ranks.
    pub fn ranks(&self) -> usize {
        self.0.size()
    }

    /// Solves, on all ranks if there is a subdomain for each. The problem is that of the job.
    pub fn solve(&self, job: Job, problem: &Problem, progress: &dyn Progress) -> Result<Solution> {
        let decomposition = Arc::new(job.decomposition()?);
        if decomposition.len() < self.ranks() {
            return job.solve(Arc::new(Serial), problem, decomposition, progress);
        }
        let exchange = &self.0;
        exchange.broadcast(0, &order(Some(job)));
        // Some other rank may not find the problem's files.
        exchange.agree(Ok(()))?;
        agreed(exchange.as_ref(), job.solve(exchange.clone(), problem, decomposition, progress))
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        // After a panic the others are ended, wherever they are.
        if !std::thread::panicking() {
            self.0.broadcast(0, &order(None));
        }
    }
}

/// What the first rank says to the others: a job, or nothing when it is done.
fn order(job: Option<Job>) -> String {
    serde_json::to_string(&job).expect("it is made of words and numbers")
}

/// Takes part in the solves of the first rank until it is done. What becomes of them is told there.
pub fn assist(exchange: &Arc<dyn Exchange>, realizations: &Realizations) {
    loop {
        let job = match serde_json::from_str::<Option<Job>>(&exchange.broadcast(0, "")) {
            Ok(None) => return,
            Ok(Some(job)) => Ok(job),
            Err(error) => Err(not_understood(&error)),
        };
        let problem = job.and_then(|job| Ok((job, job.study.problem(realizations)?)));
        let Ok((job, problem)) = agreed(exchange.as_ref(), problem) else { continue };
        let solution = job.decomposition().and_then(|d| job.solve(exchange.clone(), &problem, Arc::new(d), &Silent));
        let _ = agreed(exchange.as_ref(), solution);
    }
}

fn not_understood(error: &serde_json::Error) -> Error {
    Error::Compute {
        stage: "reproduce",
        problem: format!("an order from the first rank was not understood: {error}"),
        hint: "run the same program on all ranks".into(),
    }
}

impl Job {
    fn decomposition(&self) -> Result<Decomposition> {
        match self.task {
            Task::Run(run) => Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [run.side; 2]),
            Task::Reference(step) => reference::decomposition(step),
        }
    }

    fn solve(
        &self,
        exchange: Arc<dyn Exchange>,
        problem: &Problem,
        decomposition: Arc<Decomposition>,
        progress: &dyn Progress,
    ) -> Result<Solution> {
        let settings = match self.task {
            Task::Run(run) => run.settings(),
            Task::Reference(step) => reference::settings(step),
        };
        let solver = Solver::on(exchange, problem, decomposition, &settings, progress)?;
        Ok(solver.solve_many(&[problem.data()], progress)?.swap_remove(0))
    }
}
