#ifndef HALO_SIGNAL_STACK_H
#define HALO_SIGNAL_STACK_H

#include <signal.h>

#include "fast.h"

/* Gives the calling thread an alternate stack for handlers, if it has none. */
HALO_HIDDEN void halo_signal_stack(void);

/* Takes the alternate stack of the calling thread away again, if halo_signal_stack has made it. */
HALO_HIDDEN void halo_signal_stack_end(void);

/*
 * Lets the next change of the mask of signals that Go's runtime makes in this thread block all signals but those
 * that the runtime needs: see signal_mask.c. The mask of the thread before the call is stored in before, if it is not
 * NULL.
 */
HALO_HIDDEN void halo_block_after_go(sigset_t *before);

/* Sets the mask of the calling thread to before, except that the signals that the runtime needs stay unblocked. */
HALO_HIDDEN void halo_unblock(const sigset_t *before);

#endif
