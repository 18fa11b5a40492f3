/*
** shape.c - texts that differ in nothing but the values that they compare, set or insert have one shape.
**
**   INSERT INTO t VALUES (17, 'x')      is      INSERT INTO t VALUES (<integer>, <string>)
**
** Left out are whole numbers of up to 18 digits and strings. They stand behind =, <, >, BETWEEN or AND, in a row of
** VALUES or a list of IN, before them at most a minus. There a string is no name, and no number is a column's. In the
** shape each is one byte that stands in no SQL. So are numbers behind LIMIT and OFFSET, and strings behind LIKE.
**
** What a statement is rewritten to has its values where they were copied to. Which value stands where is found with
** marks: values of which each occurs nowhere else (rst_shape_mark). The text that the marked one becomes, with a hole
** for each mark, is the pattern of all texts of the shape.
**
** Invariant: texts of one shape have the same tokens, but for those values. Where that is not certain there is no
** shape: comments, what has no end, more than one statement.
*/
#include "parser/shape.h"

#include "common/allocation.h"

#include <stdbool.h>
#include <string.h>

enum { INTEGER = 1, STRING = 2, DIGITS = 18, HOLE = 1 };

/* A mark is one of these and three digits: a number of DIGITS, and what stands between a string's quotes. */
static const char integer_mark[] = "907135642198300", string_mark[] = "rootstock value ";

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
static inline bool four_are_plain(const char *p) {
    const unsigned char *b = (const unsigned char *)p;
    return ((classes[b[0]] | classes[b[1]] | classes[b[2]] | classes[b[3]]) & STOPS) == 0;
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

/* Whether what stands at p is behind the word, of small letters. */
static inline bool is_behind(const char *text, const char *p, const char *word) {
    const ptrdiff_t size = (ptrdiff_t)strlen(word);
    p = behind_last(text, p);
    if (p - text <= size || joins(p[-size - 1])) return false;
    for (ptrdiff_t i = 0; i < size; i++) {
        if ((p[i - size] | 0x20) != word[i]) return false;
    }
    return true;
}

/* Whether what stands at p is such a value, `listed`: in a row of VALUES or a list of IN. */
static bool is_value(const char *text, const char *p, bool listed) {
    p = behind_last(text, p);
    if (p > text && p[-1] == '-') p = behind_last(text, p - 1);
    if (p == text) return false;
    if ((p[-1] | 0x20) == 'd') return is_behind(text, p, "and");
    if ((p[-1] | 0x20) == 'n') return is_behind(text, p, "between");
    return p[-1] == '=' || p[-1] == '<' || p[-1] == '>' || (listed && (p[-1] == '(' || p[-1] == ','));
}

/* Whether the string that ends before p is a table's name: 't'.a. */
static bool names_table(const char *p, const char *end) {
    while (p < end && is_blank(*p)) p++;
    return p < end && *p == '.';
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
    return rows ? p > text && p[-1] == ',' : is_behind(text, p, "values");
}

/* Whether a list of IN begins at p with such a value, which no SELECT does: there a number may be a column's. */
static bool begins_list(const char *p, const char *end) {
    while (p < end && is_blank(*p)) p++;
    return p < end && (stop_at(p) == DIGIT || *p == '\'' || *p == '-');
}

void rst_shape_of(const char *text, const char *end, rst_shape *shape) {
    char *out = shape->bytes, *const longest = out + SHAPE_LONGEST;
    const char *p = text;
    int depth = 0, list = 0; /* of parentheses; that of a list of IN */
    bool rows = false;
    shape->size = 0;
    shape->count = 0;
    for (;;) {
        const size_t room = (size_t)(longest - out);
        const char *const limit = room < (size_t)(end - p) ? p + room : end, *behind;
        char value = 0;
        while (limit - p >= 4 && four_are_plain(p)) {
            memcpy(out, p, 4);
            out += 4;
            p += 4;
        }
        while (p < limit && stop_at(p) == PLAIN) *out++ = *p++;
        if (p == end) {
            if (shape->count > 0) shape->size = (size_t)(out - shape->bytes);
            return;
        }
        behind = p + 1;
        switch (stop_at(p)) {
        case DIGIT:
            while (behind < end && *behind >= '0' && *behind <= '9') behind++;
            if ((p > text && joins(p[-1])) || (behind < end && joins(*behind))) {
                while (behind < end && joins(*behind)) behind++; /* part of a name, a parameter or another number */
            } else if (behind - p <= DIGITS &&
                       (is_value(text, p, depth > 0 && (depth == list || (rows && depth == 1))) ||
                        is_behind(text, p, "limit") || is_behind(text, p, "offset"))) {
                value = INTEGER;
            }
            break;
        case QUOTE:
            behind = behind_quote(p, end);
            if (behind == NULL) return;
            if (*p == '\'' && !names_table(behind, end) &&
                (is_value(text, p, depth > 0 && (depth == list || (rows && depth == 1))) || is_behind(text, p, "like")))
                value = STRING;
            break;
        case OPEN:
            if (is_in_parameter(text, p)) return;
            if (depth++ == 0) rows = begins_row(text, p, rows);
            if (!rows && is_behind(text, p, "in") && begins_list(behind, end)) list = depth;
            break;
        case CLOSE:
            if (depth == list) list = 0;
            if (--depth == 0) rows = rows && goes_on(behind, end);
            break;
        case COMMENT:
            if (behind < end && *behind == (*p == '-' ? '-' : '*')) return;
            break;
        case SEMICOLON:
            if (behind < end) return;
            break;
        default: return;
        }
        if (value == 0 ? behind - p > longest - out : out == longest || shape->count == SHAPE_VALUES) return;
        if (value == 0) {
            while (p < behind) *out++ = *p++;
        } else {
            *out++ = value;
            shape->values[shape->count++] = (rst_span){p, behind};
            p = behind;
        }
    }
}

char *rst_shape_lift(const char *text, const char *end, const char *until, rst_parameters *values) {
    const char *copied = text;
    rst_shape shape;
    sqlite3_str *out = sqlite3_str_new(NULL);
    bool fits = true;
    rst_shape_of(text, end, &shape);
    for (size_t i = 0; i < shape.size && fits; i++)
        fits = strchr("?:@$#", shape.bytes[i]) == NULL; /* not even in a name: it is for the usual texts */
    for (int i = 0; shape.size > 0 && i < shape.count && fits && shape.values[i].start < until; i++) {
        if (is_behind(text, shape.values[i].start, "like")) continue; /* SQLite plans by it */
        sqlite3_str_append(out, copied, (int)(shape.values[i].start - copied));
        copied = shape.values[i].end;
        fits = rst_parameters_add(values, shape.values[i].start, copied) == SQLITE_OK;
        sqlite3_str_appendf(out, "?%d", values->highest);
    }
    sqlite3_str_append(out, copied, (int)(end - copied));
    if (fits && values->highest > 0) return sqlite3_str_finish(out);
    sqlite3_free(sqlite3_str_finish(out));
    return NULL;
}

/* What stands for the value in a text: a string's quotes stay. */
static rst_span inside(rst_span value) {
    return *value.start == '\'' ? (rst_span){value.start + 1, value.end - 1} : value;
}

char *rst_shape_mark(const char *text, const char *end, const rst_shape *shape) {
    const char *copied = text;
    sqlite3_str *out = sqlite3_str_new(NULL);
    for (int i = 0; i < shape->count; i++) {
        const rst_span value = inside(shape->values[i]);
        sqlite3_str_append(out, copied, (int)(value.start - copied));
        sqlite3_str_appendf(out, "%s%03d", value.start == shape->values[i].start ? integer_mark : string_mark, i);
        copied = value.end;
    }
    sqlite3_str_append(out, copied, (int)(end - copied));
    return sqlite3_str_finish(out);
}

/* The number of the mark at p; -1: none is there. *size: its bytes. */
static int mark_at(const char *p, size_t *size) {
    *size = 3;
    if (strncmp(p, integer_mark, sizeof integer_mark - 1) == 0)
        *size += sizeof integer_mark - 1;
    else if (strncmp(p, string_mark, sizeof string_mark - 1) == 0)
        *size += sizeof string_mark - 1;
    else
        return -1;
    p += *size - 3;
    for (int i = 0; i < 3; i++)
        if (p[i] < '0' || p[i] > '9') return -1;
    return (p[0] - '0') * 100 + (p[1] - '0') * 10 + (p[2] - '0');
}

char *rst_shape_pattern(const char *made, const rst_shape *shape) {
    bool found[SHAPE_VALUES] = {false}, all = true;
    sqlite3_str *out = sqlite3_str_new(NULL);
    while (*made != '\0' && all) {
        size_t size;
        const int number = mark_at(made, &size);
        all = number < shape->count && *made != HOLE;
        if (number < 0) {
            sqlite3_str_append(out, made++, 1);
        } else if (all) {
            const char hole[2] = {HOLE, (char)(number + 1)};
            sqlite3_str_append(out, hole, 2);
            found[number] = true;
            made += size;
        }
    }
    for (int i = 0; i < shape->count; i++) all = all && found[i];
    if (all) return sqlite3_str_finish(out);
    sqlite3_free(sqlite3_str_finish(out));
    return NULL;
}

static rst_span value_of(const char *hole, const rst_shape *shape) {
    return inside(shape->values[(unsigned char)hole[1] - 1]);
}

bool rst_shape_is_plain(const rst_shape *shape) {
    for (int i = 0; i < shape->count; i++) {
        const rst_span value = shape->values[i];
        if (*value.start != '\'') continue; /* a number */
        for (const char *p = value.start + 1; p < value.end - 1; p++)
            if (*p == '\'' || *p == '"') return false;
    }
    return true;
}

char *rst_shape_fill(const char *pattern, const rst_shape *shape) {
    const char *p, *hole;
    size_t size = strlen(pattern) + 1;
    char *made, *out;
    for (p = pattern; (hole = strchr(p, HOLE)) != NULL; p = hole + 2) {
        const rst_span value = value_of(hole, shape);
        size += (size_t)(value.end - value.start);
    }
    out = made = sqlite3_malloc64(size);
    if (made == NULL) return NULL;
    for (p = pattern; (hole = strchr(p, HOLE)) != NULL; p = hole + 2) {
        const rst_span value = value_of(hole, shape);
        memcpy(out, p, (size_t)(hole - p));
        out += hole - p;
        memcpy(out, value.start, (size_t)(value.end - value.start));
        out += value.end - value.start;
    }
    memcpy(out, p, strlen(p) + 1);
    return made;
}
