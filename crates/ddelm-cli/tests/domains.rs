//! Every command on every kind of domain.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use ddelm::base::npz;

/// A problem with the solution sin(3x) e^y.
const PROBLEM: &str = "[equation]\nsource = '8*sin(3*x)*exp(y)'\n[boundary]\ndirichlet = 'sin(3*x)*exp(y)'\n\
    [exact]\nu = 'sin(3*x)*exp(y)'\n[discretization]\npoints = 10\n";

const DOMAINS: [(&str, &str); 6] = [
    ("polygon", "polygon = [[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]]"),
    ("circle", "circle = { center = [0.1, 0.2], radius = 1 }"),
    ("ellipse", "ellipse = { center = [0, 0], axes = [1.5, 1], angle = 30 }"),
    (
        "outline",
        "outline = [{ line = [[0, 0], [2, 0]] }, { arc = { center = [2, 1], radius = 1, from = -90, to = 90 } }, \
         { spline = [[2, 2], [1, 2.3], [0, 2]] }, { curve = ['0.1*sin(pi*t)', '2 - t'], t = [0, 2] }]",
    ),
    (
        "holes and regions",
        "x = [0, 2]\ny = [0, 1]\n[[domain.hole]]\ncircle = { center = [0.6, 0.5], radius = 0.2 }\n\
         [[domain.region]]\nname = 'steel'\nx = [1, 2]\ny = [0, 1]",
    ),
    ("mesh", "mesh = 'quarter.msh'"),
];

fn ddelm(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ddelm")).current_dir(folder).args(arguments).output().unwrap()
}

#[track_caller]
fn done(folder: &Path, arguments: &[&str]) -> String {
    let output = ddelm(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn folder(domain: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("[domain]\n{domain}\n{PROBLEM}");
    fs::write(folder.path().join("problem.toml"), text).unwrap();
    let mesh = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/quarter.msh");
    fs::copy(mesh, folder.path().join("quarter.msh")).unwrap();
    folder
}

fn is_png(path: &Path) -> bool {
    fs::read(path).unwrap().starts_with(b"\x89PNG")
}

#[test]
fn every_command_knows_every_domain() {
    for (name, domain) in DOMAINS {
        let folder = folder(domain);
        let at = folder.path();
        let told = done(at, &["check", "problem.toml", "--plot", "domain.png"]);
        assert!(told.contains("parts") && is_png(&at.join("domain.png")), "{name}: {told}");
        done(at, &["solve", "problem.toml", "--out", "out"]);
        for file in ["u.png", "error.png", "solution.vtu", "report.json"] {
            assert!(at.join("out").join(file).exists(), "{name}: {file}");
        }
        let report: serde_json::Value = serde_json::from_slice(&fs::read(at.join("out/report.json")).unwrap()).unwrap();
        let error = report["errors"]["l2"].as_f64().unwrap();
        assert!(error < 1e-6, "{name}: {error:.1e}");
        let grid = npz::read(at.join("out/grid.npz")).unwrap();
        let (x, y, u) = (&grid["x"].data, &grid["y"].data, &grid["u"].data);
        let outside = u.iter().filter(|u| u.is_nan()).count();
        assert!(outside > 0 && outside < u.len(), "{name}: {outside} of {}", u.len());
        for (k, u) in u.iter().enumerate().filter(|(_, u)| !u.is_nan()) {
            let (x, y) = (x[k % x.len()], y[k / x.len()]);
            assert!((u - (3.0 * x).sin() * y.exp()).abs() < 1e-4, "{name}: ({x}, {y})");
        }
        fs::write(at.join("points.csv"), "x,y\n0.2,0.3\n50,50\n").unwrap();
        let values = done(at, &["eval", "out", "points.csv", "--outside", "nan"]);
        assert!(values.lines().nth(2).unwrap().contains("NaN"), "{name}: {values}");
        done(at, &["plot", "out", "--contours", "--out", "contours.png"]);
        done(at, &["plot", "out", "--field", "flux", "--data-files", "--out", "flux.svg"]);
        done(at, &["plot", "out", "--slice", "y=0.3", "--out", "slice.png"]);
        assert!(is_png(&at.join("contours.png")) && is_png(&at.join("slice.png")));
        assert!(done(at, &["info", "out"]).contains("subdomains"), "{name}");
        let same = done(at, &["compare", "out", "out", "--out", "difference.png", "--json"]);
        let same: serde_json::Value = serde_json::from_str(&same).unwrap();
        assert!(same["l2"].as_f64().unwrap() < 1e-12, "{name}");
        assert!(done(at, &["convergence", "problem.toml", "--points", "6,8"]).lines().count() == 3, "{name}");
    }
}

#[test]
fn a_picture_that_cannot_be_written_is_refused_first() {
    let folder = folder(DOMAINS[1].1);
    let output = ddelm(folder.path(), &["check", "problem.toml", "--plot", "domain.jpeg"]);
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains(".png or .svg"));
}
