/*
** names.c - names that a table's rowid goes by, columns that a list of names or a SET means, and collations.
*/
#include "catalog/catalog.h"
#include "catalog/column_sets.h"

#include <string.h>

const char *rst_rowid_word(const rst_table *table) {
    for (int k = 0; k < ROWID_WORDS; k++)
        if (!table->has_rowid_name || rst_column_called(table, rst_rowid_words[k]) < 0) return rst_rowid_words[k];
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
        *collation = ROOTSTOCK_COLLATION_OWN;
    return *collation != ROOTSTOCK_COLLATION_OWN;
}

int rst_column_called(const rst_table *table, const char *name) {
    for (int i = 0; i < table->column_count; i++)
        if (sqlite3_stricmp(table->columns[i].name, name) == 0) return i;
    return -1;
}

int rst_column_named(const rst_table *table, const rst_token *name) {
    for (int i = 0; i < table->column_count; i++) {
        if (rst_token_same_name(name, table->columns[i].name)) return i;
    }
    return -1;
}

/* A walk over a list of names, or those to the left of the = of a SET. */
typedef struct left_side {
    const char *p, *end;
    int depth;
    bool right; /* behind an = */
} left_side;

static bool next_name(left_side *side, rst_token *name) {
    while (side->p < side->end) {
        *name = rst_token_next(&side->p, side->end);
        if (rst_token_mark(name, "("))
            side->depth++;
        else if (rst_token_mark(name, ")"))
            side->depth--;
        else if (side->depth == 0 && (rst_token_mark(name, "=") || rst_token_mark(name, "==")))
            side->right = true;
        else if (side->depth == 0 && rst_token_mark(name, ","))
            side->right = false;
        else if (!side->right && rst_token_names(name))
            return true;
    }
    return false;
}

int rst_rowid_names_in(const rst_table *table, rst_span names) {
    left_side side = {.p = names.start, .end = names.end};
    rst_token name;
    int found = 0;
    while (!table->without_rowid && next_name(&side, &name)) {
        for (int i = 0; i < ROWID_WORDS; i++) {
            /* A column of that name is one like others. */
            if (rst_token_same_name(&name, rst_rowid_words[i]) && rst_column_named(table, &name) < 0) found |= 1 << i;
        }
    }
    return found;
}

int rst_key_named_alike(const rst_table *table, rst_span set, rst_span text, char **out) {
    left_side side = {.p = set.start, .end = set.end};
    rst_edits edits = {0};
    rst_token name;
    bool own = false;
    *out = NULL;
    if (table->rowid_column < 0) return SQLITE_OK;
    while (next_name(&side, &name)) {
        const rst_span one = {name.text, name.text + name.size};
        if (rst_column_named(table, &name) == table->rowid_column)
            own = true;
        else if (rst_rowid_names_in(table, one) != 0)
            rst_edits_add(&edits, one.start, one.end, sqlite3_mprintf("\"%w\"", rst_rowid_name(table)));
    }
    if (own) return rst_edits_apply(&edits, text.start, text.end, out);
    rst_edits_free(&edits);
    return SQLITE_OK;
}

int rst_columns_set(const rst_table *table, rst_span set, uint64_t *bits, uint64_t **beyond) {
    left_side side = {.p = set.start, .end = set.end};
    rst_token name;
    int code = SQLITE_OK;
    while (code == SQLITE_OK && next_name(&side, &name)) {
        const int column = rst_column_named(table, &name);
        if (column >= 0) code = rst_columns_add(table, column, bits, beyond);
    }
    return code;
}

int rst_refuse_generated(const rst_table *table, const rst_statement_parts *parts, char **message) {
    if (parts->kind != KIND_UPDATE || !table->has_generated) return SQLITE_OK;
    for (const rst_syntax *one = rst_statement_part(parts, SYNTAX_SET)->first; one != NULL; one = one->next) {
        const rst_syntax *name = one->first->kind == SYNTAX_COLUMNS ? one->first->first : one->first;
        for (; name != NULL && name != one->last; name = name->next) {
            const rst_token token = rst_syntax_token(name, 0);
            const int column = rst_column_named(table, &token);
            if (column < 0 || !table->columns[column].generated) continue;
            rst_set_message(message, "cannot UPDATE generated column \"%s\"", table->columns[column].name);
            return SQLITE_ERROR;
        }
    }
    return SQLITE_OK;
}

void rst_columns_append(sqlite3_str *out, const rst_table *table, rst_columns_shown shown) {
    bool any = false;
    for (int i = 0; i < table->column_count; i++) {
        if (shown != COLUMNS_ALL && table->columns[i].generated) continue;
        if (any) sqlite3_str_appendchar(out, 1, ',');
        any = true;
        if (shown == COLUMNS_BOUND)
            sqlite3_str_appendf(out, "?%d", i + 1);
        else
            sqlite3_str_appendf(out, "\"%w\"", table->columns[i].name);
    }
}
