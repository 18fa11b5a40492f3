/*
** front_pragma.c - PRAGMAs at the front door: those that SQLite would answer of the in-memory main database are
** answered of the store. Invariant: a PRAGMA of another schema comes back as it is.
*/
#include "interface/interface.h"
#include "interface/frontdoor.h"
#include "rewriter/transform.h"

#include <string.h>

static const char *const schema_pragmas[] = {"table_info",  "table_xinfo",      "index_list", "index_info",
                                             "index_xinfo", "foreign_key_list", "table_list"};

/* A number as PRAGMA reads it: 32 bits, decimal or 0x, what follows left out; 0 if it is none. */
static int pragma_number(const char *text, bool negative) {
    int64_t value = 0;
    int digits = 0;
    if (text[0] == '-' || text[0] == '+') {
        negative = text[0] == '-';
        text++;
    }
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

/* 12x is no number, nor a token at all. */
static bool is_number(const rst_token *token) {
    bool hexadecimal = token->size > 2 && token->text[0] == '0' && (token->text[1] | 0x20) == 'x', exponent = false;
    if (token->type != TOKEN_NUMBER) return false;
    for (size_t i = hexadecimal ? 2 : 0; i < token->size; i++) {
        char letter = token->text[i] | 0x20;
        if (letter < 'a' || letter > 'z') continue;
        if (hexadecimal ? letter > 'f' : (letter != 'e' || exponent)) return false;
        exponent = true;
    }
    return true;
}

/* Whether it is a PRAGMA by SQLite's grammar: what stands behind it, or is left open, SQLite has to refuse itself. p
** behind PRAGMA. */
static bool is_pragma(const char *p, const char *end) {
    rst_token token = rst_token_next(&p, end);
    bool open;
    if (!rst_token_names(&token)) return false;
    token = rst_token_next(&p, end);
    if (rst_token_mark(&token, ".")) {
        token = rst_token_next(&p, end);
        if (!rst_token_names(&token)) return false;
        token = rst_token_next(&p, end);
    }
    if (token.type == TOKEN_END) return true;
    open = rst_token_mark(&token, "(");
    if (!open && !rst_token_mark(&token, "=")) return false;
    token = rst_token_next(&p, end);
    if (rst_token_mark(&token, "-") || rst_token_mark(&token, "+")) {
        token = rst_token_next(&p, end);
        if (!is_number(&token)) return false;
    }
    if (!is_number(&token) && !rst_token_names(&token)) return false;
    token = rst_token_next(&p, end);
    if (open && !rst_token_mark(&token, ")")) return false;
    if (open) token = rst_token_next(&p, end);
    return token.type == TOKEN_END;
}

int rst_rewrite_pragma(rst_connection *c, const char *sql, const char *end, char **out, char **message) {
    const char *p = sql;
    rst_token name, token, argument = {TOKEN_END, sql, 0};
    bool negative = false, main_only = false;
    (void)rst_token_next(&p, end);
    if (!is_pragma(p, end)) return SQLITE_OK;
    name = rst_token_next(&p, end);
    token = rst_token_next(&p, end);
    if (rst_token_mark(&token, ".")) {
        if (!rst_token_same_name(&name, "main")) return SQLITE_OK;
        main_only = true;
        name = rst_token_next(&p, end);
        token = rst_token_next(&p, end);
    }
    if (rst_token_mark(&token, "=") || rst_token_mark(&token, "(")) {
        argument = rst_token_next(&p, end);
        if (rst_token_mark(&argument, "-") || rst_token_mark(&argument, "+")) {
            negative = rst_token_mark(&argument, "-");
            argument = rst_token_next(&p, end);
        }
    }
    for (size_t i = 0; i < sizeof schema_pragmas / sizeof schema_pragmas[0]; i++) {
        if (!rst_token_same_name(&name, schema_pragmas[i])) continue;
        if (argument.type == TOKEN_END) {
            if (strcmp(schema_pragmas[i], "table_list") != 0) return SQLITE_OK;
            *out = sqlite3_mprintf("SELECT * FROM rootstock_pragma_table_list");
        } else {
            char *text = rst_token_name(&argument);
            if (text == NULL) return SQLITE_NOMEM;
            *out = strcmp(schema_pragmas[i], "table_list") == 0
                       ? sqlite3_mprintf("SELECT * FROM rootstock_pragma_table_list(%Q)%s", text,
                                         main_only ? " WHERE schema='main'" : "")
                       : sqlite3_mprintf("SELECT * FROM rootstock_pragma_%s(%Q%s)", schema_pragmas[i], text,
                                         main_only ? ",'main'" : "");
            sqlite3_free(text);
        }
        return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    if (rst_token_same_name(&name, "schema_version") && argument.type == TOKEN_END) {
        *out = sqlite3_mprintf("SELECT rootstock_meta('schema_version') AS schema_version");
        return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    if (rst_token_same_name(&name, "user_version") || rst_token_same_name(&name, "application_id")) {
        const char *which = rst_token_same_name(&name, "user_version") ? "user_version" : "application_id";
        if (argument.type == TOKEN_END)
            *out = sqlite3_mprintf("SELECT rootstock_meta('%s') AS %s", which, which);
        else {
            char *text = rst_token_names(&argument) ? rst_token_name(&argument)
                                                    : rst_span_text(argument.text, argument.text + argument.size);
            if (text == NULL) return SQLITE_NOMEM;
            *out = sqlite3_mprintf("SELECT 1 WHERE rootstock_meta_set('%s', %d)", which, pragma_number(text, negative));
            sqlite3_free(text);
        }
        return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    if (rst_token_same_name(&name, "ignore_check_constraints") && argument.type != TOKEN_END) {
        static const char off[] = "off"; /* as SQLite reads what is negative */
        if (negative) return rst_quoted_call("rootstock_ignore_checks", off, off + sizeof off - 1, out);
        return rst_quoted_call("rootstock_ignore_checks", argument.text, argument.text + argument.size, out);
    }
    if (rst_token_same_name(&name, "foreign_key_check")) {
        if (argument.type == TOKEN_END)
            *out = sqlite3_mprintf("SELECT * FROM rootstock_foreign_key_check");
        else {
            char *text;
            if (!main_only &&
                rst_elsewhere(c, &argument, ROOTSTOCK_TABLES, !rst_in_store(c, &argument, ROOTSTOCK_TABLES)))
                return SQLITE_OK;
            text = rst_token_name(&argument);
            if (text == NULL) return SQLITE_NOMEM;
            *out = sqlite3_mprintf("SELECT * FROM rootstock_foreign_key_check WHERE \"table\"=%Q COLLATE NOCASE", text);
            sqlite3_free(text);
        }
        return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    if (rst_token_same_name(&name, "integrity_check") || rst_token_same_name(&name, "quick_check")) {
        bool quick = rst_token_same_name(&name, "quick_check");
        const char *which = quick ? "quick_check" : "integrity_check";
        if (argument.type == TOKEN_END) {
            *out = sqlite3_mprintf("SELECT message AS %s FROM rootstock_integrity_check(NULL, %d)", which, quick);
        } else {
            char *text = argument.type == TOKEN_NUMBER ? rst_span_text(argument.text, argument.text + argument.size)
                                                       : rst_token_name(&argument);
            if (text == NULL) return SQLITE_NOMEM;
            if (!main_only && rst_token_names(&argument) &&
                rst_elsewhere(c, &argument, ROOTSTOCK_TABLES, !rst_in_store(c, &argument, ROOTSTOCK_TABLES))) {
                sqlite3_free(text);
                return SQLITE_OK;
            }
            if (main_only && rst_token_names(&argument) && !(text[0] >= '0' && text[0] <= '9') &&
                !rst_in_store(c, &argument, ROOTSTOCK_TABLES) && sqlite3_strnicmp(text, "sqlite_", 7) != 0) {
                rst_set_message(message, "no such table: main.%s", text);
                sqlite3_free(text);
                return SQLITE_ERROR;
            }
            /* A text that begins with a digit is a number to SQLite, too, and one that makes none the default. */
            if (argument.type == TOKEN_NUMBER || (text[0] >= '0' && text[0] <= '9'))
                *out = sqlite3_mprintf("SELECT message AS %s FROM rootstock_integrity_check(%d, %d)", which,
                                       pragma_number(text, negative), quick);
            else
                *out =
                    sqlite3_mprintf("SELECT message AS %s FROM rootstock_integrity_check(%Q, %d)", which, text, quick);
            sqlite3_free(text);
        }
        return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    if (rst_token_same_name(&name, "auto_vacuum")) {
        /* Free pages are used again by themselves and given back by VACUUM: the mode is 0 and stays it. */
        *out = argument.type == TOKEN_END ? sqlite3_mprintf("SELECT 0 AS auto_vacuum")
                                          : sqlite3_mprintf("SELECT 0 WHERE 0");
        return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    if (rst_token_same_name(&name, "incremental_vacuum")) {
        *out = sqlite3_mprintf("SELECT 0 WHERE 0"); /* as on a database whose auto_vacuum is not incremental */
        return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    if ((rst_token_same_name(&name, "page_count") || rst_token_same_name(&name, "freelist_count")) &&
        argument.type == TOKEN_END) {
        *out = sqlite3_mprintf("%s", rst_token_same_name(&name, "freelist_count") ? ROOTSTOCK_FREELIST_COUNT
                                                                                  : ROOTSTOCK_PAGE_COUNT);
        return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    if (rst_token_same_name(&name, "database_list")) {
        *out = sqlite3_mprintf(ROOTSTOCK_DATABASES);
        return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    if (rst_token_same_name(&name, "data_version")) {
        *out = sqlite3_mprintf("SELECT rootstock_data_version() AS data_version");
        return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    UNUSED(message);
    return SQLITE_OK;
}
