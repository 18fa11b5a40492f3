/*
** schema_rows.c - reads the rows of the schema that a statement may change, and finds out which those are.
**
** What a CREATE adds SQLite reads back itself, to learn the new table. A trace of rows sees it, which spares a
** statement of our own. Invariant: what SQLite has not read so it does not know. Where the rows leave a doubt they are
** read again.
*/
#include "ddl/schema_rows.h"
#include "catalog/describe.h"
#include "catalog/hosted.h"
#include "parser/tokens.h"

#include <string.h>

void rst_schema_rows_free(rst_schema_rows *s) {
    for (int i = 0; i < s->count; i++) sqlite3_free(s->rows[i].type);
    sqlite3_free(s->rows);
    memset(s, 0, sizeof *s);
}

bool rst_texts_copy(const char *const from[4], char **const to[4]) {
    size_t size = 0;
    char *block;
    for (int i = 0; i < 4; i++) size += from[i] == NULL ? 0 : strlen(from[i]) + 1;
    block = sqlite3_malloc64(size);
    if (block == NULL) return false;
    for (int i = 0; i < 4; i++) {
        if (from[i] == NULL) continue;
        *to[i] = memcpy(block, from[i], strlen(from[i]) + 1);
        block += strlen(from[i]) + 1;
    }
    return true;
}

/* Adds a row of type, name, table and text. SQLITE_OK or SQLITE_NOMEM. */
static int add_row(rst_schema_rows *s, int64_t rowid, const char *const texts[4]) {
    rst_schema_row *row, *rows = rst_array_grown(s->rows, s->count, sizeof *rows);
    if (rows == NULL) return SQLITE_NOMEM;
    s->rows = rows;
    row = &rows[s->count];
    row->rowid = rowid;
    if (!rst_texts_copy(texts, (char **[4]){&row->type, &row->name, &row->table_name, &row->sql})) return SQLITE_NOMEM;
    s->count++;
    return SQLITE_OK;
}

/* Adds the rows that the statement, which is bound, yields, to the first one that `known` has (or null). */
static int add_rows(sqlite3_stmt *statement, const rst_catalog *known, rst_schema_rows *s) {
    while (sqlite3_step(statement) == SQLITE_ROW) {
        if (known != NULL && rst_catalog_find(known, rst_text_at(statement, 1), rst_text_at(statement, 2)) != NULL)
            break;
        if (add_row(s, sqlite3_column_int64(statement, 0),
                    (const char *[4]){rst_text_at(statement, 1), rst_text_at(statement, 2), rst_text_at(statement, 3),
                                      rst_text_at(statement, 4)}) != SQLITE_OK)
            return SQLITE_NOMEM;
    }
    return sqlite3_reset(statement);
}

static void reverse(rst_schema_rows *s) {
    for (int low = 0, high = s->count - 1; low < high; low++, high--) {
        const rst_schema_row row = s->rows[low];
        s->rows[low] = s->rows[high];
        s->rows[high] = row;
    }
}

/* What a DROP takes away, as the catalog has it: nothing of it will be there to be compared. */
static int take_dropped(const rst_catalog *loaded, const rst_schema_reach *reach, rst_schema_rows *s) {
    int code = SQLITE_OK;
    for (int i = 0; i < loaded->count && code == SQLITE_OK; i++) {
        const rst_object *object = &loaded->objects[i];
        const char *name = reach->type == NULL ? object->table_name : object->name;
        if (sqlite3_stricmp(name, reach->name) == 0 && (reach->type == NULL || rst_object_is(object, reach->type)))
            code = add_row(s, i, (const char *[4]){object->type, object->name, object->table_name, object->sql});
    }
    return code;
}

static int take(rst_connection *c, const rst_schema_reach *reach, rst_schema_rows *s) {
    /* +: of a bare column SQLite writes down which table and schema it is of. */
    const char *sql = reach->only_adds
                          ? "SELECT +rowid, +type, +name, +tbl_name, +sql FROM sqlite_master ORDER BY rowid DESC"
                          : "SELECT +rowid, +type, +name, +tbl_name, +sql FROM sqlite_master ORDER BY rowid";
    sqlite3_stmt *statement;
    int code = sqlite3_prepare_v2(schema_of(c)->schema_db, sql, -1, &statement, NULL);
    if (code != SQLITE_OK) return code;
    code = add_rows(statement, reach->only_adds ? &schema_of(c)->loaded : NULL, s);
    sqlite3_finalize(statement);
    if (reach->only_adds) reverse(s);
    return rst_call_code(code);
}

int rst_schema_rows_take(rst_connection *c, const rst_schema_reach *reach, rst_schema_rows *s) {
    if (reach->only_adds) return SQLITE_OK;
    return reach->name != NULL ? take_dropped(&schema_of(c)->loaded, reach, s) : take(c, reach, s);
}

/* SQLite keeps no text of a statement that reads its list of tables: by this it is known. */
static int note_row(unsigned int kind, void *context, void *statement, void *none) {
    rst_schema_rows *s = context;
    const char *texts[4];
    UNUSED(kind);
    UNUSED(none);
    if (sqlite3_sql(statement) != NULL || sqlite3_column_count(statement) != 5) return 0;
    for (int i = 0; i < 4; i++) texts[i] = rst_text_at(statement, i == 3 ? 4 : i);
    if (texts[0] == NULL || texts[1] == NULL || texts[2] == NULL || add_row(s, s->count, texts) != SQLITE_OK)
        s->unsure = true;
    return 0;
}

void rst_schema_rows_watch(rst_connection *c, const rst_schema_reach *reach, rst_schema_rows *s) {
    if (reach->only_adds) (void)sqlite3_trace_v2(schema_of(c)->schema_db, SQLITE_TRACE_ROW, note_row, s);
}

void rst_schema_rows_unwatch(rst_connection *c) {
    (void)sqlite3_trace_v2(schema_of(c)->schema_db, 0, NULL, NULL);
}

/* Whether these are all, in the order of the list. SQLite reads one table's rows in one go. sqlite_sequence, a virtual
** table with its shadow tables, or the whole list read anew has rows of several, known ones or the same twice. */
static bool is_sure(const rst_connection *c, const rst_schema_rows *s) {
    bool sure = s->count > 0 && !s->unsure;
    for (int i = 0; i < s->count && sure; i++) {
        const rst_schema_row *row = &s->rows[i];
        const rst_object object = {.type = row->type, .sql = row->sql};
        sure = strcmp(row->table_name, s->rows[0].table_name) == 0 && !rst_object_is_virtual(&object) &&
               rst_catalog_find(&schema_of(c)->loaded, row->type, row->name) == NULL;
        for (int k = 0; k < i && sure; k++) sure = sqlite3_stricmp(row->name, s->rows[k].name) != 0;
    }
    return sure;
}

int rst_schema_rows_take_again(rst_connection *c, const rst_schema_reach *reach, rst_schema_rows *s) {
    if (reach->name != NULL || (reach->only_adds && is_sure(c, s))) return SQLITE_OK;
    rst_schema_rows_free(s);
    return take(c, reach, s);
}

/* What a DROP names, where it is plain: rows of that name or of that table go, no other row changes. The reach is every
** row for any other statement, and for a virtual table, whose shadow tables have other names. */
static int reach_dropped(rst_connection *c, const rst_schema_statement *s, rst_schema_reach *reach) {
    static const char *const types[] = {"TABLE", "table", "INDEX", "index", "VIEW", "view", "TRIGGER", "trigger"};
    const char *type = NULL;
    const rst_object *object;
    char *name;
    for (size_t i = 0; i < sizeof types / sizeof *types; i += 2) {
        if (rst_schema_statement_is(s, "DROP", types[i])) type = types[i + 1];
    }
    if (type == NULL || !rst_token_names(&s->name)) return SQLITE_OK;
    name = rst_token_name(&s->name);
    if (name == NULL) return SQLITE_NOMEM;
    object = rst_catalog_find(&schema_of(c)->loaded, type, name);
    if (object != NULL && !rst_object_is_virtual(object)) {
        reach->name = name;
        reach->type = strcmp(type, "table") == 0 || strcmp(type, "view") == 0 ? NULL : type;
    } else {
        sqlite3_free(name);
    }
    return SQLITE_OK;
}

int rst_schema_reach_find(rst_connection *c, const rst_schema_statement *s, rst_schema_reach *reach) {
    reach->only_adds = rst_token_is(&s->verb, "CREATE");
    return reach->only_adds ? SQLITE_OK : reach_dropped(c, s, reach);
}

const rst_schema_row *rst_schema_rows_find(const rst_schema_rows *s, int64_t rowid) {
    int low = 0, high = s->count; /* they were read in this order */
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (s->rows[middle].rowid == rowid) return &s->rows[middle];
        if (s->rows[middle].rowid < rowid)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
