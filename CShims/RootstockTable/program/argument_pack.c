/*
** argument_pack.c - any number of values through an SQL function, which takes 127 at most.
**
** rootstock_pack(value, ...) gives a pointer to its values; one of packs gives a pack of all of theirs. The front door
** packs the parameters of a statement that the store runs itself, where there are many of them. Rows of RETURNING come
** as packs, whose columns rootstock_value(pack, n) takes. Invariant: a pack's values live as long as the SQL value that
** holds it.
*/
#include "program/program.h"
#include "program/argument_pack.h"

#include <string.h>

/* FEW: SQLite checks the arguments of a table-valued function behind the sixteenth anew, against columns that are
** NULL. */
enum { GROUP = 100, FEW = 12 };

static const char pack_type[] = "rootstock_pack";

typedef struct rst_pack {
    int count;
    sqlite3_value *values[];
} rst_pack;

static void pack_free(void *pointer) {
    rst_pack *pack = pointer;
    for (int i = 0; i < pack->count; i++) sqlite3_value_free(pack->values[i]);
    sqlite3_free(pack);
}

static int flat_count(int count, sqlite3_value **values) {
    int total = 0;
    for (int i = 0; i < count; i++) {
        const rst_pack *pack = sqlite3_value_pointer(values[i], pack_type);
        total += pack == NULL ? 1 : pack->count;
    }
    return total;
}

int rst_argument_pack_open(int count, sqlite3_value **values, sqlite3_value ***flat, int *total) {
    int at = 0;
    *flat = NULL;
    *total = flat_count(count, values);
    *flat = sqlite3_malloc64(((sqlite3_uint64)*total + 1) * sizeof **flat);
    if (*flat == NULL) return SQLITE_NOMEM;
    for (int i = 0; i < count; i++) {
        rst_pack *pack = sqlite3_value_pointer(values[i], pack_type);
        if (pack == NULL)
            (*flat)[at++] = values[i];
        else
            for (int k = 0; k < pack->count; k++) (*flat)[at++] = pack->values[k];
    }
    return SQLITE_OK;
}

static bool has_pack(int count, sqlite3_value **values) {
    for (int i = 0; i < count; i++)
        if (sqlite3_value_type(values[i]) == SQLITE_NULL && sqlite3_value_pointer(values[i], pack_type) != NULL)
            return true;
    return false;
}

void rst_argument_pack_run(sqlite3_context *context, int count, sqlite3_value **values, rst_packed_run *run) {
    rst_connection *c = rst_function_connection(context);
    const char *text = (const char *)sqlite3_value_text(values[0]);
    sqlite3_value **flat = NULL;
    char *message = NULL;
    int code = SQLITE_OK, total = count - 1;
    if (text == NULL || store_of(c)->shared == NULL) {
        rst_function_fail(context, c, SQLITE_ERROR, sqlite3_mprintf("no store is open on this connection"));
        return;
    }
    if (has_pack(total, values + 1)) code = rst_argument_pack_open(total, values + 1, &flat, &total);
    if (code == SQLITE_OK) code = run(c, text, total, flat != NULL ? flat : values + 1, &message);
    sqlite3_free(flat);
    rst_function_end(context, c, code, message);
}

static void pack_function(sqlite3_context *context, int count, sqlite3_value **values) {
    sqlite3_value **flat = NULL;
    rst_pack *pack = NULL;
    int total = 0, code = rst_argument_pack_open(count, values, &flat, &total);
    if (code == SQLITE_OK) pack = sqlite3_malloc64(sizeof *pack + (sqlite3_uint64)total * sizeof(sqlite3_value *));
    if (pack == NULL) {
        sqlite3_free(flat);
        sqlite3_result_error_nomem(context);
        return;
    }
    pack->count = 0;
    for (int i = 0; i < total; i++) {
        sqlite3_value *copy = sqlite3_value_dup(flat[i]);
        if (copy == NULL) {
            pack_free(pack);
            sqlite3_free(flat);
            sqlite3_result_error_nomem(context);
            return;
        }
        pack->values[pack->count++] = copy;
    }
    sqlite3_free(flat);
    sqlite3_result_pointer(context, pack, pack_type, pack_free);
}

static const char row_type[] = "rootstock_row";

void rst_argument_pack_row(sqlite3_context *context, rst_result_row *row) {
    sqlite3_result_pointer(context, row, row_type, NULL);
}

/* rootstock_value(row, n): the n-th column of a row of RETURNING. */
static void value_function(sqlite3_context *context, int count, sqlite3_value **values) {
    const rst_result_row *row = sqlite3_value_pointer(values[0], row_type);
    int number = sqlite3_value_int(values[1]);
    UNUSED(count);
    if (row != NULL && number >= 0 && number < row->count) sqlite3_result_value(context, row->values[number]);
}

/* Names [from, to) as arguments, no more than GROUP in a call. */
static void append_names(sqlite3_str *out, const char *const *names, int from, int to) {
    int size = 1;
    while ((to - from + size - 1) / size > GROUP) size *= GROUP;
    for (int at = from; at < to; at += size) {
        int end = at + size < to ? at + size : to;
        if (at > from) sqlite3_str_appendall(out, ",");
        if (size == 1) {
            sqlite3_str_appendall(out, names[at]);
        } else {
            sqlite3_str_appendall(out, "rootstock_pack(");
            append_names(out, names, at, end);
            sqlite3_str_appendall(out, ")");
        }
    }
}

int rst_argument_pack_arguments(const rst_parameters *parameters, sqlite3_str *out) {
    const char **names = sqlite3_malloc64(((sqlite3_uint64)parameters->highest + 1) * sizeof *names);
    int used = 0;
    if (names == NULL) return SQLITE_NOMEM;
    for (int n = 1; n <= parameters->highest; n++) {
        if (parameters->names[n] != NULL) names[used++] = parameters->names[n];
    }
    if (used > 0) sqlite3_str_appendall(out, used > FEW ? ",rootstock_pack(" : ",");
    append_names(out, names, 0, used);
    if (used > FEW) sqlite3_str_appendall(out, ")");
    sqlite3_free(names);
    return SQLITE_OK;
}

int rst_argument_pack_register(rst_connection *c) {
    int code = rst_function(c, "rootstock_pack", -1, SQLITE_DIRECTONLY, pack_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_value", 2, SQLITE_DIRECTONLY, value_function);
    return code;
}
