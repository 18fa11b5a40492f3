/*
** trigger_row.c - NEW and OLD of a trigger become columns of its view (program/trigger.c).
**
** The view's INSTEAD OF trigger is one of INSERT whatever the trigger's own event is. An INSERT of one row needs no
** temporary B-tree, of which SQLite opens two for an UPDATE of a view. So NEW.x stays NEW.x, and OLD.x becomes
** NEW."rootstock old N". A RAISE tells its mode.
**
** Invariant: a name means what it means natively. SQLite takes OLD.x for the row's unless a table called so is among
** those of the innermost query or statement. A result in FROM or WITH keeps the name that it has without an alias.
*/
#include "rewriter/rewriter.h"
#include "rewriter/trigger_text.h"

#include <string.h>

enum { ROW_NEW = 1, ROW_OLD = 2 };

typedef struct row_names {
    const rst_table *table;
    int rows; /* which of the two the event has */
    rst_edits edits;
    rst_trigger_values *used;
} row_names;

/* Which of NEW and OLD are names of tables of the FROM, or of the target. */
static int hidden_by(const rst_syntax *node) {
    const rst_syntax *alias;
    rst_token schema, name;
    int hidden = 0;
    if (node == NULL || node->kind == SYNTAX_SELECT || node->kind == SYNTAX_ON) return 0;
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) hidden |= hidden_by(child);
    if (node->kind != SYNTAX_TABLE && node->kind != SYNTAX_TARGET && node->kind != SYNTAX_SOURCE &&
        node->kind != SYNTAX_JOINED)
        return hidden;
    alias = rst_syntax_child(node, SYNTAX_ALIAS);
    if (alias == NULL && node->first->kind != SYNTAX_NAME) return hidden;
    name = rst_syntax_name(alias != NULL ? alias->last : node->first, &schema);
    return hidden | (rst_token_same_name(&name, "NEW") ? ROW_NEW : rst_token_same_name(&name, "OLD") ? ROW_OLD : 0);
}

/* The number of the row's column among those that are used, which it is from now on; -1: no memory. */
static int use(rst_trigger_values *used, int column, bool old) {
    rst_trigger_value *more;
    int i = 0;
    while (i < used->count && (used->all[i].column != column || used->all[i].old != old)) i++;
    if (i < used->count) return i;
    more = sqlite3_realloc64(used->all, ((sqlite3_uint64)used->count + 1) * sizeof *more);
    if (more == NULL) return -1;
    more[used->count] = (rst_trigger_value){column, old};
    used->all = more;
    return used->count++;
}

/* Whether the SELECT is ordered by the bare name, for which SQLite would take an alias first. */
static bool orders_by(const rst_syntax *select, const rst_token *name) {
    const rst_syntax *order = rst_syntax_child(select, SYNTAX_ORDER);
    for (const rst_syntax *term = order == NULL ? NULL : order->first; term != NULL; term = term->next) {
        rst_token qualifier, other;
        if (term->first->kind != SYNTAX_NAME) continue;
        other = rst_syntax_name(term->first, &qualifier);
        if (qualifier.type == TOKEN_END && rst_token_alike(&other, name)) return true;
    }
    return false;
}

/* named: the SELECT whose result the name is, which is to have the name that SQLite gives it; or null. */
static void read_name(row_names *r, const rst_syntax *node, int hidden, const rst_syntax *named) {
    const rst_table *table = r->table;
    rst_token row, name = rst_syntax_name(node, &row);
    int column, number, which;
    bool rowid;
    char *text;
    if (row.type == TOKEN_END || row.text != node->start) return;
    which = rst_token_same_name(&row, "NEW") ? ROW_NEW : rst_token_same_name(&row, "OLD") ? ROW_OLD : 0;
    if ((which & r->rows & ~hidden) == 0) return;
    column = rst_column_named(table, &name);
    rowid = column < 0;
    if (rowid && (table->has_rowid_name || table->without_rowid || !rst_token_is_rowid(&name))) return;
    number = use(r->used, rowid ? -1 : column, which == ROW_OLD);
    if (which == ROW_NEW && !rowid && column != table->rowid_column && number >= 0) return;
    text = which == ROW_OLD || rowid ? sqlite3_mprintf("NEW.\"rootstock %d\"", number)
                                     : sqlite3_mprintf("%.*s", (int)(node->end - node->start), node->start);
    /* SQLite gives these, and no other NEW or OLD column, an affinity. */
    if (text != NULL && (rowid || column == table->rowid_column)) {
        char *cast = sqlite3_mprintf("CAST(%s AS INTEGER)", text);
        sqlite3_free(text);
        text = cast;
    }
    if (text != NULL && named != NULL && !orders_by(named, &name)) {
        char *aliased = sqlite3_mprintf("%s AS %.*s", text, (int)name.size, name.text);
        sqlite3_free(text);
        text = aliased;
    }
    rst_edits_add(&r->edits, node->start, node->end, number < 0 ? NULL : text);
    if (number < 0) sqlite3_free(text);
}

/* Tell the modes apart: SQLite's code is the same for all, and ROLLBACK must wait for the statement's end. */
static void read_raise(row_names *r, const rst_syntax *call) {
    const rst_syntax *mode = call->first->next;
    rst_token word = {TOKEN_END, call->end, 0}, none;
    int number;
    if (mode != NULL && mode->kind == SYNTAX_NAME) word = rst_syntax_name(mode, &none);
    if (word.type == TOKEN_END || rst_token_is(&word, "IGNORE")) return;
    number = rst_token_is(&word, "FAIL")       ? SQLITE_FAIL
             : rst_token_is(&word, "ROLLBACK") ? SQLITE_ROLLBACK
                                               : SQLITE_ABORT;
    rst_edits_add(&r->edits, call->start, call->start,
                  sqlite3_mprintf(" CASE WHEN rootstock_raised(%d) THEN ", number));
    if (number == SQLITE_ROLLBACK) rst_edits_add(&r->edits, mode->start, mode->end, sqlite3_mprintf("ABORT"));
    rst_edits_add(&r->edits, call->end, call->end, sqlite3_mprintf(" END "));
}

/* hidden: of what is around the node. named: the innermost SELECT, where it stands in FROM or WITH; or null. */
static void read_node(row_names *r, const rst_syntax *node, int hidden, const rst_syntax *named) {
    const bool object = node->kind == SYNTAX_TABLE || node->kind == SYNTAX_TARGET;
    const rst_syntax *core;
    switch (node->kind) {
    case SYNTAX_NAME: read_name(r, node, hidden, NULL); return;
    case SYNTAX_CORE: hidden = hidden_by(rst_syntax_child(node, SYNTAX_FROM)); break;
    case SYNTAX_INSERT: /* for its ON CONFLICT */
    case SYNTAX_UPDATE:
    case SYNTAX_DELETE:
        hidden = hidden_by(rst_syntax_child(node, SYNTAX_TARGET)) | hidden_by(rst_syntax_child(node, SYNTAX_FROM));
        break;
    case SYNTAX_SELECT: /* for its ORDER BY */
        core = rst_syntax_child(node, SYNTAX_CORE);
        hidden = core == NULL ? 0 : hidden_by(rst_syntax_child(core, SYNTAX_FROM));
        if (named != NULL) named = node;
        break;
    case SYNTAX_VALUES:
    case SYNTAX_LIMIT: hidden = 0; break;
    case SYNTAX_SOURCE:
    case SYNTAX_COMMON_TABLE: named = node; break;
    case SYNTAX_SUBQUERY: named = NULL; break;
    case SYNTAX_CALL: {
        const rst_token word = rst_syntax_token(node, 0);
        if (!rst_token_is(&word, "RAISE")) break;
        read_raise(r, node);
        return;
    }
    default: break;
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        if (object && child == node->first) continue; /* a schema's table */
        if (node->kind == SYNTAX_RESULT && child->next == NULL && child->kind == SYNTAX_NAME)
            read_name(r, child, hidden, named);
        else
            read_node(r, child, hidden, named);
    }
}

int rst_trigger_take_row(const rst_table *table, int event, const char *sql, char **out, rst_trigger_values *used) {
    row_names r = {.table = table, .rows = event == TRIGGER_INSERT ? ROW_NEW : ROW_OLD, .used = used};
    rst_syntax_tree tree;
    int code = rst_syntax_parse(&tree, sql, sql + strlen(sql));
    if (event == TRIGGER_UPDATE) r.rows |= ROW_NEW;
    *out = NULL;
    if (code == SQLITE_OK) {
        for (const rst_syntax *part = tree.root->first; part != NULL; part = part->next)
            if (part->kind == SYNTAX_WHEN || part->kind == SYNTAX_BODY) read_node(&r, part, 0, NULL);
        code = rst_edits_apply(&r.edits, sql, sql + strlen(sql), out);
    }
    rst_syntax_free(&tree);
    return code;
}

char *rst_lift_references(const char *text, const char *end, sqlite3_str *arguments) {
    sqlite3_str *out = sqlite3_str_new(NULL);
    const char *p = text, *copied = text;
    int number = 0;
    for (;;) {
        rst_token token = rst_token_next(&p, end), dot, name;
        const char *q = p;
        if (token.type == TOKEN_END) break;
        if (!rst_token_is_row(&token)) continue;
        dot = rst_token_next(&q, end);
        if (!rst_token_mark(&dot, ".")) continue;
        name = rst_token_next(&q, end);
        if (!rst_token_names(&name)) continue;
        sqlite3_str_append(out, copied, (int)(token.text - copied));
        sqlite3_str_appendf(out, "?%d", ++number);
        if (arguments != NULL)
            sqlite3_str_appendf(arguments, ",%.*s", (int)(name.text + name.size - token.text), token.text);
        copied = p = name.text + name.size;
    }
    sqlite3_str_append(out, copied, (int)(end - copied));
    return sqlite3_str_finish(out);
}

/* Tables without a schema are those of main. */
static void write_schema(const rst_syntax_tree *tree, const rst_syntax *node, rst_edits *edits) {
    if (node->kind == SYNTAX_TABLE) {
        rst_token schema, name = rst_syntax_name(node->first, &schema);
        if (schema.type == TOKEN_END && !rst_syntax_defines(tree, &name))
            rst_edits_add(edits, node->start, node->start, sqlite3_mprintf("main."));
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) write_schema(tree, child, edits);
}

char *rst_upsert_call(const rst_connection *c, const rst_table *fired_by, const char *statement,
                      const char *arguments) {
    rst_syntax_tree tree;
    rst_edits edits = {0};
    char *named = NULL, *call = NULL;
    int code = SQLITE_OK;
    /* It runs as a statement of its own, to which tables of temp come first. */
    if (rewriter_of(c)->names_in_main) {
        code = rst_syntax_parse(&tree, statement, statement + strlen(statement));
        if (code == SQLITE_OK) write_schema(&tree, tree.root, &edits);
        rst_syntax_free(&tree);
        if (code == SQLITE_OK) code = rst_edits_apply(&edits, statement, statement + strlen(statement), &named);
    }
    /* A trigger of the store's own is judged as a whole before it runs (executor/trigger_fire.c). As a subquery the
    ** call is made once for all rows. */
    if (code != SQLITE_NOMEM)
        call = sqlite3_mprintf("(SELECT rootstock_upsert(%Q,%d%s))", named != NULL ? named : statement,
                               fired_by != NULL, arguments == NULL ? "" : arguments);
    sqlite3_free(named);
    return call;
}
