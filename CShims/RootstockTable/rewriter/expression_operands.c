/*
** expression_operands.c - what an indexed expression may be compared with for a hint: literals, parameters, what
** operators and calls make of them, lists of them, columns of other tables and calls of these. Invariant: the
** comparison's collation stays that of the expression. A literal and a parameter have none; a column is one only if the
** statement's text leaves no doubt that it is a table's of the store, and compares as bytes.
*/
#include "rewriter/rewriter.h"
#include "rewriter/hints.h"

#include <string.h>

const char *const rst_words_behind_table[] = {"WHERE",  "ORDER",     "GROUP",   "LIMIT",     "JOIN",    "LEFT",
                                              "INNER",  "CROSS",     "NATURAL", "ON",        "USING",   "UNION",
                                              "EXCEPT", "INTERSECT", "HAVING",  "WINDOW",    "INDEXED", "NOT",
                                              "RIGHT",  "FULL",      "SET",     "RETURNING", "FROM",    NULL};

/* Functions of SQLite's own that give the same for the same values within a statement, and no collation: where they are
** called with operands, the hint calls them again. */
static const char *const calls[] = {"LOWER",    "UPPER",     "TRIM",     "LTRIM",  "RTRIM",     "ABS",     "LENGTH",
                                    "SUBSTR",   "SUBSTRING", "COALESCE", "IFNULL", "NULLIF",    "REPLACE", "ROUND",
                                    "HEX",      "CHAR",      "UNICODE",  "DATE",   "JULIANDAY", "TIME",    "DATETIME",
                                    "STRFTIME", "UNIXEPOCH", "INSTR",    NULL};

bool rst_is_operand_call(const char *name) {
    for (const char *const *word = calls; *word != NULL; word++) {
        if (sqlite3_stricmp(*word, name) == 0) return true;
    }
    return false;
}

enum { CALLS_DEEP = 8 };

/* The statement, for columns in what is called; c is null where there are to be none. */
typedef struct operand_place {
    rst_connection *c;
    const char *text, *end;
} operand_place;

static bool read_operand(const operand_place *at, const char **p, const char *end, rst_operand *out, int depth);
static bool read_column(const operand_place *at, const char **p, bool bytes, rst_operand *out);

/* What stands behind a function's name: operands between parentheses. Moves *p behind them. */
static bool read_arguments(const operand_place *at, const char **p, const char *end, int depth) {
    rst_operand argument;
    rst_token token = rst_token_next(p, end);
    if (!rst_token_mark(&token, "(")) return false;
    do {
        /* A call has no collation, whatever its arguments have. */
        if (!read_operand(at, p, end, &argument, depth) && (at->c == NULL || !read_column(at, p, false, &argument)))
            return false;
        token = rst_token_next(p, end);
    } while (rst_token_mark(&token, ","));
    return rst_token_mark(&token, ")");
}

/* A literal, a parameter, a call, or an operand in parentheses. */
static bool read_primary(const operand_place *at, const char **p, const char *end, rst_operand *out, int depth) {
    const char *q = *p;
    rst_token token = rst_token_next(&q, end);
    out->start = token.text;
    out->variable = out->called = false;
    if (depth < CALLS_DEEP && rst_is_among(&token, calls)) {
        if (!read_arguments(at, &q, end, depth + 1)) return false;
        out->called = true;
        out->stop = q;
        *p = q;
        return true;
    }
    if (depth > 0 && depth < CALLS_DEEP && rst_token_mark(&token, "(")) {
        rst_operand inner;
        if (!read_operand(at, &q, end, &inner, depth + 1)) return false;
        token = rst_token_next(&q, end);
        if (!rst_token_mark(&token, ")")) return false;
        out->called = inner.called;
        out->stop = q;
        *p = q;
        return true;
    }
    if (rst_token_mark(&token, "-") || rst_token_mark(&token, "+")) {
        token = rst_token_next(&q, end);
        if (token.type != TOKEN_NUMBER) return false;
    }
    if (token.type != TOKEN_NUMBER && token.type != TOKEN_STRING && token.type != TOKEN_BLOB &&
        token.type != TOKEN_VARIABLE) {
        return false;
    }
    out->variable = token.type == TOKEN_VARIABLE;
    out->stop = token.text + token.size;
    *p = q;
    return true;
}

/* Such, and what operators that bind closer than a comparison make of several. */
static bool read_operand(const operand_place *at, const char **p, const char *end, rst_operand *out, int depth) {
    static const char *const operators[] = {"||", "+", "-", "*", "/", "%", NULL};
    const char *q = *p;
    if (!read_primary(at, &q, end, out, depth)) return false;
    for (;;) {
        const char *next = q;
        rst_token token = rst_token_next(&next, end);
        rst_operand right;
        bool found = false;
        for (const char *const *mark = operators; *mark != NULL && !found; mark++)
            found = rst_token_mark(&token, *mark);
        if (!found) break;
        if (!read_primary(at, &next, end, &right, depth)) return false;
        out->variable = false;
        out->called |= right.called;
        out->stop = right.stop;
        q = next;
    }
    *p = q;
    return true;
}

static bool same_names(const rst_token *a, const rst_token *b) {
    char *name = rst_token_name(b);
    bool same = name != NULL && rst_token_same_name(a, name);
    sqlite3_free(name);
    return same;
}

/* The store's table that `name` qualifies columns of, if one item of FROM in the whole statement can be meant. */
static rst_table *named_table(rst_connection *c, const char *text, const char *end, const rst_token *name) {
    const char *p = text;
    rst_token before = {TOKEN_END, text, 0};
    rst_table *table = NULL;
    int found = 0;
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) break;
        if (rst_token_is(&token, "WITH")) return NULL; /* names of its own */
        /* The name of a subquery, or of a result. */
        if ((rst_token_mark(&before, ")") || rst_token_is(&before, "AS")) && rst_token_names(&token) &&
            same_names(&token, name)) {
            return NULL;
        }
        if (rst_token_names(&token) &&
            (rst_token_is(&before, "FROM") || rst_token_is(&before, "JOIN") || rst_token_mark(&before, ",") ||
             rst_token_mark(&before, "(") || rst_token_is(&before, "UPDATE") || rst_token_is(&before, "INTO"))) {
            const char *q = p, *behind = p;
            rst_token schema = {TOKEN_END, text, 0}, own = token, alias;
            alias = rst_token_next(&q, end);
            if (rst_token_mark(&alias, ".")) {
                schema = token;
                own = rst_token_next(&q, end);
                behind = q;
                alias = rst_token_next(&q, end);
            }
            if (rst_token_is(&alias, "AS")) {
                alias = rst_token_next(&q, end);
                behind = q;
            } else if (rst_token_names(&alias) && !rst_is_among(&alias, rst_words_behind_table)) {
                behind = q;
            } else {
                alias = own;
            }
            if (rst_token_names(&alias) && same_names(&alias, name)) {
                found++;
                table = rst_target(c, &schema, &own);
                if (behind > p) p = behind;
            }
        }
        before = token;
    }
    return found == 1 ? table : NULL;
}

static bool compares_as_bytes(const rst_table *table, const rst_token *column) {
    for (int i = 0; i < table->column_count; i++) {
        if (rst_token_same_name(column, table->columns[i].name))
            return table->columns[i].collation == ROOTSTOCK_COLLATION_BINARY;
    }
    return !table->without_rowid && rst_token_is_rowid(column);
}

/* A column of a table of the store, qualified; `bytes`: under BINARY. */
static bool read_column(const operand_place *at, const char **p, bool bytes, rst_operand *out) {
    const char *q = *p;
    rst_token name = rst_token_next(&q, at->end), token;
    const rst_table *table;
    if (name.type != TOKEN_WORD && name.type != TOKEN_NAME) return false;
    token = rst_token_next(&q, at->end);
    if (!rst_token_mark(&token, ".")) return false;
    token = rst_token_next(&q, at->end);
    if (token.type != TOKEN_WORD && token.type != TOKEN_NAME) return false;
    table = named_table(at->c, at->text, at->end, &name);
    if (table == NULL || (bytes && !compares_as_bytes(table, &token))) return false;
    out->start = name.text;
    out->stop = token.text + token.size;
    out->variable = out->called = false;
    *p = q;
    return true;
}

bool rst_read_operand(const char **p, const char *end, rst_operand *out) {
    operand_place nowhere = {NULL, NULL, NULL};
    return read_operand(&nowhere, p, end, out, 0);
}

bool rst_read_side(rst_connection *c, const char *text, const char *end, const char **p, rst_operand *out) {
    operand_place at = {c, text, end};
    return read_operand(&at, p, end, out, 0) || read_column(&at, p, true, out);
}

int rst_read_list(const char **p, const char *end, rst_operand *out, int room) {
    const char *q = *p;
    rst_token token = rst_token_next(&q, end);
    int count = 0;
    if (!rst_token_mark(&token, "(")) return 0;
    do {
        const char *behind = q;
        if (count == room) return 0;
        token = rst_token_next(&behind, end);
        if (rst_token_is(&token, "NULL")) {
            out[count] = (rst_operand){token.text, token.text + token.size, false, false};
            q = behind;
        } else if (!rst_read_operand(&q, end, &out[count])) {
            return 0;
        }
        count++;
        token = rst_token_next(&q, end);
    } while (rst_token_mark(&token, ","));
    if (!rst_token_mark(&token, ")")) return 0;
    *p = q;
    return count;
}
