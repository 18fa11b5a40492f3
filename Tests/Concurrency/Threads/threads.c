/*
** threads.c - connections of several threads at work on one store: writers, readers, schema changes, VACUUM,
** interrupts.
**
** Usage: threads EXTENSION ENGINE OPTIONS STORE SECONDS SEED. Each statement goes through the front door of the
** loadable extension. Invariants tested: every snapshot shows one sum of the accounts and one number of entries by
** table and by index; a statement ends well, or busy, interrupted or with a schema that has just changed, or says what
** the other threads' schema changes made of it; the check finds nothing, and at the end no memory of SQLite's is left.
** Under a sanitizer (run.sh) its findings count as well.
*/
#define _GNU_SOURCE
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ACCOUNTS = 300, EACH = 1000, TOTAL = ACCOUNTS * EACH, FAILED = -1 };

static const char *extension, *engine, *options, *store;
static uint64_t seed;
static time_t until;
static atomic_long commits, reads, changes, vacuums, interrupts, refused, wrong;

static uint32_t draw(uint64_t *state, uint32_t below) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return (uint32_t)(*state >> 11) % below;
}

static sqlite3 *open_store(void) {
    sqlite3 *db;
    char *message = NULL, *sql = sqlite3_mprintf("SELECT rootstock_open(%Q, %Q, %Q)", store, engine, options);
    sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, NULL);
    sqlite3_enable_load_extension(db, 1);
    int code = sqlite3_load_extension(db, extension, "sqlite3_rootstock_init", &message);
    sqlite3_busy_timeout(db, 10000);
    if (code == SQLITE_OK) code = sqlite3_exec(db, sql, NULL, NULL, &message);
    if (code != SQLITE_OK) {
        fprintf(stderr, "open: %d %s\n", code, message);
        exit(2);
    }
    sqlite3_free(sql);
    return db;
}

static void close_store(sqlite3 *db) {
    if (sqlite3_close(db) == SQLITE_OK) return;
    fprintf(stderr, "close: %s\n", sqlite3_errmsg(db));
    wrong++;
}

/* Runs a statement as it stands; *first gets the first value, 1 for 'ok'. */
static int run_text(sqlite3 *db, const char *text, int64_t *first) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, text, -1, &statement, NULL), rows = 0;
    if (code != SQLITE_OK) return code;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(statement); i++) (void)sqlite3_column_text(statement, i);
        if (rows++ > 0 || first == NULL) continue;
        const char *said = (const char *)sqlite3_column_text(statement, 0);
        *first = said != NULL && strcmp(said, "ok") == 0 ? 1 : sqlite3_column_int64(statement, 0);
    }
    return sqlite3_finalize(statement);
}

/* The same through the front door. */
static int run_code(sqlite3 *db, const char *sql, int64_t *first) {
    sqlite3_stmt *rewrite;
    char *text = NULL;
    int code = sqlite3_prepare_v2(db, "SELECT rootstock_rewrite(?1)", -1, &rewrite, NULL);
    if (code != SQLITE_OK) return code;
    sqlite3_bind_text(rewrite, 1, sql, -1, SQLITE_STATIC);
    if (sqlite3_step(rewrite) == SQLITE_ROW && sqlite3_column_type(rewrite, 0) != SQLITE_NULL)
        text = sqlite3_mprintf("%s", (const char *)sqlite3_column_text(rewrite, 0));
    code = sqlite3_finalize(rewrite);
    if (code == SQLITE_OK) code = run_text(db, text == NULL ? sql : text, first);
    sqlite3_free(text);
    return code;
}

/* Of a statement that meets another thread's schema. */
static int is_expected(int code, const char *message) {
    static const char *const words[] = {"no such table: x",
                                        "no such index: x",
                                        "already exists",
                                        "no such column: \"extra\"",
                                        "duplicate column name",
                                        "UNIQUE constraint failed: xt.b",
                                        "interrupted"};
    code &= 0xFF;
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED || code == SQLITE_SCHEMA || code == SQLITE_INTERRUPT) return 1;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strstr(message, words[i]) != NULL) return 1;
    }
    return 0;
}

/* Whether it ended well. */
static int run(sqlite3 *db, const char *sql, int64_t *first) {
    int code = run_code(db, sql, first);
    if (code == SQLITE_OK) return 1;
    if (is_expected(code, sqlite3_errmsg(db))) {
        refused++;
        return 0;
    }
    fprintf(stderr, "%s: %d %s\n", sql, code, sqlite3_errmsg(db));
    wrong++;
    return 0;
}

static int run_with(sqlite3 *db, const char *format, int a, int b) {
    char sql[300];
    snprintf(sql, sizeof sql, format, a, b);
    return run(db, sql, NULL);
}

static void expect(sqlite3 *db, const char *sql, int64_t expected) {
    int64_t found = FAILED;
    if (!run(db, sql, &found) || found == expected) return;
    fprintf(stderr, "%s: %lld instead of %lld\n", sql, (long long)found, (long long)expected);
    wrong++;
}

static void end_transaction(sqlite3 *db) {
    if (!sqlite3_get_autocommit(db)) (void)run(db, "ROLLBACK", NULL);
}

static int write_entries(sqlite3 *db, uint64_t *state, int from, int to, int amount) {
    int good = run_with(db, "UPDATE a SET v = v - %d WHERE id = %d", amount, from) &&
               run_with(db, "INSERT INTO log(who, what, n) SELECT id, 'entry ' || v, %d FROM a WHERE id / 8 = %d",
                        amount, from / 8);
    if (good && draw(state, 2)) {
        good = run(db, "SAVEPOINT s", NULL) && run_with(db, "UPDATE log SET n = n + %d WHERE who = %d", 1, to) &&
               (draw(state, 2) || run(db, "ROLLBACK TO s", NULL)) && run(db, "RELEASE s", NULL);
    }
    return good && run_with(db, "DELETE FROM log WHERE who = %d AND n %% 3 = %d", to, 0) &&
           run_with(db, "INSERT INTO u(k, c) VALUES ('key %d', %d) ON CONFLICT (k) DO UPDATE SET c = c + 1", to, 1) &&
           run_with(db, "UPDATE a SET v = v + %d WHERE id = %d", amount, to);
}

static void *writer(void *number) {
    uint64_t state = seed * 31 + (uintptr_t)number * 77777 + 1;
    sqlite3 *db = open_store();
    while (time(NULL) < until) {
        if (draw(&state, 40) == 0) {
            close_store(db);
            db = open_store();
        }
        if (!run(db, draw(&state, 3) ? "BEGIN IMMEDIATE" : "BEGIN", NULL)) continue;
        int from = 1 + (int)draw(&state, ACCOUNTS), to = 1 + (int)draw(&state, ACCOUNTS),
            amount = (int)draw(&state, 50);
        if (write_entries(db, &state, from, to, amount)) {
            expect(db, "SELECT sum(v) FROM a", TOTAL);
            if (draw(&state, 8) && run(db, "COMMIT", NULL)) commits++;
        }
        end_transaction(db);
    }
    close_store(db);
    return NULL;
}

static void *reader(void *number) {
    static const char *const queries[] = {
        "SELECT count(*) FROM log l JOIN a ON a.id = l.who WHERE l.n > 5",
        "SELECT count(*) FROM log l JOIN log m ON m.what = l.what WHERE l.who < 20",
        "SELECT who, count(*), max(what) FROM log GROUP BY who ORDER BY who DESC",
        "SELECT * FROM log INDEXED BY log_who WHERE who > 100 ORDER BY who DESC LIMIT 40",
        "SELECT * FROM log WHERE what LIKE 'entry 9%'",
        "SELECT * FROM a WHERE id IN (3, 5, 99, 250)",
        "SELECT count(*) FROM u JOIN a ON k = 'key ' || a.id",
        "SELECT c FROM u ORDER BY k DESC",
    };
    uint64_t state = seed * 17 + (uintptr_t)number * 99991 + 5;
    sqlite3 *db = open_store();
    while (time(NULL) < until) {
        if (draw(&state, 60) == 0) {
            close_store(db);
            db = open_store();
        }
        if (draw(&state, 3) == 0 && run(db, "BEGIN", NULL)) {
            int64_t entries = FAILED;
            expect(db, "SELECT sum(v) FROM a", TOTAL);
            if (run(db, "SELECT count(*) FROM log INDEXED BY log_who WHERE who > 0", &entries)) {
                usleep(draw(&state, 3000));
                expect(db, "SELECT count(*) FROM log NOT INDEXED WHERE who > 0", entries);
            }
            (void)run(db, "COMMIT", NULL);
            end_transaction(db);
        } else {
            (void)run(db, queries[draw(&state, sizeof queries / sizeof queries[0])], NULL);
            expect(db, "SELECT sum(v) FROM (SELECT v FROM a ORDER BY id DESC)", TOTAL);
        }
        reads++;
    }
    close_store(db);
    return NULL;
}

static void *changer(void *number) {
    static const char *const statements[] = {
        "CREATE INDEX IF NOT EXISTS xi ON log(what)",
        "DROP INDEX IF EXISTS xi",
        "CREATE TABLE xt(a, b UNIQUE)",
        "INSERT INTO xt SELECT n, id FROM log",
        "DROP TABLE xt",
        "ALTER TABLE u ADD COLUMN extra DEFAULT 3",
        "ALTER TABLE u DROP COLUMN extra",
        "ANALYZE",
        "REINDEX",
        "CREATE TRIGGER IF NOT EXISTS tg AFTER DELETE ON log BEGIN INSERT INTO u(k, c) VALUES ('t' || old.id, 1) "
        "ON CONFLICT DO NOTHING; END",
        "DROP TRIGGER IF EXISTS tg",
        "DELETE FROM log WHERE id % 2",
    };
    uint64_t state = seed * 13 + (uintptr_t)number * 5 + 9;
    sqlite3 *db = open_store();
    while (time(NULL) < until) {
        if (draw(&state, 6) == 0)
            expect(db, "PRAGMA integrity_check", 1);
        else
            (void)run(db, statements[draw(&state, sizeof statements / sizeof statements[0])], NULL);
        changes++;
        usleep(draw(&state, 20000));
        if (draw(&state, 30) != 0) continue;
        close_store(db);
        db = open_store();
    }
    close_store(db);
    return NULL;
}

static void *vacuumer(void *number) {
    uint64_t state = seed + 3 + (uintptr_t)number;
    while (time(NULL) < until) {
        sqlite3 *db = open_store();
        (void)run(db, "VACUUM", NULL);
        close_store(db);
        vacuums++;
        usleep(50000 + draw(&state, 200000));
    }
    return NULL;
}

static sqlite3 *target;
static atomic_int stopped;
static void *interrupter(void *unused) {
    (void)unused;
    while (!stopped) {
        usleep(3000);
        sqlite3_interrupt(target);
    }
    return NULL;
}

static void *interrupted(void *number) {
    uint64_t state = seed + 99 + (uintptr_t)number;
    pthread_t thread;
    target = open_store();
    if (pthread_create(&thread, NULL, interrupter, NULL) != 0) exit(2);
    while (time(NULL) < until) {
        (void)run(target,
                  draw(&state, 2) ? "UPDATE log SET n = n" : "SELECT count(*) FROM log x, log y WHERE x.n = y.n + 1",
                  NULL);
        interrupts++;
    }
    stopped = 1;
    pthread_join(thread, NULL);
    close_store(target);
    return NULL;
}

int main(int count, char **arguments) {
    static const char *const setup[] = {
        "CREATE TABLE a(id INTEGER PRIMARY KEY, v INT)",
        "CREATE TABLE log(id INTEGER PRIMARY KEY, who INT, what TEXT, n INT)",
        "CREATE INDEX log_who ON log(who, n)",
        "CREATE TABLE u(k TEXT PRIMARY KEY, c) WITHOUT ROWID",
        "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO a SELECT i, 1000 FROM n",
    };
    static void *(*const kinds[])(void *) = {writer, writer,  writer,   reader,     reader,
                                             reader, changer, vacuumer, interrupted};
    enum { THREADS = sizeof kinds / sizeof kinds[0] };
    pthread_t threads[THREADS];
    if (count != 7) {
        fprintf(stderr, "usage: threads EXTENSION ENGINE OPTIONS STORE SECONDS SEED\n");
        return 2;
    }
    extension = arguments[1], engine = arguments[2], options = arguments[3], store = arguments[4];
    seed = strtoull(arguments[6], NULL, 10);
    until = time(NULL) + atoi(arguments[5]);
    sqlite3 *db = open_store();
    for (size_t i = 0; i < sizeof setup / sizeof setup[0]; i++) {
        if (!run(db, setup[i], NULL)) return 2;
    }
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, kinds[i], (void *)(uintptr_t)i) != 0) return 2;
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    expect(db, "PRAGMA integrity_check", 1);
    expect(db, "SELECT sum(v) FROM a", TOTAL);
    close_store(db);
    if (sqlite3_memory_used() != 0) {
        fprintf(stderr, "%lld bytes of SQLite's memory are left\n", (long long)sqlite3_memory_used());
        wrong++;
    }
    printf("threads on %s, seed %llu: %ld commits, %ld reads, %ld schema changes, %ld VACUUMs, %ld interrupted "
           "statements; %ld "
           "refused, %ld wrong\n",
           engine, (unsigned long long)seed, commits, reads, changes, vacuums, interrupts, refused, wrong);
    return wrong != 0;
}
