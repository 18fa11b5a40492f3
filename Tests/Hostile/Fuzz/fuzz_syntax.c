/*
** fuzz_syntax.c - libFuzzer target for the parser of statements.
**
** Whatever the text is, the parser stays inside it and ends; a tree's spans nest in the order of the text; and what
** SQLite prepares on an empty database has a tree.
*/
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

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
    if (code != SQLITE_OK && is_known(text, end) && memchr(text, '\0', size) == NULL)
        require(sqlite3_prepare_v2(db, text, (int)(end - text), &statement, NULL) != SQLITE_OK || statement == NULL);
    sqlite3_finalize(statement);
    rst_syntax_free(&tree);
    free(text);
    return 0;
}
