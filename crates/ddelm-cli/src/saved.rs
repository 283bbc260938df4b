//! A saved solution on the command line: the networks and the problem that they solve.

use std::path::Path;

use ddelm::solution::save;
use ddelm::{Error, Problem, ProblemFile, Solution};

use crate::failure::Failure;

/// The file of a solution in the directory of `ddelm solve --out`.
pub const SOLUTION: &str = "solution.safetensors";

/// A solution from a file.
pub struct SavedSolution {
    /// The solution.
    pub solution: Solution,
    /// The text of its problem file.
    pub text: Option<String>,
}

impl SavedSolution {
    /// Reads it: a file, or the directory that `ddelm solve --out` wrote it to.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let inside = path.join(SOLUTION);
        if path.is_dir() && !inside.exists() {
            let problem = format!("the directory has no {SOLUTION}");
            let hint = "give the .safetensors file of a solution, or the directory of ddelm solve --out".into();
            return Err(Error::File { path: path.into(), problem, hint }.into());
        }
        let save::Saved { solution, problem } = save::read(if path.is_dir() { &inside } else { path })?;
        Ok(SavedSolution { solution, text: problem })
    }

    /// The problem, if it was saved. Files that it names have their whole paths in it. They are opened only where the user
    /// says so: a solution may come from anywhere, and name any file of whoever looks at it.
    pub fn problem(&self, path: &Path, data_files: bool) -> Result<Option<Problem>, Failure> {
        let Some(text) = &self.text else { return Ok(None) };
        let file = ProblemFile::new(text);
        let found = file.data_files().and_then(|named| match named.first().filter(|_| !data_files) {
            Some(name) => Err(Error::input(
                path.display().to_string(),
                name,
                "the saved problem takes data from this file, which is not opened unasked",
                "add --data-files if you trust it",
            )),
            None => file.problem(),
        });
        match found {
            Ok(problem) => Ok(Some(problem)),
            Err(error) => Err(Failure::in_file(error, path, file)),
        }
    }
}
