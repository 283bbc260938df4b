#!/usr/bin/env bash
# The compiler of the workspace's members, as cargo calls it where RUSTC_WORKSPACE_WRAPPER names this script: Clippy, which looks at
# what it compiles. `cargo clippy` would check all dependencies beforehand, and all members twice.
set -euo pipefail

driver=$(rustup which clippy-driver 2>/dev/null || command -v clippy-driver)
case " $* " in
# The library's unit tests are small. Optimising it once more for them takes longer than they do without; what takes long belongs
# into its folder tests/.
*" --crate-name ddelm "*" --test "*) set -- "$@" -C opt-level=0 ;;
esac
exec "$driver" "$@"
