//! Every target, on its corpus and on mutations of it that are the same every time.

use ddelm_fuzz::TARGETS;
use ddelm_fuzz::mutate::{Mutations, corpus};

/// Mutations of each corpus.
const MUTATIONS: usize = 4000;

fn run(name: &str) {
    let (_, target) = TARGETS.iter().find(|(known, _)| *known == name).unwrap();
    let inputs = corpus(name);
    assert!(inputs.len() >= 4, "{name} has {} inputs", inputs.len());
    inputs.iter().for_each(|input| target(input));
    let mut mutations = Mutations::new(inputs, 1);
    for _ in 0..MUTATIONS {
        let input = mutations.next_input();
        if let Err(panic) = std::panic::catch_unwind(|| target(&input)) {
            eprintln!("{name} fails on {:?}", String::from_utf8_lossy(&input));
            std::panic::resume_unwind(panic);
        }
    }
}

#[test]
fn formula() {
    run("formula");
}

#[test]
fn problem() {
    run("problem");
}

#[test]
fn overrides() {
    run("overrides");
}

#[test]
fn safetensors() {
    run("safetensors");
}

#[test]
fn numpy() {
    run("numpy");
}

#[test]
fn points() {
    run("points");
}

#[test]
fn mesh() {
    run("mesh");
}

#[test]
fn domain() {
    run("domain");
}

/// libFuzzer has all of them.
#[test]
fn every_target_is_an_entry_point() {
    let manifest = std::fs::read_to_string("../../fuzz/Cargo.toml").unwrap();
    for (name, _) in TARGETS {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
        let source = std::fs::read_to_string(format!("../../fuzz/fuzz_targets/{name}.rs")).unwrap();
        assert!(source.contains(&format!("ddelm_fuzz::{name}(data)")), "{name}");
    }
}
