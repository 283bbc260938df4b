//! No answer that looks right and is wrong: problems with features, of which none is called solved, without a warning,
//! with an error above ten times the estimate.
//!
//! The problems are generated with fixed seeds and written as problem files, which a failure prints. What the truth is comes
//! from manufactured solutions, from series, from much finer runs or from finite elements.

use std::fmt::Write as _;
use std::sync::Arc;

use ddelm::method::report::Status;
use ddelm::problem::expression::Formula;
use ddelm::problem::field::FieldRef;
use ddelm::{ProblemFile, Report, Silent, function};
use ddelm_fem::case::solve_case;
use rayon::prelude::*;

#[path = "reliability/problems.rs"]
mod problems;

use problems::*;

/// What a solution is compared with.
enum Truth {
    /// A formula.
    Formula(String),
    /// A function.
    Function(FieldRef),
    /// The same file with other settings, and the error that this may have itself.
    Finer(Vec<String>, f64),
    /// Finite elements on a grid with so many cells, and the error that they may have.
    Elements(usize, f64),
}

struct Trial {
    name: String,
    text: String,
    truth: Truth,
}

/// What came out of a trial.
struct Outcome {
    name: String,
    text: String,
    /// None where the problem was refused.
    found: Option<(f64, Report)>,
}

impl Outcome {
    /// Whether the answer looks right and is wrong.
    fn is_silent(&self) -> bool {
        self.found.as_ref().is_some_and(|(error, report)| {
            let estimate = report.estimate.as_ref().map_or(0.0, |e| e.l2);
            report.status == Status::Solved && report.warnings.is_empty() && *error > 10.0 * estimate.max(1e-13)
        })
    }
}

impl Trial {
    fn new(name: impl Into<String>, text: String, truth: Truth) -> Self {
        Trial { name: name.into(), text, truth }
    }

    fn exact(name: impl Into<String>, text: String, u: impl Into<String>) -> Self {
        Self::new(name, text, Truth::Formula(u.into()))
    }

    fn run(self) -> Outcome {
        let file = ProblemFile::new(&self.text);
        let case = file.case().unwrap_or_else(|e| panic!("{}: {e}\n{}", self.name, self.text));
        let solution = match case.solve(&Silent) {
            Ok(solution) => solution,
            Err(error) => {
                println!("{:34} refused: {error}", self.name);
                return Outcome { name: self.name, text: self.text, found: None };
            }
        };
        let resolution = 2 * solution.report.points + 1;
        let against = |field: &FieldRef| solution.errors(field.as_ref(), resolution).unwrap().l2;
        let error = match &self.truth {
            Truth::Formula(text) => against(&(Arc::new(Formula::parse(text).unwrap()) as FieldRef)),
            Truth::Function(field) => against(field),
            Truth::Finer(changes, own) => {
                let finer = changes.iter().fold(file.set("discretization.estimate=false"), |f, c| f.set(c.as_str()));
                let finer = finer.case().unwrap().solve(&Silent).unwrap();
                (solution.distance(&finer, resolution).unwrap().l2 - own).max(0.0)
            }
            Truth::Elements(cells, own) => {
                let file = file.set("method=fem").set(format!("discretization.cells={cells}"));
                let elements: FieldRef = Arc::new(solve_case(&file.case().unwrap()).unwrap().0);
                (against(&elements) - own).max(0.0)
            }
        };
        let report = solution.report;
        let estimate = report.estimate.as_ref().map_or(f64::NAN, |e| e.l2);
        println!(
            "{:34} true {error:.1e} estimated {estimate:.1e} ratio {:8.2} {:?}, {} warnings",
            self.name,
            estimate / error,
            report.status,
            report.warnings.len()
        );
        Outcome { name: self.name, text: self.text, found: Some((error, report)) }
    }
}

/// Runs the trials, prints the problem files of those that look right and are wrong, and returns all outcomes.
fn run(trials: Vec<Trial>) -> Vec<Outcome> {
    let outcomes: Vec<Outcome> = trials.into_par_iter().map(Trial::run).collect();
    let mut silent = String::new();
    for outcome in outcomes.iter().filter(|o| o.is_silent()) {
        let (error, report) = outcome.found.as_ref().unwrap();
        let estimate = report.estimate.as_ref().map(|e| e.l2);
        writeln!(silent, "# {}: error {error:.1e}, estimate {estimate:?}\n{}\n", outcome.name, outcome.text).unwrap();
    }
    assert!(silent.is_empty(), "these look right and are wrong:\n{silent}");
    outcomes
}

/// What a problem file is refused with.
fn refusal(text: &str) -> String {
    match ProblemFile::new(text).case().and_then(|case| case.solve(&Silent)) {
        Ok(solution) => panic!("{:?}\n{text}", solution.report.status),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_is_not_elliptic_is_refused_with_point_and_eigenvalue() {
    let spot = "1 - 2*exp(-1e5*((x - 0.31)^2 + (y - 0.44)^2))";
    for (diffusion, words) in [
        (
            "[[\"1\", \"2\"], [\"2\", \"1\"]]",
            "[[1, 2], [2, 1]]: the tensor must be positive definite, and has the eigenvalue -1",
        ),
        ("[[\"1\", \"0\"], [\"3\", \"1\"]]", "eigenvalue -0.5 at x = "),
        ("\"x - 0.5\"", "the diffusion must be positive, at x = "),
        ("-1", "the diffusion must be positive"),
        (&format!("\"{spot}\""), "the diffusion must be positive, at x = 0.3"),
    ] {
        let text = file(&format!("diffusion = {diffusion}\nsource = \"1\""), "dirichlet = \"0\"", [4, 4], 12);
        let message = refusal(&text);
        assert!(message.contains(words), "{message}");
        let elements = solve_case(&ProblemFile::new(&text).set("method=fem").case().unwrap());
        let same = elements.err().unwrap().to_string();
        assert!(same.contains("positive") || same.contains("symmetric"), "{same}");
    }
    // A rotation does no harm, and Helmholtz is no question of ellipticity.
    for equation in ["diffusion = [[\"1\", \"5\"], [\"-5\", \"1\"]]\nsource = \"1\"", "reaction = -30\nsource = \"1\""]
    {
        let text = file(equation, "dirichlet = \"0\"", [2, 2], 12);
        assert_eq!(ProblemFile::new(text).case().unwrap().solve(&Silent).unwrap().report.status, Status::Solved);
    }
}

#[test]
fn a_rigidity_that_varies_or_is_negative_is_refused() {
    let plate = |rigidity: &str| {
        let equation = format!("plate = {{ load = \"1\", rigidity = \"{rigidity}\" }}");
        file(&equation, "dirichlet = \"0\"\nlaplacian = \"0\"", [2, 2], 12)
    };
    assert!(refusal(&plate("1 + x")).contains("equation.plate.rigidity = 1 + x: a rigidity that varies"));
    assert!(refusal(&plate("-2")).contains("the rigidity must be positive"));
    assert!(ProblemFile::new(plate("2")).case().unwrap().solve(&Silent).is_ok());
}

#[test]
fn an_exact_solution_that_is_none_is_reported() {
    let solve = |source: &str, boundary: &str| {
        let text =
            file(&format!("source = \"{source}\""), boundary, [2, 2], 12) + "[exact]\nu = \"sin(pi*x)*sin(pi*y)\"\n";
        ProblemFile::new(text).case().unwrap().solve(&Silent).unwrap().report
    };
    let right = solve("2*pi^2*sin(pi*x)*sin(pi*y)", "dirichlet = \"0\"");
    assert!(right.warnings.is_empty() && right.status == Status::Solved, "{:?}", right.warnings);
    let wrong = solve("-2*pi^2*sin(pi*x)*sin(pi*y)", "dirichlet = \"0\"");
    assert!(wrong.warnings[0].contains("exact.u does not satisfy the equation: at x = "), "{:?}", wrong.warnings);
    // Nothing is known about the solution then, except that it is not this.
    assert_eq!((wrong.status, wrong.warnings.len()), (Status::Solved, 1));
    let wrong = solve("2*pi^2*sin(pi*x)*sin(pi*y)", "dirichlet = \"0\"\nleft = { dirichlet = \"1e-4\" }");
    assert_eq!(wrong.warnings.len(), 1);
    assert!(wrong.warnings[0].contains("the condition boundary.left: at x = 0.0"), "{:?}", wrong.warnings);
    let wrong = solve("2*pi^2*sin(pi*x)*sin(pi*y)", "dirichlet = \"0\"\ntop = { neumann = \"3*sin(pi*x)\" }");
    assert!(wrong.warnings[0].contains("the condition boundary.top"), "{:?}", wrong.warnings);
}

#[test]
fn an_error_far_above_its_estimate_is_reported() {
    // A spike between the points at which the exact solution is looked at.
    let text = |height: f64| {
        let boundary = "dirichlet = \"sin(3*x)*exp(y)\"";
        let file = file("source = \"8*sin(3*x)*exp(y)\"", boundary, [4, 4], 14);
        format!(
            "{file}estimate = true\n[exact]\nu = \"sin(3*x)*exp(y) + {height}*exp(-2e4*((x - 0.31)^2 + (y - 0.44)^2))\"\n"
        )
    };
    let report = |height| ProblemFile::new(text(height)).case().unwrap().solve(&Silent).unwrap().report;
    let (doubtful, sure) = (report(0.01), report(0.0));
    assert!(doubtful.errors.unwrap().l2 > 1e-6 && doubtful.estimate.unwrap().l2 < 1e-8);
    assert!(doubtful.warnings.iter().any(|w| w.contains("estimate or the exact")), "{:?}", doubtful.warnings);
    assert_eq!((sure.warnings, sure.status), (Vec::new(), Status::Solved));
}

/// Coefficients of a region are those of the region when an exact solution is checked.
#[test]
fn an_exact_solution_in_two_materials_is_recognised() {
    let report = |inner: &str| {
        let text = format!(
            "[domain]\ncircle = {{ center = [0, 0], radius = 1 }}\n[[domain.region]]\nname = \"a\"\n\
             circle = {{ center = [0, 0], radius = 0.5 }}\n[equation]\nsource = 4\n[equation.regions.a]\n\
             diffusion = {inner}\n[boundary]\ndirichlet = 0\n[discretization]\npoints = 12\n[exact]\n\
             u = \"if(x^2 + y^2 > 0.25, 1 - x^2 - y^2, 0.75 + (0.25 - x^2 - y^2)/100)\"\n"
        );
        ProblemFile::new(text).case().unwrap().solve(&Silent).unwrap().report
    };
    let right = report("100");
    assert!(right.warnings.is_empty() && right.errors.unwrap().l2 < 1e-9, "{:?}", right.warnings);
    let wrong = report("50");
    assert!(wrong.warnings[0].contains("exact.u does not satisfy the equation"), "{:?}", wrong.warnings);
}

#[test]
fn a_large_estimate_is_a_status_and_a_warning() {
    let text = file("source = \"1\"\nreaction = -5000", "dirichlet = \"0\"", [2, 2], 8);
    let report = ProblemFile::new(text).case().unwrap().solve(&Silent).unwrap().report;
    assert!(report.estimate.unwrap().l2 > 1e-2);
    assert_eq!(report.status, Status::Unresolved);
    assert!(report.warnings.iter().any(|w| w.contains("the estimated error is")), "{:?}", report.warnings);
}

#[test]
fn a_tolerance_is_not_met_by_two_blind_solutions() {
    // No node of the first decompositions sees the spike: all of them agree that u = 0.
    let spike = "1e4*exp(-1e5*((x - 0.31)^2 + (y - 0.44)^2))";
    let text = file(&format!("source = \"{spike}\""), "dirichlet = \"0\"", [2, 2], 8) + "tolerance = 1e-3\n";
    let solution = ProblemFile::new(&text).case().unwrap().solve(&Silent).unwrap();
    let u = solution.values(&[0.31], &[0.44])[0];
    let solved = solution.report.status == Status::Solved;
    // Its mass over 2 pi times a logarithm: about 0.25 at the spike.
    assert!(!solved || (0.1..0.5).contains(&u), "{u} {:?}", solution.report.attempts);
}

#[test]
fn without_an_estimate_a_jump_inside_is_still_warned_of() {
    let text = file("diffusion = \"1 + 99*step(x - 0.4)\"\nsource = \"1\"", "dirichlet = \"0\"", [4, 4], 12)
        + "estimate = false\n";
    let report = ProblemFile::new(text).case().unwrap().solve(&Silent).unwrap().report;
    assert!(report.warnings[0].starts_with("equation.diffusion is not resolved in 4 of 44 subdomains"), "{report:?}");
}

#[test]
fn jumps_inside_subdomains() {
    run(jumps_inside());
}

#[test]
fn jumps_along_lines() {
    for outcome in run(jumps_on_lines()).iter().filter(|o| o.name.starts_with("jump on a line at 0.500")) {
        let (error, report) = outcome.found.as_ref().unwrap();
        assert!(*error < 1e-9 && report.warnings.is_empty(), "{}: {error:e} {:?}", outcome.name, report.warnings);
    }
}

#[test]
fn peaks_and_spikes_are_not_missed() {
    run(peaks_and_spikes());
}

#[test]
fn fronts_and_layers_are_not_missed() {
    run(fronts_and_layers());
}

#[test]
fn near_resonances() {
    for outcome in run(resonances()) {
        let (error, report) = outcome.found.unwrap();
        let estimate = report.estimate.unwrap().l2;
        assert!(error <= 10.0 * estimate, "{}: {error:e} {estimate:e}", outcome.name);
    }
}

#[test]
fn oscillating_coefficients() {
    run(oscillating());
}

#[test]
fn thin_rectangles_and_all_kinds_of_conditions() {
    run(thin_rectangles_and_conditions());
}

#[test]
fn other_domains_than_rectangles() {
    run(other_domains());
}

#[test]
fn periodic_sides_are_estimated_as_such() {
    for outcome in run(periodic_sides()).iter().filter(|o| o.name.contains("smooth")) {
        let (error, report) = outcome.found.as_ref().unwrap();
        let estimate = report.estimate.as_ref().unwrap().l2;
        assert!(
            report.status == Status::Solved && estimate < 20.0 * error.max(1e-12),
            "{}: {estimate:e}",
            outcome.name
        );
    }
}

/// An integrand that jumps inside of subdomains, has a peak between the points or is infinite somewhere has another integral by another rule.
#[test]
fn integrals_of_what_is_not_smooth_are_warned_of() {
    let warnings = |integrand: &str| {
        let text = format!(
            "[domain]\nx = [0, 1]\ny = [0, 1]\n[equation]\nsource = 1\n[boundary]\ndirichlet = 0\n[output]\n\
             integrals = {{ i = \"integral({integrand})\" }}\n[discretization]\nsubdomains = [2, 2]\npoints = 10\nestimate = false\n"
        );
        ProblemFile::new(&text).case().unwrap().solve(&Silent).unwrap().report.warnings
    };
    for smooth in ["u", "u^2*x", "ux^2 + uy^2", "exp(x)*sin(9*y)", "0", "if(x < 0.5, 1, 2)"] {
        assert_eq!(warnings(smooth), Vec::<String>::new(), "{smooth}");
    }
    for rough in ["if(x < 0.3, 1, 0)", "exp(-((x - 0.4)^2 + (y - 0.4)^2)/1e-5)", "1/x", "sin(900*x)^2"] {
        assert!(warnings(rough).iter().any(|warning| warning.starts_with("output.integrals.i: ")), "{rough}");
    }
}
