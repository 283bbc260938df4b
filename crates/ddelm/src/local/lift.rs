//! From coefficients y in a well-conditioned basis to coefficients c of neurons.
//!
//! The neurons are nearly dependent, so c is far larger than y, up to y over the cut. It is found in [twofold
//! precision](crate::algebra::twofold): then the network depends on y as the basis does, and two solves that agree to rounding in y
//! agree to rounding everywhere.

use faer::Mat;

use crate::algebra::factor::solve_upper;
use crate::algebra::twofold::{Sums, Twofold};

/// The map from y to c.
#[derive(Debug, Clone)]
pub enum Lift {
    /// `c = R^-1 y`, on neurons chosen by pivoting.
    Triangular(Mat<f64>),
    /// `c = L y`.
    Dense(Mat<f64>),
}

/// Output coefficients as sums of two matrices, one column per right-hand side.
#[derive(Debug, Clone)]
pub struct Lifted {
    /// c, rounded.
    pub coefficients: Mat<f64>,
    /// What rounding took away.
    pub remainders: Mat<f64>,
}

impl Lift {
    /// c for every column of `y`.
    pub fn apply(&self, y: &Mat<f64>) -> Lifted {
        match self {
            Lift::Triangular(r) => {
                let mut coefficients = y.clone();
                solve_upper(r.as_ref(), coefficients.as_mut());
                // y - R c is all rounding: it must be summed exactly, and can be solved for as usual.
                let mut remainders = Mat::zeros(y.nrows(), y.ncols());
                for k in 0..y.ncols() {
                    let mut rest = Sums::starting_at(y.col_as_slice(k));
                    for (j, &c) in coefficients.col_as_slice(k).iter().enumerate() {
                        rest.add(Twofold { high: -c, low: 0.0 }, &r.col_as_slice(j)[..=j]);
                    }
                    remainders.col_as_slice_mut(k).iter_mut().zip(rest.rounded()).for_each(|(r, rest)| *r = rest);
                }
                solve_upper(r.as_ref(), remainders.as_mut());
                Lifted { coefficients, remainders }
            }
            Lift::Dense(lift) => {
                let zeros = || Mat::zeros(lift.nrows(), y.ncols());
                let (mut coefficients, mut remainders) = (zeros(), zeros());
                for k in 0..y.ncols() {
                    let mut sums = Sums::zeros(lift.nrows());
                    for (j, &high) in y.col_as_slice(k).iter().enumerate() {
                        sums.add(Twofold { high, low: 0.0 }, lift.col_as_slice(j));
                    }
                    for (i, c) in sums.split().enumerate() {
                        (coefficients[(i, k)], remainders[(i, k)]) = (c.high, c.low);
                    }
                }
                Lifted { coefficients, remainders }
            }
        }
    }

    /// What every coefficient y counts in a number, given what the coefficients c count: `R^-T s` or `L' s`.
    ///
    /// R is graded by rows, which makes [`Lift::apply`] harmless and this one not: it takes twofold precision throughout.
    pub fn apply_transposed(&self, s: &[Twofold]) -> Vec<f64> {
        let dot = |a: &[f64], b: &[Twofold]| a.iter().zip(b).fold(Twofold::ZERO, |sum, (a, b)| sum.plus(b.times(*a)));
        match self {
            Lift::Triangular(r) => {
                let mut g: Vec<Twofold> = Vec::with_capacity(s.len());
                for (j, &s) in s.iter().enumerate() {
                    let column = r.col_as_slice(j);
                    let known = dot(&column[..j], &g).times(-1.0);
                    g.push(s.plus(known).over(column[j]));
                }
                g.iter().map(|g| g.high).collect()
            }
            Lift::Dense(lift) => (0..lift.ncols()).map(|j| dot(lift.col_as_slice(j), s).high).collect(),
        }
    }

    /// Numbers held.
    pub fn size(&self) -> usize {
        let (Lift::Triangular(m) | Lift::Dense(m)) = self;
        m.nrows() * m.ncols()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An upper triangular matrix with a condition number of 1e14 or more, its rows graded as pivoting leaves them.
    fn graded(n: usize) -> Mat<f64> {
        Mat::from_fn(n, n, |i, j| {
            let size = 10f64.powf(-14.0 * i as f64 / (n - 1) as f64);
            let entry = ((7 * i + 13 * j) % 11) as f64 / 11.0 - 0.5;
            if i == j { size } else { size * entry * f64::from(u8::from(i < j)) }
        })
    }

    /// The network where its features have the values phi.
    fn value(phi: &[f64], lifted: &Lifted) -> f64 {
        let mut sum = Sums::zeros(1);
        for (j, &phi) in phi.iter().enumerate() {
            sum.add(Twofold { high: lifted.coefficients[(j, 0)], low: lifted.remainders[(j, 0)] }, &[phi]);
        }
        sum.rounded().sum()
    }

    #[test]
    fn a_rounding_of_y_is_a_rounding_of_the_network() {
        let n = 40;
        let r = graded(n);
        let y = Mat::from_fn(n, 1, |i, _| 1.0 + (i as f64).sin());
        let nudged = Mat::from_fn(n, 1, |i, _| y[(i, 0)] * (1.0 + f64::EPSILON * (i % 3) as f64));
        let phi: Vec<f64> = (0..n).map(|j| (0..=j).map(|i| r[(i, j)]).sum()).collect();
        let expected: f64 = (0..n).map(|i| y[(i, 0)]).sum();
        let mut inverse = Mat::identity(n, n);
        solve_upper(r.as_ref(), inverse.as_mut());
        for lift in [Lift::Triangular(r.clone()), Lift::Dense(inverse.clone())] {
            let (one, other) = (lift.apply(&y), lift.apply(&nudged));
            assert!(one.coefficients.norm_max() > 1e12);
            let (one, other) = (value(&phi, &one), value(&phi, &other));
            // phi itself is rounded, which R^-1 magnifies; that is the same for both.
            assert!((one - expected).abs() < 0.5 * expected, "{one} {expected}");
            assert!((one - other).abs() < 1e-13 * expected, "{one} {other}");
        }
    }

    #[test]
    fn the_transpose_is_that_of_the_lift() {
        let n = 40;
        let r = graded(n);
        let y = Mat::from_fn(n, 1, |i, _| 1.0 + (i as f64).sin());
        let phi: Vec<f64> = (0..n).map(|j| (0..=j).map(|i| r[(i, j)]).sum()).collect();
        let s: Vec<Twofold> = phi.iter().map(|&high| Twofold { high, low: 0.0 }).collect();
        let lift = Lift::Triangular(r);
        let expected = value(&phi, &lift.apply(&y));
        let found: f64 = lift.apply_transposed(&s).iter().enumerate().map(|(i, g)| g * y[(i, 0)]).sum();
        assert!((found - expected).abs() < 1e-12 * expected, "{found} {expected}");
    }

    #[test]
    fn several_right_hand_sides_are_lifted_as_one_by_one() {
        let r = graded(12);
        let y = Mat::from_fn(12, 3, |i, k| ((i + 1) * (k + 2)) as f64);
        for lift in [Lift::Triangular(r.clone()), Lift::Dense(r)] {
            let all = lift.apply(&y);
            for k in 0..3 {
                let one = lift.apply(&y.subcols(k, 1).to_owned());
                let scale = all.coefficients.col(k).norm_max();
                assert!((all.coefficients.col(k) - one.coefficients.col(0)).norm_max() <= 1e-10 * scale);
            }
        }
    }
}
