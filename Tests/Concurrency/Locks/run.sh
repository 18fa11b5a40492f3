#!/bin/sh
# Builds locks.c with the C sources and runs it on each engine with files: random transactions of several connections, on a store and on
# SQLite's WAL mode at once. Usage: Tests/Concurrency/Locks/run.sh [SECONDS [SEED [PROGRAMS]]]; ENGINE: that one alone; SANITIZE=address: under gcc's
# sanitizer.
set -eu
seconds=${1:-10}
seed=${2:-${ROOTSTOCK_TEST_SEED:-$(date +%s)}}
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../../..
sources=$(make -s --no-print-directory -C "$top" c-sources)
flags=$(make -s --no-print-directory -C "$top" c-flags)
out=$here/../../../build/locks${SANITIZE:+-$SANITIZE}
mkdir -p "$out"
sanitize=${SANITIZE:+-fsanitize=$SANITIZE -fno-omit-frame-pointer}
# shellcheck disable=SC2086
${CC:-cc} $sanitize -std=c11 -O1 -g -Wall -Wextra -Werror $flags "$here"/*.c $sources -o "$out/locks" -lsqlite3 -llmdb -lpthread
folder=$(mktemp -d "${TMPDIR:-/dev/shm}/locks-XXXXXX")
trap 'rm -rf "$folder"' EXIT
for engine in ${ENGINE:-lmdb sqlite-btree}; do
    "$out/locks" "$folder" "$engine" $((seconds / 2)) "$seed" ${3:-}
done
