/*
** automatic_hash.c - what rows of a transient index are found under.
**
** Invariant: values that some comparison finds equal, under whatever affinity it applies, have the same hash. A row too
** many is harmless, because SQLite compares again; only a row too few would be wrong.
*/
#include "executor/executor.h"
#include "executor/change.h"
#include "executor/cursor.h"

#include <string.h>

static uint32_t mix(uint32_t hash, uint64_t number) {
    number ^= (uint64_t)hash << 13;
    number = (number ^ number >> 32) * 0x9E3779B97F4A7C15u; /* a small integer's double has its bits at the top */
    number = (number ^ number >> 29) * 0x9E3779B97F4A7C15u;
    return (uint32_t)(number >> 32);
}

static uint32_t mix_bytes(uint32_t hash, const unsigned char *bytes, size_t size, bool fold) {
    uint64_t state = 0xCBF29CE484222325u ^ hash;
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = bytes[i];
        if (fold && byte >= 'A' && byte <= 'Z') byte = (unsigned char)(byte + ('a' - 'A'));
        state = (state ^ byte) * 0x100000001B3u;
    }
    return mix(hash, state);
}

/* Whether nothing stands in the text that no number has. */
static bool may_be_number(const rootstock_value *text) {
    const unsigned char *bytes = text->as.data;
    bool digit = false;
    for (size_t i = 0; i < text->size; i++) {
        unsigned char byte = bytes[i];
        if (byte >= '0' && byte <= '9')
            digit = true;
        else if (byte != '.' && byte != '-' && byte != '+' && byte != 'e' && byte != 'E' && byte != ' ' &&
                 !(byte >= '\t' && byte <= '\r'))
            return false;
    }
    return digit;
}

int rst_text_number(rst_connection *c, sqlite3_stmt **asks, rootstock_value *value) {
    rootstock_buffer unused = {0};
    int code = SQLITE_OK;
    if (*asks == NULL) code = rst_statement_get(c, "SELECT ?1", asks);
    if (code != SQLITE_OK) {
        *asks = NULL;
        return code;
    }
    code = sqlite3_bind_text64(*asks, 1, value->as.data, value->size, SQLITE_STATIC, SQLITE_UTF8);
    if (code == SQLITE_OK) {
        code = sqlite3_step(*asks);
        if (code == SQLITE_ROW)
            code = rst_value_affinity(value, sqlite3_column_value(*asks, 0), AFFINITY_NUMERIC, &unused);
    }
    sqlite3_reset(*asks);
    return code;
}

/*
** One column more. A text that numeric affinity would make a number has the number's hash, because the other side's
** affinity may make it one. Numbers are told apart as doubles only, and text as far as its collation tells it apart.
*/
static uint32_t hash_value(uint32_t hash, const rootstock_value *value, uint8_t collation) {
    const unsigned char *bytes = value->as.data;
    size_t size = value->size;
    double real = 0;
    uint64_t bits;
    switch (value->type) {
    case VALUE_INTEGER: real = (double)value->as.integer; break;
    case VALUE_REAL: real = value->as.real; break;
    case VALUE_TEXT:
        if (collation == ROOTSTOCK_COLLATION_NOCASE) {
            /* Behind the first NUL only the length counts. */
            const unsigned char *end = size == 0 ? NULL : memchr(bytes, 0, size);
            return mix_bytes(mix(hash, VALUE_TEXT), bytes, end == NULL ? size : (size_t)(end - bytes), true);
        }
        if (collation == ROOTSTOCK_COLLATION_RTRIM) {
            while (size > 0 && bytes[size - 1] == ' ') size--;
        }
        return mix_bytes(mix(hash, VALUE_TEXT), bytes, size, false);
    case VALUE_BLOB: return mix_bytes(mix(hash, VALUE_BLOB), bytes, size, false);
    default: return mix(hash, VALUE_NULL);
    }
    if (real != real) return mix(hash, VALUE_NULL);
    if (real == 0) real = 0; /* -0.0 too */
    memcpy(&bits, &real, sizeof bits);
    return mix(mix(hash, VALUE_INTEGER), bits);
}

/*
** A real that a comparison makes a text has 15 digits: it is equal to texts of another number where these are not all
** that it has. SQLITE_NOTFOUND: so it is.
*/
static int is_whole_text(rst_connection *c, double real) {
    char digits[32];
    sqlite3_stmt *asks = NULL;
    rootstock_value value = {.type = VALUE_TEXT};
    int code;
    sqlite3_snprintf(sizeof digits, digits, "%!.15g", real);
    value.as.data = digits;
    value.size = strlen(digits);
    code = rst_text_number(c, &asks, &value);
    if (asks != NULL) rst_statement_done(c, asks);
    if (code != SQLITE_OK) return code;
    if (value.type == VALUE_INTEGER) return (double)value.as.integer == real ? SQLITE_OK : SQLITE_NOTFOUND;
    return value.type == VALUE_REAL && value.as.real == real ? SQLITE_OK : SQLITE_NOTFOUND;
}

int rst_automatic_hash_arguments(const rst_cursor *k, sqlite3_value **values, uint32_t *hash) {
    *hash = 0;
    for (int i = 0; i < k->plan->automatic; i++) {
        rootstock_value value;
        int code = SQLITE_OK;
        rst_value_from(values[i], &value);
        if (value.type == VALUE_NULL && !k->plan->null_equal[i]) return SQLITE_DONE;
        if (value.type == VALUE_TEXT && may_be_number(&value))
            code = rst_value_spelled(&value, values[i]);
        else if (value.type == VALUE_REAL && k->table->columns[k->plan->automatic_columns[i]].affinity == AFFINITY_TEXT)
            code = is_whole_text(k->connection, value.as.real);
        if (code != SQLITE_OK) return code;
        *hash = hash_value(*hash, &value, k->plan->automatic_collations[i]);
    }
    return SQLITE_OK;
}

int rst_automatic_hash_row(rst_cursor *k, bool numbers, sqlite3_stmt **asks, uint32_t *hash) {
    *hash = 0;
    for (int i = 0; i < k->plan->automatic; i++) {
        rootstock_value value;
        int code = rst_cursor_value(k, k->plan->automatic_columns[i], &value);
        if (code == SQLITE_OK && value.type == VALUE_TEXT && may_be_number(&value))
            code = rst_text_number(k->connection, asks, &value);
        if (code == SQLITE_OK && numbers && value.type != VALUE_INTEGER && value.type != VALUE_REAL)
            return SQLITE_NOTFOUND;
        if (code != SQLITE_OK) return code;
        *hash = hash_value(*hash, &value, k->plan->automatic_collations[i]);
    }
    return SQLITE_OK;
}
