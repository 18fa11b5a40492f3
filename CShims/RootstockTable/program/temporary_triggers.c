/*
** temporary_triggers.c - temp triggers on store tables: lent to the mirror while it judges a statement, and the temp tables that hide the store's.
*/
#include "program/program.h"
#include "program/temporary_triggers.h"
#include "rewriter/transform.h"

int64_t rst_temporary_version(rst_connection *c) {
    sqlite3_stmt *statement;
    int64_t version = -1;
    if (!c->temporary_used) return 0;
    if (rst_statement_get(c, "PRAGMA temp.schema_version", &statement) != SQLITE_OK) return -1;
    if (sqlite3_step(statement) == SQLITE_ROW) version = sqlite3_column_int64(statement, 0);
    rst_statement_done(c, statement);
    return version;
}

static uint64_t hidden_tables(rst_connection *c) {
    uint64_t mixed = 0;
    for (int i = 0; i < c->table_count; i++) {
        if (rst_is_hidden(c, c->tables[i]->name)) mixed = (mixed + (uint64_t)i + 1) * 0x9E3779B97F4A7C15u;
    }
    return mixed;
}

void rst_temporary_hidden_note(rst_connection *c) {
    c->temporary_watched = c->temporary_trigger_count > 0 && c->temporary_names;
    if (c->temporary_trigger_count == 0) return;
    c->hidden_version = rst_temporary_version(c);
    c->hidden_tables = hidden_tables(c);
}

bool rst_temporary_hidden_changed(rst_connection *c) {
    int64_t version;
    if (!c->temporary_watched || c->trigger_depth > 0 || c->programs_running > 0) return false;
    version = rst_temporary_version(c);
    if (version == c->hidden_version) return false;
    c->hidden_version = version;
    return hidden_tables(c) != c->hidden_tables;
}

int rst_temporary_triggers_lend(rst_connection *c) {
    int code = SQLITE_OK;
    for (int i = 0; i < c->temporary_trigger_count && code != SQLITE_NOMEM; i++)
        code = sqlite3_exec(c->mirror, c->temporary_triggers[i], NULL, NULL, NULL);
    return code == SQLITE_NOMEM ? code : SQLITE_OK; /* one that SQLite takes no longer is lost with the change */
}

int rst_temporary_triggers_end(rst_connection *c) {
    bool any = true;
    int code = SQLITE_OK;
    while (any && code == SQLITE_OK) {
        sqlite3_stmt *statement;
        char *drop = NULL;
        code = sqlite3_prepare_v2(c->mirror, "SELECT name FROM sqlite_temp_master WHERE type='trigger' LIMIT 1", -1,
                                  &statement, NULL);
        if (code != SQLITE_OK) return code;
        any = sqlite3_step(statement) == SQLITE_ROW;
        if (any) {
            drop = sqlite3_mprintf("DROP TRIGGER temp.\"%w\"", sqlite3_column_text(statement, 0));
            if (drop == NULL) code = SQLITE_NOMEM;
        }
        sqlite3_finalize(statement);
        if (drop != NULL) code = sqlite3_exec(c->mirror, drop, NULL, NULL, NULL);
        sqlite3_free(drop);
    }
    return code;
}
