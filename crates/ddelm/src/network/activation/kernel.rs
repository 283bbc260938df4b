//! Branch-free kernels: an activation and its first four derivatives at one point, without a jump or a call.
//!
//! A loop over such a kernel becomes vector code under any instruction set. It holds only fused multiply-adds, sums,
//! products, one division and bit operations. IEEE 754 fixes how each of them is rounded, so a value has the same bits
//! in every lane, at every vector width and on every machine; only WebAssembly, which has no fused operation, rounds some of
//! them [otherwise](crate::algebra::fused).
//!
//! The functions themselves are those of [`elementary`](crate::algebra::elementary), which formulas use as well.

use crate::algebra::elementary::{
    SINE_RANGE, bounded, exp_m1, power_of_two, quadrants, split_by_ln_2, tanh_parts, with_sign_of,
};
use crate::algebra::fused::{fused, fused_exactly};

/// An activation that can be evaluated without a branch.
pub(super) trait Kernel: Copy {
    /// The largest |z| for which [`jet`](Kernel::jet) is accurate.
    const RANGE: f64 = f64::INFINITY;

    /// The derivatives of order 0 to 4 at z. Those that the caller drops cost nothing, for the call is inlined.
    fn jet(self, z: f64) -> [f64; 5];
}

/// tanh z, and sech^2 z = 4 h (1 - h) with h = 1 / (exp(2|z|) + 1), which keeps its relative accuracy where 1 - tanh^2 z has none.
#[derive(Clone, Copy)]
pub(super) struct Tanh;

impl Kernel for Tanh {
    #[inline(always)]
    fn jet(self, z: f64) -> [f64; 5] {
        let (t, h) = tanh_parts(z);
        let s = 4.0 * h * (1.0 - h);
        [t, s, -2.0 * t * s, s * fused(-6.0, s, 4.0), t * s * fused(24.0, s, -8.0)]
    }
}

/// sin z = +-sin r or +-cos r, by the quadrant q mod 4.
#[derive(Clone, Copy)]
pub(super) struct Sin;

impl Kernel for Sin {
    const RANGE: f64 = SINE_RANGE;

    #[inline(always)]
    fn jet(self, z: f64) -> [f64; 5] {
        let [sin, cos] = quadrants(z);
        [sin, cos, -sin, -cos, sin]
    }
}

/// exp(-z^2), the rounding error of z^2 included.
#[derive(Clone, Copy)]
pub(super) struct Gaussian;

impl Gaussian {
    /// exp(-z^2) underflows to zero from here on. A bounded z keeps its product with zero from being NaN.
    pub(super) const END: f64 = 28.0;

    /// z^2 as a rounded square and what is missing from it.
    #[inline(always)]
    pub(super) fn square(z: f64) -> (f64, f64) {
        let square = z * z;
        (square, fused_exactly(z, z, -square))
    }

    /// The derivatives at z from the value g there: g times Hermite's polynomials.
    #[inline(always)]
    pub(super) fn hermite(z: f64, g: f64) -> [f64; 5] {
        let y = 2.0 * z;
        let y2 = y * y;
        [g, -y * g, (y2 - 2.0) * g, y * (6.0 - y2) * g, fused(y2, y2 - 12.0, 12.0) * g]
    }
}

impl Kernel for Gaussian {
    #[inline(always)]
    fn jet(self, z: f64) -> [f64; 5] {
        let z = with_sign_of(z, bounded(z.abs(), Gaussian::END));
        let (square, rest) = Gaussian::square(z);
        let (k, r) = split_by_ln_2(-square);
        // k falls to -1131, which is no exponent of a normal number: scale in two steps.
        let scale = power_of_two(k, 200);
        let g = fused(scale, exp_m1(r - rest), scale) * power_of_two(0, -200);
        Gaussian::hermite(z, g)
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use super::*;
    use crate::network::activation::Activation;

    /// Distance of two finite numbers in units in the last place: in floating-point numbers between them.
    fn ulps(a: f64, b: f64) -> u64 {
        let place = |v: f64| if v.is_sign_negative() { -((v.to_bits() << 1 >> 1) as i64) } else { v.to_bits() as i64 };
        place(a).abs_diff(place(b))
    }

    /// Both signs of: an even sweep over \[0, 40\], and every size from the smallest number to 10^4.
    fn sweep() -> impl Iterator<Item = f64> {
        let even = (0..400_000).map(|i| i as f64 * 1.000_003e-4);
        let sizes = (0..400_000).map(|i| 10f64.powf(-324.0 + 328.0 * i as f64 / 400_000.0));
        even.chain(sizes).flat_map(|z| [z, -z])
    }

    /// The largest distance from the standard library in sigma, and in sigma' where both are normal numbers.
    fn worst(kernel: impl Kernel, activation: Activation, points: impl Iterator<Item = f64>) -> [u64; 2] {
        let mut worst = [0; 2];
        for z in points {
            let (ours, std) = (kernel.jet(z), activation.derivatives(z));
            for (k, worst) in worst.iter_mut().enumerate().filter(|(k, _)| *k == 0 || std[*k].abs() > 1e-300) {
                *worst = ulps(ours[k], std[k]).max(*worst);
            }
        }
        worst
    }

    // The bounds add up the errors of both sides. For tanh they are 2.5 units here and 2 in the standard library.

    #[test]
    fn tanh_is_accurate() {
        let [value, slope] = worst(Tanh, Activation::Tanh, sweep());
        assert!(value <= 4 && slope <= 7, "{value} {slope}");
    }

    #[test]
    fn sine_is_accurate() {
        let [value, slope] = worst(Sin, Activation::Sin, sweep());
        assert!(value <= 3 && slope <= 3, "{value} {slope}");
    }

    #[test]
    fn sine_is_accurate_next_to_its_zeros() {
        let zeros = (1..60_000).flat_map(|q| {
            let z = f64::from(q) * FRAC_PI_2;
            [z.next_down(), z, z.next_up()]
        });
        let [value, slope] = worst(Sin, Activation::Sin, zeros);
        assert!(value <= 3 && slope <= 3, "{value} {slope}");
    }

    #[test]
    fn gaussian_is_accurate() {
        let [value, slope] = worst(Gaussian, Activation::Gaussian, sweep());
        assert!(value <= 4 && slope <= 6, "{value} {slope}");
    }

    #[test]
    fn gaussian_has_the_digits_of_a_longer_arithmetic() {
        // Computed with 300 bits. Without the rest of z^2 the last would be off by hundreds of units.
        let exact = [
            (5.3, 6.319285885175379e-13),
            (12.7, 8.966914191666685e-71),
            (20.1, 3.4728527242717995e-176),
            (26.3, 4.007281139193885e-301),
        ];
        for (z, g) in exact {
            assert!(ulps(Gaussian.jet(z)[0], g) <= 1, "{z}");
            assert!(ulps(Activation::Gaussian.derivatives(z)[0], g) <= 2, "{z}");
        }
    }

    #[test]
    fn higher_derivatives_agree_with_the_standard_library() {
        // Near their zeros the derivatives are accurate only with respect to their largest term.
        for z in sweep() {
            let size = 1.0 + z.abs().min(Gaussian::END);
            let terms = [Tanh.jet(z)[1] * 32.0, 1.0, Gaussian.jet(z)[0] * 60.0 * size.powi(4)];
            let ours = [Tanh.jet(z), Sin.jet(z), Gaussian.jet(z)];
            let std = [Activation::Tanh, Activation::Sin, Activation::Gaussian].map(|a| a.derivatives(z));
            for ((ours, std), terms) in ours.iter().zip(&std).zip(terms) {
                for k in 2..5 {
                    assert!((ours[k] - std[k]).abs() <= 1e-15 * terms + 1e-300, "{z}: {ours:?} {std:?}");
                }
            }
        }
    }

    #[test]
    fn special_values() {
        let bits = |jet: [f64; 5]| jet.map(f64::to_bits);
        assert_eq!(Tanh.jet(-0.0)[0].to_bits(), (-0.0f64).to_bits());
        assert_eq!(Sin.jet(-0.0)[0].to_bits(), (-0.0f64).to_bits());
        assert_eq!(Tanh.jet(0.0), [0.0, 1.0, 0.0, -2.0, 0.0]);
        assert_eq!(Sin.jet(0.0), [0.0, 1.0, 0.0, -1.0, 0.0]);
        assert_eq!(Gaussian.jet(0.0), [1.0, 0.0, -2.0, 0.0, 12.0]);
        for z in [f64::INFINITY, f64::MAX, 1e300, 400.0] {
            assert_eq!([Tanh.jet(z)[0], Tanh.jet(-z)[0]], [1.0, -1.0]);
            assert!(Tanh.jet(z)[1..].iter().all(|d| d.abs() < 1e-300));
            assert_eq!(Gaussian.jet(z), [0.0; 5]);
            assert_eq!(Gaussian.jet(-z), [0.0; 5]);
        }
        for tiny in [f64::MIN_POSITIVE, 5e-324, 1e-310] {
            assert_eq!(bits(Tanh.jet(tiny))[0], tiny.to_bits());
            assert_eq!(bits(Sin.jet(tiny))[0], tiny.to_bits());
        }
        for jet in [Tanh.jet(f64::NAN), Sin.jet(f64::NAN), Gaussian.jet(f64::NAN)] {
            assert!(jet.iter().all(|d| d.is_nan()));
        }
    }
}
