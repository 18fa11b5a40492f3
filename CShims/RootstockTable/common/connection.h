/*
** connection.h - a connection to a store: what every layer knows of it.
**
** Each layer adds a part of its own, which begins with the part of the layer below: rst_store (storage), rst_schema
** (catalog), and so on. rst_front (interface) is the whole, and what is allocated. A layer reaches its part, and those
** below, by store_of(c), schema_of(c) and the like. One thread at a time uses a connection.
*/
#ifndef ROOTSTOCK_COMMON_CONNECTION_H
#define ROOTSTOCK_COMMON_CONNECTION_H

struct rst_connection {
    sqlite3 *db;
    int references;                         /* SQLite modules and functions that hold it */
    void (*free)(rst_connection *c);        /* the last of them is gone */
    void (*call_failed)(rst_connection *c); /* an allocation failed in a call of SQLite's that ends now */
    int last_error;                         /* extended code, see rootstock_last_error */
};

/* Whether temp may hold anything: SQLite gives it a file name, of no bytes, with its first use. */
static inline bool rst_has_temp(const rst_connection *c) {
    return sqlite3_db_filename(c->db, "temp") != NULL;
}

#endif
