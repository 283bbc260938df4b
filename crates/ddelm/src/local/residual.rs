//! What an iterate u leaves of a nonlinear problem on one subdomain: the right-hand side of its correction.
//!
//! The rows of the linearised problem say
//!
//! ```text
//! N'(u) delta = -N(u)      at interior nodes,        delta = U - u   where u meets an interface value U,
//! B'(u) delta = -(B(u) - g)  on the boundary,        and the flux balance of delta makes up for that of u.
//! ```
//!
//! The fluxes of u itself are added to those of delta before they balance.

use faer::Mat;

use crate::base::error::Result;
use crate::domain::collocation::Collocation;
use crate::domain::decomposition::part_name;
use crate::domain::map::{Point, magnification, side_speed};
use crate::local::perimeter::PerimeterRow;
use crate::local::places::Scene;
use crate::local::right_hand_side::DataRows;
use crate::problem::linearize::Residual;
use crate::problem::operators::Coefficients;

/// What an iterate leaves on a subdomain.
pub(crate) struct LocalResidual {
    /// F of the correction, one column.
    pub f: Mat<f64>,
    /// The outward fluxes of the iterate at the flux nodes of all pieces, as the rows of fluxes have them.
    pub flux: Vec<f64>,
    /// The sum of the squares of what a solution makes zero: F without the rows of interface values.
    pub square: f64,
    /// The same sum, of the terms that should cancel.
    pub size: f64,
}

/// What is found row by row; see [`LocalResidual`].
#[derive(Default)]
struct Found {
    f: Vec<f64>,
    flux: Vec<f64>,
    square: f64,
    size: f64,
}

impl Found {
    /// Adds a row that is a sum of two terms.
    fn push(&mut self, multiplier: f64, terms: [f64; 2]) {
        let [a, b] = terms.map(|term| multiplier * term);
        self.square += (a + b) * (a + b);
        self.size += a * a + b * b;
        self.f.push(-(a + b));
    }
}

impl LocalResidual {
    /// Of the iterate of a scene on subdomain s, with a load beside the source: values at the interior nodes and, last, the
    /// integral. The nodes are those without corners.
    pub fn new(
        scene: &Scene<'_>,
        collocation: &Collocation,
        s: usize,
        rows: &DataRows,
        load: Option<&[f64]>,
    ) -> Result<Self> {
        let mut found = Found::default();
        let Residual { leading, lower } = scene.problem.residual(&scene.places(s, &collocation.interior))?;
        let load = |i: usize| load.map_or(0.0, |load| load[i]);
        for (i, ((&a, &b), &multiplier)) in leading.iter().zip(&lower).zip(&*rows.interior_multiplier).enumerate() {
            found.push(multiplier, [a, b - load(i)]);
        }
        perimeter(scene, collocation, s, rows, &mut found)?;
        if let Some(multiplier) = rows.balance_multiplier {
            let [around, inside] = balance(scene, collocation, s)?;
            found.push(multiplier, [around, inside - load(rows.interior())]);
        }
        let Found { f, flux, square, size } = found;
        Ok(LocalResidual { f: Mat::from_fn(f.len(), 1, |i, _| f[i]), flux, square, size })
    }
}

/// Appends the rows on the perimeter, and the fluxes there.
fn perimeter(scene: &Scene<'_>, collocation: &Collocation, s: usize, rows: &DataRows, found: &mut Found) -> Result<()> {
    let (problem, subdomain) = (scene.problem, &scene.decomposition.subdomains[s]);
    let (layout, per_piece) = (collocation.layout(subdomain), collocation.side.len());
    for (piece, &start) in subdomain.pieces.iter().zip(&layout.pieces) {
        let nodes = &layout.nodes[start..start + per_piece];
        let xi: Vec<Point> = nodes.iter().map(|&node| collocation.perimeter[node].xi).collect();
        let places = scene.places(s, &xi);
        let normals = places.normals(piece.side);
        let [fx, fy] = problem.flux_at(&places)?;
        found
            .flux
            .extend(normals.iter().enumerate().map(|(i, n)| rows.flux_multiplier * (n[0] * fx[i] + n[1] * fy[i])));
        let state = places.state().expect("the scene has an iterate");
        let u = state.u;
        let multipliers = &rows.perimeter_multiplier[start..start + per_piece];
        match rows.perimeter_kind[start] {
            PerimeterRow::Interface => found.f.extend(u.iter().zip(multipliers).map(|(u, multiplier)| -multiplier * u)),
            PerimeterRow::Core => {
                let along = |(i, &xi): (usize, &Point)| {
                    let (_, from_corner) = subdomain.map.offset(xi);
                    from_corner[0] * state.ux[i] + from_corner[1] * state.uy[i]
                };
                found.f.extend(
                    xi.iter().enumerate().map(along).zip(multipliers).map(|(change, multiplier)| -multiplier * change),
                );
            }
            PerimeterRow::Condition { part, .. } => {
                let (condition, key) = (&problem.conditions[part], part_name(scene.decomposition, part));
                let rests = problem.condition_residual(condition, &key, &places, &normals)?;
                let value = places.boundary_values(&condition.values[0], &key)?;
                for ((rest, g), &multiplier) in rests.into_iter().zip(value).zip(multipliers) {
                    found.push(multiplier, [rest + g, -g]);
                }
            }
        }
    }
    Ok(())
}

/// What flows out through the sides, with its sign in the balance, and what is used up inside less the source.
fn balance(scene: &Scene<'_>, collocation: &Collocation, s: usize) -> Result<[f64; 2]> {
    let (problem, rule) = (scene.problem, &collocation.integration);
    let map = scene.decomposition.subdomains[s].map.as_ref();
    let sides = collocation.shape.sides();
    let per_side = rule.around.len() / sides;
    let mut around = 0.0;
    for side in 0..sides {
        let points = &rule.around[side * per_side..(side + 1) * per_side];
        let places = scene.places(s, points);
        let [fx, fy] = problem.flux_at(&places)?;
        for (i, n) in places.normals(side).iter().enumerate() {
            let length = side_speed(map, side, map.jacobian(points[i]));
            around += rule.around_weights[side * per_side + i] * length * (n[0] * fx[i] + n[1] * fy[i]);
        }
    }
    let terms = problem.lower_terms(&scene.places(s, &rule.inside))?;
    let weights = rule.inside.iter().zip(&rule.inside_weights).map(|(&xi, w)| w * magnification(map.jacobian(xi)));
    let inside: f64 = terms.iter().zip(weights).map(|(r, w)| r * w).sum();
    Ok([problem.equation.flux_sign() * around, inside])
}
