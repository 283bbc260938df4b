//! Elementary functions without a branch or a call: a loop over one of them becomes vector code under any instruction set.
//!
//! They hold only fused multiply-adds, sums, products, at most one division and bit operations. IEEE 754 fixes how each of them
//! is rounded, so a value has the same bits in every lane, at every vector width and on every machine; only WebAssembly, which
//! has no fused operation, rounds some of them [otherwise](crate::algebra::fused).
//!
//! The exponential rests on `exp(y) = 2^k exp(r)` with `k = round(y / ln 2)`, `|r| <= ln(2) / 2`; the sine on
//! `z = q pi/2 + r` with `|r| <= pi/4`. Taylor's polynomials do the rest: their first missing term is below a fifth of
//! a unit in the last place.
//!
//! # References
//! W. J. Cody and W. Waite, Software Manual for the Elementary Functions, 1980: reduction by a constant in parts.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, LN_2, LOG2_E};

use crate::algebra::fused::{fused, fused_exactly};

/// The largest |z| for [`sin`] and [`cos`]: with 17 bits in q, r is good to the last place even next to a multiple of pi / 2.
pub const SINE_RANGE: f64 = 1e5;

/// The largest |z| for [`exp`]: exp(708) is almost the largest number, exp(-708) almost the smallest with all its digits.
pub const EXP_RANGE: f64 = 708.0;

/// sin z for |z| up to [`SINE_RANGE`].
#[inline(always)]
pub fn sin(z: f64) -> f64 {
    quadrants(z)[0]
}

/// cos z for |z| up to [`SINE_RANGE`].
#[inline(always)]
pub fn cos(z: f64) -> f64 {
    quadrants(z)[1]
}

/// exp z for |z| up to [`EXP_RANGE`].
#[inline(always)]
pub fn exp(z: f64) -> f64 {
    let (k, r) = split_by_ln_2(z);
    let scale = power_of_two(k, 0);
    fused(scale, exp_m1(r), scale)
}

/// tanh z.
#[inline(always)]
pub fn tanh(z: f64) -> f64 {
    tanh_parts(z).0
}

/// tanh z = e / (e + 2) with e = exp(2|z|) - 1, and 1 / (e + 2).
#[inline(always)]
pub fn tanh_parts(z: f64) -> (f64, f64) {
    // Beyond the range of exp tanh is 1 and its derivatives are below 1e-306.
    let (k, r) = split_by_ln_2(bounded(2.0 * z.abs(), EXP_RANGE));
    let scale = power_of_two(k, 0);
    let e = fused(scale, exp_m1(r), scale - 1.0);
    let h = 1.0 / (e + 2.0);
    // t = e h has one rounding too many: a Newton step removes it, for less than a second division.
    let t = e * h;
    (with_sign_of(z, fused(fused_exactly(-(e + 2.0), t, e), h, t)), h)
}

/// sin z and cos z: +-sin r or +-cos r, by the quadrant q mod 4.
#[inline(always)]
pub fn quadrants(z: f64) -> [f64; 2] {
    let (q, r) = split_by_half_pi(z.abs());
    let (sin, cos) = sin_cos(r);
    let (sin, cos) = if q & 1 == 0 { (sin, cos) } else { (cos, sin) };
    // sin is negative in the quadrants 2 and 3, cos in 1 and 2.
    [with_sign_of(z, flipped(sin, q)), flipped(cos, q.wrapping_add(1))]
}

/// 1.5 * 2^52: a sum with it is rounded to an integer, which stands in the lowest bits of the sum.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// ln 2 - `LN_2`.
const LN_2_REST: f64 = 2.319_046_813_846_299_6e-17;

/// pi / 2 - `FRAC_PI_2`, in two parts.
const FRAC_PI_2_REST: [f64; 2] = [6.123_233_995_736_766e-17, -1.497_384_904_859_169_8e-33];

/// 1 / n! for n = 0..=17.
const INVERSE_FACTORIAL: [f64; 18] = {
    let (mut inverse, mut factorial, mut n) = ([1.0; 18], 1.0, 1);
    while n < inverse.len() {
        factorial *= n as f64;
        inverse[n] = 1.0 / factorial;
        n += 1;
    }
    inverse
};

/// y = k ln 2 + r: the integer k in the low bits of a word, and r.
#[inline(always)]
pub fn split_by_ln_2(y: f64) -> (u64, f64) {
    let shifted = fused(y, LOG2_E, ROUNDER);
    let k = shifted - ROUNDER;
    // The first step is exact: y and k ln 2 agree in their leading bits.
    (shifted.to_bits(), fused(-k, LN_2_REST, fused_exactly(-k, LN_2, y)))
}

/// a = q pi/2 + r: the integer q in the low bits of a word, and r.
#[inline(always)]
fn split_by_half_pi(a: f64) -> (u64, f64) {
    let shifted = fused(a, FRAC_2_PI, ROUNDER);
    let q = shifted - ROUNDER;
    let r = fused_exactly(-q, FRAC_PI_2, a);
    (shifted.to_bits(), fused(-q, FRAC_PI_2_REST[1], fused(-q, FRAC_PI_2_REST[0], r)))
}

/// 2^(k + shift), a normal number, for a k in the low bits of a word.
#[inline(always)]
pub fn power_of_two(k: u64, shift: i64) -> f64 {
    f64::from_bits(k.wrapping_add_signed(1023 + shift) << 52)
}

/// exp(r) - 1 for |r| <= ln(2) / 2. Even and odd powers form two chains, so that neither waits for the other.
#[inline(always)]
pub fn exp_m1(r: f64) -> f64 {
    let r2 = r * r;
    let (mut even, mut odd) = (INVERSE_FACTORIAL[12], INVERSE_FACTORIAL[13]);
    for n in [10, 8, 6, 4, 2] {
        even = fused(even, r2, INVERSE_FACTORIAL[n]);
        odd = fused(odd, r2, INVERSE_FACTORIAL[n + 1]);
    }
    fused(r2, fused(odd, r, even), r)
}

/// sin r and cos r for |r| <= pi / 4.
#[inline(always)]
fn sin_cos(r: f64) -> (f64, f64) {
    let minus_r2 = -(r * r);
    let (mut sin, mut cos) = (INVERSE_FACTORIAL[17], INVERSE_FACTORIAL[16]);
    for n in [14, 12, 10, 8, 6, 4, 2] {
        sin = fused(sin, minus_r2, INVERSE_FACTORIAL[n + 1]);
        cos = fused(cos, minus_r2, INVERSE_FACTORIAL[n]);
    }
    (fused(minus_r2 * r, sin, r), fused(minus_r2, cos, 1.0))
}

/// min(a, bound), and NaN if a is: `f64::min` would drop it.
#[inline(always)]
pub fn bounded(a: f64, bound: f64) -> f64 {
    if a > bound { bound } else { a }
}

/// `a` with its sign flipped if z is negative.
#[inline(always)]
pub fn with_sign_of(z: f64, a: f64) -> f64 {
    f64::from_bits(a.to_bits() ^ (z.to_bits() & (1 << 63)))
}

/// `a` with its sign flipped in the upper two of four quadrants.
#[inline(always)]
fn flipped(a: f64, quadrant: u64) -> f64 {
    f64::from_bits(a.to_bits() ^ ((quadrant & 2) << 62))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest distance to the standard library at numbers of one sign and the other, in units in the last place.
    fn worst(ours: impl Fn(f64) -> f64, std: impl Fn(f64) -> f64, end: f64) -> f64 {
        let even = (0..=400_000).map(|i| end * f64::from(i) / 400_000.0);
        let sizes = (0..400_000).map(|i| 10f64.powf(-320.0 + 320.0 * f64::from(i) / 400_000.0));
        let apart = |z: f64| {
            let (ours, std) = (ours(z), std(z));
            (ours - std).abs() / (f64::EPSILON * std.abs()).max(5e-324)
        };
        even.chain(sizes).flat_map(|z| [z, -z]).map(apart).fold(0.0, f64::max)
    }

    #[test]
    fn values_are_those_of_the_standard_library_up_to_rounding() {
        let found = [
            worst(exp, f64::exp, EXP_RANGE),
            worst(sin, f64::sin, 1e3),
            worst(cos, f64::cos, 1e3),
            worst(sin, f64::sin, SINE_RANGE),
            worst(cos, f64::cos, SINE_RANGE),
            worst(tanh, f64::tanh, 30.0),
        ];
        assert!(found.iter().all(|&ulps| ulps <= 4.0) && found[0] <= 2.0, "{found:?}");
    }

    #[test]
    fn special_values() {
        assert_eq!([exp(0.0), exp(-0.0), cos(0.0), sin(0.0), tanh(0.0)], [1.0, 1.0, 1.0, 0.0, 0.0]);
        assert!([exp, sin, cos, tanh].iter().all(|f| f(f64::NAN).is_nan()));
        assert_eq!([tanh(f64::INFINITY), tanh(f64::NEG_INFINITY)], [1.0, -1.0]);
    }
}
