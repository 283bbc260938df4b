//! Gauss-Legendre quadrature on [0, 1].
//!
//! The nodes of a side are Gauss nodes: a jump of the flux that vanishes at them has mean zero, so no flux is lost at an
//! interface. Integrals over subdomains use the same rule with more points.

/// The nodes in ascending order and their weights, which add up to one. Exact for polynomials of degree `2 count - 1`.
///
/// Nodes are the roots of the Legendre polynomial, found by Newton's method from `cos(pi (4k + 3) / (4m + 2))`; both halves
/// have the same distances from the ends to rounding.
pub fn gauss(count: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut nodes, mut weights) = (vec![0.5; count], vec![1.0; count]);
    for k in 0..count.div_ceil(2) {
        let mut z = (std::f64::consts::PI * (4 * k + 3) as f64 / (4 * count + 2) as f64).cos();
        let mut slope = 1.0;
        for _ in 0..10 {
            let (value, derivative) = legendre(count, z);
            slope = derivative;
            let step = value / derivative;
            z -= step;
            if step.abs() < 1e-16 {
                break;
            }
        }
        // The middle node of an odd rule.
        if 2 * k + 1 == count {
            (z, slope) = (0.0, legendre(count, 0.0).1);
        }
        let weight = 1.0 / ((1.0 - z * z) * slope * slope);
        (nodes[k], nodes[count - 1 - k]) = (0.5 * (1.0 - z), 0.5 * (1.0 + z));
        (weights[k], weights[count - 1 - k]) = (weight, weight);
    }
    (nodes, weights)
}

/// The weights of the Chebyshev points `sin^2(pi k / (2 n))`, k = 1, ..., n - 1: positive, they add up to one, and the rule is
/// exact for polynomials of degree `n - 2` (Fejer's second rule).
pub fn fejer(n: usize) -> Vec<f64> {
    let weight = |k: usize| {
        let theta = std::f64::consts::PI * k as f64 / n as f64;
        let odd = (1..=n / 2).map(|j| (2 * j - 1) as f64);
        2.0 * theta.sin() / n as f64 * odd.map(|j| (j * theta).sin() / j).sum::<f64>()
    };
    (1..n).map(weight).collect()
}

/// The Legendre polynomial of degree m and its derivative at z.
fn legendre(degree: usize, z: f64) -> (f64, f64) {
    let (mut before, mut value) = (0.0, 1.0);
    for k in 0..degree {
        let k = k as f64;
        (before, value) = (value, ((2.0 * k + 1.0) * z * value - k * before) / (k + 1.0));
    }
    let slope = degree as f64 * (z * value - before) / (z * z - 1.0);
    (value, slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_exact_for_polynomials() {
        for count in 1..40 {
            let (nodes, weights) = gauss(count);
            assert!(nodes.windows(2).all(|pair| pair[0] < pair[1]), "{count}");
            for degree in 0..2 * count {
                let sum: f64 = nodes.iter().zip(&weights).map(|(t, w)| w * t.powi(degree as i32)).sum();
                assert!((sum * (degree + 1) as f64 - 1.0).abs() < 1e-13, "{count} nodes, degree {degree}: {sum}");
            }
        }
    }

    #[test]
    fn chebyshev_points_have_positive_weights() {
        for n in 2..40usize {
            let weights = fejer(n);
            assert!(weights.iter().all(|w| *w > 0.0));
            for degree in 0..=n - 2 {
                let node = |k: usize| (std::f64::consts::FRAC_PI_2 * k as f64 / n as f64).sin().powi(2);
                let sum: f64 = weights.iter().enumerate().map(|(k, w)| w * node(k + 1).powi(degree as i32)).sum();
                assert!((sum * (degree + 1) as f64 - 1.0).abs() < 1e-12, "{n}, degree {degree}: {sum}");
            }
        }
    }

    #[test]
    fn nodes_are_symmetric() {
        for count in 1..30 {
            let (nodes, weights) = gauss(count);
            for k in 0..count {
                assert!((nodes[k] + nodes[count - 1 - k] - 1.0).abs() < 2e-16);
                assert_eq!(weights[k], weights[count - 1 - k]);
            }
        }
    }
}
