/*
** describe.h - how a table is described from the catalog, between schema.c and schema_clauses.c.
*/
#ifndef ROOTSTOCK_DESCRIBE_H
#define ROOTSTOCK_DESCRIBE_H

#include "catalog/catalog.h"

/* ---- schema.c ---- */
/* A copy from sqlite3_malloc; null for null. */
char *rst_text_duplicate(const char *text);
/* Of texts that may be null. */
bool rst_same_text(const char *a, const char *b);
/* The array with room for one more, zeroed, behind `count`; null: no memory, and the array is as it was. */
void *rst_array_grown(void *array, int count, size_t size);
/* Whether the text has the word, given in lower case, anywhere, in a string or a comment perhaps. */
bool rst_text_has(const char *text, const char *word);
/* Prepares a statement on the schema database; format takes the name. A SQLite code. */
int rst_schema_db_query(rst_connection *c, sqlite3_stmt **statement, char **message, const char *format,
                        const char *name);
/* A column's text, or null; as sqlite3_column_text. */
static inline const char *rst_text_at(sqlite3_stmt *statement, int column) {
    return (const char *)sqlite3_column_text(statement, column);
}
/* Finalizes it; the code, or what finalizing says where that is an error. */
int rst_schema_db_finished(sqlite3_stmt *statement, int code);

/* ---- describe_late.c ---- */
/* Makes a table that is described when it is needed, or at once where others have to know of it. SQLITE_OK or an
** error. */
int rst_table_note(rst_connection *c, const rst_catalog *catalog, const rst_object *object, rst_table **out,
                   char **message);
/* Describes the table by the loaded catalog, if it was not. SQLITE_OK or an error. */
int rst_table_complete(rst_table *table, char **message);
/* Describes all that were not. SQLITE_OK or an error. */
int rst_tables_complete(rst_connection *c, char **message);

/* ---- index_text.c ---- */
/* Whether an index's text says no more than which columns it has: then its table can be described later. */
bool rst_index_is_plain(const rst_object *object);
/* The columns that such a text lists, by number, each ascending under its own collation; *columns is from
** sqlite3_malloc. *count is 0 where the text leaves a doubt. SQLITE_OK or SQLITE_NOMEM. */
int rst_index_columns(const rst_table *table, const rst_object *object, int **columns, int *count);

/* ---- schema_clauses.c ---- */
/* Expressions and WHERE of a CREATE INDEX text. */
int rst_describe_expressions(rst_index *index, const char *sql);
/* The table's foreign keys, from the schema database. */
int rst_describe_foreign_keys(rst_table *table, char **message);
/* ON CONFLICT of UNIQUE and PRIMARY KEY, DEFERRABLE of REFERENCES, CHECK: off the text of CREATE TABLE. */
int rst_describe_clauses(rst_table *table);

/* defaults.c: what rows older than a column show, of every column with a DEFAULT. */
int rst_describe_defaults(rst_table *table);

/* ---- describe_copy.c ---- */
/* Names of tables of which a row of the catalog, or of an index of theirs, came, went or became another one; they
** belong to who noted them. */
typedef struct rst_changed_tables {
    const char **names;
    int count;
} rst_changed_tables;
/* Notes the table that an object of the catalog is, or is an index of. SQLITE_OK or SQLITE_NOMEM; changed, zeroed
** before the first, is freed with rst_changed_tables_free either way. */
int rst_changed_tables_note(rst_changed_tables *changed, const char *type, const char *name, const char *table_name);
bool rst_changed_tables_has(const rst_changed_tables *changed, const char *name);
void rst_changed_tables_free(rst_changed_tables *changed);
/* Whether nothing was done with the table since it was described: it holds then what a copy would hold. */
bool rst_table_is_unused(const rst_table *table);
/* What rst_table_describe would make of an unchanged table. SQLITE_OK or SQLITE_NOMEM. */
int rst_table_describe_again(const rst_table *from, rst_table **out);

#endif
