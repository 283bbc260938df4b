//! Corrections of an iterate of a nonlinear problem, by a solver that was [linearised](Solver::linearized) about it or about an
//! iterate nearby.

use faer::Mat;
use rayon::prelude::*;

use super::{Coupled, KnownData, Solver, by_factor};
use crate::base::clock::Instant;
use crate::base::error::Result;
use crate::base::parallel::in_order;
use crate::base::progress::Progress;
use crate::interface::{Over, agreed};
use crate::local::about::Iterate;
use crate::local::iterate::InBasis;
use crate::local::local_factor::LocalData;
use crate::local::places::Scene;
use crate::local::residual::LocalResidual;
use crate::method::report::Seconds;
use crate::problem::model::Problem;
use crate::solution::evaluate::Solution;

/// What an iterate leaves of the problem.
pub(crate) struct Remainder {
    local: Vec<LocalResidual>,
    /// Its size, in the units of the rows: equation, conditions, flux balances, and jumps of the flux.
    pub norm: f64,
    /// The size of the terms that should cancel.
    pub size: f64,
}

/// A correction of all subdomains.
pub(crate) struct Correction {
    /// In the reference basis.
    pub delta: InBasis,
    coupled: Coupled,
}

impl Correction {
    /// Seconds that the solver and the correction took.
    pub fn seconds(&self) -> Seconds {
        self.coupled.seconds
    }
}

impl Solver {
    /// Seconds that it took to build.
    pub(crate) fn seconds(&self) -> Seconds {
        self.seconds
    }

    /// Puts an iterate into the bases of this solver, which are those of its own but for the sums in their tables.
    pub(crate) fn adopt(&self, iterate: &mut InBasis) {
        iterate.bases = self.bases.clone().expect("nonlinear problems have a shared basis");
    }

    /// The root of the sum of the squares of a function at the interior nodes.
    pub(crate) fn norm_of(&self, function: &dyn Iterate) -> f64 {
        let square = |s: usize| {
            let nodes = &self.plan.collocations.of(self.plan.decomposition.subdomains[s].map.shape()).interior;
            function.reference_derivatives(s, nodes, &[0])[0].iter().map(|u| u * u).sum::<f64>()
        };
        let squares: Vec<f64> = (0..self.plan.decomposition.len()).into_par_iter().map(square).collect();
        squares.iter().sum::<f64>().sqrt()
    }

    /// What an iterate leaves of the problem, in the units of the rows of this solver.
    pub(crate) fn remainder(&self, iterate: &dyn Iterate) -> Result<Remainder> {
        self.remainder_of(&self.problem, None, iterate)
    }

    /// The same for another problem on the same subdomains, with a load beside its source: values at the interior nodes of every
    /// local problem and, last, the integral.
    pub(crate) fn remainder_of(
        &self,
        problem: &Problem,
        load: Option<&[Mat<f64>]>,
        iterate: &dyn Iterate,
    ) -> Result<Remainder> {
        let scene = Scene { problem, decomposition: &self.plan.decomposition, about: Some(iterate) };
        let of = |k: usize| {
            let s = self.locals[k].subdomain;
            let collocation = self.plan.collocations.of(self.plan.decomposition.subdomains[s].map.shape());
            let load = load.map(|load| load[k].col_as_slice(0));
            LocalResidual::new(&scene, collocation, s, &self.data_rows[k], load)
        };
        let local = in_order((0..self.locals.len()).into_par_iter().map(of));
        let local = agreed(self.plan.exchange.as_ref(), local)?;
        let jumps = self.jumps_of(&local);
        let mut sums = [0.0; 2];
        for residual in &local {
            sums[0] += residual.square;
            sums[1] += residual.size;
        }
        self.plan.exchange.sum(&mut sums);
        Ok(Remainder { local, norm: (sums[0] + jumps).sqrt(), size: sums[1].sqrt() })
    }

    /// The sum of the squares of the jumps of the iterate's fluxes.
    fn jumps_of(&self, local: &[LocalResidual]) -> f64 {
        if self.plan.decomposition.len() == 1 {
            return 0.0;
        }
        let fluxes = |(k, local): (usize, &LocalResidual)| {
            let mut data =
                LocalData { y: Mat::new(), n: Mat::new(), f: Mat::new(), flux: self.no_flux(k), load: Vec::new() };
            self.add_flux(k, local, &mut data);
            data
        };
        let data: Vec<LocalData> = local.iter().enumerate().map(fluxes).collect();
        let interface = self.interface();
        let zero = Mat::zeros(self.plan.portion.len(Over::Unknowns), 1);
        let jumps = interface.residual(&data, zero.as_ref());
        interface.dot(jumps.as_ref(), jumps.as_ref())[0]
    }

    fn no_flux(&self, k: usize) -> Mat<f64> {
        Mat::zeros(self.locals[k].factor.d.nrows(), 1)
    }

    /// Adds the fluxes of the iterate to those of local problem k.
    fn add_flux(&self, k: usize, residual: &LocalResidual, data: &mut LocalData) {
        let local = &self.locals[k];
        let subdomain = &self.plan.decomposition.subdomains[local.subdomain];
        let layout = self.plan.collocations.of(subdomain.map.shape()).layout(subdomain);
        let places = self.plan.portion.numbering.gather(subdomain, &layout).fluxes;
        for (&row, (node, _)) in local.fluxes.iter().zip(places) {
            data.flux[(row, 0)] += residual.flux[node];
        }
    }

    /// The correction for what an iterate leaves.
    pub(crate) fn correct(&self, rest: &Remainder, progress: &dyn Progress) -> Result<Correction> {
        let clock = Instant::now();
        let mut local = by_factor(&self.locals, |factor, batch| {
            factor.data_of(&batch.iter().map(|&k| &rest.local[k].f).collect::<Vec<_>>())
        });
        for (k, (data, residual)) in local.iter_mut().zip(&rest.local).enumerate() {
            self.add_flux(k, residual, data);
        }
        let known = KnownData { local, size: rest.size * rest.size };
        let coupled = self.couple(&known, 1, clock.elapsed().as_secs_f64(), progress)?;
        let delta = self.in_basis(&coupled.ys, 1).pop().expect("nonlinear problems have a shared basis on one rank");
        Ok(Correction { delta, coupled })
    }

    /// The interface values that a correction has found.
    pub(crate) fn interface_of(correction: &Correction) -> &Mat<f64> {
        &correction.coupled.u
    }

    /// The solution with the coefficients of an iterate, which a correction has led to, with other interface values.
    pub(crate) fn solution_with(&self, iterate: &InBasis, last: &Correction, u: Mat<f64>) -> Result<Solution> {
        let coupled = Coupled { u, ..last.coupled.clone() };
        self.solution_of(iterate, Correction { delta: iterate.clone(), coupled })
    }

    /// The solution with the coefficients of an iterate, which a correction has led to.
    pub(crate) fn solution_of(&self, iterate: &InBasis, last: Correction) -> Result<Solution> {
        let column = |s: usize| {
            let y = &iterate.coefficients[s];
            Mat::from_fn(y.len(), 1, |i, _| y[i])
        };
        let ys = self.locals.iter().map(|local| column(local.subdomain)).collect();
        Ok(self.recover(&Coupled { ys, ..last.coupled }, 1)?.swap_remove(0))
    }
}
