/* A C program on the installed library: SQL on a store, through the public header alone. */
#include <rootstock.h>
#include <stdio.h>

static int print_row(void *unused, int count, char **values, char **names) {
    (void)unused;
    (void)names;
    for (int i = 0; i < count; i++) printf("%s%s", i ? "|" : "", values[i] ? values[i] : "");
    printf("\n");
    return 0;
}

/* Each statement goes through rootstock_rewrite, and SQLite runs what comes back. */
static int run(sqlite3 *db, const char *sql) {
    int result = SQLITE_OK;
    for (const char *tail; result == SQLITE_OK && *sql; sql = tail) {
        char *rewritten = NULL, *message = NULL;
        result = rootstock_rewrite(db, sql, -1, &rewritten, &tail, &message);
        if (result == SQLITE_OK) {
            char *own = rewritten ? rewritten : sqlite3_mprintf("%.*s", (int)(tail - sql), sql);
            result = sqlite3_exec(db, own, print_row, NULL, &message);
            sqlite3_free(own);
        }
        if (result != SQLITE_OK) fprintf(stderr, "%s\n", message);
        sqlite3_free(message);
    }
    return result;
}

int main(int count, char **arguments) {
    sqlite3 *db = NULL;
    char *message = NULL;
    int result = count == 2 ? sqlite3_open(":memory:", &db) : SQLITE_MISUSE;
    if (result == SQLITE_OK) result = rootstock_open(db, arguments[1], "lmdb", NULL, NULL, &message);
    if (result != SQLITE_OK) fprintf(stderr, "%s\n", message ? message : sqlite3_errstr(result));
    sqlite3_free(message);
    if (result == SQLITE_OK)
        result = run(db, "CREATE TABLE IF NOT EXISTS book (isbn TEXT PRIMARY KEY, title TEXT NOT NULL);"
                         "INSERT INTO book VALUES ('1', 'Solaris') ON CONFLICT DO NOTHING;"
                         "SELECT isbn, title FROM book");
    sqlite3_close(db);
    return result != SQLITE_OK;
}
