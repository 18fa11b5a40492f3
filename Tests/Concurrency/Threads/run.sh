#!/bin/sh
# Builds threads.c and runs it on each engine with files: threads that write, read, change the schema, VACUUM and interrupt on one store.
# Usage: Tests/Concurrency/Threads/run.sh EXTENSION [SECONDS [SEED]]; with SANITIZE=thread or SANITIZE=address (leaks too) the extension is built
# anew under gcc's sanitizer and EXTENSION is not looked at. OPTIONS: the store's, as JSON.
set -eu
extension=${1:-}
seconds=${2:-10}
seed=${3:-${ROOTSTOCK_TEST_SEED:-$(date +%s)}}
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../../..
sources=$(make -s --no-print-directory -C "$top" c-sources)
flags=$(make -s --no-print-directory -C "$top" c-flags)
out=$here/../../../build/threads${SANITIZE:+-$SANITIZE}
mkdir -p "$out"
sanitize=${SANITIZE:+-fsanitize=$SANITIZE -fno-omit-frame-pointer}
# shellcheck disable=SC2086
if [ -n "$sanitize" ]; then
    extension=$out/rootstock.so
    ${CC:-cc} $sanitize -std=c11 -O1 -g -fPIC -shared -fvisibility=hidden -DROOTSTOCK_LOADABLE $flags $sources \
        "$top/CShims/Extension/extension.c" -o "$extension" -llmdb -lpthread
    # LMDB is not built under the sanitizer: it does not see what orders a reader's page after the writer that made it, nor a
    # writer that takes a freed page, and appends to it, after the reader that read it. Each connection that loads an extension
    # stores the same pointer to SQLite's calls.
    # The writer is told by its stack, which the longest history keeps: a stack that is lost is suppressed by nothing.
    printf 'race:liblmdb.so\nrace:^rootstock_lmdb_append_in_leaf$\nrace:sqlite3_rootstock_init\n' >"$out/suppressions"
    export TSAN_OPTIONS="suppressions=$out/suppressions history_size=7 ${TSAN_OPTIONS:-}"
fi
# shellcheck disable=SC2086
${CC:-cc} $sanitize -std=c11 -O1 -g -Wall -Wextra -Werror "$here/threads.c" -o "$out/threads" -lsqlite3 -lpthread
options=${OPTIONS:-'{"durability":"off"}'}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for engine in lmdb sqlite-btree; do
    "$out/threads" "$(realpath "$extension")" "$engine" "$options" "$folder/$engine" $((seconds / 2)) "$seed"
done
