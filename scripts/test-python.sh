#!/bin/sh
# Builds the wheel, installs it in a virtual environment and runs the Python tests.
#
# The tests that need PyTorch are left out unless the variable DDELM_TORCH says how to install it: "torch", or with the
# index of PyTorch's builds without CUDA. From PyPI it is 3 GB, which takes longer than all other tests together.
#
# They compare with the command line, DDELM, which is built unless given.
set -eu
cd "$(dirname "$0")/.."

environment=$(scripts/wheel.sh crates/ddelm-py/tests/requirements.txt)
if [ -n "${DDELM_TORCH:-}" ]; then
    # shellcheck disable=SC2086 # These are several words.
    "$environment/bin/pip" install --quiet --disable-pip-version-check $DDELM_TORCH
fi
if [ -z "${DDELM:-}" ]; then
    cargo build --quiet --package ddelm-cli --package ddelm-unify
    DDELM=$(dirname "$environment")/debug/ddelm
fi
DDELM=$DDELM "$environment/bin/python" -m pytest --quiet -rs "$@"
