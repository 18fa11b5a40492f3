/*
** compile.c - a statement's text becomes the code of a program (runner.c).
**
** Code (rst_code) is made once and kept by the statement's text. It has the inner statement that SQLite runs, the
** clauses that decide each row, the list of RETURNING, and what of the schema a run has to look at. SQLite's own word
** on the statement is asked first, on the schema database. Invariant: code is of one state of the schema, of temp's
** triggers and of PRAGMA foreign_keys, and is thrown away only while no program runs.
*/
#include "program/program.h"
#include "executor/change_steps.h"
#include "catalog/hosted.h"
#include "rewriter/changes.h"
#include "rewriter/expressions.h"
#include "executor/foreign.h"
#include "program/bulk_change.h"
#include "program/runner.h"
#include "program/temporary_triggers.h"
#include "rewriter/update_from.h"
#include "executor/trigger.h"

#include <string.h>

enum { CODES_KEPT = 128 };

static void code_free(rst_code *code) {
    sqlite3_free(code->text);
    sqlite3_free(code->table_name);
    sqlite3_free(code->set_beyond);
    sqlite3_free(code->inner);
    sqlite3_free(code->bulk);
    sqlite3_free(code->returning);
    sqlite3_free(code->names);
    rst_upsert_clauses_free(code->clauses, code->clause_count);
    rst_parameters_free(&code->parameters);
    rst_sequences_free(code);
    sqlite3_free(code);
}

void rst_programs_free(rst_connection *c) {
    rst_programs *programs = programs_of(c);
    rst_upserts_free(c);
    while (programs->codes != NULL) {
        rst_code *code = programs->codes;
        programs->codes = code->next;
        code_free(code);
    }
    programs->code_count = 0;
}

/* Whether SQLite sees at once that the statement writes one row and no more, but for those that it replaces
** (may_replace). */
static bool is_one_row(const rst_table *table, const rst_statement_parts *parts) {
    return rst_statement_gives_one_row(parts) && parts->returning.start == NULL &&
           !rst_trigger_any(table, TRIGGER_INSERT);
}

/* Whether a clause of ON CONFLICT stands for what the key's own declaration says; -1: the rowid, or the key WITHOUT
** ROWID. */
static bool has_clause(const rst_code *code, int key) {
    for (int i = 0; i < code->clause_count; i++) {
        if (!code->clauses[i].targeted || code->clauses[i].target == key) return true;
    }
    return false;
}

/* Whether OR REPLACE, or a key's own ON CONFLICT REPLACE, may remove rows first: then SQLite looks at foreign keys when
** all is done. */
static bool may_replace(const rst_table *table, const rst_statement_parts *parts, const rst_code *code) {
    for (int i = 0; i < table->index_count; i++) {
        const rst_index *index = &table->indexes[i];
        if (index->unique && rst_mode_of(parts->conflict, index->on_conflict) == SQLITE_REPLACE && !has_clause(code, i))
            return true;
    }
    return rst_mode_of(parts->conflict, table->rowid_on_conflict) == SQLITE_REPLACE && !has_clause(code, -1) &&
           (table->without_rowid || (table->rowid_column >= 0 && parts->source != SOURCE_DEFAULT &&
                                     rst_insert_names_rowid(table, parts->columns)));
}

/* Whether SQLite takes a DO UPDATE for several changes: it fires triggers, or sets a column of a foreign key to the
** table or from it. */
static int is_several(const rst_table *table, const rst_clause *clause, bool *several) {
    uint64_t set = 0, *beyond = NULL;
    int code = SQLITE_OK;
    for (int i = 0; i < clause->column_count && code == SQLITE_OK; i++) {
        int column = clause->columns[i] < 0 ? table->rowid_column : clause->columns[i];
        if (column >= 0) code = rst_columns_add(table, column, &set, &beyond);
    }
    *several = rst_update_fires(table, set) || rst_foreign_sets_any(table, set, beyond);
    sqlite3_free(beyond);
    return code;
}

static bool is_single_insert(const rst_table *table, const rst_statement_parts *parts) {
    bool immediate = false;
    for (int i = 0; i < table->foreign_key_count; i++) immediate |= !table->foreign_keys[i].deferred;
    return immediate && is_one_row(table, parts);
}

/* An INSERT whose end is that of its one row: what the row violates is refused with it (rst_update), switched on as the
** pragma may be by then. A key that fits nothing is told of before the row's values are made, which takes a program.
** Whether keys are enforced now, or deferred, does not matter: a text that needs nothing is remembered
** (rewrite_cache.c) beyond the pragmas' next change. */
static bool is_alone(rst_table *table, const rst_statement_parts *parts) {
    char *message = NULL;
    int code;
    if (parts->kind != KIND_INSERT || parts->conflict != CONFLICT_DEFAULT || table->triggers != NULL ||
        !is_one_row(table, parts))
        return false;
    code = rst_foreign_check_schema(table, UINT64_MAX, false, &message);
    sqlite3_free(message);
    return code == SQLITE_OK;
}

bool rst_needs_program(rst_connection *c, rst_table *table, const rst_statement_parts *parts) {
    const int event = rst_event_of(parts);
    if (parts->upsert.start != NULL || parts->returning.start != NULL) return true;
    if (rst_trigger_any(table, event)) return true;
    if (parts->kind != KIND_DELETE && rst_trigger_any(table, TRIGGER_DELETE)) return true; /* REPLACE */
    if (parts->kind == KIND_INSERT && table->has_conflict_clauses) return true;
    if (parts->kind == KIND_UPDATE && table->has_conflict_clauses) return true;
    if (rst_update_is_rowwise(c, table, parts)) return true;
    if (rst_update_is_judged(table, parts)) return true;
    if (rst_update_has_from(parts)) return true;
    if (table->autoincrement && parts->kind == KIND_INSERT &&
        (parts->source == SOURCE_SELECT || parts->conflict == SQLITE_FAIL))
        return true; /* see sequence_touch, and what becomes of the sequence */
    if (table->strict && parts->conflict != CONFLICT_DEFAULT) return true; /* a wrong type ABORTs, whatever the OR */
    /* Whether PRAGMA foreign_keys is on or not: a statement may be prepared before it is switched. */
    return (table->foreign_key_count > 0 || table->is_parent) && !is_alone(table, parts);
}

/* A trigger of temp may change temp's tables, and a module remembers more than its tables' rows. */
static bool leaves_store(const rst_connection *c) {
    const rst_catalog *loaded = &schema_of(c)->loaded;
    bool leaves = rewriter_of(c)->temporary_trigger_count > 0;
    for (int i = 0; i < loaded->count && !leaves; i++) leaves = rst_object_is_virtual(&loaded->objects[i]);
    return leaves;
}

/* Whether a foreign key to the table asks for more at a DELETE than that no child is left. */
static bool acts_on_delete(const rst_table *table) {
    for (const rst_child *child = rst_table_children(table); child != NULL; child = child->next)
        if (child->foreign->on_delete != ACTION_NONE) return true;
    return false;
}

static int compile_inner(rst_connection *c, rst_table *table, const rst_statement_parts *parts, rst_code *code,
                         char **message) {
    int result;
    if (parts->kind == KIND_INSERT) {
        result = rst_transform_insert(c, table, parts, parts->upsert.start != NULL ? "0" : NULL, true, &code->inner,
                                      message);
        if (result != SQLITE_OK) return result;
    } else {
        /* Only an UPDATE can pass over a row uncounted. So it finds the rows of a DELETE that may have to: a trigger
        ** or a cascade of an earlier row removed one, or RAISE(IGNORE) spares it. */
        bool updates = parts->kind == KIND_UPDATE || rst_trigger_any(table, TRIGGER_DELETE) ||
                       (table->is_parent && parts->returning.start != NULL) ||
                       (code->foreign_keys && acts_on_delete(table));
        sqlite3_str *out = sqlite3_str_new(NULL);
        sqlite3_str_append(out, parts->whole.start, (int)(parts->verb.start - parts->whole.start));
        sqlite3_str_appendall(out, updates ? "UPDATE OR IGNORE" : "DELETE FROM");
        sqlite3_str_appendf(out, " main.\"%w\"", table->declared_name);
        rst_statement_append_alias(out, parts);
        if (parts->alias.type == TOKEN_END && strcmp(table->name, table->declared_name) != 0)
            sqlite3_str_appendf(out, " AS \"%w\"", table->name);
        sqlite3_str_appendall(out, " ");
        /* Which rows; what becomes of them is clauses[0], or that they go. */
        if (updates && (code->rowwise || parts->kind == KIND_DELETE))
            sqlite3_str_appendf(out, "SET \"rootstock operation\"=%d ",
                                code->rowwise ? UPDATE_ROWWISE : UPDATE_DELETES);
        if (rst_update_has_from(parts)) {
            char *joined = NULL;
            result = rst_update_from(table, parts, &joined, message);
            if (joined != NULL) sqlite3_str_appendall(out, joined);
            sqlite3_free(joined);
            if (result != SQLITE_OK) {
                sqlite3_free(sqlite3_str_finish(out));
                return result;
            }
        } else {
            rst_append_hinted(table, parts, code->rowwise ? parts->set.end : parts->after_table.start,
                              parts->after_table.end, out);
        }
        if (parts->limit.start != NULL && !rst_update_has_from(parts))
            sqlite3_str_appendf(out, " %.*s", (int)(parts->limit.end - parts->limit.start), parts->limit.start);
        code->inner = sqlite3_str_finish(out);
    }
    result = rst_tell(c, rst_transform, &code->inner);
    /* Of a DELETE the rows are counted before they go, so that none may be passed over. */
    if (parts->kind == KIND_DELETE && code->foreign_keys && acts_on_delete(table)) return result;
    if (result == SQLITE_OK && rst_statement_clears(parts) && !table->internal &&
        !rst_trigger_any(table, TRIGGER_DELETE)) {
        result = rst_bulk_clear_text(c, table, parts, &code->bulk);
    }
    if (result == SQLITE_OK && code->bulk == NULL && parts->kind != KIND_INSERT && !code->rowwise)
        result = rst_bulk_text(c, table, parts, rst_update_is_gathered(table, parts, code), &code->bulk);
    return result;
}

/* The SELECT of a RETURNING list over a row image. with: the statement's WITH. */
static int returning_select(rst_connection *c, const rst_table *table, rst_span with, const char *list, int size,
                            char **out) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_append(text, with.start, (int)(with.end - with.start));
    /* Never the alias: RETURNING knows the table by its own name only. */
    sqlite3_str_appendf(text, "SELECT %.*s FROM main.\"%w\" AS \"%w\" WHERE \"rootstock row\"=1", size, list,
                        table->declared_name, table->name);
    *out = sqlite3_str_finish(text);
    return rst_tell(c, rst_transform, out);
}

static int compile_returning(rst_connection *c, rst_table *table, const rst_statement_parts *parts, rst_code *code,
                             char **message) {
    rst_span with = {parts->whole.start, parts->verb.start};
    const char *list = parts->returning.start;
    int size = (int)(parts->returning.end - list);
    char *once = NULL, *counted = NULL, *kept = NULL;
    sqlite3_stmt *statement = NULL;
    int result = returning_select(c, table, with, list, size, &code->returning);
    if (result == SQLITE_OK) result = rst_statement_get(c, code->returning, &statement);
    if (result != SQLITE_OK) {
        rst_set_message(message, "%s", sqlite3_errmsg(c->db));
        return result;
    }
    code->returning_columns = sqlite3_column_count(statement);
    rst_statement_done(c, statement);
    /* What does not look at the row is asked for once, and changes() is what it was before the triggers. */
    result = rst_init_subquery_common_tables(c, parts, parts->returning, 1, NULL, &kept);
    if (kept != NULL) with = (rst_span){kept, kept + strlen(kept)};
    once = rst_init_subquery_returning(table, with, list, size);
    if (result == SQLITE_OK && once == NULL) result = SQLITE_NOMEM;
    if (result != SQLITE_OK) {
        sqlite3_free(once);
        sqlite3_free(kept);
        return result;
    }
    list = once;
    size = (int)strlen(once);
    result = rst_changes_rewrite(c, list, list + size, true, &counted);
    if (counted != NULL) {
        list = counted;
        size = (int)strlen(counted);
    }
    if (result == SQLITE_OK && (kept != NULL || size != (int)(parts->returning.end - parts->returning.start) ||
                                memcmp(list, parts->returning.start, (size_t)size) != 0)) {
        code->names = code->returning;
        code->returning = NULL;
        result = returning_select(c, table, with, list, size, &code->returning);
    }
    sqlite3_free(once);
    sqlite3_free(counted);
    sqlite3_free(kept);
    return result;
}

/* Of a fault in the clauses of ON CONFLICT or in RETURNING and one in the INSERT's SELECT, SQLite tells the
** SELECT's. */
static void tell_source_fault(rst_connection *c, const rst_statement_parts *parts, char **message) {
    char *text;
    sqlite3_stmt *statement = NULL;
    if (parts->kind != KIND_INSERT || parts->source != SOURCE_SELECT) return;
    text = sqlite3_mprintf("%.*s %.*s", (int)(parts->verb.start - parts->whole.start), parts->whole.start,
                           (int)(parts->source_text.end - parts->source_text.start), parts->source_text.start);
    if (rst_tell(c, rst_transform, &text) == SQLITE_OK &&
        sqlite3_prepare_v2(c->db, text, -1, &statement, NULL) == SQLITE_ERROR) {
        rst_forget_message(message);
        rst_set_message(message, "%s", sqlite3_errmsg(c->db));
    }
    sqlite3_finalize(statement);
    sqlite3_free(text);
}

/* A fault that nothing has named, as an unknown column beside an unknown table: in the words of the schema database. */
static void tell_fault(rst_connection *c, const char *text, char **message) {
    sqlite3_stmt *statement = NULL;
    if (message == NULL || *message != NULL || text == NULL) return;
    if (sqlite3_prepare_v2(schema_of(c)->schema_db, text, -1, &statement, NULL) == SQLITE_ERROR)
        rst_set_message(message, "%s", sqlite3_errmsg(schema_of(c)->schema_db));
    sqlite3_finalize(statement);
}

/* The state of temp, whose tables, views and triggers may take the place of the store's. */
static int64_t temporary_version(rst_connection *c) {
    return rewriter_of(c)->temporary_names ? rst_pragma_number(c, "PRAGMA temp.schema_version", -1)
                                           : rst_temporary_version(c);
}

static bool still_holds(rst_connection *c, const rst_code *code) {
    return code->epoch == store_of(c)->epoch && code->schema_state == planner_of(c)->schema_state &&
           code->foreign_keys == rst_foreign_enabled(c) && code->temporary_version == temporary_version(c);
}

int rst_code_get(rst_connection *c, const char *text, bool carried, rst_code **out, char **message) {
    rst_programs *programs = programs_of(c);
    rst_statement_parts parts;
    rst_syntax_tree tree = {0};
    bool several;
    rst_table *table = NULL;
    rst_code *code, **link = &programs->codes;
    sqlite3_str *numbered;
    char *walked = NULL, *normal;
    int result;
    for (; *link != NULL; link = &(*link)->next) {
        code = *link;
        if (code->carried != carried || strcmp(code->text, text) != 0) continue;
        if (still_holds(c, code)) {
            *out = code;
            return SQLITE_OK;
        }
        if (executor_of(c)->programs_running == 0 && rewriter_of(c)->trigger_depth == 0) {
            *link = code->next;
            code_free(code);
            programs->code_count--;
        }
        break;
    }
    code = sqlite3_malloc64(sizeof *code);
    if (code == NULL) return SQLITE_NOMEM;
    memset(code, 0, sizeof *code);
    code->carried = carried;
    code->epoch = store_of(c)->epoch;
    code->schema_state = planner_of(c)->schema_state;
    code->temporary_version = temporary_version(c);
    code->foreign_keys = rst_foreign_enabled(c);
    code->text = sqlite3_mprintf("%s", text);
    numbered = sqlite3_str_new(NULL);
    result = rst_parameters_number(c, text, text + strlen(text), &code->parameters, numbered, message);
    normal = sqlite3_str_finish(numbered);
    if (result == SQLITE_RANGE) result = SQLITE_ERROR;
    if (code->text == NULL || (normal == NULL && result == SQLITE_OK)) result = SQLITE_NOMEM;
    if (result == SQLITE_OK) result = rst_statement_parse(&tree, normal, normal + strlen(normal), &parts);
    if (result == SQLITE_OK) {
        table = parts.kind < KIND_INSERT ? NULL : rst_target(c, &parts.schema, &parts.table);
        if (table == NULL) {
            rst_set_message(message, "no table of the store in: %s", text);
            result = SQLITE_ERROR;
        }
    }
    if (result == SQLITE_OK) {
        bool unknown;
        result = rst_statement_check_known(c, normal, normal + strlen(normal), &unknown, message);
        if (result == SQLITE_OK && unknown && parts.upsert.start != NULL) {
            result = rst_statement_check_clauses(c, table, &parts, message);
            if (result == SQLITE_ERROR) tell_source_fault(c, &parts, message);
        }
    }
    if (result == SQLITE_OK) {
        code->kind = parts.kind;
        code->conflict = parts.conflict;
        code->single_insert = is_single_insert(table, &parts);
        code->one_row = is_one_row(table, &parts);
        code->update_from = parts.kind == KIND_UPDATE && rst_update_has_from(&parts);
        code->leaves_store = leaves_store(c);
        if (parts.kind == KIND_UPDATE && parts.set.start != NULL)
            result = rst_columns_set(table, parts.set, &code->set_columns, &code->set_beyond);
        if (parts.kind == KIND_UPDATE && parts.set.start != NULL)
            code->set_rowid_names = rst_rowid_names_in(table, parts.set);
        if ((code->table_name = sqlite3_mprintf("%s", table->name)) == NULL) result = SQLITE_NOMEM;
    }
    if (result == SQLITE_OK &&
        (parts.returning.start != NULL || parts.upsert.start != NULL || rst_update_is_rowwise(c, table, &parts))) {
        rst_span readers = {parts.verb.start, parts.upsert.start != NULL      ? parts.upsert.start
                                              : parts.returning.start != NULL ? parts.returning.start
                                                                              : parts.whole.end};
        char *kept = NULL, *rest = NULL;
        result =
            rst_init_subquery_common_tables(c, &parts, readers, 2, parts.source == SOURCE_SELECT ? table : NULL, &kept);
        if (kept != NULL && (rest = sqlite3_mprintf("%s%s", kept, parts.verb.start)) == NULL) result = SQLITE_NOMEM;
        sqlite3_free(kept);
        if (rest != NULL) {
            rst_syntax_free(&tree);
            sqlite3_free(normal);
            normal = rest;
            if (rst_statement_parse(&tree, normal, normal + strlen(normal), &parts) != SQLITE_OK) result = SQLITE_NOMEM;
        }
    }
    if (result == SQLITE_OK) {
        result = rst_upsert_clauses_parse(c, table, &parts, &code->clauses, &code->clause_count, message);
        if (result == SQLITE_ERROR) tell_source_fault(c, &parts, message);
        if (result == SQLITE_OK && may_replace(table, &parts, code)) code->single_insert = code->one_row = false;
    }
    for (int i = 0; result == SQLITE_OK && i < code->clause_count; i++) {
        code->clauses[i].left_out = rst_clause_is_left_out(table, &parts, &code->clauses[i]);
        if (code->clauses[i].left_out) continue;
        if (!code->clauses[i].update) continue;
        result = is_several(table, &code->clauses[i], &several);
        if (several) code->single_insert = code->one_row = false;
    }
    if (result == SQLITE_OK && parts.kind == KIND_UPDATE && (carried || rst_update_is_rowwise(c, table, &parts))) {
        code->rowwise = true;
        code->clauses = sqlite3_malloc64(sizeof *code->clauses);
        if (code->clauses == NULL) {
            result = SQLITE_NOMEM;
        } else {
            memset(code->clauses, 0, sizeof *code->clauses);
            code->clause_count = 1;
            result = rst_set_parse(c, table, &parts, &code->clauses[0], message);
        }
    }
    for (int i = 0; result == SQLITE_OK && i < code->clause_count; i++) {
        /* What is wrong with an assignment is said when the statement is prepared, not at its first row. */
        sqlite3_stmt *statement = NULL;
        if (code->clauses[i].select == NULL || code->clauses[i].left_out) continue;
        result = rst_statement_get(c, code->clauses[i].select, &statement);
        if (result == SQLITE_OK)
            rst_statement_done(c, statement);
        else
            rst_set_message(message, "%s", sqlite3_errmsg(c->db));
    }
    if (result == SQLITE_OK && table->triggers != NULL) {
        const int event = rst_event_of(&parts);
        result = rst_triggers_compile(table, event, parts.kind == KIND_UPDATE ? &parts.set : NULL, message);
        for (int i = 0; i < code->clause_count && result == SQLITE_OK && parts.upsert.start != NULL; i++) {
            if (code->clauses[i].update) result = rst_triggers_compile(table, TRIGGER_UPDATE, &parts.upsert, message);
        }
    }
    if (result == SQLITE_OK) result = rst_sequences_find(c, table, normal, code);
    if (result == SQLITE_OK) result = rst_update_walk(c, table, code, &parts, normal, &walked);
    if (walked != NULL && *walked != '\0')
        parts.index = (rst_token){TOKEN_WORD, walked, strlen(walked)};
    else
        parts.not_indexed |= walked != NULL;
    if (result == SQLITE_OK) result = compile_inner(c, table, &parts, code, message);
    sqlite3_free(walked);
    if (result == SQLITE_OK && code->inner != NULL) result = rst_tell(c, rst_expressions_tell, &code->inner);
    if (result == SQLITE_OK && parts.kind != KIND_INSERT && code->inner != NULL && code->bulk == NULL) {
        const bool gathered = parts.kind == KIND_DELETE || rst_update_is_gathered(table, &parts, code);
        result = rst_key_order(c, table, false, gathered, code->set_columns, code->set_beyond, &code->inner);
    }
    if (result == SQLITE_OK && parts.returning.start != NULL) {
        result = compile_returning(c, table, &parts, code, message);
        if (result == SQLITE_ERROR) tell_source_fault(c, &parts, message);
    }
    if (result == SQLITE_ERROR) tell_fault(c, normal, message);
    rst_syntax_free(&tree);
    sqlite3_free(normal);
    if (result != SQLITE_OK) {
        code_free(code);
        return result;
    }
    if (programs->code_count >= CODES_KEPT && executor_of(c)->programs_running == 0 &&
        rewriter_of(c)->trigger_depth == 0) {
        while (programs->codes != NULL) {
            rst_code *old = programs->codes;
            programs->codes = old->next;
            code_free(old);
        }
        programs->code_count = 0;
    }
    code->next = programs->codes;
    programs->codes = code;
    programs->code_count++;
    *out = code;
    return SQLITE_OK;
}
