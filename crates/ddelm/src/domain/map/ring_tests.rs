//! Rings of straight and curved elements: derivatives, units, neighbours, and points at the end of the numbers.

use std::f64::consts::PI;
use std::sync::Arc;

use super::*;
use crate::domain::map::{Quadrilateral, determinant, inverse2};
use proptest::prelude::*;

const LEFT: [Point; 3] = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]];
const RIGHT: [Point; 3] = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]];

/// A polynomial map that bends every line through the corner `F(0, 0) = c`.
struct Bent(Point);

impl Map for Bent {
    fn point(&self, [x, y]: Point) -> Point {
        [self.0[0] + x + 0.3 * x * y - 0.1 * y * y, self.0[1] + 0.2 * x + y + 0.2 * x * x * y]
    }

    fn jacobian(&self, [x, y]: Point) -> [[f64; 2]; 2] {
        [[1.0 + 0.3 * y, 0.3 * x - 0.2 * y], [0.2 + 0.4 * x * y, 1.0 + 0.2 * x * x]]
    }

    fn hessian(&self, [x, y]: Point) -> [[[f64; 2]; 2]; 2] {
        [[[0.0, 0.3], [0.3, -0.2]], [[0.4 * y, 0.4 * x], [0.4 * x, 0.0]]]
    }
}

fn kite() -> MapRef {
    Arc::new(Quadrilateral { corners: [[0.25, -0.5], [1.5, -0.25], [0.0, 0.75], [2.0, 1.5]] })
}

fn square() -> MapRef {
    Arc::new(Affine { origin: [0.5, -1.0], jacobian: [[0.5, 0.25], [-0.125, 2.0]] })
}

fn roots() -> [(MapRef, Point); 3] {
    [(square(), [0.5, -1.0]), (kite(), [0.25, -0.5]), (Arc::new(Bent([0.5, 2.0])), [0.5, 2.0])]
}

#[test]
fn the_stack_of_the_method() {
    // METHOD: x = c + exp(-psi) (p0 + t q), x_s = delta e^-psi p, x_ss = (delta^2 - delta w) e^-psi p.
    let c = [0.5, -1.0];
    let ring = Ring::new(square(), c, LEFT, [1.0, 2.0], true);
    let (p0, q, w) = ([0.5, -0.125], [0.25, 2.0], 1.0);
    for xi in [[0.0, 0.0], [0.3, 0.6], [1.0, 1.0]] {
        let sigma: f64 = 2.0 - xi[0] * w;
        let (e, delta) = ((-(sigma.exp() - 1.0) / 2.0).exp(), sigma.exp() / 2.0 * w);
        let (offset, j, h) = (ring.offset(xi), ring.jacobian(xi), ring.hessian(xi));
        assert_eq!(offset.0, c);
        for a in 0..2 {
            let p = p0[a] + xi[1] * q[a];
            let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-14, "{found} {expected}");
            near(offset.1[a], e * p);
            near(j[a][0], delta * e * p);
            near(j[a][1], e * q[a]);
            near(h[a][0][0], (delta * delta - delta * w) * e * p);
            near(h[a][0][1], delta * e * q[a]);
            near(h[a][1][0], delta * e * q[a]);
            near(h[a][1][1], 0.0);
        }
    }
    assert!((ring.inner_speed() - (2.0f64).exp() / 2.0).abs() < 1e-14);
}

#[test]
fn determinants_are_positive_down_to_the_end() {
    for (root, c) in roots() {
        for triangle in [LEFT, RIGHT] {
            let ring = Ring::new(root.clone(), c, triangle, [4.0, 6.3], true);
            for xi in [[0.0, 0.0], [0.0, 1.0], [0.5, 0.5], [1.0, 0.0], [1.0, 1.0]] {
                let (j, unit) = (ring.scaled_jacobian(xi), ring.unit(xi));
                assert!(determinant(j) > 0.05, "{xi:?}");
                assert!(unit > 0.0 && unit < 1e-11);
                let all = ring.scaled_hessian(xi).into_iter().flatten().flatten();
                assert!(all.chain(j.into_iter().flatten()).all(|v| v.abs() < 1e7));
            }
        }
    }
}

#[test]
fn stacked_rings_share_their_side_and_halves_their_ray() {
    for (root, c) in roots() {
        let [outer, inner] =
            [[0.0, 1.3], [1.3, 2.6]].map(|sigma| Ring::new(root.clone(), c, LEFT, sigma, sigma[0] > 0.0));
        let beside = Ring::new(root.clone(), c, RIGHT, [1.3, 2.6], true);
        for t in [0.0, 0.25, 0.7, 1.0] {
            assert_eq!(outer.offset([0.0, t]), inner.offset([1.0, t]));
            assert_eq!(inner.offset([t, 1.0]), beside.offset([t, 0.0]));
            let side = root.point([1.0, t]);
            let end = outer.point([1.0, t]);
            assert!((end[0] - side[0]).abs() + (end[1] - side[1]).abs() < 1e-15);
        }
    }
}

#[test]
fn two_curved_elements_meet_on_the_side_that_ends_in_the_corner() {
    // Both have the arc about the origin from c = (1, 0) as a side, as lower and as left side of the reference square.
    struct Strip(bool);
    impl Map for Strip {
        fn point(&self, [x, y]: Point) -> Point {
            let (angle, r) = if self.0 { (x, 1.0 - 0.3 * y) } else { (y, 1.0 + 0.5 * x) };
            [r * angle.cos(), r * angle.sin()]
        }
        fn jacobian(&self, [x, y]: Point) -> [[f64; 2]; 2] {
            let (angle, r) = if self.0 { (x, 1.0 - 0.3 * y) } else { (y, 1.0 + 0.5 * x) };
            let (s, c) = angle.sin_cos();
            if self.0 { [[-r * s, -0.3 * c], [r * c, -0.3 * s]] } else { [[0.5 * c, -r * s], [0.5 * s, r * c]] }
        }
        fn hessian(&self, _: Point) -> [[[f64; 2]; 2]; 2] {
            unreachable!("only points are compared")
        }
    }
    for sigma in [[0.0, 1.0], [1.0, 3.0], [3.0, 5.0]] {
        let a = Ring::new(Arc::new(Strip(true)), [1.0, 0.0], LEFT, sigma, false);
        let b = Ring::new(Arc::new(Strip(false)), [1.0, 0.0], RIGHT, sigma, false);
        for s in [0.0, 0.4, 1.0] {
            let ((_, p), (_, q)) = (a.offset([s, 0.0]), b.offset([s, 1.0]));
            let size = p[0].hypot(p[1]);
            // (cos rho - 1, sin rho), whose first coordinate is far smaller than the second.
            let rho = a.unit([s, 0.0]);
            let exact = [-2.0 * (0.5 * rho).sin().powi(2), rho.sin()];
            for k in 0..2 {
                assert!((p[k] - q[k]).abs() <= 1e-15 * size);
                assert!((p[k] - exact[k]).abs() <= 1e-14 * size, "{p:?} {exact:?}");
            }
        }
    }
}

#[test]
fn powers_are_harmonic_in_scaled_units_at_the_end_of_the_numbers() {
    // u = r^(1/10) cos(angle / 10): its equation in (s, t), where u is e^-(psi / 10) |d|^(1/10) cos(...), at r = 1e-100.
    let root: MapRef = Arc::new(Affine { origin: [0.0; 2], jacobian: [[1.0, 0.2], [0.1, 0.9]] });
    let ring = Ring::new(root, [0.0; 2], LEFT, [6.0, 6.3], true);
    let (xi, h) = ([0.4, 0.5], 1e-3);
    let lambda = 0.1;
    let u = |s: f64, t: f64| {
        let [x, y] = ring.offset([s, t]).1;
        // Over the value at xi, so that differences are of size one.
        (x.hypot(y) / ring.unit(xi)).powf(lambda) * (lambda * y.atan2(x)).cos()
    };
    assert!(ring.unit(xi) < 1e-80);
    let at = |i: f64, j: f64| u(xi[0] + i * h, xi[1] + j * h);
    let first = [(at(1.0, 0.0) - at(-1.0, 0.0)) / (2.0 * h), (at(0.0, 1.0) - at(0.0, -1.0)) / (2.0 * h)];
    let pure = |p: f64, m: f64| (p - 2.0 * at(0.0, 0.0) + m) / (h * h);
    let mixed = (at(1.0, 1.0) - at(1.0, -1.0) - at(-1.0, 1.0) + at(-1.0, -1.0)) / (4.0 * h * h);
    let second = [[pure(at(1.0, 0.0), at(-1.0, 0.0)), mixed], [mixed, pure(at(0.0, 1.0), at(0.0, -1.0))]];
    // Lap u = sum G_bc u_bc - sum_k (J^-1)_ka H_abc G_bc u_k, all in units of the point.
    let (i, hh) = (inverse2(ring.scaled_jacobian(xi)), ring.scaled_hessian(xi));
    let mut laplacian = 0.0;
    let mut size = 0.0f64;
    for b in 0..2 {
        for c in 0..2 {
            let g = i[b][0] * i[c][0] + i[b][1] * i[c][1];
            laplacian += g * second[b][c];
            size = size.max((g * second[b][c]).abs());
            for (k, slope) in first.iter().enumerate() {
                laplacian -= (i[k][0] * hh[0][b][c] + i[k][1] * hh[1][b][c]) * g * slope;
            }
        }
    }
    assert!(size > 1e-3 && laplacian.abs() < 2e-4 * size, "{laplacian} of {size}");
}

#[test]
fn the_corner_and_all_next_to_it_lie_in_the_innermost_ring() {
    for (root, c) in roots() {
        let ring = Ring::new(root.clone(), c, LEFT, [1.0, 4.0], true);
        assert_eq!(ring.inverse(c).map(|xi| xi[0]), Some(0.0));
        let near = root.point([1e-14, 1e-15]);
        assert_eq!(ring.inverse(near).map(|xi| xi[0]), Some(0.0));
        let other = Ring::new(root, c, LEFT, [1.0, 4.0], false);
        assert_eq!(other.inverse(c), None);
    }
}

#[test]
fn a_point_1e_100_from_a_corner_at_the_origin_is_found() {
    let root: MapRef = Arc::new(Affine { origin: [-1.0, 0.0], jacobian: [[1.0, 0.0], [0.0, 1.0]] });
    // The corner is (1, 0) of the square: no coordinate of the element can tell 1 - 1e-100.
    let ring = Ring::new(root, [0.0; 2], [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], [5.0, 6.3], true);
    let xi = [0.25, 0.4];
    let x = ring.point(xi);
    assert!(x[0].hypot(x[1]) < 1e-50);
    let back = ring.inverse(x).unwrap();
    assert!((back[0] - xi[0]).abs() < 1e-12 && (back[1] - xi[1]).abs() < 1e-12, "{back:?}");
}

#[test]
fn rings_have_the_area_of_the_triangle() {
    let (nodes, weights) = gauss(20);
    for ((root, c), triangle) in roots().into_iter().zip([LEFT, RIGHT, LEFT]) {
        let mut area = 0.0;
        for k in 0..4 {
            let ring = Ring::new(root.clone(), c, triangle, [f64::from(k), f64::from(k + 1)], k == 3);
            for (s, ws) in nodes.iter().zip(&weights) {
                for (t, wt) in nodes.iter().zip(&weights) {
                    let unit = ring.unit([*s, *t]);
                    area += ws * wt * unit * unit * determinant(ring.scaled_jacobian([*s, *t]));
                }
            }
        }
        // The same integral over the triangle of the reference square, by a map that collapses one side.
        let mut expected = 0.0;
        let [a, p, r] = triangle;
        for (s, ws) in nodes.iter().zip(&weights) {
            for (t, wt) in nodes.iter().zip(&weights) {
                let at = [0, 1].map(|k| a[k] + s * ((1.0 - t) * (p[k] - a[k]) + t * (r[k] - a[k])));
                expected += ws * wt * s * determinant(root.jacobian(at));
            }
        }
        assert!((area - expected).abs() < 1e-11 * PI, "{area} {expected}");
    }
}

/// Next to a corner at the origin a point is in the ring, and at the angle, that it was made from: at any distance.
#[test]
fn points_next_to_the_corner_keep_their_angle() {
    let straight = Arc::new(Affine::rectangle([0.0, 0.0], 0.5, 0.25)) as MapRef;
    for root in [straight, Arc::new(Bent([0.0, 0.0]))] {
        for (own, other) in [(LEFT, RIGHT), (RIGHT, LEFT)] {
            let ring = |triangle| Ring::new(root.clone(), [0.0, 0.0], triangle, [3.0, 4.0], true);
            for (s, t) in [(0.02, 0.1), (0.5, 0.5), (0.95, 0.99)] {
                let x = ring(own).point([s, t]);
                assert!(x[0].hypot(x[1]) < 1e-4, "{x:?}");
                let back = ring(own).inverse(x).unwrap();
                assert!((back[0] - s).abs() < 1e-10 && (back[1] - t).abs() < 1e-10, "{back:?}, not {s} {t}");
                assert_eq!(ring(other).inverse(x), None);
            }
        }
    }
}

#[test]
fn a_ring_is_plain_data() {
    let ring = Ring::new(kite(), [0.25, -0.5], RIGHT, [1.0, 2.5], true);
    let text = toml::to_string(&ring.description().unwrap()).unwrap();
    let back = toml::from_str::<MapDescription>(&text).unwrap();
    assert_eq!(back, ring.description().unwrap());
    assert_eq!(back.map().scaled_hessian([0.3, 0.8]), ring.scaled_hessian([0.3, 0.8]));
}

proptest! {
    #[test]
    fn derivatives_match_differences(which in 0usize..3, half in any::<bool>(), s in 0.05..0.95f64, t in 0.05..0.95f64, outer in 0.0..2.0f64) {
        let (root, c) = roots()[which].clone();
        let ring = Ring::new(root, c, if half { LEFT } else { RIGHT }, [outer, outer + 1.2], false);
        let (xi, h) = ([s, t], 1e-5);
        let unit = ring.unit(xi);
        for b in 0..2 {
            let shifted = |k: f64| { let mut q = xi; q[b] += k * h; q };
            let (p, m) = (ring.offset(shifted(1.0)).1, ring.offset(shifted(-1.0)).1);
            let (jp, jm) = (ring.jacobian(shifted(1.0)), ring.jacobian(shifted(-1.0)));
            let (j, hessian) = (ring.scaled_jacobian(xi), ring.scaled_hessian(xi));
            for a in 0..2 {
                let slope = (p[a] - m[a]) / (2.0 * h) / unit;
                prop_assert!((j[a][b] - slope).abs() < 1e-6 * (1.0 + slope.abs()), "{} {}", j[a][b], slope);
                for c in 0..2 {
                    let bend = (jp[a][c] - jm[a][c]) / (2.0 * h) / unit;
                    prop_assert!((hessian[a][b][c] - bend).abs() < 1e-5 * (1.0 + bend.abs()), "{} {}", hessian[a][b][c], bend);
                }
            }
        }
    }

    #[test]
    fn the_inverse_undoes_the_map(which in 0usize..3, half in any::<bool>(), s in 0.0..=1.0f64, t in 0.0..=1.0f64) {
        let (root, c) = roots()[which].clone();
        let (own, other) = if half { (LEFT, RIGHT) } else { (RIGHT, LEFT) };
        let ring = Ring::new(root.clone(), c, own, [0.3, 1.5], false);
        let x = ring.point([s, t]);
        let back = ring.inverse(x).unwrap();
        prop_assert!((back[0] - s).abs() < 1e-11 && (back[1] - t).abs() < 1e-11, "{:?}", back);
        if (0.01..0.99).contains(&s) && (0.01..0.99).contains(&t) {
            prop_assert_eq!(Ring::new(root.clone(), c, other, [0.3, 1.5], false).inverse(x), None);
            prop_assert_eq!(Ring::new(root.clone(), c, own, [1.5, 3.0], true).inverse(x), None);
            prop_assert_eq!(Ring::new(root, c, own, [0.0, 0.3], false).inverse(x), None);
        }
    }
}
