/*
** text_arena.c - texts of rows that a write transaction shows: copied into blocks of ours, which SQLite gives back,
** instead of by SQLite.
**
** SQLite allocates and frees each text that it copies itself, at each run of a statement; only a scan uses its memory
** again from row to row. So this is for the row that a statement finds by its key. A block is filled from its start,
** and anew once SQLite has given back all that stands in it. Before each text stands its block.
**
** Invariant: a block is freed, or filled anew, only when nothing in it is held: a statement may hold a text longer than
** the connection to the store lives.
*/
#include "executor/executor.h"
#include "executor/text_arena.h"

#include <string.h>

enum { BLOCK_BYTES = 16 * 1024, LONGEST = 1024 };

struct rst_text_arena {
    size_t used;
    uint32_t held;
    bool retired; /* the connection fills another one: freed with the last text */
    union {
        rst_text_arena *block;
        unsigned char bytes[BLOCK_BYTES];
    } room; /* aligned as a pointer */
};

static void retire(rst_text_arena *block) {
    block->retired = true;
    if (block->held == 0) sqlite3_free(block);
}

static void give_back(void *text) {
    rst_text_arena *block;
    memcpy(&block, (unsigned char *)text - sizeof block, sizeof block);
    if (--block->held > 0) return;
    block->used = 0;
    if (block->retired) sqlite3_free(block);
}

void rst_text_arena_result(rst_connection *c, sqlite3_context *context, const void *text, size_t size) {
    const size_t needed =
        (sizeof(rst_text_arena *) + size + sizeof(rst_text_arena *) - 1) & ~(sizeof(rst_text_arena *) - 1);
    rst_text_arena *block = executor_of(c)->texts;
    unsigned char *to;
    if (size <= LONGEST && (block == NULL || block->used + needed > BLOCK_BYTES)) {
        if (block != NULL) retire(block);
        executor_of(c)->texts = block = sqlite3_malloc64(sizeof *block);
        if (block != NULL) {
            block->used = block->held = 0;
            block->retired = false;
        }
    }
    if (size > LONGEST || block == NULL) {
        sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
        return;
    }
    to = block->room.bytes + block->used;
    memcpy(to, &block, sizeof block);
    memcpy(to + sizeof block, text, size);
    block->used += needed;
    block->held++;
    sqlite3_result_text(context, (const char *)to + sizeof block, -1, give_back);
}

void rst_text_arena_free(rst_connection *c) {
    rst_executor *executor = executor_of(c);
    if (executor->texts != NULL) retire(executor->texts);
    executor->texts = NULL;
}
