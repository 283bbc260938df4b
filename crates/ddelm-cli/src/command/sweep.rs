//! `ddelm sweep`: many values of one or several keys, as one table and one file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ddelm::Error;
use ddelm::base::atomic;
use ddelm::base::npz::{self, Array};
use ddelm::method::report::Status;
use ddelm::solve::sweep::{Input as Sampled, Row, Sampling, Stopped, sweep};

use super::Outcome;
use crate::Common;
use crate::diagnostic::Terminal;
use crate::failure::Failure;
use crate::listener::Listener;
use crate::problem::{Input, ProblemArguments};
use crate::stderr::{say, say_styled};
use crate::stdout;

/// Solves in one sweep, at most.
const MOST: usize = 1_000_000;

/// Arguments of `ddelm sweep`.
#[derive(Debug, clap::Args)]
pub struct Sweep {
    #[command(flatten)]
    problem: ProblemArguments,
    /// A key and its values: parameters.kappa=1:10:50 is 50 values from 1 to 10, fields.a.seed=1,2,5 a list. Several of them
    /// are combined, the last one varying fastest
    #[arg(long, required = true, value_name = "KEY=VALUES", value_parser = axis)]
    over: Vec<Axis>,
    /// Points of the grid on which u is written: 65 or 65x33
    #[arg(long, value_name = "N|NxM", default_value = "65", value_parser = grid)]
    grid: [usize; 2],
    /// Write the values, u on a grid, integrals, errors and estimates as arrays of NumPy
    #[arg(long, value_name = "FILE.npz")]
    out: Option<PathBuf>,
    /// Fields to write beside u, for learning: diffusion, reaction or source
    #[arg(long, value_name = "FIELD,...", value_delimiter = ',', value_parser = input, requires = "out")]
    inputs: Vec<Sampled>,
    /// Write the table into a file instead of standard output
    #[arg(long, value_name = "FILE.csv")]
    table: Option<PathBuf>,
}

/// A key and its values.
#[derive(Debug, Clone, PartialEq)]
struct Axis {
    key: String,
    values: Vec<f64>,
}

impl Sweep {
    /// Carries it out.
    pub fn run(&self, common: &Common, terminal: &Terminal) -> Result<Outcome, Failure> {
        let count = self.over.iter().try_fold(1usize, |count, axis| count.checked_mul(axis.values.len()));
        let Some(count) = count.filter(|count| *count <= MOST) else {
            let problem = format!("there can be at most {MOST} solves");
            return Err(Error::input("--over", "the product of all values", problem, "take fewer values").into());
        };
        // The file alone first, where a mistake is its own.
        let input = self.problem.read()?;
        for path in self.out.iter().chain(&self.table) {
            atomic::check(path)?;
        }
        let [x, y] = self.axes(&input);
        let sampling = self.sampling(&x, &y);
        let listener = Listener::new(common, terminal);
        let rows = sweep(count, |index| self.file(&input, index).case(), &sampling, &listener);
        listener.finish();
        let rows = rows.map_err(|Stopped { index, error }| {
            if !matches!(error, Error::Interrupted) {
                say(format!("solve {} of {count}: {}", index + 1, self.settings(index).join(", ")));
            }
            Failure::in_file(error, &input.path, self.file(&input, index))
        })?;
        // Files first: they are there even if nobody reads the table.
        if let Some(path) = &self.out {
            let arrays = self.arrays(&rows, x, y);
            let named: Vec<(&str, Array)> = arrays.iter().map(|(name, array)| (name.as_str(), array.clone())).collect();
            npz::write(path, &named)?;
        }
        let table = self.csv(&rows);
        match &self.table {
            Some(path) => atomic::write(path, |file| std::io::Write::write_all(file, table.as_bytes()))?,
            None => stdout::print(&table)?,
        }
        for path in self.out.iter().chain(&self.table).filter(|_| !common.quiet) {
            say(format!("wrote {}", path.display()));
        }
        for warning in self.warnings(&rows) {
            say_styled(terminal.warning(&warning));
        }
        let solved = rows.iter().all(|row| row.report.status == Status::Solved);
        Ok(if solved { Outcome::Done } else { Outcome::NotReached })
    }

    /// What the solves warn of, and which keys have changed nothing.
    fn warnings(&self, rows: &[Row]) -> Vec<String> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        rows.iter().flat_map(|row| &row.report.warnings).for_each(|warning| *counts.entry(warning).or_default() += 1);
        let warning = |(text, count): (&str, usize)| format!("{text} ({count} of {} solves)", rows.len());
        let mut warnings: Vec<String> = counts.into_iter().map(warning).collect();
        // Whatever enters a solve is seen in the last digits of its solution or of its residual.
        let found = |row: &Row| {
            let u: Vec<u64> = row.u.iter().map(|u| u.to_bits()).collect();
            (u, row.report.residual.to_bits(), row.report.status)
        };
        for (k, axis) in self.over.iter().enumerate().filter(|(_, axis)| axis.values.len() > 1) {
            let others: usize = self.over[k + 1..].iter().map(|axis| axis.values.len()).product();
            let first = |index: usize| index - (index / others % axis.values.len()) * others;
            if (0..rows.len()).all(|index| found(&rows[index]) == found(&rows[first(index)])) {
                warnings.push(format!("{} changes nothing: is it the name of what should vary?", axis.key));
            }
        }
        warnings
    }

    /// The value of every key in a solve.
    fn values(&self, index: usize) -> Vec<f64> {
        let mut rest = index;
        let mut values: Vec<f64> = Vec::with_capacity(self.over.len());
        for axis in self.over.iter().rev() {
            values.push(axis.values[rest % axis.values.len()]);
            rest /= axis.values.len();
        }
        values.reverse();
        values
    }

    fn settings(&self, index: usize) -> Vec<String> {
        self.over
            .iter()
            .zip(self.values(index))
            .map(|(axis, value)| format!("{}={}", axis.key, number(value)))
            .collect()
    }

    /// The problem file of a solve.
    fn file(&self, input: &Input, index: usize) -> ddelm::ProblemFile {
        self.settings(index).into_iter().fold(input.file.clone(), ddelm::ProblemFile::set)
    }

    /// The coordinates of the grid, on the box around the domain.
    fn axes(&self, input: &Input) -> [Vec<f64>; 2] {
        let [x0, x1, y0, y1] = input.case.domain.bounding_box();
        [(x0, x1, self.grid[0]), (y0, y1, self.grid[1])].map(|(from, to, count)| spaced(from, to, count))
    }

    fn sampling(&self, x: &[f64], y: &[f64]) -> Sampling {
        if self.out.is_none() {
            // Some points tell whether a key changes anything.
            let at = |axis: &[f64], shares: [f64; 3]| {
                let (from, to) = (axis[0], axis[axis.len() - 1]);
                shares.map(|share| from + share * (to - from)).to_vec()
            };
            return Sampling { x: at(x, [0.37, 0.61, 0.23]), y: at(y, [0.41, 0.29, 0.67]), inputs: Vec::new() };
        }
        let points = || x.iter().flat_map(|&x| y.iter().map(move |&y| (x, y)));
        let (x, y) = points().unzip();
        Sampling { x, y, inputs: self.inputs.clone() }
    }

    /// What the file holds, under its names.
    fn arrays(&self, rows: &[Row], x: Vec<f64>, y: Vec<f64>) -> Vec<(String, Array)> {
        let vector = |value: &dyn Fn(&Row) -> f64| Array::vector(rows.iter().map(value).collect());
        let shape = vec![rows.len(), x.len(), y.len()];
        let field = |of: &dyn Fn(&Row) -> &[f64]| Array {
            shape: shape.clone(),
            data: rows.iter().flat_map(|row| of(row).iter().copied()).collect(),
        };
        let mut arrays: Vec<(String, Array)> = (0..self.over.len())
            .map(|k| {
                let values = (0..rows.len()).map(|index| self.values(index)[k]).collect();
                (self.over[k].key.clone(), Array::vector(values))
            })
            .collect();
        arrays.push(("u".into(), field(&|row| &row.u)));
        for (k, input) in self.inputs.iter().enumerate() {
            arrays.push((input.name().into(), field(&|row| &row.inputs[k])));
        }
        for name in integrals(rows) {
            let value = |row: &Row| row.report.integrals.get(&name).copied().unwrap_or(f64::NAN);
            arrays.push((format!("integrals.{name}"), vector(&value)));
        }
        for (name, of) in MEASURES {
            if rows.iter().any(|row| of(row).is_some()) {
                arrays.push((name.into(), vector(&|row| of(row).unwrap_or(f64::NAN))));
            }
        }
        arrays.push(("solved".into(), vector(&|row| f64::from(u8::from(row.report.status == Status::Solved)))));
        arrays.push(("x".into(), Array::vector(x)));
        arrays.push(("y".into(), Array::vector(y)));
        arrays
    }

    /// The table as comma-separated values.
    fn csv(&self, rows: &[Row]) -> String {
        let names = integrals(rows);
        let measures: Vec<_> = MEASURES.iter().filter(|(_, of)| rows.iter().any(|row| of(row).is_some())).collect();
        let mut header: Vec<String> = self.over.iter().map(|axis| axis.key.clone()).collect();
        header.push("status".into());
        header.extend(measures.iter().map(|(name, _)| name.to_string()));
        header.extend(names.iter().cloned());
        header.push("seconds".into());
        let mut out = header.join(",") + "\n";
        for (index, row) in rows.iter().enumerate() {
            let mut cells: Vec<String> = self.values(index).into_iter().map(number).collect();
            cells.push(status(row.report.status));
            cells.extend(measures.iter().map(|(_, of)| of(row).map_or(String::new(), |value| format!("{value:.3e}"))));
            cells.extend(
                names.iter().map(|name| row.report.integrals.get(name).map_or(String::new(), |v| format!("{v:?}"))),
            );
            cells.push(format!("{:.4}", row.report.seconds.total));
            out += &(cells.join(",") + "\n");
        }
        out
    }
}

/// A figure that a report may have, and its name.
type Measure = (&'static str, fn(&Row) -> Option<f64>);

const MEASURES: [Measure; 2] = [
    ("error", |row| row.report.errors.as_ref().map(|errors| errors.l2)),
    ("estimate", |row| row.report.estimate.as_ref().map(|estimate| estimate.l2)),
];

/// The names of the integrals, of which all rows have the same.
fn integrals(rows: &[Row]) -> Vec<String> {
    rows.first().map(|row| row.report.integrals.keys().cloned().collect()).unwrap_or_default()
}

/// The status as reports have it.
fn status(status: Status) -> String {
    let word = serde_json::to_value(status).expect("a status is a word");
    word.as_str().expect("a status is a word").to_string()
}

/// A number as files have it: whole ones without a point, for counts and seeds.
fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { format!("{value:.0}") } else { format!("{value:?}") }
}

/// So many numbers from one to another, both included.
fn spaced(from: f64, to: f64, count: usize) -> Vec<f64> {
    let last = count.saturating_sub(1).max(1) as f64;
    (0..count).map(|k| if k > 0 && k + 1 == count { to } else { from + (to - from) * k as f64 / last }).collect()
}

/// Reads `kappa=1:10:50` or `kappa=1,2,5`.
fn axis(text: &str) -> Result<Axis, String> {
    let wanted = "expected KEY=FROM:TO:COUNT as in parameters.kappa=1:10:50, or KEY=VALUE,VALUE,...";
    let (key, values) = text.split_once('=').ok_or(wanted)?;
    let key = key.trim();
    if key.is_empty() {
        return Err(wanted.into());
    }
    let finite = |part: &str| part.trim().parse::<f64>().ok().filter(|value| value.is_finite()).ok_or(wanted);
    let values: Vec<f64> = match values.split(':').collect::<Vec<_>>()[..] {
        [from, to, count] => {
            let count = count.trim().parse::<usize>().map_err(|_| wanted)?;
            if !(2..=MOST).contains(&count) {
                return Err(format!("a range has 2 to {MOST} values"));
            }
            spaced(finite(from)?, finite(to)?, count)
        }
        [list] => list.split(',').map(finite).collect::<Result<_, _>>()?,
        _ => return Err(wanted.into()),
    };
    Ok(Axis { key: key.into(), values })
}

/// Reads `65` or `65x33`.
fn grid(text: &str) -> Result<[usize; 2], String> {
    let (nx, ny) = text.split_once('x').unwrap_or((text, text));
    let count = |part: &str| part.trim().parse::<usize>().ok().filter(|n| (2..=4097).contains(n));
    match (count(nx), count(ny)) {
        (Some(nx), Some(ny)) => Ok([nx, ny]),
        _ => Err("expected a number from 2 to 4097, or two as in 65x33".into()),
    }
}

/// Reads the name of a field.
fn input(text: &str) -> Result<Sampled, String> {
    let known = Sampled::ALL.into_iter().find(|input| input.name() == text.trim());
    known.ok_or_else(|| "expected diffusion, reaction or source".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_a_range_or_a_list() {
        let values = |text: &str| axis(text).unwrap().values;
        assert_eq!(values("parameters.k=1:2:5"), [1.0, 1.25, 1.5, 1.75, 2.0]);
        assert_eq!(values("seed = 3,1,2"), [3.0, 1.0, 2.0]);
        assert_eq!(values("seed=0:9:10").into_iter().map(number).collect::<String>(), "0123456789");
        for bad in ["k", "=1", "k=", "k=1:2", "k=1:2:1", "k=1:2:x", "k=1,,2", "k=1:2:3:4", "k=inf"] {
            assert!(axis(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn grids_have_two_counts() {
        assert_eq!((grid("65"), grid("9x5")), (Ok([65, 65]), Ok([9, 5])));
        assert!(["", "1", "9x", "x", "5000"].iter().all(|bad| grid(bad).is_err()));
    }
}
