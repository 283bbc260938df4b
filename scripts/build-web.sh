#!/usr/bin/env bash
# Builds the page into web/dist: the library as two WebAssembly modules, with and without fused multiply-add (relaxed SIMD),
# and the scripts around them. Needs Rust, and for the scripts Node and npm. DDELM_WEB_PROFILE in the environment names another
# profile of Cargo than `web`, which takes long to compile.
set -euo pipefail
cd "$(dirname "$0")/.."

rustup target add wasm32-unknown-unknown >/dev/null 2>&1 || true
profile=${DDELM_WEB_PROFILE:-web}

# name, features of the processor, features of the crate
compile() {
    RUSTFLAGS="-C target-feature=$2 -D warnings" cargo build --quiet --package ddelm-web --profile "$profile" \
        --target wasm32-unknown-unknown --target-dir "target/web/$1" ${3:+--features "$3"}
}
# A crate is one unit here, so one module alone leaves a core idle.
compile relaxed +simd128,+relaxed-simd relaxed-simd &
# The tests ask this one for a small solution only, which is there sooner without optimising anything.
CARGO_PROFILE_WEB_TEST_OPT_LEVEL=0 compile simd +simd128
wait $!

# Last, for whoever compiles something else in the same folder has to wait.
cargo build --quiet --package ddelm-web-bindgen
for module in relaxed simd; do
    wasm=target/web/$module/wasm32-unknown-unknown/$profile/ddelm_web.wasm
    bindings=target/web/bindings/$module
    # They may be those of another profile.
    made=$bindings/.$profile
    if [ ! "$made" -nt "$wasm" ] || [ ! "$made" -nt target/debug/ddelm-web-bindgen ]; then
        rm -rf "$bindings"
        target/debug/ddelm-web-bindgen "$wasm" "$bindings" ddelm
        touch "$made"
    fi
done

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
