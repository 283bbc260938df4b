//! The least size of a linearised equation.
//!
//! Where a linearised equation degenerates, its rows count as if it had at least a share of its size elsewhere in the subdomain: the
//! p-Laplacian has no leading part where the gradient vanishes, and rows that are all noise would be blown up there. With sizes s and
//! units of area, in which rings are as large everywhere, the size that counts is
//!
//! ```text
//! s'_i = F_i (t + (1 - t)^3 / 3)  if t = s_i / F_i < 1,  or else s_i,
//! F_i = share M / area_i,    M^q = mean_j (s_j area_j)^q,    q = 8.
//! ```
//!
//! It is smooth, so that a gradient is what differences tend to, and leaves sizes alone that differ by little.

/// The share.
const SHARE: f64 = 0.75;

/// q
const POWER: i32 = 8;

/// Sizes with a floor under them.
pub(crate) struct Floor {
    /// The largest `s area`.
    largest: f64,
    /// `s area`, relative to the largest.
    given: Vec<f64>,
    /// M, relative to the same.
    mean: f64,
}

impl Floor {
    pub fn under(sizes: &[f64], areas: &[f64]) -> Self {
        let all = || sizes.iter().zip(areas).map(|(size, area)| size * area);
        let largest = all().fold(f64::MIN_POSITIVE, f64::max);
        let given: Vec<f64> = all().map(|size| size / largest).collect();
        let mean = given.iter().map(|size| size.powi(POWER)).sum::<f64>() / given.len() as f64;
        Floor { largest, given, mean: mean.powf(1.0 / f64::from(POWER)) }
    }

    /// The part of 1 that is missing in t, and the size that counts, relative to the largest.
    fn raised(&self, given: f64) -> (f64, f64) {
        let least = SHARE * self.mean;
        let missing = if given < least { 1.0 - given / least } else { 0.0 };
        (missing, given + least * missing.powi(3) / 3.0)
    }

    /// The sizes that count.
    pub fn sizes(&self, areas: &[f64]) -> Vec<f64> {
        self.given.iter().zip(areas).map(|(&given, area)| self.largest * self.raised(given).1 / area).collect()
    }

    /// From the derivatives of a number in all `log s'` to those in all `log s`.
    pub fn transposed(&self, slopes: &[f64]) -> Vec<f64> {
        let all = || self.given.iter().map(|&given| (given, self.raised(given))).zip(slopes);
        let by_least = |((_, (missing, raised)), slope): ((f64, (f64, f64)), &f64)| {
            slope / raised * missing.powi(2) * (1.0 - missing * 2.0 / 3.0)
        };
        let common = SHARE * self.mean / self.given.len() as f64 * all().map(by_least).sum::<f64>();
        let one = |((given, (missing, raised)), slope): ((f64, (f64, f64)), &f64)| {
            slope * given / raised * (1.0 - missing.powi(2)) + common * (given / self.mean).powi(POWER)
        };
        all().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREAS: [f64; 4] = [1.0, 0.5, 2.0, 1e-300];

    fn sizes() -> Vec<f64> {
        [1.0, 0.2, 0.3, 0.01].iter().zip(AREAS).map(|(size, area)| size / area).collect()
    }

    #[test]
    fn what_is_small_beside_the_others_counts_as_a_share_of_them() {
        let raised = Floor::under(&sizes(), &AREAS).sizes(&AREAS);
        let relative: Vec<f64> = raised.iter().zip(AREAS).map(|(size, area)| size * area).collect();
        assert!((relative[0] - 1.0).abs() < 1e-15, "{relative:?}");
        assert!(relative[1..].iter().all(|size| (0.2..0.4).contains(size)), "{relative:?}");
        assert_eq!(Floor::under(&[0.0; 4], &AREAS).sizes(&AREAS), [0.0; 4]);
    }

    #[test]
    fn slopes_are_those_of_differences() {
        let slopes = [0.3, -1.0, 2.0, 0.7];
        let number = |sizes: &[f64]| -> f64 {
            Floor::under(sizes, &AREAS).sizes(&AREAS).iter().zip(slopes).map(|(size, slope)| slope * size.ln()).sum()
        };
        let found = Floor::under(&sizes(), &AREAS).transposed(&slopes);
        for j in 0..4 {
            let changed = |by: f64| {
                let mut sizes = sizes();
                sizes[j] *= f64::exp(by);
                number(&sizes)
            };
            let difference = (changed(1e-4) - changed(-1e-4)) / 2e-4;
            assert!((found[j] - difference).abs() < 1e-7, "{j}: {} and {difference}", found[j]);
        }
    }
}
