/*
** locks.c - transactions of several connections, step by step, on a store and on plain SQLite in WAL mode at once.
**
** Usage: locks FOLDER ENGINE SECONDS SEED [PROGRAMS]. A program of random steps is drawn from each seed: BEGIN of each
** kind, savepoints, reads held open, single and mass changes, kept statements, and in some programs schema changes, or
** without the front door, by two to four connections without a busy timeout. After each step both sides have to give
** the same code, the same rows, the same changes(), and to be in a transaction or not; and to a further connection,
** which looks who holds the write lock and what is committed, both have to look the same. A program that differs is
** shortened and printed. RandomIsolationTests does the same with fewer kinds of statements, and with processes.
**
** Left out, as RandomIsolationTests says it: rows of a statement whose connection wrote meanwhile, what follows a
** commit of nothing, and when plain SQLite notices another connection's schema change; and a change with RETURNING that
** has not given all of its rows, outside of a transaction and at its end (Vendor-notes/sqlite.md).
*/
#define _GNU_SOURCE
#include "programs.h"

#include <rootstock.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TEXT = 6000 };

typedef struct outcome {
    int code;
    bool within; /* a transaction */
    char rows[TEXT], words[200];
} outcome;

typedef struct side {
    sqlite3 *db;
    bool store, plain; /* the front door is left out where SQLite takes the text itself */
    sqlite3_stmt *slots[SLOTS], *kept[KEPT];
    unsigned long long kept_state[KEPT];
} side;

typedef struct pair {
    side sides[2];
    bool loose[SLOTS], held[SLOTS], behind, stale;
    bool skewed; /* the store has inserted what plain SQLite refused: the last rowids differ */
} pair;

static const char *folder, *engine;

/* ---- one side ---- */

static void say(outcome *out, side *s, int code) {
    int inner = s->store ? rootstock_last_error(s->db) : 0;
    out->code = inner != 0 ? inner : code;
    snprintf(out->words, sizeof out->words, "%s", sqlite3_errmsg(s->db));
}

static bool is_plain(const char *sql) {
    return !starts(sql, "INSERT") && !starts(sql, "CREATE") && !starts(sql, "DROP") && !starts(sql, "ALTER") &&
           strstr(sql, "RETURNING") == NULL;
}

static int prepare(side *s, const char *sql, sqlite3_stmt **statement, outcome *out) {
    char *text = NULL, *message = NULL;
    int code =
        s->store && !(s->plain && is_plain(sql)) ? rootstock_rewrite(s->db, sql, -1, &text, NULL, &message) : SQLITE_OK;
    *statement = NULL;
    if (code != SQLITE_OK) {
        out->code = code;
        snprintf(out->words, sizeof out->words, "%s", message == NULL ? "" : message);
    } else {
        code = sqlite3_prepare_v2(s->db, text != NULL ? text : sql, -1, statement, NULL);
        if (code != SQLITE_OK) say(out, s, sqlite3_extended_errcode(s->db));
    }
    sqlite3_free(text);
    sqlite3_free(message);
    return code;
}

static void append_row(outcome *out, sqlite3_stmt *statement) {
    size_t used = strlen(out->rows);
    for (int i = 0; i < sqlite3_column_count(statement) && used + 2 < sizeof out->rows; i++) {
        const char *text = (const char *)sqlite3_column_text(statement, i);
        size_t room = sizeof out->rows - used - 1;
        int wanted = snprintf(out->rows + used, room, "%s%s", i > 0 ? "|" : "", text == NULL ? "NULL" : text);
        used += (size_t)wanted < room ? (size_t)wanted : room - 1;
    }
    if (used + 2 < sizeof out->rows) strcat(out->rows, ";");
}

/* Steps until `count` rows were seen, or to the end: SQLITE_ROW, SQLITE_DONE or a failure. */
static int go(side *s, sqlite3_stmt *statement, int count, outcome *out) {
    for (int i = 0; i < count; i++) {
        int code = sqlite3_step(statement);
        if (code == SQLITE_ROW) {
            append_row(out, statement);
            continue;
        }
        int ended = sqlite3_reset(statement);
        if (code == SQLITE_DONE) return out->code = SQLITE_DONE;
        (void)ended;
        say(out, s, sqlite3_extended_errcode(s->db));
        return out->code;
    }
    return out->code = SQLITE_ROW;
}

static void run(side *s, const char *sql, outcome *out) {
    sqlite3_stmt *statement;
    memset(out, 0, sizeof *out);
    if (prepare(s, sql, &statement, out) == SQLITE_OK) go(s, statement, 1 << 30, out);
    sqlite3_finalize(statement);
    out->within = !sqlite3_get_autocommit(s->db);
}

static void close_slot(side *s, int slot) {
    sqlite3_finalize(s->slots[slot]);
    s->slots[slot] = NULL;
}

/* A statement that is prepared once and run again and again. */
static void use(side *s, int which, int value, outcome *out) {
    unsigned long long now = 0;
    memset(out, 0, sizeof *out);
    if (s->store) {
        (void)rootstock_schema_state(s->db, &now);
        if (s->kept_state[which] != now) {
            sqlite3_finalize(s->kept[which]);
            s->kept[which] = NULL;
            s->kept_state[which] = now;
        }
    }
    if (s->kept[which] != NULL || prepare(s, kept_texts[which], &s->kept[which], out) == SQLITE_OK) {
        sqlite3_bind_int(s->kept[which], 1, value);
        go(s, s->kept[which], 1 << 30, out);
    }
    out->within = !sqlite3_get_autocommit(s->db);
}

static void act(side *s, const step *what, bool loose, outcome *out) {
    memset(out, 0, sizeof *out);
    switch (what->action) {
    case RUN: run(s, what->sql, out); return;
    case USE: use(s, what->slot, what->count, out); return;
    case OPEN:
        close_slot(s, what->slot);
        prepare(s, what->sql, &s->slots[what->slot], out);
        break;
    case STEP:
        if (s->slots[what->slot] == NULL) break;
        if (go(s, s->slots[what->slot], loose ? 1000 : what->count, out) != SQLITE_ROW) close_slot(s, what->slot);
        if (loose) out->rows[0] = 0;
        break;
    case CLOSE: close_slot(s, what->slot);
    }
    out->within = !sqlite3_get_autocommit(s->db);
}

static void open_side(side *s, bool store) {
    char path[300], *message = NULL;
    int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    memset(s, 0, sizeof *s);
    s->store = store;
    snprintf(path, sizeof path, "%s/%s", folder, store ? "store" : "native");
    int code = sqlite3_open_v2(store ? ":memory:" : path, &s->db, flags, NULL);
    if (code == SQLITE_OK && store)
        code = rootstock_open(s->db, path, engine, "{\"durability\":\"off\"}", NULL, &message);
    else if (code == SQLITE_OK)
        code = sqlite3_exec(s->db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF", NULL, NULL, &message);
    if (code == SQLITE_OK) return;
    fprintf(stderr, "open: %d %s\n", code, message);
    exit(2);
}

static void close_side(side *s) {
    for (int i = 0; i < SLOTS; i++) close_slot(s, i);
    for (int i = 0; i < KEPT; i++) sqlite3_finalize(s->kept[i]);
    if (sqlite3_close(s->db) != SQLITE_OK) {
        fprintf(stderr, "close: %s\n", sqlite3_errmsg(s->db));
        exit(2);
    }
}

static bool is_schema(const char *sql) {
    return starts(sql, "CREATE") || starts(sql, "DROP") || starts(sql, "ALTER");
}
static bool same(const outcome *a, const outcome *b) {
    return a->code == b->code && a->within == b->within && strcmp(a->rows, b->rows) == 0;
}

static void show_outcome(const char *name, const outcome *o) {
    printf("    %s %d (%s) %s%s\n", name, o->code, o->words, o->rows, o->within ? " in transaction" : "");
}

static void clean(void) {
    static const char *const names[] = {"native",     "native-wal", "native-shm", "store",
                                        "store-lock", "store-wal",  "store-shm"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[300];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
}

static const char *const fill[] = {
    "CREATE TABLE t(a INTEGER PRIMARY KEY, b INT)",
    "CREATE INDEX tb ON t(b)",
    "CREATE TABLE w(k TEXT PRIMARY KEY, v INT) WITHOUT ROWID",
    "CREATE TABLE u(a INTEGER PRIMARY KEY, b INT CHECK (b >= 0), c TEXT)",
    "CREATE TABLE g(a INT)",
    "CREATE TABLE l(a)",
    "CREATE TRIGGER gi AFTER INSERT ON g BEGIN INSERT INTO l VALUES (new.a); END",
    "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3), (5, 1)",
    "INSERT INTO w VALUES ('k1', 1), ('k2', 2)",
    "INSERT INTO u SELECT value, value % 7, 'c' FROM "
    "json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,"
    "26,27,28,29,30,31,32,33,34,35,36,37,38,39,40]')",
};

static long compared, held, busy;

/* The last commit, as another connection sees it. */
typedef struct committed {
    outcome version, content;
} committed;

/* Has plain SQLite committed what had changed nothing: was taken back, or was there already? To other connections'
** snapshots it is a commit all the same; to those of a store it is none. */
static bool commits_nothing(side *looker, committed *last) {
    static const char text[] =
        "SELECT (SELECT count(*) FROM sqlite_master), (SELECT group_concat(a||','||b) FROM t), (SELECT "
        "group_concat(k||','||v) "
        "FROM w), (SELECT group_concat(a||','||b||','||ifnull(c,'')) FROM u), (SELECT group_concat(a) FROM g)";
    outcome version;
    bool nothing = false;
    run(looker, "PRAGMA data_version", &version);
    if (strcmp(version.rows, last->version.rows) == 0) return false;
    outcome *content = malloc(sizeof *content);
    if (content == NULL) exit(2);
    run(looker, text, content);
    nothing = strcmp(content->rows, last->content.rows) == 0;
    last->content = *content;
    last->version = version;
    free(content);
    return nothing;
}

/* The step at which the two differ; -1: none. */
static int first_difference(const step *steps, int count, int connections, int features, bool print) {
    pair pairs[MOST + 1];
    int found = -1;
    bool over = false;
    static committed last;
    memset(&last, 0, sizeof last);
    clean();
    memset(pairs, 0, sizeof pairs);
    for (int i = 0; i <= connections; i++) {
        open_side(&pairs[i].sides[0], false);
        open_side(&pairs[i].sides[1], true);
        pairs[i].sides[1].plain = (features & PLAIN) != 0 && (features & SCHEMA) == 0;
        for (size_t k = 0; i == 0 && k < sizeof fill / sizeof *fill; k++) {
            for (int s = 0; s < 2; s++) {
                outcome out;
                run(&pairs[0].sides[s], fill[k], &out);
                if (out.code == SQLITE_DONE) continue;
                fprintf(stderr, "%s: %d %s\n", fill[k], out.code, out.words);
                exit(2);
            }
        }
    }
    for (int n = 0; n < count && found < 0 && !over; n++) {
        const step *now = &steps[n];
        pair *p = &pairs[now->connection];
        outcome out[2];
        bool within = !sqlite3_get_autocommit(p->sides[0].db), loose = false;
        bool writes = false;
        if (now->action == RUN || now->action == USE) {
            const char *sql = now->action == RUN ? now->sql : kept_texts[now->slot];
            /* SQLite refuses these while a change has rows to give; a store has done with it. */
            bool refused = starts(sql, "COMMIT") || starts(sql, "RELEASE") || starts(sql, "SAVEPOINT");
            for (int k = 0; k < SLOTS && refused; k++) {
                if (!p->held[k] || p->sides[0].slots[k] == NULL) continue;
                close_slot(&p->sides[0], k);
                close_slot(&p->sides[1], k);
            }
            writes = !refused && !starts(sql, "ROLLBACK") && !starts(sql, "SELECT") && !starts(sql, "BEGIN") &&
                     !starts(sql, "SAVEPOINT");
            if (is_schema(sql) || strstr(sql, " x") != NULL) {
                if (within && p->stale) continue;
                if (!within) {
                    run(&p->sides[0], "SELECT count(*) FROM sqlite_master", &out[0]);
                    run(&p->sides[1], "SELECT count(*) FROM sqlite_master", &out[1]);
                    if (!same(&out[0], &out[1])) continue;
                }
            }
            /* What it has not noticed before its transaction, it may notice by asking for the lock in vain, and keep
            ** that. */
            if ((features & SCHEMA) && !within && (starts(sql, "BEGIN") || starts(sql, "SAVEPOINT"))) {
                run(&p->sides[0], "SELECT count(*) FROM sqlite_master", &out[0]);
                run(&p->sides[1], "SELECT count(*) FROM sqlite_master", &out[1]);
                p->stale = !same(&out[0], &out[1]);
            }
            /* A transaction begun while a statement was open reads on in its snapshot, on a store until that statement
            ** is closed. */
            if (!within && (starts(sql, "BEGIN") || starts(sql, "SAVEPOINT")) &&
                (p->sides[0].slots[0] != NULL || p->sides[0].slots[1] != NULL))
                p->behind = true;
        }
        if (now->action == STEP) {
            loose = p->loose[now->slot];
            /* Outside of a transaction a store has committed it at its first row. */
            if (!within && p->held[now->slot]) loose = true;
        }
        act(&p->sides[0], now, loose, &out[0]);
        act(&p->sides[1], now, loose, &out[1]);
        compared++;
        if (now->action == OPEN) {
            p->loose[now->slot] = false;
            p->held[now->slot] = strstr(now->sql, "RETURNING") != NULL;
        }
        if (now->action == RUN || now->action == USE) {
            const char *sql = now->action == RUN ? now->sql : kept_texts[now->slot];
            bool in = out[0].within, good = out[0].code == SQLITE_DONE;
            if (!starts(sql, "SELECT")) p->loose[0] = p->loose[1] = true;
            for (int i = 0; i < connections; i++) {
                if (i == now->connection) continue;
                if ((is_schema(sql) && good) || starts(sql, "COMMIT") || starts(sql, "RELEASE")) pairs[i].stale = true;
            }
            if (!in && !starts(sql, "COMMIT") && !starts(sql, "RELEASE") && out[0].code != SQLITE_BUSY_SNAPSHOT &&
                p->sides[0].slots[0] == NULL && p->sides[0].slots[1] == NULL)
                p->behind = false;
            /* With a statement open outside of a transaction SQLite's own code becomes the plain one on the way. */
            if (starts(sql, "BEGIN ") && out[0].code == SQLITE_BUSY_SNAPSHOT && out[1].code == SQLITE_BUSY) continue;
        }
        if (commits_nothing(&pairs[connections].sides[0], &last)) {
            for (int i = 0; i < connections; i++)
                if (i != now->connection) pairs[i].behind = true;
        }
        busy += (out[0].code & 0xFF) == SQLITE_BUSY;
        /* Plain SQLite asks for the lock before it notices that its schema is an old one. */
        if ((features & SCHEMA) && out[0].code == SQLITE_BUSY && out[1].code == SQLITE_ERROR) continue;
        /* A change that was prepared before another connection changed the schema: rootstock_refresh in rootstock.h. */
        if (now->action == STEP && p->held[now->slot] && out[1].code == SQLITE_SCHEMA) break;
        if (p->behind && out[0].code == SQLITE_BUSY_SNAPSHOT) {
            /* On from where both are alike again; what a store has committed stays. */
            if (out[1].code != SQLITE_BUSY_SNAPSHOT && !out[1].within) over = true;
            for (int i = 0; i < SLOTS; i++) {
                close_slot(&p->sides[0], i);
                close_slot(&p->sides[1], i);
            }
            run(&p->sides[0], "ROLLBACK", &out[0]);
            run(&p->sides[1], "ROLLBACK", &out[1]);
            p->behind = false;
            p->skewed = true;
            continue;
        }
        if (!same(&out[0], &out[1])) {
            found = n;
        } else if (writes && out[0].code == SQLITE_DONE && !is_schema(now->sql)) {
            const char *changes = p->skewed ? "SELECT changes()" : "SELECT changes(), last_insert_rowid()";
            run(&p->sides[0], changes, &out[0]);
            run(&p->sides[1], changes, &out[1]);
            if (!same(&out[0], &out[1])) found = n;
        }
        if (found < 0 && (features & LOOKS)) {
            static const char *const looks[] = {
                "BEGIN IMMEDIATE", "ROLLBACK",
                "SELECT sum(b), (SELECT sum(b) FROM u), (SELECT count(*) FROM w) FROM t"};
            for (int k = 0; k < 3 && found < 0; k++) {
                run(&pairs[connections].sides[0], looks[k], &out[0]);
                run(&pairs[connections].sides[1], looks[k], &out[1]);
                if (k == 0 && out[0].code == SQLITE_BUSY) held++;
                if (!same(&out[0], &out[1])) {
                    found = n;
                    if (print) printf("to another connection, %s:\n", looks[k]);
                }
            }
        }
        if (found >= 0 && print) {
            show_outcome("WAL  ", &out[0]);
            show_outcome("store", &out[1]);
        }
    }
    for (int i = 0; i <= connections; i++) {
        close_side(&pairs[i].sides[0]);
        close_side(&pairs[i].sides[1]);
    }
    return found;
}

/* Leaves out what the difference does not need. */
static int shrink(step *steps, int count, int connections, int features) {
    for (int size = count / 4 + 1;; size = size > 1 ? size / 2 : 1) {
        bool changed = false;
        for (int at = 0; at < count;) {
            step fewer[STEPS];
            int left = at + size < count ? size : count - at;
            memcpy(fewer, steps, (size_t)at * sizeof *steps);
            memcpy(fewer + at, steps + at + left, (size_t)(count - at - left) * sizeof *steps);
            int last = first_difference(fewer, count - left, connections, features, false);
            if (last >= 0) {
                count = last + 1;
                memcpy(steps, fewer, (size_t)count * sizeof *steps);
                changed = true;
            } else {
                at += size;
            }
        }
        if (size == 1 && !changed) return count;
    }
}

int main(int count, char **arguments) {
    if (count < 5) return 2;
    folder = arguments[1];
    engine = arguments[2];
    time_t until = time(NULL) + atoi(arguments[3]);
    uint64_t seed = strtoull(arguments[4], NULL, 10);
    long programs = 0, most = count > 5 ? atol(arguments[5]) : -1;
    for (; time(NULL) < until && programs != most; programs++) {
        static step steps[STEPS];
        uint64_t program = seed + (uint64_t)programs;
        put_seed(program);
        int connections = 2 + draw(MOST - 1), features = draw(32);
        for (int i = 0; i < STEPS; i++) put_step(&steps[i], connections, features);
        int last = first_difference(steps, STEPS, connections, features, false);
        if (last < 0) continue;
        int left = shrink(steps, last + 1, connections, features);
        printf("%s, seed %llu, %d connections, features %d:\n", engine, (unsigned long long)program, connections,
               features);
        for (int i = 0; i < left; i++) show(&steps[i]);
        if (first_difference(steps, left, connections, features, true) < 0) printf("    the difference went away\n");
        clean();
        return 1;
    }
    clean();
    printf("%s: %ld programs, %ld steps, %ld of them refused as busy, %ld times the lock was held, no difference\n",
           engine, programs, compared, busy, held);
    return 0;
}
