/*
** plan_describe.c - a plan as EXPLAIN QUERY PLAN words it: in SQLite's own words for its tables.
*/
#include "planner/planner.h"
#include "planner/plan.h"

int rst_plan_describe(const rst_table *table, const rst_candidate *k, rst_plan *plan) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    bool any = false;
    if (k->source == PLAN_INDEX) {
        sqlite3_str_appendf(text, "USING %sINDEX %s", k->covering ? "COVERING " : "", table->indexes[k->index].name);
    } else if (k->source == PLAN_ROWID && (k->equals || k->lower >= 0 || k->upper >= 0)) {
        sqlite3_str_appendall(text, "USING INTEGER PRIMARY KEY");
    } else if (k->source == PLAN_ENCODED || (k->source == PLAN_KEY && (k->equals || k->lower >= 0 || k->upper >= 0))) {
        sqlite3_str_appendall(text, "USING PRIMARY KEY");
    }
    for (int i = 0; i < table->key_count && k->source == PLAN_ENCODED; i++)
        sqlite3_str_appendf(text, "%s%s=?%s", i == 0 ? " (" : " AND ", table->columns[table->key[i].column].name,
                            i + 1 == table->key_count ? ")" : "");
    if (k->equals > 0 || k->lower >= 0 || k->upper >= 0) {
        sqlite3_str_appendall(text, " (");
        for (int i = -k->leading; i < 0; i++) {
            int column = k->parts[i].column;
            sqlite3_str_appendf(text, "%sANY(%s)", any ? " AND " : "",
                                column < 0 ? "<expr>" : table->columns[column].name);
            any = true;
        }
        for (int i = 0; i < k->equals; i++) {
            int column = k->parts[i].column;
            sqlite3_str_appendf(text, "%s%s=?", any ? " AND " : "",
                                column == -2              ? "<expr>"
                                : column < 0              ? "rowid"
                                : k->source == PLAN_ROWID ? "rowid"
                                                          : table->columns[column].name);
            any = true;
        }
        for (int side = 0; side < 2; side++) {
            if ((side == 0 ? k->lower : k->upper) < 0) continue;
            {
                int column = rst_plan_bounded_part(k)->column;
                sqlite3_str_appendf(text, "%s%s%s?", any ? " AND " : "",
                                    column == -2                            ? "<expr>"
                                    : column < 0 || k->source == PLAN_ROWID ? "rowid"
                                                                            : table->columns[column].name,
                                    side == 0 ? ">" : "<");
                any = true;
            }
        }
        sqlite3_str_appendall(text, ")");
    }
    plan->description = sqlite3_str_finish(text);
    if (plan->description == NULL) plan->description = sqlite3_mprintf("");
    return plan->description == NULL ? SQLITE_NOMEM : SQLITE_OK;
}
