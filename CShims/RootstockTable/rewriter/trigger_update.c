/*
** trigger_update.c - an UPDATE in a trigger's body whose rows get their values each at its turn.
**
** SQLite makes the values of a row when its turn comes, so that they see what the rows before have come to. Of a
** virtual table it makes all first. Where that can show, the assignments go to rootstock_upsert, which is called once,
** and the module evaluates them over each row (executor/upsert.c):
**   UPDATE t SET "rootstock operation" = marks | (SELECT rootstock_upsert(...)) << n, a = a
**
** Invariant: an UPDATE that finds one row by its key stays as it is, and so does one whose values look at no row.
*/
#include "rewriter/rewriter.h"
#include "rewriter/transform.h"
#include "rewriter/trigger_text.h"
#include "rewriter/update_from.h"
#include "catalog/column_sets.h"

#include <string.h>

/* What the expressions of a SET or WHERE look at. */
typedef struct looks {
    rst_connection *c;
    const rst_table *table;
    bool at_rows;   /* at columns, or by a query at rows */
    bool at_itself; /* by a query, at the table that is changed */
    bool raises;    /* RAISE is the trigger's own */
} looks;

static bool names_new_or_old(const rst_syntax *node) {
    rst_token qualifier;
    (void)rst_syntax_name(node, &qualifier);
    return rst_token_is_row(&qualifier);
}

static void look(looks *l, const rst_syntax *node) {
    const rst_syntax *child = node->first;
    if (node->kind == SYNTAX_NAME && !names_new_or_old(node)) l->at_rows = true;
    if (node->kind == SYNTAX_SUBQUERY) {
        l->at_rows = true;
        l->at_itself |= !rst_subquery_reads_elsewhere(l->c, l->table, child);
    }
    if (node->kind == SYNTAX_CALL) {
        const rst_token word = rst_syntax_token(node, 0);
        l->raises |= rst_token_is(&word, "RAISE");
        child = child->next; /* the function's name */
    }
    for (; child != NULL; child = child->next) {
        if (child->kind == SYNTAX_NAME && node->kind == SYNTAX_COLLATE && child == node->last) break;
        if (child->kind != SYNTAX_TYPE) look(l, child);
    }
}

/* Whether the statement may change a row before its turn, or bring another one in its place. */
static bool changes_ahead(const rst_connection *c, const rst_table *table, const rst_statement_parts *parts,
                          bool sets_key) {
    return sets_key || parts->conflict == SQLITE_REPLACE || table->has_conflict_clauses || table->is_parent ||
           rst_has_triggers(c, table, TRIGGER_UPDATE) || rst_has_triggers(c, table, TRIGGER_DELETE);
}

/* As a parameter NEW.x has no collation. */
static bool may_lose_collation(const rst_table *fired_by) {
    for (int i = 0; fired_by != NULL && i < fired_by->column_count; i++)
        if (fired_by->columns[i].collation != ROOTSTOCK_COLLATION_BINARY) return true;
    return false;
}

/* The call of rootstock_upsert, or null where the values would lose a collation. */
static int make_call(const rst_connection *c, const rst_table *fired_by, const rst_table *table, const rst_syntax *set,
                     char **out) {
    sqlite3_str *arguments = sqlite3_str_new(NULL);
    char *lifted = rst_lift_references(set->first->start, set->end, arguments), *given = sqlite3_str_finish(arguments),
         *text = NULL;
    int code = SQLITE_OK;
    if (given == NULL || !may_lose_collation(fired_by)) {
        text = lifted == NULL ? NULL : sqlite3_mprintf("UPDATE main.\"%w\" SET %s", table->name, lifted);
        *out = text == NULL ? NULL : rst_upsert_call(c, fired_by, text, given);
        if (*out == NULL) code = SQLITE_NOMEM;
    }
    sqlite3_free(text);
    sqlite3_free(given);
    sqlite3_free(lifted);
    return code;
}

/* Where the rows have to take turns, *out is the call of rootstock_upsert that sees to it; otherwise null. */
static int make_rowwise(rst_connection *c, const rst_table *fired_by, const rst_table *table,
                        const rst_statement_parts *parts, bool sets_key, char **out) {
    rst_syntax_tree tree;
    int code = SQLITE_OK;
    *out = NULL;
    if (parts->kind != KIND_UPDATE || parts->set.start == NULL || rst_update_has_from(parts)) return SQLITE_OK;
    if (rst_syntax_parse(&tree, parts->whole.start, parts->whole.end) == SQLITE_OK &&
        tree.root->kind == SYNTAX_UPDATE) {
        const rst_syntax *set = rst_syntax_child(tree.root, SYNTAX_SET);
        looks l = {c, table, false, false, false};
        for (const rst_syntax *one = set->first; one != NULL; one = one->next) look(&l, one->last);
        /* What a table of its own or a view has for a trigger is written once, whatever comes to the table. */
        if (l.at_rows && !l.raises && !rst_finds_one_row(table, parts) &&
            (l.at_itself || fired_by == NULL || changes_ahead(c, table, parts, sets_key)))
            code = make_call(c, fired_by, table, set, out);
    }
    rst_syntax_free(&tree);
    return code;
}

int rst_event_of(const rst_statement_parts *parts) {
    return parts->kind == KIND_INSERT ? TRIGGER_INSERT : parts->kind == KIND_UPDATE ? TRIGGER_UPDATE : TRIGGER_DELETE;
}

/* Whether OR ABORT has to be said to the module, which is told of it as of no OR. There are constraints that would do
** something else of themselves, or triggers whose statements go by it. */
bool rst_body_aborts(const rst_connection *c, const rst_table *table, const rst_statement_parts *parts) {
    return parts->conflict == SQLITE_ABORT &&
           (table->has_conflict_clauses || rst_has_triggers(c, table, rst_event_of(parts)));
}

/* Whether a row may be passed over by a statement that has no OR IGNORE: by an ON CONFLICT clause or a RAISE(IGNORE).
** An UPDATE OR REPLACE may have removed it. SQLite counts what a module changes, and what it says was changed. So the
** statement is given to it as OR IGNORE, as the front door's are (runner.c), and tells the module that it has none. Of
** a native table's trigger the statement is its own: what it refuses would be passed over, too. */
bool rst_body_may_pass_over(const rst_connection *c, const rst_table *fired_by, const rst_table *table,
                            const rst_statement_parts *parts) {
    if (fired_by == NULL) return false;
    if (parts->conflict == SQLITE_REPLACE) return parts->kind == KIND_UPDATE;
    return (parts->conflict == CONFLICT_DEFAULT || parts->conflict == SQLITE_ABORT) &&
           (parts->upsert.start != NULL || (parts->kind != KIND_DELETE && table->has_conflict_clauses) ||
            rst_has_triggers(c, table, rst_event_of(parts)));
}

/* The assignments once more, each of the column's own value: which columns they are is read off them. */
static void append_same(const rst_table *table, uint64_t set, const uint64_t *beyond, int names, sqlite3_str *out) {
    for (int i = 0; i < table->column_count; i++)
        if (rst_columns_has(set, beyond, i))
            sqlite3_str_appendf(out, ",\"%w\"=\"%w\"", table->columns[i].name, table->columns[i].name);
    if (names != 0) sqlite3_str_appendf(out, ",%s=%s ", rst_rowid_name(table), rst_rowid_name(table));
}

/* What an UPDATE has to tell of itself, as its first assignment, or a DELETE as the only one; null: nothing. */
int rst_body_marked(rst_connection *c, const rst_table *fired_by, const rst_table *table,
                    const rst_statement_parts *parts, char **out) {
    const bool ignores = rst_body_may_pass_over(c, fired_by, table, parts);
    const char *p = parts->set.start;
    rst_token first;
    int64_t marks = (rst_body_aborts(c, table, parts) ? UPDATE_ABORTS : 0) | (ignores ? UPDATE_PLAIN : 0);
    int names, code;
    uint64_t set = 0, *beyond = NULL;
    char *rowwise = NULL;
    sqlite3_str *text;
    bool own, key;
    *out = NULL;
    if (parts->kind == KIND_DELETE) {
        if (!ignores) return SQLITE_OK;
        *out = sqlite3_mprintf("UPDATE OR IGNORE %.*s SET \"rootstock operation\"=%d %.*s",
                               (int)(parts->after_table.start - parts->verb.end), parts->verb.end,
                               UPDATE_PLAIN | UPDATE_DELETES, (int)(parts->whole.end - parts->after_table.start),
                               parts->after_table.start);
        return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    if (ignores && parts->conflict == SQLITE_REPLACE) marks |= UPDATE_REPLACES;
    first = rst_token_next(&p, parts->set.end);
    if (rst_token_same_name(&first, "rootstock operation")) return SQLITE_OK; /* it was made ready before */
    names = rst_rowid_names_in(table, parts->set);
    code = rst_columns_set(table, parts->set, &set, &beyond);
    own = table->rowid_column >= 0 && rst_columns_has(set, beyond, table->rowid_column);
    key = names != 0 || own;
    for (int k = 0; k < table->key_count && table->without_rowid; k++)
        key |= rst_columns_has(set, beyond, table->key[k].column);
    if (names != 0 || own) marks |= UPDATE_NAMED | names | (own ? UPDATE_OWN_NAME : 0);
    if (rst_update_has_from(parts) && table->column_count <= UPDATE_COLUMNS)
        marks |= UPDATE_SETS | (int64_t)(set << UPDATE_SHIFT);
    if (code == SQLITE_OK) code = make_rowwise(c, fired_by, table, parts, key, &rowwise);
    if (code == SQLITE_OK && (marks != 0 || rowwise != NULL)) {
        text = sqlite3_str_new(NULL);
        if (ignores)
            sqlite3_str_appendf(text, "UPDATE OR IGNORE %.*s", (int)(parts->set.start - parts->verb.end),
                                parts->verb.end);
        else
            sqlite3_str_append(text, parts->whole.start, (int)(parts->set.start - parts->whole.start));
        if (rowwise == NULL) {
            sqlite3_str_appendf(text, " \"rootstock operation\"=%lld,%.*s", (long long)marks,
                                (int)(parts->whole.end - parts->set.start), parts->set.start);
        } else {
            sqlite3_str_appendf(text, " \"rootstock operation\"=%lld|(%s<<%d)", (long long)(marks | UPDATE_ROWWISE),
                                rowwise, UPDATE_SHIFT);
            append_same(table, set, beyond, names, text);
            sqlite3_str_append(text, parts->set.end, (int)(parts->whole.end - parts->set.end));
        }
        *out = sqlite3_str_finish(text);
        if (*out == NULL) code = SQLITE_NOMEM;
    }
    sqlite3_free(rowwise);
    sqlite3_free(beyond);
    return code;
}
