//! One benchmark for each stage of a solve, on one thread.

use std::hint::black_box;
use std::sync::Arc;

use ddelm::algebra::factor::{Mat, multiply, pivoted_qr, qr};
use ddelm::method::settings::InterfaceSolver;
use ddelm::network::activation::Activation;
use ddelm::problem::gallery;
use ddelm::{Decomposition, Problem, Settings, Solver};
use divan::Bencher;

fn main() {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().expect("the first pool");
    divan::main();
}

fn unit_square(n: usize) -> Arc<Decomposition> {
    Arc::new(Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [n, n]).expect("a rectangle"))
}

/// A matrix with entries between -1 and 1 that is not structured.
fn matrix(rows: usize, columns: usize) -> Mat<f64> {
    Mat::from_fn(rows, columns, |i, j| ((i * 7919 + j * 104_729) as f64 * 0.618_034).sin())
}

#[divan::bench]
fn activation_and_four_derivatives(bencher: Bencher) {
    let z: Vec<f64> = (0..4096).map(|k| k as f64 * 1e-3 - 2.0).collect();
    let mut out = vec![vec![0.0; z.len()]; 5];
    bencher.bench_local(|| {
        let mut slices: Vec<&mut [f64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
        Activation::Tanh.evaluate(black_box(&z), 4, &mut slices);
    });
}

#[divan::bench(args = [(285, 217), (1085, 867)])]
fn matrix_product(bencher: Bencher, (m, n): (usize, usize)) {
    let (a, b) = (matrix(m, n), matrix(n, n));
    let mut out = Mat::zeros(m, n);
    bencher.bench_local(|| multiply(out.as_mut(), black_box(a.as_ref()), b.as_ref()));
}

#[divan::bench(args = [(285, 217), (1085, 867)])]
fn plain_qr(bencher: Bencher, (m, n): (usize, usize)) {
    let k = matrix(m, n);
    bencher.with_inputs(|| k.clone()).bench_local_values(|k| qr(k).expect("finite"));
}

#[divan::bench(args = [(285, 256), (1085, 1024)])]
fn column_pivoted_qr(bencher: Bencher, (m, n): (usize, usize)) {
    let k = matrix(m, n);
    bencher.with_inputs(|| k.clone()).bench_local_values(|k| pivoted_qr(k, 1e-15, 4 * m / 5).expect("finite"));
}

fn build(bencher: Bencher, problem: Problem, n: usize, points: usize) {
    let (decomposition, settings) = (unit_square(n), Settings { points, ..Settings::fast() });
    bencher.bench_local(|| Solver::new(&problem, decomposition.clone(), &settings).expect("a solver"));
}

/// Basis and one factorization: a single subdomain has no interface.
#[divan::bench(args = [12, 16, 24], sample_count = 10)]
fn reference_basis_and_local_factor(bencher: Bencher, points: usize) {
    build(bencher, gallery::poisson(), 1, points);
}

/// Rows, local factorizations and the interface factorization, where all subdomains differ.
#[divan::bench(args = [4, 8], sample_count = 5)]
fn build_with_variable_coefficients(bencher: Bencher, n: usize) {
    build(bencher, gallery::mixed_conditions(), n, 16);
}

/// The same where one local factorization serves all: the interface dominates.
#[divan::bench(args = [4, 8, 16], sample_count = 5)]
fn build_with_constant_coefficients(bencher: Bencher, n: usize) {
    build(bencher, gallery::poisson(), n, 16);
}

/// Right-hand side, refinement and recovery.
#[divan::bench(args = [4, 8, 16], sample_count = 10)]
fn solve_with_a_factored_problem(bencher: Bencher, n: usize) {
    let solver = Solver::new(&gallery::poisson(), unit_square(n), &Settings::fast()).expect("a solver");
    bencher.bench_local(|| solver.solve().expect("a solution"));
}

#[divan::bench(args = [4], sample_count = 3)]
fn conjugate_gradients(bencher: Bencher, n: usize) {
    let settings = Settings { points: 8, interface: InterfaceSolver::Cg, ..Settings::paper() };
    let solver = Solver::new(&gallery::poisson(), unit_square(n), &settings).expect("a solver");
    bencher.bench_local(|| solver.solve().expect("a solution"));
}

#[divan::bench]
fn evaluate_ten_thousand_points(bencher: Bencher) {
    let solver = Solver::new(&gallery::poisson(), unit_square(4), &Settings::fast()).expect("a solver");
    let solution = solver.solve().expect("a solution");
    let x: Vec<f64> = (0..10_000).map(|k| (k as f64 * 0.618).fract()).collect();
    let y: Vec<f64> = (0..10_000).map(|k| (k as f64 * 0.377).fract()).collect();
    bencher.bench_local(|| solution.gradients(black_box(&x), &y));
}
