//! Eigenvalues: the figures that are known in closed form, multiplicities, estimates.

use std::f64::consts::PI;

use ddelm::method::report::{Eigenvalue, Status};
use ddelm::solve::eigenvalues::Eigenpair;
use ddelm::{ProblemFile, Silent, formula};

fn find(text: &str) -> Vec<Eigenpair> {
    let file = ProblemFile::new(text);
    file.case().and_then(|case| case.eigenpairs(&Silent)).unwrap_or_else(|error| panic!("{error}"))
}

/// Compares with known eigenvalues, in relative terms, and checks that estimates are honest: true within a factor of ten,
/// above rounding.
fn compare(found: &[Eigenpair], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (pair, &expected) in found.iter().zip(expected) {
        let eigenvalue = pair.eigenvalue;
        let error = (eigenvalue.value - expected).abs();
        println!("{:.15e}  error {:.1e}  estimate {:?}", eigenvalue.value, error / expected, eigenvalue.estimate);
        assert!(error <= tolerance * expected.abs(), "{expected}: {error:.1e}");
        assert_eq!(eigenvalue.imaginary, 0.0);
        if let Some(estimate) = eigenvalue.estimate {
            assert!(error <= 10.0 * estimate, "{expected}: {error:.1e}, estimated {estimate:.1e}");
        }
    }
}

fn square_eigenvalues(count: usize) -> Vec<f64> {
    let mut all: Vec<f64> = (1..12).flat_map(|i| (1..12).map(move |j| f64::from(i * i + j * j) * PI * PI)).collect();
    all.sort_by(f64::total_cmp);
    all.truncate(count);
    all
}

const SQUARE: &str = "
    [domain]
    x = [0.0, 1.0]
    y = [0.0, 1.0]
    [equation]
    [boundary]
    dirichlet = 0
    [discretization]
    subdomains = [4, 4]
    points = 16
    [eigenvalues]
    count = 10
";

#[test]
fn the_square_has_its_first_ten_with_their_multiplicities() {
    let found = find(SQUARE);
    compare(&found, &square_eigenvalues(10), 1e-12);
    let first = &found[0].function;
    assert_eq!((first.report.status, first.report.eigenvalues.len()), (Status::Solved, 10));
    // Normalised in L2, positive: 2 sin(pi x) sin(pi y).
    for (x, y) in [(0.5, 0.5), (0.2, 0.7)] {
        let error = first.values(&[x], &[y])[0] - 2.0 * (PI * x).sin() * (PI * y).sin();
        assert!(error.abs() < 1e-11, "{error:.1e}");
    }
    // Alone it is the same one.
    let alone = ProblemFile::new(SQUARE).case().unwrap().solve(&Silent).unwrap();
    assert_eq!(alone.report.eigenvalues, first.report.eigenvalues);
    assert!((alone.values(&[0.2], &[0.7])[0] - first.values(&[0.2], &[0.7])[0]).abs() < 1e-12);
}

#[test]
fn inner_eigenvalues_are_those_near_a_number() {
    let found = find(&format!("{SQUARE}\nnear = 500.0").replace("count = 10", "count = 6"));
    let mut expected: Vec<f64> =
        (1..19).flat_map(|i| (1..19).map(move |j| f64::from(i * i + j * j) * PI * PI)).collect();
    expected.sort_by(|a, b| (a - 500.0).abs().total_cmp(&(b - 500.0).abs()));
    expected.truncate(6);
    expected.sort_by(f64::total_cmp);
    compare(&found, &expected, 1e-9);
}

#[test]
fn an_eigenvalue_of_multiplicity_three_is_found_three_times() {
    // 50 = 5^2 + 5^2 = 1 + 7^2 = 7^2 + 1; next to it are 49 and 53.
    let found = find(&format!("{SQUARE}\nnear = 495.0").replace("count = 10", "count = 3"));
    compare(&found, &[50.0 * PI * PI; 3], 1e-10);
}

#[test]
fn a_number_that_is_an_eigenvalue_does_no_harm() {
    let found = find(&format!("{SQUARE}\nnear = {:?}", 5.0 * PI * PI).replace("count = 10", "count = 2"));
    compare(&found, &[5.0 * PI * PI, 5.0 * PI * PI], 1e-10);
}

#[test]
fn the_disk_has_squares_of_zeros_of_bessel_functions() {
    let found = find(
        "
        [domain]
        circle = { center = [0.0, 0.0], radius = 1.0 }
        [equation]
        [boundary]
        dirichlet = 0
        [discretization]
        points = 16
        [eigenvalues]
        count = 10
        ",
    );
    let zeros = [
        2.404825557695773,
        3.8317059702075125,
        3.8317059702075125,
        5.135622301840683,
        5.135622301840683,
        5.520078110286311,
        6.380161895923983,
        6.380161895923983,
        7.015586669815619,
        7.015586669815619,
    ];
    compare(&found, &zeros.map(|z: f64| z * z), 1e-10);
}

#[test]
fn the_l_shape_has_its_own_with_rings_about_its_corner() {
    let found = find(
        "
        [domain]
        polygon = [[0, 0], [1, 0], [1, 1], [-1, 1], [-1, -1], [0, -1]]
        [equation]
        [boundary]
        dirichlet = 0
        [discretization]
        points = 16
        corners = \"auto\"
        [eigenvalues]
        count = 10
        ",
    );
    // L. N. Trefethen, T. Betcke, Computed eigenmodes of planar regions (2006), and two that are those of squares; the others
    // with 20 points, where 16 and 20 differ by 7e-12.
    let expected = [
        9.6397238440219,
        15.19725192645,
        2.0 * PI * PI,
        29.521481114145,
        31.912635957138,
        41.474509890215,
        44.948487781351,
        5.0 * PI * PI,
        5.0 * PI * PI,
        56.709609887385,
    ];
    // Those references are no better than that.
    let uncertain = |(pair, expected): (&Eigenpair, &f64)| (pair.eigenvalue.value - expected).abs() < 7e-12 * expected;
    assert!(found.iter().zip(&expected).all(uncertain));
    let known = [0, 2, 7, 8].map(|k| expected[k]);
    compare(&[0, 2, 7, 8].map(|k: usize| found[k].clone()), &known, 1e-9);
    let first = &found[0].function;
    assert!((first.integrate(formula("u^2").unwrap().as_ref(), None).unwrap() - 1.0).abs() < 1e-10, "normalised");
}

#[test]
fn a_free_membrane_has_the_eigenvalue_zero() {
    let found = find(&SQUARE.replace("dirichlet = 0", "neumann = 0").replace("count = 10", "count = 4"));
    assert!(found[0].eigenvalue.value.abs() < 1e-10, "{:e}", found[0].eigenvalue.value);
    compare(&found[1..], &[PI * PI, PI * PI, 2.0 * PI * PI], 1e-11);
}

#[test]
fn plates_have_theirs() {
    let plate = |conditions: &str, count: usize| {
        let text = SQUARE.replace("[equation]", "[equation]\nplate = { rigidity = 2 }");
        find(&text.replace("dirichlet = 0", conditions).replace("count = 10", &format!("count = {count}")))
    };
    let supported: Vec<f64> = square_eigenvalues(4).iter().map(|v| 2.0 * v * v).collect();
    compare(&plate("dirichlet = 0\nlaplacian = 0", 4), &supported, 1e-8);
    // Known to seven digits or more from several methods: 1294.93397959..., twice that with rigidity 2.
    compare(&plate("dirichlet = 0\nnormal = 0", 1), &[2.0 * 1_294.933_979_59], 1e-7);
}

#[test]
fn complex_eigenvalues_come_in_pairs() {
    // A rotating flow on a square: the eigenvalues for functions that turn are complex.
    let text = SQUARE.replace("[equation]", "[equation]\nadvection = [\"-40*(y - 0.5)\", \"40*(x - 0.5)\"]");
    let found = find(&text.replace("count = 10", "count = 3"));
    let values: Vec<[f64; 2]> = found.iter().map(|p| [p.eigenvalue.value, p.eigenvalue.imaginary]).collect();
    assert_eq!(values[0][1], 0.0);
    assert!(values[1][1].abs() > 1.0 && (values[1][1] + values[2][1]).abs() < 1e-8 * values[1][1].abs(), "{values:?}");
    assert!((values[1][0] - values[2][0]).abs() < 1e-8 * values[1][0], "{values:?}");
    assert!(found.iter().all(|pair| pair.eigenvalue.estimate.unwrap() < 1e-8 * values[0][0]));
}

#[test]
fn few_points_have_honest_estimates() {
    // One eigenvalue of the second decomposition is near one of the first by chance: its neighbours tell.
    for (counts, points, error) in [("[4, 4]", 6, 1e-3), ("[3, 3]", 8, 1e-4), ("[2, 2]", 10, 1e-5)] {
        let text = SQUARE.replace("[4, 4]", counts).replace("points = 16", &format!("points = {points}"));
        compare(&find(&text), &square_eigenvalues(10), error);
    }
}

#[test]
fn forty_eigenvalues_converge() {
    let found = find(&SQUARE.replace("count = 10", "count = 40"));
    assert_eq!(found[0].function.report.status, Status::Solved);
    compare(&found, &square_eigenvalues(40), 1e-10);
}

#[test]
fn advection_magnifies_rounding_and_that_is_told() {
    // exp(b x / 2) makes a Laplacian of it: all eigenvalues are b^2 / 4 larger, and the more errors are magnified the larger b is.
    let with = |b: f64| {
        let found = find(&SQUARE.replace("[equation]", &format!("[equation]\nadvection = [{b:?}, 0.0]")));
        let exact: Vec<f64> = square_eigenvalues(10).iter().map(|v| v + b * b / 4.0).collect();
        (found, exact)
    };
    for (b, error) in [(5.0, 1e-12), (20.0, 1e-9)] {
        let (found, exact) = with(b);
        assert_eq!(found[0].function.report.status, Status::Solved, "b = {b}");
        compare(&found, &exact, error);
    }
    // Nothing is left of them here.
    for b in [60.0, 200.0] {
        let (found, exact) = with(b);
        assert_ne!(found[0].function.report.status, Status::Solved);
        for (pair, exact) in found.iter().zip(&exact) {
            let Eigenvalue { value, imaginary, estimate } = pair.eigenvalue;
            let error = (value - exact).hypot(imaginary);
            assert!(error <= 10.0 * estimate.unwrap(), "{value} + {imaginary} i: {error:.1e}, estimated {estimate:?}");
        }
    }
}

#[test]
fn zero_is_an_eigenvalue_like_others() {
    let text = SQUARE.replace("dirichlet = 0", "periodic = [\"x\", \"y\"]").replace("count = 10", "count = 5");
    let found = find(&text.replace("[equation]", "[equation]\nadvection = [5.0, 0.0]"));
    let report = &found[0].function.report;
    assert_eq!(report.status, Status::Solved, "{:?}", report.warnings);
    assert!(found[0].eigenvalue.value.abs() < 1e-10);
    // (2 pi)^2 + 5 (2 pi) i, its conjugate, and twice (2 pi)^2.
    for pair in &found[1..] {
        let Eigenvalue { value, imaginary, .. } = pair.eigenvalue;
        assert!((value - 4.0 * PI * PI).abs() < 1e-10);
        assert!(imaginary == 0.0 || (imaginary.abs() - 10.0 * PI).abs() < 1e-10, "{imaginary}");
    }
}

/// The first eigenvalues of the clamped unit square. P. E. Bjorstad, B. P. Tjostheim, High precision solutions of two fourth order
/// eigenvalue problems (1999), and, of the antisymmetric ones, what is agreed on by finer decompositions.
const CLAMPED: [f64; 3] = [1_294.933_979_591_712_8, 5_386.656_560_777_9, 5_386.656_560_777_9];

#[test]
fn clamped_plates_have_honest_estimates() {
    let text =
        SQUARE.replace("[equation]", "[equation]\nplate = { }").replace("dirichlet = 0", "dirichlet = 0\nnormal = 0");
    for (counts, points) in [("[4, 4]", 14), ("[4, 4]", 20), ("[6, 6]", 14), ("[8, 8]", 12)] {
        let text = text.replace("[4, 4]", counts).replace("points = 16", &format!("points = {points}"));
        compare(&find(&text.replace("count = 10", "count = 3")), &CLAMPED, 2e-7);
    }
}

#[test]
fn small_elements_at_the_corners_make_clamped_plates_exact() {
    let text = SQUARE
        .replace("[equation]", "[equation]\nplate = { }")
        .replace("dirichlet = 0", "dirichlet = 0\nnormal = 0")
        .replace("points = 16", "points = 16\ncorners = \"all\"\nestimate = false")
        .replace("count = 10", "count = 3");
    // From 1/4 at the corners to 1/64: four levels of three squares each.
    let found = find(&text);
    assert_eq!(found[0].function.report.subdomains, 16 + 4 * 4 * 3);
    compare(&found, &CLAMPED, 3e-10);
}

#[test]
fn what_cannot_be_found_is_refused_with_the_reason() {
    let refused = |text: String| ProblemFile::new(text).case().err().map(|error| error.to_string());
    for (from, to, word) in [
        ("count = 10", "count = 0", "between 1"),
        ("count = 10", "near = 1", "count"),
        ("[equation]", "[equation]\nplate = { }\n[other]", "other"),
        ("[domain]", "preset = \"paper\"\n[domain]", "share"),
        ("points = 16", "points = 16\ntolerance = 1e-8", "eigenvalues"),
    ] {
        let message = refused(SQUARE.replace(from, to)).unwrap_or_default();
        assert!(message.contains(word), "{to}: {message}");
    }
    let plate = SQUARE
        .replace("[equation]", "[equation]\nplate = { }")
        .replace("dirichlet = 0", "dirichlet = 0\nlaplacian = 0");
    assert!(refused(format!("{plate}\nnear = 10.0")).unwrap().contains("plate"));
}
