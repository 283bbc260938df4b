use super::super::ProblemFile;
use super::super::tests::mistake;
use crate::base::progress::Silent;
use crate::domain::area::Domain;
use crate::problem::model::Problem;

/// A square, with what follows `[boundary]`.
fn square(boundary: &str) -> ProblemFile {
    let text = "[domain]\nx = [0, 1]\ny = [0, 2]\n[equation]\nsource = '-2'\n[exact]\nu = 'x^2'\n\
                [discretization]\nsubdomains = [2, 2]\npoints = 8\n";
    ProblemFile::new(format!("{text}[boundary]\n{boundary}\n"))
}

fn read(file: &ProblemFile) -> (Domain, Problem) {
    let case = file.case().unwrap();
    (case.domain, case.problem)
}

/// The conditions by the names of their parts.
fn conditions(file: &ProblemFile) -> Vec<String> {
    let (domain, problem) = read(file);
    let values = |k: usize| problem.conditions[k].values[0].describe();
    let show = |(k, name): (usize, &String)| format!("{name}: {} {}", problem.conditions[k].name(), values(k));
    domain.parts().iter().enumerate().map(show).collect()
}

#[test]
fn parts_of_any_domain_are_named() {
    let text = "[domain]\ncircle = { center = [0, 0], radius = 1 }\n[[domain.hole]]\nname = 'hole'\n\
                circle = { center = [0, 0], radius = 0.5 }\n[equation]\nsource = 1\n[boundary]\ndirichlet = 0\n\
                [boundary.hole]\nneumann = 2\n[discretization]\npoints = 8\n";
    let file = ProblemFile::new(text);
    assert_eq!(conditions(&file), ["boundary: dirichlet 0", "hole: neumann 2"]);
    let (message, at) = mistake(&ProblemFile::new(text.replace("[boundary.hole]", "[boundary.hoel]")));
    assert!(message.contains("unknown key boundary.hoel") && at == "hoel", "{message}");
    let alone = ProblemFile::new(text.replace("dirichlet = 0\n", ""));
    assert_eq!(mistake(&alone).0, "boundary.boundary is missing");
    let left = file.set("boundary.left.dirichlet=0");
    assert_eq!(mistake(&left).1, "boundary.left.dirichlet");
}

#[test]
fn a_side_of_a_rectangle_has_several_conditions() {
    let file = square(
        "dirichlet = 'x^2'\n[boundary.left]\nneumann = 0\n[[boundary.left.part]]\nfrom = 0.5\nto = 1\ndirichlet = 0\n\
         [[boundary.left.part]]\nfrom = 1.2\nto = 1.5\nname = 'window'\n[[boundary.top.part]]\nfrom = 0\nto = 0.3",
    );
    let expected = [
        "left: neumann 0",
        "right: dirichlet x^2",
        "bottom: dirichlet x^2",
        "top: dirichlet x^2",
        "left-1: dirichlet 0",
        "window: neumann 0",
        "top-1: dirichlet x^2",
    ];
    assert_eq!(conditions(&file), expected);
    // x^2 is smooth, which nobody can know where conditions change: rings would need more points.
    let case = file.set("discretization.corners=none").case().unwrap();
    assert!(case.solve(&Silent).unwrap().report.errors.unwrap().l2 < 1e-9);
    case.probe().unwrap();
}

#[test]
fn mistakes_with_parts_are_named_at_their_place() {
    let part = |text: &str| format!("dirichlet = 0\n[[boundary.left.part]]\n{text}");
    for (text, message, place) in [
        (part("from = 0"), "boundary.left.part[0].to is missing", "[[boundary.left.part]]"),
        (part("from = 0\nto = 3"), "goes from y = 0 to 2", "3"),
        (part("from = 1\nto = 0.5"), "which is nothing", "0.5"),
        (part("from = '1'\nto = 2"), "expected a number", "'1'"),
        (part("from = 1\nto = 2\nname = 'right'"), "another part has this name", "'right'"),
        (part("from = 1\nto = 2\nneuman = 0"), "unknown key boundary.left.part[0].neuman", "neuman"),
        (part("from = 1\nto = 2\nneumann = 0\ndirichlet = 0"), "needs one condition", "0"),
        (part("from = 0\nto = 1\n[[boundary.left.part]]\nfrom = 0.5\nto = 2"), "overlaps left-1", "0.5"),
        ("dirichlet = 0\n[boundary.left.part]\nfrom = 0".into(), "expected an array of tables", "[boundary.left.part]"),
        ("dirichlet = 0\nleft = 3".into(), "expected a table", "3"),
    ] {
        let (found, at) = mistake(&square(&text));
        assert!(found.contains(message), "{text}: {found}");
        assert_eq!(at, place, "{text}: {found}");
    }
    let mut text = square("dirichlet = 0\n[[boundary.side-1.part]]\nfrom = 0\nto = 1")
        .text(super::super::Origin::File)
        .to_string();
    text = text.replace("x = [0, 1]\ny = [0, 2]", "polygon = [[0,0],[1,0],[0,1]]").replace("subdomains = [2, 2]\n", "");
    assert!(mistake(&ProblemFile::new(text)).0.contains("unknown key boundary.side-1.part"));
}

#[test]
fn periodic_sides_have_no_condition() {
    let (domain, problem) = read(&square("periodic = ['x']\ndirichlet = 0"));
    assert_eq!((domain.parts(), problem.conditions.len()), (&["bottom".into(), "top".into()][..], 2));
    let named = read(&square("periodic = [['top', 'bottom']]\ndirichlet = 0")).0;
    assert_eq!(named.periodic_sides(), [["top", "bottom"]]);
    let (both, problem) = read(&square("periodic = ['x', 'y']\nmean = 0"));
    assert!(both.parts().is_empty() && problem.conditions.is_empty() && problem.mean == Some(0.0));
    for (text, message, place) in [
        ("periodic = 'x'\ndirichlet = 0", "expected an array, found a string", "'x'"),
        ("periodic = ['z']\ndirichlet = 0", "expected \"x\", \"y\" or a pair of sides", "'z'"),
        ("periodic = [['left', 'rihgt']]\ndirichlet = 0", "there is no such side", "'rihgt'"),
        ("periodic = [['left']]\ndirichlet = 0", "expected an array of two", "['left']"),
        ("periodic = [['left', 'top']]\ndirichlet = 0", "not the same up to a shift", "[['left', 'top']]"),
        ("periodic = ['x', ['left', 'right']]\ndirichlet = 0", "periodic with one other", "['x', ['left', 'right']]"),
        ("periodic = ['x']\ndirichlet = 0\n[boundary.left]\nneumann = 0", "a periodic side has no condition", "0"),
        ("periodic = ['x']", "boundary.bottom is missing", "[boundary]"),
        ("periodic = ['x', 'y']", "no unique solution", "[boundary]"),
    ] {
        let (found, at) = mistake(&square(text));
        assert!(found.contains(message), "{text}: {found}");
        assert_eq!(at, place, "{text}: {found}");
    }
    let circle = "[domain]\ncircle = { center = [0, 0], radius = 1 }\n[equation]\nsource = 1\n[boundary]\ndirichlet = 0\n\
                  periodic = ['x']\n[discretization]\npoints = 8\n";
    assert!(mistake(&ProblemFile::new(circle)).0.contains("the domain has no sides left and right"));
}

#[test]
fn the_mean_belongs_to_problems_that_leave_a_constant_open() {
    assert_eq!(read(&square("neumann = 0\nmean = 1.5")).1.mean, Some(1.5));
    assert_eq!(read(&square("robin = { coefficient = 0, value = 1 }\nmean = 0")).1.mean, Some(0.0));
    for (text, message, place) in [
        ("neumann = 0", "no unique solution", "0"),
        ("dirichlet = 0\nmean = 0", "unique without it", "0"),
        ("neumann = 0\nmean = 'x'", "expected a number", "'x'"),
        ("neumann = 0\nmean = inf", "not a finite number", "inf"),
    ] {
        let (found, at) = mistake(&square(text));
        assert!(found.contains(message), "{text}: {found}");
        assert_eq!(at, place, "{text}: {found}");
    }
    let reaction = square("neumann = 0\nmean = 0").set("equation.reaction=1");
    assert!(mistake(&reaction).0.contains("unique without it"));
}

#[test]
fn sides_cannot_be_called_as_conditions_are() {
    let text = square("dirichlet = 0").text(super::super::Origin::File).to_string();
    let text = text.replace("x = [0, 1]\ny = [0, 2]", "polygon = [[0,0],[1,0],[0,1]]\nnames = ['a', 'mean', 'b']");
    let (message, _) = mistake(&ProblemFile::new(text.replace("subdomains = [2, 2]\n", "")));
    assert!(message.contains("[boundary] needs this word for something else"), "{message}");
}
