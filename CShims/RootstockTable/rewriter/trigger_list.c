/*
** trigger_list.c - the schema's triggers and views, each taken apart once, and what is in doubt of triggers.
**
** What a trigger becomes hangs on its own text, on the objects that the text names, on the views' that are named there,
** and on whose parent a table is. So a change of the schema puts the names of what it changes in doubt, and of what a
** table REFERENCES. Triggers that name none of them stay as they are. Names are told apart by hashes, and all words of
** a text count as names: that makes a trigger anew too often, never too seldom.
**
** Invariant: what a text hangs on beside that says so (rst_trigger_asks_more), and is made anew at each change.
*/
#include "rewriter/trigger_list.h"
#include "rewriter/trigger_text.h"
#include "catalog/describe.h"
#include "catalog/triggers.h"

#include <stdlib.h>
#include <string.h>

void rst_trigger_parsed_free(rst_trigger_parsed *parsed) {
    sqlite3_free(parsed->name);
    sqlite3_free(parsed->table);
}

static bool read_trigger(const rst_syntax *root, rst_trigger_parsed *out) {
    const rst_syntax *name = root->first, *of = name->next->kind == SYNTAX_COLUMNS ? name->next : NULL,
                     *when = rst_syntax_child(root, SYNTAX_WHEN), *table = of == NULL ? name->next : of->next;
    const rst_schema_statement s = rst_schema_statement_read(root->start, root->end);
    const char *p = name->end, *body = root->last->start;
    rst_token schema, token = s.name;
    out->temporary = s.temporary;
    out->name = rst_token_name(&s.name);
    out->before = true;
    while (token.type != TOKEN_END) {
        token = rst_token_next(&p, of == NULL ? table->start : of->start);
        if (rst_token_is(&token, "AFTER")) {
            out->before = false;
            out->after = true;
        }
        out->instead |= rst_token_is(&token, "INSTEAD");
        if (rst_token_is(&token, "INSERT")) out->event = TRIGGER_INSERT;
        if (rst_token_is(&token, "DELETE")) out->event = TRIGGER_DELETE;
        if (rst_token_is(&token, "UPDATE")) out->event = TRIGGER_UPDATE;
    }
    token = rst_syntax_name(table, &schema);
    out->table = rst_token_name(&token);
    if (of != NULL) out->of = (rst_span){of->start, of->end};
    if (when != NULL) out->when = (rst_span){when->first->start, when->first->end};
    out->body = (rst_span){body + strlen("BEGIN"), root->last->end - strlen("END")};
    return out->name != NULL && out->table != NULL;
}

bool rst_trigger_parse(const char *sql, rst_trigger_parsed *out) {
    rst_syntax_tree tree;
    bool is = rst_syntax_parse(&tree, sql, sql + strlen(sql)) == SQLITE_OK && tree.root->kind == SYNTAX_CREATE_TRIGGER;
    memset(out, 0, sizeof *out);
    is = is && read_trigger(tree.root, out);
    rst_syntax_free(&tree);
    return is;
}

/* ---- the list ---- */

static int compare(const void *a, const void *b) {
    const unsigned int left = *(const unsigned int *)a, right = *(const unsigned int *)b;
    return left < right ? -1 : left > right;
}

static bool has_name(const rst_listed_text *text, unsigned int hash) {
    return bsearch(&hash, text->names, (size_t)text->name_count, sizeof hash, compare) != NULL;
}

static void text_free(rst_listed_text *text) {
    if (text->trigger != NULL) rst_trigger_free(text->trigger);
    sqlite3_free(text->sql);
    sqlite3_free(text->table);
    sqlite3_free(text->names);
}

/* The names in the text, once each. */
static int read_names(rst_listed_text *text) {
    const char *p = text->sql, *end = p + strlen(p);
    int kept = 0;
    rst_token token;
    while ((token = rst_token_next(&p, end)).type != TOKEN_END) {
        unsigned int *names;
        char *name;
        if (!rst_token_names(&token)) continue;
        names = rst_array_grown(text->names, text->name_count, sizeof *names);
        if (names == NULL) return SQLITE_NOMEM;
        text->names = names;
        name = rst_token_name(&token);
        if (name == NULL) return SQLITE_NOMEM;
        text->asks_more |= sqlite3_strnicmp(name, "sqlite_", 7) == 0;
        names[text->name_count++] = rst_name_hash(name);
        sqlite3_free(name);
    }
    if (text->name_count == 0) return SQLITE_OK;
    qsort(text->names, (size_t)text->name_count, sizeof *text->names, compare);
    for (int i = 1; i < text->name_count; i++) {
        if (text->names[i] != text->names[kept]) text->names[++kept] = text->names[i];
    }
    text->name_count = kept + 1;
    return SQLITE_OK;
}

/* An object that was not there, or had another text. */
static int take_apart(const rst_object *object, rst_listed_text *text) {
    *text = (rst_listed_text){.identifier = object->identifier, .is_view = object->type[0] == 'v'};
    text->sql = rst_text_duplicate(object->sql);
    text->table = rst_text_duplicate(text->is_view ? object->name : object->table_name);
    if (text->sql == NULL || text->table == NULL) return SQLITE_NOMEM;
    text->hash = rst_name_hash(text->table);
    if (!text->is_view) {
        rst_trigger_parsed parsed;
        if (rst_trigger_parse(text->sql, &parsed)) {
            text->event = parsed.event;
            text->instead = parsed.instead;
        }
        rst_trigger_parsed_free(&parsed);
    }
    return read_names(text);
}

/* A trigger or a view: asked of every object of a schema, of which most are tables and indexes. */
static bool is_listed(const rst_object *object) {
    return object->sql != NULL && (object->type[0] == 'v' || strncmp(object->type, "tr", 2) == 0);
}

static int make_heads(struct rst_trigger_list *list) {
    unsigned int size = 16;
    while (size < (unsigned int)list->count) size *= 2;
    sqlite3_free(list->heads);
    list->heads = sqlite3_malloc64((sqlite3_uint64)size * sizeof *list->heads);
    if (list->heads == NULL) return SQLITE_NOMEM;
    memset(list->heads, 0, (size_t)size * sizeof *list->heads);
    list->mask = size - 1;
    for (int i = 0; i < list->count; i++) {
        rst_listed_text *text = &list->all[i];
        if (text->is_view) continue;
        text->next = list->heads[text->hash & list->mask];
        list->heads[text->hash & list->mask] = i + 1;
    }
    return SQLITE_OK;
}

static void drop_texts(struct rst_trigger_list *list) {
    for (int i = 0; i < list->count; i++) text_free(&list->all[i]);
    sqlite3_free(list->all);
    sqlite3_free(list->heads);
    list->all = NULL;
    list->heads = NULL;
    list->count = 0;
}

/* Both are in the order of their numbers. */
static int follow(const rst_catalog *catalog, struct rst_trigger_list *list) {
    rst_listed_text *all = NULL, *old = list->all;
    int wanted = 0, count = 0, at = 0, code = SQLITE_OK;
    for (int i = 0; i < catalog->count; i++) wanted += is_listed(&catalog->objects[i]);
    all = sqlite3_malloc64(((sqlite3_uint64)wanted + 1) * sizeof *all);
    if (all == NULL) return SQLITE_NOMEM;
    for (int i = 0; i < catalog->count && code == SQLITE_OK; i++) {
        const rst_object *object = &catalog->objects[i];
        if (!is_listed(object)) continue;
        while (at < list->count && old[at].identifier < object->identifier) text_free(&old[at++]);
        if (at < list->count && old[at].identifier == object->identifier && strcmp(old[at].sql, object->sql) == 0)
            all[count++] = old[at++];
        else
            code = take_apart(object, &all[count++]);
    }
    while (at < list->count) text_free(&old[at++]);
    sqlite3_free(old);
    list->all = all;
    list->count = count;
    return code == SQLITE_OK ? make_heads(list) : code;
}

int rst_trigger_list_follow(const rst_connection *c) {
    rst_rewriter *rewriter = rewriter_of(c);
    struct rst_trigger_list *list = &rewriter->triggers;
    const rst_catalog *catalog = &schema_of(c)->loaded;
    int code;
    if (list->heads != NULL && list->epoch == store_of(c)->epoch && list->generation == catalog->generation)
        return SQLITE_OK;
    code = follow(catalog, list);
    if (code != SQLITE_OK) {
        drop_texts(list);
        list->made = false;
        return code;
    }
    list->epoch = store_of(c)->epoch;
    list->generation = catalog->generation;
    return SQLITE_OK;
}

void rst_trigger_list_free(rst_connection *c) {
    drop_texts(&rewriter_of(c)->triggers);
    sqlite3_free(rewriter_of(c)->triggers.doubts);
    memset(&rewriter_of(c)->triggers, 0, sizeof rewriter_of(c)->triggers);
}

/* ---- doubts ---- */

void rst_trigger_doubt_all(rst_connection *c) {
    rewriter_of(c)->triggers.made = false;
}

static bool is_doubt(const struct rst_trigger_list *list, unsigned int hash) {
    for (int i = 0; i < list->doubt_count; i++)
        if (list->doubts[i] == hash) return true;
    return false;
}

static void doubt(rst_connection *c, unsigned int hash) {
    struct rst_trigger_list *list = &rewriter_of(c)->triggers;
    unsigned int *doubts;
    if (!list->made || is_doubt(list, hash)) return;
    doubts = rst_array_grown(list->doubts, list->doubt_count, sizeof *doubts);
    if (doubts == NULL) {
        list->made = false;
        return;
    }
    list->doubts = doubts;
    doubts[list->doubt_count++] = hash;
}

void rst_trigger_doubt(rst_connection *c, const char *name, const char *table_name, const char *sql) {
    const char *p = sql, *end = sql == NULL ? NULL : sql + strlen(sql);
    if (!rewriter_of(c)->triggers.made) return;
    doubt(c, rst_name_hash(name));
    doubt(c, rst_name_hash(table_name));
    while (sql != NULL && rst_token_seek(&p, end, "REFERENCES")) { /* whose parent it is */
        const rst_token parent = rst_token_next(&p, end);
        char *text = rst_token_names(&parent) ? rst_token_name(&parent) : NULL;
        if (text != NULL)
            doubt(c, rst_name_hash(text));
        else
            rst_trigger_doubt_all(c);
        sqlite3_free(text);
    }
}

static bool names_doubt(const struct rst_trigger_list *list, const rst_listed_text *text) {
    for (int i = 0; i < list->doubt_count; i++)
        if (has_name(text, list->doubts[i])) return true;
    return false;
}

void rst_trigger_doubts_spread(rst_connection *c) {
    struct rst_trigger_list *list = &rewriter_of(c)->triggers;
    for (int before = -1; list->made && before < list->doubt_count;) {
        before = list->doubt_count;
        for (int i = 0; i < list->count; i++) {
            const rst_listed_text *text = &list->all[i];
            if (text->is_view && !is_doubt(list, text->hash) && names_doubt(list, text)) doubt(c, text->hash);
        }
    }
}

bool rst_trigger_is_doubted(const rst_connection *c, const rst_listed_text *text) {
    const struct rst_trigger_list *list = &rewriter_of(c)->triggers;
    return !list->made || !text->settled || text->asks_more || names_doubt(list, text);
}

void rst_trigger_doubts_end(rst_connection *c) {
    struct rst_trigger_list *list = &rewriter_of(c)->triggers;
    sqlite3_free(list->doubts);
    list->doubts = NULL;
    list->doubt_count = 0;
    list->made = true;
}
