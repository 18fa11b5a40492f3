/*
** change_cost.c - statements that change many rows, a transaction each, for run.py to count.
**
** change_cost URI: it makes the tables, then runs each statement and prints its name and how many rows it changed. Each
** ends with a call of end_statement, where callgrind writes its counts down.
*/
#include <sqlite3.h>

#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) void end_statement(const char *name, int rows) {
    printf("%s\t%d\n", name, rows);
}

static void run(sqlite3 *db, const char *sql) {
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK) return;
    fprintf(stderr, "change_cost: %s: %s\n", sql, message);
    exit(1);
}

static const char tables[] =
    "CREATE TABLE p(a INTEGER PRIMARY KEY, b INTEGER, c TEXT, d INTEGER);"
    "CREATE TABLE i(a INTEGER PRIMARY KEY, b INTEGER, c TEXT, d INTEGER); CREATE INDEX ib ON i(b);"
    "CREATE INDEX ic ON i(c);"
    "CREATE TABLE u(a INTEGER PRIMARY KEY, b INTEGER UNIQUE, c TEXT, d INTEGER);"
    "CREATE TABLE w(a TEXT, b INTEGER, c TEXT, d INTEGER, PRIMARY KEY(a, b)) WITHOUT ROWID;"
    "CREATE TABLE parent(a INTEGER PRIMARY KEY, c TEXT);"
    "CREATE TABLE f(a INTEGER PRIMARY KEY, b INTEGER REFERENCES parent(a), d INTEGER); CREATE INDEX fb ON f(b);"
    "CREATE TABLE t(a INTEGER PRIMARY KEY, b INTEGER); CREATE TABLE log(x);"
    "CREATE TRIGGER tt AFTER UPDATE OF b ON t BEGIN INSERT INTO log VALUES(new.b); END;"
    "CREATE TABLE few(k INTEGER PRIMARY KEY, v); CREATE TABLE k(k TEXT PRIMARY KEY, v INTEGER);"
    "CREATE TABLE e(a INTEGER PRIMARY KEY, b INTEGER, c TEXT, d INTEGER);"
    "CREATE TABLE e3(a INTEGER, b INTEGER, c TEXT, d INTEGER); CREATE INDEX e31 ON e3(a); CREATE INDEX e32 ON e3(b);"
    "CREATE INDEX e33 ON e3(c);"
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 4000)"
    " INSERT INTO p SELECT x, x * 7919 % 4001, 'text of row ' || x, x % 100 FROM n;"
    "INSERT INTO i SELECT * FROM p; INSERT INTO u SELECT * FROM p;"
    "INSERT INTO w SELECT 'key ' || (a % 50), a, c, d FROM p; INSERT INTO parent SELECT a, c FROM p WHERE a <= 200;"
    "INSERT INTO f SELECT a, 1 + b % 200, d FROM p; INSERT INTO t SELECT a, b FROM p;"
    "INSERT INTO few SELECT a, b FROM p WHERE a % 3; INSERT INTO k SELECT 'k' || a, b FROM p;";

static const char *const statements[] = {
    "UPDATE p SET b=b+1",
    "UPDATE p SET b=b+1 WHERE a BETWEEN 1000 AND 2000",
    "UPDATE i SET d=d+1 WHERE b BETWEEN 1000 AND 2000",
    "UPDATE i SET b=b+1 WHERE b BETWEEN 1000 AND 2000",
    "UPDATE i SET b=b+1",
    "UPDATE u SET b=b+10000",
    "UPDATE p SET a=a+100000",
    "UPDATE p SET a=a-100000",
    "UPDATE w SET d=d+1",
    "UPDATE p SET b=(SELECT v FROM few WHERE k=p.a)",
    "UPDATE p SET b=few.v FROM few WHERE few.k=p.a",
    "UPDATE f SET b=1+(b+1)%200",
    "UPDATE f SET d=d+1",
    "UPDATE t SET b=b+1",
    "UPDATE OR REPLACE u SET b=b+1",
    "INSERT INTO e SELECT * FROM p",
    "INSERT INTO e3 SELECT * FROM p",
    "REPLACE INTO e SELECT * FROM p",
    "REPLACE INTO i SELECT a,b%100,c,d FROM p",
    "INSERT INTO k SELECT 'k'||b, a FROM p WHERE true ON CONFLICT(k) DO UPDATE SET v=excluded.v",
    "DELETE FROM p WHERE a BETWEEN 1000 AND 2000",
    "DELETE FROM i WHERE d>60",
    "DELETE FROM w WHERE b NOT IN (SELECT k FROM few)",
    "DELETE FROM u WHERE a NOT IN (SELECT k FROM few)",
    "DELETE FROM w WHERE b%4=0",
    "DELETE FROM f WHERE d>50",
    "DELETE FROM k WHERE v%2 RETURNING k",
    "UPDATE u SET b=b+10000000 WHERE b>1000",
    "UPDATE OR IGNORE i SET b=b+1 WHERE a>1000",
    "DELETE FROM e",
};

int main(int count, char **arguments) {
    sqlite3 *db;
    if (count != 2 || sqlite3_open_v2(arguments[1], &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
                                      NULL) != SQLITE_OK)
        return 2;
    run(db, "PRAGMA journal_mode=wal; PRAGMA synchronous=off; PRAGMA mmap_size=268435456; PRAGMA foreign_keys=on");
    run(db, tables);
    end_statement("tables", sqlite3_total_changes(db));
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        int before = sqlite3_total_changes(db);
        run(db, "BEGIN");
        run(db, statements[i]);
        run(db, "COMMIT");
        end_statement(statements[i], sqlite3_total_changes(db) - before);
    }
    return sqlite3_close(db);
}
