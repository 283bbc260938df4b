//! What the commands write, and what they leave alone.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn ddelm(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ddelm")).args(arguments).current_dir(directory).output().unwrap()
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into()).collect();
    names.sort();
    names
}

#[test]
fn a_new_file_can_be_solved_and_is_not_replaced_unasked() {
    let folder = tempfile::tempdir().unwrap();
    for kind in ["poisson", "diffusion", "plate", "helmholtz", "advection"] {
        assert!(ddelm(folder.path(), &["new", kind]).status.success());
        let file = format!("{kind}.toml");
        assert!(ddelm(folder.path(), &["solve", &file]).status.success(), "{kind}");
    }
    fs::write(folder.path().join("poisson.toml"), "mine").unwrap();
    assert_eq!(ddelm(folder.path(), &["new", "poisson"]).status.code(), Some(2));
    assert_eq!(fs::read_to_string(folder.path().join("poisson.toml")).unwrap(), "mine");
    assert!(ddelm(folder.path(), &["new", "poisson", "--force"]).status.success());
    assert_ne!(fs::read_to_string(folder.path().join("poisson.toml")).unwrap(), "mine");
}

#[test]
fn bad_input_leaves_no_file_and_nothing_on_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    assert!(ddelm(folder.path(), &["new", "poisson", "p.toml"]).status.success());
    for bad in ["discretization.points=0", "equation.source=sin(", "equation.source=1/(x-x)", "exact.u=0/(x-x)"] {
        let output = ddelm(folder.path(), &["solve", "p.toml", "--set", bad]);
        assert_eq!(output.status.code(), Some(2), "{bad}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{bad}");
    }
    assert_eq!(names(folder.path()), ["p.toml"]);
}

#[test]
fn a_file_that_cannot_be_written_has_its_own_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(ddelm(folder.path(), &["new", "poisson", "nowhere/p.toml"]).status.code(), Some(3));
}

#[test]
fn reports_do_not_depend_on_the_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    assert!(ddelm(folder.path(), &["new", "diffusion", "d.toml"]).status.success());
    let errors = |threads: &str| {
        let output = ddelm(folder.path(), &["solve", "d.toml", "--json", "--threads", threads]);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        report["errors"].clone()
    };
    assert_eq!(errors("1"), errors("3"));
}

#[test]
fn manual_pages_are_written_for_every_subcommand() {
    let folder = tempfile::tempdir().unwrap();
    assert!(ddelm(folder.path(), &["man", "--out", "."]).status.success());
    let names = names(folder.path());
    assert!(names.contains(&"ddelm.1".to_string()) && names.contains(&"ddelm-solve.1".to_string()), "{names:?}");
}
