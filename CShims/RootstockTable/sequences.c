/*
** sequences.c - which entries of sqlite_sequence a statement makes, whether a row comes or not.
**
** SQLite reads the entry of every AUTOINCREMENT table that a statement could insert into, those that its triggers name included, when it
** begins, and writes it when it ends: a table without an entry has one of 0 from then on, even if no trigger fired. SQLite itself
** is asked which tables these are: the program that it compiles on the mirror opens sqlite_sequence and names each of them.
** Invariant: the list holds names of the mirror's main schema, in the order in which SQLite writes them.
*/
#include "runner.h"

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

int rst_sequences_find(rst_connection *c, const rst_table *table, const char *text, rst_code *code) {
    sqlite3_stmt *statement = NULL;
    sqlite3_int64 root = 0;
    char *explain;
    bool any = false, opened = false;
    int result;
    for (int i = 0; i < c->table_count && !any; i++) any = c->tables[i]->autoincrement && c->tables[i] != table;
    /* Nothing of the mirror is running where a statement of the application begins. One inside a trigger belongs to it. */
    if (!any || table->triggers == NULL || c->trigger_depth > 0 || c->program != NULL) return SQLITE_OK;
    result = sqlite3_prepare_v2(c->mirror, "SELECT rootpage FROM main.sqlite_schema WHERE name='sqlite_sequence'", -1,
                                &statement, NULL);
    if (result == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) root = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    if (result != SQLITE_OK || root == 0) return result;
    explain = sqlite3_mprintf("EXPLAIN %s", text);
    if (explain == NULL) return SQLITE_NOMEM;
    /* Rows that it judges meet no triggers: on until the program is read. */
    sqlite3_db_config(c->mirror, SQLITE_DBCONFIG_ENABLE_TRIGGER, 1, NULL);
    result = sqlite3_prepare_v2(c->mirror, explain, -1, &statement, NULL);
    sqlite3_free(explain);
    if (result != SQLITE_OK) {
        /* It names things of the connection's own, which the mirror does not know. */
        sqlite3_db_config(c->mirror, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
        return SQLITE_OK;
    }
    while (result == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        const char *operation = (const char *)sqlite3_column_text(statement, 1);
        const char *name = (const char *)sqlite3_column_text(statement, 5);
        if (operation == NULL) break;
        if (opened && strcmp(operation, "String8") == 0 && name != NULL && sqlite3_stricmp(name, table->name) != 0)
            result = append(code, name);
        opened = strcmp(operation, "OpenRead") == 0 && sqlite3_column_int64(statement, 3) == root &&
                 sqlite3_column_int(statement, 4) == 0;
    }
    sqlite3_finalize(statement);
    sqlite3_db_config(c->mirror, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    return result;
}
