/*
** syntax_tree.c - the nodes of a syntax tree and where they live; the token that the parser reads.
**
** Invariant: a tree is no higher than HIGHEST and was parsed no deeper than DEEPEST, whatever the text: SQLite's parser
** takes 100 levels of its stack, and an expression 1000.
*/
#include "parser/syntax_part.h"

#include "common/allocation.h"

enum { DEEPEST = 400, HIGHEST = 3000, LONGEST_WORD = 13 };

struct rst_syntax_block {
    rst_syntax_block *next;
    rst_syntax nodes[];
};

/* In the order of their letters. Words that stand for names where nothing else can be meant are not among them. */
static const struct {
    char word[LONGEST_WORD + 1];
    rst_word is;
} words[] = {{"ADD", WORD_RESERVED},         {"ALL", WORD_RESERVED},        {"ALTER", WORD_RESERVED},
             {"AND", WORD_RESERVED},         {"AS", WORD_RESERVED},         {"AUTOINCREMENT", WORD_RESERVED},
             {"BETWEEN", WORD_RESERVED},     {"CASE", WORD_RESERVED},       {"CHECK", WORD_RESERVED},
             {"COLLATE", WORD_RESERVED},     {"COMMIT", WORD_RESERVED},     {"CONSTRAINT", WORD_RESERVED},
             {"CREATE", WORD_RESERVED},      {"CROSS", WORD_JOINS},         {"DEFAULT", WORD_RESERVED},
             {"DEFERRABLE", WORD_RESERVED},  {"DELETE", WORD_RESERVED},     {"DISTINCT", WORD_RESERVED},
             {"DROP", WORD_RESERVED},        {"ELSE", WORD_RESERVED},       {"ESCAPE", WORD_RESERVED},
             {"EXCEPT", WORD_RESERVED},      {"EXISTS", WORD_RESERVED},     {"FOREIGN", WORD_RESERVED},
             {"FROM", WORD_RESERVED},        {"FULL", WORD_JOINS},          {"GROUP", WORD_RESERVED},
             {"HAVING", WORD_RESERVED},      {"IN", WORD_RESERVED},         {"INDEX", WORD_RESERVED},
             {"INNER", WORD_JOINS},          {"INSERT", WORD_RESERVED},     {"INTERSECT", WORD_RESERVED},
             {"INTO", WORD_RESERVED},        {"IS", WORD_RESERVED},         {"ISNULL", WORD_RESERVED},
             {"JOIN", WORD_RESERVED},        {"LEFT", WORD_JOINS},          {"LIMIT", WORD_RESERVED},
             {"NATURAL", WORD_JOINS},        {"NOT", WORD_RESERVED},        {"NOTHING", WORD_RESERVED},
             {"NOTNULL", WORD_RESERVED},     {"NULL", WORD_RESERVED},       {"ON", WORD_RESERVED},
             {"OR", WORD_RESERVED},          {"ORDER", WORD_RESERVED},      {"OUTER", WORD_JOINS},
             {"PRIMARY", WORD_RESERVED},     {"REFERENCES", WORD_RESERVED}, {"RETURNING", WORD_RESERVED},
             {"RIGHT", WORD_JOINS},          {"SELECT", WORD_RESERVED},     {"SET", WORD_RESERVED},
             {"TABLE", WORD_RESERVED},       {"THEN", WORD_RESERVED},       {"TO", WORD_RESERVED},
             {"TRANSACTION", WORD_RESERVED}, {"UNION", WORD_RESERVED},      {"UNIQUE", WORD_RESERVED},
             {"UPDATE", WORD_RESERVED},      {"USING", WORD_RESERVED},      {"VALUES", WORD_RESERVED},
             {"WHEN", WORD_RESERVED},        {"WHERE", WORD_RESERVED}};

static rst_word word_of(const rst_token *token) {
    int low = 0, high = (int)(sizeof words / sizeof words[0]);
    if (token->size > LONGEST_WORD || token->size < 2) return WORD_OTHER;
    while (low < high) {
        int middle = (low + high) / 2;
        int order = (token->text[0] & ~0x20) - words[middle].word[0]; /* most differ there */
        if (order == 0) order = sqlite3_strnicmp(token->text, words[middle].word, (int)token->size);
        if (order == 0 && words[middle].word[token->size] != '\0') order = -1;
        if (order == 0) return words[middle].is;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return WORD_OTHER;
}

bool rst_syntax_is_reserved(const rst_token *token) {
    return token->type == TOKEN_WORD && word_of(token) == WORD_RESERVED;
}

void rst_syntax_advance(rst_syntax_parser *p) {
    if (p->failed) return;
    p->last_end = p->token.text + p->token.size;
    p->token = rst_token_next(&p->behind, p->end);
    p->word = p->token.type == TOKEN_WORD ? word_of(&p->token) : WORD_OTHER;
}

void rst_syntax_fail(rst_syntax_parser *p) {
    if (p->failed) return;
    p->failed = true;
    p->tree->stopped = p->token.text;
    p->token.type = TOKEN_END;
    p->token.size = 0;
    p->word = WORD_OTHER;
}

rst_token rst_syntax_ahead(const rst_syntax_parser *p) {
    const char *behind = p->behind;
    return rst_token_next(&behind, p->end);
}

bool rst_syntax_take(rst_syntax_parser *p, const char *word) {
    if (!syntax_is(p, word)) return false;
    rst_syntax_advance(p);
    return true;
}

bool rst_syntax_take_mark(rst_syntax_parser *p, char mark) {
    if (!syntax_mark(p, mark)) return false;
    rst_syntax_advance(p);
    return true;
}

void rst_syntax_expect(rst_syntax_parser *p, const char *word) {
    if (!rst_syntax_take(p, word)) rst_syntax_fail(p);
}

void rst_syntax_expect_mark(rst_syntax_parser *p, char mark) {
    if (!rst_syntax_take_mark(p, mark)) rst_syntax_fail(p);
}

bool rst_syntax_names(const rst_syntax_parser *p, bool strings) {
    return p->token.type == TOKEN_NAME || (p->token.type == TOKEN_WORD && p->word != WORD_RESERVED) ||
           (strings && p->token.type == TOKEN_STRING);
}

static rst_syntax *allocate(rst_syntax_parser *p) {
    enum { NODES = 200 };
    rst_syntax_tree *tree = p->tree;
    if (p->failed) return &p->scrap;
    if (tree->left == 0) {
        rst_syntax_block *block = sqlite3_malloc64(sizeof *block + NODES * sizeof block->nodes[0]);
        if (block == NULL) {
            p->no_memory = true;
            rst_syntax_fail(p);
            return &p->scrap;
        }
        block->next = tree->blocks;
        tree->blocks = block;
        tree->free = block->nodes;
        tree->left = NODES;
    }
    tree->left--;
    return tree->free++;
}

rst_syntax *rst_syntax_open(rst_syntax_parser *p, rst_syntax_kind kind) {
    rst_syntax *node = allocate(p);
    *node = (rst_syntax){.kind = kind, .height = 1, .start = p->token.text, .end = p->token.text};
    return node;
}

rst_syntax *rst_syntax_close(rst_syntax_parser *p, rst_syntax *node) {
    node->end = p->last_end;
    return node;
}

void rst_syntax_append(rst_syntax_parser *p, rst_syntax *parent, rst_syntax *child) {
    if (p->failed) return;
    if (parent->last == NULL)
        parent->first = child;
    else
        parent->last->next = child;
    parent->last = child;
    if (child->height >= parent->height) parent->height = child->height + 1;
    if (parent->height > HIGHEST) rst_syntax_fail(p);
}

rst_syntax *rst_syntax_leaf(rst_syntax_parser *p, rst_syntax_kind kind) {
    rst_syntax *node = rst_syntax_open(p, kind);
    rst_syntax_advance(p);
    return rst_syntax_close(p, node);
}

bool rst_syntax_enter(rst_syntax_parser *p) {
    if (p->depth >= DEEPEST) rst_syntax_fail(p);
    if (p->failed) return false;
    p->depth++;
    return true;
}

const rst_syntax *rst_syntax_child(const rst_syntax *node, rst_syntax_kind kind) {
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        if (child->kind == kind) return child;
    }
    return NULL;
}

rst_token rst_syntax_operator(const rst_syntax *node) {
    const char *p = node->first->end;
    return rst_token_next(&p, node->end);
}

const rst_syntax *rst_syntax_unwrap(const rst_syntax *node) {
    while (node->kind == SYNTAX_PARENTHESES) node = node->first;
    return node;
}

rst_token rst_syntax_name(const rst_syntax *name, rst_token *qualifier) {
    const char *p = name->start;
    rst_token last = rst_token_next(&p, name->end);
    qualifier->type = TOKEN_END;
    while (p < name->end) {
        *qualifier = last;
        (void)rst_token_next(&p, name->end); /* the dot */
        last = rst_token_next(&p, name->end);
    }
    return last;
}

static bool defines(const rst_syntax *node, const rst_token *name) {
    if (node->kind == SYNTAX_COMMON_TABLE) {
        const char *p = node->first->start;
        rst_token own = rst_token_next(&p, node->first->end);
        if (rst_token_alike(&own, name)) return true;
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        if (defines(child, name)) return true;
    }
    return false;
}

bool rst_syntax_defines(const rst_syntax_tree *tree, const rst_token *name) {
    return tree->with && defines(tree->root, name);
}

void rst_syntax_free(rst_syntax_tree *tree) {
    while (tree->blocks != NULL) {
        rst_syntax_block *next = tree->blocks->next;
        sqlite3_free(tree->blocks);
        tree->blocks = next;
    }
    tree->root = NULL;
}
