/*
** statement.c - finds the parts of a statement by its tokens. SQLite parses and judges the text; this only has to be
** right for text that SQLite accepts. Invariant: every span lies inside the given text.
*/
#include "parser/statement.h"

#include "common/allocation.h"
#include "parser/syntax_tree.h"

#include <string.h>

const char *rst_statement_end(const char *sql, const char *end) {
    const char *p = sql;
    rst_token token;
    bool trigger = false, create;
    int words = 0;
    if (memchr(sql, ';', (size_t)(end - sql)) == NULL && memchr(sql, '\0', (size_t)(end - sql)) == NULL)
        return end; /* the common case */
    token = rst_token_next(&p, end);
    while (rst_token_is(&token, "EXPLAIN") || rst_token_is(&token, "QUERY") || rst_token_is(&token, "PLAN")) {
        token = rst_token_next(&p, end);
    }
    create = rst_token_is(&token, "CREATE");
    while (token.type != TOKEN_END) {
        if (create && ++words <= 3 && rst_token_is(&token, "TRIGGER")) trigger = true;
        if (rst_token_mark(&token, ";")) {
            const char *q = p;
            rst_token word;
            if (!trigger) return p;
            word = rst_token_next(&q, end);
            if (rst_token_is(&word, "END")) {
                rst_token after = rst_token_next(&q, end);
                if (after.type == TOKEN_END || rst_token_mark(&after, ";")) return q;
            }
        }
        token = rst_token_next(&p, end);
    }
    return end;
}

static int conflict_of(const rst_token *word) {
    if (rst_token_is(word, "ROLLBACK")) return SQLITE_ROLLBACK;
    if (rst_token_is(word, "IGNORE")) return SQLITE_IGNORE;
    if (rst_token_is(word, "FAIL")) return SQLITE_FAIL;
    if (rst_token_is(word, "REPLACE")) return SQLITE_REPLACE;
    return SQLITE_ABORT;
}

static rst_token peek(const char *p, const char *end) {
    return rst_token_next(&p, end);
}

/* Behind WITH ... : at INSERT, SELECT ... */
static bool skip_with(const char **p, const char *end) {
    const char *q = *p;
    rst_token token = rst_token_next(&q, end);
    if (!rst_token_is(&token, "WITH")) return true;
    for (;;) {
        token = rst_token_next(&q, end);
        if (token.type == TOKEN_END) return false;
        if (rst_token_mark(&token, "(") && !rst_token_skip_parentheses(&q, end)) return false;
        if (rst_token_mark(&token, "(")) {
            rst_token next = peek(q, end);
            if (rst_token_is(&next, "SELECT") || rst_token_is(&next, "INSERT") || rst_token_is(&next, "REPLACE") ||
                rst_token_is(&next, "UPDATE") || rst_token_is(&next, "DELETE") || rst_token_is(&next, "VALUES")) {
                *p = q;
                return true;
            }
        }
    }
}

static bool qualified(const char **p, const char *end, rst_statement_parts *parts) {
    parts->table = rst_token_object(p, end, &parts->schema);
    return rst_token_names(&parts->table) && (parts->schema.type == TOKEN_END || rst_token_names(&parts->schema));
}

/* A change's target takes an alias behind AS only. */
static void read_alias(const char **p, const char *end, rst_statement_parts *parts) {
    rst_token token = peek(*p, end);
    if (rst_token_is(&token, "AS")) {
        (void)rst_token_next(p, end);
        parts->alias = rst_token_next(p, end);
    }
}

/* INDEXED BY and NOT INDEXED of such a target. */
static void read_hint(const char **p, const char *end, rst_statement_parts *parts) {
    const char *q = *p;
    rst_token first = rst_token_next(&q, end), second = rst_token_next(&q, end);
    parts->hint = *p;
    if (rst_token_is(&first, "NOT") && rst_token_is(&second, "INDEXED")) {
        parts->not_indexed = true;
    } else if (rst_token_is(&first, "INDEXED") && rst_token_is(&second, "BY")) {
        parts->index = rst_token_next(&q, end);
    } else {
        return;
    }
    *p = q;
}

/* ORDER BY and LIMIT behind the list of RETURNING, which ends there. */
static void read_limit(const char *p, const char *end, rst_statement_parts *parts) {
    rst_token previous = {TOKEN_END, p, 0};
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) return;
        if (rst_token_mark(&token, "(") && !rst_token_skip_parentheses(&p, end)) return;
        if (!rst_token_mark(&previous, ".") && (rst_token_is(&token, "ORDER") || rst_token_is(&token, "LIMIT"))) {
            parts->limit.start = parts->returning.end = token.text;
            parts->limit.end = end;
            parts->has_where = true;
            return;
        }
        previous = token;
    }
}

/* Walks to the end at depth 0, noting what comes. */
static void read_rest(const char *p, const char *end, rst_statement_parts *parts) {
    rst_token previous = {TOKEN_END, p, 0};
    bool insert = parts->kind == KIND_INSERT;
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) break;
        if (rst_token_mark(&token, "(")) {
            if (!rst_token_skip_parentheses(&p, end)) break;
        } else if (rst_token_mark(&previous, ".")) {
            /* part of a name */
        } else if (insert && rst_token_is(&token, "ON") && parts->upsert.start == NULL) {
            rst_token next = peek(p, end);
            if (rst_token_is(&next, "CONFLICT")) {
                parts->upsert.start = token.text;
                parts->upsert.end = end;
                if (parts->source_text.start != NULL) parts->source_text.end = token.text;
            }
        } else if (rst_token_is(&token, "RETURNING") && !rst_token_is(&previous, "AS")) {
            parts->returning.start = token.text + token.size;
            parts->returning.end = end;
            if (parts->upsert.start != NULL)
                parts->upsert.end = token.text;
            else if (parts->source_text.start != NULL)
                parts->source_text.end = token.text;
            if (parts->after_table.start != NULL) parts->after_table.end = token.text;
            if (parts->set.start != NULL && parts->set.end == end) parts->set.end = token.text;
            if (!insert) read_limit(p, end, parts);
            break;
        } else if (!insert &&
                   (rst_token_is(&token, "WHERE") || rst_token_is(&token, "ORDER") || rst_token_is(&token, "LIMIT"))) {
            parts->has_where = true;
            if (parts->set.start != NULL && parts->set.end == end) parts->set.end = token.text;
        } else if (!insert && rst_token_is(&token, "FROM") && !rst_token_is(&previous, "DISTINCT")) {
            if (parts->set.start != NULL && parts->set.end == end) parts->set.end = token.text;
        } else if (!insert && rst_token_is(&token, "SET") && parts->set.start == NULL) {
            parts->set.start = p;
            parts->set.end = end;
        }
        previous = token;
    }
}

void rst_statement_parse(const char *sql, const char *end, rst_statement_parts *parts) {
    const char *p = sql;
    rst_token token;
    memset(parts, 0, sizeof *parts);
    end = rst_token_last_end(sql, end);
    parts->whole.start = sql;
    parts->whole.end = end;
    if (!skip_with(&p, end)) return;
    token = rst_token_next(&p, end);
    parts->verb.start = token.text;
    if (rst_token_is(&token, "SELECT") || rst_token_is(&token, "VALUES")) {
        parts->kind = KIND_SELECT;
        return;
    }
    if (rst_token_is(&token, "INSERT") || rst_token_is(&token, "REPLACE")) {
        if (rst_token_is(&token, "REPLACE")) parts->conflict = SQLITE_REPLACE;
        token = rst_token_next(&p, end);
        if (rst_token_is(&token, "OR")) {
            token = rst_token_next(&p, end);
            parts->conflict = conflict_of(&token);
            token = rst_token_next(&p, end);
        }
        if (!rst_token_is(&token, "INTO")) return;
        parts->verb.end = p;
        if (!qualified(&p, end, parts)) return;
        read_alias(&p, end, parts);
        token = peek(p, end);
        if (rst_token_mark(&token, "(")) {
            const char *q = p;
            rst_token inside;
            (void)rst_token_next(&q, end);
            inside = peek(q, end);
            if (!rst_token_is(&inside, "SELECT") && !rst_token_is(&inside, "VALUES") &&
                !rst_token_is(&inside, "WITH")) {
                parts->columns.start = q;
                if (!rst_token_skip_parentheses(&q, end)) return;
                parts->columns.end = q - 1;
                p = q;
            }
        }
        token = peek(p, end);
        parts->source_text.start = token.text;
        parts->source_text.end = end;
        parts->source = rst_token_is(&token, "VALUES")    ? SOURCE_VALUES
                        : rst_token_is(&token, "DEFAULT") ? SOURCE_DEFAULT
                                                          : SOURCE_SELECT;
        parts->kind = KIND_INSERT;
    } else if (rst_token_is(&token, "UPDATE")) {
        token = peek(p, end);
        if (rst_token_is(&token, "OR")) {
            (void)rst_token_next(&p, end);
            token = rst_token_next(&p, end);
            parts->conflict = conflict_of(&token);
        }
        parts->verb.end = p;
        if (!qualified(&p, end, parts)) return;
        parts->kind = KIND_UPDATE;
        read_alias(&p, end, parts);
    } else if (rst_token_is(&token, "DELETE")) {
        token = rst_token_next(&p, end);
        if (!rst_token_is(&token, "FROM")) return;
        parts->verb.end = p;
        if (!qualified(&p, end, parts)) return;
        parts->kind = KIND_DELETE;
        read_alias(&p, end, parts);
    } else {
        return;
    }
    if (parts->kind != KIND_INSERT) read_hint(&p, end, parts);
    parts->after_table.start = p;
    parts->after_table.end = end;
    read_rest(p, end, parts);
}

bool rst_statement_clears(const rst_statement_parts *parts) {
    const char *p = parts->after_table.start, *q = parts->whole.start;
    rst_token first;
    if (parts->kind != KIND_DELETE || parts->has_where || parts->returning.start != NULL) return false;
    first = rst_token_next(&q, parts->whole.end);
    if (first.text != parts->verb.start) return false; /* a WITH: SQLite says whether it is one */
    first = rst_token_next(&p, parts->after_table.end);
    return first.type == TOKEN_END && parts->index.type == TOKEN_END;
}

bool rst_begins_change(const rst_token *first) {
    return rst_token_is(first, "INSERT") || rst_token_is(first, "REPLACE") || rst_token_is(first, "UPDATE") ||
           rst_token_is(first, "DELETE") || rst_token_is(first, "WITH");
}

char *rst_span_text(const char *start, const char *end) {
    return sqlite3_mprintf("%.*s", (int)(end - start), start);
}

/* The first part of a change, in the order of the text, that brings in another table; null: none does. */
static const rst_syntax *other_table(const rst_syntax *node) {
    if (node->kind == SYNTAX_WITH || node->kind == SYNTAX_FROM || node->kind == SYNTAX_TABLE) return node;
    if (node->kind == SYNTAX_CORE && rst_syntax_child(node, SYNTAX_FROM) != NULL) return node;
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        const rst_syntax *found = other_table(child);
        if (found != NULL) return found;
    }
    return NULL;
}

int rst_statement_reads_more(const rst_statement_parts *parts, rst_token *word) {
    rst_syntax_tree tree;
    int code = rst_syntax_parse(&tree, parts->whole.start, parts->whole.end);
    const rst_syntax *other = code == SQLITE_OK ? other_table(tree.root) : NULL;
    const char *p = other == NULL ? parts->whole.end : other->start;
    *word = rst_token_next(&p, parts->whole.end);
    rst_syntax_free(&tree);
    return code == SQLITE_NOMEM ? code : SQLITE_OK; /* what makes no sense SQLite refuses */
}

void rst_span_unwrap(rst_span *span) {
    for (;;) {
        const char *p = span->start, *inner;
        rst_token token = rst_token_next(&p, span->end);
        inner = p;
        if (!rst_token_mark(&token, "(") || !rst_token_skip_parentheses(&p, span->end)) return;
        token.text = p - 1;
        if (rst_token_next(&p, span->end).type != TOKEN_END) return;
        *span = (rst_span){inner, token.text};
    }
}
