#!/bin/sh
# Builds the wheel of the Python package where it is older than its sources, installs it in the environment of the tests, beside the
# packages that the given files list, and prints the environment's path. One of the files lists maturin.
#
# It is built in the dev profile, which is optimised and shares its dependencies with `cargo test`.
set -eu
cd "$(dirname "$0")/.."

environment=$(scripts/environment.sh "$@")
wheels=$(dirname "$environment")/wheels-dev
installed=$environment/wheel-dev
mkdir -p "$wheels"
wheel=$(find "$wheels" -name 'ddelm-*.whl' | head -n 1)
if [ -z "$wheel" ] || [ -n "$(find crates Cargo.lock pyproject.toml \( -name '*.rs' -o -name '*.py' -o -name '*.txt' -o -name '*.toml' -o -name Cargo.lock \) -newer "$wheel")" ]; then
    rm -rf "$wheels"
    "$environment/bin/maturin" build --quiet --profile dev --features unify --out "$wheels" >&2
    wheel=$(find "$wheels" -name 'ddelm-*.whl' | head -n 1)
fi
# Somebody else may be using it.
if [ ! "$installed" -nt "$wheel" ]; then
    "$environment/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$wheel" >&2
    touch "$installed"
fi
echo "$environment"
