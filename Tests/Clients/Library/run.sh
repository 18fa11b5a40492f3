#!/bin/sh
# A package that depends on the library alone fetches no other package, and builds. Usage: Tests/Clients/Library/run.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
${SWIFT:-swift} package --package-path "$here" --scratch-path "$scratch" resolve
fetched=$(ls "$scratch/checkouts" 2>/dev/null || true)
[ -z "$fetched" ] || { echo "library: fetched without need:" $fetched >&2; exit 1; }
${SWIFT:-swift} build --package-path "$here" --scratch-path "$scratch" --product App >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }
engines=$("$scratch/debug/App")
[ "$engines" = "lmdb sqlite-btree memory" ] || { echo "library: engines: $engines" >&2; exit 1; }
echo "library: no package fetched, engines: $engines"
