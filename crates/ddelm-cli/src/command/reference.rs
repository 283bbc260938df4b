//! `ddelm reference`: every key of problem files and every name of formulas, as Markdown. The documentation is made of it.

use ddelm::file::reference::{Table, reference};
use ddelm::problem::expression::reference::names;

use super::Outcome;
use crate::failure::Failure;
use crate::stdout;

/// Arguments of `ddelm reference`.
#[derive(Debug, clap::Args)]
pub struct Reference {
    /// Print only one half
    #[arg(value_enum)]
    part: Option<Part>,
}

/// A half of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// The keys of problem files
    Keys,
    /// The names that formulas know
    Formulas,
}

impl Reference {
    /// Carries it out.
    pub fn run(&self) -> Result<Outcome, Failure> {
        let mut text = String::new();
        if self.part != Some(Part::Formulas) {
            text.extend(reference().iter().filter(|table| !table.keys.is_empty()).map(keys));
        }
        if self.part.is_none() {
            text += "## Formulas\n\n";
        }
        if self.part != Some(Part::Keys) {
            text += &formulas();
        }
        stdout::print(&text)?;
        Ok(Outcome::Done)
    }
}

fn keys(table: &Table) -> String {
    let title = match table.path {
        "" => "At the top of the file".into(),
        path if table.several => format!("`[[{path}]]`"),
        path => format!("`[{path}]`"),
    };
    let mut text = format!("## {title}\n\n");
    if !table.about.is_empty() {
        text += &format!("{}\n\n", table.about);
    }
    text += "| key | takes | unless given | meaning |\n| --- | --- | --- | --- |\n";
    for key in &table.keys {
        text += &format!("| `{}` | {} | {} | {} |\n", key.name, key.value, key.default, key.about);
    }
    text + "\n"
}

fn formulas() -> String {
    let mut text = String::from("| name | meaning |\n| --- | --- |\n");
    for name in names() {
        let also: String = name.also.iter().map(|other| format!(", `{other}`")).collect();
        // A bar would end the cell.
        text += &format!("| `{}`{also} | {} |\n", name.call, name.about.replace('|', "\\|"));
    }
    text
}
