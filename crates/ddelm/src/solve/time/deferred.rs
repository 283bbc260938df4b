//! The first values of a run through time, by spectral deferred correction.
//!
//! Implicit Euler with the step `delta = dt / gamma` has the matrix of the formula, so that no other factorization is needed. On
//! blocks of four such steps it is corrected until it is the collocation of order four, which takes a fourth of the error with
//! every sweep however stiff the problem is, and the values at `dt, 2 dt, ...` are interpolated.
//!
//! # References
//!
//! A. Dutt, L. Greengard, V. Rokhlin, *Spectral deferred correction methods for ordinary differential equations*, BIT 40 (2000).

use std::collections::VecDeque;
use std::sync::Arc;

use super::bdf::{Engine, Known, Trail, add};
use crate::algebra::quadrature::gauss;
use crate::base::error::Result;
use crate::problem::frozen::frozen;
use crate::solve::nodal::{Loads, Nodal};

/// Implicit Euler steps that are corrected together.
pub(super) const BLOCK: usize = 4;

/// Sweeps over a block, at most, and the change at which they end, relative to u.
const SWEEPS: usize = 25;
const CORRECTED: f64 = 1e-13;

/// Values that an interpolation in time goes through.
const THROUGH: usize = 5;

impl Engine<'_> {
    /// The values at the first steps of the grid.
    pub fn start(&mut self, first: &Arc<Nodal>) -> Result<Trail> {
        let (time, order) = (self.run.time, self.run.time.order);
        let initial = frozen(&time.initial, time.start);
        let u = first.field(&initial, "time.initial")?;
        let kept = if self.shared.is_some() || self.implicit.is_some() { 2 * BLOCK + 2 } else { 1 };
        let mut trail = Trail { grid: VecDeque::new(), recent: VecDeque::new(), kept };
        let forcing = match self.run.problem.source.depends_on().state && self.implicit.is_none() {
            true => Some(first.forcing_of_field(&frozen(&self.run.problem.source, time.start), &initial)?),
            false => None,
        };
        let iterate = self.implicit.as_ref().map(|implicit| implicit.initial().clone());
        let begin = Known { t: time.start, u, forcing, interface: None, origin: None, iterate };
        let mut nodes = vec![begin];
        let delta = self.run.dt / time.formula().gamma;
        while order > 1 && nodes[nodes.len() - 1].t < self.run.at((order - 1) as f64) {
            let block = self.block(&nodes[nodes.len() - 1], delta)?;
            nodes.extend(block);
        }
        trail.recent.extend(nodes[1..].iter().cloned().map(Arc::new));
        let times: Vec<f64> = nodes.iter().map(|node| node.t).collect();
        trail.grid.push_back(Arc::new(nodes[0].clone()));
        for n in 1..order {
            let t = self.run.at(n as f64);
            let near = nearest(&times, t);
            let weights = lagrange(&times[near.clone()], t);
            let combined = |of: &dyn Fn(&Known) -> Option<&Loads>| -> Option<Loads> {
                let mut sum = first.zeros();
                for (node, w) in nodes[near.clone()].iter().zip(&weights) {
                    add(&mut sum, *w, of(node)?);
                }
                Some(sum)
            };
            let u = combined(&|node| Some(&node.u)).expect("every node has u");
            let forcing = combined(&|node| node.forcing.as_ref());
            let iterate = || {
                let mut sum = nodes[near.start].iterate.clone()?;
                for (k, (node, w)) in nodes[near.clone()].iter().zip(&weights).enumerate() {
                    sum = sum.plus(if k == 0 { w - 1.0 } else { *w }, node.iterate.as_ref()?);
                }
                Some(sum)
            };
            trail.grid.push_back(Arc::new(Known { t, u, forcing, interface: None, origin: None, iterate: iterate() }));
        }
        Ok(trail)
    }

    /// Implicit Euler steps from a known solution, corrected until they are collocation through all of them.
    fn block(&mut self, from: &Known, delta: f64) -> Result<Vec<Known>> {
        let times: Vec<f64> = (1..=BLOCK).map(|i| from.t + i as f64 * delta).collect();
        let nodals: Vec<Arc<Nodal>> = times.iter().map(|&t| self.nodal(t)).collect::<Result<_>>()?;
        let sources: Vec<Loads> =
            nodals.iter().zip(&times).map(|(nodal, &t)| self.source(nodal, t)).collect::<Result<_>>()?;
        let integrals = integrals();
        let mut known: Vec<Known> = Vec::new();
        // delta u' at the nodes.
        let mut slopes: Vec<Loads> = Vec::new();
        for _ in 0..SWEEPS {
            let (mut next, mut next_slopes): (Vec<Known>, Vec<Loads>) = (Vec::new(), Vec::new());
            for (i, ((nodal, &t), source)) in nodals.iter().zip(&times).zip(&sources).enumerate() {
                let mut base = if i == 0 { from.u.clone() } else { next[i - 1].u.clone() };
                if !slopes.is_empty() {
                    add(&mut base, -1.0, &slopes[i]);
                    slopes.iter().zip(integrals[i]).for_each(|(slope, weight)| add(&mut base, weight, slope));
                }
                let mut load = source.clone();
                add(&mut load, 1.0 / delta, &base);
                let lagged = known.get(i).and_then(|k| k.forcing.as_ref());
                let before = if i == 0 { from.forcing.as_ref() } else { next[i - 1].forcing.as_ref() };
                if let Some(forcing) = lagged.or(before) {
                    add(&mut load, 1.0, forcing);
                }
                let guess = known.get(i).or(next.last()).unwrap_or(from).near();
                let solved = self.step(nodal, t, &load, guess)?;
                let mut slope = solved.u.clone();
                add(&mut slope, -1.0, &base);
                next.push(solved);
                next_slopes.push(slope);
            }
            let change = known.last().map(|before| distance(&before.u, &next[BLOCK - 1].u));
            (known, slopes) = (next, next_slopes);
            if change.is_some_and(|change| change <= CORRECTED) {
                break;
            }
        }
        Ok(known)
    }
}

/// The integrals from every node 0, ..., 3 to the next of the polynomials that are one at one of the nodes 1, ..., 4.
fn integrals() -> [[f64; BLOCK]; BLOCK] {
    let nodes: Vec<f64> = (1..=BLOCK).map(|k| k as f64).collect();
    let (points, weights) = gauss(BLOCK);
    std::array::from_fn(|i| {
        let mut sums = [0.0; BLOCK];
        for (t, w) in points.iter().zip(&weights) {
            sums.iter_mut().zip(lagrange(&nodes, i as f64 + t)).for_each(|(sum, l)| *sum += w * l);
        }
        sums
    })
}

/// The values at t of the polynomials that are one at one of the nodes and zero at the others.
pub(super) fn lagrange(nodes: &[f64], t: f64) -> Vec<f64> {
    let factor = |i: usize, j: usize| if i == j { 1.0 } else { (t - nodes[j]) / (nodes[i] - nodes[j]) };
    (0..nodes.len()).map(|i| (0..nodes.len()).map(|j| factor(i, j)).product()).collect()
}

/// The ascending times that are nearest to t, a few in a row.
pub(super) fn nearest(times: &[f64], t: f64) -> std::ops::Range<usize> {
    let count = THROUGH.min(times.len());
    let after = times.partition_point(|&other| other < t);
    let start = after.saturating_sub(count.div_ceil(2)).min(times.len() - count);
    start..start + count
}

/// The largest difference of loads, relative to the largest of them.
fn distance(a: &Loads, b: &Loads) -> f64 {
    let (mut difference, mut size) = (0.0f64, f64::MIN_POSITIVE);
    for (a, b) in a.iter().zip(b).flat_map(|(a, b)| a.col_as_slice(0).iter().zip(b.col_as_slice(0))) {
        (difference, size) = (difference.max((a - b).abs()), size.max(b.abs()));
    }
    difference / size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrals_and_interpolation_are_exact_for_cubics() {
        let cubic = |t: f64| 1.0 + t - 2.0 * t * t + 0.5 * t * t * t;
        let primitive = |t: f64| t + t * t / 2.0 - 2.0 / 3.0 * t.powi(3) + t.powi(4) / 8.0;
        for (i, weights) in integrals().iter().enumerate() {
            let found: f64 = weights.iter().enumerate().map(|(j, w)| w * cubic(j as f64 + 1.0)).sum();
            assert!((found - (primitive(i as f64 + 1.0) - primitive(i as f64))).abs() < 1e-12);
        }
        let times = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0];
        for t in [0.1, 1.2, 2.9] {
            let near = nearest(&times, t);
            let values = lagrange(&times[near.clone()], t);
            let found: f64 = near.map(|k| cubic(times[k])).zip(values).map(|(u, w)| u * w).sum();
            assert!((found - cubic(t)).abs() < 1e-12);
        }
    }
}
