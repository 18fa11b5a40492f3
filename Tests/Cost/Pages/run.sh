#!/bin/sh
# Counts instructions a row (callgrind) of puts at random keys, with option checkPages and without: stored to the map, and by copies of pages.
# Usage: Tests/Cost/Pages/run.sh [CASE ...]
set -eu
top=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sources=$(make -s --no-print-directory -C "$top" c-sources)
flags=$(make -s --no-print-directory -C "$top" c-flags)
# shellcheck disable=SC2086
${CC:-cc} -std=c11 -O2 -g $flags $sources \
    "$top/Tests/Cost/Pages/page_cost.c" -o "$work/page_cost" -lsqlite3 -llmdb -lpthread

# instructions OPTIONS CASE COUNT: of a whole run
instructions() {
    rm -f "$work"/store*
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$work/page_cost" "$work/store" "$1" "$2" "$3" 2>"$work/log" ||
        { cat "$work/log" >&2; exit 1; }
    awk '/Collected/ { print $NF }' "$work/log"
}

# each OPTIONS CASE FEW MANY: of a row
each() {
    few=$(instructions "$1" "$2" "$3")
    many=$(instructions "$1" "$2" "$4")
    echo $(((many - few) / ($4 - $3)))
}

for map in true false; do
    while read -r name few many; do
        case " ${*:-$name} " in *" $name "*) ;; *) continue ;; esac
        options="\"durability\":\"off\",\"mapSize\":1073741824,\"writeMap\":$map"
        without=$(each "{$options}" "$name" "$few" "$many")
        with=$(each "{$options,\"checkPages\":true}" "$name" "$few" "$many")
        echo "$name, writeMap $map: $without instructions a row, $with with checkPages:" \
            "$(awk -v a="$without" -v b="$with" 'BEGIN { printf "%+.1f %%", 100 * (b - a) / a }')"
    done <<CASES
fillrandbatch 10000 20000
fillrandom 4000 8000
overwrite 2000 6000
CASES
done
