/*
** scan_topn_text.c - whether the text of the running statement shows that SQLite told the plan all of its WHERE.
**
** With a LIMIT SQLite shows xBestIndex the terms of WHERE that have a column of the table on their left. It leaves out
** those that have one on the other side as well: of `a < b` it says nothing, and tells the LIMIT all the same. A heap
** that counts rows which SQLite then leaves out would hide those that it asks for. Nothing in xBestIndex or xFilter
** gives such a term away, so the text is read. Invariants
**  1. SQLite does not say which statement runs a cursor: all that are under way have to be of this kind, or without a
**     FROM.
**  2. Of this kind is a statement with one SELECT and one FROM, of the table by its own name, behind which things are
**     compared with literals and parameters alone. So neither a view nor a trigger has a part in it. Nothing is
**     compared in its results, whose names WHERE may stand for.
*/
#include "executor/executor.h"
#include "executor/cursor.h"

#include <string.h>

/* The item of FROM is the table by its name, which no view of TEMP hides. */
static bool is_table(const rst_table *table, const rst_syntax *item) {
    rst_token schema, name;
    if (item->kind != SYNTAX_TABLE) return false;
    name = rst_syntax_name(item->first, &schema);
    if (!rst_token_same_name(&name, table->declared_name)) return false;
    if (schema.type != TOKEN_END) return rst_token_same_name(&schema, "main");
    /* An error of a view. */
    return rst_has_table(table->connection->db, NULL, table->declared_name);
}

/* A literal or a parameter, or a row of such. */
static bool is_constant(const rst_syntax *node) {
    const char *p = node->start;
    rst_token token = rst_token_next(&p, node->end);
    switch (node->kind) {
    case SYNTAX_LITERAL: return token.type != TOKEN_WORD || rst_token_is(&token, "NULL");
    case SYNTAX_VARIABLE: return true;
    case SYNTAX_SIGN: return !rst_token_mark(&token, "~") && rst_token_next(&p, node->end).type == TOKEN_NUMBER;
    case SYNTAX_PARENTHESES:
    case SYNTAX_VECTOR:
        for (const rst_syntax *item = node->first; item != NULL; item = item->next) {
            if (!is_constant(item)) return false;
        }
        return true;
    default: return false;
    }
}

/* Whether all that is compared there is compared with constants, and nothing but AND joins it. compares: or nothing is
** compared at all. */
static bool is_plain(const rst_syntax *node, bool compares) {
    switch (node->kind) {
    case SYNTAX_SELECT:
    case SYNTAX_IN:
    case SYNTAX_OR:
    case SYNTAX_GROUP:
    case SYNTAX_HAVING:
    case SYNTAX_WINDOWS: return false;
    case SYNTAX_EQUAL:
    case SYNTAX_COMPARE:
    case SYNTAX_BETWEEN:
        for (const rst_syntax *side = node->first->next; side != NULL; side = side->next) {
            if (!compares || !is_constant(side)) return false;
        }
        break;
    default: break;
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        if (!is_plain(child, compares && node->kind != SYNTAX_RESULT)) return false;
    }
    return true;
}

static bool shows_where(const rst_table *table, const rst_syntax_tree *tree) {
    const rst_syntax *root = tree->root, *core = root->first, *from = rst_syntax_child(core, SYNTAX_FROM);
    if (root->kind != SYNTAX_SELECT || core->kind != SYNTAX_CORE) return false;
    for (const rst_syntax *part = root->first; part != NULL; part = part->next) {
        if ((part != core && part->kind == SYNTAX_CORE) || part->kind == SYNTAX_VALUES || !is_plain(part, true))
            return false;
    }
    return from == NULL || is_table(table, from->first);
}

static bool text_shows_where(const rst_table *table, const char *text) {
    rst_syntax_tree tree;
    bool shows;
    if (text == NULL) return false;
    shows = rst_syntax_parse(&tree, text, text + strlen(text)) == SQLITE_OK && shows_where(table, &tree);
    rst_syntax_free(&tree);
    return shows;
}

bool rst_cursor_knows_where(const rst_cursor *k) {
    sqlite3 *db = k->connection->db;
    for (sqlite3_stmt *s = sqlite3_next_stmt(db, NULL); s != NULL; s = sqlite3_next_stmt(db, s)) {
        if (sqlite3_stmt_busy(s) && !text_shows_where(k->table, sqlite3_sql(s))) return false;
    }
    return true;
}
