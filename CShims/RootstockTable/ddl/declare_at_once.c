/*
** declare_at_once.c - declares the tables of a store that is opened by writing the rows of SQLite's schema table.
**
** A CREATE VIRTUAL TABLE has SQLite search its schema table for the new row, so that many take time by the square of
** their number. When a store is opened the connection's own schema is empty. So the rows that name all tables are
** written to another database in memory and copied. The copy is a backup, which counts no changes and asks no
** authorizer. SQLite connects each table when a statement first names it, as it does those of a file.
**
** Invariant: afterwards every table is listed.
*/
#include "ddl/ddl.h"
#include "ddl/declare.h"
#include "catalog/schema_image.h"

#include <string.h>

/* By a statement: where they are too many for the image. */
static int write_rows(rst_connection *c, sqlite3 *other) {
    sqlite3_stmt *insert = NULL;
    int code = sqlite3_exec(other, "PRAGMA writable_schema=ON; BEGIN", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(other,
                                  "INSERT INTO sqlite_master(type, name, tbl_name, rootpage, sql) VALUES "
                                  "('table', ?1, ?1, 0, printf('CREATE VIRTUAL TABLE \"%w\" USING \"%w\"', ?1, ?2))",
                                  -1, &insert, NULL);
    for (int i = 0; i < schema_of(c)->table_count && code == SQLITE_OK; i++) {
        code = sqlite3_bind_text(insert, 1, schema_of(c)->tables[i]->declared_name, -1, SQLITE_STATIC);
        if (code == SQLITE_OK) code = sqlite3_bind_text(insert, 2, RST_STORE_MODULE, -1, SQLITE_STATIC);
        if (code == SQLITE_OK) code = sqlite3_step(insert) == SQLITE_DONE ? SQLITE_OK : SQLITE_ERROR;
        if (code == SQLITE_OK) code = sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    return code == SQLITE_OK ? sqlite3_exec(other, "COMMIT", NULL, NULL, NULL) : code;
}

static int load_image(rst_connection *c, sqlite3 *other, bool *listed) {
    rst_schema *schema = schema_of(c);
    rst_image_row *rows = sqlite3_malloc64(((sqlite3_uint64)schema->table_count + 1) * sizeof *rows);
    unsigned char *image = NULL;
    size_t size;
    int count = 0;
    bool made = rows != NULL;
    while (made && count < schema->table_count) {
        const char *name = schema->tables[count]->declared_name;
        char *sql = sqlite3_mprintf("CREATE VIRTUAL TABLE \"%w\" USING \"%w\"", name, RST_STORE_MODULE);
        made = sql != NULL;
        if (made) rows[count] = (rst_image_row){count + 1, "table", name, name, sql, 0};
        count += made;
    }
    if (made) image = rst_image_make(rows, count, listed, &size);
    while (count > 0) sqlite3_free((char *)rows[--count].sql);
    sqlite3_free(rows);
    if (image == NULL) return SQLITE_NOMEM;
    if (*listed) return rst_image_load(other, image, size);
    sqlite3_free(image);
    return SQLITE_OK;
}

int rst_declare_at_once(rst_connection *c) {
    rst_schema *schema = schema_of(c);
    sqlite3 *other = NULL;
    sqlite3_backup *copy = NULL;
    bool listed = false;
    int code = sqlite3_open_v2(":memory:", &other, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (code == SQLITE_OK) code = load_image(c, other, &listed);
    if (code == SQLITE_OK && !listed) code = write_rows(c, other);
    if (code == SQLITE_OK) copy = sqlite3_backup_init(c->db, "main", other, "main");
    if (copy != NULL) {
        int stepped = sqlite3_backup_step(copy, -1);
        code = sqlite3_backup_finish(copy);
        if (code == SQLITE_OK && stepped != SQLITE_DONE) code = SQLITE_ERROR;
    } else if (code == SQLITE_OK) {
        code = SQLITE_ERROR;
    }
    sqlite3_close(other);
    if (code != SQLITE_OK) return code == SQLITE_NOMEM ? code : SQLITE_NOTFOUND;
    for (int i = 0; i < schema->table_count && code == SQLITE_OK; i++) code = rst_declared_note(c, schema->tables[i]);
    return code;
}
