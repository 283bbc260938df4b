//! The tables and figures of the paper, side by side with what the paper reports: what `ddelm reproduce` does.
//!
//! A [`Laboratory`] has the runs of a few [items](Item) to do within a budget of memory and time. Whoever calls it shows where they
//! are ([`Tracker`]); on a parallel machine the first rank leads a [`Crew`], and the others [assist].

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

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::rc::Rc;

use ddelm::Result;
use ddelm::base::amount::bytes;
use ddelm::base::atomic;
use ddelm::base::number::{error, rough_seconds};
use ddelm::base::progress::Progress;
use ddelm::method::settings::Preset;
use ddelm::network::features::Initialization;

pub use crew::{Crew, assist};
pub use item::{ALL, Item};
pub use study::Realizations;

use budget::Budget;
use reference::Reference;
use study::Study;

/// Who follows the runs, and stops those that take too long.
pub trait Tracker: Progress {
    /// All runs together are estimated to take so many seconds.
    fn expect(&self, total: f64);
    /// A run begins. One that takes longer than the limit is to be stopped.
    fn run_begins(&self, name: &str, estimate: f64, limit: Option<f64>);
    /// The current run has ended; a line says how.
    fn run_ends(&self, line: &str);
    /// Something to tell.
    fn say(&self, line: &str);
    /// Whether all of it is to stop.
    fn stopped(&self) -> bool;
}

/// What is to be done, and what that may take.
pub struct Order {
    /// The folder for the page, the tables and the pictures.
    pub output: PathBuf,
    /// Bytes of memory that one solve may take.
    pub memory: f64,
    /// Seconds that one solve may take.
    pub seconds: f64,
    /// Where the random fields come from.
    pub realizations: Realizations,
    /// The seed of the weights.
    pub seed: u64,
    /// The only preset to run, if not both.
    pub preset: Option<Preset>,
}

/// What all tables share.
pub struct Laboratory<'a> {
    output: PathBuf,
    budget: Budget,
    realizations: Realizations,
    seed: u64,
    preset: Option<Preset>,
    tracker: &'a dyn Tracker,
    crew: Crew,
    /// References that were computed; several tables and figures use the same.
    references: RefCell<HashMap<Study, Rc<Reference>>>,
}

impl<'a> Laboratory<'a> {
    /// Measures the speed of the machine, and says what the items will take.
    pub fn new(order: Order, crew: Crew, tracker: &'a dyn Tracker, items: &[Item]) -> Result<Self> {
        let Order { output, memory, seconds, realizations, seed, preset } = order;
        let budget = Budget::measure(memory, seconds, crew.ranks())?;
        let references = RefCell::default();
        let laboratory = Laboratory { output, budget, realizations, seed, preset, tracker, crew, references };
        tracker.expect(laboratory.estimate(items)?);
        Ok(laboratory)
    }

    /// Reproduces the items one after the other, writes the page after each of them, and returns where it is. `command` is how the program
    /// was called.
    pub fn reproduce(&self, items: &[Item], command: &str) -> Result<PathBuf> {
        std::fs::create_dir_all(&self.output).map_err(|error| atomic::failure(&self.output, &error))?;
        for &item in items {
            let outcome = self.one(item);
            // Also what Ctrl-C leaves of it.
            page::write(&self.output, command, self.crew.ranks())?;
            outcome?;
        }
        Ok(self.output.join(page::NAME))
    }
}

impl Laboratory<'_> {
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

    fn one(&self, item: Item) -> Result<()> {
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
        self.tracker.run_begins(&name, reference::ESTIMATE, None);
        let reference = Rc::new(Reference::compute(self, study)?);
        self.tracker.run_ends(&format!("{name}: agrees to {}", error(reference.agreement.l2)));
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
pub fn list() -> String {
    let mut lines: String = ALL.iter().map(|item| format!("{:<10} {}\n", item.to_string(), item.title())).collect();
    lines.push_str("all        everything\n");
    lines
}
