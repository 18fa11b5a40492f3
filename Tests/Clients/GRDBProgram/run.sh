#!/bin/bash
# Builds the program here, which uses GRDB and links RootstockInterpose, and runs it on SQLite and on stores: it prints what printed.txt has.
# Usage: Tests/Clients/GRDBProgram/run.sh [SCRATCH]
#   SCRATCH   where it is built and kept, .build-grdb unless it is named
# Without the package GRDB.swift, which is fetched from GitHub, it says SKIPPED.
set -eu
here=$(realpath "$(dirname "$0")")
scratch=${1:-$(realpath "$here/../../..")/.build-grdb}
if ! git ls-remote -q --exit-code https://github.com/groue/GRDB.swift 7.10.0 >/dev/null 2>&1; then
    echo "grdb: SKIPPED: the package GRDB.swift cannot be fetched here"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
${SWIFT:-swift} build --package-path "$here" --scratch-path "$scratch" >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }

for engine in sqlite lmdb sqlite-btree; do
    mkdir "$folder/$engine"
    (cd "$folder/$engine" && timeout 60 "$scratch/debug/Library" $engine data.db) >"$folder/$engine.printed" 2>&1 ||
        { echo "grdb: on $engine: exit status $?" >&2; cat "$folder/$engine.printed" >&2; exit 1; }
    diff "$here/printed.txt" "$folder/$engine.printed" >&2 || { echo "grdb: on $engine it prints what stands right (>)" >&2; exit 1; }
done
# Each database went where it was asked for.
[ "$(head -c 15 "$folder/sqlite/data.db")" = "SQLite format 3" ] || { echo "grdb: sqlite/data.db is no SQLite database" >&2; exit 1; }
said=$(cd "$folder/lmdb" && ROOTSTOCK_VERBOSE=1 "$scratch/debug/Library" sqlite data.db 2>&1 | sed -n 1p)
[ "$said" = "rootstock: data.db: a store, engine lmdb" ] || { echo "grdb: lmdb/data.db: $said" >&2; exit 1; }
echo "grdb: GRDB's records, associations and observation print the same on SQLite and on stores"
