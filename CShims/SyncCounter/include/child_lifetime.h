/*
** child_lifetime.h - has a measuring process end when the comparison that started it is gone.
*/
#ifndef CHILD_LIFETIME_H
#define CHILD_LIFETIME_H

/*
** From now on the system kills this process (SIGKILL) when the thread that started it ends, which for a comparison is
** its main thread. Does nothing where the system has no such thing (all but Linux). To be called early, from any
** thread; cannot fail.
*/
void child_ends_with_its_parent(void);

#endif
