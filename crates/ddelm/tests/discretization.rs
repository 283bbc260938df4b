//! What the discretization of the default method reaches: no flux is lost however many subdomains there are, few points
//! converge in the size of the subdomains, and no seed is unlucky.

use std::f64::consts::PI;
use std::sync::Arc;

use ddelm::exchange::Serial;
use ddelm::problem::field::function_with_gradient;
use ddelm::problem::gallery;
use ddelm::{Condition, Decomposition, Equation, Problem, Settings, Silent, Solver, constant, function};

/// `rho = 1.1 + tanh(3 sin(5 x + 2 y))` and its derivative by `5 x + 2 y`.
fn rho(x: f64, y: f64) -> [f64; 2] {
    let s = 5.0 * x + 2.0 * y;
    let t = (3.0 * s.sin()).tanh();
    [1.1 + t, 3.0 * (1.0 - t * t) * s.cos()]
}

/// One wave per subdomain, `u = sin(k x) sin(k y)` with `k = 2 pi n`, with the diffusion 1 or rho.
fn waves(n: usize, variable: bool) -> Problem {
    let k = 2.0 * PI * n as f64;
    let u = move |x: f64, y: f64| (k * x).sin() * (k * y).sin();
    let gradient = move |x: f64, y: f64| [k * (k * x).cos() * (k * y).sin(), k * (k * x).sin() * (k * y).cos()];
    let source = move |x: f64, y: f64| {
        let ([rho, slope], [ux, uy]) = (if variable { rho(x, y) } else { [1.0, 0.0] }, gradient(x, y));
        2.0 * k * k * rho * u(x, y) - slope * (5.0 * ux + 2.0 * uy)
    };
    let diffusion = || {
        function_with_gradient(
            |x, y| rho(x, y)[0],
            |x, y| {
                let slope = rho(x, y)[1];
                [5.0 * slope, 2.0 * slope]
            },
        )
    };
    Problem::new(
        if variable { Equation::diffusion(diffusion()) } else { Equation::poisson() },
        function(source),
        vec![Condition::dirichlet(constant(0.0)); 4],
    )
    .with_exact(function_with_gradient(u, gradient))
}

/// The relative L2 error on n x n subdomains.
fn error(problem: &Problem, n: usize, points: usize, seed: u64) -> f64 {
    let decomposition = Arc::new(Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [n, n]).unwrap());
    let settings = Settings { points, seed, ..Settings::fast() };
    let solution = Solver::once(Arc::new(Serial), problem, decomposition, &settings, &Silent).unwrap();
    solution.errors(problem.exact.as_ref().unwrap().as_ref(), 7).unwrap().l2
}

#[test]
fn one_wave_per_subdomain_has_the_same_error_on_any_number_of_them() {
    for n in [8, 16, 32, 64] {
        let found = error(&waves(n, false), n, 12, 0);
        assert!(found <= 2e-6, "{n}: {found:.1e}");
        let (found, limit) = (error(&waves(n, true), n, 12, 0), if n < 64 { 1e-5 } else { 3e-5 });
        assert!(found <= limit, "{n}, variable: {found:.1e}");
    }
}

#[test]
fn few_points_converge_in_the_size_of_the_subdomains() {
    for points in [6, 8] {
        let mut last = f64::INFINITY;
        for n in [4, 8, 16, 32, 64] {
            let found = error(&gallery::sines(1.0, 1.0), n, points, 0);
            assert!(found < last || found < 1e-12, "{points} points, {n}: {last:.1e}, then {found:.1e}");
            last = found;
        }
        assert!(last < 1e-11, "{points} points: {last:.1e}");
    }
}

#[test]
fn no_seed_is_unlucky() {
    for (variable, points) in [(false, 12), (true, 12), (true, 16)] {
        let problem = waves(8, variable);
        let mut found: Vec<f64> = (0..8).map(|seed| error(&problem, 8, points, seed)).collect();
        found.sort_by(f64::total_cmp);
        let median = (found[3] * found[4]).sqrt();
        assert!(found[7] <= 5.0 * median, "{points} points, variable {variable}: {found:?}");
    }
}
