#!/bin/sh
# The pages that sealed commits' seals name, held against those that liblmdb wrote (hold.c), while a store is changed in every way (work.py)
# and by several processes at once (Tests/Concurrency/ListAppend). Usage: Tests/Crash/SealedPages/run.sh [SECONDS [SEED]]
# With COMMAND in the environment that is run instead, with EXTENSION set to the extension that looks.
set -eu
seconds=${1:-8}
seed=${2:-$(date +%s)}
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
make -s --no-print-directory -C "$top" extension
objects=$(make -s --no-print-directory -C "$top" c-sources | tr ' ' '\n' | sed "s|^$top/\(.*\)c\$|$top/build/objects/\1o|")
flags=$(make -s --no-print-directory -C "$top" c-flags)
out=$top/build/sealed-pages
mkdir -p "$out"
cc=${CC:-cc}
$cc -shared -fPIC -std=c11 -O2 -g -Wall -Wextra -Werror "$here/watch.c" -o "$out/watch.so" -ldl
# shellcheck disable=SC2086
$cc -shared -fPIC -std=c11 -O1 -g -Wall -Wextra -Werror -DROOTSTOCK_LOADABLE $flags "$here/hold.c" $objects \
    "$top/build/objects/CShims/Extension/extension.o" -o "$out/rootstock.so" -llmdb -lpthread \
    -Wl,--wrap=rootstock_lmdb_commit_sealed -Wl,--wrap=rootstock_lmdb_changes_find
counts=$(mktemp)
trap 'rm -f "$counts"' EXIT

# tell NAME: what was counted; 1 if there was a difference
tell() {
    /usr/bin/python3 -c '
import struct, sys
data = open(sys.argv[1], "rb").read()
commits, pages, given_up, without, faults = struct.unpack("5Q", data[:40])
print(f"sealed pages: {sys.argv[2]}: {commits} commits, {pages} pages in their seals, all written by LMDB, and all that it wrote "
      f"but {given_up} that are free; {without} commits without a list"
      if not faults else f"sealed pages: {sys.argv[2]}: {faults} differences; {data[40:].split(bytes(1))[0].decode()}")
sys.exit(1 if faults or not commits else 0)' "$counts" "$1"
}

look() {
    truncate -s 0 "$counts"
    truncate -s 4096 "$counts"
    SEALED_PAGES="$counts" LD_PRELOAD="$out/watch.so" EXTENSION="$out/rootstock.so" "$@" || return 1
}

if [ -n "${COMMAND:-}" ]; then
    look sh -c "$COMMAND"
    tell "$COMMAND"
    exit
fi
# It must see a page that is missing in a list.
if (export SEALED_PAGES_PLANT=1; look /usr/bin/python3 "$here/work.py" "$out/rootstock.so" 1 "$seed" >"$out/planted" 2>&1) || tell planted >"$out/planted"; then
    echo "sealed pages: a page that is missing in the seal goes unseen" >&2
    exit 1
fi
look /usr/bin/python3 "$here/work.py" "$out/rootstock.so" "$((seconds / 2 + 1))" "$seed"
tell work.py
look "$top/Tests/Concurrency/ListAppend/run.py" "$out/rootstock.so" "$((seconds / 2 + 1))" "$seed" >"$out/list-append" || { cat "$out/list-append"; tell list-append; exit 1; }
tell list-append
