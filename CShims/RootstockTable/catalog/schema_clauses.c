/*
** schema_clauses.c - what SQLite's pragmas do not tell of a table: expressions, ON CONFLICT, DEFERRABLE, CHECK.
**
** It is read off the syntax tree. Invariant: SQLite accepted the text, so nothing is judged here.
*/
#include "catalog/catalog.h"
#include "catalog/describe.h"
#include "catalog/partial_predicate.h"
#include "parser/edits.h"
#include "parser/syntax_tree.h"

#include <string.h>

/* The names of a schema in a partial index's WHERE: SQLite passes over them there, and nowhere else. */
static void leave_out_schemas(const rst_syntax *node, rst_edits *edits) {
    if (node->kind == SYNTAX_NAME) {
        const char *p = node->start;
        rst_token table;
        (void)rst_token_next(&p, node->end);
        (void)rst_token_next(&p, node->end);
        table = rst_token_next(&p, node->end);
        if (p < node->end) rst_edits_add(edits, node->start, table.text, sqlite3_mprintf(""));
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) leave_out_schemas(child, edits);
}

static int describe_index(rst_index *index, const rst_syntax *create) {
    int part = 0, code = SQLITE_OK;
    for (const rst_syntax *node = create->first; node != NULL && code == SQLITE_OK; node = node->next) {
        const rst_syntax *e = node->first;
        if (node->kind == SYNTAX_WHERE) {
            rst_edits edits = {0};
            leave_out_schemas(e, &edits);
            code = rst_edits_apply(&edits, e->start, e->end, &index->where);
            if (code == SQLITE_OK && index->where == NULL)
                index->where = sqlite3_mprintf("%.*s", (int)(e->end - e->start), e->start);
            if (index->where == NULL) code = SQLITE_NOMEM;
        } else if (node->kind == SYNTAX_TERM && part++ < index->part_count && index->parts[part - 1].column == -2) {
            index->parts[part - 1].expression = sqlite3_mprintf("%.*s", (int)(e->end - e->start), e->start);
            if (index->parts[part - 1].expression == NULL) code = SQLITE_NOMEM;
        }
    }
    return code;
}

int rst_describe_expressions(rst_index *index, const char *sql) {
    rst_syntax_tree tree;
    int code = rst_syntax_parse(&tree, sql, sql + strlen(sql));
    if (code == SQLITE_OK && tree.root->kind != SYNTAX_CREATE_INDEX) code = SQLITE_ERROR;
    if (code == SQLITE_OK) code = describe_index(index, tree.root);
    rst_syntax_free(&tree);
    return code == SQLITE_ERROR ? SQLITE_CORRUPT : code;
}

static rst_action action_of(const char *text) {
    if (sqlite3_stricmp(text, "CASCADE") == 0) return ACTION_CASCADE;
    if (sqlite3_stricmp(text, "SET NULL") == 0) return ACTION_SET_NULL;
    if (sqlite3_stricmp(text, "SET DEFAULT") == 0) return ACTION_SET_DEFAULT;
    if (sqlite3_stricmp(text, "RESTRICT") == 0) return ACTION_RESTRICT;
    return ACTION_NONE;
}

static int named_column(const rst_table *table, const rst_token *name) {
    for (int i = 0; i < table->column_count; i++) {
        if (rst_token_same_name(name, table->columns[i].name)) return i;
    }
    return -1;
}

static int column_number(const rst_table *table, const char *name) {
    for (int i = 0; i < table->column_count; i++) {
        if (sqlite3_stricmp(table->columns[i].name, name) == 0) return i;
    }
    return -1;
}

int rst_describe_foreign_keys(rst_table *table, char **message) {
    sqlite3_stmt *s;
    int code;
    if (!rst_text_has(table->sql, "references"))
        return SQLITE_OK; /* most tables, and each question costs microseconds */
    code = rst_schema_db_query(table->connection, &s, message, "PRAGMA main.foreign_key_list(%Q)", table->name);
    if (code != SQLITE_OK) return code;
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        int identifier = sqlite3_column_int(s, 0);
        rst_foreign_key *foreign;
        int n;
        if (identifier >= table->foreign_key_count) {
            rst_foreign_key *more = rst_array_grown(table->foreign_keys, table->foreign_key_count, sizeof *more);
            if (more == NULL) return rst_schema_db_finished(s, SQLITE_NOMEM);
            table->foreign_keys = more;
            foreign = &more[table->foreign_key_count++];
            foreign->parent = rst_text_duplicate(rst_text_at(s, 2));
            foreign->on_update = action_of(rst_text_at(s, 5));
            foreign->on_delete = action_of(rst_text_at(s, 6));
            if (foreign->parent == NULL) return rst_schema_db_finished(s, SQLITE_NOMEM);
        }
        foreign = &table->foreign_keys[table->foreign_key_count - 1];
        n = foreign->column_count;
        {
            int *children = rst_array_grown(foreign->child_columns, n, sizeof *children);
            rst_parent_key *key;
            char **parents;
            if (children == NULL) return rst_schema_db_finished(s, SQLITE_NOMEM);
            foreign->child_columns = children;
            key =
                sqlite3_realloc64(foreign->parent_key, sizeof *key + (sqlite3_uint64)(n + 1) * sizeof key->columns[0]);
            if (key == NULL) return rst_schema_db_finished(s, SQLITE_NOMEM);
            key->parent = NULL;
            foreign->parent_key = key;
            parents = rst_array_grown(foreign->parent_columns, n, sizeof *parents);
            if (parents == NULL) return rst_schema_db_finished(s, SQLITE_NOMEM);
            foreign->parent_columns = parents;
        }
        foreign->child_columns[n] = column_number(table, rst_text_at(s, 3));
        foreign->parent_columns[n] = rst_text_duplicate(rst_text_at(s, 4));
        foreign->column_count++;
    }
    return rst_schema_db_finished(s, code);
}

/* The conflict algorithm of a constraint, or 0. */
static int conflict_of(rst_table *table, const rst_syntax *constraint) {
    const rst_syntax *node = rst_syntax_child(constraint, SYNTAX_CONFLICT);
    rst_token word, none;
    if (node == NULL) return CONFLICT_DEFAULT;
    word = rst_syntax_name(node->first, &none);
    table->has_conflict_clauses = true;
    if (rst_token_is(&word, "ROLLBACK")) return SQLITE_ROLLBACK;
    if (rst_token_is(&word, "IGNORE")) return SQLITE_IGNORE;
    if (rst_token_is(&word, "FAIL")) return SQLITE_FAIL;
    if (rst_token_is(&word, "REPLACE")) return SQLITE_REPLACE;
    return SQLITE_ABORT;
}

/* A column of UNIQUE or PRIMARY KEY, and the collation that stands behind it (TOKEN_END: the column's own). */
typedef struct listed_column {
    int column;
    rst_token collation;
} listed_column;

static bool is_part(const rst_table *table, const rst_part *part, const listed_column *listed) {
    if (part->column != listed->column) return false;
    if (listed->collation.type != TOKEN_END) return rst_token_same_name(&listed->collation, part->collation_name);
    return listed->column < 0 ||
           sqlite3_stricmp(table->columns[listed->column].collation_name, part->collation_name) == 0;
}

static bool are_parts(const rst_table *table, const rst_part *parts, int part_count, const listed_column *columns,
                      int count) {
    bool same = part_count == count;
    for (int k = 0; same && k < count; k++) same = is_part(table, &parts[k], &columns[k]);
    return same;
}

/* The constraint over these columns is the primary key or one of the automatic indexes. */
static void set_conflict(rst_table *table, const listed_column *columns, int count, bool primary, int conflict) {
    if (conflict == CONFLICT_DEFAULT) return;
    if (primary && table->rowid_column >= 0) {
        table->rowid_on_conflict = conflict;
        return;
    }
    if (primary && table->without_rowid) {
        table->rowid_on_conflict = conflict;
        return;
    }
    for (int i = 0; i < table->index_count; i++) {
        rst_index *index = &table->indexes[i];
        if (index->automatic && are_parts(table, index->parts, index->part_count, columns, count))
            index->on_conflict = conflict;
    }
    /* A UNIQUE over the primary key of a table WITHOUT ROWID is that key, and not an index. */
    if (table->without_rowid && are_parts(table, table->key, table->key_count, columns, count))
        table->rowid_on_conflict = conflict;
}

static int list_column(listed_column **columns, int *count, int column) {
    listed_column *more = rst_array_grown(*columns, *count, sizeof *more);
    if (more == NULL) return SQLITE_NOMEM;
    *columns = more;
    more[(*count)++].column = column; /* and a collation of TOKEN_END, which is 0 */
    return SQLITE_OK;
}

/* PRIMARY KEY or UNIQUE: of that column, or of the columns in its list. */
static int describe_key(rst_table *table, const rst_syntax *key, int column) {
    const char *p = key->start;
    rst_token word = rst_token_next(&p, key->end);
    listed_column *columns = NULL;
    int count = 0, code = column >= 0 ? list_column(&columns, &count, column) : SQLITE_OK;
    for (const rst_syntax *term = key->first; term != NULL && code == SQLITE_OK; term = term->next) {
        const rst_syntax *node = term->first;
        rst_token name, collation = {TOKEN_END, term->start, 0};
        if (term->kind != SYNTAX_TERM) continue;
        for (node = rst_syntax_unwrap(node); node->kind == SYNTAX_COLLATE; node = rst_syntax_unwrap(node->first)) {
            if (collation.type == TOKEN_END) collation = rst_syntax_name(node->last, &name);
        }
        p = node->start;
        name = rst_token_next(&p, node->end);
        code = list_column(&columns, &count, named_column(table, &name));
        if (code == SQLITE_OK) columns[count - 1].collation = collation;
    }
    if (code == SQLITE_OK) set_conflict(table, columns, count, rst_token_is(&word, "PRIMARY"), conflict_of(table, key));
    sqlite3_free(columns);
    return code;
}

/* A constraint of the column, or of the table (-1). references: how many stand before it. */
static int describe_constraint(rst_table *table, const rst_syntax *node, int column, int *references) {
    const char *p = node->start;
    rst_token word = rst_token_next(&p, node->end);
    int conflict;
    switch (node->kind) {
    case SYNTAX_CHECK: table->needs_mirror = table->has_check = true; break;
    case SYNTAX_KEY: return describe_key(table, node, column);
    case SYNTAX_FOREIGN:
    case SYNTAX_REFERENCES: ++*references; break;
    case SYNTAX_NULL:
        conflict = rst_token_is(&word, "NOT") ? conflict_of(table, node) : CONFLICT_DEFAULT;
        if (conflict == CONFLICT_DEFAULT) break;
        table->needs_mirror = true;
        if (column >= 0) table->columns[column].not_null_conflict = conflict;
        break;
    case SYNTAX_DEFERRABLE: {
        rst_token initially = rst_token_next(&p, node->end), deferred = rst_token_next(&p, node->end);
        /* foreign_key_list numbers them from the last to the first */
        int number = table->foreign_key_count - *references;
        if (rst_token_is(&word, "DEFERRABLE") && rst_token_is(&initially, "INITIALLY") &&
            rst_token_is(&deferred, "DEFERRED") && number >= 0 && number < table->foreign_key_count)
            table->foreign_keys[number].deferred = true;
        break;
    }
    default: break;
    }
    return SQLITE_OK;
}

static int describe_clauses(rst_table *table, const rst_syntax *create) {
    int references = 0, code = SQLITE_OK;
    for (const rst_syntax *node = create->first; node != NULL && code == SQLITE_OK; node = node->next) {
        if (node->kind == SYNTAX_COLUMN) {
            rst_token none, name = rst_syntax_name(node->first, &none);
            const int column = named_column(table, &name);
            for (const rst_syntax *part = node->first; part != NULL && code == SQLITE_OK; part = part->next)
                code = describe_constraint(table, part, column, &references);
        } else {
            code = describe_constraint(table, node, -1, &references);
        }
    }
    return code;
}

int rst_describe_clauses(rst_table *table) {
    rst_syntax_tree tree;
    int code;
    if (!rst_text_has(table->sql, "check") && !rst_text_has(table->sql, "conflict") &&
        !rst_text_has(table->sql, "deferrable"))
        return SQLITE_OK; /* most tables: there is no such clause */
    code = rst_syntax_parse(&tree, table->sql, table->sql + strlen(table->sql));
    if (code == SQLITE_OK) code = describe_clauses(table, tree.root);
    rst_syntax_free(&tree);
    if (code != SQLITE_ERROR) return code;
    /* Anything may stand there: the schema database judges each row. */
    table->needs_mirror = table->has_check = table->has_conflict_clauses = true;
    return SQLITE_OK;
}
