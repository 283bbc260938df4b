#!/usr/bin/env bash
# Tests MPI: the crate of its own, and the feature `mpi` of the command line, under mpirun on one to six ranks. `test-mpi.sh packages`
# installs what that needs, and no more.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/packages.sh libopenmpi-dev openmpi-bin libclang-dev libmumps-dev libopenblas0-serial
if [ "${1:-}" = packages ]; then exit; fi

features=(--package ddelm --package ddelm-cli --package ddelm-mpi --package ddelm-unify --features mpi)
cargo test "${features[@]}" --test exchange --test ranks

# VTK itself reads what several ranks write.
target=${CARGO_TARGET_DIR:-target}
environment=$(scripts/environment.sh crates/ddelm-py/tests/requirements.txt)
"$environment/bin/python" scripts/check-pvtu.py --program "$target/debug/ddelm"

# The study of docs/scaling.md, at its smallest.
python3 scripts/scaling.py --program "$target/debug/ddelm" --tables subdomains --largest 4 --repeat 1
