/*
** schema_clauses.c - columns, keys and foreign keys of a table, off the text of its CREATE TABLE.
**
** SQLite has read the text before (schema_db.c), and is asked what it made of each column: type, collation, NOT NULL. A
** PRAGMA would tell the rest for the price of a statement. Invariants: SQLite accepted the text, so nothing is judged
** here. What comes out is what its PRAGMAs tell, in their order (Tests/Unit/Describe).
*/
#include "catalog/catalog.h"
#include "catalog/describe.h"

#include <string.h>

/* The word behind a node that ends at `end`. */
static rst_token word_behind(const char *end, const rst_syntax *parent) {
    return rst_token_next(&end, parent->end);
}

/* ---- columns ---- */

/* What SQLite says of the column. */
static int ask(rst_table *table, rst_column *column) {
    const char *type = NULL, *collation = NULL;
    int not_null = 0, key = 0, autoincrement = 0;
    int code = sqlite3_table_column_metadata(schema_of(table->connection)->schema_db, "main", table->name, column->name,
                                             &type, &collation, &not_null, &key, &autoincrement);
    if (code != SQLITE_OK) return code;
    column->type = rst_text_duplicate(type == NULL ? "" : type);
    column->collation_name = rst_text_duplicate(collation == NULL ? "BINARY" : collation);
    column->not_null = not_null != 0;
    if (autoincrement) table->autoincrement = true;
    return column->type == NULL || column->collation_name == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

int rst_describe_column(rst_table *table, const rst_syntax *node) {
    rst_token none, name = rst_syntax_name(node->first, &none);
    rst_column *columns = rst_array_grown(table->columns, table->column_count, sizeof *columns), *column;
    int code;
    if (columns == NULL) return SQLITE_NOMEM;
    table->columns = columns;
    column = &columns[table->column_count++];
    column->missing.type = VALUE_NULL;
    column->name = rst_token_name(&name);
    code = column->name == NULL ? SQLITE_NOMEM : ask(table, column);
    for (const rst_syntax *part = node->first; part != NULL && code == SQLITE_OK; part = part->next) {
        if (part->kind == SYNTAX_DEFAULT) {
            /* Without the parentheses around it, and without a comment behind it. */
            const rst_syntax *value = part->first->kind == SYNTAX_PARENTHESES ? part->first->first : part->first;
            sqlite3_free(column->default_text);
            column->default_text = sqlite3_mprintf("%.*s", (int)(value->end - value->start), value->start);
            if (column->default_text == NULL) code = SQLITE_NOMEM;
        } else if (part->kind == SYNTAX_GENERATED) {
            const rst_token stored = {TOKEN_WORD, part->end - strlen("STORED"), strlen("STORED")};
            column->generated = rst_token_is(&stored, "STORED") ? 3 : 2;
            table->has_generated = true;
        }
    }
    return code;
}

/* ---- keys ---- */

/* The conflict algorithm of a constraint, or 0. */
static int conflict_of(rst_table *table, const rst_syntax *constraint) {
    const rst_syntax *node = rst_syntax_child(constraint, SYNTAX_CONFLICT);
    rst_token word;
    if (node == NULL) return CONFLICT_DEFAULT;
    word = rst_syntax_token(node->first, 0);
    table->has_conflict_clauses = true;
    return rst_conflict_of(&word);
}

bool rst_parts_same(const rst_part *a, const rst_part *b) {
    return a->column == b->column && sqlite3_stricmp(a->collation_name, b->collation_name) == 0;
}

/* A constraint that repeats an earlier one is that one: SQLite makes no second index. The new one is the first of the
** list, and goes. */
static void merge_repeated(rst_table *table) {
    rst_index *fresh = &table->indexes[0], *same = NULL;
    for (int i = 1; i < table->index_count && same == NULL; i++) {
        int k = 0;
        if (table->indexes[i].part_count != fresh->part_count) continue;
        while (k < fresh->part_count && rst_parts_same(&table->indexes[i].parts[k], &fresh->parts[k])) k++;
        if (k == fresh->part_count) same = &table->indexes[i];
    }
    if (same == NULL) return;
    if (same->on_conflict == CONFLICT_DEFAULT) same->on_conflict = fresh->on_conflict;
    same->is_primary_key |= fresh->is_primary_key;
    rst_index_free(fresh);
    table->index_count--;
    memmove(table->indexes, table->indexes + 1, (size_t)table->index_count * sizeof *table->indexes);
}

/* Those that replace rows are checked last. */
static void move_replacing(rst_table *table) {
    int i = 0;
    while (i < table->index_count && table->indexes[i].on_conflict != SQLITE_REPLACE) i++;
    for (; i + 1 < table->index_count && table->indexes[i + 1].on_conflict != SQLITE_REPLACE; i++) {
        const rst_index replacing = table->indexes[i];
        table->indexes[i] = table->indexes[i + 1];
        table->indexes[i + 1] = replacing;
    }
}

int rst_index_begin(rst_table *table, const char *name) {
    rst_index *indexes = rst_array_grown(table->indexes, table->index_count, sizeof *indexes);
    if (indexes == NULL) return SQLITE_NOMEM;
    table->indexes = indexes;
    memmove(indexes + 1, indexes, (size_t)table->index_count++ * sizeof *indexes);
    memset(indexes, 0, sizeof *indexes);
    indexes->name = rst_text_duplicate(name);
    return indexes->name == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* An index for a UNIQUE or a PRIMARY KEY: over that column, or where it is negative over those of the list. */
static int add_key(rst_table *table, const rst_syntax *list, int column, bool descending, bool primary, int conflict,
                   char **message) {
    char *name = sqlite3_mprintf("sqlite_autoindex_%s_%d", table->name, table->index_count + 1);
    int code = name == NULL ? SQLITE_NOMEM : rst_index_begin(table, name);
    sqlite3_free(name);
    if (code != SQLITE_OK) return code;
    table->indexes[0].unique = table->indexes[0].automatic = true;
    table->indexes[0].is_primary_key = primary;
    table->indexes[0].on_conflict = conflict;
    if (column >= 0)
        code = rst_part_add(table, &table->indexes[0], column, descending, NULL, message);
    else
        code = rst_describe_terms(table, &table->indexes[0], list, message);
    if (code != SQLITE_OK) return code;
    merge_repeated(table);
    move_replacing(table);
    return SQLITE_OK;
}

/* PRIMARY KEY or UNIQUE: of that column, or of the columns in its list (-1). */
static int describe_key(rst_table *table, const rst_syntax *key, int column, char **message) {
    const rst_syntax *term = rst_syntax_child(key, SYNTAX_TERM);
    const rst_token word = rst_syntax_token(key, 0);
    const bool primary = rst_token_is(&word, "PRIMARY");
    const int conflict = conflict_of(table, key);
    rst_token order = rst_syntax_token(key, 2); /* behind KEY */
    const bool descends = primary && column >= 0 && rst_token_is(&order, "DESC");
    int single = column;
    if (term != NULL && (term->next == NULL || term->next->kind != SYNTAX_TERM)) single = rst_term_column(table, term);
    if (primary && single >= 0 && !descends && sqlite3_stricmp(table->columns[single].type, "INTEGER") == 0) {
        table->rowid_column = single;
        table->rowid_on_conflict = conflict;
        if (term != NULL) order = word_behind(term->first->end, term);
        table->rowid_descends = term != NULL && rst_token_is(&order, "DESC");
        return SQLITE_OK;
    }
    return add_key(table, key, column, descends, primary, conflict, message);
}

/* WITHOUT ROWID an INTEGER PRIMARY KEY is a key like others, made last. */
static int end_keys(rst_table *table, char **message) {
    const int column = table->rowid_column;
    if (!table->without_rowid || column < 0) return SQLITE_OK;
    table->rowid_column = -1;
    return add_key(table, NULL, column, table->rowid_descends, true, table->rowid_on_conflict, message);
}

/* ---- foreign keys ---- */

/* What stands behind ON DELETE or ON UPDATE. */
static rst_action action_of(const rst_token *word, const char *p, const char *end) {
    rst_token next = rst_token_next(&p, end);
    if (rst_token_is(word, "CASCADE")) return ACTION_CASCADE;
    if (rst_token_is(word, "RESTRICT")) return ACTION_RESTRICT;
    if (!rst_token_is(word, "SET")) return ACTION_NONE;
    return rst_token_is(&next, "NULL") ? ACTION_SET_NULL : ACTION_SET_DEFAULT;
}

static void read_actions(rst_foreign_key *foreign, const char *p, const char *end) {
    rst_token token = rst_token_next(&p, end), event;
    for (; token.type != TOKEN_END; token = rst_token_next(&p, end)) {
        if (!rst_token_is(&token, "ON")) continue;
        event = rst_token_next(&p, end);
        token = rst_token_next(&p, end);
        if (rst_token_is(&event, "DELETE")) foreign->on_delete = action_of(&token, p, end);
        if (rst_token_is(&event, "UPDATE")) foreign->on_update = action_of(&token, p, end);
    }
}

static int list_columns(rst_table *table, rst_foreign_key *foreign, const rst_syntax *children,
                        const rst_syntax *parents) {
    const rst_syntax *parent = parents == NULL ? NULL : parents->first;
    int code = SQLITE_OK;
    for (const rst_syntax *child = children; child != NULL && code == SQLITE_OK; child = child->next) {
        rst_token none, name = rst_syntax_name(child, &none);
        int k = foreign->column_count++;
        foreign->child_columns[k] = rst_column_named(table, &name);
        if (parent == NULL) continue;
        name = rst_syntax_name(parent, &none);
        foreign->parent_columns[k] = rst_token_name(&name);
        if (foreign->parent_columns[k] == NULL) code = SQLITE_NOMEM;
        parent = parent->next;
    }
    return code;
}

/* The newest is the first, as PRAGMA foreign_key_list numbers them. children: names of columns, brothers. */
static int describe_foreign(rst_table *table, const rst_syntax *references, const rst_syntax *children) {
    const rst_syntax *parents = rst_syntax_child(references, SYNTAX_COLUMNS);
    rst_foreign_key *keys = rst_array_grown(table->foreign_keys, table->foreign_key_count, sizeof *keys);
    rst_token none, name = rst_syntax_name(references->first, &none);
    int count = 0;
    if (keys == NULL) return SQLITE_NOMEM;
    table->foreign_keys = keys;
    memmove(keys + 1, keys, (size_t)table->foreign_key_count++ * sizeof *keys);
    memset(keys, 0, sizeof *keys);
    for (const rst_syntax *child = children; child != NULL; child = child->next) count++;
    if (!rst_foreign_key_room(keys, count)) return SQLITE_NOMEM;
    keys->parent = rst_token_name(&name);
    if (keys->parent == NULL) return SQLITE_NOMEM;
    read_actions(keys, parents == NULL ? references->first->end : parents->end, references->end);
    return list_columns(table, keys, children, parents);
}

/* ---- constraints ---- */

/* A constraint of the column, or of the table (-1). name: the column's. */
static int describe_constraint(rst_table *table, const rst_syntax *node, int column, const rst_syntax *name,
                               char **message) {
    rst_token word;
    int conflict;
    switch (node->kind) {
    case SYNTAX_CHECK: table->needs_validator = table->has_check = true; break;
    case SYNTAX_KEY: return describe_key(table, node, column, message);
    case SYNTAX_FOREIGN: return describe_foreign(table, node->last, node->first->first);
    case SYNTAX_REFERENCES: {
        const rst_syntax alone = {.kind = SYNTAX_NAME, .start = name->start, .end = name->end};
        return describe_foreign(table, node, &alone);
    }
    case SYNTAX_NULL:
        word = rst_syntax_token(node, 0);
        conflict = rst_token_is(&word, "NOT") ? conflict_of(table, node) : CONFLICT_DEFAULT;
        if (conflict == CONFLICT_DEFAULT) break;
        table->needs_validator = true;
        table->columns[column].not_null_conflict = conflict;
        break;
    case SYNTAX_DEFERRABLE:
        word = rst_syntax_token(node, 0);
        if (table->foreign_key_count == 0) break;
        table->foreign_keys[0].deferred = false;
        if (!rst_token_is(&word, "DEFERRABLE")) break;
        word = rst_syntax_token(node, 2); /* behind INITIALLY */
        table->foreign_keys[0].deferred = rst_token_is(&word, "DEFERRED");
        break;
    default: break;
    }
    return SQLITE_OK;
}

int rst_describe_constraints(rst_table *table, const rst_syntax *create, char **message) {
    int column = 0, code = SQLITE_OK;
    for (const rst_syntax *node = create->first->next; node != NULL && code == SQLITE_OK; node = node->next) {
        if (node->kind != SYNTAX_COLUMN) {
            code = describe_constraint(table, node, -1, NULL, message);
            continue;
        }
        for (const rst_syntax *part = node->first->next; part != NULL && code == SQLITE_OK; part = part->next)
            code = describe_constraint(table, part, column, node->first, message);
        column++;
    }
    return code == SQLITE_OK ? end_keys(table, message) : code;
}
