/*
** listing.c - a table-valued function whose rows are all made when it is first read.
**
** What every listing shares: declaring itself, taking its arguments, keeping its rows and giving them out. Invariant: a
** cursor holds no snapshot and no statement after xFilter.
*/
#include "interface/interface.h"
#include "interface/check.h"
#include "common/eponymous.h"

#include <string.h>

typedef struct cell {
    int type; /* SQLITE_INTEGER, SQLITE_TEXT or SQLITE_NULL */
    sqlite3_int64 integer;
    char *text;
} cell;

struct rst_listing {
    cell *cells;
    sqlite3_uint64 count, capacity; /* of cells */
};

typedef struct listing_cursor {
    rst_counted_cursor shown; /* must be first */
    rst_listing listing;
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
    return rst_eponymous_connect(db, context, definition->columns,
                                 &(rst_eponymous_kind){.config = SQLITE_VTAB_DIRECTONLY,
                                                       .cursor = sizeof(listing_cursor),
                                                       .first = definition->argument,
                                                       .count = definition->arguments,
                                                       .shown = definition->argument < definition->column_count,
                                                       .cost = 1000000,
                                                       .rows = 100,
                                                       .definition = definition},
                                 out);
}

static int listing_close(sqlite3_vtab_cursor *base) {
    listing_clear(&((listing_cursor *)base)->listing);
    return rst_eponymous_close(base);
}

static int listing_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values) {
    listing_cursor *cursor = (listing_cursor *)base;
    const rst_eponymous *vtab = (rst_eponymous *)base->pVtab;
    const rst_listing_definition *definition = vtab->kind.definition;
    sqlite3_value *arguments[2] = {NULL, NULL};
    char *message = NULL;
    int next = 0, code = SQLITE_OK;
    UNUSED(text);
    for (int n = 0; n < definition->arguments; n++) {
        if ((number & 1 << n) != 0 && next < count) arguments[n] = values[next++];
    }
    listing_clear(&cursor->listing);
    cursor->shown.row = cursor->shown.count = 0;
    rst_call_enter();
    code = definition->fill(vtab->connection, arguments, &cursor->listing, &message);
    code = rst_leave(vtab->connection, code);
    if (code == SQLITE_OK) cursor->shown.count = (sqlite3_int64)cursor->listing.count / definition->column_count;
    if (code == SQLITE_OK) rst_forget_message(&message);
    return rst_take_message(base->pVtab, code, message);
}

static int listing_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    const listing_cursor *cursor = (listing_cursor *)base;
    const int columns = ((const rst_listing_definition *)((rst_eponymous *)base->pVtab)->kind.definition)->column_count;
    const cell *from;
    if (column >= columns) return SQLITE_OK;
    from = &cursor->listing.cells[cursor->shown.row * columns + column];
    if (from->type == SQLITE_INTEGER)
        sqlite3_result_int64(context, from->integer);
    else if (from->type == SQLITE_TEXT)
        sqlite3_result_text(context, from->text, -1, SQLITE_TRANSIENT);
    return SQLITE_OK;
}

static const sqlite3_module listing_module = {
    .xConnect = listing_connect,
    .xBestIndex = rst_eponymous_best,
    .xDisconnect = rst_eponymous_disconnect,
    .xOpen = rst_eponymous_open,
    .xClose = listing_close,
    .xFilter = listing_filter,
    .xNext = rst_counted_next,
    .xEof = rst_counted_eof,
    .xColumn = listing_column,
    .xRowid = rst_counted_rowid,
};

int rst_check_register(rst_connection *c) {
    int code = SQLITE_OK;
    for (int i = 0; i < DEFINITIONS && code == SQLITE_OK; i++)
        code = rst_module(c, definitions[i]->name, &listing_module);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_info", 0, SQLITE_DIRECTONLY, rst_info_function);
    if (code == SQLITE_OK) code = rst_pages_register(c);
    return code;
}
