/*
** runner.c - programs: statements that the front door runs itself, through one statement of SQLite's.
**
** rootstock_run(text, arguments ...) and the table-valued rootstock_returning(text, arguments ...) compile the text once
** (rst_code), run its inner statement as OR IGNORE, and let update.c decide each row's fate by the statement's own
** conflict mode: a row that is refused and skipped is then not counted by changes(), as on a native table. RETURNING
** lists are evaluated over an image of each changed row, at once. Invariant: when a program fails, the statement leaves
** nothing behind, save what OR FAIL keeps.
*/
#include "expressions.h"
#include "runner.h"

#include "foreign.h"
#include "pack.h"
#include "trigger.h"

#include <string.h>

enum { CODES_KEPT = 128, RETURNING_COLUMNS = 256, RETURNING_ARGUMENTS = 13 };

static void code_free(rst_code *code) {
    sqlite3_free(code->text);
    sqlite3_free(code->table_name);
    sqlite3_free(code->inner);
    sqlite3_free(code->returning);
    rst_clauses_free(code->clauses, code->clause_count);
    rst_parameters_free(&code->parameters);
    rst_sequences_free(code);
    sqlite3_free(code);
}

void rst_programs_free(rst_connection *c) {
    rst_upserts_free(c);
    while (c->codes != NULL) {
        rst_code *code = c->codes;
        c->codes = code->next;
        code_free(code);
    }
    c->code_count = 0;
}

/* Native SQLite evaluates SET row by row, after the rows before it were changed; a virtual table gets all new values made first.
** That differs only where SET looks at other rows, or something else changes rows on the way. */
static bool is_rowwise(rst_connection *c, const rst_table *table, const rst_statement_parts *parts) {
    const char *p = parts->set.start;
    rst_token token;
    if (parts->kind != KIND_UPDATE || p == NULL) return false;
    token = rst_token_next(&p, parts->whole.end);
    for (p = parts->set.end; p < parts->whole.end;) {
        token = rst_token_next(&p, parts->whole.end);
        if (rst_token_is(&token, "FROM")) return false; /* UPDATE FROM is collected first natively too */
        break;
    }
    if (rst_trigger_any(table, TRIGGER_UPDATE)) return true;
    /* A row that REPLACE removed before its turn is passed over, uncounted; one that took its place has its turn instead. */
    if (parts->conflict == SQLITE_REPLACE || table->has_conflict_clauses) return true;
    for (p = parts->set.start; p < parts->set.end;) {
        token = rst_token_next(&p, parts->set.end);
        if (token.type == TOKEN_END) break;
        if (rst_token_mark(&token, "(")) {
            const char *q = p, *close = p;
            rst_token first = rst_token_next(&q, parts->set.end);
            if (!rst_token_is(&first, "SELECT") && !rst_token_is(&first, "WITH")) continue;
            if (!rst_token_skip_parentheses(&close, parts->set.end)) return true;
            if (!rst_subquery_stands_alone(c, p, (int)(close - 1 - p))) return true;
            p = close;
        }
    }
    return false;
}

/* The columns that SET names: an UPDATE FROM hands over every column as if it were set. */
static uint64_t columns_set(const rst_table *table, rst_span set) {
    const char *p = set.start;
    bool name = true;
    uint64_t bits = 0;
    int depth = 0;
    while (p < set.end) {
        rst_token token = rst_token_next(&p, set.end);
        if (token.type == TOKEN_END) break;
        if (rst_token_mark(&token, "("))
            depth++;
        else if (rst_token_mark(&token, ")"))
            depth--;
        else if (rst_token_mark(&token, "=") && depth == 0)
            name = false;
        else if (rst_token_mark(&token, ",") && depth == 0)
            name = true;
        else if (name) {
            for (int i = 0; i < table->column_count; i++) {
                if (rst_token_same_name(&token, table->columns[i].name)) bits |= (uint64_t)1 << (i < 63 ? i : 63);
            }
        }
    }
    return bits;
}

/* Whether an INSERT into these columns gives the rowid; none named: all. */
static bool names_rowid(const rst_table *table, rst_span columns) {
    const char *p = columns.start;
    if (p == NULL) return true;
    for (;;) {
        rst_token token = rst_token_next(&p, columns.end);
        if (token.type == TOKEN_END) return false;
        if (rst_token_same_name(&token, table->columns[table->rowid_column].name)) return true;
    }
}

/* Whether SQLite sees at once that the statement writes one row and no more. */
static bool is_one_row(const rst_table *table, const rst_statement_parts *parts) {
    const char *p = parts->source_text.start;
    rst_token token;
    bool replaces = parts->conflict == SQLITE_REPLACE &&
                    (table->without_rowid || (table->rowid_column >= 0 && names_rowid(table, parts->columns)));
    for (int i = 0; i < table->index_count && parts->conflict == SQLITE_REPLACE; i++)
        replaces |= table->indexes[i].unique;
    if (parts->kind != KIND_INSERT || replaces || parts->returning.start != NULL ||
        rst_trigger_any(table, TRIGGER_INSERT))
        return false;
    if (parts->source == SOURCE_DEFAULT) return true;
    if (parts->source != SOURCE_VALUES) return false;
    token = rst_token_next(&p, parts->source_text.end); /* VALUES */
    token = rst_token_next(&p, parts->source_text.end);
    if (!rst_token_mark(&token, "(") || !rst_token_skip_parentheses(&p, parts->source_text.end)) return false;
    token = rst_token_next(&p, parts->source_text.end);
    return !rst_token_mark(&token, ",");
}

static bool is_single_insert(const rst_table *table, const rst_statement_parts *parts) {
    bool immediate = false;
    for (int i = 0; i < table->foreign_key_count; i++) immediate |= !table->foreign_keys[i].deferred;
    return immediate && is_one_row(table, parts);
}

bool rst_needs_program(rst_connection *c, const rst_table *table, const rst_statement_parts *parts) {
    int event = parts->kind == KIND_INSERT   ? TRIGGER_INSERT
                : parts->kind == KIND_UPDATE ? TRIGGER_UPDATE
                                             : TRIGGER_DELETE;
    if (parts->upsert.start != NULL || parts->returning.start != NULL) return true;
    if (rst_trigger_any(table, event)) return true;
    if (parts->kind != KIND_DELETE && rst_trigger_any(table, TRIGGER_DELETE)) return true; /* REPLACE */
    if (parts->kind == KIND_INSERT && table->has_conflict_clauses) return true;
    if (parts->kind == KIND_UPDATE && table->has_conflict_clauses) return true;
    if (is_rowwise(c, table, parts)) return true;
    if (table->autoincrement && parts->kind == KIND_INSERT && parts->source == SOURCE_SELECT)
        return true;                                                       /* see sequence_touch */
    if (table->strict && parts->conflict != CONFLICT_DEFAULT) return true; /* a wrong type ABORTs, whatever the OR */
    /* Whether PRAGMA foreign_keys is on or not: a statement may be prepared before it is switched. */
    return table->foreign_key_count > 0 || table->is_parent;
}

/* SQLite's own word on the statement, from the mirror, where it has one about the statement itself. */
int rst_ask_mirror(rst_connection *c, const char *text, char **message) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(c->mirror, text, -1, &statement, NULL);
    const char *words;
    sqlite3_finalize(statement);
    if (code == SQLITE_OK) return SQLITE_OK;
    words = sqlite3_errmsg(c->mirror);
    if (strncmp(words, "no such table", 13) == 0 || strncmp(words, "no such function", 16) == 0 ||
        strncmp(words, "unknown function", 16) == 0 || strncmp(words, "no such collation", 17) == 0 ||
        strncmp(words, "unknown database", 16) == 0 || strncmp(words, "no such module", 14) == 0 ||
        strncmp(words, "wrong number of arguments", 25) == 0) {
        return SQLITE_OK; /* the mirror does not know this connection's own things */
    }
    rst_set_message(message, "%s", words);
    return sqlite3_extended_errcode(c->mirror);
}

/* The target of an UPDATE or DELETE takes no index hint here. */
static const char *skip_hint(const char *p, const char *end) {
    const char *q = p;
    rst_token first = rst_token_next(&q, end), second = rst_token_next(&q, end);
    if (rst_token_is(&first, "NOT") && rst_token_is(&second, "INDEXED")) return q;
    if (rst_token_is(&first, "INDEXED") && rst_token_is(&second, "BY")) {
        (void)rst_token_next(&q, end);
        return q;
    }
    return p;
}

static int compile_inner(rst_connection *c, rst_table *table, const rst_statement_parts *parts, rst_code *code,
                         char **message) {
    char *text = NULL, *named = NULL;
    int result;
    if (parts->kind == KIND_INSERT) {
        result = rst_transform_insert(c, table, parts, parts->upsert.start != NULL ? "0" : NULL, true, &text, message);
        if (result != SQLITE_OK) return result;
    } else {
        /* Only an UPDATE can pass over a row uncounted: it finds the rows of a DELETE that may have to, because a trigger or a
        ** cascade of an earlier row removed one, or RAISE(IGNORE) spares it. update.c removes what it is given. */
        bool updates = parts->kind == KIND_UPDATE || rst_trigger_any(table, TRIGGER_DELETE) || table->is_parent;
        sqlite3_str *out = sqlite3_str_new(NULL);
        sqlite3_str_append(out, parts->whole.start, (int)(parts->verb.start - parts->whole.start));
        sqlite3_str_appendall(out, updates ? "UPDATE OR IGNORE" : "DELETE FROM");
        sqlite3_str_appendf(out, " main.\"%w\"", table->declared_name);
        if (parts->alias.type != TOKEN_END) {
            sqlite3_str_appendall(out, " AS ");
            sqlite3_str_append(out, parts->alias.text, (int)parts->alias.size);
        } else if (strcmp(table->name, table->declared_name) != 0) {
            sqlite3_str_appendf(out, " AS \"%w\"", table->name);
        }
        sqlite3_str_appendall(out, " ");
        if (updates && (code->rowwise || parts->kind == KIND_DELETE)) {
            /* Which rows; what becomes of them is clauses[0], or that they go. */
            int column = 0;
            while (column < table->column_count - 1 && table->columns[column].generated) column++;
            sqlite3_str_appendf(out, "SET \"%w\"=\"%w\" ", table->columns[column].name, table->columns[column].name);
            if (code->rowwise) sqlite3_str_append(out, parts->set.end, (int)(parts->after_table.end - parts->set.end));
        }
        if (!code->rowwise) {
            const char *from = skip_hint(parts->after_table.start, parts->after_table.end);
            sqlite3_str_append(out, from, (int)(parts->after_table.end - from));
        }
        text = sqlite3_str_finish(out);
        if (text == NULL) return SQLITE_NOMEM;
    }
    result = rst_transform_names(c, text, text + strlen(text), &named, message);
    if (result == SQLITE_OK && named != NULL) {
        sqlite3_free(text);
        text = named;
    }
    code->inner = text;
    return result;
}

static int compile_returning(rst_connection *c, rst_table *table, const rst_statement_parts *parts, rst_code *code,
                             char **message) {
    sqlite3_str *out = sqlite3_str_new(NULL);
    sqlite3_stmt *statement = NULL;
    char *text, *named = NULL;
    int result;
    sqlite3_str_append(out, parts->whole.start, (int)(parts->verb.start - parts->whole.start)); /* its WITH */
    sqlite3_str_appendf(out, "SELECT %.*s FROM main.\"%w\" AS ", (int)(parts->returning.end - parts->returning.start),
                        parts->returning.start, table->declared_name);
    if (parts->alias.type != TOKEN_END)
        sqlite3_str_append(out, parts->alias.text, (int)parts->alias.size);
    else
        sqlite3_str_appendf(out, "\"%w\"", table->name);
    sqlite3_str_appendall(out, " WHERE \"rootstock row\"=1");
    text = sqlite3_str_finish(out);
    if (text == NULL) return SQLITE_NOMEM;
    result = rst_transform_names(c, text, text + strlen(text), &named, message);
    if (named != NULL) {
        sqlite3_free(text);
        text = named;
    }
    code->returning = text;
    if (result == SQLITE_OK) result = rst_statement_get(c, text, &statement);
    if (result != SQLITE_OK) {
        rst_set_message(message, "%s", sqlite3_errmsg(c->db));
        return result;
    }
    code->returning_columns = sqlite3_column_count(statement);
    rst_statement_done(c, statement);
    return SQLITE_OK;
}

int rst_code_get(rst_connection *c, const char *text, rst_code **out, char **message) {
    rst_statement_parts parts;
    rst_table *table = NULL;
    rst_code *code, **link = &c->codes;
    sqlite3_str *numbered;
    char *normal;
    int result;
    for (; *link != NULL; link = &(*link)->next) {
        code = *link;
        if (strcmp(code->text, text) != 0) continue;
        if (code->epoch == c->epoch) {
            *out = code;
            return SQLITE_OK;
        }
        if (c->program == NULL && c->trigger_depth == 0) {
            *link = code->next;
            code_free(code);
            c->code_count--;
        }
        break;
    }
    code = sqlite3_malloc64(sizeof *code);
    if (code == NULL) return SQLITE_NOMEM;
    memset(code, 0, sizeof *code);
    code->epoch = c->epoch;
    code->text = sqlite3_mprintf("%s", text);
    numbered = sqlite3_str_new(NULL);
    result = rst_parameters_number(c, text, text + strlen(text), &code->parameters, numbered, message);
    normal = sqlite3_str_finish(numbered);
    if (result == SQLITE_RANGE) result = SQLITE_ERROR;
    if (code->text == NULL || (normal == NULL && result == SQLITE_OK)) result = SQLITE_NOMEM;
    if (result == SQLITE_OK) {
        rst_statement_parse(normal, normal + strlen(normal), &parts);
        table =
            parts.kind == KIND_OTHER || parts.kind == KIND_SELECT ? NULL : rst_target(c, &parts.schema, &parts.table);
        if (table == NULL) {
            rst_set_message(message, "no table of the store in: %s", text);
            result = SQLITE_ERROR;
        }
    }
    if (result == SQLITE_OK) result = rst_ask_mirror(c, normal, message);
    if (result == SQLITE_OK) {
        code->kind = parts.kind;
        code->conflict = parts.conflict;
        code->single_insert = is_single_insert(table, &parts);
        code->one_row = is_one_row(table, &parts);
        if (parts.kind == KIND_UPDATE && parts.set.start != NULL) code->set_columns = columns_set(table, parts.set);
        code->table_name = sqlite3_mprintf("%s", table->name);
        if (code->table_name == NULL) result = SQLITE_NOMEM;
    }
    if (result == SQLITE_OK) {
        result = rst_clauses_parse(c, table, parts.upsert, &parts.alias, &code->clauses, &code->clause_count, message);
    }
    for (int i = 0; result == SQLITE_OK && i < code->clause_count; i++) {
        /* An automatic rowid meets no row: SQLite leaves such a clause out. */
        if (!table->without_rowid && code->clauses[i].target_count == 1 && code->clauses[i].targets[0] == -1 &&
            table->rowid_column >= 0 && !names_rowid(table, parts.columns)) {
            code->clauses[i].left_out = true;
            continue;
        }
        if (code->clauses[i].update && rst_trigger_any(table, TRIGGER_UPDATE)) code->single_insert = false;
        /* A DO UPDATE that itself sets columns of a foreign key makes the statement one of several changes. */
        for (int k = 0; k < code->clauses[i].column_count; k++) {
            for (int f = 0; f < table->foreign_key_count; f++) {
                for (int n = 0; n < table->foreign_keys[f].column_count; n++) {
                    if (table->foreign_keys[f].child_columns[n] == code->clauses[i].columns[k])
                        code->single_insert = false;
                }
            }
        }
    }
    if (result == SQLITE_OK && is_rowwise(c, table, &parts)) {
        rst_span with = {parts.whole.start, parts.verb.start};
        code->rowwise = true;
        code->clauses = sqlite3_malloc64(sizeof *code->clauses);
        if (code->clauses == NULL) {
            result = SQLITE_NOMEM;
        } else {
            memset(code->clauses, 0, sizeof *code->clauses);
            code->clause_count = 1;
            result = rst_set_parse(c, table, parts.set, with, &parts.alias, &code->clauses[0], message);
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
        int event = parts.kind == KIND_INSERT   ? TRIGGER_INSERT
                    : parts.kind == KIND_UPDATE ? TRIGGER_UPDATE
                                                : TRIGGER_DELETE;
        result = rst_triggers_compile(table, event, parts.kind == KIND_UPDATE ? &parts.set : NULL, message);
        for (int i = 0; i < code->clause_count && result == SQLITE_OK && parts.upsert.start != NULL; i++) {
            if (code->clauses[i].update) result = rst_triggers_compile(table, TRIGGER_UPDATE, &parts.upsert, message);
        }
    }
    if (result == SQLITE_OK) result = rst_sequences_find(c, table, normal, code);
    if (result == SQLITE_OK) result = compile_inner(c, table, &parts, code, message);
    if (result == SQLITE_OK && code->inner != NULL) result = rst_expressions_add_to(c, &code->inner);
    if (result == SQLITE_OK && parts.returning.start != NULL)
        result = compile_returning(c, table, &parts, code, message);
    sqlite3_free(normal);
    if (result != SQLITE_OK) {
        code_free(code);
        return result;
    }
    if (c->code_count >= CODES_KEPT && c->program == NULL && c->trigger_depth == 0) {
        while (c->codes != NULL) {
            rst_code *old = c->codes;
            c->codes = old->next;
            code_free(old);
        }
        c->code_count = 0;
    }
    code->next = c->codes;
    c->codes = code;
    c->code_count++;
    *out = code;
    return SQLITE_OK;
}

void rst_program_clear(rst_program *program) {
    while (program->first != NULL) {
        rst_result_row *row = program->first;
        program->first = row->next;
        for (int i = 0; program->code != NULL && i < program->code->returning_columns; i++)
            sqlite3_value_free(row->values[i]);
        sqlite3_free(row);
    }
    program->last = NULL;
    sqlite3_free(program->message);
    program->message = NULL;
}

static void bind_arguments(const rst_parameters *parameters, sqlite3_value **values, int count,
                           sqlite3_stmt *statement) {
    int used = 0, highest = sqlite3_bind_parameter_count(statement);
    for (int n = 1; n <= parameters->highest && n <= highest; n++) {
        if (parameters->names[n] == NULL) continue;
        if (used < count) sqlite3_bind_value(statement, n, values[used]);
        used++;
    }
}

/* Bits of the columns that the clause assigns. */
static uint64_t clause_columns(const rst_table *table, const rst_clause *clause) {
    uint64_t bits = 0;
    for (int i = 0; i < clause->column_count; i++) {
        int column = clause->columns[i] < 0 ? table->rowid_column : clause->columns[i];
        if (column >= 0) bits |= (uint64_t)1 << (column < 63 ? column : 63);
    }
    return bits;
}

/* A refused statement has been counted already: one that changes nothing takes changes() back to 0. */
static void uncount(rst_connection *c, const rst_code *code) {
    const rst_table *table = rst_table_find(c, code->table_name);
    if (table != NULL) (void)rst_execute(c, NULL, "DELETE FROM main.\"%w\" WHERE 0", table->declared_name);
}

int rst_program_run(rst_connection *c, const char *text, int count, sqlite3_value **values, rst_program *program,
                    char **message) {
    sqlite3_stmt *statement = NULL;
    bool savepoint = false, touches, outermost = sqlite3_get_autocommit(c->db) != 0;
    int released;
    int64_t deferred = 0;
    sqlite3_int64 last;
    int code = rst_check_usable(c, message);
    memset(program, 0, sizeof *program);
    if (code == SQLITE_OK) code = rst_code_get(c, text, &program->code, message);
    if (code != SQLITE_OK) return code;
    program->table = rst_table_find(c, program->code->table_name);
    if (program->table == NULL) return SQLITE_SCHEMA;
    program->values = values;
    program->value_count = count;
    if ((program->table->foreign_key_count > 0 || program->table->is_parent) && rst_foreign_enabled(c)) {
        code = rst_foreign_check_schema(program->table,
                                        program->code->kind == KIND_UPDATE ? program->code->set_columns : UINT64_MAX,
                                        program->code->kind == KIND_INSERT && program->code->one_row, message);
        /* Each DO UPDATE is compiled as an UPDATE of its columns, whether a row ever comes to it or not. */
        for (int i = 0; i < program->code->clause_count && program->code->kind == KIND_INSERT && code == SQLITE_OK;
             i++) {
            const rst_clause *clause = &program->code->clauses[i];
            if (clause->update && !clause->left_out)
                code = rst_foreign_check_schema(program->table, clause_columns(program->table, clause), false, message);
        }
        if (code != SQLITE_OK) return code;
    }
    touches =
        program->code->sequence_count > 0 || (program->table->autoincrement && program->code->kind == KIND_INSERT);
    if (!sqlite3_get_autocommit(c->db) || touches) {
        code = rst_execute(c, message, "SAVEPOINT \"rootstock run\"");
        if (code != SQLITE_OK) return code;
        savepoint = true;
    }
    deferred = c->deferred_violations;
    c->immediate_violations = 0;
    last = sqlite3_last_insert_rowid(c->db);
    code = rst_statement_get(c, program->code->inner, &statement);
    if (code != SQLITE_OK) {
        rst_set_message(message, "%s", sqlite3_errmsg(c->db));
        code = sqlite3_extended_errcode(c->db);
    } else {
        bind_arguments(&program->code->parameters, values, count, statement);
        program->table->references++;
        program->outer = c->program;
        c->program = program;
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        }
        c->program = program->outer;
        rst_once_free(&program->once);
        code = sqlite3_reset(statement);
        if (code != SQLITE_OK) {
            if (program->error != 0 && !program->stopped) { /* a stop fails nothing by itself: what failed came later */
                code = program->error;
                rst_set_message(message, "%s", program->message != NULL ? program->message : sqlite3_errstr(code));
            } else {
                code = sqlite3_extended_errcode(c->db);
                rst_set_message(message, "%s", sqlite3_errmsg(c->db));
            }
        }
        rst_statement_done(c, statement);
        /* An INSERT moves it row by row, even if the statement fails in the end. */
        if (program->code->kind != KIND_INSERT) sqlite3_set_last_insert_rowid(c->db, last);
        if (code == SQLITE_OK && program->code->sequence_count > 0 && c->writer == NULL)
            code = rst_write_begin(c, message);
        for (int i = 0; i < program->code->sequence_count && code == SQLITE_OK; i++) {
            rst_table *named = rst_table_find(c, program->code->sequences[i]);
            if (named != NULL && named->autoincrement) code = rst_sequence_touch(named);
        }
        if (code == SQLITE_OK && touches && c->writer != NULL && program->table->autoincrement &&
            program->code->kind == KIND_INSERT)
            code = rst_sequence_touch(program->table);
        rst_table_release(program->table);
        program->table = NULL;
        if (c->trigger_depth == 0 && c->program == NULL) rst_upserts_free(c);
    }
    if (code == SQLITE_OK && c->immediate_violations > 0 && savepoint) {
        uncount(c, program->code);
        rst_set_message(message, "FOREIGN KEY constraint failed");
        code = SQLITE_CONSTRAINT_FOREIGNKEY;
    }
    code = rst_call_code(code);
    if (code == SQLITE_CONSTRAINT_FOREIGNKEY && program->code->single_insert)
        sqlite3_set_last_insert_rowid(c->db, last);
    if (program->rolls_back && code != SQLITE_OK) {
        if (!sqlite3_get_autocommit(c->db)) (void)rst_execute(c, NULL, "ROLLBACK");
        return code;
    }
    if (savepoint && !sqlite3_get_autocommit(c->db)) {
        if (code != SQLITE_OK) {
            (void)rst_execute(c, NULL, "ROLLBACK TO \"rootstock run\"");
            c->deferred_violations = deferred;
        }
        released = rst_execute(c, message, "RELEASE \"rootstock run\"");
        if (released != SQLITE_OK && code == SQLITE_OK) {
            /* It was the transaction's end, which a deferred foreign key refused: a statement of its own leaves nothing. */
            code = released;
            if (outermost) {
                if (c->deferred_violations > 0) {
                    code = SQLITE_CONSTRAINT_FOREIGNKEY;
                    rst_set_message(message, "FOREIGN KEY constraint failed");
                }
                if (!sqlite3_get_autocommit(c->db)) (void)rst_execute(c, NULL, "ROLLBACK");
                uncount(c, program->code);
            }
        }
    }
    c->immediate_violations = 0;
    if (code == SQLITE_OK && program->stopped) {
        code = program->error;
        rst_set_message(message, "%s", program->message != NULL ? program->message : sqlite3_errstr(code));
    }
    return code;
}

/* ---- what update.c asks ---- */

int rst_program_conflict(rst_table *table, int told) {
    const rst_program *program = table->connection->program;
    if (program == NULL || program->table != table) {
        /* Inside a trigger the outer statement's OR overrides the inner one's. */
        return table->connection->override_conflict != 0 ? table->connection->override_conflict : told;
    }
    return program->code->conflict;
}

uint64_t rst_program_set_columns(const rst_table *table) {
    const rst_program *program = table->connection->program;
    return program != NULL && program->table == table && program->code->set_columns != 0 ? program->code->set_columns
                                                                                         : UINT64_MAX;
}

bool rst_program_rowwise(const rst_table *table) {
    const rst_program *program = table->connection->program;
    return program != NULL && program->table == table && program->code->rowwise;
}

int rst_program_update_row(rst_table *table, rst_hand *old, char **message) {
    rst_program *program = table->connection->program;
    return rst_clause_update(table->connection, table, &program->code->clauses[0], old, program->code->conflict,
                             &program->code->parameters, program->values, program->value_count, message);
}

bool rst_program_deletes(const rst_table *table) {
    const rst_program *program = table->connection->program;
    return program != NULL && program->table == table && program->code->kind == KIND_DELETE;
}

bool rst_program_stopped(const rst_table *table) {
    const rst_program *program = table->connection->program;
    return program != NULL && program->table == table && program->stopped;
}

int rst_program_result(rst_table *table, int told, int conflict, int code, char **message) {
    rst_connection *c = table->connection;
    rst_program *program = c->program;
    int mode;
    if (program == NULL || program->table != table) {
        if (code == SQLITE_DONE) return told == SQLITE_IGNORE ? SQLITE_CONSTRAINT : SQLITE_OK;
        if ((code & 0xff) == SQLITE_CONSTRAINT && c->override_conflict != 0) {
            /* The inner statement's own OR IGNORE must not swallow it. */
            c->nested_error = code;
            sqlite3_free(c->nested_message);
            c->nested_message = *message == NULL ? NULL : sqlite3_mprintf("%s", *message);
            return SQLITE_ERROR;
        }
        return code;
    }
    if (code == SQLITE_DONE && told != SQLITE_IGNORE)
        return SQLITE_OK;                              /* a DELETE of rows that nothing removes early */
    if (code == SQLITE_DONE) return SQLITE_CONSTRAINT; /* OR IGNORE passes over it, uncounted */
    if (code == SQLITE_OK) return SQLITE_OK;
    if (program->error == 0) {
        program->error = code;
        program->message = *message == NULL ? NULL : sqlite3_mprintf("%s", *message);
    }
    mode = c->last_mode != 0 ? c->last_mode : conflict;
    if ((code & 0xff) != SQLITE_CONSTRAINT) return code;
    if (code == SQLITE_CONSTRAINT_TRIGGER) mode = c->raised;
    if (code == SQLITE_CONSTRAINT_DATATYPE) mode = SQLITE_ABORT;
    if (mode == SQLITE_FAIL) {
        program->stopped = true;
        return c->row_written ? SQLITE_OK
                              : SQLITE_CONSTRAINT; /* what an AFTER trigger refuses to go on from is counted */
    }
    if (mode == SQLITE_ROLLBACK) program->rolls_back = true;
    return SQLITE_ERROR; /* not a constraint's code, which OR IGNORE would swallow */
}

/* A row of the program's table changed: evaluate RETURNING on it. */
int rst_program_changed(rst_table *table, const rst_hand *old, const rst_hand *row, char **message) {
    rst_connection *c = table->connection;
    rst_program *program = c->program;
    const rst_hand *shown = row != NULL ? row : old;
    rst_row_image image = {shown->values, shown->rowid}, *saved = table->images[0];
    rst_result_row *result;
    sqlite3_stmt *statement = NULL;
    int code, columns;
    if (program->table != table || program->code->returning == NULL) return SQLITE_OK;
    columns = program->code->returning_columns;
    code = rst_statement_get(c, program->code->returning, &statement);
    if (code != SQLITE_OK) {
        rst_set_message(message, "%s", sqlite3_errmsg(c->db));
        return code;
    }
    bind_arguments(&program->code->parameters, program->values, program->value_count, statement);
    table->images[0] = &image;
    if (old == NULL && !table->without_rowid) sqlite3_set_last_insert_rowid(c->db, row->rowid);
    c->program = NULL;
    code = sqlite3_step(statement);
    c->program = program;
    if (code == SQLITE_ROW) {
        result = sqlite3_malloc64(sizeof *result + (sqlite3_uint64)columns * sizeof(sqlite3_value *));
        code = result == NULL ? SQLITE_NOMEM : SQLITE_OK;
        if (result != NULL) {
            result->next = NULL;
            for (int i = 0; i < columns; i++) {
                result->values[i] = sqlite3_value_dup(sqlite3_column_value(statement, i));
                if (result->values[i] == NULL) code = SQLITE_NOMEM;
            }
            if (program->last == NULL)
                program->first = result;
            else
                program->last->next = result;
            program->last = result;
        }
    } else {
        code = sqlite3_reset(statement);
        rst_set_message(message, "%s", sqlite3_errmsg(c->db));
        code = code == SQLITE_OK ? SQLITE_INTERNAL : sqlite3_extended_errcode(c->db);
    }
    table->images[0] = saved;
    rst_statement_done(c, statement);
    return code;
}

/* ---- SQL ---- */

/* rootstock_commit(sql): COMMIT, END or RELEASE, unless a deferred foreign key is violated. */
static void commit_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    const char *text = (const char *)sqlite3_value_text(values[0]);
    char *message = NULL;
    int code;
    UNUSED(count);
    if (text == NULL) return;
    c->committing = true;
    c->commit_refused = false;
    code = rst_execute(c, &message, "%s", text);
    c->committing = false;
    if (code != SQLITE_OK && c->commit_refused) {
        code = SQLITE_CONSTRAINT_FOREIGNKEY;
        rst_set_message(&message, "FOREIGN KEY constraint failed");
    }
    if (code != SQLITE_OK)
        rst_function_fail(context, c, code, message);
    else {
        sqlite3_result_int(context, 0);
        sqlite3_free(message);
    }
}

static void run_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    const char *text = (const char *)sqlite3_value_text(values[0]);
    char *message = NULL;
    sqlite3_value **flat = NULL;
    rst_program program;
    int code, total = 0;
    if (text == NULL || c->shared == NULL) {
        rst_function_fail(context, c, SQLITE_MISUSE, sqlite3_mprintf("no store is open on this connection"));
        return;
    }
    memset(&program, 0, sizeof program);
    code = rst_pack_open(count - 1, values + 1, &flat, &total);
    if (code == SQLITE_OK) code = rst_program_run(c, text, total, flat, &program, &message);
    sqlite3_free(flat);
    rst_program_clear(&program);
    if (code != SQLITE_OK)
        rst_function_fail(context, c, code, message);
    else {
        sqlite3_result_int(context, 0);
        sqlite3_free(message);
    }
}

typedef struct returning_cursor {
    sqlite3_vtab_cursor base;
    rst_program program;
    rst_result_row *row;
    sqlite3_int64 number;
} returning_cursor;

typedef struct returning_vtab {
    sqlite3_vtab base;
    rst_connection *connection;
} returning_vtab;

static int returning_connect(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                             char **message) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    returning_vtab *vtab;
    char *sql;
    int code;
    UNUSED(count);
    UNUSED(arguments);
    UNUSED(message);
    /* More columns than these are taken from the whole row. */
    sqlite3_str_appendall(text, "CREATE TABLE x(");
    for (int i = 0; i < RETURNING_COLUMNS - 1; i++) sqlite3_str_appendf(text, "c%d,", i);
    sqlite3_str_appendall(text, "whole,statement HIDDEN");
    for (int i = 0; i < RETURNING_ARGUMENTS; i++) sqlite3_str_appendf(text, ",a%d HIDDEN", i);
    sqlite3_str_appendall(text, ")");
    sql = sqlite3_str_finish(text);
    if (sql == NULL) return SQLITE_NOMEM;
    code = sqlite3_declare_vtab(db, sql);
    sqlite3_free(sql);
    if (code == SQLITE_OK) code = sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    if (code != SQLITE_OK) return code;
    vtab = sqlite3_malloc64(sizeof *vtab);
    if (vtab == NULL) return SQLITE_NOMEM;
    memset(vtab, 0, sizeof *vtab);
    vtab->connection = context;
    *out = &vtab->base;
    return SQLITE_OK;
}

static int returning_disconnect(sqlite3_vtab *vtab) {
    sqlite3_free(vtab);
    return SQLITE_OK;
}

static int returning_best(sqlite3_vtab *vtab, sqlite3_index_info *info) {
    int highest = 0;
    UNUSED(vtab);
    for (int i = 0; i < info->nConstraint; i++) {
        int column = info->aConstraint[i].iColumn - RETURNING_COLUMNS;
        if (column < 0 || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
        if (!info->aConstraint[i].usable) return SQLITE_CONSTRAINT;
        info->aConstraintUsage[i].argvIndex = column + 1;
        info->aConstraintUsage[i].omit = 1;
        if (column + 1 > highest) highest = column + 1;
    }
    info->idxNum = highest;
    info->estimatedCost = 1;
    return highest == 0 ? SQLITE_CONSTRAINT : SQLITE_OK;
}

static int returning_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out) {
    returning_cursor *cursor = sqlite3_malloc64(sizeof *cursor);
    UNUSED(vtab);
    if (cursor == NULL) return SQLITE_NOMEM;
    memset(cursor, 0, sizeof *cursor);
    *out = &cursor->base;
    return SQLITE_OK;
}

static int returning_close(sqlite3_vtab_cursor *base) {
    rst_program_clear(&((returning_cursor *)base)->program);
    sqlite3_free(base);
    return SQLITE_OK;
}

static int returning_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count,
                            sqlite3_value **values) {
    returning_cursor *cursor = (returning_cursor *)base;
    rst_connection *c = ((returning_vtab *)base->pVtab)->connection;
    const char *sql = count > 0 ? (const char *)sqlite3_value_text(values[0]) : NULL;
    char *message = NULL;
    sqlite3_value **flat = NULL;
    int code, total = 0;
    UNUSED(number);
    UNUSED(text);
    rst_program_clear(&cursor->program);
    if (sql == NULL || c->shared == NULL) return SQLITE_MISUSE;
    rst_call_enter();
    code = rst_pack_open(count - 1, values + 1, &flat, &total);
    if (code == SQLITE_OK) code = rst_program_run(c, sql, total, flat, &cursor->program, &message);
    code = rst_leave(c, code);
    sqlite3_free(flat);
    cursor->row = cursor->program.first;
    cursor->number = 1;
    if (code != SQLITE_OK) {
        c->last_error = code;
        sqlite3_free(base->pVtab->zErrMsg);
        base->pVtab->zErrMsg = message;
        return code;
    }
    sqlite3_free(message);
    return SQLITE_OK;
}

static int returning_next(sqlite3_vtab_cursor *base) {
    returning_cursor *cursor = (returning_cursor *)base;
    cursor->row = cursor->row->next;
    cursor->number++;
    return SQLITE_OK;
}

static int returning_eof(sqlite3_vtab_cursor *base) {
    return ((returning_cursor *)base)->row == NULL;
}

static int returning_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    returning_cursor *cursor = (returning_cursor *)base;
    if (column == RETURNING_COLUMNS - 1)
        rst_pack_row(context, cursor->row->values);
    else if (column < cursor->program.code->returning_columns)
        sqlite3_result_value(context, cursor->row->values[column]);
    return SQLITE_OK;
}

static int returning_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
    *rowid = ((returning_cursor *)base)->number;
    return SQLITE_OK;
}

static const sqlite3_module returning_module = {
    .xConnect = returning_connect,
    .xBestIndex = returning_best,
    .xDisconnect = returning_disconnect,
    .xOpen = returning_open,
    .xClose = returning_close,
    .xFilter = returning_filter,
    .xNext = returning_next,
    .xEof = returning_eof,
    .xColumn = returning_column,
    .xRowid = returning_rowid,
};

int rst_returning_names(rst_connection *c, const rst_code *code, sqlite3_str *out, char **message) {
    sqlite3_stmt *statement = NULL;
    int result = rst_statement_get(c, code->returning, &statement);
    if (result != SQLITE_OK) {
        rst_set_message(message, "%s", sqlite3_errmsg(c->db));
        return result;
    }
    for (int i = 0; i < code->returning_columns; i++) {
        sqlite3_str_appendf(out,
                            code->returning_columns < RETURNING_COLUMNS ? "%sc%d AS \"%w\""
                                                                        : "%srootstock_value(whole,%d) AS \"%w\"",
                            i > 0 ? "," : "", i, sqlite3_column_name(statement, i));
    }
    rst_statement_done(c, statement);
    return SQLITE_OK;
}

int rst_runner_register(rst_connection *c) {
    int code = rst_function(c, "rootstock_run", -1, SQLITE_DIRECTONLY, run_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_upsert", -1, SQLITE_INNOCUOUS, rst_upsert_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_commit", 1, SQLITE_DIRECTONLY, commit_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_raised", 1, SQLITE_INNOCUOUS, rst_raised_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_once", 2, SQLITE_DIRECTONLY, rst_once_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_moment", 1, SQLITE_INNOCUOUS, rst_moment_function);
    if (code == SQLITE_OK) code = rst_module(c, "rootstock_returning", &returning_module);
    return code;
}
