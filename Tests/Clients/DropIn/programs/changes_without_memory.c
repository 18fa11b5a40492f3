/* Statements of their own run while SQLite's n-th allocation fails, or is when they are interrupted, for each n until
** there is none. One that fails leaves nothing: no transaction, no row and no table. */
#include "failing_memory.h"

#include <stdio.h>
#include <string.h>

static sqlite3 *interrupted; /* at that allocation, which does not fail then; or null */

static int fails_or_interrupts(void) {
    const int reached = allocation_fails();
    if (reached && interrupted != NULL) sqlite3_interrupt(interrupted);
    return reached && interrupted == NULL;
}

static int append(void *content, int count, char **values, char **names) {
    (void)names;
    for (int i = 0; i < count; i++) strncat(content, values[i] == NULL ? "-" : values[i], 200);
    return 0;
}

static void read_all(sqlite3 *db, char content[4000]) {
    content[0] = '\0';
    if (sqlite3_exec(db, "SELECT name, sql FROM sqlite_master ORDER BY name", append, content, NULL) != SQLITE_OK ||
        sqlite3_exec(db, "SELECT * FROM u ORDER BY x; SELECT * FROM seen ORDER BY x", append, content, NULL) !=
            SQLITE_OK)
        strncat(content, sqlite3_errmsg(db), 200);
}

int main(void) {
    static const char *const statements[][2] = {
        {"CREATE TABLE made(a UNIQUE, b)", "DROP TABLE made"},
        {"CREATE INDEX made ON u(y, x)", "DROP INDEX made"},
        {"CREATE UNIQUE INDEX made ON seen(x)", "DROP INDEX made"}, /* it fails */
        {"DROP TRIGGER fires", "CREATE TRIGGER fires AFTER INSERT ON u BEGIN INSERT INTO seen VALUES (new.x); END"},
        {"UPDATE u SET y = y + 1, x = x + 1 WHERE y > 1", "UPDATE u SET y = y - 1, x = x - 1 WHERE y > 1"},
    };
    char before[4000], now[4000];
    sqlite3 *db;
    fails = fails_or_interrupts;
    memory_may_fail();
    if (sqlite3_open("data.db", &db) != SQLITE_OK) return 1;
    sqlite3_exec(db,
                 "CREATE TABLE seen(x); CREATE TABLE u(x PRIMARY KEY, y UNIQUE) WITHOUT ROWID;"
                 "CREATE TRIGGER fires AFTER INSERT ON u BEGIN INSERT INTO seen VALUES (new.x); END;"
                 "INSERT INTO u VALUES (1, 2), (3, 4), (5, 6); INSERT INTO seen VALUES (1), (1)",
                 NULL, NULL, NULL);
    read_all(db, before);
    for (size_t k = 0; k < 2 * sizeof statements / sizeof statements[0]; k++) {
        const size_t i = k / 2;
        int open = 0, changed = 0;
        interrupted = k % 2 == 0 ? NULL : db;
        for (long n = 0, reached = 0; !reached; n++) {
            int code;
            allocations_left = n;
            code = sqlite3_exec(db, statements[i][0], NULL, NULL, NULL);
            reached = allocations_left >= 0;
            allocations_left = -1;
            open += !sqlite3_get_autocommit(db);
            if (!sqlite3_get_autocommit(db)) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
            if (code == SQLITE_OK) sqlite3_exec(db, statements[i][1], NULL, NULL, NULL);
            read_all(db, now);
            changed += strcmp(now, before) != 0;
        }
        printf("%s: transactions left %d, contents changed %d\n", statements[i][0], open, changed);
    }
    sqlite3_close(db);
    return 0;
}
