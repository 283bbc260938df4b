//! Maps of the reference triangle and the reference square onto elements with curved sides, `x = F(xi)`.
//!
//! Corners and sides are those of the [`Shape`]. A curved side is its chord plus
//! `s (1 - s) N(s)` (see [`Bulge`]), and enters the map as
//!
//! ```text
//! triangle, side from a to b:   lambda_a lambda_b N((1 + lambda_b - lambda_a) / 2)      (lambda barycentric)
//! square, side y = 0:           (1 - y) x (1 - x) N(x),   and the other three alike
//! ```
//!
//! on top of the affine map of the straight triangle and the bilinear map of the straight quadrilateral. The second is
//! transfinite interpolation (W. J. Gordon, C. A. Hall, *Construction of curvilinear co-ordinate systems and applications
//! to mesh generation*, 1973). Both agree on a side with the side's curve at the same parameter s, so neighbours meet
//! exactly; both are smooth up to the corners.

use serde::{Deserialize, Serialize};

use crate::domain::map::{Affine, Map, Point, determinant};

use super::bulge::Bulge;
use super::plane::{Rectangle, subtract};
use super::shape::Shape;

/// A map with its derivatives at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jet {
    /// `F(xi)`
    pub point: Point,
    /// `J[a][b] = dx_a / dxi_b`
    pub jacobian: [[f64; 2]; 2],
    /// `H[a][b][c] = d^2 x_a / dxi_b dxi_c`
    pub hessian: [[[f64; 2]; 2]; 2],
}

/// The map of a reference shape onto an element, as numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShapeMap {
    shape: Shape,
    corners: Vec<Point>,
    /// One for each side.
    bulges: Vec<Bulge>,
}

impl ShapeMap {
    /// The map onto the element with the given corners, counter-clockwise, three for a triangle and four for a
    /// quadrilateral, and one bulge per side, in the direction of the side.
    ///
    /// # Panics
    /// If there are not three or four corners, with as many bulges.
    pub fn new(corners: Vec<Point>, bulges: Vec<Bulge>) -> Self {
        let shape = match corners.len() {
            3 => Shape::Triangle,
            4 => Shape::Quadrilateral,
            count => panic!("an element has three or four corners, not {count}"),
        };
        assert_eq!(corners.len(), bulges.len(), "one bulge for each side");
        ShapeMap { shape, corners, bulges }
    }

    /// The element with straight sides.
    pub fn straight(corners: &[Point]) -> Self {
        Self::new(corners.to_vec(), vec![Bulge::default(); corners.len()])
    }

    /// The reference shape.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The corners, counter-clockwise.
    pub fn corners(&self) -> &[Point] {
        &self.corners
    }

    /// The bulges of the sides.
    pub fn bulges(&self) -> &[Bulge] {
        &self.bulges
    }

    /// Whether all sides are straight.
    pub fn is_straight(&self) -> bool {
        self.bulges.iter().all(Bulge::is_straight)
    }

    /// Whether the map is `x = F(0) + J xi`: a straight triangle, or a parallelogram to rounding.
    pub fn is_affine(&self) -> bool {
        let Some(&[a, b, c, d]) = self.corners.first_chunk() else { return self.is_straight() };
        let size = Rectangle::around([a, b, c, d]);
        let scale = size.low.iter().chain(&size.high).fold(0.0f64, |m, v| m.max(v.abs()));
        self.is_straight() && (0..2).all(|k| (a[k] - b[k] + c[k] - d[k]).abs() <= 4.0 * f64::EPSILON * scale)
    }

    /// `F(xi)`.
    pub fn point(&self, xi: Point) -> Point {
        self.jet_to::<1>(xi).point
    }

    /// `J[a][b] = dx_a / dxi_b`.
    pub fn jacobian(&self, xi: Point) -> [[f64; 2]; 2] {
        self.jet_to::<2>(xi).jacobian
    }

    /// `H[a][b][c] = d^2 x_a / dxi_b dxi_c`.
    pub fn hessian(&self, xi: Point) -> [[[f64; 2]; 2]; 2] {
        self.jet(xi).hessian
    }

    /// Point, Jacobian and second derivatives at once.
    pub fn jet(&self, xi: Point) -> Jet {
        self.jet_to::<3>(xi)
    }

    /// The point, and the first `D - 1` of its derivatives; the others are those of the straight element.
    fn jet_to<const D: usize>(&self, xi: Point) -> Jet {
        let mut jet = self.straight_jet(xi);
        for (side, bulge) in self.bulges.iter().enumerate() {
            match self.shape {
                _ if bulge.is_straight() => {}
                Shape::Triangle => add_to_triangle::<D>(&mut jet, side, bulge, xi),
                Shape::Quadrilateral => add_to_square::<D>(&mut jet, side, bulge, xi),
            }
        }
        jet
    }

    fn straight_jet(&self, [x, y]: Point) -> Jet {
        let c = &self.corners;
        let (u, v) = match self.shape {
            Shape::Triangle => (subtract(c[1], c[0]), subtract(c[2], c[0])),
            Shape::Quadrilateral => (subtract(c[1], c[0]), subtract(c[3], c[0])),
        };
        let twist = match self.shape {
            Shape::Triangle => [0.0; 2],
            Shape::Quadrilateral => [0, 1].map(|a| (c[2][a] - c[3][a]) - u[a]),
        };
        Jet {
            point: [0, 1].map(|a| c[0][a] + x * u[a] + y * v[a] + x * y * twist[a]),
            jacobian: [0, 1].map(|a| [u[a] + y * twist[a], v[a] + x * twist[a]]),
            hessian: [0, 1].map(|a| [[0.0, twist[a]], [twist[a], 0.0]]),
        }
    }

    /// The smallest `det J` on a lattice with `count` intervals per side, over the size of the straight element (the
    /// parallelogram of its first corner's sides would do; the mean over the corners is used).
    pub fn least_determinant(&self, count: usize) -> f64 {
        let count = if self.is_straight() { 1 } else { count };
        let (mut least, mut sum, mut points) = (f64::INFINITY, 0.0, 0.0);
        for xi in self.shape.lattice(count) {
            let det = determinant(self.jacobian(xi));
            least = least.min(det);
            sum += det;
            points += 1.0;
        }
        if sum > 0.0 { least / (sum / points) } else { -1.0 }
    }

    /// The reference point of x, if x lies in the element, to `1e-12` of its size or to the rounding of x.
    ///
    /// Newton's method from the reference point in the straight element, and, should it fail, from the centre and from
    /// points halfway to the corners.
    pub fn inverse(&self, x: Point) -> Option<Point> {
        let first = self.straight_jet([0.0, 0.0]);
        let guess = solve(first.jacobian, subtract(x, first.point));
        if !(guess[0].is_finite() && guess[1].is_finite()) {
            return None;
        }
        if self.shape == Shape::Triangle && self.is_straight() {
            return self.settled(x, guess);
        }
        let center = self.shape.center();
        let limit = |v: f64| v.clamp(-0.1, 1.1);
        if let Some(xi) = self.newton(x, guess.map(limit)) {
            return self.settled(x, xi);
        }
        let halfway = self.shape.corners().iter().map(|c| [0, 1].map(|a| 0.5 * (c[a] + center[a])));
        let found = std::iter::once(center).chain(halfway).find_map(|start| self.newton(x, start))?;
        self.settled(x, found)
    }

    /// A root of `F(xi) = x` in or near the shape, if Newton's method finds one.
    fn newton(&self, x: Point, start: Point) -> Option<Point> {
        let mut xi = start;
        let mut last = f64::INFINITY;
        for _ in 0..40 {
            let jet = self.jet_to::<2>(xi);
            let step = solve(jet.jacobian, subtract(x, jet.point));
            let size = step[0].abs().max(step[1].abs());
            if !size.is_finite() {
                return None;
            }
            let damping = (0.5 / size).min(1.0);
            xi = [0, 1].map(|k| (xi[k] + damping * step[k]).clamp(-0.3, 1.3));
            // Squared by the next step, this is rounding.
            if size < 1e-8 {
                let jet = self.jet_to::<2>(xi);
                let step = solve(jet.jacobian, subtract(x, jet.point));
                return Some([xi[0] + step[0], xi[1] + step[1]]);
            }
            if size >= last && size < 1e-3 {
                return None;
            }
            last = size;
        }
        None
    }

    /// The reference point, if it lies in the shape to rounding.
    fn settled(&self, x: Point, xi: Point) -> Option<Point> {
        let outside = self.shape.outside(xi);
        if outside <= 0.0 {
            return Some(xi);
        }
        if outside >= 1e-3 {
            return None;
        }
        let j = self.jacobian(xi);
        let inverse = j.as_flattened().iter().fold(0.0f64, |m, v| m.max(v.abs())) / determinant(j).abs();
        let slack = 1e-12 + 8.0 * f64::EPSILON * inverse * x[0].abs().max(x[1].abs());
        (outside <= slack).then(|| self.shape.clamp(xi))
    }
}

impl Map for ShapeMap {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn point(&self, xi: Point) -> Point {
        ShapeMap::point(self, xi)
    }

    fn jacobian(&self, xi: Point) -> [[f64; 2]; 2] {
        ShapeMap::jacobian(self, xi)
    }

    fn hessian(&self, xi: Point) -> [[[f64; 2]; 2]; 2] {
        self.jet(xi).hessian
    }

    fn affine(&self) -> Option<Affine> {
        let first = self.straight_jet([0.0; 2]);
        self.is_affine().then_some(Affine { origin: first.point, jacobian: first.jacobian })
    }

    fn inverse(&self, x: Point) -> Option<Point> {
        ShapeMap::inverse(self, x)
    }
}

/// Solves `J s = r`.
fn solve(j: [[f64; 2]; 2], r: Point) -> Point {
    let det = determinant(j);
    [(j[1][1] * r[0] - j[0][1] * r[1]) / det, (j[0][0] * r[1] - j[1][0] * r[0]) / det]
}

/// How far a bulge reaches into a shape: q at a point with its derivatives, and the gradient of the linear s along the side.
struct Reach {
    q: f64,
    dq: Point,
    ddq: [[f64; 2]; 2],
    ds: Point,
}

/// Adds `q N(s)`, with as many derivatives as there are of N.
#[inline]
fn add<const D: usize>(jet: &mut Jet, Reach { q, dq, ddq, ds }: Reach, n: [Point; D]) {
    for a in 0..2 {
        let n = |d: usize| if d < D { n[d][a] } else { 0.0 };
        let (value, first, second) = (n(0), n(1), n(2));
        jet.point[a] += q * value;
        for b in 0..2 {
            if D > 1 {
                jet.jacobian[a][b] += dq[b] * value + q * ds[b] * first;
            }
            for c in 0..2 {
                if D > 2 {
                    let mixed = dq[b] * ds[c] + dq[c] * ds[b];
                    jet.hessian[a][b][c] += ddq[b][c] * value + mixed * first + q * ds[b] * ds[c] * second;
                }
            }
        }
    }
}

#[inline]
fn add_to_triangle<const D: usize>(jet: &mut Jet, side: usize, bulge: &Bulge, [x, y]: Point) {
    const GRADIENTS: [Point; 3] = [[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]];
    let lambda = [1.0 - x - y, x, y];
    let (a, b) = (side, (side + 1) % 3);
    let (la, lb, ga, gb) = (lambda[a], lambda[b], GRADIENTS[a], GRADIENTS[b]);
    let n = bulge.at::<D>(0.5 * (1.0 + lb - la));
    let dq = [0, 1].map(|k| la * gb[k] + lb * ga[k]);
    let ddq = [0, 1].map(|k| [0, 1].map(|l| ga[k] * gb[l] + ga[l] * gb[k]));
    add(jet, Reach { q: la * lb, dq, ddq, ds: [0, 1].map(|k| 0.5 * (gb[k] - ga[k])) }, n);
}

#[inline]
fn add_to_square<const D: usize>(jet: &mut Jet, side: usize, bulge: &Bulge, [x, y]: Point) {
    // Along the side s, across it the weight w, which is 1 on the side and 0 on the opposite one; axes of s and w.
    let (s, w, along, ds, dw) = match side {
        0 => (x, 1.0 - y, 0, 1.0, -1.0),
        1 => (y, x, 1, 1.0, 1.0),
        2 => (1.0 - x, y, 0, -1.0, 1.0),
        _ => (1.0 - y, 1.0 - x, 1, -1.0, -1.0),
    };
    let across = 1 - along;
    let hat = s * (1.0 - s);
    let mut reach = Reach { q: w * hat, dq: [0.0; 2], ddq: [[0.0; 2]; 2], ds: [0.0; 2] };
    reach.dq[along] = w * (1.0 - 2.0 * s) * ds;
    reach.dq[across] = dw * hat;
    reach.ddq[along][along] = -2.0 * w;
    reach.ddq[along][across] = dw * (1.0 - 2.0 * s) * ds;
    reach.ddq[across][along] = reach.ddq[along][across];
    reach.ds[along] = ds;
    add(jet, reach, bulge.at::<D>(s));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::curve::Curve;
    use crate::domain::plane::distance;
    use proptest::prelude::*;

    fn bulge(curve: &Curve) -> Bulge {
        Bulge::of(curve).0
    }

    /// A quarter of a disk, and a square with a wavy right side, a round top and two straight sides.
    fn some_maps() -> (Vec<Curve>, [ShapeMap; 2]) {
        let arc = Curve::arc([0.0, 0.0], 1.0, 0.0, 70.0);
        let wave = Curve::formula("k", ["1 + 0.1*sin(3*t)", "t"], [0.0, 1.0]).unwrap();
        let end = wave.point(1.0);
        let triangle = ShapeMap::new(
            vec![[0.0, 0.0], arc.point(0.0), arc.point(1.0)],
            vec![Bulge::default(), bulge(&arc), Bulge::default()],
        );
        let square = ShapeMap::new(
            vec![[0.0, 0.0], [1.0, 0.0], end, [0.0, 1.2]],
            vec![Bulge::default(), bulge(&wave), Bulge::through(&[[0.02, 0.1]]), Bulge::default()],
        );
        (vec![arc, wave], [triangle, square])
    }

    #[test]
    fn sides_of_the_map_are_the_curves_at_the_same_parameter() {
        let (curves, maps) = some_maps();
        for (curve, map) in curves.iter().zip(&maps) {
            for k in 0..=16 {
                let s = f64::from(k) / 16.0;
                let p = map.point(map.shape().side_point(1, s));
                assert!(distance(p, curve.point(s)) < 1e-15);
                let straight = map.point(map.shape().side_point(0, s));
                assert!(straight[1].abs() < 1e-15);
            }
        }
    }

    #[test]
    fn a_disk_of_four_curved_triangles_has_the_area_of_the_disk() {
        let arc = Curve::arc([0.0, 0.0], 1.0, 0.0, 90.0);
        let map = ShapeMap::new(
            vec![[0.0, 0.0], arc.point(0.0), arc.point(1.0)],
            vec![Bulge::default(), bulge(&arc), Bulge::default()],
        );
        // The mean of det J over a fine lattice of centroids, times the area of the reference triangle.
        let n = 200;
        let mut sum = 0.0;
        for j in 0..n {
            for i in 0..n - j {
                let at = |d: f64| [(f64::from(i) + d) / f64::from(n), (f64::from(j) + d) / f64::from(n)];
                sum += determinant(map.jacobian(at(1.0 / 3.0)));
                if i + j + 1 < n {
                    sum += determinant(map.jacobian(at(2.0 / 3.0)));
                }
            }
        }
        let area = sum / f64::from(2 * n * n);
        assert!((area - std::f64::consts::FRAC_PI_4).abs() < 1e-5, "{area}");
    }

    #[test]
    fn a_folded_element_has_a_negative_determinant() {
        let dent = Curve::formula("k", ["t", "3*t*(1-t)"], [0.0, 1.0]).unwrap();
        let map = ShapeMap::new(
            vec![[0.0, 0.0], [1.0, 0.0], [0.5, 0.5]],
            vec![bulge(&dent), Bulge::default(), Bulge::default()],
        );
        assert!(map.least_determinant(8) < 0.0);
        assert!(ShapeMap::straight(&[[0.0, 0.0], [1.0, 0.0], [0.5, 0.5]]).least_determinant(8) > 0.99);
    }

    #[test]
    fn a_map_is_plain_data() {
        let (_, maps) = some_maps();
        for map in maps {
            let back: ShapeMap = toml::from_str(&toml::to_string(&map).unwrap()).unwrap();
            assert_eq!(back, map);
        }
    }

    proptest! {
        #[test]
        fn derivatives_match_differences(which in 0usize..2, x in 0.05..0.9f64, y in 0.05..0.9f64) {
            let map = &some_maps().1[which];
            let xi = map.shape().clamp([x, y]);
            let h = 1e-5;
            for b in 0..2 {
                let shifted = |s: f64| { let mut q = xi; q[b] += s * h; q };
                let (p, m) = (map.jet(shifted(1.0)), map.jet(shifted(-1.0)));
                for a in 0..2 {
                    let d = (p.point[a] - m.point[a]) / (2.0 * h);
                    prop_assert!((map.jacobian(xi)[a][b] - d).abs() < 1e-8);
                    for c in 0..2 {
                        let d = (p.jacobian[a][c] - m.jacobian[a][c]) / (2.0 * h);
                        prop_assert!((map.hessian(xi)[a][b][c] - d).abs() < 1e-7);
                    }
                }
            }
        }

        #[test]
        fn the_inverse_undoes_the_map(which in 0usize..2, x in 0.0..=1.0f64, y in 0.0..=1.0f64) {
            let map = &some_maps().1[which];
            let xi = map.shape().clamp([x, y]);
            let back = map.inverse(map.point(xi)).unwrap();
            prop_assert!(distance(back, xi) < 1e-12);
            prop_assert_eq!(map.inverse([3.0, 3.0]), None);
        }
    }
}
