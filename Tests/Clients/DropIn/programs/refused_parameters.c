/* A statement whose parameters SQLite refuses leaves no memory behind, however often it is prepared. */
#include <sqlite3.h>
#include <stdio.h>

int main(void) {
    static const char *const texts[] = {
        "SELECT 1 FROM c JOIN p ON p.k = c.p WHERE :named > 0 AND c.w > ?900000 AND p.k < ? AND %d",
        "SELECT 1 FROM c JOIN p ON p.k = c.p WHERE :named > 0 AND c.w > ?900000 AND abs(c.w) = ? AND %d",
    };
    sqlite3 *db;
    if (sqlite3_open("data.db", &db) != SQLITE_OK) return 1;
    sqlite3_exec(db,
                 "CREATE TABLE p(k INTEGER PRIMARY KEY); CREATE TABLE c(p INT, w INT); CREATE INDEX c_p ON c(p);"
                 "CREATE INDEX c_w ON c(abs(w))",
                 NULL, NULL, NULL);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sqlite3_int64 before = 0;
        int code = SQLITE_OK;
        for (int n = 0; n < 2000; n++) {
            char text[200]; /* another each time: none is remembered */
            sqlite3_stmt *statement;
            sqlite3_snprintf(sizeof text, text, texts[i], n);
            if (n == 100) before = sqlite3_memory_used();
            code = sqlite3_prepare_v2(db, text, -1, &statement, NULL);
            sqlite3_finalize(statement);
        }
        printf("%d, %s: memory is %s\n", code, sqlite3_errmsg(db),
               sqlite3_memory_used() > before + 50000 ? "kept" : "freed");
    }
    sqlite3_close(db);
    return 0;
}
