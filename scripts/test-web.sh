#!/usr/bin/env bash
# The library without threads and files for WebAssembly, and the page in a real browser. Where the target, npm or a browser
# cannot be had, it says so and goes on with the rest. The page is compared with the command line, DDELM, which is built unless given.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! rustup target add wasm32-unknown-unknown >/dev/null 2>&1; then
    echo "not tested: WebAssembly (rustup cannot add the target wasm32-unknown-unknown)" >&2
    exit 0
fi
bash scripts/build-web.sh
if ! npm --version >/dev/null 2>&1; then
    echo "not tested: the page (there is no npm)" >&2
    exit 0
fi
cd web
node --test tests/text.test.mjs

export CHROMIUM="${CHROMIUM:-/usr/bin/chromium}"
if [ ! -x "$CHROMIUM" ]; then
    ../scripts/packages.sh chromium </dev/null >/dev/null 2>&1 || true
fi
if [ ! -x "$CHROMIUM" ]; then
    echo "not tested: the page in a browser (there is no Chromium at $CHROMIUM, and apt-get cannot install it)" >&2
    exit 0
fi
if [ -z "${DDELM:-}" ]; then
    cargo build --quiet --package ddelm-cli --package ddelm-unify
    DDELM=$PWD/../target/debug/ddelm
fi
DDELM=$DDELM node --test tests/page.test.mjs
