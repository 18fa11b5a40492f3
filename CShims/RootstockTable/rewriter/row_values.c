/*
** row_values.c - (a, b) IN (...) in WHERE and ON is kept from the planner.
**
** SQLite 3.40.1 splits such a term into one equality for each column, tells a module nothing of it, and checks the rows
** that come back by the column's affinity alone: where the right-hand side's affinity counts too (a TEXT column and a
** list of integers), rows are lost. OR 0 behind the whole term leaves its value as it is and makes it one that no index
** serves, so that SQLite evaluates it on each row. A unary plus would do that, too; but SQLite then asks for the value,
** and looks through the whole list for a NULL on each row that is not in it. Invariant: nothing else of the text
** changes, and the result columns, whose names are their text, are left alone. Terms for which all this makes no
** difference are left to the planner: row_values_alike.c.
*/
#include "rewriter/rewriter.h"
#include "parser/tokens.h"
#include "rewriter/transform.h"

#include <stdlib.h>

/* An opening parenthesis that is not closed yet, or the statement itself. */
typedef struct frame {
    const char *start;
    bool call;   /* of a function's arguments, or a list after a name or IN: x IN (1, 2) IN (3, 4) has no row value */
    bool comma;  /* it has more than one item */
    bool filter; /* in WHERE or ON */
    bool list;   /* the right-hand side of such a term: the term ends behind it */
} frame;

typedef struct insertion {
    const char *at;
    bool opens;
} insertion;

bool rst_row_value_in(const char *behind, const char *end) {
    while (behind < end && (*behind == ' ' || *behind == '\t' || *behind == '\n' || *behind == '\r')) behind++;
    if (behind < end && (*behind == '-' || *behind == '/')) return true; /* perhaps a comment */
    return end - behind >= 2 && (behind[0] | 0x20) == 'i' && (behind[1] | 0x20) == 'n';
}

static bool grow(void **items, int count, int *capacity, size_t size) {
    void *more;
    if (count < *capacity) return true;
    more = sqlite3_realloc64(*items, (sqlite3_uint64)(*capacity * 2 + 16) * size);
    if (more == NULL) return false;
    *items = more;
    *capacity = *capacity * 2 + 16;
    return true;
}

static int by_place(const void *a, const void *b) {
    const insertion *left = a, *right = b;
    return left->at < right->at ? -1 : left->at > right->at;
}

/* Words after which what stands in parentheses is no list of arguments. */
static bool is_operator_word(const rst_token *token) {
    static const char *const words[] = {"WHERE", "ON",   "AND",  "OR",   "NOT",     "HAVING", "WHEN",
                                        "THEN",  "ELSE", "CASE", "LIKE", "BETWEEN", "IS",     "SELECT"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (rst_token_is(token, words[i])) return true;
    }
    return false;
}

static void note_word(frame *inner, const rst_token *token) {
    static const char *const others[] = {"SELECT", "FROM",  "GROUP",     "ORDER",  "HAVING",    "LIMIT",  "SET",
                                         "VALUES", "UNION", "INTERSECT", "EXCEPT", "RETURNING", "WINDOW", "DO"};
    if (rst_token_is(token, "WHERE") || rst_token_is(token, "ON")) inner->filter = true;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (rst_token_is(token, others[i])) inner->filter = false;
    }
}

/* `in` stands behind IN: a SELECT in parentheses whose values and whose rows compare alike. */
static bool may_be_planned(rst_connection *c, const char *text, const char *end, const frame *columns, const char *in) {
    rst_token token = rst_token_next(&in, end);
    const char *list = in, *stop = in;
    const char *first = in;
    if (!rst_token_mark(&token, "(")) return false;
    token = rst_token_next(&first, end);
    return rst_token_is(&token, "SELECT") && rst_token_skip_parentheses(&stop, end) &&
           rst_row_value_alike(c, text, end, columns->start + 1, list, stop - 1);
}

int rst_hide_row_values(rst_connection *c, const char *text, const char *end, char **out) {
    frame *frames = NULL;
    insertion *insertions = NULL;
    int depth = 0, frame_capacity = 0, count = 0, insertion_capacity = 0;
    const char *p = text, *copied = text;
    rst_token previous = {TOKEN_END, text, 0};
    bool memory = grow((void **)&frames, 0, &frame_capacity, sizeof *frames);
    *out = NULL;
    if (memory) frames[0] = (frame){.start = text};
    while (memory) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) break;
        if (rst_token_mark(&token, "(")) {
            frame opened = {.start = token.text, .filter = frames[depth].filter};
            opened.call = rst_token_names(&previous) && !is_operator_word(&previous);
            memory = grow((void **)&frames, depth + 1, &frame_capacity, sizeof *frames);
            if (memory) frames[++depth] = opened;
        } else if (rst_token_mark(&token, ")") && depth > 0) {
            frame closed = frames[depth--];
            const char *q = p, *after = NULL;
            rst_token in = rst_token_next(&q, end), list;
            if (closed.list) {
                memory = grow((void **)&insertions, count, &insertion_capacity, sizeof *insertions);
                if (memory) insertions[count++] = (insertion){p, false};
            }
            if (memory && closed.comma && !closed.call && !closed.list && frames[depth].filter &&
                rst_token_is(&in, "IN") && !may_be_planned(c, text, end, &closed, q)) {
                list = rst_token_next(&q, end);
                memory = grow((void **)&insertions, count + 1, &insertion_capacity, sizeof *insertions);
                if (memory && (rst_token_mark(&list, "(") || rst_token_names(&list)))
                    insertions[count++] = (insertion){closed.start, true};
                if (memory && rst_token_mark(&list, "(")) {
                    memory = grow((void **)&frames, depth + 1, &frame_capacity, sizeof *frames);
                    if (memory) frames[++depth] = (frame){.start = list.text, .filter = true, .list = true};
                    p = q;
                    token = list;
                } else if (memory && rst_token_names(&list)) {
                    /* A table's name, or schema.table. */
                    after = q;
                    rst_token dot = rst_token_next(&q, end);
                    if (rst_token_mark(&dot, ".")) {
                        (void)rst_token_next(&q, end);
                        after = q;
                    }
                    insertions[count++] = (insertion){after, false};
                    p = after;
                }
            }
        } else if (rst_token_mark(&token, ",")) {
            frames[depth].comma = true;
        } else if (token.type == TOKEN_WORD) {
            note_word(&frames[depth], &token);
        }
        previous = token;
    }
    if (memory && count > 0 && depth == 0) {
        sqlite3_str *str = sqlite3_str_new(NULL);
        qsort(insertions, (size_t)count, sizeof *insertions, by_place);
        for (int i = 0; i < count; i++) {
            sqlite3_str_append(str, copied, (int)(insertions[i].at - copied));
            sqlite3_str_appendall(str, insertions[i].opens ? "(" : " OR 0)");
            copied = insertions[i].at;
        }
        sqlite3_str_append(str, copied, (int)(end - copied));
        *out = sqlite3_str_finish(str);
        memory = *out != NULL;
    }
    sqlite3_free(frames);
    sqlite3_free(insertions);
    return memory ? SQLITE_OK : SQLITE_NOMEM;
}
