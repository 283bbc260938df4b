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

#[test]
fn a_page_tells_everything_and_needs_no_other_file() {
    let folder = tempfile::tempdir().unwrap();
    assert!(ddelm(folder.path(), &["new", "diffusion", "d.toml"]).status.success());
    let done = ddelm(folder.path(), &["solve", "d.toml", "--out", "out", "--write", "page", "--set", "exact.u=x<1&y"]);
    assert_eq!(done.status.code(), Some(2), "a formula that is none");
    let done = ddelm(folder.path(), &["solve", "d.toml", "--out", "out", "--write", "page"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(names(&folder.path().join("out")), ["report.html"]);
    let page = fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    for part in ["<title>ddelm: ", "status     solved", "[discretization]", "ddelm solve d.toml --out out --write page"]
    {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(page.matches("<svg").count(), 2, "u and its error");
    let outside: Vec<&str> = page.split("http").skip(1).filter(|rest| !rest.starts_with("://www.w3.org/")).collect();
    assert!(outside.is_empty() && !page.contains("<script") && !page.contains("<link"), "{outside:?}");
}

#[test]
fn a_file_that_is_watched_is_solved_again_when_it_changes() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;
    let folder = tempfile::tempdir().unwrap();
    assert!(ddelm(folder.path(), &["new", "poisson", "p.toml"]).status.success());
    let mut child = Command::new(env!("CARGO_BIN_EXE_ddelm"))
        .args(["solve", "p.toml", "--watch"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut results = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut wait = |text: &str| assert!(results.by_ref().any(|line| line.unwrap().contains(text)), "{text}");
    wait("4 x 4 subdomains");
    let good = fs::read_to_string(folder.path().join("p.toml")).unwrap();
    fs::write(folder.path().join("p.toml"), good.replace("sin(2*pi*x)", "sine(x)")).unwrap();
    assert!(said.by_ref().any(|line| line.unwrap().contains("unknown name `sine`")));
    fs::write(folder.path().join("p.toml"), good.replace("[4, 4]", "[3, 2]")).unwrap();
    wait("3 x 2 subdomains");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn solutions_of_different_problems_are_compared_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    assert!(ddelm(folder.path(), &["new", "poisson", "p.toml"]).status.success());
    let solve = |out: &str, set: &str| {
        let small = ["--set", "discretization.points=8", "--set", "discretization.subdomains=[2, 2]"];
        let all = [&["solve", "p.toml", "--out", out, "--write", "solution", "--set", set], &small[..]].concat();
        assert!(ddelm(folder.path(), &all).status.code().is_some_and(|code| code < 2));
    };
    solve("a", "equation.reaction=0");
    solve("b", "equation.reaction=3");
    solve("c", "network.seed=1");
    solve("d", "parameters.k=2");
    let said = |b: &str| {
        let done = ddelm(folder.path(), &["compare", "a", b, "--no-picture"]);
        assert!(done.status.success());
        String::from_utf8(done.stderr).unwrap()
    };
    assert!(said("b").contains("warning: the problems differ: A has none of that; B has equation.reaction = 3"));
    assert!(said("d").contains("B has parameters.k = 2"));
    assert_eq!(said("c"), "");
}
