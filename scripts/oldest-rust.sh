#!/usr/bin/env bash
# Checks that the oldest Rust that Cargo.toml names compiles everything; it is installed if need be. Takes some minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
rustup toolchain install "$oldest" --profile minimal
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/oldest cargo "+$oldest" check --locked \
    --package ddelm --package ddelm-cli --package ddelm-fem --package ddelm-fuzz --package ddelm-paper --package ddelm-picture --all-targets
