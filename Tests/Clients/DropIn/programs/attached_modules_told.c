/*
** What a program tells FTS5 and R-Tree of its connection holds for the tables of attached stores: tokenizers and
** functions, before and after the ATTACH, and shapes to look for. What it prints is the same natively.
*/
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int row(void *unused, int count, char **values, char **names) {
    (void)unused;
    (void)names;
    for (int i = 0; i < count; i++) printf("%s%s", i > 0 ? "|" : "  ", values[i] == NULL ? "NULL" : values[i]);
    printf("\n");
    return 0;
}

static void run(sqlite3 *db, const char *sql) {
    char *message = NULL;
    int code;
    printf("%s\n", sql);
    code = sqlite3_exec(db, sql, row, NULL, &message);
    if (code != SQLITE_OK) printf("  %d %s\n", code, message == NULL ? "" : message);
    sqlite3_free(message);
}

/* A tokenizer whose tokens are the letters. */
static int letters_create(void *context, const char **arguments, int count, Fts5Tokenizer **out) {
    (void)arguments;
    (void)count;
    *out = context;
    return SQLITE_OK;
}

static void letters_delete(Fts5Tokenizer *tokenizer) {
    (void)tokenizer;
}

static int letters(Fts5Tokenizer *tokenizer, void *context, int flags, const char *text, int size,
                   int (*token)(void *, int, const char *, int, int, int)) {
    (void)tokenizer;
    (void)flags;
    for (int i = 0; i < size; i++) {
        int code = text[i] == ' ' ? SQLITE_OK : token(context, 0, text + i, 1, i, i + 1);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}

static void add_tokenizer(fts5_api *api, const char *name) {
    static fts5_tokenizer methods = {letters_create, letters_delete, letters};
    static int something;
    printf("tokenizer %s: %d\n", name, api->xCreateTokenizer(api, name, &something, &methods, NULL));
}

static void phrases(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context, int count,
                    sqlite3_value **values) {
    int hits = 0;
    (void)values;
    (void)api->xInstCount(fts, &hits);
    sqlite3_result_int64(context,
                         10000 * count + 100 * hits + api->xPhraseCount(fts) + (int)api->xRowid(fts) * 1000000);
}

static fts5_api *fts5_of(sqlite3 *db) {
    fts5_api *api = NULL;
    sqlite3_stmt *statement = NULL;
    (void)sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &statement, NULL);
    (void)sqlite3_bind_pointer(statement, 1, &api, "fts5_api_ptr", NULL);
    (void)sqlite3_step(statement);
    (void)sqlite3_finalize(statement);
    return api;
}

static int near(sqlite3_rtree_query_info *info) {
    const double limit = info->aParam[0];
    info->eWithin = info->aCoord[0] > limit ? NOT_WITHIN : PARTLY_WITHIN;
    info->rScore = 1;
    return SQLITE_OK;
}

static int below(sqlite3_rtree_geometry *geometry, int count, sqlite3_rtree_dbl *sides, int *result) {
    (void)count;
    *result = sides[0] <= geometry->aParam[0];
    return SQLITE_OK;
}

static void story(const char *main) {
    sqlite3 *db = NULL;
    fts5_api *api;
    printf("---- %s\n", strchr(main, '?') == NULL ? "main" : "native");
    remove("x.db");
    remove("x.db-lock");
    if (sqlite3_open_v2(main, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, NULL) != SQLITE_OK)
        exit(1);
    api = fts5_of(db);
    add_tokenizer(api, "before");
    run(db, "ATTACH 'x.db' AS x");
    run(db, "CREATE VIRTUAL TABLE x.a USING fts5(t, tokenize=before)");
    run(db, "CREATE VIRTUAL TABLE x.b USING fts5(t, tokenize='after')");
    add_tokenizer(api, "after");
    run(db, "CREATE VIRTUAL TABLE x.b USING fts5(t, tokenize='after')");
    run(db, "INSERT INTO x.a VALUES ('dog cat'),('eel')");
    run(db, "INSERT INTO x.b SELECT t FROM x.a");
    run(db, "SELECT rowid, t FROM x.a WHERE a MATCH 'e OR d'");
    run(db, "SELECT rowid, highlight(b,0,'[',']') FROM x.b('e OR d') ORDER BY rank");
    run(db, "SELECT phrases(b) FROM x.b('e OR d')");
    printf("function: %d\n", api->xCreateFunction(api, "phrases", NULL, phrases, NULL));
    run(db, "SELECT phrases(b), phrases(b,1) FROM x.b('e OR d')");
    run(db, "CREATE TABLE x.kept AS SELECT phrases(a) p FROM a WHERE a MATCH 'd'");
    run(db, "INSERT INTO x.kept SELECT phrases(b,'two') FROM x.b('c')");
    run(db, "SELECT * FROM x.kept");
    run(db, "SELECT a.rowid, phrases(b) FROM x.a JOIN x.b ON b.rowid=a.rowid WHERE b MATCH 'e' AND a MATCH 'l'");
    run(db, "INSERT INTO x.b(b,rank) VALUES ('rank','phrases()')");
    run(db, "SELECT rowid, rank FROM x.b('e OR d') ORDER BY rank");
    run(db, "SELECT rowid, rank FROM x.b WHERE b MATCH 'e OR d' AND rank MATCH 'phrases(7)' ORDER BY rank DESC");
    (void)sqlite3_rtree_query_callback(db, "near", near, NULL, NULL);
    (void)sqlite3_rtree_geometry_callback(db, "below", below, NULL);
    run(db, "CREATE VIRTUAL TABLE x.r USING rtree(id,x0,x1)");
    run(db, "INSERT INTO x.r VALUES (1,1,1),(2,5,5),(3,9,9)");
    run(db, "SELECT id FROM x.r WHERE id MATCH near(6)");
    run(db, "SELECT id FROM x.r WHERE id MATCH below(8) AND x0>2");
    run(db, "SELECT id FROM x.r WHERE id MATCH NULL");
    run(db, "SELECT id FROM x.r WHERE id MATCH 5");
    run(db, "DELETE FROM x.r WHERE id MATCH near(6)");
    run(db, "SELECT id FROM x.r");
    run(db, "DETACH x");
    run(db, "ATTACH 'x.db' AS y");
    run(db, "SELECT rowid FROM y.b('l')");
    (void)sqlite3_close(db);
    if (sqlite3_open_v2(main, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, NULL) != SQLITE_OK) exit(1);
    add_tokenizer(fts5_of(db), "before");
    run(db, "ATTACH 'x.db' AS x");
    run(db, "SELECT rowid FROM x.a('l')");
    run(db, "SELECT id FROM x.r");
    run(db, "INSERT INTO x.r VALUES (7,1,1)");
    add_tokenizer(fts5_of(db), "after");
    run(db, "SELECT rowid FROM x.b('l')");
    run(db, "INSERT INTO x.b VALUES ('late')");
    run(db, "SELECT rowid FROM x.b('l')");
    (void)sqlite3_close(db);
}

int main(void) {
    story("main.db");
    story("file:native.db?engine=sqlite");
    return 0;
}
