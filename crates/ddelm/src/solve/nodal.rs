//! Functions by numbers: what the rows of the local problems see of a function.
//!
//! A source enters a local problem by its values at the interior nodes and by its integral over the subdomain (the flux
//! balance). Those numbers, a *load*, are all that a loop over solves carries from one to the next. The load of a solution
//! `u = psi y` comes from tables of the basis, one product per shape:
//!
//! ```text
//! load = [psi(xi_1); ...; psi(xi_m); g'] y,     g = int psi.
//! ```

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::algebra::quadrature::fejer;
use crate::base::error::{Error, Result};
use crate::base::progress::Progress;
use crate::domain::collocation::Collocation;
use crate::domain::map::{Point, magnifications};
use crate::domain::shape::{PerShape, Shape};
use crate::interface::{Guess, Outcome};
use crate::local::local_factor::{part_of, product, side_by_side};
use crate::method::settings::Method;
use crate::solution::evaluate::Solution;
use crate::solve::response::Responses;
use crate::solve::solver::Solver;

/// Subdomains whose loads are found by one product. A fixed number, so that the bits do not depend on the threads.
const TOGETHER: usize = 32;

/// A function by its loads: for every local problem its values at the interior nodes and, last, its integral. One column for
/// each function.
pub(crate) type Loads = Vec<Mat<f64>>;

/// A solver, and what turns its solutions into loads.
pub(crate) struct Nodal {
    pub solver: Arc<Solver>,
    /// psi at the interior nodes.
    interior: PerShape<Mat<f64>>,
    /// psi at the points of integration.
    inside: PerShape<Mat<f64>>,
    /// The weights of the points of integration in every subdomain.
    weights: Vec<Vec<f64>>,
    /// Fejer's weights of the interior nodes of an axis.
    axis: Vec<f64>,
    /// g of every subdomain.
    integrals: Vec<Vec<f64>>,
    /// Solves by one product, where there will be many.
    pub responses: Option<Responses>,
}

impl Nodal {
    /// Makes the tables. Refuses a solver without a shared basis; `key` is the setting that needs one.
    pub fn new(solver: Arc<Solver>, key: &str) -> Result<Self> {
        let Some(bases) = solver.bases.as_ref().filter(|_| solver.settings().method == Method::Schur) else {
            let problem = "it needs features that the subdomains share";
            return Err(Error::input(key, "...", problem, "use preset = \"fast\" and method = \"schur\""));
        };
        let shapes: Vec<_> = bases.iter().map(|(shape, _)| shape).collect();
        let Ok(interior) = PerShape::new(&shapes, |shape| {
            Ok::<_, Infallible>(bases.of(shape).derivatives(&solver.plan.collocations.of(shape).interior, &[0]))
        });
        let Ok(inside) = PerShape::new(&shapes, |shape| {
            let rule = &solver.plan.collocations.of(shape).integration;
            Ok::<_, Infallible>(bases.of(shape).derivatives(&rule.inside, &[0]))
        });
        let weights: Vec<Vec<f64>> = (solver.locals.par_iter())
            .map(|local| {
                let map = solver.decomposition().subdomains[local.subdomain].map.as_ref();
                let rule = &solver.plan.collocations.of(map.shape()).integration;
                rule.inside_weights.iter().zip(magnifications(map, &rule.inside)).map(|(w, area)| area * w).collect()
            })
            .collect();
        let axis = fejer(solver.settings().points);
        let mut nodal = Nodal { solver, interior, inside, weights, axis, integrals: Vec::new(), responses: None };
        nodal.integrals = nodal.integrals_of_basis();
        Ok(nodal)
    }

    /// g of every subdomain. Those with the same weights, as all squares of a size have, share it to the last bit.
    fn integrals_of_basis(&self) -> Vec<Vec<f64>> {
        let mut first: Vec<usize> = Vec::new();
        let mut first_of = Vec::with_capacity(self.weights.len());
        for k in 0..self.weights.len() {
            let same = |&j: &usize| self.weights[j] == self.weights[k] && self.shape_of(j) == self.shape_of(k);
            first_of.push(first.iter().position(same).unwrap_or(first.len()));
            if first_of[k] == first.len() {
                first.push(k);
            }
        }
        let of = |&k: &usize| -> Vec<f64> {
            let row = MatRef::from_row_major_slice(&self.weights[k], 1, self.weights[k].len());
            product(row, self.inside_table(k)).row(0).iter().copied().collect()
        };
        let found: Vec<Vec<f64>> = first.par_iter().map(of).collect();
        first_of.into_iter().map(|number| found[number].clone()).collect()
    }

    /// Prepares for so many calls of [`Nodal::solve`], with boundary values other than zero or without.
    pub fn prepared_for(mut self, solves: usize, conditions: bool) -> Self {
        let table = |k: usize| (self.interior.of(self.shape_of(k)).as_ref(), self.integrals[k].as_slice());
        self.responses = Responses::new(&self.solver, table, solves, conditions);
        self
    }

    fn shape_of(&self, local: usize) -> Shape {
        self.solver.decomposition().subdomains[self.solver.locals[local].subdomain].map.shape()
    }

    fn inside_table(&self, local: usize) -> MatRef<'_, f64> {
        self.inside.of(self.shape_of(local)).as_ref()
    }

    /// The weights of the points of integration in every subdomain: the area is their sum.
    pub fn weights(&self) -> &[Vec<f64>] {
        &self.weights
    }

    /// The interior nodes of a local problem as points of integration: their own weights, Fejer's, or an even share of the area in a triangle.
    pub fn node_weights(&self, local: usize) -> Vec<f64> {
        let map = self.solver.decomposition().subdomains[self.solver.locals[local].subdomain].map.as_ref();
        let Collocation { interior: nodes, interior_weights, .. } = self.solver.plan.collocations.of(map.shape());
        let areas = || magnifications(map, nodes);
        match map.shape() {
            _ if !interior_weights.is_empty() => {
                interior_weights.iter().zip(areas()).map(|(w, area)| w * area).collect()
            }
            Shape::Quadrilateral => {
                let pairs = self.axis.iter().flat_map(|a| self.axis.iter().map(move |b| a * b));
                pairs.zip(areas()).map(|(w, area)| w * area).collect()
            }
            Shape::Triangle => vec![self.weights[local].iter().sum::<f64>() / nodes.len() as f64; nodes.len()],
        }
    }

    /// The right-hand sides F of loads, without boundary values.
    pub fn right_hand_sides(&self, loads: &[Mat<f64>]) -> Result<Vec<Mat<f64>>> {
        let maker = self.solver.right_hand_side();
        let of = |(k, load): (usize, &Mat<f64>)| {
            maker.of_loads(self.solver.locals[k].subdomain, &self.solver.data_rows[k], load)
        };
        loads.par_iter().enumerate().map(of).collect::<Vec<_>>().into_iter().collect()
    }

    /// The loads of solutions with coefficients y in the bases.
    pub fn loads(&self, y: &[Mat<f64>]) -> Loads {
        with_integrals(self.by_shape(y, &self.interior), y, &self.integrals)
    }

    /// The loads of solutions that another solver on the same subdomains has found, with coefficients y in its bases.
    pub fn loads_from(&self, other: &Nodal, y: &[Mat<f64>]) -> Loads {
        let bases = other.solver.bases.as_ref().expect("it was made of a solver with a shared basis");
        let shapes: Vec<_> = bases.iter().map(|(shape, _)| shape).collect();
        let Ok(interior) = PerShape::new(&shapes, |shape| {
            Ok::<_, Infallible>(bases.of(shape).derivatives(&self.solver.plan.collocations.of(shape).interior, &[0]))
        });
        with_integrals(self.by_shape(y, &interior), y, &other.integrals)
    }

    /// About the loads of solutions that another solver has found on other subdomains of the same domain, with coefficients y in its
    /// bases: values at the interior nodes, and the integral by these alone. Zero at nodes that lie in none of them.
    pub fn loads_located(&self, other: &Nodal, y: &[Mat<f64>]) -> Loads {
        let bases = other.solver.bases.as_ref().expect("it was made of a solver with a shared basis");
        let decomposition = other.solver.decomposition();
        let mut local_of = vec![0; decomposition.len()];
        other.solver.locals.iter().enumerate().for_each(|(k, local)| local_of[local.subdomain] = k);
        let of = |k: usize| {
            let map = self.solver.decomposition().subdomains[self.solver.locals[k].subdomain].map.as_ref();
            let nodes = &self.solver.plan.collocations.of(map.shape()).interior;
            let mut found: BTreeMap<usize, (Vec<usize>, Vec<Point>)> = BTreeMap::new();
            for (i, &xi) in nodes.iter().enumerate() {
                if let Some((s, xi)) = decomposition.locate(map.point(xi)) {
                    let (places, points) = found.entry(s).or_default();
                    places.push(i);
                    points.push(xi);
                }
            }
            let mut load = Mat::zeros(nodes.len() + 1, y[0].ncols());
            for (s, (places, points)) in found {
                let table = bases.of(decomposition.subdomains[s].map.shape()).derivatives(&points, &[0]);
                let values = product(table.as_ref(), y[local_of[s]].as_ref());
                for c in 0..values.ncols() {
                    let (from, to) = (values.col_as_slice(c), load.col_as_slice_mut(c));
                    places.iter().zip(from).for_each(|(&i, value)| to[i] = *value);
                }
            }
            let weights = self.node_weights(k);
            for c in 0..load.ncols() {
                let (inside, last) = load.col_as_slice_mut(c).split_at_mut(nodes.len());
                last[0] = inside.iter().zip(&weights).map(|(u, w)| u * w).sum();
            }
            load
        };
        (0..self.solver.locals.len()).into_par_iter().map(of).collect()
    }

    /// The values of solutions with coefficients y at the points of integration.
    pub fn inside(&self, y: &[Mat<f64>]) -> Vec<Mat<f64>> {
        self.by_shape(y, &self.inside)
    }

    /// The values of solutions at the points of a table.
    fn by_shape(&self, y: &[Mat<f64>], tables: &PerShape<Mat<f64>>) -> Vec<Mat<f64>> {
        let mut found = vec![Mat::new(); y.len()];
        for (shape, table) in tables.iter() {
            let of: Vec<usize> = (0..y.len()).filter(|&k| self.shape_of(k) == shape).collect();
            let products: Vec<Vec<Mat<f64>>> = of
                .par_chunks(TOGETHER)
                .map(|batch| {
                    let all = side_by_side(&batch.iter().map(|&k| &y[k]).collect::<Vec<_>>());
                    let values = product(table.as_ref(), all.as_ref());
                    (0..batch.len()).map(|k| part_of(&values, k, y[0].ncols())).collect()
                })
                .collect();
            of.iter().zip(products.into_iter().flatten()).for_each(|(&k, values)| found[k] = values);
        }
        found
    }

    /// The solutions with sources given by loads, and no boundary values.
    pub fn solutions(&self, loads: &[Mat<f64>], progress: &dyn Progress) -> Result<Vec<Solution>> {
        self.solver.solutions_of(&self.right_hand_sides(loads)?, progress)
    }

    /// The loads of the solutions for right-hand sides, their interface values, and how these were found.
    pub fn solve(
        &self,
        rhs: &[Mat<f64>],
        guess: Option<Guess>,
        progress: &dyn Progress,
    ) -> Result<(Loads, Mat<f64>, Outcome)> {
        if let Some(responses) = &self.responses {
            let data = |k: usize, c: usize, rows: &[usize], out: &mut [f64]| {
                let from = rhs[k].col_as_slice(c);
                out.iter_mut().zip(rows).for_each(|(f, &row)| *f = from[row]);
            };
            let found = responses.inside(rhs[0].ncols(), data).coupled(&self.solver, guess, progress)?;
            return Ok((found.loads(), found.u, found.outcome));
        }
        let (y, u, outcome) = self.solver.coefficients_of(rhs, guess, progress)?;
        Ok((self.loads(&y), u, outcome))
    }

    /// The coefficients in the bases of the solutions with sources given by loads, and no boundary values.
    pub fn coefficients(
        &self,
        loads: &[Mat<f64>],
        guess: Option<Guess>,
        progress: &dyn Progress,
    ) -> Result<Vec<Mat<f64>>> {
        Ok(self.solver.coefficients_of(&self.right_hand_sides(loads)?, guess, progress)?.0)
    }
}

/// Values at the interior nodes over the integrals `g' y`.
fn with_integrals(values: Vec<Mat<f64>>, y: &[Mat<f64>], integrals: &[Vec<f64>]) -> Loads {
    let load = |((values, y), g): ((Mat<f64>, &Mat<f64>), &Vec<f64>)| {
        let mut load = Mat::zeros(values.nrows() + 1, values.ncols());
        for k in 0..values.ncols() {
            let (inside, last) = load.col_as_slice_mut(k).split_at_mut(values.nrows());
            inside.copy_from_slice(values.col_as_slice(k));
            last[0] = y.col_as_slice(k).iter().zip(g).map(|(y, g)| y * g).sum::<f64>();
        }
        load
    };
    values.into_iter().zip(y).zip(integrals).map(load).collect()
}
