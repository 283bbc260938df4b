//! Exponents of vertices, against closed forms: angles, materials, tensors, mixed conditions.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI, TAU};

use ddelm::domain::exponents::{Ends, Exponent, LARGEST, Ray, Sector, exponents, of_sectors};
use ddelm::domain::plane::{cross, dot};
use proptest::prelude::*;

const IDENTITY: [[f64; 2]; 2] = [[1.0, 0.0], [0.0, 1.0]];

fn scalar(a: f64) -> [[f64; 2]; 2] {
    [[a, 0.0], [0.0, a]]
}

fn one(angle: f64, rays: [Ray; 2]) -> Vec<f64> {
    real(&[Sector { angles: [0.3, 0.3 + angle], tensor: scalar(7.0) }], Ends::Rays(rays))
}

fn real(sectors: &[Sector], ends: Ends) -> Vec<f64> {
    let found = of_sectors(sectors, ends).unwrap();
    assert!(found.iter().all(|e| e.im == 0.0), "{found:?}");
    // In closed form where all sectors have one tensor.
    let known = exponents(sectors, ends).unwrap();
    let near = |(a, b): (&Exponent, &Exponent)| (a.re - b.re).abs() < 1e-6 * a.re.max(1.0);
    assert!(known.iter().zip(&found).take(3).all(near), "{known:?} {found:?}");
    found.iter().map(|e| e.re).collect()
}

fn same(found: &[f64], expected: &[f64]) {
    assert!(found.len() >= expected.len(), "{found:?}");
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() < 1e-10, "{found:?} {expected:?}");
    }
}

#[test]
fn one_material_has_the_exponents_of_its_angle() {
    let [value, flux] = [Ray::Value, Ray::Flux];
    same(&one(1.5 * PI, [value, value]), &[2.0 / 3.0, 4.0 / 3.0, 2.0, 8.0 / 3.0]);
    same(&one(1.5 * PI, [flux, flux]), &[2.0 / 3.0, 4.0 / 3.0, 2.0]);
    same(&one(1.5 * PI, [value, flux]), &[1.0 / 3.0, 1.0, 5.0 / 3.0]);
    same(&one(TAU, [value, value]), &[0.5, 1.0, 1.5, 2.0]);
    same(&one(TAU, [value, flux]), &[0.25, 0.75, 1.25]);
    same(&one(PI, [value, flux]), &[0.5, 1.5, 2.5]);
    same(&one(FRAC_PI_2, [value, value]), &[2.0, 4.0, 6.0]);
    same(&one(FRAC_PI_2, [flux, value]), &[1.0, 3.0, 5.0]);
    assert!(one(0.2, [value, value]).is_empty());
}

fn checkerboard(a: [f64; 4]) -> Vec<Sector> {
    let sector = |k: usize| Sector { angles: [FRAC_PI_2 * k as f64, FRAC_PI_2 * (k + 1) as f64], tensor: scalar(a[k]) };
    (0..4).map(sector).collect()
}

#[test]
fn a_checkerboard_has_the_exponents_of_kellogg() {
    // lambda = (4 / pi) atan(1 / sqrt(R)); R = 161.4476387975881 has 0.1.
    let found = real(&checkerboard([161.4476387975881, 1.0, 161.4476387975881, 1.0]), Ends::Closed);
    same(&found, &[0.1]);
    for contrast in [2.0, 30.0, 1e4] {
        let found = real(&checkerboard([1.0, contrast, 1.0, contrast]), Ends::Closed);
        let first = (1.0 / contrast.sqrt()).atan() / FRAC_PI_4;
        same(&found, &[first, 2.0 - first, 2.0, 2.0]);
    }
}

#[test]
fn a_point_inside_of_one_material_or_on_a_straight_interface_is_regular() {
    let full = Sector { angles: [-1.0, -1.0 + TAU], tensor: IDENTITY };
    let expected = [1.0, 1.0, 2.0, 2.0, 3.0, 3.0];
    let near = |found: &[f64]| found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-6);
    assert!(near(&real(&[full], Ends::Closed)));
    assert!(near(&real(&checkerboard([5.0, 5.0, 1.0, 1.0]), Ends::Closed)));
}

#[test]
fn two_materials_at_the_boundary_solve_their_transcendental_equation() {
    // Two materials, u = 0 on both rays: a1 cot(lambda w1) + a2 cot(lambda w2) = 0.
    let (w1, w2, a1, a2) = (1.1, 2.9, 3.0, 0.2);
    let sectors =
        [Sector { angles: [0.0, w1], tensor: scalar(a1) }, Sector { angles: [w1, w1 + w2], tensor: scalar(a2) }];
    let found = real(&sectors, Ends::Rays([Ray::Value; 2]));
    assert!(found.len() >= 4);
    for lambda in &found[..4] {
        let (s1, c1) = (lambda * w1).sin_cos();
        let (s2, c2) = (lambda * w2).sin_cos();
        assert!((a1 * c1 * s2 + a2 * c2 * s1).abs() < 1e-9, "{lambda}");
    }
}

/// Quadrants with tensors diag(a, b); a stretch of the plane along y by `s` makes them diag(a / s, b s).
fn quadrants(diagonals: &[[f64; 2]], s: f64) -> Vec<Sector> {
    let sector = |(k, [a, b]): (usize, &[f64; 2])| Sector {
        angles: [0, 1].map(|i| FRAC_PI_2 * (k + i) as f64),
        tensor: [[a / s, 0.0], [0.0, b * s]],
    };
    diagonals.iter().enumerate().map(sector).collect()
}

#[test]
fn strong_diffusion_along_one_axis_is_a_stretched_plane() {
    // A material of a battery and its neighbours.
    let diagonals = [[0.2, 0.2], [5.0, 1e-4], [7.0, 0.8], [0.2, 0.2]];
    let found = [1.0, 10.0, 200.0].map(|s| exponents(&quadrants(&diagonals, s), Ends::Closed).unwrap());
    for other in &found[1..] {
        // The smallest ones, which say how deep rings go; larger ones lose digits where the axes differ that much.
        for (a, b) in found[0].iter().zip(other).take(2) {
            assert!((a.re - b.re).abs() < 1e-8 && a.im == b.im, "{found:?}");
        }
    }
    // A straight interface that meets a side without flux at a right angle: polynomials on both sides of it.
    let half = exponents(&quadrants(&[[0.8, 7.0], [1e-4, 5.0]], 1.0), Ends::Rays([Ray::Flux; 2])).unwrap();
    assert!((half[0].re - 1.0).abs() < 1e-8 && (half[1].re - 2.0).abs() < 1e-6, "{half:?}");
}

#[test]
fn a_skew_tensor_makes_the_derivative_oblique() {
    // Half plane, u = 0 on one ray, n . (1 + beta J) grad u = 0 on the other: tan(lambda pi) = 1 / beta.
    for beta in [1.0, -0.3] {
        let sector = Sector { angles: [0.0, PI], tensor: [[1.0, beta], [-beta, 1.0]] };
        let first = (1.0f64).atan2(beta) / PI;
        same(&real(&[sector], Ends::Rays([Ray::Value, Ray::Flux])), &[first, first + 1.0]);
    }
}

#[test]
fn what_is_no_vertex_is_refused() {
    let sector = |from: f64, to: f64, a: f64| Sector { angles: [from, to], tensor: scalar(a) };
    let rays = Ends::Rays([Ray::Value; 2]);
    for (sectors, ends) in [
        (vec![], rays),
        (vec![sector(0.0, 0.0, 1.0)], rays),
        (vec![sector(0.0, 7.0, 1.0)], rays),
        (vec![sector(0.0, 1.0, -1.0)], rays),
        (vec![sector(0.0, f64::NAN, 1.0)], rays),
        (vec![sector(0.0, 1.0, 1.0), sector(1.1, 2.0, 1.0)], rays),
        (vec![sector(0.0, 6.0, 1.0)], Ends::Closed),
    ] {
        assert!(exponents(&sectors, ends).is_err(), "{sectors:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// An affine map takes a tensor to the identity and a sector to another one.
    #[test]
    fn a_tensor_is_a_change_of_coordinates(a in 0.1..10.0f64, d in 0.1..10.0f64, c in -0.9..0.9f64, from in 0.0..6.0f64, width in 0.4..6.2f64) {
        let b = c * (a * d).sqrt();
        let sector = Sector { angles: [from, from + width], tensor: [[a, b], [b, d]] };
        // The angle of the sector, summed over small steps.
        let l11 = a.sqrt();
        let l21 = b / l11;
        let l22 = (d - l21 * l21).sqrt();
        let moved = |angle: f64| { let x = angle.cos() / l11; [x, (angle.sin() - l21 * x) / l22] };
        let steps = 64;
        let angle: f64 = (0..steps).map(|k| {
            let at = |k: i32| moved(from + width * f64::from(k) / f64::from(steps));
            cross(at(k), at(k + 1)).atan2(dot(at(k), at(k + 1)))
        }).sum();
        let found = real(&[sector], Ends::Rays([Ray::Value; 2]));
        let first = PI / angle;
        if first < LARGEST {
            prop_assert!((found[0] - first).abs() < 1e-9 * first.max(1.0), "{} {}", found[0], first);
        }
        // Cut into two, nothing changes.
        let middle = from + 0.37 * width;
        let halves = [[from, middle], [middle, from + width]].map(|angles| Sector { angles, ..sector });
        let again = real(&halves, Ends::Rays([Ray::Value; 2]));
        prop_assert!(found.iter().zip(&again).take(2).all(|(a, b)| (a - b).abs() < 1e-9));
    }
}
