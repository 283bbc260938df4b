//! Ellipticity: the symmetric part of the diffusion tensor is positive definite wherever it is looked at.
//!
//! Without it `-div(a grad u) = f` has no unique solution, or none that depends on the data, and rows that do not fit each
//! other still have a least-squares solution. So it is refused, at a node as at any other sampled point. The reaction
//! may have any sign (Helmholtz).

use crate::base::error::Error;
use crate::base::number::brief;
use crate::problem::model::Diffusion;

/// The smaller eigenvalue of the symmetric part of a tensor, by rows: a11, a12, a21, a22.
pub fn least_eigenvalue([a, b, c, d]: [f64; 4]) -> f64 {
    // Most tensors are numbers.
    if b == 0.0 && c == 0.0 {
        return if a < d || a.is_nan() { a } else { d };
    }
    let (mean, off) = (0.5 * (a + d), 0.5 * (b + c));
    let radius = (0.5 * (a - d)).hypot(off);
    // The determinant over the larger one: the difference would lose a small eigenvalue beside a large one.
    if mean > 0.0 { (a * d - off * off) / (mean + radius) } else { mean - radius }
}

/// The error for a tensor that is not positive definite, if it is not.
pub fn fault(diffusion: &Diffusion, tensor: [f64; 4], [x, y]: [f64; 2], subdomain: Option<usize>) -> Option<Error> {
    let least = least_eigenvalue(tensor);
    if least > 0.0 {
        return None;
    }
    let place = subdomain.map_or(String::new(), |s| format!(" (subdomain {s})"));
    let ([a, b, c, d], hint) = (tensor, "check the sign and the formula: the diffusion must be positive everywhere");
    let (value, problem) = match diffusion {
        Diffusion::Scalar(_) => (a.to_string(), format!("the diffusion must be positive, at x = {x}, y = {y}{place}")),
        Diffusion::Tensor(_) => (
            format!("[[{a}, {b}], [{c}, {d}]]"),
            format!(
                "the tensor must be positive definite, and has the eigenvalue {} at x = {x}, y = {y}{place}",
                brief(least, 4)
            ),
        ),
    };
    Some(Error::input("equation.diffusion", value, problem, hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvalues_are_those_of_the_symmetric_part() {
        assert_eq!(least_eigenvalue([1.0, 2.0, 2.0, 1.0]), -1.0);
        assert_eq!(least_eigenvalue([2.0, 5.0, -5.0, 3.0]), 2.0);
        assert_eq!(least_eigenvalue([1.0, 0.0, 0.0, 1e-20]), 1e-20);
        assert_eq!(least_eigenvalue([-1.0, 0.0, 0.0, -3.0]), -3.0);
        assert!(least_eigenvalue([1.0, 1.0, 1.0, 1.0]) <= 0.0);
    }
}
