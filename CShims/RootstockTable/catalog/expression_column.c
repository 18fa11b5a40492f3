/*
** expression_column.c - indexed expressions as hidden columns of their table, so that a query can be read in their
** order.
**
** SQLite tells a virtual table of an ORDER BY or GROUP BY only if all its terms are columns. So each indexed expression
** that the front door understands is a hidden column, `rootstock expression TABLE NUMBER`. ORDER BY lower(name) becomes
** ORDER BY that column (expression_orders.c). A plan that walks the index finds the column's value in the entry. Any
** other plan leaves it to SQLite to compute from the row: the index was dropped since, or another serves better.
**
** Invariant: a name means one expression of one table for as long as the connection lives. A statement may outlive the
** index, and is prepared anew by SQLite from the text that the front door gave it.
**
** Rowid tables only: another row is not found again by one value.
*/
#include "catalog/catalog.h"
#include "catalog/expression_texts.h"
#include "catalog/expression_column.h"

#include <string.h>

enum { MOST = 16 }; /* expressions of a table that are shown */

static bool same_expression(const rst_expression_column *shown, const rst_part *part) {
    const char *own = shown->part.collation_name, *other = part->collation_name;
    if (part->column != -2 || part->expression == NULL || strcmp(shown->part.expression, part->expression) != 0)
        return false;
    return sqlite3_stricmp(own == NULL ? "BINARY" : own, other == NULL ? "BINARY" : other) == 0;
}

bool rst_expression_column_is(const rst_expression_column *shown, const rst_part *part) {
    return same_expression(shown, part);
}

/* Whether it is one of the table's, and all of its columns are there: ALTER TABLE may have taken one away since, or its
** name. A statement that still asks for it is refused then, as SQLite would refuse it. */
static bool is_live(const rst_table *table, const rst_expression_column *shown) {
    rst_part part = shown->part;
    rst_index alone = {.parts = &part, .part_count = 1};
    rst_indexed understood;
    return shown->table == table->identifier && rst_indexed_understand(table, &alone, 0, &understood);
}

static int add(rst_table *table, const rst_part *part) {
    rst_expression_column **link = &schema_of(table->connection)->shown, *shown;
    int number = 0;
    for (; *link != NULL; link = &(*link)->next) number += (*link)->table == table->identifier;
    shown = sqlite3_malloc64(sizeof *shown);
    if (shown == NULL) return SQLITE_NOMEM;
    memset(shown, 0, sizeof *shown);
    shown->table = table->identifier;
    shown->number = number;
    shown->part = *part;
    shown->part.expression = sqlite3_mprintf("%s", part->expression);
    shown->part.collation_name = sqlite3_mprintf("%s", part->collation_name == NULL ? "BINARY" : part->collation_name);
    if (shown->part.expression == NULL || shown->part.collation_name == NULL) {
        sqlite3_free(shown->part.expression);
        sqlite3_free(shown->part.collation_name);
        sqlite3_free(shown);
        return SQLITE_NOMEM;
    }
    *link = shown;
    return SQLITE_OK;
}

int rst_expression_column_load(rst_table *table) {
    rst_connection *c = table->connection;
    rst_schema *schema = schema_of(c);
    int count = 0;
    if (schema->sidecar || table->without_rowid || table->internal || rst_rowid_word(table) == NULL) return SQLITE_OK;
    for (const rst_expression_column *shown = schema->shown; shown != NULL; shown = shown->next)
        count += is_live(table, shown);
    for (int i = 0; i < table->index_count; i++) {
        for (int p = 0; p < table->indexes[i].part_count && count < MOST; p++) {
            const rst_part *part = &table->indexes[i].parts[p];
            rst_indexed understood;
            bool known = false;
            if (part->column != -2 || !rst_indexed_understand(table, &table->indexes[i], p, &understood)) continue;
            for (const rst_expression_column *shown = schema->shown; shown != NULL; shown = shown->next)
                known |= shown->table == table->identifier && same_expression(shown, part);
            if (known) continue;
            if (add(table, part) != SQLITE_OK) return SQLITE_NOMEM;
            count++;
        }
    }
    if (count == 0) return SQLITE_OK;
    table->shown = sqlite3_malloc64((sqlite3_uint64)count * sizeof *table->shown);
    if (table->shown == NULL) return SQLITE_NOMEM;
    for (const rst_expression_column *shown = schema->shown; shown != NULL; shown = shown->next) {
        if (is_live(table, shown)) table->shown[table->shown_count++] = shown;
    }
    return SQLITE_OK;
}

void rst_expression_column_free(rst_connection *c) {
    rst_schema *schema = schema_of(c);
    while (schema->shown != NULL) {
        rst_expression_column *shown = schema->shown;
        schema->shown = shown->next;
        sqlite3_free(shown->part.expression);
        sqlite3_free(shown->part.collation_name);
        sqlite3_free(shown);
    }
}

const rst_expression_column *rst_expression_column_at(const rst_table *table, int column) {
    int place = column - table->column_count - HIDDEN_KEY;
    return place < 0 || place >= table->shown_count ? NULL : table->shown[place];
}

void rst_expression_column_declare(const rst_table *table, sqlite3_str *text) {
    for (int i = 0; i < table->shown_count; i++) {
        const rst_expression_column *shown = table->shown[i];
        sqlite3_str_appendf(text, ",\"rootstock expression %lld %d\" BLOB HIDDEN COLLATE \"%w\"",
                            (long long)table->identifier, shown->number, shown->part.collation_name);
    }
}

bool rst_expression_column_name(const rst_table *table, const rst_part *part, char *name, int size) {
    for (int i = 0; i < table->shown_count; i++) {
        const rst_expression_column *shown = table->shown[i];
        if (!same_expression(shown, part)) continue;
        sqlite3_snprintf(size, name, "rootstock expression %lld %d", (long long)table->identifier, shown->number);
        return true;
    }
    return false;
}

static bool is_indexed(const rst_table *table, const rst_expression_column *shown) {
    for (int i = 0; i < table->index_count; i++) {
        for (int p = 0; p < table->indexes[i].part_count; p++)
            if (same_expression(shown, &table->indexes[i].parts[p])) return true;
    }
    return false;
}

int rst_expression_column_result(rst_table *table, const rst_expression_column *shown, int64_t rowid,
                                 sqlite3_context *context) {
    rst_connection *c = table->connection;
    sqlite3_stmt *statement = NULL;
    char *sql;
    int code;
    sql = sqlite3_mprintf("SELECT (%s) FROM main.\"%w\" WHERE %s=?1", shown->part.expression, table->declared_name,
                          rst_rowid_word(table));
    if (sql == NULL) return SQLITE_NOMEM;
    code = rst_statement_get(c, sql, &statement);
    sqlite3_free(sql);
    if (code != SQLITE_OK) return code;
    sqlite3_bind_int64(statement, 1, rowid);
    code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        sqlite3_result_value(context, sqlite3_column_value(statement, 0));
        code = SQLITE_OK;
    } else if (code == SQLITE_DONE) {
        code = SQLITE_OK; /* deleted since the cursor came here */
    } else if (sqlite3_errcode(c->db) == SQLITE_ERROR && !is_indexed(table, shown)) {
        /* It cannot be computed, and need not be for the row to be there. UPDATE ... FROM reads it, like all columns,
        ** for nothing. */
        code = SQLITE_OK;
    }
    rst_statement_done(c, statement);
    return code;
}

bool rst_expression_column_stale(rst_connection *c, const rst_table *table) {
    if (schema_of(c)->shown == NULL) return false; /* nothing was ever shown */
    for (const rst_vtab *vtab = schema_of(c)->vtabs; vtab != NULL; vtab = vtab->next) {
        if (vtab->table != NULL && sqlite3_stricmp(vtab->table->declared_name, table->declared_name) == 0)
            return vtab->shown != table->shown_count;
    }
    return false;
}
