//! Every mistake in a problem file gets a message that names it, at its place.

use std::sync::Arc;

use super::*;
use crate::base::npz::{self, Array};
use crate::base::progress::Silent;
use crate::domain::area::Cut;
use crate::method::settings::{InterfaceSolver, Sharing};
use crate::problem::gallery;
use crate::problem::model::{ConditionKind, Equation};
use crate::problem::random_field::RandomField;
use crate::solve::solver::Solver;

const GOOD: &str = r#"
[domain]
x = [0.0, 1.0]
y = [0.0, 2.0]
[equation]
source = "(4*pi^2 - 1)*sin(2*pi*x)*exp(y)"
[boundary]
dirichlet = "sin(2*pi*x)*exp(y)"
[exact]
u = "sin(2*pi*x)*exp(y)"
[discretization]
subdomains = [2, 3]
points = 9
"#;

/// The message of a file and the text that it points at.
pub(super) fn mistake(file: &ProblemFile) -> (String, String) {
    let error = file.case().err().expect("the file was accepted");
    let place = file.place(&error).map_or(String::new(), |place| file.text(place.origin)[place.span].to_string());
    (error.to_string(), place)
}

#[test]
fn a_file_means_what_it_says() {
    let case = ProblemFile::new(GOOD).case().unwrap();
    assert_eq!(case.domain.plain_rectangle("a test").unwrap(), ([0.0, 1.0], [0.0, 2.0]));
    assert_eq!(case.cut, Cut::Counts([2, 3]));
    assert_eq!((case.settings.points, case.settings.neurons()), (9, 81));
    assert!(!case.estimate && case.tolerance.is_none());
    assert!(case.solve(&Silent).unwrap().report.errors.unwrap().l2 < 1e-5);
}

#[test]
fn choices_lie_over_the_preset() {
    let file = ProblemFile::new(GOOD).set("preset=paper").set("interface.solver=direct").set("network.seed=7");
    let settings = file.case().unwrap().settings;
    assert_eq!(settings.sharing, Sharing::Independent);
    assert_eq!((settings.interface, settings.seed), (InterfaceSolver::Direct, 7));
    assert_eq!(ProblemFile::new(GOOD).set("method=fem").case().unwrap().finite_elements, Some([256; 2]));
}

#[test]
fn a_side_overrides_the_whole_boundary() {
    let file = ProblemFile::new(GOOD)
        .set("boundary.left.neumann=0")
        .set("boundary.top={ robin = { coefficient = 2, value = 'x' } }");
    let conditions = file.case().unwrap().problem.conditions;
    assert!(matches!(conditions[0].kind, ConditionKind::Neumann));
    assert!(matches!(conditions[1].kind, ConditionKind::Dirichlet));
    assert!(matches!(conditions[3].kind, ConditionKind::Robin { .. }));
}

#[test]
fn plates_and_tensors_are_read() {
    let text = GOOD
        .replace("source = \"(4*pi^2 - 1)*sin(2*pi*x)*exp(y)\"", "plate = { load = \"x\", rigidity = 2 }")
        .replace("[exact]", "normal = 0\n[exact]");
    let problem = ProblemFile::new(text).case().unwrap().problem;
    assert!(matches!(problem.equation, Equation::Plate { .. }));
    assert!(matches!(problem.conditions[0].kind, ConditionKind::Clamped));
    let tensor = ProblemFile::new(GOOD).set("equation.diffusion=[['2', '0'], [0, '1 + x^2']]");
    assert!(tensor.case().is_ok());
}

#[test]
fn random_fields_can_be_called() {
    let file = ProblemFile::new(GOOD)
        .set("fields.grf={ alpha = 4.0, modes = 8, seed = 3 }")
        .set("equation.diffusion=1.1 + tanh(grf(x, y))");
    assert!(file.case().is_ok());
    assert_eq!(mistake(&ProblemFile::new(GOOD).set("fields.sin={ alpha = 4.0 }")).1, "{ alpha = 4.0 }");
    assert_eq!(mistake(&ProblemFile::new(GOOD).set("fields.g={ alpha = -4.0 }")).1, "-4.0");
}

/// A field from a seed, the same one from a file, and the gallery's problem with it have the same solution: values and
/// gradients of the coefficient are exact in all of them.
#[test]
fn a_random_coefficient_is_the_same_from_a_seed_and_from_a_file() {
    let field = RandomField::new(4.0, 8, 3).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let vector = |v: &[f64]| Array::vector(v.to_vec());
    let w = Array { shape: vec![8, 2], data: field.wave_vectors().as_flattened().to_vec() };
    let arrays = [("a", vector(field.amplitudes())), ("w", w), ("b", vector(field.phases()))];
    npz::write(folder.path().join("grf.npz"), &arrays).unwrap();
    let text = r#"
        [domain]
        x = [0.0, 1.0]
        y = [0.0, 1.0]
        [fields]
        grf = { alpha = 4, modes = 8, seed = 3 }
        [equation]
        diffusion = "tanh(grf(x, y)) + 1.1"
        source = 1
        [boundary]
        dirichlet = 0
        [discretization]
        subdomains = [2, 2]
        points = 8
        "#;
    let path = folder.path().join("problem.toml");
    std::fs::write(&path, text.replace("{ alpha = 4, modes = 8, seed = 3 }", "{ file = \"grf.npz\" }")).unwrap();
    let drawn = ProblemFile::new(text).case().unwrap();
    let solution = drawn.solve(&Silent).unwrap();
    let read = ProblemFile::read(&path).unwrap().case().unwrap().solve(&Silent).unwrap();
    assert_eq!(read.coefficients, solution.coefficients);
    let anywhere = ProblemFile::new(ProblemFile::read(&path).unwrap().resolved().unwrap());
    assert_eq!(anywhere.case().unwrap().solve(&Silent).unwrap().coefficients, solution.coefficients);
    let problem = gallery::random_coefficient(Arc::new(field));
    let solver = Solver::new(&problem, drawn.decomposition().unwrap(), &drawn.settings).unwrap();
    // Another function that computes tanh, and another way to the local problems: the same up to rounding.
    let (x, y): (Vec<f64>, Vec<f64>) = (0..50).map(|i| (f64::from(i) / 49.0, f64::from(i * i % 50) / 49.0)).unzip();
    let found = solver.solve().unwrap().gradients(&x, &y).u;
    for (found, expected) in found.iter().zip(&solution.gradients(&x, &y).u) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
}

const NAMED: &str = r#"
[domain]
x = [0.0, 1.0]
y = [0.0, 2.0]
[parameters]
k = 2
[functions]
wave = "sin(k*pi*x)*exp(y)"
half = "wave(x/2, y)"
[equation]
source = "((k*pi)^2 - 1)*wave"
[boundary]
dirichlet = "if(x > -1, half(2*x, y), log(x))"
[exact]
u = "wave(x, y)"
[discretization]
subdomains = [2, 3]
points = 9
"#;

#[test]
fn parameters_and_functions_are_used_by_name() {
    let plain = ProblemFile::new(GOOD).case().unwrap().solve(&Silent).unwrap();
    let named = ProblemFile::new(NAMED).case().unwrap().solve(&Silent).unwrap();
    let difference = plain.distance(&named, 20).unwrap().l2;
    assert!(difference < 1e-10, "{difference:e}");
    let once = ProblemFile::new(NAMED).set("parameters.k=1").case().unwrap();
    assert_eq!(once.problem.source.describe(), "((k*pi)^2 - 1)*wave");
    assert!(once.solve(&Silent).unwrap().report.errors.unwrap().l2 < 1e-5);
}

#[test]
fn mistakes_in_names_are_shown_at_their_place() {
    let cases = [
        ("k = 2", "k = \"2\"", "expected a number, found a string", "\"2\""),
        ("k = 2", "k = inf", "a parameter must be finite", "inf"),
        ("k = 2", "pi = 3", "another meaning", "3"),
        ("k = 2", "wave = 2\nk = 2", "there is also parameters.wave", "\"sin(k*pi*x)*exp(y)\""),
        ("k = 2", "\"k-1\" = 2", "formulas cannot use this name", "2"),
        ("k = 2", "kay = 2", "functions.wave: unknown name `k`", "k"),
        ("[parameters]\nk = 2", "parameters = 2", "expected a table", "2"),
        ("half = \"wave", "half = \"wafe", "functions.half: unknown name `wafe`", "wafe"),
        ("half = \"wave", "half = \"half", "`half` calls itself", "half"),
        ("half = \"wave(x/2, y)\"", "half = [1, 2]", "expected a formula, found an array", "[1, 2]"),
        ("u = \"wave(x, y)\"", "u = \"wave(x)\"", "`wave` takes 2 arguments, found 1", "wave(x)"),
        ("u = \"wave(x, y)\"", "u = \"t*wave\"", "`t` is the time, and there is none here", "t"),
        ("dirichlet = \"", "dirichlet = \"u + ", "`u` is the solution", "u"),
        ("half = \"wave", "half = \"u*wave", "functions.half: `u` is the solution", "u"),
    ];
    for (good, bad, message, place) in cases {
        assert!(NAMED.contains(good), "{good}");
        let text = NAMED.replacen(good, bad, 1);
        // A key of the whole file cannot stand below a table.
        let text =
            if bad.starts_with("parameters =") { format!("{bad}\n{}", NAMED.replacen(good, "", 1)) } else { text };
        let (found, at) = mistake(&ProblemFile::new(text));
        assert!(found.contains(message), "{bad}: {found}");
        assert_eq!(at, place, "{bad}: {found}");
    }
    assert_eq!(mistake(&ProblemFile::new(NAMED).set("functions.half=wave + haf")).1, "haf");
}

#[test]
fn data_on_a_grid_are_a_coefficient() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("problem.toml");
    let knots = |end: f64| (0..7).map(|i| end * f64::from(i) / 6.0).collect::<Vec<f64>>();
    let (x, y) = (knots(1.0), knots(2.0));
    let of = |x: f64, y: f64| 2.0 + x * x * x - 0.25 * x * y * y;
    let data: Vec<f64> = x.iter().flat_map(|&x| y.iter().map(move |&y| of(x, y))).collect();
    let store = |name: &str, x: &[f64], data: &[f64]| {
        let values = Array { shape: vec![7, 7], data: data.to_vec() };
        let arrays = [("x", Array::vector(x.to_vec())), ("y", Array::vector(y.clone())), ("values", values)];
        npz::write(folder.path().join(name), &arrays).unwrap();
    };
    store("k.npz", &x, &data);
    store("short.npz", &x.iter().map(|x| 0.5 * x).collect::<Vec<_>>(), &data);
    let solve = |diffusion: &str, fields: &str| {
        let text = GOOD.replacen("source", &format!("diffusion = \"{diffusion}\"\nsource"), 1);
        std::fs::write(&path, format!("{text}\n[fields]\n{fields}\n")).unwrap();
        let file = ProblemFile::read(&path).unwrap();
        file.case().and_then(|case| case.solve(&Silent))
    };
    let direct = solve("2 + x^3 - 0.25*x*y^2", "").unwrap();
    // The spline is the cubic itself, to rounding; so few points make 1e-9 of that, also between two ways to write a formula.
    let stored = solve("k", "k = { file = \"k.npz\" }").unwrap();
    let difference = direct.distance(&stored, 20).unwrap().l2;
    assert!(difference < 1e-8, "{difference:e}");
    let outside = solve("k", "k = { file = \"short.npz\" }").err().unwrap().to_string();
    assert!(outside.contains("equation.diffusion: x = ") && outside.contains("outside of the grid"), "{outside}");
    npz::write(folder.path().join("other.npz"), &[("z", Array::vector(vec![1.0]))]).unwrap();
    let other = solve("k", "k = { file = \"other.npz\" }").err().unwrap();
    assert!(other.to_string().contains("no arrays of a field, but [z]"), "{other}");
}

#[test]
fn overrides_give_one_text_that_means_the_same() {
    let file = ProblemFile::new(GOOD).set("discretization.points=11").set("boundary.left.neumann=x*y");
    let again = ProblemFile::new(file.resolved().unwrap()).case().unwrap();
    assert_eq!(again.settings.points, 11);
    assert_eq!(again.problem.conditions[0].values[0].describe(), "x*y");
    assert_eq!(ProblemFile::new(GOOD).resolved().unwrap(), GOOD);
}

#[test]
fn mistakes_are_named_at_their_place() {
    // What to replace in the good file, by what; a part of the message; the text that it points at.
    let cases = [
        ("points = 9", "points = \"9\"", "expected a whole number, found a string", "\"9\""),
        ("points = 9", "points = 9.5", "expected a whole number, found a number", "9.5"),
        ("points = 9", "points = -9", "must not be negative", "-9"),
        ("points = 9", "points = 1", "at least two intervals", "1"),
        ("points = 9", "points = 100000000", "would not fit into memory", "100000000"),
        ("[2, 3]", "[100000, 100000000]", "at most", "[100000, 100000000]"),
        ("points = 9", "poins = 9", "unknown key discretization.poins", "poins"),
        ("points = 9", "", "discretization.points is missing", "[discretization]"),
        ("points = 9", "points = 9\nneurons = 200", "fewer than the neurons", "200"),
        ("points = 9", "points = 9\nneurons = 0", "at least one neuron", "0"),
        ("points = 9", "points = 9\ntolerance = 2", "between 0 and 1", "2"),
        ("points = 9", "points = 9\ncells = 8", "only method = \"fem\" has cells", "8"),
        ("[2, 3]", "[2, 0]", "at least one subdomain", "[2, 0]"),
        ("[2, 3]", "[2]", "expected an array of two", "[2]"),
        ("[2, 3]", "4", "expected an array of two, found a whole number", "4"),
        ("[2, 3]", "[2, 'x']", "expected a whole number, found a string", "'x'"),
        ("x = [0.0, 1.0]", "x = [1.0, 0.0]", "two finite ends, the smaller one first", "[1.0, 0.0]"),
        ("x = [0.0, 1.0]", "", "domain.x is missing", "[domain]"),
        ("[domain]", "[domian]", "unknown key domian", "domian"),
        ("source = ", "sorce = ", "unknown key equation.sorce", "sorce"),
        ("*exp(y)\"\n[b", "*expp(y)\"\n[b", "unknown name `expp`", "expp"),
        ("[boundary]", "", "unknown key equation.dirichlet", "dirichlet"),
        ("dirichlet = ", "dirichlet = 1\nneumann = ", "needs one condition", "\"sin(2*pi*x)*exp(y)\""),
        ("dirichlet = ", "neumann = ", "no unique solution", "\"sin(2*pi*x)*exp(y)\""),
        ("[exact]", "[boundary.lft]\nneumann = 0\n[exact]", "unknown key boundary.lft", "lft"),
        ("[exact]", "[boundary.left]\nrobin = { value = 0 }\n[exact]", "coefficient is missing", "{ value = 0 }"),
        ("[exact]", "[network]\nactivation = \"relu\"\n[exact]", "there is no such choice", "\"relu\""),
        ("[exact]", "[network]\nscale = -1.0\n[exact]", "must be a positive number", "-1.0"),
        ("[exact]", "[interface]\ntolerance = 0\n[exact]", "between 0 and 1", "0"),
    ];
    for (good, bad, message, place) in cases {
        assert!(GOOD.contains(good), "{good}");
        let (found, at) = mistake(&ProblemFile::new(GOOD.replacen(good, bad, 1)));
        assert!(found.contains(message), "{bad}: {found}");
        assert_eq!(at, place, "{bad}: {found}");
    }
}

#[test]
fn a_value_that_is_not_finite_is_found_where_it_comes_from() {
    let cases = [
        ("equation.source=1/(x - x)", "1/(x - x)"),
        ("equation.diffusion=[[1, 0], [0, 'log(-x - 1)']]", "[[1, 0], [0, 'log(-x - 1)']]"),
        ("boundary.left.dirichlet=sqrt(-1 - y)", "sqrt(-1 - y)"),
        ("boundary.dirichlet=0/(y - y)", "0/(y - y)"),
    ];
    for (text, place) in cases {
        let file = ProblemFile::new(GOOD).set(text);
        let error = file.case().unwrap().solve(&Silent).err().expect("the values were accepted");
        assert!(matches!(error, Error::NotFinite { .. }), "{error}");
        let found = file.place(&error).unwrap();
        assert_eq!(&file.text(found.origin)[found.span], place);
    }
}
