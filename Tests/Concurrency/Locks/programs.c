/* programs.c - random steps. See programs.h. */
#include "programs.h"

#include <stdio.h>

static uint64_t state;

int draw(int below) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (int)((state >> 11) % (uint64_t)below);
}

void put_seed(uint64_t seed) {
    state = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15);
    for (int i = 0; i < 8; i++) (void)draw(2);
}

#define PICK(list) list[draw((int)(sizeof list / sizeof *list))]

const char *const kept_texts[KEPT] = {
    "SELECT b FROM t WHERE a = ?1",       "UPDATE t SET b = b + 1 WHERE a = ?1", "DELETE FROM u WHERE a = ?1",
    "INSERT INTO u VALUES (?1, ?1, 'x')", "UPDATE u SET b = b + 1 WHERE b > ?1", "SELECT v FROM w WHERE k = 'k' || ?1",
};

static void put_read(char *sql) {
    int k = 1 + draw(12);
    switch (draw(12)) {
    case 0: strcpy(sql, "SELECT count(*), sum(b) FROM t"); break;
    case 1: strcpy(sql, "SELECT a, b FROM t ORDER BY a"); break;
    case 2: snprintf(sql, SQL, "SELECT a, b FROM t WHERE b >= %d ORDER BY b, a", k); break;
    case 3: snprintf(sql, SQL, "SELECT b FROM t WHERE a = %d", k); break;
    case 4: strcpy(sql, "SELECT k, v FROM w ORDER BY k"); break;
    case 5: strcpy(sql, "SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM w)"); break;
    case 6: snprintf(sql, SQL, "SELECT a, b FROM u ORDER BY a LIMIT 3 OFFSET %d", k * 4); break;
    case 7: snprintf(sql, SQL, "SELECT a FROM u WHERE b > %d ORDER BY b DESC, a LIMIT 4 OFFSET %d", k, k); break;
    case 8: snprintf(sql, SQL, "SELECT v FROM w WHERE k = 'k%d'", k); break;
    case 9: strcpy(sql, "SELECT count(*), sum(b), min(a), max(a) FROM u"); break;
    case 10: strcpy(sql, "SELECT 1"); break;
    default: strcpy(sql, "SELECT a, k FROM t JOIN w ON v = b ORDER BY a, k");
    }
}

static void put_write(char *sql) {
    int k = 1 + draw(12), l = 1 + draw(12), m = 1 + draw(12);
    switch (draw(28)) {
    case 0: snprintf(sql, SQL, "INSERT INTO t VALUES (%d, %d)", k, l); break;
    case 1: snprintf(sql, SQL, "INSERT OR REPLACE INTO t VALUES (%d, %d)", k, l); break;
    case 2: snprintf(sql, SQL, "INSERT OR IGNORE INTO t VALUES (%d, %d), (%d, %d)", k, l, m, l); break;
    case 3: snprintf(sql, SQL, "UPDATE t SET b = b + 1 WHERE a > %d", k); break;
    case 4: snprintf(sql, SQL, "DELETE FROM t WHERE b < %d", k / 3); break;
    case 5: snprintf(sql, SQL, "INSERT OR REPLACE INTO w VALUES ('k%d', %d)", k, l); break;
    case 6: snprintf(sql, SQL, "DELETE FROM w WHERE v = %d", k); break;
    case 7: strcpy(sql, "UPDATE w SET v = v + 1"); break;
    case 8: snprintf(sql, SQL, "INSERT INTO t(b) SELECT v FROM w WHERE v < %d", k); break;
    case 9: strcpy(sql, "UPDATE u SET b = b + 1"); break;
    case 10: snprintf(sql, SQL, "UPDATE u SET b = b + 1, c = c || 'y' WHERE a > %d", k * 4); break;
    case 11: strcpy(sql, "UPDATE u SET b = 1 WHERE b > 100000"); break;
    case 12: strcpy(sql, "DELETE FROM u"); break;
    case 13: strcpy(sql, "DELETE FROM w"); break;
    case 14: snprintf(sql, SQL, "DELETE FROM u WHERE b < %d", k); break;
    case 15: snprintf(sql, SQL, "DELETE FROM u WHERE a = %d", k * 100); break;
    case 16: snprintf(sql, SQL, "DELETE FROM t WHERE a = %d", k + 20); break;
    case 17: snprintf(sql, SQL, "UPDATE t SET b = %d WHERE a = %d", l, k); break;
    case 18: snprintf(sql, SQL, "UPDATE u SET c = NULL WHERE a = %d", k); break;
    case 19: snprintf(sql, SQL, "INSERT INTO u SELECT a + 50, b, 'z' FROM t WHERE a > %d", k); break;
    case 20:
        snprintf(sql, SQL, "INSERT INTO t VALUES (%d, %d) ON CONFLICT (a) DO UPDATE SET b = excluded.b", k, l);
        break;
    case 21: snprintf(sql, SQL, "UPDATE t SET b = b + 1 WHERE a < %d RETURNING a, b", k); break;
    case 22: snprintf(sql, SQL, "INSERT INTO g VALUES (%d)", k); break;
    case 23: snprintf(sql, SQL, "DELETE FROM g WHERE a = %d", k); break;
    case 24: snprintf(sql, SQL, "UPDATE u SET b = -1 WHERE a >= %d", k); break; /* a CHECK fails */
    case 25: snprintf(sql, SQL, "UPDATE w SET v = v + 1 WHERE k > 'k%d'", k); break;
    case 26: snprintf(sql, SQL, "DELETE FROM w WHERE k = 'k%d'", k); break;
    default: strcpy(sql, "DELETE FROM t WHERE b > 100000");
    }
}

/* A change that gives rows: its transaction lasts until the last one is fetched. */
static void put_held(char *sql) {
    int k = 1 + draw(12), l = 1 + draw(12);
    switch (draw(5)) {
    case 0: snprintf(sql, SQL, "UPDATE u SET b = b + 1 WHERE a < %d RETURNING a, b", k * 2); break;
    case 1: snprintf(sql, SQL, "DELETE FROM u WHERE a < %d RETURNING a", k); break;
    case 2: snprintf(sql, SQL, "INSERT INTO t(b) VALUES (%d), (%d), (%d) RETURNING a", k, l, k); break;
    case 3: snprintf(sql, SQL, "DELETE FROM w WHERE v > %d RETURNING k", k); break;
    default: snprintf(sql, SQL, "INSERT OR REPLACE INTO t VALUES (%d, %d), (%d, %d) RETURNING b", k, l, l, k);
    }
}

static void put_schema(char *sql) {
    static const char *const texts[] = {
        "CREATE TABLE x(a, b)",
        "DROP TABLE x",
        "CREATE INDEX i ON t(b, a)",
        "DROP INDEX i",
        "ALTER TABLE x ADD COLUMN c DEFAULT 3",
        "INSERT INTO x(a) VALUES (1)",
        "SELECT * FROM x",
        "CREATE TABLE IF NOT EXISTS x(a, b)",
        "DROP TABLE IF EXISTS y",
        "CREATE VIEW vv AS SELECT a FROM t",
        "DROP VIEW vv",
    };
    strcpy(sql, PICK(texts));
}

void put_step(step *out, int connections, int features) {
    static const char *const begins[] = {"BEGIN", "BEGIN", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"};
    static const char *const names[] = {"a", "b", "c"};
    int roll = draw(100);
    memset(out, 0, sizeof *out);
    out->connection = draw(connections);
    out->action = RUN;
    if (roll < 12) {
        strcpy(out->sql, PICK(begins));
    } else if (roll < 22) {
        strcpy(out->sql, "COMMIT");
    } else if (roll < 26) {
        strcpy(out->sql, "ROLLBACK");
    } else if (roll < 34) {
        snprintf(out->sql, SQL, "SAVEPOINT %s", PICK(names));
    } else if (roll < 39) {
        snprintf(out->sql, SQL, "RELEASE %s", PICK(names));
    } else if (roll < 44) {
        snprintf(out->sql, SQL, "ROLLBACK TO %s", PICK(names));
    } else if (roll < 57) {
        put_read(out->sql);
    } else if (roll < 80) {
        put_write(out->sql);
    } else if (roll < 87) {
        out->action = USE;
        out->slot = draw(KEPT);
        out->count = 1 + draw(40);
    } else if (roll < 96 && (features & CURSORS)) {
        static const action actions[] = {OPEN, OPEN, STEP, STEP, STEP, CLOSE};
        out->action = PICK(actions);
        out->slot = draw(SLOTS);
        out->count = 1 + draw(4);
        if (out->action == OPEN) (features & HELD && draw(3) == 0 ? put_held : put_read)(out->sql);
    } else if (roll >= 96 && (features & SCHEMA)) {
        put_schema(out->sql);
    } else {
        put_write(out->sql);
    }
}

void show(const step *s) {
    static const char *const names[] = {"", "open", "step", "close", "use"};
    printf("  %d: ", s->connection);
    if (s->action == RUN)
        printf("%s\n", s->sql);
    else if (s->action == USE)
        printf("use %d: %s\n", s->count, kept_texts[s->slot]);
    else
        printf("%s %d %s %d\n", names[s->action], s->slot, s->sql, s->action == STEP ? s->count : 0);
}
