//! Gradients by one transposed solve, against differences of sixth order of the whole solve.

use std::sync::Arc;

use ddelm::problem::field::FieldRef;
use ddelm::solution::evaluate::Gradients;
use ddelm::solve::case::Case;
use ddelm::solve::solver::adjoint::Adjoint;
use ddelm::{ProblemFile, Silent, Solver, function};

/// A relative difference between gradients and differences that is allowed.
const AGREED: f64 = 1e-9;

/// The step of the differences, relative to the parameter.
const STEP: f64 = 4e-3;

/// Coefficients with parameters everywhere.
const GENERAL: &str = r#"
[parameters]
a = 0.3
b = 0.4
c = 2.0
k = 1.5
f = 1.0
g = 0.7
[equation]
diffusion = [["2 + a*sin(3*x + a)", "a*x/2"], ["a*y/3", "1.5 + b*x*y"]]
advection = ["3*b*y", "1 - x*a"]
reaction = "c*(1 + x)"
source = "f*(1 + c*x)"
"#;

const SIDES: &str = r#"
domain = { x = [0, 1], y = [0, 1] }
[boundary]
dirichlet = "g*x + y*a"
[boundary.right]
robin = { coefficient = "k*(1 + y)", value = "g + x" }
[boundary.top]
neumann = "g*x*k"
[output]
integrals = { square = "integral(u^2*x + ux*g)", heat = "flux(right)", cold = "flux(left)", most = "max(u)" }
[discretization]
subdomains = [3, 2]
points = 10
corners = "none"          # rings are as deep as the parameters say
"#;

fn case(text: &str, settings: &[String]) -> Case {
    settings.iter().fold(ProblemFile::new(text), |file, setting| file.set(setting.as_str())).case().unwrap()
}

fn solver(case: &Case) -> Arc<Solver> {
    Arc::new(Solver::new(&case.problem, case.decomposition().unwrap(), &case.settings).unwrap())
}

/// The solution of a case, ready to be differentiated.
fn adjoint(case: &Case) -> Adjoint {
    match case.problem.is_nonlinear() {
        true => Adjoint::of_nonlinear(&case.problem, &case.solve(&Silent).unwrap(), &case.settings, &Silent).unwrap(),
        false => solver(case).adjoint(&case.problem.data(), &Silent).unwrap(),
    }
}

/// All functionals of a case, and values at points with a cotangent.
fn numbers(case: &Case, points: [&[f64]; 2], cotangent: &Gradients) -> Vec<f64> {
    let solution = match case.problem.is_nonlinear() {
        true => case.solve(&Silent).unwrap(),
        false => solver(case).solve().unwrap(),
    };
    let found = solution.gradients(points[0], points[1]);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let values = dot(&found.u, &cotangent.u) + dot(&found.ux, &cotangent.ux) + dot(&found.uy, &cotangent.uy);
    let functionals = case.functionals.iter().map(|(_, f)| solution.functional(&case.problem, f).unwrap());
    functionals.chain([values]).collect()
}

/// The largest difference between gradients and differences in the parameters, relative to the largest of a functional.
fn check(name: &str, text: &str, parameters: &[(&str, f64)], points: [&[f64]; 2]) {
    check_with([AGREED, STEP], name, text, parameters, points);
}

/// The same to another bound with another step.
fn check_with([agreed, step]: [f64; 2], name: &str, text: &str, parameters: &[(&str, f64)], points: [&[f64]; 2]) {
    let n = points[0].len();
    let weights = |a: f64| (0..n).map(|i| (a * i as f64 + a).cos()).collect::<Vec<f64>>();
    let cotangent = Gradients { u: weights(1.0), ux: weights(2.0), uy: weights(3.0) };
    let base = case(text, &[]);
    let adjoint = adjoint(&base);
    let mut gradients: Vec<_> = base.functionals.iter().map(|(_, f)| adjoint.gradient(f, &Silent).unwrap()).collect();
    gradients.push(adjoint.vjp(points[0], points[1], &cotangent, &Silent).unwrap());
    let names = base.functionals.iter().map(|(name, _)| name.as_str()).chain(["points"]);
    let differences: Vec<Vec<f64>> = parameters
        .iter()
        .map(|(parameter, value)| {
            let h = step * value.abs();
            let at = |k: f64| {
                let shifted = case(text, &[format!("parameters.{parameter}={:e}", value + k * h)]);
                numbers(&shifted, points, &cotangent)
            };
            let [a, b, c] = [1.0, 2.0, 3.0]
                .map(|k| at(k).into_iter().zip(at(-k)).map(|(right, left)| right - left).collect::<Vec<f64>>());
            (0..a.len()).map(|i| (45.0 * a[i] - 9.0 * b[i] + c[i]) / (60.0 * h)).collect()
        })
        .collect();
    for (i, (functional, gradient)) in names.zip(&gradients).enumerate() {
        assert_eq!(gradient.warnings, Vec::<String>::new());
        let found: Vec<f64> = parameters.iter().map(|(p, _)| gradient.parameter(p).unwrap()).collect();
        let scale = found.iter().fold(0.0f64, |a, b| a.max(b.abs()));
        for ((p, found), difference) in parameters.iter().zip(&found).zip(&differences) {
            let error = (found - difference[i]).abs() / scale;
            println!("{name}: d {functional} / d {} = {found:.12e}, off by {error:.1e}", p.0);
            assert!(error < agreed, "{name}: d {functional} / d {}: {found:e} and {:e}", p.0, difference[i]);
        }
    }
}

const INSIDE: [&[f64]; 2] = [&[0.31, 0.77, 0.5, 0.12], &[0.42, 0.9, 0.05, 0.66]];

/// A source that does not vanish at the corners, where nothing resolves the solution.
#[test]
fn unresolved_at_the_corners() {
    let text = r#"
parameters = { f = 1.0, a = 0.5, c = 3.0 }
equation = { diffusion = "1 + a*x*y", reaction = "c", source = "f" }
boundary = { dirichlet = 0 }
domain = { x = [0, 1], y = [0, 1] }
output = { integrals = { mean = "integral(u)", heat = "flux(left)" } }
discretization = { subdomains = [2, 2], points = 8 }
"#;
    let parameters = [("f", 1.0), ("a", 0.5), ("c", 3.0)];
    check("corners", &text.replace("points = 8", "points = 8, corners = \"none\""), &parameters, INSIDE);
    check("rings", text, &parameters, INSIDE);
}

#[test]
fn tensors_advection_reaction_and_conditions_on_a_rectangle() {
    let parameters = [("a", 0.3), ("b", 0.4), ("c", 2.0), ("k", 1.5), ("f", 1.0), ("g", 0.7)];
    check("rectangle", &format!("{SIDES}{GENERAL}"), &parameters, INSIDE);
}

#[test]
fn disks() {
    let sides = r#"
boundary = { robin = { coefficient = "k*(2 + y)", value = "g + x" } }
domain = { circle = { center = [0.5, 0.5], radius = 0.6 } }
output = { integrals = { square = "integral(u^2*x)", heat = "flux(boundary)" } }
discretization = { points = 10 }
"#;
    let parameters = [("a", 0.3), ("b", 0.4), ("c", 2.0), ("k", 1.5), ("f", 1.0), ("g", 0.7)];
    check("disk", &format!("{sides}{GENERAL}"), &parameters, INSIDE);
}

#[test]
fn regions() {
    let text = r#"
parameters = { k = 10, s = 2 }
boundary = { dirichlet = "y*s" }
output = { integrals = { core = "integral(u^2, core)", heat = "flux(right)" } }
discretization = { points = 10 }
[domain]
x = [-1, 1]
y = [-1, 1]
[[domain.region]]
name = "core"
circle = { center = [0, 0], radius = 0.5 }
[equation]
source = "s*x"
[equation.regions.core]
diffusion = "k*(1 + x^2)"
source = "s*k"
"#;
    check("region", text, &[("k", 10.0), ("s", 2.0)], [&[0.3, -0.7], &[0.1, 0.8]]);
}

#[test]
fn plates() {
    let text = r#"
domain = { x = [0, 1], y = [0, 1] }
parameters = { d = 2, q = 3, m = 0.5 }
boundary = { dirichlet = "m*x", laplacian = "m*y" }
output = { integrals = { mean = "integral(u)" } }
discretization = { subdomains = [2, 2], points = 12 }
[equation.plate]
rigidity = "d"
load = "q*(1 + x)"
"#;
    check("plate", text, &[("d", 2.0), ("q", 3.0), ("m", 0.5)], [&[0.3, 0.7], &[0.1, 0.8]]);
}

/// The flux is given all around, and the mean is: data balance for every value of the parameters.
#[test]
fn a_given_mean() {
    let text = r#"
domain = { x = [0, 1], y = [0, 1] }
parameters = { k = 2, s = 1.5, g = 0.7 }
equation = { diffusion = "1 + k*x*y", source = "s*cos(pi*x) - 2*g" }
output = { integrals = { square = "integral(u^2*x)", heat = "integral(ux*y)", most = "max(u)" } }
discretization = { subdomains = [2, 3], points = 14, corners = "none" }
[boundary]
mean = 0.3
neumann = 0
[boundary.right]
neumann = "g*(1 + cos(pi*y)*k)"
[boundary.top]
neumann = "g*(1 + sin(2*pi*x)*s)"
"#;
    check("mean", text, &[("k", 2.0), ("s", 1.5), ("g", 0.7)], INSIDE);
    let base = case(text, &[]);
    let adjoint = solver(&base).adjoint(&base.problem.data(), &Silent).unwrap();
    let square = &base.functionals.iter().find(|(name, _)| name == "square").unwrap().1;
    let integral = adjoint.gradient(square, &Silent).unwrap();
    // d int u^2 x / d mean = 2 int u x.
    let u = adjoint.solution();
    let expected = 2.0 * u.integrate(ddelm::formula("u*x").unwrap().as_ref(), None).unwrap();
    let found = integral.mean.unwrap();
    assert!((found - expected).abs() < 1e-10 * expected.abs(), "{found:e} and {expected:e}");
}

/// The same with rings about a corner: what they cut is cut for every value of the parameters alike.
#[test]
fn a_given_mean_and_rings() {
    let text = r#"
domain = { polygon = [[0, 0], [1, 0], [1, 1], [-1, 1], [-1, -1], [0, -1]] }
parameters = { k = 2, s = 1.5 }
equation = { diffusion = "1 + k*(x + 1)*(y + 1)/8", source = "40*s*sin(2*pi*x)" }
boundary = { mean = 0.3, neumann = 0 }
output = { integrals = { square = "integral(u^2*x)", most = "max(u)" } }
discretization = { points = 14, size = 0.4, corners = "auto" }
"#;
    assert!(solver(&case(text, &[])).solve().unwrap().report.rings > 0);
    let points: [&[f64]; 2] = [&[0.31, -0.77, -0.5], &[0.42, 0.9, -0.05]];
    // With shorter steps the differences are not as good: rings have the rounding of fluxes over small distances.
    check_with([AGREED, LONG_STEP], "mean and rings", text, &[("k", 2.0), ("s", 1.5)], points);
}

/// Steps of the differences where they are not as good as gradients with the usual one: for what is strongly nonlinear, and for what has
/// noise.
const SHORT_STEP: f64 = 1e-3;
const LONG_STEP: f64 = 8e-3;

/// The step of the differences of a nonlinear problem. With a diffusion that depends on the gradient solutions change abruptly, as parameters do: differences
/// of sixth and of tenth order get better with shorter steps (off by 1e-8 with 2e-3, 3e-10 with 5e-4).
fn step_of(name: &str) -> f64 {
    if name == "gradient" { 0.5 * SHORT_STEP } else { SHORT_STEP }
}

/// Problems that depend on their solution: coefficients, source, conditions and fluxes. With these parameters the solution is w, which is
/// resolved, and its derivatives have corners, which are not.
#[test]
fn nonlinear_problems() {
    let common = r#"
parameters = { a = 0.5, b = 1.2, f = 2.0, g = 0.7 }
domain = { x = [0, 1], y = [0, 1] }
discretization = { subdomains = [2, 2], points = 16, corners = "none", estimate = false }
output = { integrals = { square = "integral(u^2*x + ux*g)", heat = "flux(right)" } }
[boundary]
dirichlet = "w + (g - 0.7)*x"
[functions]
w = "sin(3*x + y)*exp(y)"
wx = "3*cos(3*x + y)*exp(y)"
wy = "(cos(3*x + y) + sin(3*x + y))*exp(y)"
wxy = "3*(cos(3*x + y) - sin(3*x + y))*exp(y)"
lap = "(2*cos(3*x + y) - 9*sin(3*x + y))*exp(y)"
s = "wx^2 + wy^2"
bend = "-9*w*wx^2 + 2*wx*wy*wxy + 2*cos(3*x + y)*exp(y)*wy^2"
"#;
    for (name, problem) in [
        (
            "diffusion",
            r#"
[equation]
diffusion = "1 + a*u^2"
reaction = "b*u"
source = "-(1 + 0.5*w^2)*lap - w*s + 1.2*w^2 + (f - 2)*x"
"#,
        ),
        (
            "gradient",
            r#"
[equation]
diffusion = "1/sqrt(1 + a*(ux^2 + uy^2))"
source = "-(lap/sqrt(1 + 0.5*s) - 0.5*bend*(1 + 0.5*s)^(-1.5))*b/1.2*f/2"
"#,
        ),
        (
            "terms",
            r#"
[equation]
advection = ["b*u", "a*u"]
reaction = "a*u^2"
source = "-lap + 1.2*w*wx + 0.5*w*wy + 0.5*w^3 - sin(1.2*w) + sin(b*u) + (f - 2)*y"
"#,
        ),
        (
            "conditions",
            r#"
[boundary.right]
robin = { coefficient = "1 + b*u^2", value = "wx + (1 + 1.2*w^2)*w + (a - 0.5)*y" }
[equation]
source = "-lap*f/2"
"#,
        ),
    ] {
        let parameters = [("a", 0.5), ("b", 1.2), ("f", 2.0), ("g", 0.7)];
        check_with([AGREED, step_of(name)], name, &format!("{common}{problem}"), &parameters, INSIDE);
    }
}

/// A strong reaction about a corner of 270 degrees that few points resolve: without rings, with some, and with all of them.
#[test]
fn nonlinear_problems_with_corners() {
    let text = r#"
parameters = { a = 20.0, f = 2.0, g = 0.7 }
equation = { reaction = "a*u^2", source = "f" }
boundary = { dirichlet = "g*x^2" }
domain = { polygon = [[0, 0], [1, 0], [1, 1], [-1, 1], [-1, -1], [0, -1]] }
output = { integrals = { square = "integral(u^2)", heat = "flux(side-3)" } }
discretization = { size = 0.5, points = 10, estimate = false }
"#;
    let points: [&[f64]; 2] = [&[-0.31, -0.77, 0.5, -0.12], &[0.42, -0.9, 0.05, -0.66]];
    for corners in ["\"none\"", "[[0, 0]]", "\"auto\""] {
        let text = text.replace("estimate", &format!("corners = {corners}, estimate"));
        check_with([AGREED, 5e-3], corners, &text, &[("a", 20.0), ("f", 2.0), ("g", 0.7)], points);
    }
}

/// Newton's method ends where a linear solve does: one of a linear problem is as exact as the other, by the same differences.
#[test]
fn a_linear_problem_by_newtons_method() {
    let text = r#"
parameters = { b = 1.2, g = 0.7 }
domain = { x = [0, 1], y = [0, 1] }
equation = { source = "1" }
output = { integrals = { square = "integral(u^2*x)", heat = "flux(right)" } }
discretization = { subdomains = [2, 2], points = 16, corners = "none", estimate = false }
[boundary]
dirichlet = "g*x"
[boundary.right]
robin = { coefficient = "1 + b*y", value = "1" }
"#;
    let nonlinear = text.replace("value = \"1\"", "value = \"1 + 0*u\"");
    let points = [0.31, 0.77, 0.5];
    let of = |text: &str| case(text, &[]).solve(&Silent).unwrap();
    let (direct, newton) = (of(text), of(&nonlinear));
    let steps = &newton.report.nonlinear.as_ref().unwrap().steps;
    assert!(steps[1..].iter().all(|step| step.change < 1e-13), "{steps:?}");
    for (a, b) in direct.values(&points, &points).into_iter().zip(newton.values(&points, &points)) {
        assert!((a - b).abs() < 1e-12, "{a:e} and {b:e}");
    }
    check("linear by Newton's method", &nonlinear, &[("b", 1.2), ("g", 0.7)], INSIDE);
}

/// Where rows cannot all hold, their curvature times what they leave counts: without it these are off by up to 1.5e-4.
#[test]
fn nonlinear_problems_that_are_not_resolved() {
    let common = r#"
parameters = { a = 0.5, b = 1.2, f = 5.0, k = 1.0 }
domain = { x = [0, 1], y = [0, 1] }
output = { integrals = { square = "integral(u^2*x + ux*a)", heat = "flux(right)" } }
discretization = { subdomains = [2, 2], points = 8, corners = "none", estimate = false }
[boundary]
dirichlet = 0
"#;
    for (name, problem) in [
        ("diffusion", "[equation]\ndiffusion = \"k + a*u^2\"\nreaction = \"b*u\"\nsource = \"f\"\n"),
        ("reaction", "[equation]\ndiffusion = \"k + x*y*a\"\nreaction = \"b*u^2\"\nsource = \"f + a*sin(u)\"\n"),
        ("gradient", "[equation]\ndiffusion = \"k/sqrt(1 + a*(ux^2 + uy^2))\"\nsource = \"f*b/3\"\n"),
        (
            "Robin",
            "[boundary.right]\nrobin = { coefficient = \"k + b*u^2\", value = \"a*y\" }\n[equation]\nsource = \"f\"\n",
        ),
        ("flux", "[boundary.right]\nneumann = \"a*sin(b*u)\"\n[equation]\ndiffusion = \"k\"\nsource = \"f\"\n"),
    ] {
        let parameters = [("a", 0.5), ("b", 1.2), ("f", 5.0), ("k", 1.0)];
        for points in [8, 14] {
            let text = format!("{common}{problem}").replace("points = 8", &format!("points = {points}"));
            // One of them, which is a hundred-thousandth of the others, has the noise of what is not resolved.
            let agreed = if name == "gradient" { 2.0 * AGREED } else { AGREED };
            check_with([agreed, step_of(name)], &format!("{name} {points}"), &text, &parameters, INSIDE);
        }
    }
}

/// Where the derivatives of the solution are resolved, too, gradients of nonlinear problems are as exact as others: u = g w for all parameters.
#[test]
fn nonlinear_problems_with_resolved_derivatives() {
    let text = r#"
parameters = { a = 0.5, b = 1.2, g = 0.7 }
domain = { x = [0, 1], y = [0, 1] }
discretization = { subdomains = [2, 2], points = 16, corners = "none", estimate = false }
output = { integrals = { square = "integral(u^2*x + ux*g)", heat = "flux(right)" } }
boundary = { dirichlet = "g*w" }
[functions]
w = "sin(3*x + y)*exp(y)"
wx = "3*cos(3*x + y)*exp(y)"
wy = "(cos(3*x + y) + sin(3*x + y))*exp(y)"
lap = "(2*cos(3*x + y) - 9*sin(3*x + y))*exp(y)"
[equation]
diffusion = "1 + a*u^2"
reaction = "b*u"
source = "-(1 + a*g^2*w^2)*g*lap - 2*a*g^3*w*(wx^2 + wy^2) + b*g^2*w^2"
"#;
    check("resolved", text, &[("a", 0.5), ("b", 1.2), ("g", 0.7)], INSIDE);
}

/// A solution that somebody else has found is refused.
#[test]
fn a_nonlinear_solution_needs_the_settings_that_it_was_found_with() {
    let text = "[domain]\nx = [0, 1]\ny = [0, 1]\n[equation]\nsource = \"1 - u^3\"\n[boundary]\ndirichlet = 0\n\
                [discretization]\nsubdomains = [2, 2]\npoints = 8\nestimate = false\ncorners = \"none\"\n";
    let base = case(text, &[]);
    let solution = base.solve(&Silent).unwrap();
    let other = case(text, &["discretization.points=10".into()]);
    let refused =
        Adjoint::of_nonlinear(&other.problem, &solution, &other.settings, &Silent).err().expect("other points");
    assert!(refused.to_string().contains("other settings"), "{refused}");
}

/// Directions that are functions, not parameters: the derivative is linear in the source, and that in a coefficient is that of
/// a difference.
#[test]
fn fields_change_in_any_direction() {
    let base = case(&format!("{SIDES}{GENERAL}"), &[]);
    let adjoint_solver = solver(&base);
    let adjoint = adjoint_solver.adjoint(&base.problem.data(), &Silent).unwrap();
    let gradient = adjoint.gradient(&base.functionals[1].1, &Silent).unwrap();
    let bump: FieldRef = function(|x, y| (5.0 * x).cos() * y);
    // A flux is linear in the source.
    let mut data = base.problem.data();
    data.source = bump.clone();
    let zero = ddelm::constant(0.0);
    data.boundary.iter_mut().flatten().for_each(|value| *value = zero.clone());
    let alone = adjoint_solver.solve_many(&[data], &Silent).unwrap().swap_remove(0);
    let expected = alone.functional(&base.problem, &base.functionals[1].1).unwrap();
    let found = gradient.along(&gradient.fields.source, &bump).unwrap();
    assert!((found - expected).abs() < 1e-10 * expected.abs(), "{found:e} and {expected:e}");
    // The same as arrays give it too.
    let arrays = gradient.fields.source.at_points(gradient.decomposition());
    let sum: f64 = (0..arrays.x.len()).map(|i| arrays.value[i] * (5.0 * arrays.x[i]).cos() * arrays.y[i]).sum();
    assert!((sum - found).abs() < 1e-12 * found.abs(), "{sum:e} and {found:e}");
}

/// What cannot be differentiated is refused with a reason.
#[test]
fn other_methods_are_refused() {
    let text = "preset = \"paper\"\n[equation]\nsource = 1\n[boundary]\ndirichlet = 0\n[domain]\nx = [0, 1]\ny = [0, 1]\n\
                [discretization]\nsubdomains = [2, 2]\npoints = 6\nneurons = 20\n";
    let case = case(text, &[]);
    let solver = solver(&case);
    let refused = solver.adjoint(&case.problem.data(), &Silent).err().expect("the paper's method").to_string();
    assert!(refused.contains("features that the subdomains share"), "{refused}");
}
