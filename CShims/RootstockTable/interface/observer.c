/*
** observer.c - rows seen and put from outside: who hears of each change, and bytes exchanged in place.
*/
#include "executor/change.h"
#include "interface/interface.h"
#include "interface/attached.h"
#include "interface/hosting.h"

#include <string.h>

int rootstock_observe_rows(sqlite3 *db, rootstock_row_observer observer, void *context, int each_cleared) {
    rst_connection *c;
    int code = rst_connection_made(db, &c);
    if (code != SQLITE_OK) return code;
    store_of(c)->observer.changed = observer;
    store_of(c)->observer.context = context;
    store_of(c)->observer.each_cleared = each_cleared != 0;
    return SQLITE_OK;
}

int rootstock_observe_changes(sqlite3 *db, rootstock_change_observer observer, void *context) {
    rst_connection *c;
    int code = rst_connection_made(db, &c);
    if (code != SQLITE_OK) return code;
    store_of(c)->observer.change = observer;
    store_of(c)->observer.change_context = context;
    return SQLITE_OK;
}

int rootstock_change_bind(const rootstock_row_change *change, int is_new, int column, sqlite3_stmt *statement,
                          int parameter) {
    const rst_table *table = change->described;
    const rst_row_slot *row = is_new ? change->new_row : change->old_row;
    if (row == NULL) return SQLITE_MISUSE;
    for (int i = 0; i < table->column_count && column >= 0; i++) {
        if (table->columns[i].generated == 2) continue;
        if (column-- > 0) continue;
        if (i == table->rowid_column) return sqlite3_bind_int64(statement, parameter, row->rowid);
        return rst_bind(statement, parameter, &row->values[i]);
    }
    return SQLITE_RANGE;
}

int rootstock_commit_hook(sqlite3 *db, int (*hook)(void *), void *context) {
    rst_connection *c;
    int code = rst_connection_made(db, &c);
    if (code != SQLITE_OK) return code;
    store_of(c)->observer.commit = hook;
    store_of(c)->observer.commit_context = context;
    return SQLITE_OK;
}

int rootstock_commit_of(sqlite3 *db) {
    const rst_connection *c = rst_connection_of(db);
    if (c == NULL) return ROOTSTOCK_COMMIT_OF_CHANGE;
    if (definitions_of(c)->undoing) return ROOTSTOCK_COMMIT_OF_NOTHING;
    return definitions_of(c)->reads > 0 ? ROOTSTOCK_COMMIT_OF_READING : ROOTSTOCK_COMMIT_OF_CHANGE;
}

int rootstock_undo_hook(sqlite3 *db, void (*hook)(void *, int), void *context) {
    rst_connection *c;
    int code = rst_connection_made(db, &c);
    if (code != SQLITE_OK) return code;
    store_of(c)->observer.undone = hook;
    store_of(c)->observer.undone_context = context;
    return SQLITE_OK;
}

void rootstock_aside_begin(sqlite3 *db, rootstock_aside *aside) {
    rst_connection *c = rst_connection_of(db);
    rst_executor *executor = executor_of(c);
    if (c == NULL) return;
    aside->program = schema_of(c)->program;
    aside->numbers[0] = executor->override_conflict;
    aside->numbers[1] = executor->settling;
    aside->numbers[2] = executor->upsert_updated;
    aside->numbers[3] = executor->last_mode;
    aside->numbers[4] = executor->row_written;
    aside->numbers[5] = executor->raised;
    aside->numbers[6] = executor->nested_error;
    aside->numbers[7] = executor->aborted;
    executor->asides++;
    executor->aborted = false;
    schema_of(c)->program = NULL;
    executor->override_conflict = CONFLICT_DEFAULT;
    executor->settling = 0;
    executor->upsert_updated = false;
    executor->nested_error = 0;
}

void rootstock_aside_end(sqlite3 *db, const rootstock_aside *aside) {
    rst_connection *c = rst_connection_of(db);
    rst_executor *executor = executor_of(c);
    if (c == NULL) return;
    executor->asides--;
    schema_of(c)->program = aside->program;
    executor->override_conflict = aside->numbers[0];
    executor->settling = aside->numbers[1];
    executor->upsert_updated = aside->numbers[2] != 0;
    executor->last_mode = aside->numbers[3];
    executor->row_written = aside->numbers[4] != 0;
    executor->raised = aside->numbers[5];
    executor->nested_error = aside->numbers[6];
    executor->aborted |= aside->numbers[7] != 0;
}

void rootstock_abort_changes(sqlite3 *db, int abort) {
    rst_connection *c = rst_connection_of(db);
    if (c != NULL) executor_of(c)->aborted = abort != 0;
}

int rootstock_lend_functions(sqlite3 *db, sqlite3 *copy, rst_function_proxies *lent) {
    rst_connection *c = rst_connection_of(db);
    int code;
    if (c == NULL) return SQLITE_OK;
    rst_call_enter();
    code = rst_function_proxies_lend_collations(c, copy, lent);
    if (code == SQLITE_OK) code = rst_function_proxies_lend(c, copy, lent);
    return rst_leave(c, code);
}

void rootstock_take_back_functions(sqlite3 *copy, rst_function_proxies *lent) {
    rst_function_proxies_withdraw(copy, lent);
}

static bool doubts_schema(const rst_connection *c) {
    return c != NULL && (store_of(c)->schema_changed || store_of(c)->schema_stale);
}

void rootstock_abort_reads(sqlite3 *db) {
    rst_connection *c = rst_connection_of(db);
    bool doubts = doubts_schema(c);
    if (c == NULL) return;
    for (rst_attached *a = front_of(c)->attached; a != NULL && !doubts; a = a->next) doubts = doubts_schema(a->store);
    if (doubts) rst_reads_abort(c);
}

static const rst_table *table_of(rst_connection *c, const char *name) {
    return c == NULL || store_of(c)->shared == NULL || schema_of(c)->sidecar ? NULL : rst_table_find(c, name);
}

const char *rootstock_rowid_name(sqlite3 *db, const char *table) {
    const rst_table *found = table_of(rst_connection_of(db), table);
    return found == NULL ? "_rowid_" : rst_rowid_name(found);
}

static int put_value(rst_connection *c, const rst_table *table, const char *column, sqlite3_int64 rowid, int type,
                     const void *bytes, sqlite3_uint64 size) {
    sqlite3_stmt *statement = NULL;
    const int before = sqlite3_total_changes(c->db);
    int code =
        rst_prepare(c->db, &statement, "UPDATE main.\"%w\" SET \"%w\"=?1,\"rootstock operation\"=%d WHERE \"%w\"=?2",
                    table->name, column, UPDATE_BYTES, rst_rowid_name(table));
    if (code == SQLITE_OK && type == SQLITE_TEXT)
        code = sqlite3_bind_text64(statement, 1, bytes, size, SQLITE_STATIC, SQLITE_UTF8);
    else if (code == SQLITE_OK)
        code = sqlite3_bind_blob64(statement, 1, bytes, size, SQLITE_STATIC);
    if (code == SQLITE_OK) code = sqlite3_bind_int64(statement, 2, rowid);
    if (code == SQLITE_OK) (void)sqlite3_step(statement);
    code = rst_finish(statement, code);
    return code == SQLITE_OK && sqlite3_total_changes(c->db) == before ? SQLITE_NOTFOUND : code;
}

int rootstock_put_value(sqlite3 *db, const char *table, const char *column, sqlite3_int64 rowid, int type,
                        const void *bytes, sqlite3_uint64 size) {
    rst_connection *c;
    const rst_table *found;
    int code = rootstock_refresh(db);
    if ((code & 0xff) == SQLITE_LOCKED) code = SQLITE_OK; /* statements run: the schema stays until they end */
    if (code != SQLITE_OK) return code;
    c = rst_connection_of(db);
    found = table_of(c, table);
    if (found == NULL || found->without_rowid) return SQLITE_NOTFOUND;
    return put_value(c, found, column, rowid, type, bytes, size);
}
