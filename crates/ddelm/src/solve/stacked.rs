//! Loads as vectors with an inner product: those of some neighbours below each other in one piece, in units.
//!
//! A load of one subdomain has as many numbers as it has nodes. With a matrix for each of them, most of the time of an iteration
//! with few points went into making small matrices. The units are such that the inner product is that of L2, so that the inverse of a
//! self-adjoint operator is nearly so: roots of the weights of the nodes.

use std::sync::{Mutex, PoisonError};

use faer::{Mat, MatRef};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;

use crate::base::error::Result;
use crate::base::progress::Progress;
use crate::interface::{Guess, Outcome};
use crate::solve::nodal::{Loads, Nodal};
use crate::solve::orthonormal::{Pieces, Views, views};

/// Subdomains whose loads make a piece. A fixed number, so that the bits do not depend on the threads.
const TOGETHER: usize = 64;

/// The integrals of a load are known from its other entries. Their share in the inner product is the square of this.
const OF_INTEGRALS: f64 = 1e-3;

/// Where the loads of local problems are in vectors, and their units.
pub(crate) struct Stacked<'a> {
    pub nodal: &'a Nodal,
    /// The piece and the first row of every local problem.
    places: Vec<(usize, usize)>,
    /// The rows of the pieces.
    heights: Vec<usize>,
    /// The units of the entries of every load.
    units: Vec<Vec<f64>>,
    /// What the entries of a vector are multiplied with in the right-hand sides.
    scales: Vec<Vec<f64>>,
    /// What one solve of the interface leaves of an error, as far as the solves until now tell.
    contraction: Mutex<f64>,
}

impl<'a> Stacked<'a> {
    pub fn new(nodal: &'a Nodal) -> Result<Self> {
        let solver = &nodal.solver;
        let unit = |k: usize| -> Vec<f64> {
            let area: f64 = nodal.weights()[k].iter().sum();
            nodal.node_weights(k).into_iter().map(f64::sqrt).chain([OF_INTEGRALS / area.sqrt()]).collect()
        };
        let units: Vec<Vec<f64>> = (0..solver.locals.len()).into_par_iter().map(unit).collect();
        let maker = solver.right_hand_side();
        let scale = |k: usize| -> Result<Vec<f64>> {
            let scales = maker.load_multipliers(solver.locals[k].subdomain, &solver.data_rows[k])?;
            Ok(scales.into_iter().zip(&units[k]).map(|(scale, unit)| scale / unit).collect())
        };
        let scales = (0..units.len()).map(scale).collect::<Result<_>>()?;
        let mut places = Vec::with_capacity(units.len());
        let mut heights = Vec::new();
        for (piece, some) in units.chunks(TOGETHER).enumerate() {
            let mut height = 0;
            for units in some {
                places.push((piece, height));
                height += units.len();
            }
            heights.push(height);
        }
        Ok(Stacked { nodal, places, heights, units, scales, contraction: Mutex::new(0.0) })
    }

    /// Vectors of so many columns; `write` fills one column of a local problem.
    fn filled(&self, columns: usize, write: impl Fn(usize, usize, &mut [f64]) + Sync) -> Pieces {
        let piece = |(p, height): (usize, &usize)| {
            let mut piece = Mat::zeros(*height, columns);
            let first = p * TOGETHER;
            for c in 0..columns {
                let mut rest = piece.col_as_slice_mut(c);
                for k in first..(first + TOGETHER).min(self.places.len()) {
                    let (own, others) = rest.split_at_mut(self.units[k].len());
                    write(k, c, own);
                    rest = others;
                }
            }
            piece
        };
        self.heights.par_iter().enumerate().map(piece).collect()
    }

    /// One column of a local problem.
    fn part<'b>(&self, vectors: &Views<'b>, k: usize, column: usize) -> &'b [f64] {
        let (piece, first) = self.places[k];
        let column = vectors[piece].col(column).try_as_col_major().expect("vectors are columns in memory");
        &column.as_slice()[first..first + self.units[k].len()]
    }

    /// Loads as vectors.
    pub fn vectors(&self, loads: &Loads) -> Pieces {
        self.filled(loads[0].ncols(), |k, c, out| {
            let entries = loads[k].col_as_slice(c).iter().zip(&self.units[k]);
            out.iter_mut().zip(entries).for_each(|(out, (load, unit))| *out = load * unit);
        })
    }

    /// Vectors as loads.
    pub fn loads(&self, vectors: &Pieces) -> Loads {
        let vectors = views(vectors);
        let load = |k: usize| {
            let mut load = Mat::zeros(self.units[k].len(), vectors[0].ncols());
            for c in 0..vectors[0].ncols() {
                let entries = self.part(&vectors, k, c).iter().zip(&self.units[k]);
                load.col_as_slice_mut(c).iter_mut().zip(entries).for_each(|(out, (v, unit))| *out = v / unit);
            }
            load
        };
        (0..self.places.len()).into_par_iter().map(load).collect()
    }

    /// Random vectors, others with every call.
    pub fn random(&self) -> impl FnMut(usize) -> Pieces {
        let solver = &self.nodal.solver;
        let stream = |subdomain: usize| {
            let mut generator = ChaCha8Rng::seed_from_u64(solver.settings().seed);
            generator.set_stream(subdomain as u64);
            generator
        };
        let mut generators: Vec<ChaCha8Rng> = solver.locals.iter().map(|local| stream(local.subdomain)).collect();
        move |columns| {
            let mut draw = |k: usize| -> Vec<f64> {
                let entries = self.units[k].len() * columns;
                (0..entries).map(|_| (generators[k].next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0).collect()
            };
            let drawn: Vec<Vec<f64>> = (0..self.places.len()).map(&mut draw).collect();
            self.filled(columns, |k, c, out| out.copy_from_slice(&drawn[k][c * out.len()..(c + 1) * out.len()]))
        }
    }

    /// No interface values yet, of which an error may be left: the first solve tells what one of them leaves, and where that is
    /// enough, the others are not refined.
    pub fn guess(&self, enough: f64) -> Option<Guess> {
        let contraction = *self.contraction.lock().unwrap_or_else(PoisonError::into_inner);
        (contraction > 0.0).then_some(Guess { u: None, contraction, enough })
    }

    /// Source to solution, without boundary values: the inverse of the operator. Interface values may have an error, relative to them.
    pub fn invert(&self, vectors: &Views<'_>, enough: f64, progress: &dyn Progress) -> Result<Pieces> {
        let (nodal, columns, guess) = (self.nodal, vectors[0].ncols(), self.guess(enough));
        let learn = |outcome: &Outcome| {
            let mut known = self.contraction.lock().unwrap_or_else(PoisonError::into_inner);
            *known = known.max(outcome.contraction);
        };
        let Some(responses) = &nodal.responses else {
            let owned = |piece: &MatRef<'_, f64>| piece.to_owned();
            let rhs = nodal.right_hand_sides(&self.loads(&vectors.iter().map(owned).collect()))?;
            let (loads, _, outcome) = nodal.solve(&rhs, guess, progress)?;
            learn(&outcome);
            return Ok(self.vectors(&loads));
        };
        // Without boundary values the rows that data enter are those of the load, in its order.
        let data = |k: usize, c: usize, rows: &[usize], out: &mut [f64]| {
            let (load, scales) = (self.part(vectors, k, c), &self.scales[k]);
            debug_assert!(rows.len() <= load.len(), "prepared for boundary values");
            let entries = rows.iter().map(|&row| row.min(load.len() - 1));
            out.iter_mut().zip(entries).for_each(|(f, entry)| *f = scales[entry] * load[entry]);
        };
        let found = responses.inside(columns, data).coupled(&nodal.solver, guess, progress)?;
        learn(&found.outcome);
        Ok(self.filled(columns, |k, c, out| {
            let entries = found.load(k, c).iter().zip(&self.units[k]);
            out.iter_mut().zip(entries).for_each(|(out, (load, unit))| *out = load * unit);
        }))
    }
}
