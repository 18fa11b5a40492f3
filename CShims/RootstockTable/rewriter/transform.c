/*
** transform.c - what a statement's text has to become: schema tables under their other names, index hints taken out,
** defaults written out. Invariant: text that needs none of this comes back as "no change", whatever it is.
*/
#include "rewriter/rewriter.h"
#include "rewriter/transform.h"

#include "catalog/schema_sandbox.h"

#include <string.h>

static const char *const follow_words[] = {"WHERE",     "ORDER",   "GROUP",   "LIMIT",   "JOIN",  "LEFT",   "INNER",
                                           "CROSS",     "NATURAL", "ON",      "USING",   "UNION", "EXCEPT", "INTERSECT",
                                           "HAVING",    "WINDOW",  "INDEXED", "NOT",     "RIGHT", "FULL",   "SET",
                                           "RETURNING", "VALUES",  "SELECT",  "DEFAULT", "AS"};

static bool may_be_alias(const rst_token *token) {
    if (token->type == TOKEN_NAME || token->type == TOKEN_STRING) return true;
    if (token->type != TOKEN_WORD) return false;
    for (size_t i = 0; i < sizeof follow_words / sizeof follow_words[0]; i++) {
        if (rst_token_is(token, follow_words[i])) return false;
    }
    return true;
}

/* Whether any of the words that concern us is there at all: most statements end here. */
static bool concerns(const char *text, const char *end) {
    for (const char *p = text; p < end; p++) {
        switch (*p) {
        case 's':
        case 'S':
            if (end - p >= 7 && sqlite3_strnicmp(p, "sqlite_", 7) == 0) return true;
            break;
        case 'p':
        case 'P':
            if (end - p >= 7 && sqlite3_strnicmp(p, "pragma_", 7) == 0) return true;
            break;
        case 'i':
        case 'I':
            if (end - p >= 7 && sqlite3_strnicmp(p, "indexed", 7) == 0) return true;
            break;
        default: break;
        }
    }
    return false;
}

/* What temp's own schema table becomes: without the objects that triggers are made of, with the triggers. */
#define TEMP_SCHEMA_READS "(SELECT * FROM "
#define TEMP_SCHEMA_OWN "temp.sqlite_master WHERE name NOT GLOB 'rootstock [tv]*' UNION ALL "
#define TEMP_SCHEMA_TRIGGERS "SELECT * FROM rootstock_temp_schema)"
static const char temp_schema[] = TEMP_SCHEMA_READS TEMP_SCHEMA_OWN TEMP_SCHEMA_TRIGGERS;

/* Whether the name at p, `temp` and what follows it, stands in what was made of one before: a text rewritten twice is
** rewritten once. */
static bool is_temp_schema_made(const char *p, const char *text, const char *end) {
    size_t before = sizeof TEMP_SCHEMA_READS - 1, size = sizeof temp_schema - 1;
    return (size_t)(p - text) >= before && (size_t)(end - p) >= size - before &&
           memcmp(p - before, temp_schema, size) == 0;
}

static const char *over_blanks(const char *p, const char *text) {
    while (p > text && (p[-1] == ' ' || p[-1] == '\n' || p[-1] == '\t' || p[-1] == '\r')) p--;
    return p;
}

/* The store's table that a name in the text means there, or null. */
static rst_table *named_table(rst_connection *c, const rst_token *name, const char *text) {
    static const rst_token none = {TOKEN_END, "", 0}, main_schema = {TOKEN_WORD, "main", 4};
    const char *p = over_blanks(name->text, text);
    if (!rst_token_names(name)) return NULL;
    if (p == text || p[-1] != '.') return rst_target(c, &none, name);
    p = over_blanks(p - 1, text);
    return p - text >= 4 && sqlite3_strnicmp(p - 4, "main", 4) == 0 ? rst_target(c, &main_schema, name) : NULL;
}

/* Whether a WITH of the statement defines a table of that name: what it is NOT INDEXED of may be that one. */
static bool is_with(const char *text, const char *end, const rst_token *name) {
    rst_token before = {TOKEN_END, text, 0};
    char *wanted = NULL;
    bool with = false, found = false;
    for (const char *p = text; !found;) {
        const char *q = p;
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) break;
        if (rst_token_is(&token, "WITH")) with = true;
        if (with && rst_token_names(&token) &&
            (rst_token_mark(&before, ",") || rst_token_is(&before, "WITH") || rst_token_is(&before, "RECURSIVE"))) {
            if (wanted == NULL) wanted = rst_token_name(name);
            if (wanted == NULL) break;
            if (rst_token_same_name(&token, wanted)) {
                rst_token next = rst_token_next(&p, end);
                if (rst_token_mark(&next, "(")) {
                    (void)rst_token_skip_parentheses(&p, end);
                    next = rst_token_next(&p, end);
                }
                found = rst_token_is(&next, "AS");
                if (found) next = rst_token_next(&p, end);
                if (found && rst_token_is(&next, "NOT")) next = rst_token_next(&p, end);
                if (found && rst_token_is(&next, "MATERIALIZED")) next = rst_token_next(&p, end);
                found = found && rst_token_mark(&next, "(");
                p = q;
                (void)rst_token_next(&p, end);
            }
        }
        before = token;
    }
    sqlite3_free(wanted);
    return found;
}

/* INDEXED BY and NOT INDEXED of a store's table become an argument of it: t AS x INDEXED BY i -> t('...i') AS x. The
** target of an UPDATE or DELETE takes none, and of the table to the right of a RIGHT JOIN SQLite compares an argument
** where it cannot be true, so that no row has a match: there (argument false) they are left out. name: of INDEXED BY.
** False: of no table of the store, or an index that it does not have, and SQLite has to say what that means. */
static bool append_hint(rst_connection *c, sqlite3_str *str, const char *text, const char *end, const char **copied,
                        const rst_token *hint, const rst_token *previous, const rst_token *before,
                        const rst_token *before_before, const rst_token *name, bool argument) {
    const rst_token *place = rst_token_is(before, "AS") ? before_before : before;
    rst_table *table = named_table(c, place, text);
    char *index = NULL;
    bool known = name == NULL;
    /* ... WHERE NOT indexed: a column of that name */
    if (!rst_token_names(previous) || rst_token_is(previous, "AND") || rst_token_is(previous, "OR")) return false;
    if (table != NULL && place == before && !may_be_alias(previous)) return false;
    if (table == NULL && place == before) {
        place = previous;
        table = named_table(c, place, text);
    }
    if (table == NULL || (name == NULL && is_with(text, end, place))) return false;
    if (name != NULL) {
        index = rst_token_names(name) ? rst_token_name(name) : NULL;
        for (int i = 0; i < table->index_count && index != NULL; i++)
            known |= sqlite3_stricmp(table->indexes[i].name, index) == 0;
    }
    if (known) {
        /* An alias stands before it: one behind it is an error, which SQLite finds in the words as they are. */
        const char *q = name != NULL ? name->text + name->size : hint->text;
        rst_token next;
        for (int skipped = name != NULL ? 2 : 0; skipped < 2; skipped++) (void)rst_token_next(&q, end);
        next = rst_token_next(&q, end);
        known = !rst_token_is(&next, "AS") && !may_be_alias(&next);
    }
    if (known) {
        if (place->text >= *copied && argument) {
            sqlite3_str_append(str, *copied, (int)(place->text + place->size - *copied));
            sqlite3_str_appendf(str, "('" ROOTSTOCK_INDEX_HINT "%q')", index == NULL ? "" : index);
            *copied = place->text + place->size;
        }
        sqlite3_str_append(str, *copied, (int)(hint->text - *copied));
    }
    sqlite3_free(index);
    return known;
}

static const char *const pragma_names[] = {"table_info",  "table_xinfo",      "index_list", "index_info",
                                           "index_xinfo", "foreign_key_list", "table_list", "foreign_key_check"};

/* Pragma functions that a SELECT stands for. */
static const struct {
    const char *name, *select;
} pragma_selects[] = {
    {"pragma_user_version", "SELECT rootstock_meta('user_version') AS user_version"},
    {"pragma_application_id", "SELECT rootstock_meta('application_id') AS application_id"},
    {"pragma_database_list", ROOTSTOCK_DATABASES},
    {"pragma_page_count", ROOTSTOCK_PAGE_COUNT},
    {"pragma_freelist_count", ROOTSTOCK_FREELIST_COUNT},
    {"pragma_data_version", "SELECT rootstock_data_version() AS data_version"},
    {"pragma_integrity_check", "SELECT message AS integrity_check FROM rootstock_integrity_check(NULL,0)"},
    {"pragma_quick_check", "SELECT message AS quick_check FROM rootstock_integrity_check(NULL,1)"},
};

static bool temp_has(rst_connection *c, const char *name) {
    return sqlite3_table_column_metadata(c->db, "temp", name, NULL, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

static int transform_words(rst_connection *c, const char *text, const char *end, char **out, char **message) {
    sqlite3_str *str;
    const char *p = text, *copied = text;
    rst_token previous = {TOKEN_END, text, 0}, before = {TOKEN_END, text, 0}, before_before = {TOKEN_END, text, 0};
    bool changed = false, target_zone, right = false, joined_right = false;
    *out = NULL;
    if (!concerns(text, end)) return SQLITE_OK;
    {
        const char *first_position = text;
        rst_token first = rst_token_next(&first_position, end);
        target_zone = rst_token_is(&first, "UPDATE") || rst_token_is(&first, "DELETE");
    }
    str = sqlite3_str_new(NULL);
    for (;;) {
        rst_token token = rst_token_next(&p, end), next;
        const char *q = p;
        if (token.type == TOKEN_END) break;
        next = rst_token_next(&q, end);
        if (rst_token_is(&token, "SET") || rst_token_is(&token, "WHERE")) target_zone = false;
        if (rst_token_is(&token, "RIGHT")) right = true;
        if (rst_token_is(&token, "FROM") || rst_token_mark(&token, ",")) right = joined_right = false;
        if (rst_token_is(&token, "JOIN")) {
            joined_right = right;
            right = false;
        }
        if (rst_token_is(&token, "INDEXED") && rst_token_is(&next, "BY")) {
            rst_token name = rst_token_next(&q, end);
            if (append_hint(c, str, text, end, &copied, &token, &previous, &before, &before_before, &name,
                            !target_zone && !joined_right)) {
                p = copied = name.text + name.size;
                changed = true;
            }
        } else if (rst_token_is(&token, "NOT") && rst_token_is(&next, "INDEXED")) {
            if (append_hint(c, str, text, end, &copied, &token, &previous, &before, &before_before, NULL,
                            !target_zone && !joined_right)) {
                p = copied = next.text + next.size;
                changed = true;
            }
        } else if (rst_token_names(&token) && token.type != TOKEN_STRING && !rst_token_mark(&next, ".") &&
                   token.size > 7) {
            const char *replacement = NULL, *alias = NULL;
            bool dotted = rst_token_mark(&previous, ".");
            bool main_schema = dotted && rst_token_same_name(&before, "main");
            const rst_token *context = dotted ? &before_before : &previous;
            bool place = rst_token_is(context, "FROM") || rst_token_is(context, "JOIN") ||
                         rst_token_is(context, "INTO") || rst_token_is(context, "UPDATE") ||
                         rst_token_mark(context, ",") || rst_token_is(context, "IN") || rst_token_mark(context, "(");
            if (rst_token_is(context, "OR")) place = false;
            /* max(sqlite_master), VALUES(sqlite_master): a column, of that name at best */
            if (!dotted && rst_token_mark(context, "(") && rst_token_names(&before) && !rst_token_is(&before, "FROM") &&
                !rst_token_is(&before, "JOIN"))
                place = false;
            if ((dotted && rst_token_same_name(&before, "temp") &&
                 (rst_token_same_name(&token, "sqlite_master") || rst_token_same_name(&token, "sqlite_schema"))) ||
                (!dotted && place &&
                 (rst_token_same_name(&token, "sqlite_temp_master") ||
                  rst_token_same_name(&token, "sqlite_temp_schema")))) {
                if ((rst_token_is(context, "FROM") || rst_token_is(context, "JOIN")) &&
                    !(dotted && is_temp_schema_made(before.text, text, end))) {
                    sqlite3_str_append(str, copied, (int)((dotted ? before.text : token.text) - copied));
                    sqlite3_str_appendall(str, temp_schema);
                    if (!rst_token_is(&next, "AS") && !may_be_alias(&next)) {
                        sqlite3_str_appendf(str, " AS %.*s", (int)token.size, token.text);
                    }
                    copied = token.text + token.size;
                    changed = true;
                }
            }
            if ((!dotted || main_schema) && place) {
                if (rst_token_same_name(&token, "sqlite_master") || rst_token_same_name(&token, "sqlite_schema")) {
                    replacement = "rootstock_schema";
                    alias = "sqlite_master"; /* whichever name it was asked for by */
                } else if (!dotted &&
                           (rst_token_same_name(&token, "sqlite_sequence") ||
                            rst_token_same_name(&token, "sqlite_stat1")) &&
                           temp_has(c,
                                    rst_token_same_name(&token, "sqlite_stat1") ? "sqlite_stat1" : "sqlite_sequence")) {
                    /* temp's own hides the store's */
                } else if (rst_token_same_name(&token, "sqlite_sequence") &&
                           rst_table_find(c, "sqlite_sequence") != NULL) {
                    replacement = "rootstock_sequence";
                    alias = "sqlite_sequence";
                } else if (rst_token_same_name(&token, "sqlite_stat1") && rst_table_find(c, "sqlite_stat1") != NULL) {
                    replacement = "rootstock_stat1";
                    alias = "sqlite_stat1";
                } else if (rst_token_mark(&next, "(") || !dotted) {
                    for (size_t i = 0; i < sizeof pragma_selects / sizeof pragma_selects[0]; i++) {
                        if (!rst_token_same_name(&token, pragma_selects[i].name)) continue;
                        if (rst_token_mark(&next, "(") || rst_token_is(context, "IN")) continue;
                        sqlite3_str_append(str, copied, (int)((dotted ? before.text : token.text) - copied));
                        sqlite3_str_appendf(str, "(%s)", pragma_selects[i].select);
                        if (!rst_token_is(&next, "AS") && !may_be_alias(&next))
                            sqlite3_str_appendf(str, " AS %s", pragma_selects[i].name);
                        copied = token.text + token.size;
                        changed = true;
                    }
                    for (size_t i = 0; i < sizeof pragma_names / sizeof pragma_names[0]; i++) {
                        char name[64];
                        sqlite3_snprintf(sizeof name, name, "pragma_%s", pragma_names[i]);
                        if (rst_token_same_name(&token, name)) {
                            sqlite3_str_append(str, copied, (int)((dotted ? before.text : token.text) - copied));
                            sqlite3_str_appendf(str, "rootstock_%s", name);
                            copied = token.text + token.size;
                            changed = true;
                        }
                    }
                }
            }
            if (replacement != NULL && !(rst_token_mark(context, ",") || rst_token_mark(context, "("))) {
                sqlite3_str_append(str, copied, (int)((dotted ? before.text : token.text) - copied));
                sqlite3_str_appendall(str, replacement);
                if (!rst_token_is(context, "IN") && !rst_token_is(&next, "AS") && !may_be_alias(&next)) {
                    sqlite3_str_appendf(str, " AS %s", alias);
                }
                copied = token.text + token.size;
                changed = true;
            } else if (replacement != NULL && !rst_token_is(&next, "FROM") &&
                       (token.type == TOKEN_WORD || may_be_alias(&next) || next.type == TOKEN_END ||
                        rst_token_is(&next, "WHERE") || rst_token_is(&next, "JOIN"))) {
                /* a later item of FROM */
                sqlite3_str_append(str, copied, (int)((dotted ? before.text : token.text) - copied));
                sqlite3_str_appendall(str, replacement);
                if (!rst_token_is(&next, "AS") && !may_be_alias(&next)) sqlite3_str_appendf(str, " AS %s", alias);
                copied = token.text + token.size;
                changed = true;
            }
        }
        before_before = before;
        before = previous;
        previous = token;
    }
    sqlite3_str_append(str, copied, (int)(end - copied));
    *out = sqlite3_str_finish(str);
    if (*out == NULL) {
        rst_set_message(message, "out of memory");
        return SQLITE_NOMEM;
    }
    if (!changed) {
        sqlite3_free(*out);
        *out = NULL;
    }
    return SQLITE_OK;
}

/* What became of the text, or the text, once more. */
static int again(int (*pass)(rst_connection *, const char *, const char *, char **), rst_connection *c,
                 const char *text, const char *end, char **out) {
    char *more = NULL;
    int code = *out != NULL ? pass(c, *out, *out + strlen(*out), &more) : pass(c, text, end, &more);
    if (more == NULL && code == SQLITE_OK) return SQLITE_OK;
    sqlite3_free(*out);
    *out = more;
    return code;
}

static int transform_all(rst_connection *c, const char *text, const char *end, char **out, char **message) {
    bool sought = false, joins = false;
    int code = transform_words(c, text, end, out, message);
    for (const char *p = text; p < end && (!sought || !joins); p++) {
        if (!sought) sought = *p == ')' && rst_row_value_in(p + 1, end);
        if (!joins) joins = end - p >= 4 && sqlite3_strnicmp(p, "join", 4) == 0;
    }
    if (code == SQLITE_OK && sought) code = again(rst_hide_row_values, c, text, end, out);
    if (code == SQLITE_OK && joins) code = again(rst_inner_joins_write, c, text, end, out);
    if (code == SQLITE_OK && joins) code = again(rst_left_joins_keep, c, text, end, out);
    return code;
}

int rst_transform_names(rst_connection *c, const char *text, const char *end, char **out, char **message) {
    char *named = NULL;
    int code = rst_name_results(c, text, end, &named);
    *out = NULL;
    if (code != SQLITE_OK || named == NULL) return code != SQLITE_OK ? code : transform_all(c, text, end, out, message);
    code = transform_all(c, named, named + strlen(named), out, message);
    if (code == SQLITE_OK && *out == NULL)
        *out = named;
    else
        sqlite3_free(named);
    return code;
}

char *rst_transform_clear(const rst_table *table) {
    return sqlite3_mprintf("DELETE FROM main.\"%w\" WHERE \"rootstock hint\"='rootstock clear'", table->declared_name);
}
