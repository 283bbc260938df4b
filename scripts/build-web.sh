#!/usr/bin/env bash
# Builds the page into web/dist: the library as two WebAssembly modules, with and without fused multiply-add (relaxed SIMD),
# and the scripts around them. Needs Rust, and for the scripts Node and npm. With DDELM_WEB_QUICK in the environment they are compiled without what only
# makes them faster: the first is the one that browsers run, the second need only work.
set -euo pipefail
cd "$(dirname "$0")/.."

rustup target add wasm32-unknown-unknown >/dev/null 2>&1 || true
profiles=(web web)
if [ -n "${DDELM_WEB_QUICK:-}" ]; then profiles=(web-test web-trial); fi
cargo build --quiet --package ddelm-web-bindgen

# name, profile, features of the processor, features of the crate
compile() {
    RUSTFLAGS="-C target-feature=$3 -D warnings" cargo build --quiet --package ddelm-web --profile "$2" \
        --target wasm32-unknown-unknown --target-dir "target/web/$1" ${4:+--features "$4"}
    target/debug/ddelm-web-bindgen "target/web/$1/wasm32-unknown-unknown/$2/ddelm_web.wasm" "target/web/bindings/$1" ddelm
}
# A crate is one unit here, so one module alone leaves a core idle.
compile relaxed "${profiles[0]}" +simd128,+relaxed-simd relaxed-simd &
compile simd "${profiles[1]}" +simd128
wait $!

if ! npm --version >/dev/null 2>&1; then
    echo "only the modules were built: there is no npm" >&2
    exit 0
fi
cd web
# The packages are locked; a folder that is up to date is left alone.
if ! cmp --silent package-lock.json node_modules/.installed; then
    npm ci --no-audit --no-fund --silent
    cp package-lock.json node_modules/.installed
fi
npx --no-install tsc --noEmit
node build.mjs
