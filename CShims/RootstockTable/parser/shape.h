/*
** shape.h - the shape of a statement: its text with the values left out that say nothing to who rewrites it. Pure text.
*/
#ifndef ROOTSTOCK_PARSER_SHAPE_H
#define ROOTSTOCK_PARSER_SHAPE_H

#include "parser/parameters.h"

#include <stddef.h>

enum { SHAPE_LONGEST = 1024 };

/* Writes the shape of the one statement in [text, end), of SHAPE_LONGEST bytes at most. Its size; 0: no value can be
** left out, or the text is none whose shape is told. */
size_t rst_shape_of(const char *text, const char *end, char *shape);
/* The same text with parameters for the values that its shape leaves out, numbered from 1, as far as `until`. *values:
** these as they are written, to be freed whatever it comes to. From sqlite3_malloc. Null: there are none, the text has
** parameters already, or there is no memory. */
char *rst_shape_lift(const char *text, const char *end, const char *until, rst_parameters *values);

#endif
