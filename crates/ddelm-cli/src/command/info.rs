//! `ddelm info`: what a saved solution is.

use std::path::PathBuf;

use ddelm::network::features::Networks;
use ddelm::{Decomposition, Solution};

use super::Outcome;
use crate::failure::Failure;
use crate::printable::printable;
use crate::saved::SavedSolution;
use crate::stdout;
use crate::summary::status;
use ddelm::base::number::{error, seconds};

/// Arguments of `ddelm info`.
#[derive(Debug, clap::Args)]
pub struct Info {
    /// Solution: a .safetensors file, or the directory of `ddelm solve --out`
    #[arg(value_name = "SOLUTION")]
    solution: PathBuf,
    /// Print the report of the solve as one JSON object
    #[arg(long, conflicts_with = "problem")]
    json: bool,
    /// Print the problem file
    #[arg(long)]
    problem: bool,
}

impl Info {
    /// Carries it out.
    pub fn run(&self) -> Result<Outcome, Failure> {
        let saved = SavedSolution::read(&self.solution)?;
        if self.json {
            let report = serde_json::to_string_pretty(&saved.solution.report).expect("it is made of words and numbers");
            stdout::print(&printable(&format!("{report}\n")))?;
        } else if self.problem {
            let text = saved.text.ok_or_else(|| ddelm::Error::Input {
                key: "--problem".into(),
                value: self.solution.display().to_string(),
                problem: "the solution was saved without its problem".into(),
                hint: "solve a problem file with --out".into(),
            })?;
            stdout::print(&printable(&text))?;
        } else {
            let lines = lines(&saved.solution, saved.text.is_some());
            stdout::print(&lines.iter().map(|(name, text)| format!("{name:<10} {text}\n")).collect::<String>())?;
        }
        Ok(Outcome::Done)
    }
}

fn lines(solution: &Solution, has_problem: bool) -> Vec<(&'static str, String)> {
    let report = &solution.report;
    let mut lines = vec![
        ("domain", domain(&solution.decomposition)),
        ("networks", networks(solution)),
        ("interface", format!("{} values", solution.interface.len())),
        ("problem", if has_problem { "saved with the solution (--problem prints it)" } else { "not saved" }.into()),
        ("status", status(report.status).into()),
    ];
    if let Some(e) = &report.errors {
        let h1 = e.h1.map_or(String::new(), |h1| format!(", H1 {}", error(h1)));
        lines.push(("error", format!("L2 {}{h1}, maximum {}", error(e.l2), error(e.max))));
    }
    if let Some(e) = &report.estimate {
        lines.push(("estimate", format!("L2 {}, H1 {}, maximum {}", error(e.l2), error(e.h1), error(e.max))));
    }
    lines.push(("time", seconds(report.seconds.total)));
    lines
}

fn domain(decomposition: &Decomposition) -> String {
    let [x0, x1, y0, y1] = decomposition.bounding_box();
    let frame = match decomposition.fills_a_frame() {
        true => format!("[{x0}, {x1}] x [{y0}, {y1}]"),
        false => format!("within [{x0:.4}, {x1:.4}] x [{y0:.4}, {y1:.4}]"),
    };
    format!("{frame}, {} subdomains", decomposition.count())
}

fn networks(solution: &Solution) -> String {
    let network = solution.network(0);
    let activation = format!("{:?}", network.activation).to_lowercase();
    let whose = match &solution.networks {
        Networks::Shared(networks) if networks.iter().count() == 1 => "one for all subdomains",
        Networks::Shared(_) => "one for each shape",
        Networks::Each(_) => "one for each subdomain",
    };
    format!("{} {activation} neurons, {whose}", network.len())
}
