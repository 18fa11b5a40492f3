/* programs.h - what locks.c runs: steps of several connections, drawn from a seed. */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Connections, statements of each that are held open or kept. */
enum { MOST = 4, SLOTS = 2, KEPT = 6, STEPS = 140, SQL = 200 };
/* What a program may use: SELECTs held open, schema changes, looks by a further connection after each step, plain text
** past the front door, changes with RETURNING held open. */
enum { CURSORS = 1, SCHEMA = 2, LOOKS = 4, PLAIN = 8, HELD = 16 };
typedef enum { RUN, OPEN, STEP, CLOSE, USE } action;

typedef struct step {
    int connection;
    action action;
    int slot, count;
    char sql[SQL];
} step;

/* The statements that are prepared once and run again and again. */
extern const char *const kept_texts[KEPT];

void put_seed(uint64_t seed);
int draw(int below);
void put_step(step *out, int connections, int features);
void show(const step *s);

static inline bool starts(const char *sql, const char *with) {
    return strncmp(sql, with, strlen(with)) == 0;
}

#endif
