//! The house: folders are storeys, and each uses only those above it; the rooms of a storey, its modules, do not need each
//! other in a circle. Both are read off the paths `crate::...` and `super::...` of the sources, without their tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The storeys from the top. `DESIGN.md` says what they are.
const STOREYS: [&str; 12] = [
    "base",
    "algebra",
    "problem",
    "domain",
    "network",
    "method",
    "local",
    "interface",
    "exchange",
    "solution",
    "solve",
    "file",
];

/// A module, as the names from the root: `["interface", "lu"]`.
type Module = Vec<String>;

/// Every source file with its module; `mod.rs` is the module of its folder.
fn sources(folder: &Path, module: &[String], out: &mut Vec<(Module, PathBuf)>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_stem().unwrap().to_str().unwrap().to_string();
        let is_root = matches!(name.as_str(), "mod" | "lib");
        let inner: Module = module.iter().cloned().chain((!is_root).then(|| name.clone())).collect();
        if path.is_dir() {
            sources(&path, &inner, out);
        } else if name != "tests" && !name.ends_with("_tests") {
            out.push((inner, path));
        }
    }
}

/// The code of a file: no comments, no tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap();
    code.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

/// The names after every `crate::` or `super::`, two at most, from the root; a group `{a, b}` gives one path for each.
fn paths(module: &[String], code: &str) -> Vec<Module> {
    let mut found = Vec::new();
    for (start, keyword) in code.match_indices("crate::").chain(code.match_indices("super::")) {
        if code[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        let mut rest = &code[start..];
        let mut base: Module = if keyword == "crate::" { Vec::new() } else { module.to_vec() };
        if let Some(after) = rest.strip_prefix("crate::") {
            rest = after;
        }
        while let Some(after) = rest.strip_prefix("super::") {
            base.pop();
            rest = after;
        }
        follow(&base, rest, &mut found);
    }
    found
}

/// Adds the paths that stand at the beginning of `text`, below `base`.
fn follow(base: &[String], text: &str, out: &mut Vec<Module>) {
    if let Some(group) = text.strip_prefix('{') {
        let (mut depth, mut start) = (1, 0);
        for (at, c) in group.char_indices() {
            depth += match c {
                '{' => 1,
                '}' => -1,
                _ => 0,
            };
            if depth == 0 || (depth == 1 && c == ',') {
                follow(base, group[start..at].trim(), out);
                start = at + 1;
            }
            if depth == 0 {
                break;
            }
        }
        return;
    }
    let name: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let path: Module = base.iter().cloned().chain((!name.is_empty()).then(|| name.clone())).collect();
    match text[name.len()..].strip_prefix("::") {
        Some(rest) if path.len() < 2 => follow(&path, rest, out),
        _ => out.push(path),
    }
}

/// Who uses whom: rooms are the modules of a storey, and a storey's own file is the room with the storey's name.
fn uses() -> BTreeMap<Module, BTreeSet<Module>> {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &[], &mut files);
    let rooms: BTreeSet<Module> = files.iter().map(|(module, _)| module.iter().take(2).cloned().collect()).collect();
    let room = |path: &[String]| -> Module {
        let two: Module = path.iter().take(2).cloned().collect();
        if rooms.contains(&two) { two } else { path.iter().take(1).cloned().collect() }
    };
    let mut uses: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (module, path) in files.iter().filter(|(module, _)| !module.is_empty()) {
        let own = room(module);
        let used = uses.entry(own.clone()).or_default();
        used.extend(paths(module, &code(path)).iter().map(|path| room(path)).filter(|used| *used != own));
    }
    uses
}

#[test]
fn every_module_is_in_a_storey() {
    let mut found: Vec<String> = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    let mut expected: Vec<String> = STOREYS.iter().map(|storey| storey.to_string()).chain(["lib.rs".into()]).collect();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn a_storey_uses_only_those_above_it() {
    let place = |name: &str| STOREYS.iter().position(|storey| *storey == name);
    let mut edges = 0;
    for (room, used) in uses() {
        for other in used {
            // The root has nothing but what users need.
            let name = other.first().map_or("", String::as_str);
            let above = place(name).unwrap_or_else(|| panic!("{} uses crate::{name}", room.join("::")));
            let at = place(&room[0]).unwrap();
            assert!(above <= at, "{} uses {}, which is below it", room.join("::"), other.join("::"));
            edges += 1;
        }
    }
    assert!(edges > 200, "{edges} edges: the sources were not read");
}

#[test]
fn rooms_do_not_need_each_other_in_a_circle() {
    let mut uses = uses();
    // Takes away whatever needs nothing that is left.
    loop {
        let left: BTreeSet<Module> = uses.keys().cloned().collect();
        let before = left.len();
        uses.retain(|_, used| used.iter().any(|other| left.contains(other)));
        if uses.len() == before {
            break;
        }
    }
    let left: Vec<String> = uses
        .iter()
        .map(|(room, used)| {
            let used = used.iter().filter(|other| uses.contains_key(*other)).map(|other| other.join("::"));
            format!("{} -> {}", room.join("::"), used.collect::<Vec<_>>().join(", "))
        })
        .collect();
    assert!(left.is_empty(), "in circles, or using one:\n{}", left.join("\n"));
}

/// Where one of these words stands in the code of the workspace, outside the storeys that may know what it means.
fn outside(allowed: &[&str], words: &[&str]) -> Vec<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    let mut read = 0;
    for name in ["ddelm", "ddelm-cli", "ddelm-fem", "ddelm-paper", "ddelm-picture", "ddelm-py", "ddelm-web"] {
        let mut files = Vec::new();
        sources(&crates.join(name).join("src"), &[], &mut files);
        for (module, path) in files {
            let storey = module.first().map_or("", String::as_str);
            if name == "ddelm" && allowed.contains(&storey) {
                continue;
            }
            read += 1;
            let code = code(&path);
            let lines = code.lines().enumerate().filter(|(_, line)| words.iter().any(|word| line.contains(word)));
            found.extend(lines.map(|(k, line)| format!("{}:{}: {}", path.display(), k + 1, line.trim())));
        }
    }
    assert!(read > 100, "{read} files: the sources were not read");
    found
}

#[test]
fn only_the_problem_knows_which_equation_it_is() {
    let questions = ["Equation::Plate {", "Equation::SecondOrder", "Equation::Plate)", "SimplySupported", "Clamped"];
    let found = outside(&["problem"], &questions);
    assert!(
        found.is_empty(),
        "ask the equation (problem/terms.rs, problem/operators.rs) instead:\n{}",
        found.join("\n")
    );
}

#[test]
fn only_the_domain_knows_that_a_rectangle_is_a_grid() {
    let questions = [
        ".grid()",
        "grid_without_rings",
        "as_rectangle",
        "is_rectangle",
        "domain.counts(",
        "Origin::Grid",
        "Extent::Rectangle",
    ];
    let found = outside(&["domain"], &questions);
    // A spline through data on a grid is a field, and finite elements have cells of their own.
    let own = ["problem/grid.rs", "ddelm-fem/src"];
    let found: Vec<String> = found.into_iter().filter(|line| !own.iter().any(|name| line.contains(name))).collect();
    assert!(found.is_empty(), "ask the domain (domain/division.rs) instead:\n{}", found.join("\n"));
}

#[test]
fn sides_have_their_names_in_one_place() {
    let found: Vec<String> =
        outside(&[], &["\"bottom\""]).into_iter().filter(|line| !line.contains("problem/model.rs")).collect();
    assert!(found.is_empty(), "use problem::SIDES instead:\n{}", found.join("\n"));
}

#[test]
fn paths_are_read_as_the_compiler_reads_them() {
    let module = ["interface".to_string(), "lu".to_string()];
    let found = paths(
        &module,
        "use crate::{base::error::{Error, Result}, local::basis};\nuse super::fronts::Front; crate::a::B",
    );
    let text: Vec<String> = found.iter().map(|path| path.join("::")).collect();
    assert_eq!(text, ["base::error", "local::basis", "a::B", "interface::fronts"]);
}
