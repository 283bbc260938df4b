//! What the commands print, as pages that read as documentation.
//!
//! `TRYCMD=overwrite cargo test -p ddelm-cli --test transcripts` writes what is printed now into the pages; figures that
//! depend on the machine are then to be replaced by `[..]`.

#[test]
fn transcripts() {
    let package = env!("CARGO_MANIFEST_DIR");
    // The pages speak of examples/poisson.toml, as somebody in the root of the repository would.
    std::env::set_current_dir(format!("{package}/../..")).unwrap();
    trycmd::TestCases::new().env("NO_COLOR", "1").case(format!("{package}/tests/transcripts/*.md")).run();
}
