/*
** hints.h - what the files behind expressions.h share: the functions that hint (expressions.c), the indexed expressions
** and their texts (expression_texts.c), and where a hint is written (expression_hints.c).
*/
#ifndef ROOTSTOCK_HINTS_H
#define ROOTSTOCK_HINTS_H

#include "catalog/expression_texts.h"
#include "rewriter/transform.h"

/* Registers a hint's function, once: SQLite refuses to do it again while statements run. */
int rst_hint_register(rst_connection *c, const char *name);
/* The name that a kind of comparison has in it: 0 equal, 1 above, 2 from, 3 below, 4 up to. */
const char *rst_hint_name(int kind);

/* Words that may follow a table's name in FROM and are no alias of it; ends with a null. */
extern const char *const rst_words_behind_table[];

/* What an indexed expression is compared with. */
typedef struct rst_operand {
    const char *start, *stop;
    bool variable; /* a parameter */
    bool called;   /* a call of one of SQLite's functions, which gives the same each time */
} rst_operand;
/* The name by which the table is known in the statement, if it stands there as one item of FROM only; else of type
** TOKEN_END. expression_orders.c. */
void rst_only_alias(const char *text, const char *end, const rst_table *table, rst_token *alias);
/* The end of the term of ORDER BY or GROUP BY that begins at `from`, if it is the expression, of the table that is
** known as *alias in the SELECT whose list begins at `select`; or null. The term may be the number or, where `names`
** is, the name of a result that is the expression. */
const char *rst_order_term(const rst_indexed *e, const char *text, const char *end, const char *select,
                           const char *from, bool names, rst_token *alias);
/* Whether terms may be written otherwise at all. Beside min() and max() a group's other columns are those of another
** row than its first; and windows have orders of their own. */
bool rst_orders_possible(const char *text, const char *end);
/* Frees *sql and sets it to null, unless it compiles on the connection. */
void rst_keep_if_it_compiles(rst_connection *c, char **sql);
/* How often SQLite would sort for the statement; INT_MAX where it does not compile. */
int rst_sorts(rst_connection *c, const char *sql);
/* A literal or a parameter, perhaps signed, a call whose arguments are such, or what operators make of these. Moves *p
** behind it. */
bool rst_read_operand(const char **p, const char *end, rst_operand *out);
/* Whether a function of that name may be called in an operand. */
bool rst_is_operand_call(const char *name);
/* That, with columns of tables of the store, qualified, in its calls; or such a column whose collation is BINARY:
** table.column in the statement [text, end). expression_operands.c. */
bool rst_read_side(rst_connection *c, const char *text, const char *end, const char **p, rst_operand *out);
/* The operands of a list in parentheses, at most `room`, or 0 where something else stands in it. Moves *p behind it. */
int rst_read_list(const char **p, const char *end, rst_operand *out, int room);
/* The items of one FROM, and the target of an UPDATE before them. expression_scope.c. */
enum { SCOPE_ITEMS = 64 };
typedef struct rst_scope_item {
    const rst_syntax *node; /* SYNTAX_TABLE, SYNTAX_SOURCE, SYNTAX_JOINED or SYNTAX_TARGET */
    const rst_syntax *join; /* the SYNTAX_JOIN before it, or null */
    const rst_table *table; /* null: a view, a subquery, a WITH, a table that is not the store's */
    rst_token name;         /* that qualifies its columns; TOKEN_END: none does */
    const char *start;
    const char *behind; /* the table's name, where nothing but an alias follows: no arguments, no index hint; or null */
    bool left;          /* the right side of a LEFT JOIN */
} rst_scope_item;
typedef struct rst_scope {
    rst_scope_item items[SCOPE_ITEMS];
    int count;
    bool merged; /* columns of several items are one: NATURAL, USING */
    bool nested; /* an item is a join in parentheses: what it has is unclear */
} rst_scope;
/* Reads the items of a SYNTAX_FROM, and the SYNTAX_TARGET before them; either may be null, not both. False: there are
** too many. */
bool rst_scope_of(rst_connection *c, const rst_syntax_tree *tree, const rst_syntax *target, const rst_syntax *from,
                  rst_scope *out);
/* Whether the words of a SYNTAX_JOIN have this one (upper case). */
bool rst_join_has(const rst_syntax *join, const char *word);
/* Reads the items at `from`, behind FROM, and the one at `target`, behind UPDATE; either may be null, not both. False:
** unclear. */
bool rst_scope_read(rst_connection *c, const char *text, const char *end, const char *target, const char *from,
                    rst_scope *out);
/* The one item of that name, or that is the table; or null. */
const rst_scope_item *rst_scope_named(const rst_scope *scope, const rst_token *name);
const rst_scope_item *rst_scope_table(const rst_scope *scope, const rst_table *table);
/* A statement, in which names are looked for. */
typedef struct rst_where {
    rst_connection *c;
    const char *text, *end;
    bool merged; /* NATURAL or USING stands somewhere */
} rst_where;
/* Where a comparison stands: the clauses whose names it can use. */
typedef struct rst_place {
    const char *from, *target; /* behind FROM, behind UPDATE; or null */
    const char *on;            /* the ON of a LEFT JOIN that it is in, or null */
} rst_place;
/* What a hint is told of the row by. */
typedef struct rst_hint_row {
    rst_token qualifier; /* TOKEN_END: none */
    int column;          /* of the expression's table; -1: the hidden one */
} rst_hint_row;
/* expression_places.c. Whether the expression, qualified so, can be the table's, and what stands for its row. */
bool rst_place_row(const rst_where *where, const rst_indexed *e, const rst_place *at, const rst_token *qualifier,
                   rst_hint_row *out);
/* Whether the name at `name` can be a column's, where the FROM is not of this table alone: GROUP BY takes that before a
** result's name. */
bool rst_place_column(const rst_where *where, const rst_place *at, const rst_table *table, const char *name);
/* The ON that ends at `on`, if it is a LEFT JOIN's or one of which that is not known; or null. */
const char *rst_place_left(const rst_where *where, const rst_place *at, const char *on);
/* The kind of a comparison's mark, its sides exchanged if turned; or -1. */
int rst_hint_kind(const rst_token *token, bool turned);
/* What may stand behind a comparison that is whole. */
bool rst_comparison_ends(const char *p, const char *end);

#endif
