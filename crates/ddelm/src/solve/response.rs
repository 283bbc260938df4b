//! Loads of solutions by one product: what loops with many right-hand sides do with the factors.
//!
//! The way from a right-hand side F to the load of the solution is linear. With P the table of the basis that makes loads of
//! coefficients, and only the rows of F that data enter,
//!
//! ```text
//! load = P K^+ F + P Y u,     flux = A K^+ F + D u.
//! ```
//!
//! `[P; A] K^+` and `P Y` are found once for every local problem, or for many that share their factor: then a solve is one product
//! with them, for all of these at once, where orthogonal factor, triangle, fluxes and tables are passes of their own. To find
//! them costs as much as some solves do, so that whoever asks says how many there will be.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::algebra::factor::{Scratch, multiply, multiply_add};
use crate::base::error::Result;
use crate::base::memory;
use crate::base::progress::Progress;
use crate::interface::{Guess, Outcome};
use crate::local::local_factor::{LocalFactor, product};
use crate::solve::solver::Solver;

/// Columns of the products that cost as much to find as one solve does without them.
const COLUMNS_OF_A_SOLVE: usize = 6;

/// Local problems whose loads are found by one product. A fixed number, so that the bits do not depend on the threads.
const TOGETHER: usize = 64;

/// The share of the memory there is that the products may take.
const SHARE: f64 = 0.25;

/// Local problems with the same products.
struct Group {
    members: Vec<usize>,
    /// The rows of F that data enter.
    input: Vec<usize>,
    /// Rows of a load.
    load: usize,
    /// `[P; A] K^+`
    inner: Mat<f64>,
    /// `P Y`
    outer: Mat<f64>,
}

/// The products of all local problems.
pub(crate) struct Responses {
    groups: Vec<Group>,
    /// A group and those of its members whose loads are found by one product.
    batches: Vec<(usize, Range<usize>)>,
    /// The batch of every local problem, and its number there.
    places: Vec<(usize, usize)>,
}

/// What makes a load of coefficients in the basis of a local problem: the table at the interior nodes, and the row of the integral.
pub(crate) type LoadTable<'a> = (MatRef<'a, f64>, &'a [f64]);

impl Responses {
    /// The products for so many solves; none where the passes one by one are cheaper, or the interface is not solved directly.
    /// `conditions`: whether boundary values may be other than zero.
    pub fn new<'a>(
        solver: &Solver,
        table: impl Fn(usize) -> LoadTable<'a> + Sync,
        solves: usize,
        conditions: bool,
    ) -> Option<Self> {
        if !solver.balances_directly() {
            return None;
        }
        let mut sharing: BTreeMap<*const LocalFactor, Vec<Vec<usize>>> = BTreeMap::new();
        for (k, local) in solver.locals.iter().enumerate() {
            let same = sharing.entry(Arc::as_ptr(&local.factor)).or_default();
            match same.iter_mut().find(|members| table(members[0]).1 == table(k).1) {
                Some(members) => members.push(k),
                None => same.push(vec![k]),
            }
        }
        let mut members: Vec<Vec<usize>> = sharing.into_values().flatten().collect();
        // Not by addresses, which differ from run to run.
        members.sort_unstable_by_key(|members| members[0]);
        let inputs: Vec<Vec<usize>> = members.iter().map(|members| solver.data_entries(members, conditions)).collect();
        let cost: usize = inputs.iter().map(Vec::len).sum();
        let numbers = |(members, input): (&Vec<usize>, &Vec<usize>)| {
            let (load, factor) = (table(members[0]).0.nrows() + 1, &solver.locals[members[0]].factor);
            (load + factor.d.nrows()) * input.len() + load * factor.y.ncols()
        };
        let bytes = 8.0 * members.iter().zip(&inputs).map(numbers).sum::<usize>() as f64;
        let fits = || memory::check("time", bytes / SHARE, solver.settings().max_memory).is_ok();
        if cost > COLUMNS_OF_A_SOLVE * solves.saturating_mul(solver.locals.len()) || !fits() {
            return None;
        }
        let group = |(members, input): (Vec<usize>, Vec<usize>)| {
            let factor = &solver.locals[members[0]].factor;
            let mut unit = Mat::zeros(factor.rows, input.len());
            input.iter().enumerate().for_each(|(j, &row)| unit[(row, j)] = 1.0);
            let data = factor.data(unit);
            let (interior, integral) = table(members[0]);
            let load = interior.nrows() + 1;
            let mut inner = Mat::zeros(load + data.flux.nrows(), input.len());
            write_loads((interior, integral), &data.y, &mut inner);
            inner.as_mut().subrows_mut(load, data.flux.nrows()).copy_from(&data.flux);
            let mut outer = Mat::zeros(load, factor.y.ncols());
            write_loads((interior, integral), &factor.y, &mut outer);
            Group { members, input, load, inner, outer }
        };
        let groups: Vec<Group> = members.into_par_iter().zip(inputs).map(group).collect();
        let pieces = |size: usize| (0..size).step_by(TOGETHER).map(move |first| first..(first + TOGETHER).min(size));
        let of_group =
            |(g, group): (usize, &Group)| pieces(group.members.len()).map(|some| (g, some)).collect::<Vec<_>>();
        let batches: Vec<(usize, Range<usize>)> = groups.iter().enumerate().flat_map(of_group).collect();
        let mut places = vec![(0, 0); solver.locals.len()];
        for (b, (g, some)) in batches.iter().enumerate() {
            groups[*g].members[some.clone()].iter().enumerate().for_each(|(m, &k)| places[k] = (b, m));
        }
        Some(Responses { groups, batches, places })
    }

    /// The group of a batch, and its members there.
    fn batch(&self, number: usize) -> (&Group, &[usize]) {
        let (group, some) = &self.batches[number];
        (&self.groups[*group], &self.groups[*group].members[some.clone()])
    }

    /// What the data give inside the subdomains, with zero on the interface, for so many right-hand sides. `data` writes all entries of
    /// one column of F of a local problem.
    pub fn inside(&self, columns: usize, data: impl Fn(usize, usize, &[usize], &mut [f64]) + Sync) -> Inside<'_> {
        let inside = |b: usize| {
            let (group, some) = self.batch(b);
            let mut f = Scratch::new(group.input.len(), some.len() * columns);
            for (j, (&k, c)) in some.iter().flat_map(|k| (0..columns).map(move |c| (k, c))).enumerate() {
                data(k, c, &group.input, f.col_as_slice_mut(j));
            }
            let mut found = Scratch::new(group.inner.nrows(), f.ncols());
            multiply(found.as_mut(), group.inner.as_ref(), f.as_ref());
            found
        };
        let found = (0..self.batches.len()).into_par_iter().map(inside).collect();
        Inside { responses: self, found, columns }
    }
}

/// Loads and fluxes of solutions that are zero on the interface.
pub(crate) struct Inside<'a> {
    responses: &'a Responses,
    found: Vec<Scratch>,
    columns: usize,
}

impl<'a> Inside<'a> {
    /// The solutions.
    pub fn coupled(self, solver: &Solver, guess: Option<Guess>, progress: &dyn Progress) -> Result<Coupled<'a>> {
        let Inside { responses, found, columns } = self;
        let mut jumps = Mat::zeros(solver.jumps(), columns);
        let mut squares = vec![0.0; columns];
        for (b, found) in found.iter().enumerate() {
            let (group, some) = responses.batch(b);
            for (j, (&k, c)) in some.iter().flat_map(|k| (0..columns).map(move |c| (k, c))).enumerate() {
                let (load, flux) = found.col_as_slice(j).split_at(group.load);
                solver.locals[k].add_jumps_of(flux, jumps.col_as_slice_mut(c));
                squares[c] += load[..group.load - 1].iter().map(|u| u * u).sum::<f64>();
            }
        }
        let (u, outcome) = solver.balance(jumps, &squares, guess, progress)?;
        let coupled = |(b, mut found): (usize, Scratch)| {
            let (group, some) = responses.batch(b);
            let mut values = Scratch::new(group.outer.ncols(), some.len() * columns);
            values.fill(0.0);
            for (j, (&k, c)) in some.iter().flat_map(|k| (0..columns).map(move |c| (k, c))).enumerate() {
                solver.locals[k].pick_into(u.col_as_slice(c), values.col_as_slice_mut(j));
            }
            let loads = found.as_mut().subrows_mut(0, group.load);
            multiply_add(loads, 1.0, group.outer.as_ref(), values.as_ref());
            found
        };
        let found = found.into_par_iter().enumerate().map(coupled).collect();
        Ok(Coupled { responses, found, columns, u, outcome })
    }
}

/// Loads of solutions.
pub(crate) struct Coupled<'a> {
    responses: &'a Responses,
    found: Vec<Scratch>,
    columns: usize,
    /// The interface values.
    pub u: Mat<f64>,
    /// How these were found.
    pub outcome: Outcome,
}

impl Coupled<'_> {
    /// One column of the load of a local problem.
    pub fn load(&self, k: usize, column: usize) -> &[f64] {
        let (b, m) = self.responses.places[k];
        &self.found[b].col_as_slice(m * self.columns + column)[..self.responses.batch(b).0.load]
    }

    /// The loads of all local problems.
    pub fn loads(&self) -> Vec<Mat<f64>> {
        let load = |k: usize| {
            let mut load = Mat::zeros(self.load(k, 0).len(), self.columns);
            (0..self.columns).for_each(|c| load.col_as_slice_mut(c).copy_from_slice(self.load(k, c)));
            load
        };
        (0..self.responses.places.len()).into_par_iter().map(load).collect()
    }
}

/// Writes the loads of functions with coefficients y into the first rows.
fn write_loads((interior, integral): LoadTable<'_>, y: &Mat<f64>, out: &mut Mat<f64>) {
    let inside = interior.nrows();
    out.as_mut().subrows_mut(0, inside).copy_from(product(interior, y.as_ref()));
    for j in 0..y.ncols() {
        out[(inside, j)] = y.col_as_slice(j).iter().zip(integral).map(|(y, g)| y * g).sum();
    }
}
