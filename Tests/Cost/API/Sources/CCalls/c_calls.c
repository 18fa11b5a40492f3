/* c_calls.c - see c_calls.h. A value is read where it lies, as C programs do. */
#include "c_calls.h"

#include <sqlite3.h>
#include <string.h>

static void take(sqlite3_stmt *select, int64_t *seen) {
    const unsigned char *title;
    *seen += sqlite3_column_int64(select, 0);
    title = sqlite3_column_text(select, 1);
    *seen += sqlite3_column_bytes(select, 1) + title[0];
    *seen += sqlite3_column_double(select, 2) > 10;
}

int c_select(sqlite3_stmt *select, int64_t count, int64_t rows, int64_t *seen) {
    for (int64_t index = 0; index < count; index++) {
        int code = sqlite3_bind_int64(select, 1, index % rows + 1);
        if (code != SQLITE_OK) return code;
        code = sqlite3_step(select);
        if (code != SQLITE_ROW) return code;
        take(select, seen);
        code = sqlite3_reset(select);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}

int c_scan(sqlite3_stmt *select, int64_t count, int64_t *seen) {
    for (int64_t index = 0; index < count; index++) {
        int code;
        while ((code = sqlite3_step(select)) == SQLITE_ROW) take(select, seen);
        if (code != SQLITE_DONE) return code;
        code = sqlite3_reset(select);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}

static int run(sqlite3_stmt *statement) {
    int code = sqlite3_step(statement);
    int reset = sqlite3_reset(statement);
    return code == SQLITE_DONE ? reset : code;
}

int c_insert(sqlite3_stmt *insert, sqlite3_stmt *begin, sqlite3_stmt *commit, const char *const *titles,
             int64_t count) {
    int code;
    for (int64_t index = 0; index < count; index++) {
        const char *title = titles[index % 16];
        if (index % 1000 == 0 && (code = run(begin)) != SQLITE_OK) return code;
        if ((code = sqlite3_bind_int64(insert, 1, index + 1)) != SQLITE_OK ||
            (code = sqlite3_bind_text(insert, 2, title, (int)strlen(title), SQLITE_TRANSIENT)) != SQLITE_OK ||
            (code = sqlite3_bind_double(insert, 3, (double)index / 4)) != SQLITE_OK ||
            (code = run(insert)) != SQLITE_OK)
            return code;
        if (index % 1000 == 999 && (code = run(commit)) != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}
