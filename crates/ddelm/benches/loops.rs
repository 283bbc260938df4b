//! What loops over one factorization cost beside one solve with it: CPU time of one thread, the least of some runs in turns.
//!
//! ```text
//! cargo bench --bench loops        ten eigenvalues at 16 x 16 subdomains with 16 points, without estimates and with them
//! ```

use ddelm::{ProblemFile, Silent};
use rustix::time::{ClockId, clock_gettime};

/// Runs of each, in turns.
const ROUNDS: usize = 7;

/// CPU seconds of all threads of the process.
fn cpu_seconds() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + 1e-9 * now.tv_nsec as f64
}

fn timed(work: impl FnOnce()) -> f64 {
    let before = cpu_seconds();
    work();
    cpu_seconds() - before
}

fn file(diffusion: &str, estimate: bool) -> String {
    format!(
        "[domain]\nx = [0.0, 1.0]\ny = [0.0, 1.0]\n[equation]\ndiffusion = \"{diffusion}\"\nsource = \"sin(pi*x)*exp(y)\"\n\
         [boundary]\ndirichlet = 0\n[discretization]\nsubdomains = [16, 16]\npoints = 16\nestimate = {estimate}\n"
    )
}

fn eigenvalues(diffusion: &str, estimate: bool) {
    let text = file(diffusion, estimate);
    let solve = || {
        let solved = ProblemFile::new(&text).case().and_then(|case| case.solve(&Silent));
        solved.expect("a solution");
    };
    let wanted = format!("{text}[eigenvalues]\ncount = 10\n");
    let find = || {
        let found = ProblemFile::new(&wanted).case().and_then(|case| case.solve(&Silent));
        assert_eq!(found.expect("eigenvalues").report.eigenvalues.len(), 10);
    };
    let find_all = || {
        let found = ProblemFile::new(&wanted).case().and_then(|case| case.eigenpairs(&Silent));
        assert_eq!(found.expect("eigenpairs").len(), 10);
    };
    let works: [&dyn Fn(); 3] = [&solve, &find, &find_all];
    let mut least = [f64::INFINITY; 3];
    for _ in 0..ROUNDS {
        works.iter().zip(&mut least).for_each(|(work, least)| *least = least.min(timed(work)));
    }
    let [one, ten, all] = least;
    println!(
        "diffusion {diffusion:<28} estimate {estimate:<5}: solve {one:.4} s, eigenvalues {ten:.4} s: {:.2} times, with all \
         eigenfunctions {all:.4} s: {:.2} times",
        ten / one,
        all / one
    );
}

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    pool.install(|| {
        for diffusion in ["1", "1.1 + tanh(3*sin(5*x + 2*y))"] {
            for estimate in [false, true] {
                eigenvalues(diffusion, estimate);
            }
        }
    });
}
