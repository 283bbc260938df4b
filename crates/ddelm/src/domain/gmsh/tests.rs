use super::*;
use crate::domain::plane::distance;

/// The disk of radius 1 with the disk of radius 1/2 in it, or the rectangle, as gmsh wrote them.
fn file(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/meshes").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn mesh(name: &str) -> Mesh {
    parse(Path::new(name), &file(name)).unwrap()
}

fn message(bytes: &[u8]) -> String {
    parse(Path::new("part.msh"), bytes).unwrap_err().to_string()
}

const DISKS: [(&str, usize); 5] = [
    ("triangles-2-v22.msh", 2),
    ("triangles-2-v41.msh", 2),
    ("triangles-2-v22-binary.msh", 2),
    ("triangles-2-v41-binary.msh", 2),
    ("quadrilaterals-3-v41.msh", 3),
];

#[test]
fn text_and_binary_of_both_versions_are_the_same_mesh() {
    let first = mesh(DISKS[0].0);
    for (name, _) in &DISKS[1..4] {
        let other = mesh(name);
        assert_eq!(other.elements, first.elements, "{name}");
        assert_eq!((&other.names, &other.regions), (&first.names, &first.regions));
        for (p, q) in other.vertices.iter().zip(&first.vertices) {
            assert!(distance(*p, *q) < 1e-15);
        }
    }
}

#[test]
fn curved_sides_and_names_come_with_the_mesh() {
    for (name, order) in DISKS {
        let mesh = mesh(name);
        assert_eq!(mesh.names, ["rim"], "{name}");
        let mut regions = mesh.regions.clone();
        regions.sort();
        assert_eq!(regions, ["air", "steel core"]);
        let core = mesh.regions.iter().position(|r| r == "steel core");
        // Points of elements lie in their region, those on the rim on the circle, to the order of the mesh.
        let tolerance = if order == 2 { 2e-4 } else { 2e-5 };
        for (k, element) in mesh.elements.iter().enumerate() {
            let map = mesh.map(k);
            for xi in element.shape.lattice(4) {
                let r = {
                    let p = map.point(xi);
                    p[0].hypot(p[1])
                };
                let inside = if element.region == core { r < 0.5 + tolerance } else { r > 0.5 - tolerance };
                assert!(inside, "{name} {r}");
            }
            for (side, info) in element.sides.iter().enumerate().filter(|(_, side)| side.boundary.is_some()) {
                assert!(info.bulge.is_some());
                for s in [0.1, 0.5, 0.7] {
                    let p = map.point(element.shape.side_point(side, s));
                    assert!((p[0].hypot(p[1]) - 1.0).abs() < tolerance, "{name} {}", p[0].hypot(p[1]) - 1.0);
                }
            }
        }
    }
}

#[test]
fn order_ten_is_on_the_circle_to_rounding() {
    let mesh = mesh("quarter-10-v41-binary.msh");
    let arc = mesh.names.iter().position(|name| name == "arc").unwrap();
    assert!(mesh.names.contains(&"boundary".into()) && mesh.regions == ["quarter"]);
    assert!(mesh.elements.iter().any(|e| e.shape == Shape::Quadrilateral));
    for (k, element) in mesh.elements.iter().enumerate() {
        let map = mesh.map(k);
        for side in (0..element.sides.len()).filter(|&side| element.sides[side].boundary == Some(arc)) {
            for s in [0.03, 0.1, 0.5, 0.7] {
                let p = map.point(element.shape.side_point(side, s));
                assert!((p[0].hypot(p[1]) - 1.0).abs() < 1e-12, "{:e}", p[0].hypot(p[1]) - 1.0);
            }
        }
    }
}

#[test]
fn sides_without_a_group_are_the_boundary() {
    let text = String::from_utf8(file("rectangle.msh")).unwrap();
    let mesh = parse(Path::new("rectangle.msh"), text.as_bytes()).unwrap();
    let mut names = mesh.names.clone();
    names.sort();
    assert_eq!(names, ["bottom", "left", "right", "top"]);
    assert_eq!(mesh.regions, ["group-5"]);
    for (k, element) in mesh.elements.iter().enumerate() {
        let map = mesh.map(k);
        for (side, info) in element.sides.iter().enumerate() {
            let Some(name) = info.boundary else { continue };
            let p = map.point(element.shape.side_point(side, 0.5));
            let right = match mesh.names[name].as_str() {
                "bottom" => p[1] == 0.0,
                "top" => p[1] == 1.0,
                "left" => p[0] == 0.0,
                _ => p[0] == 2.0,
            };
            assert!(right, "{p:?} on {}", mesh.names[name]);
        }
    }
    let nameless = text.replace("\"left\"", "\"bottom\"");
    assert_eq!(parse(Path::new("a"), nameless.as_bytes()).unwrap().names.len(), 3);
}

const SQUARE: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n$EndNodes\n$Elements\n2\n1 2 0 1 2 3\n2 2 0 1 4 3\n$EndElements\n";

#[test]
fn a_clockwise_element_is_turned_around() {
    let mesh = parse(Path::new("a"), SQUARE.as_bytes()).unwrap();
    assert_eq!(mesh.elements.len(), 2);
    assert_eq!(mesh.names, ["boundary"]);
    assert!(mesh.regions.is_empty() && mesh.elements.iter().all(|e| e.region.is_none()));
}

#[test]
fn broken_files_are_told_with_their_place() {
    let with = |from: &str, to: &str| message(SQUARE.replace(from, to).as_bytes());
    assert!(message(b"hello").contains("line 1: this is not a file of gmsh"));
    assert!(with("2.2 0 8", "3.0 0 8").contains("the version is 3"));
    assert!(with("3 1 1 0", "3 1 one 0").contains("line 8: found `one` where y of a node should be"));
    assert!(with("3 1 1 0", "3 1 nan 0").contains("line 8: y of a node is NaN"));
    assert!(with("$Nodes\n4", "$Nodes\n99999999999").contains("the file is too short"));
    assert!(with("$Nodes\n4", "$Nodes\n3").contains("does not end where its counts say"));
    assert!(with("$Elements\n2", "$Elements\n88888888888888").contains("too short"));
    assert!(with("1 2 0 1 2 3", "1 2 0 1 2 7").contains("node 7, which is not in the file"));
    assert!(with("1 2 0 1 2 3", "1 4 0 1 2 3 4").contains("gmsh's type 4"));
    assert!(with("3 1 1 0", "3 1 1 5").contains("not plane"));
    assert!(
        with("1 2 0 1 2 3", "1 2 0 1 1 3").contains("node") || with("1 2 0 1 2 3", "1 2 0 1 1 3").contains("folded")
    );
    assert!(with("3 1 1 0", "3 2 0 0").contains("folded"));
    assert!(with("$Elements\n2\n1 2 0 1 2 3\n2 2 0 1 4 3\n", "$Elements\n0\n").contains("no triangles"));
    assert!(with("$Nodes", "$Knots").contains("no $EndKnots"));
    let error = read(Path::new("/nowhere/part.msh")).unwrap_err();
    assert!(error.hint().is_some() && error.is_input());
}

#[test]
fn a_file_that_is_cut_off_anywhere_is_an_error_and_not_a_crash() {
    for (name, _) in DISKS.iter().take(4) {
        let bytes = file(name);
        for end in (0..bytes.len().saturating_sub(30)).step_by(97) {
            assert!(parse(Path::new(name), &bytes[..end]).is_err(), "{name} {end}");
        }
        // A byte that is wrong is an error or another mesh.
        for at in (0..bytes.len()).step_by(131) {
            let mut wrong = bytes.clone();
            wrong[at] ^= 0x55;
            let _ = parse(Path::new(name), &wrong);
        }
    }
}
