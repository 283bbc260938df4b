//! `ddelm compare`: how far apart two solutions are.

use std::path::PathBuf;

use super::Outcome;
use crate::Common;
use crate::diagnostic::Terminal;
use crate::failure::Failure;
use crate::number::error;
use crate::picture;
use crate::saved::SavedSolution;
use crate::stdout;
use crate::view::difference_map;

/// Arguments of `ddelm compare`.
#[derive(Debug, clap::Args)]
pub struct Compare {
    /// A solution: a .safetensors file, or the directory of `ddelm solve --out`
    #[arg(value_name = "A")]
    a: PathBuf,
    /// Another one, on the same domain: norms are relative to it
    #[arg(value_name = "B")]
    b: PathBuf,
    /// Print the norms as one JSON object
    #[arg(long)]
    json: bool,
    /// The picture of the difference, .png or .svg
    #[arg(long, value_name = "FILE", default_value = "difference.png")]
    out: PathBuf,
    /// Make no picture
    #[arg(long, conflicts_with = "out")]
    no_picture: bool,
}

impl Compare {
    /// Carries it out.
    pub fn run(&self, common: &Common, terminal: &Terminal) -> Result<Outcome, Failure> {
        let (a, b) = (SavedSolution::read(&self.a)?.solution, SavedSolution::read(&self.b)?.solution);
        // Twice as fine as the nodes of either.
        let resolution = 2 * a.report.points.max(b.report.points);
        let found = a.distance(&b, resolution)?;
        let differ = a.decomposition.bounding_box() != b.decomposition.bounding_box();
        if differ && !common.quiet {
            eprintln!("{}", terminal.warning("the domains differ: the solutions are compared on that of A"));
        }
        if !self.no_picture {
            picture::write(&self.out, &difference_map(&a, &b).scene())?;
            if !common.quiet {
                eprintln!("wrote {}", self.out.display());
            }
        }
        if self.json {
            let norms = serde_json::json!({ "l2": found.l2, "h1": found.h1, "max": found.max });
            stdout::print(&format!("{norms:#}\n"))?;
        } else {
            let h1 = found.h1.map_or(String::new(), |h1| format!("H1         {} (relative)\n", error(h1)));
            let (l2, max) = (error(found.l2), error(found.max));
            stdout::print(&format!("L2         {l2} (relative)\n{h1}maximum    {max}\n"))?;
        }
        Ok(Outcome::Done)
    }
}
