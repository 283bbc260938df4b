//! The commands that write, read and show solutions: transcripts, and what a transcript cannot show.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use ddelm::Solution;
use ddelm::base::npz::{self, Array};

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
    let array = ddelm::base::npz::read_npy(folder.path().join("u.npy")).unwrap();
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
    let arrays = ddelm::base::npz::read(folder.path().join("out/grid.npz")).unwrap();
    let (x, y, u) = (&arrays["x"], &arrays["y"], &arrays["u"]);
    assert_eq!(u.shape, [y.data.len(), x.data.len()]);
    assert_eq!((x.data[0], x.data[x.data.len() - 1]), (0.0, 2.0));
    // The boundary values at the right end, y = 1, and at the left end, y = 1.
    let last = u.data[u.data.len() - 1];
    assert!((last - 6f64.cos()).abs() < 1e-2, "{last}");
    assert!((u.data[u.data.len() - x.data.len()] - 1.0).abs() < 1e-2);
}

#[test]
fn finite_elements_are_written_as_networks_are() {
    let folder = solved(&["--method", "fem", "--set", "discretization.cells=[40, 20]"]);
    let arrays = ddelm::base::npz::read(folder.path().join("out/grid.npz")).unwrap();
    let (x, y, u) = (&arrays["x"].data, &arrays["y"].data, &arrays["u"].data);
    // The boundary values at the top.
    let top = &u[u.len() - x.len()..];
    assert!((y[y.len() - 1], top.len()) == (1.0, x.len()));
    assert!(x.iter().zip(top).all(|(x, u)| ((3.0 * x).cos() - u).abs() < 0.01));
    let report = fs::read_to_string(folder.path().join("out/report.json")).unwrap();
    assert!(report.contains("\"method\": \"fem\""), "{report}");
}

/// A problem whose coefficient and weights are in files beside it.
#[test]
fn data_files_are_found_from_every_directory() {
    let folder = tempfile::tempdir().unwrap();
    let (project, elsewhere) = (folder.path().join("project"), folder.path().join("elsewhere"));
    fs::create_dir(&project).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    let vector = |v: &[f64]| Array::vector(v.to_vec());
    let waves = Array { shape: vec![2, 2], data: vec![1.0, 0.5, -0.5, 1.0] };
    let field = [("a", vector(&[0.3, 0.2])), ("w", waves), ("b", vector(&[0.1, 0.7]))];
    npz::write(project.join("field.npz"), &field).unwrap();
    // Six networks of 49 neurons, with scattered directions.
    let scattered = |k: usize| ((k * k + 3 * k) % 97) as f64 / 9.7 - 5.0;
    let w = Array { shape: vec![6, 2, 49], data: (0..588).map(scattered).collect() };
    let b = Array { shape: vec![6, 49], data: (0..294).map(|k| scattered(k + 11)).collect() };
    npz::write(project.join("weights.npz"), &[("w", w), ("b", b)]).unwrap();
    let text = PROBLEM.replace("1 + x/4", "1.5 + field(x, y)").replace("points = 8", "points = 7\nneurons = 49");
    let tables = "[network]\nweights = \"weights.npz\"\n[fields]\nfield = { file = \"field.npz\" }\n";
    fs::write(project.join("problem.toml"), text + tables).unwrap();

    let done = ddelm(folder.path(), &["solve", "project/problem.toml", "--out", "out", "--write", "solution"], "");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    for field in ["flux", "residual", "error"] {
        let done = ddelm(&elsewhere, &["plot", "../out", "--field", field, "--data-files"], "");
        assert!(done.status.success(), "{field}: {}", String::from_utf8_lossy(&done.stderr));
    }
    // What was saved is a problem file again, wherever it is put.
    let printed = ddelm(&elsewhere, &["info", "../out", "--problem"], "").stdout;
    fs::write(elsewhere.join("again.toml"), printed).unwrap();
    let again = ddelm(&elsewhere, &["solve", "again.toml", "--out", "out", "--write", "solution"], "");
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
    let bits = |path: &Path| Solution::load(path.join("out/solution.safetensors")).unwrap().coefficients;
    assert_eq!(bits(folder.path()), bits(&elsewhere));
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

#[test]
fn a_series_moves() {
    let folder = tempfile::tempdir().unwrap();
    let text = PROBLEM
        .replace("[exact]\nu = \"x*y\"", "[time]\nend = 0.4\ninitial = \"cos(3*x)*y\"\nsteps = 8\ntimes = [0.1, 0.2]");
    fs::write(folder.path().join("problem.toml"), text.replace("points = 8", "points = 8\nestimate = false")).unwrap();
    let run = |arguments: &[&str]| ddelm(folder.path(), arguments, "");
    let done = run(&["solve", "problem.toml", "--out", "out", "--write", "solution"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let done = run(&["plot", "out", "--animate", "--out", "u.png"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let picture = fs::read(folder.path().join("u.png")).unwrap();
    let at = picture.windows(4).position(|kind| kind == b"acTL").unwrap();
    assert_eq!(picture[at + 4..at + 8], 3u32.to_be_bytes(), "three frames");
    // What cannot move says why.
    for (arguments, words) in [
        (["plot", "out", "--animate", "--out", "u.svg"], "animations are written as .png"),
        (["plot", "out", "--animate", "--field", "flux"], "without its problem"),
        (["plot", ".", "--animate", "--out", "v.png"], "no series to animate"),
    ] {
        let done = run(&arguments);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(!done.status.success() && said.contains(words), "{arguments:?}: {said}");
    }
}

/// A parameter with a wrong name is no mistake that a file could tell, but all solves are the same.
#[test]
fn a_sweep_shows_warnings_and_keys_that_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[parameters]\nk = 1\n[equation]\ndiffusion = \"k\"\nsource = 1\n[boundary]\ndirichlet = 0\n[domain]\nx = [0, 1]\n\
                y = [0, 1]\n[output]\nintegrals = { part = \"integral(if(x < 0.3, 1, 0))\" }\n\
                [discretization]\nsubdomains = [2, 2]\npoints = 8\nestimate = false\n";
    fs::write(folder.path().join("problem.toml"), text).unwrap();
    let told = |keys: &[&str]| {
        let done = ddelm(folder.path(), &[&["sweep", "problem.toml"], keys].concat(), "");
        assert!(done.status.success());
        String::from_utf8(done.stderr).unwrap()
    };
    let both = told(&["--over", "parameters.kappa=1:2:2", "--over", "parameters.k=1:2:2"]);
    assert!(both.contains("parameters.kappa changes nothing") && !both.contains("parameters.k changes"), "{both}");
    assert!(both.contains("output.integrals.part: the integrand is not smooth") && both.contains("4 of 4"), "{both}");
}
