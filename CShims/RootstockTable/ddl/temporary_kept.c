/*
** temporary_kept.c - temp triggers of the store's views, over the views' being declared anew.
**
** SQLite drops a view's triggers with it, those in temp, too. A view whose text has become another one (ALTER TABLE has
** rewritten it, here or in another connection) is declared anew, and natively stays what it is, with its triggers.
** Invariant: a trigger is made again only if it is gone and its view is there.
*/
#include "ddl/ddl.h"
#include "ddl/temporary.h"
#include "rewriter/transform.h"

#include <string.h>

int rst_kept_triggers_note(rst_connection *c, rst_kept_triggers *kept) {
    sqlite3_stmt *statement;
    int code = sqlite3_prepare_v2(c->db,
                                  "SELECT name, tbl_name, sql FROM temp.sqlite_master WHERE type='trigger' "
                                  "AND " ROOTSTOCK_NOT_MADE " ORDER BY rowid",
                                  -1, &statement, NULL);
    if (code != SQLITE_OK) return code;
    while (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        rst_kept_trigger *more = sqlite3_realloc64(kept->list, ((sqlite3_uint64)kept->count + 1) * sizeof *more);
        if (more == NULL) {
            code = SQLITE_NOMEM;
            break;
        }
        kept->list = more;
        more = &more[kept->count++];
        more->name = rst_column_copy(statement, 0);
        more->view = rst_column_copy(statement, 1);
        more->sql = rst_column_copy(statement, 2);
        if (more->name == NULL || more->view == NULL || more->sql == NULL) code = SQLITE_NOMEM;
    }
    return rst_finish(statement, code);
}

/* Whether schema has the object. */
static int is_there(rst_connection *c, const char *schema, const char *type, const char *name, bool *there) {
    return rst_has_row(c->db, there, "SELECT 1 FROM %s.sqlite_master WHERE type=%Q AND name=%Q COLLATE NOCASE", schema,
                       type, name);
}

int rst_kept_triggers_restore(rst_connection *c, rst_kept_triggers *kept, char **message) {
    int code = SQLITE_OK;
    for (int i = 0; i < kept->count && code == SQLITE_OK; i++) {
        const rst_kept_trigger *trigger = &kept->list[i];
        bool there = false, view = false;
        code = is_there(c, "temp", "trigger", trigger->name, &there);
        if (code == SQLITE_OK && !there) code = is_there(c, "main", "view", trigger->view, &view);
        if (code != SQLITE_OK || there || !view) continue;
        char *sql = rst_temporary_text(trigger->sql);
        code = sql == NULL ? SQLITE_NOMEM : rst_execute(c, message, "%s", sql);
        sqlite3_free(sql);
    }
    return code;
}

void rst_kept_triggers_free(rst_kept_triggers *kept) {
    for (int i = 0; i < kept->count; i++) {
        sqlite3_free(kept->list[i].name);
        sqlite3_free(kept->list[i].view);
        sqlite3_free(kept->list[i].sql);
    }
    sqlite3_free(kept->list);
    memset(kept, 0, sizeof *kept);
}
