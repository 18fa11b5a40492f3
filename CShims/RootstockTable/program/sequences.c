/*
** sequences.c - which entries of sqlite_sequence a statement makes, whether a row comes or not.
**
** SQLite reads the entry of every AUTOINCREMENT table that a statement could insert into when the statement begins, and
** writes it when it ends. Tables that its triggers and the actions of foreign keys name are among these. So a table
** without an entry has one of 0 from then on, even if no trigger fired. SQLite itself is asked which tables these are:
** the program that it compiles on the schema database opens sqlite_sequence and names each of them. A statement that OR
** FAIL stops does not come to its end: no entry is written. Invariant: the list holds names of the schema database's
** main schema, in the order in which SQLite writes them.
*/
#include "program/program.h"
#include "executor/foreign.h"
#include "program/runner.h"
#include "program/temporary_triggers.h"

#include <string.h>

void rst_sequences_free(rst_code *code) {
    for (int i = 0; i < code->sequence_count; i++) sqlite3_free(code->sequences[i]);
    sqlite3_free(code->sequences);
    code->sequences = NULL;
    code->sequence_count = 0;
}

static int append(rst_code *code, const char *name) {
    char **grown = sqlite3_realloc64(code->sequences, ((sqlite3_uint64)code->sequence_count + 1) * sizeof *grown);
    if (grown == NULL) return SQLITE_NOMEM;
    code->sequences = grown;
    grown[code->sequence_count] = sqlite3_mprintf("%s", name);
    if (grown[code->sequence_count] == NULL) return SQLITE_NOMEM;
    code->sequence_count++;
    return SQLITE_OK;
}

static void append_set(sqlite3_str *out, const rst_table *table, int column, bool *any) {
    sqlite3_str_appendf(out, "%s\"%w\"=NULL", *any ? "," : " SET ", column < 0 ? "rowid" : table->columns[column].name);
    *any = true;
}

/* A statement that fires what this one can fire, of constants alone; null: it cannot be told. */
static char *plain(const rst_table *table, const rst_code *code) {
    const char *replace = code->conflict == SQLITE_REPLACE ? " OR REPLACE" : "";
    sqlite3_str *out = sqlite3_str_new(NULL);
    bool any = false;
    int first = 0;
    switch (code->kind) {
    case KIND_INSERT:
        while (first < table->column_count - 1 && table->columns[first].generated) first++;
        sqlite3_str_appendf(out, "EXPLAIN INSERT%s INTO main.\"%w\"(\"%w\") VALUES(NULL)", replace, table->name,
                            table->columns[first].name);
        for (int i = 0; i < code->clause_count; i++) {
            const rst_clause *clause = &code->clauses[i];
            if (!clause->update || clause->left_out) continue;
            if (!any) sqlite3_str_appendall(out, " ON CONFLICT DO UPDATE");
            for (int k = 0; k < clause->column_count; k++) append_set(out, table, clause->columns[k], &any);
        }
        break;
    case KIND_UPDATE:
        sqlite3_str_appendf(out, "EXPLAIN UPDATE%s main.\"%w\"", replace, table->name);
        for (int i = 0; i < table->column_count; i++) {
            if (rst_columns_has(code->set_columns, code->set_beyond, i) && !table->columns[i].generated)
                append_set(out, table, i, &any);
        }
        break;
    default: sqlite3_str_appendf(out, "EXPLAIN DELETE FROM main.\"%w\" WHERE NULL", table->name); break;
    }
    return sqlite3_str_finish(out);
}

static int prepare(rst_connection *c, char *explain, sqlite3_stmt **statement) {
    int result =
        explain == NULL ? SQLITE_NOMEM : sqlite3_prepare_v2(schema_of(c)->schema_db, explain, -1, statement, NULL);
    sqlite3_free(explain);
    return result;
}

/* Rows that the schema database judges meet no triggers and no foreign keys: they are on only while a statement is
** asked of. Triggers of rows that REPLACE drops fire where they are recursive. */
static void triggers_switch(rst_connection *c, bool on) {
    sqlite3_db_config(schema_of(c)->schema_db, SQLITE_DBCONFIG_ENABLE_TRIGGER, on, NULL);
    sqlite3_db_config(schema_of(c)->schema_db, SQLITE_DBCONFIG_ENABLE_FKEY, on && rst_foreign_enabled(c), NULL);
    (void)(on ? rst_temporary_triggers_lend(c) : rst_temporary_triggers_end(c));
    if (rst_recursive_triggers(c))
        (void)rst_schema_db_execute(schema_of(c)->schema_db,
                                    on ? "PRAGMA recursive_triggers=1" : "PRAGMA recursive_triggers=0", NULL);
}

int rst_sequences_find(rst_connection *c, const rst_table *table, const char *text, rst_code *code) {
    rst_schema *schema = schema_of(c);
    sqlite3_stmt *statement = NULL;
    sqlite3_int64 root = 0;
    bool any = false, opened = false;
    const char *own = code->kind == KIND_INSERT ? table->name : ""; /* the program sees to it */
    int result;
    for (int i = 0; i < schema->table_count && !any; i++)
        any = schema->tables[i]->autoincrement && (schema->tables[i] != table || code->kind != KIND_INSERT);
    /* Nothing of the schema database is running where a statement of the application begins. One inside a trigger
    ** belongs to it. */
    if (!any || (table->triggers == NULL && !(table->is_parent && rst_foreign_enabled(c))) ||
        rewriter_of(c)->trigger_depth > 0 || schema->program != NULL)
        return SQLITE_OK;
    result =
        sqlite3_prepare_v2(schema->schema_db, "SELECT rootpage FROM main.sqlite_schema WHERE name='sqlite_sequence'",
                           -1, &statement, NULL);
    if (result == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) root = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    if (result != SQLITE_OK || root == 0) return result;
    triggers_switch(c, true);
    result = prepare(c, sqlite3_mprintf("EXPLAIN %s", text), &statement);
    /* Where it names things of the connection's own, which the schema database does not know, one that does not is
    ** asked of. */
    if (result != SQLITE_OK && result != SQLITE_NOMEM) result = prepare(c, plain(table, code), &statement);
    if (result != SQLITE_OK) {
        triggers_switch(c, false);
        return result == SQLITE_NOMEM ? result : SQLITE_OK;
    }
    while (result == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        const char *operation = (const char *)sqlite3_column_text(statement, 1);
        const char *name = (const char *)sqlite3_column_text(statement, 5);
        if (operation == NULL) break;
        if (opened && strcmp(operation, "String8") == 0 && name != NULL && sqlite3_stricmp(name, own) != 0)
            result = append(code, name);
        opened = strcmp(operation, "OpenRead") == 0 && sqlite3_column_int64(statement, 3) == root &&
                 sqlite3_column_int(statement, 4) == 0;
    }
    sqlite3_finalize(statement);
    triggers_switch(c, false);
    return result;
}

static bool has_own(const rst_program *program) {
    return program->table->autoincrement && program->code->kind == KIND_INSERT;
}

int rst_sequences_of(const rst_program *program) {
    return program->code->sequence_count + has_own(program);
}

/* The table whose entry is the program's i-th, or null; its own comes last. */
static rst_table *sequence_of(rst_connection *c, const rst_program *program, int i) {
    rst_table *table =
        i < program->code->sequence_count ? rst_table_find(c, program->code->sequences[i]) : program->table;
    return table != NULL && table->autoincrement ? table : NULL;
}

int rst_sequences_note(rst_connection *c, const rst_program *program, rst_sequence **noted, char **message) {
    const rst_table *table = program->table;
    const int count = rst_sequences_of(program);
    int code = SQLITE_OK;
    if (count == 0 || (program->code->conflict != SQLITE_FAIL && !table->has_conflict_clauses &&
                       table->triggers == NULL && program->code->sequence_count == 0))
        return SQLITE_OK;
    *noted = sqlite3_malloc64((sqlite3_uint64)count * sizeof **noted);
    if (*noted == NULL) return SQLITE_NOMEM;
    if (store_of(c)->writer == NULL) code = rst_write_begin(c, message);
    for (int i = 0; i < count && code == SQLITE_OK; i++) {
        rst_table *named = sequence_of(c, program, i);
        if (named != NULL) code = rst_sequence_read(named, &(*noted)[i]);
    }
    return code;
}

int rst_sequences_end(rst_connection *c, const rst_program *program, const rst_sequence *noted, char **message) {
    const int count = rst_sequences_of(program);
    int code = SQLITE_OK;
    if (program->code->sequence_count > 0 && store_of(c)->writer == NULL) code = rst_write_begin(c, message);
    for (int i = 0; i < count && code == SQLITE_OK && store_of(c)->writer != NULL; i++) {
        rst_table *named = sequence_of(c, program, i);
        if (named == NULL) continue;
        code = program->stopped && noted != NULL ? rst_sequence_take_back(named, &noted[i]) : rst_sequence_touch(named);
    }
    return code;
}
