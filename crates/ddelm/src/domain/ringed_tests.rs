//! Decompositions with rings: they tile the domain, and both sides of every edge are the same points.

use super::*;
use crate::domain::decomposition::{Behind, EdgeSide, Piece};
use crate::domain::exponents::Sector;
use crate::domain::forest::Span;
use crate::domain::map::{Affine, MapRef, Point};
use crate::domain::shape_map::ShapeMap;
use std::sync::Arc;

fn grid(counts: [usize; 2]) -> Decomposition {
    Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], counts).unwrap()
}

fn at(d: &Decomposition, points: &[Point], exponent: f64) -> Vec<(usize, f64)> {
    let here = |p: Point| d.vertices.iter().position(|v| (v.point[0] - p[0]).hypot(v.point[1] - p[1]) < 1e-12);
    points.iter().map(|&p| (here(p).unwrap(), exponent)).collect()
}

fn ringed(d: &Decomposition, points: &[Point], exponent: f64) -> Decomposition {
    d.with_rings(&at(d, points, exponent)).unwrap()
}

/// Whether the second side of an edge runs against it, as its subdomain says.
fn runs_against(d: &Decomposition, number: usize) -> bool {
    let EdgeSide { subdomain, side, span } = d.edges[number].sides[1];
    let here = |piece: &&Piece| piece.side == side && piece.span == span;
    match d.subdomains[subdomain].pieces.iter().find(here).unwrap().behind {
        Behind::Edge { edge, reversed } if edge == number => reversed,
        other => panic!("{other:?}"),
    }
}

/// Both sides of every edge name the same points, to the rounding of their distance from the corner; every side is covered once; areas
/// add up.
fn check(d: &Decomposition, area: f64) {
    for (number, edge) in d.edges.iter().enumerate() {
        for t in [0.1, 0.5, 0.8] {
            let of = |side: &EdgeSide, t: f64| {
                let map = &d.subdomains[side.subdomain].map;
                map.point(map.shape().side_point(side.side, side.span.along(t)))
            };
            let there = if runs_against(d, number) { 1.0 - t } else { t };
            let (p, q) = (of(&edge.sides[0], t), of(&edge.sides[1], there));
            assert!((p[0] - q[0]).hypot(p[1] - q[1]) < 1e-14, "{:?}: {p:?} {q:?}", edge.sides);
            // Next to a corner, also relative to the distance from it.
            let shift = |side: &EdgeSide, t: f64| {
                let map = &d.subdomains[side.subdomain].map;
                map.offset(map.shape().side_point(side.side, side.span.along(t)))
            };
            let ((c, a), (e, b)) = (shift(&edge.sides[0], t), shift(&edge.sides[1], there));
            if c == e {
                assert!((a[0] - b[0]).hypot(a[1] - b[1]) <= 1e-11 * a[0].hypot(a[1]), "{:?}", edge.sides);
            }
        }
    }
    for s in &d.subdomains {
        let points = s.map.shape().corners().iter().map(|&xi| s.map.point(xi));
        for (vertex, p) in s.vertices.iter().zip(points) {
            let q = d.vertices[*vertex].point;
            assert!(d.is_periodic() || (p[0] - q[0]).hypot(p[1] - q[1]) < 1e-13, "{p:?} {q:?}");
        }
    }
    let mut sum = 0.0;
    for s in &d.subdomains {
        for side in 0..s.vertices.len() {
            let covered: f64 = s.pieces.iter().filter(|p| p.side == side).map(|p| p.span.length()).sum();
            assert_eq!(covered, 1.0);
            let spans: Vec<Span> = s.pieces.iter().filter(|p| p.side == side).map(|p| p.span).collect();
            assert!(spans == [Span::Whole] || spans == [Span::First, Span::Second], "{spans:?}");
        }
        let (t, w) = crate::algebra::quadrature::gauss(40);
        for (x, a) in t.iter().zip(&w) {
            for (y, b) in t.iter().zip(&w) {
                let (xi, weight) = match s.map.shape() {
                    Shape::Quadrilateral => ([*x, *y], a * b),
                    Shape::Triangle => ([*x, (1.0 - x) * y], a * b * (1.0 - x)),
                };
                let det = crate::domain::map::determinant(s.map.jacobian(xi));
                assert_eq!(det < 0.0, s.map.is_mirrored());
                sum += weight * det.abs();
            }
        }
    }
    assert!((sum / area - 1.0).abs() < 1e-9, "{sum} {area}");
}

#[test]
fn a_corner_an_inner_vertex_and_a_point_of_a_side() {
    let d = grid([4, 4]);
    for (points, more) in [(vec![[0.0, 0.0]], 7), (vec![[0.5, 0.5]], 28), (vec![[0.5, 0.0], [1.0, 1.0]], 21)] {
        let rings = ringed(&d, &points, 1.0);
        assert_eq!(rings.len(), 16 + more);
        assert_eq!(rings.ring_vertices().len(), points.len());
        check(&rings, 1.0);
    }
}

#[test]
fn elements_with_two_vertices_are_split() {
    let corners = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
    let rings = ringed(&grid([1, 1]), &corners, 2.0);
    assert_eq!(rings.len(), 4 * 8);
    assert_eq!(rings.without_rings().unwrap().len(), 4);
    check(&rings, 1.0);
}

#[test]
fn neighbours_of_different_size_are_made_equal() {
    let d = grid([2, 2]).split(&[0]).unwrap();
    check(&ringed(&d, &[[0.5, 0.5]], 0.5), 1.0);
    // The vertex is in the middle of a side of the larger neighbour.
    check(&ringed(&d, &[[0.5, 0.25]], 0.5), 1.0);
}

#[test]
fn wide_openings_are_cut_inside_and_outside() {
    // Rectangles three times as long as wide open by 72 degrees on one side of the diagonal.
    let d = Decomposition::rectangle([0.0, 2.0], [0.0, 6.0], [2, 2]).unwrap();
    let rings = ringed(&d, &[[1.0, 3.0]], 0.5);
    assert_eq!(rings.len(), 4 * 3 * 4);
    check(&rings, 12.0);
    let rings = ringed(&d, &[[0.0, 0.0]], 0.5);
    // The element beyond the side that is cut has two parts, which meet its two stacks.
    assert_eq!((rings.len(), rings.has_hanging_sides()), (3 * 4 + 4, false));
    check(&rings, 12.0);
    // Ten times as long: four stacks.
    let d = Decomposition::rectangle([0.0, 2.0], [0.0, 40.0], [2, 2]).unwrap();
    check(&ringed(&d, &[[0.0, 0.0]], 0.5), 80.0);
    let corner = |k: f64| [(2.0 * k).cos(), (2.0 * k).sin()];
    let triangle = Arc::new(ShapeMap::straight(&[[0.0, 0.0], corner(0.0), corner(1.2)])) as MapRef;
    let one = Decomposition::from_maps(vec![triangle], 1, |_| 0).unwrap();
    check(&ringed(&one, &[[0.0, 0.0]], 0.5), 0.5 * 2.4f64.sin());
}

#[test]
fn rays_along_an_axis_have_no_points_beside_it() {
    // No corner of this triangle is where the reference triangle has a right angle, or a side along an axis.
    for corners in [[[0.0, 0.0], [0.3, 0.0], [0.1, 0.37]], [[0.1, 0.37], [0.0, 0.0], [0.3, 0.0]]] {
        let triangle = Arc::new(ShapeMap::straight(&corners)) as MapRef;
        let one = Decomposition::from_maps(vec![triangle], 1, |_| 0).unwrap();
        for s in &ringed(&one, &[[0.0, 0.0]], 0.5).subdomains {
            for (side, k) in (0..4).flat_map(|side| (0..20).map(move |k| (side, k))) {
                let [x, y] = s.map.point(s.map.shape().side_point(side, f64::from(k) / 19.0));
                assert!(y == 0.0 || y.abs() > 1e-3 * x.abs(), "({x:e}, {y:e})");
            }
        }
    }
}

/// A quarter of the plane about a vertex in which diffusion along x is 1, and `along_y` in the other direction.
fn preferred(d: &Decomposition, point: Point, along_y: f64) -> Decomposition {
    let [(vertex, exponent)] = at(d, &[point], 0.6)[..] else { panic!("one point") };
    let sector = Sector { angles: [0.0, 0.5 * std::f64::consts::PI], tensor: [[1.0, 0.0], [0.0, along_y]] };
    d.with_rings_about(&[RingVertex { vertex, exponent, sectors: vec![sector] }]).unwrap()
}

/// How many subdomains a decomposition has next to a point, in an element.
fn stacks_at(d: &Decomposition, element: Point) -> usize {
    let rings = d.rings.as_ref().unwrap();
    let (s, _) = rings.base.locate(element).unwrap();
    rings.elements.iter().filter(|e| **e == s).count() / 4
}

#[test]
fn stacks_get_narrow_toward_the_axis_of_strong_diffusion() {
    for d in [grid([4, 4]), Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [4, 5]).unwrap().split(&[3]).unwrap()] {
        for (along_y, more) in [(1e-2, 4), (1e-4, 7), (1e-6, 10), (1e2, 4)] {
            let rings = preferred(&d, [0.5, 0.4 + 0.1 * f64::from(u8::from(d.len() == 16))], along_y);
            check(&rings, 1.0);
            if d.len() == 16 {
                assert_eq!(stacks_at(&rings, [0.6, 0.6]), 2 + more, "{along_y}");
                assert_eq!(stacks_at(&rings, [0.4, 0.6]), 2);
            }
        }
    }
    // At the boundary nobody has to follow.
    let d = grid([2, 2]);
    assert_eq!(preferred(&d, [0.5, 0.5], 1e-4).without_rings().unwrap().len(), 4);
}

#[test]
fn narrow_stacks_are_kept_by_splits_and_files_and_go_with_their_rings() {
    let rings = preferred(&grid([4, 4]), [0.5, 0.5], 1e-4);
    let (ring, _) = rings.locate([0.52, 0.51]).unwrap();
    let strip = Wish { levels: [0, 1], toward: Toward::Ends([None, Some(false)]) };
    let (beyond, _) = rings.locate([0.9, 0.74]).unwrap();
    for d in [rings.split(&[ring]).unwrap(), rings.split_as(&[(beyond, strip)]).unwrap(), rings.refined().unwrap()] {
        check(&d, 1.0);
        let back = d.geometry().unwrap().decomposition().unwrap();
        assert_eq!((back.len(), back.edges.len()), (d.len(), d.edges.len()));
        for (a, b) in d.subdomains.iter().zip(&back.subdomains) {
            assert_eq!(a.map.point([0.3, 0.6]), b.map.point([0.3, 0.6]));
        }
    }
    let plain = rings.without_rings_about(&[rings.ring_vertices()[0].vertex]).unwrap();
    assert!(plain.rings.is_none());
    check(&plain, 1.0);
}

#[test]
fn strips_that_end_at_a_vertex_do_not_make_its_elements_smaller_in_turn() {
    let strip = Wish { levels: [0, 3], toward: Toward::Ends([None, Some(false)]) };
    let d = Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [2, 2]).unwrap().split_as(&[(3, strip)]).unwrap();
    let rings = ringed(&d, &[[0.5, 0.5]], 0.6);
    check(&rings, 1.0);
    assert!(rings.len() < 100, "{}", rings.len());
}

#[test]
fn every_point_is_found_and_the_corner_too() {
    let rings = ringed(&grid([3, 2]), &[[0.0, 0.0], [1.0, 1.0]], 0.1);
    for p in [[0.0, 0.0], [1e-100, 3e-101], [1e-9, 0.0], [0.1, 0.4], [1.0, 1.0], [0.9999, 0.99991], [0.5, 0.5]] {
        let (s, xi) = rings.locate(p).unwrap();
        let q = rings.subdomains[s].map.point(xi);
        assert!((p[0] - q[0]).hypot(p[1] - q[1]) < 1e-13, "{p:?} {q:?}");
    }
    assert!(rings.locate([-0.1, 0.0]).is_none());
}

#[test]
fn rings_are_kept_by_splits_periodic_sides_and_files() {
    let d = grid([3, 3]);
    let rings = ringed(&d, &[[0.0, 0.0]], 2.0);
    // The element of a ring is split, and the vertex has rings again.
    let split = rings.split(&[0]).unwrap();
    assert_eq!(split.len(), 9 + 3 + 7);
    check(&split, 1.0);
    let inner = ringed(&d, &[[1.0 / 3.0, 1.0 / 3.0]], 2.0).periodic(&[(0, 1)]).unwrap();
    assert!(inner.is_periodic() && inner.len() == 9 + 4 * 7);
    for d in [rings, split, inner] {
        let back = d.geometry().unwrap().decomposition().unwrap();
        assert_eq!(back.len(), d.len());
        for (a, b) in d.subdomains.iter().zip(&back.subdomains) {
            assert_eq!(a.map.point([0.3, 0.6]), b.map.point([0.3, 0.6]));
        }
    }
}

#[test]
fn what_is_no_vertex_is_refused() {
    let d = grid([2, 2]);
    for wrong in [(9, 1.0), (0, 0.0), (0, f64::NAN)] {
        assert!(d.with_rings(&[wrong]).is_err());
    }
    assert!(ringed(&d, &[[0.0, 0.0]], 1.0).with_rings(&[(0, 1.0)]).is_err());
    let maps = vec![Arc::new(Affine::rectangle([0.0, 0.0], 1.0, 1.0)) as MapRef];
    assert_eq!(Decomposition::from_maps(maps, 1, |_| 0).unwrap().with_rings(&[]).unwrap().len(), 1);
}
