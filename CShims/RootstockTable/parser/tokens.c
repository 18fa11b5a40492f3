/*
** tokens.c - SQL text as tokens. Invariant: every token lies in [position, end) and is at least one byte, so loops end.
*/
#include "parser/tokens.h"

#include "common/allocation.h"

#include <string.h>

enum { SPACE = 1, DIGIT = 2, NAME = 4, PAIRED = 8 };

/* What a byte may be part of: a blank, a number, a name, an operator of two bytes or more. */
#define S SPACE
#define D (DIGIT | NAME)
#define N NAME
#define P PAIRED
#define N16 N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N
static const unsigned char classes[256] = {
    0,   0,   0,   0,   0,   0,   0,   0,  0, S, S, S, S, S, 0, 0, /* 0 to 15 */
    0,   0,   0,   0,   0,   0,   0,   0,  0, 0, 0, 0, 0, 0, 0, 0, /* 16 to 31 */
    S,   P,   0,   0,   N,   0,   0,   0,  0, 0, 0, 0, 0, P, 0, 0, /*  !"#$%&'()*+,-./ */
    D,   D,   D,   D,   D,   D,   D,   D,  D, D, 0, 0, P, P, P, 0, /* 0123456789:;<=>? */
    0,   N,   N,   N,   N,   N,   N,   N,  N, N, N, N, N, N, N, N, /* @ABCDEFGHIJKLMNO */
    N,   N,   N,   N,   N,   N,   N,   N,  N, N, N, 0, 0, 0, 0, N, /* PQRSTUVWXYZ[\]^_ */
    0,   N,   N,   N,   N,   N,   N,   N,  N, N, N, N, N, N, N, N, /* `abcdefghijklmno */
    N,   N,   N,   N,   N,   N,   N,   N,  N, N, N, 0, P, 0, 0, 0, /* pqrstuvwxyz{|}~ */
    N16, N16, N16, N16, N16, N16, N16, N16};
#undef S
#undef D
#undef N
#undef P
#undef N16

static bool is_space(unsigned char c) {
    return (classes[c] & SPACE) != 0;
}
static bool is_digit(unsigned char c) {
    return (classes[c] & DIGIT) != 0;
}
static bool is_name(unsigned char c) {
    return (classes[c] & NAME) != 0;
}

static const char *skip_blank(const char *p, const char *end) {
    while (p < end) {
        if (is_space((unsigned char)*p)) {
            p++;
        } else if (end - p >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0) {
            p += 3; /* to SQLite a byte order mark is blank where a token could begin */
        } else if (*p == '-' && p + 1 < end && p[1] == '-') {
            while (p < end && *p != '\n') p++;
        } else if (*p == '/' && p + 1 < end && p[1] == '*') {
            p += 2;
            while (p < end && !(*p == '*' && p + 1 < end && p[1] == '/')) p++;
            p = p < end ? p + 2 : end;
        } else {
            break;
        }
    }
    return p;
}

/* Behind the closing quote, or null. */
static const char *quoted(const char *p, const char *end, char quote) {
    for (p++; p < end; p++) {
        if (*p == quote) {
            if (quote != ']' && p + 1 < end && p[1] == quote)
                p++;
            else
                return p + 1;
        }
    }
    return NULL;
}

static const char *number(const char *p, const char *end) {
    if (*p == '0' && p + 1 < end && (p[1] == 'x' || p[1] == 'X')) {
        p += 2;
        while (p < end && is_name((unsigned char)*p)) p++;
        return p;
    }
    while (p < end && is_digit((unsigned char)*p)) p++;
    if (p < end && *p == '.') {
        p++;
        while (p < end && is_digit((unsigned char)*p)) p++;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        const char *q = p + 1;
        if (q < end && (*q == '+' || *q == '-')) q++;
        if (q < end && is_digit((unsigned char)*q)) {
            while (q < end && is_digit((unsigned char)*q)) q++;
            p = q;
        }
    }
    while (p < end && is_name((unsigned char)*p)) p++; /* illegal, but one token */
    return p;
}

rst_token rst_token_next(const char **position, const char *end) {
    static const char *const pairs[] = {"->", "<<", ">>", "<=", ">=", "<>", "!=", "==", "||"};
    const char *start = skip_blank(*position, end);
    const char *p = start;
    rst_token token = {TOKEN_PUNCTUATION, start, 1};
    if (start >= end || *start == '\0') {
        token.type = TOKEN_END;
        token.size = 0;
        *position = start < end ? start : end;
        return token;
    }
    switch (*start) {
    case '\'':
    case '"':
    case '`':
    case '[':
        p = quoted(start, end, *start == '[' ? ']' : *start);
        token.type = p == NULL ? TOKEN_ILLEGAL : *start == '\'' ? TOKEN_STRING : TOKEN_NAME;
        if (p == NULL) p = end;
        break;
    case '?':
        for (p = start + 1; p < end && is_digit((unsigned char)*p); p++) {
        }
        token.type = TOKEN_VARIABLE;
        break;
    case ':':
    case '@':
    case '#':
    case '$':
        for (p = start + 1; p < end; p++) {
            if (is_name((unsigned char)*p)) continue;
            if (*p == ':' && p + 1 < end && p[1] == ':') {
                p++;
                continue;
            }
            if (*p == '(' && p > start + 1) {
                const char *q = p + 1;
                while (q < end && *q != ')' && !is_space((unsigned char)*q)) q++;
                if (q < end && *q == ')') p = q + 1;
            }
            break;
        }
        token.type = p > start + 1 ? TOKEN_VARIABLE : TOKEN_ILLEGAL;
        break;
    default:
        if (is_digit((unsigned char)*start) ||
            (*start == '.' && start + 1 < end && is_digit((unsigned char)start[1]))) {
            p = number(start, end);
            token.type = TOKEN_NUMBER;
        } else if ((*start == 'x' || *start == 'X') && start + 1 < end && start[1] == '\'') {
            p = quoted(start + 1, end, '\'');
            token.type = p == NULL ? TOKEN_ILLEGAL : TOKEN_BLOB;
            if (p == NULL) p = end;
        } else if (is_name((unsigned char)*start)) {
            while (p < end && is_name((unsigned char)*p)) p++;
            token.type = TOKEN_WORD;
        } else {
            p = start + 1;
            if ((classes[(unsigned char)*start] & PAIRED) == 0) break;
            for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
                if (end - start >= 2 && memcmp(start, pairs[i], 2) == 0) p = start + 2;
            }
            if (end - start >= 3 && memcmp(start, "->>", 3) == 0) p = start + 3;
        }
    }
    token.size = (size_t)(p - start);
    *position = p;
    return token;
}

static bool may_have_comment(const char *text, const char *end) {
    for (const char *p = text; (p = memchr(p, '-', (size_t)(end - p))) != NULL; p++) {
        if (end - p >= 2 && p[1] == '-') return true;
    }
    for (const char *p = text; (p = memchr(p, '/', (size_t)(end - p))) != NULL; p++) {
        if (end - p >= 2 && p[1] == '*') return true;
    }
    return false;
}

const char *rst_token_last_end(const char *text, const char *end) {
    const char *p = text, *last = text;
    while (end > text && (end[-1] == ';' || is_space((unsigned char)end[-1]))) end--;
    if (!may_have_comment(text, end)) return end;
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) return last;
        if (!rst_token_mark(&token, ";")) last = p;
    }
}

bool rst_token_spells(const rst_token *token, const char *word) {
    for (size_t i = 0; i < token->size; i++) {
        char c = token->text[i];
        if ((c >= 'a' && c <= 'z' ? c - 32 : c) != word[i]) return false;
    }
    return true;
}

char *rst_token_name(const rst_token *token) {
    char *name = sqlite3_malloc64(token->size + 1);
    size_t size = 0;
    if (name == NULL) return NULL;
    if (token->type == TOKEN_WORD) {
        memcpy(name, token->text, token->size);
        size = token->size;
    } else if (token->size >= 2) {
        char quote = token->text[0] == '[' ? ']' : token->text[0];
        for (size_t i = 1; i + 1 < token->size; i++) {
            if (token->text[i] == quote && quote != ']') i++;
            name[size++] = token->text[i];
        }
    }
    name[size] = '\0';
    return name;
}

bool rst_token_same_name(const rst_token *token, const char *name) {
    char *text;
    bool same;
    if (!rst_token_names(token)) return false;
    if (token->type == TOKEN_WORD) {
        return strlen(name) == token->size && sqlite3_strnicmp(token->text, name, (int)token->size) == 0;
    }
    text = rst_token_name(token);
    same = text != NULL && sqlite3_stricmp(text, name) == 0;
    sqlite3_free(text);
    return same;
}

bool rst_token_alike(const rst_token *a, const rst_token *b) {
    char *name;
    bool same;
    if (a->type == TOKEN_WORD && b->type == TOKEN_WORD)
        return a->size == b->size && sqlite3_strnicmp(a->text, b->text, (int)a->size) == 0;
    name = rst_token_names(a) ? rst_token_name(a) : NULL;
    same = name != NULL && rst_token_same_name(b, name);
    sqlite3_free(name);
    return same;
}

const char *const rst_rowid_words[ROWID_WORDS] = {"rowid", "oid", "_rowid_"};

bool rst_token_is_rowid(const rst_token *token) {
    for (int i = 0; i < ROWID_WORDS; i++) {
        if (rst_token_same_name(token, rst_rowid_words[i])) return true;
    }
    return false;
}

bool rst_token_is_row(const rst_token *token) {
    return rst_token_same_name(token, "NEW") || rst_token_same_name(token, "OLD");
}

rst_token rst_token_object(const char **position, const char *end, rst_token *schema) {
    rst_token name = rst_token_next(position, end), dot;
    const char *behind = *position;
    *schema = (rst_token){TOKEN_END, name.text, 0};
    dot = rst_token_next(&behind, end);
    if (rst_token_mark(&dot, ".")) {
        *schema = name;
        name = rst_token_next(&behind, end);
        *position = behind;
    }
    return name;
}

bool rst_token_skip_parentheses(const char **position, const char *end) {
    int depth = 1;
    while (depth > 0) {
        rst_token token = rst_token_next(position, end);
        if (token.type == TOKEN_END) return false;
        if (rst_token_mark(&token, "(")) depth++;
        if (rst_token_mark(&token, ")")) depth--;
    }
    return true;
}

bool rst_token_seek(const char **position, const char *end, const char *word) {
    rst_token token;
    do token = rst_token_next(position, end);
    while (token.type != TOKEN_END && !rst_token_is(&token, word) && !rst_token_mark(&token, word));
    return token.type != TOKEN_END;
}

bool rst_text_mentions(const char *text, const char *end, const char *word) {
    const int size = (int)strlen(word);
    for (const char *p = text; end - p >= size; p++) {
        if ((*p | 0x20) == *word && sqlite3_strnicmp(p, word, size) == 0) return true;
    }
    return false;
}
