/*
** bulk_change.c - the modules behind an UPDATE or DELETE of many rows.
**
** SQLite puts all values of each row of a virtual table that is to be changed into a table of its own, before it
** changes the first. So such a statement becomes (bulk_text.c)
**   INSERT INTO rootstock_bulk_rows(k,a) SELECT 0,0 FROM rootstock_bulk(statement, table, columns, epoch)
**   UNION ALL SELECT rowid, value FROM t WHERE condition
**   UNION ALL SELECT 0,0 FROM rootstock_bulk()
** The first arm begins and has no row. The second arm's rows are packed by xUpdate of rootstock_bulk_rows and counted
** by SQLite. The last arm changes the gathered rows (bulk_apply.c), reports their faults and has no row. All is one
** statement of SQLite's, which undoes it if it fails.
**
** A DELETE of all rows: the first arm shows as many rows as there are, which are only counted, and the last one empties
** the trees. If a trigger or a foreign key has come since the text was made, the first arm removes row by row and shows
** those that were removed. So do the rows go of a table that is dropped. An UPDATE that looks at no other row and
** changes no index changes its rows in turns, so that they need not all be in memory.
**
** Invariant: no row is changed before all conditions and values have been evaluated. A statement that ends early leaves
** nothing behind, because its first cursor owns the gathered rows.
*/
#include "program/program.h"
#include "program/bulk_change.h"
#include "program/runner.h"
#include "common/eponymous.h"

#include <string.h>

/* Bytes of packed rows after which those are changed, where that makes no difference: an UPDATE of long values is not
** to need them all in memory. */
enum { TURN_BYTES = 8 << 20 };

#define SCHEMA_CHANGED "the schema has changed: prepare the statement again"

/* A row is packed as its rowid, or as the length and bytes of its key. Then comes each value: its type, and behind
** it 8 bytes of a number, or the length and bytes of a text or blob. */

static int pack(rootstock_buffer *to, const void *bytes, size_t size) {
    return rootstock_buffer_append(to, bytes, size);
}

static int pack_sized(rootstock_buffer *to, const void *bytes, size_t size) {
    uint32_t count = (uint32_t)size;
    int code = pack(to, &count, sizeof count);
    return code == SQLITE_OK && size > 0 ? pack(to, bytes, size) : code;
}

static inline int pack_value(rootstock_buffer *to, const rootstock_value *value) {
    unsigned char *at;
    if (to->capacity - to->size < 9 && rootstock_buffer_reserve(to, 9) != SQLITE_OK) return SQLITE_NOMEM;
    at = to->data + to->size++;
    *at = (unsigned char)value->type;
    if (value->type == VALUE_NULL) return SQLITE_OK;
    if (value->type == VALUE_TEXT || value->type == VALUE_BLOB) return pack_sized(to, value->as.data, value->size);
    memcpy(at + 1, &value->as, 8);
    to->size += 8;
    return SQLITE_OK;
}

/* How the key that was packed last, behind `place`, stands to the one before it: 1 is higher. */
static int compare_last(const rst_bulk_change *bulk, size_t place) {
    const unsigned char *before = bulk->rows.data + bulk->last_place, *now = bulk->rows.data + place;
    if (bulk->table->without_rowid) {
        const void *a, *b;
        size_t a_size, b_size;
        (void)rst_bulk_unpack_sized(before, &a, &a_size);
        (void)rst_bulk_unpack_sized(now, &b, &b_size);
        return rootstock_key_compare(b, b_size, a, a_size);
    } else {
        int64_t a, b;
        memcpy(&a, before, 8);
        memcpy(&b, now, 8);
        return (b > a) - (b < a);
    }
}

/* SQLITE_DONE: the row is none, or one that came before, as far as is known, or may yet go. It is not counted now. */
static int gather(rst_bulk_change *bulk, sqlite3_value **values) {
    rst_connection *c = bulk->connection;
    rst_executor *executor = executor_of(c);
    const rst_table *table = bulk->table;
    size_t place = bulk->rows.size;
    int code, order = 1;
    /* A join without a match that is aggregated. */
    if (bulk->matches && sqlite3_value_type(values[0]) == SQLITE_NULL) return SQLITE_DONE;
    /* Another word for the key, which the statement was made for: it is a string, or there is no such key. */
    if (sqlite3_value_type(values[0]) != (table->without_rowid ? SQLITE_BLOB : SQLITE_INTEGER)) return SQLITE_SCHEMA;
    if (rootstock_buffer_reserve(&bulk->rows, 8 + 9 * (size_t)bulk->count) != SQLITE_OK) return SQLITE_NOMEM;
    if (table->without_rowid) {
        code = pack_sized(&bulk->rows, sqlite3_value_blob(values[0]), (size_t)sqlite3_value_bytes(values[0]));
    } else {
        int64_t rowid = sqlite3_value_int64(values[0]);
        memcpy(bulk->rows.data + place, &rowid, 8);
        bulk->rows.size += 8;
        code = SQLITE_OK;
    }
    for (int i = 0; i < bulk->count && code == SQLITE_OK; i++) {
        const rst_column *column = &table->columns[bulk->columns[i]];
        rootstock_value value;
        rst_value_from(values[1 + i], &value);
        if (!rst_value_fits(&value, column->affinity)) {
            executor->key_scratch.size = 0;
            code = rootstock_buffer_reserve(&executor->key_scratch, 64);
            if (code == SQLITE_OK)
                code = rst_value_affinity(&value, values[1 + i], column->affinity, &executor->key_scratch);
        }
        if (value.type == VALUE_NULL) bulk->null |= column->not_null;
        if (code == SQLITE_OK) code = pack_value(&bulk->rows, &value);
    }
    if (code != SQLITE_OK) return code;
    if (bulk->gathered > 0 && (bulk->ascending || bulk->matches)) order = compare_last(bulk, place);
    if (bulk->matches && order == 0) {
        /* The row once more: these values take the place of those. */
        memmove(bulk->rows.data + bulk->last_place, bulk->rows.data + place, bulk->rows.size - place);
        bulk->rows.size -= place - bulk->last_place;
        return SQLITE_DONE;
    }
    if (order <= 0) bulk->ascending = false;
    bulk->last_place = place;
    bulk->gathered++;
    if (bulk->judged || (bulk->matches && !bulk->ascending)) return SQLITE_DONE;
    bulk->counted++;
    return SQLITE_OK;
}

/* Changes what was gathered so far. The rows still to be read are found where they were, as no index and no key
** changes. */
static int take_turn(rst_bulk_change *bulk, sqlite3_vtab *base) {
    char *message = NULL;
    int code = rst_bulk_apply(bulk, &message);
    rst_damage_tell(bulk->connection, code, &message);
    bulk->rows.size = 0;
    bulk->gathered = 0;
    bulk->ascending = true;
    return rst_take_message(base, code, message);
}

/* ---- rootstock_bulk_rows, into which the rows are inserted: the key, and up to four values ---- */

static int target_connect(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                          char **message) {
    int code = sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    UNUSED(count);
    UNUSED(arguments);
    if (code == SQLITE_OK) code = sqlite3_vtab_config(db, SQLITE_VTAB_CONSTRAINT_SUPPORT, 1);
    if (code == SQLITE_OK) code = rst_bare_vtab(context, "CREATE TABLE x(k,a,b,c,d)", sizeof(rst_txn_vtab), out);
    /* SQLite says SQLITE_ERROR whatever xConnect returns: let the words be those of an interrupt. */
    if (code == SQLITE_INTERRUPT) rst_set_message(message, "%s", sqlite3_errstr(code));
    return code;
}

static int target_update(sqlite3_vtab *base, int count, sqlite3_value **values, sqlite3_int64 *rowid) {
    rst_connection *c = ((rst_txn_vtab *)base)->connection;
    rst_bulk_change *bulk = programs_of(c)->bulk;
    int code;
    if (bulk != NULL && (bulk->clears || bulk->last) && sqlite3_value_type(values[0]) == SQLITE_NULL) {
        /* It is counted, and that is all. */
        *rowid = sqlite3_last_insert_rowid(c->db);
        return SQLITE_OK;
    }
    rst_call_enter();
    if (bulk == NULL || bulk->table == NULL || count - 3 < bulk->count ||
        sqlite3_value_type(values[0]) != SQLITE_NULL) {
        sqlite3_free(base->zErrMsg);
        base->zErrMsg = sqlite3_mprintf("the store's own table, which no statement of the application's writes");
        code = SQLITE_ERROR;
    } else {
        code = gather(bulk, values + 2);
        if (code == SQLITE_DONE) code = SQLITE_CONSTRAINT; /* the statement is OR IGNORE */
        if (code == SQLITE_SCHEMA) rst_set_message(&base->zErrMsg, SCHEMA_CHANGED);
        if (code == SQLITE_OK && bulk->in_turns && bulk->rows.size > TURN_BYTES) code = take_turn(bulk, base);
        *rowid = sqlite3_last_insert_rowid(c->db); /* it stays */
    }
    return rst_leave(c, code);
}

static const sqlite3_module target_module = {
    .iVersion = 2,
    .xConnect = target_connect,
    .xBestIndex = rst_bare_best,
    .xDisconnect = rst_bare_disconnect,
    .xOpen = rst_bare_open,
    .xUpdate = target_update,
    .xBegin = rst_vtab_begin,
    .xSync = rst_vtab_sync,
    .xCommit = rst_vtab_commit,
    .xRollback = rst_vtab_rollback,
    .xSavepoint = rst_vtab_savepoint,
    .xRelease = rst_vtab_release,
    .xRollbackTo = rst_vtab_rollback_to,
};

/* ---- rootstock_bulk(statement, table, columns, epoch), which begins, and rootstock_bulk(), which ends ---- */

/* Shows rows to be counted: all of a table that is emptied, or changed ones. */
typedef struct bulk_cursor {
    rst_counted_cursor shown; /* must be first */
    rst_bulk_change bulk;     /* of the cursor that began; its table is null until then */
} bulk_cursor;

enum {
    COLUMN_STATEMENT = 0,
    COLUMN_TABLE,
    COLUMN_COLUMNS,
    COLUMN_EPOCH,
    ARGUMENTS,
    ALL_ARGUMENTS = (1 << ARGUMENTS) - 1
};

static int bulk_connect(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                        char **message) {
    static const rst_eponymous_kind kind = {
        .config = SQLITE_VTAB_DIRECTONLY, .cursor = sizeof(bulk_cursor), .count = ARGUMENTS, .rows = 1};
    UNUSED(count);
    UNUSED(arguments);
    UNUSED(message);
    return rst_eponymous_connect(db, context, "a HIDDEN,b HIDDEN,c HIDDEN,d HIDDEN", &kind, out);
}

static int bulk_best(sqlite3_vtab *base, sqlite3_index_info *info) {
    int code = rst_eponymous_best(base, info);
    return code == SQLITE_OK && info->idxNum != 0 && info->idxNum != ALL_ARGUMENTS ? SQLITE_CONSTRAINT : code;
}

/* Lets go of what was gathered. */
static void finish(rst_bulk_change *bulk) {
    rst_connection *c = bulk->connection;
    if (bulk->table == NULL) return;
    for (rst_bulk_change **link = &programs_of(c)->bulk; *link != NULL; link = &(*link)->outer) {
        if (*link == bulk) {
            *link = bulk->outer;
            break;
        }
    }
    rst_table_release(bulk->table);
    bulk->table = NULL;
    rst_spare_give(c, &bulk->rows);
}

static int bulk_close(sqlite3_vtab_cursor *base) {
    finish(&((bulk_cursor *)base)->bulk);
    return rst_eponymous_close(base);
}

/* Of a schema that has changed since the text was made, the columns are sought by their names again. */
static int find_columns(rst_bulk_change *bulk, const char *text, char **message) {
    rst_statement_parts parts;
    rst_syntax_tree tree;
    rst_span unused[BULK_COLUMNS];
    int code = rst_statement_parse(&tree, text, text + strlen(text), &parts);
    const rst_syntax *set = rst_statement_part(&parts, SYNTAX_SET);
    bool fits;
    bulk->count = set != NULL ? rst_bulk_columns(bulk->table, set, bulk->columns, unused) : 0;
    fits = bulk->count >= 0 && parts.kind >= KIND_UPDATE &&
           (set == NULL || !rst_syntax_has(set, SYNTAX_SELECT) ||
            !rst_update_is_rowwise(bulk->connection, bulk->table, &parts));
    rst_syntax_free(&tree);
    if (code != SQLITE_OK || fits) return code;
    rst_set_message(message, SCHEMA_CHANGED);
    return SQLITE_SCHEMA;
}

static int begin(rst_bulk_change *bulk, rst_connection *c, sqlite3_value **values, char **message) {
    const char *text = (const char *)sqlite3_value_text(values[COLUMN_STATEMENT]);
    const char *name = (const char *)sqlite3_value_text(values[COLUMN_TABLE]);
    int64_t columns = sqlite3_value_int64(values[COLUMN_COLUMNS]);
    uint64_t entries;
    int code;
    if (text == NULL || name == NULL) return SQLITE_NOMEM;
    finish(bulk);
    memset(bulk, 0, sizeof *bulk);
    /* SQLite asks an authorizer about the statement that was written, when that is prepared. */
    code = rst_statement_current(c, text);
    if (code != SQLITE_OK) return rst_failed_on(c->db, code, message);
    bulk->connection = c;
    bulk->table = rst_table_find(c, name);
    if (bulk->table == NULL) {
        rst_set_message(message, "no such table: %s", name);
        return SQLITE_ERROR;
    }
    bulk->deletes = columns <= 0;
    bulk->clears = columns < 0;
    bulk->matches = !bulk->clears && (columns & BULK_MATCHES) != 0;
    bulk->judged = !bulk->clears && (columns & BULK_JUDGED) != 0;
    if (bulk->clears) {
        /* no column is set */
    } else if ((uint64_t)sqlite3_value_int64(values[COLUMN_EPOCH]) == store_of(c)->epoch) {
        bulk->in_turns = (columns & BULK_LOOKS_AT_ROWS_ALONE) != 0;
        for (columns &= BULK_LOOKS_AT_ROWS_ALONE - 1; columns != 0; columns >>= 8)
            bulk->columns[bulk->count++] = (int)(columns & 0xFF) - 1;
    } else {
        code = find_columns(bulk, text, message);
        if (code != SQLITE_OK) {
            bulk->table = NULL;
            return code;
        }
    }
    for (int i = 0; i < bulk->count; i++) bulk->changed |= (uint64_t)1 << bulk->columns[i];
    bulk->in_turns =
        bulk->in_turns && !bulk->deletes && rst_update_fast_fits(bulk->table, bulk->changed, &entries) && entries == 0;
    bulk->ascending = true;
    bulk->rows = rst_spare_take(c);
    bulk->table->references++;
    bulk->outer = programs_of(c)->bulk;
    programs_of(c)->bulk = bulk;
    return SQLITE_OK;
}

/* The keys of all rows. */
static int gather_all(rst_bulk_change *bulk) {
    rst_connection *c = bulk->connection;
    rst_walker walker;
    rootstock_slice key, value;
    int code = rst_walker_open(c, store_of(c)->writer, &bulk->table->tree, &walker);
    if (code != SQLITE_OK) return code;
    code = rst_walker_move(&walker, ROOTSTOCK_FIRST, &key, &value);
    while (code == ROOTSTOCK_OK) {
        int64_t rowid = bulk->table->without_rowid ? 0 : rootstock_rowid_decode(key.data);
        int packed = bulk->table->without_rowid ? pack_sized(&bulk->rows, key.data, key.size)
                                                : pack(&bulk->rows, &rowid, sizeof rowid);
        if (packed != SQLITE_OK) {
            rst_walker_close(&walker);
            return packed;
        }
        bulk->gathered++;
        code = rst_walker_move(&walker, ROOTSTOCK_NEXT, &key, &value);
    }
    rst_walker_close(&walker);
    return code == ROOTSTOCK_NOT_FOUND ? SQLITE_OK : rst_map_code(c, code);
}

/* Begins, and counts the rows of a table that is emptied. */
static int begin_rows(bulk_cursor *cursor, rst_connection *c, sqlite3_value **values, char **message) {
    rst_store *store = store_of(c);
    rootstock_tree_statistics statistics;
    rst_tree *tree;
    int code = begin(&cursor->bulk, c, values, message);
    cursor->shown.row = cursor->shown.count = 0;
    if (code != SQLITE_OK || !cursor->bulk.clears) return code;
    tree = &cursor->bulk.table->tree;
    code = rst_write_begin(c, message);
    if (code == SQLITE_OK) code = rst_tree_ready(c, store->writer, tree, false);
    if (code != SQLITE_OK) return code;
    if (!rst_clears_at_once(cursor->bulk.table)) {
        cursor->bulk.singly = true;
        code = gather_all(&cursor->bulk);
        cursor->bulk.last = true;
        if (code == SQLITE_OK) code = rst_bulk_apply(&cursor->bulk, message);
        cursor->shown.count = code == SQLITE_OK ? (sqlite3_int64)cursor->bulk.done : 0;
        return code;
    }
    code = store->engine->tree_statistics(store->writer, tree->handle, &statistics);
    if (code != ROOTSTOCK_OK) return rst_map_code(c, code);
    cursor->bulk.gathered = statistics.entries;
    cursor->shown.count = (sqlite3_int64)statistics.entries;
    return SQLITE_OK;
}

/* Changes the rows, and shows those of a join or OR REPLACE that have not been counted yet. */
static int end_rows(bulk_cursor *cursor, rst_bulk_change *bulk, char **message) {
    int code = SQLITE_OK;
    bulk->last = true;
    if (!bulk->singly) code = rst_bulk_apply(bulk, message);
    cursor->shown.row = cursor->shown.count = 0;
    if (code == SQLITE_OK && bulk->done > bulk->counted && (bulk->matches || bulk->judged))
        cursor->shown.count = (sqlite3_int64)(bulk->done - bulk->counted);
    return code;
}

static int bulk_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values) {
    rst_connection *c = ((rst_eponymous *)base->pVtab)->connection;
    rst_programs *programs = programs_of(c);
    char *message = NULL;
    int code;
    UNUSED(text);
    UNUSED(count);
    rst_call_enter();
    if (number == ALL_ARGUMENTS)
        code = begin_rows((bulk_cursor *)base, c, values, &message);
    else if (programs->bulk == NULL)
        code = SQLITE_MISUSE;
    else
        code = end_rows((bulk_cursor *)base, programs->bulk, &message);
    rst_damage_tell(c, code, &message);
    return rst_leave(c, rst_take_message(base->pVtab, code, message));
}

static int bulk_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    UNUSED(base);
    UNUSED(context);
    UNUSED(column);
    return SQLITE_OK;
}

static const sqlite3_module bulk_module = {
    .xConnect = bulk_connect,
    .xBestIndex = bulk_best,
    .xDisconnect = rst_eponymous_disconnect,
    .xOpen = rst_eponymous_open,
    .xClose = bulk_close,
    .xFilter = bulk_filter,
    .xNext = rst_counted_next,
    .xEof = rst_counted_eof,
    .xColumn = bulk_column,
    .xRowid = rst_counted_rowid,
};

int rst_bulk_register(rst_connection *c) {
    const int code = rst_module(c, "rootstock_bulk", &bulk_module);
    return code == SQLITE_OK ? rst_module(c, "rootstock_bulk_rows", &target_module) : code;
}
