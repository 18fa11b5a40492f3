/*
** update_rows.c - how the rows of an UPDATE are changed: each at its turn, or all at once, and in which order.
**
** Invariant: where it matters natively what other rows hold by then, rows are changed one by one, in SQLite's order.
*/
#include "program/program.h"
#include "executor/foreign.h"
#include "executor/trigger.h"
#include "program/runner.h"

/* What the columns that SET names have to do with the rows' turns. */
typedef struct columns_set {
    bool moves; /* the rows' key is among them */
    bool acts;  /* the UPDATE's own foreign keys may change a row before its turn */
} columns_set;

static columns_set read_set(const rst_table *table, rst_span set) {
    uint64_t bits = 0, *beyond = NULL;
    const bool rowid = rst_rowid_names_in(table, set) != 0;
    int code = rst_columns_set(table, set, &bits, &beyond);
    columns_set out;
    if (code == SQLITE_OK && table->rowid_column >= 0 && rowid)
        code = rst_columns_add(table, table->rowid_column, &bits, &beyond);
    out.moves = code != SQLITE_OK || rowid || rst_key_changes(table, bits, beyond);
    out.acts = code != SQLITE_OK || rst_foreign_acts_on_itself(table, bits, beyond);
    sqlite3_free(beyond);
    return out;
}

/* A call that evaluates its first argument always, the others where it has to. */
static bool is_choice(const rst_syntax *node) {
    const rst_token name = rst_syntax_token(node, 0);
    return node->kind == SYNTAX_CALL && (rst_token_same_name(&name, "coalesce") ||
                                         rst_token_same_name(&name, "ifnull") || rst_token_same_name(&name, "iif"));
}

/* Whether the subqueries below the node may find something else at each row's turn. late: other rows may have been
** changed before they are first asked. */
static bool takes_turns(rst_connection *c, const rst_table *table, rst_span with, const rst_syntax *node, bool late) {
    const bool choice = is_choice(node);
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        const rst_syntax *select = child->first;
        const bool list = node->kind == SYNTAX_IN && child == node->last;
        const bool later = late || node->kind == SYNTAX_CASE || (list && child->kind == SYNTAX_VECTOR) ||
                           (choice && child != node->first && child != node->first->next);
        if (child->kind != SYNTAX_SUBQUERY) {
            if (takes_turns(c, table, with, child, later)) return true;
        } else if ((table->is_parent || !rst_subquery_reads_elsewhere(c, table, select)) &&
                   (later || (list && rst_subquery_may_read_index(c, select)) ||
                    !rst_subquery_stands_alone(c, with, select->start, (int)(select->end - select->start)))) {
            return true;
        }
    }
    return false;
}

bool rst_update_is_rowwise(rst_connection *c, const rst_table *table, const rst_statement_parts *parts) {
    const rst_span with = {parts->whole.start, parts->verb.start};
    columns_set columns;
    /* UPDATE FROM is collected first natively too */
    if (parts->kind != KIND_UPDATE || rst_statement_part(parts, SYNTAX_FROM) != NULL) return false;
    columns = read_set(table, parts->set);
    if (!columns.moves && rst_finds_one_row(table, parts)) return false;
    if (rst_trigger_any(table, TRIGGER_UPDATE) || columns.acts) return true;
    /* A row that REPLACE removed before its turn is passed over, uncounted; one that took its place has its turn
    ** instead. What hangs on the one that was removed may change others. */
    if ((parts->conflict == SQLITE_REPLACE || table->has_conflict_clauses) &&
        (columns.moves || table->is_parent || rst_trigger_any(table, TRIGGER_DELETE)))
        return true;
    return takes_turns(c, table, with, rst_statement_part(parts, SYNTAX_SET), false);
}

bool rst_update_fires(const rst_table *table, uint64_t set) {
    for (const rst_trigger *trigger = table->triggers; trigger != NULL; trigger = trigger->next) {
        if (trigger->event != TRIGGER_UPDATE) continue;
        if (!trigger->listed || trigger->rowid_names != 0 || (trigger->columns & set) != 0) return true;
    }
    return false;
}

bool rst_update_is_gathered(const rst_table *table, const rst_statement_parts *parts, const rst_code *code) {
    uint64_t set = code->set_columns;
    if (parts->returning.start != NULL || code->set_rowid_names != 0) return true;
    if (rst_update_fires(table, set) || rst_foreign_sets_any(table, set, code->set_beyond)) return true;
    if (parts->conflict != CONFLICT_DEFAULT) return parts->conflict == SQLITE_REPLACE;
    for (int i = 0; i < table->index_count; i++) {
        const rst_index *index = &table->indexes[i];
        if (index->on_conflict == SQLITE_REPLACE && rst_index_touched(index, set)) return true;
    }
    return false;
}
