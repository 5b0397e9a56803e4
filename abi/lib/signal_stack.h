#ifndef HALO_SIGNAL_STACK_H
#define HALO_SIGNAL_STACK_H

#include "compiler.h"

/* Gives the calling thread an alternate stack for handlers, if it has none. */
HALO_HIDDEN void halo_signal_stack(void);

/* Takes the alternate stack of the calling thread away again, if halo_signal_stack has made it. */
HALO_HIDDEN void halo_signal_stack_end(void);

#endif
