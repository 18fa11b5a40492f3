/*
** attached_plan.c - what of a WHERE and ORDER BY an attached store's query gets, and what that is worth.
**
** SQLite asks every condition itself again, so that what is passed on may only leave out rows that fail. Which
** comparison is meant hangs on both sides' affinities, and SQLite does not tell the other side's:
** | the column's affinity | passed on                                                                          |
** |-----------------------|------------------------------------------------------------------------------------|
** | INTEGER, REAL, NUMERIC| every comparison: it is a numeric one, whatever the other side is                  |
** | TEXT, none            | = and IS with a text, blob or NULL; ranges with a text that stands in the statement |
*/
#include "interface/attached.h"

#include "common/constraints.h"

#include <string.h>

static const char *operator_of(int op) {
    switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ: return "=";
    case SQLITE_INDEX_CONSTRAINT_IS: return " IS ";
    case SQLITE_INDEX_CONSTRAINT_GT: return ">";
    case SQLITE_INDEX_CONSTRAINT_GE: return ">=";
    case SQLITE_INDEX_CONSTRAINT_LT: return "<";
    case SQLITE_INDEX_CONSTRAINT_LE: return "<=";
    case SQLITE_INDEX_CONSTRAINT_MATCH: return " MATCH ";
    case SQLITE_INDEX_CONSTRAINT_ISNULL: return " IS NULL";
    case SQLITE_INDEX_CONSTRAINT_ISNOTNULL: return " IS NOT NULL";
    default: return NULL;
    }
}

static bool is_equality(int op) {
    return op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_IS;
}

/* COLLATE where the comparison is under another one than the column's; null: inner has none of that name. */
static const char *collate_of(const rst_attached_column *column, const char *asked) {
    if (sqlite3_stricmp(asked, column == NULL ? "BINARY" : column->collation) == 0) return "";
    if (sqlite3_stricmp(asked, "BINARY") == 0) return " COLLATE BINARY";
    if (sqlite3_stricmp(asked, "NOCASE") == 0) return " COLLATE NOCASE";
    return sqlite3_stricmp(asked, "RTRIM") == 0 ? " COLLATE RTRIM" : NULL;
}

/* Whether the term tells FTS what to look for: t MATCH x, t = x, t(x). Only inner can answer it. */
static bool rules(const rst_attached_shape *shape, const rst_attached_column *column, int op) {
    return shape->hosted && column != NULL && column->hidden && is_equality(op) &&
           sqlite3_stricmp(column->name, "docid") != 0;
}

/* When the term holds, or 0: it is not passed on. */
static char kind_of(const rst_attached_shape *shape, sqlite3_index_info *info, int i,
                    const rst_attached_column *column) {
    const int op = info->aConstraint[i].op;
    sqlite3_value *value = NULL;
    if (op == SQLITE_INDEX_CONSTRAINT_ISNULL || op == SQLITE_INDEX_CONSTRAINT_ISNOTNULL) return TERM_WITHOUT_VALUE;
    if (op == SQLITE_INDEX_CONSTRAINT_MATCH || rules(shape, column, op)) return TERM_ALWAYS;
    if (column == NULL || column->affinity >= AFFINITY_NUMERIC) return TERM_ALWAYS;
    if (is_equality(op)) return TERM_TEXT;
    if (sqlite3_vtab_rhs_value(info, i, &value) == SQLITE_OK && sqlite3_value_type(value) == SQLITE_TEXT)
        return TERM_ALWAYS;
    return 0;
}

static void add_name(sqlite3_str *text, const rst_attached_shape *shape, int column) {
    if (column < 0)
        sqlite3_str_appendf(text, "t.%s", shape->rowid);
    else
        sqlite3_str_appendf(text, "t.\"%w\"", shape->columns[column].name);
}

/* How many rows are left of an index's walk. */
static double index_rows(const rst_attached_shape *shape, const rst_attached_index *index, const bool *equal,
                         const bool *ranged) {
    double rows = (double)(shape->rows < 1 ? 1 : shape->rows);
    int i = 0;
    for (; i < index->count && index->columns[i] >= 0 && equal[index->columns[i]]; i++) rows = rows / 20 + 1;
    if (i == index->count && index->unique) return 1;
    if (i < index->count && index->columns[i] >= 0 && ranged[index->columns[i]]) rows = rows / 4 + 1;
    return rows;
}

static int add_terms(const rst_attached_shape *shape, sqlite3_index_info *info, sqlite3_str *text, bool *equal,
                     bool *ranged, bool *one_row) {
    int values = 0;
    for (int i = 0; i < info->nConstraint; i++) {
        const int place = info->aConstraint[i].iColumn, op = info->aConstraint[i].op;
        const char *words = operator_of(op), *collate;
        const rst_attached_column *column = place >= 0 && place < shape->count ? &shape->columns[place] : NULL;
        char kind;
        if (op == SQLITE_INDEX_CONSTRAINT_MATCH && !info->aConstraint[i].usable) return -1; /* only inner can */
        if (!info->aConstraint[i].usable || words == NULL || place >= shape->count) continue;
        if (place < 0 && shape->rowid == NULL) continue;
        collate = collate_of(column, sqlite3_vtab_collation(info, i));
        kind = collate == NULL ? 0 : kind_of(shape, info, i, column);
        /* SQLite checks an IN whose values come one by one again, without the affinity of the list. It checks one whose
        ** list is taken whole itself. */
        if (kind == TERM_TEXT && (rst_plan_is_untold_in(info, i) || sqlite3_vtab_in(info, i, -1)))
            kind = collate[0] == '\0' && sqlite3_vtab_in(info, i, 1) ? TERM_TEXTS : 0;
        if (kind == 0) continue;
        sqlite3_str_appendf(text, "\1%c", kind);
        add_name(text, shape, place);
        if (kind == TERM_TEXTS) {
            sqlite3_str_appendf(text, " IN (SELECT value FROM json_each(?%d))", ++values);
            info->aConstraintUsage[i].argvIndex = values;
            equal[place] = true;
            continue;
        }
        sqlite3_str_appendall(text, words);
        if (kind != TERM_WITHOUT_VALUE) {
            sqlite3_str_appendf(text, "?%d%s", ++values, collate);
            info->aConstraintUsage[i].argvIndex = values;
            info->aConstraintUsage[i].omit = op == SQLITE_INDEX_CONSTRAINT_MATCH || rules(shape, column, op);
        }
        if (is_equality(op) && (place < 0 || place == shape->rowid_column)) *one_row = true;
        if (place >= 0 && (collate[0] == '\0' || rules(shape, column, op)))
            *(is_equality(op) ? &equal[place] : &ranged[place]) = true;
    }
    return values;
}

/* The rows of a plan that SQLite is not to choose. */
static const double NEVER = 1e50;

/* What FTS and R-Tree would say, about. */
static double hosted_rows(const rst_attached_shape *shape, const sqlite3_index_info *info, const bool *equal,
                          const bool *ranged) {
    double rows = 1000000;
    for (int i = 0; i < shape->count; i++) {
        if (shape->columns[i].hidden && (equal[i] || ranged[i])) return 25;
        if (equal[i] || ranged[i]) rows = rows / 4 + 1;
    }
    for (int i = 0; i < info->nConstraint; i++) {
        const int place = info->aConstraint[i].iColumn;
        if (place >= 0 && place < shape->count && !info->aConstraint[i].usable &&
            rules(shape, &shape->columns[place], info->aConstraint[i].op))
            return NEVER; /* without it they would give every row */
    }
    return rows;
}

/* Whether inner gives the rows in the order without sorting them. FTS's functions, snippet(t) and the like, ask the
** module's cursor: while inner gives what it has sorted, that one stands elsewhere. */
static bool module_orders(const rst_attached_shape *shape, const sqlite3_index_info *info, const bool *equal,
                          const bool *ranged) {
    const int place = info->nOrderBy == 1 ? info->aOrderBy[0].iColumn : shape->count;
    const rst_attached_column *column;
    if (place < 0 || place >= shape->count) return place < 0;
    column = &shape->columns[place];
    if (!column->hidden || place == 0) return false;
    if (sqlite3_stricmp(column[-1].name, shape->name) != 0) return false;
    return sqlite3_stricmp(column->name, "docid") == 0 ||
           (sqlite3_stricmp(column->name, "rank") == 0 && (equal[place - 1] || ranged[place - 1]));
}

static void add_order(const rst_attached_shape *shape, sqlite3_index_info *info, sqlite3_str *text) {
    for (int i = 0; i < info->nOrderBy; i++) {
        const int place = info->aOrderBy[i].iColumn;
        if (place >= shape->count || (place < 0 && shape->rowid == NULL)) return;
    }
    for (int i = 0; i < info->nOrderBy; i++) {
        sqlite3_str_appendall(text, i == 0 ? " ORDER BY " : ",");
        add_name(text, shape, info->aOrderBy[i].iColumn);
        if (info->aOrderBy[i].desc) sqlite3_str_appendall(text, " DESC");
    }
    info->orderByConsumed = info->nOrderBy > 0;
}

/* Whether a hidden column of the front door's has a value: arguments stand behind the table. */
static bool is_called(const rst_attached_shape *shape, const sqlite3_index_info *info) {
    for (int i = 0; i < info->nConstraint && !shape->hosted; i++)
        if (info->aConstraint[i].iColumn == rst_attached_names_column(shape)) return true;
    return false;
}

int rst_attached_best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
    rst_attached_vtab *vtab = (rst_attached_vtab *)base;
    const rst_attached_shape *shape = &vtab->shape;
    bool one_row = false, *equal = sqlite3_malloc64((sqlite3_uint64)shape->count * 2 + 1),
         *ranged = equal + shape->count;
    sqlite3_str *text;
    double rows = (double)(shape->rows < 1 ? 1 : shape->rows);
    if (equal == NULL) return SQLITE_NOMEM;
    if (shape->name == NULL) { /* the counter: a statement of one row at most needs no savepoint */
        info->idxFlags |= SQLITE_INDEX_SCAN_UNIQUE;
        info->estimatedRows = 1;
        sqlite3_free(equal);
        return SQLITE_OK;
    }
    if (shape->broken != NULL) {
        sqlite3_free(equal);
        return rst_take_message(base, SQLITE_ERROR, sqlite3_mprintf("%s", shape->broken));
    }
    if (is_called(shape, info)) {
        sqlite3_free(equal);
        return rst_take_message(base, SQLITE_ERROR, sqlite3_mprintf("'%s' is not a function", shape->name));
    }
    memset(equal, 0, (size_t)shape->count * 2);
    text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "SELECT %s",
                        shape->without_rowid                   ? "t.\"rootstock key\""
                        : shape->rowid != NULL && !shape->view ? "t."
                                                               : "NULL");
    if (!shape->without_rowid && shape->rowid != NULL && !shape->view) sqlite3_str_appendall(text, shape->rowid);
    for (int i = 0; i < shape->count; i++) {
        /* The last bit stands for all columns behind it. */
        if (info->colUsed & ((sqlite3_uint64)1 << (i < 63 ? i : 63)))
            sqlite3_str_appendf(text, ",t.\"%w\"", shape->columns[i].name);
        else
            sqlite3_str_appendall(text, ",0");
    }
    sqlite3_str_appendf(text, " FROM main.\"%w\" AS t", shape->name);
    if (add_terms(shape, info, text, equal, ranged, &one_row) < 0) {
        sqlite3_free(sqlite3_str_finish(text));
        sqlite3_free(equal);
        return SQLITE_CONSTRAINT;
    }
    sqlite3_str_appendall(text, "\2");
    if (!shape->hosted || module_orders(shape, info, equal, ranged)) add_order(shape, info, text);
    for (int i = 0; i < shape->index_count; i++) {
        double left = index_rows(shape, &shape->indexes[i], equal, ranged);
        if (left < rows) rows = left;
    }
    if (shape->hosted) rows = hosted_rows(shape, info, equal, ranged);
    if (one_row && rows < NEVER) {
        rows = 1;
        info->idxFlags |= SQLITE_INDEX_SCAN_UNIQUE;
    }
    sqlite3_free(equal);
    info->estimatedRows = rows < NEVER ? (sqlite3_int64)rows : INT32_MAX;
    info->estimatedCost = 4 + rows * 2;
    info->idxStr = sqlite3_str_finish(text);
    info->needToFreeIdxStr = 1;
    return info->idxStr == NULL ? SQLITE_NOMEM : SQLITE_OK;
}
