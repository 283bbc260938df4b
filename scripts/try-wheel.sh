#!/usr/bin/env bash
# Installs a wheel in a fresh environment with no compiler on the path, and solves a problem from the command line and from
# Python. NumPy comes from PyPI.
#
#     scripts/try-wheel.sh target/wheels/ddelm-*-x86_64.whl
set -euo pipefail
cd "$(dirname "$0")/.."
wheel=$(realpath "$1")
examples=$(realpath examples)

python=$(python3 -c 'import sys; print(sys.base_prefix)')/bin/python3
folder=$(mktemp --directory)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
clean() { env --ignore-environment HOME="$folder" PATH="$folder/environment/bin:/usr/bin:/bin" PIP_CONFIG_FILE="${PIP_CONFIG_FILE:-}" PIP_INDEX_URL="${PIP_INDEX_URL:-}" "$@"; }

clean "$python" -m venv environment
clean pip install --quiet --disable-pip-version-check "$wheel"
if clean sh -c 'command -v cargo rustc maturin'; then
    echo "there is a Rust toolchain on the path: this proves nothing" >&2
    exit 1
fi
clean ddelm --version
clean ddelm solve "$examples/poisson.toml" --out result
clean python -m ddelm info result
clean python - <<'PROGRAM'
import ddelm

u = ddelm.solve(ddelm.Problem(source="2*pi^2*sin(pi*x)*sin(pi*y)", dirichlet=0.0), subdomains=(2, 2))
assert abs(u(0.5, 0.5) - 1) < 1e-9
assert abs(ddelm.load("result/solution.safetensors")(0.25, 0.75) - 2.117000016612675) < 1e-10
print("Python", ddelm.__version__, u)
PROGRAM
