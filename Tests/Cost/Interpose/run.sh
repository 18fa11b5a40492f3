#!/bin/sh
# Counts instructions (callgrind): what a program pays for reaching a store through the interposer, beside one that calls the C API.
# Fails above 2% for a cached point select, and above 3% for a prepare. Kept BEGIN and COMMIT do little, so that theirs is 150%, and 230% beside an attached store.
# Usage: Tests/Cost/Interpose/run.sh INTERPOSER. KEEP=FILE keeps callgrind's profile of the last run.
set -eu
interposer=$(realpath "$1")
top=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sources=$(make -s --no-print-directory -C "$top" c-sources)
flags=$(make -s --no-print-directory -C "$top" c-flags)
# shellcheck disable=SC2086
${CC:-cc} -std=c11 -O2 -g $flags -DTHROUGH_API $sources "$top/Tests/Cost/Interpose/interpose_cost.c" -o "$work/api" -lsqlite3 -llmdb -lpthread
${CC:-cc} -std=c11 -O2 -g "$top/Tests/Cost/Interpose/interpose_cost.c" -o "$work/program" -lsqlite3
export ROOTSTOCK_ENGINE=lmdb
LD_PRELOAD=$interposer sqlite3 "$work/data.store" "CREATE TABLE test (key INTEGER PRIMARY KEY, value TEXT);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99) INSERT INTO test SELECT i, 'value ' || i FROM n"

# total PROGRAM MODE COUNT
total() {
    if [ "$1" = program ]; then preload=$interposer; else preload=; fi
    LD_PRELOAD=$preload valgrind --tool=callgrind --callgrind-out-file="${KEEP:-$work/out}" "$work/$1" "$work/data.store" "$2" "$3" 2>&1 |
        sed -n 's/.*Collected : //p'
}
instructions() {
    few=$(total "$1" "$2" 100)
    many=$(total "$1" "$2" 1100)
    echo $(((many - few) / 1000))
}

status=0
while read -r mode percent; do
    api=$(instructions api "$mode")
    program=$(instructions program "$mode")
    limit=$((api + api * percent / 100))
    verdict=ok
    [ "$program" -le "$limit" ] || { verdict="above $limit"; status=1; }
    echo "$mode: by the C API $api, through the interposer $program ($(((program - api) * 1000 / api)) in 1,000): $verdict"
done <<MODES
select 2
prepare 3
unsynced 3
bounds 150
beside 230
MODES
exit $status
