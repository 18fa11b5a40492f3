#!/bin/sh
# Every suite once at its full size; the reports go beside this file, each with the command that made it.
#
#   Vendor-notes/results/run.sh [suite ...]      all suites unless some are named
#
# Needs a quiet machine and a release build (make build). Each suite notes its turns in build/results/SUITE.turns, so that a
# run that was interrupted goes on where it was when started again; a suite that is done is begun anew.
#
# What cannot be a row's headline is left at a turn or two (--spare-slow): native configurations clearly behind the best one
# of the row, the control, the floor. Turns of 2 s or more have no round to warm up beside the warm-up in their own
# process. So much for the number of turns, which stands with every result.
set -eu
cd "$(dirname "$0")/../.."
rootstock=${ROOTSTOCK:-.build/release/rootstock}
results=Vendor-notes/results
day=$(date -u +%Y-%m-%d)
turns=${TURNS:-4}
native=${NATIVE:-sqlite:default,sqlite:wal,sqlite:tuned}
mkdir -p build/results

compare() { # suite, then what it is run with
    suite=$1
    shift
    started=$(date +%s)
    echo "$suite: rootstock compare $suite $*"
    "$rootstock" compare "$suite" "$@" --repeat "$turns" --spare-slow --resume "build/results/$suite.turns" \
        --json "$results/$day-$suite.json" --markdown "$results/$day-$suite.md" --html "build/results/$suite.html" \
        >"build/results/$suite.txt"
    rm -f "build/results/$suite.turns"
    echo "$suite: $(($(date +%s) - started)) s"
}

run() {
    case $1 in
    engine)
        # The table's own cases, those with several connections, and the rowid table.
        compare engine fillseqsync fillrandsync fillseqsync-4writers fillrandsync-4writers fillseq fillrandom overwrite \
            fillseqbatch fillrandbatch overwritebatch readrandom readrandom-transaction readseq readreverse \
            readrandom-rowid readseq-rowid readreverse-rowid fillseq100K fillrand100K readrand100K \
            readers-beside-writer writer-beside-readers --engines "$native,lmdb" --control --floor
        ;;
    queries) compare queries --engines "$native,lmdb" --control ;;
    objects)
        compare objects insert-10000 insert-1 update-10000 update-1 delete-10000 delete-1 fetch fetch-batched \
            fetch-joined --engines "$native,lmdb"
        ;;
    library) compare library --engines "$native,lmdb" --layers user-defaults --budget 90s --size 100 ;;
    records) compare records --engines "$native,lmdb" --layers all --budget 60s --size 1000 ;;
    reader) compare reader --engines "$native,lmdb" --budget 150s --size 100000 ;;
    fetching) compare fetching --engines "$native,lmdb" ;;
    cars) compare cars --engines "$native,lmdb" ;;
    ycsb) compare ycsb --engines "$native,lmdb" --variants ;;
    speedtest) compare speedtest --engines "$native,lmdb" ;;
    *)
        echo "run.sh: there is no suite '$1'" >&2
        exit 2
        ;;
    esac
}

[ -x "$rootstock" ] || { echo "run.sh: no $rootstock: make build" >&2; exit 2; }
[ $# -gt 0 ] || set -- queries engine objects library records reader fetching cars ycsb speedtest
failed=
for suite; do run "$suite" || failed="$failed $suite"; done
[ -z "$failed" ] || { echo "run.sh: failed:$failed (build/results/*.txt)" >&2; exit 1; }
