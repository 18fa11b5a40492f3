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
#include "parser/parser.h"
#include "rewriter/transform.h"

/* An opening parenthesis that is not closed yet, or the statement itself. */
typedef struct frame {
    const char *start;
    bool call;   /* of a function's arguments, or a list after a name or IN: x IN (1, 2) IN (3, 4) has no row value */
    bool comma;  /* it has more than one item */
    bool filter; /* in WHERE or ON */
    bool list;   /* the right-hand side of such a term: the term ends behind it */
} frame;

bool rst_row_value_in(const char *behind, const char *end) {
    while (behind < end && (*behind == ' ' || *behind == '\t' || *behind == '\n' || *behind == '\r')) behind++;
    if (behind < end && (*behind == '-' || *behind == '/')) return true; /* perhaps a comment */
    return end - behind >= 2 && (behind[0] | 0x20) == 'i' && (behind[1] | 0x20) == 'n';
}

/* The frame that is opened at this depth, if there is room. */
static bool push(frame **frames, int *depth, int *capacity, frame opened) {
    if (*depth + 1 == *capacity) {
        frame *more = sqlite3_realloc64(*frames, (sqlite3_uint64)*capacity * 2 * sizeof *more);
        if (more == NULL) return false;
        *frames = more;
        *capacity *= 2;
    }
    (*frames)[++*depth] = opened;
    return true;
}

static void close_term(rst_edits *edits, const char *at) {
    rst_edits_add(edits, at, at, sqlite3_mprintf(" OR 0)"));
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
    int depth = 0, capacity = 16, code = SQLITE_OK;
    frame *frames = sqlite3_malloc64((sqlite3_uint64)capacity * sizeof *frames);
    rst_edits edits = {0};
    const char *p = text;
    rst_token previous = {TOKEN_END, text, 0};
    bool memory = frames != NULL;
    *out = NULL;
    if (memory) frames[0] = (frame){.start = text};
    while (memory) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) break;
        if (rst_token_mark(&token, "(")) {
            frame opened = {.start = token.text, .filter = frames[depth].filter};
            opened.call = rst_token_names(&previous) && !is_operator_word(&previous);
            memory = push(&frames, &depth, &capacity, opened);
        } else if (rst_token_mark(&token, ")") && depth > 0) {
            frame closed = frames[depth--];
            const char *q = p;
            rst_token in = rst_token_next(&q, end), list;
            if (closed.list) close_term(&edits, p);
            if (closed.comma && !closed.call && !closed.list && frames[depth].filter && rst_token_is(&in, "IN") &&
                !may_be_planned(c, text, end, &closed, q)) {
                list = rst_token_next(&q, end);
                if (rst_token_mark(&list, "(") || rst_token_names(&list))
                    rst_edits_add(&edits, closed.start, closed.start, sqlite3_mprintf("("));
                if (rst_token_mark(&list, "(")) {
                    memory =
                        push(&frames, &depth, &capacity, (frame){.start = list.text, .filter = true, .list = true});
                    p = q;
                    token = list;
                } else if (rst_token_names(&list)) {
                    /* A table's name, or schema.table. */
                    p = q;
                    rst_token dot = rst_token_next(&q, end);
                    if (rst_token_mark(&dot, ".")) {
                        (void)rst_token_next(&q, end);
                        p = q;
                    }
                    close_term(&edits, p);
                }
            }
        } else if (rst_token_mark(&token, ",")) {
            frames[depth].comma = true;
        } else if (token.type == TOKEN_WORD) {
            note_word(&frames[depth], &token);
        }
        previous = token;
    }
    if (!memory)
        code = SQLITE_NOMEM;
    else if (depth == 0)
        code = rst_edits_apply(&edits, text, end, out);
    rst_edits_free(&edits);
    sqlite3_free(frames);
    return code;
}
