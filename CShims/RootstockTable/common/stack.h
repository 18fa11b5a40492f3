/* stack.h - how much of the thread's stack is left. See stack.c. */
#ifndef ROOTSTOCK_STACK_H
#define ROOTSTOCK_STACK_H

#include <stdbool.h>

/* Is there too little left for another statement inside of this one? Cheap. */
bool rst_stack_is_low(void);

#endif
