//! Matrices for the tests of the factorizations.

use faer::{Mat, MatRef};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::multiply;

/// Entries uniform in [-1, 1].
pub(super) fn random(m: usize, n: usize, seed: u64) -> Mat<f64> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    Mat::from_fn(m, n, |_, _| (generator.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0)
}

/// tanh(w.(x - xi)) at a uniform grid of `side` x `side` points: weights uniform in [-c, c]^2, xi in the unit square
/// enlarged by one half on each side. The columns are numerically dependent.
pub(super) fn tanh_features(side: usize, neurons: usize, c: f64, seed: u64) -> Mat<f64> {
    let (weights, centres) = (random(neurons, 2, seed), random(neurons, 2, seed + 1));
    Mat::from_fn(side * side, neurons, |i, j| {
        let point = [i % side, i / side].map(|k| k as f64 / (side - 1) as f64);
        (0..2).map(|d| c * weights[(j, d)] * (point[d] - 0.5 - centres[(j, d)])).sum::<f64>().tanh()
    })
}

pub(super) fn identity(n: usize) -> Mat<f64> {
    Mat::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.0 })
}

pub(super) fn product(a: &Mat<f64>, b: &Mat<f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    multiply(out.as_mut(), a.as_ref(), b.as_ref());
    out
}

/// The columns of `k` with these numbers.
pub(super) fn selected(k: &Mat<f64>, columns: &[usize]) -> Mat<f64> {
    Mat::from_fn(k.nrows(), columns.len(), |i, j| k[(i, columns[j])])
}

/// The largest difference between two entries; not a number if there is one among them.
pub(super) fn distance(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    assert_eq!(a.shape(), b.shape());
    entries(a.as_ref())
        .zip(entries(b.as_ref()))
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, |largest, x| if x > largest || x.is_nan() { x } else { largest })
}

fn entries(a: MatRef<'_, f64>) -> impl Iterator<Item = &f64> {
    a.col_iter().flat_map(|column| column.iter())
}
