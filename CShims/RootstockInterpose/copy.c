/*
** copy.c - everything that a database holds is put into another one by SQL: a store into a native image in memory, and
** an image into a store. Backup, serialize and deserialize are made of these.
**
** Order: settings, tables, rows with their rowids, then indexes, views and triggers, so that no trigger fires and no
** foreign key is asked. Invariant: the destination's transaction holds all of the copy or none of it.
**
** Virtual tables (FTS, R-Tree) come first, without rows, for they keep these in their shadow tables. An image lists
** them as .dump of the sqlite3 shell does, and asks no module. A store makes them and their shadow tables. When these
** are filled it renames the table there and back, so that SQLite connects it to what they hold now.
*/
#include <stdlib.h>
#include <string.h>

#include "interface/hosting.h"
#include "parser/tokens.h"
#include "interpose.h"

/* One side: a store with its record, or a native connection. */
typedef struct side {
    sqlite3 *db;
    rsti_database *store; /* or null */
} side;

typedef struct handle {
    sqlite3_stmt *real;
    rsti_statement *alias; /* or null */
} handle;

static int run(const side *s, const char *sql) {
    return s->store != NULL ? rsti_execute_own(s->store, sql, NULL, NULL) : sqlite3_exec(s->db, sql, NULL, NULL, NULL);
}

static int prepare(const side *s, const char *sql, handle *h) {
    int code;
    memset(h, 0, sizeof *h);
    if (s->store == NULL) return sqlite3_prepare_v2(s->db, sql, -1, &h->real, NULL);
    s->store->own++;
    code = rsti_prepare_text(s->store, sql, -1, 0, false, &h->alias, NULL);
    s->store->own--;
    if (code == SQLITE_OK && h->alias != NULL) h->real = h->alias->real;
    return code;
}

/* An alias may exchange its statement at the first step of a run. */
static int step(handle *h) {
    int code;
    if (h->alias == NULL) return sqlite3_step(h->real);
    code = rsti_run_step(h->alias);
    h->real = h->alias->real;
    return code;
}

static int reset(handle *h) {
    return h->alias != NULL ? rsti_run_reset(h->alias) : sqlite3_reset(h->real);
}

static int finalize(handle *h) {
    int code = h->alias != NULL ? rsti_run_finalize(h->alias) : sqlite3_finalize(h->real);
    memset(h, 0, sizeof *h);
    return code;
}

static int run_formatted(const side *s, char *sql) {
    int code = sql == NULL ? SQLITE_NOMEM : run(s, sql);
    sqlite3_free(sql);
    return code;
}

/* ---- rows ---- */

/* The table's stored columns by name, each behind a comma, and a name of the rowid that none of them has; null where
** there is no rowid. */
typedef struct columns {
    char *names;
    const char *rowid;
    int count;
} columns;

/* Whether main has the table, and whether that has a rowid. */
static int find_table(const side *s, const char *table, bool *is, bool *without) {
    handle h;
    char *sql = sqlite3_mprintf("PRAGMA main.table_list(\"%w\")", table);
    int code = sql == NULL ? SQLITE_NOMEM : prepare(s, sql, &h);
    sqlite3_free(sql);
    *is = *without = false;
    if (code != SQLITE_OK) return code;
    while (step(&h) == SQLITE_ROW) {
        *is = true;
        *without = sqlite3_column_int(h.real, 4) != 0;
    }
    return finalize(&h);
}

static int columns_of(const side *from, const char *table, columns *out) {
    bool taken[ROWID_WORDS] = {false, false, false}, is, without = false;
    sqlite3_str *names = sqlite3_str_new(NULL);
    char *sql = sqlite3_mprintf("PRAGMA main.table_xinfo(\"%w\")", table);
    handle h = {NULL, NULL};
    int code = sql == NULL ? SQLITE_NOMEM : find_table(from, table, &is, &without);
    if (code == SQLITE_OK) code = prepare(from, sql, &h);
    sqlite3_free(sql);
    memset(out, 0, sizeof *out);
    while (code == SQLITE_OK && step(&h) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(h.real, 1);
        for (int i = 0; i < ROWID_WORDS; i++) taken[i] |= sqlite3_stricmp(name, rst_rowid_words[i]) == 0;
        if (sqlite3_column_int(h.real, 6) != 0) continue; /* generated */
        sqlite3_str_appendf(names, "%s\"%w\"", out->count == 0 ? "" : ",", name);
        out->count++;
    }
    if (code == SQLITE_OK) code = finalize(&h);
    out->names = sqlite3_str_finish(names);
    for (int i = ROWID_WORDS - 1; i >= 0 && !without; i--) {
        if (!taken[i]) out->rowid = rst_rowid_words[i];
    }
    return code == SQLITE_OK && out->names == NULL ? SQLITE_NOMEM : code;
}

static char *insert_of(const char *table, const columns *c) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "INSERT INTO main.\"%w\"(", table);
    if (c->rowid != NULL) sqlite3_str_appendf(text, "%s,", c->rowid);
    sqlite3_str_appendf(text, "%s) VALUES(", c->names);
    for (int i = 0; i < c->count + (c->rowid != NULL); i++) sqlite3_str_appendall(text, i == 0 ? "?" : ",?");
    sqlite3_str_appendall(text, ")");
    return sqlite3_str_finish(text);
}

static int copy_rows(const side *from, const side *to, const char *table) {
    columns c;
    handle read = {NULL, NULL}, write = {NULL, NULL};
    char *select = NULL, *insert = NULL;
    int code = columns_of(from, table, &c);
    if (code == SQLITE_OK) {
        select = c.rowid != NULL ? sqlite3_mprintf("SELECT %s,%s FROM main.\"%w\"", c.rowid, c.names, table)
                                 : sqlite3_mprintf("SELECT %s FROM main.\"%w\"", c.names, table);
        insert = insert_of(table, &c);
        code = select == NULL || insert == NULL ? SQLITE_NOMEM : prepare(from, select, &read);
    }
    if (code == SQLITE_OK) code = prepare(to, insert, &write);
    while (code == SQLITE_OK && step(&read) == SQLITE_ROW) {
        const int count = sqlite3_column_count(read.real);
        for (int i = 0; i < count && code == SQLITE_OK; i++)
            code = sqlite3_bind_value(write.real, i + 1, sqlite3_column_value(read.real, i));
        if (code == SQLITE_OK) (void)step(&write);
        if (code == SQLITE_OK) code = reset(&write);
    }
    if (read.real != NULL) {
        int ended = finalize(&read);
        if (code == SQLITE_OK) code = ended;
    }
    if (write.real != NULL) (void)finalize(&write);
    sqlite3_free(select);
    sqlite3_free(insert);
    sqlite3_free(c.names);
    return code;
}

/* ---- the schema ---- */

enum copied { TABLES, OTHERS };

static bool is_virtual(const char *sql) {
    return sqlite3_strnicmp(sql, "CREATE VIRTUAL TABLE", 20) == 0;
}

static int copy_virtual(const side *to, const char *name, const char *sql) {
    int code;
    if (to->store != NULL) return run(to, sql);
    code = run(to, "PRAGMA writable_schema=ON");
    if (code == SQLITE_OK)
        code = run_formatted(to, sqlite3_mprintf("INSERT INTO main.sqlite_schema(type, name, tbl_name, rootpage, sql) "
                                                 "VALUES('table', %Q, %Q, 0, %Q)",
                                                 name, name, sql));
    return code == SQLITE_OK ? run(to, "PRAGMA writable_schema=OFF") : code;
}

/* It outlives the tables that it is made for. Its rows are copied last, for rows of these raise them. */
static int make_sequence(const side *to) {
    bool is, without;
    int code = find_table(to, "sqlite_sequence", &is, &without);
    if (code != SQLITE_OK || is) return code;
    return run(to, "CREATE TABLE main.\"rootstock: sequence\"(id INTEGER PRIMARY KEY AUTOINCREMENT);"
                   "DROP TABLE main.\"rootstock: sequence\"");
}

static int copy_object(const side *from, const side *to, const char *name, const char *sql, enum copied which) {
    bool made = false, without;
    int code = SQLITE_OK;
    if (which == OTHERS) return run(to, sql);
    if (is_virtual(sql)) return copy_virtual(to, name, sql);
    if (sqlite3_strnicmp(name, "sqlite_", 7) == 0) {
        if (sqlite3_stricmp(name, "sqlite_sequence") == 0) return make_sequence(to);
        code = run(to, "ANALYZE sqlite_schema"); /* makes the tables of statistics */
        made = true;
    } else if (to->store != NULL) {
        code = find_table(to, name, &made, &without); /* CREATE VIRTUAL TABLE may have made it */
    }
    if (code == SQLITE_OK)
        code = made ? run_formatted(to, sqlite3_mprintf("DELETE FROM main.\"%w\"", name)) : run(to, sql);
    return code == SQLITE_OK ? copy_rows(from, to, name) : code;
}

static int copy_objects(const side *from, const side *to, enum copied which) {
    handle h;
    int code = prepare(from,
                       which == TABLES ? "SELECT name, sql FROM sqlite_schema WHERE type='table' AND sql NOT NULL "
                                         "ORDER BY sql LIKE 'CREATE VIRTUAL TABLE%' DESC, rowid"
                                       : "SELECT name, sql FROM sqlite_schema WHERE type<>'table' AND sql NOT NULL",
                       &h);
    if (code != SQLITE_OK) return code;
    while (code == SQLITE_OK && step(&h) == SQLITE_ROW) {
        code = copy_object(from, to, (const char *)sqlite3_column_text(h.real, 0),
                           (const char *)sqlite3_column_text(h.real, 1), which);
    }
    if (code == SQLITE_OK) return finalize(&h);
    (void)finalize(&h);
    return code;
}

static int connect_virtual(const side *from, const side *to) {
    static const char rename[] = "ALTER TABLE main.\"%w\" RENAME TO \"%w\"";
    handle h;
    int code = to->store == NULL ? SQLITE_OK
                                 : prepare(from,
                                           "SELECT name, name || '_connected' FROM sqlite_schema WHERE sql LIKE "
                                           "'CREATE VIRTUAL TABLE%'",
                                           &h);
    if (code != SQLITE_OK || to->store == NULL) return code;
    while (code == SQLITE_OK && step(&h) == SQLITE_ROW) {
        const unsigned char *name = sqlite3_column_text(h.real, 0), *other = sqlite3_column_text(h.real, 1);
        code = run_formatted(to, sqlite3_mprintf(rename, name, other));
        if (code == SQLITE_OK) code = run_formatted(to, sqlite3_mprintf(rename, other, name));
    }
    if (code == SQLITE_OK) return finalize(&h);
    (void)finalize(&h);
    return code;
}

static int copy_sequence(const side *from, const side *to) {
    bool is, without;
    int code = find_table(from, "sqlite_sequence", &is, &without);
    if (code != SQLITE_OK || !is) return code;
    code = run(to, "DELETE FROM main.sqlite_sequence");
    return code == SQLITE_OK ? copy_rows(from, to, "sqlite_sequence") : code;
}

static int copy_setting(const side *from, const side *to, const char *name) {
    handle h;
    char *sql = sqlite3_mprintf("PRAGMA main.%s", name);
    sqlite3_int64 value = 0;
    int code = sql == NULL ? SQLITE_NOMEM : prepare(from, sql, &h);
    sqlite3_free(sql);
    if (code != SQLITE_OK) return code;
    if (step(&h) == SQLITE_ROW) value = sqlite3_column_int64(h.real, 0);
    code = finalize(&h);
    return code == SQLITE_OK ? run_formatted(to, sqlite3_mprintf("PRAGMA main.%s=%lld", name, value)) : code;
}

/* Everything goes, views and triggers first. Virtual tables take others with them, and tables their triggers. */
static int clear(const side *s) {
    handle h;
    sqlite3_str *drops = sqlite3_str_new(NULL);
    char *sql;
    int code = prepare(s,
                       "SELECT type, name FROM sqlite_schema WHERE type IN ('view', 'trigger', 'table') AND "
                       "(name NOT LIKE 'sqlite\\_%' ESCAPE '\\' OR name LIKE 'sqlite\\_stat%' ESCAPE '\\') "
                       "ORDER BY type DESC, sql LIKE 'CREATE VIRTUAL TABLE%' DESC",
                       &h);
    while (code == SQLITE_OK && step(&h) == SQLITE_ROW)
        sqlite3_str_appendf(drops, "DROP %s IF EXISTS main.\"%w\";", sqlite3_column_text(h.real, 0),
                            sqlite3_column_text(h.real, 1));
    if (code == SQLITE_OK) code = finalize(&h);
    if (code == SQLITE_OK) code = sqlite3_str_errcode(drops);
    sql = sqlite3_str_finish(drops);
    if (code == SQLITE_OK && sql != NULL) code = run(s, sql);
    sqlite3_free(sql);
    return code;
}

static int pragma_value(const side *s, const char *sql) {
    handle h;
    int value = 0;
    if (prepare(s, sql, &h) != SQLITE_OK) return 0;
    if (step(&h) == SQLITE_ROW) value = sqlite3_column_int(h.real, 0);
    (void)finalize(&h);
    return value;
}

static int copy_all(const side *from, const side *to) {
    int code = clear(to);
    if (code == SQLITE_OK) code = copy_setting(from, to, "user_version");
    if (code == SQLITE_OK) code = copy_setting(from, to, "application_id");
    if (code == SQLITE_OK) code = copy_objects(from, to, TABLES);
    if (code == SQLITE_OK) code = connect_virtual(from, to);
    if (code == SQLITE_OK) code = copy_sequence(from, to);
    return code == SQLITE_OK ? copy_objects(from, to, OTHERS) : code;
}

static int copy_within(const side *from, const side *to, char **words) {
    const bool keys = pragma_value(to, "PRAGMA foreign_keys") != 0;
    const bool ignored = pragma_value(to, "PRAGMA ignore_check_constraints") != 0;
    const bool query_only = pragma_value(to, "PRAGMA query_only") != 0; /* which holds no backup up */
    const bool begun = sqlite3_get_autocommit(from->db) != 0;
    const bool waiting = !sqlite3_get_autocommit(to->db); /* BEGIN, and nothing yet: what is copied is no part of it */
    int code = begun ? run(from, "BEGIN") : SQLITE_OK;    /* one snapshot for all of it */
    if (code != SQLITE_OK) return code;
    if (waiting) (void)run(to, "COMMIT");
    if (query_only) (void)run(to, "PRAGMA query_only=OFF");
    if (keys) (void)run(to, "PRAGMA foreign_keys=OFF");
    if (!ignored) (void)run(to, "PRAGMA ignore_check_constraints=ON");
    code = run(to, "BEGIN IMMEDIATE");
    if (code == SQLITE_OK) {
        code = copy_all(from, to);
        if (code == SQLITE_OK) code = run(to, "COMMIT");
        if (code != SQLITE_OK && !sqlite3_get_autocommit(to->db)) {
            /* What failed is to be told, not that the ROLLBACK went well. */
            char *message = sqlite3_mprintf("%s", sqlite3_errmsg(to->db));
            int why = code;
            (void)run(to, "ROLLBACK");
            if (to->store != NULL) code = rsti_fail(to->store, why, message);
            *words = to->store != NULL ? NULL : message;
            if (*words == NULL) sqlite3_free(message);
        }
    }
    if (!ignored) (void)run(to, "PRAGMA ignore_check_constraints=OFF");
    if (keys) (void)run(to, "PRAGMA foreign_keys=ON");
    if (query_only) (void)run(to, "PRAGMA query_only=ON");
    if (waiting) (void)run(to, "BEGIN");
    if (begun) (void)run(from, "COMMIT");
    return code;
}

/* The side that is no store knows the program's functions meanwhile. */
static int copy(const side *from, const side *to, char **words) {
    rsti_database *d = from->store != NULL ? from->store : to->store;
    sqlite3 *image = from->store != NULL ? to->db : from->db;
    rst_function_proxies lent = {0};
    int code;
    d->own++;
    code = rootstock_lend_functions(d->db, image, &lent);
    d->own--;
    if (code == SQLITE_OK) code = copy_within(from, to, words);
    rootstock_take_back_functions(image, &lent);
    return code;
}

int rsti_image_of(rsti_database *d, sqlite3 **image, char **message) {
    side from = {d->db, d}, to = {NULL, NULL};
    int code;
    *message = NULL;
    code = sqlite3_open_v2(":memory:", &to.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    rsti_enter(d);
    if (code == SQLITE_OK) code = copy(&from, &to, message);
    rsti_leave(d);
    if (code != SQLITE_OK) {
        (void)sqlite3_close(to.db);
        to.db = NULL;
    }
    *image = to.db;
    return code;
}

bool rsti_is_in_use(rsti_database *d) {
    if (rsti_state_of(d->db, "main") != SQLITE_TXN_NONE) return true;
    return !sqlite3_get_autocommit(d->db) && (d->has_savepoint || sqlite3_txn_state(d->db, NULL) == SQLITE_TXN_WRITE);
}

int rsti_image_into(sqlite3 *image, rsti_database *d) {
    side from = {image, NULL}, to = {d->db, d};
    char *words = NULL; /* the store's connection has them */
    rsti_counts before;
    int code = sqlite3_exec(image, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
    rsti_enter(d);
    before = rsti_counts_of(d);
    d->silent = true;
    /* The program may have begun since the backup did: the copy would commit its work. */
    if (code != SQLITE_OK)
        code = rsti_fail(d, code, sqlite3_errmsg(image));
    else if (!sqlite3_get_autocommit(d->db) && rsti_is_in_use(d))
        code = rsti_fail(d, SQLITE_ERROR, "destination database is in use");
    else
        code = copy(&from, &to, &words);
    rsti_counts_keep(d, before);
    d->silent = false;
    rsti_leave(d);
    return code;
}
