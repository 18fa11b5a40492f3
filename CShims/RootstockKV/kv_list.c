/*
** kv_list.c - the keys of `key IN (...)`, which SQLite hands over whole (kv_plan.c): each is sought once, in the order
** of their bytes.
**
** Invariant: the list holds every key that a row which SQLite keeps can have, each once and in rising order, or *all is
** said.
*/
#include "kv.h"

#include <string.h>

static bool rises(const rootstock_slice *key, const rootstock_slice *last) {
    size_t size = key->size < last->size ? key->size : last->size;
    int order = memcmp(last->data, key->data, size);
    return order < 0 || (order == 0 && last->size < key->size);
}

static int add(kv_cursor *cursor, const rootstock_slice *key) {
    if ((cursor->listed & (cursor->listed + 1)) == 0) { /* 0, 1, 3, 7: room for twice as many and one more */
        rootstock_slice *more =
            sqlite3_realloc64(cursor->list, sizeof *more * (2 * (sqlite3_uint64)cursor->listed + 1));
        if (more == NULL) return SQLITE_NOMEM;
        cursor->list = more;
    }
    cursor->list[cursor->listed++] = *key;
    return SQLITE_OK;
}

int kv_list_read(kv_cursor *cursor, sqlite3_value *values, bool *all) {
    sqlite3_value *value;
    size_t total = 0, at = 0;
    int code;
    cursor->listed = cursor->list_next = cursor->list_bytes.size = 0;
    /* Twice: the texts must not move once there are places of them. */
    for (code = sqlite3_vtab_in_first(values, &value); code == SQLITE_OK && !*all;
         code = sqlite3_vtab_in_next(values, &value)) {
        int type = sqlite3_value_type(value);
        if (type == SQLITE_TEXT)
            total += (size_t)sqlite3_value_bytes(value);
        else if (type == SQLITE_INTEGER || type == SQLITE_FLOAT)
            *all = true; /* a key may be compared as a number */
    }
    if (*all) return SQLITE_OK;
    if (code == SQLITE_DONE) code = rootstock_buffer_reserve(&cursor->list_bytes, total + 1);
    if (code != SQLITE_OK) return code;
    for (code = sqlite3_vtab_in_first(values, &value); code == SQLITE_OK; code = sqlite3_vtab_in_next(values, &value)) {
        size_t size = (size_t)sqlite3_value_bytes(value);
        rootstock_slice key = {size, cursor->list_bytes.data + at};
        const unsigned char *text;
        if (sqlite3_value_type(value) != SQLITE_TEXT || size == 0) continue; /* no key is empty */
        text = sqlite3_value_text(value);
        if (text == NULL) return SQLITE_NOMEM;
        memcpy(cursor->list_bytes.data + at, text, size);
        at += size;
        if (cursor->listed > 0 && !rises(&key, &cursor->list[cursor->listed - 1])) {
            *all = true;
            return SQLITE_OK;
        }
        code = add(cursor, &key);
        if (code != SQLITE_OK) return code;
    }
    return code == SQLITE_DONE ? SQLITE_OK : code;
}
