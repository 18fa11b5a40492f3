/*
** statement.c - the parts of a statement, out of its tree. Invariant: every span lies inside the given text.
*/
#include "parser/statement.h"

#include "common/allocation.h"

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

int rst_conflict_of(const rst_token *word) {
    if (rst_token_is(word, "ROLLBACK")) return SQLITE_ROLLBACK;
    if (rst_token_is(word, "IGNORE")) return SQLITE_IGNORE;
    if (rst_token_is(word, "FAIL")) return SQLITE_FAIL;
    if (rst_token_is(word, "REPLACE")) return SQLITE_REPLACE;
    return SQLITE_ABORT;
}

/* The words from the verb to the target. */
static void read_verb(const rst_syntax *target, rst_statement_parts *parts) {
    const char *p = parts->verb.start;
    while (p < target->start) {
        rst_token token = rst_token_next(&p, target->start);
        if (token.type == TOKEN_END) break;
        if (rst_token_is(&token, "OR")) {
            token = rst_token_next(&p, target->start);
            parts->conflict = rst_conflict_of(&token);
        } else if (rst_token_is(&token, "REPLACE")) {
            parts->conflict = SQLITE_REPLACE;
        }
        parts->verb.end = p;
    }
}

static void read_target(const rst_syntax *target, rst_statement_parts *parts) {
    const rst_syntax *alias = rst_syntax_child(target, SYNTAX_ALIAS), *hint = rst_syntax_child(target, SYNTAX_HINT);
    rst_token none;
    parts->table = rst_syntax_name(target->first, &parts->schema);
    if (alias != NULL) parts->alias = rst_syntax_name(alias->last, &none);
    if (hint != NULL && hint->first != NULL) parts->index = rst_syntax_name(hint->first, &none);
    parts->not_indexed = hint != NULL && hint->first == NULL;
    parts->hint = alias != NULL ? alias->end : target->first->end;
    parts->after_table = (rst_span){target->end, parts->whole.end};
}

static void read_select(const rst_syntax *select, rst_statement_parts *parts) {
    parts->source = select->first->kind == SYNTAX_VALUES ? SOURCE_VALUES : SOURCE_SELECT;
    parts->source_text = (rst_span){select->start, parts->whole.end};
}

/* What stands behind the target ends where the next of them begins. */
static void read_rest(const rst_syntax *node, rst_statement_parts *parts) {
    const char *end = parts->whole.end;
    for (; node != NULL; node = node->next) {
        const char *behind = node->next != NULL ? node->next->start : end;
        switch (node->kind) {
        case SYNTAX_COLUMNS: parts->columns = (rst_span){node->start + 1, node->end - 1}; break;
        case SYNTAX_SELECT: read_select(node, parts); break;
        case SYNTAX_SET: parts->set = (rst_span){node->start + strlen("SET"), behind}; break;
        case SYNTAX_UPSERT:
            if (parts->upsert.start == NULL) parts->source_text.end = node->start;
            if (parts->upsert.start == NULL) parts->upsert = (rst_span){node->start, end};
            break;
        case SYNTAX_RETURNING:
            parts->returning = (rst_span){node->start + strlen("RETURNING"), behind};
            parts->after_table.end = node->start;
            if (parts->upsert.start != NULL)
                parts->upsert.end = node->start;
            else
                parts->source_text.end = node->start;
            if (node->next != NULL) parts->limit = (rst_span){behind, end};
            break;
        case SYNTAX_WHERE:
        case SYNTAX_ORDER:
        case SYNTAX_LIMIT: parts->has_where = true; break;
        default: break;
        }
    }
}

void rst_statement_read(const rst_syntax_tree *tree, const char *sql, const char *end, rst_statement_parts *parts) {
    const rst_syntax *root = tree->root, *target;
    const char *p = sql;
    memset(parts, 0, sizeof *parts);
    parts->whole = (rst_span){sql, rst_token_last_end(sql, end)};
    parts->verb.start = rst_token_next(&p, end).text;
    if (root == NULL || root->start != parts->verb.start) return; /* EXPLAIN */
    parts->tree = tree;
    target = rst_syntax_child(root, SYNTAX_TARGET);
    if (root->first->kind == SYNTAX_WITH) {
        p = root->first->end;
        parts->verb.start = rst_token_next(&p, end).text;
    }
    if (root->kind == SYNTAX_SELECT) parts->kind = KIND_SELECT;
    if (target == NULL) return;
    parts->kind = root->kind == SYNTAX_INSERT ? KIND_INSERT : root->kind == SYNTAX_UPDATE ? KIND_UPDATE : KIND_DELETE;
    read_verb(target, parts);
    read_target(target, parts);
    if (parts->kind == KIND_INSERT) {
        p = target->next != NULL && target->next->kind == SYNTAX_COLUMNS ? target->next->end : target->end;
        parts->source = SOURCE_DEFAULT;
        parts->source_text = (rst_span){rst_token_next(&p, end).text, parts->whole.end};
    }
    read_rest(target->next, parts);
}

int rst_statement_parse(rst_syntax_tree *tree, const char *sql, const char *end, rst_statement_parts *parts) {
    int code = rst_syntax_parse(tree, sql, end);
    rst_statement_read(tree, sql, end, parts);
    return code == SQLITE_NOMEM ? code : SQLITE_OK;
}

const rst_syntax *rst_statement_part(const rst_statement_parts *parts, rst_syntax_kind kind) {
    return parts->tree == NULL ? NULL : rst_syntax_child(parts->tree->root, kind);
}

bool rst_statement_gives_one_row(const rst_statement_parts *parts) {
    const rst_syntax *select = rst_statement_part(parts, SYNTAX_SELECT);
    if (parts->kind != KIND_INSERT || select == NULL) return parts->kind == KIND_INSERT;
    return select->first->kind == SYNTAX_VALUES && select->first->next == NULL && select->first->first->next == NULL;
}

void rst_statement_append_alias(sqlite3_str *out, const rst_statement_parts *parts) {
    if (parts->alias.type != TOKEN_END) sqlite3_str_appendf(out, " AS %.*s", (int)parts->alias.size, parts->alias.text);
}

bool rst_statement_clears(const rst_statement_parts *parts) {
    return parts->kind == KIND_DELETE && parts->tree->root->first == parts->tree->root->last &&
           parts->index.type == TOKEN_END;
}

bool rst_begins_change(const rst_token *first) {
    return rst_token_is(first, "INSERT") || rst_token_is(first, "REPLACE") || rst_token_is(first, "UPDATE") ||
           rst_token_is(first, "DELETE") || rst_token_is(first, "WITH");
}

char *rst_span_text(const char *start, const char *end) {
    return sqlite3_mprintf("%.*s", (int)(end - start), start);
}

bool rst_span_lists(rst_span names, const char *name) {
    while (names.start < names.end) {
        const rst_token token = rst_token_next(&names.start, names.end);
        if (rst_token_names(&token) && rst_token_same_name(&token, name)) return true;
    }
    return false;
}
