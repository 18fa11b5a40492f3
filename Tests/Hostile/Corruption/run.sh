#!/bin/sh
# Builds corrupt.c with the C sources and runs it: a store damaged in every way, opened each time in a process of its own.
# Usage: Tests/Hostile/Corruption/run.sh [SECONDS [SEED]]; with SANITIZE=1 under gcc's AddressSanitizer (the overwritten headers alone take
# two minutes or so; ASAN_OPTIONS=log_path=FILE keeps the reports).
set -eu
seconds=${1:-20}
seed=${2:-${ROOTSTOCK_TEST_SEED:-$(date +%s)}}
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../../..
sources=$(make -s --no-print-directory -C "$top" c-sources)
flags=$(make -s --no-print-directory -C "$top" c-flags)
out=$here/../../../build/corruption
mkdir -p "$out"
sanitize=${SANITIZE:+-fsanitize=address -fno-omit-frame-pointer}
# shellcheck disable=SC2086
${CC:-cc} $sanitize -std=c11 -O1 -g -Wall -Wextra -Werror $flags "$here/corrupt.c" $sources -o "$out/corrupt" -lsqlite3 -llmdb -lpthread -ldl
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$out/corrupt" "$folder" "$seconds" "$seed"
