//! Activations sigma, and what linear differential operators make of the features phi(xi) = sigma(w . xi + b).
//!
//! A feature is a ridge function, so its derivatives are those of sigma times powers of w:
//!
//! ```text
//! d^alpha phi = w^alpha sigma^(|alpha|)(z),    z = w . xi + b
//! ```
//!
//! An operator `sum_alpha c_alpha(xi) d^alpha` of order four or less is therefore at most fifteen products of
//! `c_alpha w^alpha` with one of the five numbers sigma(z), ..., sigma^(4)(z). [`Activation::column`] forms their sum
//! for one neuron at many points: every row of K and A in the method is made by it. [`Activation::network_sums`] sums
//! the derivatives of all neurons: every evaluation of a solution is made by it.
//!
//! A result depends on its own point only. It has the same bits alone and among others, and with every instruction
//! set, as long as |z| stays in the range that the [variant](Activation) states.
//!
//! # References
//! The paper, section 2: the features of an extreme learning machine.

mod block;
mod kernel;
mod transposed;

use block::{BLOCK, RidgeBlock};
use kernel::Gaussian;

use crate::algebra::twofold::{Sums, Twofold};
use crate::network::polynomial;

/// An activation sigma.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activation {
    /// tanh z
    #[default]
    Tanh,
    /// sin z; beyond |z| = 1e5 the standard library's.
    Sin,
    /// exp(-z^2)
    Gaussian,
}

/// The derivatives of order four or less, as exponents (alpha_x, alpha_y), lower orders first:
/// 1; x, y; xx, xy, yy; xxx, xxy, xyy, yyy; xxxx, xxxy, xxyy, xyyy, yyyy.
#[rustfmt::skip]
pub const DERIVATIVES: [[usize; 2]; 15] = [
    [0, 0],
    [1, 0], [0, 1],
    [2, 0], [1, 1], [0, 2],
    [3, 0], [2, 1], [1, 2], [0, 3],
    [4, 0], [3, 1], [2, 2], [1, 3], [0, 4],
];

/// A network with one hidden layer and one output, `sum_k c_k p_k(xi) + sum_j c_j sigma(w_j . xi + b_j)`.
#[derive(Debug, Clone, Copy)]
pub struct Neurons<'a> {
    /// Number of [polynomials](crate::network::polynomial) p; their coefficients come first.
    pub polynomials: usize,
    /// The components x and y of the weights w.
    pub weights: [&'a [f64]; 2],
    /// b
    pub biases: &'a [f64],
    /// The output coefficients c, rounded.
    pub coefficients: &'a [f64],
    /// What rounding took away from them; nothing, if there are none.
    pub remainders: &'a [f64],
}

impl Neurons<'_> {
    fn coefficient(&self, j: usize) -> Twofold {
        Twofold { high: self.coefficients[j], low: self.remainders.get(j).copied().unwrap_or_default() }
    }
}

impl Activation {
    /// sigma^(k)(z) for k = 0..=4, by the standard library. The functions below are faster and as accurate.
    pub fn derivatives(self, z: f64) -> [f64; 5] {
        match self {
            Activation::Tanh => {
                let (t, cosh) = (z.tanh(), z.cosh());
                let s = 1.0 / (cosh * cosh);
                [t, s, -2.0 * t * s, s * (4.0 - 6.0 * s), t * s * (24.0 * s - 8.0)]
            }
            Activation::Sin => {
                let (sin, cos) = z.sin_cos();
                [sin, cos, -sin, -cos, sin]
            }
            Activation::Gaussian => {
                let z = z.clamp(-Gaussian::END, Gaussian::END);
                let (square, rest) = Gaussian::square(z);
                Gaussian::hermite(z, (-square).exp() * (1.0 - rest))
            }
        }
    }

    /// `out[k][i]` = sigma^(k)(`z[i]`) for k = 0..=order, within 3 units in the last place for k = 0.
    ///
    /// # Panics
    /// If the order is above four, `out` has not order + 1 slices, or one differs in length from `z`.
    pub fn evaluate(self, z: &[f64], order: usize, out: &mut [&mut [f64]]) {
        assert!(order <= 4 && out.len() == order + 1, "order {order}, {} slices", out.len());
        assert!(out.iter().all(|out| out.len() == z.len()), "slices of different lengths");
        let mut block = RidgeBlock::new(self, order);
        for range in blocks(z.len()) {
            block.set(&z[range.clone()]);
            for (k, out) in out.iter_mut().enumerate() {
                out[range.clone()].copy_from_slice(&block.sigma(k)[..range.len()]);
            }
        }
    }

    /// An operator on one feature at many points: `out[i]` = sum_alpha c_alpha d^alpha phi(`x[i]`, `y[i]`).
    ///
    /// `coefficients[a]` holds c_alpha at the points for alpha = [`DERIVATIVES`]`[a]`, or `None` where it is zero at
    /// all of them.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn column(
        self,
        w: [f64; 2],
        b: f64,
        x: &[f64],
        y: &[f64],
        coefficients: &[Option<&[f64]>; 15],
        out: &mut [f64],
    ) {
        let same = |slice: &[f64]| slice.len() == x.len();
        assert!(same(y) && same(out) && coefficients.iter().flatten().all(|c| same(c)), "slices of different lengths");
        out.fill(0.0);
        let terms = || coefficients.iter().enumerate().filter_map(|(a, c)| c.map(|c| (a, c)));
        let Some(order) = terms().map(|(a, _)| order(a)).max() else { return };
        let mut block = RidgeBlock::new(self, order);
        for range in blocks(x.len()) {
            block.set_ridge(w, b, &x[range.clone()], &y[range.clone()]);
            for (a, c) in terms() {
                block.add_product(self::order(a), power(w, a), &c[range.clone()], &mut out[range.clone()]);
            }
        }
    }

    /// Sums of derivatives of one feature at many points: the m-th piece of `out` is the sum of [`DERIVATIVES`]`[a]` over a
    /// in `sums[m]`, all of the same order.
    ///
    /// # Panics
    /// If `x` and `y` differ in length, or `out` has not room for all pieces.
    pub fn derivative_columns(self, w: [f64; 2], b: f64, x: &[f64], y: &[f64], sums: &[Vec<usize>], out: &mut [f64]) {
        assert!(x.len() == y.len() && out.len() == sums.len() * x.len(), "slices of different lengths");
        let Some(order) = sums.iter().flatten().map(|&a| order(a)).max() else { return };
        let mut block = RidgeBlock::new(self, order);
        for range in blocks(x.len()) {
            block.set_ridge(w, b, &x[range.clone()], &y[range.clone()]);
            for (out, sum) in out.chunks_exact_mut(x.len()).zip(sums) {
                let factor: f64 = sum.iter().map(|&a| power(w, a)).sum();
                let sigma = block.sigma(self::order(sum[0]));
                out[range.clone()].iter_mut().zip(sigma).for_each(|(out, sigma)| *out = factor * sigma);
            }
        }
    }

    /// Derivatives of a network at many points: `out[m][i]` = sum_j c_j d^alpha phi_j(`x[i]`, `y[i]`) for alpha =
    /// [`DERIVATIVES`]`[derivatives[m]]`. Polynomials and neurons are summed in their order, in [twofold precision](crate::algebra::twofold).
    ///
    /// # Panics
    /// If slices over the neurons or over the points differ in length, `out` and `derivatives` do, or an entry of
    /// `derivatives` is above 14.
    pub fn network_sums(
        self,
        neurons: Neurons<'_>,
        x: &[f64],
        y: &[f64],
        derivatives: &[usize],
        out: &mut [&mut [f64]],
    ) {
        let Neurons { polynomials, weights: [weights_x, weights_y], biases, coefficients, remainders } = neurons;
        let count = biases.len();
        assert!([weights_x, weights_y].iter().all(|v| v.len() == count), "neurons of different lengths");
        let columns = |v: &[f64]| v.len() == polynomials + count;
        assert!(columns(coefficients), "a coefficient for every polynomial and neuron");
        assert!(remainders.is_empty() || columns(remainders), "a remainder for every coefficient");
        assert!(y.len() == x.len() && out.iter().all(|out| out.len() == x.len()), "points of different lengths");
        assert_eq!(derivatives.len(), out.len(), "as many derivatives as outputs");
        out.iter_mut().for_each(|out| out.fill(0.0));
        let Some(order) = derivatives.iter().map(|&a| order(a)).max() else { return };
        let mut block = RidgeBlock::new(self, order);
        let mut sums = vec![Sums::zeros(x.len().min(BLOCK)); derivatives.len()];
        let mut values = [0.0; BLOCK];
        for range in blocks(x.len()) {
            sums.iter_mut().for_each(Sums::clear);
            let values = &mut values[..range.len()];
            for k in 0..polynomials {
                for (sums, &a) in sums.iter_mut().zip(derivatives) {
                    polynomial::column(k, a, &x[range.clone()], &y[range.clone()], values);
                    sums.add(neurons.coefficient(k), values);
                }
            }
            for j in 0..count {
                let w = [weights_x[j], weights_y[j]];
                block.set_ridge(w, biases[j], &x[range.clone()], &y[range.clone()]);
                for (sums, &a) in sums.iter_mut().zip(derivatives) {
                    let sigma = &block.sigma(self::order(a))[..range.len()];
                    sums.add(neurons.coefficient(polynomials + j).times(power(w, a)), sigma);
                }
            }
            for (out, sums) in out.iter_mut().zip(&sums) {
                out[range.clone()].iter_mut().zip(sums.rounded()).for_each(|(out, sum)| *out = sum);
            }
        }
    }
}

/// |alpha| for alpha = `DERIVATIVES[a]`.
fn order(a: usize) -> usize {
    DERIVATIVES[a][0] + DERIVATIVES[a][1]
}

/// w^alpha for alpha = `DERIVATIVES[a]`. Not `powi`, whose rounding may differ between machines.
fn power(w: [f64; 2], a: usize) -> f64 {
    let [i, j] = DERIVATIVES[a];
    (0..i).map(|_| w[0]).chain((0..j).map(|_| w[1])).product()
}

/// The ranges of points that fill one block each.
fn blocks(count: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..count).step_by(BLOCK).map(move |start| start..count.min(start + BLOCK))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::kernel::{Kernel, Sin, Tanh};
    use super::*;

    const ALL: [Activation; 3] = [Activation::Tanh, Activation::Sin, Activation::Gaussian];

    /// Numbers in \[-1, 1) without a pattern.
    fn numbers(count: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        (0..count).map(|_| next()).collect()
    }

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|v| v.to_bits()).collect()
    }

    /// `evaluate` into new vectors.
    fn evaluated(activation: Activation, z: &[f64], order: usize) -> Vec<Vec<f64>> {
        let mut out = vec![vec![f64::NAN; z.len()]; order + 1];
        activation.evaluate(z, order, &mut out.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>());
        out
    }

    /// `network_sums` into new vectors.
    fn summed(a: Activation, neurons: Neurons<'_>, x: &[f64], y: &[f64], derivatives: &[usize]) -> Vec<Vec<f64>> {
        let mut out = vec![vec![f64::NAN; x.len()]; derivatives.len()];
        let mut slices: Vec<_> = out.iter_mut().map(Vec::as_mut_slice).collect();
        a.network_sums(neurons, x, y, derivatives, &mut slices);
        out
    }

    /// d^alpha phi by the standard library.
    fn ridge(activation: Activation, w: [f64; 2], b: f64, x: f64, y: f64, a: usize) -> f64 {
        let [i, j] = DERIVATIVES[a];
        let z = w[0] * x + w[1] * y + b;
        w[0].powi(i as i32) * w[1].powi(j as i32) * activation.derivatives(z)[i + j]
    }

    #[test]
    fn derivatives_agree_with_finite_differences() {
        let h = 1e-4;
        for (activation, z) in ALL.into_iter().flat_map(|a| numbers(200, 1).into_iter().map(move |z| (a, 4.0 * z))) {
            let at = |shift: f64| activation.derivatives(z + shift * h);
            let (far_left, left, centre, right, far_right) = (at(-2.0), at(-1.0), at(0.0), at(1.0), at(2.0));
            for k in 0..4 {
                let slope = (far_left[k] - 8.0 * left[k] + 8.0 * right[k] - far_right[k]) / (12.0 * h);
                assert!((slope - centre[k + 1]).abs() < 1e-10, "{activation:?} at {z}, order {}", k + 1);
            }
        }
    }

    #[test]
    fn evaluation_satisfies_the_differential_equations() {
        let z: Vec<f64> = numbers(1000, 2).iter().map(|z| 6.0 * z).collect();
        for activation in ALL {
            let sigma = evaluated(activation, &z, 4);
            for (i, &z) in z.iter().enumerate() {
                let [s0, s1, s2, s3, s4] = [0, 1, 2, 3, 4].map(|k| sigma[k][i]);
                let residuals = match activation {
                    Activation::Tanh => {
                        [s1 - (1.0 - s0 * s0), s2 + 2.0 * s0 * s1, s4 + 2.0 * (3.0 * s1 * s2 + s0 * s3)]
                    }
                    Activation::Sin => [s0 * s0 + s1 * s1 - 1.0, s2 + s0, s4 + s2],
                    Activation::Gaussian => {
                        [s1 + 2.0 * z * s0, s2 + 2.0 * (z * s1 + s0), s4 + 2.0 * (z * s3 + 3.0 * s2)]
                    }
                };
                assert!(residuals.iter().all(|r| r.abs() < 1e-13), "{activation:?} at {z}: {residuals:?}");
            }
        }
    }

    #[test]
    fn lower_orders_are_a_prefix_of_higher_ones() {
        let z: Vec<f64> = numbers(300, 3).iter().map(|z| 5.0 * z).collect();
        for activation in ALL {
            let all = evaluated(activation, &z, 4);
            for order in 0..4 {
                assert_eq!(evaluated(activation, &z, order), all[..=order]);
            }
        }
    }

    #[test]
    fn vectors_and_single_numbers_have_the_same_bits() {
        let z: Vec<f64> = numbers(1000, 4).iter().map(|z| 30.0 * z).collect();
        for activation in ALL {
            let sigma = evaluated(activation, &z, 4);
            for (i, &z) in z.iter().enumerate() {
                let jet = match activation {
                    Activation::Tanh => Tanh.jet(z),
                    Activation::Sin => Sin.jet(z),
                    Activation::Gaussian => Gaussian.jet(z),
                };
                assert_eq!(bits(&jet), bits(&[0, 1, 2, 3, 4].map(|k| sigma[k][i])), "{activation:?} at {z}");
            }
        }
    }

    #[test]
    fn sine_far_out_is_the_standard_library_s() {
        let z = [1.0, 1e5, -1.5e5, 1e22, f64::MAX, 2.0];
        let sigma = evaluated(Activation::Sin, &z, 4);
        for i in 2..5 {
            let expected = Activation::Sin.derivatives(z[i]);
            assert_eq!(expected, [0, 1, 2, 3, 4].map(|k| sigma[k][i]));
        }
        assert_eq!(sigma[0][5], Sin.jet(2.0)[0]);
        assert!(evaluated(Activation::Sin, &[f64::INFINITY], 1).concat().iter().all(|v| v.is_nan()));
    }

    #[test]
    fn column_is_the_same_however_the_rows_are_cut() {
        let rows = 2 * BLOCK + 40;
        let (x, y, c) = (numbers(rows, 5), numbers(rows, 6), numbers(rows, 7));
        for activation in ALL {
            let column = |start: usize, end: usize| {
                let mut out = vec![f64::NAN; end - start];
                let mut coefficients = [None; 15];
                for a in [0, 2, 4, 8, 14] {
                    coefficients[a] = Some(&c[start..end]);
                }
                activation.column([1.5, -0.7], 0.3, &x[start..end], &y[start..end], &coefficients, &mut out);
                out
            };
            let whole = column(0, rows);
            for length in (0..40).chain([BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK]) {
                for start in [0, 1, 3, 40] {
                    assert_eq!(bits(&column(start, start + length)), bits(&whole[start..start + length]));
                }
            }
        }
    }

    #[test]
    fn evaluation_handles_every_tail() {
        let z: Vec<f64> = numbers(40, 8).iter().map(|z| 3.0 * z).collect();
        for activation in ALL {
            let whole = evaluated(activation, &z, 4);
            for length in 0..40 {
                for (part, whole) in evaluated(activation, &z[40 - length..], 4).iter().zip(&whole) {
                    assert_eq!(bits(part), bits(&whole[40 - length..]));
                }
            }
        }
    }

    #[test]
    fn derivative_columns_are_columns_one_by_one() {
        let count = BLOCK + 21;
        let (x, y, one) = (numbers(count, 20), numbers(count, 21), vec![1.0; count]);
        for activation in ALL {
            let sums = [vec![5], vec![0], vec![13], vec![3, 5]];
            let mut found = vec![f64::NAN; 4 * count];
            activation.derivative_columns([1.2, -0.4], 0.2, &x, &y, &sums, &mut found);
            for (found, sum) in found.chunks_exact(count).zip(sums) {
                let mut coefficients = [None; 15];
                sum.iter().for_each(|&a| coefficients[a] = Some(&one[..]));
                let mut expected = vec![f64::NAN; count];
                activation.column([1.2, -0.4], 0.2, &x, &y, &coefficients, &mut expected);
                // A sum is rounded in another order.
                let tolerance = if sum.len() == 1 { 0.0 } else { 4.0 * f64::EPSILON };
                for (found, expected) in found.iter().zip(&expected) {
                    assert!((found - expected).abs() <= tolerance, "{sum:?}: {found:e} and {expected:e}");
                }
            }
        }
    }

    #[test]
    fn network_sums_of_a_point_do_not_depend_on_its_company() {
        let (count, neurons) = (BLOCK + 45, 50);
        let [wx, wy, b, c] = [10, 11, 12, 13].map(|seed| numbers(neurons, seed));
        let (x, y) = (numbers(count, 14), numbers(count, 15));
        let network = Neurons { polynomials: 0, weights: [&wx, &wy], biases: &b, coefficients: &c, remainders: &[] };
        for activation in ALL {
            let all: Vec<usize> = (0..15).collect();
            let together = summed(activation, network, &x, &y, &all);
            for i in 0..count {
                for (alone, together) in summed(activation, network, &x[i..=i], &y[i..=i], &all).iter().zip(&together) {
                    assert_eq!(alone[0].to_bits(), together[i].to_bits());
                }
            }
            for (m, value) in together.iter().enumerate() {
                assert_eq!(bits(&summed(activation, network, &x, &y, &[m])[0]), bits(value), "derivative {m} alone");
            }
        }
    }

    #[test]
    fn nothing_to_sum_is_zero() {
        let mut out = [f64::NAN; 3];
        Activation::Tanh.column([1.0, 2.0], 3.0, &[0.0; 3], &[0.0; 3], &[None; 15], &mut out);
        assert_eq!(out, [0.0; 3]);
        let none = Neurons { polynomials: 0, weights: [&[], &[]], biases: &[], coefficients: &[], remainders: &[] };
        assert_eq!(summed(Activation::Tanh, none, &[1.0; 3], &[1.0; 3], &[0, 4]), [[0.0; 3]; 2]);
    }

    proptest! {
        #[test]
        fn column_is_the_naive_sum(
            activation in prop::sample::select(ALL.to_vec()),
            w in prop::array::uniform2(-2.0..2.0f64),
            b in -2.0..2.0f64,
            present in prop::array::uniform15(any::<bool>()),
            rows in 0..50usize,
            seed in any::<u64>(),
        ) {
            let (x, y, c) = (numbers(rows, seed), numbers(rows, seed ^ 1), numbers(15 * rows, seed ^ 2));
            let coefficients: [Option<&[f64]>; 15] =
                std::array::from_fn(|a| present[a].then(|| &c[a * rows..(a + 1) * rows]));
            let mut out = vec![f64::NAN; rows];
            activation.column(w, b, &x, &y, &coefficients, &mut out);
            for (i, value) in out.iter().enumerate() {
                let terms = (0..15).filter(|&a| present[a]);
                let naive: f64 = terms.map(|a| c[a * rows + i] * ridge(activation, w, b, x[i], y[i], a)).sum();
                prop_assert!((value - naive).abs() < 1e-12, "{value} {naive}");
            }
        }

        #[test]
        fn network_sums_are_the_naive_sums(
            activation in prop::sample::select(ALL.to_vec()),
            derivatives in prop::collection::vec(0..15usize, 0..6),
            (neurons, count) in (0..20usize, 0..20usize),
            seed in any::<u64>(),
        ) {
            let [wx, wy, b, c] = [1, 2, 3, 4].map(|k| numbers(neurons, seed ^ k));
            let (x, y) = (numbers(count, seed ^ 5), numbers(count, seed ^ 6));
            let network = Neurons { polynomials: 0, weights: [&wx, &wy], biases: &b, coefficients: &c, remainders: &[] };
            let sums = summed(activation, network, &x, &y, &derivatives);
            for (sums, &a) in sums.iter().zip(&derivatives) {
                for i in 0..count {
                    let term = |j: usize| c[j] * ridge(activation, [wx[j], wy[j]], b[j], x[i], y[i], a);
                    prop_assert!((sums[i] - (0..neurons).map(term).sum::<f64>()).abs() < 1e-13);
                }
            }
        }
    }
}
