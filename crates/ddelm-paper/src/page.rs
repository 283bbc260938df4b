//! The page: all tables and figures that are in the folder, with the machine and the command.

use std::fs;
use std::io::Write;
use std::path::Path;

use ddelm::Result;
use ddelm::base::atomic;

use super::item::{ALL, Item};

/// The page's name in the folder.
pub const NAME: &str = "reproduction.md";

/// The text of an item under its heading.
pub fn section(item: Item, text: &str) -> String {
    let name = match item {
        Item::Table(number) => format!("Table {number}"),
        Item::Figure(number) => format!("Figure {number}"),
    };
    format!("## {name}: {}\n\n{text}", item.title())
}

/// Writes the page from the items in the folder.
pub fn write(folder: &Path, command: &str, ranks: usize) -> Result<()> {
    let sections = ALL.iter().filter_map(|item| fs::read_to_string(folder.join(format!("{item}.md"))).ok());
    let sections: Vec<String> = sections.collect();
    let text = format!("{}\n{}", preface(command, ranks), sections.join("\n"));
    atomic::write(folder.join(NAME), |file| file.write_all(text.as_bytes()))
}

fn preface(command: &str, ranks: usize) -> String {
    format!(
        "# The tables and figures of the paper\n\n\
         Written by `{command}`, ddelm {}, on {}.\n\n\
         \"published\" is what the paper reports, on 64 cores (280 for 16 x 16). \"paper\" is the paper's method (`preset = \
         \"paper\"`), \"default\" is this program's (`preset = \"fast\"`). L2 and H1 are relative errors, time is that of \
         the solve. N is the number of subdomains, 1 x 1 one network for the whole domain. \"reduced\" marks runs with fewer \
         neurons and points than in the paper, where it would not fit into the memory or time allowed.\n",
        env!("CARGO_PKG_VERSION"),
        machine(ranks),
    )
}

/// The processor and memory of the first rank, where the system tells.
fn machine(ranks: usize) -> String {
    let field = |file: &str, name: &str| {
        let text = fs::read_to_string(file).ok()?;
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let threads = rayon::current_num_threads();
    let processor = field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.into());
    let memory = field("/proc/meminfo", "MemTotal").and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    let memory = memory.map_or(String::new(), |kib| format!(", {:.0} GB of memory", 1024.0 * kib / 1e9));
    let ranks = if ranks > 1 { format!("{ranks} ranks with ") } else { String::new() };
    format!("{ranks}{threads} threads of {processor}{memory}")
}
