/*
** fuzz_syntax.c - libFuzzer target for the parser of statements.
**
** Whatever the text is, the parser stays inside it and ends; a tree's spans nest in the order of the text; and what
** SQLite prepares on an empty database has a tree. What a shape leaves out are numbers and strings, each a literal of
** the tree where SQLite prepares the text; and another text of the shape has the same tokens but for those.
*/
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "parser/shape.h"
#include "parser/statement.h"
#include "parser/syntax_tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds) {
    if (!holds) abort();
}

static void walk(const rst_syntax *node, const char *text, const char *end) {
    const char *at = node->start;
    require(node->start >= text && node->end <= end && node->start <= node->end);
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        require(child->start >= at && child->height < node->height);
        walk(child, text, node->end);
        at = child->end;
        require(child->next != NULL || child == node->last);
    }
}

static int has_literal(const rst_syntax *node, const char *start) {
    if (node->kind == SYNTAX_LITERAL && node->start == start) return 1;
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        if (has_literal(child, start)) return 1;
    }
    return 0;
}

/* root: of the text, which SQLite prepares; or null. */
static void look_at_shape(const char *text, const char *end, const rst_syntax *root) {
    char other[3 * SHAPE_LONGEST], *out = other, *marked, *pattern, *filled;
    int marks = 0;
    const char *p = text, *q = other;
    rst_shape shape, again;
    rst_shape_of(text, end, &shape);
    require(shape.size <= SHAPE_LONGEST);
    if (shape.size == 0) return;
    for (size_t i = 0; i < shape.size; i++) {
        if ((unsigned char)shape.bytes[i] > 2) {
            require(p < end && *p == shape.bytes[i]);
            *out++ = *p++;
        } else {
            const rst_token token = rst_token_next(&p, end);
            require(token.type == (shape.bytes[i] == 1 ? TOKEN_NUMBER : TOKEN_STRING));
            require(root == NULL || has_literal(root, token.text));
            strcpy(out, shape.bytes[i] == 1 ? "7" : "'y'");
            out += strlen(out);
        }
    }
    rst_shape_of(other, out, &again);
    require(p == end && again.size == shape.size && memcmp(shape.bytes, again.bytes, shape.size) == 0);
    /* The pattern of the text itself, filled, is the text. */
    marked = rst_shape_mark(text, end, &shape);
    require(marked != NULL);
    rst_shape_of(marked, marked + strlen(marked), &again);
    require(again.size == shape.size && memcmp(shape.bytes, again.bytes, shape.size) == 0);
    pattern = rst_shape_pattern(marked, &shape);
    for (q = marked; *q != '\0'; q++)
        marks += strncmp(q, "rootstock value ", 16) == 0 || strncmp(q, "907135642198300", 15) == 0;
    q = other;
    if (pattern != NULL && rst_shape_is_plain(&shape) && marks == shape.count) {
        filled = rst_shape_fill(pattern, &shape);
        require(filled != NULL && strlen(filled) == (size_t)(end - text) && memcmp(filled, text, strlen(filled)) == 0);
        sqlite3_free(filled);
    }
    sqlite3_free(pattern);
    sqlite3_free(marked);
    for (p = text;;) {
        const rst_token one = rst_token_next(&p, end), two = rst_token_next(&q, out);
        require(one.type == two.type);
        if (one.type == TOKEN_END) break;
        require(one.type == TOKEN_NUMBER || one.type == TOKEN_STRING ||
                (one.size == two.size && memcmp(one.text, two.text, one.size) == 0));
    }
}

/* Statements that the parser is for. */
static int is_known(const char *text, const char *end) {
    static const char *const verbs[] = {"SELECT", "VALUES", "INSERT", "REPLACE", "UPDATE", "DELETE", "WITH"};
    rst_token token = rst_token_next(&text, end);
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (rst_token_is(&token, verbs[i])) return 1;
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static sqlite3 *db;
    sqlite3_stmt *statement = NULL;
    rst_syntax_tree tree;
    char *text = malloc(size ? size : 1);
    const char *end;
    int code;
    require(text != NULL);
    if (size > 0) memcpy(text, data, size);
    if (db == NULL) {
        require(sqlite3_open(":memory:", &db) == SQLITE_OK);
        require(sqlite3_exec(db, "CREATE TABLE t(a, b); CREATE TABLE u(a, c, UNIQUE (a))", NULL, NULL, NULL) ==
                SQLITE_OK);
    }
    end = rst_statement_end(text, text + size);
    code = rst_syntax_parse(&tree, text, end);
    if (code == SQLITE_OK)
        walk(tree.root, text, end);
    else
        require(code == SQLITE_ERROR && tree.root == NULL && tree.stopped >= text && tree.stopped <= end);
    if (is_known(text, end) && memchr(text, '\0', size) == NULL) {
        const int prepared =
            sqlite3_prepare_v2(db, text, (int)(end - text), &statement, NULL) == SQLITE_OK && statement != NULL;
        require(code == SQLITE_OK || !prepared);
        look_at_shape(text, end, prepared ? tree.root : NULL);
    } else {
        look_at_shape(text, end, NULL);
    }
    sqlite3_finalize(statement);
    rst_syntax_free(&tree);
    free(text);
    return 0;
}
