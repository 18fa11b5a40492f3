/*
** bulk_held.c - `column NOT IN (SELECT key FROM t)` in an UPDATE or DELETE of many rows, where t's key is its rowid.
**
** Natively SQLite looks the value up in t. Of a virtual table it makes a table of its own with all keys first, and
** looks there: three times what the rest of the row costs. So the term becomes
**   CASE rootstock_bulk_held(column, tree) WHEN 1 THEN 0 WHEN 0 THEN 1 ELSE column NOT IN (SELECT key FROM t) END
**
** The function has t's rowids as bits. t's rows are those of the statement's begin, because no row is changed before
** all conditions have been evaluated.
**
** Invariant: it says 1 or 0 only of an integer, which a column whose affinity is of integers compares with rowids as
** they are. Of anything else it says nothing, nor where t is not what it was or its rowids lie far apart. SQLite then
** judges the term itself.
*/
#include "program/program.h"
#include "rewriter/hints.h"
#include "rewriter/transform.h"
#include "program/bulk_change.h"
#include "program/runner.h"
#include <string.h>

/* Of more rows than these SQLite makes its table, which may go to disk. */
enum { MOST_ROWS = 4 << 20 };

/* Those of one table; which one the tree's number tells. */
typedef struct rst_bulk_held {
    struct rst_bulk_held *next;
    int tree;
    bool known;     /* all of them are here */
    int64_t low;    /* the first of the bits */
    uint64_t span;  /* how many bits there are */
    uint64_t *bits; /* null: there are none, or too many */
} rst_bulk_held;

void rst_bulk_held_free(rst_bulk_held **list) {
    while (*list != NULL) {
        rst_bulk_held *held = *list;
        *list = held->next;
        sqlite3_free(held->bits);
        sqlite3_free(held);
    }
}

/* Reads the keys of the tree, `entries` in number. False: they are not what was expected, or lie far apart. */
static bool read_rowids(rst_connection *c, const rst_tree *tree, uint64_t entries, rst_bulk_held *held) {
    const rootstock_engine *engine = store_of(c)->engine;
    rootstock_cursor *cursor;
    rootstock_slice key, value;
    uint64_t count = 0;
    int code;
    if (engine->cursor_open(store_of(c)->writer, tree->handle, &cursor) != ROOTSTOCK_OK) return false;
    code = engine->cursor_move(cursor, ROOTSTOCK_LAST, &key, &value);
    if (code == ROOTSTOCK_OK && key.size == 8) {
        const uint64_t high = (uint64_t)rootstock_rowid_decode(key.data);
        code = engine->cursor_move(cursor, ROOTSTOCK_FIRST, &key, &value);
        if (code == ROOTSTOCK_OK && key.size == 8) {
            held->low = rootstock_rowid_decode(key.data);
            held->span = high - (uint64_t)held->low + 1;
            if (held->span > 0 && held->span / 64 <= entries * 4)
                held->bits = sqlite3_malloc64((held->span / 64 + 1) * 8);
        }
    }
    if (held->bits != NULL) memset(held->bits, 0, (size_t)(held->span / 64 + 1) * 8);
    while (code == ROOTSTOCK_OK && key.size == 8 && count < entries && held->bits != NULL) {
        const uint64_t bit = (uint64_t)rootstock_rowid_decode(key.data) - (uint64_t)held->low;
        held->bits[bit / 64] |= (uint64_t)1 << bit % 64;
        count++;
        code = engine->cursor_move(cursor, ROOTSTOCK_NEXT, &key, &value);
    }
    engine->cursor_close(cursor);
    return code == ROOTSTOCK_NOT_FOUND && count == entries;
}

static void learn(rst_connection *c, rst_bulk_held *held) {
    rst_schema *schema = schema_of(c);
    rst_store *store = store_of(c);
    rootstock_tree_statistics statistics;
    rst_table *table = NULL;
    for (int i = 0; i < schema->table_count; i++)
        if (schema->tables[i]->tree.number == held->tree) table = schema->tables[i];
    if (table == NULL || table->without_rowid || store->writer == NULL || rst_is_hidden(c, table->name) ||
        rst_tree_ready(c, store->writer, &table->tree, false) != SQLITE_OK ||
        store->engine->tree_statistics(store->writer, table->tree.handle, &statistics) != ROOTSTOCK_OK ||
        statistics.entries > MOST_ROWS)
        return;
    held->known = statistics.entries == 0 || read_rowids(c, &table->tree, statistics.entries, held);
}

static bool has(const rst_bulk_held *held, int64_t rowid) {
    const uint64_t bit = (uint64_t)rowid - (uint64_t)held->low;
    return bit < held->span && (held->bits[bit / 64] >> bit % 64 & 1) != 0;
}

void rst_bulk_held_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    rst_bulk_change *bulk = programs_of(c)->bulk;
    rst_bulk_held *held;
    int tree;
    UNUSED(count);
    if (bulk == NULL || sqlite3_value_type(values[0]) != SQLITE_INTEGER) return;
    tree = sqlite3_value_int(values[1]);
    for (held = bulk->held; held != NULL && held->tree != tree; held = held->next) {
    }
    if (held == NULL) {
        held = sqlite3_malloc64(sizeof *held);
        if (held == NULL) return; /* SQLite learns of it when the call ends */
        *held = (rst_bulk_held){.next = bulk->held, .tree = tree};
        bulk->held = held;
        learn(c, held);
    }
    if (held->known) sqlite3_result_int(context, has(held, sqlite3_value_int64(values[0])));
}
