/*
** schema_image.c - a database of empty trees as bytes, with the rows of its schema table.
**
** To write the rows by statements is to have SQLite read the schema before, and to prepare them. The format is
** SQLite's, described in fileformat2.html. The schema table is the tree of page 1, and its rows are records in leaves;
** the tree made here has two levels at most. Invariant: SQLite reads the listed rows as if it had written them itself,
** or no row is listed.
*/
#include "catalog/catalog.h"
#include "catalog/schema_image.h"

#include <string.h>

enum {
    PAGE = 4096,
    HEADER = 100,
    LEAF_HEADER = 8,
    BRANCH_HEADER = 12,
    BRANCH = 0x05,
    MOST_IN_PLACE = PAGE - 35, /* bytes of a record; what is longer has pages of its own */
    LONGEST_TEXT = 3900,
    MOST_LEAVES = 200
};

static size_t put_number(unsigned char *to, uint64_t number) {
    unsigned char reversed[10];
    size_t size = 0;
    do reversed[size++] = (unsigned char)((number & 0x7F) | 0x80);
    while ((number >>= 7) != 0);
    reversed[0] &= 0x7F;
    for (size_t i = 0; i < size; i++) to[i] = reversed[size - 1 - i];
    return size;
}

static void put_half(unsigned char *to, size_t number) {
    to[0] = (unsigned char)(number >> 8);
    to[1] = (unsigned char)number;
}

static void put_word(unsigned char *to, size_t number) {
    put_half(to, number >> 16);
    put_half(to + 2, number & 0xFFFF);
}

/* A row as a leaf's cell: the record's size, the rowid, the record. 0: it is too long for a leaf. */
static size_t make_cell(unsigned char *cell, const rst_image_row *row, unsigned page) {
    const char *texts[4] = {row->type, row->name, row->table, row->sql};
    unsigned char types[32], record[PAGE];
    size_t sizes[4], total = 0, type_size = 1, size, at;
    for (int i = 0; i < 4; i++) {
        sizes[i] = texts[i] == NULL ? 0 : strlen(texts[i]);
        if (sizes[i] > LONGEST_TEXT) return 0;
        total += sizes[i];
    }
    if (total > LONGEST_TEXT) return 0;
    for (int i = 0; i < 5; i++) {
        const char *text = i == 3 ? NULL : texts[i < 3 ? i : 3];
        if (i == 3)
            types[type_size++] = 4; /* the page, in four bytes */
        else
            type_size += put_number(types + type_size, text == NULL ? 0 : 13 + 2 * (uint64_t)sizes[i < 3 ? i : 3]);
    }
    types[0] = (unsigned char)type_size;
    memcpy(record, types, type_size);
    at = type_size;
    for (int i = 0; i < 4; i++) {
        if (i == 3) {
            put_word(record + at, page);
            at += 4;
        }
        if (sizes[i] > 0) memcpy(record + at, texts[i], sizes[i]);
        at += sizes[i];
    }
    if (at > MOST_IN_PLACE) return 0;
    size = put_number(cell, at);
    size += put_number(cell + size, (uint64_t)row->rowid);
    memcpy(cell + size, record, at);
    return size + at;
}

typedef struct leaf {
    unsigned char *page;
    size_t start; /* of its header in the page */
    size_t count, lowest;
} leaf;

static void begin_leaf(leaf *l, unsigned char *page, size_t start, unsigned char kind) {
    *l = (leaf){.page = page, .start = start, .lowest = PAGE};
    page[start] = kind;
    put_half(page + start + 5, PAGE); /* where its cells, of which there are none, begin */
}

static bool add_cell(leaf *l, const unsigned char *cell, size_t size) {
    size_t offsets = l->start + LEAF_HEADER + 2 * l->count;
    if (offsets + 2 + size > l->lowest) return false;
    l->lowest -= size;
    memcpy(l->page + l->lowest, cell, size);
    put_half(l->page + offsets, l->lowest);
    l->count++;
    put_half(l->page + l->start + 3, l->count);
    put_half(l->page + l->start + 5, l->lowest);
    return true;
}

/* The first page: file format 4 (descending indexes), UTF-8, as many pages as there are. */
static void put_header(unsigned char *page, unsigned pages) {
    memcpy(page, "SQLite format 3", 16);
    page[16] = PAGE >> 8;
    page[18] = page[19] = 1;
    page[21] = 64;
    page[22] = page[23] = 32;
    page[27] = page[95] = 1; /* changes so far, and those for which the number of pages holds */
    put_word(page + 28, pages);
    page[43] = 1; /* the schema's cookie */
    page[47] = 4;
    page[59] = 1;
}

/* Puts the rows into leaves from image + first on, at most so many. Returns how many, or 0: they do not fit. last: of
** each leaf its last rowid. */
static unsigned fill_leaves(unsigned char *first, size_t start, unsigned most, const rst_image_row *rows, int count,
                            int64_t *last) {
    unsigned char cell[PAGE];
    unsigned leaves = 1, tree = 1;
    leaf l;
    begin_leaf(&l, first, start, IMAGE_TABLE);
    for (int i = 0; i < count; i++) {
        size_t size = make_cell(cell, &rows[i], rows[i].tree != 0 ? ++tree : 0);
        if (size == 0) return 0;
        if (!add_cell(&l, cell, size)) {
            if (leaves == most) return 0;
            begin_leaf(&l, first + (size_t)leaves++ * PAGE, 0, IMAGE_TABLE);
            if (!add_cell(&l, cell, size)) return 0;
        }
        last[leaves - 1] = rows[i].rowid;
    }
    return leaves;
}

static void put_branch(unsigned char *page, unsigned first, unsigned leaves, const int64_t *last) {
    unsigned char *header = page + HEADER;
    size_t lowest = PAGE;
    header[0] = BRANCH;
    for (unsigned i = 0; i + 1 < leaves; i++) {
        unsigned char cell[16];
        size_t size = 4;
        put_word(cell, first + i);
        size += put_number(cell + 4, (uint64_t)last[i]);
        lowest -= size;
        memcpy(page + lowest, cell, size);
        put_half(header + BRANCH_HEADER + 2 * (size_t)i, lowest);
    }
    put_half(header + 3, leaves - 1);
    put_half(header + 5, lowest);
    put_word(header + 8, first + leaves - 1);
}

unsigned char *rst_image_make(const rst_image_row *rows, int count, bool *listed, size_t *size) {
    int64_t last[MOST_LEAVES];
    size_t bytes = 0;
    unsigned trees = 0, leaves, room;
    unsigned char *image;
    leaf empty;
    for (int i = 0; i < count; i++) {
        trees += rows[i].tree != 0;
        bytes += 40 + strlen(rows[i].name) + strlen(rows[i].table) + (rows[i].sql == NULL ? 0 : strlen(rows[i].sql));
    }
    /* A leaf is closed by a row that does not fit: two of them hold more than a page. */
    room = bytes > (size_t)MOST_LEAVES * (PAGE / 2) ? MOST_LEAVES : (unsigned)(2 * bytes / (PAGE - 64) + 2);
    if (room > MOST_LEAVES) room = MOST_LEAVES;
    *size = (size_t)(1 + trees + room) * PAGE;
    image = sqlite3_malloc64(*size);
    if (image == NULL) return NULL;
    memset(image, 0, *size);
    leaves = fill_leaves(image, HEADER, 1, rows, count, last);
    *listed = leaves != 0;
    if (*listed) {
        leaves = 0; /* all of them stand in the first page */
    } else {
        memset(image, 0, PAGE);
        leaves = fill_leaves(image + (size_t)(1 + trees) * PAGE, 0, room, rows, count, last);
        *listed = leaves != 0;
        if (*listed)
            put_branch(image, trees + 2, leaves, last);
        else
            begin_leaf(&empty, image, HEADER, IMAGE_TABLE);
    }
    *size = (size_t)(1 + trees + leaves) * PAGE;
    put_header(image, 1 + trees + leaves);
    trees = 0;
    for (int i = 0; i < count; i++) {
        if (rows[i].tree != 0) begin_leaf(&empty, image + (size_t)++trees * PAGE, 0, rows[i].tree);
    }
    return image;
}

int rst_image_load(sqlite3 *db, unsigned char *image, size_t size) {
#ifdef ROOTSTOCK_LOADABLE
    if (sqlite3_api->deserialize == NULL) { /* SQLITE_OMIT_DESERIALIZE */
        sqlite3_free(image);
        return SQLITE_ERROR;
    }
#endif
    return sqlite3_deserialize(db, "main", image, (sqlite3_int64)size, (sqlite3_int64)size,
                               SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
}

int rst_image_append(sqlite3 *db, const rst_image_row *rows, int count) {
    sqlite3_stmt *insert = NULL;
    int code = sqlite3_exec(db, "PRAGMA writable_schema=ON; BEGIN", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(
            db, "INSERT INTO sqlite_master(type, name, tbl_name, rootpage, sql) VALUES (?1, ?2, ?3, 0, ?4)", -1,
            &insert, NULL);
    for (int i = 0; i < count && code == SQLITE_OK; i++) {
        const char *texts[] = {rows[i].type, rows[i].name, rows[i].table, rows[i].sql};
        for (int k = 0; k < 4 && code == SQLITE_OK; k++)
            code = sqlite3_bind_text(insert, k + 1, texts[k], -1, SQLITE_STATIC);
        if (code == SQLITE_OK) code = sqlite3_step(insert) == SQLITE_DONE ? SQLITE_OK : SQLITE_ERROR;
        if (code == SQLITE_OK) code = sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    return code == SQLITE_OK ? sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) : code;
}

int rst_image_copy(sqlite3 *to, sqlite3 *from) {
    sqlite3_backup *copy = sqlite3_backup_init(to, "main", from, "main");
    int stepped, code;
    if (copy == NULL) return sqlite3_errcode(to) == SQLITE_NOMEM ? SQLITE_NOMEM : SQLITE_ERROR;
    stepped = sqlite3_backup_step(copy, -1);
    code = sqlite3_backup_finish(copy);
    return code == SQLITE_OK && stepped != SQLITE_DONE ? SQLITE_ERROR : code;
}
