//! `ddelm compare`: how far apart two solutions are.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ddelm::ProblemFile;

use super::Outcome;
use crate::Common;
use crate::diagnostic::Terminal;
use crate::failure::Failure;
use crate::saved::SavedSolution;
use crate::stderr::{say, say_styled};
use crate::stdout;
use crate::view::difference_map;
use ddelm::base::number::error;
use ddelm_picture as picture;

/// Cells per side of a subdomain, at most, whatever the reports of the files say.
const FINEST: usize = 512;

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
        let (a, b) = (SavedSolution::read(&self.a)?, SavedSolution::read(&self.b)?);
        let differ = difference(&a, &b);
        if let Some(differ) = differ.filter(|_| !common.quiet) {
            say_styled(terminal.warning(&differ));
        }
        let (a, b) = (a.solution, b.solution);
        // Twice as fine as the nodes of either.
        let resolution = a.report.points.max(b.report.points).clamp(1, FINEST / 2) * 2;
        let found = a.distance(&b, resolution)?;
        let (box_a, box_b) = (a.decomposition.bounding_box(), b.decomposition.bounding_box());
        // Boxes of curved or oblique elements have roundings.
        let size = box_a.iter().fold(0.0, |size: f64, v| size.max(v.abs()));
        let differ = box_a.iter().zip(box_b).any(|(v, w)| (v - w).abs() > 1e-9 * size);
        if differ && !common.quiet {
            say_styled(terminal.warning("the domains differ: the solutions are compared on that of A"));
        }
        if !self.no_picture {
            picture::write(&self.out, &difference_map(&a, &b).scene())?;
            if !common.quiet {
                say(format!("wrote {}", self.out.display()));
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

/// In what the problems of two solutions differ, where both are known.
fn difference(a: &SavedSolution, b: &SavedSolution) -> Option<String> {
    let statement = |saved: &SavedSolution| ProblemFile::new(saved.text.as_ref()?).statement().ok();
    let (a, b) = (statement(a)?, statement(b)?);
    let own = |these: &BTreeMap<String, String>, others: &BTreeMap<String, String>| {
        let new = these.iter().filter(|(key, value)| others.get(*key) != Some(value));
        let found = new.map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", ");
        if found.is_empty() { "none of that".into() } else { found }
    };
    (a != b).then(|| format!("the problems differ: A has {}; B has {}", own(&a, &b), own(&b, &a)))
}
