/*
** result_names.c - result columns keep the names that they have natively, where what the front door does would change
** them.
**
** SQLite names an unaliased expression by its text. Where that holds a name that is turned into another one
** (transform.c), the native name is written out behind it with AS: in every SELECT, for subqueries, views and CREATE
** TABLE AS have columns of these names. A bare rowid is named by the INTEGER PRIMARY KEY that it stands for, which a
** virtual table cannot declare; but not in a subquery, whose columns SQLite names before it knows. For the same reason
** a rowid in the ORDER BY of a compound SELECT becomes the number of its item. Invariant: only AS and a name are added,
** and only where no alias stands; and only such a rowid is exchanged.
*/
#include "rewriter/rewriter.h"
#include "parser/tokens.h"
#include "rewriter/transform.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64, WAITING = 32 };

/* A result column that waits for the FROM behind it, or for its end. */
typedef struct item {
    const char *start;      /* of its first token; null: none has come yet */
    rst_token last, before; /* its last two tokens */
    int tokens;
    bool touched; /* holds a name that will be changed */
    bool plain;   /* a name, perhaps qualified */
    rst_token qualifier;
} item;

typedef struct frame {
    bool list; /* in the result columns of a SELECT */
    item now;
    item rowids[WAITING]; /* bare ones, which wait for FROM */
    int rowid_count;
    const char *first, *first_from; /* behind SELECT and FROM of the first SELECT here; null: none yet */
    bool compound, ordering;        /* of several SELECTs; in their ORDER BY */
    bool distinct_rows;             /* joined by another word than UNION ALL, too */
} frame;

typedef struct writing {
    rst_connection *c;
    const char *text, *end;
} writing;

/* What is to be written, in the order of the text: a rowid's name is known only when its FROM has been read. */
typedef struct insertion {
    const char *at;
    char *name;
    size_t instead; /* bytes whose place it takes, without AS */
    bool rowid;     /* names a rowid after its column */
} insertion;

typedef struct insertions {
    insertion *all;
    int count, capacity;
} insertions;

static int insert(insertions *list, const char *at, char *name) {
    if (name == NULL) return SQLITE_NOMEM;
    if (list->count == list->capacity) {
        insertion *more = sqlite3_realloc64(list->all, (sqlite3_uint64)(list->capacity * 2 + 8) * sizeof *more);
        if (more == NULL) {
            sqlite3_free(name);
            return SQLITE_NOMEM;
        }
        list->all = more;
        list->capacity = list->capacity * 2 + 8;
    }
    list->all[list->count++] = (insertion){at, name, 0, false};
    return SQLITE_OK;
}

static bool is_one_of(const rst_token *token, const char *const *words) {
    for (; *words != NULL; words++) {
        if (rst_token_is(token, *words)) return true;
    }
    return false;
}

/* A name that transform.c may turn into another one, a hint that it takes out, or a join whose words or right side may
** change. */
static bool may_change(const rst_token *token) {
    static const char *const names[] = {"sqlite_master",      "sqlite_schema",   "sqlite_temp_master",
                                        "sqlite_temp_schema", "sqlite_sequence", "sqlite_stat1"};
    size_t quote = token->type == TOKEN_NAME;
    if (token->type != TOKEN_WORD && token->type != TOKEN_NAME) return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (rst_token_same_name(token, names[i])) return true;
    }
    if (token->size > 7 + quote && sqlite3_strnicmp(token->text + quote, "pragma_", 7) == 0) return true;
    return rst_token_is(token, "INDEXED") || rst_token_is(token, "LEFT") || rst_token_is(token, "FULL");
}

static bool is_rowid(const rst_token *token) {
    return (token->type == TOKEN_WORD || token->type == TOKEN_NAME) && rst_token_is_rowid(token);
}

/* Whether the last token is an alias: it is a name, and what stands before it is a whole operand. */
static bool has_alias(const item *it) {
    static const char *const operands[] = {
        "END", "NULL", "ISNULL", "NOTNULL", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", NULL};
    static const char *const operators[] = {"AND",    "OR",      "NOT",    "IS",      "IN",       "LIKE", "GLOB",
                                            "REGEXP", "MATCH",   "FROM",   "CASE",    "WHEN",     "THEN", "ELSE",
                                            "OVER",   "BETWEEN", "ESCAPE", "COLLATE", "DISTINCT", "ALL",  NULL};
    if (it->tokens < 2) return false;
    if (rst_token_is(&it->before, "AS")) return true;
    if (!rst_token_names(&it->last) || is_one_of(&it->last, operands)) return false;
    if (rst_token_mark(&it->before, ")")) return true;
    if (it->before.type == TOKEN_PUNCTUATION) return false;
    return !is_one_of(&it->before, operators);
}

/* ---- the FROM behind a list ---- */

static const char *const ends[] = {"WHERE", "GROUP",  "ORDER",     "HAVING",    "LIMIT", "WINDOW",
                                   "UNION", "EXCEPT", "INTERSECT", "RETURNING", NULL};
static const char *const joins[] = {"NATURAL", "LEFT", "RIGHT", "FULL", "OUTER", "INNER", "CROSS", "JOIN", NULL};

/* WITH name AS (...), somewhere in the text: the table is hidden by it, perhaps. */
static bool is_common_table(const writing *w, const rst_token *name) {
    const char *p = w->text;
    char *text = rst_token_name(name);
    bool found = text == NULL;
    for (;;) {
        rst_token token = rst_token_next(&p, w->end);
        const char *q = p;
        if (token.type == TOKEN_END || found) break;
        if (!rst_token_same_name(&token, text)) continue;
        token = rst_token_next(&q, w->end);
        if (rst_token_mark(&token, "(")) {
            if (!rst_token_skip_parentheses(&q, w->end)) continue;
            token = rst_token_next(&q, w->end);
        }
        if (!rst_token_is(&token, "AS")) continue;
        token = rst_token_next(&q, w->end);
        found = rst_token_mark(&token, "(") || rst_token_is(&token, "NOT") || rst_token_is(&token, "MATERIALIZED");
    }
    sqlite3_free(text);
    return found;
}

static bool same_names(const rst_token *a, const rst_token *b) {
    char *text = rst_token_name(a);
    bool same = text != NULL && rst_token_same_name(b, text);
    sqlite3_free(text);
    return same;
}

/* The store's table that a qualifier means (none: the only item of FROM), p behind FROM; or null where that is not
** plain. */
static rst_table *table_of(const writing *w, const char *p, const rst_token *qualifier) {
    rst_table *found = NULL;
    int items = 0, matching = 0;
    for (;;) {
        rst_token schema = {TOKEN_END, p, 0}, name, alias, next;
        const char *q;
        rst_table *table = NULL;
        bool matches;
        name = rst_token_next(&p, w->end);
        alias = name;
        if (rst_token_mark(&name, "(")) {
            if (!rst_token_skip_parentheses(&p, w->end)) return NULL;
            alias.type = TOKEN_END;
        } else if (rst_token_names(&name)) {
            q = p;
            next = rst_token_next(&q, w->end);
            if (rst_token_mark(&next, ".")) {
                schema = name;
                name = alias = rst_token_next(&q, w->end);
                p = q;
                next = rst_token_next(&q, w->end);
            }
            if (rst_token_mark(&next, "(")) {
                p = q;
                if (!rst_token_skip_parentheses(&p, w->end)) return NULL;
            } else if (schema.type != TOKEN_END || !is_common_table(w, &name)) {
                table = rst_target(w->c, &schema, &name);
            }
        } else {
            return NULL;
        }
        q = p;
        next = rst_token_next(&q, w->end);
        if (rst_token_is(&next, "AS")) {
            alias = rst_token_next(&q, w->end);
            p = q;
        } else if (rst_token_names(&next) && !is_one_of(&next, ends) && !is_one_of(&next, joins) &&
                   !rst_token_is(&next, "ON") && !rst_token_is(&next, "USING") && !rst_token_is(&next, "INDEXED") &&
                   !rst_token_is(&next, "NOT")) {
            alias = next;
            p = q;
        }
        items++;
        matches = qualifier->type == TOKEN_END || (alias.type != TOKEN_END && same_names(&alias, qualifier));
        if (matches) {
            matching++;
            found = table;
        }
        /* To the next item. */
        for (bool joined = false;;) {
            q = p;
            next = rst_token_next(&q, w->end);
            if (next.type == TOKEN_END || rst_token_mark(&next, ")") || rst_token_mark(&next, ";") ||
                is_one_of(&next, ends))
                return matching == 1 && (qualifier->type != TOKEN_END || items == 1) ? found : NULL;
            if (joined && !is_one_of(&next, joins)) break;
            p = q;
            if (rst_token_mark(&next, ",")) break;
            if (rst_token_mark(&next, "(") && !rst_token_skip_parentheses(&p, w->end)) return NULL;
            joined = joined || is_one_of(&next, joins);
        }
    }
}

/* ---- the text ---- */

static void begin_item(frame *f) {
    memset(&f->now, 0, sizeof f->now);
    f->now.plain = true;
}

/* next: the token behind it. */
static int end_item(frame *f, int depth, insertions *list, const char *next) {
    const item *it = &f->now;
    const char *stop = next;
    int code = SQLITE_OK;
    if (it->start == NULL || rst_token_mark(&it->last, "*")) return SQLITE_OK;
    if (it->plain) {
        if (depth == 0 && is_rowid(&it->last) && f->rowid_count < WAITING) f->rowids[f->rowid_count++] = *it;
        return SQLITE_OK;
    }
    if (!it->touched || has_alias(it)) return SQLITE_OK;
    /* SQLite's name goes on to the next token, comments included. */
    while (stop > it->start &&
           (stop[-1] == ' ' || stop[-1] == '\t' || stop[-1] == '\n' || stop[-1] == '\r' || stop[-1] == '\f'))
        stop--;
    {
        char *name = sqlite3_mprintf("%.*s", (int)(stop - it->start), it->start);
        code = insert(list, it->last.text + it->last.size, name);
    }
    return code;
}

static int name_rowids(const writing *w, frame *f, insertions *list, const char *from) {
    int code = SQLITE_OK;
    for (int i = 0; i < f->rowid_count && code == SQLITE_OK; i++) {
        const item *it = &f->rowids[i];
        const rst_table *table = table_of(w, from, &it->qualifier);
        if (table == NULL || table->rowid_column < 0) continue;
        for (int n = 0; table != NULL && n < table->column_count; n++) {
            if (rst_token_same_name(&it->last, table->columns[n].name)) table = NULL;
        }
        if (table == NULL) continue;
        code = insert(list, it->last.text + it->last.size,
                      sqlite3_mprintf("%s", table->columns[table->rowid_column].name));
        if (code == SQLITE_OK) list->all[list->count - 1].rowid = true;
    }
    f->rowid_count = 0;
    return code;
}

static bool is_name(const rst_token *token) {
    return token->type == TOKEN_WORD || token->type == TOKEN_NAME;
}

/* Which item of the list, p behind its SELECT, is the INTEGER PRIMARY KEY of its only table, or its rowid, from 1; 0:
** none, or that is not plain to see. */
static int place_of_rowid(const char *p, const char *end, const rst_table *table) {
    static const char *const operators[] = {"FROM", "ISNULL", "NOTNULL", NULL};
    rst_token token = rst_token_next(&p, end);
    int first = 0;
    if (rst_token_is(&token, "DISTINCT") || rst_token_is(&token, "ALL")) token = rst_token_next(&p, end);
    for (int place = 1;; place++) {
        bool found = false;
        if (rst_token_mark(&token, "*")) {
            token = rst_token_next(&p, end);
            if (!rst_token_is(&token, "FROM")) return 0;
            return first > 0 ? first : place + table->rowid_column;
        }
        if (is_name(&token)) {
            rst_token name = token;
            token = rst_token_next(&p, end);
            while (rst_token_mark(&token, ".")) {
                name = rst_token_next(&p, end);
                token = rst_token_next(&p, end);
            }
            if (rst_token_mark(&name, "*")) return 0;
            found = is_rowid(&name) || rst_token_same_name(&name, table->columns[table->rowid_column].name);
            if (rst_token_is(&token, "AS")) token = rst_token_next(&p, end);
            if (is_name(&token) && !is_one_of(&token, operators)) { /* an alias */
                if (is_rowid(&token)) return 0;                     /* which the term would stand for */
                token = rst_token_next(&p, end);
            }
        }
        if (found && first == 0 && (rst_token_mark(&token, ",") || rst_token_is(&token, "FROM"))) first = place;
        while (token.type != TOKEN_END && !rst_token_mark(&token, ",") && !rst_token_is(&token, "FROM")) {
            if (rst_token_mark(&token, "(") && !rst_token_skip_parentheses(&p, end)) return 0;
            token = rst_token_next(&p, end);
            if (is_rowid(&token)) return 0; /* an alias of an expression, perhaps */
        }
        if (!rst_token_mark(&token, ",")) return first;
        token = rst_token_next(&p, end);
    }
}

/* A term of the ORDER BY of several SELECTs stands for an item of theirs, the first that is the same expression. A
** rowid is the same as the INTEGER PRIMARY KEY, but not here, where it becomes the item's number. */
static int order_rowid(const writing *w, const frame *f, insertions *list, const rst_token *term) {
    static const rst_token none = {TOKEN_END, "", 0};
    const rst_table *table = f->first_from == NULL ? NULL : table_of(w, f->first_from, &none);
    int place, code;
    if (table == NULL || table->rowid_column < 0 || table->has_rowid_name) return SQLITE_OK;
    place = place_of_rowid(f->first, w->end, table);
    if (place == 0) return SQLITE_OK;
    code = insert(list, term->text, sqlite3_mprintf("%d", place));
    if (code == SQLITE_OK) list->all[list->count - 1].instead = term->size;
    return code;
}

/* SQLite makes a subquery of a compound SELECT that leaves rows out and has COLLATE in its ORDER BY: a rowid keeps its
** name there. */
static void keep_rowids(insertions *list) {
    int kept = 0;
    for (int i = 0; i < list->count; i++) {
        if (list->all[i].rowid)
            sqlite3_free(list->all[i].name);
        else
            list->all[kept++] = list->all[i];
    }
    list->count = kept;
}

static void take_token(frame *f, const rst_token *token) {
    item *it = &f->now;
    if (it->tokens == 0) it->start = token->text;
    /* name, name.name: the last two tokens tell the qualifier. */
    if (it->tokens % 2 == 0)
        it->plain = it->plain && (token->type == TOKEN_WORD || token->type == TOKEN_NAME);
    else
        it->plain = it->plain && rst_token_mark(token, ".");
    if (it->plain && rst_token_mark(token, ".")) it->qualifier = it->last;
    it->before = it->last;
    it->last = *token;
    it->tokens++;
}

static int find_names(const writing *w, frame *frames, insertions *list) {
    const char *p = w->text;
    rst_token previous = {TOKEN_END, w->text, 0};
    int depth = 0, code = SQLITE_OK;
    memset(&frames[0], 0, sizeof frames[0]);
    while (code == SQLITE_OK) {
        rst_token token = rst_token_next(&p, w->end);
        frame *f = &frames[depth];
        if (token.type == TOKEN_END) {
            if (f->list) code = end_item(f, depth, list, token.text);
            return code;
        }
        if (token.type == TOKEN_ILLEGAL) {
            /* SQLite refuses the text as it stands; with a name behind it, an open quote might find its end. */
            while (list->count > 0) sqlite3_free(list->all[--list->count].name);
            return SQLITE_OK;
        }
        if (may_change(&token)) {
            for (int i = 0; i <= depth; i++) frames[i].now.touched = true;
        }
        if (rst_token_is(&previous, "UNION")
                ? !rst_token_is(&token, "ALL")
                : rst_token_is(&previous, "EXCEPT") || rst_token_is(&previous, "INTERSECT"))
            f->distinct_rows = true;
        if (rst_token_is(&token, "COLLATE") && frames[0].ordering && frames[0].distinct_rows) keep_rowids(list);
        if (rst_token_mark(&token, "(")) {
            if (f->list) take_token(f, &token);
            if (++depth == DEEPEST) return SQLITE_OK; /* so deep that names are nobody's concern */
            memset(&frames[depth], 0, sizeof frames[depth]);
        } else if (rst_token_mark(&token, ")")) {
            if (f->list) code = end_item(f, depth, list, token.text);
            if (depth == 0) return code;
            f = &frames[--depth];
            if (f->list) take_token(f, &token);
            /* (a, b) IN (...) may be kept from the planner (row_values.c), in a subquery of the item. */
            if (rst_row_value_in(p, w->end)) {
                for (int i = 0; i <= depth; i++) frames[i].now.touched = true;
            }
        } else if (rst_token_is(&token, "SELECT") && !rst_token_mark(&previous, ".")) {
            /* Behind INSERT ... or WITH ... AS () there is but one first. */
            f->compound = f->first != NULL;
            if (f->first == NULL) f->first = p;
            f->list = true;
            f->rowid_count = 0;
            begin_item(f);
        } else if (f->list && f->now.tokens == 0 && (rst_token_is(&token, "DISTINCT") || rst_token_is(&token, "ALL"))) {
            /* of the SELECT */
        } else if (f->list && rst_token_mark(&token, ",")) {
            code = end_item(f, depth, list, token.text);
            begin_item(f);
        } else if (f->list && ((rst_token_is(&token, "FROM") && !rst_token_is(&previous, "DISTINCT")) ||
                               rst_token_mark(&token, ";") || is_one_of(&token, ends))) {
            code = end_item(f, depth, list, token.text);
            if (code == SQLITE_OK && rst_token_is(&token, "FROM")) code = name_rowids(w, f, list, p);
            if (rst_token_is(&token, "FROM") && f->first_from == NULL && !f->compound) f->first_from = p;
            f->list = false;
            f->ordering = f->compound && rst_token_is(&token, "ORDER"); /* of a last SELECT without FROM */
        } else if (f->list) {
            take_token(f, &token);
        } else if (f->compound && rst_token_is(&token, "ORDER")) {
            f->ordering = true;
        } else if (f->ordering && rst_token_is(&token, "LIMIT")) {
            f->ordering = false;
        } else if (f->ordering && is_rowid(&token) &&
                   (rst_token_is(&previous, "BY") || rst_token_mark(&previous, ","))) {
            const char *q = p;
            rst_token next = rst_token_next(&q, w->end);
            int before = list->count;
            if (!rst_token_mark(&next, ".")) code = order_rowid(w, f, list, &token);
            for (int i = 0; i < depth && list->count > before; i++) frames[i].now.touched = true;
        }
        previous = token;
    }
    return code;
}

static bool is_concerned(const char *text, const char *end) {
    for (const char *p = text; end - p >= 3; p++) {
        switch (*p | 0x20) {
        case 'o':
        case 'w':
            if (sqlite3_strnicmp(p + 1, "id", 2) == 0) return true; /* rowid, oid */
            break;
        case 's':
            if (end - p >= 7 && sqlite3_strnicmp(p, "sqlite_", 7) == 0) return true;
            break;
        case 'p':
            if (end - p >= 7 && sqlite3_strnicmp(p, "pragma_", 7) == 0) return true;
            break;
        case 'i':
            if (end - p >= 7 && sqlite3_strnicmp(p, "indexed", 7) == 0) return true;
            break;
        case 'l':
        case 'f':
            if (end - p >= 4 && (sqlite3_strnicmp(p, "left", 4) == 0 || sqlite3_strnicmp(p, "full", 4) == 0))
                return true;
            break;
        case ')': /* has the bit */
            if (rst_row_value_in(p + 1, end)) return true;
            break;
        default: break;
        }
    }
    return false;
}

static int in_order(const void *a, const void *b) {
    const insertion *left = a, *right = b;
    return left->at < right->at ? -1 : left->at > right->at;
}

int rst_name_results(rst_connection *c, const char *text, const char *end, char **out) {
    writing w = {.c = c, .text = text, .end = end};
    insertions list = {0};
    frame *frames;
    int code;
    *out = NULL;
    if (!is_concerned(text, end)) return SQLITE_OK;
    frames = sqlite3_malloc64(DEEPEST * sizeof *frames);
    if (frames == NULL) return SQLITE_NOMEM;
    code = find_names(&w, frames, &list);
    sqlite3_free(frames);
    if (code == SQLITE_OK && list.count > 0) {
        sqlite3_str *str = sqlite3_str_new(NULL);
        const char *copied = text;
        qsort(list.all, (size_t)list.count, sizeof *list.all, in_order);
        for (int i = 0; i < list.count; i++) {
            sqlite3_str_append(str, copied, (int)(list.all[i].at - copied));
            sqlite3_str_appendf(str, list.all[i].instead > 0 ? "%s" : " AS \"%w\"", list.all[i].name);
            copied = list.all[i].at + list.all[i].instead;
        }
        sqlite3_str_append(str, copied, (int)(end - copied));
        *out = sqlite3_str_finish(str);
        if (*out == NULL) code = SQLITE_NOMEM;
    }
    for (int i = 0; i < list.count; i++) sqlite3_free(list.all[i].name);
    sqlite3_free(list.all);
    return code;
}
