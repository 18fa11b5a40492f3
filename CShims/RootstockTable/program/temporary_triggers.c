/*
** temporary_triggers.c - temp triggers on store tables: lent to the schema database while it judges a statement, and
** the temp tables that hide the store's.
*/
#include "catalog/statement_check.h"
#include "program/program.h"
#include "program/temporary_triggers.h"
#include "rewriter/transform.h"

int64_t rst_temporary_version(rst_connection *c) {
    return programs_of(c)->temporary_used ? rst_pragma_number(c, "PRAGMA temp.schema_version", -1) : 0;
}

static uint64_t hidden_tables(rst_connection *c) {
    uint64_t mixed = 0;
    for (int i = 0; i < schema_of(c)->table_count; i++) {
        if (rst_is_hidden(c, schema_of(c)->tables[i]->name)) mixed = (mixed + (uint64_t)i + 1) * 0x9E3779B97F4A7C15u;
    }
    return mixed;
}

void rst_temporary_hidden_note(rst_connection *c) {
    rst_rewriter *rewriter = rewriter_of(c);
    store_of(c)->temporary_watched = rewriter->temporary_trigger_count > 0 && rewriter->temporary_names;
    if (rewriter->temporary_trigger_count == 0) return;
    programs_of(c)->hidden_version = rst_temporary_version(c);
    programs_of(c)->hidden_tables = hidden_tables(c);
}

bool rst_temporary_hidden_changed(rst_connection *c) {
    rst_programs *programs = programs_of(c);
    int64_t version;
    if (!store_of(c)->temporary_watched || rewriter_of(c)->trigger_depth > 0 || executor_of(c)->programs_running > 0)
        return false;
    version = rst_temporary_version(c);
    if (version == programs->hidden_version) return false;
    programs->hidden_version = version;
    return hidden_tables(c) != programs->hidden_tables;
}

int rst_temporary_triggers_lend(rst_connection *c) {
    int code = SQLITE_OK;
    for (int i = 0; i < rewriter_of(c)->temporary_trigger_count && code != SQLITE_NOMEM; i++)
        code = sqlite3_exec(schema_of(c)->schema_db, rewriter_of(c)->temporary_triggers[i], NULL, NULL, NULL);
    return code == SQLITE_NOMEM ? code : SQLITE_OK; /* one that SQLite takes no longer is lost with the change */
}

int rst_temporary_triggers_end(rst_connection *c) {
    bool any = true;
    int code = SQLITE_OK;
    while (any && code == SQLITE_OK) {
        char *name;
        code = rst_read_text(schema_of(c)->schema_db, &name,
                             "SELECT name FROM sqlite_temp_master WHERE type='trigger' LIMIT 1");
        any = name != NULL;
        if (any) code = rst_execute_on(schema_of(c)->schema_db, "DROP TRIGGER temp.\"%w\"", name);
        sqlite3_free(name);
    }
    return code;
}
