/*
** shape.c - texts that differ in nothing but the values that they compare, set or insert have one shape.
**
**   INSERT INTO t VALUES (17, 'x')      is      INSERT INTO t VALUES (<integer>, <string>)
**
** Left out are whole numbers of up to 18 digits and strings. They stand behind =, < or >, or in a row of VALUES, before
** them at most a minus: there a string is no name, and no number is a column's. In the shape each is one byte that
** stands in no SQL.
**
** Invariant: texts of one shape have the same tokens, but for those values. Where that is not certain there is no
** shape: comments, what has no end, more than one statement.
*/
#include "parser/shape.h"

#include "common/allocation.h"

#include <stdbool.h>
#include <string.h>

enum { INTEGER = 1, STRING = 2, DIGITS = 18 };

/* Where the walk stops to look, and what a number that follows is part of. */
enum { PLAIN = 0, DIGIT, QUOTE, OPEN, CLOSE, COMMENT, SEMICOLON, CONTROL, STOPS = 7, JOINS = 8 };
#define C CONTROL
#define D (DIGIT | JOINS)
#define E CLOSE
#define J JOINS
#define M COMMENT
#define O OPEN
#define Q QUOTE
#define S SEMICOLON
#define J16 J, J, J, J, J, J, J, J, J, J, J, J, J, J, J, J
static const unsigned char classes[256] = {
    C, C, C, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,   0,   0,   0,   0,   0,   0,   0,  0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, Q, J, J, 0, 0, Q, O, E, 0, 0, 0,   M,   J,   M,   D,   D,   D,   D,  D, D, D, D,
    D, D, J, S, 0, 0, 0, J, J, J, J, J, J, J, J, J, J,   J,   J,   J,   J,   J,   J,   J,  J, J, J, J,
    J, J, J, J, J, J, J, Q, 0, 0, 0, J, Q, J, J, J, J,   J,   J,   J,   J,   J,   J,   J,  J, J, J, J,
    J, J, J, J, J, J, J, J, J, J, J, 0, 0, 0, 0, 0, J16, J16, J16, J16, J16, J16, J16, J16};
#undef C
#undef D
#undef E
#undef J
#undef M
#undef O
#undef Q
#undef S
#undef J16

static inline unsigned stop_at(const char *p) {
    return classes[(unsigned char)*p] & STOPS;
}
static inline bool joins(char c) {
    return (classes[(unsigned char)c] & JOINS) != 0;
}

static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r' && c != '\v');
}

/* Behind the last byte before p that is no blank; or the text's begin. */
static const char *behind_last(const char *text, const char *p) {
    while (p > text && is_blank(p[-1])) p--;
    return p;
}

/* Behind the quote that closes the one at p. Null: nothing does, or a byte that stands for values comes before it. */
static const char *behind_quote(const char *p, const char *end) {
    const char quote = *p == '[' ? ']' : *p;
    for (p++; p < end && classes[(unsigned char)*p] != CONTROL; p++) {
        if (*p != quote) continue;
        if (quote == ']' || p + 1 == end || p[1] != quote) return p + 1;
        p++;
    }
    return NULL;
}

/* Whether what stands at p is such a value, `row`: in a row of VALUES. */
static bool is_value(const char *text, const char *p, bool row) {
    p = behind_last(text, p);
    if (p > text && p[-1] == '-') p = behind_last(text, p - 1);
    if (p == text) return false;
    return p[-1] == '=' || p[-1] == '<' || p[-1] == '>' || (row && (p[-1] == '(' || p[-1] == ','));
}

/* Whether a parenthesis at p may be part of a parameter: $a(b). */
static bool is_in_parameter(const char *text, const char *p) {
    while (p > text && joins(p[-1])) {
        p--;
        if (*p == '$' || *p == '@' || *p == '#' || *p == ':') return true;
    }
    return false;
}

/* Whether another row of VALUES, or nothing, may follow the one that ends before p. */
static bool goes_on(const char *p, const char *end) {
    while (p < end && is_blank(*p)) p++;
    return p == end || *p == ',' || *p == ';';
}

/* Whether a row of VALUES begins at p. rows: others stand before it. */
static bool begins_row(const char *text, const char *p, bool rows) {
    p = behind_last(text, p);
    if (rows) return p > text && p[-1] == ',';
    return p - text > 6 && (p[-1] | 0x20) == 's' && sqlite3_strnicmp(p - 6, "values", 6) == 0 && !joins(p[-7]);
}

size_t rst_shape_of(const char *text, const char *end, char *shape) {
    char *out = shape;
    const char *p = text;
    int depth = 0;
    bool rows = false, any = false;
    for (;;) {
        const size_t room = (size_t)(shape + SHAPE_LONGEST - out);
        const char *const limit = room < (size_t)(end - p) ? p + room : end, *behind;
        char value = 0;
        while (p < limit && stop_at(p) == PLAIN) *out++ = *p++;
        if (p == end) return any ? (size_t)(out - shape) : 0;
        behind = p + 1;
        switch (stop_at(p)) {
        case DIGIT:
            while (behind < end && *behind >= '0' && *behind <= '9') behind++;
            if ((p > text && joins(p[-1])) || (behind < end && joins(*behind))) {
                while (behind < end && joins(*behind)) behind++; /* part of a name, a parameter or another number */
            } else if (behind - p <= DIGITS && is_value(text, p, rows && depth == 1)) {
                value = INTEGER;
            }
            break;
        case QUOTE:
            behind = behind_quote(p, end);
            if (behind == NULL) return 0;
            if (*p == '\'' && is_value(text, p, rows && depth == 1)) value = STRING;
            break;
        case OPEN:
            if (is_in_parameter(text, p)) return 0;
            if (depth++ == 0) rows = begins_row(text, p, rows);
            break;
        case CLOSE:
            if (--depth == 0) rows = rows && goes_on(behind, end);
            break;
        case COMMENT:
            if (behind < end && *behind == (*p == '-' ? '-' : '*')) return 0;
            break;
        case SEMICOLON:
            if (behind < end) return 0;
            break;
        default: return 0;
        }
        if (value == 0 ? behind - p > shape + SHAPE_LONGEST - out : out == shape + SHAPE_LONGEST) return 0;
        if (value == 0) {
            while (p < behind) *out++ = *p++;
        } else {
            *out++ = value;
            p = behind;
            any = true;
        }
    }
}

char *rst_shape_lift(const char *text, const char *end, const char *until, rst_parameters *values) {
    char shape[SHAPE_LONGEST];
    const size_t size = rst_shape_of(text, end, shape);
    const char *p = text, *copied = text;
    sqlite3_str *out = sqlite3_str_new(NULL);
    bool fits = size > 0;
    for (size_t i = 0; i < size && fits && p < until; i++) {
        const char *start = p;
        if (shape[i] == INTEGER)
            while (p < end && *p >= '0' && *p <= '9') p++;
        else if (shape[i] == STRING)
            p = behind_quote(p, end);
        else
            p++;
        if (shape[i] == INTEGER || shape[i] == STRING) {
            sqlite3_str_append(out, copied, (int)(start - copied));
            fits = rst_parameters_add(values, start, p) == SQLITE_OK;
            sqlite3_str_appendf(out, "?%d", values->highest);
            copied = p;
        } else {
            fits = strchr("?:@$#", shape[i]) == NULL; /* not even in a string: it is for the usual texts */
        }
    }
    while (p < end && fits) fits = strchr("?:@$#", *p++) == NULL;
    sqlite3_str_append(out, copied, (int)(end - copied));
    if (fits && values->highest > 0) return sqlite3_str_finish(out);
    sqlite3_free(sqlite3_str_finish(out));
    return NULL;
}
