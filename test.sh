#!/usr/bin/env bash
# Runs every check and test of the project, on a machine with Rust and Python. What else is needed is installed:
# Debian packages with apt-get where that is allowed, Python packages into virtual environments under target/.
set -euo pipefail
cd "$(dirname "$0")"

# Members of the workspace that need nothing but Rust; the others have scripts of their own below. All commands, also
# those of the scripts, select ddelm-unify as well: it says why.
rust=(--package ddelm --package ddelm-cli --package ddelm-fem --package ddelm-fuzz --package ddelm-paper --package ddelm-picture
    --package ddelm-unify)

step() {
    printf '\n== %s\n' "$*" >&2
    "$@"
}

# What incremental compilation keeps for the next time costs a third of this one; so do several units for each crate, which are
# optimised one by one and then once more together. Nobody reads line tables here.
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_CODEGEN_UNITS=1 CARGO_PROFILE_DEV_DEBUG=false
# The page that is tested is compiled without what only makes it faster.
export DDELM_WEB_PROFILE=web-test
# Python compiles what it imports, and not whole packages.
export PIP_NO_COMPILE=1

# Not every Rust installation has them.
rustup component add rustfmt clippy >/dev/null 2>&1 || true
# Completion scripts are tried in the shells that are there.
if ! command -v zsh >/dev/null || ! command -v fish >/dev/null; then
    (apt-get update --quiet && apt-get install --yes --quiet --no-install-recommends zsh fish) >/dev/null 2>&1 || true
fi

step cargo fmt --all --check
step cargo clippy "${rust[@]}" --all-targets -- -D warnings
if cargo nextest --version >/dev/null 2>&1; then
    step cargo nextest run "${rust[@]}" --lib --bins --tests
else
    step cargo test "${rust[@]}" --lib --bins --tests
fi
step cargo test "${rust[@]}" --doc
RUSTDOCFLAGS="-D warnings" step cargo doc --no-deps "${rust[@]}"

# Python, MPI, licences and whatever else has a script.
for script in scripts/test-*.sh; do
    if [ -e "$script" ]; then step bash "$script"; fi
done
printf '\nAll tests passed.\n' >&2
