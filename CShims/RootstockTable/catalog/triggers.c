/*
** triggers.c - a table's triggers, as they were loaded.
*/
#include "catalog/triggers.h"

void rst_trigger_free(rst_trigger *trigger) {
    if (--trigger->references > 0) return;
    sqlite3_free(trigger->name);
    sqlite3_free(trigger->fire_sql);
    for (size_t i = 0; i < sizeof trigger->fire_or / sizeof trigger->fire_or[0]; i++) sqlite3_free(trigger->fire_or[i]);
    sqlite3_free(trigger->text);
    sqlite3_free(trigger->values.all);
    sqlite3_free(trigger->beyond);
    sqlite3_free(trigger);
}

void rst_triggers_free(rst_table *table) {
    while (table->triggers != NULL) {
        rst_trigger *trigger = table->triggers;
        table->triggers = trigger->next;
        rst_trigger_free(trigger);
    }
}

bool rst_trigger_any(const rst_table *table, int event) {
    for (const rst_trigger *trigger = table->triggers; trigger != NULL; trigger = trigger->next) {
        if (trigger->event == event) return true;
    }
    return false;
}
