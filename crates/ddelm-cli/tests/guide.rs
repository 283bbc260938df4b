//! The commands of docs/guide.md, run in an empty directory: they must still print what the guide says.

use std::fs;

/// Words at the start of lines whose figures depend on the machine, or on the last digits.
const FIGURES: [&str; 8] = ["error", "time", "memory", "cost", "L2", "H1", "maximum", "estimate"];

/// The line with `[..]`, which matches anything, in place of figures.
fn masked(line: &str) -> String {
    let first = line.split_whitespace().next().unwrap_or_default();
    let is_table = first.split_once('x').is_some_and(|(a, b)| a.parse::<u32>().is_ok() && b.parse::<u32>().is_ok());
    let is_point = line.split(',').count() > 2 && line.split(',').all(|number| number.parse::<f64>().is_ok());
    match () {
        () if FIGURES.contains(&first) => format!("{first}[..]"),
        () if is_table || is_point => "[..]".into(),
        () => line.into(),
    }
}

#[test]
fn the_guide_tells_the_truth() {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide.md")).unwrap();
    assert!(text.matches("\n$ ddelm ").count() > 8, "the guide has lost its commands");
    let folder = tempfile::tempdir().unwrap();
    // trycmd runs the commands of guide.md in guide.in, one after the other.
    let work = folder.path().join("guide.in");
    fs::create_dir(&work).unwrap();
    fs::write(work.join("points.csv"), "x,y\n0.5,0.5\n0.25,0.75\n").unwrap();
    let page = folder.path().join("guide.md");
    let mut inside = false;
    let lines = text.lines().map(|line| {
        inside = if line.starts_with("```") { line == "```console" } else { inside };
        if inside && !line.starts_with("$ ") { masked(line) } else { line.into() }
    });
    fs::write(&page, lines.collect::<Vec<String>>().join("\n") + "\n").unwrap();
    trycmd::TestCases::new().env("NO_COLOR", "1").case(page).run();
    for file in ["result/solution.vtu", "elements/solution.vtu", "u.png", "slice.png", "difference.png", "study.png"] {
        assert!(work.join(file).exists(), "{file}");
    }
}
