/*
** child_lifetime.c - has a measuring process end when the comparison that started it is gone.
**
** A comparison that is killed cannot end its children itself, and one that goes on writing would meet the comparison
** that is started next at the same stores. Invariant: nothing else of the process changes.
*/
#include "child_lifetime.h"

#ifdef __linux__

#include <signal.h>
#include <sys/prctl.h>

void child_ends_with_its_parent(void) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

#else

void child_ends_with_its_parent(void) {}

#endif
