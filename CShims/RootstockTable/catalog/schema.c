/*
** schema.c - from the catalog to the tables in memory.
**
** SQLite parsed the schema already (schema_db.c); its pragmas give columns, keys, indexes and foreign keys. What
** they do not tell (ON CONFLICT clauses, expressions, DEFERRABLE) schema_clauses.c reads off the text. Invariant:
** c->tables describe the catalog of generation c->generation; db's declarations follow by rst_schema_declare.
*/
#include "catalog/catalog.h"
#include "catalog/describe.h"
#include "catalog/partial_predicate.h"
#include "catalog/expression_column.h"
#include "parser/tokens.h"

#include <stdlib.h>
#include <string.h>

char *rst_text_duplicate(const char *text) {
    size_t size = text == NULL ? 0 : strlen(text) + 1;
    char *copy = text == NULL ? NULL : sqlite3_malloc64(size);
    if (copy != NULL) memcpy(copy, text, size);
    return copy;
}

bool rst_same_text(const char *a, const char *b) {
    return (a == NULL && b == NULL) || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

void *rst_array_grown(void *array, int count, size_t size) {
    /* Room for one more; powers of two from 4. */
    if (count == 0 || (count >= 4 && (count & (count - 1)) == 0)) {
        int capacity = count == 0 ? 4 : count * 2;
        void *more = sqlite3_realloc64(array, (sqlite3_uint64)capacity * size);
        if (more == NULL) return NULL;
        array = more;
    }
    memset((char *)array + (size_t)count * size, 0, size);
    return array;
}

void rst_table_release(rst_table *table) {
    if (table == NULL || --table->references > 0) return;
    schema_of(table->connection)->schema_hooks->free_attachments(table);
    rst_validator_finalize(table);
    rootstock_buffer_free(&table->last_key);
    for (int i = 0; i < table->column_count; i++) {
        rst_column *column = &table->columns[i];
        sqlite3_free(column->name);
        sqlite3_free(column->type);
        sqlite3_free(column->default_text);
        sqlite3_free(column->collation_name);
        rootstock_buffer_free(&column->missing_bytes);
    }
    for (int i = 0; i < table->index_count; i++) {
        rst_index *index = &table->indexes[i];
        for (int k = 0; k < index->part_count; k++) {
            sqlite3_free(index->parts[k].collation_name);
            sqlite3_free(index->parts[k].expression);
        }
        sqlite3_free(index->parts);
        sqlite3_free(index->name);
        sqlite3_free(index->where);
        rst_partial_predicate_free(index->predicate);
        sqlite3_free(index->rows_per_prefix);
    }
    for (int k = 0; k < table->key_count; k++) sqlite3_free(table->key[k].collation_name);
    for (int i = 0; i < table->foreign_key_count; i++) {
        rst_foreign_key *foreign = &table->foreign_keys[i];
        for (int k = 0; k < foreign->column_count; k++) sqlite3_free(foreign->parent_columns[k]);
        sqlite3_free(foreign->parent_columns);
        sqlite3_free(foreign->child_columns);
        sqlite3_free(foreign->parent_key);
        sqlite3_free(foreign->parent);
    }
    for (int i = 0; i < table->plan_count; i++) {
        sqlite3_free(table->plans[i]->scan);
        sqlite3_free(table->plans[i]->description);
        sqlite3_free(table->plans[i]);
    }
    sqlite3_free(table->plans);
    sqlite3_free(table->foreign_keys);
    sqlite3_free(table->shown);
    sqlite3_free(table->indexes);
    sqlite3_free(table->key);
    sqlite3_free(table->slot);
    sqlite3_free(table->columns);
    sqlite3_free(table->name);
    sqlite3_free(table->declared_name);
    sqlite3_free(table->sql);
    sqlite3_free(table->parents);
    sqlite3_free(table);
}

/* SQLite's rule, in its order. */
static char affinity_of(const char *type, bool strict) {
    char result = AFFINITY_NUMERIC;
    if (type[0] == '\0' || (strict && sqlite3_stricmp(type, "ANY") == 0)) return AFFINITY_BLOB;
    for (const char *p = type; *p != '\0'; p++) {
        if (sqlite3_strnicmp(p, "char", 4) == 0 || sqlite3_strnicmp(p, "clob", 4) == 0 ||
            sqlite3_strnicmp(p, "text", 4) == 0) {
            result = AFFINITY_TEXT;
        } else if (sqlite3_strnicmp(p, "blob", 4) == 0 && (result == AFFINITY_NUMERIC || result == AFFINITY_REAL)) {
            result = AFFINITY_BLOB;
        } else if ((sqlite3_strnicmp(p, "real", 4) == 0 || sqlite3_strnicmp(p, "floa", 4) == 0 ||
                    sqlite3_strnicmp(p, "doub", 4) == 0) &&
                   result == AFFINITY_NUMERIC) {
            result = AFFINITY_REAL;
        } else if (sqlite3_strnicmp(p, "int", 3) == 0) {
            return AFFINITY_INTEGER;
        }
    }
    return result;
}

static int collation_of(const char *name, uint8_t *collation, char **message) {
    if (name == NULL || sqlite3_stricmp(name, "BINARY") == 0)
        *collation = ROOTSTOCK_COLLATION_BINARY;
    else if (sqlite3_stricmp(name, "NOCASE") == 0)
        *collation = ROOTSTOCK_COLLATION_NOCASE;
    else if (sqlite3_stricmp(name, "RTRIM") == 0)
        *collation = ROOTSTOCK_COLLATION_RTRIM;
    else {
        rst_set_message(message,
                        "no key or index of a store under collation %s: keys are ordered by BINARY, NOCASE or RTRIM",
                        name);
        return SQLITE_ERROR;
    }
    return SQLITE_OK;
}

int rst_schema_db_query(rst_connection *c, sqlite3_stmt **statement, char **message, const char *format,
                        const char *name) {
    char *sql = sqlite3_mprintf(format, name);
    int code;
    if (sql == NULL) return SQLITE_NOMEM;
    code = sqlite3_prepare_v2(schema_of(c)->schema_db, sql, -1, statement, NULL);
    if (code != SQLITE_OK) rst_set_message(message, "%s", sqlite3_errmsg(schema_of(c)->schema_db));
    sqlite3_free(sql);
    return code;
}

int rst_schema_db_finished(sqlite3_stmt *statement, int code) {
    int final = sqlite3_finalize(statement);
    return code == SQLITE_OK || code == SQLITE_DONE ? final : code;
}

/* SQLite's estimate of a column's width, in units of 4 bytes. */
static int size_estimate(const rst_column *column) {
    int v = 0;
    const char *digits;
    if (column->type[0] == '\0' || column->affinity >= AFFINITY_NUMERIC) return 1;
    digits = strpbrk(column->type, "0123456789");
    if (digits != NULL)
        v = atoi(digits);
    else if (column->affinity == AFFINITY_TEXT && sqlite3_strlike("%char%", column->type, 0) == 0)
        v = 0;
    else
        v = 16;
    v = v / 4 + 1;
    return v > 255 ? 255 : v;
}

/* A DEFAULT's text, to be put between parentheses: without a comment behind it. */
static char *default_of(const char *text) {
    return text == NULL ? NULL
                        : sqlite3_mprintf("%.*s", (int)(rst_token_last_end(text, text + strlen(text)) - text), text);
}

static int read_columns(rst_table *table, char **message) {
    rst_connection *c = table->connection;
    sqlite3_stmt *s;
    int code = rst_schema_db_query(c, &s, message, "PRAGMA main.table_xinfo(%Q)", table->name);
    if (code != SQLITE_OK) return code;
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        const char *collation = NULL;
        rst_column *columns = rst_array_grown(table->columns, table->column_count, sizeof *columns);
        rst_column *column;
        if (columns == NULL) return rst_schema_db_finished(s, SQLITE_NOMEM);
        table->columns = columns;
        column = &columns[table->column_count++];
        column->name = rst_text_duplicate(rst_text_at(s, 1));
        column->type = sqlite3_mprintf("%s", rst_text_at(s, 2) == NULL ? "" : rst_text_at(s, 2));
        column->not_null = sqlite3_column_int(s, 3) != 0;
        column->default_text = default_of(rst_text_at(s, 4));
        column->primary_key = sqlite3_column_int(s, 5);
        column->generated = sqlite3_column_int(s, 6) >= 2 ? sqlite3_column_int(s, 6) : 0;
        column->missing.type = VALUE_NULL;
        if (column->name == NULL || column->type == NULL) return rst_schema_db_finished(s, SQLITE_NOMEM);
        if (column->generated) {
            /* table_xinfo shows the type with "GENERATED ALWAYS" cut off already in this version, but be sure. */
            char *cut = NULL;
            for (char *p = column->type; *p != '\0'; p++) {
                if (sqlite3_strnicmp(p, "GENERATED ALWAYS", 16) == 0) {
                    cut = p;
                    break;
                }
            }
            if (cut != NULL) {
                while (cut > column->type && cut[-1] == ' ') cut--;
                *cut = '\0';
            }
            table->has_generated = true;
        }
        column->affinity = affinity_of(column->type, table->strict);
        column->size = size_estimate(column);
        code = sqlite3_table_column_metadata(schema_of(c)->schema_db, "main", table->name, column->name, NULL,
                                             &collation, NULL, NULL, NULL);
        if (code != SQLITE_OK) return rst_schema_db_finished(s, code);
        column->collation_name = rst_text_duplicate(collation == NULL ? "BINARY" : collation);
        if (column->collation_name == NULL) return rst_schema_db_finished(s, SQLITE_NOMEM);
        if (collation_of(column->collation_name, &column->collation, NULL) != SQLITE_OK) {
            column->collation = UINT8_MAX; /* fine until an index or key needs it */
        }
        if (sqlite3_stricmp(column->name, "rowid") == 0 || sqlite3_stricmp(column->name, "oid") == 0 ||
            sqlite3_stricmp(column->name, "_rowid_") == 0) {
            table->has_rowid_name = true;
        }
    }
    return rst_schema_db_finished(s, code);
}

static int add_part(const rst_table *table, rst_part **parts, int *count, int column, bool descending,
                    const char *collation, char **message) {
    rst_part *part, *more = rst_array_grown(*parts, *count, sizeof *more);
    if (more == NULL) return SQLITE_NOMEM;
    *parts = more;
    part = &more[(*count)++];
    part->column = column;
    part->key.descending = descending;
    part->collation_name = rst_text_duplicate(collation);
    if (part->collation_name == NULL) return SQLITE_NOMEM;
    if (column >= 0) part->key.real_affinity = table->columns[column].affinity == AFFINITY_REAL;
    return collation_of(part->collation_name, &part->key.collation, message);
}

static int read_parts(rst_table *table, const char *index_name, rst_part **parts, int *count, char **message) {
    sqlite3_stmt *s;
    int code = rst_schema_db_query(table->connection, &s, message, "PRAGMA main.index_xinfo(%Q)", index_name);
    if (code != SQLITE_OK) return code;
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        if (sqlite3_column_int(s, 5) == 0) continue; /* what SQLite appends to reach the row */
        code = add_part(table, parts, count, sqlite3_column_int(s, 1), sqlite3_column_int(s, 3) != 0, rst_text_at(s, 4),
                        message);
        if (code != SQLITE_OK) return rst_schema_db_finished(s, code);
    }
    return rst_schema_db_finished(s, code);
}

/* As read_parts, off the index's text where that leaves no doubt: then it has no expression and no WHERE. */
static int read_listed_parts(rst_table *table, const rst_object *object, rst_index *index, char **message) {
    int *columns, count, code = rst_index_columns(table, object, &columns, &count);
    for (int i = 0; i < count && code == SQLITE_OK; i++)
        code = add_part(table, &index->parts, &index->part_count, columns[i], false,
                        table->columns[columns[i]].collation_name, message);
    sqlite3_free(columns);
    if (code != SQLITE_OK || count > 0) return code;
    code = read_parts(table, index->name, &index->parts, &index->part_count, message);
    return code != SQLITE_OK || object->sql == NULL ? code : rst_describe_expressions(index, object->sql);
}

static int read_indexes(rst_table *table, const rst_catalog *catalog, char **message) {
    rst_connection *c = table->connection;
    sqlite3_stmt *s;
    int code = rst_schema_db_query(c, &s, message, "PRAGMA main.index_list(%Q)", table->name);
    if (code != SQLITE_OK) return code;
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        const char *name = rst_text_at(s, 1), *origin = rst_text_at(s, 3);
        const rst_object *object;
        rst_index *more, *index;
        if (table->without_rowid && strcmp(origin, "pk") == 0) {
            table->key_turn = table->index_count;
            code = read_parts(table, name, &table->key, &table->key_count, message);
            if (code != SQLITE_OK) return rst_schema_db_finished(s, code);
            continue;
        }
        more = rst_array_grown(table->indexes, table->index_count, sizeof *more);
        if (more == NULL) return rst_schema_db_finished(s, SQLITE_NOMEM);
        table->indexes = more;
        index = &more[table->index_count++];
        index->name = rst_text_duplicate(name);
        index->unique = sqlite3_column_int(s, 2) != 0;
        index->is_primary_key = strcmp(origin, "pk") == 0;
        index->automatic = strcmp(origin, "c") != 0;
        if (index->name == NULL) return rst_schema_db_finished(s, SQLITE_NOMEM);
        object = rst_catalog_find(catalog, "index", name);
        if (object == NULL) {
            rst_set_message(message, "index %s has no entry in the catalog", name);
            return rst_schema_db_finished(s, SQLITE_CORRUPT_VTAB);
        }
        code = read_listed_parts(table, object, index, message);
        if (code != SQLITE_OK) return rst_schema_db_finished(s, code);
        index->tree.number = object->tree;
        index->identifier = object->identifier;
        index->evaluated = index->where != NULL;
        if (index->where != NULL) {
            code = rst_partial_predicate_parse(table, index->where, &index->predicate);
            if (code != SQLITE_OK) return rst_schema_db_finished(s, code);
        }
        for (int k = 0; k < index->part_count; k++) {
            if (index->parts[k].column == -2) index->evaluated = true;
        }
        if (index->evaluated) table->has_evaluated_index = true;
    }
    return rst_schema_db_finished(s, code);
}

static int lay_out(rst_table *table) {
    int next = 0;
    table->slot = sqlite3_malloc64((sqlite3_uint64)table->column_count * sizeof *table->slot);
    if (table->slot == NULL) return SQLITE_NOMEM;
    for (int i = 0; i < table->column_count; i++) {
        int key = -1;
        for (int k = 0; k < table->key_count && key < 0; k++) {
            if (table->key[k].column == i) key = k;
        }
        if (i == table->rowid_column)
            table->slot[i] = -1;
        else if (key >= 0)
            table->slot[i] = -1 - key;
        else
            table->slot[i] = next++;
    }
    table->slot_count = next;
    if (table->key_count > 0) {
        rootstock_key_column *last = &table->key[table->key_count - 1].key;
        last->final = !last->descending;
    }
    return SQLITE_OK;
}

bool rst_text_has(const char *text, const char *word) {
    size_t size = strlen(word);
    for (const char *p = text; *p != '\0'; p++) {
        if ((*p | 0x20) == word[0] && sqlite3_strnicmp(p, word, (int)size) == 0) return true;
    }
    return false;
}

/* WITHOUT ROWID and STRICT stand behind the parenthesis of the columns, and nothing else does (CREATE TABLE ... AS is
** kept as columns). */
static void read_options(rst_table *table) {
    const char *p = table->sql, *end = p + strlen(p);
    rst_token token = rst_token_next(&p, end);
    while (token.type != TOKEN_END && !rst_token_mark(&token, "(")) token = rst_token_next(&p, end);
    if (!rst_token_skip_parentheses(&p, end)) return;
    for (token = rst_token_next(&p, end); token.type != TOKEN_END; token = rst_token_next(&p, end)) {
        if (rst_token_is(&token, "WITHOUT")) table->without_rowid = true;
        if (rst_token_is(&token, "STRICT")) table->strict = true;
    }
}

int rst_table_begin(rst_connection *c, const rst_object *object, rst_table **out) {
    rst_table *table = sqlite3_malloc64(sizeof *table);
    if (table == NULL) return SQLITE_NOMEM;
    memset(table, 0, sizeof *table);
    table->references = 1;
    table->connection = c;
    table->rowid_column = -1;
    table->identifier = object->identifier;
    table->tree.number = object->tree;
    table->name = rst_text_duplicate(object->name);
    table->internal = sqlite3_strnicmp(object->name, "sqlite_", 7) == 0;
    table->declared_name =
        table->internal ? sqlite3_mprintf("rootstock_%s", object->name + 7) : rst_text_duplicate(object->name);
    table->sql = rst_text_duplicate(object->sql);
    if (table->name == NULL || table->declared_name == NULL || table->sql == NULL) {
        rst_table_release(table);
        return SQLITE_NOMEM;
    }
    table->hash = rst_name_hash(table->name);
    *out = table;
    return SQLITE_OK;
}

int rst_table_describe(rst_connection *c, const rst_catalog *catalog, const rst_object *object, rst_table **out,
                       char **message) {
    rst_table *table;
    sqlite3_stmt *s = NULL;
    int code = rst_table_begin(c, object, &table), keys = 0;
    bool key_index = false;
    if (code != SQLITE_OK) return code;
    read_options(table);
    code = read_columns(table, message);
    if (code == SQLITE_OK && table->column_count == 0) code = SQLITE_CORRUPT_VTAB;
    if (code == SQLITE_OK && !table->without_rowid) {
        /* INTEGER PRIMARY KEY, unless SQLite made an index for it (INTEGER PRIMARY KEY DESC) */
        if (rst_text_has(table->sql, "desc"))
            code = rst_schema_db_query(c, &s, message, "SELECT 1 FROM pragma_index_list(%Q) WHERE origin='pk'",
                                       table->name);
        if (code == SQLITE_OK && s != NULL) {
            key_index = sqlite3_step(s) == SQLITE_ROW;
            code = sqlite3_finalize(s);
        }
        for (int i = 0; i < table->column_count; i++) keys += table->columns[i].primary_key > 0;
        for (int i = 0; i < table->column_count && keys == 1 && !key_index; i++) {
            if (table->columns[i].primary_key && sqlite3_stricmp(table->columns[i].type, "INTEGER") == 0) {
                int autoincrement = 0;
                table->rowid_column = i;
                sqlite3_table_column_metadata(schema_of(c)->schema_db, "main", table->name, table->columns[i].name,
                                              NULL, NULL, NULL, NULL, &autoincrement);
                table->autoincrement = autoincrement != 0;
            }
        }
    }
    if (code == SQLITE_OK) code = read_indexes(table, catalog, message);
    if (code == SQLITE_OK && table->without_rowid && table->key_count == 0) code = SQLITE_CORRUPT_VTAB;
    if (code == SQLITE_OK) code = rst_describe_foreign_keys(table, message);
    if (code == SQLITE_OK) code = rst_describe_clauses(table);
    if (code == SQLITE_OK) code = lay_out(table);
    if (code == SQLITE_OK) code = rst_describe_defaults(table);
    if (code == SQLITE_OK) code = rst_expression_column_load(table);
    if (table->strict || table->has_generated) table->needs_mirror = true;
    code = rst_call_code(code); /* of a name or a text that could not be copied */
    if (code != SQLITE_OK) {
        rst_table_release(table);
        return code;
    }
    table->described = true;
    *out = table;
    return SQLITE_OK;
}
