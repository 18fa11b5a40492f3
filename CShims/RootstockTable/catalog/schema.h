/*
** schema.h - the schema: read from the catalog, declared to SQLite, mirrored in memory, changed.
*/
#ifndef ROOTSTOCK_SCHEMA_H
#define ROOTSTOCK_SCHEMA_H

/* ---- schema.c, declare.c, function_proxy.c, schema_db.c, row_validator.c ---- */
/* Brings db's declarations in line with the tables. */
int rst_schema_declare(rst_connection *c, char **message);
/* The same of a change of its own, which a connection that may only read was refused before. */
int rst_schema_declare_own(rst_connection *c, char **message);
/* Loads and declares if another connection changed the schema, or a rollback did. */
int rst_schema_refresh(rst_connection *c, char **message);
/* A table that nothing is said of but name, text and tree. SQLITE_OK or SQLITE_NOMEM. */
int rst_table_begin(rst_connection *c, const rst_object *object, rst_table **out);
int rst_schema_db_build(rst_connection *c, const rst_catalog *catalog, char **message);
/* Runs SQL without rows on a schema database. */
int rst_schema_db_execute(sqlite3 *schema_db, const char *sql, char **message);
/* Makes a STRICT table of the schema database take any value, for a row that was stored with one of another type. Or
** makes it STRICT again, where the row stays. */
int rst_schema_db_allow_types(rst_connection *c, const char *table, bool allow, char **message);
/* Makes c->unchecked ready: the schema database that asks no CHECK, nor the types of STRICT tables. */
int rst_schema_db_unchecked(rst_connection *c, char **message);
bool rst_collation_known(rst_connection *c, const char *name);
/* SQLite's code and words, where SQLITE_ERROR without a message came of a key or an index under a collation that is not
** registered. Else the code as it is. */
int rst_collation_missing(const rst_table *table, int code, char **message);
/* How the application's collation orders two texts: *order below, at or above 0. *kept is null at first, and keeps the
** statement that asks, for rst_statement_done at last. SQLITE_OK, or the error of the application's connection, which
** has its words. */
int rst_collation_compare(rst_connection *c, const char *name, sqlite3_stmt **kept, const rootstock_value *left,
                          const rootstock_value *right, int *order);
/* Judges and completes a row: affinity, STRICT, CHECK, NOT NULL, generated columns, as SQLite itself does on an empty
** native row validator. `values` (one per column, rowid column included) are replaced; the bytes live in the statement
** until rst_validator_clear. Returns SQLITE_DONE if OR IGNORE dropped the row. evaluated: see rst_validator_index. */
int rst_validator_insert(rst_table *table, rootstock_value *values, int64_t rowid, int conflict, bool old,
                         char **message);
/* The column whose NOT NULL the words name: the one that is told of, for several may be NULL, each with an ON CONFLICT
** of its own. Null: they name none. */
const rst_column *rst_refused_column(const rst_table *table, const char *words);
/* The row now in the row validator: value of index `number`'s part `part`; *included false if a partial index leaves it
** out. */
int rst_validator_index(rst_table *table, int number, rootstock_value *parts, bool *included, char **message);
void rst_validator_clear(rst_table *table);
/* Prepares the text, which is finished here, on the schema database, or on the one that asks no CHECK. */
int rst_validator_prepare(rst_connection *c, bool unchecked, sqlite3_str *text, sqlite3_stmt **statement,
                          char **message);
/* validator_nullable.c: completes a row that rst_validator_insert refused for its NULLs, whatever NOT NULL and CHECK
** say. `values` as there, living until rst_validator_nullable_clear, which is called whatever this returns. SQLITE_OK
** or an error and *message. */
int rst_validator_nullable(rst_table *table, rootstock_value *values, int64_t rowid, char **message);
void rst_validator_nullable_clear(rst_table *table);
/* What rst_validator_insert refused by a CHECK, judged as the UPDATE that it is: a CHECK that names no column of
** `changed` is not asked. old: the row as it was. The same results. */
int rst_validator_update(rst_table *table, const rootstock_value *old, int64_t old_rowid, rootstock_value *values,
                         int64_t rowid, int conflict, uint64_t changed, char **message);
/* The schema database takes over the connection's PRAGMA ignore_check_constraints. */
int rst_schema_db_ignore_checks(rst_connection *c, char **message);
void rst_validator_finalize(rst_table *table);
/* The statements on c->unchecked alone. */
void rst_validator_finalize_unchecked(rst_table *table);
/* Puts a stored row into the row validator on the schema database itself, CHECKs apart, where it stays for a change of
** the schema. */
int rst_validator_lend(rst_table *table, rootstock_value *values, int64_t rowid, char **message);
/* The row stays in the row validator; its statements are reset, so that the schema can change. */
void rst_validator_rest(rst_table *table);
/* SQLITE_LOCKED where a function of the application that judges a row of this table would have another one judged. */
int rst_validator_check_free(const rst_table *table, char **message);

/* ---- schema_change.c, ddl.c ---- */
/* Runs one CREATE, DROP or ALTER on the schema database and carries what it changed into the catalog and the trees.
** Inside a write transaction; undoes itself on failure. */
int rst_schema_change(rst_connection *c, const char *sql, char **message);
/* The same of a program's own change of sqlite_schema, too; the values are its parameters', in their order. */
int rst_schema_change_with(rst_connection *c, const char *sql, int count, sqlite3_value **values, char **message);
/* The whole of a DDL statement that came through the front door; the values are its parameters', in their order. */
int rst_ddl(rst_connection *c, const char *sql, int count, sqlite3_value **values, char **message);
/* Makes SQLite's transaction one that writes the store, and begins the write. outermost: the statement's own is the
** only one that there is, and whoever rolls it back has the schema read anew. */
int rst_change_join(rst_connection *c, bool outermost, char **message);
/* The same within a statement that writes, where SQLite has no savepoint. */
int rst_change_join_inside(rst_connection *c, char **message);
/* Back to the savepoint of that name, in which a change was begun that has failed with that code, and out of it. Gives
** back the code, or why all of the transaction is gone, for which it needs the statement of rst_interruptible. */
int rst_change_undo(rst_connection *c, const char *savepoint, sqlite3_stmt *writes, int code);
/* The same inside a savepoint or a mark of our own (maintain.c); rst_change_end releases it, or rolls it back where
** code is an error, and gives last_insert_rowid() back. */
int rst_change_begin(rst_connection *c, char **message);
int rst_change_end(rst_connection *c, int code, char **message);

#endif
