/*
** cursor_column.c - xColumn and xRowid: results from the bytes under the cursor.
**
** Row bytes are decoded column by column, only those asked for. In a read snapshot results are handed to SQLite as pointers into
** the engine's memory (SQLITE_STATIC); in a write transaction, and for keys that had to be put together, they are copied.
** Invariant: only bytes that stay where they are until the snapshot ends are ever handed over as static.
*/
#include "change.h"
#include "cursor.h"

#include <string.h>

/* terminated: a text that ends before a NUL and has none inside. Given by its terminator, SQLite need not copy it to put one there. */
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

/* Every other column: of images, index entries, wide rows, keys of several columns, write transactions. */
static int column_slowly(rst_cursor *k, sqlite3_context *context, int column);

/*
** A column of an index entry in a read snapshot: the rowid, and NULLs, numbers and texts that stand behind nothing but such. All that
** is longer to tell is left to column_slowly.
*/
static int column_of_entry(rst_cursor *k, sqlite3_context *context, int column) {
    const rst_index *index = &k->table->indexes[k->plan->index];
    const unsigned char *bytes = k->entry_key.data;
    size_t left = k->entry_key.size;
    double real = 0;
    if (column == k->table->rowid_column) {
        if (left < 8) return column_slowly(k, context, column);
        sqlite3_result_int64(context, rootstock_rowid_decode(bytes + left - 8));
        return SQLITE_OK;
    }
    for (int p = 0; p < index->part_count && left > 0; p++) {
        bool wanted = index->parts[p].column == column;
        if (index->parts[p].key.descending) break;
        if (bytes[0] == KEY_NULL) {
            if (wanted) return SQLITE_OK; /* NULL is what SQLite finds there */
            bytes++;
            left--;
        } else if (rootstock_key_small_number(bytes, left, &real)) {
            if (wanted) {
                int64_t integer = (int64_t)real;
                if (index->parts[p].key.real_affinity || (double)integer != real) {
                    sqlite3_result_double(context, real);
                } else {
                    sqlite3_result_int64(context, integer);
                }
                return SQLITE_OK;
            }
            bytes += KEY_NUMBER_SIZE;
            left -= KEY_NUMBER_SIZE;
        } else if (bytes[0] == KEY_RAW_TEXT && !index->parts[p].key.final) {
            /* Its first NUL is the terminator, unless it is an escaped one. */
            const unsigned char *end = memchr(bytes + 1, 0, left - 1);
            if (end == NULL || end + 1 == bytes + left || end[1] != KEY_TEXT_END) break;
            if (wanted) {
                sqlite3_result_text(context, (const char *)bytes + 1, -1, k->lifetime);
                return SQLITE_OK;
            }
            left -= (size_t)(end + 2 - bytes);
            bytes = end + 2;
        } else {
            break;
        }
    }
    return column_slowly(k, context, column);
}

/*
** The common column: of a row in a read snapshot, from its bytes or a key that is one raw blob or text. Nothing is live across the
** calls here, so that the compiler saves no register: this is called for every column of every row.
*/
int rst_cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    rst_cursor *k = (rst_cursor *)base;
    const unsigned char *data;
    size_t start, end;
    int slot;
    if (k->on_writer && (k->quick || k->quick_entry) && sqlite3_vtab_nochange(context)) return SQLITE_OK;
    if (!k->quick || column >= k->table->column_count) {
        if (k->quick_entry && !k->row_located && column < k->table->column_count) {
            return column_of_entry(k, context, column);
        }
        return column_slowly(k, context, column);
    }
    slot = k->table->slot[column];
    if (slot < 0) {
        data = k->row_key.data;
        end = k->row_key.size;
        if (!k->raw_key || end < 2) return column_slowly(k, context, column);
        if (data[0] == KEY_RAW_BLOB) {
            sqlite3_result_blob(context, data + 1, (int)(end - 1), k->lifetime);
            return SQLITE_OK;
        }
        if (data[0] == KEY_RAW_TEXT) {
            sqlite3_result_text(context, (const char *)data + 1, (int)(end - 1), k->lifetime);
            return SQLITE_OK;
        }
        return column_slowly(k, context, column);
    }
    if (slot >= k->row.count) return column_slowly(k, context, column);
    if (k->row.width == 1) {
        start = slot > 0 ? k->row.ends[slot - 1] : 0;
        end = k->row.ends[slot];
    } else {
        const unsigned char *ends = k->row.ends + (size_t)slot * 2;
        start = slot > 0 ? (size_t)(ends[-2] | ends[-1] << 8) : 0;
        end = (size_t)(ends[0] | ends[1] << 8);
    }
    if (start > end || end > k->row.body_size) return column_slowly(k, context, column);
    data = k->row.body + start;
    end -= start;
    switch (k->row.types[slot]) {
    case ROW_BLOB:
        if (end == 0) break;
        sqlite3_result_blob(context, data, (int)end, k->lifetime);
        return SQLITE_OK;
    case ROW_TEXT:
        if (end == 0 || data[end - 1] != 0) break;
        /* By its terminator, not by its length: else SQLite copies it to put one behind it when it is read as text. */
        sqlite3_result_text(context, (const char *)data, -1, k->lifetime);
        return SQLITE_OK;
    case ROW_NULL:
        if (end != 0) break;
        return SQLITE_OK;
    case ROW_INTEGER: {
        int64_t integer;
        switch (end) {
        case 0: integer = 0; break;
        case 1: integer = (int8_t)data[0]; break;
        case 2: integer = (int16_t)(data[0] | data[1] << 8); break;
        case 4: integer = (int32_t)(data[0] | data[1] << 8 | data[2] << 16 | (uint32_t)data[3] << 24); break;
        default: return column_slowly(k, context, column);
        }
        sqlite3_result_int64(context, integer);
        return SQLITE_OK;
    }
    default: break;
    }
    return column_slowly(k, context, column);
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
    if (k->plan->source == PLAN_CLEAR) {
        /* A row that is gone already: xUpdate only counts, but SQLite collects the keys in a set first. */
        if (column == table->column_count + HIDDEN_KEY) {
            sqlite3_result_blob(context, &k->counted, (int)sizeof k->counted, SQLITE_TRANSIENT);
        }
        return SQLITE_OK;
    }
    if (k->remaining > 0) {
        code = rst_cursor_stop_counting(k);
        if (code != SQLITE_OK) return code;
    }
    if (k->on_writer && sqlite3_vtab_nochange(context)) return SQLITE_OK; /* an UPDATE that leaves the column alone */
    if (column >= table->column_count) {
        if (column == table->column_count + HIDDEN_KEY && table->without_rowid) {
            if (!k->row_located) {
                code = rst_cursor_locate(k);
                if (code != SQLITE_OK) return code;
            }
            sqlite3_result_blob64(context, k->row_key.data, k->row_key.size, SQLITE_TRANSIENT);
        }
        return SQLITE_OK;
    }
    if (column == table->rowid_column) {
        sqlite3_int64 rowid;
        code = rst_cursor_rowid(&k->base, &rowid);
        if (code == SQLITE_OK) sqlite3_result_int64(context, rowid);
        return code;
    }
    if (!k->row_located) {
        code = rst_cursor_entry_column(k, column, &value);
        if (code == SQLITE_OK) {
            bool in_scratch = value.as.data >= (const void *)k->scratch.data &&
                              value.as.data <= (const void *)(k->scratch.data + k->scratch.size);
            bool data = value.type == VALUE_TEXT || value.type == VALUE_BLOB;
            const unsigned char *end = (const unsigned char *)value.as.data + value.size;
            bool terminated = value.type == VALUE_TEXT && !in_scratch && k->entry_exact &&
                              end < (const unsigned char *)k->entry_key.data + k->entry_key.size && *end == 0;
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
        code = rootstock_row_open(&k->row, k->row_value.data, k->row_value.size);
        if (code != SQLITE_OK) return rst_cursor_corrupt(k, "malformed row");
        k->row_open = true;
    }
    slot = table->slot[column];
    if (slot >= 0 && k->row.compact && slot < k->row.count) {
        code = rootstock_row_column(&k->row, slot, &value, &has_nul);
        if (code != SQLITE_OK) return rst_cursor_corrupt(k, "malformed row");
        result(context, &value, k->stable && k->row_value.data != k->hold.data, !has_nul);
        return SQLITE_OK;
    }
    has_nul = true; /* unless the row's bytes say otherwise */
    code = rst_stored_column(table, &k->row_key, &k->row, column, &value, &has_nul, &k->scratch);
    if (code != SQLITE_OK) return code == SQLITE_NOMEM ? code : rst_cursor_corrupt(k, "malformed row");
    {
        bool data = value.type == VALUE_TEXT || value.type == VALUE_BLOB;
        bool copied = data && value.as.data >= (const void *)k->scratch.data &&
                      value.as.data <= (const void *)(k->scratch.data + k->scratch.size);
        bool ours = data && value.as.data == table->columns[column].missing.as.data;
        result(context, &value, data && k->stable && !copied && !ours && k->row_value.data != k->hold.data, !has_nul);
    }
    return SQLITE_OK;
}

int rst_cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
    rst_cursor *k = (rst_cursor *)base;
    if (k->image != NULL || (k->plan->source == PLAN_ROWID && k->plan->equals == 1)) {
        *rowid = k->rowid;
        return SQLITE_OK;
    }
    if (k->plan->source == PLAN_CLEAR) {
        *rowid = (sqlite3_int64)k->counted + 1;
        return SQLITE_OK;
    }
    if (k->remaining > 0) {
        int code = rst_cursor_stop_counting(k);
        if (code != SQLITE_OK) return code;
    }
    if (k->row_located) {
        if (k->row_key.size != 8) return rst_cursor_corrupt(k, "malformed key");
        *rowid = rootstock_rowid_decode(k->row_key.data);
        return SQLITE_OK;
    }
    if (k->entry_key.size < 8) return rst_cursor_corrupt(k, "malformed index entry");
    *rowid = rootstock_rowid_decode((const unsigned char *)k->entry_key.data + k->entry_key.size - 8);
    return SQLITE_OK;
}
