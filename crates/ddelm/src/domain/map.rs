//! Maps of a reference shape onto a subdomain, `x = F(xi)`.
//!
//! The rectangle is the affine case. Corners and sides are those of the [`Shape`], counter-clockwise.

pub mod ring;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use super::plane::Point;
use super::plane::dot;
use super::shape::Shape;
use ring::RingDescription;

/// A smooth one-to-one map of a reference shape into the plane.
pub trait Map: Send + Sync {
    /// The reference shape.
    fn shape(&self) -> Shape {
        Shape::Quadrilateral
    }

    /// `F(xi)`.
    fn point(&self, xi: Point) -> Point;

    /// `J[a][b] = dx_a / dxi_b`.
    fn jacobian(&self, xi: Point) -> [[f64; 2]; 2];

    /// `H[a][b][c] = d^2 x_a / dxi_b dxi_c`.
    fn hessian(&self, xi: Point) -> [[[f64; 2]; 2]; 2];

    /// J and H at once.
    fn slopes(&self, xi: Point) -> ([[f64; 2]; 2], [[[f64; 2]; 2]; 2]) {
        (self.jacobian(xi), self.hessian(xi))
    }

    /// The unit of length at a reference point, in which [`scaled_jacobian`](Map::scaled_jacobian) and
    /// [`scaled_hessian`](Map::scaled_hessian) are given: one, unless the map goes down to sizes whose squares have no
    /// place among the numbers (see [`ring`]).
    fn unit(&self, _: Point) -> f64 {
        1.0
    }

    /// `J / unit`.
    fn scaled_jacobian(&self, xi: Point) -> [[f64; 2]; 2] {
        self.jacobian(xi)
    }

    /// `H / unit`.
    fn scaled_hessian(&self, xi: Point) -> [[[f64; 2]; 2]; 2] {
        self.hessian(xi)
    }

    /// An origin c and `F(xi) - c`, which a map that shrinks toward c knows to its own rounding, not to that of c.
    fn offset(&self, xi: Point) -> (Point, Point) {
        ([0.0; 2], self.point(xi))
    }

    /// Where the gradient at a reference point is taken, which is not there where u has no digits left for its slope; `None` where
    /// the gradient is infinite.
    fn slope_place(&self, xi: Point) -> Option<Point> {
        Some(xi)
    }

    /// The map as an affine one, if it is.
    fn affine(&self) -> Option<Affine> {
        None
    }

    /// Whether the map turns the reference shape over: then its sides run clockwise.
    fn is_mirrored(&self) -> bool {
        false
    }

    /// What the derivatives of the map depend on, if that is two vectors; see [`Form`].
    fn form(&self) -> Option<Form> {
        let [x, y] = self.affine()?.jacobian;
        Some(Form { vectors: [[x[0], y[0]], [x[1], y[1]]], shape: self.shape(), rings: None })
    }

    /// The map as numbers that can be written to a file, if it has them.
    fn description(&self) -> Option<MapDescription> {
        None
    }

    /// The reference point of x, if x lies in the subdomain (to `1e-12` of its size, or the rounding of x).
    ///
    /// Newton's method from the centre, with steps that stay near the square.
    fn inverse(&self, x: Point) -> Option<Point> {
        let mut xi = [0.5, 0.5];
        let mut last = f64::INFINITY;
        for _ in 0..60 {
            let p = self.point(xi);
            let step = solve2(self.jacobian(xi), [x[0] - p[0], x[1] - p[1]]);
            let size = step[0].abs().max(step[1].abs());
            if !size.is_finite() {
                return None;
            }
            let damping = (0.5 / size).min(1.0);
            for k in 0..2 {
                xi[k] = (xi[k] + damping * step[k]).clamp(-0.25, 1.25);
            }
            let stalled = size < 1e-10 && size >= last;
            last = size;
            if size < 1e-15 || stalled {
                break;
            }
        }
        (last < 1e-10).then(|| clamp_to_square(xi, slack(x, self.jacobian(xi))))?
    }
}

/// A map up to shifts: maps with the same form have the same J and H everywhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Form {
    /// The vectors that J and H are made of: the columns of an affine map, or the rays of a ring to the ends of its outer side.
    pub vectors: [Point; 2],
    /// The reference shape.
    pub shape: Shape,
    /// What else a ring is made of: where it begins and ends, and whether it is the innermost one.
    pub rings: Option<([f64; 2], bool)>,
}

impl Form {
    /// The products of the vectors with each other: what is left of them up to turns and reflections.
    pub fn products(&self) -> [f64; 3] {
        let [a, b] = self.vectors;
        [dot(a, a), dot(a, b), dot(b, b)]
    }
}

/// A point of the reference square, moved onto it if it lies outside by no more than rounding.
fn clamp_to_square(xi: Point, slack: f64) -> Option<Point> {
    let inside = |t: f64| (-slack..=1.0 + slack).contains(&t);
    (inside(xi[0]) && inside(xi[1])).then(|| xi.map(|t| t.clamp(0.0, 1.0)))
}

/// How far rounding may move the reference point of x: a small subdomain far from the origin sees the rounding of x.
fn slack(x: Point, jacobian: [[f64; 2]; 2]) -> f64 {
    1e-12 + rounding(x, jacobian)
}

/// What the rounding of x does to its reference point.
fn rounding(x: Point, jacobian: [[f64; 2]; 2]) -> f64 {
    let inverse = inverse2(jacobian).as_flattened().iter().fold(0.0f64, |a, v| a.max(v.abs()));
    8.0 * f64::EPSILON * inverse * x[0].abs().max(x[1].abs())
}

/// Solves `J s = r`.
fn solve2(j: [[f64; 2]; 2], r: Point) -> Point {
    let det = determinant(j);
    [(j[1][1] * r[0] - j[0][1] * r[1]) / det, (j[0][0] * r[1] - j[1][0] * r[0]) / det]
}

/// `det J`.
pub fn determinant(j: [[f64; 2]; 2]) -> f64 {
    j[0][0] * j[1][1] - j[0][1] * j[1][0]
}

/// `|det J|`: how many times larger a small area is than in the reference shape.
pub fn magnification(j: [[f64; 2]; 2]) -> f64 {
    determinant(j).abs()
}

/// `|det J|` of a map at reference points. An affine map has one for all of them.
pub fn magnifications(map: &dyn Map, xi: &[Point]) -> impl Iterator<Item = f64> {
    let common = map.affine().map(|affine| magnification(affine.jacobian));
    xi.iter().map(move |&xi| common.unwrap_or_else(|| magnification(map.jacobian(xi))))
}

/// `J^-1`: the rows are the gradients of the reference coordinates, `I[k][a] = dxi_k / dx_a`.
pub fn inverse2(j: [[f64; 2]; 2]) -> [[f64; 2]; 2] {
    let det = determinant(j);
    [[j[1][1] / det, -j[0][1] / det], [-j[1][0] / det, j[0][0] / det]]
}

/// `x = origin + J xi`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Affine {
    /// The image of the reference origin.
    pub origin: Point,
    /// J
    pub jacobian: [[f64; 2]; 2],
}

impl Affine {
    /// The rectangle with the given lower left corner, width and height.
    pub fn rectangle(origin: Point, width: f64, height: f64) -> Self {
        Affine { origin, jacobian: [[width, 0.0], [0.0, height]] }
    }
}

impl Map for Affine {
    fn point(&self, xi: Point) -> Point {
        let j = &self.jacobian;
        [0, 1].map(|a| self.origin[a] + j[a][0] * xi[0] + j[a][1] * xi[1])
    }

    fn jacobian(&self, _: Point) -> [[f64; 2]; 2] {
        self.jacobian
    }

    fn hessian(&self, _: Point) -> [[[f64; 2]; 2]; 2] {
        [[[0.0; 2]; 2]; 2]
    }

    fn affine(&self) -> Option<Affine> {
        Some(*self)
    }

    fn description(&self) -> Option<MapDescription> {
        Some(MapDescription::Affine(*self))
    }

    fn inverse(&self, x: Point) -> Option<Point> {
        let xi = solve2(self.jacobian, [x[0] - self.origin[0], x[1] - self.origin[1]]);
        clamp_to_square(xi, slack(x, self.jacobian))
    }
}

/// A sector of an annulus: `x = centre + r (cos theta, sin theta)`, r along the first reference direction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Polar {
    /// The centre of the circles.
    pub centre: Point,
    /// Inner and outer radius.
    pub radius: [f64; 2],
    /// First and last angle.
    pub angle: [f64; 2],
}

impl Polar {
    fn polar(&self, xi: Point) -> (f64, f64, f64, f64) {
        let (dr, da) = (self.radius[1] - self.radius[0], self.angle[1] - self.angle[0]);
        (self.radius[0] + dr * xi[0], self.angle[0] + da * xi[1], dr, da)
    }
}

impl Map for Polar {
    fn point(&self, xi: Point) -> Point {
        let (r, angle, ..) = self.polar(xi);
        [self.centre[0] + r * angle.cos(), self.centre[1] + r * angle.sin()]
    }

    fn jacobian(&self, xi: Point) -> [[f64; 2]; 2] {
        let (r, angle, dr, da) = self.polar(xi);
        let (s, c) = angle.sin_cos();
        [[dr * c, -r * da * s], [dr * s, r * da * c]]
    }

    fn hessian(&self, xi: Point) -> [[[f64; 2]; 2]; 2] {
        let (r, angle, dr, da) = self.polar(xi);
        let (s, c) = angle.sin_cos();
        let (mixed, pure) = (dr * da, r * da * da);
        [[[0.0, -mixed * s], [-mixed * s, -pure * c]], [[0.0, mixed * c], [mixed * c, -pure * s]]]
    }

    fn description(&self) -> Option<MapDescription> {
        Some(MapDescription::Polar(*self))
    }
}

/// A map as numbers: what a file holds of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum MapDescription {
    /// An affine map.
    Affine(Affine),
    /// A sector of an annulus.
    Polar(Polar),
    /// A quadrilateral.
    Quadrilateral(Quadrilateral),
    /// A ring about a corner of an element.
    Ring(RingDescription),
}

impl MapDescription {
    /// The map that is described.
    pub fn map(self) -> MapRef {
        match self {
            MapDescription::Affine(affine) => Arc::new(affine),
            MapDescription::Polar(polar) => Arc::new(polar),
            MapDescription::Quadrilateral(quadrilateral) => Arc::new(quadrilateral),
            MapDescription::Ring(ring) => Arc::new(ring.ring()),
        }
    }
}

/// A quadrilateral with straight sides, the image of the square under a bilinear map.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Quadrilateral {
    /// The images of the reference corners (0,0), (1,0), (0,1), (1,1), in this order.
    pub corners: [Point; 4],
}

impl Quadrilateral {
    /// Coordinate a as `c0 + c1 xi_0 + c2 xi_1 + c3 xi_0 xi_1`.
    fn coefficients(&self, a: usize) -> [f64; 4] {
        let [p, q, r, s] = self.corners.map(|corner| corner[a]);
        [p, q - p, r - p, (s - r) - (q - p)]
    }
}

impl Map for Quadrilateral {
    fn point(&self, xi: Point) -> Point {
        [0, 1].map(|a| {
            let c = self.coefficients(a);
            c[0] + c[1] * xi[0] + c[2] * xi[1] + c[3] * xi[0] * xi[1]
        })
    }

    fn jacobian(&self, xi: Point) -> [[f64; 2]; 2] {
        [0, 1].map(|a| {
            let c = self.coefficients(a);
            [c[1] + c[3] * xi[1], c[2] + c[3] * xi[0]]
        })
    }

    fn hessian(&self, _: Point) -> [[[f64; 2]; 2]; 2] {
        [0, 1].map(|a| {
            let c = self.coefficients(a);
            [[0.0, c[3]], [c[3], 0.0]]
        })
    }

    fn description(&self) -> Option<MapDescription> {
        Some(MapDescription::Quadrilateral(*self))
    }
}

/// A subdomain within another: `F(origin + size xi)`, with a size for each coordinate; two negative ones turn it by 180 degrees.
pub struct SubMap {
    /// F
    pub map: MapRef,
    /// The point of the other at the origin of this one.
    pub origin: Point,
    /// Its size in each direction.
    pub size: Point,
}

impl SubMap {
    fn within(&self, xi: Point) -> Point {
        [0, 1].map(|a| self.origin[a] + self.size[a] * xi[a])
    }
}

impl Map for SubMap {
    fn shape(&self) -> Shape {
        self.map.shape()
    }

    fn point(&self, xi: Point) -> Point {
        self.map.point(self.within(xi))
    }

    fn jacobian(&self, xi: Point) -> [[f64; 2]; 2] {
        self.map.jacobian(self.within(xi)).map(|row| [0, 1].map(|b| self.size[b] * row[b]))
    }

    fn hessian(&self, xi: Point) -> [[[f64; 2]; 2]; 2] {
        let square = |b: usize, c: usize| self.size[b] * self.size[c];
        let rows = |rows: [[f64; 2]; 2]| [0, 1].map(|b| [0, 1].map(|c| square(b, c) * rows[b][c]));
        self.map.hessian(self.within(xi)).map(rows)
    }

    fn affine(&self) -> Option<Affine> {
        self.map.affine().map(|_| Affine { origin: self.point([0.0; 2]), jacobian: self.jacobian([0.0; 2]) })
    }

    fn inverse(&self, x: Point) -> Option<Point> {
        let whole = self.map.inverse(x)?;
        let xi = [0, 1].map(|a| (whole[a] - self.origin[a]) / self.size[a]);
        let slack = slack(x, self.jacobian(self.shape().center()));
        (self.shape().outside(xi) <= slack).then(|| self.shape().clamp(xi))
    }
}

/// A shared map.
pub type MapRef = Arc<dyn Map>;

/// `dx/ds` along a side, counter-clockwise in the reference shape.
pub fn side_tangent(map: &dyn Map, side: usize, jacobian: [[f64; 2]; 2]) -> Point {
    let v = map.shape().side_vector(side);
    jacobian.map(|row| row[0] * v[0] + row[1] * v[1])
}

/// `|dx/ds|` along a side.
pub fn side_speed(map: &dyn Map, side: usize, jacobian: [[f64; 2]; 2]) -> f64 {
    let t = side_tangent(map, side, jacobian);
    t[0].hypot(t[1])
}

/// The outward unit normal of the subdomain on a side: the tangent, turned to the right, or to the left where sides run clockwise.
pub fn unit_normal(map: &dyn Map, side: usize, jacobian: [[f64; 2]; 2]) -> Point {
    let t = side_tangent(map, side, jacobian);
    let length = if map.is_mirrored() { -t[0].hypot(t[1]) } else { t[0].hypot(t[1]) };
    [t[1] / length, -t[0] / length]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECTOR: Polar = Polar { centre: [0.3, -0.2], radius: [1.0, 2.0], angle: [0.1, 1.4] };

    const KITE: Quadrilateral = Quadrilateral { corners: [[0.0, 0.0], [1.0, 0.2], [0.1, 0.9], [1.5, 1.4]] };

    #[test]
    fn derivatives_of_curved_maps_match_differences() {
        check_derivatives(&SECTOR);
        check_derivatives(&KITE);
        check_derivatives(&SubMap { map: Arc::new(SECTOR), origin: [0.5, 0.0], size: [0.5, 0.25] });
    }

    fn check_derivatives(map: &dyn Map) {
        let (xi, h) = ([0.3, 0.7], 1e-5);
        for b in 0..2 {
            let shifted = |s: f64| {
                let mut q = xi;
                q[b] += s * h;
                q
            };
            let (p, m) = (map.point(shifted(1.0)), map.point(shifted(-1.0)));
            let (jp, jm) = (map.jacobian(shifted(1.0)), map.jacobian(shifted(-1.0)));
            for a in 0..2 {
                assert!((map.jacobian(xi)[a][b] - (p[a] - m[a]) / (2.0 * h)).abs() < 1e-9);
                for c in 0..2 {
                    assert!((map.hessian(xi)[a][b][c] - (jp[a][c] - jm[a][c]) / (2.0 * h)).abs() < 1e-9);
                }
            }
        }
    }

    #[test]
    fn inverse_undoes_the_map() {
        let affine = Affine { origin: [1.0, 2.0], jacobian: [[0.5, 0.2], [-0.1, 2.0]] };
        for xi in [[0.0, 0.0], [1.0, 1.0], [0.25, 0.9], [1.0, 0.4]] {
            for map in [&SECTOR as &dyn Map, &affine, &KITE] {
                let back = map.inverse(map.point(xi)).unwrap();
                assert!((back[0] - xi[0]).abs() < 1e-13 && (back[1] - xi[1]).abs() < 1e-13);
            }
        }
        assert_eq!(SECTOR.inverse([0.3, -0.2]), None);
        assert_eq!(affine.inverse([5.0, 2.0]), None);
    }

    #[test]
    fn normals_point_outwards() {
        let j = SECTOR.jacobian([1.0, 0.5]);
        let (n, p) = (unit_normal(&SECTOR, 1, j), SECTOR.point([1.0, 0.5]));
        assert!((n[0] - (p[0] - 0.3) / 2.0).abs() < 1e-14 && (n[1] - (p[1] + 0.2) / 2.0).abs() < 1e-14);
    }
}
