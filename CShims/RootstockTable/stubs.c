#include "declare.h"
#include "foreign.h"
#include "trigger.h"
int rst_trigger_fire(rst_table *t, bool b, int e, const rst_hand *o, const rst_hand *r, uint64_t ch, char **m){UNUSED(t);UNUSED(b);UNUSED(e);UNUSED(o);UNUSED(r);UNUSED(ch);UNUSED(m);return SQLITE_OK;}
bool rst_trigger_any(const rst_table *t, int e){UNUSED(t);UNUSED(e);return false;}
void rst_triggers_free(rst_table *t){UNUSED(t);}
int rst_program_changed(rst_table *t, const rst_hand *o, const rst_hand *r, char **m){UNUSED(t);UNUSED(o);UNUSED(r);UNUSED(m);return SQLITE_OK;}
int rst_program_conflict(rst_table *t, int told){UNUSED(t);return told;}
int rst_upsert_apply(rst_table *t, int64_t op, rst_hand *row, bool h, int conflict, char **m){UNUSED(t);UNUSED(op);UNUSED(row);UNUSED(h);UNUSED(conflict);UNUSED(m);return SQLITE_ERROR;}
int rst_program_result(rst_table *t, int told, int conflict, int code, char **m){UNUSED(t);UNUSED(told);UNUSED(conflict);UNUSED(m);return code==SQLITE_DONE?SQLITE_CONSTRAINT:code;}
int rst_foreign_after(rst_table *t, const rootstock_value *o, int64_t orow, const rootstock_value *n, int64_t nrow, char **m){UNUSED(t);UNUSED(o);UNUSED(orow);UNUSED(n);UNUSED(nrow);UNUSED(m);return SQLITE_OK;}
bool rst_foreign_enabled(rst_connection *c){UNUSED(c);return false;}
int rst_transform_object(rst_connection *c, const char *sql, char **out, char **m){UNUSED(c);UNUSED(sql);UNUSED(m);*out=NULL;return SQLITE_OK;}
int rst_triggers_load(rst_connection *c, char **m){UNUSED(c);UNUSED(m);return SQLITE_OK;}
int rst_statistics_load(rst_connection *c, rst_table **t, int n){UNUSED(c);UNUSED(t);UNUSED(n);return SQLITE_OK;}
bool rst_recursive_triggers(rst_connection *c){UNUSED(c);return false;}
void rst_programs_free(rst_connection *c){UNUSED(c);}
