//! The operators that the rows of a subdomain are made of, and their weighting against each other.
//!
//! Every row is an operator of the [equation](crate::problem::operators) in reference coordinates times a multiplier. In the paper all
//! multipliers are one. In the default
//! method the equation is divided by the size of its leading part (so that it is the reference Laplacian, give or
//! take the coefficient), traces and conditions have a weight against it, and fluxes are measured in units of the
//! edge: that makes the least-squares problem independent of the size of the subdomains and of the units of the
//! coefficients.

use crate::base::error::{Error, Result};
use crate::domain::map::Point;
use crate::domain::shape::Shape;
use crate::local::places::{Places, Scene};
use crate::network::symbol::Symbol;
use crate::problem::model::{Equation, Problem};

/// The weighting of the rows against each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Weighting {
    /// All rows as they stand (the paper).
    Unit,
    /// The equation divided by the size of its leading part; the rest weighted against it.
    Scaled {
        /// Traces, and conditions on u.
        trace: f64,
        /// Traces of the Laplacian, and conditions on it (plate).
        laplacian: f64,
        /// Conditions on the flux or the normal derivative.
        flux: f64,
    },
}

impl Weighting {
    /// The weight of the equation at a reference point, next to the scaling by its size.
    ///
    /// A residual close to the perimeter moves the solution little, because Green's function vanishes there; nodes are
    /// dense there, and residuals large where the solution is not smooth at a corner. So the weight goes to zero.
    pub fn interior(self, shape: Shape, xi: Point) -> f64 {
        match (self, shape) {
            (Weighting::Unit, _) => 1.0,
            (Weighting::Scaled { .. }, Shape::Quadrilateral) => {
                xi.iter().map(|t| 2.0 * (t * (1.0 - t)).sqrt()).product()
            }
            (Weighting::Scaled { .. }, Shape::Triangle) => (27.0 * xi[0] * xi[1] * (1.0 - xi[0] - xi[1])).sqrt(),
        }
    }

    /// What an interface value is multiplied with in the trace rows of a transmission pair.
    pub fn interface(self, pair: usize) -> f64 {
        match self {
            Weighting::Unit => 1.0,
            Weighting::Scaled { trace, laplacian, .. } => [trace, laplacian][pair],
        }
    }

    /// That of the default method.
    pub fn default_for(equation: &Equation) -> Self {
        match equation.pairs() {
            1 => Weighting::Scaled { trace: 100.0, laplacian: 0.0, flux: 100.0 },
            _ => Weighting::Scaled { trace: 1000.0, laplacian: 100.0, flux: 1000.0 },
        }
    }
}

/// Units of the traces and fluxes on an edge, one per transmission pair. Both sides use the same.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeUnits {
    /// An interface value is this times the trace.
    pub trace: [f64; 2],
    /// A jump is this times the sum of the two outward fluxes,
    pub flux: [f64; 2],
    /// ... times this, for every node along the edge; one where there is none.
    pub stretch: Vec<f64>,
    /// The length of the edge that every node along it stands for; nothing where nodes are uniform.
    pub lengths: Vec<f64>,
    /// Whether fluxes are those of `a grad u - b u`, with what advection carries.
    pub carries: bool,
}

impl EdgeUnits {
    /// Traces and fluxes as they stand.
    pub const UNIT: Self =
        EdgeUnits { trace: [1.0; 2], flux: [1.0; 2], stretch: Vec::new(), lengths: Vec::new(), carries: false };

    /// The unit of a jump at the k-th node along the edge.
    pub fn flux_unit(&self, pair: usize, k: usize) -> f64 {
        self.flux[pair] * self.stretch.get(k).copied().unwrap_or(1.0)
    }
}

/// The operator L at reference points of a subdomain, in reference coordinates, not scaled.
pub fn interior_symbols(scene: &Scene<'_>, s: usize, xi: &[Point]) -> Result<Vec<Symbol>> {
    if scene.problem.equation.needs_affine_maps() && scene.subdomain(s).map.affine().is_none() {
        return Err(Error::input(
            "equation.plate",
            "curved subdomains",
            format!("the plate is solved on affine subdomains only, and subdomain {s} is curved"),
            "use a domain with straight sides, cut into triangles and parallelograms",
        ));
    }
    let places = scene.places(s, xi);
    let symbols = scene.problem.interior(&places)?;
    Ok(places.pull_back(&symbols).collect())
}

/// The flux of a transmission pair at points with these outward unit normals, in reference coordinates.
pub(crate) fn flux_symbols(
    problem: &Problem,
    places: &Places<'_>,
    normals: &[Point],
    pair: usize,
) -> Result<Vec<Symbol>> {
    let symbols = problem.flux(pair, places, normals)?;
    Ok(places.pull_back(&symbols).collect())
}
