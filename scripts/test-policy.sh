#!/usr/bin/env bash
# What the project is built from: licences, sources and banned crates (deny.toml), the oldest Rust that will do, and the workflows
# that build it elsewhere.
set -euo pipefail
cd "$(dirname "$0")/.."

if cargo deny --version >/dev/null 2>&1; then
    cargo deny --all-features check bans licenses sources
else
    echo "deny.toml was not checked: cargo install --locked cargo-deny" >&2
fi

# Clippy has seen that the code itself uses nothing newer (incompatible_msrv); no dependency may ask for more either.
cargo metadata --format-version 1 --locked | python3 -c '
import json, sys

packages = json.load(sys.stdin)["packages"]
version = lambda text: tuple(map(int, text.split(".")))
ours = next(p["rust_version"] for p in packages if p["name"] == "ddelm")
newer = [p["name"] for p in packages if p["rust_version"] and version(p["rust_version"])[:2] > version(ours)[:2]]
sys.exit(f"these need a Rust newer than {ours}: {newer}" if newer else 0)
'

# Workflows and the container run on other machines only; here they are read by linters, and so are the scripts.
environment=$(scripts/environment.sh scripts/requirements/policy.txt)
"$environment/bin/check-jsonschema" --builtin-schema vendor.github-workflows .github/workflows/*.yml
"$environment/bin/zizmor" --offline --quiet .github/workflows
"$environment/bin/hadolint" Containerfile
"$environment/bin/shellcheck" test.sh scripts/*.sh
