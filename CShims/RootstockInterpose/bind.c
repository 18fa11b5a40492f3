/*
** bind.c - parameters: those of an alias are those of its statement, which has the program's in their order and under
** their names.
*/
#include <string.h>

#include "interpose.h"
#include "parser/tokens.h"

FORWARDED(int, bind_blob, (sqlite3_stmt * statement, int n, const void *blob, int bytes, void (*release)(void *)),
          (rsti_real(statement), n, blob, bytes, release))
FORWARDED(int, bind_blob64,
          (sqlite3_stmt * statement, int n, const void *blob, sqlite3_uint64 bytes, void (*release)(void *)),
          (rsti_real(statement), n, blob, bytes, release))
FORWARDED(int, bind_double, (sqlite3_stmt * statement, int n, double value), (rsti_real(statement), n, value))
FORWARDED(int, bind_int, (sqlite3_stmt * statement, int n, int value), (rsti_real(statement), n, value))
FORWARDED(int, bind_int64, (sqlite3_stmt * statement, int n, sqlite3_int64 value), (rsti_real(statement), n, value))
FORWARDED(int, bind_null, (sqlite3_stmt * statement, int n), (rsti_real(statement), n))
FORWARDED(int, bind_text, (sqlite3_stmt * statement, int n, const char *text, int bytes, void (*release)(void *)),
          (rsti_real(statement), n, text, bytes, release))
FORWARDED(int, bind_text16, (sqlite3_stmt * statement, int n, const void *text, int bytes, void (*release)(void *)),
          (rsti_real(statement), n, text, bytes, release))
FORWARDED(int, bind_text64,
          (sqlite3_stmt * statement, int n, const char *text, sqlite3_uint64 bytes, void (*release)(void *),
           unsigned char encoding),
          (rsti_real(statement), n, text, bytes, release, encoding))
FORWARDED(int, bind_value, (sqlite3_stmt * statement, int n, const sqlite3_value *value),
          (rsti_real(statement), n, value))
FORWARDED(int, bind_pointer,
          (sqlite3_stmt * statement, int n, void *pointer, const char *type, void (*release)(void *)),
          (rsti_real(statement), n, pointer, type, release))
FORWARDED(int, bind_zeroblob, (sqlite3_stmt * statement, int n, int bytes), (rsti_real(statement), n, bytes))
FORWARDED(int, bind_zeroblob64, (sqlite3_stmt * statement, int n, sqlite3_uint64 bytes),
          (rsti_real(statement), n, bytes))
FORWARDED(int, bind_parameter_count, (sqlite3_stmt * statement), (rsti_real(statement)))

/* Whether the program has written that parameter. */
static bool is_written(const rsti_statement *s, const char *name) {
    const char *p = s->text, *end = p + s->length;
    rst_token token;
    do {
        token = rst_token_next(&p, end);
        if (token.type == TOKEN_VARIABLE && token.size == strlen(name) && memcmp(token.text, name, token.size) == 0)
            return true;
    } while (token.type != TOKEN_END);
    return false;
}

/* A parameter without a name may have its number in what the statement became (rewriter/sort_hint.c). */
INTERPOSED(const char *, bind_parameter_name, (sqlite3_stmt * statement, int n)) {
    const rsti_statement *s = rsti_alias(statement);
    const char *name = sqlite3_bind_parameter_name(rsti_real(statement), n);
    return name != NULL && name[0] == '?' && s != NULL && s->rewritten && !is_written(s, name) ? NULL : name;
}

FORWARDED(int, bind_parameter_index, (sqlite3_stmt * statement, const char *name), (rsti_real(statement), name))
FORWARDED(int, clear_bindings, (sqlite3_stmt * statement), (rsti_real(statement)))
FORWARDED(int, transfer_bindings, (sqlite3_stmt * from, sqlite3_stmt *to), (rsti_real(from), rsti_real(to)))
