/*
** eponymous.c - a table-valued function's table and cursor, made and freed.
**
** A statement of ours opens such a cursor or two each time it runs, so the memory of closed ones is kept with the
** table. Invariant: what is handed to SQLite is zeroed but for what is set here, as sqlite3_vtab asks.
*/
#include "common/eponymous.h"

#include <string.h>

struct rst_spare_cursor {
    struct rst_spare_cursor *next;
};

int rst_eponymous_connect(sqlite3 *db, rst_connection *c, const char *columns, int config, const void *definition,
                          sqlite3_vtab **out) {
    char *sql = columns == NULL ? NULL : sqlite3_mprintf("CREATE TABLE x(%s)", columns);
    rst_eponymous *vtab;
    int code = sql == NULL ? SQLITE_NOMEM : rst_declare_columns(db, sql);
    sqlite3_free(sql);
    if (code == SQLITE_OK) code = sqlite3_vtab_config(db, config);
    if (code != SQLITE_OK) return code;
    vtab = sqlite3_malloc64(sizeof *vtab);
    if (vtab == NULL) return SQLITE_NOMEM;
    memset(vtab, 0, sizeof *vtab);
    vtab->connection = c;
    vtab->definition = definition;
    *out = &vtab->base;
    return SQLITE_OK;
}

int rst_eponymous_disconnect(sqlite3_vtab *vtab) {
    struct rst_spare_cursor *spare = ((rst_eponymous *)vtab)->spares, *next;
    for (; spare != NULL; spare = next) {
        next = spare->next;
        sqlite3_free(spare);
    }
    sqlite3_free(vtab);
    return SQLITE_OK;
}

int rst_eponymous_best(sqlite3_index_info *info, int first, int least) {
    info->idxNum = 0;
    for (int i = 0; i < info->nConstraint; i++) {
        const int argument = info->aConstraint[i].iColumn - first + 1;
        if (argument < 1 || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
        if (!info->aConstraint[i].usable) return SQLITE_CONSTRAINT;
        info->aConstraintUsage[i].argvIndex = argument;
        info->aConstraintUsage[i].omit = 1;
        if (argument > info->idxNum) info->idxNum = argument;
    }
    info->estimatedCost = 1;
    return info->idxNum < least ? SQLITE_CONSTRAINT : SQLITE_OK;
}

int rst_eponymous_open(sqlite3_vtab *vtab, size_t size, sqlite3_vtab_cursor **out) {
    struct rst_spare_cursor **spares = &((rst_eponymous *)vtab)->spares, *taken = *spares;
    if (taken != NULL)
        *spares = taken->next;
    else
        taken = sqlite3_malloc64(size);
    *out = (sqlite3_vtab_cursor *)(void *)taken;
    if (taken == NULL) return SQLITE_NOMEM;
    memset(taken, 0, size);
    return SQLITE_OK;
}

int rst_eponymous_close(sqlite3_vtab_cursor *cursor) {
    rst_eponymous *vtab = (rst_eponymous *)cursor->pVtab;
    struct rst_spare_cursor *spare = (struct rst_spare_cursor *)(void *)cursor;
    spare->next = vtab->spares;
    vtab->spares = spare;
    return SQLITE_OK;
}
