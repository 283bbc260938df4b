//! A saved solution on the command line: the networks and the problem that they solve.

use std::path::Path;

use ddelm::file::ProblemFile;
use ddelm::problem::Problem;
use ddelm::save;
use ddelm::solution::Solution;

use crate::failure::Failure;

/// A solution from a file.
pub struct SavedSolution {
    /// The solution.
    pub solution: Solution,
    /// The text of its problem file.
    pub text: Option<String>,
}

impl SavedSolution {
    /// Reads it.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let save::Saved { solution, problem } = save::read(path)?;
        Ok(SavedSolution { solution, text: problem })
    }

    /// The problem, if it was saved. Files that it names are relative to the current directory.
    pub fn problem(&self, path: &Path) -> Result<Option<Problem>, Failure> {
        let Some(text) = &self.text else { return Ok(None) };
        let file = ProblemFile::new(text);
        match file.case() {
            Ok(case) => Ok(Some(case.problem)),
            Err(error) => Err(Failure::in_file(error, path, file)),
        }
    }
}
