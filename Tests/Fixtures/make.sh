#!/bin/sh
# Makes the fixture of a format version with the rootstock command of this tree: Tests/Fixtures/make.sh 1 .build/debug/rootstock
#
# format-N.sql builds it, format-N.queries.sql asks it, format-N.changes.sql changes it. A fixture is made once, by the last
# version that writes the format, and never again: the tests hold every later version to the bytes that are there. For a new
# format copy the three scripts, add what is new, and run this.
set -eu
[ $# -eq 2 ] || { echo "usage: $0 VERSION ROOTSTOCK" >&2; exit 1; }
fixtures=$(dirname "$0")
store=$fixtures/format-$1.lmdb
[ ! -e "$store" ] || { echo "$store is there: a fixture is not made twice" >&2; exit 1; }
# Format 2 is that of a store with checksums.
[ "$1" = 2 ] && checksum=--checksum || checksum=
# shellcheck disable=SC2086
"$2" sql --engine lmdb $checksum "$store" < "$fixtures/format-$1.sql"
# A commit after the VACUUM, so that the file has free pages and a commit number to be understood.
"$2" sql --engine lmdb "$store" "VACUUM" "INSERT INTO noted VALUES ('last')" "DELETE FROM noted WHERE line = 'last'"
format=$("$2" info --engine lmdb "$store" | sed -n 's/^format *//p')
rm -f "$store-lock"
[ "$format" = "$1" ] || { rm "$store"; echo "this rootstock writes format $format, not $1" >&2; exit 1; }
# The answers are SQLite's own.
native=$(mktemp -d)
trap 'rm -rf "$native"' EXIT
"$2" sql --engine sqlite "$native/n" < "$fixtures/format-$1.sql"
"$2" sql --engine sqlite "$native/n" < "$fixtures/format-$1.queries.sql" > "$fixtures/format-$1.answers"
ls -l "$store" "$fixtures/format-$1.answers"
