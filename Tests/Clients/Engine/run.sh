#!/bin/sh
# An engine from outside: the folder of the reference engine copied by its `make copy`, built against the plug's header alone, loaded into
# the command and into the extension, where SQL runs on it. EXTENSION: build/rootstock.so.
set -eu
extension=$(realpath "$1")
root=$(cd "$(dirname "$0")/../../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "engine: $1" >&2; exit 1; }

make -s -C "$root/CShims/Engines/Reference" copy NAME=granite TO="$folder/granite" > "$folder/words" || fail "no copy: $(cat "$folder/words")"
make -s -C "$root/CShims/Engines/Reference" copy NAME=granite TO="$folder/granite" 2> "$folder/words" && fail "a copy replaced a folder"
grep -q "TO is a folder that is not there yet" "$folder/words" || fail "no clear words: $(cat "$folder/words")"
(cd "$folder" && make -s -C "$root/CShims/Engines/Reference" copy NAME=basalt TO=near/basalt) > "$folder/words" && [ -e "$folder/near/basalt/librootstock_basalt.so" ] ||
    fail "no copy to a relative folder: $(cat "$folder/words")"
make -s -C "$root/CShims/Engines/Reference" copy NAME=Granite TO="$folder/other" 2> /dev/null && fail "a copy with a name that no engine has"
library="$folder/granite/librootstock_granite.so"

command="$root/.build/debug/rootstock"
[ -x "$command" ] || fail "no $command: swift build first"
"$command" engines --load-engine "$library" | grep -q '^granite  *1 on LMDB' || fail "the command does not list it"
"$command" --load-engine "$library" sql --engine granite "$folder/store" "
    CREATE TABLE book (isbn TEXT PRIMARY KEY, title TEXT NOT NULL, lent INT DEFAULT 0) WITHOUT ROWID;
    CREATE INDEX by_title ON book (title);
    INSERT INTO book (isbn, title) VALUES ('1', 'Solaris'), ('2', 'Roadside Picnic');
    UPDATE book SET lent = lent + 1 WHERE title = 'Solaris'"
rows=$("$command" --load-engine="$library" sql --engine granite "$folder/store" "SELECT title, lent FROM book ORDER BY title")
[ "$rows" = "Roadside Picnic|0
Solaris|1" ] || fail "other rows: $rows"
[ "$("$command" --load-engine "$library" check --engine granite "$folder/store")" = ok ] || fail "the check found something"

"$command" --load-engine "$folder/missing.so" engines 2> "$folder/words" && fail "a missing library was loaded"
grep -q "cannot load engine library $folder/missing.so" "$folder/words" || fail "no clear words: $(cat "$folder/words")"
"$command" --load-engine "$extension" engines 2> "$folder/words" && fail "any library was loaded"
grep -q "has no function rootstock_engine_init" "$folder/words" || fail "no clear words: $(cat "$folder/words")"
sed -i 's/return abi == ROOTSTOCK_ENGINE_ABI ? &reference : NULL/return abi == 1 ? \&reference : NULL/' "$folder/granite/environment.c"
make -s -C "$folder/granite" ENGINE=old
"$command" --load-engine "$folder/granite/librootstock_old.so" engines 2> "$folder/words" && fail "another ABI was loaded"
grep -q "built for another version of the plug" "$folder/words" || fail "no clear words: $(cat "$folder/words")"

# In SQL, as load_extension: only where the application allows it.
/usr/bin/python3 - "$extension" "$library" "$folder/store" <<'PYTHON' || fail "the extension's"
import sqlite3, sys
connection = sqlite3.connect(":memory:", isolation_level=None)
connection.enable_load_extension(True)
connection.load_extension(sys.argv[1])
assert connection.execute("SELECT rootstock_load_engine(?)", [sys.argv[2]]).fetchone() == ("granite",)
assert connection.execute("SELECT rootstock_load_engine(?)", [sys.argv[2]]).fetchone() == ("granite",), "a second time"
connection.enable_load_extension(False)
try:
    connection.execute("SELECT rootstock_load_engine(?)", [sys.argv[2]]).fetchone()
    raise SystemExit("it was loaded where extensions may not be")
except sqlite3.OperationalError as error:
    assert "not authorized" in str(error), error
connection.execute("SELECT rootstock_open(?, 'granite')", [sys.argv[3]]).fetchall()
assert connection.execute("SELECT sum(lent) FROM book").fetchone() == (1,)
PYTHON
# The contract, then SQL beside native SQLite.
"$command" --load-engine "$library" engine-test granite --rounds 1 > "$folder/words" || fail "$(grep -A9 broken "$folder/words")"

# Engines whose stores are directories, where their libraries are installed: FOLDER NAME HEADER PACKAGE
directory_engine() {
    if [ ! -e "$3" ]; then
        echo "engine: no $4 here: $2 was not tested"
        return 0
    fi
    name=$2
    rm -rf "$folder/shelf" "$folder/copy"
    make -s -C "$root/CShims/Engines/$1" BUILD="$folder"
    loaded() { verb=$1; shift; "$command" --load-engine "$folder/librootstock_$name.so" "$verb" "$@"; }
    loaded engines | grep -q "^$name  *[0-9.]*  *directory" || fail "$name is not listed as a directory store"
    # One close in fifteen after a full disk waits for ever inside libwiredtiger 3.2.1 (Vendor-notes/wiredtiger.md): once more.
    loaded engine-test "$name" --rounds 1 > "$folder/words" ||
        { [ "$name $(grep ': broken$' "$folder/words")" = "wiredtiger faults.full: broken" ] &&
            loaded engine-test wiredtiger --only faults. > "$folder/words"; } ||
        fail "$name: $(grep -A9 broken "$folder/words")"
    loaded sql --engine "$name" "$folder/shelf" "CREATE TABLE book (title TEXT PRIMARY KEY, lent INT);
        INSERT INTO book VALUES ('Solaris', 1), ('Eden', 2); CREATE INDEX by_lent ON book (lent)"
    loaded backup --engine "$name" "$folder/shelf" "$folder/copy" > "$folder/words" || fail "$name's backup: $(cat "$folder/words")"
    loaded sql --engine "$name" "$folder/shelf" "DELETE FROM book; VACUUM"
    [ "$(loaded check --engine "$name" "$folder/copy")" = ok ] || fail "$name's copy is unsound"
    [ "$(loaded sql --engine "$name" "$folder/copy" "SELECT sum(lent) FROM book")" = 3 ] || fail "$name's copy has other rows"
    loaded backup --engine "$name" "$folder/shelf" "$folder/copy" 2> "$folder/words" && fail "a backup replaced a store"
    [ -z "$(find "$folder" -name '*.partial-*')" ] || fail "a backup left a part behind"
    echo "engine: $name keeps the contract, and its directories are stores"
}
directory_engine RocksDB rocksdb /usr/include/rocksdb/c.h librocksdb-dev

# RocksDB's own options. What is wrong is named and makes no store; the others refuse all of them; a store is opened with others later.
options_of_rocksdb() {
    rocks() { store=$1; shift; loaded sql --engine rocksdb "$folder/$store" "$@"; }
    refused() {
        rocks never --engine-options "$1" "CREATE TABLE t (a)" 2> "$folder/words" && fail "rocksdb took the options $1"
        grep -q -- "$2" "$folder/words" || fail "rocksdb says of the options $1: $(cat "$folder/words")"
        [ ! -e "$folder/never" ] || fail "a store was made with the options $1"
    }
    refused bloom=1 'no option "bloom": its options are blockCache, blockSize, bloomBits, compression, writeBuffer'
    refused bloomBits=41 "option bloomBits of engine rocksdb is a number from 0 to 40"
    refused blockCache=-1 "option blockCache of engine rocksdb is a number from 0 to"
    refused bloomBits=1,compression=gzip 'compression of engine rocksdb cannot be "gzip"'
    refused bloomBits=1,, 'is missing at ","'
    loaded sql --engine lmdb "$folder/never" --engine-options bloomBits=1 "CREATE TABLE t (a)" 2> "$folder/words" && fail "lmdb took options"
    grep -q "engine lmdb has no options of its own; leave out engineOptions" "$folder/words" || fail "lmdb says: $(cat "$folder/words")"
    fill="CREATE TABLE t (a INTEGER PRIMARY KEY, b); INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
        WHERE i < 3000) SELECT i, hex(zeroblob(500)) FROM n; VACUUM"
    rocks plain --engine-options compression=none "$fill"
    rocks small --engine-options compression=zstd,bloomBits=0,blockCache=0,blockSize=16384,writeBuffer=1000000 "$fill"
    plain=$(cat "$folder"/plain/*.sst | wc -c) small=$(cat "$folder"/small/*.sst | wc -c)
    [ "$plain" -gt $((small * 10)) ] || fail "compression: $plain bytes without, $small with"
    for line in filter_policy=nullptr no_block_cache=true block_size=16384 write_buffer_size=1000000 compression=kZSTD; do
        cat "$folder"/small/OPTIONS-* | grep -q "^ *$line$" || fail "rocksdb was not told $line"
    done
    /usr/bin/python3 - "$extension" "$folder" <<'PYTHON' || fail "two openers in a process with other options each"
import sqlite3, sys
def opened(options):
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.enable_load_extension(True)
    connection.load_extension(sys.argv[1])
    connection.execute("SELECT rootstock_load_engine(?)", [sys.argv[2] + "/librootstock_rocksdb.so"]).fetchone()
    connection.execute("SELECT rootstock_open(?, 'rocksdb', ?)", [sys.argv[2] + "/small", options]).fetchone()
    return connection
first, same, none = opened('{"engineOptions":"blockCache=0"}'), opened('{"engineOptions":"blockCache=0"}'), opened('{}')
for options, words in ('{"engineOptions":"blockCache=1"}', "other options of the engine"), ('{"engineOptions":1}', "cannot be 1"):
    try:
        opened(options)
        raise SystemExit("opened with " + options)
    except sqlite3.Error as error:
        assert words in str(error), error
PYTHON
    [ "$(rocks small --engine-options bloomBits=20 "SELECT count(*), sum(length(b)) FROM t")" = "3000|3000000" ] || fail "other rows"
}
[ ! -e /usr/include/rocksdb/c.h ] || options_of_rocksdb
directory_engine WiredTiger wiredtiger /usr/include/wiredtiger.h libwiredtiger-dev

# The log-structured engine of the article: the contract under sanitizers, then SQL, a kill's half commit, a damaged record.
shims=$root/CShims
${CC:-cc} -std=c11 -O1 -g -fsanitize=address,undefined -Wall -Wextra -Werror -I"$shims/EngineTest" -I"$shims/EngineTest/include" \
    -I"$shims/RootstockEngine/include" "$shims"/EngineTest/*.c "$shims"/RootstockEngine/*.c "$shims"/Engines/Log/*.c \
    "$root/Tests/Clients/Engine/rules.c" -o "$folder/rules" -lpthread -ldl
TMPDIR=$folder "$folder/rules" > "$folder/words" 2>&1 || fail "engine log: $(cat "$folder/words")"
make -s -C "$shims/Engines/Log" BUILD="$folder"
log() { "$command" --load-engine "$folder/librootstock_log.so" "$@"; }
log sql --engine log "$folder/book.log" "CREATE TABLE book (isbn TEXT PRIMARY KEY, title TEXT); INSERT INTO book VALUES ('1', 'Solaris')"
whole=$(stat -c %s "$folder/book.log")
log sql --engine log "$folder/book.log" "INSERT INTO book VALUES ('2', 'Fiasco')"
# Half a commit is none, and the next one takes its place.
truncate -s -5 "$folder/book.log"
[ "$(log sql --engine log "$folder/book.log" "SELECT count(*) FROM book")" = 1 ] || fail "log: half a commit counts"
[ "$(stat -c %s "$folder/book.log")" = "$whole" ] || fail "log: half a commit was not cut off"
log sql --engine log "$folder/book.log" "INSERT INTO book VALUES ('2', 'Fiasco'); DELETE FROM book WHERE isbn = '1'"
[ "$(log sql --engine log "$folder/book.log" "SELECT title FROM book")" = Fiasco ] || fail "log: other rows"
# A byte in the middle is damage, and nothing is cut off.
printf X | dd of="$folder/book.log" bs=1 seek=$((whole - 3)) conv=notrunc 2> /dev/null
size=$(stat -c %s "$folder/book.log")
log sql --engine log "$folder/book.log" "SELECT title FROM book" 2> "$folder/words" && fail "log: a damaged record is read"
grep -q "a record in the middle of the log is damaged" "$folder/words" || fail "log: no clear words: $(cat "$folder/words")"
[ "$(stat -c %s "$folder/book.log")" = "$size" ] || fail "log: a damaged log was cut off"
echo "engine: log keeps the contract under sanitizers, cuts off half a commit and refuses damage"

echo "engine: an engine built outside the tree runs in the command and in the extension"
