/*
** index_text.c - the columns and expressions of an index, off the text of its CREATE INDEX or of a constraint.
**
** Invariant: what is read here is what SQLite makes of the text, which it accepted. Its PRAGMAs tell the same, for the
** price of a statement each (Tests/Unit/Describe).
*/
#include "catalog/catalog.h"
#include "catalog/describe.h"
#include "catalog/partial_predicate.h"

#include <string.h>

bool rst_index_is_plain(const rst_object *object) {
    const char *p = object->sql, *end;
    rst_token token;
    if (p == NULL) return true; /* of a UNIQUE or a PRIMARY KEY */
    end = p + strlen(p);
    (void)rst_token_seek(&p, end, "(");
    for (token = rst_token_next(&p, end); token.type != TOKEN_END; token = rst_token_next(&p, end)) {
        if (rst_token_mark(&token, ")")) return rst_token_next(&p, end).type == TOKEN_END;
        if (rst_token_is(&token, "COLLATE") || (!rst_token_names(&token) && !rst_token_mark(&token, ","))) return false;
    }
    return false;
}

/* ---- parts ---- */

/* Of the application's own the keys hold labels, which writers that do not see each other would give twice. */
static int collation_of(const rst_table *table, const char *name, uint8_t *collation, char **message) {
    if (rst_collation_number(name, collation) || !rst_many_writers(store_of(table->connection))) return SQLITE_OK;
    rst_set_message(message,
                    "no key or index under collation %s on an engine with several writers at once: keys are ordered by "
                    "BINARY, NOCASE or RTRIM there",
                    name);
    return SQLITE_ERROR;
}

int rst_part_add(const rst_table *table, rst_index *index, int column, bool descending, const rst_token *collation,
                 char **message) {
    rst_part *part, *parts = rst_array_grown(index->parts, index->part_count, sizeof *parts);
    if (parts == NULL) return SQLITE_NOMEM;
    index->parts = parts;
    part = &parts[index->part_count++];
    part->column = column;
    part->key.descending = descending;
    if (collation != NULL)
        part->collation_name = rst_token_name(collation);
    else
        part->collation_name = rst_text_duplicate(column >= 0 ? table->columns[column].collation_name : "BINARY");
    if (part->collation_name == NULL) return SQLITE_NOMEM;
    if (column >= 0) part->key.real_affinity = table->columns[column].affinity == AFFINITY_REAL;
    return collation_of(table, part->collation_name, &part->key.collation, message);
}

/* The expression without parentheses and collations. */
static const rst_syntax *bare(const rst_syntax *e) {
    while (e->kind == SYNTAX_PARENTHESES || e->kind == SYNTAX_COLLATE) e = e->first;
    return e;
}

int rst_term_column(const rst_table *table, const rst_syntax *term) {
    const rst_syntax *e = bare(term->first);
    rst_token none, name;
    if (e->kind != SYNTAX_NAME && e->kind != SYNTAX_LITERAL) return -1;
    name = rst_syntax_name(e, &none);
    return rst_column_named(table, &name);
}

int rst_describe_terms(const rst_table *table, rst_index *index, const rst_syntax *list, char **message) {
    int code = SQLITE_OK;
    for (const rst_syntax *term = list->first; term != NULL && code == SQLITE_OK; term = term->next) {
        const rst_syntax *e = term->first, *top;
        const char *p;
        rst_token order, none, collated, *collation = NULL;
        int column;
        if (term->kind != SYNTAX_TERM) continue;
        p = e->end;
        order = rst_token_next(&p, term->end);
        top = rst_syntax_unwrap(e);
        if (top->kind == SYNTAX_COLLATE) {
            collated = rst_syntax_name(top->last, &none);
            collation = &collated;
        }
        column = rst_term_column(table, term);
        /* Under two collations a string stays one. */
        if (top->kind == SYNTAX_COLLATE) top = rst_syntax_unwrap(top->first);
        if (top->kind == SYNTAX_COLLATE && bare(top)->kind == SYNTAX_LITERAL) column = -1;
        code = rst_part_add(table, index, column >= 0 ? column : -2, rst_token_is(&order, "DESC"), collation, message);
        if (code != SQLITE_OK || column >= 0) continue;
        index->evaluated = true;
        index->parts[index->part_count - 1].expression = sqlite3_mprintf("%.*s", (int)(e->end - e->start), e->start);
        if (index->parts[index->part_count - 1].expression == NULL) code = SQLITE_NOMEM;
    }
    return code;
}

/* ---- CREATE INDEX ---- */

/* The names of a schema in a partial index's WHERE: SQLite passes over them there, and nowhere else. */
static void leave_out_schemas(const rst_syntax *node, rst_edits *edits) {
    if (node->kind == SYNTAX_NAME) {
        const char *p = node->start;
        rst_token table;
        (void)rst_token_next(&p, node->end);
        (void)rst_token_next(&p, node->end);
        table = rst_token_next(&p, node->end);
        if (p < node->end) rst_edits_add(edits, node->start, table.text, sqlite3_mprintf(""));
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) leave_out_schemas(child, edits);
}

static int describe_where(const rst_table *table, rst_index *index, const rst_syntax *e) {
    rst_edits edits = {0};
    int code;
    leave_out_schemas(e, &edits);
    code = rst_edits_apply(&edits, e->start, e->end, &index->where);
    if (code == SQLITE_OK && index->where == NULL)
        index->where = sqlite3_mprintf("%.*s", (int)(e->end - e->start), e->start);
    if (index->where == NULL) return SQLITE_NOMEM;
    index->evaluated = true;
    return rst_partial_predicate_parse(table, index->where, &index->predicate);
}

static int describe_index(rst_table *table, const rst_object *object, const rst_syntax *create, char **message) {
    const rst_syntax *where = rst_syntax_child(create, SYNTAX_WHERE);
    const rst_token word = rst_syntax_token(create, 1); /* behind CREATE */
    int code = rst_index_begin(table, object->name);
    if (code != SQLITE_OK) return code;
    table->indexes[0].unique = rst_token_is(&word, "UNIQUE");
    code = rst_describe_terms(table, &table->indexes[0], create, message);
    return code == SQLITE_OK && where != NULL ? describe_where(table, &table->indexes[0], where->first) : code;
}

/* Makes known which objects of the catalog are indexes of a table of some hash: places, each with the next one's behind
** the heads. SQLITE_OK or SQLITE_NOMEM. */
static int list_indexes(rst_schema *schema, const rst_catalog *catalog) {
    unsigned int heads = 16;
    if (schema->index_lists != NULL) return SQLITE_OK;
    while (heads < (unsigned int)catalog->count) heads *= 2;
    schema->index_lists = sqlite3_malloc64((heads + (unsigned int)catalog->count) * sizeof *schema->index_lists);
    if (schema->index_lists == NULL) return SQLITE_NOMEM;
    schema->index_heads = heads;
    memset(schema->index_lists, 0xFF, heads * sizeof *schema->index_lists);
    for (int i = catalog->count - 1; i >= 0; i--) {
        const rst_object *object = &catalog->objects[i];
        int *head;
        if (!rst_object_is(object, "index") || object->sql == NULL) continue;
        head = &schema->index_lists[rst_name_hash(object->table_name) & (heads - 1)];
        schema->index_lists[heads + (unsigned int)i] = *head;
        *head = i;
    }
    return SQLITE_OK;
}

void rst_index_lists_free(rst_connection *c) {
    sqlite3_free(schema_of(c)->index_lists);
    schema_of(c)->index_lists = NULL;
    schema_of(c)->indexes_sought = false;
}

int rst_describe_indexes(rst_table *table, const rst_catalog *catalog, char **message) {
    rst_schema *schema = schema_of(table->connection);
    /* One table is described behind most changes of the schema: lists would take longer than to go through all. */
    const bool listed = schema->index_lists != NULL || schema->indexes_sought;
    int code = listed ? list_indexes(schema, catalog) : SQLITE_OK;
    schema->indexes_sought = true;
    if (code != SQLITE_OK) return code;
    for (int i = listed ? schema->index_lists[table->hash & (schema->index_heads - 1)] : 0;
         i >= 0 && i < catalog->count && code == SQLITE_OK;
         i = listed ? schema->index_lists[schema->index_heads + (unsigned int)i] : i + 1) {
        const rst_object *object = &catalog->objects[i];
        rst_syntax_tree tree;
        if (((object->table_name[0] ^ table->name[0]) & 0x1F) != 0 || object->sql == NULL ||
            sqlite3_stricmp(object->table_name, table->name) != 0 || !rst_object_is(object, "index"))
            continue;
        code = rst_syntax_parse(&tree, object->sql, object->sql + strlen(object->sql));
        if (code == SQLITE_ERROR || (code == SQLITE_OK && tree.root->kind != SYNTAX_CREATE_INDEX)) {
            rst_set_message(message, "the text of index %s is not understood", object->name);
            code = SQLITE_CORRUPT_VTAB;
        }
        if (code == SQLITE_OK) code = describe_index(table, object, tree.root, message);
        rst_syntax_free(&tree);
    }
    return code;
}
