/*
** schema_rows.c - reads the rows of the schema that a statement may change, and finds out which those are.
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

/* Columns 1 to 4 of the statement's row; of those, sql may be NULL. False: out of memory. */
static bool read_texts(sqlite3_stmt *statement, rst_schema_row *row) {
    char **texts[4] = {&row->type, &row->name, &row->table_name, &row->sql}, *block;
    size_t size = 0;
    for (int i = 0; i < 4; i++) {
        if (sqlite3_column_text(statement, i + 1) != NULL) size += (size_t)sqlite3_column_bytes(statement, i + 1) + 1;
    }
    block = sqlite3_malloc64(size);
    if (block == NULL) return false;
    for (int i = 0; i < 4; i++) {
        const unsigned char *text = sqlite3_column_text(statement, i + 1);
        size_t length = (size_t)sqlite3_column_bytes(statement, i + 1) + 1;
        if (text == NULL) continue;
        *texts[i] = memcpy(block, text, length);
        block += length;
    }
    return true;
}

/* Adds the rows that the statement, which is bound, yields, to the first one that `known` has (or null). */
static int add_rows(sqlite3_stmt *statement, const rst_catalog *known, rst_schema_rows *s) {
    while (sqlite3_step(statement) == SQLITE_ROW) {
        if (known != NULL && rst_catalog_find(known, rst_text_at(statement, 1), rst_text_at(statement, 2)) != NULL)
            break;
        rst_schema_row *rows = rst_array_grown(s->rows, s->count, sizeof *rows);
        if (rows != NULL) s->rows = rows;
        if (rows == NULL || !read_texts(statement, &rows[s->count])) return SQLITE_NOMEM;
        rows[s->count++].rowid = sqlite3_column_int64(statement, 0);
    }
    return sqlite3_reset(statement);
}

#define SCHEMA_ROWS "SELECT rowid, type, name, tbl_name, sql FROM sqlite_master "

static void reverse(rst_schema_rows *s) {
    for (int low = 0, high = s->count - 1; low < high; low++, high--) {
        const rst_schema_row row = s->rows[low];
        s->rows[low] = s->rows[high];
        s->rows[high] = row;
    }
}

static int take(rst_connection *c, const rst_schema_reach *reach, rst_schema_rows *s) {
    const char *sql = reach->only_adds      ? SCHEMA_ROWS "ORDER BY rowid DESC"
                      : reach->name == NULL ? SCHEMA_ROWS "ORDER BY rowid"
                      : reach->is_of_table  ? SCHEMA_ROWS "WHERE tbl_name=?1 COLLATE NOCASE ORDER BY rowid"
                                            : SCHEMA_ROWS "WHERE name=?1 COLLATE NOCASE ORDER BY rowid";
    sqlite3_stmt *statement;
    int code;
    memset(s, 0, sizeof *s);
    code = sqlite3_prepare_v2(schema_of(c)->schema_db, sql, -1, &statement, NULL);
    if (code != SQLITE_OK) return code;
    if (reach->name != NULL) code = sqlite3_bind_text(statement, 1, reach->name, -1, SQLITE_STATIC);
    if (code == SQLITE_OK) code = add_rows(statement, reach->only_adds ? &schema_of(c)->loaded : NULL, s);
    sqlite3_finalize(statement);
    if (reach->only_adds) reverse(s);
    return rst_call_code(code);
}

int rst_schema_rows_take(rst_connection *c, const rst_schema_reach *reach, rst_schema_rows *s) {
    memset(s, 0, sizeof *s);
    return reach->only_adds ? SQLITE_OK : take(c, reach, s);
}

int rst_schema_rows_take_again(rst_connection *c, const rst_schema_reach *reach, const rst_schema_rows *before,
                               rst_schema_rows *s) {
    sqlite3_stmt *statement;
    int code;
    if (reach->name == NULL) return take(c, reach, s);
    memset(s, 0, sizeof *s);
    code = sqlite3_prepare_v2(schema_of(c)->schema_db, SCHEMA_ROWS "WHERE rowid=?1", -1, &statement, NULL);
    for (int i = 0; i < before->count && code == SQLITE_OK; i++) {
        code = sqlite3_bind_int64(statement, 1, before->rows[i].rowid);
        if (code == SQLITE_OK) code = add_rows(statement, NULL, s);
    }
    sqlite3_finalize(statement);
    return rst_call_code(code);
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
        reach->is_of_table = strcmp(type, "table") == 0 || strcmp(type, "view") == 0;
    } else {
        sqlite3_free(name);
    }
    return SQLITE_OK;
}

int rst_schema_reach_find(rst_connection *c, const char *sql, rst_schema_reach *reach) {
    const rst_schema_statement s = rst_schema_statement_read(sql, sql + strlen(sql));
    reach->only_adds = rst_token_is(&s.verb, "CREATE");
    return reach->only_adds ? SQLITE_OK : reach_dropped(c, &s, reach);
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
