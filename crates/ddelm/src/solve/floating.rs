//! Problems that leave a constant open: the flux is given on the whole boundary, or there is no boundary, and no reaction.
//!
//! They have a solution if what is fed flows out, `int f + int g = 0`, and then one for every constant. The interface system is
//! singular: D maps constants to zero. One entry of its diagonal is raised, which leaves the solution that vanishes there; it is
//! shifted until it has the mean that is asked for. What the quadrature of f and g leaves of the balance is taken from f.

use std::sync::Arc;

use rayon::prelude::*;

use crate::base::error::{Error, Result};
use crate::base::number::brief;
use crate::domain::collocation::Collocations;
use crate::domain::decomposition::{Decomposition, part_name};
use crate::domain::map::{magnification, side_speed};
use crate::domain::sample::Sample;
use crate::interface::Exchange;
use crate::method::settings::{Coupling, Settings};
use crate::problem::field::{Failure, Field, FieldRef, Samples};
use crate::problem::model::{Data, Problem};

/// A source and fluxes that balance to this, relative to their size, are meant to balance.
const BALANCED: f64 = 1e-6;

/// Refuses settings with which a constant cannot be found.
pub(crate) fn check(problem: &Problem, decomposition: &Decomposition, settings: &Settings) -> Result<()> {
    if problem.mean.is_none() {
        return Ok(());
    }
    let refuse = |value: &str, wrong: &str, hint: &str| Err(Error::input("boundary.mean", value, wrong, hint));
    if settings.coupling() != Coupling::FluxBalance || !settings.shares_features() {
        return refuse("a mean", "it is fixed by the default method only", "leave preset and method out");
    }
    if decomposition.len() == 1 {
        return refuse("one subdomain", "the mean is fixed through an interface", "use two subdomains or more");
    }
    Ok(())
}

/// Integrals over the subdomains of this rank: of f and of g, of their sizes, and the area.
fn integrals(
    decomposition: &Decomposition,
    collocations: &Collocations,
    mine: &[usize],
    data: &Data,
    key: &str,
) -> Result<[f64; 3]> {
    let one = |&s: &usize| -> Result<[f64; 3]> {
        let place = &decomposition.subdomains[s];
        let (map, rule) = (place.map.as_ref(), &collocations.of(place.map.shape()).integration);
        let inside = Sample::new(place, rule.inside.iter().copied());
        let f = inside.values(data.source.as_ref(), key, s)?;
        let mut sums = [0.0; 3];
        for ((&xi, w), f) in rule.inside.iter().zip(&rule.inside_weights).zip(f) {
            let area = w * magnification(map.jacobian(xi));
            sums = [sums[0] + area * f, sums[1] + area * f.abs(), sums[2] + area];
        }
        let per_side = rule.around.len() / map.shape().sides();
        for (side, part) in place.boundaries() {
            let points = &rule.around[side * per_side..(side + 1) * per_side];
            let sample = Sample::new(place, points.iter().copied());
            let g = sample.values(data.boundary[part][0].as_ref(), &part_name(decomposition, part), s)?;
            for ((&xi, w), g) in points.iter().zip(&rule.around_weights).zip(g) {
                let length = w * side_speed(map, side, map.jacobian(xi));
                (sums[0], sums[1]) = (sums[0] + length * g, sums[1] + length * g.abs());
            }
        }
        Ok(sums)
    };
    let found: Vec<Result<[f64; 3]>> = mine.par_iter().map(one).collect();
    found.into_iter().try_fold([0.0; 3], |sum, part| part.map(|part| [0, 1, 2].map(|k| sum[k] + part[k])))
}

/// The data with a source that balances the fluxes on the boundary. Refuses data that do not balance.
pub(crate) fn balanced(
    exchange: &dyn Exchange,
    problem: &Problem,
    decomposition: &Decomposition,
    collocations: &Collocations,
    mine: &[usize],
    data: &Data,
) -> Result<Data> {
    let key = problem.equation.source_key();
    let found = integrals(decomposition, collocations, mine, data, key);
    let mut sums = crate::interface::agreed(exchange, found)?;
    exchange.sum(&mut sums);
    let [total, size, area] = sums;
    // With advection what is fed need not flow out through the boundary as a flux.
    if !problem.equation.conserves() || total == 0.0 {
        return Ok(data.clone());
    }
    if total.abs() > BALANCED * size {
        return Err(Error::input(
            key,
            format!("an integral of {} with the flux on the boundary", brief(total, 7)),
            "there is no solution: with the flux given all around, the integrals of the source and of the flux add up to zero",
            format!("subtract {} from the source, or give u somewhere", brief(total / area, 7)),
        ));
    }
    let source = Arc::new(Lowered { field: data.source.clone(), by: total / area });
    Ok(Data { source, boundary: data.boundary.clone() })
}

/// A field minus a number.
struct Lowered {
    field: FieldRef,
    by: f64,
}

impl Field for Lowered {
    fn values(&self, at: &Samples<'_>, out: &mut [f64]) -> std::result::Result<(), Failure> {
        self.field.values(at, out)?;
        out.iter_mut().for_each(|v| *v -= self.by);
        Ok(())
    }

    fn gradients(&self, at: &Samples<'_>, dx: &mut [f64], dy: &mut [f64]) -> std::result::Result<bool, Failure> {
        self.field.gradients(at, dx, dy)
    }

    fn work(&self) -> usize {
        self.field.work()
    }

    fn describe(&self) -> String {
        format!("{} - {}", self.field.describe(), self.by)
    }
}
