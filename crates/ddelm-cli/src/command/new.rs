//! `ddelm new`: a commented problem file to start from.

use std::io::Write;
use std::path::PathBuf;

use ddelm::Error;
use ddelm::base::atomic;

use super::Outcome;
use crate::Common;
use crate::failure::Failure;
use crate::stderr::say;
use crate::stdout;

/// Arguments of `ddelm new`.
#[derive(Debug, clap::Args)]
pub struct New {
    /// The kind of problem
    #[arg(value_name = "KIND")]
    kind: Kind,
    /// The file to write; `-` is standard output [default: KIND.toml]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Replace a file that exists
    #[arg(long)]
    force: bool,
}

/// A kind of problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Poisson's equation
    Poisson,
    /// A coefficient that varies, a tensor, and all kinds of boundary conditions
    Diffusion,
    /// A plate, simply supported
    Plate,
    /// A plane wave
    Helmholtz,
    /// Transport with little diffusion
    Advection,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Poisson => "poisson",
            Kind::Diffusion => "diffusion",
            Kind::Plate => "plate",
            Kind::Helmholtz => "helmholtz",
            Kind::Advection => "advection",
        }
    }

    /// The examples of the repository are the templates.
    fn text(self) -> &'static str {
        match self {
            Kind::Poisson => include_str!("../../../../examples/poisson.toml"),
            Kind::Diffusion => include_str!("../../../../examples/diffusion.toml"),
            Kind::Plate => include_str!("../../../../examples/plate.toml"),
            Kind::Helmholtz => include_str!("../../../../examples/helmholtz.toml"),
            Kind::Advection => include_str!("../../../../examples/advection.toml"),
        }
    }
}

impl New {
    /// Carries it out.
    pub fn run(&self, common: &Common) -> Result<Outcome, Failure> {
        let file = self.file.clone().unwrap_or_else(|| format!("{}.toml", self.kind.name()).into());
        if file.as_os_str() == "-" {
            stdout::print(self.kind.text())?;
            return Ok(Outcome::Done);
        }
        if file.exists() && !self.force {
            let problem = "the file exists";
            return Err(Error::input(
                "FILE",
                file.display(),
                problem,
                "choose another name, or replace it with --force",
            )
            .into());
        }
        atomic::write(&file, |out| out.write_all(self.kind.text().as_bytes()))?;
        if !common.quiet {
            say(format!("wrote {}; solve it with: ddelm solve {}", file.display(), file.display()));
        }
        Ok(Outcome::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;
    use ddelm::{ProblemFile, Silent};

    #[test]
    fn every_template_is_solved_to_ten_digits() {
        for kind in Kind::value_variants() {
            let report = ProblemFile::new(kind.text()).case().unwrap().solve(&Silent).unwrap().report;
            assert!(report.errors.is_some_and(|e| e.l2 < 1e-10), "{}: {:?}", kind.name(), report.errors);
            assert!(report.warnings.is_empty(), "{:?}", report.warnings);
        }
    }
}
