/*
** partial_predicate.c - does a statement ask only for rows that a partial index holds?
**
** SQLite shows a virtual table the terms of WHERE that compare a column of it. The index's own WHERE is read into
** comparisons of a column and a constant, joined by AND and OR. A comparison is implied if some term shown is about the
** same column, and leaves no row for which the comparison does not hold. Invariant: what is not understood is not
** implied. In particular
**   - a comparison that is not "column, operator, literal" makes the whole predicate unknown;
**   - a value that arrives (a parameter, a column of another table) tells no more than that the column is not NULL, for
**     a plan is used again with other values;
**   - x <> 1, x IS NOT 1 and x IS NOT NULL tell nothing, unless the front door has seen that the statement has no ON of
**     a LEFT JOIN (partial_terms.c). SQLite shows these of the left table, too, and there they do not choose its rows;
**   - the other terms that were relied on must be arguments of xFilter, so that SQLite sees what the plan rests on;
**   - against a column without numeric affinity a number tells nothing: CAST('5' AS INTEGER) looks like 5 here, and
**     compares '05' as equal;
**   - texts are compared under one collation only;
**   - an upper bound that is text says nothing of blobs: SQLite makes such bounds of LIKE and GLOB, and these hold for
**     blobs too.
*/
#include "catalog/catalog.h"
#include "catalog/partial_predicate.h"

#include <string.h>

enum { WIDEST = 1000 }; /* terms beside each other, of which a predicate is as deep as they are many */

typedef rst_partial_predicate predicate;

void rst_partial_predicate_free(predicate *node) {
    if (node == NULL) return;
    rst_partial_predicate_free(node->left);
    rst_partial_predicate_free(node->right);
    rootstock_buffer_free(&node->bytes);
    sqlite3_free(node);
}

bool rst_partial_predicate_excludes(const predicate *node) {
    if (node == NULL) return false;
    if (node->kind != NODE_COMPARISON)
        return rst_partial_predicate_excludes(node->left) || rst_partial_predicate_excludes(node->right);
    return node->operation == SQLITE_INDEX_CONSTRAINT_NE || node->operation == SQLITE_INDEX_CONSTRAINT_ISNOT ||
           node->operation == SQLITE_INDEX_CONSTRAINT_ISNOTNULL;
}

/* ---- reading ---- */

typedef struct reader {
    const rst_table *table;
    int joins;
    int code; /* SQLITE_NOMEM; else what is not understood */
} reader;

static predicate *new_node(reader *r, int kind) {
    predicate *node = sqlite3_malloc64(sizeof *node);
    if (node == NULL) {
        r->code = SQLITE_NOMEM;
        return NULL;
    }
    memset(node, 0, sizeof *node);
    node->kind = kind;
    return node;
}

static predicate *join(reader *r, int kind, predicate *left, predicate *right) {
    predicate *node = left == NULL || right == NULL || ++r->joins > WIDEST ? NULL : new_node(r, kind);
    if (node == NULL) {
        rst_partial_predicate_free(left);
        rst_partial_predicate_free(right);
        return NULL;
    }
    node->left = left;
    node->right = right;
    return node;
}

/* A column of the table, perhaps behind the table's name. */
static bool read_column(const reader *r, const rst_syntax *node, int *column) {
    rst_token table, name;
    if (node->kind != SYNTAX_NAME) return false;
    name = rst_syntax_name(node, &table);
    if (name.type == TOKEN_STRING || (table.type != TOKEN_END && !rst_token_same_name(&table, r->table->name)))
        return false;
    *column = rst_column_named(r->table, &name);
    if (*column >= 0) return true;
    return !r->table->without_rowid && !r->table->has_rowid_name && name.type == TOKEN_WORD &&
           rst_token_is_rowid(&name);
}

char rst_partial_predicate_affinity(const rst_table *table, int column) {
    if (column < 0 || column == table->rowid_column) return AFFINITY_INTEGER;
    return table->columns[column].affinity;
}

/* The value as a comparison with the column sees it, in the node's own bytes. */
static int take_value(predicate *node, sqlite3_value *source, char affinity) {
    rootstock_buffer hold = {0};
    int code;
    rst_value_from(source, &node->value);
    code = rst_value_affinity(&node->value, source, affinity >= AFFINITY_NUMERIC ? AFFINITY_NUMERIC : affinity, &hold);
    if (code == SQLITE_OK && (node->value.type == VALUE_TEXT || node->value.type == VALUE_BLOB)) {
        node->bytes.size = 0;
        code = rootstock_buffer_append(&node->bytes, node->value.as.data, node->value.size);
        if (code == SQLITE_OK) code = rootstock_buffer_append(&node->bytes, "", 1);
        node->value.as.data = node->bytes.data;
    }
    rootstock_buffer_free(&hold);
    return code;
}

/* A literal, evaluated by SQLite. */
static bool read_constant(reader *r, const rst_syntax *constant, predicate *node, char affinity) {
    const rst_syntax *literal = constant->kind == SYNTAX_SIGN ? constant->first : constant;
    const rst_token token = rst_syntax_token(literal, 0);
    sqlite3_stmt *statement = NULL;
    char *sql;
    bool done = false;
    if (literal->kind != SYNTAX_LITERAL || token.type == TOKEN_WORD) return false;
    if (literal != constant && (constant->start[0] == '~' || token.type != TOKEN_NUMBER)) return false;
    sql = sqlite3_mprintf("SELECT %.*s", (int)(constant->end - constant->start), constant->start);
    if (sql == NULL) {
        r->code = SQLITE_NOMEM;
        return false;
    }
    if (sqlite3_prepare_v2(schema_of(r->table->connection)->schema_db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
        sqlite3_value *value = sqlite3_value_dup(sqlite3_column_value(statement, 0));
        int code = value == NULL ? SQLITE_NOMEM : take_value(node, value, affinity);
        sqlite3_value_free(value);
        if (code != SQLITE_OK) r->code = code;
        done = code == SQLITE_OK && node->value.type != VALUE_NULL;
    }
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    return done;
}

/* Takes a COLLATE off the operand; *explicit: it has one. False: one that is not known. */
static bool read_collation(const rst_syntax **operand, uint8_t *collation, bool *explicit) {
    rst_token name, none;
    char *text;
    bool known;
    *explicit = (*operand)->kind == SYNTAX_COLLATE;
    if (!*explicit) return true;
    name = rst_syntax_name((*operand)->last, &none);
    text = rst_token_name(&name);
    known = text != NULL && rst_collation_number(text, collation);
    sqlite3_free(text);
    *operand = (*operand)->first;
    return known;
}

/* The operator between two operands; 0: one that is not known. */
static int comparison(const rst_syntax *node) {
    static const struct {
        const char *mark;
        int operation;
    } marks[] = {{"=", SQLITE_INDEX_CONSTRAINT_EQ},  {"==", SQLITE_INDEX_CONSTRAINT_EQ},
                 {"<>", SQLITE_INDEX_CONSTRAINT_NE}, {"!=", SQLITE_INDEX_CONSTRAINT_NE},
                 {"<", SQLITE_INDEX_CONSTRAINT_LT},  {"<=", SQLITE_INDEX_CONSTRAINT_LE},
                 {">", SQLITE_INDEX_CONSTRAINT_GT},  {">=", SQLITE_INDEX_CONSTRAINT_GE}};
    const char *p = node->first->end;
    const rst_token token = rst_token_next(&p, node->last->start), negation = rst_token_next(&p, node->last->start);
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (rst_token_mark(&token, marks[i].mark)) return marks[i].operation;
    }
    if (negation.type == TOKEN_END) return SQLITE_INDEX_CONSTRAINT_IS;
    /* not IS [NOT] DISTINCT FROM */
    return rst_token_is(&negation, "NOT") && rst_token_next(&p, node->last->start).type == TOKEN_END
               ? SQLITE_INDEX_CONSTRAINT_ISNOT
               : 0;
}

static int mirrored(int operation) {
    switch (operation) {
    case SQLITE_INDEX_CONSTRAINT_LT: return SQLITE_INDEX_CONSTRAINT_GT;
    case SQLITE_INDEX_CONSTRAINT_LE: return SQLITE_INDEX_CONSTRAINT_GE;
    case SQLITE_INDEX_CONSTRAINT_GT: return SQLITE_INDEX_CONSTRAINT_LT;
    case SQLITE_INDEX_CONSTRAINT_GE: return SQLITE_INDEX_CONSTRAINT_LE;
    default: return operation;
    }
}

/* "column operator constant" with what the column says of the comparison. */
static predicate *compare_constant(reader *r, int column, uint8_t collation, int operation,
                                   const rst_syntax *constant) {
    predicate *node = new_node(r, NODE_COMPARISON);
    if (node == NULL) return NULL;
    node->column = column;
    node->operation = operation;
    node->collation = collation;
    /* An application's collation has no order here. */
    if (collation > ROOTSTOCK_COLLATION_RTRIM ||
        !read_constant(r, constant, node, rst_partial_predicate_affinity(r->table, column))) {
        rst_partial_predicate_free(node);
        return NULL;
    }
    return node;
}

static predicate *test_null(reader *r, int column, bool null) {
    predicate *node = new_node(r, NODE_COMPARISON);
    if (node == NULL) return NULL;
    node->column = column;
    node->operation = null ? SQLITE_INDEX_CONSTRAINT_ISNULL : SQLITE_INDEX_CONSTRAINT_ISNOTNULL;
    node->value.type = VALUE_NULL;
    return node;
}

static bool is_null(const rst_syntax *node) {
    const rst_token token = rst_syntax_token(node, 0);
    return node->kind == SYNTAX_LITERAL && rst_token_is(&token, "NULL");
}

/* A column and constants, in whatever order. */
static predicate *read_comparison(reader *r, const rst_syntax *comparing) {
    const rst_syntax *left = comparing->first, *right = comparing->last, *value;
    const rst_token word = rst_syntax_operator(comparing);
    const bool compares = comparing->kind == SYNTAX_EQUAL || comparing->kind == SYNTAX_COMPARE;
    int column, operation = compares ? comparison(comparing) : 0;
    uint8_t collation = ROOTSTOCK_COLLATION_BINARY, after = collation;
    bool explicit, explicit_after = false;
    predicate *node = NULL;
    if (!read_collation(&left, &collation, &explicit)) return NULL;
    if (compares && !read_collation(&right, &after, &explicit_after)) return NULL;
    if (compares && !read_column(r, left, &column)) { /* constant operator column */
        const rst_syntax *other = left;
        left = right;
        right = other;
        operation = mirrored(operation);
        if (explicit) return NULL;
    }
    if (!read_column(r, left, &column)) return NULL;
    /* A COLLATE comes before the column's own, the left one first. */
    if (!explicit)
        collation = explicit_after ? after
                    : column >= 0  ? r->table->columns[column].collation
                                   : ROOTSTOCK_COLLATION_BINARY;
    switch (comparing->kind) {
    case SYNTAX_NULL: return test_null(r, column, rst_token_is(&word, "ISNULL"));
    case SYNTAX_EQUAL:
    case SYNTAX_COMPARE:
        if (operation == 0) return NULL;
        if ((operation == SQLITE_INDEX_CONSTRAINT_IS || operation == SQLITE_INDEX_CONSTRAINT_ISNOT) && is_null(right))
            return test_null(r, column, operation == SQLITE_INDEX_CONSTRAINT_IS);
        return compare_constant(r, column, collation, operation, right);
    case SYNTAX_BETWEEN:
        if (!rst_token_is(&word, "BETWEEN")) return NULL;
        node = compare_constant(r, column, collation, SQLITE_INDEX_CONSTRAINT_GE, comparing->first->next);
        return join(r, NODE_AND, node, compare_constant(r, column, collation, SQLITE_INDEX_CONSTRAINT_LE, right));
    case SYNTAX_IN:
        if (!rst_token_is(&word, "IN") || right->kind != SYNTAX_VECTOR || right->first == NULL) return NULL;
        value = right->first;
        node = compare_constant(r, column, collation, SQLITE_INDEX_CONSTRAINT_EQ, value);
        while (node != NULL && (value = value->next) != NULL)
            node = join(r, NODE_OR, node, compare_constant(r, column, collation, SQLITE_INDEX_CONSTRAINT_EQ, value));
        return node;
    default: return NULL;
    }
}

static predicate *read_term(reader *r, const rst_syntax *term) {
    const rst_syntax *part;
    predicate *node;
    term = rst_syntax_unwrap(term);
    if (term->kind != SYNTAX_AND && term->kind != SYNTAX_OR)
        return term->first == NULL ? NULL : read_comparison(r, term);
    part = term->first;
    node = read_term(r, part);
    while (node != NULL && (part = part->next) != NULL)
        node = join(r, term->kind == SYNTAX_AND ? NODE_AND : NODE_OR, node, read_term(r, part));
    return node;
}

int rst_partial_predicate_parse(const rst_table *table, const char *text, predicate **out) {
    reader r = {.table = table};
    rst_syntax_tree tree;
    int code = rst_syntax_parse_expression(&tree, text, text + strlen(text));
    *out = code == SQLITE_OK ? read_term(&r, tree.root) : NULL;
    rst_syntax_free(&tree);
    return code == SQLITE_NOMEM ? code : r.code;
}
