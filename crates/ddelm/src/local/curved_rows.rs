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
//! A row depends on y by the derivatives of the state at its own point alone, but for the [floor](crate::local::floor) under the sizes that
//! multipliers are one over. So dT/dy is found by differences in these six numbers, at all points at once, with the floor by the chain rule.
//! rho is small, and few digits of this are many of a gradient.

use faer::Mat;

use crate::algebra::factor::multiply_add;
use crate::algebra::symbol::Symbol;
use crate::base::error::Result;
use crate::domain::collocation::Collocation;
use crate::domain::map::{Point, magnifications};
use crate::local::about::Iterate;
use crate::local::floor::Floor;
use crate::local::local_factor::product;
use crate::local::operator::{EdgeUnits, Weighting};
use crate::local::places::Scene;
use crate::local::rows::{LocalRows, local_rows, unit_areas};
use crate::local::transposed_rows::PartTables;
use crate::network::symbol::Symbols;

/// Derivatives of the state that the equation has, and those that conditions and fluxes have.
const INSIDE: usize = 6;
const AROUND: usize = 3;

/// The change of a derivative of the state, relative to its largest value.
const NUDGE: f64 = 1e-4;

/// ... which counts as this share of the largest of all at least.
const LEAST: f64 = 1e-3;

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
    /// The sizes of the equation that rows were made of.
    fn sizes(&self, rows: &LocalRows) -> Vec<f64> {
        let equation = &self.scene.problem.equation;
        let size = |(row, multiplier): ([f64; INSIDE], &f64)| {
            let mut symbol = Symbol::ZERO;
            symbol.0[..INSIDE].copy_from_slice(&row);
            equation.size(&symbol) / multiplier
        };
        let scaled = scaled(&rows.interior, &vec![1.0; rows.interior.len()]);
        scaled.into_iter().zip(&*rows.interior_multiplier).map(size).collect()
    }

    /// What each of the sizes that count is of the size of the subdomain; nothing where rows are not divided by them.
    fn shares(&self, counted: Vec<f64>) -> Vec<f64> {
        if self.weighting == Weighting::Unit {
            return Vec::new();
        }
        let areas = magnifications(self.scene.subdomain(self.s).map.as_ref(), &self.collocation.interior);
        let sizes: Vec<f64> = counted.into_iter().zip(areas).map(|(size, area)| size * area).collect();
        let total: f64 = sizes.iter().sum();
        sizes.into_iter().map(|size| size / total).collect()
    }

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
    /// The derivatives of the terms of T in the derivatives of the state, with the multipliers inside and of the flux balance as they are.
    slopes: Vec<Coefficients>,
    /// Those of the logarithms of the sizes of the equation.
    size_slopes: Vec<Vec<f64>>,
    /// The sizes that count for multipliers.
    floor: Floor,
    /// What each of them is of the size of the whole subdomain, which the multiplier of the flux balance is one over.
    shares: Vec<f64>,
}

impl CurvedRows {
    /// Of a scene with a solution, whose rows leave `rest`.
    pub fn new(at: Workshop<'_>, rest: Vec<f64>) -> Result<Self> {
        let base = at.rows()?;
        let about = at.scene.about.expect("a nonlinear problem has a state");
        let all: Vec<usize> = (0..INSIDE).collect();
        let state = about.reference_derivatives(at.s, &at.collocation.interior, &all);
        let largest_of = |values: &Vec<f64>| values.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
        let largest: Vec<f64> = state.iter().map(largest_of).collect();
        let least = LEAST * largest.iter().copied().fold(0.0, f64::max);
        let per = base.layout.nodes.len();
        let nodes = (0..base.perimeter.len()).map(|row| base.layout.nodes[row % per]).collect();
        let map = at.scene.subdomain(at.s).map.as_ref();
        let (sizes, units) = (at.sizes(&base), unit_areas(map, at.collocation));
        let floor = Floor::under(&sizes, &units);
        let shares = at.shares(floor.sizes(&units));
        let (slopes, size_slopes) = (Vec::new(), Vec::new());
        let mut curved = CurvedRows { base, rest, nodes, slopes, size_slopes, floor, shares };
        for (derivative, largest) in largest.into_iter().enumerate() {
            let change = NUDGE * if least > 0.0 { largest.max(least) } else { 1.0 };
            let nudged = |change: f64| -> Result<LocalRows> {
                let about = Nudged { state: about, derivative, change };
                Workshop { scene: Scene { about: Some(&about), ..at.scene }, ..at }.rows()
            };
            let [right, left] = [nudged(change)?, nudged(-change)?];
            let (plus, minus) = (curved.terms(&right, true), curved.terms(&left, true));
            let slope =
                |(a, b): (&[f64; INSIDE], &[f64; INSIDE])| std::array::from_fn(|k| (a[k] - b[k]) / (2.0 * change));
            curved.slopes.push(std::array::from_fn(|zone| plus[zone].iter().zip(&minus[zone]).map(slope).collect()));
            let [right, left] = [at.sizes(&right), at.sizes(&left)];
            let slope = |(size, (right, left)): (&f64, (&f64, &f64))| match *size > 0.0 {
                true => (right - left) / (2.0 * change * size),
                false => 0.0,
            };
            curved.size_slopes.push(sizes.iter().zip(right.iter().zip(&left)).map(slope).collect());
        }
        Ok(curved)
    }

    /// The terms of T for other rows, with the multiplier of the flux balance as it was, and those of interior rows where they are `kept`.
    fn terms(&self, rows: &LocalRows, kept: bool) -> Coefficients {
        let inside = self.base.interior.len();
        let share = |new: f64, old: f64| if old == 0.0 { 0.0 } else { new / old };
        let by = |rest: &[f64], new: &[f64], old: &[f64]| -> Vec<f64> {
            rest.iter().zip(new.iter().zip(old)).map(|(rest, (new, old))| rest * share(*new, *old)).collect()
        };
        let [new, old] = [&rows.interior_multiplier, &self.base.interior_multiplier];
        let interior = if kept { by(&self.rest, old, new) } else { by(&self.rest, new, old) };
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

    /// dT/dy for w, one column.
    pub fn gradient(&self, tables: &PartTables, w: &Mat<f64>) -> Mat<f64> {
        let zones = tables.zones();
        let values = zones.map(|table| product(table.as_ref(), w.as_ref()));
        let by_size = self.floor.transposed(&self.slopes_in_sizes(&values));
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
                    for (i, (slope, by_size)) in self.size_slopes[k].iter().zip(&by_size).enumerate() {
                        cotangents[(k * count + i, 0)] += by_size * slope;
                    }
                }
            }
            multiply_add(out.as_mut(), 1.0, table.transpose(), cotangents.as_ref());
        }
        out
    }

    /// The derivatives of T in the logarithms of the sizes that count, which rows and flux balance are divided by, twice.
    fn slopes_in_sizes(&self, values: &[Mat<f64>; 4]) -> Vec<f64> {
        let terms = self.terms(&self.base, true);
        let balance: f64 = (2..4).map(|zone| sum(&terms[zone], &values[zone], AROUND, |i| i)).sum();
        let own = |i: usize| dot(&terms[0][i], &values[0], INSIDE, i);
        self.shares.iter().enumerate().map(|(i, share)| -2.0 * (own(i) + balance * share)).collect()
    }

    /// T for w and another problem, which differs in fields.
    pub fn total(&self, at: Workshop<'_>, tables: &PartTables, w: &Mat<f64>) -> Result<f64> {
        let rows = at.rows()?;
        let values = tables.zones().map(|table| product(table.as_ref(), w.as_ref()));
        let terms = self.terms(&rows, false);
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
