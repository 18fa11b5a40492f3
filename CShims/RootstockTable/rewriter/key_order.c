/*
** key_order.c - an UPDATE through an index changes its rows in the order of their keys, where SQLite does.
**
** On its own tables SQLite first gathers the rows, in the order of their keys, unless it can change each as it finds
** it. It can if there is no trigger, foreign key, RETURNING or REPLACE, and if neither the row's key nor the index that
** it walks is changed. Which rows meet a constraint, what triggers see and what RETURNING gives
** depend on that order. SQLite gathers the rows of a virtual table as they come. So where they would come by an index,
** the condition becomes
**   WHERE rowid IN (SELECT rowid FROM t WHERE condition)
** and the table is walked as by NOT INDEXED.
**
** A statement of the application's gathers its rows itself (bulk_text.c). One in a trigger's body cannot:
** - SQLite refuses there what is SQLITE_VTAB_DIRECTONLY, as rootstock_bulk has to be;
** - the OR of the statement that fires the trigger overrides the body's, and so the OR IGNORE by which gathering leaves
**   rows uncounted.
** So bodies need this file, and update_from.c, until they run as programs.
**
** Invariant: the same rows are changed. A statement that finds its rows in the order of their keys stays as it is.
*/
#include "rewriter/rewriter.h"
#include "rewriter/key_order.h"
#include "catalog/column_sets.h"
#include "rewriter/transform.h"
#include "rewriter/trigger_text.h"
#include "rewriter/update_from.h"
#include "rewriter/trigger_list.h"

#include <stdlib.h>
#include <string.h>

/* The name by which a row's key is reached, or null: names of columns hide it. A column's name tells the row only if it
** is the whole key, and is ordered and compares as the key does. */
static const char *key_name(const rst_table *table) {
    const rst_column *column;
    if (!table->without_rowid) return rst_rowid_name(table);
    column = &table->columns[table->key[0].column];
    return table->key_count == 1 && !table->key[0].key.descending &&
                   sqlite3_stricmp(table->key[0].collation_name, column->collation_name) == 0
               ? column->name
               : "rootstock key";
}

int rst_name_key_once(const rst_table *table, rst_syntax_tree *tree, rst_statement_parts *parts, char **text) {
    const int conflict = parts->conflict;
    int code;
    *text = NULL;
    if (table == NULL || parts->kind != KIND_UPDATE) return SQLITE_OK;
    code = rst_key_named_alike(table, parts->set, parts->whole, text);
    if (*text == NULL) return code;
    rst_syntax_free(tree);
    code = rst_statement_parse(tree, *text, *text + strlen(*text), parts);
    parts->conflict = conflict;
    return code;
}

static bool parts_change(const rst_part *parts, int count, uint64_t set, const uint64_t *beyond) {
    for (int k = 0; k < count; k++)
        if (parts[k].column >= 0 && rst_columns_has(set, beyond, parts[k].column)) return true;
    return false;
}

static bool index_changes(const rst_index *index, uint64_t set, const uint64_t *beyond) {
    return parts_change(index->parts, index->part_count, set, beyond) ||
           (index->evaluated && rst_index_touched(index, set));
}

bool rst_key_changes(const rst_table *table, uint64_t set, const uint64_t *beyond) {
    if (table->without_rowid) return parts_change(table->key, table->key_count, set, beyond);
    return table->rowid_column >= 0 && rst_columns_has(set, beyond, table->rowid_column);
}

/* "main.t AS alias WHERE condition" of the statement. */
static void append_found(sqlite3_str *out, const rst_table *table, const rst_statement_parts *parts,
                         const rst_syntax *condition) {
    sqlite3_str_appendf(out, "main.\"%w\"", table->declared_name);
    rst_statement_append_alias(out, parts);
    sqlite3_str_appendf(out, " WHERE %.*s", (int)(parts->whole.end - condition->start), condition->start);
}

/* How the rows come: in the order of their keys, or by an index in another one. */
typedef enum way { BY_KEY, BY_INDEX, BY_CHANGED_INDEX } way;

/* Asked of a SELECT of the same rows: to explain an UPDATE sets changes() to 0. */
static int find_way(rst_connection *c, const rst_table *table, const rst_statement_parts *parts,
                    const rst_syntax *condition, bool in_body, uint64_t set, const uint64_t *beyond, way *out) {
    static const char marker[] = " VIRTUAL TABLE INDEX ";
    sqlite3_str *query = sqlite3_str_new(NULL);
    sqlite3_stmt *statement = NULL;
    char *text;
    bool list;
    int code;
    sqlite3_str_appendf(query, "EXPLAIN QUERY PLAN %.*sSELECT * FROM ", (int)(parts->verb.start - parts->whole.start),
                        parts->whole.start);
    append_found(query, table, parts, condition);
    text = sqlite3_str_finish(query);
    if (text != NULL && in_body) {
        char *lifted = rst_lift_references(text, text + strlen(text), NULL);
        sqlite3_free(text);
        text = lifted;
    }
    code = text == NULL ? SQLITE_NOMEM : sqlite3_prepare_v2(c->db, text, -1, &statement, NULL);
    *out = BY_KEY;
    rst_trigger_asks_more(c); /* of functions, and of what PRAGMA case_sensitive_like makes of a LIKE */
    if (code == SQLITE_OK) {
        while (sqlite3_step(statement) == SQLITE_ROW) {
            const char *detail = (const char *)sqlite3_column_text(statement, 3), *at;
            const rst_plan *plan;
            if (detail == NULL || sqlite3_column_int(statement, 1) != 0) continue;
            if (strncmp(detail, "MULTI-INDEX OR", 14) == 0) {
                *out = BY_CHANGED_INDEX;
                break;
            }
            at = strstr(detail, marker);
            if (at == NULL) continue;
            plan = rst_plan_of(table, (int)strtol(at + sizeof marker - 1, NULL, 10), store_of(c)->epoch);
            /* SQLite may go through an IN value by value: then a key is looked up for each, in the order of the
            ** values. */
            list = rst_syntax_has(condition, SYNTAX_IN);
            if (plan != NULL && plan->source == PLAN_INDEX && (!plan->unique || list))
                *out = index_changes(&table->indexes[plan->index], set, beyond) ? BY_CHANGED_INDEX : BY_INDEX;
            else if (plan != NULL && plan->source == PLAN_KEY && plan->equals > 0 && list)
                *out = BY_INDEX;
            break; /* the target's: an UPDATE without FROM has no other loop of its own */
        }
    }
    sqlite3_finalize(statement);
    sqlite3_free(text);
    return code == SQLITE_NOMEM ? code : SQLITE_OK; /* what else is wrong with it is said when it is prepared */
}

/* *out: the statement so that its rows come in the order of their keys; null where they do, or nothing hangs on it. */
static int order(rst_connection *c, const rst_table *table, const rst_statement_parts *parts, bool in_body,
                 bool gathered, uint64_t set, const uint64_t *beyond, char **out) {
    const char *name = key_name(table);
    const rst_syntax *where = rst_statement_part(parts, SYNTAX_WHERE);
    sqlite3_str *text;
    way way;
    int code;
    *out = NULL;
    if (name == NULL || parts->kind != KIND_UPDATE || where == NULL || parts->limit.start != NULL ||
        rst_update_has_from(parts) || (table->index_count == 0 && !table->without_rowid) ||
        rst_finds_one_row(table, parts))
        return SQLITE_OK;
    code = find_way(c, table, parts, where->first, in_body, set, beyond, &way);
    if (code != SQLITE_OK) return code;
    gathered |= rst_key_changes(table, set, beyond);
    /* A body stays when LIKE becomes another function, which may bring an index. */
    if (way == BY_KEY && !(in_body && gathered && rst_syntax_has(where, SYNTAX_LIKE))) return code;
    if (way == BY_INDEX && !gathered) return code;
    text = sqlite3_str_new(NULL);
    sqlite3_str_append(text, parts->whole.start, (int)(parts->set.end - parts->whole.start));
    sqlite3_str_appendf(text, " WHERE \"%w\" IN (SELECT \"%w\" FROM ", name, name);
    append_found(text, table, parts, where->first);
    /* A covering index could be walked for them, too. */
    sqlite3_str_appendall(text, table->index_count > 0 ? ") AND \"rootstock hint\"='" ROOTSTOCK_INDEX_HINT "'" : ")");
    return rst_str_give(text, SQLITE_OK, out);
}

int rst_key_order(rst_connection *c, const rst_table *table, bool in_body, bool gathered, uint64_t set,
                  const uint64_t *beyond, char **text) {
    rst_statement_parts parts;
    rst_syntax_tree tree;
    char *ordered = NULL;
    int code = rst_statement_parse(&tree, *text, *text + strlen(*text), &parts);
    if (code == SQLITE_OK) code = order(c, table, &parts, in_body, gathered, set, beyond, &ordered);
    rst_syntax_free(&tree);
    if (ordered == NULL) return code;
    sqlite3_free(*text);
    *text = ordered;
    return code;
}

int rst_key_order_body(rst_connection *c, const rst_table *table, const rst_statement_parts *parts, char **text) {
    uint64_t set = 0, *beyond = NULL;
    int code = rst_columns_set(table, parts->set, &set, &beyond);
    /* A DELETE is written as an UPDATE of no column. */
    const bool gathered = parts->conflict == SQLITE_REPLACE || table->foreign_key_count > 0 || table->is_parent ||
                          rst_has_triggers(c, table, TRIGGER_UPDATE) ||
                          (set == 0 && rst_has_triggers(c, table, TRIGGER_DELETE));
    if (code == SQLITE_OK) code = rst_key_order(c, table, true, gathered, set, beyond, text);
    sqlite3_free(beyond);
    return code;
}

/* Whether a change of these columns can meet a constraint that hangs on the other rows. */
static bool can_collide(const rst_table *table, uint64_t set, const uint64_t *beyond) {
    for (int i = 0; i < table->index_count; i++) {
        if (table->indexes[i].unique && index_changes(&table->indexes[i], set, beyond)) return true;
    }
    return rst_key_changes(table, set, beyond);
}

static bool may_collide(const rst_table *table, const rst_statement_parts *parts) {
    uint64_t set = 0, *beyond = NULL;
    const bool may = rst_columns_set(table, parts->set, &set, &beyond) != SQLITE_OK || can_collide(table, set, beyond);
    sqlite3_free(beyond);
    return may;
}

bool rst_update_is_judged(const rst_table *table, const rst_statement_parts *parts) {
    return parts->kind == KIND_UPDATE && parts->set.start != NULL && !rst_finds_one_row(table, parts) &&
           (parts->conflict != CONFLICT_DEFAULT || (parts->has_where && may_collide(table, parts)));
}

int rst_key_order_is(rst_connection *c, const rst_table *table, const rst_statement_parts *parts, bool gathered,
                     uint64_t set, bool *out) {
    const rst_syntax *where = rst_statement_part(parts, SYNTAX_WHERE);
    way way = BY_KEY;
    int code = SQLITE_OK;
    if (!gathered && where != NULL && !rst_update_has_from(parts) &&
        (parts->conflict == SQLITE_FAIL || can_collide(table, set, NULL)) && !rst_key_changes(table, set, NULL))
        code = find_way(c, table, parts, where->first, false, set, NULL, &way);
    *out = way != BY_INDEX;
    return code;
}
