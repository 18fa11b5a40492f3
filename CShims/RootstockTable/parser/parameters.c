/*
** parameters.c - the parameters of a statement's text, each with the number that SQLite gives it. Invariant: the text
** that comes out means with its numbers what it meant without.
*/

#include "parser/parser.h"

#include <string.h>

void rst_parameters_free(rst_parameters *parameters) {
    for (int i = 1; i <= parameters->highest; i++) sqlite3_free(parameters->names[i]);
    sqlite3_free(parameters->names);
    memset(parameters, 0, sizeof *parameters);
}

static int reach(rst_parameters *parameters, int number) {
    if (number >= parameters->capacity) {
        int capacity = number + 16 > parameters->capacity * 2 ? number + 16 : parameters->capacity * 2;
        char **names = sqlite3_realloc64(parameters->names, (sqlite3_uint64)capacity * sizeof *names);
        if (names == NULL) return SQLITE_NOMEM;
        memset(names + parameters->capacity, 0, (size_t)(capacity - parameters->capacity) * sizeof *names);
        parameters->names = names;
        parameters->capacity = capacity;
    }
    if (number > parameters->highest) parameters->highest = number;
    return SQLITE_OK;
}

int rst_parameters_add(rst_parameters *parameters, const char *start, const char *end) {
    int code = reach(parameters, parameters->highest + 1);
    if (code != SQLITE_OK) return code;
    parameters->names[parameters->highest] = sqlite3_mprintf("%.*s", (int)(end - start), start);
    return parameters->names[parameters->highest] == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

int rst_parameters_number(rst_connection *c, const char *text, const char *end, rst_parameters *parameters,
                          sqlite3_str *out, char **message) {
    const char *p = text, *copied = text;
    int limit = sqlite3_limit(c->db, SQLITE_LIMIT_VARIABLE_NUMBER, -1);
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        bool numbered = false;
        int number = 0, code;
        if (token.type == TOKEN_END) break;
        if (token.type != TOKEN_VARIABLE) continue;
        if (token.text[0] == '?' && token.size == 1) {
            number = parameters->highest + 1;
        } else if (token.text[0] == '?') {
            numbered = true;
            for (size_t i = 1; i < token.size && number < 10000000; i++) number = number * 10 + (token.text[i] - '0');
        } else {
            for (int i = 1; i <= parameters->highest; i++) {
                if (parameters->names[i] != NULL && parameters->names[i][0] == token.text[0] &&
                    strlen(parameters->names[i]) == token.size &&
                    memcmp(parameters->names[i], token.text, token.size) == 0) {
                    number = i;
                }
            }
            if (number == 0) number = parameters->highest + 1;
        }
        if (numbered && (number < 1 || number > limit)) {
            rst_set_message(message, "variable number must be between ?1 and ?%d", limit);
            return SQLITE_RANGE;
        }
        if (number > limit) {
            rst_set_message(message, "too many SQL variables");
            return SQLITE_RANGE;
        }
        code = reach(parameters, number);
        if (code != SQLITE_OK) return code;
        if (parameters->names[number] == NULL) {
            parameters->names[number] =
                numbered ? sqlite3_mprintf("?%d", number) : sqlite3_mprintf("%.*s", (int)token.size, token.text);
            if (parameters->names[number] == NULL) return SQLITE_NOMEM;
        } else if (numbered && parameters->names[number][0] == '?' && parameters->names[number][1] == '\0') {
            /* What began without a name has one from here on. */
            char *name = sqlite3_mprintf("?%d", number);
            if (name == NULL) return SQLITE_NOMEM;
            sqlite3_free(parameters->names[number]);
            parameters->names[number] = name;
        }
        if (out != NULL) {
            sqlite3_str_append(out, copied, (int)(token.text - copied));
            sqlite3_str_appendf(out, "?%d", number);
        }
        copied = token.text + token.size;
    }
    if (out != NULL) sqlite3_str_append(out, copied, (int)(end - copied));
    return SQLITE_OK;
}
