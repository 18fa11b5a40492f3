/*
** expressions.c - how a query comes to use an index on an expression.
**
** SQLite shows a virtual table only comparisons of its columns, so lower(name) = 'x' is never shown. The front door therefore adds a
** hint beside each such comparison in WHERE and ON:
**
**   lower(name) = ?1   becomes   (lower(name) = ?1 AND rootstock_equal_17_0("rootstock hint", ?1))
**
** The function is true whatever it is given, so the statement means what it did wherever the hint stands. Where it stands as a
** condition on the right table, SQLite shows it to xBestIndex (by xFindFunction, as a constraint on the hidden column), and the plan
** may narrow the index by the value; the comparison itself is judged by SQLite again, row by row. The name holds the number of
** the index in the catalog, which is never given twice, and the column's: a statement that outlives the index asks for nothing.
**
** Not in ON where the statement has an outer join: SQLite would show such a hint of the left table as well, whose rows it does
** not choose.
**
** Invariant: a hint is added only where the text is the indexed expression, column for column, compared with a literal or
** parameter; and one that does not compile is taken back (the table may be a view, a name may be ambiguous). What values the
** hint's range has to hold is the matter of ranges.c, for an expression as for a column without affinity.
*/
#include "expressions.h"

#include "transform.h"

#include <stdlib.h>
#include <string.h>

/* The functions' names, in the order of their numbers above SQLITE_INDEX_CONSTRAINT_FUNCTION. */
static const struct {
    const char *name;
    int operation;
} kinds[] = {{"equal", SQLITE_INDEX_CONSTRAINT_EQ},
             {"above", SQLITE_INDEX_CONSTRAINT_GT},
             {"from", SQLITE_INDEX_CONSTRAINT_GE},
             {"below", SQLITE_INDEX_CONSTRAINT_LT},
             {"upto", SQLITE_INDEX_CONSTRAINT_LE}};
enum { KINDS = 5, SLOTS = (255 - SQLITE_INDEX_CONSTRAINT_FUNCTION + 1) / KINDS };

typedef struct rst_hint_function {
    struct rst_hint_function *next;
    char *name;
} rst_hint_function;

static void always_true(sqlite3_context *context, int count, sqlite3_value **values) {
    UNUSED(count);
    UNUSED(values);
    sqlite3_result_int(context, 1);
}

void rst_expressions_free(rst_connection *c) {
    while (c->hint_functions != NULL) {
        rst_hint_function *function = c->hint_functions;
        c->hint_functions = function->next;
        sqlite3_free(function->name);
        sqlite3_free(function);
    }
}

/* Registers the function, once: SQLite refuses to do it again while statements run. */
static int register_function(rst_connection *c, const char *name) {
    rst_hint_function *function;
    for (function = c->hint_functions; function != NULL; function = function->next) {
        if (strcmp(function->name, name) == 0) return SQLITE_OK;
    }
    function = sqlite3_malloc64(sizeof *function);
    if (function == NULL) return SQLITE_NOMEM;
    function->name = sqlite3_mprintf("%s", name);
    function->next = c->hint_functions;
    c->hint_functions = function;
    if (function->name == NULL) return SQLITE_NOMEM;
    return rst_function(c, name, 2, SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, always_true);
}

/* ---- constraints ---- */

/* Number of an expression among the table's, in the order of indexes and their parts. */
static int slot_of(const rst_table *table, int index, int part) {
    int slot = 0;
    for (int i = 0; i < table->index_count; i++) {
        for (int p = 0; p < table->indexes[i].part_count; p++) {
            if (table->indexes[i].parts[p].column != -2) continue;
            if (i == index && p == part) return slot;
            slot++;
        }
    }
    return -1;
}

static const rst_part *part_at(const rst_table *table, int slot) {
    for (int i = 0; i < table->index_count; i++) {
        for (int p = 0; p < table->indexes[i].part_count; p++) {
            if (table->indexes[i].parts[p].column == -2 && slot-- == 0) return &table->indexes[i].parts[p];
        }
    }
    return NULL;
}

int rst_find_function(sqlite3_vtab *vtab, int count, const char *name,
                      void (**function)(sqlite3_context *, int, sqlite3_value **), void **argument) {
    const rst_table *table = ((rst_vtab *)vtab)->table;
    if (count != 2 || strncmp(name, "rootstock_", 10) != 0) return 0;
    for (int k = 0; k < KINDS; k++) {
        size_t size = strlen(kinds[k].name);
        char *end;
        long long identifier;
        long part;
        if (strncmp(name + 10, kinds[k].name, size) != 0 || name[10 + size] != '_') continue;
        identifier = strtoll(name + 11 + size, &end, 10);
        if (*end != '_') return 0;
        part = strtol(end + 1, &end, 10);
        for (int i = 0; i < table->index_count && *end == '\0'; i++) {
            int slot;
            if (table->indexes[i].identifier != identifier) continue;
            slot = part < 0 ? -1 : slot_of(table, i, (int)part);
            if (slot < 0 || slot >= SLOTS) return 0;
            *function = always_true;
            *argument = NULL;
            return SQLITE_INDEX_CONSTRAINT_FUNCTION + slot * KINDS + k;
        }
        return 0;
    }
    return 0;
}

bool rst_expression_fits(const rst_table *table, const struct sqlite3_index_constraint *constraint,
                         const rst_part *part, int *operation) {
    const rst_part *told;
    int number = constraint->op - SQLITE_INDEX_CONSTRAINT_FUNCTION;
    if (number < 0 || constraint->iColumn != table->column_count + HIDDEN_HINT || part->column != -2) return false;
    told = part_at(table, number / KINDS);
    *operation = kinds[number % KINDS].operation;
    return told != NULL && (told == part || (told->expression != NULL && part->expression != NULL &&
                                             strcmp(told->expression, part->expression) == 0 &&
                                             told->key.collation == part->key.collation));
}

/* ---- texts ---- */

static bool is_among(const rst_token *token, const char *const *words) {
    for (; *words != NULL; words++) {
        if (rst_token_is(token, *words)) return true;
    }
    return false;
}

static int column_of(const rst_table *table, const rst_token *token) {
    if (token->type != TOKEN_WORD && token->type != TOKEN_NAME) return -1;
    for (int i = 0; i < table->column_count; i++) {
        if (rst_token_same_name(token, table->columns[i].name)) return i;
    }
    return -1;
}

/* Words that an expression may hold beside names of columns and functions. Not among them: what an application may define
** otherwise by a name that does not stand in the text (LIKE, GLOB, MATCH, REGEXP). */
static const char *const plain_words[] = {"AND", "OR", "NOT", "NULL", "CASE",    "WHEN",   "THEN",    "ELSE",
                                          "END", "IS", "IN",  "CAST", "BETWEEN", "ISNULL", "NOTNULL", NULL};
/* Operators that bind no looser than a comparison does, between parts of an operand. */
static const char *const loose_words[] = {"AND", "OR", "NOT", "IS", "IN", "BETWEEN", "ISNULL", "NOTNULL", NULL};
static const char *const loose_marks[] = {"=", "==", "<>", "!=", "<", "<=", ">", ">=", NULL};

static bool is_mark_among(const rst_token *token, const char *const *marks) {
    for (; *marks != NULL; marks++) {
        if (rst_token_mark(token, *marks)) return true;
    }
    return false;
}

typedef struct indexed {
    const rst_table *table;
    const rst_index *index;
    int part;
    const char *start, *end; /* without parentheses around it */
    bool loose;              /* has to stand in parentheses to be an operand */
} indexed;

/* Takes off parentheses around the whole. */
static void unwrap(const char **start, const char **end) {
    for (;;) {
        const char *p = *start, *inner;
        rst_token token = rst_token_next(&p, *end), last = token;
        if (!rst_token_mark(&token, "(")) return;
        inner = p;
        if (!rst_token_skip_parentheses(&p, *end)) return;
        last.text = p - 1;
        token = rst_token_next(&p, *end);
        if (token.type != TOKEN_END) return;
        *start = inner;
        *end = last.text;
    }
}

/* An index's expression, if all that stands in it is understood. */
static bool understand(const rst_table *table, const rst_index *index, int part, indexed *out) {
    const char *p, *text = index->parts[part].expression;
    rst_token token, before = {TOKEN_END, text, 0};
    const rst_part *own = &index->parts[part];
    int depth = 0, tokens = 0, tokens_at_top = 0;
    bool passes = false, binary = true; /* a column's collation could be the whole's; all columns compare as bytes */
    bool collated = false,
         call = false; /* it ends in COLLATE; what stands before that is one call or pair of parentheses */
    if (text == NULL) return false;
    out->table = table;
    out->index = index;
    out->part = part;
    out->start = text;
    out->end = text + strlen(text);
    out->loose = false;
    unwrap(&out->start, &out->end);
    for (p = out->start;;) {
        const char *q;
        rst_token next;
        token = rst_token_next(&p, out->end);
        if (token.type == TOKEN_END) {
            /* The comparison's collation must be the index's, which is BINARY if no COLLATE stands on top. */
            return depth == 0 &&
                   (collated || (own->key.collation == ROOTSTOCK_COLLATION_BINARY && (!passes || binary)));
        }
        if (collated) return false;
        if (token.type == TOKEN_VARIABLE || token.type == TOKEN_ILLEGAL) return false;
        q = p;
        next = rst_token_next(&q, out->end);
        if (rst_token_mark(&token, "(") || rst_token_is(&token, "CASE")) depth++;
        if (rst_token_mark(&token, ")") || rst_token_is(&token, "END")) depth--;
        if (tokens == 0) passes = rst_token_mark(&token, "+");
        if (rst_token_is(&token, "CAST")) passes = true;
        /* One primary: f(...) or (...), and nothing behind it but COLLATE. */
        if (rst_token_mark(&token, ")") && depth == 0) call = tokens_at_top <= 1;
        tokens++;
        if (rst_token_is(&token, "COLLATE")) {
            char *name = rst_token_name(&next);
            collated = depth == 0 && call && rst_token_mark(&before, ")") && name != NULL &&
                       own->collation_name != NULL && sqlite3_stricmp(name, own->collation_name) == 0;
            sqlite3_free(name);
            if (!collated) return false;
            p = q;
            continue;
        }
        if (depth == 0 && !rst_token_mark(&token, ")")) tokens_at_top++;
        if (depth == 1 && rst_token_mark(&token, "(") && tokens_at_top == 0) tokens_at_top = 1;
        if (depth == 0 && (is_among(&token, loose_words) || is_mark_among(&token, loose_marks))) out->loose = true;
        if (rst_token_is(&before, "AS")) {
            before = token;
            continue; /* a type */
        }
        before = token;
        if (token.type != TOKEN_WORD && token.type != TOKEN_NAME) continue;
        if (rst_token_mark(&next, ".")) return false; /* the index's text names its own table: not worth the trouble */
        if (rst_token_mark(&next, "(") || is_among(&token, plain_words) || rst_token_is(&token, "AS")) continue;
        {
            int column = column_of(table, &token);
            if (column < 0) return false;
            if (table->columns[column].collation != ROOTSTOCK_COLLATION_BINARY) binary = false;
        }
    }
}

/* The same token: names by what they name, words without case, all else as it stands. */
static bool same_token(const rst_table *table, const rst_token *a, const rst_token *b) {
    int column = column_of(table, a);
    if (column >= 0 && (b->type == TOKEN_WORD || b->type == TOKEN_NAME)) return column_of(table, b) == column;
    if (a->type != b->type || a->size != b->size) return false;
    if (a->type == TOKEN_WORD) return sqlite3_strnicmp(a->text, b->text, (int)a->size) == 0;
    return memcmp(a->text, b->text, a->size) == 0;
}

/* Whether the tokens at *p are the expression; moves *p behind it. All columns are qualified by one name, or none is. */
static bool matches(const indexed *e, const char **p, const char *end, rst_token *qualifier) {
    const char *at = *p, *own = e->start;
    bool first = true;
    qualifier->type = TOKEN_END;
    for (;;) {
        rst_token wanted = rst_token_next(&own, e->end), token, next;
        const char *q;
        if (wanted.type == TOKEN_END) break;
        token = rst_token_next(&at, end);
        q = at;
        next = rst_token_next(&q, end);
        if (column_of(e->table, &wanted) >= 0) {
            const char *own_next = own;
            rst_token behind = rst_token_next(&own_next, e->end);
            if (!rst_token_mark(&behind, "(")) { /* not a function of that name */
                bool qualified = rst_token_mark(&next, ".") && rst_token_names(&token);
                if (qualified) {
                    if (!first && (qualifier->type == TOKEN_END || !same_token(e->table, qualifier, &token)))
                        return false;
                    if (first) *qualifier = token;
                    token = rst_token_next(&q, end);
                    at = q;
                } else if (!first && qualifier->type != TOKEN_END) {
                    return false;
                }
                first = false;
            }
        }
        if (!same_token(e->table, &wanted, &token)) return false;
    }
    *p = at;
    return true;
}

/* A literal or a parameter, perhaps signed. Moves *p behind it. */
static bool read_operand(const char **p, const char *end, const char **start, const char **stop, bool *variable) {
    const char *q = *p;
    rst_token token = rst_token_next(&q, end);
    *start = token.text;
    if (rst_token_mark(&token, "-") || rst_token_mark(&token, "+")) {
        token = rst_token_next(&q, end);
        if (token.type != TOKEN_NUMBER) return false;
    }
    if (token.type != TOKEN_NUMBER && token.type != TOKEN_STRING && token.type != TOKEN_BLOB &&
        token.type != TOKEN_VARIABLE) {
        return false;
    }
    *variable = token.type == TOKEN_VARIABLE;
    *stop = token.text + token.size;
    *p = q;
    return true;
}

static int kind_of(const rst_token *token, bool turned) {
    if (rst_token_mark(token, "=") || rst_token_mark(token, "==")) return 0;
    if (rst_token_mark(token, ">")) return turned ? 3 : 1;
    if (rst_token_mark(token, ">=")) return turned ? 4 : 2;
    if (rst_token_mark(token, "<")) return turned ? 1 : 3;
    if (rst_token_mark(token, "<=")) return turned ? 2 : 4;
    return -1;
}

/* What may stand behind a comparison that is whole. */
static bool is_whole(const char *p, const char *end) {
    static const char *const words[] = {"AND",   "OR",     "ORDER",     "GROUP",     "LIMIT", "HAVING", "WINDOW",
                                        "UNION", "EXCEPT", "INTERSECT", "RETURNING", "JOIN",  "LEFT",   "INNER",
                                        "CROSS", "RIGHT",  "FULL",      "WHERE",     "SET",   NULL};
    rst_token token = rst_token_next(&p, end);
    return token.type == TOKEN_END || rst_token_mark(&token, ")") || rst_token_mark(&token, ";") ||
           rst_token_mark(&token, ",") || is_among(&token, words);
}

/* ---- adding ---- */

typedef struct adding {
    rst_connection *c;
    const char *text, *end;
    const indexed *expressions;
    int count;
    sqlite3_str *out;
    const char *copied;
    bool outer;   /* an outer join stands somewhere */
    bool refused; /* a parameter's number is out of range */
    int added, code;
} adding;

/* The name by which the table is known in the statement, if it stands there as one item of FROM only. */
static void only_alias(const adding *a, const rst_table *table, rst_token *alias) {
    const char *p = a->text;
    rst_token before = {TOKEN_END, a->text, 0}, before_dot = before;
    int found = 0;
    alias->type = TOKEN_END;
    for (;;) {
        rst_token token = rst_token_next(&p, a->end), place;
        const char *q = p;
        if (token.type == TOKEN_END) break;
        place = rst_token_mark(&before, ".") ? before_dot : before;
        if (rst_token_names(&token) && rst_token_same_name(&token, table->name) &&
            (rst_token_is(&place, "FROM") || rst_token_is(&place, "JOIN") || rst_token_mark(&place, ",") ||
             rst_token_mark(&place, "(") || rst_token_is(&place, "UPDATE") || rst_token_is(&place, "MAIN"))) {
            rst_token next = rst_token_next(&q, a->end);
            if (rst_token_mark(&next, ".")) {
                /* table.column in a list */
            } else {
                found++;
                *alias = token;
                if (rst_token_is(&next, "AS"))
                    *alias = rst_token_next(&q, a->end);
                else if (next.type == TOKEN_NAME || next.type == TOKEN_WORD) {
                    static const char *const words[] = {
                        "WHERE",   "ORDER", "GROUP", "LIMIT", "JOIN",   "LEFT",      "INNER",  "CROSS",
                        "NATURAL", "ON",    "USING", "UNION", "EXCEPT", "INTERSECT", "HAVING", "WINDOW",
                        "INDEXED", "NOT",   "RIGHT", "FULL",  "SET",    "RETURNING", "FROM",   NULL};
                    if (!is_among(&next, words)) *alias = next;
                }
            }
        }
        before_dot = before;
        before = token;
    }
    if (found != 1) alias->type = TOKEN_END;
}

static void append_hint(adding *a, const indexed *e, int kind, const rst_token *qualifier, const char *start,
                        const char *stop, bool variable) {
    char name[96];
    rst_token alias = *qualifier;
    sqlite3_snprintf(sizeof name, name, "rootstock_%s_%lld_%d", kinds[kind].name, (long long)e->index->identifier,
                     e->part);
    if (a->code == SQLITE_OK) a->code = register_function(a->c, name);
    if (alias.type == TOKEN_END) only_alias(a, e->table, &alias);
    sqlite3_str_appendf(a->out, " AND %s(", name);
    if (alias.type != TOKEN_END) sqlite3_str_appendf(a->out, "%.*s.", (int)alias.size, alias.text);
    sqlite3_str_appendall(a->out, "[rootstock hint],");
    if (variable && stop - start == 1) {
        rst_parameters parameters = {0};
        int code = rst_parameters_number(a->c, a->text, stop, &parameters, NULL, NULL);
        if (code == SQLITE_NOMEM)
            a->code = code;
        else if (code != SQLITE_OK)
            a->refused = true; /* SQLite will say so of the text as it stands */
        sqlite3_str_appendf(a->out, "?%d)", parameters.highest);
        rst_parameters_free(&parameters);
    } else {
        sqlite3_str_appendf(a->out, "%.*s)", (int)(stop - start), start);
    }
    a->added++;
}

/* The comparison that begins at `from`, if it is one of an indexed expression: written out with its hint. The position behind
** it, or null. */
static const char *add_at(adding *a, const char *from) {
    for (int i = 0; i < a->count; i++) {
        const indexed *e = &a->expressions[i];
        const char *p = from, *q, *start, *stop, *low_start = NULL, *low_stop = NULL;
        rst_token token = rst_token_next(&p, a->end), qualifier;
        bool turned = false, variable, low_variable = false, wrapped;
        int kind;
        const char *begin = token.text;
        p = from;
        if (read_operand(&p, a->end, &start, &stop, &variable)) {
            token = rst_token_next(&p, a->end);
            kind = kind_of(&token, true);
            if (kind < 0) continue;
            turned = true;
        }
        q = p;
        token = rst_token_next(&q, a->end);
        wrapped = rst_token_mark(&token, "(");
        if (wrapped && e->start[0] != '(')
            p = q;
        else
            wrapped = false;
        if (e->loose && !wrapped) continue;
        if (!matches(e, &p, a->end, &qualifier)) continue;
        if (wrapped) {
            token = rst_token_next(&p, a->end);
            if (!rst_token_mark(&token, ")")) continue;
        }
        if (!turned) {
            token = rst_token_next(&p, a->end);
            if (rst_token_is(&token, "BETWEEN")) {
                if (!read_operand(&p, a->end, &low_start, &low_stop, &low_variable)) continue;
                token = rst_token_next(&p, a->end);
                if (!rst_token_is(&token, "AND")) continue;
                kind = 4;
            } else {
                kind = kind_of(&token, false);
                if (kind < 0) continue;
            }
            if (!read_operand(&p, a->end, &start, &stop, &variable)) continue;
        }
        if (!is_whole(p, a->end)) continue;
        sqlite3_str_append(a->out, a->copied, (int)(begin - a->copied));
        sqlite3_str_appendf(a->out, "(%.*s", (int)(p - begin), begin);
        if (low_start != NULL) append_hint(a, e, 2, &qualifier, low_start, low_stop, low_variable);
        append_hint(a, e, kind, &qualifier, start, stop, variable);
        sqlite3_str_appendall(a->out, ")");
        a->copied = p;
        return p;
    }
    return NULL;
}

enum { CLAUSE_OTHER = 0, CLAUSE_LIST, CLAUSE_CONDITION, DEEPEST = 100 };

/* Goes through the statement; false if it is one in which names are resolved in ways not followed here. */
static bool add_all(adding *a) {
    /* What stands inside the parentheses at each depth: the clause, whether its BETWEEN waits for its AND, whether a result's
    ** name comes from the text of it. */
    struct {
        int clause;
        bool between, named;
    } at[DEEPEST] = {{CLAUSE_OTHER, false, false}};
    int depth = 0;
    const char *p = a->text;
    for (;;) {
        rst_token token = rst_token_next(&p, a->end);
        bool operand = false;
        if (token.type == TOKEN_END) return true;
        if (rst_token_is(&token, "NATURAL") || rst_token_is(&token, "USING")) return false;
        if (rst_token_mark(&token, "(") || rst_token_is(&token, "CASE")) {
            bool named = at[depth].named || at[depth].clause == CLAUSE_LIST;
            if (++depth == DEEPEST) return false;
            at[depth] = at[depth - 1];
            at[depth].between = false;
            at[depth].named = named;
            operand = rst_token_mark(&token, "(");
        } else if (rst_token_mark(&token, ")") || rst_token_is(&token, "END")) {
            if (--depth < 0) return false;
        } else if (rst_token_is(&token, "SELECT") || rst_token_is(&token, "RETURNING")) {
            at[depth].clause = CLAUSE_LIST;
        } else if (rst_token_is(&token, "WHERE") || (rst_token_is(&token, "ON") && !a->outer)) {
            at[depth].clause = CLAUSE_CONDITION;
            operand = true;
        } else if (rst_token_is(&token, "FROM") || rst_token_is(&token, "GROUP") || rst_token_is(&token, "ORDER") ||
                   rst_token_is(&token, "LIMIT") || rst_token_is(&token, "HAVING") || rst_token_is(&token, "SET") ||
                   rst_token_is(&token, "WINDOW") || rst_token_is(&token, "JOIN") || rst_token_is(&token, "ON")) {
            at[depth].clause = CLAUSE_OTHER;
        } else if (rst_token_is(&token, "BETWEEN")) {
            at[depth].between = true;
        } else if (rst_token_is(&token, "AND")) {
            operand = !at[depth].between;
            at[depth].between = false;
        } else if (rst_token_is(&token, "OR")) {
            operand = true;
        }
        if (operand && at[depth].clause == CLAUSE_CONDITION && !at[depth].named) {
            const char *behind = add_at(a, p);
            if (behind != NULL) p = behind;
        }
    }
}

/* Whether some function of the connection has the name of one in the expression: the index's entries were made with SQLite's own. */
static bool is_redefined(rst_connection *c, const indexed *expressions, int count) {
    sqlite3_stmt *statement = NULL;
    bool found = true;
    if (sqlite3_prepare_v2(c->db, "SELECT name FROM pragma_function_list WHERE NOT builtin", -1, &statement, NULL) ==
        SQLITE_OK) {
        found = false;
        while (!found && sqlite3_step(statement) == SQLITE_ROW) {
            const char *name = (const char *)sqlite3_column_text(statement, 0);
            for (int i = 0; i < count && !found; i++) {
                const char *p = expressions[i].start;
                for (;;) {
                    rst_token token = rst_token_next(&p, expressions[i].end);
                    if (token.type == TOKEN_END) break;
                    if (rst_token_same_name(&token, name) || rst_token_mark(&token, name)) found = true;
                }
            }
        }
    }
    sqlite3_finalize(statement);
    return found;
}

static bool compiles(rst_connection *c, const char *sql) {
    sqlite3_stmt *statement = NULL;
    bool good = sqlite3_prepare_v2(c->db, sql, -1, &statement, NULL) == SQLITE_OK;
    sqlite3_finalize(statement);
    return good;
}

/* Whether the text can hold the expression at all: its first name is in it. */
static bool is_mentioned(const indexed *e, const char *text, const char *end) {
    const char *p = e->start;
    rst_token token;
    do {
        token = rst_token_next(&p, e->end);
    } while (token.type != TOKEN_END && token.type != TOKEN_WORD);
    if (token.type == TOKEN_END) return true;
    for (const char *at = text; at + token.size <= end; at++) {
        if ((*at | 0x20) == (token.text[0] | 0x20) && sqlite3_strnicmp(at, token.text, (int)token.size) == 0)
            return true;
    }
    return false;
}

int rst_expressions_add(rst_connection *c, const char *text, const char *end, char **out) {
    indexed found[32];
    adding a = {.c = c, .text = text, .end = end, .expressions = found, .copied = text};
    bool followed;
    *out = NULL;
    if (!c->has_expressions) return SQLITE_OK;
    for (int t = 0; t < c->table_count; t++) {
        const rst_table *table = c->tables[t];
        for (int i = 0; i < table->index_count && table->has_evaluated_index; i++) {
            for (int p = 0; p < table->indexes[i].part_count; p++) {
                bool known = false;
                if (a.count == (int)(sizeof found / sizeof found[0])) break;
                if (table->indexes[i].parts[p].column != -2) continue;
                if (!understand(table, &table->indexes[i], p, &found[a.count])) continue;
                if (!is_mentioned(&found[a.count], text, end)) continue;
                /* One hint serves every index on the expression. */
                for (int k = 0; k < a.count; k++) {
                    const rst_part *other = &found[k].index->parts[found[k].part];
                    const rst_part *part = &table->indexes[i].parts[p];
                    known = known || (found[k].table == table && strcmp(other->expression, part->expression) == 0 &&
                                      other->key.collation == part->key.collation);
                }
                if (!known) a.count++;
            }
        }
    }
    if (a.count == 0) return SQLITE_OK;
    a.out = sqlite3_str_new(NULL);
    for (const char *p = text;;) {
        static const char *const outer[] = {"LEFT", "RIGHT", "FULL", NULL};
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) break;
        if (is_among(&token, outer)) a.outer = true;
    }
    followed = add_all(&a);
    sqlite3_str_append(a.out, a.copied, (int)(end - a.copied));
    if (!followed || a.refused || a.added == 0 || a.code != SQLITE_OK || is_redefined(c, found, a.count)) {
        sqlite3_free(sqlite3_str_finish(a.out));
        return a.code;
    }
    *out = sqlite3_str_finish(a.out);
    if (*out == NULL) return SQLITE_NOMEM;
    if (!compiles(c, *out)) {
        sqlite3_free(*out);
        *out = NULL;
    }
    return SQLITE_OK;
}

int rst_expressions_add_to(rst_connection *c, char **text) {
    char *more = NULL;
    int code = rst_expressions_add(c, *text, *text + strlen(*text), &more);
    if (more == NULL) return code;
    sqlite3_free(*text);
    *text = more;
    return SQLITE_OK;
}
