//! The hidden layer of a local network: features `phi_j(xi) = sigma(w_j . xi + b_j)` with fixed random weights.
//!
//! Weights act on reference coordinates, in which every subdomain is the unit square. A network given in physical
//! coordinates, as in the paper, is the same function of the reference point: `w_ref = J' w`, `b_ref = b + w . F(0)`.
//!
//! # References
//! Paper, section 4.1: eq. (4.3), Remark 4.2 and the initializations of Table 1.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::activation::Activation;
use crate::error::{Error, Result};
use crate::map::{Affine, Point};

/// How weights and biases are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Initialization {
    /// Paper, eq. (4.3): weights uniform in `[-l, l]^2` in reference coordinates, `l = c sqrt(neurons)`; biases
    /// `-w . xi` with xi uniform in the subdomain enlarged by r times its side on every side.
    Suggested,
    /// Paper, Remark 4.2: the same with a density proportional to `|w|`.
    Weighted,
    /// Weights uniform in `[-l, l]^2` in physical coordinates, biases as suggested.
    Manual,
    /// As suggested, with He's `l = sqrt(2 / neurons)`, the paper's Table 1.
    He,
    /// As suggested, with Glorot's `l = sqrt(6 / (2 + neurons))`.
    Glorot,
}

/// What the features of a subdomain are drawn from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distribution {
    /// sigma
    pub activation: Activation,
    /// The kind of distribution.
    pub initialization: Initialization,
    /// Half the range of the weights, l.
    pub scale: f64,
    /// By how much of its side the subdomain is enlarged for the biases, r.
    pub radius: f64,
}

/// A hidden layer in reference coordinates.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureNetwork {
    /// sigma
    pub activation: Activation,
    /// The weights of every neuron in the first and in the second direction.
    pub weights: [Vec<f64>; 2],
    /// The biases.
    pub biases: Vec<f64>,
}

impl FeatureNetwork {
    /// Draws a network. The generator is ChaCha8 with the seed as key and the subdomain as stream, so that the draw
    /// does not depend on threads, ranks or the order of the subdomains.
    ///
    /// `map` is the subdomain's map where the initialization is in physical coordinates.
    pub fn sample(d: &Distribution, neurons: usize, seed: u64, subdomain: usize, map: Option<Affine>) -> Result<Self> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(subdomain as u64);
        let mut uniform = || (rng.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64);
        let l = d.scale;
        let affine = match (d.initialization == Initialization::Manual, map) {
            (false, _) => None,
            (true, Some(affine)) => Some(affine),
            (true, None) => return Err(needs_affine("network.initialization", format!("{:?}", d.initialization))),
        };
        let (mut weights, mut biases) = ([Vec::with_capacity(neurons), Vec::with_capacity(neurons)], Vec::new());
        for _ in 0..neurons {
            let mut w = [0.0; 2];
            loop {
                w.iter_mut().for_each(|v| *v = (2.0 * uniform() - 1.0) * l);
                let weighted = d.initialization == Initialization::Weighted;
                if !weighted || uniform() * l * std::f64::consts::SQRT_2 <= w[0].hypot(w[1]) {
                    break;
                }
            }
            let xi: Point = [0, 1].map(|_| (1.0 + 2.0 * d.radius) * uniform() - d.radius);
            // A neuron centred at F(xi) has bias -w . F(xi), which is -w_ref . xi in reference coordinates.
            let w = affine.map_or(w, |affine| to_reference(&affine, w).0);
            weights[0].push(w[0]);
            weights[1].push(w[1]);
            biases.push(-(w[0] * xi[0] + w[1] * xi[1]));
        }
        Ok(FeatureNetwork { activation: d.activation, weights, biases })
    }

    /// A network given by weights and biases in physical coordinates.
    pub fn from_physical(activation: Activation, w: [&[f64]; 2], b: &[f64], map: Option<Affine>) -> Result<Self> {
        let affine = map.ok_or_else(|| needs_affine("network.weights", "given weights".into()))?;
        let mut network = FeatureNetwork { activation, weights: [Vec::new(), Vec::new()], biases: Vec::new() };
        for ((&w0, &w1), &b) in w[0].iter().zip(w[1]).zip(b) {
            let (reference, shift) = to_reference(&affine, [w0, w1]);
            network.weights[0].push(reference[0]);
            network.weights[1].push(reference[1]);
            network.biases.push(b + shift);
        }
        Ok(network)
    }

    /// Number of neurons.
    pub fn len(&self) -> usize {
        self.biases.len()
    }

    /// Whether there are no neurons.
    pub fn is_empty(&self) -> bool {
        self.biases.is_empty()
    }

    /// The network of the chosen neurons.
    pub fn select(&self, neurons: &[usize]) -> FeatureNetwork {
        let pick = |v: &[f64]| neurons.iter().map(|&j| v[j]).collect();
        FeatureNetwork {
            activation: self.activation,
            weights: [pick(&self.weights[0]), pick(&self.weights[1])],
            biases: pick(&self.biases),
        }
    }
}

/// `w . x + b` with `x = F(xi)` is `w_ref . xi + (b + shift)`.
fn to_reference(affine: &Affine, w: Point) -> (Point, f64) {
    let j = &affine.jacobian;
    ([0, 1].map(|k| j[0][k] * w[0] + j[1][k] * w[1]), w[0] * affine.origin[0] + w[1] * affine.origin[1])
}

fn needs_affine(key: &str, value: String) -> Error {
    Error::input(
        key,
        value,
        "weights in physical coordinates need subdomains that are affine images of a square",
        "use initialization = \"suggested\" on curved subdomains",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::Map;

    fn distribution(initialization: Initialization) -> Distribution {
        Distribution { activation: Activation::Tanh, initialization, scale: 2.0, radius: 0.5 }
    }

    #[test]
    fn the_first_weights_for_a_seed_never_change() {
        let network = FeatureNetwork::sample(&distribution(Initialization::Suggested), 3, 42, 5, None).unwrap();
        let expected = [-0.5890682725723195, 0.5065426362004799, -0.14368237237197945, -0.6533468131229246];
        let found = [network.weights[0][0], network.weights[1][0], network.biases[0], network.biases[2]];
        assert_eq!(found, expected);
    }

    #[test]
    fn physical_weights_are_the_same_function() {
        let map = Affine { origin: [1.0, -2.0], jacobian: [[0.5, 0.1], [0.0, 0.25]] };
        let network = FeatureNetwork::from_physical(Activation::Tanh, [&[3.0], &[-1.0]], &[0.7], Some(map)).unwrap();
        let xi = [0.3, 0.9];
        let x = map.point(xi);
        let z = network.weights[0][0] * xi[0] + network.weights[1][0] * xi[1] + network.biases[0];
        assert!((z - (3.0 * x[0] - x[1] + 0.7)).abs() < 1e-14);
    }

    #[test]
    fn weights_stay_in_their_range() {
        let map = Affine::rectangle([0.0, 0.0], 0.5, 0.5);
        let ranges = [(Initialization::Suggested, 2.0), (Initialization::Weighted, 2.0), (Initialization::Manual, 1.0)];
        for (kind, l) in ranges {
            let network = FeatureNetwork::sample(&distribution(kind), 500, 1, 0, Some(map)).unwrap();
            let largest = network.weights.iter().flatten().fold(0.0f64, |a, w| a.max(w.abs()));
            assert!(largest <= l && largest > 0.95 * l, "{kind:?}: {largest}");
        }
    }

    #[test]
    fn the_weighted_density_prefers_large_weights() {
        let mean = |kind| {
            let network = FeatureNetwork::sample(&distribution(kind), 4000, 3, 0, None).unwrap();
            (0..4000).map(|j| network.weights[0][j].hypot(network.weights[1][j])).sum::<f64>() / 4000.0
        };
        // E|w| = 0.765 l for the uniform density, E|w|^2 / E|w| = 0.871 l for the weighted one.
        assert!((mean(Initialization::Suggested) / 2.0 - 0.765).abs() < 0.02);
        assert!((mean(Initialization::Weighted) / 2.0 - 0.871).abs() < 0.02);
    }
}
