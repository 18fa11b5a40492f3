/*
** describe.c - what a table's description says against what SQLite's PRAGMAs say of the same schema.
**
** Standard input: statements, each ended by a NUL; an empty one begins a new database. They run on plain SQLite; after
** each one that may change the schema, and at the end, every table is described by that database and compared. With an
** argument, prints what no PRAGMA tells as well.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interface/interface.h"
#include "catalog/describe.h"
#include "rootstock.h"

static int failures, compared;
static bool tells;
static rst_connection *c;

static char *text_of(const char *text) {
    char *copy = sqlite3_mprintf("%s", text == NULL ? "" : text);
    if (copy == NULL) abort();
    return copy;
}

/* The rows of the query, a line each; "" where it fails. */
static void append_rows(sqlite3 *db, sqlite3_str *out, const char *format, const char *name) {
    char *sql = sqlite3_mprintf(format, name);
    sqlite3_stmt *s = NULL;
    if (sql == NULL || sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) abort();
    while (sqlite3_step(s) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(s); i++)
            sqlite3_str_appendf(out, "%s%s", i > 0 ? "|" : "", (const char *)sqlite3_column_text(s, i));
        sqlite3_str_appendall(out, "\n");
    }
    sqlite3_finalize(s);
    sqlite3_free(sql);
}

static char *by_pragmas(sqlite3 *db, const char *name) {
    sqlite3_str *out = sqlite3_str_new(NULL);
    char *list = sqlite3_mprintf("SELECT name FROM pragma_index_list(%Q, 'main')", name);
    sqlite3_stmt *s = NULL;
    append_rows(
        db, out,
        "SELECT name, type, \"notnull\", pk, CASE WHEN hidden > 1 THEN hidden ELSE 0 END, dflt_value IS NOT NULL "
        "FROM pragma_table_xinfo(%Q, 'main')",
        name);
    append_rows(db, out, "SELECT name, \"unique\", origin, partial FROM pragma_index_list(%Q, 'main')", name);
    if (sqlite3_prepare_v2(db, list, -1, &s, NULL) != SQLITE_OK) abort();
    while (sqlite3_step(s) == SQLITE_ROW)
        append_rows(db, out, "SELECT cid, \"desc\", coll FROM pragma_index_xinfo(%Q, 'main') WHERE \"key\"",
                    (const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
    sqlite3_free(list);
    append_rows(db, out,
                "SELECT id, \"table\", \"from\", \"to\", on_update, on_delete FROM pragma_foreign_key_list(%Q, 'main')",
                name);
    list = sqlite3_str_finish(out);
    if (list == NULL) abort();
    return list;
}

static void append_parts(sqlite3_str *out, const rst_part *parts, int count) {
    for (int k = 0; k < count; k++)
        sqlite3_str_appendf(out, "%d|%d|%s\n", parts[k].column, parts[k].key.descending, parts[k].collation_name);
}

static char *by_description(const rst_table *t, const char *pk_name) {
    static const char *const actions[] = {"NO ACTION", "RESTRICT", "SET NULL", "SET DEFAULT", "CASCADE"};
    sqlite3_str *out = sqlite3_str_new(NULL);
    char *text;
    for (int i = 0; i < t->column_count; i++)
        sqlite3_str_appendf(out, "%s|%s|%d|%d|%d|%d\n", t->columns[i].name, t->columns[i].type, t->columns[i].not_null,
                            t->columns[i].primary_key, t->columns[i].generated,
                            t->columns[i].default_text != NULL && !t->columns[i].generated);
    for (int i = 0; i <= t->index_count; i++) {
        if (t->without_rowid && i == t->key_turn) sqlite3_str_appendf(out, "%s|1|pk|0\n", pk_name);
        if (i == t->index_count) break;
        sqlite3_str_appendf(out, "%s|%d|%s|%d\n", t->indexes[i].name, t->indexes[i].unique,
                            t->indexes[i].is_primary_key ? "pk"
                            : t->indexes[i].automatic    ? "u"
                                                         : "c",
                            t->indexes[i].where != NULL);
    }
    for (int i = 0; i <= t->index_count; i++) {
        if (t->without_rowid && i == t->key_turn) append_parts(out, t->key, t->key_count);
        if (i < t->index_count) append_parts(out, t->indexes[i].parts, t->indexes[i].part_count);
    }
    for (int i = 0; i < t->foreign_key_count; i++) {
        const rst_foreign_key *f = &t->foreign_keys[i];
        for (int k = 0; k < f->column_count; k++)
            sqlite3_str_appendf(out, "%d|%s|%s|%s|%s|%s\n", i, f->parent, t->columns[f->child_columns[k]].name,
                                f->parent_columns[k], actions[f->on_update], actions[f->on_delete]);
    }
    text = sqlite3_str_finish(out);
    if (text == NULL) abort();
    return text;
}

/* What no PRAGMA tells. */
static void tell(const rst_table *t) {
    printf("%s: rowid %d/%d auto %d strict %d wr %d mirror %d eval %d gen %d check %d dflt %d confl %d rowidname %d "
           "turn %d\n",
           t->name, t->rowid_column, t->rowid_on_conflict, t->autoincrement, t->strict, t->without_rowid,
           t->needs_validator, t->has_evaluated_index, t->has_generated, t->has_check, t->has_defaults,
           t->has_conflict_clauses, t->has_rowid_name, t->key_turn);
    for (int i = 0; i < t->column_count; i++)
        printf("  %s %s [%s] coll %s/%d aff %c size %d nnc %d slot %d missing %d\n", t->columns[i].name,
               t->columns[i].type, t->columns[i].default_text ? t->columns[i].default_text : "-",
               t->columns[i].collation_name, t->columns[i].collation, t->columns[i].affinity, t->columns[i].size,
               t->columns[i].not_null_conflict, t->slot[i], (int)t->columns[i].missing.type);
    for (int k = 0; k < t->key_count; k++)
        printf("  key %d final %d real %d coll %d\n", t->key[k].column, t->key[k].key.final,
               t->key[k].key.real_affinity, t->key[k].key.collation);
    for (int i = 0; i < t->index_count; i++) {
        const rst_index *x = &t->indexes[i];
        printf("  index %s tree %d id %d oc %d where [%s] eval %d pred %d\n", x->name, x->tree.number,
               (int)x->identifier, x->on_conflict, x->where ? x->where : "-", x->evaluated, x->predicate != NULL);
        for (int k = 0; k < x->part_count; k++)
            printf("    part %d real %d coll %d/%s [%s]\n", x->parts[k].column, x->parts[k].key.real_affinity,
                   x->parts[k].key.collation, x->parts[k].collation_name,
                   x->parts[k].expression ? x->parts[k].expression : "-");
    }
    for (int i = 0; i < t->foreign_key_count; i++) printf("  fk %d deferred %d\n", i, t->foreign_keys[i].deferred);
}

static void read_catalog(sqlite3 *db, rst_catalog *catalog) {
    sqlite3_stmt *s = NULL;
    memset(catalog, 0, sizeof *catalog);
    if (sqlite3_prepare_v2(db, "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid", -1, &s, NULL) !=
        SQLITE_OK)
        return;
    while (sqlite3_step(s) == SQLITE_ROW) {
        rst_object object = {.identifier = catalog->count + 1, .tree = catalog->count + 10};
        const char *texts[4];
        char *block, **to[4] = {&object.type, &object.name, &object.table_name, &object.sql};
        size_t size = 1;
        for (int i = 0; i < 4; i++) {
            texts[i] = (const char *)sqlite3_column_text(s, i);
            size += texts[i] == NULL ? 0 : strlen(texts[i]) + 1;
        }
        block = sqlite3_malloc64(size);
        if (block == NULL) abort();
        for (int i = 0; i < 4; i++) {
            if (texts[i] == NULL) continue;
            *to[i] = strcpy(block, texts[i]);
            block += strlen(texts[i]) + 1;
        }
        if (rst_catalog_place(catalog, &object) != SQLITE_OK) abort();
    }
    sqlite3_finalize(s);
    if (rst_catalog_index(catalog) != SQLITE_OK) abort();
}

static void compare_all(sqlite3 *db) {
    sqlite3 *own = schema_of(c)->schema_db;
    rst_catalog loaded = schema_of(c)->loaded;
    read_catalog(db, &schema_of(c)->loaded);
    schema_of(c)->schema_db = db;
    rst_index_lists_free(c);
    for (int i = 0; i < schema_of(c)->loaded.count; i++) {
        const rst_object *object = &schema_of(c)->loaded.objects[i];
        rst_table *table = NULL;
        char *message = NULL, *pragmas, *description;
        char *pk;
        if (!rst_object_is(object, "table") || object->sql == NULL ||
            sqlite3_strnicmp(object->sql, "CREATE VIRTUAL", 14) == 0)
            continue;
        compared++;
        if (rst_table_begin(c, object, &table) != SQLITE_OK) abort();
        if (rst_table_complete(table, &message) != SQLITE_OK) {
            rst_table_release(table);
            if (message == NULL || strncmp(message, "no key or index of a store", 26) != 0) {
                if (failures++ < 20) printf("describe: %s: %s\n", object->sql, message == NULL ? "fails" : message);
            }
            sqlite3_free(message);
            continue;
        }
        {
            sqlite3_stmt *s = NULL;
            char *sql =
                sqlite3_mprintf("SELECT name FROM pragma_index_list(%Q, 'main') WHERE origin='pk'", object->name);
            if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) abort();
            pk = text_of(sqlite3_step(s) == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0) : "");
            sqlite3_finalize(s);
            sqlite3_free(sql);
        }
        pragmas = by_pragmas(db, object->name);
        description = by_description(table, pk);
        if (strcmp(pragmas, description) != 0 && failures++ < 20)
            printf("describe: %s\n-- PRAGMAs\n%s-- description\n%s", object->sql, pragmas, description);
        if (tells) tell(table);
        sqlite3_free(pragmas);
        sqlite3_free(description);
        sqlite3_free(pk);
        rst_table_release(table);
    }
    rst_index_lists_free(c);
    rst_catalog_free(&schema_of(c)->loaded);
    schema_of(c)->loaded = loaded;
    schema_of(c)->schema_db = own;
}

int main(int count, char **arguments) {
    static char sql[1 << 20];
    char *message = NULL;
    sqlite3 *db = NULL, *store = NULL;
    size_t size = 0;
    int character;
    bool changed = false;
    if (count < 2) return 2;
    tells = count > 2;
    if (sqlite3_open(":memory:", &db) != SQLITE_OK || sqlite3_open(":memory:", &store) != SQLITE_OK) abort();
    if (rootstock_open(store, arguments[1], "lmdb", NULL, NULL, &message) != SQLITE_OK) {
        printf("%s\n", message);
        return 1;
    }
    c = rst_connection_of(store);
    while ((character = getchar()) != EOF) {
        if (size + 1 >= sizeof sql) abort();
        sql[size++] = (char)character;
        if (character != '\0') continue;
        if (size == 1) {
            if (changed) compare_all(db);
            changed = false;
            sqlite3_close(db);
            if (sqlite3_open(":memory:", &db) != SQLITE_OK) abort();
        } else {
            const bool schema =
                sqlite3_strglob("*[dD][rR][oO][pP]*", sql) == 0 || sqlite3_strglob("*[aA][lL][tT][eE][rR]*", sql) == 0;
            if (schema && changed) compare_all(db);
            if (schema) changed = true;
            if (sqlite3_strnicmp(sql, "create", 6) == 0) changed = true;
            if (changed || sqlite3_strnicmp(sql, "insert", 6) != 0) {
                sqlite3_stmt *s = NULL;
                if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK && s != NULL && !sqlite3_stmt_readonly(s))
                    for (int rows = 0; rows < 50 && sqlite3_step(s) == SQLITE_ROW; rows++) {
                    }
                sqlite3_finalize(s);
            }
        }
        size = 0;
    }
    if (changed) compare_all(db);
    sqlite3_close(db);
    sqlite3_close(store);
    printf("describe: %d tables compared, %d failed\n", compared, failures);
    return failures > 0 || compared < 1000;
}
