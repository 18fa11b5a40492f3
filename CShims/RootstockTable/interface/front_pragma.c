/*
** front_pragma.c - PRAGMAs at the front door: those that SQLite would answer of the in-memory main database are
** answered of the store. Invariant: a PRAGMA of another schema comes back as it is.
*/
#include "interface/interface.h"
#include "interface/frontdoor.h"
#include "parser/pragma.h"
#include "rewriter/transform.h"

#include <string.h>

typedef enum argument_kind {
    TEXT = 0,
    NUMBER,
    TABLE,          /* one that the store does not have is SQLite's to answer of, or an error */
    NUMBER_OR_TABLE /* integrity_check: how many faults at most, or where */
} argument_kind;

/* Of some lines below. A column of a PRAGMA is of no table and has no declared type, as an expression. */
#define AS(column, name) "+\"" column "\" \"" name "\""
#define FIRST(column) AS(column, column)
#define MORE(column) "," FIRST(column)
#define SCHEMA_PRAGMA(name, columns)                                                                                   \
    name, NULL, "SELECT " columns " FROM rootstock_pragma_" name "(%s%s)", TEXT, ",'main'"
#define TABLE_INFO FIRST("cid") MORE("name") MORE("type") MORE("notnull") MORE("dflt_value") MORE("pk")
#define FOREIGN_KEYS                                                                                                   \
    "SELECT " FIRST("table") MORE("rowid") MORE("parent") MORE("fkid") " FROM rootstock_foreign_key_check"
#define META_PRAGMA(name)                                                                                              \
    name, "SELECT rootstock_meta('" name "') AS " name ROOTSTOCK_READS,                                                \
        "SELECT 1 WHERE rootstock_meta_set('" name "',%s)", NUMBER, ""
#define CHECK_PRAGMA(name, quick)                                                                                      \
    name, "SELECT " AS("message", name) " FROM rootstock_integrity_check(NULL," quick ")",                             \
        "SELECT " AS("message", name) " FROM rootstock_integrity_check(%s," quick ")", NUMBER_OR_TABLE, ""

/* What a PRAGMA becomes, as formats; null: it is SQLite's own. */
static const struct {
    const char *name;
    const char *plain; /* without an argument: of `in_main` */
    const char *given; /* of the argument and `in_main` */
    argument_kind kind;
    const char *in_main; /* what "main." before its name adds */
} answers[] = {
    {SCHEMA_PRAGMA("table_info", TABLE_INFO)},
    {SCHEMA_PRAGMA("table_xinfo", TABLE_INFO MORE("hidden"))},
    {SCHEMA_PRAGMA("index_list", FIRST("seq") MORE("name") MORE("unique") MORE("origin") MORE("partial"))},
    {SCHEMA_PRAGMA("index_info", FIRST("seqno") MORE("cid") MORE("name"))},
    {SCHEMA_PRAGMA("index_xinfo", FIRST("seqno") MORE("cid") MORE("name") MORE("desc") MORE("coll") MORE("key"))},
    {SCHEMA_PRAGMA("foreign_key_list", FIRST("id") MORE("seq") MORE("table") MORE("from") MORE("to") MORE("on_update")
                                           MORE("on_delete") MORE("match"))},
    {"schema_version", "SELECT rootstock_meta('schema_version') AS schema_version" ROOTSTOCK_READS, NULL, TEXT, ""},
    {META_PRAGMA("user_version")},
    {META_PRAGMA("application_id")},
    {"ignore_check_constraints", NULL, "SELECT 1 WHERE rootstock_ignore_checks(%s)", TEXT, ""},
    {"foreign_key_check", FOREIGN_KEYS, FOREIGN_KEYS " WHERE \"table\"=%s COLLATE NOCASE", TABLE, ""},
    {CHECK_PRAGMA("integrity_check", "0")},
    {CHECK_PRAGMA("quick_check", "1")},
    /* Free pages are used again by themselves and given back by VACUUM: the mode is 0 and stays it. */
    {"auto_vacuum", "SELECT 0 AS auto_vacuum", RST_PRAGMA_WITHOUT_COLUMNS, TEXT, ""},
    {"incremental_vacuum", RST_PRAGMA_WITHOUT_COLUMNS, RST_PRAGMA_WITHOUT_COLUMNS, TEXT, ""},
    {"page_count", ROOTSTOCK_PAGE_COUNT, ROOTSTOCK_PAGE_COUNT, TEXT, ""},
    {"freelist_count", ROOTSTOCK_FREELIST_COUNT, ROOTSTOCK_FREELIST_COUNT, TEXT, ""},
    {"database_list", ROOTSTOCK_DATABASES, ROOTSTOCK_DATABASES, TEXT, ""},
    {"data_version", "SELECT rootstock_data_version() AS data_version" ROOTSTOCK_READS,
     "SELECT rootstock_data_version() AS data_version" ROOTSTOCK_READS, TEXT, ""},
};

/* A number as PRAGMA reads it: 32 bits, decimal or 0x, what follows left out; 0 if it is none. */
static int number_of(const char *text) {
    const bool negative = text[0] == '-';
    int64_t value = 0;
    int digits = 0;
    if (negative || text[0] == '+') text++;
    if (!negative && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        for (text += 2; digits < 9; digits++, text++) {
            char digit = *text;
            if (digit >= '0' && digit <= '9')
                value = value * 16 + digit - '0';
            else if ((digit | 0x20) >= 'a' && (digit | 0x20) <= 'f')
                value = value * 16 + (digit | 0x20) - 'a' + 10;
            else
                break;
        }
        return digits > 8 || value > INT32_MAX ? 0 : (int)value;
    }
    while (text[0] == '0') text++;
    for (; digits < 11 && text[digits] >= '0' && text[digits] <= '9'; digits++) value = value * 10 + text[digits] - '0';
    if (digits > 10 || value - negative > INT32_MAX) return 0;
    return (int)(negative ? -value : value);
}

/* Whether the table of that name is the store's to answer of: else *elsewhere, or it is nowhere. */
static int find_table(rst_connection *c, const rst_token *name, bool in_main, bool *elsewhere, char **message) {
    const bool own = rst_in_store(c, name, ROOTSTOCK_TABLES);
    char *text;
    int code = SQLITE_OK;
    *elsewhere = !in_main && rst_elsewhere(c, name, ROOTSTOCK_TABLES, !own);
    if (*elsewhere || own || !in_main) return SQLITE_OK;
    text = rst_token_name(name);
    if (text == NULL) return SQLITE_NOMEM;
    if (sqlite3_strnicmp(text, "sqlite_", 7) != 0) {
        rst_set_message(message, "no such table: main.%s", text);
        code = SQLITE_ERROR;
    }
    sqlite3_free(text);
    return code;
}

int rst_table_list_text(const rst_pragma *pragma, char **out) {
    char *name = rst_pragma_argument(pragma), *schema = rst_token_name(&pragma->schema);
    if (name != NULL && schema != NULL)
        *out = sqlite3_mprintf("SELECT " FIRST("schema") MORE("name") MORE("type") MORE("ncol") MORE("wr")
                                   MORE("strict") " FROM rootstock_pragma_table_list(%Q,%Q)",
                               pragma->argument.type == TOKEN_END ? NULL : name,
                               pragma->schema.type == TOKEN_END ? NULL : schema);
    sqlite3_free(name);
    sqlite3_free(schema);
    return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

int rst_rewrite_pragma(rst_connection *c, const char *sql, const char *end, char **out, char **message) {
    const size_t count = sizeof answers / sizeof answers[0];
    rst_pragma pragma;
    size_t i = 0;
    bool in_main, is_number, elsewhere = false;
    char *text, *literal;
    int code = SQLITE_OK;
    if (rst_pragma_read(sql, end, &pragma) == NULL) return SQLITE_OK;
    if (rst_token_same_name(&pragma.name, "case_sensitive_like")) rewriter_of(c)->like_replaced = true;
    in_main = pragma.schema.type != TOKEN_END;
    /* temp has views that triggers are made of, which are not listed. */
    if (rst_token_same_name(&pragma.name, "table_list") &&
        (!in_main || rst_token_same_name(&pragma.schema, "main") || rst_token_same_name(&pragma.schema, "temp")))
        return rst_table_list_text(&pragma, out);
    if (in_main && !rst_token_same_name(&pragma.schema, "main")) return SQLITE_OK;
    while (i < count && !rst_token_same_name(&pragma.name, answers[i].name)) i++;
    if (i == count || (pragma.argument.type == TOKEN_END ? answers[i].plain : answers[i].given) == NULL)
        return SQLITE_OK;
    if (pragma.argument.type == TOKEN_END) {
        *out = sqlite3_mprintf(answers[i].plain, in_main ? answers[i].in_main : "");
        return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    text = rst_pragma_argument(&pragma);
    if (text == NULL) return SQLITE_NOMEM;
    /* A text that begins as a number does is one to SQLite, too. */
    is_number = pragma.argument.type == TOKEN_NUMBER || (text[0] >= '0' && text[0] <= '9');
    is_number = answers[i].kind == NUMBER || (answers[i].kind == NUMBER_OR_TABLE && is_number);
    if (!is_number && answers[i].kind >= TABLE && rst_token_names(&pragma.argument))
        code = find_table(c, &pragma.argument, in_main, &elsewhere, message);
    if (code == SQLITE_OK && !elsewhere) {
        literal = is_number ? sqlite3_mprintf("%d", number_of(text)) : sqlite3_mprintf("%Q", text);
        if (literal != NULL) *out = sqlite3_mprintf(answers[i].given, literal, in_main ? answers[i].in_main : "");
        if (*out == NULL) code = SQLITE_NOMEM;
        sqlite3_free(literal);
    }
    sqlite3_free(text);
    return code;
}
