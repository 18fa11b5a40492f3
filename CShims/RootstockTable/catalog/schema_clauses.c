/*
** schema_clauses.c - what SQLite's pragmas do not tell of a table: expressions, ON CONFLICT, DEFERRABLE, CHECK.
**
** It is read off the tokens of the text. Invariant: SQLite accepted the text, so nothing is judged here, and what is
** not looked for is stepped over whole.
*/
#include "catalog/catalog.h"
#include "catalog/describe.h"
#include "catalog/partial_predicate.h"
#include "parser/tokens.h"

#include <string.h>

/* A partial index's WHERE without the schemas of its names: SQLite passes over them there, and nowhere else. */
static char *without_schemas(const char *p, const char *end) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    const char *copied = p;
    for (;;) {
        rst_token token = rst_token_next(&p, end), dot, table, column_dot;
        const char *q = p;
        if (token.type == TOKEN_END) break;
        dot = rst_token_next(&q, end);
        table = rst_token_next(&q, end);
        column_dot = rst_token_next(&q, end);
        if (rst_token_names(&token) && rst_token_mark(&dot, ".") && rst_token_names(&table) &&
            rst_token_mark(&column_dot, ".")) {
            sqlite3_str_append(text, copied, (int)(token.text - copied));
            copied = table.text;
            p = q;
        }
    }
    sqlite3_str_append(text, copied, (int)(end - copied));
    return sqlite3_str_finish(text);
}

int rst_describe_expressions(rst_index *index, const char *sql) {
    const char *p = sql, *end = sql + strlen(sql);
    rst_token token;
    int part = 0;
    do {
        token = rst_token_next(&p, end);
    } while (token.type != TOKEN_END && !rst_token_mark(&token, "("));
    while (token.type != TOKEN_END && !rst_token_mark(&token, ")")) {
        const char *start = p, *last = p;
        rst_token before_last = {TOKEN_END, p, 0};
        rst_token previous = {TOKEN_END, p, 0};
        int depth = 0;
        for (;;) {
            token = rst_token_next(&p, end);
            if (token.type == TOKEN_END) return SQLITE_CORRUPT;
            if (depth == 0 && (rst_token_mark(&token, ",") || rst_token_mark(&token, ")"))) break;
            if (rst_token_mark(&token, "(")) depth++;
            if (rst_token_mark(&token, ")")) depth--;
            before_last = previous;
            previous = token;
            last = token.text + token.size;
        }
        if (rst_token_is(&previous, "ASC") || rst_token_is(&previous, "DESC")) {
            if (before_last.type != TOKEN_END) last = before_last.text + before_last.size;
        }
        if (part < index->part_count && index->parts[part].column == -2) {
            index->parts[part].expression = sqlite3_mprintf("%.*s", (int)(last - start), start);
            if (index->parts[part].expression == NULL) return SQLITE_NOMEM;
        }
        part++;
    }
    token = rst_token_next(&p, end);
    if (rst_token_is(&token, "WHERE")) {
        index->where = without_schemas(p, rst_token_last_end(p, end));
        if (index->where == NULL) return SQLITE_NOMEM;
    }
    return SQLITE_OK;
}

static rst_action action_of(const char *text) {
    if (sqlite3_stricmp(text, "CASCADE") == 0) return ACTION_CASCADE;
    if (sqlite3_stricmp(text, "SET NULL") == 0) return ACTION_SET_NULL;
    if (sqlite3_stricmp(text, "SET DEFAULT") == 0) return ACTION_SET_DEFAULT;
    if (sqlite3_stricmp(text, "RESTRICT") == 0) return ACTION_RESTRICT;
    return ACTION_NONE;
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
            char **parents;
            if (children == NULL) return rst_schema_db_finished(s, SQLITE_NOMEM);
            foreign->child_columns = children;
            children = rst_array_grown(foreign->parent_places, n, sizeof *children);
            if (children == NULL) return rst_schema_db_finished(s, SQLITE_NOMEM);
            foreign->parent_places = children;
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

/* Name of a conflict algorithm behind ON CONFLICT, or 0. */
static int read_conflict(const char **p, const char *end, bool *any) {
    const char *q = *p;
    rst_token on = rst_token_next(&q, end), conflict = rst_token_next(&q, end), word;
    if (!rst_token_is(&on, "ON") || !rst_token_is(&conflict, "CONFLICT")) return CONFLICT_DEFAULT;
    word = rst_token_next(&q, end);
    *p = q;
    *any = true;
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

/* The columns of a constraint's list; *p stands behind its parenthesis, and is moved behind the closing one. */
static int read_list(const rst_table *table, const char **p, const char *end, listed_column **columns, int *count) {
    int depth = 1, code = SQLITE_OK;
    bool first = true;
    while (depth > 0 && code == SQLITE_OK) {
        rst_token token = rst_token_next(p, end);
        if (token.type == TOKEN_END) break;
        if (rst_token_mark(&token, "(")) depth++;
        if (rst_token_mark(&token, ")")) depth--;
        if (first && depth == 1 && rst_token_names(&token)) {
            char *name = rst_token_name(&token);
            code = name == NULL ? SQLITE_NOMEM : list_column(columns, count, column_number(table, name));
            sqlite3_free(name);
        } else if (depth == 1 && *count > 0 && rst_token_is(&token, "COLLATE")) {
            (*columns)[*count - 1].collation = rst_token_next(p, end);
        }
        first = rst_token_mark(&token, ",");
    }
    return code;
}

int rst_describe_clauses(rst_table *table) {
    const char *p = table->sql, *end = p + strlen(p);
    rst_token token;
    int column = -1, references = 0, deferred_of = -1;
    bool item_start = true, negated = false;
    do {
        token = rst_token_next(&p, end);
    } while (token.type != TOKEN_END && !rst_token_mark(&token, "("));
    for (;;) {
        token = rst_token_next(&p, end);
        if (token.type == TOKEN_END || rst_token_mark(&token, ")")) break;
        if (rst_token_mark(&token, ",")) {
            item_start = true;
            deferred_of = -1;
            continue;
        }
        if (rst_token_mark(&token, "(")) {
            if (!rst_token_skip_parentheses(&p, end)) break;
            item_start = false;
            continue;
        }
        if (item_start) {
            item_start = false;
            if (!(rst_token_is(&token, "CONSTRAINT") || rst_token_is(&token, "PRIMARY") ||
                  rst_token_is(&token, "UNIQUE") || rst_token_is(&token, "CHECK") || rst_token_is(&token, "FOREIGN"))) {
                char *name = rst_token_name(&token);
                if (name == NULL) return SQLITE_NOMEM;
                column = column_number(table, name);
                sqlite3_free(name);
                continue;
            }
        }
        if (rst_token_is(&token, "CHECK")) table->needs_mirror = table->has_check = true;
        if (rst_token_is(&token, "NOT")) negated = true;
        if (rst_token_is(&token, "NULL") && negated) {
            int conflict = read_conflict(&p, end, &table->has_conflict_clauses);
            if (conflict != CONFLICT_DEFAULT) {
                table->needs_mirror = true;
                if (column >= 0) table->columns[column].not_null_conflict = conflict;
            }
        }
        if (rst_token_is(&token, "CONSTRAINT")) (void)rst_token_next(&p, end);
        if (rst_token_is(&token, "DEFERRABLE")) {
            const char *q = p;
            rst_token initially = rst_token_next(&q, end), deferred = rst_token_next(&q, end);
            if (!negated && deferred_of >= 0 && rst_token_is(&initially, "INITIALLY") &&
                rst_token_is(&deferred, "DEFERRED")) {
                /* foreign_key_list numbers them from the last to the first */
                int number = deferred_of;
                if (number < table->foreign_key_count) {
                    table->foreign_keys[table->foreign_key_count - 1 - number].deferred = true;
                }
            }
        }
        if (!rst_token_is(&token, "NOT")) negated = false;
        if (rst_token_is(&token, "REFERENCES")) deferred_of = references++;
        if (rst_token_is(&token, "UNIQUE") || rst_token_is(&token, "PRIMARY")) {
            bool primary = rst_token_is(&token, "PRIMARY");
            const char *q = p;
            listed_column *columns = NULL;
            int count = 0, code = SQLITE_OK;
            token = rst_token_next(&q, end);
            if (primary) {
                if (!rst_token_is(&token, "KEY")) continue;
                p = q;
                token = rst_token_next(&q, end);
            }
            if (rst_token_mark(&token, "(")) {
                p = q;
                code = read_list(table, &p, end, &columns, &count);
            } else {
                code = list_column(&columns, &count, column);
                if (rst_token_is(&token, "ASC") || rst_token_is(&token, "DESC")) p = q;
            }
            if (code == SQLITE_OK)
                set_conflict(table, columns, count, primary, read_conflict(&p, end, &table->has_conflict_clauses));
            sqlite3_free(columns);
            if (code != SQLITE_OK) return code;
        }
    }
    return SQLITE_OK;
}
