#!/bin/sh
# Counts instructions (callgrind) of what suite `schema` asks, natively and on a store: a statement, an opening with one query, a
# round. In thousands, with the store's share of native's. beside-CASE: each table has a trigger.
# Usage: Tests/Cost/Schema/run.sh [CASE-TABLES ...], like open-400
set -eu
top=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# valgrind counts each turn of a `rep stosb`, which the processor does not take one by one: memory is cleared by vectors here.
export GLIBC_TUNABLES=glibc.cpu.x86_rep_stosb_threshold=1000000000:glibc.cpu.x86_rep_movsb_threshold=1000000000
sources=$(make -s --no-print-directory -C "$top" c-sources)
flags=$(make -s --no-print-directory -C "$top" c-flags)
# shellcheck disable=SC2086
${CC:-cc} -std=c11 -O2 -g $flags $sources \
    "$top/Tests/Cost/Schema/schema_cost.c" -o "$work/schema_cost" -lsqlite3 -llmdb -lpthread

# instructions ENGINE CASE TABLES COUNT FILLED: of a whole run, on a copy of the filled file
instructions() {
    rm -rf "$work/copy"*
    for part in "$5"*; do cp -a "$part" "$work/copy${part#"$5"}"; done
    valgrind --tool=callgrind --callgrind-out-file="${KEEP:-$work/out}" \
        "$work/schema_cost" "$1" "$work/copy" "${2#beside-}" "$3" "$4" 2>&1 | sed -n 's/.*Collected : //p'
}

while read -r name repeats; do
    for tables in 50 400 2000; do
        case " ${*:-$name-$tables} " in *" $name-$tables "*) ;; *) continue ;; esac
        for engine in native lmdb; do
            fill=fill
            case $name in beside-*) fill=fill-triggers ;; esac
            filled=$work/$engine-$fill.$tables
            [ -e "$filled" ] || "$work/schema_cost" $engine "$filled" $fill $tables 0
            none=$(instructions $engine "$name" $tables 0 "$filled")
            some=$(instructions $engine "$name" $tables "$repeats" "$filled")
            eval "$engine=$(((some - none) / repeats / 1000))"
        done
        # shellcheck disable=SC2154
        awk -v name="$name-$tables" -v native="$native" -v lmdb="$lmdb" \
            'BEGIN { printf "%s: native %d, lmdb %d thousand (%.2f)\n", name, native, lmdb, lmdb / native }'
    done
done <<CASES
create 10
drop 10
index 10
alter 10
open 3
check 5
info 2
beside-open 2
beside-create 4
beside-drop 4
beside-index 4
beside-trigger 4
CASES
