/*
** schema_statement.c - reads the head of a CREATE, DROP, ALTER, REINDEX or ANALYZE. Invariant: of a statement that
** SQLite takes, the name is that of the object.
*/
#include "parser/parser.h"

rst_schema_statement rst_schema_statement_read(const char *text, const char *end) {
    const char *p = text;
    rst_schema_statement s = {.verb = rst_token_next(&p, end), .name = rst_token_next(&p, end)};
    if (rst_token_is(&s.verb, "CREATE") || rst_token_is(&s.verb, "DROP") || rst_token_is(&s.verb, "ALTER")) {
        s.temporary = rst_token_is(&s.name, "TEMP") || rst_token_is(&s.name, "TEMPORARY");
        if (s.temporary || rst_token_is(&s.name, "UNIQUE")) s.name = rst_token_next(&p, end);
        s.is_virtual = rst_token_is(&s.name, "VIRTUAL");
        s.type = s.is_virtual ? rst_token_next(&p, end) : s.name;
        s.name = rst_token_next(&p, end);
    }
    if (rst_token_is(&s.name, "IF")) {
        const char *q = p;
        rst_token word = rst_token_next(&q, end);
        if (rst_token_is(&word, "NOT")) word = rst_token_next(&q, end);
        s.conditional = rst_token_is(&word, "EXISTS");
        if (s.conditional) s.name = rst_token_next(&q, end);
        if (s.conditional) p = q;
    }
    s.after = rst_token_next(&p, end);
    if (rst_token_mark(&s.after, ".")) {
        s.schema = s.name;
        s.name = rst_token_next(&p, end);
        s.after = rst_token_next(&p, end);
    }
    s.temporary |= rst_token_same_name(&s.schema, "temp");
    return s;
}

bool rst_schema_statement_is(const rst_schema_statement *statement, const char *verb, const char *type) {
    return rst_token_is(&statement->verb, verb) && rst_token_is(&statement->type, type);
}
