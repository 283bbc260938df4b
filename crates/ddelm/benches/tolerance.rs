//! What a tolerance costs, and whether it is kept. Errors are relative to the exact solution in L2, seconds are CPU time of all
//! threads; `key=value` sets a key of the files.
//!
//! ```text
//! cargo bench --bench tolerance -- nist                          the NIST collection to the tolerances that are asked of it
//! cargo bench --bench tolerance -- nist 1e-6 "6 boundary layer"  files whose names begin so, to these tolerances
//! cargo bench --bench tolerance -- random 0 100                  random problems with random tolerances
//! cargo bench --bench tolerance -- fixed                         the cost beside that of the cheapest fixed solve; its first half without words
//! cargo bench --bench tolerance -- corners                       what looking for corners and their rings cost
//! cargo bench --bench tolerance -- square                        f = 1 on a square: estimates and times over sizes
//! ```

#[expect(dead_code, reason = "where a solution does something is for the tests")]
#[path = "../tests/nist/collection.rs"]
mod collection;
#[path = "../tests/random/problems.rs"]
mod problems;

use collection::collection;
use ddelm::method::report::Status;
use ddelm::{ProblemFile, Silent, Solution};
use rustix::time::{ClockId, clock_gettime};

/// CPU seconds of all threads of the process.
fn cpu_seconds() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + 1e-9 * now.tv_nsec as f64
}

fn solve(text: &str, keys: &[String]) -> (ddelm::Result<Solution>, f64) {
    let file = keys.iter().fold(ProblemFile::new(text), |file, key| file.set(key));
    let before = cpu_seconds();
    let solved = file.case().and_then(|case| case.solve(&Silent));
    (solved, cpu_seconds() - before)
}

/// Solves a file, prints a line, and returns the true error over the tolerance, and whether the status is solved.
fn run(name: &str, text: &str, tolerance: f64, keys: &[String]) -> Option<(f64, bool)> {
    let (solved, seconds) = solve(text, keys);
    let solution = match solved {
        Err(error) => {
            println!("{name:<34} {tolerance:.0e} refused: {error}");
            return None;
        }
        Ok(solution) => solution,
    };
    let report = &solution.report;
    let number = |value: Option<f64>| value.map_or("-".to_string(), |v| format!("{v:.1e}"));
    let error = report.errors.as_ref().map(|e| e.l2);
    println!(
        "{name:<34} {tolerance:.0e} error {:<8} estimate {:<8} {:<20} {:>5} subdomains {:>2} points {:>2} attempts {seconds:>7.2} s",
        number(error),
        number(report.estimate.as_ref().map(|e| e.l2)),
        format!("{:?}", report.status),
        report.subdomains,
        report.points,
        report.attempts.len(),
    );
    if std::env::var_os("ATTEMPTS").is_some() {
        report.attempts.iter().for_each(|a| println!("    {:?} {} points {:.1e}", a.subdomains, a.points, a.estimate));
    }
    Some((error.unwrap_or(f64::NAN) / tolerance, report.status == Status::Solved))
}

/// The tolerances asked of a file of the collection.
fn asked(name: &str) -> &'static [f64] {
    match name.split(' ').next().unwrap_or_default() {
        "11" | "12" => &[1e-6],
        "6" if name.ends_with("1e-4") => &[1e-6],
        "7" if name.ends_with("0.6") => &[1e-5],
        "8" if name.contains("50") => &[1e-6],
        "10" if !name.ends_with("2.5") => &[1e-5],
        _ => &[1e-6, 1e-9],
    }
}

fn nist(words: &[String], keys: &[String]) {
    // "11" is a family, no tolerance.
    let number = |word: &String| word.parse::<f64>().ok().filter(|value| *value < 1.0);
    let tolerances: Vec<f64> = words.iter().filter_map(number).collect();
    let names: Vec<&String> = words.iter().filter(|word| number(word).is_none()).collect();
    for problem in collection() {
        if names.is_empty() || names.iter().any(|name| problem.name.starts_with(name.as_str())) {
            let wanted = if tolerances.is_empty() { asked(&problem.name) } else { &tolerances };
            for &tolerance in wanted {
                let keys = [&[format!("discretization.tolerance={tolerance:e}")], keys].concat();
                run(&problem.name, &problem.text, tolerance, &keys);
            }
        }
    }
}

fn random(words: &[String], keys: &[String]) {
    let number = |k: usize, default: u64| words.get(k).and_then(|word| word.parse().ok()).unwrap_or(default);
    let (mut kept, mut solved, mut worst, mut all) = (0, 0, 0.0f64, 0);
    for k in number(0, 0)..number(1, 100) {
        let problem = problems::problem(k);
        all += 1;
        if let Some((ratio, is_solved)) = run(&problem.name, &problem.text, problem.tolerance, keys) {
            kept += usize::from(is_solved && ratio <= 1.0);
            solved += usize::from(is_solved);
            worst = if is_solved { worst.max(ratio) } else { worst };
        }
    }
    println!("{kept} of {all} kept, {solved} with status solved, worst of these {worst:.2} times its tolerance");
}

/// The least CPU time of ten runs, the first of which fills caches.
fn timed(text: &str, keys: &[String]) -> Option<(Solution, f64)> {
    let mut best: Option<(Solution, f64)> = None;
    for _ in 0..10 {
        let (solved, seconds) = solve(text, keys);
        let solution = solved.ok()?;
        best = match best {
            Some(known) if known.1 <= seconds => Some(known),
            _ => Some((solution, seconds)),
        };
    }
    best
}

/// Ten smooth problems of a kind: a tolerance of 1e-8 beside the cheapest of the decompositions and points whose error is below it.
fn fixed(kind: &str, of: fn(u64) -> String, keys: &[String]) {
    let mut ratios: Vec<f64> = Vec::new();
    for k in 0..10 {
        let problem = of(k);
        let with = |more: &[String]| [keys, more].concat();
        let Some((solution, seconds)) = timed(&problem, &with(&["discretization.tolerance=1e-8".into()])) else {
            continue;
        };
        let mut cheapest = f64::INFINITY;
        for points in [8, 10, 12, 14, 16] {
            for n in 1..=8 {
                let more = [
                    format!("discretization.points={points}"),
                    format!("discretization.subdomains=[{n}, {n}]"),
                    "discretization.estimate=false".into(),
                ];
                let (solved, once) = solve(&problem, &with(&more));
                let error = solved.ok().and_then(|s| s.report.errors).map_or(f64::INFINITY, |e| e.l2);
                if error <= 1e-8 {
                    if once < 2.0 * cheapest {
                        cheapest = cheapest.min(timed(&problem, &with(&more)).map_or(f64::INFINITY, |t| t.1));
                    }
                    break;
                }
            }
        }
        let report = &solution.report;
        let error = report.errors.as_ref().map_or(f64::NAN, |e| e.l2);
        let (subdomains, ratio) = (report.subdomains, seconds / cheapest);
        println!(
            "{kind} {k}: {seconds:.4} s, {subdomains} subdomains, error {error:.1e}; cheapest {cheapest:.4} s; {ratio:.2}"
        );
        ratios.push(ratio);
    }
    ratios.sort_by(f64::total_cmp);
    println!("{kind}: median {:.2}", 0.5 * (ratios[(ratios.len() - 1) / 2] + ratios[ratios.len() / 2]));
}

/// What `corners = "auto"` costs beside `"none"`: medians of runs in turn, after one that fills caches.
fn corners(keys: &[String]) {
    let square = |source: &str, boundary: &str| {
        format!(
            "[domain]\nx = [0, 1]\ny = [0, 1]\n[equation]\nsource = \"{source}\"\n[boundary]\ndirichlet = \"{boundary}\"\n"
        )
    };
    let smooth = square("(4*pi^2 - 1)*sin(2*pi*x)*exp(y)", "sin(2*pi*x)*exp(y)");
    let variable = smooth.replace("[equation]", "[equation]\ndiffusion = \"2 + sin(3*x + y)\"");
    for (name, text) in [("smooth", smooth), ("variable", variable), ("f = 1", square("1", "0"))] {
        for (n, points) in [(4, 12), (4, 16), (8, 16), (16, 16)] {
            let run = |corners: &str| {
                let more = [
                    format!("discretization.points={points}"),
                    format!("discretization.subdomains=[{n}, {n}]"),
                    format!("discretization.corners=\"{corners}\""),
                    "discretization.estimate=false".into(),
                ];
                let (solved, seconds) = solve(&text, &[keys, &more].concat());
                solved.map(|solution| (seconds, solution.report.subdomains))
            };
            let mut times = [Vec::new(), Vec::new()];
            let mut subdomains = [0, 0];
            for round in 0..if n < 16 { 31 } else { 7 } {
                for (k, corners) in ["none", "auto"].into_iter().enumerate() {
                    match run(corners) {
                        Err(error) => println!("{name}: {error}"),
                        Ok((seconds, count)) => {
                            subdomains[k] = count;
                            times[k].extend((round > 0).then_some(1e3 * seconds));
                        }
                    }
                }
            }
            let [none, auto] = times.map(|mut of| {
                of.sort_by(f64::total_cmp);
                of.get(of.len() / 2).copied().unwrap_or(f64::NAN)
            });
            println!(
                "{name:<10} {n:>2} x {n:<2} {points} points: {none:>7.2} ms without, {auto:>7.2} ms with ({} -> {} subdomains): {:.2}",
                subdomains[0],
                subdomains[1],
                auto / none
            );
        }
    }
}

/// f = 1 on the unit square, u = 0: estimated errors and the least CPU time of fifteen runs, to be compared with graded finite elements.
fn square(keys: &[String]) {
    let text = "[domain]\nx = [0, 1]\ny = [0, 1]\n[equation]\nsource = \"1\"\n[boundary]\ndirichlet = \"0\"\n";
    for n in [2, 3, 4] {
        for points in 6..=16 {
            let more = |estimate: bool| {
                [
                    format!("discretization.points={points}"),
                    format!("discretization.subdomains=[{n}, {n}]"),
                    format!("discretization.estimate={estimate}"),
                ]
            };
            let (solved, _) = solve(text, &[keys, &more(true)].concat());
            let estimate = solved.ok().and_then(|s| s.report.estimate).map_or(f64::NAN, |e| e.l2);
            let once = || solve(text, &[keys, &more(false)].concat()).1;
            let least = (0..15).map(|_| once()).fold(f64::INFINITY, f64::min);
            println!("{n} x {n}, {points:>2} points: {estimate:.1e}, {:.2} ms", 1e3 * least);
        }
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let (keys, words): (Vec<_>, Vec<_>) = words.into_iter().partition(|word| word.contains('='));
    match words.first().map(String::as_str) {
        Some("random") => random(&words[1..], &keys),
        Some("fixed") => {
            fixed("constant", problems::smooth_square, &keys);
            fixed("variable", problems::variable_square, &keys);
        }
        Some("corners") => corners(&keys),
        Some("square") => square(&keys),
        Some("nist") => nist(&words[1..], &keys),
        // The whole collection takes hours.
        None => fixed("constant", problems::smooth_square, &keys),
        Some(word) => println!("nist, random, fixed, corners or square, not {word}"),
    }
}
