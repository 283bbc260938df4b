//! `ddelm plot`: a picture of a solution.

use std::io::Write;
use std::path::{Path, PathBuf};

use ddelm::Error;
use ddelm::base::atomic;

use super::Outcome;
use crate::Common;
use crate::failure::Failure;
use crate::saved::SavedSolution;
use crate::series;
use crate::stderr::say;
use crate::view::{Field, Slice, View};
use ddelm_picture as picture;

/// Arguments of `ddelm plot`.
#[derive(Debug, clap::Args)]
pub struct Plot {
    /// Solution: a .safetensors file, or the directory of `ddelm solve --out`
    #[arg(value_name = "SOLUTION")]
    solution: PathBuf,
    /// What to show
    #[arg(long, value_enum, default_value_t = Field::U)]
    field: Field,
    /// Draw lines of equal value
    #[arg(long, conflicts_with = "slice")]
    contours: bool,
    /// Show the field along a line, for example x=0.5
    #[arg(long, value_name = "LINE")]
    slice: Option<Slice>,
    /// Show all solutions of a directory one after the other, times or eigenfunctions, as an animated PNG
    #[arg(long, conflicts_with = "slice")]
    animate: bool,
    /// The picture, .png or .svg [default: FIELD.png]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Open the data files that the saved problem names, wherever they are
    #[arg(long)]
    data_files: bool,
}

impl Plot {
    /// Carries it out.
    pub fn run(&self, common: &Common) -> Result<Outcome, Failure> {
        if self.animate {
            return self.animate(common);
        }
        let saved = SavedSolution::read(&self.solution)?;
        // Without need a problem that cannot be read, say for its data files, is no obstacle.
        let problem = match saved.problem(&self.solution, self.data_files) {
            Err(failure) if self.field.needs_problem() => return Err(failure),
            problem => problem.unwrap_or(None),
        };
        let view = View { solution: &saved.solution, problem: problem.as_ref() };
        let scene = match self.slice {
            Some(slice) => view.slice(self.field, slice)?.scene(),
            None => view.heat_map(self.field, self.contours)?.scene(),
        };
        let path = self.path();
        picture::write(&path, &scene)?;
        Ok(wrote(&path, common))
    }

    fn animate(&self, common: &Common) -> Result<Outcome, Failure> {
        let path = self.path();
        let moves = matches!(path.extension().and_then(|e| e.to_str()), Some("png" | "apng"));
        if !moves {
            let problem = "animations are written as .png";
            return Err(Error::input("--out", path.display(), problem, "give a name such as u.png").into());
        }
        atomic::check(&path)?;
        let content = series::animation(&series::read(&self.solution)?, self.field, self.contours)?;
        atomic::write(&path, |file| file.write_all(&content))?;
        Ok(wrote(&path, common))
    }

    fn path(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| format!("{}.png", self.field.name()).into())
    }
}

fn wrote(path: &Path, common: &Common) -> Outcome {
    if !common.quiet {
        say(format!("wrote {}", path.display()));
    }
    Outcome::Done
}
