/*
** expression_hints.c - writes a hint beside each comparison of an indexed expression (expressions.c). A term of ORDER
** BY or GROUP BY becomes the column that shows the expression (expression_column.c). Invariant: a hint that does not
** compile is taken back.
*/
#include "rewriter/rewriter.h"
#include "rewriter/expressions.h"
#include "rewriter/hints.h"
#include "catalog/expression_column.h"

#include <string.h>

typedef struct adding {
    rst_connection *c;
    const char *text, *end;
    const rst_syntax_tree *tree;
    const rst_indexed *expressions;
    int count;
    rst_edits edits;
    bool outer;            /* RIGHT or FULL stands somewhere */
    bool merged;           /* NATURAL or USING does */
    bool windows;          /* a window */
    bool groups, extremes; /* GROUP BY; a call of min or max */
    bool refused;          /* a parameter's number is out of range */
    bool orders;           /* terms of ORDER BY and GROUP BY are written as columns */
    bool called;           /* an operand is a call */
    int added, ordered, code;
} adding;

/* ---- one hint ---- */

static void append_call(adding *a, const rst_indexed *e, int kind, const rst_hint_row *row, const rst_syntax *operand,
                        sqlite3_str *out) {
    char name[96];
    int code = SQLITE_OK;
    sqlite3_snprintf(sizeof name, name, "rootstock_%s_%lld_%d", rst_hint_name(kind), (long long)e->index->identifier,
                     e->part);
    if (a->code == SQLITE_OK) a->code = rst_hint_register(a->c, name);
    sqlite3_str_appendf(out, "%s(", name);
    if (row->qualifier.type != TOKEN_END)
        sqlite3_str_appendf(out, "%.*s.", (int)row->qualifier.size, row->qualifier.text);
    if (row->column < 0)
        sqlite3_str_appendall(out, "[rootstock hint],");
    else
        sqlite3_str_appendf(out, "\"%w\",", e->table->columns[row->column].name);
    if (a->code == SQLITE_OK) code = rst_operand_again(a->c, a->text, operand, out);
    if (code == SQLITE_NOMEM)
        a->code = code;
    else if (code != SQLITE_OK)
        a->refused = true; /* SQLite will say so of the text as it stands */
    sqlite3_str_appendall(out, ")");
    a->added++;
}

/* ---- comparisons ---- */

/* What a comparison says of an indexed expression. */
typedef struct comparison {
    int kind;                         /* of the first operand, or of each in a list; or -1 */
    const rst_syntax *first, *second; /* BETWEEN: the second is an upper bound; a list: null */
    const rst_syntax *list;           /* the SYNTAX_VECTOR behind IN, or null */
} comparison;

/* The kind of a comparison's mark, its sides exchanged if turned; or -1. */
static int kind_of(const rst_token *token, bool turned) {
    if (rst_token_mark(token, "=") || rst_token_mark(token, "==")) return 0;
    if (rst_token_mark(token, ">")) return turned ? 3 : 1;
    if (rst_token_mark(token, ">=")) return turned ? 4 : 2;
    if (rst_token_mark(token, "<")) return turned ? 1 : 3;
    if (rst_token_mark(token, "<=")) return turned ? 2 : 4;
    return -1;
}

static bool is_list(const rst_syntax *list, bool *called) {
    enum { MOST = 64 };
    int count = 0;
    for (const rst_syntax *item = list->first; item != NULL; item = item->next) {
        const rst_token token = rst_syntax_token(item, 0);
        bool null = item->kind == SYNTAX_LITERAL && rst_token_is(&token, "NULL");
        if (++count > MOST || (!null && !rst_is_operand(item, called))) return false;
    }
    return count > 0;
}

/* What the operation is compared with where the expression is its first operand, or, turned, its second. */
static bool read_comparison(adding *a, const rst_syntax *node, bool turned, comparison *out) {
    rst_token word = rst_syntax_operator(node);
    const rst_syntax *side = turned ? node->first : node->first->next;
    bool called = false;
    *out = (comparison){0};
    switch (node->kind) {
    case SYNTAX_EQUAL:
    case SYNTAX_COMPARE:
        out->kind = kind_of(&word, turned);
        out->first = side;
        if (out->kind < 0 || !rst_is_side(a->c, a->tree, side, &called)) return false;
        break;
    case SYNTAX_BETWEEN:
        out->kind = 2;
        out->first = side;
        out->second = side->next;
        if (turned || !rst_token_is(&word, "BETWEEN") || !rst_is_side(a->c, a->tree, out->first, &called) ||
            !rst_is_side(a->c, a->tree, out->second, &called))
            return false;
        break;
    default: /* IN */
        out->list = side;
        if (turned || !rst_token_is(&word, "IN") || side->kind != SYNTAX_VECTOR || !is_list(side, &called))
            return false;
        break;
    }
    a->called |= called;
    return true;
}

static void append_comparison(adding *a, const rst_indexed *e, const rst_hint_row *row, const comparison *found,
                              sqlite3_str *out) {
    if (found->list == NULL) {
        sqlite3_str_appendall(out, " AND ");
        append_call(a, e, found->kind, row, found->first, out);
        if (found->second == NULL) return;
        sqlite3_str_appendall(out, " AND ");
        append_call(a, e, 4, row, found->second, out);
        return;
    }
    /* A hint for each: SQLite looks the rows up arm by arm, and takes each once. An arm that is a function and no
    ** AND it would take for two. */
    for (const rst_syntax *item = found->list->first; item != NULL; item = item->next) {
        sqlite3_str_appendall(out, item == found->list->first ? " AND ((1 AND " : ") OR (1 AND ");
        append_call(a, e, 0, row, item, out);
    }
    sqlite3_str_appendall(out, "))");
}

/* The comparison with its hint, if it is one of an indexed expression. A view's column may be several tables', each
** with such an index. */
static void write_comparison(adding *a, const rst_place *at, const rst_syntax *node) {
    sqlite3_str *out = NULL;
    bool views = false;
    for (int i = 0; i < a->count && (out == NULL || views); i++) {
        const rst_indexed *e = &a->expressions[i];
        rst_token qualifier;
        rst_hint_row row;
        comparison found;
        bool first = rst_indexed_is(e, rst_syntax_unwrap(node->first), &qualifier);
        if (!(first && read_comparison(a, node, false, &found)) &&
            !(rst_indexed_is(e, rst_syntax_unwrap(node->last), &qualifier) && read_comparison(a, node, true, &found)))
            continue;
        if (!rst_place_row(a->c, a->tree, e, at, &qualifier, &row) || (views && row.column < 0)) continue;
        if (out == NULL) out = sqlite3_str_new(NULL);
        append_comparison(a, e, &row, &found, out);
        views = row.column >= 0;
    }
    if (out == NULL) return;
    sqlite3_str_appendall(out, ")");
    rst_edits_add(&a->edits, node->start, node->start, sqlite3_mprintf("("));
    rst_edits_add(&a->edits, node->end, node->end, sqlite3_str_finish(out));
}

/* The comparisons that AND and OR make the condition of. */
static void write_condition(adding *a, const rst_place *at, const rst_syntax *node) {
    node = rst_syntax_unwrap(node);
    switch (node->kind) {
    case SYNTAX_AND:
    case SYNTAX_OR:
        for (const rst_syntax *term = node->first; term != NULL; term = term->next) write_condition(a, at, term);
        break;
    case SYNTAX_EQUAL:
    case SYNTAX_COMPARE:
    case SYNTAX_BETWEEN:
    case SYNTAX_IN: write_comparison(a, at, node); break;
    default: break;
    }
}

/* ---- orders ---- */

/* The term of ORDER BY (ordered) or GROUP BY, if it is an indexed expression, as the column that shows it. */
static void write_term(adding *a, const rst_syntax *select, bool ordered, const rst_syntax *term) {
    for (int i = 0; i < a->count; i++) {
        const rst_indexed *e = &a->expressions[i];
        rst_token first, qualifier, alias;
        char name[96];
        bool names = ordered;
        if (!ordered && term->kind == SYNTAX_NAME) {
            first = rst_syntax_name(term, &qualifier);
            names = !rst_place_column(a->c, a->tree, select, e->table, &first);
        }
        if (!rst_order_term(a->c, a->tree, e, select, term, names, &alias) ||
            !rst_expression_column_name(e->table, rst_indexed_part(e), name, (int)sizeof name))
            continue;
        rst_edits_add(&a->edits, term->start, term->end,
                      sqlite3_mprintf("%.*s.[%s]", (int)alias.size, alias.text, name));
        a->ordered++;
        return;
    }
}

static void write_orders(adding *a, const rst_syntax *select) {
    const rst_syntax *core = NULL, *order = rst_syntax_child(select, SYNTAX_ORDER);
    int cores = 0;
    for (const rst_syntax *child = select->first; child != NULL; child = child->next) {
        const rst_syntax *group = child->kind == SYNTAX_CORE ? rst_syntax_child(child, SYNTAX_GROUP) : NULL;
        cores += child->kind == SYNTAX_CORE || child->kind == SYNTAX_VALUES;
        if (child->kind == SYNTAX_CORE) core = child;
        for (const rst_syntax *term = group == NULL ? NULL : group->first; term != NULL; term = term->next)
            write_term(a, child, false, term);
    }
    if (cores != 1 || core == NULL || order == NULL) return; /* of several SELECTs a term is a result */
    for (const rst_syntax *term = order->first; term != NULL; term = term->next) write_term(a, core, true, term->first);
}

/* ---- the statement ---- */

/* Results are left alone: their names are their texts. And behind ON CONFLICT names are resolved otherwise. */
static void write_all(adding *a, const rst_syntax *node, const rst_syntax *parent) {
    const rst_place where = {parent, NULL};
    if (node->kind == SYNTAX_RESULT || node->kind == SYNTAX_UPSERT) return;
    if (node->kind == SYNTAX_WHERE && parent->kind != SYNTAX_FILTER) write_condition(a, &where, node->first);
    if (node->kind == SYNTAX_SELECT && a->orders) write_orders(a, node);
    if (node->kind == SYNTAX_FROM && parent->kind != SYNTAX_JOINED && !a->outer) {
        for (const rst_syntax *item = node->first; item != NULL; item = item->next) {
            const rst_syntax *on = rst_syntax_child(item, SYNTAX_ON);
            const rst_place at = {parent, item};
            if (on != NULL) write_condition(a, &at, on->first);
        }
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) write_all(a, child, node);
}

/* What the statement has somewhere. */
static void look(adding *a, const rst_syntax *node) {
    rst_token name;
    switch (node->kind) {
    case SYNTAX_JOIN:
        a->outer |= rst_join_is_right(node);
        a->merged |= rst_join_has(node, "NATURAL");
        break;
    case SYNTAX_TABLE:
    case SYNTAX_SOURCE:
    case SYNTAX_JOINED: a->merged |= rst_syntax_child(node, SYNTAX_COLUMNS) != NULL; break;
    case SYNTAX_WINDOW: a->windows = true; break;
    case SYNTAX_GROUP: a->groups = true; break;
    case SYNTAX_CALL:
        name = rst_syntax_token(node, 0);
        a->extremes |= rst_token_same_name(&name, "min") || rst_token_same_name(&name, "max");
        break;
    default: break;
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) look(a, child);
}

/* Every function of the application, and whether no index can rely on it. It may give another result for the same
** arguments, or it replaces one of SQLite's, with which entries were made. */
static const char application_functions[] =
    "SELECT name,flags&2048=0 OR name IN (SELECT name FROM pragma_function_list WHERE builtin)"
    " FROM pragma_function_list WHERE NOT builtin";

/* Whether the expression calls such a function. Of an operand that is a call: the application's need not give the same
** twice. */
static bool is_redefined(rst_connection *c, const rst_indexed *expressions, int count, bool called) {
    sqlite3_stmt *statement = NULL;
    bool found = true;
    if (sqlite3_prepare_v2(c->db, application_functions, -1, &statement, NULL) == SQLITE_OK) {
        found = false;
        while (!found && sqlite3_step(statement) == SQLITE_ROW) {
            const char *name = (const char *)sqlite3_column_text(statement, 0);
            found = called && rst_is_operand_call(name);
            for (int i = 0; i < count && !found && sqlite3_column_int(statement, 1) != 0; i++) {
                const char *p = expressions[i].start;
                for (;;) {
                    rst_token token = rst_token_next(&p, expressions[i].end);
                    if (token.type == TOKEN_END) break;
                    if (rst_token_same_name(&token, name) || rst_token_mark(&token, name)) found = true;
                }
            }
        }
    }
    sqlite3_finalize(statement);
    return found;
}

void rst_keep_if_it_compiles(rst_connection *c, char **sql) {
    if (rst_prepares(c->db, "%s", *sql)) return;
    sqlite3_free(*sql);
    *sql = NULL;
}

/* Whether the text can hold the expression at all: its first name is in it. */
static bool is_mentioned(const rst_indexed *e, const char *text, const char *end) {
    const char *p = e->start;
    rst_token token;
    do {
        token = rst_token_next(&p, e->end);
    } while (token.type != TOKEN_END && token.type != TOKEN_WORD);
    if (token.type == TOKEN_END) return true;
    for (const char *at = text; at + token.size <= end; at++) {
        if ((*at | 0x20) == (token.text[0] | 0x20) && sqlite3_strnicmp(at, token.text, (int)token.size) == 0)
            return true;
    }
    return false;
}

/* The statement with its hints, and its orders if those are wanted; null where nothing was added. */
static int add_to_copy(adding *a, bool orders, char **out) {
    *out = NULL;
    a->orders = orders;
    a->refused = false;
    a->added = a->ordered = 0;
    write_all(a, a->tree->root, a->tree->root);
    if (!a->refused && a->code == SQLITE_OK) return rst_edits_apply(&a->edits, a->text, a->end, out);
    rst_edits_free(&a->edits);
    return a->code;
}

/* The table's indexed expressions that the text may hold, one of each kind: one hint serves every index on the
** expression. */
static int gather(rst_connection *c, const char *text, const char *end, rst_indexed *found, int room) {
    int count = 0;
    for (int t = 0; t < schema_of(c)->table_count; t++) {
        const rst_table *table = schema_of(c)->tables[t];
        for (int i = 0; i < table->index_count && table->has_evaluated_index; i++) {
            for (int p = 0; p < table->indexes[i].part_count && count < room; p++) {
                const rst_part *part = &table->indexes[i].parts[p];
                bool known = false;
                if (part->column != -2 || !rst_indexed_understand(table, &table->indexes[i], p, &found[count]))
                    continue;
                if (!is_mentioned(&found[count], text, end)) continue;
                for (int k = 0; k < count; k++) {
                    const rst_part *other = rst_indexed_part(&found[k]);
                    known = known || (found[k].table == table && strcmp(other->expression, part->expression) == 0 &&
                                      other->key.collation == part->key.collation);
                }
                if (!known) count++;
            }
        }
    }
    return count;
}

static int add_hints(adding *a, char **out) {
    char *without, *plain;
    int code;
    look(a, a->tree->root);
    /* Beside min() and max() a group's other columns are those of another row than its first; and windows have
    ** orders of their own. */
    code = add_to_copy(a, !a->merged && !a->windows && !(a->groups && a->extremes), out);
    if (code != SQLITE_OK || *out == NULL) return code;
    if (is_redefined(a->c, a->expressions, a->count, a->called)) {
        sqlite3_free(*out);
        *out = NULL;
        return SQLITE_OK;
    }
    if (a->ordered > 0) {
        /* Read in the order of an index, or as it was: an order that is sorted all the same would cost more. */
        code = add_to_copy(a, false, &without);
        plain =
            code != SQLITE_OK || without != NULL ? without : sqlite3_mprintf("%.*s", (int)(a->end - a->text), a->text);
        if (code == SQLITE_OK && plain == NULL) code = SQLITE_NOMEM;
        if (code == SQLITE_OK && rst_sorts(a->c, *out) < rst_sorts(a->c, plain)) {
            sqlite3_free(plain);
            return SQLITE_OK;
        }
        if (plain != without) sqlite3_free(plain);
        sqlite3_free(*out);
        *out = without;
        if (code != SQLITE_OK || without == NULL) return code;
    }
    rst_keep_if_it_compiles(a->c, out);
    return SQLITE_OK;
}

int rst_expressions_tell(rst_connection *c, rst_draft *draft) {
    rst_indexed found[32];
    adding a = {.c = c, .text = draft->text, .end = draft->end, .expressions = found};
    char *made = NULL;
    int code;
    a.count = gather(c, draft->text, draft->end, found, (int)(sizeof found / sizeof found[0]));
    a.tree = a.count == 0 ? NULL : rst_draft_tree(draft);
    if (a.tree == NULL) return rst_draft_failed(draft);
    code = add_hints(&a, &made);
    rst_draft_take(draft, made);
    return code;
}
