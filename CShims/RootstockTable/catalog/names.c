/*
** names.c - names that a table's rowid goes by, columns that a list of names or a SET means, and collations.
*/
#include "catalog/catalog.h"
#include "catalog/column_sets.h"

#include <string.h>

const char *rst_rowid_word(const rst_table *table) {
    static const char *const words[] = {"rowid", "oid", "_rowid_"};
    for (int k = 0; k < 3; k++) {
        bool taken = false;
        for (int i = 0; table->has_rowid_name && i < table->column_count && !taken; i++)
            taken = sqlite3_stricmp(table->columns[i].name, words[k]) == 0;
        if (!taken) return words[k];
    }
    return NULL;
}

const char *rst_rowid_name(const rst_table *table) {
    return table->rowid_column >= 0 ? table->columns[table->rowid_column].name : rst_rowid_word(table);
}

bool rst_collation_number(const char *name, uint8_t *collation) {
    if (name == NULL || sqlite3_stricmp(name, "BINARY") == 0)
        *collation = ROOTSTOCK_COLLATION_BINARY;
    else if (sqlite3_stricmp(name, "NOCASE") == 0)
        *collation = ROOTSTOCK_COLLATION_NOCASE;
    else if (sqlite3_stricmp(name, "RTRIM") == 0)
        *collation = ROOTSTOCK_COLLATION_RTRIM;
    else
        *collation = UINT8_MAX;
    return *collation != UINT8_MAX;
}

int rst_column_named(const rst_table *table, const rst_token *name) {
    for (int i = 0; i < table->column_count; i++) {
        if (rst_token_same_name(name, table->columns[i].name)) return i;
    }
    return -1;
}

int rst_rowid_names_in(const rst_table *table, rst_span names) {
    static const char *const words[] = {"rowid", "oid", "_rowid_"};
    const char *p = names.start;
    bool name = true;
    int depth = 0, found = 0;
    while (p != NULL && p < names.end && !table->without_rowid) {
        rst_token token = rst_token_next(&p, names.end);
        if (token.type == TOKEN_END) break;
        if (rst_token_mark(&token, "(")) depth++;
        if (rst_token_mark(&token, ")")) depth--;
        if (depth == 0 && rst_token_mark(&token, "=")) name = false;
        if (depth == 0 && rst_token_mark(&token, ",")) name = true;
        for (int i = 0; i < 3 && name && rst_token_names(&token); i++) {
            if (rst_token_same_name(&token, words[i])) found |= 1 << i;
        }
    }
    /* A column of that name is one like others. */
    for (int i = 0; i < table->column_count && found != 0; i++) {
        for (int k = 0; k < 3; k++) {
            if (sqlite3_stricmp(table->columns[i].name, words[k]) == 0) found &= ~(1 << k);
        }
    }
    return found;
}

int rst_columns_set(const rst_table *table, rst_span set, uint64_t *bits, uint64_t **beyond) {
    const char *p = set.start;
    bool name = true;
    int depth = 0, code = SQLITE_OK;
    while (p < set.end && code == SQLITE_OK) {
        rst_token token = rst_token_next(&p, set.end);
        if (token.type == TOKEN_END) break;
        if (rst_token_mark(&token, "("))
            depth++;
        else if (rst_token_mark(&token, ")"))
            depth--;
        else if (rst_token_mark(&token, "=") && depth == 0)
            name = false;
        else if (rst_token_mark(&token, ",") && depth == 0)
            name = true;
        else if (name) {
            for (int i = 0; i < table->column_count && code == SQLITE_OK; i++) {
                if (rst_token_same_name(&token, table->columns[i].name)) code = rst_columns_add(table, i, bits, beyond);
            }
        }
    }
    return code;
}
