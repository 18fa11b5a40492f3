/*
** function_proxy.c - the application's functions and collations on the schema database.
**
** The schema database (schema_db.c) judges CHECKs, generated columns and index expressions. It is a connection of our
** own, on which the application has registered nothing. So each of the application's functions and collations has a
** stand-in there that asks the application's connection: SELECT "f"(?1, ...). PRAGMA function_list is compared before a
** schema statement, and before the first row validator of a schema, if they may name one. It is compared again when a
** row validator cannot be prepared. A collation gets its stand-in when SQLite first needs it.
**
** Invariant: a stand-in has the name, number of arguments and flags of the original, so SQLite refuses or takes it as
** it would the original.
*/
#include "catalog/catalog.h"

#include <string.h>

typedef struct rst_function_proxy {
    struct rst_function_proxy *next;
    rst_connection *connection;
    char *name;
    int count; /* of arguments; -1: any */
    int flags;
    char kind; /* 's', 'a', 'w' as in function_list; 'c': a collation */
    bool seen, placeholder;
    bool own; /* the schema database has the function itself, and nothing was installed */
} rst_function_proxy;

static void call(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_function_proxy *proxy = sqlite3_user_data(context);
    rst_connection *c = proxy->connection;
    rst_schema *schema = schema_of(c);
    struct rst_program *program = schema->program;
    sqlite3_stmt *statement = NULL;
    sqlite3_str *text = sqlite3_str_new(NULL);
    char *sql;
    int code = SQLITE_OK;
    sqlite3_str_appendf(text, "SELECT \"%w\"(", proxy->name);
    for (int i = 0; i < count; i++) sqlite3_str_appendf(text, "%s?%d", i > 0 ? "," : "", i + 1);
    sqlite3_str_appendall(text, ")");
    sql = sqlite3_str_finish(text);
    if (sql == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    code = rst_statement_get(c, sql, &statement);
    sqlite3_free(sql);
    for (int i = 0; i < count && code == SQLITE_OK; i++) code = sqlite3_bind_value(statement, i + 1, values[i]);
    if (code == SQLITE_OK) {
        schema->program = NULL; /* whatever the function does is no part of it */
        store_of(c)->judging++;
        code = sqlite3_step(statement);
        store_of(c)->judging--;
        schema->program = program;
        if (code == SQLITE_ROW) {
            /* A NULL may be a pointer, which goes with the statement. */
            if (sqlite3_column_type(statement, 0) != SQLITE_NULL)
                sqlite3_result_value(context, sqlite3_column_value(statement, 0));
            code = SQLITE_OK;
        } else {
            code = sqlite3_reset(statement);
            if (code == SQLITE_OK) code = SQLITE_INTERNAL;
        }
    }
    if (code == SQLITE_NOMEM)
        sqlite3_result_error_nomem(context);
    else if (code != SQLITE_OK) {
        code = sqlite3_extended_errcode(c->db);
        sqlite3_result_error(context, sqlite3_errmsg(c->db), -1);
        sqlite3_result_error_code(context, code);
    }
    if (statement != NULL) rst_statement_done(c, statement);
}

/* Aggregates and window functions have no place in what the schema database judges: SQLite must know them to say so. */
static void no_step(sqlite3_context *context, int count, sqlite3_value **values) {
    UNUSED(context);
    UNUSED(count);
    UNUSED(values);
}

static void no_final(sqlite3_context *context) {
    UNUSED(context);
}

static void unknown(sqlite3_context *context, int count, sqlite3_value **values) {
    UNUSED(count);
    UNUSED(values);
    sqlite3_result_error(context, "unknown function", -1); /* a placeholder is gone before anything runs */
}

static int compare_unknown(void *context, int left_size, const void *left, int right_size, const void *right) {
    UNUSED(context);
    UNUSED(left_size);
    UNUSED(left);
    UNUSED(right_size);
    UNUSED(right);
    return 0;
}

static int bind_text(sqlite3_stmt *statement, int number, const rootstock_value *text) {
    return sqlite3_bind_text(statement, number, text->size == 0 ? "" : text->as.data, (int)text->size, SQLITE_STATIC);
}

int rst_collation_compare(rst_connection *c, const char *name, sqlite3_stmt **kept, const rootstock_value *left,
                          const rootstock_value *right, int *order) {
    rst_schema *schema = schema_of(c);
    struct rst_program *program = schema->program;
    int code = SQLITE_OK;
    *order = 0;
    if (*kept == NULL) {
        char *sql =
            sqlite3_mprintf("SELECT CASE WHEN ?1<?2 COLLATE \"%w\" THEN -1 ELSE ?1>?2 COLLATE \"%w\" END", name, name);
        code = sql == NULL ? SQLITE_NOMEM : rst_statement_get(c, sql, kept);
        sqlite3_free(sql);
    }
    if (code == SQLITE_OK) code = bind_text(*kept, 1, left);
    if (code == SQLITE_OK) code = bind_text(*kept, 2, right);
    if (code != SQLITE_OK) return code;
    schema->program = NULL; /* whatever the collation does is no part of it */
    store_of(c)->judging++;
    code = sqlite3_step(*kept);
    store_of(c)->judging--;
    schema->program = program;
    *order = sqlite3_column_int(*kept, 0);
    if (code != SQLITE_ROW) return sqlite3_reset(*kept);
    sqlite3_reset(*kept);
    return SQLITE_OK;
}

static int compare(void *context, int left_size, const void *left, int right_size, const void *right) {
    const rst_function_proxy *proxy = context;
    const rootstock_value a = {.type = VALUE_TEXT, .size = (size_t)left_size, .as.data = left};
    const rootstock_value b = {.type = VALUE_TEXT, .size = (size_t)right_size, .as.data = right};
    sqlite3_stmt *statement = NULL;
    int order, code = rst_collation_compare(proxy->connection, proxy->name, &statement, &a, &b, &order);
    if (statement != NULL) rst_statement_done(proxy->connection, statement);
    /* a comparison cannot say so itself: row_validator.c refuses the row */
    if (code != SQLITE_OK) schema_of(proxy->connection)->compare_failed = true;
    return order;
}

static int install(sqlite3 *schema_db, rst_function_proxy *proxy) {
    int flags = SQLITE_UTF8 | (proxy->flags & (SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY | SQLITE_INNOCUOUS));
    switch (proxy->kind) {
    case 'c':
        return sqlite3_create_collation(schema_db, proxy->name, SQLITE_UTF8, proxy,
                                        proxy->placeholder ? compare_unknown : compare);
    case 's':
        return sqlite3_create_function(schema_db, proxy->name, proxy->count, flags, proxy,
                                       proxy->placeholder ? unknown : call, NULL, NULL);
    default:
        return sqlite3_create_function(schema_db, proxy->name, proxy->count, flags, proxy, NULL, no_step, no_final);
    }
}

static int uninstall(sqlite3 *schema_db, const rst_function_proxy *proxy) {
    if (proxy->kind == 'c') return sqlite3_create_collation(schema_db, proxy->name, SQLITE_UTF8, NULL, NULL);
    return sqlite3_create_function(schema_db, proxy->name, proxy->count, SQLITE_UTF8, NULL, NULL, NULL, NULL);
}

static void proxy_free(rst_function_proxy *proxy) {
    sqlite3_free(proxy->name);
    sqlite3_free(proxy);
}

void rst_function_proxies_free(rst_function_proxies *list) {
    while (list->first != NULL) {
        rst_function_proxy *proxy = list->first;
        list->first = proxy->next;
        proxy_free(proxy);
    }
}

static int add(rst_connection *c, sqlite3 *schema_db, rst_function_proxy **list, const char *name, int count, int flags,
               char kind, bool placeholder, bool own) {
    rst_function_proxy *proxy = sqlite3_malloc64(sizeof *proxy);
    int code;
    if (proxy == NULL) return SQLITE_NOMEM;
    memset(proxy, 0, sizeof *proxy);
    proxy->connection = c;
    proxy->name = sqlite3_mprintf("%s", name);
    proxy->count = count;
    proxy->flags = flags;
    proxy->kind = kind;
    proxy->seen = true;
    proxy->placeholder = placeholder;
    proxy->own = own;
    code = proxy->name == NULL ? SQLITE_NOMEM : own ? SQLITE_OK : install(schema_db, proxy);
    if (code != SQLITE_OK) {
        proxy_free(proxy);
        return code;
    }
    proxy->next = *list;
    *list = proxy;
    return SQLITE_OK;
}

static bool stands_for(const rst_function_proxy *proxy, const char *name, int count, char kind) {
    bool collation = kind == 'c';
    return collation == (proxy->kind == 'c') && (collation || proxy->count == count) &&
           sqlite3_stricmp(proxy->name, name) == 0;
}

static rst_function_proxy *find(rst_function_proxy *list, const char *name, int count, char kind) {
    while (list != NULL && !stands_for(list, name, count, kind)) list = list->next;
    return list;
}

bool rst_collation_known(rst_connection *c, const char *name) {
    return rst_prepares(c->db, "SELECT ''='' COLLATE \"%w\"", name);
}

int rst_collation_missing(const rst_table *table, int code, char **message) {
    if ((code & 0xff) != SQLITE_ERROR || *message != NULL) return code;
    for (int i = -1; i < table->index_count; i++) {
        const rst_part *parts = i < 0 ? table->key : table->indexes[i].parts;
        const int count = i < 0 ? table->key_count : table->indexes[i].part_count;
        for (int p = 0; p < count; p++) {
            if (parts[p].key.collation != ROOTSTOCK_COLLATION_OWN ||
                rst_collation_known(table->connection, parts[p].collation_name))
                continue;
            rst_set_message(message, "no such collation sequence: %s", parts[p].collation_name);
            return SQLITE_ERROR_MISSING_COLLSEQ;
        }
    }
    return code;
}

/* Whether SQLite gives every connection this function by itself: extensions that are compiled in register theirs each
** time. *list: the schema database's, a line each, made at the first question; there are hundreds, and dozens are asked
** about. */
static bool schema_db_has(sqlite3 *schema_db, char **list, const char *name, int count) {
    sqlite3_stmt *statement = NULL;
    char *line = sqlite3_mprintf("\n%s/%d\n", name, count);
    bool found;
    if (*list == NULL && sqlite3_prepare_v2(schema_db, "PRAGMA function_list", -1, &statement, NULL) == SQLITE_OK) {
        sqlite3_str *text = sqlite3_str_new(NULL);
        sqlite3_str_appendall(text, "\n");
        while (sqlite3_step(statement) == SQLITE_ROW) {
            if (sqlite3_column_int(statement, 1) != 0) continue;
            sqlite3_str_appendf(text, "%s/%d\n", sqlite3_column_text(statement, 0), sqlite3_column_int(statement, 4));
        }
        sqlite3_finalize(statement);
        *list = sqlite3_str_finish(text);
    }
    found = line != NULL && *list != NULL && strstr(*list, line) != NULL;
    sqlite3_free(line);
    return found;
}

static int sync_functions(rst_connection *c, sqlite3 *schema_db, rst_function_proxy **list, bool runs) {
    sqlite3_stmt *statement = NULL;
    char *functions_there = NULL;
    /* They come in the order of the last time, and that is the list's. Those of one name come together, some of them
    ** once for each encoding. */
    rst_function_proxy *last = NULL, *named = NULL;
    int code = sqlite3_prepare_v2(c->db, "PRAGMA function_list", -1, &statement, NULL);
    if (code != SQLITE_OK) return code;
    while (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        const char *type = (const char *)sqlite3_column_text(statement, 2);
        int count = sqlite3_column_int(statement, 4), flags = sqlite3_column_int(statement, 5);
        rst_function_proxy *proxy;
        if (sqlite3_column_int(statement, 1) != 0 || name == NULL || type == NULL) continue;
        if (sqlite3_strnicmp(name, "rootstock_", 10) == 0 || (runs && type[0] != 's')) continue;
        proxy = last != NULL && last->next != NULL && stands_for(last->next, name, count, type[0]) ? last->next
                : named != NULL && sqlite3_stricmp(named->name, name) == 0 ? find(named, name, count, type[0])
                                                                           : NULL;
        if (proxy == NULL) proxy = find(*list, name, count, type[0]);
        if (proxy == NULL) {
            bool own = schema_db_has(schema_db, &functions_there, name, count);
            rst_function_proxy **place = last == NULL ? list : &last->next;
            code = add(c, schema_db, place, name, count, flags, type[0], false, own);
            if (code == SQLITE_OK) proxy = last = *place;
        } else if (proxy->kind != type[0] || proxy->flags != flags) {
            rst_function_proxy was = *proxy;
            proxy->kind = type[0];
            proxy->flags = flags;
            code = install(schema_db, proxy);
            if (code == SQLITE_OK)
                proxy->own = false;
            else
                *proxy = was;
        }
        if (proxy != NULL) {
            if (!proxy->seen) last = proxy;
            if (named == NULL || sqlite3_stricmp(named->name, name) != 0) named = proxy;
            proxy->seen = true;
        }
        /* a statement of the schema database runs: as it was, until the next time */
        if (code == SQLITE_BUSY) code = SQLITE_OK;
    }
    sqlite3_free(functions_there);
    return rst_finish(statement, code);
}

/* What is gone from the application's connection, and placeholders, go here too; what a running statement uses
** stays. */
static void sweep(sqlite3 *schema_db, rst_function_proxy **list, bool placeholders) {
    for (rst_function_proxy **link = list; *link != NULL;) {
        rst_function_proxy *proxy = *link;
        bool goes = placeholders ? proxy->placeholder : !proxy->seen;
        if (goes && (proxy->own || uninstall(schema_db, proxy) == SQLITE_OK)) {
            *link = proxy->next;
            proxy_free(proxy);
        } else {
            link = &proxy->next;
        }
    }
}

static int sync(rst_connection *c, sqlite3 *schema_db, rst_function_proxy **list, bool runs) {
    int code, on = 1;
    for (rst_function_proxy *proxy = *list; proxy != NULL; proxy = proxy->next)
        proxy->seen = proxy->kind == 'c' && rst_collation_known(c, proxy->name);
    if (sqlite3_db_config(c->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, -1, &on) == SQLITE_OK)
        sqlite3_db_config(schema_db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, on, NULL);
    code = sync_functions(c, schema_db, list, runs);
    if (code == SQLITE_OK) sweep(schema_db, list, false);
    /* An authorizer may keep the list from us: then what is not known is called unknown when it is needed. */
    return code == SQLITE_NOMEM ? code : SQLITE_OK;
}

void rst_function_proxies_withdraw(sqlite3 *from, rst_function_proxies *list) {
    (void)sqlite3_collation_needed(from, NULL, NULL);
    for (rst_function_proxy *proxy = list->first; proxy != NULL; proxy = proxy->next) proxy->seen = false;
    sweep(from, &list->first, false);
    rst_function_proxies_free(list);
}

static void lend_collation(void *context, sqlite3 *on, int encoding, const char *name) {
    rst_function_proxies *list = context;
    UNUSED(encoding);
    if (rst_collation_known(list->connection, name))
        (void)add(list->connection, on, &list->first, name, 0, 0, 'c', false, false);
}

int rst_function_proxies_lend_collations(rst_connection *c, sqlite3 *on, rst_function_proxies *list) {
    list->connection = c;
    return sqlite3_collation_needed(on, list, lend_collation);
}

int rst_function_proxies_sync(rst_connection *c, sqlite3 *schema_db, rst_function_proxies *list) {
    return sync(c, schema_db, &list->first, false);
}

int rst_function_proxies_lend(rst_connection *c, sqlite3 *inner, rst_function_proxies *list) {
    return sync(c, inner, &list->first, true);
}

/* Whether a CREATE, DROP or ALTER may name a function or a collation that SQLite then looks up, as it does not for a
** trigger's. A function is a word before a parenthesis within the first one, or behind WHERE or AS. A list of columns
** is none, nor is a column's type with its length. Some operators are functions, too. */
static bool may_name_functions(const rst_schema_statement *s, const char *sql, const char *end) {
    static const char *const lists[] = {"KEY", "UNIQUE", "CHECK", "DEFAULT"};
    static const char *const names[] = {"COLLATE", "LIKE", "GLOB", "REGEXP", "MATCH"};
    const char *p = sql;
    rst_token token = rst_token_next(&p, end), before = token, before_that = token;
    const bool is_table = rst_schema_statement_is(s, "CREATE", "TABLE");
    bool expressions = false;
    int depth = 0;
    if (rst_token_is(&s->verb, "ALTER") && !rst_token_is(&s->after, "ADD")) return true;
    if (!rst_token_is(&s->verb, "ALTER") && !rst_token_is(&s->verb, "CREATE")) return !rst_token_is(&s->verb, "DROP");
    if (rst_schema_statement_is(s, "CREATE", "TRIGGER")) return false;
    for (; token.type != TOKEN_END; before_that = before, before = token, token = rst_token_next(&p, end)) {
        const char *q = p;
        rst_token next;
        bool list = rst_token_is(&before_that, "REFERENCES");
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            if (rst_token_is(&token, names[i])) return true;
        expressions |= rst_token_is(&token, "WHERE") || rst_token_is(&token, "AS");
        if (rst_token_mark(&token, ")")) depth--;
        if (!rst_token_mark(&token, "(") || (depth++ == 0 && !expressions) || !rst_token_names(&before)) continue;
        for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) list |= rst_token_is(&before, lists[i]);
        next = rst_token_next(&q, end);
        if (!list && (expressions || !is_table || depth > 2 || next.type != TOKEN_NUMBER)) return true;
    }
    return false;
}

/* Whether the stored schema, which ALTER reads again, may name one of the application's: one has a stand-in, or had a
** placeholder when the schema was loaded. */
static bool schema_may_name_functions(const rst_schema *schema) {
    const rst_function_proxy *proxy = schema->function_proxies.first;
    while (proxy != NULL && proxy->own) proxy = proxy->next;
    return proxy != NULL || schema->had_placeholders;
}

int rst_function_proxies_sync_for(rst_connection *c, const char *sql, const char *end) {
    rst_schema *schema = schema_of(c);
    const rst_schema_statement s = rst_schema_statement_read(sql, end);
    if (!may_name_functions(&s, sql, end) && !(rst_token_is(&s.verb, "ALTER") && schema_may_name_functions(schema)))
        return SQLITE_OK;
    return rst_function_proxies_sync(c, schema->schema_db, &schema->function_proxies);
}

/* A schema that was stored may name what this connection has not registered yet: SQLite loads such a schema, and
** refuses the statements that need it. While the schema database is built, placeholders stand in. */
bool rst_function_proxies_placeholder(rst_connection *c, sqlite3 *schema_db, rst_function_proxies *list,
                                      const char *words) {
    schema_of(c)->had_placeholders = true;
    if (strncmp(words, "no such function: ", 18) == 0 && find(list->first, words + 18, -1, 's') == NULL)
        return add(c, schema_db, &list->first, words + 18, -1, SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, 's', true,
                   false) == SQLITE_OK;
    if (strncmp(words, "no such collation sequence: ", 28) == 0 && find(list->first, words + 28, 0, 'c') == NULL)
        return add(c, schema_db, &list->first, words + 28, 0, 0, 'c', true, false) == SQLITE_OK;
    return false;
}

void rst_function_proxies_end_placeholders(sqlite3 *schema_db, rst_function_proxies *list) {
    sweep(schema_db, &list->first, true);
}
