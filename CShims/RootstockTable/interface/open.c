/*
** open.c - a store is opened on a connection: options, engine, schema.
**
** Invariant: an opening that fails half way leaves the connection as one that has no store.
*/
#include "interface/interface.h"
#include "ddl/declare.h"
#include "executor/trigger.h"
#include "catalog/schema_sandbox.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_READER_WARNING = 1000 };

/* Told once for each environment of a process. */
static void tell(rootstock_shared *shared, int *told, int code, const char *text) {
    if (text == NULL) return;
    rootstock_shared_lock(shared);
    bool again = *told != 0;
    *told = 1;
    rootstock_shared_unlock(shared);
    if (!again) sqlite3_log(code, "%s: %s", shared->path, text);
}

/* Why the engine serves the store otherwise than it was asked to, and what opening did to it. */
static void tell_opening(rootstock_shared *shared) {
    tell(shared, &shared->notice_told, SQLITE_WARNING, shared->notice);
    tell(shared, &shared->repair_told, SQLITE_NOTICE_RECOVER_WAL, shared->repair);
}

/* Goes through the store's pages as a whole, once for each environment of a process. Libraries under engines believe
** what a page says when they change it, so that a damaged one ends the process or spoils its memory. */
static int verify_pages(rst_connection *c, char **message) {
    rst_store *store = store_of(c);
    rootstock_shared *shared = store->shared;
    rootstock_transaction *transaction;
    char words[ROOTSTOCK_VERIFY_WORDS] = "";
    if (store->engine->verify == NULL) {
        rst_set_message(message, "cannot open %s: engine %s has no option verifyPages; leave it out", shared->path,
                        store->engine->name);
        return SQLITE_ERROR;
    }
    rootstock_shared_lock(shared);
    bool verified = shared->verified != 0;
    rootstock_shared_unlock(shared);
    if (verified) return SQLITE_OK;
    int code = store->engine->begin(shared->environment, 0, NULL, NULL, &transaction);
    if (code != ROOTSTOCK_OK) return rst_map_error(c, code, message);
    code = store->engine->verify(transaction, rst_stop, c, words);
    int mapped = code == ROOTSTOCK_OK || words[0] != '\0' ? rst_map_code(NULL, code) : rst_map_error(c, code, message);
    store->engine->abort(transaction);
    if (words[0] != '\0' && code != ROOTSTOCK_OK)
        rst_set_message(message, "cannot open %s: its pages contradict each other: %s (restore it from a copy)",
                        shared->path, words);
    if (mapped != SQLITE_OK) return mapped;
    rootstock_shared_lock(shared);
    shared->verified = 1;
    rootstock_shared_unlock(shared);
    return SQLITE_OK;
}

static int may_check_pages(rst_connection *c, char **message) {
    const rst_store *store = store_of(c);
    if (store->engine->capabilities & ROOTSTOCK_CAPABILITY_CHECKS_PAGES) return SQLITE_OK;
    rst_set_message(message,
                    "cannot open %s: engine %s%s%s has no option checkPages; leave it out, or ask for verifyPages",
                    store->shared->path, store->engine->name, store->engine->form != NULL ? ":" : "",
                    store->engine->form != NULL ? store->engine->form : "");
    return SQLITE_ERROR;
}

int rst_store_open(rst_connection *c, const char *path, const rootstock_engine *engine,
                   const rootstock_options *options, char **message) {
    rst_definitions *definitions = definitions_of(c);
    rst_store *store = store_of(c);
    char *text = NULL;
    size_t limit;
    rootstock_options wanted = *options;
    wanted.falls_back = 1;
    int code = rootstock_environment_acquire(engine, path, &wanted, &store->shared, &text);
    if (code != ROOTSTOCK_OK) {
        store->shared = NULL;
        rst_set_message(message, "%s", text != NULL ? text : rootstock_code_name(code));
        free(text);
        return rst_map_code(NULL, code);
    }
    engine = store->engine = store->shared->engine;
    tell_opening(store->shared);
    store->read_only |= options->read_only != 0;
    rewriter_of(c)->temporary_names = rst_has_temp(c);
    limit = engine->maximum_key_size(store->shared->environment);
    store->long_key_limit = limit == 0 ? SIZE_MAX : limit - 8;
    const uint32_t places = ROOTSTOCK_CAPABILITY_FILE | ROOTSTOCK_CAPABILITY_DIRECTORY | ROOTSTOCK_CAPABILITY_DURABLE;
    store->far = (store->engine->capabilities & places) == ROOTSTOCK_CAPABILITY_DURABLE;
    rst_checksums_keep(c, false); /* until the catalog is read */
    code = store->checks_pages ? may_check_pages(c, message) : SQLITE_OK;
    if (code == SQLITE_OK && store->verifies) code = verify_pages(c, message);
    if (code == SQLITE_OK) code = rst_schema_load(c, message);
    if (code == SQLITE_OK) code = rst_txn_hook_attach(c, message);
    definitions->opening = true;
    if (code == SQLITE_OK) code = rst_schema_declare(c, message);
    definitions->opening = false;
    if (code == SQLITE_OK && definitions->declared_count == 0) {
        /* A store's texts are UTF-8. PRAGMA encoding has no effect on a connection that has met an object in a schema;
        ** before, it would make texts of another kind of all that the store gives. */
        code = rst_execute(c, message, "CREATE VIEW main.\"rootstock encoding\" AS SELECT 1");
        if (code == SQLITE_OK) code = rst_execute(c, message, "DROP VIEW main.\"rootstock encoding\"");
    }
    return code;
}

/* What is open must be undone when opening fails half way. */
static void open_failed(rst_connection *c) {
    rst_statements_finalize(c);
    if (rst_txn_hook_is_attached(c)) (void)rst_execute(c, NULL, "DETACH rootstock");
    rst_store_close(c);
    store_of(c)->read_only = false;
}

/* One member of the options: its type and its value as json_each gives them, as text and as a number. */
static int set_option(rst_connection *c, rootstock_options *options, const char *key, const char *type,
                      const char *text, sqlite3_int64 number, char **message) {
    bool good = true, flag = strcmp(type, "true") == 0;
    const bool is_flag = flag || strcmp(type, "false") == 0, is_integer = strcmp(type, "integer") == 0;
    const bool is_number = is_integer && number > 0;
    if (strcmp(key, "durability") == 0) {
        if (text == NULL)
            good = false;
        else if (strcmp(text, "off") == 0)
            options->durability = ROOTSTOCK_DURABILITY_OFF;
        else if (strcmp(text, "normal") == 0)
            options->durability = ROOTSTOCK_DURABILITY_NORMAL;
        else if (strcmp(text, "full") == 0)
            options->durability = ROOTSTOCK_DURABILITY_FULL;
        else
            good = false;
    } else if (strcmp(key, "mapSize") == 0) {
        good = is_number;
        options->map_size = (uint64_t)number;
    } else if (strcmp(key, "maxReaders") == 0) {
        good = is_number && number <= 1 << 20;
        options->maximum_readers = (uint32_t)number;
    } else if (strcmp(key, "readerWarning") == 0) {
        good = is_integer && number >= 0;
        store_of(c)->reader_warning = (uint64_t)number;
    } else if (strcmp(key, "checksum") == 0) {
        good = is_flag;
        store_of(c)->wants_checksums = flag;
    } else if (strcmp(key, "checkPages") == 0) {
        good = is_flag;
        store_of(c)->checks_pages = flag;
    } else if (strcmp(key, "verifyPages") == 0) {
        good = is_flag;
        store_of(c)->verifies = flag;
    } else if (strcmp(key, "readOnly") == 0) {
        /* "connection": the others of the process may write. */
        store_of(c)->read_only = text != NULL && strcmp(text, "connection") == 0;
        good = is_flag || store_of(c)->read_only;
        options->read_only = flag;
    } else if (strcmp(key, "removeLock") == 0) {
        good = is_flag;
        options->remove_lock = flag;
    } else if (strcmp(key, "writeMap") == 0) {
        good = is_flag;
        options->write_map = flag ? ROOTSTOCK_WRITE_MAP_ALWAYS : ROOTSTOCK_WRITE_MAP_NEVER;
    } else if (strcmp(key, "pageAccess") == 0) {
        options->page_access = text == NULL                 ? ROOTSTOCK_PAGE_ACCESS_AUTOMATIC
                               : strcmp(text, "none") == 0  ? ROOTSTOCK_PAGE_ACCESS_NONE
                               : strcmp(text, "read") == 0  ? ROOTSTOCK_PAGE_ACCESS_READ
                               : strcmp(text, "write") == 0 ? ROOTSTOCK_PAGE_ACCESS_WRITE
                                                            : ROOTSTOCK_PAGE_ACCESS_AUTOMATIC;
        good = options->page_access != ROOTSTOCK_PAGE_ACCESS_AUTOMATIC;
    } else if (strcmp(key, "commit") == 0) {
        options->commit = text == NULL                  ? ROOTSTOCK_COMMIT_AUTOMATIC
                          : strcmp(text, "plain") == 0  ? ROOTSTOCK_COMMIT_PLAIN
                          : strcmp(text, "sealed") == 0 ? ROOTSTOCK_COMMIT_SEALED
                                                        : ROOTSTOCK_COMMIT_AUTOMATIC;
        good = options->commit != ROOTSTOCK_COMMIT_AUTOMATIC;
    } else if (strcmp(key, "engineOptions") == 0) {
        good = strcmp(type, "text") == 0;
        sqlite3_free((char *)options->engine_options);
        options->engine_options = good ? sqlite3_mprintf("%s", text) : NULL;
        if (good && options->engine_options == NULL) return SQLITE_NOMEM;
    } else if (strcmp(key, "readAhead") == 0) {
        good = is_flag;
        options->read_ahead = flag ? ROOTSTOCK_READ_AHEAD_ALWAYS : ROOTSTOCK_READ_AHEAD_NEVER;
    } else {
        rst_set_message(
            message,
            "unknown option \"%s\": the options are checkPages, checksum, commit, durability, engineOptions, mapSize, "
            "maxReaders, pageAccess, readAhead, readerWarning, readOnly, removeLock, verifyPages, writeMap",
            key);
        return SQLITE_ERROR;
    }
    if (!good) rst_set_message(message, "option \"%s\" cannot be %s", key, text == NULL ? "null" : text);
    return good ? SQLITE_OK : SQLITE_ERROR;
}

enum { PLAIN_WORD = 24 };

static const char *behind_space(const char *p) {
    while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r') p++;
    return p;
}

/* A short string of ASCII without escapes. Behind it; or null: it is longer to tell. */
static const char *read_string(const char *p, char *to) {
    size_t size = 0;
    if (*p++ != '"') return NULL;
    for (; *p != '"'; p++) {
        if (*p < ' ' || *p > '~' || *p == '\\' || size + 1 == PLAIN_WORD) return NULL;
        to[size++] = *p;
    }
    to[size] = '\0';
    return p + 1;
}

/* A value: such a string, a number without sign, point and exponent, true or false. */
static const char *read_value(const char *p, char *text, const char **type, sqlite3_int64 *number) {
    size_t size = 0;
    *number = 0;
    if (*p == '"') {
        *type = "text";
        return read_string(p, text);
    }
    if (strncmp(p, "true", 4) == 0 || strncmp(p, "false", 5) == 0) {
        *number = *p == 't';
        *type = *p == 't' ? "true" : "false";
        sqlite3_snprintf(PLAIN_WORD, text, "%d", (int)*number);
        return p + (*p == 't' ? 4 : 5);
    }
    if (p[0] == '0' && p[1] >= '0' && p[1] <= '9') return NULL;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (size == 18) return NULL;
        text[size++] = *p;
        *number = *number * 10 + (*p - '0');
    }
    text[size] = '\0';
    *type = "integer";
    return size == 0 ? NULL : p;
}

/* The options as they come as a rule, one object of such members: what json_each would give, without a statement for
** it. SQLITE_NOTFOUND: they are longer to tell, and nothing was done. */
static int set_plain_options(rst_connection *c, const char *json, rootstock_options *options, char **message) {
    for (int pass = 0; pass < 2; pass++) {
        const char *p = behind_space(json);
        bool more = true;
        if (*p != '{') return SQLITE_NOTFOUND;
        p = behind_space(p + 1);
        if (*p == '}') more = false;
        while (more) {
            char key[PLAIN_WORD], text[PLAIN_WORD];
            const char *type;
            sqlite3_int64 number;
            p = read_string(p, key);
            if (p == NULL) return SQLITE_NOTFOUND;
            p = behind_space(p);
            if (*p != ':') return SQLITE_NOTFOUND;
            p = read_value(behind_space(p + 1), text, &type, &number);
            if (p == NULL) return SQLITE_NOTFOUND;
            p = behind_space(p);
            more = *p == ',';
            if (!more && *p != '}') return SQLITE_NOTFOUND;
            if (more) p = behind_space(p + 1);
            if (pass == 1) {
                int code = set_option(c, options, key, type, text, number, message);
                if (code != SQLITE_OK) return code;
            }
        }
        if (*behind_space(p + 1) != '\0') return SQLITE_NOTFOUND;
    }
    return SQLITE_OK;
}

static int parse_options(rst_connection *c, const char *json, rootstock_options *options, char **message) {
    sqlite3_stmt *statement;
    int code = set_plain_options(c, json, options, message);
    if (code != SQLITE_NOTFOUND) return code;
    code = sqlite3_prepare_v2(c->db, "SELECT key, value, type FROM json_each(?1)", -1, &statement, NULL);
    if (code != SQLITE_OK) return code;
    if (sqlite3_bind_text(statement, 1, json, -1, SQLITE_STATIC) != SQLITE_OK) {
        sqlite3_finalize(statement);
        return SQLITE_NOMEM;
    }
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        bool is_member = sqlite3_column_type(statement, 0) == SQLITE_TEXT;
        bool has_value = sqlite3_column_type(statement, 1) != SQLITE_NULL;
        const char *key = (const char *)sqlite3_column_text(statement, 0);
        const char *type = (const char *)sqlite3_column_text(statement, 2);
        const char *text = (const char *)sqlite3_column_text(statement, 1);
        sqlite3_int64 number = sqlite3_column_int64(statement, 1);
        int set;
        if (type == NULL || (is_member && key == NULL) || (has_value && text == NULL)) {
            sqlite3_finalize(statement);
            return SQLITE_NOMEM;
        }
        if (!is_member) {
            rst_set_message(message, "options must be a JSON object, as {\"durability\":\"normal\"}");
            set = SQLITE_ERROR;
        } else {
            set = set_option(c, options, key, type, text, number, message);
        }
        if (set != SQLITE_OK) {
            sqlite3_finalize(statement);
            return set;
        }
    }
    sqlite3_finalize(statement);
    if (code == SQLITE_NOMEM) return code;
    if (code != SQLITE_DONE) {
        rst_set_message(message, "options are not JSON: %s", json);
        return SQLITE_ERROR;
    }
    return SQLITE_OK;
}

/* Names the engines that there are: the name may be misspelt, or the engine not registered yet. */
static void set_no_engine(const char *name, char **message) {
    sqlite3_str *known = sqlite3_str_new(NULL);
    const rootstock_engine *engine;
    char *names;
    for (size_t n = 0; (engine = rootstock_engine_at(n)) != NULL; n++)
        sqlite3_str_appendf(known, "%s%s", n == 0 ? "" : ", ", engine->name);
    names = sqlite3_str_finish(known);
    rst_set_message(message, "no such engine: %s (there are %s; others are registered before a store is opened)", name,
                    names == NULL ? "" : names);
    sqlite3_free(names);
}

static int open_store(sqlite3 *db, const char *path, const char *engine_name, const char *options_json, int *tables,
                      char **message) {
    rootstock_options options;
    const rootstock_engine *engine;
    rst_connection *c;
    const char *file;
    bool full;
    int code = rootstock_register(db);
    if (code != SQLITE_OK) return code;
    memset(&options, 0, sizeof options);
    c = rst_connection_of(db);
    if (c == NULL) return SQLITE_NOMEM;
    if (store_of(c)->shared == NULL) {
        store_of(c)->reader_warning = DEFAULT_READER_WARNING;
        store_of(c)->wants_checksums = store_of(c)->checks_pages = store_of(c)->verifies = false;
    }
    if (path == NULL || path[0] == '\0') {
        rst_set_message(message, "a store needs a path");
        return SQLITE_CANTOPEN;
    }
    if (store_of(c)->shared != NULL) {
        rst_set_message(message, "this connection has a store open already (%s): open another connection",
                        store_of(c)->shared->path);
        return SQLITE_ERROR;
    }
    if (!sqlite3_get_autocommit(db)) {
        rst_set_message(message, "a store cannot be opened inside a transaction");
        return SQLITE_ERROR;
    }
    engine = rootstock_engine_find(engine_name == NULL || engine_name[0] == '\0' ? "lmdb" : engine_name);
    if (engine == NULL) {
        set_no_engine(engine_name, message);
        return SQLITE_ERROR;
    }
    /* A file of that name would be nobody's wish. */
    if (strcmp(path, ":memory:") == 0 &&
        (engine->capabilities & (ROOTSTOCK_CAPABILITY_FILE | ROOTSTOCK_CAPABILITY_DIRECTORY)) != 0) {
        rst_set_message(message,
                        ":memory: is SQLite's name for a database without a file, and engine %s keeps files: name one",
                        engine->name);
        return SQLITE_CANTOPEN;
    }
    file = sqlite3_db_filename(db, "main");
    if (file != NULL && file[0] != '\0') {
        rst_set_message(
            message,
            "a store is opened on a :memory: connection; for tables beside those of %s use CREATE VIRTUAL TABLE ... "
            "USING %s",
            file, engine->name);
        return SQLITE_ERROR;
    }
    code = rst_has_row(db, &full, "SELECT 1 FROM main.sqlite_master");
    if (code == SQLITE_OK && full) {
        rst_set_message(message, "a store is opened on a connection without tables of its own");
        code = SQLITE_ERROR;
    }
    if (code == SQLITE_OK && options_json != NULL && options_json[0] != '\0') {
        code = parse_options(c, options_json, &options, message);
    }
    if (code == SQLITE_OK) {
        code = rst_call_code(rst_store_open(c, path, engine, &options, message));
        if (code != SQLITE_OK) open_failed(c);
    }
    sqlite3_free((char *)options.engine_options);
    if (code == SQLITE_OK && tables != NULL) {
        *tables = 0;
        for (int i = 0; i < schema_of(c)->table_count; i++) *tables += !schema_of(c)->tables[i]->internal;
    }
    return code;
}

int rootstock_open(sqlite3 *db, const char *path, const char *engine_name, const char *options_json, int *tables,
                   char **message) {
    int code;
    rst_call_enter();
    code = rst_call_leave(open_store(db, path, engine_name, options_json, tables, message));
    if (code == SQLITE_NOMEM) rst_set_message(message, "out of memory");
    return code;
}

int rootstock_backup(sqlite3 *db, const char *path, char **message) {
    rst_connection *c = rst_connection_of(db);
    if (c == NULL || store_of(c)->shared == NULL || path == NULL) {
        rst_set_message(message, "no store is open on this connection");
        return SQLITE_MISUSE;
    }
    return rst_store_copy(c, path, message);
}
