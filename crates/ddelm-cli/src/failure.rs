//! Why a command failed, with the problem file that the error may point into.

use std::path::{Path, PathBuf};

use ddelm::{Error, ProblemFile};

/// An error and the problem file it may come from.
#[derive(Debug)]
pub struct Failure {
    /// What happened.
    pub error: Error,
    /// The problem file and its name.
    pub file: Option<Box<(PathBuf, ProblemFile)>>,
}

impl Failure {
    /// An error that may point into a problem file.
    pub fn in_file(error: Error, path: &Path, file: ProblemFile) -> Self {
        Failure { error, file: Some(Box::new((path.into(), file))) }
    }

    /// Whether the input was at fault, and not the computation.
    pub fn is_input(&self) -> bool {
        self.error.is_input()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure { error, file: None }
    }
}
