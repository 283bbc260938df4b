//! The commands that write, read and show solutions: transcripts, and what a transcript cannot show.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use ddelm::solution::Solution;

#[test]
fn transcripts() {
    trycmd::TestCases::new().case("tests/output/*.md");
}

const PROBLEM: &str = r#"
[domain]
x = [0.0, 2.0]
y = [0.0, 1.0]
[equation]
diffusion = "1 + x/4"
source = "sin(x)*exp(y)"
[boundary]
dirichlet = "cos(3*x)*y"
[exact]
u = "x*y"
[discretization]
subdomains = [3, 2]
points = 8
"#;

fn ddelm(folder: &Path, arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ddelm"))
        .current_dir(folder)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn solved(arguments: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("problem.toml"), PROBLEM).unwrap();
    let all = [&["solve", "problem.toml", "--out", "out"], arguments].concat();
    let done = ddelm(folder.path(), &all, "");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    folder
}

#[test]
fn eval_gives_the_bits_of_the_library_from_files_and_from_standard_input() {
    let folder = solved(&["--write", "solution"]);
    let points: String = (0..500).map(|k| format!("{},{}\n", (k % 25) as f64 / 12.0, (k / 25) as f64 / 20.0)).collect();
    let text = format!("x,y\n{points}");
    fs::write(folder.path().join("points.csv"), &text).unwrap();
    let from_file = ddelm(folder.path(), &["eval", "out/solution.safetensors", "points.csv"], "");
    let from_input = ddelm(folder.path(), &["eval", "out/solution.safetensors", "-"], &text);
    assert!(from_file.status.success() && from_file.stdout == from_input.stdout);
    ddelm(folder.path(), &["eval", "out/solution.safetensors", "points.csv", "--out", "u.npy"], "");
    let array = ddelm::npz::read_npy(folder.path().join("u.npy")).unwrap();
    assert_eq!(array.shape, [500, 5]);

    let solution = Solution::load(folder.path().join("out/solution.safetensors")).unwrap();
    let printed = String::from_utf8(from_file.stdout).unwrap();
    let rows: Vec<Vec<f64>> =
        printed.lines().skip(1).map(|line| line.split(',').map(|v| v.parse().unwrap()).collect()).collect();
    assert_eq!(rows.len(), 500);
    let (x, y): (Vec<f64>, Vec<f64>) = rows.iter().map(|row| (row[0], row[1])).unzip();
    let found = solution.gradients(&x, &y);
    for (i, row) in rows.iter().enumerate() {
        let expected = [x[i], y[i], found.u[i], found.ux[i], found.uy[i]].map(f64::to_bits);
        assert_eq!(row.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), expected);
        assert_eq!(array.data[5 * i..5 * i + 5].iter().map(|v| v.to_bits()).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn overrides_are_saved_with_the_problem() {
    let folder = solved(&["--write", "solution", "--set", "exact.u=x", "--set", "discretization.points=7"]);
    let text = ddelm(folder.path(), &["info", "out/solution.safetensors", "--problem"], "");
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("u = \"x\"") && text.contains("points = 7") && text.contains("1 + x/4"), "{text}");
}

#[test]
fn grids_have_rows_of_equal_y() {
    let folder = solved(&["--write", "grid"]);
    let arrays = ddelm::npz::read(folder.path().join("out/grid.npz")).unwrap();
    let (x, y, u) = (&arrays["x"], &arrays["y"], &arrays["u"]);
    assert_eq!(u.shape, [y.data.len(), x.data.len()]);
    assert_eq!((x.data[0], x.data[x.data.len() - 1]), (0.0, 2.0));
    // The boundary values at the right end, y = 1, and at the left end, y = 1.
    let last = u.data[u.data.len() - 1];
    assert!((last - 6f64.cos()).abs() < 1e-2, "{last}");
    assert!((u.data[u.data.len() - x.data.len()] - 1.0).abs() < 1e-2);
}

#[test]
fn bad_input_computes_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("problem.toml"), PROBLEM.replace("sin(x)", "sin(x")).unwrap();
    let done = ddelm(folder.path(), &["solve", "problem.toml", "--out", "out"], "");
    assert_eq!(done.status.code(), Some(2));
    assert!(!folder.path().join("out").exists());
}

#[test]
fn what_cannot_be_written_is_exit_code_3() {
    let folder = solved(&["--write", "solution"]);
    let done = ddelm(folder.path(), &["plot", "out/solution.safetensors", "--out", "none/u.png"], "");
    assert_eq!(done.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&done.stderr).contains("hint: make the folder first"));
}
