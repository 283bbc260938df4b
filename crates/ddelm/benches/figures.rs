//! The figures of the README's speed table: rates as shares of the machine's own matrix product, and seconds.
//!
//! `cargo bench --bench figures` prints them; `-- growth` adds the growth of the interface solve up to 64 x 64.

use std::sync::Arc;
use std::time::Instant;

use ddelm::algebra::factor::{Mat, multiply};
use ddelm::problem::field::function_with_gradient;
use ddelm::problem::gallery;
use ddelm::{Decomposition, Equation, Problem, Report, Settings, Solver};

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

fn solve(problem: &Problem, n: usize, points: usize, threads: usize) -> Report {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    let decomposition = Arc::new(Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [n, n]).expect("a rectangle"));
    let settings = Settings { points, ..Settings::fast() };
    pool.install(|| Solver::new(problem, decomposition, &settings).and_then(|s| s.solve()).expect("a solution").report)
}

/// `rho = 1.1 + tanh(3 sin(5 x + 2 y))`, different in every subdomain.
fn variable() -> Problem {
    let inner = |x: f64, y: f64| 3.0 * (5.0 * x + 2.0 * y).sin();
    let slope = move |x: f64, y: f64| 3.0 * (5.0 * x + 2.0 * y).cos() / inner(x, y).cosh().powi(2);
    let rho = function_with_gradient(
        move |x, y| 1.1 + inner(x, y).tanh(),
        move |x, y| [5.0 * slope(x, y), 2.0 * slope(x, y)],
    );
    Problem { equation: Equation::diffusion(rho), exact: None, ..gallery::poisson() }
}

/// Rate of an m x n by n x n product on one thread, in GF/s.
fn product_rate(m: usize, n: usize) -> f64 {
    let entry = |i: usize, j: usize| ((i * 31 + j * 17) as f64).sin();
    let (a, b) = (Mat::from_fn(m, n, entry), Mat::from_fn(n, n, entry));
    let mut out = Mat::zeros(m, n);
    let seconds = median(
        (0..15)
            .map(|_| {
                let clock = Instant::now();
                multiply(out.as_mut(), a.as_ref(), b.as_ref());
                clock.elapsed().as_secs_f64()
            })
            .collect(),
    );
    2.0 * (m * n * n) as f64 / seconds / 1e9
}

/// Operations of one local factorization: QR of an m x r matrix, Q'E, A R^-1, and the products D and T for k columns.
fn local_operations(m: f64, r: f64, k: f64) -> f64 {
    let qr = 2.0 * m * r * r - 2.0 / 3.0 * r.powi(3);
    let apply = (4.0 * m * r - 2.0 * r * r) * k;
    qr + apply + k * r * r + 2.0 * k * k * r + 2.0 * k * k * (m - r)
}

fn main() {
    println!("local phase, one thread, variable coefficient (share of the matrix product's rate, same run)");
    for (points, n) in [(16, 12), (32, 4)] {
        let rates: Vec<(f64, f64)> = (0..5)
            .map(|_| {
                let report = solve(&variable(), n, points, 1);
                let (m, r) = (report.features.rows as f64, report.features.rank.max as f64);
                let sides = (4 * n * n - 4 * n) as f64;
                let k = sides * (points - 1) as f64 / (n * n) as f64;
                let rate = (n * n) as f64 * local_operations(m, r, k) / report.seconds.factor / 1e9;
                (rate, product_rate(m as usize, r as usize))
            })
            .collect();
        let (rate, product) =
            (median(rates.iter().map(|r| r.0).collect()), median(rates.iter().map(|r| r.1).collect()));
        println!("  {points} points: {rate:.1} GF/s of {product:.1} GF/s: {:.0} %", 100.0 * rate / product);
    }
    println!("seconds of a solve, median of 5, one thread and two");
    for (name, problem, n) in [
        ("constant 4x4", gallery::poisson(), 4),
        ("constant 16x16", gallery::poisson(), 16),
        ("variable 16x16", variable(), 16),
    ] {
        let time = |threads| median((0..5).map(|_| solve(&problem, n, 16, threads).seconds.total).collect());
        let (one, two) = (time(1), time(2));
        println!("  {name}: {one:.4} and {two:.4}, ratio {:.2}", one / two);
    }
    if std::env::args().any(|a| a == "growth") {
        println!("growth, variable coefficient, 12 points, two threads");
        let mut last: Option<(f64, f64)> = None;
        for n in [8, 16, 32, 64] {
            let report = solve(&variable(), n, 12, 2);
            let (unknowns, seconds) = (report.interface.unknowns as f64, report.seconds.interface);
            let exponent = last.map(|(u, s)| (seconds / s).ln() / (unknowns / u).ln());
            println!(
                "  {n}x{n}: {unknowns} unknowns, interface {seconds:.2} s, total {:.2} s, peak {:.2} GiB, exponent {}",
                report.seconds.total,
                report.peak_memory_bytes.unwrap_or(0) as f64 / (1u64 << 30) as f64,
                exponent.map_or("-".into(), |e| format!("{e:.2}"))
            );
            last = Some((unknowns, seconds));
        }
    }
}
