/*
** describe.h - how a table is described from the catalog, between schema.c and schema_clauses.c.
*/
#ifndef ROOTSTOCK_DESCRIBE_H
#define ROOTSTOCK_DESCRIBE_H

#include "catalog/catalog.h"
#include "parser/syntax_tree.h"

/* ---- schema.c ---- */
/* A copy from sqlite3_malloc; null for null. */
char *rst_text_duplicate(const char *text);
/* Of texts that may be null. */
bool rst_same_text(const char *a, const char *b);
/* The array with room for one more, zeroed, behind `count`; null: no memory, and the array is as it was. */
void *rst_array_grown(void *array, int count, size_t size);
/* Zeroed, and never of no bytes: null is no memory. */
void *rst_array_new(int count, size_t size);
/* Arrays for that many columns. False: no memory. */
bool rst_foreign_key_room(rst_foreign_key *foreign, int count);
/* What the index owns, but for its tree. */
void rst_index_free(rst_index *index);
/* A column's text, or null; as sqlite3_column_text. */
static inline const char *rst_text_at(sqlite3_stmt *statement, int column) {
    return (const char *)sqlite3_column_text(statement, column);
}
/* Describes the table by its text and the loaded catalog, if it was not. SQLITE_OK or an error. */
int rst_table_complete(rst_table *table, char **message);

/* ---- describe_late.c ---- */
/* Makes a table that is described when it is needed, or at once where others have to know of it. SQLITE_OK or an
** error. */
int rst_table_note(rst_connection *c, const rst_object *object, rst_table **out, char **message);
/* Describes all that were not. SQLITE_OK or an error. */
int rst_tables_complete(rst_connection *c, char **message);

/* ---- index_text.c ---- */
/* Whether an index's text says no more than which columns it has: then its table can be described later. */
bool rst_index_is_plain(const rst_object *object);
/* A column (or -2) behind the index's last part; collation: null for the column's own. SQLITE_OK or an error. */
int rst_part_add(const rst_table *table, rst_index *index, int column, bool descending, const rst_token *collation,
                 char **message);
/* The column that a term of a key is, whatever its collation; or -1. */
int rst_term_column(const rst_table *table, const rst_syntax *term);
/* The parts that the terms in the list are. SQLITE_OK or an error. */
int rst_describe_terms(const rst_table *table, rst_index *index, const rst_syntax *list, char **message);
/* The table's indexes that have a text of their own. SQLITE_OK or an error. */
int rst_describe_indexes(rst_table *table, const rst_catalog *catalog, char **message);
/* The catalog is another one: which indexes a table has is found out again. */
void rst_index_lists_free(rst_connection *c);

/* ---- schema_clauses.c ---- */
/* Name, DEFAULT and what SQLite says of it: of a SYNTAX_COLUMN. SQLITE_OK or an error. */
int rst_describe_column(rst_table *table, const rst_syntax *node);
/* Keys, foreign keys, ON CONFLICT and CHECK, of a table whose columns are there. SQLITE_OK or an error. */
int rst_describe_constraints(rst_table *table, const rst_syntax *create, char **message);
/* An index of that name in front of the others, which is SQLite's order. SQLITE_OK or SQLITE_NOMEM. */
int rst_index_begin(rst_table *table, const char *name);
/* Whether both are one column, under one collation. */
bool rst_parts_same(const rst_part *a, const rst_part *b);

/* defaults.c: what rows older than a column show, of every column with a DEFAULT. */
int rst_describe_defaults(rst_table *table);
/* DEFAULT word is the text 'word'. *name: that text, from sqlite3_malloc, or null for another kind of default. */
int rst_default_word(const char *text, char **name);

/* ---- describe_stays.c ---- */
/* Names of tables of which a row of the catalog, or of an index of theirs, came, went or became another one; they
** belong to who noted them. */
typedef struct rst_changed_tables {
    const char **names;
    int count;
} rst_changed_tables;
/* Notes the table that an object of the catalog is, or is an index of. SQLITE_OK or SQLITE_NOMEM; changed, zeroed
** before the first, is freed with rst_changed_tables_free either way. */
int rst_changed_tables_note(rst_changed_tables *changed, const char *type, const char *name, const char *table_name);
/* In place: asked of every table. Most names differ in their first letter's lower bits already. */
static inline bool rst_changed_tables_has(const rst_changed_tables *changed, const char *name) {
    for (int i = 0; i < changed->count; i++) {
        if (((changed->names[i][0] ^ name[0]) & 0x1F) == 0 && sqlite3_stricmp(changed->names[i], name) == 0)
            return true;
    }
    return false;
}
void rst_changed_tables_free(rst_changed_tables *changed);
/* Whether nothing was done with the table since it was described: it holds then what another would hold. */
bool rst_table_is_unused(const rst_table *table);

#endif
