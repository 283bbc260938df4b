//! Runs a target on mutations of its corpus for some seconds: `cargo run --example mutate -- formula 600 1`, the last number
//! is the seed. Where libFuzzer is at hand, `fuzz/` is better: it follows coverage.

use std::time::{Duration, Instant};

use ddelm_fuzz::TARGETS;
use ddelm_fuzz::mutate::{Mutations, corpus};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (name, seconds, seed) = match &arguments[..] {
        [name, seconds, seed] => (name, seconds.parse().unwrap_or(10), seed.parse().unwrap_or(0)),
        _ => panic!("usage: mutate TARGET SECONDS SEED"),
    };
    let (_, target) = TARGETS.iter().find(|(known, _)| known == name).expect("there is no such target");
    let mut mutations = Mutations::new(corpus(name), seed);
    let (start, mut count) = (Instant::now(), 0u64);
    while start.elapsed() < Duration::from_secs(seconds) {
        let input = mutations.next_input();
        // What it panics on is in the last file.
        let outcome = std::panic::catch_unwind(|| target(&input));
        if outcome.is_err() {
            let path = format!("crash-{name}-{count}");
            std::fs::write(&path, &input).expect("the input can be written");
            println!("{name}: {path}");
        }
        count += 1;
    }
    println!("{name}: {count} executions");
}
