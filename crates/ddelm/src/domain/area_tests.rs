use super::super::outline::{Loop, Piece};
use super::*;

fn unit() -> Domain {
    Domain::rectangle([0.0, 1.0], [0.0, 1.0]).unwrap()
}

fn polygon(corners: &[Point]) -> Domain {
    Domain::outline(Outline::simple(Loop::polygon("domain.polygon", corners, None).unwrap()).unwrap())
}

fn message<T>(result: Result<T>) -> String {
    result.err().expect("it was accepted").to_string()
}

#[test]
fn a_rectangle_is_cut_by_counts_by_size_or_by_itself() {
    let wide = Domain::rectangle([0.0, 3.0], [0.0, 1.0]).unwrap();
    assert_eq!(wide.counts(&Cut::Counts([5, 2])), Some([5, 2]));
    assert_eq!(wide.counts(&Cut::Size(0.4)), Some([8, 3]));
    assert_eq!(wide.counts(&Cut::Size(0.1)), Some([30, 10]), "a size that divides the sides is taken as it is");
    assert_eq!(wide.counts(&Cut::Default), Some([12, 4]));
    assert_eq!(wide.decompose(&Cut::Size(0.5)).unwrap().grid().unwrap().2, [6, 2]);
    assert!(message(wide.decompose(&Cut::Size(0.0))).contains("a positive number"));
    assert!(message(wide.decompose(&Cut::Size(1e-9))).contains("at most"));
    assert!(message(Domain::rectangle([1.0, 0.0], [0.0, 1.0])).contains("domain.x"));
}

#[test]
fn an_outline_is_told_with_the_digits_that_it_has() {
    let told = |size: f64| polygon(&[[0.0, 0.0], [2.0 * size, 0.0], [0.0, size / 3.0]]).to_string();
    assert_eq!(told(1.0), "an outline within 0 < x < 2, 0 < y < 0.333");
    assert_eq!(told(1e-7), "an outline within 0 < x < 0.0000002, 0 < y < 0.0000000333");
    assert_eq!(told(3e5), "an outline within 0 < x < 600000, 0 < y < 100000");
}

#[test]
fn a_divided_side_has_its_parts_in_the_decomposition() {
    let domain = unit().with_side_part("k", 0, "inlet", [0.3, 0.6]).unwrap();
    assert_eq!(domain.parts(), ["left", "right", "bottom", "top", "inlet"]);
    let decomposition = domain.decompose(&Cut::Counts([2, 2])).unwrap();
    assert_eq!((decomposition.len(), &decomposition.parts[..]), (2 * 3, domain.parts()));
    for vertex in decomposition.vertices.iter().filter(|v| v.point[0] == 0.0) {
        let y = vertex.point[1];
        let expected: &[usize] = if y == 0.0 {
            &[0, 2]
        } else if y == 1.0 {
            &[0, 3]
        } else {
            &[0, 4]
        };
        assert_eq!(vertex.parts, expected, "at y = {y}");
    }
    assert!(message(domain.decompose(&Cut::Counts([0, 2]))).contains("at least one"));
    assert!(message(domain.decompose(&Cut::Counts([1 << 20; 2]))).contains("at most"));
}

#[test]
fn a_rectangle_with_a_hole_is_an_outline_with_the_names_of_its_sides() {
    let circle = Loop::circle("domain.hole[0].circle", [0.5, 0.5], 0.2).unwrap();
    let hole = NamedLoop { name: "hole".into(), outline: circle };
    let domain = unit().with_holes_and_regions(vec![hole], Vec::new()).unwrap();
    assert_eq!(domain.parts(), ["bottom", "right", "top", "left", "hole"]);
    assert!(domain.as_rectangle().is_none() && domain.counts(&Cut::Default).is_none());
    assert_eq!(domain.bounding_box(), [0.0, 1.0, 0.0, 1.0]);
    assert!(message(domain.decompose(&Cut::Counts([2, 2]))).contains("only a rectangle"));
    assert!(message(domain.plain_rectangle("finite elements")).contains("finite elements need a rectangle"));
}

#[test]
fn the_boundary_is_sampled_along_every_side() {
    let half = Loop::outline(
        "o",
        vec![
            Piece::arc("o[0]", [0.0, 0.0], 1.0, 0.0, 180.0).unwrap().named("arc"),
            Piece::line("o[1]", [-1.0, 0.0], [1.0, 0.0]).unwrap().named("floor"),
        ],
    );
    let outline = Outline::simple(half.unwrap()).unwrap();
    let mesh = Mesh::of_outline(&outline, &MeshSettings::default()).unwrap();
    for domain in [Domain::outline(outline), Domain::mesh(mesh)] {
        for p in domain.boundary(domain.side("arc").unwrap()).iter().flatten() {
            assert!((p[0].hypot(p[1]) - 1.0).abs() < 1e-10 && p[1] > -1e-12, "{p:?}");
        }
        let floor = domain.boundary(domain.side("floor").unwrap());
        assert!(floor.iter().flatten().all(|p| p[1].abs() < 1e-12));
        let [x0, x1, y0, y1] = domain.bounding_box();
        assert!((x0 + 1.0).abs() + (x1 - 1.0).abs() + y0.abs() + (y1 - 1.0).abs() < 5e-3);
    }
    let sides: Vec<Point> = (0..4).flat_map(|side| unit().boundary(side)).flatten().collect();
    assert_eq!(sides.len(), 4 * (STEPS + 1));
}

#[test]
fn periodic_sides_are_no_parts() {
    let domain = unit().periodic(&[(0, 1)]).unwrap();
    assert_eq!((domain.parts(), domain.sides().len()), (&["bottom".into(), "top".into()][..], 4));
    assert_eq!(domain.periodic_sides(), [["left", "right"]]);
    assert!(unit().periodic(&[(0, 1), (3, 2)]).unwrap().parts().is_empty());
    // A wave on top, the same below.
    let wave = |key: &str, y: &str, t: [f64; 2]| Piece::formula(key, ["t", y], t).unwrap();
    let pieces = vec![
        wave("o[0]", "0.1*sin(2*pi*t)", [0.0, 1.0]),
        Piece::line("o[1]", [1.0, 0.0], [1.0, 1.0]).unwrap(),
        wave("o[2]", "1 + 0.1*sin(2*pi*t)", [1.0, 0.0]),
        Piece::line("o[3]", [0.0, 1.0], [0.0, 0.0]).unwrap(),
    ];
    let wavy = Domain::outline(Outline::simple(Loop::outline("o", pieces).unwrap()).unwrap());
    assert_eq!(wavy.clone().periodic(&[(0, 2)]).unwrap().parts(), ["side-2", "side-4"]);
    assert!(message(wavy.periodic(&[(0, 1)])).contains("not the same up to a shift"));
}

#[test]
fn sides_that_are_not_the_same_are_not_periodic() {
    let trapezium = polygon(&[[0.0, 0.0], [2.0, 0.0], [1.5, 1.0], [0.0, 1.0]]);
    assert!(message(trapezium.clone().periodic(&[(0, 2)])).contains("not the same up to a shift"));
    assert!(message(trapezium.clone().periodic(&[(2, 0)])).contains("not the same up to a shift"));
    assert!(message(trapezium.periodic(&[(0, 9)])).contains("there are 4 sides"));
    for pairs in [&[(0, 0)][..], &[(0, 1), (1, 2)]] {
        assert!(message(unit().periodic(pairs)).contains("periodic with one other"));
    }
    assert!(message(unit().periodic(&[(0, 2)])).contains("not the same up to a shift"));
    let divided = unit().with_side_part("k", 2, "a", [0.3, 0.6]).unwrap();
    assert!(message(divided.periodic(&[(0, 1)])).contains("divided"));
}

#[test]
fn periodic_sides_are_no_parts_of_a_decomposition() {
    let domain = unit().periodic(&[(0, 1)]).unwrap();
    let cut = domain.decompose(&Cut::Counts([3, 2])).unwrap();
    assert_eq!((cut.len(), cut.edges.len(), &cut.parts[..]), (6, 9, domain.parts()));
}

/// A hole near one side asks for small elements there; the side that is the same gets them, too.
#[test]
fn periodic_sides_of_an_outline_are_cut_alike() {
    let wave = |key: &str, y: &str, t: [f64; 2]| Piece::formula(key, ["t", y], t).unwrap();
    let (left, right) = ([[0.0, 1.0], [-0.3, 0.6], [0.0, 0.0]], [[2.0, 0.0], [1.7, 0.6], [2.0, 1.0]]);
    let pieces = vec![
        wave("o[0]", "0.1*sin(pi*t)", [0.0, 2.0]),
        Piece::spline("o[1]", &right).unwrap(),
        wave("o[2]", "1 + 0.1*sin(pi*t)", [2.0, 0.0]),
        Piece::spline("o[3]", &left).unwrap(),
    ];
    let hole = |center: Point| {
        let outline = Loop::circle("h", center, 0.05).unwrap();
        NamedLoop { name: "hole".into(), outline }
    };
    for center in [[1.6, 0.6], [0.0, 0.1], [1.0, 0.07], [0.5, 1.0]] {
        let outer = Loop::outline("o", pieces.clone()).unwrap();
        let domain = Domain::outline(Outline::new(outer, vec![hole(center)], Vec::new()).unwrap());
        let domain = domain.periodic(&[(1, 3), (0, 2)]).unwrap();
        for cut in [Cut::Default, Cut::Size(0.8), Cut::Size(0.15)] {
            let cut = domain.decompose(&cut).unwrap();
            assert_eq!(cut.parts, ["hole"]);
            let open = cut.subdomains.iter().flat_map(|s| s.boundaries()).count();
            assert!((8..60).contains(&open), "{center:?}: {open} sides are not glued");
        }
    }
}

#[test]
fn a_mesh_is_taken_as_it_is() {
    let outline = Outline::simple(Loop::circle("c", [0.0, 0.0], 1.0).unwrap()).unwrap();
    let domain = Domain::mesh(Mesh::of_outline(&outline, &MeshSettings::default()).unwrap());
    assert_eq!(domain.parts(), ["boundary"]);
    assert!(domain.check_cut(&Cut::Default).is_ok());
    assert!(message(domain.check_cut(&Cut::Size(0.1))).contains("as large as they are"));
    assert!(message(domain.check_cut(&Cut::Counts([2, 2]))).contains("only a rectangle"));
}
