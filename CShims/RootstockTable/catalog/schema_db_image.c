/*
** schema_db_image.c - the tables and indexes of a store put into a new schema database as a file's are: by the rows of
** its schema table.
**
** To run a CREATE is to have SQLite parse it three times and to search its schema table, for each object. A database
** that is opened parses each text once. So a schema database begins as an image that SQLite reads as it reads a file:
** empty trees, and a schema table whose rows are the catalog's texts (schema_image.c). No text is run.
**
** Invariant: a text put in so is, word by word, what SQLite itself would have listed: one CREATE of that type and name,
** with nothing before, behind or beside. If a text is not plainly so, or is refused, the whole schema database is made
** by the texts instead.
*/
#include "catalog/catalog.h"
#include "catalog/hosted.h"
#include "catalog/schema_db_image.h"
#include "catalog/schema_image.h"
#include "catalog/schema_sandbox.h"

#include <string.h>

static bool is_name(const rst_token *token, const char *name) {
    char *text;
    bool same;
    if (token->type == TOKEN_WORD) return token->size == strlen(name) && memcmp(token->text, name, token->size) == 0;
    text = token->type == TOKEN_NAME ? rst_token_name(token) : NULL;
    same = text != NULL && strcmp(text, name) == 0;
    sqlite3_free(text);
    return same;
}

/* The words before a parenthesis, each of which is a function, perhaps: each once, between line feeds. */
typedef struct call_words {
    sqlite3_str *words;
    rst_token before;
    bool names_table; /* before does */
} call_words;

static int note_token(call_words *calls, const rst_token *token) {
    const rst_token *before = &calls->before;
    int code = SQLITE_OK;
    if (rst_token_mark(token, "(") && rst_token_names(before) && !calls->names_table &&
        !rst_token_is(before, "CHECK") && !rst_token_is(before, "KEY") && !rst_token_is(before, "UNIQUE") &&
        !rst_token_is(before, "AS")) {
        char *name = rst_token_name(before), *line = name == NULL ? NULL : sqlite3_mprintf("\n%s\n", name);
        const char *seen = sqlite3_str_value(calls->words);
        if (line == NULL)
            code = SQLITE_NOMEM;
        else if (seen == NULL || strstr(seen, line) == NULL)
            sqlite3_str_appendall(calls->words, line);
        sqlite3_free(line);
        sqlite3_free(name);
    }
    calls->names_table =
        rst_token_is(before, "TABLE") || rst_token_is(before, "ON") || rst_token_is(before, "REFERENCES");
    calls->before = *token;
    return code;
}

/* *position stands behind an opening parenthesis: moves it behind the matching one. False: there is none, or no
** memory. */
static bool read_parentheses(const char **position, const char *end, call_words *calls) {
    int depth = 1;
    calls->before = (rst_token){TOKEN_END, *position, 0};
    while (depth > 0) {
        rst_token token = rst_token_next(position, end);
        if (token.type == TOKEN_END || note_token(calls, &token) != SQLITE_OK) return false;
        if (rst_token_mark(&token, "(")) depth++;
        if (rst_token_mark(&token, ")")) depth--;
    }
    return true;
}

/* *kind: of the leaf that is its empty tree. */
static bool is_plain_table(const rst_object *object, unsigned char *kind, call_words *calls) {
    static const char words[] = "CREATE TABLE ";
    const char *p = object->sql, *end = p + strlen(p), *last;
    rst_token token;
    *kind = IMAGE_TABLE;
    if (strcmp(object->name, "sqlite_sequence") == 0)
        return strcmp(object->sql, "CREATE TABLE sqlite_sequence(name,seq)") == 0;
    if (strcmp(object->name, "sqlite_stat1") == 0)
        return strcmp(object->sql, "CREATE TABLE sqlite_stat1(tbl,idx,stat)") == 0;
    if (sqlite3_strnicmp(object->name, "sqlite_", 7) == 0 || memcmp(p, words, sizeof words - 1) != 0) return false;
    p += sizeof words - 1;
    token = rst_token_next(&p, end);
    if (!is_name(&token, object->name) || strcmp(object->name, object->table_name) != 0) return false;
    token = rst_token_next(&p, end);
    if (!rst_token_mark(&token, "(") || !read_parentheses(&p, end, calls)) return false;
    last = p;
    for (token = rst_token_next(&p, end); token.type != TOKEN_END; token = rst_token_next(&p, end)) {
        if (rst_token_is(&token, "WITHOUT"))
            *kind = IMAGE_INDEX;
        else if (!rst_token_is(&token, "ROWID") && !rst_token_is(&token, "STRICT") && !rst_token_mark(&token, ","))
            return false;
        last = token.text + token.size;
    }
    return last == end;
}

static bool is_plain_index(const rst_object *object, call_words *calls) {
    static const char words[] = "CREATE INDEX ", unique[] = "CREATE UNIQUE INDEX ";
    const char *p = object->sql, *end, *last;
    rst_token token;
    if (p == NULL) return sqlite3_strnicmp(object->name, "sqlite_autoindex_", 17) == 0;
    if (sqlite3_strnicmp(object->name, "sqlite_", 7) == 0) return false;
    end = p + strlen(p);
    if (strncmp(p, words, sizeof words - 1) == 0)
        p += sizeof words - 1;
    else if (strncmp(p, unique, sizeof unique - 1) == 0)
        p += sizeof unique - 1;
    else
        return false;
    token = rst_token_next(&p, end);
    if (!is_name(&token, object->name)) return false;
    token = rst_token_next(&p, end);
    if (!rst_token_is(&token, "ON")) return false;
    token = rst_token_next(&p, end);
    if (!rst_token_names(&token) || !rst_token_same_name(&token, object->table_name)) return false;
    token = rst_token_next(&p, end);
    if (!rst_token_mark(&token, "(") || !read_parentheses(&p, end, calls)) return false;
    last = p;
    for (token = rst_token_next(&p, end); token.type != TOKEN_END; token = rst_token_next(&p, end)) {
        if (rst_token_mark(&token, ";") || token.type == TOKEN_ILLEGAL) return false;
        if (note_token(calls, &token) != SQLITE_OK) return false;
        last = token.text + token.size;
    }
    return last == end;
}

/* A view, or a trigger of its table or view. */
static bool is_plain_other(const rst_object *object) {
    static const char view[] = "CREATE VIEW ", trigger[] = "CREATE TRIGGER ";
    const bool is_view = strcmp(object->type, "view") == 0;
    const char *p = object->sql, *end = p + strlen(p), *behind;
    rst_syntax_tree tree;
    rst_token name, none;
    bool plain = false;
    if (strncmp(p, is_view ? view : trigger, is_view ? sizeof view - 1 : sizeof trigger - 1) != 0) return false;
    if (rst_syntax_parse(&tree, p, end) == SQLITE_OK) {
        const rst_syntax *named = tree.root->first, *on = named->next;
        p = tree.root->end;
        behind = object->sql + (is_view ? sizeof view : sizeof trigger) - 1;
        name = rst_token_next(&behind, end);
        if (!is_view && on != NULL && on->kind == SYNTAX_COLUMNS) on = on->next;
        plain = named->start == name.text && named->end == behind && is_name(&name, object->name) &&
                rst_token_next(&p, end).type == TOKEN_END;
        if (plain && !is_view) {
            name = rst_syntax_name(on, &none);
            plain = none.type == TOKEN_END && rst_token_same_name(&name, object->table_name);
        } else if (plain) {
            plain = strcmp(object->name, object->table_name) == 0;
        }
    }
    rst_syntax_free(&tree);
    return plain;
}

static bool is_table(const rst_object *object) {
    return strcmp(object->type, "table") == 0;
}

static bool is_index(const rst_object *object) {
    return strcmp(object->type, "index") == 0;
}

/* An index is listed under its table's name as that was written when it was made. */
static bool has_table(const rst_catalog *catalog, int index) {
    const rst_object *object = &catalog->objects[index];
    const rst_object *table = rst_catalog_find(catalog, "table", object->table_name);
    return table != NULL && table < object && strcmp(table->name, object->table_name) == 0;
}

/* The catalog as rows; or null: something is not plain, or there is no memory. */
static rst_image_row *make_rows(const rst_catalog *catalog, int *count, call_words *calls) {
    rst_image_row *rows = sqlite3_malloc64((sqlite3_uint64)catalog->count * sizeof *rows);
    *count = 0;
    if (rows == NULL) return NULL;
    for (int i = 0; i < catalog->count; i++) {
        const rst_object *object = &catalog->objects[i];
        unsigned char tree = IMAGE_INDEX;
        rst_token module;
        bool plain;
        if (rst_object_is_virtual(object)) {
            plain = rst_virtual_is_plain(object, &module);
            tree = 0;
        } else if (is_table(object))
            plain = object->sql != NULL && strlen(object->sql) > 13 && is_plain_table(object, &tree, calls);
        else if (is_index(object))
            plain = is_plain_index(object, calls) && has_table(catalog, i);
        else if (rst_schema_sandbox_is_made(object)) {
            plain = is_plain_other(object);
            tree = 0;
        } else
            continue;
        if (!plain) {
            sqlite3_free(rows);
            return NULL;
        }
        rows[(*count)++] = (rst_image_row){i + 1, object->type, object->name, object->table_name, object->sql, tree};
    }
    return rows;
}

static unsigned char *make_image(const rst_catalog *catalog, call_words *calls, bool *listed, size_t *size) {
    int count;
    rst_image_row *rows = make_rows(catalog, &count, calls);
    unsigned char *image = rows == NULL ? NULL : rst_image_make(rows, count, listed, size);
    sqlite3_free(rows);
    return image;
}

/* Functions that are not SQLite's own have to be there, as placeholders, while a text is read. SQLite would take one
** that it did not know then for one of a statement, and a schema may not call all that a statement may
** (SQLITE_DIRECTONLY). */
static int place_functions(rst_connection *c, sqlite3 *schema_db, rst_function_proxies *function_proxies,
                           const call_words *calls) {
    const char *word = sqlite3_str_value(calls->words);
    while (word != NULL && *word == '\n') {
        const char *end = strchr(++word, '\n');
        if (!rst_prepares(schema_db, "SELECT \"%.*w\"()", (int)(end - word), word))
            (void)rst_function_proxies_placeholder(c, schema_db, function_proxies, sqlite3_errmsg(schema_db));
        word = end + 1;
    }
    return SQLITE_OK;
}

/* The same rows by a statement, where they are too many for the image, or one too long. */
static int insert_rows(sqlite3 *schema_db, const rst_catalog *catalog) {
    sqlite3_stmt *insert = NULL;
    sqlite3_int64 page = 1;
    int code = sqlite3_prepare_v2(
        schema_db,
        "INSERT INTO sqlite_master(rowid, type, name, tbl_name, rootpage, sql) VALUES (?1, ?2, ?3, ?4, ?5, ?6)", -1,
        &insert, NULL);
    for (int i = 0; i < catalog->count && code == SQLITE_OK; i++) {
        const rst_object *object = &catalog->objects[i];
        const bool has_tree = (is_table(object) && !rst_object_is_virtual(object)) || is_index(object);
        if (!has_tree && !rst_schema_sandbox_is_made(object)) continue;
        code = sqlite3_bind_int64(insert, 1, i + 1);
        if (code == SQLITE_OK) code = sqlite3_bind_text(insert, 2, object->type, -1, SQLITE_STATIC);
        if (code == SQLITE_OK) code = sqlite3_bind_text(insert, 3, object->name, -1, SQLITE_STATIC);
        if (code == SQLITE_OK) code = sqlite3_bind_text(insert, 4, object->table_name, -1, SQLITE_STATIC);
        if (code == SQLITE_OK) code = sqlite3_bind_int64(insert, 5, has_tree ? ++page : 0);
        if (code == SQLITE_OK) code = sqlite3_bind_text(insert, 6, object->sql, -1, SQLITE_STATIC);
        if (code == SQLITE_OK) code = sqlite3_step(insert) == SQLITE_DONE ? SQLITE_OK : SQLITE_ERROR;
        if (code == SQLITE_OK) code = sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    return code;
}

int rst_schema_db_load(rst_connection *c, sqlite3 *schema_db, rst_function_proxies *function_proxies,
                       const rst_catalog *catalog, bool *touched) {
    size_t size = 0;
    bool listed = false;
    call_words calls = {.words = sqlite3_str_new(NULL)};
    unsigned char *image = catalog->count == 0 ? NULL : make_image(catalog, &calls, &listed, &size);
    int code;
    *touched = image != NULL;
    code = image == NULL ? SQLITE_NOTFOUND : rst_image_load(schema_db, image, size);
    if (code == SQLITE_OK) code = sqlite3_str_errcode(calls.words);
    if (code == SQLITE_OK && listed) code = place_functions(c, schema_db, function_proxies, &calls);
    /* From here on SQLite reads the schema, and judges it as that of a file. A file's pages leave the cache where they
    ** are many; those of a schema database have no file to go to. */
    if (code == SQLITE_OK) code = rst_schema_db_execute(schema_db, "PRAGMA cache_spill=OFF", NULL);
    if (code == SQLITE_OK) code = rst_schema_db_execute(schema_db, "BEGIN", NULL);
    if (code == SQLITE_OK && !listed) {
        code = rst_schema_db_execute(schema_db, "PRAGMA writable_schema=ON", NULL);
        if (code == SQLITE_OK) code = insert_rows(schema_db, catalog);
        if (code == SQLITE_OK) code = place_functions(c, schema_db, function_proxies, &calls);
        if (code == SQLITE_OK) code = rst_schema_db_execute(schema_db, "PRAGMA writable_schema=RESET", NULL);
    }
    if (code == SQLITE_OK) code = rst_schema_db_execute(schema_db, "SELECT 1 FROM sqlite_master", NULL);
    sqlite3_free(sqlite3_str_finish(calls.words));
    return code;
}
