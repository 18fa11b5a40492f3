/*
** fuzz_frontdoor.c - libFuzzer target for the front door: any bytes as SQL text.
**
** Invariant tested: rewriting ends, stays inside the text (a copy of exactly its size, without a NUL behind it), goes
** forward by at least a byte a statement, and gives what SQLite prepares or refuses; what came out goes in again
** unchanged, or is refused before and after, so that nobody who rewrites twice runs something else. Nothing is run.
*/
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rootstock.h>

#include "interface/interface.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const schema[] = {
    "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT DEFAULT 'x', c INT CHECK (c > 0), UNIQUE (b, c))",
    "CREATE TABLE w(k TEXT PRIMARY KEY, v REAL DEFAULT (abs(-1)), g AS (v + 1)) WITHOUT ROWID",
    "CREATE TABLE child(a REFERENCES t ON DELETE CASCADE, \"odd name\" INT)",
    "CREATE INDEX i ON t(c) WHERE c > 1",
    "CREATE INDEX e ON t(lower(b))",
    "CREATE VIEW v AS SELECT a, b FROM t",
    "CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO child VALUES (new.a, 1) ON CONFLICT DO NOTHING; END",
    "CREATE TRIGGER q INSTEAD OF UPDATE ON v BEGIN DELETE FROM w WHERE k = new.b; END",
    "CREATE TEMP TABLE other(a, b)",
};

static void must(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "not so: %s\n", what);
    abort();
}

static sqlite3 *open_store(void) {
    static char path[] = "/tmp/rootstock-fuzz-XXXXXX";
    char lock[sizeof path + sizeof "-lock"];
    sqlite3 *db;
    char *message = NULL;
    int descriptor = mkstemp(path);
    must(descriptor >= 0, "a temporary file");
    close(descriptor);
    must(sqlite3_open(":memory:", &db) == SQLITE_OK, "sqlite3_open");
    if (rootstock_open(db, path, "lmdb", "{\"durability\":\"off\"}", NULL, &message) != SQLITE_OK) {
        fprintf(stderr, "%s\n", message);
        abort();
    }
    for (size_t i = 0; i < sizeof schema / sizeof schema[0]; i++) {
        char *text = NULL;
        must(rootstock_rewrite(db, schema[i], -1, &text, NULL, &message) == SQLITE_OK, schema[i]);
        must(sqlite3_exec(db, text == NULL ? schema[i] : text, NULL, NULL, NULL) == SQLITE_OK, sqlite3_errmsg(db));
        sqlite3_free(text);
    }
    unlink(path);
    (void)snprintf(lock, sizeof lock, "%s-lock", path);
    unlink(lock);
    return db;
}

static int check_statement(sqlite3 *db, const char *text, int bytes) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, text, bytes, &statement, NULL);
    must(code != SQLITE_MISUSE && code != SQLITE_INTERNAL && (code & 0xFF) != SQLITE_CORRUPT, sqlite3_errmsg(db));
    sqlite3_finalize(statement);
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static sqlite3 *db;
    char *text, *end, *p;
    if (db == NULL) db = open_store();
    if (size == 0) return 0;
    text = malloc(size);
    if (text == NULL) return 0;
    memcpy(text, data, size);
    end = text + size;
    for (p = text; p < end;) {
        char *made = NULL, *rewritten = NULL, *message = NULL;
        const char *tail = NULL;
        bool known = rst_rewrite_cache_has(rst_connection_of(db), p, end, &made);
        int code = rst_rewrite(rst_connection_of(db), p, (int)(end - p), &rewritten, &tail, &message);
        if (known && (code != SQLITE_OK || tail != end || (made == NULL) != (rewritten == NULL) ||
                      (made != NULL && strcmp(made, rewritten) != 0))) {
            fprintf(stderr, "the cache says of: %.*s\nthat it becomes: %s\nand not: %s\n", (int)(end - p), p,
                    made != NULL ? made : "itself", rewritten != NULL ? rewritten : "not one statement");
            abort();
        }
        sqlite3_free(made);
        must(code == SQLITE_OK || rewritten == NULL, "a refusal without text");
        {
            /* What was remembered of the text just now, or of another one before, changes no answer. */
            char *quick = NULL, *why = NULL;
            const char *behind = NULL;
            int quickly = rootstock_rewrite(db, p, (int)(end - p), &quick, &behind, &why);
            if (quickly != code || (quick == NULL) != (rewritten == NULL) || behind != tail) {
                fprintf(stderr, "remembered otherwise (%d and %d): %.*s\n", code, quickly, (int)(end - p), p);
                abort();
            }
            sqlite3_free(quick);
            sqlite3_free(why);
        }
        if (code == SQLITE_OK && rewritten != NULL) {
            char *again = NULL;
            int prepared = check_statement(db, rewritten, -1);
            if (rootstock_rewrite(db, rewritten, -1, &again, NULL, NULL) == SQLITE_OK && again != NULL &&
                strcmp(again, rewritten) != 0 &&
                (prepared == SQLITE_OK || check_statement(db, again, -1) == SQLITE_OK)) {
                fprintf(stderr, "once:  %s\ntwice: %s\n", rewritten, again);
                abort();
            }
            sqlite3_free(again);
        } else if (code == SQLITE_OK) {
            check_statement(db, p, (int)(tail - p));
        }
        sqlite3_free(rewritten);
        sqlite3_free(message);
        if (tail == NULL || tail <= p) {
            /* Only where nothing is left: blanks, comments, a NUL. */
            must(tail != NULL, "where the statement ends");
            break;
        }
        must(tail <= end, "the end lies in the text");
        p += tail - p;
    }
    free(text);
    return 0;
}
