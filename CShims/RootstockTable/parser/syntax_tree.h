/*
** syntax_tree.h - the syntax tree of a SELECT, INSERT, UPDATE, DELETE or CREATE, by SQLite 3.40's grammar. Pure text.
**
** A node knows its kind and its span of the source; its children stand in the order of the text, inside of it. What
** stands between them (words, commas, operators) is in no node: a reader that has to tell operators apart reads that
** gap by its tokens. The parser judges nothing: it takes every statement that SQLite takes, and many that SQLite
** refuses. Where it meets what it does not know, there is no tree, and a reader goes the way of a statement that it
** knows nothing of.
**
** Circle: syntax_expression.c syntax_select.c (an expression holds SELECTs, a SELECT expressions)
** Circle: syntax_change.c syntax_create.c (a CREATE is a statement, and a trigger's body holds statements)
*/
#ifndef ROOTSTOCK_PARSER_SYNTAX_TREE_H
#define ROOTSTOCK_PARSER_SYNTAX_TREE_H

#include "parser/tokens.h"

typedef enum rst_syntax_kind {
    /* Expressions */
    SYNTAX_LITERAL = 1, /* number, string, blob, NULL, CURRENT_TIME ... */
    SYNTAX_VARIABLE,
    SYNTAX_NAME,        /* of a column, qualified or not; of a table or schema.table; of anything else */
    SYNTAX_STAR,        /* *, t.* */
    SYNTAX_DISTINCT,    /* the word, in a SELECT or a call */
    SYNTAX_CALL,        /* SYNTAX_NAME, [SYNTAX_DISTINCT] arguments, [SYNTAX_FILTER] [SYNTAX_WINDOW] */
    SYNTAX_PARENTHESES, /* (expression) */
    SYNTAX_VECTOR,      /* (a, b), a row of VALUES, the list behind IN */
    SYNTAX_SUBQUERY,    /* (SELECT ...) as a value, or behind IN or EXISTS */
    SYNTAX_EXISTS,      /* SYNTAX_SUBQUERY */
    SYNTAX_CASE,
    SYNTAX_CAST, /* expression, SYNTAX_TYPE */
    SYNTAX_TYPE,
    SYNTAX_SIGN,    /* -x, +x, ~x */
    SYNTAX_NOT,     /* NOT x */
    SYNTAX_OR,      /* two operands or more */
    SYNTAX_AND,     /* two operands or more */
    SYNTAX_EQUAL,   /* = == <> != IS, IS NOT, IS [NOT] DISTINCT FROM */
    SYNTAX_COMPARE, /* < <= > >= */
    SYNTAX_LIKE,    /* [NOT] LIKE, GLOB, REGEXP, MATCH, with ESCAPE's operand third */
    SYNTAX_BETWEEN, /* [NOT] BETWEEN: three operands */
    SYNTAX_IN,      /* [NOT] IN: operand; SYNTAX_VECTOR, SYNTAX_SUBQUERY or SYNTAX_TABLE */
    SYNTAX_NULL,    /* ISNULL, NOTNULL, NOT NULL */
    SYNTAX_BINARY,  /* any other operator between two operands */
    SYNTAX_COLLATE, /* operand, SYNTAX_NAME */
    SYNTAX_FILTER,
    SYNTAX_WINDOW, /* (PARTITION BY ... ORDER BY ... frame), or the name of one */
    /* Parts of statements */
    SYNTAX_SELECT,  /* [SYNTAX_WITH] SYNTAX_CORE or SYNTAX_VALUES, several if compound, [SYNTAX_ORDER] [SYNTAX_LIMIT] */
    SYNTAX_CORE,    /* [SYNTAX_DISTINCT], results, [SYNTAX_FROM] [SYNTAX_WHERE] [SYNTAX_GROUP] and so on */
    SYNTAX_VALUES,  /* SYNTAX_VECTOR ... */
    SYNTAX_RESULT,  /* expression or SYNTAX_STAR, [SYNTAX_ALIAS] */
    SYNTAX_ALIAS,   /* [AS] SYNTAX_NAME */
    SYNTAX_FROM,    /* items, SYNTAX_JOIN between them */
    SYNTAX_JOIN,    /* the comma or the words between two items */
    SYNTAX_TABLE,   /* SYNTAX_NAME [SYNTAX_VECTOR] [SYNTAX_ALIAS] [SYNTAX_HINT] [SYNTAX_ON] [SYNTAX_COLUMNS] */
    SYNTAX_SOURCE,  /* (SELECT ...): SYNTAX_SELECT, [SYNTAX_ALIAS] [SYNTAX_ON] [SYNTAX_COLUMNS] */
    SYNTAX_JOINED,  /* (a JOIN b): SYNTAX_FROM, [SYNTAX_ALIAS] [SYNTAX_ON] [SYNTAX_COLUMNS] */
    SYNTAX_HINT,    /* INDEXED BY name, NOT INDEXED */
    SYNTAX_ON,      /* expression */
    SYNTAX_COLUMNS, /* (name, ...): of USING, of an INSERT, of a SET, of a WITH's table */
    SYNTAX_WHERE,   /* expression */
    SYNTAX_GROUP,   /* expressions */
    SYNTAX_HAVING,  /* expression */
    SYNTAX_WINDOWS, /* SYNTAX_NAME SYNTAX_WINDOW ... */
    SYNTAX_ORDER,   /* SYNTAX_TERM ... */
    SYNTAX_TERM,    /* expression; ASC, DESC, NULLS FIRST and so on stand behind it */
    SYNTAX_LIMIT,   /* one or two expressions */
    SYNTAX_WITH,    /* SYNTAX_COMMON_TABLE ... */
    SYNTAX_COMMON_TABLE, /* SYNTAX_NAME [SYNTAX_COLUMNS] SYNTAX_SELECT */
    SYNTAX_INSERT,       /* [SYNTAX_WITH] SYNTAX_TARGET [SYNTAX_COLUMNS] [SYNTAX_SELECT] upserts [SYNTAX_RETURNING] */
    SYNTAX_UPDATE, /* [SYNTAX_WITH] SYNTAX_TARGET SYNTAX_SET [SYNTAX_FROM] [SYNTAX_WHERE] ... [SYNTAX_RETURNING] ... */
    SYNTAX_DELETE, /* the same without SYNTAX_SET and SYNTAX_FROM */
    SYNTAX_TARGET, /* SYNTAX_NAME [SYNTAX_ALIAS] [SYNTAX_HINT] */
    SYNTAX_SET,    /* SYNTAX_ASSIGNMENT ... */
    SYNTAX_ASSIGNMENT, /* SYNTAX_NAME or SYNTAX_COLUMNS, expression */
    SYNTAX_UPSERT,     /* SYNTAX_TERM ... [SYNTAX_WHERE] [SYNTAX_SET [SYNTAX_WHERE]] */
    SYNTAX_RETURNING,  /* SYNTAX_RESULT ... */
    /* Of schemas. A constraint on NULL and COLLATE are SYNTAX_NULL and SYNTAX_COLLATE without an operand. */
    SYNTAX_CREATE_TABLE,   /* SYNTAX_NAME, SYNTAX_SELECT or SYNTAX_COLUMN ... and constraints */
    SYNTAX_CREATE_VIEW,    /* SYNTAX_NAME [SYNTAX_COLUMNS] SYNTAX_SELECT */
    SYNTAX_CREATE_INDEX,   /* SYNTAX_NAME, the table's, SYNTAX_TERM ... [SYNTAX_WHERE] */
    SYNTAX_CREATE_TRIGGER, /* SYNTAX_NAME [SYNTAX_COLUMNS], the table's, [SYNTAX_WHEN] SYNTAX_BODY */
    SYNTAX_COLUMN,         /* SYNTAX_NAME [SYNTAX_TYPE] constraints */
    SYNTAX_CONSTRAINT,     /* CONSTRAINT and a name, before another one or not */
    SYNTAX_KEY,            /* PRIMARY KEY or UNIQUE: SYNTAX_TERM ... if the table's, [SYNTAX_CONFLICT] */
    SYNTAX_CHECK,          /* expression [SYNTAX_CONFLICT] */
    SYNTAX_DEFAULT,        /* expression */
    SYNTAX_GENERATED,      /* expression */
    SYNTAX_FOREIGN,        /* SYNTAX_COLUMNS SYNTAX_REFERENCES */
    SYNTAX_REFERENCES,     /* SYNTAX_NAME [SYNTAX_COLUMNS] */
    SYNTAX_DEFERRABLE,     /* of the SYNTAX_REFERENCES or SYNTAX_FOREIGN before it */
    SYNTAX_CONFLICT,       /* ON CONFLICT: SYNTAX_NAME */
    SYNTAX_WHEN,           /* expression */
    SYNTAX_BODY            /* BEGIN, statements, END */
} rst_syntax_kind;

typedef struct rst_syntax {
    rst_syntax_kind kind;
    int height;              /* of the tree below: bounded, so that walks may recurse */
    const char *start, *end; /* its first token's, its last token's */
    struct rst_syntax *first, *last, *next;
} rst_syntax;

enum { SYNTAX_ROOM = 48 };

typedef struct rst_syntax_block rst_syntax_block;
typedef struct rst_syntax_tree {
    rst_syntax *root;    /* the statement; EXPLAIN and the semicolon stand outside of it */
    const char *stopped; /* where what is not known begins; null: nowhere */
    bool with;           /* a WITH stands somewhere */
    rst_syntax_block *blocks;
    rst_syntax *free; /* of the newest block, or of `own` */
    int left;
    rst_syntax own[SYNTAX_ROOM];
} rst_syntax_tree;

/* Parses the one statement in [text, end). SQLITE_OK: tree->root is it. SQLITE_ERROR: it is none that is known, and
** tree->stopped tells where. SQLITE_NOMEM. Release with rst_syntax_free whatever it came to. */
int rst_syntax_parse(rst_syntax_tree *tree, const char *text, const char *end);
void rst_syntax_free(rst_syntax_tree *tree);
/* A word that SQLite's grammar takes for no name. */
bool rst_syntax_is_reserved(const rst_token *token);
/* The same of an expression alone. */
int rst_syntax_parse_expression(rst_syntax_tree *tree, const char *text, const char *end);
/* The first child of that kind, or null. */
const rst_syntax *rst_syntax_child(const rst_syntax *node, rst_syntax_kind kind);
/* Whether it or a node below it is of that kind. */
bool rst_syntax_has(const rst_syntax *node, rst_syntax_kind kind);
/* A token of the node's text, by its number from 0. */
rst_token rst_syntax_token(const rst_syntax *node, int number);
/* The word or mark of an operation, behind its first operand; of NOT IN and IS NOT the first. */
rst_token rst_syntax_operator(const rst_syntax *node);
/* The f(...) of an x MATCH f(...) in the node; or null. */
const rst_syntax *rst_syntax_matched_call(const rst_syntax *node);
/* What stands inside of the parentheses around it, however many. */
const rst_syntax *rst_syntax_unwrap(const rst_syntax *node);
/* The last part of a SYNTAX_NAME, and the one before: TOKEN_END if there is none. */
rst_token rst_syntax_name(const rst_syntax *name, rst_token *qualifier);
/* Whether a WITH in the statement gives a table this name. */
bool rst_syntax_defines(const rst_syntax_tree *tree, const rst_token *name);

#endif
