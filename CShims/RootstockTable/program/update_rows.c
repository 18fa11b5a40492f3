/*
** update_rows.c - how the rows of an UPDATE are changed: each at its turn, or all at once, and in which order.
**
** Invariant: where it matters natively what other rows hold by then, rows are changed one by one, in SQLite's order.
*/
#include "program/program.h"
#include "executor/foreign.h"
#include "executor/trigger.h"
#include "program/runner.h"
#include "rewriter/update_from.h"

#include <string.h>

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

/* The index that a row of EXPLAIN QUERY PLAN names; "": it goes by the table or its key; null: that is unclear. */
static char *index_of_plan(const rst_table *table, const rst_code *code, const char *detail) {
    static const char word[] = " INDEX ";
    bool analyzed = table->rows_per_key_prefix != NULL;
    const char *at = detail == NULL ? NULL : strstr(detail, word), *end;
    /* The schema database has no figures of ANALYZE to choose among indexes by. */
    for (int i = 0; i < table->index_count; i++) analyzed |= table->indexes[i].rows_per_prefix != NULL;
    if (detail == NULL || (strncmp(detail, "SCAN ", 5) != 0 && (analyzed || strncmp(detail, "SEARCH ", 7) != 0)))
        return NULL;
    if (at == NULL) return sqlite3_mprintf("");
    at += sizeof word - 1;
    end = strstr(at, " (");
    for (int i = 0; i < table->index_count; i++) {
        const rst_index *index = &table->indexes[i];
        const size_t size = end == NULL ? strlen(at) : (size_t)(end - at);
        if (strlen(index->name) != size || strncmp(index->name, at, size) != 0) continue;
        /* SQLite gathers the rows where it changes what it walks. */
        return rst_index_touched(index, code->set_columns) ? NULL : sqlite3_mprintf("%s", index->name);
    }
    return NULL;
}

int rst_update_walk(rst_connection *c, const rst_table *table, const rst_code *code, const rst_statement_parts *parts,
                    const char *text, char **index) {
    const rst_syntax *where = rst_statement_part(parts, SYNTAX_WHERE);
    sqlite3_stmt *statement = NULL;
    char *explain;
    int result;
    *index = NULL;
    if (parts->kind != KIND_UPDATE || table->index_count == 0 || (where == NULL && !table->without_rowid) ||
        (!rst_update_is_judged(table, parts) && !table->has_conflict_clauses) || rst_update_has_from(parts) ||
        rst_has_target_hint(parts) || rst_finds_one_row(table, parts) || rst_update_is_gathered(table, parts, code) ||
        rst_key_changes(table, code->set_columns, code->set_beyond))
        return SQLITE_OK;
    explain = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", text);
    if (explain == NULL) return SQLITE_NOMEM;
    result = sqlite3_prepare_v2(schema_of(c)->schema_db, explain, -1, &statement, NULL);
    sqlite3_free(explain);
    if (result == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        *index = index_of_plan(table, code, (const char *)sqlite3_column_text(statement, 3));
    sqlite3_finalize(statement);
    if (*index != NULL && **index == '\0') { /* as it is found here, too? */
        bool by_key = false;
        result = rst_key_order_is(c, table, parts, false, code->set_columns, &by_key);
        if (by_key || result != SQLITE_OK) {
            sqlite3_free(*index);
            *index = NULL;
        }
    }
    return result == SQLITE_NOMEM ? result : SQLITE_OK; /* it may name what the schema database does not know */
}
