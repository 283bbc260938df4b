//! The dense factorizations of one subdomain.
//!
//! Eliminating the output coefficients of a subdomain asks for the inverse of its collocation matrix K (m rows, n
//! features) in the least-squares sense, K+, and for the projector I - K K+ onto what the features cannot reach:
//!
//! | factorization | formula | K+ | use |
//! | --- | --- | --- | --- |
//! | [`qr`] | K = Q_r R | R^-1 Q_r' | a basis for K: factors that are used again |
//! | [`Normal`] | K'K = L L' | L'^-1 L^-1 K' | a basis, well conditioned for K: one solve, the fast way |
//! | [`pivoted_qr`] | K P = Q_r \[R, *\] + dropped | P \[R^-1 Q_r'; 0\] | raw features, stopped at the numerical rank |
//! | [`truncated_svd`] | K = U_r S_r V_r' + dropped | V_r S_r^-1 U_r' | raw features; makes the reference basis |
//!
//! [`eigenvalues`] are for the exponents of corners ([`exponents`](crate::domain::exponents)) and [`eigenpairs`] for Arnoldi's
//! iteration, which no subdomain needs.
//!
//! Where few features are independent, [`truncated_svd_of_factors`] has the SVD at the price of the pivoted QR.
//!
//! In all of them K K+ is the orthogonal projector Q_r Q_r' (U_r U_r'). The two QR factorizations keep the whole
//! orthogonal m x m matrix Q = [Q_r, Q_perp] as a product of reflections, [`Householder`]: the first r rows of Q'x are
//! Q_r'x, which the coefficients need, and the other m - r rows are Q_perp'x, whose length is the residual
//! |(I - K K+) x|. No cancellation spoils it, which forming x - Q_r (Q_r'x) would allow.
//!
//! Everything here runs on the calling thread: the caller factors one subdomain per thread, which scales better than
//! threads inside one small matrix. Matrices are column-major. Numbers that are not finite give an error from the
//! factorizations and pass through the products and solves.
//!
//! # References
//!
//! Section 3 of the paper (the local problems and their pseudo-inverses). Golub and Van Loan, Matrix Computations,
//! 4th edition: 5.2.3 (blocked Householder QR), 5.4.2 (column pivoting), 5.5.1 (the SVD and rank).

mod eigenvalues;
mod householder;
mod normal;
mod panel;
mod pivoted;
mod product;
#[cfg(test)]
mod samples;
mod scratch;
mod sketch;
mod svd;

pub use faer::{Mat, MatMut, MatRef};

pub use eigenvalues::{eigenpairs, eigenvalues};
pub use householder::{Householder, Qr, qr};
pub use normal::Normal;
pub use pivoted::{PivotedQr, pivoted_qr, pivoted_qr_beyond};
pub use product::{
    multiply, multiply_add, multiply_add_vector, multiply_vector, solve_upper, solve_upper_right, solve_upper_transpose,
};
pub use scratch::Scratch;
pub use svd::{TruncatedSvd, truncated_svd, truncated_svd_of_factors};

use pulp::Arch;

use crate::base::error::{Error, Result};

/// A factorization that failed, with the reason.
fn failure(problem: impl Into<String>) -> Error {
    Error::Compute {
        stage: "factorization of a subdomain",
        problem: problem.into(),
        hint: "check the coefficients of the equation for values that are infinite, not a number or extreme".into(),
    }
}

/// The largest magnitude among the entries of `k`, which must be finite.
fn largest_entry(k: MatRef<f64>) -> Result<f64> {
    // Without the sign, floating-point numbers are ordered as their bits are, infinity and not-a-number on top. And a
    // maximum of integers vectorizes.
    let mut largest = 0;
    Arch::new().dispatch(|| {
        for x in k.col_iter().flat_map(|column| column.iter()) {
            largest = largest.max(x.abs().to_bits());
        }
    });
    let largest = f64::from_bits(largest);
    if largest.is_finite() { Ok(largest) } else { Err(failure("the matrix has an entry that is not finite")) }
}

/// A power of two near 1 / `size`, so that scaling by it is exact; clamped such that its inverse is finite too.
fn reciprocal_scale(size: f64) -> f64 {
    const LIMIT: i32 = 1000;
    let exponent = ((size.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    2.0_f64.powi(-exponent.clamp(-LIMIT, LIMIT))
}
