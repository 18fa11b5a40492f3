/*
** hints.h - what the files behind expressions.h share. expressions.c has the functions that hint, expression_texts.c
** the indexed expressions and their texts. expression_hints.c says where a hint is written.
*/
#ifndef ROOTSTOCK_HINTS_H
#define ROOTSTOCK_HINTS_H

#include "catalog/expression_texts.h"
#include "rewriter/transform.h"

/* Registers a hint's function, once: SQLite refuses to do it again while statements run. */
int rst_hint_register(rst_connection *c, const char *name);
/* The name that a kind of comparison has in it: 0 equal, 1 above, 2 from, 3 below, 4 up to. */
const char *rst_hint_name(int kind);

/* Whether the term of ORDER BY or GROUP BY of the SELECT (its SYNTAX_CORE) is the expression, of the table that is
** known as *alias there. The term may be the number or, where `names` is, the name of a result that is the
** expression. expression_orders.c. */
bool rst_order_term(rst_connection *c, const rst_syntax_tree *tree, const rst_indexed *e, const rst_syntax *select,
                    const rst_syntax *term, bool names, rst_token *alias);
/* Frees *sql and sets it to null, unless it compiles on the connection. */
void rst_keep_if_it_compiles(rst_connection *c, char **sql);
/* The result of the SYNTAX_CORE that a term of ORDER BY or GROUP BY stands for: by its number or, where `names` is, its
** name. Null: none, or a number that a * stands before. expression_orders.c. */
const rst_syntax *rst_result_meant(const rst_syntax *core, const rst_syntax *term, bool names);
/* Whether nothing but a direction stands behind a SYNTAX_TERM's expression. *apart: its NULLs come at the other end
** than in an index. sort_hint.c. */
bool rst_term_is_plain(const rst_syntax *term, bool *descending, bool *apart);
/* How often SQLite would sort for the statement; INT_MAX where it does not compile. */
int rst_sorts(rst_connection *c, const char *sql);
/* The draft becomes what the edits make of it, where that compiles and SQLite sorts no more for it. SQLITE_OK or
** SQLITE_NOMEM. */
int rst_draft_write_sorted(rst_connection *c, rst_draft *draft, rst_edits *edits);
/* Whether a function of that name may be called in an operand. */
bool rst_is_operand_call(const char *name);
/* A literal or a parameter, perhaps signed, a call whose arguments are such, or what operators make of these.
** *called is set where there is a call. expression_operands.c. */
bool rst_is_operand(const rst_syntax *node, bool *called);
/* Appends the operand of the text once more: `?` as the number that it has. SQLITE_OK, SQLITE_NOMEM, or the error of a
** number that is out of range. */
int rst_operand_again(rst_connection *c, const char *text, const rst_syntax *operand, sqlite3_str *out);
/* That, with columns of tables of the store, qualified, in its calls; or such a column whose collation is BINARY. */
bool rst_is_side(rst_connection *c, const rst_syntax_tree *tree, const rst_syntax *node, bool *called);
/* The items of one FROM, and the target of an UPDATE before them. scope.c. */
enum { SCOPE_ITEMS = 64 };
typedef struct rst_scope_item {
    const rst_syntax *node; /* SYNTAX_TABLE, SYNTAX_SOURCE, SYNTAX_JOINED or SYNTAX_TARGET */
    const rst_syntax *join; /* the SYNTAX_JOIN before it, or null */
    const rst_table *table; /* null: a view, a subquery, a WITH, a table that is not the store's */
    rst_token name;         /* that qualifies its columns; TOKEN_END: none does */
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
/* Whether it is a RIGHT or FULL JOIN. Null is none. */
bool rst_join_is_right(const rst_syntax *join);
/* The one item of that name, or that is the table; or null. */
const rst_scope_item *rst_scope_named(const rst_scope *scope, const rst_token *name);
const rst_scope_item *rst_scope_table(const rst_scope *scope, const rst_table *table);
/* The one item of which the SYNTAX_NAME is a column; or null: it is none, or may be another's. */
const rst_scope_item *rst_scope_column(const rst_scope *scope, const rst_syntax *name, int *column);
/* Hands the table an argument that begins with ROOTSTOCK_ORDER_HINT, beside the one that it may have: a letter, `nulls`
** and names of columns. False: it cannot get one. sort_hint.c. */
bool rst_hand_order(rst_edits *edits, const rst_scope_item *item, char letter, const char *nulls, const char *names);
/* Where a comparison stands. */
typedef struct rst_place {
    const rst_syntax *select; /* whose FROM its names can mean: SYNTAX_CORE, SYNTAX_UPDATE or SYNTAX_DELETE */
    const rst_syntax *item;   /* of that FROM, in whose ON it is; or null */
} rst_place;
/* What a hint is told of the row by. */
typedef struct rst_hint_row {
    rst_token qualifier; /* TOKEN_END: none */
    int column;          /* of the expression's table; -1: the hidden one */
} rst_hint_row;
/* expression_places.c. Whether the expression, qualified so, can be the table's, and what stands for its row. */
bool rst_place_row(rst_connection *c, const rst_syntax_tree *tree, const rst_indexed *e, const rst_place *at,
                   const rst_token *qualifier, rst_hint_row *out);
/* Whether the name can be a column's, where the FROM is not of this table alone: GROUP BY takes that before a result's
** name. */
bool rst_place_column(rst_connection *c, const rst_syntax_tree *tree, const rst_syntax *select, const rst_table *table,
                      const rst_token *name);
/* The name by which the SELECT knows the table, if that is one item of its FROM only. */
bool rst_place_alias(rst_connection *c, const rst_syntax_tree *tree, const rst_syntax *select, const rst_table *table,
                     rst_token *alias);

#endif
