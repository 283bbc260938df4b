//! Polynomials of low degree beside the features: the skip connection of a network.
//!
//! Features of tanh do not contain 1, x, y, so that with few of them there is no convergence in the size of the
//! subdomains. The products `P_i(2 x - 1) P_j(2 y - 1)` of Legendre polynomials with `i + j <= degree` cure that.

use crate::network::symbol::{DERIVATIVES, ORDERS};

/// The highest degree that is used.
pub const MOST_DEGREE: usize = 4;

/// The Legendre polynomials of degree 0 to 4 by their coefficients.
const LEGENDRE: [[f64; 5]; MOST_DEGREE + 1] = [
    [1.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, 1.0, 0.0, 0.0, 0.0],
    [-0.5, 0.0, 1.5, 0.0, 0.0],
    [0.0, -1.5, 0.0, 2.5, 0.0],
    [0.375, 0.0, -3.75, 0.0, 4.375],
];

/// Number of polynomials of degree at most `degree`.
pub const fn count(degree: usize) -> usize {
    (degree + 1) * (degree + 2) / 2
}

/// The largest degree whose polynomials are at most so many, if any are.
pub fn degree_of(count_at_most: usize) -> Option<usize> {
    (0..=MOST_DEGREE).rev().find(|&degree| count(degree) <= count_at_most)
}

/// Writes `d^alpha p_k` at points of the reference square, for the derivative `ORDERS[a]`. Polynomials are numbered by
/// their degree, those of the same degree by their degree in y, as derivatives are.
pub fn column(k: usize, a: usize, x: &[f64], y: &[f64], out: &mut [f64]) {
    let [i, j] = ORDERS[k].map(usize::from);
    let [p, q] = ORDERS[a].map(usize::from);
    if p > i || q > j {
        out.fill(0.0);
        return;
    }
    out.fill(1.0);
    multiply(&derivative(i, p), i - p, x, out);
    multiply(&derivative(j, q), j - q, y, out);
}

/// Multiplies by a polynomial of some degree in `2 t - 1`.
fn multiply(c: &[f64; 5], degree: usize, t: &[f64], out: &mut [f64]) {
    match degree {
        0 => out.iter_mut().for_each(|out| *out *= c[0]),
        1 => multiply_by::<2>(c, t, out),
        2 => multiply_by::<3>(c, t, out),
        3 => multiply_by::<4>(c, t, out),
        _ => multiply_by::<5>(c, t, out),
    }
}

fn multiply_by<const TERMS: usize>(c: &[f64; 5], t: &[f64], out: &mut [f64]) {
    for (out, t) in out.iter_mut().zip(t) {
        let z = 2.0 * t - 1.0;
        *out *= c[..TERMS].iter().rev().fold(0.0, |sum, c| sum * z + c);
    }
}

/// The coefficients of the `order`-th derivative of `P_i(2 t - 1)` with respect to t, in powers of `2 t - 1`.
fn derivative(i: usize, order: usize) -> [f64; 5] {
    let mut c = LEGENDRE[i];
    for _ in 0..order {
        for k in 0..4 {
            c[k] = 2.0 * (k + 1) as f64 * c[k + 1];
        }
        c[4] = 0.0;
    }
    c
}

// The polynomials of degree at most four are numbered as the derivatives of order at most four.
const _: () = assert!(count(MOST_DEGREE) == DERIVATIVES);

#[cfg(test)]
mod tests {
    use super::*;

    fn value(k: usize, a: usize, x: f64, y: f64) -> f64 {
        let mut out = [0.0];
        column(k, a, &[x], &[y], &mut out);
        out[0]
    }

    #[test]
    fn derivatives_agree_with_differences() {
        let h = 1e-3;
        for k in 0..count(MOST_DEGREE) {
            for (a, orders) in ORDERS.iter().enumerate().filter(|(_, o)| o[0] + o[1] < 4) {
                let (x, y) = (0.3, 0.8);
                let slopes = [
                    (value(k, a, x + h, y) - value(k, a, x - h, y)) / (2.0 * h),
                    (value(k, a, x, y + h) - value(k, a, x, y - h)) / (2.0 * h),
                ];
                for (slope, step) in slopes.iter().zip([[1, 0], [0, 1]]) {
                    let next = crate::network::symbol::derivative([orders[0] + step[0], orders[1] + step[1]]);
                    assert!((slope - value(k, next, x, y)).abs() < 2e-2, "polynomial {k}, derivative {a}");
                }
            }
        }
    }

    #[test]
    fn values_at_the_corners_are_one_up_to_the_sign() {
        for (k, orders) in ORDERS.iter().enumerate() {
            assert_eq!(value(k, 0, 1.0, 1.0), 1.0);
            assert_eq!(value(k, 0, 0.0, 0.0), (-1f64).powi((orders[0] + orders[1]).into()));
        }
    }

    #[test]
    fn degrees_fit() {
        assert_eq!(
            [0, 1, 2, 3, 9, 10, 14, 15, 99].map(degree_of),
            [None, Some(0), Some(0), Some(1), Some(2), Some(3), Some(3), Some(4), Some(4)]
        );
    }
}
