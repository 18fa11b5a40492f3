/*
** expressions.c - how a query comes to use an index on an expression.
**
** SQLite shows a virtual table only comparisons of its columns, so lower(name) = 'x' is never shown. The front door
** therefore adds a hint beside each such comparison in WHERE and ON:
**
**   lower(name) = ?1   becomes   (lower(name) = ?1 AND rootstock_equal_17_0("rootstock hint", ?1))
**
** The function is true whatever it is given, so the statement means what it did wherever the hint stands. Where it
** stands as a condition on the right table, SQLite shows it to xBestIndex, by xFindFunction, as a constraint on the
** hidden column. The plan may then narrow the index by the value. SQLite judges the comparison itself again, row by
** row. The name holds the number of the index in the catalog, which is never given twice, and the column's: a statement
** that outlives the index asks for nothing.
**
** Where the column is a view's or a subquery's, or a WITH's, there is no hidden column to hand to the function. If the
** expression is of one column, that column is handed to it as it stands in the comparison:
**
**   lower(v.name) = ?1   becomes   (lower(v.name) = ?1 AND rootstock_equal_17_0(v.name, ?1))
**
** SQLite puts what v.name stands for in both places, or in neither. Where that is the column of the table itself,
** xBestIndex is shown it.
**
** In a statement with an outer join, SQLite shows a hint in ON of the left table as well, whose rows the ON does not
** choose. There the only hints are of the item to the right of a LEFT JOIN, in its own ON. ORDER BY and GROUP BY are
** another matter: expression_column.c, expression_orders.c.
**
** Invariant: a hint is added only where the text is the indexed expression, column for column, compared with what
** leaves the collation to it (expression_operands.c). One that does not compile is taken back: the table may be a view,
** a name may be ambiguous. What values the hint's range has to hold is the matter of ranges.c, for an expression as for
** a column without affinity.
*/
#include "rewriter/rewriter.h"
#include "rewriter/expressions.h"

#include "rewriter/hints.h"

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
enum { KINDS = 5, SLOTS = (255 - SQLITE_INDEX_CONSTRAINT_FUNCTION + 1 - ROW_BOUNDS * ROW_BOUND_TERMS) / KINDS };
/* Behind them row_bounds.c has its own. */
enum { BEYOND = SQLITE_INDEX_CONSTRAINT_FUNCTION + SLOTS * KINDS };

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
    rst_rewriter *rewriter = rewriter_of(c);
    while (rewriter->hint_functions != NULL) {
        rst_hint_function *function = rewriter->hint_functions;
        rewriter->hint_functions = function->next;
        sqlite3_free(function->name);
        sqlite3_free(function);
    }
}

/* Registers the function, once: SQLite refuses to do it again while statements run. */
int rst_hint_register(rst_connection *c, const char *name) {
    rst_rewriter *rewriter = rewriter_of(c);
    rst_hint_function *function;
    for (function = rewriter->hint_functions; function != NULL; function = function->next) {
        if (strcmp(function->name, name) == 0) return SQLITE_OK;
    }
    function = sqlite3_malloc64(sizeof *function);
    if (function == NULL) return SQLITE_NOMEM;
    function->name = sqlite3_mprintf("%s", name);
    function->next = rewriter->hint_functions;
    rewriter->hint_functions = function;
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
    if (strncmp(name + 10, "beyond_", 7) == 0) {
        const int place = atoi(name + 17);
        if (place >= ROW_BOUNDS * ROW_BOUND_TERMS) return 0;
        *function = always_true;
        *argument = NULL;
        return BEYOND + place;
    }
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

/* Whether the expression is of that column alone: the hint's argument stands for the table's row then. */
static bool is_of_column(const rst_table *table, const rst_part *part, int column) {
    rst_part own;
    rst_index alone = {.parts = &own, .part_count = 1};
    rst_indexed understood;
    if (part == NULL || column < 0 || column >= table->column_count) return false;
    own = *part;
    return rst_indexed_understand(table, &alone, 0, &understood) && rst_indexed_column(&understood) == column;
}

bool rst_expression_fits(const rst_table *table, const struct sqlite3_index_constraint *constraint,
                         const rst_part *part, int *operation) {
    const rst_part *told;
    int number = constraint->op - SQLITE_INDEX_CONSTRAINT_FUNCTION;
    if (number < 0 || number >= SLOTS * KINDS || part->column != -2) return false;
    told = part_at(table, number / KINDS);
    if (constraint->iColumn != table->column_count + HIDDEN_HINT && !is_of_column(table, told, constraint->iColumn))
        return false;
    *operation = kinds[number % KINDS].operation;
    return told != NULL && (told == part || (told->expression != NULL && part->expression != NULL &&
                                             strcmp(told->expression, part->expression) == 0 &&
                                             told->key.collation == part->key.collation));
}

bool rst_is_row_bound(const struct sqlite3_index_constraint *constraint, int number, int place) {
    return constraint->op == BEYOND + number * ROW_BOUND_TERMS + place;
}

const char *rst_hint_name(int kind) {
    return kinds[kind].name;
}
