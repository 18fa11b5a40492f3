/* A database is opened while SQLite's n-th allocation fails, for each n until none does. The opening fails or not;
** what it has left answers, and goes. */
#include "failing_memory.h"

#include <stdio.h>

int main(void) {
    int opened = 0, silent = 0;
    memory_may_fail();
    sqlite3_initialize();
    for (long n = 0, code = SQLITE_ERROR, reached = 0; code != SQLITE_OK || !reached; n++) {
        sqlite3 *db = NULL;
        allocations_left = n;
        code = sqlite3_open("data.db", &db);
        reached = allocations_left >= 0;
        allocations_left = -1;
        if (code != SQLITE_OK) {
            sqlite3_close(db);
            continue;
        }
        opened = 1;
        silent += sqlite3_exec(db, "CREATE TABLE IF NOT EXISTS t(a); INSERT INTO t VALUES (1)", NULL, NULL, NULL) !=
                  SQLITE_OK;
        sqlite3_close(db);
    }
    printf("opened %d, of these without an answer %d\n", opened, silent);
    return 0;
}
