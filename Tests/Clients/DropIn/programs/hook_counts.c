/* How often the commit hook is told, and the counts behind statements that change no row. */
#include <sqlite3.h>
#include <stdio.h>

static sqlite3 *db;
static int commits, rollbacks;

static int commit(void *none) {
    commits++;
    return none != NULL;
}

static void roll_back(void *none) {
    rollbacks += none == NULL;
}

static void run(const char *text) {
    char *message = NULL;
    const int code = sqlite3_exec(db, text, NULL, NULL, &message);
    printf("%s: %d %s\n", text, code, message == NULL ? "" : message);
    sqlite3_free(message);
    printf("  commits %d, rollbacks %d, changes %d of %d, rowid %lld\n", commits, rollbacks, sqlite3_changes(db),
           sqlite3_total_changes(db), sqlite3_last_insert_rowid(db));
}

int main(void) {
    static const char *const texts[] = {
        "CREATE TABLE t(a, b); CREATE INDEX ta ON t(a); INSERT INTO t VALUES(1, 1), (2, 2)",
        "CREATE TEMP TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END",
        "CREATE TEMP TRIGGER h AFTER INSERT ON t BEGIN SELECT 1; END",
        "INSERT INTO t VALUES(3, 3)",
        "DROP TRIGGER g",
        "CREATE TEMP TRIGGER h AFTER INSERT ON t BEGIN SELECT 2; END",
        "CREATE TEMP TRIGGER bad AFTER INSERT ON none BEGIN SELECT 2; END",
        "BEGIN; CREATE TEMP TRIGGER g AFTER UPDATE ON t BEGIN SELECT 1; END; DROP TRIGGER h",
        "COMMIT",
        "BEGIN; DROP TRIGGER g",
        "ROLLBACK",
        "UPDATE t SET b = 5",
        "CREATE TEMP VIEW v AS SELECT 1",
        "CREATE TEMP TABLE n(a)",
        "REINDEX ta",
        "ATTACH 'other.db' AS y",
        "CREATE TABLE y.u(a INTEGER PRIMARY KEY, b)",
        "INSERT INTO y.u VALUES(1, 1), (2, 2), (77, 3)",
        "CREATE TABLE y.w(a)",
        "CREATE INDEX y.ub ON u(b)",
        "ALTER TABLE y.u ADD COLUMN c",
        "CREATE TABLE y.s AS SELECT * FROM u",
        "DELETE FROM u WHERE a < 3",
        "DROP TABLE y.s",
        "CREATE VIEW y.v AS SELECT 1",
        "PRAGMA y.user_version = 4",
        "CREATE TRIGGER y.g AFTER INSERT ON u BEGIN INSERT INTO w VALUES(new.a); END",
        "INSERT INTO u VALUES(NULL, 1, 1)",
        "DROP INDEX y.ub",
        "DELETE FROM u WHERE 0",
        "ANALYZE y",
        "UPDATE t SET b = 6",
        "DROP TRIGGER y.g",
        "BEGIN; INSERT INTO u VALUES(NULL, 1, 1)",
        "ROLLBACK",
        "DETACH y"};
    sqlite3_open("main.db", &db);
    sqlite3_commit_hook(db, commit, NULL);
    sqlite3_rollback_hook(db, roll_back, NULL);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) run(texts[i]);
    printf("%d\n", sqlite3_close(db));
    return 0;
}
