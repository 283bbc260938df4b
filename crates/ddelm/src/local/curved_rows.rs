//! What the curvature of nonlinear rows counts, where they cannot all hold.
//!
//! At a solution `K(y)' rho = 0`, with what the rows leave, `rho`, and `K` the derivative of the rows, each times its multiplier. Both
//! depend on y. With w of the adjoint (`local/transposed_rows.rs`) that makes one term more,
//!
//! ```text
//! T = sum_i rho_i (multiplier_i / multiplier_i at y) (K w)_i,      K' K w = h + dT/dy,
//! ```
//!
//! and a change of a field that depends on u counts by what it does to T, beside what it does to the rows.
//!
//! A row depends on y by the derivatives of the state at its own point alone, so that dT/dy is found by differences in these six
//! numbers, at all points at once. rho is small, and few digits of this are many of a gradient.

use faer::Mat;

use crate::algebra::factor::multiply_add;
use crate::base::error::Result;
use crate::domain::collocation::Collocation;
use crate::domain::map::{Point, magnifications};
use crate::local::about::Iterate;
use crate::local::local_factor::product;
use crate::local::operator::{EdgeUnits, Weighting};
use crate::local::places::Scene;
use crate::local::rows::{LocalRows, local_rows};
use crate::local::transposed_rows::PartTables;
use crate::network::symbol::Symbols;

/// Derivatives of the state that the equation has, and those that conditions and fluxes have.
const INSIDE: usize = 6;
const AROUND: usize = 3;

/// The change of a derivative of the state, relative to the largest of all.
const NUDGE: f64 = 3e-4;

/// Where rows are made.
#[derive(Clone, Copy)]
pub(crate) struct Workshop<'a> {
    pub scene: Scene<'a>,
    pub collocation: &'a Collocation,
    pub weighting: Weighting,
    pub units: &'a [EdgeUnits],
    /// The subdomain.
    pub s: usize,
}

impl Workshop<'_> {
    fn rows(&self) -> Result<LocalRows> {
        local_rows(&self.scene, self.collocation, self.weighting, self.units, self.s)
    }
}

/// Coefficients of the derivatives of w, one entry for each row or point of integration: at interior nodes, in perimeter rows, on the
/// sides and inside.
type Coefficients = [Vec<[f64; INSIDE]>; 4];

/// The rows of a subdomain with what they leave, and how both change with the state.
pub(crate) struct CurvedRows {
    base: LocalRows,
    rest: Vec<f64>,
    /// The perimeter node of every perimeter row.
    nodes: Vec<usize>,
    /// The derivatives of the terms of T in the derivatives of the state.
    slopes: Vec<Coefficients>,
    /// Those of the logarithm of the multiplier of the flux balance, at every interior node.
    multiplier_slopes: Vec<Vec<f64>>,
}

impl CurvedRows {
    /// Of a scene with a solution, whose rows leave `rest`.
    pub fn new(at: Workshop<'_>, rest: Vec<f64>) -> Result<Self> {
        let base = at.rows()?;
        let about = at.scene.about.expect("a nonlinear problem has a state");
        let all: Vec<usize> = (0..INSIDE).collect();
        let state = about.reference_derivatives(at.s, &at.collocation.interior, &all);
        let largest = state.iter().flatten().fold(0.0f64, |largest, value| largest.max(value.abs()));
        let change = NUDGE * if largest > 0.0 { largest } else { 1.0 };
        let per = base.layout.nodes.len();
        let nodes = (0..base.perimeter.len()).map(|row| base.layout.nodes[row % per]).collect();
        let mut curved = CurvedRows { base, rest, nodes, slopes: Vec::new(), multiplier_slopes: Vec::new() };
        for derivative in 0..INSIDE {
            let nudged = |change: f64| -> Result<LocalRows> {
                let about = Nudged { state: about, derivative, change };
                Workshop { scene: Scene { about: Some(&about), ..at.scene }, ..at }.rows()
            };
            let [right, left] = [nudged(change)?, nudged(-change)?];
            let (plus, minus) = (curved.terms(&right), curved.terms(&left));
            let slope =
                |(a, b): (&[f64; INSIDE], &[f64; INSIDE])| std::array::from_fn(|k| (a[k] - b[k]) / (2.0 * change));
            curved.slopes.push(std::array::from_fn(|zone| plus[zone].iter().zip(&minus[zone]).map(slope).collect()));
            curved.multiplier_slopes.push(curved.balance_slopes(at, [&right, &left], change));
        }
        Ok(curved)
    }

    /// The terms of T for other rows, with the multiplier of the flux balance as it was.
    fn terms(&self, rows: &LocalRows) -> Coefficients {
        let inside = self.base.interior.len();
        let share = |new: f64, old: f64| if old == 0.0 { 0.0 } else { new / old };
        let by = |rest: &[f64], new: &[f64], old: &[f64]| -> Vec<f64> {
            rest.iter().zip(new.iter().zip(old)).map(|(rest, (new, old))| rest * share(*new, *old)).collect()
        };
        let interior = by(&self.rest, &rows.interior_multiplier, &self.base.interior_multiplier);
        let perimeter = by(&self.rest[inside..], &rows.perimeter_multiplier, &self.base.perimeter_multiplier);
        let [around, within] = match (&rows.balance, &self.base.balance) {
            (Some(new), Some(old)) => {
                let factor = self.balance_rest() * share(old.multiplier, new.multiplier);
                [&new.around, &new.inside].map(|rows| scaled(rows, &vec![factor; rows.len()]))
            }
            _ => [Vec::new(), Vec::new()],
        };
        [scaled(&rows.interior, &interior), scaled(&rows.perimeter, &perimeter), around, within]
    }

    /// What the flux balance leaves.
    fn balance_rest(&self) -> f64 {
        if self.base.balance.is_some() { self.rest.last().copied().unwrap_or_default() } else { 0.0 }
    }

    /// The multiplier of the flux balance is one over the size of the equation, integrated.
    fn balance_slopes(&self, at: Workshop<'_>, [right, left]: [&LocalRows; 2], change: f64) -> Vec<f64> {
        if at.weighting == Weighting::Unit || self.base.balance.is_none() {
            return vec![0.0; self.base.interior.len()];
        }
        let nodes = &at.collocation.interior;
        let areas: Vec<f64> = magnifications(at.scene.decomposition.subdomains[at.s].map.as_ref(), nodes).collect();
        let size = |rows: &LocalRows, i: usize| {
            at.weighting.interior(at.collocation.shape, nodes[i]) / rows.interior_multiplier[i] * areas[i]
        };
        let total: f64 = (0..nodes.len()).map(|i| size(&self.base, i)).sum();
        (0..nodes.len()).map(|i| (size(left, i) - size(right, i)) / (2.0 * change * total)).collect()
    }

    /// dT/dy for w, one column.
    pub fn gradient(&self, tables: &PartTables, w: &Mat<f64>) -> Mat<f64> {
        let zones = tables.zones();
        let values = zones.map(|table| product(table.as_ref(), w.as_ref()));
        let balance = self.balance_share(&values);
        let mut out = Mat::zeros(w.nrows(), 1);
        for (zone, table) in zones.into_iter().enumerate() {
            let derivatives = if zone == 0 { INSIDE } else { AROUND };
            let count = table.nrows() / derivatives;
            let mut cotangents: Mat<f64> = Mat::zeros(table.nrows(), 1);
            for k in 0..derivatives {
                for (i, slopes) in self.slopes[k][zone].iter().enumerate() {
                    let point = if zone == 1 { self.nodes[i] } else { i };
                    cotangents[(k * count + point, 0)] += dot(slopes, &values[zone], derivatives, point);
                }
                if zone == 0 {
                    for (i, slope) in self.multiplier_slopes[k].iter().enumerate() {
                        cotangents[(k * count + i, 0)] += 2.0 * balance * slope;
                    }
                }
            }
            multiply_add(out.as_mut(), 1.0, table.transpose(), cotangents.as_ref());
        }
        out
    }

    /// The share of the flux balance in T.
    fn balance_share(&self, values: &[Mat<f64>; 4]) -> f64 {
        let terms = self.terms(&self.base);
        (2..4).map(|zone| sum(&terms[zone], &values[zone], AROUND, |i| i)).sum()
    }

    /// T for w and another problem, which differs in fields.
    pub fn total(&self, at: Workshop<'_>, tables: &PartTables, w: &Mat<f64>) -> Result<f64> {
        let rows = at.rows()?;
        let values = tables.zones().map(|table| product(table.as_ref(), w.as_ref()));
        let terms = self.terms(&rows);
        let balance = match (&rows.balance, &self.base.balance) {
            (Some(new), Some(old)) => (new.multiplier / old.multiplier).powi(2),
            _ => 0.0,
        };
        let integrals: f64 = (2..4).map(|zone| sum(&terms[zone], &values[zone], AROUND, |i| i)).sum();
        Ok(sum(&terms[0], &values[0], INSIDE, |i| i)
            + sum(&terms[1], &values[1], AROUND, |i| self.nodes[i])
            + balance * integrals)
    }
}

/// The sum of terms over the derivatives of w at their points.
fn sum(terms: &[[f64; INSIDE]], values: &Mat<f64>, derivatives: usize, point: impl Fn(usize) -> usize) -> f64 {
    terms.iter().enumerate().map(|(i, term)| dot(term, values, derivatives, point(i))).sum()
}

fn dot(term: &[f64; INSIDE], values: &Mat<f64>, derivatives: usize, point: usize) -> f64 {
    let count = values.nrows() / derivatives;
    (0..derivatives).map(|a| term[a] * values[(a * count + point, 0)]).sum()
}

/// Rows times numbers.
fn scaled(rows: &Symbols, by: &[f64]) -> Vec<[f64; INSIDE]> {
    let coefficients = rows.coefficients();
    let row = |(i, by): (usize, &f64)| std::array::from_fn(|a| coefficients[a].map_or(0.0, |c| by * c[i]));
    by.iter().take(rows.len()).enumerate().map(row).collect()
}

/// A state with one of its derivatives changed by a number everywhere.
struct Nudged<'a> {
    state: &'a dyn Iterate,
    derivative: usize,
    change: f64,
}

impl Iterate for Nudged<'_> {
    fn reference_derivatives(&self, s: usize, xi: &[Point], derivatives: &[usize]) -> Vec<Vec<f64>> {
        let mut found = self.state.reference_derivatives(s, xi, derivatives);
        let changed = found.iter_mut().zip(derivatives).filter(|(_, derivative)| **derivative == self.derivative);
        changed.for_each(|(values, _)| values.iter_mut().for_each(|value| *value += self.change));
        found
    }
}
