/*
** expression_operands.c - what an indexed expression may be compared with: literals, parameters, calls of SQLite's own
** functions, and what operators make of them; and columns of the store's tables.
**
** Invariant: a hint gets the operand once more, so the operand has to give the same both times. Its collation must
** leave the index's to the comparison: it has none, or it is a column whose collation is BINARY.
*/
#include "rewriter/rewriter.h"
#include "rewriter/hints.h"

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

static bool is_among(const char *const *words, const rst_token *token) {
    for (; *words != NULL; words++) {
        if (rst_token_is(token, *words) || rst_token_mark(token, *words)) return true;
    }
    return false;
}

/* The items of FROM in the whole statement that a name can mean. */
typedef struct seeking {
    rst_connection *c;
    const rst_token *name;
    rst_table *table;
    int found;
} seeking;

static void seek(seeking *s, const rst_syntax *node, const rst_syntax *parent) {
    rst_token schema, own;
    if (node->kind == SYNTAX_TARGET || (node->kind == SYNTAX_TABLE && parent->kind == SYNTAX_FROM)) {
        const rst_syntax *alias = rst_syntax_child(node, SYNTAX_ALIAS);
        rst_token table = rst_syntax_name(node->first, &schema), none;
        own = alias == NULL ? table : rst_syntax_name(alias->last, &none);
        if (rst_token_alike(&own, s->name)) {
            s->table = rst_target(s->c, &schema, &table);
            s->found++;
        }
    } else if (node->kind == SYNTAX_ALIAS && parent->kind != SYNTAX_TABLE && parent->kind != SYNTAX_TARGET) {
        /* The name of a subquery, or of a result. */
        own = rst_syntax_name(node->last, &schema);
        if (rst_token_alike(&own, s->name)) s->found = 2;
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) seek(s, child, node);
}

/* The store's table that `name` qualifies columns of, if one item of FROM in the whole statement can be meant. */
static rst_table *named_table(rst_connection *c, const rst_syntax_tree *tree, const rst_token *name) {
    seeking s = {c, name, NULL, 0};
    if (tree->with) return NULL; /* names of its own */
    seek(&s, tree->root, tree->root);
    return s.found == 1 ? s.table : NULL;
}

static bool compares_as_bytes(const rst_table *table, const rst_token *column) {
    const int number = rst_column_named(table, column);
    if (number >= 0) return table->columns[number].collation == ROOTSTOCK_COLLATION_BINARY;
    return !table->without_rowid && rst_token_is_rowid(column);
}

/* A column of a table of the store, qualified; `bytes`: under BINARY. */
static bool is_column(rst_connection *c, const rst_syntax_tree *tree, const rst_syntax *node, bool bytes) {
    rst_token qualifier, name;
    const rst_table *table;
    if (node->kind != SYNTAX_NAME) return false;
    name = rst_syntax_name(node, &qualifier);
    if (qualifier.type == TOKEN_END) return false;
    table = named_table(c, tree, &qualifier);
    return table != NULL && (!bytes || compares_as_bytes(table, &name));
}

/* c: null where columns are to be none. */
static bool is_operand(rst_connection *c, const rst_syntax_tree *tree, const rst_syntax *node, bool *called) {
    static const char *const operators[] = {"||", "+", "-", "*", "/", "%", NULL};
    rst_token token = rst_syntax_token(node, 0);
    switch (node->kind) {
    case SYNTAX_LITERAL: return token.type != TOKEN_WORD; /* NULL, CURRENT_TIME */
    case SYNTAX_VARIABLE: return true;
    case SYNTAX_SIGN: return !rst_token_mark(&token, "~") && rst_syntax_token(node, 1).type == TOKEN_NUMBER;
    case SYNTAX_PARENTHESES: return is_operand(c, tree, node->first, called);
    case SYNTAX_BINARY:
        token = rst_syntax_operator(node);
        return is_among(operators, &token) && is_operand(c, tree, node->first, called) &&
               is_operand(c, tree, node->last, called);
    case SYNTAX_CALL:
        if (!is_among(calls, &token)) return false;
        for (const rst_syntax *argument = node->first->next; argument != NULL; argument = argument->next) {
            /* A call has no collation, whatever its arguments have. */
            if (!is_operand(c, tree, argument, called) && (c == NULL || !is_column(c, tree, argument, false)))
                return false;
        }
        return *called = true;
    default: return false;
    }
}

bool rst_is_operand(const rst_syntax *node, bool *called) {
    return is_operand(NULL, NULL, node, called);
}

bool rst_is_side(rst_connection *c, const rst_syntax_tree *tree, const rst_syntax *node, bool *called) {
    return is_operand(c, tree, node, called) || is_column(c, tree, node, true);
}

int rst_operand_again(rst_connection *c, const char *text, const rst_syntax *operand, sqlite3_str *out) {
    const char *p = operand->start, *copied = p;
    for (;;) {
        rst_token token = rst_token_next(&p, operand->end);
        rst_parameters parameters = {0};
        int code;
        if (token.type == TOKEN_END) break;
        if (token.type != TOKEN_VARIABLE || token.size > 1) continue;
        code = rst_parameters_number(c, text, token.text + 1, &parameters, NULL, NULL);
        sqlite3_str_appendf(out, "%.*s?%d", (int)(token.text - copied), copied, parameters.highest);
        copied = token.text + 1;
        rst_parameters_free(&parameters);
        if (code != SQLITE_OK) return code;
    }
    sqlite3_str_append(out, copied, (int)(operand->end - copied));
    return SQLITE_OK;
}
