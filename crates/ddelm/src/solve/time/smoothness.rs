//! How smooth a solution is in time, as its steps tell.
//!
//! Extrapolated from the last steps, the next one is missed by `dt^p u^(p)`, or by `dt` times the jump of a source that jumps. So the largest
//! miss of a run with twice as many steps is `2^p` times smaller, or twice: that is the order that errors have. Differences of runs alone
//! do not tell it. Where a jump lies between two steps, the error depends on its place there, and two runs may agree by chance.

use faer::Mat;

use crate::solve::nodal::Loads;
use crate::solve::time::bdf::{Formula, Known};

/// The part of the way that is not looked at: what starts with initial values that do not fit is damped there, and the first
/// values have a method of their own.
const BEGINNING: f64 = 0.125;

/// About so many nodes are asked: all of them took a twentieth of a step.
const ASKED: usize = 2000;

/// A miss below this, relative to the solution, is rounding.
const ROUNDING: f64 = 1e-11;

/// The least order that is believed: with less, nothing would ever be near.
const LEAST: f64 = 0.5;

/// An order that is observed may be this much too low by chance.
const BY_CHANCE: f64 = 0.5;

/// The misses of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Smoothness {
    /// The time from which on it is looked at.
    from: f64,
    steps: usize,
    /// The square of the largest miss, and of the largest solution.
    miss: f64,
    size: f64,
}

impl Smoothness {
    /// Of a run from one time to another with so many steps.
    pub fn new([start, end]: [f64; 2], steps: usize) -> Self {
        Smoothness { from: start + BEGINNING * (end - start), steps, miss: 0.0, size: 0.0 }
    }

    /// Looks at the next step. `past` are the ones before it, the last one first.
    pub fn look<'a>(&mut self, formula: &Formula, past: impl Iterator<Item = &'a Known>, next: &Known) {
        if next.t < self.from {
            return;
        }
        let past: Vec<&Loads> = past.take(formula.extrapolation.len()).map(|known| &known.u).collect();
        let every = (next.u.iter().map(Mat::nrows).sum::<usize>() / ASKED).max(1);
        let (mut miss, mut size) = (0.0, 0.0);
        for (k, load) in next.u.iter().enumerate() {
            // The last entry is an integral.
            let nodes = load.nrows() - 1;
            for i in (k % every..nodes).step_by(every) {
                let ahead: f64 = past.iter().zip(formula.extrapolation).map(|(u, e)| e * u[k][(i, 0)]).sum();
                let u = load[(i, 0)];
                miss += (u - ahead) * (u - ahead);
                size += u * u;
            }
        }
        self.miss = self.miss.max(miss);
        self.size = self.size.max(size);
    }

    /// The order of the error, as this run and a finer one tell: no more than that of the formula.
    pub fn order(&self, finer: &Smoothness, formula: usize) -> f64 {
        let relative = |run: &Smoothness| if run.size > 0.0 { (run.miss / run.size).sqrt() } else { 0.0 };
        let (coarse, fine) = (relative(self), relative(finer));
        if fine <= ROUNDING {
            return formula as f64;
        }
        let order = (coarse / fine).ln() / (finer.steps as f64 / self.steps as f64).ln();
        if order > formula as f64 - BY_CHANCE { formula as f64 } else { order.max(1.0) }
    }
}

/// The order with which three runs with so many steps approach each other, given their distances: no more than that of the formula.
pub(super) fn observed([n0, n1, n2]: [usize; 3], [first, second]: [f64; 2], formula: usize) -> f64 {
    let power = |n: usize, order: f64| (n as f64 / n0 as f64).powf(-order);
    let ratio = |order: f64| (1.0 - power(n1, order)) / (power(n1, order) - power(n2, order));
    let (mut low, mut high) = (LEAST, formula as f64);
    if second == 0.0 || ratio(high - BY_CHANCE) <= first / second {
        return high;
    }
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        *(if ratio(middle) <= first / second { &mut low } else { &mut high }) = middle;
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_of_three_runs_tell_their_order() {
        let steps = [20, 37, 300];
        for order in [1.0, 2.0, 3.0] {
            let [a, b, c] = steps.map(|n| (n as f64).powf(-order));
            assert!((observed(steps, [a - b, b - c], 4) - order).abs() < 1e-6);
        }
        assert_eq!((observed(steps, [1.0, 1e-9], 4), observed(steps, [1e-9, 1.0], 4)), (4.0, LEAST));
    }
}
