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

int rst_eponymous_connect(sqlite3 *db, rst_connection *c, const char *columns, const rst_eponymous_kind *kind,
                          sqlite3_vtab **out) {
    char *sql = columns == NULL ? NULL : sqlite3_mprintf("CREATE TABLE x(%s)", columns);
    rst_eponymous *vtab;
    int code = sql == NULL ? SQLITE_NOMEM : rst_declare_columns(db, sql);
    sqlite3_free(sql);
    if (code == SQLITE_OK) code = sqlite3_vtab_config(db, kind->config);
    if (code != SQLITE_OK) return code;
    vtab = sqlite3_malloc64(sizeof *vtab);
    if (vtab == NULL) return SQLITE_NOMEM;
    *vtab = (rst_eponymous){.connection = c, .kind = *kind};
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

int rst_eponymous_best(sqlite3_vtab *vtab, sqlite3_index_info *info) {
    const rst_eponymous_kind *kind = &((rst_eponymous *)vtab)->kind;
    int given[EPONYMOUS_ARGUMENTS] = {0}, next = 1; /* given: the constraint, from 1 */
    for (int i = 0; i < info->nConstraint; i++) {
        const int argument = info->aConstraint[i].iColumn - kind->first;
        if (argument < 0 || argument >= kind->count || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
        if (info->aConstraint[i].usable)
            given[argument] = i + 1;
        else if (!kind->shown)
            return SQLITE_CONSTRAINT;
    }
    info->idxNum = 0;
    for (int argument = 0; argument < kind->count; argument++) {
        if (given[argument] == 0 && argument < kind->least) return SQLITE_CONSTRAINT;
        if (given[argument] == 0) continue;
        info->aConstraintUsage[given[argument] - 1].argvIndex = next++;
        info->aConstraintUsage[given[argument] - 1].omit = !kind->shown;
        info->idxNum |= 1 << argument;
    }
    info->estimatedCost = kind->cost > 0 ? kind->cost : 1;
    if (kind->rows > 0) info->estimatedRows = kind->rows;
    return SQLITE_OK;
}

int rst_eponymous_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out) {
    rst_eponymous *own = (rst_eponymous *)vtab;
    struct rst_spare_cursor *taken = own->spares;
    if (taken != NULL)
        own->spares = taken->next;
    else
        taken = sqlite3_malloc64(own->kind.cursor);
    *out = (sqlite3_vtab_cursor *)(void *)taken;
    if (taken == NULL) return SQLITE_NOMEM;
    memset(taken, 0, own->kind.cursor);
    return SQLITE_OK;
}

int rst_eponymous_close(sqlite3_vtab_cursor *cursor) {
    rst_eponymous *vtab = (rst_eponymous *)cursor->pVtab;
    struct rst_spare_cursor *spare = (struct rst_spare_cursor *)(void *)cursor;
    spare->next = vtab->spares;
    vtab->spares = spare;
    return SQLITE_OK;
}

int rst_counted_next(sqlite3_vtab_cursor *base) {
    ((rst_counted_cursor *)base)->row++;
    return SQLITE_OK;
}

int rst_counted_eof(sqlite3_vtab_cursor *base) {
    return ((rst_counted_cursor *)base)->row >= ((rst_counted_cursor *)base)->count;
}

int rst_counted_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
    *rowid = ((rst_counted_cursor *)base)->row + 1;
    return SQLITE_OK;
}
