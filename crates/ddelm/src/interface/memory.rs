//! Memory of the interface factorization.
//!
//! The factor and the updates of two levels are the largest arrays there are, and are written once. The system hands out fresh memory by
//! pages of four kilobytes as a rule, each at the price of several thousand operations: for 16 x 16 subdomains that
//! is as much as a third of the factorization. Large arrays ask for large pages; a system that has none ignores it.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

use memmap2::MmapMut;

/// Arrays of fewer numbers than this come from the allocator.
const LARGE: usize = 1 << 19;

/// Numbers that are zero at first.
#[derive(Debug)]
pub(super) enum Memory {
    Small(Vec<f64>),
    Large(MmapMut),
}

impl Memory {
    /// So many zeros.
    pub fn zeros(count: usize) -> Self {
        if count >= LARGE
            && let Ok(pages) = MmapMut::map_anon(count * size_of::<f64>())
        {
            // A system that refuses gives small pages.
            #[cfg(target_os = "linux")]
            let _ = pages.advise(memmap2::Advice::HugePage);
            return Memory::Large(pages);
        }
        Memory::Small(vec![0.0; count])
    }
}

/// Memory that one factorization has given back, for the next of the same size: its pages are there already.
#[derive(Debug, Default)]
pub(super) struct Spare(Mutex<Option<Memory>>);

impl Spare {
    /// Memory for so many numbers. What is in it is not said.
    pub fn take(&self, count: usize) -> Memory {
        let spare = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        spare.filter(|memory| memory.len() == count).unwrap_or_else(|| Memory::zeros(count))
    }

    /// Gives memory back.
    pub fn give(&self, memory: Memory) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(memory);
    }
}

impl Deref for Memory {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        match self {
            Memory::Small(numbers) => numbers,
            Memory::Large(pages) => bytemuck::cast_slice(pages),
        }
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut [f64] {
        match self {
            Memory::Small(numbers) => numbers,
            Memory::Large(pages) => bytemuck::cast_slice_mut(pages),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_is_taken_where_it_fits() {
        let spare = Spare::default();
        let mut memory = spare.take(10);
        memory.fill(3.0);
        spare.give(memory);
        assert_eq!(spare.take(10)[..], [3.0; 10]);
        assert_eq!(spare.take(10)[..], [0.0; 10]);
        spare.give(Memory::zeros(9));
        assert_eq!(spare.take(10).len(), 10);
    }

    #[test]
    fn every_size_is_zero_and_can_be_written() {
        for count in [0, 1, 1000, LARGE - 1, LARGE, LARGE + 1] {
            let mut memory = Memory::zeros(count);
            assert_eq!(memory.len(), count);
            assert!(memory.iter().all(|&x| x == 0.0));
            memory.fill(3.0);
            assert!(memory.iter().all(|&x| x == 3.0));
            assert_eq!(matches!(memory, Memory::Large(_)), count >= LARGE);
        }
    }
}
