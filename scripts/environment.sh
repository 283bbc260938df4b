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
    # uv takes a fifth of pip's time. Where it cannot be had, or does not find what pip would, pip does it.
    pip() { "$environment/bin/pip" install --quiet --disable-pip-version-check "$@" >&2; }
    # shellcheck disable=SC2086 # These are several words.
    if ! { pip uv && "$environment/bin/uv" pip install --quiet --python "$environment/bin/python" $missing >&2; }; then pip $missing; fi
    for list in "$@"; do cp "$list" "$environment/$(echo "$list" | tr / -)"; done
fi
echo "$environment"
