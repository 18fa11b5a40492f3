/*
** listing.c - a table-valued function whose rows are all made when it is first read.
**
** What every listing shares: declaring itself, taking its arguments, keeping its rows and giving them out. Invariant: a
** cursor holds no snapshot and no statement after xFilter.
*/
#include "interface/interface.h"
#include "interface/check.h"
#include "common/eponymous.h"

#include <stdarg.h>
#include <string.h>

typedef struct cell {
    int type; /* SQLITE_INTEGER, SQLITE_TEXT or SQLITE_NULL */
    sqlite3_int64 integer;
    char *text;
} cell;

struct rst_listing {
    const rst_listing_definition *definition;
    cell *cells;
    sqlite3_uint64 count, capacity; /* of cells */
};

typedef struct listing_cursor {
    sqlite3_vtab_cursor base; /* must be first */
    rst_listing listing;
    sqlite3_uint64 row;
} listing_cursor;

static const rst_listing_definition *const definitions[] = {&rst_integrity_listing, &rst_foreign_listing,
                                                            &rst_explain_listing};

enum { DEFINITIONS = sizeof definitions / sizeof definitions[0] };

int rst_listing_add(rst_listing *listing, const char *format, ...) {
    va_list arguments;
    int code = SQLITE_OK;
    sqlite3_uint64 columns = strlen(format);
    if (listing->count + columns > listing->capacity) {
        sqlite3_uint64 capacity = listing->capacity * 2 + columns * 8;
        cell *more = sqlite3_realloc64(listing->cells, capacity * sizeof *more);
        if (more == NULL) return SQLITE_NOMEM;
        listing->cells = more;
        listing->capacity = capacity;
    }
    va_start(arguments, format);
    for (const char *p = format; *p != '\0'; p++) {
        cell *to = &listing->cells[listing->count++];
        const char *text;
        memset(to, 0, sizeof *to);
        to->type = SQLITE_NULL;
        if (*p == 'i') {
            to->type = SQLITE_INTEGER;
            to->integer = va_arg(arguments, sqlite3_int64);
        } else if (*p == 's' && (text = va_arg(arguments, const char *)) != NULL) {
            to->type = SQLITE_TEXT;
            to->text = sqlite3_mprintf("%s", text);
            if (to->text == NULL) code = SQLITE_NOMEM;
        }
    }
    va_end(arguments);
    return code;
}

static void listing_clear(rst_listing *listing) {
    for (sqlite3_uint64 i = 0; i < listing->count; i++) sqlite3_free(listing->cells[i].text);
    sqlite3_free(listing->cells);
    listing->cells = NULL;
    listing->count = listing->capacity = 0;
}

static int listing_connect(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                           char **message) {
    const rst_listing_definition *definition = NULL;
    UNUSED(count);
    UNUSED(message);
    for (int i = 0; i < DEFINITIONS; i++) {
        if (sqlite3_stricmp(arguments[0], definitions[i]->name) == 0) definition = definitions[i];
    }
    if (definition == NULL) return SQLITE_ERROR;
    /* A schema (a view, a trigger) has no business starting a walk through the whole store. */
    return rst_eponymous_connect(db, context, definition->columns, SQLITE_VTAB_DIRECTONLY, definition, out);
}

/* idxNum: bit n is set if the n-th argument is given; the arguments come in their order. */
static int listing_best(sqlite3_vtab *base, sqlite3_index_info *info) {
    const rst_listing_definition *definition = ((rst_eponymous *)base)->definition;
    int next = 1;
    info->estimatedCost = 1000000;
    info->estimatedRows = 100;
    for (int n = 0; n < 4 && definition->arguments[n] >= 0; n++) {
        bool hidden = definition->arguments[n] >= definition->column_count;
        int found = -1;
        for (int i = 0; i < info->nConstraint; i++) {
            const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
            if (constraint->iColumn != definition->arguments[n] || constraint->op != SQLITE_INDEX_CONSTRAINT_EQ)
                continue;
            if (constraint->usable)
                found = i;
            else if (hidden)
                return SQLITE_CONSTRAINT;
        }
        if (found < 0) continue;
        info->aConstraintUsage[found].argvIndex = next++;
        info->aConstraintUsage[found].omit = hidden;
        info->idxNum |= 1 << n;
    }
    return SQLITE_OK;
}

static int listing_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    int code = rst_eponymous_open(base, sizeof(listing_cursor), out);
    if (code == SQLITE_OK) ((listing_cursor *)*out)->listing.definition = ((rst_eponymous *)base)->definition;
    return code;
}

static int listing_close(sqlite3_vtab_cursor *base) {
    listing_clear(&((listing_cursor *)base)->listing);
    return rst_eponymous_close(base);
}

static int listing_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values) {
    listing_cursor *cursor = (listing_cursor *)base;
    const rst_eponymous *vtab = (rst_eponymous *)base->pVtab;
    const rst_listing_definition *definition = vtab->definition;
    sqlite3_value *arguments[4] = {NULL, NULL, NULL, NULL};
    char *message = NULL;
    int next = 0, code = SQLITE_OK;
    UNUSED(text);
    for (int n = 0; n < 4; n++) {
        if ((number & 1 << n) != 0 && next < count) arguments[n] = values[next++];
    }
    listing_clear(&cursor->listing);
    cursor->row = 0;
    rst_call_enter();
    code = definition->fill(vtab->connection, arguments, &cursor->listing, &message);
    code = rst_leave(vtab->connection, code);
    if (code == SQLITE_OK) rst_forget_message(&message);
    return rst_take_message(base->pVtab, code, message);
}

static int listing_next(sqlite3_vtab_cursor *base) {
    ((listing_cursor *)base)->row++;
    return SQLITE_OK;
}

static int listing_eof(sqlite3_vtab_cursor *base) {
    const listing_cursor *cursor = (listing_cursor *)base;
    return cursor->row * (sqlite3_uint64)cursor->listing.definition->column_count >= cursor->listing.count;
}

static int listing_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    const listing_cursor *cursor = (listing_cursor *)base;
    int columns = cursor->listing.definition->column_count;
    const cell *from;
    if (column >= columns) return SQLITE_OK;
    from = &cursor->listing.cells[cursor->row * (sqlite3_uint64)columns + (sqlite3_uint64)column];
    if (from->type == SQLITE_INTEGER)
        sqlite3_result_int64(context, from->integer);
    else if (from->type == SQLITE_TEXT)
        sqlite3_result_text(context, from->text, -1, SQLITE_TRANSIENT);
    return SQLITE_OK;
}

static int listing_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
    *rowid = (sqlite3_int64)((listing_cursor *)base)->row + 1;
    return SQLITE_OK;
}

static const sqlite3_module listing_module = {
    .xConnect = listing_connect,
    .xBestIndex = listing_best,
    .xDisconnect = rst_eponymous_disconnect,
    .xOpen = listing_open,
    .xClose = listing_close,
    .xFilter = listing_filter,
    .xNext = listing_next,
    .xEof = listing_eof,
    .xColumn = listing_column,
    .xRowid = listing_rowid,
};

int rst_check_register(rst_connection *c) {
    int code = SQLITE_OK;
    for (int i = 0; i < DEFINITIONS && code == SQLITE_OK; i++)
        code = rst_module(c, definitions[i]->name, &listing_module);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_info", 0, SQLITE_DIRECTONLY, rst_info_function);
    return code;
}
