/*
** kv_values.c - the bytes of a key-value file's entries as SQL values, and back.
**
** A column takes values as one of a STRICT table of its type does and refuses the rest. What it stored in another form
** would not come back as what went in. Integers are those that programs put in keys. In trees with integer keys they
** are this machine's unsigned integers. Elsewhere they are unsigned with the highest byte first, so that the bytes'
** order is theirs. All keys of a tree are 4 or all 8 bytes wide.
**
** Invariant: for every value that a column shows, kv_bound reaches the entry by it; what kv_bound leaves out cannot
** compare true.
*/
#include "kv.h"

#include <string.h>

static const char *type_name(kv_type type) {
    return type == KV_BLOB ? "BLOB" : type == KV_INTEGER ? "INTEGER" : "TEXT";
}

static const char *value_type_name(sqlite3_value *value) {
    static const char *const names[] = {"", "INTEGER", "REAL", "TEXT", "BLOB", "NULL"};
    return names[sqlite3_value_type(value)];
}

/* ---- integers ---- */

static bool is_native(const kv_table *table) {
    return (table->tree.flags & ROOTSTOCK_KV_INTEGER_KEYS) != 0;
}

static int append_integer(const kv_table *table, size_t width, uint64_t number, rootstock_buffer *bytes) {
    unsigned char big[8];
    uint32_t small = (uint32_t)number;
    if (is_native(table)) {
        return width == 4 ? rootstock_buffer_append(bytes, &small, 4) : rootstock_buffer_append(bytes, &number, 8);
    }
    for (size_t i = 0; i < width; i++) big[i] = (unsigned char)(number >> (8 * (width - 1 - i)));
    return rootstock_buffer_append(bytes, big, width);
}

static uint64_t read_integer(const kv_table *table, const rootstock_slice *key) {
    uint64_t number = 0;
    uint32_t small;
    if (!is_native(table)) {
        for (size_t i = 0; i < key->size; i++) number = number << 8 | ((const unsigned char *)key->data)[i];
    } else if (key->size == 4) {
        memcpy(&small, key->data, 4);
        number = small;
    } else {
        memcpy(&number, key->data, 8);
    }
    return number;
}

static uint64_t largest(size_t width) {
    return width == 4 ? UINT32_MAX : (uint64_t)INT64_MAX;
}

/* ---- storing ---- */

static int refuse(const kv_table *table, const char *column, kv_type type, sqlite3_value *value, char **message) {
    if (sqlite3_value_type(value) == SQLITE_NULL) {
        rst_set_message(message, "NOT NULL constraint failed: %s.%s", table->name, column);
        return SQLITE_CONSTRAINT_NOTNULL;
    }
    rst_set_message(message, "cannot store %s value in %s column %s.%s", value_type_name(value), type_name(type),
                    table->name, column);
    return SQLITE_CONSTRAINT_DATATYPE;
}

static int check_json(kv_table *table, sqlite3_value *value, char **message) {
    kv_connection *kv = table->kv;
    bool valid;
    int code = SQLITE_OK;
    if (kv->json_valid == NULL) {
        code =
            sqlite3_prepare_v3(kv->db, "SELECT json_valid(?1)", -1, SQLITE_PREPARE_PERSISTENT, &kv->json_valid, NULL);
        if (code != SQLITE_OK) {
            rst_set_message(message, "%s", sqlite3_errmsg(kv->db));
            return code;
        }
    }
    sqlite3_bind_value(kv->json_valid, 1, value);
    valid = sqlite3_step(kv->json_valid) == SQLITE_ROW && sqlite3_column_int(kv->json_valid, 0) == 1;
    code = sqlite3_reset(kv->json_valid);
    sqlite3_clear_bindings(kv->json_valid);
    if (code != SQLITE_OK || valid) return code;
    rst_set_message(message, "malformed JSON in %s.value", table->name);
    return SQLITE_CONSTRAINT;
}

/* Text and blobs. */
static int store_bytes(kv_table *table, const char *column, kv_type type, sqlite3_value *value, rootstock_buffer *bytes,
                       char **message) {
    int told = sqlite3_value_type(value);
    const void *data;
    bool fits = type == KV_BLOB ? told == SQLITE_BLOB : told != SQLITE_BLOB && told != SQLITE_NULL;
    if (!fits) return refuse(table, column, type, value, message);
    data = type == KV_BLOB ? sqlite3_value_blob(value) : sqlite3_value_text(value);
    if (data == NULL && sqlite3_value_bytes(value) > 0) return SQLITE_NOMEM;
    return rootstock_buffer_append(bytes, data == NULL ? "" : data, (size_t)sqlite3_value_bytes(value));
}

static int store_integer(kv_table *table, size_t width, sqlite3_value *value, rootstock_buffer *bytes, char **message) {
    int type = sqlite3_value_numeric_type(value);
    sqlite3_int64 number = sqlite3_value_int64(value);
    if (type == SQLITE_FLOAT) {
        double real = sqlite3_value_double(value);
        if (real < -9007199254740992.0 || real > 9007199254740992.0 || (double)number != real)
            type = SQLITE_NULL;
        else
            type = SQLITE_INTEGER;
    }
    if (type != SQLITE_INTEGER) return refuse(table, "key", KV_INTEGER, value, message);
    if (number < 0 || (uint64_t)number > largest(width)) {
        rst_set_message(message, "key %lld of %s is not in 0 ... %llu, what the tree's keys of %d bytes hold", number,
                        table->name, (unsigned long long)largest(width), (int)width);
        return SQLITE_CONSTRAINT;
    }
    return append_integer(table, width, (uint64_t)number, bytes);
}

int kv_store_key(kv_table *table, size_t width, sqlite3_value *value, rootstock_buffer *bytes, char **message) {
    size_t begin = bytes->size, size;
    size_t limit = table->file->engine->maximum_key_size(table->file->shared->environment);
    int code = table->key_type == KV_INTEGER ? store_integer(table, width, value, bytes, message)
                                             : store_bytes(table, "key", table->key_type, value, bytes, message);
    if (code != SQLITE_OK) return code;
    size = bytes->size - begin;
    if (size == 0 || size > limit) {
        rst_set_message(message, "key of %s has %d bytes: the file's keys have 1 to %d", table->name, (int)size,
                        (int)limit);
        return SQLITE_TOOBIG;
    }
    if (is_native(table) && size != (width != 0 ? width : size == 4 ? 4 : 8)) {
        rst_set_message(message, "key of %s has %d bytes: the tree's integer keys have %s", table->name, (int)size,
                        width == 4   ? "4"
                        : width == 8 ? "8"
                                     : "4 or 8");
        return SQLITE_CONSTRAINT;
    }
    return SQLITE_OK;
}

int kv_store_value(kv_table *table, sqlite3_value *value, rootstock_buffer *bytes, char **message) {
    size_t begin = bytes->size;
    size_t limit = table->file->engine->maximum_key_size(table->file->shared->environment);
    int code = store_bytes(table, "value", table->value_type, value, bytes, message);
    if (code == SQLITE_OK && table->value_type == KV_JSON) code = check_json(table, value, message);
    if (code != SQLITE_OK) return code;
    if ((table->tree.flags & ROOTSTOCK_KV_DUPLICATES) != 0 && bytes->size - begin > limit) {
        rst_set_message(message, "value of %s has %d bytes: in a tree with several values a key they have at most %d",
                        table->name, (int)(bytes->size - begin), (int)limit);
        return SQLITE_TOOBIG;
    }
    return SQLITE_OK;
}

/* ---- showing ---- */

/* From the cursor's copy or a snapshot: the bytes outlive the statement's use of them in the second case only. */
static void show(kv_cursor *cursor, sqlite3_context *context, kv_type type, const rootstock_slice *bytes) {
    sqlite3_destructor_type lifetime = cursor->reader != NULL && !cursor->single ? SQLITE_STATIC : SQLITE_TRANSIENT;
    const void *data = bytes->size == 0 ? "" : bytes->data;
    if (type == KV_BLOB)
        sqlite3_result_blob64(context, data, bytes->size, lifetime);
    else
        sqlite3_result_text64(context, data, bytes->size, lifetime, SQLITE_UTF8);
}

int kv_show_key(kv_cursor *cursor, sqlite3_context *context) {
    kv_table *table = cursor->table;
    const rootstock_slice *key = &cursor->key;
    uint64_t number;
    if (table->key_type != KV_INTEGER) {
        show(cursor, context, table->key_type, key);
        return SQLITE_OK;
    }
    if (key->size != 4 && key->size != 8) {
        rst_set_message(&table->base.zErrMsg, "a key of %s has %d bytes and is no integer of 4 or 8: use key=blob",
                        table->name, (int)key->size);
        return SQLITE_MISMATCH;
    }
    if (key->size != cursor->width) {
        rst_set_message(&table->base.zErrMsg, "the keys of %s are not all of %d bytes: use key=blob", table->name,
                        (int)cursor->width);
        return SQLITE_MISMATCH;
    }
    number = read_integer(table, key);
    if (number > INT64_MAX) {
        rst_set_message(&table->base.zErrMsg, "key %llu of %s is larger than an SQL integer can be: use key=blob",
                        (unsigned long long)number, table->name);
        return SQLITE_MISMATCH;
    }
    sqlite3_result_int64(context, (sqlite3_int64)number);
    return SQLITE_OK;
}

int kv_show_value(kv_cursor *cursor, sqlite3_context *context) {
    show(cursor, context, cursor->table->value_type, &cursor->value);
    return SQLITE_OK;
}

/* ---- bounds ---- */

enum {
    EQ = SQLITE_INDEX_CONSTRAINT_EQ,
    GT = SQLITE_INDEX_CONSTRAINT_GT,
    GE = SQLITE_INDEX_CONSTRAINT_GE,
    LT = SQLITE_INDEX_CONSTRAINT_LT,
    LE = SQLITE_INDEX_CONSTRAINT_LE
};

/* `key <op> number`, where numbers lie anywhere and keys in 0 ... largest. */
static kv_reach integer_bound(size_t width, int *operation, sqlite3_value *value, uint64_t *bound) {
    uint64_t limit = width == 4 ? UINT32_MAX : UINT64_MAX;
    bool above = *operation == GT || *operation == GE;
    if (sqlite3_value_numeric_type(value) == SQLITE_FLOAT) {
        double real = sqlite3_value_double(value);
        if (real < 0) return above ? KV_REACH_ALL : KV_REACH_NONE;
        if (real >= 9223372036854775808.0)
            return above ? KV_REACH_NONE : *operation == EQ ? KV_REACH_NONE : KV_REACH_ALL;
        *bound = (uint64_t)real;
        /* Between two integers: the neighbours do for a range, SQLite judges each row again. */
        if ((double)*bound != real && *operation == EQ) return KV_REACH_NONE;
        *operation = above ? GE : *operation == EQ ? EQ : LE;
        /* Above 2^53 a real stands for several integers. */
        if (real >= 9007199254740992.0) return KV_REACH_ALL;
    } else {
        sqlite3_int64 number = sqlite3_value_int64(value);
        if (number < 0) return above ? KV_REACH_ALL : KV_REACH_NONE;
        *bound = (uint64_t)number;
    }
    if (*bound > limit) return above || *operation == EQ ? KV_REACH_NONE : KV_REACH_ALL;
    return KV_REACH_BOUND;
}

int kv_bound(const kv_table *table, kv_type type, size_t width, int *operation, sqlite3_value *value,
             rootstock_buffer *bytes) {
    int told = sqlite3_value_type(value), code;
    const void *data;
    if (told == SQLITE_NULL) return KV_REACH_NONE;
    if (type == KV_INTEGER) {
        uint64_t bound = 0;
        int numeric = sqlite3_value_numeric_type(value);
        kv_reach reach;
        if (numeric != SQLITE_INTEGER && numeric != SQLITE_FLOAT)
            return *operation == EQ ? KV_REACH_NONE : KV_REACH_ALL;
        reach = integer_bound(width, operation, value, &bound);
        if (reach == KV_REACH_BOUND && append_integer(table, width, bound, bytes) != SQLITE_OK) return -1;
        return reach;
    }
    /* A text may yet be compared as a number, and a blob with text by type alone: SQLite judges each row. */
    if (type == KV_BLOB ? told != SQLITE_BLOB : told != SQLITE_TEXT)
        return type == KV_BLOB && *operation == EQ ? KV_REACH_NONE : KV_REACH_ALL;
    data = type == KV_BLOB ? sqlite3_value_blob(value) : sqlite3_value_text(value);
    if (data == NULL && sqlite3_value_bytes(value) > 0) return -1;
    code = rootstock_buffer_append(bytes, data == NULL ? "" : data, (size_t)sqlite3_value_bytes(value));
    return code == SQLITE_OK ? KV_REACH_BOUND : -1;
}
