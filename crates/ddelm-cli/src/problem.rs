//! The problem file of a command: its path and what is set on top of it.

use std::path::PathBuf;

use ddelm::ProblemFile;
use ddelm::solve::case::Case;

use crate::failure::Failure;

/// A problem file and overrides.
#[derive(Debug, Clone, clap::Args)]
pub struct ProblemArguments {
    /// Problem file (TOML)
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Override a key of the file, for example --set discretization.points=20
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub overrides: Vec<String>,
    /// How to solve: schur, elm, locelm or fem; the same as --set method=...
    #[arg(long)]
    pub method: Option<String>,
}

/// What a command works on: the case, and the file that errors point into.
pub struct Input {
    /// The path as it was given.
    pub path: PathBuf,
    /// The text.
    pub file: ProblemFile,
    /// What it asks for.
    pub case: Case,
}

impl ProblemArguments {
    /// Reads the file.
    pub fn read(&self) -> Result<Input, Failure> {
        let mut file = ProblemFile::read(&self.file)?;
        for text in &self.overrides {
            file = file.set(text);
        }
        if let Some(method) = &self.method {
            file = file.set(format!("method={method}"));
        }
        match file.case() {
            Ok(case) => Ok(Input { path: self.file.clone(), file, case }),
            Err(error) => Err(Failure::in_file(error, &self.file, file)),
        }
    }
}

impl Input {
    /// An error that may point into the file.
    pub fn failure(&self, error: ddelm::Error) -> Failure {
        Failure::in_file(error, &self.path, self.file.clone())
    }
}
