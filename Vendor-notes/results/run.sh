#!/bin/sh
# Every suite once at its full size; the reports go beside this file, each with the command that made it.
#
#   Vendor-notes/results/run.sh [suite ...]      all suites unless some are named
#
# Needs a quiet machine and a release build (make build). Each suite notes its turns in build/results/SUITE.turns, so that a
# run that was interrupted goes on where it was when started again; a suite that is done is begun anew. A suite that fails
# does not stop the others.
#
#   MINUTES=45            time for all of it; each suite has a share of what is left, and what it leaves the next ones have
#   TURNS=5               turns of each contender at each case that the time is meant for
#   SCALE=1               sizes divided by this, to try the script out; the reports then go to build/results
#   ROOTSTOCK=...         the command
#
# What cannot be a row's headline is left at a turn or two, three at most (--spare-slow): native configurations behind the best
# one of the row, the control, the floor. Turns of 2 s or more have no round to warm up beside the warm-up in their own
# process. Where a suite's share does not do for all its turns, the cheap cases have theirs and the expensive ones have
# fewer. So much for the number of turns, which stands with every result.
set -u
cd "$(dirname "$0")/../.."
rootstock=${ROOTSTOCK:-.build/release/rootstock}
turns=${TURNS:-5}
scale=${SCALE:-1}
minutes=${MINUTES:-45}
day=$(date -u +%Y-%m-%d)
results=Vendor-notes/results
[ "$scale" = 1 ] || results=build/results
mkdir -p build/results

# What a suite takes of the time, in seconds of a quiet machine with 2 cores for TURNS=5; only their proportions count.
weight() {
    case $1 in
    engine) echo 1340 ;;
    objects) echo 520 ;;
    engine-full) echo 185 ;;
    queries) echo 280 ;;
    ycsb) echo 75 ;;
    same | same-native) echo 60 ;;
    memory) echo 55 ;;
    reader) echo 90 ;;
    ycsb-threads) echo 35 ;;
    speedtest) echo 80 ;;
    records | fetching) echo 25 ;;
    library | cars) echo 15 ;;
    *) echo 0 ;;
    esac
}

size() { # the full size, divided
    value=$(($1 / scale))
    [ "$value" -ge "$2" ] || value=$2
    echo "$value"
}

compare() { # name of the report, suite, then what it is run with
    report=$1
    shift
    echo "$report: rootstock compare $* --budget ${seconds}s"
    "$rootstock" compare "$@" --repeat "$turns" --spare-slow --budget "${seconds}s" --resume "build/results/$report.turns" \
        --json "$results/$day-$report.json" --markdown "$results/$day-$report.md" --html "build/results/$report.html" \
        >"build/results/$report.txt"
    status=$?
    # 1: a case failed or answers differed, and the report says so; 2: worse than before.
    [ $status -gt 2 ] || rm -f "build/results/$report.turns"
    return $status
}

run() {
    modern=sqlite:wal,sqlite:tuned,lmdb
    every=sqlite:default,sqlite:wal,sqlite:tuned,lmdb
    case $1 in
    engine)
        # Class off: the table's own cases, those with several connections, and the rowid table. The rollback journal of
        # `default` stands in engine-full.
        compare engine engine readseq readreverse readrandom readrandom-transaction readseq-rowid readreverse-rowid \
            readrandom-rowid fillseq100K fillrand100K readrand100K readers-beside-writer writer-beside-readers \
            fillseqbatch fillrandbatch overwritebatch fillseq fillrandom overwrite \
            --entries "$(size 1000000 2000)" --engines "$modern" --control --floor
        ;;
    engine-full)
        compare engine-full engine fillseqsync fillrandsync fillseqsync-4writers fillrandsync-4writers \
            --entries "$(size 1000000 2000)" --engines "$every" --control --floor
        ;;
    queries) compare queries queries --size "$(size 1000000 1000)" --engines "$modern" --control ;;
    objects)
        compare objects objects fetch-joined fetch-batched fetch insert-10000 update-10000 delete-10000 insert-1 \
            update-1 delete-1 --objects "$(size 1000000 300)" --engines "$modern"
        ;;
    library)
        compare library library --size "$(size 100 10)" --engines "$every" --layers user-defaults
        ;;
    records)
        compare records records --size "$(size 1000 20)" --engines "$modern" --layers all
        ;;
    reader) compare reader reader --size "$(size 100000 400)" --engines "$modern" ;;
    fetching) compare fetching fetching --size "$(size 100000 500)" --engines "$modern" ;;
    cars) compare cars cars --size "$(size 200000 200)" --engines "$modern" ;;
    ycsb) compare ycsb ycsb A B C D E F --size "$(size 100000 500)" --engines "$modern" ;;
    ycsb-threads)
        # At a fifth of the size: 12 cases more would take as long as all of the microbenchmark's reads.
        compare ycsb-threads ycsb A-2threads A-4threads B-2threads B-4threads C-2threads C-4threads D-2threads \
            D-4threads E-2threads E-4threads F-2threads F-4threads --size "$(size 20000 500)" --engines "$modern"
        ;;
    speedtest) compare speedtest speedtest --size "$(size 50000 200)" --engines "$modern" ;;
    same)
        # An engine against itself, over every suite at a small size: 95% of its rows or more must say "no difference". Four
        # turns are the least that give an interval.
        (turns=4 && compare same all --engines lmdb,lmdb)
        ;;
    same-native) (turns=4 && compare same-native all --engines sqlite:wal,sqlite:wal) ;;
    memory)
        # Stores of 53 to 69 MiB in 48 MiB, of which the measuring process itself takes half. With less a process has no room for
        # its own code. Configuration tuned wants 256 MiB of cache and would be killed: mapped is what it reads with.
        compare memory engine readrandom-cold readseq --entries 400000 \
            --engines sqlite:default,sqlite:wal,sqlite:mapped,lmdb --within "Vendor-notes/results/limited.sh 48"
        ;;
    *) return 64 ;;
    esac
}

[ -x "$rootstock" ] || { echo "run.sh: no $rootstock: make build" >&2; exit 2; }
[ $# -gt 0 ] || set -- engine engine-full queries objects library records reader fetching cars ycsb ycsb-threads \
    speedtest same same-native memory
for suite; do
    [ "$(weight "$suite")" -gt 0 ] || { echo "run.sh: there is no suite '$suite'" >&2; exit 64; }
done
end=$(($(date +%s) + minutes * 60))
failed=
while [ $# -gt 0 ]; do
    started=$(date +%s)
    parts=0
    for suite; do parts=$((parts + $(weight "$suite"))); done
    seconds=$(((end - started) * $(weight "$1") / parts))
    if [ "$seconds" -lt 1 ]; then
        echo "$1: not run, the time is over"
        failed="$failed $1"
    elif run "$1"; then
        echo "$1: $(($(date +%s) - started)) s"
    else
        echo "$1: failed with status $? after $(($(date +%s) - started)) s: build/results/$1.txt" >&2
        failed="$failed $1"
    fi
    shift
done
[ -z "$failed" ] || { echo "run.sh: failed:$failed" >&2; exit 1; }
