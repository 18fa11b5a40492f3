#!/bin/bash
# Runs programs natively and with the interposer preloaded, their databases stores, and compares what they print.
# Usage: Tests/Clients/DropIn/run.sh INTERPOSER
#   shell/*.sql       typed into Debian's sqlite3
#   programs/*.py     run by Debian's python3, with a fresh folder as the working directory
#   programs/*.c      compiled against sqlite3.h and linked to libsqlite3
# CPython's own sqlite3 tests come last, where a python3 has them; cpython.exceptions lists those that need not pass, with the reason.
set -eu
interposer=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
cases=0

"$here/functions.sh" "$interposer"
"$here/choices.sh" "$interposer"
"$here/bundled.sh" "$interposer"
"$here/by_name.sh" "$interposer"

# both NAME COMMAND...: runs the command in a folder natively and in one of the same name on stores.
both() {
    local name=$1 kind
    shift
    cases=$((cases + 1))
    for kind in native store; do
        rm -rf "$folder/work"
        mkdir "$folder/work"
        if [ $kind = store ]; then export ROOTSTOCK_ENGINE=lmdb LD_PRELOAD=$interposer; fi
        (cd "$folder/work" && timeout 60 "$@" >"$folder/$kind" 2>&1) || echo "exit status $?" >>"$folder/$kind"
        unset ROOTSTOCK_ENGINE LD_PRELOAD
    done
    if ! diff "$folder/native" "$folder/store" >"$folder/difference"; then
        failures=$((failures + 1))
        echo "drop-in: $name differs: natively (<), on a store (>)" >&2
        cat "$folder/difference" >&2
    fi
}

for script in "$here"/shell/*.sql; do
    both "shell/$(basename "$script")" bash -c 'sqlite3 data.db <"$1"' - "$script"
done
for program in "$here"/programs/*.py; do
    [ -e "$program" ] && both "programs/$(basename "$program")" /usr/bin/python3 "$program"
done
for program in "$here"/programs/*.c; do
    [ -e "$program" ] || continue
    ${CC:-cc} -std=c11 -O1 -Wall -Wextra -Werror "$program" -o "$folder/program" -lsqlite3
    both "programs/$(basename "$program")" "$folder/program"
done

# The tests of CPython that fail on stores, and those that fail natively.
cpython() {
    local python
    for python in /usr/bin/python3 python3; do
        "$python" -c 'import test.test_sqlite3' 2>/dev/null && break
        python=
    done
    if [ -z "$python" ]; then
        echo "drop-in: no python3 here has CPython's sqlite3 tests: they are left out"
        return
    fi
    python=$("$python" -c 'import sys; print(sys.executable)')
    (cd "$folder" && "$python" -m test.test_sqlite3) >"$folder/native" 2>&1 || true
    (cd "$folder" && ROOTSTOCK_ENGINE=lmdb ROOTSTOCK_MEMORY=1 LD_PRELOAD=$interposer timeout 120 "$python" -m test.test_sqlite3) \
        >"$folder/store" 2>&1 || true
    for kind in native store; do
        sed -n -E 's/^(FAIL|ERROR): [^(]*\(test\.test_sqlite3\.(.*)\)$/\2/p' "$folder/$kind" | sort -u >"$folder/$kind.failed"
    done
    { sed -E 's/#.*//; s/ +$//; /^$/d' "$here/cpython.exceptions"; cat "$folder/native.failed"; } | sort -u >"$folder/excepted"
    cases=$((cases + 1))
    if ! grep -q '^Ran [0-9]* tests' "$folder/store"; then
        failures=$((failures + 1))
        echo "drop-in: CPython's tests did not end on stores" >&2
        tail -5 "$folder/store" >&2
    fi
    for kind in "$(comm -23 "$folder/store.failed" "$folder/excepted")" ; do
        [ -z "$kind" ] && continue
        failures=$((failures + 1))
        echo "drop-in: CPython's tests that pass natively and fail on a store:" "$kind" >&2
    done
    for kind in $(comm -13 "$folder/store.failed" "$folder/excepted"); do
        echo "drop-in: listed as an exception, and passes: $kind" >&2
    done
    echo "drop-in: CPython: $(grep -o "^Ran [0-9]* tests" "$folder/store"), natively $(wc -l <"$folder/native.failed") fail, on stores $(wc -l <"$folder/store.failed")"
}
cpython

[ "$failures" = 0 ] || { echo "drop-in: $failures of $cases failed" >&2; exit 1; }
echo "drop-in: all $cases programs answer as natively"
