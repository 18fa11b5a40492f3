#!/bin/sh
# Counts instructions (callgrind): what the front door adds to a prepare, and a look at the schema to a cached statement.
# Fails if a statement that needs no rewriting pays 1% of its prepare or more. Where its text was not met before, but one
# that differs in nothing but values, the limit stands before the statement.
set -eu
top=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sources=$(make -s --no-print-directory -C "$top" c-sources)
flags=$(make -s --no-print-directory -C "$top" c-flags)
# shellcheck disable=SC2086
${CC:-cc} -std=c11 -O2 -g $flags $sources \
    "$top/Tests/Cost/Prepare/prepare_cost.c" -o "$work/prepare_cost" -lsqlite3 -llmdb -lpthread

run() { "$work/prepare_cost" "$work/data.store" run 0 "$1"; }
run "CREATE TABLE test (key INTEGER PRIMARY KEY, value TEXT)"
run "CREATE TABLE dflt (key INTEGER PRIMARY KEY, value TEXT, state TEXT DEFAULT 'new', at INTEGER DEFAULT 7)"
run "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99) INSERT INTO test SELECT i, 'value ' || i FROM n"

# instructions MODE STATEMENT: of one repetition
total() {
    valgrind --tool=callgrind --callgrind-out-file="${KEEP:-$work/out}" "$work/prepare_cost" "$work/data.store" "$@" 2>&1 |
        sed -n 's/.*Collected : //p'
}
instructions() {
    few=$(total "$1" 100 "$2")
    many=$(total "$1" 1100 "$2")
    echo $(((many - few) / 1000))
}

status=0
while read -r statement; do
    prepare=$(instructions prepare "$statement")
    rewrite=$(instructions rewrite "$statement")
    limit=$((prepare / 100))
    verdict=ok
    [ "$rewrite" -lt "$limit" ] || { verdict="above $limit"; status=1; }
    echo "$statement: prepare $prepare, front door $rewrite ($((rewrite * 10000 / prepare)) in 10,000): $verdict"
done <<STATEMENTS
SELECT * FROM test WHERE key = ?
SELECT value FROM test AS t WHERE t.key BETWEEN :low AND :high ORDER BY t.value LIMIT 10;
INSERT INTO test VALUES (?, ?)
REPLACE INTO test VALUES (?, ?)
UPDATE test SET value = ? WHERE key = ?
DELETE FROM test WHERE key = ?
WITH one AS (SELECT ? AS key) SELECT * FROM test JOIN one USING (key)
STATEMENTS
while read -r percent statement; do
    prepare=$(instructions made "$statement")
    fresh=$(instructions fresh "$statement")
    verdict=ok
    [ $((fresh * 100)) -lt $((prepare * percent)) ] || { verdict="above $percent%"; status=1; }
    echo "$statement, another number each time: prepare $prepare, front door $fresh ($((fresh * 100 / prepare))%): $verdict"
done <<STATEMENTS
5 SELECT * FROM test WHERE key = %
5 SELECT count(*) FROM test WHERE key > %
5 SELECT * FROM test WHERE value LIKE '%x'
5 SELECT t.value, u.value FROM test t LEFT JOIN test u ON u.key = t.value WHERE t.key = %
5 SELECT t.value, u.value FROM test t JOIN test u ON u.key = t.value WHERE t.key > %
8 INSERT INTO test VALUES (%, 'x')
5 UPDATE test SET value = 'x' WHERE key = %
5 DELETE FROM test WHERE key = %
5 SELECT * FROM test ORDER BY key LIMIT 10 OFFSET %
5 UPDATE test SET value = % WHERE value = 'x'
7 INSERT INTO test VALUES (%, 'x') RETURNING key
11 INSERT INTO dflt (key, value) VALUES (%, 'x')
25 INSERT INTO test VALUES (%, 'x'); SELECT 1
STATEMENTS
select=$(instructions select "SELECT * FROM test WHERE key = ?")
refresh=$(instructions refresh "SELECT * FROM test WHERE key = ?")
echo "cached point select: $select, look at the schema before it: $refresh"
exit $status
