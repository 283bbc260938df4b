//! What the user may choose, with the two presets.
//!
//! The same structs stand behind the Rust interface, problem files and Python, so that a default means the same
//! everywhere.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
use crate::domain::collocation::Nodes;
use crate::domain::shape::Shape;
use crate::network::activation::Activation;
use crate::network::features::Initialization;
use crate::network::polynomial;
use crate::problem::model::Equation;

/// A set of defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// Shared reference features, Chebyshev nodes, scaled rows, direct interface solve with refinement.
    #[default]
    Fast,
    /// Algorithm 1 of the paper: own features, uniform nodes, rows as they stand, conjugate gradients.
    Paper,
}

/// How the local problems are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// The Schur complement system for the interface values (the paper's method).
    Schur,
    /// One network for the whole domain.
    Elm,
    /// Local networks with continuity rows in one global least-squares problem (LocELM, DPIELM).
    Locelm,
}

/// Whether subdomains have the same features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sharing {
    /// One network in reference coordinates for all.
    Shared,
    /// One network each.
    Independent,
}

/// How the inverse of a local matrix is truncated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Truncation {
    /// Column-pivoted QR.
    Qr,
    /// Singular value decomposition.
    Svd,
}

/// How the interface system is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InterfaceSolver {
    /// Conjugate gradients on the Schur complement system.
    Cg,
    /// Multifrontal factorization, with refinement.
    Direct,
}

/// What the interface values are determined by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coupling {
    /// The jumps of the fluxes vanish, `D u = d`: as many equations as unknowns.
    FluxBalance,
    /// The residuals of the subdomains and the jumps are least, `(T + D' D) u = r` (the paper).
    LeastSquares,
}

/// Which vertices have rings about them; see [`ringed`](crate::domain::ringed).
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Corners {
    /// None.
    None,
    /// Those where the solution is not smooth, or may not be. Problems that are not linear and of second order have none.
    #[default]
    Auto,
    /// All corners of the domain, ends of parts of its boundary, and points where materials meet at an angle.
    All,
    /// The vertices at these points.
    Points(Vec<[f64; 2]>),
}

/// As a file has it.
impl fmt::Display for Corners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Corners::None => write!(f, "\"none\""),
            Corners::Auto => write!(f, "\"auto\""),
            Corners::All => write!(f, "\"all\""),
            Corners::Points(points) => write!(f, "{points:?}"),
        }
    }
}

/// Hidden layers given by the user, in physical coordinates.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenWeights {
    /// Neurons per subdomain, M.
    pub neurons: usize,
    /// w of shape (subdomains, 2, M).
    pub w: Vec<f64>,
    /// b of shape (subdomains, M).
    pub b: Vec<f64>,
}

/// Points per side beyond which a local matrix takes more than 30 GB.
const MOST_POINTS: usize = 256;

/// The range of the weights on a triangle, relative to that on a square.
const TRIANGLE_SCALE: f64 = 0.8;

/// All choices of a solve on a given decomposition.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How the local problems are put together.
    pub method: Method,
    /// Intervals per side of a subdomain, n.
    pub points: usize,
    /// Neurons per subdomain, M; `None` is `points^2`.
    pub neurons: Option<usize>,
    /// Where the nodes lie; `None` is as the problem asks for: Chebyshev points, or Gauss points where advection is fast or diffusion prefers a direction
    /// (see [`tested`](crate::local::tested)).
    pub nodes: Option<Nodes>,
    /// Which vertices have rings.
    pub corners: Corners,
    /// Whether rows are scaled and weighted.
    pub scaled_rows: bool,
    /// Whether subdomains have the same features.
    pub sharing: Sharing,
    /// sigma
    pub activation: Activation,
    /// How weights are drawn.
    pub initialization: Initialization,
    /// Half the range of the weights, l: in reference coordinates for `suggested` and `weighted`, in physical ones
    /// for `manual`. `None` is `c sqrt(M)` if c is given, else the preset's.
    pub scale: Option<f64>,
    /// The constant c of `l = c sqrt(M)` (paper, eq. (4.3)); `None` is the preset's scale.
    pub c: Option<f64>,
    /// By how much of its side the subdomain is enlarged for the biases, r.
    pub radius: f64,
    /// The seed of the weights.
    pub seed: u64,
    /// Hidden layers to use instead of random ones.
    pub weights: Option<Arc<GivenWeights>>,
    /// How the inverse of a local matrix is truncated.
    pub truncation: Truncation,
    /// Directions smaller than this times the largest are dropped; `None` is the preset's.
    pub drop_below: Option<f64>,
    /// How the interface system is solved.
    pub interface: InterfaceSolver,
    /// Relative residual at which conjugate gradients stop.
    pub interface_tolerance: f64,
    /// Largest number of iterations of conjugate gradients.
    pub max_iterations: usize,
    /// Largest number of refinement steps after a direct solve.
    pub refinements: usize,
    /// Bytes of memory that a solve may take by its [cost](crate::method::cost); `None` is what the machine
    /// [has](crate::base::memory::available).
    pub max_memory: Option<u64>,
    /// Subdomains beyond which a tolerance is given up; `None` is a limit by the size of the problem.
    pub max_subdomains: Option<usize>,
    /// Seconds after which a tolerance is given up.
    pub max_seconds: Option<f64>,
}

impl Settings {
    /// The default method.
    pub fn fast() -> Self {
        Settings {
            method: Method::Schur,
            points: 16,
            neurons: None,
            nodes: None,
            corners: Corners::Auto,
            scaled_rows: true,
            sharing: Sharing::Shared,
            activation: Activation::Tanh,
            initialization: Initialization::Weighted,
            scale: None,
            c: None,
            radius: 1.0,
            seed: 0,
            weights: None,
            truncation: Truncation::Qr,
            drop_below: None,
            interface: InterfaceSolver::Direct,
            interface_tolerance: 1e-9,
            max_iterations: 100_000,
            refinements: 8,
            max_memory: None,
            max_subdomains: None,
            max_seconds: None,
        }
    }

    /// The method of the paper, to the letter.
    pub fn paper() -> Self {
        Settings {
            nodes: Some(Nodes::Uniform),
            corners: Corners::None,
            scaled_rows: false,
            sharing: Sharing::Independent,
            initialization: Initialization::Suggested,
            radius: 0.5,
            interface: InterfaceSolver::Cg,
            ..Settings::fast()
        }
    }

    /// The settings of a preset.
    pub fn preset(preset: Preset) -> Self {
        match preset {
            Preset::Fast => Settings::fast(),
            Preset::Paper => Settings::paper(),
        }
    }

    /// Neurons per subdomain.
    pub fn neurons(&self) -> usize {
        match &self.weights {
            Some(given) => given.neurons,
            None => self.neurons.unwrap_or(self.points.saturating_mul(self.points)),
        }
    }

    /// What the interface values are determined by. Corners that are nodes have more fluxes than values, and conjugate
    /// gradients want a symmetric matrix: these take least squares.
    pub fn coupling(&self) -> Coupling {
        match (self.nodes(), self.interface) {
            (Nodes::Chebyshev | Nodes::Gauss, InterfaceSolver::Direct) => Coupling::FluxBalance,
            _ => Coupling::LeastSquares,
        }
    }

    /// Where the nodes lie, Chebyshev points where that is left open.
    pub fn nodes(&self) -> Nodes {
        self.nodes.unwrap_or(Nodes::Chebyshev)
    }

    /// Neurons that are drawn: of shared features twice as many as are kept, and a few hundred more than are kept in any case.
    pub fn candidates(&self, rows: usize) -> usize {
        const SPARE: usize = 200;
        let kept = self.kept(rows);
        if self.has_skip_connection() { kept + kept.max(SPARE) } else { self.neurons() }
    }

    /// Neurons of shared features that are kept at most: with the polynomials they leave enough rows to spare.
    pub fn kept(&self, rows: usize) -> usize {
        self.neurons().min(self.most_functions(rows).saturating_sub(self.polynomials(rows)).max(1))
    }

    /// Functions of a reference basis at most. Where rows are tested, as many as there are polynomials whose traces the nodes of a side
    /// tell apart.
    fn most_functions(&self, rows: usize) -> usize {
        match self.nodes() {
            Nodes::Gauss => polynomial::count(self.points + 1).min(safe_rank(rows)),
            Nodes::Chebyshev | Nodes::Uniform => safe_rank(rows),
        }
    }

    /// Polynomials beside the features. There are at least as many features as polynomials.
    pub fn polynomials(&self, rows: usize) -> usize {
        match self.has_skip_connection() {
            true => polynomial::degree_of(safe_rank(rows).min(2 * self.neurons()) / 2).map_or(0, polynomial::count),
            false => 0,
        }
    }

    fn has_skip_connection(&self) -> bool {
        self.shares_features() && self.nodes() != Nodes::Uniform && self.method != Method::Locelm
    }

    /// Whether all subdomains have the same features in reference coordinates. Given ones are in physical coordinates.
    pub fn shares_features(&self) -> bool {
        self.sharing == Sharing::Shared && self.weights.is_none()
    }

    /// Half the range of the weights, l.
    ///
    /// The paper's is `c sqrt(M)`. The default method's grows faster, like `M^(3/4)`: that keeps the numerical rank of the
    /// features at the same fraction of the rows for any number of points.
    pub fn scale_for(&self, equation: &Equation, shape: Shape) -> f64 {
        let neurons = self.neurons() as f64;
        let high = equation.order() > 2;
        let preset = match (self.initialization, self.scaled_rows) {
            (Initialization::Manual, _) => 1.0,
            (Initialization::He, _) => (2.0 / neurons).sqrt(),
            (Initialization::Glorot, _) => (6.0 / (2.0 + neurons)).sqrt(),
            // More candidates are independent: smoother ones reach the same rank.
            (_, true) if self.has_skip_connection() => neurons.powf(0.75) * if high { 0.012 } else { 0.0165 },
            (_, true) => neurons.powf(0.75) * if high { 0.014 } else { 0.019 },
            (_, false) => neurons.sqrt() * if high { 0.0625 } else { 0.125 },
        };
        // A triangle has half the area, and half as many features.
        let preset = if shape == Shape::Triangle { TRIANGLE_SCALE * preset } else { preset };
        self.scale.or(self.c.map(|c| c * neurons.sqrt())).unwrap_or(preset)
    }

    /// Directions of the reference basis smaller than this times the largest are dropped.
    ///
    /// The last ones carry rounding noise of about the machine precision over the cut. A solution that is not smooth needs
    /// them, and the noise with them; a plate never does, and gains from every digit.
    pub fn basis_cut(&self, equation: &Equation) -> f64 {
        self.drop_below.unwrap_or(if equation.order() > 2 { 1e-15 } else { 5e-15 })
    }

    /// Directions of a subdomain's own features smaller than this times the norm of its matrix are dropped.
    ///
    /// The paper's is rounding times the larger dimension. The last directions bring accuracy, and noise in the fluxes of
    /// about the machine precision over the cut: conjugate gradients slow down with it, the direct solve does not mind.
    pub fn feature_cut(&self, rows: usize) -> f64 {
        let units = match (self.truncation, self.interface) {
            (Truncation::Qr, InterfaceSolver::Direct) => 16.0,
            _ => rows.max(self.neurons()) as f64,
        };
        self.drop_below.unwrap_or(units * f64::EPSILON)
    }

    /// Refuses what the method cannot work with.
    pub fn validate(&self) -> Result<()> {
        let bad = |key: &str, value: String, problem: &str, hint: &str| Err(Error::input(key, value, problem, hint));
        if self.points < 2 {
            return bad(
                "discretization.points",
                self.points.to_string(),
                "a subdomain needs at least two intervals per side",
                "10 to 24 is usual",
            );
        }
        if self.points > MOST_POINTS {
            return bad(
                "discretization.points",
                self.points.to_string(),
                "a local matrix would not fit into memory",
                "10 to 24 is usual; use more subdomains instead",
            );
        }
        if self.neurons() == 0 {
            return bad(
                "discretization.neurons",
                "0".into(),
                "a network needs at least one neuron",
                "points^2 is usual",
            );
        }
        for (key, value) in [("network.scale", self.scale), ("network.c", self.c)] {
            if let Some(v) = value.filter(|v| !(v.is_finite() && *v > 0.0)) {
                return bad(key, v.to_string(), "it must be a positive number", "leave it out for the default");
            }
        }
        if !(self.radius.is_finite() && self.radius >= 0.0) {
            return bad("network.r", self.radius.to_string(), "it must not be negative", "0.5 to 1 is usual");
        }
        if let Some(v) = self.drop_below.filter(|v| !(0.0..1.0).contains(v)) {
            return bad("network.cut", v.to_string(), "it must lie between 0 and 1", "leave it out for the default");
        }
        if !(self.interface_tolerance > 0.0 && self.interface_tolerance < 1.0) {
            return bad(
                "interface.tolerance",
                self.interface_tolerance.to_string(),
                "a relative residual lies between 0 and 1",
                "1e-9 is the default",
            );
        }
        if self.max_iterations == 0 {
            return bad(
                "interface.max_iterations",
                "0".into(),
                "at least one iteration is needed",
                "100000 is the default",
            );
        }
        Ok(())
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings::fast()
    }
}

/// Largest rank as a fraction of the number of rows. From 0.75 to 0.85 the accuracy is the same; near 1 it is lost.
pub const SAFE_RANK: f64 = 0.8;

/// The largest rank that leaves enough equations to spare.
pub fn safe_rank(rows: usize) -> usize {
    ((SAFE_RANK * rows as f64) as usize).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_are_no_sizes_are_refused() {
        for points in [0, 1, 257, usize::MAX] {
            let settings = Settings { points, ..Settings::fast() };
            assert!(settings.validate().is_err() && settings.neurons() >= points, "{points}");
        }
    }

    #[test]
    fn every_initialization_has_a_scale_of_its_own_unless_one_is_given() {
        let settings = |initialization| Settings { neurons: Some(400), initialization, ..Settings::paper() };
        let kinds = [Initialization::Suggested, Initialization::Manual, Initialization::He, Initialization::Glorot];
        let found = kinds.map(|kind| settings(kind).scale_for(&Equation::poisson(), Shape::Quadrilateral));
        assert_eq!(found, [2.5, 1.0, (2.0_f64 / 400.0).sqrt(), (6.0_f64 / 402.0).sqrt()]);
        let given = Settings { scale: Some(0.5), ..settings(Initialization::He) };
        assert_eq!(given.scale_for(&Equation::poisson(), Shape::Quadrilateral), 0.5);
    }
}
