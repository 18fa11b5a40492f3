/*
** real.c - the real SQLite: the table of its functions, through which all of ours is done, and where its code lies.
**
** The table is the one that loadable extensions get. libsqlite3's own copy of it would not do: its entries meet the
** interposed names. Each is looked up in libsqlite3 itself, which the program has loaded or will load. Invariant:
** sqlite3_api is null, or every function that 3.40.1 has is in it.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interpose.h"

#undef sqlite3_api
const sqlite3_api_routines *sqlite3_api = NULL;

rsti_range rsti_library, rsti_own;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static sqlite3_api_routines routines;
static void *library;

typedef struct api_entry {
    const char *name; /* behind "sqlite3_" */
    size_t offset;
} api_entry;

#define AS(name, field)                                                                                                \
    { #name, offsetof(sqlite3_api_routines, field) }
#define F(name) AS(name, name)

/* By sqlite3ext.h of 3.40.1; one that libsqlite3 has not stays null. */
// clang-format off
static const api_entry entries[] = {
    F(aggregate_context), F(aggregate_count), F(bind_blob), F(bind_double), F(bind_int), F(bind_int64), F(bind_null),
    F(bind_parameter_count), F(bind_parameter_index), F(bind_parameter_name), F(bind_text), F(bind_text16),
    F(bind_value), F(busy_handler), F(busy_timeout), F(changes), F(close), F(collation_needed),
    F(collation_needed16), F(column_blob), F(column_bytes), F(column_bytes16), F(column_count),
    F(column_database_name), F(column_database_name16), F(column_decltype), F(column_decltype16), F(column_double),
    F(column_int), F(column_int64), F(column_name), F(column_name16), F(column_origin_name), F(column_origin_name16),
    F(column_table_name), F(column_table_name16), F(column_text), F(column_text16), F(column_type), F(column_value),
    F(commit_hook), F(complete), F(complete16), F(create_collation), F(create_collation16), F(create_function),
    F(create_function16), F(create_module), F(create_module_v2), F(data_count), F(db_handle), F(declare_vtab),
    F(enable_shared_cache), F(errcode), F(errmsg), F(errmsg16), F(exec), F(expired), F(finalize), F(free),
    F(free_table), F(get_autocommit), F(get_auxdata), F(get_table), F(global_recover), F(last_insert_rowid),
    F(libversion), F(libversion_number), F(malloc), F(mprintf), F(open), F(open16), F(prepare), F(prepare16),
    F(prepare_v2), F(prepare16_v2), F(profile), F(progress_handler), F(realloc), F(reset), F(result_blob),
    F(result_double), F(result_error), F(result_error16), F(result_int), F(result_int64), F(result_null),
    F(result_text), F(result_text16), F(result_text16be), F(result_text16le), F(result_value), F(rollback_hook),
    F(set_authorizer), F(set_auxdata), F(step), F(table_column_metadata), F(thread_cleanup), F(total_changes),
    F(trace), F(transfer_bindings), F(update_hook), F(user_data), F(value_blob), F(value_bytes), F(value_bytes16),
    F(value_double), F(value_int), F(value_int64), F(value_numeric_type), F(value_text), F(value_text16),
    F(value_text16be), F(value_text16le), F(value_type), F(vmprintf), F(overload_function), F(clear_bindings),
    F(bind_zeroblob), F(blob_bytes), F(blob_close), F(blob_open), F(blob_read), F(blob_write),
    F(create_collation_v2), F(file_control), F(memory_highwater), F(memory_used), F(mutex_alloc), F(mutex_enter),
    F(mutex_free), F(mutex_leave), F(mutex_try), F(open_v2), F(release_memory), F(result_error_nomem),
    F(result_error_toobig), F(sleep), F(soft_heap_limit), F(vfs_find), F(vfs_register), F(vfs_unregister),
    F(result_zeroblob), F(result_error_code), F(test_control), F(randomness), F(context_db_handle),
    F(extended_result_codes), F(limit), F(next_stmt), F(sql), F(status), F(backup_finish), F(backup_init),
    F(backup_pagecount), F(backup_remaining), F(backup_step), F(compileoption_get), F(compileoption_used),
    F(create_function_v2), F(db_config), F(db_mutex), F(db_status), F(extended_errcode), F(log),
    F(soft_heap_limit64), F(sourceid), F(stmt_status), F(strnicmp), F(unlock_notify), F(wal_autocheckpoint),
    F(wal_checkpoint), F(wal_hook), F(blob_reopen), F(vtab_config), F(vtab_on_conflict), F(close_v2), F(db_filename),
    F(db_readonly), F(db_release_memory), F(errstr), F(stmt_busy), F(stmt_readonly), F(stricmp), F(uri_boolean),
    F(uri_int64), F(uri_parameter), F(wal_checkpoint_v2), F(auto_extension), F(bind_blob64), F(bind_text64),
    F(cancel_auto_extension), F(load_extension), F(malloc64), F(msize), F(realloc64), F(reset_auto_extension),
    F(result_blob64), F(result_text64), F(strglob), F(value_dup), F(value_free), F(result_zeroblob64),
    F(bind_zeroblob64), F(value_subtype), F(result_subtype), F(status64), F(strlike), F(db_cacheflush),
    F(system_errno), F(trace_v2), F(expanded_sql), F(set_last_insert_rowid), F(prepare_v3), F(prepare16_v3),
    F(bind_pointer), F(result_pointer), F(value_pointer), F(vtab_nochange), F(value_nochange), F(vtab_collation),
    F(keyword_count), F(keyword_name), F(keyword_check), F(str_new), F(str_finish), F(str_appendf), F(str_vappendf),
    F(str_append), F(str_appendall), F(str_appendchar), F(str_reset), F(str_errcode), F(str_length), F(str_value),
    F(create_window_function), F(normalized_sql), F(stmt_isexplain), F(value_frombind), F(drop_modules),
    F(hard_heap_limit64), F(uri_key), F(filename_database), F(filename_journal), F(filename_wal), F(create_filename),
    F(free_filename), F(database_file_object), F(txn_state), F(changes64), F(total_changes64), F(autovacuum_pages),
    F(error_offset), F(vtab_rhs_value), F(vtab_distinct), F(vtab_in), F(vtab_in_first), F(vtab_in_next),
    F(deserialize), F(serialize), F(db_name), F(value_encoding),
    AS(interrupt, interruptx), AS(snprintf, xsnprintf), AS(vsnprintf, xvsnprintf), AS(threadsafe, xthreadsafe),
};
// clang-format on

static const char *const names_of_library[] = {"libsqlite3.so.0", "libsqlite3.so", NULL};

/* The executable segment of a loaded object. */
typedef struct segment_search {
    uintptr_t inside;
    rsti_range found;
} segment_search;

static int find_segment(struct dl_phdr_info *info, size_t size, void *context) {
    segment_search *search = context;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type != PT_LOAD || (header->p_flags & PF_X) == 0) continue;
        if (search->inside - start >= header->p_memsz) continue;
        search->found.start = start;
        search->found.size = header->p_memsz;
        return 1;
    }
    return 0;
}

static rsti_range segment_of(const void *function) {
    segment_search search = {(uintptr_t)function, {0, 0}};
    (void)dl_iterate_phdr(find_segment, &search);
    return search.found;
}

static void find_library(void) {
    const char *const *name;
    for (name = names_of_library; library == NULL && *name != NULL; name++)
        library = dlopen(*name, RTLD_LAZY | RTLD_NOLOAD);
    for (name = names_of_library; library == NULL && *name != NULL; name++) library = dlopen(*name, RTLD_LAZY);
    if (library == NULL) {
        fprintf(stderr, "rootstock: libsqlite3.so.0 is not there: %s\n", dlerror());
        abort();
    }
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        char full[64];
        void *function;
        (void)snprintf(full, sizeof full, "sqlite3_%s", entries[i].name);
        function = dlsym(library, full);
        memcpy((char *)&routines + entries[i].offset, &function, sizeof function);
    }
    rsti_library = segment_of(dlsym(library, "sqlite3_step"));
    rsti_own = segment_of((const void *)(uintptr_t)&rsti_start);
    __atomic_store_n(&sqlite3_api, &routines, __ATOMIC_RELEASE);
}

void rsti_start(void) {
    (void)pthread_once(&once, find_library);
}

void *rsti_real_function(const char *name) {
    RSTI_START();
    return dlsym(library, name);
}
