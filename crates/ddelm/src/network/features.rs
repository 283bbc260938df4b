//! The hidden layer of a local network: features `phi_j(xi) = sigma(w_j . xi + b_j)` with fixed random weights.
//!
//! Weights act on reference coordinates, in which every subdomain is the unit square. A network given in physical
//! coordinates, as in the paper, is the same function of the reference point: `w_ref = J' w`, `b_ref = b + w . F(0)`.
//!
//! # References
//! Paper, section 4.1: eq. (4.3), Remark 4.2 and the initializations of Table 1.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
use crate::domain::map::{Affine, Map, Point};
use crate::domain::shape::{PerShape, Shape};
use crate::network::activation::Activation;

/// The map of the reference triangle onto the equilateral one with sides of length one, in whose coordinates features are
/// drawn: there no direction is preferred.
pub const EQUILATERAL: Affine = Affine { origin: [0.0; 2], jacobian: [[1.0, 0.5], [0.0, 0.866_025_403_784_438_6]] };

/// Far more neurons than a local matrix can have.
const MOST_NEURONS: usize = 1 << 24;

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

/// A hidden layer in reference coordinates, with the polynomials beside it.
///
/// Its columns are the polynomials, then the neurons: output coefficients are in this order.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureNetwork {
    /// sigma
    pub activation: Activation,
    /// Number of [polynomials](crate::network::polynomial) beside the neurons.
    pub polynomials: usize,
    /// The weights of every neuron in the first and in the second direction.
    pub weights: [Vec<f64>; 2],
    /// The biases.
    pub biases: Vec<f64>,
}

/// The hidden layers of the subdomains.
#[derive(Debug, Clone, PartialEq)]
pub enum Networks<T> {
    /// One for all subdomains of a shape.
    Shared(PerShape<T>),
    /// One for each subdomain.
    Each(Vec<T>),
}

impl<T> Networks<T> {
    /// That of the k-th subdomain, which has this shape.
    pub fn of(&self, shape: Shape, k: usize) -> &T {
        match self {
            Networks::Shared(networks) => networks.of(shape),
            Networks::Each(networks) => &networks[k],
        }
    }

    /// All of them.
    pub fn iter(&self) -> Box<dyn Iterator<Item = &T> + '_> {
        match self {
            Networks::Shared(networks) => Box::new(networks.iter().map(|(_, network)| network)),
            Networks::Each(networks) => Box::new(networks.iter()),
        }
    }
}

impl Networks<FeatureNetwork> {
    /// The same, to be shared between solutions.
    pub fn shared(self) -> Networks<Arc<FeatureNetwork>> {
        match self {
            Networks::Shared(networks) => Networks::Shared(networks.map(Arc::new)),
            Networks::Each(networks) => Networks::Each(networks.into_iter().map(Arc::new).collect()),
        }
    }
}

impl FeatureNetwork {
    /// Draws a network. The generator is ChaCha8 with the seed as key and the subdomain as stream, so that the draw
    /// does not depend on threads, ranks or the order of the subdomains.
    ///
    /// `map` is the subdomain's map where the initialization is in physical coordinates.
    pub fn sample(d: &Distribution, neurons: usize, seed: u64, subdomain: usize, map: Option<Affine>) -> Result<Self> {
        if neurons > MOST_NEURONS {
            let problem = format!("a network has at most {MOST_NEURONS} neurons");
            return Err(Error::input("discretization.neurons", neurons, problem, "points^2 is usual"));
        }
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
        Ok(FeatureNetwork { activation: d.activation, polynomials: 0, weights, biases })
    }

    /// The features that were drawn around the unit square, moved to the middle of the equilateral triangle, in the
    /// coordinates of the reference triangle.
    #[must_use]
    pub fn on_triangle(mut self) -> Self {
        let center = EQUILATERAL.point([1.0 / 3.0; 2]);
        for j in 0..self.len() {
            let w = [self.weights[0][j], self.weights[1][j]];
            self.biases[j] += w[0] * (0.5 - center[0]) + w[1] * (0.5 - center[1]);
            let (reference, shift) = to_reference(&EQUILATERAL, w);
            (self.weights[0][j], self.weights[1][j]) = (reference[0], reference[1]);
            self.biases[j] += shift;
        }
        self
    }

    /// A network given by weights and biases in physical coordinates.
    pub fn from_physical(activation: Activation, w: [&[f64]; 2], b: &[f64], map: Option<Affine>) -> Result<Self> {
        let affine = map.ok_or_else(|| needs_affine("network.weights", "given weights".into()))?;
        let mut network =
            FeatureNetwork { activation, polynomials: 0, weights: [Vec::new(), Vec::new()], biases: Vec::new() };
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

    /// Number of columns: polynomials and neurons.
    pub fn columns(&self) -> usize {
        self.polynomials + self.len()
    }

    /// The network of the chosen neurons, with the same polynomials.
    pub fn select(&self, neurons: &[usize]) -> FeatureNetwork {
        let pick = |v: &[f64]| neurons.iter().map(|&j| v[j]).collect();
        FeatureNetwork {
            activation: self.activation,
            polynomials: self.polynomials,
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
