//! From the interface values to solutions: the networks of the subdomains, gathered from all ranks, and the report.

use std::convert::Infallible;

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::{Coupled, Solver, by_factor};
use crate::base::clock::Instant;
use crate::base::error::{Error, Result};
use crate::domain::collocation::Nodes;
use crate::domain::map::{Point, magnification};
use crate::domain::shape::PerShape;
use crate::interface::Outcome;
use crate::local::image::{Found, Squares, squared_residuals};
use crate::local::iterate::InBasis;
use crate::local::lift::Lifted;
use crate::local::local_factor::{BATCH, Local, LocalData, affine, part_of, product, side_by_side};
use crate::method::report::{InterfaceReport, Report, Seconds, Status, peak_memory_bytes};
use crate::solution::evaluate::Solution;
use crate::solve::plan::Plan;

impl Solver {
    /// Recovers the networks of the subdomains, and reports.
    pub(super) fn recover(&self, found: &Coupled, columns: usize) -> Result<Vec<Solution>> {
        let Coupled { u, ys, rests, outcome, size, sent, seconds } = found;
        let (exchange, clock, mut seconds) = (self.plan.exchange.as_ref(), Instant::now(), *seconds);
        let recovered: Vec<Lifted> = by_factor(&self.locals, |factor, batch| {
            let all = side_by_side(&batch.iter().map(|&k| &ys[k]).collect::<Vec<_>>());
            let shape = self.plan.decomposition.subdomains[self.locals[batch[0]].subdomain].map.shape();
            let basis = self.bases.as_ref().map(|bases| bases.of(shape).as_ref());
            let Lifted { coefficients, remainders } = factor.recover(all, basis);
            (0..batch.len())
                .map(|k| Lifted {
                    coefficients: part_of(&coefficients, k, columns),
                    remainders: part_of(&remainders, k, columns),
                })
                .collect()
        });
        seconds.recover += clock.elapsed().as_secs_f64();
        let finite = recovered.iter().all(|c| c.coefficients.norm_max().is_finite()) && u.norm_max().is_finite();
        exchange.agree(if finite { Ok(()) } else { Err(not_finite()) })?;
        let total = |value: fn(&Rest) -> f64| rests.iter().map(value).sum::<f64>();
        let mut sums = [total(|rest| rest.residual), *size, *sent, total(|rest| rest.layers), total(|rest| rest.size)];
        exchange.sum(&mut sums);
        let largest = |value: fn(&Rest) -> f64| rests.iter().map(value).fold(0.0, f64::max);
        let mut flows = [largest(|rest| rest.imbalance), largest(|rest| rest.flow)];
        exchange.max(&mut flows);
        let residual = (sums[0] / sums[1].max(f64::MIN_POSITIVE)).sqrt();
        let conserves = self.plan.collocations.any().conserves();
        let conservation = conserves.then_some(if flows[1] > 0.0 { flows[0] / flows[1] } else { 0.0 });
        let mut report = self.report(outcome, residual, conservation, sums[2] as u64, seconds);
        let tested = self.plan.settings.nodes() == Nodes::Gauss;
        report.layers = tested.then(|| (sums[3] / sums[4].max(f64::MIN_POSITIVE)).sqrt());
        let mut in_basis = self.in_basis(ys, columns).into_iter();
        let coefficients = self.gather_coefficients(&recovered, columns);
        let values = self.gather_interface(u.as_ref());
        Ok(coefficients
            .into_iter()
            .zip(values)
            .map(|([coefficients, remainders], interface)| Solution {
                decomposition: self.plan.decomposition.clone(),
                networks: self.networks.clone(),
                coefficients,
                remainders,
                interface,
                report: report.clone(),
                in_basis: in_basis.next(),
            })
            .collect())
    }

    /// Adds the squares of residuals that factors cannot tell.
    pub(super) fn add_evaluated(&self, u: &Mat<f64>, ys: &[Mat<f64>], data: &[LocalData], rests: &mut [Rest]) {
        let evaluated: Vec<usize> = (0..data.len()).filter(|&k| data[k].f.ncols() > 0).collect();
        let shape = |k: usize| self.plan.shape(self.locals[k].subdomain);
        let batches: Vec<&[usize]> =
            evaluated.chunk_by(|&a, &b| shape(a) == shape(b)).flat_map(|same| same.chunks(BATCH)).collect();
        let squares: Vec<Vec<Squares>> = batches
            .par_iter()
            .map(|batch| {
                let bases = self.bases.as_ref().expect("residuals are evaluated in a shared basis");
                let values: Vec<Mat<f64>> = batch.iter().map(|&k| self.locals[k].pick(u.as_ref())).collect();
                let mut found = Vec::with_capacity(batch.len());
                for (&k, values) in batch.iter().zip(&values) {
                    let (image, factor) = (&self.images[k], self.locals[k].factor.as_ref());
                    found.push(Found { image, factor, data: &data[k], y: &ys[k], values });
                }
                squared_residuals(bases.of(shape(batch[0])), &found)
            })
            .collect();
        for (&k, square) in evaluated.iter().zip(squares.iter().flatten()) {
            rests[k].residual += square.residual;
            (rests[k].layers, rests[k].size) = (square.layers, square.size);
        }
    }

    /// Adds a constant to the interface values of every right-hand side so that the solution has this mean.
    pub(super) fn shift_to_mean(&self, u: &mut Mat<f64>, data: &[LocalData], mean: f64) {
        let bases = self.bases.as_ref().expect("a mean is fixed with shared features");
        let shapes = self.plan.decomposition.shapes();
        let table = |shape| {
            Ok::<_, Infallible>(bases.of(shape).derivatives(&self.plan.collocations.of(shape).integration.inside, &[0]))
        };
        let Ok(tables) = PerShape::new(&shapes, table);
        let integral = |(local, data): (&Local, &LocalData)| -> Vec<f64> {
            let map = self.plan.decomposition.subdomains[local.subdomain].map.as_ref();
            let (rule, table) = (&self.plan.collocations.of(map.shape()).integration, tables.of(map.shape()));
            let y = affine(&data.y, local.factor.y.as_ref(), local.pick(u.as_ref()).as_ref());
            let values = product(table.as_ref(), y.as_ref());
            let area = |(&xi, w): (&Point, &f64)| w * magnification(map.jacobian(xi));
            let areas: Vec<f64> = rule.inside.iter().zip(&rule.inside_weights).map(area).collect();
            let sum = |k: usize| values.col_as_slice(k).iter().zip(&areas).map(|(u, a)| u * a).sum();
            (0..values.ncols()).map(sum).chain([areas.iter().sum()]).collect()
        };
        let parts: Vec<Vec<f64>> = self.locals.par_iter().zip(data).map(integral).collect();
        let mut sums = vec![0.0; u.ncols() + 1];
        parts.iter().for_each(|part| sums.iter_mut().zip(part).for_each(|(sum, value)| *sum += value));
        self.plan.exchange.sum(&mut sums);
        for k in 0..u.ncols() {
            let shift = mean - sums[k] / sums[u.ncols()];
            u.col_mut(k).iter_mut().for_each(|value| *value += shift);
        }
    }

    /// The coefficients in the basis for every right-hand side, where one process has them all; nothing elsewhere.
    pub(super) fn in_basis(&self, ys: &[Mat<f64>], columns: usize) -> Vec<InBasis> {
        let Some(bases) = self.bases.as_ref().filter(|_| self.plan.exchange.size() == 1) else { return Vec::new() };
        let column = |k: usize| {
            let mut coefficients = vec![Vec::new(); ys.len()];
            for (local, y) in self.locals.iter().zip(ys) {
                coefficients[local.subdomain] = y.col_as_slice(k).to_vec();
            }
            InBasis { bases: bases.clone(), coefficients }
        };
        (0..columns).map(column).collect()
    }

    /// The output coefficients and their remainders for every right-hand side: of all subdomains on rank 0, of its own
    /// on another.
    fn gather_coefficients<'a>(&self, mine: &'a [Lifted], columns: usize) -> Vec<[Vec<Vec<f64>>; 2]> {
        let mut mine: Vec<(usize, &Lifted)> = self.plan.portion.subdomains.iter().copied().zip(mine).collect();
        mine.sort_by_key(|c| c.0);
        let column = |c: &'a Lifted, k| [c.coefficients.col_as_slice(k), c.remainders.col_as_slice(k)];
        let flat: Vec<f64> =
            (mine.iter()).flat_map(|&(_, c)| (0..columns).flat_map(move |k| column(c, k))).flatten().copied().collect();
        let mut out = vec![[(); 2].map(|()| vec![Vec::new(); self.plan.decomposition.len()]); columns];
        let mut place = |rank: usize, flat: &[f64]| {
            let mut rest = flat;
            for s in self.plan.partition.subdomains(rank) {
                let count = self.networks.of(self.plan.decomposition.subdomains[s].map.shape(), s).columns();
                for out in out.iter_mut() {
                    let (piece, others) = rest.split_at(2 * count);
                    let (coefficients, remainders) = piece.split_at(count);
                    (out[0][s], out[1][s]) = (coefficients.to_vec(), remainders.to_vec());
                    rest = others;
                }
            }
        };
        let parts = self.plan.exchange.gather(&flat);
        match parts.is_empty() {
            true => place(self.plan.exchange.rank(), &flat),
            false => parts.iter().enumerate().for_each(|(rank, part)| place(rank, part)),
        }
        out
    }

    /// The values of u at the interface nodes for every right-hand side, on rank 0.
    fn gather_interface(&self, u: MatRef<'_, f64>) -> Vec<Vec<(Point, f64)>> {
        let owned = || self.plan.portion.owned().iter().cloned().flatten();
        // The numbers of the unknowns go along as the first column.
        let mut flat: Vec<f64> = self.plan.portion.owned_in_whole().map(|unknown| unknown as f64).collect();
        (0..u.ncols()).for_each(|k| flat.extend(owned().map(|i| u[(i, k)])));
        let mut whole = Mat::zeros(self.plan.portion.whole.unknowns(), u.ncols());
        let parts = self.plan.exchange.gather(&flat);
        for part in parts.iter().filter(|part| !part.is_empty()) {
            let columns: Vec<&[f64]> = part.chunks(part.len() / (u.ncols() + 1)).collect();
            for (k, values) in columns[1..].iter().enumerate() {
                columns[0].iter().zip(*values).for_each(|(&i, &value)| whole[(i as usize, k)] = value);
            }
        }
        let nodes = if parts.is_empty() {
            Vec::new()
        } else {
            self.plan.portion.whole.nodes(&self.plan.decomposition, &self.plan.collocations.any().side)
        };
        (0..u.ncols()).map(|k| nodes.iter().map(|&(unknown, point)| (point, whole[(unknown, k)])).collect()).collect()
    }

    /// The report, with the largest seconds and memory over the ranks.
    fn report(
        &self,
        outcome: &Outcome,
        residual: f64,
        conservation: Option<f64>,
        bytes_sent: u64,
        seconds: Seconds,
    ) -> Report {
        let memory = peak_memory_bytes();
        let Seconds { assemble, factor, interface, recover, .. } = seconds;
        let mut largest = [assemble, factor, interface, recover, memory.unwrap_or(0) as f64];
        self.plan.exchange.max(&mut largest);
        let [assemble, factor, interface, recover, peak] = largest;
        let total = assemble + factor + interface + recover;
        let seconds = Seconds { assemble, factor, interface, recover, total, ..seconds };
        let direct = self.direct.is_some();
        let mut warnings = self.warnings.clone();
        if direct && outcome.last_correction > 1e-6 {
            warnings.push(format!(
                "the last refinement step changed the interface values by {:.1e}: the interface system is nearly singular",
                outcome.last_correction
            ));
        }
        let Plan { settings, decomposition, portion, .. } = self.plan.as_ref();
        let interface = InterfaceReport {
            iterations: outcome.iterations,
            refinements: outcome.refinements,
            last_correction: direct.then_some(outcome.last_correction),
            relative_residual: (!direct && decomposition.len() > 1).then_some(outcome.relative_residual),
            factor_nonzeros: self.direct.as_ref().map(|f| f.nonzeros()),
            bytes_sent,
            ..InterfaceReport::new(settings.interface, portion.whole.unknowns())
        };
        let sizes = [decomposition.len(), settings.points];
        Report {
            status: if outcome.converged { Status::Solved } else { Status::MaxIterations },
            rings: decomposition.ring_vertices().len(),
            residual,
            conservation,
            peak_memory_bytes: memory.map(|_| peak as u64),
            warnings,
            ..Report::new(settings.method, sizes, interface, self.features.clone(), seconds)
        }
    }
}

/// What the solution of a local problem leaves.
#[derive(Clone, Copy)]
pub(super) struct Rest {
    /// The square of its residual.
    pub residual: f64,
    /// The imbalance of its fluxes, the largest over the right-hand sides.
    pub imbalance: f64,
    /// What flows through its interfaces, or is fed by its source: the largest over the right-hand sides.
    pub flow: f64,
    /// The square of the layers that it does not have, integrated,
    pub layers: f64,
    /// ... and that of the solution itself; both where rows are tested.
    pub size: f64,
}

impl Rest {
    pub fn new(local: &Local, data: &LocalData, values: &Mat<f64>) -> Self {
        let factor = &local.factor;
        // Nothing where it is evaluated, but for the flux balance.
        let mut residual = affine(&data.n, factor.n.as_ref(), values.as_ref()).squared_norm_l2();
        let Some(multiplier) = factor.balance else {
            return Rest { residual, imbalance: 0.0, flow: 0.0, layers: 0.0, size: 0.0 };
        };
        let flux = affine(&data.flux, factor.d.as_ref(), values.as_ref());
        let last = flux.nrows() - 1;
        let largest = |of: &dyn Fn(usize) -> f64| (0..flux.ncols()).map(of).fold(0.0, f64::max);
        // Fluxes at Gauss nodes times root weight times length are not the flow, but of its size.
        let through = |k: usize| {
            let flows = local.fluxes.iter().zip(&local.lengths).map(|(&row, length)| (flux[(row, k)] * length).abs());
            flows.sum::<f64>().max((data.load[k] / multiplier).abs())
        };
        if data.f.ncols() > 0 {
            residual = (0..flux.ncols()).map(|k| (flux[(last, k)] - data.load[k]).powi(2)).sum();
        }
        Rest {
            residual,
            imbalance: largest(&|k| ((flux[(last, k)] - data.load[k]) / multiplier).abs()),
            flow: largest(&through),
            layers: 0.0,
            size: 0.0,
        }
    }
}

fn not_finite() -> Error {
    Error::Compute {
        stage: "recover",
        problem: "the output coefficients are not finite".into(),
        hint: "try another seed, or fewer neurons".into(),
    }
}
