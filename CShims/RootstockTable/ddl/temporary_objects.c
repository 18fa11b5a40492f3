/*
** temporary_objects.c - temp views, and triggers of temp tables and views, that name what ALTER TABLE changes in the
** store.
**
** SQLite rewrites them with the schema's own, or refuses the change because of them. So for an ALTER TABLE they are
** lent to the schema database, with the temp tables that they name. Tables of attached files that they name are temp
** tables there, too. When the change is done, SQLite's new texts are made in temp. Invariant: outside of
** rst_schema_change the schema database has no temp table and no temp view.
*/
#include "ddl/ddl.h"
#include "ddl/temporary.h"

#include "ddl/declare.h"
#include "rewriter/transform.h"
#include "rewriter/trigger_text.h"

#include <string.h>

#define NOT_SQLITES "NOT (name>='sqlite_' AND name<'sqlite`')"

typedef struct temporary_object {
    char *type, *name, *table_name, *sql;
    bool attached; /* stands for a table or view of an attached file */
    bool lent;
    char *stands; /* a trigger's text as temp has it, where `sql` is what the program wrote */
    char *now;    /* the text that ALTER TABLE made of it; null: the same */
    char *fresh;  /* what is to stand by then */
} temporary_object;

struct rst_temporary_objects {
    temporary_object *list;
    int count;
};

void rst_temporary_objects_free(rst_connection *c) {
    struct rst_temporary_objects *objects = definitions_of(c)->temporary_objects;
    if (objects == NULL) return;
    for (int i = 0; i < objects->count; i++) {
        sqlite3_free(objects->list[i].type);
        sqlite3_free(objects->list[i].name);
        sqlite3_free(objects->list[i].table_name);
        sqlite3_free(objects->list[i].sql);
        sqlite3_free(objects->list[i].stands);
        sqlite3_free(objects->list[i].now);
        sqlite3_free(objects->list[i].fresh);
    }
    sqlite3_free(objects->list);
    sqlite3_free(objects);
    definitions_of(c)->temporary_objects = NULL;
}

static bool is(const temporary_object *object, const char *type) {
    return strcmp(object->type, type) == 0;
}

/* sql: from sqlite3_malloc, freed here. */
static int read_objects(rst_connection *c, struct rst_temporary_objects *objects, bool attached, char *sql) {
    sqlite3_stmt *statement;
    int code = sql == NULL ? SQLITE_NOMEM : sqlite3_prepare_v2(c->db, sql, -1, &statement, NULL);
    sqlite3_free(sql);
    if (code != SQLITE_OK) return code;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        temporary_object *list = sqlite3_realloc64(objects->list, ((sqlite3_uint64)objects->count + 1) * sizeof *list),
                         *object;
        if (list == NULL) {
            code = SQLITE_NOMEM;
            break;
        }
        objects->list = list;
        object = &list[objects->count++];
        *object = (temporary_object){.attached = attached};
        object->type = rst_column_copy(statement, 0);
        object->name = rst_column_copy(statement, 1);
        object->table_name = rst_column_copy(statement, 2);
        object->stands = rst_column_copy(statement, 3);
        object->sql = object->stands == NULL ? NULL : rst_trigger_written(object->stands);
        if (object->type == NULL || object->name == NULL || object->table_name == NULL || object->sql == NULL) {
            code = SQLITE_NOMEM;
            break;
        }
    }
    sqlite3_finalize(statement);
    return code;
}

static int read_own(rst_connection *c, struct rst_temporary_objects *objects, const char *types) {
    if (!rst_has_temp(c)) return SQLITE_OK;
    return read_objects(
        c, objects, false,
        sqlite3_mprintf("SELECT type, name, tbl_name, sql FROM temp.sqlite_master WHERE type IN (%s) AND sql NOTNULL "
                        "AND " ROOTSTOCK_NOT_MADE " AND " NOT_SQLITES " ORDER BY rowid",
                        types));
}

/* Those of temp, and tables and views of the attached files, in the order in which SQLite looks for a name. */
static int read_all(rst_connection *c, struct rst_temporary_objects *objects) {
    const char *schema;
    int code = read_own(c, objects, "'table','view','trigger'");
    if (objects->count == 0 && rewriter_of(c)->temporary_trigger_count == 0) return code;
    for (int i = 2; code == SQLITE_OK && (schema = sqlite3_db_name(c->db, i)) != NULL; i++) {
        if (strcmp(schema, "rootstock") == 0) continue;
        code = read_objects(
            c, objects, true,
            sqlite3_mprintf("SELECT 'table', name, name, printf('CREATE TABLE \"%%w\"(%%s)', name, (SELECT "
                            "group_concat(printf('\"%%w\"', c.name)) FROM pragma_table_xinfo(t.name, %Q) c WHERE "
                            "hidden<>1)) FROM \"%w\".sqlite_master t WHERE type IN ('table','view') AND " NOT_SQLITES,
                            schema, schema));
    }
    return code;
}

char *rst_column_copy(sqlite3_stmt *statement, int column) {
    return sqlite3_mprintf("%s", sqlite3_column_text(statement, column));
}

char *rst_temporary_text(const char *sql) {
    const char *p = sql;
    (void)rst_token_next(&p, sql + strlen(sql));
    return sqlite3_mprintf("CREATE TEMP%s", p);
}

static bool names(const char *sql, const char *name) {
    return rst_span_lists((rst_span){sql, sql + strlen(sql)}, name);
}

/* Whether a text of temp's may mean that table of an attached file. */
static bool is_meant(rst_connection *c, const struct rst_temporary_objects *objects, const char *name) {
    const rst_rewriter *rewriter = rewriter_of(c);
    const rst_catalog *loaded = &schema_of(c)->loaded;
    bool found = false;
    if (rst_catalog_find(loaded, "table", name) != NULL || rst_catalog_find(loaded, "view", name) != NULL) return false;
    for (int i = 0; i < rewriter->temporary_trigger_count && !found; i++)
        found = names(rewriter->temporary_triggers[i], name);
    for (int i = 0; i < objects->count && !found && !objects->list[i].attached; i++)
        found = names(objects->list[i].sql, name);
    return found;
}

/* Whether the text names a database that only the connection has, or what the front door put into it. */
static bool names_what_the_schema_db_lacks(rst_connection *c, const char *sql) {
    if (strstr(sql, "rootstock") != NULL) return true;
    for (int i = 2;; i++) {
        const char *name = sqlite3_db_name(c->db, i);
        if (name == NULL || names(sql, name)) return name != NULL;
    }
}

int rst_temporary_objects_lend(rst_connection *c, const rst_schema_statement *s) {
    rst_schema *schema = schema_of(c);
    struct rst_temporary_objects *objects;
    const bool alters = rst_token_is(&s->verb, "ALTER");
    int code;
    rst_temporary_objects_free(c);
    /* beside a native file SQLite does it itself */
    if (schema->sidecar || !(alters || rst_schema_statement_is(s, "CREATE", "TABLE"))) return SQLITE_OK;
    objects = sqlite3_malloc64(sizeof *objects);
    if (objects == NULL) return SQLITE_NOMEM;
    memset(objects, 0, sizeof *objects);
    definitions_of(c)->temporary_objects = objects;
    if (!alters) return read_own(c, objects, "'trigger'"); /* no text changes by it */
    code = read_all(c, objects);
    for (int i = 0; i < objects->count && code == SQLITE_OK; i++) {
        temporary_object *object = &objects->list[i];
        char *text;
        if (object->attached ? !is_meant(c, objects, object->name) : names_what_the_schema_db_lacks(c, object->sql))
            continue;
        if (sqlite3_strnicmp(object->sql, "CREATE VIRTUAL", 14) == 0) continue;
        text = rst_temporary_text(object->sql);
        if (text == NULL) return SQLITE_NOMEM;
        object->lent = sqlite3_exec(schema->schema_db, text, NULL, NULL, NULL) == SQLITE_OK;
        sqlite3_free(text);
    }
    /* What the connection understands and the schema database does not (a function, a module) would refuse the change
    ** for nothing. */
    for (int i = 0; i < objects->count && code == SQLITE_OK; i++) {
        temporary_object *object = &objects->list[i];
        char *text;
        if (!object->lent || !is(object, "view")) continue;
        text = sqlite3_mprintf("SELECT * FROM temp.\"%w\"", object->name);
        if (text == NULL) return SQLITE_NOMEM;
        if (rst_prepares(c->db, "%s", text) && !rst_prepares(schema->schema_db, "%s", text)) {
            char *drop = sqlite3_mprintf("DROP VIEW temp.\"%w\"", object->name);
            if (drop == NULL) code = SQLITE_NOMEM;
            if (drop != NULL) (void)sqlite3_exec(schema->schema_db, drop, NULL, NULL, NULL);
            sqlite3_free(drop);
            object->lent = false;
        }
        sqlite3_free(text);
    }
    return code;
}

int rst_temporary_objects_take(rst_connection *c) {
    struct rst_temporary_objects *objects = definitions_of(c)->temporary_objects;
    sqlite3_stmt *statement;
    int code = SQLITE_OK;
    if (objects == NULL || objects->count == 0) return SQLITE_OK;
    code = sqlite3_prepare_v2(schema_of(c)->schema_db, "SELECT sql FROM sqlite_temp_master WHERE type=?1 AND name=?2",
                              -1, &statement, NULL);
    if (code != SQLITE_OK) return code;
    for (int i = 0; i < objects->count && code == SQLITE_OK; i++) {
        temporary_object *object = &objects->list[i];
        if (!object->lent || is(object, "table")) continue;
        sqlite3_bind_text(statement, 1, object->type, -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, 2, object->name, -1, SQLITE_STATIC);
        if (sqlite3_step(statement) == SQLITE_ROW) {
            const char *now = (const char *)sqlite3_column_text(statement, 0);
            if (now != NULL && strcmp(now, object->sql) != 0) {
                object->now = sqlite3_mprintf("%s", now);
                if (object->now == NULL) code = SQLITE_NOMEM;
            }
        }
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    for (int i = objects->count - 1; i >= 0 && code == SQLITE_OK; i--) {
        temporary_object *object = &objects->list[i];
        char *drop;
        if (!object->lent) continue;
        drop = sqlite3_mprintf("DROP %s IF EXISTS temp.\"%w\"", object->type, object->name);
        code = drop == NULL ? SQLITE_NOMEM : sqlite3_exec(schema_of(c)->schema_db, drop, NULL, NULL, NULL);
        sqlite3_free(drop);
    }
    return code;
}

/* A view that is made anew loses its triggers. */
static bool loses_view(const struct rst_temporary_objects *objects, const temporary_object *trigger) {
    for (int i = 0; i < objects->count; i++) {
        const temporary_object *object = &objects->list[i];
        if (object->now != NULL && is(object, "view") && sqlite3_stricmp(object->name, trigger->table_name) == 0)
            return true;
    }
    return false;
}

/* What a trigger is to be by now. The front door writes out the DEFAULT of a column that its INSERT leaves out, and a
** table that was not there may be the store's. *differs: it does, or it went with its view. */
static int make_fresh(rst_connection *c, const struct rst_temporary_objects *objects, temporary_object *trigger,
                      bool *differs, char **message) {
    char *text = rst_temporary_text(trigger->now != NULL ? trigger->now : trigger->sql), *stands;
    int code = text == NULL ? SQLITE_NOMEM : rst_transform_temporary(c, text, &trigger->fresh, message);
    if (code == SQLITE_ERROR) { /* a statement that cannot be had says so when it fires */
        rst_forget_message(message);
        code = SQLITE_OK;
    }
    if (code == SQLITE_OK && trigger->fresh == NULL) {
        trigger->fresh = text;
        text = NULL;
    }
    stands = rst_temporary_text(trigger->stands);
    if (code == SQLITE_OK && stands == NULL) code = SQLITE_NOMEM;
    if (code == SQLITE_OK) *differs |= loses_view(objects, trigger) || strcmp(trigger->fresh, stands) != 0;
    sqlite3_free(stands);
    sqlite3_free(text);
    return code;
}

/* All triggers are made anew where one is, for the newest fires first. */
int rst_temporary_objects_follow(rst_connection *c, char **message) {
    struct rst_temporary_objects *objects = definitions_of(c)->temporary_objects;
    const int count = objects == NULL ? 0 : objects->count;
    bool differs = false;
    int code = SQLITE_OK;
    for (int i = 0; i < count && code == SQLITE_OK; i++)
        if (is(&objects->list[i], "trigger")) code = make_fresh(c, objects, &objects->list[i], &differs, message);
    for (int i = 0; i < count && code == SQLITE_OK; i++) {
        const temporary_object *object = &objects->list[i];
        if (object->now != NULL || (differs && is(object, "trigger")))
            code = rst_execute(c, message, "DROP %s IF EXISTS temp.\"%w\"", object->type, object->name);
    }
    for (int i = 0; i < count && code == SQLITE_OK; i++) {
        const temporary_object *object = &objects->list[i];
        char *text;
        if (is(object, "trigger") ? !differs : object->now == NULL) continue;
        text = object->fresh != NULL ? sqlite3_mprintf("%s", object->fresh) : rst_temporary_text(object->now);
        code = text == NULL ? SQLITE_NOMEM : rst_execute(c, message, "%s", text);
        sqlite3_free(text);
    }
    rst_temporary_objects_free(c);
    return code;
}
