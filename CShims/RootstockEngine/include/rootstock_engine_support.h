/*
** rootstock_engine_support.h - what the engines of this project share with the registry: processes, messages, failures.
**
** Invariant: nothing here is needed to write an engine; an engine author reads rootstock_engine.h only.
*/
#ifndef ROOTSTOCK_ENGINE_SUPPORT_H
#define ROOTSTOCK_ENGINE_SUPPORT_H

#include "rootstock_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The process's identifier without a system call: kept by a fork handler. Engines compare it with the identifier that
** they opened under, so that a child cannot disturb the locks and snapshots of its parent. */
long rootstock_process(void);

/* Sets *message, if message is not null, to malloc'd text, or to null when memory is short. */
__attribute__((format(printf, 2, 3))) void rootstock_message(char **message, const char *format, ...);

/* The text of the calling thread's last failure in an environment, for describe. */
void rootstock_remember_failure(const rootstock_environment *environment, int code, const char *text);
/* That text if the last failure was this one; else the code's name. */
const char *rootstock_recall_failure(const rootstock_environment *environment, int code);

#ifdef __cplusplus
}
#endif
#endif
