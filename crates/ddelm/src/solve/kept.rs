//! Factors of one solve that the next one finds again: where subdomains are split round by round, most of them stay as they are.
//!
//! Those of one round are kept, of subdomains that share them with few others: what many share is made once anyway.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use faer::Mat;

use crate::base::error::Result;
use crate::local::basis::ReferenceBasis;
use crate::local::local_factor::{LocalData, LocalFactor};
use crate::local::rows::LocalRows;

/// All that a factor and its data are made from.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    pub basis: Arc<ReferenceBasis>,
    pub rows: Arc<LocalRows>,
    /// F of each subdomain.
    pub f: Vec<Mat<f64>>,
    /// The perimeter rows that hold interface values, and the flux rows that are needed.
    pub chosen: [Vec<usize>; 2],
}

impl Origin {
    /// Whether what is made from both has the same bits.
    fn is_same(&self, other: &Origin) -> bool {
        self.f == other.f
            && self.chosen == other.chosen
            && self.rows.is_same(&other.rows)
            && self.basis.rank == other.basis.rank
            && self.basis.network == other.basis.network
    }
}

#[derive(Debug)]
struct Entry {
    origin: Origin,
    factor: Arc<LocalFactor>,
    data: Vec<LocalData>,
}

type Entries = HashMap<u64, Vec<Arc<Entry>>>;

/// The factors of the last solve, and those of the one that is under way.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    entries: Mutex<[Entries; 2]>,
}

impl Kept {
    fn entries(&self) -> MutexGuard<'_, [Entries; 2]> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A solve begins: what the one before the last has left is forgotten.
    pub fn turn(&self) {
        let mut entries = self.entries();
        entries.swap(0, 1);
        entries[1].clear();
    }

    /// Forgets everything.
    pub fn clear(&self) {
        *self.entries() = Default::default();
    }

    /// What was made from this in the last solve.
    fn find(&self, hash: u64, origin: &Origin) -> Option<Arc<Entry>> {
        let candidates = self.entries()[0].get(&hash).cloned().unwrap_or_default();
        candidates.into_iter().find(|entry| entry.origin.is_same(origin))
    }
}

/// A factor, its data, and whether both are those of the last solve, if that may have left some; else they are made, and kept for the next one.
pub(crate) fn found_or(
    origin: Option<(&Kept, Origin)>,
    make: impl FnOnce() -> Result<(LocalFactor, Vec<LocalData>)>,
) -> Result<(Arc<LocalFactor>, Vec<LocalData>, bool)> {
    let Some((kept, origin)) = origin else {
        let (factor, data) = make()?;
        return Ok((Arc::new(factor), data, false));
    };
    let hash = origin.rows.hash();
    let (entry, found) = match kept.find(hash, &origin) {
        Some(entry) => (entry, true),
        None => {
            let (factor, data) = make()?;
            (Arc::new(Entry { origin, factor: Arc::new(factor), data }), false)
        }
    };
    kept.entries()[1].entry(hash).or_default().push(entry.clone());
    Ok((entry.factor.clone(), entry.data.clone(), found))
}
