/*
** equal_columns.c - a bound of a key holds for the columns that a join holds equal to it.
**
** Natively SQLite finds by itself that it may look up the child by the parent's bound. It shows a virtual table the
** terms of its own columns alone. So the front door writes the bound again:
**
**   FROM c JOIN p ON c.p = p.id WHERE p.id < 7        becomes        ... WHERE p.id < 7 AND c.p < 7
**
** Invariants
**  1. The columns have one way to be compared: both have numeric affinity, or both the same, and both are under BINARY.
**     So the bound is true of both or of neither.
**  2. The FROM has inner joins alone: each term of an ON is one of WHERE. They are written as JOIN: a comma is in too
**     many statements to be looked for.
**  3. The bound is a literal, a parameter, or what operators make of these: it gives the same both times.
*/
#include "rewriter/expressions.h"
#include "rewriter/hints.h"
#include "rewriter/rewriter.h"

#include <string.h>

enum { MOST_TERMS = 16 };

typedef struct joined {
    rst_connection *c;
    const rst_syntax_tree *tree;
    const char *text;
    rst_scope scope;
    const rst_syntax *equals[MOST_TERMS], *bounds[MOST_TERMS];
    int equal_count, bound_count;
    rst_edits edits;
    int code;
} joined;

static bool is_equality(const rst_syntax *term) {
    const rst_token mark = rst_syntax_operator(term);
    return rst_token_mark(&mark, "=") || rst_token_mark(&mark, "==");
}

static bool is_bound(const rst_syntax *term) {
    const rst_token word = rst_syntax_operator(term);
    return term->kind == SYNTAX_COMPARE || rst_token_is(&word, "BETWEEN"); /* not NOT BETWEEN */
}

/* Sorts the terms of a WHERE or ON. */
static void gather(joined *j, const rst_syntax *condition) {
    const rst_syntax *term = rst_syntax_unwrap(condition);
    if (term->kind == SYNTAX_AND) {
        for (const rst_syntax *child = term->first; child != NULL; child = child->next) gather(j, child);
    } else if (term->kind == SYNTAX_EQUAL && term->first->kind == SYNTAX_NAME && term->last->kind == SYNTAX_NAME) {
        if (is_equality(term) && j->equal_count < MOST_TERMS) j->equals[j->equal_count++] = term;
    } else if (term->kind == SYNTAX_COMPARE || term->kind == SYNTAX_BETWEEN) {
        if (is_bound(term) && j->bound_count < MOST_TERMS) j->bounds[j->bound_count++] = term;
    }
}

/* Whether the column alone is a key of the table. */
static bool is_key(const rst_table *table, int column) {
    bool found = column == table->rowid_column ||
                 (table->without_rowid && table->key_count == 1 && table->key[0].column == column);
    for (int i = 0; i < table->index_count; i++) {
        const rst_index *index = &table->indexes[i];
        found |= index->unique && index->where == NULL && index->part_count == 1 && index->parts[0].column == column;
    }
    return found;
}

/* Whether rows of the table can be looked up by the column. */
static bool leads(const rst_table *table, int column) {
    bool found = table->without_rowid && table->key[0].column == column;
    for (int i = 0; i < table->index_count; i++)
        found |= table->indexes[i].where == NULL && table->indexes[i].parts[0].column == column;
    return found;
}

static bool is_binary(const rst_column *column) {
    return column->collation == ROOTSTOCK_COLLATION_BINARY &&
           (column->collation_name == NULL || sqlite3_stricmp(column->collation_name, "BINARY") == 0);
}

static bool compare_alike(const rst_column *a, const rst_column *b) {
    const bool numbers = a->affinity >= AFFINITY_NUMERIC && b->affinity >= AFFINITY_NUMERIC;
    return (a->affinity == b->affinity || numbers) && is_binary(a) && is_binary(b);
}

/* The other name of an equality of the key, if its table's rows can be looked up by that. */
static const rst_syntax *child_of(const joined *j, const rst_syntax *equal, const rst_scope_item *item, int key) {
    int columns[2];
    const rst_scope_item *first = rst_scope_column(&j->scope, equal->first, &columns[0]),
                         *last = rst_scope_column(&j->scope, equal->last, &columns[1]);
    const bool turned = last == item && columns[1] == key;
    const rst_scope_item *child = turned ? first : last;
    const int column = columns[turned ? 0 : 1];
    if (first == NULL || last == NULL || first == last || (!turned && (first != item || columns[0] != key)) ||
        !leads(child->table, column) || is_key(child->table, column) ||
        !compare_alike(&item->table->columns[key], &child->table->columns[column]))
        return NULL;
    return turned ? equal->first : equal->last;
}

/* The bound once more, of the other column. The operands of BETWEEN are two, of a comparison one on either side. */
static void write_bound(joined *j, const rst_syntax *bound, const rst_syntax *name, const rst_syntax *child) {
    sqlite3_str *out = sqlite3_str_new(NULL);
    const char *copied = bound->start;
    sqlite3_str_appendall(out, " AND ");
    for (const rst_syntax *part = bound->first; part != NULL; part = part->next) {
        sqlite3_str_append(out, copied, (int)(part->start - copied));
        if (part == name)
            sqlite3_str_append(out, child->start, (int)(child->end - child->start));
        else if (j->code == SQLITE_OK)
            j->code = rst_operand_again(j->c, j->text, part, out);
        copied = part->end;
    }
    rst_edits_add(&j->edits, bound->end, bound->end, sqlite3_str_finish(out));
}

static void tell_bound(joined *j, const rst_syntax *bound) {
    const rst_syntax *name = bound->first->kind == SYNTAX_NAME ? bound->first : bound->last;
    const rst_scope_item *item;
    bool called = false;
    int key;
    for (const rst_syntax *part = bound->first; part != NULL; part = part->next) {
        if (part != name && (!rst_is_operand(part, &called) || called)) return;
    }
    if (bound->kind == SYNTAX_BETWEEN && name != bound->first) return;
    item = rst_scope_column(&j->scope, name, &key);
    if (item == NULL || !is_key(item->table, key)) return;
    for (int i = 0; i < j->equal_count; i++) {
        const rst_syntax *child = child_of(j, j->equals[i], item, key);
        if (child != NULL) write_bound(j, bound, name, child);
    }
}

static void tell_core(joined *j, const rst_syntax *core) {
    const rst_syntax *from = rst_syntax_child(core, SYNTAX_FROM), *where = rst_syntax_child(core, SYNTAX_WHERE);
    if (from == NULL || !rst_scope_of(j->c, j->tree, NULL, from, &j->scope) || j->scope.nested || j->scope.merged ||
        j->scope.count < 2)
        return;
    j->equal_count = j->bound_count = 0;
    if (where != NULL) gather(j, where->first);
    for (int i = 1; i < j->scope.count; i++) {
        const rst_scope_item *item = &j->scope.items[i];
        const rst_syntax *on = rst_syntax_child(item->node, SYNTAX_ON);
        if (item->left || rst_join_is_right(item->join)) return;
        if (on != NULL) gather(j, on->first);
    }
    for (int i = 0; i < j->bound_count; i++) tell_bound(j, j->bounds[i]);
}

/* Results are left alone: their names are their texts. */
static void visit(joined *j, const rst_syntax *node) {
    if (node->kind == SYNTAX_CORE) tell_core(j, node);
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        if (child->kind != SYNTAX_RESULT) visit(j, child);
    }
}

static bool bound_follows(const char *p, const char *end) {
    for (; p < end; p++) {
        if (*p == '<' || *p == '>') return true;
        if ((*p | 0x20) == 'b' && end - p >= 7 && sqlite3_strnicmp(p, "between", 7) == 0) return true;
    }
    return false;
}

/* A statement without a JOIN and a bound behind it is not worth a tree. */
static bool has_words(const char *p, const char *end) {
    return rst_token_seek(&p, end, "JOIN") && bound_follows(p, end);
}

/* No less than the height that SQLite counts for an expression below the node. NOT BETWEEN is two to it, a chain of AND
** as many as it has operands; each ON is an operand of WHERE. */
static int height_of(const rst_syntax *node) {
    const bool chained = node->kind == SYNTAX_AND || node->kind == SYNTAX_OR || node->kind == SYNTAX_FROM;
    int highest = 0, count = 0;
    for (const rst_syntax *child = node->first; child != NULL; child = child->next, count++) {
        const int height = height_of(child);
        if (height > highest) highest = height;
    }
    return highest + (chained && count > 2 ? count : 2);
}

/* SQLite's limits are for what the program wrote: at them nothing is written. */
static bool fits(const joined *j, const rst_draft *draft) {
    size_t size = (size_t)(draft->end - draft->text);
    for (int i = 0; i < j->edits.count; i++) {
        if (j->edits.all[i].text != NULL) size += strlen(j->edits.all[i].text);
    }
    return j->edits.count == 0 ||
           (size <= (size_t)sqlite3_limit(j->c->db, SQLITE_LIMIT_SQL_LENGTH, -1) &&
            height_of(j->tree->root) + j->edits.count <= sqlite3_limit(j->c->db, SQLITE_LIMIT_EXPR_DEPTH, -1));
}

int rst_equals_tell(rst_connection *c, rst_draft *draft) {
    joined j = {.c = c, .text = draft->text};
    j.tree = has_words(draft->text, draft->end) ? rst_draft_tree(draft) : NULL;
    if (j.tree == NULL) return rst_draft_failed(draft);
    visit(&j, j.tree->root);
    if (j.code == SQLITE_OK && fits(&j, draft)) return rst_draft_write(draft, &j.edits);
    rst_edits_free(&j.edits);
    return j.code == SQLITE_NOMEM ? SQLITE_NOMEM : SQLITE_OK; /* a parameter's number is out of range: SQLite says so */
}
