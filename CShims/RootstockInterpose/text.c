/*
** text.c - of the program's SQL text: what kind of statement it is, the text with its parameters' values, and UTF-16.
*/
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "interpose.h"
#include "parser/tokens.h"

/* Whether it begins with "select ", eight bytes looked at as one number. */
static bool is_select(const char *text, int bytes) {
    static const char word[8] = "select ", mask[8] = {-1, -1, -1, -1, -1, -1, -1, 0};
    uint64_t begins, wanted, of;
    if (bytes < 8) return false;
    memcpy(&begins, text, 8);
    memcpy(&wanted, word, 8);
    memcpy(&of, mask, 8);
    return ((begins | 0x2020202020202020u) & of) == wanted && text[6] == ' ';
}

enum rsti_kind rsti_kind_of(const char *text, int bytes, enum rsti_bound *bound) {
    static const struct {
        const char *word;
        enum rsti_kind kind;
        enum rsti_bound bound;
    } words[] = {
        {"SELECT", RSTI_QUERY, RSTI_NONE},      {"VALUES", RSTI_QUERY, RSTI_NONE},
        {"INSERT", RSTI_CHANGE, RSTI_NONE},     {"UPDATE", RSTI_CHANGE, RSTI_NONE},
        {"DELETE", RSTI_CHANGE, RSTI_NONE},     {"REPLACE", RSTI_CHANGE, RSTI_NONE},
        {"WITH", RSTI_CHANGE, RSTI_NONE},       {"BEGIN", RSTI_CONTROL, RSTI_BEGIN},
        {"COMMIT", RSTI_CONTROL, RSTI_COMMIT},  {"END", RSTI_CONTROL, RSTI_COMMIT},
        {"ROLLBACK", RSTI_CONTROL, RSTI_BACK},  {"SAVEPOINT", RSTI_CONTROL, RSTI_SAVEPOINT},
        {"RELEASE", RSTI_CONTROL, RSTI_COMMIT}, {"PRAGMA", RSTI_CONTROL, RSTI_NONE},
        {"EXPLAIN", RSTI_CONTROL, RSTI_NONE},
    };
    const char *p = text, *end = text + bytes;
    rst_token token;
    *bound = RSTI_NONE;
    if (is_select(text, bytes)) return RSTI_QUERY; /* most are */
    token = rst_token_next(&p, end);
    while (rst_token_mark(&token, ";")) token = rst_token_next(&p, end);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (token.type == TOKEN_WORD && (token.text[0] | 0x20) == (words[i].word[0] | 0x20) &&
            rst_token_is(&token, words[i].word)) {
            *bound = words[i].bound;
            return words[i].kind;
        }
    }
    return RSTI_SCHEMA;
}

bool rsti_begins_with(const char *text, int bytes, const char *word) {
    const char *p = text;
    rst_token token = rst_token_next(&p, text + bytes);
    while (rst_token_mark(&token, ";")) token = rst_token_next(&p, text + bytes);
    return rst_token_is(&token, word);
}

/* A value as sqlite3_expanded_sql writes it. */
static void append_value(sqlite3_str *out, sqlite3_value *value) {
    switch (sqlite3_value_type(value)) {
    case SQLITE_NULL: sqlite3_str_appendall(out, "NULL"); break;
    case SQLITE_INTEGER: sqlite3_str_appendf(out, "%lld", sqlite3_value_int64(value)); break;
    case SQLITE_FLOAT: sqlite3_str_appendf(out, "%!.15g", sqlite3_value_double(value)); break;
    case SQLITE_TEXT: {
        const char *text = (const char *)sqlite3_value_text(value);
        sqlite3_str_appendf(out, "'%.*q'", sqlite3_value_bytes(value), text == NULL ? "" : text);
        break;
    }
    default: {
        const unsigned char *blob = sqlite3_value_blob(value);
        int size = sqlite3_value_bytes(value);
        sqlite3_str_appendall(out, "x'");
        for (int i = 0; i < size; i++) sqlite3_str_appendf(out, "%02x", blob[i]);
        sqlite3_str_appendall(out, "'");
    }
    }
}

/* SELECT ?1, ?2 ...: a statement that shows the values of parameters that are moved to it. */
static sqlite3_stmt *mirror_of_bindings(rsti_statement *s, int count) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_stmt *schema_db = NULL;
    char *sql;
    for (int i = 1; i <= count; i++) sqlite3_str_appendf(text, "%s?%d", i == 1 ? "SELECT " : ",", i);
    sql = sqlite3_str_finish(text);
    if (sql != NULL) (void)sqlite3_prepare_v2(s->database->db, sql, -1, &schema_db, NULL);
    sqlite3_free(sql);
    return schema_db;
}

/* The number of the parameter as SQLite counts: *highest is the highest so far. */
static int number_of(rsti_statement *s, const rst_token *token, int *highest) {
    char name[256];
    int number;
    if (token->size == 1) return ++*highest;
    if (token->text[0] == '?') {
        number = atoi(token->text + 1);
    } else {
        if (token->size >= sizeof name) return 0;
        memcpy(name, token->text, token->size);
        name[token->size] = '\0';
        number = sqlite3_bind_parameter_index(s->real, name);
    }
    if (number > *highest) *highest = number;
    return number;
}

char *rsti_expanded(rsti_statement *s) {
    const int count = sqlite3_bind_parameter_count(s->real);
    const char *p = s->text, *end = s->text + s->length, *copied = s->text;
    int highest = 0, columns;
    sqlite3_stmt *schema_db;
    sqlite3_str *out;
    if (!s->rewritten) return sqlite3_expanded_sql(s->real);
    if (count == 0) return sqlite3_mprintf("%s", s->text);
    columns = sqlite3_limit(s->database->db, SQLITE_LIMIT_COLUMN, -1);
    schema_db = mirror_of_bindings(s, count < columns ? count : columns);
    if (schema_db == NULL || sqlite3_bind_parameter_count(schema_db) != count ||
        sqlite3_transfer_bindings(s->real, schema_db) != SQLITE_OK) {
        (void)sqlite3_finalize(schema_db);
        return sqlite3_mprintf("%s", s->text);
    }
    (void)sqlite3_step(schema_db);
    out = sqlite3_str_new(s->database->db);
    for (rst_token token = rst_token_next(&p, end); token.type != TOKEN_END; token = rst_token_next(&p, end)) {
        int number;
        if (token.type != TOKEN_VARIABLE) continue;
        number = number_of(s, &token, &highest);
        sqlite3_str_append(out, copied, (int)(token.text - copied));
        if (number >= 1 && number <= count)
            append_value(out, sqlite3_column_value(schema_db, number - 1));
        else
            sqlite3_str_append(out, token.text, (int)token.size);
        copied = token.text + token.size;
    }
    sqlite3_str_append(out, copied, (int)(end - copied));
    (void)sqlite3_reset(schema_db);
    (void)sqlite3_transfer_bindings(schema_db, s->real);
    (void)sqlite3_finalize(schema_db);
    return sqlite3_str_finish(out);
}

static unsigned next16(const uint16_t **p, const uint16_t *end) {
    unsigned c = *(*p)++;
    if (c >= 0xd800 && c < 0xdc00 && *p < end && **p >= 0xdc00 && **p < 0xe000)
        c = 0x10000 + ((c & 0x3ff) << 10) + (*(*p)++ & 0x3ffu);
    else if (c >= 0xd800 && c < 0xe000)
        c = 0xfffd;
    return c;
}

char *rsti_utf8(const void *text, int bytes) {
    const uint16_t *p = text, *end = p;
    char *out, *to;
    while ((bytes < 0 || (const char *)(end + 1) - (const char *)text <= bytes) && *end != 0) end++;
    out = to = sqlite3_malloc64((sqlite3_uint64)(end - p) * 3 + 1);
    if (out == NULL) return NULL;
    while (p < end) {
        unsigned c = next16(&p, end);
        if (c < 0x80) {
            *to++ = (char)c;
        } else if (c < 0x800) {
            *to++ = (char)(0xc0 | c >> 6);
            *to++ = (char)(0x80 | (c & 0x3f));
        } else if (c < 0x10000) {
            *to++ = (char)(0xe0 | c >> 12);
            *to++ = (char)(0x80 | (c >> 6 & 0x3f));
            *to++ = (char)(0x80 | (c & 0x3f));
        } else {
            *to++ = (char)(0xf0 | c >> 18);
            *to++ = (char)(0x80 | (c >> 12 & 0x3f));
            *to++ = (char)(0x80 | (c >> 6 & 0x3f));
            *to++ = (char)(0x80 | (c & 0x3f));
        }
    }
    *to = '\0';
    return out;
}
