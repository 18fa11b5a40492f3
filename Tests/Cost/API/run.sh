#!/bin/bash
# The layer table: instructions (callgrind) of the Swift API over SQLite's C calls, of an empty read, and of decoding beside GRDB, with GRDB's time.
# Fails where a bound is missed. Usage: Tests/Cost/API/run.sh [SCRATCH]
#   SCRATCH   where the program is built and kept, .build-grdb/api unless it is named
# Without the package GRDB.swift, which is fetched from GitHub, it says SKIPPED.
set -eu
here=$(realpath "$(dirname "$0")")
scratch=${1:-$(realpath "$here/../../..")/.build-grdb/api}
if ! git ls-remote -q --exit-code https://github.com/groue/GRDB.swift 7.10.0 >/dev/null 2>&1; then
    echo "api-cost: SKIPPED: the package GRDB.swift cannot be fetched here"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${SWIFT:-swift} build -c release --package-path "$here" --scratch-path "$scratch" >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; exit 1; }
# Without its symbols, which valgrind would read for a minute.
strip -o "$work/api-cost" "$scratch/release/api-cost"
"$work/api-cost" "$work/data.lmdb" fill 2000
"$work/api-cost" "$work/data.sqlite" fill 2000

# total FILE CASE COUNT: instructions of the whole process
total() {
    file=$work/$1
    case $2 in insert*) file=$work/inserted-$1; rm -f "$file"*; cp "$work/$1" "$file" ;; esac
    valgrind --tool=callgrind --callgrind-out-file="$work/out" "$work/api-cost" "$file" "$2" "$3" >"$work/log" 2>&1 ||
        { cat "$work/log" >&2; exit 1; }
    sed -n 's/.*Collected : //p' "$work/log"
}

# allocations CASE: of one call, by memcheck's count of the process
allocations() {
    for count in 500 2500; do
        valgrind --leak-check=no --log-file="$work/log" "$work/api-cost" "$work/data.lmdb" "$1" $count || exit 1
        sed -n 's/.*total heap usage: \([0-9,]*\) allocs.*/\1/p' "$work/log" | tr -d ,
    done | { read -r few; read -r many; echo $(((many - few) / 2000)); }
}

# each FILE CASE FEW MANY PER: of one operation
each() {
    few=$(total "$1" "$2" "$3")
    many=$(total "$1" "$2" "$4")
    echo $(((many - few) / (($4 - $3) * $5)))
}

status=0
# row FILE NAME BASE CASE FEW MANY PER LIMIT: a line of the table; LIMIT is in hundredths, - for none
row() {
    base=$(each "$1" "$3" "$5" "$6" "$7")
    ours=$(each "$1" "$4" "$5" "$6" "$7")
    ratio=$((ours * 100 / base))
    verdict=
    if [ "$8" != - ]; then
        verdict="at most $(printf '%d.%02d' $(($8 / 100)) $(($8 % 100)))"
        [ $((ours * 100)) -le $((base * $8)) ] || { verdict="$verdict: MISSED"; status=1; }
    fi
    printf '| %s | %d | %d | %d.%02d | %s |\n' "$2" "$base" "$ours" $((ratio / 100)) $((ratio % 100)) "$verdict"
}

echo "| instructions, engine lmdb | C calls | Swift API | ratio | asked |"
echo "|---|---|---|---|---|"
row data.lmdb "a select of three columns, its text given each time" select-c select 500 2500 1 125
row data.lmdb "the same, its statement kept" select-c select-kept 500 2500 1 -
row data.lmdb "the same, as a Row" select-c select-row 500 2500 1 -
row data.lmdb "an insert of three values, its text given each time" insert-c insert 2000 6000 1 130
row data.lmdb "the same, its statement kept" insert-c insert-kept 2000 6000 1 -
row data.lmdb "the same, its text and an array of values given each time" insert-c insert-array 2000 6000 1 -
row data.lmdb "a row of a scan, three columns in place" scan-c scan 2 6 2000 120
row data.lmdb "the same, the text as a String" scan-c scan-strings 2 6 2000 -
row data.lmdb "the same, as a Row" scan-c scan-rows 2 6 2000 -
row data.lmdb "the same, as a Row, its columns by name" scan-c scan-names 2 6 2000 -
echo
echo "| a store's read, engine lmdb, instructions | the query | the read | ratio | asked |"
echo "|---|---|---|---|---|"
row data.lmdb "an empty read over a query of one row" select-row read-empty 500 2500 1 150
row data.lmdb "a read of one row over that query" select-row read-row 500 2500 1 -
made=$(allocations read-empty)
echo "| allocations of an empty read | | $made | | at most 8$([ "$made" -le 8 ] || echo ": MISSED") |"
[ "$made" -le 8 ] || status=1
echo
echo "| a decoded row, one SQLite file | GRDB | Rootstock | ratio | asked |"
echo "|---|---|---|---|---|"
row data.sqlite "decode book (3 columns), instructions" decode-book-grdb decode-book 2 6 2000 100
row data.sqlite "decode loan (8 columns), instructions" decode-loan-grdb decode-loan 2 6 2000 100
"$work/api-cost" "$work/data.sqlite" time 200
exit $status
