//! The NIST collection of elliptic test problems in the plane, as problem files: eleven of its twelve families (the third is
//! elasticity), each with the parameters that its author suggests.
//!
//! # References
//!
//! W. F. Mitchell, *A collection of 2D elliptic problems for testing adaptive grid refinement algorithms*, Appl. Math. Comput. 220
//! (2013), and NISTIR 7668 (2010). R. B. Kellogg, *On the Poisson equation with intersecting interfaces*, Applicable Analysis 4 (1975).

use std::f64::consts::{PI, TAU};

/// A problem of the collection.
pub struct NistProblem {
    /// Family and parameter.
    pub name: String,
    /// The problem file.
    pub text: String,
    /// Where the solution does something: a point inside the domain, and the length over which it does. Nothing where no formula
    /// for the solution is known.
    pub features: Vec<([f64; 2], f64)>,
}

/// A file with an exact solution, which is also the condition on the whole boundary.
fn problem(
    name: impl Into<String>,
    domain: &str,
    equation: &str,
    exact: &str,
    features: &[([f64; 2], f64)],
) -> NistProblem {
    let text = format!(
        "[domain]\n{domain}\n[equation]\n{equation}\n[boundary]\ndirichlet = \"{exact}\"\n[exact]\nu = \"{exact}\"\n"
    );
    NistProblem { name: name.into(), text, features: features.to_vec() }
}

const UNIT_SQUARE: &str = "x = [0, 1]\ny = [0, 1]";
const SQUARE: &str = "x = [-1, 1]\ny = [-1, 1]";

/// All problems, in the order of the collection.
pub fn collection() -> Vec<NistProblem> {
    let mut all = vec![analytic(10)];
    all.extend([PI + 0.01, 1.25 * PI, 1.5 * PI, 1.75 * PI, TAU].map(reentrant_corner));
    all.extend([(1e3, [0.5, 0.5]), (1e5, [0.51, 0.117])].map(|(alpha, at)| peak(alpha, at)));
    all.push(battery());
    all.extend([1e-1, 1e-2, 1e-3, 1e-4].map(boundary_layer));
    all.extend([2.5, 1.5, 0.6].map(boundary_line));
    all.extend([10.0, 50.0].map(oscillatory));
    all.extend(
        [
            ("mild", 20.0, [-0.05, -0.05], 0.7),
            ("steep", 1000.0, [-0.05, -0.05], 0.7),
            ("asymmetric", 1000.0, [1.5, 0.25], 0.92),
            ("well", 50.0, [0.5, 0.5], 0.25),
        ]
        .map(|(name, alpha, centre, radius)| wave_front(name, alpha, centre, radius)),
    );
    all.extend([(2.5, 0.0), (1.5, 0.6), (1.1, 0.0)].map(|(alpha, slope)| interface_line(alpha, slope)));
    all.extend([0.5, 0.25, 0.2, 0.1].map(intersecting_interfaces));
    all.push(several());
    all
}

/// 1: `u = 2^(4p) (x (1-x) y (1-y))^p`.
fn analytic(p: i32) -> NistProblem {
    let bump = |s: &str| format!("({s}*(1-{s}))^{p}");
    let second = |s: &str| format!("{p}*({s}*(1-{s}))^{}*({}*(1-2*{s})^2 - 2*{s}*(1-{s}))", p - 2, p - 1);
    let source = format!("-2^{}*({}*{} + {}*{})", 4 * p, second("x"), bump("y"), bump("x"), second("y"));
    let exact = format!("2^{}*{}*{}", 4 * p, bump("x"), bump("y"));
    problem("1 analytic", UNIT_SQUARE, &format!("source = \"{source}\""), &exact, &[([0.5, 0.5], 0.3)])
}

/// `r^a sin(a angle)` with `a = pi / omega`, angles from 0 to omega. The branch of the angle is cut along the bisector of what is not
/// in the domain.
fn corner_function(omega: f64) -> String {
    let (s, c) = (0.5 * omega).sin_cos();
    let angle = format!("{} + atan2({c:e}*y - {s:e}*x, {c:e}*x + {s:e}*y)", 0.5 * omega);
    format!("hypot(x,y)^{a}*sin({a}*({angle}))", a = PI / omega)
}

/// 2: the square without the sector below the positive x axis, or with a slit along it, `r^(pi/omega)`.
fn reentrant_corner(omega: f64) -> NistProblem {
    let mut points = vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [-1.0, 1.0]];
    // The square's corners before the last ray, then where it leaves the square.
    points.extend(
        [([-1.0, -1.0], 1.25 * PI), ([1.0, -1.0], 1.75 * PI)].iter().filter(|c| c.1 < omega - 1e-9).map(|c| c.0),
    );
    let (s, c) = omega.sin_cos();
    let length = 1.0 / s.abs().max(c.abs());
    points.push([length * c, length * s].map(|v| if v.abs() < 1e-12 { 0.0 } else { v }));
    problem(
        format!("2 re-entrant corner, {:.0} degrees", omega.to_degrees()),
        &format!("polygon = {points:?}"),
        "source = \"0\"",
        &corner_function(omega),
        &[([0.0, 0.4], 0.3), ([-0.05, 0.03], 0.02)],
    )
}

fn peak_formulas(alpha: f64, [x, y]: [f64; 2]) -> [String; 2] {
    let square = format!("((x-({x}))^2 + (y-({y}))^2)");
    let exact = format!("exp(-{alpha}*{square})");
    [format!("(4*{alpha} - 4*{alpha}^2*{square})*{exact}"), exact]
}

/// 4: a Gaussian.
fn peak(alpha: f64, at: [f64; 2]) -> NistProblem {
    let [source, exact] = peak_formulas(alpha, at);
    let width = 1.0 / alpha.sqrt();
    problem(format!("4 peak {alpha:e}"), UNIT_SQUARE, &format!("source = \"{source}\""), &exact, &[(at, 2.0 * width)])
}

/// 5: heat in a battery of five materials; there is no formula for the solution.
fn battery() -> NistProblem {
    let rectangle =
        |x: [f64; 2], y: [f64; 2]| format!("{:?}", [[x[0], y[0]], [x[1], y[0]], [x[1], y[1]], [x[0], y[1]]]);
    let angle = format!("{:?}", [[6.5, 0.8], [8.0, 0.8], [8.0, 23.2], [0.0, 23.2], [0.0, 21.2], [6.5, 21.2]]);
    let regions = [
        ("low", rectangle([0.0, 6.1], [0.8, 1.6]), [0.05, 0.05], 0.0),
        ("below", rectangle([0.0, 6.1], [1.6, 3.6]), [7.0, 0.8], 1.0),
        ("middle", rectangle([0.0, 6.1], [3.6, 18.8]), [5.0, 1e-4], 1.0),
        ("above", rectangle([0.0, 6.1], [18.8, 21.2]), [7.0, 0.8], 1.0),
        ("wall", rectangle([6.1, 6.5], [0.8, 21.2]), [0.2, 0.2], 0.0),
        ("angle", angle, [0.05, 0.05], 0.0),
    ];
    let mut text = format!(
        "[domain]\npolygon = {}\nnames = [\"bottom\", \"right\", \"top\", \"left\"]\n",
        rectangle([0.0, 8.4], [0.0, 24.0])
    );
    for (name, polygon, ..) in &regions {
        text += &format!("[[domain.region]]\nname = \"{name}\"\npolygon = {polygon}\n");
    }
    text += "[equation]\ndiffusion = 25\nsource = \"0\"\n";
    for (name, _, [p, q], f) in &regions {
        text +=
            &format!("[equation.regions.{name}]\ndiffusion = [[\"{p}\", \"0\"], [\"0\", \"{q}\"]]\nsource = \"{f}\"\n");
    }
    text += "[boundary.left]\nneumann = 0\n";
    for (side, coefficient, value) in [("top", 1, 3), ("right", 2, 2), ("bottom", 3, 1)] {
        text += &format!("[boundary.{side}]\nrobin = {{ coefficient = {coefficient}, value = {value} }}\n");
    }
    NistProblem { name: "5 battery".into(), text, features: Vec::new() }
}

/// 6: advection to the upper right corner, with layers of width epsilon.
///
/// With `e = exp(-(1-x)/epsilon)`, `A = 1 - e`, and the same in y, B and d: `-eps A'' + 2 A' = -e/eps`, `-eps B'' + B' = 0`.
fn boundary_layer(epsilon: f64) -> NistProblem {
    let [e, d] = ["x", "y"].map(|s| format!("exp(-(1-{s})/{epsilon})"));
    let [a, b] = ["x", "y"].map(|s| format!("(-expm1(-(1-{s})/{epsilon}))"));
    let [cos, sin] = ["cos", "sin"].map(|f| format!("{f}(pi*(x+y))"));
    let source =
        format!("(2*{epsilon}*pi^2*{a} - {e}/{epsilon})*{b}*{cos} - pi*(3*{a}*{b} + 2*{e}*{b} + 2*{d}*{a})*{sin}");
    let exact = format!("{a}*{b}*{cos}");
    problem(
        format!("6 boundary layer {epsilon:e}"),
        SQUARE,
        &format!("diffusion = {epsilon}\nadvection = [\"2\", \"1\"]\nsource = \"{source}\""),
        &exact,
        &[
            ([0.0, 0.1], 0.3),
            ([1.0 - 1.5 * epsilon, 1.0 - 1.5 * epsilon], epsilon),
            ([0.3, 1.0 - 1.5 * epsilon], epsilon),
        ],
    )
}

/// 7: `x^alpha`, singular along the left side.
fn boundary_line(alpha: f64) -> NistProblem {
    let source = format!("{}*x^({})", -alpha * (alpha - 1.0), alpha - 2.0);
    let features = [([0.5, 0.5], 0.3), ([0.02, 0.5], 0.01)];
    problem(
        format!("7 boundary line {alpha}"),
        UNIT_SQUARE,
        &format!("source = \"{source}\""),
        &format!("x^{alpha}"),
        &features,
    )
}

/// 8: `sin(1 / (alpha + r))` with `alpha = 1 / (waves pi)`, for `-Lap u - u / (alpha + r)^4`.
fn oscillatory(waves: f64) -> NistProblem {
    let (alpha, r) = (1.0 / (waves * PI), "hypot(x,y)");
    let source = format!("({alpha} - {r})*cos(1/({alpha} + {r}))/({r}*({alpha} + {r})^3)");
    problem(
        format!("8 oscillatory 1/({waves} pi)"),
        UNIT_SQUARE,
        &format!("reaction = \"-({alpha} + {r})^(-4)\"\nsource = \"{source}\""),
        &format!("sin(1/({alpha} + {r}))"),
        &[([0.5, 0.5], 0.2), ([2.0 * alpha, 2.0 * alpha], 0.5 * alpha)],
    )
}

fn front_formulas(alpha: f64, [x, y]: [f64; 2], radius: f64) -> [String; 2] {
    // The source has a pole at the centre.
    let r = format!("max(hypot(x-({x}), y-({y})), 1e-9)");
    let w = format!("({alpha}*({r} - {radius}))");
    [format!("2*{alpha}^2*{w}/(1 + {w}^2)^2 - {alpha}/({r}*(1 + {w}^2))"), format!("atan({w})")]
}

/// 9: an arctangent across a circle.
fn wave_front(name: &str, alpha: f64, centre: [f64; 2], radius: f64) -> NistProblem {
    let [source, exact] = front_formulas(alpha, centre, radius);
    // A point of the circle inside the square.
    let toward = [0.55 - centre[0], 0.6 - centre[1]];
    let length = toward[0].hypot(toward[1]);
    let at = [0, 1].map(|k| centre[k] + radius * toward[k] / length);
    problem(
        format!("9 wave front, {name}"),
        UNIT_SQUARE,
        &format!("source = \"{source}\""),
        &exact,
        &[(at, 2.0 / alpha)],
    )
}

/// 10: `cos(pi y / 2) + max(0, x - slope (y + 1))^alpha`, singular along a line, which is the side of a region.
fn interface_line(alpha: f64, slope: f64) -> NistProblem {
    let d = format!("(x - {slope}*(y+1))");
    let smooth = "pi^2/4*cos(pi*y/2)";
    let rough = -alpha * (alpha - 1.0) * (1.0 + slope * slope);
    // At y = 1 the line is at x = 2 slope: inside the square up to slope 1/2, beyond that it leaves through the right side.
    let right = if 2.0 * slope < 1.0 {
        vec![[0.0, -1.0], [1.0, -1.0], [1.0, 1.0], [2.0 * slope, 1.0]]
    } else {
        vec![[0.0, -1.0], [1.0, -1.0], [1.0, 1.0 / slope - 1.0]]
    };
    let domain = format!(
        "polygon = [[-1, -1], [1, -1], [1, 1], [-1, 1]]\n[[domain.region]]\nname = \"right\"\npolygon = {right:?}"
    );
    let equation = format!(
        "source = \"{smooth}\"\n[equation.regions.right]\nsource = \"{smooth} + {rough}*max({d}, 1e-300)^({})\"",
        alpha - 2.0
    );
    let exact = format!("cos(pi*y/2) + max(0, {d})^{alpha}");
    problem(
        format!("10 interface line {alpha}"),
        &domain,
        &equation,
        &exact,
        &[([0.7, -0.7], 0.15), ([-0.5, 0.1], 0.2)],
    )
}

/// 11: Kellogg's solution `r^gamma` where four quadrants with diffusions R, 1, R, 1 meet, `R = 1 / tan(pi gamma / 4)^2`.
///
/// About the bisector of its quadrant, u is a cosine in those with R, a sine in the others.
fn intersecting_interfaces(gamma: f64) -> NistProblem {
    let (s, c) = (0.25 * PI * gamma).sin_cos();
    let contrast = (c / s) * (c / s);
    let quadrant = ["step(x)*step(y)", "(1-step(x))*step(y)", "(1-step(x))*(1-step(y))", "step(x)*(1-step(y))"];
    let part = [
        format!("({})*cos({gamma}*atan2(y-x, x+y))", -s),
        format!("{c}*sin({gamma}*atan2(-x-y, y-x))"),
        format!("{s}*cos({gamma}*atan2(x-y, -x-y))"),
        format!("({})*sin({gamma}*atan2(x+y, x-y))", -c),
    ];
    let sum: Vec<String> = quadrant.iter().zip(part).map(|(q, p)| format!("{q}*{p}")).collect();
    let diffusion = format!("1 + {}*({} + {})", contrast - 1.0, quadrant[0], quadrant[2]);
    let features = [[0.5, 0.5], [-0.5, 0.5], [-0.5, -0.5], [0.5, -0.5]].map(|at| (at, 0.2));
    problem(
        format!("11 intersecting interfaces {gamma}"),
        SQUARE,
        &format!("diffusion = \"{diffusion}\"\nsource = \"0\""),
        &format!("hypot(x,y)^{gamma}*({})", sum.join(" + ")),
        &features,
    )
}

/// 12: a re-entrant corner, a front that reaches the boundary, a peak on it, and a layer in one L-shape.
fn several() -> NistProblem {
    let (peak_at, layer) = ([-5.0f64.sqrt() / 4.0, -0.25], 0.01);
    let [front_source, front] = front_formulas(200.0, [0.0, -0.75], 0.75);
    let [peak_source, peak] = peak_formulas(1000.0, peak_at);
    let wall = format!("exp(-(1+y)/{layer})");
    problem(
        "12 several at once",
        "polygon = [[0, 0], [1, 0], [1, 1], [-1, 1], [-1, -1], [0, -1]]",
        &format!("source = \"{front_source} + {peak_source} - {}*{wall}\"", 1.0 / (layer * layer)),
        &format!("{} + {front} + {peak} + {wall}", corner_function(1.5 * PI)),
        &[([-0.3, 0.4], 0.1), ([-0.75, -0.75], 0.005), (peak_at, 0.005), ([-0.3, -0.99], 0.004)],
    )
}
