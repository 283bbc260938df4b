//! The solution: one network per subdomain, evaluated anywhere.

use std::convert::Infallible;
use std::sync::Arc;

use faer::Mat;
use rayon::prelude::*;

use crate::base::error::{Error, Result};
use crate::base::parallel::in_order;
use crate::domain::decomposition::Decomposition;
use crate::domain::map::Point;
use crate::domain::shape::Shape;
use crate::local::about::Iterate;
use crate::local::basis::ReferenceBasis;
use crate::local::iterate::InBasis;
use crate::local::local_factor::product;
use crate::local::operator::interior_symbols;
use crate::local::places::{Places, Scene};
use crate::method::report::Report;
use crate::network::activation::Neurons;
use crate::network::features::{FeatureNetwork, Networks};
use crate::network::symbol::{DERIVATIVES, Frame, Symbol};
use crate::problem::field::{Failure, Field, Jets, Samples, same_lengths};
use crate::problem::jets::{X, Y, pair};
use crate::problem::linearize::Residual;
use crate::problem::model::Problem;
use crate::problem::operators::Coefficients;

/// Points that are evaluated together: enough to fill the vector units, few enough for the first-level cache.
const CHUNK: usize = 1024;

/// A piecewise neural network, `u_s(xi) = sum_j c_j^s sigma(w_j^s . xi + b_j^s)` on subdomain s.
#[derive(Clone)]
pub struct Solution {
    /// The domain.
    pub decomposition: Arc<Decomposition>,
    /// The hidden layers.
    pub networks: Networks<Arc<FeatureNetwork>>,
    /// The output coefficients of every subdomain. On a parallel machine rank 0 has them all; on another rank those of
    /// other ranks are empty.
    pub coefficients: Vec<Vec<f64>>,
    /// What rounding took away from the output coefficients, where it is known; see [`lift`](crate::local::lift).
    pub remainders: Vec<Vec<f64>>,
    /// Interface nodes and the values found there.
    pub interface: Vec<(Point, f64)>,
    /// What the solve did.
    pub report: Report,
    /// The coefficients in the basis they were found in, where they are known.
    pub(crate) in_basis: Option<InBasis>,
}

/// Value and gradient at many points.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gradients {
    /// u
    pub u: Vec<f64>,
    /// du/dx
    pub ux: Vec<f64>,
    /// du/dy
    pub uy: Vec<f64>,
}

impl Solution {
    /// The hidden layer of subdomain s.
    pub fn network(&self, s: usize) -> &FeatureNetwork {
        self.networks.of(self.shape(s), s)
    }

    /// The shape of subdomain s.
    pub(super) fn shape(&self, s: usize) -> Shape {
        self.decomposition.subdomains[s].map.shape()
    }

    /// Multiplies the function by a number.
    pub(crate) fn scale(&mut self, factor: f64) {
        let in_basis = self.in_basis.iter_mut().flat_map(|known| &mut known.coefficients);
        let vectors = self.coefficients.iter_mut().chain(&mut self.remainders).chain(in_basis);
        vectors.flatten().for_each(|value| *value *= factor);
        self.interface.iter_mut().for_each(|(_, value)| *value *= factor);
    }

    /// Derivatives in reference coordinates at reference points of subdomain s: one array per entry of `derivatives`,
    /// which are indices into [`ORDERS`](crate::network::symbol::ORDERS). NaN where another rank has the coefficients.
    pub fn reference_derivatives(&self, s: usize, xi: &[Point], derivatives: &[usize]) -> Vec<Vec<f64>> {
        if self.coefficients[s].is_empty() {
            return vec![vec![f64::NAN; xi.len()]; derivatives.len()];
        }
        let network = self.network(s);
        let (x, y): (Vec<f64>, Vec<f64>) = xi.iter().map(|p| (p[0], p[1])).unzip();
        let neurons = Neurons {
            polynomials: network.polynomials,
            weights: [&network.weights[0], &network.weights[1]],
            biases: &network.biases,
            coefficients: &self.coefficients[s],
            remainders: &self.remainders[s],
        };
        let mut out = vec![vec![0.0; xi.len()]; derivatives.len()];
        let mut slices: Vec<&mut [f64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
        network.activation.network_sums(neurons, &x, &y, derivatives, &mut slices);
        out
    }

    /// Values and gradients at reference points of subdomain s.
    pub fn local_gradients(&self, s: usize, xi: &[Point]) -> Gradients {
        let found = self.reference_derivatives(s, xi, &[0, 1, 2]);
        let [u, d0, d1] = <[Vec<f64>; 3]>::try_from(found).expect("as many as were asked for");
        self.physical_gradients(s, xi, u, &d0, &d1)
    }

    /// Gradients from derivatives in reference coordinates.
    fn physical_gradients(&self, s: usize, xi: &[Point], u: Vec<f64>, d0: &[f64], d1: &[f64]) -> Gradients {
        let map = self.decomposition.subdomains[s].map.as_ref();
        let (ux, uy) = xi
            .iter()
            .zip(d0.iter().zip(d1))
            .map(|(&p, (d0, d1))| {
                let i = Frame::new(map, p).inverse;
                (i[0][0] * d0 + i[1][0] * d1, i[0][1] * d0 + i[1][1] * d1)
            })
            .unzip();
        Gradients { u, ux, uy }
    }

    /// The subdomain and reference point of every point; an error names the first point outside the domain.
    pub fn locate(&self, x: &[f64], y: &[f64]) -> Result<Vec<(usize, Point)>> {
        same_lengths(&[x, y])?;
        let places = self.places(x, y);
        match places.iter().position(Option::is_none) {
            None => Ok(places.into_iter().flatten().collect()),
            Some(i) => Err(Error::Input {
                key: format!("point {}", i + 1),
                value: format!("({}, {})", x[i], y[i]),
                problem: "the point lies outside the domain".into(),
                hint: "leave it out, or ask for NaN outside".into(),
            }),
        }
    }

    fn places(&self, x: &[f64], y: &[f64]) -> Vec<Option<(usize, Point)>> {
        x.par_iter().zip(y).map(|(&x, &y)| self.decomposition.locate([x, y])).collect()
    }

    /// u at points; NaN outside the domain.
    ///
    /// # Panics
    /// If there are not as many x as y.
    pub fn values(&self, x: &[f64], y: &[f64]) -> Vec<f64> {
        let Ok([u]) = self
            .by_subdomain(x, y, |s, xi| Ok::<_, Infallible>([self.reference_derivatives(s, xi, &[0]).swap_remove(0)]));
        u
    }

    /// u and its gradient at points; NaN outside the domain. At a corner where the gradient is infinite it is so here; where it is
    /// continuous at a corner with rings, it is that at `1e-6` of the element from there.
    ///
    /// # Panics
    /// If there are not as many x as y.
    pub fn gradients(&self, x: &[f64], y: &[f64]) -> Gradients {
        let Ok([u, ux, uy]) = self.by_subdomain(x, y, |s, xi| {
            let g = self.local_gradients(s, xi);
            let beside = |place: Point| {
                let g = self.local_gradients(s, &[place]);
                Ok::<_, Infallible>([g.ux[0], g.uy[0]])
            };
            let [ux, uy] = self.next_to_corners(s, xi, [g.ux, g.uy], beside)?;
            Ok::<_, Infallible>([g.u, ux, uy])
        });
        Gradients { u, ux, uy }
    }

    /// `L u - f` at points; NaN outside the domain.
    pub fn residuals(&self, problem: &Problem, x: &[f64], y: &[f64]) -> Result<Vec<f64>> {
        same_lengths(&[x, y])?;
        let mut found = self.by_subdomain(x, y, |s, xi| Ok::<_, Error>([self.local_residuals(problem, s, xi)?]))?;
        Ok(std::mem::take(&mut found[0]))
    }

    /// The flux at points, see [`Solution::local_fluxes`]; NaN outside the domain. Next to a corner it is taken where
    /// [gradients](Solution::gradients) are.
    pub fn fluxes(&self, problem: &Problem, x: &[f64], y: &[f64]) -> Result<[Vec<f64>; 2]> {
        same_lengths(&[x, y])?;
        self.by_subdomain(x, y, |s, xi| self.fluxes_in(problem, s, xi))
    }

    /// [`Solution::fluxes`] at reference points of subdomain s.
    pub fn fluxes_in(&self, problem: &Problem, s: usize, xi: &[Point]) -> Result<[Vec<f64>; 2]> {
        let beside = |place: Point| self.local_fluxes(problem, s, &[place]).map(|[x, y]| [x[0], y[0]]);
        self.next_to_corners(s, xi, self.local_fluxes(problem, s, xi)?, beside)
    }

    /// Vectors made of slopes at reference points of subdomain s, with those beside the corner where u has no digits left for them.
    fn next_to_corners<E>(
        &self,
        s: usize,
        xi: &[Point],
        mut found: [Vec<f64>; 2],
        beside: impl Fn(Point) -> std::result::Result<[f64; 2], E>,
    ) -> std::result::Result<[Vec<f64>; 2], E> {
        let map = self.decomposition.subdomains[s].map.as_ref();
        for (i, &p) in xi.iter().enumerate() {
            let place = map.slope_place(p);
            if place == Some(p) {
                continue;
            }
            let vector = match place {
                None => [0, 1].map(|k| f64::INFINITY.copysign(found[k][i])),
                Some(place) => beside(place)?,
            };
            (found[0][i], found[1][i]) = (vector[0], vector[1]);
        }
        Ok(found)
    }

    /// The problem with this solution as the state, where it is nonlinear.
    fn scene<'a>(&'a self, problem: &'a Problem) -> Scene<'a> {
        let about = problem.is_nonlinear().then_some(self as &dyn Iterate);
        Scene { problem, decomposition: &self.decomposition, about }
    }

    /// `L u - f` at reference points of subdomain s; not finite where the source is not, which it may be on the boundary.
    pub fn local_residuals(&self, problem: &Problem, s: usize, xi: &[Point]) -> Result<Vec<f64>> {
        let scene = self.scene(problem);
        let places = scene.places(s, xi);
        if scene.about.is_some() {
            let Residual { leading, lower } = problem.residual(&places)?;
            return Ok(leading.iter().zip(lower).map(|(a, b)| a + b).collect());
        }
        let lu = self.apply(s, xi, &interior_symbols(&scene, s, xi)?);
        let mut f = places.sample().raw_values(problem.source.as_ref(), problem.equation.source_key(), s)?;
        if let Some(unit) = problem.equation.load_unit(&places)? {
            f.iter_mut().zip(unit).for_each(|(q, d)| *q /= d);
        }
        Ok(lu.iter().zip(f).map(|(l, f)| l - f).collect())
    }

    /// The vector whose normal component is the flux of the equation, at reference points of subdomain s: `a grad u`,
    /// or `grad Laplacian u` for a plate.
    pub fn local_fluxes(&self, problem: &Problem, s: usize, xi: &[Point]) -> Result<[Vec<f64>; 2]> {
        let scene = self.scene(problem);
        let places = scene.places(s, xi);
        if scene.about.is_some() {
            return problem.flux_at(&places);
        }
        let vector = problem.equation.flux_vector(&places)?;
        Ok(vector.map(|symbols| self.apply(s, xi, &places.pull_back(&symbols).collect::<Vec<_>>())))
    }

    /// `sum_ab g_ab d^2 u / dx_a dx_b` for several g at points; NaN outside the domain.
    pub(crate) fn operators_at<const N: usize>(&self, x: &[f64], y: &[f64], g: [[[f64; 2]; 2]; N]) -> [Vec<f64>; N] {
        let Ok(found) = self.by_subdomain(x, y, |s, xi| {
            let map = self.decomposition.subdomains[s].map.as_ref();
            Ok::<_, Infallible>(g.map(|g| {
                let symbols: Vec<Symbol> = Frame::at(map, xi).map(|frame| frame.hessian(g)).collect();
                self.apply(s, xi, &symbols)
            }))
        });
        found
    }

    /// Operators in reference coordinates applied to u at reference points of subdomain s.
    fn apply(&self, s: usize, xi: &[Point], symbols: &[Symbol]) -> Vec<f64> {
        let active: Vec<usize> =
            (0..DERIVATIVES).filter(|&a| symbols.iter().any(|symbol| symbol.0[a] != 0.0)).collect();
        let derivatives = self.reference_derivatives(s, xi, &active);
        (0..xi.len()).map(|i| active.iter().zip(&derivatives).map(|(&a, d)| symbols[i].0[a] * d[i]).sum()).collect()
    }

    /// Sorts points by subdomain, evaluates them there in parallel, and puts the results in the order of the points.
    fn by_subdomain<const N: usize, E: Send>(
        &self,
        x: &[f64],
        y: &[f64],
        f: impl Fn(usize, &[Point]) -> std::result::Result<[Vec<f64>; N], E> + Sync,
    ) -> std::result::Result<[Vec<f64>; N], E> {
        assert_eq!(x.len(), y.len(), "every point has an x and a y");
        let places = self.places(x, y);
        let mut order: Vec<usize> = (0..places.len()).filter(|&i| places[i].is_some()).collect();
        let subdomain = |i: usize| places[i].map_or(0, |p| p.0);
        order.sort_by_key(|&i| subdomain(i));
        let chunks: Vec<&[usize]> =
            order.chunk_by(|&a, &b| subdomain(a) == subdomain(b)).flat_map(|c| c.chunks(CHUNK)).collect();
        let found = in_order(chunks.par_iter().map(|chunk| {
            let xi: Vec<Point> = chunk.iter().filter_map(|&i| places[i]).map(|p| p.1).collect();
            f(subdomain(chunk[0]), &xi)
        }))?;
        let mut out = [const { Vec::new() }; N];
        out.iter_mut().for_each(|out| out.resize(places.len(), f64::NAN));
        for (chunk, values) in chunks.iter().zip(found) {
            for (out, values) in out.iter_mut().zip(values) {
                chunk.iter().zip(values).for_each(|(&i, v)| out[i] = v);
            }
        }
        Ok(out)
    }

    /// The basis that all subdomains of a shape were solved in, where it is known.
    pub(crate) fn basis(&self, shape: Shape) -> Option<&Arc<ReferenceBasis>> {
        self.in_basis.as_ref().map(|known| known.bases.of(shape))
    }

    /// Values and gradients of some subdomains of one shape at the same reference points, from the table of the basis where there
    /// is one.
    pub(crate) fn gradients_at(&self, subdomains: &[usize], xi: &[Point], table: Option<&Mat<f64>>) -> Vec<Gradients> {
        let (Some(known), Some(table)) = (&self.in_basis, table) else {
            return subdomains.iter().map(|&s| self.local_gradients(s, xi)).collect();
        };
        let columns = Mat::from_fn(table.ncols(), subdomains.len(), |i, j| known.coefficients[subdomains[j]][i]);
        let found = product(table.as_ref(), columns.as_ref());
        let column = |(k, &s): (usize, &usize)| {
            let (u, rest) = found.col_as_slice(k).split_at(xi.len());
            let (d0, d1) = rest.split_at(xi.len());
            self.physical_gradients(s, xi, u.to_vec(), d0, d1)
        };
        subdomains.iter().enumerate().map(column).collect()
    }
}

/// So that a nonlinear problem can be asked at a solution.
impl Iterate for Solution {
    fn reference_derivatives(&self, s: usize, xi: &[Point], derivatives: &[usize]) -> Vec<Vec<f64>> {
        Solution::reference_derivatives(self, s, xi, derivatives)
    }
}

/// So that a solution can be the reference, the coefficient or the source of another.
impl Field for Solution {
    fn values(&self, at: &Samples<'_>, out: &mut [f64]) -> std::result::Result<(), Failure> {
        same_lengths(&[at.x, at.y, out])?;
        out.copy_from_slice(&Solution::values(self, at.x, at.y));
        Ok(())
    }

    fn gradients(&self, at: &Samples<'_>, dx: &mut [f64], dy: &mut [f64]) -> std::result::Result<bool, Failure> {
        same_lengths(&[at.x, at.y, dx, dy])?;
        let g = Solution::gradients(self, at.x, at.y);
        dx.copy_from_slice(&g.ux);
        dy.copy_from_slice(&g.uy);
        Ok(true)
    }

    fn jets(&self, at: &Samples<'_>, out: &mut Jets) -> std::result::Result<bool, Failure> {
        same_lengths(&[at.x, at.y])?;
        out.reset(at.len());
        let found = self.by_subdomain(at.x, at.y, |s, xi| {
            let places = Places::new(&self.decomposition, s, xi).about(self);
            let state = places.state().expect("they are about this solution");
            let [uxx, uxy, uyy] = places.second_derivatives().expect("they are about this solution");
            Ok::<_, Infallible>([state.u.to_vec(), state.ux.to_vec(), state.uy.to_vec(), uxx, uxy, uyy])
        });
        let Ok([u, ux, uy, uxx, uxy, uyy]) = found;
        (out.value, out.first[X], out.first[Y]) = (u, ux, uy);
        (out.second[pair(X, X)], out.second[pair(X, Y)], out.second[pair(Y, Y)]) = (uxx, uxy, uyy);
        Ok(true)
    }

    fn work(&self) -> usize {
        self.network(0).biases.len()
    }

    fn describe(&self) -> String {
        format!("a solution on {} subdomains", self.decomposition.len())
    }
}
