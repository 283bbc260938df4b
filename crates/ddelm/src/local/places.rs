//! Points of one subdomain, at which an equation takes its coefficients, of a linear problem or about an iterate.

use std::cell::OnceCell;

use crate::base::error::{Error, Result};
use crate::domain::decomposition::{Decomposition, Subdomain};
use crate::domain::map::{Point, unit_normal};
use crate::domain::sample::Sample;
use crate::local::about::Iterate;
use crate::local::chebyshev::Interpolant;
use crate::network::symbol::{Frame, Symbol};
use crate::problem::field::{FieldRef, State};
use crate::problem::jets::{Jets, X, Y};
use crate::problem::linearize::without_derivatives;
use crate::problem::model::Problem;
use crate::problem::operators::Coefficients;

/// Reference points of one subdomain, at which an equation takes its coefficients.
pub struct Places<'a> {
    pub(super) place: &'a Subdomain,
    number: usize,
    pub(super) xi: &'a [Point],
    /// The points as fields take them, once somebody asks: constants do not.
    sample: OnceCell<Sample>,
    about: Option<&'a dyn Iterate>,
}

impl<'a> Places<'a> {
    /// Points of subdomain s.
    pub fn new(decomposition: &'a Decomposition, s: usize, xi: &'a [Point]) -> Self {
        let place = &decomposition.subdomains[s];
        Places { place, number: s, xi, sample: OnceCell::new(), about: None }
    }

    /// The same points with an iterate there.
    #[must_use]
    pub fn about(self, iterate: &'a dyn Iterate) -> Self {
        let found = iterate.reference_derivatives(self.number, self.xi, &[0, 1, 2]);
        let (ux, uy) = Frame::at(self.place.map.as_ref(), self.xi)
            .enumerate()
            .map(|(i, Frame { inverse: j, .. })| {
                let (d0, d1) = (found[1][i], found[2][i]);
                (j[0][0] * d0 + j[1][0] * d1, j[0][1] * d0 + j[1][1] * d1)
            })
            .unzip();
        let u = found.into_iter().next().expect("three derivatives were asked for");
        let sample = Sample::new(self.place, self.xi.iter().copied()).with_state([u, ux, uy]);
        Places { sample: sample.into(), about: Some(iterate), ..self }
    }

    /// The points as fields take them.
    pub fn sample(&self) -> &Sample {
        self.sample.get_or_init(|| Sample::new(self.place, self.xi.iter().copied()))
    }

    /// A field as it stands, on the perimeter as well.
    pub fn plain_values(&self, field: &FieldRef, key: &str) -> Result<Vec<f64>> {
        match self.constant(field) {
            Some(values) => Ok(values),
            None => self.sample().values(field.as_ref(), key, self.number),
        }
    }

    /// A constant at all points, if a field is one.
    fn constant(&self, field: &FieldRef) -> Option<Vec<f64>> {
        field.constant().filter(|value| value.is_finite()).map(|value| vec![value; self.xi.len()])
    }

    /// Operators in x and y, one for each point, in reference coordinates.
    pub fn pull_back<'s>(&self, symbols: &'s [Symbol]) -> impl Iterator<Item = Symbol> + use<'_, 's> {
        Frame::at(self.place.map.as_ref(), self.xi).zip(symbols).map(|(frame, symbol)| frame.pull_back(symbol))
    }

    /// The outward unit normals, where all points lie on one side.
    pub fn normals(&self, side: usize) -> Vec<Point> {
        self.normals_on(std::iter::repeat(side))
    }

    /// The outward unit normals of points that lie on these sides.
    pub fn normals_on(&self, sides: impl Iterator<Item = usize>) -> Vec<Point> {
        let map = self.place.map.as_ref();
        self.xi.iter().zip(sides).map(|(&xi, side)| unit_normal(map, side, map.jacobian(xi))).collect()
    }
}

impl Coefficients for Places<'_> {
    fn points(&self) -> (&[f64], &[f64]) {
        (&self.sample().x, &self.sample().y)
    }

    fn subdomain(&self) -> usize {
        self.number
    }

    fn values(&self, field: &FieldRef, key: &str) -> Result<Vec<f64>> {
        match self.constant(field) {
            Some(values) => Ok(values),
            None => self.sample().one_sided(field.as_ref(), key, self.number),
        }
    }

    /// The field's own gradient, or that of its interpolant on the subdomain.
    fn gradients(&self, field: &FieldRef, key: &str) -> Result<[Vec<f64>; 2]> {
        let n = self.xi.len();
        let (mut dx, mut dy) = (vec![0.0; n], vec![0.0; n]);
        if field.constant().is_some() {
            return Ok([dx, dy]);
        }
        let known =
            field.gradients(&self.sample().samples(self.number), &mut dx, &mut dy).map_err(Error::callback(key))?;
        if !known {
            let map = self.place.map.as_ref();
            let fit = Interpolant::adaptive(map.shape(), |xi| {
                Sample::new(self.place, xi.iter().copied()).one_sided(field.as_ref(), key, self.number)
            })?;
            for (i, &xi) in self.xi.iter().enumerate() {
                let (g, inverse) = (fit.gradient(xi), Frame::new(map, xi).inverse);
                dx[i] = inverse[0][0] * g[0] + inverse[1][0] * g[1];
                dy[i] = inverse[0][1] * g[0] + inverse[1][1] * g[1];
            }
        }
        self.sample().finite(&dx, key, self.number)?;
        self.sample().finite(&dy, key, self.number)?;
        Ok([dx, dy])
    }

    fn boundary_values(&self, field: &FieldRef, key: &str) -> Result<Vec<f64>> {
        self.plain_values(field, key)
    }

    fn state(&self) -> Option<State<'_>> {
        // Only points with an iterate have one, and those are there.
        self.sample.get().and_then(Sample::state)
    }

    fn second_derivatives(&self) -> Option<[Vec<f64>; 3]> {
        const OPERATORS: [[[f64; 2]; 2]; 3] =
            [[[1.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]]];
        let found = self.about?.reference_derivatives(self.number, self.xi, &[1, 2, 3, 4, 5]);
        let mut out = [(); 3].map(|()| Vec::with_capacity(self.xi.len()));
        for (i, frame) in Frame::at(self.place.map.as_ref(), self.xi).enumerate() {
            for (out, operator) in out.iter_mut().zip(OPERATORS) {
                let symbol = frame.hessian(operator);
                out.push(found.iter().zip(&symbol.0[1..6]).map(|(d, c)| c * d[i]).sum());
            }
        }
        Some(out)
    }

    fn jets(&self, field: &FieldRef, key: &str) -> Result<Jets> {
        let mut jets = Jets::new(self.xi.len());
        if !field.depends_on().state {
            jets.value = self.values(field, key)?;
            let [dx, dy] = self.gradients(field, key)?;
            (jets.first[X], jets.first[Y]) = (dx, dy);
            return Ok(jets);
        }
        let known = field.jets(&self.sample().samples(self.number), &mut jets).map_err(Error::callback(key))?;
        if !known {
            return Err(without_derivatives(key, field));
        }
        for values in std::iter::once(&jets.value).chain(&jets.first).chain(&jets.second) {
            self.sample().finite(values, key, self.number)?;
        }
        Ok(jets)
    }
}

/// A problem on a decomposition; a nonlinear one with the iterate about which it is linearised.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// Where.
    pub decomposition: &'a Decomposition,
    /// The iterate; none for linear problems.
    pub about: Option<&'a dyn Iterate>,
}

impl<'a> Scene<'a> {
    /// A linear problem on a decomposition.
    pub fn linear(problem: &'a Problem, decomposition: &'a Decomposition) -> Self {
        Scene { problem, decomposition, about: None }
    }

    /// Reference points of subdomain s.
    pub fn places(&self, s: usize, xi: &'a [Point]) -> Places<'a> {
        let places = Places::new(self.decomposition, s, xi);
        match self.about {
            Some(iterate) => places.about(iterate),
            None => places,
        }
    }

    /// The subdomain of a number.
    pub(super) fn subdomain(&self, s: usize) -> &'a Subdomain {
        &self.decomposition.subdomains[s]
    }
}
