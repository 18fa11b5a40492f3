/*
** explain.c - SELECT id, parent, notused, detail FROM rootstock_explain(sql): EXPLAIN QUERY PLAN in a SQLite user's
** words.
**
** SQLite words the plan of a virtual table as "SCAN t VIRTUAL TABLE INDEX 3:" and what the module says of it (plan.c's
** descriptions). Here that becomes what it would be on a table of SQLite's own. "SEARCH t USING INDEX i (a=?)": a
** condition narrows the walk. "SCAN t USING INDEX i" or "SCAN t": none does. Lines about anything else stay as they
** are.
*/
#include "interface/interface.h"
#include "interface/check.h"
#include "planner/plan.h"

#include <stdlib.h>
#include <string.h>

static const char marker[] = " VIRTUAL TABLE INDEX ";

/* The store's table that has the alias below the node; or null. */
static const rst_table *table_behind(rst_connection *c, const rst_syntax *node, const char *alias) {
    const rst_syntax *as =
        node->kind == SYNTAX_TABLE || node->kind == SYNTAX_TARGET ? rst_syntax_child(node, SYNTAX_ALIAS) : NULL;
    const rst_table *found = NULL;
    rst_token name, schema;
    if (as != NULL && (name = rst_syntax_name(as->last, &schema), rst_token_same_name(&name, alias))) {
        char *text;
        name = rst_syntax_name(node->first, &schema);
        text = rst_token_name(&name);
        found = text == NULL ? NULL : rst_table_find(c, text);
        sqlite3_free(text);
    }
    for (const rst_syntax *child = node->first; child != NULL && found == NULL; child = child->next)
        found = table_behind(c, child, alias);
    return found;
}

/* The store's table that a plan line calls `name`, by itself or by the alias it has in the statement; null if it is
** none. root: the statement, or null. */
static const rst_table *table_called(rst_connection *c, const rst_syntax *root, const char *name, size_t size) {
    char *text = sqlite3_mprintf("%.*s", (int)size, name);
    const rst_table *found = text == NULL ? NULL : rst_table_find(c, text);
    if (text != NULL && found == NULL && root != NULL) found = table_behind(c, root, text);
    sqlite3_free(text);
    return found;
}

/*
** Rows that SQLite thinks a loop runs for, in its logarithmic units: of the lines of a level, which share their parent.
** It is what decides on an automatic index, so the lines' own estimates are added up here as the planner does.
*/
typedef struct level {
    int64_t line; /* the parent */
    double rows;
} level;

enum { LEVELS = 64, RUNS_AT_MOST = 48, RUNS_AT_LEAST = 3, SCANNED = 200, SOUGHT = 33 };

typedef struct levels {
    level level[LEVELS];
    int count;
    bool automatic; /* PRAGMA automatic_index */
} levels;

static level *level_of(levels *all, int64_t line) {
    for (int i = all->count - 1; i >= 0; i--) {
        if (all->level[i].line == line) return &all->level[i];
    }
    if (all->count == LEVELS) all->count--;
    all->level[all->count].line = line;
    all->level[all->count].rows = 0;
    return &all->level[all->count++];
}

/* A line that is no loop over a store's table. */
static void note_line(levels *all, int64_t line, int64_t parent, const char *detail) {
    level *here = level_of(all, parent);
    double rows = here->rows;
    if (strncmp(detail, "SCAN ", 5) == 0) {
        if (strcmp(detail, "SCAN CONSTANT ROW") != 0) here->rows += SCANNED;
    } else if (strncmp(detail, "SEARCH ", 7) == 0) {
        if (strstr(detail, "(rowid=?)") == NULL) here->rows += SOUGHT;
    } else if (strstr(detail, "SCALAR SUBQUERY") != NULL || strstr(detail, "LIST SUBQUERY") != NULL) {
        level_of(all, line)->rows = rows > RUNS_AT_MOST ? RUNS_AT_MOST : rows;
    }
}

/* Whether SQLite would make its index here; the line counts. */
static bool worth_an_index(levels *all, int64_t parent, const rst_table *table, const rst_plan *plan) {
    double rows = table->table_rows > 0 ? rst_log_estimate(table->table_rows) : SCANNED;
    double depth = rst_log_estimate(rows / 10), look_up = rst_log_add(depth, 43);
    level *here = level_of(all, parent);
    double runs = here->rows;
    const bool automatic = plan->automatic > 0 && !plan->automatic_spelled;
    bool worth = automatic && all->automatic && !table->without_rowid && runs >= RUNS_AT_LEAST &&
                 rst_log_add(depth + rows + 28, look_up + runs) <= plan->cost + runs;
    if (!automatic)
        here->rows += plan->rows;
    else
        here->rows += worth ? 43 : rows > 20 ? rows - 20 : 0;
    return worth;
}

/* The line as it would read natively, or null: keep it. */
static char *native_words(rst_connection *c, const rst_syntax *root, const char *detail, levels *all, int64_t parent) {
    const char *at = strstr(detail, marker), *rest, *plan, *name = NULL, *shown, *behind = "";
    const rst_table *table;
    const rst_plan *made;
    size_t size;
    bool search;
    if (at == NULL) return NULL;
    if (strncmp(detail, "SCAN ", 5) == 0)
        name = detail + 5;
    else if (strncmp(detail, "SEARCH ", 7) == 0)
        name = detail + 7;
    if (name == NULL || name > at) return NULL;
    rest = strchr(at + sizeof marker - 1, ':');
    if (rest == NULL) return NULL;
    rest++;
    plan = rest;
    /* A program's text says where its table is. */
    if (strncmp(name, "main.", 5) == 0) name += 5;
    size = (size_t)(at - name);
    /* The front door reads the schema from rootstock_schema, under the name that the user gave. */
    if (sqlite3_strnicmp(name, "rootstock_schema ", 17) == 0) return sqlite3_mprintf("SCAN sqlite_schema%s", rest);
    if (sqlite3_strnicmp(name, "sqlite_master ", 14) == 0 || sqlite3_strnicmp(name, "sqlite_schema ", 14) == 0) {
        return sqlite3_mprintf("SCAN %.*s%s", (int)size, name, rest);
    }
    table = table_called(c, root, name, size);
    if (table == NULL) return NULL;
    made = rst_plan_of(table, (int)strtol(at + sizeof marker - 1, NULL, 10), store_of(c)->epoch);
    if (made != NULL) {
        bool worth = worth_an_index(all, parent, table, made);
        size_t own = strlen(made->description);
        if (made->scan != NULL && strncmp(plan, made->description, own) == 0) {
            behind = plan + own;
            plan = worth ? made->description : made->scan;
        }
    }
    search = strncmp(detail, "SEARCH ", 7) == 0 || strchr(plan, '(') != NULL;
    shown = strncmp(name, table->declared_name, size) == 0 && table->declared_name[size] == '\0' ? table->name : NULL;
    if (shown == NULL) {
        return sqlite3_mprintf("%s %.*s%s%s%s", search ? "SEARCH" : "SCAN", (int)size, name, plan[0] == 'U' ? " " : "",
                               plan, behind);
    }
    return sqlite3_mprintf("%s %s%s%s%s", search ? "SEARCH" : "SCAN", shown, plan[0] == 'U' ? " " : "", plan, behind);
}

static int fill(rst_connection *c, sqlite3_value **values, rst_listing *listing, char **message) {
    const char *sql = values[0] == NULL ? NULL : (const char *)sqlite3_value_text(values[0]);
    sqlite3_stmt *statement = NULL;
    const rst_syntax *root;
    rst_syntax_tree tree;
    levels all = {.automatic = rst_automatic_pragma(c)};
    char *text;
    int code, result;
    if (sql == NULL) {
        rst_set_message(message, "rootstock_explain(sql) takes a statement");
        return SQLITE_ERROR;
    }
    text = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sql);
    if (text == NULL) return SQLITE_NOMEM;
    code = sqlite3_prepare_v2(c->db, text, -1, &statement, NULL);
    sqlite3_free(text);
    if (code != SQLITE_OK) rst_set_message(message, "%s", sqlite3_errmsg(c->db));
    root = rst_syntax_parse(&tree, sql, sql + strlen(sql)) == SQLITE_OK ? tree.root : NULL;
    while (code == SQLITE_OK && statement != NULL && sqlite3_step(statement) == SQLITE_ROW) {
        const char *detail = (const char *)sqlite3_column_text(statement, 3);
        int64_t line = sqlite3_column_int64(statement, 0), parent = sqlite3_column_int64(statement, 1);
        char *words = detail == NULL ? NULL : native_words(c, root, detail, &all, parent);
        if (detail != NULL && words == NULL) note_line(&all, line, parent, detail);
        code = rst_listing_add(listing, "iiis", sqlite3_column_int64(statement, 0), sqlite3_column_int64(statement, 1),
                               sqlite3_column_int64(statement, 2), words == NULL ? detail : words);
        sqlite3_free(words);
    }
    rst_syntax_free(&tree);
    result = sqlite3_finalize(statement);
    if (code == SQLITE_OK && result != SQLITE_OK) {
        rst_set_message(message, "%s", sqlite3_errmsg(c->db));
        code = result;
    }
    return code;
}

const rst_listing_definition rst_explain_listing = {
    .name = "rootstock_explain",
    .columns = "id, parent, notused, detail, sql HIDDEN",
    .column_count = 4,
    .argument = 4,
    .arguments = 1,
    .fill = fill,
};
