#!/bin/sh
# Installs the Python packages that the given files list into target/python, the one environment of all tests, and prints its path.
# What is there already is left alone.
set -eu
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
environment=$(cd "$target" && pwd)/python
if [ ! -x "$environment/bin/pip" ]; then python3 -m venv "$environment" >&2; fi

missing=
for list in "$@"; do
    if ! cmp -s "$list" "$environment/$(echo "$list" | tr / -)"; then missing="$missing -r $list"; fi
done
if [ -n "$missing" ]; then
    # shellcheck disable=SC2086 # These are several words.
    "$environment/bin/pip" install --quiet --disable-pip-version-check $missing >&2
    for list in "$@"; do cp "$list" "$environment/$(echo "$list" | tr / -)"; done
fi
echo "$environment"
