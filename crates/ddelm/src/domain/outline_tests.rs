use super::*;
use crate::domain::arrangement::LoopId;
use crate::domain::map::Point;
use crate::domain::mesh::{Mesh, MeshSettings};
use proptest::prelude::*;

fn square(key: &str, x: f64, y: f64, side: f64) -> Loop {
    Loop::polygon(key, &[[x, y], [x + side, y], [x + side, y + side], [x, y + side]], None).unwrap()
}

fn named(name: &str, outline: Loop) -> NamedLoop {
    NamedLoop { name: name.into(), outline }
}

fn circle(key: &str, x: f64, y: f64, radius: f64) -> Loop {
    Loop::circle(key, [x, y], radius).unwrap()
}

fn message(result: Result<impl Sized>) -> String {
    result.err().expect("an error").to_string()
}

#[test]
fn the_outline_of_the_issue_is_read_with_its_names() {
    let pieces = vec![
        Piece::line("o[0]", [0.0, 0.0], [2.0, 0.0]).unwrap().named("inlet"),
        Piece::arc("o[1]", [2.0, 1.0], 1.0, -90.0, 90.0).unwrap().named("wall"),
        Piece::spline("o[2]", &[[2.0, 2.0], [1.0, 2.3], [0.0, 2.0]]).unwrap(),
        Piece::line("o[3]", [0.0, 2.0], [0.0, 0.0]).unwrap(),
    ];
    let outline = Outline::simple(Loop::outline("o", pieces).unwrap()).unwrap();
    assert_eq!(outline.names(), ["inlet", "wall", "side-3", "side-4"]);
    // The spline has a vertex at its inner point.
    assert_eq!(outline.arrangement.strands.len(), 5);
    assert!((outline.bounding_box().high[0] - 3.0).abs() < 0.01);
}

#[test]
fn loops_are_turned_counter_clockwise_and_keep_their_names() {
    let names: Vec<String> = ["floor", "right", "slope"].map(String::from).to_vec();
    let clockwise = Loop::polygon("p", &[[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]], Some(&names)).unwrap();
    assert!(clockwise.area() > 0.49);
    let floor = clockwise.pieces.iter().find(|p| p.name.as_deref() == Some("floor")).unwrap();
    assert_eq!((floor.curve.ends(), floor.key.as_str()), ([[0.0, 1.0], [0.0, 0.0]], "p[0]"));
}

#[test]
fn holes_name_their_sides_whichever_way_round_they_are_given() {
    let clockwise = [[0.2, 0.2], [0.2, 0.4], [0.4, 0.4], [0.4, 0.2]];
    let hole = named("pipe", Loop::polygon("h", &clockwise, None).unwrap());
    let outline = Outline::new(square("p", 0.0, 0.0, 1.0), vec![hole], Vec::new()).unwrap();
    assert_eq!(outline.names(), ["side-1", "side-2", "side-3", "side-4", "pipe"]);
}

#[test]
fn gaps_are_told_with_their_size_and_place() {
    let pieces = vec![
        Piece::line("domain.outline[0]", [0.0, 0.0], [1.0, 0.0]).unwrap(),
        Piece::line("domain.outline[1]", [1.0, 0.0], [1.0, 1.0]).unwrap(),
        Piece::line("domain.outline[2]", [1.0, 1.0], [0.0, 0.01]).unwrap(),
    ];
    let text = message(Loop::outline("domain.outline", pieces));
    assert!(
        text.starts_with("domain.outline[2] = ") && text.contains("(0, 0.01)") && text.contains("a gap of 0.01"),
        "{text}"
    );
    let pieces = vec![
        Piece::line("o[0]", [0.0, 0.0], [1.0, 0.0]).unwrap(),
        Piece::line("o[1]", [0.0, 1.0], [1.0, 0.0]).unwrap(),
        Piece::line("o[2]", [0.0, 1.0], [0.0, 0.0]).unwrap(),
    ];
    let error = Loop::outline("o", pieces).unwrap_err();
    assert!(error.hint().unwrap().contains("other way"), "{error}");
}

#[test]
fn values_that_make_no_curve_are_refused() {
    assert!(message(Loop::polygon("p", &[[0.0; 2]], None)).contains("three or more"));
    assert!(message(Loop::polygon("p", &[[0.0; 2], [1.0, 0.0], [1.0, 1.0], [0.0; 2]], None)).contains("p[3]"));
    assert!(message(Loop::polygon("p", &[[0.0; 2], [1.0, 0.0], [f64::NAN, 1.0]], None)).contains("not finite"));
    let flat = Loop::polygon("p", &[[0.0; 2], [1.0, 0.0], [2.0, 0.0]], None).unwrap();
    assert!(message(Outline::simple(flat)).contains("no area"));
    assert!(message(Loop::circle("c", [0.0; 2], -1.0)).contains("radius"));
    assert!(message(Loop::ellipse("e", [0.0; 2], [1.0, 0.0], 0.0)).contains("axes"));
    assert!(message(Piece::arc("a", [0.0; 2], 1.0, 0.0, 400.0)).contains("360"));
    assert!(message(Piece::spline("s", &[[0.0; 2], [1.0, 0.0], [1.0, 0.0]])).contains("s.spline[2]"));
    assert!(message(Piece::formula("f", ["t", "t"], [1.0, 1.0])).contains("empty"));
    assert!(message(Loop::polygon("p", &[[0.0; 2], [1.0, 0.0], [1.0, 1.0]], Some(&["a".into()]))).contains("1 names"));
}

#[test]
fn crossings_name_the_piece_and_the_place() {
    let bow = Loop::polygon("p", &[[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [0.0, 1.0]], None).unwrap();
    let text = message(Outline::simple(bow));
    assert!(
        text.contains("crosses itself")
            && text.contains("p[0]")
            && text.contains("p[2]")
            && text.contains("(0.666667, 0.666667)"),
        "{text}"
    );

    let eight = Piece::formula("o[0]", ["sin(t)", "sin(2*t)"], [0.5, 6.0]).unwrap();
    let [a, b] = eight.curve.ends();
    let pieces = vec![eight, Piece::line("o[1]", b, a).unwrap()];
    assert!(message(Outline::simple(Loop::outline("o", pieces).unwrap())).contains("crosses itself"));

    let touching = Loop::polygon("p", &[[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [1.0, 0.0], [0.0, 2.0]], None).unwrap();
    assert!(message(Outline::simple(touching)).contains("touches itself at (1, 0)"));
}

#[test]
fn holes_lie_inside_and_apart() {
    let unit = || square("p", 0.0, 0.0, 1.0);
    let with = |holes: Vec<Loop>| {
        let holes = holes.into_iter().enumerate().map(|(k, l)| named(&format!("hole-{}", k + 1), l)).collect();
        Outline::new(unit(), holes, Vec::new())
    };
    let fine = with(vec![circle("h0", 0.3, 0.3, 0.1), circle("h1", 0.7, 0.7, 0.2)]).unwrap();
    assert_eq!(fine.names(), ["side-1", "side-2", "side-3", "side-4", "hole-1", "hole-2"]);
    assert!(message(with(vec![circle("h0", 0.9, 0.5, 0.2)])).contains("crosses the outer boundary at (1, "));
    assert!(message(with(vec![circle("h0", 0.9, 0.5, 0.1)])).contains("h0"));
    assert!(message(with(vec![circle("h0", 2.9, 0.5, 0.1)])).contains("outside the domain"));
    assert!(
        message(with(vec![circle("h0", 0.5, 0.5, 0.3), circle("h1", 0.5, 0.5, 0.1)]))
            .contains("inside another one (h0)")
    );
    assert!(message(with(vec![circle("h0", 0.4, 0.5, 0.2), circle("h1", 0.6, 0.5, 0.2)])).contains("another hole"));
    assert!(message(with(vec![square("h0", 0.5, 0.0, 0.3)])).contains("h0"));
    let diamond = Loop::polygon("h0", &[[0.5, 0.0], [0.7, 0.3], [0.5, 0.6], [0.3, 0.3]], None).unwrap();
    assert!(message(with(vec![diamond])).contains("touches the outer boundary at (0.5, 0)"));
}

#[test]
fn regions_share_the_boundary_and_each_other() {
    let shape =
        || Loop::polygon("p", &[[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]], None).unwrap();
    let regions = vec![named("steel", square("r0", 0.0, 0.0, 1.0)), named("air", square("r1", 1.0, 0.0, 0.5))];
    let outline = Outline::new(shape(), Vec::new(), regions).unwrap();
    // Six sides, of which 0 is cut at x = 1 and 1.5 and 5 at y = 1; of the regions, x = 1 in two and y = 1; the top and
    // right of the second one.
    assert_eq!(outline.arrangement.strands.len(), 6 + 2 + 1 + 3 + 2);
    let shared = outline.arrangement.strands.iter().filter(|s| s.owners.len() == 2).count();
    assert_eq!(shared, 2 + 1 + 1);
    for strand in outline.arrangement.strands.iter().filter(|s| s.owners.len() == 2) {
        assert!(strand.boundary() != [None; 2] || strand.owners[0].reversed != strand.owners[1].reversed);
    }
    assert!(
        message(Outline::new(shape(), Vec::new(), vec![named("a", square("r", 0.5, 0.5, 1.0))]))
            .contains("leaves the domain")
    );
    let crossing = vec![named("a", square("r0", 0.1, 0.1, 0.5)), named("b", square("r1", 0.3, 0.3, 0.5))];
    assert!(message(Outline::new(shape(), Vec::new(), crossing)).contains("crosses another one"));
    let twins = vec![named("a", square("r0", 0.1, 0.1, 0.2)), named("a", square("r1", 0.5, 0.5, 0.2))];
    assert!(message(Outline::new(shape(), Vec::new(), twins)).contains("another region has this name"));
}

#[test]
fn a_region_may_touch_the_boundary_in_a_point_but_not_at_angle_zero() {
    let unit = || square("p", 0.0, 0.0, 1.0);
    let diamond = Loop::polygon("r0", &[[0.5, 0.0], [0.7, 0.3], [0.5, 0.6], [0.3, 0.3]], None).unwrap();
    assert!(Outline::new(unit(), Vec::new(), vec![named("a", diamond)]).is_ok());
    let text = message(Outline::new(unit(), Vec::new(), vec![named("a", circle("r0", 0.5, 0.3, 0.3))]));
    assert!(text.contains("angle of 0 degrees at (0.5, 0)"), "{text}");
}

/// The elements about each vertex are one fan after the other, and each side of a slit is on its part of the boundary.
fn slit_lengths(outline: &Outline) -> Vec<(String, f64)> {
    let mesh = Mesh::of_outline(outline, &MeshSettings { size: Some(0.5), ..Default::default() }).unwrap();
    mesh.check("slit").unwrap();
    let mut lengths = vec![0.0; mesh.names.len()];
    for element in &mesh.elements {
        for (k, side) in element.sides.iter().enumerate() {
            let [a, b] = [k, (k + 1) % element.vertices.len()].map(|k| mesh.vertices[element.vertices[k]]);
            side.boundary.into_iter().for_each(|part| lengths[part] += (b[0] - a[0]).hypot(b[1] - a[1]));
        }
    }
    let rounded = lengths.into_iter().map(|length| (1e9 * length).round() / 1e9);
    mesh.names.into_iter().zip(rounded).collect()
}

#[test]
fn an_outline_that_runs_there_and_back_has_a_slit_with_two_sides() {
    let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [1.0, 0.0]];
    let names = ["above", "wall", "wall", "wall", "wall", "wall", "below"].map(String::from);
    let polygon = |corners: &[Point], names| Outline::simple(Loop::polygon("p", corners, names).unwrap());
    let slit = slit_lengths(&polygon(&corners, Some(&names)).unwrap());
    assert_eq!(slit, [("above".to_string(), 1.0), ("wall".into(), 8.0), ("below".into(), 1.0)]);
    // Back in two pieces, and with a branch on the way; triangles.
    let branched = [&corners[..], &[[0.7, 0.0], [0.5, -0.3], [0.7, 0.0]]].concat();
    let lengths: Vec<f64> = slit_lengths(&polygon(&branched, None).unwrap()).into_iter().map(|(_, l)| l).collect();
    let branch = 0.13f64.sqrt();
    let expected = [1.0, 1.0, 2.0, 2.0, 2.0, 1.0, 0.3, branch, branch, 0.7];
    assert!(lengths.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-8) && lengths.len() == 10, "{lengths:?}");
    // What comes back elsewhere, or three times, is none.
    let beside = [&corners[..], &[[0.5, 1e-3]]].concat();
    assert!(message(polygon(&beside, None)).contains("angle of 0 degrees"));
    let thrice = [&corners[..], &[[0.0, 0.0], [1.0, 0.0]]].concat();
    assert!(message(polygon(&thrice, None)).contains("runs twice through (0.5, 0)"));
}

#[test]
fn a_hole_of_no_width_is_a_crack() {
    let crack = |key: &str, x: f64| named("crack", Loop::polygon(key, &[[x, 0.5], [x + 0.3, 0.5]], None).unwrap());
    let outline =
        Outline::new(square("p", 0.0, 0.0, 1.0), vec![crack("h0", 0.1), crack("h1", 0.6)], Vec::new()).unwrap();
    // One chord, both ends of which are tips, has two sides as well.
    assert_eq!(slit_lengths(&outline).last(), Some(&("crack".to_string(), 1.2)));
    let bent = Piece::arc("h[0]", [0.5, 0.3], 0.3, 30.0, 150.0).unwrap();
    let back = Piece::arc("h[1]", [0.5, 0.3], 0.3, 150.0, 30.0).unwrap();
    let outline = Outline::new(
        square("p", 0.0, 0.0, 1.0),
        vec![named("crack", Loop::outline("h", vec![bent, back]).unwrap())],
        Vec::new(),
    );
    assert!(slit_lengths(&outline.unwrap())[4].1 > 1.2);
    let nothing = Loop::polygon("p", &[[0.0, 0.0], [1.0, 0.0]], None).unwrap();
    assert!(message(Outline::simple(nothing)).contains("encloses no area"));
}

#[test]
fn half_a_disk_can_be_a_region() {
    let half = Loop::outline(
        "r",
        vec![
            Piece::arc("r[0]", [0.0, 0.0], 1.0, 30.0, 210.0).unwrap(),
            Piece::line("r[1]", [-0.75f64.sqrt(), -0.5], [0.75f64.sqrt(), 0.5]).unwrap(),
        ],
    )
    .unwrap();
    let outline = Outline::new(circle("c", 0.0, 0.0, 1.0), Vec::new(), vec![named("half", half)]).unwrap();
    // Four quarters, two of them cut; the half's arc has the same pieces; one diameter.
    assert_eq!(outline.arrangement.strands.len(), 7);
    assert_eq!(outline.arrangement.strands.iter().filter(|s| s.owners.len() == 2).count(), 3);
}

#[test]
fn a_hole_may_lie_across_a_region() {
    let holes = vec![named("hole", circle("h", 1.0, 0.5, 0.2))];
    let outer = Loop::polygon("p", &[[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]], None).unwrap();
    let outline = Outline::new(outer, holes, vec![named("left", square("r", 0.0, 0.0, 1.0))]).unwrap();
    let inner = outline.arrangement.strands.iter().filter(|s| s.boundary() == [None; 2]).count();
    assert_eq!(inner, 2);
    let hole = outline.arrangement.strands.iter().filter(|s| s.owners[0].id == LoopId::Hole(0)).count();
    assert_eq!(hole, 4, "the crossings are at quarters of the circle");
}

proptest! {
    #[test]
    fn star_polygons_are_accepted_and_turned_the_right_way(
        radii in prop::collection::vec(0.3..1.0f64, 3..20), clockwise in any::<bool>(),
    ) {
        let n = radii.len() as f64;
        let mut corners: Vec<Point> = radii.iter().enumerate()
            .map(|(k, r)| { let (s, c) = (std::f64::consts::TAU * k as f64 / n).sin_cos(); [r * c, r * s] }).collect();
        if clockwise { corners.reverse(); }
        let polygon = Loop::polygon("p", &corners, None).unwrap();
        prop_assert!(polygon.area() > 0.0);
        prop_assert!(Outline::simple(polygon).is_ok());
    }

    #[test]
    fn exchanging_two_neighbours_of_a_convex_polygon_makes_it_cross(n in 5usize..12, k in 0usize..12) {
        let mut corners: Vec<Point> = (0..n)
            .map(|k| { let (s, c) = (std::f64::consts::TAU * k as f64 / n as f64).sin_cos(); [c, s] }).collect();
        corners.swap(k % n, (k + 1) % n);
        let text = message(Outline::simple(Loop::polygon("p", &corners, None).unwrap()));
        prop_assert!(text.contains("crosses itself"), "{}", text);
    }
}
