/*
** schema_names.c - tables of a statement that stand for something else here: the schema's own tables and pragma
** functions under their other names, and hints about an index.
**
** INDEXED BY and NOT INDEXED of a store's table become an argument of it: t AS x INDEXED BY i -> t('...i') AS x. The
** target of an UPDATE or DELETE takes none (target_hint.c). Of the table to the right of a RIGHT JOIN SQLite compares
** an argument where it cannot be true, so that no row has a match. There the hints are left out. Invariant: what is
** wrong with a hint (no such index, no table of the store) SQLite says of the words as they are.
*/
#include "rewriter/rewriter.h"
#include "rewriter/rewriting.h"
#include "rewriter/transform.h"

#include "catalog/schema_sandbox.h"

#include <string.h>

/* What temp's own schema table becomes: without the objects that triggers are made of, with the triggers. */
#define TEMP_SCHEMA_READS "(SELECT type, name, tbl_name, rootpage, rootstock_written(sql) AS sql FROM "
#define TEMP_SCHEMA_OWN "temp.sqlite_master WHERE " ROOTSTOCK_NOT_MADE " UNION ALL "
#define TEMP_SCHEMA_TRIGGERS "SELECT * FROM rootstock_temp_schema)"
static const char temp_schema[] = TEMP_SCHEMA_READS TEMP_SCHEMA_OWN TEMP_SCHEMA_TRIGGERS;

/* Whether the name at p, `temp` and what follows it, stands in what was made of one before: a text rewritten twice is
** rewritten once. */
static bool is_temp_schema_made(const char *p, const char *text, const char *end) {
    size_t before = sizeof TEMP_SCHEMA_READS - 1, size = sizeof temp_schema - 1;
    return (size_t)(p - text) >= before && (size_t)(end - p) >= size - before &&
           memcmp(p - before, temp_schema, size) == 0;
}

/* Pragma functions that have another of their own. */
static const struct {
    const char *name, *other;
} pragma_functions[] = {
    {"pragma_table_info", "rootstock_pragma_table_info"},
    {"pragma_table_xinfo", "rootstock_pragma_table_xinfo"},
    {"pragma_index_list", "rootstock_pragma_index_list"},
    {"pragma_index_info", "rootstock_pragma_index_info"},
    {"pragma_index_xinfo", "rootstock_pragma_index_xinfo"},
    {"pragma_foreign_key_list", "rootstock_pragma_foreign_key_list"},
    {"pragma_table_list", "rootstock_pragma_table_list"},
    {"pragma_foreign_key_check", "rootstock_pragma_foreign_key_check"},
};

/* Pragma functions that a SELECT stands for. */
static const struct {
    const char *name, *select;
} pragma_selects[] = {
    {"pragma_user_version", "(SELECT rootstock_meta('user_version') AS user_version" ROOTSTOCK_READS ")"},
    {"pragma_application_id", "(SELECT rootstock_meta('application_id') AS application_id" ROOTSTOCK_READS ")"},
    {"pragma_schema_version", "(SELECT rootstock_meta('schema_version') AS schema_version" ROOTSTOCK_READS ")"},
    {"pragma_database_list", "(" ROOTSTOCK_DATABASES ")"},
    {"pragma_page_count", "(" ROOTSTOCK_PAGE_COUNT ")"},
    {"pragma_freelist_count", "(" ROOTSTOCK_FREELIST_COUNT ")"},
    {"pragma_data_version", "(SELECT rootstock_data_version() AS data_version" ROOTSTOCK_READS ")"},
    {"pragma_integrity_check", "(SELECT message AS integrity_check FROM rootstock_integrity_check(NULL,0))"},
    {"pragma_quick_check", "(SELECT message AS quick_check FROM rootstock_integrity_check(NULL,1))"},
};

static void replace(rst_rewriting *w, const char *start, const char *end, const char *text) {
    rst_edits_add(&w->edits, start, end, sqlite3_mprintf("%s", text));
}

static void write_hint(rst_rewriting *w, const rst_syntax *node, const rst_syntax *hint, bool argument) {
    const rst_syntax *object = node->first;
    rst_token schema, name = rst_syntax_name(object, &schema);
    const rst_table *table = rst_target(w->c, &schema, &name);
    char *index = NULL;
    bool known = hint->first == NULL;
    if (table == NULL || (schema.type == TOKEN_END && rst_syntax_defines(w->tree, &name))) return;
    for (int i = 0; hint->first != NULL && i < table->index_count; i++) {
        rst_token wanted = rst_syntax_name(hint->first, &schema);
        if (!rst_token_same_name(&wanted, table->indexes[i].name)) continue;
        known = true;
        index = rst_token_name(&wanted);
        break;
    }
    if (known && argument)
        rst_edits_add(&w->edits, object->end, object->end,
                      sqlite3_mprintf("('" ROOTSTOCK_INDEX_HINT "%q')", index == NULL ? "" : index));
    if (known) replace(w, hint->start, hint->end, "");
    sqlite3_free(index);
}

static const char *select_of(const rst_token *name, const char **alias) {
    for (size_t i = 0; i < sizeof pragma_selects / sizeof pragma_selects[0]; i++) {
        if (!rst_token_same_name(name, pragma_selects[i].name)) continue;
        *alias = pragma_selects[i].name;
        return pragma_selects[i].select;
    }
    return NULL;
}

/* What the name of a table of the schema's own stands for, in no other schema than main: the text, and the name that
** its columns are qualified by. null: itself. dotted: main stands before it; called: arguments stand behind it. */
static const char *other_name(rst_rewriting *w, const rst_token *name, bool dotted, bool called, const char **alias) {
    static const char *const tables[] = {"sqlite_sequence", "sqlite_stat1"};
    static const char *const made[] = {"rootstock_sequence", "rootstock_stat1"};
    if (!called && (rst_token_same_name(name, "sqlite_master") || rst_token_same_name(name, "sqlite_schema"))) {
        *alias = "sqlite_master"; /* whichever name it was asked for by */
        return "rootstock_schema";
    }
    for (int i = 0; i < 2 && !called; i++) { /* a table that is called SQLite refuses */
        if (!rst_token_same_name(name, tables[i])) continue;
        /* temp's own hides the store's */
        if ((!dotted && rst_is_hidden(w->c, tables[i])) || rst_table_find(w->c, tables[i]) == NULL) return NULL;
        *alias = tables[i];
        return made[i];
    }
    if (!called) {
        const char *select = select_of(name, alias);
        if (select != NULL) return select;
    }
    for (size_t i = 0; i < sizeof pragma_functions / sizeof pragma_functions[0] && (called || !dotted); i++) {
        if (!rst_token_same_name(name, pragma_functions[i].name)) continue;
        *alias = pragma_functions[i].name;
        return pragma_functions[i].other;
    }
    return NULL;
}

void rst_write_table(rst_rewriting *w, const rst_syntax *node, const rst_syntax *join, bool item) {
    const rst_syntax *object = node->first, *hint = rst_syntax_child(node, SYNTAX_HINT);
    const char *other, *alias = NULL;
    rst_token schema, name = rst_syntax_name(object, &schema);
    const rst_syntax *arguments = rst_syntax_child(node, SYNTAX_VECTOR);
    const bool dotted = schema.type != TOKEN_END, called = arguments != NULL;
    const bool bare = rst_syntax_child(node, SYNTAX_ALIAS) == NULL && (item || node->kind == SYNTAX_TARGET);
    if (hint != NULL && !called) write_hint(w, node, hint, item && !(join != NULL && rst_join_has(join, "RIGHT")));
    if (name.type == TOKEN_STRING || name.size <= strlen("sqlite_")) return;
    if (dotted ? rst_token_same_name(&schema, "temp") &&
                     (rst_token_same_name(&name, "sqlite_master") || rst_token_same_name(&name, "sqlite_schema"))
               : rst_token_same_name(&name, "sqlite_temp_master") || rst_token_same_name(&name, "sqlite_temp_schema")) {
        if (item && !called && !is_temp_schema_made(object->start, w->text, w->end))
            rst_edits_add(&w->edits, object->start, object->end,
                          bare ? sqlite3_mprintf("%s AS %.*s", temp_schema, (int)name.size, name.text)
                               : sqlite3_mprintf("%s", temp_schema));
        return;
    }
    if (dotted && !rst_token_same_name(&schema, "main")) return;
    other = called && arguments->first == NULL ? select_of(&name, &alias) : NULL;
    if (other != NULL) { /* an empty list of arguments goes, too */
        replace(w, object->start, arguments->end, other);
    } else {
        other = other_name(w, &name, dotted, called, &alias);
        if (other == NULL) return;
        replace(w, object->start, object->end, other);
    }
    if (bare) {
        const char *behind = called ? arguments->end : object->end;
        rst_edits_add(&w->edits, behind, behind, sqlite3_mprintf(" AS %s", alias));
    }
}
