/*
** affinity_probe.c - whether a text that spells a number may stand for the number where it is compared.
**
** SQLite does not tell a virtual table the affinity of a comparison. A column of numeric affinity in a table never
** gives a text that spells a number, and what has no affinity, or that of TEXT, compares such a text as a text. But a
** column of a compound SELECT can be of numeric affinity and give '01' (of SELECT id FROM k UNION ALL SELECT '01'), and
** so can a column of another module's table. Then every spelling of that number is equal to it, and no range of keys
** but that of all texts holds them. What SQLite has compiled tells: a comparison that applies numeric affinity to one
** of our columns that has none. So of the statements on the connection those that may have a compound in them, by their
** text, a view or a trigger, have their programs looked through (EXPLAIN), once for each text. This happens when such a
** text is sought for the first time after something was planned; where no statement affinity probe a number, and hardly
** any ever does, the answer is the comparison of two counters. Invariant: "no" is said only where each statement that
** may be running is known to make no such comparison.
*/
#include "planner/planner.h"
#include "planner/affinity_probe.h"

#include <stdlib.h>
#include <string.h>

enum { TEXTS_KEPT = 128, NEW_STATEMENTS = 8, OTHER_DATABASES = 2 /* behind main and temp */ };

typedef struct verdict {
    char *text;
    bool affinity_probes;
} verdict;

typedef struct rst_affinity_probes {
    bool known; /* the connection's counter, and whether any statement that existed then affinity probe a number */
    uint64_t planned;
    bool any;
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

static bool has_word(const char *text, const char *word) {
    size_t size = strlen(word);
    for (const char *p = text; *p != '\0'; p++) {
        if ((*p | 0x20) == (word[0] | 0x20) && sqlite3_strnicmp(p, word, (int)size) == 0) return true;
    }
    return false;
}

static int count_of(const char *text, const char *word) {
    size_t size = strlen(word);
    int count = 0;
    for (const char *p = text; *p != '\0'; p++)
        count += (*p | 0x20) == (word[0] | 0x20) && sqlite3_strnicmp(p, word, (int)size) == 0;
    return count;
}

/* Whether there is a SELECT beside those that compare nothing: two that gather the rows of VALUES (transform_insert.c),
** and those that tell where a trigger's body begins and ends (trigger.c). To look at what has no others would not only
** be in vain: the EXPLAIN of an INSERT sets changes() to 0. */
static bool has_select(const char *text) {
    int selects = count_of(text, "select");
    if (selects > 0) selects -= count_of(text, "SELECT rootstock_moment(");
    if (selects > 0) selects -= 2 * count_of(text, "\"rootstock row\"=0) IS NULL");
    return selects > 0;
}

/* Whether there is another UNION than those between the arms of a statement that gathers rows (bulk_text.c; the key's
** arm is between the two others): what these give is stored, and compared with nothing. Its EXPLAIN would set changes()
** to 0, too. */
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

/* Views and triggers of the connection, and tables of other modules. */
static int look_at_schemas(rst_connection *c, rst_affinity_probes *d) {
    int code;
    names_forget(d);
    d->views = d->triggers = d->others = false;
    for (int i = OTHER_DATABASES; sqlite3_db_name(c->db, i) != NULL; i++)
        d->others |= strcmp(sqlite3_db_name(c->db, i), "rootstock") != 0;
    code = note_objects(c, d,
                        "SELECT sql,type,name FROM temp.sqlite_master WHERE type IN ('view','trigger') OR sql LIKE "
                        "'CREATE VIRTUAL%' AND name<>'rootstock_txn'");
    if (code == SQLITE_OK)
        code = note_objects(c, d,
                            schema_of(c)->sidecar
                                ? "SELECT sql,type,name FROM main.sqlite_master WHERE type IN ('view','trigger') OR "
                                  "sql LIKE 'CREATE VIRTUAL%'"
                                : "SELECT sql,type,name FROM main.sqlite_master WHERE type IN ('view','trigger')");
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

/* What has come up in a program so far. */
typedef struct flags {
    rst_table **tables; /* by cursor */
    int table_count;
    bool *unsure; /* by register: it has a column of ours without numeric affinity */
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

/* One instruction of a program. *ours: a table of ours has been opened. */
static int look_at_instruction(const rst_connection *c, sqlite3_stmt *program, flags *f, bool *ours,
                               bool *affinity_probes) {
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
    if (strcmp(name, "VColumn") == 0 || strcmp(name, "Column") == 0) {
        const rst_table *table = name[0] == 'V' && first >= 0 && first < f->table_count ? f->tables[first] : NULL;
        code = third < 0 ? SQLITE_ERROR : grow((void **)&f->unsure, &f->register_count, third, sizeof *f->unsure);
        if (code != SQLITE_OK) return code;
        f->unsure[third] =
            table != NULL && (second >= table->column_count ||
                              (second != table->rowid_column && table->columns[second].affinity < AFFINITY_NUMERIC));
        return SQLITE_OK;
    }
    for (size_t i = 0; i < sizeof comparisons / sizeof comparisons[0]; i++) {
        if (strcmp(name, comparisons[i]) != 0) continue;
        if ((sqlite3_column_int(program, 6) & AFFINITY_MASK) < AFFINITY_NUMERIC) return SQLITE_OK;
        *affinity_probes |= (first >= 0 && first < f->register_count && f->unsure[first]) ||
                            (third >= 0 && third < f->register_count && f->unsure[third]);
    }
    return SQLITE_OK;
}

/* Whether the statement compares a column of ours with numeric affinity that the column has not. An error: it cannot be
** told. */
static int look_at_program(rst_connection *c, const char *text, bool *affinity_probes) {
    char *explain = sqlite3_mprintf("EXPLAIN %s", text);
    sqlite3_stmt *program = NULL;
    flags f = {0};
    bool ours = false;
    int code, result;
    *affinity_probes = false;
    if (explain == NULL) return SQLITE_NOMEM;
    code = sqlite3_prepare_v2(c->db, explain, -1, &program, NULL);
    sqlite3_free(explain);
    while (code == SQLITE_OK && !*affinity_probes) {
        code = sqlite3_step(program);
        if (code == SQLITE_ROW) code = look_at_instruction(c, program, &f, &ours, affinity_probes);
    }
    /* A statement that reads no table of ours and yet runs beside us makes others run: those are looked at for
    ** themselves. */
    if (code == SQLITE_DONE) code = SQLITE_OK;
    result = sqlite3_finalize(program);
    sqlite3_free(f.tables);
    sqlite3_free(f.unsure);
    if (code == SQLITE_OK) code = result;
    if (code == SQLITE_OK && !ours && strstr(text, "rootstock_") == NULL) *affinity_probes = true;
    return code;
}

/* The verdict on the text of a statement. SQLITE_OK, or an error: it cannot be told now. */
static int text_disguises(rst_connection *c, rst_affinity_probes *d, const char *text, bool *affinity_probes) {
    int code;
    *affinity_probes = false;
    if (!may_disguise(d, text)) return SQLITE_OK;
    *affinity_probes = true;
    if (text == NULL) return SQLITE_OK;
    for (int i = 0; i < d->count; i++) {
        if (strcmp(d->texts[i].text, text) != 0) continue;
        *affinity_probes = d->texts[i].affinity_probes;
        return SQLITE_OK;
    }
    code = look_at_program(c, text, affinity_probes);
    if (code != SQLITE_OK) return code;
    if (d->count == TEXTS_KEPT) texts_forget(d);
    if (d->texts == NULL) d->texts = rst_realloc64_unwatched(NULL, TEXTS_KEPT * sizeof *d->texts);
    if (d->texts == NULL) return SQLITE_OK;
    d->texts[d->count].text = sqlite3_mprintf("%s", text);
    d->texts[d->count].affinity_probes = *affinity_probes;
    if (d->texts[d->count].text == NULL) return SQLITE_NOMEM;
    d->count++;
    return SQLITE_OK;
}

/* The statements on the connection that are not known yet; only those running where `busy`. */
static int look_at_statements(rst_connection *c, rst_affinity_probes *d, bool busy, int *looked,
                              bool *affinity_probes) {
    *looked = 0;
    *affinity_probes = false;
    for (sqlite3_stmt *s = sqlite3_next_stmt(c->db, NULL); s != NULL && !*affinity_probes;
         s = sqlite3_next_stmt(c->db, s)) {
        int code;
        if (busy && !sqlite3_stmt_busy(s)) continue;
        if (!busy && s == d->marker) break;
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
    if (!d->any) planner->plain_planned = planner->planned;
    return SQLITE_OK;
}

bool rst_affinity_probes_now(rst_connection *c) {
    rst_planner *planner = planner_of(c);
    rst_affinity_probes *d = planner->affinity_probes;
    bool affinity_probes;
    int looked;
    if (d == NULL) {
        d = planner->affinity_probes = sqlite3_malloc64(sizeof *d);
        if (d == NULL) return true;
        memset(d, 0, sizeof *d);
    }
    if ((!d->known || d->planned != planner->planned) && look_around(c, d) != SQLITE_OK) return true;
    if (!d->any) return false;
    /* One of them does: is it one of those that run? */
    if (look_at_statements(c, d, true, &looked, &affinity_probes) != SQLITE_OK) return true;
    d->planned = planner->planned;
    return affinity_probes;
}
