//! Matrices for a while: one subdomain after the other asks for the same sizes, and zeros in memory that is not in the cache cost
//! as much as some of the products.

use std::cell::RefCell;
use std::mem::replace;
use std::ops::{Deref, DerefMut};

use faer::Mat;

/// Matrices that a thread keeps, at most.
const KEPT: usize = 8;

thread_local! {
    static SPARE: RefCell<Vec<Mat<f64>>> = const { RefCell::new(Vec::new()) };
}

/// A matrix that its thread uses again once it is dropped.
#[derive(Clone, Debug)]
pub struct Scratch(Mat<f64>);

impl Scratch {
    /// A matrix of this size, with whatever entries: zeros, or those of an earlier one.
    pub fn new(rows: usize, columns: usize) -> Self {
        let fits = |spare: &Mat<f64>| (spare.nrows(), spare.ncols()) == (rows, columns);
        let found = SPARE.with_borrow_mut(|spare| spare.iter().position(fits).map(|k| spare.swap_remove(k)));
        Scratch(found.unwrap_or_else(|| Mat::zeros(rows, columns)))
    }

    /// The matrix, to be kept.
    pub fn into_inner(mut self) -> Mat<f64> {
        replace(&mut self.0, Mat::new())
    }
}

impl From<Mat<f64>> for Scratch {
    fn from(matrix: Mat<f64>) -> Self {
        Scratch(matrix)
    }
}

impl Deref for Scratch {
    type Target = Mat<f64>;

    fn deref(&self) -> &Mat<f64> {
        &self.0
    }
}

impl DerefMut for Scratch {
    fn deref_mut(&mut self) -> &mut Mat<f64> {
        &mut self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let matrix = replace(&mut self.0, Mat::new());
        if matrix.nrows() * matrix.ncols() > 0 {
            // A thread that ends has nothing to keep.
            let _ = SPARE.try_with(|spare| {
                let mut spare = spare.borrow_mut();
                if spare.len() == KEPT {
                    spare.remove(0);
                }
                spare.push(matrix);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_for_the_same_size() {
        let mut first = Scratch::new(7, 3);
        first[(6, 2)] = 5.0;
        let place = first.col_as_slice(0).as_ptr();
        drop(first);
        assert_ne!(Scratch::new(3, 7).col_as_slice(0).as_ptr(), place);
        let second = Scratch::new(7, 3);
        assert_eq!((second.col_as_slice(0).as_ptr(), second[(6, 2)]), (place, 5.0));
        assert_eq!(second.into_inner().ncols(), 3);
        (0..2 * KEPT).for_each(|k| drop(Scratch::new(k + 1, 2)));
        assert_eq!(SPARE.with_borrow(Vec::len), KEPT);
    }
}
