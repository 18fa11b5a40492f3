/*
** session.c - the session extension on a store: what its functions prepare is prepared as a program's statement is.
**
** A session hears of changes by sqlite3_preupdate_hook, asks PRAGMA table_info, and makes a changeset by queries.
** A changeset is applied by INSERT, UPDATE and DELETE. All of it comes from inside libsqlite3, by sqlite3_prepare_v2.
** Invariant: rsti_as_program is not 0 on a thread only while such a function or a preupdate hook runs there.
*/
#include "interpose.h"

_Thread_local int rsti_as_program;

typedef int (*session_read)(void *, void *, int);
typedef int (*session_write)(void *, const void *, int);
typedef int (*session_filter)(void *, const char *);
typedef int (*session_conflict)(void *, int, void *);

/* Defines sqlite3<name>, which calls the real one as a program's statements are prepared. */
#define AS_PROGRAM(name, parameters, arguments)                                                                        \
    int rsti_##name parameters __asm__("sqlite3" #name) __attribute__((visibility("default")));                        \
    int rsti_##name parameters {                                                                                       \
        int(*real) parameters, code;                                                                                   \
        *(void **)&real = rsti_real_function("sqlite3" #name);                                                         \
        if (real == NULL) return SQLITE_MISUSE;                                                                        \
        rsti_as_program++;                                                                                             \
        code = real arguments;                                                                                         \
        rsti_as_program--;                                                                                             \
        return code;                                                                                                   \
    }

AS_PROGRAM(session_changeset, (void *session, int *size, void **out), (session, size, out))
AS_PROGRAM(session_patchset, (void *session, int *size, void **out), (session, size, out))
AS_PROGRAM(session_changeset_strm, (void *session, session_write write, void *out), (session, write, out))
AS_PROGRAM(session_patchset_strm, (void *session, session_write write, void *out), (session, write, out))
AS_PROGRAM(session_diff, (void *session, const char *from, const char *table, char **message),
           (session, from, table, message))
AS_PROGRAM(changeset_apply,
           (sqlite3 * db, int size, void *changeset, session_filter filter, session_conflict conflict, void *context),
           (db, size, changeset, filter, conflict, context))
AS_PROGRAM(changeset_apply_v2,
           (sqlite3 * db, int size, void *changeset, session_filter filter, session_conflict conflict, void *context,
            void **rebase, int *rebase_size, int flags),
           (db, size, changeset, filter, conflict, context, rebase, rebase_size, flags))
AS_PROGRAM(changeset_apply_strm,
           (sqlite3 * db, session_read read, void *in, session_filter filter, session_conflict conflict, void *context),
           (db, read, in, filter, conflict, context))
AS_PROGRAM(changeset_apply_v2_strm,
           (sqlite3 * db, session_read read, void *in, session_filter filter, session_conflict conflict, void *context,
            void **rebase, int *rebase_size, int flags),
           (db, read, in, filter, conflict, context, rebase, rebase_size, flags))
