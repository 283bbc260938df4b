//! The portion of the interface that one rank holds, and what it shares with which other rank.
//!
//! A rank holds the unknowns and jumps that its subdomains touch. An edge between two ranks is on both of them, a
//! cross point on up to four. A *contribution* is what the subdomains of one rank add to an entry; the value of a
//! shared entry is the sum of the contributions of all its ranks, in the order of the ranks, so that all of them
//! find the same bits. All of this follows from the decomposition and the partition: no message is needed to set it
//! up.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use faer::{MatMut, MatRef};

use super::front::{Block, Element};
use super::fronts::Symbolic;
use super::message::Message;
use super::numbering::Numbering;
use super::partition::Partition;
use crate::domain::decomposition::Decomposition;

/// What a vector over the interface holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// Interface values.
    Unknowns,
    /// Jumps of the fluxes.
    Jumps,
}

/// What a rank holds of the interface.
#[derive(Debug)]
pub struct Portion {
    /// The rank.
    rank: usize,
    /// The numbers of the whole interface.
    pub whole: Numbering,
    /// The numbers of the unknowns and jumps on this rank.
    pub numbering: Numbering,
    /// The subdomains of this rank. The first ones share something with another rank.
    pub subdomains: Vec<usize>,
    /// How many subdomains share something with another rank.
    pub border: usize,
    /// The unknowns that this rank counts in inner products, as ranges.
    owned: Vec<Range<usize>>,
    /// Blocks of those.
    owned_blocks: Vec<usize>,
    /// The ranks with which this one shares something, in ascending order.
    neighbours: Vec<Neighbour>,
    /// The elimination of the last system on this interface.
    symbolic: Mutex<Option<Arc<Symbolic>>>,
}

/// What this rank shares with another.
#[derive(Debug, Clone, Default)]
struct Neighbour {
    rank: usize,
    unknowns: Vec<usize>,
    jumps: Vec<usize>,
}

impl Portion {
    /// What `rank` holds of an interface with the numbering `whole`.
    pub fn new(decomposition: &Decomposition, partition: &Partition, rank: usize, whole: Numbering) -> Self {
        let mine = partition.subdomains(rank);
        let numbering = whole.restricted_to(decomposition, &mine);
        // The ranks of every block that is on this one.
        let mut ranks_of: Vec<Vec<usize>> = vec![Vec::new(); whole.block_points.len()];
        for (s, subdomain) in decomposition.subdomains.iter().enumerate() {
            for block in whole.blocks_of(subdomain).into_iter().filter(|&b| numbering.block_size(b) > 0) {
                let ranks = &mut ranks_of[block];
                if let Err(place) = ranks.binary_search(&partition.rank_of(s)) {
                    ranks.insert(place, partition.rank_of(s));
                }
            }
        }
        let shares = |&s: &usize| {
            whole.blocks_of(&decomposition.subdomains[s]).into_iter().any(|block| ranks_of[block].len() > 1)
        };
        let (mut subdomains, inner): (Vec<usize>, Vec<usize>) = mine.into_iter().partition(shares);
        let border = subdomains.len();
        subdomains.extend(inner);
        let owned_blocks: Vec<usize> =
            (0..ranks_of.len()).filter(|&block| ranks_of[block].first() == Some(&rank)).collect();
        let mut portion = Portion {
            rank,
            owned: merged(owned_blocks.iter().map(|&b| numbering.blocks[b]..numbering.blocks[b + 1])),
            owned_blocks,
            whole,
            numbering,
            subdomains,
            border,
            neighbours: Vec::new(),
            symbolic: Mutex::default(),
        };
        portion.neighbours = portion.meet_neighbours(decomposition.edges.len(), &ranks_of);
        portion
    }

    /// The elimination of a system on this interface: that of the last one where blocks and elements are the same.
    pub fn symbolic(&self, blocks: Vec<Block>, elements: Vec<Element>) -> Arc<Symbolic> {
        let mut last = self.symbolic.lock().unwrap_or_else(PoisonError::into_inner);
        match last.as_ref().filter(|last| last.eliminates(&blocks, &elements)) {
            Some(same) => same.clone(),
            None => last.insert(Arc::new(Symbolic::new(&blocks, &elements))).clone(),
        }
    }

    /// The first blocks are those of the edges.
    fn meet_neighbours(&self, edges: usize, ranks_of: &[Vec<usize>]) -> Vec<Neighbour> {
        let mut neighbours: Vec<Neighbour> = Vec::new();
        for (block, ranks) in ranks_of.iter().enumerate() {
            for &other in ranks.iter().filter(|&&other| other != self.rank) {
                let place = neighbours.binary_search_by_key(&other, |n| n.rank).unwrap_or_else(|place| {
                    neighbours.insert(place, Neighbour { rank: other, ..Neighbour::default() });
                    place
                });
                let neighbour = &mut neighbours[place];
                neighbour.unknowns.extend(self.numbering.blocks[block]..self.numbering.blocks[block + 1]);
                if block < edges {
                    neighbour.jumps.extend(self.numbering.jumps[block]..self.numbering.jumps[block + 1]);
                }
            }
        }
        neighbours
    }

    /// Length of a vector on this rank.
    pub fn len(&self, over: Over) -> usize {
        match over {
            Over::Unknowns => self.numbering.unknowns(),
            Over::Jumps => self.numbering.jump_count(),
        }
    }

    /// The unknowns that this rank counts in inner products, as ranges. Every unknown is counted by one rank.
    pub fn owned(&self) -> &[Range<usize>] {
        &self.owned
    }

    /// Their numbers in the whole interface, in the same order.
    pub fn owned_in_whole(&self) -> impl Iterator<Item = usize> + '_ {
        self.owned_blocks.iter().flat_map(|&b| self.whole.blocks[b]..self.whole.blocks[b + 1])
    }

    /// The numbers of all unknowns of this rank in the whole interface.
    pub fn unknowns_in_whole(&self) -> impl Iterator<Item = usize> + '_ {
        let here = (0..self.whole.block_points.len()).filter(|&b| self.numbering.block_size(b) > 0);
        here.flat_map(|b| self.whole.blocks[b]..self.whole.blocks[b + 1])
    }

    /// The contributions of this rank to the shared entries, for those who share them.
    pub(super) fn messages(&self, over: Over, values: MatRef<'_, f64>) -> Vec<Message> {
        let message = |neighbour: &Neighbour| {
            let values = pick(neighbour.entries(over), values);
            Message { rank: neighbour.rank, answer: values.len(), values }
        };
        self.neighbours.iter().filter(|n| !n.entries(over).is_empty()).map(message).collect()
    }

    /// Replaces the contributions of this rank to the shared entries by the sums over the ranks. `answers` are what
    /// came back for [`Portion::messages`].
    pub(super) fn combine(&self, over: Over, answers: &[Vec<f64>], mut values: MatMut<'_, f64>) {
        let sharing: Vec<&Neighbour> = self.neighbours.iter().filter(|n| !n.entries(over).is_empty()).collect();
        let mut shared: Vec<usize> = sharing.iter().flat_map(|n| n.entries(over)).copied().collect();
        shared.sort_unstable();
        shared.dedup();
        let mine = pick(&shared, values.as_ref());
        for k in 0..values.ncols() {
            shared.iter().for_each(|&i| values[(i, k)] = 0.0);
        }
        let (before, after) = answers.split_at(sharing.partition_point(|n| n.rank < self.rank));
        let entries = |n: &&Neighbour| n.entries(over).to_vec();
        let (lower, higher) = sharing.split_at(before.len());
        lower.iter().zip(before).for_each(|(n, answer)| add(&entries(n), answer, values.as_mut()));
        add(&shared, &mine, values.as_mut());
        higher.iter().zip(after).for_each(|(n, answer)| add(&entries(n), answer, values.as_mut()));
    }
}

impl Neighbour {
    fn entries(&self, over: Over) -> &[usize] {
        match over {
            Over::Unknowns => &self.unknowns,
            Over::Jumps => &self.jumps,
        }
    }
}

/// Entries of a vector, column by column.
fn pick(entries: &[usize], values: MatRef<'_, f64>) -> Vec<f64> {
    values.col_iter().flat_map(|column| entries.iter().map(move |&i| column[i])).collect()
}

/// Adds to entries of a vector.
fn add(entries: &[usize], terms: &[f64], mut values: MatMut<'_, f64>) {
    for (k, terms) in terms.chunks(entries.len().max(1)).enumerate() {
        entries.iter().zip(terms).for_each(|(&i, term)| values[(i, k)] += term);
    }
}

/// Ranges with those that touch joined.
fn merged(ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match out.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => out.push(range),
        }
    }
    out
}
