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

/* By their first letters. Words that stand for names where nothing else can be meant are not among them. */
enum { MOST_OF_A_LETTER = 9 };
typedef struct keyword {
    char word[LONGEST_WORD + 1];
    unsigned char size; /* 0: behind the letter's last one */
    rst_word is;
} keyword;
#define LETTER(letter) ((letter) - 'a')
#define RESERVED(word)                                                                                                 \
    { word, sizeof word - 1, WORD_RESERVED }
#define JOINS(word)                                                                                                    \
    { word, sizeof word - 1, WORD_JOINS }
static const keyword keywords[LETTER('z') + 1][MOST_OF_A_LETTER] = {
    [LETTER('a')] = {RESERVED("ADD"), RESERVED("ALL"), RESERVED("ALTER"), RESERVED("AND"), RESERVED("AS"),
                     RESERVED("AUTOINCREMENT")},
    [LETTER('b')] = {RESERVED("BETWEEN")},
    [LETTER('c')] = {RESERVED("CASE"), RESERVED("CHECK"), RESERVED("COLLATE"), RESERVED("COMMIT"),
                     RESERVED("CONSTRAINT"), RESERVED("CREATE"), JOINS("CROSS")},
    [LETTER('d')] = {RESERVED("DEFAULT"), RESERVED("DEFERRABLE"), RESERVED("DELETE"), RESERVED("DISTINCT"),
                     RESERVED("DROP")},
    [LETTER('e')] = {RESERVED("ELSE"), RESERVED("ESCAPE"), RESERVED("EXCEPT"), RESERVED("EXISTS")},
    [LETTER('f')] = {RESERVED("FOREIGN"), RESERVED("FROM"), JOINS("FULL")},
    [LETTER('g')] = {RESERVED("GROUP")},
    [LETTER('h')] = {RESERVED("HAVING")},
    [LETTER('i')] = {RESERVED("IN"), RESERVED("INDEX"), JOINS("INNER"), RESERVED("INSERT"), RESERVED("INTERSECT"),
                     RESERVED("INTO"), RESERVED("IS"), RESERVED("ISNULL")},
    [LETTER('j')] = {RESERVED("JOIN")},
    [LETTER('l')] = {JOINS("LEFT"), RESERVED("LIMIT")},
    [LETTER('n')] = {JOINS("NATURAL"), RESERVED("NOT"), RESERVED("NOTHING"), RESERVED("NOTNULL"), RESERVED("NULL")},
    [LETTER('o')] = {RESERVED("ON"), RESERVED("OR"), RESERVED("ORDER"), JOINS("OUTER")},
    [LETTER('p')] = {RESERVED("PRIMARY")},
    [LETTER('r')] = {RESERVED("REFERENCES"), RESERVED("RETURNING"), JOINS("RIGHT")},
    [LETTER('s')] = {RESERVED("SELECT"), RESERVED("SET")},
    [LETTER('t')] = {RESERVED("TABLE"), RESERVED("THEN"), RESERVED("TO"), RESERVED("TRANSACTION")},
    [LETTER('u')] = {RESERVED("UNION"), RESERVED("UNIQUE"), RESERVED("UPDATE"), RESERVED("USING")},
    [LETTER('v')] = {RESERVED("VALUES")},
    [LETTER('w')] = {RESERVED("WHEN"), RESERVED("WHERE")},
};

static rst_word word_of(const rst_token *token) {
    const unsigned int letter = (unsigned int)LETTER(token->text[0] | 0x20);
    if (letter > LETTER('z')) return WORD_OTHER;
    for (const keyword *k = keywords[letter]; k->size != 0; k++) {
        if (k->size == token->size && rst_token_spells(token, k->word)) return k->is;
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

void rst_syntax_named(rst_syntax_parser *p, rst_syntax *parent, bool strings) {
    if (!rst_syntax_names(p, strings)) rst_syntax_fail(p);
    rst_syntax_append(p, parent, rst_syntax_leaf(p, SYNTAX_NAME));
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

bool rst_syntax_has(const rst_syntax *node, rst_syntax_kind kind) {
    if (node->kind == kind) return true;
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        if (rst_syntax_has(child, kind)) return true;
    }
    return false;
}

rst_token rst_syntax_token(const rst_syntax *node, int number) {
    const char *p = node->start;
    rst_token token = rst_token_next(&p, node->end);
    while (number-- > 0) token = rst_token_next(&p, node->end);
    return token;
}

rst_token rst_syntax_operator(const rst_syntax *node) {
    const char *p = node->first->end;
    return rst_token_next(&p, node->end);
}

const rst_syntax *rst_syntax_matched_call(const rst_syntax *node) {
    if (node->kind == SYNTAX_LIKE && node->first->next->kind == SYNTAX_CALL) {
        const rst_token word = rst_syntax_operator(node);
        if (rst_token_is(&word, "MATCH")) return node->first->next;
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        const rst_syntax *found = rst_syntax_matched_call(child);
        if (found != NULL) return found;
    }
    return NULL;
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
