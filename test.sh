#!/usr/bin/env bash
# Runs every check and test of the project, on a machine with Rust and Python. What else is needed is installed:
# Debian packages with apt-get where that is allowed, Python packages into a virtual environment under target/.
set -euo pipefail
cd "$(dirname "$0")"

# Members of the workspace that need nothing but Rust; the others have scripts of their own below. All commands, also
# those of the scripts, select ddelm-unify as well: it says why.
rust=(--package ddelm --package ddelm-cli --package ddelm-fem --package ddelm-fuzz --package ddelm-paper --package ddelm-picture
    --package ddelm-unify)
logs=${CARGO_TARGET_DIR:-target}/logs
mkdir -p "$logs"

step() {
    printf '\n== %s\n' "$*" >&2
    "$@"
}

# Runs scripts side by side, for each of them keeps one core busy most of the time, and then shows what they have said.
together() {
    local script failed=0 running=()
    for script in "$@"; do
        bash "$script" >"$logs/$(basename "$script").log" 2>&1 &
        running+=($!)
    done
    for script in "$@"; do
        wait "${running[0]}" || failed=1
        running=("${running[@]:1}")
        printf '\n== %s\n' "$script" >&2
        cat "$logs/$(basename "$script").log" >&2
    done
    return $failed
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
# Clippy compiles, and looks at whatever is compiled below, for the browser as well. `cargo clippy` would check all dependencies
# beforehand, and all members twice.
RUSTC_WORKSPACE_WRAPPER=$(rustup which clippy-driver 2>/dev/null || command -v clippy-driver)
export RUSTC_WORKSPACE_WRAPPER CLIPPY_ARGS="-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__"

# Completion scripts are tried in the shells that are there.
if ! command -v zsh >/dev/null || ! command -v fish >/dev/null; then
    (apt-get update --quiet && apt-get install --yes --quiet --no-install-recommends zsh fish) >/dev/null 2>&1 || true
fi
step cargo fmt --all --check
# Packages are fetched while the compiler works.
scripts/environment.sh crates/ddelm-py/tests/requirements.txt scripts/requirements/*.txt >"$logs/environment.log" 2>&1 &
packages=$!

if cargo nextest --version >/dev/null 2>&1; then
    step cargo nextest run "${rust[@]}" --lib --bins --tests
else
    step cargo test "${rust[@]}" --lib --bins --tests
fi
RUSTDOC=$PWD/scripts/rustdoc.sh step cargo test "${rust[@]}" --doc
step cargo build "${rust[@]}" --benches

wait "$packages" || { cat "$logs/environment.log" >&2 && exit 1; }
# The site is made of what Python and the page have built; with MPI there is another `ddelm`, which these two must not meet.
together scripts/test-python.sh scripts/test-web.sh
together scripts/test-docs.sh scripts/test-mpi.sh scripts/test-policy.sh
printf '\nAll tests passed.\n' >&2
