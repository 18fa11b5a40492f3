/* A database is opened while SQLite's n-th allocation fails, for each n until none does. The opening fails or not;
** what it has left answers, and goes. */
#include <sqlite3.h>
#include <stdio.h>

static sqlite3_mem_methods real;
static long left = -1; /* allocations until the one that fails; negative: none does */

static int fails(void) {
    return left >= 0 && left-- == 0;
}

static void *failing_malloc(int size) {
    return fails() ? NULL : real.xMalloc(size);
}

static void *failing_realloc(void *bytes, int size) {
    return fails() ? NULL : real.xRealloc(bytes, size);
}

int main(void) {
    sqlite3_mem_methods methods;
    int opened = 0, silent = 0;
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real);
    methods = real;
    methods.xMalloc = failing_malloc;
    methods.xRealloc = failing_realloc;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
    sqlite3_initialize();
    for (long n = 0, code = SQLITE_ERROR, reached = 0; code != SQLITE_OK || !reached; n++) {
        sqlite3 *db = NULL;
        left = n;
        code = sqlite3_open("data.db", &db);
        reached = left >= 0;
        left = -1;
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
