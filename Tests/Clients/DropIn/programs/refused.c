/*
** refused.c - what a connection is left with by a statement that another writer, an older snapshot or a foreign key
** refuses: codes, the transaction's state, counts.
*/
#include <sqlite3.h>
#include <stdio.h>

static sqlite3 *one, *two;

static void tell(sqlite3 *db, const char *sql) {
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &s, NULL), rows = 0, extended;
    if (code == SQLITE_OK)
        while ((code = sqlite3_step(s)) == SQLITE_ROW) rows++;
    extended = sqlite3_extended_errcode(db);
    sqlite3_finalize(s);
    printf("%s %s: %d %d, rows %d, autocommit %d, state %d, changes %d of %d\n", db == one ? "one" : "two", sql, code,
           extended, rows, sqlite3_get_autocommit(db), sqlite3_txn_state(db, "main"), sqlite3_changes(db),
           sqlite3_total_changes(db));
}

static void busy(void) {
    static const char *const writes[] = {"INSERT INTO p VALUES (8, 8)", "DELETE FROM p WHERE x = 1",
                                         "UPDATE p SET d = 0",          "CREATE TABLE later(a)",
                                         "PRAGMA user_version = 2",     "DELETE FROM p"};
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        tell(two, "BEGIN IMMEDIATE");
        tell(one, writes[i]);
        tell(one, "BEGIN");
        tell(one, writes[i]);
        tell(one, "SELECT * FROM p");
        tell(one, writes[i]);
        tell(one, "BEGIN IMMEDIATE");
        tell(two, "UPDATE p SET d = d + 1");
        tell(two, "COMMIT");
        tell(one, writes[i]);
        tell(one, "BEGIN IMMEDIATE");
        tell(one, "ROLLBACK");
    }
}

/* Waits for nobody: the snapshot only grows older. */
static void stale(const char *begin, const char *query) {
    sqlite3_stmt *s = NULL;
    if (begin != NULL) tell(one, begin);
    (void)sqlite3_prepare_v2(one, query, -1, &s, NULL);
    printf("%s: %d\n", query, sqlite3_step(s));
    tell(two, "UPDATE p SET d = d + 1");
    tell(one, "BEGIN IMMEDIATE");
    tell(one, "SAVEPOINT s");
    tell(one, "BEGIN IMMEDIATE");
    tell(one, "UPDATE p SET d = 0");
    sqlite3_reset(s);
    tell(one, "BEGIN IMMEDIATE");
    tell(one, "ROLLBACK");
    tell(one, "BEGIN IMMEDIATE");
    tell(one, "ROLLBACK");
    sqlite3_finalize(s);
}

static void violate(const char *begin) {
    static const char *const changes[] = {"UPDATE p SET x = x + 10",
                                          "DELETE FROM p",
                                          "DELETE FROM p WHERE x = 1",
                                          "INSERT INTO c VALUES (5, 9)",
                                          "INSERT INTO c VALUES (5, 1), (6, 9)",
                                          "UPDATE c SET z = 8",
                                          "INSERT INTO l VALUES (1, 77)",
                                          "DELETE FROM p RETURNING x",
                                          "INSERT INTO c SELECT x + 20, 99 FROM p",
                                          "UPDATE p SET d = 5",
                                          "INSERT OR FAIL INTO c VALUES (7, 1), (8, 9)",
                                          "DELETE FROM p WHERE x = 3",
                                          "DELETE FROM l"};
    if (begin != NULL) tell(one, begin);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) tell(one, changes[i]);
    tell(one, "INSERT INTO l VALUES (2, 78)");
    if (begin != NULL) tell(one, "COMMIT");
    if (begin != NULL) tell(one, "ROLLBACK");
}

int main(void) {
    if (sqlite3_open("data.db", &one) != SQLITE_OK || sqlite3_open("data.db", &two) != SQLITE_OK) return 1;
    tell(one, "PRAGMA journal_mode = WAL");
    tell(one, "PRAGMA foreign_keys = ON");
    tell(one, "CREATE TABLE p(x INTEGER PRIMARY KEY, d)");
    tell(one, "CREATE TABLE c(id INTEGER PRIMARY KEY, z REFERENCES p)");
    tell(one, "CREATE TABLE k(id INTEGER PRIMARY KEY, z REFERENCES p ON DELETE CASCADE)");
    tell(one, "CREATE TABLE l(id INTEGER PRIMARY KEY, z REFERENCES p DEFERRABLE INITIALLY DEFERRED)");
    tell(one, "INSERT INTO p VALUES (1, 1), (2, 2), (3, 3)");
    tell(one, "INSERT INTO c VALUES (1, 1), (3, 3)");
    tell(one, "INSERT INTO k VALUES (1, 1), (2, 2), (3, 3)");
    violate(NULL);
    violate("BEGIN");
    violate("SAVEPOINT s");
    tell(two, "SELECT * FROM p");
    busy();
    stale(NULL, "SELECT x FROM p");
    stale(NULL, "SELECT name FROM sqlite_master");
    stale("BEGIN", "SELECT x FROM p");
    stale("SAVEPOINT s", "PRAGMA user_version");
    printf("%d %d\n", sqlite3_close(one), sqlite3_close(two));
    return 0;
}
