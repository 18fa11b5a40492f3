/*
** parameters.h - the parameters of a statement's text, each with the number that SQLite gives it.
*/
#ifndef ROOTSTOCK_PARSER_PARAMETERS_H
#define ROOTSTOCK_PARSER_PARAMETERS_H

#include "common/common.h"

/* Parameters of [text, end): each gets its number. Appends the text with every parameter as ?N. */
typedef struct rst_parameters {
    /* By number from 1, as written; null: none. "?": it follows the one before, so that in their order it gets its
    ** number again. */
    char **names;
    int highest;
    int capacity;
} rst_parameters;
/* SQLITE_RANGE where SQLite would refuse the number, with its words. */
int rst_parameters_number(rst_connection *c, const char *text, const char *end, rst_parameters *parameters,
                          sqlite3_str *out, char **message);
/* The next one: what is written for it, from [start, end). SQLITE_NOMEM. */
int rst_parameters_add(rst_parameters *parameters, const char *start, const char *end);
void rst_parameters_free(rst_parameters *parameters);

#endif
