#!/usr/bin/env bash
# Solves the gallery, builds the page for the browser and the documentation site around it into target/site, and checks the links.
# Where WebAssembly or npm cannot be had, the site says so in the place of the page.
#
# The wheel is that of the Python tests if they have built it; otherwise it is built here, in the dev profile.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
target=$(cd "$target" && pwd)
environment=$(scripts/environment.sh scripts/requirements/docs.txt)

mkdir -p "$target/wheels-dev"
wheel=$(find "$target/wheels-dev" -name 'ddelm-*.whl' | head -n 1)
if [ -z "$wheel" ] || [ -n "$(find crates Cargo.lock pyproject.toml \( -name '*.rs' -o -name '*.py' -o -name '*.toml' -o -name 'Cargo.lock' \) -newer "$wheel")" ]; then
    rm -rf "$target/wheels-dev"
    "$environment/bin/maturin" build --quiet --profile dev --features unify --out "$target/wheels-dev"
    wheel=$(find "$target/wheels-dev" -name 'ddelm-*.whl' | head -n 1)
fi
"$environment/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$wheel"

"$environment/bin/python" scripts/gallery.py --out "$target/gallery"
if rustup target add wasm32-unknown-unknown >/dev/null 2>&1 && npm --version >/dev/null 2>&1; then
    bash scripts/build-web.sh
else
    rm -rf web/dist
    echo "the site has no page for the browser: there is no target wasm32-unknown-unknown, or no npm" >&2
fi
export DDELM_GALLERY=$target/gallery
"$environment/bin/mkdocs" build --quiet --strict --site-dir "$target/site"
"$environment/bin/python" scripts/check-links.py "$target/site"
