/*
** conflict_targets.c - which key or unique index an ON CONFLICT (...) names.
**
** As SQLite: the first that fits, the newest first. An index fits if each of its columns and expressions is one of the
** target's terms, under its collation where the term says one. The WHERE of a partial index must be the target's. A
** target that fits nothing was refused by the schema database. Invariant: a clause sees to the conflicts of that one
** index and of no other. Where the texts leave open which one SQLite means, the statement is refused.
*/
#include "rewriter/rewriter.h"
#include "catalog/column_sets.h"
#include "catalog/expression_texts.h"
#include "rewriter/conflict_targets.h"

#include <string.h>

int rst_set_column(const rst_table *table, const rst_token *token) {
    const int column = rst_column_named(table, token);
    if (column >= 0) return column;
    if (rst_token_is_rowid(token)) return table->rowid_column >= 0 ? table->rowid_column : COLUMN_ROWID;
    return COLUMN_NONE;
}

/* ---- terms ---- */

/* One of a target: without collation and parentheses around the whole. */
typedef struct term {
    const rst_syntax *bare;
    rst_token collation; /* the outermost; of type TOKEN_END: none is said */
    int column;          /* COLUMN_EXPRESSION: it is none */
} term;

static term read_term(const rst_table *table, const rst_syntax *e) {
    term out = {.collation = {TOKEN_END, e->end, 0}, .column = COLUMN_EXPRESSION};
    rst_token none, name;
    for (e = rst_syntax_unwrap(e); e->kind == SYNTAX_COLLATE; e = rst_syntax_unwrap(e->first))
        if (out.collation.type == TOKEN_END) out.collation = rst_syntax_name(e->last, &none);
    out.bare = e;
    if (e->kind != SYNTAX_NAME && e->kind != SYNTAX_LITERAL) return out;
    name = rst_syntax_name(e, &none);
    if (rst_token_names(&name) && rst_set_column(table, &name) != COLUMN_NONE)
        out.column = rst_set_column(table, &name);
    return out;
}

/* Whether that is the text of an index's expression or WHERE. */
static bool is_text(const rst_table *table, const rst_syntax *e, const char *text) {
    rst_syntax_tree tree;
    bool same = rst_syntax_parse_expression(&tree, text, text + strlen(text)) == SQLITE_OK;
    if (same) {
        const rst_syntax *own = read_term(table, tree.root).bare;
        same = rst_expression_same(table, own->start, own->end, rst_syntax_unwrap(e), NULL);
    }
    rst_syntax_free(&tree);
    return same;
}

/* ---- the index ---- */

typedef struct target {
    const rst_syntax *terms, *where; /* SYNTAX_TERM ..., SYNTAX_WHERE or something else */
    int count;
} target;

/* loosely: an expression may be any of the target's. */
static bool part_fits(const rst_table *table, const rst_part *part, const target *t, bool loosely) {
    for (const rst_syntax *node = t->terms; node != t->where; node = node->next) {
        const term one = read_term(table, node->first);
        if (one.column != part->column) continue;
        if (one.collation.type != TOKEN_END && !rst_token_same_name(&one.collation, part->collation_name)) continue;
        if (part->column != COLUMN_EXPRESSION || loosely) return true;
        if (part->expression != NULL && is_text(table, one.bare, part->expression)) return true;
    }
    return false;
}

static bool parts_fit(const rst_table *table, const rst_part *parts, int count, const target *t, bool loosely) {
    bool all = count == t->count;
    for (int k = 0; k < count && all; k++) all = part_fits(table, &parts[k], t, loosely);
    return all;
}

static bool index_fits(const rst_table *table, const rst_index *index, const target *t, bool loosely) {
    if (!index->unique || !parts_fit(table, index->parts, index->part_count, t, loosely)) return false;
    if (index->where == NULL) return true; /* the target's own WHERE is then one too many, and allowed */
    return t->where != NULL && t->where->kind == SYNTAX_WHERE &&
           (loosely || is_text(table, t->where->first, index->where));
}

/* A target of the rowid alone. */
static bool is_rowid(const rst_table *table, const target *t) {
    term one;
    if (table->without_rowid || t->count != 1) return false;
    one = read_term(table, t->terms->first);
    return one.collation.type == TOKEN_END &&
           (one.column == COLUMN_ROWID || (table->rowid_column >= 0 && one.column == table->rowid_column));
}

/* How many fit; *first: the first of them, -1 for the primary key. Indexes stand in SQLite's order, the key of a table
** WITHOUT ROWID in its turn. */
static int find_fitting(const rst_table *table, const target *t, bool loosely, int *first) {
    int found = 0;
    for (int turn = 0; turn <= table->index_count; turn++) {
        int n = !table->without_rowid ? turn : turn == table->key_turn ? -1 : turn < table->key_turn ? turn : turn - 1;
        bool fits = n < 0 ? parts_fit(table, table->key, table->key_count, t, loosely)
                          : n < table->index_count && index_fits(table, &table->indexes[n], t, loosely);
        if (fits && found++ == 0) *first = n;
    }
    return found;
}

int rst_conflict_target(const rst_table *table, const rst_syntax *upsert, int *out, char **message) {
    target t = {upsert->first, upsert->first, 0};
    int found;
    for (; t.where != NULL && t.where->kind == SYNTAX_TERM; t.where = t.where->next) t.count++;
    *out = -1;
    if (is_rowid(table, &t) || find_fitting(table, &t, false, out) > 0) return SQLITE_OK;
    /* The same expression may be written in more ways than are told apart here. */
    found = find_fitting(table, &t, true, out);
    if (found == 1) return SQLITE_OK;
    if (found == 0)
        rst_set_message(message, "ON CONFLICT clause does not match any PRIMARY KEY or UNIQUE constraint");
    else
        rst_set_message(
            message,
            "ON CONFLICT clause could mean %d indexes of table %s: write its expressions and WHERE as CREATE "
            "UNIQUE INDEX has them",
            found, table->name);
    return SQLITE_ERROR;
}
