//! How a number changes with a field: cotangents of the field and of its gradient at points,
//!
//! ```text
//! dJ = sum_i  value_i delta(x_i) + slope_i . grad delta(x_i)
//! ```
//!
//! for every direction delta in which the field may change. The points are those where rows take the field: nodes, and points of
//! integration. The sum is the derivative of what is computed, not an approximation of the derivative of what should be.

use rayon::prelude::*;

use crate::base::error::Result;
use crate::base::parallel::in_order;
use crate::domain::decomposition::Decomposition;
use crate::domain::map::Point;
use crate::local::places::Places;
use crate::problem::field::FieldRef;
use crate::problem::model::{Condition, Diffusion, Problem};
use crate::problem::operators::Coefficients;

/// Cotangents at points of one subdomain.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    pub subdomain: usize,
    pub xi: Vec<Point>,
    pub value: Vec<f64>,
    /// Those of the derivatives in x and y, where the gradient of the field is taken.
    pub slope: Option<[Vec<f64>; 2]>,
}

/// How a number changes with one field.
#[derive(Debug, Clone, Default)]
pub struct Sensitivity {
    pub(crate) sites: Vec<Site>,
    /// Whether rows take the field from inside of the subdomain.
    pub(crate) one_sided: bool,
}

/// A [`Sensitivity`] as arrays, one entry for each point.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AtPoints {
    /// Where the points are.
    pub x: Vec<f64>,
    /// Where the points are.
    pub y: Vec<f64>,
    /// What the value of the field there counts.
    pub value: Vec<f64>,
    /// What its derivative in x counts.
    pub dx: Vec<f64>,
    /// What its derivative in y counts.
    pub dy: Vec<f64>,
}

impl Sensitivity {
    fn of_coefficient() -> Self {
        Sensitivity { sites: Vec::new(), one_sided: true }
    }

    /// The derivative in the direction of a change of the field. A direction without a gradient of its own is interpolated where
    /// its gradient counts.
    pub fn along(&self, decomposition: &Decomposition, direction: &FieldRef) -> Result<f64> {
        let term = |site: &Site| -> Result<f64> {
            let places = Places::new(decomposition, site.subdomain, &site.xi);
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let values = match self.one_sided {
                true => places.values(direction, "direction")?,
                false => places.boundary_values(direction, "direction")?,
            };
            let mut sum = dot(&site.value, &values);
            if let Some([wx, wy]) = &site.slope {
                let [dx, dy] = places.gradients(direction, "direction")?;
                sum += dot(wx, &dx) + dot(wy, &dy);
            }
            Ok(sum)
        };
        Ok(in_order(self.sites.par_iter().map(term))?.iter().sum())
    }

    /// The cotangents as arrays.
    pub fn at_points(&self, decomposition: &Decomposition) -> AtPoints {
        let mut out = AtPoints::default();
        for site in &self.sites {
            let map = decomposition.subdomains[site.subdomain].map.as_ref();
            for (i, &xi) in site.xi.iter().enumerate() {
                let [x, y] = map.point(xi);
                let slope = |k: usize| site.slope.as_ref().map_or(0.0, |slope| slope[k][i]);
                for (array, value) in [
                    (&mut out.x, x),
                    (&mut out.y, y),
                    (&mut out.value, site.value[i]),
                    (&mut out.dx, slope(0)),
                    (&mut out.dy, slope(1)),
                ] {
                    array.push(value);
                }
            }
        }
        out
    }
}

/// How a number changes with all that a problem is made of.
#[derive(Debug, Clone, Default)]
pub struct Sensitivities {
    /// With the source, or the load of a plate.
    pub source: Sensitivity,
    /// With the diffusion: one entry, or four by rows; none for a plate.
    pub diffusion: Vec<Sensitivity>,
    /// With the two components of the advection; none where there is no advection.
    pub advection: Vec<Sensitivity>,
    /// With the reaction; none where there is no reaction.
    pub reaction: Vec<Sensitivity>,
    /// With the rigidity of a plate; none elsewhere.
    pub rigidity: Vec<Sensitivity>,
    /// With the values of the condition on each part of the boundary.
    pub boundary: Vec<Vec<Sensitivity>>,
    /// With the coefficient of a Robin condition, on each part of the boundary.
    pub robin: Vec<Sensitivity>,
}

impl Sensitivities {
    /// Of a number that does not change.
    pub(crate) fn none(problem: &Problem) -> Self {
        let some = |count: usize| vec![Sensitivity::of_coefficient(); count];
        let equation = &problem.equation;
        let diffusion = equation.leading().map_or(0, |diffusion| diffusion.entries().len());
        Sensitivities {
            source: Sensitivity::default(),
            diffusion: some(diffusion),
            advection: some(if equation.advection().is_some() { 2 } else { 0 }),
            reaction: some(usize::from(equation.reaction().is_some())),
            rigidity: some(usize::from(diffusion == 0)),
            boundary: problem.conditions.iter().map(|c| vec![Sensitivity::default(); c.values.len()]).collect(),
            robin: vec![Sensitivity::default(); problem.conditions.len()],
        }
    }

    /// All of them, always in the same order.
    fn all(&mut self) -> impl Iterator<Item = &mut Sensitivity> {
        let equation = [&mut self.diffusion, &mut self.advection, &mut self.reaction, &mut self.rigidity];
        std::iter::once(&mut self.source)
            .chain(equation.into_iter().flatten())
            .chain(self.boundary.iter_mut().flatten())
            .chain(&mut self.robin)
    }

    /// These, but with others for some fields of the problem.
    pub(crate) fn with_others_for(
        mut self,
        problem: &Problem,
        mut others: Sensitivities,
        some: impl Fn(&FieldRef) -> bool,
    ) -> Self {
        // In the order of `Sensitivities::all`.
        let equation = problem.equation.fields().into_iter().map(|(_, field)| Some(field));
        let values = problem.conditions.iter().flat_map(|condition| &condition.values).map(Some);
        let robin = problem.conditions.iter().map(Condition::multiple);
        let fields = std::iter::once(Some(&problem.source)).chain(equation).chain(values).chain(robin);
        for ((mine, theirs), field) in self.all().zip(others.all()).zip(fields) {
            if field.is_some_and(&some) {
                std::mem::swap(mine, theirs);
            }
        }
        self
    }

    /// Adds those of another number that the same problem has.
    pub(crate) fn add(&mut self, mut other: Sensitivities) {
        self.all().zip(other.all()).for_each(|(mine, theirs)| mine.sites.append(&mut theirs.sites));
    }

    /// Adds cotangents of an operator of second order, one for each point: of `-a : D^2 - (div a - b) . grad + c`.
    pub(crate) fn add_operator(&mut self, diffusion: &Diffusion, at: (usize, &[Point]), cotangents: &[[f64; 6]]) {
        let column = |k: usize, sign: f64| cotangents.iter().map(|w| sign * w[k]).collect::<Vec<f64>>();
        let zero = || vec![0.0; cotangents.len()];
        match diffusion {
            Diffusion::Scalar(_) => {
                let value = cotangents.iter().map(|w| -w[3] - w[5]).collect();
                self.diffusion[0].push(at, value, Some([column(1, -1.0), column(2, -1.0)]));
            }
            Diffusion::Tensor(_) => {
                // div a = (d_x a11 + d_y a21, d_x a12 + d_y a22), and a12 and a21 meet in the mixed derivative.
                let slopes = [
                    [column(1, -1.0), zero()],
                    [column(2, -1.0), zero()],
                    [zero(), column(1, -1.0)],
                    [zero(), column(2, -1.0)],
                ];
                for ((entry, k), slope) in self.diffusion.iter_mut().zip([3, 4, 4, 5]).zip(slopes) {
                    entry.push(at, column(k, -1.0), Some(slope));
                }
            }
        }
        self.add_lower_order(at, cotangents);
    }

    /// Adds cotangents of `b . grad + c`.
    pub(crate) fn add_lower_order(&mut self, at: (usize, &[Point]), cotangents: &[[f64; 6]]) {
        let column = |k: usize| cotangents.iter().map(|w| w[k]).collect::<Vec<f64>>();
        for (k, component) in self.advection.iter_mut().enumerate() {
            component.push(at, column(1 + k), None);
        }
        for reaction in &mut self.reaction {
            reaction.push(at, column(0), None);
        }
    }

    /// Adds cotangents of the operators `n . a grad` at points with normals n.
    pub(crate) fn add_flux(
        &mut self,
        diffusion: &Diffusion,
        at: (usize, &[Point]),
        normals: &[Point],
        cotangents: &[[f64; 2]],
    ) {
        // n . (a grad u) = sum_ij n_i a_ij u_j
        let column =
            |i: usize, j: usize| normals.iter().zip(cotangents).map(|(n, w)| n[i] * w[j]).collect::<Vec<f64>>();
        match diffusion {
            Diffusion::Scalar(_) => {
                let value = column(0, 0).iter().zip(column(1, 1)).map(|(a, b)| a + b).collect();
                self.diffusion[0].push(at, value, None);
            }
            Diffusion::Tensor(_) => {
                for (k, entry) in self.diffusion.iter_mut().enumerate() {
                    entry.push(at, column(k / 2, k % 2), None);
                }
            }
        }
    }
}

impl Sensitivity {
    /// Adds cotangents at points of a subdomain.
    pub(crate) fn push(&mut self, (subdomain, xi): (usize, &[Point]), value: Vec<f64>, slope: Option<[Vec<f64>; 2]>) {
        self.sites.push(Site { subdomain, xi: xi.to_vec(), value, slope });
    }
}
