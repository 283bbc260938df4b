#!/usr/bin/env bash
# Runs every check and test of the project, on a machine with Rust and Python. What else is needed is installed:
# Debian packages with apt-get where that is allowed, Python packages into a virtual environment under target/.
set -euo pipefail
cd "$(dirname "$0")"
# Every process in the background is a group of its own, which can be ended as a whole.
set -m

# Members of the workspace that need nothing but Rust; the others have scripts of their own below. All commands, also
# those of the scripts, select ddelm-unify as well: it says why.
rust=(--package ddelm --package ddelm-cli --package ddelm-fem --package ddelm-fuzz --package ddelm-paper --package ddelm-picture
    --package ddelm-unify)
target=${CARGO_TARGET_DIR:-target}
logs=$target/logs
mkdir -p "$logs"
target=$(cd "$target" && pwd)
declare -A running

step() {
    printf '\n== %s\n' "$*" >&2
    "$@"
}

# Starts a command beside the others: name, command.
begin() {
    "${@:2}" </dev/null >"$logs/$1.log" 2>&1 &
    running[$1]=$!
}

# Waits for commands that were begun, and shows what they have said; fails where one has failed.
finish() {
    local name failed=0
    for name in "$@"; do
        wait "${running[$name]}" || failed=1
        unset "running[$name]"
        printf '\n== %s\n' "$name" >&2
        cat "$logs/$name.log" >&2
    done
    return $failed
}

# Whatever ends this script ends what it has begun.
end() {
    local group
    for group in "${running[@]}"; do kill -- "-$group" 2>/dev/null || true; done
}
trap end EXIT

# What incremental compilation keeps for the next time costs a third of this one; so do several units for each crate, which are
# optimised one by one and then once more together. Nobody reads line tables here.
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_CODEGEN_UNITS=1 CARGO_PROFILE_DEV_DEBUG=false
# The page that is tested is compiled without what only makes it faster.
export DDELM_WEB_PROFILE=web-test
# With MPI there is another command line, which others must not meet.
export DDELM=$target/ddelm-plain
# Python compiles what it imports, and not whole packages.
export PIP_NO_COMPILE=1

# Not every Rust installation has them.
rustup component add rustfmt clippy >/dev/null 2>&1 || true
step cargo fmt --all --check

# Clippy compiles, and looks at whatever is compiled below, for the browser as well.
export RUSTC_WORKSPACE_WRAPPER=$PWD/scripts/clippy.sh CLIPPY_ARGS="-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__"

# Shells for completion scripts and the browser are tried where they are there.
packages() {
    scripts/packages.sh zsh fish || true
    scripts/packages.sh chromium || true
    bash scripts/test-mpi.sh packages
}

# One command at a time can compile in a folder, and the tests, which only ask whether there is something to compile, come first.
python() {
    sleep 10
    scripts/wheel.sh crates/ddelm-py/tests/requirements.txt
    touch "$logs/wheel"
    scripts/test-python.sh
}

# The page is compiled in a folder of its own. What the site has of Python and the command line waits for them.
site() {
    if rustup target add wasm32-unknown-unknown; then bash scripts/build-web.sh; fi
    until [ -e "$logs/wheel" ]; do sleep 1; done
    bash scripts/test-web.sh
    bash scripts/test-docs.sh
}

# The compiler of the tests has a core to spare, now and then, and the site takes the longest.
rm -f "$logs/wheel"
begin packages packages
begin environment scripts/environment.sh crates/ddelm-py/tests/requirements.txt scripts/requirements/*.txt
begin site site

step cargo build "${rust[@]}" --lib --bins --tests --benches
cp "$target/debug/ddelm" "$DDELM"
finish environment packages

# What Python, the page and the site do takes one core each most of the time.
begin python python
begin policy bash scripts/test-policy.sh
if cargo nextest --version >/dev/null 2>&1; then
    step cargo nextest run "${rust[@]}" --lib --bins --tests
else
    step cargo test "${rust[@]}" --lib --bins --tests
fi
RUSTDOC=$PWD/scripts/rustdoc.sh step cargo test "${rust[@]}" --doc
step bash scripts/test-mpi.sh
finish policy python site
printf '\nAll tests passed.\n' >&2
