/*
** bulk_text.c - which UPDATE and DELETE is gathered and changed by us, and the text that it becomes (bulk_change.c).
**
** It may change many rows. Its table has no trigger, foreign key, conflict clause or generated column that matters to
** it. Its values look at no row that it changes (rst_update_is_rowwise), so that it makes no difference when they are
** made. A statement that holds every column of some key equal changes one row at most. It stays as it is, since SQLite
** does that in one pass. Of UPDATE ... FROM the join is gathered, as SQLite does it on its own tables.
**
** Invariant: the same rows get the same values. SQLite reports faults on the statement as it was written, which is
** prepared, too. Where rows can meet each other on the way they are changed in SQLite's order. That is the order of the
** keys, as the gathered rows are sorted; what SQLite changes in the order of an index stays as it is.
*/
#include "rewriter/rewriter.h"
#include "catalog/column_sets.h"
#include "rewriter/conflict_targets.h"
#include "rewriter/bulk_text.h"
#include "rewriter/expressions.h"
#include "rewriter/hints.h"
#include "rewriter/key_order.h"
#include "rewriter/update_from.h"
#include "parser/shape.h"

#include <string.h>

/* Texts of more bytes stay as they are. */
enum { LONGEST = 20000 };

int rst_bulk_columns(const rst_table *table, const rst_syntax *set, int columns[BULK_COLUMNS],
                     rst_span values[BULK_COLUMNS]) {
    int count = 0;
    for (const rst_syntax *one = set->first; one != NULL; one = one->next, count++) {
        const rst_token name = rst_syntax_token(one, 0);
        const int column = one->first->kind == SYNTAX_NAME ? rst_set_column(table, &name) : -1;
        if (count == BULK_COLUMNS || name.type == TOKEN_STRING || column < 0 || column >= COLUMNS_APART ||
            table->columns[column].generated)
            return -1;
        for (int k = 0; k < table->key_count; k++)
            if (table->key[k].column == column) return -1;
        for (int i = 0; i < count; i++)
            if (columns[i] == column) return -1;
        columns[count] = column;
        values[count] = (rst_span){one->last->start, one->last->end};
    }
    return count;
}

static bool table_fits(rst_table *table) {
    const rst_connection *c = table->connection;
    return !schema_of(c)->sidecar && !table->internal && table->triggers == NULL &&
           rewriter_of(c)->temporary_trigger_count == 0 && !table->has_conflict_clauses && !table->has_generated &&
           table->shadow_count == 0 && table->column_count < COLUMNS_APART;
}

/* The parts of a statement that goes this way. */
typedef struct pieces {
    int count; /* of the columns that are set */
    int columns[BULK_COLUMNS];
    rst_span values[BULK_COLUMNS];
    uint64_t changed;        /* their bits */
    uint64_t packed;         /* the columns, as rootstock_bulk takes them */
    const rst_syntax *where; /* the condition; null: absent, or part of the join */
    bool joined;             /* UPDATE ... FROM */
    const char *key;         /* the column that is the rows' key */
} pieces;

/* Whether the node is the name of what is no table: a view, of whichever schema, or a common table. */
static bool is_no_table(rst_connection *c, const rst_syntax *node) {
    rst_token schema, name;
    char *schema_text = NULL, *text;
    bool found;
    if (node->kind != SYNTAX_TABLE || rst_syntax_child(node, SYNTAX_VECTOR) != NULL) return false;
    name = rst_syntax_name(node->first, &schema);
    if (schema.type != TOKEN_END) schema_text = rst_token_name(&schema);
    text = rst_token_name(&name);
    found =
        text != NULL && (schema.type == TOKEN_END || schema_text != NULL) && rst_has_table(c->db, schema_text, text);
    sqlite3_free(schema_text);
    sqlite3_free(text);
    return !found;
}

/* Whether there is an ORDER BY below the node, or a view, which may have one. UPDATE FROM keeps it, and the last match
** in its order counts. In the FROM of a SELECT of several tables SQLite leaves it out. */
static bool may_be_ordered(rst_connection *c, const rst_syntax *node) {
    if (node->kind == SYNTAX_ORDER || is_no_table(c, node)) return true;
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        if (may_be_ordered(c, child)) return true;
    }
    return false;
}

static bool take_apart(const rst_table *table, const rst_statement_parts *parts, pieces *out) {
    const rst_syntax *where = rst_statement_part(parts, SYNTAX_WHERE);
    *out = (pieces){0};
    if ((parts->kind != KIND_UPDATE && parts->kind != KIND_DELETE) ||
        (parts->conflict != CONFLICT_DEFAULT && rst_update_has_from(parts)) ||
        parts->tree->root->first->kind == SYNTAX_WITH || parts->returning.start != NULL ||
        rst_statement_part(parts, SYNTAX_ORDER) != NULL || rst_statement_part(parts, SYNTAX_LIMIT) != NULL ||
        rst_has_target_hint(parts))
        return false;
    out->joined = rst_update_has_from(parts);
    if (out->joined && may_be_ordered(table->connection, rst_statement_part(parts, SYNTAX_FROM))) return false;
    if (where != NULL && !out->joined) {
        out->where = where->first;
        if (rst_holds_a_key(table, out->where)) return false;
    }
    /* The rows of a DELETE SQLite keeps as rowids alone, which costs no more than this; keys of WITHOUT ROWID tables in
    ** a table. */
    if (parts->kind == KIND_DELETE && (out->where == NULL || !table->without_rowid)) return false;
    if (parts->kind == KIND_UPDATE) {
        out->count = rst_bulk_columns(table, rst_statement_part(parts, SYNTAX_SET), out->columns, out->values);
        if (out->count < 0) return false;
        for (int i = 0; i < out->count; i++) {
            out->changed |= (uint64_t)1 << out->columns[i];
            out->packed |= (uint64_t)(out->columns[i] + 1) << 8 * i;
        }
    }
    out->key = table->without_rowid ? "rootstock key" : rst_rowid_word(table);
    return out->key != NULL;
}

static void append_values(sqlite3_str *str, const pieces *made) {
    for (int i = 0; i < made->count; i++)
        sqlite3_str_appendf(str, ",(%.*s)", (int)(made->values[i].end - made->values[i].start), made->values[i].start);
}

/* The second arm: the key, the values and all behind them. */
static void append_rows(sqlite3_str *str, const rst_table *table, const rst_statement_parts *parts,
                        const pieces *made) {
    /* It has a name, or the front door would give it one, should the text come back to it. The name is its own,
    ** because a condition may look at names of results: `b = "k"`, a string where there is no column k, would be the
    ** key. */
    sqlite3_str_appendf(str, " UNION ALL SELECT \"%w\" AS \"%w\"", made->key, made->key);
    append_values(str, made);
    sqlite3_str_appendf(str, " FROM main.\"%w\"", table->declared_name);
    rst_statement_append_alias(str, parts);
    if (made->where != NULL) {
        sqlite3_str_appendf(str, " WHERE %.*s", (int)(made->where->end - made->where->start), made->where->start);
    } else if (table->index_count > 0) {
        /* An index's entries are fewer bytes, but their rows come in another order than they lie. */
        sqlite3_str_appendall(str, " WHERE \"rootstock hint\"='" ROOTSTOCK_INDEX_HINT "'");
    }
}

/* The same of a join. */
static void append_join(sqlite3_str *str, const rst_table *table, const rst_statement_parts *parts,
                        const pieces *made) {
    sqlite3_str_appendall(str, " UNION ALL SELECT ");
    rst_update_from_name(str, table, &parts->alias);
    sqlite3_str_appendf(str, ".\"%w\" AS \"rootstock key\"", table->without_rowid ? made->key : rst_rowid_name(table));
    append_values(str, made);
    rst_update_from_join(str, table, parts);
}

/* Whether a query, or a list that may be a table's, stands in what it is made of. */
static bool looks_further(const pieces *made, const rst_statement_parts *parts) {
    const rst_syntax *const places[] = {rst_statement_part(parts, SYNTAX_SET), made->where};
    for (int i = 0; i < 2; i++)
        if (places[i] != NULL && (rst_syntax_has(places[i], SYNTAX_SELECT) || rst_syntax_has(places[i], SYNTAX_IN)))
            return true;
    return false;
}

/* The statement over the text with all that it tells the plan; `checked` stands for it where SQLite checks it. */
static int build(rst_connection *c, const rst_table *table, const char *text, const char *checked, bool gathered,
                 char **out) {
    static const char zeros[] = ",0,0,0,0"; /* what fills the values that an arm without rows has */
    rst_statement_parts parts;
    rst_syntax_tree tree;
    pieces made;
    sqlite3_str *str;
    const char *filled;
    bool by_key = false;
    int code = rst_statement_parse(&tree, text, text + strlen(text), &parts);
    if (code == SQLITE_OK && take_apart(table, &parts, &made))
        code = rst_key_order_is(c, table, &parts, gathered, made.changed, &by_key);
    if (code != SQLITE_OK || !by_key) {
        rst_syntax_free(&tree);
        return code;
    }
    filled = zeros + 2 * (BULK_COLUMNS - made.count);
    if (made.joined)
        made.packed |= BULK_MATCHES;
    else if (parts.conflict != CONFLICT_DEFAULT)
        made.packed |= BULK_JUDGED;
    else if (made.count > 0 && !looks_further(&made, &parts))
        made.packed |= BULK_LOOKS_AT_ROWS_ALONE;
    str = sqlite3_str_new(c->db);
    /* OR IGNORE: a match that is not the row's first is not counted, nor any row before an OR has spared it. */
    sqlite3_str_appendf(str, "INSERT %sINTO rootstock_bulk_rows(k%.*s) SELECT 0%s FROM rootstock_bulk(%Q,%Q,%lld,%lld)",
                        made.packed >= BULK_MATCHES ? "OR IGNORE " : "", 2 * made.count, ",a,b,c,d", filled, checked,
                        table->name, (long long)made.packed, (long long)store_of(c)->epoch);
    if (made.joined)
        append_join(str, table, &parts, &made);
    else
        append_rows(str, table, &parts, &made);
    sqlite3_str_appendf(str, " UNION ALL SELECT 0%s FROM rootstock_bulk()", filled);
    rst_syntax_free(&tree);
    return rst_str_give(str, SQLITE_OK, out);
}

int rst_bulk_text(rst_connection *c, rst_table *table, const rst_statement_parts *parts, bool gathered, char **out) {
    size_t size = (size_t)(parts->whole.end - parts->whole.start);
    char *text, *lifted = NULL;
    rst_parameters values = {0};
    pieces first;
    int code = SQLITE_OK;
    *out = NULL;
    if (!table_fits(table) || size > LONGEST || !take_apart(table, parts, &first) ||
        sqlite3_limit(c->db, SQLITE_LIMIT_COMPOUND_SELECT, -1) < 3)
        return SQLITE_OK;
    text = rst_span_text(parts->whole.start, parts->whole.end);
    if (text == NULL) return SQLITE_NOMEM;
    /* A join is transformed as it is built, with the table as its first. */
    if (!first.joined) code = rst_tell(c, rst_transform, &text);
    if (code == SQLITE_OK) {
        /* Texts that differ in values alone are checked once. */
        lifted = rst_shape_lift(text, text + strlen(text), text + strlen(text), &values);
        if (lifted == NULL) lifted = rst_span_text(text, text + strlen(text));
        if (lifted == NULL) code = SQLITE_NOMEM;
        if (code == SQLITE_OK && !first.joined) code = rst_tell(c, rst_hints_tell, &text);
        if (code == SQLITE_OK) code = build(c, table, text, lifted, gathered, out);
        if (code == SQLITE_OK && *out != NULL && first.joined) code = rst_tell(c, rst_transform, out);
        if (code == SQLITE_OK && *out != NULL && first.joined) code = rst_tell(c, rst_hints_tell, out);
        /* What is wrong with it is said where it is prepared as it was written. */
        if (code == SQLITE_OK && *out != NULL && rst_statement_current(c, lifted) != SQLITE_OK) {
            sqlite3_free(*out);
            *out = NULL;
        }
    }
    rst_parameters_free(&values);
    sqlite3_free(lifted);
    sqlite3_free(text);
    if (code != SQLITE_OK) {
        sqlite3_free(*out);
        *out = NULL;
    }
    return code;
}

int rst_bulk_clear_text(rst_connection *c, const rst_table *table, const rst_statement_parts *parts, char **out) {
    char *whole = rst_span_text(parts->whole.start, parts->whole.end);
    int code = whole == NULL ? SQLITE_NOMEM : SQLITE_OK;
    *out = NULL;
    if (code == SQLITE_OK && strlen(whole) <= LONGEST && sqlite3_limit(c->db, SQLITE_LIMIT_COMPOUND_SELECT, -1) >= 2) {
        if (rst_statement_current(c, whole) == SQLITE_OK) {
            *out =
                sqlite3_mprintf("INSERT INTO rootstock_bulk_rows(k) SELECT 0 FROM rootstock_bulk(%Q,%Q,-1,0) UNION ALL "
                                "SELECT 0 FROM rootstock_bulk()",
                                whole, table->name);
            if (*out == NULL) code = SQLITE_NOMEM;
        }
    }
    sqlite3_free(whole);
    return code;
}
