#!/bin/sh
# Builds the wheel, installs it in a virtual environment and runs the Python tests.
#
# The wheel is built in the dev profile, which is optimised and shares its dependencies with `cargo test`.
#
# The tests that need PyTorch are left out unless the variable DDELM_TORCH says how to install it: "torch", or with the
# index of PyTorch's builds without CUDA. From PyPI it is 3 GB, which takes longer than all other tests together.
set -eu
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
target=$(cd "$target" && pwd)
wheels=$target/wheels-dev
environment=$(scripts/environment.sh crates/ddelm-py/tests/requirements.txt)
if [ -n "${DDELM_TORCH:-}" ]; then
    # shellcheck disable=SC2086 # These are several words.
    "$environment/bin/pip" install --quiet --disable-pip-version-check $DDELM_TORCH
fi

# The tests compare with the command line. The tests of the workspace have built it already, as a rule.
ddelm=$target/debug/ddelm
if [ ! -x "$ddelm" ] || [ -n "$(find crates Cargo.lock \( -name '*.rs' -o -name 'Cargo.*' \) -newer "$ddelm")" ]; then
    cargo build --quiet --package ddelm-cli --package ddelm-unify
fi
rm -rf "$wheels"
"$environment/bin/maturin" build --quiet --profile dev --features unify --out "$wheels"
"$environment/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$wheels"/*.whl

DDELM=$ddelm "$environment/bin/python" -m pytest --quiet -rs "$@"
