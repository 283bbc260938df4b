//! `ddelm reproduce`: the tables and figures of the paper, side by side with what the paper reports.

use std::path::PathBuf;

use ddelm::method::settings::Preset;
use ddelm::{Error, Result};
use ddelm_paper::{ALL, Crew, Item, Laboratory, Order, Realizations, assist, list};

use super::Outcome;
use crate::Common;
use crate::diagnostic::Terminal;
use crate::failure::Failure;
use crate::stdout;
use crate::tracker::Tracker;

/// Memory of a run where the system does not tell what is free, in GB.
const DEFAULT_MEMORY: f64 = 4.0;

/// Arguments of `ddelm reproduce`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Every table is written as soon as a row of it is finished. Tables of earlier runs in the same \
                        folder are kept and stay on the page."
)]
pub struct Reproduce {
    /// What to reproduce: table-1 to table-7, figure-3, figure-4, or all [default: list them]
    #[arg(value_name = "WHAT")]
    items: Vec<String>,
    /// Folder for the page, the tables and the pictures
    #[arg(long, short, value_name = "DIR", default_value = "reproduction")]
    output: PathBuf,
    /// Memory that one solve may take, in GB [default: three quarters of what is free; under mpirun, on the first
    /// rank's machine]
    #[arg(long, value_name = "GB")]
    max_memory: Option<f64>,
    /// Time that one solve may take, in minutes
    #[arg(long, value_name = "MINUTES", default_value_t = 10.0)]
    max_minutes: f64,
    /// Seed of the random fields
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    field_seed: u64,
    /// Folder with source16.npz, source32.npz, coefficient16.npz and coefficient32.npz (arrays a, w, b) to take the
    /// random fields from
    #[arg(long, value_name = "DIR", conflicts_with = "field_seed")]
    fields: Option<PathBuf>,
    /// Seed of the weights
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Run one preset only
    #[arg(long, value_parser = preset, value_name = "fast|paper")]
    preset: Option<Preset>,
    /// Print the estimates and stop
    #[arg(long)]
    estimate: bool,
}

impl Reproduce {
    /// Carries it out.
    pub fn run(&self, common: &Common, terminal: &Terminal) -> std::result::Result<Outcome, Failure> {
        let realizations = Realizations { seed: self.field_seed, folder: self.fields.clone() };
        let exchange = &common.machine.0;
        if !common.machine.leads() {
            assist(exchange, &realizations);
            return Ok(Outcome::Done);
        }
        let crew = Crew::lead(exchange.clone());
        let items = self.items()?;
        if items.is_empty() {
            stdout::print(&list())?;
            return Ok(Outcome::Done);
        }
        let (order, tracker) = (self.order(realizations)?, Tracker::new(common, terminal));
        let laboratory = Laboratory::new(order, crew, &tracker, &items)?;
        if self.estimate {
            return Ok(Outcome::Done);
        }
        let page = laboratory.reproduce(&items, &command_line(exchange.size()))?;
        tracker.finish();
        stdout::print(&format!("{}\n", page.display()))?;
        Ok(Outcome::Done)
    }

    fn items(&self) -> Result<Vec<Item>> {
        if self.items.iter().any(|name| name == "all") {
            return Ok(ALL.to_vec());
        }
        let item = |name: &String| {
            name.parse()
                .map_err(|hint: String| Error::input("reproduce", name, "the paper has no such item here", hint))
        };
        let mut items: Vec<Item> = self.items.iter().map(item).collect::<Result<_>>()?;
        items.sort();
        items.dedup();
        Ok(items)
    }

    fn order(&self, realizations: Realizations) -> Result<Order> {
        for (key, value) in [("--max-memory", self.max_memory), ("--max-minutes", Some(self.max_minutes))] {
            if let Some(value) = value.filter(|v| !(v.is_finite() && *v > 0.0)) {
                return Err(Error::input(key, value, "it must be a positive number", "for example 8"));
            }
        }
        let free = ddelm::base::memory::available().map_or(DEFAULT_MEMORY * 1e9, |free| 0.75 * free as f64);
        Ok(Order {
            output: self.output.clone(),
            memory: self.max_memory.map_or(free, |gigabytes| gigabytes * 1e9),
            seconds: 60.0 * self.max_minutes,
            realizations,
            seed: self.seed,
            preset: self.preset,
        })
    }
}

/// A preset by its name in problem files.
fn preset(name: &str) -> std::result::Result<Preset, String> {
    match name {
        "fast" => Ok(Preset::Fast),
        "paper" => Ok(Preset::Paper),
        _ => Err("the presets are fast (the default) and paper".into()),
    }
}

/// The command as it was given.
fn command_line(ranks: usize) -> String {
    let mut words: Vec<String> = std::env::args().collect();
    if let Some(first) = words.first_mut() {
        *first = if ranks > 1 { format!("mpirun -n {ranks} ddelm") } else { "ddelm".into() };
    }
    words.join(" ")
}
