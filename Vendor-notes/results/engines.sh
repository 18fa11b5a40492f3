#!/bin/sh
# The page of all engines: suites `engine`, `queries` and `ycsb` on every engine that this machine has, native SQLite beside them.
# The table is put into EnginesCompared.md, behind its mark; the reports go beside this file. `make engines-table` calls this.
#
#   Vendor-notes/results/engines.sh
#
# Wants a quiet machine and a release build (make build), and the libraries of `make engines`.
#
#   MINUTES=30          time for all of it
#   TURNS=5             turns of each engine at each case that the time is meant for; fewer than 4 give no verdict
#   ENTRIES=20000       size of suite engine
#   ROWS=20000          size of suite queries
#   RECORDS=5000        size of suite ycsb
#   SUITES="..."        suites, each with cases behind colons: "engine:readseq:readrandom queries"
#   PAGE=...            the page; the project's unless named: a run to try the script out names another
#   REPORTS=...         the folder of the reports; beside this file unless named
#   ROOTSTOCK=...       the command
set -eu
cd "$(dirname "$0")/../.."
rootstock=${ROOTSTOCK:-.build/release/rootstock}
turns=${TURNS:-5}
minutes=${MINUTES:-30}
page=${PAGE:-Sources/Rootstock/Rootstock.docc/EnginesCompared.md}
reports=${REPORTS:-Vendor-notes/results}
mark='<!-- Written by make engines-table. -->'
[ -x "$rootstock" ] || { echo "engines.sh: no $rootstock: make build" >&2; exit 2; }
grep -qxF "$mark" "$page" || { echo "engines.sh: $page has no line '$mark'" >&2; exit 2; }

# With a PostgreSQL server of its own where one can be started; without that engine elsewhere.
if [ -e build/engines/librootstock_postgres.so ] && [ -z "${ROOTSTOCK_POSTGRES:-}" ] && [ -z "${WITHOUT_POSTGRES:-}" ]; then
    status=0
    Tests/Clients/Postgres/server.sh "$0" || status=$?
    [ "$status" = 77 ] || exit "$status"
    echo "engines.sh: no PostgreSQL server here: without engine postgres"
    WITHOUT_POSTGRES=1
fi

engines=sqlite:wal,sqlite:tuned,lmdb,lmdb:plain,sqlite-btree,memory
ROOTSTOCK_LOAD_ENGINE=
for library in build/engines/librootstock_*.so; do
    [ -e "$library" ] || continue
    name=${library##*/librootstock_}
    name=${name%.so}
    [ "$name" = postgres ] && [ -n "${WITHOUT_POSTGRES:-}" ] && continue
    engines=$engines,$name
    ROOTSTOCK_LOAD_ENGINE=$ROOTSTOCK_LOAD_ENGINE${ROOTSTOCK_LOAD_ENGINE:+:}$PWD/$library
done
export ROOTSTOCK_LOAD_ENGINE

day=$(date -u +%Y-%m-%d)
suites=${SUITES:-engine queries ycsb:A:B:C:D:E:F}
# Suite engine has most of the cases, and two shares of the time.
shares=0
for words in $suites; do
    case $words in engine*) shares=$((shares + 2)) ;; *) shares=$((shares + 1)) ;; esac
done
mkdir -p "$reports" build/results
files=
failed=
for words in $suites; do
    # shellcheck disable=SC2046
    set -- $(echo "$words" | tr ':' ' ')
    case $1 in
    engine) size=${ENTRIES:-20000} share=2 ;;
    queries) size=${ROWS:-20000} share=1 ;;
    ycsb) size=${RECORDS:-5000} share=1 ;;
    *) echo "engines.sh: there is no size for suite '$1'" >&2; exit 64 ;;
    esac
    seconds=$((minutes * 60 * share / shares))
    file=$reports/$day-engines-$1.json
    rm -f "$file"
    echo "engines.sh: rootstock compare $* --size $size --engines $engines --repeat $turns --budget ${seconds}s"
    # A case that failed on an engine is told below the table.
    status=0
    "$rootstock" compare "$@" --size "$size" --engines "$engines" --repeat "$turns" --budget "${seconds}s" --no-history --json "$file" \
        > "build/results/engines-$1.txt" || status=$?
    [ -s "$file" ] || { cat "build/results/engines-$1.txt" >&2; echo "engines.sh: suite $1 gave no report, status $status" >&2; exit 1; }
    [ "$status" = 0 ] || failed="$failed $1"
    files="$files $file"
done

new=$(mktemp)
trap 'rm -f "$new"' EXIT
{
    sed "/^$mark\$/q" "$page"
    echo
    echo "Measured on $(date -u '+%-d %B %Y') by \`make engines-table\`. The machine, sizes, turns and commands stand below the table. The engines:"
    echo
    echo '```'
    "$rootstock" engines
    echo '```'
    echo
    # shellcheck disable=SC2086
    "$rootstock" report --engines-table $files
} > "$new"
cat "$new" > "$page"
echo "engines.sh: $page"
[ -z "$failed" ] || echo "engines.sh: cases without a figure in:$failed"
