/*
** own_modules.c - virtual tables of modules that the program registers: one that keeps its rows in shadow tables, one
** that holds them back until a commit or a savepoint, one without rows of its own, and a table-valued function.
*/
#define _GNU_SOURCE
#include <assert.h>
#include <stdio.h>

#include "own_modules.h"

static sqlite3 *open_database(void) {
    sqlite3 *db;
    int code = sqlite3_open("data.db", &db);
    assert(code == SQLITE_OK);
    (void)code;
    return db;
}

/* ---- what is done with them ---- */

static sqlite3_module plain; /* note without xSync */

static void register_all(sqlite3 *db) {
    sqlite3_create_module(db, "note", &note, NULL);
    sqlite3_create_module_v2(db, "late", &note, (void *)&note, NULL);
    plain = note;
    plain.xSync = NULL;
    sqlite3_create_module(db, "plain", &plain, NULL);
    sqlite3_create_module(db, "span", &span, NULL);
    sqlite3_create_module(db, "span_of", &span_of, (void *)&span_of);
}

static void schema(sqlite3 *db) {
    run(db, "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid");
}

static void rows(sqlite3 *db, const char *name) {
    char *sql = sqlite3_mprintf("SELECT rowid, text, size FROM %s; SELECT n FROM %s_total; SELECT * FROM %s_rows", name,
                                name, name);
    run(db, sql);
    sqlite3_free(sql);
}

static void change(sqlite3 *db, const char *module) {
    char *sql = sqlite3_mprintf("CREATE VIRTUAL TABLE x USING %s(one, 'two')", module);
    run(db, sql);
    sqlite3_free(sql);
    schema(db);
    run(db, "CREATE VIRTUAL TABLE x USING note");
    run(db, "CREATE VIRTUAL TABLE IF NOT EXISTS x USING note");
    run(db, "INSERT INTO x(text) VALUES('first'),('second')");
    run(db, "SELECT last_insert_rowid(), changes()");
    run(db, "INSERT INTO x(rowid, text) VALUES(10,'ten')");
    run(db, "UPDATE x SET text=text||'!' WHERE rowid=10");
    run(db, "UPDATE x SET rowid=11 WHERE rowid=10");
    run(db, "DELETE FROM x WHERE rowid=1");
    run(db, "SELECT changes(), total_changes()>0");
    rows(db, "x");
    run(db, "INSERT INTO x(text) VALUES('good'),('bad')");
    rows(db, "x");
    run(db, "BEGIN; INSERT INTO x(text) VALUES('gone'); DELETE FROM x WHERE rowid=2; SELECT count(*) FROM x; ROLLBACK");
    rows(db, "x");
    run(db, "BEGIN; INSERT INTO x(text) VALUES('stays'); SAVEPOINT a; INSERT INTO x(text) VALUES('goes');"
            "UPDATE x SET text='changed' WHERE rowid=2; ROLLBACK TO a; INSERT INTO x(text) VALUES('later'); RELEASE a; "
            "COMMIT");
    rows(db, "x");
    run(db, "BEGIN; INSERT INTO x(text) VALUES('good'); INSERT INTO x(text) VALUES('fine'),('bad')");
    run(db, "COMMIT");
    rows(db, "x");
    run(db,
        "CREATE TABLE t(a UNIQUE); CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO x(text) VALUES(new.a); END");
    run(db, "INSERT INTO t VALUES('by trigger')");
    run(db, "INSERT INTO t VALUES('undone'),('by trigger')");
    run(db, "BEGIN; INSERT INTO t VALUES('in transaction')");
    run(db, "INSERT INTO t VALUES('undone'),('bad')");
    run(db, "INSERT INTO t VALUES('and another'); COMMIT");
    rows(db, "x");
    run(db, "SELECT t.a, x.rowid FROM t JOIN x ON x.text=t.a ORDER BY 1");
    run(db, "INSERT INTO t SELECT text||rowid FROM x WHERE rowid<4");
    run(db, "CREATE VIEW v AS SELECT text AS w FROM x WHERE size>5; SELECT * FROM v");
    run(db, "SELECT name, type, hidden FROM pragma_table_xinfo('x')");
    run(db, "DROP TRIGGER g; DROP VIEW v; ALTER TABLE x RENAME TO renamed");
    schema(db);
    rows(db, "renamed");
    run(db, "INSERT INTO renamed(text) VALUES('after')");
    run(db, "SELECT * FROM x");
    run(db, "CREATE INDEX i ON renamed(text)");
    run(db, "ALTER TABLE renamed ADD COLUMN c");
    run(db, "CREATE TRIGGER h AFTER INSERT ON renamed BEGIN SELECT 1; END");
    run(db, "BEGIN; DROP TABLE renamed; SELECT name FROM sqlite_schema ORDER BY 1; ROLLBACK");
    rows(db, "renamed");
    run(db,
        "BEGIN; SAVEPOINT s; CREATE VIRTUAL TABLE y USING note; INSERT INTO y(text) VALUES('of y'); SELECT text FROM y;"
        "ROLLBACK TO s; SELECT name FROM sqlite_schema ORDER BY 1; COMMIT");
    run(db, "SELECT * FROM y");
    run(db, "INSERT INTO renamed(text) VALUES('last')");
}

/* A backup, looked at with the modules. */
static void copy(sqlite3 *db, const char *name) {
    sqlite3 *to;
    sqlite3_backup *backup;
    int code = sqlite3_open(name, &to);
    assert(code == SQLITE_OK);
    register_all(to);
    backup = sqlite3_backup_init(to, "main", db, "main");
    code = backup == NULL ? sqlite3_errcode(to) : sqlite3_backup_step(backup, -1);
    sqlite3_backup_finish(backup);
    printf("backup to %s: %d\n", name, code);
    rows(to, "others");
    run(to, "SELECT count(*), sum(n) FROM renamed, s; INSERT INTO others(text) VALUES('more'); SELECT count(*) FROM "
            "others");
    sqlite3_close(to);
}

int main(void) {
    sqlite3 *db = open_database(), *other;
    run(db, "CREATE VIRTUAL TABLE x USING note");
    run(db, "SELECT * FROM x");
    run(db, "PRAGMA integrity_check");
    register_all(db);
    change(db, "note");
    run(db, "DROP TABLE renamed; DROP TABLE t");
    schema(db);
    change(db, "late");
    run(db, "CREATE VIRTUAL TABLE s USING span(3, 5)");
    run(db, "SELECT n FROM s; SELECT sum(n) FROM s JOIN t ON 1");
    run(db, "CREATE VIRTUAL TABLE wrong USING span(3)");
    run(db, "CREATE VIRTUAL TABLE wrong USING note(fails)");
    run(db, "CREATE VIRTUAL TABLE wrong USING span_of(3, 4)");
    run(db, "CREATE VIRTUAL TABLE wrong USING absent");
    run(db, "INSERT INTO s VALUES(1)");
    run(db,
        "BEGIN; CREATE VIRTUAL TABLE marks USING note(marks); PRAGMA user_version; PRAGMA application_id; ROLLBACK");
    run(db, "PRAGMA user_version; CREATE VIRTUAL TABLE marks USING note(marks); PRAGMA user_version");
    run(db, "PRAGMA application_id; DROP TABLE marks");
    schema(db);
    run(db, "SELECT n FROM span_of(1, 3); SELECT count(*) FROM span_of(1, 100), t");
    run(db, "SELECT n FROM span_of WHERE a=2 AND b=3");
    run(db, "CREATE VIRTUAL TABLE temp.here USING span(7, 8); SELECT * FROM here; DROP TABLE here");
    run(db, "PRAGMA integrity_check");
    run(db, "CREATE VIRTUAL TABLE found USING fts4(content=renamed); INSERT INTO found(found) VALUES('rebuild')");
    run(db, "SELECT count(*) FROM found WHERE found MATCH 'two OR one OR three'");
    sqlite3_close(db);

    /* Opened again: first without the modules. */
    db = open_database();
    run(db, "SELECT count(*) FROM found_docsize");
    run(db, "SELECT count(*) FROM renamed_rows");
    run(db, "SELECT * FROM renamed");
    run(db, "INSERT INTO renamed(text) VALUES('none')");
    run(db, "DROP TABLE renamed");
    run(db, "SELECT * FROM s");
    schema(db);
    register_all(db);
    run(db, "SELECT count(*) FROM found WHERE found MATCH 'two OR one OR three'; DROP TABLE found");
    rows(db, "renamed");
    run(db, "SELECT n FROM s");
    /* A second connection changes the schema, and one without the modules sees it. */
    other = open_database();
    register_all(other);
    run(other, "SELECT count(*) FROM renamed; CREATE VIRTUAL TABLE theirs USING note; INSERT INTO theirs(text) "
               "VALUES('theirs')");
    rows(db, "theirs");
    run(db, "SELECT n FROM s; INSERT INTO theirs(text) VALUES('ours')");
    rows(other, "theirs");
    run(other, "ALTER TABLE theirs RENAME TO others");
    rows(db, "others");
    copy(db, "copy.db");
    copy(db, ":memory:");
    run(db, "DROP TABLE others");
    run(other, "SELECT * FROM others");
    schema(other);
    /* What is called, and when. */
    logs = 1;
    run(db, "CREATE VIRTUAL TABLE z USING plain");
    run(db, "BEGIN; INSERT INTO z(text) VALUES('c'); SAVEPOINT p; INSERT INTO z(text) VALUES('d'); ROLLBACK TO p; "
            "RELEASE p;"
            "UPDATE z SET text=text||'!'; INSERT INTO z(text) VALUES('e'),('bad')");
    run(db, "COMMIT; DROP TABLE z; CREATE VIRTUAL TABLE z USING note");
    run(db, "INSERT INTO z(text) VALUES('a')");
    run(db, "BEGIN; INSERT INTO z(text) VALUES('b'); COMMIT");
    run(db, "BEGIN; INSERT INTO z(text) VALUES('b'); ROLLBACK");
    run(db, "DROP TABLE z; CREATE VIRTUAL TABLE z USING note; SELECT 1");
    logs = 0;
    sqlite3_close(db);
    db = open_database();
    register_all(db);
    run(db, "INSERT INTO z(text) VALUES('a statement is kept')");
    logs = 1;
    printf("close\n");
    sqlite3_close_v2(db);
    printf("closed\n");
    logs = 0;
    run(other, "VACUUM");
    rows(other, "renamed");
    run(other, "DROP TABLE s; DROP TABLE renamed; SELECT name FROM sqlite_schema ORDER BY 1");
    sqlite3_close(other);
    return 0;
}
