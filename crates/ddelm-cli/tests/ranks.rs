//! `ddelm` under `mpirun`: output from one rank, errors on one rank, and ranks that die.
#![allow(missing_docs)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longer than any of these runs takes. A run that is not over by then hangs.
const HANG: Duration = Duration::from_secs(120);

/// `mpirun -n RANKS ddelm solve FILE ARGUMENTS`.
fn mpirun(ranks: usize, file: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["-n", &ranks.to_string(), env!("CARGO_BIN_EXE_ddelm"), "solve"]).arg(file).args(arguments);
    // Containers run as root, and have fewer cores than ranks.
    command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Waits for the end of a run; one that hangs is a failure.
fn finish(mut run: Child) -> Output {
    let start = Instant::now();
    while run.try_wait().unwrap().is_none() {
        if start.elapsed() > HANG {
            run.kill().unwrap();
            panic!("the run hangs");
        }
        sleep(Duration::from_millis(50));
    }
    run.wait_with_output().unwrap()
}

/// A problem file in a folder of its own.
fn problem(name: &str, text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("problem.toml");
    fs::File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
    path
}

const SMOOTH: &str = r#"
[domain]
x = [0.0, 1.0]
y = [0.0, 1.0]
[equation]
source = "(4*pi^2 - 1)*sin(2*pi*x)*exp(y)"
[boundary]
dirichlet = "sin(2*pi*x)*exp(y)"
[exact]
u = "sin(2*pi*x)*exp(y)"
[discretization]
subdomains = [4, 3]
points = 12
"#;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn one_rank_prints_the_report() {
    let file = problem("report", SMOOTH);
    for ranks in [1, 3] {
        let output = finish(mpirun(ranks, &file, &["--json"]).spawn().unwrap());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        assert_eq!(report["status"], "solved");
        assert!(report["errors"]["l2"].as_f64().unwrap() < 1e-9);
    }
}

#[test]
fn an_error_on_one_rank_ends_all_with_one_message() {
    // The root of a negative number in the last subdomain only.
    let bad = SMOOTH.replace("source = \"", "diffusion = \"sqrt(1.8 - x - y + 0.01)\"\nsource = \"");
    let output = finish(mpirun(4, &problem("bad_coefficient", &bad), &[]).spawn().unwrap());
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr).matches("equation.diffusion").count(), 1, "{}", text(&output.stderr));
    assert!(output.stdout.is_empty());
}

#[test]
fn an_error_on_all_ranks_has_one_message() {
    let bad = SMOOTH.replace("points = 12", "points = 1");
    let output = finish(mpirun(3, &problem("bad_points", &bad), &[]).spawn().unwrap());
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr).matches("hint").count(), 1, "{}", text(&output.stderr));
}

#[test]
fn more_ranks_than_subdomains_are_refused() {
    let file = problem("ranks", SMOOTH);
    let output = finish(mpirun(4, &file, &["--set", "discretization.subdomains=[1, 2]"]).spawn().unwrap());
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr).matches("4 ranks").count(), 1, "{}", text(&output.stderr));
}

/// State and parent of a process; nothing when it is over.
fn status(process: u32) -> Option<(char, u32)> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in brackets may hold anything; the state and the parent come after it.
    let mut fields = stat.rsplit(')').next()?.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// Whether a process runs. One that has ended and that nobody has asked about is a zombie.
fn runs(process: u32) -> bool {
    status(process).is_some_and(|(state, _)| state != 'Z' && state != 'X')
}

/// The processes that `mpirun` started.
fn ranks_of(mpirun: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten().filter_map(|e| e.file_name().to_str()?.parse().ok());
    processes.filter(|&process| status(process).is_some_and(|(_, parent)| parent == mpirun)).collect()
}

#[test]
fn a_killed_rank_ends_the_others_and_leaves_no_file() {
    let file = problem("killed", SMOOTH);
    let folder = file.parent().unwrap();
    let results = folder.join("results");
    // Conjugate gradients that take minutes: whenever the rank dies, it is in the middle of the solve.
    let endless = [
        "preset=\"paper\"",
        "discretization.subdomains=[8, 8]",
        "interface.tolerance=1e-300",
        "interface.max_iterations=1000000000",
    ];
    let mut arguments: Vec<&str> = endless.iter().flat_map(|set| ["--set", set]).collect();
    arguments.extend(["--out", results.to_str().unwrap()]);
    let run = mpirun(3, &file, &arguments).spawn().unwrap();
    let start = Instant::now();
    let mut ranks = Vec::new();
    while ranks.len() < 3 {
        assert!(start.elapsed() < HANG, "the ranks do not start");
        sleep(Duration::from_millis(50));
        ranks = ranks_of(run.id());
    }
    sleep(Duration::from_secs(2));
    assert_eq!(ranks_of(run.id()).len(), 3, "the solve ended before a rank was killed");
    assert!(Command::new("kill").args(["-KILL", &ranks[1].to_string()]).status().unwrap().success());
    let output = finish(run);
    assert!(!output.status.success());
    // The others were told to end; on a busy machine that takes a moment.
    let start = Instant::now();
    while let Some(rank) = ranks.iter().find(|&&rank| runs(rank)) {
        assert!(start.elapsed() < HANG, "rank {rank} lives on");
        sleep(Duration::from_millis(50));
    }
    let left: Vec<_> = fs::read_dir(&results).map_or(Vec::new(), |entries| entries.flatten().collect());
    assert!(left.is_empty(), "{left:?}");
}
