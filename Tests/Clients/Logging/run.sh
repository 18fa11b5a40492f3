#!/bin/sh
# A store writes to swift-log where the package trait Logging is on. Usage: Tests/Clients/Logging/run.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
${SWIFT:-swift} build --package-path "$here" --scratch-path "$scratch/build" --product App >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }
cat >"$scratch/expected" <<'EXPECTED'
debug Rootstock: store opened 
warning Rootstock: statement failed (no such table: nowhere)
debug Rootstock: store closed 
EXPECTED
"$scratch/build/debug/App" "$scratch/app.store" >"$scratch/printed"
diff "$scratch/expected" "$scratch/printed" || { echo "logging: another log" >&2; exit 1; }
echo "logging: what a store does stands in swift-log"
