/*
** pragma.c - reads PRAGMA [schema.]name [= argument | (argument)]. Invariant: what is read as one, SQLite's grammar
** takes for one.
*/
#include "parser/parser.h"

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

static bool is_name(const rst_token *token) {
    return rst_token_names(token) && !rst_syntax_is_reserved(token);
}

/* ON, DELETE and DEFAULT stand for what they say. */
static bool is_argument(const rst_token *token) {
    return is_name(token) || rst_token_is(token, "ON") || rst_token_is(token, "DELETE") ||
           rst_token_is(token, "DEFAULT");
}

const char *rst_pragma_read(const char *text, const char *end, rst_pragma *pragma) {
    const char *p = text;
    rst_token token = rst_token_next(&p, end);
    if (!rst_token_is(&token, "PRAGMA")) return NULL;
    *pragma = (rst_pragma){.name = rst_token_next(&p, end)};
    token = rst_token_next(&p, end);
    if (rst_token_mark(&token, ".")) {
        pragma->schema = pragma->name;
        pragma->name = rst_token_next(&p, end);
        token = rst_token_next(&p, end);
        if (!is_name(&pragma->schema)) return NULL;
    }
    if (!is_name(&pragma->name)) return NULL;
    if (rst_token_mark(&token, "=") || rst_token_mark(&token, "(")) {
        const bool opens = token.text[0] == '(';
        pragma->argument = rst_token_next(&p, end);
        pragma->negative = rst_token_mark(&pragma->argument, "-");
        const bool sign = pragma->negative || rst_token_mark(&pragma->argument, "+");
        if (sign) pragma->argument = rst_token_next(&p, end);
        if (!is_number(&pragma->argument) && (sign || !is_argument(&pragma->argument))) return NULL;
        token = rst_token_next(&p, end);
        if (opens && !rst_token_mark(&token, ")")) return NULL;
        if (opens) token = rst_token_next(&p, end);
    }
    return token.type == TOKEN_END || rst_token_mark(&token, ";") ? p : NULL;
}

char *rst_pragma_argument(const rst_pragma *pragma) {
    const rst_token *argument = &pragma->argument;
    if (rst_token_names(argument)) return rst_token_name(argument);
    return sqlite3_mprintf("%s%.*s", pragma->negative ? "-" : "", (int)argument->size, argument->text);
}
