//! Nonlinear problems, from problem files: the cases that Newton's method was designed with, and what goes wrong.

use ddelm::method::report::NonlinearReport;
use ddelm::method::report::Status;
use ddelm::{ProblemFile, Silent, Solution};

/// Factorizations with all points that a case may take, that of an initial guess included.
const FACTORIZATIONS: usize = 8;

const SQUARE: &str = "[domain]\nx = [0.0, 1.0]\ny = [0.0, 1.0]\n[discretization]\nsubdomains = [4, 4]\npoints = 16\n";

/// u = sin(3 x + y) exp(y).
const WAVE: &str = r#"
[functions]
w = "sin(3*x + y)*exp(y)"
wx = "3*cos(3*x + y)*exp(y)"
wy = "(cos(3*x + y) + sin(3*x + y))*exp(y)"
lap = "(2*cos(3*x + y) - 9*sin(3*x + y))*exp(y)"
[boundary]
dirichlet = "w"
[exact]
u = "w"
"#;

/// u = exp(x + y/2) + x, with the parts of div(g(|grad u|^2) grad u) = g lap + 2 g' bend.
const EXPONENTIAL: &str = r#"
[functions]
w = "exp(x + y/2) + x"
s = "(exp(x + y/2) + 1)^2 + exp(2*x + y)/4"
lap = "1.25*exp(x + y/2)"
bend = "exp(x + y/2)*((exp(x + y/2) + 1)^2 + (exp(x + y/2) + 1)*exp(x + y/2)/2 + exp(2*x + y)/16)"
[boundary]
dirichlet = "w"
[exact]
u = "w"
"#;

fn solve(text: &str) -> Solution {
    ProblemFile::new(text).case().unwrap().solve(&Silent).unwrap()
}

fn newton(solution: &Solution) -> &NonlinearReport {
    solution.report.nonlinear.as_ref().expect("the problem is nonlinear")
}

/// Solves, and checks error, factorizations, status and warnings.
fn check(name: &str, text: &str, error: f64) -> Solution {
    let solution = solve(text);
    let (report, found) = (newton(&solution), solution.report.errors.unwrap().l2);
    let steps: Vec<String> =
        report.steps.iter().map(|s| format!("{:.0e}{}", s.change, if s.factored { "*" } else { "" })).collect();
    let (count, start) = (report.factorizations, report.start);
    println!("{name}: error {found:.1e}, {count} factorizations, steps {}, {start:?}", steps.join(" "));
    assert_eq!(solution.report.status, Status::Solved, "{name}");
    assert_eq!(solution.report.warnings, Vec::<String>::new(), "{name}");
    assert!(found < error, "{name}: {found:e}");
    assert!(report.factorizations <= FACTORIZATIONS, "{name}: {} factorizations", report.factorizations);
    solution
}

/// The cases that Newton's method was designed with: functions, equation, boundary values and exact solution.
fn cases() -> Vec<(String, String)> {
    let mut cases = Vec::new();
    let mut add = |name: &str, functions: &str, equation: &str| {
        let values =
            if functions.contains("[exact]") { "" } else { "[boundary]\ndirichlet = \"w\"\n[exact]\nu = \"w\"\n" };
        cases.push((name.to_string(), format!("{functions}[equation]\n{equation}{values}")));
    };
    for amplitude in [1, 30] {
        let w = format!("[functions]\nw = \"{amplitude}*sin(2*pi*x)*exp(y)\"\n");
        let equation = "reaction = \"u^2\"\nsource = \"(4*pi^2 - 1)*w + w^3\"\n";
        add(&format!("u^3, amplitude {amplitude}"), &w, equation);
    }
    let w = "[functions]\nw = \"2*sin(2*pi*x)*exp(y)\"\n";
    add("100 sinh u", w, "source = \"(4*pi^2 - 1)*w + 100*sinh(w) - 100*sinh(u)\"\n");
    let source = "source = \"-(1 + w^2)*lap - 2*w*(wx^2 + wy^2)\"\n";
    add("1 + u^2", WAVE, &format!("diffusion = \"1 + u^2\"\n{source}"));
    add("1 + u^2 as a tensor", WAVE, &format!("diffusion = [[\"1 + u^2\", 0], [0, \"1 + u^2\"]]\n{source}"));
    let burgers = "diffusion = 0.05\nadvection = [\"u\", \"u\"]\nsource = \"-0.05*lap + w*(wx + wy)\"\n";
    add("Burgers", WAVE, burgers);
    let surface = "diffusion = \"1/sqrt(1 + ux^2 + uy^2)\"\nsource = 0\n";
    add("minimal surface", "[functions]\nw = \"log(cos(y - 0.5)/cos(x - 0.5))\"\n", surface);
    add("p = 4", EXPONENTIAL, "diffusion = \"ux^2 + uy^2\"\nsource = \"-(s*lap + 2*bend)\"\n");
    let less = "diffusion = \"(ux^2 + uy^2 + 1e-6)^(-0.25)\"\n\
                source = \"-(s + 1e-6)^(-0.25)*lap + 0.5*(s + 1e-6)^(-1.25)*bend\"\n";
    add("p = 1.5", EXPONENTIAL, less);
    // -Laplacian u = exp(u), both solutions.
    for (name, b, initial) in
        [("lower", "3 - sqrt(8)", "0"), ("upper", "3 + sqrt(8)", "3.8 - 5.5*((x - 0.5)^2 + (y - 0.5)^2)")]
    {
        let w = format!(
            "[nonlinear]\ninitial = \"{initial}\"\n[functions]\nb = \"{b}\"\n\
             w = \"log(8*b) - 2*log(1 + b*((x - 0.5)^2 + (y - 0.5)^2))\"\n"
        );
        add(&format!("Bratu, {name}"), &w, "source = \"exp(u)\"\n");
    }
    cases
}

#[test]
fn a_first_correction_may_be_far_too_long() {
    // At u = 0 nothing of u^3 is seen: the first correction is 1e4 times the solution and more.
    for amplitude in ["1e3", "1e5"] {
        let text = format!(
            "{SQUARE}[functions]\nw = \"{amplitude}*sin(2*pi*x)*exp(y)\"\n[equation]\nreaction = \"u^2\"\n\
             source = \"(4*pi^2 - 1)*w + w^3\"\n[boundary]\ndirichlet = \"w\"\n[exact]\nu = \"w\"\n"
        );
        check(&format!("u^3, amplitude {amplitude}"), &text, 1e-6);
    }
}

const DISK: &str = "[domain]\ncircle = { center = [0.5, 0.5], radius = 0.5 }\n[discretization]\npoints = 16\n";

const CORNER: &str =
    "[domain]\npolygon = [[0, 0], [1, 0], [1, 0.5], [0.5, 0.5], [0.5, 1], [0, 1]]\n[discretization]\npoints = 16\n";

/// All cases on a domain. Those with fewer points count as any other factorization.
fn check_all(domain: &str, discretization: &str, error: f64) {
    for (name, text) in cases() {
        let solution = check(&format!("{name}, {domain}"), &format!("{discretization}{text}"), error);
        let report = newton(&solution);
        let all = report.factorizations + report.start.map_or(0, |start| start.factorizations);
        assert!(all <= FACTORIZATIONS, "{name}, {domain}: {all} factorizations with fewer points or all of them");
    }
}

#[test]
fn the_square() {
    check_all("square", SQUARE, 1e-11);
}

#[test]
fn a_disk() {
    check_all("disk", DISK, 1e-9);
}

#[test]
fn an_l_shape() {
    check_all("L-shape", CORNER, 1e-9);
}

const SCHERK: &str = r#"
domain = { x = [-1.0, 1.0], y = [-1.0, 1.0] }
discretization = { subdomains = [4, 4], points = 16 }
equation = { diffusion = "1/sqrt(1 + ux^2 + uy^2)", source = 0 }
boundary = { dirichlet = "log(cos(y)/cos(x))" }
exact = { u = "log(cos(y)/cos(x))" }
"#;

const RE_ENTRANT: &str = r#"
domain = { polygon = [[0, 0], [1, 0], [1, 1], [-1, 1], [-1, -1], [0, -1]] }
[functions]
w = "hypot(x, y)^(2/3)*sin(2/3*(0.75*pi + atan2(-(x + y), y - x)))"
squared = "4/9*hypot(x, y)^(-2/3)"
[boundary]
dirichlet = "w"
[exact]
u = "w"
[discretization]
points = 16
size = 0.5
"#;

/// `r^(2/3)` at the corner of an L-shape: fixed subdomains, and a tolerance.
#[test]
fn corners_have_rings() {
    let text = format!("{RE_ENTRANT}[equation]\nreaction = \"u^2\"\nsource = \"w^3\"\n");
    let found = |text: &str, settings: &[&str]| {
        let file = settings.iter().fold(ProblemFile::new(text), |file, setting| file.set(*setting));
        let report = file.case().unwrap().solve(&Silent).unwrap().report;
        (report.rings, report.subdomains, report.errors.unwrap().l2)
    };
    let fixed = found(&text, &[]);
    assert!(fixed.0 == 1 && fixed.2 < 1e-11, "{fixed:?}");
    let none = found(&text, &["discretization.corners=none"]);
    assert!(none.0 == 0 && none.2 > 1e-5, "{none:?}");
    let free = text.replace("points = 16\nsize = 0.5", "tolerance = 1e-9");
    let tolerance = found(&free, &[]);
    assert!(tolerance.0 == 1 && tolerance.1 < 100 && tolerance.2 < 1e-9, "{tolerance:?}");
}

/// A diffusion that depends on u has exponents that are known once u is, and what depends on its gradient has none.
#[test]
fn corners_have_rings_where_the_diffusion_depends_on_u() {
    let text = format!("{RE_ENTRANT}[equation]\ndiffusion = \"1 + u^2\"\nsource = \"-2*w*squared\"\n");
    let solution = check("1 + u^2 at a corner", &text, 1e-10);
    assert!(solution.report.rings >= 1);
    let tolerance = solve(&text.replace("points = 16\nsize = 0.5", "tolerance = 1e-9"));
    assert!(tolerance.report.subdomains < 150, "{} subdomains", tolerance.report.subdomains);
    assert!(tolerance.report.errors.unwrap().l2 < 1e-9 && tolerance.report.rings >= 1);
    let refused = ProblemFile::new(&text).set("discretization.corners=all").case().unwrap().solve(&Silent);
    assert!(refused.err().unwrap().to_string().contains("neither the diffusion depends on u"));
    let by_slopes = text.replace("1 + u^2", "1 + u^2 + 1e-9*ux^2").replace("points = 16", "points = 8");
    assert_eq!(solve(&by_slopes).report.rings, 0);
}

/// `-Laplacian u = 5 exp(u)`, u = 0: the data do not fit at the corners of a square, as `f = 1` does not.
#[test]
fn right_angles_have_rings_where_the_solution_needs_them() {
    let text = format!("{SQUARE}[equation]\nsource = \"5*exp(u)\"\n[boundary]\ndirichlet = 0\n");
    let found = |corners: &str| {
        let solution = ProblemFile::new(&text).set(corners).case().unwrap().solve(&Silent).unwrap();
        println!("{corners}: {:?}, {:?}", solution.report.estimate.as_ref().unwrap().l2, newton(&solution));
        solution
    };
    let [auto, all, none] = ["auto", "all", "none"].map(|which| found(&format!("discretization.corners={which}")));
    assert_eq!([&auto, &all, &none].map(|solution| solution.report.rings), [4, 4, 0]);
    assert!(auto.report.estimate.as_ref().unwrap().l2 < 1e-11);
    let distance = |other: &Solution| auto.distance(other, 24).unwrap().l2;
    assert!(distance(&all) < 1e-12 && distance(&none) > 1e-8, "{:e} {:e}", distance(&all), distance(&none));
    assert!(newton(&auto).factorizations <= FACTORIZATIONS);
}

/// A square in a square, whose corners have exponents that are known once u is. Rounding in rings where materials meet is no reason to go on.
#[test]
fn corners_of_materials_that_depend_on_u_have_rings() {
    let text = r#"
domain = { x = [0, 1], y = [0, 1], region = [{ name = "inner", x = [0.25, 0.75], y = [0.25, 0.75] }] }
equation = { diffusion = "1 + u^2", source = "10*exp(-u)", regions = { inner = { diffusion = "20/(1 + u)" } } }
boundary = { dirichlet = 0 }
discretization = { size = 0.25, points = 14 }
"#;
    let solution = solve(text);
    assert_eq!((solution.report.status, solution.report.rings), (Status::Solved, 8));
    assert!(solution.report.estimate.as_ref().unwrap().l2 < 1e-9, "{:?}", solution.report.estimate);
    assert!(newton(&solution).factorizations <= FACTORIZATIONS, "{:?}", newton(&solution));
    let none = ProblemFile::new(text).set("discretization.corners=none").case().unwrap().solve(&Silent).unwrap();
    assert!(solution.distance(&none, 20).unwrap().l2 > 1e-5);
}

/// Cases whose solution is smooth have no rings, however few points there are.
#[test]
fn smooth_solutions_have_no_rings() {
    for points in [10, 16, 20] {
        let square = SQUARE.replace("points = 16", &format!("points = {points}"));
        for (name, text) in cases() {
            assert_eq!(solve(&format!("{square}{text}")).report.rings, 0, "{name}, {points} points");
        }
    }
}

/// `-Laplacian u = exp(u)` with `u = log(8 b) - 2 log(1 + b r^2)`: on the unit disk it vanishes on the boundary for
/// `b = 3 +- sqrt(8)`.
fn bratu(domain: &str, upper: bool) -> String {
    let (b, initial) =
        if upper { ("3 + sqrt(8)", "[nonlinear]\ninitial = \"3.8*(1 - x^2 - y^2)\"\n") } else { ("3 - sqrt(8)", "") };
    format!(
        "{domain}{initial}[functions]\nb = \"{b}\"\nw = \"log(8*b) - 2*log(1 + b*(x^2 + y^2))\"\n\
         [equation]\nsource = \"exp(u)\"\n[boundary]\ndirichlet = \"w\"\n[exact]\nu = \"w\"\n"
    )
}

#[test]
fn bratu_on_both_branches() {
    let square = "[domain]\nx = [-0.5, 0.5]\ny = [-0.5, 0.5]\n[discretization]\nsubdomains = [4, 4]\npoints = 16\n";
    check("Bratu, lower", &bratu(square, false), 1e-11);
    check("Bratu, upper", &bratu(square, true), 1e-11);
    let disk = "[domain]\ncircle = { center = [0, 0], radius = 1 }\n[discretization]\npoints = 16\n";
    check("Bratu on a disk, lower", &bratu(disk, false), 1e-9);
    check("Bratu on a disk, upper", &bratu(disk, true), 1e-9);
}

/// A diffusion that depends on u.
const ANYWHERE: &str = "[equation]\ndiffusion = \"1 + u^2\"\nsource = \"-(1 + w^2)*lap - 2*w*(wx^2 + wy^2)\"\n";

#[test]
fn conditions_that_depend_on_u() {
    let conditions = "[boundary.right]\nneumann = \"(1 + w^2)*wx + w^3 - u^3\"\n\
                      [boundary.bottom]\nrobin = { coefficient = \"2 + u^2\", value = \"-(1 + w^2)*wy + 2*w + w^3\" }\n\
                      [boundary.top]\nrobin = { coefficient = 1, value = \"(1 + w^2)*wy + w + ux - wx\" }\n";
    check("conditions", &format!("{SQUARE}{ANYWHERE}{WAVE}{conditions}"), 1e-11);
}

#[test]
fn convergence_is_quadratic() {
    for text in [format!("{SQUARE}{ANYWHERE}{WAVE}"), bratu(SQUARE, false), SCHERK.into()] {
        let mut case = ProblemFile::new(text).case().unwrap();
        (case.nonlinear.reuse, case.nonlinear.nested) = (0.0, false);
        let solution = case.solve(&Silent).unwrap();
        let steps = &newton(&solution).steps;
        let changes: Vec<f64> = steps.iter().map(|step| step.change).collect();
        println!("{changes:?}");
        assert!(steps.iter().all(|step| step.factored));
        assert!(steps.iter().skip(2).all(|step| step.damping == 1.0));
        let quadratic = |pair: &[f64]| pair[1] < 20.0 * pair[0] * pair[0] + 1e-13;
        assert!(changes.windows(2).skip(2).all(quadratic), "{changes:?}");
        assert!(changes.windows(2).any(|pair| pair[0] < 1e-2 && pair[1] < 1e-4 * pair[0]), "{changes:?}");
    }
}

/// The p-Laplacian with critical points inside: without a floor under the scale of its rows, and without a way there, it does not
/// converge.
#[test]
fn degenerate_p_laplacian() {
    let text = r#"
        [parameters]
        k = 8
        [functions]
        eps = "1e-8"
        w = "sin(pi*x)*sin(pi*y) + x/5"
        p = "pi*cos(pi*x)*sin(pi*y) + 0.2"
        q = "pi*sin(pi*x)*cos(pi*y)"
        s = "(pi*cos(pi*x)*sin(pi*y) + 0.2)^2 + (pi*sin(pi*x)*cos(pi*y))^2"
        lap = "-2*pi^2*sin(pi*x)*sin(pi*y)"
        bend = "-pi^2*sin(pi*x)*sin(pi*y)*s + 2*pi^2*p*q*cos(pi*x)*cos(pi*y)"
        [equation]
        diffusion = "ux^2 + uy^2 + 10^(-k)"
        source = "-(s + eps)*lap - 2*bend"
        [boundary]
        dirichlet = "w"
        [exact]
        u = "w"
        [nonlinear]
        continuation = { parameter = "k", from = 0, to = 8 }
    "#;
    let solution = check("degenerate", &format!("{text}{SQUARE}"), 1e-11);
    let report = newton(&solution);
    println!("{:?}, {:?}", report.continuation, report.start);
    assert!(report.continuation.first().unwrap().value == 0.0 && report.continuation.last().unwrap().value == 8.0);
}

const BRATU: &str = r#"
domain = { x = [0.0, 1.0], y = [0.0, 1.0] }
parameters = { lambda = 1.0 }
equation = { source = "lambda*exp(u)" }
boundary = { dirichlet = 0 }
discretization = { subdomains = [3, 3], points = 12, estimate = false }
"#;

#[test]
fn a_continuation_arrives_where_a_solve_from_the_start_does() {
    let at = |text: &str| ProblemFile::new(BRATU).set(text).case().unwrap().solve(&Silent).unwrap();
    let followed = at("nonlinear.continuation={ parameter = \"lambda\", from = 0, to = 6.5 }");
    let direct = at("parameters.lambda=6.5");
    assert_eq!((followed.report.status, direct.report.status), (Status::Solved, Status::Solved));
    // The corners are not resolved to more than this.
    let distance = followed.distance(&direct, 12).unwrap().l2;
    assert!(distance < 1e-7, "{distance:e}");
    assert!(newton(&followed).continuation.len() > 2 && newton(&direct).continuation.is_empty());
    // Beyond 6.808 there is no solution.
    let lost = at("nonlinear.continuation={ parameter = \"lambda\", from = 0, to = 10 }");
    assert_eq!(lost.report.status, Status::NotConverged);
    let last =
        newton(&lost).continuation.iter().filter(|step| step.converged).map(|step| step.value).fold(0.0, f64::max);
    assert!((6.6..6.9).contains(&last), "{last}");
    assert!(lost.report.warnings.iter().any(|warning| warning.contains("stopped at lambda = 6.")));
}

#[test]
fn no_solution_is_a_status() {
    let solution = ProblemFile::new(BRATU).set("parameters.lambda=12").set("nonlinear.max_steps=8").case().unwrap();
    let solution = solution.solve(&Silent).unwrap();
    assert_eq!(solution.report.status, Status::NotConverged);
    assert!(newton(&solution).steps.len() <= 8 && solution.values(&[0.5], &[0.5])[0].is_finite());
}

#[test]
fn errors_are_estimated_and_tolerances_reached() {
    let text = format!("{}\n", bratu(SQUARE, true).replace("3.8*(1 - x^2 - y^2)", "3.8 - 4*(x^2 + y^2)"));
    for points in [7, 10, 16] {
        let file = ProblemFile::new(text.as_str()).set(format!("discretization.points={points}"));
        let solution = file.set("discretization.estimate=true").case().unwrap().solve(&Silent).unwrap();
        let (truth, found) = (solution.report.errors.unwrap().l2, solution.report.estimate.as_ref().unwrap().l2);
        println!("{points} points: error {truth:.1e}, estimate {found:.1e}");
        assert!(found > 0.1 * truth && (found < 10.0 * truth || found < 1e-12), "{truth:e} {found:e}");
    }
    let file = ProblemFile::new(text.as_str()).set("discretization.tolerance=1e-8");
    let solution = file.case().unwrap().solve(&Silent).unwrap();
    assert_eq!(solution.report.status, Status::Solved);
    assert!(solution.report.errors.unwrap().l2 < 1e-8 && !solution.report.attempts.is_empty());
}

#[test]
fn residual_and_flux_are_those_of_the_nonlinear_equation() {
    let case = ProblemFile::new(SCHERK).case().unwrap();
    let solution = case.solve(&Silent).unwrap();
    let (x, y) = ([0.3, -0.61, 0.05], [0.2, 0.77, -0.4]);
    let residuals = solution.residuals(&case.problem, &x, &y).unwrap();
    assert!(residuals.iter().all(|r| r.abs() < 1e-7), "{residuals:?}");
    let [fx, fy] = solution.fluxes(&case.problem, &x, &y).unwrap();
    for i in 0..3 {
        let (ux, uy) = (x[i].tan(), -y[i].tan());
        let a = 1.0 / (1.0 + ux * ux + uy * uy).sqrt();
        assert!((fx[i] - a * ux).abs() < 1e-9 && (fy[i] - a * uy).abs() < 1e-9);
    }
}

#[test]
fn what_cannot_be_solved_is_refused() {
    let refused = |change: &str| match ProblemFile::new(BRATU).set(change).case() {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{change} was accepted"),
    };
    for (change, words) in [
        ("method=\"fem\"", "linear problems only"),
        ("preset=\"paper\"", "features that all subdomains share"),
        ("interface.solver=\"cg\"", "directly"),
        ("boundary.dirichlet=\"u\"", "which is not known here"),
        ("exact.u=\"ux\"", "which is not known here"),
        ("nonlinear.initial=\"u\"", "which is not known here"),
        ("nonlinear.max_steps=0", "at least one step"),
        ("nonlinear.tolerance=2", "between 0 and 1"),
        ("nonlinear.continuation={ parameter = \"mu\", from = 0, to = 1 }", "no such parameter"),
        ("nonlinear.continuation={ parameter = \"lambda\", from = 1, to = 1 }", "from one number to another"),
    ] {
        let found = refused(change);
        assert!(found.contains(words), "{change}: {found}");
    }
}
