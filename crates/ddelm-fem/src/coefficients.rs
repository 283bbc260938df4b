//! The data of a problem on the grid: what is evaluated where, and what is refused.
//!
//! Coefficients and source are evaluated once, at the centre of each cell, and hold for its two triangles. That is of
//! second order, because the triangles lie symmetrically about the centre, and it is exact for coefficients that jump
//! along grid lines.

use std::sync::Arc;

use rayon::prelude::*;

use super::grid::{Grid, Rows};
use ddelm::base::error::{Error, Result};
use ddelm::problem::ellipticity;
use ddelm::problem::field::{Field, FieldRef, Samples};
use ddelm::problem::model::{Diffusion, Equation};

/// A rectangle and its grid lines.
#[derive(Debug, Clone)]
pub(super) struct Rectangle {
    pub x: [f64; 2],
    pub y: [f64; 2],
    pub cells: [usize; 2],
}

impl Rectangle {
    /// Sides of a cell.
    pub fn spacing(&self) -> [f64; 2] {
        [(self.x[1] - self.x[0]) / self.cells[0] as f64, (self.y[1] - self.y[0]) / self.cells[1] as f64]
    }

    /// x of a grid line, or between two.
    pub fn x_at(&self, i: f64) -> f64 {
        between(self.x, i / self.cells[0] as f64)
    }

    /// y of a grid line, or between two.
    pub fn y_at(&self, j: f64) -> f64 {
        between(self.y, j / self.cells[1] as f64)
    }
}

fn between([a, b]: [f64; 2], t: f64) -> f64 {
    a * (1.0 - t) + b * t
}

/// Evaluates a field and refuses what is not finite.
pub(super) fn evaluate(field: &dyn Field, quantity: &str, x: &[f64], y: &[f64], out: &mut [f64]) -> Result<()> {
    field.values(&Samples::at(x, y), out).map_err(Error::callback(quantity))?;
    match out.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(k) => {
            Err(Error::NotFinite { quantity: quantity.into(), value: out[k], x: x[k], y: y[k], subdomain: None })
        }
    }
}

/// The terms of a symmetric equation of second order.
pub(super) struct Terms<'a> {
    diffusion: &'a Diffusion,
    reaction: Option<&'a FieldRef>,
}

impl<'a> Terms<'a> {
    /// Refuses every other equation.
    pub fn new(equation: &'a Equation) -> Result<Self> {
        let Some(diffusion) = equation.leading() else {
            return Err(refuse("equation", "plate", "the reference solver knows equations of second order only"));
        };
        if let Some([x, y]) = equation.advection()
            && [x, y].iter().any(|b| b.constant() != Some(0.0))
        {
            let value = format!("({}, {})", x.describe(), y.describe());
            return Err(refuse("equation.advection", &value, "the reference solver knows symmetric equations only"));
        }
        Ok(Terms { diffusion, reaction: equation.reaction() })
    }
}

fn refuse(key: &str, value: &str, problem: &str) -> Error {
    Error::input(key, value, problem, "solve this problem by subdomains instead")
}

/// Coefficients and source at the centres of the cells, in the layout of the grid: cell (i, j) at its first node.
pub(super) struct Coefficients {
    pub a11: Arc<Rows>,
    pub a12: Arc<Rows>,
    pub a22: Arc<Rows>,
    pub reaction: Rows,
    pub source: Rows,
}

impl Coefficients {
    pub fn new(terms: &Terms<'_>, source: &FieldRef, rectangle: &Rectangle, grid: &Grid) -> Result<Self> {
        let cells = Cells { rectangle, grid };
        let [a11, a12, a22] = cells.sample_diffusion(terms.diffusion)?;
        let reaction = match terms.reaction {
            None => Rows::constant(0.0, grid),
            Some(c) => cells.sample(c, "equation.reaction")?,
        };
        cells.check(|row, k| {
            let value = reaction.row(row)[k];
            (value < 0.0).then(|| ("equation.reaction", value.to_string(), "the reaction must not be negative"))
        })?;
        Ok(Coefficients { a11, a12, a22, reaction, source: cells.sample(source, "equation.source")? })
    }

    /// Whether the reaction is zero in every cell.
    pub fn reaction_vanishes(&self, grid: &Grid) -> bool {
        (1..=grid.cells[1]).into_par_iter().all(|row| self.reaction.row(row).iter().all(|&c| c == 0.0))
    }
}

/// The cells of a grid on a rectangle.
struct Cells<'a> {
    rectangle: &'a Rectangle,
    grid: &'a Grid,
}

impl Cells<'_> {
    fn centre(&self, column: usize, row: usize) -> [f64; 2] {
        [self.rectangle.x_at(column as f64 - 0.5), self.rectangle.y_at(row as f64 - 0.5)]
    }

    /// A field at the centres, by rows.
    fn sample(&self, field: &FieldRef, quantity: &str) -> Result<Rows> {
        let [cx, cy] = self.grid.cells;
        if let Some(value) = field.constant() {
            let [x, y] = self.centre(1, 1);
            evaluate(field.as_ref(), quantity, &[x], &[y], &mut [0.0])?;
            return Ok(Rows::constant(value, self.grid));
        }
        let x: Vec<f64> = (1..=cx).map(|column| self.centre(column, 1)[0]).collect();
        let mut values = self.grid.zeros();
        let error = values
            .par_chunks_mut(self.grid.stride())
            .enumerate()
            .skip(1)
            .take(cy)
            .map(|(row, out)| {
                let y = vec![self.centre(1, row)[1]; cx];
                evaluate(field.as_ref(), quantity, &x, &y, &mut out[1..=cx]).err()
            })
            .find_map_first(|error| error);
        match error {
            None => Ok(Rows::new(values, self.grid.stride())),
            Some(error) => Err(error),
        }
    }

    /// a11, a12, a22, checked to be positive definite.
    fn sample_diffusion(&self, diffusion: &Diffusion) -> Result<[Arc<Rows>; 3]> {
        const KEY: &str = "equation.diffusion";
        match diffusion {
            Diffusion::Scalar(a) => {
                let a = Arc::new(self.sample(a, KEY)?);
                self.refuse(|row, k| {
                    let a = a.row(row)[k];
                    ellipticity::fault(diffusion, [a, 0.0, 0.0, a], self.centre(k, row), None)
                })?;
                Ok([a.clone(), Arc::new(Rows::constant(0.0, self.grid)), a])
            }
            Diffusion::Tensor([[a11, a12], [a21, a22]]) => {
                let a21 = if Arc::ptr_eq(a12, a21) { None } else { Some(self.sample(a21, KEY)?) };
                let [a11, a12, a22] = [self.sample(a11, KEY)?, self.sample(a12, KEY)?, self.sample(a22, KEY)?];
                let at = |row: usize, k: usize| {
                    let [p, q, s] = [&a11, &a12, &a22].map(|a| a.row(row)[k]);
                    [p, q, a21.as_ref().map_or(q, |a| a.row(row)[k]), s]
                };
                self.check(|row, k| {
                    let [p, q, t, s] = at(row, k);
                    let symmetric = (q - t).abs() <= 1e-12 * (q.abs() + t.abs());
                    (!symmetric).then(|| (KEY, format!("[[{p}, {q}], [{t}, {s}]]"), "the tensor must be symmetric"))
                })?;
                self.refuse(|row, k| ellipticity::fault(diffusion, at(row, k), self.centre(k, row), None))?;
                Ok([a11, a12, a22].map(Arc::new))
            }
        }
    }

    /// Refuses the first cell for which `fault(row, column)` gives a key, a value and what is wrong with it.
    fn check(&self, fault: impl Fn(usize, usize) -> Option<(&'static str, String, &'static str)> + Sync) -> Result<()> {
        self.refuse(|row, column| {
            let (key, value, problem) = fault(row, column)?;
            let [x, y] = self.centre(column, row);
            Some(Error::input(key, value, format!("{problem}, at x = {x}, y = {y}"), "check the sign and the formula"))
        })
    }

    /// The error of the first cell, by rows, that has one.
    fn refuse(&self, fault: impl Fn(usize, usize) -> Option<Error> + Sync) -> Result<()> {
        let [cx, cy] = self.grid.cells;
        let found = (1..=cy).into_par_iter().find_map_first(|row| (1..=cx).find_map(|k| fault(row, k)));
        found.map_or(Ok(()), Err)
    }
}
