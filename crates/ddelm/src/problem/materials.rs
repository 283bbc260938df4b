//! Materials: coefficients and sources that regions of the domain have of their own.
//!
//! What a region does not say is as outside of all regions. A number in one region and a tensor in another make tensors of
//! both.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::problem::field::{FieldRef, constant};
use crate::problem::model::{Diffusion, Equation};
use crate::problem::regional::Regional;

/// What some regions have of their own, by their numbers.
pub type Overrides<T> = BTreeMap<usize, T>;

/// The coefficients and sources of the regions.
#[derive(Clone, Default)]
pub struct Materials {
    /// a
    pub diffusion: Overrides<Diffusion>,
    /// b
    pub advection: Overrides<[FieldRef; 2]>,
    /// c
    pub reaction: Overrides<FieldRef>,
    /// f
    pub source: Overrides<FieldRef>,
}

impl Materials {
    /// An equation and its source with what the regions, of these names, say on top of them. A plate is left as it is.
    pub fn apply(self, equation: Equation, source: FieldRef, names: &[String]) -> (Equation, FieldRef) {
        let Equation::SecondOrder { diffusion, advection, reaction } = equation else { return (equation, source) };
        let joined = |default: FieldRef, own: Overrides<FieldRef>| regional(default, own, names);
        let zero = || constant(0.0);
        let advection = match self.advection.is_empty() {
            true => advection,
            false => {
                let default = advection.unwrap_or_else(|| [zero(), zero()]);
                Some([0, 1].map(|k| {
                    let along = self.advection.iter().map(|(&region, b)| (region, b[k].clone()));
                    joined(default[k].clone(), along.collect())
                }))
            }
        };
        let reaction = match self.reaction.is_empty() {
            true => reaction,
            false => Some(joined(reaction.unwrap_or_else(zero), self.reaction)),
        };
        let diffusion = diffusions(diffusion, self.diffusion, names);
        (Equation::SecondOrder { diffusion, advection, reaction }, joined(source, self.source))
    }
}

fn regional(default: FieldRef, own: Overrides<FieldRef>, names: &[String]) -> FieldRef {
    if own.is_empty() { default } else { Arc::new(Regional::new(default, own).with_names(names)) }
}

/// One diffusion of several: numbers if all of them are, else tensors.
fn diffusions(default: Diffusion, own: Overrides<Diffusion>, names: &[String]) -> Diffusion {
    if own.is_empty() {
        return default;
    }
    let scalar = |a: &Diffusion| match a {
        Diffusion::Scalar(a) => Some(a.clone()),
        Diffusion::Tensor(_) => None,
    };
    let scalars: Option<Overrides<FieldRef>> = own.iter().map(|(&r, a)| Some((r, scalar(a)?))).collect();
    if let (Some(default), Some(own)) = (scalar(&default), scalars) {
        return Diffusion::Scalar(regional(default, own, names));
    }
    let entry = |a: &Diffusion, i: usize, j: usize| match a {
        Diffusion::Scalar(a) if i == j => a.clone(),
        Diffusion::Scalar(_) => constant(0.0),
        Diffusion::Tensor(a) => a[i][j].clone(),
    };
    Diffusion::Tensor([0, 1].map(|i| {
        [0, 1].map(|j| {
            let own = own.iter().map(|(&region, a)| (region, entry(a, i, j))).collect();
            regional(entry(&default, i, j), own, names)
        })
    }))
}
