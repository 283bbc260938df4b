#!/usr/bin/env bash
# Builds wheels that need no Rust where they are installed: one for each architecture, for Python 3.10 and later on Linux
# with glibc 2.28 or newer, with the `ddelm` command inside. Leaves them in target/wheels.
#
#     scripts/wheels.sh                      # x86-64 and arm64
#     scripts/wheels.sh x86_64               # one of them
#
# It needs Rust and Python; maturin and zig, which links against the older glibc, come from PyPI.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
target=$(cd "$target" && pwd)
environment=$target/wheel-tools
if [ ! -x "$environment/bin/maturin" ]; then
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check 'maturin[zig]>=1.9,<2'
fi
# maturin asks for `python3 -m ziglang`.
export PATH="$environment/bin:$PATH"

if [ $# -eq 0 ]; then set -- x86_64 aarch64; fi
for architecture in "$@"; do
    triple=$architecture-unknown-linux-gnu
    if command -v rustup >/dev/null; then rustup target add "$triple" >/dev/null 2>&1 || true; fi
    maturin build --profile dist --target "$triple" --zig --compatibility manylinux_2_28 --out "$target/wheels"
done
ls -l "$target/wheels"
