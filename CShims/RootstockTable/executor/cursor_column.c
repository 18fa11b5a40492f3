/*
** cursor_column.c - xColumn and xRowid: results from the bytes under the cursor.
**
** Row bytes are decoded column by column, only those asked for. In a read snapshot SQLite gets results as pointers into
** the engine's memory (SQLITE_STATIC). In a write transaction they are copied, and so are keys that had to be put
** together. Invariant: only bytes that stay where they are until the snapshot ends are handed over as static.
*/
#include "executor/executor.h"
#include "executor/change.h"
#include "executor/cursor.h"
#include "catalog/expression_column.h"

#include <string.h>

/* terminated: a text that ends before a NUL and has none inside. Given by its terminator, SQLite need not copy it to
** put one there. */
static void result(sqlite3_context *context, const rootstock_value *value, bool stable, bool terminated) {
    switch (value->type) {
    case VALUE_INTEGER: sqlite3_result_int64(context, value->as.integer); break;
    case VALUE_REAL: sqlite3_result_double(context, value->as.real); break;
    case VALUE_TEXT:
        if (terminated) {
            sqlite3_result_text(context, value->as.data, -1, stable ? SQLITE_STATIC : SQLITE_TRANSIENT);
            break;
        }
        sqlite3_result_text64(context, value->as.data, value->size, stable ? SQLITE_STATIC : SQLITE_TRANSIENT,
                              SQLITE_UTF8);
        break;
    case VALUE_BLOB:
        if (value->size == 0)
            sqlite3_result_zeroblob(context, 0);
        else
            sqlite3_result_blob64(context, value->as.data, value->size, stable ? SQLITE_STATIC : SQLITE_TRANSIENT);
        break;
    default: sqlite3_result_null(context);
    }
}

/* Every other column: of images, wide rows, keys of several columns, what is malformed. */
static int column_slowly(rst_cursor *k, sqlite3_context *context, int column);

/*
** The part-th of a key's parts, if it and those before it are NULLs, numbers, texts and blobs that stand as they are.
** False: it is longer to tell.
*/
static inline bool give_part(const rst_cursor *k, sqlite3_context *context, const rst_part *parts,
                             const unsigned char *bytes, size_t left, int part) {
    double real = 0;
    for (int p = 0; p <= part && left > 0; p++) {
        if (parts[p].key.descending) break;
        if (bytes[0] == KEY_NULL) {
            if (p == part) return true; /* NULL is what SQLite finds there */
            bytes++;
            left--;
        } else if (rootstock_key_small_number(bytes, left, &real)) {
            if (p == part) {
                int64_t integer = (int64_t)real;
                if (parts[p].key.real_affinity || (double)integer != real) {
                    sqlite3_result_double(context, real);
                } else {
                    sqlite3_result_int64(context, integer);
                }
                return true;
            }
            bytes += KEY_NUMBER_SIZE;
            left -= KEY_NUMBER_SIZE;
        } else if ((bytes[0] == KEY_RAW_TEXT || bytes[0] == KEY_RAW_BLOB) && !parts[p].key.final) {
            /* Its first NUL is the terminator, unless it is an escaped one. */
            const unsigned char *end = memchr(bytes + 1, 0, left - 1);
            if (end == NULL || end + 1 == bytes + left || end[1] != KEY_TEXT_END) break;
            if (p == part && bytes[0] == KEY_RAW_TEXT) {
                sqlite3_result_text(context, (const char *)bytes + 1, -1, k->lifetime);
                return true;
            }
            if (p == part) {
                if (end == bytes + 1) break; /* of no bytes: zeroblob() */
                sqlite3_result_blob(context, bytes + 1, (int)(end - bytes - 1), k->lifetime);
                return true;
            }
            left -= (size_t)(end + 2 - bytes);
            bytes = end + 2;
        } else {
            break;
        }
    }
    return false;
}

/*
** A column of an index entry: the rowid, and NULLs, numbers, texts and blobs that stand behind nothing but such. All
** that is longer to tell is left to column_slowly.
*/
__attribute__((noinline)) static int column_of_entry(rst_cursor *k, sqlite3_context *context, int column) {
    const rst_part *parts = k->table->indexes[k->plan->index].parts;
    const unsigned char *bytes = k->entry_key.data;
    size_t left = k->entry_key.size;
    int place = k->places[column];
    if (place == PLACE_ROWID && left >= 8) {
        sqlite3_result_int64(context, rootstock_rowid_decode(bytes + left - 8));
        return SQLITE_OK;
    }
    if (place == PLACE_ROW) {
        int code = rst_cursor_locate(k);
        return code == SQLITE_OK ? rst_cursor_column(&k->base, context, column) : code;
    }
    if (place >= 0 && give_part(k, context, parts, bytes, left, place)) return SQLITE_OK;
    return column_slowly(k, context, column);
}

/* A column that stands in no slot of the compact row under the cursor: the rowid, or in the key. */
__attribute__((noinline)) static int column_apart(rst_cursor *k, sqlite3_context *context, int column) {
    const unsigned char *data = k->row_key->data;
    size_t size = k->row_key->size;
    int place = k->reaches[column];
    if (place == PLACE_ROWID && size == 8) {
        sqlite3_result_int64(context, rootstock_rowid_decode(data));
        return SQLITE_OK;
    }
    if (place == PLACE_KEY && size >= 2) {
        if (data[0] == KEY_RAW_BLOB) {
            sqlite3_result_blob(context, data + 1, (int)(size - 1), k->lifetime);
            return SQLITE_OK;
        }
        if (data[0] == KEY_RAW_TEXT) {
            sqlite3_result_text(context, (const char *)data + 1, (int)(size - 1), k->lifetime);
            return SQLITE_OK;
        }
    }
    if (place <= PLACE_PART && give_part(k, context, k->table->key, data, size, PLACE_PART - place)) return SQLITE_OK;
    return column_slowly(k, context, column);
}

/* A value of a row from its type and its bytes. False: it is malformed, or one of the few that are longer to tell. In
** place, so that nothing is live across SQLite's calls and no register has to be saved. */
__attribute__((always_inline)) static inline bool give(const rst_cursor *k, sqlite3_context *context, int type,
                                                       const unsigned char *data, size_t size) {
    int64_t integer;
    if (type == ROW_INTEGER) {
        if (!rootstock_row_integer(data, size, &integer)) return false;
        sqlite3_result_int64(context, integer);
        return true;
    }
    if (type == ROW_TEXT) {
        if (size == 0 || data[size - 1] != 0) return false;
        /* By its terminator, not by its length: else SQLite copies it to put one behind it when it is read as text. */
        sqlite3_result_text(context, (const char *)data, -1, k->lifetime);
        return true;
    }
    switch (type) {
    case ROW_REAL: {
        double real;
        if (size != 8) return false;
        real = rootstock_row_real(data);
        sqlite3_result_double(context, real);
        return true;
    }
    case ROW_NULL: return size == 0;
    case ROW_BLOB:
        if (size == 0) return false;
        sqlite3_result_blob(context, data, (int)size, k->lifetime);
        return true;
    default: return false;
    }
}

static inline int column_of_usual(rst_cursor *k, sqlite3_context *context, int column) {
    const unsigned char *types = k->row_bytes + 1, *ends = types + k->usual_count;
    int slot = k->reaches[column];
    size_t start, end;
    if (slot < 0) return column_apart(k, context, column);
    end = ends[slot];
    start = slot > 0 ? ends[slot - 1] : 0;
    if (start > end || end > k->body_size ||
        !give(k, context, types[slot], k->row_bytes + k->usual_body + start, end - start)) {
        return column_slowly(k, context, column);
    }
    return SQLITE_OK;
}

__attribute__((noinline)) static int column_of_narrow(rst_cursor *k, sqlite3_context *context, int column) {
    const int slot = k->reaches[column];
    const unsigned char *data;
    size_t size;
    int type;
    if (slot < 0) return column_apart(k, context, column);
    if (!rst_cursor_row_part(k, slot, &type, &data, &size) || !give(k, context, type, data, size))
        return column_slowly(k, context, column);
    return SQLITE_OK;
}

__attribute__((noinline)) static int column_otherwise(rst_cursor *k, sqlite3_context *context, int column) {
    if ((k->shape & COLUMNS_COPIED) != 0 && sqlite3_vtab_nochange(context)) return SQLITE_OK;
    switch (k->shape & ~COLUMNS_COPIED) {
    case COLUMNS_USUAL: return column_of_usual(k, context, column);
    case COLUMNS_NARROW: return column_of_narrow(k, context, column);
    case COLUMNS_ENTRY: return column_of_entry(k, context, column);
    default: return column_slowly(k, context, column);
    }
}

/* Called for every column of every row: the common one, of a row of the usual shape in a read snapshot, comes first. */
int rst_cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    rst_cursor *k = (rst_cursor *)base;
    if (k->shape != COLUMNS_USUAL) return column_otherwise(k, context, column);
    return column_of_usual(k, context, column);
}

/* An indexed expression. */
static int column_of_expression(rst_cursor *k, sqlite3_context *context, int column) {
    const rst_expression_column *shown = rst_expression_column_at(k->table, column);
    sqlite3_int64 rowid;
    int code;
    if (shown == NULL) return SQLITE_OK;
    if (k->plan->source == PLAN_INDEX) {
        const rst_index *index = &k->table->indexes[k->plan->index];
        for (int p = 0; p < index->part_count; p++) {
            rootstock_value value;
            if (!rst_expression_column_is(shown, &index->parts[p])) continue;
            code = rst_cursor_entry_part(k, p, &value);
            if (code != SQLITE_OK)
                return code == SQLITE_CORRUPT ? rst_cursor_corrupt(k, "malformed index entry") : code;
            result(context, &value, false, false);
            return SQLITE_OK;
        }
    }
    code = rst_cursor_rowid(&k->base, &rowid);
    return code == SQLITE_OK ? rst_expression_column_result(k->table, shown, rowid, context) : code;
}

static int column_slowly(rst_cursor *k, sqlite3_context *context, int column) {
    const rst_table *table = k->table;
    rootstock_value value;
    bool has_nul;
    int code, slot;
    if (k->image != NULL) {
        if (column < table->column_count) result(context, &k->image->values[column], false, false);
        return SQLITE_OK;
    }
    if (k->remaining > 0) {
        code = rst_cursor_stop_counting(k);
        if (code != SQLITE_OK) return code;
    }
    if (k->on_writer && sqlite3_vtab_nochange(context)) return SQLITE_OK; /* an UPDATE that leaves the column alone */
    if (column >= table->column_count) {
        if (column == table->column_count + HIDDEN_HINT && k->plan->hinted) {
            sqlite3_result_text(context, k->hint.size == 0 ? "" : (const char *)k->hint.data, (int)k->hint.size,
                                SQLITE_TRANSIENT);
        }
        if (column == table->column_count + HIDDEN_ROW && (k->plan->sorted || k->plan->passes)) {
            sqlite3_result_pointer(context, k, ROOTSTOCK_CURSOR_POINTER, NULL);
            return SQLITE_OK;
        }
        if (column == table->column_count + HIDDEN_KEY && table->without_rowid) {
            if (!k->row_located) {
                code = rst_cursor_locate(k);
                if (code != SQLITE_OK) return code;
            }
            sqlite3_result_blob64(context, k->row_key->data, k->row_key->size, SQLITE_TRANSIENT);
            return SQLITE_OK;
        }
        return column >= table->column_count + HIDDEN_KEY ? column_of_expression(k, context, column) : SQLITE_OK;
    }
    if (column == table->rowid_column) {
        sqlite3_int64 rowid;
        code = rst_cursor_rowid(&k->base, &rowid);
        if (code == SQLITE_OK) sqlite3_result_int64(context, rowid);
        return code;
    }
    if (!k->row_located) {
        code = rst_cursor_entry_column(k, column, &value);
        if (code == SQLITE_NOTFOUND) code = rst_cursor_entry_key(k, column, &value);
        if (code == SQLITE_OK) {
            bool data = value.type == VALUE_TEXT || value.type == VALUE_BLOB;
            bool in_scratch = data && value.as.data >= (const void *)k->scratch.data &&
                              value.as.data <= (const void *)(k->scratch.data + k->scratch.size);
            bool terminated = false;
            if (value.type == VALUE_TEXT && !in_scratch && k->entry_exact) {
                const unsigned char *end = (const unsigned char *)value.as.data + value.size;
                terminated = end < (const unsigned char *)k->entry_key.data + k->entry_key.size && *end == 0;
            }
            result(context, &value, data && k->stable && !in_scratch, terminated);
            return SQLITE_OK;
        }
        if (code != SQLITE_NOTFOUND)
            return code == SQLITE_CORRUPT ? rst_cursor_corrupt(k, "malformed index entry") : code;
        code = rst_cursor_locate(k);
        if (code != SQLITE_OK) return code;
    }
    if (k->row_gone) return SQLITE_OK;
    if (!k->row_open) {
        code = rootstock_row_open(&k->row, k->row_value->data, k->row_value->size);
        if (code != SQLITE_OK) return rst_cursor_corrupt(k, "malformed row");
        k->row_open = true;
    }
    slot = table->slot[column];
    if (slot >= 0 && k->row.compact && slot < k->row.count) {
        code = rootstock_row_column(&k->row, slot, &value, &has_nul);
        if (code != SQLITE_OK) return rst_cursor_corrupt(k, "malformed row");
        result(context, &value, k->stable && k->row_value->data != k->hold.data, !has_nul);
        return SQLITE_OK;
    }
    has_nul = true; /* unless the row's bytes say otherwise */
    code = rst_stored_column(table, k->row_key, &k->row, column, &value, &has_nul, &k->scratch);
    if (code != SQLITE_OK) return code == SQLITE_NOMEM ? code : rst_cursor_corrupt(k, "malformed row");
    {
        bool data = value.type == VALUE_TEXT || value.type == VALUE_BLOB;
        bool copied = data && value.as.data >= (const void *)k->scratch.data &&
                      value.as.data <= (const void *)(k->scratch.data + k->scratch.size);
        bool ours = data && value.as.data == table->columns[column].missing.as.data;
        result(context, &value, data && k->stable && !copied && !ours && k->row_value->data != k->hold.data, !has_nul);
    }
    return SQLITE_OK;
}

int rst_cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
    rst_cursor *k = (rst_cursor *)base;
    k->rowid_asked = true;
    if (k->image != NULL) {
        *rowid = k->image->rowid;
        return SQLITE_OK;
    }
    if (k->remaining > 0) {
        int code = rst_cursor_stop_counting(k);
        if (code != SQLITE_OK) return code;
    }
    if (k->row_located) {
        if (k->row_key->size != 8) return rst_cursor_corrupt(k, "malformed key");
        *rowid = rootstock_rowid_decode(k->row_key->data);
        return SQLITE_OK;
    }
    if (k->entry_key.size < 8) return rst_cursor_corrupt(k, "malformed index entry");
    *rowid = rootstock_rowid_decode((const unsigned char *)k->entry_key.data + k->entry_key.size - 8);
    return SQLITE_OK;
}
