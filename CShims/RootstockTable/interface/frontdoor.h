/*
** frontdoor.h - what the front door's files share: statements by kind (frontdoor.c), CREATE, DROP and ALTER
** (front_schema.c), PRAGMA (front_pragma.c).
*/
#ifndef ROOTSTOCK_FRONTDOOR_H
#define ROOTSTOCK_FRONTDOOR_H

#include "parser/pragma.h"
#include "rewriter/transform.h"

/* Of a DETACH. */
#define ROOTSTOCK_STAYS "database rootstock is the store's own and stays attached"

/* Names of types for rst_elsewhere: an index or a trigger has no name in common with a table. */
#define ROOTSTOCK_TABLES "'table', 'view'"
#define ROOTSTOCK_INDEXES "'index'"
#define ROOTSTOCK_TRIGGERS "'trigger'"
#define ROOTSTOCK_OBJECTS ROOTSTOCK_TABLES ", " ROOTSTOCK_INDEXES ", " ROOTSTOCK_TRIGGERS
/* Whether the schema lists the name, as one of these types; null: as any. */
bool rst_is_listed(rst_connection *c, const char *schema, const char *name, const char *types);
/* Whether temp (or, with attached, another schema) has an object of that name and of one of the types. */
bool rst_elsewhere(rst_connection *c, const rst_token *name, const char *types, bool attached);
/* The same of the store's catalog. */
bool rst_holds(const rst_connection *c, const char *name, const char *types);
bool rst_in_store(const rst_connection *c, const rst_token *name, const char *types);
/* SELECT 1 WHERE function('text') */
int rst_quoted_call(const char *function, const char *start, const char *end, char **out);
/* CREATE, DROP, ALTER. stop: behind the statement with its blanks and semicolon. *out null: as it is. */
int rst_rewrite_schema(rst_connection *c, const char *sql, const char *end, const char *stop, char **out,
                       char **message);
/* INSERT, UPDATE or DELETE of sqlite_schema itself, be it by the name sqlite_master. */
bool rst_changes_schema_table(const rst_statement_parts *parts);
int rst_rewrite_schema_table(rst_connection *c, const rst_statement_parts *parts, char **out, char **message);
/* PRAGMA; *out null: as it is. */
int rst_rewrite_pragma(rst_connection *c, const char *sql, const char *end, char **out, char **message);
/* PRAGMA table_list, of the schema that it names or of all. SQLITE_OK or SQLITE_NOMEM. */
int rst_table_list_text(const rst_pragma *pragma, char **out);
/* What SQLite runs of a statement that the store runs as a program: *inner, from sqlite3_malloc, or null where it is
** none. SQLITE_OK, or an error. */
int rst_program_text(rst_connection *c, const rst_statement_parts *parts, char **inner, char **message);
/* EXPLAIN QUERY PLAN, p behind QUERY: a SELECT from rootstock_explain. *out is from sqlite3_malloc, or null: SQLite's
** own. */
int rst_rewrite_query_plan(rst_connection *c, const char *p, const char *end, char **out, char **message);

#endif
