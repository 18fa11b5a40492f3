/*
** replaced_modules.c - a program's modules under the names of SQLite's own (fts5, rtree ...), and modules that it takes
** away, one by one or all of them. A table whose module is missing says which.
*/
#define _GNU_SOURCE
#include <stdio.h>

#include "own_modules.h"

static sqlite3 *db;

static void begin(const char *file) {
    printf("open %d\n", sqlite3_open(file, &db));
}

static void end(void) {
    printf("close %d\n", sqlite3_close(db));
}

static void replace(const char *name) {
    char *file = sqlite3_mprintf("%s.db", name), *create = sqlite3_mprintf("CREATE VIRTUAL TABLE x USING %s(a)", name);
    begin(file);
    run(db, "CREATE TABLE t(a UNIQUE); INSERT INTO t VALUES('before')");
    printf("module %d\n", sqlite3_create_module(db, name, &note, NULL));
    run(db, create);
    run(db, "CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO x(text) VALUES(new.a); END");
    run(db, "INSERT INTO t VALUES('by trigger'); INSERT INTO x(text) VALUES('first'),('second')");
    run(db, "SELECT rowid, text, size FROM x; SELECT n FROM x_total; SELECT * FROM x_rows");
    run(db, "BEGIN; INSERT INTO x(text) VALUES('gone'); ROLLBACK; SELECT count(*) FROM x");
    run(db, "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid");
    end();
    begin(file);
    sqlite3_create_module(db, name, &note, NULL);
    run(db, "SELECT text FROM x; INSERT INTO x(text) VALUES('more'); PRAGMA table_info(x)");
    run(db, "DROP TABLE x; SELECT name FROM sqlite_schema ORDER BY 1");
    run(db, create);
    end();
    begin(file); /* SQLite's own does not know that table, and the others are there */
    run(db, "SELECT a FROM t");
    end();
    sqlite3_free(create);
    sqlite3_free(file);
}

static void missing(void) {
    begin("missing.db");
    sqlite3_create_module(db, "note", &note, NULL);
    run(db, "CREATE VIRTUAL TABLE x USING note(a)");
    end();
    begin("missing.db");
    run(db, "SELECT * FROM x");
    run(db, "PRAGMA table_info(x)");
    run(db, "PRAGMA table_xinfo(x)");
    run(db, "SELECT * FROM pragma_table_info('x')");
    end();
}

static void take_away(void) {
    const char *keep[] = {"rtree", NULL};
    begin("less.db");
    run(db, "CREATE TABLE t(a INTEGER PRIMARY KEY, b); INSERT INTO t VALUES (1, 2), (2, 3)");
    run(db, "CREATE VIRTUAL TABLE r USING rtree(i, x, y); INSERT INTO r VALUES (1, 2, 3)");
    run(db, "CREATE VIRTUAL TABLE f USING fts5(a); INSERT INTO f VALUES ('x y')");
    printf("drop %d\n", sqlite3_drop_modules(db, keep));
    run(db, "SELECT * FROM t; SELECT * FROM r");
    run(db, "SELECT * FROM json_each('[1]')");
    run(db, "CREATE VIRTUAL TABLE more USING rtree(i, x, y)");
    run(db, "CREATE VIRTUAL TABLE g USING fts5(a)");
    run(db, "UPDATE t SET b = 5 WHERE a = 1; CREATE INDEX i ON t(b); SELECT * FROM t WHERE b = 5");
    run(db, "DROP TABLE f");
    printf("drop %d\n", sqlite3_drop_modules(db, NULL));
    run(db, "SELECT * FROM t WHERE b = 5");
    run(db, "SELECT name FROM sqlite_schema");
    printf("take away %d\n", sqlite3_create_module(db, "fts5", NULL, NULL));
    end();
    begin("less.db");
    run(db, "SELECT * FROM f; SELECT * FROM r");
    printf("take away %d\n", sqlite3_create_module(db, "fts5", NULL, NULL));
    run(db, "CREATE VIRTUAL TABLE g USING fts5(a)");
    end();
}

int main(void) {
    replace("note");
    replace("fts5");
    replace("fts4");
    replace("rtree");
    missing();
    take_away();
    return 0;
}
