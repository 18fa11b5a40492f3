#!/bin/sh
# Builds corrupt.c with the C sources and runs it: a store damaged in every way, opened each time in a process of its own.
# Usage: Tests/Corruption/run.sh [SECONDS [SEED]]; with SANITIZE=1 under gcc's AddressSanitizer (the overwritten headers alone take
# two minutes or so; ASAN_OPTIONS=log_path=FILE keeps the reports).
set -eu
seconds=${1:-20}
seed=${2:-${ROOTSTOCK_TEST_SEED:-$(date +%s)}}
here=$(cd "$(dirname "$0")" && pwd)
shims=$here/../../CShims
out=$here/../../build/corruption
mkdir -p "$out"
sanitize=${SANITIZE:+-fsanitize=address -fno-omit-frame-pointer}
# shellcheck disable=SC2086
${CC:-cc} $sanitize -std=c11 -O1 -g -Wall -Wextra -Werror -I"$shims/RootstockTable/include" -I"$shims/RootstockTable" \
    -I"$shims/RootstockEngine" -I"$shims/RootstockEngine/include" "$here/corrupt.c" "$shims"/RootstockEngine/*.c \
    "$shims"/RootstockTable/*.c -o "$out/corrupt" -lsqlite3 -llmdb -lpthread -ldl
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$out/corrupt" "$folder" "$seconds" "$seed"
