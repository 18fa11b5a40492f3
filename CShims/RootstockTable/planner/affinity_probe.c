/*
** affinity_probe.c - by which affinity the running statements compare columns that have no numeric one.
**
** SQLite does not tell a virtual table the affinity of a comparison. EXPLAIN does: it shows each comparison of the
** compiled statement with its affinity. A syntax tree could not: the affinity comes from names, through views, WITH,
** subqueries and triggers, which SQLite resolves. Two questions are asked here, both seldom.
**
** 1. A number is sought in a column of TEXT or without affinity. Literals, parameters and expressions are compared by
** the column's own affinity; if every comparison of the table's columns is such a one, the number is one key. A column
** of numbers is compared by numeric affinity; then the number may be any text.
**
** 2. A text that spells a number is sought there. It is one key, unless the other side can be of numeric affinity and
** give such a text. No column of a table can. A column of a compound SELECT can, as that of SELECT id FROM k UNION ALL
** SELECT '01', and so can a column of another module's table. Then every spelling of that number is equal to it, and no
** range of keys but that of all texts holds them. What SQLite has compiled tells: a comparison that applies numeric
** affinity to one of our columns that has none. So statements that may hold a compound, by their text, a view or a
** trigger, have their programs looked through (EXPLAIN), once for each text. This happens when such a text is sought
** for the first time after something was planned. A statement that writes is looked at while it runs. Mostly the answer
** is the comparison of two counters.
**
** Invariant: "no" is said only where each statement that may be running is known to make no such comparison.
*/
#include "planner/planner.h"
#include "planner/affinity_probe.h"
#include "rewriter/changes.h"

#include <stdlib.h>
#include <string.h>

enum { TEXTS_KEPT = 128, NEW_STATEMENTS = 8, OTHER_DATABASES = 2 /* behind main and temp */ };

enum { JUDGED_TABLES = 8 };

/* What a statement does, by its text. */
typedef struct verdict {
    char *text;
    bool affinity_probes; /* compares a column without numeric affinity by it */
    int count;            /* tables of ours with such columns that it compares; more than there is room: unclear */
    const rst_table *tables[JUDGED_TABLES];
    bool declared[JUDGED_TABLES]; /* each time by the column's own affinity */
} verdict;

typedef struct rst_affinity_probes {
    bool known; /* the connection's counter, and whether any statement that existed then compares by numeric affinity */
    uint64_t planned;
    bool any;
    bool writers;         /* a statement that writes may compare so: it is looked at while it runs */
    sqlite3_stmt *marker; /* of ours: statements behind it in SQLite's list, older ones, have been looked at */
    bool schemas_known;   /* what follows holds for the schemas with this stamp */
    uint64_t stamp;
    bool views;    /* a view has a compound, ... */
    bool triggers; /* ... or a trigger, ... */
    bool others;   /* ... or there are databases or modules of which nothing is known */
    char **names;  /* of views, where `views` */
    int name_count;
    verdict *texts;
    int count;
} rst_affinity_probes;

static void texts_forget(rst_affinity_probes *d) {
    for (int i = 0; i < d->count; i++) sqlite3_free(d->texts[i].text);
    d->count = 0;
}

static void names_forget(rst_affinity_probes *d) {
    for (int i = 0; i < d->name_count; i++) sqlite3_free(d->names[i]);
    sqlite3_free(d->names);
    d->names = NULL;
    d->name_count = 0;
}

void rst_affinity_probes_rest(rst_connection *c) {
    rst_planner *planner = planner_of(c);
    if (planner->affinity_probes == NULL) return;
    sqlite3_finalize(planner->affinity_probes->marker);
    planner->affinity_probes->marker = NULL;
}

void rst_affinity_probes_free(rst_connection *c) {
    rst_planner *planner = planner_of(c);
    if (planner->affinity_probes == NULL) return;
    rst_affinity_probes_rest(c);
    texts_forget(planner->affinity_probes);
    names_forget(planner->affinity_probes);
    sqlite3_free(planner->affinity_probes->texts);
    sqlite3_free(planner->affinity_probes);
    planner->affinity_probes = NULL;
}

/* ---- what could be one at all ---- */

static int count_of(const char *text, const char *word) {
    int count = 0;
    for (const char *p = text; *p != '\0'; p++)
        count += (*p | 0x20) == (word[0] | 0x20) && sqlite3_strnicmp(p, word, (int)strlen(word)) == 0;
    return count;
}

static bool has_word(const char *text, const char *word) {
    return count_of(text, word) > 0;
}

/* Whether there is a SELECT beside those that compare nothing. Two of them gather the rows of VALUES
** (transform_insert.c), others tell where a trigger's body begins and ends (trigger.c). */
static bool has_select(const char *text) {
    int selects = count_of(text, "select");
    if (selects > 0) selects -= count_of(text, "SELECT rootstock_moment(");
    if (selects > 0) selects -= 2 * count_of(text, "\"rootstock row\"=0) IS NULL");
    return selects > 0;
}

/* Whether there is another UNION than those between the arms of a statement that gathers rows (bulk_text.c; the key's
** arm is between the two others). What these give is stored, and compared with nothing. */
static bool has_union(const char *text) {
    int unions = count_of(text, "union");
    if (strncmp(text, "INSERT INTO rootstock_bulk", 26) == 0)
        unions -= strstr(text, ") UNION ALL SELECT \"") != NULL ? 2 : 1;
    return unions > 0;
}

/* The words of a compound; VALUES is one, too, and has an affinity only by CAST or a SELECT in it. */
static bool has_compound(const char *text) {
    return has_union(text) || has_word(text, "except") || has_word(text, "intersect") ||
           (has_word(text, "values") && (has_word(text, "cast") || has_select(text)));
}

/* Whether the statement has to be looked at. */
static bool may_disguise(const rst_affinity_probes *d, const char *text) {
    if (text == NULL || d->others || has_compound(text)) return true;
    if (d->triggers &&
        (has_word(text, "insert") || has_word(text, "update") || has_word(text, "delete") || has_word(text, "replace")))
        return true;
    for (int i = 0; i < d->name_count; i++) {
        if (has_word(text, d->names[i])) return true;
    }
    return false;
}

/* One view, trigger or table of another module: its text, its kind and its name. */
static int note_object(const rst_connection *c, rst_affinity_probes *d, sqlite3_stmt *statement) {
    const char *text = (const char *)sqlite3_column_text(statement, 0);
    const char *type = (const char *)sqlite3_column_text(statement, 1);
    const char *name = (const char *)sqlite3_column_text(statement, 2);
    char **names;
    if (text == NULL || type == NULL || name == NULL) return SQLITE_OK;
    if (strcmp(type, "table") == 0) {
        d->others |= !schema_of(c)->sidecar || !has_word(text, store_of(c)->engine->name);
        return SQLITE_OK;
    }
    if (strcmp(type, "trigger") == 0) {
        d->triggers |= has_compound(text);
        return SQLITE_OK;
    }
    d->views |= has_compound(text);
    names = sqlite3_realloc64(d->names, ((sqlite3_uint64)d->name_count + 1) * sizeof *names);
    if (names == NULL) return SQLITE_NOMEM;
    d->names = names;
    names[d->name_count] = sqlite3_mprintf("%s", name);
    return names[d->name_count++] == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

static int note_objects(rst_connection *c, rst_affinity_probes *d, const char *sql) {
    sqlite3_stmt *statement;
    int code = rst_statement_get(c, sql, &statement);
    if (code != SQLITE_OK) return code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        code = note_object(c, d, statement);
        if (code != SQLITE_OK) break;
    }
    rst_statement_done(c, statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

#define OBJECTS_OF(schema) "SELECT sql,type,name FROM " schema ".sqlite_master WHERE type IN ('view','trigger')"
#define IS_VIRTUAL "sql>'CREATE VIRTUAL' AND sql<'CREATE VIRTUAM'"

/* Views and triggers of the connection, and tables of other modules. */
static int look_at_schemas(rst_connection *c, rst_affinity_probes *d) {
    int code;
    names_forget(d);
    d->views = d->triggers = d->others = false;
    for (int i = OTHER_DATABASES; sqlite3_db_name(c->db, i) != NULL; i++)
        d->others |= strcmp(sqlite3_db_name(c->db, i), "rootstock") != 0;
    code = note_objects(c, d, OBJECTS_OF("temp") " OR " IS_VIRTUAL " AND name<>'rootstock_txn'");
    if (code == SQLITE_OK)
        code = note_objects(c, d, schema_of(c)->sidecar ? OBJECTS_OF("main") " OR " IS_VIRTUAL : OBJECTS_OF("main"));
    /* A view without a compound may read one that has. */
    if (!d->views) names_forget(d);
    return code;
}

static int version_of(rst_connection *c, const char *pragma, uint64_t *stamp) {
    sqlite3_stmt *statement;
    int code = rst_statement_get(c, pragma, &statement);
    if (code != SQLITE_OK) return code;
    code = sqlite3_step(statement);
    if (code == SQLITE_ROW) *stamp = *stamp * 0x100000001B3u + (uint64_t)sqlite3_column_int64(statement, 0) + 1;
    rst_statement_done(c, statement);
    return code == SQLITE_ROW ? SQLITE_OK : code;
}

/* A number that changes with any schema that the connection's statements may read. *certain: it does. */
static int stamp_of(rst_connection *c, uint64_t *stamp, bool *certain) {
    int code = version_of(c, "PRAGMA temp.schema_version", stamp);
    *certain = true;
    if (code == SQLITE_OK && schema_of(c)->sidecar) code = version_of(c, "PRAGMA main.schema_version", stamp);
    *stamp = (*stamp * 0x100000001B3u + store_of(c)->epoch) * 0x100000001B3u + planner_of(c)->schema_state;
    *stamp = *stamp * 0x100000001B3u + store_of(c)->generation;
    for (int i = OTHER_DATABASES; sqlite3_db_name(c->db, i) != NULL; i++) {
        const char *name = sqlite3_db_name(c->db, i);
        unsigned int version = 0;
        if (strcmp(name, "rootstock") == 0) continue;
        /* Its schema's version could be had under a lock only. */
        if (sqlite3_txn_state(c->db, name) == SQLITE_TXN_WRITE ||
            sqlite3_file_control(c->db, name, SQLITE_FCNTL_DATA_VERSION, &version) != SQLITE_OK)
            *certain = false;
        while (*name != '\0') *stamp = *stamp * 0x100000001B3u + (unsigned char)*name++;
        *stamp = *stamp * 0x100000001B3u + version;
    }
    return code;
}

/* ---- what a statement does ---- */

/* A register with a column of ours without numeric affinity. */
typedef struct held_column {
    const rst_table *table; /* null: none */
    bool text;              /* of affinity TEXT */
} held_column;

/* What has come up in a program so far. */
typedef struct flags {
    rst_table **tables; /* by cursor */
    int table_count;
    held_column *columns; /* by register */
    int register_count;
} flags;

static int grow(void **array, int *count, int wanted, size_t size) {
    int more = wanted + 32;
    char *bytes;
    if (wanted < *count) return SQLITE_OK;
    bytes = sqlite3_realloc64(*array, (sqlite3_uint64)more * size);
    if (bytes == NULL) return SQLITE_NOMEM;
    memset(bytes + (size_t)*count * size, 0, (size_t)(more - *count) * size);
    *array = bytes;
    *count = more;
    return SQLITE_OK;
}

static rst_table *table_of(const rst_connection *c, const char *shown) {
    unsigned long long address;
    char *end;
    if (shown == NULL || strncmp(shown, "vtab:", 5) != 0) return NULL;
    address = strtoull(shown + 5, &end, 16);
    if (*end != '\0') return NULL;
    for (const rst_vtab *vtab = schema_of(c)->vtabs; vtab != NULL; vtab = vtab->next) {
        if ((unsigned long long)(uintptr_t)vtab == address) return vtab->table;
    }
    return NULL;
}

static int note_column(flags *f, int cursor, int column, int target, bool module) {
    const rst_table *table = module && cursor >= 0 && cursor < f->table_count ? f->tables[cursor] : NULL;
    held_column *held;
    int code = target < 0 ? SQLITE_ERROR : grow((void **)&f->columns, &f->register_count, target, sizeof *f->columns);
    if (code != SQLITE_OK) return code;
    held = &f->columns[target];
    held->table = table;
    held->text = table != NULL && column < table->column_count && table->columns[column].affinity == AFFINITY_TEXT;
    if (table != NULL && column < table->column_count &&
        (column == table->rowid_column || table->columns[column].affinity >= AFFINITY_NUMERIC))
        held->table = NULL;
    return SQLITE_OK;
}

/* Copies of registers: what they hold goes along. */
static int note_copies(flags *f, int from, int to, int count) {
    for (int i = 0; i < count; i++) {
        int code = from < 0 || to < 0 ? SQLITE_ERROR
                                      : grow((void **)&f->columns, &f->register_count, (from > to ? from : to) + i,
                                             sizeof *f->columns);
        if (code != SQLITE_OK) return code;
        f->columns[to + i] = f->columns[from + i];
    }
    return SQLITE_OK;
}

static void note_comparison(const flags *f, int at, int affinity, verdict *out) {
    const held_column *held = at >= 0 && at < f->register_count ? &f->columns[at] : NULL;
    int i = 0;
    if (held == NULL || held->table == NULL) return;
    out->affinity_probes |= affinity >= AFFINITY_NUMERIC;
    while (i < out->count && i < JUDGED_TABLES && out->tables[i] != held->table) i++;
    if (i == JUDGED_TABLES) {
        out->count = JUDGED_TABLES + 1;
        return;
    }
    if (i == out->count) {
        out->tables[i] = held->table;
        out->declared[i] = true;
        out->count++;
    }
    if (held->text ? affinity != AFFINITY_TEXT : affinity >= AFFINITY_TEXT) out->declared[i] = false;
}

/* One instruction of a program. *ours: a table of ours has been opened. */
static int look_at_instruction(const rst_connection *c, sqlite3_stmt *program, flags *f, bool *ours, verdict *out) {
    static const char *const comparisons[] = {"Eq", "Ne", "Lt", "Le", "Gt", "Ge"};
    enum { AFFINITY_MASK = 0x47 };
    const char *name = (const char *)sqlite3_column_text(program, 1);
    int first = sqlite3_column_int(program, 2), second = sqlite3_column_int(program, 3);
    int third = sqlite3_column_int(program, 4), code;
    if (name == NULL) return SQLITE_NOMEM;
    if (strcmp(name, "VOpen") == 0) {
        code = first < 0 ? SQLITE_ERROR : grow((void **)&f->tables, &f->table_count, first, sizeof *f->tables);
        if (code != SQLITE_OK) return code;
        f->tables[first] = table_of(c, (const char *)sqlite3_column_text(program, 5));
        *ours |= f->tables[first] != NULL;
        return SQLITE_OK;
    }
    if (strcmp(name, "VColumn") == 0 || strcmp(name, "Column") == 0)
        return note_column(f, first, second, third, name[0] == 'V');
    if (strcmp(name, "SCopy") == 0) return note_copies(f, first, second, 1);
    if (strcmp(name, "Copy") == 0) return note_copies(f, first, second, third + 1);
    if (strcmp(name, "Move") == 0) return note_copies(f, first, second, third);
    for (size_t i = 0; i < sizeof comparisons / sizeof comparisons[0]; i++) {
        int affinity = sqlite3_column_int(program, 6) & AFFINITY_MASK;
        if (strcmp(name, comparisons[i]) != 0) continue;
        note_comparison(f, first, affinity, out);
        note_comparison(f, third, affinity, out);
    }
    return SQLITE_OK;
}

/* What the statement does. An error: it cannot be told. */
static int look_at_program(rst_connection *c, const char *text, verdict *out) {
    const int64_t changes = sqlite3_changes64(c->db), kept = rst_changes_keep(c);
    char *explain = sqlite3_mprintf("EXPLAIN %s", text);
    sqlite3_stmt *program = NULL;
    flags f = {0};
    bool ours = false;
    int code, result;
    if (explain == NULL) return SQLITE_NOMEM;
    code = sqlite3_prepare_v2(c->db, explain, -1, &program, NULL);
    sqlite3_free(explain);
    while (code == SQLITE_OK && (code = sqlite3_step(program)) == SQLITE_ROW)
        code = look_at_instruction(c, program, &f, &ours, out);
    /* A statement that reads no table of ours and yet runs beside us makes others run: those are looked at for
    ** themselves. */
    if (code == SQLITE_DONE) code = SQLITE_OK;
    result = sqlite3_finalize(program);
    if (sqlite3_changes64(c->db) != changes) rst_changes_restore(c, kept); /* the end of an EXPLAIN has set it to 0 */
    sqlite3_free(f.tables);
    sqlite3_free(f.columns);
    code = code == SQLITE_OK ? result : code;
    if (code == SQLITE_OK && !ours && strstr(text, "rootstock_") == NULL) out->affinity_probes = true;
    return code;
}

/* What is known of the text, kept or found out now; it holds until the next one is asked for. SQLITE_OK, or an error:
** it cannot be told now. */
static int judge(rst_connection *c, rst_affinity_probes *d, const char *text, const verdict **out) {
    verdict found = {0};
    int code;
    for (int i = 0; i < d->count; i++) {
        if (strcmp(d->texts[i].text, text) != 0) continue;
        *out = &d->texts[i];
        return SQLITE_OK;
    }
    code = look_at_program(c, text, &found);
    if (code != SQLITE_OK) return code;
    if (d->count == TEXTS_KEPT) texts_forget(d);
    if (d->texts == NULL) d->texts = rst_realloc64_unwatched(NULL, TEXTS_KEPT * sizeof *d->texts);
    if (d->texts == NULL) return SQLITE_NOMEM;
    found.text = sqlite3_mprintf("%s", text);
    if (found.text == NULL) return SQLITE_NOMEM;
    d->texts[d->count] = found;
    *out = &d->texts[d->count++];
    return SQLITE_OK;
}

/* Whether the statement compares a column of ours with numeric affinity that the column has not. SQLITE_OK, or an
** error: it cannot be told now. */
static int text_disguises(rst_connection *c, rst_affinity_probes *d, const char *text, bool *affinity_probes) {
    const verdict *known = NULL;
    int code;
    *affinity_probes = false;
    if (!may_disguise(d, text)) return SQLITE_OK;
    *affinity_probes = true;
    if (text == NULL) return SQLITE_OK;
    code = judge(c, d, text, &known);
    if (code == SQLITE_OK) *affinity_probes = known->affinity_probes;
    return code;
}

/* The statements on the connection that are not known yet; only those running where `busy`. One that writes is looked
** at while it runs only: its EXPLAIN sets changes(), which its own end sets again. */
static int look_at_statements(rst_connection *c, rst_affinity_probes *d, bool busy, int *looked,
                              bool *affinity_probes) {
    *looked = 0;
    *affinity_probes = false;
    for (sqlite3_stmt *s = sqlite3_next_stmt(c->db, NULL); s != NULL && !*affinity_probes;
         s = sqlite3_next_stmt(c->db, s)) {
        int code = SQLITE_OK;
        if (busy && !sqlite3_stmt_busy(s)) continue;
        if (!busy && s == d->marker) break;
        if (!busy && !sqlite3_stmt_readonly(s))
            d->writers |= may_disguise(d, sqlite3_sql(s));
        else
            code = text_disguises(c, d, sqlite3_sql(s), affinity_probes);
        if (code != SQLITE_OK) return code;
        ++*looked;
    }
    return SQLITE_OK;
}

/* What has been prepared, and of the schemas, since something was planned. SQLITE_OK, or an error: nothing is known. */
static int look_around(rst_connection *c, rst_affinity_probes *d) {
    rst_planner *planner = planner_of(c);
    uint64_t stamp = 0;
    bool certain;
    int looked, code = stamp_of(c, &stamp, &certain);
    d->known = false;
    if (code != SQLITE_OK) return code;
    if (!certain || !d->schemas_known || stamp != d->stamp) {
        d->schemas_known = false;
        texts_forget(d);
        rst_affinity_probes_rest(c);
        code = look_at_schemas(c, d);
        if (code != SQLITE_OK) return code;
        d->schemas_known = true;
        d->stamp = stamp;
    }
    if (d->any) rst_affinity_probes_rest(c); /* that statement may be gone */
    if (d->marker == NULL) d->writers = false;
    code = look_at_statements(c, d, false, &looked, &d->any);
    if (code != SQLITE_OK) return code;
    if (!d->any && (d->marker == NULL || looked > NEW_STATEMENTS)) {
        rst_affinity_probes_rest(c);
        rst_close_hook_touch(c);
        if (store_of(c)->close_hook_alive) {
            code = sqlite3_prepare_v3(c->db, "SELECT 1", -1, SQLITE_PREPARE_PERSISTENT, &d->marker, NULL);
            if (code != SQLITE_OK) return code;
        }
    }
    d->planned = planner->planned; /* nothing but what was looked at has been planned meanwhile */
    d->known = true;
    if (!d->any && !d->writers) planner->plain_planned = planner->planned;
    return SQLITE_OK;
}

/* What is known of the connection's statements, brought up to date; null: nothing is. */
static rst_affinity_probes *up_to_date(rst_connection *c) {
    rst_planner *planner = planner_of(c);
    rst_affinity_probes *d = planner->affinity_probes;
    if (d == NULL) {
        d = planner->affinity_probes = sqlite3_malloc64(sizeof *d);
        if (d == NULL) return NULL;
        memset(d, 0, sizeof *d);
    }
    if ((!d->known || d->planned != planner->planned) && look_around(c, d) != SQLITE_OK) return NULL;
    return d;
}

bool rst_affinity_probes_now(rst_connection *c) {
    rst_affinity_probes *d = up_to_date(c);
    bool affinity_probes;
    int looked;
    if (d == NULL) return true;
    if (!d->any && (!d->writers || sqlite3_txn_state(c->db, NULL) != SQLITE_TXN_WRITE)) return false;
    /* One of them does: is it one of those that run? */
    if (look_at_statements(c, d, true, &looked, &affinity_probes) != SQLITE_OK) return true;
    d->planned = planner_of(c)->planned;
    return affinity_probes;
}

bool rst_affinity_is_declared(const rst_table *table) {
    rst_connection *c = table->connection;
    rst_affinity_probes *d = up_to_date(c);
    bool compared = false;
    if (d == NULL) return false;
    for (sqlite3_stmt *s = sqlite3_next_stmt(c->db, NULL); s != NULL; s = sqlite3_next_stmt(c->db, s)) {
        const verdict *known = NULL;
        const char *text = sqlite3_stmt_busy(s) ? sqlite3_sql(s) : "";
        if (text == NULL || (text[0] != '\0' && judge(c, d, text, &known) != SQLITE_OK)) return false;
        if (known == NULL) continue;
        if (known->count > JUDGED_TABLES) return false;
        for (int i = 0; i < known->count; i++) {
            if (known->tables[i] != table) continue;
            if (!known->declared[i]) return false;
            compared = true;
        }
    }
    d->planned = planner_of(c)->planned; /* by EXPLAIN, which runs nothing */
    return compared;
}
