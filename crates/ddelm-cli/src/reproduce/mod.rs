//! `ddelm reproduce`: the tables and figures of the paper, side by side with what the paper reports.

mod budget;
mod crew;
mod figure;
mod initializations;
mod item;
mod markdown;
mod page;
mod published;
mod reference;
mod run;
mod samples;
mod study;
mod table;
mod tracker;

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::rc::Rc;

use ddelm::base::atomic;
use ddelm::method::settings::Preset;
use ddelm::network::features::Initialization;
use ddelm::{Error, Result};

use self::budget::Budget;
use self::crew::Crew;
use self::item::{ALL, Item};
use self::reference::Reference;
use self::study::{Realizations, Study};
use self::tracker::Tracker;
use crate::Common;
use crate::command::Outcome;
use crate::diagnostic::Terminal;
use crate::failure::Failure;
use crate::number::{bytes, error, rough_seconds};
use crate::stdout;

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

/// What all tables share.
pub struct Laboratory {
    output: PathBuf,
    budget: Budget,
    realizations: Realizations,
    seed: u64,
    /// The only preset to run, if not both.
    preset: Option<Preset>,
    tracker: Tracker,
    crew: Crew,
    /// References that were computed; several tables and figures use the same.
    references: RefCell<HashMap<Study, Rc<Reference>>>,
}

impl Reproduce {
    /// Carries it out.
    pub fn run(&self, common: &Common, terminal: &Terminal) -> std::result::Result<Outcome, Failure> {
        let realizations = Realizations { seed: self.field_seed, folder: self.fields.clone() };
        if !common.machine.leads() {
            crew::assist(&common.machine, &realizations);
            return Ok(Outcome::Done);
        }
        let crew = Crew::lead(&common.machine);
        let items = self.items()?;
        if items.is_empty() {
            stdout::print(&list())?;
            return Ok(Outcome::Done);
        }
        let laboratory = self.laboratory(common, terminal, crew, realizations, &items)?;
        if self.estimate {
            return Ok(Outcome::Done);
        }
        std::fs::create_dir_all(&self.output).map_err(|error| atomic::failure(&self.output, &error))?;
        for item in items {
            let outcome = laboratory.reproduce(item);
            // Also what Ctrl-C leaves of it.
            let ranks = laboratory.crew.ranks();
            page::write(&self.output, &command_line(ranks), ranks)?;
            outcome?;
        }
        laboratory.tracker.finish();
        stdout::print(&format!("{}\n", self.output.join(page::NAME).display()))?;
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

    fn laboratory(
        &self,
        common: &Common,
        terminal: &Terminal,
        crew: Crew,
        realizations: Realizations,
        items: &[Item],
    ) -> Result<Laboratory> {
        for (key, value) in [("--max-memory", self.max_memory), ("--max-minutes", Some(self.max_minutes))] {
            if let Some(value) = value.filter(|v| !(v.is_finite() && *v > 0.0)) {
                return Err(Error::input(key, value, "it must be a positive number", "for example 8"));
            }
        }
        let free = ddelm::base::memory::available().map_or(DEFAULT_MEMORY * 1e9, |free| 0.75 * free as f64);
        let memory = self.max_memory.map_or(free, |gigabytes| gigabytes * 1e9);
        let laboratory = Laboratory {
            output: self.output.clone(),
            budget: Budget::measure(memory, 60.0 * self.max_minutes, crew.ranks())?,
            realizations,
            seed: self.seed,
            preset: self.preset,
            tracker: Tracker::new(common, terminal),
            crew,
            references: RefCell::default(),
        };
        let total = laboratory.estimate(items)?;
        laboratory.tracker.expect(total);
        Ok(laboratory)
    }
}

impl Laboratory {
    /// Whether runs of a preset are asked for.
    fn wants(&self, preset: Preset) -> bool {
        self.preset.is_none_or(|only| only == preset)
    }

    /// Says what the runs will take, and returns the seconds of all of them.
    fn estimate(&self, items: &[Item]) -> Result<f64> {
        let mut total = 0.0;
        let mut studies: Vec<Study> = Vec::new();
        for &item in items {
            let mut needs = match item {
                Item::Table(number @ 3..=6) => vec![Study::of_table(number)],
                Item::Figure(number) => figure::studies(number).to_vec(),
                Item::Table(_) => Vec::new(),
            };
            needs.retain(|study| !studies.contains(study));
            let mut cost = reference::ESTIMATE * needs.len() as f64;
            studies.extend(needs);
            match item {
                Item::Table(1) => cost += initializations::estimate(self),
                Item::Table(number) => {
                    for (_, run, run_cost) in table::plan(self, number)? {
                        cost += run_cost.seconds;
                        if run.preset == Preset::Paper {
                            self.say_estimate(item, &run, run_cost);
                        }
                    }
                }
                Item::Figure(_) => {}
            }
            self.tracker.say(&format!("{item}: about {}", rough_seconds(cost)));
            total += cost;
        }
        Ok(total)
    }

    /// Says what a run of the paper's preset will take, and whether it had to be reduced.
    fn say_estimate(&self, item: Item, run: &run::Run, cost: budget::Cost) {
        let reduced = run.instead_of.map_or(String::new(), |full| {
            let equation = ddelm::Equation::poisson();
            let needed = self.budget.cost(&equation, run.side, full, Initialization::Suggested);
            format!(
                ", reduced from {} neurons, which need about {} and {}",
                markdown::number((run.side * full).pow(2)),
                bytes(needed.bytes as u64),
                rough_seconds(needed.seconds)
            )
        });
        self.tracker.say(&format!(
            "{item} {0} x {0}: {1} neurons, about {2} and {3}{reduced}",
            run.side,
            markdown::number((run.side * run.points).pow(2)),
            bytes(cost.bytes as u64),
            rough_seconds(cost.seconds)
        ));
    }

    fn reproduce(&self, item: Item) -> Result<()> {
        match item {
            Item::Table(1) => initializations::reproduce(self),
            Item::Table(number) => table::reproduce(self, number),
            Item::Figure(number) => figure::reproduce(self, number),
        }
    }

    /// The references of a study; computed once.
    fn reference(&self, study: Study) -> Result<Rc<Reference>> {
        if let Some(reference) = self.references.borrow().get(&study) {
            return Ok(reference.clone());
        }
        let name = match study {
            Study::Coefficient(alpha) => format!("reference, coefficient {alpha}"),
            Study::Source(alpha) => format!("reference, source {alpha}"),
            Study::Poisson | Study::Plate => "reference".into(),
        };
        self.tracker.begin(&name, reference::ESTIMATE, None);
        let reference = Rc::new(Reference::compute(self, study)?);
        self.tracker.end(&format!("{name}: agrees to {}", error(reference.agreement.l2)));
        self.references.borrow_mut().insert(study, reference.clone());
        Ok(reference)
    }

    /// Writes the text of an item.
    fn write(&self, item: Item, text: &str) -> Result<()> {
        let path = self.output.join(format!("{item}.md"));
        atomic::write(path, |file| write!(file, "{}", page::section(item, text)))
    }
}

/// What there is, one line each.
fn list() -> String {
    let mut lines: String = ALL.iter().map(|item| format!("{:<10} {}\n", item.to_string(), item.title())).collect();
    lines.push_str("all        everything\n");
    lines
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
