/*
** foretell.c - a row that is about to be changed, as the application's observer sees it: the old values and the new.
**
** Invariant: the observer is told once for each row, when nothing but the engine can refuse the change any more.
*/
#include "executor/executor.h"
#include "executor/change_steps.h"

void rst_tell_change(rst_table *table, const rst_row_slot *old, const rst_row_slot *row, int blob_column) {
    rst_connection *c = table->connection;
    const rootstock_row_change change = {
        .operation = row == NULL   ? SQLITE_DELETE
                     : old == NULL ? SQLITE_INSERT
                                   : SQLITE_UPDATE,
        .table = table->name,
        .before = table->without_rowid ? 0 : (old == NULL ? row : old)->rowid,
        .after = table->without_rowid ? 0 : (row == NULL ? old : row)->rowid,
        .depth = rewriter_of(c)->trigger_depth,
        .columns = table->column_count,
        .blob_column = blob_column,
        .described = table,
        .old_row = old,
        .new_row = row,
    };
    store_of(c)->observer.change(store_of(c)->observer.change_context, &change);
}

void rst_foretell_bytes(rst_table *table, const rst_row_slot *old, const rst_row_slot *row, uint64_t changed) {
    int column = 0;
    if (!rst_is_foretold(table)) return;
    while (column < table->column_count - 1 && !rst_columns_has(changed, row->beyond, column)) column++;
    rst_tell_change(table, old, NULL, column);
}
