/*
** shape.h - the shape of a statement: its text with the values left out that say nothing to who rewrites it. Pure text.
*/
#ifndef ROOTSTOCK_PARSER_SHAPE_H
#define ROOTSTOCK_PARSER_SHAPE_H

#include "parser/parameters.h"
#include "parser/statement.h"

#include <stddef.h>

enum { SHAPE_LONGEST = 1024, SHAPE_VALUES = 255 };

typedef struct rst_shape {
    size_t size; /* of bytes; 0: no value can be left out, or the text is none whose shape is told */
    int count;
    rst_span values[SHAPE_VALUES]; /* what is left out, in the text */
    char bytes[SHAPE_LONGEST];
} rst_shape;

/* The shape of the one statement in [text, end). */
void rst_shape_of(const char *text, const char *end, rst_shape *shape);
/* The same text with parameters for the values that its shape leaves out, numbered from 1, as far as `until`. *values:
** these as they are written, to be freed whatever it comes to. From sqlite3_malloc. Null: there are none, the text has
** parameters already, or there is no memory. */
char *rst_shape_lift(const char *text, const char *end, const char *until, rst_parameters *values);
/* The same text with marks for these values; null: no memory. */
char *rst_shape_mark(const char *text, const char *end, const rst_shape *shape);
/* The pattern of what the marked text has become. Null: a mark is not in it, or there is no memory. */
char *rst_shape_pattern(const char *made, const rst_shape *shape);
/* Whether no string has quotes in it, which are written as their place has it. */
bool rst_shape_is_plain(const rst_shape *shape);
/* What a text of the pattern's shape becomes, whose strings have no quotes in them; null: no memory. */
char *rst_shape_fill(const char *pattern, const rst_shape *shape);

#endif
