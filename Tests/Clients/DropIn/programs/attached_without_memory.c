/* Statements on an attached database while SQLite's n-th allocation fails, for each n until there is none. What ends
** well has all its rows, and has changed what it should. No transaction is left open. The schema is another one before
** every second try, so that what was kept prepared is not of use. */
#include "failing_memory.h"

#include <stdio.h>
#include <string.h>

static int append(void *content, int count, char **values, char **names) {
    (void)names;
    for (int i = 0; i < count; i++) strncat(content, values[i] == NULL ? "-" : values[i], 200);
    return 0;
}

int main(void) {
    static const char *const statements[] = {
        "SELECT x, y FROM other.u WHERE y > 1 ORDER BY y", "SELECT count(*), max(y) FROM other.u",
        "SELECT a.x FROM other.u a JOIN other.u b ON b.y = a.x + 1", "SELECT * FROM other.v ORDER BY 1",
        "UPDATE other.u SET y = 9; SELECT sum(y) FROM other.u"};
    static char want[4000], got[4000];
    sqlite3 *db;
    memory_may_fail();
    if (sqlite3_open("data.db", &db) != SQLITE_OK) return 1;
    sqlite3_exec(db,
                 "ATTACH 'other.db' AS other; CREATE TABLE other.u(x PRIMARY KEY, y);"
                 "CREATE VIEW other.v AS SELECT x FROM u; INSERT INTO other.u VALUES (1, 2), (3, 4), (5, 6)",
                 NULL, NULL, NULL);
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        int open = 0, wrong = 0, reached = 0;
        want[0] = '\0';
        if (sqlite3_exec(db, statements[i], append, want, NULL) != SQLITE_OK) printf("%s\n", sqlite3_errmsg(db));
        for (long n = 0; reached < 4; n++) {
            int code;
            got[0] = '\0';
            sqlite3_exec(db, "UPDATE other.u SET y = x + 1", NULL, NULL, NULL);
            if (n % 2 != 0) sqlite3_exec(db, "CREATE TABLE other.z(a); DROP TABLE other.z", NULL, NULL, NULL);
            allocations_left = n;
            code = sqlite3_exec(db, statements[i], append, got, NULL);
            reached += allocations_left >= 0 && n % 2 != 0;
            allocations_left = -1;
            open += !sqlite3_get_autocommit(db);
            if (!sqlite3_get_autocommit(db)) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
            wrong += code == SQLITE_OK && strcmp(got, want) != 0;
        }
        printf("%s: transactions left %d, wrong %d\n", statements[i], open, wrong);
    }
    sqlite3_close(db);
    return 0;
}
