/*
** index_text.c - the columns of an index off its text, where the text lists nothing but columns.
**
** A PRAGMA tells them of any index, for the price of a statement. Invariant: what is read here is what it would tell;
** a text that leaves a doubt gives no column.
*/
#include "catalog/catalog.h"
#include "catalog/describe.h"
#include "parser/tokens.h"

#include <string.h>

bool rst_index_is_plain(const rst_object *object) {
    const char *p = object->sql, *end;
    rst_token token;
    if (p == NULL) return true; /* of a UNIQUE or a PRIMARY KEY */
    end = p + strlen(p);
    do {
        token = rst_token_next(&p, end);
    } while (token.type != TOKEN_END && !rst_token_mark(&token, "("));
    for (token = rst_token_next(&p, end); token.type != TOKEN_END; token = rst_token_next(&p, end)) {
        if (rst_token_mark(&token, ")")) return rst_token_next(&p, end).type == TOKEN_END;
        if (rst_token_is(&token, "COLLATE") || (!rst_token_names(&token) && !rst_token_mark(&token, ","))) return false;
    }
    return false;
}

static int column_named(const rst_table *table, const rst_token *token) {
    for (int i = 0; i < table->column_count; i++) {
        if (rst_token_same_name(token, table->columns[i].name)) return i;
    }
    return -1;
}

int rst_index_columns(const rst_table *table, const rst_object *object, int **out, int *out_count) {
    const char *p = object->sql, *end;
    rst_token token;
    int *columns, count = 0;
    *out = NULL;
    *out_count = 0;
    if (p == NULL || !rst_index_is_plain(object)) return SQLITE_OK;
    end = p + strlen(p);
    do {
        token = rst_token_next(&p, end);
    } while (!rst_token_mark(&token, "("));
    columns = sqlite3_malloc64((sqlite3_uint64)(end - p) * sizeof *columns); /* more than it can list */
    if (columns == NULL) return SQLITE_NOMEM;
    do {
        const rst_token name = rst_token_next(&p, end);
        columns[count] = column_named(table, &name);
        token = rst_token_next(&p, end);
        if (columns[count++] < 0 || !(rst_token_mark(&token, ",") || rst_token_mark(&token, ")"))) { /* DESC, say */
            sqlite3_free(columns);
            return SQLITE_OK;
        }
    } while (!rst_token_mark(&token, ")"));
    *out = columns;
    *out_count = count;
    return SQLITE_OK;
}
