#!/bin/sh
# Counts instructions a row (callgrind) of what the suites `queries`, `engine` and `objects` ask: native SQLite's, a store's, and
# whose they are.
# A row of readrandom is a statement. Usage: Tests/Cost/Row/run.sh [CASE ...]
set -eu
top=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sources=$(make -s --no-print-directory -C "$top" c-sources)
flags=$(make -s --no-print-directory -C "$top" c-flags)
# shellcheck disable=SC2086
${CC:-cc} -std=c11 -O2 -g $flags $sources \
    "$top/Tests/Cost/Row/row_cost.c" -o "$work/row_cost" -lsqlite3 -llmdb -lpthread
for engine in native lmdb; do "$work/row_cost" $engine "$work/$engine" fill 0; done

# profile ENGINE CASE COUNT: instructions by the object that they belong to, as lines "object instructions"
profile() {
    file="$work/$1"
    if [ "$2" = insert ]; then
        file="$work/inserted"
        rm -f "$file"*
    fi
    valgrind --tool=callgrind --callgrind-out-file="$work/out" "$work/row_cost" "$1" "$file" "$2" "$3" 2>"$work/log" ||
        { cat "$work/log" >&2; exit 1; }
    # A line behind `calls=` repeats what the called function costs: it counts there.
    awk '/^ob=/ { split($0, part, /[()]/); sub(/^.*\//, "", part[3]); sub(/^ /, "", part[3])
                  if (part[3] != "") name[part[2]] = part[3]; object = name[part[2]] }
         /^cob=/ { split($0, part, /[()]/); sub(/^.*\//, "", part[3]); sub(/^ /, "", part[3])
                  if (part[3] != "") name[part[2]] = part[3] }
         /^calls=/ { called = 1; next }
         /^[0-9+*-]/ { if (!called) cost[object] += $2; called = 0 }
         END { for (o in cost) printf "%s %.0f\n", o, cost[o] }' "$work/out"
}

# count ENGINE CASE FEW MANY ROWS: what a row costs
count() {
    profile "$1" "$2" "$3" >"$work/few"
    profile "$1" "$2" "$4" >"$work/many"
    awk -v rows=$((($4 - $3) * $5)) '
        NR == FNR { few[$1] = $2; next }
        { each = ($2 - few[$1]) / rows; sum += each
          if ($1 ~ /sqlite3/) sqlite += each; else if ($1 ~ /lmdb/) lmdb += each
          else if ($1 ~ /row_cost/) ours += each; else libc += each }
        END { printf "%6.0f (SQLite %.0f, program and table layer %.0f, liblmdb %.0f, libc %.0f)", sum, sqlite, ours, lmdb, libc }
    ' "$work/few" "$work/many"
}

while read -r name few many rows; do
    case " ${*:-$name} " in *" $name "*) ;; *) continue ;; esac
    echo "$name: native $(count native "$name" "$few" "$many" "$rows")"
    echo "$name: lmdb   $(count lmdb "$name" "$few" "$many" "$rows")"
done <<CASES
sum 2 4 20000
range-key 20 60 100
range-index 20 60 100
join 1 2 20000
group-by 1 2 20000
order-by-limit 100 400 20
readrandom 500 1500 1
readrandom-transaction 500 1500 1
readseq 1 2 20000
objects-joined 1 2 20000
objects-batched 20 60 100
insert 2000 6000 1
CASES
