/*
** shape.h - the shape of a statement: its text with the values left out that say nothing to who rewrites it. Pure text.
*/
#ifndef ROOTSTOCK_PARSER_SHAPE_H
#define ROOTSTOCK_PARSER_SHAPE_H

#include <stddef.h>

enum { SHAPE_LONGEST = 1024 };

/* Writes the shape of the one statement in [text, end), of SHAPE_LONGEST bytes at most. Its size; 0: no value can be
** left out, or the text is none whose shape is told. */
size_t rst_shape_of(const char *text, const char *end, char *shape);

#endif
