//! What a run of the paper's method costs, and what this machine allows.
//!
//! With p intervals per side a subdomain has m = (p + 1)^2 rows and n = p^2 neurons, of which r are numerically
//! independent. The pivoted factorization takes `4 m n r - 2 (m + n) r^2 + 4 r^3 / 3` operations. The rate is
//! measured on a small problem; large ones run a little faster. Ranks and iterations are guesses from experience.
//!
//! On a parallel machine all ranks are taken to be as fast as the first one, and to share its memory.

use ddelm::network::features::Initialization;
use ddelm::problem::gallery;
use ddelm::{Decomposition, Equation, Result, Settings, Solver};
use std::sync::Arc;

/// Share of the neurons that are independent with the suggested weights.
const RANK: f64 = 0.65;

/// Neurons that are independent with smaller weights: they are polynomials up to rounding.
const POLYNOMIALS: f64 = 150.0;

/// Iterations of conjugate gradients per subdomain in one direction.
const ITERATIONS: f64 = 900.0;

/// Bytes per second that pass through the interface matrices.
const BANDWIDTH: f64 = 4e9;

/// Size of the problem that the rate is measured with.
const TRIAL: [usize; 2] = [2, 24];

/// What a run takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Memory at most.
    pub bytes: f64,
    /// Time.
    pub seconds: f64,
}

/// What a run may take.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Memory of one run.
    pub bytes: f64,
    /// Time of one run.
    pub seconds: f64,
    /// Operations per second of the local factorizations on one thread.
    rate: f64,
    /// Threads of a rank.
    threads: usize,
    /// Ranks that share a run with at least as many subdomains; others are on one rank.
    ranks: usize,
}

impl Budget {
    /// A budget on this machine; its speed is measured.
    pub fn measure(bytes: f64, seconds: f64, ranks: usize) -> Result<Self> {
        let [side, points] = TRIAL;
        let decomposition = Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [side; 2])?;
        let settings = Settings { points, ..Settings::paper() };
        let solution = Solver::new(&gallery::poisson(), Arc::new(decomposition), &settings)?.solve()?;
        let operations = (side * side) as f64 * operations(points, Initialization::Suggested);
        let threads = rayon::current_num_threads();
        let rate = operations / solution.report.seconds.factor.max(1e-3) / threads.min(side * side) as f64;
        Ok(Budget { bytes, seconds, rate, threads, ranks })
    }

    /// The cost of a run of the paper's method on side x side subdomains.
    pub fn cost(&self, equation: &Equation, side: usize, points: usize, initialization: Initialization) -> Cost {
        let ranks = if side * side >= self.ranks { self.ranks } else { 1 };
        // With fewer subdomains than threads, some of them wait.
        let threads = (ranks * self.threads).min(side * side) as f64;
        let (count, pairs) = ((side * side) as f64, equation.pairs() as f64);
        let (m, n) = sizes(points);
        let (r, around) = (rank(n, initialization), pairs * 4.0 * points as f64);
        let kept = m * r + r * r + around * (m + r + 2.0 * around);
        let bytes = 8.0 * (count * kept + threads * 2.0 * m * n);
        let factor = count * operations(points, initialization) / (self.rate * threads);
        let interface = ITERATIONS * side as f64 * 16.0 * count * around * around / BANDWIDTH;
        Cost { bytes, seconds: factor + if side > 1 { interface } else { 0.0 } }
    }

    /// The most points, from a number downwards by halves, that the budget allows.
    pub fn fit(&self, equation: &Equation, side: usize, points: usize, initialization: Initialization) -> usize {
        let fits = |points: usize| {
            let cost = self.cost(equation, side, points, initialization);
            cost.bytes <= self.bytes && cost.seconds <= self.seconds
        };
        let mut points = points;
        while points > 16 && !fits(points) {
            points /= 2;
        }
        points
    }
}

/// Rows and neurons.
fn sizes(points: usize) -> (f64, f64) {
    let p = points as f64;
    ((p + 1.0) * (p + 1.0), p * p)
}

/// How many of n neurons are independent.
fn rank(n: f64, initialization: Initialization) -> f64 {
    match initialization {
        Initialization::Suggested | Initialization::Weighted => RANK * n,
        Initialization::Manual | Initialization::He | Initialization::Glorot => POLYNOMIALS.min(n),
    }
}

/// Operations of a local factorization.
fn operations(points: usize, initialization: Initialization) -> f64 {
    let (m, n) = sizes(points);
    let r = rank(n, initialization);
    4.0 * m * n * r - 2.0 * (m + n) * r * r + 4.0 / 3.0 * r * r * r
}

#[cfg(test)]
mod tests {
    use super::*;
    use Initialization::{He, Suggested};

    const BUDGET: Budget = Budget { bytes: 8e9, seconds: 1800.0, rate: 1e10, threads: 2, ranks: 1 };

    #[test]
    fn the_dense_problems_of_the_paper_are_as_large_as_they_are() {
        let poisson = Equation::poisson();
        // K alone takes 35 GB on one subdomain, and 2 GB on each of four.
        assert!(BUDGET.cost(&poisson, 1, 256, Suggested).bytes > 35e9);
        assert!(BUDGET.cost(&poisson, 2, 128, Suggested).bytes > 4.0 * 2e9);
        assert!(BUDGET.cost(&poisson, 16, 16, Suggested).bytes < 1e9);
    }

    #[test]
    fn points_are_reduced_only_where_they_must() {
        let poisson = Equation::poisson();
        assert_eq!(BUDGET.fit(&poisson, 16, 16, Suggested), 16);
        assert_eq!(BUDGET.fit(&poisson, 8, 32, Suggested), 32);
        let many = Budget { ranks: 8, ..BUDGET };
        assert!(many.cost(&poisson, 16, 16, Suggested).seconds < BUDGET.cost(&poisson, 16, 16, Suggested).seconds);
        assert_eq!(many.cost(&poisson, 2, 64, Suggested), BUDGET.cost(&poisson, 2, 64, Suggested));
        let large = Budget { bytes: 12e9, ..BUDGET };
        assert!(large.fit(&poisson, 2, 128, Suggested) < 128);
        assert_eq!(large.fit(&poisson, 2, 128, He), 128);
        let reduced = BUDGET.fit(&poisson, 1, 256, Suggested);
        assert!(reduced < 256 && BUDGET.cost(&poisson, 1, reduced, Suggested).bytes <= BUDGET.bytes);
    }
}
