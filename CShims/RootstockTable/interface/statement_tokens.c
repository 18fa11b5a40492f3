/*
** statement_tokens.c - the tokeniser, for the layers above. Invariant: the kinds of tokens are the parser's, by number.
*/
#include "interface/interface.h"
#include "parser/tokens.h"

_Static_assert((int)ROOTSTOCK_TOKEN_END == (int)TOKEN_END && (int)ROOTSTOCK_TOKEN_WORD == (int)TOKEN_WORD &&
                   (int)ROOTSTOCK_TOKEN_NAME == (int)TOKEN_NAME && (int)ROOTSTOCK_TOKEN_STRING == (int)TOKEN_STRING &&
                   (int)ROOTSTOCK_TOKEN_NUMBER == (int)TOKEN_NUMBER && (int)ROOTSTOCK_TOKEN_BLOB == (int)TOKEN_BLOB &&
                   (int)ROOTSTOCK_TOKEN_PARAMETER == (int)TOKEN_VARIABLE &&
                   (int)ROOTSTOCK_TOKEN_PUNCTUATION == (int)TOKEN_PUNCTUATION &&
                   (int)ROOTSTOCK_TOKEN_ILLEGAL == (int)TOKEN_ILLEGAL,
               "a token is one of both");

rootstock_token rootstock_token_next(const char **position, const char *end, const char **text, size_t *size) {
    rst_token token = rst_token_next(position, end);
    *text = token.text;
    *size = token.size;
    return (rootstock_token)token.type;
}
