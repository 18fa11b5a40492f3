/*
** connection.c - talking to the server: connections, prepared statements, answers, and what their failures mean.
**
** Everything goes through libpq's pipeline: what is sent is in groups, each ended by a mark (a Sync of the protocol).
*/
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postgres.h"

static _Thread_local char last_words[600];

int postgres_say(int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_words, sizeof last_words, format, arguments);
    va_end(arguments);
    for (size_t end = strlen(last_words); end > 0 && last_words[end - 1] == '\n'; end--) last_words[end - 1] = '\0';
    return code;
}

const char *postgres_words(void) {
    return last_words[0] == '\0' ? "no failure" : last_words;
}

/*
** FAILURES
*/

/* By SQLSTATE, or its class. */
static const struct {
    const char *state;
    int code;
} states[] = {
    {"40001", ROOTSTOCK_CONFLICT},     {"40P01", ROOTSTOCK_CONFLICT},    {"23505", ROOTSTOCK_CONFLICT},
    {"55P03", ROOTSTOCK_BUSY},         {"53100", ROOTSTOCK_FULL},        {"53200", ROOTSTOCK_NO_MEMORY},
    {"53300", ROOTSTOCK_READERS_FULL}, {"54", ROOTSTOCK_FULL},           {"25006", ROOTSTOCK_READ_ONLY},
    {"42501", ROOTSTOCK_PERMISSION},   {"28", ROOTSTOCK_PERMISSION},     {"3D000", ROOTSTOCK_CANNOT_OPEN},
    {"57014", ROOTSTOCK_INTERRUPTED},  {"57P03", ROOTSTOCK_CANNOT_OPEN}, {"XX001", ROOTSTOCK_CORRUPT},
    {"XX002", ROOTSTOCK_CORRUPT},      {"42P01", ROOTSTOCK_NOT_A_STORE}, {"3F000", ROOTSTOCK_NOT_A_STORE},
};

int postgres_answer(const connection *c, const PGresult *result) {
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return ROOTSTOCK_OK;
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *words = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (state == NULL)
        return postgres_say(ROOTSTOCK_IO, "the connection to the server is lost: %s", PQerrorMessage(c->link));
    int code = ROOTSTOCK_IO;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strncmp(state, states[i].state, strlen(states[i].state)) == 0) code = states[i].code;
    return postgres_say(code, "PostgreSQL says: %s (SQLSTATE %s)", words == NULL ? "" : words, state);
}

/*
** SENDING AND RECEIVING
*/

parameter postgres_integer(unsigned char *buffer, int size, uint64_t number) {
    for (int i = 0; i < size; i++) buffer[i] = (unsigned char)(number >> 8 * (size - 1 - i));
    return (parameter){buffer, (size_t)size};
}

uint64_t postgres_number(const void *data, size_t size) {
    uint64_t number = 0;
    for (size_t i = 0; i < size; i++) number = number << 8 | ((const unsigned char *)data)[i];
    return number;
}

static void name_of(char text[12], statement number) {
    snprintf(text, 12, "r%d", (int)number);
}

void postgres_send(connection *c, statement number, int count, const parameter *parameters) {
    const char *values[4];
    int lengths[4], formats[4];
    char name[12];
    for (int i = 0; i < count; i++) {
        /* An empty value is not NULL. */
        values[i] = parameters[i].size == 0 ? "" : parameters[i].data;
        lengths[i] = (int)parameters[i].size;
        formats[i] = 1;
    }
    name_of(name, number);
    PQsendQueryPrepared(c->link, name, count, values, lengths, formats, 1);
}

void postgres_send_text(connection *c, const char *sql) {
    PQsendQueryParams(c->link, sql, 0, NULL, NULL, NULL, NULL, 1);
}

void postgres_mark(connection *c) {
    if (PQpipelineSync(c->link)) c->unread++;
}

void postgres_leave(connection *c) {
    c->nobodys = c->unread;
    PQflush(c->link);
}

static int lost(const connection *c) {
    return postgres_say(ROOTSTOCK_IO, "the connection to the server is lost: %s", PQerrorMessage(c->link));
}

static void count_one(rootstock_environment *environment, connection *c) {
    environment->round_trips++;
    c->round_trips++;
}

int postgres_receive(rootstock_environment *environment, connection *c, PGresult **results, int count) {
    int code = ROOTSTOCK_OK, given = 0, silence = 0;
    count_one(environment, c);
    while (c->unread > 0) {
        PGresult *result = PQgetResult(c->link);
        if (result == NULL) {
            /* Between two answers there is one. */
            if (PQstatus(c->link) == CONNECTION_BAD || ++silence > 1) {
                c->unread = c->nobodys = 0;
                if (code == ROOTSTOCK_OK) code = lost(c);
            }
            continue;
        }
        silence = 0;
        ExecStatusType status = PQresultStatus(result);
        if (status == PGRES_PIPELINE_SYNC) {
            c->unread--;
            if (c->nobodys > 0) c->nobodys--;
        } else if (c->nobodys == 0 && code == ROOTSTOCK_OK && status != PGRES_PIPELINE_ABORTED) {
            code = postgres_answer(c, result);
            if (code == ROOTSTOCK_OK && given < count) {
                results[given++] = result;
                result = NULL;
            }
        }
        PQclear(result);
    }
    if (code == ROOTSTOCK_OK && given < count) code = lost(c);
    if (code != ROOTSTOCK_OK)
        while (given > 0) PQclear(results[--given]);
    return code;
}

int postgres_ask(rootstock_transaction *t, statement number, int count, const parameter *parameters,
                 PGresult **result) {
    postgres_send(t->connection, number, count, parameters);
    postgres_mark(t->connection);
    int code = postgres_receive(t->environment, t->connection, result, 1);
    /* The server's transaction has ended with the failure. */
    if (code != ROOTSTOCK_OK) t->broken = code;
    return code;
}

/*
** CONNECTIONS
*/

/* With the names of entry and counted. */
#define COUNT(number)                                                                                                  \
    " INSERT INTO %2$s AS c VALUES ($1::int, $2::int, " number ")"                                                     \
    " ON CONFLICT (tree, part) DO UPDATE SET entries = c.entries + excluded.entries"

static const char *const texts[STATEMENTS] = {
    [STATEMENT_GET] = "SELECT value FROM %1$s WHERE tree = $1::int AND key = $2::bytea",
    [STATEMENT_SEVERAL] = "SELECT key, value FROM %1$s WHERE tree = $1::int AND key = ANY($2::bytea[])",
    [STATEMENT_FROM] =
        "SELECT key, value FROM %1$s WHERE tree = $1::int AND key >= $2::bytea ORDER BY tree, key LIMIT $3::int",
    [STATEMENT_AFTER] =
        "SELECT key, value FROM %1$s WHERE tree = $1::int AND key > $2::bytea ORDER BY tree, key LIMIT $3::int",
    [STATEMENT_BEFORE] =
        "SELECT key, value FROM %1$s WHERE tree = $1::int AND key < $2::bytea ORDER BY tree DESC, key DESC "
        "LIMIT $3::int",
    [STATEMENT_LAST] = "SELECT key, value FROM %1$s WHERE tree = $1::int ORDER BY tree DESC, key DESC LIMIT $2::int",
    [STATEMENT_WRITE] =
        "WITH written AS (INSERT INTO %1$s SELECT $1::int, k, v FROM unnest($3::bytea[], $4::bytea[]) AS x(k, v) "
        "ON CONFLICT (tree, key) DO UPDATE SET value = excluded.value RETURNING xmax = 0 AS fresh)" COUNT(
            "(SELECT count(*) FROM written WHERE fresh)"),
    [STATEMENT_ADD] =
        "WITH added AS (INSERT INTO %1$s SELECT $1::int, k, v FROM unnest($3::bytea[], $4::bytea[]) AS x(k, v) "
        "RETURNING 1)" COUNT("(SELECT count(*) FROM added)"),
    [STATEMENT_REMOVE] =
        "WITH removed AS (DELETE FROM %1$s WHERE tree = $1::int AND key = ANY($3::bytea[]) RETURNING 1)" COUNT(
            "-(SELECT count(*) FROM removed)"),
    [STATEMENT_CLEAR] = "WITH removed AS (DELETE FROM %1$s WHERE tree = $1::int) DELETE FROM %2$s WHERE tree = $1::int",
    [STATEMENT_SET] = "INSERT INTO %1$s VALUES (0, $1::bytea, $2::bytea) "
                      "ON CONFLICT (tree, key) DO UPDATE SET value = excluded.value",
    [STATEMENT_COUNT] = "SELECT coalesce(sum(entries), 0)::bigint FROM %2$s WHERE tree = $1::int",
    [STATEMENT_SNAPSHOT] = "SELECT " POSTGRES_SNAPSHOT,
    /* The first part that no other session has. */
    [STATEMENT_CLAIM] = "SELECT n FROM generate_series(1, 10000) AS n WHERE pg_try_advisory_lock($1::int, n) LIMIT 1",
};

/* The index gives the rows in order: no plan that sorts or reads the whole table may come of a guess about LIMIT.
** Commits below durability full are written by the server's background writer: a power loss takes the last ones. */
static const char *const settings[] = {
    "SET enable_seqscan = off",  "SET enable_bitmapscan = off", "SET enable_sort = off",
    "SET enable_hashjoin = off", "SET enable_mergejoin = off",  "SET plan_cache_mode = force_generic_plan",
};
static const char settled[] = "SELECT set_config('synchronous_commit', 'on', false) "
                              "WHERE current_setting('synchronous_commit') = 'off'";

static void say_nothing(void *context, const char *words) {
    (void)context, (void)words;
}

static int prepare(rootstock_environment *environment, connection *c) {
    enum { ALL = STATEMENTS + sizeof settings / sizeof *settings + 1 };
    PGresult *results[ALL];
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) postgres_send_text(c, settings[i]);
    postgres_send_text(
        c, environment->options.durability == ROOTSTOCK_DURABILITY_FULL ? settled : "SET synchronous_commit = off");
    postgres_mark(c);
    for (int i = 0; i < STATEMENTS; i++) {
        char *sql = NULL, name[12];
        if (asprintf(&sql, texts[i], environment->table, environment->counted) < 0)
            return postgres_say(ROOTSTOCK_NO_MEMORY, "out of memory");
        name_of(name, (statement)i);
        PQsendPrepare(c->link, name, sql, 0, NULL);
        free(sql);
    }
    postgres_mark(c);
    int code = postgres_receive(environment, c, results, ALL);
    for (int i = 0; code == ROOTSTOCK_OK && i < ALL; i++) PQclear(results[i]);
    return code;
}

static int say_connect(const PGconn *link) {
    const char *words = PQerrorMessage(link);
    int code = strstr(words, "password") != NULL || strstr(words, "authentication") != NULL ||
                       strstr(words, "pg_hba.conf") != NULL || strstr(words, "role ") != NULL
                   ? ROOTSTOCK_PERMISSION
               : strstr(words, "too many clients") != NULL || strstr(words, "remaining connection slots") != NULL
                   ? ROOTSTOCK_READERS_FULL
                   : ROOTSTOCK_CANNOT_OPEN;
    return postgres_say(code, "%s", words);
}

/* Others speak the protocol. What they answer for a snapshot's number need not change with a commit, and then a client
** would go on with the schema of yesterday. */
static int check_server(const PGconn *link) {
    const char *version = PQparameterStatus(link, "server_version");
    const char *name = PQparameterStatus(link, "crdb_version") != NULL                     ? "CockroachDB"
                       : version == NULL || version[0] < '0' || version[0] > '9'           ? "unknown"
                       : strstr(version, "-YB-") != NULL || strstr(version, "-yb") != NULL ? "YugabyteDB"
                                                                                           : NULL;
    if (name == NULL) return ROOTSTOCK_OK;
    return postgres_say(ROOTSTOCK_UNSUPPORTED,
                        "the server is %s, whose snapshots have no numbers: PostgreSQL is needed", name);
}

/* Before the store's table is known, without the statements. */
int postgres_connect(rootstock_environment *environment, connection **result) {
    static const char *const names[] = {"connect_timeout", "fallback_application_name", "dbname", NULL};
    const char *const values[] = {"10", "rootstock", environment->address.server, NULL};
    connection *c = calloc(1, sizeof *c);
    if (c == NULL) return postgres_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    c->link = PQconnectdbParams(names, values, 1);
    count_one(environment, c);
    int code = c->link == NULL ? postgres_say(ROOTSTOCK_NO_MEMORY, "out of memory") : ROOTSTOCK_OK;
    if (code == ROOTSTOCK_OK && PQstatus(c->link) != CONNECTION_OK) code = say_connect(c->link);
    if (code == ROOTSTOCK_OK) code = check_server(c->link);
    if (code == ROOTSTOCK_OK) {
        PQsetNoticeProcessor(c->link, say_nothing, NULL);
        PQenterPipelineMode(c->link);
        if (environment->table != NULL) code = prepare(environment, c);
    }
    if (code != ROOTSTOCK_OK) {
        postgres_disconnect(c);
        return code;
    }
    *result = c;
    return ROOTSTOCK_OK;
}

void postgres_disconnect(connection *c) {
    PQfinish(c->link);
    free(c);
}

int postgres_take(rootstock_environment *environment, connection **result) {
    pthread_mutex_lock(&environment->mutex);
    connection *c = environment->pool;
    if (c != NULL) environment->pool = c->next;
    pthread_mutex_unlock(&environment->mutex);
    if (c == NULL) return postgres_connect(environment, result);
    *result = c;
    return ROOTSTOCK_OK;
}

void postgres_give(rootstock_environment *environment, connection *c) {
    if (PQstatus(c->link) == CONNECTION_BAD) {
        postgres_disconnect(c);
        return;
    }
    c->round_trips = 0;
    pthread_mutex_lock(&environment->mutex);
    c->next = environment->pool;
    environment->pool = c;
    pthread_mutex_unlock(&environment->mutex);
}
