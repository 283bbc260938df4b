//! Outlines become meshes: valid ones, which have the area of their outline.

use ddelm::domain::map::Point;
use ddelm::domain::mesh::{Element, Mesh, MeshSettings};
use ddelm::domain::outline::{Loop, NamedLoop, Outline, Piece};
use ddelm::domain::plane::{cross, distance};
use ddelm::domain::shape::Shape;
use proptest::prelude::*;

fn named(name: &str, outline: Loop) -> NamedLoop {
    NamedLoop { name: name.into(), outline }
}

fn polygon(corners: &[Point]) -> Loop {
    Loop::polygon("domain.polygon", corners, None).unwrap()
}

fn circle(x: f64, y: f64, radius: f64) -> Loop {
    Loop::circle("domain.circle", [x, y], radius).unwrap()
}

fn sized(size: f64) -> MeshSettings {
    MeshSettings { size: Some(size), ..MeshSettings::default() }
}

const L_SHAPE: [Point; 6] = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]];

/// The area of the elements with `true`, from the integral of `x dy` over their sides.
fn area(mesh: &Mesh, counts: impl Fn(&Element) -> bool) -> f64 {
    // Gauss points of order 6 per half side: exact to rounding for the short series of these sides.
    let gauss = [
        (0.5 - 0.5 * 0.932469514203152, 0.171324492379170 / 2.0),
        (0.5 - 0.5 * 0.661209386466265, 0.360761573048139 / 2.0),
        (0.5 - 0.5 * 0.238619186083197, 0.467913934572691 / 2.0),
    ];
    let mut sum = 0.0;
    for (k, element) in mesh.elements.iter().enumerate().filter(|(_, e)| counts(e)) {
        let map = mesh.map(k);
        for side in 0..element.shape.sides() {
            let from = element.shape.side_point(side, 0.0);
            let to = element.shape.side_point(side, 1.0);
            for half in [0.0, 0.5] {
                for (t, w) in gauss.iter().flat_map(|&(t, w)| [(t, w), (1.0 - t, w)]) {
                    let s = half + 0.5 * t;
                    let jet = map.jet(element.shape.side_point(side, s));
                    let d = [0, 1].map(|a| (0..2).map(|b| jet.jacobian[a][b] * (to[b] - from[b])).sum::<f64>());
                    sum += 0.5 * w * 0.5 * cross(jet.point, d);
                }
            }
        }
    }
    sum
}

/// Every mesh is valid, its sides on the boundary have names, and neighbours meet in the same points.
fn check(outline: &Outline, settings: &MeshSettings) -> Mesh {
    let mesh = Mesh::of_outline(outline, settings).unwrap();
    mesh.check("domain").unwrap();
    let maps = mesh.maps();
    for (s, neighbours) in mesh.neighbours().iter().enumerate() {
        for (k, neighbour) in neighbours.iter().enumerate() {
            let Some((t, l)) = *neighbour else { continue };
            for x in [0.0, 0.21, 0.5, 0.9] {
                let p = maps[s].point(maps[s].shape().side_point(k, x));
                let q = maps[t].point(maps[t].shape().side_point(l, 1.0 - x));
                assert!(distance(p, q) < 1e-14);
            }
        }
    }
    mesh
}

#[test]
fn a_rectangle_and_an_l_shape_become_equal_squares() {
    let mesh = check(&Outline::simple(polygon(&L_SHAPE)).unwrap(), &sized(0.25));
    assert_eq!(mesh.elements.len(), 48);
    for k in 0..48 {
        let j = mesh.map(k).jacobian([0.3, 0.4]);
        assert_eq!(mesh.elements[k].shape, Shape::Quadrilateral);
        let squared = |a: usize| j[0][a] * j[0][a] + j[1][a] * j[1][a];
        assert!((squared(0) - 0.0625).abs() < 1e-15 && (squared(1) - 0.0625).abs() < 1e-15);
    }
    assert!((area(&mesh, |_| true) - 3.0).abs() < 1e-13);
}

#[test]
fn curved_domains_have_their_area_to_rounding() {
    let disk = Outline::simple(circle(0.3, -0.2, 1.5)).unwrap();
    let mesh = check(&disk, &MeshSettings::default());
    assert!((area(&mesh, |_| true) / (2.25 * std::f64::consts::PI) - 1.0).abs() < 1e-12, "{}", area(&mesh, |_| true));
    assert_eq!(mesh.names, ["boundary"]);
    let hole = Loop::ellipse("h", [0.3, 0.1], [0.7, 0.25], 30.0).unwrap();
    let ellipse = Loop::ellipse("e", [0.0, 0.0], [2.0, 1.0], 0.0).unwrap();
    let outline = Outline::new(ellipse, vec![named("hole", hole)], Vec::new()).unwrap();
    let mesh = check(&outline, &MeshSettings::default());
    let exact = std::f64::consts::PI * (2.0 - 0.7 * 0.25);
    assert!((area(&mesh, |_| true) / exact - 1.0).abs() < 1e-12);
    assert_eq!(mesh.names, ["boundary", "hole"]);
}

#[test]
fn elements_lie_in_one_region() {
    let regions = vec![
        named("steel", circle(1.0, 1.0, 0.5)),
        named("core", circle(1.0, 1.0, 0.2)),
        named("half", polygon(&[[0.0, 0.0], [2.0, 0.0], [2.0, 0.3], [0.0, 0.3]])),
    ];
    let square = polygon(&[[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]]);
    let mesh = check(&Outline::new(square, Vec::new(), regions).unwrap(), &MeshSettings::default());
    let pi = std::f64::consts::PI;
    for (region, exact) in
        [(Some(0), pi * (0.25 - 0.04)), (Some(1), pi * 0.04), (Some(2), 0.6), (None, 4.0 - 0.6 - 0.25 * pi)]
    {
        assert!((area(&mesh, |e| e.region == region) - exact).abs() < 1e-11, "{region:?}");
    }
}

#[test]
fn a_hole_across_a_region_is_cut_out_of_it() {
    let outer = polygon(&[[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]]);
    let left = polygon(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
    let outline = Outline::new(outer, vec![named("hole", circle(1.0, 0.5, 0.2))], vec![named("left", left)]).unwrap();
    let mesh = check(&outline, &MeshSettings::default());
    let exact = 1.0 - 0.02 * std::f64::consts::PI;
    assert!((area(&mesh, |e| e.region == Some(0)) - exact).abs() < 1e-12);
    assert!((area(&mesh, |e| e.region.is_none()) - exact).abs() < 1e-12);
}

#[test]
fn narrow_gaps_get_small_elements() {
    let square = || polygon(&[[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]]);
    let near = Outline::new(square(), vec![named("hole", circle(1.0, 0.55, 0.5))], Vec::new()).unwrap();
    let mesh = check(&near, &MeshSettings::default());
    let shortest = |mesh: &Mesh, p: Point| {
        let sides = mesh.elements.iter().flat_map(|e| {
            let n = e.vertices.len();
            (0..n).map(move |k| [e.vertices[k], e.vertices[(k + 1) % n]])
        });
        let near = sides
            .map(|ends| ends.map(|v| mesh.vertices[v]))
            .filter(|[a, b]| distance(*a, p).min(distance(*b, p)) < 0.1);
        near.map(|[a, b]| distance(a, b)).fold(f64::INFINITY, f64::min)
    };
    assert!(shortest(&mesh, [1.0, 0.0]) < 0.1, "{}", shortest(&mesh, [1.0, 0.0]));
}

#[test]
fn the_same_outline_gives_the_same_mesh() {
    let make = || {
        let gear = ["(1+0.15*cos(7*t))*cos(t)", "(1+0.15*cos(7*t))*sin(t)"];
        let piece = Piece::formula("o[0]", gear, [0.0, std::f64::consts::TAU]).unwrap();
        let outline = Outline::simple(Loop::outline("o", vec![piece]).unwrap()).unwrap();
        check(&outline, &MeshSettings::default())
    };
    let (first, second) = (make(), make());
    assert_eq!(first, second);
    let pi = std::f64::consts::PI;
    assert!((area(&first, |_| true) - pi * (1.0 + 0.5 * 0.0225)).abs() < 1e-11);
}

#[test]
fn a_curve_that_is_not_smooth_is_told() {
    let kink = Piece::formula("o[0]", ["t", "abs(t - 0.3)^1.5"], [1.0, 0.0]).unwrap();
    let [a, b] = kink.curve.ends();
    let pieces = vec![kink, Piece::line("o[1]", b, [0.0, -1.0]).unwrap(), Piece::line("o[2]", [0.0, -1.0], a).unwrap()];
    let outline = Outline::simple(Loop::outline("o", pieces).unwrap()).unwrap();
    let text = Mesh::of_outline(&outline, &MeshSettings::default()).unwrap_err().to_string();
    assert!(text.starts_with("o[0]") && text.contains("not smooth near (0.3"), "{text}");
}

#[test]
fn too_many_elements_are_refused_before_they_are_made() {
    let outline = Outline::simple(circle(0.0, 0.0, 1.0)).unwrap();
    for size in [1e-9, 0.0, -1.0, f64::NAN] {
        let error = Mesh::of_outline(&outline, &sized(size)).unwrap_err();
        assert_eq!(error.key(), Some("discretization.size"));
    }
}

#[test]
fn a_mesh_is_plain_data() {
    let outline = Outline::simple(circle(0.0, 0.0, 1.0)).unwrap();
    let mesh = Mesh::of_outline(&outline, &MeshSettings::default()).unwrap();
    let text = toml::to_string(&mesh).unwrap();
    assert_eq!(toml::from_str::<Mesh>(&text).unwrap(), mesh);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn random_stars_are_decomposed(radii in prop::collection::vec(0.4..1.0f64, 5..14), size in 0.1..0.6f64) {
        let n = radii.len() as f64;
        let corners: Vec<Point> = radii.iter().enumerate()
            .map(|(k, r)| { let (s, c) = (std::f64::consts::TAU * k as f64 / n).sin_cos(); [r * c, r * s] }).collect();
        let exact: f64 = (0..corners.len()).map(|k| 0.5 * cross(corners[k], corners[(k + 1) % corners.len()])).sum();
        let mesh = check(&Outline::simple(polygon(&corners)).unwrap(), &sized(size));
        prop_assert!((area(&mesh, |_| true) - exact).abs() < 1e-12);
    }

    #[test]
    fn random_blobs_with_holes_are_decomposed(
        a in -0.2..0.2f64, b in -0.1..0.1f64, k in 2u32..6, x in -0.2..0.2f64, r in 0.05..0.3f64,
    ) {
        let radius = format!("(1 + {a}*cos({k}*t) + {b}*sin({}*t))", k + 1);
        let piece = Piece::formula("o[0]", [&format!("{radius}*cos(t)"), &format!("{radius}*sin(t)")], [0.0, std::f64::consts::TAU]).unwrap();
        let outer = Loop::outline("o", vec![piece]).unwrap();
        let outline = Outline::new(outer, vec![named("hole", circle(x, 0.1, r))], Vec::new()).unwrap();
        let mesh = check(&outline, &MeshSettings::default());
        let exact = std::f64::consts::PI * (1.0 + 0.5 * (a * a + b * b) - r * r);
        prop_assert!((area(&mesh, |_| true) - exact).abs() < 1e-10, "{} {}", area(&mesh, |_| true), exact);
    }
}

#[test]
fn triangles_and_quadrilaterals_become_quadrilaterals() {
    let outline = Outline::new(polygon(&L_SHAPE), Vec::new(), Vec::new()).unwrap();
    let settings = MeshSettings { quadrilaterals: false, ..sized(0.7) };
    let mesh = Mesh::of_outline(&outline, &settings).unwrap();
    let cut = mesh.in_quadrilaterals().unwrap();
    cut.check("domain").unwrap();
    assert_eq!(cut.elements.len(), 3 * mesh.elements.len());
    assert!((area(&cut, |_| true) - 3.0).abs() < 1e-12);
    assert!(cut.in_quadrilaterals().is_none());
    let boundary = |mesh: &Mesh| mesh.elements.iter().flat_map(|e| &e.sides).filter(|s| s.boundary.is_some()).count();
    assert_eq!(boundary(&cut), 2 * boundary(&mesh));
}
