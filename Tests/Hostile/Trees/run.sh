#!/bin/sh
# Builds trees.c with the C sources and runs it: an environment without room for more trees. Seconds.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../../..
sources=$(make -s --no-print-directory -C "$top" c-sources)
flags=$(make -s --no-print-directory -C "$top" c-flags)
out=$here/../../../build/trees
mkdir -p "$out"
# shellcheck disable=SC2086
${CC:-cc} -std=c11 -O1 -g -Wall -Wextra -Werror $flags "$here/trees.c" $sources -o "$out/trees" -lsqlite3 -llmdb -lpthread -ldl
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$out/trees" "$folder"
