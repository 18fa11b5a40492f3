#!/bin/sh
# Engine postgres on a server of its own (server.sh): the contract's rules, SQL by a URI and by a file, two clients at once,
# and what is said where the server is not there or refuses; writers.py has several that write at once, latency.py the round
# trips, and connections that go.
# EXTENSION: build/rootstock.so.
set -eu
extension=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
if [ -z "${ROOTSTOCK_POSTGRES_LOG:-}" ]; then
    command -v pg_config > /dev/null || { echo "postgres: not tested: install libpq-dev"; exit 0; }
    status=0
    "$here/server.sh" "$0" "$extension" || status=$?
    [ "$status" = 77 ] && { echo "postgres: not tested"; exit 0; }
    exit "$status"
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "postgres: $1" >&2; exit 1; }
command="$root/.build/debug/rootstock"
[ -x "$command" ] || fail "no $command: swift build first"
make -s -C "$root/CShims/Engines/Postgres" BUILD="$folder"
rootstock() { "$command" --load-engine "$folder/librootstock_postgres.so" "$@"; }
refuses() {
    wanted=$1
    shift
    rootstock "$@" > "$folder/words" 2>&1 && fail "this should have failed: $*"
    grep -q -- "$wanted" "$folder/words" || fail "wanted '$wanted', it says: $(cat "$folder/words")"
}

rootstock engines | grep -q '^postgres  *libpq [0-9.]*  *server  *durable, several processes, many writers' || fail "it is listed as: $(rootstock engines | grep postgres)"
rootstock engine-test postgres --rounds 1 > "$folder/words" || fail "$(grep -A9 broken "$folder/words")"

# A URI, and a schema of it.
uri="$ROOTSTOCK_POSTGRES"
rootstock sql "$uri" "CREATE TABLE book (title TEXT PRIMARY KEY, lent INT); INSERT INTO book VALUES ('Solaris', 1), ('Eden', 2);
    CREATE INDEX by_lent ON book (lent)"
rootstock sql "$uri&rootstock_schema=other" "CREATE TABLE book (title TEXT); INSERT INTO book VALUES ('Fiasco')"
[ "$(rootstock sql "$uri" "SELECT sum(lent) FROM book")" = 3 ] || fail "other rows by the URI"
[ "$(rootstock sql "$uri&rootstock_schema=other" "SELECT title FROM book")" = Fiasco ] || fail "other rows in the schema"
[ "$(rootstock check "$uri")" = ok ] || fail "the check found something"
# A store on a server is copied into a file of another engine, written out, and dumped; there is no backup of files that are not there.
rootstock import "$uri" "$folder/copy.lmdb" > "$folder/words" || fail "import of a store on a server: $(cat "$folder/words")"
[ "$(rootstock sql "$folder/copy.lmdb" "SELECT title, lent FROM book ORDER BY title")" = "$(printf 'Eden|2\nSolaris|1')" ] ||
    fail "the copy has other rows"
rootstock export "$uri" "$folder/copy.sqlite" > "$folder/words" || fail "export of a store on a server: $(cat "$folder/words")"
rootstock dump "$uri" | grep -q "INSERT INTO .*'Solaris',1" || fail "the dump lacks a row: $(rootstock dump "$uri")"
refuses "no files, and so no copies of them: 'rootstock import' copies" backup "$uri" "$folder/backup"
# A file that names a new schema, and is known by its first bytes.
rootstock sql --engine postgres "$folder/shelf" "CREATE TABLE book (title TEXT PRIMARY KEY, lent INT)"
[ "$(head -n 1 "$folder/shelf")" = "Rootstock store on PostgreSQL 1" ] || fail "the file is another: $(cat "$folder/shelf")"
# Two clients that write at once: none waits, and one that is refused tries again.
write_on() {
    for i in $(seq 1 10); do
        until rootstock sql "$folder/shelf" "INSERT INTO book VALUES ('$1-$i', 1)" 2> "$folder/$1"; do
            grep -q "serialize\|locked\|another writer" "$folder/$1" || { cat "$folder/$1" >&2; exit 1; }
        done
    done
}
write_on first & first=$!
write_on second || fail "the second client's writes"
wait "$first" || fail "the first client's writes"
[ "$(rootstock sql "$folder/shelf" "SELECT count(*) FROM book")" = 20 ] || fail "rows of two clients were lost"

# What is said.
refuses "cannot open postgresql://nowhere.invalid/books.*could not translate host name" sql postgresql://nowhere.invalid/books "SELECT 1"
refuses "Is the server running" sql "postgresql://tester@/postgres?host=$folder" "SELECT 1"
refuses "database \"missing\" does not exist" sql "$(echo "$uri" | sed 's,/postgres?,/missing?,')" "SELECT 1"
refuses "role \"nobody\" does not exist.*PGPASSWORD" sql "$(echo "$uri" | sed 's,tester@,nobody@,')" "SELECT 1"
refuses "cannot be the schema" sql "$uri&rootstock_schema=a%20b" "SELECT 1"
echo "Dear Sir" > "$folder/letter"
refuses "none that names a store" sql --engine postgres "$folder/letter" "SELECT 1"
[ "$(cat "$folder/letter")" = "Dear Sir" ] || fail "another program's file was written"
/usr/bin/python3 "$here/refused.py" "$extension" "$folder/librootstock_postgres.so" || fail "a refused commit"
/usr/bin/python3 "$here/others.py" "$command" "$folder/librootstock_postgres.so" || fail "servers that are not PostgreSQL"
/usr/bin/python3 "$here/writers.py" "$extension" "$folder/librootstock_postgres.so" 4 || fail "several writers"
/usr/bin/python3 "$here/latency.py" "$extension" "$folder/librootstock_postgres.so" || fail "round trips or lost connections"
echo "postgres: the engine keeps the contract on a server of its own"
