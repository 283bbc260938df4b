//! Sums in twofold precision: unevaluated sums `high + low` of two numbers.
//!
//! The output coefficients of a network are large and of both signs: 10^8 and more where the data are rough. Rounded to
//! one number each, they move the network by 10^-8; as two numbers, and summed without losing the low ones, they give
//! what the least-squares problem determines.
//!
//! # References
//! T. Ogita, S. M. Rump, S. Oishi, *Accurate sum and dot product*, SIAM J. Sci. Comput. 26 (2005): the error of a product
//! by a fused multiplication, the error of a sum by six operations.

use pulp::{Arch, Simd, WithSimd};

use crate::algebra::fused::{fused, fused_exactly};

/// A number as a sum of two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Twofold {
    /// The number, rounded.
    pub high: f64,
    /// What rounding took away.
    pub low: f64,
}

impl Twofold {
    /// `high * factor + low * factor`.
    pub fn times(self, factor: f64) -> Self {
        let high = self.high * factor;
        Twofold { high, low: fused(self.low, factor, fused_exactly(self.high, factor, -high)) }
    }

    /// Zero.
    pub const ZERO: Self = Twofold { high: 0.0, low: 0.0 };

    /// The sum of two.
    pub fn plus(self, other: Self) -> Self {
        let sum = self.high + other.high;
        let added = sum - self.high;
        let lost = (self.high - (sum - added)) + (other.high - added);
        let low = lost + (self.low + other.low);
        let high = sum + low;
        Twofold { high, low: low - (high - sum) }
    }

    /// The quotient by a number.
    pub fn over(self, divisor: f64) -> Self {
        let high = self.high / divisor;
        Twofold { high, low: (fused_exactly(-high, divisor, self.high) + self.low) / divisor }
    }
}

/// Many sums that grow together.
#[derive(Debug, Clone)]
pub struct Sums {
    arch: Arch,
    high: Vec<f64>,
    low: Vec<f64>,
}

impl Sums {
    /// So many sums, all zero.
    pub fn zeros(count: usize) -> Self {
        Sums { arch: Arch::new(), high: vec![0.0; count], low: vec![0.0; count] }
    }

    /// Sums that start as these numbers.
    pub fn starting_at(values: &[f64]) -> Self {
        Sums { arch: Arch::new(), high: values.to_vec(), low: vec![0.0; values.len()] }
    }

    /// Sets all sums to zero.
    pub fn clear(&mut self) {
        self.high.fill(0.0);
        self.low.fill(0.0);
    }

    /// Adds `factor * values[i]` to sum i. There may be fewer values than sums.
    ///
    /// # Panics
    /// If there are more.
    pub fn add(&mut self, factor: Twofold, values: &[f64]) {
        let count = values.len();
        let (high, low) = (&mut self.high[..count], &mut self.low[..count]);
        self.arch.dispatch(AddScaled { factor, values, high, low });
    }

    /// The sums, rounded.
    pub fn rounded(&self) -> impl Iterator<Item = f64> {
        self.high.iter().zip(&self.low).map(|(high, low)| high + low)
    }

    /// The sums, rounded, and what rounding took away.
    pub fn split(&self) -> impl Iterator<Item = Twofold> {
        self.high.iter().zip(&self.low).map(|(&high, &low)| {
            let sum = high + low;
            // |high| >= |low|, or both are zero to rounding: then the difference is exact.
            Twofold { high: sum, low: low - (sum - high) }
        })
    }
}

/// (high, low) += factor values
struct AddScaled<'a> {
    factor: Twofold,
    values: &'a [f64],
    high: &'a mut [f64],
    low: &'a mut [f64],
}

impl WithSimd for AddScaled<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Twofold { high: factor, low: rest } = self.factor;
        for ((high, low), &value) in self.high.iter_mut().zip(self.low).zip(self.values) {
            let product = factor * value;
            let lost_product = fused_exactly(factor, value, -product);
            let sum = *high + product;
            let added = sum - *high;
            let lost_sum = (*high - (sum - added)) + (product - added);
            *high = sum;
            *low += fused(rest, value, lost_product + lost_sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds the products one by one.
    fn sum(terms: &[(f64, f64)]) -> Twofold {
        let mut sums = Sums::zeros(3);
        for &(factor, value) in terms {
            sums.add(Twofold { high: factor, low: 0.0 }, &[value; 3]);
        }
        let all: Vec<Twofold> = sums.split().collect();
        assert!(all.iter().all(|s| *s == all[0]));
        assert!(sums.rounded().all(|s| s == all[0].high));
        all[0]
    }

    #[test]
    fn what_cancels_leaves_what_is_small() {
        assert_eq!(sum(&[(1e16, 1.0), (1.0, 1.0), (-1e16, 1.0)]).high, 1.0);
        // (1 + 2^-30)^2 - 1 - 2^-29 = 2^-60
        let a = 1.0 + 2.0f64.powi(-30);
        assert_eq!(sum(&[(a, a), (-1.0, 1.0), (-1.0, 2.0f64.powi(-29))]).high, 2.0f64.powi(-60));
    }

    #[test]
    fn the_low_part_of_a_factor_counts() {
        let mut sums = Sums::starting_at(&[2.0, 3.0, 5.0]);
        sums.add(Twofold { high: 1.0, low: 2.0f64.powi(-70) }, &[4.0, -3.0]);
        let found: Vec<Twofold> = sums.split().collect();
        assert_eq!(found[0], Twofold { high: 6.0, low: 2.0f64.powi(-68) });
        assert_eq!(found[1], Twofold { high: -3.0 * 2.0f64.powi(-70), low: 0.0 });
        assert_eq!(found[2], Twofold { high: 5.0, low: 0.0 });
        sums.clear();
        assert!(sums.rounded().all(|s| s == 0.0));
    }

    #[test]
    fn sums_and_quotients_keep_their_rounding() {
        let sum = Twofold { high: 1.0, low: 0.0 }.plus(Twofold { high: 2.0f64.powi(-80), low: 0.0 });
        assert_eq!(sum, Twofold { high: 1.0, low: 2.0f64.powi(-80) });
        let third = Twofold { high: 1.0, low: 0.0 }.over(3.0);
        let rest = third.times(3.0).plus(Twofold { high: -1.0, low: 0.0 });
        assert!(third.low != 0.0 && rest.high.abs() < 1e-31, "{third:?} {rest:?}");
    }

    #[test]
    fn a_product_keeps_its_rounding() {
        let a = 1.0 + 2.0f64.powi(-30);
        let product = Twofold { high: a, low: 2.0f64.powi(-60) }.times(a);
        assert_eq!(product.high, 1.0 + 2.0f64.powi(-29));
        assert_eq!(product.low, 2.0f64.powi(-60) + 2.0f64.powi(-60) * a);
    }
}
