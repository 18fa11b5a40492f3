/* Changes of an attached database while SQLite's n-th allocation fails, for each n until there is none. A statement
** that fails has changed nothing. The transaction that it stands in has all that it had, or is rolled back whole. */
#include "failing_memory.h"
#include <stdio.h>

static int number(void *content, int count, char **values, char **names) {
    (void)names;
    return count == 1 && sscanf(values[0], "%d", (int *)content) == 1 ? 0 : 1;
}

static int rows(sqlite3 *db) {
    int value = -1;
    sqlite3_exec(db, "SELECT coalesce(sum(y), 0) + 1000 * count(*) FROM other.u", number, &value, NULL);
    return value;
}

/* Whether the n-th allocation of the statement was reached; *wrong counts what it did although it failed. */
static int run(sqlite3 *db, const char *statement, int inside, long n, int *wrong) {
    int code, before, reached;
    sqlite3_exec(db, "DELETE FROM other.u; INSERT INTO other.u VALUES (1, 2), (3, 4), (5, 6)", NULL, NULL, NULL);
    if (inside) sqlite3_exec(db, "BEGIN; INSERT INTO other.u VALUES (9, 9)", NULL, NULL, NULL);
    before = rows(db);
    allocations_left = n;
    code = sqlite3_exec(db, statement, NULL, NULL, NULL);
    reached = allocations_left < 0;
    allocations_left = -1;
    if (!inside || !sqlite3_get_autocommit(db)) *wrong += (code != SQLITE_OK) != (rows(db) == before);
    if (!sqlite3_get_autocommit(db)) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return reached;
}

int main(void) {
    static const char *const statements[] = {"UPDATE other.u SET y = y + 1",
                                             "INSERT INTO other.u SELECT x + 100, 1 FROM other.u",
                                             "DELETE FROM other.u WHERE x > 1", "INSERT INTO other.u VALUES (50, 1)",
                                             "UPDATE other.u SET y = y + 1 RETURNING y"};
    sqlite3 *db;
    memory_may_fail();
    if (sqlite3_open("data.db", &db) != SQLITE_OK) return 1;
    sqlite3_exec(db,
                 "ATTACH 'other.db' AS other; PRAGMA other.synchronous = OFF; CREATE TABLE other.u(x PRIMARY KEY, y); "
                 "CREATE TABLE other.l(a);"
                 "CREATE TRIGGER other.g AFTER UPDATE ON u BEGIN INSERT INTO l VALUES (1); END",
                 NULL, NULL, NULL);
    for (int inside = 0; inside < 2; inside++) {
        for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
            int wrong = 0, missed = 0;
            for (long n = 0; missed < 4; n++) missed += !run(db, statements[i], inside, n, &wrong);
            printf("%d %s: wrong %d\n", inside, statements[i], wrong);
        }
    }
    sqlite3_close(db);
    return 0;
}
