/*
** statement_info.c - what SQLite's functions say of a native statement or column, for one that the front door has
** rewritten.
**
** A statement that the store runs itself is a SELECT to SQLite: it reads only, has a column, and the columns of its
** RETURNING come from no table. Its text tells which one it is, for the front door writes it alike each time.
** Invariant: of any other statement the answer is SQLite's.
*/
#include "interface/attached.h"
#include "interface/interface.h"
#include "program/runner.h"

#include <string.h>

typedef enum statement_kind { AS_IT_IS, A_CALL, A_RETURNING, OF_ATTACHED, AN_EXPLANATION } statement_kind;

/* *argument: where the first argument of our call stands, a literal, behind its parenthesis. */
static statement_kind kind_of(sqlite3_stmt *statement, const char **function, const char **argument) {
    static const char call[] = "SELECT 1 WHERE rootstock_", explanation[] = ROOTSTOCK_EXPLANATION;
    const char *sql = sqlite3_sql(statement), *p, *end;
    rst_token token;
    if (sql == NULL) return AS_IT_IS;
    if (sqlite3_stmt_isexplain(statement) == 1 && strncmp(sql, "EXPLAIN ", 8) == 0) sql += 8;
    if (strncmp(sql, call, sizeof call - 1) == 0) {
        *function = sql + sizeof call - 1;
        return A_CALL;
    }
    if (strncmp(sql, explanation, sizeof explanation - 1) == 0) {
        *argument = sql + sizeof explanation - 1;
        return AN_EXPLANATION;
    }
    if (strncmp(sql, "SELECT ", 7) != 0) return AS_IT_IS;
    p = sql + 7;
    end = p + strlen(p);
    do {
        token = rst_token_next(&p, end);
        if (rst_token_mark(&token, "(") && !rst_token_skip_parentheses(&p, end)) return AS_IT_IS;
    } while (token.type != TOKEN_END && !rst_token_is(&token, "FROM"));
    token = rst_token_next(&p, end);
    const bool attached = rst_token_is(&token, "ROOTSTOCK_ATTACHED_ROWS");
    if (!attached && !rst_token_is(&token, "ROOTSTOCK_RETURNING")) return AS_IT_IS;
    token = rst_token_next(&p, end);
    if (!rst_token_mark(&token, "(")) return AS_IT_IS;
    *argument = p;
    return attached ? OF_ATTACHED : A_RETURNING;
}

/* The text that the literal stands for, from sqlite3_malloc. */
static char *literal(const char *p) {
    rst_token token = rst_token_next(&p, p + strlen(p));
    return token.type == TOKEN_STRING ? rst_token_name(&token) : NULL;
}

/* What an attached store runs for the statement, on its own connection: the arguments are its schema's name and the
** text. Null: it is not to be had. Give it back with rst_inner_done. */
static sqlite3_stmt *attached_statement(rst_connection *c, const char *argument, rst_attached **attached) {
    const char *p = argument, *end = p + strlen(p);
    sqlite3_stmt *kept = NULL;
    char *schema = literal(argument), *text, *message = NULL;
    (void)rst_token_next(&p, end);
    (void)rst_token_next(&p, end); /* the comma */
    text = literal(p);
    *attached = c != NULL && schema != NULL ? rst_attached_find(c, schema) : NULL;
    if (*attached != NULL && text != NULL && rst_inner_get(*attached, text, &kept, &message) != SQLITE_OK) kept = NULL;
    sqlite3_free(message);
    sqlite3_free(text);
    sqlite3_free(schema);
    return kept;
}

static bool is_call_of(const char *function, const char *name) {
    size_t size = strlen(name);
    return strncmp(function, name, size) == 0 && function[size] == '(';
}

int rootstock_stmt_readonly(sqlite3_stmt *statement) {
    const char *function = NULL, *argument = NULL;
    int reads = sqlite3_stmt_readonly(statement);
    if (!reads || statement == NULL) return reads;
    switch (kind_of(statement, &function, &argument)) {
    case AS_IT_IS: return 1;
    /* COMMIT writes nothing that its transaction had not written; the others are the connection's. */
    case A_CALL:
        return is_call_of(function, "commit") || is_call_of(function, "ignore_checks") ||
               is_call_of(function, "attach") || is_call_of(function, "detach");
    case A_RETURNING: return 0;
    case OF_ATTACHED: {
        rst_attached *attached;
        sqlite3_stmt *kept;
        rst_call_enter();
        kept = attached_statement(rst_connection_of(sqlite3_db_handle(statement)), argument, &attached);
        if (kept != NULL) {
            reads = rootstock_stmt_readonly(kept);
            rst_inner_done(attached, kept);
        }
        (void)rst_call_leave(SQLITE_OK);
        return reads;
    }
    case AN_EXPLANATION: {
        sqlite3_stmt *explained = NULL;
        char *text;
        rst_call_enter();
        text = literal(argument);
        if (text != NULL && sqlite3_prepare_v2(sqlite3_db_handle(statement), text, -1, &explained, NULL) == SQLITE_OK)
            reads = sqlite3_stmt_readonly(explained);
        sqlite3_finalize(explained);
        sqlite3_free(text);
        (void)rst_call_leave(SQLITE_OK);
        return reads;
    }
    }
    return reads;
}

long long rootstock_total_changes(sqlite3 *db) {
    const rst_connection *c = rst_connection_of(db);
    return sqlite3_total_changes64(db) - (c == NULL ? 0 : store_of(c)->refused_rows);
}

int rootstock_txn_state(sqlite3 *db) {
    const rst_connection *c = rst_connection_of(db);
    if (c == NULL) return SQLITE_TXN_NONE;
    if (store_of(c)->writer != NULL) return SQLITE_TXN_WRITE;
    return store_of(c)->reader_live ? SQLITE_TXN_READ : SQLITE_TXN_NONE;
}

static void hold_snapshot(rst_connection *c, bool goes_on) {
    const rst_store *store = store_of(c);
    if (store->reads_on || sqlite3_txn_state(c->db, "main") == SQLITE_TXN_NONE) return;
    if (!goes_on && (store->writer != NULL || store->reader_pinned)) return;
    rst_call_enter();
    (void)rst_snapshot_take(c, rst_read_begin, NULL);
    (void)rst_call_leave(SQLITE_OK);
}

void rootstock_hold_snapshot(sqlite3 *db, int goes_on) {
    rst_connection *c = rst_connection_of(db);
    if (c == NULL || store_of(c)->shared == NULL) return;
    /* No other thread may end the last statement between the look and the hold: nothing would end the hold then. */
    sqlite3_mutex_enter(sqlite3_db_mutex(db));
    hold_snapshot(c, goes_on != 0);
    sqlite3_mutex_leave(sqlite3_db_mutex(db));
}

const int *rootstock_open_cursors(sqlite3 *db) {
    const rst_connection *c = rst_connection_of(db);
    return c == NULL ? NULL : &store_of(c)->open_cursors;
}

int rootstock_violates(sqlite3 *db) {
    rst_connection *c = rst_connection_of(db);
    return c != NULL && store_of(c)->writer != NULL && rst_foreign_deferred(c) > 0;
}

int rootstock_stmt_isexplain(sqlite3_stmt *statement) {
    const char *function = NULL, *argument = NULL;
    int mode = sqlite3_stmt_isexplain(statement);
    return mode == 0 && statement != NULL && kind_of(statement, &function, &argument) == AN_EXPLANATION ? 2 : mode;
}

int rootstock_column_count(sqlite3_stmt *statement) {
    const char *function = NULL, *argument = NULL;
    int count = sqlite3_column_count(statement);
    if (count != 1 || sqlite3_stmt_isexplain(statement) != 0) return count;
    return kind_of(statement, &function, &argument) == A_CALL ? 0 : count;
}

/* What stands for SQLite's list of the schema (schema_names.c). */
static const char *table_name(sqlite3_stmt *statement, int column) {
    const char *name = sqlite3_column_table_name(statement, column);
    return name != NULL && strcmp(name, "rootstock_schema") == 0 ? "sqlite_master" : name;
}

static const void *table_name16(sqlite3_stmt *statement, int column) {
    static const uint16_t list[] = {'s', 'q', 'l', 'i', 't', 'e', '_', 'm', 'a', 's', 't', 'e', 'r', 0};
    const char *name = sqlite3_column_table_name(statement, column);
    return name != NULL && strcmp(name, "rootstock_schema") == 0 ? list
                                                                 : sqlite3_column_table_name16(statement, column);
}

static const void *fact_of(sqlite3_stmt *statement, int column, rootstock_column_fact fact) {
    switch (fact) {
    case ROOTSTOCK_DECLTYPE: return sqlite3_column_decltype(statement, column);
    case ROOTSTOCK_DECLTYPE16: return sqlite3_column_decltype16(statement, column);
    case ROOTSTOCK_DATABASE_NAME: return sqlite3_column_database_name(statement, column);
    case ROOTSTOCK_DATABASE_NAME16: return sqlite3_column_database_name16(statement, column);
    case ROOTSTOCK_TABLE_NAME: return table_name(statement, column);
    case ROOTSTOCK_TABLE_NAME16: return table_name16(statement, column);
    case ROOTSTOCK_ORIGIN_NAME: return sqlite3_column_origin_name(statement, column);
    case ROOTSTOCK_ORIGIN_NAME16: return sqlite3_column_origin_name16(statement, column);
    }
    return NULL;
}

/* A fact that was told stays where it is: SQLite's texts are valid as long as their statement. */
struct rst_told {
    struct rst_told *next;
    size_t size;
    char bytes[];
};

static const void *tell(rst_front *front, const void *text, bool wide) {
    size_t size = 0;
    struct rst_told *told;
    if (wide)
        for (const uint16_t *p = text; *p != 0; p++) size += sizeof *p;
    else
        size = strlen(text);
    size += wide ? 2 : 1;
    for (told = front->told; told != NULL; told = told->next)
        if (told->size == size && memcmp(told->bytes, text, size) == 0) return told->bytes;
    told = sqlite3_malloc64(sizeof *told + size);
    if (told == NULL) return NULL;
    *told = (struct rst_told){front->told, size};
    memcpy(told->bytes, text, size);
    front->told = told;
    return told->bytes;
}

void rst_told_free(rst_connection *c) {
    rst_front *front = front_of(c);
    while (front->told != NULL) {
        struct rst_told *told = front->told;
        front->told = told->next;
        sqlite3_free(told);
    }
}

/* Of a column of RETURNING: the program's list is a SELECT of the table. */
static const void *returning_fact(rst_connection *c, const char *argument, int column, rootstock_column_fact fact) {
    rst_code *code = NULL;
    sqlite3_stmt *list = NULL;
    const void *told = NULL;
    char *text = literal(argument);
    if (text != NULL && rst_code_get(c, text, false, &code, NULL) == SQLITE_OK && code->returning != NULL &&
        rst_statement_get(c, code->names != NULL ? code->names : code->returning, &list) == SQLITE_OK) {
        const void *found = fact_of(list, column, fact);
        if (found != NULL) told = tell(front_of(c), found, fact >= ROOTSTOCK_DECLTYPE16);
        rst_statement_done(c, list);
    }
    sqlite3_free(text);
    return told;
}

/* Of a column of what an attached store runs: there, its schema is called main, and no UTF-16 of its name is kept. */
static const void *attached_fact(rst_connection *c, const char *argument, int column, rootstock_column_fact fact) {
    rst_attached *attached;
    const void *told = NULL;
    sqlite3_stmt *kept = attached_statement(c, argument, &attached);
    if (kept == NULL) return NULL;
    if (fact != ROOTSTOCK_DATABASE_NAME16) told = rootstock_column_fact_of(kept, column, fact);
    if (told != NULL && fact == ROOTSTOCK_DATABASE_NAME) told = attached->schema;
    if (told != NULL) told = tell(front_of(c), told, fact >= ROOTSTOCK_DECLTYPE16);
    rst_inner_done(attached, kept);
    return told;
}

const void *rootstock_column_fact_of(sqlite3_stmt *statement, int column, rootstock_column_fact fact) {
    const char *function = NULL, *argument = NULL;
    const void *told;
    statement_kind kind = AS_IT_IS;
    rst_connection *c = statement == NULL ? NULL : rst_connection_of(sqlite3_db_handle(statement));
    if (c != NULL && sqlite3_stmt_isexplain(statement) == 0) kind = kind_of(statement, &function, &argument);
    if (kind == AN_EXPLANATION) return NULL; /* its columns are of no table */
    if (kind != A_RETURNING && kind != OF_ATTACHED) return fact_of(statement, column, fact);
    rst_call_enter();
    told = kind == OF_ATTACHED ? attached_fact(c, argument, column, fact) : returning_fact(c, argument, column, fact);
    (void)rst_leave(c, SQLITE_OK);
    return told;
}

const char *rootstock_column_decltype(sqlite3_stmt *statement, int column) {
    return rootstock_column_fact_of(statement, column, ROOTSTOCK_DECLTYPE);
}

int rootstock_table_column_metadata(sqlite3 *db, const char *schema, const char *table, const char *column,
                                    const char **type, const char **collation, int *not_null, int *primary_key,
                                    int *autoincrement) {
    int key = 0, counted = 0, code;
    rst_connection *c = column != NULL ? rst_connection_of(db) : NULL;
    const rst_table *found =
        c == NULL || store_of(c)->shared == NULL || schema_of(c)->sidecar ? NULL : rst_table_find(c, table);
    /* A temp table of the name comes first. Asked before the rest, for the answer is the connection's error, too. */
    if (found != NULL && schema == NULL && rst_has_table(db, "temp", table)) found = NULL;
    /* SQLite knows a virtual table's columns once a statement has named it. */
    if (found != NULL) (void)rst_prepares(db, "PRAGMA main.table_info(\"%w\")", found->declared_name);
    code = sqlite3_table_column_metadata(db, schema, table, column, type, collation, not_null, &key, &counted);
    if (code == SQLITE_OK && found != NULL && (schema == NULL || sqlite3_stricmp(schema, "main") == 0)) {
        int place = rst_column_called(found, column);
        if (place < 0 && !found->without_rowid) place = found->rowid_column;
        if (place >= 0) {
            key = found->columns[place].primary_key > 0;
            counted = found->autoincrement && place == found->rowid_column;
            /* It is declared NOT NULL (module.c). */
            if (not_null != NULL && place == found->rowid_column) *not_null = found->columns[place].not_null;
        }
    }
    if (primary_key != NULL) *primary_key = key;
    if (autoincrement != NULL) *autoincrement = counted;
    return code;
}

/* ---- the tokeniser, for the layers above ---- */

_Static_assert((int)ROOTSTOCK_TOKEN_END == (int)TOKEN_END && (int)ROOTSTOCK_TOKEN_WORD == (int)TOKEN_WORD &&
                   (int)ROOTSTOCK_TOKEN_NAME == (int)TOKEN_NAME && (int)ROOTSTOCK_TOKEN_STRING == (int)TOKEN_STRING &&
                   (int)ROOTSTOCK_TOKEN_NUMBER == (int)TOKEN_NUMBER && (int)ROOTSTOCK_TOKEN_BLOB == (int)TOKEN_BLOB &&
                   (int)ROOTSTOCK_TOKEN_PARAMETER == (int)TOKEN_VARIABLE &&
                   (int)ROOTSTOCK_TOKEN_PUNCTUATION == (int)TOKEN_PUNCTUATION &&
                   (int)ROOTSTOCK_TOKEN_ILLEGAL == (int)TOKEN_ILLEGAL,
               "a token is one of both");

rootstock_token rootstock_token_next(const char **position, const char *end, const char **text, size_t *size) {
    rst_token token = rst_token_next(position, end);
    *text = token.text;
    *size = token.size;
    return (rootstock_token)token.type;
}
