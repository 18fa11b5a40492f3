#!/bin/sh
# Holds CShims/RootstockInterpose/functions.def against the functions that libsqlite3 exports and those that the interposer defines.
# Usage: Tests/Clients/DropIn/functions.sh INTERPOSER
set -eu
interposer=$1
table=$(dirname "$0")/../../../CShims/RootstockInterpose/functions.def
library=$(ldconfig -p | awk '/libsqlite3\.so\.0 / { print $NF; exit }')
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The functions of a library, without "sqlite3_" or "sqlite3".
exported() {
    nm -D --defined-only "$1" | awk '$2 == "T" { print $3 }' |
        sed -n -E 's/^sqlite3_//p; s/^sqlite3((session|changeset|changegroup|rebaser)_)/\1/p' | sort
}
listed() {
    sed -n -E "s/^($1)\((.*)\)\$/\2/p" "$table" | tr -d ' ' | tr ',' '\n' | sort
}

failures=0
same() {
    if ! diff "$2" "$3" >"$folder/difference"; then
        failures=$((failures + 1))
        echo "functions: $1" >&2
        cat "$folder/difference" >&2
    fi
}

exported "$library" >"$folder/public"
exported "$interposer" >"$folder/defined"
listed 'COVERED|PASSED|REFUSED' >"$folder/all"
listed 'COVERED|REFUSED' >"$folder/covered"
same "libsqlite3's functions (<) and those of functions.def (>)" "$folder/public" "$folder/all"
same "functions that the interposer defines (<) and those listed as covered or refused (>)" "$folder/defined" "$folder/covered"
[ "$failures" = 0 ] || exit 1
echo "functions: all $(wc -l <"$folder/all") of libsqlite3 are in the table, $(wc -l <"$folder/covered") of them defined"
