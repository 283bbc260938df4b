//! Mutations that are the same on every machine: bytes changed, put in, taken out and repeated, pieces of two inputs put
//! together, and words that mean something to the readers.

use std::fs;
use std::path::{Path, PathBuf};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Bytes of the longest mutation.
const LONGEST: usize = 1 << 14;

/// Words and numbers that are worth a try.
const WORDS: &[&str] = &[
    "0",
    "-1",
    "1e308",
    "1e-308",
    "nan",
    "inf",
    "18446744073709551615",
    "9223372036854775807",
    "-9223372036854775808",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "'",
    "\"\"\"",
    "=",
    ".",
    ",",
    "\n",
    "\0",
    "\u{1b}[31m",
    "\u{feff}",
    "\u{3c0}",
    "^",
    "**",
    "sin(",
    "x",
    "y",
    "[fields]\n",
    "g = { alpha = 4, modes = 9 }\n",
    "points = ",
    "subdomains = [",
    "domain.x=",
    "network.seed=",
    "True",
    "(3, 0)",
    "'shape': (",
    "'descr': '<i2'",
    "\"shape\":[",
    "99999999999,0]",
    "\"data_offsets\":[0,",
    "PK\u{3}\u{4}",
    "PK\u{1}\u{2}",
    "PK\u{5}\u{6}",
];

/// A source of mutations of some inputs.
pub struct Mutations {
    corpus: Vec<Vec<u8>>,
    rng: ChaCha8Rng,
}

impl Mutations {
    /// Mutations of these inputs; there is always the empty one.
    pub fn new(corpus: Vec<Vec<u8>>, seed: u64) -> Self {
        let corpus = if corpus.is_empty() { vec![Vec::new()] } else { corpus };
        Mutations { corpus, rng: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// A number below `end`, which is at least 1.
    fn below(&mut self, end: usize) -> usize {
        (self.rng.next_u64() % end as u64) as usize
    }

    /// The next input.
    pub fn next_input(&mut self) -> Vec<u8> {
        let chosen = self.below(self.corpus.len());
        let mut input = self.corpus[chosen].clone();
        for _ in 0..1 + self.below(6) {
            self.change(&mut input);
        }
        input.truncate(LONGEST.max(self.corpus[chosen].len()));
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.below(input.len() + 1);
        let end = (at + 1 + self.below(16)).min(input.len());
        match self.below(9) {
            0 if at < input.len() => input[at] ^= 1 << self.below(8),
            1 if at < input.len() => input[at] = self.rng.next_u64() as u8,
            2 => drop(input.drain(at.min(end)..end)),
            3 => {
                let piece = input[at.min(end)..end].repeat(1 + self.below(40));
                input.splice(at..at, piece);
            }
            4 => {
                let other = self.below(self.corpus.len());
                let from = self.below(self.corpus[other].len() + 1);
                input.truncate(at);
                input.extend_from_slice(&self.corpus[other][from..]);
            }
            5 if at + 8 <= input.len() => {
                // Lengths and counts of the binary formats.
                let value = [0, 1, u64::MAX, u64::from(u32::MAX), 1 << 33][self.below(5)];
                input[at..at + 8].copy_from_slice(&value.to_le_bytes());
            }
            6 => {
                // A number in a text.
                if let Some(digit) = input[at.min(input.len())..].iter().position(u8::is_ascii_digit) {
                    let word = WORDS[self.below(9)];
                    input.splice(at + digit..at + digit + 1, word.bytes());
                }
            }
            _ => {
                let word = WORDS[self.below(WORDS.len())];
                input.splice(at..at, word.bytes());
            }
        }
    }
}

/// The folder with the corpus of a target.
pub fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target)
}

/// The inputs of a target that are kept, in the order of their names.
pub fn corpus(target: &str) -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder(target)).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths.iter().filter_map(|path| fs::read(path).ok()).collect()
}
