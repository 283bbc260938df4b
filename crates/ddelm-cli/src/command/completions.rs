//! `ddelm completions` and `ddelm man`: what a shell and `man` want to know about this program.

use std::io;
use std::path::PathBuf;

use clap::CommandFactory;
use ddelm::Error;

use super::Outcome;
use crate::Arguments;
use crate::failure::Failure;
use crate::stdout;

/// Arguments of `ddelm completions`.
#[derive(Debug, clap::Args)]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: clap_complete::Shell,
}

impl Completions {
    /// Carries it out.
    pub fn run(&self) -> Result<Outcome, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "ddelm", &mut script);
        stdout::print(&String::from_utf8_lossy(&script))?;
        Ok(Outcome::Done)
    }
}

/// Arguments of `ddelm man`.
#[derive(Debug, clap::Args)]
pub struct Man {
    /// Write the pages of all subcommands into this directory, and not one to standard output
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Man {
    /// Carries it out.
    pub fn run(&self) -> Result<Outcome, Failure> {
        let command = Arguments::command();
        let failure = |path: PathBuf| {
            move |error: io::Error| Error::Write { path, problem: error.to_string(), hint: "check the path".into() }
        };
        match &self.out {
            Some(directory) => clap_mangen::generate_to(command, directory).map_err(failure(directory.clone()))?,
            None => {
                let mut page = Vec::new();
                clap_mangen::Man::new(command).render(&mut page).map_err(failure("ddelm.1".into()))?;
                stdout::print(&String::from_utf8_lossy(&page))?;
            }
        }
        Ok(Outcome::Done)
    }
}
