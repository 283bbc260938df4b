//! What is computed on several threads, as if on one.

use rayon::prelude::*;

/// The results in order, or the first error in order. Rayon's own `collect` returns the error of whichever thread was first, and
/// with that a message that changes from run to run.
pub fn in_order<T: Send, E: Send>(results: impl IndexedParallelIterator<Item = Result<T, E>>) -> Result<Vec<T>, E> {
    let found: Vec<Result<T, E>> = results.collect();
    found.into_iter().collect()
}
