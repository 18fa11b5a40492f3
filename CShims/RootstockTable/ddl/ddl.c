/*
** ddl.c - CREATE, DROP and ALTER on a store, as the front door hands them over.
**
** What SQLite does beside the change of the schema is done here: the implied DELETE of a parent's rows, CREATE TABLE
** ... AS SELECT, the savepoint that undoes the statement as a whole. Invariant: a statement that fails leaves schema,
** declarations and rows as they were.
*/
#include "ddl/ddl.h"
#include "ddl/declare.h"
#include "executor/foreign.h"
#include "program/bulk_change.h"
#include "program/runner.h"
#include "rewriter/transform.h"
#include "rewriter/trigger_list.h"
#include "ddl/temporary.h"
#include "ddl/written_schema.h"
#include "executor/trigger.h"

#include <string.h>

/* DROP TABLE of a foreign key's parent deletes its rows first, as SQLite does. So it does of a child while a deferred
** key is violated, which may be one of its own. */
static int drop_rows(rst_connection *c, const rst_schema_statement *s, bool outermost, char **message) {
    rst_executor *executor = executor_of(c);
    rst_store *store = store_of(c);
    char *text;
    rst_table *table;
    int64_t before = rst_foreign_deferred(c);
    int code;
    if (!rst_schema_statement_is(s, "DROP", "TABLE") || !rst_foreign_enabled(c)) return SQLITE_OK;
    text = rst_token_name(&s->name);
    if (text == NULL) return SQLITE_NOMEM;
    table = rst_table_find(c, text);
    sqlite3_free(text);
    if (table == NULL) return SQLITE_OK;
    if (!table->is_parent && rst_foreign_any_deferred(table)) rst_uncount(c, table); /* of a DELETE, of no row as yet */
    if (!table->is_parent && (before == 0 || !rst_foreign_any_deferred(table))) return SQLITE_OK;
    store->immediate_violations = 0;
    rst_triggers_free(table); /* the implied DELETE fires none */
    planner_of(c)->schema_state++;
    schema_of(c)->triggers_epoch = store->epoch - 1; /* a DROP that is refused has them loaded again */
    executor->dropping_rows = true;
    executor->dropping_ends = outermost;
    executor->dropping_violations = before;
    code = rst_execute(c, message, ROOTSTOCK_BULK_DROP, table->name);
    executor->dropping_rows = executor->dropping_ends = false;
    store->immediate_violations = 0;
    return code;
}

/* SQLite drops no table and no index while any statement of the connection reads, be it something else that it
** reads. */
static int check_drop(rst_connection *c, const rst_schema_statement *s, char **message) {
    bool found;
    char *text;
    int code;
    if (!(rst_schema_statement_is(s, "DROP", "TABLE") || rst_schema_statement_is(s, "DROP", "INDEX")) ||
        executor_of(c)->all_cursors == 0)
        return SQLITE_OK;
    text = rst_token_name(&s->name);
    if (text == NULL) return SQLITE_NOMEM;
    /* What there is not, or what cannot be dropped, is refused in words of its own. */
    code =
        rst_has_row(schema_of(c)->schema_db, &found,
                    "SELECT 1 FROM sqlite_master WHERE type='%.*q' COLLATE NOCASE AND name=%Q COLLATE NOCASE AND sql "
                    "NOT NULL AND name NOT LIKE 'sqlite!_%%' ESCAPE '!'",
                    (int)s->type.size, s->type.text, text);
    if (code == SQLITE_OK && found) {
        rst_set_message(message, "database table is locked");
        code = SQLITE_LOCKED;
    }
    sqlite3_free(text);
    return code;
}

static int run_change(rst_connection *c, const rst_schema_statement *s, const char *sql, int count,
                      sqlite3_value **values, bool outermost, char **message) {
    bool done = false;
    int code = check_drop(c, s, message);
    if (code == SQLITE_OK) code = rst_create_as(c, s, sql, count, values, &done, message);
    if (code == SQLITE_OK && !done) code = rst_program_table_change(c, s, sql, &done, message);
    if (code == SQLITE_OK && !done) code = drop_rows(c, s, outermost, message);
    if (code == SQLITE_OK && !done) code = rst_schema_change_with(c, sql, count, values, message);
    return code;
}

static int write_marker(rst_connection *c, char **message) {
    return rst_execute(c, message, "INSERT INTO main.rootstock_txn SELECT 1 WHERE 0");
}

/* A virtual table that is made, or written, joins SQLite's transaction, so that its end reaches us, and every prepared
** statement is prepared again. To make one has SQLite go twice through its list of tables, and read its schema anew if
** the transaction is rolled back, which has the store's read anew. To write one is enough where no ROLLBACK can come
** without that: outermost, or behind another change. An INSERT of no row sets changes() to 0, where it is not. Of the
** savepoints that are open already SQLite tells the table nothing, not even their ROLLBACK TO, until another one is
** opened. The one that is the transaction itself has no number, and is told. */
int rst_change_join(rst_connection *c, bool outermost, char **message) {
    const bool write = sqlite3_changes64(c->db) == 0 && (outermost || store_of(c)->schema_changed);
    int code = SQLITE_OK;
    if (write) {
        code = write_marker(c, message);
        rst_statements_expire(c);
    } else {
        /* IF EXISTS would have SQLite compile a statement for the answer. */
        if (rst_has_table(c->db, "main", "rootstock_txn"))
            code = rst_execute(c, message, "DROP TABLE main.rootstock_txn");
        if (code == SQLITE_OK)
            code = rst_execute(c, message, "CREATE VIRTUAL TABLE main.rootstock_txn USING rootstock_txn");
    }
    if (code == SQLITE_OK && !outermost)
        code = rst_execute(c, message, "SAVEPOINT \"rootstock join\"; RELEASE \"rootstock join\"");
    if (code == SQLITE_OK) code = rst_write_begin(c, message);
    return code;
}

/* IF [NOT] EXISTS, and the schema is such already: then SQLite compiles a statement that writes nothing, and asks for
** no lock. */
static bool changes_nothing(rst_connection *c, const rst_schema_statement *s, const char *sql) {
    sqlite3_stmt *statement = NULL;
    char *explain;
    bool nothing;
    if (!s->conditional) return false;
    if (rst_schema_refresh(c, NULL) != SQLITE_OK) return false;
    explain = sqlite3_mprintf("EXPLAIN %s", sql);
    if (explain == NULL) return false;
    /* sqlite3_stmt_readonly() says on purpose that it writes; whether its transaction does, only the program tells. */
    nothing =
        sqlite3_prepare_v2(schema_of(c)->schema_db, explain, -1, &statement, NULL) == SQLITE_OK && statement != NULL;
    sqlite3_free(explain);
    while (nothing && sqlite3_step(statement) == SQLITE_ROW) {
        const char *operation = (const char *)sqlite3_column_text(statement, 1);
        nothing = operation != NULL && (strcmp(operation, "Transaction") != 0 || sqlite3_column_int(statement, 3) == 0);
    }
    return sqlite3_finalize(statement) == SQLITE_OK && nothing;
}

/* What SQLite does in the place of a change that there is none of: it reads the schema, at which a transaction's
** snapshot begins. */
static int read_instead(rst_connection *c, char **message) {
    rootstock_transaction *transaction;
    bool is_writer;
    int code;
    if (sqlite3_get_autocommit(c->db)) return SQLITE_OK;
    code = rst_read_begin(c, &transaction, &is_writer, message);
    if (code == SQLITE_OK) rst_read_end(c, is_writer);
    return code;
}

/* Back to the savepoint, which goes. Where it is the transaction itself and that is broken, releasing it fails, rolls
** everything back, and leaves SQLite's transaction open, without anything in it: released again it ends. Once a
** connection had no memory, or was interrupted, nothing runs until the statement around has ended: then all of the
** transaction goes, as with SQLite. */
int rst_change_undo(rst_connection *c, const char *savepoint, sqlite3_stmt *writes, int code) {
    int undone = rst_execute(c, NULL, "ROLLBACK TO \"%w\"", savepoint);
    bool released = false;
    definitions_of(c)->undoing = true;
    for (int i = 0; i < 2 && !released && undone != SQLITE_NOMEM && undone != SQLITE_INTERRUPT; i++) {
        undone = rst_execute(c, NULL, "RELEASE \"%w\"", savepoint);
        released = undone == SQLITE_OK;
    }
    definitions_of(c)->undoing = false;
    if (released) return code;
    if (undone != SQLITE_NOMEM && undone != SQLITE_INTERRUPT) return code;
    rst_interrupted_rollback(c, writes);
    return undone;
}

static int change_and_declare(rst_connection *c, const rst_schema_statement *s, const char *sql, int count,
                              sqlite3_value **values, bool outermost, char **message) {
    int code;
    rst_writer_hold(c);
    code = rst_writer_let_go(c, run_change(c, s, sql, count, values, outermost, message), message);
    if (code == SQLITE_OK) code = rst_temporary_triggers_follow(c, message);
    if (code == SQLITE_OK) code = rst_call_code(rst_schema_declare_own(c, message));
    if (code == SQLITE_OK) code = rst_temporary_objects_follow(c, message);
    return code == SQLITE_OK && rst_begins_change(&s->verb) ? rst_written_schema_count(c, message) : code;
}

static void put_back(rst_connection *c) {
    definitions_of(c)->reads++;
    rst_trigger_doubt_all(c);
    rst_temporary_objects_free(c);
    (void)rst_temporary_triggers_read(c);
    if (store_of(c)->shared != NULL && store_of(c)->schema_stale)
        (void)rst_schema_refresh(c, NULL);
    else if (schema_of(c)->triggers_epoch != store_of(c)->epoch)
        (void)rst_triggers_load(c, NULL);
    definitions_of(c)->reads--;
}

int rst_change_join_inside(rst_connection *c, char **message) {
    int code = write_marker(c, message);
    return code == SQLITE_OK ? rst_write_begin(c, message) : code;
}

/* Within a statement that writes. */
static int change_inside(rst_connection *c, rst_mark mark, const rst_schema_statement *s, const char *sql, int count,
                         sqlite3_value **values, char **message) {
    int code = rst_change_join_inside(c, message);
    if (code == SQLITE_OK) code = rst_schema_refresh(c, message);
    if (code == SQLITE_OK) code = change_and_declare(c, s, sql, count, values, false, message);
    if (code != SQLITE_OK) {
        (void)rst_mark_undo(c, mark); /* where it cannot be undone the transaction is broken, and says so */
        store_of(c)->schema_stale = true;
        put_back(c);
    }
    rst_mark_release(c, mark);
    return code;
}

/* The whole of a DDL statement that came through the front door. */
int rst_ddl(rst_connection *c, const char *sql, int count, sqlite3_value **values, char **message) {
    const rst_schema_statement s = rst_schema_statement_read(sql, sql + strlen(sql));
    int code = rst_check_schema_free(c, message);
    sqlite3_int64 last = sqlite3_last_insert_rowid(c->db);
    sqlite3_stmt *interruptible = NULL;
    const bool outermost = sqlite3_get_autocommit(c->db) != 0;
    bool savepoint;
    rst_mark mark;
    if (code == SQLITE_OK) code = rst_check_usable(c, message);
    if (code != SQLITE_OK) return code;
    if (changes_nothing(c, &s, sql)) return read_instead(c, message);
    code = rst_savepoint_or_mark(c, "SAVEPOINT \"rootstock ddl\"", false, &savepoint, &mark, message);
    if (code != SQLITE_OK) return code;
    if (!savepoint) {
        code = change_inside(c, mark, &s, sql, count, values, message);
        sqlite3_set_last_insert_rowid(c->db, last);
        return code;
    }
    code = rst_change_join(c, outermost, message);
    if (code == SQLITE_OK) code = rst_schema_refresh(c, message);
    if (code == SQLITE_OK) interruptible = rst_interruptible(c);
    if (code == SQLITE_OK) code = change_and_declare(c, &s, sql, count, values, outermost, message);
    if (code == SQLITE_OK) code = rst_execute(c, message, "RELEASE \"rootstock ddl\"");
    if (code != SQLITE_OK) {
        if (code == SQLITE_INTERRUPT) {
            rst_interrupted_rollback(c, interruptible);
        } else if (code == SQLITE_CONSTRAINT_TRIGGER && executor_of(c)->raised == SQLITE_ROLLBACK) {
            (void)rst_execute(c, NULL, "ROLLBACK"); /* what the rows of a dropped table fired */
        } else {
            code = rst_change_undo(c, "rootstock ddl", interruptible, code);
        }
        put_back(c);
    }
    if (interruptible != NULL) rst_statement_done(c, interruptible);
    sqlite3_set_last_insert_rowid(c->db, last);
    return code;
}
