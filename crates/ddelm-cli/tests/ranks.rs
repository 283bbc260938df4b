//! `ddelm` under `mpirun`: output from one rank, errors on one rank, and ranks that die.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longer than any of these runs takes. A run that is not over by then hangs.
const HANG: Duration = Duration::from_secs(120);

/// The program under test.
const DDELM: &str = env!("CARGO_BIN_EXE_ddelm");

/// `mpirun -n RANKS ddelm solve FILE ARGUMENTS`.
fn mpirun(ranks: usize, file: &Path, arguments: &[&str]) -> Command {
    let mut command = launch(ranks, DDELM);
    command.arg("solve").arg(file).args(arguments);
    command
}

/// `mpirun -n RANKS PROGRAM`.
fn launch(ranks: usize, program: &str) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["-n", &ranks.to_string(), program]);
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

/// Numbers of a Markdown table, by rows and columns; cells without one are `None`.
fn numbers(table: &str) -> Vec<Vec<Option<f64>>> {
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().replace(',', "").parse().ok()).collect();
    table.lines().filter(|line| line.starts_with('|')).map(cells).collect()
}

#[test]
fn tables_of_the_paper_do_not_depend_on_the_ranks() {
    let folder = problem("reproduce", "").parent().unwrap().to_owned();
    let reproduce = |ranks: Option<usize>| {
        let output = folder.join(format!("{ranks:?}"));
        let mut command = ranks.map_or(Command::new(DDELM), |ranks| launch(ranks, DDELM));
        command.args(["reproduce", "table-2", "--preset", "fast", "--threads", "1", "--output"]).arg(&output);
        let run = finish(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
        assert!(run.status.success(), "{}", text(&run.stderr));
        assert_eq!(text(&run.stdout).lines().count(), 1, "one rank prints: {}", text(&run.stdout));
        fs::read_to_string(output.join("table-2.md")).unwrap()
    };
    let alone = numbers(&reproduce(None));
    // 1 x 1 is always on one rank, 2 x 2 only where there are five.
    for ranks in [1, 2, 3, 5] {
        let table = numbers(&reproduce(Some(ranks)));
        assert_eq!(table.len(), alone.len());
        for (here, there) in table.iter().zip(&alone) {
            assert_eq!(here.len(), there.len());
            for (here, there) in here.iter().zip(there) {
                match (here, there) {
                    // Errors at the level of rounding differ in their digits.
                    (Some(a), Some(b)) => assert!(a == b || a.max(*b) < 1e-11, "{a:e} {b:e} on {ranks} ranks"),
                    _ => assert_eq!(here.is_some(), there.is_some()),
                }
            }
        }
    }
}

#[test]
fn a_run_of_a_table_that_takes_too_long_stops_on_all_ranks() {
    let output = problem("deadline", "").with_file_name("reproduction");
    let mut command = launch(3, DDELM);
    // The paper's method on 8 x 8 subdomains takes more than a fraction of a second; some of the smaller ones do not.
    command.args(["reproduce", "table-1", "--preset", "paper", "--max-memory", "0.002", "--max-minutes", "0.005"]);
    let run = finish(command.arg("--output").arg(&output).spawn().unwrap());
    assert!(run.status.success(), "{}", text(&run.stderr));
    let table = fs::read_to_string(output.join("table-1.md")).unwrap();
    assert!(table.contains("stopped: it took longer than allowed"), "{table}");
    assert_eq!(table.lines().filter(|line| line.contains("He")).count(), 3, "the others go on: {table}");
}

#[test]
fn commands_that_solve_more_than_once_print_once() {
    let file = problem("studies", &SMOOTH.replace("[exact]\nu = \"sin(2*pi*x)*exp(y)\"\n", ""));
    for (arguments, line) in [
        (&["convergence", "--points", "8,10", "--subdomains", "1,2"][..], "subdomains  points"),
        (&["tune", "--seeds", "1", "--set", "discretization.points=8"][..], "scale  estimate"),
    ] {
        let mut command = launch(3, DDELM);
        command.arg(arguments[0]).arg(&file).args(&arguments[1..]);
        let output = finish(command.spawn().unwrap());
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(text(&output.stdout).matches(line).count(), 1, "{}", text(&output.stdout));
    }
}

#[test]
fn a_tolerance_starts_with_a_subdomain_for_every_rank() {
    let file = problem("tolerance", SMOOTH);
    let output = finish(mpirun(6, &file, &["--json", "--set", "discretization.tolerance=1e-6"]).spawn().unwrap());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    // 2 x 2 would leave two ranks without work.
    assert_eq!(report["attempts"][0]["subdomains"], serde_json::json!([4, 4]));
    assert!(report["errors"]["l2"].as_f64().unwrap() < 1e-6);
}

#[test]
fn ranks_write_pieces_of_one_file() {
    let file = problem("pieces", SMOOTH);
    let results = file.with_file_name("results");
    let write = || {
        let arguments = ["--write", "vtk,solution", "--force", "--out", results.to_str().unwrap()];
        finish(mpirun(3, &file, &arguments).spawn().unwrap())
    };
    let files = || {
        let entries = fs::read_dir(&results).unwrap();
        let mut names: Vec<String> = entries.map(|entry| text(entry.unwrap().file_name().as_encoded_bytes())).collect();
        names.sort();
        names
    };
    assert!(write().status.success());
    let whole = ["solution-0.vtu", "solution-1.vtu", "solution-2.vtu", "solution.pvtu", "solution.safetensors"];
    assert_eq!(files(), whole);
    // A piece that cannot be written: all ranks end, and nothing names the others.
    fs::remove_file(results.join("solution-1.vtu")).unwrap();
    fs::create_dir_all(results.join("solution-1.vtu/in the way")).unwrap();
    let output = write();
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    // A rank that is slow to end is told to by `mpirun`, and says that it was interrupted.
    assert_eq!(text(&output.stderr).matches("cannot write").count(), 1, "{}", text(&output.stderr));
    assert_eq!(files(), ["solution-1.vtu", "solution.safetensors"]);
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

#[test]
fn a_rank_without_memory_ends_all_and_leaves_no_file() {
    let large = SMOOTH.replace("source", "diffusion = \"2 + sin(x*y)\"\nsource").replace("[4, 3]", "[280, 280]");
    let file = problem("memory", &large.replace("points = 12", "points = 8"));
    let results = file.with_file_name("results");
    let [file, out] = [&file, &results].map(|path| path.to_str().unwrap());
    // MPI needs half of this to start, in KiB; the matrices of a rank do not fit into the rest.
    let script = "if [ $OMPI_COMM_WORLD_RANK = 1 ]; then ulimit -v 900000; fi; exec \"$@\"";
    let solve = |more: &[&str]| {
        let mut command = launch(3, "sh");
        command.args(["-c", script, "sh", DDELM, "solve", file, "--threads", "1", "--out", out]).args(more);
        let output = finish(command.spawn().unwrap());
        assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    // Its share does not fit, and does not start; or it is told to try, and finds no room.
    let said = solve(&[]);
    assert!(said.contains("the solve takes about"), "{said}");
    let said = solve(&["--set", "discretization.max_memory=1 TB"]);
    assert!(said.contains("out of memory on rank 1"), "{said}");
    assert!(!results.exists());
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
