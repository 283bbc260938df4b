//! The eigenvalues and eigenvectors of a real matrix.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, EvdError, evd_real, evd_scratch};
use faer::{Mat, MatRef, Par, Spec};

use super::{failure, largest_entry, reciprocal_scale};
use crate::base::error::Result;

/// The eigenvalues of a square matrix, as real and imaginary parts, in no order.
///
/// Each is exact for a matrix that differs by rounding times its norm. Entries that are not finite are an error, and so is an
/// iteration that does not converge.
///
/// # Panics
/// If the matrix is not square.
pub fn eigenvalues(a: MatRef<f64>) -> Result<Vec<[f64; 2]>> {
    decompose(a, None)
}

/// The eigenvalues of a square matrix, as real and imaginary parts, and its eigenvectors as columns. Of a pair of complex
/// ones that with the positive imaginary part comes first, and the two columns are the real and the imaginary part of its
/// eigenvector.
///
/// # Panics
/// If the matrix is not square.
pub fn eigenpairs(a: MatRef<f64>) -> Result<(Vec<[f64; 2]>, Mat<f64>)> {
    let mut vectors = Mat::zeros(a.nrows(), a.nrows());
    let values = decompose(a, Some(&mut vectors))?;
    Ok((values, vectors))
}

fn decompose(a: MatRef<f64>, vectors: Option<&mut Mat<f64>>) -> Result<Vec<[f64; 2]>> {
    let n = a.nrows();
    assert_eq!(n, a.ncols(), "only square matrices have eigenvalues");
    let scale = reciprocal_scale(largest_entry(a)?);
    let scaled = Mat::from_fn(n, n, |i, j| a[(i, j)] * scale);
    let (mut re, mut im) = (Diag::zeros(n), Diag::zeros(n));
    let (no, par) = (ComputeEigenvectors::No, Par::Seq);
    let right = if vectors.is_some() { ComputeEigenvectors::Yes } else { no };
    let mut buffer = MemBuffer::new(evd_scratch::<f64>(n, no, right, par, Spec::default()));
    let stack = MemStack::new(&mut buffer);
    evd_real(scaled.as_ref(), re.as_mut(), im.as_mut(), None, vectors.map(Mat::as_mut), par, stack, Spec::default())
        .map_err(|EvdError::NoConvergence| failure("the eigenvalues did not converge"))?;
    let (re, im) = (re.column_vector().iter(), im.column_vector().iter());
    Ok(re.zip(im).map(|(re, im)| [re / scale, im / scale]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_companion_matrix_has_the_roots_of_its_polynomial() {
        // (z - 1) (z - 2) (z - 3) (z^2 + 4) = z^5 - 6 z^4 + 15 z^3 - 30 z^2 + 44 z - 24
        let last = [24.0, -44.0, 30.0, -15.0, 6.0];
        for size in [1e-300, 1.0, 1e300] {
            let a = Mat::from_fn(5, 5, |i, j| size * if j == 4 { last[i] } else { f64::from(u8::from(i == j + 1)) });
            let mut found = eigenvalues(a.as_ref()).unwrap();
            found.iter_mut().flatten().for_each(|v| *v /= size);
            found.sort_by(|a, b| (a[0], a[1]).partial_cmp(&(b[0], b[1])).unwrap());
            let expected = [[0.0, -2.0], [0.0, 2.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]];
            for expected in expected {
                let distance = |v: &[f64; 2]| (v[0] - expected[0]).hypot(v[1] - expected[1]);
                assert!(found.iter().map(distance).fold(1.0, f64::min) < 1e-12, "{expected:?} of {found:?}");
            }
        }
    }

    #[test]
    fn eigenvectors_are_mapped_to_multiples_of_themselves() {
        // Blocks with the eigenvalues 2 +- 3i, 5 and -1, in other coordinates.
        let b: Mat<f64> = Mat::from_fn(4, 4, |i, j| match (i, j) {
            (0, 0) | (1, 1) => 2.0,
            (0, 1) => 3.0,
            (1, 0) => -3.0,
            (2, 2) => 5.0,
            (3, 3) => -1.0,
            _ => 0.0,
        });
        let t: Mat<f64> = Mat::from_fn(4, 4, |i, j| if i == j { 2.0 } else { 1.0 / (1.0 + (i + 2 * j) as f64) });
        let inverse = {
            use faer::linalg::solvers::DenseSolveCore;
            t.partial_piv_lu().inverse()
        };
        let a = &t * &b * &inverse;
        let (values, x) = eigenpairs(a.as_ref()).unwrap();
        let image = &a * &x;
        for (k, &[re, im]) in values.iter().enumerate() {
            for i in 0..4 {
                // A (p + iq) = (re + i im)(p + iq)
                let expected = match im {
                    0.0 => re * x[(i, k)],
                    im if im > 0.0 => re * x[(i, k)] - im * x[(i, k + 1)],
                    _ => -im * x[(i, k - 1)] + re * x[(i, k)],
                };
                assert!((image[(i, k)] - expected).abs() < 1e-12, "{values:?}");
            }
        }
    }

    #[test]
    fn what_is_not_a_number_is_an_error() {
        assert!(eigenvalues(Mat::from_fn(2, 2, |_, _| f64::NAN).as_ref()).is_err());
        assert_eq!(eigenvalues(Mat::zeros(0, 0).as_ref()).unwrap(), [[0.0; 2]; 0]);
    }
}
