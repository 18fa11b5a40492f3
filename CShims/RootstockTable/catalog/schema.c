/*
** schema.c - from the catalog to the tables in memory.
**
** SQLite parsed the schema already (schema_db.c), and the texts are read once more for what it made of them
** (schema_clauses.c, index_text.c). Invariant: c->tables describe the catalog of generation c->generation; db's
** declarations follow by rst_schema_declare.
*/
#include "catalog/catalog.h"
#include "catalog/column_sets.h"
#include "catalog/describe.h"
#include "catalog/partial_predicate.h"
#include "catalog/expression_column.h"

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

void *rst_array_new(int count, size_t size) {
    size_t bytes = (size_t)(count > 0 ? count : 1) * size;
    void *array = sqlite3_malloc64(bytes);
    if (array != NULL) memset(array, 0, bytes);
    return array;
}

bool rst_foreign_key_room(rst_foreign_key *foreign, int count) {
    foreign->parent_columns = rst_array_new(count, sizeof *foreign->parent_columns);
    foreign->child_columns = rst_array_new(count, sizeof *foreign->child_columns);
    foreign->parent_key =
        sqlite3_malloc64(sizeof *foreign->parent_key + (sqlite3_uint64)count * sizeof foreign->parent_key->columns[0]);
    if (foreign->parent_columns == NULL) foreign->column_count = 0; /* nothing to free there */
    if (foreign->parent_columns == NULL || foreign->child_columns == NULL || foreign->parent_key == NULL) return false;
    foreign->parent_key->parent = NULL;
    return true;
}

void rst_index_free(rst_index *index) {
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

/* What was described of it. */
static void forget_description(rst_table *table) {
    for (int i = 0; i < table->column_count; i++) {
        rst_column *column = &table->columns[i];
        sqlite3_free(column->name);
        sqlite3_free(column->type);
        sqlite3_free(column->default_text);
        sqlite3_free(column->collation_name);
        rootstock_buffer_free(&column->missing_bytes);
    }
    for (int i = 0; i < table->index_count; i++) rst_index_free(&table->indexes[i]);
    for (int k = 0; k < table->key_count; k++) sqlite3_free(table->key[k].collation_name);
    sqlite3_free(table->rows_per_key_prefix);
    for (int i = 0; i < table->foreign_key_count; i++) {
        rst_foreign_key *foreign = &table->foreign_keys[i];
        for (int k = 0; k < foreign->column_count; k++) sqlite3_free(foreign->parent_columns[k]);
        sqlite3_free(foreign->parent_columns);
        sqlite3_free(foreign->child_columns);
        sqlite3_free(foreign->parent_key);
        sqlite3_free(foreign->parent);
    }
    sqlite3_free(table->foreign_keys);
    sqlite3_free(table->shown);
    sqlite3_free(table->indexes);
    sqlite3_free(table->key);
    sqlite3_free(table->slot);
    sqlite3_free(table->columns);
    table->column_count = table->index_count = table->key_count = table->foreign_key_count = table->shown_count = 0;
    table->columns = NULL;
    table->indexes = NULL;
    table->key = NULL;
    table->rows_per_key_prefix = NULL;
    table->foreign_keys = NULL;
    table->slot = NULL;
    table->shown = NULL;
    table->rowid_column = -1;
}

void rst_table_release(rst_table *table) {
    if (table == NULL || --table->references > 0) return;
    schema_of(table->connection)->schema_hooks->free_attachments(table);
    rst_validator_finalize(table);
    rootstock_buffer_free(&table->last_key);
    forget_description(table);
    for (int i = 0; i < table->plan_count; i++) {
        sqlite3_free(table->plans[i]->scan);
        sqlite3_free(table->plans[i]->description);
        sqlite3_free(table->plans[i]);
    }
    sqlite3_free(table->plans);
    sqlite3_free(table->name);
    sqlite3_free(table->declared_name);
    sqlite3_free(table->sql);
    sqlite3_free(table->parents);
    sqlite3_free(table);
}

/* SQLite's rule, in its order. The last four letters stand in a number. */
char rst_type_affinity(const char *type, bool strict) {
#define LETTERS(a, b, c, d) ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))
    char result = AFFINITY_NUMERIC;
    uint32_t last = 0;
    if (type[0] == '\0' || (strict && sqlite3_stricmp(type, "ANY") == 0)) return AFFINITY_BLOB;
    for (const char *p = type; *p != '\0'; p++) {
        last = last << 8 | (unsigned char)(*p >= 'A' && *p <= 'Z' ? *p | 0x20 : *p);
        if (last == LETTERS('c', 'h', 'a', 'r') || last == LETTERS('c', 'l', 'o', 'b') ||
            last == LETTERS('t', 'e', 'x', 't')) {
            result = AFFINITY_TEXT;
        } else if (last == LETTERS('b', 'l', 'o', 'b') && (result == AFFINITY_NUMERIC || result == AFFINITY_REAL)) {
            result = AFFINITY_BLOB;
        } else if ((last == LETTERS('r', 'e', 'a', 'l') || last == LETTERS('f', 'l', 'o', 'a') ||
                    last == LETTERS('d', 'o', 'u', 'b')) &&
                   result == AFFINITY_NUMERIC) {
            result = AFFINITY_REAL;
        } else if ((last & 0xFFFFFF) == LETTERS(0, 'i', 'n', 't')) {
            return AFFINITY_INTEGER;
        }
    }
    return result;
#undef LETTERS
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

static int read_columns(rst_table *table, const rst_syntax *create) {
    int code = SQLITE_OK;
    for (const rst_syntax *node = create->first; node != NULL && code == SQLITE_OK; node = node->next) {
        rst_column *column;
        if (node->kind != SYNTAX_COLUMN) continue;
        code = rst_describe_column(table, node);
        if (code != SQLITE_OK) return code;
        column = &table->columns[table->column_count - 1];
        column->affinity = rst_type_affinity(column->type, table->strict);
        column->size = size_estimate(column);
        (void)rst_collation_number(column->collation_name, &column->collation); /* none: until a key needs it */
        for (int i = 0; i < ROWID_WORDS; i++)
            table->has_rowid_name |= sqlite3_stricmp(column->name, rst_rowid_words[i]) == 0;
    }
    return table->column_count == 0 ? SQLITE_CORRUPT_VTAB : code;
}

static void number_key(rst_table *table, const rst_part *parts, int count) {
    for (int k = count - 1; k >= 0; k--) table->columns[parts[k].column].primary_key = k + 1;
}

/* WITHOUT ROWID: the primary key is the table, and has each column once. */
static void take_key(rst_table *table, rst_index *index) {
    int count = 1;
    for (int k = 1; k < index->part_count; k++) {
        rst_part *part = &index->parts[k];
        int same = 0;
        while (same < count && !rst_parts_same(part, &index->parts[same])) same++;
        if (same == count)
            index->parts[count++] = *part;
        else
            sqlite3_free(part->collation_name);
    }
    table->key = index->parts;
    table->key_count = count;
    table->key_turn = (int)(index - table->indexes);
    table->rowid_on_conflict = index->on_conflict;
    index->parts = NULL;
    index->part_count = 0;
    rst_index_free(index);
    memmove(index, index + 1, (size_t)(--table->index_count - table->key_turn) * sizeof *index);
}

static void learn_column(const rst_table *table, rst_index *index, int column) {
    if (column < 0) return; /* the rowid is the key */
    index->columns |= (uint64_t)1 << (column < COLUMNS_APART ? column : COLUMNS_APART);
    if (table->columns[column].generated) index->columns = UINT64_MAX;
}

/* Every word of the text, which may be null, that could be a column. */
static void learn_text(const rst_table *table, rst_index *index, const char *text) {
    const char *p = text, *end = text == NULL ? NULL : text + strlen(text);
    rst_token token;
    while (text != NULL && (token = rst_token_next(&p, end)).type != TOKEN_END)
        if (rst_token_names(&token)) learn_column(table, index, rst_column_named(table, &token));
}

/* Of what the entries are made. */
static void learn_columns(const rst_table *table, rst_index *index) {
    index->columns = 0;
    learn_text(table, index, index->where);
    for (int p = 0; p < index->part_count; p++) {
        learn_column(table, index, index->parts[p].column);
        learn_text(table, index, index->parts[p].expression);
    }
}

static int settle_keys(rst_table *table, const rst_catalog *catalog, char **message) {
    rst_index *key = NULL;
    if (table->rowid_column >= 0) table->columns[table->rowid_column].primary_key = 1;
    for (int i = 0; i < table->index_count; i++) {
        if (table->indexes[i].is_primary_key) key = &table->indexes[i];
    }
    if (table->without_rowid && key == NULL) return SQLITE_CORRUPT_VTAB;
    if (table->without_rowid) {
        take_key(table, key);
        number_key(table, table->key, table->key_count);
    } else if (key != NULL) {
        number_key(table, key->parts, key->part_count);
    }
    for (int i = 0; i < table->index_count; i++) {
        rst_index *index = &table->indexes[i];
        const rst_object *object = rst_catalog_find(catalog, "index", index->name);
        if (object == NULL) {
            rst_set_message(message, "index %s has no entry in the catalog", index->name);
            return SQLITE_CORRUPT_VTAB;
        }
        index->tree.number = object->tree;
        index->identifier = object->identifier;
        learn_columns(table, index);
        table->has_evaluated_index |= index->evaluated;
    }
    return SQLITE_OK;
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

/* WITHOUT ROWID and STRICT stand behind the parenthesis of the columns. */
static void read_options(rst_table *table, const rst_syntax *create) {
    const char *p = create->last->end, *q = p;
    table->without_rowid = rst_token_seek(&p, create->end, "WITHOUT");
    table->strict = rst_token_seek(&q, create->end, "STRICT");
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

static int describe(rst_table *table, const rst_catalog *catalog, const rst_syntax *create, char **message) {
    int code;
    read_options(table, create);
    code = read_columns(table, create);
    if (code == SQLITE_OK) code = rst_describe_constraints(table, create, message);
    if (code == SQLITE_OK) code = rst_describe_indexes(table, catalog, message);
    if (code == SQLITE_OK) code = settle_keys(table, catalog, message);
    if (code == SQLITE_OK) code = lay_out(table);
    if (code == SQLITE_OK) code = rst_describe_defaults(table);
    if (code == SQLITE_OK) code = rst_expression_column_load(table);
    if (table->strict || table->has_generated) table->needs_validator = true;
    return code;
}

int rst_table_complete(rst_table *table, char **message) {
    rst_syntax_tree tree;
    int code;
    if (table->described) return SQLITE_OK;
    code = rst_syntax_parse(&tree, table->sql, table->sql + strlen(table->sql));
    if (code == SQLITE_ERROR || (code == SQLITE_OK && tree.root->kind != SYNTAX_CREATE_TABLE)) {
        rst_set_message(message, "the text of table %s is not understood", table->name);
        code = SQLITE_CORRUPT_VTAB;
    }
    if (code == SQLITE_OK) code = describe(table, &schema_of(table->connection)->loaded, tree.root, message);
    rst_syntax_free(&tree);
    code = rst_call_code(code); /* of a name or a text that could not be copied */
    if (code != SQLITE_OK) {
        forget_description(table);
        return code;
    }
    table->described = true;
    sqlite3_free(table->parents);
    table->parents = NULL;
    return SQLITE_OK;
}
