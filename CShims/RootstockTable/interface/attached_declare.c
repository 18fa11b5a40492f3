/*
** attached_declare.c - which virtual tables stand for an attached store's tables, and what each knows of its table.
**
** Invariant: the in-memory database lists a virtual table for each table and view of inner's schema in the state
** a->declared. It lists two more: `rootstock_attached_schema` for sqlite_master, and `rootstock_attached_counter`,
** which keeps no rows.
*/
#include "interface/attached.h"

#include "common/values.h"

#include <string.h>

/* ---- one table ---- */

/* A number of the text, so that another text is another virtual table. */
static uint64_t stamp_of(const unsigned char *text) {
    uint64_t stamp = 0xCBF29CE484222325u;
    for (; text != NULL && *text != '\0'; text++) stamp = (stamp ^ *text) * 0x100000001B3u;
    return stamp;
}

const char *const rst_attached_names[ATTACHED_NAMES][2] = {{"sqlite_master", "rootstock_attached_schema"},
                                                           {"sqlite_schema", "rootstock_attached_schema"},
                                                           {"sqlite_sequence", "rootstock_attached_sequence"},
                                                           {"sqlite_stat1", "rootstock_attached_stat1"}};

static const char *declared_name(const char *name) {
    for (int i = 0; i < ATTACHED_NAMES; i++) {
        if (sqlite3_stricmp(name, rst_attached_names[i][0]) == 0) return rst_attached_names[i][1];
    }
    return sqlite3_strnicmp(name, "sqlite_", 7) == 0 ? NULL : name;
}

static const char *inner_name(const char *name) {
    for (int i = 0; i < ATTACHED_NAMES; i++) {
        if (sqlite3_stricmp(name, rst_attached_names[i][1]) == 0) return rst_attached_names[i][0];
    }
    return name;
}

/* SQLite's own module of a hosted virtual table names types as it likes. */
static int read_column(rst_attached *a, rst_attached_shape *shape, sqlite3_stmt *row) {
    rst_attached_column *columns =
                            sqlite3_realloc64(shape->columns, ((sqlite3_uint64)shape->count + 1) * sizeof *columns),
                        *column;
    const char *name = (const char *)sqlite3_column_text(row, 1), *type = (const char *)sqlite3_column_text(row, 2);
    const char *collation = NULL, *given = (const char *)sqlite3_column_text(row, 4);
    const int hidden = sqlite3_column_int(row, 6);
    const rst_table *table = rst_table_find(a->store, shape->name);
    if (columns == NULL || name == NULL || type == NULL) {
        if (columns != NULL) shape->columns = columns;
        return SQLITE_NOMEM;
    }
    shape->columns = columns;
    column = &columns[shape->count++];
    memset(column, 0, sizeof *column);
    column->generated = hidden >= 2;
    column->hidden = hidden == 1;
    column->has_default = given != NULL && sqlite3_stricmp(given, "NULL") != 0;
    column->affinity = rst_type_affinity(type, table != NULL && table->strict);
    column->name = sqlite3_mprintf("%s", name);
    column->type = sqlite3_mprintf("%s", type);
    (void)rootstock_table_column_metadata(a->inner, "main", shape->name, name, NULL, &collation, NULL, NULL, NULL);
    column->collation = sqlite3_mprintf("%s", collation == NULL ? "BINARY" : collation);
    if (sqlite3_column_int(row, 5) == 1 && sqlite3_stricmp(type, "INTEGER") == 0 && shape->rowid_column == -1)
        shape->rowid_column = shape->count - 1;
    else if (sqlite3_column_int(row, 5) > 0)
        shape->rowid_column = -2; /* a key of more columns, or of another type */
    return column->name == NULL || column->type == NULL || column->collation == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

static int place_of(const rst_attached_shape *shape, const char *name) {
    for (int i = 0; i < shape->count && name != NULL; i++) {
        if (sqlite3_stricmp(shape->columns[i].name, name) == 0) return i;
    }
    return -1;
}

/* Runs a query on inner and hands its rows to a function. */
static int each_row(rst_attached *a, rst_attached_shape *shape,
                    int (*row)(rst_attached *, rst_attached_shape *, sqlite3_stmt *), char **message,
                    const char *format, ...) {
    va_list arguments;
    sqlite3_stmt *kept;
    char *text;
    int code;
    va_start(arguments, format);
    text = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    code = text == NULL ? SQLITE_NOMEM : rst_inner_get(a, text, &kept, message);
    sqlite3_free(text);
    if (code != SQLITE_OK) return code;
    while ((code = sqlite3_step(kept)) == SQLITE_ROW) {
        code = row(a, shape, kept);
        if (code != SQLITE_OK) break;
    }
    return rst_inner_end(a, kept, code, message);
}

static int add_index(rst_attached_shape *shape, const rst_part *parts, int count, bool unique) {
    rst_attached_index *index = &shape->indexes[shape->index_count];
    *index = (rst_attached_index){.count = count, .unique = unique};
    index->columns = sqlite3_malloc64((sqlite3_uint64)count * sizeof *index->columns);
    if (index->columns == NULL) return SQLITE_NOMEM;
    for (int k = 0; k < count; k++) index->columns[k] = parts[k].column < 0 ? -1 : parts[k].column;
    shape->index_count++;
    return SQLITE_OK;
}

/* Partial indexes are left to inner: whether they serve hangs on the whole WHERE. */
static int read_indexes(const rst_table *table, rst_attached_shape *shape) {
    int code = SQLITE_OK;
    shape->indexes = sqlite3_malloc64(((sqlite3_uint64)table->index_count + 1) * sizeof *shape->indexes);
    if (shape->indexes == NULL) return SQLITE_NOMEM;
    if (table->without_rowid) code = add_index(shape, table->key, table->key_count, true);
    for (int i = 0; i < table->index_count && code == SQLITE_OK; i++) {
        const rst_index *index = &table->indexes[i];
        if (index->where == NULL) code = add_index(shape, index->parts, index->part_count, index->unique);
    }
    return code;
}

static int read_kind(rst_attached *a, rst_attached_shape *shape, sqlite3_stmt *row) {
    const char *type = (const char *)sqlite3_column_text(row, 0), *sql = (const char *)sqlite3_column_text(row, 1);
    UNUSED(a);
    shape->view = type != NULL && strcmp(type, "view") == 0;
    shape->hosted = sql != NULL && sqlite3_strnicmp(sql, "CREATE VIRTUAL ", 15) == 0;
    return SQLITE_OK;
}

static int read_count(rst_attached *a, rst_attached_shape *shape, sqlite3_stmt *row) {
    UNUSED(a);
    shape->rows = sqlite3_column_int64(row, 0);
    return SQLITE_OK;
}

/* A view's column may have an affinity without a type (CAST): CREATE TABLE AS writes it down. It writes none for ANY of
** a STRICT table. */
static int read_affinity(rst_attached *a, rst_attached_shape *shape, sqlite3_stmt *row) {
    const char *type = (const char *)sqlite3_column_text(row, 2);
    const int place = sqlite3_column_int(row, 0);
    UNUSED(a);
    if (type != NULL && place < shape->count && type[0] == '\0') shape->columns[place].affinity = AFFINITY_BLOB;
    if (type == NULL || place >= shape->count || type[0] == '\0' || shape->columns[place].type[0] != '\0')
        return SQLITE_OK;
    sqlite3_free(shape->columns[place].type);
    shape->columns[place].type = sqlite3_mprintf("%s", type);
    shape->columns[place].affinity = rst_type_affinity(type, false);
    return shape->columns[place].type == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

static int read_view(rst_attached *a, rst_attached_shape *shape, char **message) {
    static const char drop[] = "DROP TABLE IF EXISTS temp.\"rootstock view\"";
    char *text =
        sqlite3_mprintf("CREATE TABLE temp.\"rootstock view\" AS SELECT * FROM main.\"%w\" WHERE 0", shape->name);
    int code = text == NULL ? SQLITE_NOMEM : rst_inner_run(a, drop, message);
    if (code == SQLITE_OK) code = rst_inner_run(a, text, message);
    if (code == SQLITE_OK)
        code = each_row(a, shape, read_affinity, message, "PRAGMA temp.table_info(\"rootstock view\")");
    if (code == SQLITE_OK) code = rst_inner_run(a, drop, message);
    sqlite3_free(text);
    return code;
}

static void find_rowid(rst_attached_shape *shape) {
    for (int i = 0; i < ROWID_WORDS && !shape->without_rowid && shape->rowid == NULL; i++) {
        if (place_of(shape, rst_rowid_words[i]) < 0) shape->rowid = rst_rowid_words[i];
    }
}

/* The columns that its module declares on inner, which connects it; or why it cannot. */
static int read_hosted(rst_attached *a, rst_attached_shape *shape, char **message) {
    char *text = sqlite3_mprintf("SELECT 1 FROM main.\"%w\";PRAGMA main.table_xinfo(\"%w\")", shape->name, shape->name);
    sqlite3_stmt *list = NULL, *connects = NULL;
    const char *pragma = NULL;
    int code = text == NULL ? SQLITE_NOMEM : sqlite3_prepare_v2(a->inner, text, -1, &connects, &pragma);
    if (code == SQLITE_OK) code = sqlite3_prepare_v2(a->inner, pragma, -1, &list, NULL);
    if (code != SQLITE_OK && code != SQLITE_NOMEM) code = rst_inner_failed(a, code, message);
    while (code == SQLITE_OK && sqlite3_step(list) == SQLITE_ROW) code = read_column(a, shape, list);
    (void)sqlite3_finalize(list);
    (void)sqlite3_finalize(connects);
    sqlite3_free(text);
    find_rowid(shape);
    return code;
}

static int read_columns(rst_attached *a, rst_attached_shape *shape, char **message) {
    int code = shape->hosted ? read_hosted(a, shape, message)
                             : each_row(a, shape, read_column, message, "PRAGMA main.table_xinfo(\"%w\")", shape->name);
    if (shape->rowid_column < 0) shape->rowid_column = -1;
    for (int i = 0; i < shape->count && code == SQLITE_OK; i++)
        shape->stamp = shape->stamp * 31 + stamp_of((const unsigned char *)shape->columns[i].name);
    return code;
}

int rst_attached_shape_read(rst_attached *a, const char *name, rst_attached_shape *shape, char **message) {
    const rst_table *table;
    int code;
    memset(shape, 0, sizeof *shape);
    shape->rowid_column = -1;
    shape->name = sqlite3_mprintf("%s", inner_name(name));
    if (shape->name == NULL) return SQLITE_NOMEM;
    if (strcmp(shape->name, "sqlite_master") == 0) {
        shape->view = true;
        return read_columns(a, shape, message);
    }
    code = each_row(a, shape, read_kind, message,
                    "SELECT type,sql FROM sqlite_master WHERE name=%Q COLLATE NOCASE AND type IN ('table','view')",
                    shape->name);
    if (code == SQLITE_OK) code = read_columns(a, shape, message);
    if (code == SQLITE_OK && shape->view) code = read_view(a, shape, message);
    /* A view whose table is gone, a table of a module that inner has not: said when it is asked for. What FTS misses, a
    ** tokenizer, may come later: until then SQLite does not connect the table. */
    if (code != SQLITE_OK && (!shape->hosted || a->declaring) && code != SQLITE_NOMEM && message != NULL &&
        *message != NULL) {
        shape->broken = *message;
        *message = NULL;
        return SQLITE_OK;
    }
    if (code != SQLITE_OK || shape->view || shape->hosted) return code;
    if (shape->count == 0) {
        rst_set_message(message, "no such table: %s.%s", a->schema, name);
        return SQLITE_ERROR;
    }
    shape->without_rowid = rootstock_table_column_metadata(a->inner, "main", shape->name, "rootstock key", NULL, NULL,
                                                           NULL, NULL, NULL) == SQLITE_OK;
    find_rowid(shape);
    table = rst_table_find(a->store, shape->name);
    if (table != NULL && table->column_count == shape->count) code = read_indexes(table, shape);
    if (code == SQLITE_OK)
        code = each_row(a, shape, read_count, message, "SELECT count(*) FROM main.\"%w\"", shape->name);
    return code;
}

void rst_attached_shape_free(rst_attached_shape *shape) {
    for (int i = 0; i < shape->count; i++) {
        sqlite3_free(shape->columns[i].name);
        sqlite3_free(shape->columns[i].type);
        sqlite3_free(shape->columns[i].collation);
    }
    for (int i = 0; i < shape->index_count; i++) sqlite3_free(shape->indexes[i].columns);
    sqlite3_free(shape->columns);
    sqlite3_free(shape->indexes);
    sqlite3_free(shape->name);
    sqlite3_free(shape->broken);
    memset(shape, 0, sizeof *shape);
}

/* ---- all of them ---- */

typedef struct text_list {
    char **texts; /* name, then what stands behind CREATE VIRTUAL TABLE */
    int count;
} text_list;

static void list_free(text_list *list) {
    for (int i = 0; i < list->count; i++) sqlite3_free(list->texts[i]);
    sqlite3_free(list->texts);
}

static int list_add(text_list *list, const char *name, char *create) {
    char **texts = sqlite3_realloc64(list->texts, ((sqlite3_uint64)list->count + 2) * sizeof *texts);
    if (texts != NULL) list->texts = texts;
    if (texts == NULL || create == NULL || name == NULL) {
        sqlite3_free(create);
        return SQLITE_NOMEM;
    }
    texts[list->count] = sqlite3_mprintf("%s", name);
    if (texts[list->count] == NULL) {
        sqlite3_free(create);
        return SQLITE_NOMEM;
    }
    texts[list->count + 1] = create;
    list->count += 2;
    return SQLITE_OK;
}

static int list_place(const text_list *list, const char *name) {
    for (int i = 0; i < list->count; i += 2) {
        if (sqlite3_stricmp(list->texts[i], name) == 0) return i;
    }
    return -1;
}

/* The virtual tables as they are: of SQLite's own list, which the front door does not show. */
static int list_declared(rst_attached *a, text_list *list, char **message) {
    sqlite3_stmt *statement;
    int code = rst_prepare(a->c->db, &statement, "SELECT name,sql FROM \"%w\".sqlite_master", a->schema);
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW)
        code = list_add(list, (const char *)sqlite3_column_text(statement, 0),
                        sqlite3_mprintf("%s", sqlite3_column_text(statement, 1)));
    if (code == SQLITE_DONE) code = SQLITE_OK;
    if (code != SQLITE_OK && code != SQLITE_NOMEM) rst_set_message(message, "%s", sqlite3_errmsg(a->c->db));
    sqlite3_finalize(statement);
    return code;
}

/* SQLite keeps the text of CREATE without the schema's name. */
static bool is_same(const char *wanted, const char *declared) {
    const char *a = strrchr(wanted, '('), *b = strrchr(declared, '(');
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static int want(text_list *list, const char *name, uint64_t stamp) {
    name = declared_name(name);
    if (name == NULL) return SQLITE_OK;
    return list_add(list, name,
                    sqlite3_mprintf("\"%w\" USING rootstock_attached(%llu)", name, (unsigned long long)stamp));
}

/* A view's columns hang on other tables; a plan hangs on indexes. */
static int list_wanted(rst_attached *a, text_list *list, char **message) {
    sqlite3_stmt *kept = NULL;
    uint64_t indexes = 0, all = 0;
    int code = rst_inner_get(a, "SELECT type,name,sql FROM sqlite_master", &kept, message);
    if (code != SQLITE_OK) return code;
    for (int pass = 0; pass < 2 && code == SQLITE_OK; pass++) {
        while (code == SQLITE_OK && (code = sqlite3_step(kept)) == SQLITE_ROW) {
            const char *type = (const char *)sqlite3_column_text(kept, 0);
            const char *name = (const char *)sqlite3_column_text(kept, 1);
            uint64_t stamp = stamp_of(sqlite3_column_text(kept, 2));
            code = type == NULL || name == NULL ? SQLITE_NOMEM : SQLITE_OK;
            if (code != SQLITE_OK) break;
            if (pass == 0) {
                all = all * 31 + stamp;
                if (strcmp(type, "index") == 0) indexes = indexes * 31 + stamp;
            } else if (strcmp(type, "view") == 0) {
                code = want(list, name, stamp + all);
            } else if (strcmp(type, "table") == 0) {
                code = want(list, name, stamp + indexes);
            }
        }
        if (code == SQLITE_DONE) code = SQLITE_OK;
        if (code == SQLITE_OK) code = sqlite3_reset(kept);
    }
    if (code != SQLITE_OK && code != SQLITE_NOMEM) code = rst_inner_failed(a, code, message);
    rst_inner_done(a, kept);
    if (code == SQLITE_OK) code = want(list, "rootstock_attached_schema", 0);
    return code == SQLITE_OK ? want(list, "rootstock_attached_counter", 0) : code;
}

static int declare(rst_attached *a, const text_list *wanted, const text_list *declared, char **message) {
    int code = SQLITE_OK;
    for (int i = 0; i < declared->count && code == SQLITE_OK; i += 2) {
        int place = list_place(wanted, declared->texts[i]);
        if (place < 0 || !is_same(wanted->texts[place + 1], declared->texts[i + 1]))
            code = rst_execute(a->c, message, "DROP TABLE \"%w\".\"%w\"", a->schema, declared->texts[i]);
    }
    for (int i = 0; i < wanted->count && code == SQLITE_OK; i += 2) {
        int place = list_place(declared, wanted->texts[i]);
        if (place < 0 || !is_same(wanted->texts[i + 1], declared->texts[place + 1]))
            code = rst_execute(a->c, message, "CREATE VIRTUAL TABLE \"%w\".%s", a->schema, wanted->texts[i + 1]);
    }
    return code;
}

/* SQLite's own list of the tables, in an empty database of the connection's encoding. */
static int write_list(rst_attached *a, sqlite3 *other, const text_list *wanted) {
    sqlite3_stmt *insert = NULL;
    char *encoding;
    int code = rst_read_text(a->c->db, &encoding, "PRAGMA encoding");
    if (code == SQLITE_OK)
        code = rst_execute_on(other, "PRAGMA encoding=%Q;PRAGMA schema_version=1;PRAGMA writable_schema=ON;BEGIN",
                              encoding);
    sqlite3_free(encoding);
    if (code == SQLITE_OK)
        code = rst_prepare(other, &insert,
                           "INSERT INTO sqlite_master VALUES ('table',?1,?1,0,'CREATE VIRTUAL TABLE '||?2)");
    for (int i = 0; i < wanted->count && code == SQLITE_OK; i += 2) {
        code = sqlite3_bind_text(insert, 1, wanted->texts[i], -1, SQLITE_STATIC);
        if (code == SQLITE_OK) code = sqlite3_bind_text(insert, 2, wanted->texts[i + 1], -1, SQLITE_STATIC);
        if (code == SQLITE_OK) (void)sqlite3_step(insert);
        if (code == SQLITE_OK) code = sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    return code == SQLITE_OK ? sqlite3_exec(other, "COMMIT", NULL, NULL, NULL) : code;
}

/* Declares all at once, in the file that SQLite then attaches: no transaction of SQLite's writes it. So a ROLLBACK
** leaves the tables there, and DETACH may follow in the same transaction. */
static int attach_list(rst_attached *a, const text_list *wanted, char **message) {
    sqlite3 *other = NULL;
    unsigned char *bytes = NULL;
    sqlite3_int64 size = 0;
    int code = sqlite3_open_v2(":memory:", &other, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (code == SQLITE_OK) code = write_list(a, other, wanted);
    if (code == SQLITE_OK) bytes = sqlite3_serialize(other, "main", &size, 0);
    sqlite3_close(other);
    if (code == SQLITE_OK) code = bytes == NULL ? SQLITE_NOMEM : rst_attached_file_open(a, bytes, (int)size, message);
    sqlite3_free(bytes);
    return code;
}

int rst_attached_declare(rst_attached *a, char **message) {
    text_list wanted = {0};
    int code = rst_schema_renew(a->store);
    if (code != SQLITE_OK) return rst_inner_failed(a, code, message);
    a->declaring = true;
    code = list_wanted(a, &wanted, message);
    if (code == SQLITE_OK) code = attach_list(a, &wanted, message);
    a->declaring = false;
    list_free(&wanted);
    if (code != SQLITE_OK) return code;
    a->declared = planner_of(a->store)->schema_state;
    a->number = ++front_of(a->c)->attached_changes;
    return SQLITE_OK;
}

/* Declares what has changed since, as a part of SQLite's transaction. */
static int declare_anew(rst_attached *a, const text_list *wanted, char **message) {
    static const char mark[] = "rootstock attached";
    text_list declared = {0};
    const bool alone = sqlite3_get_autocommit(a->c->db) != 0;
    int code = list_declared(a, &declared, message), ended;
    if (code == SQLITE_OK) code = rst_execute(a->c, message, "SAVEPOINT \"%w\"", mark);
    if (code == SQLITE_OK) {
        code = declare(a, wanted, &declared, message);
        if (code != SQLITE_OK) (void)rst_execute(a->c, NULL, "ROLLBACK TO \"%w\"", mark);
        ended = rst_execute(a->c, NULL, "RELEASE \"%w\"", mark);
        if (code == SQLITE_OK) code = ended;
        /* Else what the application changes next would stay in a transaction that it did not begin. */
        if (alone && !sqlite3_get_autocommit(a->c->db)) (void)rst_execute(a->c, NULL, "ROLLBACK");
    }
    list_free(&declared);
    return code;
}

int rst_attached_refresh(rst_attached *a, char **message) {
    text_list wanted = {0};
    sqlite3_int64 rowid;
    uint64_t state;
    int code = rst_schema_renew(a->store);
    state = planner_of(a->store)->schema_state;
    if ((code & 0xff) == SQLITE_LOCKED || (code == SQLITE_OK && state == a->declared) || a->declaring) return SQLITE_OK;
    if (code != SQLITE_OK) return rst_inner_failed(a, code, message);
    rowid = sqlite3_last_insert_rowid(a->c->db);
    a->declaring = true;
    code = list_wanted(a, &wanted, message);
    if (code == SQLITE_OK) code = declare_anew(a, &wanted, message);
    a->declaring = false;
    list_free(&wanted);
    sqlite3_set_last_insert_rowid(a->c->db, rowid);
    if ((code & 0xff) == SQLITE_LOCKED) { /* statements of the application run: they keep the schema they know */
        rst_forget_message(message);
        return SQLITE_OK;
    }
    if (code != SQLITE_OK) return code;
    a->declared = state;
    a->number = ++front_of(a->c)->attached_changes;
    a->moved = !sqlite3_get_autocommit(a->c->db);
    return SQLITE_OK;
}

int rst_attached_state(rst_connection *c, unsigned long long *state) {
    int code = SQLITE_OK;
    for (rst_attached *a = front_of(c)->attached; a != NULL && code == SQLITE_OK; a = a->next) {
        code = rst_attached_refresh(a, NULL);
        *state = *state * 0x100000001B3u + a->number + stamp_of((const unsigned char *)a->schema);
    }
    return code;
}

bool rst_attached_is_current(rst_connection *c) {
    unsigned long long state = 1;
    if (rst_txn_hook_is_away(c) || rst_attached_state(c, &state) != SQLITE_OK) return false; /* it might come back */
    for (const rst_attached *a = front_of(c)->attached; a != NULL; a = a->next) {
        if (a->declared != planner_of(a->store)->schema_state || (a->writing && sqlite3_get_autocommit(a->inner)))
            return false; /* or inner was rolled back, of which the front door tells SQLite */
    }
    front_of(c)->attached_state = state == 0 ? 1 : state;
    return true;
}
