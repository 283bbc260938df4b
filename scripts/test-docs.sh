#!/usr/bin/env bash
# Solves the gallery, builds the page for the browser and the documentation site around it into target/site, and checks the links.
# Where WebAssembly or npm cannot be had, the site says so in the place of the page.
set -euo pipefail
cd "$(dirname "$0")/.."

environment=$(scripts/wheel.sh scripts/requirements/docs.txt)
target=$(dirname "$environment")

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
