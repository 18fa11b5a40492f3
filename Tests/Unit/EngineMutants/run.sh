#!/bin/sh
# Broken engines, each of which the engine test must notice by the rule that it breaks (mutants.c).
# Some of them give wrong rows: the SQL scripts of `rootstock engine-test` must notice those, too.
# Usage: Tests/Unit/EngineMutants/run.sh [ENGINE [RULE]]
set -eu
top=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
shims=$top/CShims
flags=
for folder in EngineTest EngineTest/include RootstockEngine/include Engines/LMDB Engines/LMDB/include Engines/SQLiteBTree/include \
    RootstockSQLite/include; do
    flags="$flags -I$shims/$folder"
done
sources=$(find "$shims/EngineTest" "$shims/RootstockEngine" "$shims/Engines/LMDB" "$shims/Engines/SQLiteBTree" -name '*.c')
build() { # build OUTPUT [FLAG ...]
    output=$1
    shift
    # shellcheck disable=SC2086
    ${CC:-cc} -std=c11 -O1 -g -Wall -Wextra -Werror "$@" $flags $sources "$top/Tests/Unit/EngineMutants/mutants.c" -o "$output" \
        -llmdb -lsqlite3 -lpthread -ldl
}
build "$work/mutants"
export TMPDIR="$work"
[ $# = 0 ] || { "$work/mutants" "$@"; exit; }
# What each was noticed by is for FULL=1.
"$work/mutants" > "$work/words" || { cat "$work/words"; exit 1; }
[ -n "${FULL:-}" ] && cat "$work/words" || tail -n 1 "$work/words"

command=${ROOTSTOCK:-$top/.build/debug/rootstock}
[ -x "$command" ] || { echo "mutants: no $command: swift build first" >&2; exit 1; }
build "$work/mutant.so" -shared -fPIC -fvisibility=hidden
# noticed MUTANT SCRIPT WORDS: the script ends with status 1, and its report has the words.
noticed() {
    status=0
    ROOTSTOCK_MUTANT=$1 "$command" --load-engine "$work/mutant.so" engine-test mutant --only "sql.$2" --patience 10 > "$work/words" 2> "$work/crash" || status=$?
    if [ "$status" != 1 ] || ! tr '\n' ' ' < "$work/words" | grep -q -- "$3"; then
        echo "mutants: script $2 says of '$1':" >&2
        cat "$work/words" >&2
        exit 1
    fi
    [ -z "${FULL:-}" ] || printf '%-40s %s\n' "$1" "$(head -n 3 "$work/words" | tr '\n' ' ')"
}
# Wrong rows, a wrong count, a call that never returns, a crash.
noticed "tree_clear removes a hundred entries" deletes_of_all_rows \
    'deletes_of_all_rows.sql: .* statement: SELECT changes().* native SQLite: rows: .*, 500, 0\]  *mutant: rows: .*, 500, 400\]'
noticed "entries are counted wrongly" comparisons_without_index 'native SQLite: rows: 1 row, row 1 \[0, 912\]  *mutant: rows: 1 row, row 1 \[0, 913\]'
noticed "NEXT passes over one after a removal" temp_hides_in_programs 'statement: INSERT INTO t .* after 10 s one had not'
noticed "get crashes on long keys" vacuum 'statement: CREATE TABLE .* the process ended by signal 6'
echo "mutants: SQL scripts notice four of them, and name the statement"
