//! `a b + c`, rounded once where the machine can do that.
//!
//! WebAssembly has no such instruction that is sure to round once, and to do it in software takes as long as thirty operations.
//! There [`fused`] rounds the product, too, and [`fused_exactly`] adds what that rounding took away. Everywhere
//! else both are the machine's fused operation.
//!
//! # References
//! T. J. Dekker, *A floating-point technique for extending the available precision*, Numer. Math. 18 (1971): the error of a
//! product by halves of its factors.

/// `a b + c`, where it does not matter whether the product is rounded.
#[inline(always)]
pub fn fused(a: f64, b: f64, c: f64) -> f64 {
    if cfg!(target_family = "wasm") { a * b + c } else { a.mul_add(b, c) }
}

/// `a b + c` with the product as it is, for sums in which its leading digits cancel. Factors are below 1e290.
#[inline(always)]
pub fn fused_exactly(a: f64, b: f64, c: f64) -> f64 {
    if cfg!(target_family = "wasm") { by_halves(a, b, c) } else { a.mul_add(b, c) }
}

/// `a b + c` by halves of the factors: good to a rounding of the sum where c is as large as the product, or cancels it.
#[inline(always)]
fn by_halves(a: f64, b: f64, c: f64) -> f64 {
    let product = a * b;
    let ([a1, a2], [b1, b2]) = (halves(a), halves(b));
    let lost = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2;
    (product + c) + lost
}

/// A number as a sum of two of 26 bits each, whose products are exact.
#[inline(always)]
fn halves(a: f64) -> [f64; 2] {
    const SPLITTER: f64 = 134_217_729.0; // 2^27 + 1
    let scaled = SPLITTER * a;
    let high = scaled - (scaled - a);
    [high, a - high]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_rounding_of_a_product_is_found_exactly(a in -1e100..1e100, b in -1e-90..1e90) {
            let product: f64 = a * b;
            prop_assert_eq!(by_halves(a, b, -product), a.mul_add(b, -product));
        }

        #[test]
        fn a_reduced_argument_is_exact(y in -700.0..700.0) {
            // As the exponential is reduced: the leading digits of k ln 2 and y cancel.
            let k = f64::round(y * std::f64::consts::LOG2_E);
            let (found, expected) = (by_halves(-k, std::f64::consts::LN_2, y), (-k).mul_add(std::f64::consts::LN_2, y));
            prop_assert!((found - expected).abs() <= f64::EPSILON * expected.abs(), "{} {}", found, expected);
        }
    }
}
