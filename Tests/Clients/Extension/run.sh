#!/bin/sh
# Loads the extension into Debian's sqlite3 as a user does, and checks what it answers. Usage: Tests/Clients/Extension/run.sh EXTENSION
set -eu
extension=${1%.so}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
cases=0

# check NAME EXPECTED SQL: runs SQL in a new sqlite3 process with the extension loaded, and compares what it prints.
check() {
    cases=$((cases + 1))
    actual=$(printf '.load %s\n%s\n' "$extension" "$3" | sqlite3 ":memory:" 2>&1) || true
    if [ "$actual" != "$2" ]; then
        failures=$((failures + 1))
        printf 'extension: %s\n  expected: %s\n  actual:   %s\n' "$1" "$2" "$actual" >&2
    fi
}

store="$folder/data.store"

# What the front door makes of a statement is run by .read, as a program would run it.
run() {
    printf '.load %s\n' "$extension"
    printf ".output $folder/opened\nSELECT rootstock_open('%s');\n.output stdout\n" "$store"
    while read -r statement; do
        printf ".output $folder/statement.sql\n"
        printf "SELECT rootstock_rewrite('%s');\n" "$(printf '%s' "$statement" | sed "s/'/''/g")"
        printf ".output stdout\n.read $folder/statement.sql\n"
    done
}

checkStore() {
    cases=$((cases + 1))
    actual=$(printf '%s\n' "$3" | run | sqlite3 ":memory:" 2>&1) || true
    if [ "$actual" != "$2" ]; then
        failures=$((failures + 1))
        printf 'extension: %s\n  expected: %s\n  actual:   %s\n' "$1" "$2" "$actual" >&2
    fi
}

check "a new store has no tables" 0 "SELECT rootstock_open('$store');"
checkStore "a table is made, filled and read" "1|one
2|two" "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE);
INSERT INTO t VALUES (1, 'one'), (2, 'two');
SELECT * FROM t ORDER BY id;"
check "the store has its table in another process" 1 "SELECT rootstock_open('$store', 'lmdb');"
checkStore "an index is used and kept" "2" "CREATE INDEX i ON t (a);
SELECT id FROM t WHERE a = 'two';"
check "a plan takes the parameters of its statement" "1
SELECT id, parent, notused, detail FROM rootstock_explain(' SELECT id FROM t WHERE a > ? AND id = :id') WHERE 1 OR coalesce(NULL,?,:id)" \
    "SELECT rootstock_open('$store');
SELECT rootstock_rewrite('EXPLAIN QUERY PLAN SELECT id FROM t WHERE a > ? AND id = :id');"
check "NULLS LAST with a LIMIT ends the walk of an index" "1
SELECT id FROM t('rootstock order a o:a') ORDER BY a NULLS LAST, rootstock_sorted(t.\"rootstock row\", 2) LIMIT 2" \
    "SELECT rootstock_open('$store');
SELECT rootstock_rewrite('SELECT id FROM t ORDER BY a NULLS LAST LIMIT 2');"
check "the parts of a compound are walked in its order, group by group" "1
SELECT a, id FROM t('rootstock order g :') UNION SELECT a, 1 FROM t('rootstock order g :') ORDER BY a DESC LIMIT 2
0" \
    "SELECT rootstock_open('$store');
SELECT rootstock_rewrite('SELECT a, id FROM t UNION SELECT a, 1 FROM t ORDER BY a DESC LIMIT 2');
SELECT count(*) FROM rootstock_explain(rootstock_rewrite('SELECT a, id FROM t UNION SELECT a, 1 FROM t ORDER BY a DESC LIMIT 2')) WHERE detail LIKE '%TEMP B-TREE%';"
check "DISTINCT of few values is told which rows have passed" "0
1
1
SELECT DISTINCT a FROM f('rootstock order u :a') WHERE (b > 1) AND rootstock_passes(f.\"rootstock row\")
SELECT count(DISTINCT a) AS n FROM f('rootstock order u :a') WHERE rootstock_passes(f.\"rootstock row\")" \
    "SELECT rootstock_open('$folder/few.store');
SELECT rootstock_ddl('CREATE TABLE f (a INT, b INT)') + rootstock_ddl('CREATE INDEX fa ON f (a)') = 0;
INSERT INTO f WITH RECURSIVE i (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM i WHERE x < 60) SELECT x % 3, x FROM i;
SELECT 1 WHERE NOT rootstock_analyze('ANALYZE');
SELECT rootstock_rewrite('SELECT DISTINCT a FROM f WHERE b > 1');
SELECT rootstock_rewrite('SELECT count(DISTINCT a) AS n FROM f');"
check "the walk for each value of a list ends by itself" "0
1
SELECT id FROM o('rootstock order d :b') WHERE a IN (1, 2) ORDER BY b DESC, rootstock_sorted(o.\"rootstock row\", 2) LIMIT 2
1" \
    "SELECT rootstock_open('$folder/lists.store');
SELECT rootstock_ddl('CREATE TABLE o (id INTEGER PRIMARY KEY, a INT, b INT)') + rootstock_ddl('CREATE INDEX oab ON o (a, b)') = 0;
SELECT rootstock_rewrite('SELECT id FROM o WHERE a IN (1, 2) ORDER BY b DESC LIMIT 2');
SELECT rootstock_rewrite('SELECT id FROM o WHERE a = 1 ORDER BY b DESC LIMIT 2') = 'SELECT id FROM o WHERE a = 1 ORDER BY b DESC LIMIT 2';"
check "EXPLAIN is of what SQLite runs of a program" "1
0
1" "SELECT rootstock_open('$store');
PRAGMA foreign_keys = ON;
SELECT rootstock_rewrite('EXPLAIN DELETE FROM t WHERE id = 1 RETURNING id') LIKE '%rootstock_%';
SELECT rootstock_rewrite('EXPLAIN DELETE FROM t WHERE id = 1 RETURNING id') LIKE 'EXPLAIN%DELETE FROM%';"
check "what was rewritten is rewritten to itself" "1
1
1" "SELECT rootstock_open('$store');
SELECT coalesce(rootstock_rewrite(once), once) = once AND once <> text
    FROM (SELECT text, rootstock_rewrite(text) AS once
          FROM (SELECT 'SELECT name FROM temp.sqlite_schema AS s' AS text UNION ALL
                SELECT 'SELECT * FROM t JOIN sqlite_temp_master USING (name)'));"
check "options are a JSON object" 1 "SELECT rootstock_open('$store', 'lmdb', '{\"durability\": \"off\", \"readOnly\": true}');"
check "an unknown option is refused" \
    "Runtime error near line 2: unknown option \"speed\": the options are checkPages, checksum, commit, durability, engineOptions, mapSize, maxReaders, pageAccess, readAhead, readerWarning, readOnly, removeLock, verifyPages, writeMap" \
    "SELECT rootstock_open('$store', 'lmdb', '{\"speed\": 11}');"
check "what a VACUUM is refused for is told" "1
Runtime error near line 4: cannot VACUUM from within a transaction" "SELECT rootstock_open('$store');
BEGIN;
SELECT rootstock_vacuum();"
check "CREATE TABLE AS takes the parameters of its SELECT" "0
42|7|text|7" ".parameter set ?1 41
.parameter set :x 7
.parameter set @y \"'text'\"
SELECT rootstock_open('$folder/as.store');
.output $folder/as.sql
SELECT rootstock_rewrite('CREATE TABLE w AS SELECT ? + 1 AS a, :x AS b, @y AS c, :x AS d;');
.output stdout
.read $folder/as.sql
SELECT * FROM w;"
check "PRAGMA database_list shows the store's path" "SELECT seq - (seq > ifnull((SELECT seq FROM main.pragma_database_list WHERE name='rootstock'), seq)) AS seq, +name name, CASE name WHEN 'main' THEN rootstock_path() ELSE file END AS file FROM main.pragma_database_list WHERE name<>'rootstock' AND (name<>'temp' OR rootstock_has_temporary())
main|$store" ".output $folder/opened
SELECT rootstock_open('$store');
.output stdout
SELECT rootstock_rewrite('PRAGMA database_list');
SELECT name, rootstock_path() FROM pragma_database_list WHERE name = 'main';"
# Plain SQL, as the shell takes it: the module has the DEFAULTs of the columns that an INSERT leaves out.
defaults=".output $folder/opened
SELECT rootstock_open('$folder/defaults.store');
.output $folder/defaults.sql
SELECT coalesce(rootstock_rewrite('CREATE TABLE IF NOT EXISTS d(a INTEGER PRIMARY KEY, b DEFAULT word, \"c d\" TEXT NOT NULL DEFAULT (1 + 1), e DEFAULT -3)'), '');
.output stdout
.read $folder/defaults.sql"
check "an INSERT of plain SQL may leave out columns with a DEFAULT" "1|text:word|text:2|integer:-3
2|null:|text:x|integer:-3
3|text:word|text:2|integer:-3
4|null:|text:y|null:
5|text:word|text:2|null:
6|text:word|text:2|null:" "$defaults
DELETE FROM d;
INSERT INTO d(a) VALUES (1);
INSERT INTO d(b, \"c d\") VALUES (NULL, 'x');
INSERT INTO main.d DEFAULT VALUES;
INSERT INTO d VALUES (4, NULL, 'y', NULL);
WITH w AS (SELECT NULL AS e) INSERT OR ABORT INTO d(e) SELECT e FROM w UNION ALL SELECT e FROM w;
SELECT a, typeof(b) || ':' || coalesce(b, ''), typeof(\"c d\") || ':' || \"c d\", typeof(e) || ':' || coalesce(e, '') FROM d;"
check "a NULL that an INSERT of plain SQL gives is refused where none may be" \
    "Runtime error near line 9: NOT NULL constraint failed: d.c d (19)
0" "$defaults
DELETE FROM d;
INSERT INTO d(a, \"c d\") VALUES (1, NULL);
SELECT count(*) FROM d;"
cases=$((cases + 1))
versions() { # two connections in turn, by the front door's functions
    for connection in 0 1; do
        printf '.connection %s\n.load %s\n.output %s/opened\n' "$connection" "$extension" "$folder"
        printf "SELECT rootstock_open('%s');\n" "$folder/defaults.store"
    done
    printf '.output %s/versions\n' "$folder"
    show="SELECT rootstock_data_version();"
    printf '.connection 0\n%s\nCREATE TEMP TABLE kept(a);\nINSERT INTO d(a) VALUES (NULL);\n%s\n' "$show" "$show"
    printf '.connection 1\nINSERT INTO d(a) VALUES (NULL);\n.connection 0\n%s\n%s\n' "$show" "$show"
    printf 'DELETE FROM d;\n%s\n' "$show"
}
versions | sqlite3 ":memory:" >"$folder/versions.log" 2>&1 || true
if [ "$(uniq -c "$folder/versions" | sed 's/^ *//;s/ .*//' | tr '\n' ' ')" != "2 3 " ]; then
    failures=$((failures + 1))
    echo "extension: PRAGMA data_version moves when another connection commits: $(cat "$folder/versions" "$folder/versions.log")" >&2
fi
# A row that a comparison with a literal or a parameter leaves out never comes to SQLite: it would take three steps of its program.
data=$store
store="$folder/numbers.store"
check "a store of numbers" 0 "SELECT rootstock_open('$store');"
checkStore "a table whose columns have no index" "400" "CREATE TABLE numbers (n INTEGER, name TEXT);
INSERT INTO numbers WITH RECURSIVE q(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM q WHERE v < 400) SELECT v, char(97 + v % 20) FROM q;
SELECT count(*) FROM numbers;"
for condition in "n = 250" "n = :n" "n BETWEEN :n AND 250" "n > 249 AND n < 250.5 AND name = :name"; do
    cases=$((cases + 1))
    actual=$(printf '.load %s\n.parameter set :n 250\n.parameter set :name "%s"\n%s\n.stats vmstep\n%s\n' "$extension" "'k'" \
        "SELECT rootstock_open('$store');" "SELECT n, name FROM numbers WHERE $condition;" | sqlite3 ":memory:" 2>&1) || true
    steps=$(printf '%s\n' "$actual" | sed -n 's/^VM-steps: //p')
    if [ "$(printf '%s\n' "$actual" | sed -n 2p)" != "250|k" ] || [ "${steps:-1000}" -ge 100 ]; then
        failures=$((failures + 1))
        printf 'extension: rows left out where %s: %s\n' "$condition" "$actual" >&2
    fi
done
# The rows of an OFFSET are gone by without a step each, where each row of the plan is one of the statement.
for tail in "ORDER BY rowid LIMIT 1 OFFSET 249" "LIMIT 1 OFFSET 249" "WHERE rowid > 100 ORDER BY rowid LIMIT 1 OFFSET 149" \
    "ORDER BY rowid DESC LIMIT 1 OFFSET 150"; do
    cases=$((cases + 1))
    actual=$(printf '.load %s\n%s\n.output %s\n%s\n.output stdout\n.stats vmstep\n.read %s\n' "$extension" "SELECT rootstock_open('$store');" \
        "$folder/offset.sql" "SELECT coalesce(rootstock_rewrite('SELECT n, name FROM numbers $tail'), 'not rewritten') || ';';" \
        "$folder/offset.sql" | sqlite3 ":memory:" 2>&1) || true
    steps=$(printf '%s\n' "$actual" | sed -n 's/^VM-steps: //p')
    if [ "$(printf '%s\n' "$actual" | sed -n 2p)" != "250|k" ] || [ "${steps:-1000}" -ge 100 ]; then
        failures=$((failures + 1))
        printf 'extension: an offset of %s: %s\n' "$tail" "$actual" >&2
    fi
done
store=$data
writes=$(for i in $(seq 150); do echo "INSERT INTO t(a) VALUES ('warned $i');"; done)
check "a reader that lags is told of, once" "1
4
2
(28) rootstock: $store: a reader is 44 commits behind, and the file grows until it ends (1 readers; a statement that is not reset, or a transaction left open)
154
1" ".log $folder/log
SELECT rootstock_open('$store');
INSERT INTO t(a) VALUES ('three'), ('four');
SELECT count(*) FROM t;
BEGIN;
SELECT id FROM t WHERE a = 'two';
.connection 1
.load $extension
.output $folder/opened
SELECT rootstock_open('$store', 'lmdb', '{\"readerWarning\": 30}');
.output stdout
.log stdout
$writes
SELECT count(*) FROM t;
.connection 0
COMMIT;
DELETE FROM t WHERE a > 'u';
SELECT count(*) = 4 FROM t;"
check "a row of RETURNING has no columns beside its own" "1
five|null|null" "SELECT rootstock_open('$store');
SELECT rootstock_value(whole, 0), typeof(rootstock_value(whole, 1)), typeof(rootstock_value(whole, -1))
FROM rootstock_returning('INSERT INTO t(a) VALUES (''five'') RETURNING a');
DELETE FROM t WHERE a = 'five';"
check "a sidecar that cannot be read is said to be so each time" "Parse error near line 3: $folder/damaged.db-lmdb: its tree \"rootstock\" is not a store's: the catalog's meta row is missing (26)
Parse error near line 4: $folder/damaged.db-lmdb: its tree \"rootstock\" is not a store's: the catalog's meta row is missing (26)" \
    "$(sqlite3 "$folder/damaged.db" ".load $extension" "CREATE VIRTUAL TABLE t USING lmdb(a)" >&2
        rm "$folder/damaged.db-lmdb"*
        printf 'key\nvalue\n' | mdb_load -n -T -s rootstock "$folder/damaged.db-lmdb" >&2)ATTACH '$folder/damaged.db' AS a;
SELECT * FROM t;
SELECT * FROM t;"
check "what needs no change comes back as it is" "SELECT 1" "SELECT rootstock_rewrite('SELECT 1');"

check "an engine that is not there is told from those that are" \
    "Runtime error near line 2: no such engine: lmbd (there are lmdb, sqlite-btree; others are registered before a store is opened)" \
    "SELECT rootstock_open('$folder/x', 'lmbd');"

# Foreign keys beside a native file: the same script on native tables and on tables of a sidecar.
cases=$((cases + 1))
script=$(dirname "$0")/foreign_keys.sql
sed -e 's/^store_table \([a-z]*\)(/CREATE TABLE \1(/' -e 's/, native_keys([a-z]*)//' -e 's/_keys(/(/g' \
    -e 's/)without_rowid);/)) WITHOUT ROWID;/' "$script" | sqlite3 "$folder/native.db" >"$folder/native.txt" 2>&1 || true
{ printf '.load %s\n' "$extension"; cat "$script"; } |
    sed -e 's/^store_table \([a-z]*\)(/CREATE VIRTUAL TABLE \1 USING lmdb(/' -e 's/)without_rowid);/), WITHOUT ROWID);/' |
    sqlite3 "$folder/beside.db" >"$folder/beside.txt" 2>&1 || true
# Line numbers differ by the .load.
sed -i -E 's/near line [0-9]+/near a line/' "$folder/native.txt" "$folder/beside.txt"
if ! grep -q 'FOREIGN KEY constraint failed' "$folder/native.txt" || ! diff "$folder/native.txt" "$folder/beside.txt" >&2; then
    failures=$((failures + 1))
    echo "extension: foreign keys between native tables and a sidecar's differ from native ones" >&2
fi
# Past the module nobody changes a parent.
cases=$((cases + 1))
actual=$(sqlite3 "$folder/beside.db" "PRAGMA foreign_keys = ON; DELETE FROM nat" 2>&1) || true
case "$actual" in
*"no such function: rootstock_foreign_acts"*) ;;
*)
    failures=$((failures + 1))
    echo "extension: a parent was changed without the module: $actual" >&2
    ;;
esac
check "SQLite takes no virtual table for a parent, and says so" \
    'Parse error near line 4: foreign key mismatch - "c" referencing "p"' \
    "ATTACH '$folder/mismatch.db' AS a; PRAGMA foreign_keys = ON;
CREATE VIRTUAL TABLE a.p USING lmdb(id INTEGER PRIMARY KEY); CREATE TABLE a.c(p REFERENCES p(id));
INSERT INTO a.c VALUES (1);"
check "only the names of native foreign-key tables are reserved, and only for a defensive connection" \
    "          defensive on
Parse error near line 7: object name reserved for internal use: r_foreign1
1" "ATTACH '$folder/reserved.db' AS r;
.dbconfig defensive on
CREATE VIRTUAL TABLE r.r USING lmdb(id INTEGER PRIMARY KEY);
CREATE TABLE r.r_foreigners(a);
CREATE TABLE r.r_foreign(a);
CREATE TABLE r.r_foreign1(a);
INSERT INTO r.r_foreigners VALUES (1);
SELECT count(*) FROM r.r_foreigners;"
check "native_keys must be unique" \
    "Runtime error near line 3: native_keys of p must name the columns of its PRIMARY KEY or of a UNIQUE" \
    "ATTACH '$folder/unique.db' AS a;
CREATE VIRTUAL TABLE a.p USING lmdb(id INTEGER PRIMARY KEY, x, native_keys(x));"

checkStore "an indexed expression is sought by what a function makes of a parameter" "2
2|0|0|SEARCH t USING INDEX l (<expr>=?)" "CREATE INDEX l ON t (lower(a));
SELECT id FROM t WHERE id > 0 AND lower(a) = lower('TWO');
EXPLAIN QUERY PLAN SELECT * FROM t WHERE a > ? AND lower(a) = coalesce(lower(?), lower(trim(?)));
DROP INDEX l;"

# Connections of a process whose shared cache is on have transactions of their own.
${CC:-cc} -std=c11 -O1 "$(dirname "$0")/shared_cache.c" -o "$folder/shared_cache" -lsqlite3
for engine in lmdb sqlite-btree; do
    cases=$((cases + 1))
    actual=$("$folder/shared_cache" "$extension" "$folder/shared.$engine" "$engine" 2>&1) || true
    if [ "$actual" != "0
0
database is locked
4" ]; then
        failures=$((failures + 1))
        echo "extension: transactions beside a shared cache, $engine: $actual" >&2
    fi
done

# Closing a connection ends neither its SELECT nor the transaction that this reads.
${CC:-cc} -std=c11 -O1 "$(dirname "$0")/close_beside_select.c" -o "$folder/close_beside_select" -lsqlite3
"$folder/close_beside_select" "$extension" "$folder/close.native" native >"$folder/close.expected"
for engine in lmdb sqlite-btree; do
    cases=$((cases + 1))
    "$folder/close_beside_select" "$extension" "$folder/close.$engine" "$engine" >"$folder/close.actual" 2>&1 || true
    if ! diff "$folder/close.expected" "$folder/close.actual" >"$folder/close.diff"; then
        failures=$((failures + 1))
        echo "extension: a connection closed beside its SELECT, $engine:" >&2
        cat "$folder/close.diff" >&2
    fi
done

# A kept INSERT after a NOT NULL ON CONFLICT ROLLBACK of a generated column; subqueries with parameters that a change runs once;
# kept statements beside changes of the schema.
for script in kept_insert parameters_once kept_statements; do
    cases=$((cases + 1))
    /usr/bin/python3 "$(dirname "$0")/$script.py" >"$folder/$script.expected"
    /usr/bin/python3 "$(dirname "$0")/$script.py" "$extension" >"$folder/$script.actual" 2>&1 || true
    if ! diff "$folder/$script.expected" "$folder/$script.actual" >"$folder/$script.diff"; then
        failures=$((failures + 1))
        echo "extension: $script.py:" >&2
        cat "$folder/$script.diff" >&2
    fi
done

# Making a store of engine sqlite-btree takes two steps: killed between them it leaves one page with a WAL, and nothing in it.
sqlite3 "$folder/begun.store" "PRAGMA journal_mode = WAL" >"$folder/opened"
sqlite3 "$folder/versioned.db" "PRAGMA journal_mode = WAL; PRAGMA user_version = 1" >"$folder/opened"
sqlite3 "$folder/emptied.db" "PRAGMA journal_mode = WAL; CREATE TABLE t(a); DROP TABLE t; VACUUM" >"$folder/opened"
check "a store of engine sqlite-btree that was begun is made, and no other empty database" \
    "Runtime error near line 2: cannot open $folder/versioned.db: it is not a store of engine sqlite-btree; name another file (26)
Runtime error near line 3: cannot open $folder/emptied.db: it is not a store of engine sqlite-btree; name another file (26)
0" "SELECT rootstock_open('$folder/versioned.db', 'sqlite-btree');
SELECT rootstock_open('$folder/emptied.db', 'sqlite-btree');
SELECT rootstock_open('$folder/begun.store', 'sqlite-btree');"

# A writer of engine sqlite-btree that dies while it publishes a commit leaves the two copies of the log's header different.
cases=$((cases + 1))
actual=$(timeout 60 sqlite3 "$folder/half.db" 2>&1 <<END
.load $extension
CREATE VIRTUAL TABLE t USING "sqlite-btree"(a);
INSERT INTO t VALUES (1);
SELECT count(*) FROM t;
.shell printf '\377' | dd of=$folder/half.db-sqlite-btree-shm bs=1 seek=8 conv=notrunc status=none
SELECT count(*) FROM t;
INSERT INTO t VALUES (2);
SELECT count(*) FROM t;
END
) || true
if [ "$actual" != "1
1
2" ]; then
    failures=$((failures + 1))
    echo "extension: a header half written is waited for: $actual" >&2
fi

# Opened, a store is declared by the rows of a schema table, and not by its texts.
store="$folder/forms.store"
checkStore "tables of all forms are made" "" "CREATE TABLE a (x INTEGER PRIMARY KEY DESC, y TEXT COLLATE NOCASE UNIQUE);
CREATE VIEW va AS SELECT y FROM a;
CREATE TABLE \"b c\" (k TEXT, n INT DEFAULT (1 + 1), PRIMARY KEY (k, n)) WITHOUT ROWID;
CREATE TRIGGER ta AFTER INSERT ON a BEGIN INSERT INTO \"b c\" (k) VALUES (new.y); END;
CREATE TABLE d (x INTEGER PRIMARY KEY AUTOINCREMENT, y ANY, z INT AS (x + 1)) STRICT;
CREATE INDEX db ON d (y DESC, x) WHERE y > 1;
CREATE TABLE e (x REFERENCES d);"
checkStore "and opened in another process as they were made" "table|a
index|sqlite_autoindex_a_1
index|sqlite_autoindex_a_2
view|va
table|b c
trigger|ta
table|d
table|sqlite_sequence
index|db
table|e
2|Zwei
Zwei|2
1|x|2
0
rowid|0|1" "SELECT type, name FROM sqlite_schema;
INSERT INTO a VALUES (2, 'Zwei') RETURNING *;
SELECT * FROM \"b c\";
INSERT INTO d (y) VALUES ('x') RETURNING *;
SELECT total_changes() - 3;
SELECT 'rowid', (SELECT count(*) FROM a WHERE y = 'zwei' AND x = 3), (SELECT count(*) FROM d INDEXED BY db WHERE y > 1);"

# What the front door made of a change is run again after the schema has changed, without asking it anew.
# kept TABLE CHANGE: makes the table m, rewrites CHANGE, a statement of it; then come those on the standard input, and CHANGE as it was rewritten.
kept() {
    changes=$(cat)
    printf '%s\n' "$1" | run
    printf ".output $folder/kept.sql\nSELECT rootstock_rewrite('%s');\n.output stdout\n" "$2"
    printf '%s\n' "$changes" | run | sed 1,4d
    printf '.read %s\nSELECT * FROM m;\n' "$folder/kept.sql"
}

checkKept() {
    cases=$((cases + 1))
    rm -f "$store"*
    actual=$(printf '%s\n' "$5" | kept "$3" "$4" | sqlite3 ":memory:" 2>&1 | sed 's/ near line [0-9]*//') || true
    if [ "$actual" != "$2" ]; then
        failures=$((failures + 1))
        printf 'extension: %s\n  expected: %s\n  actual:   %s\n' "$1" "$2" "$actual" >&2
    fi
}

checkKept "an UPDATE whose rows have another key by now is refused" \
    "Runtime error: the schema has changed: prepare the statement again (17)
1|2" "CREATE TABLE m (a INTEGER PRIMARY KEY, b);" "UPDATE m SET b = 5 WHERE b > 0;" "DROP TABLE m;
CREATE TABLE m (a TEXT PRIMARY KEY, b) WITHOUT ROWID;
INSERT INTO m VALUES (1, 2);"
checkKept "a DELETE of all rows fires a trigger that has come since" "11|7" "CREATE TABLE m (a INTEGER PRIMARY KEY, b);" \
    "DELETE FROM m;" "CREATE TRIGGER g AFTER DELETE ON m BEGIN INSERT INTO m VALUES (old.a + 10, 7); END;
INSERT INTO m VALUES (1, 2);"
checkKept "an UPDATE of a table that has one column more goes on" "1|5|" "CREATE TABLE m (a INTEGER PRIMARY KEY, b);" \
    "UPDATE m SET b = 5 WHERE b > 0;" "ALTER TABLE m ADD COLUMN c;
INSERT INTO m(a, b) VALUES (1, 2);"

if [ "$failures" -gt 0 ]; then
    echo "extension: $failures of $cases checks failed" >&2
    exit 1
fi
echo "extension: $cases checks passed in sqlite3 $(sqlite3 --version | cut -d ' ' -f 1)"
