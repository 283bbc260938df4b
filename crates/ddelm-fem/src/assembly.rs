//! The operator and the load of the discrete problem.
//!
//! With the diagonal from the lower left to the upper right, each triangle of a cell has one horizontal, one vertical
//! and one diagonal edge. For a constant tensor a and reaction c in the cell, sides h and k of the cell, the energy of
//! a triangle is in conductance form ([`operator`](super::operator)) with the couplings
//!
//! - `a11 k / 2h - a12 / 2 - c hk / 24` on the horizontal edge,
//! - `a22 h / 2k - a12 / 2 - c hk / 24` on the vertical edge,
//! - `a12 / 2 - c hk / 24` on the diagonal,
//! - `c hk / 6` at each corner,
//!
//! and the load of the source is `f hk / 6` at each corner. Robin and Neumann sides add integrals over boundary edges,
//! by Gauss's rule of two points, which is exact for cubics.

use rayon::prelude::*;

use super::coefficients::{Coefficients, Rectangle, Terms, evaluate};
use super::grid::{Grid, Rows};
use super::operator::{Couplings, Operator};
use ddelm::base::error::{Error, Result};
use ddelm::problem::model::{Condition, Problem, SIDES};

/// The key of a side's condition in a problem file.
fn key(side: usize) -> String {
    format!("boundary.{}", SIDES[side])
}

/// The discrete problem `A u = b` for the unknowns, with the values on the walls.
pub(super) struct System {
    pub operator: Operator,
    pub load: Vec<f64>,
    /// The Dirichlet values on the walls, zero elsewhere.
    pub wall_values: Vec<f64>,
}

/// Evaluates the data of the problem and assembles it.
pub(super) fn assemble(problem: &Problem, rectangle: &Rectangle) -> Result<System> {
    let terms = Terms::new(&problem.equation)?;
    let conditions = check_conditions(&problem.conditions)?;
    let walls = conditions.map(|condition| condition.is_essential());
    let grid = Grid { cells: rectangle.cells, walls };
    let coefficients = Coefficients::new(&terms, &problem.source, rectangle, &grid)?;

    let mut couplings = assemble_couplings(&coefficients, rectangle, &grid);
    let mut load = assemble_vertices(&coefficients.source, rectangle, &grid);
    let mut wall_values = grid.zeros();
    let mut determined = !coefficients.reaction_vanishes(&grid);
    drop(coefficients);
    for (side, condition) in conditions.into_iter().enumerate() {
        let side = Side { number: side, rectangle, grid: &grid };
        determined |= side.add(condition, &mut couplings, &mut load, &mut wall_values)?;
    }
    if !determined {
        return Err(Error::NotUnique {
            reason: "only derivatives of u are given, so a constant can be added to any solution".into(),
            hint: "give u on one side, or add a reaction term".into(),
        });
    }
    couplings.eliminate_walls(&grid, |wall, other, coupling| load[other] += coupling * wall_values[wall]);
    for node in grid.wall_nodes() {
        load[node] = 0.0;
    }
    Ok(System { operator: Operator::new(grid, couplings), load, wall_values })
}

/// The four conditions of a rectangle, each with the one field that second order needs.
fn check_conditions(conditions: &[Condition]) -> Result<[&Condition; 4]> {
    let Ok(conditions) = <&[Condition; 4]>::try_from(conditions) else {
        return Err(Error::input(
            "boundary",
            format!("{} conditions", conditions.len()),
            "a rectangle has four sides",
            format!("give one condition for each of {}", SIDES.join(", ")),
        ));
    };
    for (side, condition) in conditions.iter().enumerate() {
        let name = match (condition.pairs(), condition.values.len()) {
            (1, 1) => continue,
            (1, _) => "a condition without its one value".into(),
            _ => condition.name().replace('_', " "),
        };
        return Err(Error::input(
            key(side),
            name,
            "this is no condition of an equation of second order",
            "use a Dirichlet, Neumann or Robin condition",
        ));
    }
    Ok(conditions.each_ref())
}

fn assemble_couplings(coefficients: &Coefficients, rectangle: &Rectangle, grid: &Grid) -> Couplings {
    let [h, k] = rectangle.spacing();
    let Coefficients { a11, a12, a22, reaction, .. } = coefficients;
    let horizontal = |row: usize, c: usize| {
        a11.row(row)[c] * (0.5 * k / h) - 0.5 * a12.row(row)[c] - reaction.row(row)[c] * (h * k / 24.0)
    };
    let vertical = |row: usize, c: usize| {
        a22.row(row)[c] * (0.5 * h / k) - 0.5 * a12.row(row)[c] - reaction.row(row)[c] * (h * k / 24.0)
    };
    let stride = grid.stride();
    let mut couplings = Couplings::zeros(grid);
    let Couplings { east, north, diagonal, mass } = &mut couplings;
    *mass = assemble_vertices(reaction, rectangle, grid);
    (east.par_chunks_mut(stride), north.par_chunks_mut(stride), diagonal.par_chunks_mut(stride))
        .into_par_iter()
        .enumerate()
        .skip(1)
        .take(grid.cells[1] + 1)
        .for_each(|(row, (east, north, diagonal))| {
            for c in 1..grid.cells[0] + 2 {
                east[c] = horizontal(row, c) + horizontal(row - 1, c);
                north[c] = vertical(row, c) + vertical(row, c - 1);
                diagonal[c] = a12.row(row)[c] - reaction.row(row)[c] * (h * k / 12.0);
            }
        });
    couplings
}

/// Gives a sixth of the integral over a cell to each corner of its two triangles.
fn assemble_vertices(density: &Rows, rectangle: &Rectangle, grid: &Grid) -> Vec<f64> {
    let [h, k] = rectangle.spacing();
    let mut out = grid.zeros();
    out.par_chunks_mut(grid.stride()).enumerate().skip(1).take(grid.cells[1] + 1).for_each(|(row, out)| {
        let (above, below) = (density.row(row), density.row(row - 1));
        for c in 1..grid.cells[0] + 2 {
            out[c] = h * k / 6.0 * (2.0 * above[c] + above[c - 1] + below[c] + 2.0 * below[c - 1]);
        }
    });
    out
}

/// A side of the rectangle: a line of nodes.
struct Side<'a> {
    /// Its place in the order left, right, bottom, top.
    number: usize,
    rectangle: &'a Rectangle,
    grid: &'a Grid,
}

impl Side<'_> {
    fn is_vertical(&self) -> bool {
        self.number < 2
    }

    /// Number of its edges.
    fn edges(&self) -> usize {
        self.rectangle.cells[usize::from(self.is_vertical())]
    }

    /// Storage index of a node.
    fn node(&self, t: usize) -> usize {
        let [cx, cy] = self.grid.cells;
        let [i, j] = [[0, t], [cx, t], [t, 0], [t, cy]][self.number];
        (j + 1) * self.grid.stride() + i + 1
    }

    /// The places t along the side, in units of edges, as points.
    fn points(&self, places: &[f64]) -> [Vec<f64>; 2] {
        let across = [self.rectangle.x[0], self.rectangle.x[1], self.rectangle.y[0], self.rectangle.y[1]][self.number];
        let across = vec![across; places.len()];
        if self.is_vertical() {
            [across, places.iter().map(|&t| self.rectangle.y_at(t)).collect()]
        } else {
            [places.iter().map(|&t| self.rectangle.x_at(t)).collect(), across]
        }
    }

    /// Adds the condition; returns whether it fixes the constant of the solution.
    fn add(
        &self,
        condition: &Condition,
        couplings: &mut Couplings,
        load: &mut [f64],
        walls: &mut [f64],
    ) -> Result<bool> {
        let key = &key(self.number);
        let data = condition.values[0].as_ref();
        if condition.is_essential() {
            let places: Vec<f64> = (0..=self.edges()).map(|t| t as f64).collect();
            let [x, y] = self.points(&places);
            let mut values = vec![0.0; places.len()];
            evaluate(data, key, &x, &y, &mut values)?;
            for (t, value) in values.into_iter().enumerate() {
                walls[self.node(t)] = value;
            }
            return Ok(true);
        }

        let gauss = [0.5 - 0.5 / 3.0_f64.sqrt(), 0.5 + 0.5 / 3.0_f64.sqrt()];
        let places: Vec<f64> = (0..self.edges()).flat_map(|t| gauss.map(|s| t as f64 + s)).collect();
        let [x, y] = self.points(&places);
        let [mut g, mut k] = [(); 2].map(|()| vec![0.0; places.len()]);
        evaluate(data, key, &x, &y, &mut g)?;
        if let Some(multiple) = condition.multiple() {
            evaluate(multiple.as_ref(), key, &x, &y, &mut k)?;
        }
        if let Some(at) = k.iter().position(|&k| k < 0.0) {
            return Err(Error::input(
                key,
                k[at],
                format!("the Robin coefficient must not be negative, at x = {}, y = {}", x[at], y[at]),
                "check the sign: the condition is n . a grad u + k u = g",
            ));
        }

        let length = self.rectangle.spacing()[usize::from(self.is_vertical())];
        let edges = if self.is_vertical() { &mut couplings.north } else { &mut couplings.east };
        for point in 0..places.len() {
            let (t, s) = (point / 2, gauss[point % 2]);
            let [first, second] = [self.node(t), self.node(t + 1)];
            let [g, k] = [g[point], k[point]].map(|value| 0.5 * length * value);
            load[first] += (1.0 - s) * g;
            load[second] += s * g;
            // k ((1 - s) a + s b)^2 in conductance form.
            edges[first] -= s * (1.0 - s) * k;
            couplings.mass[first] += (1.0 - s) * k;
            couplings.mass[second] += s * k;
        }
        Ok(k.iter().any(|&k| k > 0.0))
    }
}
