//! Input that nobody meant well, and machines that fail: exit codes and messages, never a panic or an abort.

#![cfg(unix)]

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use ddelm::base::npz::{self, Array};
use ddelm::solution::save;

const PROBLEM: &str = r#"
[domain]
x = [0.0, 1.0]
y = [0.0, 1.0]
[equation]
source = "1 + x"
[boundary]
dirichlet = "x*y"
[discretization]
subdomains = [2, 2]
points = 6
estimate = false
"#;

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ddelm"));
    command.current_dir(folder).args(arguments).stdin(Stdio::null());
    command
}

fn ddelm(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

/// A folder with a problem.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("p.toml"), PROBLEM).unwrap();
    folder
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The message of a command that must fail with this code.
fn refused(output: &Output, code: i32) -> String {
    let text = message(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(!text.contains("panicked") && !text.contains('\u{1b}'), "{text}");
    text
}

/// Files that were left behind.
fn leftovers(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().starts_with('.')).count()
}

#[test]
fn values_that_make_no_sense_are_bad_input() {
    let folder = folder();
    let dots = format!("a{}=1", ".a".repeat(60_000));
    let cases = [
        ("fields=1", "expected a table"),
        ("fields=[]", "expected a table"),
        ("domain.x=[0, 1e308]", "leave the range of numbers"),
        ("domain.x=[-1e308, 1e308]", "leave the range of numbers"),
        ("domain.y=[0, 1e-200]", "leave the range of numbers"),
        ("domain.y=[1e12, 1000000000000.001]", "lost in the rounding"),
        (&dots, "no key has more than 32"),
        ("discretization.points=99999999999999999999", "is too large"),
        ("fields.g={ alpha = 4, modes = 1000000000000 }", "at most 1048576 modes"),
        ("fields.g={ file = '/dev/zero' }", "not a regular file"),
        ("discretization.max_memory=lots", "not an amount of memory"),
        ("discretization.subdomains=[9223372036854775807, 9223372036854775807]", "at most 262144 subdomains"),
    ];
    for (set, expected) in cases {
        let text = refused(&ddelm(folder.path(), &["solve", "p.toml", "--out", "out", "--set", set]), 2);
        assert!(text.contains(expected), "{}: {text}", &set[..set.len().min(80)]);
    }
    fs::write(folder.path().join("f.toml"), format!("fields = 1\n{PROBLEM}")).unwrap();
    assert!(refused(&ddelm(folder.path(), &["check", "f.toml"]), 2).contains("write [fields]"));
    assert!(refused(&ddelm(folder.path(), &["solve", "/dev/zero"]), 2).contains("more than 16777216 bytes"));
    assert!(!folder.path().join("out").exists());
    // Large and flat, but within the numbers: a picture of it can be made.
    for set in ["domain.x=[0, 1e29]", "domain.y=[0, 1e-29]"] {
        let done = ddelm(folder.path(), &["solve", "p.toml", "--out", "large", "--force", "--set", set]);
        assert!(!message(&done).contains("panicked"), "{}", message(&done));
    }
}

#[test]
fn what_does_not_fit_into_memory_does_not_start() {
    let folder = folder();
    let huge = ["--set", "discretization.points=200", "--set", "discretization.subdomains=[30, 30]"];
    let text = refused(
        &ddelm(folder.path(), &[&["solve", "p.toml", "--set", "equation.diffusion=1+x"], &huge[..]].concat()),
        3,
    );
    assert!(text.contains("the solve takes about") && text.contains("discretization.max_memory"), "{text}");
    let checked = ddelm(folder.path(), &[&["check", "p.toml", "--set", "equation.diffusion=1+x"], &huge[..]].concat());
    assert!(String::from_utf8_lossy(&checked.stdout).contains("too much:"));
    let cells = ["solve", "p.toml", "--method", "fem", "--set", "discretization.cells=[32768, 32768]"];
    let limit = ["--set", "discretization.max_memory=1 GB"];
    let text = refused(&ddelm(folder.path(), &[&cells[..], &limit].concat()), 3);
    assert!(text.contains("85.9 GB of memory, more than the limit of 1.0 GB"), "{text}");
    for (limit, code) in [("1 kB", 3), ("2 GiB", 0), ("2000000000", 0)] {
        let set = format!("discretization.max_memory={limit}");
        let done = ddelm(folder.path(), &["solve", "p.toml", "--set", &set]);
        assert_eq!(done.status.code(), Some(code), "{limit}: {}", message(&done));
    }
}

#[test]
fn out_of_memory_is_an_exit_code() {
    let folder = folder();
    let program = env!("CARGO_BIN_EXE_ddelm");
    let sets = "--set discretization.max_memory='1 TB' --set discretization.points=90 --threads 1";
    let script = format!("ulimit -v 500000; exec '{program}' solve p.toml {sets}");
    let done = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
    assert!(refused(&done, 3).contains("error: out of memory"), "{}", message(&done));
    // The limit counts, if it is not overridden.
    let script = script.replace("discretization.max_memory='1 TB'", "discretization.estimate=false");
    let done = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
    assert!(refused(&done, 3).contains("and available are"), "{}", message(&done));
}

#[test]
fn more_threads_than_are_of_use_are_refused() {
    let folder = folder();
    let text = refused(&ddelm(folder.path(), &["solve", "p.toml", "--threads", "65535"]), 2);
    assert!(text.contains("threads are of use"), "{text}");
    let done = command(folder.path(), &["solve", "p.toml"]).env("RAYON_NUM_THREADS", "1000000").output().unwrap();
    assert!(refused(&done, 2).contains("RAYON_NUM_THREADS"));
}

#[test]
fn a_directory_that_cannot_be_written_is_found_before_the_solve() {
    let folder = folder();
    // The solve itself would be bad input, exit code 2.
    let source = ["--set", "equation.source=1/(x - x)"];
    for out in ["p.toml/out", "/proc/none/out"] {
        let text = refused(&ddelm(folder.path(), &[&["solve", "p.toml", "--out", out], &source[..]].concat()), 3);
        assert!(text.contains("cannot make the directory"), "{text}");
    }
    refused(&ddelm(folder.path(), &[&["solve", "p.toml", "--out", "a/b/c"], &source[..]].concat()), 2);
    assert!(!folder.path().join("a").exists(), "the test of the directory left it behind");
    let plot = ["convergence", "p.toml", "--points", "6", "--subdomains", "1", "--plot", "none/c.png"];
    refused(&ddelm(folder.path(), &[&plot[..], &source].concat()), 3);
}

#[test]
fn a_full_or_closed_output_loses_nothing() {
    let folder = folder();
    let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    let done = command(folder.path(), &["solve", "p.toml", "--out", "full"]).stdout(full()).output().unwrap();
    assert!(refused(&done, 3).contains("standard output"));
    let written = |name: &str| fs::read_dir(folder.path().join(name)).unwrap().count();
    assert!(written("full") >= 4);
    let done = command(folder.path(), &["solve", "p.toml", "-v", "--out", "silent"]).stderr(full()).output().unwrap();
    assert!(done.status.success() && !done.stdout.is_empty());
    assert_eq!(written("silent"), written("full"));
    // An error that nobody hears has its exit code all the same.
    let wrong = ["solve", "p.toml", "--set", "fields=1"];
    assert_eq!(command(folder.path(), &wrong).stderr(full()).status().unwrap().code(), Some(2));
    for closed in ["2>&-", ">&- 2>&-"] {
        let script = format!("'{}' solve p.toml --out 'closed {closed}' {closed}", env!("CARGO_BIN_EXE_ddelm"));
        Command::new("sh").args(["-c", &script]).current_dir(folder.path()).status().unwrap();
        assert_eq!(written(&format!("closed {closed}")), written("full"), "{closed}");
    }
}

/// Sends a signal when something is the case, and waits for the end.
fn end(mut child: Child, signal: &str, ready: impl Fn() -> bool) -> Output {
    let start = Instant::now();
    while !ready() {
        assert!(
            start.elapsed() < Duration::from_secs(120) && child.try_wait().unwrap().is_none(),
            "it ended too early"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    let sent = Instant::now();
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    let done = child.wait_with_output().unwrap();
    assert!(sent.elapsed() < Duration::from_secs(9), "{:?} after the signal", sent.elapsed());
    done
}

#[test]
fn a_signal_ends_whatever_is_being_done() {
    let folder = folder();
    let soon = || {
        let started = Instant::now();
        move || started.elapsed() > Duration::from_millis(300)
    };
    let spawn = |arguments: &[&str]| command(folder.path(), arguments).stderr(Stdio::piped()).spawn().unwrap();
    let large = ["--set", "discretization.subdomains=[40, 40]", "--set", "discretization.points=24"];
    let solve = [&["solve", "p.toml", "--set", "equation.diffusion=1+x*y", "--out", "out"], &large[..]].concat();
    for signal in ["-INT", "-TERM"] {
        assert!(refused(&end(spawn(&solve), signal, soon()), 3).contains("interrupted"));
    }
    assert!(!folder.path().join("out").exists());
    // Finite elements do not ask whether to stop.
    let cells = ["solve", "p.toml", "--method", "fem", "--set", "discretization.cells=[4096, 4096]"];
    assert!(refused(&end(spawn(&cells), "-INT", soon()), 3).contains("interrupted"));
}

#[test]
fn a_signal_while_files_are_written_leaves_nothing_behind() {
    let folder = folder();
    assert!(ddelm(folder.path(), &["solve", "p.toml", "--out", "out", "--write", "solution"]).status.success());
    let count = 400_000;
    let data = (0..2 * count).map(|k| (k % 997) as f64 / 1000.0).collect();
    npz::write_npy(folder.path().join("points.npy"), &Array { shape: vec![count, 2], data }).unwrap();
    for signal in ["-TERM", "-INT"] {
        let mut eval = command(folder.path(), &["eval", "out", "points.npy", "--out", "values.csv"]);
        let child = eval.stderr(Stdio::piped()).spawn().unwrap();
        let done = end(child, signal, || leftovers(folder.path()) > 0);
        assert!(refused(&done, 3).contains("interrupted"));
        assert_eq!(leftovers(folder.path()), 0);
        assert!(!folder.path().join("values.csv").exists());
    }
}

/// Saves a solution together with another problem.
fn saved_with(folder: &Path, problem: &str) {
    if !folder.join("out").exists() {
        assert!(ddelm(folder, &["solve", "p.toml", "--out", "out", "--write", "solution"]).status.success());
    }
    let path = folder.join("out/solution.safetensors");
    let solution = save::read(&path).unwrap().solution;
    save::write(&path, &solution, Some(problem)).unwrap();
}

#[test]
fn a_saved_solution_opens_no_file_unasked() {
    let folder = folder();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for name in ["g", "\"g.h\""] {
        let fields = format!("[fields]\n{name} = {{ file = {:?} }}\n", pipe.display().to_string());
        saved_with(folder.path(), &format!("{PROBLEM}{fields}"));
        assert!(ddelm(folder.path(), &["plot", "out"]).status.success());
        let plot = ["plot", "out", "--field", "residual"];
        let text = refused(&ddelm(folder.path(), &plot), 2);
        assert!(text.contains("not opened unasked") && text.contains("--data-files"), "{text}");
        let text = refused(&ddelm(folder.path(), &[&plot[..], &["--data-files"]].concat()), 2);
        assert!(text.contains("not a regular file"), "{text}");
    }
}

#[test]
fn files_cannot_steer_the_terminal() {
    let folder = folder();
    let evil = "\u{1b}]0;title\u{7}\u{9b}31m";
    saved_with(folder.path(), &format!("# {evil}\n{PROBLEM}"));
    for arguments in [&["info", "out", "--problem"][..], &["info", "out", "--json"], &["info", "out"]] {
        let done = ddelm(folder.path(), arguments);
        assert!(done.status.success());
        let text = String::from_utf8(done.stdout).unwrap();
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    }
    let hostile = [
        PROBLEM.replace("1 + x", "\\u001b[2J\\u0007 + x"),
        PROBLEM.replace("source =", "\"\\u001b[2J\" = 1\nsource ="),
        PROBLEM.replace("subdomains =", "subdomains = 1 # \u{9b}31m\nx ="),
        PROBLEM.replace("dirichlet", "\u{1b}[31m"),
    ];
    for text in hostile {
        fs::write(folder.path().join("evil.toml"), text).unwrap();
        let text = refused(&ddelm(folder.path(), &["check", "evil.toml"]), 2);
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    }
    fs::write(folder.path().join("evil.csv"), format!("{evil}x\n1,2\n")).unwrap();
    let text = refused(&ddelm(folder.path(), &["eval", "out", "evil.csv"]), 2);
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
}
