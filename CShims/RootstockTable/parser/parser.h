/*
** parser.h - tokens, and the parts of a statement. Pure text.
*/
#ifndef ROOTSTOCK_PARSER_PARSER_H
#define ROOTSTOCK_PARSER_PARSER_H

#include "common/common.h"
#include "parser/parameters.h"
#include "parser/pragma.h"
#include "parser/schema_statement.h"
#include "parser/edits.h"
#include "parser/tokens.h"
#include "parser/statement.h"
#include "parser/syntax_tree.h"

#endif
