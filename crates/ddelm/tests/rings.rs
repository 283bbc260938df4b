//! Rings about corners: errors on problems whose solutions are singular at vertices, at points that are no nodes.

use std::f64::consts::PI;
use std::sync::Arc;

use ddelm::domain::map::{Affine, MapRef, Point, Polar};
use ddelm::domain::shape_map::ShapeMap;
use ddelm::problem::field::{FieldRef, Samples};
use ddelm::problem::model::Diffusion;
use ddelm::{
    Condition, Decomposition, Equation, Problem, ProblemFile, Settings, Silent, Solution, Solver, constant, function,
};

fn settings(points: usize) -> Settings {
    Settings { points, ..Settings::fast() }
}

fn solve(problem: &Problem, decomposition: Decomposition, points: usize) -> Solution {
    Solver::new(problem, Arc::new(decomposition), &settings(points)).unwrap().solve().unwrap()
}

/// The vertices at some points.
fn at(decomposition: &Decomposition, points: &[Point], exponent: f64) -> Vec<(usize, f64)> {
    let close = |v: Point, p: Point| (v[0] - p[0]).hypot(v[1] - p[1]) < 1e-12;
    let here = |p: Point| (0..decomposition.vertices.len()).filter(move |&v| close(decomposition.vertices[v].point, p));
    points.iter().flat_map(|&p| here(p)).map(|v| (v, exponent)).collect()
}

fn with_rings(decomposition: Decomposition, points: &[Point], exponent: f64) -> Decomposition {
    decomposition.with_rings(&at(&decomposition, points, exponent)).unwrap()
}

/// Points of a box that are no nodes, and some next to a vertex.
fn points(corners: &[Point], [x, y]: [[f64; 2]; 2], keep: impl Fn(Point) -> bool) -> Vec<Point> {
    let at = |k: usize, side: [f64; 2]| side[0] + (side[1] - side[0]) * (k as f64 + 0.37) / 40.0;
    let grid = (0..1600).map(|k| [at(k / 40, x), at(k % 40, y)]);
    let middle = [0.5 * (x[0] + x[1]), 0.5 * (y[0] + y[1])];
    let toward =
        |c: Point, r: f64| [0, 1].map(|a| c[a] + r * [1.0, 0.7][a] * if c[a] > middle[a] { -1.0 } else { 1.0 });
    let close = corners.iter().flat_map(|&c| [1e-1, 1e-2, 1e-3].map(|r| toward(c, r)));
    grid.chain(close).filter(|&p| keep(p)).collect()
}

fn values(solution: &Solution, points: &[Point]) -> Vec<f64> {
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().map(|p| (p[0], p[1])).unzip();
    solution.values(&x, &y)
}

fn relative_l2(found: &[f64], exact: &[f64]) -> f64 {
    let difference: f64 = found.iter().zip(exact).map(|(u, v)| (u - v).powi(2)).sum();
    (difference / exact.iter().map(|v| v * v).sum::<f64>()).sqrt()
}

/// Errors against an exact solution with 16 and with 20 points.
#[track_caller]
fn check(problem: &Problem, rings: impl Fn() -> Decomposition, points: &[Point], bars: [f64; 2]) {
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().map(|p| (p[0], p[1])).unzip();
    let mut exact = vec![0.0; points.len()];
    problem.exact.as_ref().unwrap().values(&Samples::at(&x, &y), &mut exact).unwrap();
    let error = |n: usize| relative_l2(&values(&solve(problem, rings(), n), points), &exact);
    let found = [16, 20].map(error);
    assert!(found[0] < bars[0] && found[1] < bars[1], "{found:?}, not {bars:?}");
}

/// ... against a solution with 24 points.
#[track_caller]
fn check_itself(problem: &Problem, rings: impl Fn() -> Decomposition, points: &[Point], bars: [f64; 2]) {
    let at = |n: usize| values(&solve(problem, rings(), n), points);
    let best = at(24);
    let found = [16, 20].map(|n| relative_l2(&at(n), &best));
    assert!(found[0] < bars[0] && found[1] < bars[1], "{found:?}, not {bars:?}");
}

fn dirichlet(source: FieldRef, exact: FieldRef) -> Problem {
    Problem::new(Equation::poisson(), source, vec![Condition::dirichlet(exact.clone()); 4]).with_exact(exact)
}

/// The solution of `-Laplacian u = 1`, u = 0 on the unit square: a sum of sines in x, exact in y.
fn torsion() -> FieldRef {
    function(|x: f64, y: f64| {
        // The series converges fast where y is far from its ends: by symmetry x and y may change places.
        let (x, y) = if (y - 0.5).abs() < (x - 0.5).abs() { (x, y) } else { (y, x) };
        let mut sum = 0.5 * x * (1.0 - x);
        for k in (0..20_000).map(|k| 2 * k + 1) {
            let a = k as f64 * PI;
            // cosh(a (y - 1/2)) / cosh(a / 2), without overflow.
            let ratio = ((-a * y).exp() + (-a * (1.0 - y)).exp()) / (1.0 + (-a).exp());
            if ratio < 1e-20 {
                break;
            }
            sum -= 4.0 / a.powi(3) * (a * x).sin() * ratio;
        }
        sum
    })
}

const SQUARE: [Point; 4] = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];

#[test]
fn a_square_with_a_constant_source() {
    let grid = || with_rings(Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [4, 4]).unwrap(), &SQUARE, 2.0);
    assert_eq!(grid().len(), 44);
    let points = points(&SQUARE, [[0.0, 1.0]; 2], |_| true);
    check(&dirichlet(constant(1.0), torsion()), grid, &points, [5e-12, 5e-13]);
}

#[test]
fn one_subdomain_is_split_until_rings_fit() {
    let grid = || with_rings(Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [1, 1]).unwrap(), &SQUARE, 2.0);
    assert_eq!(grid().len(), 32);
    let points = points(&SQUARE, [[0.0, 1.0]; 2], |_| true);
    check(&dirichlet(constant(1.0), torsion()), grid, &points, [1e-9, 1e-11]);
}

#[test]
fn rings_survive_refinement_and_files() {
    let grid = with_rings(Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [3, 3]).unwrap(), &SQUARE, 2.0);
    let refined = grid.refined().unwrap();
    assert_eq!(refined.len(), 36 + 4 * 7);
    let back = refined.geometry().unwrap().decomposition().unwrap();
    assert_eq!((back.len(), back.edges.len()), (refined.len(), refined.edges.len()));
    let problem = dirichlet(constant(1.0), torsion());
    let points = points(&SQUARE, [[0.0, 1.0]; 2], |_| true);
    assert_eq!(values(&solve(&problem, back, 8), &points), values(&solve(&problem, refined, 8), &points));
}

fn squares(size: f64, cells: impl Iterator<Item = [i32; 2]>) -> Vec<MapRef> {
    let square = |[i, j]: [i32; 2]| Arc::new(Affine::rectangle([i as f64 * size, j as f64 * size], size, size));
    cells.map(|cell| square(cell) as MapRef).collect()
}

/// (-1, 1)^2 without its lower right quarter.
fn l_shape() -> Decomposition {
    let cells = (-2..2).flat_map(|i| (-2..2).map(move |j| [i, j])).filter(|[i, j]| *i < 0 || *j >= 0);
    Decomposition::from_maps(squares(0.5, cells), 4, |_| 0).unwrap()
}

/// `r^lambda sin(lambda angle)`, the angle counted from the positive x-axis.
fn power_sine(lambda: f64) -> FieldRef {
    function(move |x: f64, y: f64| {
        let angle = y.atan2(x);
        let angle = if angle < -1e-12 { angle + 2.0 * PI } else { angle };
        x.hypot(y).powf(lambda) * (lambda * angle).sin()
    })
}

fn full_box(keep: impl Fn(Point) -> bool) -> Vec<Point> {
    points(&[[0.0, 0.0]], [[-1.0, 1.0]; 2], keep)
}

#[test]
fn a_re_entrant_corner() {
    let rings = || with_rings(l_shape(), &[[0.0, 0.0]], 2.0 / 3.0);
    assert_eq!(rings().len(), 33);
    let points = full_box(|p| p[0] < 0.0 || p[1] > 0.0);
    check(&dirichlet(constant(0.0), power_sine(2.0 / 3.0)), rings, &points, [2e-11, 1e-12]);
}

/// On the upper half u = 0 for x > 0, and its flux vanishes for x < 0.
#[test]
fn a_change_of_the_condition_in_a_side() {
    let cells = || (-2..2).flat_map(|i| (0..2).map(move |j| [i, j]));
    let part = |p: Point| usize::from(p[1] < 1e-9 && p[0] < 0.0);
    let half = || Decomposition::from_maps(squares(0.5, cells()), 2, part).unwrap();
    let exact = power_sine(0.5);
    let conditions = vec![Condition::dirichlet(exact.clone()), Condition::neumann(constant(0.0))];
    let problem = Problem { conditions, ..dirichlet(constant(0.0), exact) };
    let rings = || with_rings(half(), &[[0.0, 0.0]], 0.5);
    assert_eq!(rings().len(), 22);
    let points = full_box(|p| p[1] > 0.0);
    check(&problem, rings, &points, [1e-10, 5e-12]);
}

/// Kellogg's problem: four quarters of contrast 161 and a solution like `r^0.1`.
#[test]
fn four_materials_meet() {
    const CONTRAST: f64 = 161.447_638_797_588_1;
    let exact = function(|x: f64, y: f64| {
        let (gamma, rho, sigma) = (0.1, 0.25 * PI, -14.922_565_104_551_52);
        let angle = y.atan2(x);
        let angle = if angle < 0.0 { angle + 2.0 * PI } else { angle };
        let phi = match (angle / (0.5 * PI)) as usize {
            0 => ((0.5 * PI - sigma) * gamma).cos() * ((angle - 0.5 * PI + rho) * gamma).cos(),
            1 => (rho * gamma).cos() * ((angle - PI + sigma) * gamma).cos(),
            2 => (sigma * gamma).cos() * ((angle - PI - rho) * gamma).cos(),
            _ => ((0.5 * PI - rho) * gamma).cos() * ((angle - 1.5 * PI - sigma) * gamma).cos(),
        };
        x.hypot(y).powf(gamma) * phi
    });
    let diffusion = function(|x: f64, y: f64| if x * y > 0.0 { CONTRAST } else { 1.0 });
    let problem = Problem { equation: Equation::diffusion(diffusion), ..dirichlet(constant(0.0), exact) };
    let grid = || Decomposition::rectangle([-1.0, 1.0], [-1.0, 1.0], [4, 4]).unwrap();
    let rings = || with_rings(grid(), &[[0.0, 0.0]], 0.1);
    assert_eq!(rings().len(), 44);
    check(&problem, rings, &full_box(|_| true), [2e-9, 2e-11]);
}

#[test]
fn a_variable_coefficient_about_a_re_entrant_corner() {
    let diffusion = function(|x: f64, y: f64| 1.1 + (x + 2.0 * y).sin());
    let problem = Problem { equation: Equation::diffusion(diffusion), ..dirichlet(constant(1.0), constant(0.0)) };
    let ends = [[0.0, 0.0], [-1.0, -1.0], [0.0, -1.0], [1.0, 0.0], [1.0, 1.0], [-1.0, 1.0]];
    let rings = || {
        let plain = l_shape();
        let found: Vec<(usize, f64)> = ends.iter().flat_map(|&p| at(&plain, &[p], 2.0 / 3.0)).collect();
        plain.with_rings(&found).unwrap()
    };
    let points = full_box(|p| p[0] < 0.0 || p[1] > 0.0);
    // Elements are large for a coefficient that falls to a tenth.
    check_itself(&problem, rings, &points, [1e-6, 3e-8]);
}

/// Right angles between arcs and straight sides.
#[test]
fn curved_sides_end_in_corners() {
    let sector = |k: usize| Polar {
        centre: [0.0, 0.0],
        radius: [1.0 + 0.5 * (k / 2) as f64, 1.5 + 0.5 * (k / 2) as f64],
        angle: [0.25 * PI * (k % 2) as f64, 0.25 * PI * (k % 2 + 1) as f64],
    };
    let maps = || (0..4).map(|k| Arc::new(sector(k)) as MapRef).collect();
    let rings = || {
        let plain = Decomposition::from_maps(maps(), 4, |_| 0).unwrap();
        with_rings(plain, &[[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 2.0]], 2.0)
    };
    let inside = |p: Point| (1.0..2.0).contains(&p[0].hypot(p[1]));
    let points = points(&[], [[0.0, 2.0]; 2], inside);
    check_itself(&dirichlet(constant(1.0), constant(0.0)), rings, &points, [2e-8, 3e-10]);
}

/// Seven triangles about the centre: every one has two corners of the outline, and opens wider there than a stack may.
#[test]
fn a_heptagon_of_triangles() {
    let corner = |k: usize| [(2.0 * PI * k as f64 / 7.0).cos(), (2.0 * PI * k as f64 / 7.0).sin()];
    let triangle = |k: usize| Arc::new(ShapeMap::straight(&[[0.0, 0.0], corner(k), corner(k + 1)])) as MapRef;
    let rings = || {
        let plain = Decomposition::from_maps((0..7).map(triangle).collect(), 4, |_| 0).unwrap();
        with_rings(plain, &(0..7).map(corner).collect::<Vec<_>>(), 1.4)
    };
    assert!(rings().has_hanging_sides());
    let points = points(&[], [[-1.0, 1.0]; 2], |p| p[0].hypot(p[1]) < 0.88);
    check_itself(&dirichlet(constant(1.0), constant(0.0)), rings, &points, [1.5e-9, 6e-10]);
}

const FILE: &str = r#"
[domain]
x = [0.0, 1.0]
y = [0.0, 1.0]
[equation]
source = "1"
[boundary]
dirichlet = "0"
[discretization]
subdomains = [3, 3]
points = 10
"#;

/// A problem file on a domain, with a source, u = 0 on the boundary, and so many points.
fn file(domain: &str, source: &str, rest: &str) -> ProblemFile {
    let text = format!("[domain]\n{domain}\n[equation]\nsource = \"{source}\"\n[boundary]\ndirichlet = \"0\"\n{rest}");
    ProblemFile::new(text).within(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/meshes"))
}

fn solved(domain: &str, points: usize, size: f64) -> Solution {
    let size = if domain.starts_with("mesh") { String::new() } else { format!("size = {size}\n") };
    let rest = format!("[discretization]\nestimate = false\npoints = {points}\n{size}");
    file(domain, "1", &rest).case().unwrap().solve(&Silent).unwrap()
}

const L_SHAPE: &str = "polygon = [[-1, -1], [0, -1], [0, 0], [1, 0], [1, 1], [-1, 1]]";

const HEPTAGON: &str = "polygon = [[1, 0], [0.62349, 0.781831], [-0.222521, 0.974928], [-0.900969, 0.433884], \
    [-0.900969, -0.433884], [-0.222521, -0.974928], [0.62349, -0.781831]]";

/// f = 1 on domains as a user writes them: 20 points, against more points on smaller subdomains.
#[test]
fn a_constant_source_on_domains_with_corners() {
    for (domain, rings, sizes, bar) in [(L_SHAPE, 6, [0.5, 0.25], 5e-12), (HEPTAGON, 7, [0.4, 0.3], 2e-11)] {
        let found = solved(domain, 20, sizes[0]);
        assert_eq!(found.report.rings, rings, "{domain}");
        let error = found.distance(&solved(domain, 22, sizes[1]), 12).unwrap().l2;
        assert!(error < bar, "{error:.1e} {domain}");
    }
}

/// (-1, 1)^2 with a slit along the positive x-axis: a mesh whose nodes on it are there twice.
#[test]
fn a_slit_is_a_line_of_double_nodes() {
    let exact = "(x^2 + y^2)^(1/4)*abs(sin(atan2(y, x)/2))";
    let case = |points: usize| {
        let file = file("mesh = \"slit.msh\"", "0", "[discretization]\nestimate = false\n");
        let file = file.set(format!("boundary.dirichlet={exact}")).set(format!("exact.u={exact}"));
        file.set(format!("discretization.points={points}")).case().unwrap()
    };
    for (points, bar) in [(16, 2e-11), (20, 5e-13)] {
        let report = case(points).solve(&Silent).unwrap().report;
        assert_eq!(report.rings, 1);
        let error = report.errors.unwrap().l2;
        assert!(error < bar, "{error:.1e}");
    }
}

/// The first eigenvalue of the L-shape (Trefethen and Betcke).
#[test]
fn eigenfunctions_have_rings() {
    let rest = "[eigenvalues]\ncount = 1\n[discretization]\nestimate = false\npoints = 16\nsize = 0.5\n";
    let case = file(L_SHAPE, "0", rest).case().unwrap();
    let found = &case.eigenpairs(&Silent).unwrap()[0];
    assert_eq!(found.function.report.rings, 1);
    assert!((found.eigenvalue.value - 9.639_723_844_021_9).abs() < 1e-9, "{}", found.eigenvalue.value);
}

/// Four corners, two halves of a square each: four rings are factored, and one square.
#[test]
fn congruent_rings_are_factored_once() {
    let rest = "[discretization]\nestimate = false\npoints = 12\nsubdomains = [4, 4]\n";
    let solution = file("x = [0, 1]\ny = [0, 1]", "1", rest).case().unwrap().solve(&Silent).unwrap();
    assert_eq!((solution.report.rings, solution.report.features.factorizations), (4, 5));
    let here = points(&SQUARE, [[0.0, 1.0]; 2], |_| true);
    let mirrored: Vec<Point> = here.iter().map(|&[x, y]| [y, 1.0 - x]).collect();
    let error = relative_l2(&values(&solution, &here), &values(&solution, &mirrored));
    assert!(error < 1e-9, "{error:.1e}");
}

/// Where a tensor or an advection prefers a direction, or conditions differ, corners are not alike.
#[test]
fn corners_that_are_not_alike_share_nothing() {
    let exact = function(|x: f64, y: f64| x.exp() * y.cos());
    let robin = |k: f64, flux: fn(f64, f64) -> f64| {
        let g = function(move |x: f64, y: f64| flux(x, y) + k * x.exp() * y.cos());
        Condition::robin(constant(k), g)
    };
    let given = Condition::dirichlet(exact.clone());
    let grid = || with_rings(Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [3, 3]).unwrap(), &SQUARE, 2.0);
    let here = points(&SQUARE, [[0.0, 1.0]; 2], |_| true);
    let laplacian = Problem::new(
        Equation::poisson(),
        constant(0.0),
        vec![
            robin(1.0, |x, y| -x.exp() * y.cos()),
            robin(20.0, |x, y| x.exp() * y.cos()),
            given.clone(),
            given.clone(),
        ],
    )
    .with_exact(exact);
    check(&laplacian, grid, &here, [1e-9, 1e-10]);
    let tensor = [[2.0, 0.5], [0.5, 1.0]].map(|row: [f64; 2]| row.map(constant));
    let directed = Problem {
        equation: Equation::second_order(
            Diffusion::Tensor(tensor),
            Some([constant(1.0), constant(-2.0)]),
            Some(constant(3.0)),
        ),
        source: function(|x: f64, y: f64| 3.0 * x.exp() * (y.cos() + y.sin())),
        conditions: vec![
            robin(1.0, |x, y| -x.exp() * (2.0 * y.cos() - 0.5 * y.sin())),
            robin(20.0, |x, y| x.exp() * (2.0 * y.cos() - 0.5 * y.sin())),
            given.clone(),
            given,
        ],
        ..laplacian
    };
    check(&directed, grid, &here, [1e-9, 1e-10]);
}

/// u is exact at and next to a corner at any angle and any distance; its gradient to rounding over the distance, and infinite in the corner.
#[test]
fn evaluation_next_to_a_corner() {
    let rings = with_rings(l_shape(), &[[0.0, 0.0]], 2.0 / 3.0);
    let solution = solve(&dirichlet(constant(0.0), power_sine(2.0 / 3.0)), rings, 16);
    for k in 0..60 {
        let (r, angle) = (0.9 * 10f64.powi(-k / 3), 0.1 + 1.4 * PI * f64::from(k % 7) / 6.0);
        let found = solution.gradients(&[r * angle.cos()], &[r * angle.sin()]);
        let exact = r.powf(2.0 / 3.0) * (angle / 1.5).sin();
        assert!((found.u[0] - exact).abs() < 2e-11, "{r:e} {angle}: {} {exact}", found.u[0]);
        let slope = r.powf(-1.0 / 3.0) / 1.5;
        let error = (found.ux[0] + slope * (angle / 3.0).sin()).hypot(found.uy[0] - slope * (angle / 3.0).cos());
        assert!(r < 1e-14 || error < 1e-10 * slope + 2e-11 / r, "{r:e} {angle}: {error:e}");
    }
    let corner = solution.gradients(&[0.0], &[0.0]);
    assert!(corner.u[0].abs() < 1e-11 && corner.ux[0].is_infinite() && corner.uy[0].is_infinite());
    // Outside, however close.
    assert!(solution.values(&[1e-13], &[-1e-13])[0].is_nan());
}

/// Where the gradient is continuous it is found in the corner as well.
#[test]
fn a_continuous_gradient_in_a_corner() {
    let grid = with_rings(Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [3, 3]).unwrap(), &SQUARE, 2.0);
    let slope = function(|x: f64, y: f64| 3.0 * x - 2.0 * y);
    let solution = solve(&dirichlet(constant(0.0), slope), grid, 16);
    for [x, y] in SQUARE {
        let found = solution.gradients(&[x], &[y]);
        assert!((found.ux[0] - 3.0).abs() < 1e-3 && (found.uy[0] + 2.0).abs() < 1e-3, "{found:?}");
    }
}

/// The second solution of an estimate has rings as well, on another grid.
#[test]
fn estimates_know_rings() {
    let file = ProblemFile::new(FILE).set("discretization.points=16").set("discretization.subdomains=[4, 4]");
    let report = file.set("discretization.estimate=true").case().unwrap().solve(&Silent).unwrap().report;
    assert_eq!(report.rings, 4);
    let estimate = report.estimate.unwrap();
    assert!(estimate.l2 < 2e-11 && estimate.h1 < 1e-8, "{} {}", estimate.l2, estimate.h1);
}

/// `corners` of a problem file: how many vertices have rings.
#[test]
fn a_file_says_which_corners_have_rings() {
    let rings = |corners: &str, source: &str| {
        let file = ProblemFile::new(FILE).set(format!("discretization.corners={corners}")).set(source);
        file.case().and_then(|case| case.solve(&Silent)).map(|solution| solution.report.rings)
    };
    let one = "equation.source=1";
    let default = ProblemFile::new(FILE).case().unwrap().solve(&Silent).unwrap();
    assert_eq!(default.report.rings, 4);
    assert_eq!(rings("auto", one).unwrap(), 4);
    assert_eq!(rings("auto", "equation.source=sin(pi*x)*sin(pi*y)").unwrap(), 0);
    assert_eq!(rings("all", "equation.source=sin(pi*x)*sin(pi*y)").unwrap(), 4);
    assert_eq!(rings("none", one).unwrap(), 0);
    assert_eq!(rings("[[0.0, 0.0], [1.0, 1.0]]", one).unwrap(), 2);
    for wrong in ["some", "[[0.2, 0.2]]", "[0.0, 0.0]", "3"] {
        let message = rings(wrong, one).unwrap_err().to_string();
        assert!(message.contains("discretization.corners"), "{message}");
    }
}
