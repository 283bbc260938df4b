#!/usr/bin/env bash
# Installs those of the given Debian packages that are missing. Lists of packages are fetched only where there are none, or old ones.
set -euo pipefail

missing=()
for package in "$@"; do
    dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep --quiet 'install ok installed' ||
        missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then exit; fi

as_root=(env DEBIAN_FRONTEND=noninteractive)
if [ "$(id -u)" -ne 0 ]; then
    # Nobody answers where there is no terminal.
    ask=()
    if [ ! -t 0 ]; then ask=(--non-interactive); fi
    as_root=(sudo "${ask[@]}" "${as_root[@]}")
fi
install=("${as_root[@]}" apt-get install --yes --quiet --no-install-recommends "${missing[@]}")
"${install[@]}" >/dev/null || { "${as_root[@]}" apt-get update --quiet >/dev/null && "${install[@]}" >/dev/null; }
