/*
** declare_at_once.c - declares the tables of a store that is opened by writing the rows of SQLite's schema table.
**
** A CREATE VIRTUAL TABLE has SQLite search its schema table for the new row, so that many take time by the square of
** their number. When a store is opened the connection's own schema is empty. So the rows that name all tables are
** written to another database in memory and copied. SQLite connects each table when a statement first names it, as it
** does those of a file.
**
** Invariant: afterwards every table is listed.
*/
#include "ddl/ddl.h"
#include "ddl/declare.h"
#include "catalog/schema_image.h"

#include <string.h>

static int write_rows(rst_connection *c, sqlite3 *other) {
    rst_schema *schema = schema_of(c);
    rst_image_row *rows = sqlite3_malloc64(((sqlite3_uint64)schema->table_count + 1) * sizeof *rows);
    unsigned char *image = NULL;
    size_t size;
    int count = 0, code = SQLITE_NOMEM;
    bool made = rows != NULL, listed = false;
    while (made && count < schema->table_count) {
        const char *name = schema->tables[count]->declared_name;
        char *sql = sqlite3_mprintf("CREATE VIRTUAL TABLE \"%w\" USING \"%w\"", name, RST_STORE_MODULE);
        made = sql != NULL;
        if (made) rows[count] = (rst_image_row){count + 1, "table", name, name, sql, 0};
        count += made;
    }
    if (made) image = rst_image_make(rows, count, &listed, &size);
    if (image != NULL && listed) {
        code = rst_image_load(other, image, size);
    } else if (image != NULL) { /* they are too many for it */
        sqlite3_free(image);
        code = rst_image_append(other, rows, count);
    }
    while (count > 0) sqlite3_free((char *)rows[--count].sql);
    sqlite3_free(rows);
    return code;
}

int rst_declare_at_once(rst_connection *c) {
    rst_schema *schema = schema_of(c);
    sqlite3 *other = NULL;
    int code = sqlite3_open_v2(":memory:", &other, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (code == SQLITE_OK) code = write_rows(c, other);
    if (code == SQLITE_OK) code = rst_image_copy(c->db, other);
    sqlite3_close(other);
    if (code != SQLITE_OK) return code == SQLITE_NOMEM ? code : SQLITE_NOTFOUND;
    for (int i = 0; i < schema->table_count && code == SQLITE_OK; i++) code = rst_declared_note(c, schema->tables[i]);
    return code;
}
