#!/usr/bin/env bash
# rustdoc, as `cargo test --doc` calls it where RUSTDOC names this script: it runs the examples of a crate, and then writes its
# pages, where warnings are errors. `cargo doc` does that too, but has all dependencies checked for it, which are compiled already.
set -euo pipefail

rustdoc=$(rustup which rustdoc 2>/dev/null || command -v rustdoc)
"$rustdoc" "$@"

pages=()
tests=false
while [ $# -gt 0 ]; do
    case $1 in
    --test) tests=true ;;
    --test-run-directory | --test-args) shift ;;
    *) pages+=("$1") ;;
    esac
    shift
done
if $tests; then "$rustdoc" "${pages[@]}" -D warnings --out-dir "${CARGO_TARGET_DIR:-target}/pages"; fi
