/*
** schema_cost.c - what suite `schema` asks, run so often that instructions can be counted by run.sh.
**
** schema_cost ENGINE FILE CASE TABLES COUNT: on native SQLite (ENGINE `native`: WAL, unsynced, mapped) or a store's
** engine,
**   fill     makes TABLES tables, each with two indexes, a foreign key to the table before it and four rows
**   fill-triggers    the same, and a trigger for each table
**   open     opens, reads one row and closes, COUNT times; before the other cases once
**   create, drop, index, alter, trigger    COUNT changes, each of a table of its own and in a transaction of its own
**   check    PRAGMA foreign_key_check, COUNT times
**   info     PRAGMA table_info of each table, COUNT times
** Two counts of one case differ by nothing but the repetitions, so start-up cancels out.
*/
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rootstock.h"

enum { ROWS = 4, TABLES_IN_TRANSACTION = 100 };

static sqlite3 *db;
static const char *engine, *file;
static bool native;

static void check(int code, const char *what) {
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
    fprintf(stderr, "schema_cost: %s: %s\n", what, sqlite3_errmsg(db));
    exit(1);
}

static void run(const char *sql) {
    while (*sql != '\0') {
        const char *tail = NULL;
        char *rewritten = NULL, *message = NULL;
        sqlite3_stmt *statement = NULL;
        if (native) {
            check(sqlite3_prepare_v2(db, sql, -1, &statement, &tail), sql);
        } else {
            if (rootstock_rewrite(db, sql, -1, &rewritten, &tail, &message) != SQLITE_OK) {
                fprintf(stderr, "schema_cost: %s: %s\n", sql, message);
                exit(1);
            }
            check(sqlite3_prepare_v2(db, rewritten == NULL ? sql : rewritten, -1, &statement,
                                     rewritten == NULL ? &tail : NULL),
                  sql);
        }
        while (statement != NULL && sqlite3_step(statement) == SQLITE_ROW) {
            for (int i = 0; i < sqlite3_column_count(statement); i++) (void)sqlite3_column_text(statement, i);
        }
        check(sqlite3_finalize(statement), sql);
        sqlite3_free(rewritten);
        if (tail == NULL || tail == sql) break;
        sql = tail;
    }
}

/* format names the number twice at most. */
static void run_numbered(const char *format, int number) {
    char *sql = sqlite3_mprintf(format, number, number);
    run(sql);
    sqlite3_free(sql);
}

static void start(void) {
    char *message = NULL;
    check(sqlite3_open_v2(native ? file : ":memory:", &db,
                          SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL),
          "open");
    if (native) {
        run("PRAGMA journal_mode = WAL");
        run("PRAGMA synchronous = OFF");
        run("PRAGMA cache_size = -65536");
        run("PRAGMA mmap_size = 30000000000");
    } else if (rootstock_open(db, file, engine, "{\"durability\":\"off\",\"mapSize\":1073741824}", NULL, &message) !=
               SQLITE_OK) {
        fprintf(stderr, "schema_cost: %s\n", message);
        exit(1);
    }
}

static void fill(int tables) {
    for (int number = 0; number < tables; number++) {
        if (number % TABLES_IN_TRANSACTION == 0) run("BEGIN");
        char *table = sqlite3_mprintf("CREATE TABLE t%d (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES t%d (id), "
                                      "name TEXT NOT NULL, price REAL)",
                                      number, number > 0 ? number - 1 : 0);
        run(table);
        sqlite3_free(table);
        run_numbered("CREATE INDEX t%d_parent ON t%d (parent)", number);
        run_numbered("CREATE INDEX t%d_name ON t%d (name)", number);
        for (int row = 1; row <= ROWS; row++) {
            char *sql = sqlite3_mprintf("INSERT INTO t%d VALUES (%d, %d, 'name %d', %d.5)", number, row, row,
                                        row * 7 % ROWS, row);
            run(sql);
            sqlite3_free(sql);
        }
        if (number % TABLES_IN_TRANSACTION == TABLES_IN_TRANSACTION - 1 || number == tables - 1) run("COMMIT");
    }
    if (native) run("PRAGMA wal_checkpoint(TRUNCATE)");
}

/* Half of them write to other tables, half remove from one. */
static void fill_triggers(int tables) {
    run("BEGIN");
    for (int number = 0; number < tables; number++) {
        run_numbered(number % 2 == 0 ? "CREATE TRIGGER r%d AFTER INSERT ON t%d WHEN new.price > 100 BEGIN "
                                       "UPDATE t0 SET price = price + new.price WHERE id = new.id; "
                                       "INSERT INTO t1 (parent, name) VALUES (1, new.name); END"
                                     : "CREATE TRIGGER r%d BEFORE UPDATE OF name ON t%d BEGIN "
                                       "SELECT RAISE(ABORT, 'no name') WHERE new.name = ''; "
                                       "DELETE FROM t0 WHERE id = old.id + 100; END",
                     number);
    }
    run("COMMIT");
    if (native) run("PRAGMA wal_checkpoint(TRUNCATE)");
}

int main(int count, char **arguments) {
    const char *name;
    int tables, repeats;
    if (count != 6) return 2;
    engine = arguments[1];
    file = arguments[2];
    name = arguments[3];
    tables = atoi(arguments[4]);
    repeats = atoi(arguments[5]);
    native = strcmp(engine, "native") == 0;
    start();
    if (strncmp(name, "fill", 4) == 0) {
        fill(tables);
        if (strcmp(name, "fill-triggers") == 0) fill_triggers(tables);
        sqlite3_close(db);
        return 0;
    }
    run("SELECT * FROM t0 WHERE id = 1");
    for (int i = 0; i < repeats; i++) {
        if (strcmp(name, "open") == 0) {
            sqlite3_close(db);
            start();
            run("SELECT * FROM t1 WHERE id = 2");
        } else if (strcmp(name, "create") == 0) {
            run_numbered("CREATE TABLE more%d (id INTEGER PRIMARY KEY, name TEXT)", i);
        } else if (strcmp(name, "drop") == 0) {
            run_numbered("DROP TABLE t%d", tables - 1 - i);
        } else if (strcmp(name, "index") == 0) {
            run_numbered("CREATE INDEX t%d_price ON t%d (price)",
                         i + 2); /* the bodies of triggers name the first two */
        } else if (strcmp(name, "alter") == 0) {
            run_numbered("ALTER TABLE t%d ADD COLUMN more TEXT", i);
        } else if (strcmp(name, "trigger") == 0) {
            run_numbered("CREATE TRIGGER more%d AFTER DELETE ON t%d BEGIN DELETE FROM t0 WHERE id = old.id + 100; END",
                         i + 2);
        } else if (strcmp(name, "check") == 0) {
            run("PRAGMA foreign_key_check");
        } else if (strcmp(name, "info") == 0) {
            for (int number = 0; number < tables; number++) run_numbered("PRAGMA table_info(t%d)", number);
        } else {
            return 2;
        }
    }
    sqlite3_close(db);
    return 0;
}
