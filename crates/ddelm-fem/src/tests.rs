//! Tests of the whole solver: patch test, convergence, iterations, threads, refusals.

use std::f64::consts::PI;
use std::sync::Arc;

use super::*;
use ddelm::problem::field::{FieldRef, Samples, constant, function, function_with_gradient};
use ddelm::problem::model::{Condition, Diffusion, Equation};

fn tensor(a11: FieldRef, a12: FieldRef, a22: FieldRef, reaction: Option<FieldRef>) -> Equation {
    Equation::SecondOrder { diffusion: Diffusion::Tensor([[a11, a12.clone()], [a12, a22]]), advection: None, reaction }
}

fn problem(equation: Equation, source: FieldRef, conditions: [Condition; 4]) -> Problem {
    Problem::new(equation, source, conditions.into())
}

fn dirichlet(u: &FieldRef) -> [Condition; 4] {
    [(); 4].map(|()| Condition::dirichlet(u.clone()))
}

fn zero_walls(equation: Equation) -> Problem {
    problem(equation, constant(1.0), dirichlet(&constant(0.0)))
}

/// The paper's kind of coefficient, between 0.1 and 2.1.
fn rough() -> FieldRef {
    function(|x, y| {
        let wave = 3.0 * (9.0 * x + 4.0 * y).sin() * (13.0 * y - 5.0 * x).cos();
        (wave + 2.0 * (17.0 * x + 3.0).sin() * (23.0 * y + 31.0 * x).sin()).tanh() + 1.1
    })
}

fn largest_nodal_error(solution: &FiniteElementSolution, exact: impl Fn(f64, f64) -> f64) -> f64 {
    let (x, y) = (solution.node_x(), solution.node_y());
    let nodes = y.iter().flat_map(|&y| x.iter().map(move |&x| (x, y)));
    nodes.zip(solution.nodal()).map(|((x, y), u)| (u - exact(x, y)).abs()).fold(0.0, f64::max)
}

fn accurate(cells: [usize; 2]) -> Settings {
    Settings { tolerance: 1e-14, ..Settings::new(cells) }
}

/// A linear u solves the discrete problem exactly, whatever the tensor and the conditions.
#[test]
fn patch_test() {
    let u = |x: f64, y: f64| 1.0 + 2.0 * x - 3.0 * y;
    for (a12, turn) in [(0.5, 0), (-0.5, 1), (0.5, 2), (-0.5, 3)] {
        let [flux_x, flux_y] = [2.0 * 2.0 - 3.0 * a12, 2.0 * a12 - 3.0 * 1.5];
        let normal_flux = [-flux_x, flux_x, -flux_y, flux_y];
        let conditions = [0, 1, 2, 3].map(|side| {
            let flux = normal_flux[side];
            match (side + turn) % 4 {
                0 => Condition::dirichlet(function(u)),
                1 => Condition::neumann(constant(flux)),
                2 => Condition::robin(constant(0.7), function(move |x, y| flux + 0.7 * u(x, y))),
                _ => Condition::robin(constant(20.0), function(move |x, y| flux + 20.0 * u(x, y))),
            }
        });
        let equation = tensor(constant(2.0), constant(a12), constant(1.5), None);
        let problem = problem(equation, constant(0.0), conditions);
        let solution = solve(&problem, [-1.0, 2.0], [0.5, 1.0], &accurate([37, 22])).unwrap();
        assert!(solution.converged);
        assert!(largest_nodal_error(&solution, u) < 1e-12, "turn {turn}");
    }
}

/// With a reaction the source is linear too, and walls all around make its quadrature exact.
#[test]
fn patch_test_with_reaction() {
    let u = |x: f64, y: f64| 1.0 + 2.0 * x - 3.0 * y;
    let equation = tensor(constant(2.0), constant(0.5), constant(1.5), Some(constant(40.0)));
    let problem = problem(equation, function(move |x, y| 40.0 * u(x, y)), dirichlet(&function(u)));
    let solution = solve(&problem, [-1.0, 2.0], [0.5, 1.0], &accurate([20, 23])).unwrap();
    assert!(largest_nodal_error(&solution, u) < 1e-12);
}

/// A coefficient that jumps along a grid line: u is linear on either side, with equal fluxes.
#[test]
fn jump_along_a_grid_line_is_exact() {
    let u = |x: f64, _: f64| if x < 0.5 { 10.0 * x } else { 5.0 + (x - 0.5) };
    let equation = Equation::diffusion(function(|x, _| if x < 0.5 { 1.0 } else { 10.0 }));
    let problem = problem(equation, constant(0.0), dirichlet(&function(u)));
    let solution = solve(&problem, [0.0, 1.0], [0.0, 1.0], &accurate([30, 17])).unwrap();
    assert!(largest_nodal_error(&solution, u) < 1e-12);
}

/// Halves the spacing twice and checks second order in L2, first order in H1.
fn check_orders(problem: &Problem, exact: &FieldRef, x: [f64; 2], y: [f64; 2], cells: [usize; 2]) {
    let errors = [1, 2, 4].map(|factor| {
        let settings = Settings { tolerance: 1e-11, ..Settings::new(cells.map(|cells| cells * factor)) };
        let solution = solve(problem, x, y, &settings).unwrap();
        assert!(solution.converged);
        solution.errors(exact.as_ref()).unwrap()
    });
    for pair in errors.windows(2) {
        let l2 = (pair[0].l2 / pair[1].l2).log2();
        let h1 = (pair[0].h1.unwrap() / pair[1].h1.unwrap()).log2();
        assert!((1.93..2.07).contains(&l2), "order {l2} in L2: {errors:?}");
        assert!((0.95..1.05).contains(&h1), "order {h1} in H1: {errors:?}");
    }
}

#[test]
fn orders_for_poisson() {
    let exact = function_with_gradient(
        |x, y| (PI * x).sin() * (2.0 * PI * y).sin(),
        |x, y| [PI * (PI * x).cos() * (2.0 * PI * y).sin(), 2.0 * PI * (PI * x).sin() * (2.0 * PI * y).cos()],
    );
    let source = function(|x, y| 5.0 * PI * PI * (PI * x).sin() * (2.0 * PI * y).sin());
    let problem = problem(Equation::poisson(), source, dirichlet(&constant(0.0)));
    check_orders(&problem, &exact, [0.0, 1.0], [0.0, 1.0], [32, 32]);
}

/// Variable coefficient and reaction, every kind of condition, a rectangle, cells that are no powers of two.
#[test]
fn orders_for_mixed_conditions() {
    let u = |x: f64, y: f64| (0.5 * x).exp() * y.cos();
    let gradient = move |x: f64, y: f64| [0.5 * u(x, y), -(0.5 * x).exp() * y.sin()];
    let rho = |x: f64, y: f64| 1.0 + 0.5 * (2.0 * x + y).sin();
    let source = function(move |x, y| {
        let ([ux, uy], slope) = (gradient(x, y), 0.5 * (2.0 * x + y).cos());
        0.75 * rho(x, y) * u(x, y) - slope * (2.0 * ux + uy) + (1.0 + x * x) * u(x, y)
    });
    let equation = Equation::SecondOrder {
        diffusion: Diffusion::Scalar(function(rho)),
        advection: None,
        reaction: Some(function(|x, _| 1.0 + x * x)),
    };
    let conditions = [
        Condition::robin(
            function(|_, y| 1.0 + y),
            function(move |x, y| -rho(x, y) * gradient(x, y)[0] + (1.0 + y) * u(x, y)),
        ),
        Condition::neumann(function(move |x, y| rho(x, y) * gradient(x, y)[0])),
        Condition::dirichlet(function(u)),
        Condition::neumann(function(move |x, y| rho(x, y) * gradient(x, y)[1])),
    ];
    let exact = function_with_gradient(u, gradient);
    check_orders(&problem(equation, source, conditions), &exact, [-1.0, 2.0], [0.5, 2.0], [30, 13]);
}

#[test]
fn orders_for_a_variable_tensor() {
    let u = |x: f64, y: f64| (x + 2.0 * y).sin();
    let slope = |x: f64, y: f64| (x + 2.0 * y).cos();
    // -(a11 u_x + a12 u_y)_x - (a12 u_x + a22 u_y)_y with a11 = 2 + x, a12 = -x y / 2, a22 = 1 + y^2.
    let source = function(move |x, y| {
        let (c, s) = (slope(x, y), u(x, y));
        let [a11, a12, a22] = [2.0 + x, -0.5 * x * y, 1.0 + y * y];
        let first_order = (1.0 - 0.5 * x) * c + (-0.5 * y + 2.0 * y) * 2.0 * c;
        s * (a11 + 4.0 * a12 + 4.0 * a22) - first_order
    });
    let equation = tensor(function(|x, _| 2.0 + x), function(|x, y| -0.5 * x * y), function(|_, y| 1.0 + y * y), None);
    let exact = function_with_gradient(u, move |x, y| [slope(x, y), 2.0 * slope(x, y)]);
    let problem = problem(equation, source, dirichlet(&exact));
    check_orders(&problem, &exact, [0.0, 1.0], [0.0, 1.0], [25, 27]);
}

fn iterations(equation: Equation, width: f64, cells: [usize; 2]) -> usize {
    let solution = solve(&zero_walls(equation), [0.0, width], [0.0, 1.0], &Settings::new(cells)).unwrap();
    assert!(solution.converged && solution.relative_residual <= 1e-9);
    solution.iterations
}

#[test]
fn iterations_do_not_grow_with_the_grid() {
    for n in [32, 64, 128, 256, 512] {
        assert!(iterations(Equation::poisson(), 1.0, [n, n]) <= 11);
        assert!(iterations(Equation::diffusion(rough()), 1.0, [n, n]) <= 15);
    }
}

/// Odd and prime numbers of cells, stretched cells, anisotropic diffusion.
#[test]
fn iterations_are_few_on_any_grid() {
    for cells in [[100, 100], [97, 97], [257, 257], [31, 200], [499, 64], [3, 250]] {
        assert!(iterations(Equation::poisson(), 1.0, cells) <= 14, "{cells:?}");
    }
    for width in [0.1, 2.0, 4.0, 100.0] {
        assert!(iterations(Equation::poisson(), width, [128, 128]) <= 14, "width {width}");
    }
    let anisotropic = tensor(constant(30.0), constant(1.0), constant(1.0), None);
    assert!(iterations(anisotropic, 1.0, [128, 128]) <= 16);
}

#[test]
fn result_does_not_depend_on_the_threads() {
    let problem = zero_walls(Equation::diffusion(rough()));
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let solution = solve(&problem, [0.0, 1.0], [0.0, 1.0], &Settings::new([301, 260])).unwrap();
            let errors = solution.errors(rough().as_ref()).unwrap();
            (solution.nodal().to_vec(), solution.relative_residual.to_bits(), errors.l2.to_bits())
        })
    };
    assert!(run(1) == run(2) && run(1) == run(3));
}

#[test]
fn values_and_gradients_are_linear_in_each_triangle() {
    let square = function(|x, y| x * x + x * y);
    let problem = problem(Equation::poisson(), constant(-2.0), dirichlet(&square));
    let solution = solve(&problem, [1.0, 3.0], [0.0, 1.0], &Settings::new([2, 1])).unwrap();
    assert_eq!(solution.nodal(), [1.0, 4.0, 9.0, 2.0, 6.0, 12.0]);
    assert_eq!((solution.node_x(), solution.node_y()), (vec![1.0, 2.0, 3.0], vec![0.0, 1.0]));
    // Lower and upper triangle of the second cell, a node, and a point beyond the right side.
    let (x, y) = ([2.75, 2.25, 2.0, 4.0], [0.25, 0.75, 1.0, 0.5]);
    let [mut u, mut dx, mut dy] = [[0.0; 4]; 3];
    solution.values(&x, &y, &mut u);
    solution.gradients(&x, &y, &mut dx, &mut dy);
    assert_eq!(u, [8.5, 7.0, 6.0, 15.5]);
    assert_eq!((dx[..2].to_vec(), dy[..2].to_vec()), (vec![5.0, 6.0], vec![3.0, 2.0]));
    solution.values(&[f64::NAN], &[0.5], &mut u[..1]);
    assert!(u[0].is_nan());
}

#[test]
fn lengths_that_differ_are_errors() {
    let solution = solve(&zero_walls(Equation::poisson()), [0.0, 1.0], [0.0, 1.0], &Settings::new([4, 4])).unwrap();
    let u: FieldRef = Arc::new(solution);
    let (three, two) = ([0.1; 3], [0.1; 2]);
    assert!(u.values(&Samples::at(&three, &two), &mut [0.0; 3]).is_err());
    assert!(u.values(&Samples::at(&three, &three), &mut [0.0; 2]).is_err());
    assert!(u.gradients(&Samples::at(&three, &three), &mut [0.0; 3], &mut [0.0; 2]).is_err());
    assert!(u.values(&Samples::at(&three, &three), &mut [0.0; 3]).is_ok());
}

#[test]
fn errors_are_relative_norms() {
    let zero = problem(Equation::poisson(), constant(0.0), dirichlet(&constant(0.0)));
    let solution = solve(&zero, [0.0, 2.0], [0.0, 1.0], &Settings::new([6, 5])).unwrap();
    assert_eq!((solution.iterations, solution.converged), (0, true));
    let known = function_with_gradient(|x, y| x * y, |x, y| [y, x]);
    let errors = solution.errors(known.as_ref()).unwrap();
    assert!((errors.l2 - 1.0).abs() < 1e-15 && (errors.h1.unwrap() - 1.0).abs() < 1e-15);
    assert_eq!(solution.errors(function(|x, _| x).as_ref()).unwrap().h1, None);
    // A zero solution has no relative error: the norm of u = 1 itself.
    let one = problem(Equation::poisson(), constant(0.0), dirichlet(&constant(1.0)));
    let one = solve(&one, [0.0, 2.0], [0.0, 1.0], &accurate([6, 5])).unwrap();
    assert!((one.errors(constant(0.0).as_ref()).unwrap().l2 - 2.0_f64.sqrt()).abs() < 1e-12);
    let error = solution.errors(function(|x, _| 1.0 / (x - x)).as_ref()).unwrap_err();
    assert!(matches!(error, Error::NotFinite { .. }));
}

#[test]
fn too_few_iterations_are_a_status() {
    let settings = Settings { max_iterations: 2, ..Settings::new([64, 64]) };
    let solution = solve(&zero_walls(Equation::poisson()), [0.0, 1.0], [0.0, 1.0], &settings).unwrap();
    assert_eq!((solution.iterations, solution.converged), (2, false));
    assert!(solution.relative_residual > 1e-9 && solution.relative_residual < 0.1);
}

fn refusal(problem: &Problem) -> Error {
    solve(problem, [0.0, 1.0], [0.0, 1.0], &Settings::new([8, 8])).unwrap_err()
}

#[test]
fn refuses_what_it_cannot_solve() {
    let one = || constant(1.0);
    let with_tensor =
        |rows| Equation::SecondOrder { diffusion: Diffusion::Tensor(rows), advection: None, reaction: None };
    let advection = Equation::SecondOrder {
        diffusion: Diffusion::Scalar(one()),
        advection: Some([one(), constant(0.0)]),
        reaction: None,
    };
    let reaction = Equation::SecondOrder {
        diffusion: Diffusion::Scalar(one()),
        advection: None,
        reaction: Some(function(|x, _| 0.5 - x)),
    };
    for (equation, key) in [
        (Equation::Plate { rigidity: one() }, "equation"),
        (advection, "equation.advection"),
        (reaction, "equation.reaction"),
        (Equation::diffusion(function(|x, _| x - 0.5)), "equation.diffusion"),
        (with_tensor([[one(), constant(0.5)], [constant(0.4), one()]]), "equation.diffusion"),
        (with_tensor([[one(), constant(2.0)], [constant(2.0), one()]]), "equation.diffusion"),
    ] {
        let error = refusal(&zero_walls(equation));
        assert!(matches!(error, Error::Input { .. }), "{error}");
        assert_eq!(error.key(), Some(key));
    }

    let mut problem = zero_walls(Equation::Plate { rigidity: one() });
    problem.conditions.fill(Condition::clamped(one(), one()));
    assert_eq!(refusal(&problem).key(), Some("equation"));
    problem = zero_walls(Equation::poisson());
    problem.conditions[2] = Condition::clamped(one(), one());
    assert_eq!(refusal(&problem).key(), Some("boundary.bottom"));
    problem.conditions[2] = Condition::robin(constant(-1.0), one());
    assert_eq!(refusal(&problem).key(), Some("boundary.bottom"));
    problem.conditions.pop();
    assert_eq!(refusal(&problem).key(), Some("boundary"));
}

#[test]
fn refuses_settings_without_a_meaning() {
    let problem = zero_walls(Equation::poisson());
    let key = |x, settings| solve(&problem, x, [0.0, 1.0], &settings).unwrap_err().key().map(str::to_owned);
    let good = Settings::new([8, 8]);
    assert_eq!(key([1.0, 0.0], good).as_deref(), Some("domain.x"));
    assert_eq!(key([0.0, f64::INFINITY], good).as_deref(), Some("domain.x"));
    for cells in [[0, 8], [usize::MAX, 2], [1 << 40, 1]] {
        assert_eq!(key([0.0, 1.0], Settings::new(cells)).as_deref(), Some("finite_element.cells"));
    }
    let tolerance = Settings { tolerance: f64::NAN, ..good };
    assert_eq!(key([0.0, 1.0], tolerance).as_deref(), Some("finite_element.tolerance"));
}

#[test]
fn names_the_point_where_data_are_not_finite() {
    let pole = || function(|x, y| if x > 0.5 && y > 0.5 { f64::NAN } else { 1.0 });
    let mut in_source = zero_walls(Equation::poisson());
    in_source.source = pole();
    let mut on_top = zero_walls(Equation::poisson());
    on_top.conditions[3] = Condition::neumann(pole());
    let in_diffusion = zero_walls(Equation::diffusion(pole()));
    let cases = [(in_source, "equation.source"), (in_diffusion, "equation.diffusion"), (on_top, "boundary.top")];
    for (problem, expected) in cases {
        match refusal(&problem) {
            Error::NotFinite { quantity, value, x, y, .. } => {
                assert_eq!(quantity, expected);
                assert!(value.is_nan() && x > 0.5 && x < 0.63 && y > 0.5);
            }
            error => panic!("{error}"),
        }
    }
    assert_eq!(refusal(&zero_walls(Equation::diffusion(constant(f64::INFINITY)))).key(), Some("equation.diffusion"));
}

#[test]
fn only_derivatives_determine_nothing() {
    let free = |k: f64| [(); 4].map(|()| Condition::robin(constant(k), constant(0.0)));
    let undetermined = problem(Equation::poisson(), constant(1.0), free(0.0));
    assert!(matches!(refusal(&undetermined), Error::NotUnique { .. }));
    let determined = problem(Equation::poisson(), constant(1.0), free(1e-3));
    assert!(solve(&determined, [0.0, 1.0], [0.0, 1.0], &Settings::new([45, 40])).unwrap().converged);
}
