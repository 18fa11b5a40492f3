/*
** syntax.c - the parser against SQLite: every SELECT, INSERT, UPDATE, DELETE and CREATE that SQLite prepares has a
** tree, and the tree's spans nest in the order of the text, so that leaves and the gaps between them give the text
** back.
**
** Standard input: statements, each ended by a NUL; an empty one begins a new database. Those that SQLite takes are run,
** so that later ones find their tables. Prints what failed, and how many statements were held against each other.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "parser/statement.h"
#include "parser/syntax_tree.h"

static int failures, compared, refused;

static void failed(const char *why, const char *sql, const char *at) {
    if (failures++ < 20) printf("syntax: %s at \"%.30s\": %.300s\n", why, at, sql);
}

/* Appends the node's text from its leaves and gaps. False where a child stands outside, or before its brother. */
static int print(const rst_syntax *node, char **out) {
    const char *at = node->start;
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        if (child->start < at || child->end < child->start || child->end > node->end || child->height >= node->height)
            return 0;
        memcpy(*out, at, (size_t)(child->start - at));
        *out += child->start - at;
        if (!print(child, out)) return 0;
        at = child->end;
        if (child->next == NULL && child != node->last) return 0;
    }
    memcpy(*out, at, (size_t)(node->end - at));
    *out += node->end - at;
    return 1;
}

static int is_virtual(const char *p, const char *end) {
    rst_token token = rst_token_next(&p, end);
    return rst_token_is(&token, "VIRTUAL");
}

static int is_parsed(const char *sql) {
    const char *p = sql, *end = sql + strlen(sql);
    rst_token token = rst_token_next(&p, end);
    static const char *const verbs[] = {"SELECT", "VALUES", "INSERT", "REPLACE", "UPDATE",
                                        "DELETE", "WITH",   "CREATE", "EXPLAIN"};
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (rst_token_is(&token, verbs[i]))
            return i == 7 ? !is_virtual(p, end) : i != 8 || strstr(sql, "SELECT") == sql + 8;
    return 0;
}

static void compare(sqlite3 *db, const char *sql) {
    const char *end = rst_statement_end(sql, sql + strlen(sql));
    sqlite3_stmt *statement = NULL;
    int accepted = sqlite3_prepare_v2(db, sql, (int)(end - sql), &statement, NULL) == SQLITE_OK && statement != NULL;
    rst_syntax_tree tree;
    if (is_parsed(sql)) {
        int code = rst_syntax_parse(&tree, sql, end);
        if (accepted) {
            compared++;
            if (code != SQLITE_OK) failed("no tree", sql, tree.stopped == NULL ? "" : tree.stopped);
        } else if (code != SQLITE_OK) {
            refused++;
        }
        if (code == SQLITE_OK) {
            size_t size = (size_t)(tree.root->end - tree.root->start);
            char *text = malloc(size + 1), *at = text;
            if (text == NULL) abort();
            if (!print(tree.root, &at) || (size_t)(at - text) != size || memcmp(text, tree.root->start, size) != 0)
                failed("spans do not nest", sql, "");
            free(text);
        }
        rst_syntax_free(&tree);
    }
    if (accepted)
        for (int rows = 0; rows < 50 && sqlite3_step(statement) == SQLITE_ROW; rows++) {
        }
    sqlite3_finalize(statement);
}

/* How deep the text may nest: what SQLite takes has a tree, and what is deeper than any stack is told as not known. */
static void nest(sqlite3 *db, const char *open, const char *close, int times, int known) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    rst_syntax_tree tree;
    char *sql;
    int code;
    sqlite3_str_appendall(text, "SELECT ");
    for (int i = 0; i < times; i++) sqlite3_str_appendall(text, open);
    sqlite3_str_appendall(text, "1");
    for (int i = 0; i < times; i++) sqlite3_str_appendall(text, close);
    sql = sqlite3_str_finish(text);
    if (sql == NULL) abort();
    if (known) {
        compare(db, sql);
    } else {
        code = rst_syntax_parse(&tree, sql, sql + strlen(sql));
        if (code != SQLITE_ERROR) failed("deeper than can be", sql, "");
        rst_syntax_free(&tree);
    }
    sqlite3_free(sql);
}

int main(void) {
    static char sql[1 << 20];
    sqlite3 *db = NULL;
    size_t size = 0;
    int c;
    static const struct {
        const char *open, *close;
    } nests[] = {{"(", ")"},      {"(SELECT ", ")"},       {"NOT ", ""},
                 {"-+", ""},      {"abs(", ")"},           {"CASE WHEN 1 THEN ", " END"},
                 {"1 IN (", ")"}, {"1 FROM (SELECT ", ")"}};
    if (sqlite3_open(":memory:", &db) != SQLITE_OK) abort();
    for (size_t i = 0; i < sizeof nests / sizeof nests[0]; i++) {
        for (int times = 1; times < 120; times += 7) nest(db, nests[i].open, nests[i].close, times, 1);
        nest(db, nests[i].open, nests[i].close, 100000, 0);
    }
    nest(db, "1 = ", "", 990, 1);
    nest(db, "1 || ", "", 990, 1);
    nest(db, "1 AND ", "", 990, 1);
    nest(db, "1 = ", "", 100000, 0);
    while ((c = getchar()) != EOF) {
        if (size + 1 >= sizeof sql) abort();
        sql[size++] = (char)c;
        if (c != '\0') continue;
        if (size == 1) {
            sqlite3_close(db);
            if (sqlite3_open(":memory:", &db) != SQLITE_OK) abort();
        } else {
            compare(db, sql);
        }
        size = 0;
    }
    sqlite3_close(db);
    printf("syntax: %d statements that SQLite takes compared, %d failed (of those it refuses, %d have no tree)\n",
           compared, failures, refused);
    return failures > 0 || compared < 1000;
}
