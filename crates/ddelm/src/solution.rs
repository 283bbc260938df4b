//! The solution: one network per subdomain, evaluated anywhere.

use std::convert::Infallible;
use std::sync::Arc;

use rayon::prelude::*;

use crate::activation::Neurons;
use crate::decomposition::Decomposition;
use crate::error::{Error, Result};
use crate::features::FeatureNetwork;
use crate::field::{Failure, Field};
use crate::map::{Point, determinant, side_point};
use crate::operator::{Sample, diffusion_values, interior_symbols};
use crate::problem::{Equation, Problem};
use crate::report::{Errors, Report};
use crate::symbol::{Frame, Symbol};

/// Points that are evaluated together: enough to fill the vector units, few enough for the first-level cache.
const CHUNK: usize = 1024;

/// A piecewise neural network, `u_s(xi) = sum_j c_j^s sigma(w_j^s . xi + b_j^s)` on subdomain s.
#[derive(Clone)]
pub struct Solution {
    /// The domain.
    pub decomposition: Arc<Decomposition>,
    /// The hidden layers: one for all subdomains, or one each.
    pub networks: Vec<Arc<FeatureNetwork>>,
    /// The output coefficients of every subdomain. On a parallel machine rank 0 has them all; on another rank those of
    /// other ranks are empty.
    pub coefficients: Vec<Vec<f64>>,
    /// What rounding took away from the output coefficients, where it is known; see [`lift`](crate::lift).
    pub remainders: Vec<Vec<f64>>,
    /// Interface nodes and the values found there.
    pub interface: Vec<(Point, f64)>,
    /// What the solve did.
    pub report: Report,
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
        &self.networks[if self.networks.len() == 1 { 0 } else { s }]
    }

    /// Derivatives in reference coordinates at reference points of subdomain s: one array per entry of `derivatives`,
    /// which are indices into [`ORDERS`](crate::symbol::ORDERS). NaN where another rank has the coefficients.
    pub fn reference_derivatives(&self, s: usize, xi: &[Point], derivatives: &[usize]) -> Vec<Vec<f64>> {
        if self.coefficients[s].is_empty() {
            return vec![vec![f64::NAN; xi.len()]; derivatives.len()];
        }
        let network = self.network(s);
        let (x, y): (Vec<f64>, Vec<f64>) = xi.iter().map(|p| (p[0], p[1])).unzip();
        let neurons = Neurons {
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
        let [u, d0, d1] = <[Vec<f64>; 3]>::try_from(self.reference_derivatives(s, xi, &[0, 1, 2])).unwrap_or_default();
        let map = self.decomposition.subdomains[s].map.as_ref();
        let (ux, uy) = xi
            .iter()
            .zip(d0.iter().zip(&d1))
            .map(|(&p, (d0, d1))| {
                let i = Frame::new(map, p).inverse;
                (i[0][0] * d0 + i[1][0] * d1, i[0][1] * d0 + i[1][1] * d1)
            })
            .unzip();
        Gradients { u, ux, uy }
    }

    /// The subdomain and reference point of every point; an error names the first point outside the domain.
    pub fn locate(&self, x: &[f64], y: &[f64]) -> Result<Vec<(usize, Point)>> {
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
    pub fn values(&self, x: &[f64], y: &[f64]) -> Vec<f64> {
        let Ok([u]) = self
            .by_subdomain(x, y, |s, xi| Ok::<_, Infallible>([self.reference_derivatives(s, xi, &[0]).swap_remove(0)]));
        u
    }

    /// u and its gradient at points; NaN outside the domain.
    pub fn gradients(&self, x: &[f64], y: &[f64]) -> Gradients {
        let Ok([u, ux, uy]) = self.by_subdomain(x, y, |s, xi| {
            let g = self.local_gradients(s, xi);
            Ok::<_, Infallible>([g.u, g.ux, g.uy])
        });
        Gradients { u, ux, uy }
    }

    /// `L u - f` at points; NaN outside the domain.
    pub fn residuals(&self, problem: &Problem, x: &[f64], y: &[f64]) -> Result<Vec<f64>> {
        let mut found = self.by_subdomain(x, y, |s, xi| Ok::<_, Error>([self.local_residuals(problem, s, xi)?]))?;
        Ok(std::mem::take(&mut found[0]))
    }

    /// The flux at points, see [`Solution::local_fluxes`]; NaN outside the domain.
    pub fn fluxes(&self, problem: &Problem, x: &[f64], y: &[f64]) -> Result<[Vec<f64>; 2]> {
        self.by_subdomain(x, y, |s, xi| self.local_fluxes(problem, s, xi))
    }

    /// `L u - f` at reference points of subdomain s.
    pub fn local_residuals(&self, problem: &Problem, s: usize, xi: &[Point]) -> Result<Vec<f64>> {
        let map = self.decomposition.subdomains[s].map.as_ref();
        let lu = self.apply(s, xi, &interior_symbols(&problem.equation, map, s, xi)?);
        let sample = Sample::new(map, xi.iter().copied());
        let mut f = sample.values(problem.source.as_ref(), "equation.source", s)?;
        if let Equation::Plate { rigidity } = &problem.equation {
            let d = sample.values(rigidity.as_ref(), "equation.plate.rigidity", s)?;
            f.iter_mut().zip(d).for_each(|(q, d)| *q /= d);
        }
        Ok(lu.iter().zip(f).map(|(l, f)| l - f).collect())
    }

    /// The vector whose normal component is the flux of the equation, at reference points of subdomain s: `a grad u`,
    /// or `grad Laplacian u` for a plate.
    pub fn local_fluxes(&self, problem: &Problem, s: usize, xi: &[Point]) -> Result<[Vec<f64>; 2]> {
        let map = self.decomposition.subdomains[s].map.as_ref();
        match &problem.equation {
            Equation::SecondOrder { diffusion, .. } => {
                let a = diffusion_values(diffusion, &Sample::new(map, xi.iter().copied()), s)?;
                let g = self.local_gradients(s, xi);
                Ok([0, 1].map(|row| {
                    let (ax, ay) = (&a[2 * row], &a[2 * row + 1]);
                    (0..xi.len()).map(|i| ax[i] * g.ux[i] + ay[i] * g.uy[i]).collect()
                }))
            }
            Equation::Plate { .. } => Ok([[1.0, 0.0], [0.0, 1.0]].map(|direction| {
                let symbol = |&p: &Point| {
                    let frame = Frame::new(map, p);
                    frame.gradient(direction).times(frame.laplacian())
                };
                self.apply(s, xi, &xi.iter().map(symbol).collect::<Vec<_>>())
            })),
        }
    }

    /// Operators in reference coordinates applied to u at reference points of subdomain s.
    fn apply(&self, s: usize, xi: &[Point], symbols: &[Symbol]) -> Vec<f64> {
        let active: Vec<usize> =
            (0..crate::symbol::DERIVATIVES).filter(|&a| symbols.iter().any(|symbol| symbol.0[a] != 0.0)).collect();
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
        let places = self.places(x, y);
        let mut order: Vec<usize> = (0..places.len()).filter(|&i| places[i].is_some()).collect();
        let subdomain = |i: usize| places[i].map_or(0, |p| p.0);
        order.sort_by_key(|&i| subdomain(i));
        let chunks: Vec<&[usize]> =
            order.chunk_by(|&a, &b| subdomain(a) == subdomain(b)).flat_map(|c| c.chunks(CHUNK)).collect();
        let found: Vec<[Vec<f64>; N]> = chunks
            .par_iter()
            .map(|chunk| {
                let xi: Vec<Point> = chunk.iter().filter_map(|&i| places[i]).map(|p| p.1).collect();
                f(subdomain(chunk[0]), &xi)
            })
            .collect::<std::result::Result<_, E>>()?;
        let mut out = [const { Vec::new() }; N];
        out.iter_mut().for_each(|out| out.resize(places.len(), f64::NAN));
        for (chunk, values) in chunks.iter().zip(found) {
            for (out, values) in out.iter_mut().zip(values) {
                chunk.iter().zip(values).for_each(|(&i, v)| out[i] = v);
            }
        }
        Ok(out)
    }

    /// Errors against a known solution on a grid of `resolution x resolution` cell centres in every subdomain.
    pub fn errors(&self, exact: &dyn Field, resolution: usize) -> Result<Errors> {
        let sums = self.compare(resolution, |s, sample| {
            let u = sample.values(exact, "exact.u", s)?;
            let (mut ux, mut uy) = (vec![0.0; u.len()], vec![0.0; u.len()]);
            let known = exact
                .gradients(&sample.x, &sample.y, &mut ux, &mut uy)
                .map_err(|failure| Error::Callback { quantity: "exact.u".into(), failure })?;
            if !known {
                ux.fill(f64::NAN);
                uy.fill(f64::NAN);
            }
            Ok(Gradients { u, ux, uy })
        })?;
        let total = Sums::total(&sums);
        Ok(Errors {
            l2: total.l2(),
            h1: Some(total.h1()).filter(|h| !h.is_nan()),
            max: total.max,
            interface_rms: self.interface_rms(exact)?,
            trace_rms: self.trace_rms(exact, resolution)?,
        })
    }

    /// The difference to another solution on the same domain, as the error against it, on a grid of
    /// `resolution x resolution` cell centres in every subdomain of this one.
    pub fn distance(&self, other: &Solution, resolution: usize) -> Result<Errors> {
        let total = Sums::total(&self.difference(other, resolution)?);
        if total.error.is_nan() {
            return Err(Error::input(
                "domain",
                format!("{:?} and {:?}", self.decomposition.bounding_box(), other.decomposition.bounding_box()),
                "the second solution is not defined on the whole domain of the first",
                "compare solutions of the same problem",
            ));
        }
        Ok(Errors { l2: total.l2(), h1: Some(total.h1()), max: total.max, interface_rms: None, trace_rms: None })
    }

    /// Sums of squared differences to another solution in every subdomain of this one.
    pub(crate) fn difference(&self, other: &Solution, resolution: usize) -> Result<Vec<Sums>> {
        self.compare(resolution, |_, sample| Ok(other.gradients(&sample.x, &sample.y)))
    }

    fn compare(
        &self,
        resolution: usize,
        other: impl Fn(usize, &Sample) -> Result<Gradients> + Sync,
    ) -> Result<Vec<Sums>> {
        let centres: Vec<Point> = (0..resolution * resolution)
            .map(|k| [k / resolution, k % resolution].map(|i| (i as f64 + 0.5) / resolution as f64))
            .collect();
        (0..self.decomposition.len())
            .into_par_iter()
            .map(|s| {
                let map = self.decomposition.subdomains[s].map.as_ref();
                let sample = Sample::new(map, centres.iter().copied());
                let (mine, theirs) = (self.local_gradients(s, &centres), other(s, &sample)?);
                let mut sums = Sums::default();
                for (i, &xi) in centres.iter().enumerate() {
                    let weight = determinant(map.jacobian(xi)).abs() / centres.len() as f64;
                    let (e, ex, ey) = (mine.u[i] - theirs.u[i], mine.ux[i] - theirs.ux[i], mine.uy[i] - theirs.uy[i]);
                    let slope = theirs.ux[i] * theirs.ux[i] + theirs.uy[i] * theirs.uy[i];
                    sums.area += weight;
                    sums.error += weight * e * e;
                    sums.norm += weight * theirs.u[i] * theirs.u[i];
                    sums.slope_error += weight * (ex * ex + ey * ey);
                    sums.slope_norm += weight * slope;
                    sums.max = sums.max.max(e.abs());
                }
                Ok(sums)
            })
            .collect()
    }

    fn interface_rms(&self, exact: &dyn Field) -> Result<Option<f64>> {
        if self.interface.is_empty() {
            return Ok(None);
        }
        let (x, y) = self.interface.iter().map(|(p, _)| (p[0], p[1])).unzip();
        let u = Sample { x, y }.values(exact, "exact.u", 0)?;
        let sum: f64 = self.interface.iter().zip(&u).map(|((_, v), u)| (v - u) * (v - u)).sum();
        Ok(Some((sum / u.len() as f64).sqrt()))
    }

    /// The error of the networks at the middles of `resolution` intervals of both sides of every edge.
    fn trace_rms(&self, exact: &dyn Field, resolution: usize) -> Result<Option<f64>> {
        let sides: Vec<(usize, usize)> = self.decomposition.edges.iter().flat_map(|edge| edge.sides).collect();
        if sides.is_empty() {
            return Ok(None);
        }
        let middles: Vec<f64> = (0..resolution).map(|i| (i as f64 + 0.5) / resolution as f64).collect();
        let squares = sides
            .par_iter()
            .map(|&(s, side)| {
                let xi: Vec<Point> = middles.iter().map(|&t| side_point(side, t)).collect();
                let map = self.decomposition.subdomains[s].map.as_ref();
                let u = Sample::new(map, xi.iter().copied()).values(exact, "exact.u", s)?;
                let traces = self.reference_derivatives(s, &xi, &[0]).swap_remove(0);
                Ok(traces.iter().zip(u).map(|(v, u)| (v - u) * (v - u)).sum())
            })
            .collect::<Result<Vec<f64>>>()?;
        Ok(Some((squares.iter().sum::<f64>() / (squares.len() * resolution) as f64).sqrt()))
    }
}

/// So that a solution can be the reference, the coefficient or the source of another.
impl Field for Solution {
    fn values(&self, x: &[f64], y: &[f64], out: &mut [f64]) -> std::result::Result<(), Failure> {
        out.copy_from_slice(&Solution::values(self, x, y));
        Ok(())
    }

    fn gradients(&self, x: &[f64], y: &[f64], dx: &mut [f64], dy: &mut [f64]) -> std::result::Result<bool, Failure> {
        let g = Solution::gradients(self, x, y);
        dx.copy_from_slice(&g.ux);
        dy.copy_from_slice(&g.uy);
        Ok(true)
    }

    fn describe(&self) -> String {
        format!("a solution on {} subdomains", self.decomposition.len())
    }
}

/// Weighted sums of squares over the points of a subdomain.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sums {
    pub area: f64,
    pub error: f64,
    pub norm: f64,
    pub slope_error: f64,
    pub slope_norm: f64,
    pub max: f64,
}

impl Sums {
    pub fn total(sums: &[Sums]) -> Sums {
        sums.iter().fold(Sums::default(), |a, b| Sums {
            area: a.area + b.area,
            error: a.error + b.error,
            norm: a.norm + b.norm,
            slope_error: a.slope_error + b.slope_error,
            slope_norm: a.slope_norm + b.slope_norm,
            max: a.max.max(b.max),
        })
    }

    /// Relative L2 norm; absolute where the reference vanishes.
    pub fn l2(&self) -> f64 {
        (self.error / if self.norm > 0.0 { self.norm } else { 1.0 }).sqrt()
    }

    /// Relative H1 norm; absolute where the reference vanishes.
    pub fn h1(&self) -> f64 {
        let norm = self.norm + self.slope_norm;
        ((self.error + self.slope_error) / if norm > 0.0 { norm } else { 1.0 }).sqrt()
    }
}
