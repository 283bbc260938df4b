//! The direct interface solve on several ranks.
//!
//! Every rank gives MUMPS the entries of its own elements, so that no rank ever has the whole matrix. The order of
//! elimination is the nested dissection of the embedded factorization, found on rank 0. Right-hand sides go to rank 0, and
//! each rank gets back the values of its own portion.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use faer::{Mat, MatMut};

use ddelm::interface::{Block, DirectFactor, Element, Exchange, Message, System, agreed, elimination_order};
use ddelm::{Error, Result};

use crate::mumps::{Entries, Mumps};

/// A factored interface system, spread over the ranks.
pub struct DistributedFactor {
    exchange: Arc<dyn Exchange>,
    mumps: Mutex<Mumps>,
    nonzeros: usize,
    unknowns: usize,
    /// The unknowns that this rank sends, as ranges of its portion.
    owned: Vec<Range<usize>>,
    /// On rank 0: their numbers in the system, for each rank,
    owned_by: Vec<Vec<usize>>,
    /// ... and those of the unknowns it needs.
    needed_by: Vec<Vec<usize>>,
}

impl DistributedFactor {
    /// Factors a system. All ranks find the same outcome. MUMPS cannot be stopped, so a request to stop is seen before.
    pub fn new(exchange: Arc<dyn Exchange>, system: &System<'_>) -> Result<Self> {
        if exchange.any(system.progress.interrupted()) {
            return Err(Error::Interrupted);
        }
        let portion = system.portion;
        let blocks = system.blocks();
        let unknowns = blocks.iter().map(|block| block.size).sum();
        let order = order(exchange.as_ref(), system, &blocks);
        let mut entries = entries(system, &blocks);
        let factor = Mumps::factor(unknowns, &mut entries, &order);
        drop(entries);
        let mumps = agreed(exchange.as_ref(), factor.and_then(|f| f.ok_or_else(singular)))?;
        let places = system.places();
        let gather =
            |numbers: &mut dyn Iterator<Item = usize>| gather_numbers(exchange.as_ref(), numbers.map(|u| places[u]));
        Ok(DistributedFactor {
            nonzeros: mumps.nonzeros(),
            mumps: Mutex::new(mumps),
            unknowns,
            owned: portion.owned().to_vec(),
            owned_by: gather(&mut portion.owned_in_whole()),
            needed_by: gather(&mut portion.unknowns_in_whole()),
            exchange,
        })
    }

    /// The right-hand sides of the whole interface on rank 0; nothing elsewhere.
    fn collect(&self, rhs: &MatMut<'_, f64>) -> Vec<f64> {
        let columns = rhs.ncols();
        let mine: Vec<f64> =
            (0..columns).flat_map(|k| self.owned.iter().cloned().flatten().map(move |i| rhs[(i, k)])).collect();
        let parts = self.exchange.gather(&mine);
        let mut whole = vec![0.0; if parts.is_empty() { 0 } else { self.unknowns * columns }];
        for (numbers, part) in self.owned_by.iter().zip(&parts).filter(|(numbers, _)| !numbers.is_empty()) {
            for (k, values) in part.chunks(numbers.len()).enumerate() {
                numbers.iter().zip(values).for_each(|(&i, &value)| whole[k * self.unknowns + i] = value);
            }
        }
        whole
    }

    /// Hands every rank the values it needs.
    fn distribute(&self, whole: &[f64], mut out: MatMut<'_, f64>) {
        let columns = out.ncols();
        let needed = |rank: usize| -> Vec<f64> {
            let numbers = &self.needed_by[rank];
            (0..columns).flat_map(|k| numbers.iter().map(move |&i| whole[k * self.unknowns + i])).collect()
        };
        let messages: Vec<Message> = match self.exchange.rank() {
            0 => (1..self.exchange.size()).map(|rank| Message { rank, values: needed(rank), answer: 0 }).collect(),
            _ => vec![Message { rank: 0, values: Vec::new(), answer: out.nrows() * columns }],
        };
        let mut answers = self.exchange.swap(&messages, &mut || ());
        let mine = if self.exchange.rank() == 0 { needed(0) } else { answers.swap_remove(0) };
        for (k, values) in mine.chunks(out.nrows().max(1)).enumerate() {
            out.as_mut().col_mut(k).iter_mut().zip(values).for_each(|(o, v)| *o = *v);
        }
    }
}

impl DirectFactor for DistributedFactor {
    fn solve(&self, rhs: MatMut<'_, f64>) -> Result<()> {
        let mut whole = self.collect(&rhs);
        let solved = match self.mumps.lock() {
            Ok(mut mumps) => mumps.solve(&mut whole, rhs.ncols()),
            Err(_) => Err(singular()),
        };
        self.exchange.agree(solved)?;
        self.distribute(&whole, rhs);
        Ok(())
    }

    fn nonzeros(&self) -> usize {
        self.nonzeros
    }
}

fn singular() -> Error {
    Error::Compute {
        stage: "interface",
        problem: "the interface system is numerically singular".into(),
        hint: "check that the problem has a unique solution, or try another seed".into(),
    }
}

/// Whole numbers of every rank on rank 0. Doubles hold them exactly.
fn gather_numbers(exchange: &dyn Exchange, numbers: impl Iterator<Item = usize>) -> Vec<Vec<usize>> {
    let parts = exchange.gather(&numbers.map(|n| n as f64).collect::<Vec<f64>>());
    parts.iter().map(|part| part.iter().map(|&n| n as usize).collect()).collect()
}

/// The position of every unknown in the order of elimination, on rank 0; nothing elsewhere.
fn order(exchange: &dyn Exchange, system: &System<'_>, blocks: &[Block]) -> Vec<usize> {
    let lists = system.elements().into_iter().map(|element| element.blocks);
    let flat = lists.flat_map(|blocks| std::iter::once(blocks.len()).chain(blocks));
    let parts = gather_numbers(exchange, flat);
    if parts.is_empty() {
        return Vec::new();
    }
    let mut elements: Vec<Element> = Vec::new();
    for part in &parts {
        let mut rest = &part[..];
        while let [count, after @ ..] = rest {
            let (blocks, next) = after.split_at(*count);
            elements.push(Element { blocks: blocks.to_vec(), kind: 0 });
            rest = next;
        }
    }
    let starts = starts(blocks);
    let mut position = vec![0; starts[blocks.len()]];
    let eliminated = elimination_order(blocks, &elements).into_iter().flat_map(|b| starts[b]..starts[b + 1]);
    eliminated.enumerate().for_each(|(k, unknown)| position[unknown] = k);
    position
}

/// The first unknown of every block, and their number.
fn starts(blocks: &[Block]) -> Vec<usize> {
    let ends = blocks.iter().scan(0, |end, block| {
        *end += block.size;
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

/// The entries of the elements of this rank. Those of overlapping elements are added up first, for MUMPS takes 16
/// bytes for each.
fn entries(system: &System<'_>, all: &[Block]) -> Entries {
    let first = starts(all);
    let mut sums: BTreeMap<(usize, usize), Mat<f64>> = BTreeMap::new();
    for (k, Element { blocks, .. }) in system.elements().iter().enumerate() {
        let shapes: Vec<Block> = blocks.iter().map(|&b| all[b]).collect();
        let starts = starts(&shapes);
        let dimension = starts[shapes.len()];
        let mut element = Mat::zeros(dimension, dimension);
        system.element(k, element.as_mut());
        for (j, &b) in blocks.iter().enumerate() {
            for (i, &a) in blocks.iter().enumerate() {
                let part = element.as_ref().submatrix(starts[i], starts[j], shapes[i].size, shapes[j].size);
                let sum = sums.entry((a, b)).or_insert_with(|| Mat::zeros(part.nrows(), part.ncols()));
                *sum += part;
            }
        }
    }
    let mut entries = Entries::default();
    while let Some(((row, column), sum)) = sums.pop_first() {
        for j in 0..sum.ncols() {
            for i in (0..sum.nrows()).filter(|&i| sum[(i, j)] != 0.0) {
                entries.push(first[row] + i, first[column] + j, sum[(i, j)]);
            }
        }
    }
    entries
}
