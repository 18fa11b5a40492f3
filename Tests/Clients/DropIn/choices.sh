#!/bin/bash
# Which database goes where: by the file's bytes, the URI, the environment. Usage: Tests/Clients/DropIn/choices.sh INTERPOSER
set -eu
interposer=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
failures=0

# is NAME EXPECTED ACTUAL
is() {
    [ "$2" = "$3" ] && return
    failures=$((failures + 1))
    printf 'choices: %s\n  expected: %s\n  actual:   %s\n' "$1" "$2" "$3" >&2
}
# with [VARIABLE=VALUE]... PROGRAM: the interposer preloaded.
with() { env LD_PRELOAD="$interposer" "$@" 2>&1; }
# kind FILE: by its first bytes.
kind() {
    if [ "$(head -c 15 "$1" | tr -d '\0')" != "SQLite format 3" ]; then
        [ "$(od -An -tx1 -j16 -N4 "$1" | tr -d ' ')" = dec0efbe ] && echo lmdb || echo other
    elif [ "$(od -An -tx1 -j68 -N4 "$1" | tr -d ' ')" = 52747342 ]; then
        echo sqlite-btree
    else
        echo native
    fi
}

script="CREATE TABLE t(a PRIMARY KEY, b); INSERT INTO t VALUES(1, 'x'), (2, 'y'); UPDATE t SET b='z' WHERE a=1; DELETE FROM t WHERE a=2;"
sqlite3 plain.db "$script"
with sqlite3 same.db "$script" >/dev/null
is "without an engine a new database is SQLite's, bit for bit" "$(md5sum <plain.db)" "$(md5sum <same.db)"
cp plain.db old.db
with ROOTSTOCK_ENGINE=lmdb sqlite3 old.db "INSERT INTO t VALUES(3, 'old')"
sqlite3 plain.db "INSERT INTO t VALUES(3, 'old')"
is "a native file stays native, bit for bit" "$(md5sum <plain.db)" "$(md5sum <old.db)"
is "... and whatever the URI says" "1|z" "$(with sqlite3 "file:old.db?engine=lmdb" "SELECT * FROM t WHERE a=1")"

with ROOTSTOCK_ENGINE=lmdb sqlite3 new.db "$script"
is "a new file is a store of the environment's engine" lmdb "$(kind new.db)"
is "page_count has no use for an argument" "$(with sqlite3 new.db "PRAGMA page_count")" "$(with sqlite3 new.db "PRAGMA page_count(3)")"
is "a store is known by its bytes" "1|z" "$(with sqlite3 new.db "SELECT * FROM t")"
is "... and said to be one" "rootstock: new.db: a store, engine lmdb
1|z" "$(with ROOTSTOCK_VERBOSE=1 sqlite3 new.db "SELECT * FROM t")"
with ROOTSTOCK_ENGINE=lmdb sqlite3 "file:tree.db?engine=sqlite-btree&durability=off" "$script"
is "the URI comes before the environment" sqlite-btree "$(kind tree.db)"
is "engine sqlite-btree is known by its bytes" "1|z" "$(with sqlite3 tree.db "SELECT * FROM t")"
is "... while it is open, too, and all of it stands in the WAL" "1|z" "$(with sqlite3 "file:open.db?engine=sqlite-btree" "$script" ".system sqlite3 open.db 'SELECT * FROM t'")"
with ROOTSTOCK_ENGINE=lmdb sqlite3 "file:kept.db?engine=sqlite" "$script"
is "engine=sqlite is native" native "$(kind kept.db)"
: >empty.db
with ROOTSTOCK_ENGINE=lmdb sqlite3 empty.db "$script"
is "an empty file becomes a store" lmdb "$(kind empty.db)"

is "a missing file is not made by mode=rw" "Error: unable to open database \"file:none.db?mode=rw\": unable to open database file" \
    "$(with ROOTSTOCK_ENGINE=lmdb sqlite3 "file:none.db?mode=rw" "SELECT 1")"
is "mode=ro is read-only" "attempt to write a readonly database" \
    "$(with ROOTSTOCK_ENGINE=lmdb sqlite3 "file:new.db?mode=ro" "INSERT INTO t VALUES(9,9)" | sed 's/.*, //; s/ (8)//')"
for uri in "mode=Ro" "mode=" "cache=yes" "mode=ro&mode=rw"; do
    is "what SQLite refuses is refused: $uri" "$(sqlite3 "file:new.db?$uri" "SELECT 1" 2>&1)" "$(with ROOTSTOCK_ENGINE=lmdb sqlite3 "file:new.db?$uri" "SELECT 1")"
done
is "... an authority, too" "$(sqlite3 "file://host/new.db" "SELECT 1" 2>&1)" "$(with ROOTSTOCK_ENGINE=lmdb sqlite3 "file://host/new.db" "SELECT 1")"
is "... and reads" "1|z" "$(with sqlite3 -readonly new.db "SELECT * FROM t")"
if unshare -m true 2>/dev/null; then # as root
    mkdir fixed && cp new.db fixed
    is "on a read-only file system a store is opened for reading" "1|z attempt to write a readonly database" \
        "$(unshare -m sh -c 'mount --bind fixed fixed && mount -o remount,ro,bind fixed && exec env LD_PRELOAD="$1" sqlite3 fixed/new.db "SELECT * FROM t" "INSERT INTO t VALUES(9,9)"' \
            - "$interposer" 2>&1 | sed 's/.*, //; s/ (8)//' | sort | paste -sd ' ')"
fi
is "the lock file goes with the last who has the store open" "new.db-lock|new.db-lock|none" \
    "$(with sqlite3 new.db "SELECT 1" ".shell ls new.db-*" ".shell sqlite3 new.db 'SELECT 2' ; ls new.db-*" | grep lock | paste -sd '|')|$(ls new.db-* 2>/dev/null || echo none)"
is ":memory: is native" "memory" "$(with ROOTSTOCK_ENGINE=lmdb sqlite3 :memory: "PRAGMA journal_mode")"
is ":memory: is a store where that is asked" "rootstock: :memory:: a store, engine lmdb (in memory)
7" "$(with TMPDIR="$folder" ROOTSTOCK_MEMORY=1 ROOTSTOCK_VERBOSE=1 sqlite3 :memory: "CREATE TABLE t(a DEFAULT 7); INSERT INTO t DEFAULT VALUES; SELECT * FROM t")"
is "... which has no name, as in memory" "0|main|
|7" "$(with TMPDIR="$folder" ROOTSTOCK_MEMORY=1 sqlite3 :memory: "CREATE TABLE t(a DEFAULT 7); INSERT INTO t DEFAULT VALUES; PRAGMA database_list; SELECT file, a FROM pragma_database_list, t")"
is "... but not where nothing can be written" "attempt to write a readonly database" \
    "$(with TMPDIR="$folder" ROOTSTOCK_ENGINE=lmdb ROOTSTOCK_MEMORY=1 sqlite3 -readonly :memory: "SELECT 1 WHERE 0; CREATE TABLE t(a)" | grep -o 'attempt.*base')"
is "a shared one is attached under its name" "[(1,)] [(1,), (2,)] [(1,), (2,)]" "$(with TMPDIR="$folder" ROOTSTOCK_MEMORY=1 /usr/bin/python3 -c '
import sqlite3
name = "file:shared?mode=memory&cache=shared"
first, second = sqlite3.connect(name, uri=True), sqlite3.connect("file::memory:", uri=True)
first.executescript("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
second.execute("ATTACH ? AS other", (name,))
before = second.execute("SELECT a FROM other.t").fetchall()
second.execute("INSERT INTO other.t VALUES (2)")
second.commit()
print(before, second.execute("SELECT a FROM t").fetchall(), first.execute("SELECT a FROM t").fetchall())
first.close()
second.close()')"
is "its folder is gone" "" "$(find "$folder" -name 'rootstock-*')"
for option in "durability=some:durability is off, normal or full, not some" "mapSize=much:mapSize is a number, not much" \
    "checksum=maybe:checksum is true or false, not maybe"; do
    name="file:wrong.db?engine=lmdb&${option%%:*}"
    is "an option of the URI is checked: ${option%%:*}" "Error: unable to open database \"$name\": ${option#*:}" "$(with sqlite3 "$name" "SELECT 1")"
    is "... and of a native file it means nothing" "1|z" "$(with sqlite3 "file:old.db?${option%%:*}" "SELECT * FROM t WHERE a=1")"
done
is "... and one of the environment" 'Error: unable to open database "wrong.db": durability is off, normal or full, not some' \
    "$(with ROOTSTOCK_ENGINE=lmdb ROOTSTOCK_DURABILITY=some sqlite3 wrong.db "SELECT 1")"
is "... which holds beside other options of the URI" 'Error: unable to open database "file:wrong.db?mapSize=1000000": durability is off, normal or full, not some' \
    "$(with ROOTSTOCK_ENGINE=lmdb ROOTSTOCK_DURABILITY=some sqlite3 "file:wrong.db?mapSize=1000000" "SELECT 1")"
is "... and makes nothing" none "$(ls wrong.db 2>/dev/null || echo none)"
is "a store of an engine that nobody knows" 1 "$(with sqlite3 "file:wrong.db?engine=nobody" "SELECT 1" 2>&1 | grep -c 'no such engine: nobody')"
is "a program without SQLite is left alone" hello "$(with ROOTSTOCK_ENGINE=lmdb echo hello)"
[ "$failures" = 0 ] || exit 1
echo "choices: every database went where it should"
