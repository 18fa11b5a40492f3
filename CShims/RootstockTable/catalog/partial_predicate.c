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

#include "parser/tokens.h"

#include <string.h>

/* Of parentheses; and of terms beside each other, of which the tree is as deep as they are many. */
enum { DEEPEST = 50, WIDEST = 1000 };

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
    const char *p, *end;
    int depth, joins;
    int code; /* SQLITE_NOMEM; else what is not understood */
} reader;

static rst_token peek(const reader *r) {
    const char *q = r->p;
    return rst_token_next(&q, r->end);
}

static bool accept(reader *r, const char *word) {
    const char *q = r->p;
    rst_token token = rst_token_next(&q, r->end);
    if (!rst_token_is(&token, word) && !rst_token_mark(&token, word)) return false;
    r->p = q;
    return true;
}

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
static bool read_column(reader *r, int *column) {
    const char *q = r->p;
    rst_token token = rst_token_next(&q, r->end), dot;
    const char *behind = q;
    if (token.type != TOKEN_WORD && token.type != TOKEN_NAME) return false;
    dot = rst_token_next(&q, r->end);
    if (rst_token_mark(&dot, ".")) {
        if (!rst_token_same_name(&token, r->table->name)) return false;
        token = rst_token_next(&q, r->end);
        behind = q;
        if (token.type != TOKEN_WORD && token.type != TOKEN_NAME) return false;
    }
    for (int i = 0; i < r->table->column_count; i++) {
        if (!rst_token_same_name(&token, r->table->columns[i].name)) continue;
        *column = i;
        r->p = behind;
        return true;
    }
    if (!r->table->without_rowid && !r->table->has_rowid_name && token.type == TOKEN_WORD &&
        (rst_token_is(&token, "ROWID") || rst_token_is(&token, "OID") || rst_token_is(&token, "_ROWID_"))) {
        *column = -1;
        r->p = behind;
        return true;
    }
    return false;
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

/* A literal, evaluated by SQLite; *is_null instead of a value for NULL. */
static bool read_constant(reader *r, predicate *node, char affinity) {
    const char *start = peek(r).text;
    sqlite3_stmt *statement = NULL;
    rst_token token = rst_token_next(&r->p, r->end);
    char *sql;
    bool done = false;
    if (rst_token_mark(&token, "-") || rst_token_mark(&token, "+")) {
        token = rst_token_next(&r->p, r->end);
        if (token.type != TOKEN_NUMBER) return false;
    }
    if (token.type != TOKEN_NUMBER && token.type != TOKEN_STRING && token.type != TOKEN_BLOB) return false;
    sql = sqlite3_mprintf("SELECT %.*s", (int)(token.text + token.size - start), start);
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

bool rst_partial_predicate_collation(const char *name, uint8_t *collation) {
    if (name == NULL || sqlite3_stricmp(name, "BINARY") == 0)
        *collation = ROOTSTOCK_COLLATION_BINARY;
    else if (sqlite3_stricmp(name, "NOCASE") == 0)
        *collation = ROOTSTOCK_COLLATION_NOCASE;
    else if (sqlite3_stricmp(name, "RTRIM") == 0)
        *collation = ROOTSTOCK_COLLATION_RTRIM;
    else
        return false;
    return true;
}

/* COLLATE name, if it is there; *explicit tells. False: one that is not known. */
static bool read_collation(reader *r, uint8_t *collation, bool *explicit) {
    rst_token name;
    char *text;
    bool known;
    *explicit = false;
    if (!accept(r, "COLLATE")) return true;
    name = rst_token_next(&r->p, r->end);
    text = rst_token_name(&name);
    known = text != NULL && rst_partial_predicate_collation(text, collation);
    sqlite3_free(text);
    *explicit = true;
    return known;
}

static int comparison(const rst_token *token) {
    static const struct {
        const char *mark;
        int operation;
    } marks[] = {{"=", SQLITE_INDEX_CONSTRAINT_EQ},  {"==", SQLITE_INDEX_CONSTRAINT_EQ},
                 {"<>", SQLITE_INDEX_CONSTRAINT_NE}, {"!=", SQLITE_INDEX_CONSTRAINT_NE},
                 {"<", SQLITE_INDEX_CONSTRAINT_LT},  {"<=", SQLITE_INDEX_CONSTRAINT_LE},
                 {">", SQLITE_INDEX_CONSTRAINT_GT},  {">=", SQLITE_INDEX_CONSTRAINT_GE}};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (rst_token_mark(token, marks[i].mark)) return marks[i].operation;
    }
    return 0;
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
static predicate *compare_constant(reader *r, int column, uint8_t collation, int operation) {
    predicate *node = new_node(r, NODE_COMPARISON);
    if (node == NULL) return NULL;
    node->column = column;
    node->operation = operation;
    node->collation = collation;
    /* An application's collation has no order here. */
    if (collation > ROOTSTOCK_COLLATION_RTRIM ||
        !read_constant(r, node, rst_partial_predicate_affinity(r->table, column))) {
        rst_partial_predicate_free(node);
        return NULL;
    }
    return node;
}

static predicate *test_null(reader *r, int column, int operation) {
    predicate *node = new_node(r, NODE_COMPARISON);
    if (node == NULL) return NULL;
    node->column = column;
    node->operation = operation;
    node->value.type = VALUE_NULL;
    return node;
}

/* What may follow a whole comparison. */
static bool ends_here(const reader *r) {
    rst_token token = peek(r);
    return token.type == TOKEN_END || rst_token_is(&token, "AND") || rst_token_is(&token, "OR") ||
           rst_token_mark(&token, ")");
}

/* The column of "constant operator column" stands behind; where that begins, and its value is not needed yet. */
static predicate *constant_first(reader *r) {
    const char *start = r->p;
    predicate *node = NULL;
    rst_token token = rst_token_next(&r->p, r->end);
    int operation, column;
    uint8_t collation = ROOTSTOCK_COLLATION_BINARY;
    bool explicit;
    if (rst_token_mark(&token, "-") || rst_token_mark(&token, "+")) token = rst_token_next(&r->p, r->end);
    token = rst_token_next(&r->p, r->end);
    operation = comparison(&token);
    if (operation == 0 || !read_column(r, &column)) return NULL;
    if (column >= 0) collation = r->table->columns[column].collation;
    if (!read_collation(r, &collation, &explicit)) return NULL;
    {
        const char *behind = r->p;
        r->p = start;
        node = compare_constant(r, column, collation, mirrored(operation));
        r->p = behind;
    }
    return node;
}

static predicate *read_comparison(reader *r) {
    int column, operation;
    uint8_t collation = ROOTSTOCK_COLLATION_BINARY, after;
    bool explicit, explicit_after;
    rst_token token = peek(r);
    predicate *node = NULL;
    if (token.type == TOKEN_NUMBER || token.type == TOKEN_STRING || token.type == TOKEN_BLOB ||
        rst_token_mark(&token, "-") || rst_token_mark(&token, "+")) {
        return constant_first(r);
    }
    if (!read_column(r, &column)) return NULL;
    if (column >= 0) collation = r->table->columns[column].collation;
    if (!read_collation(r, &collation, &explicit)) return NULL;
    if (accept(r, "NOTNULL")) return test_null(r, column, SQLITE_INDEX_CONSTRAINT_ISNOTNULL);
    if (accept(r, "ISNULL")) return test_null(r, column, SQLITE_INDEX_CONSTRAINT_ISNULL);
    if (accept(r, "NOT")) {
        return accept(r, "NULL") ? test_null(r, column, SQLITE_INDEX_CONSTRAINT_ISNOTNULL) : NULL;
    }
    if (accept(r, "IS")) {
        bool negated = accept(r, "NOT");
        if (accept(r, "NULL")) {
            return test_null(r, column, negated ? SQLITE_INDEX_CONSTRAINT_ISNOTNULL : SQLITE_INDEX_CONSTRAINT_ISNULL);
        }
        node = compare_constant(r, column, collation,
                                negated ? SQLITE_INDEX_CONSTRAINT_ISNOT : SQLITE_INDEX_CONSTRAINT_IS);
    } else if (accept(r, "BETWEEN")) {
        predicate *low = compare_constant(r, column, collation, SQLITE_INDEX_CONSTRAINT_GE);
        if (low == NULL || !accept(r, "AND")) {
            rst_partial_predicate_free(low);
            return NULL;
        }
        return join(r, NODE_AND, low, compare_constant(r, column, collation, SQLITE_INDEX_CONSTRAINT_LE));
    } else if (accept(r, "IN")) {
        if (!accept(r, "(")) return NULL;
        do {
            predicate *one = compare_constant(r, column, collation, SQLITE_INDEX_CONSTRAINT_EQ);
            if (one == NULL) {
                rst_partial_predicate_free(node);
                return NULL;
            }
            node = node == NULL ? one : join(r, NODE_OR, node, one);
        } while (node != NULL && accept(r, ","));
        if (node != NULL && !accept(r, ")")) {
            rst_partial_predicate_free(node);
            node = NULL;
        }
        return node;
    } else {
        token = rst_token_next(&r->p, r->end);
        operation = comparison(&token);
        if (operation == 0) return NULL;
        node = compare_constant(r, column, collation, operation);
    }
    if (node == NULL) return NULL;
    if (!read_collation(r, &after, &explicit_after)) {
        rst_partial_predicate_free(node);
        return NULL;
    }
    if (explicit_after && !explicit) node->collation = after; /* the left one comes first */
    return node;
}

static predicate *read_or(reader *r);

static predicate *read_part(reader *r) {
    predicate *node;
    const char *start = r->p;
    if (accept(r, "(")) {
        if (++r->depth > DEEPEST) return NULL;
        node = read_or(r);
        r->depth--;
        if (node == NULL) return NULL;
        if (accept(r, ")") && ends_here(r)) return node;
        rst_partial_predicate_free(node); /* the parentheses were around an operand */
        r->p = start;
        return NULL;
    }
    node = read_comparison(r);
    if (node != NULL && !ends_here(r)) {
        rst_partial_predicate_free(node);
        return NULL;
    }
    return node;
}

static predicate *read_and(reader *r) {
    predicate *node = read_part(r);
    while (node != NULL && accept(r, "AND")) node = join(r, NODE_AND, node, read_part(r));
    return node;
}

static predicate *read_or(reader *r) {
    predicate *node = read_and(r);
    while (node != NULL && accept(r, "OR")) node = join(r, NODE_OR, node, read_and(r));
    return node;
}

int rst_partial_predicate_parse(const rst_table *table, const char *text, predicate **out) {
    reader r = {.table = table, .p = text, .end = text + strlen(text)};
    rst_token token;
    *out = read_or(&r);
    token = peek(&r);
    if (*out != NULL && token.type != TOKEN_END) {
        rst_partial_predicate_free(*out);
        *out = NULL;
    }
    return r.code;
}
