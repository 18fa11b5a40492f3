#!/bin/sh
# Builds snapshots.c with the C sources and runs it: readers, writers and openers stopped at each of their instructions
# or system calls while others go on. Usage: Tests/Concurrency/Snapshots/run.sh [SECONDS], of each part at most. Wants ptrace of own
# children.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../../..
sources=$(make -s --no-print-directory -C "$top" c-sources)
flags=$(make -s --no-print-directory -C "$top" c-flags)
out=$top/build/snapshots
mkdir -p "$out"
# shellcheck disable=SC2086
${CC:-cc} -std=c11 -O1 -g -Wall -Wextra -Werror $flags "$here"/*.c $sources -o "$out/snapshots" -lsqlite3 -llmdb -lpthread
folder=$(mktemp -d "${TMPDIR:-/dev/shm}/snapshots-XXXXXX")
trap 'rm -rf "$folder"' EXIT
"$out/snapshots" "$folder" "${1:-10}"
