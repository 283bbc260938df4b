//! The transpose of [`Activation::network_sums`]: what every column of a network counts in a weighted sum of its derivatives at points.
//!
//! The features are nearly dependent, and what is made of these sums magnifies their rounding as much as the network would that of
//! its coefficients. So they are summed in twofold precision, over the very bits that the network is summed over.

use crate::algebra::twofold::Twofold;
use crate::network::polynomial;

use super::block::{BLOCK, RidgeBlock};
use super::{Activation, blocks, order, power};

impl Activation {
    /// `sum_i sum_m cotangents[m][i] (d^alpha_m phi_j)(x_i, y_i)` for every column j: the polynomials, then the ridge functions with these
    /// weights w and biases b; `derivatives` are indices into [`DERIVATIVES`](super::DERIVATIVES).
    ///
    /// # Panics
    /// If there are not as many cotangents as points, for each derivative.
    pub fn transposed_sums(
        self,
        polynomials: usize,
        (w, b): ([&[f64]; 2], &[f64]),
        (x, y): (&[f64], &[f64]),
        derivatives: &[usize],
        cotangents: &[Vec<f64>],
    ) -> Vec<Twofold> {
        assert!(cotangents.iter().all(|c| c.len() == x.len()), "a cotangent for every point");
        assert_eq!(derivatives.len(), cotangents.len(), "as many derivatives as cotangents");
        let mut out = vec![Twofold::ZERO; polynomials + b.len()];
        let Some(highest) = derivatives.iter().map(|&a| order(a)).max() else { return out };
        let mut block = RidgeBlock::new(self, highest);
        let mut values = [0.0; BLOCK];
        for range in blocks(x.len()) {
            let (x, y) = (&x[range.clone()], &y[range.clone()]);
            for (k, out) in out[..polynomials].iter_mut().enumerate() {
                for (&a, cotangents) in derivatives.iter().zip(cotangents) {
                    polynomial::column(k, a, x, y, &mut values[..x.len()]);
                    *out = out.plus(dot(&cotangents[range.clone()], &values));
                }
            }
            for (j, out) in out[polynomials..].iter_mut().enumerate() {
                let w = [w[0][j], w[1][j]];
                block.set_ridge(w, b[j], x, y);
                for (&a, cotangents) in derivatives.iter().zip(cotangents) {
                    *out = out.plus(dot(&cotangents[range.clone()], block.sigma(order(a))).times(power(w, a)));
                }
            }
        }
        out
    }
}

/// The sum of the products, as many as there are cotangents.
fn dot(cotangents: &[f64], values: &[f64]) -> Twofold {
    let product = |(&cotangent, &value): (&f64, &f64)| Twofold { high: cotangent, low: 0.0 }.times(value);
    cotangents.iter().zip(values).map(product).fold(Twofold::ZERO, Twofold::plus)
}
