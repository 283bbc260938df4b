//! Points of a subdomain at which fields are asked for values.
//!
//! A coefficient on the perimeter is taken from inside, so that it may jump from one subdomain to the next.

use crate::base::error::{Error, Result};
use crate::domain::decomposition::Subdomain;
use crate::domain::map::{Map, MapRef, Point};
use crate::problem::field::{Field, Patch, Samples, State};

/// How far a coefficient on the perimeter is taken from inside, relative to the subdomain.
const INSIDE: f64 = 1e-6;

/// A coefficient whose value on the perimeter differs by more than this, relative to it, from what the subdomain sees there jumps.
const SMOOTH: f64 = 1e-9;

/// Points that are closer to each other than so many roundings of their coordinates may be on one side of a pole, on it or beyond it.
const ROUNDINGS: f64 = 1e3;

/// Points of a subdomain, as fields take them.
pub struct Sample {
    /// Where they are.
    pub x: Vec<f64>,
    /// Where they are.
    pub y: Vec<f64>,
    /// The region that the subdomain belongs to, if it is in one.
    pub region: Option<usize>,
    /// The points in reference coordinates; none for points that may lie anywhere.
    xi: Vec<Point>,
    /// What they are the images under, unless that is affine.
    map: Option<MapRef>,
    /// The indices of the points on the perimeter.
    perimeter: Vec<usize>,
    /// For every point on the perimeter two points inside, one twice as far away as the other.
    inside: Option<Box<Sample>>,
    /// u, ux and uy of an iterate there, for nonlinear problems.
    state: Option<[Vec<f64>; 3]>,
}

impl Sample {
    /// The images of reference points of a subdomain.
    pub fn new(subdomain: &Subdomain, xi: impl IntoIterator<Item = Point>) -> Self {
        let xi: Vec<Point> = xi.into_iter().collect();
        let shape = subdomain.map.shape();
        let perimeter: Vec<usize> = (0..xi.len()).filter(|&i| shape.on_perimeter(xi[i])).collect();
        let inside = (!perimeter.is_empty()).then(|| {
            let pairs = perimeter.iter().flat_map(|&i| [1.0, 2.0].map(|k| shape.inside(xi[i], k * INSIDE)));
            Box::new(Sample::inside(subdomain, pairs.collect()))
        });
        let mut sample = Sample { perimeter, inside, ..Self::inside(subdomain, xi) };
        sample.put_on_axes(subdomain);
        sample
    }

    /// Points of the perimeter that are beside an axis by rounding are on it: the angle about a corner jumps there.
    fn put_on_axes(&mut self, subdomain: &Subdomain) {
        let map = subdomain.map.as_ref();
        let corners = map.shape().corners().iter().map(|&corner| map.point(corner));
        let largest = corners.fold([0.0f64; 2], |most, p| [0, 1].map(|a| most[a].max(p[a].abs())));
        // Rings see to that themselves, next to a corner to more digits.
        for &i in self.perimeter.iter().filter(|&&i| map.unit(self.xi[i]) == 1.0) {
            for (coordinate, largest) in [(&mut self.x[i], largest[0]), (&mut self.y[i], largest[1])] {
                if coordinate.abs() <= 4.0 * f64::EPSILON * largest {
                    *coordinate = 0.0;
                }
            }
        }
    }

    /// The images of reference points none of which is on the perimeter.
    pub fn inside(subdomain: &Subdomain, xi: Vec<Point>) -> Self {
        let map = subdomain.map.as_ref();
        // Grids have a quarter of a million points: an affine map is worth knowing.
        let affine = map.affine();
        let point = |xi: Point| affine.map_or_else(|| map.point(xi), |affine| affine.point(xi));
        let (x, y) = xi.iter().map(|&xi| point(xi)).map(|[x, y]| (x, y)).unzip();
        let map = affine.is_none().then(|| subdomain.map.clone());
        Sample { region: subdomain.region, xi, map, ..Self::at(x, y) }
    }

    /// Points that may lie anywhere.
    pub fn at(x: Vec<f64>, y: Vec<f64>) -> Self {
        Sample { x, y, region: None, xi: Vec::new(), map: None, perimeter: Vec::new(), inside: None, state: None }
    }

    /// Points that lie in a subdomain, not all of them images of points that are known: of those that leave it nothing is known.
    pub fn within(subdomain: &Subdomain, x: Vec<f64>, y: Vec<f64>) -> Self {
        let xi: Option<Vec<Point>> = x.iter().zip(&y).map(|(&x, &y)| subdomain.map.inverse([x, y])).collect();
        Sample { region: subdomain.region, xi: xi.unwrap_or_default(), ..Self::at(x, y) }
    }

    /// The same points with u, ux and uy of an iterate.
    #[must_use]
    pub fn with_state(self, state: [Vec<f64>; 3]) -> Self {
        Sample { state: Some(state), ..self }
    }

    /// The iterate at the points, if there is one.
    pub fn state(&self) -> Option<State<'_>> {
        self.state.as_ref().map(|[u, ux, uy]| State { u, ux, uy })
    }

    /// The points as fields take them, of this subdomain if they are known to be points of one.
    pub fn samples(&self, subdomain: usize) -> Samples<'_> {
        let known = self.xi.len() == self.x.len();
        let patch = known.then_some(Patch { subdomain, region: self.region, xi: &self.xi });
        Samples { patch, state: self.state(), ..Samples::at(&self.x, &self.y) }
    }

    /// The values of a field, all finite.
    pub fn values(&self, field: &dyn Field, key: &str, subdomain: usize) -> Result<Vec<f64>> {
        let out = self.raw_values(field, key, subdomain)?;
        self.finite(&out, key, subdomain)?;
        Ok(out)
    }

    /// The values of a coefficient as the subdomain sees it: on the perimeter the limit from inside, so that a coefficient
    /// may jump from one subdomain to the next. Where it does not, its value there is the limit. One that depends on the iterate, which
    /// is known at the points only, is taken there.
    pub fn one_sided(&self, field: &dyn Field, key: &str, subdomain: usize) -> Result<Vec<f64>> {
        let Some(inside) = self.inside.as_ref().filter(|_| field.constant().is_none() && !field.depends_on().state)
        else {
            return self.values(field, key, subdomain);
        };
        let mut out = self.raw_values(field, key, subdomain)?;
        let inside = inside.raw_values(field, key, subdomain)?;
        for (i, pair) in self.perimeter.iter().zip(inside.chunks_exact(2)) {
            let limit = 2.0 * pair[0] - pair[1];
            let size = pair[0].abs().max(pair[1].abs());
            // A value on the perimeter that is not a number is no limit, either; one inside is an error of its own. Where it is the value
            // inside there is no jump, unless rounding has put the second point on the other side of one.
            let smooth = [limit, pair[0]].iter().any(|seen| (out[*i] - seen).abs() <= SMOOTH * size);
            if !smooth && limit.is_finite() {
                out[*i] = limit;
            }
        }
        self.finite(&out, key, subdomain)?;
        Ok(out)
    }

    pub(crate) fn raw_values(&self, field: &dyn Field, key: &str, subdomain: usize) -> Result<Vec<f64>> {
        let mut out = vec![0.0; self.x.len()];
        field.values(&self.samples(subdomain), &mut out).map_err(Error::callback(key))?;
        if out.iter().any(|v| !v.is_finite()) {
            self.pass_over_poles(&mut out);
        }
        Ok(out)
    }

    /// Where rings are so close to their vertex that rounding puts points onto a side that the field has a pole along, values that are
    /// not finite become those of other points: what is so small counts by its area, which is 1e-24 and less.
    fn pass_over_poles(&self, values: &mut [f64]) {
        let Some(map) = &self.map else { return };
        let corners = map.shape().corners();
        let unit = corners.iter().map(|&corner| map.unit(corner)).fold(0.0, f64::max);
        let [first, others @ ..] = &corners.iter().map(|&corner| map.point(corner)).collect::<Vec<_>>()[..] else {
            return;
        };
        let size = others.iter().map(|p| (p[0] - first[0]).hypot(p[1] - first[1])).fold(0.0, f64::max);
        let rounding = |k: usize| ROUNDINGS * f64::EPSILON * self.x[k].abs().max(self.y[k].abs());
        let mut last = 0.0;
        for (k, value) in values.iter_mut().enumerate() {
            if value.is_finite() {
                last = *value;
            } else if map.unit(self.xi[k]) * size < unit * rounding(k) {
                *value = last;
            }
        }
    }

    /// Refuses values that are not finite, with the first point where they are not.
    pub fn finite(&self, values: &[f64], key: &str, subdomain: usize) -> Result<()> {
        match values.iter().position(|v| !v.is_finite()) {
            None => Ok(()),
            Some(i) => Err(Error::NotFinite {
                quantity: key.into(),
                value: values[i],
                x: self.x[i],
                y: self.y[i],
                subdomain: Some(subdomain),
            }),
        }
    }
}
