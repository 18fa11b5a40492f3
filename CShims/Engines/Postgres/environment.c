/*
** environment.c - opening, closing, copying and weighing a store, and the engine's table.
*/
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postgres.h"

static const char store_mark[] = "Rootstock on PostgreSQL 2";

/*
** OPENING
*/

static void free_environment(rootstock_environment *e) {
    while (e->names != NULL) {
        tree_name *next = e->names->next;
        free(e->names);
        e->names = next;
    }
    postgres_address_free(&e->address);
    pthread_mutex_destroy(&e->mutex);
    free(e->table);
    free(e->counted);
    free(e->path);
    free(e);
}

void postgres_empty_pool(rootstock_environment *e) {
    pthread_mutex_lock(&e->mutex);
    connection *c = e->pool;
    e->pool = NULL;
    pthread_mutex_unlock(&e->mutex);
    while (c != NULL) {
        connection *next = c->next;
        postgres_disconnect(c);
        c = next;
    }
}

/* One statement with the table's name in it, and its answer. */
static int run(rootstock_environment *e, connection *c, const char *format, PGresult **result) {
    char *sql = NULL;
    PGresult *ignored;
    if (asprintf(&sql, format, e->table, e->address.schema, store_mark, e->counted) < 0)
        return postgres_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    postgres_send_text(c, sql);
    postgres_mark(c);
    free(sql);
    int code = postgres_receive(e, c, result == NULL ? &ignored : result, 1);
    if (code == ROOTSTOCK_OK && result == NULL) PQclear(ignored);
    return code;
}

/* The table's oid; 0: there is none. */
static int find_table(rootstock_environment *e, connection *c) {
    PGresult *result;
    int code = run(e, c, "SELECT coalesce(to_regclass('%1$s')::oid::int, 0)", &result);
    if (code != ROOTSTOCK_OK) return code;
    e->oid = (int)postgres_number(PQgetvalue(result, 0, 0), 4);
    PQclear(result);
    return ROOTSTOCK_OK;
}

/* One client at a time makes a schema's tables. A row that is changed stays on its page where there is room: its entry
** in the index stays, too, and no other writer's page of the index is touched. */
static int create_table(rootstock_environment *e, connection *c) {
    static const char *const steps[] = {
        "BEGIN",
        "SELECT pg_advisory_xact_lock(hashtext('%1$s'))",
        "CREATE SCHEMA IF NOT EXISTS \"%2$s\"",
        "CREATE TABLE IF NOT EXISTS %1$s (tree int NOT NULL, key bytea NOT NULL, value bytea NOT NULL, "
        "PRIMARY KEY (tree, key)) WITH (fillfactor = 80)",
        "CREATE TABLE IF NOT EXISTS %4$s (tree int NOT NULL, part int NOT NULL, entries bigint NOT NULL, "
        "PRIMARY KEY (tree, part)) WITH (fillfactor = 50)",
        "INSERT INTO %1$s VALUES (0, '\\x53', '%3$s') ON CONFLICT DO NOTHING",
        "COMMIT",
    };
    int code = ROOTSTOCK_OK;
    for (size_t i = 0; code == ROOTSTOCK_OK && i < sizeof steps / sizeof *steps; i++) code = run(e, c, steps[i], NULL);
    return code == ROOTSTOCK_OK ? find_table(e, c) : code;
}

static int check_mark(rootstock_environment *e, connection *c) {
    PGresult *result;
    int code = run(e, c, "SELECT value FROM %1$s WHERE tree = 0 AND key = '\\x53'", &result);
    if (code != ROOTSTOCK_OK) return code == ROOTSTOCK_IO ? ROOTSTOCK_NOT_A_STORE : code;
    if (PQntuples(result) == 0)
        code = postgres_say(ROOTSTOCK_NOT_A_STORE, "table %s is there and is no store", e->table);
    else if ((size_t)PQgetlength(result, 0, 0) != sizeof store_mark - 1 ||
             memcmp(PQgetvalue(result, 0, 0), store_mark, sizeof store_mark - 1) != 0)
        code = postgres_say(ROOTSTOCK_VERSION, "a store of another version of the engine");
    PQclear(result);
    return code;
}

static int open_store(rootstock_environment *e) {
    connection *c;
    int code = postgres_connect(e, &c);
    if (code != ROOTSTOCK_OK) return code;
    if (asprintf(&e->table, "\"%s\".entry", e->address.schema) < 0) e->table = NULL;
    if (asprintf(&e->counted, "\"%s\".counted", e->address.schema) < 0) e->counted = NULL;
    if (e->table == NULL || e->counted == NULL) code = postgres_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    if (code == ROOTSTOCK_OK) code = find_table(e, c);
    if (code == ROOTSTOCK_OK && e->oid == 0)
        code = e->options.read_only
                   ? postgres_say(ROOTSTOCK_NOT_A_STORE, "the server has no store in schema \"%s\"", e->address.schema)
                   : create_table(e, c);
    if (code == ROOTSTOCK_OK) code = check_mark(e, c);
    postgres_disconnect(c);
    if (code != ROOTSTOCK_OK) return code;
    code = postgres_connect(e, &c);
    if (code == ROOTSTOCK_OK) postgres_give(e, c);
    return code;
}

/* Words that show no password. */
static void say_failure(const char *path, int code, char **message) {
    const char *at = strstr(path, "://") != NULL ? strrchr(path, '@') : NULL;
    const char *cure =
        code == ROOTSTOCK_PERMISSION ? " (a password stands in the URI, in PGPASSWORD or in ~/.pgpass)" : "";
    int length = at != NULL ? asprintf(message, "cannot open postgresql://...%s: %s%s", at, postgres_words(), cure)
                            : asprintf(message, "cannot open %s: %s%s", path, postgres_words(), cure);
    if (length < 0) *message = NULL;
}

static int postgres_open(const rootstock_engine *engine, const char *path, const rootstock_options *options,
                         rootstock_environment **out, char **message) {
    rootstock_environment *e = calloc(1, sizeof *e);
    int code;
    (void)engine;
    if (e == NULL) return ROOTSTOCK_NO_MEMORY;
    pthread_mutex_init(&e->mutex, NULL);
    e->options = *options;
    e->process = getpid();
    e->path = strdup(path);
    if (e->path == NULL)
        code = postgres_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    else if (options->map_size != 0 || options->write_map != ROOTSTOCK_WRITE_MAP_AUTOMATIC ||
             options->read_ahead != ROOTSTOCK_READ_AHEAD_AUTOMATIC)
        code = postgres_say(ROOTSTOCK_UNSUPPORTED, "engine postgres has no memory map; leave out its options");
    else
        code = postgres_address_find(path, options->read_only, &e->address);
    if (code == ROOTSTOCK_OK) code = open_store(e);
    if (code != ROOTSTOCK_OK) {
        if (message != NULL) say_failure(path, code, message);
        postgres_empty_pool(e);
        free_environment(e);
        return code;
    }
    *out = e;
    return ROOTSTOCK_OK;
}

static void postgres_close(rootstock_environment *e) {
    /* A child that said goodbye to the server would end its parent's sessions. */
    if (e->process != getpid()) return;
    postgres_empty_pool(e);
    free_environment(e);
}

/*
** THE REST
*/

static size_t postgres_maximum_key_size(rootstock_environment *e) {
    (void)e;
    return LONGEST_KEY;
}

/* A commit that waits for the log makes all before it durable. It has to write something for that. */
static int postgres_sync(rootstock_environment *e) {
    if (postgres_is_child(e)) return postgres_refuse_child();
    if (e->options.read_only) return ROOTSTOCK_OK;
    connection *c;
    int code = postgres_take(e, &c);
    if (code != ROOTSTOCK_OK) return code;
    static const char *const steps[] = {"BEGIN", "SET LOCAL synchronous_commit = on",
                                        "UPDATE %1$s SET value = value WHERE tree = 0 AND key = '\\x53'", "COMMIT"};
    for (size_t i = 0; code == ROOTSTOCK_OK && i < sizeof steps / sizeof *steps; i++) code = run(e, c, steps[i], NULL);
    if (code != ROOTSTOCK_OK)
        postgres_disconnect(c);
    else
        postgres_give(e, c);
    return code;
}

static int postgres_statistics(rootstock_environment *e, rootstock_environment_statistics *statistics) {
    PGresult *result = NULL;
    connection *c;
    memset(statistics, 0, sizeof *statistics);
    if (postgres_is_child(e)) return postgres_refuse_child();
    int code = postgres_take(e, &c);
    if (code != ROOTSTOCK_OK) return code;
    code = run(e, c, "SELECT pg_total_relation_size('%1$s') + pg_total_relation_size('%4$s'), " POSTGRES_SNAPSHOT,
               &result);
    /* Asking is not what the store's users have waited for. */
    e->round_trips -= c->round_trips;
    if (code != ROOTSTOCK_OK) {
        postgres_disconnect(c);
        return code;
    }
    postgres_give(e, c);
    if (PQntuples(result) == 1) {
        statistics->file_bytes = postgres_number(PQgetvalue(result, 0, 0), 8);
        statistics->last_transaction = postgres_number(PQgetvalue(result, 0, 1), 8);
    }
    PQclear(result);
    statistics->round_trips = e->round_trips;
    pthread_mutex_lock(&e->mutex);
    statistics->maximum_readers = e->options.maximum_readers;
    for (rootstock_transaction *t = e->readers; t != NULL; t = t->next_reader) {
        statistics->readers++;
        if (statistics->last_transaction > t->identifier + statistics->oldest_reader_lag)
            statistics->oldest_reader_lag = statistics->last_transaction - t->identifier;
    }
    pthread_mutex_unlock(&e->mutex);
    return ROOTSTOCK_OK;
}

static const char *postgres_describe(rootstock_environment *e, int code) {
    (void)e, (void)code;
    return postgres_words();
}

#define TEXT(number) #number
#define VERSION(major, minor) major "." TEXT(minor)

static const rootstock_engine postgres = {
    .abi_version = ROOTSTOCK_ENGINE_ABI,
    .capabilities = ROOTSTOCK_CAPABILITY_DURABLE | ROOTSTOCK_CAPABILITY_MANY_WRITERS,
    .name = "postgres",
    .version = "libpq " VERSION(PG_MAJORVERSION, PG_MINORVERSION_NUM),
    .open = postgres_open,
    .close = postgres_close,
    .begin = postgres_begin,
    .commit = postgres_commit,
    .abort = postgres_abort,
    .reset = postgres_reset,
    .renew = postgres_renew,
    .transaction_identifier = postgres_identifier,
    .tree_open = postgres_tree_open,
    .tree_clear = postgres_tree_clear,
    .tree_statistics = postgres_tree_statistics,
    .get = postgres_get,
    .put = postgres_put,
    .remove = postgres_remove,
    .cursor_open = postgres_cursor_open,
    .cursor_renew = postgres_cursor_renew,
    .cursor_close = postgres_cursor_close,
    .cursor_move = postgres_cursor_move,
    .maximum_key_size = postgres_maximum_key_size,
    .sync = postgres_sync,
    .environment_statistics = postgres_statistics,
    .describe = postgres_describe,
    .cursor_peek = postgres_cursor_peek,
    .get_several = postgres_get_several,
    .restart = postgres_restart,
};

__attribute__((visibility("default"))) const rootstock_engine *rootstock_engine_init(uint32_t abi);

const rootstock_engine *rootstock_engine_init(uint32_t abi) {
    return abi == ROOTSTOCK_ENGINE_ABI ? &postgres : NULL;
}
