use super::super::ProblemFile;
use super::super::tests::mistake;
use super::*;
use crate::domain::area::Cut;

const REST: &str = "[equation]\nsource = 1\n[boundary]\ndirichlet = 0\n[discretization]\npoints = 8\n";

fn file(domain: &str) -> ProblemFile {
    ProblemFile::new(format!("[domain]\n{domain}\n{REST}"))
}

fn read(text: &str) -> Domain {
    let case = file(text).case().unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(case.problem.conditions.len(), case.domain.parts().len());
    case.domain
}

/// Points of a side.
fn points_of(domain: &Domain, side: &str) -> Vec<Point> {
    domain.boundary(domain.side(side).unwrap()).concat()
}

#[test]
fn polygons_have_numbered_or_named_sides() {
    let l_shape = read("polygon = [[0,0],[2,0],[2,1],[1,1],[1,2],[0,2]]");
    assert_eq!(l_shape.parts(), ["side-1", "side-2", "side-3", "side-4", "side-5", "side-6"]);
    assert_eq!(l_shape.bounding_box(), [0.0, 2.0, 0.0, 2.0]);
    assert!(points_of(&l_shape, "side-3").iter().all(|p| p[1] == 1.0 && p[0] >= 1.0));
    let named = read("polygon = [[0,0],[1,0],[0,1]]\nnames = ['floor', 'slope', 'floor']");
    assert_eq!(named.parts(), ["floor", "slope"]);
    let size = file("polygon = [[0,0],[1,0],[0,1]]").set("discretization.size=0.3").case().unwrap();
    assert_eq!((size.cut, read("polygon = [[0,0],[1,0],[0,1]]").regions().len()), (Cut::Size(0.3), 0));
    assert_eq!(file("polygon = [[0,0],[1,0],[0,1]]").case().unwrap().cut, Cut::Default);
}

#[test]
fn circles_and_ellipses_have_one_side() {
    let circle = read("circle = { center = [1, 2], radius = 0.5 }");
    assert_eq!(circle.parts(), ["boundary"]);
    assert!(points_of(&circle, "boundary").iter().all(|p| ((p[0] - 1.0).hypot(p[1] - 2.0) - 0.5).abs() < 1e-14));
    let ellipse = read("ellipse = { center = [0, 0], axes = [2, 1], angle = 90 }");
    for p in points_of(&ellipse, "boundary") {
        assert!(((p[0] / 1.0).powi(2) + (p[1] / 2.0).powi(2) - 1.0).abs() < 1e-13);
    }
}

#[test]
fn the_outline_of_the_guide_is_read() {
    let text = "outline = [ { line = [[0,0],[2,0]], name = 'inlet' },\n\
                { arc = { center = [2,1], radius = 1, from = -90, to = 90 }, name = 'wall' },\n\
                { spline = [[2,2],[1,2.3],[0,2]] }, { curve = ['0', '2 - t'], t = [0, 2] } ]";
    let domain = read(text);
    assert_eq!(domain.parts(), ["inlet", "wall", "side-3", "side-4"]);
    assert!(points_of(&domain, "wall").iter().all(|p| ((p[0] - 2.0).hypot(p[1] - 1.0) - 1.0).abs() < 1e-14));
    assert!(points_of(&domain, "side-3").iter().any(|p| (p[0] - 1.0).hypot(p[1] - 2.3) < 1e-12));
    assert!(points_of(&domain, "side-4").iter().all(|p| p[0] == 0.0));
    let wave = "outline = [{ line = [[1,0],[0,0]] }, { line = [[0,0],[0,2]] }, { line = [[0,2],[1,2]] },\n\
                { curve = [1, '2 - t'], t = [0, 2] }]";
    assert_eq!(read(wave).parts().len(), 4);
}

#[test]
fn holes_and_regions_lie_in_any_shape() {
    let text = "x = [0, 2]\ny = [0, 1]\n[[domain.hole]]\ncircle = { center = [0.5,0.5], radius = 0.2 }\n\
                [[domain.region]]\nname = 'steel'\nx = [1, 2]\ny = [0, 1]";
    let plate = read(text);
    assert_eq!(plate.parts(), ["bottom", "right", "top", "left", "hole"]);
    assert_eq!(plate.regions(), ["steel"]);
    let two = "circle = { center = [0,0], radius = 1 }\n[[domain.hole]]\nname = 'inlet'\n\
               polygon = [[0.1,0],[0.3,0],[0.2,0.2]]\n[[domain.hole]]\n\
               ellipse = { center = [-0.4,0], axes = [0.2,0.1] }";
    assert_eq!(read(two).parts(), ["boundary", "inlet", "hole-2"]);
}

#[test]
fn a_mesh_is_read_from_beside_the_file() {
    let folder = tempfile::tempdir().unwrap();
    // Two triangles; the diagonal is inside.
    let mesh = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n1 1 \"floor\"\n2 2 \"steel\"\n$EndPhysicalNames\n\
                $Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n$EndNodes\n$Elements\n3\n1 1 2 1 1 1 2\n\
                2 2 2 2 1 1 2 3\n3 2 2 2 1 1 3 4\n$EndElements\n";
    std::fs::write(folder.path().join("part.msh"), mesh).unwrap();
    let path = folder.path().join("problem.toml");
    std::fs::write(&path, format!("[domain]\nmesh = 'part.msh'\n{REST}")).unwrap();
    let file = ProblemFile::read(&path).unwrap();
    let case = file.case().unwrap();
    assert_eq!(case.domain.parts(), ["floor", "boundary"]);
    assert_eq!(case.domain.regions(), ["steel"]);
    assert_eq!(file.data_files().unwrap(), ["part.msh"]);
    let anywhere = ProblemFile::new(file.resolved().unwrap());
    assert_eq!(anywhere.case().unwrap().domain.parts(), case.domain.parts());
    let (message, at) = mistake(&file.clone().set("discretization.size=0.1"));
    assert!(message.contains("as large as they are") && at == "0.1", "{message}");
    let (message, at) = mistake(&file.set("domain.hole=[{ circle = { center = [0.5, 0.5], radius = 0.1 } }]"));
    assert!(message.contains("a mesh has its holes"), "{message}");
    assert!(at.starts_with("[{ circle"), "{at}");
    let missing = ProblemFile::new(format!("[domain]\nmesh = 'none.msh'\n{REST}")).case().err().unwrap();
    assert!(matches!(missing, Error::File { .. }) && missing.to_string().contains("none.msh"), "{missing}");
}

#[test]
fn mistakes_are_named_at_their_place() {
    let square = "{ line = [[0,0],[1,0]] }, { line = [[1,0],[1,1]] }, { line = [[1,1],[0,1]] }";
    let closing = |piece: &str| format!("outline = [{square}, {piece}]");
    let with = |inner: &str| format!("x = [0, 1]\ny = [0, 1]\n{inner}");
    let cases = [
        (String::new(), "domain.x is missing", "[domain]"),
        ("x = [0, 1]".into(), "domain.y is missing", "[domain]"),
        ("y = [0, 1]".into(), "domain.x is missing", "[domain]"),
        ("plygon = []".into(), "unknown key domain.plygon", "plygon"),
        (with("circle = { center = [0,0], radius = 1 }"), "there is x and y already", "{ center = [0,0], radius = 1 }"),
        ("polygon = [[0,0],[1,0],[0,1]]\nmesh = 'a.msh'".into(), "there is polygon already", "'a.msh'"),
        ("polygon = [[0,0],[1,0]]".into(), "encloses no area", "[[0,0],[1,0]]"),
        ("polygon = [[0,0],[1,0],[0]]".into(), "expected an array of two", "[0]"),
        ("polygon = [[0,0],[1,0],[0,'1']]".into(), "expected a number, found a string", "'1'"),
        ("polygon = [[0,0],[1,0],[0,1],[0,0]]".into(), "the same as the next one", "[0,0]"),
        ("polygon = [[0,0],[2,2],[2,0],[0,1]]".into(), "crosses itself", "[0,0]"),
        ("polygon = [[0,0],[1,0],[2,0]]".into(), "encloses no area", "[[0,0],[1,0],[2,0]]"),
        ("polygon = 3".into(), "expected an array, found a whole number", "3"),
        ("polygon = [[0,0],[1,0],[0,1]]\nnames = ['a']".into(), "1 names for 3 sides", "['a']"),
        ("polygon = [[0,0],[1,0],[0,1]]\nnames = ['a', 'b', 3]".into(), "expected a string", "3"),
        ("circle = { center = [0,0], radius = 1 }\nnames = ['a']".into(), "only a polygon has names", "['a']"),
        ("circle = { center = [0,0] }".into(), "domain.circle.radius is missing", "{ center = [0,0] }"),
        ("circle = { radius = 1 }".into(), "domain.circle.center is missing", "{ radius = 1 }"),
        ("circle = { center = [0,0], radius = -1 }".into(), "a positive number", "-1"),
        ("circle = { center = [nan,0], radius = 1 }".into(), "a positive number", "[nan,0]"),
        ("circle = { center = [0,0], radius = 1, angle = 3 }".into(), "unknown key domain.circle.angle", "angle"),
        ("circle = 3".into(), "expected a table", "3"),
        ("ellipse = { center = [0,0] }".into(), "domain.ellipse.axes is missing", "{ center = [0,0] }"),
        ("ellipse = { center = [0,0], axes = [1, 0] }".into(), "half axes", "[1, 0]"),
        ("outline = []".into(), "an outline needs pieces", "[]"),
        ("outline = { line = [[0,0],[1,0]] }".into(), "expected an array of tables", "{ line = [[0,0],[1,0]] }"),
        (closing("{ }"), "domain.outline[3].line is missing", "{ }"),
        (closing("{ line = [[0,1]] }"), "expected an array of two", "[[0,1]]"),
        (closing("{ line = [[0,1],[0,1]] }"), "two different points", "{ line = [[0,1],[0,1]] }"),
        (closing("{ line = [[0,1],[0,0.1]] }"), "a gap of 0.1", "{ line = [[0,1],[0,0.1]] }"),
        (closing("{ line = [[0,1],[0,0]], nam = 'a' }"), "unknown key domain.outline[3].nam", "nam"),
        (closing("{ line = [[0,1],[0,0]], t = [0, 1] }"), "only a curve has a parameter", "[0, 1]"),
        (closing("{ line = [[0,1],[0,0]], spline = [[0,1],[0,0]] }"), "there is line already", "[[0,1],[0,0]]"),
        (
            closing("{ arc = { center = [0,0.5], radius = -0.5, from = 90, to = 270 } }"),
            "domain.outline[3].arc.radius",
            "-0.5",
        ),
        (
            closing("{ arc = { center = [0,0.5], radius = 0.5, from = 90, to = 490 } }"),
            "at most 360 degrees",
            "{ center = [0,0.5], radius = 0.5, from = 90, to = 490 }",
        ),
        (
            closing("{ arc = { center = [0,0.5], radius = 0.5, from = 90 } }"),
            "domain.outline[3].arc.to is missing",
            "{ center = [0,0.5], radius = 0.5, from = 90 }",
        ),
        (closing("{ spline = [[0,1],[0,1],[0,0]] }"), "the same as the one before", "[0,1]"),
        (closing("{ spline = [[0,1]] }"), "two or more points", "[[0,1]]"),
        (closing("{ curve = ['0', '1 - t'] }"), "domain.outline[3].t is missing", "{ curve = ['0', '1 - t'] }"),
        (closing("{ curve = ['0', '1 - t'], t = [1, 1] }"), "the interval of t is empty", "[1, 1]"),
        (closing("{ curve = ['0', '1 - s'], t = [0, 1] }"), "unknown name `s`", "s"),
        (closing("{ curve = ['0', true], t = [0, 1] }"), "expected a formula in t", "true"),
        (closing("{ curve = ['0', '1 - log(t)'], t = [0, 1] }"), "not finite at t = 0", "['0', '1 - log(t)']"),
        (
            "circle = { center = [1e12,0], radius = 1 }".into(),
            "away from the origin",
            "{ center = [1e12,0], radius = 1 }",
        ),
        (
            "circle = { center = [0,0], radius = 1e200 }".into(),
            "beyond all numbers",
            "{ center = [0,0], radius = 1e200 }",
        ),
        (
            "circle = { center = [0,0], radius = 1e-99 }".into(),
            "beyond all numbers",
            "{ center = [0,0], radius = 1e-99 }",
        ),
        (
            with("[[domain.hole]]\ncircle = { center = [0.5,0.5], radius = 1e-9 }"),
            "too short beside the domain",
            "{ center = [0.5,0.5], radius = 1e-9 }",
        ),
        (
            with("[[domain.region]]\nname = 'a'\ncircle = { center = [0.5,0.5], radius = 1e19 }"),
            "outside the domain",
            "{ center = [0.5,0.5], radius = 1e19 }",
        ),
        (with("[[domain.hole]]\nname = ''\ncircle = { center = [0.5,0.5], radius = 0.1 }"), "the name is empty", "''"),
        (closing("{ line = [[0,1],[0,0]], name = 'mean' }"), "needs this word", "'mean'"),
        ("polygon = [[0,0],[1,0],[0,1]]\nnames = ['a', 'robin', 'b']".into(), "needs this word", "'robin'"),
        (with("hole = { circle = 1 }"), "expected an array of tables", "{ circle = 1 }"),
        (with("[[domain.hole]]\nname = 'a'"), "domain.hole[0].polygon is missing", "[[domain.hole]]"),
        (with("[[domain.hole]]\nmesh = 'a'"), "unknown key domain.hole[0].mesh", "mesh"),
        (
            with("[[domain.hole]]\ncircle = { center = [0.95,0.5], radius = 0.1 }"),
            "crosses the outer boundary",
            "{ center = [0.95,0.5], radius = 0.1 }",
        ),
        (with("[[domain.hole]]\nx = [0.5, 0.4]\ny = [0.1, 0.2]"), "the smaller one first", "[0.5, 0.4]"),
        (with("[[domain.region]]\nx = [0, 0.5]\ny = [0, 1]"), "domain.region[0].name is missing", "[[domain.region]]"),
        (with("[[domain.region]]\nname = 3"), "expected a string", "3"),
        (
            with("region = [{ name = 'a', x = [0, 0.1], y = [0, 1] }, { name = 'a', x = [0.5, 1], y = [0, 1] }]"),
            "another region has this name",
            "'a'",
        ),
        (
            with("[[domain.region]]\nname = 'a'\npolygon = [[0.5,0.5],[1.5,0.5],[0.5,0.9]]"),
            "leaves the domain",
            "[0.5,0.5]",
        ),
    ];
    for (domain, message, place) in cases {
        let (found, at) = mistake(&file(&domain));
        assert!(found.contains(message), "{domain}: {found}");
        assert_eq!(at, place, "{domain}: {found}");
    }
}

#[test]
fn whatever_needs_a_rectangle_refuses_others() {
    let circle = || file("circle = { center = [0, 0], radius = 1 }");
    for (change, message, place) in [
        ("method=fem", "finite elements need a rectangle", ""),
        ("method=elm", "one subdomain, and that is a rectangle", "elm"),
        ("discretization.subdomains=[2, 2]", "only a rectangle is cut into rows and columns", "[2, 2]"),
        ("discretization.size=-1", "a positive number", "-1"),
    ] {
        let (found, at) = mistake(&circle().set(change));
        assert!(found.contains(message), "{change}: {found}");
        assert!(place.is_empty() || at == place, "{change}: {at}");
    }
    let both = file("x = [0, 1]\ny = [0, 1]").set("discretization.size=0.5").set("discretization.subdomains=[2, 2]");
    assert!(mistake(&both).0.contains("say already how large they are"));
    let size = file("x = [0, 1]\ny = [0, 1]").set("discretization.size=0.5").case().unwrap();
    assert_eq!(size.decomposition().unwrap().without_rings().unwrap().len(), 4);
    let tuned = crate::solve::tuning::tune(&circle().case().unwrap(), 1, &crate::Silent);
    assert!(tuned.err().unwrap().to_string().contains("tuned on a rectangular subdomain"));
}

/// The files of `docs/domains.md` are read, and say what the page says.
#[test]
fn the_page_about_domains_is_right() {
    let page = include_str!("../../../../docs/domains.md");
    let files: Vec<&str> = page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let parts: Vec<Vec<String>> =
        files.iter().map(|text| ProblemFile::new(*text).case().unwrap().domain.parts().to_vec()).collect();
    let expected: [&[&str]; 6] = [
        &["left", "right", "bottom", "top", "inlet"],
        &["floor", "wall", "step"],
        &["boundary", "pipe"],
        &["inlet", "wall", "side-3", "side-4"],
        &["above", "wall", "below", "crack"],
        &[],
    ];
    assert_eq!(parts, expected);
}
